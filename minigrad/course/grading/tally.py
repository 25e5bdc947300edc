"""Counting: what a class has reached, from the results of the journal and the teacher's plan.

A `Class` is every student with the results that count, in an index on disk: points with partial credit, corrections and
late days, what is worth a look, and what a teacher does next. How it looks is the affair of tables.py and pages.py.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
import json
import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from minigrad.course import lessons as known
from minigrad.course.grading import reader
from minigrad.course.grading.identity import Person, listed
from minigrad.course.grading.journal import on_disk
from minigrad.course.grading.plan import Plan

_MOST_NOTES = 200


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
    called: str = ""  # the name in the class list; of two people of one name with what tells them apart
    unread: bool = False  # there is a file of which nobody knows what is in it: what is missing may be there

    @property
    def complete(self) -> bool:
        return not self.unread and all(result.graded for result in self.results.values())

    def total(self, plan: Plan) -> float:
        """The sum of the points; with weights, a percentage."""
        if not plan.weights:
            return float(sum(result.points for result in self.results.values()))
        reached = sum(w * r.points / r.out_of for n, w in plan.weights.items() if (r := self.results.get(n)) and r.out_of)
        return 100 * reached / (sum(plan.weights.values()) or 1.0)


@dataclass
class Seen:
    """How many students handed in anything; by exercise how often each status came; how many met each belief, at all and by
    lesson; how often each mistake (exercise, belief, name) was made, and a dozen of those who made it."""

    students: int
    statuses: dict[str, Counter[str]] = field(default_factory=dict)
    met: Counter[str] = field(default_factory=Counter)
    beliefs: dict[str, Counter[int]] = field(default_factory=dict)
    mistakes: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    who: dict[tuple[str, str, str], list[str]] = field(default_factory=dict)


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
            "unnamed (exercise TEXT, mark TEXT, lesson, student TEXT, row TEXT)",
        )

    def add(self, result: dict[str, Any], nanoseconds: int = 0, copies: int = 1) -> dict[str, Any]:
        """Take one notebook in, last changed then; the result as it counts, with its `page`."""
        result = self.counted(result, nanoseconds, copies)
        verdicts = [(v["exercise"], v["status"], v.get("misconception", ""), v.get("mistake", "")) for v in result["verdicts"]]
        page = result["page"] = feedback_name(result, self.has_page)
        student = self.expect(result["student"])
        self.index.execute("INSERT INTO pages VALUES (?, ?)", (page.lower(), student))
        rows = [(v["exercise"], v["mark"], result["lesson"], student, v["row"]) for v in result["verdicts"] if v.get("mark")]
        self.index.executemany("INSERT INTO unnamed VALUES (?, ?, ?, ?, ?)", rows)
        self.index.execute(
            f"INSERT INTO results VALUES ({', '.join('?' * 18)})",
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
            if not plan.written and practice(v["exercise"]):
                v["points"] = v["out_of"] = 0.0
            correction = plan.override(student, lesson, v["exercise"])
            if correction:
                v["points"] = correction.points
                v["lines"] = [*v["lines"], f"Your teacher set the points to {amount(correction.points)}: {correction.comment}"]
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
            remarks.append(f"Your teacher set the points to {amount(points)}: {correction.comment}")
        if copies > 1:
            remarks.append(f"Of {copies} copies the last one was graded.")
        return result | {"verdicts": verdicts, "points": points, "out_of": out_of, "graded": graded, "days": days,
                         "remarks": remarks}  # fmt: skip

    def on_paper(self) -> Iterator[dict[str, Any]]:
        """An empty hand-in for each correction of a lesson that its student, who is in the class, did not hand in."""
        for student, number in dict.fromkeys((o.student, o.lesson) for o in self.plan.overrides):
            done = self.index.execute("SELECT 1 FROM results WHERE (student, lesson) = (?, ?)", (student, number)).fetchone()
            if not done and self.has(student):
                about = {"student": student, "path": known.lesson(number).slug, "notebook": "", "graded": True}
                yield unjudged(number, "not attempted") | about | {"problem": "no notebook was handed in"}

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
            row = Row(student, person, called=shown_as, unread=student in self.unread)
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

    def seen(self) -> Seen:
        """The verdicts of the whole class, counted in one go."""
        found = Seen(self.one("count(DISTINCT student)")[0])
        for row in self:
            met = {(v[2], number) for number, result in row.results.items() for v in result.verdicts if v[2]}
            found.met.update({belief for belief, _ in met})
            for belief, number in met:
                found.beliefs.setdefault(belief, Counter())[number] += 1
            for result in row.results.values():
                for exercise, status, belief, mistake in result.verdicts:
                    found.statuses.setdefault(exercise, Counter())[status] += 1
                    if belief or mistake:
                        found.mistakes[exercise, belief, mistake] += 1
                        names = found.who.setdefault((exercise, belief, mistake), [])
                        names += [row.called] if len(names) < 12 else []
        return found

    def unnamed(self) -> Iterator[tuple[str, int, str, str]]:
        """Wrong answers without a name that compute the same: the exercise, how many, who, and the shortest as a row."""
        for exercise, lesson, count, who, _, row in self.index.execute(
            "SELECT exercise, lesson, count(*), group_concat(shown, ', '), min(length(row)), row FROM unnamed"
            " JOIN students ON name = student GROUP BY exercise, mark ORDER BY count(*) DESC, exercise, mark"
        ):
            if self.counting is None or lesson in self.counting:
                yield exercise, count, who, row

    def choose(self, asked: frozenset[int]) -> Iterator[str]:
        """Settle which lessons count: those asked for, else what at least half of those with a notebook handed in."""
        self.counting = asked or None
        if asked:
            return
        met = self.numbers
        for which in ("JOIN students ON name = student AND about <> ''", ""):  # strangers do not decide for a known class
            handed_in = dict(self.index.execute(f"SELECT lesson, count(*) FROM results {which} GROUP BY lesson"))
            if handed_in:
                break
        everybody = self.index.execute(f"SELECT count(DISTINCT student) FROM results {which}").fetchone()[0]
        self.counting = frozenset(number for number, count in handed_in.items() if 2 * count >= everybody)
        for number in sorted(set(met) - self.counting):
            count = handed_in.get(number, 0)
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
                f" results WHERE {column} <> '' AND NOT published AND {answered} GROUP BY 1, 2 HAVING count(*) > 1)"
                f" AND {answered} ORDER BY 1, 2, 3"
            )
            for (number, _), lines in itertools.groupby(groups, key=operator.itemgetter(0, 1)):
                names = _some(name for _, _, name in lines)
                if f"{number} {names}" not in seen and len(seen) < _MOST_NOTES:
                    seen.add(f"{number} {names}")
                    yield f"{what}, {number:02d}: {names}"
        for what, condition in (("Identical to the published solution", "published"), ("More than one copy", "copies > 1")):
            pairs = self.index.execute(f"SELECT lesson, shown FROM {results} WHERE {condition} ORDER BY lesson, shown")
            for number, group in itertools.groupby(pairs, key=operator.itemgetter(0)):
                yield f"{what}, {number:02d}: {_some(name for _, name in group)}"
        for name in sorted({o.student for o in self.plan.overrides} | {name for name, _ in self.plan.extensions}):
            if not self.has(name):
                yield f"The class file names {name}, but no student of the class has that name"
        if self.plan.roster:
            for (name,) in self.index.execute("SELECT name FROM students WHERE about = '' ORDER BY name"):
                yield f"Not in the class list: {name}"


def unjudged(number: int, status: str, lines: Sequence[str] = ()) -> dict[str, Any]:
    """A result of a lesson in which nothing was judged."""
    verdicts = [{"exercise": e.id, "status": status, "points": 0.0, "out_of": e.points, "lines": [*lines]}
                for e in known.lesson(number).exercises if e.points]  # fmt: skip
    return {"lesson": number, "problem": "", "isolation": "", "points": 0.0, "cells": [], "seconds": 0.0,
            "out_of": sum(v["out_of"] for v in verdicts), "verdicts": verdicts}  # fmt: skip


def _some(names: Iterator[str]) -> str:
    """A dozen names, and how many there are besides."""
    first, rest = listed(itertools.islice(names, 12)), sum(1 for _ in names)
    return f"{first} and {rest} more" if rest else first


def feedback_name(result: dict[str, Any], taken: Callable[[str], bool]) -> str:
    """The page of one notebook below `feedback/`, unlike any other's."""
    student = reader.tame(result["student"])
    stem = reader.tame(Path(result["path"]).stem)
    name, mark = f"{student}/{stem}.html", result["path"]
    while taken(name):
        mark = hashlib.sha256(mark.encode("utf-8", "replace")).hexdigest()[:8]
        name = f"{student}/{stem}-{mark}.html"
    return name


@functools.cache
def practice(exercise: str) -> bool:
    """True for an exercise that asks everybody the same: it gives points only where the class file says so."""
    return known.find(exercise).written


def right(statuses: Iterable[str]) -> str:
    """How many of these exercises passed."""
    found = list(statuses)
    return f"{found.count('passed')} of {len(found)} right"


def amount(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def exercise_order(id: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", id))
