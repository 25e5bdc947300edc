"""Lesson 14: an engine from an empty file, an operation of one's own, and derivatives that run forwards.

The engine is judged by about sixty properties: values, gradients under uneven weights, shapes, the traversal, what is
freed, what raises, what may not change. Right answers are formulas in numpy. Wrong engines are the right one's source
with one thing changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad as torch
from minigrad.autograd import Function

from ..exercise import Exercise, Lesson, Probe, Raises, Wrong, numbers, one_of, prediction, program, run

Array = np.ndarray[Any, Any]

# --- 14.1 the engine -----------------------------------------------------------------------------------

ENGINE = """
class Tensor:
    recording, made = True, 0

    def __init__(self, data, requires_grad=False):
        self.data = np.array(data, dtype=float)
        self.requires_grad = requires_grad
        self.grad = None
        self.version = 0
        self.parents, self.rules, self.op = (), None, ""
        Tensor.made += 1
        self.number = Tensor.made

    def backward(self, gradient=None, retain_graph=False):
        walk(self, start(self, gradient), retain_graph)


def unbroadcast(g, shape):
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)


def apply(name, forward, rules, *inputs):
    inputs = [t if isinstance(t, Tensor) else Tensor(t) for t in inputs]
    try:
        out = Tensor(forward(*[t.data for t in inputs]))
    except (ValueError, IndexError) as error:
        raise ValueError(f"{name}: {error}") from None
    if Tensor.recording and any(t.requires_grad for t in inputs):
        out.requires_grad = True
        out.op, out.parents, out.rules = name, inputs, rules
        out.versions = [t.version for t in inputs]
    return out


def start(root, gradient):
    if not root.requires_grad:
        raise RuntimeError("this tensor does not require grad and has no history")
    if gradient is None and root.data.size != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    gradient = np.ones(root.data.shape) if gradient is None else np.array(gradient, dtype=float)
    if gradient.shape != root.data.shape:
        raise RuntimeError(f"Mismatch in shape: {gradient.shape} for an output of {root.data.shape}")
    return gradient


def reachable(root):
    found, waiting = {id(root): root}, [root]
    while waiting:
        for parent in waiting.pop().parents:
            if parent.requires_grad and id(parent) not in found:
                found[id(parent)] = parent
                waiting.append(parent)
    return sorted(found.values(), key=lambda t: -t.number)


def walk(root, gradient, retain_graph):
    arrived = {id(root): gradient}
    for t in reachable(root):
        g = arrived.pop(id(t))
        if not t.parents:
            t.grad = g.copy() if t.grad is None else t.grad + g
            continue
        for parent, share in shares(t, g):
            arrived[id(parent)] = arrived.get(id(parent), 0) + share
        if not retain_graph:
            t.rules = None


def shares(t, g):
    if t.rules is None:
        raise RuntimeError("Trying to backward through the graph a second time")
    if t.versions != [p.version for p in t.parents]:
        raise RuntimeError(f"{t.op}: an input was modified by an inplace operation")
    arrays = [p.data for p in t.parents]
    return [
        (p, unbroadcast(np.asarray(rule(g, t.data, *arrays)), p.data.shape))
        for p, rule in zip(t.parents, t.rules) if p.requires_grad
    ]


Tensor.__add__ = lambda a, b: apply("add", np.add, (lambda g, o, x, y: g, lambda g, o, x, y: g), a, b)
Tensor.__radd__ = Tensor.__add__


Tensor.__neg__ = lambda a: a * -1.0


Tensor.__sub__ = lambda a, b: a + (-b if isinstance(b, Tensor) else -np.asarray(b))
Tensor.__rsub__ = lambda a, b: -a + b


Tensor.__mul__ = lambda a, b: apply("mul", np.multiply, (lambda g, o, x, y: g * y, lambda g, o, x, y: g * x), a, b)
Tensor.__rmul__ = Tensor.__mul__


Tensor.__truediv__ = lambda a, b: apply(
    "div", np.divide, (lambda g, o, x, y: g / y, lambda g, o, x, y: -g * o / y), a, b
)


Tensor.__pow__ = lambda a, n: apply("pow", lambda x: x**n, (lambda g, o, x: g * n * x ** (n - 1),), a)


Tensor.exp = lambda a: apply("exp", np.exp, (lambda g, o, x: g * o,), a)


Tensor.log = lambda a: apply("log", np.log, (lambda g, o, x: g / x,), a)


Tensor.tanh = lambda a: apply("tanh", np.tanh, (lambda g, o, x: g * (1 - o * o),), a)


Tensor.relu = lambda a: apply("relu", lambda x: x * (x > 0), (lambda g, o, x: g * (x > 0),), a)


def matmul(a, b):
    rules = (lambda g, o, x, y: g @ y.T, lambda g, o, x, y: x.T @ g)
    return apply("matmul", np.matmul, rules, a, b)

Tensor.__matmul__ = matmul


def total(a, axis=None):
    def spread(g, o, x):
        return np.broadcast_to(g if axis is None else np.expand_dims(g, axis), x.shape)

    return apply("sum", lambda x: x.sum(axis=axis), (spread,), a)

Tensor.sum = total
Tensor.mean = lambda a: a.sum() / a.data.size


def pick(a, index):
    def put_back(g, o, x):
        out = np.zeros(x.shape)
        np.add.at(out, index, g)
        return out

    return apply("index", lambda x: x[index], (put_back,), a)

Tensor.__getitem__ = pick
Tensor.reshape = lambda a, *shape: apply("reshape", lambda x: x.reshape(shape), (lambda g, o, x: g.reshape(x.shape),), a)


def change(a, amount):
    if a.requires_grad and not a.parents and Tensor.recording:
        raise RuntimeError("a leaf that requires grad is being used in an in-place operation")
    a.data += amount.data if isinstance(amount, Tensor) else amount
    a.version += 1
    return a

Tensor.add_ = change
Tensor.detach = lambda a: Tensor(a.data)


class no_grad:
    def __enter__(self):
        self.before = Tensor.recording
        Tensor.recording = False

    def __exit__(self, *error):
        Tensor.recording = self.before
"""


def built(*changes: tuple[str, str]) -> dict[str, Any]:
    """Tensor and no_grad of the engine's source, after these changes."""
    source = ENGINE
    for old, new in changes:
        if old not in source:
            raise ValueError(f"there is no {old!r} in the engine")
        source = source.replace(old, new)
    space: dict[str, Any] = {"np": np}
    exec(source, space)
    return {"Tensor": space["Tensor"], "no_grad": space["no_grad"]}


ONE = "x = Tensor(x, requires_grad=True)\ny = {}\n"
PAIR = "x, z = Tensor(x, requires_grad=True), Tensor(z, requires_grad=True)\ny = {}\n"
Rule = Callable[..., Any]

