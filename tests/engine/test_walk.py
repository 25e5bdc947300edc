"""The backward pass itself: how far it is from the user's line to the gradient, and passes that are recorded."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import tape
from minigrad.autograd import Function, functional, grad
from minigrad.autograd.graph import saved_tensors_hooks

F = mg.nn.functional


def leaf(*values: float) -> Any:
    return mg.tensor(values, dtype=mg.float64, requires_grad=True)


def called(statement: Callable[[], Any]) -> list[tuple[str, int, str]]:
    """File, line and name of each of our functions that a statement calls."""
    found: list[tuple[str, int, str]] = []

    def note(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and "/minigrad/" in code.co_filename and code is not statement.__code__:
            found.append((code.co_filename, code.co_firstlineno, code.co_name))

    sys.setprofile(note)
    try:
        statement()
    finally:
        sys.setprofile(None)
    return found


def test_a_product_and_its_backward_pass_are_few_calls() -> None:
    x, w = mg.rand(2, 3, requires_grad=True), mg.rand(2, 3, requires_grad=True)

    def statement() -> None:
        y = x * w
        y.sum().backward()

    statement()  # the first call writes the code of `mul` and `sum`
    x.grad = w.grad = None
    gc.collect()  # a tensor of another test that has hooks, and waits in a cycle, would choose the general walk
    functions = set(called(statement))
    assert len(functions) <= 14, sorted(functions)
    files = {Path(file).name for file, *_ in functions if "<" not in file}  # a row's own code stands in no file
    assert len(files) <= 6, sorted(files)
    assert x.grad.equal(w.detach()) and w.grad.equal(x.detach())


def test_a_recorded_pass_stands_in_the_line_that_asked_for_it() -> None:
    """Except what a custom Function's backward does: that stands in its own lines, whatever calls what."""

    class Doubled(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return F.softplus(g) * 2

    x = leaf(1.0, 2.0)
    y = (Doubled.apply(x.exp()) ** 2).sum()

    def asking() -> Any:
        return grad(y, x, create_graph=True)[0]

    recorded = tape.ancestors([asking()._node], 0) - tape.ancestors([y._node], 0)
    assert {node.code.co_name for node in recorded} == {"asking", "backward"}

    def product() -> Any:
        _, (found,) = functional.vjp(lambda x: x**3, (x,), mg.tensor([1.0, 1.0]), create_graph=True)
        return found

    files = {node.code.co_filename for node in tape.ancestors([product()._node], 0) if node.code}
    assert files == {__file__}, "no line of Python's contextlib"


def test_hooks_and_an_operation_of_many_inputs() -> None:
    """Each leaf has a turn of its own in a pass with hooks, however many inputs an operation has."""
    leaves, q = [leaf(1.0)[0].detach().requires_grad_() for _ in range(1200)], leaf(2.0)
    y = q.sum() * 3
    y.register_hook(lambda g: g)
    (mg.stack([*leaves, y]) * mg.arange(1201.0)).sum().backward()
    assert [float(each.grad) for each in leaves] == [float(i) for i in range(1200)] and q.grad.tolist() == [3600.0]


FLAT = [
    "x.relu()", "F.leaky_relu(x, 0.1)", "F.max_pool2d(x[None, None], 2)", "F.avg_pool2d(x[None, None], 2)",
    "F.nll_loss(x, t.tensor([0, 1, 2, 0]))",
]  # fmt: skip


@pytest.mark.parametrize("expression", FLAT)
def test_where_a_derivative_is_constant_the_second_one_is_zero(expression: str) -> None:
    x = mg.randn(4, 3, requires_grad=True)
    y = eval(expression, {"F": F, "t": mg, "x": x})
    (g,) = grad(y.sum(), x, create_graph=True)
    assert g.requires_grad
    assert grad((g * g).sum(), x)[0].equal(mg.zeros(4, 3))


def test_a_gradient_penalty_reaches_the_bias() -> None:
    layers = mg.nn.Sequential(mg.nn.Linear(3, 4), mg.nn.ReLU(), mg.nn.Linear(4, 1))
    x = mg.randn(5, 3, requires_grad=True)
    (g,) = grad(layers(x).sum(), x, create_graph=True)
    (g**2).sum().backward()
    assert layers[0].bias.grad.tolist() == [0.0] * 4 and layers[0].weight.grad.any()


def test_relu_stops_infinite_gradients() -> None:
    x = leaf(-1.0, 0.0, 2.0)
    x.relu().backward(mg.tensor([np.inf, np.inf, np.inf], dtype=mg.float64))
    assert x.grad.tolist() == [0.0, 0.0, np.inf]


@pytest.mark.parametrize("pack, unpack, first, second", [
    (lambda t: t, lambda t: t, [12.0, 27.0], [12.0, 18.0]),
    (lambda t: t.detach().numpy().copy(), mg.from_numpy, [12.0, 27.0], [12.0, 18.0]),
    (lambda t: t * 2, lambda t: t, [48.0, 108.0], [96.0, 144.0]),  # PyTorch's numbers
])  # fmt: skip
def test_a_recorded_pass_under_hooks_on_saved_tensors(pack: Any, unpack: Any, first: Any, second: Any) -> None:
    x = leaf(2.0, 3.0)
    with saved_tensors_hooks(pack, unpack):
        (g,) = grad((x**3).sum(), x, create_graph=True)
    assert g.tolist() == first
    assert grad(g.sum(), x)[0].tolist() == second


def test_hooks_entered_again_by_unpack_end_with_the_pass() -> None:
    x, packed = leaf(1.0, 2.0), []

    def unpack(t: Any) -> Any:
        hooks.__enter__()
        return t

    hooks = saved_tensors_hooks(lambda t: packed.append(t) or t, unpack)
    with hooks:
        (x**3).sum().backward()
    packed.clear()
    y = x * 1
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    assert not packed


def test_hooks_on_saved_tensors_run_without_recording() -> None:
    x, modes = leaf(1.0, 2.0), []
    with saved_tensors_hooks(lambda t: t, lambda t: modes.append(mg.is_grad_enabled()) or t):
        y = x.exp().sum()
    y.backward(retain_graph=True)
    grad(y, x, create_graph=True)
    assert modes == [False, True] and mg.is_grad_enabled()


def test_reading_a_version_changes_nothing() -> None:
    x = leaf(1.0)
    (x * x).sum().backward()
    assert x.grad._version == 0 and not tape.hooked
    saving = x.grad * x
    assert tape.hooked  # as long as there is a node that saved a `.grad`
    del saving
    x.grad = None
    assert not tape.hooked
