"""Elements taken from where they stand, put back, put in order: gather and scatter, running totals, sorting.

Numpy in, numpy out.  Where a function is linear it comes with its transpose (`gather` and `scatter_add`, `x[index]` and
`put`, `cumsum` and `cumulative_sum_reversed`): in the table each is the derivative of the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.kernels import only_floats, refuse_booleans
from minigrad.layout import Array, Shape, in_order, laid_out

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


# ------------------------------------------------------------------------------------------- cumulative


def _running(accumulate: Any, x: Array, dim: int) -> Array:
    """Sums or products up to each place; they are kept in the wider type and rounded once a place, as in PyTorch."""
    if not x.ndim:
        return x.copy()
    if x.dtype.kind != "f":
        return accumulate(x, dim, np.int64)
    wider = np.float32 if x.dtype.itemsize == 2 else np.float64
    return accumulate(x, dim, wider).astype(x.dtype, copy=False)


def cumsum(x: Array, dim: int) -> Array:
    return in_order(_running(np.add.accumulate, x, dim))


def cumprod(x: Array, dim: int) -> Array:
    return in_order(_running(np.multiply.accumulate, x, dim))


def cumulative_sum_reversed(x: Array, dim: int) -> Array:
    """The transpose of `cumsum`: at each place, the sum of what follows (itself included)."""
    return np.flip(_running(np.add.accumulate, np.flip(x, dim), dim), dim) if x.ndim else x.copy()


def cumulative_best(x: Array, dim: int, better: Callable[[Array, Array], Array]) -> tuple[Array, Array]:
    """Values and positions of the running maximum (`np.greater_equal`) or minimum: the last of equals, nan wins."""
    if x.ndim == 0:
        return x.copy(), np.zeros((), np.int64)[()]
    moved = np.moveaxis(x, dim, 0)
    values, places = moved.copy(), np.zeros(moved.shape, np.int64)
    for i in range(1, len(moved)):
        wins = better(moved[i], values[i - 1]) | _isnan(moved[i])
        wins &= ~(_isnan(values[i - 1]) & ~_isnan(moved[i]))
        values[i] = np.where(wins, moved[i], values[i - 1])
        places[i] = np.where(wins, i, places[i - 1])
    return np.moveaxis(values, 0, dim), np.moveaxis(places, 0, dim)


def _isnan(x: Array) -> Array:
    return np.isnan(x) if x.dtype.kind == "f" else np.zeros(x.shape, bool)


@only_floats("logcumsumexp_out_cpu")
def logcumsumexp(x: Array, dim: int) -> Array:
    return np.asarray(_running(np.logaddexp.accumulate, x, dim), order="C")[()]


# ------------------------------------------------------------------------------------------- order


FEW = 4096  # up to so many elements Python is quick enough to find out which of equal ones PyTorch names


def argsort(x: Array, dim: int, descending: bool, stable: bool | None = True) -> Array:
    """Where the sorted elements come from; nan counts as the largest, equal elements keep their order if `stable`."""
    if x.ndim == 0:
        return np.zeros((), np.int64)[()]
    if not descending:
        order = laid_out(np.argsort(x, axis=dim, kind="stable"), x)
    else:
        flipped = np.flip(np.argsort(np.flip(x, dim), axis=dim, kind="stable"), dim)
        order = laid_out(x.shape[dim] - 1 - flipped, x)
    if stable or x.shape[dim] <= 16 or not chance_decides(x, dim, order, x.shape[dim]):
        return order
    from minigrad.selecting import selected

    return laid_out(selected(x, dim, descending), x)


def chance_decides(x: Array, dim: int, order: Array, k: int) -> bool:
    """Whether some of the first k + 1 in order are equal: which comes first is PyTorch's chance.  Of many we do not ask."""
    if not 0 < x.size <= FEW:
        return False
    rows = np.moveaxis(np.take_along_axis(x, order, dim), dim, -1)[..., : k + 1]
    a, b = rows[..., 1:], rows[..., :-1]
    return bool(((a == b) | (a != a) & (b != b)).any())


def kth_smallest(x: Array, k: int, dim: int) -> Array:
    """The position of the k-th smallest element (k from 1) along `dim`; among equals the one PyTorch names."""
    refuse_booleans("kthvalue_cpu", x)
    moved = np.moveaxis(x, dim, -1)
    places = np.argsort(moved, axis=-1, kind="stable")[..., k - 1]
    values = np.take_along_axis(moved, places[..., None], -1)
    for row in np.argwhere((moved == values).sum(-1) > 1):
        at = tuple(row)
        if moved.shape[-1] <= FEW:
            places[at] = _quickselect(moved[at].tolist(), k - 1)
    return places


