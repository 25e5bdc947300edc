"""What a teacher reads after a run: grades.csv, report.html and a feedback page for each notebook.

Everything is written from the journal, so the same journal gives the same bytes. The pages work offline and
on paper, in light and dark. Whatever comes from students (names, files, values) is text and nothing else:
escaped, cut, with invisible and direction-changing characters spelled out; and a content security policy
lets no script run but the one sorting and filtering script of the report, known by its hash.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import html
import io
import itertools
import json
import operator
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from minigrad.course import lessons, misconceptions
from minigrad.course.exercise import EDITION
from minigrad.course.grading import journal, reader
from minigrad.course.grading.index import on_disk

GRADES, REPORT, FEEDBACK, DIFFERENCES = "grades.csv", "report.html", "feedback", "differences.csv"
TOTAL = "Total (Final Points)"
_LONGEST = 2_000
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


@dataclass(slots=True)
class Row:
    """One student, with the number that Canvas has for them, and the counting result of each lesson."""

    student: str
    canvas: str = ""
    results: dict[int, Counted] = field(default_factory=dict)

    @property
    def points(self) -> float:
        return float(sum(result.points for result in self.results.values()))

    @property
    def complete(self) -> bool:
        return all(result.graded for result in self.results.values())


class Class:
    """All students with their counting results, in an index on disk; goes through them one by one, by name."""

    def __init__(self) -> None:
        self.index = on_disk(
            "results (student TEXT, lesson, canvas, points, out_of, graded, page, verdicts, isolation, seconds,"
            " PRIMARY KEY (student, lesson)) WITHOUT ROWID",
            "students (name TEXT PRIMARY KEY) WITHOUT ROWID",
            "pages (name TEXT PRIMARY KEY) WITHOUT ROWID",
        )

    def add(self, result: dict[str, Any]) -> str:
        """Take one notebook in; the name of its page. Of several copies the best one counts; of equals the first."""
        verdicts = [
            (v["exercise"], v["status"], v.get("misconception", ""), v.get("mistake", "")) for v in result["verdicts"]
        ]
        page = feedback_name(result, self.has_page)
        self.index.execute("INSERT INTO pages VALUES (?)", (page.lower(),))
        self.expect(result["student"])
        self.index.execute(
            "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET points = excluded.points,"
            " out_of = excluded.out_of, graded = excluded.graded, page = excluded.page, verdicts = excluded.verdicts,"
            " isolation = excluded.isolation, seconds = excluded.seconds"
            " WHERE (excluded.graded, excluded.points) > (graded, points)",
            (result["student"], result["lesson"], reader.canvas_id(result["path"]), result["points"], result["out_of"],
             bool(result["graded"]), page, json.dumps(verdicts), result["isolation"], result["seconds"]),
        )  # fmt: skip
        return page

    def expect(self, student: str) -> None:
        """This student is one of the class, whatever was handed in."""
        self.index.execute("INSERT OR IGNORE INTO students VALUES (?)", (student,))

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
            "SELECT name, lesson, canvas, points, out_of, graded, page, verdicts"
            " FROM students LEFT JOIN results ON student = name ORDER BY name, lesson"
        )
        for student, lines in itertools.groupby(found, key=operator.itemgetter(0)):
            row = Row(student)
            for _, lesson, canvas, points, out_of, graded, page, verdicts in lines:
                if lesson is None:
                    continue
                row.canvas = row.canvas or canvas
                row.results[lesson] = Counted(points, out_of, bool(graded), page, json.loads(verdicts))
            yield row

    @property
    def numbers(self) -> list[int]:
        """The lessons of which something was handed in."""
        return [number for (number,) in self.index.execute("SELECT DISTINCT lesson FROM results ORDER BY lesson")]


def write(folder: Path, strays: Iterable[str] = (), students: Iterable[str] = ()) -> None:
    """Write every page and table of a report folder from its journal; `students` may have handed in nothing."""
    everybody = Class()
    for student in students:
        everybody.expect(student)
    for result in journal.read(folder / journal.RESULTS):
        _write(folder / FEEDBACK / everybody.add(result), [feedback_page(result)])
    _remove_others(folder / FEEDBACK, everybody)
    _write(folder / GRADES, grades(everybody))
    _write(folder / REPORT, report_page(everybody, strays))


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
    numbers = everybody.numbers
    fixed = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    yield _line([*fixed, *(lessons.lesson(number).slug for number in numbers), TOTAL])
    for row in everybody:
        name = reader.spreadsheet(row.student).replace("Points Possible", "Points possible")
        cells = [_points(row.results.get(number)) for number in numbers]
        login = "" if row.canvas else name
        yield _line([name, row.canvas, "", login, "", *cells, _number(row.points) if row.complete else ""])


def _line(cells: Sequence[str]) -> str:
    """One line of a table for spreadsheets."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue()


