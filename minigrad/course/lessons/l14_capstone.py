"""Lesson 14: a tensor engine in six steps, an operation and an extension of one's own, and an engine from an empty file.

The steps use the parts that the student wrote in lessons 03, 06, 07, 08 and 11. Right answers are formulas in numpy,
and, for the twenty losses, PyTorch's. Wrong answers are the right source with one thing changed.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import itertools
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import minigrad as torch
from minigrad.autograd import Function

from ..comparing import one_by_one, same
from ..exercise import (
    Exercise,
    Lesson,
    Outside,
    Probe,
    Raises,
    Wrong,
    copied,
    numbers,
    one_of,
    prediction,
    program,
    run,
)
from ..wire import Failure
from .l11_cross_entropy import likely_gradients, likely_losses
from .l12_digits import by_hand, forty, start

Array = np.ndarray[Any, Any]
Rule = Callable[..., Any]
NUMPY = "import numpy as np"


def made(source: str, names: Sequence[str], *changes: tuple[str, str]) -> dict[str, Any]:
    """What a source defines under these names, after these changes."""
    for old, new in changes:
        if old not in source:
            raise ValueError(f"there is no {old!r} in the source")
        source = source.replace(old, new)
    space: dict[str, Any] = {"np": np}
    for part in parts_of(source):
        exec(compiled(part), space)
    return {name: space[name] for name in names} if names else space


@functools.cache
def compiled(part: str) -> types.CodeType:
    """The code of one definition, which most variants of a source have in common."""
    return compile(part, "<string>", "exec")


def parts_of(source: str) -> list[str]:
    """The definitions and statements of a source, each with its decorators."""
    parts = [""]
    for line in source.splitlines(keepends=True):
        decorated = parts[-1].startswith("@") and all(above.startswith("@") for above in parts[-1].splitlines())
        if line[0].isidentifier() or (line[0] == "@" and not decorated):
            parts[-1:] = [parts[-1] + line] if decorated else [parts[-1], line]
        else:
            parts[-1] += line
    return parts


def by_variants(source: str, variants: Mapping[str, Sequence[tuple[str, str]]]) -> Callable[[Probe], dict[str, Any]]:
    """For a program: what each variant of a right source answers, by what to say about the variant."""

    @functools.cache
    def space(words: str) -> dict[str, Any]:
        return made(source, (), *variants[words])

    def answers(probe: Probe) -> dict[str, Any]:
        found: dict[str, Any] = {}
        *body, last = ast.parse(probe.code).body
        if probe.outside is not None or not isinstance(last, ast.Expr) or "range(1500)" in probe.code:
            return found
        for words in variants:
            names = {**space(words), **copied(dict(probe.data))}
            try:
                with np.errstate(all="ignore"):
                    exec(compile(ast.Module(body, []), "<variant>", "exec"), names)
                    answer = eval(compile(ast.Expression(last.value), "<variant>", "eval"), names)
                    found[words] = answer if probe.view is None else probe.view(answer)
            except Exception:
                found[words] = lambda got: False
        return found

    return answers


def by_operation(tables: Mapping[str, Callable[[Probe], dict[str, Any]]]) -> Callable[[Probe], dict[str, Any]]:
    """The likely mistakes of each operation, by a pattern for the programs that use it; only where they give another answer."""

    def answers(probe: Probe) -> dict[str, Any]:
        found = [likely(probe) for pattern, likely in tables.items() if re.search(pattern, probe.code)]
        every = {words: answer for each in found for words, answer in each.items()}
        return {words: answer for words, answer in every.items() if not same(answer, probe.expected, 1e-6, 1e-9)}

    return answers


def or_error(
    likely: Callable[[Probe], dict[str, Any]], errors: Mapping[str, str], where: str
) -> Callable[[Probe], dict[str, Any]]:
    """The same, and what the message of an error shows, by a pattern for it, in the programs with `where` in them."""
    patterns = {words: re.compile(pattern) for words, pattern in errors.items()}
    return lambda probe: likely(probe) | (patterns if where in probe.code and not isinstance(probe.expected, Raises) else {})


# --- 14.1 to 14.6: the engine, step by step ------------------------------------------------------------

ENGINE = """
class Tensor:
    made = 0

    def __init__(self, data, requires_grad=False):
        self.data = np.array(data, dtype=float)
        self.requires_grad = requires_grad
        self.grad = None
        self.op, self.parents, self.rules = "", (), ()
        Tensor.made += 1
        self.number = Tensor.made


def apply(name, forward, rules, *inputs):
    inputs = tuple(t if isinstance(t, Tensor) else Tensor(t) for t in inputs)
    out = Tensor(forward(*[t.data for t in inputs]))
    if any(t.requires_grad for t in inputs):
        out.requires_grad = True
        out.op, out.parents, out.rules = name, inputs, rules
    return out


def add(a, b):
    return apply("add", np.add, (lambda g, out, x, y: g, lambda g, out, x, y: g), a, b)


def mul(a, b):
    rules = (lambda g, out, x, y: g * y, lambda g, out, x, y: g * x)
    return apply("mul", np.multiply, rules, a, b)


def unbroadcast(g, shape):
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1:
            g = g.sum(axis=axis, keepdims=True)
    return g


def topological_order(root):
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        t, opened = stack.pop()
        if opened:
            order.append(t)
        elif t not in seen:
            seen.add(t)
            stack.append((t, True))
            stack.extend((parent, False) for parent in t.parents)
    return order


def backward(self, gradient=None):
    if gradient is None and self.data.size != 1:
        raise RuntimeError("only scalar outputs need no gradient")
    start = np.ones(self.data.shape) if gradient is None else np.array(gradient, float)
    if start.shape != self.data.shape:
        raise RuntimeError(f"the gradient has the shape {start.shape}")
    upstream = {self: start}
    for t in reversed(topological_order(self)):
        if not t.parents and t in upstream:
            t.grad = upstream[t] if t.grad is None else t.grad + upstream[t]
        arrays = [parent.data for parent in t.parents]
        for parent, rule in zip(t.parents, t.rules):
            if parent.requires_grad:
                g = np.asarray(rule(upstream[t], t.data, *arrays))
                g = unbroadcast(g, parent.data.shape)
                upstream[parent] = upstream.get(parent, 0) + g


def sub(a, b):
    rules = (lambda g, out, x, y: g, lambda g, out, x, y: -g)
    return apply("sub", np.subtract, rules, a, b)


def div(a, b):
    rules = (lambda g, out, x, y: g / y, lambda g, out, x, y: -g * x / y**2)
    return apply("div", np.divide, rules, a, b)


def power(a, n):
    return apply("pow", lambda x: x**n, (lambda g, out, x: g * n * x ** (n - 1),), a)


def exp(a):
    return apply("exp", np.exp, (lambda g, out, x: g * out,), a)


def log(a):
    return apply("log", np.log, (lambda g, out, x: g / x,), a)


def tanh(a):
    return apply("tanh", np.tanh, (lambda g, out, x: g * (1 - out**2),), a)


def relu(a):
    rule = lambda g, out, x: g * (x > 0)
    return apply("relu", lambda x: np.maximum(x, 0), (rule,), a)


def matmul(a, b):
    rules = (lambda g, out, x, y: g @ y.T, lambda g, out, x, y: x.T @ g)
    return apply("matmul", np.matmul, rules, a, b)


def total(a, axis=None):
    def rule(g, out, x):
        g = g if axis is None else np.expand_dims(g, axis)
        return np.broadcast_to(g, x.shape)

    return apply("sum", lambda x: x.sum(axis=axis), (rule,), a)


def mean(a):
    return total(a) / a.data.size


def reshape(a, *shape):
    rule = lambda g, out, x: g.reshape(x.shape)
    return apply("reshape", lambda x: x.reshape(shape), (rule,), a)


def pick(a, index):
    def rule(g, out, x):
        full = np.zeros(x.shape)
        np.add.at(full, index, g)
        return full

    return apply("index", lambda x: x[index], (rule,), a)


def mse_loss(p, t):
    return mean((p - t) ** 2)


def cross_entropy_loss(z, targets):
    shifted = z - z.data.max(axis=1, keepdims=True)
    rows = np.arange(len(z.data))
    return mean(log(total(exp(shifted), 1)) - shifted[rows, targets])


def net(x, parameters):
    W1, b1, W2, b2 = parameters
    return relu(x @ W1 + b1) @ W2 + b2


def train(parameters, x, labels, rate, batch, epochs):
    losses = []
    for i in list(range(0, len(x), batch)) * epochs:
        scores = net(Tensor(x[i : i + batch]), parameters)
        loss = cross_entropy_loss(scores, labels[i : i + batch])
        loss.backward()
        for p in parameters:
            p.data -= rate * p.grad
            p.grad = None
        losses.append(float(loss.data))
    return losses