UNARY: dict[str, tuple[Rule, Rule]] = {
    "-x": (lambda x: -x, lambda x: -np.ones_like(x)),
    "x + 2.5": (lambda x: x + 2.5, lambda x: np.ones_like(x)),
    "2.5 + x": (lambda x: 2.5 + x, lambda x: np.ones_like(x)),
    "(x * x) ** 0.5": (np.abs, np.sign),
    "2.5 - x": (lambda x: 2.5 - x, lambda x: -np.ones_like(x)),
    "3.0 * x": (lambda x: 3 * x, lambda x: np.full_like(x, 3)),
    "x / -4.0": (lambda x: x / -4, lambda x: np.full_like(x, -0.25)),
    "x ** 2": (lambda x: x * x, lambda x: 2 * x),
    "x ** 3": (lambda x: x * x * x, lambda x: 3 * x * x),
    "x.exp()": (np.exp, np.exp),
    "(x * x).log()": (lambda x: 2 * np.log(np.abs(x)), lambda x: 2 / x),
    "x.tanh()": (np.tanh, lambda x: 1 / np.cosh(x) ** 2),
    "x.relu()": (lambda x: np.maximum(x, 0), lambda x: np.where(x > 0, 1.0, 0.0)),
    "x * x": (lambda x: x**2, lambda x: 2 * x),
    "x + x": (lambda x: 2 * x, lambda x: np.full_like(x, 2)),
}
BINARY: dict[str, tuple[Rule, Rule, Rule]] = {
    "x + z": (lambda x, z: x + z, lambda x, z: 1 + 0 * x, lambda x, z: 1 + 0 * z),
    "x - z": (lambda x, z: x - z, lambda x, z: 1 + 0 * x, lambda x, z: -1 + 0 * z),
    "x * z": (lambda x, z: x * z, lambda x, z: z + 0 * x, lambda x, z: x + 0 * z),
    "x / z": (lambda x, z: x / z, lambda x, z: 1 / z + 0 * x, lambda x, z: -x / z**2),
}


def fitted(g: Array, shape: tuple[int, ...]) -> Array:
    """A gradient in its input's shape, one entry after the other."""
    out = np.zeros(shape)
    for index in np.ndindex(g.shape):
        own = index[len(index) - len(shape) :]
        out[tuple(0 if n == 1 else i for i, n in zip(own, shape, strict=True))] += g[index]
    return out


