"""What a teacher reads after a run: grades.csv, report.html and a feedback page for each notebook.

Everything is written from the journal, so the same journal gives the same bytes. The pages work offline and
on paper, in light and dark. Whatever comes from students (names, files, values) is text and nothing else:
escaped, cut, with invisible and direction-changing characters spelled out; and a content security policy
lets no script run but the one sorting and filtering script of the report, known by its hash.
"""

from __future__ import annotations

import base64
import csv
import dataclasses
import functools
import hashlib
import html
import io
import itertools
import json
import math
import operator
import os
import re
import shutil
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from minigrad.course import lessons as known
from minigrad.course import misconceptions
from minigrad.course.exercise import EDITION
from minigrad.course.grading import journal, reader
from minigrad.course.grading.identity import Person
from minigrad.course.grading.index import on_disk
from minigrad.course.grading.plan import Plan

GRADES, REPORT, FEEDBACK, DIFFERENCES = "grades.csv", "report.html", "feedback", "differences.csv"
MOODLE, HANDED_BACK = "moodle.csv", "hand_back"
TOTAL = "Total (Final Points)"
_LONGEST = 2_000
_MOST_NOTES = 200
_LABEL = {"passed": "passed", "wrong": "not right", "error": "raised an error", "timeout": "took too long",
          "memory": "too much memory", "forbidden": "not allowed", "missing": "not found",
          "not attempted": "not attempted", "not graded": "not graded"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Counted:
    """What the class report needs of one notebook; a verdict is exercise, status, misconception and mistake."""

    points: float
    out_of: float
    graded: bool
    page: str
    verdicts: list[tuple[str, str, str, str]]
    days: int = 0


@dataclass(slots=True)
class Row:
    """One student: the folder's name, the line of the class list, and the counting result of each lesson."""

    student: str
    person: Person
    results: dict[int, Counted] = field(default_factory=dict)
    shown: str = ""
    unread: bool = False  # there is a file of which nobody knows what is in it: what is missing may be there

    @property
    def called(self) -> str:
        """The name in the class list; of two people of one name with what tells them apart."""
        return self.shown or self.student

    @property
    def complete(self) -> bool:
        return not self.unread and all(result.graded for result in self.results.values())

    def total(self, plan: Plan) -> float:
        """The sum of the points; with weights, a percentage."""
        if not plan.weights:
            return float(sum(result.points for result in self.results.values()))
        reached = sum(w * r.points / r.out_of for n, w in plan.weights.items() if (r := self.results.get(n)) and r.out_of)
        return 100 * reached / (sum(plan.weights.values()) or 1.0)


class Class:
    """All students with their counting results, in an index on disk; goes through them one by one, by name."""

    def __init__(self, plan: Plan | None = None) -> None:
        self.plan = plan or Plan()
        self.unread: set[str] = set()
        self.counting: frozenset[int] | None = None  # the lessons that count; all of them if None
        self.index = on_disk(
            "results (student TEXT, lesson, canvas, points, out_of, graded, page, verdicts, isolation, seconds, days, copies,"
            " notebook, likeness, published, path, time, why, PRIMARY KEY (student, lesson)) WITHOUT ROWID",
            "students (name TEXT PRIMARY KEY, about TEXT, shown TEXT) WITHOUT ROWID",
            "pages (name TEXT PRIMARY KEY, student TEXT) WITHOUT ROWID",
            "shown (name TEXT PRIMARY KEY) WITHOUT ROWID",
        )

    def add(self, result: dict[str, Any], nanoseconds: int = 0, copies: int = 1) -> dict[str, Any]:
        """Take one notebook in, last changed then; the result as it counts, with its `page`. The latest of several stays."""
        result = self.counted(result, nanoseconds, copies)
        verdicts = [
            (v["exercise"], v["status"], v.get("misconception", ""), v.get("mistake", "")) for v in result["verdicts"]
        ]
        page = result["page"] = feedback_name(result, self.has_page)
        student = self.expect(result["student"])
        self.index.execute("INSERT INTO pages VALUES (?, ?)", (page.lower(), student))
        self.index.execute(
            "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET points = excluded.points, out_of = excluded.out_of, graded = excluded.graded,"
            " page = excluded.page, verdicts = excluded.verdicts, isolation = excluded.isolation, seconds = excluded.seconds,"
            " days = excluded.days, copies = copies + 1, notebook = excluded.notebook, likeness = excluded.likeness,"
            " published = excluded.published, path = excluded.path, time = excluded.time, why = excluded.why"
            " WHERE (excluded.time, excluded.path) > (time, path)",
            (student, result["lesson"], reader.canvas_id(result["path"]), result["points"], result["out_of"],
             bool(result["graded"]), page, json.dumps(verdicts), result["isolation"], result["seconds"], result["days"],
             copies, result["notebook"], result.get("like", ""), bool(result.get("published")), result["path"], nanoseconds,
             result["problem"] or next((v["lines"][0] for v in result["verdicts"] if v["lines"] and not result["graded"]), "")),
        )  # fmt: skip
        return result

    def counted(self, result: dict[str, Any], nanoseconds: int, copies: int) -> dict[str, Any]:
        """A result with the points that the plan makes of it: partial credit, corrections, late days, worth."""
        plan, student, lesson = self.plan, result["student"], result["lesson"]
        verdicts, remarks, graded = [], [], True
        for verdict in result["verdicts"]:
            v = dict(verdict)
            if plan.partial and v["status"] in ("wrong", "error") and v.get("asked", 0) >= 4:
                v["points"] = math.floor(100 * v["out_of"] * v["agreed"] / v["asked"]) / 100
                v["lines"] = [*v["lines"], f"{v['agreed']} of the {v['asked']} questions that are yours alone are right."]
            if not plan.written and _practice(v["exercise"]):
                v["points"] = v["out_of"] = 0.0
            correction = plan.override(student, lesson, v["exercise"])
            if correction:
                v["points"] = correction.points
                v["lines"] = [*v["lines"], f"Your teacher set the points to {_number(correction.points)}: {correction.comment}"]
            graded &= v["status"] != "not graded" or correction is not None
            verdicts.append(v)
        points, out_of = sum(v["points"] for v in verdicts), sum(v["out_of"] for v in verdicts)
        if lesson in plan.points:
            points, out_of = points * plan.points[lesson] / (out_of or 1.0), plan.points[lesson]
        days = plan.days_late(student, lesson, nanoseconds, reader.was_late(result["path"]))
        if days and (plan.per_day or plan.days < math.inf):
            kept = plan.kept(days)
            remarks.append(f"Handed in {days} day{'s' * (days > 1)} late: {100 * kept:.0f} % of the points count.")
            points *= kept
        correction = plan.override(student, lesson, "")
        if correction:
            points, graded = correction.points, True
            remarks.append(f"Your teacher set the points to {_number(points)}: {correction.comment}")
        if copies > 1:
            remarks.append(f"Of {copies} copies the last one was graded.")
        return result | {"verdicts": verdicts, "points": points, "out_of": out_of, "graded": graded, "days": days,
                         "remarks": remarks}  # fmt: skip

    def on_paper(self) -> Iterator[dict[str, Any]]:
        """An empty hand-in for each correction of a lesson that its student, who is in the class, did not hand in."""
        for student, number in dict.fromkeys((o.student, o.lesson) for o in self.plan.overrides):
            done = self.index.execute("SELECT 1 FROM results WHERE (student, lesson) = (?, ?)", (student, number)).fetchone()
            if not done and self.has(student):
                lesson = known.lesson(number)
                verdicts = [{"exercise": e.id, "status": "not attempted", "points": 0.0, "out_of": e.points, "lines": []}
                            for e in lesson.exercises if e.points]  # fmt: skip
                yield {"student": student, "lesson": number, "path": lesson.slug, "verdicts": verdicts, "graded": True,
                       "problem": "no notebook was handed in", "cells": [], "isolation": "", "seconds": 0.0,
                       "notebook": ""}  # fmt: skip

    def expect(self, student: str, person: Person | None = None, shown: str = "") -> str:
        """This student is one of the class, whatever was handed in."""
        about = json.dumps(dataclasses.asdict(person)) if person else ""
        self.index.execute("INSERT OR IGNORE INTO students VALUES (?, ?, ?)", (student, about, shown or student))
        return student

    def has(self, student: str) -> bool:
        """True if there is a row of this name."""
        return self.index.execute("SELECT 1 FROM students WHERE name = ?", (student,)).fetchone() is not None

    def name(self, row: Row) -> str:
        """What a table calls a student: two whose names read alike stay two. Asked once for each, in their order."""
        name = plain = reader.spreadsheet(row.called).replace("Points Possible", "Points possible")
        mark = row.student
        while self.index.execute("INSERT OR IGNORE INTO shown VALUES (?)", (name,)).rowcount == 0:
            mark = hashlib.sha256(mark.encode("utf-8", "replace")).hexdigest()[:6]
            name = f"{plain} [{mark}]"
        return name

    def has_page(self, name: str) -> bool:
        """True if this page is one notebook's (also where upper and lower case are one)."""
        return self.index.execute("SELECT 1 FROM pages WHERE name = ?", (name.lower(),)).fetchone() is not None

    def __len__(self) -> int:
        return int(self.index.execute("SELECT count(*) FROM students").fetchone()[0])

    def one(self, columns: str) -> tuple[Any, ...]:
        """These columns, one line for the whole class."""
        found: tuple[Any, ...] = self.index.execute(f"SELECT {columns} FROM results").fetchone()
        return found

    def __iter__(self) -> Iterator[Row]:
        found = self.index.execute(
            "SELECT name, about, shown, lesson, canvas, points, out_of, graded, page, verdicts, days"
            " FROM students LEFT JOIN results ON student = name ORDER BY name, lesson"
        )
        for (student, about, shown_as), lines in itertools.groupby(found, key=operator.itemgetter(0, 1, 2)):
            person = Person(**json.loads(about)) if about else Person()
            row = Row(student, person, shown=shown_as, unread=student in self.unread)
            for _, _, _, lesson, canvas, points, out_of, graded, page, verdicts, days in lines:
                if lesson is None or (self.counting is not None and lesson not in self.counting):
                    continue
                row.person = row.person if row.person.canvas else dataclasses.replace(row.person, canvas=canvas)
                row.results[lesson] = Counted(points, out_of, bool(graded), page, json.loads(verdicts), days)
            yield row

    @property
    def numbers(self) -> list[int]:
        """The lessons that count and of which something was handed in."""
        found = (number for (number,) in self.index.execute("SELECT DISTINCT lesson FROM results ORDER BY lesson"))
        return [number for number in found if self.counting is None or number in self.counting]

    @property
    def paying(self) -> list[int]:
        """Those of them that give points."""
        found = self.index.execute("SELECT lesson FROM results GROUP BY lesson HAVING max(out_of) > 0 OR max(points) > 0")
        paying = {number for (number,) in found}
        return [number for number in self.numbers if number in paying]

    def choose(self, asked: frozenset[int]) -> Iterator[str]:
        """Settle which lessons count: those asked for, else what at least half of those with a notebook handed in."""
        self.counting = asked or None
        if asked:
            return
        everybody = self.one("count(DISTINCT student)")[0]
        handed_in = dict(self.index.execute("SELECT lesson, count(*) FROM results GROUP BY lesson"))
        self.counting = frozenset(number for number, count in handed_in.items() if 2 * count >= everybody)
        for number in sorted(set(handed_in) - self.counting):
            count = handed_in[number]
            yield f"Lesson {number:02d} does not count: {count} of {everybody} handed it in. If it does, say so with --lessons."

    def notes(self) -> Iterator[str]:
        """What a teacher may want to look at: nothing of it is a verdict."""
        results = "results JOIN students ON name = student"
        levels = [level for (level,) in self.index.execute(
            "SELECT DISTINCT isolation FROM results WHERE isolation <> '' ORDER BY isolation")]  # fmt: skip
        if len(levels) > 1:
            weak = self.index.execute(f"SELECT DISTINCT shown FROM {results} WHERE isolation = ?", (levels[-1],))
            yield f"Not all at the same level of isolation ({', '.join(levels)}); at {levels[-1]}: {_some(n for (n,) in weak)}"
        reasons = self.index.execute(f"SELECT graded, lesson, shown, why FROM {results} WHERE why <> '' ORDER BY 1, 2, 3")
        for graded, number, name, why in itertools.islice(reasons, _MOST_NOTES):
            yield f"{'Nothing to grade' if graded else 'Not graded'}, {number:02d}: {name}: {why}"
        answered = (
            "EXISTS (SELECT 1 FROM json_each(verdicts)"
            " WHERE json_extract(value, '$[1]') NOT IN ('not attempted', 'missing', 'not graded'))"
        )
        seen: set[str] = set()
        for column, what in (("notebook", "The same file"), ("likeness", "The same code, but for names, comments and spaces")):
            groups = self.index.execute(
                f"SELECT lesson, {column}, shown FROM {results} WHERE (lesson, {column}) IN (SELECT lesson, {column} FROM"
                f" results WHERE {column} <> '' AND NOT published GROUP BY 1, 2 HAVING count(*) > 1)"
                f" AND {answered} ORDER BY 1, 2, 3"
            )
            for (number, _), lines in itertools.groupby(groups, key=operator.itemgetter(0, 1)):
                names = _some(name for _, _, name in lines)
                if "," in names and f"{number} {names}" not in seen and len(seen) < _MOST_NOTES:
                    seen.add(f"{number} {names}")
                    yield f"{what}, {number:02d}: {names}"
        for what, condition in (("Identical to the published solution", "published"), ("More than one copy", "copies > 1")):
            pairs = self.index.execute(f"SELECT lesson, shown FROM {results} WHERE {condition} ORDER BY lesson, shown")
            for number, group in itertools.groupby(pairs, key=operator.itemgetter(0)):
                yield f"{what}, {number:02d}: {_some(name for _, name in group)}"
        for name in sorted({o.student for o in self.plan.overrides} | {name for name, _ in self.plan.extensions}):
            if not self.has(name):
                yield f"The class file speaks of {name}, but nobody of the class is called so"
        if self.plan.roster:
            for (name,) in self.index.execute("SELECT name FROM students WHERE about = '' ORDER BY name"):
                yield f"Not in the class list: {name}"


def _some(names: Iterator[str]) -> str:
    """A dozen names, and how many there are besides."""
    listed = ", ".join(itertools.islice(names, 12))
    rest = sum(1 for _ in names)
    return f"{listed} and {rest} more" if rest else listed


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

    def linked(self) -> Iterator[str]:
        """Files under several names."""

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
        _write(folder / FEEDBACK / counted["page"], [feedback_page(counted)])
    everybody.unread |= set(found.unread())
    for result in everybody.on_paper():
        counted = everybody.add(result)
        _write(folder / FEEDBACK / counted["page"], [feedback_page(counted)])
    _remove_others(folder / FEEDBACK, everybody)
    notes = [*everybody.choose(asked), *found.linked(), *everybody.notes()]
    _write(folder / GRADES, grades(everybody))
    if any(person.moodle or person.email for person in everybody.plan.roster):
        _write(folder / MOODLE, moodle(everybody))
    _write(folder / REPORT, report_page(everybody, found.strays(), notes, found.doubts()))
    hand_back(folder, everybody)


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


def _remove_others(folder: Path, everybody: Class) -> None:
    """Take away the pages of what is no longer handed in."""
    if folder.is_dir():
        with os.scandir(folder) as students:
            for student in students:
                for page in Path(student.path).glob("*.html"):
                    if not everybody.has_page(f"{student.name}/{page.name}"):
                        page.unlink()


def _write(path: Path, pieces: Iterable[str]) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".new")
    with open(temporary, "w", encoding="utf-8", newline="") as file:
        file.writelines(pieces)
    os.replace(temporary, path)


