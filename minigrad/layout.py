"""How elements lie in memory: orders of dimensions, repeats, steps and diagonals, as views wherever numpy can."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = Any  # numpy.ndarray or numpy.generic
Shape = tuple[int, ...]


def count(shape: Shape, dims: Sequence[int] | None = None) -> int:
    """The number of elements, or of those along `dims`."""
    return math.prod(shape if dims is None else [shape[d] for d in dims])


def in_order(x: Array) -> Array:
    """x with its elements in order in memory: numpy lays many results out as their inputs are, where PyTorch does not."""
    return x if x.flags.c_contiguous else x.copy()


def laid_as(x: Array, like: Array) -> Array:
    """A copy of x that lies in memory as `like` does, if that has no gaps; else row by row."""
    if np.empty_like(like).strides != like.strides:
        return np.array(x, order="C")
    out = np.empty_like(like, x.dtype)
    out[...] = x
    return out


def swap(x: Array, i: int, j: int) -> Array:
    """Two dimensions exchanged; a single number has none to exchange."""
    return x.swapaxes(i, j) if x.ndim else x[...]


def copied(x: Array, y: Array) -> Array:
    """y in the shape and type of x."""
    return np.broadcast_to(np.asarray(y).astype(x.dtype), x.shape).copy()


def duplicate(x: Array) -> Array:
    """A copy whose numbers lie in the same order of memory as those of x (C's, if x repeats some)."""
    return x.copy() if x.flags.c_contiguous or 0 in x.strides else x.copy("K")


def laid_out(x: Array, like: Array) -> Array:
    """A new array in the order of memory of another one of its shape."""
    if like.flags.c_contiguous or 0 in like.strides:
        return x
    turned = np.empty_like(like, x.dtype)
    turned[...] = x
    return turned


def memory_order(like: Array) -> Shape | None:
    """The dimensions, those with the longest steps in memory first; None if they stand in this order."""
    if like.flags.c_contiguous or 0 in like.strides:
        return None
    order = tuple(sorted(range(like.ndim), key=lambda d: -like.strides[d]))
    return None if order == tuple(range(like.ndim)) else order


def filled_like(like: Array, draw: Any) -> Array:
    """What `draw` gives for a shape, its numbers (random ones) one after the other in the order of memory of `like`."""
    order = memory_order(like)
    if order is None:
        return draw(like.shape)
    return draw(tuple(like.shape[d] for d in order)).transpose(inverse_order(order))


def broadcast(x: Array, shape: Shape) -> Array:
    """A view that repeats x along new and stretched dimensions (np.broadcast_to, at a fraction of the cost)."""
    if not x.flags.c_contiguous:
        return np.lib.stride_tricks.as_strided(x, shape, _stretched(x, shape))
    return np.ndarray(shape, x.dtype, x, 0, _stretched(x, shape))


def _stretched(x: Array, shape: Shape) -> Shape:
    steps: Shape = tuple(0 if n == 1 else s for n, s in zip(x.shape, x.strides))
    new: int = len(shape) - x.ndim
    return (0,) * new + steps


def inverse_order(dims: Shape) -> Shape:
    """The permutation that undoes this one."""
    order = [0] * len(dims)
    for position, dim in enumerate(dims):
        order[dim] = position
    return tuple(order)


def negated(shifts: Shape) -> Shape:
    """Each number with the other sign."""
    return tuple(-s for s in shifts)


def negated_pairs(widths: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Each number of each pair with the other sign."""
    return tuple((-a, -b) for a, b in widths)


def strided(x: Array, size: Shape, stride: Shape, offset: int) -> Array:
    """Elements of contiguous memory by sizes and steps: a view."""
    flat = np.asarray(x).reshape(-1)[offset:]
    return np.lib.stride_tricks.as_strided(flat, size, tuple(s * x.itemsize for s in stride))


def add_strided(g: Array, shape: Shape, size: Shape, stride: Shape, offset: int) -> Array:
    """The transpose of `strided`: elements that were read more than once get the sum."""
    places = strided(np.arange(count(shape)), size, stride, offset)
    return np.bincount(places.reshape(-1), np.asarray(g).reshape(-1), count(shape)).astype(g.dtype).reshape(shape)


def diagonal_copy(x: Array, offset: int) -> Array:
    return diagonal(x, offset, 0, 1).copy()


def diagonal(x: Array, offset: int, i: int, j: int) -> Array:
    """A writable view of the diagonal of dimensions i and j, as a new last dimension."""
    rows, columns = x.shape[i], x.shape[j]
    length = max(min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns), 0)
    corner = [slice(None)] * x.ndim
    if length:
        corner[i], corner[j] = slice(max(-offset, 0), None), slice(max(offset, 0), None)
    part = x[tuple(corner)]
    keep = [d for d in range(x.ndim) if d not in (i, j)]
    shape = (*(x.shape[d] for d in keep), length)
    steps = (*(x.strides[d] for d in keep), x.strides[i] + x.strides[j])
    return np.lib.stride_tricks.as_strided(part, shape, steps)


def replace_diagonal(x: Array, y: Array, offset: int, i: int, j: int) -> Array:
    """A copy of x with y on the diagonal."""
    out = x.copy()
    diagonal(out, offset, i, j)[...] = y
    return out


def put_diagonal(g: Array, shape: Shape, offset: int, i: int, j: int) -> Array:
    """The transpose of `diagonal`: zeros with g on the diagonal."""
    out = np.zeros(shape, g.dtype)
    diagonal(out, offset, i, j)[...] = g
    return out


def flip(x: Array, dims: Shape) -> Array:
    return duplicate(np.flip(x, dims)) if x.ndim else x.copy()
