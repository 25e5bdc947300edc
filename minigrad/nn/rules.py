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
from minigrad.derivatives import mean_dims, put, reshape, rows_mm, rsqrt, sigmoid
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
    return -losses if total is None else 0.0 - np.add.reduce(losses, None) / total  # a sum is never -0


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

# A normalisation subtracts a mean and divides by a standard deviation, both functions of x, then scales and shifts:
# y is the weight and z the bias, either may be None, with shapes that broadcast to that of x.


class Moments:
    """Mean and 1 / sqrt(variance + eps) over some dimensions, kept as size 1, after a reshape if one is given.

    They and the normalised numbers are remembered for the array they were first computed of, so that a backward pass
    need not do it again.
    """

    def __init__(self, x: Any, dims: tuple[int, ...], eps: float, shape: tuple[int, ...] | None = None) -> None:
        self.dims, self.eps, self.shape, self.x = dims, eps, shape, x
        self.mean, self.rstd, self.variance, self.normal = kernels.statistics(self.arranged(x), dims, eps)

    def arranged(self, x: Any) -> Any:
        return x if self.shape is None else reshape(x, self.shape)

    def of(self, x: Any) -> tuple[Any, Any]:
        """The mean and 1 / standard deviation of x (arranged): arrays for an array, Tensors for a Tensor."""
        if x is self.x:
            return self.mean, self.rstd
        x = self.arranged(x)
        if not isinstance(x, Tensor):
            return kernels.statistics(x, self.dims, self.eps)[:2]
        mean = mean_dims(x, self.dims, True)
        return mean, rsqrt(mean_dims((x - mean) * (x - mean), self.dims, True) + self.eps)

    def normalised(self, x: Any) -> Any:
        """x (arranged) with mean 0 and variance 1."""
        if x is self.x:
            return self.normal
        mean, rstd = self.of(x)
        return (self.arranged(x) - mean) * rstd

    def standard(self, x: Any) -> Any:
        """x with mean 0 and variance 1."""
        normal = self.normalised(x)
        return normal if self.shape is None else reshape(normal, x.shape)

    def slope(self, g: Any, x: Any) -> Any:
        """The gradient through `standard`: g without its mean and without its part along the result."""
        rstd, normal, g = self.of(x)[1], self.normalised(x), self.arranged(g)
        along = mean_dims(g, self.dims, True) + normal * mean_dims(g * normal, self.dims, True)
        return reshape((g - along) * rstd, x.shape)


def times(g: Any, weight: Any) -> Any:
    """g * weight, where no weight counts as 1."""
    return g if weight is None else g * weight


def _affine(x: Any, y: Any, z: Any) -> Any:
    if y is None and z is None:
        return x.copy()  # the moments remember x itself, and the result may be written to
    x = times(x, y)
    return x if z is None else x + z


layer_norm_rows, batch_norm_train, group_norm_rows = (
    operation(
        name,
        lambda x, y, z, moments: _affine(moments.standard(x), y, z),
        lambda g, x, y, moments: moments.slope(times(g, y), x),
        lambda g, x, moments: g * moments.standard(x),
        lambda g: g,
    )
    for name in ("NativeLayerNorm", "NativeBatchNorm", "NativeGroupNorm")
)
batch_norm_eval = operation(
    "NativeBatchNorm",
    lambda x, y, z, mean, rstd: _affine((x - mean) * rstd, y, z),
    lambda g, x, y, rstd: times(g, y) * constant(rstd, x),
    lambda g, x, mean, rstd: g * (x - constant(mean, x)) * constant(rstd, x),
    lambda g: g,
)


def constant(array: Any, like: Any) -> Any:
    """An array among arrays, a Tensor among Tensors."""
    return wrap(array) if isinstance(like, Tensor) else array


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
