"""Lesson 09: operations with a rule of one's own.

The programs below use the student's Functions as a model would: through `apply`, behind other operations, with
uneven weights. Every right answer is stated beside its program, from a closed formula in numpy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad as torch  # noqa: F401 (the answers of the text use both)
from minigrad.autograd import Function  # noqa: F401

from ..exercise import OFF, Formula, Outside, Probe, Raises, numbers, run
from ..lesson_text import lesson

ENGINE = OFF + """
import minigrad as torch
from minigrad.autograd import Function

def by_rules_alone(y, v):
    # One pass, in which no rule may start a pass of its own.
    backward = torch.Tensor.backward
    with off("a rule may not start a pass of its own", (torch.autograd, "grad"), (torch.Tensor, "backward")):
        backward(y, torch.tensor(v))
"""

# --- 9.1 Square ----------------------------------------------------------------------------------------

TEN = "x = torch.tensor(x, requires_grad=True)\nsquare(x).backward(torch.full_like(x, 10.0))\nx.grad"
WEIGHTED = "x = torch.tensor(x, requires_grad=True)\nsquare(x).backward(torch.tensor(v))\nx.grad"
NODE = "x = torch.tensor(x, requires_grad=True)\ntype(square(x).grad_fn).__name__"
INSIDE = "x = torch.tensor(x, requires_grad=True)\nsquare(square(x)).backward(torch.tensor(v))\nx.grad"
BOTH = (
    "x, z = torch.tensor(x, requires_grad=True), torch.tensor(v, requires_grad=True)\n"
    "(square(x) + square(z)).sum().backward()\n[x.grad, z.grad]"
)
TWICE = (
    "x = torch.tensor(x, requires_grad=True)\ny = {}\ny.backward(torch.tensor(v), retain_graph=True)\n"
    "y.backward(torch.tensor(v))\nx.grad"
)
ALONE = "x = torch.tensor(x, requires_grad=True)\nby_rules_alone({}, v)\nx.grad"
UNUSED = (
    "The result has no node of Square, so square(x) has not used the class. Which method of the class records its node?"
)
KEPT = "x = torch.tensor(x, requires_grad=True)\n{}.backward(torch.tensor(v))\nx.detach()"


def probes_9_1(rng: np.random.Generator) -> Iterator[Probe]:
    x, v = numbers(rng, 4), numbers(rng, 4)
    table, weights = numbers(rng, 2, 3), numbers(rng, 2, 3)
    yield run("square(torch.tensor(x))", x=x).expect(x * x)
    yield run(TEN, x=np.array([1.0, 2.0])).expect(np.array([20.0, 40.0]))
    yield run(WEIGHTED, x=x, v=v).expect(2 * x * v)
    yield run(WEIGHTED, x=table, v=weights).expect(2 * table * weights)
    yield run(INSIDE, x=x, v=v).expect(4 * v * x**3)
    yield run(BOTH, x=x, v=v).expect([2 * x, 2 * v])
    yield run(KEPT.format("square(x)"), x=x, v=v).expect(x)
    yield run(NODE, x=x).expect("SquareBackward").show().on(UNUSED)
    yield run(TWICE.format("square(x)"), x=x, v=v).expect(4 * x * v)
    yield run(ALONE.format("square(x)"), x=x, v=v).expect(2 * x * v)


# --- 9.2 two inputs ------------------------------------------------------------------------------------

SCALE = "x = torch.tensor(x, requires_grad=True)\nScale.apply(x, k).backward(torch.tensor(v))\nx.grad"
HYPOT = (
    "a, b = torch.tensor(a, requires_grad=True), torch.tensor(b, requires_grad=True)\n"
    "Hypot.apply(a, b).backward(torch.tensor(v))\n[a.grad, b.grad]"
)
TWO_HYPOTS = (
    "a, b = torch.tensor(a, requires_grad=True), torch.tensor(b, requires_grad=True)\n"
    "(Hypot.apply(a, b) + Hypot.apply(b, a)).backward(torch.tensor(v))\n[a.grad, b.grad]"
)
TWO_SCALES = (
    "x, z = torch.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)\n"
    "(Scale.apply(x, k) + Scale.apply(z, -3.0)).backward(torch.tensor(v))\n[x.grad, z.grad]"
)
SHORT = (
    "One pair is short here, such as (3e-7, 4e-7), and its length is not 0. Replace the divisor only where it is exactly 0, "
    "and add nothing to it."
)


def probes_9_2(rng: np.random.Generator) -> Iterator[Probe]:
    x, v = numbers(rng, 3), numbers(rng, 3)
    a, b, g = numbers(rng, 2, 2), numbers(rng, 2, 2), numbers(rng, 2, 2)
    r = np.hypot(a, b)
    yield run("Scale.apply(torch.tensor(x), k)", x=x, k=2.5).expect(2.5 * x)
    yield run(SCALE, x=x, k=2.5, v=v).expect(2.5 * v)
    yield run(TWO_SCALES, x=x, k=2.5, v=v).expect([2.5 * v, -3 * v])
    yield run("Hypot.apply(torch.tensor(a), torch.tensor(b))", a=a, b=b).expect(r)
    yield hypots([3.0], [4.0], [10.0], [6.0], [8.0])
    yield run(HYPOT, a=a, b=b, v=g).expect([g * a / r, g * b / r])
    yield hypots([0.0, 3.0], [0.0, -4.0], [2.0, 5.0], [0.0, 3.0], [0.0, -4.0])
    yield hypots([0.0, -5.0], [2.0, 0.0], [3.0, 7.0], [0.0, -7.0], [3.0, 0.0])
    yield run(TWO_HYPOTS, a=a, b=b, v=g).expect([2 * g * a / r, 2 * g * b / r])
    yield run(SCALE, x=x, k=0.0, v=v).expect(0 * v)
    yield run(SCALE, x=x, k=1.375, v=v).expect(1.375 * v)
    yield run(TWICE.format("Scale.apply(x, -0.75)"), x=x, v=v).expect(-1.5 * v)
    yield hypots([3e-7], [4e-7], [10.0], [6.0], [8.0]).on(SHORT)
    n, tiny, v, order = numbers(rng, 2), 1e-7 * numbers(rng, 2), numbers(rng, 4), rng.permutation(4)
    a = np.array([0.0, 0.0, n[0], tiny[0]])[order]  # zeros at drawn places, and a short pair
    b = np.array([0.0, n[1], 0.0, tiny[1]])[order]
    r = np.where(a * a + b * b == 0, 1.0, np.hypot(a, b))
    yield run(HYPOT, a=a, b=b, v=v).expect([v * a / r, v * b / r]).on(SHORT)


def hypots(a: list[float], b: list[float], v: list[float], of_a: list[float], of_b: list[float]) -> Probe:
    """Both gradients of the length of these pairs."""
    return run(HYPOT, a=np.array(a), b=np.array(b), v=np.array(v)).expect([np.array(of_a), np.array(of_b)])


# --- 9.3 what is saved, and when it is stale -----------------------------------------------------------

CUBE = "x = torch.tensor(x, requires_grad=True)\nCube.apply(x).backward(torch.tensor(v))\nx.grad"
CUBE_TWICE = "x = torch.tensor(x, requires_grad=True)\nCube.apply(Cube.apply(x)).sum().backward()\nx.grad"
SAVED = "x = torch.tensor(x, requires_grad=True)\nlen(Cube.apply(x).grad_fn.saved_tensors)"
ON_CTX = (
    "x = torch.tensor(x, requires_grad=True)\n"
    "[name for name, thing in vars(Cube.apply(x).grad_fn).items() if isinstance(thing, torch.Tensor)]"
)
INPUT_CHANGED = (
    "x = torch.tensor(x, requires_grad=True)\ny = x + 0\nz = Cube.apply(y)\ny += 1\nz.sum().backward()\nx.grad"
)
OUTPUT_CHANGED = (
    "x = torch.tensor(x, requires_grad=True)\ny = x + 0\nz = Cube.apply(y)\nz += 2\nz.sum().backward()\nx.grad"
)
NOTICED = (
    "def gradient(change):\n    leaf = torch.tensor(x, requires_grad=True)\n    y = leaf + 0\n    z = Cube.apply(y)\n"
    "    if change:\n        y += 1\n    try:\n        z.sum().backward()\n    except RuntimeError:\n        return None\n"
    "    return leaf.grad\n[gradient(change) for change in changes]"
)
WATCHED = (
    "The engine watches what forward gives to save_for_backward, and nothing else: no attribute of ctx, no array, no copy. It "
    "has to get x, and x alone."
)


def probes_9_3(rng: np.random.Generator) -> Iterator[Probe]:
    x, v = numbers(rng, 3), numbers(rng, 3)
    mixed = np.array([-1.5, 0.5, 2.0])
    yield run("Cube.apply(torch.tensor(x))", x=x).expect(x**3)
    yield run(CUBE, x=mixed, v=v).expect(3 * v * mixed**2)
    yield run("Cube.apply(torch.tensor(x))", x=mixed).expect(mixed**3)
    yield run(CUBE_TWICE, x=x).expect(9 * x**8)
    noticed = Raises("RuntimeError", "modified by an inplace")
    yield run(INPUT_CHANGED, x=np.array([1.0, 2.0])).expect(noticed).show().on(WATCHED)
    yield run(OUTPUT_CHANGED, x=x).expect(3 * x**2)
    yield run(SAVED, x=x).expect(1).show().on(WATCHED)
    yield run(ON_CTX, x=x).expect([]).show().on(WATCHED)
    yield run(TWICE.format("Cube.apply(x)"), x=x, v=v).expect(6 * v * x**2)
    tiny, v = 1e-4 * numbers(rng, 2), 1e6 * numbers(rng, 2)  # a slope measured with a step of 1e-5 is off
    yield run(ALONE.format("Cube.apply(x)"), x=tiny, v=v).expect(3 * v * tiny**2)
    yield run("Cube.apply(torch.tensor(x))", x=(both := np.array([-1.0, 1.0]) * abs(numbers(rng, 2)))).expect(both**3)
    changes = [bool(n) for n in rng.permutation([0, 0, 0, 1, 1, 1])]
    yield run(NOTICED, x=x, changes=changes).expect([None if change else 3 * x**2 for change in changes]).on(WATCHED)


# --- 9.4 chosen gradients ------------------------------------------------------------------------------

THROUGH = "x = torch.tensor(x, requires_grad=True)\nRoundThrough.apply(x).backward(torch.tensor(v))\nx.grad"
SHARED = (
    "x, z = torch.tensor(x, requires_grad=True), torch.tensor(z, requires_grad=True)\n"
    "(RoundThrough.apply(z) + Reverse.apply(x, -3.0)).backward(torch.tensor(v))\n[x.grad, z.grad]"
)
REVERSE = "x = torch.tensor(x, requires_grad=True)\nReverse.apply(x, k).backward(torch.tensor(v))\nx.grad"


def probes_9_4(rng: np.random.Generator) -> Iterator[Probe]:
    x, v = numbers(rng, 4), numbers(rng, 4)
    some = np.array([0.2, 1.7, -1.2, -2.64, 3.38])
    yield run("RoundThrough.apply(torch.tensor(x))", x=some).expect(np.array([0.0, 2.0, -1.0, -3.0, 3.0]))
    yield run(THROUGH, x=x, v=v).expect(v)
    yield run("Reverse.apply(torch.tensor(x), k)", x=x, k=0.5).expect(x)
    yield run(REVERSE, x=x, k=0.5, v=v).expect(-0.5 * v)
    yield run(REVERSE, x=np.array([1.0, 2.0]), k=-3.0, v=np.array([10.0, -1.0])).expect(np.array([30.0, -3.0]))
    for name in ("RoundThrough.apply(x)", "Reverse.apply(x, -3.0)"):
        yield run(KEPT.format(name), x=x, v=v).expect(x)
    yield run(SHARED, x=x, z=2 * x, v=v).expect([3 * v, v])
    yield run(REVERSE.replace("(x, k)", "(Reverse.apply(x, 2.0), k)"), x=x, k=-3.0, v=v).expect(-6 * v)
    yield run(REVERSE, x=x, k=0.0, v=v).expect(0 * v)
    yield run(TWICE.format("RoundThrough.apply(Reverse.apply(x, 0.25))"), x=x, v=v).expect(-0.5 * v)
    even = 2.0 * rng.integers(-4, 5, size=6)  # a tie on each side of an even number goes to it
    away = rng.permutation([0.5, -0.5, 0.5, -0.5, *rng.uniform(-0.45, 0.45, size=2).round(2)])
    yield run("RoundThrough.apply(torch.tensor(x))", x=even + away).expect(even)


# --- 9.5 a gradcheck of one's own ----------------------------------------------------------------------

PAIR = """
import numpy as np