Tensor.__add__ = Tensor.__radd__ = add
Tensor.__mul__ = Tensor.__rmul__ = mul
Tensor.backward = backward
Tensor.__neg__ = lambda a: mul(a, -1.0)
Tensor.__sub__ = sub
Tensor.__rsub__ = lambda a, b: sub(b, a)
Tensor.__truediv__ = div
Tensor.__pow__ = power
Tensor.exp, Tensor.log, Tensor.tanh, Tensor.relu = exp, log, tanh, relu
Tensor.__matmul__, Tensor.sum, Tensor.mean = matmul, total, mean
Tensor.reshape, Tensor.__getitem__ = reshape, pick
"""
RECORD = ("apply", "add", "mul")
WALK = ("unbroadcast", "topological_order", "backward")
ENTRIES = ("sub", "div", "power", "exp", "log", "tanh", "relu")
AXES = ("matmul", "total", "mean", "reshape", "pick")
LOSSES = ("mse_loss", "cross_entropy_loss")
TRAIN = ("net", "train")
STEPS = (*RECORD, *WALK, *ENTRIES, *AXES, *LOSSES, *TRAIN)


def whole() -> dict[str, Any]:
    """The finished engine: the steps before and after the one that is asked for."""
    return made(ENGINE, ("Tensor", *STEPS))


def built(*changes: tuple[str, str]) -> dict[str, Any]:
    """The engine of the steps after these changes."""
    return made(ENGINE, ("Tensor", *STEPS), *changes)


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


SUM_RULES = "(lambda g, out, x, y: g, lambda g, out, x, y: g), a, b"
MUL_RULES = "(lambda g, out, x, y: g * y, lambda g, out, x, y: g * x)"
likely_14_1 = or_error(by_variants(ENGINE, {
    "The parents are only those inputs that require a gradient. Store all inputs: each rule belongs to the input at its place, "
    "and gets the arrays of all of them.": [
        ("= name, inputs, rules", "= name, tuple(t for t in inputs if t.requires_grad), rules")],
    "The rules of the product add the upstream gradient. It is a factor.": [
        (MUL_RULES, "(lambda g, out, x, y: g + y, lambda g, out, x, y: g + x)")],
    "The rules of the product multiply by the result. Each multiplies by the *other* operand.": [
        (MUL_RULES, "(lambda g, out, x, y: g * out, lambda g, out, x, y: g * out)")],
    "The rules of the product take the result for the upstream gradient: a rule is called as rule(g, out, x, y).": [
        (MUL_RULES, "(lambda g, out, x, y: out * y, lambda g, out, x, y: out * x)")],
    "The rules of the product add up their numbers. A rule returns one number for each entry.": [
        (MUL_RULES, "(lambda g, out, x, y: (g * y).sum(), lambda g, out, x, y: (g * x).sum())")],
    "The rules of the sum return ones: the upstream gradient is missing.": [
        (SUM_RULES, "(lambda g, out, x, y: np.ones_like(x), lambda g, out, x, y: np.ones_like(y)), a, b")],
    "The rules of the sum are g * x and g * y. By how much does x + y grow when x grows by a little?": [
        (SUM_RULES, "(lambda g, out, x, y: g * x, lambda g, out, x, y: g * y), a, b")],
    "The second rule of the sum has a minus, as that of a difference has.": [
        (SUM_RULES, "(lambda g, out, x, y: g, lambda g, out, x, y: -g), a, b")],
    "The sum has one rule for its two inputs. apply needs a rule for each input.": [
        (SUM_RULES, "(lambda g, out, x, y: g,), a, b")],
    "The product stores the name 'add' as its op. Its name is 'mul'.": [('"mul"', '"add"')],
    "The result stores no op: result.op = name is missing.": [("out.op, out.parents, out.rules = name, inputs, rules",
                                                             "out.parents, out.rules = inputs, rules")],
    "The parents are new tensors, and not a and b themselves: an input that is a Tensor has to be stored as it is.": [
        ("t if isinstance(t, Tensor) else Tensor(t) for t in inputs",
         "Tensor(t.data, t.requires_grad) if isinstance(t, Tensor) else Tensor(t) for t in inputs")],
    "The result requires a gradient only if all inputs do. One is enough.": [("any(", "all(")],
    "The product is computed as a sum: its forward function is np.add.": [("np.multiply", "np.add")],
}), {
    "forward gets one list or tuple of all arrays. It takes them one by one: forward(*arrays).":
        r"of type|'(list|tuple)' and|(add|multiply)\(\) takes from 2|inhomogeneous",
    "A rule takes another number of inputs than it gets. It is called as rule(g, out, x, y), or as rule(g, out, x) where the "
    "operation has one input.": r"<lambda>\(\) (takes|missing)|rule\w*\(\) (takes|missing)",
}, "y")  # fmt: skip

EXERCISE_14_1 = program(
    "14.1", RECORD,
    title="an operation that is recorded",
    why="Each result now stores its parents and one rule for each of them, which is all that a backward pass needs.",
    minutes=10, prelude=NUMPY, probes=probes_14_1, likely=likely_14_1, scaffold=whole,
    wrong=[
        Wrong(built(("    if any(t.requires_grad for t in inputs):", "    if True:")), "", "The product of two tensors that "
              "need no gradient requires one, too. For which results does PyTorch record nothing?", name="records all"),
        Wrong(built(("any(t.requires_grad for t in inputs)", "inputs[0].requires_grad")), "", "Only the first input decides "
              "whether the result requires a gradient. What if only the second one is a parameter?", name="first input only"),
        Wrong(built(("rules = (lambda g, out, x, y: g * y, lambda g, out, x, y: g * x)",
                     "rules = (lambda g, out, x, y: g * x, lambda g, out, x, y: g * y)")), "M43", "The two rules of the "
              "product have changed places. What is the derivative of x * y with respect to x?", name="mul swapped"),
        Wrong(built(("rules = (lambda g, out, x, y: g * y, lambda g, out, x, y: g * x)",
                     "rules = (lambda g, out, x, y: y, lambda g, out, x, y: x)")), "M23", "The rules of the product do not "
              "use the upstream gradient g. What does the chain rule multiply?", name="mul without g"),
        Wrong(built(("inputs = tuple(t if isinstance(t, Tensor) else Tensor(t) for t in inputs)\n    out = Tensor("
                     "forward(*[t.data for t in inputs]))\n    if any(t.requires_grad for t in inputs):",
                     "arrays = [t.data if isinstance(t, Tensor) else t for t in inputs]\n    out = Tensor(forward(*arrays))\n"
                     "    if any(isinstance(t, Tensor) and t.requires_grad for t in inputs):")), "", "In `a * 2.5`, the "
              "second parent is a plain number. The backward pass will ask each parent for `requires_grad`. What can you "
              "turn the number into?", name="number as parent"),
        Wrong(built(("(lambda g, out, x, y: g, lambda g, out, x, y: g), a, b", "(lambda g, out, x, y: g * y, lambda g, out, "
                     "x, y: g * x), a, b")), "M43", "The rules of the sum are those of a product. By how much does x + y grow "
              "when x grows by a little?", name="add as mul"),
        Wrong(built(("def mul(a, b):\n", "def mul(a, b):\n    a, b = b, a\n")), "", "The parents of `a * b` are stored in the "
              "order b, a. Each rule belongs to the parent at the same place.", name="parents swapped"),
    ],
    alternatives=[
        built(),
        built(("    if any(t.requires_grad for t in inputs):\n        out.requires_grad = True\n        out.op, out.parents, "
               "out.rules = name, inputs, rules\n", "    out.requires_grad = bool(sum(t.requires_grad for t in inputs))\n"
               "    if out.requires_grad:\n        out.op, out.parents, out.rules = name, list(inputs), list(rules)\n")),
    ],
    hints=["apply has four steps: make every input a Tensor, compute the result from the arrays, decide whether it requires a "
           "gradient, and, if so, store name, inputs and rules in it.",
           "forward(*[t.data for t in inputs]) calls the function with the array of each input.",
           "A rule for x + y returns g. For x * y, the rule for x returns g * y."],
    worked="In apply: inputs = tuple(...Tensors...); out = Tensor(forward(*arrays)); if any input requires a gradient, set "
           "out.requires_grad, out.op, out.parents and out.rules.",
)  # fmt: skip

# --- 14.2 the backward pass ----------------------------------------------------------------------------

SEVEN = "a, b = Tensor(2.0, requires_grad=True), Tensor(3.0, requires_grad=True)\nc, d = a + b, a * b\ny = c + d + c * d\n"
PAIR = "x, z = Tensor(x, requires_grad=True), Tensor(z, requires_grad=True)\ny = {}\n"


COMPLETE = "The gradient of such a tensor is the sum of both contributions, and it is passed on when both are there."
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


ADDS = "upstream[parent] = upstream.get(parent, 0) + g"
LOOP_BACK = "    for t in reversed(topological_order(self)):\n"

STARTS = "start = np.ones(self.data.shape) if gradient is None else np.array(gradient, float)"
likely_14_2 = or_error(by_variants(ENGINE, {
    "A rule gets the result in the place of the upstream gradient. It is called as rule(g, out, x, y).": [
        ("rule(upstream[t], t.data,", "rule(t.data, upstream[t],")],
    "unbroadcast loses the axes of length 1. They stay, with that length: keepdims=True in the sum, or reshape(shape) after "
    "it.": [
        ("keepdims=True)\n    return g\n", "keepdims=True)\n    return g.reshape([n for n in shape if n != 1])\n")],
    "unbroadcast looks for axes of length 1 before the axes in front are gone, so it sums other axes. First sum those "
    "in front.": [
        ("    while g.ndim > len(shape):\n        g = g.sum(axis=0)\n", ""),
        ("keepdims=True)\n    return g\n", "keepdims=True)\n    while g.ndim > len(shape):\n        g = g.sum(axis=0)\n"
         "    return g\n")],
    "The gradient that is given to backward is not used: the pass begins with ones.": [
        (STARTS, "start = np.ones(self.data.shape)")],
    "The pass begins with the value of y where no gradient is given. It begins with dy/dy.": [
        (STARTS, STARTS.replace("np.ones(self.data.shape)", "self.data.copy()"))],
    "The pass begins with zeros where no gradient is given. It begins with dy/dy.": [
        (STARTS, STARTS.replace("np.ones", "np.zeros"))],
    "Every parent gets the contribution of the first rule. Each parent has its own rule, at the same place.": [
        ("zip(t.parents, t.rules)", "zip(t.parents, t.rules[:1] * 2)")],
    "A rule gets the gradient that the pass began with. It needs the upstream gradient of its own operation.": [
        ("rule(upstream[t],", "rule(start,")],
    "unbroadcast adds up all numbers, over every axis. Only the axes that were stretched are summed.": [
        ("    while g.ndim > len(shape):\n", "    if g.shape != tuple(shape):\n        return np.ones(shape) * g.sum()\n"
         "    while g.ndim > len(shape):\n")],
    "unbroadcast takes the mean along an axis. The contributions have to be added.": [
        ("g = g.sum(axis=0)", "g = g.mean(axis=0)"), ("g.sum(axis=axis, keepdims=True)", "g.mean(axis=axis, keepdims=True)")],
    "unbroadcast takes the mean over the axes in front. The contributions have to be added.": [
        ("g = g.sum(axis=0)", "g = g.mean(axis=0)")],
    "unbroadcast sums the last axis. The axes that broadcasting adds are in front: axis 0.": [
        ("g = g.sum(axis=0)", "g = g.sum(axis=-1)")],
    "Of an operand with an axis of length 1, that axis is not summed: unbroadcast looks at the number of axes only.": [
        ("        if size == 1:\n            g = g.sum(axis=axis, keepdims=True)\n", "        pass\n")],
    "topological_order follows the first parent of each tensor only.": [
        ("for parent in t.parents)\n    return order", "for parent in t.parents[:1])\n    return order")],
    "topological_order has a tensor several times in its list, so it passes its gradient on several times.": [
        ("        elif t not in seen:\n", "        else:\n")],
}), {
    "backward calls a rule with another number of arguments than it takes. A rule is called as rule(g, out, x, y): the "
    "upstream gradient, the result of the operation, and the arrays of all its inputs.": r"\(\) (takes \d|missing \d)",
    "The pass comes to a tensor that has no upstream gradient yet. Does the list hold the root, does the pass begin with it, "
    "and does it pass over tensors that require no gradient?": r"^\d{6,}$|object at 0x",
}, "backward(")  # fmt: skip

EXERCISE_14_2 = program(
    "14.2", WALK,
    title="the backward pass",
    why="Each tensor passes its gradient on after all contributions to it were added, and each contribution has the shape of "
        "its parent.",
    minutes=20, prelude=NUMPY, probes=probes_14_2, likely=likely_14_2, scaffold=whole,
    wrong=[
        Wrong(built((ADDS, "upstream[parent] = g")), "M19", "Where two contributions meet, the second replaces the first. What "
              "does the chain rule do with several paths?", name="overwrites"),
        Wrong(built(("reversed(topological_order(self))", "topological_order(self)"), ("rule(upstream[t],",
              "rule(upstream.get(t, np.zeros(t.data.shape)),")), "M20", "No leaf has "
              "a gradient after the pass: it runs from the inputs to the output, it does not begin with the gradient of the "
              "output, or it does not store what it has computed. Which tensor comes first in your loop?",
              name="forward order"),
        Wrong(built(("    return order\n", "    return order[:-1]\n"), (LOOP_BACK, LOOP_BACK + "        if t not in upstream:\n"
              "            continue\n")), "", "The root itself is missing from the list of topological_order, so its gradient "
              "is never passed on. Which tensor does your list of tensors to visit begin with?", name="without root"),
        Wrong(built(("t.grad = upstream[t] if t.grad is None else t.grad + upstream[t]", "t.grad = upstream[t]")), "M01",
              "A second backward replaces the gradient of the first. It should be added to it.", name="replaces grad"),
        Wrong(built(("    while g.ndim > len(shape):\n        g = g.sum(axis=0)\n", "")), "M27", "The gradient of an operand "
              "of shape (3,) has the shape (2, 3). Which axes did broadcasting add in front?", name="leading axes"),
        Wrong(built(("g.sum(axis=axis, keepdims=True)", "g.sum(axis=axis)")), "M27", "An axis of size 1 disappears from the "
              "gradient. The gradient of an input has exactly the shape of the input.", name="drops axes"),
        Wrong(built(("g = unbroadcast(g, parent.data.shape)", "g = g")), "M27", "Your `unbroadcast` is right, but "
              "the gradient of an operand has the shape of the result. Does `backward` bring each contribution to the shape of "
              "its parent, `parent.data.shape`?",
              name="no unbroadcast"),
        Wrong(built(("            if parent.requires_grad:", "            if True:"), ("if not t.parents and t in upstream:",
              "if not t.parents:")), "", "A tensor that requires no gradient gets one. What should the `grad` of plain data "
              "be after the pass?", name="data gets grad"),
        Wrong(built(("        if not t.parents and t in upstream:", "        if t in upstream:")), "M02", "An inner tensor has "
              "a `grad` after the pass. Only leaves, which have no parents, store a gradient.", name="inner grads"),
        Wrong(built(("    if gradient is None and self.data.size != 1:\n        raise RuntimeError(\"only scalar outputs need "
                     "no gradient\")\n", "")), "M25", "A result with six numbers was differentiated without a gradient, as "
              "if six ones had been passed. Raise the error instead.", name="silent ones"),
        Wrong(built(("self.data.size != 1", "self.data.shape != ()")), "M41", "A result of shape (1, 1) holds a single number, "
              "so it needs no gradient, but yours raises an error for it. How can you count its numbers?",
              name="empty shape only"),
        Wrong(built(("    if start.shape != self.data.shape:\n        raise RuntimeError(f\"the gradient has the shape "
                     "{start.shape}\")\n", "")), "M41", "A gradient with another shape than the result is not "
              "refused. Broadcasting would hide such a mistake, so compare the two shapes, and `raise` the RuntimeError.",
              name="any shape"),
        Wrong(built((ADDS, "upstream[parent] = upstream[parent] + g if parent in upstream else g")), "M15", "After `(a + b)."
              "backward(...)`, both gradients are the same array, so `a.grad += 10` changes `b.grad`, too. Where can you "
              "make a new array?", name="shared array"),
    ],
    alternatives=[
        built(),
        built(("    order, seen, stack = [], set(), [(root, False)]\n    while stack:\n        t, opened = stack.pop()\n"
               "        if opened:\n            order.append(t)\n        elif t not in seen:\n            seen.add(t)\n"
               "            stack.append((t, True))\n            stack.extend((parent, False) for parent in t.parents)\n"
               "    return order\n",
               "    found = {root}\n    stack = [root]\n    while stack:\n        new = set(stack.pop().parents) - found\n"
               "        found |= new\n        stack.extend(new)\n    return sorted(found, key=lambda t: t.number)\n"),
              (ADDS, "upstream[parent] = g + upstream.get(parent, 0.0)")),
    ],
    hints=["Keep a dictionary from tensor to upstream gradient. It begins with the output and its gradient.",
           "Go through the order from the end. For each parent that requires a gradient, call its rule, bring the result "
           "back to the parent's shape with unbroadcast, and add it to the parent's entry of the dictionary.",
           "When you reach a tensor without parents, its entry is complete: store it in grad, or add it to the grad that is "
           "already there."],
    worked="upstream = {self: start}; for t in reversed(topological_order(self)): a leaf adds upstream[t] to its grad; for "
           "each parent and rule, upstream[parent] = upstream.get(parent, 0) + unbroadcast(rule(upstream[t], t.data, "
           "*arrays), parent.data.shape).",
)  # fmt: skip

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


POWER, TANH, RELU = "g * n * x ** (n - 1)", "lambda g, out, x: g * (1 - out**2)", "lambda g, out, x: g * (x > 0)"
EXP, LOG = "np.exp, (lambda g, out, x: g * out,)", "lambda g, out, x: g / x,"
BY_X, BY_Y = "lambda g, out, x, y: g / y", "-g * x / y**2"
SUB_RULES = "rules = (lambda g, out, x, y: g, lambda g, out, x, y: -g)"
likely_14_3 = by_operation({
    r"- x|x - z|-x": by_variants(ENGINE, {
        "The two rules of the difference have changed places. The minus belongs to the second operand.": [
            (SUB_RULES, "rules = (lambda g, out, x, y: -g, lambda g, out, x, y: g)")],
        "Both rules of the difference have a minus. It belongs to the second operand only.": [
            (SUB_RULES, "rules = (lambda g, out, x, y: -g, lambda g, out, x, y: -g)")],
        "The rules of the difference do not use the upstream gradient.": [
            (SUB_RULES, "rules = (lambda g, out, x, y: np.ones_like(g), lambda g, out, x, y: -np.ones_like(g))")],
        "The rules of the difference are those of a product.": [
            (SUB_RULES, "rules = (lambda g, out, x, y: g * y, lambda g, out, x, y: g * x)")],
    }),
    r"x / ": by_variants(ENGINE, {
        "The rule for the numerator multiplies by the denominator. Write x / y as x times 1 / y.": [(BY_X, BY_X[:-3] + "* y")],
        "The rule for the numerator is g alone. Write x / y as x times 1 / y.": [(BY_X, BY_X[:-4])],
        "The rule for the denominator does not square y. Write x / y as x times y to the power -1.": [(BY_Y, "-g * x / y")],
        "The rule for the denominator is that of a product. Write x / y as x times y to the power -1.": [(BY_Y, "g * x")],
        "The two rules of the quotient have changed places. The first belongs to the numerator.": [
            (f"{BY_X}, lambda g, out, x, y: {BY_Y}", f"lambda g, out, x, y: {BY_Y}, {BY_X}")],
        "The rule for the denominator has x and y in the wrong places.": [(BY_Y, "-g * y / x**2")],
        "The rules of the quotient do not use the upstream gradient.": [(BY_X, BY_X.replace("g / y", "1 / y")),
                                                                        (BY_Y, "-x / y**2")],
        "The rule for the denominator does not use the upstream gradient.": [(BY_Y, "-x / y**2")],
    }),
    r"x \*\* ": by_variants(ENGINE, {
        "The rule of the power takes 1 from the result and not from the exponent: ** comes before -, so brackets are missing "
        "around n - 1.": [(POWER, "g * n * x ** n - 1")],
        "The rule of the power does not use the upstream gradient.": [(POWER, "n * x ** (n - 1)")],
        "The rule of the power is that of n to the x, where the exponent is the variable.": [(POWER, "g * out * np.log(n)")],
        "The rule of the power multiplies by the logarithm of x. Here x is the variable, and n is a constant.": [
            (POWER, "g * out * np.log(np.abs(x))")],
        "The exponent in the rule of the power is n + 1. A derivative takes one away.": [(POWER, "g * n * x ** (n + 1)")],
        "The rule of the power is that of a square, whatever n is.": [(POWER, "g * 2 * x")],
        "The rule of the power is an integral: it divides by the new exponent.": [(POWER, "g * x ** (n + 1) / (n + 1)")],
        "The factor in the rule of the power is n - 1. It is the old exponent, n.": [(POWER, "g * (n - 1) * x ** (n - 1)")],
    }),
    r"\.exp": by_variants(ENGINE, {
        "The rule of exp does not use the upstream gradient.": [(EXP, "np.exp, (lambda g, out, x: out,)")],
        "The rule of exp is that of a power. Here x is the exponent.": [
            (EXP, "np.exp, (lambda g, out, x: g * x * np.exp(x - 1),)")],
        "The rule of exp returns g alone. What is the derivative of the exponential function?": [
            (EXP, "np.exp, (lambda g, out, x: g,)")],
        "The rule of exp takes exp of the result. The result is exp(x) already.": [
            (EXP, EXP.replace("g * out", "g * np.exp(out)"))],
    }),
    r"\.log": by_variants(ENGINE, {
        "The rule of the logarithm does not use the upstream gradient.": [(LOG, LOG.replace("g / x", "1 / x"))],
        "The rule of the logarithm multiplies by x. The derivative of log x is 1 / x.": [(LOG, LOG.replace("g / x", "g * x"))],
        "The rule of the logarithm multiplies by the result. The derivative of log x is 1 / x.": [
            (LOG, LOG.replace("g / x", "g * out"))],
        "The rule of the logarithm is x / g, which is upside down.": [(LOG, LOG.replace("g / x", "x / g"))],
        "The rule of the logarithm divides by x squared. That is the derivative of 1 / x, but for the sign.": [
            (LOG, LOG.replace("g / x", "g / x**2"))],
    }),
    r"\.tanh": by_variants(ENGINE, {
        "The rule of tanh is 1 - out. The square of the result is missing.": [(TANH, TANH.replace("out**2", "out"))],
        "The rule of tanh squares 1 - out. Only the result is squared.": [(TANH, TANH.replace("(1 - out**2)", "(1 - out)**2"))],
        "The rule of tanh is 1 + out². The sign is a minus.": [(TANH, TANH.replace("1 - ", "1 + "))],
        "The rule of tanh is that of the sigmoid, out * (1 - out).": [(TANH, TANH.replace("(1 - out**2)", "out * (1 - out)"))],
        "The rule of tanh is g times the result. That is the function itself, and not its derivative.": [
            (TANH, TANH.replace("(1 - out**2)", "out"))],
        "The rule of tanh takes the upstream gradient away from 1 - out², or adds it. It is a factor.": [
            (TANH, TANH.replace("g * (1 - out**2)", "g + 1 - out**2"))],
        "The rule of tanh has g * 1 - out²: brackets are missing around 1 - out**2.": [
            (TANH, TANH.replace("(1 - out**2)", "1 - out**2"))],
    }),
    r"\.relu": by_variants(ENGINE, {
        "The rule of relu returns only where x is above 0. The upstream gradient is missing.": [
            (RELU, RELU.replace("g * ", "1.0 * "))],
        "The rule of relu tests the sign of the upstream gradient. Which number decides whether relu lets it through?": [
            (RELU, RELU.replace("x > 0", "g > 0"))],
        "The rule of relu multiplies by the result. The derivative is 1 where x is above 0.": [
            (RELU, RELU.replace("(x > 0)", "out"))],
        "The rule of relu lets the gradient through where x is below 0.": [(RELU, RELU.replace("x > 0", "x < 0"))],
        "The rule of relu clips the upstream gradient: np.maximum(g, 0). The sign of x decides, and not that of g.": [
            (RELU, RELU.replace("g * (x > 0)", "np.maximum(g, 0)"))],
    }),
})  # fmt: skip

EXERCISE_14_3 = program(
    "14.3", ENTRIES,
    title="operations on entries",
    why="Each rule is the upstream gradient times a derivative of school calculus, and backward does the rest.",
    minutes=15, prelude=NUMPY, probes=probes_14_3, likely=likely_14_3, scaffold=whole,
    wrong=[
        Wrong(built(("lambda g, out, x, y: -g)", "lambda g, out, x, y: g)")), "M30", "The second operand of a difference has "
              "the wrong sign. What happens to x - y when y grows?", name="sub sign"),
        Wrong(built(("-g * x / y**2", "g * x / y**2")), "M30", "The denominator of a quotient has the wrong sign. What happens "
              "to x / y when y grows, for positive numbers?", name="div sign"),
        Wrong(built(("-g * x / y**2", "-g / y**2")), "M43", "The rule for the denominator forgets the numerator. Write x / y "
              "as x times y to the power -1.", name="div without x"),
        Wrong(built(("g * n * x ** (n - 1)", "g * n * x ** n")), "M43", "The exponent in the rule of the power is n. Which "
              "exponent does the derivative of x to the n have?", name="same exponent"),
        Wrong(built(("g * n * x ** (n - 1)", "g * x ** (n - 1)")), "M30", "The factor n is missing in the rule of the power.",
              name="no factor n"),
        Wrong(built(("lambda g, out, x: g / x,", "lambda g, out, x: g / out,")), "M43", "The rule of the logarithm divides by "
              "the result. The derivative of log x is 1 / x.", name="log by out"),
        Wrong(built(("lambda g, out, x: g * (1 - out**2)", "lambda g, out, x: g * (1 - x**2)")), "M43", "The rule of tanh uses "
              "1 - x². Which of the two numbers does it need, the input or the result?", name="tanh of x"),
        Wrong(built(("lambda g, out, x: g * (1 - out**2)", "lambda g, out, x: 1 - out**2")), "M23", "The rule of tanh does not "
              "use the upstream gradient.", name="tanh without g"),
        Wrong(built(("lambda g, out, x: g * (x > 0)", "lambda g, out, x: g")), "M53", "The rule of relu passes the "
              "gradient on everywhere. Which entries had no influence on the result?", name="no mask"),
        Wrong(built(("g * (x > 0)", "g * (x >= 0)")), "M35", "At exactly 0, your relu passes the gradient on. PyTorch has "
              "chosen the derivative 0 there.", name="one at zero"),
        Wrong(built(("lambda g, out, x: g * out,", "lambda g, out, x: g * x,")), "M43", "The rule of exp multiplies by x. "
              "The derivative of the exponential function is the function itself.", name="exp by x"),
    ],
    alternatives=[
        built(),
        built(("-g * x / y**2", "-g * out / y"), ("np.maximum(x, 0)", "x * (x > 0)"), ("g * (1 - out**2)", "g / np.cosh(x)**2"),
              ("g * out,", "g * np.exp(x),"), ("np.subtract, rules", "lambda x, y: x - y, rules")),
    ],
    hints=["Each function is one call of apply, as in mul. Operations of one input have one rule, so write (rule,).",
           "The rules: for x / y, g / y and -g * x / y**2; for x**n, g times the derivative of a power.",
           "exp and tanh can use out, the result, which is already there."],
    worked="exp: apply(\"exp\", np.exp, (lambda g, out, x: g * out,), a). log: g / x. tanh: g * (1 - out**2). relu: g where "
           "x > 0, and 0 elsewhere.",
)  # fmt: skip

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
    yield run(ONE.format("x.mean()") + "(y * 3.0).backward()\n[float(y.data), x.grad]", x=x).expect(
        [float(x.sum() / 6), np.full((2, 3), 0.5)])  # fmt: skip
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


LEFT, RIGHT = "lambda g, out, x, y: g @ y.T", "lambda g, out, x, y: x.T @ g"
SPREAD, MEAN = "return np.broadcast_to(g, x.shape)", "    return total(a) / a.data.size\n"


def mean_rule(rule: str) -> list[tuple[str, str]]:
    """A mean with a rule of its own."""
    return [(MEAN, f'    return apply("mean", np.mean, (lambda g, out, x: {rule},), a)\n')]


likely_14_4 = by_operation({
    " @ ": by_variants(ENGINE, {
        "The rules of the matrix product are those of the elementwise product.": [
            (LEFT, "lambda g, out, x, y: g * y"), (RIGHT, "lambda g, out, x, y: g * x")],
        "The rule for the left matrix is y.T @ g. Its factors have changed sides.": [(LEFT, "lambda g, out, x, y: y.T @ g")],
        "The rule for the right matrix is g @ x.T. Its factors have changed sides.": [(RIGHT, "lambda g, out, x, y: g @ x.T")],
        "The transpose is missing in the rule for the left matrix.": [(LEFT, LEFT.removesuffix(".T"))],
        "The transpose is missing in the rule for the right matrix.": [(RIGHT, "lambda g, out, x, y: x @ g")],
        "The rules of the matrix product do not use the upstream gradient.": [
            (LEFT, "lambda g, out, x, y: np.ones_like(g) @ y.T"), (RIGHT, "lambda g, out, x, y: x.T @ np.ones_like(g)")],
        "The rule for the left matrix transposes g as well.": [(LEFT, "lambda g, out, x, y: g.T @ y.T")],
        "The rule for the right matrix transposes g as well.": [(RIGHT, "lambda g, out, x, y: x.T @ g.T")],
    }),
    r"\.mean": by_variants(ENGINE, {
        "The rule of the mean does not divide. Each entry counts only 1 / n in a mean of n entries.":
            mean_rule("np.full(x.shape, g)"),
        "The rule of the mean divides by the number of rows. Divide by the number of all entries.":
            mean_rule("np.full(x.shape, g / len(x))"),
        "The rule of the mean divides by the number of columns. Divide by the number of all entries.":
            mean_rule("np.full(x.shape, g / x.shape[-1])"),
        "The rule of the mean does not use the upstream gradient.": mean_rule("np.ones(x.shape) / x.size"),
        "The rule of the mean returns ones. It needs the upstream gradient, divided by the number of entries.":
            mean_rule("np.ones(x.shape)"),
        "The rule of the mean multiplies by the number of entries. It divides.": mean_rule("np.full(x.shape, g * x.size)"),
        "The rule of the mean multiplies by x. How much does the mean grow when one entry grows by a little?":
            mean_rule("g * x / x.size"),
        "The mean divides by the number of columns. Divide by the number of all entries.": [
            ("/ a.data.size", "/ a.data.shape[-1]")],
        "The mean does not divide: it is the sum.": [(MEAN, "    return total(a)\n")],
    }),
    r"\.sum": by_variants(ENGINE, {
        "The rule of the sum multiplies by x. How much does the sum grow when one entry grows by a little?": [
            (SPREAD, "return g * x")],
        "The rule of the sum divides by the number of entries, as that of a mean does.": [(SPREAD, SPREAD + " / x.size")],
        "The rule of the sum adds up the upstream gradient. Each entry gets that of the sum to which it belongs.": [
            (SPREAD, "return np.full(x.shape, np.sum(g))")],
        "The sum ignores its axis.": [("x.sum(axis=axis)", "x.sum()")],
        "The axis that was summed comes back at the end. It has to return at its own place, axis.": [
            ("np.expand_dims(g, axis)", "np.expand_dims(g, -1)")],
    }),
    r"reshape": by_variants(ENGINE, {
        "The rule of reshape returns ones. It brings the upstream gradient back to the shape of x.": [
            ("g.reshape(x.shape)", "np.ones(x.shape)")],
        "The rule of reshape puts the numbers into another order. g.reshape(x.shape) leaves their order as it is.": [
            ("g.reshape(x.shape)", "g.T.reshape(x.shape)")],
        "The rule of reshape multiplies by x. It only brings the upstream gradient back to the shape of x.": [
            ("g.reshape(x.shape)", "g.reshape(x.shape) * x")],
    }),
    r"x\[": by_variants(ENGINE, {
        "The rule of the index begins with ones. An entry that was not selected gets 0.": [
            ("full = np.zeros", "full = np.ones")],
        "The rule of the index adds ones. It adds the upstream gradient.": [("(full, index, g)", "(full, index, 1)")],
        "The rule of the index gives every entry the upstream gradient. An entry that was not selected gets 0.": [
            ("        full = np.zeros(x.shape)\n        np.add.at(full, index, g)\n",
             "        full = np.zeros(x.shape) + np.sum(g)\n")],
        "The rule of the index multiplies by x. An entry that was selected gets the upstream gradient as it is.": [
            ("(full, index, g)", "(full, index, g * x[index])")],
    }),
})  # fmt: skip

EXERCISE_14_4 = program(
    "14.4", AXES,
    title="operations with axes",
    why="Each of these rules sends every number of the upstream gradient back to the entries from which it was computed.",
    minutes=18, prelude=NUMPY, probes=probes_14_4, likely=likely_14_4, scaffold=whole,
    wrong=[
        Wrong(built(("g @ y.T, lambda g, out, x, y: x.T @ g", "y.T @ g, lambda g, out, x, y: g @ x.T")), "M29", "In the rules "
              "of the matrix product, the factors are on the wrong sides. Write down the three shapes.", name="matmul sides"),
        Wrong(built(("g @ y.T, lambda g, out, x, y: x.T @ g", "x.T @ g, lambda g, out, x, y: g @ y.T")), "M29", "The two rules "
              "of the matrix product have changed places. The first rule belongs to the left matrix.", name="matmul swapped"),
        Wrong(built(("g @ y.T, lambda g, out, x, y: x.T @ g", "g @ y, lambda g, out, x, y: x @ g")), "M29", "The transposes "
              "are missing in the rules of the matrix product.", name="no transpose"),
        Wrong(built(("np.expand_dims(g, axis)", "np.expand_dims(g, 0)")), "M52", "The gradient of a sum along another axis "
              "than 0 is wrong. At which place does the removed axis have to return?", name="always axis 0"),
        Wrong(built(("return np.broadcast_to(g, x.shape)", "return np.ones(x.shape)")), "M23", "The rule of the sum returns "
              "ones, whatever the upstream gradient is.", name="sum of ones"),
        Wrong(built(("total(a) / a.data.size", "total(a) / len(a.data)")), "M30", "The mean divides by the number of rows. "
              "Divide by the number of all entries.", name="mean by rows"),
        Wrong(built(("g.reshape(x.shape)", "g")), "M27", "The gradient of reshape has the shape of the result. The gradient of "
              "an input has the shape of the input.", name="reshape keeps"),
        Wrong(built(("np.add.at(full, index, g)", "full[index] = g")), "M36", "An entry that was used twice gets only one of "
              "its two contributions. Which numpy function adds at repeated positions?", name="index twice"),
        Wrong(built(("np.add.at(full, index, g)", "full[index] += 1")), "M23", "The rule of the index puts back ones instead "
              "of the upstream gradient.", name="index ones"),
    ],
    alternatives=[
        built(),
        built(("np.matmul, rules", "lambda x, y: x @ y, rules"), ("return np.broadcast_to(g, x.shape)",
              "return g + np.zeros(x.shape)"), ("total(a) / a.data.size", "total(a) * (1 / a.data.size)")),
    ],
    hints=["For the product, take your matmul_backward of exercise 7.1 apart: its two lines are the two rules.",
           "For the sum, your sum_backward of exercise 6.3 is the rule. The mean needs no rule of its own: it is a sum, "
           "divided by a number.",
           "For the index, make zeros of the shape of x, and let np.add.at(zeros, index, g) add g at the positions."],
    worked="matmul: rules g @ y.T and x.T @ g. total: expand_dims(g, axis), then broadcast_to x.shape. mean: total(a) / "
           "a.data.size. reshape: g.reshape(x.shape). pick: zeros, then np.add.at.",
)  # fmt: skip

# --- 14.5 two losses -----------------------------------------------------------------------------------

MSE = "p, t = Tensor(p, requires_grad=True), Tensor(t, requires_grad=True)\nloss = mse_loss(p, t)\n"
SURPRISE = "z = Tensor(z, requires_grad=True)\nloss = cross_entropy_loss(z, targets)\n"


def probes_14_5(rng: np.random.Generator) -> Iterator[Probe]:
    p, t = numbers(rng, 4, 2), numbers(rng, 4, 2)
    loss = float(np.mean((p - t) ** 2))
    yield run(MSE + "float(loss.data)", p=p, t=t).expect(loss)
    yield run(MSE + "float(loss.data)", p=p[:, 0], t=t[:, 0]).expect(float(np.mean((p - t)[:, 0] ** 2)))
    yield run(MSE + "loss.requires_grad", p=p, t=t).on(NOT_RECORDED).expect(True)
    yield run(MSE + "(5.0 * loss).backward()\n[float(loss.data), p.grad, t.grad]", p=p, t=t).expect(
        [loss, 5 * 2 * (p - t) / 8, -5 * 2 * (p - t) / 8])  # fmt: skip
    z, targets = numbers(rng, 4, 3), np.array([2, 0, 1, 1])
    logs = z - np.logaddexp.reduce(z, axis=1)[:, None]
    loss = float(-logs[np.arange(4), targets].mean())
    yield run(SURPRISE + "float(loss.data)", z=z, targets=targets).expect(loss)
    fewer = float(-logs[np.arange(3), targets[:3]].mean())
    yield run(SURPRISE + "float(loss.data)", z=z[:3], targets=targets[:3]).expect(fewer)
    yield run(SURPRISE + "loss.requires_grad", z=z, targets=targets).on(NOT_RECORDED).expect(True)
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


def likely_14_5(probe: Probe) -> dict[str, Any]:
    """Losses with a likely mistake, and gradients beside a right loss, by what to say about it."""
    back = "backward" in probe.code
    if "requires_grad\n" in probe.code + "\n":
        return {}
    if "p" in probe.data:
        p, t = (np.asarray(probe.data[name]) for name in "pt")
        d, slope = p - t, 2 * (p - t) / p.size
        squares = float((d * d).mean())
        return {
            "The rule of the loss does not use the upstream gradient.": [squares, slope, -slope],
            "The gradient is not divided by the number of entries, though the loss is a mean.":
                [squares, 5 * slope * p.size, -5 * slope * p.size],
            "The factor 2 is missing, which the derivative of a square has.": [squares, 2.5 * slope, -2.5 * slope],
            "Both gradients have the same sign. The loss contains p - t, so they are opposite.":
                [squares, 5 * slope, 5 * slope],
            NOT_RECORDED: lambda got: got[1] is None,
        } if back else {
            "This is the mean of the differences. They have to be squared first.": d.mean(),
            "This is the mean of the absolute values. The mean of the squares is asked for.": np.abs(d).mean(),
            "The squares are divided by the number of rows. Their mean divides by the number of all entries.":
                (d * d).sum() / len(d),
            "The mean is halved. The mean of the squares itself is asked for.": squares / 2,
            "This is the root of the mean. The mean of the squares itself is asked for.": squares**0.5,
            "p and t are added. The difference has to be squared.": ((p + t) ** 2).mean(),
            "This is the square of the mean. The mean of the squares is asked for: first square, then take the mean.":
                d.mean() ** 2,
            "This is the difference of the squares. The square of the difference is asked for.": (p * p - t * t).mean(),
        }  # fmt: skip
    z, targets = np.asarray(probe.data["z"]), np.asarray(probe.data["targets"])
    if "Tensor(z)\n" in probe.code:
        return {}
    losses = {words: loss for words, loss in likely_losses(z, targets).items() if np.ndim(loss) == 0}
    if len(z) < 3:  # scores of 900
        return {words: loss for words, loss in losses.items() if "before the logarithm" in words or "cut off" in words}
    rows, shift, across = np.arange(len(z)), z - z.max(axis=1, keepdims=True), z - z.max(axis=0)
    sums = np.exp(shift).sum(axis=1)
    loss = float((np.log(sums) - shift[rows, targets]).mean())
    if back:
        right = 5 * (np.exp(shift) / sums[:, None] - np.eye(z.shape[1])[targets]) / len(z)
        likely = likely_gradients(z, targets, 5.0)
        other = {words: g for words, g in likely.items() if np.shape(g) != z.shape or not np.allclose(g, right)}
        return {words: [loss, g] for words, g in other.items()} | {NOT_RECORDED: lambda got: got[1] is None}
    return {words: other for words, other in losses.items() if not np.isclose(other, loss)} | {
        "The score of the correct class is taken from z, and the logarithm belongs to the shifted scores. Shift both.":
            (np.log(sums) - z[rows, targets]).mean(),
        "This is the logarithm of the mean probability. The mean of the logarithms is asked for.":
            -np.log((np.exp(shift)[rows, targets] / sums).mean()),
        "Each column is shifted by its own number, so the differences in a row change. Subtract one number from each row.":
            (np.log(np.exp(across).sum(axis=1)) - across[rows, targets]).mean(),
        "The index [:, targets] takes every target from every row. Row i needs its own target: z[np.arange(n), targets].":
            (np.log(sums) - shift[:, targets]).mean(),
        "The exponentials of all rows are added up. Each row has its own sum: axis=1.":
            (np.log(sums.sum()) - shift[rows, targets]).mean(),
        "This is minus the score of the correct class. The logarithm of the sum of the exponentials is missing, too.":
            -shift[rows, targets].mean(),
        "The scores of the correct classes are added up, and the logarithms are averaged. Take the mean of both.":
            np.log(sums).mean() - shift[rows, targets].sum(),
        "The logarithms are added up, and the scores of the correct classes are averaged. Take the mean of both.":
            np.log(sums).sum() - shift[rows, targets].mean(),
        "The sum of the exponentials has no logarithm.": (sums - shift[rows, targets]).mean(),
        "The numbers of the classes are multiplied with the scores. They are indices: they tell which score to take.":
            (np.log(sums) - (shift * targets[:, None]).sum(axis=1)).mean(),
    }  # fmt: skip


NOT_RECORDED = (
    "The loss is a number without a history: it is computed from `.data`, or made by Tensor(...), so nothing is recorded. Use "
    "the operations of your engine, or `apply`."
)


def own_rule() -> dict[str, Any]:
    """Cross-entropy as one operation with a rule of its own, from the two functions of lesson 11."""
    return made(ENGINE + (
        "\n\ndef cross_entropy_loss(z, targets):\n    rows = np.arange(len(targets))\n\n"
        "    def log_softmax(z):\n        z = z - z.max(axis=1, keepdims=True)\n"
        "        return z - np.log(np.exp(z).sum(axis=1, keepdims=True))\n\n"
        "    def forward(z):\n        return -log_softmax(z)[rows, targets].mean()\n\n"
        "    def rule(g, out, z):\n        p = np.exp(log_softmax(z))\n        p[rows, targets] -= 1\n"
        "        return g * p / len(z)\n\n"
        "    return apply(\"cross_entropy\", forward, (rule,), z)\n"
    ), ("Tensor", *STEPS))  # fmt: skip


EXERCISE_14_5 = program(
    "14.5", LOSSES,
    title="two losses",
    why="A loss is an expression of recorded operations, or one operation with a rule of its own; both give the same gradient.",
    minutes=12, prelude=NUMPY, probes=probes_14_5, likely=likely_14_5, scaffold=whole,
    wrong=[
        Wrong(built(("return mean((p - t) ** 2)", "return total((p - t) ** 2)")), "M30", "The squared errors are added up, and "
              "not divided by their number.", name="mse sum"),
        Wrong(built(("return mean((p - t) ** 2)", "return mean((p - t.data) ** 2)")), "M13", "The target gets no gradient, "
              "because its array was used in place of the tensor.", name="mse data"),
        Wrong(built(("return mean(log(", "return total(log(")), "M30", "The losses of the rows are added up. Cross-entropy is "
              "their mean.", name="ce sum"),
        Wrong(built(("shifted = z - z.data.max(axis=1, keepdims=True)", "shifted = z - z.data.mean() * 0")), "M51", "Scores of "
              "900 give inf or nan, because exp overflows. What can you subtract from each row first?", name="overflow"),
        Wrong(built(("z.data.max(axis=1, keepdims=True)", "z.data.mean()")), "M51", "A score far above the mean "
              "still makes exp overflow. Which number of a row leaves nothing above 0?", name="mean shift"),
        Wrong(built(("z.data.max(axis=1, keepdims=True)", "z.data.std()")), "M51", "Large scores may lie close "
              "together: their spread is small then, and exp overflows. What do you subtract instead?", name="spread shift"),
        Wrong(built(("total(exp(shifted), 1)", "total(exp(shifted), 1).data + Tensor(0.0)")), "M13", "The value is right, but "
              "a part of the formula was computed from `.data`, so its gradient is lost.", name="ce data"),
        Wrong(built(("- shifted[rows, targets])", "+ shifted[rows, targets])")), "M30", "The score of the correct class has "
              "the wrong sign. Does the loss grow or fall when this score grows?", name="ce sign"),
        Wrong(built(("log(total(exp(shifted), 1))", "log(total(exp(shifted), 0))[rows % z.data.shape[1]]")), "M52", "The "
              "exponentials are added up along the wrong axis. One row holds the scores of one example.", name="ce axis"),
    ],
    alternatives=[built(), own_rule()],
    hints=["mse_loss is one line: a difference, a power and a mean of tensors.",
           "For cross_entropy_loss, log p of the correct class is its score minus the logarithm of the sum of all "
           "exponentials. First subtract the largest number of each row, as in exercise 11.1; it may come from z.data.",
           "You can also call apply with your functions of exercise 11.2: forward is the loss, and the rule returns its "
           "gradient times g."],
    worked="shifted = z - z.data.max(axis=1, keepdims=True); return mean(log(total(exp(shifted), 1)) - shifted[rows, "
           "targets]).",
)  # fmt: skip

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
    yield run(LOOP, **given).expect(losses)
    yield run(LOOP.replace("train(", "losses = train(") + "\n[type(loss).__name__ for loss in losses[:2]]", **given).seen_as(
        lambda found: type(found) is list and not any("Tensor" in str(name) for name in found)).expect(True)  # fmt: skip
    yield run(LOOP + "\n[p.data for p in parameters]", **given).expect([w1.T, b1, w2.T, b2])
    yield run(LOOP + "\n[x, labels]", **given).expect([x, labels])
    yield run(LOOP + "\n[p.grad for p in parameters]", **given).on(
        "After each step, the grad of all four parameters is None.").expect([None] * 4)  # fmt: skip
    yield run(TWENTY, **forty(), **weights(64, 16, 10)).expect(TWENTY_LOSSES)


def slipped_run(given: Mapping[str, Any], batches: Sequence[Any], rate: float = 0.2, *, moves: Sequence[int] = range(4),
                late: bool = False, after: bool = False) -> list[float]:  # fmt: skip
    """The losses of LOOP with these rows in each step; the parameters that move; a step before backward; losses after it."""
    x, labels = np.asarray(given["x"]), np.asarray(given["labels"])
    theta, old = [np.array(given[name]) for name in ("w1", "b1", "w2", "b2")], [0.0] * 4
    losses = []

    def loss_and_gradients(a: Array, t: Array) -> tuple[float, list[Any]]:
        h = a @ theta[0] + theta[1]
        z = np.maximum(h, 0) @ theta[2] + theta[3]
        logs = z - np.logaddexp.reduce(z, axis=1)[:, None]
        dz = (np.exp(logs) - np.eye(3)[t]) / len(t)
        dh = dz @ theta[2].T * (h > 0)
        return float(-logs[np.arange(len(t)), t].mean()), [a.T @ dh, dh.sum(0), np.maximum(h, 0).T @ dz, dz.sum(0)]

    for rows in batches:
        loss, new = loss_and_gradients(x[rows], labels[rows])
        for k in moves:
            theta[k] = theta[k] - rate * (old if late else new)[k]
        old = new
        losses.append(loss_and_gradients(x[rows], labels[rows])[0] if after else loss)
    return losses


LABELS = (
    "The labels of a step are not those of its rows: x and labels need the same slice, and the last batch of an "
    "epoch is shorter."
)
LABELS_ERROR = re.compile("shape mismatch: indexing arrays could not be broadcast")


def likely_14_6(probe: Probe) -> dict[str, Any]:
    """Scores, or lists of losses, with a likely mistake, by what to say about it."""
    given = probe.data
    if "x" not in given:
        return {}
    x, w1, b1, w2, b2 = (np.asarray(given[name]) for name in ("x", "w1", "b1", "w2", "b2"))
    hidden = x @ w1 + b1
    scores = np.maximum(hidden, 0) @ w2 + b2
    if "net(" in probe.code and "train(" not in probe.code:
        return {
            "There is no relu between the two layers, so they are only one linear layer.": hidden @ w2 + b2,
            "There is a tanh between the two layers. The net has a relu there.": np.tanh(hidden) @ w2 + b2,
            "There is a sigmoid between the two layers. The net has a relu there.": 1 / (1 + np.exp(-hidden)) @ w2 + b2,
            "The first layer has no b1.": np.maximum(x @ w1, 0) @ w2 + b2,
            "The second layer has no b2.": scores - b2,
            "Neither layer has its b: a linear layer is x @ W + b.": np.maximum(x @ w1, 0) @ w2,
            "b1 is added after the relu. It belongs to the first layer, before the relu.":
                (np.maximum(x @ w1, 0) + b1) @ w2 + b2,
            "These are probabilities. net returns the scores, and the cross-entropy does the rest.":
                np.exp(scores) / np.exp(scores).sum(1, keepdims=True),
            "These are logarithms of probabilities. net returns the scores, and the cross-entropy does the rest.":
                scores - np.logaddexp.reduce(scores, axis=1)[:, None],
            "These are the numbers of the hidden layer. The second linear layer is missing.": np.maximum(hidden, 0),
        }
    if probe.code == LOOP + "\n[p.data for p in parameters]":
        return {"The tensors in `parameters` are as they were before the training. `p.data -= ...` changes them, and a new "
                "list of new tensors does not.": [w1, b1, w2, b2]}  # fmt: skip
    if "train(" in probe.code and "images" not in probe.code and probe.code != LOOP:
        return {LABELS: LABELS_ERROR}
    if probe.code != LOOP:
        return {}
    order = [np.arange(i, min(i + 4, 10)) for _ in range(2) for i in range(0, 10, 4)]
    right, n = slipped_run(given, order), 3
    singly = [slipped_run(given, [[i]])[0] for i in range(10)]
    some = [sum(rows) / 4 for rows in itertools.combinations(singly, 4)]
    found: dict[str, Any] = {
        LABELS: LABELS_ERROR,
        "train returns None. Return the list of losses at its end.": lambda got: got is None,
        "Every step uses all rows. Each step takes the next `batch` rows of x and of labels.":
            slipped_run(given, [np.arange(10)] * 6),
        "Each epoch takes one step with all rows. It should take one step for each `batch` rows.":
            slipped_run(given, [np.arange(10)] * 2),
        "Every step uses the first rows. Each batch begins where the last one ended.": slipped_run(given, [np.arange(4)] * 6),
        "The batches are one row too short. The slice i : i + batch ends before i + batch.":
            slipped_run(given, [rows[:3] for rows in order]),
        "The batches overlap: the next one begins one row later. range(0, len(x), batch) goes on by a whole batch.":
            slipped_run(given, [np.arange(i, min(i + 4, 10)) for _ in range(2) for i in range(10)]),
        "Each step takes the rows up to the end, or a number of rows that is written in your code. Take `batch` rows.":
            slipped_run(given, [np.arange(i[0], 10) for i in order]),
        "Each batch is used `epochs` times before the next one. The loop over the epochs is the outer one.":
            slipped_run(given, [order[k // 2] for k in range(6)]),
        "The list has one loss for each epoch. Append the loss in the inner loop, after each step.": right[n - 1 :: n],
        "The list has the mean loss of each epoch. Append the loss of each batch.":
            [float(np.mean(right[:n])), float(np.mean(right[n:]))],
        "There are only the losses of one epoch. Does the loop over the epochs go on, or does a return or an indent end it? "
        "range(epochs) has `epochs` rounds.": right[:n],
        "There is only the first loss: the return is inside the loop over the batches.": right[:1],
        "The list is empty. Append the loss of each batch as a number.": [],
        "These are the losses *after* each step. Append the loss that the step was computed from.":
            slipped_run(given, order, after=True),
        "Each step uses the gradients of the batch before: the update comes before backward.":
            slipped_run(given, order, late=True),
        "Only the weights are updated. b1 and b2 are parameters, too.": slipped_run(given, order, moves=(0, 2)),
        "Only b1 and b2 are updated. W1 and W2 are parameters, too.": slipped_run(given, order, moves=(1, 3)),
        "Only the first parameter is updated.": slipped_run(given, order, moves=(0,)),
        "Only the last parameter is updated.": slipped_run(given, order, moves=(3,)),
        "The rate is not used.": slipped_run(given, order, 1.0),
        "The step is divided by the size of the batch. Cross-entropy is a mean already.": slipped_run(given, order, 0.2 / 4),
        "The step is multiplied by the size of the batch. Cross-entropy is a mean already.": slipped_run(given, order, 0.8),
        **{f"The rate is written as {r:g} in your code. Use `rate`.": slipped_run(given, order, r)
           for r in (0.001, 0.01, 0.05, 0.1, 0.3, 0.5)},
        "Each loss is divided by the size of the batch. It is a mean already.": [loss / 4 for loss in right],
        "The losses are added up from step to step. Each entry is the loss of one batch.": np.cumsum(right).tolist(),
        "This is a single number. Return the list of all losses.": lambda got: np.ndim(got) == 0,
        "The parameters do not move: each epoch has the same losses. `p.data -= ...` changes a parameter, and `p = ...` gives "
        "only another tensor that name.": slipped_run(given, order, 0.0),
        "The rows are not taken in their order: the first loss is that of other rows than the first `batch` ones.":
            lambda got: len(got) == len(right) and bool(np.isclose(some, got[0]).any() and not np.isclose(got[0], right[0])),
        "The losses of the first epoch are right, and then they are not. What is another in the second epoch?":
            lambda got: len(got) == len(right) and bool(np.allclose(got[:n], right[:n]) and not np.allclose(got, right)),
        "The first two losses are right, and the third is not. What is left of one step in the next? Is the grad of every "
        "parameter cleared?":
            lambda got: len(got) == len(right) and bool(np.allclose(got[:2], right[:2]) and not np.isclose(got[2], right[2])),
        "The first loss is right, and the second is not. So the step between them is not, or the second batch: does each "
        "parameter move by rate times its gradient, and do both slices move on?":
            lambda got: len(got) == len(right) and bool(np.isclose(got[0], right[0]) and not np.isclose(got[1], right[1])),
    }  # fmt: skip
    return found


STEP = "            p.data -= rate * p.grad\n            p.grad = None\n"

EXERCISE_14_6 = program(
    "14.6", TRAIN,
    title="your engine trains a net",
    why="Twenty losses of your engine agree with PyTorch's to the ninth digit, on handwritten digits.",
    minutes=15, prelude=NUMPY, probes=probes_14_6, likely=likely_14_6, scaffold=whole, seconds=2.0,
    wrong=[
        Wrong(built(("            p.grad = None\n", "")), "M01", "The gradients are not cleared, so each step also uses "
              "those of all earlier batches.", name="no clearing"),
        Wrong(built(("p.data -= rate * p.grad", "p.data += rate * p.grad")), "M30", "The losses grow: the step goes along the "
              "gradient, and not against it.", name="uphill"),
        Wrong(built(("p.data -= rate * p.grad", "p = p - rate * p.grad"), ("            p.grad = None\n",
              "        for p in parameters:\n            p.grad = None\n")), "M17", "The losses of an epoch do not change, "
              "because `p = p - ...` makes a new tensor and leaves the parameter as it is.", name="rebinds"),
        Wrong(built(("relu(x @ W1 + b1) @ W2 + b2", "(x @ W1 + b1) @ W2 + b2")), "", "There is no relu between the two layers, "
              "so they are only one linear layer.", name="no relu"),
        Wrong(built(("relu(x @ W1 + b1) @ W2 + b2", "relu(relu(x @ W1 + b1) @ W2 + b2)")), "", "The scores go through relu, "
              "too. A score may be negative.", name="relu at the end"),
        Wrong(built(("range(0, len(x), batch)", "range(0, len(x) - batch + 1, batch)")), "", "The last, smaller batch is left "
              "out.", name="drops the rest"),
        Wrong(built(("losses.append(float(loss.data))", "losses.append(loss)")), "M18", "The losses are tensors, and each of "
              "them keeps the graph of its step in memory. Append the number.", name="tensors"),
        Wrong(built(("losses.append(float(loss.data))", "losses = [*losses, float(loss.data)][-len(x) // batch :]")), "",
              "The list holds only the last losses. Return one number for each step.", name="last losses"),
        Wrong(built(("labels[i : i + batch]", "labels[:batch][: len(scores.data)]")), "", "Each batch of images is compared "
              "with the labels of the first batch.", name="first labels"),
    ],
    alternatives=[
        built(),
        built(("    for i in list(range(0, len(x), batch)) * epochs:\n", "    for k in range(epochs * -(-len(x) // batch)):\n"
               "        i = k % -(-len(x) // batch) * batch\n"), ("p.data -= rate * p.grad", "p.data = p.data - rate * p.grad"),
              ("return relu(x @ W1 + b1) @ W2 + b2", "hidden = (x @ W1 + b1).relu()\n    return hidden @ W2 + b2")),
    ],
    hints=["net is one line: relu of x @ W1 + b1, times W2, plus b2.",
           "One step: scores of the batch, loss, loss.backward(), then for each parameter p.data -= rate * p.grad and "
           "p.grad = None.",
           "range(0, len(x), batch) gives the first row of each batch, and x[i : i + batch] its rows. Append "
           "float(loss.data)."],
    worked="for each epoch, for i in range(0, len(x), batch): loss = cross_entropy_loss(net(Tensor(x[i:i+batch]), "
           "parameters), labels[i:i+batch]); loss.backward(); update and clear; append float(loss.data).",
)  # fmt: skip

# --- 14.7 an operation of your own ---------------------------------------------------------------------

TEST = """
import numpy as np
h = 1e-6
def evaluated_at(rule, x, g):
    # The numbers at which the rule evaluates the operation.
    home, given, places = getattr(rule, "__globals__", {}), my_forward, []

    def watched(at):
        places.append(at)
        return given(at)

    if home.get("my_forward") is not given:
        return places
    home["my_forward"] = watched
    try:
        rule(x, g)
    finally:
        home["my_forward"] = given
    return places