def probes_14_1(rng: np.random.Generator) -> Iterator[Probe]:
    x, v = numbers(rng, 2, 3) / 2, numbers(rng, 2, 3)
    for text, (value, slope) in UNARY.items():
        yield run(ONE.format(text) + "y.data", x=x).expect(value(x))
        yield run(ONE.format(text) + "y.backward(v)\nx.grad", x=x, v=v).expect(v * slope(x))
    for text, (f, left, right) in BINARY.items():
        for shape in ((2, 3), (3,), (2, 1)):
            z = numbers(rng, *shape)
            yield run(PAIR.format(text) + "y.backward(v)\n[y.data, x.grad, z.grad]", x=x, z=z, v=v).expect(
                [f(x, z), fitted(v * left(x, z), x.shape), fitted(v * right(x, z), z.shape)])  # fmt: skip
    w, u = numbers(rng, 3, 4), numbers(rng, 2, 4)
    yield run(PAIR.format("x @ z") + "y.backward(v)\n[y.data, x.grad, z.grad]", x=x, z=w, v=u).expect(
        [x @ w, np.einsum("ik,jk->ij", u, w), np.einsum("ij,ik->jk", x, u)])  # fmt: skip
    p, q, r = numbers(rng, 3, 3), numbers(rng, 3, 3), numbers(rng, 3, 3)  # square: only the order decides
    yield run(PAIR.format("x @ z") + "y.backward(v)\n[x.grad, z.grad]", x=p, z=q, v=r).expect(
        [np.einsum("ik,jk->ij", r, q), np.einsum("ij,ik->jk", p, r)])  # fmt: skip
    yield run(ONE.format("x.tanh()") + "y.backward(v)\nx.grad", x=x, v=1e7 * v).expect(1e7 * v / np.cosh(x) ** 2)
    yield run(ONE.format("x.sum()") + "(y * 2.5).backward()\nx.grad", x=x).expect(np.full((2, 3), 2.5))
    yield run(ONE.format("x.mean()") + "(y * 3.0).backward()\n[float(y.data), x.grad]", x=x).expect(
        [float(x.sum() / 6), np.full((2, 3), 0.5)])  # fmt: skip
    yield run(ONE.format("x.sum(axis=0)") + "y.backward(v)\nx.grad", x=x, v=v[0]).expect(np.array([v[0], v[0]]))
    yield run(ONE.format("x.sum(axis=1)") + "y.backward(v)\nx.grad", x=x, v=v[:, 0]).expect(v[:, :1] + 0 * x)
    yield run(ONE.format("x.reshape(3, 2)") + "y.backward(v)\nx.grad", x=x, v=v.reshape(3, 2)).expect(v)
    yield run(ONE.format("x[1]") + "y.backward(v)\nx.grad", x=x, v=v[0]).expect(np.array([0 * v[0], v[0]]))
    yield run(ONE.format("x[[0, 0, 1]]") + "y.backward(v)\nx.grad", x=x[0], v=v[0]).expect(
        np.array([v[0, 0] + v[0, 1], v[0, 2], 0.0]))  # fmt: skip
    corner = np.array([-1.5, 0.0, 2.0])
    yield run(ONE.format("x.relu()") + "y.backward(v)\nx.grad", x=corner, v=v[0]).expect(v[0] * [0, 0, 1])
    # the traversal
    graph = "a, b = Tensor(2.0, requires_grad=True), Tensor(3.0, requires_grad=True)\nc, d = a + b, a * b\ny = c + d + c * d\n"
    yield run(graph + "y.backward()\n[float(a.grad), float(b.grad)]").expect([25.0, 19.0])
    yield run(graph + "y.backward(retain_graph=True)\ny.backward()\n[float(a.grad), float(b.grad)]").expect(
        [50.0, 38.0]
    )
    chain = "x = Tensor(0.5, requires_grad=True)\ny = x\nfor _ in range(3000):\n    y = y + 1.0\ny.backward()\nfloat(x.grad)"
    yield run(chain).expect(1.0)
    ladder = (
        "x = Tensor(1.5, requires_grad=True)\ny = x\nfor _ in range(40):\n    y = y + y\ny.backward()\nfloat(x.grad)"
    )
    yield run(ladder).expect(2.0**40)
    yield run("x = Tensor(3.0, requires_grad=True)\nfor _ in range(2):\n    (x * x).backward()\nfloat(x.grad)").expect(
        12.0
    )
    short_cut = "x = Tensor(3.0, requires_grad=True)\np = x * 2.0\nq = p * 5.0\n(p + q).backward()\nfloat(x.grad)"
    yield run(short_cut).expect(12.0)
    two = "x = Tensor(3.0, requires_grad=True)\ny, z = x * x, x * 5.0\ny.backward()\nz.backward()\nfloat(x.grad)"
    yield run(two).expect(11.0)
    yield run(PAIR.format("(x * x).sum()") + "y.backward()\nz.grad is None", x=x, z=x).expect(True)
    yield run("x, k = Tensor(3.0, requires_grad=True), Tensor(4.0)\n(x * k).backward()\n[float(x.grad), k.grad is None]"
              ).expect([4.0, True])  # fmt: skip
    yield run(ONE.format("x * 2.0") + "y.sum().backward()\ny.grad is None", x=x).expect(True)
    box, deep, thin = numbers(rng, 2, 2, 3), numbers(rng, 2, 2, 3), numbers(rng, 2, 1)
    yield run(PAIR.format("x * z") + "y.backward(v)\nz.grad", x=box, z=thin, v=deep).expect(fitted(deep * box, (2, 1)))
    yield run(ONE.format("x.sum(axis=2)") + "y.backward(v)\nx.grad", x=box, v=v[:, :2]).expect(v[:, :2, None] + 0 * box)
    yield run("x = Tensor([[3.0]], requires_grad=True)\n(x * x).backward()\nx.grad").expect(np.array([[6.0]]))
    # what raises
    yield run(ONE.format("x * x") + "y.backward()", x=x).expect(Raises("RuntimeError", "scalar outputs"))
    yield run(ONE.format("x * x") + "y.backward(v)", x=x, v=v[0]).expect(Raises("RuntimeError", "hape"))
    yield run(ONE.format("(x * x).sum()") + "y.backward()\ny.backward()", x=x).expect(
        Raises("RuntimeError", "second time")
    )
    again = "x = Tensor(x, requires_grad=True)\na = x * x\na.sum().backward()\na.sum().backward()"
    yield run(again, x=x).expect(Raises("RuntimeError", "second time"))
    yield run("Tensor(3.0).backward()").expect(Raises("RuntimeError", "require grad"))
    yield run("Tensor(x) @ Tensor(x)", x=x).expect(Raises("ValueError", "matmul"))
    yield run("Tensor(x) + Tensor(v)", x=x, v=np.ones(4)).expect(Raises("ValueError", "add"))
    changed = "x = Tensor(x, requires_grad=True)\ny = x * 1.0\nw = y * y\ny.add_(1.0)\nw.sum().backward()"
    yield run(changed, x=x).expect(Raises("RuntimeError", "place"))
    yield run(changed.replace("w = y * y", "w = x * y"), x=x).expect(Raises("RuntimeError", "place"))
    yield run("Tensor(3.0, requires_grad=True).add_(1.0)").expect(Raises("RuntimeError", "place"))
    yield run("x = Tensor(x, requires_grad=True)\ny = x * 1.0\ny.add_(1.0)\n(y * y).sum().backward()\nx.grad", x=x).expect(
        2 * (x + 1)
    )
    # what may not change, and what is not recorded
    yield run("v = np.array([2.0, 3.0])\nx = Tensor([1.0, 1.0], requires_grad=True)\n(x * 1.0 + x).backward(v)\nv"
              ).expect(np.array([2.0, 3.0]))  # fmt: skip
    yield run("a, b = Tensor([1.0, 2.0], requires_grad=True), Tensor([3.0, 4.0], requires_grad=True)\n"
              "(a + b).sum().backward()\na.grad += 10\nb.grad").expect(np.array([1.0, 1.0]))  # fmt: skip
    yield run("x = Tensor(3.0, requires_grad=True)\n(x.detach() * x).backward()\nfloat(x.grad)").expect(3.0)
    yield run("Tensor(3.0, requires_grad=True).detach().requires_grad").expect(False)
    yield run("x = Tensor(3.0, requires_grad=True)\nwith no_grad():\n    y = x * x\ny.requires_grad").expect(False)
    yield run("with no_grad():\n    with no_grad():\n        pass\n    y = Tensor(3.0, requires_grad=True) * 2.0\n"
              "y.requires_grad").expect(False)  # fmt: skip
    yield run("seen = False\ntry:\n    with no_grad():\n        raise KeyError\nexcept KeyError:\n    seen = True\n"
              "[seen, (Tensor(3.0, requires_grad=True) * 2.0).requires_grad]").expect([True, True])  # fmt: skip
    yield run("x = Tensor(3.0, requires_grad=True)\nwith no_grad():\n    x.add_(1.0)\n(x * x).backward()\nfloat(x.grad)"
              ).expect(8.0)  # fmt: skip


ADD_UP = "arrived[id(parent)] = arrived.get(id(parent), 0) + share"

