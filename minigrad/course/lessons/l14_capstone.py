"""Lesson 14: a tensor engine in six steps, an operation and an extension of one's own, and an engine from an empty file.

The steps use the parts that the student wrote in lessons 03, 06, 07, 08 and 11. Right answers are formulas in numpy,
and, for the twenty losses, PyTorch's. Answers are in 14_capstone.md, and the engines that they change in 14_engine.py and
14_own_engine.py.
"""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as torch  # noqa: F401 (the answers of the text use it)
from minigrad.autograd import Function  # noqa: F401 (the same)

from ..exercise import Outside, Probe, Raises, numbers, run
from ..lesson_text import lesson
from .l12_digits import by_hand, forty, in_which_step, start

Array = np.ndarray[Any, Any]
Rule = Callable[..., Any]
NUMPY = "import numpy as np"

# --- 14.1 to 14.6: the engine, step by step ------------------------------------------------------------


@functools.cache
def engine() -> types.CodeType:
    """The engine of all six steps."""
    file = Path(__file__).with_name("14_engine.py")
    return compile(file.read_text(encoding="utf-8"), file.name, "exec")


def whole() -> dict[str, Any]:
    """The finished engine: the steps before and after the one that is asked for."""
    space: dict[str, Any] = {}
    exec(engine(), space)
    return {name: thing for name, thing in space.items() if callable(thing)}


def fitted(g: Array, shape: tuple[int, ...]) -> Array:
    """A gradient in its input's shape, one entry after the other."""
    out = np.zeros(shape)
    for index in np.ndindex(g.shape):
        own = index[len(index) - len(shape) :]
        out[tuple(0 if n == 1 else i for i, n in zip(own, shape, strict=True))] += g[index]
    return out


# --- 14.1 an operation that is recorded ----------------------------------------------------------------

TWO = "a, b = Tensor(a, requires_grad=True), Tensor(b, requires_grad=True)\n"
CUBE = "y = apply('cube', lambda x: x**3, (lambda g, out, x: g * 3 * x**2,), Tensor(a, requires_grad=True))\n"
RULES = "[rule(g, y.data, *[p.data for p in y.parents]) for rule in y.rules]"


def probes_14_1(rng: np.random.Generator) -> Iterator[Probe]:
    a, b, g = numbers(rng, 2, 3), numbers(rng, 2, 3), numbers(rng, 2, 3)
    given = {"a": a, "b": b}
    yield run(TWO + "(a + b).data", **given).expect(a + b)
    yield run(TWO + "(a * b).data", **given).expect(a * b)
    yield run(TWO + "[(2.5 * a).data, (b + 2.5).data]", **given).expect([2.5 * a, b + 2.5])
    yield run(TWO + "y = a * b\n[y.op, y.grad]", **given).expect(["mul", None])
    parents = "\n[len(y.parents), *(p.grad for p in y.parents)]"
    yield run(TWO + "y = a * b\na.grad, b.grad = 1.5, 2.5" + parents, **given).expect([2, 1.5, 2.5])
    yield run(TWO + "y = a * a\na.grad = 1.5" + parents, **given).expect([2, 1.5, 1.5])
    yield run(TWO + "y = a * 2.5\n[type(p).__name__ for p in y.parents]", **given).expect(["Tensor", "Tensor"])
    yield run(TWO + f"y = a * b\n{RULES}", g=g, **given).expect([g * b, g * a])
    yield run(TWO + f"y = a + b\n{RULES}", g=g, **given).expect([g, g])
    yield run(TWO + f"y = a * 2.5\n{RULES}[:1]", g=g, **given).expect([g * 2.5])
    constant = "y = Tensor(a) * Tensor(b)\n[y.requires_grad, len(y.parents)]"
    yield run(constant, **given).on("Neither operand requires a gradient. What has the result to store?").expect([False, 0])
    yield run("(Tensor(a) * 2.5 + 1.0).requires_grad", a=a).on(
        "Neither a plain number nor `Tensor(a)` requires a gradient. Does the result require one?").expect(False)  # fmt: skip
    yield run("a, b = Tensor(a), Tensor(b, requires_grad=True)\n[(a * b).requires_grad, (b * a).requires_grad]", **given
              ).on("One of the two operands requires a gradient. Does the product require one?").expect(
              [True, True])  # fmt: skip
    yield run(CUBE + "y.data", a=a).expect(a**3)
    yield run(CUBE + f"[y.op, *{RULES}]", a=a, g=g).expect(["cube", g * 3 * a**2])
    yield run(TWO + "y = a * b\ny = a + b\n[a.data, b.data]", **given).on(
        "A sum or a product has changed the array of one of its operands. The result needs an array of its own."
    ).expect([a, b])


