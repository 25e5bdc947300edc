"""The page on which the lab opens: what is solved, where to go on, and a link to everything.

It is written anew when `minigrad lab` starts and after each check; a page of that name that is not ours is left alone.
"""

import contextlib
import functools
from pathlib import Path
from typing import Any

from minigrad.course import lessons, notebooks, progress_store
from minigrad.course.exercise import Lesson

__all__ = ["FILE", "page", "write"]

FILE = "Welcome.md"
QUOTE = "> "
OURS = "<!-- minigrad writes this page anew at each start -->"
FOOT = """
Run a cell with Shift and Enter. A lesson has two notebooks: one to read and run, and one with exercises that check
themselves.

- [Every term in plain words](notebooks/GLOSSARY.md)
- [Every error message, and what to do](notebooks/ERRORS.md)
- [Every rule of the engine](notebooks/reference/rules.md)
- [Common misconceptions about gradients](notebooks/reference/misconceptions.md)
"""


def write(folder: Path, news: list[str] | None = None) -> None:
    """Write the page into a student's folder, with what is new there; a full disk is not our news.

    Without `news` only where the page is already, and what was new stays on it.
    """
    file = folder / FILE
    with contextlib.suppress(OSError, UnicodeDecodeError):
        old = file.read_text(encoding="utf-8") if file.exists() else ""
        if (not old and news is None) or (old and OURS not in old):
            return
        if news is None:
            news = [line.removeprefix(QUOTE) for line in old.splitlines() if line.startswith(QUOTE)]
        file.write_text(page(progress_store.load(folder), news), encoding="utf-8", newline="\n")


def page(records: dict[str, dict[str, Any]], news: list[str] | None = None) -> str:
    """The text of the page for these records of progress, and what is new in the folder."""
    known = lessons.all_lessons()
    done = {each.number: sum(bool(records.get(e.id, {}).get("passed")) for e in scored(each)) for each in known}
    solved, asked = sum(done.values()), sum(len(scored(each)) for each in known)
    here = next((each for each in known if done[each.number] < len(scored(each))), None)
    lines = [OURS, "", "# Welcome to minigrad", "", f"You have solved {solved} of {asked} exercises. {go_on(here, done)}"]
    for sentence in news or ():
        lines += ["", QUOTE + sentence]
    lines += ["", "| lesson | solved | minutes | what it is about |", "|---|---|---|---|"]
    for each in known:
        exercises = f"[{done[each.number]} of {len(scored(each))}](exercises/{each.slug}{notebooks.SUFFIX}.ipynb)"
        lines.append(f"| {lesson_link(each)} | {exercises} | {minutes()[each.number]} | {each.idea} |")
    return "\n".join([*lines, FOOT])


def go_on(here: Lesson | None, done: dict[int, int]) -> str:
    """Where to go on: to the first lesson with an open exercise."""
    if here is None:
        return "That is all of them."
    words = "Go on with" if any(done.values()) else "Begin with"
    exercises = f" or with [its exercises](exercises/{here.slug}{notebooks.SUFFIX}.ipynb)" if done[here.number] else ""
    return f"**{words} {lesson_link(here)}**{exercises}."


def lesson_link(lesson: Lesson) -> str:
    """A link to a lesson."""
    return f"[{lesson.number:02d} · {lesson.title}](notebooks/{lesson.slug}.ipynb)"


def scored(lesson: Lesson) -> list[Any]:
    """The exercises of a lesson that count."""
    return [exercise for exercise in lesson.exercises if exercise.points]


@functools.cache
def minutes() -> dict[int, int]:
    """The minutes of each lesson with its exercises."""
    from minigrad.course import building

    return {each.number: sum(building.times(each)) for each in lessons.all_lessons()}
