"""Lesson 10: activations, their derivatives, and the gradients of a whole two-layer net.

All exercises are judged by calls on numpy arrays. The oracles have another form than any expected answer: a branch
for each number, hyperbolic cosines, sums over one example and one unit at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad as torch

from ..exercise import ENGINE_OFF, Probe, call, numbers, unaided
from ..lesson_text import lesson

Array = np.ndarray[Any, Any]


# --- 10.1 relu and maximum -----------------------------------------------------------------------------


def branches(name: str, *given: Any) -> Any:
    """The gradient of each entry by cases."""
    if name == "relu_vjp":
        g, x = given
        entries = [upstream if value > 0 else 0.0 for value, upstream in zip(x.ravel(), g.ravel(), strict=True)]
        return np.reshape(entries, x.shape)
    g, a, b = given
    first = np.zeros(a.shape)
    for i in np.ndindex(a.shape):
        first[i] = g[i] if a[i] > b[i] else g[i] / 2 if a[i] == b[i] else 0.0
    return first, g - first


def probes_10_1(rng: np.random.Generator) -> Iterator[Probe]:
    x = np.array([[2.5, 0.0, -1.5], [0.0, -0.4, 0.3]])
    yield call(np.array([[0.5, -2.0, 3.0], [-1.5, 0.7, -4.0]]), x).of("relu_vjp").show()
    yield call(numbers(rng, 4), numbers(rng, 4)).of("relu_vjp")
    a = np.array([2.5, -1.5, 0.5, 3.0])
    b = np.array([0.7, -1.5, 2.0, 3.0])
    yield call(np.array([2.0, -5.0, 3.0, 0.6]), a, b).of("maximum_vjp")
    yield call(numbers(rng, 2, 3), numbers(rng, 2, 3), numbers(rng, 2, 3)).of("maximum_vjp")
    near = np.array([0.02, -0.02, 1e-12])
    yield call(np.array([3.0, -2.0, 0.7]), near).of("relu_vjp")
    yield call(np.array([3.0, -2.0, 0.7]), near + 2, np.array([2.0, 2.0, 2.0])).of("maximum_vjp")
    yield call(np.array([0.6, -5.0]), np.array([2.0, 3.0]), np.array([2.0, 1.5])).of("maximum_vjp")
    box, tied = numbers(rng, 2, 1, 3), np.array([[[0.5, 2.0, -4.0]], [[3.0, 0.0, 1.0]]])
    yield call(box, tied).of("relu_vjp")
    yield call(box / 40, tied, np.array([[[0.5, 1.0, -4.0]], [[4.0, 0.0, 1.0]]])).of("maximum_vjp")
    n, b, g = numbers(rng, 3), numbers(rng, 6), numbers(rng, 6)
    apart = rng.permutation([n[0], 0.0, 0.0, 0.01 * abs(n[1]), -0.01 * abs(n[1]), 1e-12 * abs(n[2])])
    yield call(g, apart).of("relu_vjp")
    yield call(g, b + apart, b).of("maximum_vjp")
    yield call(g, b + np.maximum(apart, 0), b).of("maximum_vjp")
    yield unaided("relu_vjp", branches("relu_vjp", g, apart), g=g, x=apart)
    yield unaided("maximum_vjp", branches("maximum_vjp", g, b + apart, b), g=g, a=b + apart, b=b)


# --- 10.2 from the output ------------------------------------------------------------------------------


def by_cosh(name: str, g: Array, out: Array) -> Array:
    """The gradients, from the inputs that gave these outputs."""
    if name == "sigmoid_vjp":
        return g / (2 * np.cosh(np.log(out / (1 - out)) / 2)) ** 2  # type: ignore[no-any-return]
    return g / np.cosh(np.arctanh(out)) ** 2  # type: ignore[no-any-return]


def probes_10_2(rng: np.random.Generator) -> Iterator[Probe]:
    g, v = numbers(rng, 3), numbers(rng, 2, 3)
    s = np.array([0.5, 0.9, 0.2])
    yield call(np.array([1.0, 10.0, -2.0]), s).of("sigmoid_vjp")
    yield call(v, np.round(rng.uniform(0.1, 0.9, (2, 3)), 2)).of("sigmoid_vjp")
    yield call(g, np.array([0.4, -0.6, 0.0])).of("tanh_vjp")
    yield call(v, np.round(rng.uniform(-0.9, 0.9, (2, 3)), 2)).of("tanh_vjp")
    yield call(g[:2], np.array([0.0, 1.0])).of("sigmoid_vjp").expect(np.zeros(2))
    yield call(g[:2], np.array([1.0, -1.0])).of("tanh_vjp").expect(np.zeros(2))
    yield call(numbers(rng, 2, 1, 2), np.full((2, 1, 2), 0.25)).of("sigmoid_vjp")
    yield call(numbers(rng, 2, 1, 2), np.full((2, 1, 2), -0.25)).of("tanh_vjp")
    yield unaided("sigmoid_vjp", g[:1] / 4, g=g[:1], s=np.array([0.5]))
    yield unaided("tanh_vjp", 0.75 * g[:1], g=g[:1], t=np.array([0.5]))


def through(f: Callable[..., Any], x: Any, g: Any) -> Any:
    at = torch.tensor(x, requires_grad=True)
    f(at).backward(torch.tensor(g))
    assert at.grad is not None
    return at.grad.numpy()


# --- 10.3 a whole net ----------------------------------------------------------------------------------


def one_at_a_time(X: Array, t: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> tuple[Any, ...]:
    """The oracle: every derivative as a sum over examples, hidden units and outputs; no matrix product."""
    loss, dW1, db1, dW2, db2 = 0.0, *(np.zeros(each.shape) for each in (W1, b1, W2, b2))
    for x, target in zip(X, t, strict=True):
        z = [b1[j] + sum(x[i] * W1[i, j] for i in range(len(x))) for j in range(len(b1))]
        for k in range(len(b2)):
            error = b2[k] + sum(max(z[j], 0.0) * W2[j, k] for j in range(len(z))) - target[k]
            loss += error**2 / t.size
            db2[k] += 2 * error / t.size
            for j in range(len(z)):
                dW2[j, k] += 2 * error * max(z[j], 0.0) / t.size
                if z[j] > 0:
                    db1[j] += 2 * error * W2[j, k] / t.size
                    dW1[:, j] += 2 * error * W2[j, k] * x / t.size
    return loss, dW1, db1, dW2, db2


def sizes(rng: np.random.Generator, examples: int, inputs: int, hidden: int, outputs: int) -> list[Array]:
    """X, t, W1, b1, W2, b2 for a net of these sizes."""
    shapes = [(examples, inputs), (examples, outputs), (inputs, hidden), (hidden,), (hidden, outputs), (outputs,)]
    return [numbers(rng, *shape) for shape in shapes]


X_TEXT = np.array([[2.0, -1.0], [0.5, 3.0], [-1.5, 2.0]])
W1_TEXT = np.array([[1.5, -2.0], [0.5, 3.0]])
W2_TEXT = np.array([[2.0], [-1.5]])
SMALL = [X_TEXT, np.array([[3.0], [-2.0], [0.5]]), W1_TEXT, np.array([0.5, -1.0]), W2_TEXT, np.array([0.7])]
# the first hidden unit of the first example is exactly 0: 0.5 * 2 + 1 * -1
AT_THE_KINK = [X_TEXT, SMALL[1], np.array([[0.5, -2.0], [1.0, 3.0]]), np.array([0.0, 0.4]), W2_TEXT, SMALL[5]]


def probes_10_3(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(*SMALL)
    yield call(*sizes(rng, 4, 3, 2, 5))
    yield call(*sizes(rng, 5, 2, 4, 1))
    yield call(*sizes(rng, 3, 3, 3, 3))
    yield call(*sizes(rng, 1, 2, 3, 2))
    yield call(*AT_THE_KINK)
    X, t, W1, _, W2, b2 = sizes(rng, 3, 2, 2, 1)
    X, W1 = np.round(2 * X) / 2, np.round(2 * W1) / 2  # their products are exact, whatever the order
    b1 = -X[int(rng.integers(3))] @ W1  # for this example both hidden units are exactly 0
    yield call(X, t, W1, b1, W2, b2)
    yield unaided("two_layer", one_at_a_time(X, t, W1, b1, W2, b2), X=X, t=t, W1=W1, b1=b1, W2=W2, b2=b2)


LEADS_10_3 = {
    0: "The loss is wrong, so the mistake begins in the forward pass. Compute Z, H and P for these inputs on paper.",
    4: "The loss is right, and the gradient of b2 is not. It needs dP alone, so look at dP and at its sum.",
    3: "The loss and the gradient of b2 are right, so dP is, too. The gradient of W2 is not: which two "
    "arrays are in it, and in which order?",
    2: "The gradients of the second layer are right, and the gradient of b1 is not. So the mistake is in dH, in the mask "
    "that makes dZ, or in the sum.",
    1: "All is right but the gradient of W1. It needs X and dZ: which arrays does your line take, and in which order?",
}


LESSON = lesson(
    __file__,
    globals(),
    {
        "10.1": {"oracle": branches, "probes": probes_10_1, "prelude": ENGINE_OFF},
        "10.2": {"oracle": by_cosh, "probes": probes_10_2, "prelude": ENGINE_OFF},
        "10.3": {"oracle": one_at_a_time, "probes": probes_10_3, "prelude": ENGINE_OFF, "leads": LEADS_10_3},
    },
)