"""
RULE = "[my_forward(x + h), my_forward(x - h), my_rule(x, g), my_forward(x), my_forward(z)]"
WRONGS = "[my_forward(x + h), my_forward(x - h), *(wrong(x, g) for wrong in my_wrongs)]"


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
    yield run("my_forward(x)\nmy_rule(x, g)\n[x, g]", x=x, g=g).expect([x, g])
    asked = run("evaluated_at(my_rule, x, g)", x=x, g=g)
    yield asked.seen_as(lambda places: [bool(np.array_equal(at, x)) for at in places if not np.array_equal(at, x)]).expect([])
    yield run("len(my_wrongs[:2])").expect(2)
    yield run(WRONGS, x=x, g=g).seen_as(lambda found: any(holding(found, g))).expect(False)
    yield run(WRONGS, x=x, g=g).seen_as(differ).expect(True)


def operation(f: Any, rule: Any, *wrongs: Any) -> dict[str, Any]:
    return {"my_forward": f, "my_rule": rule, "my_wrongs": list(wrongs)}


def measured_rule() -> dict[str, Any]:
    return made("my_forward = lambda x: x**3\n"
                "my_rule = lambda x, g: g * (my_forward(x + 1e-6) - my_forward(x - 1e-6)) / 2e-6\n"
                "my_wrongs = [lambda x, g: g * x, lambda x, g: g * x * x]", ("my_forward", "my_rule", "my_wrongs"))  # fmt: skip


def softplus(x: Any) -> Any:
    return np.log1p(np.exp(x))


def softmax(x: Any) -> Any:
    return np.exp(x) / np.exp(x).sum()


def logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


EXERCISE_14_7 = program(
    "14.7", ("my_forward", "my_rule", "my_wrongs"),
    why="A rule multiplies the upstream gradient by the derivative, and your two wrong rules show what a check has to catch.",
    title="an operation of your own, and two wrong rules for a classmate",
    minutes=12, prelude=TEST, probes=probes_14_7,
    wrong=[
        Wrong(operation(softplus, lambda x, g: logistic(x), lambda x, g: g * x, lambda x, g: g * np.exp(x)), "M23",
              "Your rule does not use the upstream gradient g.", name="no upstream"),
        Wrong(operation(softplus, lambda x, g: g * softplus(x), lambda x, g: g * x, lambda x, g: g * np.exp(x)), "M43",
              "Your rule does not agree with the measured derivative of your operation. Did you use a value in place of a "
              "derivative?", name="value for slope"),
        Wrong(operation(lambda x: np.sum(x**2), lambda x, g: 2 * g * x, lambda x, g: g * x, lambda x, g: x), "M27",
              "my_forward returns one number for the whole array. Here an operation works on each entry by itself, so "
              "its result has the shape of x.", name="a reduction"),
        Wrong(operation(softmax, lambda x, g: softmax(x) * (g - (g * softmax(x)).sum()), lambda x, g: g * x,
                        lambda x, g: g * x * x), "", MIXES, name="mixes entries"),
        Wrong(operation(np.exp, lambda x, g: np.multiply(g, np.exp(x), out=g), lambda x, g: g * x, lambda x, g: g / x),
              "M15", "The numbers are right, but your rule writes them into the array g. Other rules need g, too.",
              name="writes into g"),
        Wrong(measured_rule(), "M44", "Your rule measures the derivative with small steps. This is how to test a rule. The "
              "rule itself should be a formula. What is the derivative of your operation?", name="measured"),
        Wrong(operation(lambda x: 3 * x, lambda x, g: 3 * g, lambda x, g: g * x, lambda x, g: g), "", "The graph of your "
              "operation is a straight line, so its derivative is the same everywhere. Choose a function that is curved.",
              name="a line"),
        Wrong(operation(softplus, lambda x, g: g * logistic(x), lambda x, g: g * x), "", "There is only one wrong rule. Write "
              "at least two.", name="one wrong rule"),
        Wrong(operation(softplus, lambda x, g: g * logistic(x), lambda x, g: g * x, lambda x, g: logistic(x) * g), "",
              "One of your wrong rules is right.", name="a right one"),
        Wrong(operation(softplus, lambda x, g: g * logistic(x), lambda x, g: g * x, lambda x, g: x * g), "", "Your two "
              "wrong rules return the same numbers, so they are the same mistake.", name="twins"),
    ],
    alternatives=[
        operation(softplus, lambda x, g: g * logistic(x), lambda x, g: logistic(x), lambda x, g: g * softplus(x)),
        operation(np.sqrt, lambda x, g: g / (2 * np.sqrt(x)), lambda x, g: g / np.sqrt(x), lambda x, g: g * x),
    ],
    hints=["Choose a function with a curved graph. Its rule is g times its derivative.",
           "For x**3 the rule is 3 * x**2 * g. Two wrong rules are 3 * x**2 (without g) and x**2 * g (without the 3).",
           "Compare your rule with a central difference before you run the check."],
    worked="my_forward = np.sqrt; my_rule = lambda x, g: g / (2 * np.sqrt(x)); the two wrong rules forget the 2, or g.",
)  # fmt: skip

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
    for sign in "+-*":
        yield run(f"d, e = Dual(a, s), Dual(b, 2.0)\nd {sign} e\n[float(n) for n in (d.value, d.slope, e.value, e.slope)]",
                  **given).expect([a, s, b, 2.0])  # fmt: skip


DUAL = """
class Dual:
    def __init__(self, value, slope=0.0):
        self.value, self.slope = value, slope

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    def __sub__(self, other):
        return Dual(self.value - other.value, self.slope - other.slope)

    def __mul__(self, other):
        other = other if isinstance(other, Dual) else Dual(other)
        return Dual(self.value * other.value, self.slope * other.value + self.value * other.slope)

    def sin(self):
        return Dual(np.sin(self.value), np.cos(self.value) * self.slope)

    def exp(self):
        return Dual(np.exp(self.value), np.exp(self.value) * self.slope)
