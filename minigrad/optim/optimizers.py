"""Optimizers: what turns gradients into better parameters.

Parameters come in groups, dictionaries with a list "params" and the settings for it.  `step` changes the numbers of
every parameter that has a gradient in place: it stays the same leaf, nothing is recorded, and its version counter
notes the change.  Each `_update` is the formula of its algorithm on arrays: `x` are a parameter's numbers, `g` its
gradient, `self.state[p]` what is remembered from step to step.
"""

from __future__ import annotations

import copy
import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy import multiply, subtract

from ..nn.module import clear_grad, typename
from ..operation import public
from ..tape import bump_version, enable_grad
from ..tensor import Tensor, wrap

# numpy.ndarray
Array = Any
Group = dict[str, Any]


class Optimizer:
    """Base class.  A subclass calls `super().__init__(params, defaults)` and defines `step` or `_update`.

    params: an iterable of tensors, of pairs (name, tensor), or of dictionaries, one for each group.
    """

    def __init__(self, params: Any, defaults: Group) -> None:
        self.defaults = defaults
        self.state: defaultdict[Any, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[Group] = []
        self._scratch: dict[Any, Array] = {}
        # a scheduler's step should come after the optimizer's
        self._stepped = False
        if isinstance(params, Tensor):
            words = "params argument given to the optimizer should be an iterable of Tensors or dicts"
            raise TypeError(f"{words}, but got {typename(params)}")
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if cls.__module__ == __name__:
            cls.__init__ = public(cls.__init__)  # type: ignore[method-assign]

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters with settings of their own; those that are missing are the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        if params and all(isinstance(p, tuple) for p in params):
            param_group["param_names"] = [name for name, _ in params]
            params = [p for _, p in params]
        param_group["params"] = params
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + typename(p))
            if not (p.is_leaf or p.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            param_group.setdefault(name, default)
        if len(params) != len(set(params)):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        known = {p for group in self.param_groups for p in group["params"]}
        if not known.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set all gradients to None, or fill them with zeros."""
        for group in self.param_groups:
            for p in group["params"]:
                clear_grad(p, set_to_none)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient.

        A closure computes the loss and the gradients anew before; its result is returned.
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        update = self._update
        for group in self.param_groups:
            moving = [p for p in group["params"] if p._grad is not None]
            # at once: to look for the call site takes as long as a small update
            bump_version(*moving)
            for p in moving:
                update(p, p._writable(), p._grad._data, group)
        self._stepped = True
        return loss

    def _update(self, p: Tensor, x: Array, g: Array, group: Group) -> None:
        """Change the numbers x of the parameter p in place.  The gradient g must not change."""
        raise NotImplementedError(f"{type(self).__name__} defines neither step nor _update")

    def _memory(self, x: Array) -> Array:
        """An array like x to compute in, the same at every step: what it holds does not matter."""
        key = x.shape, x.dtype
        if key not in self._scratch:
            self._scratch[key] = np.empty(x.shape, x.dtype)
        return self._scratch[key]

    def state_dict(self) -> dict[str, Any]:
        """The settings of all groups, and what is remembered of each parameter, by its number."""
        params = [p for group in self.param_groups for p in group["params"]]
        numbers = {p: i for i, p in enumerate(params)}
        groups = [dict(group) for group in self.param_groups]
        for group in groups:
            group["params"] = [numbers[p] for p in group["params"]]
        state = {numbers[p]: values for p, values in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Take over what `state_dict` gave.  ValueError unless the groups have the same sizes."""
        saved = copy.deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        params: dict[int, Tensor] = {}
        for group, given in zip(self.param_groups, saved):
            if len(group["params"]) != len(given["params"]):
                words = "loaded state dict contains a parameter group"
                raise ValueError(f"{words} that doesn't match the size of optimizer's group")
            params.update(zip(given["params"], group["params"]))
            given["params"] = group["params"]
        self.param_groups = saved
        self.state = defaultdict(dict)
        for number, values in copy.deepcopy(state_dict["state"]).items():
            kind = params[number].dtype
            self.state[params[number]] = {
                name: value.to(kind) if isinstance(value, Tensor) and name != "step" else value
                for name, value in values.items()
            }

    def __repr__(self) -> str:
        parts = []
        for number, group in enumerate(self.param_groups):
            settings = [f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params"]
            parts.append(f"Parameter Group {number}\n" + "".join(settings))
        return f"{type(self).__name__} (\n" + "\n".join(parts) + ")"


def _check(**settings: Any) -> None:
    """ValueError for a setting below 0."""
    for name, value in settings.items():
        if not value >= 0.0:
            words = {"lr": "learning rate", "eps": "epsilon value"}.get(name, f"{name} value")
            raise ValueError(f"Invalid {words}: {value}")


def _wanted(x: Array, g: Array, group: Group) -> Array:
    """The gradient of what is minimised: negated to maximise, with weight decay plus decay * x."""
    g = -g if group["maximize"] else g
    decay = group["weight_decay"]
    return g + decay * x if decay else g


def _zeros(x: Array) -> Tensor:
    return wrap(np.zeros_like(x))


def _count(state: dict[str, Any]) -> float:
    """Count the steps of a parameter, from 1."""
    count = state["step"]._writable()
    count += 1
    return float(count)


class SGD(Optimizer):
    """Stochastic gradient descent: x -= lr * g, with momentum and weight decay if wanted.

    >>> w = torch.tensor(3.0, requires_grad=True)
    >>> optimizer = torch.optim.SGD([w], lr=0.5)
    >>> (w * w).backward()
    >>> optimizer.step()
    >>> w
    tensor(0., requires_grad=True)
    """

    def __init__(
        self, params: Any, lr: float = 1e-3, momentum: float = 0, dampening: float = 0,
        weight_decay: float = 0, nesterov: bool = False, *, maximize: bool = False,
    ) -> None:
        _check(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening,
            "weight_decay": weight_decay, "nesterov": nesterov, "maximize": maximize,
            "foreach": None, "differentiable": False, "fused": None,
        }
        super().__init__(params, defaults)

    def _update(self, p: Tensor, x: Array, g: Array, group: Group) -> None:
        change = self._memory(x)
        if group["maximize"] or group["weight_decay"]:
            g = _wanted(x, g, group)
        if momentum := group["momentum"]:
            state = self.state[p]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = wrap(np.array(g))
                velocity = state["momentum_buffer"]._data
            # velocity = momentum * velocity + (1 - dampening) * g
            else:
                velocity = state["momentum_buffer"]._writable()
                velocity *= momentum
                velocity += multiply(g, 1 - group["dampening"], out=change)
            g = g + momentum * velocity if group["nesterov"] else velocity
        multiply(g, group["lr"], out=change)
        subtract(x, change, out=x)


class Adam(Optimizer):
    """Adam: steps of about lr in each direction, from running means of the gradient and of its square."""

    # whether weight decay acts on x itself, and not on the gradient
    decoupled = False

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 0, *, maximize: bool = False,
    ) -> None:
        _check(lr=lr, eps=eps)
        for index, beta in enumerate(betas):
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
        _check(weight_decay=weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "amsgrad": False, "maximize": maximize, "foreach": None, "capturable": False,
            "differentiable": False, "fused": None, "decoupled_weight_decay": self.decoupled,
        }
        super().__init__(params, defaults)

    def _update(self, p: Tensor, x: Array, g: Array, group: Group) -> None:
        state = self.state[p]
        if not state:
            state.update(step=_zeros(np.float32(0)), exp_avg=_zeros(x), exp_avg_sq=_zeros(x))
        step, lr, (beta1, beta2) = _count(state), group["lr"], group["betas"]
        mean, square = state["exp_avg"]._writable(), state["exp_avg_sq"]._writable()
        change = self._memory(x)
        if group["decoupled_weight_decay"]:
            x *= 1 - lr * group["weight_decay"]
            g = -g if group["maximize"] else g
        else:
            g = _wanted(x, g, group)

        # mean += (1 - beta1) * (g - mean)
        subtract(g, mean, out=change)
        change *= 1 - beta1
        mean += change
        # square = beta2 * square + (1 - beta2) * g * g
        square *= beta2
        multiply(g, 1 - beta2, out=change)
        change *= g
        square += change

        # x -= step size * mean / (sqrt(square / correction) + eps)
        np.sqrt(square, out=change)
        change /= (1 - beta2**step) ** 0.5
        change += group["eps"]
        np.divide(mean, change, out=change)
        change *= lr / (1 - beta1**step)
        subtract(x, change, out=x)


class AdamW(Adam):
    """Adam with decoupled weight decay: x shrinks by lr * weight_decay before each step."""

    decoupled = True

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8, weight_decay: float = 1e-2, *, maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, maximize=maximize)


class RMSprop(Optimizer):
    """RMSprop: the gradient divided by the root of the running mean of its square."""

    def __init__(
        self, params: Any, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
        weight_decay: float = 0, momentum: float = 0, *, maximize: bool = False,
    ) -> None:
        _check(lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": False,
            "weight_decay": weight_decay, "capturable": False, "foreach": None, "maximize": maximize,
            "differentiable": False,
        }
        super().__init__(params, defaults)

    def _update(self, p: Tensor, x: Array, g: Array, group: Group) -> None:
        state, alpha = self.state[p], group["alpha"]
        if not state:
            state.update(step=_zeros(np.float32(0)), square_avg=_zeros(x))
            if group["momentum"]:
                state["momentum_buffer"] = _zeros(x)
        _count(state)
        g = _wanted(x, g, group)
        square = state["square_avg"]._writable()
        square *= alpha
        square += (1 - alpha) * g * g
        change = g / (np.sqrt(square) + group["eps"])
        if group["momentum"]:
            velocity = state["momentum_buffer"]._writable()
            velocity *= group["momentum"]
            velocity += change
            change = velocity
        subtract(x, group["lr"] * change, out=x)
