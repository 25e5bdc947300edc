"""Lesson 14: the student's engine trains a net, gets an operation and an extension, and is written from an empty file.

Right answers are formulas in numpy, and, for the twenty losses, PyTorch's. Answers are in 14_capstone.md, and the engine from
an empty file in 14_own_engine.py. 14.1 to 14.5 asked for what is now 3.1 to 11.2: no exercise has these numbers again.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad as torch  # noqa: F401 (the answers of the text use it)
from minigrad.autograd import Function  # noqa: F401 (the same)

from ..checks import own_engine
from ..exercise import Outside, Probe, Raises, numbers, run
from ..lesson_text import lesson
from .l12_digits import by_hand, forty, in_which_step, start

Array = np.ndarray[Any, Any]
Rule = Callable[..., Any]
NUMPY = "import numpy as np"
ENGINE: dict[str, Any] = {"__name__": "engine"}  # and not my_engine, which is the student's
exec(compile(own_engine.reference(14), "my_engine.py", "exec"), ENGINE)


def engine() -> dict[str, Any]:
    """The names of the student's engine, as the reference has them."""
    return {name: thing for name, thing in ENGINE.items() if not name.startswith("__")}


# --- 14.6 your engine reads digits ---------------------------------------------------------------------

# PyTorch 2.13.0, CPU, float64: TWENTY on the first forty digits of the file.
TWENTY_LOSSES: list[float] = [
    2.281595327309435, 2.2766393133790084, 2.109654210401172, 2.268287195046731, 2.210001527151152,
    2.084080931910443, 1.9694565188273205, 1.8597074101943452, 2.0106079073591965, 1.6425698806513775,
    1.9201239728618715, 1.7587272036336652, 1.650932080036846, 1.6798393599570436, 1.1643723070256091,
    1.7083714862647166, 1.4857636002091104, 1.373354224825526, 1.4025508427085969, 0.8146620288781617,
]  # fmt: skip
WEIGHTS = "parameters = [Tensor(w) for w in (w1, b1, w2, b2)]\n"
LOOP = WEIGHTS + "train(parameters, x, labels, rate=0.2, batch=4, epochs=2)"
TWENTY = WEIGHTS + "train(parameters, images / 16, labels, rate=0.5, batch=8, epochs=4)"


def weights(n_in: int, hidden: int, out: int) -> dict[str, Array]:
    """The start of every run: those of lesson 12, with a column for each unit."""
    return {"w1": start(hidden, n_in).T, "b1": start(hidden), "w2": start(out, hidden).T, "b2": start(out)}


def probes_14_6(rng: np.random.Generator) -> Iterator[Probe]:
    x, labels = numbers(rng, 10, 2) / 2, rng.permutation(np.arange(10) % 3)
    given = {"x": x, "labels": labels, **weights(2, 5, 3)}
    scores = np.maximum(x @ given["w1"] + given["b1"], 0) @ given["w2"] + given["b2"]
    yield run(WEIGHTS + "net(Tensor(x), parameters).data", **given).expect(scores)
    losses, (w1, b1, w2, b2) = by_hand(x, labels, 4, 2, 0.2, 0.0, 5, 3)
    yield run(LOOP, **given).told_by(in_which_step(x, labels, 0.0)).expect(losses)
    yield run(LOOP.replace("train(", "losses = train(") + "\n[type(loss).__name__ for loss in losses[:2]]", **given).seen_as(
        lambda found: type(found) is list and not any("Tensor" in str(name) for name in found)).expect(True)  # fmt: skip
    before = [given[name] for name in ("w1", "b1", "w2", "b2")]
    kept = "The tensors in `parameters` are as they were before the training. `p.data -= ...` changes them, and a new list " \
           "of new tensors does not."
    yield run(LOOP + "\n[p.data for p in parameters]", **given).told_by(
        lambda found: kept * all(map(np.array_equal, found, before))).expect([w1.T, b1, w2.T, b2])  # fmt: skip
    yield run(LOOP + "\n[x, labels]", **given).expect([x, labels])
    yield run(LOOP + "\n[p.grad for p in parameters]", **given).on(
        "After each step, the grad of all four parameters is 0, as `descend` leaves it.").seen_as(
        lambda found: [bool(np.any(np.asarray(g, dtype=float))) for g in found]).expect([False] * 4)  # fmt: skip
    yield run(TWENTY, **forty(), **weights(64, 16, 10)).expect(TWENTY_LOSSES)


# --- 14.7 an operation of your own ---------------------------------------------------------------------

TEST = """
import numpy as np
h = 1e-6
def evaluated_at(rule, g, x):
    # The numbers at which the rule evaluates the operation.
    home, given, places = getattr(rule, "__globals__", {}), my_forward, []

    def watched(at):
        places.append(at)
        return given(at)

    if home.get("my_forward") is not given:
        return places
    home["my_forward"] = watched
    try:
        rule(g, x)
    finally:
        home["my_forward"] = given
    return places
"""
RULE = "[my_forward(x + h), my_forward(x - h), my_rule(g, x), my_forward(x), my_forward(z)]"
WRONGS = "[my_forward(x + h), my_forward(x - h), *(wrong(g, x) for wrong in my_wrongs)]"


def holding(found: Any, g: Any) -> list[bool]:
    """Which of the gradients in found[2:] are g times the slope that found[0] and found[1] show."""
    above, below, *gradients = (np.asarray(part, dtype=float) for part in found)
    if above.shape != np.shape(g):
        return []
    measured = g * (above - below) / 2e-6
    return [bool(np.shape(one) == np.shape(measured) and np.allclose(one, measured, rtol=1e-5, atol=1e-7)) for one in gradients]


