"""The course: exercises, their checks, notebooks and commands.

`check`, `hint`, `predict` and `progress` are all that a notebook needs. Each is loaded when it is first used,
so that importing this package costs nothing and a class grader can import a part of it without the rest.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minigrad.course.checks.checking import check, hint, predict, progress

__all__ = ["check", "hint", "predict", "progress"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("minigrad.course.checks.checking"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
