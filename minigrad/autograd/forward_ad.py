"""torch.autograd.forward_ad: dual tensors, each with the direction in which it moves (its tangent).

PyTorch carries the tangents along, operation by operation.  Here a dual tensor is one on the tape, and `unpack_dual` works
out how a result moves by two backward passes (func.py).  So dual tensors require grad, operations need a second derivative,
a custom Function is asked for its backward and not for its jvp, and what is computed under no_grad does not move.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from minigrad.func import leads_further, pushed
from minigrad.public import owned
from minigrad.tape import ancestors, enable_grad, is_grad_enabled
from minigrad.tensor import Tensor

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

NO_LEVEL = "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
NOT_RECORDED = "minigrad's forward mode reads the tape: what is computed under no_grad has no tangent"


class UnpackedDualTensor(NamedTuple):
    """A tensor, and the direction in which it moves: a tensor of the same shape, or None if it does not."""

    primal: Tensor
    tangent: Tensor | None


_levels: list[list[tuple[Tensor, Tensor, Any]]] = []  # the open level: each leaf, its tangent, its dual tensor's node


def enter_dual_level() -> int:
    """Open the level in which dual tensors can be made.  RuntimeError if one is open."""
    if _levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _levels.append([])
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close it: its dual tensors move no longer."""
    if not _levels:
        raise RuntimeError("Dual level must be a positive number.")
    if level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    _levels.pop()


class dual_level:
    """A level for a `with` block."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *_: object) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """The tensor (the same memory), moving in the direction `tangent`, of the same shape and type.

    RuntimeError outside of a level or if they differ; ValueError for integers.
    """
    if not _levels:
        raise RuntimeError(NO_LEVEL)
    for name, t in (("primal", tensor), ("tangent", tangent)):
        if not t.dtype.is_floating_point:
            raise ValueError(f"Expected {name} to be floating point or complex, but got: {t.dtype}")
    if tensor.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )
    behind: set[Any] = set() if tensor._node is None else ancestors([tensor._node], 0)
    if not behind.isdisjoint(d[0]._node for d in _levels[-1]):
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not supported."
        )
    with enable_grad():
        own = tensor.view_as(tensor) if tensor.requires_grad else tensor.detach().requires_grad_()
        dual = owned(own.view_as(own))
    _levels[-1].append((own, tangent, dual._node))
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """(the tensor, how it moves): None for one that was not computed from a dual tensor, and once the level is closed."""
    if not _levels:
        return UnpackedDualTensor(tensor, None)
    if not is_grad_enabled() or (tensor._node is None and tensor.__dict__.get("_lost", ("",))[0] == "no_grad"):
        raise NotImplementedError(NOT_RECORDED)
    for own, tangent, node in _levels[-1]:
        if tensor._node is node:
            return UnpackedDualTensor(own.detach(), tangent)
    leaves, tangents = [d[0] for d in _levels[-1]], [d[1] for d in _levels[-1]]
    further = leads_further([tensor, *tangents], leaves)
    (found,) = pushed([tensor], tuple(leaves), tangents, further) if leaves else (None,)
    return UnpackedDualTensor(tensor if further else tensor.detach(), found)


def __getattr__(name: str) -> Any:
    if name == "_current_level":
        return len(_levels) - 1
    raise AttributeError(f"minigrad's forward mode has no {name!r}: only {', '.join(__all__)}")
