"""Convolution layers, and the sliding windows behind them: Conv1d, Conv2d, Conv3d, Unfold, Fold."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from typing import Any

import minigrad as mg
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.arguments import each
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import Parameter
from minigrad.tensor import Tensor


class _ConvNd(Module):
    n = 0
    weight: Parameter
    bias: Parameter | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            modes = {"zeros", "reflect", "replicate", "circular"}
            raise ValueError(f"padding_mode must be one of {modes}, but got padding_mode='{padding_mode}'")
        n = self.n
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size, self.stride, self.dilation = (
            each(kernel_size, n),
            each(stride, n),
            each(dilation, n),
        )
        self.padding = padding if isinstance(padding, str) else each(padding, n)
        self.padding_mode = padding_mode
        if padding == "same" and any(s != 1 for s in self.stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
        self.weight = Parameter(mg.empty(self._weight_shape(), device=device, dtype=dtype))
        self.register_parameter("bias", Parameter(mg.empty(out_channels, dtype=dtype)) if bias else None)
        self.reset_parameters()

    def _weight_shape(self) -> tuple[int, ...]:
        return (self.out_channels, self.in_channels // self.groups, *self.kernel_size)

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, uniform in ± 1 / sqrt(inputs of one output)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def _widths(self) -> list[int]:
        """How much to pad before and after each dimension, last dimension first."""
        widths: list[int] = []
        for dim in reversed(range(self.n)):
            if self.padding == "same":
                total = self.dilation[dim] * (self.kernel_size[dim] - 1)
                widths += [total // 2, total - total // 2]
            else:
                width = 0 if self.padding == "valid" else int(self.padding[dim])
                widths += [width, width]
        return widths

    def forward(self, input: Tensor) -> Tensor:
        convolve = (F.conv1d, F.conv2d, F.conv3d)[self.n - 1]
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._widths(), self.padding_mode)
            padding = 0
        return convolve(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * self.n:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * self.n:
            text += f", dilation={self.dilation}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class Conv2d(_ConvNd):
    """(batch, in, height, width) to (batch, out, height', width'), weight (out, in / groups, kh, kw)."""

    n = 2


