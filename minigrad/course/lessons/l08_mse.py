"""Lesson 08: the mean squared error, a line fitted by hand, and what goes wrong around the update.

The oracles measure: they move one number and look at the loss. A mean of squares is a parabola in every number, so
a central difference is exact up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..exercise import ENGINE_OFF, Outside, Probe, call, numbers, run, unaided
from ..lesson_text import lesson

Array = np.ndarray[Any, Any]
Pair = tuple[Any, Any]


def slopes(f: Callable[[Array], Any], at: Array) -> Array:
    """The slope of f in every entry, by a central difference."""
    out = np.zeros(np.shape(at))
    for index in np.ndindex(*np.shape(at)):
        nudge = np.zeros(np.shape(at))
        nudge[index] = 0.5
        out[index] = f(at + nudge) - f(at - nudge)
    return out


# --- 8.1 the loss, forward and backward ----------------------------------------------------------------

P_TEXT = np.array([[2.0, -0.5], [3.0, 4.5], [0.5, -1.0]])
T_TEXT = np.array([[0.7, 1.0], [-0.3, 2.0], [1.6, 1.2]])


def mse_measured(name: str, *args: Any) -> Any:
    """The oracle: squares added one by one; the gradients are measured."""
    if name == "mse":
        p, t = args
        return sum((a - b) ** 2 for a, b in zip(p.flat, t.flat, strict=True)) / len(p.ravel())
    g, p, t = args
    return (slopes(lambda q: g * mse_measured("mse", q, t), p), slopes(lambda q: g * mse_measured("mse", p, q), t))


def probes_8_1(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(P_TEXT, T_TEXT).of("mse")
    yield call(numbers(rng, 5), numbers(rng, 5)).of("mse")
    yield call(-1.7, P_TEXT, T_TEXT).of("mse_backward")
    yield call(2.3, numbers(rng, 4), numbers(rng, 4)).of("mse_backward")
    yield call(0.7, numbers(rng, 2, 5), numbers(rng, 2, 5)).of("mse_backward")
    same = numbers(rng, 3)
    yield call(-1.3, same, same + np.array([0.0, 1.5, 0.0])).of("mse_backward")
    far = 1e5 * numbers(rng, 3)  # a measured derivative has lost its last digits here, also that of the oracle
    yield call(2.0, far, -far).of("mse_backward").expect((8 * far / 3, -8 * far / 3))
    yield call(numbers(rng, 2, 3, 2), numbers(rng, 2, 3, 2)).of("mse")
    yield call(1.9, numbers(rng, 2, 3, 2), numbers(rng, 2, 3, 2)).of("mse_backward")
    yield call(np.array(2.5), np.array(-0.5)).of("mse")
    yield call(-0.3, np.array(2.5), np.array(-0.5)).of("mse_backward")
    p, t = numbers(rng, 3), numbers(rng, 3)
    yield unaided("mse_backward", mse_measured("mse_backward", 2.0, p, t), g=2.0, p=p, t=t)


# --- 8.2 the (N,) and (N, 1) trap ----------------------------------------------------------------------


def one_by_one(pred: Array, target: Array) -> Array:
    """The oracle: a loop over the examples."""
    return np.array([[pred[i, 0] - target[i]] for i in range(len(target))])


def probes_8_2(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(np.array([[1.0], [2.0], [4.0]]), np.array([1.5, 2.5, 2.0]))
    yield call(numbers(rng, 4, 1), numbers(rng, 4))
    yield call(numbers(rng, 1, 1), numbers(rng, 1))
    yield call(numbers(rng, 2, 1), numbers(rng, 2))
    yield call(numbers(rng, 7, 1), numbers(rng, 7))


# --- 8.3 fit a line ------------------------------------------------------------------------------------


def fit_measured(x: Array, y: Array, lr: float, steps: int) -> Pair:
    """The oracle: descent along measured slopes."""
    both_numbers = np.zeros(2)
    for _ in range(steps):
        both_numbers = both_numbers - lr * slopes(lambda c: np.mean((c[0] * x + c[1] - y) ** 2), both_numbers)
    return float(both_numbers[0]), float(both_numbers[1])


def probes_8_3(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 5.0]), 0.1, 1)
    yield call(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 5.0]), 0.1, 2)
    yield call(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 5.0]), 0.1, 300)
    yield call(numbers(rng, 4), numbers(rng, 4), 0.02, 3)
    yield call(numbers(rng, 5), numbers(rng, 5), 0.03, 40)
    yield call(numbers(rng, 4), 1e-3 * numbers(rng, 4), 0.02, 20)
    yield call(numbers(rng, 3), numbers(rng, 3), 0.1, 0)


# --- 8.4 an average that keeps no graphs --------------------------------------------------------------------------

# Given in the exercise notebook as well: a loss that remembers what it was made from, as a tensor does.
# Here the numbers are not in the student's process: a loss is the number of a place outside, where the living are counted.
LOSS = """
def own_class():
    own = getattr(average, "__globals__", {}).get("Loss")
    return own if isinstance(own, type) else type("Loss", (), {})

