"""What a graph leaves behind, and which arrays are shared: for every recorded program, and at any depth.

The collector is off: a graph must go when the last reference to its result goes. A gradient shares memory with no other
tensor, and neither pass changes what it was given.
"""

from __future__ import annotations

import gc
import sys
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from time import process_time
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.autograd.graph import Node
from tests import recorded
from tests.engine.test_rules import MORE, outputs
from tests.graphs import nodes
from tests.together import together

PROGRAMS = [*MORE]
for subject in ("samples", "layers"):
    PROGRAMS += [p for p, answer in recorded.programs(subject).items() if any(answer.get("gradients", []))]


@contextmanager
def collector_off() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def sample(program: str) -> tuple[tuple[mg.Tensor, ...], list[mg.Tensor], list[mg.Tensor]]:
    """Results that require grad, the leaves they came from, and a gradient to start each result with."""
    value, leaves, module = recorded.evaluate(mg, program)
    leaves += [] if module is None else list(module.parameters())
    roots = outputs(value)
    return roots, leaves, [mg.arange(1.0, t.numel() + 1, dtype=t.dtype).reshape(t.shape) for t in roots]


def alive(references: list[Any]) -> list[Any]:
    return [r() for r in references if r() is not None]


@pytest.mark.slow
@together("program", PROGRAMS)
def test_no_reference_cycles(program: str) -> None:
    """After forward and backward, and after a backward pass that was recorded, every node goes with its tensors."""
    with collector_off():
        roots, leaves, weights = sample(program)
        gone = [weakref.ref(thing) for thing in (*nodes(roots), *roots)]
        mg.autograd.backward(roots, weights)
        del roots, leaves, weights
        assert not alive(gone), "a plain backward pass"

        roots, leaves, weights = sample(program)
        found = mg.autograd.grad(roots, leaves, weights, create_graph=True, allow_unused=True)
        second = [g for g in found if g is not None and g.requires_grad]
        gone = [weakref.ref(thing) for thing in (*nodes(second), *second)]
        del roots, leaves, weights, found, second
        assert not alive(gone), "a recorded backward pass"


@pytest.mark.slow
@together("program", PROGRAMS)
def test_no_aliasing_and_inputs_stay(program: str) -> None:
    roots, leaves, weights = sample(program)
    given = [*leaves, *weights]
    before = [t.detach().numpy().copy() for t in given]
    mg.autograd.backward(roots, weights)
    for t, old in zip(given, before, strict=True):
        np.testing.assert_array_equal(t.detach().numpy(), old)
    gradients = [leaf.grad.numpy() for leaf in leaves if leaf.grad is not None]
    for a, b in combinations(gradients, 2):
        assert not np.shares_memory(a, b), "two gradients"
    for a in gradients:
        assert a.flags.writeable
        assert not any(np.shares_memory(a, t.detach().numpy()) for t in (*given, *roots)), "a gradient and a tensor"


@pytest.mark.slow
@together("program", PROGRAMS)
def test_every_way_to_walk_gives_the_same_bits(program: str) -> None:
    """Hooks, targets, anomaly detection and a differentiable backward pass change no number."""

    def gradients(prepare: Any = lambda leaf: None, **settings: Any) -> list[Any]:
        roots, leaves, weights = sample(program)
        for leaf in leaves:
            prepare(leaf)
        found = mg.autograd.grad(roots, leaves, weights, allow_unused=True, **settings)
        return [None if g is None else g.detach().numpy() for g in found]

    roots, leaves, weights = sample(program)
    mg.autograd.backward(roots, weights)
    plain = [None if leaf.grad is None else leaf.grad.numpy() for leaf in leaves]
    others = [gradients(), gradients(lambda leaf: leaf.register_hook(lambda g: None)), gradients(create_graph=True)]
    with warnings.catch_warnings(), mg.autograd.set_detect_anomaly(True, check_nan=False):
        others.append(gradients())
    for other in others:
        for want, got in zip(plain, other, strict=True):
            np.testing.assert_array_equal(got, want)