# --- 14.2 the backward pass ----------------------------------------------------------------------------

SEVEN = "a, b = Tensor(2.0, requires_grad=True), Tensor(3.0, requires_grad=True)\nc, d = a + b, a * b\ny = c + d + c * d\n"
PAIR = "x, z = Tensor(x, requires_grad=True), Tensor(z, requires_grad=True)\ny = {}\n"


COMPLETE = "The gradient of such a tensor is the sum of both contributions, and it is passed on when both are there."
PASSES = "x = Tensor(x, requires_grad=True)\nfor _ in range(2):\n    (x * x).backward(v)\nx.grad"
ONE_NUMBER = "x = Tensor(x, requires_grad=True)\n(x * x).backward()\nx.grad"
LONG_CHAIN = (
    "On a chain of 1,500 operations, a function that calls itself for each parent calls itself 1,500 times, which is more than "
    "Python allows. Which list could hold the tensors still to be visited, so that a loop can go through them?"
)


def in_order(found: list[Any]) -> str:
    """What is wrong with a topological order, told by its length, its last tensor and whether c comes after a."""
    length, last, after = found
    if length != 7:
        return f"Your list holds {length} tensors, and this graph has 7: the root and each of its ancestors, once."
    if last != 1.5:
        return "The last tensor of your list is not the root. Every tensor comes after its parents, so the root comes last."
    return "" if after else "c comes before its parent a in your list. When are all parents of a tensor in it?"


def probes_14_2(rng: np.random.Generator) -> Iterator[Probe]:
    x, z, v = numbers(rng, 2, 3), numbers(rng, 2, 3), numbers(rng, 2, 3)

    def replaced(found: list[Any]) -> str:
        only = [np.shape(found[0]) == v.shape and np.allclose(found[0], one) for one in (v, v * z)]
        words = "x is used twice, and its grad is one of the two contributions only. Does the second one replace the first? "
        return words + "Add it to what is there." if any(only) else ""

    yield run(PAIR.format("x * z + x") + "y.backward(v)\n[x.grad, z.grad]", x=x, z=z, v=v).told_by(replaced).expect(
        [v * (z + 1), v * x])  # fmt: skip
    yield run(SEVEN + "y.backward()\n[float(a.grad), float(b.grad)]").on(
        "c and d are used twice, by the sum and by their product. " + COMPLETE).expect([25.0, 19.0])  # fmt: skip
    yield run("x = Tensor(3.0, requires_grad=True)\nfor _ in range(2):\n    (x * x).backward()\nfloat(x.grad)").expect(12.0)
    for shape in ((3,), (2, 1), ()):
        t = numbers(rng, *shape) if shape else np.array(float(numbers(rng, 1)[0]))
        yield run(PAIR.format("x * z") + "y.backward(v)\n[x.grad, z.grad]", x=x, z=t, v=v).expect(
            [v * t, fitted(v * x, shape)])  # fmt: skip
    yield run("[unbroadcast(v, (2, 1)), unbroadcast(v, (3,)), unbroadcast(v, (1, 3)), unbroadcast(v, (1,))]", v=v).expect(
        [v.sum(1, keepdims=True), v.sum(0), v.sum(0, keepdims=True), v.sum(keepdims=True)[0]])  # fmt: skip
    order = SEVEN + "order = topological_order(y)\ny.grad = 1.5\n"
    yield run(order + "[len(order), order[-1].grad, order.index(c), order.index(a)]").seen_as(
        lambda found: [*found[:2], found[2] > found[3]]).told_by(in_order).expect(
        [7, 1.5, True])  # fmt: skip
    chain = "x = Tensor(0.5, requires_grad=True)\ny = x\nfor _ in range(1500):\n    y = y + 1.0\ny.backward()\nfloat(x.grad)"
    yield run(chain).on(LONG_CHAIN).expect(1.0)
    cut = "x = Tensor(3.0, requires_grad=True)\np = x * 2.0\nq = p * 5.0\n(p + q).backward()\nfloat(x.grad)"
    yield run(cut).on("p is used twice, by q and by the sum. " + COMPLETE).expect(12.0)
    yield run("x, k = Tensor(3.0, requires_grad=True), Tensor(4.0)\n(x * k).backward()\nk.grad"
              ).on("k requires no gradient, so its grad remains None.").expect(None)  # fmt: skip
    yield run("x = Tensor(3.0, requires_grad=True)\ny = x * 2.0\n(y * y).backward()\ny.grad").on(
        "y was computed, so its gradient is only passed on. Which tensors store theirs in `grad`?").expect(None)
    yield run("x = Tensor([[3.0]], requires_grad=True)\n(x * x).backward()\nx.grad").expect(np.array([[6.0]]))
    own = "(a + b).backward([2.0, 3.0])\na.grad += 10\n[a.grad, b.grad]"
    yield run(TWO + own, a=x[0, :2], b=z[0, :2]).expect([np.array([12.0, 13.0]), np.array([2.0, 3.0])])
    yield run("v = np.array([2.0, 3.0])\nx = Tensor([1.0, 1.0], requires_grad=True)\n(x * 1.0 + x).backward(v)\nv").expect(
        np.array([2.0, 3.0]))  # fmt: skip
    yield run(PAIR.format("x * z") + "y.backward()", x=x, z=z).expect(Raises("RuntimeError", "scalar outputs"))
    yield run(PAIR.format("x * z") + "y.backward(v)", x=x, z=z, v=v.T).on(
        "The gradient has the shape (3, 2), and y has the shape (2, 3).").expect(Raises("RuntimeError", "hape"))  # fmt: skip
    out = "y = apply('square', np.square, (lambda g, out, x: g * out,), x) * 5.0\ny.backward(v)\nx.grad"
    yield run("x = Tensor(x, requires_grad=True)\n" + out, x=x, v=v).on(
        "A rule gets the result of its own operation as `out`.").expect(5 * v * x**2)  # fmt: skip
    yield run(PAIR.format("x * z") + "y.backward(v)", x=x, z=z, v=v[0]).expect(Raises("RuntimeError", "shape"))
    yield run(PASSES, x=x, v=v).expect(4 * v * x)
    yield run("x, k = Tensor(x, requires_grad=True), Tensor(k)\n(x * k).backward(v)\nk.grad", x=x, k=z, v=v).expect(None)
    yield run("x = Tensor(x, requires_grad=True)\ny = x * 2.0\n(y * y).backward(v)\ny.grad", x=x, v=v).expect(None)
    yield run(ONE_NUMBER, x=(one := numbers(rng, 1, 1))).expect(2 * one)


