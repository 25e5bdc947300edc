"""Memory and scale: what a recorded operation weighs, what it costs among a million, what a deep training step peaks at.

Memory is what tracemalloc sees, numpy's arrays included.
"""

from __future__ import annotations

import gc
import statistics
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from time import process_time
from typing import Any

import numpy as np
from by_hand import deep_parameters, frugal_deep_step

import minigrad

LAYERS, WIDTH, BATCH = 12, 256, 2048


@dataclass
class Measured:
    title: str
    value: float
    budget: float | None


# ------------------------------------------------------------------------------------------- memory


def peak(step: Callable[[], Any]) -> int:
    """The most memory that a step holds beyond what was there before; the second run counts."""
    step()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    step()
    highest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return highest - before


def memory() -> Iterator[Measured]:
    x = np.random.default_rng(3).standard_normal((BATCH, WIDTH), np.float32)
    numbers = deep_parameters(LAYERS, WIDTH)
    batch = minigrad.tensor(x)
    parameters = [tuple(minigrad.tensor(v, requires_grad=True) for v in layer) for layer in numbers]

    def step() -> list[Any]:
        h = batch
        for w, b in parameters:
            h = (h @ w + b).relu()
        loss = (h * h).mean()
        del h
        loss.backward()
        gradients = [p.grad for layer in parameters for p in layer]
        for layer in parameters:
            for p in layer:
                p.grad = None
        return gradients

    for mine, theirs in zip(step(), frugal_deep_step(x, numbers), strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs, rtol=2e-3, atol=1e-6)
    ratio = peak(step) / peak(lambda: frugal_deep_step(x, numbers))
    title = f"peak memory of a deep step ({LAYERS} layers of {WIDTH}, batch {BATCH}), of frugal numpy's"
    yield Measured(title, ratio, 1.25)
    yield from bytes_per_operation()


def bytes_per_operation(n: int = 30_000) -> Iterator[Measured]:
    x, a = (minigrad.tensor(value, requires_grad=True) for value in (1.0, 1.0))
    tracemalloc.start()
    start = tracemalloc.get_traced_memory()[0]

    def held() -> float:
        return (tracemalloc.get_traced_memory()[0] - start) / n

    y = chain(x, a, n)
    yield Measured("bytes that one recorded x * a of scalars holds", held(), None)
    y.backward()
    yield Measured("... after backward", held(), None)
    del y
    yield Measured("... after the result is deleted", held(), None)
    tracemalloc.stop()


# ------------------------------------------------------------------------------------------- scale


def chain(x: Any, a: Any, n: int) -> Any:
    for _ in range(n):
        x = x * a
    return x


@contextmanager
def thresholds(*values: int) -> Iterator[None]:
    """The collector as the documentation recommends it for graphs of 100,000 operations and more."""
    before = gc.get_threshold()
    gc.set_threshold(*values)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def cost(n: int) -> tuple[float, float, float]:
    """Seconds an operation for forward, backward, and deleting the graph, with n operations alive."""
    x, a = (minigrad.tensor(value, requires_grad=True) for value in (1.0, 1.0))
    times = [process_time()]
    y = chain(x, a, n)
    times.append(process_time())
    y.backward()
    times.append(process_time())
    del y
    times.append(process_time())
    forward, backward, deletion = (b - a for a, b in pairwise(times))
    return forward / n, backward / n, deletion / n


def long_graphs(largest: int) -> Iterator[Measured]:
    sizes = [10**k for k in range(2, 7) if 10**k <= largest]
    assert sys.getrecursionlimit() <= 1000, "the longest chain must pass at Python's own recursion limit"
    with thresholds(50_000, 20, 20):
        costs = {}
        for n in sizes:
            gc.collect()
            repeats = max(3, 30_000 // n)
            costs[n] = tuple(map(statistics.median, zip(*(cost(n) for _ in range(repeats)), strict=True)))
    for n, (forward, backward, deletion) in costs.items():
        parts = f"forward {forward * 1e6:.2f}, backward {backward * 1e6:.2f}, deleting {deletion * 1e6:.2f} us"
        relative = (forward + backward) / sum(costs[sizes[0]][:2])
        yield Measured(f"cost per operation with {n:,} alive, of that with 100 ({parts})", relative, 2.0)
