"""Helpers around gradients and parameters: clipping, and parameters as one vector."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from minigrad.kernels import vector_norm
from minigrad.tape import no_grad, touch
from minigrad.tensor import Tensor, wrap

__all__ = [
    "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm", "parameters_to_vector",
    "vector_to_parameters",
]  # fmt: skip


def _listed(parameters: Any) -> list[Tensor]:
    return [parameters] if isinstance(parameters, Tensor) else list(parameters)


def get_total_norm(
    tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of all these tensors taken as one long vector."""
    arrays = [np.asarray(t._data) for t in _listed(tensors)]
    order = float(norm_type)
    if not arrays:
        return wrap(np.float32(0.0))
    norms = np.array([vector_norm(a.reshape(-1), order, (0,), False) for a in arrays], arrays[0].dtype)
    total = vector_norm(norms, order, (0,), False)
    if error_if_nonfinite and not math.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {order} for gradients from `parameters` is non-finite, so it cannot be "
            "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return wrap(total)


def clip_grad_norm_(
    parameters: Any,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients, in place, so that their common norm is at most max_norm; returns the norm before."""
    tensors = _listed(parameters)
    total = get_total_norm([p._grad for p in tensors if p._grad is not None], norm_type, error_if_nonfinite)
    clip_grads_with_norm_(tensors, max_norm, total)
    return total


def clip_grads_with_norm_(
    parameters: Any, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale all gradients, in place, by max_norm / total_norm if that is less than 1."""
    factor = min(float(max_norm) / (total_norm._data + total_norm._data.dtype.type(1e-6)), 1.0)
    for p in _listed(parameters):
        if p._grad is not None:
            array = p._grad._writable()
            array *= factor
            touch(p._grad._counter)


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Cut every element of every gradient, in place, to -clip_value ... clip_value."""
    bound = float(clip_value)
    for p in _listed(parameters):
        if p._grad is not None:
            array = p._grad._writable()
            np.clip(array, -bound, bound, out=array)
            touch(p._grad._counter)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters one after the other in one vector (differentiable)."""
    from minigrad import cat

    return cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Write the pieces of a vector into the parameters."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    start = 0
    with no_grad():
        for p in parameters:
            end = start + p.numel()
            p._writable()[...] = vec._data[start:end].reshape(p._data.shape)
            touch(p._counter)
            start = end