"""


def fast(*changes: tuple[str, str]) -> dict[str, Any]:
    return made(DUAL, ("Dual",), *changes)


PRODUCT = "self.slope * other.value + self.value * other.slope"
ONE_SLIP: dict[str, Sequence[tuple[str, str]]] = {
    "The slope of a product is the product of the slopes here. The product rule has two terms.": [
        (PRODUCT, "self.slope * other.slope")],
    "The second term of the product rule is subtracted here. Both terms are added.": [(PRODUCT, PRODUCT.replace(" + ", " - "))],
    "In the slope of a product, each slope is multiplied by its own value. It belongs to the value of the *other* factor.": [
        (PRODUCT, "self.slope * self.value + other.slope * other.value")],
    "The slope of a product is the sum of the slopes here. Each is multiplied by the value of the other factor.": [
        (PRODUCT, "self.slope + other.slope")],
    "The slope of a product uses only the second factor's.": [(PRODUCT, "self.value * other.slope")],
    "In a product, a plain number gets the slope 1. What is the derivative of the constant 2.5?": [
        ("Dual(other)\n        return Dual(self.value * ", "Dual(other, 1.0)\n        return Dual(self.value * ")],
    "In a sum, a plain number gets the slope 1. What is the derivative of the constant 2.5?": [
        ("Dual(other)\n        return Dual(self.value + ", "Dual(other, 1.0)\n        return Dual(self.value + ")],
    "The slope of a sum is the product of the slopes here. Slopes are added.": [
        ("self.slope + other.slope)", "self.slope * other.slope)")],
    "The derivative of the sine has the wrong sign: it is the cosine.": [
        ("np.cos(self.value) * self.slope", "-np.cos(self.value) * self.slope")],
    "The derivative of the sine is the cosine, and not the sine again.": [
        ("np.cos(self.value) * self.slope", "np.sin(self.value) * self.slope")],
    "The slope of the exponential function is computed from the slope. It is exp of the *value*, times the slope.": [
        ("np.exp(self.value) * self.slope", "np.exp(self.slope)")],
    "The slope of the exponential function is exp of the *value*, times the slope.": [
        ("np.exp(self.value) * self.slope", "np.exp(self.slope) * self.slope")],
    "The sum is written into its first operand, so this number has changed when it is used again. Make a new Dual.": [
        ("return Dual(self.value + other.value, self.slope + other.slope)",
         "self.value, self.slope = self.value + other.value, self.slope + other.slope\n        return self")],
    "The product is written into its first operand, so this number has changed when it is used again. Make a new Dual.": [
        (f"return Dual(self.value * other.value, {PRODUCT})",
         f"self.value, self.slope = self.value * other.value, {PRODUCT}\n        return self")],
}  # fmt: skip
DIFFERENCE = ("return Dual(self.value - other.value, self.slope - other.slope)", "return self + other * -1.0")
likely_forwards = by_variants(DUAL, ONE_SLIP | {
    words + " (Your difference uses it, too.)": [*changes, DIFFERENCE] for words, changes in ONE_SLIP.items()})

FORWARDS = program(
    "14.8", "Dual",
    title="forward mode",
    prelude=NUMPY, probes=probes_forwards, likely=likely_forwards,
    wrong=[
        Wrong(fast(("self.slope * other.value + self.value * other.slope", "self.slope * other.slope")), "M22", "The "
              "derivative of a product is not the product of the derivatives.", name="product of slopes"),
        Wrong(fast((" + self.value * other.slope", "")), "M22", "Your product uses only the slope of the first factor.",
              name="one path"),
        Wrong(fast(("np.cos(self.value) * self.slope", "np.cos(self.value)")), "M23", "The slope of the sine does not use the "
              "slope of its input.", name="sin alone"),
        Wrong(fast(("np.exp(self.value) * self.slope", "np.exp(self.value)")), "M23", "The slope of the exponential function "
              "does not use the slope of its input.", name="exp alone"),
        Wrong(fast(("np.cos(self.value) * self.slope", "np.cos(self.slope)")), "M43", "The cosine is computed from the slope. "
              "It should be computed from the value.", name="cos of slope"),
        Wrong(fast(("self.slope - other.slope", "self.slope + other.slope")), "M30", "In a difference, the slopes are "
              "subtracted, too.", name="minus"),
        Wrong(fast(("return Dual(self.value + other.value, self.slope + other.slope)",
                    "self.value, self.slope = self.value + other.value, self.slope + other.slope\n        return self")), "M15",
              "The sum is written into its first operand, so this number has changed when it is used again.",
              name="changes itself"),
        Wrong(fast(("np.cos(self.value) * self.slope",
                    "(np.sin(self.value + 1e-6) - np.sin(self.value - 1e-6)) / 2e-6 * self.slope")), "M44", "The slope of the "
              "sine is measured, so its last digits are wrong. What is the derivative of the sine?", name="sin measured"),
        Wrong(fast(("Dual(other)", "Dual(other, 1.0)")), "", "A plain number got the slope 1 in your sums and products. What "
              "is the derivative of the constant 2.5?", name="moving constant"),
    ],
    alternatives=[fast(), fast(("self.slope * other.value + self.value * other.slope",
                                "other.slope * self.value + other.value * self.slope"))],
)  # fmt: skip

# --- 14.8 second derivatives ---------------------------------------------------------------------------

DEEP = """
class Deep:
    def __init__(self, value, parents=(), rules=()):
        self.value, self.parents, self.rules = value, parents, rules

    def __add__(self, other):
        return Deep(self.value + other.value, (self, other), (lambda g: g, lambda g: g))

    def __mul__(self, other):
        return Deep(self.value * other.value, (self, other), (lambda g: g * other, lambda g: g * self))

    def exp(self):
        out = Deep(np.exp(self.value), (self,))
        out.rules = (lambda g: g * out,)
        return out

    def sin(self):
        return Deep(np.sin(self.value), (self,), (lambda g: g * (self + Deep(np.pi / 2)).sin(),))


