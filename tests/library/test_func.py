"""torch.func: transforms of transforms, containers, several arguments.  The numbers are PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

import minigrad as mg
from minigrad.autograd import forward_ad
from minigrad.func import (
    functional_call,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    vjp,
    vmap,
)

X = mg.tensor([1.0, 2.0], dtype=mg.float64)
W = mg.tensor([3.0, 5.0], dtype=mg.float64)
ONE = mg.tensor(1.0, dtype=mg.float64)


def test_a_transform_inside_another_is_differentiated_too() -> None:
    def through_vjp(x: Any) -> Any:
        _, back = vjp(lambda t: t**3, x)
        return back(W)[0].sum()  # 3 w x^2

    assert grad(through_vjp)(X).tolist() == [18.0, 60.0]  # 6 w x
    assert grad(lambda w: grad(lambda x: (x * w).sum())(X).sum())(W).tolist() == [1.0, 1.0]  # w only in the closure
    assert jvp(lambda x: jvp(lambda t: t**3, (x,), (W,))[1], (X,), (X,))[1].tolist() == [18.0, 120.0]
    assert hessian(lambda x: (x**3).sum())(X).tolist() == [[6.0, 0.0], [0.0, 12.0]]


def test_results_require_grad_only_if_something_outside_does() -> None:
    w = W.clone().requires_grad_()
    for f in (lambda x: (x * w).sum(), lambda x: (x * W).sum()):
        assert grad(f)(X).requires_grad == (f(X).requires_grad)
    grad(lambda x: (x**2 * w).sum())(X).sum().backward()
    assert w.grad.tolist() == [2.0, 4.0]
    with mg.no_grad():
        assert not grad(lambda x: (x * w).sum())(X).requires_grad
    gradient, value = grad_and_value(lambda x: (x * W).sum())(X)
    assert not gradient.requires_grad and not value.requires_grad


def test_arguments_and_results_come_in_containers() -> None:
    parameters = {"w": X, "b": [ONE]}

    def f(p: Any, x: Any) -> Any:
        return {"out": (p["w"] * x).sum() + p["b"][0], "twice": (2 * p["w"],)}

    found = jacrev(f)(parameters, W)
    assert found["out"]["w"].tolist() == [3.0, 5.0] and found["out"]["b"][0].tolist() == 1.0
    assert found["twice"][0]["w"].tolist() == [[2.0, 0.0], [0.0, 2.0]] and found["twice"][0]["b"][0].tolist() == [
        0.0,
        0.0,
    ]
    by_both = jacfwd(lambda x, y: x * y, argnums=(0, 1))(X, W)
    assert [j.diag().tolist() for j in by_both] == [[3.0, 5.0], [1.0, 2.0]]
    (by_last,) = jacrev(lambda x, y: x * y, argnums=(-1,))(X, W)
    assert by_last.diag().tolist() == [1.0, 2.0]
    out, back = vjp(lambda p: (p["w"] * W, p["b"]), parameters)
    ((product),) = back((X, [ONE]))
    assert out[0].tolist() == [3.0, 10.0] and product["w"].tolist() == [3.0, 10.0] and product["b"][0].tolist() == 1.0
    jacobian, aux = jacrev(lambda x: (x**2, x + 1), has_aux=True)(X)
    assert jacobian.diag().tolist() == [2.0, 4.0] and aux.tolist() == [2.0, 3.0]
    value, push = linearize(lambda x: (x**2).sum(), X)
    assert value.item() == 5.0 and [push(W).item(), push(X).item()] == [26.0, 10.0]


def test_vmap_takes_containers_of_dimensions_and_keywords() -> None:
    rows = mg.arange(6.0).reshape(2, 3)
    found = vmap(lambda p, k: {"s": p["a"].sum(), "k": p["b"] * k}, ({"a": 0, "b": None}, None), {"s": 0, "k": 0})(
        {"a": rows, "b": mg.ones(3)}, 2.0
    )
    assert found["s"].tolist() == [3.0, 12.0] and found["k"].tolist() == [[2.0] * 3] * 2
    assert vmap(lambda x, *, y: x.sum() + y)(rows, y=mg.tensor([10.0, 20.0])).tolist() == [[13.0, 23.0], [22.0, 32.0]]
    same = vmap(lambda x: x + mg.rand(3), randomness="same")(mg.zeros(2, 3))
    other = vmap(lambda x: x + mg.rand(3), randomness="different")(mg.zeros(2, 3))
    assert same[0].tolist() == same[1].tolist() and other[0].tolist() != other[1].tolist()


def test_an_ensemble_runs_as_one() -> None:
    models = [mg.nn.Linear(3, 2) for _ in range(4)]
    parameters, buffers = stack_module_state(models)
    assert parameters["weight"].shape == (4, 2, 3) and parameters["weight"].is_leaf and buffers == {}
    x = mg.randn(5, 3)
    out = vmap(lambda p: functional_call(models[0], p, (x,)))(parameters)
    assert all(mg.allclose(out[i], m(x)) for i, m in enumerate(models))
    out.sum().backward()
    assert parameters["bias"].grad.tolist() == [[5.0, 5.0]] * 4


def test_dual_tensors() -> None:
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(X, W)
        assert forward_ad.unpack_dual(dual).tangent is W and forward_ad.unpack_dual(dual).primal.tolist() == [1.0, 2.0]
        out, still = forward_ad.unpack_dual(dual**3 + X), forward_ad.unpack_dual(X * 2)
        assert out.tangent.tolist() == [9.0, 60.0] and not out.tangent.requires_grad
        assert still.tangent is None and forward_ad.unpack_dual(dual.detach()).tangent is None
        moving = mg.zeros(2, dtype=mg.float64)
        moving.copy_(dual).mul_(2)
        assert forward_ad.unpack_dual(moving).tangent.tolist() == [6.0, 10.0] and X.tolist() == [1.0, 2.0]
        twice = forward_ad.make_dual(X.clone(), W)
        twice[:1].mul_(2)
        assert forward_ad.unpack_dual(twice).tangent.tolist() == [6.0, 5.0]
        with pytest.raises(RuntimeError, match="already has a forward gradient at the same level"):
            forward_ad.make_dual(dual, W)
        with pytest.raises(
            RuntimeError, match="Tensor is of size \\[2\\] while the given forward gradient is of size \\[\\]"
        ):
            forward_ad.make_dual(X, ONE)
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported at the moment"):
            forward_ad.enter_dual_level()
    assert forward_ad.unpack_dual(dual).tangent is None
    with pytest.raises(RuntimeError, match="no level exists, make sure to enter_dual_level"):
        forward_ad.make_dual(X, W)
    w = X.clone().requires_grad_()
    with forward_ad.dual_level():
        forward_ad.unpack_dual(forward_ad.make_dual(w, W) ** 3).tangent.sum().backward()
    assert w.grad.tolist() == [18.0, 60.0]


def test_dual_tensors_cannot_move_under_no_grad() -> None:
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(X, W)
        with mg.no_grad():
            y = dual * 2
        with pytest.raises(NotImplementedError, match="what is computed under no_grad has no tangent"):
            forward_ad.unpack_dual(y)


ATTEMPTS = [
    (
        lambda: grad(lambda x: x)(X),
        "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with 1 dims.",
    ),
    (
        lambda: grad(lambda x: x.sum(), has_aux=True)(X),
        "grad_and_value(f)(*args): output of function f should be a tuple",
    ),
    (lambda: grad(mg.mul, argnums=2)(X, W), "Got argnum=2, but only 2 positional inputs"),
    (lambda: jacrev(mg.mul, argnums=())(X, W), "argnums must be non-empty"),
    (lambda: jacrev(mg.mul, argnums=(0, -2))(X, W), "argnums elements must be unique, got (0, 0)"),
    (lambda: grad(lambda x: x)(3.0), "Thing passed to transform API must be Tensor, got <class 'float'>"),
    (
        lambda: vjp(lambda x: (x, x), X)[1](X),
        "Expected pytree structure of cotangents to be the same as pytree structure",
    ),
    (lambda: vjp(lambda x: x.argmax(), X), "vjp(f, ...): All outputs of f must be floating-point or complex Tensors"),
    (lambda: jvp(mg.sin, X, W), "jvp(f, primals, tangents): Expected primals to be a tuple."),
    (
        lambda: jvp(mg.sin, (X,), (X, W)),
        "jvp(f, primals, tangents): Expected primals and tangents to have the same python",
    ),
    (
        lambda: jvp(lambda x: W, (X,), (X,), strict=True),
        "jvp(f, primals, tangents, strict=True): The output of f is independent",
    ),
    (
        lambda: vmap(mg.sin)(ONE),
        "vmap(sin, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a Tensor of",
    ),
    (
        lambda: vmap(mg.mul, (0,))(X, W),
        "vmap(mul, in_dims=(0,), ...)(<inputs>): in_dims is not compatible with the structure",
    ),
    (lambda: vmap(lambda x: 3.0)(X), "vmap(<lambda>, ...): `<lambda>` must only return Tensors, got type"),
    (lambda: vmap(lambda x: x + mg.rand(()))(X), "vmap: called random operation while in randomness error mode."),
]


@pytest.mark.parametrize(("attempt", "sentence"), ATTEMPTS)
def test_an_attempt_fails_with_pytorchs_words(attempt: Any, sentence: str) -> None:
    with pytest.raises((RuntimeError, ValueError)) as raised:
        attempt()
    assert str(raised.value).startswith(sentence)
