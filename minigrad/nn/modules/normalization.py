"""Normalisation layers: LayerNorm, RMSNorm, GroupNorm, BatchNorm, InstanceNorm, LocalResponseNorm."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import minigrad as mg
from minigrad.nn import functional as F
from minigrad.nn import init
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import Parameter
from minigrad.tensor import Tensor


class LayerNorm(Module):
    """(x - mean) / std over the last dimensions, then * weight + bias."""

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        made = Parameter(mg.ones(shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", made)
        shift = Parameter(mg.zeros(shape, device=device, dtype=dtype)) if elementwise_affine and bias else None
        self.register_parameter("bias", shift)

    def reset_parameters(self) -> None:
        """Weight 1, bias 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class _RunningNorm(Module):
    """What BatchNorm and InstanceNorm share: weight and bias per channel, and running statistics."""

    _version = 2
    ranks: tuple[int, ...] = ()
    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self.register_parameter("weight", Parameter(mg.ones(num_features, device=device, dtype=dtype)) if affine else None)
        shift = affine and bias
        self.register_parameter("bias", Parameter(mg.zeros(num_features, device=device, dtype=dtype)) if shift else None)
        track = track_running_stats
        self.register_buffer("running_mean", mg.zeros(num_features, device=device, dtype=dtype) if track else None)
        self.register_buffer("running_var", mg.ones(num_features, device=device, dtype=dtype) if track else None)
        self.register_buffer("num_batches_tracked", mg.zeros((), dtype=mg.int64) if track else None)

    def reset_running_stats(self) -> None:
        """Running mean 0, variance 1, no batches seen."""
        if self.running_mean is not None and self.running_var is not None:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)
        if self.num_batches_tracked is not None:
            init.zeros_(self.num_batches_tracked)

    def reset_parameters(self) -> None:
        """Fresh running statistics, weight 1, bias 0."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.ndim not in self.ranks:
            wanted = " or ".join(f"{rank}D" for rank in self.ranks)
            raise ValueError(f"expected {wanted} input (got {input.ndim}D input)")

    def _load_from_state_dict(
        self, state_dict: Mapping[str, Any], prefix: str, local_metadata: dict[str, Any], *rest: Any
    ) -> None:
        key = prefix + "num_batches_tracked"
        old = local_metadata.get("version", 1) < 2  # saved before batches were counted
        if old and self.num_batches_tracked is not None and key not in state_dict:
            state_dict = {**state_dict, key: self.num_batches_tracked}
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_RunningNorm):
    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.num_batches_tracked is not None:
            init._filled(self.num_batches_tracked, self.num_batches_tracked._data + 1)
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked.item())
        batch = self.training or self.running_mean is None
        keep = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if keep else None,
            self.running_var if keep else None,
            self.weight,
            self.bias,
            batch,
            momentum,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Per channel of (batch, channels) or (batch, channels, length)."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Per channel of (batch, channels, height, width)."""

    ranks = (4,)


