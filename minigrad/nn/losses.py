"""Losses: how far an answer is from what was wanted, as one number to make small; and the distances they measure with."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
import warnings
from functools import lru_cache
from typing import Any

import numpy as np

import minigrad as mg
from minigrad import derivatives as table
from minigrad import errors
from minigrad import more_derivatives as more
from minigrad.dtypes import promote_types
from minigrad.nn import rules
from minigrad.nn.activations import logsigmoid
from minigrad.nn.arguments import checked, handing_on
from minigrad.public import as_one_node, floating_input
from minigrad.tape import is_grad_enabled
from minigrad.tensor import Array, Tensor, wrap
from minigrad.versions import noticing

__all__ = (
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss", "cosine_similarity",
    "cross_entropy", "ctc_loss", "gaussian_nll_loss", "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss",
    "margin_ranking_loss", "mse_loss", "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss",
    "nll_loss", "pairwise_distance", "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss",
    "triplet_margin_loss", "triplet_margin_with_distance_loss",
)  # fmt: skip

LONG = np.dtype(np.int64)


@checked
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """x1 . x2 / (|x1| |x2|) along a dimension."""
    if eps < 0:
        raise RuntimeError(f"eps must be non-negative, got: {eps:g}")
    together = promote_types(x1.dtype, x2.dtype)
    if not together.is_floating_point:
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {together.tensor_name}")
    x1, x2 = mg.broadcast_tensors(x1.to(together), x2.to(together))
    first = x1 / x1.norm(2, dim, keepdim=True).clamp_min(eps)
    second = x2 / x2.norm(2, dim, keepdim=True).clamp_min(eps)
    return (first * second).sum(dim)


@checked
def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension."""
    return as_one_node((x1 - x2 + eps).norm(p, -1, keepdim), "NormBackward1")


def legacy(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction that the two old arguments ask for, if they are given."""
    if size_average is None and reduce is None:
        return reduction
    averaged, reduced = size_average is None or bool(size_average), reduce is None or bool(reduce)
    meant = ("mean" if averaged else "sum") if reduced else "none"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{meant}' instead.", stacklevel=3
    )
    return meant


def _check_reduction(reduction: str) -> None:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")


def _reduced(loss: Tensor, reduction: str) -> Tensor:
    _check_reduction(reduction)
    if reduction == "mean":
        return loss.mean()
    return loss.sum() if reduction == "sum" else loss


def _same_shape(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Broadcast both to a common shape, with PyTorch's warning when they differ."""
    if input._data.shape == target._data.shape:
        return input, target
    warnings.warn(
        f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). "
        "This will likely lead to incorrect results due to broadcasting. "
        "Please ensure they have the same size.",
        stacklevel=3,
    )
    first, second = mg.broadcast_tensors(input, target)
    return first, second


def _weighted(loss: Tensor, weight: Tensor) -> Tensor:
    if weight._data.shape != loss._data.shape:
        raise ValueError("Weights and input must have the same size.")
    return loss * weight


