"""Where a student is in the course, and what comes next: the same words in cards, pages and the terminal.

`after(records)` says it for the exercise that was worked on last, `after(records, exercise)` for the one that a card is
about. A card after a pass shows `place` and `gained` as its last paragraphs, and `link(exercise)` below them.
"""

from __future__ import annotations

import functools
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import lessons, notebooks
from ..exercise import Exercise, Lesson

__all__ = ["NextStep", "address", "after", "page_of", "passed", "place", "scored", "solved", "solved_in"]

Records = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class NextStep:
    """What comes next: an exercise, or a lesson to read; neither when everything is solved.

    `place` says how much of the lesson is solved, `gained` what one can do when that is all of it, else "".
    """

    place: str
    gained: str
    lesson: Lesson | None = None
    exercise: Exercise | None = None

    @property
    def words(self) -> str:
        """What comes next, as words: "0.3 Repair it" or "lesson 01, A derivative is a slope you can measure"."""
        if self.exercise is not None:
            return f"{self.exercise.id} {self.exercise.title}"
        return f"lesson {titled(self.lesson)}" if self.lesson is not None else ""

    def link(self, done: Exercise) -> tuple[str, str]:
        """The words and their address in the notebook of the exercise that is done."""
        target = self.exercise or self.lesson
        return (self.words, address(target, page_of(done))) if target is not None else ("", "")


def after(records: Records, done: Exercise | None = None) -> NextStep:
    """What comes after an exercise, by default after the one that was worked on last.

    It is the next open exercise of its lesson, an earlier one that was left out, else the next lesson with an open one.
    """
    known = lessons.all_lessons()
    last = done or last_tried(records)
    home = lessons.lesson(last.lesson) if last is not None else known[0]
    asked = scored(home)
    at = asked.index(last) if last in asked else 0
    here = [each for each in asked[at:] + asked[:at] if not passed(records, each)]
    gained = "" if here or not learned(home.slug) else f"You can now {'; '.join(learned(home.slug))}."
    if here:
        reading = last not in asked and solved_in(records, home) == 0
        return NextStep(place(records, home), gained, home, None if reading else here[0])
    at = known.index(home)
    for onward in known[at + 1 :] + known[:at]:
        if left := [each for each in scored(onward) if not passed(records, each)]:
            return NextStep(place(records, home), gained, onward, left[0] if len(left) < len(scored(onward)) else None)
    return NextStep(place(records, home), gained)


def last_tried(records: Records) -> Exercise | None:
    """The exercise or question that was answered last: a record moves to the end when it changes."""
    known = {exercise.id: exercise for exercise in lessons.all_exercises()}
    tried = [id for id, record in records.items() if id in known and (record.get("tries") or record.get("passed"))]
    return known[tried[-1]] if tried else None


# How much is solved --------------------------------------------------------------------------------------


def scored(lesson: Lesson) -> list[Exercise]:
    """The exercises of a lesson that count; the questions of the notebook to read do not."""
    return [exercise for exercise in lesson.exercises if exercise.points]


def passed(records: Records, exercise: Exercise) -> bool:
    """Whether an exercise was ever solved."""
    return bool(records.get(exercise.id, {}).get("passed"))


def solved_in(records: Records, lesson: Lesson) -> int:
    """How many exercises of a lesson are solved."""
    return sum(passed(records, exercise) for exercise in scored(lesson))


def solved(records: Records) -> str:
    """How much of the course is solved, as a sentence."""
    known = lessons.all_lessons()
    count, asked = sum(solved_in(records, each) for each in known), sum(len(scored(each)) for each in known)
    return f"You have solved {count} of {asked} exercises." + " That is all of them." * (count == asked)


def place(records: Records, lesson: Lesson) -> str:
    """How much of a lesson is solved, as a sentence."""
    return f"Lesson {titled(lesson)}: {solved_in(records, lesson)} of {len(scored(lesson))} exercises solved."


def titled(lesson: Lesson) -> str:
    """A lesson by its number and title."""
    return f"{lesson.number:02d}, {lesson.title}"


# Where it stands -----------------------------------------------------------------------------------------


def address(target: Lesson | Exercise, page: str = "") -> str:
    """The link to a lesson, or to the heading of an exercise, on a page of the course ("" is the welcome page)."""
    if isinstance(target, Lesson):
        return posixpath.relpath(f"notebooks/{target.slug}.ipynb", posixpath.dirname(page) or ".")
    file, anchor = page_of(target), headings(lessons.lesson(target.lesson).slug).get(target.id, "")
    return anchor if file == page else posixpath.relpath(file, posixpath.dirname(page) or ".") + anchor


def page_of(exercise: Exercise) -> str:
    """The notebook that an exercise stands in, from the folder of the course."""
    return f"exercises/{lessons.lesson(exercise.lesson).slug}{notebooks.SUFFIX}.ipynb"


@functools.cache
def headings(slug: str) -> dict[str, str]:
    """The address of each exercise within its notebook, as JupyterLab makes it from the heading."""
    found = re.findall(r"^## ((\d+\.\d+) .+?) *$", prose("exercises", slug), re.MULTILINE)
    return {id: "#" + re.sub(r"[`*]", "", heading).replace(" ", "-") for heading, id in found}


@functools.cache
def learned(slug: str) -> list[str]:
    """What one can do after a lesson, from the list with which its notebook opens."""
    said = prose("notebooks", slug).partition("After this lesson you can")[2].strip()
    return [line[2:].replace("$", "") for line in said.split("\n\n")[0].splitlines() if line.startswith("- ")]


def prose(kind: str, slug: str) -> str:
    """The text of a notebook; "" where there are no notebooks."""
    file = notebooks.path(kind, slug)
    cells = notebooks.read(file)["cells"] if file.is_file() else []
    return "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "markdown")
