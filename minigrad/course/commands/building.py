"""`minigrad build`: all that is generated, from the two notebooks of a lesson that are written by hand.

Of a lesson the solution and the reading notebook are run and stored, the exercises are made from the solution, the
first screens tell the minutes, and the last cells lead on to the next notebook. The index, the reference pages and
the minutes of the plans in TEACHING follow.
"""

import math
import re
from collections.abc import Iterator
from pathlib import Path

from minigrad.course import lessons, notebooks
from minigrad.course.commands import reference
from minigrad.course.exercise import Lesson
from minigrad.course.notebooks import Notebook

WORDS, CELLS = 150, 3  # a minute
TIME = re.compile(r"^\*\*\d+ minutes\*\*(: \d+ here, \d+ for the exercises)?", re.MULTILINE)
PLAN = re.compile(r"^(\| [^|]+ \| )([\d, ]+)( \| )([\d., ]+ \| )?\d+( \|)", re.MULTILINE)  # lessons, exercises, minutes


def build(only: str | None = None, run: bool = True) -> Iterator[tuple[Path, str]]:
    """Regenerate what is generated; yields each file with what became of it: `written` or `unchanged`.

    For each lesson (all, or the one whose name begins with `only`): solution and lesson are tidied and run,
    their outputs stored, and the exercise made from the solution. `run=False` leaves stored outputs alone.
    """
    chosen = [lesson for lesson in notebooks.lessons() if lesson.startswith(only or "")]
    if not chosen:
        raise ValueError(f"there is no lesson {only!r}; there are: {', '.join(notebooks.lessons())}")
    for lesson in chosen:
        for kind in ("solutions", "notebooks"):
            file = notebooks.path(kind, lesson)
            if not file.exists():
                continue
            nb = mark(kind, notebooks.read(file), lesson)
            if run:
                fresh = notebooks.execute(nb, file.parent)
                nb = nb if notebooks.same_outputs(nb, fresh) else fresh
            yield file, put(notebooks.dumps(nb).encode(), file)
            if kind == "solutions":
                exercise = notebooks.path("exercises", lesson)
                yield exercise, put(notebooks.dumps(notebooks.exercise_from_solution(nb)).encode(), exercise)
    for file, text in pages().items():
        yield file, put(text.encode(), file)


def put(content: bytes, file: Path) -> str:
    """Write a file if it changes."""
    if file.exists() and file.read_bytes() == content:
        return "unchanged"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return "written"


def pages() -> dict[Path, str]:
    """Where each page that is generated, or holds generated minutes, lies, and its text."""
    folder = notebooks.course_root() / "notebooks"
    minutes = {each.number: times(each) for each in lessons.all_lessons()}
    each_takes = {each.id: each.minutes for lesson in lessons.all_lessons() for each in lesson.exercises}
    parts = {each.number: parts_of(notebooks.read(notebooks.path("notebooks", each.slug))) for each in lessons.all_lessons()}
    made = {folder / name: text for name, text in reference.pages(minutes, parts).items()}

    def summed(row: re.Match[str]) -> str:
        """A row of a plan with its minutes: of whole lessons, or of the reading and the exercises that it names."""
        numbers = [int(number) for number in row[2].split(",")]
        total = sum(sum(minutes[number]) for number in numbers)
        if row[4]:
            total = sum(minutes[n][0] for n in numbers) + sum(each_takes[e] for e in re.findall(r"[\d.]+", row[4]))
        return f"{row[1]}{row[2]}{row[3]}{row[4] or ''}{total}{row[5]}"

    teaching = folder / "TEACHING.md"
    return made | {teaching: PLAN.sub(summed, teaching.read_text(encoding="utf-8"))}


# Minutes -------------------------------------------------------------------------------------------------