def _weighted_mean(loss: Tensor, weight: Tensor, reduction: str) -> Tensor:
    """Reduced; the mean is over all weights."""
    weighted = _weighted(loss, weight)
    return weighted.sum() / weight.sum() if reduction == "mean" else _reduced(weighted, reduction)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The mean (or sum, or each) of (input - target)²."""
    reduction = legacy(size_average, reduce, reduction)
    input, target = _same_shape(input, target)
    _check_reduction(reduction)
    if weight is None:
        return more.mse_loss(input, target, reduction)
    return _weighted_mean(more.mse_loss(input, target, "none"), weight, reduction)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """The mean (or sum, or each) of |input - target|; with `weight`, a number for each, the weighted mean."""
    input, target = _same_shape(input, target)
    reduction = legacy(size_average, reduce, reduction)
    loss = (input - target).abs()
    return _reduced(loss, reduction) if weight is None else _weighted_mean(loss, weight, reduction)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """d² / (2 beta) where |d| < beta, else |d| - beta / 2, for d = input - target."""
    reduction = legacy(size_average, reduce, reduction)
    input, target = _same_shape(input, target)
    if beta == 0.0:
        return _reduced((input - target).abs(), reduction)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    _check_reduction(reduction)
    floating_input("smooth_l1_cpu", input if input._data.dtype.kind == "f" else target)
    return more.smooth_l1_loss(input, target, reduction, float(beta))


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """d² / 2 where |d| <= delta, else delta * (|d| - delta / 2), for d = input - target; times `weight` if given."""
    input, target = _same_shape(input, target)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    _check_reduction(reduction)
    if input._data.dtype.kind != "f" and target._data.dtype.kind == "f":
        names = f"{target.dtype.tensor_name} can't be cast to the desired output type {input.dtype.tensor_name}"
        raise RuntimeError(f"result type {names}")
    floating_input("huber_cpu", input)
    if weight is not None:
        return _reduced(_weighted(more.huber_loss(input, target, "none", delta).to(input.dtype), weight), reduction)
    loss = more.huber_loss(input, target, reduction, delta)
    return loss if loss.dtype is input.dtype else as_one_node(loss.to(input.dtype), "HuberLossBackward0")


def _check_classes(input: Tensor, target: Tensor) -> None:
    have, want = input._data.shape, target._data.shape
    if not have:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if len(have) > 1 and have[:1] != (want[:1] or (1,)):
        batch = want[0] if want else 0
        raise ValueError(f"Expected input batch_size ({have[0]}) to match target batch_size ({batch}).")
    if len(have) <= 2 and len(want) > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target._data.dtype.str[1:] not in ("i8", "u1"):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.tensor_name}")
    if len(have) == len(want) == 1 and want[0] != 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {want[0]}")
    if (len(have) == 1 and len(want) > 1) or (len(have) > 1 and want[1:] != have[2:]):
        if len(have) <= 2:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        raise RuntimeError(f"Expected target size {[have[0], *have[2:]]}, got {list(want)}")


@handing_on("input target weight reduction ignore_index", to="nll_loss_nd")
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log-probability of each target class, weighted mean (or sum, or each).

    `input` are log-probabilities, shape (batch, classes, ...) or (classes,); `target` int64 class numbers, shape
    (batch, ...) or (). Targets equal to `ignore_index` do not count.
    """
    reduction = legacy(size_average, reduce, reduction)
    _check_reduction(reduction)
    floating_input("nll_loss_out_frame", input)
    return _nll(input, target, weight, ignore_index, reduction)


def _nll(input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str) -> Tensor:
    rows, shape, classes = input, input._data.shape, target._data
    if len(shape) != 2 or classes.shape != shape[:1] or classes.dtype != LONG:
        _check_classes(input, target)
        rows = input if len(shape) > 1 else input.reshape((1, -1))
        shape = rows._data.shape
        classes = np.asarray(classes, np.int64).reshape(shape[:1] + shape[2:])
    weights = share = None
    if weight is not None:
        weights = np.asarray(weight._data)
        if weights.shape != shape[1:2]:
            raise RuntimeError(
                f"weight tensor should be defined either for all {shape[1]} classes or no classes "
                f"but got weight tensor of shape: {list(weights.shape)}"
            )
        if weight.dtype is not rows.dtype:
            raise RuntimeError(f"expected scalar type {rows.dtype.tensor_name} but found {weight.dtype.tensor_name}")
    unsigned = classes.view(np.uint64)  # so that negative numbers are too large ones
    if weights is not None or 0 <= ignore_index < shape[1] or (classes.size and np.maximum.reduce(unsigned, None) >= shape[1]):
        classes, share = _shares(classes, shape[1], weights, ignore_index, rows._data.dtype)
    if reduction == "none":
        total = None
    elif reduction == "sum":
        total = 1
    else:
        total = classes.size if share is None else share.sum()
        if not total and share is not None and not share.any() and (target._data != ignore_index).any():
            total = share.dtype.type(math.nan)  # targets there are, but their weights are 0
    if len(shape) == 2:
        loss: Tensor = rules.nll_rows(rows, (_upto(shape[0]), classes), share, total, target)
    else:
        grid = np.ogrid[tuple(map(slice, classes.shape))]
        loss = rules.nll_grid(rows, (grid[0], classes, *grid[1:]), share, total, target)
    if weight is not None:
        noticing(loss, weight)
    if total is None and input._data.ndim == 1:
        return as_one_node(loss.reshape(()), "NllLossBackward0")
    return as_one_node(loss, "ViewBackward0") if total is None and len(shape) not in (2, 4) else loss


