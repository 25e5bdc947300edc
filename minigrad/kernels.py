"""Forward code too long for the derivative table: numpy in, numpy out, no Tensor in sight.

Most of what stands here is *linear* in its argument: convolution, pooling by mean, windows, gather, cumulative sum.
A linear function needs no calculus: its derivative is its transpose, which hands every output back to the inputs it
came from. So linear kernels come in pairs (`windows` and `add_windows`, `gather` and `scatter_add`), and in the
table each is the derivative of the other. Convolution is linear in two arguments, so it comes as a family of three.
Layout as in PyTorch: (batch, channels, *spatial); `stride`, `padding`, `dilation` have one number per spatial
dimension.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from minigrad import dtypes, errors

Array = Any  # numpy.ndarray or numpy.generic
Shape = tuple[int, ...]

# Called with all arguments in order: far cheaper than np.sum and its keywords.
largest: Any = np.maximum.reduce
smallest: Any = np.minimum.reduce
multiplied: Any = np.multiply.reduce


def only_floats(label: str) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """A function that refuses integers, as PyTorch's kernel of this name does."""

    def decorate(function: Any) -> Any:
        def forward(x: Array, *rest: Any) -> Array:
            if x.dtype.kind != "f":
                errors.broadcast_shapes(x.shape, *(y.shape for y in rest if hasattr(y, "dtype")))  # that is looked at first
                raise errors.not_implemented(label, dtypes.of(x.dtype).tensor_name)
            return function(x, *rest)

        code = function.__code__
        made: Any = forward
        made.takes = code.co_varnames[: code.co_argcount]  # the names that rules use
        return made

    return decorate


BOOLEAN = np.dtype(bool)


def refuse_booleans(label: str, x: Array) -> None:
    """NotImplementedError where PyTorch's kernel of this name takes no booleans."""
    if x.dtype is BOOLEAN:
        raise errors.not_implemented(label, "Bool")


# ------------------------------------------------------------------------------------------- windows


def pad_constant(x: Array, widths: Sequence[tuple[int, int]], value: float = 0.0) -> Array:
    """Add `before` and `after` elements around each dimension; negative widths cut off."""
    cut = tuple(slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(x.shape, widths, strict=True))
    x = x[cut]
    if all(a <= 0 and b <= 0 for a, b in widths):
        return x.copy()
    shape = tuple(n + max(a, 0) + max(b, 0) for n, (a, b) in zip(x.shape, widths, strict=True))
    out = np.zeros(shape, x.dtype) if value == 0 else np.full(shape, value, x.dtype)
    out[tuple(slice(max(a, 0), max(a, 0) + n) for n, (a, _) in zip(x.shape, widths, strict=True))] = x
    return out


def _pad_spatial(x: Array, padding: Shape, value: float = 0.0) -> Array:
    if not any(padding):
        return x
    return pad_constant(x, [(0, 0)] * (x.ndim - len(padding)) + [(p, p) for p in padding], value)


