"""Lesson 07: the two gradients of a matrix product.

All oracles are sums over letters, written out by einsum or measured by moving one entry: no transpose
occurs in them, so that a misplaced one cannot be shared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad as torch

from ..exercise import ENGINE_OFF, Probe, call, numbers, unaided
from ..lesson_text import lesson

Array = np.ndarray[Any, Any]
Pair = tuple[Array, Array]

X_TEXT = np.array([[1.0, -2.0, 0.5], [3.0, 0.5, -1.0], [-0.5, 2.0, 4.0], [1.5, -1.0, 2.0]])
W_TEXT = np.array([[2.0, -1.0], [0.5, 3.0], [-1.5, 1.0]])
G_TEXT = np.array([[1.0, -2.0], [0.5, 3.0], [-1.0, 0.5], [2.5, 1.5]])

# --- 7.1 both gradients --------------------------------------------------------------------------------


def by_letters(G: Array, X: Array, W: Array) -> Pair:
    """The oracle: the index formulas, letter by letter."""
    return np.einsum("ij,kj->ik", G, W), np.einsum("ik,ij->kj", X, G)


def probes_7_1(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(G_TEXT, X_TEXT, W_TEXT)
    yield call(numbers(rng, 2, 4), numbers(rng, 2, 3), numbers(rng, 3, 4))
    yield call(numbers(rng, 1, 3), numbers(rng, 1, 2), numbers(rng, 2, 3))
    yield call(numbers(rng, 3, 1), numbers(rng, 3, 5), numbers(rng, 5, 1))
    yield call(numbers(rng, 2, 2), numbers(rng, 2, 2), numbers(rng, 2, 2))
    G, X, W = numbers(rng, 2, 2), numbers(rng, 2, 3), numbers(rng, 3, 2)
    yield unaided("matmul_backward", by_letters(G, X, W), G=G, X=X, W=W)


def by_engine(G: Array, X: Array, W: Array) -> Pair:
    x, w = torch.tensor(X, requires_grad=True), torch.tensor(W, requires_grad=True)
    (x @ w).backward(torch.tensor(G))
    assert x.grad is not None and w.grad is not None
    return x.grad.numpy(), w.grad.numpy()


# --- 7.3 one entry, with indices -----------------------------------------------------------------------


def measured(name: str, G: Array, other: Array, row: int, column: int) -> Any:
    """The oracle: move one entry of X (or W) by 1 and see how far the weighted product moves."""
    if name == "dX_entry":
        moved = np.zeros((G.shape[0], other.shape[0]))
        moved[row, column] = 1.0
        return np.sum(G * np.tensordot(moved, other, 1))
    moved = np.zeros((other.shape[1], G.shape[1]))
    moved[row, column] = 1.0
    return np.sum(G * np.tensordot(other, moved, 1))


def probes_7_3(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(G_TEXT, W_TEXT, 0, 2).of("dX_entry")
    yield call(numbers(rng, 2, 4), numbers(rng, 3, 4), 1, 2).of("dX_entry")
    yield call(numbers(rng, 4, 3), numbers(rng, 2, 3), 3, 1).of("dX_entry")
    yield call(numbers(rng, 3, 3), numbers(rng, 3, 3), 2, 1).of("dX_entry")
    yield call(G_TEXT, X_TEXT, 2, 0).of("dW_entry")
    yield call(numbers(rng, 2, 4), numbers(rng, 2, 3), 2, 3).of("dW_entry")
    yield call(numbers(rng, 4, 3), numbers(rng, 4, 2), 1, 2).of("dW_entry")
    yield call(numbers(rng, 3, 3), numbers(rng, 3, 3), 2, 1).of("dW_entry")
    G, other = numbers(rng, 3, 3), numbers(rng, 3, 3)
    row, column = rng.integers(3, size=2).tolist()
    for name in ("dX_entry", "dW_entry"):
        yield unaided(name, measured(name, G, other, row, column), G=G, other=other, row=row, column=column)


# --- 7.4 a batch, and a single vector ------------------------------------------------------------------


def by_more_letters(name: str, G: Array, X: Array, W: Array) -> Pair:
    """The oracle: the same letters, with one more for the batch, or one less for a vector."""
    if name == "vector_backward":
        return np.einsum("j,kj->k", G, W), np.einsum("k,j->kj", X, G)
    return np.einsum("bij,kj->bik", G, W), np.einsum("bik,bij->kj", X, G)


def probes_7_4(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(numbers(rng, 2, 4, 2), numbers(rng, 2, 4, 3), numbers(rng, 3, 2)).of("batch_backward")
    yield call(numbers(rng, 3, 2, 5), numbers(rng, 3, 2, 4), numbers(rng, 4, 5)).of("batch_backward")
    yield call(numbers(rng, 3, 3, 3), numbers(rng, 3, 3, 3), numbers(rng, 3, 3)).of("batch_backward")
    yield call(numbers(rng, 2), numbers(rng, 3), numbers(rng, 3, 2)).of("vector_backward")
    yield call(numbers(rng, 4), numbers(rng, 2), numbers(rng, 2, 4)).of("vector_backward")
    yield call(numbers(rng, 3), numbers(rng, 3), numbers(rng, 3, 3)).of("vector_backward")
    yield call(numbers(rng, 1, 2, 3), numbers(rng, 1, 2, 4), numbers(rng, 4, 3)).of("batch_backward")
    W = numbers(rng, 3, 2)
    for name, *rows in (("batch_backward", 2, 2), ("vector_backward",)):
        G, X = numbers(rng, *rows, 2), numbers(rng, *rows, 3)
        yield unaided(name, by_more_letters(name, G, X, W), G=G, X=X, W=W)


LESSON = lesson(
    __file__,
    globals(),
    {
        "7.1": {"oracle": by_letters, "probes": probes_7_1, "prelude": ENGINE_OFF},
        "7.3": {"oracle": measured, "probes": probes_7_3, "prelude": ENGINE_OFF},
        "7.4": {"oracle": by_more_letters, "probes": probes_7_4, "prelude": ENGINE_OFF},
    },
)