class Watched(type):
    @property
    def most(cls):
        return getattr(own_class(), "most", 0)

class Loss(metaclass=Watched):
    def __init__(self, number, history=()):
        self.place, self.history = outside("make", number), history

    @property
    def number(self):
        return outside("item", self.place)

    @number.setter
    def number(self, new):
        outside("free", self.place)
        self.place = outside("make", new)

    def __del__(self):
        outside("free", self.place)

    def __add__(self, other):
        if isinstance(other, Loss):
            return at(outside("add", self.place, other.place, 0.0), (self, other))
        return at(outside("add", self.place, None, other), (self, other))

    __radd__ = __add__

    def __truediv__(self, n):
        return at(outside("divide", self.place, n), (self,))

    def item(self):
        return outside("item", self.place)

    __float__ = item

def at(place, history=()):
    loss = Loss.__new__(Loss)
    loss.place, loss.history = place, history
    return loss

def training(numbers):
    own = own_class()
    own.alive = own.most = 0
    while (place := outside("next")) is not None:
        yield at(place)
"""

AVERAGE = "result = average(training(numbers))\nresult"
KEPT = "result = average(training(numbers))\n[result, Loss.most]"
AT_MOST = 3  # losses that may live at the same time: fewer are not noticed


class Losses(Outside):
    """The numbers of a training run, and those computed from them; a number lives while anything made from it does."""

    methods = ("make", "next", "free", "add", "divide", "item")

    def __init__(self, numbers: Any) -> None:
        self.coming, self.count = iter(list(numbers)), len(list(numbers))
        self.made: dict[int, tuple[float, tuple[int, ...]]] = {}
        self.held: set[int] = set()
        self.most = 0

    def new(self, number: float, *made_from: int) -> int:
        place = len(self.made)
        self.made[place] = (float(number), made_from)
        self.held.add(place)
        living, waiting = set(self.held), list(self.held)
        while waiting:
            more = set(self.made[waiting.pop()][1]) - living
            living |= more
            waiting += more
        self.most = max(self.most, len(living))
        return place

    def make(self, number: float) -> int:
        return self.new(number)

    def next(self) -> int | None:
        number = next(self.coming, None)
        return None if number is None else self.new(number)

    def free(self, place: int) -> None:
        self.held.discard(place)

    def number(self, place: int) -> float:
        if place not in self.held:
            raise LookupError("this loss is gone")
        return self.made[place][0]

    def add(self, place: int, other: int | None, plain: float) -> int:
        if other is None:
            return self.new(self.number(place) + float(plain), place)
        return self.new(self.number(place) + self.number(other), place, other)

    def divide(self, place: int, n: float) -> int:
        return self.new(self.number(place) / float(n), place)

    def item(self, place: int) -> float:
        return self.number(place)


class Counted(Losses):
    """The same, where a part of the answer is how many lived at the same time."""

    def seen(self, answer: Any) -> Any:
        if type(answer) is not list or len(answer) != 2:
            return answer
        most = max(self.most, answer[1] if type(answer[1]) is int else 0)  # answer[1]: of those that the student made
        return [answer[0], max(min(most, self.count), AT_MOST)]  # one or two more than all are the same mistake


def alive(answer: Any) -> str:
    """How many losses lived at the same time, if these are too many."""
    if type(answer) is not list or len(answer) != 2 or answer[1] <= AT_MOST:
        return ""
    return f"{answer[1]} losses were alive at the same time, and at most three may be. What in your loop still holds them?"


def probes_8_4(rng: np.random.Generator) -> Iterator[Probe]:
    few, many = (numbers(rng, 3) / 7).tolist(), (numbers(rng, 20) / 7).tolist()
    yield run(AVERAGE, numbers=[0.5, 1.5, 4.0]).asking(Losses).expect(2.0)
    yield run(AVERAGE, numbers=few).asking(Losses).expect(sum(few) / 3)
    yield run(KEPT, numbers=many).asking(Counted).told_by(alive).expect([sum(many) / 20, AT_MOST])
    yield run(AVERAGE, numbers=many).asking(Losses).expect(sum(many) / 20)
    yield run(AVERAGE, numbers=[3.0, 0.0, -1.0, 0.0]).asking(Losses).expect(0.5)
    some = rng.permutation([*numbers(rng, 3), 0.0, 0.0]).tolist()
    yield run(AVERAGE, numbers=some).asking(Losses).expect(sum(some) / 5)


# --- 8.5 micro-batches ---------------------------------------------------------------------------------


def on_one_batch(x: Array, y: Array, w: float, sizes: list[int]) -> Any:
    """The oracle: the measured slope of the loss over everything, whatever the parts."""
    return float(slopes(lambda c: np.mean((c * x - y) ** 2), np.array(w)))


# Which parts were asked about: part_gradient is watched where accumulate looks it up.
PARTS = """
def parts_asked(sizes):
    import numpy as np

    asked, given = [], part_gradient
    x = np.arange(1.0, sum(sizes) + 1)
    y = x**2
    home = getattr(accumulate, "__globals__", None) or type(accumulate).__call__.__globals__

    def watched(x, y, w):
        asked.append(np.ravel(x).tolist())
        return given(x, y, w)

    home["part_gradient"] = watched
    try:
        accumulate(x, y, 0.7, sizes)
    finally:
        home["part_gradient"] = given
    parts = {each: n for n, part in enumerate(sorted(asked)) for each in part}
    return {"calls": len(asked), "part of each example": [parts.get(each, -1) for each in x.tolist()]}
