"""torch.autograd.function: the names under which custom Functions are also found, and what they have for PyTorch's sake."""

from __future__ import annotations

from typing import Any

from minigrad.function import Function, FunctionCtx, once_differentiable
from minigrad.tensor import Tensor

__all__ = ["Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]


class InplaceFunction(Function):
    """A Function, under an old name that says that it may write into its input (see `ctx.mark_dirty`)."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def _save_for_forward(ctx: FunctionCtx, *tensors: Tensor | None) -> None:
    """Let the tensors go: they would be for `jvp`, which minigrad does not call."""
    for t in tensors:
        if t is not None and not isinstance(t, Tensor):
            raise AssertionError(
                "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on ctx."
            )


def _jvp(ctx: Any, *tangents: Any) -> Any:
    """Raises NotImplementedError: minigrad has no forward mode, which would ask for this."""
    raise NotImplementedError(
        "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
    )


def _vmap(info: Any, in_dims: Any, *args: Any) -> Any:
    """Raises NotImplementedError: a Function says here how it is mapped over a batch, or does not."""
    raise NotImplementedError(
        "To use autograd.Function with vmap, you must either override the vmap staticmethod or set generate_vmap_rule=True."
    )


FunctionCtx.save_for_forward = _save_for_forward  # type: ignore[attr-defined]
Function.jvp = staticmethod(_jvp)  # type: ignore[attr-defined]
Function.vmap = staticmethod(_vmap)  # type: ignore[attr-defined]
Function.generate_vmap_rule = False  # type: ignore[attr-defined]