def gradient(y, x):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for parent in node.parents:
                visit(parent)
            order.append(node)

    visit(y)
    upstream = {y: Deep(1.0)}
    for node in reversed(order):
        for parent, rule in zip(node.parents, node.rules):
            g = rule(upstream[node])
            upstream[parent] = upstream[parent] + g if parent in upstream else g
    return upstream.get(x, Deep(0.0))
"""
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


def deep(*changes: tuple[str, str]) -> dict[str, Any]:
    return made(DEEP, ("Deep", "gradient"), *changes)


JOINED = "upstream[parent] + g if parent in upstream else g"

likely_twice = by_variants(DEEP, {
    "The rules of the product multiply by a new Deep without a history, so the second derivative loses a part.": [
        ("g * other, lambda g: g * self", "g * Deep(other.value), lambda g: g * Deep(self.value)")],
    "The cosine in the rule of the sine has the wrong sign.": [("Deep(np.pi / 2)", "Deep(-np.pi / 2)")],
    "The derivative of the cosine is +sin in your rules. It is -sin.": [
        ("(self + Deep(np.pi / 2)).sin()", "Deep(np.cos(self.value), (self,), (lambda h: h * self.sin(),))")],
    "The rule of the sine multiplies by the sine itself. The derivative of the sine is the cosine.": [
        ("(self + Deep(np.pi / 2)).sin()", "self.sin()")],
    "The rule of the sine does not use the upstream gradient.": [("lambda g: g * (self + ", "lambda g: (self + ")],
    "The rule of exp multiplies by x. The derivative of the exponential function is the function itself.": [
        ("g * out,", "g * self,")],
    "The rules of the sum are those of a product.": [
        ("(lambda g: g, lambda g: g)", "(lambda g: g * other, lambda g: g * self)")],
    "The rules of the product do not use the upstream gradient.": [
        ("g * other, lambda g: g * self", "other, lambda g: self")],
    "What gradient returns has no history, so it cannot be differentiated again. Return the Deep that the pass computed.": [
        ("return upstream.get(x, Deep(0.0))", "return Deep(upstream.get(x, Deep(0.0)).value)")],
    "gradient changes x.value. It only returns the gradient.": [
        ("    return upstream.get(x, ", "    x.value = upstream.get(x, Deep(0.0)).value\n    return upstream.get(x, ")],
})

AGAIN = program(
    "14.8", ("Deep", "gradient"),
    title="second derivatives",
    prelude=NUMPY, probes=probes_twice, likely=likely_twice,
    wrong=[
        Wrong(deep(("lambda g: g * other, lambda g: g * self", "lambda g: Deep(g.value * other.value), lambda g: "
              "Deep(g.value * self.value)")), "M13", "The first derivative is right, but the gradient of a product has no "
              "history, because it was computed from plain numbers. Compute it with Deep.", name="bare numbers"),
        Wrong(deep((JOINED, "g")), "M19", "Where two contributions meet, the second replaces the first.",
              name="deep overwrites"),
        Wrong(deep(("lambda g: g * out,", "lambda g: out,")), "M23", "The rule of exp does not use the upstream gradient.",
              name="deep exp without g"),
        Wrong(deep(("(self + Deep(np.pi / 2)).sin()", "Deep(np.cos(self.value))")), "M13", "The cosine in the rule of the sine "
              "is a new number without a history, so the second derivative is lost. A cosine is a shifted sine.",
              name="bare cosine"),
        Wrong(deep(("upstream = {y: Deep(1.0)}", "upstream = {y: y}")), "M21", "The pass starts from the value of y. What is "
              "dy/dy?", name="deep seed"),
        Wrong(deep(("lambda g: g * other, lambda g: g * self", "lambda g: g * self, lambda g: g * other")), "M43", "The "
              "two rules of the product have changed places.", name="deep mul swapped"),
        Wrong(deep(("upstream.get(x, Deep(0.0))", "upstream.get(x, Deep(0.0)) if y is not x else Deep(0.0)")), "M21",
              "Your dx/dx is 0. By how much does x change when x changes?", name="deep of itself"),
        Wrong(deep(("reversed(order)", "order"), ("upstream[node])", "upstream.get(node, Deep(0.0)))")), "M20", "The pass "
              "begins at the inputs, so most nodes pass on 0. At which end does it begin?", name="deep order"),
    ],
    alternatives=[deep(), deep((JOINED, "g + upstream[parent] if parent in upstream else g"),
                               ("(lambda g: g * out,)", "(lambda g: out * g,)"))],
)  # fmt: skip

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


CHECKPOINTED = """
def checkpointed(layers, x, g, every):
    saved = []
    for i, layer in enumerate(layers):
        if i % every == 0:
            saved.append(x)
        x = layer.forward(x)
    for start in reversed(range(0, len(layers), every)):
        part, inputs = layers[start : start + every], [saved.pop()]
        for layer in part[:-1]:
            inputs.append(layer.forward(inputs[-1]))
        for layer in reversed(part):
            g = layer.backward(inputs.pop(), g)
    return g
