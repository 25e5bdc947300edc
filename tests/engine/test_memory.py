"""What a graph leaves behind, and who shares memory with whom: for every operation of the derivative table.

The collector is off: a graph must go when the last reference to its result goes. Gradients are nobody else's memory,
and neither pass changes what it was given. The programs are the recorded samples of test_ops_golden.py, forward,
backward, and backward through the backward pass.
"""

from __future__ import annotations

import gc
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from time import process_time
from typing import Any

import numpy as np

import minigrad as mg
import minigrad.nn.functional
from minigrad.tape import TABLE, Node
from tests.together import together

from .test_ops_golden import CASES, KNOWN, LEFT_OUT, callable_for, rebuilt, tensors
from .test_table import PROGRAMS as UNSAMPLED

F = minigrad.nn.functional


def written_into(x: mg.Tensor) -> mg.Tensor:
    y = x * 1
    y[0] = 5.0
    y[:, 1:].mul_(x[:, 1:])
    return y


def write_into_view(x: mg.Tensor) -> mg.Tensor:
    y = x * 1
    y[0].mul_(x[1])
    return y


# What the samples do not reach: x is a (2, 3) leaf between 0 and 1, and the result is squared, so that the second
# backward pass goes through the gradient too.
PROGRAMS: dict[str, Any] = {
    **UNSAMPLED,
    "bmm": lambda x: mg.bmm(x.reshape(2, 3, 1), x.reshape(2, 1, 3)),
    "fmod by tensors": lambda x: x.fmod(x.flip(0) + 0.1),
    "remainder by tensors": lambda x: x.remainder(x.flip(0) + 0.1),
    "maximum of rows": lambda x: x.max(1).values,
    "median of rows": lambda x: x.median(1).values,
    "everything": lambda x: x[...] * x[:],
    "index_put": lambda x: (x * 1).index_put((mg.tensor([1]),), x[0]),
    "write into a view": write_into_view,
    "copysign": lambda x: x.copysign(x - 0.5),
    "fmod": lambda x: x.fmod(0.4),
    "remainder": lambda x: x.remainder(0.4),
    "embedding": lambda x: F.embedding(mg.tensor([0, 1, 1]), x),
    "embedding_padded": lambda x: F.embedding(mg.tensor([0, 1, 1]), x, padding_idx=0),
    "batch_norm_eval": lambda x: F.batch_norm(x, mg.zeros(3).double(), mg.ones(3).double()),
    "max_pool2d": lambda x: F.max_pool2d(x.reshape(1, 1, 2, 3), 2),
    "max_pool3d": lambda x: F.max_pool3d(x.reshape(1, 1, 1, 2, 3), (1, 2, 2)),
    "avg_pool": lambda x: F.avg_pool2d(x.reshape(1, 1, 2, 3), 2),
    "fold": lambda x: F.fold(x.reshape(1, 1, 6), (2, 3), 1),
    "unfold": lambda x: x.unfold(1, 2, 1),
    "cross_entropy": lambda x: F.cross_entropy(x, mg.tensor([0, 2])),
    "cross_entropy of pictures": lambda x: F.cross_entropy(x.reshape(1, 2, 3), mg.tensor([[0, 1, 1]])),
    "ctc_loss": lambda x: F.ctc_loss(x.unsqueeze(1).log_softmax(-1), mg.tensor([[1]]), (2,), (1,)),
    "scatter": lambda x: x.scatter(1, mg.tensor([[0, 0], [2, 1]]), x[:, :2]),
    "writes": written_into,
}

NAMES = sorted(CASES.keys() - LEFT_OUT - KNOWN.keys()) + sorted(PROGRAMS)


def cases(name: str) -> list[Any]:
    return [name] if name in PROGRAMS else [case for case in CASES[name] if "grads" in case]