def feedback_name(result: dict[str, Any], taken: Callable[[str], bool]) -> str:
    """The page of one notebook below `feedback/`, unlike any other's."""
    student = reader.tame(result["student"])
    stem = reader.tame(Path(result["path"]).stem)
    name, mark = f"{student}/{stem}.html", result["path"]
    while taken(name):
        mark = hashlib.sha256(mark.encode("utf-8", "replace")).hexdigest()[:8]
        name = f"{student}/{stem}-{mark}.html"
    return name


# ------------------------------------------------------------------ tables


def grades(everybody: Class) -> Iterator[str]:
    """One line a student, one column a lesson, a total.

    The first five columns are the ones that Canvas wants, which finds a student by its own number or by the login;
    Moodle takes any of them as the key of its import. Canvas makes an assignment of every other column, unless it
    speaks of Final Points, and takes a row of Points Possible for no student's. Where a lesson was handed in but
    could not be graded, the cell is empty: no grade is not a zero.
    """
    numbers, plan = everybody.paying, everybody.plan
    fixed = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    yield _line([*fixed, *(known.lesson(number).slug for number in numbers), TOTAL])
    for row in everybody:
        person, name = row.person, everybody.name(row)
        cells = [_points(row, number) for number in numbers]
        login = person.login or ("" if person.canvas or person.sis else name)
        about = [reader.spreadsheet(text) for text in (person.canvas, person.sis, login, person.group)]
        yield _line([name, *about, *cells, _number(row.total(plan)) if row.complete else ""])


