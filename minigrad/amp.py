"""torch.amp: mixed precision is for GPUs; here a program that asks for it runs in full precision, as on PyTorch's CPU."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from minigrad.dtypes import float16
from minigrad.optim.optimizer import Optimizer
from minigrad.tape import touch
from minigrad.tensor import Tensor, wrap


class autocast(contextlib.ContextDecorator):
    """Changes nothing where there is no GPU.  NotImplementedError for the CPU's own half precision, unless disabled."""

    def __init__(
        self, device_type: str = "cuda", dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if device_type == "cuda" and enabled:
            text = "User provided device_type of 'cuda', but CUDA is not available. Disabling"
            warnings.warn(text, UserWarning, stacklevel=2)
        elif device_type == "cpu" and enabled:
            raise NotImplementedError("autocast('cpu') computes in bfloat16, which minigrad does not have")
        elif device_type not in ("cuda", "cpu"):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *error: Any) -> None:
        pass


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether numbers are cast in this context: never."""
    return False


def is_autocast_available(device_type: str) -> bool:
    """Whether `autocast` changes anything on such a device: nowhere."""
    return False


class GradScaler:
    """Multiplies losses by a large number so that small gradients survive half precision, and divides the gradients again.

    A step whose gradients are not finite is left out, and the number halved; after `growth_interval` good ones it doubles.
    For "cuda" it is disabled here, as without a GPU in PyTorch: then each method does the plain thing.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if enabled and device == "cuda":
            text = "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling."
            warnings.warn(text, UserWarning, stacklevel=2)
        self._enabled = enabled and device != "cuda"
        if self._enabled and growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if self._enabled and backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval, self._growth_tracker = growth_interval, 0
        self._scale, self._started = float(init_scale), False
        self._finite: dict[int, bool] = {}  # optimisers whose gradients were divided since the last update
        self._stepped: set[int] = set()

    def scale(self, outputs: Any) -> Any:
        """The outputs (a tensor, or tensors in lists and tuples) times the scale."""
        if not self._enabled:
            return outputs
        self._started = True
        if isinstance(outputs, Tensor):
            return outputs * wrap(np.float32(self._scale))
        if not isinstance(outputs, Iterable):
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")
        scaled = map(self.scale, outputs)
        return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled

    def _check_started(self, name: str) -> None:
        if not self._started:
            raise AssertionError(
                f"Attempted {name} but _scale is None.  This may indicate your script did not use scaler.scale(loss or "
                "outputs) earlier in the iteration."
            )

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients by the scale, in place, before they are clipped.  RuntimeError if they were already."""
        if not self._enabled:
            return
        self._check_started("unscale_")
        if id(optimizer) in self._stepped:
            raise RuntimeError("unscale_() is being called after step().")
        if id(optimizer) in self._finite:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        grads = [p._grad for group in optimizer.param_groups for p in group["params"] if p._grad is not None]
        finite = True
        for grad in grads:
            if grad.dtype is float16:
                raise ValueError("Attempting to unscale FP16 gradients.")
            array = grad._writable()
            finite = finite and bool(np.isfinite(array).all())
            array *= np.float32(1.0 / self._scale)
            touch(grad._counter)
        if grads:
            self._finite[id(optimizer)] = finite

    def step(self, optimizer: Optimizer, *args: Any, **keywords: Any) -> Any:
        """`optimizer.step()`, unless a gradient (divided by the scale, if it is not yet) is not finite."""
        if not self._enabled:
            return optimizer.step(*args, **keywords)
        if "closure" in keywords:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_started("step")
        if id(optimizer) in self._stepped:
            raise RuntimeError("step() has already been called since the last update().")
        if id(optimizer) not in self._finite:
            self.unscale_(optimizer)
        if id(optimizer) not in self._finite:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        self._stepped.add(id(optimizer))
        return optimizer.step(*args, **keywords) if self._finite[id(optimizer)] else None

    def update(self, new_scale: Any = None) -> None:
        """Adapt the scale to how the steps since the last update went, or set it."""
        if not self._enabled:
            return
        self._check_started("update")
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not self._finite:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif not all(self._finite.values()):
            self._scale, self._growth_tracker = self._scale * self._backoff_factor, 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                grown = float(np.float32(self._scale * self._growth_factor))
                self._scale, self._growth_tracker = grown if np.isfinite(grown) else self._scale, 0
        self._finite.clear()
        self._stepped.clear()

    def is_enabled(self) -> bool:
        """Whether losses are scaled."""
        return self._enabled

    def get_scale(self) -> float:
        """The factor by which losses are scaled; 1 if they are not."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """By how much the scale grows."""
        return self._growth_factor

    def get_backoff_factor(self) -> float:
        """By how much the scale shrinks."""
        return self._backoff_factor

    def get_growth_interval(self) -> int:
        """After how many good steps the scale grows."""
        return self._growth_interval

    def state_dict(self) -> dict[str, Any]:
        """The scale, its settings, and how many good steps there were; nothing if disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave.  RuntimeError for what a disabled scaler gave."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._scale = state_dict["scale"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval, self._growth_tracker = state_dict["growth_interval"], state_dict["_growth_tracker"]
