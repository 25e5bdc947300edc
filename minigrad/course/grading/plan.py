"""What a teacher says about a class, in one file: `class.toml`. Every field is optional, and so is the file;
docs/grading.md says what each is for.

`read(path)` gives a `Plan`, or a ValueError that names the field that is wrong. Points are computed from the plan when
the report is written: the journal of results knows nothing of it, so that a correction survives every regrade.
"""

from __future__ import annotations

import csv
import datetime
import functools
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from minigrad.course import lessons as known
from minigrad.course.grading.identity import Person

FEEDBACK = ("folders", "zips", "moodle", "canvas")

# What columns of a class list are called: in Canvas, in Moodle, by hand.
_COLUMNS = {
    "folder": ("folder",),
    "name": ("name", "student", "full name"),
    "first": ("first name",),
    "last": ("last name", "surname"),
    "group": ("group", "section", "groups"),
    "canvas": ("canvas", "id"),
    "sis": ("sis", "sis user id", "id number"),
    "login": ("login", "sis login id", "username"),
    "email": ("email", "email address"),
    "moodle": ("moodle", "identifier"),
}


@dataclass(frozen=True)
class Override:
    """Points set by hand, for an exercise or (where that is "") for a whole lesson."""

    student: str
    lesson: int
    exercise: str
    points: float
    comment: str


@dataclass(frozen=True)
class Plan:
    """A class file, checked."""

    title: str = ""
    lessons: tuple[int, ...] = ()
    roster: tuple[Person, ...] = ()
    partial: bool = False
    written: bool = False
    student_timeout: float | None = None
    feedback: str = "folders"
    per_day: float = 0.0
    days: float = math.inf
    grace: float = 0.0
    due: Mapping[int, datetime.datetime] = field(default_factory=dict)
    points: Mapping[int, float] = field(default_factory=dict)
    weights: Mapping[int, float] = field(default_factory=dict)
    extensions: Mapping[tuple[str, int], datetime.datetime] = field(default_factory=dict)
    overrides: tuple[Override, ...] = ()

    def meaning(self, row: Callable[[str], str | None]) -> Plan:
        """The plan in which students are called as the rows of the report; who is in none keeps the name."""
        return replace(
            self,
            overrides=tuple(replace(o, student=row(o.student) or o.student) for o in self.overrides),
            extensions={(row(name) or name, number): due for (name, number), due in self.extensions.items()},
        )

    def override(self, student: str, lesson: int, exercise: str) -> Override | None:
        """The correction of one exercise, or (where that is "") of a whole lesson; of several the last one."""
        fits = [o for o in self.overrides if (o.student, o.lesson, o.exercise) == (student, lesson, exercise)]
        return fits[-1] if fits else None

    def days_late(self, student: str, lesson: int, nanoseconds: int, flagged: bool) -> int:
        """How many days were begun after the due date when the file was changed last; at least one for one flagged late."""
        due = self.extensions.get((student, lesson), self.due.get(lesson))
        if due is None or not nanoseconds:
            return int(flagged)
        seconds = nanoseconds / 1e9 - due.timestamp() - 60 * self.grace
        return max(int(flagged), math.ceil(seconds / 86_400) if seconds > 0 else 0)

    def kept(self, days: int) -> float:
        """The part of the points that so many days leave."""
        return 0.0 if days > self.days else max(0.0, 1.0 - self.per_day * days)


# ------------------------------------------------------------------ reading


