"""The update rules, one class each: SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, Adamax, NAdam, RAdam,
Rprop, ASGD.

Each `_update` is the formula of the algorithm, written on numpy arrays that change in place: `x` are the numbers of
one parameter, `g` its gradient, `group` the settings, and `self.state[p]` what is remembered from step to step. One
array of working memory is reused, so that a step allocates next to nothing.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import multiply, subtract

from minigrad.optim.optimizer import Array, Optimizer, zeros_like
from minigrad.tensor import Tensor, wrap


def _check(name: str, value: Any) -> None:
    if isinstance(value, Tensor) and value.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not value >= 0.0:
        raise ValueError(f"Invalid {name}: {value}")


def _check_betas(betas: tuple[float, float]) -> None:
    for index in (0, 1):
        if not 0.0 <= betas[index] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {index}: {betas[index]}")


def _check_differentiable(differentiable: bool) -> None:
    if differentiable:
        raise NotImplementedError("minigrad's optimisers update in place: differentiable=True is left out")


def _number(value: Any) -> float:
    """A setting that may be a one-element tensor, as a Python number."""
    return value.item() if isinstance(value, Tensor) else value


def _decayed(x: Array, g: Array, group: dict[str, Any]) -> Array:
    """The gradient of what is minimised: negated for `maximize`, with weight decay * x added."""
    if group["maximize"]:
        g = -g
    decay = _number(group["weight_decay"])
    return g + decay * x if decay != 0 else g


def _next_step(state: dict[str, Any]) -> float:
    """Count the steps of one parameter, from 1."""
    count = state["step"]._writable()
    count += 1
    return float(count)


def _no_steps() -> Tensor:
    return wrap(np.zeros((), np.float32))


class SGD(Optimizer):
    """Stochastic gradient descent: x -= lr * g, with momentum, Nesterov momentum and weight decay if wanted.

    >>> w = torch.tensor(3.0, requires_grad=True)
    >>> optimizer = torch.optim.SGD([w], lr=0.5)
    >>> (w * w).backward()
    >>> optimizer.step()
    >>> w
    tensor(0., requires_grad=True)
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        _check_differentiable(differentiable)
        _check("learning rate", lr)
        _check("momentum value", momentum)
        _check("weight_decay value", weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)

    def _update(self, p: Tensor, x: Array, g: Array, group: dict[str, Any]) -> None:
        change = self._buffer(x)
        if group["maximize"] or group["weight_decay"] != 0:
            g = _decayed(x, g, group)
        momentum = group["momentum"]
        if momentum != 0:
            state = self.state[p]
            velocity = state.get("momentum_buffer")
            if velocity is None:
                velocity = state["momentum_buffer"] = wrap(np.array(g))
            else:
                multiply(g, 1 - group["dampening"], out=change)
                velocity._data *= momentum
                velocity._data += change
            if group["nesterov"]:
                multiply(velocity._data, momentum, out=change)
                g = np.add(g, change, out=change)
            else:
                g = velocity._data
        multiply(g, _number(group["lr"]), out=change)
        subtract(x, change, out=x)


class Adam(Optimizer):
    """Adam: steps of about lr in every coordinate, from running means of the gradient and of its square."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        _check_differentiable(differentiable)
        _check("learning rate", lr)
        _check("epsilon value", eps)
        _check_betas(betas)
        _check("weight_decay value", weight_decay)
        if not (all(isinstance(b, float) for b in betas) or all(isinstance(b, Tensor) for b in betas)):
            raise ValueError("betas must be either both floats or both Tensors")
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)

    def _update(self, p: Tensor, x: Array, g: Array, group: dict[str, Any]) -> None:
        state = self.state[p]
        if not state:
            state.update(step=_no_steps(), exp_avg=zeros_like(x), exp_avg_sq=zeros_like(x))
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = zeros_like(x)
        step = _next_step(state)
        mean, square = state["exp_avg"]._data, state["exp_avg_sq"]._data
        lr = _number(group["lr"])
        beta1, beta2 = map(_number, group["betas"])
        change = self._buffer(x)

        if group["decoupled_weight_decay"]:
            if group["weight_decay"] != 0:
                multiply(x, 1 - lr * group["weight_decay"], out=x)
            if group["maximize"]:
                g = -g
        else:
            g = _decayed(x, g, group)

        subtract(g, mean, out=change)  # mean += (1 - beta1) * (g - mean)
        change *= 1 - beta1
        mean += change
        square *= beta2  # square = beta2 * square + (1 - beta2) * g * g
        multiply(g, 1 - beta2, out=change)
        change *= g
        square += change

        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]._data
            square = np.maximum(largest, square, out=largest)
        np.sqrt(square, out=change)  # x -= step size * mean / (sqrt(square / correction2) + eps)
        change /= (1 - beta2**step) ** 0.5
        change += group["eps"]
        np.divide(mean, change, out=change)
        change *= lr / (1 - beta1**step)
        subtract(x, change, out=x)


class AdamW(Adam):
    """Adam with decoupled weight decay: x shrinks by lr * weight_decay before each step."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )


class RMSprop(Optimizer):
    """RMSprop: the gradient divided by the root of the running mean of its square."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        _check_differentiable(differentiable)
        _check("learning rate", lr)
        _check("epsilon value", eps)
        _check("momentum value", momentum)
        _check("weight_decay value", weight_decay)
        _check("alpha value", alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(self, p: Tensor, x: Array, g: Array, group: dict[str, Any]) -> None:
        state = self.state[p]
        if not state:
            state.update(step=_no_steps(), square_avg=zeros_like(x))
            if group["momentum"] > 0:
                state["momentum_buffer"] = zeros_like(x)
            if group["centered"]:
                state["grad_avg"] = zeros_like(x)
        _next_step(state)
        g = _decayed(x, g, group)
        square, alpha, change = state["square_avg"]._data, group["alpha"], self._buffer(x)

        square *= alpha
        multiply(g, 1 - alpha, out=change)
        change *= g
        square += change
        if group["centered"]:
            mean = state["grad_avg"]._data
            subtract(g, mean, out=change)
            change *= 1 - alpha
            mean += change
            multiply(mean, mean, out=change)
            subtract(square, change, out=change)
            np.sqrt(change, out=change)
        else:
            np.sqrt(square, out=change)
        change += group["eps"]
        np.divide(g, change, out=change)
        if group["momentum"] > 0:
            velocity = state["momentum_buffer"]._data
            velocity *= group["momentum"]
            velocity += change
            np.copyto(change, velocity)
        change *= _number(group["lr"])
        subtract(x, change, out=x)


