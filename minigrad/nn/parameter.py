"""Parameter: a tensor that a module owns and an optimiser updates.

Assigning one to an attribute of a `Module` registers it there. It requires grad unless told otherwise.
"""

from __future__ import annotations

from typing import Any

from minigrad.tensor import Tensor


class Parameter(Tensor):
    """A leaf tensor that shares the memory of `data` and is registered when assigned to a module.

    Raises RuntimeError when `requires_grad` is True and `data` holds integers or booleans.
    """

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = Tensor()
        if not isinstance(data, Tensor):
            raise TypeError(f"Parameter data must be a Tensor, but got {type(data).__name__}")
        if type(requires_grad) is not bool:
            kind = type(requires_grad).__name__
            raise TypeError(f"_make_subclass(): argument 'require_grad' must be bool, not {kind}")
        if requires_grad and not data.dtype.is_floating_point:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        self: Parameter = object.__new__(cls)
        self._data = data._writable()
        self._node = None
        self._counter = data._counter
        if requires_grad:
            self.requires_grad_()
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        """The numbers alone: no gradient, no attributes."""
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.detach().clone(), self.requires_grad)
        twin: Parameter = memo[id(self)]
        return twin

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


class _Buffer(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor) and "_is_buffer" in value.__dict__

    def __call__(cls, data: Any = None, *, persistent: bool = True) -> Tensor:
        given = Tensor() if data is None else data
        made: Tensor = given.detach().requires_grad_(given.requires_grad)
        made.__dict__.update(_is_buffer=True, persistent=persistent)
        return made


class Buffer(metaclass=_Buffer):
    """`Buffer(tensor)` is the tensor itself, filed by `register_buffer` when assigned to an attribute of a module."""


def typename(thing: Any) -> str:
    """What error messages call it: 'torch.FloatTensor' for a tensor, the type's name for anything else."""
    if isinstance(thing, Tensor):
        return f"torch.{thing.dtype.tensor_name}Tensor"
    module = getattr(thing, "__module__", None)
    name: str = getattr(thing, "__qualname__", None) or type(thing).__qualname__
    return name if module in (None, "builtins") else f"{module}.{name}"
