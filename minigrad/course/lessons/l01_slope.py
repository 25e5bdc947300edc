"""Lesson 01: a derivative is a slope that can be measured.

The central difference of sin is cos(x) * sin(h) / h, and that of a cube 3x**2 + h**2: closed forms, so the right
answers below are computed without a difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from ..exercise import Exercise, Lesson, Probe, Wrong, numbers, prediction, program, run, value

Function = Callable[[float], float]

# --- 1.1 the central difference -------------------------------------------------------------------------------

CUBE = "central(lambda x: x**3, x, h)"
SINE = "central(math.sin, x, h)"
CALLS = "seen = []\ncentral(lambda x: seen.append(x) or 0.0, x, h)\n[min(seen), max(seen)]"


def probes_1_1(rng: np.random.Generator) -> Iterator[Probe]:
    x = float(numbers(rng, 1)[0])
    h = float(rng.choice([0.25, 0.5, 0.125]))
    yield run(CUBE, x=2.0, h=0.5).expect(12.25).show()
    yield run(SINE, x=1.2, h=0.001).expect(math.cos(1.2) * math.sin(0.001) / 0.001)
    yield run(SINE, x=2.5, h=0.125).expect(math.cos(2.5) * math.sin(0.125) / 0.125)
    yield run(CUBE, x=-1.5, h=0.25).expect(6.8125)
    yield run(CUBE, x=x, h=h).expect(3 * x * x + h * h)
    yield run(SINE, x=x, h=h).expect(math.cos(x) * math.sin(h) / h)
    yield run(CALLS, x=4.0, h=0.25).expect([3.75, 4.25])


def forward(f: Function, x: float, h: float) -> float:
    return (f(x + h) - f(x)) / h


def behind(f: Function, x: float, h: float) -> float:
    return (f(x) - f(x - h)) / h


def half_the_run(f: Function, x: float, h: float) -> float:
    return (f(x + h) - f(x - h)) / h


def no_brackets(f: Function, x: float, h: float) -> float:
    return f(x + h) - f(x - h) / 2 * h


def brackets_above_only(f: Function, x: float, h: float) -> float:
    return (f(x + h) - f(x - h)) / 2 * h


def rise_only(f: Function, x: float, h: float) -> float:
    return f(x + h) - f(x - h)


def turned_round(f: Function, x: float, h: float) -> float:
    return (f(x - h) - f(x + h)) / (2 * h)


def own_h(f: Function, x: float, h: float) -> float:
    return (f(x + 1e-5) - f(x - 1e-5)) / 2e-5


def half_as_far(f: Function, x: float, h: float) -> float:
    return (f(x + h / 2) - f(x - h / 2)) / h


def twice_as_far(f: Function, x: float, h: float) -> float:
    return (f(x + 2 * h) - f(x - 2 * h)) / (4 * h)


def average_height(f: Function, x: float, h: float) -> float:
    return (f(x + h) + f(x - h)) / (2 * h)


def without_the_run(f: Function, x: float, h: float) -> float:
    return (f(x + h) - f(x - h)) / 2


def only_upwards(f: Function, x: float, h: float) -> float:
    return abs(f(x + h) - f(x - h)) / (2 * h)


def brackets_below_only(f: Function, x: float, h: float) -> float:
    return f(x + h) - f(x - h) / (2 * h)


def rounded(f: Function, x: float, h: float) -> float:
    return round((f(x + h) - f(x - h)) / (2 * h), 4)


def mean_of_both_sides(f: Function, x: float, h: float) -> float:
    ahead, behind = (f(x + h) - f(x)) / h, (f(x) - f(x - h)) / h
    return (ahead + behind) / 2


def by_gradient(f: Function, x: float, h: float) -> float:
    slopes = np.gradient([f(x - h), f(x), f(x + h)], h)
    return float(slopes[1])


def by_rise_and_run(f: Function, x: float, h: float) -> float:
    left, right = x - h, x + h
    return (f(right) - f(left)) / (right - left)


def by_two_halves(f: Function, x: float, h: float) -> float:
    return 0.5 * f(x + h) / h - 0.5 * f(x - h) / h


EXERCISE_1_1 = program(
    "1.1", "central",
    why="The points h to the left and h to the right are 2h apart, so the rise is divided by 2h.",
    title="a central difference",
    minutes=7,
    prelude="import math",
    probes=probes_1_1,
    wrong=[
        Wrong(forward, "M45", "You compared x with a point ahead of it. A curve that bends is steeper on one side than "
              "on the other. Which second point makes up for that?"),
        Wrong(behind, "M45", "You compared x with a point behind it. A curve that bends is steeper on one side than on "
              "the other. Which second point makes up for that?"),
        Wrong(half_the_run, "M45", "Twice too much. From x - h to x + h: how long is the way that you divided by?"),
        Wrong(no_brackets, "M45", "Division comes before subtraction: only f(x - h) was divided here, and then "
              "multiplied with h. What should be divided by what?"),
        Wrong(brackets_above_only, "M45", "... / 2 * h divides by 2 and then *multiplies* with h. What should stand "
              "below the line as a whole?"),
        Wrong(rise_only, "M45", "That is how far f rises. How far does it rise for each step to the right?"),
        Wrong(turned_round, "", "The right size with the wrong sign: you went from right to left in the rise and from "
              "left to right in the run. Which value comes first?"),
        Wrong(brackets_below_only, "M45", "Division comes before subtraction: only f(x - h) was divided. What should be "
              "divided as a whole?"),
        Wrong(half_as_far, "M45", "The slope between x - h/2 and x + h/2: a fair one, but not the one asked for. How far "
              "to each side does h say?"),
        Wrong(twice_as_far, "M45", "Your points are 2h to each side. How far to each side does h say?"),
        Wrong(average_height, "M45", "You added the two values. A rise says how much higher one is than the other: "
              "which sign?"),
        Wrong(without_the_run, "M45", "The rise was halved and not divided by a length. From x - h to x + h: how long is "
              "the way?"),
        Wrong(only_upwards, "", "Right where the function rises. Where it falls, your slope still points up: which of "
              "your operations loses a sign?"),
        Wrong(rounded, "", "Rounded to four decimals. How small must an error be to show what h does to it?"),
        Wrong(own_h, "", "Your answer does not depend on h. Who chooses how far the points are apart?"),
    ],
    alternatives=[by_rise_and_run, by_two_halves, mean_of_both_sides, by_gradient],
    hints=[
        "Rise divided by run, between one point to the left of x and one to the right.",
        "For the square at 3 with h = 1: from 4 to 16 the rise is 12, the run is 2, the slope 6.",
        "Write the run first, in brackets: how far is it from x - h to x + h?",
    ],
    worked="The rise is f(x + h) - f(x - h), the run is (2 * h); divide the one by the other, brackets round both.",
)  # fmt: skip

# --- 1.2 how small? -------------------------------------------------------------------------------------------

EXERCISE_1_2 = value(
    "1.2", "good_h", 1e-5,
    why="Near 1e-5 the error of the formula and the error of rounding are both tiny; a smaller h only adds rounding.",
    title="a good h",
    minutes=5,
    accept=lambda v: 2e-7 <= float(v) <= 4e-5,
    wrong=[
        Wrong(1e-12, "M44", "Smaller is not better here: two nearly equal values are subtracted, and their digits "
              "cancel. Where in the picture does the line turn up again?", when=lambda v: 0 < float(v) < 2e-7),
        Wrong(0.1, "M45", "At this distance the curve has bent away from its slope. How does the error change when h "
              "becomes ten times smaller?", when=lambda v: float(v) > 4e-5),
        Wrong(-1e-5, "", "h is a distance, and has to be larger than 0. How far to each side?",
              when=lambda v: float(v) <= 0),
    ],
    hints=[
        "There are two errors. One shrinks with h, the other grows when h shrinks.",
        "For a forward difference the best h is near 1e-8; a central one has its best place elsewhere.",
        "Read the lowest point of the line for the central difference.",
    ],
    worked="The line of the central difference is lowest near h = 1e-5: error about 2e-12.",
)  # fmt: skip

# --- 1.3 and 1.4 ----------------------------------------------------------------------------------------------

EXERCISE_1_3 = value(
    "1.3", "slope_of_cube", 12,
    why="The derivative of x³ is 3x², which is 12 at x = 2.",
    title="the slope of a cube",
    minutes=4,
    wrong=[
        Wrong(8, "M43", "8 is the value of x**3 at 2. How fast does it grow there?"),
        Wrong(6, "M43", "6 is 3x. Measure it: from 1.9 to 2.1 the cube grows by 2.402, in a run of 0.2. Does 6 fit?"),
        Wrong(4, "M43", "4 is the square of 2. Measure it: from 1.9 to 2.1 the cube grows by 2.402, in a run of 0.2."),
        Wrong(24, "M45", "Twice too much. From 2 - h to 2 + h: how long is the run?"),
        Wrong(0, "M43", "0 would be a flat line. From 1.9 to 2.1 the cube grows by 2.402."),
        Wrong(-12, "", "The right size with the wrong sign: does the cube rise or fall when x grows?"),
        Wrong(12.25, "M44", "12.25 is what a central difference with h = 0.5 gives. What do smaller ones come closer to?"),
        Wrong(3, "M43", "3 is the exponent. What else does the slope of x**3 depend on?"),
    ],
    hints=[
        "Slope: how many hairs does x**3 move, when x moves by one?",
        "For x**3 at 1 the measured slope is 3.00, at 3 it is 27.00.",
        "Use your central with a small h, then look for the formula that gives the same number.",
    ],
    worked="Measured: (2.001**3 - 1.999**3) / 0.002 = 12.000001. By the rule: 3 * 2**2 = 12.",
)  # fmt: skip

EXERCISE_1_4 = value(
    "1.4", "partials", [66, 44],
    why="Each partial derivative moves one input and holds the other one still.",
    title="one slope for each input",
    minutes=6,
    wrong=[
        Wrong([44, 66], "M46", "Both numbers are on the list, at the wrong places. When only x moves, x*y grows by "
              "three hairs: does that give the larger slope or the smaller one?"),
        Wrong([110, 110], "M46", "110 is what comes out when x and y move together. How many of the two may move at a "
              "time?"),
        Wrong(110, "M46", "110 is what comes out when x and y move together, in one number. Two inputs have two slopes: "
              "what stays still while x moves?"),
        Wrong([110], "M46", "110 is what comes out when x and y move together. Two inputs have two slopes: what stays "
              "still while x moves?"),
        Wrong([33, 22], "M30", "Exactly half. The square makes a nudge larger by two times what goes into it: is the two "
              "there?"),
        Wrong([22, 22], "M23", "22 is the slope of the square alone. How far does x*y + 5 move when x moves?"),
        Wrong([121, 121], "M43", "121 is the value at (2, 3). How fast does it grow?"),
        Wrong([132, 88], "M45", "Twice too much, both. From x - h to x + h: how long is the run?"),
        Wrong([3, 2], "M23", "3 and 2 are the slopes of x*y alone. The 5 and the square come after it."),
    ],
    hints=[
        "A partial slope moves one input and holds the other still.",
        "For x*y at (2, 3): moving x alone gives 3, moving y alone gives 2.",
        "Use central with a function of one letter, in which the other one is a fixed number.",
    ],
    worked="central(lambda x: (x * 3 + 5) ** 2, 2, 1e-5) is 66; central(lambda y: (2 * y + 5) ** 2, 3, 1e-5) is 44.",
)  # fmt: skip

# --- predictions of the reading notebook ----------------------------------------------------------------------

PREDICTION_1_0 = prediction(
    "1.0", 7, points=0,
    title="the square, from 3 to 4",
    wrong=[
        Wrong(6, "M45", "6 is the slope at 3 itself. Here two points are compared: 3 and 4."),
        Wrong(16, "M43", "16 is the value at 4. How far is it from the value at 3?"),
        Wrong(9, "M43", "9 is the value at 3. How far does it rise?"),
        Wrong(8, "M45", "8 is the slope at 4. Here two points are compared: 3 and 4."),
    ],
)  # fmt: skip

PREDICTION_1_1A = prediction(
    "1.1a", 6, points=0,
    title="the square, from 2 to 4",
    wrong=[
        Wrong(12, "M45", "12 is the rise. How long is the run from 2 to 4?"),
        Wrong(7, "M45", "7 was the slope from 3 to 4. The new line starts at 2."),
        Wrong(5, "M45", "5 is the slope from 2 to 3. The new line ends at 4."),
    ],
)  # fmt: skip

PREDICTION_1_2A = prediction(
    "1.2a", 0, points=0,
    title="h = 1e-17",
    wrong=[
        Wrong(0.3624, "M44", "That is the true slope. Can Python tell 1.2 from 1.2 + 1e-17?"),
        Wrong(1, "M44", "What is 1.2 + 1e-17, in a computer that keeps about 16 digits?"),
    ],
)  # fmt: skip

PREDICTION_1_4A = prediction(
    "1.4a", [4, 6], points=0,
    title="the sides of a field",
    wrong=[
        Wrong([6, 4], "M46", "Lengthen the 6: the new strip is as long as the other side. How long is that?"),
        Wrong([10, 10], "M46", "10 is what comes out when both sides grow at once."),
        Wrong([24, 24], "M43", "24 is the area. How fast does it grow?"),
    ],
)  # fmt: skip

PREDICTION_1_2B = prediction(
    "1.2b", "b", points=0,
    title="the error for ever smaller steps",
    options={"a": "it falls until the very end", "b": "it falls, then rises again", "c": "it rises from the start",
             "d": "it stays as it is"},
    wrong=[
        Wrong("a", "M44", "At 1e-17 the answer was 0, and the error all of 0.3624. Somewhere on the way there it has to "
              "rise. What is lost when two nearly equal numbers are subtracted?"),
        Wrong("c", "", "From h = 1 to h = 0.001 the measured slope came nearer to the truth. What did the error do there?"),
        Wrong("d", "", "The slope does not depend on h, but what you measure with h does: 7, 6.1, 6.01. What does "
              "the error of that do?"),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_1_0, PREDICTION_1_1A, PREDICTION_1_2A, PREDICTION_1_2B, PREDICTION_1_4A,
    EXERCISE_1_1, EXERCISE_1_2, EXERCISE_1_3, EXERCISE_1_4,
)  # fmt: skip


LESSON = Lesson(
    number=1,
    slug="01_slope",
    title="A derivative is a slope you can measure",
    after=(0,),
    idea="Nudge the input a little, see how far the output moves: that ratio is the whole of calculus needed here.",
    introduces=(
        "math", "central", "sin", "cos", "exp",
    ),
    misconceptions=("M44", "M45", "M46"),
    with_engine=False,
    exercises=EXERCISES,
)  # fmt: skip
