"""How often each number occurs, and between which bounds it falls.

Loaded when one of its functions is first called.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import dtypes, errors, kernels, layout
from minigrad.errors import check_dim
from minigrad.operations import operation
from minigrad.public import function, raw, return_type, wrapped
from minigrad.tensor import Tensor, wrap


def _underived(name: str, function: str) -> Any:
    def refuse(g: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{function}' is not implemented.")

    return operation(name, lambda x, array: array, refuse)


UNDERIVED = {
    name: _underived(name, function)
    for name, function in (
        ("Unique2", "_unique2"),
        ("UniqueDim", "unique_dim"),
        ("UniqueConsecutive", "unique_consecutive"),
    )
}


@function
def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The distinct elements in order; perhaps where each came, and how often."""
    x = input._data
    axis = None if dim is None else check_dim(dim, x.ndim)
    found = np.unique(x, return_inverse=True, return_counts=True, axis=axis, equal_nan=False)  # each nan is one of its own
    inverse = found[1].reshape(x.shape) if dim is None else found[1].reshape(-1)
    answer = [UNDERIVED["Unique2" if dim is None else "UniqueDim"](input, found[0])]
    answer += [wrap(inverse)] if return_inverse else []
    answer += [wrap(found[2])] if return_counts else []
    return answer[0] if len(answer) == 1 else tuple(answer)


@function
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The elements (or the slices along `dim`) without immediate repetitions."""
    x = np.asarray(input._data).reshape(-1) if dim is None else input._data
    where = 0 if dim is None else check_dim(dim, x.ndim)
    moved = np.moveaxis(x, where, 0)
    rows = moved.reshape(len(moved), layout.count(moved.shape[1:]))
    starts = (
        np.flatnonzero(np.concatenate(([True], (rows[1:] != rows[:-1]).any(1)))) if len(rows) else np.zeros(0, np.int64)
    )
    answer = [UNDERIVED["UniqueConsecutive"](input, np.take(x, starts, where))]
    if return_inverse:
        inverse = np.searchsorted(starts, np.arange(len(rows)), side="right") - 1
        answer.append(wrap(inverse.reshape(input._data.shape) if dim is None else inverse))
    if return_counts:
        answer.append(wrap(np.diff(np.append(starts, len(rows)))))
    return answer[0] if len(answer) == 1 else tuple(answer)


@function
def bincount(input: Tensor, weights: Any = None, minlength: int = 0) -> Tensor:
    """How often each of 0, 1, 2, ... occurs, or the sum of its weights."""
    if input._data.dtype.kind in "bf":
        raise errors.not_implemented("bincount_cpu", input.dtype.tensor_name)
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if weights is not None and (weights._data.ndim != 1 or weights._data.shape != input._data.shape):
        raise RuntimeError("weights should be 1-d and have the same length as input")
    if input._data.ndim != 1 or np.any(input._data < 0):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    counts = np.bincount(input._data, raw(weights), minlength)
    return wrap(
        counts.astype(weights._data.dtype) if weights is not None and weights._data.dtype.kind == "f" else counts
    )


@function
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements fall in each of `bins` equal intervals."""
    x = input._data
    kernels.refuse_booleans("linspace_cpu", x)
    if x.dtype.kind != "f":
        raise errors.not_implemented("histogram_cpu", input.dtype.tensor_name)
    _check_bins(bins)
    if max < min:
        raise RuntimeError("torch.histc: max must be larger than min")
    low, high = (float(x.min()), float(x.max())) if min == max == 0 and x.size else (min, max)
    if not math.isfinite(low) or not math.isfinite(high):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    return wrap(np.histogram(x[(x >= low) & (x <= high)], bins, (low, high))[0].astype(x.dtype))


def _check_bins(bins: int) -> None:
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")


