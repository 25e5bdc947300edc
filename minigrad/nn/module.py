"""Module: what every layer and every network is; and Parameter, what a module trains.

A module is a tree.  Assigning a Parameter, a buffer or another Module to an
attribute stores it in one of three dictionaries (`_parameters`, `_buffers`,
`_modules`).  Everything else here walks those dictionaries: listing parameters,
saving and loading, switching to evaluation, changing the dtype, printing.
Calling a module calls its `forward`, with hooks around it if there are any.
"""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from .. import dtypes, errors
from ..operation import public
from ..ops.creation import empty
from ..tape import no_grad
from ..tensor import RemovableHandle, Tensor

Hook = Callable[..., Any]


class Parameter(Tensor):
    """A leaf that a module registers when it is assigned to an attribute.

    It shares the memory of the tensor `data`, and requires grad unless told
    otherwise.  RuntimeError if it should and `data` holds integers or booleans.
    """

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Self:
        source = (empty(0) if data is None else data).detach()
        self = object.__new__(cls)
        errors.check(not requires_grad or source.is_floating_point(), errors.ONLY_FLOATS)
        self._data = source._writable()
        self._node = None
        self._counter = source._counter
        if requires_grad:
            self.requires_grad_()
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """The numbers alone: neither gradient nor attributes."""
        if id(self) not in memo:
            data = self.detach().clone()
            memo[id(self)] = type(self)(data, self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()


def typename(thing: Any) -> str:
    """What errors call a value: torch.FloatTensor, or the name of its type."""
    if isinstance(thing, Tensor):
        return str(thing.type())
    kind = type(thing)
    if kind.__module__ == "builtins":
        return kind.__name__
    return f"{kind.__module__}.{kind.__qualname__}"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """What `load_state_dict` returns."""

    __slots__ = ()

    def __repr__(self) -> str:
        if self.missing_keys or self.unexpected_keys:
            return super().__repr__()
        return "<All keys matched successfully>"


# For errors: what is assigned, and which types may replace what has this name.
_HOMES = {
    "_parameters": ("parameters", "parameter", "torch.nn.Parameter"),
    "_modules": ("module", "child module", "torch.nn.Module"),
    "_buffers": ("buffer", "buffer", "torch.nn.Buffer, torch.Tensor"),
}


class Module:
    """Base class of all layers and networks.

    Subclass it, call `super().__init__()` first, and define `forward`.

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
    # a class that forgets __init__ must fail when it is called
    _hooked = True

    def __init__(self) -> None:
        self.__dict__.update(
            training=True,
            _hooked=False,
            _parameters={},
            _buffers={},
            _modules={},
            _non_persistent_buffers_set=set(),
            _forward_hooks={},
            _forward_pre_hooks={},
        )

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        ours = cls.__module__.startswith("minigrad.")
        if ours and "__init__" in vars(cls):
            cls.__init__ = public(cls.__init__)  # type: ignore[method-assign]

    def _forward_unimplemented(self, *_: Any) -> Any:
        """What calling the module computes; each subclass defines it."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    forward: Callable[..., Any] = _forward_unimplemented

    # ---------------------------------------------------------------- calling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._hooked:
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_with_hooks(self, args: Any, kwargs: Any) -> Any:
        # what PyTorch says of a subclass that forgot super().__init__()
        if "_modules" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute '_backward_hooks'")
        for hook in list(self._forward_pre_hooks.values()):
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*args, **kwargs)
        for hook in list(self._forward_hooks.values()):
            changed = hook(self, args, result)
            result = result if changed is None else changed
        return result

    @public
    def register_forward_pre_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, args)` before forward.

        What the hook returns, if not None, replaces the arguments.
        """
        self.__dict__["_hooked"] = True
        return RemovableHandle(self._forward_pre_hooks, hook)

    @public
    def register_forward_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(module, args, output)` after forward.

        What the hook returns, if not None, replaces the output.
        """
        self.__dict__["_hooked"] = True
        return RemovableHandle(self._forward_hooks, hook)

    # ------------------------------------------------------------- attributes

    def __getattr__(self, name: str) -> Any:
        """Called only where the ordinary lookup has found nothing."""
        for home in _HOMES:
            found = self.__dict__.get(home, {})
            if name in found:
                return found[name]
        kind = type(self)
        missing = f"{kind.__name__!r} object"
        ours = kind is not Module and kind.__module__.startswith("minigrad.")
        # other names that a student's module misses are the student's own
        if ours or name.startswith("register_"):
            raise errors.no_attribute(missing, name, self)
        raise AttributeError(f"{missing} has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        kinds: tuple[Any, ...] = Parameter, Module, ()
        for (home, words), kind in zip(_HOMES.items(), kinds):
            many, one, expected = words
            own = self.__dict__.get(home)
            if isinstance(value, kind):
                if own is None:
                    raise AttributeError(f"cannot assign {many} before Module.__init__() call")
                self._forget(name, home)
                if home == "_parameters":
                    self.register_parameter(name, value)
                own[name] = value
                return
            if own is not None and name in own:
                fits = home == "_buffers" and isinstance(value, Tensor)
                if value is not None and not fits:
                    where = f"as {one} '{name}' ({expected} or None expected)"
                    raise TypeError(f"cannot assign '{typename(value)}' {where}")
                own[name] = value
                return
        super().__setattr__(name, value)

    def _forget(self, name: str, home: str) -> None:
        """Remove a name from everywhere else, so that it has one meaning."""
        self.__dict__.pop(name, None)
        for other in _HOMES.keys() - {home}:
            self.__dict__[other].pop(name, None)

    def __delattr__(self, name: str) -> None:
        for home in _HOMES:
            if name in self.__dict__[home]:
                del self.__dict__[home][name]
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        homes = [self.__dict__[home] for home in _HOMES]
        return sorted({*super().__dir__(), *(n for h in homes for n in h)})

    def _check_member(self, kind: str, name: Any, value: Any, expected: type, wanted: str) -> None:
        home = f"_{kind}s"
        if home not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if "." in name:
            got = f", got: {name}" if kind == "module" else ""
            raise KeyError(f'{kind} name can\'t contain "."{got}')
        if hasattr(self, name) and name not in self.__dict__[home]:
            raise KeyError(f"attribute '{name}' already exists")
        if value is not None and not isinstance(value, expected):
            where = f"to {kind} '{name}' ({wanted} or None required)"
            raise TypeError(f"cannot assign '{typename(value)}' object {where}")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Store a parameter under a name; None reserves the name."""
        self._check_member("parameter", name, param, Parameter, "torch.nn.Parameter")
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Store a tensor that is not trained, such as a running mean.

        A buffer that is not `persistent` is no part of the state dict.
        """
        self._check_member("buffer", name, tensor, Tensor, "torch Tensor")
        self._buffers[name] = tensor
        self._non_persistent_buffers_set.discard(name)
        if not persistent:
            self._non_persistent_buffers_set.add(name)

    def register_module(self, name: str, module: Module | None) -> None:
        """Store a child module under a name, as assigning it does."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_member("module", name, module, Module, "torch.nn.Module")
        self._modules[name] = module

    add_module = register_module

    # ------------------------------------------------------- walking the tree

    def named_modules(self, memo: set[Module] | None = None, prefix: str = "") -> Iterator[tuple[str, Module]]:
        """This module and all below it, with dotted names; each one once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, _joined(prefix, name))

    def modules(self) -> Iterator[Module]:
        """This module and all below it."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly below, with their names; each one once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The modules directly below."""
        return (module for _, module in self.named_children())

    def _members(self, home: str, prefix: str, recurse: bool) -> Iterator[tuple[str, Any]]:
        seen = set()
        for path, module in self.named_modules(None, prefix) if recurse else [(prefix, self)]:
            for name, member in getattr(module, home).items():
                if member is not None and member not in seen:
                    seen.add(member)
                    yield _joined(path, name), member

    def named_parameters(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Parameter]]:
        """All parameters, with dotted names; each one once."""
        return self._members("_parameters", prefix, recurse)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters: what an optimizer is given."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True) -> Iterator[tuple[str, Tensor]]:
        """All buffers, with dotted names; each one once."""
        return self._members("_buffers", prefix, recurse)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call `fn` on every module, children first; returns the module."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self

    # --------------------------------------------------------------- switches

    def train(self, mode: bool = True) -> Self:
        """Switch to training, or with False to evaluation.

        Dropout and BatchNorm compute something else in evaluation.
        """
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Switch to evaluation."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Let all parameters require grad, or with False freeze them."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set all gradients to None, or fill them with zeros."""
        for parameter in self.parameters():
            clear_grad(parameter, set_to_none)

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Change floating-point parameters and buffers to a dtype.

        NotImplementedError for a device other than the CPU.
        """
        asked = empty(0).to(*args, **kwargs)
        if not asked.is_floating_point():
            words = "nn.Module.to only accepts floating point or complex dtypes"
            raise TypeError(f"{words}, but got desired dtype={asked.dtype}")
        for tensor in (*self.parameters(), *self.buffers()):
            if tensor.is_floating_point():
                _recast(tensor, tensor.detach().to(*args, **kwargs))
        return self

    def float(self) -> Self:
        """Floating-point parameters and buffers to float32."""
        return self.to(dtypes.float32)

    def double(self) -> Self:
        """Floating-point parameters and buffers to float64."""
        return self.to(dtypes.float64)

    def half(self) -> Self:
        """Floating-point parameters and buffers to float16."""
        return self.to(dtypes.float16)

    def cpu(self) -> Self:
        """The module itself: everything is on the CPU."""
        return self

    def cuda(self, device: Any = None) -> Self:
        """Raises NotImplementedError: minigrad computes on the CPU only."""
        return self.to("cuda")

    # ----------------------------------------------------- saving and loading

    def state_dict(self, *, prefix: str = "") -> OrderedDict[str, Tensor]:
        """Parameters and persistent buffers by dotted name.

        The tensors share their memory with the module: nothing is copied.
        """
        state: OrderedDict[str, Tensor] = OrderedDict()
        volatile = self._non_persistent_buffers_set
        for name, value in {**self._parameters, **self._buffers}.items():
            if value is not None and name not in volatile:
                state[prefix + name] = value.detach()
        for name, module in self._modules.items():
            if module is not None:
                below = f"{prefix}{name}."
                more = module.state_dict(prefix=below)
                state.update(more)
        return state

    @public
    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> _IncompatibleKeys:
        """Copy tensors into the parameters and buffers of the same names.

        Returns the missing and the unexpected names.  RuntimeError for a
        wrong shape, and, if `strict`, for a missing or an unexpected name.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        own = self.state_dict()
        missing = [key for key in own if key not in state_dict]
        unexpected = [key for key in state_dict if key not in own]
        problems = []
        for words, keys in (("Missing", missing), ("Unexpected", unexpected)):
            if strict and keys:
                names = ", ".join(f'"{key}"' for key in keys)
                problems.append(f"{words} key(s) in state_dict: {names}. ")
        found = [key for key in own if key in state_dict]
        problems += filter(None, [_copied(key, own[key], state_dict[key]) for key in found])
        if problems:
            kind = type(self).__name__
            raise RuntimeError(f"Error(s) in loading state_dict for {kind}:\n\t" + "\n\t".join(problems))
        return _IncompatibleKeys(missing, unexpected)

    # ------------------------------------------------------------ how it looks

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What is printed between the brackets; a new layer overrides it."""
        return ""

    def __repr__(self) -> str:
        lines = self.extra_repr().split("\n")
        parts = [f"({n}): {indented(m)}" for n, m in self._modules.items()]
        return bracketed(self._get_name(), [line for line in lines if line], parts)