def window_count(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool = False) -> int:
    """How many windows fit along one dimension."""
    room = size + 2 * padding - dilation * (kernel - 1) - 1
    if not ceil_mode:
        return room // stride + 1
    count = -(-room // stride) + 1
    # A last window that starts beyond the input (in the padding on the right) does not count.
    return count - 1 if (count - 1) * stride >= size + padding else count


def view_windows(x: Array, kernel: Shape, stride: Shape, dilation: Shape, counts: Shape | None = None) -> Array:
    """Every window of the last dimensions, without copying: (..., *kernel, *counts)."""
    n = len(kernel)
    if counts is None:
        sizes = x.shape[x.ndim - n :]
        counts = tuple(window_count(s, k, t, 0, d) for s, k, t, d in zip(sizes, kernel, stride, dilation, strict=True))
    steps = x.strides[x.ndim - n :]
    inner = tuple(s * d for s, d in zip(steps, dilation, strict=True))
    outer = tuple(s * t for s, t in zip(steps, stride, strict=True))
    return np.lib.stride_tricks.as_strided(
        x, x.shape[: x.ndim - n] + kernel + counts, x.strides[: x.ndim - n] + inner + outer, writeable=False
    )


def add_windows(w: Array, sizes: Shape, stride: Shape, padding: Shape, dilation: Shape) -> Array:
    """The transpose of taking windows: add each element of w (..., *kernel, *counts) to where it came from.

    Returns (..., *sizes); what fell into the padding is dropped.
    """
    n = len(sizes)
    lead, kernel, counts = w.shape[: w.ndim - 2 * n], w.shape[w.ndim - 2 * n : w.ndim - n], w.shape[w.ndim - n :]
    padded = tuple(
        max(s + 2 * p, (c - 1) * t + (k - 1) * d + 1)
        for s, p, c, t, k, d in zip(sizes, padding, counts, stride, kernel, dilation, strict=True)
    )
    out: Array = np.zeros(lead + padded, w.dtype)
    for offset in product(*map(range, kernel)):
        where = tuple(
            slice(o * d, o * d + (c - 1) * t + 1, t)
            for o, d, c, t in zip(offset, dilation, counts, stride, strict=True)
        )
        if all(counts):
            out[(..., *where)] += w[(..., *offset, *[slice(None)] * n)]
    inner = tuple(slice(p, p + s) for p, s in zip(padding, sizes, strict=True))
    return out[(..., *inner)] if any(padding) or padded != sizes else out


def unfold(x: Array, kernel: Shape, dilation: Shape, padding: Shape, stride: Shape) -> Array:
    """im2col: (N, C, *sizes) to (N, C * kernel elements, number of windows)."""
    w = view_windows(_pad_spatial(x, padding), kernel, stride, dilation)
    n = len(kernel)
    columns = math.prod(w.shape[2 : 2 + n])
    return w.reshape(x.shape[0], x.shape[1] * columns, math.prod(w.shape[2 + n :]))


def fold(c: Array, sizes: Shape, kernel: Shape, dilation: Shape, padding: Shape, stride: Shape) -> Array:
    """col2im, the transpose of `unfold`: windows that overlap are added."""
    counts = tuple(window_count(*numbers) for numbers in zip(sizes, kernel, stride, padding, dilation, strict=True))
    w = c.reshape((c.shape[0], c.shape[1] // math.prod(kernel), *kernel, *counts))
    return add_windows(w, sizes, stride, padding, dilation)


def slide(x: Array, dim: int, size: int, step: int) -> Array:
    """`Tensor.unfold`: a view with the windows of one dimension in a new last one."""
    if x.ndim == 0:
        return np.lib.stride_tricks.as_strided(np.asarray(x), (size,), (0,))
    count = (x.shape[dim] - size) // step + 1
    shape = (*x.shape[:dim], count, *x.shape[dim + 1 :], size)
    strides = (*x.strides[:dim], x.strides[dim] * step, *x.strides[dim + 1 :], x.strides[dim])
    return np.lib.stride_tricks.as_strided(x, shape, strides)


def add_slide(w: Array, shape: Shape, dim: int, size: int, step: int) -> Array:
    """The transpose of `slide`."""
    out = np.zeros(shape, w.dtype)
    if not shape:
        return w.sum(dtype=w.dtype)
    count = w.shape[dim]
    moved = np.moveaxis(out, dim, -1)
    source = np.moveaxis(w, dim, -2)
    for offset in range(size):
        moved[..., offset : offset + (count - 1) * step + 1 : step] += source[..., offset]
    return out


# ------------------------------------------------------------------------------------------- convolution


def conv_sizes(x: Shape, w: Shape, stride: Shape, padding: Shape, dilation: Shape) -> Shape:
    """The spatial sizes of a convolution's result."""
    return tuple(window_count(*numbers) for numbers in zip(x[2:], w[2:], stride, padding, dilation, strict=True))


def conv(x: Array, w: Array, stride: Shape, padding: Shape, dilation: Shape, groups: int) -> Array:
    """x (N, C, *sizes) with w (O, C / groups, *kernel): (N, O, *counts). One matrix product per sample."""
    counts = conv_sizes(x.shape, w.shape, stride, padding, dilation)
    batch, out_channels = x.shape[0], w.shape[0]
    if all(k == 1 for k in w.shape[2:]) and not any(padding) and all(s == 1 for s in stride):
        columns = x.reshape(batch, groups, x.shape[1] // groups, math.prod(counts))
    else:
        columns = unfold(x, w.shape[2:], dilation, padding, stride)
        columns = columns.reshape(batch, groups, columns.shape[1] // groups, columns.shape[2])
    rows = w.reshape(groups, out_channels // groups, math.prod(w.shape[1:]))
    return np.matmul(rows, columns).reshape((batch, out_channels, *counts))


def conv_input(g: Array, w: Array, sizes: Shape, stride: Shape, padding: Shape, dilation: Shape, groups: int) -> Array:
    """The transpose of `conv` in x: g (N, O, *counts) back to (N, C, *sizes). Also `conv_transpose`."""
    batch, out_channels = g.shape[:2]
    kernel, counts = w.shape[2:], g.shape[2:]
    rows = w.reshape(groups, out_channels // groups, math.prod(w.shape[1:]))
    flat = g.reshape(batch, groups, out_channels // groups, math.prod(counts))
    columns = np.matmul(rows.swapaxes(-1, -2), flat)
    return add_windows(
        columns.reshape((batch, groups * w.shape[1], *kernel, *counts)), sizes, stride, padding, dilation
    )


def conv_weight(
    g: Array, x: Array, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape, groups: int
) -> Array:
    """The transpose of `conv` in w: g (N, O, *counts) and x (N, C, *sizes) to (O, C / groups, *kernel)."""
    batch, out_channels = g.shape[:2]
    counts = g.shape[2:]
    w = view_windows(_pad_spatial(x, padding), kernel, stride, dilation, counts)
    columns = w.reshape(batch, groups, x.shape[1] // groups * math.prod(kernel), math.prod(counts))
    flat = g.reshape(batch, groups, out_channels // groups, math.prod(counts))
    rows = flat.transpose(1, 2, 0, 3).reshape(groups, out_channels // groups, -1)
    stacked = columns.transpose(1, 0, 3, 2).reshape(groups, -1, columns.shape[2])
    return np.matmul(rows, stacked).reshape((out_channels, x.shape[1] // groups, *kernel))


# ------------------------------------------------------------------------------------------- pooling


def max_pool_indices(x: Array, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape, ceil_mode: bool) -> Array:
    """Where each window's largest element (the first of equals) stands, counted in the flattened spatial dimensions."""
    n = len(kernel)
    sizes = x.shape[x.ndim - n :]
    counts = tuple(
        window_count(*numbers, ceil_mode) for numbers in zip(sizes, kernel, stride, padding, dilation, strict=True)
    )
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    widths = [(0, 0)] * (x.ndim - n) + _ceil_padding(sizes, counts, kernel, stride, padding, dilation)
    padded = pad_constant(x, widths, lowest)
    places = pad_constant(np.arange(math.prod(sizes)).reshape(sizes), widths[x.ndim - n :], -1)
    w = view_windows(padded, kernel, stride, dilation, counts)
    flat = w.reshape(x.shape[: x.ndim - n] + (math.prod(kernel), *counts))
    at = view_windows(places, kernel, stride, dilation, counts).reshape((math.prod(kernel), *counts))
    # Elements of the padding never win, not even over -inf.
    if x.dtype.kind == "f" and np.isneginf(flat).any():
        rank = np.where(at >= 0, 1, 0)
        best = np.argmax(np.where(np.isneginf(flat) & (rank == 0), np.finfo(x.dtype).min, flat), axis=-n - 1)
        only = np.isneginf(np.where(at >= 0, flat, -np.inf)).all(axis=-n - 1)
        best = np.where(only, np.broadcast_to(rank, flat.shape).argmax(axis=-n - 1), best)
    else:
        best = np.argmax(flat, axis=-n - 1)
    return np.take_along_axis(np.broadcast_to(at, flat.shape), np.expand_dims(best, -n - 1), axis=-n - 1).reshape(
        best.shape
    )


def _ceil_padding(
    sizes: Shape, counts: Shape, kernel: Shape, stride: Shape, padding: Shape, dilation: Shape
) -> list[tuple[int, int]]:
    """What to pad so that every window lies inside, in `ceil_mode` perhaps more on the right."""
    return [
        (p, max(p, (c - 1) * t + (k - 1) * d + 1 - s - p))
        for s, c, k, t, p, d in zip(sizes, counts, kernel, stride, padding, dilation, strict=True)
    ]


def take_places(x: Array, index: Array, n: int) -> Array:
    """The elements of the n last dimensions (flattened) at `index` (..., *counts)."""
    lead = x.shape[: x.ndim - n]
    flat = x.reshape((*lead, math.prod(x.shape[x.ndim - n :])))
    return np.take_along_axis(flat, index.reshape((*lead, -1)), -1).reshape(index.shape)


def put_places(g: Array, index: Array, sizes: Shape) -> Array:
    """The transpose of `take_places`: add g (..., *counts) into zeros (..., *sizes)."""
    n = len(sizes)
    lead = index.shape[: index.ndim - n]
    flat = scatter_add(
        np.zeros((*lead, math.prod(sizes)), g.dtype), len(lead), index.reshape((*lead, -1)), g.reshape((*lead, -1))
    )
    return flat.reshape((*lead, *sizes))


def _pool_divisors(
    sizes: Shape, counts: Shape, kernel: Shape, stride: Shape, padding: Shape, include_pad: bool
) -> Array:
    """How many elements each window is averaged over: the padding may count, what lies beyond it never."""
    total: Array = np.ones(())
    for axis, (s, c, k, t, p) in enumerate(zip(sizes, counts, kernel, stride, padding, strict=True)):
        start = np.arange(c) * t - p
        stop = np.minimum(start + k, s + p)
        along = stop - start if include_pad else np.minimum(stop, s) - np.maximum(start, 0)
        total = total * along.reshape((-1,) + (1,) * (len(sizes) - axis - 1))
    return total


def avg_pool(
    x: Array, kernel: Shape, stride: Shape, padding: Shape, ceil_mode: bool, include_pad: bool, divisor: int | None
) -> Array:
    """The mean of each window of the last dimensions."""
    n = len(kernel)
    sizes = x.shape[x.ndim - n :]
    ones = (1,) * n
    counts = tuple(
        window_count(*numbers, ceil_mode) for numbers in zip(sizes, kernel, stride, padding, ones, strict=True)
    )
    widths = [(0, 0)] * (x.ndim - n) + _ceil_padding(sizes, counts, kernel, stride, padding, ones)
    w = view_windows(pad_constant(x, widths), kernel, stride, ones, counts)
    totals = w.sum(axis=tuple(range(x.ndim - n, x.ndim)))
    over = divisor or _pool_divisors(sizes, counts, kernel, stride, padding, include_pad)
    return (totals / over).astype(x.dtype, copy=False)


def avg_pool_input(
    g: Array, sizes: Shape, kernel: Shape, stride: Shape, padding: Shape, include_pad: bool, divisor: int | None
) -> Array:
    """The transpose of `avg_pool`."""
    n = len(kernel)
    counts = g.shape[g.ndim - n :]
    over = divisor or _pool_divisors(sizes, counts, kernel, stride, padding, include_pad)
    share = (g / over).astype(g.dtype, copy=False)
    lead = g.shape[: g.ndim - n]
    spread = np.broadcast_to(share.reshape(lead + (1,) * n + counts), lead + kernel + counts)
    return add_windows(spread, sizes, stride, padding, (1,) * n)


def adaptive_bounds(size: int, count: int) -> list[tuple[int, int]]:
    """The windows of adaptive pooling: as even as they get, overlapping where they must."""
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def adaptive_average(size: int, count: int, dtype: np.dtype[Any]) -> Array:
    """The matrix (count, size) that averages each adaptive window."""
    matrix = np.zeros((count, size), dtype)
    for row, (start, stop) in zip(matrix, adaptive_bounds(size, count), strict=True):
        row[start:stop] = 1 / (stop - start)
    return matrix


def adaptive_max_indices(x: Array, counts: Shape) -> Array:
    """As `max_pool_indices`, for adaptive windows."""
    n = len(counts)
    sizes = x.shape[x.ndim - n :]
    places = np.arange(math.prod(sizes)).reshape(sizes)
    out = np.zeros(x.shape[: x.ndim - n] + counts, np.int64)
    for cell in product(*(enumerate(adaptive_bounds(s, c)) for s, c in zip(sizes, counts, strict=True))):
        where = tuple(slice(start, stop) for _, (start, stop) in cell)
        window = x[(..., *where)].reshape((*x.shape[: x.ndim - n], -1))
        at: Any = (..., *(i for i, _ in cell))
        out[at] = places[where].ravel()[window.argmax(-1)]
    return out


# ------------------------------------------------------------------------------------------- picking


def _grid(index: Array, dim: int) -> tuple[Any, ...]:
    """A numpy index that pairs `index` along `dim` with its own position in the other dimensions."""
    grid: list[Any] = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    grid[dim] = index
    return tuple(grid)


def gather(x: Array, dim: int, index: Array) -> Array:
    """out[i][j] = x[index[i][j]][j] for dim 0; `index` may be smaller than x in the other dimensions."""
    if not index.size:
        return np.zeros(index.shape, x.dtype)
    if index.ndim == 0 or x.ndim == 0:
        return np.asarray(x).reshape(-1)[np.asarray(index).reshape(-1)].reshape(index.shape)
    return x[_grid(index, dim)]


def scatter_add(x: Array, dim: int, index: Array, source: Array) -> Array:
    """A copy of x with source (cut to the shape of index) added at `index`; repeated indices all count."""
    out = np.array(x, order="C")
    if not index.size:
        return out
    if out.ndim == 0 or np.ndim(index) == 0:
        flat = out.reshape(-1)
        np.add.at(flat, np.asarray(index).reshape(-1), np.asarray(source).reshape(-1)[: index.size])
        return out
    np.add.at(out, _grid(index, dim), _cut(source, index.shape))
    return out


def scatter(x: Array, dim: int, index: Array, source: Any) -> Array:
    """A copy of x with source (an array, or one number) written at `index`."""
    out = np.array(x, order="C")
    value = source if np.ndim(source) == 0 and np.ndim(index) else _cut(np.asarray(source), index.shape)
    if out.ndim == 0 or np.ndim(index) == 0:
        out.reshape(-1)[np.asarray(index).reshape(-1)] = np.asarray(value).reshape(-1)
        return out
    out[_grid(index, dim)] = value
    return out


def _cut(source: Array, shape: Shape) -> Array:
    if source.shape == shape:
        return source
    return source[tuple(slice(n) for n in shape)]


def indexed(x: Array, index: Any) -> Array:
    """x[index], its elements in order in memory, as PyTorch has them (so that it may be viewed in another shape)."""
    return in_order(x[index])


def in_order(x: Array) -> Array:
    """x with its elements in order in memory: numpy lays many results out as their inputs are, where PyTorch does not."""
    return x if x.flags.c_contiguous else x.copy()


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


def cumsum(x: Array, dim: int) -> Array:
    return in_order(x.cumsum(dim, x.dtype if x.dtype.kind == "f" else np.int64)) if x.ndim else x.copy()


def cumprod(x: Array, dim: int) -> Array:
    return in_order(x.cumprod(dim, x.dtype if x.dtype.kind == "f" else np.int64)) if x.ndim else x.copy()


def cumulative_sum_reversed(x: Array, dim: int) -> Array:
    """The transpose of `cumsum`: at each place, the sum of what follows (itself included)."""
    return np.flip(np.flip(x, dim).cumsum(dim, x.dtype), dim) if x.ndim else x.copy()


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
    return np.logaddexp.accumulate(x, axis=dim, dtype=x.dtype) if x.ndim else x.copy()


# ------------------------------------------------------------------------------------------- order


def argsort(x: Array, dim: int, descending: bool) -> Array:
    """Where the sorted elements come from; equal elements keep their order, nan counts as the largest."""
    if x.ndim == 0:
        return np.zeros((), np.int64)[()]
    if not descending:
        return np.argsort(x, axis=dim, kind="stable")
    flipped = np.flip(np.argsort(np.flip(x, dim), axis=dim, kind="stable"), dim)
    return x.shape[dim] - 1 - flipped


def kth_smallest(x: Array, k: int, dim: int) -> Array:
    """The position of the k-th smallest element (k from 1) along `dim`; among equals the one PyTorch names."""
    refuse_booleans("kthvalue_cpu", x)
    if x.ndim == 0:
        return np.zeros((), np.int64)[()]
    moved = np.moveaxis(x, dim, -1)
    places = np.argsort(moved, axis=-1, kind="stable")[..., k - 1]
    values = np.take_along_axis(moved, places[..., None], -1)
    for row in np.argwhere((moved == values).sum(-1) > 1):
        at = tuple(row)
        if moved.shape[-1] <= 4096:
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
    refuse_booleans("median_out", x)
    if x.ndim == 0:
        return np.zeros((), np.int64)[()]
    places = np.take(np.argsort(x, axis=dim, kind="stable"), (x.shape[dim] - 1) // 2, axis=dim)
    nan = _isnan(x)
    return np.where(nan.any(axis=dim), nan.argmax(axis=dim), places) if nan.any() else places


def mode_index(x: Array, dim: int) -> Array:
    """The last position of the most frequent element, the smallest of equally frequent ones."""
    if x.ndim == 0:
        return np.zeros((), np.int64)[()]
    moved = np.moveaxis(x, dim, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    places = np.zeros(len(rows), np.int64)
    for i, row in enumerate(rows):
        found, counts = np.unique(row, return_counts=True)
        places[i] = np.flatnonzero(row == found[counts.argmax()])[-1]
    return places.reshape(moved.shape[:-1])


# ------------------------------------------------------------------------------------------- softmax


def softmax(x: Array, dim: int) -> Array:
    if x.ndim == 0:
        return x / x if np.isfinite(x) else x * np.nan
    if not x.size:
        return x.copy()
    if x.size > 1000 and x.dtype.char in "fd" and smallest(x, None) > -40 and largest(x, None) < 40:
        y = np.exp(x)  # no power so large or small that it matters: nothing to subtract first
    else:
        y = x - largest_of_rows(x, dim)
        np.exp(y, y)
    y /= total(y, dim, True)
    return in_order(y)


def log_softmax(x: Array, dim: int) -> Array:
    if x.ndim == 0:
        return x - x
    if not x.size:
        return x.copy()
    y = x - largest_of_rows(x, dim)
    y -= np.log(total(np.exp(y), dim, True))
    return in_order(y)


def logsumexp(x: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    if x.size == 0:
        return np.log(total(x, dims, keepdim))
    top = largest(x, dims, None, None, True)
    top = np.where(np.isfinite(top), top, x.dtype.type(0))
    with np.errstate(divide="ignore"):
        y = np.log(total(np.exp(x - top), dims, keepdim))
    return y + top.reshape(y.shape)


@only_floats("log_sigmoid_cpu")
def logsigmoid(x: Array) -> Array:
    return np.minimum(x, 0) - np.log1p(np.exp(-np.absolute(x)))


def sigmoid(x: Array) -> Array:
    """1 / (1 + e^-x) without overflow."""
    with np.errstate(over="ignore"):
        return np.reciprocal(1 + np.exp(-x))


# ------------------------------------------------------------------------------------------- special functions


@lru_cache
def _erfc_series(terms: int) -> Array:
    """Chebyshev coefficients of log(erfc(z) e^(z^2) / t) over t = 2 / (2 + z) in (0, 1)."""
    nodes = np.cos(np.pi * (np.arange(terms) + 0.5) / terms)
    values = []
    for t in (nodes + 1) / 2:
        z = 2 / t - 2
        if z < 20:
            values.append(math.log(math.erfc(z)) + z * z - math.log(t))
        else:
            tail = sum((-1) ** k * math.prod(range(1, 2 * k, 2)) / (2 * z * z) ** k for k in range(8))
            values.append(math.log(tail / (z * math.sqrt(math.pi))) - math.log(t))
    k = np.arange(terms)[:, None]
    angles = np.pi * k * (np.arange(terms) + 0.5) / terms
    coefficients = 2 / terms * (np.cos(angles) @ np.array(values))
    coefficients[0] /= 2
    return coefficients


def erfc(x: Array) -> Array:
    """The complementary error function to about 1e-15 (float32: 1e-9 before rounding)."""
    z = np.absolute(np.asarray(x, np.float64))
    t = 2 / (2 + z)
    u = 2 * t - 1
    a: Array = 0.0
    b: Array = 0.0
    for c in _erfc_series(34 if x.dtype == np.float64 else 16)[:0:-1]:
        a, b = 2 * u * a - b + c, a
    with np.errstate(invalid="ignore", under="ignore"):
        tail = t * np.exp(-z * z + u * a - b + _erfc_series(34 if x.dtype == np.float64 else 16)[0])
    tail = np.where(np.isinf(z), 0.0, tail)
    return np.where(x < 0, 2 - tail, tail).astype(x.dtype)[()]


def erf(x: Array) -> Array:
    """The error function; near 0 by its power series, where 1 - erfc would lose digits."""
    z = np.asarray(x, np.float64)
    far = np.copysign(1 - erfc(np.absolute(z) if x.dtype == np.float64 else np.absolute(x)), z)
    small = np.absolute(z) < 0.5
    if small.any():
        s = np.where(small, z, 0.0)
        q = -s * s
        series: Array = 0.0
        for k in range(13, -1, -1):
            series = series * q + 1 / (math.factorial(k) * (2 * k + 1))
        far = np.where(small, s * series * (2 / math.sqrt(math.pi)), far)
    return far.astype(x.dtype)[()]


def erfinv(x: Array) -> Array:
    """The inverse of `erf` by Newton's method from a rough start."""
    y = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        log = np.log1p(-y * y)
        half = 2 / (math.pi * 0.147) + log / 2
        z = np.copysign(np.sqrt(np.sqrt(half * half - log / 0.147) - half), y)
        # In the middle solve erf(z) = |y|, in the tails log(erfc(z)) = log(1 - |y|), which is nearly a parabola.
        size = np.absolute(z)
        for _ in range(4):
            tail = erfc(size)
            density = 2 / math.sqrt(math.pi) * np.exp(-size * size)
            step = np.where(np.absolute(y) < 0.7, (erf(size) - np.absolute(y)) / density,
                            (np.log1p(-np.absolute(y)) - np.log(tail)) * tail / density)  # fmt: skip
            size = size - step
        z = np.copysign(size, y)
    z = np.where(np.absolute(y) == 1, np.copysign(np.inf, y), np.where(np.absolute(y) > 1, np.nan, z))
    return z.astype(x.dtype)[()]


def lgamma(x: Array) -> Array:
    """log |gamma(x)|."""

    def one(value: float) -> float:
        if math.isinf(value) or (value <= 0 and value == int(value)):
            return math.inf
        return math.lgamma(value)

    flat = [one(value) for value in np.asarray(x, np.float64).reshape(-1).tolist()]
    return np.array(flat, np.float64).reshape(np.shape(x)).astype(x.dtype)[()]


def polygamma(x: Array, n: int) -> Array:
    """The n-th derivative of digamma: steps up to x >= 10, then Stirling's series; reflected for negative x."""
    z = np.array(x, np.float64)
    negative = z < 0
    with np.errstate(all="ignore"):
        reflected = np.where(negative, 1 - z, z)
        total = np.zeros_like(z)
        sign = (-1.0) ** (n + 1)
        for _ in range(16):
            low = reflected < 16
            term = -1 / reflected if n == 0 else sign * math.factorial(n) / reflected ** (n + 1)
            total = np.where(low, total + term, total)
            reflected = np.where(low, reflected + 1, reflected)
        r = reflected
        if n == 0:
            tail = np.log(r) - 1 / (2 * r)
        else:
            tail = sign * (math.factorial(n - 1) / r**n + math.factorial(n) / (2 * r ** (n + 1)))
        for k, bernoulli in enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6), 1):
            if n == 0:
                tail = tail - bernoulli / (2 * k * r ** (2 * k))
            else:
                scale = math.factorial(2 * k + n - 1) / math.factorial(2 * k)
                tail = tail + sign * bernoulli * scale / r ** (2 * k + n)
        value = total + tail
        if negative.any():
            value = np.where(negative, (-1) ** n * value - _cot_derivative(np.where(negative, z, 0.5), n), value)
        value = np.where((z <= 0) & (z == np.floor(z)), (np.nan if n == 0 else (-1) ** (n + 1) * np.inf), value)
        if n == 0:
            value = np.where(z == 0, np.copysign(np.inf, -z), value)
    return value.astype(x.dtype)[()]


def _cot_derivative(z: Array, n: int) -> Array:
    """The n-th derivative of pi * cot(pi z), as a polynomial in cot."""
    poly = np.polynomial.Polynomial([0.0, 1.0])
    for _ in range(n):
        poly = poly.deriv() * np.polynomial.Polynomial([-1.0, 0.0, -1.0])
    return math.pi ** (n + 1) * poly(1 / np.tan(math.pi * z))


def i0(x: Array) -> Array:
    return np.i0(x).astype(x.dtype).reshape(np.shape(x))[()]


# ------------------------------------------------------------------------------------------- division and powers


def true_divide(x: Array, y: Array) -> Array:
    """x / y; integers give the default floating-point type."""
    out = x / y
    if out.dtype is FLOAT64 and getattr(x, "dtype", FLOAT64).kind != "f" != getattr(y, "dtype", FLOAT64).kind:
        return np.true_divide(*dtypes.promote_floating(x, y))
    return out


FLOAT64 = np.dtype(np.float64)


def divide_rounded(x: Array, y: Array, mode: str) -> Array:
    """x / y rounded down ("floor") or towards zero ("trunc"); an integer divided by zero raises."""
    refuse_booleans(f"div_{mode}_cpu", x)
    if x.dtype.kind != "f":
        _check_divisor(x, y)
        down = np.floor_divide(x, y)
        if mode == "floor":
            return down
        return (down + ((x % y != 0) & ((x < 0) != (y < 0)))).astype(x.dtype)[()]
    if mode == "trunc":
        return np.trunc(np.true_divide(x, y))
    # numpy gives nan for x // 0; C's division gives infinities.
    quotient: Array = np.where(y == 0, np.true_divide(x, y), np.floor_divide(x, y))
    return quotient.astype(x.dtype)[()]


def _check_divisor(x: Array, y: Array) -> None:
    if not np.all(y) and np.size(x):
        raise RuntimeError("ZeroDivisionError")


def remainder(x: Array, y: Array) -> Array:
    """x % y with the sign of y."""
    refuse_booleans("remainder_cpu", x)
    if x.dtype.kind != "f":
        _check_divisor(x, y)
        return np.remainder(x, y)
    rest = np.fmod(x, y)  # a rest of 0 keeps the sign of x
    return np.where((rest != 0) & ((y < 0) != (rest < 0)), rest + y, rest)[()]


def fmod(x: Array, y: Array) -> Array:
    """x % y with the sign of x."""
    refuse_booleans("fmod_cpu", x)
    if x.dtype.kind != "f":
        _check_divisor(x, y)
    return np.fmod(x, y)


def power(x: Array, exponent: float) -> Array:
    """x ** exponent for a number; a float exponent makes floats of integers."""
    if x.dtype.kind != "f":
        if x.dtype is BOOLEAN and isinstance(exponent, bool):
            return x | (not exponent)
        x, exponent = dtypes.promote(x, exponent)
        if x.dtype.kind in "iu" and exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
    return x**exponent


def power_tensor(x: Array, y: Array) -> Array:
    """x ** y in the type of both."""
    refuse_booleans("pow", y)
    if x.dtype.kind in "iu" and np.any(y < 0):
        return _integer_power(x, y)
    return np.power(x, y)


def power_base(x: Array, base: float) -> Array:
    """base ** x for a number as base."""
    low, high = dtypes.promote(base, x)
    return power_tensor(low, high)


def _integer_power(x: Array, y: Array) -> Array:
    """Negative exponents of integers: 1 and -1 have powers, for the rest 0."""
    both: Any = np.broadcast_arrays(x, y)
    base, exponent = both
    unit = np.where(base == 1, 1, np.where(base == -1, np.where(exponent % 2 == 0, 1, -1), 0))
    return np.where(exponent < 0, unit, np.power(base, np.maximum(exponent, 0))).astype(x.dtype)


# ------------------------------------------------------------------------------------------- elementwise


def floating(function: Callable[..., Array]) -> Callable[..., Array]:
    """A function that gives floats of the default type when it is given integers."""

    def forward(x: Array, *rest: Array) -> Array:
        return function(x, *rest) if x.dtype.kind == "f" else function(*map(dtypes.floating, (x, *rest)))

    return forward


def unless_whole(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A rounding function, which leaves integers as they are."""

    def forward(x: Array) -> Array:
        refuse_booleans(f"{function.__name__}_vml_cpu", x)
        return function(x) if x.dtype.kind == "f" else x.copy()

    return forward


def power_slope(x: Any, exponent: float) -> Any:
    """exponent * x ** (exponent - 1), and 0 where the exponent is 0; for arrays and Tensors."""
    if exponent == 2 and not hasattr(x, "_data"):  # the same number without a power, faster
        return x + x
    return x ** (exponent - 1) * exponent if exponent else x != x


def log_of(base: float) -> float:
    """log(base) of a Python number, also where it is infinite or nan."""
    return math.log(base) if base > 0 else -math.inf if base == 0 else math.nan


def absolute(x: Array) -> Array:
    refuse_booleans("abs_cpu", x)
    return np.absolute(x)


def sign(x: Array) -> Array:
    if x.dtype.kind == "f":
        return np.where(np.isnan(x), x.dtype.type(0), np.sign(x))[()]
    return np.sign(x) if x.dtype.kind != "b" else x.copy()


def round_half_even(x: Array, decimals: int) -> Array:
    refuse_booleans("round_cpu" if decimals else "round_vml_cpu", x)
    if x.dtype.kind != "f":
        return x.copy() if decimals == 0 else np.round(x, decimals)
    return np.round(x, decimals)


def clamp(x: Array, low: Any, high: Any) -> Array:
    """x, but at least `low` and at most `high`; None means no bound. nan stays."""
    if low is not None:
        x = np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


def inside(x: Array, low: Any, high: Any) -> Array:
    """Where low <= x <= high; None means no bound. nan is not inside."""
    if low is None:
        return x <= high
    return x >= low if high is None else (x >= low) & (x <= high)


def is_below(x: Array, low: Any, high: Any) -> Array:
    """Where a gradient of clamping x reaches `low`."""
    return (x < low) if high is None else (x < low) & (low < high)


def is_above(x: Array, low: Any, high: Any) -> Array:
    """Where a gradient of clamping x reaches `high`."""
    return (x > high) if low is None else (x > high) | (low > high)


def attained(x: Array, out: Array) -> Array:
    """Where x is the result of a maximum, minimum or median; nan is equal to nan."""
    same: Array = x == out
    if x.dtype.kind == "f" and np.isnan(out).any():
        same = same | (np.isnan(x) & np.isnan(out))
    return same


def tied(x: Array, out: Array, dims: tuple[int, ...] | None, nans: bool = True) -> Array:
    """The share of each element in a maximum (or minimum, or median): equal elements share evenly."""
    same = attained(x, out) if nans else x == out
    found = same.sum(axis=dims, keepdims=True)
    return same.astype(x.dtype) / found.astype(x.dtype)


_BITS, _ONE = {np.dtype(f"f{size}"): np.dtype(f"i{size}") for size in (2, 4, 8)}, np.ones((), np.int8)
_ZERO = {np.dtype(code): np.zeros((), code) for code in "?Bbhilefd"}


def relu(x: Array) -> Array:
    """The larger of x and 0.  (numpy compares fastest with a 0 of x's own type; in bulk `clip` is faster still.)"""
    if x.dtype is BOOLEAN:
        raise RuntimeError("Boolean inputs not supported for relu")
    if not x.ndim:
        return x.dtype.type(0) if x < 0 else x[()]
    return np.maximum(x, _ZERO[x.dtype]) if x.size < 1000 or x.dtype.kind != "f" else x.clip(0, np.inf)


def gate(g: Array, out: Array) -> Array:
    """The slope of relu, from its result: g where that is not 0, and 0 elsewhere."""
    if not out.ndim:
        return g if out else g.dtype.type(0)
    return blocked(g, out == _ZERO[out.dtype])


def choose(x: Any, y: Any, condition: Any) -> Array:
    """x where the condition (an array, or a Tensor) holds, y elsewhere."""
    condition = np.asarray(condition)
    if type(x) is float and x == 0.0 and condition.ndim and np.shape(y) == condition.shape:
        return blocked(y, condition)
    if type(y) is float and y == 0.0 and condition.ndim and np.shape(x) == condition.shape:
        return blocked(x, ~condition)
    return np.where(condition, x, y)


def blocked(x: Array, mask: Array) -> Array:
    """x with 0 where the mask holds, whatever x is there: 0 * inf would be nan.

    In bulk by bits, for numpy knows no faster way: 0 - 1 is all ones and keeps x, 1 - 1 keeps nothing of it.
    """
    if x.size < 2000 or x.dtype not in _BITS:
        x = x.copy()
        np.putmask(x, mask, _ZERO[x.dtype])
        return x
    bits: Array = (mask.view(np.int8) - _ONE).astype(_BITS[x.dtype])
    bits &= x.view(bits.dtype)
    return bits.view(x.dtype)


def larger_share(x: Array, y: Array) -> Array:
    """1 where x is the larger of the two, 0 where y is, 1/2 where they are equal (1 where either is nan)."""
    return (~(x < y)).astype(x.dtype) - (x == y).astype(x.dtype) / 2


def smaller_share(x: Array, y: Array) -> Array:
    """1 where x is the smaller of the two, 0 where y is, 1/2 where they are equal (1 where either is nan)."""
    return (~(x > y)).astype(x.dtype) - (x == y).astype(x.dtype) / 2


def logit(x: Array, eps: float | None) -> Array:
    x = dtypes.floating(x)
    if eps is not None:
        x = np.clip(x, eps, 1 - eps)
    return np.log(x / (1 - x))


def clear_of(x: Array, eps: float | None) -> Array:
    """Where logit has a slope."""
    return inside(x, 0 if eps is None else eps, 1 if eps is None else 1 - eps)


def nan_to_num(x: Array, nan: float, posinf: float | None, neginf: float | None) -> Array:
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


@only_floats("hypot_cpu")
def hypot(x: Array, y: Array) -> Array:
    return np.hypot(x, y)


@only_floats("logaddexp_cpu")
def logaddexp(x: Array, y: Array) -> Array:
    return np.logaddexp(x, y)


def xlogy(x: Array, y: Array) -> Array:
    return np.where((x == 0) & ~np.isnan(y), x.dtype.type(0), x * np.log(y))[()]


def lerp(x: Array, y: Array, weight: Any) -> Array:
    """From x (weight 0) to y (weight 1), from the nearer end, so that both ends are exact."""
    return np.where(np.absolute(weight) < 0.5, x + weight * (y - x), y - (y - x) * (1 - weight)).astype(x.dtype)[()]


# ------------------------------------------------------------------------------------------- activations


@only_floats("softplus_cpu")
def softplus(x: Array, beta: float, threshold: float) -> Array:
    b = x * beta
    return np.where(b > threshold, x, np.log1p(np.exp(np.minimum(b, threshold))) / beta).astype(x.dtype)[()]


@only_floats("mish_cpu")
def mish(x: Array) -> Array:
    return x * np.tanh(softplus(x, 1.0, 20.0))


@only_floats("GeluKernelImpl")
def gelu(x: Array, approximate: str) -> Array:
    if approximate == "none":
        return x * 0.5 * (1 + erf(x * x.dtype.type(math.sqrt(0.5))))
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


@only_floats("elu_cpu")
def elu(x: Array, alpha: float, gain: float, inner: float) -> Array:
    return np.where(x > 0, x * gain, np.expm1(np.minimum(x, 0) * inner) * (alpha * gain))


@only_floats("elu_cpu")
def celu(x: Array, alpha: float) -> Array:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0) / alpha) * alpha)


@only_floats("hardsigmoid_cpu")
def hardsigmoid(x: Array) -> Array:
    return np.minimum(np.maximum(x + 3, 0), 6) / 6


@only_floats("hardshrink_cpu")
def hardshrink(x: Array, lambd: float) -> Array:
    return np.where((x >= -lambd) & (x <= lambd), x.dtype.type(0), x)


@only_floats("softshrink_cpu")
def softshrink(x: Array, lambd: float) -> Array:
    return np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, x * 0))


@only_floats("leaky_relu_cpu")
def leaky_relu(x: Array, slope: float) -> Array:
    return np.where(x > 0, x, x * slope)


@only_floats("silu_cpu")
def silu(x: Array) -> Array:
    return x * sigmoid(x)


# ------------------------------------------------------------------------------------------- losses


def reduced(losses: Array, reduction: str) -> Array:
    """The mean or the sum of each element's loss, or all of them."""
    if losses.dtype.kind != "f":
        raise errors.not_implemented("mse_cpu", dtypes.of(losses.dtype).tensor_name)
    if reduction == "mean":
        return mean_all(losses)
    return total(losses, None) if reduction == "sum" else losses


def smooth_l1(x: Array, y: Array, beta: float) -> Array:
    size = np.absolute(x - y)
    return np.where(size < beta, size * size * (0.5 / beta), size - 0.5 * beta)


def huber(x: Array, y: Array, delta: float) -> Array:
    size = np.absolute(x - y)
    return np.where(size <= delta, size * size * 0.5, delta * (size - 0.5 * delta))


def bce(x: Array, y: Array, weight: Array | None) -> Array:
    """-(y log x + (1 - y) log(1 - x)), with the logarithms at least -100."""
    losses = (y - 1) * np.maximum(np.log1p(-x), -100) - y * np.maximum(np.log(x), -100)
    return losses if weight is None else losses * weight


def bce_with_logits(x: Array, y: Array, weight: Array | None, positive: Array | None) -> Array:
    """The same of sigmoid(x), without overflow."""
    if positive is None:
        losses = (1 - y) * x - logsigmoid(x)
    else:
        losses = (1 - y) * x - ((positive - 1) * y + 1) * logsigmoid(x)
    return losses if weight is None else losses * weight


# ------------------------------------------------------------------------------------------- matrices


def fold_rows(x: Any) -> Any:
    """All rows of x under one another: (..., n) to (rows, n); for arrays and Tensors."""
    return x if x.ndim == 2 else x.reshape((math.prod(x.shape[:-1]), x.shape[-1]))


def rows_mm(x: Array, y: Array) -> Array:
    """x (..., n) times y (n, m), in one matrix product instead of many small ones."""
    out: Array = fold_rows(x) @ y
    return out if x.ndim == 2 else out.reshape((*x.shape[:-1], y.shape[-1]))


def linear(bias: Array | None, x: Array, weight: Array) -> Array:
    out = fold_rows(x) @ weight.T
    if bias is not None:
        out += bias
    return out if x.ndim == 2 else out.reshape((*x.shape[:-1], weight.shape[0]))


def weighted(x: Any, factor: float) -> Any:
    """x * factor, where multiplying by 1 costs nothing; for arrays and Tensors."""
    return x if factor == 1 else x * factor


def column(x: Any) -> Any:
    """(...) to (..., 1, 1), to multiply matrices by numbers; for arrays and Tensors."""
    return x.reshape((*x.shape, 1, 1))


def _singular(function: str, x: Array) -> RuntimeError:
    batch = "" if x.ndim == 2 else "(Batch element 0): "
    return LinAlgError(
        f"{function}: {batch}The solver failed because the input matrix is singular."
        if function == "torch.linalg.solve"
        else f"{function}: {batch}The diagonal element {x.shape[-1]} is zero, the inversion could not be completed "
        "because the input matrix is singular."
    )


class LinAlgError(RuntimeError):
    """A matrix that the algorithm cannot take, such as a singular one."""


def det(x: Array) -> Array:
    """The determinant, by elimination with the largest pivot: exact where the arithmetic is."""
    a = np.array(x)
    out = np.ones(x.shape[:-2], x.dtype)
    for k in range(x.shape[-1]):
        best = k + np.absolute(a[..., k:, k]).argmax(-1)
        rows = np.broadcast_to(np.arange(a.shape[-2]), a.shape[:-1]).copy()
        np.put_along_axis(rows, best[..., None], k, -1)
        rows[..., k] = best
        a = np.take_along_axis(a, rows[..., None], -2)
        pivot = a[..., k, k]
        out = out * np.where(best == k, pivot, -pivot)
        factor = a[..., k + 1 :, k] / np.where(pivot == 0, x.dtype.type(1), pivot)[..., None]
        a[..., k + 1 :, k:] -= factor[..., None] * a[..., k : k + 1, k:]
    return out[()]


def inverse(x: Array) -> Array:
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError:
        raise _singular("linalg.inv", x) from None


def solve(x: Array, y: Array) -> Array:
    try:
        return np.linalg.solve(x, y)
    except np.linalg.LinAlgError:
        raise _singular("torch.linalg.solve", x) from None


def cholesky(x: Array) -> Array:
    try:
        return np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "linalg.cholesky: The factorization could not be completed because the input is not positive-definite."
        ) from None


# ------------------------------------------------------------------------------------------- layers


def conv_bias(
    x: Array, w: Array, b: Array | None, stride: Shape, padding: Shape, dilation: Shape, groups: int
) -> Array:
    out = conv(x, w, stride, padding, dilation, groups)
    if b is not None:
        out += b.reshape((-1,) + (1,) * (out.ndim - 2))
    return out


def along_dims(x: Array, averages: tuple[Array, ...]) -> Array:
    """Multiply each of the last dimensions by its matrix (out, in)."""
    for back, matrix in enumerate(reversed(averages), 1):
        x = np.moveaxis(np.moveaxis(x, -back, -1) @ matrix.T, -1, -back)
    return x


def statistics(x: Array, dims: tuple[int, ...], eps: float) -> tuple[Array, Array, Array, Array]:
    """The mean, 1 / sqrt(variance + eps) and variance over `dims`, which are kept as size 1; x normalised by them."""
    n = count(x.shape, dims)
    mean = total(x, dims, True) / n
    centred = x - mean
    var = total(centred * centred, dims, True) / n
    rstd = 1 / np.sqrt(var + eps)
    return mean, rstd, var, centred * rstd


# ------------------------------------------------------------------------------------------- reductions


_add: Any = np.add.reduce


def total(x: Array, dims: int | tuple[int, ...] | None, keepdim: bool = False) -> Array:
    """The sum over `dims`.  Over the first or the last dimensions it is a product with ones, which is much faster."""
    if x.size < 256 or dims is None or x.dtype.char not in "fd":
        sums = _add(x, dims, None, None, keepdim)
        return sums if x.ndim < 3 else in_order(sums)
    first, flat, left = _as_product(x.shape, dims, keepdim)
    if flat is None:
        return in_order(_add(x, dims, None, None, keepdim))
    if len(x.shape) > 2:
        x = x.reshape(flat)
    sums = _ones(flat[0], x.dtype).dot(x) if first else x.dot(_ones(flat[1], x.dtype))
    return sums if len(left) == 1 else sums.reshape(left)


@lru_cache(maxsize=256)  # working it out takes longer than a small product
def _as_product(shape: Shape, dims: int | Shape, keepdim: bool) -> tuple[bool, Shape | None, Shape]:
    """Whether the first dimensions are summed (else the last), the two dimensions to look at x in, the result's shape."""
    over = (dims,) if isinstance(dims, int) else dims
    k, n = len(over), len(shape)
    if 0 < k < n and over == tuple(range(k)):
        return True, (math.prod(shape[:k]), math.prod(shape[k:])), (1,) * (k * keepdim) + shape[k:]
    if 0 < k < n and over in ((-1,), tuple(range(n - k, n))) and (m := math.prod(shape[-k:])) <= 1024:
        return False, (math.prod(shape[:-k]), m), shape[:-k] + (1,) * (k * keepdim)
    return False, None, ()  # longer rows numpy adds with less rounding


@lru_cache(maxsize=64)
def _ones(n: int, dtype: np.dtype[Any]) -> Array:
    return np.ones(n, dtype)


def largest_of_rows(x: Array, dim: int) -> Array:
    """The largest along one dimension, kept as size 1; numpy compares short rows fastest when they stand upright."""
    if x.shape[dim] > 32 or x.size < 300 or dim % x.ndim != x.ndim - 1:
        return largest(x, dim, None, None, True)
    upright = np.ascontiguousarray(x.reshape((-1, x.shape[dim])).T)
    return largest(upright, 0).reshape((*x.shape[:-1], 1))


def count(shape: Shape, dims: Sequence[int] | None = None) -> int:
    """The number of elements, or of those along `dims`."""
    return math.prod(shape if dims is None else [shape[d] for d in dims])


def mean_all(x: Array) -> Array:
    return total(x, None) / (x.size or x.dtype.type(0))


def mean_dims(x: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    return total(x, dims, keepdim) / (count(x.shape, dims) or x.dtype.type(0))


def var(x: Array, dims: tuple[int, ...], correction: float, keepdim: bool) -> Array:
    centred = x - x[tuple(slice(0, 1) if d in dims else slice(None) for d in range(x.ndim))]  # exactly 0 for equal numbers
    centred -= mean_dims(centred, dims, True)
    free = max(count(x.shape, dims) - correction, 0)
    return total(centred * centred, dims, keepdim) / (free or x.dtype.type(0))


def median_all(x: Array) -> Array:
    """The lower of the two middle elements; nan if there is one, or nothing."""
    flat = np.asarray(x).reshape(-1)
    if flat.size:
        refuse_booleans("median_cpu", x)
    if x.dtype is BOOLEAN:
        return x.dtype.type(True)
    if not flat.size:
        return x.dtype.type(np.nan if x.dtype.kind == "f" else np.iinfo(x.dtype).min)
    if x.dtype.kind == "f" and np.isnan(flat).any():
        return x.dtype.type(np.nan)
    return np.partition(flat, (flat.size - 1) // 2)[(flat.size - 1) // 2]


def vector_norm(x: Array, order: float, dims: tuple[int, ...], keepdim: bool) -> Array:
    size = np.absolute(x)
    if order == 2:
        return np.sqrt(total(size * size, dims, keepdim))
    if order == 1:
        return total(size, dims, keepdim)
    if order == 0:
        return total((x != 0).astype(x.dtype), dims, keepdim)
    if math.isinf(order):
        extreme = largest if order > 0 else smallest
        return extreme(size, dims, None, None, keepdim) if x.size else total(size, dims, keepdim)
    return total(size**order, dims, keepdim) ** (1 / order)


def picked(x: Array, dim: int, index: Array, keepdim: bool) -> Array:
    """`gather`; without `keepdim`, a dimension of size 1 is dropped."""
    out = gather(x, dim, index)
    return out if keepdim or not x.ndim else out.reshape(out.shape[:dim] + out.shape[dim + 1 :])[()]


def spread(g: Array, shape: Shape, dim: int, index: Array, keepdim: bool) -> Array:
    """The transpose of `picked`."""
    return scatter_add(np.zeros(shape, g.dtype), dim, index, g.reshape(index.shape))


def has_zero(x: Any) -> bool:
    return not np.all(getattr(x, "_data", x))


# ------------------------------------------------------------------------------------------- shapes


def swap(x: Array, i: int, j: int) -> Array:
    """Two dimensions exchanged; a single number has none to exchange."""
    return x.swapaxes(i, j) if x.ndim else x[...]


def copied(x: Array, y: Array) -> Array:
    """y in the shape and type of x."""
    return np.broadcast_to(np.asarray(y).astype(x.dtype), x.shape).copy()


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
    return tuple(-s for s in shifts)


def negated_pairs(widths: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return tuple((-a, -b) for a, b in widths)


def strided(x: Array, size: Shape, stride: Shape, offset: int) -> Array:
    """Elements of contiguous memory by sizes and steps: a view."""
    flat = np.asarray(x).reshape(-1)[offset:]
    return np.lib.stride_tricks.as_strided(flat, size, tuple(s * x.itemsize for s in stride))


def add_strided(g: Array, shape: Shape, size: Shape, stride: Shape, offset: int) -> Array:
    """The transpose of `strided`: elements that were read more than once get the sum."""
    places = strided(np.arange(count(shape)), size, stride, offset)
    return np.bincount(places.reshape(-1), np.asarray(g).reshape(-1), count(shape)).astype(g.dtype).reshape(shape)


def trace(x: Array) -> Array:
    """The sum of the diagonal; integers add up as int64."""
    refuse_booleans("trace", x)
    return np.trace(x, dtype=x.dtype if x.dtype.kind == "f" else np.int64)


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


def put_diagonal(g: Array, shape: Shape, offset: int, i: int, j: int) -> Array:
    """The transpose of `diagonal`: zeros with g on the diagonal."""
    out = np.zeros(shape, g.dtype)
    diagonal(out, offset, i, j)[...] = g
    return out


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
    mine, _, number = _winners(x, y, out, dim, index, include_self)
    return mine / np.maximum(number, 1)


def share_of_source(x: Array, y: Array, out: Array, dim: int, index: Array, include_self: bool) -> Array:
    _, theirs, number = _winners(x, y, out, dim, index, include_self)
    return theirs / np.maximum(gather_cut(number, dim, index, y.shape), 1)


def gather_cut(x: Array, dim: int, index: Array, shape: Shape) -> Array:
    """`gather`, with zeros for the part of `shape` beyond the index."""
    out = np.zeros(shape, x.dtype)
    found = gather(x, dim, index)
    if not shape:
        return found.reshape(())[()]
    out[tuple(slice(n) for n in index.shape)] = found
    return out