def bends(found: Any) -> bool:
    """Whether three values at equal distances do not lie on a line."""
    first, second, third = (np.asarray(part, dtype=float) for part in found)
    return not np.allclose(second - first, third - second, rtol=1e-4)


MIXES = (
    "An entry of your result depends on other entries of x, too. Here an operation works on each entry by itself. Choose a "
    "function without a sum, a maximum or an order in it."
)


def agrees(found: Any, g: Any) -> list[Any]:
    """Whether the gradient in found[2] holds; [-1] if the entry at 1 is another one in the last two, where z has the same x."""
    before, after = (np.asarray(part, dtype=float).ravel() for part in found[3:])
    if before.size == after.size == np.size(g) and not np.isclose(before[1], after[1], rtol=1e-9):
        return [-1]
    return holding(found[:3], g)


def differ(found: Any) -> bool:
    return not np.allclose(np.asarray(found[2], dtype=float), np.asarray(found[3], dtype=float))


def probes_14_7(rng: np.random.Generator) -> Iterator[Probe]:
    x, g = np.abs(numbers(rng, 4)), np.abs(numbers(rng, 4)) * [1, -1, -1, 1]
    for at, upstream in ((x, 1 + 0 * x), (x, g), (x.reshape(2, 2), 10 * g.reshape(2, 2))):
        others = 0.5 * (np.arange(4) != 1).reshape(at.shape)
        asked = run(RULE, x=at, g=upstream, z=at + others)
        asked = asked.told_by(lambda found: MIXES if found == [-1] else "")
        yield asked.seen_as(lambda found, g=upstream: agrees(found, g)).expect([True])  # type: ignore[misc]
    steps = np.array([1.0, 0.7, 1.3, 1.9])
    yield run("[my_forward(x), my_forward(x + step), my_forward(x + 2 * step)]", x=x, step=steps).seen_as(bends).expect(True)
    yield run("my_forward(x)\nmy_rule(g, x)\n[x, g]", x=x, g=g).expect([x, g])
    asked = run("evaluated_at(my_rule, g, x)", x=x, g=g)
    yield asked.seen_as(lambda places: [bool(np.array_equal(at, x)) for at in places if not np.array_equal(at, x)]).expect([])
    yield run("len(my_wrongs[:2])").expect(2)
    yield run(WRONGS, x=x, g=g).seen_as(lambda found: any(holding(found, g))).expect(False)
    yield run(WRONGS, x=x, g=g).seen_as(differ).expect(True)


# --- 14.8 one of five extensions: derivatives that run forwards ----------------------------------------

ALONG = "r = {}\n[float(r.value), float(r.slope)]"


def probes_forwards(rng: np.random.Generator) -> Iterator[Probe]:
    a, b, s = (float(n) for n in numbers(rng, 3))
    given = {"a": a, "b": b, "s": s}
    cases: dict[str, tuple[float, float]] = {
        "Dual(a, s) + Dual(b, 2.0)": (a + b, s + 2),
        "Dual(a, s) - Dual(b, 3.0)": (a - b, s - 3),
        "Dual(a, s) * Dual(b, 2.0)": (a * b, s * b + 2 * a),
        "Dual(a, s) * Dual(a, s) * Dual(a, s)": (a**3, 3 * a * a * s),
        "Dual(a, s).sin()": (np.sin(a), s * np.cos(a)),
        "Dual(a, s).exp()": (np.exp(a), s * np.exp(a)),
        "(Dual(a, s) * Dual(b, 0.0)).sin()": (np.sin(a * b), s * b * np.cos(a * b)),
        "Dual(a, s) * 2.5": (2.5 * a, 2.5 * s),
        "Dual(a, s) + 2.5": (a + 2.5, s),
    }
    for text, right in cases.items():
        yield run(ALONG.format(text), **given).expect([float(n) for n in right])
    yield run(ALONG.format("Dual(1.57, 1e4).sin()")).expect([float(np.sin(1.57)), float(1e4 * np.cos(1.57))])
    flat = 1.57 + a / 1000  # the slope is nearly 0 here: a measured one has lost its digits
    yield run(ALONG.format("Dual(a, s).sin()"), a=flat, s=1e4 * s).expect([float(np.sin(flat)), float(1e4 * s * np.cos(flat))])
    for sign in "+-*":
        yield run(f"d, e = Dual(a, s), Dual(b, 2.0)\nd {sign} e\n[float(n) for n in (d.value, d.slope, e.value, e.slope)]",
                  **given).expect([a, s, b, 2.0])  # fmt: skip


# --- 14.8 second derivatives ---------------------------------------------------------------------------

TWICE = "x, z = Deep(a), Deep(b)\ny = {}\n"


