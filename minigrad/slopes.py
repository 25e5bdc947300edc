"""`gradient`: slopes of samples along a grid, by finite differences (not to be confused with autograd's)."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.errors import check_dim
from minigrad.joining import cat
from minigrad.tensor import Tensor, wrap


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
