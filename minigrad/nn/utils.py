"""Gradient clipping, and all parameters as one vector."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import errors, linalg
from ..operation import public
from ..ops.creation import tensor
from ..ops.shapes import cat, stack
from ..tape import no_grad
from ..tensor import Tensor


def _gradients(parameters: Any) -> list[Tensor]:
    given = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p.grad for p in given if p.grad is not None]


@public
def clip_grad_norm_(parameters: Any, max_norm: float, norm_type: float = 2.0) -> Tensor:
    """Scale all gradients in place, so that their norm is at most max_norm.

    The norm is that of all gradients as one vector; returns it as it was.
    """
    grads = _gradients(parameters)
    if not grads:
        return tensor(0.0)
    order = float(norm_type)
    with no_grad():
        norms = [linalg.vector_norm(g, order) for g in grads]
        total = linalg.vector_norm(stack(norms), order)
        factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
        for g in grads:
            g.mul_(factor.to(g.dtype))
    return total


@public
def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Limit all gradients, in place, to [-clip_value, clip_value]."""
    with no_grad():
        for g in _gradients(parameters):
            g.clamp_(-clip_value, clip_value)


@public
def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters, one after the other, as one vector (differentiable)."""
    return cat([p.reshape(-1) for p in parameters])


@public
def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Copy the parts of a vector into the parameters."""
    start = 0
    with no_grad():
        for p in parameters:
            end = start + p.numel()
            p.copy_(vec[start:end].view_as(p))
            start = end


errors.namespace(__name__)
