"""Elements taken from where they stand, put back, put in order: gather and scatter, running totals, sorting.

Numpy in, numpy out.  Where a function is linear it comes with its transpose (`gather` and `scatter_add`, `x[index]` and
`put`, `cumsum` and `cumulative_sum_reversed`): in the table each is the derivative of the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.layout import Array, Shape, in_order

# ------------------------------------------------------------------------------------------- picking


def _grid(index: Array, dim: int) -> tuple[Any, ...]:
    """A numpy index that pairs `index` along `dim` with its own position in the other dimensions."""
    grid: list[Any] = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    grid[dim] = index
    return tuple(grid)


def gather(x: Array, index: Array, dim: int) -> Array:
    """out[i][j] = x[index[i][j]][j] for dim 0; `index` may be smaller than x in the other dimensions."""
    if not index.size:
        return np.zeros(index.shape, x.dtype)
    if index.ndim == 0 or x.ndim == 0:
        return np.asarray(x).reshape(-1)[np.asarray(index).reshape(-1)].reshape(index.shape)
    return x[_grid(index, dim)]


def scatter_add(x: Array, dim: int, index: Array, source: Array) -> Array:
    """A copy of x with source (cut to the shape of index) added at `index`; repeated indices all count."""
    out = np.array(x, np.float32 if x.dtype == np.float16 else None, order="C")  # halves are added as PyTorch adds them
    if not index.size:
        return out.astype(x.dtype, copy=False)
    if out.ndim == 0 or np.ndim(index) == 0:
        flat = out.reshape(-1)
        np.add.at(flat, np.asarray(index).reshape(-1), np.asarray(source).reshape(-1)[: index.size])
    else:
        np.add.at(out, _grid(index, dim), _cut(source, index.shape))
    return out.astype(x.dtype, copy=False)


def scatter(x: Array, dim: int, index: Array, source: Any) -> Array:
    """A copy of x with source (an array, or one number) written at `index`."""
    out = np.array(x, order="C")
    if not np.size(index):
        return out
    value = source if np.ndim(source) == 0 and np.ndim(index) else _cut(np.asarray(source), index.shape)
    if out.ndim == 0 or np.ndim(index) == 0:
        out.reshape(-1)[np.asarray(index).reshape(-1)] = np.asarray(value).reshape(-1)
        return out
    out[_grid(index, dim)] = value
    return out


def _cut(source: Array, shape: Shape) -> Array:
    if source.shape == shape or source.ndim == 0:
        return source.reshape(shape)
    return source[tuple(slice(n) for n in shape)]


def indexed(x: Array, index: Any) -> Array:
    """x[index], its elements in order in memory, as PyTorch has them (so that it may be viewed in another shape)."""
    return in_order(x[index])


def put(shape: Shape, index: Any, g: Array) -> Array:
    """The transpose of `x[index]`: add g into zeros of this shape; repeated indices add up."""
    out = np.zeros(shape, g.dtype)
    items = index if isinstance(index, tuple) else (index,)
    arrays = [item for item in items if isinstance(item, np.ndarray)]
    if not arrays or (len(arrays) == 1 and arrays[0].dtype.kind == "b"):
        out[index] = g
    elif len(items) == 1 and arrays[0].size > 32 and out.ndim > 1:
        add_rows(out, arrays[0].reshape(-1), g.reshape((-1, *shape[1:])))
    else:
        np.add.at(out, index, g)
    return out


def add_rows(out: Array, index: Array, rows: Array) -> None:
    """out[index] += rows where an index may repeat: sort, then add each run at once (faster than np.add.at)."""
    index = index % out.shape[0]
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    out[ordered[starts]] += np.add.reduceat(rows[order], starts, axis=0)


def put_along(g: Array, index: Array, shape: Shape, dim: int) -> Array:
    """The transpose of `gather`."""
    return scatter_add(np.zeros(shape, g.dtype), dim, index, g)


def index_put(x: Array, y: Array, index: Any, accumulate: bool) -> Array:
    """A copy of x with y written at `index`, or added."""
    out = np.array(x, order="C")
    if accumulate:
        np.add.at(out, index, y)
    else:
        out[index] = y
    return out


def erase(x: Array, index: Any) -> Array:
    out = np.array(x)
    out[index] = 0
    return out


def scatter_cut(x: Array, y: Array, dim: int, index: Array) -> Array:
    return scatter(x, dim, index, y)


def scatter_add_cut(x: Array, y: Array, dim: int, index: Array) -> Array:
    return scatter_add(x, dim, index, y)


def gather_cut(x: Array, dim: int, index: Array, shape: Shape) -> Array:
    """`gather`, with zeros for the part of `shape` beyond the index."""
    out = np.zeros(shape, x.dtype)
    found = gather(x, index, dim)
    if not shape:
        return found.reshape(())[()]
    out[tuple(slice(n) for n in index.shape)] = found
    return out