def moodle(everybody: Class) -> Iterator[str]:
    """The same for Moodle, which finds a person by the identifier of its worksheet, the number, or the address."""
    numbers, plan = everybody.paying, everybody.plan
    yield _line(["Identifier", "Full name", "ID number", "Email address",
                 *(known.lesson(number).slug for number in numbers), "Total"])  # fmt: skip
    for row in everybody:
        about = (row.person.moodle, row.person.name or row.student, row.person.sis, row.person.email)
        cells = [_points(row, number) for number in numbers]
        total = _number(row.total(plan)) if row.complete else ""
        yield _line([*map(reader.spreadsheet, about), *cells, total])


def _line(cells: Sequence[str]) -> str:
    """One line of a table for spreadsheets."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n", quoting=csv.QUOTE_ALL).writerow(cells)
    return out.getvalue()


def _right(statuses: Iterable[str]) -> str:
    """How many of these exercises passed."""
    found = list(statuses)
    return f"{found.count('passed')} of {len(found)} right"


@functools.cache
def _practice(exercise: str) -> bool:
    """True for an exercise that asks everybody the same: it gives points only where the class file says so."""
    return known.find(exercise).written


def _points(row: Row, number: int) -> str:
    result = row.results.get(number)
    if result is None:
        return "" if row.unread else "0"
    return _number(result.points) if result.graded else ""


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


_PLACED = "student TEXT, path TEXT, lesson, notebook, pack, course, verdicts, PRIMARY KEY (student, path, lesson)"


def differences(old: Iterable[dict[str, Any]], new: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Whose verdict moved between two journals, and why: one entry an exercise.

    `why` is one of: another notebook, a changed check, another key, a new hand-in, no longer handed in; `again` when
    nothing that is known changed (a time limit, or our failure).
    """
    both = on_disk(f"old ({_PLACED}) WITHOUT ROWID", f"new ({_PLACED}) WITHOUT ROWID")
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
        for exercise in sorted(set(first) | set(second), key=_exercise_order):
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
                         m["after"], _number(m["points"]), m["why"]])  # fmt: skip

    _write(folder / DIFFERENCES, lines())
    return count, first


