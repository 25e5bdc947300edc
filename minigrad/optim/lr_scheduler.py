"""Learning rate schedulers: call `scheduler.step()` once an epoch, after `optimizer.step()`.

Each scheduler keeps the learning rates it started from (`base_lrs`) and says in `get_lr` what they are now. Most
compute the next rate from the present one, so that two schedulers can work on the same optimiser.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable
from typing import Any

from minigrad.optim.optimizer import Optimizer
from minigrad.tensor import Tensor

_TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call "
    "them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in "
    "PyTorch skipping the first value of the learning rate schedule. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)

_REPLACED = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, make sure to "
    "call `optimizer.step()` before `lr_scheduler.step()`. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)

_EPOCH = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
    "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed form is "
    "used instead of the new chainable form, where available. Please open an issue if you are unable to replicate your use "
    "case: https://github.com/pytorch/pytorch/issues/new/choose."
)


class LRScheduler:
    """Base class: a subclass defines `get_lr`, which returns one rate for each parameter group."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        _check_optimizer(optimizer)
        self.optimizer = optimizer
        for index, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _number(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{index}] when resuming scheduler "
                    "with last_epoch >= 0.\nThis typically happens when:\n"
                    "1. You're trying to resume training from a checkpoint but haven't properly loaded the optimizer state\n"
                    "2. You're using last_epoch >= 0 for a fresh training run (not recommended)"
                )
        self.base_lrs: list[float] = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count, self._is_initial = 0, False
        self._get_lr_called_within_step = False  # in PyTorch's state dict, of no use here
        self._last_lr: list[float] = []
        if not hasattr(optimizer, "_step_at_first"):  # its first scheduler: from here on it is watched
            optimizer._stepped, optimizer._step_at_first = False, vars(optimizer).get("step")
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count, self._is_initial = 0, True  # many rates stay as they are when training is taken up again
        self.step()
        self._is_initial = False

    def get_lr(self) -> list[float]:
        """The learning rates at `self.last_epoch`."""
        raise NotImplementedError

    def get_last_lr(self) -> list[float]:
        """The learning rates that were set last."""
        return self._last_lr

    def step(self, epoch: Any = None) -> None:
        """Move to the next epoch (or, deprecated, to this one) and set its learning rates."""
        if self._step_count == 1 and vars(self.optimizer).get("step") is not self.optimizer._step_at_first:
            warnings.warn(_REPLACED, UserWarning, stacklevel=2)
        elif self._step_count == 1 and not self.optimizer._stepped:
            warnings.warn(_TOO_EARLY, UserWarning, stacklevel=2)
        if epoch is not None:
            warnings.warn(_EPOCH, UserWarning, stacklevel=2)
        self._step_count += 1
        self._move(epoch)

    def _move(self, epoch: Any = None) -> None:
        """To the next epoch; or to this one, by the closed form if there is one."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        rates = self.get_lr if epoch is None else getattr(self, "_get_closed_form_lr", self.get_lr)
        self._set(rates())

    def _set(self, rates: list[float]) -> None:
        for group, lr in zip(self.optimizer.param_groups, rates, strict=True):
            _set_rate(group, lr)
        self._last_lr = self._reported()

    def _present(self) -> list[float]:
        return [_number(group["lr"]) for group in self.optimizer.param_groups]

    def _reported(self) -> list[Any]:
        """The present rates for `get_last_lr`: of a tensor a copy, for it will change."""
        rates = [group["lr"] for group in self.optimizer.param_groups]
        return [lr.clone() if isinstance(lr, Tensor) else lr for lr in rates]

    def _scaled(self, factor: float) -> list[float]:
        return [lr * factor for lr in self._present()]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        self.__dict__.update(state_dict)


def _number(lr: Any) -> float:
    return lr.item() if isinstance(lr, Tensor) else lr


def _set_rate(group: dict[str, Any], lr: float) -> None:
    """The group's rate; one in a tensor stays in this tensor, which others may hold."""
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(lr)
    else:
        group["lr"] = lr


class _LRScheduler(LRScheduler):
    """The base class's name before PyTorch 2.0, for schedulers written then."""


def _held(f: Any) -> Any:
    """What is saved of a function: nothing; of an object that can be called, what it holds."""
    return None if f is None or inspect.isroutine(f) else vars(f).copy()


def _one_each(given: Any, count: int) -> list[Callable[[int], float]]:
    if not isinstance(given, (list, tuple)):
        return [given] * count
    if len(given) != count:
        raise ValueError(f"Expected {count} lr_lambdas, but got {len(given)}")
    return list(given)


class StepLR(LRScheduler):
    """Times gamma every `step_size` epochs.

    >>> optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    >>> for epoch in range(4):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._present()
        return self._scaled(self.gamma)

    def _get_closed_form_lr(self) -> list[float]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Half a cosine wave from the base rate down to `eta_min` in `T_max` epochs, and back again."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        epoch, half, low = self.last_epoch, self.T_max, self.eta_min
        if self._is_initial:
            return self._present()
        if (epoch - 1 - half) % (2 * half) == 0:
            turn = (1 - math.cos(math.pi / half)) / 2
            return [lr + (base - low) * turn for base, lr in zip(self.base_lrs, self._present(), strict=True)]
        factor = (1 + math.cos(math.pi * epoch / half)) / (1 + math.cos(math.pi * (epoch - 1) / half))
        return [factor * (lr - low) + low for lr in self._present()]

    def _get_closed_form_lr(self) -> list[float]:
        return [
            self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
            for base in self.base_lrs
        ]


def _check_optimizer(optimizer: Any) -> None:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def _check_count(name: str, count: Any) -> int:
    if not isinstance(count, int) or count <= 0:
        raise ValueError(f"Expected positive integer {name}, but got {count}")
    return count


