"""The checks without a notebook open: what `minigrad check`, `solution` and `progress` do.

The notebook's cells run in a process of their own (a worker, as in class grading, where `check`, `hint` and `keep`
say nothing and `predict` remembers the answer), and each exercise is judged there as in the notebook: in a forked
child, within its limits. A cell that raises does not stop later cells; one that hangs, or ends the process, is left out.
"""

import ast
import os
import platform
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from minigrad.course import lessons, notebooks
from minigrad.course.checks import next_step, progress_store
from minigrad.course.checks.card import verdict_card
from minigrad.course.exercise import Exercise
from minigrad.course.judge.verdict import Verdict
from minigrad.course.student.student import Local, Remote
from minigrad.course.student.wire import Failure
from minigrad.course.student.worker import fresh_namespace

CELL_SECONDS = 60.0
IN_THE_FORM = "This is your answer from the form. The cell is still blank: write the answer there before you hand it in."
BEFORE = "You solved it before, and your progress keeps that."
WORKER = "from minigrad.course.student.worker import main; main()"
PRELUDE = """
import minigrad.course
from minigrad.course.checks import own_engine
from minigrad.course.student import worker
minigrad.course.predict = worker.predict
for silent in ("check", "hint", "keep", "progress"):
    setattr(minigrad.course, silent, lambda *things, **options: None)
own_engine.Finder(lambda words: None).install()
del minigrad, own_engine, silent, worker
"""
EXAMINE = """
import minigrad.course.student.child, minigrad.course.lessons
minigrad.course.student.child.examine(minigrad.course.lessons.find(_exercise), globals(), _seed).as_dict()
"""


def check_notebook(file: Path, only: str = "") -> bool:
    """Judge a notebook's exercises, or one of them, and print what was found; True when all pass."""
    exercises = [exercise for exercise in exercises_of(file) if only in ("", exercise.id)]
    if not exercises:
        what = f"{only} is a question of the lesson: its answer is in the notebook to read"
        raise ValueError(what if not lessons.find(only).points else f"{file} holds no check of {only}")
    print(f"{file}")
    records = progress_store.load(progress_store.folder(file.resolve().parent))
    passed = 0
    for exercise, verdict, from_form in judged(file, exercises, print):
        passed += verdict.passed
        note = IN_THE_FORM if from_form else BEFORE if not verdict.passed and records.get(exercise.id, {}).get("passed") else ""
        print(replace(verdict_card(exercise.title, verdict), foot=note).text(), flush=True)
    print(f"{passed} of {len(exercises)} passed")
    return passed == len(exercises)


def solved(file: Path, only: str = "") -> bool:
    """Whether every exercise of a notebook passes, or this one."""
    asked = [exercise for exercise in exercises_of(file) if only in ("", exercise.id)]
    return all(verdict.passed for _, verdict, _ in judged(file, asked, lambda line: None))


def exercises_of(file: Path) -> list[Exercise]:
    """The exercises that a notebook's checks ask for; ValueError when there are none."""
    ids = notebooks.exercise_ids(notebooks.read(file))
    try:
        found = [lessons.find(id) for id in ids]
    except KeyError as error:
        raise ValueError(f"{file}: {error.args[0]}") from None
    if not found:
        raise ValueError(f"{file} holds no check: it is not an exercise notebook of this course")
    return found


def judged(file: Path, exercises: list[Exercise], say: Callable[[str], None]) -> Iterator[tuple[Exercise, Verdict, bool]]:
    """Each exercise with its verdict, and whether that is of an answer in a form; a new worker follows one that was lost."""
    records = progress_store.load(progress_store.folder(file.resolve().parent))
    cells = notebooks.code_cells(notebooks.read(file))
    left_out: set[int] = set()
    waiting = list(exercises)
    while waiting:
        with worker(file.resolve().parent) as student:
            lost = run_cells(student, cells, left_out)
            if lost is not None:
                left_out.add(lost)
                why = "it did not end" if student.dead and student.dead.kind == "timeout" else "it ended everything"
                say(f"  cell {lost + 1} is left out: {why}: {cells[lost].strip().splitlines()[0]}")
                continue
            while waiting and not student.dead:
                exercise = waiting.pop(0)
                verdict = examined(student, exercise)
                line = in_code(exercise, records) if verdict.status == "not attempted" else ""
                if line and not student.dead:
                    student.exec([line])
                    verdict = examined(student, exercise)
                yield exercise, verdict, bool(line)


