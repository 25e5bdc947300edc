"""Class grading: verdicts that are computed outside the student's process and cannot be forged from inside it.

`grade(folder, out=...)` grades a class. Read `grader.py` first (one notebook), then `sandbox.py` and
`zygote.py` (where its code runs), `confine.py` (what the kernel is asked to forbid), `runs.py` and
`journal.py` (a whole class).
"""

from importlib import import_module
from typing import Any

LEVELS = ("namespace", "landlock", "process")  # strongest first; the last is no boundary

# What a teacher has to know of a level that is not the strongest.
WEAKER = {
    "landlock": "Level landlock: students' code can read and change nothing of yours, but it can ask whether a file exists, and"
                " which process numbers are taken. The level namespace hides these, too: minigrad doctor says what it needs.",
    "process": "Level process: this is not a security boundary. These submissions ran with your rights.",
}  # fmt: skip

__all__ = ["LEVELS", "WEAKER", "Count", "Unavailable", "grade"]

_HOMES = {"grade": "runs", "Count": "runs", "Unavailable": "sandbox"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