def _exercise_order(id: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", id))


# ------------------------------------------------------------------ text from students


def shown(text: Any, longest: int = _LONGEST) -> str:
    """Foreign text for a page: cut, every invisible or direction-changing character spelled out, escaped, isolated."""
    text = str(text)
    cut = text[:longest]
    plain = cut
    if not cut.replace("\n", "").isprintable():
        plain = "".join(c if c == "\n" or unicodedata.category(c)[0] != "C" else f"\\u{ord(c):04x}" for c in cut)
    return f"<bdi>{html.escape(plain)}{' ...' if len(text) > longest else ''}</bdi>"


# ------------------------------------------------------------------ pages

_STYLE = (Path(__file__).parent / "report.css").read_text(encoding="utf-8")
_SCRIPT = (Path(__file__).parent / "report.js").read_text(encoding="utf-8")


def _page(title: str, body: Iterable[str], script: str = "") -> Iterator[str]:
    """A whole page, piece by piece. `title` and `body` are HTML already."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = f"script-src 'sha256-{digest}'; " if script else ""
    policy = f"default-src 'none'; {allowed}style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
    )
    for piece in body:
        yield piece + "\n"
    yield "</main>\n" + (f"<script>{script}</script>\n" if script else "") + "</body>\n</html>\n"


def feedback_page(result: dict[str, Any]) -> str:
    """What a student reads about one notebook."""
    lesson = known.lesson(result["lesson"])
    exercises = {exercise.id: exercise for exercise in lesson.exercises}
    score = f"{_number(result['points'])} of {_number(result['out_of'])} points"
    if not result["out_of"] and not result["points"]:
        score = f"{_right(v['status'] for v in result['verdicts'])}. This lesson is practice and gives no points."
    parts = [
        f"<h1>{html.escape(lesson.title)}</h1>",
        f'<p>{shown(result["student"], 200)} <span class="quiet">{shown(result["path"], 300)}</span></p>',
        f"<p><strong>{score if result['graded'] else 'Not graded yet'}</strong></p>",
    ]
    if result["problem"]:
        parts.append(f'<p class="status">{html.escape(result["problem"]).capitalize()}.</p>')
    parts += [f'<p class="status">{shown(remark)}</p>' for remark in result.get("remarks", ())]
    for verdict in result["verdicts"]:
        exercise = exercises.get(verdict["exercise"])
        parts.append(_verdict(verdict, exercise.title if exercise else ""))
    if result["cells"]:
        items = "".join(f"<li>{shown(cell['says'], 500)}</li>" for cell in result["cells"])
        parts.append(
            f"<h2>Cells that did not run through</h2>\n<p>Later cells were run all the same.</p>\n<ul>{items}</ul>"
        )
    return "".join(_page(f"{lesson.slug}: feedback", parts))


def _verdict(verdict: dict[str, Any], title: str) -> str:
    status = verdict["status"]
    kind = "passed" if status == "passed" else "neutral" if status in ("not attempted", "not graded") else "wrong"
    lines = "".join(f"<p>{shown(line)}</p>" for line in verdict["lines"])
    believed = misconceptions.CATALOGUE.get(verdict.get("misconception", ""))
    lines += f'<p class="quiet">{believed.id}: {html.escape(believed.name)}</p>' if believed else ""
    pairs = [
        (label, verdict.get(name, "")) for label, name in (("call", "call"), ("got", "got"), ("expected", "expected"))
    ]
    values = "".join(f"<dt>{label}</dt><dd><pre>{shown(text)}</pre></dd>" for label, text in pairs if text)
    worth = f"{_number(verdict['points'])} of {_number(verdict['out_of'])}"
    worth = worth if verdict["out_of"] or verdict["points"] else "practice, without points"
    seed = f'<p class="quiet">Seed {verdict["seed"]}</p>' if kind == "wrong" and "seed" in verdict else ""
    return (
        f'<section class="item {kind}">\n<h2>{html.escape(verdict["exercise"])} {html.escape(title)}</h2>\n'
        f'<p><span class="status">{_LABEL.get(status, status)}</span> '
        f'<span class="quiet">{worth}</span></p>\n'
        f"{lines}\n{f'<dl>{values}</dl>' if values else ''}\n{seed}</section>"
    )


def report_page(everybody: Class, strays: Iterable[str], notes: Iterable[str], doubts: Iterable[str]) -> Iterator[str]:
    """The class at a glance, piece by piece: the page of a large class is larger than all that it is made from."""
    title = html.escape(everybody.plan.title) or "Class report"
    return _page(title, _report(everybody, strays, notes, doubts), _SCRIPT)


def _report(everybody: Class, strays: Iterable[str], notes: Iterable[str], doubts: Iterable[str]) -> Iterator[str]:
    count, waiting, seconds = everybody.one("count(*), total(NOT graded), total(seconds)")
    levels = everybody.index.execute("SELECT DISTINCT isolation FROM results WHERE isolation <> '' ORDER BY isolation")
    yield f"<h1>{shown(everybody.plan.title, 200) if everybody.plan.title else 'The class at a glance'}</h1>"
    nothing = len(everybody) - everybody.one("count(DISTINCT student)")[0]
    yield (
        f"<p>{len(everybody)} students, {count} notebooks, {waiting:.0f} not graded,"
        f" {_those(nothing, 'nothing', 'no notebook that could be read')} without a notebook."
        f" Isolation: {html.escape(', '.join(level for (level,) in levels) or 'none')}."
        f" Time per notebook: {1000 * seconds / max(1, count):.1f} ms. Edition {EDITION} of the course.</p>"
    )
    yield from _listed("Whose hand-in this is, is in doubt", doubts)
    yield from _listed("Worth a look", notes)
    for part in (_pictures, _lesson_table, _exercise_table, _mistake_table, _student_table):
        yield from part(everybody)
    yield from _listed("Files that were not understood, or left aside", strays)


def _listed(title: str, lines: Iterable[str]) -> Iterator[str]:
    """A heading with a list; nothing where there is nothing to list."""
    items = (f"<li>{shown(line, 600)}</li>" for line in lines)
    first = next(items, None)
    if first is not None:
        yield f"<h2>{title}</h2>\n<ul>"
        yield from itertools.chain([first], items)
        yield "</ul>"


def _pictures(everybody: Class) -> Iterator[str]:
    """The class over the term: the points of each lesson, and the misconceptions that were met in more than one."""
    numbers = everybody.numbers
    if len(numbers) < 2:
        return
    class_size, bars = len(everybody), []
    met: dict[str, Counter[int]] = {}
    right: dict[int, Counter[bool]] = {number: Counter() for number in numbers}
    for row in everybody:
        for number, result in row.results.items():
            right[number].update(v[1] == "passed" for v in result.verdicts)
            for belief in {v[2] for v in result.verdicts if v[2]}:
                met.setdefault(belief, Counter())[number] += 1
    for i, number in enumerate(numbers):
        handed_in, points, out_of = everybody.index.execute(
            "SELECT count(*), sum(graded * points), sum(graded * out_of) FROM results WHERE lesson = ?", (number,)
        ).fetchone()
        if not out_of:  # practice: what is right
            points, out_of = right[number][True], right[number].total()
        whole, reached = 100 * handed_in / class_size, 100 * (points or 0) / (out_of or 1)
        x = 30 + 46 * i
        bars.append(
            f'<rect class="all" x="{x}" y="{110 - whole:.1f}" width="17" height="{whole:.1f}"/>'
            f'<rect class="reached" x="{x + 18}" y="{110 - reached:.1f}" width="17" height="{reached:.1f}"/>'
            f'<text x="{x + 17}" y="124">{number:02d}</text>'
        )
    wide = 40 + 46 * len(numbers)
    yield "<h2>Over the term</h2>"
    yield (
        '<div class="scroll" tabindex="0" role="region" aria-label="Hand-ins and points by lesson">'
        '<svg class="term" role="img" '
        'aria-label="For each lesson, how much of the class handed it in and how much of the points it reached" '
        f'viewBox="-12 0 {wide + 12} 130" width="{wide + 12}" height="130"><text x="24" y="14" class="end">100 %</text>'
        f'<text x="24" y="113" class="end">0</text><path d="M28 10H{wide}M28 110H{wide}"/>{"".join(bars)}</svg></div>'
        '<p class="quiet"><span class="key all"></span> handed in <span class="key reached"></span> points reached'
        " (of practice: what is right)</p>"
    )
    staying = sorted((belief for belief in met if len(met[belief]) > 1), key=lambda b: (-met[b].total(), b))[:15]
    if staying:
        most = max(max(met[belief].values()) for belief in staying)
        lines = [
            [_belief(belief), *(f"n|{met[belief][n]}|{_shade(met[belief][n], most)}" for n in numbers)] for belief in staying
        ]
        yield from _table("Misconceptions met in more than one lesson: how many students", ["Misconception", *(
            f"{n:02d}" for n in numbers)], lines)  # fmt: skip


def _shade(count: int, most: int) -> str:
    """A number with a square that is the larger the more there are."""
    size = 0.2 + 0.8 * count / most
    square = f'<span class="square" aria-hidden="true"><span style="width:{size:.2f}em;height:{size:.2f}em"></span></span>'
    return f"{square} {count}" if count else "0"


def _table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], *, name: str = "") -> Iterator[str]:
    """A sortable table; a cell is HTML, or starts with "n|value|" to be a number sorted by its value, or "is|marks|"."""
    lines = iter(rows)
    first = next(lines, None)
    marks = [' class="n"' if first and first[i].startswith("n|") else "" for i in range(len(heads))]
    top = "".join(f'<th scope="col"{mark}>{head}</th>' for head, mark in zip(heads, marks, strict=True))
    mark = f' id="{name}"' if name else ""
    yield (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}"><table class="sortable"{mark}>'
        f"<caption>{caption}</caption>\n<thead><tr>{top}</tr></thead>\n<tbody>"
    )
    for line in itertools.chain([first] if first else [], lines):
        yield f"<tr>{''.join(map(_cell, line))}</tr>"
    yield "</tbody></table></div>"


def _cell(cell: str) -> str:
    if cell.startswith("is|"):
        _, marks, text = cell.split("|", 2)
        return f'<td data-is="{marks}">{text}</td>'
    if not cell.startswith("n|"):
        return f"<td>{cell}</td>"
    _, value, text = cell.split("|", 2)
    return f'<td class="n" data-value="{value}">{text}</td>'


def _percent(part: float, whole: float) -> str:
    percent = 100 * part / whole if whole else 0.0
    bar = f'<span class="bar" aria-hidden="true"><span style="width:{percent:.0f}%"></span></span>'
    return f"n|{percent:.3f}|{bar} {percent:.0f} %"


def _those(count: int, mark: str, what: str, text: str = "") -> str:
    """A number that the page's script turns into a button: it shows the students who carry that mark."""
    return f'<span data-show="{mark}" data-what="{html.escape(what)}">{text or count}</span>' if count else text or "0"


def _mark(*what: str) -> str:
    """A short name for what students have in common."""
    return "m" + hashlib.sha256("\x1f".join(what).encode()).hexdigest()[:8]


def _lesson_table(everybody: Class) -> Iterator[str]:
    lines = []
    for number, handed_in, full, late, points, out_of in everybody.index.execute(
        "SELECT lesson, count(*), sum(graded AND out_of AND points >= out_of), sum(days > 0), sum(graded * points),"
        " sum(graded * out_of) FROM results GROUP BY lesson ORDER BY lesson"
    ):
        if everybody.counting is not None and number not in everybody.counting:
            continue
        title = html.escape(f"{number:02d} {known.lesson(number).title}")
        absent = len(everybody) - handed_in
        those = _those(absent, f"x{number}", f"{number:02d} not handed in")
        reached = [f"n|{full}|{full}", _percent(points, out_of)] if out_of else ["n|-1|-", "n|-1|practice"]
        lines.append([title, f"n|{handed_in}|{handed_in}", f"n|{absent}|{those}", f"n|{late}|{late}", *reached])
    yield "<h2>Lessons</h2>"
    heads = ["Lesson", "Handed in", "Missing", "Late", "Full marks", "Points"]
    yield from _table("Points reached, by lesson", heads, lines)


def _exercise_table(everybody: Class) -> Iterator[str]:
    counts: dict[str, Counter[str]] = {}
    for row in everybody:
        for exercise, status, _, _ in _verdicts(row):
            counts.setdefault(exercise, Counter())[status] += 1
    lines = []
    for exercise in sorted(counts, key=_exercise_order):
        tally = counts[exercise]
        passed, blank = tally["passed"], tally["not attempted"]
        practice = not everybody.plan.written and _practice(exercise)
        who = _those(blank, _mark(exercise, "not attempted"), f"{exercise} not attempted")
        others = ", ".join(
            _those(n, _mark(exercise, s), f"{exercise} {_LABEL.get(s, s)}", f"{n} {_LABEL.get(s, s)}")
            for s, n in sorted(tally.items()) if s not in ("passed", "not attempted")
        )  # fmt: skip
        lines.append([
            f"{html.escape(exercise)} {_title(exercise)}{' (practice)' * practice}", f"n|{passed}|{passed}",
            _percent(passed, tally.total()), f"n|{blank}|{who}", others,
        ])  # fmt: skip
    heads = ["Exercise", "Passed", "Of all", "Not attempted", "Others"]
    yield "<h2>Exercises</h2>"
    yield from _table("Verdicts, by exercise", heads, lines)


def _verdicts(row: Row) -> Iterator[tuple[str, str, str, str]]:
    for result in row.results.values():
        yield from result.verdicts


def _title(exercise: str) -> str:
    try:
        return html.escape(known.find(exercise).title)
    except KeyError:
        return ""


def _mistake_table(everybody: Class) -> Iterator[str]:
    made: Counter[tuple[str, str, str]] = Counter()
    who: dict[tuple[str, str, str], list[str]] = {}
    tried: Counter[str] = Counter()
    for row in everybody:
        for exercise, status, misconception, mistake in _verdicts(row):
            tried[exercise] += status not in ("not attempted", "not graded", "missing")
            if mistake or misconception:
                made[exercise, misconception, mistake] += 1
                names = who.setdefault((exercise, misconception, mistake), [])
                if len(names) < 12:
                    names.append(row.student)
    lines = []
    for (exercise, misconception, mistake), count in sorted(made.items(), key=lambda item: (-item[1], item[0])):
        words = mistake.replace("_", " ")
        those = _those(count, _mark(exercise, misconception, mistake), f"{exercise} {words}", f"{count} of {tried[exercise]}")
        listed = ", ".join(shown(name, 80) for name in who[exercise, misconception, mistake])
        lines.append([
            f"{html.escape(exercise)} {_title(exercise)}", _belief(misconception),
            shown(words, 80), f"n|{count}|{those}",
            listed + (f" and {count - 12} more" if count > 12 else ""),
        ])  # fmt: skip
    heads = ["Exercise", "Misconception", "Mistake", "Students", "Who"]
    yield "<h2>Misconceptions</h2>"
    if lines:
        yield from _table("Recognised mistakes, the most frequent first", heads, lines)
    else:
        yield "<p>None was recognised.</p>"


def _belief(misconception: str) -> str:
    """The catalogue's id and short name."""
    if misconception not in misconceptions.CATALOGUE:
        return html.escape(misconception)
    return html.escape(f"{misconception} {misconceptions.CATALOGUE[misconception].name}")


def _student_table(everybody: Class) -> Iterator[str]:
    numbers = everybody.numbers
    heads = ["Student", *(f"{number:02d}" for number in numbers), "Total", "Tried and not passed"]
    yield '<h2 id="class">Students</h2>'
    yield (
        '<p><label for="filter">Show only</label> <input type="search" id="filter" autocomplete="off"> '
        f'<span id="seen" class="quiet" role="status">{len(everybody)} shown</span> '
        '<button type="button" id="all" hidden>Show all</button></p>'
    )
    lines = (_student(row, numbers, everybody.plan) for row in everybody)
    yield from _table("Points, with a link to each feedback page", heads, lines, name="students")


def _student(row: Row, numbers: Sequence[int], plan: Plan) -> list[str]:
    cells, stuck, marks = [], [], [] if row.results else ["nothing"]
    for number in numbers:
        result = row.results.get(number)
        if result is None:
            cells.append("n|-1|-")
            marks.append(f"x{number}")
            continue
        text = _number(result.points) if result.out_of or result.points else _right(v[1] for v in result.verdicts)
        text = text if result.graded else "not graded"
        text += f" ({result.days} d late)" if result.days else ""
        page = html.escape(f"{FEEDBACK}/{result.page}")
        cells.append(f'n|{result.points:.4f}|<a href="{page}" aria-label="lesson {number}: {text}">{text}</a>')
        for exercise, status, misconception, mistake in result.verdicts:
            if status != "passed":
                marks.append(_mark(exercise, status))
            if mistake or misconception:
                marks.append(_mark(exercise, misconception, mistake))
        stuck += [v[0] for v in result.verdicts if v[1] not in ("passed", "not attempted", "not graded")]
    reached = row.total(plan)
    total = _number(reached) + (" %" if plan.weights else "") + ("" if row.complete else " so far")
    about = " ".join(filter(None, (row.called, row.person.group and f"({row.person.group})")))
    name = f"is|{' '.join(marks)}|{shown(about, 120)}"
    return [name, *cells, f"n|{reached:.4f}|{total}", html.escape(", ".join(stuck))]
