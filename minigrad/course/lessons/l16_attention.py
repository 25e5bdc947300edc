"""Lesson 16: rows by number, the causal mask, the gradients of attention, and its weights from one number for each row.

The oracles go entry by entry, or leave the derivative to the engine's own attention. What has to agree with PyTorch to twelve
decimal places is recorded in data/attention.json.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as torch

from ..exercise import ENGINE_OFF, Probe, call, numbers, run, unaided
from ..lesson_text import lesson

Array = np.ndarray[Any, Any]
RECORDED = Path(__file__).resolve().parents[1] / "data" / "attention.json"

# --- 16.1 rows by number -------------------------------------------------------------------------------


def by_one_hot(g: Array, shape: tuple[int, int], index: Array) -> Array:
    """The oracle: reading rows is a product with one-hot rows, so its rule is that of the product."""
    flat = index.reshape(-1)
    one_hot: Array = (flat[:, None] == np.arange(shape[0])).astype(float)
    return np.asarray(one_hot.T @ g.reshape(len(flat), shape[1]))


def probes_16_1(rng: np.random.Generator) -> Iterator[Probe]:
    g = np.array([[0.5, 2.0], [3.0, -1.0], [1.5, 4.0]])
    yield call(g, (3, 2), np.array([0, 2, 0])).show()
    yield call(numbers(rng, 6, 3), (5, 3), rng.permutation([1, 4, 1, 1, 0, 4]))
    yield call(numbers(rng, 4, 3), (4, 3), rng.permutation(4))
    yield call(numbers(rng, 2, 4, 3), (6, 3), np.array([[5, 2, 2, 0], [2, 5, 1, 1]]))
    yield call(numbers(rng, 4, 4), (4, 4), np.array([3, 3, -1, 0]))
    index = rng.permutation([2, 0, 2, 1, 2])
    g = numbers(rng, 5, 2)
    yield unaided("rows_backward", by_one_hot(g, (4, 2), index), g=g, shape=(4, 2), index=index)


def by_one_hot_from_the_end(g: Array, shape: tuple[int, int], index: Array) -> Array:
    """The oracle, where an index below 0 counts from the end."""
    return by_one_hot(g, shape, np.where(index < 0, index + shape[0], index))


# --- 16.2 what may be seen -----------------------------------------------------------------------------


def by_hand(name: str, *given: Any) -> Any:
    """The oracle: entry by entry, with Python's own numbers."""
    if name == "causal":
        (which,) = given
        return np.array([[j <= i and which[i] == which[j] for j in range(len(which))] for i in range(len(which))])
    q, k, allowed = given
    out = np.zeros(allowed.shape)
    for i, row in enumerate(allowed):
        scores = {j: sum(map(float, q[i] * k[j])) / math.sqrt(q.shape[1]) for j in np.flatnonzero(row)}
        top = max(scores.values())
        whole = sum(math.exp(s - top) for s in scores.values())
        for j, s in scores.items():
            out[i, j] = math.exp(s - top) / whole
    return out


def triangle(n: int) -> Array:
    return np.tril(np.ones((n, n))) > 0


def probes_16_2(rng: np.random.Generator) -> Iterator[Probe]:
    drawn = np.repeat(rng.permutation(9)[:3], rng.permutation([1, 2, 3]))
    for which in (np.array([0, 0, 0]), np.array([0, 0, 1, 1, 1, 2]), np.array([3, 7, 7, 7, 5, 5, 9]), drawn):
        asked = run("causal(which)", which=which).expect(by_hand("causal", which))
        yield asked.show() if len(which) == 3 else asked
    yield call(numbers(rng, 3, 2), numbers(rng, 3, 2), triangle(3)).of("attention_weights")
    some = by_hand("causal", np.array([0, 0, 0, 1, 1]))
    yield call(numbers(rng, 5, 3), numbers(rng, 5, 3), some).of("attention_weights")
    yield call(numbers(rng, 2, 3), numbers(rng, 4, 3), np.array([[1, 0, 1, 1], [0, 1, 1, 0]]) > 0).of("attention_weights")
    yield call(-4 - numbers(rng, 4, 2) ** 2, 3 + numbers(rng, 4, 2) ** 2, triangle(4)).of("attention_weights")  # scores below 0
    far = np.array([[30.0, 20.0], [-25.0, 40.0], [45.0, -40.0]])
    yield call(far, far + numbers(rng, 3, 2), triangle(3)).of("attention_weights")
    yield call(-far, far + numbers(rng, 3, 2), triangle(3)).of("attention_weights")


# --- 16.3 the backward pass of attention ---------------------------------------------------------------


