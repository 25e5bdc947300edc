"""Pages: the report on a class and the feedback on each notebook, from the templates beside this file.

The pages work offline and on paper, in light and dark. Whatever comes from students (names, files, values) is text and
nothing else: the templates escape by default, `shown` cuts it and spells out invisible and direction-changing characters,
and a content security policy lets no script run but the one sorting and filtering script of the report, known by its hash.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import itertools
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from minigrad.course import lessons as known
from minigrad.course import misconceptions
from minigrad.course.exercise import EDITION
from minigrad.course.grading import WEAKER
from minigrad.course.grading.tables import FEEDBACK
from minigrad.course.grading.tally import Class, Row, Seen, amount, exercise_order, practice, right

_TEMPLATES = Path(__file__).parent / "templates"
_LONGEST, _MOST_NAMES, _MOST_GROUPS = 2_000, 12, 60
_LABEL = {"passed": "passed", "wrong": "not right", "error": "raised an error", "timeout": "took too long",
          "memory": "too much memory", "forbidden": "not allowed", "missing": "not found",
          "not attempted": "not attempted", "not graded": "not graded"}  # fmt: skip


def shown(text: Any, longest: int = _LONGEST) -> Markup:
    """Foreign text for a page: cut, every invisible or direction-changing character spelled out, escaped, isolated."""
    text = str(text)
    cut = text[:longest]
    plain = cut
    if not cut.replace("\n", "").isprintable():
        plain = "".join(c if c == "\n" or unicodedata.category(c)[0] != "C" else f"\\u{ord(c):04x}" for c in cut)
    return Markup("<bdi>{}{}</bdi>").format(escape(plain), " ..." if len(text) > longest else "")


def widths(parts: Sequence[tuple[int, str, str]]) -> list[float]:
    """Hundredths of a picture for each part."""
    whole = sum(n for n, _, _ in parts) or 1
    return [100 * n / whole for n, _, _ in parts]


@functools.cache
def _templates() -> jinja2.Environment:
    made = jinja2.Environment(loader=jinja2.FileSystemLoader(_TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True)  # fmt: skip
    made.filters["shown"] = shown
    script = (_TEMPLATES / "report.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    made.globals |= {"style": Markup((_TEMPLATES / "report.css").read_text(encoding="utf-8")), "widths": widths,
                     "code": Markup(script), "digest": digest, "edition": EDITION}  # fmt: skip
    return made


# ------------------------------------------------------------------ one notebook


def feedback_page(result: dict[str, Any]) -> str:
    """What a student reads about one notebook."""
    lesson = known.lesson(result["lesson"])
    titles = {exercise.id: exercise.title for exercise in lesson.exercises}
    score = f"{amount(result['points'])} of {amount(result['out_of'])} points"
    if not result["out_of"] and not result["points"]:
        score = f"{right(v['status'] for v in result['verdicts'])}. This lesson is practice and gives no points."
    verdicts = [_verdict(v, titles.get(v["exercise"], "")) for v in result["verdicts"]]
    page = _templates().get_template("feedback.html")
    return page.render(title=f"{lesson.slug}: feedback", script="", lesson=lesson, score=score, verdicts=verdicts,
                       result={"remarks": (), **result})  # fmt: skip


def _verdict(verdict: dict[str, Any], title: str) -> dict[str, Any]:
    status = verdict["status"]
    look = "passed" if status == "passed" else "neutral" if status in ("not attempted", "not graded") else "wrong"
    worth = f"{amount(verdict['points'])} of {amount(verdict['out_of'])}"
    return verdict | {
        "title": title, "label": _LABEL.get(status, status), "look": look, "belief": _belief(verdict.get("misconception", "")),
        "worth": worth if verdict["out_of"] or verdict["points"] else "practice, without points",
        "values": [(name, verdict[name]) for name in ("call", "got", "expected") if verdict.get(name)],
        "seed": verdict.get("seed", "") if look == "wrong" else "",
    }  # fmt: skip


def _belief(misconception: str) -> str:
    """The catalogue's id and short name."""
    found = misconceptions.catalogue().get(misconception)
    return f"{misconception} {found.name}" if found else misconception


# ------------------------------------------------------------------ the class


