"""Functions of neural networks (`torch.nn.functional`): all of them are found here.

Linear maps, embeddings, dropout and attention stand in this file; activations, normalisation and losses in files of
their own beside it, convolution and pooling in `layers`. What PyTorch also offers at top level (`relu`, `softmax`,
`conv2d`, ...) is the same function here.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad import derivatives as table
from minigrad import errors, layers, random
from minigrad import more_derivatives as more
from minigrad.layout import filled_like
from minigrad.nn import activations, rules
from minigrad.nn.activations import *  # noqa: F403
from minigrad.nn.arguments import checked, handing_on
from minigrad.nn.losses import *  # noqa: F403
from minigrad.nn.normalisation import *  # noqa: F403
from minigrad.public import accepting_out, as_one_node
from minigrad.tensor import Tensor, wrap
from minigrad.versions import noticing

# --------------------------------------------------------------------------------------------------------- linear


@checked
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x @ weight.T + bias, for x of shape (..., in), weight (out, in) and bias (out)."""
    if bias is None or len(weight._data.shape) != 2:
        _check_linear(input, weight, bias)
        out = input.matmul(weight.t() if weight.ndim == 2 else weight)
        return out if bias is None else out + bias
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


@checked
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x1 @ weight[k] @ x2 for each output k, for x of shapes (..., in1) and (..., in2), weight (out, in1, in2)."""
    if input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError("bilinear(): input batch dimensions do not match")
    given = {"input1": input1, "input2": input2, "weight": weight, **({} if bias is None else {"bias": bias})}
    if len({t._data.dtype for t in given.values()}) > 1:
        types = ", ".join(f"{name}: {t.dtype.c_name}" for name, t in given.items())
        raise RuntimeError(f"All tensors must have the same dtype, got {types}")
    lead = input1.shape[:-1]
    for name, t, own in (("input1", input1, weight.shape[1]), ("input2", input2, weight.shape[2])):
        if t.shape[-1] != own:
            raise RuntimeError(f"bilinear(): {name} size does not match weight size: got {t.shape[-1]} but expected {own}")
    first, second = input1.reshape((-1, input1.shape[-1])), input2.reshape((-1, input2.shape[-1]))
    out = mg.einsum("bi,oij,bj->bo", first, weight, second).reshape((*lead, weight.shape[0]))
    return out if bias is None else out + bias


@handing_on("weight input")
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
        return more.embedding(weight, input, (0,))
    return noticing(rules.embedding_padded(weight, index, padding_idx), input)


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


@checked
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


def _dropped(input: Tensor, p: float, training: bool, inplace: bool, shape: Any = None) -> Tensor:
    """Zeros with probability p; with a `shape`, one draw for each of its elements."""
    _check_probability(p)
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        noise = np.zeros((), input._data.dtype)
    else:
        draw = random.default_generator.keep
        keep = filled_like(input._data, lambda sizes: draw(sizes, 1 - p)) if shape is None else draw(shape, 1 - p)
        if input._data.dtype.kind != "f":
            raise RuntimeError(f"result type Float can't be cast to the desired output type {input.dtype.tensor_name}")
        noise = keep.astype(input._data.dtype)
        noise /= 1 - p
    return activations.applied(table.mul, input, inplace, wrap(noise))


@handing_on("input p training")
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero each element with probability p and divide the others by 1 - p; x itself when not training."""
    if type(training) is not bool:
        raise TypeError(f"dropout(): argument 'train' (position 3) must be bool, not {errors.type_name(training)}")
    return _dropped(input, p, training, inplace)


def _feature_dropout(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    _check_probability(p)
    if input.ndim < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return _dropped(input, p, training, inplace, (*input.shape[:2], *(1,) * (input.ndim - 2)))


def _warn_of_dimensions(name: str, given: int, n: int) -> None:
    if given not in (n + 1, n + 2):
        warnings.warn(
            f"{name}: Received a {given}-D input to {name}, which is deprecated and will result in an error in a future "
            f"release. To retain the behavior and silence this warning, please use dropout instead. Note that {name} exists to "
            f"provide channel-wise dropout on inputs with {n} spatial dimensions, a channel dimension, and an optional batch "
            f"dimension (i.e. {n + 1}D or {n + 2}D inputs).",
            stacklevel=3,
        )


@handing_on("input p training", to="feature_dropout")
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of (batch, channels, length) or (channels, length)."""
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndim}D input. Note that dropout1d exists to provide "
            "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch dimension "
            "(i.e. 2D or 3D inputs)."
        )
    if input.ndim == 2:
        return _feature_dropout(input.unsqueeze(0), p, training, inplace).squeeze(0)
    return _feature_dropout(input, p, training, inplace)


@handing_on("input p training", to="feature_dropout")
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of (batch, channels, height, width)."""
    _check_probability(p)
    _warn_of_dimensions("dropout2d", input.ndim, 2)
    if input.ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - input "
            "is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a future release to "
            "interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise "
            "dropout behavior, please switch to using dropout1d instead.",
            stacklevel=2,
        )
    return _feature_dropout(input, p, training, inplace)


