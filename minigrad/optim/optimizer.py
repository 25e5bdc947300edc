"""Optimizer: what all optimisers share.

Parameters come in groups, dictionaries that hold a list "params" and the settings for it (learning rate, ...).
`step()` hands every parameter that has a gradient to the algorithm's `_update`, which changes the numbers in place:
the parameter stays the same leaf tensor, nothing is recorded, and its version counter notes the change.
"""

from __future__ import annotations

import copy
import functools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from minigrad.hooks import RemovableHandle
from minigrad.nn.modules.module import add_hook
from minigrad.nn.parameter import typename
from minigrad.tape import enable_grad, touch, touch_all
from minigrad.tensor import Tensor, wrap

Array = np.ndarray[Any, np.dtype[Any]]


class _Required:
    """Stands for a setting without a default."""

    def __repr__(self) -> str:
        return "<required parameter>"


required: Any = _Required()


class Optimizer:
    """Base class. A subclass calls `super().__init__(params, defaults)` and defines `_update` (or `step`).

    `params` is an iterable of tensors, of pairs (name, tensor), or of dictionaries, one a group.
    """

    _step_at_first: Any  # the method `step` of its own that it had when its first scheduler came

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        self._set_up()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + typename(params)
            )
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)
        if self.defaults.get("fused") and self.defaults.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")

    def _set_up(self) -> None:
        self._state_hooks: dict[str, OrderedDict[int, Callable[..., Any]]] = defaultdict(OrderedDict)
        self._pre_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self._post_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self._buffers: dict[Any, Array] = {}
        self._stepped = False  # learning rate schedulers want to come second

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "step" in cls.__dict__:  # a subclass with a step of its own keeps the hooks around it
            cls.step = _with_hooks(cls.__dict__["step"])  # type: ignore[method-assign]

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters with settings of their own; settings that are missing take the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but "
                "the ordering of tensors in sets will change between runs. Please use a list instead."
            )
        params = [params] if isinstance(params, Tensor) else list(params)
        named = [p[0] for p in params if isinstance(p, tuple)]
        if named:
            if len(named) < len(params):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            param_group["param_names"] = named
            params = [p for _, p in params]
        param_group["params"] = params

        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + typename(p))
            if not (p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if len(params) != len(set(params)):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an "
                "error; see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        if self.param_groups and ("param_names" in param_group) != ("param_names" in self.param_groups[0]):
            raise ValueError(
                "all optimizer param groups should be with/without names. cannot add param group "
                f"with{'' if named else 'out'} names to the optimizer"
            )
        if param_group.get("capturable"):
            raise NotImplementedError("capturable=True is for CUDA graphs, which are left out: minigrad computes on the CPU")
        known = {p for group in self.param_groups for p in group["params"]}
        if not known.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    # ------------------------------------------------------------------ the step

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters; with `set_to_none=False` fill them with zeros instead."""
        for group in self.param_groups:
            for p in group["params"]:
                if p._grad is None:
                    continue
                if set_to_none:
                    p._grad = None
                else:
                    p._grad = p._grad.detach()
                    p._grad._writable()[...] = 0
                    touch(p._grad._counter)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient, once. Returns what `closure` (if given) returned."""
        args: tuple[Any, ...] = (self,) if closure is None else (self, closure)
        if self._pre_hooks:
            args, kwargs = self._before_step(args, {})
            closure = kwargs.get("closure", args[1] if len(args) > 1 else None)
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        update = self._update
        for group in self.param_groups:
            moving = [p for p in group["params"] if p._grad is not None]
            touch_all(moving)  # at once: looking up who calls takes as long as a small update
            for p in moving:
                update(p, p._writable(), p._grad._data, group)
        self._stepped = True
        for post in list(self._post_hooks.values()):
            post(self, args, {})
        return loss

    def _before_step(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What `step` (the first of whose arguments is the optimizer) is called with, after the hooks had their say."""
        for hook in list(self._pre_hooks.values()):
            changed = hook(self, args, kwargs)
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError(
                        f"{type(self).__name__}.step must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                    )
                args, kwargs = changed
        return args, kwargs

    def _update(self, p: Tensor, x: Array, g: Array, group: dict[str, Any]) -> None:
        """Change the numbers `x` of parameter `p` in place, given its gradient `g` (which must not change)."""
        raise NotImplementedError(f"{type(self).__name__} defines neither step nor _update")

    def _buffer(self, x: Array) -> Array:
        """Working memory like `x`, kept from step to step: what is in it does not matter."""
        key = x.shape, x.dtype
        found = self._buffers.get(key)
        if found is None:
            found = self._buffers[key] = np.empty(x.shape, x.dtype)
        return found

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before each step; a pair that it returns replaces the arguments."""
        return add_hook(self._pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return add_hook(self._post_hooks, hook)

    # ------------------------------------------------------------------ saving and loading

    def register_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` before its state is put together."""
        return self._add_state_hook("before saving", hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` after it; what it returns, if not None, replaces the state."""
        return self._add_state_hook("after saving", hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` before loading; what it returns, if not None, is loaded instead."""
        return self._add_state_hook("before loading", hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(optimizer)` after loading."""
        return self._add_state_hook("after loading", hook, prepend)

    def _add_state_hook(self, when: str, hook: Callable[..., Any], prepend: bool) -> RemovableHandle:
        handle = add_hook(self._state_hooks[when], hook)
        if prepend:
            self._state_hooks[when].move_to_end(handle.id, last=False)
        return handle

    def _call_state_hooks(self, when: str, *state: Any) -> Any:
        """The state as the hooks leave it, for those that are given one."""
        for hook in list(self._state_hooks[when].values()):
            changed = hook(self, *state)
            state = (changed,) if state and changed is not None else state
        return state[0] if state else None

    def state_dict(self) -> dict[str, Any]:
        """{"state": what is remembered of each parameter, by number; "param_groups": settings and numbers}."""
        self._call_state_hooks("before saving")
        numbers: dict[Tensor, int] = {}
        for group in self.param_groups:
            for p in group["params"]:
                numbers.setdefault(p, len(numbers))
        groups = [
            {
                **{k: v for k, v in group.items() if k != "params"},
                "params": [numbers[p] for p in group["params"]],
            }
            for group in self.param_groups
        ]
        state = {numbers[p] if isinstance(p, Tensor) else p: kept for p, kept in self.state.items()}
        saved: dict[str, Any] = self._call_state_hooks("after saving", {"state": state, "param_groups": groups})
        return saved

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over the state and settings that `state_dict` gave; the groups must have the same sizes."""
        state_dict = self._call_state_hooks("before loading", dict(state_dict))
        saved_groups = copy.deepcopy(state_dict["param_groups"])
        if len(saved_groups) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        for group, saved in zip(self.param_groups, saved_groups, strict=True):
            if len(group["params"]) != len(saved["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
                )
        ours = [p for group in self.param_groups for p in group["params"]]
        theirs = [number for group in saved_groups for number in group["params"]]
        by_number = dict(zip(theirs, ours, strict=True))

        self.state = defaultdict(dict)
        for key, kept in state_dict["state"].items():
            p = by_number.get(key)
            if p is None:
                self.state[key] = kept
            else:
                self.state[p] = {name: _like(name, value, p) for name, value in kept.items()}
        for group, saved in zip(self.param_groups, saved_groups, strict=True):
            saved["params"] = group["params"]
            for name, default in self.defaults.items():  # switches that older versions did not have
                if default is None or isinstance(default, bool):
                    saved.setdefault(name, default)
        self.param_groups = saved_groups
        self._call_state_hooks("after loading")

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set_up()
        self.__dict__.update(state)

    def __repr__(self) -> str:
        parts = [
            "\n".join(
                [f"Parameter Group {number}", *(f"    {key}: {group[key]}" for key in sorted(group) if key != "params")]
            )
            for number, group in enumerate(self.param_groups)
        ]
        return f"{type(self).__name__} (\n" + "\n\n".join(parts) + "\n)"


def _like(name: str, value: Any, p: Tensor) -> Any:
    """A saved tensor in the dtype of its parameter; the step count keeps its own."""
    if not isinstance(value, Tensor) or name == "step" or not p.dtype.is_floating_point:
        return value
    kept = value.to(p.dtype)
    kept._writable()  # a number without dimensions changes in place, too
    return kept


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(step)
    def wrapped(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        given, kwargs = self._before_step((self, *args), kwargs)
        result = step(*given, **kwargs)
        self._stepped = True
        for post in list(self._post_hooks.values()):
            post(self, given, kwargs)
        return result

    return wrapped


def zeros_like(x: Array) -> Tensor:
    """A tensor of zeros to remember something in."""
    return wrap(np.zeros_like(x))