def f(x):
    return outside("f", x)

def rule(g, x):
    return outside("rule", g, x)
"""


class Pair(Outside):
    """A function and a rule that can be used and not read; `kinds` are the dtypes at which the function was used."""

    methods, given = ("f", "rule"), ("x",)

    def __init__(self, f: str, rule: str, x: Any) -> None:
        self.of = {name: eval(text, {"np": np}) for name, text in (("f", f), ("rule", rule))}
        self.kinds: set[str] = set()

    def f(self, x: Any) -> Any:
        self.kinds.add(str(getattr(x, "dtype", "float64")))
        return self.of["f"](x)

    def rule(self, g: Any, x: Any) -> Any:
        return self.of["rule"](g, x)


class Dtypes(Pair):
    """The same, where the answer is at which dtypes the function was used."""

    def seen(self, answer: Any) -> list[str]:
        return sorted(self.kinds)


def asks(f: str, rule: str, answer: str = "", kind: type[Pair] = Pair, **data: Any) -> Probe:
    """A program that asks the student's check about a function and its rule."""
    code = "my_gradcheck(f, rule, x)" + (f"\n{answer}" if answer else "")
    return run(code, f=Formula(f"lambda x: {f}"), rule=Formula(f"lambda g, x: {rule}"), **data).asking(kind)