def times(lesson: Lesson) -> tuple[int, int]:
    """The minutes for a lesson's reading notebook, and those for its exercises."""
    reading = notebooks.read(notebooks.path("notebooks", lesson.slug))
    return minutes_to_read(reading), sum(each.minutes for each in lesson.exercises if each.points)


def parts_of(nb: Notebook) -> list[tuple[str, int]]:
    """The headings of a notebook, each with the minutes to read and run what is below it."""
    found: list[tuple[str, Notebook]] = []
    for cell in nb["cells"]:
        if cell["cell_type"] == "markdown" and cell["source"].startswith("## "):
            found.append((cell["source"].partition("\n")[0].removeprefix("## "), {"cells": []}))
        if found:
            found[-1][1]["cells"].append(cell)
    return [(heading, minutes_to_read(part)) for heading, part in found]


def minutes_to_read(nb: Notebook) -> int:
    """150 words and three cells a minute, and a minute for each prediction; rounded up."""
    prose = " ".join(cell["source"] for cell in nb["cells"] if cell["cell_type"] == "markdown")
    prose = re.sub(r"!\[[^\]]*\]\([^)]*\)|\]\([^)]*\)|<[^>]+>", " ", prose)  # pictures, addresses and tags are not read
    words = len(re.findall(r"[^\s`*#>|\[\]-]+", prose))
    code = notebooks.code_cells(nb)
    asked = sum(source.startswith("predict(") for source in code)
    return math.ceil(words / WORDS + (len(code) - asked) / CELLS + asked)


# What is generated in a notebook -------------------------------------------------------------------------


def mark(kind: str, nb: Notebook, slug: str) -> Notebook:
    """The form in which a notebook of this kind is stored: tidy, with its minutes and the way on."""
    nb = notebooks.tidy(nb, slug)
    lesson = next((each for each in lessons.all_lessons() if each.slug == slug), None)
    if lesson is not None:
        lead_on(kind, nb, lesson)
        tell_the_time(kind, nb, lesson)
    return notebooks.mark_for_nbgrader(nb) if kind == "solutions" else nb


def tell_the_time(kind: str, nb: Notebook, lesson: Lesson) -> None:
    """Put the minutes on the first screen."""
    solve = sum(each.minutes for each in lesson.exercises if each.points)
    read = minutes_to_read(nb)
    told = f"**{solve} minutes**"
    if kind == "notebooks":
        told = f"**{read + solve} minutes**: {read} here, {solve} for the exercises"
    opening = nb["cells"][0]
    opening["source"] = TIME.sub(told, opening["source"], count=1)


def lead_on(kind: str, nb: Notebook, lesson: Lesson) -> None:
    """Let a notebook end with links to the next ones; a way on that was written by hand goes."""
    id = f"{lesson.number:02d}-next"
    cells = [cell for cell in nb["cells"] if cell["id"] != id]
    for cell in cells:
        if cell["cell_type"] == "markdown":
            cell["source"] = re.sub(r"\s*^\*\*Next:\*\*.*\Z", "", cell["source"], flags=re.MULTILINE | re.DOTALL)
    nb["cells"] = [*cells, {"cell_type": "markdown", "id": id, "metadata": {}, "source": way_on(kind, lesson)}]


def way_on(kind: str, lesson: Lesson) -> str:
    """What the last cell says."""
    later = next((each for each in lessons.all_lessons() if each.number > lesson.number), None)
    reading = kind == "notebooks"
    folder = "" if reading else "../notebooks/"
    after = "This was the last lesson."
    if later is not None:
        after = f"[lesson {later.number:02d} · {later.title}]({folder}{later.slug}.ipynb)."
        after = f"After them comes {after}" if reading else f"{after} {later.idea}"
    if reading:
        exercises = f"../exercises/{lesson.slug}{notebooks.SUFFIX}.ipynb"
        return f"**Next:** [the exercises of lesson {lesson.number:02d}]({exercises}). {after}"
    return f"**Next:** {after}\n\n[All lessons]({folder}README.md)"
