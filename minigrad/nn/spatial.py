"""Sampling pictures at any place: `affine_grid` says where, `grid_sample` looks there (spatial transformers)."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.public import floating_input
from minigrad.tensor import Tensor, wrap

_DEFAULT = (
    "Default {}_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
    "align_corners=True if the old behavior is desired. See the documentation of grid_sample for details."
)


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The places theta (N, 2, 3) maps a picture's points to: for size (N, C, H, W) a grid (N, H, W, 2), x before y.

    For theta (N, 3, 4) and five sizes a grid (N, D, H, W, 3). The corners are at -1 and 1.
    ValueError for a theta that is not floating-point or does not fit the size.
    """
    if align_corners is None:
        warnings.warn(_DEFAULT.format("grid"), UserWarning, stacklevel=2)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    n = len(size) - 2
    if n not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
            f"Got size {size}."
        )
    if theta.dim() != 3 or tuple(theta.shape[-2:]) != (n, n + 1):
        raise ValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. "
            f"Got {theta.shape}."
        )
    if align_corners and min(size[2:]) == 1:
        warnings.warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This is not an "
            "intended use case of affine_grid. See the documentation of affine_grid for details.",
            UserWarning,
            stacklevel=2,
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    kind, axes = theta._data.dtype, []
    for length in size[2:]:
        line = np.linspace(-1, 1, length) if length > 1 else np.zeros(1)
        axes.append((line if align_corners else line * (length - 1) / length).astype(kind))
    places = np.stack([*reversed(np.meshgrid(*axes, indexing="ij")), np.ones(tuple(size[2:]), kind)], -1)
    whole = wrap(places.reshape(1, -1, n + 1)).expand(theta.shape[0], -1, -1) @ theta.mT
    return whole.reshape((theta.shape[0], *size[2:], n))


def _reflected(x: Tensor, low: float, high: float) -> Tensor:
    """Coordinates thrown back at both edges until they are inside."""
    if low == high:
        return mg.zeros_like(x)
    span = high - low
    away = (x - low).abs()
    turns = (away.detach() / span).floor()
    rest = away - turns * span
    return mg.where(turns % 2 == 0, rest + low, span - rest + low)


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """The input (N, C, H, W) at the places of grid (N, h, w, 2), x before y, from -1 to 1: shape (N, C, h, w).

    `mode` is "bilinear" or "nearest", `padding_mode` (outside) "zeros", "border" or "reflection". Also 5-D.
    """
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if align_corners is None:
        warnings.warn(_DEFAULT.format("grid"), UserWarning, stacklevel=2)
    if mode == "bicubic":
        raise NotImplementedError("grid_sample: minigrad has the modes 'bilinear' and 'nearest'")
    n = input.dim() - 2
    _check(input, grid, n)
    if input.dtype is not grid.dtype:
        raise RuntimeError(f"expected scalar type {input.dtype.tensor_name} but found {grid.dtype.tensor_name}")
    floating_input(f"grid_sampler_{n}d_cpu_kernel_impl", input)
    batch, channels, *sizes = input.shape
    flat = input.reshape(batch, channels, -1)
    near, weights = _neighbours(grid, sizes, mode, padding_mode, bool(align_corners))
    out: Any = 0
    for places, weight in zip(near, weights, strict=True):
        inside = np.all([(p >= 0) & (p < s) for p, s in zip(places, sizes, strict=True)], axis=0)
        index = np.ravel_multi_index([np.where(inside, p, 0) for p in places], tuple(sizes)).reshape(batch, 1, -1)
        picked = flat.gather(2, wrap(index).expand(-1, channels, -1)).reshape((batch, channels, *grid.shape[1:-1]))
        out = out + picked * (weight * wrap(inside.astype(input._data.dtype))).unsqueeze(1)
    return out


def _check(input: Tensor, grid: Tensor, n: int) -> None:
    if grid.shape[-1] != n:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {n} in last dimension, but got grid with sizes {list(grid.shape)}"
        )
    if n not in (2, 3) or grid.dim() != input.dim():
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with "
            f"sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if input.shape[0] != grid.shape[0]:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
            f"{list(input.shape)} and grid with sizes {list(grid.shape)}"
        )


def _neighbours(grid: Tensor, sizes: Sequence[int], mode: str, padding_mode: str, align: bool) -> tuple[Any, Any]:
    """For each corner around a place: its whole coordinates (one array a dimension), and its weight."""
    lower, parts = [], []
    for axis, size in enumerate(sizes):
        x = grid[..., len(sizes) - 1 - axis]
        x = (x + 1) / 2 * (size - 1) if align else ((x + 1) * size - 1) / 2
        if padding_mode == "reflection":
            x = _reflected(x, 0, size - 1) if align else _reflected(x, -0.5, size - 0.5)
        if padding_mode != "zeros":
            x = x.clamp(0, size - 1)
        if mode == "nearest":
            lower.append(np.asarray(x.detach().round()._data).astype(np.int64))
            parts.append(x * 0.0)  # the picture does not change with the place: gradient zero, not none
            continue
        floor = x.detach().floor()
        lower.append(np.asarray(floor._data).astype(np.int64))
        parts.append(x - floor)
    if mode == "nearest":
        return [lower], [1 + sum(parts)]
    near, weights = [], []
    for corner in np.ndindex(*(2,) * len(sizes)):
        near.append([low + step for low, step in zip(lower, corner, strict=True)])
        weight: Any = 1
        for part, step in zip(parts, corner, strict=True):
            weight = weight * (part if step else 1 - part)
        weights.append(weight)
    return near, weights
