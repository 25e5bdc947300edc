"""torch.autograd.function: the names under which custom Functions are also found."""

from minigrad.function import Function, FunctionCtx, once_differentiable

__all__ = ["Function", "FunctionCtx", "once_differentiable"]
