"""Lesson 05: the gradient argument. Four exercises around the vector-Jacobian product.

Read exercise 5.1 as the pattern of a function exercise: an oracle that does not share the solution's formula, probes
whose numbers cannot hide a mistake, wrong answers as functions, right answers written differently, hints.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..exercise import Exercise, Lesson, Probe, Wrong, call, function, numbers

Array = np.ndarray[Any, Any]

# --- 5.1 the vector-Jacobian product of x squared ---------------------------------------------------------------


def vjp_by_nudging(x: Array, v: Array) -> Array:
    """The oracle: how much v . (x**2) moves when each x[i] moves; central differences are exact for a square."""
    nudges = 0.5 * np.eye(x.size)
    return np.array([v @ ((x + e) ** 2 - (x - e) ** 2) for e in nudges]).reshape(x.shape)


def probes_5_1(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.5, -2.0]))
    yield call(numbers(rng, 4), numbers(rng, 4))
    yield call(numbers(rng, 1), numbers(rng, 1))
    yield call(np.array([0.0, 1.5, -1.5, 0.0, 2.5]), numbers(rng, 5))


def ignores_v(x: Array, v: Array) -> Array:
    return 2 * x


def forgets_the_two(x: Array, v: Array) -> Array:
    return x * v


def v_as_the_point(x: Array, v: Array) -> Array:
    return 2 * v


def adds_it_all_up(x: Array, v: Array) -> Any:
    return np.sum(2 * x * v)


def squares_instead(x: Array, v: Array) -> Array:
    return v * x**2


def whole_jacobian(x: Array, v: Array) -> Array:
    return np.diag(2 * x * v)


EXERCISE_5_1 = function(
    "5.1", "vjp_square",
    title="the vector-Jacobian product of x squared",
    minutes=6,
    oracle=vjp_by_nudging,
    probes=probes_5_1,
    wrong=[
        Wrong(ignores_v, "M26", "Your answer does not depend on v: it is the slope of each square, 2x. v says how much "
              "the rest of the world cares about each output. Where does it enter?"),
        Wrong(forgets_the_two, "M26", "You handed v on, multiplied by x. How fast does x*x grow when x is nudged: by x, "
              "or by more?"),
        Wrong(v_as_the_point, "M26", "You took v for the point at which to differentiate. The point is x; v holds one "
              "weight for each output. Which of the two decides the slope of the square?"),
        Wrong(adds_it_all_up, "M27", "You added everything up to one number. x has several numbers to nudge: how many "
              "answers does that make?"),
        Wrong(squares_instead, "M06", "You weighted the outputs x*x themselves. v weights how fast they change: what is "
              "the slope of a square?"),
        Wrong(whole_jacobian, "M27", "That is the whole table: a row for each output, a column for each input. v adds "
              "its rows up: what shape is left?"),
    ],
    alternatives=[
        lambda x, v: np.diag(2 * x) @ v,
        lambda x, v: v * x + x * v,
        lambda x, v: np.einsum("i,i->i", 2 * v, x),
    ],
    hints=[
        "v has one number for each output y[i] = x[i]**2. The answer has one number for each input x[i].",
        "Take y = x**3 at x = [2] with v = [5]: nudging x by a hair moves y twelve hairs, and y counts five times: 60.",
        "Write down the slope of x[i]**2 first. Then ask what v[i] does to it.",
    ],
    worked="Each output depends on its own input only, with slope 2 * x[i]; weighted with v[i] that makes "
           "v * 2 * x.",
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (EXERCISE_5_1,)

LESSON = Lesson(
    number=5,
    slug="05_vectors",
    title="Vectors: the gradient argument",
    minutes=40,
    introduces=("M25", "M26"),
    with_engine=False,
    exercises=EXERCISES,
)