@function
def histogram(input: Tensor, bins: Any = 100, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    """How many elements fall into each bin (their number, or their edges), or how much `weight`; and the edges."""
    from minigrad.creation import linspace

    x = input._data.ravel()
    if weight is not None and weight._data.shape != input._data.shape:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding its "
            f"innermost dimension, but got input with shape {[x.size, 1]} and weight with shape {list(weight._data.shape)}"
        )
    if weight is not None and weight._data.dtype != x.dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, but "
            f"got input({input.dtype.c_name}), and weight({weight.dtype.c_name})"
        )
    if isinstance(bins, Tensor):
        edges = bins._data
        if edges.ndim != 1:
            raise RuntimeError(
                f"torch.histogramdd: bins tensor should have one dimension, but got {edges.ndim} dimensions in the bins "
                "tensor for dimension 0"
            )
        if edges.dtype != x.dtype:
            raise RuntimeError(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
                f"{input.dtype.c_name} and bins for dimension 0 with dtype {bins.dtype.c_name}"
            )
    else:
        _check_bins(bins)
        if range is not None and len(range) != 2:
            raise RuntimeError(
                f"torch.histogramdd: for a 1-dimensional histogram range should have 2 elements, but got {len(range)}"
            )
        low, high = range or ((x.min().item(), x.max().item()) if x.size else (0.0, 1.0))
        if not math.isfinite(low) or not math.isfinite(high):
            raise RuntimeError(f"torch.histogramdd: dimension 0's range [{low:g}, {high:g}] is not finite")
        if low > high:
            raise RuntimeError(
                f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension 0"
            )
        if low == high:
            low, high = low - 0.5, high + 0.5
        edges = linspace(low, high, bins + 1, dtype=input.dtype)._data
    if x.dtype.kind != "f" or x.dtype.itemsize == 2:
        raise errors.not_implemented("histogramdd", input.dtype.tensor_name)
    weights = None if weight is None else weight._data.ravel()
    found = np.histogram(x, edges, weights=weights)[0].astype(x.dtype)
    if density:
        found = found / (found.sum() * np.diff(edges))
    return return_type("histogram")(wrap(found), wrap(edges))


@function(method=False)
def bucketize(input: Tensor, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """Between which boundaries each element falls."""
    if boundaries._data.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries._data.ndim})")
    found = np.asarray(np.searchsorted(boundaries._data, input._data, "right" if right else "left"))
    return wrapped(found.astype(np.int32) if out_int32 else found)


@function(method=False)
def searchsorted(
    sorted_sequence: Tensor,
    values: Any,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: Any = None,
    sorter: Any = None,
) -> Tensor:
    """Where to insert each value so that the sequence stays in order, along the last dimension."""
    where: Any = side or ("right" if right else "left")
    rows, found = sorted_sequence._data, np.asarray(raw(values))
    if right and side == "left":
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    if where not in ("left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if not rows.ndim:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension")
    if not found.ndim and rows.ndim > 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
            f"boundaries tensor dim({rows.ndim}) and input value's dim(0) numel(1)"
        )
    if rows.ndim > 1 and rows.shape[:-1] != found.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor "
            f"and input value tensor must match, but we got boundaries tensor {list(rows.shape)} and input value tensor "
            f"{list(found.shape)}"
        )
    if sorter is not None:
        _check_sorter(rows.shape, sorter)
        rows = np.take_along_axis(rows, sorter._data, -1)
    if rows.ndim == 1:
        places = np.asarray(np.searchsorted(rows, found, where))
    else:
        places = np.zeros(found.shape, np.int64)
        for at in np.ndindex(rows.shape[:-1]):
            places[at] = np.searchsorted(rows[at], found[at], where)
    return wrapped(places.astype(np.int32) if out_int32 else places)


def _check_sorter(shape: tuple[int, ...], sorter: Tensor) -> None:
    if sorter._data.shape != shape:
        raise RuntimeError(
            f"torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor {list(shape)}and got "
            f"sorter tensor {list(sorter._data.shape)}"
        )
    if sorter.dtype is not dtypes.int64:
        raise RuntimeError(
            f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {sorter.dtype.tensor_name}"
        )
    if np.any((sorter._data < 0) | (sorter._data >= shape[-1])):
        raise RuntimeError("torch.searchsorted(): sorter index out of range")
