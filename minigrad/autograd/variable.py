"""Variable: what a tensor that records was called before PyTorch 0.4; old code still says `Variable(x, requires_grad=True)`."""

from __future__ import annotations

from typing import Any

from minigrad.errors import type_name
from minigrad.tensor import Tensor


class _Variable(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor)

    def __call__(cls, data: Any = None, requires_grad: bool = False) -> Tensor:
        if data is not None and not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type_name(data)}")
        made = Tensor() if data is None else data.detach()
        return made.requires_grad_() if requires_grad else made


class Variable(metaclass=_Variable):
    """`Variable(tensor, requires_grad)` is the tensor itself, as a new leaf that shares its memory."""
