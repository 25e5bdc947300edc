"""The gradients of a convolution, as functions (`torch.nn.grad`): of its input, of its weight."""

from __future__ import annotations

from typing import Any

from minigrad import more_derivatives as more
from minigrad.layers import _check_conv
from minigrad.nn.arguments import each
from minigrad.tensor import Tensor


def _check(input: Tensor, weight: Tensor, grad_output: Tensor, steps: Any, groups: int) -> None:
    """RuntimeError unless these can be convolved, and give something of the shape of `grad_output`."""
    stride, padding, dilation = steps
    dims = len(stride) + 2
    if not input.ndim == weight.ndim == dims:
        raise RuntimeError(
            f"Expected {dims}-dimensional input for {weight.ndim}-dimensional weight {list(weight.shape)}, but got "
            f"{input.ndim}-dimensional input of size {list(input.shape)} instead"
        )
    _check_conv(input, weight, None, padding, dilation, groups)
    if grad_output.ndim != dims:
        raise RuntimeError(
            f"Expected input and grad_output to have the same number of dimensions, but got: {dims} and {grad_output.ndim}"
        )
    numbers = zip(input.shape[2:], weight.shape[2:], stride, padding, dilation, strict=True)
    places = [(size + 2 * p - d * (k - 1) - 1) // s + 1 for size, k, s, p, d in numbers]
    for i, (size, wanted) in enumerate(zip(grad_output.shape, (input.shape[0], weight.shape[0], *places), strict=True)):
        if size != wanted:
            raise RuntimeError(
                f"Expected a tensor of dimension {dims} and tensor.size[{i}] == {wanted} but got: dimension {dims} and "
                f"tensor.size[{i}] = {size}"
            )


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
        steps = [each(value, n) for value in (stride, padding, dilation)]
        _check(grad_output.new_zeros(()).expand(input_size), weight, grad_output, steps, groups)
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
        steps = [each(value, n) for value in (stride, padding, dilation)]
        _check(input, grad_output.new_zeros(()).expand(weight_size), grad_output, steps, groups)
        made: Tensor = more.conv_weight(grad_output, input, tuple(weight_size)[-n:], *steps, groups)
        return made

    for call, what in ((of_input, "input"), (of_weight, "weight")):
        call.__name__ = call.__qualname__ = f"conv{n}d_{what}"
        call.__doc__ = (
            f"The gradient of the {what} of `conv{n}d`, of the shape `{what}_size`, given that of its output.\n\n"
            "RuntimeError if the shapes or the number types do not fit together."
        )
    return of_input, of_weight


conv1d_input, conv1d_weight = _public(1)
conv2d_input, conv2d_weight = _public(2)
conv3d_input, conv3d_weight = _public(3)
