"""torch.func: transforms of transforms, containers, several arguments.  The numbers are PyTorch's."""

from __future__ import annotations

from collections import OrderedDict
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


def test_vmap_over_nothing_knows_the_shape() -> None:
    nothing = mg.zeros(4, 0, 3)
    assert vmap(lambda t: t * 2, in_dims=1)(nothing).shape == (0, 4, 3)
    assert vmap(lambda t: t.argmax(), in_dims=1, out_dims=0)(nothing).dtype is mg.int64


def test_results_keep_their_kind_of_dictionary() -> None:
    found = vmap(lambda t: OrderedDict(b=t, a=t.sum()))(mg.ones(2, 3))
    assert type(found) is OrderedDict and list(found) == ["b", "a"] and found["a"].tolist() == [3.0, 3.0]


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
        with pytest.raises(RuntimeError, match="Setting a forward grad that itself has a forward gradient at the same"):
            forward_ad.make_dual(X, dual)
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


class Cube(mg.autograd.Function):
    """x^3, whose jvp says 4 x^2: so that it shows who is asked."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any) -> Any:
        return x**3

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 3 * ctx.saved_tensors[0] ** 2

    @staticmethod
    def jvp(ctx: Any, t: Any) -> Any:
        return t * 4 * ctx.saved_tensors[0] ** 2


class Two(mg.autograd.Function):
    """(x y, k x), with a jvp of its own."""

    @staticmethod
    def forward(ctx: Any, x: Any, y: Any, k: float) -> Any:
        ctx.save_for_forward(x, y)
        return x * y, k * x

    @staticmethod
    def jvp(ctx: Any, t: Any, u: Any, k: None) -> Any:
        x, y = ctx.saved_tensors
        return 2 * t * y + u * x, 5 * t


def test_forward_mode_asks_a_function_for_its_jvp() -> None:
    cube, v = Cube.apply, mg.tensor([1.0, -1.0], dtype=mg.float64)
    assert jvp(cube, (X,), (v,))[1].tolist() == [4.0, -16.0] == linearize(cube, X)[1](v).tolist()
    assert jvp(lambda x: (cube(x) * x).sum(), (X,), (v,))[1].tolist() == -35.0
    assert grad(lambda x: jvp(cube, (x,), (v,))[1].sum())(X).tolist() == [8.0, -16.0]
    assert jvp(grad(lambda x: cube(x).sum()), (X,), (v,))[1].tolist() == [6.0, -12.0]  # the backward's own operations
    assert jacfwd(cube)(X).tolist() == [[4.0, 0.0], [0.0, 16.0]]
    assert jacrev(Unmapped.apply)(X).tolist() == [[3.0, 0.0], [0.0, 12.0]]
    assert jvp(_with_hooks, (X,), (X,))[1].tolist() == 10.0 and vmap(_with_hooks)(X).tolist() == [1.0, 4.0]


def test_a_dual_tensor_asks_at_once() -> None:
    asked = []

    class Watched(Cube):
        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            asked.append(t.tolist())
            return 2 * t

    with forward_ad.dual_level():
        Watched.apply(X)
        assert not asked
        out = Watched.apply(forward_ad.make_dual(X, W))
        assert asked == [[3.0, 5.0]]
        assert forward_ad.unpack_dual(out * out).tangent.tolist() == [12.0, 160.0] and len(asked) == 1
        assert str(out).splitlines()[1] == "       tangent=tensor([ 6., 10.], dtype=torch.float64))"
        product, multiple = Two.apply(forward_ad.make_dual(X, W), W, 2.0)
        assert forward_ad.unpack_dual(product).tangent.tolist() == [18.0, 50.0]
        assert forward_ad.unpack_dual(multiple).tangent.tolist() == [15.0, 25.0]


def test_forward_mode_does_not_ask_about_its_own_work() -> None:
    """The first backward pass depends on the dual tensor wherever an operation is not linear: nobody asks how it moves."""
    seen = []

    class Curious(Cube):
        @staticmethod
        def jvp(ctx: Any, t: Any) -> Any:
            (x,) = ctx.saved_tensors
            seen.append((str(x), forward_ad.unpack_dual(x).tangent))
            return t * Curious.apply(x)

    w = X.clone().requires_grad_()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(w, W)
        cubes = Cube.apply(dual)
        Cube.apply(cubes)
        norm = mg.linalg.norm(cubes)  # of (1, 8), which moves along (12, 80)
        moved = forward_ad.unpack_dual(norm).tangent
        assert moved.item() == pytest.approx(652 / 65**0.5)
        assert forward_ad.unpack_dual(Cube.apply(norm)).tangent.item() == pytest.approx(4 * 65 * 652 / 65**0.5)
        (slope,) = mg.autograd.grad(norm, w, create_graph=True)
        assert slope.tolist() == pytest.approx([3 / 65**0.5, 96 / 65**0.5])
        assert str(norm).endswith(f"grad_fn=<LinalgVectorNormBackward0>,\n       tangent={moved.item()})")
        assert forward_ad.unpack_dual(Curious.apply(cubes).exp().log()).tangent.tolist() == pytest.approx([12.0, 80 * 512.0])
        assert len(seen) == 1 and "tangent" not in seen[0][0] and seen[0][1] is None


@pytest.mark.parametrize("x", [X, X.clone().requires_grad_()], ids=["constant", "parameter"])
def test_what_was_unpacked_does_not_move(x: Any) -> None:
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, W)
        primal, tangent = forward_ad.unpack_dual(dual**3)
        start = forward_ad.unpack_dual(dual).primal
        assert tangent.tolist() == [9.0, 60.0]
        assert all(forward_ad.unpack_dual(t).tangent is None for t in (primal, tangent, start))
        assert all(t.requires_grad is x.requires_grad for t in (primal, tangent, start))
        assert forward_ad.unpack_dual(tangent * dual).tangent.tolist() == [27.0, 300.0]
        assert forward_ad.unpack_dual(primal * dual).tangent.tolist() == [3.0, 40.0]
        assert forward_ad.unpack_dual(start * dual).tangent.tolist() == [3.0, 10.0]
        assert forward_ad.unpack_dual(forward_ad.make_dual(X, tangent) * dual).tangent.tolist() == [12.0, 130.0]
        assert str(tangent).startswith("tensor([ 9., 60.], dtype=torch.float64") and "tangent" not in str(tangent)
        if x.requires_grad:
            assert mg.autograd.grad((tangent + primal + start).sum(), x)[0].tolist() == [22.0, 73.0]


def test_hooks_do_not_hear_forward_mode() -> None:
    heard = []

    def f(x: Any) -> Any:
        y = x * x
        y.register_hook(lambda g: (heard.append("tensor"), 100 * g)[1])
        y.grad_fn.register_hook(lambda gi, go: (heard.append("after"), (gi[0] * 100, None))[1])
        y.grad_fn.register_prehook(lambda go: (heard.append("before"), (go[0] * 100,))[1])
        y.retain_grad()
        kept.append(y)
        return y.sum()

    kept: list[Any] = []
    assert jvp(f, (X,), (W,))[1].item() == 26.0
    assert jacfwd(f)(X).tolist() == [2.0, 4.0]
    with forward_ad.dual_level():
        assert forward_ad.unpack_dual(f(forward_ad.make_dual(X, W))).tangent.item() == 26.0
    assert not heard and all(y.grad is None for y in kept)
    grad(f)(X)
    assert heard == ["tensor", "before", "after"]


def test_gradcheck_proves_a_jvp() -> None:
    x = X.clone().requires_grad_()
    assert mg.autograd.gradcheck(Cube.apply, x) and mg.autograd.gradcheck(mg.sin, x, check_forward_ad=True)
    with pytest.raises(RuntimeError) as raised:
        mg.autograd.gradcheck(Cube.apply, x, check_forward_ad=True)
    assert str(raised.value).startswith(
        "Jacobian computed with forward mode mismatch for output 0 with respect to input 0,\n"
        "numerical:tensor([[ 3.0000,  0.0000],\n        [ 0.0000, 12.0000]], dtype=torch.float64)\n"
        "analytical:tensor([[ 4.,  0.],\n        [ 0., 16.]], dtype=torch.float64)\n"
    )
    assert not mg.autograd.gradcheck(Cube.apply, x, check_forward_ad=True, raise_exception=False)
    with pytest.raises(RuntimeError, match="for output 0 with respect to input 0"):
        mg.autograd.gradcheck(Two.apply, (x, W, 5.0), check_forward_ad=True, check_backward_ad=False)
    assert mg.autograd.gradgradcheck(mg.sin, x, check_fwd_over_rev=True)
    for wrong in ({"check_backward_ad": False}, {"check_batched_forward_grad": True}):
        with pytest.raises(AssertionError):
            mg.autograd.gradcheck(mg.sin, x, **wrong)


class Unmapped(Cube):
    generate_vmap_rule = False


class TwoRules(Cube):
    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any) -> Any:
        return x**3, 0


def _with_hooks(x: Any) -> Any:
    with mg.autograd.graph.save_on_cpu():
        return (x * x).sum()


def _jvp_says(answer: Any, forward: Any = None) -> Any:
    class Made(mg.autograd.Function):
        pass

    Made.forward = staticmethod(forward or (lambda ctx, x: x * 1))  # type: ignore[method-assign]
    Made.jvp = staticmethod(lambda ctx, t: answer(t))  # type: ignore[attr-defined]
    with forward_ad.dual_level():
        return Made.apply(forward_ad.make_dual(X.clone(), W))


def _doubled(ctx: Any, x: Any) -> Any:
    ctx.mark_dirty(x)
    return x.mul_(2)


ATTEMPTS = [
    (lambda: _jvp_says(lambda t: 3), "expected Variable or None (got int) for grad output 0."),
    (lambda: _jvp_says(lambda t: (t, t)), "Function's jvp returned an invalid number of forward gradients (expected 1 but"),
    (lambda: _jvp_says(lambda t: t[:1]), "Trying to set a forward gradient that has a different size than that of the"),
    (
        lambda: _jvp_says(lambda t: (t, t), lambda ctx, x: (x * 1, x.long())),
        "Function's jvp returned a gradient at position 1, but  the corresponding forward output is not a differentiable",
    ),
    (lambda: _jvp_says(lambda t: t, _doubled), "An inplace custom Function is not modifying the forward mode gradients"),
    (lambda: _jvp_says(lambda t: 2 * t, _doubled), "An inplace custom Function is not modifying the forward mode gradients"),
    (
        lambda: _jvp_says(lambda t: t[:1] * 1, lambda ctx, x: x[:1]),
        "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view.",
    ),
    (
        lambda: _jvp_says(lambda t: t.clone()[:1], lambda ctx, x: x[:1]),
        "A custom Function is returning a view but the jvp is not returning a view of the given grad input.",
    ),
    (lambda: vmap(lambda x: Two.apply(x, x, 2.0)[0])(X), "In order to use an autograd.Function with functorch transforms"),
    (lambda: vmap(Unmapped.apply)(X), "You tried to vmap over Unmapped, but it does not have vmap support. Please"),
    (lambda: jacfwd(Unmapped.apply)(X), "You tried to vmap over Unmapped, but it does not have vmap support. Please"),
    (lambda: vmap(TwoRules.apply)(X), "You tried to vmap over TwoRules, but it has both generate_vmap_rule=True and an"),
    (lambda: grad(lambda x: (x.sum(), [x, 3]), has_aux=True)(X), "Expected tensors, got unsupported type <class 'int'>"),
    (lambda: jvp(lambda x: (x, "aux"), (X,), (X,), has_aux=True), "Expected tensors, got unsupported type <class 'str'>"),
    (lambda: grad(_with_hooks)(X), "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please"),
    (
        lambda: grad(lambda x: Two.apply(x, W, 2.0)[0].sum())(X),
        "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override the",
    ),
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
    (lambda: jacfwd(lambda x: x * mg.rand(()))(X), "vmap: called random operation while in randomness error mode."),
    (lambda: jacfwd(mg.sin, randomness="any")(X), "Only allowed values for randomness are 'error', 'different', or 'same'."),
    (lambda: vmap(mg.sin, out_dims="0")(X), "vmap(sin, ..., out_dims=0): `out_dims` must be an int, None or a python"),
    (lambda: vmap(mg.sin, out_dims=None)(X), "vmap(sin, ...): `sin` can not return a BatchedTensor when out_dim is None"),
]


@pytest.mark.parametrize(("attempt", "sentence"), ATTEMPTS)
def test_an_attempt_fails_with_pytorchs_words(attempt: Any, sentence: str) -> None:
    with pytest.raises((RuntimeError, ValueError)) as raised:
        attempt()
    assert str(raised.value).startswith(sentence)
