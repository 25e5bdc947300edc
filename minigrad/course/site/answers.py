"""What students answer in a lesson, and what they are told: for teachers, from the lesson's text.

The answers of the text stand in it, wrong ones only: what is right is in the solutions. A misconception's number leads to its
section.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from minigrad.course import misconceptions
from minigrad.course.exercise import Lesson
from minigrad.course.lesson_text import Piece, Section

__all__ = ["markdown", "source"]

BELIEF = re.compile(r"``.+?``|`[^`]*`|\bM\d\d\b")
CATALOGUE = "../../../notebooks/reference/misconceptions.md"
HEAD = """# What students answer in lesson {number:02d}, and what they are told

For teachers. Below each exercise stand the wrong answers that its check knows, by name, and under each the words that a student
reads. `a` → `b` is the right answer with `b` in the place of `a`, and *without* `a` the right answer without it; *like* another
answer means that no question tells the two apart. A number such as M26 is the [misconception]({catalogue}) behind it. In a
class, `minigrad grade --answers` adds rows of your own, which have the same form.

"""


def source(lesson: Lesson) -> str:
    """The path of the lesson's text in the repository."""
    return f"minigrad/course/lessons/{lesson.slug}.md"


def markdown(lesson: Lesson) -> str:
    """The page of a lesson."""
    parts = (part for section in lesson.sections for part in exercise(section))
    return HEAD.format(number=lesson.number, catalogue=CATALOGUE) + "\n\n".join(parts)


def exercise(section: Section) -> Iterator[str]:
    """An exercise, and its wrong answers; nothing of one that has none, or is a choice of others."""
    options = (option for option in section.parts.get("Options", []) if option.below)  # the right one has no words
    rows = [*section.parts.get("Wrong", []), *options]
    orders = section.parts.get("Order", [])
    if not rows and not orders:
        return
    yield f"## {section.top.text}"
    if inputs := section.facts.get("inputs"):
        yield f"Inputs that its task allows, each in a question: {inputs}."
    if orders:
        yield "\n".join(f"{number}. {item.text}" for number, item in enumerate(section.parts["Items"], 1))
        yield "Each row is a rule that an answer may break."
    yield "\n".join(row(item) for item in (*rows, *orders))


def row(item: Piece) -> str:
    """An answer with what is said to it, and with its code."""
    below = []
    for part in item.below:
        code = part.mark.startswith("```")
        below.append(f"{part.mark}\n{part.text}```" if code else f"> {linked(part.text)}")
    return f"- {linked(item.text)}\n\n" + textwrap.indent("\n\n".join(below), "  ") + "\n"


def linked(text: str) -> str:
    """The text with a link at each number of a misconception that is not in code."""
    return BELIEF.sub(lambda found: link(found[0]) if found[0][0] == "M" else found[0], text)


def link(belief: str) -> str:
    """A misconception's number, which leads to its section."""
    heading = f"{belief} {misconceptions.find(belief).name}".lower()
    anchor = re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")
    return f"[{belief}]({CATALOGUE}#{anchor})"
