"""Class grading: verdicts that are computed outside the student's process and cannot be forged from inside it.

`grade(folder, out=...)` grades a class. Read `grader.py` first (one notebook), then `sandbox.py` and
`zygote.py` (where its code runs), `confine.py` (what the kernel is asked to forbid), `runs.py` and
`journal.py` (a whole class).
"""

from importlib import import_module
from typing import Any

LEVELS = ("namespace", "landlock", "process")  # strongest first; the last is no boundary

__all__ = ["LEVELS", "Count", "Unavailable", "grade"]

_HOMES = {"grade": "runs", "Count": "counting", "Unavailable": "sandbox"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