"""


def with_checkpoints(*changes: tuple[str, str]) -> dict[str, Any]:
    return made(CHECKPOINTED, ("checkpointed",), *changes)


def from_the_start(layers: Any, x: Any, g: Any, every: Any) -> Any:
    for i in reversed(range(len(layers))):
        at = x
        for layer in layers[:i]:
            at = layer.forward(at)
        g = layers[i].backward(at, g)
    return g


def part_by_part(layers: Any, x: Any, g: Any, every: Any) -> Any:
    if len(layers) <= every:
        inputs = [x]
        for layer in layers[:-1]:
            inputs.append(layer.forward(inputs[-1]))
        for layer, at in zip(layers[::-1], inputs[::-1], strict=True):
            g = layer.backward(at, g)
        return g
    at = x
    for layer in layers[:every]:
        at = layer.forward(at)
    return part_by_part(layers[:every], x, part_by_part(layers[every:], at, g, every), every)


CHECKPOINTS = program(
    "14.8", "checkpointed",
    title="checkpoints",
    prelude=SIGNALS, probes=probes_checkpoint,
    wrong=[
        Wrong(with_checkpoints(("if i % every == 0:", "if True:"), ("range(0, len(layers), every)", "range(len(layers))"),
              ("start : start + every", "start : start + 1")), "M18", "The gradient is right, but every signal was saved. "
              "Save only the input of every `every`-th layer. How can you get the others back on the way back?",
              name="keeps all"),
        Wrong({"checkpointed": from_the_start}, "", "No signal is saved, so for each layer all earlier layers are computed "
              "again. Thirty layers need more than four hundred steps. Where can you start instead?", name="from the start"),
        Wrong(with_checkpoints(("for layer in reversed(part):", "for layer in part:")), "M20", "Inside a part, the layers run "
              "backward in the order of the forward pass. Which layer of the part comes first on the way back?",
              name="part forwards"),
        Wrong(with_checkpoints(("in reversed(range(", "in (range(")), "M20", "The parts come in the order of the forward pass, "
              "and each of them gets the saved signal of another part.", name="parts forwards"),
        Wrong(with_checkpoints(("g = layer.backward(inputs.pop(), g)", "pass"), ("    return g", "    return g"),
              ("        for layer in reversed(part):", "        for layer, at in zip(part, inputs):\n            g = "
               "layer.backward(at, g)\n        for layer in part:")), "M20", "The result is right, because numbers can be "
              "multiplied in any order. But the layers of a part were called from first to last. With matrices the result "
              "would be wrong.", name="asked forwards"),
        Wrong(with_checkpoints(("    saved = []\n", "    every = 3\n    saved = []\n")), "", "The argument `every` has no "
              "effect. With every=1, no layer has to be computed again.", name="always three"),
        Wrong(with_checkpoints(("range(0, len(layers), every)", "range(0, len(layers) - every + 1, every)")), "", "The last "
              "part is left out when it is shorter than the others.", name="short part"),
        Wrong(with_checkpoints(("g = layer.backward(inputs.pop(), g)", "g = layer.backward(inputs.pop(), 1.0)")), "M23",
              "A layer is called with 1.0 in place of the upstream gradient.", name="layers without g"),
        Wrong(with_checkpoints(("inputs.pop(), g)", "inputs[0], g)")), "M06", "Every layer of a part gets the first signal of "
              "this part. Which input had each layer on the way forward?", name="one signal"),
    ],
    alternatives=[with_checkpoints(), {"checkpointed": part_by_part}],
)  # fmt: skip

# --- 14.8 hooks ----------------------------------------------------------------------------------------

CALLED = "            new = hook(upstream[t])\n            upstream[t] = upstream[t] if new is None else new\n"
HOOKS = ENGINE.replace(
    "        if not t.parents and t in upstream:\n",
    "        for hook in t.hooks if t in upstream else []:\n" + CALLED + "        if not t.parents and t in upstream:\n",
).replace("        self.grad = None\n", "        self.grad = None\n        self.hooks = []\n") + (
    "\n\ndef register_hook(t, hook):\n    t.hooks.append(hook)\n\n\nTensor.register_hook = register_hook\n"
)  # fmt: skip
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


def hooked(*changes: tuple[str, str]) -> dict[str, Any]:
    return made(HOOKS, ("Tensor",), *changes)


LOOP_OVER_HOOKS = "        for hook in t.hooks if t in upstream else []:\n"
likely_hooks = by_variants(HOOKS, {
    "The hooks of a leaf are not called. They replace what is added to its grad.": [
        ("in t.hooks if t in upstream else", "in t.hooks if t in upstream and t.parents else")],
    "The hooks of the output are not called. Its gradient is the one that the pass begins with.": [
        ("in t.hooks if t in upstream else", "in t.hooks if t in upstream and t is not self else")],
    "Only the first hook is called. Each of them gets what the one before has returned.": [
        (CALLED, CALLED + "            break\n")],
    "What a hook returns is multiplied with the gradient. It replaces the gradient.": [
        ("if new is None else new", "if new is None else new * upstream[t]")],
    "The hooks are gone after the first pass. They are called in each pass.": [(CALLED, CALLED + "        t.hooks = []\n")],
    "The hook is called with each contribution. It is called once, with the sum of all of them.": [
        (LOOP_OVER_HOOKS + CALLED, ""), ("                upstream[parent] = upstream",
         "                for hook in parent.hooks:\n"
         "                    new = hook(g)\n                    g = g if new is None else new\n"
         "                upstream[parent] = upstream")],
    "The hook of a leaf is called with its grad, in which earlier passes are added up. It is called with the gradient of this "
    "pass.": [("new = hook(upstream[t])", "new = hook(upstream[t] if t.parents or t.grad is None else upstream[t] + t.grad)")],
    "The hooks are never called: `Tensor.backward` is still the one without hooks.": [(LOOP_OVER_HOOKS + CALLED, "")],
    "The hook is called after the gradient was passed on, so what it returns comes too late.": [
        (LOOP_OVER_HOOKS + CALLED, ""), ("                upstream[parent] = upstream.get(parent, 0) + g\n",
         "                upstream[parent] = upstream.get(parent, 0) + g\n" + LOOP_OVER_HOOKS + CALLED)],
})  # fmt: skip

LISTENING = program(
    "14.8", "Tensor.register_hook",
    title="hooks",
    prelude=NUMPY, probes=probes_hooks, likely=likely_hooks,
    wrong=[
        Wrong(hooked((CALLED, "            hook(upstream[t])\n")), "", "The hook is called, but what it returns is ignored. "
              "When should its result replace the gradient?", name="listens only"),
        Wrong(hooked(("upstream[t] = upstream[t] if new is None else new", "upstream[t] = new")), "M05", "A hook that returns "
              "None has replaced the gradient by None. None means: leave the gradient as it is.", name="None for gradient"),
        Wrong(hooked(("upstream[t] if new is None else new", "new if np.any(new) else upstream[t]")), "M05", "A hook returned "
              "0, and the old gradient was passed on. Is 0 the same as None?", name="zero for none"),
        Wrong(hooked(("t.hooks.append(hook)", "t.hooks = [hook]")), "M19", "A second hook replaces the first one. A tensor may "
              "have several.", name="one hook"),
        Wrong(hooked((LOOP_OVER_HOOKS + CALLED, ""), (ADDS, "for hook in parent.hooks:\n                    new = hook(g)\n"
              "                    g = g if new is None else new\n                " + ADDS), ("    upstream = {self: start}\n",
              "    for hook in self.hooks:\n        new = hook(start)\n        start = start if new is None else new\n"
              "    upstream = {self: start}\n")), "M20", "The hook is called for each contribution, before they are added up. "
              "When is the gradient of a tensor complete?", name="each contribution"),
        Wrong(hooked((LOOP_OVER_HOOKS, "        for hook in t.hooks if t in upstream and not t.parents else []:\n")), "M02",
              "Hooks of leaves are called, but hooks of inner tensors are not.", name="leaves only"),
        Wrong(hooked(("for hook in t.hooks if", "for hook in t.hooks[::-1] if")), "", "The hooks are called in reverse order. "
              "Call them in the order in which they were registered.", name="last first"),
    ],
    alternatives=[hooked(), hooked((CALLED, "            answer = hook(upstream[t].copy())\n            if answer is not "
    "None:\n"
                                            "                upstream[t] = np.asarray(answer)\n"))],
)  # fmt: skip

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


def exporter(
    keep: Callable[..., None] = lambda ctx, x, out: ctx.save_for_backward(x, out),
    given: Callable[..., Any] = lambda ctx: ctx.saved_tensors,
    arrives: Callable[..., Any] = lambda g: g.numpy(), base: type = Function, swap: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """exported, with some of its parts exchanged."""

    def exported(forward: Any, rule: Any) -> Any:
        def ahead(ctx: Any, x: Any) -> Any:
            out = torch.tensor(forward(x.detach().numpy()))
            keep(ctx, x, out)
            return out

        def back(ctx: Any, g: Any) -> Any:
            x, out = (t.detach().numpy() for t in given(ctx))
            return torch.tensor(rule(arrives(g), x, out) if swap else rule(arrives(g), out, x))

        return type("Exported", (base,), {"forward": staticmethod(ahead), "backward": staticmethod(back)})

    return {"exported": exported}


def hung(ctx: Any, x: Any, out: Any) -> None:
    ctx.x, ctx.out = x, out


def remade(forward: Any, rule: Any) -> Any:
    class Exported(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return torch.from_numpy(np.asarray(forward(x.detach().numpy())))

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x = ctx.saved_tensors[0].detach().numpy()
            return torch.from_numpy(np.asarray(rule(g.detach().numpy(), forward(x), x)))

    return Exported


def of_tensors(forward: Any, rule: Any) -> Any:
    def ahead(ctx: Any, x: Any) -> Any:
        out = forward(x)
        ctx.save_for_backward(x, out)
        return out

    def back(ctx: Any, g: Any) -> Any:
        x, out = ctx.saved_tensors
        return rule(g, out, x)

    return type("Exported", (Function,), {"forward": staticmethod(ahead), "backward": staticmethod(back)})


class Shared:
    """Where a careless answer saves what belongs to one call."""

    saved: tuple[Any, Any]


def saved_outside(ctx: Any, x: Any, out: Any) -> None:
    Shared.saved = x, out


ORDERS = {", ".join(order): order for order in itertools.permutations(("g", "out", "x"))}


def in_order_of(names: Sequence[str]) -> dict[str, Any]:
    """exported, where the rule is called with these, in this order."""

    def back(ctx: Any, g: Any) -> Any:
        x, out = (t.detach().numpy() for t in ctx.saved_tensors)
        given = {"g": g.numpy(), "out": out, "x": x}
        return torch.tensor(ctx.rule(*(given[name] for name in names)))

    def exported(forward: Any, rule: Any) -> Any:
        def ahead(ctx: Any, x: Any) -> Any:
            out = torch.tensor(forward(x.detach().numpy()))
            ctx.rule = rule
            ctx.save_for_backward(x, out)
            return out

        return type("Exported", (Function,), {"forward": staticmethod(ahead), "backward": staticmethod(back)})

    return {"exported": exported}


@functools.cache
def ordered(text: str) -> Callable[[Probe], Any]:
    answer = in_order_of(ORDERS[text])
    return lambda probe: next(one_by_one(EXPORT, answer, [probe]))


def likely_export(probe: Probe) -> dict[str, Any]:
    """The gradient where the rule is called with its arguments in another order, by what to say about it."""
    if not probe.code.endswith("x.grad"):
        return {}
    return {f"The rule is called as rule({text}). Call it as rule(g, out, x).": answer for text in list(ORDERS)[1:]
            if not isinstance(answer := ordered(text)(probe), Failure)}  # fmt: skip


EXPORT = program(
    "14.8", "exported",
    title="export",
    with_engine=True, prelude=EXPORTED, probes=probes_export, likely=likely_export,
    wrong=[
        Wrong(exporter(hung, lambda ctx: (ctx.x, ctx.out)), "M34", "The gradient is right until x is changed in place, and "
              "then it is silently wrong. Which method saves tensors so that a change is noticed?", name="hung on ctx"),
        Wrong(exporter(arrives=lambda g: np.ones(g.shape)), "M23", "The rule gets ones in place of the upstream gradient.",
              name="export without g"),
        Wrong(exporter(swap=True), "M43", "Input and output have changed places: the rule takes g, the output, and the input.",
              name="out for x"),
        Wrong(exporter(saved_outside, lambda ctx: Shared.saved), "M34", "Two operations of one graph save their tensors in the "
              "same place, so the second overwrites those of the first. Save them in ctx, which belongs to one call.",
              name="saved outside"),
        Wrong({"exported": of_tensors}, "", "forward and rule got tensors, but they were written for numpy arrays. Convert in "
              "both directions.", name="tensors inside"),
        Wrong(exporter(base=object), "M33", "The class is not a Function, so it has no `apply`, which records the operation.",
              name="no Function"),
    ],
    alternatives=[exporter(), {"exported": remade}],
)  # fmt: skip

EXERCISE_14_8 = one_of(
    "14.8", FORWARDS, AGAIN, CHECKPOINTS, LISTENING, EXPORT,
    why="What you built agrees with derivatives that were found in another way.",
    title="one extension of your choice", minutes=20, with_engine=True,
    hints=["Choose one; forward mode is the shortest. Leave the other blanks as they are.",
           "Forward mode: each operation computes a value and its derivative. Second derivatives: write the rules with Deep, "
           "not with plain numbers. Checkpoints: save few signals, and compute the others again. Hooks: call them when the "
           "gradient is complete. Export: arrays inside, tensors outside.",
           "First try the smallest example by hand: one product, two layers, one hook, one call of apply."],
    worked="For forward mode, the product is Dual(a.value * b.value, a.slope * b.value + a.value * b.slope), and the sine has "
           "the slope cos(value) * slope.",
)  # fmt: skip

# --- 14.9 from an empty file ---------------------------------------------------------------------------

MINE = """
class MyTensor:
    recording, made = True, 0

    def __init__(self, data, requires_grad=False):
        self.data = np.array(data, dtype=float)
        self.requires_grad, self.grad = requires_grad, None
        self.op, self.parents, self.rules, self.version = "", (), None, [0]
        MyTensor.made += 1
        self.number = MyTensor.made

    def backward(self, gradient=None, retain_graph=False):
        my_walk(self, my_start(self, gradient), retain_graph)

    def detach(self):
        out = MyTensor(0.0)
        out.data, out.version = self.data, self.version
        return out

    def add_(self, amount):
        if self.requires_grad and not self.parents and MyTensor.recording:
            raise RuntimeError("a leaf that requires grad in an in-place operation")
        self.data += amount.data if isinstance(amount, MyTensor) else amount
        self.version[0] += 1
        return self


