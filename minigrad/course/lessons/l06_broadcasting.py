"""Lesson 06: gradients of stretched operands, and of sums and means.

The oracles walk over single entries: each entry of a result names the entry it was made from, and the
gradient goes back along that arrow. No solution works like that, so no slip can be shared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..exercise import Exercise, Lesson, Probe, Wrong, call, function, numbers, prediction, value

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]

# --- 6.1 back to the shape of the operand --------------------------------------------------------------


def one_arrow_at_a_time(g: Array, shape: Shape) -> Array:
    """The oracle: every entry of g was made from one entry of the operand, and pays into it."""
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


EXERCISE_6_1 = function(
    "6.1", "unbroadcast",
    why="Broadcasting copies a number into several places, and its gradient is the sum over the copies.",
    title="bring a gradient back to the shape of its operand",
    minutes=12,
    oracle=one_arrow_at_a_time,
    probes=probes_6_1,
    wrong=[
        Wrong(averages, "M28", "You average over the stretched axes. An entry that was used four times has "
              "four paths to the result: what does the chain rule do with paths?"),
        Wrong(squeezes_first, "M52", "g loses its own axes of size 1 before the shapes are lined up, and then every axis "
              "stands in another place. Which axes of g are lined up with which of the operand's?"),
        Wrong(drops_ones, "M28", "The numbers are right and an axis is gone: the operand had an axis of size "
              "1. What would operand - 0.1 * gradient look like with yours?"),
        Wrong(trailing_axes, "M52", "Axes that are missing are missing on the left: shapes are lined up from "
              "the right. You summed over the last axes. A square table would not have shown it; which axes "
              "of g are the new ones?"),
        Wrong(only_missing_axes, "M28", "Axes that the operand did not have are summed, but not those where "
              "it had size 1. Was the number there used only once?"),
        Wrong(only_size_one, "M28", "Axes of size 1 are summed, but g still has axes that the operand never "
              "had. Where do they come from?"),
        Wrong(two_axes_only, "M42", "Two leading axes are summed away, and a third one stays. The number of axes may be any: "
              "which loop stops only when none is left?"),
        Wrong(one_axis_only, "M28", "One extra axis is summed away; here there are more. How many axes has g "
              "that the operand has not?"),
        Wrong(everything_everywhere, "M28", "You add up all of g and give the total to every entry. Was each "
              "entry used everywhere, or only in its own column (or row)?"),
        Wrong(keeps_one, "M19", "One of the repeated rows (or columns) is kept, and the others are lost. "
              "Which paths lead back to the entry?"),
        Wrong(unchanged, "M28", "g comes back as it was. The operand is smaller than g: how many numbers "
              "does its gradient have?"),
        Wrong(averages_the_stretched, "M28", "New axes are summed, stretched ones are averaged. What is the difference "
              "between a number used in three rows and one used in three columns?"),
        Wrong(first_stretched_axis, "M28", "One axis of size 1 is summed; this operand has two of them. How can you meet "
              "them all?"),
        Wrong(cut_to_fit, "M19", "You took as many numbers as fit, from the front, and dropped the rest. Which paths lead "
              "back to the first entry?"),
        Wrong(changes_g, "M15", "The sums are right, and g was changed on the way: others may still need it. Which of your "
              "lines writes into g?"),
        Wrong(as_a_list, "", "The numbers are right, in lists. An array is asked for: which call made lists of it?"),
        Wrong(never_a_bare_number, "M27", "For the shape () you return an array with one axis. A bare number "
              "has no axis: what does its gradient look like?"),
    ],
    alternatives=[sums_and_keeps, one_axis_after_the_other, through_padded_shape, counting_places, by_einsum,
                  by_recursion],
    hints=[
        "g has one number for each entry of the result, the answer one for each entry of the operand.",
        "An operand of shape (5, 1) in a result of shape (2, 5, 7): sum over axis 0, which is new, and over "
        "the last axis, which was stretched; the last one stays, with size 1.",
        "Look at the number of axes first: as long as g has too many, the first one is new. Then at sizes of "
        "1.",
    ],
    worked="Sum over the first g.ndim - len(shape) axes. Then, for each axis where shape has a 1, sum over "
           "it with keepdims=True.",
)  # fmt: skip

# --- 6.2 a bias by hand --------------------------------------------------------------------------------

UPSTREAM = [[0.5, 1.2, 3.0], [2.0, -1.0, 4.0], [1.4, 6.0, 2.5], [3.5, 4.0, 3.5]]

EXERCISE_6_2 = value(
    "6.2", "bias_grad", [7.4, 10.2, 13.0],
    why="The bias is added to every row, so its gradient is the sum over the rows.",
    title="the gradient of a bias, by hand",
    minutes=4,
    wrong=[
        Wrong(UPSTREAM, "M28", "That is the gradient of X + b: one number for each of its twelve entries. b "
              "has three numbers to nudge. Which of the twelve belong to the first?", name="the whole table"),
        Wrong([1.85, 2.55, 3.25], "M28", "You averaged the rows. b[0] was added in four rows; if each of "
              "them moves, do their effects add up or average out?"),
        Wrong(30.6, "M28", "Everything in one number. b has three entries, each used in its own column only. "
              "How many answers does that make?"),
        Wrong([4.7, 5.0, 9.9, 11.0], "M52", "You added along the rows: four numbers, one for each row. Is "
              "there one b for each row, or one for each column?"),
        Wrong([4, 4, 4], "M23", "That counts how often each entry was used. How much does the rest of the "
              "world care about each of those uses?"),
        Wrong([3.5, 4.0, 3.5], "M19", "That is the last row alone. Three more rows used the same b."),
        Wrong([7.4, 12.2, 13.0], "", "Two of three. In the second column one number is below zero: what does it do to the "
              "sum?"),
        Wrong([30.6], "M28", "Everything in one number. b has three entries, each used in its own column only.",
              name="one number in a list"),
        Wrong([2.5, 3.5, 4.5], "M52", "Three numbers, but not sums of columns. Which numbers stand below each other?"),
        Wrong([[7.4, 10.2, 13.0]], "M27", "The numbers are right, the shape is (1, 3). What is the shape of "
              "b?",
              name="a table of one row"),
    ],
    hints=[
        "b[0] was added to the first column, in all four rows.",
        "For a table [[1, 2], [10, 20]] and a bias of two numbers the answer is [11, 22].",
        "Go down one column and ask what each of its numbers has to do with b.",
    ],
    worked="Add up each column: [0.5 + 2 + 1.4 + 3.5, 1.2 - 1 + 6 + 4, 3 + 4 + 2.5 + 3.5].",
)  # fmt: skip

# --- 6.3 backward of sum and mean ----------------------------------------------------------------------


def entry_by_entry(name: str, g: Array, shape: Shape, axis: int | None = None) -> Array:
    """The oracle: each entry went into one sum; a mean shares what arrives among as many as went in."""
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


def multiplied(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return spread(g, shape, axis) * how_many(shape, axis)


def zero_is_no_axis(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return spread(g, shape, axis) / (shape[axis] if axis else np.prod(shape))


def axis_in_front(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return np.broadcast_to(g if axis is None else np.expand_dims(g, 0), shape)


def poured_in(g: Array, shape: Shape, axis: int | None = None) -> Any:
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


EXERCISE_6_3 = function(
    "6.3", ("sum_backward", "mean_backward"),
    why="Every element enters the sum once, so each gets the upstream gradient; a mean divides it by the number of elements.",
    title="backward of sum and mean",
    minutes=10,
    oracle=entry_by_entry,
    probes=probes_6_3,
    wrong=[
        Wrong(both(ones_in_sum, ones_in_mean), "M23", "Your answer does not depend on g: right when nothing "
              "comes after the sum. What if somebody multiplies the sum by ten?", name="ones"),
        Wrong(both(not_spread, not_spread_mean), "M27", "Your answer has the shape of the sum. Which shape "
              "has the thing that was summed?", name="not spread"),
        Wrong(both(right_mean, right_mean), "M30", "sum_backward divides. Nudge one entry of the table by a "
              "hair: by how many hairs does its sum move?", name="sum divides"),
        Wrong(both(spread, spread), "M30", "mean_backward hands on all that arrives to every entry. Nudge "
              "one of four entries by a hair: how far does their mean move?", name="mean does not divide"),
        Wrong(both(spread, divided_by_rows), "M30", "mean_backward divides by the number of rows, whatever "
              "axis the mean was taken over. How many numbers went into each mean?", name="mean by rows"),
        Wrong(both(spread, divided_by_all), "M30", "mean_backward divides by the number of all entries. A "
              "mean along one axis: how many numbers went into each?", name="mean by all"),
        Wrong(both(spread, divided_by_columns), "M30", "mean_backward divides by the length of the last axis, whatever "
              "axis the mean was taken over. How many numbers went into each mean?", name="mean by columns"),
        Wrong(both(spread, divided_twice), "M30", "mean_backward divides twice. Nudge one of four entries by a hair: does "
              "their mean move by a sixteenth?", name="mean divides twice"),
        Wrong(both(spread, multiplied), "M30", "mean_backward multiplies with how many there are. Does the mean of many "
              "numbers move more or less than one of them?", name="mean multiplies"),
        Wrong(both(spread, zero_is_no_axis), "M30", "With axis 0 you divided by the number of all entries: 0 counts as "
              "false, like None. How can you ask for None itself?", name="axis 0 taken for None"),
        Wrong(both(axis_in_front, right_mean), "M52", "The lost axis is put back in front, whatever axis it was. In which "
              "place was it?", name="axis in front"),
        Wrong(both(poured_in, right_mean), "M52", "Each g is repeated often enough, and poured in row by row: right for "
              "the last axis only. Which sum did the entry in row 1, column 0 go into?", name="poured in"),
        Wrong(both(first_of_each, right_mean), "M28", "One entry of each sum got its g, the others 0. Nudge another one: "
              "does the sum stay?", name="first of each"),
        Wrong(both(spread, changes_it), "M15", "The numbers are right, and g was changed: whoever called you holds other "
              "numbers now. Which sign writes into an array?", name="mean changes g"),
        Wrong(both(into_lists, right_mean), "", "The numbers are right, in lists. An array is asked for.",
              name="sum as lists"),
        Wrong(both(along_the_last, along_the_last_mean), "M52", "g is stretched from the right, whatever the "
              "axis. In which place was the axis that the sum took away?", name="lined up from the right"),
        Wrong(both(sums_once_more, sums_once_more_mean), "M22", "You add g up before you spread it. Each "
              "entry went into one of the sums: whose g should it hear?", name="sums g"),
        Wrong(both(keeps_the_axis, keeps_the_axis_mean), "M27", "The axis is back, with size 1. How many "
              "entries did the sum run over, and does each of them get an answer?", name="axis of size one"),
    ],
    alternatives=[
        both(spread, right_mean),
        both(ones_times, ones_times_mean),
        both(repeated, repeated_mean),
        both(by_moving_axes, mean_from_sum),
    ],
    hints=[
        "Every entry went into one sum, so it hears the g of that sum, and nothing else.",
        "For shape (2, 2), axis 1 and g = [5, 7]: sum gives [[5, 5], [7, 7]], mean gives [[2.5, 2.5], [3.5, "
        "3.5]].",
        "Look at the place of the lost axis: put it back with size 1 first, then stretch. np.expand_dims(g, "
        "axis) puts an axis in.",
    ],
    worked="Put the lost axis back (np.expand_dims(g, axis), unless axis is None), then np.broadcast_to(..., "
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
        Wrong([(4, 3), 3, (4, 1), (), 4, (4, 3), (2, 1, 6)], "", "(3) is the number 3 in brackets. Look at how the task "
              "writes the shape of b: which sign makes a tuple of it?", name="a number for a shape",
              when=lambda answer: np.ndim(answer[0]) == 1 and any(type(answer[i]) is int for i in (1, 4))),
        Wrong(with_shape(0, (3,)), "M27", "Shape 1 arrives at the +. It is the gradient of what the + made, "
              "so look at the shape of the result.", when=has(0), name="1"),
        Wrong(with_shape(1, (4, 3)), "M28", "Shape 2 is the gradient of b. Stretched or not: how many "
              "numbers of b can you nudge?", when=has(1), name="2"),
        Wrong(with_shape(2, (4,)), "M28", "Shape 3 is the gradient of c, and an axis of size 1 is an axis. "
              "Which shape has c?", when=has(2, (4,)), name="3, axis lost"),
        Wrong(with_shape(2, (4, 3)), "M27", "Shape 3 is the gradient of c, not of the product. Which shape "
              "has c?",
              when=has(2), name="3"),
        Wrong(with_shape(3, (1,)), "M27", "Shape 4 is the gradient of a bare number. How many axes has a "
              "bare number? Write that many sizes between the brackets.", when=has(3), name="4"),
        Wrong(with_shape(4, (4, 3)), "M27", "Shape 5 arrives at the mean: it is shaped like what the mean "
              "made. Which axis did the mean along dim=1 take away?", when=has(4), name="5"),
        Wrong(with_shape(5, (4,)), "M27", "Shape 6 leaves the mean for x. Which shape has x?",
              when=has(5), name="6"),
        Wrong(with_shape(6, (2, 5, 6)), "M27", "Shape 7 is the gradient of v, not of the sum of u and v. "
              "Which axis of v was stretched, and does it stay?",
              when=has(6, (2, 5, 6)), name="7, shape of the output"),
        Wrong(with_shape(6, (2, 6)), "M28", "Shape 7 is the gradient of v. Its middle axis has size 1, and a "
              "gradient has all the axes of its tensor.", when=has(6), name="7"),
    ],
    hints=[
        "What arrives at an operation has the shape of its output; what it hands to an input has the shape "
        "of that input.",
        "For (5, 2) + (2,): (5, 2) arrives, (5, 2) goes to the first operand and (2,) to the second.",
        "Ask of each line: the gradient *of which tensor*? Then copy its shape.",
    ],
    worked="[(4, 3), (3,), (4, 1), (), (4,), (4, 3), (2, 1, 6)]",
)  # fmt: skip

# --- predictions of the reading notebook ---------------------------------------------------------------

PREDICTION_6_0 = prediction(
    "6.0", [4, 4, 4], points=0,
    title="the gradient of a bias that four rows use",
    wrong=[
        Wrong([1, 1, 1], "M28", "One would be right for a single row. In how many rows is b[0] added?"),
        Wrong([12, 12, 12], "M28", "Twelve numbers are added up, but b[0] is in one column only."),
        Wrong([1, 2, 3], "M06", "Those are the values of b. How fast does the total grow when b[0] does?"),
        Wrong([[1, 1, 1]] * 4, "M28", "That is the gradient of X + b. b itself has three numbers to nudge.",
              name="a table of ones"),
        Wrong(12, "M27", "One number for three things you could nudge?"),
    ],
)  # fmt: skip

PREDICTION_6_1A = prediction(
    "6.1a", [[6], [60]], points=0,
    title="the gradient of a column",
    wrong=[
        Wrong([6, 60], "M28", "The numbers are right. c has two axes, one of them of size 1: what has its "
              "gradient?"),
        Wrong([[11, 22, 33]], "M52", "You added down the columns. To which numbers was c[0] added: a column, "
              "or a row?",
              name="column sums"),
        Wrong([[2], [20]], "M28", "You averaged. c[0] was used three times."),
        Wrong([66], "M28", "Everything added up. Each entry of c was used in its own row only."),
    ],
)  # fmt: skip

PREDICTION_6_2A = prediction(
    "6.2a", "a", points=0,
    title="has a gradient the shape of its tensor?",
    options={"a": "true, for all of them", "b": "false: w and b get shape (3, "
                                                "1)", "c": "false: all get shape ()"},
    wrong=[
        Wrong("b", "M28", "w is used three times, and three messages come back. Are they kept, or added up?"),
        Wrong("c", "M27", "The loss has shape (). A gradient answers one question for each entry of the "
              "*input*."),
    ],
)  # fmt: skip

PREDICTION_6_3A = prediction(
    "6.3a", [[1, 1, 1], [10, 10, 10]], points=0,
    title="one weight for each row sum",
    wrong=[
        Wrong([[1, 10], [1, 10], [1, 10]], "M52", "x has two rows of three. Which sum did x[0, 2] go into?",
              name="turned"),
        Wrong([[1, 1, 1], [1, 1, 1]], "M23", "Those are the slopes alone. The second sum counts ten.",
              name="ones"),
        Wrong([1, 10], "M27", "That is what arrives at the sum. x has six numbers to nudge."),
        Wrong([[11, 11, 11], [11, 11, 11]], "M22", "Each entry went into one of the two sums only.",
              name="both"),
    ],
)  # fmt: skip

PREDICTION_6_3B = prediction(
    "6.3b", 2, points=0,
    title="what a mean along dim=0 divides by",
    wrong=[
        Wrong(3, "M30", "There are three means. How many numbers went into each?"),
        Wrong(6, "M30", "Six is the number of all entries. How many went into *one* of the means?"),
        Wrong(1, "M30", "Then it would be a sum. Nudge x[0, 0] by a hair: how far does the mean of its "
              "column move?"),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_6_0, PREDICTION_6_1A, PREDICTION_6_2A, PREDICTION_6_3A, PREDICTION_6_3B,
    EXERCISE_6_1, EXERCISE_6_2, EXERCISE_6_3, EXERCISE_6_4,
)  # fmt: skip

LESSON = Lesson(
    number=6,
    slug="06_broadcasting",
    title="Broadcasting and reductions",
    after=(5,),
    idea="What was stretched on the way forward is summed on the way back, and the other way round.",
    introduces=(
        "axis", "dim", "float32", "reshape", "unbroadcast", "ndim", "keepdims", "sum_backward", "expand_dims",
        "broadcast_to", "mean_backward",
    ),
    misconceptions=("M27", "M28", "M52"),
    with_engine=False,
    exercises=EXERCISES,
)  # fmt: skip
