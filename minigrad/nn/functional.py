"""Functions of neural networks, `torch.nn.functional`.

Layers call these functions with their parameters.  The losses stand at the
end.  Images have the shape (batch, channels, height, width), or no batch.
"""

# mypy: disable-error-code="no-any-return"
# (operations of the table are typed Any)

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import derivatives as table
from .. import dtypes, errors, kernels
from ..errors import at_least, check
from ..kernels import Windows, pair
from ..operation import public
from ..ops import random
from ..ops.creation import ones
from ..ops.elementwise import sigmoid as sigmoid
from ..ops.elementwise import tanh as tanh
from ..ops.reductions import soft
from ..ops.shapes import broadcast_tensors
from ..tensor import Tensor, wrap
from ..views import in_place

# ----------------------------------------------------------------- activations


@public
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0).  The derivative at 0 is 0."""
    return _relu_(input) if inplace else table.relu(input)


@public
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where it is positive, negative_slope * x elsewhere."""
    function = _leaky_relu_ if inplace else table.leaky_relu
    return function(input, negative_slope)


_relu_, _leaky_relu_ = in_place(table.relu, table.leaky_relu)


@public
def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """x times the probability that a normal number is below x.

    approximate="tanh" takes a formula with tanh for that probability.
    """
    check(approximate in ("none", "tanh"), "approximate argument must be either none or tanh.")
    return table.gelu(input, approximate)


@public
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold."""
    return table.softplus(input, beta, threshold)


@public
def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(x)), without overflow."""
    return table.logsigmoid(input)