def bracketed(name: str, settings: list[str], parts: list[str]) -> str:
    """The printed form of a module: on one line, if it has no parts."""
    if not parts and len(settings) <= 1:
        return f"{name}({''.join(settings)})"
    return f"{name}(\n  " + "\n  ".join(settings + parts) + "\n)"


def indented(module: Any) -> str:
    """A module's printed form, as a part of another one's."""
    return repr(module).replace("\n", "\n  ")


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name


def clear_grad(tensor: Tensor, set_to_none: bool) -> None:
    """Set a gradient to None, or fill it with zeros."""
    if tensor._grad is not None and not set_to_none:
        tensor._grad = tensor._grad.detach().zero_()
    elif set_to_none:
        tensor._grad = None


def _recast(tensor: Tensor, changed: Tensor) -> None:
    """Give a leaf, and its gradient, the numbers of another dtype."""
    if changed.dtype is tensor.dtype:
        return
    tensor.data = changed
    if tensor._grad is not None:
        tensor._grad = tensor._grad.to(changed.dtype)


def _copied(key: str, current: Tensor, given: Any) -> str | None:
    """Copy one tensor of a state dict, or return why it cannot be."""
    if not isinstance(given, Tensor):
        return (
            f'While copying the parameter named "{key}", expected torch.Tensor '
            f"or Tensor-like object from checkpoint but received {type(given)}"
        )
    if given.shape != current.shape:
        return (
            f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, the shape in "
            f"current model is {current.shape}."
        )
    with no_grad():
        current.copy_(given)
    return None

