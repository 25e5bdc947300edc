"""The course: exercises, their checks, notebooks and commands.

`check`, `hint`, `predict`, `keep` and `progress` are all that a notebook needs, `in_pytorch` in two lessons, and
`where_it_looks` in lesson 16. Each is loaded when it is first used, so that importing this package costs nothing and a class
grader can import a part of it without the rest.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minigrad.course.checks.checking import check, hint, predict, progress
    from minigrad.course.checks.keeping import keep
    from minigrad.course.checks.looking import where_it_looks
    from minigrad.course.checks.pytorch_programs import in_pytorch

__all__ = ["check", "hint", "in_pytorch", "keep", "predict", "progress", "where_it_looks"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        home = {"in_pytorch": "pytorch_programs", "keep": "keeping", "where_it_looks": "looking"}.get(name, "checking")
        return getattr(import_module(f"minigrad.course.checks.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