def by_engine(g: Array, q: Array, k: Array, v: Array, A: Array) -> tuple[Array, ...]:
    """The oracle: the engine's own attention, with the zeros of A as its mask."""
    a, b, c = (torch.tensor(each, requires_grad=True) for each in (q, k, v))
    out = torch.nn.functional.scaled_dot_product_attention(a, b, c, attn_mask=torch.tensor(A > 0))
    out.backward(torch.tensor(g))
    return tuple(np.array(each.grad.tolist()) for each in (a, b, c) if each.grad is not None)


def weights(q: Array, k: Array, allowed: Array) -> Array:
    scores = np.where(allowed, q @ k.T / np.sqrt(q.shape[1]), -np.inf)
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def drawn(rng: np.random.Generator, rows: int, seen: int, d: int, width: int, allowed: Array | None = None) -> dict[str, Array]:
    """g, q, k, v and A for so many rows that look and are seen."""
    q, k, v = numbers(rng, rows, d), numbers(rng, seen, d), numbers(rng, seen, width)
    A = weights(q, k, np.ones((rows, seen), bool) if allowed is None else allowed)
    return {"g": numbers(rng, rows, width), "q": q, "k": k, "v": v, "A": A}


@functools.cache
def recorded() -> dict[str, Array]:
    """PyTorch's example: q, k, v, g and the gradients dq, dk, dv."""
    return {name: np.array(rows) for name, rows in json.loads(RECORDED.read_text(encoding="utf-8")).items()}


def near(got: Any) -> list[bool]:
    """Which of the three gradients agree with PyTorch's to twelve decimal places."""
    right = [recorded()[name] for name in ("dq", "dk", "dv")]
    return [np.shape(a) == b.shape and bool(np.abs(np.asarray(a) - b).max() < 1e-12) for a, b in zip(got, right, strict=True)]


def probes_16_3(rng: np.random.Generator) -> Iterator[Probe]:
    for each in (drawn(rng, 3, 3, 2, 5, triangle(3)), drawn(rng, 2, 4, 3, 2), drawn(rng, 4, 4, 4, 4, triangle(4))):
        yield call(*each.values())
    given = {name: recorded()[name] for name in "gqkv"}
    A = weights(given["q"], given["k"], triangle(6))
    asked = run("attention_backward(g, q, k, v, A)", **given, A=A).seen_as(near).expect([True, True, True])
    yield asked.on("It compares your gradients of q, k and v with PyTorch's, to twelve decimal places.")
    last = drawn(rng, 5, 3, 2, 4)
    yield unaided("attention_backward", by_engine(**last), **last)


# --- 16.4 one number for each row ----------------------------------------------------------------------


def by_matrix(g: Array, q: Array, k: Array, v: Array, c: Array) -> tuple[Array, ...]:
    """The oracle: the whole matrix of weights."""
    return by_engine(g, q, k, v, weights(q, k, triangle(len(q))))


def text_of(rng: np.random.Generator, n: int, d: int, width: int) -> dict[str, Array]:
    """g, q, k, v and c of one text."""
    g, q, k, v = numbers(rng, n, width), numbers(rng, n, d), numbers(rng, n, d), numbers(rng, n, width)
    scores = np.where(triangle(n), q @ k.T / np.sqrt(d), -np.inf)
    return {"g": g, "q": q, "k": k, "v": v, "c": np.logaddexp.reduce(scores, axis=1)}


MEMORY = """import tracemalloc
tracemalloc.start()
backward_by_rows(g, q, k, v, c)
most = tracemalloc.get_traced_memory()[1]
tracemalloc.stop()
round(most / (8 * len(q)**2), 1)  # in matrices of all weights"""


def probes_16_4(rng: np.random.Generator) -> Iterator[Probe]:
    for n, d, width in ((3, 2, 5), (5, 3, 2), (4, 4, 4)):
        yield call(*text_of(rng, n, d, width).values())
    # So few rows that two loops over letters end in time while they are measured, and so many that a watchdog does not count.
    large = run(MEMORY, **text_of(rng, 110, 4, 3)).seen_as(lambda most: most < 0.9).expect(True)
    yield large.on("It measures the memory: an array as large as the matrix of all weights is made. Make one row at a time.")
    last = text_of(rng, 6, 2, 3)
    yield unaided("backward_by_rows", by_matrix(**last), **last)


LESSON = lesson(
    __file__,
    globals(),
    {
        "16.1": {"oracle": by_one_hot_from_the_end, "probes": probes_16_1, "prelude": ENGINE_OFF},
        "16.2": {"oracle": by_hand, "probes": probes_16_2},
        "16.3": {"oracle": by_engine, "probes": probes_16_3, "prelude": ENGINE_OFF},
        "16.4": {"oracle": by_matrix, "probes": probes_16_4, "prelude": ENGINE_OFF},
    },
)