def _quickselect(values: list[Any], k: int) -> int:
    """Hoare's selection with the median of three as pivot; which of equal elements it meets is its trace."""
    order = list(range(len(values)))

    def greater(i: int, j: int) -> bool:
        a, b = values[order[i]], values[order[j]]
        return bool((a != a and b == b) or a > b)

    def swap(i: int, j: int) -> None:
        order[i], order[j] = order[j], order[i]

    left, right = 0, len(values) - 1
    while right > left + 1:
        swap((left + right) >> 1, left + 1)
        for i, j in ((left + 1, right), (left, right), (left + 1, left)):
            if greater(i, j):
                swap(i, j)
        up, down = left + 1, right
        while True:
            up += 1
            while greater(left, up):
                up += 1
            down -= 1
            while greater(down, left):
                down -= 1
            if down < up:
                break
            swap(up, down)
        swap(left, down)
        if down <= k:
            left = up
        if down >= k:
            right = down - 1
    if right == left + 1 and greater(left, right):
        swap(left, right)
    return order[k]


def median_index(x: Array, dim: int) -> Array:
    """The position of the lower median along `dim`; a nan wins."""
    places = np.take(np.argsort(x, axis=dim, kind="stable"), (x.shape[dim] - 1) // 2, axis=dim)
    nan = _isnan(x)
    return np.where(nan.any(axis=dim), nan.argmax(axis=dim), places) if nan.any() else places


def mode_index(x: Array, dim: int) -> Array:
    """The last position (in PyTorch's order) of the most frequent element, the smallest of equally frequent ones."""
    moved = np.moveaxis(x, dim, -1)
    rows, order = (a.reshape(-1, moved.shape[-1]) for a in (moved, np.moveaxis(argsort(x, dim, False, False), dim, -1)))
    places = np.zeros(len(rows), np.int64)
    for i, row in enumerate(rows):
        counts = np.unique(row, return_counts=True)[1]
        places[i] = order[i][counts[: counts.argmax() + 1].sum() - 1]
    return places.reshape(moved.shape[:-1])


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


def scatter_reduce(x: Array, y: Array, dim: int, index: Array, how: str, include_self: bool) -> Array:
    """x with y combined into it at `index`; without `include_self` what was there does not count."""
    ufunc: Any = {"prod": np.multiply, "amax": np.maximum, "amin": np.minimum}[how]
    edges = (-np.inf, np.inf) if x.dtype.kind == "f" else (False, True) if x.dtype.kind == "b" else None
    low, high = edges or (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
    neutral = {"prod": 1, "amax": low, "amin": high}[how]
    out = np.array(x, order="C") if include_self else scatter(x, dim, index, neutral)
    if not index.size:
        return np.array(x)
    if out.ndim == 0 or index.ndim == 0:
        ufunc.at(out.reshape(-1), np.asarray(index).reshape(-1), np.asarray(y).reshape(-1)[: index.size])
        return out
    ufunc.at(out, _grid(index, dim), _cut(y, index.shape))
    return out


def zeros_met(x: Array, y: Array, dim: int, index: Array) -> Array:
    """For each element of y, how many elements of y that go to the same place are 0."""
    number = scatter_add(np.zeros(x.shape), dim, index, (y == 0).astype(np.float64))
    return gather_cut(number, dim, index, y.shape)


def _winners(x: Array, y: Array, out: Array, dim: int, index: Array, include_self: bool) -> tuple[Array, Array, Array]:
    """Which elements of x and of y are the result at their place, and how many there are at each place."""
    mine = (x == out).astype(out.dtype)
    if not include_self:
        mine = scatter(mine, dim, index, 0)
    theirs = (y == gather_cut(np.asarray(out), dim, index, y.shape)).astype(out.dtype)
    return mine, theirs, scatter_add(mine, dim, index, theirs)


def share_of_self(x: Array, y: Array, out: Array, dim: int, index: Array, include_self: bool) -> Array:
    """The share of each element of x in what stands at its place after a maximum or minimum: equal ones share evenly."""
    mine, _, number = _winners(x, y, out, dim, index, include_self)
    return mine / np.maximum(number, 1)


def share_of_source(x: Array, y: Array, out: Array, dim: int, index: Array, include_self: bool) -> Array:
    """The share of each element of y in what stands where it went, after a maximum or minimum: equal ones share evenly."""
    _, theirs, number = _winners(x, y, out, dim, index, include_self)
    return theirs / np.maximum(gather_cut(number, dim, index, y.shape), 1)


def gather_cut(x: Array, dim: int, index: Array, shape: Shape) -> Array:
    """`gather`, with zeros for the part of `shape` beyond the index."""
    out = np.zeros(shape, x.dtype)
    found = gather(x, index, dim)
    if not shape:
        return found.reshape(())[()]
    out[tuple(slice(n) for n in index.shape)] = found
    return out
