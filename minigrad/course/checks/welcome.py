"""The page on which the lab opens: what is solved, where to go on, and a link to everything.

It is written anew when `minigrad lab` starts and after each check; a page of that name that is not ours is left alone.
"""

import contextlib
import functools
import html
import math
from importlib import metadata
from pathlib import Path
from typing import Any

from minigrad.course import lessons
from minigrad.course.checks import next_step, progress_store

__all__ = ["FILE", "page", "write"]

FILE = "Welcome.md"
QUOTE = "> "
OURS = "<!-- minigrad writes this page anew at each start -->"
BUTTON = (
    "display: inline-block; padding: 0.4em 1em; border-radius: 4px; background-color: #0072B2; color: #FFFFFF; "
    "font-weight: bold; text-decoration: none"
)
PICTURE = """<img src="notebooks/images/stepper.png" width="560" alt="The stepper: the graph of a small function, its values and
gradients, and a sentence on the step that is taken">

On a phone the course is easier to read as [web pages]({site})."""
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
    hours = math.ceil(sum(minutes().values()) / 60)
    lines = [OURS, "", "# Welcome to minigrad", "", f"{len(known)} lessons, about {hours} hours in all. {go_on(records)}"]
    for sentence in news or ():
        lines += ["", QUOTE + sentence]
    lines += ["", PICTURE.format(site=site()), "", "| lesson | solved | minutes | what it is about |", "|---|---|---|---|"]
    for each in known:
        solved, asked = next_step.solved_in(records, each), next_step.scored(each)
        title = f"[{each.number:02d} · {each.title}]({next_step.address(each)})"
        exercises = f"[{solved} of {len(asked)}]({next_step.page_of(asked[0])})"
        lines.append(f"| {title} | {exercises} | {minutes()[each.number]} | {each.idea} |")
    return "\n".join([*lines, FOOT])


def go_on(records: dict[str, dict[str, Any]]) -> str:
    """How much is solved, and below it a link that looks like a button to what comes next."""
    step = next_step.after(records)
    target = step.exercise or step.lesson
    if target is None:
        return next_step.solved(records)
    begun = any(record.get("tries") or record.get("passed") for record in records.values())
    words = f"{'Go on with' if begun else 'Begin with'} {step.words}"
    said = f"{next_step.solved(records)} {step.place}" if begun else next_step.solved(records)
    return f'{said}\n\n<a href="{next_step.address(target)}" style="{BUTTON}">{html.escape(words)}</a>'


@functools.cache
def site() -> str:
    """The page of the documentation on the course as web pages."""
    urls = dict(entry.split(", ", 1) for entry in metadata.metadata("minigrad-course").get_all("Project-URL") or ())
    return f"{urls['Documentation']}/site.md"


@functools.cache
def minutes() -> dict[int, int]:
    """The minutes of each lesson with its exercises."""
    from minigrad.course.commands import building

    return {each.number: sum(building.times(each)) for each in lessons.all_lessons()}
