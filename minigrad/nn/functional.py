"""Functions of neural networks (`torch.nn.functional`): activations, layers, losses without a module around them.

Most are one operation of the derivative table with PyTorch's name, arguments and checks in front; the rest are
composed of such operations. What PyTorch also offers at top level (`relu`, `softmax`, `conv2d`, ...) is the same
function here.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

import minigrad as mg
from minigrad import derivatives as table
from minigrad import errors, layers, products, random
from minigrad import more_derivatives as more
from minigrad.dtypes import promote_types
from minigrad.inplace import write
from minigrad.kernels import largest
from minigrad.nn import rules
from minigrad.public import accepting_out, as_one_node, floating_input, told
from minigrad.tape import is_grad_enabled
from minigrad.tensor import Tensor, wrap

Array = Any
LONG = np.dtype(np.int64)

# ---------------------------------------------------------------------------------------------------- activations


def _applied(operation: Callable[..., Any], input: Tensor, inplace: bool, *settings: Any) -> Tensor:
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor(operation.__name__.strip("_"), "input", 1, input)
    settings = tuple(s.item() if isinstance(s, np.generic) else s for s in settings)
    return write(input, operation, *settings) if inplace else operation(input, *settings)


def _check_tensors(own: str, *arguments: Any) -> None:
    """TypeError for what is neither a tensor nor, after the first, None."""
    names = ("x1", "x2") if own == "pairwise_distance" else ("input", "target", "weight", "bias")
    for place, (name, value) in enumerate(zip(names, arguments, strict=False)):
        if not isinstance(value, Tensor) and (value is not None or place == 0):
            raise errors.must_be_tensor(own, name, place + 1, value)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0); the slope at 0 is 0."""
    return _applied(table.relu, input, inplace)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x cut to 0 ... 6."""
    return hardtanh(input, 0.0, 6.0, inplace)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x cut to min_val ... max_val."""
    if input._data.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _applied(more.hardtanh, input, inplace, min_val, max_val)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where positive, negative_slope * x elsewhere."""
    return _applied(more.leaky_relu, input, inplace, negative_slope)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where positive, alpha * (exp(x) - 1) elsewhere."""
    return _applied(more.elu, input, inplace, alpha, 1.0, 1.0)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """ELU with the two constants that keep mean 0 and variance 1."""
    return _applied(more.elu, input, inplace, 1.6732632423543772, 1.0507009873554805, 1.0)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where positive, alpha * (exp(x / alpha) - 1) elsewhere."""
    return _applied(more.celu, input, inplace, alpha)


def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """x times the probability that a normal number is below x; `approximate="tanh"` for the formula with tanh."""
    _check_tensors("gelu", input)
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return more.gelu(input, approximate)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x)."""
    return _applied(more.silu, input, inplace)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x))."""
    return _applied(more.mish, input, inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * hardsigmoid(x)."""
    return _applied(more.hardswish, input, inplace)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """x / 6 + 1/2 cut to 0 ... 1."""
    return _applied(more.hardsigmoid, input, inplace)


def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x exceeds the threshold."""
    _check_tensors("softplus", input)
    return more.softplus(input, beta, threshold)


def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(x)), without overflow."""
    return more.logsigmoid(input)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return input - input.tanh()


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x moved towards 0 by lambd, and 0 where that crosses 0."""
    if lambd < 0:
        most = np.finfo(input._data.dtype).max
        raise RuntimeError(
            f"lambda must be in range [0, {most:g}] for input dtype {input.dtype.tensor_name}, but found {lambd:g}"
        )
    return more.softshrink(input, lambd)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x where |x| > lambd, else 0."""
    return more.hardshrink(input, lambd)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where x > threshold, else value."""
    return _applied(more.threshold, input, inplace, threshold, value)


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """x where positive, weight * x elsewhere; one weight, or one for each channel (dimension 1)."""
    if weight.numel() != 1:
        if input.ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if input.ndim >= 2 else 1
        if channels != weight.numel():
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.numel()} "
                f"and channel size = {channels}."
            )
    if weight.dtype is not input.dtype:
        names = f"{input.dtype.tensor_name} and {weight.dtype.tensor_name}"
        raise RuntimeError(f"prelu: Type promoting not supported. Got {names}")
    if weight.ndim > 1:
        raise RuntimeError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}")
    if weight.ndim > 0 and input.ndim != 1:
        weight = weight.reshape((-1,) + (1,) * (input.ndim - 2) if input.ndim > 1 else ())
    return more.prelu(input, weight)


def rrelu(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """x where positive, else x times a random slope (training) or the mean of the two bounds."""
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if not training:
        return as_one_node(leaky_relu(input, (lower + upper) / 2, inplace), "RreluWithNoiseBackward0")
    negative = np.asarray(input._data <= 0)
    slopes = np.ones(negative.shape, input._data.dtype)
    low, high = (float(slopes.dtype.type(bound)) for bound in (lower, upper))
    slopes[negative] = random.default_generator.uniform((int(negative.sum()),), low, high, np.dtype(np.float64))
    return as_one_node(_applied(table.mul, input, inplace, wrap(slopes)), "RreluWithNoiseBackward0")


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of a dimension times the sigmoid of the second half."""
    if input.ndim == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    where = errors.check_dim(dim, input.ndim)
    if input.shape[where] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {where} is size {input.shape[where]}")
    first, second = input.chunk(2, dim)
    return as_one_node(first * second.sigmoid(), "GluBackward0")


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return table.tanh(input)


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    _check_tensors("sigmoid", input)
    return table.sigmoid(input)


