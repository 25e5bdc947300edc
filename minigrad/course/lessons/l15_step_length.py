"""Lesson 15: how long a step may be. Products with the Hessian, the largest curvature, the limit of the rate, Newton's step.

Right answers are formulas: for exp the central difference is exp(w) * sinh(eps * v) / eps, and the matrices below are made
from their eigenvalues. One product is PyTorch's, by a second backward pass; a slow test records it again and compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..exercise import AS_GIVEN, Probe, numbers, on_given, run
from ..lesson_text import lesson

Array = np.ndarray[Any, Any]

# What 15.3 and 15.4 build on: they are asked with these, so that a mistake in 15.1 costs nothing twice.
TOOLS = f"""
import numpy as np
{AS_GIVEN}
def hvp(gradient, w, v, eps=1e-5):
    return (gradient(w + eps * v) - gradient(w - eps * v)) / (2 * eps)

def power_iteration(multiply, v, steps):
    for _ in range(steps):
        v = multiply(v)
        v = v / np.linalg.norm(v)
    return v @ multiply(v), v
"""
SPACE: dict[str, Any] = {}
exec(TOOLS, SPACE)
hvp, power_iteration = SPACE["hvp"], SPACE["power_iteration"]


def tools() -> dict[str, Any]:
    """The functions of 15.1 and 15.2, for those who have not written them."""
    return {"hvp": hvp, "power_iteration": power_iteration}


# --- 15.1 a product with the Hessian -------------------------------------------------------------------

LINEAR = "hvp(lambda w: A @ w, w, v, 0.5)"
EXP = "hvp(lambda w: np.exp(w), w, v, eps)"  # np.exp itself takes a second argument
UNCHANGED = "hvp(lambda w: np.exp(w), w, v, 0.5)\n[w, v]"
CALLS = "calls = []\nhvp(lambda w: calls.append(1) or 3 * w, w, v, 0.5)\nlen(calls)"
AS_BEFORE = "The arrays that you are given have to be as they were before the call."
TWO_PASSES = "One product takes two gradients, so `gradient` is called twice."
# A net of the student's engine with four inputs, five hidden units and three classes.
NET = """
import numpy as np
from my_engine import Tensor, cross_entropy_loss

def net_gradient(w):
    W1, W2 = Tensor(w[:20].reshape(4, 5)), Tensor(w[20:].reshape(5, 3))
    cross_entropy_loss((Tensor(NET_X) @ W1).tanh() @ W2, np.array([2, 0, 1, 1, 2, 0])).backward()
    return np.concatenate([W1.grad.ravel(), W2.grad.ravel()])

