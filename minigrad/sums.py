"""Sums: of many numbers as products with ones, which is fastest; of few in PyTorch's order, so that the last digit is its own.

PyTorch adds a row in eight lanes (one for each float of a vector register), four vectors at a time; what remains comes
first.  The order matters in float32 only: of sums of up to 256 numbers numpy's give 58 % as PyTorch's do, these 84 %.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from minigrad.layout import Array, Shape, in_order

FEW = 256  # numbers that somebody may look at: that they take a microsecond longer nobody notices
_add: Any = np.add.reduce


def total(x: Array, dims: int | tuple[int, ...] | None, keepdim: bool = False) -> Array:
    """The sum over `dims`.  Over the first or the last dimensions it is a product with ones, which is much faster."""
    if x.size < 256 or dims is None or x.dtype.char not in "fd":
        if 4 < x.size <= FEW and x.dtype.char == "f" and x.flags.c_contiguous:
            sums = _as_pytorch_adds(x, dims, keepdim)
            if sums is not None:
                return sums
        sums = _add(x, dims, None, None, keepdim)
        return sums if x.ndim < 3 else in_order(sums)
    ones, first, flat, left = _as_product(x.shape, dims, keepdim, x.dtype)
    if ones is None:
        return in_order(_add(x, dims, None, None, keepdim))
    if len(x.shape) > 2:
        x = x.reshape(flat)
    sums = ones.dot(x) if first else x.dot(ones)
    return sums if len(left) == 1 else sums.reshape(left)


@lru_cache(maxsize=256)  # working it out takes longer than a small product
def _as_product(
    shape: Shape, dims: int | Shape, keepdim: bool, dtype: np.dtype[Any]
) -> tuple[Array | None, bool, Shape, Shape]:
    """The ones (or None), whether they come first; the two dimensions to look at x in, and the result's shape."""
    over = (dims,) if isinstance(dims, int) else dims
    k, n = len(over), len(shape)
    if 0 < k < n and over == tuple(range(k)):
        first, flat, left = True, (math.prod(shape[:k]), math.prod(shape[k:])), (1,) * (k * keepdim) + shape[k:]
    elif 0 < k < n and over in ((-1,), tuple(range(n - k, n))) and math.prod(shape[-k:]) <= 1024:
        first, flat, left = False, (math.prod(shape[:-k]), math.prod(shape[-k:])), shape[:-k] + (1,) * (k * keepdim)
    else:
        return None, False, (), ()  # longer rows numpy adds with less rounding
    return _ones(flat[not first], dtype), first, flat, left


def _as_pytorch_adds(x: Array, dims: int | Shape | None, keepdim: bool) -> Array | None:
    """The sum of few numbers in PyTorch's order, to the last place: eight lanes, then four; None if numpy's is the same."""
    if dims is None or x.ndim == 1 or dims == tuple(range(x.ndim)):
        return _in_a_row(x.reshape(-1)).reshape((1,) * (x.ndim * keepdim))[()]
    ones, first, flat, left = _as_product(x.shape, dims, keepdim, x.dtype)
    if ones is None:
        return None
    m, n = flat
    if not first or n == 1:
        m, n = (n, m) if first else flat
        return _in_a_row(x.reshape((m, n)).T).reshape(left) if n > 4 else None
    plain = n // 32 * 32 if n >= 8 else n // 4 * 4  # these columns PyTorch adds from top to bottom
    if m < 5 or m > 63 or (plain and m > 15):
        return None
    padded = np.zeros((m + 1, n), x.dtype)
    padded[:m] = x.reshape(flat)
    sums = _add(_add(padded[_in_fours(m)], 0), 0)
    if plain:
        sums[:plain] = _add(padded[:, :plain], 0)
    return sums.reshape(left)


def _in_a_row(x: Array) -> Array:
    """The sum along the first dimension of what lies in a row, of five to 256 numbers."""
    n = len(x)
    padded = np.zeros((n + 1, *x.shape[1:]), x.dtype)
    padded[:n] = x
    lanes = padded[_in_lanes(n)]
    lanes = _add(lanes, 0) if n > 7 else lanes[0]
    if n >= 40:
        lanes[1:9] = _add(lanes[1:].reshape((4, 8, *x.shape[1:])), 0)
    return np.add.accumulate(lanes[:9])[-1]


def few_rows(x: Array, dim: int) -> Array | None:
    """The sums along the last dimension, kept, in the order of PyTorch's softmax: eight lanes, folded; else None."""
    if x.size > FEW or x.dtype.char != "f" or dim not in (-1, x.ndim - 1):
        return None
    n = x.shape[-1] if x.ndim else 1
    if n < 8:
        return _add(x, dim, None, None, True)
    lanes = np.zeros((*x.shape[:-1], (n + 7) // 8 * 8), x.dtype)
    lanes[..., :n] = x
    lanes = _add(lanes.reshape((*x.shape[:-1], -1, 8)), -2)
    for half in (4, 2, 1):
        lanes = lanes[..., :half] + lanes[..., half:]
    return lanes


def total_of_squares(x: Array, dims: Shape, keepdim: bool) -> Array:
    """`total`; of few numbers in the order of PyTorch's norm: eight lanes, then what remains; one by one in other rows."""
    if not 0 < x.size <= FEW or x.dtype.char != "f" or not x.flags.c_contiguous:
        return total(x, dims, keepdim)
    whole = dims == tuple(range(x.ndim))
    if not whole and dims != (x.ndim - 1,):
        return in_order(_add(x, dims, None, None, keepdim))
    rows = x.reshape((1, -1)).T if whole else x.reshape((-1, x.shape[-1])).T
    lanes = _add(rows[: len(rows) // 8 * 8].reshape((-1, 8, rows.shape[1])), 0)
    sums = np.add.accumulate(np.concatenate([lanes, rows[len(rows) // 8 * 8 :]]))[-1]
    left = () if whole else x.shape[:-1]
    return sums.reshape((*left, *[1] * (len(dims) * keepdim)))[()]


@lru_cache(maxsize=256)
def _in_fours(n: int) -> Array:
    """Which row is added when: four sums in turn, what remains to the first; `n` for none."""
    lists = [[i for i in range(k, n) if i < n // 4 * 4 and i % 4 == k] for k in range(4)]
    lists[0] += range(n // 4 * 4, n)
    return np.array([[*each, *[n] * (len(lists[0]) - len(each))] for each in lists]).T


@lru_cache(maxsize=256)
def _in_lanes(n: int) -> Array:
    """Which number of a row goes into which sum: the rest, then the lanes of four vectors; `n` for none."""
    if n < 8:
        return np.arange(n)[[0, *range(4, n), 1, 2, 3]][None]
    vectors = _in_fours(n // 8) if n >= 40 else np.arange(n // 8)[:, None]
    lanes = (vectors[..., None] * 8 + np.arange(8)).reshape((len(vectors), -1))
    rest = np.full((max(len(lanes), n % 8), 1), n)
    rest[: n % 8, 0] = np.arange(n // 8 * 8, n)
    lanes = np.concatenate([lanes, np.full((len(rest) - len(lanes), lanes.shape[1]), n)])
    return np.concatenate([rest, np.where(lanes < n // 8 * 8, lanes, n)], 1)


@lru_cache(maxsize=64)
def _ones(n: int, dtype: np.dtype[Any]) -> Array:
    return np.ones(n, dtype)
