"""One notebook in, one result out: the same bytes, lesson and seed give the same result on any machine.

The student's cells run in a worker of the sandbox; the judge (`verdict.py`, the same as in the notebook)
asks from here. A cell that never ends is left out and the rest is run again; an exercise that ends the
worker costs itself alone. A result is plain data, built from verdicts, and of a wrong answer without a name
its code: nothing that a student printed or drew is in it. What goes wrong on our side is `not graded`, which is no score.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import os
import re
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from minigrad.course import notebooks
from minigrad.course.checks import own_engine
from minigrad.course.commands import answers
from minigrad.course.exercise import Exercise, Lesson
from minigrad.course.grading import package, reader
from minigrad.course.grading.sandbox import Sandbox, Unavailable, Worker
from minigrad.course.judge.comparing import ask
from minigrad.course.judge.verdict import Verdict, judge
from minigrad.course.student.student import WALL
from minigrad.course.student.wire import Failure
from minigrad.course.student.worker import ENGINE

NOTEBOOK_SECONDS = 60.0  # for all of one notebook, asleep or computing
CELLS_SECONDS = 10.0  # of processor time for running a notebook's cells once
MOST_TOLD = 20  # cells that did not run through; who has more has read enough
MOST_LEFT_OUT = 2  # cells that never end; who has more of them is not waited for
TRIES = 200  # explanations of a mistake that is in no list: nine of ten that a notebook finds, in 0.2 s
NOT_GRADED = "not graded"
_ANOTHER = "none of this lesson's exercises is in the file: hand in the notebook from the folder exercises"


@dataclass(frozen=True)
class Limits:
    """What the teacher may set for every exercise; None leaves it to the exercise."""

    seconds: float | None = None
    megabytes: int | None = None

    def on(self, exercise: Exercise) -> Exercise:
        """The exercise with the limits that are really set, which its verdict names."""
        return replace(exercise, seconds=self.seconds or exercise.seconds, memory=self.megabytes or exercise.memory)


def seed_of(key: bytes, *parts: str) -> int:
    """The seed that belongs to a course key, a student and an exercise; nobody without the key can tell it."""
    message = "\x1f".join(parts).encode("utf-8", "surrogateescape")
    return int.from_bytes(hmac.new(key, message, hashlib.sha256).digest()[:4], "big")


@functools.cache
def given(lesson: str) -> str:
    """The imports that the exercises of a lesson begin with, which a student may have deleted with their cell."""
    file = notebooks.path("exercises", lesson)
    cells = notebooks.code_cells(notebooks.read(file)) if file.is_file() else []
    lines = [cell.splitlines() for cell in cells]
    return "\n".join(line for cell in lines if all(re.match("(import|from) ", one) for one in cell) for line in cell)


def engine_of(lesson: Lesson, without: frozenset[str]) -> dict[str, Any]:
    """What a worker gets of `my_engine`: the text of what it is in this lesson, and the parts that the lesson adds."""
    if ENGINE in without:
        return {"engine": "", "parts": {}}
    added = {part.id: [list(part.names), part.given] for part in own_engine.given().values() if part.lesson == lesson.number}
    return {"engine": own_engine.reference(lesson.number), "parts": added}


class Grader:
    """The sandboxes of one level, one for each set of parts that does not exist in it, started when first needed."""

    def __init__(self, level: str, *, limits: Limits = Limits()) -> None:
        self.level, self.limits = level, limits
        self._folder: Path | None = None
        self._sandboxes: dict[frozenset[str], Sandbox] = {}

    def sandbox(self, without: frozenset[str]) -> Sandbox:
        """The sandbox in which these parts of the package do not exist. Unavailable if it cannot be built."""
        without = without - {ENGINE}  # which the workers get, and no package
        if without not in self._sandboxes:
            try:
                site = package.build(self._home() / ("-".join(sorted(without)) or "whole"), without)
            except OSError as error:
                raise Unavailable(f"the sandbox package could not be written: {package.no_room(error)}") from error
            self._sandboxes[without] = Sandbox(self.level, site, with_engine="engine" not in without)
        return self._sandboxes[without]

    def _home(self) -> Path:
        """A folder of our own, open to read for whoever the sandbox becomes."""
        if self._folder is None:
            package.tidy_up()
            self._folder = Path(tempfile.mkdtemp(prefix=f"{package.PREFIX}{os.getpid()}-"))
            self._folder.chmod(0o755)
        return self._folder

    def grade(
        self, data: bytes | reader.Submission, lesson: Lesson, seed: bytes, allowance: float = NOTEBOOK_SECONDS
    ) -> dict[str, Any]:
        """The result of one notebook, as plain data. Never raises for anything that is in the notebook. No exercise of it is
        begun after `allowance` seconds, without those for which a busy machine lets the student's process wait."""
        started = time.perf_counter()
        submission = reader.read(data) if isinstance(data, bytes) else data
        exercises = [exercise for exercise in lesson.exercises if exercise.points > 0]
        session = Session(self, lesson, submission, allowance)
        try:
            verdicts = [session.verdict(exercise, seed_of(seed, exercise.id)) for exercise in exercises]
            session.look_closer()
        finally:
            session.close()
        return {
            "problem": submission.problem or (_ANOTHER if {v["status"] for v in verdicts} == {"missing"} else ""),
            "isolation": self.level,
            "like": reader.likeness(submission),
            "published": set() < published(lesson.slug) <= set(map(reader.bare, submission.cells)),
            "graded": all(verdict["status"] != NOT_GRADED for verdict in verdicts),
            "points": sum(verdict["points"] for verdict in verdicts),
            "out_of": sum(verdict["out_of"] for verdict in verdicts),
            "verdicts": verdicts,
            "cells": session.cell_problems(),
            "seconds": round(time.perf_counter() - started, 4),
        }

    def close(self) -> None:
        """End the sandboxes and take their files away."""
        for sandbox in self._sandboxes.values():
            sandbox.close()
        self._sandboxes.clear()
        self.remove_files()

    def remove_files(self) -> None:
        """Take away what was written for the sandboxes."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


class OutOfTime(Exception):
    """The notebook has had the time that it may have."""


@functools.cache
def published(lesson: str) -> frozenset[str]:
    """The answers of the published solution, without comments and spaces."""
    file = notebooks.path("solutions", lesson)
    cells = notebooks.code_cells(notebooks.read(file)) if file.is_file() else []
    blank = notebooks.path("exercises", lesson)
    given = {reader.bare(cell) for cell in notebooks.code_cells(notebooks.read(blank))} if blank.is_file() else set()
    return frozenset({reader.bare(cell) for cell in cells} - given)


class Session:
    """One notebook in the sandbox: a worker that has run the cells, made anew whenever it was lost."""

    def __init__(self, grader: Grader, lesson: Lesson, submission: reader.Submission, allowance: float) -> None:
        self.grader, self.lesson, self.submission = grader, lesson, submission
        self.allowance, self.spent = allowance, 0.0
        self.worker: Worker | None = None
        self.place_of = (0, frozenset[str]())  # bytes, and what does not exist there
        self.parked = submission.parked
        self.left_out: dict[int, Failure] = {}
        self.failures: dict[int, Failure] = {}
        self.ready = self.one_by_one = False
        self.unnamed: list[tuple[Exercise, int, dict[str, Any]]] = []

    def verdict(self, exercise: Exercise, seed: int) -> dict[str, Any]:
        """The verdict on one exercise, with the cell and line of what was raised."""
        if exercise.one_of:  # each part where its own forbidden parts do not exist
            found = [self.verdict(replace(part, points=exercise.points), seed) for part in exercise.one_of]
            order = ("passed", NOT_GRADED, "wrong", "error", "timeout", "memory", "forbidden", "not attempted", "missing")
            return min(found, key=lambda verdict: order.index(verdict["status"]))

        def none(status: str, why: str) -> dict[str, Any]:
            return record(Verdict(exercise.id, status, 0.0, exercise.points, (why,), seed=seed))

        if self.submission.unread:
            return none(NOT_GRADED, f"Not graded, and no points lost: {self.submission.problem}.")
        if not self.submission.cells and not self.submission.parked:
            return none("missing", f"Nothing could be read: {self.submission.problem}.")
        try:
            limited = self.grader.limits.on(exercise)
            worker = self.ready_for(limited)
            judged = judge(limited, worker, seed, TRIES)
        except OutOfTime:
            most = f"all exercises of this notebook together may take {self.allowance:g} s"
            return none("timeout", f"Stopped: {most}, and they took more.")
        except (Unavailable, OSError) as error:
            return none(NOT_GRADED, f"Not graded, and no points lost: {error}")
        except Exception as error:  # a fault of the check itself must not stop the class, nor cost points
            return none(NOT_GRADED, f"Not graded: the check failed ({type(error).__name__}: {error}).")
        result = record(judged, self.place(exercise, judged, worker.failure), self.explain(exercise, judged))
        if judged.status in ("wrong", "error") and not judged.mistake:
            if exercise.written:
                result |= answers.unnamed(exercise, (), (), judged.got)
            else:
                self.unnamed.append((limited, seed, result))
        return result

    def look_closer(self) -> None:
        """Mistakes without a name once more, in a process of its own: what comes of questions that are the same for the whole
        class, and then what change of the student's code makes it right, as in a notebook. Its words only; what a change
        leaves behind counts for nothing."""
        self.close()
        for exercise, seed, result in self.unnamed:
            try:
                worker = self.ready_for(exercise)
                given = [ask(exercise, worker, probe) for probe in exercise.questions(0)]
                result.update(answers.unnamed(exercise, given, self.submission.cells))
                worker = self.ready_for(exercise)
                worker.varies = True
                judged = judge(exercise, worker, seed, TRIES)
            except Exception:  # it is said already what is wrong
                return
            if judged.status == result["status"]:
                place = (result["cell"], result["line"]) if "cell" in result else None
                words = record(judged, place, self.explain(exercise, judged))
                result.update({name: words[name] for name in ("lines", "call", "got", "expected")})

    def ready_for(self, exercise: Exercise) -> Worker:
        """A worker with the time of this exercise, in which the cells have run; OutOfTime if the notebook has had its own."""
        worker = self.prepared(exercise.memory << 20, self.lesson.without(exercise))
        left = self.allowance - self.spent - worker.held()
        if left <= 0:
            raise OutOfTime
        worker.limit(exercise.seconds, min(WALL * exercise.seconds, left))
        worker.failure = None
        return worker

    def prepared(self, memory: int, without: frozenset[str]) -> Worker:
        """A worker with this much memory and without these parts of the package, in which the cells have run."""
        wanted = (memory, without)
        if self.ready and self.worker is not None and wanted == self.place_of and not self.worker.dead:
            return self.worker
        self.place_of = wanted
        while True:
            endless = self.run_cells(self.fresh())
            assert self.worker is not None
            if endless is None:
                self.ready = True
                return self.worker
            if len(self.left_out) == MOST_LEFT_OUT:
                return self.worker  # it is gone, and says why to whoever asks
            self.left_out[endless] = self.worker.dead or Failure("killed")

    def run_cells(self, worker: Worker) -> int | None:
        """Run all cells; the number of the one that ended the worker, or None. They are one request, which is faster; where
        that ends the worker, one at a time in the next, to see which cell it was."""
        failures: dict[int, Failure] = {}
        cells = self.submission.cells
        begin = {"given": given(self.lesson.slug)} | engine_of(self.lesson, self.place_of[1])
        if begin["engine"]:  # elsewhere it is no fault of a cell that it needs one
            self.failures = failures
        sources = ["" if number in self.left_out else cell for number, cell in enumerate(cells, 1)]
        if not self.one_by_one:
            outcomes = worker.exec(sources, parked=list(self.parked), **begin)
            if not isinstance(outcomes, Failure):
                failures.update((number, o) for number, o in enumerate(outcomes, 1) if o is not None)
                return None
            self.one_by_one = True
            worker = self.fresh()
        worker.exec([], last=False, **begin)
        previous = ""
        for number, source in enumerate(sources, 1):
            alone = {"first": number, "previous": previous, "last": False}
            outcome = worker.exec([source], **alone) if source.strip() else [None]
            if isinstance(outcome, Failure):
                return number
            if outcome[0] is not None:
                failures[number] = outcome[0]
            previous = source or previous
        early = [number for number, failure in failures.items() if failure.type == "NameError"]
        again = worker.exec([""] * len(cells), last=True, parked=list(self.parked))
        if isinstance(again, Failure):
            if self.parked:  # it was no code cell: it may not cost one
                self.parked = ()
                return self.run_cells(self.fresh())
            return early[0] if early else len(cells)
        for number in early:
            del failures[number]
            if (second := again[number - 1]) is not None:
                failures[number] = second
        return None

    def fresh(self) -> Worker:
        """A new worker in place of the old one."""
        self.close()
        if self.spent >= self.allowance:
            raise OutOfTime
        seconds = sum(self.grader.limits.on(exercise).seconds for exercise in self.lesson.exercises)
        everything = int(CELLS_SECONDS + seconds) + 5  # the kernel's own limit, behind ours
        memory, without = self.place_of
        sandbox = self.grader.sandbox(without)
        try:
            self.worker = sandbox.worker(memory=memory, cpu=everything)
        except Unavailable:
            self.worker = sandbox.worker(memory=memory, cpu=everything)  # a zygote may be lost once
        self.worker.limit(CELLS_SECONDS, min(WALL * CELLS_SECONDS, self.allowance - self.spent))
        return self.worker

    def close(self) -> None:
        """End the worker."""
        if self.worker is not None:
            self.spent += self.worker.held()
            self.worker.close()
        self.worker, self.ready = None, False

    # --- words ---

    def place(self, exercise: Exercise, found: Verdict, failure: Failure | None) -> tuple[int, int] | None:
        """The cell and line in which the student's code raised."""
        if found.passed or failure is None or failure.line is None:
            return None
        alike = []
        for number, cell in enumerate(self.submission.cells, 1):
            lines = cell.splitlines()
            if failure.line <= len(lines) and lines[failure.line - 1].strip()[:200] == failure.text:
                alike.append((number, cell))
        words = [name.split(".")[0] for name in exercise.names]
        # Of several cells with that line, the last one that names what was asked for.
        named = [each for each in alike if any(word in each[1] for word in words)] or alike
        return (named[-1][0], failure.line) if named else None

    def explain(self, exercise: Exercise, found: Verdict) -> list[str]:
        """Why a name is not there, when a cell that names it did not run through."""
        if found.status != "missing":
            return []
        words = {name.split(".")[0] for name in exercise.names}
        cells = dict(enumerate(self.submission.cells, 1))
        return [
            sentence(number, failure)
            for number, failure in sorted((self.failures | self.left_out).items())
            if any(word in cells.get(number, "") for word in words)
        ][:3]

    def cell_problems(self) -> list[dict[str, Any]]:
        """The cells that did not run through, as plain data."""
        return [
            {"cell": number, "line": failure.line, "says": sentence(number, failure)}
            for number, failure in sorted((self.failures | self.left_out).items())[:MOST_TOLD]
        ]


def sentence(number: int, failure: Failure) -> str:
    """What stopped a cell, in one line."""
    where = f"Code cell {number}" + (f", line {failure.line}" if failure.line else "")
    if failure.kind == "timeout":
        return f"{where} did not end in time and was left out."
    if failure.kind == "memory":
        return f"{where} used more memory than is allowed."
    what = f"{failure.type}: {failure.message}" if failure.type else failure.message
    return f"{where} stopped: {what}"[:500]


def record(found: Verdict, place: tuple[int, int] | None = None, more: Sequence[str] = ()) -> dict[str, Any]:
    """A verdict as a line of the journal holds it."""
    plain = found.as_dict()
    plain["lines"] = [*plain["lines"], *more]
    if place is not None:
        plain["cell"], plain["line"] = place
        plain["lines"].append(f"This was in code cell {place[0]}, line {place[1]}.")
    return plain