def probes_9_5(rng: np.random.Generator) -> Iterator[Probe]:
    for probe in pairs_9_5(rng):
        yield probe if probe.about else probe.on(ABOUT[probe.expected])


LARGE = 16389.5  # measured at steps from 1e-4 to 1e-7, the derivative 8194.75 is off by 1e-4 to 1e-2, but never by 1e-5 of it
CHANGED = (
    "Your check changes x. Adding and subtracting a step does not bring back the last digits: change a copy, or add an array "
    "that is 0 everywhere else."
)
ABOUT = {
    True: "This rule is right, and your check refuses it. Print for each entry what the rule gives and what you measure: where "
          "do they differ?",
    False: "This rule is wrong, and your check accepts it. For which entry and which upstream gradient do the rule and the "
           "measurement differ, and does your check compare them there?",
}  # fmt: skip


def refuses(rule: str, x: Any, does: str, look: str, f: str = "x * x") -> Probe:
    """A wrong rule, what it does, and where to look if it was accepted."""
    return asks(f, rule, x=np.array(x)).expect(False).on(f"This rule {does}, and your check accepts it. {look}")


def accepts(f: str, rule: str, x: Any, about: str) -> Probe:
    """A right rule, and what to say if it was refused."""
    return asks(f, rule, x=np.array(x)).expect(True).on(about)


