"""Lesson 01: a derivative is a slope that you can measure.

The central difference of sin is cos(x) * sin(h) / h, and that of a cube 3x**2 + h**2: closed forms, so the right
answers below are computed without a difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..exercise import Exercise, Lesson, Probe, Wrong, numbers, prediction, program, run, value

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


def values_1_1(probe: Probe) -> dict[str, float]:
    """The values of f that a difference may be made of."""
    f, x, h = math.sin if probe.code == SINE else lambda x: x**3, probe.data["x"], probe.data["h"]
    return {"f(x + h)": f(x + h), "f(x - h)": f(x - h), "f(x)": f(x)}


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


def cosine(f: Function, x: float, h: float) -> float:
    return math.cos(x)


def fixed_run(f: Function, x: float, h: float) -> float:
    return (f(x + h) - f(x - h)) / 0.002


def bend(f: Function, x: float, h: float) -> float:
    return (f(x + h) - 2 * f(x) + f(x - h)) / h**2


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
    steps=values_1_1,
    wrong=[
        Wrong(forward, "M45", "You compared x with a point to its right. Where a curve bends, its slope is larger on one "
              "side than on the other. Which second point makes up for that?"),
        Wrong(behind, "M45", "You compared x with a point to its left. Where a curve bends, its slope is larger on one "
              "side than on the other. Which second point makes up for that?"),
        Wrong(half_the_run, "M45", "Your result is twice as large as it should be. How long is the run from x - h to "
              "x + h?"),
        Wrong(no_brackets, "M45", "Division comes before subtraction, so only f(x - h) was divided, and then multiplied "
              "by h. What should be divided by what?"),
        Wrong(brackets_above_only, "M45", "Your code divides by 2 and then *multiplies* by h. By which number should the "
              "whole rise be divided?"),
        Wrong(rise_only, "M45", "That is the rise of f. The slope is the rise divided by the run. How long is the run?"),
        Wrong(turned_round, "", "The size is right and the sign is wrong. You took the rise from right to left and the "
              "run from left to right. Which value comes first?"),
        Wrong(brackets_below_only, "M45", "Division comes before subtraction, so only f(x - h) was divided. What should "
              "be divided as a whole?"),
        Wrong(half_as_far, "M45", "You took the slope between x - h/2 and x + h/2. The exercise asks for points at the "
              "distance h. Which distance do your points have?"),
        Wrong(twice_as_far, "M45", "Your points are at the distance 2h from x. Which distance does the exercise ask for?"),
        Wrong(average_height, "M45", "You added the two values. The rise is how much higher one value is than the other. "
              "Which operation gives that?"),
        Wrong(without_the_run, "M45", "You halved the rise, but you did not divide it by a length. How long is the run "
              "from x - h to x + h?"),
        Wrong(only_upwards, "", "Your slope is right where the function rises. Where the function falls, the slope should "
              "be negative. Which of your operations loses the sign?"),
        Wrong(rounded, "", "Your result is rounded to four decimals. Can it then show an error of 1e-8?"),
        Wrong(cosine, "M43", "The cosine is the derivative of the sine alone. central gets any function f, and needs its "
              "values at two points. Where does f enter?"),
        Wrong(own_h, "", "Your result does not depend on h. Which argument says how far the points are apart?"),
        Wrong(fixed_run, "M45", "You divide by 0.002, the run for one h. How long is the run from x - h to x + h for any h?"),
        Wrong(bend, "M43", "That is the difference for the *second* derivative: it says how the slope changes. Which two "
              "points give the slope itself?"),
    ],
    alternatives=[by_rise_and_run, by_two_halves, mean_of_both_sides, by_gradient],
    hints=[
        "The slope is the rise divided by the run, between one point to the left of x and one to the right.",
        "For the square at 3 with h = 1: the function rises from 4 to 16, which is 12; the run is 2; the slope is 6.",
        "Write the run first, in brackets. How far is it from x - h to x + h?",
    ],
    worked="The rise is f(x + h) - f(x - h), and the run is 2 * h. Divide the rise by the run, with brackets round both.",
)  # fmt: skip

# --- 1.2 how small? -------------------------------------------------------------------------------------------

EXERCISE_1_2 = value(
    "1.2", "good_h", 1e-5,
    why="Near 1e-5 the error of the formula and the error of rounding are both tiny; a smaller h only adds rounding.",
    title="a good h",
    minutes=5,
    accept=lambda v: 2e-7 <= float(v) <= 4e-5,
    wrong=[
        Wrong(1e-8, "M44", "Near 1e-8 the line of the *forward* difference is lowest. This exercise is about the central one. "
              "Where is its line lowest?", when=lambda v: 3e-9 <= float(v) <= 3e-8),
        Wrong(1e-12, "M44", "This h is too small. Two nearly equal values are subtracted, and most of their digits are "
              "lost. Where in the picture does the line rise again?", when=lambda v: 0 < float(v) < 2e-7),
        Wrong(0.1, "M45", "At this distance the curve has bent away from its tangent. How does the error change when h "
              "becomes ten times smaller?", when=lambda v: float(v) > 4e-5),
        Wrong(-1e-5, "", "h is a distance, so it has to be larger than 0. (A power of ten is written 1e-3 or 10**-3; the "
              "sign ^ is no power in Python.)", when=lambda v: float(v) <= 0),
    ],
    hints=[
        "There are two errors. One of them shrinks when h shrinks, and the other grows.",
        "For a forward difference the best h is near 1e-8. A central difference has a different best h.",
        "Find the line of the central difference, and read off where it is lowest.",
    ],
    worked="The line of the central difference is lowest near h = 1e-5, where the error is about 2e-12.",
)  # fmt: skip

# --- 1.3 and 1.4 ----------------------------------------------------------------------------------------------

STEPS = tuple(n * 10.0**-k for k in range(7) for n in (1, 2, 2.5, 5) if n == 1 or k)  # what h is usually taken to be
ONE_SIDED = (*STEPS, *(-h for h in STEPS))

EXERCISE_1_3 = value(
    "1.3", "slope_of_cube", 12, rtol=1e-4,
    knows={"x": 2},
    working="x = 2\nslope = 3 * x ** 2  # the derivative\nslope",
    why="The derivative of x³ is 3x², which is 12 at x = 2.",
    asks=(
        "Measure: what does central(lambda x: x**3, 2, 0.001) give? Then compare your rule with that number.",
    ),
    title="the derivative of a cube",
    minutes=4,
    wrong=[
        Wrong(8, "M43", "8 is the value of x**3 at 2. How fast does it grow there?"),
        Wrong(6, "M43", "6 is 3x. Measure it: from 1.9 to 2.1 the cube grows by 2.402, over a run of 0.2. Does 6 fit?"),
        Wrong(4, "M43", "4 is the square of 2. Measure it: from 1.9 to 2.1 the cube grows by 2.402, over a run of 0.2. "
              "Does 4 fit?"),
        Wrong(24, "M45", "Your result is twice as large as it should be. Measured: how long is the run from 2 - h to 2 + h? "
              "By the rule: which power of x is left in the derivative of x**3?"),
        Wrong(0, "M43", "A derivative of 0 means a flat curve. From 1.9 to 2.1 the cube grows by 2.402. Is that flat?"),
        Wrong(-12, "", "The size is right and the sign is wrong. Does the cube rise or fall when x grows?"),
        Wrong(12.61, "M45", "Your number is the slope between 2 and a point on one side of it, so it is wrong by the bend of "
              "the curve. A central difference takes one point on each side. Which number do you approach with a small h?",
              when=lambda v: any(abs(12 + 6 * h + h * h - float(v)) < 1e-4 * abs(h) for h in ONE_SIDED), name="one side"),
        Wrong(12.25, "M45", "Your result is too large by the square of h, because the curve bends between 2 - h and 2 + h. "
              "Which number do you approach with a smaller h?",
              when=lambda v: any(abs(12 + h * h - float(v)) < 1e-4 * h * h for h in STEPS if h * h > 0.001)),
        Wrong(11.94, "M45", "Your number is near, but not exact. Is h small enough, and did you round nothing on the way? "
              "Which number do you approach with a central difference and a smaller h?",
              when=lambda v: abs(float(v) - 12) < 1.1),
        Wrong(0.024, "M45", "The cube is steeper than that at 2. Did you divide the rise by the whole run, with brackets round "
              "both?", when=lambda v: 0 < float(v) < 2.6),
        Wrong(18, "M43", "18 is 2 * 3**2. Base and exponent have changed places: x is 2, and the exponent of the cube is 3."),
        Wrong(9, "M43", "9 is 3**2. The exponent comes down as a factor, and the base stays: which number is x here?"),
        Wrong(32, "M43", "32 is 4 * 2**3, the derivative of x**4. Which exponent does the cube have?"),
        Wrong(48, "M43", "48 is 3 * 2**4. Does the exponent grow by one in a derivative, or fall?"),
        Wrong(3, "M43", "3 is the exponent. What else does the derivative of x**3 depend on?"),
    ],
    hints=[
        "The derivative answers: when x grows by a little, how many times as much does x**3 grow?",
        "For x**3, measuring gives 3.00 at 1 and 27.00 at 3.",
        "Use your central with a small h. Then look for the rule that gives the same number.",
    ],
    worked="Measured: (2.001**3 - 1.999**3) / 0.002 = 12.000001. By the rule: 3 * 2**2 = 12.",
)  # fmt: skip


def one_sided(for_x: Any, for_y: Any) -> bool:
    """Whether these are the differences to one side, with the same h: (x * 3 + 5)**2 and (2 * y + 5)**2 bend by 9 and 4."""
    h = (float(for_x) - 66) / 9
    return not isinstance(for_x, str) and abs(h) > 1e-6 and abs((float(for_y) - 44) / 4 - h) < 1e-4 * abs(h)


EXERCISE_1_4 = value(
    "1.4", "partials", [66, 44], rtol=1e-4,
    knows={"x": 2, "y": 3, "(x * y + 5)": 11},
    working="""
