"""Learning rate schedulers: call `scheduler.step()` after the `optimizer.step()`s of an epoch."""

from __future__ import annotations

import math
import warnings
from typing import Any

from .. import errors
from .optimizers import Optimizer

TOO_EARLY = "Detected call of `lr_scheduler.step()` before `optimizer.step()`."


class _Scheduler:
    """What the schedulers share.  A subclass says in `get_lr` what the rates of `self.last_epoch` are."""

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer, self.last_epoch = optimizer, last_epoch
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", group["lr"])
        self.base_lrs: list[float] = [group["initial_lr"] for group in optimizer.param_groups]
        self._step_count = 0
        self._last_lr: list[float] = []
        self._move()

    def get_lr(self) -> list[float]:
        """The learning rate of each group at `self.last_epoch`."""
        raise NotImplementedError

    def get_last_lr(self) -> list[float]:
        """The learning rate of each group, as it was set last."""
        return self._last_lr

    def step(self) -> None:
        """Move to the next epoch, and set its learning rates."""
        late = self.optimizer._stepped or type(self.optimizer).step is not Optimizer.step
        if self._step_count == 1 and not late:
            warnings.warn(TOO_EARLY, stacklevel=2)
        self._move()

    def _move(self) -> None:
        self._step_count += 1
        self.last_epoch += 1
        self._last_lr = self.get_lr()
        for group, lr in zip(self.optimizer.param_groups, self._last_lr):
            group["lr"] = lr

    def _present(self) -> list[float]:
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer."""
        return {key: value for key, value in vars(self).items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        vars(self).update(state_dict)


class StepLR(_Scheduler):
    """The learning rate times gamma, every `step_size` epochs.

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
        due = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return [lr * self.gamma if due else lr for lr in self._present()]


class CosineAnnealingLR(_Scheduler):
    """Half a cosine wave, from the first rate down to `eta_min` in `T_max` epochs, and back."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        low, half, epoch = self.eta_min, self.T_max, self.last_epoch
        if self._step_count == 1:
            return self._present()
        now, before = (1 + math.cos(math.pi * e / half) for e in (epoch, epoch - 1))
        # at the lowest rate: upwards again
        if before == 0:
            pairs = zip(self.base_lrs, self._present())
            return [lr + (base - low) * now / 2 for base, lr in pairs]
        return [(lr - low) * now / before + low for lr in self._present()]


errors.namespace(__name__)
