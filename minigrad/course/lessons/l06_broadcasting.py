"""Lesson 06: gradients of stretched operands, and of sums and means.

The oracles go through single entries: each entry of a result was made from one entry of the operand, and its
gradient is added to that entry. No solution works like that, so no mistake can be in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..exercise import Exercise, Lesson, Probe, Wrong, call, function, numbers, prediction, value

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]

# --- 6.1 back to the shape of the operand --------------------------------------------------------------


def entry_after_entry(g: Array, shape: Shape) -> Array:
    """The oracle: every entry of g was made from one entry of the operand, and is added to it."""
    out = np.zeros(shape)
    for index in np.ndindex(*g.shape):
        tail = index[g.ndim - len(shape) :]
        out[tuple(0 if n == 1 else i for i, n in zip(tail, shape, strict=True))] += g[index]
    return out


def probes_6_1(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(np.array([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]), (3,))
    yield call(numbers(rng, 4, 3), (4, 1))
    yield call(numbers(rng, 3, 3), (3,))
    yield call(numbers(rng, 2, 4, 3), (4, 1))
    yield call(numbers(rng, 2, 4, 3), (4, 1))
    yield call(np.array([[2.5, 0.0], [0.0, 0.0], [-2.5, 0.0]]), (2,))
    yield call(numbers(rng, 2, 3), ())
    yield call(numbers(rng, 2, 3), (2, 3))
    yield call(numbers(rng, 2, 5, 3), (1, 5, 1))
    yield call(numbers(rng, 3, 1, 2), (1, 2))
    yield call(np.array([2.5, 0.0, -2.5, 0.0]), (1,))
    yield call(np.zeros((3, 4)), (4,))
    yield call(numbers(rng, 2, 1, 3, 2), (2,))
    yield call(numbers(rng, 2, 3, 2, 2), (2, 1, 2, 1))
    yield call(numbers(rng, 1, 3), (1, 3))
    yield call(numbers(rng, 2, 3, 1), (3, 1))


def averages(g: Array, shape: Shape) -> Any:
    return sums_and_keeps(g, shape) * (max(1, int(np.prod(shape, dtype=int))) / g.size)


def squeezes_first(g: Array, shape: Shape) -> Any:
    return sums_and_keeps(g.squeeze(), shape).reshape(shape)


def drops_ones(g: Array, shape: Shape) -> Any:
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1 and g.shape[i] > 1))


def drops_every_one(g: Array, shape: Shape) -> Any:
    return g.sum(axis=summed_axes(g, shape))


def keeps_every_axis(g: Array, shape: Shape) -> Any:
    return g.sum(axis=summed_axes(g, shape), keepdims=True)


def summed_axes(g: Array, shape: Shape) -> tuple[int, ...]:
    new = g.ndim - len(shape)
    return (*range(new), *(new + i for i, n in enumerate(shape) if n == 1))


def trailing_axes(g: Array, shape: Shape) -> Any:
    while g.ndim > len(shape):
        g = g.sum(axis=-1)
    return g.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)


def only_missing_axes(g: Array, shape: Shape) -> Any:
    return g.sum(axis=tuple(range(g.ndim - len(shape))))


def only_size_one(g: Array, shape: Shape) -> Any:
    missing = g.ndim - len(shape)
    return g.sum(axis=tuple(missing + i for i, n in enumerate(shape) if n == 1), keepdims=True)


def one_axis_only(g: Array, shape: Shape) -> Any:
    if g.ndim > len(shape):
        g = g.sum(axis=0)
    for i, n in enumerate(shape):
        if n == 1:
            g = g.sum(axis=i, keepdims=True)
    return g


def two_axes_only(g: Array, shape: Shape) -> Any:
    for _ in range(min(2, g.ndim - len(shape))):
        g = g.sum(axis=0)
    return sums_and_keeps(g, shape) if g.ndim == len(shape) else g


def everything_everywhere(g: Array, shape: Shape) -> Array:
    return np.full(shape, g.sum())


def keeps_one(g: Array, shape: Shape) -> Any:
    for _ in range(g.ndim - len(shape)):
        g = g[-1]
    for i, n in enumerate(shape):
        if n == 1:
            g = np.take(g, [-1], axis=i)
    return g


def keeps_the_first(g: Array, shape: Shape) -> Any:
    while g.ndim > len(shape):
        g = g[0]
    for i, n in enumerate(shape):
        if n == 1:
            g = g.take([0], axis=i)
    return g


def drops_ones_in_a_loop(g: Array, shape: Shape) -> Any:
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    for i, n in enumerate(shape):
        if n == 1:
            g = g.sum(axis=i)
    return g


def from_the_left(g: Array, shape: Shape) -> Any:
    for i in range(g.ndim):
        if i >= len(shape) or shape[i] == 1:
            g = g.sum(axis=i, keepdims=True)
    return g.reshape(shape)


def from_the_left_without_new_axes(g: Array, shape: Shape) -> Any:
    for axis, (here, there) in enumerate(zip(g.shape, shape)):
        if here != there:
            g = g.sum(axis=axis, keepdims=True)
    return g


def last_axis_only(g: Array, shape: Shape) -> Any:
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=-1, keepdims=True) if shape and shape[-1] == 1 else g


def axis_0_if_needed(g: Array, shape: Shape) -> Any:
    return g if g.shape == shape else g.sum(axis=0)


def axis_0_kept_if_needed(g: Array, shape: Shape) -> Any:
    return g if g.shape == shape else g.sum(axis=0, keepdims=True)


def axis_0_always(g: Array, shape: Shape) -> Any:
    return g.sum(axis=0)


def stretches_again(g: Array, shape: Shape) -> Any:
    return np.broadcast_to(g, shape)


def unchanged(g: Array, shape: Shape) -> Array:
    return g


def averages_the_stretched(g: Array, shape: Shape) -> Any:
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.mean(axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)


def first_stretched_axis(g: Array, shape: Shape) -> Any:
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=shape.index(1), keepdims=True) if 1 in shape else g


def cut_to_fit(g: Array, shape: Shape) -> Array:
    return np.resize(g, shape)


def changes_g(g: Array, shape: Shape) -> Any:
    while g.ndim > len(shape):
        for part in g[1:]:
            g[0] += part
        g = g[0]
    return g.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)


def as_a_list(g: Array, shape: Shape) -> Any:
    return sums_and_keeps(g, shape).tolist()


def never_a_bare_number(g: Array, shape: Shape) -> Any:
    if shape == ():
        return np.array([g.sum()])
    return sums_and_keeps(g, shape)


def sums_and_keeps(g: Array, shape: Shape) -> Any:
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)


def one_axis_after_the_other(g: Array, shape: Shape) -> Any:
    while np.ndim(g) > len(shape):
        g = np.add.reduce(g)
    for axis, size in enumerate(shape):
        if size == 1 != g.shape[axis]:
            g = np.expand_dims(np.sum(g, axis), axis)
    return g


def through_padded_shape(g: Array, shape: Shape) -> Array:
    padded = (1,) * (g.ndim - len(shape)) + tuple(shape)
    axes = tuple(i for i, (n, m) in enumerate(zip(g.shape, padded, strict=True)) if n != m)
    return np.reshape(g.sum(axis=axes), shape)


def by_einsum(g: Array, shape: Shape) -> Any:
    letters = "abcdefgh"[: g.ndim]
    kept = "".join(a for a, n in zip(letters[g.ndim - len(shape) :], shape, strict=True) if n != 1)
    return np.einsum(f"{letters}->{kept}", g).reshape(shape)


def by_recursion(g: Array, shape: Shape) -> Any:
    if g.ndim > len(shape):
        return by_recursion(g.sum(axis=0), shape)
    stretched = [i for i, n in enumerate(shape) if n < g.shape[i]]
    return by_recursion(g.sum(axis=stretched[0], keepdims=True), shape) if stretched else g


def counting_places(g: Array, shape: Shape) -> Array:
    places = np.broadcast_to(np.arange(int(np.prod(shape, dtype=int))).reshape(shape), g.shape)
    return np.bincount(places.ravel(), g.ravel()).reshape(shape)


AXIS_MISSING = (
    "The numbers are right, but an axis is missing: the operand has an axis of size 1. Take a step by hand: what is the shape "
    "of operand - 0.1 * gradient?"
)
ONLY_AXIS_0 = "You sum over axis 0, once, whatever the shapes are. Which axes of g were stretched, or are new?"
FROM_THE_LEFT = "You lined up the two shapes from the left. Which axis of g belongs to the last axis of the operand?"
ONE_OF_THEM = (
    "You take one of the repeated rows or columns and drop the others. Which contributions arrive at the entry?"
)

EXERCISE_6_1 = function(
    "6.1", "unbroadcast",
    why="Broadcasting copies a number into several places, and its gradient is the sum over the copies.",
    title="bring a gradient back to the shape of its operand",
    minutes=12,
    oracle=entry_after_entry,
    probes=probes_6_1,
    wrong=[
        Wrong(averages, "M28", "You average over the stretched axes. An entry that was used four times gets four "
              "contributions: what does the chain rule do with them?"),
        Wrong(squeezes_first, "M52", "You removed axes of size 1 from g before you lined up the shapes, so the other axes "
              "moved. Which axes of g belong to which axes of the operand?"),
        Wrong(drops_ones, "M28", AXIS_MISSING, alike="axis missing"),
        Wrong(drops_every_one, "M28", AXIS_MISSING, alike="axis missing"),
        Wrong(keeps_every_axis, "M27", "The numbers are right, but the new axes of g are still there, with size 1. What is the "
              "shape of the operand?"),
        Wrong(trailing_axes, "M52", "Shapes are lined up from the right, so new axes are on the left. You summed over the "
              "last axes. A square matrix would not have shown it: which axes of g are the new ones?"),
        Wrong(only_missing_axes, "M28", "You sum over the axes that the operand does not have, but not over those in which "
              "it has size 1. Was a number there used only once?"),
        Wrong(only_size_one, "M28", "You sum over the axes of size 1, but g still has axes that the operand does not have. "
              "Where do they come from?"),
        Wrong(two_axes_only, "M42", "Two leading axes are summed away, but a third one stays. The number of axes may be "
              "any: which loop stops only when no such axis is left?"),
        Wrong(one_axis_only, "M28", "You sum one extra axis away, but here there are more. How many axes of g does "
              "the operand not have?"),
        Wrong(everything_everywhere, "M28", "You add up all of g and give the total to every entry. Was each entry used "
              "everywhere, or only in its own column or row?"),
        Wrong(keeps_one, "M19", ONE_OF_THEM, alike="one of them"),
        Wrong(keeps_the_first, "M19", ONE_OF_THEM, alike="one of them"),
        Wrong(drops_ones_in_a_loop, "M28", "Your sum over an axis of size 1 removes this axis, and the axes after it move. The "
              "operand still has the axis: which argument of sum keeps it?"),
        Wrong(axis_0_always, "M52", ONLY_AXIS_0, alike="only axis 0"),
        Wrong(axis_0_if_needed, "M52", ONLY_AXIS_0, alike="only axis 0"),
        Wrong(axis_0_kept_if_needed, "M52", ONLY_AXIS_0, alike="only axis 0"),
        Wrong(last_axis_only, "M52", "Of the axes of size 1 you sum over the last axis only. Which other axis of the operand "
              "may have size 1?"),
        Wrong(stretches_again, "M28", "broadcast_to stretches an array, as the forward pass did. Which operation brings many "
              "contributions together?"),
        Wrong(from_the_left_without_new_axes, "M52", FROM_THE_LEFT, alike="from the left"),
        Wrong(from_the_left, "M52", FROM_THE_LEFT, alike="from the left"),
        Wrong(unchanged, "M28", "You return g as it is. The operand is smaller than g: how many numbers does its gradient "
              "have?"),
        Wrong(averages_the_stretched, "M28", "You sum over new axes, but you average over those of size 1. Is there a "
              "difference between a number used in three rows and one used in three columns?"),
        Wrong(first_stretched_axis, "M28", "You sum over one axis of size 1, but this operand has two of them. How can you "
              "find them all?"),
        Wrong(cut_to_fit, "M19", "You took as many numbers as fit, from the front, and dropped the rest. Which "
              "contributions arrive at the first entry?"),
        Wrong(changes_g, "M15", "The sums are right, but you changed g, and the caller may still need it. Which of your "
              "lines writes into g?"),
        Wrong(as_a_list, "", "The numbers are right, but they are lists, and the answer has to be an array. Which call made "
              "lists of it?"),
        Wrong(never_a_bare_number, "M27", "For the shape () you return an array with one axis. A single number has no "
              "axis: what is the shape of its gradient?"),
    ],
    alternatives=[sums_and_keeps, one_axis_after_the_other, through_padded_shape, counting_places, by_einsum,
                  by_recursion],
    hints=[
        "g has one number for each entry of the result, and your answer has one for each entry of the operand.",
        "Take an operand of shape (5, 1) in a result of shape (2, 5, 7). Sum over axis 0, which is new, and over the last "
        "axis, which was stretched. The last axis stays, with size 1.",
        "Look at the number of axes first: as long as g has too many, the first axis is new. Then look at the sizes of 1.",
    ],
    worked="Sum over the first g.ndim - len(shape) axes. Then, for each axis where shape has a 1, sum over "
           "it with keepdims=True.",
)  # fmt: skip

# --- 6.2 a bias by hand --------------------------------------------------------------------------------

UPSTREAM = [[0.5, 1.2, 3.0], [2.0, -1.0, 4.0], [1.4, 6.0, 2.5], [3.5, 4.0, 3.5]]

EXERCISE_6_2 = value(
    "6.2", "bias_grad", [7.4, 10.2, 13.0],
    knows={"G": [[0.5, 1.2, 3.0], [2.0, -1.0, 4.0], [1.4, 6.0, 2.5], [3.5, 4.0, 3.5]]},
    why="The bias is added to every row, so its gradient is the sum over the rows.",
    asks=(
        "b[0] was added to column 0 in all four rows. Which four numbers of the upstream gradient belong to it, with "
        "which signs?",
        "b[1] was added to column 1 in all four rows. Which four numbers of the upstream gradient belong to it, with "
        "which signs?",
        "b[2] was added to column 2 in all four rows. Which four numbers of the upstream gradient belong to it, with "
        "which signs?",
    ),
    title="the gradient of a bias, by hand",
    minutes=4,
    wrong=[
        Wrong(UPSTREAM, "M28", "This is the gradient of X + b, with one number for each of its twelve entries. b has three "
              "entries. Which of the twelve numbers belong to the first one?", name="the whole matrix"),
        Wrong([1.85, 2.55, 3.25], "M28", "You averaged the rows. b[0] was added in four rows: are the effects of these four "
              "rows added or averaged?"),
        Wrong(30.6, "M28", "You added everything up to one number. b has three entries, and each is used in its own column "
              "only. How many sums does that make?"),
        Wrong([4.7, 5.0, 9.9, 11.0], "M52", "You added along the rows and got four numbers, one for each row. Is there one "
              "entry of b for each row, or one for each column?"),
        Wrong([4, 4, 4], "M23", "This counts how often each entry was used. Which upstream gradient arrives from each "
              "use?"),
        Wrong([3.5, 4.0, 3.5], "M19", "This is the last row alone. Three more rows used the same b."),
        Wrong([0.5, 1.2, 3.0], "M19", "This is the first row alone. Three more rows used the same b."),
        Wrong([4.7, 5.0, 9.9], "M52", "You added along the first three rows. Which numbers arrive at b[0]: those of a row or "
              "those of a column?"),
        Wrong([3.9, 6.2, 9.5], "", "These are the sums of the first three rows. How many rows used b?"),
        Wrong([6.9, 9.0, 10.0], "", "These are the sums of the last three rows. How many rows used b?"),
        Wrong([1, 1, 1], "M23", "This does not depend on the upstream gradient. What arrives at b[0] from each row?"),
        Wrong([7.4, 12.2, 13.0], "", "Two of the three are right. One number in the second column is negative: what does it "
              "do to the sum?"),
        Wrong([30.6], "M28", "You added everything up to one number. b has three entries, and each is used in its own "
              "column only.", name="one number in a list"),
        Wrong([2.5, 3.5, 4.5], "M52", "These are three numbers, but not the sums of the columns. Which numbers are in the "
              "same column?"),
        Wrong([[7.4, 10.2, 13.0]], "M27", "The numbers are right, but their shape is (1, 3). What is the shape of b?",
              name="a matrix of one row"),
    ],
    hints=[
        "b[0] was added to the first column, in all four rows.",
        "For an upstream gradient [[1, 2], [10, 20]] and a bias of two numbers the answer is [11, 22].",
        "Go down one column. Each of its numbers is a contribution to the same entry of b.",
    ],
    worked="Add up each column: [0.5 + 2 + 1.4 + 3.5, 1.2 - 1 + 6 + 4, 3 + 4 + 2.5 + 3.5].",
)  # fmt: skip

# --- 6.3 backward of sum and mean ----------------------------------------------------------------------


def entry_by_entry(name: str, g: Array, shape: Shape, axis: int | None = None) -> Array:
    """The oracle: each entry went into one sum; a mean divides g by how many entries went into it."""
    g, out = np.asarray(g), np.zeros(shape)
    met: dict[Shape, int] = {}
    for index in np.ndindex(*shape):
        rest = () if axis is None else tuple(i for k, i in enumerate(index) if k != axis)
        met[rest] = met.get(rest, 0) + 1
        out[index] = g[rest]
    return out / met[rest] if name == "mean_backward" else out


def probes_6_3(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(np.array([1.0, 10.0]), (2, 3), 1).of("sum_backward")
    yield call(np.float64(2.5), (2, 3)).of("sum_backward")
    yield call(numbers(rng, 3), (4, 3), 0).of("sum_backward")
    yield call(numbers(rng, 2, 4), (2, 5, 4), 1).of("sum_backward")
    yield call(np.array([6.0, 30.0]), (2, 3), 1).of("mean_backward")
    yield call(np.float64(-3.5), (4, 3)).of("mean_backward")
    yield call(numbers(rng, 3), (4, 3), 0).of("mean_backward")
    yield call(numbers(rng, 2, 5), (2, 5, 4), 2).of("mean_backward")
    yield call(numbers(rng, 3), (3, 3), 1).of("sum_backward")
    yield call(np.float64(3.0), (2, 4, 3)).of("mean_backward")
    yield call(np.float64(3.0), (5,)).of("mean_backward")
    yield call(numbers(rng, 1), (1, 4), 1).of("sum_backward")


def spread(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return np.broadcast_to(g if axis is None else np.expand_dims(g, axis), shape)


def how_many(shape: Shape, axis: int | None) -> int:
    return int(np.prod(shape, dtype=int)) if axis is None else shape[axis]


def right_mean(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return spread(g, shape, axis) / how_many(shape, axis)


def ones_in_sum(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return np.ones(shape)


def ones_in_mean(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return np.ones(shape) / how_many(shape, axis)


def not_spread(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return g


def not_spread_mean(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return g / how_many(shape, axis)


def divided_by_rows(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return spread(g, shape, axis) / shape[0]


def divided_by_all(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return spread(g, shape, axis) / np.prod(shape)


def along_the_last(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return np.broadcast_to(g, shape)


def along_the_last_mean(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return np.broadcast_to(g, shape) / how_many(shape, axis)


def sums_once_more(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return np.full(shape, np.sum(g))


def sums_once_more_mean(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return np.full(shape, np.sum(g)) / how_many(shape, axis)


def divided_by_columns(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return spread(g, shape, axis) / shape[-1]


def divided_twice(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return spread(g, shape, axis) / how_many(shape, axis) ** 2


def divided_by_g(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return spread(g, shape, axis) / np.size(g)


def divided_by_length_of_g(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return right_mean(g, shape) if axis is None else spread(g, shape, axis) / len(g)


def divided_by_the_other(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return right_mean(g, shape) if axis is None else spread(g, shape, axis) / (shape[0] if axis == 1 else shape[1])


def none_not_spread(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return g if axis is None else spread(g, shape, axis)


def none_not_spread_mean(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return none_not_spread(g, shape, axis) / how_many(shape, axis)


def mean_of_spread(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return spread(g, shape, axis).mean(axis=axis)


def none_is_axis_0(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return spread(g, shape, axis) / shape[axis or 0]


def divided_by_axes(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return spread(g, shape, axis) / len(shape)


def divided_by_sizes(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return spread(g, shape, axis) / (sum(shape) if axis is None else shape[axis])


def axis_behind(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return np.broadcast_to(g if axis is None else np.expand_dims(g, -1), shape)


def axis_behind_mean(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return axis_behind(g, shape, axis) / how_many(shape, axis)


def forward_sum(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return np.sum(g, axis=axis)


def forward_mean(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return np.mean(g, axis=axis)


def multiplied(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return spread(g, shape, axis) * how_many(shape, axis)


def zero_is_no_axis(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return spread(g, shape, axis) / (shape[axis] if axis else np.prod(shape))


def axis_in_front(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return np.broadcast_to(g if axis is None else np.expand_dims(g, 0), shape)


def row_by_row(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return np.resize(np.repeat(g, how_many(shape, axis)), shape)


def first_of_each(g: Array, shape: Shape, axis: int | None = None) -> Any:
    out = np.zeros(shape)
    np.moveaxis(out, axis or 0, 0)[0] = g
    return out


def changes_it(g: Array, shape: Shape, axis: int | None = None) -> Any:
    if np.ndim(g):
        g /= how_many(shape, axis)
        return spread(g, shape, axis)
    return right_mean(g, shape, axis)


def into_lists(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return spread(g, shape, axis).tolist()


def by_moving_axes(g: Array, shape: Shape, axis: int | None = None) -> Array:
    """Right: write into an array whose lost axis stands in front."""
    out = np.empty(shape)
    if axis is None:
        out[...] = g
    else:
        np.moveaxis(out, axis, 0)[...] = g
    return out


def mean_from_sum(g: Array, shape: Shape, axis: int | None = None) -> Array:
    n = 1
    for k, size in enumerate(shape):
        n *= size if axis is None or k == axis else 1
    return by_moving_axes(np.asarray(g) / n, shape, axis)


def keeps_the_axis(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return g if axis is None else np.expand_dims(g, axis)


def keeps_the_axis_mean(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return keeps_the_axis(g, shape, axis) / how_many(shape, axis)


def ones_times(g: Array, shape: Shape, axis: int | None = None) -> Array:
    if axis is not None:
        g = np.reshape(g, [1 if i == axis else n for i, n in enumerate(shape)])
    return np.ones(shape) * g


def ones_times_mean(g: Array, shape: Shape, axis: int | None = None) -> Array:
    weight = np.size(g) / np.prod(shape)
    return ones_times(g, shape, axis) * weight


def repeated(g: Array, shape: Shape, axis: int | None = None) -> Array:
    if axis is None:
        return np.full(shape, g)
    return np.stack([g] * shape[axis], axis=axis)


def repeated_mean(g: Array, shape: Shape, axis: int | None = None) -> Array:
    out = repeated(g, shape, axis)
    return out / (out.size / np.size(g))


def both(sum_backward: Any, mean_backward: Any) -> dict[str, Any]:
    return {"sum_backward": sum_backward, "mean_backward": mean_backward}


BY_G = (
    "Your mean_backward divides by how many numbers g holds, that is, by the number of means. How many numbers went into each "
    "mean?"
)

EXERCISE_6_3 = function(
    "6.3", ("sum_backward", "mean_backward"),
    why="Every element enters the sum once, so each gets the upstream gradient; a mean divides it by the number of elements.",
    title="backward of sum and mean",
    minutes=10,
    oracle=entry_by_entry,
    probes=probes_6_3,
    wrong=[
        Wrong(both(ones_in_sum, ones_in_mean), "M23", "Your answer does not depend on g. This is right only when nothing is "
              "computed from the sum. What if the sum is multiplied by ten?", name="ones"),
        Wrong(both(not_spread, not_spread_mean), "M27", "Your answer has the shape of the sum. What is the shape of "
              "the array that was summed?", name="not spread"),
        Wrong(both(right_mean, right_mean), "M30", "Your sum_backward divides. If one entry changes, how fast does its sum "
              "change?", name="sum divides"),
        Wrong(both(spread, spread), "M30", "Your mean_backward passes on the whole upstream gradient to every entry. If one "
              "of four entries changes, how fast does their mean change?", name="mean does not divide"),
        Wrong(both(spread, divided_by_rows), "M30", "Your mean_backward divides by the number of rows for every axis. How "
              "many numbers went into each mean?", name="mean by rows"),
        Wrong(both(spread, divided_by_all), "M30", "Your mean_backward divides by the number of all entries. In a mean "
              "along one axis, how many numbers went into each mean?", name="mean by all"),
        Wrong(both(spread, divided_by_columns), "M30", "Your mean_backward divides by the length of the last axis for every "
              "axis. How many numbers went into each mean?", name="mean by columns"),
        Wrong(both(spread, divided_twice), "M30", "Your mean_backward divides twice. If one of four entries changes, does "
              "their mean change a sixteenth as fast?", name="mean divides twice"),
        Wrong(both(spread, divided_by_g), "M30", BY_G, alike="mean by g", name="mean by g"),
        Wrong(both(spread, divided_by_length_of_g), "M30", BY_G, alike="mean by g", name="mean by the length of g"),
        Wrong(both(spread, divided_by_the_other), "M52", "Your mean_backward divides by the length of the other axis. Along "
              "axis 0 the numbers of one column go into a mean: which length is their number?", name="mean by the other axis"),
        Wrong(both(none_not_spread, none_not_spread_mean), "M27", "With axis None you return a single number. What is the "
              "shape of x, and which of its entries went into the result?", name="None not spread"),
        Wrong(both(spread, mean_of_spread), "M30", "Your mean_backward takes a mean, so its result has the shape of g again. "
              "What is the shape of the gradient of x?", name="mean of the spread g"),
        Wrong(both(spread, none_is_axis_0), "M30", "With axis None your mean_backward divides by the length of axis 0. How "
              "many numbers went into this mean?", name="None taken for axis 0"),
        Wrong(both(spread, divided_by_axes), "M30", "Your mean_backward divides by the number of axes. How many numbers went "
              "into each mean?", name="mean by axes"),
        Wrong(both(spread, divided_by_sizes), "M30", "With axis None your mean_backward divides by the sum of the sizes. How "
              "many numbers does an array of shape (4, 3) hold?", name="mean by the sum of the sizes"),
        Wrong(both(axis_behind, axis_behind_mean), "M52", "You put the removed axis back at the end, whatever axis it was. "
              "What was its place before the sum?", name="axis behind"),
        Wrong(both(forward_sum, forward_mean), "M22", "You computed a sum or mean of g, as in the forward pass. Every entry of "
              "x needs a gradient: which operation makes many numbers of few?", name="forward once more"),
        Wrong(both(spread, multiplied), "M30", "Your mean_backward multiplies by the number of entries. Does the mean of "
              "many numbers change faster or slower than one of them?", name="mean multiplies"),
        Wrong(both(spread, zero_is_no_axis), "M30", "With axis 0 you divided by the number of all entries, because 0 counts "
              "as false, like None. How can you test for None itself?", name="axis 0 taken for None"),
        Wrong(both(axis_in_front, right_mean), "M52", "You put the removed axis back in front, whatever axis it was. "
              "What was its place before the sum?", name="axis in front"),
        Wrong(both(row_by_row, right_mean), "M52", "You repeated each entry of g and filled the array row by row. This is "
              "right for the last axis only. Into which sum did the entry in row 1, column 0 go?", name="row by row"),
        Wrong(both(first_of_each, right_mean), "M28", "One entry of each sum got its g, and the others got 0. If another "
              "entry changes, does the sum stay the same?", name="first of each"),
        Wrong(both(spread, changes_it), "M15", "The numbers are right, but you changed g, and the caller may still need it. "
              "Which operator writes into an array?", name="mean changes g"),
        Wrong(both(into_lists, right_mean), "", "The numbers are right, but they are lists, and the answer has to be an "
              "array.", name="sum as lists"),
        Wrong(both(along_the_last, along_the_last_mean), "M52", "You stretched g from the right, whatever the axis is. In "
              "which place was the axis that the sum removed?", name="lined up from the right"),
        Wrong(both(sums_once_more, sums_once_more_mean), "M22", "You add g up before you stretch it. Each entry went into "
              "one of the sums: whose g does it get?", name="sums g"),
        Wrong(both(keeps_the_axis, keeps_the_axis_mean), "M27", "The axis is back, with size 1. Over how many entries did "
              "the sum run, and does each of them have a gradient?", name="axis of size one"),
    ],
    alternatives=[
        both(spread, right_mean),
        both(ones_times, ones_times_mean),
        both(repeated, repeated_mean),
        both(by_moving_axes, mean_from_sum),
    ],
    hints=[
        "Every entry went into one sum, so it gets the upstream gradient of that sum.",
        "For shape (2, 2), axis 1 and g = [5, 7], the sum gives [[5, 5], [7, 7]] and the mean gives [[2.5, 2.5], [3.5, "
        "3.5]].",
        "Look at the place of the removed axis. Put it back with size 1 first, and then stretch. np.expand_dims(g, axis) "
        "inserts an axis.",
    ],
    worked="Put the removed axis back (np.expand_dims(g, axis), unless axis is None), then np.broadcast_to(..., "
           "shape). The mean divides that by shape[axis], or by the number of all entries if axis is None.",
)  # fmt: skip

# --- 6.4 shape puzzle ----------------------------------------------------------------------------------

RIGHT_SHAPES: list[Shape] = [(4, 3), (3,), (4, 1), (), (4,), (4, 3), (2, 1, 6)]


def has(place: int, *shapes: Shape) -> Any:
    """True for an answer whose entry at `place` (the first that is wrong) is one of these shapes."""

    def test(answer: Any) -> bool:
        given = [tuple(np.ravel(shape).tolist()) if np.ndim(shape) else shape for shape in answer]
        if len(given) != len(RIGHT_SHAPES) or given[:place] != RIGHT_SHAPES[:place]:
            return False
        return given[place] in shapes if shapes else given[place] != RIGHT_SHAPES[place]

    return test


def with_shape(place: int, shape: Shape) -> list[Shape]:
    return [*RIGHT_SHAPES[:place], shape, *RIGHT_SHAPES[place + 1 :]]


EXERCISE_6_4 = value(
    "6.4", "grad_shapes", RIGHT_SHAPES,
    why="A gradient has the shape of the tensor it belongs to, whatever the shape of the output is.",
    title="seven shapes",
    minutes=8,
    wrong=[
        Wrong([str(shape) for shape in RIGHT_SHAPES], "", "Quotation marks make texts of the shapes. Write the tuples without "
              "them.", name="texts", when=lambda answer: any(isinstance(shape, str) for shape in answer)),
        Wrong([12, 3, 4, 1, 4, 12, 12], "", "These are plain numbers. A shape is a tuple with one size for each axis, such as "
              "(4, 3).", name="sizes", when=lambda answer: all(isinstance(shape, int) for shape in answer)),
        Wrong([(4, 3), 3, (4, 1), (), 4, (4, 3), (2, 1, 6)], "", "(3) is the number 3 in brackets. Look at how the task "
              "writes the shape of b: which character makes it a tuple?", name="a number for a shape",
              when=lambda answer: np.ndim(answer[0]) == 1 and any(type(answer[i]) is int for i in (1, 4))),
        Wrong(with_shape(0, (3,)), "M27", "Shape 1 belongs to the upstream gradient of the sum. What is the shape of "
              "the result of the sum?", when=has(0), name="1"),
        Wrong(with_shape(1, (4, 3)), "M28", "Shape 2 belongs to the gradient of b. How many entries does b itself "
              "have, before it is stretched?", when=has(1), name="2"),
        Wrong(with_shape(2, (4,)), "M28", "Shape 3 belongs to the gradient of c, and an axis of size 1 is an axis. "
              "What is the shape of c?", when=has(2, (4,)), name="3, axis lost"),
        Wrong(with_shape(2, (4, 3)), "M27", "Shape 3 belongs to the gradient of c, not of the product. What is the "
              "shape of c?",
              when=has(2), name="3"),
        Wrong(with_shape(3, (1,)), "M27", "Shape 4 belongs to the gradient of a single number. How many axes does a "
              "single number have? Write that many sizes between the brackets.", when=has(3), name="4"),
        Wrong(with_shape(4, (4, 3)), "M27", "Shape 5 belongs to the upstream gradient of the mean, so it is the shape of "
              "the mean's result. Which axis did the mean along dim=1 remove?", when=has(4), name="5"),
        Wrong(with_shape(5, (4,)), "M27", "Shape 6 belongs to the gradient of x. What is the shape of x?",
              when=has(5), name="6"),
        Wrong(with_shape(6, (2, 5, 6)), "M27", "Shape 7 belongs to the gradient of v, not of the sum of u and v. Which axis "
              "of v was stretched, and does it stay?",
              when=has(6, (2, 5, 6)), name="7, shape of the output"),
        Wrong(with_shape(6, (2, 6)), "M28", "Shape 7 belongs to the gradient of v. The middle axis of v has size 1, and a "
              "gradient has all axes of its tensor.", when=has(6), name="7"),
    ],
    hints=[
        "The upstream gradient of an operation has the shape of its output. The gradient of an input has the shape of "
        "this input.",
        "For (5, 2) + (2,) the upstream gradient has shape (5, 2). The first operand gets (5, 2), and the second gets (2,).",
        "Find in each line the tensor whose gradient is meant, and copy its shape.",
    ],
    worked="[(4, 3), (3,), (4, 1), (), (4,), (4, 3), (2, 1, 6)]",
)  # fmt: skip

# --- predictions of the reading notebook ---------------------------------------------------------------

PREDICTION_6_0 = prediction(
    "6.0", [4, 4, 4], points=0,
    title="the gradient of a bias that four rows use",
    wrong=[
        Wrong([1, 1, 1], "M28", "This would be right for a single row. In how many rows is b[0] added?"),
        Wrong([12, 12, 12], "M28", "Twelve entries are added up, but b[0] is in one column only."),
        Wrong([5, 7, 9], "M06", "These are the values of b. How fast does the total change when b[0] changes?"),
        Wrong([[1, 1, 1]] * 4, "M28", "This is the gradient of X + b. b itself has three entries.",
              name="a matrix of ones"),
        Wrong([3, 3, 3], "M52", "b has three entries, and each is used in its own column. How many rows has this column?"),
        Wrong([18, 22, 26], "M43", "These are the sums of the columns of X. How fast does the total change with b[0]?"),
        Wrong(12, "M27", "This is one number, but b has three entries."),
    ],
)  # fmt: skip

PREDICTION_6_1A = prediction(
    "6.1a", [[6], [60]], points=0,
    title="the gradient of a column",
    wrong=[
        Wrong([6, 60], "M28", "The numbers are right. But c has two axes, one of them of size 1: which axes does its "
              "gradient have?"),
        Wrong([[11, 22, 33]], "M52", "You added down the columns. To which numbers was c[0] added: to a column or to a row?",
              name="column sums"),
        Wrong([[2], [20]], "M28", "You averaged. c[0] was used three times, and contributions are added."),
        Wrong([[1], [10]], "M28", "c[0] was used three times, and this is the contribution of one use."),
        Wrong([[3], [3]], "M23", "This counts the uses of each entry of c. Which upstream gradient belongs to each use?"),
        Wrong([66], "M28", "You added everything up. Each entry of c was used in its own row only."),
    ],
)  # fmt: skip

PREDICTION_6_2A = prediction(
    "6.2a", "b", points=0,
    title="what one row contributes",
    options={
        "a": "g to both", "b": "g * x to w.grad, and g to b.grad", "c": "g * w to w.grad, and g * b to b.grad"
    },
    wrong=[
        Wrong("a", "M22", "Change b by 1: by how much does w * x + b change in this row? And if you change w by 1?"),
        Wrong("c", "M04", "The factor is the derivative of w * x + b with respect to w. Is that w itself?"),
    ],
)  # fmt: skip

PREDICTION_6_3A = prediction(
    "6.3a", [[1, 1, 1], [10, 10, 10]], points=0,
    title="one upstream gradient for each row sum",
    wrong=[
        Wrong([[1, 10], [1, 10], [1, 10]], "M52", "x has two rows of three numbers. Into which sum did x[0, 2] go?",
              name="transposed"),
        Wrong([[1, 1, 1], [1, 1, 1]], "M23", "These are the derivatives alone. The upstream gradient of the second sum is "
              "10.", name="ones"),
        Wrong([[1, 2, 3], [40, 50, 60]], "M22", "You multiplied by x. How fast does a sum change with one of its entries?",
              name="times x"),
        Wrong([1, 10], "M27", "This is the upstream gradient of the sums. x has six entries."),
        Wrong([[11, 11, 11], [11, 11, 11]], "M22", "Each entry went into only one of the two sums.",
              name="both"),
    ],
)  # fmt: skip

PREDICTION_6_3B = prediction(
    "6.3b", 2, points=0,
    title="what a mean along dim=0 divides by",
    wrong=[
        Wrong(3, "M30", "There are three means. How many numbers went into each of them?"),
        Wrong(6, "M30", "Six is the number of all entries. How many numbers went into *one* of the means?"),
        Wrong(0.5, "M30", "The upstream gradient is multiplied by 0.5. By which number is it divided, then?"),
        Wrong(1, "M30", "Then it would be a sum. If x[0, 0] changes, how fast does the mean of its column change?"),
    ],
)  # fmt: skip

PREDICTION_6_4A = prediction(
    "6.4a", 64, points=0,
    title="how many contributions are in one sum",
    wrong=[
        Wrong(8, "M28", "8 is the number of pixels in one row of a scan. Over which axes is the brightness of a scan "
              "stretched?"),
        Wrong(192, "M28", "192 is the number of pixels in all three scans. Each scan has its own brightness."),
        Wrong(3, "M52", "3 is the number of scans. In how many pixels is the brightness of *one* scan used?"),
        Wrong(1, "M28", "This would be right without broadcasting. In how many pixels is the brightness of one scan used?"),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_6_0, PREDICTION_6_1A, PREDICTION_6_2A, PREDICTION_6_3A, PREDICTION_6_3B, PREDICTION_6_4A,
    EXERCISE_6_1, EXERCISE_6_2, EXERCISE_6_3, EXERCISE_6_4,
)  # fmt: skip

LESSON = Lesson(
    number=6,
    slug="06_broadcasting",
    title="Broadcasting and reductions",
    after=(5,),
    idea="A stretch in the forward pass becomes a sum in the backward pass, and a sum becomes a stretch.",
    introduces=(
        "axis", "dim", "float32", "reshape", "unbroadcast", "ndim", "keepdims", "sum_backward", "expand_dims",
        "broadcast_to", "mean_backward",
    ),
    misconceptions=("M27", "M28", "M52"),
    with_engine=False,
    exercises=EXERCISES,
)  # fmt: skip