# fmt: off
def pairs_9_5(rng: np.random.Generator) -> Iterator[Probe]:
    x, table, some = numbers(rng, 4), numbers(rng, 2, 3), [0.7, 1.3, 2.1]
    yield from usual_9_5(x, some)
    yield from shapes_9_5(x, table, some)
    yield from places_9_5(rng, x)
    yield from drawn_9_5(rng)


def usual_9_5(x: Any, some: list[float]) -> Iterator[Probe]:
    """Each of these rules shows a usual mistake in a check."""
    yield asks("x**3", "g * 3 * x**2", x=np.array([1.0, 2.0, -0.5])).expect(True)
    for sign, words in (("+", "large"), ("-", "small")):
        yield refuses(f"g * 2 * x {sign} 5.0", some, f"is too {words} by 5 in every entry",
                      "Is a difference compared without abs?")
    yield refuses("g * 2.01 * x", [3.0, -2.0], "is half a percent off", "Is your tolerance too large?")
    yield refuses("3 * x**2", x, "does not use g",
                  "Are all your upstream gradients 1, or is g missing from what you measure?", f="x**3").show()
    yield refuses("g * 4 * x", some, "gives twice the derivative", "x + h and x - h are 2h apart: by what do you divide?")
    yield refuses("g * x", some, "gives half the derivative",
                  "Are f(x + h) and f(x) subtracted, which are h apart, and is this divided by 2h?")
    yield refuses("(g * 2 * x)[::-1]", some, "gives the right numbers in the wrong places",
                  "Does it compare each entry, and no sum or norm of them?")
    yield refuses("-2 * g * x", some, "has the wrong sign", "Which of the two points is subtracted from the other one?")
    yield refuses("2 * x * x", some, "uses x in the place of g", "Is your upstream gradient x itself?")
    yield asks("x * x", "0 * g", x=np.array(some)).expect(False).on(
        "This rule gives 0 everywhere, and your check accepts it, so what it measures is 0, too. Are the two points the same "
        "array under two names? Or is the difference multiplied by h, where it should be divided?")
    yield refuses("g * 2 * x / x.size", some, "is too small by the number of outputs", "Is there a mean where a sum belongs?")
    yield asks("x**3", "x * 3 * g**2", x=np.array(some)).expect(False).on(
        "In this rule x and g have changed places, and your check accepts it. In which order does rule take its inputs?")
    yield refuses("np.cumsum(g * 2 * x)", some, "adds the gradients of the entries before",
                  "Is only one input moved at a time, or do the steps of the ones before stay?")
    yield accepts("2 * x", "2 * g", [1e-6, -2e-6],
        "Your check refuses the rule of 2x, the simplest one. Print the two numbers that you compare. If they differ in the "
        "last digits only, compare with a tolerance, and never with ==. If not, the formula of what you measure is wrong, or g "
        "is not the same in both.")
    yield refuses("g * np.array([2.0, np.nan, 3.0])", some, "gives nan where the derivative is 0",
                  "Every comparison with nan is False, and nan_to_num makes a number of it. Which of these lets it pass?",
                  f="x * np.array([2.0, 0.0, 3.0])")
    yield accepts("x * x / 4", "g * x / 2", [LARGE],
        "The derivative is in the thousands here, and your check refuses the right rule. The larger a number is, the larger is "
        "the error of what you measure. Does your tolerance grow with the derivative, and is your step a usual one?")
    yield asks("x**3", "g * 3 * x**2", x=10 * x).expect(True)


