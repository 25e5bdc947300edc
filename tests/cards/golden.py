"""How the cards come about: of each declared wrong answer, and of answers that were written without seeing the checks.

`05.md` holds the blind answers of lesson 05 (`## 5.1`, below it a fenced block for each answer), `05.txt` all cards of the
lesson. What explains a mistake is searched for with a number of tries and with time enough, so the cards are the same on a
busy machine.
"""

from __future__ import annotations

import ast
import functools
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from minigrad.course import lessons, notebooks
from minigrad.course.checks import checking  # noqa: F401 (it finds my_engine)
from minigrad.course.checks.card import verdict_card
from minigrad.course.commands.matrix import wrong_answers
from minigrad.course.exercise import Exercise
from minigrad.course.grading.grader import TRIES
from minigrad.course.judge.verdict import Verdict, judge
from minigrad.course.student import child, lent, worker
from minigrad.course.student.lent import stand_in
from minigrad.course.student.student import Local

HERE = Path(__file__).parent
BLOCK = re.compile(r"^## (\d+\.\w+)[^\n]*$|^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shown(exercise: Exercise, verdict: Verdict) -> str:
    """A verdict as a student reads it, without the title."""
    state, _, rest = verdict_card(exercise.title, verdict).text().partition("\n")
    return f"{state.rpartition(': ')[2]}\n{rest}\n" if rest else f"{state.rpartition(': ')[2]}\n"


def unhurried(make: Callable[[], str]) -> Callable[[], str]:
    """The same card, with time enough: how fast a machine is, and how busy, changes no card."""

    def made() -> str:
        with mock.patch.object(child, "WAIT", 40), mock.patch.object(worker, "BRIEF", 0.4):
            return make()

    return made


def declared(number: int) -> dict[str, Callable[[], str]]:
    """What makes the card of each declared wrong answer of a lesson, by name."""
    found: dict[str, Callable[[], str]] = {}
    for exercise in lessons.lesson(number).exercises:
        seen: Counter[str] = Counter()
        for wrong in wrong_answers(exercise):
            name = wrong.id.replace("_", " ")
            seen[name] += 1
            key = f"{exercise.id} {name}" + f" ({seen[name]})" * (seen[name] > 1)
            found[key] = unhurried(lambda e=exercise, a=wrong.answer: tried(e, a))
    return found


def tried(exercise: Exercise, answer: Any) -> str:
    """The card of a declared answer, which has the `my_engine` that a check has."""
    with stand_in(exercise):
        return shown(exercise, judge(exercise, Local(exercise.namespace(answer)), 0, TRIES))


def blind(number: int) -> dict[str, Callable[[], str]]:
    """What makes the card of each blind answer of a lesson, by its place in its exercise and what its author believes."""
    file = HERE / f"{number:02d}.md"
    found: dict[str, Callable[[], str]] = {}
    id, place = "", 0
    for heading, code in BLOCK.findall(file.read_text(encoding="utf-8")) if file.exists() else ():
        id, place = heading or id, 0 if heading else place + 1
        if code:
            believed = code.split("\n")[0].strip("# ")
            card = unhurried(lambda id=id, code=code: answered(lessons.find(id), code))
            found[f"{id} blind {place}: {believed}"] = card
    return found


def answered(exercise: Exercise, code: str) -> str:
    """The card of an answer that is written in the exercise notebook, below the cells that stand before its check."""
    if exercise.kind == "prediction":
        answer = worker.run_program(code, {"np": np}, "")
        return shown(exercise, judge(exercise, Local(exercise.namespace(answer)), 0, TRIES))
    if exercise.written and isinstance(ast.parse(code).body[0], ast.Expr):
        code = f"{exercise.name} = (\n{code})"
    namespace = given(exercise.id)
    *_, engine = lent.engines(exercise, namespace)
    student = child.Child(exercise, namespace, engine)
    try:
        failed = [] if isinstance(ran := student.student.exec([code]), worker.Failure) else filter(None, ran)
        errors = "".join(f"(its cell ends with {each.type}: {each.message})\n" for each in failed)
        return errors + shown(exercise, judge(exercise, student.student, 0, TRIES))
    finally:
        student.end()


@functools.lru_cache(maxsize=1)
def given(id: str) -> dict[str, Any]:
    """What a student has at this exercise: the cells of the notebook above its check, as they are handed out."""
    exercise = lessons.find(id)
    name = next(each for each in notebooks.lessons() if int(each[:2]) == exercise.lesson)
    student = worker.Server({"__name__": "__main__"})
    quiet = "def check(*exercises): pass\nhint = keep = predict = progress = check\n"
    for cell in notebooks.code_cells(notebooks.read(notebooks.path("exercises", name))):
        student.exec([re.sub(r"^from minigrad\.course import .*$", quiet, cell, flags=re.MULTILINE)])
        if f'check("{id}")' in cell:
            break
    return student.namespace | (exercise.scaffold() if exercise.scaffold else {})


def stored(number: int) -> dict[str, str]:
    """The cards of a lesson as they are kept."""
    file = HERE / f"{number:02d}.txt"
    parts = file.read_text(encoding="utf-8").split("\n=== ") if file.exists() else [""]
    return {name: card for name, _, card in (part.partition(" ===\n") for part in parts[1:])}


def write(number: int) -> None:
    """Keep the cards of a lesson as they are now."""
    cards = {name: make() for name, make in [*declared(number).items(), *blind(number).items()]}
    text = f"The cards of lesson {number:02d}. Written by `python -m tests.cards {number:02d}`.\n"
    text += "".join(f"\n=== {name} ===\n{card}" for name, card in cards.items())
    (HERE / f"{number:02d}.txt").write_text(text, encoding="utf-8")