@public
def softmax(input: Tensor, dim: int | None = None, *, dtype: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along a dimension."""
    return soft(table.softmax, input, _chosen_dim("softmax", input, dim), dtype)


@public
def log_softmax(input: Tensor, dim: int | None = None, *, dtype: Any = None) -> Tensor:
    """log(softmax(x)), without overflow."""
    return soft(table.log_softmax, input, _chosen_dim("log_softmax", input, dim), dtype)


def _chosen_dim(name: str, input: Tensor, dim: int | None) -> int:
    """The dimension given, or, with a warning, PyTorch's choice."""
    if dim is not None:
        return dim
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated.", stacklevel=4)
    return 0 if input.ndim in (0, 1, 3) else 1


# ---------------------------------------------------------------------- layers


@public
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x @ weight.T + bias: (..., in) to (..., out), weight (out, in)."""
    if bias is None:
        return input @ weight.t()
    x, w, b = input._data, weight._data, bias._data
    fits = w.ndim == 2 and x.shape[-1:] == w.shape[1:] and b.shape == w.shape[:1]
    if fits and b.dtype is x.dtype is w.dtype:
        return (table.linear if x.ndim == 2 else table.linear_nd)(bias, input, weight)
    kinds = f"{input.dtype.tensor_name} and {weight.dtype.tensor_name}"
    check(x.dtype is w.dtype, f"mat1 and mat2 must have the same dtype, but got {kinds}")
    check(w.ndim != 1 or not b.ndim, "mat2 must be a matrix, got 1-D tensor")
    return input @ weight.t() + bias


@public
def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """The rows of `weight` that integers name: (...) to (..., columns).

    The row `padding_idx` gets no gradient.  IndexError beyond the last row.
    """
    check(weight.ndim == 2, "'weight' must be 2-D")
    rows = weight.shape[0]
    index = np.asarray(input._data)
    words = "Expected tensor for argument #1 'indices' to have one of the following scalar types"
    whole = index.dtype in (np.int64, np.int32)
    check(whole, f"{words}: Long, Int; but got {input.type()} instead")
    if index.size and not 0 <= index.min() <= index.max() < rows:
        raise IndexError("index out of range in self")
    padding = -1 if padding_idx is None else padding_idx % rows
    return table.embedding(weight, input, padding)


@public
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zeros with probability p, the others divided by 1 - p.

    Not in training: x itself.  ValueError unless 0 <= p <= 1.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0 or input.numel() == 0:
        return input
    drawn = random.default_generator.uniform(input.shape, kind=np.float64) < 1 - p
    noise = drawn / (1 - p) if p < 1 else np.zeros(input.shape)
    mask = wrap(noise.astype(input._data.dtype)[()])
    return input.mul_(mask) if inplace else table.mul(input, mask)


@public
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / std over the last dimensions, times weight, plus bias.

    RuntimeError unless the last dimensions are `normalized_shape`.
    """
    shape = tuple(normalized_shape)
    first = input.ndim - len(shape)
    if not shape or input.shape[max(first, 0) :] != shape:
        stars = "".join(f", {n}" for n in shape)
        words = f"Given normalized_shape={list(shape)}, expected input with shape [*{stars}]"
        raise RuntimeError(f"{words}, but got input of size{list(input.shape)}")
    _check_types(input, weight, bias)
    dims = tuple(range(first, input.ndim))
    stats = table.moments(input._data, dims, eps)
    return table.layer_norm(input, _or(weight, 1.0), _or(bias, 0.0), stats)


@public
def batch_norm(
    input: Tensor, running_mean: Tensor | None, running_var: Tensor | None,
    weight: Tensor | None = None, bias: Tensor | None = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / std of each channel (dimension 1), times weight, plus bias.

    In training over the batch, and the running statistics move by `momentum`
    towards those of the batch.  Else with the running statistics.
    """
    if not input.numel():
        return input.clone()
    at_least(2, input.ndim, "batch_norm expects at least 2 dimensions, but got {}")
    _check_types(input, weight, bias, running_mean, running_var)
    for name, t in (("running_mean", running_mean), ("weight", weight)):
        if t is not None and t.numel() != input.shape[1]:
            raise RuntimeError(f"{name} should contain {input.shape[1]} elements not {t.numel()}")
    shape = (-1,) + (1,) * (input.ndim - 2)
    given: tuple[Any, ...] = weight, bias, running_mean, running_var
    y, z, u, v = (t if t is None or input.ndim == 2 else t.reshape(shape) for t in given)
    y, z = _or(y, 1.0), _or(z, 0.0)
    if not training:
        return (input - u) * (v + eps).rsqrt() * y + z
    dims = (0, *range(2, input.ndim))
    if math.prod(input.shape[d] for d in dims) == 1:
        words = "Expected more than 1 value per channel when training"
        raise ValueError(f"{words}, got input size {input.size()}")
    x = input._data
    if running_mean is not None and running_var is not None:
        _move(running_mean, x.mean(dims), momentum)
        _move(running_var, x.var(dims, ddof=1), momentum)
    return table.batch_norm(input, y, z, table.moments(x, dims, eps))


def _move(running: Tensor, towards: Any, momentum: float) -> None:
    """Move the numbers towards others; in PyTorch, too, that is no write."""
    array = running._writable()
    array *= 1 - momentum
    array += momentum * towards


def _or(tensor: Any, number: float) -> Any:
    return number if tensor is None else tensor


def _check_types(input: Tensor, *parameters: Tensor | None) -> None:
    errors.floats_only("LayerNormKernelImpl", input.dtype)
    alike = all(p.dtype is input.dtype for p in parameters if p is not None)
    check(alike, "mixed dtype (CPU): expect parameter to have scalar type of Float")


@public
def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """x divided by its p-norm along a dimension, which counts as eps or more."""
    return input / input.norm(p, dim, True).clamp_min(eps).expand_as(input)


@public
def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Integers to rows of zeros with a single 1: (...) to (..., num_classes).

    -1 takes as many classes as the largest integer needs.
    """
    check(tensor.dtype is dtypes.int64, "one_hot is only applicable to index tensor of type LongTensor.")
    index = np.asarray(tensor._data)
    check(index.size or num_classes > 0, "Can not infer total number of classes from empty tensor.")
    largest = int(index.max(initial=-1))
    check(index.min(initial=0) >= 0, "Class values must be non-negative.")
    if num_classes == -1:
        num_classes = largest + 1
    check(largest < num_classes, "Class values must be smaller than num_classes.")
    return wrap(np.eye(num_classes, dtype=np.int64)[index])


@public
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
) -> Tensor:
    """softmax(q @ k.T * scale + mask) @ v.

    q has the shape (..., L, E), k (..., S, E), v (..., S, Ev).  A boolean mask
    says what may be looked at, another one is added to the scores.
    `is_causal`: position i looks at 0 ... i.
    """
    enough = min(query.ndim, key.ndim, value.ndim) > 1
    check(enough, "Expected query, key, and value to all be at least 2 dimensional")
    scale = 1 / math.sqrt(query.shape[-1] or 1) if scale is None else scale
    scores = (query * scale) @ key.transpose(-2, -1)
    if is_causal:
        size = query.shape[-2], key.shape[-2]
        attn_mask = ones(size, dtype=dtypes.bool_).tril()
    if attn_mask is not None and attn_mask.dtype is dtypes.bool_:
        scores = scores.masked_fill(~attn_mask, -math.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    return dropout(scores.softmax(-1), dropout_p) @ value


# ---------------------------------------------------------------------- images


def _windows(kernel: Any, stride: Any, padding: Any, dilation: Any = 1) -> Windows:
    if stride is None:
        stride = kernel
    return Windows(pair(kernel), pair(stride), pair(padding), pair(dilation))


def _batched(input: Tensor, refusal: str) -> Tensor:
    """The images with a batch dimension."""
    check(input.ndim in (3, 4), refusal.format(list(input.shape)))
    return input if input.ndim == 4 else input.unsqueeze(0)


def _as_given(input: Tensor, out: Tensor) -> Tensor:
    """The result for images without a batch dimension has none either."""
    return out if input.ndim == 4 else out.squeeze(0)


@public
def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Cross-correlation of images with weights.

    (N, in, H, W), weight (out, in / groups, kh, kw) to (N, out, H', W').
    padding "same" keeps the size of the images, "valid" is no padding.
    """
    check(weight.ndim == 4, f"minigrad leaves out weights of {weight.ndim} dimensions")
    x = _batched(input, "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: {}")
    kernel = weight.shape[2:]
    if padding == "same":
        spans = [d * (k - 1) for d, k in zip(pair(dilation), kernel)]
        check(pair(stride) == (1, 1), "padding='same' is not supported for strided convolutions")
        padding = tuple(s // 2 for s in spans)
        odd = [s % 2 for s in spans]
        # one more on the right and at the bottom
        if any(odd):
            x = pad(x, (0, odd[1], 0, odd[0]))
    windows = _windows(kernel, stride, 0 if padding == "valid" else padding, dilation)
    _check_conv(x, weight, bias, windows, groups)
    return _as_given(input, table.conv2d(x, weight, bias, windows, groups))


def _check_conv(x: Tensor, weight: Tensor, bias: Any, windows: Windows, groups: int) -> None:
    check(min(windows.stride) > 0, "non-positive stride is not supported")
    check(min(windows.padding) >= 0, "negative padding is not supported")
    check(min(windows.dilation) > 0, "dilation should be greater than zero")
    check(groups > 0, "non-positive groups is not supported")
    size, given = list(weight.shape), list(x.shape)
    check(size[0] % groups == 0, f"Given groups={groups}, expected weight to be divisible by it")
    wanted = f"expected input{given} to have {size[1] * groups} channels"
    words = f"Given groups={groups}, weight of size {size}, {wanted}"
    check(given[1] == size[1] * groups, f"{words}, but got {given[1]} channels instead")
    if bias is not None and bias.dtype is not x.dtype:
        kinds = f"Input type ({x.dtype.c_name}) and bias type ({bias.dtype.c_name})"
        raise RuntimeError(f"{kinds} should be the same")
    if min(windows.counts(x.shape[2:])) < 1:
        edges = zip(x.shape[2:], windows.padding)
        padded = " x ".join(str(n + 2 * p) for n, p in edges)
        reach = zip(windows.dilation, windows.kernel)
        kernel = " x ".join(str(d * (k - 1) + 1) for d, k in reach)
        sizes = f"Calculated padded input size per channel: ({padded}). Kernel size: ({kernel})."
        raise RuntimeError(f"{sizes} Kernel size can't be greater than actual input size")


IMAGES = "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:{}"


def _pooled(input: Tensor, windows: Windows) -> Tensor:
    """The input of pooling with a batch dimension, checked."""
    check(min(windows.stride) > 0, "stride should not be zero")
    for k, p, d in zip(windows.kernel, windows.padding, windows.dilation):
        at_least(0, p, "pad must be non-negative, but got pad: {}")
        half = (d * (k - 1) + 1) // 2
        check(p <= half, "pad should be at most half of effective kernel size")
    x = _batched(input, IMAGES)
    counts = windows.counts(x.shape[2:])
    if min(counts) < 1:
        channels = x.shape[1]
        before, after = (f"({channels}x{height}x{width})" for height, width in (x.shape[2:], counts))
        raise RuntimeError(f"Given input size: {before}. Calculated output size: {after}. Output size is too small")
    return x


@public
def max_pool2d(
    input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
) -> Tensor:
    """The largest element of each window; stride None is the kernel's size."""
    windows = _windows(kernel_size, stride, padding, dilation)
    x = _pooled(input, windows)
    places = kernels.largest_places(x._data, windows)
    return _as_given(input, table.max_pool2d(x, places, (0, 1, 2, 3)))


@public
def avg_pool2d(input: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0) -> Tensor:
    """The mean of each window; stride None is the kernel's size."""
    errors.check_dim(-3, input.ndim)
    windows = _windows(kernel_size, stride, padding)
    x = _pooled(input, windows)
    return _as_given(input, table.avg_pool2d(x, windows))


@public
def unfold(
    input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1,
) -> Tensor:
    """Each window as a column: (N, C, H, W) to (N, C * kh * kw, windows)."""
    windows = _windows(kernel_size, stride, padding, dilation)
    check(min(windows.kernel) > 0, f"kernel size should be greater than zero, but got {windows.kernel}")
    errors.check_dim(-3, input.ndim)
    x = _batched(input, IMAGES)
    check(min(windows.stride) > 0, "stride should be greater than zero")
    given = f"Given input with spatial size {tuple(x.shape[2:])}, kernel_size={windows.kernel}"
    check(min(windows.counts(x.shape[2:])) > 0, given)
    return _as_given(input, table.unfold(x, windows))


@public
def pad(
    input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None,
) -> Tensor:
    """Elements around the last dimensions; negative widths cut off.

    `pad` says how many before and after the last dimension, before and after
    the one before it, and so on.  NotImplementedError unless "constant".
    """
    if mode != "constant":
        raise NotImplementedError(f"minigrad leaves out mode={mode!r}")
    check(len(pad) % 2 == 0, "Padding length must be divisible by 2")
    n = len(pad) // 2
    words = "Padding length should be less than or equal to two times the input dimension"
    check(n <= input.ndim, words)
    pairs = [(pad[2 * i], pad[2 * i + 1]) for i in reversed(range(n))]
    widths = ((0, 0),) * (input.ndim - n) + tuple(pairs)
    for size, width in zip(input.shape, widths):
        rest = size + min(*width, sum(width))
        check(rest >= 0, "narrow(): length must be non-negative.")
    return table.pad(input, widths, 0.0 if value is None else value)


# ---------------------------------------------------------------------- losses


INT64 = np.dtype(np.int64)


def _check_reduction(reduction: str) -> None:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")


def _reduced(loss: Tensor, reduction: str) -> Tensor:
    if reduction == "mean":
        return loss.mean()
    return loss.sum() if reduction == "sum" else loss


def _same_shape(input: Tensor, target: Tensor, reduction: str) -> tuple[Tensor, Tensor]:
    """Both in their common shape, with PyTorch's warning where they differ."""
    _check_reduction(reduction)
    if input._data.shape == target._data.shape:
        return input, target
    warnings.warn(
        f"Using a target size ({target.size()}) that is different to the input size ({input.size()}). "
        "This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
        stacklevel=4,
    )
    first, second = broadcast_tensors(input, target)
    return first, second


@public
def mse_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """The mean (or the sum, or each) of (input - target)²."""
    input, target = _same_shape(input, target, reduction)
    return table.mse_loss(input, target, reduction)


@public
def l1_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """The mean (or the sum, or each) of |input - target|."""
    input, target = _same_shape(input, target, reduction)
    return _reduced((input - target).abs(), reduction)


@public
def smooth_l1_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", beta: float = 1.0,
) -> Tensor:
    """d² / (2 beta) where |d| < beta, else |d| - beta / 2.

    d is input - target; beta 0 gives `l1_loss`.
    """
    if at_least(0, beta, "smooth_l1_loss does not support negative values for beta.") == 0:
        return l1_loss(input, target, reduction=reduction)
    input, target = _same_shape(input, target, reduction)
    return table.smooth_l1_loss(input, target, reduction, beta)


@public
def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """d² / 2 where |d| <= delta, else delta * (|d| - delta / 2).

    d is input - target.
    """
    check(delta > 0, "huber_loss does not support non-positive values for delta.")
    input, target = _same_shape(input, target, reduction)
    return table.huber_loss(input, target, reduction, delta)


@public
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """`nll_loss` of `log_softmax`: what a classifier minimises.

    input: logits, (batch, classes, ...) or (classes,).  target: the number of
    each one's class, or the probabilities of the classes.  label_smoothing
    mixes each target with so much of the uniform distribution.

    >>> logits, target = torch.zeros(1, 4), torch.tensor([2])
    >>> torch.nn.functional.cross_entropy(logits, target)
    tensor(1.3863)
    """
    _check_reduction(reduction)
    check(0 <= label_smoothing <= 1, "label_smoothing must be between 0.0 and 1.0.")
    dim = errors.check_dim(int(input._data.ndim != 1), input._data.ndim)
    if input._data.shape == target._data.shape:
        return _soft(input, target, weight, reduction, label_smoothing, dim)
    logs = table.log_softmax(input, (dim,))
    loss = _nll(logs, target, weight, ignore_index, reduction)
    if not label_smoothing:
        return loss
    classes = wrap(np.where(target._data == ignore_index, 0, target._data))
    counted = (target != ignore_index).to(input.dtype)
    if weight is not None:
        logs = logs * _along(weight, input, dim)
    smooth = -logs.sum(dim) * counted
    weights = counted if weight is None else counted * weight[classes]
    smooth = smooth.sum() / weights.sum() if reduction == "mean" else _reduced(smooth, reduction)
    part = label_smoothing / input.shape[dim]
    return loss * (1 - label_smoothing) + smooth * part


def _soft(input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, smoothing: float, dim: int) -> Tensor:
    """`cross_entropy` with the probabilities of the classes as targets."""
    words = f"Expected floating point type for target with class probabilities, got {target.dtype.tensor_name}"
    check(target.is_floating_point(), words)
    classes = input.shape[dim]
    if smoothing:
        target = target * (1 - smoothing) + smoothing / classes
    product = table.log_softmax(input, (dim,)) * target
    if weight is not None:
        product = product * _along(weight, input, dim)
    if reduction == "none":
        return -product.sum(dim)
    total = product.sum()
    if reduction == "mean" and not input.numel():
        return -total.fill_(math.nan)
    return -total if reduction == "sum" else -total / (input.numel() // classes)


def _along(weight: Tensor, input: Tensor, dim: int) -> Tensor:
    """The weights of the classes, for products with the input."""
    return weight.reshape((-1,) + (1,) * (input.ndim - dim - 1))


@public
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """Minus the log-probability of each target's class.

    input: log-probabilities, (batch, classes, ...) or (classes,); target:
    int64 numbers of classes, (batch, ...) or ().  The mean is weighted with
    the `weight` of each class.  Targets that are `ignore_index` do not count.
    """
    _check_reduction(reduction)
    return _nll(input, target, weight, ignore_index, reduction)


def _nll(input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int, reduction: str) -> Tensor:
    have, classes = input._data.shape, target._data
    fitting = have[:1] + have[2:] if len(have) > 1 else ()
    if not have or classes.shape != fitting or classes.dtype is not INT64:
        raise _wrong_target(have, classes.shape, target)
    if len(have) == 1:
        loss = _nll(input.unsqueeze(0), target.reshape(1), weight, ignore_index, reduction)
        return loss.squeeze(0) if reduction == "none" else loss
    row, number = table.nll_loss if len(have) == 2 else table.nll_loss2d, have[1]
    # so that negative numbers are the largest
    unsigned = classes.view(np.uint64)
    all_count = weight is None and classes.size and not 0 <= ignore_index < number
    if all_count and unsigned.item(unsigned.argmax()) < number:
        total = {"mean": classes.size, "sum": 1}.get(reduction)
        return row(input, target, None, total)
    counted = classes != ignore_index
    wrong = classes[((classes < 0) | (classes >= number)) & counted]
    if wrong.size:
        raise IndexError(f"Target {wrong[0]} is out of bounds.")
    classes = np.where(counted, classes, 0)
    weights = counted.astype(input._data.dtype)
    if weight is not None:
        words = f"weight tensor should be defined either for all {number} classes or no classes"
        check(weight.shape == (number,), words)
        weights *= weight._data[classes]
    total = {"mean": weights.sum(), "sum": 1}.get(reduction)
    return row(input, wrap(classes), weights, total)


def _wrong_target(have: Any, want: Any, target: Tensor) -> Exception:
    """What does not fit in a target for an input of the shape `have`."""
    if not have:
        return ValueError("Expected 1 or more dimensions (got 0)")
    if have[:1] != want[:1] and len(have) > 1:
        batch = want[0] if want else 0
        return ValueError(f"Expected input batch_size ({have[0]}) to match target batch_size ({batch}).")
    if len(have) <= 2 and len(want) > 1:
        return RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target._data.dtype is not INT64:
        return RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.tensor_name}")
    if len(have) == 1:
        return ValueError(f"For 1D input, 1D target must have size 1, but got target size: {want[0]}")
    return RuntimeError(f"Expected target size {[*have[:1], *have[2:]]}, got {list(want)}")


@public
def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, *, reduction: str = "mean"
) -> Tensor:
    """-(y log x + (1 - y) log(1 - x)) for probabilities x and targets y.

    The logarithms count as -100 at least.
    """
    _check_reduction(reduction)
    if input.shape != target.shape:
        sizes = f"Using a target size ({target.size()}) that is different to the input size ({input.size()})"
        raise ValueError(f"{sizes} is deprecated. Please ensure they have the same size.")
    words = f"Found dtype {target.dtype.tensor_name} but expected {input.dtype.tensor_name}"
    check(input.dtype is target.dtype, words)
    errors.floats_only("binary_cross_entropy", input.dtype)
    for name, x in (("input", input._data), ("target", target._data)):
        check(((x >= 0) & (x <= 1)).all(), f"all elements of {name} should be between 0 and 1")
    return table.bce_loss(input, target, weight, reduction)


@public
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`binary_cross_entropy` of sigmoid(x), without overflow.

    `pos_weight` multiplies the loss of the targets that are 1.
    """
    _check_reduction(reduction)
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    errors.floats_only("log_sigmoid_cpu", input.dtype)
    kinds = input.dtype.tensor_name, target.dtype.tensor_name
    check(target.is_floating_point(), errors.OUTPUT_DTYPE.format(*kinds))
    row = table.bce_with_logits_loss
    return row(input, target, weight, pos_weight, reduction)


errors.namespace(__name__, "sigmoid", "tanh")