def shapes_9_5(x: Any, table: Any, some: list[float]) -> Iterator[Probe]:
    """Functions of another shape, and rules that are right in some entries or in the mean."""
    yield asks("x * np.array([1.5, -0.5, 2.0])", "g * np.array([2.0, 1.5, -0.5])", x=np.array(some)).expect(False)
    yield accepts("np.cumsum(x)", "np.cumsum(g[::-1])[::-1]", x,
        "Here each input changes several outputs, and your check refuses the right rule. Move one input at a time, and add up "
        "the changes of all outputs, each times its entry of g.")
    yield asks("x * x", "g * np.where(np.arange(x.size) < 2, 2, 3) * x", x=x).expect(False)
    yield asks("x * x", "g * np.where(np.arange(x.size) < 2, 3, 2) * x", x=x).expect(False)
    yield asks("x * x", "g.mean() * 2 * x", x=x).expect(False)
    yield asks("x * x", "np.full(x.shape, (2 * g * x).mean(axis=1, keepdims=True))", x=table).expect(False)
    yield accepts("x.sum(axis=0)", "np.broadcast_to(g, x.shape)", table,
        "Here x has two axes, and f gives fewer numbers than x has; your check refuses the right rule. g has the shape of "
        "f(x). Do you move every entry of x?")
    yield asks("x * x", "np.full(x.shape, (g * 2 * x).mean())", x=np.array(some)).expect(False)


