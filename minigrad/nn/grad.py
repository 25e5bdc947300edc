"""The gradients of a convolution, as functions (`torch.nn.grad`): of its input, of its weight."""

from __future__ import annotations

from typing import Any

from minigrad import more_derivatives as more
from minigrad.tensor import Tensor


def _each(value: Any, n: int) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n


def _public(n: int) -> tuple[Any, Any]:
    def of_input(
        input_size: Any,
        weight: Tensor,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        steps = (_each(value, n) for value in (stride, padding, dilation))
        made: Tensor = more.conv_input(grad_output, weight, tuple(input_size)[-n:], *steps, groups)
        return made

    def of_weight(
        input: Tensor,
        weight_size: Any,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        steps = (_each(value, n) for value in (stride, padding, dilation))
        made: Tensor = more.conv_weight(grad_output, input, tuple(weight_size)[-n:], *steps, groups)
        return made

    for call, what in ((of_input, "input"), (of_weight, "weight")):
        call.__name__ = call.__qualname__ = f"conv{n}d_{what}"
        call.__doc__ = f"The gradient of the {what} of `conv{n}d`, given that of its output."
    return of_input, of_weight


conv1d_input, conv1d_weight = _public(1)
conv2d_input, conv2d_weight = _public(2)
conv3d_input, conv3d_weight = _public(3)