def _points(result: Counted | None) -> str:
    if result is None:
        return "0"
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
    """`differences.csv` in `folder`: what moved since the report folder `old`. How many verdicts, and the first 20."""
    first: list[dict[str, Any]] = []
    count = 0

    def lines() -> Iterator[str]:
        nonlocal count
        yield _line(["Student", "File", "Exercise", "Before", "After", "Points", "Why"])
        for m in differences(journal.read(old / journal.RESULTS), journal.read(folder / journal.RESULTS)):
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
    lesson = lessons.lesson(result["lesson"])
    exercises = {exercise.id: exercise for exercise in lesson.exercises}
    score = f"{_number(result['points'])} of {_number(result['out_of'])} points"
    parts = [
        f"<h1>{html.escape(lesson.title)}</h1>",
        f'<p>{shown(result["student"], 200)} <span class="quiet">{shown(result["path"], 300)}</span></p>',
        f"<p><strong>{score if result['graded'] else 'Not graded yet'}</strong></p>",
    ]
    if result["problem"]:
        parts.append(f'<p class="status">{html.escape(result["problem"]).capitalize()}.</p>')
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
    pairs = [
        (label, verdict.get(name, "")) for label, name in (("call", "call"), ("got", "got"), ("expected", "expected"))
    ]
    values = "".join(f"<dt>{label}</dt><dd><pre>{shown(text)}</pre></dd>" for label, text in pairs if text)
    seed = f'<p class="quiet">Seed {verdict["seed"]}</p>' if kind == "wrong" and "seed" in verdict else ""
    return (
        f'<section class="item {kind}">\n<h2>{html.escape(verdict["exercise"])} {html.escape(title)}</h2>\n'
        f'<p><span class="status">{_LABEL.get(status, status)}</span> '
        f'<span class="quiet">{_number(verdict["points"])} of {_number(verdict["out_of"])}</span></p>\n'
        f"{lines}\n{f'<dl>{values}</dl>' if values else ''}\n{seed}</section>"
    )


def report_page(everybody: Class, strays: Iterable[str] = ()) -> Iterator[str]:
    """The class at a glance, piece by piece: the page of a large class is larger than all that it is made from."""
    return _page("Class report", _report(everybody, strays), _SCRIPT)


def _report(everybody: Class, strays: Iterable[str]) -> Iterator[str]:
    count, waiting, seconds = everybody.one("count(*), total(NOT graded), total(seconds)")
    levels = everybody.index.execute("SELECT DISTINCT isolation FROM results WHERE isolation <> '' ORDER BY isolation")
    yield "<h1>The class at a glance</h1>"
    nothing = len(everybody) - everybody.one("count(DISTINCT student)")[0]
    yield (
        f"<p>{len(everybody)} students, {count} notebooks, {waiting:.0f} not graded,"
        f" {_those(nothing, 'nothing', 'no notebook that could be read')} without a notebook."
        f" Isolation: {html.escape(', '.join(level for (level,) in levels) or 'none')}."
        f" Time per notebook: {1000 * seconds / max(1, count):.1f} ms. Edition {EDITION} of the course.</p>"
    )
    for part in (_lesson_table, _exercise_table, _mistake_table, _student_table):
        yield from part(everybody)
    items = (f"<li>{shown(stray, 300)}</li>" for stray in strays)
    first = next(items, None)
    if first is not None:
        yield "<h2>Files that were left aside</h2>\n<ul>"
        yield from itertools.chain([first], items)
        yield "</ul>"


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


def _share(part: float, whole: float) -> str:
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
    for number, handed_in, full, points, out_of in everybody.index.execute(
        "SELECT lesson, count(*), sum(graded AND points = out_of), sum(graded * points), sum(graded * out_of)"
        " FROM results GROUP BY lesson ORDER BY lesson"
    ):
        title = html.escape(f"{number:02d} {lessons.lesson(number).title}")
        absent = len(everybody) - handed_in
        those = _those(absent, f"x{number}", f"{number:02d} not handed in")
        lines.append([title, f"n|{handed_in}|{handed_in}", f"n|{absent}|{those}", f"n|{full}|{full}", _share(points, out_of)])
    yield "<h2>Lessons</h2>"
    heads = ["Lesson", "Handed in", "Missing", "Full marks", "Points"]
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
        who = _those(blank, _mark(exercise, "not attempted"), f"{exercise} not attempted")
        others = ", ".join(
            _those(n, _mark(exercise, s), f"{exercise} {_LABEL.get(s, s)}", f"{n} {_LABEL.get(s, s)}")
            for s, n in sorted(tally.items()) if s not in ("passed", "not attempted")
        )  # fmt: skip
        lines.append([
            f"{html.escape(exercise)} {_title(exercise)}", f"n|{passed}|{passed}",
            _share(passed, tally.total()), f"n|{blank}|{who}", others,
        ])  # fmt: skip
    heads = ["Exercise", "Passed", "Share", "Not attempted", "Others"]
    yield "<h2>Exercises</h2>"
    yield from _table("Verdicts, by exercise", heads, lines)


def _verdicts(row: Row) -> Iterator[tuple[str, str, str, str]]:
    for result in row.results.values():
        yield from result.verdicts


def _title(exercise: str) -> str:
    try:
        return html.escape(lessons.find(exercise).title)
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
    lines = (_student(row, numbers) for row in everybody)
    yield from _table("Points, with a link to each feedback page", heads, lines, name="students")


def _student(row: Row, numbers: Sequence[int]) -> list[str]:
    cells, stuck, marks = [], [], [] if row.results else ["nothing"]
    for number in numbers:
        result = row.results.get(number)
        if result is None:
            cells.append("n|-1|-")
            marks.append(f"x{number}")
            continue
        text = _number(result.points) if result.graded else "not graded"
        page = html.escape(f"{FEEDBACK}/{result.page}")
        cells.append(f'n|{result.points:.4f}|<a href="{page}" aria-label="lesson {number}: {text}">{text}</a>')
        for exercise, status, misconception, mistake in result.verdicts:
            if status != "passed":
                marks.append(_mark(exercise, status))
            if mistake or misconception:
                marks.append(_mark(exercise, misconception, mistake))
        stuck += [v[0] for v in result.verdicts if v[1] not in ("passed", "not attempted", "not graded")]
    total = _number(row.points) if row.complete else f"{_number(row.points)} so far"
    name = f"is|{' '.join(marks)}|{shown(row.student, 120)}"
    return [name, *cells, f"n|{row.points:.4f}|{total}", html.escape(", ".join(stuck))]
