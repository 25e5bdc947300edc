"""The stepper on a student's own engine, right or wrong; nothing of theirs is changed."""

from pathlib import Path

import numpy as np
import pytest

import minigrad as torch
from minigrad.course import lessons
from minigrad.viz import foreign
from minigrad.viz.svg import picture

from . import cases
from .dressed import data_of


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
    assert text.startswith("Backward pass of loss") and f"Yours differs here. {wrong[0].verdict}" in text


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
    assert "= 108; yours is 6" in picture(data_of(recording, None, {}, None)[0]), "a still picture says it, too"
    assert first.named.startswith("g · 2 · (3")
    assert "2 = 2" not in str(data_of(recording, None, {}, None)[0]), "a number needs no telling"


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


def lesson_14() -> dict:
    """The names of an engine that a student wrote from an empty file."""
    file = Path(lessons.__file__).with_name("14_own_engine.py")
    space: dict = {}
    exec(compile(file.read_text(encoding="utf-8"), file, "exec"), space)
    return space


def test_the_engine_of_lesson_14_is_walked_by_its_own_rules() -> None:
    Tensor = lesson_14()["MyTensor"]
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


@pytest.mark.slow
def test_a_chain_of_1200_needs_no_recursion() -> None:
    v = cases.Value(1.0)
    for _ in range(1_200):
        v = v + cases.Value(0.0)
    assert len(foreign.record(v).steps) == 2_401


class Node:
    """The least that an engine's node may be."""

    def __init__(self, data, parents=(), op=""):
        self.data, self.parents, self.op, self.grad = data, parents, op, 0.0


@pytest.mark.parametrize("make", [
    lambda v, a: lambda: setattr(a, "grad", a.grad + 2 * a.data * v.grad),
    lambda v, a: lambda out=v: setattr(a, "grad", a.grad + 2 * a.data * out.grad),
    lambda v, a: lambda g: setattr(a, "grad", a.grad + 2 * a.data * g),
    lambda v, a: lambda g: (a.data * g, a.data * g),
])  # fmt: skip
def test_a_backward_function_may_take_the_gradient_and_may_return_the_shares(make) -> None:
    a = Node(3.0)
    square = Node(9.0, (a, a), "*")
    square._backward = make(square, a)
    root = Node(18.0, (square, Node(2.0)), "*")
    recording = foreign.record(root, names={"a": a})
    assert recording.grads["a"] == 12.0 and a.grad == 0.0
    assert {s.verdict for step in recording.steps for s in step} <= {"agrees", ""}


def test_a_method_as_backward_function_is_called_on_its_node() -> None:
    class Sum(Node):
        def backward_fn(self):
            for p in self.parents:
                p.grad += self.grad

    a = Node(3.0)
    assert foreign.record(Sum(6.0, (a, a), "+"), names={"a": a}).grads["a"] == 2.0


def test_numbers_that_are_not_finite_are_no_mistake_of_theirs() -> None:
    a, b = cases.Value(float("nan")), cases.Value(float("inf"))
    assert {s.verdict for step in foreign.record(a * b).steps for s in step} == {"agrees"}


def test_a_node_without_a_gradient_is_given_one_for_the_walk_alone() -> None:
    a, b = cases.Value(2.0), cases.Value(3.0)
    loss = a * b
    del a.grad
    assert foreign.record(loss, names={"a": a}).grads["a"] == 3.0 and not hasattr(a, "grad")


@pytest.mark.parametrize("thing", ["two", None, 1j, [1.0, "x"]])
def test_what_is_no_number_is_refused(thing) -> None:
    with pytest.raises(TypeError, match="must be a number or an array of numbers, not"):
        foreign.record(Node(1.0, (Node(thing),), "neg"))


def test_a_graph_in_a_circle_a_missing_gradient_and_their_own_error_are_named() -> None:
    a, b = Node(1.0), Node(2.0)
    a.parents, b.parents = (b,), (a,)
    with pytest.raises(ValueError, match="among its own inputs"):
        foreign.record(a)
    with pytest.raises(RuntimeError, match="several numbers"):
        data_of(Node([1.0, 2.0]), None, {}, None)
    assert data_of(Node([1.0, 2.0]), None, {}, None, ones=True)[0]["steps"], "a still picture starts from ones"

    def push():
        raise ZeroDivisionError

    out = Node(1.0, (Node(1.0),), "neg")
    out._backward = push
    with pytest.raises(ZeroDivisionError) as caught:
        foreign.record(out, names={"out": out})
    assert caught.value.__notes__ == ["minigrad: in the backward function of out"]


def test_a_power_whose_exponent_is_hidden_has_a_readable_name() -> None:
    assert foreign.expressed("pow", "**", ["error"]) == "pow(error)"
    assert foreign.expressed("**2", "**", ["c"]) == "c**2"
    assert foreign.expressed("**", "**", ["c", "n"]) == "c ** n"