def _softmax_dim(name: str, ndim: int) -> int:
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=3,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along a dimension."""
    return mg.softmax(input, _softmax_dim("softmax", input.ndim) if dim is None else dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """log(softmax(x)), without overflow."""
    return mg.log_softmax(input, _softmax_dim("log_softmax", input.ndim) if dim is None else dim, dtype=dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """softmax(-x)."""
    return mg.softmax(-input, _softmax_dim("softmin", input.ndim) if dim is None else dim, dtype=dtype)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A random sample that is nearly (or, with `hard`, exactly) one-hot, with softmax's gradient."""
    noise = random.default_generator.exponential(logits.shape, dtype=logits._data.dtype)
    soft = mg.softmax((logits + wrap(-np.log(noise))) / tau, dim)
    if not hard:
        return soft
    chosen = np.zeros_like(soft._data)
    np.put_along_axis(chosen, np.expand_dims(soft._data.argmax(dim), dim), 1, dim)
    return wrap(chosen) - soft.detach() + soft


# --------------------------------------------------------------------------------------------------------- linear


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x @ weight.T + bias, for x of shape (..., in), weight (out, in) and bias (out)."""
    if bias is None or weight.ndim != 2:
        _check_linear(input, weight, bias)
        out = input.matmul(weight.t() if weight.ndim == 2 else weight)
        return out if bias is None else out + bias
    if not isinstance(bias, Tensor):
        raise errors.must_be_tensor("linear", "bias", 3, bias)
    x, w, b = input._data, weight._data, bias._data
    if not (b.dtype is x.dtype is w.dtype and x.shape[-1:] == w.shape[1:] and b.shape == w.shape[:1]):
        _check_linear(input, weight, bias)
    return (table.linear if len(x.shape) == 2 else rules.linear_rows)(bias, input, weight)


def _check_linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    """RuntimeError for what `linear` does not take, in PyTorch's order."""
    size, sizes = input._data.shape, weight._data.shape
    if not (size and sizes):
        raise RuntimeError(f"both arguments to linear need to be at least 1D, but they are {len(size)}D and {len(sizes)}D")
    if len(sizes) > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {len(sizes)}D")
    if bias is None:
        return
    if len(sizes) == 1 and len(size) == 2:
        raise RuntimeError("mat2 must be a matrix, got 1-D tensor")
    errors.check_addmm_dtypes(bias.dtype, input.dtype, weight.dtype)
    if len(sizes) == 2:
        rows = math.prod(size[:-1])
        if size[-1] != sizes[1]:
            raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({rows}x{size[-1]} and {sizes[1]}x{sizes[0]})")
        errors.expand_shape(tuple(bias._data.shape), (rows, sizes[0]), f"torch.{bias.dtype.tensor_name}Tensor")