def report_page(everybody: Class, strays: Iterable[str], notes: Iterable[str], doubts: Iterable[str]) -> Iterator[str]:
    """The class at a glance, piece by piece: the page of a large class is larger than all that it is made from."""
    count, waiting, seconds = everybody.one("count(*), total(NOT graded), total(seconds)")
    levels = [level for (level,) in everybody.index.execute(
        "SELECT DISTINCT isolation FROM results WHERE isolation <> '' ORDER BY isolation")]  # fmt: skip
    numbers, seen = everybody.numbers, everybody.seen()
    made = _templates()
    return made.get_template("report.html").generate(
        title=everybody.plan.title or "Class report", script=made.globals["code"], heading=everybody.plan.title,
        students=len(everybody), notebooks=count, waiting=f"{waiting:.0f}", levels=levels,
        nothing=len(everybody) - everybody.one("count(DISTINCT student)")[0],
        milliseconds=f"{1000 * seconds / max(1, count):.1f}", weaker=[WEAKER[l] for l in levels if l in WEAKER],
        next={"look": _look(everybody), "exercise": _hardest(seen.statuses), "belief": _met_most(seen)},
        doubts=doubts, notes=notes, strays=strays, term=_term(everybody, seen), lessons=_lessons(everybody),
        exercises=_exercises(everybody, seen.statuses), mistakes=_mistakes(seen),
        unnamed=[(f"{e} {_title(e)}", *more) for e, *more in itertools.islice(everybody.unnamed(), _MOST_GROUPS)],
        columns=[("n", f"{number:02d}") for number in numbers],
        rows=(_student(row, numbers, everybody) for row in everybody),
    )  # fmt: skip


def _look(everybody: Class) -> dict[str, Any]:
    """Who needs a look: those with something that could not be graded, and those of whom nothing came."""
    found = {"graded": 0, "need a look": 0, "handed in nothing": 0}
    who: list[tuple[str, str]] = []
    for row in everybody:
        kind = "need a look" if not row.complete else "graded" if row.results else "handed in nothing"
        found[kind] += 1
        if kind == "need a look" and len(who) < _MOST_NAMES:
            pages = [f"{FEEDBACK}/{result.page}" for result in row.results.values() if not result.graded]
            who.append((row.called, pages[0] if pages else ""))
    many = found["need a look"]
    title = f"Look at {many} student{'s' * (many > 1)}" if many else "Nobody waits for a grade"
    looks = ("reached", "bad", "all")
    return {"title": title, "parts": [(n, what, look) for (what, n), look in zip(found.items(), looks, strict=True)],
            "who": who, "more": many - len(who)}  # fmt: skip


def _parts(tally: Counter[str]) -> list[tuple[int, str, str]]:
    blank = tally["not attempted"] + tally["missing"] + tally["not graded"]
    return [(tally["passed"], "passed", "reached"), (tally.total() - tally["passed"] - blank, "tried and not passed", "bad"),
            (blank, "not attempted", "all")]  # fmt: skip


def _hardest(statuses: dict[str, Counter[str]]) -> dict[str, Any] | None:
    """The exercise that the fewest passed of those who tried."""
    tried = {e: parts for e, parts in ((e, _parts(tally)) for e, tally in statuses.items()) if parts[0][0] + parts[1][0]}
    if not tried:
        return None
    worst = min(tried, key=lambda e: (tried[e][0][0] / (tried[e][0][0] + tried[e][1][0]), -tried[e][1][0], exercise_order(e)))
    (passed, _, _), (failed, _, _), _ = tried[worst]
    if not failed:
        return {"title": "Everybody who tried an exercise passed it", "parts": tried[worst], "says": ""}
    return {"title": f"Talk about {worst} {_title(worst)}", "parts": tried[worst],
            "says": f"{passed} of {passed + failed} who tried it passed. In the terminal: minigrad lab {worst}"}  # fmt: skip


def _met_most(seen: Seen) -> dict[str, Any] | None:
    """The most frequent misconception, with what the catalogue says and the lesson that treats it."""
    id = min(seen.met.keys() & misconceptions.catalogue().keys(), key=lambda b: (-seen.met[b], b), default=None)
    if id is None:
        return None
    about, met, tried = misconceptions.catalogue()[id], seen.met[id], max(seen.students, seen.met[id])
    home = next((lesson for lesson in known.all_lessons() if id in lesson.misconceptions), None)
    where = f"Lesson {home.number:02d}, {home.title}, treats it: minigrad lab {home.number:02d}" if home else ""
    return {"title": _belief(id), "says": f"{met} of {tried} students met it.", "belief": about.belief, "code": about.code,
            "shows": about.shows, "ask": about.feedback, "where": where,
            "parts": [(met, "met it", "bad"), (tried - met, "did not", "all")]}  # fmt: skip