# --- 14.3 operations on entries ------------------------------------------------------------------------

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
}
BINARY: dict[str, tuple[Rule, Rule, Rule]] = {
    "x - z": (lambda x, z: x - z, lambda x, z: 1 + 0 * x, lambda x, z: -1 + 0 * z),
    "x / z": (lambda x, z: x / z, lambda x, z: 1 / z + 0 * x, lambda x, z: -x / z**2),
}


def elementwise(rng: np.random.Generator, unary: dict[str, Any], binary: dict[str, Any]) -> Iterator[Probe]:
    """Value and gradient of operations on entries, under uneven upstream gradients and broadcasting."""
    x, v = numbers(rng, 2, 3) / 2, numbers(rng, 2, 3)
    for text, (value, slope) in unary.items():
        at = np.abs(x) if text in ("x ** 0.5", "x.log()") else x
        yield run(ONE.format(text) + "y.backward(v)\n[y.data, x.grad]", x=at, v=v).expect([value(at), v * slope(at)])
    for text, (f, left, right) in binary.items():
        for shape in ((2, 3), (3,), (2, 1)):
            z = numbers(rng, *shape)
            yield run(PAIR.format(text) + "y.backward(v)\n[y.data, x.grad, z.grad]", x=x, z=z, v=v).expect(
                [f(x, z), fitted(v * left(x, z), x.shape), fitted(v * right(x, z), z.shape)])  # fmt: skip
    yield run(ONE.format("x.tanh()") + "y.backward(v)\nx.grad", x=x, v=1e7 * v).expect(1e7 * v / np.cosh(x) ** 2)
    kink = np.array([-1.5, 0.0, 2.0])
    yield run(ONE.format("x.relu()") + "y.backward(v)\nx.grad", x=kink, v=v[0]).on(
        "One entry is exactly 0. Which derivative has relu there?").expect(v[0] * [0, 0, 1])  # fmt: skip