EXERCISE_14_1 = program(
    "14.1", ("Tensor", "no_grad"),
    why="Your engine records operations, visits them in reverse order, and adds contributions in the shape of each input.",
    title="an engine that keeps sixty promises",
    minutes=50, points=4.0, seconds=2.0, prelude="import numpy as np",
    probes=probes_14_1,
    wrong=[
        Wrong(built((ADD_UP, "arrived[id(parent)] = share")), "M19", "Where two messages meet, the second replaces the "
              "first. What does the chain rule do with paths?", name="overwrites"),
        Wrong(built(("-t.number", "t.number"), ("pop(id(t))", "pop(id(t), np.zeros(t.data.shape))")),
              "M20", "The walk begins at the wrong end: a node speaks before its "
              "users have. In which order were they made?", name="oldest first"),
        Wrong(built(("g.copy() if t.grad is None else t.grad + g", "g.copy()")), "M01", "A second backward replaces "
              "the gradient; it should be added.", name="replaces grad"),
        Wrong(built(("        if not retain_graph:\n            t.rules = None\n", "")), "M10", "A second backward "
              "through the same graph does not raise. What should have been given back?", name="never frees"),
        Wrong(built(("        if not retain_graph:\n", "        if True:\n")), "M10", "retain_graph has no effect.",
              name="always frees"),
        Wrong(built(("    g = g.sum(axis=tuple(range(g.ndim - len(shape))))\n", "")), "M27", "Leading axes are not summed "
              "away: the gradient has another shape than its input.", name="leading axes"),
        Wrong(built((" if n == 1), keepdims=True)", " if n == 1))")), "M27", "Axes of size 1 disappear from the gradient.",
              name="drops axes"),
        Wrong(built(("lambda g, o, x, y: g * y, lambda g, o, x, y: g * x", "lambda g, o, x, y: g * x, lambda g, o, x, y: "
              "g * y")), "M43", "The two factors of a product have changed places in its rules.", name="mul swapped"),
        Wrong(built(("lambda g, o, x: g * (1 - o * o)", "lambda g, o, x: 1 - o * o")), "M23", "tanh forgets what "
              "arrives.", name="tanh without g"),
        Wrong(built(("(lambda g, o, x: g * (x > 0),)", "(lambda g, o, x: g,)")), "M53", "relu's mask is missing on the "
              "way back.", name="no mask"),
        Wrong(built(("(lambda g, o, x: g * (x > 0),)", "(lambda g, o, x: g * (x >= 0),)")), "M35", "relu is open at 0; "
              "PyTorch shuts it there.", name="open at 0"),
        Wrong(built(("g @ y.T, lambda g, o, x, y: x.T @ g", "y.T @ g, lambda g, o, x, y: g @ x.T")), "M29", "The factors "
              "of matmul's rules stand on the wrong sides.", name="matmul sides"),
        Wrong(built(("np.add.at(out, index, g)", "out[index] = g")), "M36", "A place that was read twice gets only one of "
              "its two messages.", name="index twice"),
        Wrong(built(("        a.version += 1\n".replace("        ", "    "), "")), "M15", "A value was changed after it "
              "had been used, and nothing noticed.", name="no versions"),
        Wrong(built(("Tensor.recording = self.before", "Tensor.recording = True")), "M49", "Leaving the inner no_grad "
              "switched recording on, inside the outer one. What was the state before?", name="switch"),
        Wrong(built(("Tensor.recording = self.before", "Tensor.recording = self.before\n        return True")), "M49", "An "
              "error inside a no_grad block has disappeared. What does Python do with an exception when __exit__ returns "
              "something true?", name="swallows errors"),
        Wrong(built(("waiting.pop()", "waiting.pop(0)"), ("sorted(found.values(), key=lambda t: -t.number)", "found.values()")),
              "M20", "The walk goes by the distance from the end. In y = p + 5 * p, p is one step away and two steps away, and "
              "spoke after the first. When has everything arrived?", name="nearest first"),
        Wrong(built(("if a.requires_grad and not a.parents and", "if a.requires_grad and")), "M16", "Nothing that requires a "
              "gradient may be changed in place in your engine. Leaves may not; what was computed may, until somebody needs "
              "the old value.", name="nothing in place"),
        Wrong(built(("root.data.size != 1", "root.data.shape != ()")), "M41", "An output of shape (1, 1) holds one number, and "
              "was refused a default. How many numbers make a scalar?", name="empty shape only"),
        Wrong(built(("t.versions != [p.version for p in t.parents]", "t.versions[0] != t.parents[0].version")), "M15", "Only "
              "the first input is watched: the second one was changed, and nothing noticed.", name="watches the first"),
        Wrong(built(("lambda a: Tensor(a.data)", "lambda a: Tensor(a.data, a.requires_grad)")), "M12", "What was detached "
              "asks for gradients again: a leaf of its own. Should anything be recorded for it?", name="detached leaf"),
        Wrong(built(("            t.rules = None\n", "            t.rules = t.rules if t.parents[1:] else None\n")), "M10",
              "Only operations of one input give back what they kept: after a product has been used, a new sum of it can "
              "still be walked. Which nodes of a used graph are spent?", name="frees some"),
        Wrong(built(("lambda a: Tensor(a.data)", "lambda a: a")), "M12", "detach hands back the same tensor, history "
              "and all.", name="no detach"),
        Wrong(built(("    if gradient is None and root.data.size != 1:\n        raise RuntimeError(\"grad can be implicitly "
              "created only for scalar outputs\")\n", "")), "M25", "A vector was differentiated without a gradient: ones "
              "were assumed silently.", name="silent ones"),
        Wrong(built(("a.sum() / a.data.size", "a.sum() / len(a.data)")), "M30", "mean divides by the rows, not by all "
              "entries.", name="mean by rows"),
    ],
    alternatives=[
        built(),
        built(("-t.number", "-t.number * 2"), ("arrived.get(id(parent), 0) + share", "share + arrived.get(id(parent), 0.0)"),
              ("-g * o / y", "-g * x / (y * y)"), ("x * (x > 0)", "np.maximum(x, 0)"), ("g * n * x ** (n - 1)",
              "n * g * x ** (n - 1.0)")),
    ],
    hints=[
        "The failing program says which promise is broken. Mend one at a time.",
        "An operation: compute, and if anybody requires a gradient, note parents and rules. A walk: newest first.",
        "Number the tensors as they are made; everybody who uses a tensor is newer than it.",
    ],
    worked="Build it in this order: Tensor, apply, add and mul, start, reachable (sorted by number), walk; then "
           "unbroadcast, the other operations, versions, no_grad.",
)  # fmt: skip

# --- 14.2 an operation of your own ---------------------------------------------------------------------

TEST = """
import numpy as np
def holds(rule, x, g):
    h = 1e-6
    measured = g * (my_forward(x + h) - my_forward(x - h)) / (2 * h)
    return bool(np.allclose(rule(x, g), measured, rtol=1e-5, atol=1e-7))

def nudges(rule, x, g):
    # True if the rule asks the operation about other numbers than x.
    home, given, elsewhere = getattr(rule, "__globals__", {}), my_forward, []

    def watched(at):
        elsewhere.append(not np.array_equal(at, x))
        return given(at)

    if home.get("my_forward") is not given:
        return False
    home["my_forward"] = watched
    try:
        rule(x, g)
    finally:
        home["my_forward"] = given
    return any(elsewhere)
"""


def probes_14_2(rng: np.random.Generator) -> Iterator[Probe]:
    x, g = np.abs(numbers(rng, 4)), np.abs(numbers(rng, 4)) * [1, -1, -1, 1]
    yield run("holds(my_rule, x, 1 + 0 * x)", x=x).expect(True)
    yield run("holds(my_rule, x, g)", x=x, g=g).expect(True)
    yield run("holds(my_rule, x, g)", x=x.reshape(2, 2), g=10 * g.reshape(2, 2)).expect(True)
    yield run("f = my_forward\nbool(np.allclose(f(x + 1) - f(x), f(x + 2) - f(x + 1), rtol=1e-4))", x=x).expect(False)
    yield run("my_forward(x)\nmy_rule(x, g)\n[x, g]", x=x, g=g).expect([x, g])
    yield run("nudges(my_rule, x, g)", x=x, g=g).expect(False)
    yield run("len(my_wrongs) >= 2").expect(True)
    yield run("any(holds(wrong, x, g) for wrong in my_wrongs)", x=x, g=g).expect(False)
    yield run("bool(np.allclose(my_wrongs[0](x, g), my_wrongs[1](x, g)))", x=x, g=g).expect(False)


def operation(f: Any, rule: Any, *wrongs: Any) -> dict[str, Any]:
    return {"my_forward": f, "my_rule": rule, "my_wrongs": list(wrongs)}


