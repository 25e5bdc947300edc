"""The lines of the derivative table that only nn needs: the rest of the losses, and normalisation by channel.

They read like those of derivatives.py: the node's name, the forward function, one rule for each input; a rule's
parameters say what is kept. x, y, z are the inputs, out the result, the rest are settings. Rules run on arrays in a
plain backward pass and on Tensors in one that is differentiated itself.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import kernels
from minigrad.derivatives import put, reshape, rows_mm, sigmoid, sum_dims
from minigrad.kernels import fold_rows
from minigrad.operations import operation
from minigrad.tape import TABLE
from minigrad.tensor import Tensor, wrap

# --------------------------------------------------------------------------------------------------------- losses


def _soft_margin(x: Any, y: Any, reduction: str) -> Any:
    values = np.logaddexp(0, -y * x)
    if reduction == "none":
        return values
    return values.mean() if reduction == "mean" else np.add.reduce(values, None)


def shared(g: Any, x: Any, reduction: str) -> Any:
    """The gradient of one element's loss, given that of the reduced loss."""
    return g / math.prod(x.shape) if reduction == "mean" else g


soft_margin_loss = operation(
    "SoftMarginLoss",
    _soft_margin,
    lambda g, x, y, reduction: shared(g, x, reduction) * -y * sigmoid(-y * x),
    lambda g, x, y, reduction: shared(g, x, reduction) * -x * sigmoid(-y * x),
)

# The negative log-likelihood: `index` picks the entry of each target's class, `share` is the weight of each target
# (None: all 1), and the sum is divided by `total` (None: no sum). nll_loss and nll_spread are each other's transpose.


def _nll(x: Any, index: Any, share: Any, total: Any) -> Any:
    losses = x[index] if share is None else x[index] * share
    return -losses if total is None else -(np.add.reduce(losses, None) / total)


def _spread(x: Any, shape: tuple[int, ...], index: Any, share: Any, total: Any) -> Any:
    out = np.zeros(shape, x.dtype)
    each = -x if total is None else -x / total
    out[index] = each if share is None else each * share
    return out


nll_rows: Any
nll_grid: Any
nll_spread: Any = operation(
    "NllLossBackward",
    _spread,
    lambda g, index, share, total: nll_rows(g, index, share, total),
)
nll_rows, nll_grid = (
    operation(
        name,
        _nll,
        lambda g, x_shape, index, share, total: nll_spread(g, x_shape, index, share, total),
    )
    for name in ("NllLoss", "NllLoss2D")
)


# -------------------------------------------------------------------------------------------------- normalisation

# A normalisation subtracts a mean and divides by a standard deviation, then scales and shifts: y is the weight and
# z the bias, either may be None. The statistics that the forward pass found are kept; a backward pass that is
# differentiated itself computes them again, for they depend on x.


def times(g: Any, weight: Any) -> Any:
    """g * weight, where no weight counts as 1."""
    return g if weight is None else g * weight


def statistics(x: Any, dims: tuple[int, ...], eps: float) -> tuple[Any, Any]:
    """Mean and 1 / sqrt(variance + eps) over some dimensions, which stay as size 1."""
    n = math.prod(x.shape[d] for d in dims)
    mean = sum_dims(x, dims, True) / n
    d = x - mean
    return mean, (sum_dims(d * d, dims, True) / n + eps) ** -0.5


def standard(x: Any, dims: tuple[int, ...], eps: float, mean: Any, rstd: Any) -> tuple[Any, Any]:
    """x with mean 0 and variance 1 over `dims`, and the 1 / standard deviation used."""
    if isinstance(x, Tensor):
        mean, rstd = statistics(x, dims, eps)
    return (x - mean) * rstd, rstd


def norm_slope(g: Any, x: Any, dims: tuple[int, ...], eps: float, mean: Any, rstd: Any) -> Any:
    """The gradient through (x - mean) * rstd, whose statistics are functions of x too."""
    n = math.prod(x.shape[d] for d in dims)
    x, rstd = standard(x, dims, eps, mean, rstd)
    return (g - (sum_dims(g, dims, True) + x * sum_dims(g * x, dims, True)) / n) * rstd