@handing_on("input p training", to="feature_dropout")
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Zero whole channels of (batch, channels, depth, height, width) or (channels, depth, height, width)."""
    _check_probability(p)
    _warn_of_dimensions("dropout3d", input.ndim, 3)
    if input.ndim != 5:
        return _feature_dropout(input.unsqueeze(0), p, training, inplace).squeeze(0)
    return _feature_dropout(input, p, training, inplace)


@handing_on("input p training")
def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout that keeps mean 0 and variance 1 of what SELU gives."""
    return _alpha_dropped(input, p, training, inplace, input.shape)


@handing_on("input p training")
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


# ------------------------------------------------------------------------------------------------------ attention


@checked
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
    weights = mg.softmax(scores, -1) if attn_mask is None or is_causal else masked_softmax(scores)
    return dropout(weights, dropout_p) @ value


def masked_softmax(scores: Tensor) -> Tensor:
    """Softmax over the last dimension, zeros for those who may look at nothing (-inf alone)."""
    blind = np.isneginf(scores._data).all(-1, keepdims=True)
    if not blind.any():
        return mg.softmax(scores, -1)
    nobody = wrap(blind)
    return mg.softmax(scores.masked_fill(nobody, 0.0), -1).masked_fill(nobody, 0.0)


# ------------------------------------------------------------ convolution, pooling, padding, resizing: layers.py

adaptive_avg_pool1d = checked(layers.adaptive_avg_pool1d)
adaptive_avg_pool2d = layers.adaptive_avg_pool2d
adaptive_avg_pool3d = layers.adaptive_avg_pool3d
adaptive_max_pool1d = layers.adaptive_max_pool1d
adaptive_max_pool2d = layers.adaptive_max_pool2d
adaptive_max_pool3d = layers.adaptive_max_pool3d
avg_pool1d = checked(layers.avg_pool1d)
avg_pool2d = accepting_out(checked(layers.avg_pool2d))
avg_pool3d = accepting_out(checked(layers.avg_pool3d))
channel_shuffle = layers.channel_shuffle
conv1d = checked(layers.conv1d)
conv2d = checked(layers.conv2d)
conv3d = checked(layers.conv3d)
conv_transpose1d = checked(layers.conv_transpose1d)
conv_transpose2d = checked(layers.conv_transpose2d)
conv_transpose3d = checked(layers.conv_transpose3d)
fold = layers.fold
interpolate = layers.interpolate
lp_pool1d = layers.lp_pool1d
lp_pool2d = layers.lp_pool2d
lp_pool3d = layers.lp_pool3d
max_pool1d = handing_on("input kernel_size stride padding dilation ceil_mode")(layers.max_pool1d)
max_pool1d_with_indices = layers.max_pool1d_with_indices
max_pool2d = handing_on("input kernel_size stride padding dilation ceil_mode")(layers.max_pool2d)
max_pool2d_with_indices = layers.max_pool2d_with_indices
max_pool3d = handing_on("input kernel_size stride padding dilation ceil_mode")(layers.max_pool3d)
max_pool3d_with_indices = layers.max_pool3d_with_indices
max_unpool1d = layers.max_unpool1d
max_unpool2d = layers.max_unpool2d
max_unpool3d = layers.max_unpool3d
pad = handing_on("input pad mode value")(layers.pad)
pixel_shuffle = layers.pixel_shuffle
pixel_unshuffle = layers.pixel_unshuffle
unfold = layers.unfold
upsample = layers.upsample


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with mode "nearest"."""
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """`interpolate` with mode "bilinear", corners upon corners."""
    return interpolate(input, size, scale_factor, "bilinear", True)
