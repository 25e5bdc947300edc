"""torch.autograd.function: the names under which custom Functions are also found."""

from minigrad import errors
from minigrad.function import Function, FunctionCtx, once_differentiable

__all__ = ["Function", "FunctionCtx", "once_differentiable"]

errors.namespace(__name__)
