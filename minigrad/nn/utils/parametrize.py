"""Parametrizations: a module's parameter becomes a function of another one, which is what training changes.

    register_parametrization(layer, "weight", Symmetric())     # layer.weight is now Symmetric()(the original)
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator, Sequence
from typing import Any

from minigrad.nn.modules.container import ModuleDict, ModuleList
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import Parameter
from minigrad.tape import no_grad
from minigrad.tensor import Tensor

_cache: dict[tuple[int, str], Tensor] | None = None


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Within this context each parametrized tensor is computed once."""
    global _cache
    before, _cache = _cache, {} if _cache is None else _cache
    try:
        yield
    finally:
        _cache = before


class ParametrizationList(ModuleList):
    """The functions that one tensor goes through, and the original tensor (or several: original0, original1, ...)."""

    def __init__(self, modules: Sequence[Module], original: Tensor) -> None:
        if not len(modules):
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        kept: Any = original
        with no_grad():
            for module in reversed(modules):
                with contextlib.suppress(NotImplementedError):  # some can be made, but not assigned to
                    kept = module.right_inverse(kept) if hasattr(module, "right_inverse") else kept
        self.is_tensor = isinstance(kept, Tensor)
        if not self.is_tensor and not isinstance(kept, Sequence):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                f"{type(kept).__name__}"
            )
        for i, each in enumerate(() if self.is_tensor else kept):
            if not isinstance(each, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element "
                    f"{i} of the sequence with type {type(each).__name__}."
                )
        if self.is_tensor and kept.dtype is not original.dtype:
            raise ValueError(
                "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {kept.dtype}"
            )
        self.ntensors = 1 if self.is_tensor else len(kept)
        for name, value in zip(self._names(), [kept] if self.is_tensor else kept, strict=True):
            value = value.detach()
            if isinstance(original, Parameter) and self.is_tensor:  # the same parameter: an optimiser may hold it
                with no_grad():
                    original.data = value
                self.register_parameter(name, original)
            elif isinstance(original, Parameter):
                self.register_parameter(name, Parameter(value, original.requires_grad))
            else:
                self.register_buffer(name, value)

    def _names(self) -> list[str]:
        return ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]

    def set_original_(self, value: Tensor) -> None:
        """Make the parametrized tensor equal `value`, through each function's `right_inverse`."""
        with no_grad():
            kept: Any = value
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                kept = module.right_inverse(kept)
            for name, each in zip(self._names(), [kept] if self.is_tensor else kept, strict=True):
                getattr(self, name).copy_(each)

    def forward(self) -> Tensor:
        first, *further = list(self)
        value: Tensor = first(*(getattr(self, name) for name in self._names()))
        for module in further:
            value = module(value)
        return value


def _property(name: str) -> property:
    def get(self: Any) -> Tensor:
        key = (id(self), name)
        if _cache is None:
            return self.parametrizations[name]()  # type: ignore[no-any-return]
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def set_(self: Any, value: Tensor) -> None:
        self.parametrizations[name].set_original_(value)

    return property(get, set_)


def _not_saved(self: Module) -> Any:
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See:\n"
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _copied(self: Module, memo: dict[int, Any]) -> Module:
    """A copy of the module has a class of its own, too."""
    kind = type(self)
    twin: Module = object.__new__(type(kind.__name__, kind.__bases__, dict(vars(kind))))
    memo[id(self)] = twin
    twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return twin


def _check_is_tensor(value: Any) -> None:
    if not isinstance(value, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(value).__name__}.")


def _check_inverse(module: Module, name: str, parametrization: Module, now: Tensor, then: Tensor) -> None:
    """ValueError if the `right_inverse` of a further parametrization, where it has one, would change shape or type."""
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back: Any = parametrization.right_inverse(then)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    for what in ("dtype", "shape"):
        if getattr(back, what) != getattr(now, what):
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} as module.{name}, unless the "
                f"`unsafe` flag is enabled.\nmodule.{name}.{what}: {getattr(now, what)}\nreturned {what}: {getattr(back, what)}"
            )


def type_before_parametrizations(module: Module) -> type:
    """The class of the module before it got its first parametrization."""
    return type(module)._unparametrized if is_parametrized(module) else type(module)  # type: ignore[attr-defined]


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether any tensor of the module (or this one) is parametrized."""
    found = module._modules.get("parametrizations")
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """From now on `module.<tensor_name>` is `parametrization(original)`; returns the module.

    ValueError if the module has no such parameter or buffer, or (unless `unsafe`) if shape or type would change.
    """
    if is_parametrized(module, tensor_name):
        chain: Any = module._modules["parametrizations"][tensor_name]  # type: ignore[index]
        if not unsafe:
            now = getattr(module, tensor_name)
            then = parametrization(now)
            _check_is_tensor(then)
            for what in ("dtype", "shape"):
                if getattr(now, what) != getattr(then, what):
                    raise ValueError(
                        f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` flag is "
                        f"enabled.\nmodule.{tensor_name}.{what}: {getattr(now, what)}\n"
                        f"parametrization(module.{tensor_name}).{what}: {getattr(then, what)}"
                    )
            _check_inverse(module, tensor_name, parametrization, now, then)
        parametrization.train(module.training)
        chain.append(parametrization)  # the original stays as it is
        return module
    held = module._parameters if tensor_name in module._parameters else module._buffers
    if tensor_name not in held:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    original: Any = held[tensor_name]
    before = original.dtype, original.shape  # it will itself be what `right_inverse` gives
    parametrization.train(module.training)
    chain = ParametrizationList([parametrization], original)
    if not unsafe:
        with no_grad():
            changed = chain()
        _check_is_tensor(changed)
        for what, was in zip(("dtype", "shape"), before, strict=True):
            if getattr(changed, what) != was:
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                    f"enabled.\nunparametrized {what}: {was}\nparametrized {what}: {getattr(changed, what)}"
                )
    del held[tensor_name]
    if not is_parametrized(module):
        kind = type(module)
        names = {"_unparametrized": kind, "__getstate__": _not_saved, "__deepcopy__": _copied}
        module.__class__ = type(f"Parametrized{kind.__name__}", (kind,), names)
        module.add_module("parametrizations", ModuleDict())
    setattr(type(module), tensor_name, _property(tensor_name))
    module._modules["parametrizations"][tensor_name] = chain  # type: ignore[index]
    return module


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Take the parametrization away: the tensor keeps its present value, or gets the original one back.

    ValueError if the tensor is not parametrized, or if there are several originals to choose from.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    chains: Any = module._modules["parametrizations"]
    chain = chains[tensor_name]
    if not chain.is_tensor and not leave_parametrized:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors."
        )
    with no_grad():
        value = chain().clone() if leave_parametrized else chain.original.detach()
    first = getattr(chain, chain._names()[0])
    delattr(type(module), tensor_name)
    del chains[tensor_name]
    if not isinstance(first, Parameter):
        module.register_buffer(tensor_name, value)
    elif chain.is_tensor:
        with no_grad():
            first.data = value
        module.register_parameter(tensor_name, first)
    else:
        module.register_parameter(tensor_name, Parameter(value, first.requires_grad))
    if not len(chains):
        del module._modules["parametrizations"]
        module.__class__ = type(module)._unparametrized  # type: ignore[attr-defined]
    return module
