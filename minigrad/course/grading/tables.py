"""Tables: grades for Canvas, Moodle and spreadsheets, what moved since another report, and feedback to hand back.

A cell that a spreadsheet would take for a formula is a text, every cell is quoted, and a file is written whole or not at all.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from minigrad.course import lessons as known
from minigrad.course.grading import journal, reader
from minigrad.course.grading.tally import Class, Row, amount, exercise_order

GRADES, FEEDBACK, DIFFERENCES, MOODLE, HANDED_BACK = "grades.csv", "feedback", "differences.csv", "moodle.csv", "hand_back"
TOTAL = "Total (Final Points)"


def grades(everybody: Class) -> Iterator[str]:
    """One line a student, one column a lesson, a total.

    The first five columns are the ones that Canvas wants, which finds a student by its own number or by the login;
    Moodle takes any of them as the key of its import. Canvas makes an assignment of every other column, unless it
    names Final Points, and takes a row of Points Possible for no student's. Where a lesson was handed in but
    could not be graded, the cell is empty: no grade is not a zero.
    """
    def about(row: Row) -> tuple[str, ...]:
        person, name = row.person, everybody.name(row)
        return name, person.canvas, person.sis, person.login or ("" if person.canvas or person.sis else name), person.group

    return _table(everybody, ("Student", "ID", "SIS User ID", "SIS Login ID", "Section"), about, TOTAL)


def moodle(everybody: Class) -> Iterator[str]:
    """The same for Moodle, which finds a person by the identifier of its worksheet, the number, or the address."""
    def about(row: Row) -> tuple[str, ...]:
        return row.person.moodle, row.person.name or row.student, row.person.sis, row.person.email

    return _table(everybody, ("Identifier", "Full name", "ID number", "Email address"), about, "Total")


def _table(everybody: Class, head: Sequence[str], about: Callable[[Row], Sequence[str]], total: str) -> Iterator[str]:
    """One line a student: what is known of the person, the points of each lesson, and all of them."""
    numbers, plan = everybody.paying, everybody.plan
    yield _line([*head, *(known.lesson(number).slug for number in numbers), total])
    for row in everybody:
        cells = [_points(row, number) for number in numbers]
        yield _line([*map(reader.spreadsheet, about(row)), *cells, amount(row.total(plan)) if row.complete else ""])


def _line(cells: Sequence[str]) -> str:
    """One line of a table for spreadsheets."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_ALL).writerow(cells)
    return out.getvalue()


def _points(row: Row, number: int) -> str:
    result = row.results.get(number)
    if result is None:
        return "" if row.unread else "0"
    return amount(result.points) if result.graded else ""


_PLACED = "student TEXT, path TEXT, lesson, notebook, pack, course, verdicts, PRIMARY KEY (student, path, lesson)"


def differences(old: Iterable[dict[str, Any]], new: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Whose verdict moved between two journals, and why: one entry an exercise; "again" when nothing that is known changed."""
    both = journal.on_disk(f"old ({_PLACED}) WITHOUT ROWID", f"new ({_PLACED}) WITHOUT ROWID")
    for table, results in (("old", old), ("new", new)):
        lines = (
            (*(r[name] for name in ("student", "path", "lesson", "notebook", "pack", "course")), json.dumps(r["verdicts"]))
            for r in results
        )
        both.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?, ?, ?, ?, ?)", lines)
    places = both.execute("SELECT student, path, lesson FROM old UNION SELECT student, path, lesson FROM new ORDER BY 1, 2, 3")
    for place in places:
        was, now = (
            both.execute(f"SELECT * FROM {table} WHERE (student, path, lesson) = (?, ?, ?)", place).fetchone()
            for table in ("old", "new")
        )
        if was is None or now is None:
            why = "a new hand-in" if was is None else "no longer handed in"
        else:
            causes = ((3, "another notebook"), (4, "a changed check"), (5, "another key"))
            why = next((cause for i, cause in causes if was[i] != now[i]), "again")
        first, second = ({v["exercise"]: v for v in json.loads(r[6])} if r else {} for r in (was, now))
        for exercise in sorted(set(first) | set(second), key=exercise_order):
            a, b = first.get(exercise), second.get(exercise)
            if (a and (a["status"], a["points"])) != (b and (b["status"], b["points"])):
                yield {
                    "student": place[0], "path": place[1], "exercise": exercise, "why": why,
                    "before": a["status"] if a else "", "after": b["status"] if b else "",
                    "points": (b["points"] if b else 0.0) - (a["points"] if a else 0.0),
                }  # fmt: skip


def write_differences(folder: Path, old: Path) -> tuple[int, list[dict[str, Any]]]:
    """`differences.csv` in `folder`: what moved since the report folder or journal `old`. How many, and the first 20."""
    old = old / journal.RESULTS if old.is_dir() else old
    first: list[dict[str, Any]] = []
    count = 0

    def lines() -> Iterator[str]:
        nonlocal count
        yield _line(["Student", "File", "Exercise", "Before", "After", "Points", "Why"])
        for m in differences(journal.read(old), journal.read(folder / journal.RESULTS)):
            count += 1
            if count <= 20:
                first.append(m)
            yield _line([reader.spreadsheet(m["student"]), reader.spreadsheet(m["path"]), m["exercise"], m["before"],
                         m["after"], amount(m["points"]), m["why"]])  # fmt: skip

    journal.write_whole(folder / DIFFERENCES, lines())
    return count, first


def hand_back(folder: Path, everybody: Class) -> None:
    """The feedback pages as the plan wants them returned: a zip a student, or one a lesson that Canvas or Moodle takes.

    Canvas finds the person and the file by the numbers in a name, Moodle the person by the name of a folder: what did not
    come from there has a zip a student.
    """
    layout, target = everybody.plan.feedback, folder / HANDED_BACK
    shutil.rmtree(target, ignore_errors=True)
    if layout == "folders":
        return
    target.mkdir()
    lines = everybody.index.execute("SELECT student, lesson, page, path FROM results ORDER BY student, path")
    for student, lesson, page, path in lines:
        one, inside = f"{layout}-{known.lesson(lesson).slug}", Path(page).name
        if layout == "canvas" and reader.canvas_id(path):
            inside = f"{path.removesuffix('.ipynb')}.html"
        elif layout == "moodle" and reader.moodle_folder(path):
            inside = f"{reader.moodle_folder(path)}/{inside}"
        else:  # no folder of a student can be called like the zip of a class
            one = reader.tame(student) if layout == "zips" else f"student-{reader.tame(student)}"
        inside = re.sub(r'[\\:*?"<>|\x00-\x1f]', "_", inside)  # to some systems a backslash is a folder
        info = zipfile.ZipInfo(inside, (1980, 1, 1, 0, 0, 0))
        with zipfile.ZipFile(target / f"{one}.zip", "a", zipfile.ZIP_DEFLATED) as file:
            file.writestr(info, (folder / FEEDBACK / page).read_bytes(), zipfile.ZIP_DEFLATED)
