"""Initial values of parameters: each function fills a tensor and returns it.

With the same `manual_seed` the numbers are PyTorch's.  The functions write to
leaves that require grad, and record nothing.
"""

# mypy: disable-error-code="no-any-return"
# (operations of the table are typed Any)

from __future__ import annotations

import math
from typing import Any

from .. import errors
from ..operation import public
from ..tape import no_grad
from ..tensor import Tensor

GAINS = {"linear": 1, "conv2d": 1, "sigmoid": 1, "tanh": 5 / 3, "relu": math.sqrt(2)}


@public
def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """How much larger weights should be to make up for an activation.

    sqrt(2) for "relu", 5/3 for "tanh", 1 for "linear"; for "leaky_relu"
    `param` is the slope (0.01 if None).  ValueError for an unknown name.
    """
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return GAINS[nonlinearity]


@public
def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return constant_(tensor, 0)


@public
def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1)


@public
def constant_(tensor: Tensor, val: float) -> Tensor:
    """The same number everywhere."""
    with no_grad():
        return tensor.fill_(val)


@public
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Uniform numbers in [a, b)."""
    with no_grad():
        return tensor.uniform_(a, b)


@public
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Normal numbers."""
    with no_grad():
        return tensor.normal_(mean, std)


def _fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs an output of a weight has, and an input outputs."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


@public
def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Uniform in ± gain * sqrt(6 / (fan in + fan out))."""
    bound = math.sqrt(3) * gain * math.sqrt(2 / sum(_fans(tensor)))
    return uniform_(tensor, -bound, bound)


@public
def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Normal with standard deviation gain * sqrt(2 / (fan in + fan out))."""
    std = gain * math.sqrt(2 / sum(_fans(tensor)))
    return normal_(tensor, 0.0, std)


@public
def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
) -> Tensor:
    """Uniform in ± gain * sqrt(3 / fan).

    The gain is that of the nonlinearity, with slope `a` for "leaky_relu".
    """
    bound = math.sqrt(3) * _kaiming(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


@public
def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
) -> Tensor:
    """Normal with standard deviation gain / sqrt(fan).

    The gain is that of the nonlinearity, with slope `a` for "leaky_relu".
    """
    return normal_(tensor, 0.0, _kaiming(tensor, a, mode, nonlinearity))


def _kaiming(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    """The standard deviation with which numbers keep their size from layer to layer."""
    modes = ["fan_in", "fan_out"]
    if mode.lower() not in modes:
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of {modes}")
    # 0 where there is nothing to fill
    fan = _fans(tensor)[modes.index(mode.lower())] or 1
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


errors.namespace(__name__)