def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x1 @ weight[k] @ x2 for each output k, for x of shapes (..., in1) and (..., in2), weight (out, in1, in2)."""
    if input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError("bilinear(): input batch dimensions do not match")
    given = {"input1": input1, "input2": input2, "weight": weight, **({} if bias is None else {"bias": bias})}
    if len({t._data.dtype for t in given.values()}) > 1:
        types = ", ".join(f"{name}: {t.dtype.c_name}" for name, t in given.items())
        raise RuntimeError(f"All tensors must have the same dtype, got {types}")
    lead = input1.shape[:-1]
    first, second = input1.reshape((-1, input1.shape[-1])), input2.reshape((-1, input2.shape[-1]))
    out = mg.einsum("bi,oij,bj->bo", first, weight, second).reshape((*lead, weight.shape[0]))
    return out if bias is None else out + bias


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of `weight` that the integers `input` name; the row `padding_idx` gets no gradient."""
    if weight.ndim != 2:
        raise RuntimeError("'weight' must be 2-D")
    if sparse or scale_grad_by_freq:
        raise NotImplementedError("minigrad leaves out sparse and frequency-scaled embedding gradients")
    if padding_idx is not None:
        rows = weight.shape[0]
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        padding_idx %= rows
    if max_norm is not None:  # PyTorch, too, shortens the rows in place
        used = np.unique(input._data)
        table_rows = weight._writable()
        norms = np.linalg.norm(table_rows[used], ord=norm_type, axis=1, keepdims=True)
        scales = np.where(norms > max_norm, max_norm / (norms + 1e-7), 1).astype(table_rows.dtype)
        table_rows[used] *= scales
        mg.tape.touch(weight._counter)
    index = np.asarray(input._data)
    if index.dtype not in (np.int64, np.int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"torch.{input.dtype.tensor_name}Tensor instead (while checking arguments for embedding)"
        )
    if index.size and not 0 <= index.min() <= index.max() < weight.shape[0]:
        raise IndexError("index out of range in self")
    if padding_idx is None:
        return more.embedding(weight, (index,))
    return rules.embedding_padded(weight, index, padding_idx)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The sum, mean or maximum of the rows of `weight` that each bag names: (bags, dim).

    A bag is a row of `input`, or, with `offsets`, the part of a list from one offset to the next.
    """
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
            f"mode='{mode}'). Please open a feature request on GitHub."
        )
    if per_sample_weights is not None and per_sample_weights.shape != input.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape!r}) is not None, then it must have the same "
            f"shape as the input ({input.shape!r})"
        )
    if per_sample_weights is not None and per_sample_weights.dtype is not weight.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 'per_sample_weights'; "
            f"but type torch.{weight.dtype.tensor_name}Tensor does not equal "
            f"torch.{per_sample_weights.dtype.tensor_name}Tensor (while checking arguments for embedding_bag)"
        )
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
                f"sequences. However, found offsets of type {type(offsets)}"
            )
        starts, ends = np.arange(input.shape[0]) * input.shape[1], (np.arange(input.shape[0]) + 1) * input.shape[1]
    elif input.ndim != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    elif offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    else:
        starts = np.asarray(offsets._data)
        if starts.ndim != 1:
            raise ValueError("offsets has to be a 1D Tensor")
        if starts.size and starts[0] != 0:
            raise RuntimeError(
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, "
                f"got {starts[0]}"
            )
        if starts.size and starts[-1] > input.numel():
            raise RuntimeError(
                f"offsets[-1] can not be greater than input's length {input.numel()} but got offsets[-1] of {starts[-1]}"
            )
        ends = np.append(starts[1:], () if include_last_offset else input.numel()).astype(np.int64)
        starts = starts[: ends.size]
        if include_last_offset:  # what stands behind it is in no bag
            last = int(ends[-1]) if ends.size else 0
            input = input[:last]
            per_sample_weights = None if per_sample_weights is None else per_sample_weights[:last]
    if weight.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    if padding_idx is not None and not -weight.shape[0] <= padding_idx < weight.shape[0]:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, -{weight.shape[0]} through {weight.shape[0] - 1}, but "
            f"got {padding_idx}"
        )
    if input._data.size and not 0 <= input._data.min() <= input._data.max() < weight.shape[0]:
        worst = input._data.min() if input._data.min() < 0 else input._data.max()
        raise RuntimeError(f"embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {worst}")
    rows = embedding(input.reshape(-1), weight, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse)
    counts = ends - starts
    bag = np.repeat(np.arange(counts.size), counts)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape((-1, 1))
    if padding_idx is not None:  # its row takes no part
        counted = np.asarray(input._data).reshape(-1) != padding_idx % weight.shape[0]
        rows, bag = rows[wrap(counted)], bag[counted]
        counts = np.bincount(bag, minlength=counts.size)
    if mode == "max":
        bags = np.split(np.arange(bag.size), np.cumsum(counts)[:-1])
        nothing = rows[:0].sum(0)
        largest_of = mg.stack([rows[wrap(b)].max(0).values if b.size else nothing for b in bags])
        return as_one_node(largest_of, "EmbeddingBagBackward0")
    out = rows.new_zeros((counts.size, rows.shape[1])).index_add(0, wrap(bag), rows)
    if mode == "mean":
        out = out / wrap(np.maximum(counts, 1).astype(rows._data.dtype)[:, None])
    return as_one_node(out, "EmbeddingBagBackward0")


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Integers to rows of zeros with a single 1 (int64)."""
    if tensor.dtype is not mg.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    index = np.asarray(tensor._data)
    if index.size == 0 and num_classes <= 0:
        raise RuntimeError("Can not infer total number of classes from empty tensor.")
    if index.size and index.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes == -1:
        num_classes = int(index.max()) + 1
    elif index.size and index.max() >= num_classes:
        raise RuntimeError("Class values must be smaller than num_classes.")
    out = np.zeros((*index.shape, num_classes), np.int64)
    np.put_along_axis(out, index[..., None], 1, -1)
    return wrap(out)


