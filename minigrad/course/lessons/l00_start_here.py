"""Lesson 00: how a check, a hint and a prediction work. Three exercises that are about the course, not yet about slopes."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..exercise import Exercise, Lesson, Probe, Wrong, call, choice, function, numbers, prediction, value

EXERCISE_0_1 = value(
    "0.1", "answer", 42,
    why="The name answer now holds the number 42, and the check found it there.",
    title="a first answer",
    minutes=1, rtol=0.0,
    wrong=[
        Wrong("42", "", "That is text, because of the quotation marks: type str. A number is asked for. What is the "
              "difference between 42 and '42' when you add 1?"),
        Wrong([42], "", "That is a list that holds 42. The number alone is asked for: which signs are too many?",
              when=lambda v: isinstance(v, list) and v == [42], name="in a list"),
        Wrong((42,), "", "The comma behind 42 makes a tuple of it. The number alone is asked for.",
              when=lambda v: isinstance(v, tuple) and v == (42,), name="a comma too many"),
        Wrong("42.", "", "That is text, because of the quotation marks. A number is asked for.", name="some other text",
              when=lambda v: isinstance(v, str)),
        Wrong(24, "", "24: are the two digits in the order of the question?"),
        Wrong(None, "", "answer is None: nothing was put into it. What should stand behind the equals sign?"),
    ],
    hints=[
        "Put a number behind the equals sign.",
        "For a variable that should hold 7 one writes: seven = 7",
        "Look at the line with the dots: they stand where your number belongs.",
    ],
    worked="answer = 42",
)  # fmt: skip

EXERCISE_0_2 = choice(
    "0.2", "reason",
    {
        "a": "the check is broken: for some numbers the function is right",
        "b": "the function squares its input; it was asked to double it",
        "c": "the function was called with a wrong number: the input should have been 3",
        "d": "the answer was rounded",
    },
    right="b",
    why="A card shows what was called and what came back, and -1.5 times -1.5 is 2.25.",
    title="reading a card",
    minutes=3,
    wrong=[
        Wrong("a", "", "At 2 it happens to be right, for 2 + 2 is 2 * 2. A check asks about more than one number. What "
              "does the function do with -1.5?"),
        Wrong("c", "", "The check chooses the inputs; a function has to be right for all of them. What does it make of "
              "-1.5?"),
        Wrong("d", "", "2.25 against -3: that is more than rounding, the sign differs. Which operation makes a positive "
              "number out of -1.5?"),
    ],
    hints=[
        "A card has three lines: what was called, what came back, what was expected.",
        "If triple(5.0) gives 125, somebody used ** for *.",
        "Find the operation that makes 2.25 out of -1.5. Is it doubling?",
    ],
    worked="-1.5 * -1.5 is 2.25: the function squares (b).",
)  # fmt: skip


def probes_0_3(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(-1.5).show()
    yield call(2.0).show()
    yield call(0.0)
    yield call(0.35)
    yield call(3.0)
    yield call(-0.123456789)
    yield call(float(numbers(rng, 1)[0]))
    yield call(-1234.5)


def twice_by_sum(x: float) -> float:
    return sum([x, x])


def squares(x: float) -> float:
    return x * x


def adds_two(x: float) -> float:
    return x + 2


def unchanged(x: float) -> float:
    return x


def prints_only(x: float) -> Any:
    print(2 * x)


def halves(x: float) -> float:
    return x / 2


def always_four(x: float) -> float:
    return 4.0


def rounds(x: float) -> int:
    return int(2 * x)


def few_decimals(x: float) -> float:
    return round(2 * x, 4)


def never_negative(x: float) -> float:
    return abs(2 * x)


def in_a_list(x: float) -> list[float]:
    return [2 * x]


def twice_in_a_list(x: float) -> list[float]:
    return [x, x]


def as_text(x: float) -> str:
    return str(2 * x)


EXERCISE_0_3 = function(
    "0.3", "double",
    why="Twice a number is 2 * x for every x, also below zero.",
    title="mend it",
    minutes=3,
    oracle=twice_by_sum,
    probes=probes_0_3,
    wrong=[
        Wrong(squares, "", "This is the function from 0.2: it squares. It is right at 0 and at 2, and nowhere else. "
              "What is twice -1.5?"),
        Wrong(adds_two, "", "You added 2. That is right for 2 only. What is twice -1.5?"),
        Wrong(unchanged, "", "The number comes back as it was. What should happen to it?"),
        Wrong(prints_only, "", "The number was printed, and nothing came back. Which word hands a result to the one "
              "who called?"),
        Wrong(halves, "", "You halved it. Which operation makes a number twice as large?"),
        Wrong(always_four, "", "4 comes back whatever goes in. Where does x enter?"),
        Wrong(rounds, "", "The decimals are gone: 2 * 0.35 is 0.7. What does int() do to a number?"),
        Wrong(few_decimals, "", "Nearly: the number was rounded on the way. Twice 0.123456789 has as many decimals as "
              "it. What takes them away?"),
        Wrong(never_negative, "", "Right for numbers above zero. A negative number lost its sign: what is twice -1.5?"),
        Wrong(in_a_list, "", "The number is right, but it stands in a list. Which signs are too many?"),
        Wrong(twice_in_a_list, "", "Two numbers came back, side by side. One number is asked for: what joins them?"),
        Wrong(as_text, "", "That is text: it looks like the number, and nobody can reckon with it. What made it text?"),
    ],
    alternatives=[lambda x: x + x, lambda x: x * 2, lambda x: x - -x, lambda x: np.float64(x) / 0.5,
                  functools.partial(operator.mul, 2)],
    hints=[
        "double(5) is 10, double(-1.5) is -3.",
        "A function that makes a number ten larger ends with: return x + 10",
        "Write return, then twice x.",
    ],
    worked="return 2 * x",
)  # fmt: skip

PREDICTION_0_0 = prediction(
    "0.0", [2, 4, 6], points=0,
    title="a tensor times two",
    wrong=[
        Wrong([1, 2, 3, 1, 2, 3], "", "That is what a Python list does. A tensor is made for arithmetic: what would "
              "you like it to do?"),
        Wrong(12, "", "12 is the sum. Does multiplying add anything up?"),
        Wrong([3, 4, 5], "", "That is plus two."),
    ],
)  # fmt: skip

PREDICTION_0_1A = prediction(
    "0.1a", 5, points=0,
    title="the order of running",
    wrong=[
        Wrong(3, "", "3 was what the name meant at first. Which cell ran last?"),
        Wrong(8, "", "Nothing was added: the second line gives the name a new number."),
    ],
)  # fmt: skip

PREDICTION_0_4A = prediction(
    "0.4a", "b", points=0,
    title="your files tomorrow",
    options={"a": "gone", "b": "still there", "c": "still there unless the course was updated"},
    wrong=[
        Wrong("a", "", "Notebooks are files in your folder. What would delete them? (Save before you close.)"),
        Wrong("c", "", "An update brings new files and leaves those alone that are there. Whose are they then?"),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_0_0,
    PREDICTION_0_1A,
    PREDICTION_0_4A,
    EXERCISE_0_1,
    EXERCISE_0_2,
    EXERCISE_0_3,
)

LESSON = Lesson(
    number=0,
    slug="00_start_here",
    title="Start here",
    after=(),
    idea="Cells, predictions, the stepper, and a check that says what went wrong.",
    introduces=(
        "minigrad", "minigrad.course", "hint", "predict", "minigrad.viz", "step", "tensor", "requires_grad",
        "backward", "grad", "check", "progress", "double",
    ),
    with_engine=False,
    exercises=EXERCISES,
)  # fmt: skip