def examined(student: "Remote | Here", exercise: Exercise) -> Verdict:
    """The verdict on an exercise in a worker that has run the notebook."""
    student.allow(CELL_SECONDS)
    found = student.run(EXAMINE, {"_exercise": exercise.id, "_seed": secrets.randbits(31)})
    if type(found) is dict:
        return Verdict.from_dict(found)
    return Verdict(exercise.id, "error", 0.0, exercise.points, ("The process was lost.",))


def in_code(exercise: Exercise, records: dict[str, dict[str, Any]]) -> str:
    """The answer that was given in the form of an exercise, as a line of code; "" where there is none."""
    given = records.get(exercise.id, {}).get("form")
    try:
        plain = repr(ast.literal_eval(given)) if exercise.written and type(given) is str else ""
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ""
    if exercise.kind == "prediction":
        return plain and f"from minigrad.course import predict; predict({exercise.id!r}, {plain})"
    return plain and f"{exercise.name} = {plain}"


def run_cells(student: "Remote | Here", cells: list[str], left_out: set[int]) -> int | None:
    """Run the cells, but for those left out; the number of one that cost us the worker, else None."""
    student.exec([PRELUDE])
    for number, source in enumerate(cells):
        if number not in left_out:
            student.allow(CELL_SECONDS)
            student.exec([source])
            if student.dead:
                return number
    return None


@contextmanager
def worker(folder: Path) -> Iterator["Remote | Here"]:
    """A student's process with `folder` as its working directory; it ends with the block."""
    if platform.system() == "Windows":  # no pipe can be handed to a child there
        yield Here()
        return
    requests, ask = os.pipe()
    answer, replies = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", WORKER, str(requests), str(replies)],
        pass_fds=(requests, replies),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env={**os.environ, "MINIGRAD_DISPLAY": "static", "MPLBACKEND": "agg"},
    )
    os.close(requests)
    os.close(replies)
    try:
        yield Remote(answer, ask, seconds=CELL_SECONDS)
    finally:
        process.kill()
        process.wait()
        os.close(ask)
        os.close(answer)


class Here(Local):
    """A student in this process, where no other can be had. No limits for the cells: Ctrl-C ends an endless loop."""

    dead: Failure | None = None

    def __init__(self) -> None:
        super().__init__(fresh_namespace())

    def exec(self, cells: list[str]) -> list[Failure | None]:
        """Run cells; one entry a cell."""
        return self.server.exec(cells)

    def allow(self, seconds: float) -> None:
        """There is no clock here."""


def progress_table(folder: Path, every: bool = False) -> str:
    """The progress of a student's folder in plain text: the lessons that are begun, or `every` exercise."""
    from minigrad.course.checks import checking, own_engine

    table = checking.progress_card(progress_store.load(folder), every, own_engine.counted(folder)).text()
    return "\n".join(filter(None, [table, progress_store.news()]))


def where(folder: Path) -> str:
    """Where the student's course lies, how much of it is solved, what comes next, and what to type."""
    records = progress_store.load(folder)
    step = next_step.after(records)
    lines = [f"Your course is in {folder}.", next_step.solved(records), progress_store.news(), step.place]
    lines += [f"Next: {step.words}"] if step.words else []
    rows: list[tuple[str, str]] = []
    if step.lesson is not None:
        rows.append((f"lab {step.lesson.number:02d}", "opens the lesson"))
    if step.exercise is not None:
        id = step.exercise.id
        rows += [(f"lab {id}", "opens the exercise"), (f"check {id}", "checks your answer")]
    return "\n".join([*filter(None, lines), "", *(f"  minigrad {command:10}  {does}" for command, does in rows)])
