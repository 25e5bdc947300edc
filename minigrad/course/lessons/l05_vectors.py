"""Lesson 05: the gradient argument, and arrays in the student's engine. Five exercises around the vector-Jacobian product.

Read exercise 5.1 as the pattern of a function exercise: an oracle that does not share the solution's formula, probes whose
numbers cannot hide a mistake, and in 05_vectors.md right answers written differently, wrong answers and hints.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..checks.own_engine import given
from ..exercise import AS_GIVEN, Outside, Probe, Raises, call, numbers, on_given, run
from ..lesson_text import lesson

Array = np.ndarray[Any, Any]

# --- 5.1 the vector-Jacobian product of x squared -----------------------------------------------------------


def vjp_by_nudging(v: Array, x: Array) -> Array:
    """The oracle: how fast v . (x**2) changes with each x[i]; central differences are exact for a square."""
    nudges = 0.5 * np.eye(x.size)
    return np.array([v @ ((x + e) ** 2 - (x - e) ** 2) for e in nudges]).reshape(x.shape)


def probes_5_1(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(np.array([1.0, 0.5, -2.0]), np.array([1.0, 2.0, 3.0]))
    x = numbers(rng, 4)
    yield call(numbers(rng, 4), x)
    yield call(numbers(rng, 4) * np.array([1.0, 0.0, 1.0, 1.0]), x)
    yield call(numbers(rng, 1), numbers(rng, 1))
    yield call(numbers(rng, 5), np.array([0.0, 1.5, -1.5, 0.0, 2.5]))
    yield call(np.array([-2.0, 0.5, 3.0]), np.array([1234567.75, -345678.25, 0.5]))
    yield call(numbers(rng, 4), 1e6 * numbers(rng, 4))


# --- 5.2 a whole Jacobian from several backward passes ------------------------------------------------------

# Given in the exercise notebook as well: a recorded computation with the methods of a tensor. Here its derivatives
# are not in the student's process at all: each backward pass is computed outside.
GRAPH = """
import numpy as np

class Graph:
    def __init__(self, derivatives):
        self.outputs, self.inputs = outside("size")
        self.grad = None

    def backward(self, v):
        v = np.asarray(v, dtype=float)
        if v.shape != (self.outputs,):
            raise RuntimeError(f"Mismatch in shape: {v.shape} for {self.outputs} outputs")
        if self.grad is None:
            self.grad = np.zeros(self.inputs)
        self.grad[:] += outside("row", v)

    def zero_grad(self):
        self.grad = None
"""


class Recorded(Outside):
    """The derivatives of a graph, which give only their product with a vector."""

    methods = ("size", "row")

    def __init__(self, derivatives: Any) -> None:
        self.derivatives = np.asarray(derivatives, dtype=float)

    def size(self) -> list[int]:
        return list(self.derivatives.shape)

    def row(self, v: Any) -> Any:
        if np.shape(v) != (len(self.derivatives),):
            raise ValueError(f"a vector with one number for each of {len(self.derivatives)} outputs is wanted")
        return v @ self.derivatives


def probes_5_2(rng: np.random.Generator) -> Iterator[Probe]:
    for outputs, inputs in ((3, 2), (3, 2), (2, 4), (3, 3), (1, 3), (4, 1)):
        yield run("graph = Graph(derivatives)\njacobian(graph)", derivatives=numbers(rng, outputs, inputs)).asking(
            Recorded
        )
    shape = run("graph = Graph(derivatives)\njacobian(graph).shape", derivatives=numbers(rng, 2, 3))
    yield shape.asking(Recorded).expect((2, 3))


def one_hot(n: int, i: int) -> Any:
    return np.arange(n) == i


# --- 5.4 what a backward pass starts from -------------------------------------------------------------------


STARTS = "[start((1,) * axes) for axes in of_axes]"
REFUSED = """
def refused(*given):
    try:
        start(*given)
    except RuntimeError:
        return True
    return False