x = 2
y = 3
u = x * y  # the product
w = u + 5  # the bracket
square = 2 * w  # the derivative of the square
for_x = square * y  # the number for x
for_y = square * x  # the number for y
[for_x, for_y]
""",
    why="Each partial derivative moves one input and holds the other one still.",
    asks=(
        "only x moves, and y stays 3. What does central(lambda x: (x * 3 + 5)**2, 2, 0.001) give?",
        "only y moves, and x stays 2. Which function of y alone do you give to central?",
    ),
    title="one derivative for each input",
    minutes=6,
    wrong=[
        Wrong([44, 66], "M46", "You found both numbers, but you swapped them. When only x grows, x*y grows three times as "
              "fast. Does that give the larger derivative or the smaller one?"),
        Wrong([110, 110], "M46", "110 is the result when x and y change together. How many inputs may change at a time?"),
        Wrong(110, "M46", "110 is the result when x and y change together. Two inputs have two partial derivatives. "
              "What is held fixed while x changes?"),
        Wrong([110], "M46", "A list of one number is too short. 110 is the result when both inputs change. Two inputs "
              "have two partial derivatives. What is held fixed while x changes?"),
        Wrong([33, 22], "M30", "Both numbers are exactly half of what they should be. The derivative of u**2 is 2u. Did "
              "you use the 2?"),
        Wrong([22, 22], "M23", "22 is the derivative of the square alone. How fast does x*y + 5 grow when x grows?"),
        Wrong([121, 121], "M43", "121 is the value of the function at (2, 3). How fast does it grow?"),
        Wrong([132, 88], "M45", "Both numbers are twice as large as they should be. How long is the run from x - h to "
              "x + h?"),
        Wrong([3, 2], "M23", "3 and 2 are the derivatives of x*y alone. The 5 and the square come after it."),
        Wrong([66.09, 44.04], "M45", "Both numbers are slopes between the point and another one on one side of it. Does your "
              "central look at one point on each side?", name="one side", when=lambda v: one_sided(*v)),
        Wrong([66.08, 43.9], "M44", "Both numbers are near, but not exact. Which h did you take, and did you round on the way?",
              name="not exact", when=lambda v: not isinstance(v[0], str) and all(
                  abs(a / b - 1) < 0.03 and a != int(a) for a, b in zip(v, (66, 44), strict=True))),
        Wrong([0.132, 0.088], "M45", "These are the rises, or the rises multiplied by h. The slope is the rise divided by "
              "the whole run, with brackets round both.", name="no run",
              when=lambda v: 0 < v[0] < 1 and abs(v[0] / v[1] - 1.5) < 1e-3),
        Wrong([20, 20], "M22", "20 is the derivative of (x + y + 5)**2. The bracket holds a product: when only x grows, how "
              "fast does x * y grow?"),
        Wrong([72, 168], "M46", "In your functions both factors move: x * x in the place of x * 3, y * y in the place of "
              "2 * y. What is held fixed while x changes?"),
        Wrong([84, 36], "M46", "You measured at the wrong points: x is 2 and y is 3. At which point is each of your functions "
              "measured?"),
    ],
    hints=[
        "A partial derivative changes one input and holds the others fixed.",
        "For x*y at (2, 3): changing x alone gives 3, and changing y alone gives 2.",
        "Call central with a function of one argument, in which the other input is a fixed number.",
    ],
    worked="central(lambda x: (x * 3 + 5) ** 2, 2, 1e-5) is 66, and central(lambda y: (2 * y + 5) ** 2, 3, 1e-5) is 44.",
)  # fmt: skip

# --- predictions of the reading notebook ----------------------------------------------------------------------

PREDICTION_1_0 = prediction(
    "1.0", 7, points=0,
    title="the square, from 3 to 4",
    wrong=[
        Wrong(6, "M45", "6 is the slope at 3 itself. The question is about the line from 3 to 4."),
        Wrong(16, "M43", "16 is the value at 4. How much higher is it than the value at 3?"),
        Wrong(9, "M43", "9 is the value at 3. How much does the curve rise from there?"),
        Wrong(8, "M45", "8 is the slope at 4 itself. The question is about the line from 3 to 4."),
        Wrong(5, "M45", "5 is the slope from 2 to 3. The question is about the line from 3 to 4."),
        Wrong(1, "M45", "1 is the run. How much does the curve rise between 3 and 4?"),
    ],
)  # fmt: skip

PREDICTION_1_1A = prediction(
    "1.1a", 6, points=0,
    title="the square, from 2 to 4",
    wrong=[
        Wrong(12, "M45", "12 is the rise. How long is the run from 2 to 4?"),
        Wrong(7, "M45", "7 is the slope from 3 to 4. The new line starts at 2."),
        Wrong(5, "M45", "5 is the slope from 2 to 3. The new line ends at 4."),
        Wrong(3, "M45", "3 is 12 / 4. How long is the run from 2 to 4?"),
        Wrong(4, "M43", "4 is the value at 2. How much higher is the value at 4?"),
    ],
)  # fmt: skip

PREDICTION_1_2A = prediction(
    "1.2a", 0, points=0,
    title="h = 1e-17",
    wrong=[
        Wrong(0.3624, "M44", "That is the true derivative. Python stores about 16 digits. Is 1.2 + 1e-17 different from "
              "1.2?"),
        Wrong(1, "M44", "Python stores about 16 digits of a number. What is 1.2 + 1e-17 then?"),
    ],
)  # fmt: skip

PREDICTION_1_4A = prediction(
    "1.4a", [4, 6], points=0,
    title="the sides of a field",
    wrong=[
        Wrong([6, 4], "M46", "When only the length grows by 1 metre, by how many square metres does the area grow?"),
        Wrong([10, 10], "M46", "10 is the result when both sides grow at once."),
        Wrong([24, 24], "M43", "24 is the area. How fast does it grow?"),
    ],
)  # fmt: skip

PREDICTION_1_2B = prediction(
    "1.2b", "b", points=0,
    title="the error for ever smaller steps",
    options={"a": "it falls until the very end", "b": "it falls and then rises again",
             "c": "it rises from the start", "d": "it stays the same"},
    wrong=[
        Wrong("a", "M44", "For 1e-17 the slope was 0, so the error was as large as the derivative itself. Somewhere "
              "before that the error must rise. What is lost when two nearly equal numbers are subtracted?"),
        Wrong("c", "", "From h = 1 to h = 0.001 the measured slope came closer to the true one. What did the error do?"),
        Wrong("d", "", "The derivative does not depend on h, but the measured slope does: 7, 6.1, 6.01. What did its error "
              "do?"),
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
    idea="Change an input a little and see how much the output changes: this ratio is all the calculus you need.",
    introduces=(
        "math", "central", "sin", "cos", "exp",
    ),
    misconceptions=("M43", "M44", "M45", "M46"),
    with_engine=False,
    exercises=EXERCISES,
)  # fmt: skip
