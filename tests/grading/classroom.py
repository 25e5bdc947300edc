"""A small lesson, notebooks as bytes, and a grader for each level: what the grading tests share."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from minigrad.course.exercise import Lesson, Probe, Wrong, call, function, numbers, program, run, value
from minigrad.course.grading import LEVELS, sandbox
from minigrad.course.grading.grader import Grader, Limits

BOUNDARIES = LEVELS[:2]


def slope_probes(rng: np.random.Generator) -> Iterator[Probe]:
    for n in (3, 5):
        yield call(numbers(rng, n), numbers(rng, n))


def forgets_upstream(x: Any, g: Any) -> Any:
    return 3 * x * x


def forgets_the_three(x: Any, g: Any) -> Any:
    return x * x * g


def adds_up(x: Any, g: Any) -> Any:
    return float(np.sum(3 * x * x * g))


def counter_probes(rng: np.random.Generator) -> Iterator[Probe]:
    steps = [int(n) for n in rng.integers(2, 9, 4)]
    code = "c = Counter()\nfor s in steps:\n    c.add(s)\n[c.total, c.count]"
    yield run(code, steps=steps).expect([sum(steps), len(steps)])


class Forgets:
    total = count = 0

    def add(self, n: int) -> None:
        self.total, self.count = n, self.count + 1


class NeverCounts:
    total = count = 0

    def add(self, n: int) -> None:
        self.total += n


class Doubles:
    total = count = 0

    def add(self, n: int) -> None:
        self.total, self.count = self.total + 2 * n, self.count + 1


LESSON = Lesson(
    number=90,
    slug="90_attacked",
    title="A lesson under attack",
    exercises=(
        function(
            "90.1", "slope", title="the slope of a cube", oracle=lambda x, g: 3 * x**2 * g, probes=slope_probes,
            wrong=[Wrong(forgets_upstream, "M23"), Wrong(forgets_the_three, "", "The three."), Wrong(adds_up, "M27")],
            alternatives=[lambda x, g: g * x * x * 3, lambda x, g: (x + x + x) * x * g], seconds=1.0,
        ),
        program(
            "90.2", "Counter", title="a class that counts", probes=counter_probes, points=2.0, seconds=1.0,
            wrong=[Wrong(Forgets, "", "Forgets."), Wrong(NeverCounts, "", "Counts."), Wrong(Doubles, "", "Twice.")],
            alternatives=[],
        ),
        value("90.3", "answer", 66.0, title="a number", wrong=[Wrong(44.0, "", "Swapped.")], seconds=1.0),
    ),
)  # fmt: skip

SLOPE = "def slope(x, g):\n    return 3 * x**2 * g"
COUNTER = (
    "class Counter:\n    def __init__(self):\n        self.total = self.count = 0\n\n"
    "    def add(self, n):\n        self.total += n\n        self.count += 1"
)
RIGHT = ("import numpy as np", SLOPE, COUNTER, "answer = 66.0")
FULL = 4.0


def notebook(*sources: str, outputs: list[Any] | None = None, **metadata: Any) -> bytes:
    """A notebook file with these code cells."""
    cells = [
        {"cell_type": "code", "source": source, "metadata": metadata, "outputs": outputs or [], "execution_count": None}
        for source in sources
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()


def statuses(result: dict[str, Any]) -> list[str]:
    return [verdict["status"] for verdict in result["verdicts"]]


def same_result(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Equal apart from times."""
    return {k: v for k, v in a.items() if k != "seconds"} == {k: v for k, v in b.items() if k != "seconds"}


@functools.cache
def grader(level: str) -> Grader:
    """One grader a level for the whole test run; the test is skipped where the level does not hold."""
    found = sandbox.problems(level)
    if found:
        pytest.skip(f"optional: isolation level {level}: {found[0]}")
    return Grader(level, limits=Limits(megabytes=256))


def grade(data: bytes, level: str = "landlock", seed: bytes = b"seed") -> dict[str, Any]:
    """The result of a notebook on the small lesson."""
    return grader(level).grade(data, LESSON, seed)
