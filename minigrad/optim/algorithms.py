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


class Adagrad(Optimizer):
    """Adagrad: the gradient divided by the root of the sum of all its squares so far."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        _check_differentiable(differentiable)
        _check("learning rate", lr)
        _check("lr_decay value", lr_decay)
        _check("weight_decay value", weight_decay)
        _check("initial_accumulator_value value", initial_accumulator_value)
        _check("epsilon value", eps)
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            for p in group["params"]:
                start = np.full_like(p._writable(), group["initial_accumulator_value"])
                self.state[p].update(step=_no_steps(), sum=wrap(start))

    def _update(self, p: Tensor, x: Array, g: Array, group: dict[str, Any]) -> None:
        state = self.state[p]
        step = _next_step(state)
        g = _decayed(x, g, group)
        total, change = state["sum"]._data, self._buffer(x)
        multiply(g, g, out=change)
        total += change
        np.sqrt(total, out=change)
        change += group["eps"]
        np.divide(g, change, out=change)
        change *= _number(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
        subtract(x, change, out=x)


class Adadelta(Optimizer):
    """Adadelta: steps in the units of x, from running means of squared gradients and squared steps."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        _check_differentiable(differentiable)
        _check("learning rate", lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        _check("epsilon value", eps)
        _check("weight_decay value", weight_decay)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(self, p: Tensor, x: Array, g: Array, group: dict[str, Any]) -> None:
        state = self.state[p]
        if not state:
            state.update(step=_no_steps(), square_avg=zeros_like(x), acc_delta=zeros_like(x))
        _next_step(state)
        g = _decayed(x, g, group)
        square, moved = state["square_avg"]._data, state["acc_delta"]._data
        rho, eps = group["rho"], group["eps"]
        square *= rho
        square += (1 - rho) * g * g
        change = np.sqrt(moved + eps)
        change /= np.sqrt(square + eps)
        change *= g
        moved *= rho
        moved += (1 - rho) * change * change
        change *= _number(group["lr"])
        subtract(x, change, out=x)


class Adamax(Optimizer):
    """Adamax: Adam with a running maximum in place of the mean of squares."""

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        _check_differentiable(differentiable)
        _check("learning rate", lr)
        _check("epsilon value", eps)
        _check_betas(betas)
        _check("weight_decay value", weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _update(self, p: Tensor, x: Array, g: Array, group: dict[str, Any]) -> None:
        state = self.state[p]
        if not state:
            state.update(step=_no_steps(), exp_avg=zeros_like(x), exp_inf=zeros_like(x))
        step = _next_step(state)
        g = _decayed(x, g, group)
        mean, largest, change = state["exp_avg"]._data, state["exp_inf"]._data, self._buffer(x)
        beta1, beta2 = group["betas"]
        subtract(g, mean, out=change)
        change *= 1 - beta1
        mean += change
        largest *= beta2
        np.abs(g, out=change)
        change += group["eps"]
        np.maximum(largest, change, out=largest)
        np.divide(mean, largest, out=change)
        change *= _number(group["lr"]) / (1 - beta1**step)
        subtract(x, change, out=x)


class NAdam(Optimizer):
    """NAdam: Adam with Nesterov momentum."""

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        _check_differentiable(differentiable)
        _check("learning rate", lr)
        _check("epsilon value", eps)
        _check_betas(betas)
        _check("weight_decay value", weight_decay)
        _check("momentum_decay value", momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(self, p: Tensor, x: Array, g: Array, group: dict[str, Any]) -> None:
        state = self.state[p]
        if not state:
            one = wrap(np.ones((), np.float32))
            state.update(step=_no_steps(), mu_product=one, exp_avg=zeros_like(x), exp_avg_sq=zeros_like(x))
        step = _next_step(state)
        lr, (beta1, beta2) = _number(group["lr"]), group["betas"]
        if group["decoupled_weight_decay"]:
            multiply(x, 1 - lr * group["weight_decay"], out=x)
            g = -g if group["maximize"] else g
        else:
            g = _decayed(x, g, group)

        mu = beta1 * (1 - 0.5 * 0.96 ** (step * group["momentum_decay"]))
        next_mu = beta1 * (1 - 0.5 * 0.96 ** ((step + 1) * group["momentum_decay"]))
        product = state["mu_product"]._writable()
        product *= mu
        mean, square = state["exp_avg"]._writable(), state["exp_avg_sq"]._writable()
        mean += (1 - beta1) * (g - mean)
        square *= beta2
        square += (1 - beta2) * g * g
        root = np.sqrt(square / (1 - beta2**step))
        root += group["eps"]
        subtract(x, lr * (1 - mu) / (1 - float(product)) * g / root, out=x)
        subtract(x, lr * next_mu / (1 - float(product) * next_mu) * mean / root, out=x)


class RAdam(Optimizer):
    """RAdam: Adam that waits with dividing by the root of the squares until their mean is worth something."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        _check_differentiable(differentiable)
        _check("learning rate", lr)
        _check("epsilon value", eps)
        _check_betas(betas)
        _check("weight_decay value", weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _update(self, p: Tensor, x: Array, g: Array, group: dict[str, Any]) -> None:
        state = self.state[p]
        if not state:
            state.update(step=_no_steps(), exp_avg=zeros_like(x), exp_avg_sq=zeros_like(x))
        step = _next_step(state)
        lr, (beta1, beta2) = _number(group["lr"]), group["betas"]
        if group["decoupled_weight_decay"]:
            multiply(x, 1 - lr * group["weight_decay"], out=x)
            g = -g if group["maximize"] else g
        else:
            g = _decayed(x, g, group)
        mean, square = state["exp_avg"]._data, state["exp_avg_sq"]._data
        mean += (1 - beta1) * (g - mean)
        square *= beta2
        square += (1 - beta2) * g * g
        change = mean / (1 - beta1**step) * lr
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / (1 - beta2**step)  # how many gradients the mean is made of
        if length > 5:
            share = (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
            change *= (share * (1 - beta2**step)) ** 0.5 / (np.sqrt(square) + group["eps"])
        subtract(x, change, out=x)


class Rprop(Optimizer):
    """Rprop: only the gradient's sign counts; a coordinate's step grows while the sign stays and shrinks when it turns."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        _check_differentiable(differentiable)
        _check("learning rate", lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _update(self, p: Tensor, x: Array, g: Array, group: dict[str, Any]) -> None:
        state = self.state[p]
        if not state:
            sizes = wrap(np.full_like(x, _number(group["lr"])))
            state.update(step=_no_steps(), prev=zeros_like(x), step_size=sizes)
        _next_step(state)
        g = -g if group["maximize"] else g
        before, sizes = state["prev"]._data, state["step_size"]._data
        agree = np.sign(g * before)
        shrink, grow = group["etas"]
        sizes *= np.where(agree > 0, grow, np.where(agree < 0, shrink, 1.0))
        np.clip(sizes, *group["step_sizes"], out=sizes)
        before[...] = np.where(agree < 0, 0.0, g)
        subtract(x, np.sign(before) * sizes, out=x)


class ASGD(Optimizer):
    """SGD with a shrinking rate that also keeps the average of where it has been (`state[p]["ax"]`)."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        _check_differentiable(differentiable)
        _check("learning rate", lr)
        _check("weight_decay value", weight_decay)
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }
        super().__init__(params, defaults)

    def _update(self, p: Tensor, x: Array, g: Array, group: dict[str, Any]) -> None:
        state = self.state[p]
        lr, shrink = _number(group["lr"]), group["lambd"]
        if not state:
            eta, mu = (wrap(np.full((), v, np.float32)) for v in (lr, 1))
            state.update(step=_no_steps(), eta=eta, mu=mu, ax=zeros_like(x))
        step = _next_step(state)
        g = _decayed(x, g, group)
        rate, share, average = float(state["eta"]._data), float(state["mu"]._data), state["ax"]._writable()
        x *= 1 - shrink * rate
        subtract(x, rate * g, out=x)
        average += share * (x - average)
        if share == 1:
            average[...] = x
        state["eta"]._writable()[...] = np.float32(lr / (1 + shrink * lr * step) ** group["alpha"])
        state["mu"]._writable()[...] = np.float32(1 / max(1, step - group["t0"]))