def measured_rule() -> dict[str, Any]:
    space: dict[str, Any] = {"np": np}
    exec("my_forward = lambda x: x**3\n"
         "my_rule = lambda x, g: g * (my_forward(x + 1e-6) - my_forward(x - 1e-6)) / 2e-6\n"
         "my_wrongs = [lambda x, g: g * x, lambda x, g: g * x * x]", space)  # fmt: skip
    return {name: space[name] for name in ("my_forward", "my_rule", "my_wrongs")}


def softplus(x: Any) -> Any:
    return np.log1p(np.exp(x))


def logistic(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


EXERCISE_14_2 = program(
    "14.2", ("my_forward", "my_rule", "my_wrongs"),
    why="A rule multiplies the upstream gradient by the derivative, and your two wrong rules show what a check has to catch.",
    title="an operation of your own, and two traps for a classmate",
    minutes=15, prelude=TEST, probes=probes_14_2,
    wrong=[
        Wrong(operation(softplus, lambda x, g: logistic(x), lambda x, g: g * x, lambda x, g: g * np.exp(x)), "M23",
              "Your rule does not use what arrives.", name="no upstream"),
        Wrong(operation(softplus, lambda x, g: g * softplus(x), lambda x, g: g * x, lambda x, g: g * np.exp(x)), "M43",
              "Your rule is not the slope of your operation: measured, it is another.", name="value for slope"),
        Wrong(operation(np.exp, lambda x, g: np.multiply(g, np.exp(x), out=g), lambda x, g: g * x, lambda x, g: g / x),
              "M15", "The numbers are right, and your rule has written them into what it was given. Others need that "
              "too.", name="writes into g"),
        Wrong(measured_rule(), "M44", "Your rule nudges x and measures. That is how a rule is tested; a rule is a formula. "
              "What is the slope of your operation?", name="measured"),
        Wrong(operation(lambda x: 3 * x, lambda x, g: 3 * g, lambda x, g: g * x, lambda x, g: g), "", "Your operation "
              "is a straight line: its slope is the same everywhere. Take one with a bend.", name="a line"),
        Wrong(operation(softplus, lambda x, g: g * logistic(x), lambda x, g: g * x), "", "One trap only. A classmate "
              "should have two to fall into.", name="one trap"),
        Wrong(operation(softplus, lambda x, g: g * logistic(x), lambda x, g: g * x, lambda x, g: logistic(x) * g), "",
              "One of your wrong rules is right.", name="a right trap"),
        Wrong(operation(softplus, lambda x, g: g * logistic(x), lambda x, g: g * x, lambda x, g: x * g), "", "Your two "
              "wrong rules give the same numbers: they are one trap.", name="twin traps"),
    ],
    alternatives=[
        operation(softplus, lambda x, g: g * logistic(x), lambda x, g: logistic(x), lambda x, g: g * softplus(x)),
        operation(np.sqrt, lambda x, g: g / (2 * np.sqrt(x)), lambda x, g: g / np.sqrt(x), lambda x, g: g * x),
    ],
    hints=["A forward with a bend, its slope times g, and two rules that somebody might believe.",
           "For x**3: the rule 3 * x**2 * g; traps: without g, and x**2 * g.",
           "Measure your own rule with a central difference before you ask for the check."],
    worked="my_forward = np.sqrt; my_rule = lambda x, g: g / (2 * np.sqrt(x)); two wrong ones: without the 2, without g.",
)  # fmt: skip

# --- 14.3 derivatives that run forwards ----------------------------------------------------------------

ALONG = "r = {}\n[float(r.value), float(r.slope)]"


def probes_14_3(rng: np.random.Generator) -> Iterator[Probe]:
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


def dual(*changes: tuple[str, str]) -> Any:
    """The class of this source, after these changes."""
    source = DUAL
    for old, new in changes:
        if old not in source:
            raise ValueError(f"there is no {old!r} in Dual")
        source = source.replace(old, new)
    space: dict[str, Any] = {"np": np}
    exec(source, space)
    return space["Dual"]


def fast(*changes: tuple[str, str]) -> dict[str, Any]:
    return {"Dual": dual(*changes)}


FORWARDS = program(
    "14.3", "Dual",
    title="derivatives that run forwards",
    minutes=15, prelude="import numpy as np", probes=probes_14_3,
    wrong=[
        Wrong(fast(("self.slope * other.value + self.value * other.slope", "self.slope * other.slope")), "M22", "The "
              "slope of a product is not the product of the slopes.", name="product of slopes"),
        Wrong(fast((" + self.value * other.slope", "")), "M22", "Only the first factor moves in your product.",
              name="one path"),
        Wrong(fast(("np.cos(self.value) * self.slope", "np.cos(self.value)")), "M23", "sin's slope does not use how "
              "fast its input moves.", name="sin alone"),
        Wrong(fast(("np.exp(self.value) * self.slope", "np.exp(self.value)")), "M23", "exp's slope does not use how "
              "fast its input moves.", name="exp alone"),
        Wrong(fast(("np.cos(self.value) * self.slope", "np.cos(self.slope)")), "M43", "The cosine is taken of the "
              "slope; it belongs to the value.", name="cos of slope"),
        Wrong(fast(("self.slope - other.slope", "self.slope + other.slope")), "M30", "In a difference the slopes are "
              "subtracted, too.", name="minus"),
        Wrong(fast(("return Dual(self.value + other.value, self.slope + other.slope)",
                    "self.value, self.slope = self.value + other.value, self.slope + other.slope\n        return self")), "M15",
              "The sum is written into the first of the two: whoever uses that number again finds another one.",
              name="changes itself"),
        Wrong(fast(("np.cos(self.value) * self.slope",
                    "(np.sin(self.value + 1e-6) - np.sin(self.value - 1e-6)) / 2e-6 * self.slope")), "M44", "sin's slope is "
              "measured, not computed: the last digits are gone. What is the slope of the sine?", name="sin measured"),
        Wrong(fast(("Dual(other)", "Dual(other, 1.0)")), "", "A plain number moves in your sums and products. How "
              "fast does 2.5 move?", name="moving constant"),
    ],
    alternatives=[fast(), fast(("self.slope * other.value + self.value * other.slope",
                                "other.slope * self.value + other.value * self.slope"))],
    hints=["Each number travels with how fast it moves. An operation gives a new number and its speed.",
           "For the square: Dual(v * v, 2 * v * s).",
           "A product: each factor's speed, times the other's value, added. A plain number does not move."],
    worked="Product: Dual(a.value * b.value, a.slope * b.value + a.value * b.slope). sin: cos(value) * slope.",
)  # fmt: skip

# --- 14.3 gradients that can be differentiated again ---------------------------------------------------

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
        if id(node) not in seen:
            seen.add(id(node))
            for parent in node.parents:
                visit(parent)
            order.append(node)

    visit(y)
    arrived = {id(y): Deep(1.0)}
    for node in reversed(order):
        for parent, rule in zip(node.parents, node.rules):
            share = rule(arrived[id(node)])
            arrived[id(parent)] = arrived[id(parent)] + share if id(parent) in arrived else share
    return arrived.get(id(x), Deep(0.0))
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
    yield run(TWICE.format("x * x * x * x") + f"float({third}.value)", **given).expect(24 * a)
    yield run(TWICE.format("x * x") + "float(gradient(y, z).value)", **given).expect(0.0)
    yield run(TWICE.format("x * x") + "float(gradient(x, x).value)", **given).expect(1.0)
    yield run(TWICE.format("x * x") + "gradient(y, x)\nfloat(gradient(y, x).value)", **given).expect(2 * a)
    yield run(TWICE.format("x * z") + "gradient(y, x)\n[float(x.value), float(z.value)]", **given).expect([a, b])


def deep(*changes: tuple[str, str]) -> dict[str, Any]:
    """Deep and gradient, after these changes."""
    source = DEEP
    for old, new in changes:
        if old not in source:
            raise ValueError(f"there is no {old!r} in Deep")
        source = source.replace(old, new)
    space: dict[str, Any] = {"np": np}
    exec(source, space)
    return {name: space[name] for name in ("Deep", "gradient")}


SHARE = "arrived[id(parent)] + share if id(parent) in arrived else share"

AGAIN = program(
    "14.3", ("Deep", "gradient"),
    title="gradients that can be differentiated again",
    prelude="import numpy as np", probes=probes_twice,
    wrong=[
        Wrong(deep(("lambda g: g * other, lambda g: g * self", "lambda g: Deep(g.value * other.value), lambda g: "
              "Deep(g.value * self.value)")), "M13", "The first derivative is right, and a product's gradient has no history: "
              "it was made from bare numbers. In which arithmetic has a rule to compute?", name="bare numbers"),
        Wrong(deep((SHARE, "share")), "M19", "Where two messages meet, the second replaces the first.", name="deep overwrites"),
        Wrong(deep(("lambda g: g * out,", "lambda g: out,")), "M23", "exp's rule does not use what arrives.",
              name="deep exp without g"),
        Wrong(deep(("(self + Deep(np.pi / 2)).sin()", "Deep(np.cos(self.value))")), "M13", "The cosine in sin's rule is a "
              "new number without a history: the second derivative is lost there.", name="bare cosine"),
        Wrong(deep(("arrived = {id(y): Deep(1.0)}", "arrived = {id(y): y}")), "M21", "The walk begins with the value of y. "
              "What is dy/dy?", name="deep seed"),
        Wrong(deep(("lambda g: g * other, lambda g: g * self", "lambda g: g * self, lambda g: g * other")), "M43", "The "
              "two factors of a product have changed places in its rules.", name="deep mul swapped"),
        Wrong(deep(("arrived.get(id(x), Deep(0.0))", "arrived.get(id(x), Deep(0.0)) if y is not x else Deep(0.0)")), "M21",
              "dx/dx is 0 for you. How far does x move when x does?", name="deep of itself"),
        Wrong(deep(("reversed(order)", "order"), ("arrived[id(node)])", "arrived.get(id(node), Deep(0.0)))")), "M20", "The "
              "walk goes the wrong way: a node speaks before its users have.", name="deep order"),
    ],
    alternatives=[deep(), deep((SHARE, "share + arrived[id(parent)] if id(parent) in arrived else share"),
                               ("(lambda g: g * out,)", "(lambda g: out * g,)"))],
)  # fmt: skip

# --- 14.3 checkpoints ----------------------------------------------------------------------------------

# Given in the exercise notebook as well: signals that are counted, and layers.
SIGNALS = """
import numpy as np

class Signal:
    alive = most = made = 0

    def __init__(self, number):
        self.number = number
        Signal.alive += 1
        Signal.made += 1
        Signal.most = max(Signal.most, Signal.alive)

    def __del__(self):
        Signal.alive -= 1

class Layer:
    def __init__(self, k):
        self.k = k

    def forward(self, x):
        return Signal(np.sin(self.k * x.number))

    def backward(self, x, g):
        return g * self.k * np.cos(self.k * x.number)
"""
PASS = "Signal.alive = Signal.most = Signal.made = 0\ng = checkpointed([Layer(k) for k in ks], Signal(x), g, every)\n"
ASKED = (
    "asked = []\n\nclass Told(Layer):\n    def backward(self, x, g):\n        asked.append(self.k)\n"
    "        return super().backward(x, g)\n\ncheckpointed([Told(k) for k in ks], Signal(x), g, every)\nasked"
)


def through_layers(ks: list[float], x: float, g: float) -> float:
    """The slope of a chain of sines, gathered on the way forward."""
    for k in ks:
        x, g = float(np.sin(k * x)), float(g * k * np.cos(k * x))
    return g


def probes_checkpoint(rng: np.random.Generator) -> Iterator[Probe]:
    for count, every in ((1, 1), (6, 2), (7, 3), (5, 5), (4, 1), (3, 8)):
        ks, (x, g) = (numbers(rng, count) / 4 + 1).tolist(), (float(n) for n in numbers(rng, 2))
        yield run(PASS + "g", ks=ks, x=x, g=g, every=every).expect(through_layers(ks, x, g))
    ks = (numbers(rng, 30) / 4 + 1).tolist()
    yield run(PASS + "Signal.most <= 5 + 6 + 3", ks=ks, x=0.5, g=2.0, every=6).expect(True)
    yield run(PASS + "Signal.made <= 2 * 30 + 1", ks=ks, x=0.5, g=2.0, every=6).expect(True)
    yield run(PASS + "Signal.made <= 30 + 1", ks=ks, x=0.5, g=2.0, every=1).expect(True)
    yield run(ASKED, ks=ks[:7], x=0.5, g=2.0, every=3).expect(ks[6::-1])


CHECKPOINTED = """
def checkpointed(layers, x, g, every):
    kept = []
    for i, layer in enumerate(layers):
        if i % every == 0:
            kept.append(x)
        x = layer.forward(x)
    for start in reversed(range(0, len(layers), every)):
        part, inputs = layers[start : start + every], [kept.pop()]
        for layer in part[:-1]:
            inputs.append(layer.forward(inputs[-1]))
        for layer in reversed(part):
            g = layer.backward(inputs.pop(), g)
    return g
"""


def with_checkpoints(*changes: tuple[str, str]) -> dict[str, Any]:
    """checkpointed, after these changes."""
    source = CHECKPOINTED
    for old, new in changes:
        if old not in source:
            raise ValueError(f"there is no {old!r} in checkpointed")
        source = source.replace(old, new)
    space: dict[str, Any] = {"np": np}
    exec(source, space)
    return {"checkpointed": space["checkpointed"]}


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
    "14.3", "checkpointed",
    title="checkpoints: time for memory",
    prelude=SIGNALS, probes=probes_checkpoint,
    wrong=[
        Wrong(with_checkpoints(("if i % every == 0:", "if True:"), ("range(0, len(layers), every)", "range(len(layers))"),
              ("start : start + every", "start : start + 1")), "M18", "The gradient is right, and every signal was kept. "
              "Only each `every`-th may stay; where do the others come from on the way back?", name="keeps all"),
        Wrong({"checkpointed": from_the_start}, "", "Nothing is kept, and for each layer everything before it is computed "
              "again: thirty layers cost more than four hundred steps. What is the checkpoint of a part good for?",
              name="from the start"),
        Wrong(with_checkpoints(("for layer in reversed(part):", "for layer in part:")), "M20", "The layers of a part speak in "
              "the order of the way forward. Who is the last to speak on the way back?", name="part forwards"),
        Wrong(with_checkpoints(("in reversed(range(", "in (range(")), "M20", "The parts come in the order of the way forward, "
              "with each other's checkpoints.", name="parts forwards"),
        Wrong(with_checkpoints(("g = layer.backward(inputs.pop(), g)", "pass"), ("    return g", "    return g"),
              ("        for layer in reversed(part):", "        for layer, at in zip(part, inputs):\n            g = "
               "layer.backward(at, g)\n        for layer in part:")), "M20", "The number is right, because numbers may be "
              "multiplied in any order; the layers of a part were asked from first to last. For tables that would be wrong.",
              name="asked forwards"),
        Wrong(with_checkpoints(("    kept = []\n", "    every = 3\n    kept = []\n")), "", "`every` has no effect: with 1 "
              "nothing has to be made again. Who decides how many are kept?", name="always three"),
        Wrong(with_checkpoints(("range(0, len(layers), every)", "range(0, len(layers) - every + 1, every)")), "", "A last part "
              "that is shorter than the others is left out. How many layers has it?", name="short part"),
        Wrong(with_checkpoints(("g = layer.backward(inputs.pop(), g)", "g = layer.backward(inputs.pop(), 1.0)")), "M23",
              "A layer is asked without what arrives.", name="layers without g"),
        Wrong(with_checkpoints(("inputs.pop(), g)", "inputs[0], g)")), "M06", "Every layer of a part is asked about the part's "
              "first signal. Where did each layer stand?", name="one signal"),
    ],
    alternatives=[with_checkpoints(), {"checkpointed": part_by_part}],
)  # fmt: skip