def places_9_5(rng: np.random.Generator, x: Any) -> Iterator[Probe]:
    """Mistakes at one place, what may not change, and derivatives that are nearly 0."""
    yield asks("x**2", "g * 2 * x", "x", x=x).expect(x).on(CHANGED)
    yield asks("x * x", "g * np.where(np.arange(x.size) < x.size - 1, 2, 3) * x", x=x).expect(False)
    yield asks("x * x", "g * np.where(np.arange(x.size) > 0, 2, 3) * x", x=x).expect(False)
    yield asks("x * x", "g * np.where(x == x[1], np.nan, 2 * x)", x=x).expect(False)
    thirds = numbers(rng, 8) / 3
    yield asks("x**2", "g * 2 * x", "[float(v).hex() for v in x]", x=thirds).expect(
        [float(v).hex() for v in thirds]).on(CHANGED)
    yield accepts("x**3", "g * 3 * x**2", [1e-6, 2.0],
        "Here one derivative is nearly 0, and your check refuses the right rule. Does your tolerance become 0 as well, or is "
        "your step so large that you measure the curve of x**3?")
    yield asks("np.maximum(x, 0)", "g", x=np.array([1.5, -0.7, 2.0])).expect(False)
    yield asks("x * x", "g * 2 * x + 0.03 * (np.arange(x.size) == 7)", x=0.2 + np.arange(60) / 30).expect(False)
    yield asks("2 * x", "2 * g", kind=Dtypes, x=x).expect(["float64"]).show().on(
        "Here the answer is at which dtypes your check has called f. It has to call it, in float64.")


def drawn_9_5(rng: np.random.Generator) -> Iterator[Probe]:
    """The same with other numbers for each student."""
    a, b = np.abs(numbers(rng, 2)).tolist()
    place = int(rng.integers(60))
    yield asks("x * x", f"g * 2 * x + 0.03 * (np.arange(x.size) == {place})", x=a + np.arange(60) / 30).expect(False)
    yield asks("x * x", "(g * 2 * x)[::-1]", x=numbers(rng, 3)).expect(False)
    zero = [float(n) for n in rng.permutation([a, b, 0.0])]
    yield asks(f"x * np.array({zero})", f"g * np.array({[n or 1.5 for n in zero]})", x=numbers(rng, 3)).expect(False)
    yield asks("x * x", "g * 2.01 * x", x=numbers(rng, 3)).expect(False)
    yield asks("x * x", "-2 * g * x", x=numbers(rng, 3)).expect(False)
    yield asks("x**3", "g * 3 * x**2", x=rng.permutation([1e-6 * a, b, 1e-6 * b])).expect(True)
    for right in rng.integers(2, size=8).tolist():  # which of these rules are right differs from student to student
        a, b = np.abs(numbers(rng, 2)).tolist()
        rule = f"g * ({2 * a if right else a} * x - {b})"
        yield asks(f"{a} * x**2 - {b} * x", rule, x=numbers(rng, 3)).expect(bool(right))
# fmt: on


LESSON = lesson(
    __file__,
    globals(),
    {
        "9.1": {"probes": probes_9_1, "prelude": ENGINE},
        "9.2": {"probes": probes_9_2, "prelude": ENGINE},
        "9.3": {"probes": probes_9_3, "prelude": ENGINE},
        "9.4": {"probes": probes_9_4, "prelude": ENGINE},
        "9.5": {"probes": probes_9_5, "prelude": PAIR},
    },
)