# -------------------------------------------------------------------------------------------------------- dropout


def _check_probability(p: float) -> None:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _dropped(input: Tensor, p: float, training: bool, inplace: bool, shape: Sequence[int]) -> Tensor:
    _check_probability(p)
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        noise = np.zeros((), input._data.dtype)
    else:
        keep = random.default_generator.keep(shape, 1 - p)
        if input._data.dtype.kind != "f":
            raise RuntimeError(f"result type Float can't be cast to the desired output type {input.dtype.tensor_name}")
        noise = keep.astype(input._data.dtype)
        noise /= 1 - p
    return _applied(table.mul, input, inplace, wrap(noise))


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero each element with probability p and divide the others by 1 - p; x itself when not training."""
    if type(training) is not bool:
        raise TypeError(f"dropout(): argument 'train' (position 3) must be bool, not {errors.type_name(training)}")
    return _dropped(input, p, training, inplace, input.shape)


def _feature_dropout(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    _check_probability(p)
    if input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return _dropped(input, p, training, inplace, (*input.shape[:2], *(1,) * (input.ndim - 2)))


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of (batch, channels, length) or (channels, length)."""
    if input.ndim not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input.")
    if input.ndim == 2:
        return _feature_dropout(input.unsqueeze(0), p, training, inplace).squeeze(0)
    return _feature_dropout(input, p, training, inplace)


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of (batch, channels, height, width)."""
    return _feature_dropout(input, p, training, inplace)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of (batch, channels, depth, height, width)."""
    return _feature_dropout(input, p, training, inplace)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean 0 and variance 1 of what SELU gives."""
    return _alpha_dropped(input, p, training, inplace, input.shape)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels."""
    return _alpha_dropped(input, p, training, inplace, (*input.shape[:2], *(1,) * (input.ndim - 2)))


def _alpha_dropped(input: Tensor, p: float, training: bool, inplace: bool, shape: Sequence[int]) -> Tensor:
    _check_probability(p)
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        return input * 0.0
    low = 1.7580993408473766
    scale = 1 / math.sqrt((low * low * p + 1) * (1 - p))
    keep = random.default_generator.keep(shape, 1 - p).astype(input._data.dtype)
    shift = (keep - 1) * (low * scale) + low * scale * p
    out = input * wrap(keep * scale) + wrap(shift.astype(input._data.dtype))
    return input.copy_(out) if inplace else out


# -------------------------------------------------------------------------------------------------- normalisation


def _check_types(input: Tensor, *parameters: Tensor | None) -> None:
    """RuntimeError unless all have the input's number type."""
    kind = input._data.dtype
    for p in parameters:
        if p is not None and p._data.dtype is not kind and p._data.dtype != kind:
            single = kind == np.float32
            why = "expect parameter to have scalar type of Float" if single else "all inputs must share same datatype."
            raise RuntimeError(f"mixed dtype (CPU): {why}")