# --- 14.3 hooks ----------------------------------------------------------------------------------------

HOOKS = ENGINE.replace(
    '        if not t.parents:\n', '        for hook in t.hooks:\n            new = hook(g)\n'
    '            g = g if new is None else new\n        if not t.parents:\n'
).replace("        self.version = 0\n", "        self.version = 0\n        self.hooks = []\n") + (
    "\n\ndef register_hook(t, hook):\n    t.hooks.append(hook)\n\n\nTensor.register_hook = register_hook\n"
)  # fmt: skip
WATCHED = (
    "a, b = Tensor(2.0, requires_grad=True), Tensor(3.0, requires_grad=True)\nc, d = a + b, a * b\n"
    "y = c + d + c * d\nseen = []\n"
)


def probes_hooks(rng: np.random.Generator) -> Iterator[Probe]:
    yield run(WATCHED + "c.register_hook(lambda g: seen.append(float(g)))\ny.backward()\nseen").expect([7.0])
    yield run(WATCHED + "c.register_hook(lambda g: None)\ny.backward()\n[float(a.grad), float(b.grad)]").expect([25.0, 19.0])
    yield run(WATCHED + "c.register_hook(lambda g: 10 * g)\ny.backward()\n[float(a.grad), float(b.grad)]").expect([88.0, 82.0])
    yield run(WATCHED + "c.register_hook(lambda g: 2 * g)\nc.register_hook(lambda g: g + 1)\ny.backward()\n"
              "[float(a.grad), float(b.grad)]").expect([33.0, 27.0])  # fmt: skip
    yield run(WATCHED + "a.register_hook(lambda g: -g)\ny.backward()\n[float(a.grad), float(b.grad)]").expect([-25.0, 19.0])
    yield run(WATCHED + "for t in (a, d, y):\n    t.register_hook(lambda g, t=t: seen.append(float(t.data)))\ny.backward()\n"
              "seen").expect([41.0, 6.0, 2.0])  # fmt: skip
    yield run(WATCHED + "c.register_hook(lambda g: seen.append(float(g)))\ny.backward(retain_graph=True)\ny.backward()\n"
              "[seen, float(a.grad)]").expect([[7.0, 7.0], 50.0])  # fmt: skip
    yield run(WATCHED + "a.register_hook(lambda g: seen.append(float(g)))\nb.backward()\nseen").expect([])
    yield run(WATCHED + "a.register_hook(lambda g: seen.append(float(g)))\ny.backward(retain_graph=True)\ny.backward()\nseen"
              ).expect([25.0, 25.0])  # fmt: skip
    yield run(WATCHED + "c.register_hook(lambda g: 0 * g)\ny.backward()\n[float(a.grad), float(b.grad)]").expect([18.0, 12.0])
    yield run(WATCHED + "y.register_hook(seen.append)\ny.backward()\nafter = 'kept'\ntry:\n    y.backward()\n"
              "except RuntimeError:\n    after = 'freed'\nafter").expect("freed")  # fmt: skip
    x, v = numbers(rng, 2, 3), numbers(rng, 2, 3)
    yield run("x = Tensor(x, requires_grad=True)\ny = x * x\ny.register_hook(lambda g: g * 0.5)\ny.backward(v)\nx.grad",
              x=x, v=v).expect(x * v)  # fmt: skip


