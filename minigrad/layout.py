"""New arrays that lie in memory as others do."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.kernels import Array, Shape, inverse_order


def laid_as(x: Array, like: Array) -> Array:
    """A copy of x that lies in memory as `like` does, if that has no gaps; else row by row."""
    if np.empty_like(like).strides != like.strides:
        return np.array(x, order="C")
    out = np.empty_like(like, x.dtype)
    out[...] = x
    return out


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
