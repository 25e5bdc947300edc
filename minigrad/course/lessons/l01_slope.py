"""Lesson 01: a derivative is a slope that you can measure.

The central difference of sin is cos(x) * sin(h) / h, and that of a cube 3x**2 + h**2: closed forms, so the right
answers below are computed without a difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..exercise import Probe, numbers, run
from ..lesson_text import lesson

Function = Callable[[float], float]

# --- 1.1 the central difference -------------------------------------------------------------------------------

CUBE = "central(lambda x: x**3, x, h)"
SINE = "central(math.sin, x, h)"
CALLS = "seen = []\ncentral(lambda x: seen.append(x) or 0.0, x, h)\nseen"


def points(seen: list[float]) -> list[float]:
    """The points farthest to the left and to the right of those at which f was called."""
    return [min(seen), max(seen)] if seen else []


def other_points(ends: list[float]) -> str:
    """Words for points that are not those of CALLS."""
    if not ends:
        return "Your function does not call f. The slope needs the values of f at two points. Which ones?"
    if ends == [3.75, 4.25]:
        return ""
    where = f"at {ends[0]:g}" if ends[0] == ends[1] else f"from {ends[0]:g} to {ends[1]:g}"
    return f"For x = 4 and h = 0.25, your function calls f {where}. The points are x - h and x + h: which are these?"


def probes_1_1(rng: np.random.Generator) -> Iterator[Probe]:
    x = float(numbers(rng, 1)[0])
    h = int(rng.integers(100, 600)) / 1000
    yield run(CUBE, x=2.0, h=0.5).expect(12.25).show()
    yield run(SINE, x=1.2, h=0.001).expect(math.cos(1.2) * math.sin(0.001) / 0.001)
    yield run(SINE, x=2.5, h=0.125).expect(math.cos(2.5) * math.sin(0.125) / 0.125)
    yield run(CUBE, x=-1.5, h=0.25).expect(6.8125)
    yield run(CUBE, x=x, h=h).expect(3 * x * x + h * h)
    yield run(SINE, x=x, h=h).expect(math.cos(x) * math.sin(h) / h)
    yield run(CALLS, x=4.0, h=0.25).seen_as(points).expect([3.75, 4.25]).told_by(other_points)
    falls = int(rng.integers(170, 460)) / 100  # the sine falls between 1.6 and 4.7
    yield run(SINE, x=falls, h=h).expect(math.cos(falls) * math.sin(h) / h)


def behind(f: Function, x: float, h: float) -> float:
    return (f(x) - f(x - h)) / h


# --- 1.3 and 1.4 ----------------------------------------------------------------------------------------------

STEPS = tuple(n * 10.0**-k for k in range(7) for n in (1, 2, 2.5, 5) if n == 1 or k)  # what h is usually taken to be
ONE_SIDED = (*STEPS, *(-h for h in STEPS))


def one_sided(for_x: Any, for_y: Any) -> bool:
    """Whether these are the differences to one side, with the same h: (x * 3 + 5)**2 and (2 * y + 5)**2 bend by 9 and 4."""
    h = (float(for_x) - 66) / 9
    return not isinstance(for_x, str) and abs(h) > 1e-6 and abs((float(for_y) - 44) / 4 - h) < 1e-4 * abs(h)


LESSON = lesson(
    __file__,
    globals(),
    {
        "1.1": {"probes": probes_1_1, "prelude": "import math"},
        "1.2": {"accept": lambda v: 2e-7 <= float(v) <= 4e-5},
    },
)
