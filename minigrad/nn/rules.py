"""The lines of the derivative table that only nn needs: the rest of the losses, and normalisation by channel.

They read like those of derivatives.py: the node's name, the forward function, one rule for each input; a rule's
parameters say what is kept. x, y, z are the inputs, out the result, the rest are settings. Rules run on arrays in a
plain backward pass and on Tensors in one that is differentiated itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import kernels
from minigrad.derivatives import exp, mean_dims, put, reshape, rows_mm, rsqrt
from minigrad.kernels import fold_rows
from minigrad.more_derivatives import odds, per
from minigrad.operations import enter, operation
from minigrad.tensor import Tensor, wrap

# --------------------------------------------------------------------------------------------------------- losses


def _soft_margin(x: Any, y: Any, reduction: str) -> Any:
    values = kernels.log1p(kernels.exp(-y * x))  # infinite far away, as PyTorch's
    if reduction == "none":
        return values
    return values.mean() if reduction == "mean" else np.add.reduce(values, None)


soft_margin_loss = operation(
    "SoftMarginLoss",
    _soft_margin,
    lambda g, x, y, reduction: per(g, x, y, reduction) * -y * odds(exp(-y * x)),
    None,
)

# The negative log-likelihood: `index` picks the entry of each target's class, `share` is the weight of each target
# (None: all 1), and the sum is divided by `total` (None: no sum; nan: only weights of 0). nll_loss and nll_spread are each
# other's transpose.


def _nll(x: Any, index: Any, share: Any, total: Any, target: Any) -> Any:
    losses = x[index] if share is None else x[index] * share
    if total is None:
        return -losses
    if 1 < losses.size <= 16:  # PyTorch adds the first of sixteen last
        whole = np.add.accumulate(losses.reshape(-1)[1:])[-1] + losses.flat[0]
    else:
        whole = np.add.reduce(losses, None)
    return 0.0 - whole / total  # a sum is never -0


def _spread(x: Any, shape: tuple[int, ...], index: Any, share: Any, total: Any) -> Any:
    out = np.zeros(shape, x.dtype)
    each = -x if total is None else -x / total
    if share is not None:  # what is ignored has no slope, also where nothing is left and the total is 0
        each = np.where((share == 0) & (total == total), x.dtype.type(0), each * share)
    out[index] = each
    return out


nll_rows: Any
nll_grid: Any
nll_spread: Any = operation(
    "NllLossBackward",
    _spread,
    lambda g, index, share, total: nll_rows(g, index, share, total, None),
)
nll_rows, nll_grid = (
    operation(
        name,
        _nll,
        lambda g, x, x_shape, index, share, total, target: nll_spread(g, x_shape, index, share, total),  # x is kept
    )
    for name in ("NllLoss", "NllLoss2D")
)


# Connectionist temporal classification: a labelling l is spread over the steps, with blanks between and around its
# labels. alpha[t, s] is the log-probability of all beginnings that stand at place s after step t.


def _places(labels: Any, blank: int) -> tuple[Any, Any]:
    """The labels with blanks around each, and where one may be reached from two places before."""
    path = np.full(2 * len(labels) + 1, blank)
    path[1::2] = labels
    jump = np.zeros(path.size, bool)
    jump[2:] = (path[2:] != blank) & (path[2:] != path[:-2])
    return path, jump


def _beginnings(x: Any, labels: Any, blank: int) -> Any:
    path, jump = _places(labels, blank)
    alpha = np.full((len(x), path.size), -np.inf, x.dtype)
    alpha[0, :2] = x[0, path[:2]]
    for t in range(1, len(x)):
        before = np.concatenate(([-np.inf, -np.inf], alpha[t - 1]))
        near = np.logaddexp(before[2:], before[1:-1])
        alpha[t] = np.logaddexp(near, np.where(jump, before[:-2], -np.inf)) + x[t, path]
    return alpha


def _ctc(x: Any, rows: Any, steps: Any, blank: int, zero_infinity: bool) -> Any:
    losses = np.zeros(x.shape[1], x.dtype)
    for n, (labels, length) in enumerate(zip(rows, steps, strict=True)):
        if length:
            losses[n] = -np.logaddexp.reduce(_beginnings(x[:length, n], labels, blank)[-1, -2:])
        elif len(labels):
            losses[n] = np.inf
    return np.where(np.isinf(losses), 0, losses) if zero_infinity else losses


def _ctc_slope(x: Any, rows: Any, steps: Any, blank: int, zero_infinity: bool) -> Any:
    """The gradient by the logits behind x: each class's probability less the share of the paths that pass there."""
    slope = np.zeros_like(x)
    for n, (labels, length) in enumerate(zip(rows, steps, strict=True)):
        if not length:
            continue
        here = x[:length, n]
        path, _ = _places(labels, blank)
        first = _beginnings(here, labels, blank)
        last = _beginnings(here[::-1], labels[::-1], blank)[::-1, ::-1]
        whole = np.logaddexp.reduce(first[-1, -2:])
        if zero_infinity and np.isinf(whole):
            continue
        shares = np.exp(first + last - here[:, path] - whole)
        slope[:length, n] = np.exp(here)
        for place, label in enumerate(path):
            slope[:length, n, label] -= shares[:, place]
    return slope


def _no_further(name: str) -> Any:
    """Raises: PyTorch stops here, too."""
    raise RuntimeError(f"derivative for aten::{name} is not implemented")


ctc_slope = operation("CtcLossBackward", _ctc_slope, lambda g: _no_further("_ctc_loss_backward"))
ctc = operation(
    "CtcLoss",
    _ctc,
    lambda g, x, rows, steps, blank, zero_infinity: (
        g[:, None] * ctc_slope(x, rows, steps, blank, zero_infinity)
    ),
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


# PyTorch has one rule for all three: whichever is asked for, it keeps x, y and, of a layer, z.
layer_norm_rows = operation(
    "NativeLayerNorm",
    lambda x, y, z, moments: _affine(moments.standard(x), y, z),
    lambda g, x, y, z, moments: moments.slope(times(g, y), x),
    lambda g, x, y, z, moments: g * moments.standard(x),
    lambda g, x, y, z: g,
)
batch_norm_train, group_norm_rows = (
    operation(
        name,
        lambda x, y, z, moments: _affine(moments.standard(x), y, z),
        lambda g, x, y, moments: moments.slope(times(g, y), x),
        lambda g, x, y, moments: g * moments.standard(x),
        lambda g, x, y: g,
    )
    for name in ("NativeBatchNorm", "NativeGroupNorm")
)
batch_norm_eval = operation(
    "NativeBatchNorm",
    lambda x, y, z, mean, rstd: _affine((x - mean) * rstd, y, z),
    lambda g, x, y, rstd: times(g, y) * constant(rstd, x),
    lambda g, x, y, mean, rstd: g * (x - constant(mean, x)) * constant(rstd, x),
    lambda g, x, y: g,
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
    lambda g, x_shape, index, row: cleared(put(g, index, x_shape, (0,)), row),
)


def _cleared(x: Any, row: int) -> Any:
    out = x.copy()
    out[row] = 0
    return out


enter(globals())