NET_X = np.sin(1.0 + np.arange(24)).reshape(6, 4)
"""
NET_W, NET_V = np.sin(2.0 + np.arange(35)), np.cos(0.5 + np.arange(35))
OF_NET = "hvp(net_gradient, w, v, 1e-5)"
# PyTorch 2.13.0, CPU, float64: the gradient of (gradient @ v) for the net above.
RECORDED: list[float] = [
    0.0087566366, 0.076855288, -0.033689973, -0.012558959, -0.0099932075, -0.010590058, 0.079531972, 0.0077102588,
    -0.0055244315, -0.11612888, -0.020200303, 0.0090873277, 0.042021714, 0.0065892333, -0.11549619, -0.011238482,
    -0.069712164, 0.037698599, 0.012644787, -0.0086768416, -0.028226678, -0.10030556, 0.12853224, -0.20929687,
    0.075705738, 0.13359113, 0.090331048, -0.00074681728, -0.089584231, 0.026085292, 0.10041159, -0.12649688,
    0.20896285, -0.062437854, -0.146525,
]  # fmt: skip


def probes_15_1(rng: np.random.Generator) -> Iterator[Probe]:
    A, w, v = np.array([[4.0, 1.5], [1.5, 3.0]]), np.array([0.5, -2.0]), np.array([2.0, -0.5])
    yield run(LINEAR, A=A, w=w, v=v).expect(A @ v).show()
    for shape, eps in (((3,), 0.5), ((4,), 0.25), ((2, 3), 0.125), ((3,), 1e-5)):
        w, v = numbers(rng, *shape) / 3, numbers(rng, *shape) / 2
        yield run(EXP, w=w, v=v, eps=eps).expect(np.exp(w) * np.sinh(eps * v) / eps)
    half = rng.permutation([1.5, -0.75, 0.0, 2.25])
    B = matrix(rng, [6.0, 2.0, 1.0, -3.0])
    yield run(LINEAR, A=B, w=numbers(rng, 4), v=half).expect(B @ half)
    yield run(UNCHANGED, w=w, v=v).on(AS_BEFORE).expect([w, v])
    yield run(CALLS, w=w, v=v).on(TWO_PASSES).expect(2)
    yield run(OF_NET, w=NET_W, v=NET_V).expect(np.array(RECORDED))


def matrix(rng: np.random.Generator, eigenvalues: list[float]) -> Array:
    """A symmetric matrix that has these eigenvalues, and no zeros."""
    turned, _ = np.linalg.qr(numbers(rng, len(eigenvalues), len(eigenvalues)))
    made: Array = (turned * eigenvalues) @ turned.T
    return made


# --- 15.2 power iteration ------------------------------------------------------------------------------

POWER = "power_iteration(lambda v: A @ v, v, steps)"
GIVEN = "power_iteration(lambda v: A @ v, v, 3)\nv"


def probes_15_2(rng: np.random.Generator) -> Iterator[Probe]:
    A, v = np.array([[4.0, 1.5], [1.5, 3.0]]), np.array([2.0, -0.5])
    yield run(POWER, A=A, v=v, steps=1).expect(power_iteration(A.__matmul__, v, 1)).show()
    for eigenvalues, steps in (([5.0, 2.0, -1.0], 2), ([4.0, 1.5, -0.5], 80), ([-6.0, 2.5, 1.0, 0.5], 61),
                               ([9e3, 4e3, 1e3], 120)):  # fmt: skip
        A, v = matrix(rng, eigenvalues), numbers(rng, len(eigenvalues))
        yield run(POWER, A=A, v=v, steps=steps).expect(power_iteration(A.__matmul__, v, steps))
    yield run(GIVEN, A=A, v=v).on(AS_BEFORE).expect(v)
    yield run(POWER, A=np.array([[3.5]]), v=np.array([-2.0]), steps=2).expect((3.5, np.array([-1.0])))


# --- 15.3 the limit of the rate ------------------------------------------------------------------------

BOWL = "limit(lambda w: A @ (w - 9.0), w, momentum)"
BENT = "limit(lambda w: c * np.exp(w), w, momentum)"
HESSIAN = "The Hessian of this loss is A, at each place."
BENDS = "This gradient is no product with a matrix. Its Hessian at w has c * exp(w) on the diagonal and zeros elsewhere."
AGAIN = "[limit(lambda w: A @ w, w, m) for m in (0.0, 0.5)]"


def of_limit(asked: str, **data: Any) -> Probe:
    return on_given("limit, hvp=hvp, power_iteration=power_iteration", "", asked, **data)


def probes_15_3(rng: np.random.Generator) -> Iterator[Probe]:
    A, w = np.array([[4.0, 1.5], [1.5, 3.0]]), np.array([0.5, -2.0])
    yield of_limit(BOWL, A=A, w=w, momentum=0.0).expect(2 / np.linalg.eigvalsh(A)[-1]).show()
    # The limit depends on the largest eigenvalue alone, so each student gets another one.
    for parts, momentum in (([1.0, 0.4, 0.2], 0.0), ([1.0, 0.375, 0.0625], 0.9), ([1.0, 0.5, 0.25], 0.5)):
        largest = float(rng.uniform(0.25, 8.0))
        A = matrix(rng, [largest * part for part in parts])
        yield of_limit(BOWL, A=A, w=numbers(rng, 3), momentum=momentum).on(HESSIAN).expect(2 * (1 + momentum) / largest)
    c, w = rng.uniform(0.5, 2.0) * np.array([1.5, 0.5, 1.0]), np.array([3.0, 2.0, 1.5])[rng.permutation(3)]
    curvatures = c * np.exp(w)
    yield of_limit(BENT, c=c, w=w, momentum=0.25).on(BENDS).expect(2.5 / curvatures.max())
    largest = float(rng.uniform(3.0, 8.0))
    yield of_limit(AGAIN, A=matrix(rng, [largest, largest / 3]), w=numbers(rng, 2)).expect([2 / largest, 3 / largest])


# --- 15.4 Newton's step --------------------------------------------------------------------------------

TO_MINIMUM = "newton_step(lambda w: A @ (w - best), w)"
ONE_OF_EXP = "newton_step(lambda w: np.exp(w) - c, w)"
OLD = "w"
STEPPED = "newton_step(lambda w: A @ w - 1.0, w)"


def of_step(asked: str, before: str = "", **data: Any) -> Probe:
    return on_given("newton_step, hvp=hvp, power_iteration=power_iteration", before, asked, **data)


def probes_15_4(rng: np.random.Generator) -> Iterator[Probe]:
    A, w, best = np.array([[4.0, 1.5], [1.5, 3.0]]), np.array([0.5, -2.0]), np.array([3.0, 1.5])
    yield of_step(TO_MINIMUM, A=A, w=w, best=best).expect(best).show()
    for eigenvalues in ([7.0, 2.0, 0.5], [5.0, 1.5, -2.0, 1.0]):  # with a negative one, this is no minimum
        best = numbers(rng, len(eigenvalues))
        yield of_step(TO_MINIMUM, A=matrix(rng, eigenvalues), w=numbers(rng, len(best)), best=best).expect(best)
    w, c = numbers(rng, 3) / 3, 1 + np.abs(numbers(rng, 3))
    yield of_step(ONE_OF_EXP, w=w, c=c).expect(w - (np.exp(w) - c) / np.exp(w))
    yield of_step(OLD, STEPPED, A=matrix(rng, [3.0, 2.0, 0.5]), w=c).on(AS_BEFORE).expect(c)
    yield of_step(TO_MINIMUM, A=np.array([[2.5]]), w=np.array([4.0]), best=np.array([-1.5])).expect(np.array([-1.5]))


LESSON = lesson(
    __file__,
    globals(),
    {
        "15.1": {"probes": probes_15_1, "prelude": NET},
        "15.2": {"probes": probes_15_2, "prelude": "import numpy as np"},
        "15.3": {"probes": probes_15_3, "prelude": TOOLS, "scaffold": tools},
        "15.4": {"probes": probes_15_4, "prelude": TOOLS, "scaffold": tools},
    },
)