"""
WITHOUT = f"{REFUSED}[refused(shape) for shape in shapes]"
ONE_NUMBER = f"{REFUSED}[refused(shape, np.array(0.5)) for shape in shapes]"
NOT_ONE = "Of these shapes, only those that hold exactly one number have a default. For which does yours raise no RuntimeError?"
ZEROS = "[start(shape, np.zeros(shape)) for shape in shapes]"


def start_by_cases(shape: tuple[int, ...], gradient: Array | None = None) -> Any:
    """The oracle is only asked where no error is due."""
    return np.full(shape, 1.0) if gradient is None else gradient


def probes_5_4(rng: np.random.Generator) -> Iterator[Probe]:
    refused = Raises("RuntimeError")
    yield call(())
    yield call((3,), numbers(rng, 3))
    yield call((3,)).expect(refused).show()
    yield call((2, 3), numbers(rng, 2, 3))
    yield call((1, 1))
    yield call((3,), numbers(rng, 1)).expect(refused).show()
    yield call((2, 3), numbers(rng, 3, 2)).expect(refused)
    yield call((), np.array(2.5))
    yield call((1,), numbers(rng, 1))
    yield call((2, 2)).expect(refused)
    yield call((1, 1), numbers(rng, 1)).expect(refused)
    yield call((1,), np.array([0.0]))
    yield call((2,), np.array([0.0, 0.0]))
    yield call((0, 2)).expect(refused)
    yield call((2, 3), np.array(2.5)).expect(refused)
    axes = rng.permutation(5).tolist()
    yield run(STARTS, of_axes=axes).expect([np.ones((1,) * n) for n in axes])
    n, m = rng.integers(2, 9, size=2).tolist()
    shapes = [(n,), (n, m), (0, m), (1, n), (1,), (1, 1), (0,), (0, 1), (1, 1, m)]
    shapes = [shapes[i] for i in rng.permutation(len(shapes))]
    yield run(WITHOUT, shapes=shapes).expect([bool(np.prod(shape) != 1) for shape in shapes]).on(NOT_ONE)
    several = [[(n,), (), (m, n)][i] for i in rng.permutation(3)]
    yield run(ONE_NUMBER, shapes=several).expect([shape != () for shape in several])
    yield run(ZEROS, shapes=several).expect([np.zeros(shape) for shape in several])


def check_shape(shape: tuple[int, ...], gradient: Array) -> Array:
    if np.shape(gradient) != tuple(shape):
        raise RuntimeError(f"Mismatch in shape: grad has {np.shape(gradient)}, output has {shape}")
    return gradient


# --- 5.5 an operation from its rule ---------------------------------------------------------------------------

# What the notebook gives, as `keep` writes it.
OPERATION = f"import numpy as np\n{AS_GIVEN}" + "\n".join(given()[part].given for part in ("3.0", "5.4"))
CLASSES = "operation, Tensor=Tensor, fitted=fitted"
MUL = "mul = operation('*', np.multiply, lambda g, x, y: (g * y, g * x))\n"
NEW = "a, b = Tensor(a), Tensor(b)\n"


def probes_5_5(rng: np.random.Generator) -> Iterator[Probe]:
    a, b, g, s = (numbers(rng, 3) for _ in range(4))
    pair, both, push = {"a": a, "b": b}, "[a.grad, b.grad]", "c.grad = g\nc._backward()"
    shown = {"a": np.array([1.0, 2.0]), "b": np.array([3.0, 4.0]), "g": np.array([1.0, 10.0])}
    product = MUL + NEW + "c = mul(a, b)\n"
    yield on_given(CLASSES, product + push, both, **shown).expect([np.array([3.0, 40.0]), np.array([1.0, 20.0])]).show()
    yield on_given(CLASSES, product, "c.data", **pair).expect(a * b)
    yield on_given(CLASSES, product + push, both, **pair, g=g).expect([g * b, g * a])
    yield on_given(CLASSES, MUL + NEW + "a.grad = s\nc = mul(a, b)\n" + push, "a.grad", **pair, g=g, s=s).on(
        "a has a gradient already, from another operation. What does the closure do with it?").expect(s + g * b)  # fmt: skip
    yield on_given(CLASSES, MUL + "a = Tensor(a)\nc = mul(a, a)\n" + push, "a.grad", a=a, g=g).expect(2 * g * a)
    square = "square = operation('square', np.square, lambda g, x: g * 2 * x)\na = Tensor(a)\nc = square(a)\n"
    yield on_given(CLASSES, square + push, "a.grad", a=a, g=g).on(
        "This operation has one input, and its rule returns one array, and no tuple.").expect(2 * g * a)  # fmt: skip
    three = "f = operation('f', lambda x, y, z: x * y + z, lambda g, x, y, z: (g * y, g * x, g))\nz = Tensor(z)\n"
    all_three = "[c.data, a.grad, b.grad, z.grad]"
    yield on_given(CLASSES, three + NEW + "c = f(a, b, z)\n" + push, all_three, **pair, z=s, g=g).expect(
        [a * b + s, g * b, g * a, g])  # fmt: skip
    plain = MUL + "a = Tensor(a)\nc, d = mul(a, 2.5), mul(b, a)\n"
    yield on_given(CLASSES, plain, "[type(p).__name__ for each in (c, d) for p in each.parents]", **pair).on(
        "`mul(a, 2.5)` has a number among its inputs, and `mul(b, a)` an array.").expect(["Tensor"] * 4)  # fmt: skip
    yield on_given(CLASSES, plain + push, "[c.data, a.grad]", **pair, g=g).expect([2.5 * a, 2.5 * g])
    marks = numbers(rng, 2).tolist()
    same = MUL + NEW + "a.mark, b.mark = marks\nc = mul(a, b)"
    yield on_given(CLASSES, same, "[getattr(p, 'mark', None) for p in c.parents]", **pair, marks=marks).on(
        "The parents of the result are a and b themselves.").expect(marks)  # fmt: skip
    added = "add = operation('+', np.add, lambda g, x, y: (g, g))\n" + product + "d = add(a, b)\nd.grad = s\nd._backward()\n"
    yield on_given(CLASSES, added + push, both, **pair, g=g, s=s).expect([s + g * b, s + g * a])
    op = str(rng.choice(["cube", "third", "half"])) + str(rng.integers(10, 99))
    named = "c = operation(op, np.negative, lambda g, x: -g)(Tensor(a))"
    yield on_given(CLASSES, named, "c.op", op=op, a=a).on("The result stores the name of its operation.").expect(op)
    yield on_given(CLASSES, product + "d = mul(b, b)\n" + push, both, **pair, g=g).on(
        "d has no gradient yet, and its closure has not run.").expect([g * b, g * a])  # fmt: skip
    fits = CLASSES.replace("fitted=fitted", "fitted=lambda g, shape: g[: shape[0]]")
    yield on_given(fits, product + push, both, a=a, b=b[:1], g=g).on(
        "Here `fitted` shortens a gradient to the shape that it is given. Which shape does each input have?"
    ).expect([g * b[0], g[:1] * a[:1]])  # fmt: skip


LESSON = lesson(
    __file__,
    globals(),
    {
        "5.1": {"oracle": vjp_by_nudging, "probes": probes_5_1},
        "5.2": {"oracle": lambda derivatives: derivatives, "probes": probes_5_2, "prelude": GRAPH},
        "5.4": {"oracle": start_by_cases, "probes": probes_5_4, "prelude": "import numpy as np"},
        "5.5": {"probes": probes_5_5, "prelude": OPERATION},
    },
)