@lru_cache(maxsize=16)
def _upto(n: int) -> Array:
    numbers = np.arange(n)
    numbers.flags.writeable = False  # many calls share it
    return numbers


def _shares(classes: Array, count: int, weights: Any, ignore_index: int, dtype: Any) -> tuple[Array, Array]:
    """Valid class numbers (0 where ignored), and the weight of each target (0 where ignored)."""
    counted = classes != ignore_index
    wrong = counted & ((classes < 0) | (classes >= count))
    if wrong.any():
        raise IndexError(f"Target {classes[wrong][0]} is out of bounds.")
    classes = np.where(counted, classes, 0)
    share = counted.astype(dtype)
    return classes, share if weights is None else share * weights[classes]


@handing_on("input target weight reduction ignore_index label_smoothing", to="cross_entropy_loss")
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """nll_loss of log_softmax: input are logits (batch, classes, ...), target class numbers or probabilities.

    With `label_smoothing` s, each target is mixed with s of the uniform distribution.

    >>> torch.nn.functional.cross_entropy(torch.zeros(1, 4), torch.tensor([2]))
    tensor(1.3863)
    """
    if size_average is not None or reduce is not None:
        reduction = legacy(size_average, reduce, reduction)
    _check_reduction(reduction)
    if label_smoothing > 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")
    class_dim = 0 if input._data.ndim == 1 else 1
    if input._data.shape == target._data.shape:
        if target._data.dtype.kind != "f":
            raise RuntimeError(
                f"Expected floating point type for target with class probabilities, got {target.dtype.tensor_name}"
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _soft_cross_entropy(input, target, weight, reduction, label_smoothing, class_dim)
    if input._data.ndim and not target._data.ndim:
        _check_classes(input, target)
    plain = input._data.ndim and input._data.dtype.kind == "f"
    log_probabilities = (table if plain else mg).log_softmax(input, class_dim)
    hard = _nll(log_probabilities, target, weight, ignore_index, reduction)
    if label_smoothing <= 0.0:
        return hard

    scaled = log_probabilities
    if weight is not None:
        scaled = scaled * weight.reshape((-1,) + (1,) * (input.ndim - class_dim - 1))
    smooth = -scaled.sum(class_dim)
    ones = np.asarray(target._data != ignore_index)
    smooth = smooth.masked_fill(wrap(~ones), 0.0)
    if reduction == "mean":
        index = np.where(ones, target._data, 0)
        share = np.asarray(weight._data)[index] * ones if weight is not None else ones
        smooth = smooth.sum() / float(share.sum())
    elif reduction == "sum":
        smooth = smooth.sum()
    return hard * (1 - label_smoothing) + smooth * (label_smoothing / input.shape[class_dim])


def _soft_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, smoothing: float, class_dim: int
) -> Tensor:
    classes = input.size(class_dim)
    if smoothing > 0:
        target = target * (1 - smoothing) + smoothing / classes
    product = mg.log_softmax(input, class_dim) * target
    if weight is not None:
        product = product * weight.reshape((-1,) + (1,) * (input.ndim - class_dim - 1))
    if reduction == "none":
        return -product.sum(class_dim)
    total = -product.sum()
    if reduction != "mean":
        return total
    if not input._data.size:
        return -product.sum().fill_(math.nan)
    count = input._data.size // classes
    return as_one_node(total / count, "DivBackward1")


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """-(y log x + (1 - y) log(1 - x)) for probabilities x, with the logarithms cut off at -100."""
    reduction = legacy(size_average, reduce, reduction)
    _check_reduction(reduction)
    if input.shape != target.shape:
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    if input.dtype is not target.dtype:
        raise RuntimeError(f"Found dtype {target.dtype.tensor_name} but expected {input.dtype.tensor_name}")
    floating_input("binary_cross_entropy", input)
    for name, values in (("input", input._data), ("target", target._data)):
        if values.size and not ((values >= 0) & (values <= 1)).all():
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    if weight is not None:
        together = mg.broadcast_shapes(weight.shape, input.shape)
        if together != input.shape:
            raise RuntimeError(
                f"output with shape {list(input.shape)} doesn't match the broadcast shape {list(together)}"
            )
        weight = weight.to(input.dtype).expand(together)
    return more.bce_loss(input, target, weight, reduction)


