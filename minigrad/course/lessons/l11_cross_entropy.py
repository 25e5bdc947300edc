"""Lesson 11: softmax without overflow, cross-entropy and its gradient, `where` and nan.

The first two exercises are judged by calls on numpy arrays, against formulas of another form: `logaddexp`, the
engine's own derivative. The last one is tensor code, judged by programs.
"""

from __future__ import annotations

import math  # noqa: F401 (the answers of the text use it)
from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad as torch

from ..exercise import ENGINE_OFF, Probe, call, numbers, run, unaided
from ..lesson_text import lesson

Array = np.ndarray[Any, Any]


# --- 11.1 log-softmax ----------------------------------------------------------------------------------


def by_logaddexp(z: Array) -> Array:
    """Row by row, adding logarithms in pairs."""
    return np.array([row - np.logaddexp.reduce(row) for row in z])


def probes_11_1(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(np.array([[2.0, 1.0, 0.1], [0.3, -1.2, 0.8]]))
    yield call(numbers(rng, 4, 2))
    yield call(np.array([[1000.0, 999.0, 998.5]])).show()
    yield call(np.array([[-1000.0, -1001.5], [-2000.0, -2000.5]]))
    yield call(np.array([[1000.0, 0.0, -1000.0], [-3000.0, -3001.0, -2999.5]]))
    yield call(np.array([[1000.0, 0.0, 0.5]]))
    yield call(np.array([[-1000.0, 0.5, 1.5], [-1000.0, 1000.0, 0.0]]))
    yield call(np.array([[20000.0, 19999.0]]))  # too much for a longer float, too
    far = rng.permutation(1000.0 * np.array([[1, 1, 1], [-1, -1, -1], [-1, 1, 0], [20, 20, 20]]))
    yield call(far + numbers(rng, 4, 3))
    drawn = numbers(rng, 1, 3)
    yield unaided("log_softmax", by_logaddexp(drawn), z=drawn)


def shifted_by(z: Any, shift: Any) -> Any:
    """Right for any shift that is the same within a row, as long as nothing overflows."""
    return (z - shift) - np.log(np.exp(z - shift).sum(axis=1, keepdims=True))


def softmax_rows(z: Any) -> Any:
    return np.exp(by_logaddexp(z))


# --- 11.2 cross-entropy --------------------------------------------------------------------------------


def by_engine(name: str, *given: Any) -> Any:
    """Loss of (z, targets), or gradient of (g, z, targets), from the engine's own cross-entropy, in float64."""
    *g, z, targets = given
    scores = torch.tensor(z, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(scores, torch.tensor(targets, dtype=torch.int64))
    if name == "cross_entropy":
        return loss.item()
    (loss * g[0]).backward()
    gradient = scores.grad
    assert gradient is not None
    return gradient.numpy()


def probes_11_2(rng: np.random.Generator) -> Iterator[Probe]:
    z, targets = np.array([[2.0, 1.0, 0.1], [0.3, -1.2, 0.8]]), np.array([0, 2])
    yield call(z, targets).of("cross_entropy").show()
    yield call(10.0, z, targets).of("cross_entropy_grad")
    more, picked = numbers(rng, 5, 3), np.array([2, 0, 1, 1, 2])
    yield call(more, picked).of("cross_entropy")
    yield call(-2.5, more, picked).of("cross_entropy_grad")
    big, sure = np.array([[1000.0, 0.0], [0.0, 500.0], [3.0, 3.0]]), np.array([1, 1, 0])
    yield call(big, sure).of("cross_entropy")
    yield call(2.0, big, sure).of("cross_entropy_grad")
    # small contributions of a large upstream gradient: a measured one has lost them
    yield call(1e7, np.array([[9.0, 0.5, -4.0], [0.3, -5.0, 8.0]]), np.array([1, 0])).of("cross_entropy_grad")
    far, order = 1000.0 * np.array([[0, 1, 0], [0, 0.5, 0], [0, 0, 0]]), rng.permutation(3)
    drawn, chosen = numbers(rng, 3, 3), np.array([0, *rng.integers(3, size=2)])
    yield call((far + drawn)[order], chosen[order]).of("cross_entropy")
    yield call(3.0, (far + drawn)[order], chosen[order]).of("cross_entropy_grad")
    yield call(1e7, 2 * drawn, chosen).of("cross_entropy_grad")
    yield unaided("cross_entropy", by_engine("cross_entropy", drawn, chosen), z=drawn, targets=chosen)
    right = by_engine("cross_entropy_grad", 2.0, drawn, chosen)
    yield unaided("cross_entropy_grad", right, g=2.0, z=drawn, targets=chosen)


# --- 11.3 where and nan --------------------------------------------------------------------------------

ENGINE = "import minigrad as torch"
ROOTS = "x = torch.tensor(x, requires_grad=True)\nsafe_sqrt(x).backward(torch.tensor(v))\nx.grad"
KEPT = "x = torch.tensor(x)\nsafe_sqrt(x)\nx"


def probes_11_3(rng: np.random.Generator) -> Iterator[Probe]:
    x, v = np.abs(numbers(rng, 2, 3)), numbers(rng, 2, 3)
    yield run("safe_sqrt(torch.tensor(x))", x=np.array([4.0, 0.0, -9.0, 0.25])).expect(np.array([2.0, 0.0, 0.0, 0.5]))
    yield run(ROOTS, x=x, v=v).expect(v / (2 * np.sqrt(x)))
    yield run(ROOTS, x=np.array([4.0, 0.0, 0.25]), v=np.array([2.0, 5.0, -3.0])).expect(np.array([0.5, 0.0, -3.0]))
    yield run(ROOTS, x=np.array([-4.0, 0.01]), v=np.array([3.0, 0.7])).expect(np.array([0.0, 3.5]))
    kept = run(KEPT, x=np.array([4.0, 0.0, -9.0])).expect(np.array([4.0, 0.0, -9.0]))
    yield kept.on("Your function changes x, which belongs to its caller. Make a new tensor.")
    yield run(ROOTS, x=np.array([1e-30, -1e-30]), v=np.array([2e-15, 3.0])).expect(np.array([1.0, 0.0]))
    yield run(ROOTS, x=np.array([1e-8, 0.0]), v=np.array([3.0, 0.7])).expect(np.array([15000.0, 0.0]))
    yield run("1e300 * safe_sqrt(torch.tensor(x))", x=np.array([0.0, -4.0])).expect(np.array([0.0, 0.0]))
    a, b, c = np.abs(numbers(rng, 3)).tolist()
    mixed = rng.permutation([a * a, 0.0, -b, 0.0])
    yield run("safe_sqrt(torch.tensor(x))", x=mixed).expect(np.sqrt(np.maximum(mixed, 0)))
    for x in (rng.permutation([a * a, 0.0, 0.0, 1e-30 * c]), rng.permutation([a * a, -b, -1e-30, 1e-30 * c])):
        v = np.where(abs(x) < 1e-9, 1e-15, 1.0) * numbers(rng, 4)
        yield run(ROOTS, x=x, v=v).expect(np.where(x > 0, v / (2 * np.sqrt(np.abs(x) + (x == 0))), 0.0))
    yield run(KEPT, x=mixed).expect(mixed)
    yield run("1e300 * safe_sqrt(torch.tensor(x))", x=np.minimum(mixed, 0)).expect(0 * mixed)


LESSON = lesson(
    __file__,
    globals(),
    {
        "11.1": {"oracle": by_logaddexp, "probes": probes_11_1, "prelude": ENGINE_OFF},
        "11.2": {"oracle": by_engine, "probes": probes_11_2, "prelude": ENGINE_OFF},
        "11.3": {"probes": probes_11_3, "prelude": ENGINE},
    },
)
