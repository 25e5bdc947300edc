"""Initial values for parameters: each function fills a tensor in place and returns it.

With the same `manual_seed` the numbers are PyTorch's. The functions write to leaves that require grad, as an
initialiser must, and record nothing.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from minigrad.random import Generator, default_generator
from minigrad.tape import no_grad, touch
from minigrad.tensor import Tensor

Array = np.ndarray[Any, np.dtype[Any]]


def _filled(tensor: Tensor, values: Any) -> Tensor:
    tensor._writable()[...] = values
    touch(tensor._counter)
    return tensor


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """The factor by which weights should grow to make up for an activation: sqrt(2) for "relu", 5/3 for "tanh"."""
    if nonlinearity in (
        "linear",
        "sigmoid",
        *(f"conv{t}{n}d" for t in ("", "_transpose") for n in (1, 2, 3)),
    ):
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif not isinstance(param, bool) and isinstance(param, (int, float)):
            slope = param
        else:
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform numbers in [a, b)."""
    source = generator or default_generator
    return _filled(tensor, source.uniform(tensor._data.shape, a, b, tensor._data.dtype))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal numbers."""
    with no_grad():
        filled: Tensor = tensor.normal_(mean, std, generator=generator or default_generator)
    return filled


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Normal numbers between a and b (absolute values, not multiples of std)."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=2,
        )

    source = generator or default_generator
    shape, dtype = tensor._data.shape, tensor._data.dtype
    if _normal_below((b - mean) / std) - _normal_below((a - mean) / std) > 0.3:
        # Most normal numbers lie inside: draw all again until none is left outside.
        low, high = dtype.type(a), dtype.type(b)
        numbers = source.normal(shape, mean, std, dtype)
        while (outside := (numbers < low) | (numbers > high)).any():
            numbers = np.where(outside, source.normal(shape, mean, std, dtype), numbers)
        return _filled(tensor, numbers)

    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    numbers = np.zeros(shape, dtype)
    pending = np.ones(shape, bool)
    while pending.any():  # uniform numbers, each kept with the probability of the density there
        drawn = source.uniform(shape, a, b, dtype)
        density = ((drawn - mean) / std) ** 2 * -0.5 - peak
        kept = np.log(source.rand(shape, dtype)) <= density
        numbers = np.where(pending & kept, drawn, numbers)
        pending &= ~kept
    return _filled(tensor, numbers)


def _normal_below(x: float) -> float:
    """The probability that a normal number is below x."""
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def constant_(tensor: Tensor, val: float) -> Tensor:
    """The same number everywhere."""
    if not isinstance(val, (bool, int, float, np.number)):
        kind = type(val).__name__
        raise TypeError(f"fill_() received an invalid combination of arguments - got ({kind}), but expected one of:\n")
    return _filled(tensor, val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return _filled(tensor, 1)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return _filled(tensor, 0)


def eye_(tensor: Tensor) -> Tensor:
    """The identity matrix, for two dimensions."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _filled(tensor, np.eye(*tensor._data.shape))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """A convolution weight that lets its input through, for three to five dimensions."""
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    outputs, inputs = tensor.shape[:2]
    if outputs % groups:
        raise ValueError("dim 0 must be divisible by groups")
    values = np.zeros(tensor._data.shape)
    middle = tuple(n // 2 for n in tensor.shape[2:])
    for group in range(groups):
        for i in range(min(outputs // groups, inputs)):
            values[(group * (outputs // groups) + i, i, *middle)] = 1
    return _filled(tensor, values)


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs feed one output of a weight, and how many outputs one input feeds."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode.lower() == "fan_in" else fan_out


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Uniform in ± gain * sqrt(6 / (fan in + fan out))."""
    std = gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Normal with standard deviation gain * sqrt(2 / (fan in + fan out))."""
    std = gain * math.sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))
    return normal_(tensor, 0.0, std, generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Uniform in ± gain * sqrt(3 / fan), with the gain of the nonlinearity (slope `a` for leaky_relu)."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Normal with standard deviation gain / sqrt(fan), with the gain of the nonlinearity."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=2)
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    return normal_(tensor, 0.0, std, generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """A random matrix with orthonormal rows or columns, times gain; later dimensions count as one."""
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    source = generator or default_generator
    numbers = source.normal((rows, columns), dtype=tensor._data.dtype)
    q, r = np.linalg.qr(numbers.T if rows < columns else numbers)
    q = q * np.sign(np.diagonal(r))  # makes the factorisation unique
    q = q.T if rows < columns else q
    return _filled(tensor, (q * gain).reshape(tensor._data.shape))


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Normal numbers, with a share `sparsity` of each column set to 0; two dimensions."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    empty = math.ceil(sparsity * rows)
    normal_(tensor, 0, std, generator)
    for column in range(columns):
        tensor._writable()[default_generator.randperm(rows)[:empty], column] = 0
    return tensor


def __getattr__(name: str) -> Any:
    """The old names without the underscore, which warn."""
    own = globals().get(f"{name}_")
    if name.startswith("_") or not callable(own):
        raise AttributeError(f"module 'minigrad.nn.init' has no attribute '{name}'")
    modern: Any = own

    def old(*args: Any, **keywords: Any) -> Tensor:
        text = f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`."
        warnings.warn(text, FutureWarning, stacklevel=2)
        filled: Tensor = modern(*args, **keywords)
        return filled

    old.__name__ = name
    return old
