"""Lesson 06: gradients of stretched operands, and of sums and means.

The oracles go through single entries: each entry of a result was made from one entry of the operand, and its
gradient is added to that entry. No solution works like that, so no mistake can be in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..exercise import Probe, call, numbers
from ..lesson_text import lesson

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


def summed_axes(g: Array, shape: Shape) -> tuple[int, ...]:
    new = g.ndim - len(shape)
    return (*range(new), *(new + i for i, n in enumerate(shape) if n == 1))


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
    for name in ("sum_backward", "mean_backward"):
        shape, axis = tuple(rng.permutation([2, 3, 4, 5]).tolist()), int(rng.integers(4))
        yield call(numbers(rng, *shape[:axis], *shape[axis + 1 :]), shape, axis).of(name)
        yield call(np.float64(numbers(rng, 1)[0]), shape[:3]).of(name)


def spread(g: Array, shape: Shape, axis: int | None = None) -> Any:
    return np.broadcast_to(g if axis is None else np.expand_dims(g, axis), shape)


def how_many(shape: Shape, axis: int | None) -> int:
    return int(np.prod(shape, dtype=int)) if axis is None else shape[axis]


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


LESSON = lesson(
    __file__,
    globals(),
    {
        "6.1": {"oracle": entry_after_entry, "probes": probes_6_1},
        "6.3": {"oracle": entry_by_entry, "probes": probes_6_3},
    },
)