def _affine(x: Any, y: Any, z: Any) -> Any:
    if y is not None:
        x *= y
    if z is not None:
        x += z
    return x


def channel(weight: Any, x: Any) -> Any:
    """A weight per channel, shaped to multiply x of shape (batch, channels, ...)."""
    if weight is None:
        return None
    return reshape(weight, (1, weight.shape[0]) + (1,) * (len(x.shape) - 2))


def per_channel(g: Any) -> Any:
    """The sum over everything but the channels."""
    return sum_dims(g, (0, *range(2, len(g.shape))), False)


batch_norm_train = operation(
    "NativeBatchNorm",
    lambda x, y, z, dims, eps, mean, rstd: _affine((x - mean) * rstd, channel(y, x), channel(z, x)),
    lambda g, x, y, dims, eps, mean, rstd: norm_slope(times(g, channel(y, x)), x, dims, eps, mean, rstd),
    lambda g, x, dims, eps, mean, rstd: per_channel(g * standard(x, dims, eps, mean, rstd)[0]),
    lambda g: per_channel(g),
)
batch_norm_eval = operation(
    "NativeBatchNorm",
    lambda x, y, z, mean, rstd: _affine((x - mean) * rstd, channel(y, x), channel(z, x)),
    lambda g, x, y, mean, rstd: times(g, channel(y, x)) * constant(rstd, x),
    lambda g, x, mean, rstd: per_channel(g * (x - constant(mean, x)) * constant(rstd, x)),
    lambda g: per_channel(g),
)


def constant(array: Any, like: Any) -> Any:
    """An array among arrays, a Tensor among Tensors."""
    return wrap(array) if isinstance(like, Tensor) else array


def grouped(x: Any, groups: int) -> Any:
    return reshape(x, (x.shape[0], groups, -1))


def _group_norm(x: Any, y: Any, z: Any, groups: int, mean: Any, rstd: Any) -> Any:
    out = ((grouped(x, groups) - mean) * rstd).reshape(x.shape)
    return _affine(out, channel(y, x), channel(z, x))


def group_slope(g: Any, x: Any, groups: int, eps: float, mean: Any, rstd: Any) -> Any:
    return reshape(norm_slope(grouped(g, groups), grouped(x, groups), (2,), eps, mean, rstd), x.shape)


group_norm_rows = operation(
    "NativeGroupNorm",
    lambda x, y, z, groups, eps, mean, rstd: _group_norm(x, y, z, groups, mean, rstd),
    lambda g, x, y, groups, eps, mean, rstd: group_slope(times(g, channel(y, x)), x, groups, eps, mean, rstd),
    lambda g, x, groups, eps, mean, rstd: per_channel(
        g * reshape(standard(grouped(x, groups), (2,), eps, mean, rstd)[0], x.shape)
    ),
    lambda g: per_channel(g),
)


# --------------------------------------------------------------------------------------------------------- linear

# Like `linear` of the first page, for an input that is no matrix: PyTorch flattens it, and ends with a View.
linear_rows = operation(
    "View",
    kernels.linear,
    lambda g: g,
    lambda g, z: rows_mm(g, z),
    lambda g, y: fold_rows(g).mT @ fold_rows(y),
)

# ------------------------------------------------------------------------------------------------------ embedding

cleared: Any = operation("IndexFill", lambda x, row: _cleared(x, row), lambda g, row: cleared(g, row))
embedding_padded = operation(
    "Embedding",
    lambda x, index, row: x[index],
    lambda g, x_shape, index, row: cleared(put(g, x_shape, (index,)), row),
)


def _cleared(x: Any, row: int) -> Any:
    out = x.copy()
    out[row] = 0
    return out


def _name_the_lines() -> None:
    """Give each operation the name it has in this file, and enter it in the table."""
    for name, function in list(globals().items()):
        made = getattr(function, "operation", None)
        if made is not None and not made.name:
            made.name = function.__name__ = function.__qualname__ = name
            TABLE[name] = made


_name_the_lines()