def probes_14_3(rng: np.random.Generator) -> Iterator[Probe]:
    yield from elementwise(rng, UNARY, BINARY)
    x = numbers(rng, 2, 3)
    for text, op in {"x - x": "sub", "x / x": "div", "x ** 2": "pow", "x.exp()": "exp", "x.log()": "log", "x.tanh()": "tanh",
                     "x.relu()": "relu"}.items():
        yield run(f"x = Tensor(x, requires_grad=True)\n({text}).op", x=np.abs(x)).on(
            f"The op of this result has to be {op!r}, and `apply` stores it.").expect(op)  # fmt: skip


# --- 14.4 operations with axes -------------------------------------------------------------------------


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


def probes_14_4(rng: np.random.Generator) -> Iterator[Probe]:
    yield from with_axes(rng)
    x, k = numbers(rng, 3, 4), np.array([2, 0, 2])
    yield run("x = Tensor(x, requires_grad=True)\n[x.reshape(12).data, x.reshape(2, 6).data]", x=x).on(
        "`x.reshape(12)` has one axis, and `x.reshape(2, 6)` has two.").expect([x.reshape(12), x.reshape(2, 6)])  # fmt: skip
    yield run("x = Tensor(x, requires_grad=True)\nx[np.arange(3), k].sum().backward()\nx.grad", x=x, k=k).expect(np.eye(4)[k])


# --- 14.5 two losses -----------------------------------------------------------------------------------

MSE = "p, t = Tensor(p, requires_grad=True), Tensor(t, requires_grad=True)\nloss = mse_loss(p, t)\n"
SURPRISE = "z = Tensor(z, requires_grad=True)\nloss = cross_entropy_loss(z, targets)\n"


def probes_14_5(rng: np.random.Generator) -> Iterator[Probe]:
    p, t = numbers(rng, 4, 2), numbers(rng, 4, 2)
    loss = float(np.mean((p - t) ** 2))
    yield run(MSE + "float(loss.data)", p=p, t=t).expect(loss)
    yield run(MSE + "float(loss.data)", p=p[:, 0], t=t[:, 0]).expect(float(np.mean((p - t)[:, 0] ** 2)))
    yield run(MSE + "loss.requires_grad", p=p, t=t).expect(True)
    yield run(MSE + "(5.0 * loss).backward()\n[float(loss.data), p.grad, t.grad]", p=p, t=t).expect(
        [loss, 5 * 2 * (p - t) / 8, -5 * 2 * (p - t) / 8])  # fmt: skip
    z, targets = numbers(rng, 4, 3), np.array([2, 0, 1, 1])
    logs = z - np.logaddexp.reduce(z, axis=1)[:, None]
    loss = float(-logs[np.arange(4), targets].mean())
    yield run(SURPRISE + "float(loss.data)", z=z, targets=targets).expect(loss)
    fewer = float(-logs[np.arange(3), targets[:3]].mean())
    yield run(SURPRISE + "float(loss.data)", z=z[:3], targets=targets[:3]).expect(fewer)
    yield run(SURPRISE + "loss.requires_grad", z=z, targets=targets).expect(True)
    yield run(SURPRISE + "(5.0 * loss).backward()\n[float(loss.data), z.grad]", z=z, targets=targets).expect(
        [loss, 5 * (np.exp(logs) - np.eye(3)[targets]) / 4])  # fmt: skip
    big = np.array([[900.0, 0.0], [0.0, 3.0]])
    yield run(SURPRISE + "float(loss.data)", z=big, targets=np.array([1, 1])).expect(float((900 + np.log1p(np.exp(-3.0))) / 2))
    apart = float(np.round(800 + 100 * rng.random(), 1))  # what is subtracted has to be as large as the largest score
    yield run(SURPRISE + "float(loss.data)", z=np.array([[apart, apart - 2]]), targets=np.array([0])).expect(
        float(np.log1p(np.exp(-2))))
    unlike = np.array([[apart, -apart], [-apart, 2.0]])
    yield run(SURPRISE + "float(loss.data)", z=unlike, targets=np.array([1, 1])).expect(apart)
    yield run("z = Tensor(z)\nloss = cross_entropy_loss(z, targets)\n[loss.requires_grad, z.data]", z=z, targets=targets
              ).expect([False, z])  # fmt: skip


def with_rule(apply: Any, z: Any, targets: Array, rule: Rule) -> Any:
    """Cross-entropy as one operation: its rule gets g, the softmax, and the targets as ones and zeros."""
    hot = np.eye(z.data.shape[1])[targets]

    def logs(z: Array) -> Array:
        return np.asarray(z - np.logaddexp.reduce(z, axis=1)[:, None])

    def forward(z: Array) -> Any:
        return -(logs(z) * hot).sum(axis=1).mean()

    return apply("cross_entropy", forward, (lambda g, out, z: rule(g, np.exp(logs(z)), hot),), z)


