"""gradcheck, and Jacobians, Hessians and products of a function: values against formulas, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import minigrad as mg
from minigrad.autograd import Function, GradcheckError, functional, grad, gradcheck, gradgradcheck


def leaf(*values: float) -> Any:
    return mg.tensor(values, dtype=mg.float64, requires_grad=True)


def test_gradcheck_runs_the_function_as_it_is() -> None:
    def hooked(x: Any) -> Any:
        y = x.clone()
        y.register_hook(lambda g: g + 0.01)
        return y

    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(hooked, leaf(1.0, 2.0))


def test_gradcheck_of_views() -> None:
    x = leaf(1.0, 2.0)
    assert gradcheck(lambda x: x.view(2, 1), x) and gradgradcheck(lambda x: x.view(2, 1) + 1, x)


def test_gradcheck_refuses_elements_that_share_their_memory() -> None:
    with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0"):
        gradcheck(lambda x: x * x, leaf(1.0).expand(3))


def test_gradcheck_changes_the_very_tensor() -> None:
    x = leaf(1.0, 2.0)
    assert gradcheck(lambda _: (x * x).sum(), x)
    assert x.tolist() == [1.0, 2.0]


def test_derivatives_of_functions_are_computed_within_no_grad() -> None:
    x, v = mg.tensor([1.0, 2.0]), mg.tensor([1.0, 0.5])
    with mg.no_grad():
        slopes = functional.jacobian(lambda x: x**3, x, create_graph=True)
        assert slopes.tolist() == [[3.0, 0.0], [0.0, 12.0]] and slopes.requires_grad
        assert functional.hessian(lambda x: (x**3).sum(), x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
        for product in (functional.hvp, functional.vhp):
            assert product(lambda x: (x**3).sum(), x, v)[1].tolist() == [6.0, 6.0]
        for product in (functional.jvp, functional.vjp):
            assert product(lambda x: x**3, x, v)[1].tolist() == [3.0, 6.0]
        assert not mg.is_grad_enabled()


def test_strict_derivatives_say_what_does_not_depend() -> None:
    x, v = mg.ones(2), mg.ones(2)
    with pytest.raises(RuntimeError, match="Output 0 of the user-provided function is independent of input 0"):
        functional.jacobian(lambda x: x.detach(), x, strict=True)
    with pytest.raises(TypeError, match="minigrad leaves out the argument 'strict'"):
        functional.vjp(lambda x: x * 2, x, v, strict=True)
    with pytest.raises(RuntimeError, match="v is a tuple of invalid length: should be 1 but got 2"):
        functional.vjp(lambda x: x, x, (v, v))
    with pytest.raises(TypeError, match="The inputs given to hvp must be either a Tensor or a tuple of Tensors"):
        functional.hvp(lambda x: x.sum(), [x], v)


def cubes(x: Any) -> Any:
    return x**3 * mg.tensor([1.0, 2.0], dtype=mg.float64)


def test_jacobian_and_hessian() -> None:
    x = leaf(2.0, 3.0)
    assert functional.jacobian(cubes, x).tolist() == [[12.0, 0.0], [0.0, 54.0]]
    assert functional.hessian(lambda x: cubes(x).sum(), x).tolist() == [[12.0, 0.0], [0.0, 36.0]]
    assert not functional.jacobian(cubes, x).requires_grad
    kept = functional.jacobian(cubes, x, create_graph=True)
    assert grad(kept.sum(), x)[0].tolist() == [12.0, 36.0]
    a, b = leaf(2.0), leaf(3.0)
    (aa, ab), (ba, bb) = functional.hessian(lambda a, b: (a * a * b).sum(), (a, b))
    assert [t.item() for t in (aa, ab, ba, bb)] == [6.0, 4.0, 4.0, 0.0]


def test_products_with_a_vector() -> None:
    x, v = leaf(2.0, 3.0), mg.tensor([1.0, -1.0], dtype=mg.float64)
    for product in (functional.vjp, functional.jvp):
        value, along = product(cubes, x, v)
        assert value.tolist() == [8.0, 54.0] and along.tolist() == [12.0, -54.0]
    for product in (functional.hvp, functional.vhp):
        value, along = product(lambda x: cubes(x).sum(), x, v)
        assert value.item() == 62.0 and along.tolist() == [12.0, -36.0]
    value, along = functional.vjp(lambda x: (x * x).sum(), x)
    assert along.tolist() == [4.0, 6.0]


def test_gradcheck_finds_a_wrong_rule_and_says_which() -> None:
    class Wrong(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * ctx.saved_tensors[0]

    assert gradcheck(lambda x: (x * x).sin(), leaf(1.0, 2.0)) and gradgradcheck(lambda x: (x * x).sin(), leaf(1.0, 2.0))
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(Wrong.apply, leaf(1.0, 2.0))
    assert not gradcheck(Wrong.apply, leaf(1.0, 2.0), raise_exception=False)
    with pytest.raises(ValueError, match="gradcheck expects at least one input tensor to require gradient"):
        gradcheck(cubes, mg.ones(2))
    with pytest.warns(UserWarning, match="not a double precision floating point"), pytest.raises(GradcheckError):
        gradcheck(mg.exp, mg.tensor([1.0, 2.0], requires_grad=True))
