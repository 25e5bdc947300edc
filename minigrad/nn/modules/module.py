"""Module: what every layer and every network is.

A module is a tree. Assigning a Parameter or another Module to an attribute files it in one of three dictionaries
(`_parameters`, `_buffers`, `_modules`); everything else here walks those dictionaries: listing parameters, saving
and loading a state dict, switching between training and evaluation, changing the number type, printing. Calling a
module calls its `forward`, with hooks around it if there are any.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any, Self

from minigrad.devices import check_device
from minigrad.dtypes import DType
from minigrad.hooks import RemovableHandle
from minigrad.nn.parameter import Parameter, typename
from minigrad.tape import no_grad
from minigrad.tensor import Tensor

Hook = Callable[..., Any]


_ids = count().__next__
_CALLED_HOOKS = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")


def add_hook(hooks: dict[int, Hook], hook: Hook) -> RemovableHandle:
    """File a hook under a number of its own, and return what removes it again."""
    handle = RemovableHandle(hooks, _ids())
    hooks[handle.id] = hook
    return handle


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What `load_state_dict` returns."""

    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class Module:
    """Base class of all layers and networks: subclass it, call `super().__init__()` first, define `forward`.

    >>> class Scale(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = torch.nn.Parameter(torch.tensor(2.0))
    ...
    ...     def forward(self, x):
    ...         return self.factor * x
    >>> Scale()(torch.ones(2))
    tensor([2., 2.], grad_fn=<MulBackward0>)
    >>> [name for name, _ in Scale().named_parameters()]
    ['factor']
    """

    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _version = 1
    _hooked = True  # whether it was ever given a hook to call, or never made ready by __init__
    _state_dict_hooks: Mapping[int, Any] = {}  # nobody's: a module has its own from the first hook on
    _state_dict_pre_hooks: Mapping[int, Any] = {}
    _load_state_dict_pre_hooks: Mapping[int, Any] = {}
    _load_state_dict_post_hooks: Mapping[int, Any] = {}

    def __init__(self) -> None:
        put = super().__setattr__
        put("training", True)
        put("_hooked", False)
        for name in ("_parameters", "_buffers", "_modules"):
            put(name, {})
        put("_non_persistent_buffers_set", set())
        for name in _CALLED_HOOKS:
            put(name, OrderedDict())
        put("_hooks_with_kwargs", set())
        put("_hooks_always_called", set())

    def _forward_unimplemented(self, *_: Any) -> Any:
        """What calling the module computes: the class says of which shapes, and by which formula."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    forward: Callable[..., Any] = _forward_unimplemented

    # ------------------------------------------------------------------ calling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._hooked:
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        called: set[int] = set()
        result = None
        backward = self._backward_hooks or self._backward_pre_hooks
        try:
            for key, hook in list(self._forward_pre_hooks.items()):
                if key in self._hooks_with_kwargs:
                    changed = hook(self, args, kwargs)
                    if changed is not None:
                        if not isinstance(changed, tuple) or len(changed) != 2:
                            raise RuntimeError(
                                f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                            )
                        args, kwargs = changed
                else:
                    changed = hook(self, args)
                    if changed is not None:
                        args = changed if isinstance(changed, tuple) else (changed,)
            boundary = None
            if backward:
                from minigrad.nn.modules._backward_hooks import Boundary

                boundary = Boundary(self)
                args = boundary.entered(args)
            result = self.forward(*args, **kwargs)
            for key, hook in list(self._forward_hooks.items()):
                called.add(key)
                result = self._after_forward(key, hook, args, kwargs, result)
            return result if boundary is None else boundary.left(result)
        except Exception:
            for key, hook in list(self._forward_hooks.items()):
                if key in self._hooks_always_called and key not in called:
                    try:
                        result = self._after_forward(key, hook, args, kwargs, result)
                    except Exception as second:  # the first one is raised
                        warnings.warn(
                            "module forward hook with ``always_call=True`` raised an exception that was silenced as "
                            f"another error was raised in forward: {second}",
                            stacklevel=3,
                        )
            raise

    def _after_forward(self, key: int, hook: Hook, args: Any, kwargs: Any, result: Any) -> Any:
        extra = (kwargs,) if key in self._hooks_with_kwargs else ()
        changed = hook(self, args, *extra, result)
        return result if changed is None else changed

    def _add_hook(self, hooks: OrderedDict[int, Hook], hook: Hook, prepend: bool) -> RemovableHandle:
        handle = add_hook(hooks, hook)
        self.__dict__["_hooked"] = True
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def register_forward_pre_hook(self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False) -> RemovableHandle:
        """Call `hook(module, args)` before forward; what it returns, if not None, replaces the arguments."""
        handle = self._add_hook(self._forward_pre_hooks, hook, prepend)
        if with_kwargs:
            self._hooks_with_kwargs.add(handle.id)
        return handle

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after forward; what it returns, if not None, replaces the output."""
        handle = self._add_hook(self._forward_hooks, hook, prepend)
        if with_kwargs:
            self._hooks_with_kwargs.add(handle.id)
        if always_call:
            self._hooks_always_called.add(handle.id)
        return handle

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` when the gradients of the outputs are there; it may replace them."""
        return self._add_hook(self._backward_pre_hooks, hook, prepend)

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` after the module's backward; it may replace grad_input."""
        return self._add_hook(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """PyTorch's old hook sees only the gradients of a module's last operation; left out."""
        raise NotImplementedError("register_backward_hook is deprecated and left out: use register_full_backward_hook")

    def _add_state_hook(self, name: str, hook: Any) -> RemovableHandle:
        return add_hook(self.__dict__.setdefault(name, OrderedDict()), hook)

    def register_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before this module's part of a state dict is written."""
        return self._add_state_hook("_state_dict_pre_hooks", hook)

    def register_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after it; it may change the dictionary in place."""
        return self._add_state_hook("_state_dict_hooks", (hook, False))

    def _register_state_dict_hook(self, hook: Hook) -> RemovableHandle:  # older: what it returns replaces the dictionary
        return self._add_state_hook("_state_dict_hooks", (hook, True))

    def register_load_state_dict_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)`
        before this module's own tensors are loaded: the place to rename the keys of an older checkpoint."""
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(self, hook: Hook, with_module: bool = False) -> RemovableHandle:
        return self._add_state_hook("_load_state_dict_pre_hooks", (hook, with_module))

    def register_load_state_dict_post_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after loading; it may change the two lists in place."""
        return self._add_state_hook("_load_state_dict_post_hooks", hook)

    # ------------------------------------------------------------------ attributes

    def __getattr__(self, name: str) -> Any:
        """Only called when the ordinary lookup found nothing."""
        for home in ("_parameters", "_buffers", "_modules"):
            found = self.__dict__.get(home)
            if found is not None and name in found:
                return found[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        parameters, modules, buffers = own.get("_parameters"), own.get("_modules"), own.get("_buffers")
        if isinstance(value, Parameter):
            if parameters is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, keep="_parameters")
            self.register_parameter(name, value)
        elif parameters is not None and name in parameters:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, keep="_modules")
            modules[name] = value
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            modules[name] = value
        elif isinstance(value, Tensor) and "_is_buffer" in value.__dict__:
            if buffers is None:
                raise AttributeError("cannot assign buffer before Module.__init__() call")
            self._forget(name)
            self.register_buffer(name, value, value.__dict__["persistent"])
        elif buffers is not None and name in buffers:
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{typename(value)}' as buffer '{name}' "
                    "(torch.nn.Buffer, torch.Tensor or None expected)"
                )
            buffers[name] = value
        else:
            if name in _CALLED_HOOKS:  # all of them at once, as when they are taken over from another module
                own["_hooked"] = True
            super().__setattr__(name, value)

    def _forget(self, name: str, keep: str = "") -> None:
        """Remove a name wherever it is filed, so that it is never in two places."""
        self.__dict__.pop(name, None)
        for home in ("_parameters", "_buffers", "_modules"):
            if home != keep:
                self.__dict__[home].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __delattr__(self, name: str) -> None:
        for home in ("_parameters", "_buffers", "_modules"):
            if name in self.__dict__[home]:
                del self.__dict__[home][name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = {*super().__dir__(), *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in names if not name[:1].isdigit())

    def _check_name(self, kind: str, name: Any, home: Mapping[str, Any], detail: str = "") -> None:
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."{detail}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in home:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """File a parameter under a name, as assigning it does; None reserves the name."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. "
                f"To express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """File a tensor that is part of the state but not trained, such as a running mean."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_module(self, name: str, module: Module | None) -> None:
        """Alias of `add_module`."""
        self.add_module(name, module)

    def add_module(self, name: str, module: Module | None) -> None:
        """File a child module under a name, as assigning it does."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name("module", name, self._modules, f", got: {name}")
        self._modules[name] = module

    def get_submodule(self, target: str) -> Module:
        """The module at a dotted path such as "encoder.0"; "" is this module."""
        module: Any = self
        for part in target.split(".") if target else ():
            if not hasattr(module, part):
                raise AttributeError(f"{module._get_name()} has no attribute `{part}`")
            module = getattr(module, part)
            if not isinstance(module, Module):
                raise AttributeError(f"`{part}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module at a dotted path.  With `strict`, AttributeError where there was none."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{parent._get_name()} has no attribute `{name}`")
        if not isinstance(getattr(parent, name, module), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        found = getattr(module, name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return module._buffers[name]  # type: ignore[return-value]

    # ------------------------------------------------------------------ walking the tree

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and everything below it, with dotted names; a shared module once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                below = prefix + ("." if prefix else "") + name
                yield from module.named_modules(memo, below, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """This module and everything below it."""
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly below, with their names; a shared one once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The modules directly below."""
        for _, module in self.named_children():
            yield module

    def _named_members(
        self, kind: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        found = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, module in found if recurse else [(prefix, self)]:
            for name, member in getattr(module, kind).items():
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield path + ("." if path else "") + name, member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters with dotted names; a shared one once."""
        yield from self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters: what an optimiser is given."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All buffers with dotted names; a shared one once."""
        yield from self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call `fn` on every module, children first; returns self."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    # ------------------------------------------------------------------ switches

    def train(self, mode: bool = True) -> Self:
        """Switch to training (or, with False, to evaluation): what Dropout and BatchNorm look at."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Switch to evaluation."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Switch the gradients of all parameters on or off, for instance to freeze a layer."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget all gradients; with `set_to_none=False` fill them with zeros instead."""
        for parameter in self.parameters():
            if parameter._grad is None:
                continue
            if set_to_none:
                parameter._grad = None
            else:
                parameter._grad = parameter._grad.detach()
                parameter._grad.zero_()

    # ------------------------------------------------------------------ number types

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        for module in self.children() if recurse else ():
            module._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            with no_grad():
                changed = fn(parameter)
                gradient = None if parameter._grad is None else fn(parameter._grad)
            if changed._data.dtype != parameter._data.dtype:
                wanted = parameter.requires_grad
                parameter.requires_grad_(False)  # its node on the tape remembers the old dtype
                parameter._grad = None
                parameter.data = changed
                parameter.requires_grad_(wanted)
                parameter._grad = gradient
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Change parameters and floating-point buffers to a dtype; a device other than the CPU raises."""
        Tensor().to(*args, **kwargs)  # refuses what no tensor takes
        dtype = kwargs.get("dtype")
        device = kwargs.get("device")
        for arg in args:
            if isinstance(arg, DType):
                dtype = arg
            elif isinstance(arg, Tensor):
                dtype = arg.dtype
            elif not isinstance(arg, bool):
                device = arg
        check_device(device)
        if dtype is None:
            return self
        if not dtype.is_floating_point:
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )
        return self._apply(lambda t: t.to(dtype) if t.dtype.is_floating_point else t)

    def type(self, dst_type: DType) -> Self:
        """Change every parameter and buffer to this dtype."""
        return self._apply(lambda t: t.to(dst_type))

    def float(self) -> Self:
        """Floating-point parameters and buffers to float32."""
        from minigrad.dtypes import float32

        return self.to(float32)

    def double(self) -> Self:
        """Floating-point parameters and buffers to float64."""
        from minigrad.dtypes import float64

        return self.to(float64)

    def half(self) -> Self:
        """Floating-point parameters and buffers to float16."""
        from minigrad.dtypes import float16

        return self.to(float16)

    def cpu(self) -> Self:
        """Everything is on the CPU already."""
        return self

    def compile(self, *args: Any, **options: Any) -> None:
        """Accepted: PyTorch's compiled module computes the same, and nothing is compiled here."""

    def share_memory(self) -> Self:
        """Accepted: there is one process."""
        return self

    def to_empty(self, *, device: Any, recurse: bool = True) -> Self:
        """New parameters and buffers whose values are whatever memory held; on the CPU."""
        from minigrad.creation import empty_like

        check_device(device)
        return self._apply(empty_like)

    def bfloat16(self) -> Self:
        """Raises: minigrad has no bfloat16."""
        from minigrad.dtypes import left_out

        return self.to(left_out("bfloat16"))

    def cuda(self, device: Any = None) -> Self:
        """Raises: minigrad runs on the CPU only."""
        check_device("cuda")
        return self

    # ------------------------------------------------------------------ saving and loading

    def get_extra_state(self) -> Any:
        """Override together with `set_extra_state` to store more than tensors in the state dict."""
        raise RuntimeError(f"{type(self).__name__} defines no get_extra_state")

    def set_extra_state(self, state: Any) -> None:
        """Override together with `get_extra_state`."""
        raise RuntimeError(f"{type(self).__name__} defines no set_extra_state")

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> OrderedDict[str, Any]:
        """Parameters and persistent buffers by dotted name. They share memory with the module: no copies."""
        if args:  # the old form, by position
            given = dict(zip(("destination", "prefix", "keep_vars"), args, strict=False))
            destination, prefix = given.get("destination", destination), given.get("prefix", prefix)
            keep_vars = given.get("keep_vars", keep_vars)
        state: Any = OrderedDict() if destination is None else destination
        local = {"version": self._version}
        if not hasattr(state, "_metadata") and isinstance(state, OrderedDict):
            state._metadata = OrderedDict()  # type: ignore[attr-defined]
        if hasattr(state, "_metadata"):
            state._metadata[prefix[:-1]] = local
        for before in list(self._state_dict_pre_hooks.values()):
            before(self, prefix, keep_vars)
        self._save_to_state_dict(state, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=state, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for after, may_replace in list(self._state_dict_hooks.values()):
            changed = after(self, state, prefix, local)
            if changed is not None and not may_replace:
                raise RuntimeError("state_dict post-hook must return None")
            state = state if changed is None else changed
        return state

    def _own_state(self) -> dict[str, Tensor]:
        saved: dict[str, Tensor | None] = dict(self._parameters)
        for name, buffer in self._buffers.items():
            if name not in self._non_persistent_buffers_set:
                saved[name] = buffer
        return {name: value for name, value in saved.items() if value is not None}

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, value in self._own_state().items():
            destination[prefix + name] = value if keep_vars else value.detach()
        if type(self).get_extra_state is not Module.get_extra_state:
            destination[prefix + "_extra_state"] = self.get_extra_state()

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy values into the parameters and buffers of the same names.

        With `strict`, a missing or unexpected name raises RuntimeError; a wrong shape always does. With `assign`
        the given tensors are adopted instead of copied. Returns the missing and unexpected names.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        state = OrderedDict(state_dict)  # hooks may rename what is in it
        self._load_tree(state, "", assign, getattr(state_dict, "_metadata", {}), missing, unexpected, errors)
        if strict and missing:
            errors.insert(0, "Missing key(s) in state_dict: {}. ".format(", ".join(f'"{k}"' for k in missing)))
        if strict and unexpected:
            text = "Unexpected key(s) in state_dict: {}. ".format(", ".join(f'"{k}"' for k in unexpected))
            errors.insert(1 if missing else 0, text)
        if errors:
            raise RuntimeError(
                "Error(s) in loading state_dict for {}:\n\t{}".format(type(self).__name__, "\n\t".join(errors))
            )
        return _IncompatibleKeys(missing, unexpected)

    def _load_tree(
        self, state: Mapping[str, Any], prefix: str, assign: bool, metadata: Mapping[str, Any], *found: list[str]
    ) -> None:
        local = {**metadata.get(prefix[:-1], {}), **({"assign_to_params_buffers": True} if assign else {})}
        self._load_from_state_dict(state, prefix, local, True, *found)
        for name, module in self._modules.items():
            if module is not None:
                below = f"{prefix}{name}."
                part = {key: value for key, value in state.items() if key.startswith(below)}
                module._load_tree(part, below, assign, metadata, *found)
        for after in list(self._load_state_dict_post_hooks.values()):
            if after(self, _IncompatibleKeys(*found[:2])) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not "
                    "expected to return new values, if incompatible_keys need to be modified, it should be done inplace."
                )

    def _load_from_state_dict(
        self,
        state_dict: Mapping[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Load this module's own tensors; override to accept old names."""
        for before, with_module in list(self._load_state_dict_pre_hooks.values()):
            first_of_all = (self,) if with_module else ()
            found = missing_keys, unexpected_keys, error_msgs
            before(*first_of_all, state_dict, prefix, local_metadata, strict, *found)
        own = self._own_state()
        for name, current in own.items():
            key = prefix + name
            if key not in state_dict:
                if strict:
                    missing_keys.append(key)
                continue
            given = state_dict[key]
            if isinstance(given, Tensor) and given.shape == (1,) and current.shape == ():
                given = given[0]  # as PyTorch 0.3 saved a number
            if not isinstance(given, Tensor):
                error_msgs.append(
                    f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object '
                    f"from checkpoint but received {type(given)}"
                )
            elif given.shape != current.shape:
                error_msgs.append(
                    f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, "
                    f"the shape in current model is {current.shape}."
                )
            elif local_metadata.get("assign_to_params_buffers", False):
                if isinstance(current, Parameter) and not isinstance(given, Parameter):
                    given = Parameter(given, current.requires_grad)
                setattr(self, name, given)
            else:
                with no_grad():
                    current.copy_(given)

        extra_key = prefix + "_extra_state"
        takes_extra = type(self).set_extra_state is not Module.set_extra_state
        if takes_extra and extra_key in state_dict:
            self.set_extra_state(state_dict[extra_key])
        elif takes_extra and strict:
            missing_keys.append(extra_key)
        elif strict and extra_key in state_dict:
            unexpected_keys.append(extra_key)
        if strict:
            for key in state_dict:
                if not key.startswith(prefix) or key == extra_key:
                    continue
                first, dot, _ = key[len(prefix) :].partition(".")
                if first not in (self._modules if dot else own):
                    unexpected_keys.append(key)

    # ------------------------------------------------------------------ how it looks

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What stands between the brackets of the printed form; override it for a new layer."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {_indented(repr(module))}" for name, module in self._modules.items()]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