@handing_on("input target weight pos_weight reduction")
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """binary_cross_entropy of sigmoid(x), without overflow; `pos_weight` multiplies the losses of targets 1."""
    reduction = legacy(size_average, reduce, reduction)
    _check_reduction(reduction)
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    if pos_weight is not None:
        errors.broadcast_shapes(tuple(pos_weight.shape), tuple(target.shape))
    if target._data.dtype.kind != "f" and input._data.dtype.kind == "f":
        names = f"{input.dtype.tensor_name} can't be cast to the desired output type {target.dtype.tensor_name}"
        raise RuntimeError(f"result type {names}")
    if weight is not None and weight.dtype is not input.dtype is target.dtype:
        weight = weight.to(input.dtype)
    return more.bce_with_logits_loss(input, target, weight, pos_weight, reduction)


@handing_on("input target reduction")
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """target * (log target - input), for log-probabilities `input`; "batchmean" divides the sum by the batch."""
    if input._data.dtype.kind != "f" or target._data.dtype.kind != "f":
        raise RuntimeError("kl_div: Integral inputs not supported.")
    reduction = legacy(size_average, reduce, reduction)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support size."
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
            "'mean' will be changed to behave the same as 'batchmean' in the next major release.",
            stacklevel=2,
        )
    if log_target:
        loss = target.exp() * (target - input)
    else:
        loss = mg.xlogy(target, target) - target * input
    if reduction == "batchmean":
        return loss.sum() / (input.shape[0] if input.ndim else 1)
    return _reduced(loss, reduction)


@handing_on("input target log_input full eps reduction")
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """exp(x) - y x (or, without `log_input`, x - y log x); `full` adds Stirling's approximation of log y!."""
    loss = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + 0.5 * (2 * math.pi * target).log()
        loss = loss + mg.where(target > 1, stirling, mg.zeros_like(stirling))
    return _reduced(loss, legacy(size_average, reduce, reduction))


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """(log var + (input - target)² / var) / 2, with var at least eps."""
    _check_reduction(reduction)
    spread = var if isinstance(var, Tensor) else mg.full_like(input, var)
    if (spread._data < 0).any():
        raise ValueError("var has negative entry/entries")
    if spread.shape != input.shape:
        if spread.shape == input.shape[:-1]:
            spread = spread.unsqueeze(-1)
        elif spread.ndim != input.ndim or sum(a for a, b in zip(spread.shape, input.shape, strict=True) if a != b) != 1:
            raise ValueError("var is of incorrect size")  # one dimension of size 1 may stand for a longer one
    floor = (spread.detach().clamp(min=eps) - spread.detach()) + spread  # the cut-off has no influence on the gradient
    loss = 0.5 * (floor.log() + (input - target) ** 2 / floor)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduced(loss, reduction)


@handing_on("input target reduction")
def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """log(1 + exp(-y x)) for y = 1 or -1."""
    reduction = legacy(size_average, reduce, reduction)
    _check_reduction(reduction)
    together = errors.broadcast_shapes(input._data.shape, target._data.shape)
    if together != input._data.shape:
        raise RuntimeError(
            f"output with shape {list(input._data.shape)} doesn't match the broadcast shape {list(together)}"
        )
    if target.requires_grad and is_grad_enabled():
        raise RuntimeError(
            "The function 'soft_margin_loss' is not differentiable with respect to argument 'target'. This input cannot have "
            "requires_grad True."
        )
    if input._data.dtype.kind != "f":
        raise RuntimeError(f"result type Float can't be cast to the desired output type {input.dtype.tensor_name}")
    return rules.soft_margin_loss(input, target, reduction).to(input.dtype)