def _beside_float32(input: Tensor, *parameters: Tensor | None) -> bool:
    """Whether the input is in half precision and all the parameters in single, as PyTorch takes them."""
    return input.dtype is mg.float16 and {p.dtype for p in parameters if p is not None} == {mg.float32}


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / std over the last dimensions, which have `normalized_shape`; then * weight + bias."""
    shape = tuple(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    for name, given in (("weight", weight), ("bias", bias)):
        if given is not None and given._data.shape != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(given.shape)} and "
                f"normalized_shape = {list(shape)}"
            )
    if input.shape[input.ndim - len(shape) :] != shape or len(shape) > input.ndim:
        stars = "".join(f", {n}" for n in shape)
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*{stars}], "
            f"but got input of size{list(input.shape)}"
        )
    if _beside_float32(input, weight, bias):
        return layer_norm(input.float(), normalized_shape, weight, bias, eps).half()
    _check_types(input, weight, bias)
    for name, each in (("weight", weight), ("bias", bias)):
        if each is not None and each._data.shape != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(each.shape)} and "
                f"normalized_shape = {list(shape)}"
            )
    floating_input("LayerNormKernelImpl", input)
    dims = tuple(range(input.ndim - len(shape), input.ndim))
    return rules.layer_norm_rows(input, weight, bias, rules.Moments(input._data, dims, eps))


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """x / sqrt(mean(x * x) + eps) over the last dimensions; then * weight."""
    shape = tuple(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            f"normalized_shape = {list(shape)}"
        )
    if weight is not None and weight.shape != shape:
        raise RuntimeError(
            f"Expected weight to be of same shape as normalized_shape, but got weight of shape {list(weight.shape)} and "
            f"normalized_shape = {list(shape)}"
        )
    if input.shape[-len(shape) :] != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*{', '.join(map(str, shape))}], but got "
            f"input of size{list(input.shape)}"
        )
    floating_input("rms_norm", input)
    dims = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    tiny = float(np.finfo(input._data.dtype).eps) if eps is None else eps
    out = input * ((input**2).mean(dims, keepdim=True) + tiny).rsqrt()
    return out if weight is None else (out * weight).to(input.dtype)


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / std of each channel (dimension 1), over the batch in training, else with running statistics.

    In training the running statistics move by `momentum` towards those of the batch, in place.
    """
    x = input._data
    if _beside_float32(input, weight, bias, running_mean, running_var):
        return batch_norm(input.float(), running_mean, running_var, weight, bias, training, momentum, eps).half()
    _check_types(input, weight, bias, running_mean, running_var)
    for name, each in (("running_mean", running_mean), ("running_var", running_var), ("weight", weight), ("bias", bias)):
        if each is not None and each._data.size != x.shape[1]:
            raise RuntimeError(f"{name} should contain {x.shape[1]} elements not {each._data.size}")
    floating_input("batch_norm", input)
    if training:
        if eps <= 0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
        values = math.prod(x.shape[:1] + x.shape[2:])
        if values == 1:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.size()}")
        dims = (0, *range(2, x.ndim))
        moments = rules.Moments(x, dims, eps)
        if running_mean is not None and values:
            _move(running_mean, moments.mean.reshape(-1), momentum)
        if running_var is not None and values:
            _move(running_var, moments.variance.reshape(-1) * (values / (values - 1)), momentum)
        return rules.batch_norm_train(input, _per_channel(weight, x), _per_channel(bias, x), moments)
    if eps < 0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    if running_mean is None or running_var is None:
        raise RuntimeError("Expected running_mean and running_var to be defined when training=False")
    shape = (1, -1) + (1,) * (x.ndim - 2)
    mean = np.reshape(running_mean._data, shape)
    rstd = 1 / np.sqrt(np.reshape(running_var._data, shape) + x.dtype.type(eps))
    return rules.batch_norm_eval(input, _per_channel(weight, x), _per_channel(bias, x), mean, rstd)


def _per_channel(t: Tensor | None, x: Array) -> Tensor | None:
    """A vector shaped to go with the channels (dimension 1) of x."""
    return t if t is None or x.ndim == 2 else t.reshape((-1,) + (1,) * (x.ndim - 2))