def test_leaves_that_one_gradient_reaches_unchanged_get_copies() -> None:
    """x + y hands the same array to both: each leaf owns its gradient, and neither is the gradient that was given."""
    x, y, given = mg.zeros(3, requires_grad=True), mg.zeros(3, requires_grad=True), mg.ones(3)
    (x + y).backward(given)
    x.grad += 1
    given += 5
    assert y.grad.tolist() == [1, 1, 1]
    x.grad.zero_()
    (x + y).reshape(3, 1).expand(3, 2).backward(mg.ones(3, 2))
    assert x.grad.tolist() == [2, 2, 2] and y.grad.tolist() == [3, 3, 3]


def test_a_saved_gradient_to_which_the_same_pass_adds_is_noticed() -> None:
    """b.grad grows in place, as in PyTorch, before the older node that saved it is asked."""
    a, b = mg.tensor([2.0], requires_grad=True), mg.tensor([3.0], requires_grad=True)
    (a * b).sum().backward()
    older = b.grad * a
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        (older + b * 3).sum().backward()


def test_a_training_step_leaves_nothing_behind() -> None:
    model = mg.nn.Sequential(mg.nn.Linear(4, 8), mg.nn.LayerNorm(8), mg.nn.Tanh(), mg.nn.Linear(8, 3))
    optimizer = mg.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, y = mg.randn(5, 4), mg.tensor([0, 1, 2, 1, 0])

    def step() -> None:
        optimizer.zero_grad()
        mg.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    def count() -> int:
        return sum(isinstance(o, (mg.Tensor, Node)) for o in gc.get_objects())

    step()
    gc.collect()
    with collector_off():
        before = count()
        for _ in range(5):
            step()
        assert count() <= before


def test_dropping_the_result_frees_a_graph_without_backward() -> None:
    with collector_off():
        x = mg.ones(100, requires_grad=True)
        y = x
        for _ in range(50):
            y = (y * x).tanh()
        gone = [weakref.ref(n) for n in nodes([y]) if n.name() != "torch::autograd::AccumulateGrad"]
        assert len(gone) == 100
        del y
        assert not alive(gone)


def test_the_walk_frees_what_a_node_saved_as_it_goes() -> None:
    """When the leaf gets its gradient, the arrays that the nodes above saved are gone already."""
    x = mg.ones(1000, requires_grad=True)
    y = x * 1
    arrays = []
    for _ in range(5):
        y = y.tanh()
        arrays.append(weakref.ref(y._data))
    seen: list[int] = []
    x.register_hook(lambda g: seen.append(len(alive(arrays))))
    root = y.sum()
    del y
    root.backward()
    assert seen == [0]


@pytest.mark.slow
def test_a_million_operations_at_the_ordinary_recursion_limit() -> None:
    limit = sys.getrecursionlimit()
    x, a = mg.tensor(1.0, requires_grad=True), mg.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(1_000_000):
        y = y * a
    y.backward()
    assert a.grad.item() == 1_000_000 and sys.getrecursionlimit() == limit
    del y  # and a graph of any depth goes without recursion


def test_a_deep_chain_and_doublings() -> None:
    x = mg.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(50_000):
        y = y + 1
    y.backward()
    del y
    z = x
    for _ in range(22):
        z = z + z
    z.backward()
    assert x.grad.item() == 1 + 2.0**22


def test_a_step_of_an_optimiser_allocates_next_to_nothing() -> None:
    import tracemalloc

    w = mg.nn.Parameter(mg.zeros(400, 500))
    optimiser = mg.optim.Adam([w])
    w.grad = mg.ones(400, 500)
    optimiser.step()
    tracemalloc.start()
    optimiser.step()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400 * 500 * 4 / 10


@pytest.mark.alone
@pytest.mark.slow
def test_a_view_costs_the_same_among_thousands_of_live_views() -> None:
    def cost(n: int) -> float:
        x = mg.ones(n, requires_grad=True)
        start = process_time()
        views = x.unbind()
        assert len(views) == n
        return (process_time() - start) / n

    with collector_off():
        few, many = (min(cost(n) for _ in range(3)) for n in (500, 16_000))
    assert many < 4 * few
