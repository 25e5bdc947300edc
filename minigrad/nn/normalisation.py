"""Normalisation: numbers brought to mean 0 and variance 1, or to length 1, over a layer, batch, group or row."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad import errors
from minigrad.nn import rules
from minigrad.nn.arguments import handing_on
from minigrad.public import accepting_out, floating_input
from minigrad.tensor import Array, Tensor
from minigrad.versions import noticing

__all__ = (
    "batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "normalize", "rms_norm",
)  # fmt: skip


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
    return input._data.dtype.char == "e" and {p.dtype for p in parameters if p is not None} == {mg.float32}


@handing_on("input normalized_shape weight bias eps")
def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """(x - mean) / std over the last dimensions, which have `normalized_shape`; then * weight + bias."""
    shape, x = tuple(normalized_shape), input._data
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
    first = len(x.shape) - len(shape)
    if first < 0 or x.shape[first:] != shape:
        stars = "".join(f", {n}" for n in shape)
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*{stars}], "
            f"but got input of size{list(input.shape)}"
        )
    if _beside_float32(input, weight, bias):
        return layer_norm(input.float(), normalized_shape, weight, bias, eps).half()
    _check_types(input, weight, bias)
    floating_input("LayerNormKernelImpl", input)
    dims = tuple(range(first, len(x.shape)))
    return rules.layer_norm_rows(input, weight, bias, rules.Moments(x, dims, eps))


@handing_on("input normalized_shape weight eps")
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


@handing_on("input weight bias running_mean running_var training momentum eps")
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
    if training and not x.ndim:
        raise IndexError("tuple index out of range")
    if x.ndim < 2:
        errors.sized_dim(1, x.ndim)
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
        out = rules.batch_norm_train(input, _per_channel(weight, x), _per_channel(bias, x), moments)
        return noticing(out, *(t for t in (running_mean, running_var) if t is not None))
    if eps < 0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    if running_mean is None or running_var is None:
        raise RuntimeError("Expected running_mean and running_var to be defined when training=False")
    shape = (1, -1) + (1,) * (x.ndim - 2)
    mean = np.reshape(running_mean._data, shape)
    rstd = 1 / np.sqrt(np.reshape(running_var._data, shape) + x.dtype.type(eps))
    out = rules.batch_norm_eval(input, _per_channel(weight, x), _per_channel(bias, x), mean, rstd)
    return noticing(out, running_mean, running_var)


def _per_channel(t: Tensor | None, x: Array) -> Tensor | None:
    """A vector shaped to go with the channels (dimension 1) of x."""
    return t if t is None or x.ndim == 2 else t.reshape((-1,) + (1,) * (x.ndim - 2))


def _move(running: Tensor, towards: Array, momentum: float) -> None:
    """running = (1 - momentum) * running + momentum * towards, in place; as in PyTorch that counts as no write."""
    array = running._writable()
    array *= 1 - momentum
    array += momentum * towards


@handing_on("input weight bias running_mean running_var use_input_stats momentum eps")
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
    if use_input_stats and math.prod(input.shape[2:]) <= 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")
    n, channels = input.shape[:2]

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


@handing_on("input num_groups weight bias eps")
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
    per_group = [input.shape[0] * input.shape[1] // num_groups, num_groups, *input.shape[2:]]
    if per_group[0] * math.prod(per_group[2:]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {per_group}")
    if input.shape[1] % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    x = input._data
    if _beside_float32(input, weight, bias):
        return group_norm(input.float(), num_groups, weight, bias, eps).half()
    _check_types(input, weight, bias)
    floating_input("GroupNormKernelImpl", input)
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


@accepting_out
def normalize(input: Tensor, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Tensor:
    """x divided by its norm along a dimension; a norm below eps counts as eps."""
    return input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
