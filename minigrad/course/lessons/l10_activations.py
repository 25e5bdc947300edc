"""Lesson 10: activations, their derivatives, and the gradients of a whole two-layer net.

All exercises are judged by calls on numpy arrays. The oracles have another form than any expected answer: a branch
for each number, hyperbolic cosines, sums over one example and one unit at a time.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
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
        x, g = given
        entries = [upstream if value > 0 else 0.0 for value, upstream in zip(x.ravel(), g.ravel(), strict=True)]
        return np.reshape(entries, x.shape)
    a, b, g = given
    first = np.zeros(a.shape)
    for i in np.ndindex(a.shape):
        first[i] = g[i] if a[i] > b[i] else g[i] / 2 if a[i] == b[i] else 0.0
    return first, g - first


def probes_10_1(rng: np.random.Generator) -> Iterator[Probe]:
    x = np.array([[2.5, 0.0, -1.5], [0.0, -0.4, 0.3]])
    yield call(x, np.array([[0.5, -2.0, 3.0], [-1.5, 0.7, -4.0]])).of("relu_vjp").show()
    yield call(numbers(rng, 4), numbers(rng, 4)).of("relu_vjp")
    a = np.array([2.5, -1.5, 0.5, 3.0])
    b = np.array([0.7, -1.5, 2.0, 3.0])
    yield call(a, b, np.array([2.0, -5.0, 3.0, 0.6])).of("maximum_vjp")
    yield call(numbers(rng, 2, 3), numbers(rng, 2, 3), numbers(rng, 2, 3)).of("maximum_vjp")
    near = np.array([0.02, -0.02, 1e-12])
    yield call(near, np.array([3.0, -2.0, 0.7])).of("relu_vjp")
    yield call(near + 2, np.array([2.0, 2.0, 2.0]), np.array([3.0, -2.0, 0.7])).of("maximum_vjp")
    yield call(np.array([2.0, 3.0]), np.array([2.0, 1.5]), np.array([0.6, -5.0])).of("maximum_vjp")
    box, tied = numbers(rng, 2, 1, 3), np.array([[[0.5, 2.0, -4.0]], [[3.0, 0.0, 1.0]]])
    yield call(tied, box).of("relu_vjp")
    yield call(tied, np.array([[[0.5, 1.0, -4.0]], [[4.0, 0.0, 1.0]]]), box / 40).of("maximum_vjp")
    yield unaided("relu_vjp", np.array([0.5, 0.0, 0.0]), x=np.array([2.5, -1.0, 0.0]), g=np.array([0.5, -2.0, 3.0]))
    yield unaided("maximum_vjp", [np.array([3.0, 0.0]), np.array([0.0, -2.0])], a=np.array([2.5, -1.0]),
                  b=np.array([0.5, 2.0]), g=np.array([3.0, -2.0]))  # fmt: skip


def maximum_rule(a: Any, b: Any, g: Any) -> Any:
    first = g * (np.sign(a - b) + 1) / 2
    return first, g - first


# --- 10.2 from the output ------------------------------------------------------------------------------


def by_cosh(name: str, out: Array, g: Array) -> Array:
    """The gradients, from the inputs that gave these outputs."""
    if name == "sigmoid_vjp":
        return g / (2 * np.cosh(np.log(out / (1 - out)) / 2)) ** 2  # type: ignore[no-any-return]
    return g / np.cosh(np.arctanh(out)) ** 2  # type: ignore[no-any-return]


def probes_10_2(rng: np.random.Generator) -> Iterator[Probe]:
    g, v = numbers(rng, 3), numbers(rng, 2, 3)
    s = np.array([0.5, 0.9, 0.2])
    yield call(s, np.array([1.0, 10.0, -2.0])).of("sigmoid_vjp")
    yield call(np.round(rng.uniform(0.1, 0.9, (2, 3)), 2), v).of("sigmoid_vjp")
    yield call(np.array([0.4, -0.6, 0.0]), g).of("tanh_vjp")
    yield call(np.round(rng.uniform(-0.9, 0.9, (2, 3)), 2), v).of("tanh_vjp")
    yield call(np.array([0.0, 1.0]), g[:2]).of("sigmoid_vjp").expect(np.zeros(2))
    yield call(np.array([1.0, -1.0]), g[:2]).of("tanh_vjp").expect(np.zeros(2))
    yield call(np.full((2, 1, 2), 0.25), numbers(rng, 2, 1, 2)).of("sigmoid_vjp")
    yield call(np.full((2, 1, 2), -0.25), numbers(rng, 2, 1, 2)).of("tanh_vjp")
    yield unaided("sigmoid_vjp", g[:1] / 4, s=np.array([0.5]), g=g[:1])
    yield unaided("tanh_vjp", 0.75 * g[:1], t=np.array([0.5]), g=g[:1])


def through(f: Callable[..., Any], x: Any, g: Any) -> Any:
    at = torch.tensor(x, requires_grad=True)
    f(at).backward(torch.tensor(g))
    assert at.grad is not None
    return at.grad.numpy()


def squash(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def steps_10_2(probe: Probe) -> dict[str, Any]:
    """What both rules are made of."""
    out, _ = probe.args or list(probe.data.values())
    return (
        {"(1 - s)": 1 - out} if "sigmoid" in probe.name + probe.code else {"(1 - t)": 1 - out, "(1 - t**2)": 1 - out**2}
    )


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
    X, t, W1, b1, W2, b2 = SMALL
    yield unaided("two_layer", one_at_a_time(*SMALL), X=X, t=t, W1=W1, b1=b1, W2=W2, b2=b2)


Step = Callable[..., Any]


def by_hand(
    error: Step = lambda P, t: 2 * (P - t) / P.size,
    W2_from: Step = lambda X, Z, H, dP: H.T @ dP,
    bias: Step = lambda d: d.sum(axis=0),
    hidden: Step = lambda dP, W2: dP @ W2.T,
    gate: Step = lambda dH, Z: dH * (Z > 0),
    W1_from: Step = lambda X, dZ: X.T @ dZ,
    order: Step = lambda dW1, db1, dW2, db2: (dW1, db1, dW2, db2),
) -> Step:
    """The net with each step of its backward pass given: the wrong answers change one of them."""

    def two_layer(X: Array, t: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> tuple[Any, ...]:
        Z = X @ W1 + b1
        H = np.maximum(Z, 0)
        P = H @ W2 + b2
        dP = error(P, t)
        dZ = gate(hidden(dP, W2), Z)
        return ((P - t) ** 2).mean(), *order(W1_from(X, dZ), bias(dZ), W2_from(X, Z, H, dP), bias(dP))

    return two_layer


def steps_10_3(probe: Probe) -> dict[str, Any]:
    """The arrays of the forward pass and of the backward pass, and of the inputs the one that they need."""
    X, t, W1, b1, W2, b2 = probe.args or list(probe.data.values())
    Z = X @ W1 + b1
    H = np.maximum(Z, 0)
    error = H @ W2 + b2 - t
    dP = 2 * error / error.size
    dH = dP @ W2.T
    return {"(P - t)": error, "Z": Z, "H": H, "dP": dP, "dH": dH, "dZ": dH * (Z > 0), "X": X}


# The steps of the net, and what is written in their place: by words, "" for what is right.
ACTS: dict[str, Step] = {
    "": lambda Z: np.maximum(Z, 0), "with tanh where relu belongs": np.tanh, "without relu": lambda Z: Z,
    "with a sigmoid where relu belongs": lambda Z: 1 / (1 + np.exp(-Z)), "with abs where relu belongs": np.abs,
    "with minimum where maximum belongs": lambda Z: np.minimum(Z, 0),
}  # fmt: skip
TOPS: dict[str, Step] = {"": lambda P: P, "with an activation on the output as well": lambda P: np.maximum(P, 0)}
BIASES = {"": 1, "without {}": 0, "with {} subtracted": -1, "with {} added twice": 2}
MEANS: dict[str, Step] = {
    "": lambda E: (E**2).mean(), "with a norm, the root of the sum of the squares": lambda E: np.sqrt((E**2).sum()),
    "with a sum where the mean belongs": lambda E: (E**2).sum(),
    "with a factor 1/2": lambda E: (E**2).mean() / 2, "with a square root": lambda E: np.sqrt((E**2).mean()),
    "with a sum over the outputs and a mean over the examples": lambda E: (E**2).sum() / len(E),
    "with absolute values where squares belong": lambda E: np.abs(E).mean(), "without the squares": np.mean,
    "with the square of the mean where the mean of the squares belongs": lambda E: E.mean() ** 2,
}  # fmt: skip
ERRORS: dict[str, Step] = {
    "": lambda E: 2 * E / E.size, "without the factor 2": lambda E: E / E.size,
    "without the division by P.size": lambda E: 2 * E,
    "without 2 / P.size": lambda E: E, "with the number of rows for P.size": lambda E: 2 * E / len(E),
    "with the number of columns for P.size": lambda E: 2 * E / E.shape[1],
    "with P.size twice in the divisor": lambda E: 2 * E / E.size**2,
    "with a square that the derivative does not have": lambda E: 2 * E**2 / E.size,
    "with the sign of the error for the error": lambda E: np.sign(E) / E.size,
}  # fmt: skip
SIGNS = {"": 1, "with t - P for P - t": -1}
SUMS: dict[str, Step] = {
    "": lambda d: d.sum(axis=0), "with a mean where a sum belongs": lambda d: d.mean(axis=0), "without a sum": lambda d: d,
    "with a sum along the rows, axis=1": lambda d: d.sum(axis=1), "with a sum over all its numbers": np.sum,
    "with an axis too many": lambda d: d.sum(axis=0, keepdims=True),
}  # fmt: skip
GATES: dict[str, Step] = {
    "": lambda d, Z: d * (Z > 0), "without a mask": lambda d, Z: d, "with a mask by the sign of dH": lambda d, Z: d * (d > 0),
    "with H where the derivative of relu belongs": lambda d, Z: d * np.maximum(Z, 0),
    "with a mask that is open at 0": lambda d, Z: d * (Z >= 0), "with the mask the wrong way round": lambda d, Z: d * (Z < 0),
    "with the derivative of tanh, 1 - H**2": lambda d, Z: d * (1 - np.maximum(Z, 0) ** 2),
    "with the derivative of tanh": lambda d, Z: d * (1 - np.tanh(Z) ** 2),
    "with Z where the derivative of relu belongs": lambda d, Z: d * Z, "with sign(Z) for the mask": lambda d, Z: d * np.sign(Z),
    "with Z where the gradient should be 0": lambda d, Z: np.where(Z > 0, d, Z),
    "with H where dH belongs": lambda d, Z: np.maximum(Z, 0), "with the mask alone, without dH": lambda d, Z: 1.0 * (Z > 0),
    "with the derivative of a sigmoid, H * (1 - H)": lambda d, Z: d * np.maximum(Z, 0) * (1 - np.maximum(Z, 0)),
}  # fmt: skip
PARTS = ("loss", "dW1", "db1", "dW2", "db2")
ORDER = (0, 4, 3, 2, 1)  # each is computed from what those before it are made of


def likely_10_3(probe: Probe) -> dict[str, Any]:
    """Tests for the first part that is wrong, in the order of computing: by at most two steps that are not right."""
    X, t, W1, b1, W2, b2 = (np.asarray(each) for each in probe.args or list(probe.data.values()))
    right = by_hand()(X, t, W1, b1, W2, b2)
    db2 = right[4]
    Z = X @ W1 + b1
    H = np.maximum(Z, 0)
    E = H @ W2 + b2 - t
    dP = 2 * E / E.size
    dH = dP @ W2.T
    dZ = dH * (Z > 0)
    tests: dict[str, Any] = {}
    for i, j in itertools.permutations(range(5), 2):

        def moved(got: Any, i: int = i, j: int = j) -> bool:
            return len(got) == 5 and close(got[i], right[j]) and not close(right[i], right[j])

        tests[f"What you return as {PARTS[i]} is {PARTS[j]}."] = moved

    def put(part: int, words: Sequence[str], value: Any) -> None:
        """One more test, where this value (or what computes it) is another one than the right one."""
        given = [each for each in words if each]
        if not 0 < len(given) < 3 or (not callable(value) and close(value, right[part])):
            return

        def test(got: Any) -> bool:
            before = ORDER[: ORDER.index(part)]
            if len(got) != 5 or not all(close(got[k], right[k]) for k in before) or close(got[part], right[part]):
                return False
            return close(got[part], value() if callable(value) else value)

        tests[f"Your {PARTS[part]} is computed {' and '.join(given)}."] = test

    def loss(act: Step, first: int, second: int, top: Step, mean: Step) -> Any:
        return mean(top(act(X @ W1 + first * b1) @ W2 + second * b2) - t)

    for act, first, second, top, mean in itertools.product(ACTS, BIASES, BIASES, TOPS, MEANS):
        if sum(map(bool, (act, first, second, top, mean))) > 2:
            continue
        put(0, (act, first.format("b1"), second.format("b2"), top, mean),
            functools.partial(loss, ACTS[act], BIASES[first], BIASES[second], TOPS[top], MEANS[mean]))  # fmt: skip
    wet = np.maximum(X, 0) @ W1 + b1
    for act, words in ((wet, "with relu of X where relu of Z belongs"), (np.maximum(wet, 0), "with relu of X as well")):
        put(0, [words], ((act @ W2 + b2 - t) ** 2).mean())
    P = E + t
    for words, value in {"P - t**2": P - t**2, "(P - t**2)**2": (P - t**2) ** 2, "(P + t)**2": (P + t) ** 2}.items():
        put(0, [f"from {words}"], value.mean())
    for words, value in {"P + t": P + t, "P": P, "-t": -t, "P - t**2": P - t**2}.items():
        put(4, [f"from {words} where P - t belongs"], (2 * value / E.size).sum(axis=0))
    for error, sign, add in itertools.product(ERRORS, SIGNS, SUMS):
        put(4, (error, sign, add), SUMS[add](SIGNS[sign] * ERRORS[error](E)))
    put(4, ["with X.size for P.size"], db2 * E.size / X.size)
    for name, array in {"Z": Z, "X": X, "the mask": H > 0, "abs(Z)": np.abs(Z)}.items():
        put(3, [f"with {name} where H belongs"], array.T @ dP)
    for gate, add in itertools.product(GATES, SUMS):
        put(2, (gate, add), SUMS[add](GATES[gate](dH, Z)))
    put(2, ["without W2"], (dP.sum(axis=1, keepdims=True) * (Z > 0)).sum(axis=0))
    for name, d in {"dH": dH, "ones": np.ones_like(dZ)}.items():
        put(1, [f"with {name} where dZ belongs"], X.T @ d)
    put(1, ["with H where X belongs"], H.T @ dZ)
    for part in (1, 3):
        put(part, ["with the wrong array transposed"], right[part].T)
        put(part, ["with one more division by the number of examples"], right[part] / len(X))
        put(part, ["with one more division by P.size"], right[part] / E.size)

    def changed(got: Any) -> bool:
        rates = np.concatenate(
            [((b - d) / g).ravel() for b, d, g in zip((W1, b1, W2, b2), got[1:], right[1:], strict=True)]
        )
        rates = rates[np.isfinite(rates)]
        return bool(rates.size and rates[0] > 0 and np.allclose(rates, rates[0]))

    tests["These are the changed parameters. The task asks for their gradients: train_net makes the update."] = changed
    return tests


def close(got: Any, value: Any) -> bool:
    """True for the same shape and the same numbers."""
    return np.shape(got) == np.shape(value) and bool(np.allclose(got, value, rtol=1e-9, atol=1e-12))


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
        "10.2": {
            "oracle": by_cosh,
            "probes": probes_10_2,
            "prelude": ENGINE_OFF,
            "steps": steps_10_2,
        },
        "10.3": {
            "oracle": one_at_a_time,
            "probes": probes_10_3,
            "prelude": ENGINE_OFF,
            "steps": steps_10_3,
            "likely": likely_10_3,
            "leads": LEADS_10_3,
        },
    },
)
