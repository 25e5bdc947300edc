"""All lessons, found by number and by the names their exercises ask for.

Each file `lNN_name.py` in this folder defines one `LESSON`. A lesson is loaded when it is first asked for, so
that `find("5.1")` reads one file and a check does not wait for the other fourteen.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterable
from pathlib import Path

from ..exercise import Exercise, Lesson, roots

__all__ = ["all_exercises", "all_lessons", "best_lesson", "find", "lesson", "met", "numbers"]


@functools.cache
def files() -> dict[int, str]:
    """Lesson number -> module name."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("l[0-9][0-9]_*.py"))
    return {int(name[1:3]): name for name in names}


def numbers() -> list[int]:
    """The numbers of the lessons that exist, in order."""
    return sorted(files())


@functools.cache
def lesson(number: int) -> Lesson:
    """The lesson of this number. KeyError if there is none."""
    if number not in files():
        raise KeyError(f"there is no lesson {number}; lessons are {', '.join(map(str, numbers()))}")
    found: Lesson = importlib.import_module(f"{__name__}.{files()[number]}").LESSON
    return found


def all_lessons() -> list[Lesson]:
    """Every lesson, in order."""
    return [lesson(number) for number in numbers()]


def all_exercises() -> list[Exercise]:
    """Every exercise of every lesson, in order (predictions of the reading notebooks included)."""
    return [exercise for each in all_lessons() for exercise in each.exercises]


def find(id: str) -> Exercise:
    """The exercise of this id, for example "5.1". KeyError with the ids of the lesson if there is none."""
    match = re.fullmatch(r"\s*(\d+)\.\w+\s*", str(id))
    if not match:
        raise KeyError(f'an exercise is asked for by its id, for example "5.1", not {id!r}')
    known = {exercise.id: exercise for exercise in lesson(int(match[1])).exercises}
    if str(id).strip() not in known:
        raise KeyError(f"there is no exercise {str(id).strip()}; lesson {match[1]} has {', '.join(known)}")
    return known[str(id).strip()]


def met(misconception: str, exercise: Exercise) -> bool:
    """Whether a misconception belongs to the lesson of an exercise or to an earlier one, so that its name fits there."""
    return any(misconception in lesson(number).misconceptions for number in numbers() if number <= exercise.lesson)


def best_lesson(names: Iterable[str]) -> Lesson | None:
    """The lesson most of whose exercises ask for these names (as defined in a file); None if none does."""
    defined = set(names)

    def score(each: Lesson) -> int:
        return sum(roots(e.names) <= defined for e in each.exercises)

    best = max(all_lessons(), key=score, default=None)
    return best if best and score(best) else None