def read(path: Path) -> Plan:
    """The plan in a file. ValueError, with the field's name, for anything that is not as it should be."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {error}") from None
    try:
        return _plan(content, path.parent)
    except _Wrong as error:
        raise ValueError(f"{path}: {error}") from None


class _Wrong(ValueError):
    """A field that is not as it should be; the message begins with its name."""


def _plan(content: dict[str, Any], home: Path) -> Plan:
    late, by_lesson = content.pop("late", {}), content.pop("lesson", {})
    extensions, overrides = (_entries(content.pop(name, []), name) for name in ("extension", "override"))
    made = _fields("", content) | _fields("late", late)
    if "roster" in made:
        made["roster"] = people(home / made["roster"])
    given: dict[int, dict[str, Any]] = {}
    for label, table in _table(by_lesson, "lesson").items():
        number, where = lesson(label, f"lesson.{label}"), f"lesson.{label}"
        given[number] = _fields("lesson", table, where)
        for name in {"points", "weight"} & set(table) if not made.get("written") and not earning(number) else ():
            raise _Wrong(f"{where}.{name}: all of lesson {number:02d} is practice, which gives points with written = true")
    for name, key in (("due", "due"), ("points", "points"), ("weights", "weight")):
        made[name] = {number: about[key] for number, about in given.items() if key in about}
    return Plan(
        **made, extensions={(entry["student"], entry["lesson"]): entry["due"] for entry, _ in extensions},
        overrides=tuple(_override(*each) for each in overrides),
    )  # fmt: skip


def _override(entry: dict[str, Any], where: str) -> Override:
    exercise = entry.get("exercise", "")
    if bool(exercise) == ("lesson" in entry):
        raise _Wrong(f"{where}.exercise: either an exercise or a lesson is wanted")
    number = entry["lesson"] if not exercise else lesson(exercise.split(".")[0], f"{where}.exercise")
    if exercise and exercise not in {e.id for e in known.lesson(number).exercises if e.points}:
        raise _Wrong(f"{where}.exercise: there is no exercise {exercise}")
    return Override(**{"exercise": ""} | entry | {"lesson": number})


def _entries(found: Any, name: str) -> list[tuple[dict[str, Any], str]]:
    """The tables of a list, checked, each with its place."""
    if not isinstance(found, list):
        raise _Wrong(f"{name}: write [[{name}]] above each entry")
    needed = {"extension": ("student", "lesson", "due"), "override": ("student", "points", "comment")}[name]
    places = [f"{name}[{number}]" for number, _ in enumerate(found, 1)]
    return [(_fields(name, table, where, needed), where) for table, where in zip(found, places, strict=True)]


def _fields(of: str, found: Any, where: str = "", needed: Iterable[str] = ()) -> dict[str, Any]:
    """A table of the class file, each of its fields checked; there may be no others."""
    table, where = _table(found, where or of), f"{where or of}." if of else ""
    for name in table:
        if name not in FIELDS[of]:
            raise _Wrong(f"{where}{name}: there is no such field; there are {', '.join(FIELDS[of])}")
    for name in needed:
        if name not in table:
            raise _Wrong(f"{where}{name}: is missing")
    return {name: FIELDS[of][name](field, where + name) for name, field in table.items()}


def _table(found: Any, where: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise _Wrong(f"{where}: a table is wanted: [{where}] in a line of its own")
    return found


def _text(found: Any, where: str) -> str:
    if not isinstance(found, str):
        raise _Wrong(f"{where}: {found!r} is no text in quotes")
    return found


def _truth(found: Any, where: str) -> bool:
    if not isinstance(found, bool):
        raise _Wrong(f"{where}: {found!r} is neither true nor false")
    return found


def _layout(found: Any, where: str) -> str:
    if found not in FEEDBACK:
        raise _Wrong(f"{where}: {found!r} is none of {', '.join(FEEDBACK)}")
    return str(found)


def _number(found: Any, where: str, most: float = math.inf) -> float:
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found <= most or found == math.inf:
        raise _Wrong(f"{where}: {found!r} is no number from 0" + (f" to {most:g}" if most < math.inf else " up"))
    return float(found)


def _positive(found: Any, where: str) -> float:
    if _number(found, where) == 0:
        raise _Wrong(f"{where}: more than 0 is wanted")
    return float(found)


def _moment(found: Any, where: str) -> datetime.datetime:
    if isinstance(found, datetime.date) and not isinstance(found, datetime.datetime):
        found = datetime.datetime.combine(found, datetime.time(23, 59, 59))
    if not isinstance(found, datetime.datetime):
        raise _Wrong(f"{where}: {found!r} is no time; write 2026-11-20T23:59:00+01:00, without quotes")
    return found.astimezone()


def earning(number: int) -> bool:
    """True for a lesson with an exercise that asks each student something else, and so gives points."""
    return any(exercise.points and not exercise.written for exercise in known.lesson(number).exercises)


def lesson(found: Any, where: str) -> int:
    """The number of a lesson of the course. ValueError for anything else."""
    number = int(found) if isinstance(found, int | str) and re.fullmatch(r"\d{1,3}", str(found)) else -1
    if number not in known.numbers():
        raise _Wrong(f"{where}: there is no lesson {found!r}")
    return number


def chosen(found: Any, where: str) -> tuple[int, ...]:
    """The lessons of a list, or of a text such as "03, 05-08". ValueError for anything else."""
    parts = found if isinstance(found, list) else str(found).replace(" ", "").split(",")
    numbers: set[int] = set()
    for part in parts:
        ends = str(part).split("-") if not isinstance(part, bool) else ["?"]
        if len(ends) > 2:
            raise _Wrong(f"{where}: {part!r} is no lesson, nor a range such as 05-08")
        first, last = lesson(ends[0], where), lesson(ends[-1], where)
        numbers |= {number for number in known.numbers() if first <= number <= last}
    return tuple(sorted(numbers))


def people(path: Path) -> tuple[Person, ...]:
    """The class list in a CSV file: by hand, or as Canvas and Moodle export it. ValueError if it is none."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        first = text.split("\n", 1)[0]
        rows = csv.reader(text.splitlines(), delimiter=max(",;\t", key=first.count))
        head, *lines = [(rows.line_num, row) for row in rows] or [(1, [])]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"roster: {path} could not be read ({getattr(error, 'strerror', None) or error})") from None
    called = {name.strip().lower(): place for place, name in enumerate(head[1])}
    columns = {kind: called[name] for kind, names in _COLUMNS.items() for name in names if name in called}
    if not columns:
        raise ValueError(f"roster: {path} has none of the columns {', '.join(n[0] for n in _COLUMNS.values())}")
    found = []
    for number, row in lines:
        about = {kind: row[place].strip() for kind, place in columns.items() if place < len(row)}
        full = " ".join(filter(None, (about.pop("first", ""), about.pop("last", ""))))
        person = Person(**about | {"name": about.get("name") or full})
        if not "".join(row).strip() or person.name.startswith("Points Possible"):
            continue
        if person == Person(group=person.group):
            raise ValueError(f"roster: line {number} of {path} names nobody: fill in a name or a number, or delete the line")
        found.append(person)
    return tuple(found)


# What each table may hold, and how it is checked.
FIELDS: dict[str, dict[str, Callable[[Any, str], Any]]] = {
    "": {"title": _text, "lessons": chosen, "roster": _text, "partial": _truth, "written": _truth,
         "student_timeout": _positive, "feedback": _layout},
    "late": {"per_day": functools.partial(_number, most=1.0), "days": _number, "grace": _number},
    "lesson": {"due": _moment, "points": _positive, "weight": _number},
    "extension": {"student": _text, "lesson": lesson, "due": _moment},
    "override": {"student": _text, "exercise": _text, "lesson": lesson, "points": _number, "comment": _text},
}  # fmt: skip
