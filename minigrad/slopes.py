"""`gradient`: slopes of samples along a grid, by finite differences (not to be confused with autograd's)."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.errors import check_dim
from minigrad.shapes import cat
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
    return tuple(_slope(input, d, spacing[k] if several else spacing, edge_order) for k, d in enumerate(dims))


def _slope(x: Tensor, dim: int, spacing: Any, edge_order: int) -> Tensor:
    n = x._data.shape[dim]
    kind = x._data.dtype
    gaps = np.diff(spacing._data).astype(kind) if isinstance(spacing, Tensor) else np.full(n - 1, spacing, kind)

    def part(start: int, count: int = 1) -> Tensor:
        return x.narrow(dim, start % n, count)

    def along(weights: Any) -> Tensor:
        return wrap(np.reshape(weights, (-1,) + (1,) * (x._data.ndim - dim - 1)).astype(x._data.dtype))

    def edge(h: Any, places: tuple[int, int, int]) -> Tensor:
        """Of the parabola through three samples (or the line through two), the slope at the first."""
        if edge_order == 1:
            return (part(places[1]) - part(places[0])) / float(h[0])
        a, b = map(float, h)
        weights = -(2 * a + b) / (a * (a + b)), (a + b) / (a * b), -a / (b * (a + b))
        first, second, third = (part(p) * w for p, w in zip(places, weights, strict=True))
        return first + second + third

    left, right = gaps[:-1], gaps[1:]
    inner = (
        part(0, n - 2) * along(-right / (left * (left + right)))
        + part(1, n - 2) * along((right - left) / (left * right))
        + part(2, n - 2) * along(left / (right * (left + right)))
    )
    return cat([edge(gaps[:2], (0, 1, 2)), inner, edge(-gaps[::-1][:2], (-1, -2, -3))], dim)
