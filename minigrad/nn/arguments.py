"""How a function of networks reads its arguments: a wrong call is refused in PyTorch's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from minigrad.public import told

F = TypeVar("F", bound=Callable[..., Any])


def checked(call: F) -> F:
    """For a function of which PyTorch reads the arguments itself."""
    made: F = told(call, call.__name__)
    return made


def handing_on(order: str, to: str = "") -> Callable[[F], F]:
    """For one that is written in Python there too: which arguments it hands on, and to which function if not its own."""
    return lambda call: told(call, to or call.__name__, order=order)


def each(value: Any, n: int) -> tuple[Any, ...]:
    """One value for each of n dimensions."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n
