"""Convolution, pooling and windows: numpy in, numpy out (see kernels.py for the rest of the forward code).

All of them are *linear* in their argument, pooling by the maximum once the winners are known.  A linear function needs
no calculus: its derivative is its transpose, which hands every output back to the inputs it came from.  So the
functions come in pairs (`view_windows` and `add_windows`, `unfold` and `fold`), and in the table each is the derivative
of the other.  Convolution is linear in two arguments, so it comes as a family of three.

Layout as in PyTorch: (batch, channels, *spatial); `stride`, `padding`, `dilation` have one number for each spatial
dimension.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from minigrad.kernels import scatter_add
from minigrad.layout import Array, Shape

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
    out = w.reshape(x.shape[0], x.shape[1] * columns, math.prod(w.shape[2 + n :]))
    return out if out.flags.writeable else out.copy()  # windows of one element are x itself


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
    columns = columns.reshape((batch, groups * w.shape[1], *kernel, *counts))
    # Where edges are cut off, the rest is made whole again: `view` asks for that.
    return np.ascontiguousarray(add_windows(columns, sizes, stride, padding, dilation))


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
    if not flat.size:
        return np.zeros(x.shape[: x.ndim - n] + counts, np.int64)
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
    places = index.reshape((*lead, math.prod(index.shape[index.ndim - n :])))
    return np.take_along_axis(flat, places, -1).reshape(index.shape)


def put_places(g: Array, index: Array, sizes: Shape) -> Array:
    """The transpose of `take_places`: add g (..., *counts) into zeros (..., *sizes)."""
    n = len(sizes)
    lead = index.shape[: index.ndim - n]
    rows = (*lead, math.prod(index.shape[index.ndim - n :]))
    flat = scatter_add(np.zeros((*lead, math.prod(sizes)), g.dtype), index.reshape(rows), g.reshape(rows), len(lead))
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
        window = x[(..., *where)].reshape((*x.shape[: x.ndim - n], places[where].size))
        at: Any = (..., *(i for i, _ in cell))
        out[at] = places[where].ravel()[window.argmax(-1)]
    return out


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