class my_no_grad:
    def __enter__(self):
        self.before = MyTensor.recording
        MyTensor.recording = False

    def __exit__(self, *error):
        MyTensor.recording = self.before


def my_apply(name, forward, rules, *inputs):
    inputs = [t if isinstance(t, MyTensor) else MyTensor(t) for t in inputs]
    try:
        out = MyTensor(forward(*[t.data for t in inputs]))
    except (ValueError, IndexError) as error:
        raise ValueError(f"{name}: {error}") from None
    if MyTensor.recording and any(t.requires_grad for t in inputs):
        out.requires_grad = True
        out.op, out.parents, out.rules = name, inputs, rules
        out.versions = [t.version[0] for t in inputs]
    return out


def my_start(root, gradient):
    if not root.requires_grad:
        raise RuntimeError("this tensor does not require grad")
    if gradient is None and root.data.size != 1:
        raise RuntimeError("only scalar outputs need no gradient")
    start = np.ones(root.data.shape) if gradient is None else np.array(gradient, float)
    if start.shape != root.data.shape:
        raise RuntimeError(f"the gradient has the shape {start.shape}")
    return start


def my_order(root):
    found = {root: None}
    waiting = [root]
    while waiting:
        new = [p for p in waiting.pop().parents if p.requires_grad and p not in found]
        found.update(dict.fromkeys(new))
        waiting.extend(new)
    return sorted(found, key=lambda t: -t.number)


def my_walk(root, start, retain_graph):
    upstream = {root: start}
    for t in my_order(root):
        g = upstream.pop(t)
        if not t.parents:
            t.grad = g if t.grad is None else t.grad + g
            continue
        for parent, contribution in my_contributions(t, g):
            upstream[parent] = upstream.get(parent, 0) + contribution
        if not retain_graph:
            t.rules = None


def my_contributions(t, g):
    if t.rules is None:
        raise RuntimeError("backward through the same graph a second time")
    if t.versions != [p.version[0] for p in t.parents]:
        raise RuntimeError(f"{t.op}: an input was changed by an in-place operation")
    arrays = [p.data for p in t.parents]
    for parent, rule in zip(t.parents, t.rules):
        if parent.requires_grad:
            yield parent, my_fit(np.asarray(rule(g, *arrays)), parent.data.shape)


def my_fit(g, shape):
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)


def my_operation(method, name, forward, *rules):
    setattr(MyTensor, method, lambda *inputs: my_apply(name, forward, rules, *inputs))


my_operation("__add__", "add", np.add, lambda g, x, y: g, lambda g, x, y: g)
my_operation("__sub__", "sub", np.subtract, lambda g, x, y: g, lambda g, x, y: -g)
my_operation("__mul__", "mul", np.multiply,
             lambda g, x, y: g * y, lambda g, x, y: g * x)
my_operation("__truediv__", "div", np.divide,
             lambda g, x, y: g / y, lambda g, x, y: -g * x / y**2)
my_operation("__matmul__", "matmul", np.matmul,
             lambda g, x, y: g @ y.T, lambda g, x, y: x.T @ g)
my_operation("__neg__", "neg", np.negative, lambda g, x: -g)
my_operation("exp", "exp", np.exp, lambda g, x: g * np.exp(x))
my_operation("log", "log", np.log, lambda g, x: g / x)
my_operation("tanh", "tanh", np.tanh, lambda g, x: g / np.cosh(x)**2)
my_operation("relu", "relu", lambda x: np.maximum(x, 0), lambda g, x: g * (x > 0))
MyTensor.__radd__, MyTensor.__rmul__ = MyTensor.__add__, MyTensor.__mul__
MyTensor.__rsub__ = lambda a, b: -a + b
MyTensor.__pow__ = lambda a, n: my_apply(
    "pow", lambda x: x**n, (lambda g, x: g * n * x ** (n - 1),), a
)


def my_sum(a, axis=None):
    def rule(g, x):
        g = g if axis is None else np.expand_dims(g, axis)
        return np.broadcast_to(g, x.shape)

    return my_apply("sum", lambda x: x.sum(axis=axis), (rule,), a)


def my_index(a, index):
    def rule(g, x):
        full = np.zeros(x.shape)
        np.add.at(full, index, g)
        return full

    return my_apply("index", lambda x: x[index], (rule,), a)