def _term(everybody: Class, seen: Seen) -> dict[str, Any] | None:
    """The class over the term: the points of each lesson, and the misconceptions that were met in more than one."""
    numbers, bars = everybody.numbers, []
    if len(numbers) < 2:
        return None
    for number in numbers:
        handed_in, points, out_of = everybody.index.execute(
            "SELECT count(*), sum(graded * points), sum(graded * out_of) FROM results WHERE lesson = ?", (number,)
        ).fetchone()
        if not out_of:  # practice: what is right
            of_it = [tally for exercise, tally in seen.statuses.items() if exercise_order(exercise)[0] == number]
            points, out_of = sum(tally["passed"] for tally in of_it), sum(tally.total() for tally in of_it)
        bars.append((f"{number:02d}", 100 * handed_in / len(everybody), 100 * (points or 0) / (out_of or 1)))
    met = {belief: counts for belief, counts in seen.beliefs.items() if len(counts) > 1}
    staying = sorted(met, key=lambda b: (-met[b].total(), b))[:15]
    return {"bars": bars, "heads": [("n", f"{n:02d}") for n in numbers],
            "staying": [(_belief(b), [met[b][n] for n in numbers]) for b in staying],
            "most": max((max(met[b].values()) for b in staying), default=1)}  # fmt: skip


def _mark(*what: str) -> str:
    """A short name for what students have in common."""
    return "m" + hashlib.sha256("\x1f".join(what).encode()).hexdigest()[:8]


def _title(exercise: str) -> str:
    try:
        return known.find(exercise).title
    except KeyError:
        return ""


def _lessons(everybody: Class) -> Iterator[dict[str, Any]]:
    for number, handed_in, full, late, points, out_of in everybody.index.execute(
        "SELECT lesson, count(*), sum(graded AND out_of AND points >= out_of), sum(days > 0), sum(graded * points),"
        " sum(graded * out_of) FROM results GROUP BY lesson ORDER BY lesson"
    ):
        if everybody.counting is None or number in everybody.counting:
            yield {"number": number, "title": f"{number:02d} {known.lesson(number).title}", "handed_in": handed_in,
                   "late": late, "full": full, "absent": len(everybody) - handed_in, "missing": f"{number:02d} not handed in",
                   "reached": 100 * points / out_of if out_of else None}  # fmt: skip


def _exercises(everybody: Class, statuses: dict[str, Counter[str]]) -> Iterator[dict[str, Any]]:
    for exercise in sorted(statuses, key=exercise_order):
        tally = statuses[exercise]
        label = " (practice)" * (not everybody.plan.written and practice(exercise))
        yield {"title": f"{exercise} {_title(exercise)}{label}", "passed": tally["passed"], "blank": tally["not attempted"],
               "percent": 100 * tally["passed"] / tally.total(), "mark": _mark(exercise, "not attempted"),
               "missing": f"{exercise} not attempted",
               "others": [(n, _mark(exercise, s), f"{exercise} {_LABEL.get(s, s)}", f"{n} {_LABEL.get(s, s)}")
                          for s, n in sorted(tally.items()) if s not in ("passed", "not attempted")]}  # fmt: skip


def _mistakes(seen: Seen) -> list[dict[str, Any]]:
    made = []
    for (exercise, belief, mistake), count in sorted(seen.mistakes.items(), key=lambda item: (-item[1], item[0])):
        tried = sum(n for s, n in seen.statuses[exercise].items() if s not in ("not attempted", "not graded", "missing"))
        words, who = mistake.replace("_", " "), seen.who[exercise, belief, mistake]
        made.append({"exercise": f"{exercise} {_title(exercise)}", "belief": _belief(belief), "words": words, "count": count,
                     "mark": _mark(exercise, belief, mistake), "what": f"{exercise} {words}", "text": f"{count} of {tried}",
                     "who": who, "more": count - len(who)})  # fmt: skip
    return made


def _student(row: Row, numbers: Sequence[int], everybody: Class) -> dict[str, Any]:
    cells: list[dict[str, Any] | None] = []
    stuck, marks = [], [] if row.results else ["nothing"]
    for number in numbers:
        result = row.results.get(number)
        if result is None:
            cells.append(None)
            marks.append(f"x{number}")
            continue
        text = amount(result.points) if result.out_of or result.points else right(v[1] for v in result.verdicts)
        text = (text if result.graded else "not graded") + (f" ({result.days} d late)" if result.days else "")
        cells.append({"value": f"{result.points:.4f}", "page": f"{FEEDBACK}/{result.page}", "lesson": number, "text": text})
        for exercise, status, misconception, mistake in result.verdicts:
            if status != "passed":
                marks.append(_mark(exercise, status))
            if mistake or misconception:
                marks.append(_mark(exercise, misconception, mistake))
        stuck += [v[0] for v in result.verdicts if v[1] not in ("passed", "not attempted", "not graded")]
    reached = row.total(everybody.plan)
    total = amount(reached) + (" %" if everybody.plan.weights else "") + ("" if row.complete else " so far")
    about = " ".join(filter(None, (row.called, row.person.group and f"({row.person.group})")))
    return {"marks": " ".join(marks), "about": about, "cells": cells, "value": f"{reached:.4f}", "total": total,
            "stuck": ", ".join(stuck)}  # fmt: skip
