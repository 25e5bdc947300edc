"""torch.autograd.grad_mode: the grad modes under their module's name, and two switches that change little here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from minigrad.decorating import decorated
from minigrad.tape import enable_grad, inference_mode, no_grad, set_grad_enabled
from minigrad.tensor import Tensor

__all__ = [
    "enable_grad",
    "inference_mode",
    "is_multithreading_enabled",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

_thread = threading.local()


def is_multithreading_enabled() -> bool:
    """What `set_multithreading_enabled` was last told in this thread."""
    return getattr(_thread, "enabled", True)


class set_multithreading_enabled:
    """Remembered, at once or for a `with` block; a backward pass runs in the calling thread either way."""

    def __init__(self, mode: bool) -> None:
        self.before, self.mode = is_multithreading_enabled(), mode
        _thread.enabled = mode

    def __enter__(self) -> None:
        _thread.enabled = self.mode

    def __exit__(self, *_: object) -> None:
        _thread.enabled = self.before

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        _thread.enabled = self.before  # as a decorator, nothing is switched until the function runs
        return decorated(function, lambda: set_multithreading_enabled(self.mode))


@contextmanager
def _unsafe_preserve_version_counter(tensors: Tensor | tuple[Tensor, ...]) -> Iterator[None]:
    """Within the `with` block writes to these tensors are not counted: backward does not notice them."""
    watched = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
    before = [t._counter[0] for t in watched]
    try:
        yield
    finally:
        for t, version in zip(watched, before, strict=True):
            t._counter[0] = version