MyTensor.sum, MyTensor.__getitem__ = my_sum, my_index
MyTensor.mean = lambda a: a.sum() / a.data.size
MyTensor.reshape = lambda a, *shape: my_apply(
    "reshape", lambda x: x.reshape(shape), (lambda g, x: g.reshape(x.shape),), a
)
"""
MINE_NAMES = ("MyTensor", "my_no_grad")


def mine(*changes: tuple[str, str]) -> dict[str, Any]:
    """The engine from an empty file, after these changes."""
    return made(MINE, MINE_NAMES, *changes)


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
    yield run("seen = False\ntry:\n    with no_grad():\n        raise KeyError\nexcept KeyError:\n    seen = True\n"
              "[seen, (Tensor(3.0, requires_grad=True) * 2.0).requires_grad]").on(AFTER).expect([True, True])  # fmt: skip
    yield run("x = Tensor(3.0, requires_grad=True)\nwith no_grad():\n    x.add_(1.0)\n(x * x).backward()\nfloat(x.grad)"
              ).on("Inside the block a leaf may be changed. After it, operations are recorded again.").expect(8.0)  # fmt: skip


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
WATCH = "t.versions != [p.version[0] for p in t.parents]"
FREES = "        if not retain_graph:\n            t.rules = None\n"

MATRICES = "lambda g, x, y: g @ y.T, lambda g, x, y: x.T @ g"
likely_14_9 = by_variants(MINE, {
    "The rules of the product do not use the upstream gradient.": [
        ("lambda g, x, y: g * y, lambda g, x, y: g * x", "lambda g, x, y: y + 0 * g, lambda g, x, y: x + 0 * g")],
    "The rules of the product have changed places: each multiplies by its own value, and not by the other one.": [
        ("lambda g, x, y: g * y, lambda g, x, y: g * x", "lambda g, x, y: g * x, lambda g, x, y: g * y")],
    "The second rule of the product multiplies by its own value. It needs the value of the first operand.": [
        ("lambda g, x, y: g * y, lambda g, x, y: g * x", "lambda g, x, y: g * y, lambda g, x, y: g * y")],
    "The first rule of the product multiplies by its own value. It needs the value of the second operand.": [
        ("lambda g, x, y: g * y, lambda g, x, y: g * x", "lambda g, x, y: g * x, lambda g, x, y: g * x")],
    "The rules of the product add the upstream gradient. It is a factor.": [
        ("lambda g, x, y: g * y, lambda g, x, y: g * x", "lambda g, x, y: g + y, lambda g, x, y: g + x")],
    "The second rule of a difference has no minus.": [
        ("np.subtract, lambda g, x, y: g, lambda g, x, y: -g", "np.subtract, lambda g, x, y: g, lambda g, x, y: g"),
        ("MyTensor.__rsub__ = lambda a, b: -a + b", "MyTensor.__rsub__ = lambda a, b: MyTensor(b) - a")],
    "The rule for the denominator of a quotient has no minus.": [("-g * x / y**2", "g * x / y**2")],
    "The rule for the denominator of a quotient forgets the numerator.": [("-g * x / y**2", "-g / y**2")],
    "The rule for the denominator of a quotient divides by y. It divides by the square of y.": [
        ("-g * x / y**2", "-g * x / y")],
    "The rule for the numerator of a quotient multiplies by the denominator. It divides by it.": [
        ("lambda g, x, y: g / y,", "lambda g, x, y: g * y,")],
    "The factor n is missing in the rule of the power.": [("g * n * x ** (n - 1)", "g * x ** (n - 1)")],
    "The exponent in the rule of the power is n. It is n - 1.": [("g * n * x ** (n - 1)", "g * n * x**n")],
    "The rule of the power is that of a square, for every exponent.": [("g * n * x ** (n - 1)", "g * 2 * x")],
    "`2.5 - x` computes x - 2.5: the operands of __rsub__ have changed places.": [
        ("MyTensor.__rsub__ = lambda a, b: -a + b", "MyTensor.__rsub__ = lambda a, b: a - b")],
    "`-x` is x itself.": [("np.negative, lambda g, x: -g", "np.positive, lambda g, x: g")],
    "log is the logarithm to the base 10. The natural logarithm is needed, np.log.": [
        ("np.log, lambda g, x: g / x", "np.log10, lambda g, x: g / x")],
    "The rule of relu passes the gradient on everywhere. Which entries had no influence on the result?": [
        ("g * (x > 0))", "g)")],
    "The rule of relu passes the gradient on where x is negative. It is the reverse.": [("g * (x > 0))", "g * (x < 0))")],
    "At exactly 0, your relu passes the gradient on. PyTorch has chosen the derivative 0 there.": [
        ("g * (x > 0))", "g * (x >= 0))")],
    "The rule of relu asks whether the *gradient* is positive. It depends on x.": [("g * (x > 0))", "g * (g > 0))")],
    "The rule of relu does not use the upstream gradient.": [("g * (x > 0))", "1.0 * (x > 0))")],
    "The rule for the right matrix gives zeros. Both matrices have a gradient.": [
        (MATRICES, MATRICES.replace("x.T @ g", "0 * y"))],
    "The rule for the left matrix gives zeros. Both matrices have a gradient.": [
        (MATRICES, MATRICES.replace("g @ y.T", "0 * x"))],
    "The two rules of the quotient have changed places.": [
        ("lambda g, x, y: g / y, lambda g, x, y: -g * x / y**2", "lambda g, x, y: -g * x / y**2, lambda g, x, y: g / y")],
    "The rule of `sum` divides by the number of entries. That is the rule of a mean.": [
        ("return np.broadcast_to(g, x.shape)", "return np.broadcast_to(g / x.size, x.shape)"),
        ("a.sum() / a.data.size", "my_apply(\"mean\", np.mean, (lambda g, x: np.full(x.shape, g / x.size),), a)")],
    "The mean is computed as a sum: it is not divided by the number of entries.": [("a.sum() / a.data.size", "a.sum()")],
    "The rule of `sum` does not use the upstream gradient.": [
        ("return np.broadcast_to(g, x.shape)", "return np.ones(x.shape)")],
    "Of an operand that broadcasting stretched, only one contribution is used. All of them are added.": [
        (" if n == 1), keepdims=True)", " if n == 1), keepdims=True) if g.shape == shape else g.ravel()[: int(np.prod(shape))]"
         ".reshape(shape)")],
    "Of an operand that broadcasting stretched, the largest contribution is used. All of them are added.": [
        ("return g.sum(axis=tuple(i for", "return g.max(axis=tuple(i for")],
    "Of an operand with fewer axes, the last axes are summed. Broadcasting adds axes in front.": [
        ("g.sum(axis=tuple(range(g.ndim - len(shape))))", "g.sum(axis=tuple(range(len(shape) - g.ndim, 0)))")],
    "A change through `y.detach()` changes y, and it is not counted as a change of y. Both need the same counter.": [
        ("out.data, out.version = self.data, self.version", "out.data = self.data")],
    "add_ does not change the array: is its result stored in `data`?": [
        ("self.data += amount.data", "self.data + amount.data")],
    "add_ subtracts the amount.": [("self.data += amount.data", "self.data -= amount.data")],
})  # fmt: skip

EXERCISE_14_9 = program(
    "14.9", MINE_NAMES,
    title="an engine from an empty file",
    why="Your engine meets every requirement, and you wrote all of it without a stub.",
    minutes=90, points=2.0, seconds=2.0, prelude=NUMPY, probes=probes_14_9, likely=likely_14_9,
    free=True,
    wrong=[
        Wrong(mine(("upstream[parent] = upstream.get(parent, 0) + contribution", "upstream[parent] = contribution")), "M19",
              "Where two contributions meet, the second replaces the first. What does the chain rule do with several paths?",
              name="overwrites"),
        Wrong(mine(("-t.number", "t.number"), ("pop(t)", "pop(t, np.zeros(t.data.shape))")), "M20", "The pass begins with the "
              "oldest tensor, so a tensor passes its gradient on before its users have contributed.", name="oldest first"),
        Wrong(mine(("waiting.pop()", "waiting.pop(0)"), ("sorted(found, key=lambda t: -t.number)", "list(found)")), "M20",
              "The pass goes by the distance from the output. In y = p + 5 * p, p is one step and two steps away, and it "
              "passed its gradient on after the first contribution.", name="nearest first"),
        Wrong(mine(("g if t.grad is None else t.grad + g", "g")), "M01", "A second backward replaces the gradient. It should "
              "be added.", name="replaces grad"),
        Wrong(mine(("-t.number", "t.number")), "M20", "The pass comes to a tensor for which there is no upstream gradient yet. "
              "At which end of the graph does it have to begin, and who comes before whom?", name="no gradient yet"),
        Wrong(mine(("np.ones(root.data.shape) if", "np.zeros(root.data.shape) if")), "M25", "The pass begins with zeros where "
              "no gradient was given, so all gradients are zero. What is the derivative of an output with respect to itself?",
              name="zeros at the start"),
        Wrong(mine(("np.ones(root.data.shape) if", "root.data.copy() if")), "M21", "The pass begins with the value of y where "
              "no gradient was given. What is the derivative of an output with respect to itself?", name="value at the start"),
        Wrong(mine(("return start\n", "return np.ones(root.data.shape)\n")), "M25", "The gradient that is given to backward is "
              "not used: the pass begins with ones, as if none had been given.", name="ones at the start"),
        Wrong(mine(("any(t.requires_grad for t in inputs)", "all(t.requires_grad for t in inputs)")), "", "An operation is "
              "recorded only if all its inputs require a gradient, so 2.5 + x is not. One such input is enough.",
              name="all or none"),
        Wrong(mine(("        if not retain_graph:\n", "        if retain_graph:\n")), "M10", "The graph is freed where "
              "retain_graph is true, and it is not freed where it is false. It has to be the reverse.", name="frees the other"),
        Wrong(mine((FREES, "")), "M10", "A second backward through the same graph does not raise an error. What should the "
              "first pass have freed?", name="never frees"),
        Wrong(mine(("        if not retain_graph:\n", "        if True:\n")), "M10", "retain_graph=True has no effect.",
              name="always frees"),
        Wrong(mine(("            t.rules = None\n", "            t.rules = t.rules if t.parents[1:] else None\n")), "M10",
              "Only operations of one input free what they saved: after a product was used, a new sum of it can still be "
              "differentiated.", name="frees some"),
        Wrong(mine(("    g = g.sum(axis=tuple(range(g.ndim - len(shape))))\n", "")), "M27", "The axes that broadcasting "
              "added in front are not summed, so the gradient has another shape than its input.", name="leading axes"),
        Wrong(mine((" if n == 1), keepdims=True)", " if n == 1))")), "M27", "Axes of size 1 disappear from the gradient.",
              name="drops axes"),
        Wrong(mine(("        self.version[0] += 1\n", "")), "M15", "A tensor was changed after an operation had saved it, and "
              "the gradient is silently wrong. How can the operation notice the change?", name="no versions"),
        Wrong(mine((WATCH, "t.versions[0] != t.parents[0].version[0]")), "M15", "Only a change of the first input is noticed. "
              "The second one was changed, and the gradient is silently wrong.", name="watches the first"),
        Wrong(mine(("np.exp, lambda g, x: g * np.exp(x))", "np.exp, lambda g, x: g)\n\ndef my_exp(a):\n    out = my_apply("
              "\"exp\", np.exp, (lambda g, x: g * out.data,), a)\n    return out\n\nMyTensor.exp = my_exp")), "M15", "The rule "
              "of exp uses its result, which was changed in place after the operation, and the gradient is silently wrong. A "
              "saved result has to be watched, too.", name="result unwatched"),
        Wrong(mine(("out.data, out.version = self.data, self.version", "out.data = self.data")), "M15", "A change through "
              "`y.detach()` changes y itself, but it is not counted as a change of y. Both need the same counter.",
              name="own counter"),
        Wrong(mine(("out.data, out.version = self.data, self.version", "out.data = self.data.copy()")), "M12", "A change "
              "through `y.detach()` does not reach y. In PyTorch both use the same memory: `detach` makes no copy, and `add_` "
              "writes into the array that is there.", name="detach copies"),
        Wrong(mine(("        out = MyTensor(0.0)\n", "        out = MyTensor(0.0, self.requires_grad)\n")), "M12", "What was "
              "detached requires a gradient again, as a new leaf.", name="detached leaf"),
        Wrong(mine(("        out = MyTensor(0.0)\n        out.data, out.version = self.data, self.version\n        return "
              "out\n",
              "        return self\n")), "M12", "`detach` returns the same tensor, with its history.", name="no detach"),
        Wrong(mine(("MyTensor.recording = self.before", "MyTensor.recording = True")), "M49", "Leaving the inner block "
              "switched recording on inside the outer one. Which state was there before?", name="switch"),
        Wrong(mine(("MyTensor.recording = self.before", "MyTensor.recording = self.before\n        return True")), "M49", "An "
              "error inside a block without recording has disappeared. What does Python do when __exit__ returns True?",
              name="swallows errors"),
        Wrong(mine(("if self.requires_grad and not self.parents and", "if self.requires_grad and")), "M16", "Your engine "
              "forbids a change in place for every tensor that requires a gradient. Only leaves must not be changed. A "
              "computed tensor may be changed, as long as no operation needs its old value.", name="nothing in place"),
        Wrong(mine(("np.array(data, dtype=float)", "np.array(data)")), "", "Integer data remain integers, so 0.5 cannot be "
              "added in place. Turn all data into floating-point numbers.", name="integers"),
        Wrong(mine(("root.data.size != 1", "root.data.shape != ()")), "M41", "An output of shape (1, 1) holds a single "
              "number, so it needs no gradient.", name="empty shape only"),
        Wrong(mine(("    if gradient is None and root.data.size != 1:\n        raise RuntimeError(\"only scalar outputs "
              "need no "
              "gradient\")\n", "")), "M25", "A vector was differentiated without a gradient, as if ones had been passed.",
              name="silent ones"),
        Wrong(mine(("np.add.at(full, index, g)", "full[index] = g")), "M36", "An entry that was used twice gets only one of "
              "its two contributions.", name="index twice"),
        Wrong(mine(("a.sum() / a.data.size", "a.sum() / len(a.data)")), "M30", "The mean divides by the number of rows, and "
              "not by the number of entries.", name="mean by rows"),
        Wrong(mine(("    if start.shape != root.data.shape:\n        raise RuntimeError(f\"the gradient has the shape "
              "{start.shape}\")\n", "")), "M26", "A gradient of another shape than its tensor is accepted. It should raise a "
              "RuntimeError.", name="any shape"),
        Wrong(mine(("    if not root.requires_grad:\n        raise RuntimeError(\"this tensor does not require grad\")\n", "")),
              "", "backward() of a tensor that requires no gradient does nothing, silently. It should raise a RuntimeError.",
              name="silent constant"),
        Wrong(mine(("MyTensor.__radd__, MyTensor.__rmul__ = MyTensor.__add__, MyTensor.__mul__\n",
                    "MyTensor.__rmul__ = MyTensor.__mul__\n")), "", "A plain number in front of + raises an error. For 2.5 + x "
              "Python asks a method of x. Which one?", name="no number in front"),
        Wrong(mine(("MyTensor.__pow__ = lambda a, n: my_apply(", "MyTensor.__pow__ = lambda a, n: my_power(a, int(n))\n"
                    "my_power = lambda a, n: my_apply(")), "", "The exponent is turned into a whole "
              "number, so the power 0.5 is computed as the power 0.", name="whole powers"),
    ],
    alternatives=[
        mine(),
        mine(("-t.number", "-t.number * 2"), ("upstream.get(parent, 0) + contribution",
             "contribution + upstream.get(parent, 0.0)"), ("-g * x / y**2", "-g * x / (y * y)"),
             ("np.maximum(x, 0)", "x * (x > 0)"), ("g * n * x ** (n - 1)", "n * g * x ** (n - 1.0)")),
    ],
    hints=[
        "The card shows the first program that fails. Satisfy one requirement at a time.",
        "Begin with the class, then recording, the sum and the product, then the backward pass. Add the other operations next, "
        "and the errors last.",
        "For changes in place, give each tensor a counter that add_ increases and that detach passes on. An operation notes "
        "the counters of what it saved, and compares them in the backward pass.",
    ],
    worked="Build it in this order: the class, recording, add and mul, the start of the pass, the order (sorted by number) and "
           "the pass. Then add broadcasting, the other operations, counters of changes, and the block without recording.",
)  # fmt: skip

# --- predictions of the reading notebook ---------------------------------------------------------------

PREDICTION_14_0 = prediction(
    "14.0", [25, 19], points=0,
    title="one graph that tells seven engines apart",
    wrong=[
        Wrong([29, 22], "M20", "c passed its gradient on before all its users had contributed. When is a gradient complete?"),
        Wrong([1, 1], "M19", "The last contribution replaced the others."),
        Wrong([46, 35], "M21", "Some nodes passed their gradient on twice."),
    ],
)  # fmt: skip

PREDICTION_14_8A = prediction(
    "14.8a", "c", points=0,
    title="how many forward runs a whole gradient takes",
    options={"a": "1", "b": "2", "c": "1000"},
    wrong=[
        Wrong("a", "M46", "One run carries the derivative with respect to one input. How many inputs are there?"),
        Wrong("b", "M46", "Two evaluations make one measured derivative. A run carries the derivative itself, but of one "
              "input."),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_14_0, PREDICTION_14_8A, EXERCISE_14_1, EXERCISE_14_2, EXERCISE_14_3, EXERCISE_14_4, EXERCISE_14_5,
    EXERCISE_14_6, EXERCISE_14_7, EXERCISE_14_8, EXERCISE_14_9,
)  # fmt: skip

LESSON = Lesson(
    number=14,
    slug="14_capstone",
    title="Capstone: your tensor engine",
    after=(3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
    idea="Your own parts become one engine for arrays, and it trains a net that reads digits.",
    introduces=(
        "Tensor", "Deep", "Dual", "Layer", "MyTensor", "Signal", "__matmul__", "abs", "at", "checkpointed", "cosh",
        "cross_entropy_loss", "div", "divide", "exported", "flatnonzero", "gallery", "gradient", "log1p", "made", "matmul",
        "mse_loss", "multiply", "my_apply", "my_contributions", "my_fit", "my_forward", "my_index", "my_no_grad",
        "my_operation", "my_order", "my_rule", "my_start", "my_sum", "my_walk", "negative", "new_parameters", "pick",
        "power", "rate", "rules", "slope", "sub", "subtract", "total", "value", "version", "versions",
    ),
    with_engine=False,
    exercises=EXERCISES,
)  # fmt: skip
