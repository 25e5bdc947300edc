"""Questions and switches about how PyTorch runs.  Here everything runs in one way: on the CPU, exactly, in order.

A switch that cannot change a result is accepted, so that programs written for other machines run unchanged; one that
would is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.devices import CPU, Device, check_device

__all__ = [
    "are_deterministic_algorithms_enabled", "compile", "get_default_device", "get_float32_matmul_precision",
    "get_num_threads", "set_default_device", "set_float32_matmul_precision", "set_num_threads",
    "use_deterministic_algorithms",
]  # fmt: skip

_now: dict[str, Any] = {"deterministic": False, "precision": "highest", "threads": 1}


def compile(model: Any = None, **options: Any) -> Any:
    """The function or module itself: PyTorch's compiled one computes the same, and nothing is compiled here."""
    if model is not None:
        return model

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    return decorate


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Accepted: every operation gives the same result each time anyway."""
    _now["deterministic"] = bool(mode)


def are_deterministic_algorithms_enabled() -> bool:
    return bool(_now["deterministic"])


def set_float32_matmul_precision(precision: str) -> None:
    """Accepted ("highest", "high" or "medium"): matrices are multiplied in full precision whatever it says."""
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"{precision} is not one of 'highest', 'high', or 'medium'; the current matmul precision stays")
    _now["precision"] = precision


def get_float32_matmul_precision() -> str:
    return str(_now["precision"])


def set_num_threads(num: int) -> None:
    """Accepted: numpy decides by itself how many threads it uses."""
    if num <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    _now["threads"] = num


def get_num_threads() -> int:
    return int(_now["threads"])


def set_default_device(device: Any) -> None:
    """The CPU only; NotImplementedError for another device."""
    check_device(device)


def get_default_device() -> Device:
    return CPU