def probes_twice(rng: np.random.Generator) -> Iterator[Probe]:
    a, b = (float(n) for n in numbers(rng, 2))
    given = {"a": a, "b": b}
    cases: dict[str, tuple[float, float, float]] = {
        "x * x * x": (a**3, 3 * a * a, 6 * a),
        "x.sin()": (np.sin(a), np.cos(a), -np.sin(a)),
        "(x * z).exp()": (np.exp(a * b), b * np.exp(a * b), b * b * np.exp(a * b)),
        "x.sin() * x + z": (a * np.sin(a) + b, np.sin(a) + a * np.cos(a), 2 * np.cos(a) - a * np.sin(a)),
        "x + x": (2 * a, 2.0, 0.0),
    }
    asked = "first = gradient(y, x)\n[float(y.data), float(first.data), float(gradient(first, x).data)]"
    for text, right in cases.items():
        yield run(TWICE.format(text) + asked, **given).expect([float(n) for n in right])
    # the graph of part 1: c = a + b, d = a * b
    graph = "x, z = Deep(2.0), Deep(3.0)\nc, d = x + z, x * z\ny = c + d + c * d\nfirst = gradient(y, x)\n"
    yield run(graph + "[float(n.data) for n in (first, gradient(first, x), gradient(first, z))]").expect([25.0, 6.0, 11.0])
    third = "gradient(gradient(gradient(y, x), x), x)"
    yield run(TWICE.format("x * x * x * x") + f"float({third}.data)", **given).on(
        "What gradient returns has to be recorded: each rule computes with Deep, as in g * other.").expect(24 * a)  # fmt: skip
    yield run(TWICE.format("x * x") + "float(gradient(y, z).data)", **given).on(
        "y does not depend on z. Then gradient returns Deep(0.0).").expect(0.0)  # fmt: skip
    yield run(TWICE.format("x * x") + "float(gradient(x, x).data)", **given).expect(1.0)
    yield run(TWICE.format("x * x") + "gradient(y, x)\nfloat(gradient(y, x).data)", **given).expect(2 * a)
    yield run(TWICE.format("x * z") + "gradient(y, x)\n[float(x.data), float(z.data)]", **given).expect([a, b])


# --- 14.8 checkpoints ----------------------------------------------------------------------------------

# Given in the exercise notebook as well: signals that are counted, and layers.
# The numbers of signals and layers are not in the student's process: both are numbers of places outside, where what lives
# and what is made is counted.
SIGNALS = """
class Signal:
    most = made = None

    def __init__(self, place):
        self.place = place

    def __del__(self):
        outside("free", self.place)

class Layer:
    def __init__(self, k):
        self.k = k

    def forward(self, x):
        return Signal(outside("forward", self.k, x.place))

    def backward(self, g, x):
        return outside("backward", g, self.k, x.place)
"""
PASS = "g = checkpointed(g, [Layer(k) for k in ks], Signal(x), every)\n"


class Signals(Outside):
    """Layers that compute sines, and the signals between them."""

    methods, given = ("forward", "backward", "free"), ("g", "every")

    def __init__(self, ks: list[float], x: float, g: float, every: int) -> None:
        self.ks, self.numbers = ks, {0: x}
        self.every = every
        self.inside = {"ks": list(range(len(ks))), "x": 0}
        self.made = self.most = 1
        self.called: list[float] = []

    def forward(self, layer: int, place: int) -> int:
        self.numbers[self.made] = float(np.sin(self.ks[layer] * self.numbers[place]))
        self.made += 1
        self.most = max(self.most, len(self.numbers))
        return self.made - 1

    def backward(self, g: float, layer: int, place: int) -> float:
        self.called.append(self.ks[layer])
        return float(g * self.ks[layer] * np.cos(self.ks[layer] * self.numbers[place]))

    def free(self, place: int) -> None:
        self.numbers.pop(place, None)