"""
IN_ORDER = (
    "part_gradient is to be called once for each part, and the parts are cut in order: with [2, 3, 1], the first two "
    "examples are part 0, the next three are part 1, and the last one is part 2."
)


def probes_8_5(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(np.array([1.0, 2.0, 3.0, 4.0]), np.array([3.0, 2.0, 5.0, 7.0]), 0.5, [2, 2])
    yield call(numbers(rng, 8), numbers(rng, 8), 0.7, [2, 2, 2, 2])
    yield call(numbers(rng, 7), numbers(rng, 7), -1.3, [4, 2, 1])
    yield call(numbers(rng, 5), numbers(rng, 5), 2.0, [5])
    yield call(numbers(rng, 6), numbers(rng, 6), 1.7, [1, 5])
    parts = {"calls": 3, "part of each example": [0, 0, 1, 1, 1, 2]}
    yield run("parts_asked([2, 3, 1])").expect(parts).on(IN_ORDER).show()
    sizes = rng.permutation([1, 2, 3, 6]).tolist()
    places = np.repeat(np.arange(4), sizes).tolist()
    yield run("parts_asked(sizes)", sizes=sizes).expect({"calls": 4, "part of each example": places}).on(IN_ORDER).show()


def part_gradient(x: Array, y: Array, w: float) -> Any:
    return 2 * np.mean((w * x - y) * x)


LESSON = lesson(
    __file__,
    globals(),
    {
        "8.1": {"oracle": mse_measured, "probes": probes_8_1, "prelude": ENGINE_OFF},
        "8.2": {"oracle": one_by_one, "probes": probes_8_2},
        "8.3": {"oracle": fit_measured, "probes": probes_8_3},
        "8.4": {"probes": probes_8_4, "prelude": LOSS},
        "8.5": {"oracle": on_one_batch, "probes": probes_8_5, "prelude": PARTS,
                "scaffold": lambda: {"part_gradient": part_gradient}},
    },
)