# --- 14.6 your engine reads digits ---------------------------------------------------------------------

# PyTorch 2.13.0, CPU, float64: TWENTY on the first forty digits of the file.
TWENTY_LOSSES: list[float] = [
    2.281595327309435,
    2.2766393133790084,
    2.109654210401172,
    2.268287195046731,
    2.210001527151152,
    2.084080931910443,
    1.9694565188273205,
    1.8597074101943452,
    2.0106079073591965,
    1.6425698806513775,
    1.9201239728618715,
    1.7587272036336652,
    1.650932080036846,
    1.6798393599570436,
    1.1643723070256091,
    1.7083714862647166,
    1.4857636002091104,
    1.373354224825526,
    1.4025508427085969,
    0.8146620288781617,
]
WEIGHTS = "parameters = [Tensor(w, requires_grad=True) for w in (w1, b1, w2, b2)]\n"
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
        "After each step, the grad of all four parameters is None.").expect([None] * 4)  # fmt: skip
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
    asked = "first = gradient(y, x)\n[float(y.value), float(first.value), float(gradient(first, x).value)]"
    for text, right in cases.items():
        yield run(TWICE.format(text) + asked, **given).expect([float(n) for n in right])
    # the graph of part 1: c = a + b, d = a * b
    graph = "x, z = Deep(2.0), Deep(3.0)\nc, d = x + z, x * z\ny = c + d + c * d\nfirst = gradient(y, x)\n"
    yield run(graph + "[float(n.value) for n in (first, gradient(first, x), gradient(first, z))]").expect([25.0, 6.0, 11.0])
    third = "gradient(gradient(gradient(y, x), x), x)"
    yield run(TWICE.format("x * x * x * x") + f"float({third}.value)", **given).on(
        "What gradient returns has to be recorded: each rule computes with Deep, as in g * other.").expect(24 * a)  # fmt: skip
    yield run(TWICE.format("x * x") + "float(gradient(y, z).value)", **given).on(
        "y does not depend on z. Then gradient returns Deep(0.0).").expect(0.0)  # fmt: skip
    yield run(TWICE.format("x * x") + "float(gradient(x, x).value)", **given).expect(1.0)
    yield run(TWICE.format("x * x") + "gradient(y, x)\nfloat(gradient(y, x).value)", **given).expect(2 * a)
    yield run(TWICE.format("x * z") + "gradient(y, x)\n[float(x.value), float(z.value)]", **given).expect([a, b])


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

    def backward(self, x, g):
        return outside("backward", self.k, x.place, g)
