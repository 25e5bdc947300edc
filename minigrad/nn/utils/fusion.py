"""A layer and the batch norm behind it, made one layer: the same numbers in evaluation, for less work."""

from __future__ import annotations

import copy
from typing import Any

import minigrad as mg
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import Parameter
from minigrad.tensor import Tensor


def _fused(
    w: Tensor, b: Tensor | None, mean: Tensor, var: Tensor, eps: float, scale: Tensor | None, shift: Tensor | None, dim: int
) -> tuple[Parameter, Parameter]:
    """Weight (whose outputs lie along `dim`) and bias of (W x + b - mean) / sqrt(var + eps) * scale + shift."""
    factor = mg.rsqrt(var + eps) * (1 if scale is None else scale)
    shape = [1] * w.dim()
    shape[dim] = -1
    weight = (w * factor.reshape(shape)).to(dtype=w.dtype)
    bias = (((0 if b is None else b) - mean) * factor + (0 if shift is None else shift)).to(dtype=(w if b is None else b).dtype)
    return Parameter(weight, w.requires_grad), Parameter(bias, b is not None and b.requires_grad)


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias of one convolution that does what these of a convolution and a batch norm do."""
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, int(transpose))


def fuse_linear_bn_weights(
    linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor, bn_b: Tensor
) -> tuple[Parameter, Parameter]:
    """Weight and bias of one linear layer that does what these of a linear layer and a batch norm do."""
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, 0)


def _replaced(layer: Module, bn: Any, dim: int) -> Any:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    made: Any = copy.deepcopy(layer)
    made.weight, made.bias = _fused(
        made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, dim
    )
    return made


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A new convolution that does what `conv` and then `bn` do; AssertionError unless both are in evaluation mode."""
    return _replaced(conv, bn, int(transpose))


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A new linear layer that does what `linear` and then `bn` do; AssertionError unless both are in evaluation mode."""
    if bn.num_features not in (1, linear.out_features):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, "
            f"got linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    return _replaced(linear, bn, 0)
