"""What minigrad adds to PyTorch: explain, replace and check_graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.autograd import GradcheckError, check_graph


def leaf(*values: float) -> Any:
    return mg.tensor(values, dtype=mg.float64, requires_grad=True)


def test_explain_leaf_before_and_after() -> None:
    w = mg.tensor([1.0, 2.0], requires_grad=True)
    unused = mg.tensor([1.0, 2.0], requires_grad=True)
    assert "is a leaf that requires grad" in mg.explain(w)
    assert "no backward pass has run since it was made" in mg.explain(w)
    (w * w).sum().backward()
    assert "Its .grad holds" in mg.explain(w)
    assert "did not reach it" in mg.explain(unused)


def test_explain_non_leaf() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    text = mg.explain(y)
    assert "not a leaf: ExpBackward0 made it" in text
    assert '"y = x.exp()"' in text
    assert "saved 8 bytes" in text
    assert "retain_grad()" in text
    y.sum().backward()
    assert "was freed by a backward pass" in mg.explain(y)


def test_explain_what_has_no_graph() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.no_grad():
        a = x * 2
    b = (x * 2).detach()
    assert 'switched off (no_grad) in "a = x * 2"' in mg.explain(a)
    assert 'cut off from the graph by detach() in "b = (x * 2).detach()"' in mg.explain(b)
    assert "without requires_grad=True" in mg.explain(mg.tensor([1.0]))
    assert "int64" in mg.explain(mg.tensor([1]))


def test_explain_rebinding() -> None:
    w = mg.tensor([1.0, 2.0], requires_grad=True)
    (w * w).sum().backward()
    w = w - 0.1 * w.grad
    assert "bound the name w to a new tensor" in mg.explain(w)
    v = mg.tensor([1.0, 2.0], requires_grad=True)
    with mg.no_grad():
        v = v - 0.1
    assert "bound v to a new tensor" in mg.explain(v)


def test_explain_refuses_other_things() -> None:
    with pytest.raises(TypeError, match="takes a tensor of minigrad or of PyTorch, not list"):
        mg.explain([1.0])


@pytest.mark.parametrize(
    "rule",
    [
        (lambda g, y: 10 * g * y, lambda g, x: g * x),
        lambda g, x, y: (10 * g * y, g * x),
    ],
)
def test_replace_runs_the_students_rule(rule: Any) -> None:
    x, y = mg.tensor([2.0, 3.0], requires_grad=True), mg.tensor([5.0, 7.0], requires_grad=True)
    with mg.replace("mul", rule):
        (x * y).sum().backward()
    assert x.grad.tolist() == [50.0, 70.0]
    assert y.grad.tolist() == [2.0, 3.0]
    x.grad = None
    (x * y).sum().backward()
    assert x.grad.tolist() == [5.0, 7.0]


def test_replace_with_a_rule_that_returns_what_it_was_given() -> None:
    x, y = mg.tensor([2.0, 3.0], requires_grad=True), mg.tensor([5.0, 7.0], requires_grad=True)
    with mg.replace("mul", (lambda g, y: y, lambda g, x: x)):
        loss = (x * y + x * y).sum()
        loss.backward(retain_graph=True)
        loss.backward()
    assert x.tolist() == [2.0, 3.0]
    assert y.tolist() == [5.0, 7.0]
    assert x.grad.tolist() == [20.0, 28.0]


def test_replace_leaves_earlier_graphs_their_rules() -> None:
    x = mg.tensor([2.0, 3.0], requires_grad=True)
    before = x.exp()
    with mg.replace("exp", lambda g, x: g * x):
        within = x.exp()
        before.sum().backward()
    assert x.grad.tolist() == before.tolist()
    x.grad = None
    within.sum().backward()
    assert x.grad.tolist() == [2.0, 3.0]
    x.grad = None
    x.exp().sum().backward()
    assert x.grad.tolist() == before.tolist()


def test_replace_of_an_operation_with_three_inputs() -> None:
    x, w = mg.ones(2, 3), mg.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    b = mg.tensor([0.5], requires_grad=True)
    with mg.replace("linear", lambda g, x, y, z: (None, None, g.mT @ y * 2)):
        mg.nn.functional.linear(x, w, b).sum().backward()
    assert w.grad.tolist() == [[4.0, 4.0, 4.0]]
    assert b.grad is None


def test_replace_refuses() -> None:
    with pytest.raises(KeyError, match="no operation 'mull'"), mg.replace("mull", lambda g: g):
        pass
    with pytest.raises(ValueError, match="mul has 2 inputs"), mg.replace("mul", (lambda g: g,)):
        pass


def test_check_graph_passes_and_names_the_wrong_one() -> None:
    rng = np.random.default_rng(1)
    w = mg.tensor(rng.standard_normal((3, 2)), requires_grad=True)
    x = mg.tensor(rng.standard_normal((4, 3)))

    def loss() -> mg.Tensor:
        hidden = (x @ w).tanh()
        return ((hidden - 0.3) ** 2).mean() + mg.cat([w, w])[0, 1] * mg.stack([w, w]).sum()

    assert check_graph(loss())
    with mg.replace("tanh", lambda g, out: g * (1 - out)):
        with pytest.raises(GradcheckError, match="TanhBackward0, recorded") as caught:
            check_graph(loss())
        assert "hidden = (x @ w).tanh()" in str(caught.value)


def test_check_graph_on_a_custom_function() -> None:
    class Cube(mg.autograd.Function):
        factor = 3.0

        @staticmethod
        def forward(ctx: Any, x: mg.Tensor, k: float) -> mg.Tensor:
            ctx.save_for_backward(x)
            ctx.k = k
            return k * x**3

        @staticmethod
        def backward(ctx: Any, g: mg.Tensor) -> Any:
            (x,) = ctx.saved_tensors
            return g * Cube.factor * ctx.k * x**2, None

    x = mg.tensor([1.0, 2.0], requires_grad=True)
    assert check_graph(Cube.apply(x, 2.0).sum())
    Cube.factor = 2.0
    with pytest.raises(GradcheckError, match="CubeBackward"):
        check_graph(Cube.apply(x, 2.0).sum())


def test_check_graph_says_when_it_cannot() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp().sum()
    y.backward()
    with pytest.raises(RuntimeError, match="freed by a backward pass"):
        check_graph(y)
    with pytest.raises(RuntimeError, match="has no graph"):
        check_graph(mg.tensor([1.0]))
