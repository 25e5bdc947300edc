"""torch.amp: mixed precision is for GPUs; here a program that asks for it runs in full precision, as on PyTorch's CPU."""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

from minigrad.optim.optimizer import Optimizer


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


class GradScaler:
    """Scales losses for half precision; without a GPU it is disabled, and each method does the plain thing."""

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if enabled:
            text = "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling."
            warnings.warn(text, UserWarning, stacklevel=2)

    def scale(self, outputs: Any) -> Any:
        """The outputs, unchanged."""
        return outputs

    def unscale_(self, optimizer: Optimizer) -> None:
        """Nothing to undo."""

    def step(self, optimizer: Optimizer, *args: Any, **keywords: Any) -> Any:
        """`optimizer.step()`."""
        return optimizer.step(*args, **keywords)

    def update(self, new_scale: Any = None) -> None:
        """Nothing to adapt."""

    def is_enabled(self) -> bool:
        """Whether losses are scaled: never, without a GPU."""
        return False

    def get_scale(self) -> float:
        """The factor by which losses are scaled: 1."""
        return 1.0

    def state_dict(self) -> dict[str, Any]:
        """Nothing to remember."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Nothing to take over."""
