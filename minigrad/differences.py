"""A function known by samples: their differences, its slopes (not to be confused with autograd's), its integrals.

Loaded when one of these is first called.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.errors import check_dim
from minigrad.ops.shapes import cat
from minigrad.public import function
from minigrad.tensor import Tensor, wrap


@function
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """The differences of neighbours along `dim`, n times."""
    if not input._data.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    where = check_dim(dim, input._data.ndim)
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    if n == 0:
        return input.clone()
    for end in (prepend, append):
        if end is not None:
            _check_end(input._data.shape, where, end._data.shape)
    parts = [t for t in (prepend, input, append) if t is not None]
    x = cat(parts, where) if parts[1:] else input
    for _ in range(min(n, x._data.shape[where])):
        lead = (slice(None),) * where
        after, before = x[(*lead, slice(1, None))], x[(*lead, slice(0, x._data.shape[where] - 1))]
        x = after ^ before if x._data.dtype.kind == "b" else after - before
    return x


def _check_end(shape: tuple[int, ...], dim: int, end: tuple[int, ...]) -> None:
    if len(end) != len(shape):
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for d, (n, given) in enumerate(zip(shape, end, strict=True)):
        if d != dim and n != given:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input except along the "
                f"differencing dimension; input.size({d}) = {n}, but got tensor.size({d}) = {given}"
            )


def _check_places(name: str, y: Tensor, x: Tensor | None, dim: int) -> None:
    either = "`y`" if x is None else "`x` or `y`"
    if "b" in [t._data.dtype.kind for t in (y, x) if t is not None]:
        raise RuntimeError(f"{name}: received a bool input for {either}, but bool is not supported")
    if x is not None and x._data.ndim == 1 and len(x) != y._data.shape[dim]:
        raise RuntimeError(f"{name}: There must be one `x` value for each sample point")


@function(names=("trapz",), method=False)
def trapezoid(y: Tensor, x: Any = None, *, dx: float = 1, dim: int = -1) -> Tensor:
    """The integral of samples y along `dim`, by trapezia."""
    where = check_dim(dim, y._data.ndim)
    _check_places("trapezoid", y, x, where)
    n = y._data.shape[where]
    if n == 0:
        return y.sum(where)
    sums = y.narrow(where, 1, n - 1) + y.narrow(where, 0, n - 1)
    if x is None:
        return sums.sum(where) * (dx / 2)
    steps = diff(x, dim=where if x._data.ndim == y._data.ndim else -1)
    if x._data.ndim == 1:
        steps = steps.reshape((-1,) + (1,) * (y._data.ndim - where - 1))
    return (sums * steps).sum(where) / 2


@function(method=False)
def cumulative_trapezoid(y: Tensor, x: Any = None, *, dx: float = 1, dim: int = -1) -> Tensor:
    """The running integral of samples y along `dim`."""
    where = check_dim(dim, y._data.ndim)
    _check_places("cumulative_trapezoid", y, x, where)
    n = y._data.shape[where]
    if n == 0:
        return y.clone()
    sums = y.narrow(where, 1, n - 1) + y.narrow(where, 0, n - 1)
    if x is None:
        return sums.cumsum(where) * (dx / 2)
    steps = diff(x, dim=where if x._data.ndim == y._data.ndim else -1)
    if x._data.ndim == 1:
        steps = steps.reshape((-1,) + (1,) * (y._data.ndim - where - 1))
    return (sums * steps).cumsum(where) / 2


def gradient(input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """The slope along each dimension (or those in `dim`): central differences inside, one-sided ones at the edges.

    `spacing` is the distance of neighbours, one for each dimension, or a vector of coordinates for each.
    RuntimeError if a dimension has fewer than edge_order + 1 samples, or if edge_order is not 1 or 2.
    """
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    asked = range(input._data.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    if not input.dtype.is_floating_point:
        input = input.to(dtypes.get_default_dtype())
    dims = [check_dim(d, input._data.ndim) for d in asked]
    for d in dims:
        if dims.count(d) > 1:
            raise RuntimeError(f"dim {d} appears multiple times in the list of dims")
    spacing = 1 if spacing is None else spacing
    several = isinstance(spacing, (tuple, list))
    if several and len(spacing) != len(dims):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
            f"'self.dim() = {len(dims)}', since dim argument was not given, but got a list of length {len(spacing)}"
        )
    if any(input._data.shape[d] < edge_order + 1 for d in dims):
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    slopes = []
    for k, d in enumerate(dims):
        step = spacing[k] if several else spacing
        slope = _between_coordinates if isinstance(step, Tensor) and step._data.ndim else _between_equal_steps
        slopes.append(slope(input, d, step, edge_order))
    return tuple(slopes)


def _parts(x: Tensor, dim: int) -> Any:
    """`part(start, stop)`: the samples from start up to, but not including, stop along `dim`."""
    n = x._data.shape[dim]

    def part(start: int, stop: int | None = None) -> Tensor:
        first, last, _ = slice(start, stop).indices(n)
        return x.narrow(dim, first, max(last - first, 0))

    return part


def _between_equal_steps(x: Tensor, dim: int, step: Any, edge_order: int) -> Tensor:
    part = _parts(x, dim)
    if edge_order == 1:
        first, last = part(1, 2) - part(0, 1), part(-1) - part(-2, -1)
    else:  # of the parabola through three samples
        first = part(1, 2) * 2 - part(0, 1) * 1.5 - part(2, 3) * 0.5
        last = part(-1) * 1.5 - part(-2, -1) * 2 + part(-3, -2) * 0.5
    return cat([first / step, (part(2) - part(0, -2)) / step / 2, last / step], dim)


def _between_coordinates(x: Tensor, dim: int, coordinates: Tensor, edge_order: int) -> Tensor:
    x = x.to(dtypes.promote_types(x.dtype, coordinates.dtype))
    part, gaps = _parts(x, dim), np.diff(coordinates._data).astype(x._data.dtype)

    def along(weights: Any) -> Tensor:
        return wrap(np.reshape(weights, (-1,) + (1,) * (x._data.ndim - dim - 1)).astype(x._data.dtype))

    def edge(a: float, b: float, places: tuple[Tensor, Tensor, Tensor]) -> Tensor:
        """Of the parabola through three samples (or the line through two), the slope at the first."""
        if edge_order == 1:
            return (places[1] - places[0]) / a
        weights = -(2 * a + b) / (a * (a + b)), (a + b) / (a * b), -a / (b * (a + b))
        first, second, third = (place * weight for place, weight in zip(places, weights, strict=True))
        return first + second + third

    left, right = gaps[:-1], gaps[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = (
            part(0, -2) * along(-right / (left * (left + right)))
            + part(1, -1) * along((right - left) / (left * right))
            + part(2) * along(left / (right * (left + right)))
        )
        first = edge(gaps[0], gaps[min(1, gaps.size - 1)], (part(0, 1), part(1, 2), part(2, 3)))
        last = edge(-gaps[-1], -gaps[max(-2, -gaps.size)], (part(-1), part(-2, -1), part(-3, -2)))
    return cat([first, inner, last], dim)
