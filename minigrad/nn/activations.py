"""Activations: functions of each number alone, and softmax with its kin, functions of a row."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as mg
from minigrad import derivatives as table
from minigrad import errors, random
from minigrad import more_derivatives as more
from minigrad.inplace import write
from minigrad.nn.arguments import checked, handing_on
from minigrad.public import accepting_out, as_one_node, floating_input, plain, renamed
from minigrad.tensor import Tensor, wrap
from minigrad.versions import noticing

__all__ = (
    "celu", "celu_", "elu", "elu_", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "hardtanh_", "leaky_relu", "leaky_relu_", "log_softmax", "logsigmoid", "mish", "prelu", "relu",
    "relu6", "relu_", "rrelu", "rrelu_", "selu", "selu_", "sigmoid", "silu", "softmax", "softmin", "softplus",
    "softshrink", "softsign", "tanh", "tanhshrink", "threshold", "threshold_",
)  # fmt: skip


def applied(operation: Callable[..., Any], input: Tensor, inplace: bool, *settings: Any) -> Tensor:
    """The operation of the input, or written into it."""
    if not isinstance(input, Tensor):
        raise errors.must_be_tensor(operation.__name__.strip("_"), "input", 1, input)
    if settings:
        settings = tuple(s.item() if isinstance(s, np.generic) else s for s in settings)
    if not inplace:
        return operation(input, *settings)
    out = write(input, operation, *settings)
    return noticing(renamed(out, RESULT_KEPT[operation]), out) if operation in RESULT_KEPT else out


RESULT_KEPT = {  # where the operation is written into its input, PyTorch's rule needs the result
    more.leaky_relu: "LeakyReluBackward1",
    more.elu: "EluBackward1",
    more.celu: "CeluBackward1",
}


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0); the slope at 0 is 0."""
    return applied(table.relu, input, inplace)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x cut to 0 ... 6."""
    return hardtanh(input, 0.0, 6.0, inplace)


@handing_on("input min_val max_val")
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x cut to min_val ... max_val."""
    if input._data.dtype.kind == "b":
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if input._data.dtype.kind == "u" and min_val < 0:
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return applied(more.hardtanh, input, inplace, min_val, max_val)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x where positive, negative_slope * x elsewhere."""
    return applied(more.leaky_relu, input, inplace, negative_slope)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where positive, alpha * (exp(x) - 1) elsewhere."""
    return applied(more.elu, input, inplace, alpha, 1.0, 1.0)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """ELU with the two constants that keep mean 0 and variance 1."""
    return applied(more.elu, input, inplace, 1.6732632423543772, 1.0507009873554805, 1.0)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x where positive, alpha * (exp(x / alpha) - 1) elsewhere."""
    return applied(more.celu, input, inplace, alpha)


@accepting_out
@checked
def gelu(input: Tensor, *, approximate: str = "none") -> Tensor:
    """x times the probability that a normal number is below x; `approximate="tanh"` for the formula with tanh."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return more.gelu(input, approximate)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x * sigmoid(x)."""
    return applied(more.silu, input, inplace)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * tanh(softplus(x))."""
    return applied(more.mish, input, inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x * hardsigmoid(x)."""
    return applied(more.hardswish, input, inplace)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """x / 6 + 1/2 cut to 0 ... 1."""
    return applied(more.hardsigmoid, input, inplace)


@accepting_out
@checked
def softplus(input: Tensor, beta: float = 1.0, threshold: float = 20.0) -> Tensor:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x exceeds the threshold."""
    return more.softplus(input, beta, threshold)


@accepting_out
def logsigmoid(input: Tensor) -> Tensor:
    """log(sigmoid(x)), without overflow."""
    return more.logsigmoid(input)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + |x|)."""
    return input / (input.abs() + 1)


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh(x)."""
    return input - input.tanh()


@accepting_out
@checked
def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x moved towards 0 by lambd, and 0 where that crosses 0."""
    if lambd < 0:
        most = np.finfo(input._data.dtype).max
        raise RuntimeError(
            f"lambda must be in range [0, {most:g}] for input dtype {input.dtype.tensor_name}, but found {lambd:g}"
        )
    return more.softshrink(input, float(lambd))


@accepting_out
@checked
def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x where |x| > lambd, else 0."""
    return more.hardshrink(input, lambd)


@handing_on("input threshold value")
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x where x > threshold, else value."""
    if input._data.dtype.kind == "b":
        raise errors.not_implemented("threshold_cpu", "Bool")
    return applied(more.threshold, input, inplace, plain(threshold), plain(value))


@checked
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


@handing_on("input lower upper training")
def rrelu(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """x where positive, else x times a random slope (training) or the mean of the two bounds."""
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    if not training:
        return as_one_node(leaky_relu(input, (lower + upper) / 2, inplace), f"RreluWithNoiseBackward{inplace:d}")
    negative = np.asarray(input._data <= 0)
    slopes = np.ones(negative.shape, input._data.dtype)
    low, high = (float(slopes.dtype.type(bound)) for bound in (lower, upper))
    slopes[negative] = random.default_generator.uniform((int(negative.sum()),), low, high, np.dtype(np.float64))
    return as_one_node(applied(table.mul, input, inplace, wrap(slopes)), f"RreluWithNoiseBackward{inplace:d}")


@handing_on("input dim")
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half of a dimension times the sigmoid of the second half."""
    if input.ndim == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    where = errors.check_dim(dim, input.ndim)
    if input.shape[where] % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {where} is size {input.shape[where]}")
    first, second = floating_input("glu_cpu", input).chunk(2, dim)
    return as_one_node(first * second.sigmoid(), "GluBackward0")


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return input.tanh()


def sigmoid(input: Tensor) -> Tensor:
    """1 / (1 + exp(-x))."""
    return input.sigmoid()


def _softmax_dim(name: str, ndim: int) -> int:
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=3,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """exp(x) / sum(exp(x)) along a dimension."""
    return input.softmax(_softmax_dim("softmax", input.dim()) if dim is None else dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """log(softmax(x)), without overflow."""
    return input.log_softmax(_softmax_dim("log_softmax", input.dim()) if dim is None else dim, dtype=dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    """softmax(-x)."""
    return (-input).softmax(_softmax_dim("softmin", input.dim()) if dim is None else dim, dtype=dtype)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A random sample that is nearly (or, with `hard`, exactly) one-hot, with softmax's gradient."""
    noise = random.default_generator.exponential(logits.shape, dtype=logits._data.dtype)
    soft = mg.softmax((logits + wrap(-np.log(noise))) / tau, dim)
    if not hard:
        return soft
    chosen = np.zeros_like(soft._data)
    np.put_along_axis(chosen, np.expand_dims(soft._data.argmax(dim), dim), 1, dim)
    return wrap(chosen) - soft.detach() + soft


def _in_place(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    plain = getattr(function, "__wrapped__", function)

    def write_(input: Tensor, *settings: Any, **named: Any) -> Tensor:
        return plain(input, *settings, **named, inplace=True)

    write_.__name__ = write_.__qualname__ = f"{function.__name__}_"
    write_.__doc__ = f"`{function.__name__}`, written into the input."
    return write_


celu_, elu_, hardtanh_, leaky_relu_ = _in_place(celu), _in_place(elu), _in_place(hardtanh), _in_place(leaky_relu)
relu_, rrelu_, selu_, threshold_ = _in_place(relu), _in_place(rrelu), _in_place(selu), _in_place(threshold)
