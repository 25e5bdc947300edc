"""What a teacher reads after a run: grades.csv, report.html and a feedback page for each notebook.

Everything is written from the journal, so the same journal gives the same bytes. Three parts: tally.py counts, tables.py
writes what machines read, and pages.py what people read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from minigrad.course.grading import journal
from minigrad.course.grading.identity import Person
from minigrad.course.grading.pages import feedback_page, report_page
from minigrad.course.grading.plan import Plan
from minigrad.course.grading.tables import FEEDBACK, GRADES, MOODLE, grades, hand_back, moodle, write_whole
from minigrad.course.grading.tally import Class

REPORT = "report.html"


class Places(Protocol):
    """What is known about the files that were handed in: runs.HandIns has it."""

    def when(self, key: str) -> tuple[int, int]:
        """When the file of this result was changed last, and how many copies there were."""

    def strays(self) -> Iterator[str]:
        """What is no notebook of the course."""

    def everybody(self) -> Iterator[tuple[str, Person | None, str, bool]]:
        """Each row, the person of the class list, what to call that, and if several could be."""

    def row(self, name: str) -> str | None:
        """The row that a teacher means."""

    def doubts(self) -> list[str]:
        """Whose a hand-in is where that was in doubt."""

    def unread(self) -> Iterator[str]:
        """Students with a file of which not even the lesson is known."""


def write(folder: Path, found: Places, *, plan: Plan | None = None, asked: frozenset[int] = frozenset()) -> None:
    """Write every page and table of a report folder from its journal; who is known from `found` may have no result."""
    everybody = Class((plan or Plan()).meaning(found.row))
    for student, person, name, waiting in found.everybody():
        everybody.expect(student, person, name)
        everybody.unread |= {student} if waiting else set()
    for result in journal.read(folder / journal.RESULTS):
        counted = everybody.add(result, *found.when(result["key"]))
        write_whole(folder / FEEDBACK / counted["page"], [feedback_page(counted)])
    everybody.unread |= set(found.unread())
    for result in everybody.on_paper():
        counted = everybody.add(result)
        write_whole(folder / FEEDBACK / counted["page"], [feedback_page(counted)])
    _remove_others(folder / FEEDBACK, everybody)
    notes = [*everybody.choose(asked), *everybody.notes()]
    write_whole(folder / GRADES, grades(everybody))
    if any(person.moodle or person.email for person in everybody.plan.roster):
        write_whole(folder / MOODLE, moodle(everybody))
    write_whole(folder / REPORT, report_page(everybody, found.strays(), notes, found.doubts()))
    hand_back(folder, everybody)


def _remove_others(folder: Path, everybody: Class) -> None:
    """Take away the pages of what is no longer handed in."""
    if folder.is_dir():
        with os.scandir(folder) as students:
            for student in students:
                for page in Path(student.path).glob("*.html"):
                    if not everybody.has_page(f"{student.name}/{page.name}"):
                        page.unlink()
