"""torch.autograd.forward_ad: dual tensors, each with the direction in which it moves (its tangent).

PyTorch carries the tangents along, operation by operation.  Here a dual tensor is one on the tape, and `unpack_dual` works
out how a result moves by two backward passes (func.py).  So dual tensors require grad, operations need a second derivative,
and what is computed under no_grad does not move.  A custom Function's jvp is called when the Function is, as in PyTorch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from minigrad import printing
from minigrad.autograd.function import OTHER_SIZE, Function
from minigrad.func import Transform, leads_further, pushed
from minigrad.public import owned
from minigrad.tape import ancestors, enable_grad, is_grad_enabled, mode
from minigrad.tensor import Tensor

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

NO_LEVEL = "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first."
NOT_RECORDED = "minigrad's forward mode reads the tape: what is computed under no_grad has no tangent"


class UnpackedDualTensor(NamedTuple):
    """A tensor, and the direction in which it moves: a tensor of the same shape, or None if it does not."""

    primal: Tensor
    tangent: Tensor | None


class _Still(Function):
    """The same tensor, but in this level it does not move; only backward passes lead further back from it."""

    jvp = None

    @staticmethod
    def forward(ctx: Any, t: Tensor, level: Level) -> Tensor:
        ctx.level = level
        return t.detach()  # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        return None if mode.pushing is ctx.level else g, None


class Level(Transform):
    """An open level: of each of its dual tensors the leaf behind it, its tangent and its node."""

    def __init__(self) -> None:
        self.duals: list[tuple[Tensor, Tensor, Any]] = []
        self.busy = False

    def admit(self, function: Any, separate: bool) -> None:
        """Every Function is welcome."""

    def recorded(self, ctx: Any, outputs: Any) -> None:
        """A Function has written its node: ask its jvp now, and note what it says."""
        found = iter(self.push([t for t in outputs if isinstance(t, Tensor)]))
        ctx._pushed = self, tuple(next(found) if isinstance(t, Tensor) else None for t in outputs)

    def push(self, tensors: list[Tensor]) -> list[Tensor | None]:
        """How these tensors move.  What is computed to find that out, in a jvp too, does not move itself."""
        leaves, tangents = [d[0] for d in self.duals], [d[1] for d in self.duals]
        if self.busy or not leaves:
            return [None] * len(tensors)
        further = leads_further([*tensors, *tangents], leaves)
        self.busy = True
        try:
            found = pushed(tensors, tuple(leaves), tangents, further, self)
            return [t if t is None else self.still(t) for t in found]
        finally:
            self.busy = False

    def still(self, tensor: Tensor) -> Tensor:
        """This tensor, not moving."""
        behind: set[Any] = set() if tensor._node is None else ancestors([tensor._node], 0)
        return tensor if behind.isdisjoint(d[0]._node for d in self.duals) else _Still.apply(tensor, self)

    def shown(self, tensor: Tensor) -> tuple[Tensor | None, bool]:
        """What is printed: how the tensor moves, and whether somebody besides this level wants its gradient."""
        duals = [dual for dual in self.duals if dual[2] is tensor._node]
        tangent = duals[0][1] if duals else self.push([tensor])[0] if is_grad_enabled() else None
        return tangent, leads_further([tensor], [d[0] for d in self.duals])


_levels: list[Level] = []


def enter_dual_level() -> int:
    """Open the level in which dual tensors can be made.  RuntimeError if one is open."""
    if _levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _levels.append(Level())
    mode.transforms.append(_levels[-1])
    printing.moves = _levels[-1].shown
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close it: its dual tensors move no longer."""
    if not _levels:
        raise RuntimeError("Dual level must be a positive number.")
    if level not in (None, 0):
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    mode.transforms.remove(_levels.pop())
    printing.moves = None


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
        raise RuntimeError(OTHER_SIZE.format(list(tensor.shape), list(tangent.shape)))
    if tensor._node is not None and _levels[-1].push([tensor])[0] is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the same level 0 is not supported."
        )
    if tangent._node is not None and _levels[-1].push([tangent])[0] is not None:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level0 is not supported."
        )
    with enable_grad():
        own = tensor.view_as(tensor) if tensor.requires_grad else tensor.detach().requires_grad_()
        dual = owned(own.view_as(own))
    _levels[-1].duals.append((own, tangent, dual._node))
    return dual


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """(the tensor, how it moves): None for one not computed from a dual tensor, in a jvp, and once the level is closed."""
    if not _levels or _levels[-1].busy:
        return UnpackedDualTensor(tensor, None)
    if not is_grad_enabled() or (tensor._node is None and tensor.__dict__.get("_lost", ("",))[0] == "no_grad"):
        raise NotImplementedError(NOT_RECORDED)
    for own, tangent, node in _levels[-1].duals:
        if tensor._node is node:
            return UnpackedDualTensor(own.detach() if own.is_leaf else _levels[-1].still(own), tangent)
    (found,) = _levels[-1].push([tensor])
    further = leads_further([tensor], [d[0] for d in _levels[-1].duals])
    return UnpackedDualTensor(_levels[-1].still(tensor) if further else tensor.detach(), found)


def __getattr__(name: str) -> Any:
    if name == "_current_level":
        return len(_levels) - 1
    raise AttributeError(f"minigrad's forward mode has no {name!r}: only {', '.join(__all__)}")