@contextmanager
def collector_off() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def sample(name: str, case: Any) -> tuple[list[mg.Tensor], list[mg.Tensor], list[mg.Tensor]]:
    """Results that require grad, the leaves they came from, and a gradient to start each result with."""
    if name in PROGRAMS:
        x = mg.tensor([[0.1, 0.5, 0.7], [0.3, 0.9, 0.2]], dtype=mg.float64, requires_grad=True)
        result = PROGRAMS[name](x)
        return [result * result], [x], [mg.ones_like(result)]
    args, keywords = rebuilt(case["args"]), rebuilt(case["kwargs"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        roots = [t for t in tensors(callable_for(name)(*args, **keywords)) if t.requires_grad]
    leaves = [t for t in tensors([args, keywords]) if t.requires_grad]
    weights = [mg.arange(1.0, t.numel() + 1, dtype=t.dtype).reshape(t.shape) for t in roots]
    return roots, leaves, weights


def graph(roots: list[mg.Tensor]) -> set[Node]:
    """All nodes behind these results."""
    seen: set[Node] = set()
    stack = [t._node for t in roots if t._node is not None]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += [p for p in node.parents if p is not None]
    return seen


def gradients_of_gradients(
    roots: list[mg.Tensor], leaves: list[mg.Tensor], weights: list[mg.Tensor]
) -> list[mg.Tensor]:
    found = mg.autograd.grad(roots, leaves, weights, create_graph=True, allow_unused=True)
    return [g for g in found if g is not None and g.requires_grad]


@together("name", NAMES)
def test_no_reference_cycles(name: str) -> None:
    """After forward and backward, and after a backward pass that was recorded, every node goes with its tensors."""
    for case in cases(name):
        with collector_off():
            roots, leaves, weights = sample(name, case)
            nodes = [weakref.ref(n) for n in graph(roots)] + [weakref.ref(t) for t in roots]
            mg.autograd.backward(roots, weights)
            del roots, leaves, weights
            assert not [r for r in nodes if r() is not None], "a plain backward pass"

            roots, leaves, weights = sample(name, case)
            try:
                second = gradients_of_gradients(roots, leaves, weights)
            except (NotImplementedError, RuntimeError):  # not differentiable twice, and says so
                continue
            nodes = [weakref.ref(n) for n in graph(second)] + [weakref.ref(t) for t in second]
            del roots, leaves, weights, second
            assert not [r for r in nodes if r() is not None], "a recorded backward pass"


@together("name", NAMES)
def test_gradients_are_nobody_elses_memory_and_inputs_stay(name: str) -> None:
    for case in cases(name):
        roots, leaves, weights = sample(name, case)
        given = [*leaves, *weights]
        before = [t.detach().numpy().copy() for t in given]
        mg.autograd.backward(roots, weights)
        for t, old in zip(given, before, strict=True):
            np.testing.assert_array_equal(t.detach().numpy(), old)
        arrays = [leaf.grad.numpy() for leaf in leaves if leaf.grad is not None]
        for a, b in combinations(arrays, 2):
            assert not np.shares_memory(a, b), "two gradients"
        for a in arrays:
            assert a.flags.writeable
            for t in [*given, *roots]:
                assert not np.shares_memory(a, t.detach().numpy()), "a gradient and a tensor"


def test_every_operation_of_the_table_was_met() -> None:
    """The programs above reach every line of the table."""
    met: set[str] = set()
    for name in NAMES:
        for case in cases(name):
            roots, leaves, weights = sample(name, case)
            met |= {n.operation.name for n in graph(roots) if hasattr(n, "operation")}
            try:
                second = gradients_of_gradients(roots, leaves, weights)
            except (NotImplementedError, RuntimeError):
                continue
            met |= {n.operation.name for n in graph(second) if hasattr(n, "operation")}
    drawn = {name for name in TABLE if name.startswith("drawn_")}  # random numbers are no recorded samples
    assert set(TABLE) - met == drawn


def test_counts_return() -> None:
    """A training step repeated: as many tensors, nodes and arrays as before, without the collector."""
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


def test_dropping_the_loss_frees_a_graph_without_backward() -> None:
    with collector_off():
        x = mg.ones(100, requires_grad=True)
        y = x
        for _ in range(50):
            y = (y * x).tanh()
        nodes = [weakref.ref(n) for n in graph([y]) if n is not x._node]
        assert len(nodes) == 100
        del y
        assert not [r for r in nodes if r() is not None]


def test_leaves_that_one_gradient_reaches_unchanged_get_copies() -> None:
    """x + y hands the same array to both: each leaf keeps its own, and neither is the gradient that was given."""
    x, y = mg.zeros(3, requires_grad=True), mg.zeros(3, requires_grad=True)
    given = mg.ones(3)
    (x + y).backward(given)
    assert x.grad is not None and y.grad is not None
    x.grad += 1
    given += 5
    assert y.grad.tolist() == [1, 1, 1]
    x.grad.zero_()
    (x + y).reshape(3, 1).expand(3, 2).backward(mg.ones(3, 2))
    assert x.grad.tolist() == [2, 2, 2] and y.grad.tolist() == [3, 3, 3]


def test_a_million_operations_at_the_ordinary_recursion_limit() -> None:
    """A tenth of that here, for time; benchmarks/engine.py runs the million."""
    x, a = mg.tensor(1.0, requires_grad=True), mg.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y * a
    y.backward()
    assert a.grad is not None and a.grad.item() == 100_000
    del y


def test_a_view_costs_the_same_among_thousands_of_live_views() -> None:
    def cost(n: int) -> float:
        x = mg.ones(n, requires_grad=True)
        start = process_time()
        views = x.unbind()
        assert len(views) == n
        return (process_time() - start) / n

    gc.disable()
    try:
        few, many = (min(cost(n) for _ in range(3)) for n in (500, 16_000))
    finally:
        gc.enable()
    assert many < 4 * few
    x = mg.ones(3, requires_grad=True)
    for _ in range(1000):
        x[:2]
    assert len(x._counter) < 70  # views that are gone leave the list
