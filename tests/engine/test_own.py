"""What minigrad adds to PyTorch: explain, replace, check_graph, notes on errors, the first nan; and graphs of any depth."""

from __future__ import annotations

import linecache
import sys
import threading
import traceback
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.autograd import GradcheckError, check_graph


def notes(error: BaseException) -> str:
    return " ".join(getattr(error, "__notes__", []))


# ------------------------------------------------------------------------------------------------- errors that say where


def test_overwritten_value_names_both_lines() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    z = y.exp()
    z += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        z.sum().backward()
    assert 'saved by exp in "z = y.exp()"' in notes(caught.value)
    assert 'overwritten in "z += 1"' in notes(caught.value)


def test_freed_graph_names_the_line() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    y.sum().backward()
    with pytest.raises(RuntimeError, match="a second time") as caught:
        y.sum().backward()
    assert '"y = x.exp()"' in notes(caught.value)


def test_a_gradient_of_the_wrong_shape_names_the_operation() -> None:
    x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    with mg.replace("exp", lambda g, out: (g * out).sum()):
        y = x.exp()
        with pytest.raises(
            RuntimeError, match=r"ExpBackward0 returned an invalid gradient at index 0 - got \[\]"
        ) as caught:
            y.sum().backward()
    assert '"y = x.exp()"' in notes(caught.value)


def test_birthplace_in_a_notebook_cell() -> None:
    """Cells have no file; IPython puts their source into linecache under a name like this one."""
    source = "x = mg.tensor([2.0], requires_grad=True)\ny = x * x\ny.backward()\ny.backward()\n"
    name = "/tmp/ipykernel_1/123.py"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    with pytest.raises(RuntimeError) as caught:
        exec(compile(source, name, "exec"), {"mg": mg})
    assert '"y = x * x"' in notes(caught.value)


def test_operations_inside_a_module_belong_to_the_line_that_called_it() -> None:
    layer = mg.nn.Linear(3, 2)
    x = mg.ones(4, 3)
    out = layer(x)
    assert mg.explain(out).count('"out = layer(x)"') == 1


def test_first_nan_is_named() -> None:
    x = mg.tensor([0.0, 4.0], requires_grad=True)
    with pytest.warns(UserWarning, match="Anomaly"), mg.autograd.detect_anomaly():
        root = x.sqrt()
        y = root * 0
        with pytest.raises(RuntimeError, match="'SqrtBackward0' returned nan values in its 0th output") as caught:
            y.sum().backward()
    assert '"root = x.sqrt()"' in notes(caught.value)


# ------------------------------------------------------------------------------------------------- explain


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
    assert "keeps 8 bytes" in text
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
    with pytest.raises(TypeError, match="takes a tensor, not list"):
        mg.explain([1.0])


# ------------------------------------------------------------------------------------------------- replace, check_graph


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


def test_booleans_cannot_be_subtracted() -> None:
    mask = mg.tensor([True, False])
    for operands in ((mg.ones(2), mask), (mask, mg.ones(2)), (mask, 1), (1, mask)):
        with pytest.raises(RuntimeError, match="with a bool tensor is not supported"):
            operands[0] - operands[1]


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


# ------------------------------------------------------------------------------------------------- any graph


def test_deep_chain_and_doublings() -> None:
    limit = sys.getrecursionlimit()
    x = mg.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y + 1
    y.backward()
    assert x.grad.item() == 1.0
    del y
    z = x
    for _ in range(22):
        z = z + z
    x.grad = None
    z.backward()
    assert x.grad.item() == 2.0**22
    assert sys.getrecursionlimit() == limit


def test_threads_have_their_own_mode_and_walk() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    seen: list[bool] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            seen.append(mg.is_grad_enabled())
            for _ in range(50):
                (g,) = mg.autograd.grad((x * x).sum(), x)
                assert g.tolist() == [2.0, 4.0]
        except BaseException as error:
            errors.append(error)

    with mg.no_grad():
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert seen == [True] * 4
    assert not errors
    assert mg.is_grad_enabled()


def test_numpy_is_refused_where_it_would_lose_the_graph() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        np.sin(x)
    with pytest.raises(TypeError, match="unsupported operand"):
        np.ones(2) * x
    with pytest.raises(TypeError, match="must be Tensor"):
        mg.sin(np.ones(2))


def test_source_of_an_operation_can_be_read() -> None:
    (mg.tensor([1.0], requires_grad=True) * 2).sum()
    source = mg.tape.TABLE["mul"].source
    assert "node.parents = (p, q)" in source


@pytest.mark.parametrize(
    "program",
    [
        lambda x: (x * x).backward(),
        lambda x: x.sub_(1),
        lambda x: [y := (x * x).sum(), y.backward(), y.backward()],
    ],
    ids=["start", "write", "twice"],
)
def test_a_traceback_in_a_notebook_shows_who_called_and_who_raised(program: Any) -> None:
    with pytest.raises(RuntimeError) as caught:
        program(mg.tensor([1.0, 2.0], requires_grad=True))
    frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
    inside = [frame for frame in frames if frame.f_code.co_filename != __file__]
    assert len(inside) > 1
    assert all(frame.f_locals["__tracebackhide__"] for frame in inside[:-1])


def test_det_of_a_matrix_that_only_rounding_keeps_from_being_singular() -> None:
    x = mg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], dtype=mg.float64, requires_grad=True)
    mg.linalg.det(x).backward()
    cofactors = [[-3.0, 6.0, -3.0], [6.0, -12.0, 6.0], [-3.0, 6.0, -3.0]]
    assert mg.allclose(x.grad, mg.tensor(cofactors, dtype=mg.float64))