@handing_on("input target margin reduction")
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """x where y = 1, max(0, margin - x) where y = -1."""
    zeros = mg.zeros_like(input)
    far = mg.where(target != 1, (margin - input).clamp_min(0), zeros)
    near = mg.where(target != -1, input, zeros)
    return _reduced((far + near).to(input.dtype), legacy(size_average, reduce, reduction))


@handing_on("input1 input2 target margin reduction")
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, -y (x1 - x2) + margin)."""
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    loss = (-target * (input1 - input2) + margin).clamp_min(0)
    return _reduced(loss, legacy(size_average, reduce, reduction))


@handing_on("input1 input2 target margin reduction")
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """1 - cos(x1, x2) where y = 1, max(0, cos(x1, x2) - margin) where y = -1."""
    dim = target.ndim
    if dim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not input1.ndim == input2.ndim == dim + 1:
        raise RuntimeError(
            f"{dim}D target tensor expects {dim + 1}D input tensors, but found inputs with sizes {list(input1.shape)} and "
            f"{list(input2.shape)}."
        )
    dot, first, second = ((a * b).sum(dim) for a, b in ((input1, input2), (input1, input1), (input2, input2)))
    cosine = dot / ((first + 1e-12) * (second + 1e-12)).sqrt()
    zeros = mg.zeros_like(cosine)
    near = mg.where(target == 1, 1 - cosine, zeros)
    far = mg.where(target == -1, (cosine - margin).clamp_min(0), zeros)
    return _reduced(near + far, legacy(size_average, reduce, reduction))


def _check_triplet(anchor: Tensor, positive: Tensor, negative: Tensor) -> None:
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )


@handing_on("anchor positive negative margin p eps swap reduction")
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin)."""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    _check_triplet(anchor, positive, negative)
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = mg.minimum(far, pairwise_distance(positive, negative, p, eps))
    return _reduced((near - far + margin).clamp_min(0), legacy(size_average, reduce, reduction))


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Any = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """`triplet_margin_loss` with a distance of your own."""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    _check_triplet(anchor, positive, negative)
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = mg.minimum(far, distance(positive, negative))
    return _reduced((near - far + margin).clamp_min(0), reduction)


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over the classes of the binary cross-entropy of each."""
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    loss = loss.sum(input.ndim - 1) / input.shape[-1]
    return _reduced(loss, legacy(size_average, reduce, reduction))


_NO_ROWS = "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "


@handing_on("input target p margin weight reduction")
def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over the wrong classes of max(0, margin - x[target] + x[class]) ** p."""
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    reduction = legacy(size_average, reduce, reduction)
    _check_reduction(reduction)
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    rows = input.reshape((1, -1)) if input.ndim < 2 else input
    if rows.ndim != 2 or not rows.shape[1]:
        raise RuntimeError(f"{_NO_ROWS}{list(input.shape)}")
    if input._data.dtype.char not in "fd":
        raise errors.not_implemented("multi_margin_loss_cpu_kernel", input.dtype.tensor_name)
    if target._data.size != len(rows):
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). "
            f"Expected target size [{len(rows)}], but got {list(target.shape)}. Input has shape {list(input.shape)}."
        )
    if target._data.dtype != LONG:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.tensor_name}")
    if np.any((target._data < 0) | (target._data >= rows.shape[1])):
        raise RuntimeError("target out of range")
    if weight is not None and len(weight) != rows.shape[1]:
        raise RuntimeError(f"inconsistent weight size, expected {rows.shape[1]} but got {list(weight.shape)}")
    index = np.asarray(target._data).reshape(-1, 1)
    own = rows.gather(1, wrap(index))
    gap = (margin - own + rows).clamp_min(0)
    if p == 2:
        gap = gap * gap
    if weight is not None:
        gap = gap * wrap(np.asarray(weight._data)[index])
    wrong = np.ones(rows.shape, rows._data.dtype)
    np.put_along_axis(wrong, index, 0, 1)
    loss = (gap * wrap(wrong)).sum(1) / rows.shape[1]
    loss = loss if input.ndim > 1 else loss.reshape(target.shape)
    loss = as_one_node(_reduced(loss, reduction), "MultiMarginLossBackward0")
    return noticing(loss, input, target, *(() if weight is None else (weight,)))