def hooked(*changes: tuple[str, str]) -> dict[str, Any]:
    """An engine with hooks, after these changes."""
    source = HOOKS
    for old, new in changes:
        if old not in source:
            raise ValueError(f"there is no {old!r} in the engine with hooks")
        source = source.replace(old, new)
    space: dict[str, Any] = {"np": np}
    exec(source, space)
    return {"Tensor": space["Tensor"]}


CALLED = "            new = hook(g)\n            g = g if new is None else new\n"
LISTENING = program(
    "14.3", "Tensor.register_hook",
    title="hooks: somebody listens",
    prelude="import numpy as np", probes=probes_hooks,
    wrong=[
        Wrong(hooked((CALLED, "            hook(g)\n")), "", "The hook is called, and what it returns is thrown away. When "
              "should its answer take the place of the gradient?", name="listens only"),
        Wrong(hooked(("g = g if new is None else new", "g = new")), "M05", "A hook that returns nothing has wiped out the "
              "gradient. What does None stand for here?", name="None for gradient"),
        Wrong(hooked(("g if new is None else new", "new if np.any(new) else g")), "M05", "A hook has answered 0, and the old "
              "gradient went on. Is 0 the same as no answer?", name="zero for none"),
        Wrong(hooked(("t.hooks.append(hook)", "t.hooks = [hook]")), "M19", "A second hook replaces the first. How many "
              "may listen?", name="one hook"),
        Wrong(hooked(("        for hook in t.hooks:\n" + CALLED, ""), (ADD_UP,
              "for hook in parent.hooks:\n                share = share if hook(share) is None else hook(share)\n            "
              "arrived[id(parent)] = arrived.get(id(parent), 0) + share")), "M20", "The hook is called for each message, "
              "before they are added up. When is a gradient whole?", name="each message"),
        Wrong(hooked(("        for hook in t.hooks:\n" + CALLED + "        if not t.parents:\n", "        if not t.parents:\n"
              "            for hook in t.hooks:\n" + CALLED.replace("            ", "                "))), "M02", "Hooks on "
              "leaves work, and nobody listens at the nodes between. Whose gradient passes there?", name="leaves only"),
        Wrong(hooked(("        if not retain_graph:\n            t.rules = None\n", "")), "M10", "The hooks are right, and "
              "the walk that you wrote for them has lost a promise of 14.1. What becomes of the graph after a pass?",
              name="hooks keep all"),
        Wrong(hooked(("in t.hooks:", "in reversed(t.hooks):")), "", "The hooks are called last first. In which order were they "
              "registered?", name="last first"),
    ],
    alternatives=[hooked(), hooked((CALLED, "            answer = hook(g.copy())\n            if answer is not None:\n"
                                            "                g = np.asarray(answer)\n"))],
)  # fmt: skip