def _move(running: Tensor, towards: Array, momentum: float) -> None:
    """running = (1 - momentum) * running + momentum * towards, in place."""
    array = running._writable()
    array *= 1 - momentum
    array += momentum * towards
    mg.tape.touch(running._counter)


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / std of each channel of each sample; then * weight + bias."""
    n, channels = input.shape[:2]
    if use_input_stats and math.prod(input.shape[2:]) <= 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")

    def repeated(t: Tensor | None) -> Tensor | None:
        return None if t is None else t.repeat(n)

    means, variances = repeated(running_mean), repeated(running_var)
    stacked = input.reshape((1, n * channels, *input.shape[2:]))
    out = batch_norm(stacked, means, variances, repeated(weight), repeated(bias), use_input_stats, momentum, eps)
    if use_input_stats:
        for running, found in ((running_mean, means), (running_var, variances)):
            if running is not None and found is not None:
                running._writable()[...] = found._data.reshape(n, channels).mean(0)
                mg.tape.touch(running._counter)
    return out.reshape(input.shape)


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / std of each group of channels of each sample; then * weight + bias per channel."""
    if input.ndim < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.ndim}")
    if input.shape[1] % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    x = input._data
    if _beside_float32(input, weight, bias):
        return group_norm(input.float(), num_groups, weight, bias, eps).half()
    _check_types(input, weight, bias)
    for name, each in (("weight", weight), ("bias", bias)):
        if each is not None and each._data.shape != x.shape[1:2]:
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got {name} of shape "
                f"{list(each.shape)} and input of shape {list(x.shape)}"
            )
    moments = rules.Moments(x, (2,), eps, (x.shape[0], num_groups, x.size // (x.shape[0] * num_groups or 1)))
    return rules.group_norm_rows(input, _per_channel(weight, x), _per_channel(bias, x), moments)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """x / (k + alpha * mean of squares over `size` neighbouring channels) ** beta."""
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {input.dim()} dimensions)")
    if not input._data.size:
        return input
    squares = input * input
    before, after = size // 2, (size - 1) // 2
    channels = input.shape[1]
    parts = []
    for c in range(channels):
        parts.append(squares[:, max(0, c - before) : c + after + 1].sum(1) / size)
    return input / (mg.stack(parts, 1) * alpha + k) ** beta


def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """x divided by its norm along a dimension; a norm below eps counts as eps."""
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)


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


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps along the last dimension."""
    _check_tensors("pairwise_distance", x1, x2)
    return as_one_node((x1 - x2 + eps).norm(p, -1, keepdim), "NormBackward1")


# --------------------------------------------------------------------------------------------------------- losses


def _legacy(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
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
    reduction = _legacy(size_average, reduce, reduction)
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
    reduction = _legacy(size_average, reduce, reduction)
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
    reduction = _legacy(size_average, reduce, reduction)
    input, target = _same_shape(input, target)
    if beta == 0.0:
        return _reduced((input - target).abs(), reduction)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    _check_reduction(reduction)
    floating_input("smooth_l1_cpu", input if input._data.dtype.kind == "f" else target)
    return more.smooth_l1_loss(input, target, reduction, beta)


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
    if len(have) == len(want) == 1 and want[0] != 1:
        raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {want[0]}")
    if len(have) <= 2 and len(want) > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target._data.dtype.str[1:] not in ("i8", "u1"):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.tensor_name}")
    if (len(have) == 1 and len(want) > 1) or (len(have) > 1 and want[1:] != have[2:]):
        if len(have) <= 2:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        raise RuntimeError(f"Expected target size {[have[0], *have[2:]]}, got {list(want)}")


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
    reduction = _legacy(size_average, reduce, reduction)
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
    if weights is not None or 0 <= ignore_index < shape[1] or (classes.size and largest(unsigned, None) >= shape[1]):
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
        loss: Tensor = rules.nll_rows(rows, (_upto(shape[0]), classes), share, total)
    else:
        grid = np.ogrid[tuple(map(slice, classes.shape))]
        loss = rules.nll_grid(rows, (grid[0], classes, *grid[1:]), share, total)
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
        reduction = _legacy(size_average, reduce, reduction)
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
    reduction = _legacy(size_average, reduce, reduction)
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
        weight = weight.expand(mg.broadcast_shapes(weight.shape, input.shape))
    return more.bce_loss(input, target, weight, reduction)


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
    reduction = _legacy(size_average, reduce, reduction)
    _check_reduction(reduction)
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    if pos_weight is not None:
        errors.broadcast_shapes(tuple(pos_weight.shape), tuple(target.shape))
    if target._data.dtype.kind != "f" and input._data.dtype.kind == "f":
        names = f"{input.dtype.tensor_name} can't be cast to the desired output type {target.dtype.tensor_name}"
        raise RuntimeError(f"result type {names}")
    return more.bce_with_logits_loss(input, target, weight, pos_weight, reduction)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """target * (log target - input), for log-probabilities `input`; "batchmean" divides the sum by the batch."""
    _check_tensors("kl_div", input, target)
    if input._data.dtype.kind != "f" or target._data.dtype.kind != "f":
        raise RuntimeError("kl_div: Integral inputs not supported.")
    reduction = _legacy(size_average, reduce, reduction)
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
    return _reduced(loss, _legacy(size_average, reduce, reduction))


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


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """log(1 + exp(-y x)) for y = 1 or -1."""
    reduction = _legacy(size_average, reduce, reduction)
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
    return _reduced(far + near, _legacy(size_average, reduce, reduction))


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
    return _reduced(loss, _legacy(size_average, reduce, reduction))


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
    return _reduced(near + far, _legacy(size_average, reduce, reduction))


def _check_triplet(anchor: Tensor, positive: Tensor, negative: Tensor) -> None:
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.ndim}D, positive {positive.ndim}D, and negative {negative.ndim}D inputs"
        )


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
    return _reduced((near - far + margin).clamp_min(0), _legacy(size_average, reduce, reduction))


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
    return _reduced(loss, _legacy(size_average, reduce, reduction))


_NO_ROWS = "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "


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
    reduction = _legacy(size_average, reduce, reduction)
    _check_reduction(reduction)
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    rows = input.reshape((1, -1)) if input.ndim < 2 else input
    if rows.ndim != 2 or not rows.shape[1]:
        raise RuntimeError(f"{_NO_ROWS}{list(input.shape)}")
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
    return as_one_node(_reduced(loss if input.ndim > 1 else loss.reshape(()), reduction), "MultiMarginLossBackward0")


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """The mean over the classes of max(0, 1 - x[target] + x[class]); a row of `target` ends at its first -1."""
    reduction = _legacy(size_average, reduce, reduction)
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
    return as_one_node(loss, "MultilabelMarginLossBackward0")


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


# ------------------------------------------------------------------------------------------------------ attention


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """softmax(q @ k.T * scale + mask) @ v, for q of shape (..., L, E), k (..., S, E), v (..., S, Ev).

    `attn_mask` is boolean (True: may look) or is added to the scores; `is_causal` lets position i see 0 ... i.
    """
    if enable_gqa:  # fewer heads of keys and values than of queries: each serves several
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    if is_causal and attn_mask is not None:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = (query * scale) @ key.transpose(-2, -1)
    if is_causal:
        may = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        attn_mask = wrap(may)
    if attn_mask is not None:
        if attn_mask.dtype is mg.bool:
            attn_mask = wrap(np.where(attn_mask._data, 0, -np.inf).astype(scores._data.dtype))
        scores = scores + attn_mask
    weights = mg.softmax(scores, -1)
    return dropout(weights, dropout_p) @ value


# ------------------------------------------------------------ convolution, pooling, padding, resizing: layers.py

adaptive_avg_pool1d = layers.adaptive_avg_pool1d
adaptive_avg_pool2d = layers.adaptive_avg_pool2d
adaptive_avg_pool3d = layers.adaptive_avg_pool3d
adaptive_max_pool1d = layers.adaptive_max_pool1d
adaptive_max_pool2d = layers.adaptive_max_pool2d
adaptive_max_pool3d = layers.adaptive_max_pool3d
avg_pool1d = layers.avg_pool1d
avg_pool2d = layers.avg_pool2d
avg_pool3d = layers.avg_pool3d
channel_shuffle = layers.channel_shuffle
conv1d = layers.conv1d
conv2d = layers.conv2d
conv3d = layers.conv3d
conv_transpose1d = layers.conv_transpose1d
conv_transpose2d = layers.conv_transpose2d
conv_transpose3d = layers.conv_transpose3d
fold = layers.fold
interpolate = layers.interpolate
lp_pool1d = layers.lp_pool1d
lp_pool2d = layers.lp_pool2d
lp_pool3d = layers.lp_pool3d
max_pool1d = layers.max_pool1d
max_pool1d_with_indices = layers.max_pool1d_with_indices
max_pool2d = layers.max_pool2d
max_pool2d_with_indices = layers.max_pool2d_with_indices
max_pool3d = layers.max_pool3d
max_pool3d_with_indices = layers.max_pool3d_with_indices
max_unpool1d = layers.max_unpool1d
max_unpool2d = layers.max_unpool2d
max_unpool3d = layers.max_unpool3d
pad = layers.pad
pixel_shuffle = layers.pixel_shuffle
pixel_unshuffle = layers.pixel_unshuffle
unfold = layers.unfold
upsample = layers.upsample
pdist = products.pdist


# ------------------------------------------------------------------------------------------------ written in place


def _in_place(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def write_(input: Tensor, *settings: Any, **named: Any) -> Tensor:
        return function(input, *settings, **named, inplace=True)

    write_.__name__ = write_.__qualname__ = f"{function.__name__}_"
    write_.__doc__ = f"`{function.__name__}`, written into the input."
    return write_


celu_, elu_, hardtanh_, leaky_relu_ = _in_place(celu), _in_place(elu), _in_place(hardtanh), _in_place(leaky_relu)
relu_, rrelu_, selu_, threshold_ = _in_place(relu), _in_place(rrelu), _in_place(selu), _in_place(threshold)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with mode "nearest"."""
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with mode "bilinear", corners upon corners."""
    return interpolate(input, size, scale_factor, "bilinear", True)


# Those of which PyTorch reads the arguments itself.
for _name in (
    "avg_pool1d", "avg_pool2d", "avg_pool3d", "adaptive_avg_pool1d", "bilinear", "conv1d", "conv2d", "conv3d",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "cosine_similarity", "gelu", "hardshrink", "linear",
    "one_hot", "pairwise_distance", "prelu", "scaled_dot_product_attention", "softplus", "softshrink",
):  # fmt: skip
    globals()[_name] = told(globals()[_name], _name)
for _name in ("avg_pool2d", "avg_pool3d", "gelu", "hardshrink", "logsigmoid", "normalize", "softplus", "softshrink"):
    globals()[_name] = accepting_out(globals()[_name])

# Those that are written in Python there too: the arguments that they hand on, and to which function if not to their own.
for _name, _order in {
    "alpha_dropout": "input p training",
    "batch_norm": "input weight bias running_mean running_var training momentum eps",
    "binary_cross_entropy_with_logits": "input target weight pos_weight reduction",
    "cosine_embedding_loss": "input1 input2 target margin reduction",
    "cross_entropy cross_entropy_loss": "input target weight reduction ignore_index label_smoothing",
    "ctc_loss": "log_probs targets input_lengths target_lengths blank reduction zero_infinity",
    "dropout": "input p training",
    "dropout1d feature_dropout": "input p training",
    "dropout2d feature_dropout": "input p training",
    "dropout3d feature_dropout": "input p training",
    "embedding": "weight input",
    "feature_alpha_dropout": "input p training",
    "glu": "input dim",
    "group_norm": "input num_groups weight bias eps",
    "hardtanh": "input min_val max_val",
    "hinge_embedding_loss": "input target margin reduction",
    "instance_norm": "input weight bias running_mean running_var use_input_stats momentum eps",
    "kl_div": "input target reduction",
    "layer_norm": "input normalized_shape weight bias eps",
    "margin_ranking_loss": "input1 input2 target margin reduction",
    "multi_margin_loss": "input target p margin weight reduction",
    "multilabel_margin_loss": "input target reduction",
    "nll_loss nll_loss_nd": "input target weight reduction ignore_index",
    "pad": "input pad mode value",
    "poisson_nll_loss": "input target log_input full eps reduction",
    "rms_norm": "input normalized_shape weight eps",
    "rrelu": "input lower upper training",
    "soft_margin_loss": "input target reduction",
    "threshold": "input threshold value",
    "triplet_margin_loss": "anchor positive negative margin p eps swap reduction",
}.items():
    _name, _, _reader = _name.partition(" ")
    globals()[_name] = told(globals()[_name], _reader or _name, order=_order)


# What few programs use, and where it is written.
_LATER = {
    **dict.fromkeys(("affine_grid", "grid_sample"), "nn.spatial"),
    **dict.fromkeys(
        (f"fractional_max_pool{n}d{and_where}" for n in (2, 3) for and_where in ("", "_with_indices")), "nn.fractional"
    ),
    "multi_head_attention_forward": "nn.modules.transformer",
}


def __getattr__(name: str) -> Any:
    """What few programs use is loaded when it is asked for."""
    if name in _LATER:
        return getattr(importlib.import_module(f"minigrad.{_LATER[name]}"), name)
    if name == "grad":
        return importlib.import_module("minigrad.nn.grad")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