"""
PASS = "g = checkpointed([Layer(k) for k in ks], Signal(x), g, every)\n"


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

    def backward(self, layer: int, place: int, g: float) -> float:
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

WATCHED = SEVEN + "seen = []\n"


def calls(seen: list[Any]) -> str:
    """What the numbers that a hook of c was given show: the contributions to it are 1 and 6."""
    if not seen:
        return "The hook of c was never called. The pass reaches c, so its hook is called, with the gradient of c."
    if len(seen) > 1 and seen[-1] == 7:
        return "The hook is called each time the gradient of c has grown. Call it once, when it is complete."
    if len(seen) > 1:
        return "The hook is called for each contribution. Call it once, with their sum, when all of them are there."
    one = seen[0] in (1, 6)
    return "The hook is called with one contribution of two. Call it when the gradient is complete." if one else ""


def probes_hooks(rng: np.random.Generator) -> Iterator[Probe]:
    grads = "[float(a.grad), float(b.grad)]"
    yield run(WATCHED + "c.register_hook(lambda g: seen.append(float(g)))\ny.backward()\nseen").told_by(calls).expect(
        [7.0])  # fmt: skip
    yield run(WATCHED + f"c.register_hook(lambda g: None)\ny.backward()\n{grads}").expect([25.0, 19.0])
    yield run(WATCHED + f"c.register_hook(lambda g: 10 * g)\ny.backward()\n{grads}").expect([88.0, 82.0])
    yield run(WATCHED + f"c.register_hook(lambda g: 2 * g)\nc.register_hook(lambda g: g + 1)\ny.backward()\n{grads}").expect(
        [33.0, 27.0])  # fmt: skip
    yield run(WATCHED + f"a.register_hook(lambda g: -g)\ny.backward()\n{grads}").expect([-25.0, 19.0])
    yield run(WATCHED + "for t in (a, d, y):\n    t.register_hook(lambda g, t=t: seen.append(float(t.data)))\ny.backward()\n"
              "seen").expect([41.0, 6.0, 2.0])  # fmt: skip
    yield run(WATCHED + "a.register_hook(lambda g: seen.append(float(g)))\nb.backward()\nseen").expect([])
    yield run(SEVEN + "seen = []\na.register_hook(lambda g: seen.append(float(g)))\ny.backward()\n(a * b).backward()\nseen"
              ).expect([25.0, 3.0])  # fmt: skip
    yield run(SEVEN + "y.backward()\n(a * b).backward()\n[float(a.grad), float(b.grad), c.grad]").expect(
        [28.0, 21.0, None])  # fmt: skip
    yield run(TWO + "(a * b).backward()", a=np.ones(2), b=np.ones(2)).expect(Raises("RuntimeError", "scalar outputs"))
    yield run(TWO + "(a * b).backward([1.0])", a=np.ones(2), b=np.ones(2)).expect(Raises("RuntimeError", "shape"))
    yield run(WATCHED + f"c.register_hook(lambda g: 0 * g)\ny.backward()\n{grads}").expect([18.0, 12.0])
    x, v = numbers(rng, 2, 3), numbers(rng, 2, 3)
    yield run(PAIR.format("x * z") + "y.register_hook(lambda g: g * 0.5)\ny.backward(v)\n[x.grad, z.grad]", x=x, z=x[0],
              v=v).expect([v * x[0] / 2, (v * x).sum(0) / 2])  # fmt: skip
    a, b = numbers(rng, 2).tolist()
    at_c, at_d = 1 + a * b, 1 + a + b
    for hooks, right in (
        ("c.register_hook(lambda g: seen.append(float(g)))", [at_c + at_d * b, at_c + at_d * a, [at_c]]),
        ("c.register_hook(lambda g: 2 * g)\nc.register_hook(lambda g: g + 1)",
         [2 * at_c + 1 + at_d * b, 2 * at_c + 1 + at_d * a, []]),
        ("c.register_hook(lambda g: 0 * g)", [at_d * b, at_d * a, []]),
        ("a.register_hook(lambda g: -g)", [-at_c - at_d * b, at_c + at_d * a, []]),
    ):  # fmt: skip
        program = f"{WATCHED}{hooks}\ny.backward()\n[float(a.grad), float(b.grad), seen]"
        yield run(program.replace("Tensor(2.0", "Tensor(a").replace("Tensor(3.0", "Tensor(b"), a=a, b=b).expect(right)
    two_passes = "a.register_hook(lambda g: seen.append(float(g)))\ny.backward()\n(a * b).backward()\nseen"
    yield run((WATCHED + two_passes).replace("Tensor(2.0", "Tensor(a").replace("Tensor(3.0", "Tensor(b"), a=a, b=b).expect(
        [at_c + at_d * b, b])  # fmt: skip


# --- 14.8 export ---------------------------------------------------------------------------------------

EXPORTED = "import numpy as np\nimport minigrad as torch\nfrom minigrad.autograd import Function"
SOFTPLUS = "lambda x: np.log1p(np.exp(x)), lambda g, out, x: g / (1 + np.exp(-x))"
FROM_OUT = "np.exp, lambda g, out, x: g * out"

KINDS = (
    "kinds = set()\n\ndef forward(x):\n    kinds.add(type(x).__name__)\n    return x * x\n\n"
    "def rule(g, out, x):\n    kinds.update(type(a).__name__ for a in (g, out, x))\n    return 2 * g * x\n\n"
    "Op = exported(forward, rule)\n"
)


def probes_export(rng: np.random.Generator) -> Iterator[Probe]:
    x, v = numbers(rng, 2, 3), numbers(rng, 2, 3)
    op = f"Op = exported({SOFTPLUS})\n"
    tensor = "x = torch.tensor(x, requires_grad=True)\n"
    yield run(op + "Op.apply(torch.tensor(x))", x=x).expect(np.logaddexp(0, x))
    yield run(op + tensor + "Op.apply(x).backward(torch.tensor(v))\nx.grad", x=x, v=v).expect(v * (1 + np.tanh(x / 2)) / 2)
    yield run(f"Op = exported({FROM_OUT})\n" + tensor + "(Op.apply(2 * x) * torch.tensor(v)).sum().backward()\nx.grad", x=x,
              v=v).expect(2 * v * np.exp(2 * x))  # fmt: skip
    yield run(op + "[base.__name__ for base in Op.__mro__]").seen_as(lambda bases: "Function" in bases).expect(True)
    yield run(KINDS + tensor + "Op.apply(x).sum().backward()\nsorted(kinds)", x=x).expect(["ndarray"])
    yield run(op + tensor + "(Op.apply(x) + Op.apply(2 * x)).sum().backward()\nx.grad", x=x).expect(
        (1 + np.tanh(x / 2)) / 2 + 1 + np.tanh(x))  # fmt: skip
    changed = "y = x * 1\nz = Op.apply(y)\ny += 1\nz.sum().backward()"
    yield run(op + tensor + changed, x=x).expect(Raises("RuntimeError", "modified by an inplace"))


# --- 14.9 from an empty file ---------------------------------------------------------------------------

ALL_UNARY = UNARY | {
    "x + 2.5": (lambda x: x + 2.5, lambda x: np.ones_like(x)),
    "2.5 + x": (lambda x: 2.5 + x, lambda x: np.ones_like(x)),
    "3.0 * x": (lambda x: 3 * x, lambda x: np.full_like(x, 3)),
    "x * x": (lambda x: x**2, lambda x: 2 * x),
    "x + x": (lambda x: 2 * x, lambda x: np.full_like(x, 2)),
}
ALL_BINARY = BINARY | {
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


def probes_14_9(rng: np.random.Generator) -> Iterator[Probe]:
    yield from (renamed(probe) for probe in requirements(rng))


def renamed(probe: Probe) -> Probe:
    """The same program for the engine that is written from an empty file."""
    code = probe.code.replace("Tensor", "MyTensor").replace("no_grad()", "my_no_grad()")
    return dataclasses.replace(probe, code=code)


def requirements(rng: np.random.Generator) -> Iterator[Probe]:
    yield from elementwise(rng, ALL_UNARY, ALL_BINARY)
    yield from with_axes(rng)
    x, v = numbers(rng, 2, 3) / 2, numbers(rng, 2, 3)
    # the order of the pass
    seven = run(SEVEN + "y.backward()\n[float(a.grad), float(b.grad)]")
    yield seven.on("c and d are used twice, by the sum and by their product. " + COMPLETE).expect([25.0, 19.0])
    yield run(SEVEN + "y.backward(retain_graph=True)\ny.backward()\n[float(a.grad), float(b.grad)]").on(
        "Two passes run through one graph, and c and d are used twice in it.").expect([50.0, 38.0])  # fmt: skip
    chain = "x = Tensor(0.5, requires_grad=True)\ny = x\nfor _ in range(1500):\n    y = y + 1.0\ny.backward()\nfloat(x.grad)"
    yield run(chain).on(LONG_CHAIN).expect(1.0)
    yield run(chain.replace("1500", "40").replace("y + 1.0", "y + y")).on(MANY_PATHS).expect(2.0**40)
    yield run("x = Tensor(3.0, requires_grad=True)\nfor _ in range(2):\n    (x * x).backward()\nfloat(x.grad)").expect(12.0)
    short_cut = "x = Tensor(3.0, requires_grad=True)\np = x * 2.0\nq = p * 5.0\n(p + q).backward()\nfloat(x.grad)"
    yield run(short_cut).on("p is used twice, by q and by the sum. " + COMPLETE).expect(12.0)
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
    # what raises
    yield run(ONE.format("x * x") + "y.backward()", x=x).expect(Raises("RuntimeError", "scalar outputs"))
    yield run(ONE.format("x * x") + "y.backward(v)", x=x, v=v[0]).expect(Raises("RuntimeError", "hape"))
    yield run(ONE.format("(x * x).sum()") + "y.backward()\ny.backward()", x=x).expect(Raises("RuntimeError", "second time"))
    again = "x = Tensor(x, requires_grad=True)\na = x * x\na.sum().backward()\na.sum().backward()"
    yield run(again, x=x).expect(Raises("RuntimeError", "second time"))
    yield run("Tensor(3.0).backward()").expect(Raises("RuntimeError", "require grad"))
    yield run("Tensor(x) @ Tensor(x)", x=x).expect(Raises("ValueError", "matmul"))
    yield run("Tensor(x) + Tensor(v)", x=x, v=np.ones(4)).expect(Raises("ValueError", "add"))
    # changes in place
    yield from in_place(rng)
    yield run("Tensor(3.0, requires_grad=True).add_(1.0)").on(
        "This is a leaf that requires a gradient: add_ must not change it outside of `my_no_grad`."
    ).expect(Raises("RuntimeError", "place"))
    yield run("x = Tensor(3.0, requires_grad=True)\ntry:\n    x.add_(1.0)\nexcept RuntimeError:\n    pass\nfloat(x.data)").on(
        "The leaf must not change: is the error raised before the numbers are changed?").expect(3.0)  # fmt: skip
    yield run("x = Tensor(x, requires_grad=True)\ny = x * 1.0\ny.add_(1.0)\n(y * y).sum().backward()\nx.grad", x=x).expect(
        2 * (x + 1)
    )
    yield run("y = Tensor(x, requires_grad=True) * 1.0\nd = y.detach()\nd.add_(1.0)\ny.data", x=x).expect(x + 1)
    # what may not change, and what is not recorded
    yield run("v = np.array([2.0, 3.0])\nx = Tensor([1.0, 1.0], requires_grad=True)\n(x * 1.0 + x).backward(v)\nv"
              ).on("The array that the caller gave to backward has changed. What is added to it in place?").expect(
              np.array([2.0, 3.0]))  # fmt: skip
    yield run("a, b = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0, 4.0], requires_grad=True)\n"
              "(a + b).sum().backward()\na.grad += 10\nb.grad").on("Both gradients are one and the same array here, so a "
              "change of one changes the other. Which line stores an array that something else holds, too?").expect(
              np.array([1.0, 1.0]))  # fmt: skip
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
    # the same with other numbers for each student
    one, (a, b), whole = numbers(rng, 1, 1), numbers(rng, 2).tolist(), rng.integers(-9, 10, size=3)
    yield run(PASSES, x=x, v=v).expect(4 * v * x)
    yield run(ONE_NUMBER, x=one).expect(2 * one)
    drawn = run(short_cut.replace("2.0", "a").replace("5.0", "b"), a=a, b=b)
    yield drawn.on("p is used twice, by q and by the sum. " + COMPLETE).expect(a + a * b)
    retained = "y = (x * x).sum()\nfor _ in range(2):\n    y.backward(retain_graph=True)\nx.grad"
    yield run("x = Tensor(x, requires_grad=True)\n" + retained, x=x).expect(4 * x)
    yield run("x = Tensor(x, requires_grad=True)\n(x.detach() * x).backward(v)\nx.grad", x=x, v=v).expect(v * x)
    yield run("x = Tensor(x)\nx.add_(0.5)\nx.data", x=whole).expect(whole + 0.5)
    yield run("Tensor(x).sum().backward()", x=x).expect(Raises("RuntimeError", "require grad"))
    depths, fails = rng.permutation([0, 0, 0, 1, 2, 3]).tolist(), [bool(n) for n in rng.permutation([0, 0, 0, 1, 1, 1])]
    yield run(BLOCKS, depths=depths).on("An inner block has ended, and the outer one has not.").expect([not n for n in depths])
    yield run("x = Tensor(3.0, requires_grad=True)\nwith no_grad():\n    x.add_(1.0)\n(x * x).backward()\nfloat(x.grad)"
              ).on("Inside the block a leaf may be changed. After it, operations are recorded again.").expect(8.0)  # fmt: skip
    # last, because an engine that fails here records nothing afterwards
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
STEP = {"prelude": NUMPY, "scaffold": whole}
LESSON = lesson(
    __file__,
    globals() | {"__name__": "__main__"},  # a class of an answer is a student's, and no tensor of the engine
    {
        "14.1": {"probes": probes_14_1, **STEP},
        "14.2": {"probes": probes_14_2, **STEP},
        "14.3": {"probes": probes_14_3, **STEP},
        "14.4": {"probes": probes_14_4, **STEP},
        "14.5": {"probes": probes_14_5, **STEP},
        "14.6": {"probes": probes_14_6, **STEP},
        "14.7": {"probes": probes_14_7, "prelude": TEST},
        "14.8.1": {"probes": probes_forwards, "prelude": NUMPY},
        "14.8.2": {"probes": probes_twice, "prelude": NUMPY},
        "14.8.3": {"probes": probes_checkpoint, "prelude": SIGNALS},
        "14.8.4": {"probes": probes_hooks, "prelude": NUMPY},
        "14.8.5": {"probes": probes_export, "prelude": EXPORTED},
        "14.9": {"probes": probes_14_9, "prelude": NUMPY},
    },
)
