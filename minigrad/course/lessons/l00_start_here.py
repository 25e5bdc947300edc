"""Lesson 00: how a check, a hint and a prediction work. Three exercises about the course, not yet about derivatives."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..exercise import Exercise, Lesson, Probe, Wrong, call, choice, function, prediction, value

EXERCISE_0_1 = value(
    "0.1", "answer", 42,
    why="The name answer now holds the number 42, and the check found it there.",
    asks=(
        "Compare your number with the one in the task, digit by digit. If they are the same, run the cell again.",
    ),
    title="a first answer",
    minutes=1, rtol=0.0,
    wrong=[
        Wrong("42", "", "Because of the quotation marks this is a string (type str). The exercise asks for a number. "
              "What is the difference between 42 and '42' when you add 1?"),
        Wrong([42], "", "This is a list that holds 42. The exercise asks for the number alone. Which characters are too "
              "many?", when=lambda v: isinstance(v, list) and v == [42], name="in a list"),
        Wrong((42,), "", "The comma after 42 makes it a tuple. The exercise asks for the number alone.",
              when=lambda v: isinstance(v, tuple) and v == (42,), name="a comma too many"),
        Wrong("42.", "", "Because of the quotation marks this is a string. The exercise asks for a number.",
              name="some other string", when=lambda v: isinstance(v, str)),
        Wrong(24, "", "You wrote 24. Are the two digits in the order of the question?"),
        Wrong(None, "", "The value of answer is None, so it holds no number. Which number belongs after the equals sign?"),
    ],
    hints=[
        "Write a number after the equals sign.",
        "A variable that should hold 7 is written like this: seven = 7",
        "Look at the line with the dots. Your number replaces the dots.",
    ],
    worked="answer = 42",
)  # fmt: skip

EXERCISE_0_2 = choice(
    "0.2", "reason",
    {
        "a": "the check is wrong, because the function is right for some numbers",
        "b": "the function squares its input instead of doubling it",
        "c": "the function was called with the wrong number: the input should have been 3",
        "d": "the result was rounded",
    },
    right="b",
    title="reading a card",
    minutes=3,
    wrong=[
        Wrong("a", "", "The function happens to be right at 2, because 2 * 2 is 2 + 2. A check tries more than one "
              "number. What does the function return for -1.5?"),
        Wrong("c", "", "The check chooses the inputs, and a function has to be right for all of them. What does this "
              "one do with -1.5?"),
        Wrong("d", "", "Rounding cannot turn -3 into 2.25, because even the sign is different. Which operation makes a "
              "positive number from -1.5?"),
    ],
    hints=[
        "A card has three lines: what was called, what came back, and what was expected.",
        "If a function triple returns 125 for 5.0, it uses ** where it should use *.",
        "Find the operation that makes 2.25 from -1.5. Is it doubling?",
    ],
    worked="-1.5 * -1.5 is 2.25, so the function squares its input (b).",
    why="2.25 is the square of -1.5, and -3 would be twice -1.5, so the card shows a function that squares.",
)  # fmt: skip


def probes_0_3(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(-1.5).show()
    yield call(2.0).show()
    yield call(0.0)
    yield call(0.35)
    yield call(3.0)
    yield call(-0.123456789)
    yield call(round(float(rng.uniform(-40, 40)), 4))
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
    title="repair it",
    minutes=3,
    oracle=twice_by_sum,
    probes=probes_0_3,
    wrong=[
        Wrong(squares, "", "This is the function of 0.2, which squares. It is right at 0 and at 2 and nowhere else. "
              "What is twice -1.5?"),
        Wrong(adds_two, "", "You added 2, which is right only at 2. What is twice -1.5?"),
        Wrong(unchanged, "", "The function returns its input unchanged. What should happen to the input?"),
        Wrong(prints_only, "", "The function printed the number but returned nothing. Which keyword returns a result?"),
        Wrong(halves, "", "The function returns half of its input. Which operation makes a number twice as large?"),
        Wrong(always_four, "", "The function returns 4 for every input. Where do you use x?"),
        Wrong(rounds, "", "The decimals are missing: 2 * 0.35 is 0.7. What does int() do to a number?"),
        Wrong(few_decimals, "", "Almost: the result was rounded. Twice 0.123456789 has just as many decimals. Which part "
              "of your code removes them?"),
        Wrong(never_negative, "", "The function is right for positive numbers. A negative number lost its sign: what is "
              "twice -1.5?"),
        Wrong(in_a_list, "", "The number is right, but it is inside a list. Which characters are too many?"),
        Wrong(twice_in_a_list, "", "The function returned a list of two numbers. The exercise asks for one number. Which "
              "operation makes one number from the two?"),
        Wrong(as_text, "", "The function returned a string. It looks like the number, but Python cannot compute with "
              "it. What made it a string?"),
    ],
    alternatives=[lambda x: x + x, lambda x: x * 2, lambda x: x - -x, lambda x: np.float64(x) / 0.5,
                  functools.partial(operator.mul, 2)],
    hints=[
        "double(5) is 10, and double(-1.5) is -3.",
        "A function that adds ten to a number ends with: return x + 10",
        "Write return, and after it twice x.",
    ],
    worked="return 2 * x",
)  # fmt: skip

PREDICTION_0_0 = prediction(
    "0.0", [2, 4, 6], points=0,
    title="a tensor times two",
    wrong=[
        Wrong([1, 2, 3, 1, 2, 3], "", "A Python list does that. A tensor is made for arithmetic."),
        Wrong(12, "", "12 is the sum of the doubled numbers. Does a multiplication add anything up?"),
        Wrong([3, 4, 5], "", "Those are the numbers plus two."),
        Wrong([1, 4, 9], "", "Those are the squares. What is 3 times 2?"),
        Wrong([1, 2, 3], "", "Those are the numbers as they were. What does * 2 do to each of them?"),
    ],
)  # fmt: skip

PREDICTION_0_1A = prediction(
    "0.1a", 5, points=0,
    title="which cell decides",
    wrong=[
        Wrong(3, "", "The first cell gave price the value 3. Which cell ran last?"),
        Wrong(8, "", "Nothing is added. The second cell gives price a new value."),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_0_0,
    PREDICTION_0_1A,
    EXERCISE_0_1,
    EXERCISE_0_2,
    EXERCISE_0_3,
)

LESSON = Lesson(
    number=0,
    slug="00_start_here",
    title="Start here",
    after=(),
    idea="A network learns in a second; then cells, predictions, the stepper, and checks that say what went wrong.",
    introduces=(
        "minigrad", "minigrad.course", "hint", "predict", "minigrad.viz", "step", "tensor", "requires_grad",
        "backward", "grad", "check", "progress", "double",
    ),
    with_engine=False,
    exercises=EXERCISES,
)  # fmt: skip