# --- 14.3 export ---------------------------------------------------------------------------------------

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
    made = f"Op = exported({SOFTPLUS})\n"
    tensor = "x = torch.tensor(x, requires_grad=True)\n"
    yield run(made + "Op.apply(torch.tensor(x))", x=x).expect(np.logaddexp(0, x))
    yield run(made + tensor + "Op.apply(x).backward(torch.tensor(v))\nx.grad", x=x, v=v).expect(v * (1 + np.tanh(x / 2)) / 2)
    yield run(f"Op = exported({FROM_OUT})\n" + tensor + "(Op.apply(2 * x) * torch.tensor(v)).sum().backward()\nx.grad", x=x,
              v=v).expect(2 * v * np.exp(2 * x))  # fmt: skip
    yield run(made + "issubclass(Op, Function)").expect(True)
    yield run(KINDS + tensor + "Op.apply(x).sum().backward()\nsorted(kinds)", x=x).expect(["ndarray"])
    yield run(made + tensor + "(Op.apply(x) + Op.apply(2 * x)).sum().backward()\nx.grad", x=x).expect(
        (1 + np.tanh(x / 2)) / 2 + 1 + np.tanh(x))  # fmt: skip
    changed = "y = x * 1\nz = Op.apply(y)\ny += 1\nz.sum().backward()"
    yield run(made + tensor + changed, x=x).expect(Raises("RuntimeError", "modified by an inplace"))


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
    """Where a careless answer keeps what belongs to one call."""

    kept: tuple[Any, Any]


def kept_outside(ctx: Any, x: Any, out: Any) -> None:
    Shared.kept = x, out


EXPORT = program(
    "14.3", "exported",
    title="a rule for PyTorch",
    prelude=EXPORTED, probes=probes_export,
    wrong=[
        Wrong(exporter(hung, lambda ctx: (ctx.x, ctx.out)), "M34", "Right, until x is changed in place: nothing notices. Which "
              "call watches what was kept?", name="hung on ctx"),
        Wrong(exporter(arrives=lambda g: np.ones(g.shape)), "M23", "The rule is asked with ones. What arrives from behind?",
              name="export without g"),
        Wrong(exporter(swap=True), "M43", "Input and output have changed places: the rule wants g, the output, the input.",
              name="out for x"),
        Wrong(exporter(kept_outside, lambda ctx: Shared.kept), "M34", "Two operations in one graph share one place, and the "
              "second overwrites what the first has kept. What belongs to one call only?", name="kept outside"),
        Wrong({"exported": of_tensors}, "", "forward and rule were given tensors: they were written for arrays. Who turns the "
              "one into the other, and back?", name="tensors inside"),
        Wrong(exporter(base=object), "M33", "The class is no Function, so it has no apply: who would write the node into the "
              "graph?", name="no Function"),
    ],
    alternatives=[exporter(), {"exported": remade}],
)  # fmt: skip

EXERCISE_14_3 = one_of(
    "14.3", FORWARDS, AGAIN, CHECKPOINTS, LISTENING, EXPORT,
    why="What you built agrees with derivatives that were found in another way.",
    title="one more thing your engine can do", minutes=20, with_engine=True,
    hints=["Choose one; forwards is the shortest. Leave the others as they are.",
           "Forwards: a number and its speed. Again: rules in the arithmetic of the nodes. Checkpoints: keep few, make the "
           "rest again. Hooks: when the gradient is whole, ask. Export: arrays inside, tensors outside.",
           "Try the smallest example by hand first: one product, two layers, one hook, one call of apply."],
    worked="Forwards: Product: Dual(a.value * b.value, a.slope * b.value + a.value * b.slope). sin: cos(value) * slope.",
)  # fmt: skip

# --- prediction of the reading notebook ----------------------------------------------------------------

PREDICTION_14_0 = prediction(
    "14.0", [25, 19], points=0,
    title="one graph that tells seven engines apart",
    wrong=[
        Wrong([29, 22], "M20", "c spoke before all its users had. When may a node speak?"),
        Wrong([1, 1], "M19", "The last message replaced the others."),
        Wrong([46, 35], "M21", "Some nodes spoke twice."),
    ],
)  # fmt: skip

PREDICTION_14_3A = prediction(
    "14.3a", "c", points=0,
    title="how many runs forwards",
    options={"a": "1", "b": "2", "c": "1000"},
    wrong=[
        Wrong("a", "M46", "One run follows one nudge. Whose?"),
        Wrong("b", "M46", "Two points make one measured slope; here a run carries the slope itself. Of which input?"),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (PREDICTION_14_0, PREDICTION_14_3A, EXERCISE_14_1, EXERCISE_14_2, EXERCISE_14_3)

LESSON = Lesson(
    number=14,
    slug="14_capstone",
    title="Capstone: your engine from an empty file",
    after=(3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
    idea="Everything once more, in one file that you began: an engine that keeps more than sixty promises.",
    introduces=(
        "log1p", "value", "slope", "Tensor", "made", "version", "rules", "walk", "versions", "reachable",
        "shares", "multiply", "divide", "matmul", "__matmul__", "total", "pick", "at", "change", "my_forward",
        "my_rule", "Dual", "eye", "surprise", "Deep", "gradient", "Signal", "Layer", "checkpointed", "exported",
    ),
    with_engine=False,
    exercises=EXERCISES,
)  # fmt: skip