@handing_on("input target reduction")
def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over the classes of max(0, 1 - x[target] + x[class]); a row of `target` ends at its first -1."""
    reduction = legacy(size_average, reduce, reduction)
    _check_reduction(reduction)
    if input.ndim > 2 or 0 in input.shape[-1:]:
        raise RuntimeError(f"{_NO_ROWS}{list(input.shape)}")
    if target.shape != input.shape and (input.ndim > 1 or target._data.size != input._data.size):
        raise RuntimeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    if target._data.dtype != LONG:
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.tensor_name}")
    rows, wanted = (t.reshape((1, -1)) if t.ndim < 2 else t for t in (input, target))
    losses = []
    for row, labels in zip(rows, np.asarray(wanted._data), strict=True):
        own = labels[: np.append(np.flatnonzero(labels == -1), labels.size)[0]]
        others = np.setdiff1d(np.arange(labels.size), own)
        gaps = (1 - row[wrap(own)][:, None] + row[wrap(others)]).clamp_min(0)
        losses.append(gaps.sum() / labels.size)
    loss = mg.stack(losses)
    loss = _reduced(loss if input.ndim > 1 else loss.reshape(()), reduction)
    return noticing(as_one_node(loss, "MultilabelMarginLossBackward0"), input, target)


def _check_ctc_lengths(x: Tensor, labels: Any, steps: Any, sizes: Any, in_one_row: bool) -> None:
    """RuntimeError unless each sequence has a length, and the labels that its length speaks of."""
    where = " (while checking arguments for ctc_loss_allocate_outputs)"
    for name, lengths in (("input_lengths", steps), ("target_lengths", sizes)):
        if lengths.dtype.kind not in "iu" and lengths.size:
            raise RuntimeError(f"{name} must be integral")
        if lengths.size != x.shape[1]:
            raise RuntimeError(f"{name} must be of size batch_size")
        if lengths.size and lengths.min() < 0:
            raise RuntimeError(f"Expected {name} to have value at least 0, but got value {lengths.min()}{where}")
    if steps.size and steps.max() > x.shape[0]:
        raise RuntimeError(
            f"Expected input_lengths to have value at most {x.shape[0]}, but got value {steps.max()}{where}"
        )
    if in_one_row and labels.size != sizes.sum():
        raise RuntimeError(
            f"Expected tensor to have size {sizes.sum()} at dimension 0, but got size {labels.size} for argument #2 "
            f"'targets'{where}"
        )
    if not in_one_row and sizes.size and sizes.max() > labels.shape[-1]:
        raise RuntimeError(
            f"Expected tensor to have size at least {sizes.max()} at dimension 1, but got size {labels.shape[-1]} for "
            f"argument #2 'targets'{where}"
        )


@handing_on("log_probs targets input_lengths target_lengths blank reduction zero_infinity")
def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Minus the log-probability of each labelling, over all its alignments with the steps of its sequence.

    `log_probs` (steps, batch, classes) come from `log_softmax`; `targets` are (batch, longest), or all in one row. The
    gradient is that of the logits behind `log_probs`, as in PyTorch: right after a `log_softmax`, and only there.
    """
    _check_reduction(reduction)
    batched = log_probs.ndim == 3
    x = log_probs if batched else log_probs.unsqueeze(1)
    steps, sizes = (np.asarray(getattr(n, "_data", n)).reshape(-1) for n in (input_lengths, target_lengths))
    labels = np.asarray(targets._data)
    _check_ctc_lengths(x, labels, steps, sizes, labels.ndim == 1 and batched)
    if labels.ndim == 1 and batched:
        rows = np.split(labels, np.cumsum(sizes)[:-1])
    else:
        rows = [row[:n] for row, n in zip(labels.reshape((x.shape[1], -1)), sizes, strict=True)]
    if not 0 <= blank < x.shape[-1]:
        raise RuntimeError("blank must be in label range")
    loss = rules.ctc(x, tuple(rows), tuple(steps.tolist()), blank, zero_infinity)
    loss = loss if batched else loss.squeeze(0)
    if reduction == "mean":
        return (loss / wrap(np.maximum(sizes, 1).astype(x._data.dtype).reshape(loss.shape))).mean()
    return _reduced(loss, reduction)
