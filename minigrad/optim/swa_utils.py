"""Averages of a model's weights over training (`torch.optim.swa_utils`): equal weights (SWA), or exponential ones (EMA)."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import numpy as np

from minigrad.nn.modules.module import Module
from minigrad.nn.modules.normalization import _BatchNorm
from minigrad.optim.lr_scheduler import LRScheduler
from minigrad.optim.optimizer import Optimizer
from minigrad.tape import no_grad
from minigrad.tensor import Tensor, wrap

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

Average = Callable[[Any, Any, Any], Any]


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_avg_fn(decay: float = 0.999) -> Average:
    """(averaged, present, count) -> decay * averaged + (1 - decay) * present."""
    _check_decay(decay)
    return no_grad()(lambda averaged, present, count: decay * averaged + (1 - decay) * present)


def get_swa_avg_fn() -> Average:
    """(averaged, present, count) -> the mean of all `count` + 1 so far."""
    return no_grad()(lambda averaged, present, count: averaged + (present - averaged) / (count + 1))


def get_ema_multi_avg_fn(decay: float = 0.999) -> Average:
    """The same as `get_ema_avg_fn`, written into a list of tensors."""
    _check_decay(decay)

    def update(averaged: list[Tensor], present: list[Tensor], _: Any) -> None:
        for mean, new in zip(averaged, present, strict=True):
            if mean.dtype.is_floating_point:
                mean.lerp_(new, 1 - decay)
            else:
                mean.copy_(mean * decay + new * (1 - decay))

    return no_grad()(update)


def get_swa_multi_avg_fn() -> Average:
    """The same as `get_swa_avg_fn`, written into a list of tensors."""

    def update(averaged: list[Tensor], present: list[Tensor], count: Any) -> None:
        for mean, new in zip(averaged, present, strict=True):
            mean.copy_(mean + (new - mean) / (count + 1))

    return no_grad()(update)


class AveragedModel(Module):
    """A copy of a model whose weights are the average over all calls of `update_parameters(model)`.

    `avg_fn` says how one weight moves, `multi_avg_fn` how a list of them does; without either all count alike.
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Average | None = None,
        multi_avg_fn: Average | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        self.register_buffer("n_averaged", wrap(np.zeros((), np.int64)))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Let the average move towards the model's present weights; the first time, take them over."""

        def weights(of: Module) -> list[Tensor]:
            return [p.detach() for p in chain(of.parameters(), of.buffers() if self.use_buffers else ())]

        averaged, present = weights(self.module), weights(model)
        if not self.n_averaged.item():
            for mean, new in zip(averaged, present, strict=True):
                mean.copy_(new)
        elif self.avg_fn is None:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(averaged, present, self.n_averaged)
        else:
            for mean, new in zip(averaged, present, strict=True):
                mean.copy_(self.avg_fn(mean, new, self.n_averaged))
        if not self.use_buffers:  # they are not averaged: those of the model
            for own, new in zip(self.module.buffers(), model.buffers(), strict=True):
                own.copy_(new)
        self.n_averaged += 1


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Count the running statistics of all batch norms anew, in one pass over the data (of a pair, its first)."""
    norms = {module: module.momentum for module in model.modules() if isinstance(module, _BatchNorm)}
    if not norms:
        return
    training = model.training
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
    with no_grad():
        for batch in loader:
            model(batch[0] if isinstance(batch, (list, tuple)) else batch)
    for norm, momentum in norms.items():
        norm.momentum = momentum
    model.train(training)


class SWALR(LRScheduler):
    """From each group's rate to `swa_lr` in `anneal_epochs` epochs, along a cosine or a line; then constant."""

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        groups = optimizer.param_groups
        several = isinstance(swa_lr, (list, tuple))
        if several and len(swa_lr) != len(groups):
            raise ValueError(
                f"swa_lr must have the same length as optimizer.param_groups. swa_lr has {len(swa_lr)} values, param_groups "
                f"has {len(groups)}."
            )
        for group, rate in zip(groups, swa_lr if several else [swa_lr] * len(groups), strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self) -> list[float]:
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for lr, group in zip(self._present(), self.optimizer.param_groups, strict=True):
            goal = group["swa_lr"]
            first = goal if before == 1 else (lr - before * goal) / (1 - before)  # where the way began
            rates.append(goal * now + first * (1 - now))
        return rates
