"""torch.autograd.function: the names under which custom Functions are also found, and what they have for PyTorch's sake."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from minigrad import errors
from minigrad.function import Function, FunctionCtx, _is_one_of, once_differentiable
from minigrad.inplace import check_history
from minigrad.tape import touch
from minigrad.tensor import Tensor

__all__ = ["Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]


class InplaceFunction(Function):
    """A Function, under an old name that says that it may write into its input (see `ctx.mark_dirty`)."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


# ---------------------------------------------------------------------------------- what forward did to its tensors


def _count_writes(ctx: Any, args: Sequence[Any], outputs: Sequence[Any], recording: bool) -> None:
    """Note that forward wrote into what it marked dirty.  RuntimeError where nobody may, or for what it kept back."""
    for t in ctx._dirty:
        touch(t._counter)
        if not _is_one_of(t, outputs):
            raise RuntimeError(errors.DIRTY_NOT_RETURNED)
        if not recording:
            continue
        if t._view is None and t._node is not None and t.is_leaf:
            raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
        if not _is_one_of(t, args):
            warnings.warn(errors.NOT_AN_INPUT, UserWarning, stacklevel=3)
        if t._view is not None and len(outputs) > 1:
            raise RuntimeError(errors.DIRTY_VIEW)
        check_history(t)


def _cut_off(ctx: Any, args: Sequence[Any], outputs: list[Any]) -> None:
    """What comes out where nothing is recorded requires no grad, whatever forward made it of."""
    for i, t in enumerate(outputs):
        if isinstance(t, Tensor) and t.requires_grad and t._view is None:
            outputs[i] = t.detach() if _is_one_of(t, args) else t.detach_()


FunctionCtx.count_writes = _count_writes  # type: ignore[attr-defined]
FunctionCtx.cut_off = _cut_off  # type: ignore[attr-defined]
