"""The stepper on a student's own engine, right or wrong; nothing of theirs is changed."""

import linecache

import numpy as np
import pytest

import minigrad as torch
from minigrad.course import notebooks
from minigrad.viz import foreign
from minigrad.viz.stepper import data_of

from . import cases


def test_an_own_engine_gives_its_numbers_and_agrees() -> None:
    loss, given = cases.own_engine()
    recording = foreign.record(loss, names=given["names"])
    assert {k: float(v) for k, v in recording.grads.items()} == {"a": 25.0, "b": 19.0}
    assert {s.verdict for step in recording.steps for s in step} == {"agrees"}
    assert next(recording.places[s.node].name for s in recording.steps) == "loss"


def test_grads_are_put_back() -> None:
    loss, given = cases.own_engine()
    given["names"]["a"].grad = 7.5
    recording = foreign.record(loss, names=given["names"])
    assert given["names"]["a"].grad == 7.5 and loss.grad == 0.0
    assert recording.grads["a"] == 32.5, "the ledger starts from the old one"


def test_the_first_wrong_edge_of_an_own_engine_is_named() -> None:
    loss, given = cases.own_faulty_engine()
    recording = foreign.record(loss, names=given["names"])
    wrong = [s for step in recording.steps for s in step if s.verdict not in ("agrees", "")]
    assert wrong and "Use += where you have =" in wrong[0].verdict
    data, text = data_of(loss, None, given["names"], None)
    assert any(step.get("check", {}).get("verdict", "agrees") != "agrees" for step in data["steps"])
    assert text.startswith("Backward pass of loss")


@pytest.mark.parametrize("op", ["**2", "** 2", "**(2.0)"])
def test_a_power_with_its_exponent_in_the_name_is_compared(op: str) -> None:
    class Node:
        def __init__(self, data, parents=(), op=""):
            self.data, self.parents, self.op, self.grad = data, parents, op, 0.0
            self._backward = lambda: None

    def square(a):
        out = Node(a.data**2, (a,), op)

        def push():
            a.grad += 2 * a.data

        out._backward = push
        return out

    recording = foreign.record(square(square(Node(3.0))))
    first, second = (s for step in recording.steps for s in step)
    assert first.verdict == "agrees", "1 arrived: the slip does not show"
    assert "multiply by out.grad" in second.verdict
    assert first.named.startswith("g * (2 * ") and first.named.endswith(" ** (2 - 1))")


def test_a_set_of_parents_is_put_in_order() -> None:
    class Node:
        def __init__(self, data, parents=(), op=""):
            self.data, self.grad, self._prev, self._op = data, 0.0, set(parents), op
            self._backward = lambda: None

    a = Node(3.0)
    square = Node(9.0, (a,), "*")
    square._backward = lambda: setattr(a, "grad", a.grad + 6.0 * square.grad)
    recording = foreign.record(square, names={"a": a})
    assert len(recording.edges) == 2 and recording.grads["a"] == 6.0
    b, c = Node(2.0), Node(5.0)
    difference = Node(3.0, (b, c), "-")
    assert [n.data for n in foreign.parents_of(difference)] == [5.0, 2.0]


def test_without_backward_functions_the_table_is_asked() -> None:
    class Plain:
        def __init__(self, data, parents=(), op=""):
            self.data, self.grad, self.parents, self.op = np.array(data), None, parents, op

    x = Plain([1.0, 2.0])
    w = Plain([3.0, -1.0])
    y = Plain([3.0, -2.0], (x, w), "mul")
    z = Plain(1.0, (y,), "sum")
    recording = foreign.record(z, names={"x": x, "w": w})
    np.testing.assert_array_equal(recording.grads["x"], [3.0, -1.0])
    assert x.grad is None


def lesson_13() -> dict:
    """The names that the solution of lesson 13 defines: the engine that a student writes from an empty file."""
    space: dict = {}
    for i, cell in enumerate(notebooks.read(notebooks.path("solutions", "13_capstone"))["cells"]):
        source = "".join(cell["source"])
        wanted = any(piece in source for piece in ("import numpy", "apply(", "class Tensor"))
        if cell["cell_type"] == "code" and wanted and "check(" not in source and "step(" not in source:
            file = f"<cell {i} of lesson 13>"
            linecache.cache[file] = (len(source), None, source.splitlines(True), file)
            exec(compile(source, file, "exec"), space)
    return space


def test_the_engine_of_lesson_13_is_walked_by_its_own_rules() -> None:
    Tensor = lesson_13()["Tensor"]
    x, w = Tensor([[1.0, -2.0, 0.5], [3.0, 0.5, -1.0]], True), Tensor([[2.0], [-1.0], [0.5]], True)
    b = Tensor([0.5], True)
    loss = ((x @ w + b).tanh() ** 2).sum() + x[0].exp().mean() + x.reshape(6).relu().sum() / 3.0
    recording = foreign.record(loss, names={"x": x, "w": w, "b": b, "loss": loss})
    assert {s.verdict for step in recording.steps for s in step if not s.skipped} <= {"agrees", ""}
    assert any("does not require a gradient" in s.reason for step in recording.steps for s in step)
    t = {name: torch.tensor(v.data, requires_grad=True) for name, v in {"x": x, "w": w, "b": b}.items()}
    theirs = ((t["x"] @ t["w"] + t["b"]).tanh() ** 2).sum() + t["x"][0].exp().mean() + t["x"].reshape(6).relu().sum() / 3.0
    theirs.backward()
    assert recording.grads.keys() == t.keys()
    for name, grad in recording.grads.items():
        np.testing.assert_allclose(grad, t[name].grad.numpy(), rtol=1e-9)
    assert "g * n * x ** (n - 1)" in [s.rule for step in recording.steps for s in step]
    assert x.grad is None, "nothing of theirs is changed"
    data_of(loss, None, {"x": x, "w": w, "b": b}, None)


def test_an_unknown_operation_without_a_backward_function_is_refused() -> None:
    class Plain:
        def __init__(self, data, parents=(), op=""):
            self.data, self.grad, self.parents, self.op = data, None, parents, op

    with pytest.raises(TypeError, match=r"'swirl' is not in the derivative table"):
        foreign.record(Plain(1.0, (Plain(2.0),), "swirl"))


def test_a_chain_of_1200_needs_no_recursion() -> None:
    v = cases.Value(1.0)
    for _ in range(1_200):
        v = v + cases.Value(0.0)
    assert len(foreign.record(v).steps) == 2_401