class Frugal(Signals):
    """The same, where a part of the answer is how many signals lived at the same time and were made, beyond what is fine; and
    how many were made where they are fewer than a second pass through all parts but the last one makes."""

    def seen(self, answer: Any) -> Any:
        rest = -(-len(self.ks) // self.every)  # signals kept, and those of one part
        answer = answer[0] if type(answer) is list else answer
        least = len(self.ks) + (rest - 1) * (self.every - 1)
        made_ = self.made if self.made < least else max(self.made, self.fine())
        return [answer, max(self.most, rest + self.every + 3), made_]

    def fine(self) -> int:
        return (1 if self.every == 1 else 2) * len(self.ks) + 1


class Ordered(Signals):
    """The same, where the answer is the order in which the layers were asked for gradients."""

    def seen(self, answer: Any) -> Any:
        return self.called


def through_layers(ks: list[float], x: float, g: float) -> float:
    """The derivative of a chain of sines, gathered on the way forward."""
    for k in ks:
        x, g = float(np.sin(k * x)), float(g * k * np.cos(k * x))
    return g


def probes_checkpoint(rng: np.random.Generator) -> Iterator[Probe]:
    for count, every in ((1, 1), (6, 2), (7, 3), (5, 5), (4, 1), (3, 8)):
        ks, (x, g) = (numbers(rng, count) / 4 + 1).tolist(), (float(n) for n in numbers(rng, 2))
        yield run(PASS + "g", ks=ks, x=x, g=g, every=every).asking(Signals).expect(through_layers(ks, x, g))
    ks, (x, g) = (numbers(rng, 30) / 4 + 1).tolist(), (float(n) for n in numbers(rng, 2))
    for every, most, made_ in ((6, 5 + 6 + 3, 61), (1, 30 + 1 + 3, 31)):
        frugal = run(PASS + "[g, Signal.most, Signal.made]", ks=ks, x=x, g=g, every=every).asking(Frugal)
        yield frugal.expect([through_layers(ks, x, g), most, made_])
    yield run(PASS + "g", ks=ks[:7], x=x, g=g, every=3).asking(Ordered).expect(ks[6::-1])
    for count in rng.permutation(np.arange(5, 21))[:2].tolist():  # no length is another one's
        part, every = ks[:count], int(rng.integers(2, count - 1))
        yield run(PASS + "g", ks=part, x=x, g=g, every=every).asking(Ordered).expect(part[::-1])
        frugal = run(PASS + "[g, Signal.most, Signal.made]", ks=part, x=x, g=g, every=every).asking(Frugal)
        yield frugal.expect([through_layers(part, x, g), -(-count // every) + every + 3, 2 * count + 1])


# --- 14.8 hooks ----------------------------------------------------------------------------------------

WATCHED = "a, b = Tensor({}), Tensor({})\nc, d = a + b, a * b\ny = c + d + c * d\nseen = []\n"
PASSED = "backward_with_hooks(y)\n[float(a.grad), float(b.grad)]"


def calls(seen: list[Any], complete: float, first: float) -> str:
    """What the numbers that a hook of c was given show: `first` is one of two contributions to it."""
    if not seen:
        return "The hook of c was never called. The pass reaches c, so its hook is called, with the gradient of c."
    if len(seen) > 1 and np.isclose(seen[-1], complete):
        return "The hook is called each time the gradient of c has grown. Call it once, when it is complete."
    if len(seen) > 1:
        return "The hook is called for each contribution. Call it once, with their sum, when all of them are there."
    one = np.isclose(seen[0], (first, complete - first)).any()
    return "The hook is called with one contribution of two. Call it when the gradient is complete." if one else ""


def probes_hooks(rng: np.random.Generator) -> Iterator[Probe]:
    drawn = numbers(rng, 2).tolist()
    for a, b in ((2.0, 3.0), drawn):
        at_c, at_d = 1 + a * b, 1 + a + b
        seven = WATCHED.format("a", "b")
        again = "backward_with_hooks(y)\nbackward_with_hooks(a * b)\n"
        listens = "register_hook({}, lambda g: seen.append(float(g)))\n"
        listened = run(f"{seven}{listens.format('c')}backward_with_hooks(y)\nseen", a=a, b=b)
        yield listened.told_by(lambda seen, right=(at_c, 1.0): calls(seen, *right)).expect([at_c])  # type: ignore[misc]
        for hooks, right in {
            "register_hook(c, lambda g: None)": [at_c + at_d * b, at_c + at_d * a],
            "register_hook(c, lambda g: 10 * g)": [10 * at_c + at_d * b, 10 * at_c + at_d * a],
            "register_hook(c, lambda g: 0 * g)": [at_d * b, at_d * a],
            "register_hook(c, lambda g: 2 * g)\nregister_hook(c, lambda g: g + 1)":
                [2 * at_c + 1 + at_d * b, 2 * at_c + 1 + at_d * a],
            "register_hook(a, lambda g: -g)": [-at_c - at_d * b, at_c + at_d * a],
        }.items():  # fmt: skip
            yield run(f"{seven}{hooks}\n{PASSED}", a=a, b=b).expect(right)
        yield run(seven + "for t in (a, d, y):\n    register_hook(t, lambda g, t=t: seen.append(float(t.data)))\n"
                  "backward_with_hooks(y)\nseen", a=a, b=b).expect([a + b + a * b + (a + b) * a * b, a * b, a])  # fmt: skip
        yield run(seven + listens.format("a") + "backward_with_hooks(b)\nseen", a=a, b=b).expect([])
        yield run(seven + listens.format("a") + again + "seen", a=a, b=b).on(
            "A hook is called in each pass, with the gradient of this pass.").expect([at_c + at_d * b, b])  # fmt: skip
        yield run(f"{seven}{again}[float(a.grad), float(b.grad)]", a=a, b=b).on(
            "The leaves add the gradients of both passes.").expect([at_c + at_d * b + b, at_c + at_d * a + a])  # fmt: skip
    x, v = numbers(rng, 2, 3), numbers(rng, 2, 3)
    halved = "register_hook(y, lambda g: g * 0.5)\nbackward_with_hooks(y, v)\n[x.grad, z.grad]"
    yield run("x, z = Tensor(x), Tensor(z)\ny = x * z\n" + halved, x=x, z=x[0], v=v).expect(
        [v * x[0] / 2, (v * x).sum(0) / 2])  # fmt: skip


# --- 14.8 export ---------------------------------------------------------------------------------------

EXPORTED = "import numpy as np\nimport minigrad as torch\nfrom minigrad.autograd import Function"
SOFTPLUS = "lambda x: np.log1p(np.exp(x)), lambda g, x: g / (1 + np.exp(-x))"
ITSELF = "np.exp, lambda g, x: g * np.exp(x)"

KINDS = (
    "kinds = set()\n\ndef forward(x):\n    kinds.add(type(x).__name__)\n    return x * x\n\n"
    "def rule(g, x):\n    kinds.update(type(a).__name__ for a in (g, x))\n    return 2 * g * x\n\n"
    "Op = exported(forward, rule)\n"
)


def probes_export(rng: np.random.Generator) -> Iterator[Probe]:
    x, v = numbers(rng, 2, 3), numbers(rng, 2, 3)
    op = f"Op = exported({SOFTPLUS})\n"
    tensor = "x = torch.tensor(x, requires_grad=True)\n"
    yield run(op + "Op.apply(torch.tensor(x))", x=x).expect(np.logaddexp(0, x))
    yield run(op + tensor + "Op.apply(x).backward(torch.tensor(v))\nx.grad", x=x, v=v).expect(v * (1 + np.tanh(x / 2)) / 2)
    yield run(f"Op = exported({ITSELF})\n" + tensor + "(Op.apply(2 * x) * torch.tensor(v)).sum().backward()\nx.grad", x=x,
              v=v).expect(2 * v * np.exp(2 * x))  # fmt: skip
    yield run(op + "[base.__name__ for base in Op.__mro__]").seen_as(lambda bases: "Function" in bases).expect(True)
    yield run(KINDS + tensor + "Op.apply(x).sum().backward()\nsorted(kinds)", x=x).expect(["ndarray"])
    yield run(op + tensor + "(Op.apply(x) + Op.apply(2 * x)).sum().backward()\nx.grad", x=x).expect(
        (1 + np.tanh(x / 2)) / 2 + 1 + np.tanh(x))  # fmt: skip
    changed = "y = x * 1\nz = Op.apply(y)\ny += 1\nz.sum().backward()"
    yield run(op + tensor + changed, x=x).expect(Raises("RuntimeError", "modified by an inplace"))


# --- 14.9 from an empty file ---------------------------------------------------------------------------

SEVEN = "a, b = Tensor(2.0, requires_grad=True), Tensor(3.0, requires_grad=True)\nc, d = a + b, a * b\ny = c + d + c * d\n"
PAIR = "x, z = Tensor(x, requires_grad=True), Tensor(z, requires_grad=True)\ny = {}\n"

COMPLETE = "The gradient of such a tensor is the sum of both contributions, and it is passed on when both are there."
PASSES = "x = Tensor(x, requires_grad=True)\nfor _ in range(2):\n    (x * x).backward(v)\nx.grad"
ONE_NUMBER = "x = Tensor(x, requires_grad=True)\n(x * x).backward()\nx.grad"
LONG_CHAIN = (
    "On a chain of 1,500 operations, a function that calls itself for each parent calls itself 1,500 times, which is more than "
    "Python allows. Which list could hold the tensors still to be visited, so that a loop can go through them?"
)
ONE = "x = Tensor(x, requires_grad=True)\ny = {}\n"
UNARY: dict[str, tuple[Rule, Rule]] = {
    "-x": (lambda x: -x, lambda x: -np.ones_like(x)),
    "2.5 - x": (lambda x: 2.5 - x, lambda x: -np.ones_like(x)),
    "x / -4.0": (lambda x: x / -4, lambda x: np.full_like(x, -0.25)),
    "x ** 2": (lambda x: x * x, lambda x: 2 * x),
    "x ** 3": (lambda x: x * x * x, lambda x: 3 * x * x),
    "x ** 0.5": (np.sqrt, lambda x: 0.5 / np.sqrt(x)),
    "x.exp()": (np.exp, np.exp),
    "x.log()": (np.log, lambda x: 1 / x),
    "x.tanh()": (np.tanh, lambda x: 1 / np.cosh(x) ** 2),
    "x.relu()": (lambda x: np.maximum(x, 0), lambda x: np.where(x > 0, 1.0, 0.0)),
    "x + 2.5": (lambda x: x + 2.5, lambda x: np.ones_like(x)),
    "2.5 + x": (lambda x: 2.5 + x, lambda x: np.ones_like(x)),
    "3.0 * x": (lambda x: 3 * x, lambda x: np.full_like(x, 3)),
    "x * x": (lambda x: x**2, lambda x: 2 * x),
    "x + x": (lambda x: 2 * x, lambda x: np.full_like(x, 2)),
}
BINARY: dict[str, tuple[Rule, Rule, Rule]] = {
    "x - z": (lambda x, z: x - z, lambda x, z: 1 + 0 * x, lambda x, z: -1 + 0 * z),
    "x / z": (lambda x, z: x / z, lambda x, z: 1 / z + 0 * x, lambda x, z: -x / z**2),
    "x + z": (lambda x, z: x + z, lambda x, z: 1 + 0 * x, lambda x, z: 1 + 0 * z),
    "x * z": (lambda x, z: x * z, lambda x, z: z + 0 * x, lambda x, z: x + 0 * z),
}
# An operation saved something that is changed in place. What follows has to be an error, or the gradient without a change.
GUARD = (
    "k, answers = Tensor(k), []\nfor which in ['nothing', {}]:\n    a = Tensor(x, requires_grad=True)\n    y = a * 1.0\n"
    "    w = {}\n    if which != 'nothing':\n        {{'y': y, 'w': w, 'y.detach()': y.detach(), 'k': k}}[which].add_(1.0)\n"
    "    try:\n        w.sum().backward()\n        answers.append(a.grad)\n    except RuntimeError as error:\n"
    "        answers.append(str(error))\nanswers"
)
CHANGED = "Each of these is changed once before backward: {}. Where False stands, the gradient is another one than without " \
          "the change, and no error says so."
SAVING = ("y * k", "k * y", "y / k", "k / y", "y ** 3", "y.exp()", "y.log()", "y.tanh()", "(y - 2.0).relu()", "y @ k", "k @ y")


def noticed(found: Any) -> list[bool]:
    """Whether the gradient after each change is that without one, or an error about a change in place came in its stead."""
    def shown(got: Any) -> Any:
        return got if type(got) is str or got is None else np.asarray(got, dtype=float)

    first, *others = map(shown, found)
    return [("place" in one or one == first) if type(one) is str else np.array_equal(one, first) for one in others]


def in_place(rng: np.random.Generator) -> Iterator[Probe]:
    """For each operation that saves something: its input, its result, its detached input and its constant are changed."""
    x, k = np.abs(numbers(rng, 3)), numbers(rng, 3)
    a, b = numbers(rng, 2, 3), numbers(rng, 3, 2)
    for text in SAVING:
        changed = ["y"] if "@" in text else ["y", "w", "y.detach()"]
        changed += ["k"] * ("k" in text)
        asked = run(GUARD.format(repr(changed)[1:-1], text), x=a if "@" in text else x, k=b if "@" in text else k)
        words = ", ".join(f"the result w of `{text}`" if what == "w" else f"`{what}`" for what in changed)
        yield asked.on(CHANGED.format(words)).seen_as(noticed).expect([True] * len(changed))


def fitted(g: Array, shape: tuple[int, ...]) -> Array:
    """A gradient in its input's shape, one entry after the other."""
    out = np.zeros(shape)
    for index in np.ndindex(g.shape):
        own = index[len(index) - len(shape) :]
        out[tuple(0 if n == 1 else i for i, n in zip(own, shape, strict=True))] += g[index]
    return out


def elementwise(rng: np.random.Generator) -> Iterator[Probe]:
    """Value and gradient of operations on entries, under uneven upstream gradients and broadcasting."""
    x, v = numbers(rng, 2, 3) / 2, numbers(rng, 2, 3)
    for text, (value, slope) in UNARY.items():
        at = np.abs(x) if text in ("x ** 0.5", "x.log()") else x
        yield run(ONE.format(text) + "y.backward(v)\n[y.data, x.grad]", x=at, v=v).expect([value(at), v * slope(at)])
    for text, (f, left, right) in BINARY.items():
        for shape in ((2, 3), (3,), (2, 1)):
            z = numbers(rng, *shape)
            yield run(PAIR.format(text) + "y.backward(v)\n[y.data, x.grad, z.grad]", x=x, z=z, v=v).expect(
                [f(x, z), fitted(v * left(x, z), x.shape), fitted(v * right(x, z), z.shape)])  # fmt: skip
    yield run(ONE.format("x.tanh()") + "y.backward(v)\nx.grad", x=x, v=1e7 * v).expect(1e7 * v / np.cosh(x) ** 2)
    kink = np.array([-1.5, 0.0, 2.0])
    yield run(ONE.format("x.relu()") + "y.backward(v)\nx.grad", x=kink, v=v[0]).on(
        "One entry is exactly 0. Which derivative has relu there?").expect(v[0] * [0, 0, 1])  # fmt: skip


def with_axes(rng: np.random.Generator) -> Iterator[Probe]:
    """Matrix product, sums, means, reshape and index: values and gradients."""
    x, v = numbers(rng, 2, 3) / 2, numbers(rng, 2, 3)
    w, u = numbers(rng, 3, 4), numbers(rng, 2, 4)
    yield run(PAIR.format("x @ z") + "y.backward(v)\n[y.data, x.grad, z.grad]", x=x, z=w, v=u).expect(
        [x @ w, np.einsum("ik,jk->ij", u, w), np.einsum("ij,ik->jk", x, u)])  # fmt: skip
    p, q, r = numbers(rng, 3, 3), numbers(rng, 3, 3), numbers(rng, 3, 3)  # square: only the order decides
    yield run(PAIR.format("x @ z") + "y.backward(v)\n[x.grad, z.grad]", x=p, z=q, v=r).expect(
        [np.einsum("ik,jk->ij", r, q), np.einsum("ij,ik->jk", p, r)])  # fmt: skip
    yield run(ONE.format("x.sum()") + "(y * 2.5).backward()\n[float(y.data), x.grad]", x=x).expect(
        [float(x.sum()), np.full((2, 3), 2.5)])  # fmt: skip
    yield run(ONE.format("x.mean()") + "(y * 2.5).backward()\n[float(y.data), x.grad]", x=x).expect(
        [float(x.sum() / 6), np.full((2, 3), 2.5 / 6)])  # fmt: skip
    yield run(ONE.format("x.sum(axis=0)") + "y.backward(v)\nx.grad", x=x, v=v[0]).expect(np.array([v[0], v[0]]))
    yield run(ONE.format("x.sum(axis=1)") + "y.backward(v)\nx.grad", x=x, v=v[:, 0]).expect(v[:, :1] + 0 * x)
    yield run(ONE.format("x.reshape(3, 2)") + "y.backward(v)\n[y.data, x.grad]", x=x, v=v.reshape(3, 2)).expect(
        [x.reshape(3, 2), v])  # fmt: skip
    yield run(ONE.format("x[1]") + "y.backward(v)\nx.grad", x=x, v=v[0]).expect(np.array([0 * v[0], v[0]]))
    yield run(ONE.format("x[[0, 0, 1]]") + "y.backward(v)\nx.grad", x=x[0], v=v[0]).expect(
        np.array([v[0, 0] + v[0, 1], v[0, 2], 0.0]))  # fmt: skip
    box = numbers(rng, 2, 2, 3)
    yield run(ONE.format("x.sum(axis=2)") + "y.backward(v)\nx.grad", x=box, v=v[:, :2]).expect(v[:, :2, None] + 0 * box)


def probes_14_9(rng: np.random.Generator) -> Iterator[Probe]:
    yield from (renamed(probe) for probe in requirements(rng))


def renamed(probe: Probe) -> Probe:
    """The same program for the engine that is written from an empty file."""
    code = probe.code.replace("Tensor", "MyTensor").replace("no_grad()", "my_no_grad()")
    return dataclasses.replace(probe, code=code)


def requirements(rng: np.random.Generator) -> Iterator[Probe]:
    yield from elementwise(rng)
    yield from with_axes(rng)
    x, v = numbers(rng, 2, 3) / 2, numbers(rng, 2, 3)
    yield from of_the_pass(rng, x)
    yield from what_raises(x, v)
    yield from in_place(rng)
    yield from of_leaves(x)
    yield from what_is_recorded()
    yield from drawn(rng, x, v)
    yield from after_errors(rng)


SHORT_CUT = "x = Tensor(3.0, requires_grad=True)\np = x * 2.0\nq = p * 5.0\n(p + q).backward()\nfloat(x.grad)"


def of_the_pass(rng: np.random.Generator, x: Any) -> Iterator[Probe]:
    """In which order, how often, and from where to where a backward pass goes."""
    seven = run(SEVEN + "y.backward()\n[float(a.grad), float(b.grad)]")
    yield seven.on("c and d are used twice, by the sum and by their product. " + COMPLETE).expect([25.0, 19.0])
    yield run(SEVEN + "y.backward(retain_graph=True)\ny.backward()\n[float(a.grad), float(b.grad)]").on(
        "Two passes run through one graph, and c and d are used twice in it.").expect([50.0, 38.0])  # fmt: skip
    chain = "x = Tensor(0.5, requires_grad=True)\ny = x\nfor _ in range(1500):\n    y = y + 1.0\ny.backward()\nfloat(x.grad)"
    yield run(chain).on(LONG_CHAIN).expect(1.0)
    yield run(chain.replace("1500", "40").replace("y + 1.0", "y + y")).on(MANY_PATHS).expect(2.0**40)
    yield run("x = Tensor(3.0, requires_grad=True)\nfor _ in range(2):\n    (x * x).backward()\nfloat(x.grad)").expect(12.0)
    yield run(SHORT_CUT).on("p is used twice, by q and by the sum. " + COMPLETE).expect(12.0)
    two = "x = Tensor(3.0, requires_grad=True)\ny, z = x * x, x * 5.0\ny.backward()\nz.backward()\nfloat(x.grad)"
    yield run(two).expect(11.0)
    yield run("x, k = Tensor(3.0, requires_grad=True), Tensor(4.0)\n(x * k).backward()\nk.grad").on(
        "k requires no gradient, so its grad remains None.").expect(None)  # fmt: skip
    yield run(ONE.format("x * 2.0") + "y.sum().backward()\ny.grad", x=x).on(
        "y was computed, so its gradient is only passed on. Which tensors store theirs in `grad`?").expect(None)  # fmt: skip
    box, thin, deep = numbers(rng, 2, 2, 3), numbers(rng, 2, 1), numbers(rng, 2, 2, 3)
    yield run(PAIR.format("x * z") + "y.backward(v)\nz.grad", x=box, z=thin, v=deep).expect(fitted(deep * box, (2, 1)))
    yield run("x = Tensor(3.0, requires_grad=True)\nx.backward()\nfloat(x.grad)").on(
        "The pass begins and ends at this leaf: its gradient is dx/dx.").expect(1.0)  # fmt: skip
    yield run("x = Tensor([[3.0]], requires_grad=True)\n(x * x).backward()\nx.grad").on(
        "The pass begins with a gradient in the shape of the output, here (1, 1).").expect(np.array([[6.0]]))  # fmt: skip
    yield run("x = Tensor([3, 4], requires_grad=True)\n(x * 0.5).backward([1.0, 3.0])\n[x.data, x.grad]").expect(
        [np.array([3.0, 4.0]), np.array([0.5, 1.5])])  # fmt: skip
    yield run("x = Tensor(np.array([3, 4]))\nx.add_(0.5)\nx.data").expect(np.array([3.5, 4.5]))


def what_raises(x: Any, v: Any) -> Iterator[Probe]:
    """Errors, with a word of PyTorch's message."""
    yield run(ONE.format("x * x") + "y.backward()", x=x).expect(Raises("RuntimeError", "scalar outputs"))
    yield run(ONE.format("x * x") + "y.backward(v)", x=x, v=v[0]).expect(Raises("RuntimeError", "hape"))
    yield run(ONE.format("(x * x).sum()") + "y.backward()\ny.backward()", x=x).expect(Raises("RuntimeError", "second time"))
    again = "x = Tensor(x, requires_grad=True)\na = x * x\na.sum().backward()\na.sum().backward()"
    yield run(again, x=x).expect(Raises("RuntimeError", "second time"))
    yield run("Tensor(3.0).backward()").expect(Raises("RuntimeError", "require grad"))
    yield run("Tensor(x) @ Tensor(x)", x=x).expect(Raises("ValueError", "matmul"))
    yield run("Tensor(x) + Tensor(v)", x=x, v=np.ones(4)).expect(Raises("ValueError", "add"))


def of_leaves(x: Any) -> Iterator[Probe]:
    """What is changed in place, and what may not change."""
    yield run("Tensor(3.0, requires_grad=True).add_(1.0)").on(
        "This is a leaf that requires a gradient: add_ must not change it outside of `my_no_grad`."
    ).expect(Raises("RuntimeError", "place"))
    yield run("x = Tensor(3.0, requires_grad=True)\ntry:\n    x.add_(1.0)\nexcept RuntimeError:\n    pass\nfloat(x.data)").on(
        "The leaf must not change: is the error raised before the numbers are changed?").expect(3.0)  # fmt: skip
    yield run("x = Tensor(x, requires_grad=True)\ny = x * 1.0\ny.add_(1.0)\n(y * y).sum().backward()\nx.grad", x=x).expect(
        2 * (x + 1)
    )
    yield run("y = Tensor(x, requires_grad=True) * 1.0\nd = y.detach()\nd.add_(1.0)\ny.data", x=x).expect(x + 1)
    yield run("v = np.array([2.0, 3.0])\nx = Tensor([1.0, 1.0], requires_grad=True)\n(x * 1.0 + x).backward(v)\nv"
              ).on("The array that the caller gave to backward has changed. What is added to it in place?").expect(
              np.array([2.0, 3.0]))  # fmt: skip
    yield run("a, b = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0, 4.0], requires_grad=True)\n"
              "(a + b).sum().backward()\na.grad += 10\nb.grad").on("Both gradients are one and the same array here, so a "
              "change of one changes the other. Which line stores an array that something else holds, too?").expect(
              np.array([1.0, 1.0]))  # fmt: skip


def what_is_recorded() -> Iterator[Probe]:
    """Of what a backward pass knows, and of what it does not."""
    yield run("x = Tensor(3.0, requires_grad=True)\n(x.detach() * x).backward()\nfloat(x.grad)").on(
        "Of these two operands, the second one alone requires a gradient. Does the product require one?"
    ).expect(3.0)
    yield run("Tensor(3.0, requires_grad=True).detach().requires_grad").on(
        "What was detached requires no gradient and has no history.").expect(False)  # fmt: skip
    yield run("x = Tensor(3.0)\n[(x * Tensor(2.0)).requires_grad, (x * 2.0).requires_grad]").on(
        "Neither a plain number nor one of these tensors requires a gradient. Does a product of them require one?").expect(
        [False, False])  # fmt: skip
    yield run("x = Tensor(3.0, requires_grad=True)\nwith no_grad():\n    y = x * x\ny.requires_grad").on(
        "Inside `with my_no_grad()` nothing is recorded.").expect(False)  # fmt: skip
    yield run("x = Tensor([2.0, 3.0])\n" + EACH).on("x requires no gradient, and " + NAMED).expect([False] * 10)
    yield run("x = Tensor([2.0, 3.0], requires_grad=True)\nwith no_grad():\n    made = " + MADE
              + "\n[y.requires_grad for y in made]").on(
        "Inside `with my_no_grad()` nothing is recorded, and " + NAMED).expect([False] * 10)  # fmt: skip
    yield run("with no_grad():\n    with no_grad():\n        pass\n    y = Tensor(3.0, requires_grad=True) * 2.0\n"
              "y.requires_grad").on("The inner block has ended, and the outer one has not.").expect(False)  # fmt: skip


def drawn(rng: np.random.Generator, x: Any, v: Any) -> Iterator[Probe]:
    """The same with other numbers for each student."""
    one, (a, b), whole = numbers(rng, 1, 1), numbers(rng, 2).tolist(), rng.integers(-9, 10, size=3)
    yield run(PASSES, x=x, v=v).expect(4 * v * x)
    yield run(ONE_NUMBER, x=one).expect(2 * one)
    both = run(SHORT_CUT.replace("2.0", "a").replace("5.0", "b"), a=a, b=b)
    yield both.on("p is used twice, by q and by the sum. " + COMPLETE).expect(a + a * b)
    retained = "y = (x * x).sum()\nfor _ in range(2):\n    y.backward(retain_graph=True)\nx.grad"
    yield run("x = Tensor(x, requires_grad=True)\n" + retained, x=x).expect(4 * x)
    yield run("x = Tensor(x, requires_grad=True)\n(x.detach() * x).backward(v)\nx.grad", x=x, v=v).expect(v * x)
    yield run("x = Tensor(x)\nx.add_(0.5)\nx.data", x=whole).expect(whole + 0.5)
    yield run("Tensor(x).sum().backward()", x=x).expect(Raises("RuntimeError", "require grad"))


def after_errors(rng: np.random.Generator) -> Iterator[Probe]:
    """Blocks without recording. The errors come last, because an engine that fails there records nothing afterwards."""
    depths, fails = rng.permutation([0, 0, 0, 1, 2, 3]).tolist(), [bool(n) for n in rng.permutation([0, 0, 0, 1, 1, 1])]
    yield run(BLOCKS, depths=depths).on("An inner block has ended, and the outer one has not.").expect([not n for n in depths])
    yield run("x = Tensor(3.0, requires_grad=True)\nwith no_grad():\n    x.add_(1.0)\n(x * x).backward()\nfloat(x.grad)"
              ).on("Inside the block a leaf may be changed. After it, operations are recorded again.").expect(8.0)  # fmt: skip
    yield run("seen = False\ntry:\n    with no_grad():\n        raise KeyError\nexcept KeyError:\n    seen = True\n"
              "[seen, (Tensor(3.0, requires_grad=True) * 2.0).requires_grad]").on(AFTER).expect([True, True])  # fmt: skip
    yield run(ERRORS, fails=fails).on(AFTER).expect([[each, True] for each in fails])


BLOCKS = (
    "x = Tensor(3.0, requires_grad=True)\ndef recorded(blocks):\n    if not blocks:\n        return (x * x).requires_grad\n"
    "    with no_grad():\n        recorded(blocks - 1)\n        return (x * x).requires_grad\n"
    "[recorded(blocks) for blocks in depths]"
)
ERRORS = (
    "x = Tensor(3.0, requires_grad=True)\ndef raised(error):\n    try:\n        with no_grad():\n            if error:\n"
    "                raise KeyError\n    except KeyError:\n        return True\n    return False\n"
    "[[raised(error), (x * x).requires_grad] for error in fails]"
)
MADE = "(x * 2.0, x - x, x / x, x ** 2, x.exp(), x.log(), x.tanh(), x.relu(), x.sum(), x[0])"
EACH = f"[y.requires_grad for y in {MADE}]"
NAMED = "these are `x * 2.0`, `x - x`, `x / x`, `x ** 2`, exp, log, tanh, relu, sum and `x[0]`. Which of them require one?"
AFTER = (
    "An error has left the block, and what comes afterwards has to be recorded again: what switches recording on again has to "
    "run after an error, too, and the error has to go on."
)
MANY_PATHS = (
    "These 40 sums are connected by 2**40 paths. If your pass follows each path by itself, it never ends. How often may each "
    "tensor be visited?"
)
LESSON = lesson(
    __file__,
    globals() | engine() | {"__name__": "__main__"},  # a class of an answer is a student's, and no tensor of the course's
    {
        "14.6": {"probes": probes_14_6, "prelude": NUMPY, "scaffold": engine},
        "14.7": {"probes": probes_14_7, "prelude": TEST},
        "14.8": {"scaffold": engine},
        "14.8.1": {"probes": probes_forwards, "prelude": NUMPY},
        "14.8.2": {"probes": probes_twice, "prelude": NUMPY, "scaffold": engine},
        "14.8.3": {"probes": probes_checkpoint, "prelude": SIGNALS},
        "14.8.4": {"probes": probes_hooks, "prelude": NUMPY, "scaffold": engine},
        "14.8.5": {"probes": probes_export, "prelude": EXPORTED},
        "14.9": {"probes": probes_14_9, "prelude": NUMPY},
    },
)
