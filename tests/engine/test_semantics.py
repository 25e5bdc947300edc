"""Corners of autograd that a comparison with PyTorch's behaviour brought to light, each with the sentence it raises."""

from __future__ import annotations

import gc
import warnings
import weakref
from functools import partial
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.autograd import Function, GradcheckError, grad, gradcheck
from minigrad.autograd.graph import register_multi_grad_hook, saved_tensors_hooks
from minigrad.tape import unusual


def leaf(*values: float) -> Any:
    return mg.tensor(values, dtype=mg.float64, requires_grad=True)


# ------------------------------------------------------------------------------------------- custom Functions


class Peek(Function):
    """Returns its input as a view of it."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g


def test_backward_has_a_place_for_every_output_also_for_those_that_are_no_tensors() -> None:
    seen: list[Any] = []

    class Mixed(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return "name", x * 2, None, x * 3

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            seen.extend(gradients)
            return gradients[1] * 2 + gradients[3] * 3

    x = leaf(1.0, 2.0)
    _, double, _, triple = Mixed.apply(x)
    assert (double.output_nr, triple.output_nr) == (1, 3)
    (double.sum() + 10 * triple.sum()).backward()
    assert seen[0] is None and seen[2] is None and seen[3].tolist() == [10.0, 10.0]
    assert x.grad.tolist() == [32.0, 32.0]


def test_setup_context_gets_the_default_arguments() -> None:
    class Power(Function):
        @staticmethod
        def forward(x: Any, exponent: int = 3) -> Any:
            return x**exponent

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            x, ctx.exponent = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * ctx.exponent * x ** (ctx.exponent - 1), None

    x = leaf(2.0)
    assert grad(Power.apply(x).sum(), x)[0].tolist() == [12.0]
    assert grad(Power.apply(x, exponent=2).sum(), x)[0].tolist() == [4.0]


def test_vjp_is_another_name_for_backward_but_not_a_second_one() -> None:
    class Named(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def vjp(ctx: Any, g: Any) -> Any:
            return g * 2

    class Twice(Named):
        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 2

    x = leaf(1.0)
    assert grad(Named.apply(x).sum(), x)[0].tolist() == [2.0]
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        Twice.apply(x).sum().backward()


def test_a_view_out_of_a_function_cannot_be_written_into() -> None:
    for x in (leaf(1.0).clone(), mg.ones(1, dtype=mg.float64)):
        view = Peek.apply(x)
        with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
            view += leaf(1.0)
    with mg.no_grad():
        view = Peek.apply(leaf(1.0))
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
        view.zero_()
    plain = Peek.apply(mg.ones(1))
    plain += 1  # nothing here is recorded
    assert plain.tolist() == [2.0]


def test_a_function_that_writes_into_a_view_changes_the_history_of_the_base() -> None:
    class AddInto(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            ctx.mark_dirty(x)
            return x.add_(y)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g, g * 5

    x, y = leaf(1.0, 2.0, 3.0), leaf(10.0)
    base = x * 2
    AddInto.apply(base[1:2], y)
    assert base.tolist() == [2.0, 14.0, 6.0]
    base.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0] and y.grad.tolist() == [5.0]


def test_hooks_on_saved_tensors_see_what_a_function_saves() -> None:
    class Square(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return 2 * g * x

    x = leaf(3.0)
    with saved_tensors_hooks(lambda t: t * 10, lambda t: t + 1):
        y = Square.apply(x)
    y.backward()
    assert x.grad.tolist() == [62.0]


# ------------------------------------------------------------------------------------------- views and in-place


def test_a_view_of_one_of_several_views_cannot_be_written_into_either() -> None:
    part = leaf(1.0, 2.0).clone().unbind()[0]
    with pytest.raises(RuntimeError, match="output of a function that returns multiple views"):
        part.view_as(part).mul_(2)


def test_writing_something_that_requires_grad_asks_how_a_plain_view_was_made() -> None:
    x = mg.zeros(2, 2, dtype=mg.float64)
    with mg.no_grad():
        hidden = x[0]
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
        hidden.add_(leaf(1.0))
    with pytest.raises(RuntimeError, match="returns multiple views"):
        x.unbind()[0].copy_(leaf(1.0, 1.0))
    assert x.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    x[1].copy_(leaf(1.0, 1.0))
    assert x.requires_grad and x._base is None and x[1]._base is x and x[1]._is_view()


def test_hooks_stay_with_the_old_view_and_retained_gradients_go_with_the_new() -> None:
    base = leaf(1.0).clone()
    view, other = base[:1], base[:1]
    called: list[Any] = []
    view.register_hook(called.append)
    view.retain_grad()
    other.retain_grad()
    view.mul_(2)
    (view + other).sum().backward()
    assert not called
    assert view.grad.tolist() == other.grad.tolist() == [1.0]


def test_an_in_place_operation_that_keeps_its_own_result_makes_no_circle() -> None:
    def made() -> Any:
        y = leaf(1.0, 2.0).clone()
        y.view(2).exp_()
        y.tanh_()
        return weakref.ref(y.grad_fn)

    gc.disable()
    try:
        assert made()() is None
    finally:
        gc.enable()


def test_data_takes_another_shape_but_not_another_kind() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="must be floating point"):
        x.data = mg.tensor([1])
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got NoneType"):
        x.data = None
    with pytest.raises(RuntimeError, match="Deleting tensor data is not allowed"):
        del x.data
    x.data = mg.ones(3, dtype=mg.float32)
    (x * 2).sum().backward()
    assert x.grad.dtype is mg.float32 and x.grad.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("quiet", "words"),
    [(mg.no_grad, ("no_grad", "with grad mode enabled")), (mg.inference_mode, ("inference", "in normal mode"))],
)
def test_a_view_made_without_recording_is_nobodys_once_its_memory_is_written_to(quiet: Any, words: Any) -> None:
    w = leaf(1.0, 2.0)
    with quiet():
        part, rest = w[:1], w[1:]
        part -= 0.5
        assert str(part) == "tensor([0.5000], dtype=torch.float64, grad_fn=<Invalid>)" and str(w[:1]) != str(part)
    made, written = words
    stale = f"^A view was created in {made} mode and its base or another view of its base has been modified inplace {written}. "
    for use in (lambda: part.grad_fn, lambda: part.is_leaf, lambda: rest.grad_fn, lambda: part * 2):
        with pytest.raises(RuntimeError, match=stale + "Given that this use case is ambiguous"):
            use()
    with pytest.raises(RuntimeError, match=f"^A view was created in {made} mode and is being modified inplace {written}. "):
        part.add_(1)
    assert part.tolist() == [0.5] and w.grad is None and "no_grad" in mg.explain(part)


@pytest.mark.parametrize("quiet", [mg.enable_grad, mg.no_grad])
@pytest.mark.parametrize(("cut", "name"), [("unbind", "Unbind"), ("split", "Split"), ("__iter__", "Unbind")])
def test_one_of_several_views_cannot_be_used_once_its_base_is_written_to(quiet: Any, cut: str, name: str) -> None:
    whole = leaf(1.0, 2.0) * 3
    parts = tuple(getattr(whole, cut)(*[1] * (cut == "split")))
    product = parts[1] * 2
    with quiet():
        whole.mul_(2)
    stale = f"^Output 1 of {name} is a view and its base or another view of its base has been modified inplace. "
    for use in (lambda: parts[1] * 2, lambda: parts[1].grad_fn, lambda: parts[1].is_leaf, lambda: parts[1].sum()):
        with pytest.raises(RuntimeError, match=stale):
            use()
    with pytest.raises(RuntimeError, match=f"^Output 1 of {name} is a view and is being modified inplace. "):
        parts[1].add_(1)
    assert parts[1].requires_grad and str(parts[1]).endswith("grad_fn=<Invalid>)")
    assert "written to since" in mg.explain(parts[1])
    with mg.no_grad():
        assert (parts[1] * 2).sum().item() == parts[1].detach().sum().item() * 2 == 24
    product.sum().backward()


def _with_setup(compute: Any, setup: Any) -> Any:
    class Made(mg.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return compute(x)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            assert not mg.is_grad_enabled()
            setup(ctx, inputs[0], output)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            return 10 * gradients[0]

    return Made.apply


def test_setup_context_may_mark_what_forward_did() -> None:
    x = leaf(1.0, 2.0)
    double = _with_setup(lambda t: t.mul_(2), lambda ctx, t, out: ctx.mark_dirty(t))
    y = x.clone()
    assert double(y) is y and y.grad_fn.name() == "MadeBackward"
    y.sum().backward()
    assert x.grad.tolist() == [10.0, 10.0]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad has been used in an in-place operation"):
        double(x)
    pair = _with_setup(lambda t: (t * 2, t * 3), lambda ctx, t, out: ctx.mark_non_differentiable(out[1]))
    assert [t.requires_grad for t in pair(leaf(1.0))] == [True, False]
    forgotten = _with_setup(lambda t: t * 2, lambda ctx, t, out: ctx.mark_dirty(t))
    with pytest.raises(RuntimeError, match="Some elements marked as dirty during the forward method were not returned"):
        forgotten(leaf(1.0).clone())
    for save in (lambda ctx, t, out: ctx.save_for_backward(t), lambda ctx, t, out: ctx.save_for_backward(out)):
        with pytest.raises(RuntimeError, match="An input that has been returned as-is as output is being saved for backward"):
            _with_setup(lambda t: t, save)(leaf(1.0))


def test_a_function_that_returns_a_view_under_no_grad_returns_a_view() -> None:
    class Alias(mg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, part: bool) -> Any:
            return x[:1] if part else x

    x = leaf(1.0, 2.0)
    with mg.no_grad():
        view, same = Alias.apply(x, True), Alias.apply(x, False)
    assert view.requires_grad and view._base is x and not same.requires_grad and same is not x
    same.zero_()
    assert x.tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match=r"no_grad mode and is being modified inplace .* inside a custom Function"):
        view.zero_()


# ------------------------------------------------------------------------------------------- hooks and passes


def test_a_leaf_is_heard_as_soon_as_its_gradient_is_complete() -> None:
    heard: list[str] = []

    def listen(**tensors: mg.Tensor) -> None:
        for name, t in tensors.items():
            t.register_hook(lambda g, name=name: heard.append(name))

    w, b, v = (mg.ones(shape, requires_grad=True) for shape in ((2, 3), (3,), (3, 1)))
    listen(w=w, b=b, v=v)
    v.register_post_accumulate_grad_hook(lambda p: heard.append("v done"))
    h = mg.ones(4, 2) @ w + b
    out = mg.tanh(h) @ v
    listen(h=h, out=out)
    out.sum().backward()
    assert heard == ["out", "v", "v done", "h", "b", "w"]
    h = mg.ones(4, 2) @ w + b
    listen(h=h)
    heard.clear()
    mg.autograd.grad((mg.tanh(h) @ v).sum(), (w, h))
    assert heard == ["h", "w"]
    x, y, z = (mg.ones(2, requires_grad=True) for _ in range(3))
    listen(x=x, y=y, z=z)
    heard.clear()
    product = x * y
    listen(product=product)
    ((product + z) * x).sum().backward()
    assert heard == ["z", "product", "x", "y"]


def test_where_no_gradient_comes_hooks_are_called_with_none() -> None:
    class Two(mg.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1, x * 2

        @staticmethod
        def backward(ctx: Any, g: Any, h: Any) -> None:
            return None

    x = leaf(1.0)
    y = x.clone()
    first, second = Two.apply(y)
    both = x * 2
    heard: list[Any] = []
    for t in (x, y, second):
        t.register_hook(heard.append)
    y.grad_fn.register_prehook(heard.append)
    y.grad_fn.register_hook(lambda *seen: heard.append(seen))
    register_multi_grad_hook([first, second], lambda gradients: heard.append([g is None for g in gradients]))
    first.sum().backward(retain_graph=True)
    assert sorted(map(str, heard)) == ["((None,), (None,))", "(None,)", "None", "None", "None", "[False, True]"]
    heard.clear()
    both.sum().backward()
    assert heard == [mg.tensor([2.0])]
    second.register_hook(lambda g: mg.ones(1))
    with pytest.raises(RuntimeError, match="can't replace a None gradient with a non-None value"):
        first.sum().backward()


def test_a_hook_on_several_tensors_waits_only_for_those_that_the_pass_reaches() -> None:
    x, y, z = leaf(1.0), leaf(2.0), leaf(3.0)
    seen: list[Any] = []
    register_multi_grad_hook([x, y, z], lambda gradients: seen.append([g is not None for g in gradients]))
    (x * y).backward()
    (x * z).backward(inputs=[z])
    assert seen == [[True, True, False], [False, False, True]]


def test_backward_to_given_inputs_makes_them_retain() -> None:
    x = leaf(1.0)
    y = x * 2
    (y * 3).backward(inputs=[y])
    assert y.retains_grad and y.grad.tolist() == [3.0] and x.grad is None


def test_hooks_of_modules_are_not_called_by_a_pass_through_the_gradient() -> None:
    counted: list[int] = []
    loss = mg.nn.MSELoss()
    loss.register_full_backward_hook(lambda *_: counted.append(1))
    x = leaf(1.0, 2.0)
    (slope,) = grad(loss(x, mg.zeros(2, dtype=mg.float64)), x, create_graph=True)
    grad(slope.sum(), x)
    assert counted == [1]


def test_grad_takes_a_dictionary_and_materializes_what_can_be_differentiated() -> None:
    x, a = leaf(0.5), leaf(1.0)
    (first,) = grad(x * a, x, create_graph=True)
    (second,) = grad(first, x, create_graph=True, materialize_grads=True)
    assert grad(second, x, materialize_grads=True)[0].tolist() == [0.0]
    assert {k: v.tolist() for k, v in grad(x * a, {"x": x, "a": a}).items()} == {"x": [1.0], "a": [0.5]}
    with pytest.raises(RuntimeError, match=r"`inputs` argument to `grad\(\)` cannot be empty"):
        grad(x * a, [])
    with pytest.warns(FutureWarning, match="only_inputs argument is deprecated"):
        grad(x * a, x, only_inputs=False)


def test_what_a_node_keeps_can_be_read_by_pytorchs_names() -> None:
    x = leaf(2.0)
    y = x.exp()
    assert y.grad_fn._saved_result.tolist() == y.tolist()
    z = y * 3
    assert z.grad_fn(mg.ones(1, dtype=mg.float64))[0].tolist() == [3.0]
    w = x * y
    assert w.grad_fn._saved_self is x and w.grad_fn._saved_other.tolist() == y.tolist()
    assert (x**3).grad_fn._saved_exponent == 3
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        z.grad_fn(y, y)
    with pytest.raises(AttributeError, match="_saved_result"):
        z.grad_fn._saved_result  # noqa: B018
    w.backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        w.grad_fn._saved_self  # noqa: B018


def test_gradcheck_runs_the_function_as_it_is() -> None:
    def hooked(x: Any) -> Any:
        y = x.clone()
        y.register_hook(lambda g: g + 0.01)
        return y

    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(hooked, leaf(1.0, 2.0))
    with pytest.raises(AssertionError, match="return outputs with the same shape when inputs are perturbed"):
        gradcheck(lambda x: mg.cat([x, x]) if mg.all(x >= 1) else x, leaf(1.0))


# ------------------------------------------------------------------------------------------- grad modes


def test_what_is_thrown_into_a_decorated_generator_arrives_there() -> None:
    @mg.no_grad()
    def modes() -> Any:
        try:
            yield mg.is_grad_enabled()
        except KeyError:
            yield mg.is_grad_enabled()
        finally:
            ended.append(mg.is_grad_enabled())

    ended: list[bool] = []
    steps = modes()
    assert next(steps) is False and mg.is_grad_enabled()
    assert steps.throw(KeyError("x")) is False and mg.is_grad_enabled()
    steps.close()
    assert ended == [False] and mg.is_grad_enabled()


def test_decorating_a_class_warns() -> None:
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @mg.no_grad()
        class Quiet:
            enabled = mg.is_grad_enabled()

    assert Quiet().enabled


def test_numpy_of_what_requires_grad_is_fine_where_nothing_is_recorded() -> None:
    x = leaf(1.0)
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        x.numpy()
    with mg.no_grad():
        assert x.numpy().tolist() == x.numpy(force=True).tolist() == [1.0]


# ------------------------------------------------------------------------------------------- old constructors


# ------------------------------------------------------------------------------------------- nothing silently different


def test_gather_and_scatter_take_an_index_without_dimensions() -> None:
    x = leaf(1.0, 2.0, 3.0)
    picked = x.gather(0, mg.tensor(2))
    picked.backward()
    assert picked.shape == () and picked.item() == 3.0 and x.grad.tolist() == [0.0, 0.0, 1.0]
    assert mg.zeros(3).scatter(0, mg.tensor(1), 5.0).tolist() == [0.0, 5.0, 0.0]
    assert mg.zeros(3).scatter_add(0, mg.tensor(1), mg.tensor(5.0)).tolist() == [0.0, 5.0, 0.0]


def test_an_overwritten_value_that_the_table_cannot_name_is_still_reported() -> None:
    x = leaf(1.0, 2.0)
    y = x.clone()
    z = (y**2).sum()
    y.sin_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.backward()
    np.testing.assert_array_equal(x.detach().numpy(), [1.0, 2.0])


# ------------------------------------------------------------------------------------------- names and places


def test_one_number_everywhere_may_be_written_into_an_expanded_tensor() -> None:
    for write, value in ((lambda t: t.zero_(), 0.0), (lambda t: t.fill_(3), 3.0), (lambda t: t.fill_(mg.tensor(4)), 4.0)):
        x = mg.ones(1).expand(3)
        write(x)
        assert x.tolist() == [value] * 3
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        mg.ones(1).expand(3).add_(1)


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (lambda x: x.t(), "TBackward0"),
        (lambda x: x[0].t(), "TBackward0"),
        (lambda x: x.sum().softmax(0), "SoftmaxBackward0"),
        (lambda x: x.trace(), "TraceBackward0"),
        (lambda x: x[0].diag(), "DiagEmbedBackward0"),
        (lambda x: x.diag(), "DiagonalBackward0_copy"),
        (lambda x: x.roll(1), "RollBackward0"),
        (lambda x: x.split([1, 1])[0], "SplitWithSizesBackward0"),
        (lambda x: (x * 1).zero_(), "ZeroBackward0"),
        (lambda x: (x * 1).fill_(2), "FillBackward2"),
        (lambda x: (x * 1).fill_(x.sum()), "FillBackward3"),
        (lambda x: (x * 1).unsqueeze_(0), "UnsqueezeBackward1"),
        (lambda x: (x * 1).squeeze_(), "SqueezeBackward3"),
        (lambda x: x[..., :2], "AliasBackward0"),
        (lambda x: x.clamp_min(0), "ClampMinBackward0"),
        (lambda x: x.clamp_max(mg.tensor(1.0)), "ClampMaxBackward1"),
        (lambda x: x[:2], "SliceBackward0"),
    ],
)
def test_nodes_have_pytorchs_names(made: Any, name: str) -> None:
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    assert type(made(x).grad_fn).__name__ == name


def test_a_rest_of_zero_keeps_its_sign() -> None:
    assert str((mg.tensor([2.0, -2.0]) % mg.tensor([-2.0, 2.0])).tolist()) == "[0.0, -0.0]"
    assert (mg.tensor([5.0, -5.0]) % mg.tensor([-3.0, 3.0])).tolist() == [-1.0, 1.0]


def test_alpha_beside_integers_and_booleans() -> None:
    ones = mg.tensor([1])
    with pytest.raises(RuntimeError, match="argument alpha must not be a floating point number"):
        ones.add(ones, alpha=1.5)
    assert mg.tensor([True, False]).add(mg.tensor([True, False]), alpha=2).tolist() == [True, False]
    assert mg.tensor([1.0]).sub(ones, alpha=1.5).tolist() == [-0.5]


def test_strict_functional_derivatives_say_what_does_not_depend() -> None:
    from minigrad.autograd import functional

    x, v = mg.ones(2), mg.ones(2)
    with pytest.raises(RuntimeError, match="jacobian of the user-provided function with respect to input 0 is independent"):
        functional.hessian(lambda x: x.sum(), x, strict=True)
    with pytest.raises(RuntimeError, match="Output 0 of the user-provided function does not require gradients"):
        functional.vjp(lambda x: x.detach(), x, v, strict=True)
    with pytest.raises(RuntimeError, match="strict mode when create_graph=True"):
        functional.vjp(lambda x: x * 2, x, v, strict=True, create_graph=True)
    with pytest.raises(RuntimeError, match="are not supported together"):
        functional.jacobian(lambda x: x, x, strict=True, vectorize=True)
    with pytest.raises(RuntimeError, match=r"The given v should contain a single Tensor\."):
        functional.vjp(lambda x: x, x, (v, v))
    with pytest.raises(TypeError, match="The inputs given to hvp must be either a Tensor or a tuple of Tensors"):
        functional.hvp(lambda x: x.sum(), [x], v)


def test_gradcheck_nudges_the_very_tensor() -> None:
    x = leaf(1.0, 2.0)
    assert gradcheck(lambda _: (x * x).sum(), x)
    assert x.tolist() == [1.0, 2.0]


# ------------------------------------------------------------------------------------------- booleans

def test_powers_of_booleans() -> None:
    b = mg.tensor([True, False])
    assert (b**True).dtype is mg.bool and (b**True).tolist() == [True, False] and (b**False).tolist() == [True, True]
    assert (b**2).dtype is mg.int64 and (b**2).tolist() == [1, 0]
    assert (mg.tensor([3, 4]) ** False).tolist() == [1, 1] and (mg.tensor([3, 4]) ** b).tolist() == [3, 1]


# ------------------------------------------------------------------------------------------- refusals, layouts


def test_lerp_wants_one_type() -> None:
    x = mg.ones(2)
    with pytest.raises(RuntimeError, match=r"^expected dtype float for `end` but got dtype double$"):
        x.lerp(x.double(), 0.5)
    with pytest.raises(RuntimeError, match=r"^expected dtype float for `weight` but got dtype long int$"):
        x.lerp(x, mg.tensor([1, 1]))
    assert x.lerp(mg.zeros(2), mg.tensor(0.5, dtype=mg.float64)).tolist() == [0.5, 0.5]


def test_a_number_has_no_dimension_to_roll_along() -> None:
    with pytest.raises(IndexError, match=r"^Dimension specified as -1 but tensor has no dimensions$"):
        mg.tensor(1.0).roll(1, -1)
    with pytest.raises(RuntimeError, match=r"must align. shifts: 2, dims:1$"):
        mg.tensor(1.0).roll((1, 2), 0)
    assert mg.tensor(1.0).roll(1).item() == 1.0


def test_masked_fill_names_first_what_is_written_into() -> None:
    mask = mg.ones(3) > 0
    with pytest.raises(RuntimeError, match=r"tensor a \(2\) must match the size of tensor b \(3\)"):
        mg.ones(2).masked_fill_(mask, 1.0)
    with pytest.raises(RuntimeError, match=r"tensor a \(3\) must match the size of tensor b \(2\)"):
        mg.ones(2).masked_fill(mask, 1.0)


def test_masked_fill_lays_its_result_out_in_rows() -> None:
    filled = mg.ones(2, 3).t().masked_fill(mg.tensor([True, False]), 0.0)
    assert filled.stride() == (2, 1) and filled.view(-1).tolist() == [0.0, 1.0] * 3
    assert mg.tensor(1.0).masked_fill(mg.tensor(True), 2.0).shape == ()


# ------------------------------------------------------------------------------------------- what is masked is 0

INF, NAN = float("inf"), float("nan")

# An expression in x = (-2, 0, 1, nan), and what reaches x from the gradient (inf, -inf, 1, nan) and from (1, 1, 1, 1).
MASKED: list[tuple[str, list[float], list[float]]] = [
    ("x.relu()", [0.0, 0.0, 1.0, NAN], [0.0, 0.0, 1.0, 1.0]),
    ("T.maximum(x, x * 0 - 0.5)", [NAN, -INF, 1.0, NAN], [0.0, 1.0, 1.0, 1.0]),
    ("T.maximum(x, T.tensor(-0.5))", [0.0, -INF, 1.0, NAN], [0.0, 1.0, 1.0, 1.0]),
    ("T.minimum(x, T.tensor(-0.5))", [INF, 0.0, 0.0, NAN], [1.0, 0.0, 0.0, 1.0]),
    ("T.fmax(x, T.tensor(-0.5))", [0.0, -INF, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]),
    ("x.clamp(min=-0.5)", [0.0, -INF, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]),
    ("x.clamp(-1, 0.5)", [0.0, -INF, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]),
    ("x.masked_fill(x < 0, 3.0)", [0.0, -INF, 1.0, NAN], [0.0, 1.0, 1.0, 1.0]),
    ("T.where(x < 0, 3.0, x)", [0.0, -INF, 1.0, NAN], [0.0, 1.0, 1.0, 1.0]),
    ("F.hardtanh(x)", [0.0, -INF, 0.0, NAN], [0.0, 1.0, 0.0, 1.0]),
    ("F.relu6(x)", [0.0, 0.0, 1.0, NAN], [0.0, 0.0, 1.0, 1.0]),
    ("F.hardshrink(x, 0.5)", [INF, 0.0, 1.0, NAN], [1.0, 0.0, 1.0, 1.0]),
    ("F.celu(x)", [INF, -INF, 1.0, NAN], [0.1353352832366127, 1.0, 1.0, 1.0]),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "of_infinite", "of_ones"), MASKED)
def test_a_masked_share_is_zero_whatever_it_masks(
    expression: str, of_infinite: list[float], of_ones: list[float]
) -> None:
    for repeat in (1, 1000):  # in bulk another way is faster
        for given, expected in (([INF, -INF, 1.0, NAN], of_infinite), ([1.0] * 4, of_ones)):
            x = leaf(*[-2.0, 0.0, 1.0, NAN] * repeat)
            y = eval(expression, {"T": mg, "F": mg.nn.functional, "x": x})
            for create_graph in (False, True):
                (g,) = grad(y, x, mg.tensor(given * repeat, dtype=mg.float64), retain_graph=True, create_graph=create_graph)
                assert np.array_equal(g.detach().numpy(), expected * repeat, equal_nan=True)


def test_a_maximum_over_everything_gives_nothing_to_the_others_and_a_nan_takes_it() -> None:
    x = leaf(1.0, 3.0, 3.0)
    x.max().backward(mg.tensor(INF, dtype=mg.float64))
    assert x.grad.tolist() == [0.0, INF, INF]
    x = leaf(1.0, NAN)
    x.max().backward()
    assert x.grad.tolist() == [0.0, 1.0]
    x = leaf(1.0, NAN)
    x.amax().backward()
    assert np.isnan(x.grad.numpy()).all()


def test_clamping_between_equal_bounds_reaches_the_upper_one_only_from_above() -> None:
    low, high = leaf(0.0, 0.0), leaf(0.0, 0.0)
    leaf(-1.0, 1.0).clamp(low, high).sum().backward()
    assert (low.grad.tolist(), high.grad.tolist()) == ([0.0, 0.0], [0.0, 1.0])


# ------------------------------------------------------------------------------------------- cut off in place


def test_a_tensor_that_a_node_kept_cannot_be_detached_in_place() -> None:
    x = leaf(1.0, 2.0)
    y = x * 2
    z = y * y
    y.detach_()
    with pytest.raises(RuntimeError, match=r"^Trying to use a saved tensor that has been detached in-place, i\.e\. with "):
        z.sum().backward()
    assert x.grad is None


def test_detached_in_place_where_nobody_kept_it() -> None:
    x = leaf(1.0, 2.0)
    y = x.exp()  # keeps its result, which is its own
    z, constant = y + 1, mg.tensor([3.0, 4.0], dtype=mg.float64)
    scaled = z * constant
    y.detach_()
    constant.detach_()
    scaled.sum().backward()
    assert np.allclose(x.grad.numpy(), [3 * np.e, 4 * np.e**2])
    y.add_(1)
    assert y._version == 1 and not y.requires_grad
    y.requires_grad_()
    (y * y).sum().backward()  # a leaf by now, and kept anew
    assert y.grad.tolist() == (2 * y).tolist()


def test_a_leaf_that_was_frozen_for_a_while_is_the_same_leaf() -> None:
    x, seen = leaf(1.0, 2.0), []
    x.register_hook(lambda g: seen.append(g.tolist()))
    y = x * x
    x.requires_grad_(False)
    assert not x.requires_grad and x.is_leaf
    x.requires_grad_(True)
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0] == seen[0]


# ------------------------------------------------------------------------------------------- corners of operations


def test_writing_a_mask_into_an_expanded_tensor_warns_and_writes_where_the_mask_is() -> None:
    x = mg.ones(3, 1).expand(3, 3)
    with pytest.warns(UserWarning, match="^Use of masked_fill_ on expanded tensors is deprecated. Please clone"):
        x.masked_fill_(mg.tensor([[True, False, False], [False] * 3, [False] * 3]), 2.0)
    assert x.tolist() == [[2.0] * 3, [1.0] * 3, [1.0] * 3]
    with pytest.warns(UserWarning, match="^Use of index_put_ on expanded tensors is deprecated"):
        x[mg.tensor([1])] = 3.0
    assert x.tolist() == [[2.0] * 3, [3.0] * 3, [1.0] * 3]
    assert mg.ones(3, 1).expand(3, 3).tril_().tolist() == [[0.0] * 3, [0.0] * 3, [1.0] * 3]


def test_a_slice_cannot_be_written_from_one_that_overlaps_it() -> None:
    x = mg.arange(6.0)
    with pytest.raises(RuntimeError, match=r"^unsupported operation: some elements of the input tensor and the written-to"):
        x[0:5] = x[1:6]
    x[0:3] = x[3:6]
    assert x.tolist() == [3.0, 4.0, 5.0, 3.0, 4.0, 5.0]


# ------------------------------------------------------------------------------------------- edges and hooks that stay open


def test_hooks_on_saved_tensors_that_a_backward_pass_left_open_end_with_it() -> None:
    x, packed = leaf(1.0, 2.0), []

    def open_hooks(g: Any) -> None:
        saved_tensors_hooks(lambda t: packed.append(t), lambda t: t).__enter__()

    x.register_hook(open_hooks)
    (x * x).sum().backward()
    assert (x * x).sum().requires_grad and not packed


def test_what_a_hook_packed_as_it_is_comes_back_with_its_node_and_keeps_no_graph_alive() -> None:
    x, seen = leaf(1.0, 2.0), []
    with saved_tensors_hooks(lambda t: t, lambda t: seen.append(t.grad_fn) or t):
        double = x * 2
        z = (double * x).exp()
    power = weakref.ref(z.grad_fn)
    z.sum().backward(retain_graph=True)
    assert seen == [power(), None, double.grad_fn]
    seen.clear()
    del z
    assert power() is None

    def made_under_hooks_that_remember() -> Any:
        remembered: list[Any] = []
        with saved_tensors_hooks(lambda t: remembered.append(t) or t, lambda t: t):
            return x.exp()

    z = made_under_hooks_that_remember()
    power = weakref.ref(z.grad_fn)
    del z
    assert power() is None


class Countdown(Function):
    """Its backward runs a backward pass through itself, one less deep."""

    fails = False

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.x = x.detach() - 1
        return x.detach() * 1

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        if ctx.x < 0:
            if Countdown.fails:
                raise ValueError("the deepest")
            return g
        with mg.enable_grad():
            Countdown.apply(ctx.x.requires_grad_()).sum().backward()
        assert not mg.is_grad_enabled()
        return g


def test_backward_passes_within_one_another_a_thousand_deep(monkeypatch: pytest.MonkeyPatch) -> None:
    x = mg.tensor(1200.0, requires_grad=True)
    Countdown.apply(x).sum().backward()
    assert x.grad is not None and x.grad.item() == 1.0
    assert mg.is_grad_enabled() and not unusual
    monkeypatch.setattr(Countdown, "fails", True)
    with pytest.raises(ValueError, match=r"^the deepest$"):
        Countdown.apply(mg.tensor(99.0, requires_grad=True)).sum().backward()


def test_a_write_into_part_of_a_turned_tensor_takes_that_parts_gradient_away() -> None:
    """The gradient of a turned tensor lies in memory in another order than it is read."""
    a = mg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    y = a.T * 1.5
    y[0] = y[-1] * 2
    (y * y).sum().backward()
    assert a.grad.tolist() == [[0.0, 9.0, 67.5], [0.0, 22.5, 135.0]]


# ------------------------------------------------------------------------------------------- one memory, two tensors


def test_the_differentiable_gradient_of_a_mean_may_be_written_into() -> None:
    x = leaf(1.0, 3.0)
    for mean in (x.mean(), x.mean(0), x.mean(-1, keepdim=True)):
        (g,) = grad((mean * mean).sum(), x, create_graph=True)
        assert g.mul_(2).tolist() == [4.0, 4.0] and not g._is_view()


def test_what_softmax_of_one_number_kept_is_watched() -> None:
    for name in ("softmax", "log_softmax"):
        y = getattr(leaf(1.5)[0], name)(-1)
        y.mul_(3)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.backward()


@pytest.mark.parametrize(
    ("write", "after"),
    [
        ("a[0] = a[0, 1]", [[2, 2, 2], [4, 5, 6], [7, 8, 9]]),
        ("a[a > 3] = a[0, 0]", [[1, 2, 3], [1, 1, 1], [1, 1, 1]]),
        ("a.fill_(a[2, 2])", [[9, 9, 9]] * 3),
        ("a[0].mul_(a[:, 0])", [[1, 8, 21], [4, 5, 6], [7, 8, 9]]),
        ("a[:, :2] = a[:, 1:]", [[2, 3, 3], [5, 6, 6], [8, 9, 9]]),
        ("a[:, [0, 1]] = a[:, 1:]", [[2, 3, 3], [5, 6, 6], [8, 9, 9]]),
        ("a[::2].mul_(a[1])", [[4, 10, 18], [4, 5, 6], [28, 40, 54]]),
    ],
)
def test_a_tensor_may_be_written_from_its_own_numbers(write: str, after: list[list[float]]) -> None:
    a = mg.arange(1.0, 10.0).reshape(3, 3)
    exec(write, {"a": a})
    assert a.tolist() == after


@pytest.mark.parametrize(
    "write",
    ["a[1:] = a[:-1]", "a.add_(a.t())", "a.mul_(a[0, 0])", "a[:1].mul_(a[0])", "a[:, 1:] += a[:, :-1]", "a[1:].copy_(a[:2])",
     "a.copy_(a[2])", "a[[0, 2]] = a[:2]", "a[[0, 2]] = a[0]", "a[[2, 1, 0]] = a",
     "a.index_put_((a[0].argsort(),), a, accumulate=True)"],
)  # fmt: skip
def test_but_not_where_the_order_of_writing_would_matter(write: str) -> None:
    a = mg.arange(1.0, 10.0).reshape(3, 3)
    with pytest.raises(RuntimeError, match=r"^unsupported operation: some elements of the input tensor and the written-to"):
        exec(write, {"a": a})
    assert a.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]


@pytest.mark.parametrize(
    ("program", "seen"),
    [  # as PyTorch 2.13 has it; programs.py found them
        ("b = T.tensor([1.0, 2.0]); v = b[:1]; b.requires_grad_(); w = v * 2; w.sum().backward()",
         "v.requires_grad, w.requires_grad, b.grad, v.grad == (True, True, None, None)"),
        ("b = T.tensor([1.0, 2.0]); v = b[:1]; b.requires_grad_(); b.requires_grad_(False)", "not (v * 2).requires_grad"),
        ("a = T.ones(2).requires_grad_() * 1\nwith T.inference_mode(): d = a[0]",
         "(d * 2).requires_grad and not d.is_inference()"),
        ("a = T.ones(2).requires_grad_() * 1; d = a[:1]\nwith T.inference_mode(): d.mul_(2)",
         "d.grad_fn.name() == 'AsStridedBackward0'"),
        ("b = T.ones(1, 3).requires_grad_()\nwith T.no_grad(): b.t_()\nb.max(-1).values.sum().backward()",
         "b.grad.shape == (3, 1)"),
        ("f = T.ones(2).requires_grad_() * 1\nwith T.no_grad(): d = f[0]\nf.detach_()", "not d.requires_grad"),
        ("x = T.ones(2, 3).requires_grad_(); a = x * 1; f = a[:1]\nwith T.no_grad(): a.t_()",
         "a.grad_fn.name(), f.grad_fn.name(), a.shape == ('MulBackward0', 'AsStridedBackward0', (3, 2))"),
        ("x = T.ones(2, 3).requires_grad_(); a = x * 1; f = a[:1]\nwith T.no_grad(): f.squeeze_()\nf.sum().backward()",
         "x.grad.tolist(), f.grad_fn.name() == ([[1, 1, 1], [0, 0, 0]], 'AsStridedBackward0')"),
        ("x = T.ones(2, 3).requires_grad_(); a = x * 1; b = a[:]; f = a[:1]; b.squeeze_()",
         "f.grad_fn.name() == 'AsStridedBackward0'"),
        ("b = T.ones(3).requires_grad_(); d = T.ones(2, 3, 4).clone(); y = b @ d; d.mul_(2); y.sum().backward()",
         "b.grad.tolist() == [8, 8, 8]"),
        ("d = T.ones(2, 3, 4).requires_grad_() @ T.ones(4); d.neg_()", "d.grad_fn.name() == 'NegBackward0'"),
        ("a = T.tensor(float('nan')).requires_grad_(); a.prod().backward(); a.prod(0).backward()", "a.grad.item() == 2"),
        ("b = T.ones(2, 3, 4).permute(2, 0, 1); c = b.clone(), T.zeros_like(b), T.ones_like(b), b.flip(0)",
         "{m.stride() for m in c} == {(1, 12, 4)}"),
        ("a = T.ones(2, 3).t(); c = a.sort(-1)[0], a.argsort(-1), a.argsort(0, descending=True)",
         "{m.stride() for m in c} == {(1, 3)}"),
        ("b = T.zeros(3); b.index_put_((T.tensor([True, False, True]),), T.tensor(2))", "b.tolist() == [2, 0, 2]"),
        ("b = T.ones(2, 3, 4).permute(2, 0, 1); c = b.contiguous(), b[:, :, ::2].clone().contiguous()",
         "c[0].stride(), c[1].stride() == ((6, 3, 1), (4, 2, 1))"),
    ],
)  # fmt: skip
def test_corners_that_random_programs_found(program: str, seen: str) -> None:
    names: dict[str, Any] = {"T": mg}
    exec(program, names)
    left, _, right = seen.partition(" == ")
    assert eval(f"({left})", names) == (eval(right, names) if right else True)


def test_what_is_added_at_indices_has_the_shape_of_the_rest() -> None:
    with pytest.raises(RuntimeError, match=r"^source tensor shape must match self tensor shape, excluding the specified dim"):
        mg.ones(1, 1, 4).index_add(0, mg.tensor([0]), mg.ones(1))


def test_what_a_write_into_a_view_kept_is_given_back() -> None:
    x = leaf(1.0, 2.0)
    y = x * 1
    y[:1] += 1
    y.sum().backward()
    with pytest.raises(RuntimeError, match=r"^Trying to backward through the graph a second time"):
        y.sum().backward()


def test_a_write_that_nobody_records_makes_views_be_read_anew() -> None:
    a = leaf(1.0, 2.0, 3.0) * 2
    c = a[1:]
    s = c.sum()
    with mg.no_grad():
        a.mul_(1)
    assert grad(s, c, allow_unused=True, retain_graph=True) == (None,)  # s came from what c was
    assert type(c.grad_fn).__name__ == "AsStridedBackward0" and grad(c.sum(), a)[0].tolist() == [0.0, 1.0, 1.0]
    d = a[1:]
    a.data.mul_(2)  # unnoticed
    assert type(d.grad_fn).__name__ == "SliceBackward0"


def test_what_a_tensor_retains_follows_it_also_when_a_view_of_it_is_written() -> None:
    a = leaf(1.0, 2.0, 3.0) * 2
    a.retain_grad()
    a[1:].mul_(2)
    a.sum().backward()
    assert a.grad.tolist() == [1.0, 1.0, 1.0]


def test_views_of_nothing_are_views() -> None:
    b = mg.zeros(0, 3)
    d = b.diagonal()
    b.zero_()
    assert d._version == 1


def test_too_many_masks_are_noticed_before_a_leaf_is() -> None:
    x = leaf(1.0, 2.0)
    with pytest.raises(IndexError, match="too many indices"):
        x[mg.zeros(2, 2) > 0] = 1.0
    with pytest.raises(RuntimeError, match=r"^a leaf Variable"):
        x[[0, 9]] = 1.0


def test_what_is_overwritten_twice_through_a_turned_tensor_gets_no_gradient() -> None:
    b, x = leaf(1.0, 2.0), mg.ones(3, 2, dtype=mg.float64, requires_grad=True)
    a = (x * 1).T
    a[:, 0] = b * 2
    a[:, 0] = 0.5
    weights = mg.arange(6.0, dtype=mg.float64).reshape(3, 2)
    (a.T * weights).sum().backward()
    assert b.grad.tolist() == [0.0, 0.0]
    assert x.grad.tolist() == [[0.0, 0.0], [2.0, 3.0], [4.0, 5.0]]


def test_new_tensors_lie_in_order_also_where_their_inputs_do_not() -> None:
    e, p = mg.arange(6.0).reshape(2, 3).T, mg.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1)
    for made in (mg.cat([e, e]), mg.stack([e, e]), e.softmax(0), e.cumsum(0), p.mean(1), p.amax(1), p.sum(1)):
        assert made.view(-1).shape == (made.numel(),)


def test_what_a_differentiated_backward_pass_kept_is_watched_too() -> None:
    for compute in (lambda c, w: c / w, lambda c, w: c * w, lambda c, w: c @ w):
        c, w = leaf(1.0, 2.0), mg.tensor([3.0, 4.0], dtype=mg.float64)
        f = compute(c, w)
        (g,) = grad((f * f).sum(), c, create_graph=True)
        w.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            grad(g.sum(), f)


def test_writes_do_not_reach_views_of_a_detached_tensor() -> None:
    a = leaf(1.0, 2.0) * 2
    part = a.detach()[1:]
    a.mul_(2)
    assert part.tolist() == [8.0] and not part.requires_grad


def test_a_view_made_without_recording_requires_grad_and_gets_none() -> None:
    x = leaf(1.0, 2.0)
    for base in (x, x * 2):
        with mg.no_grad():
            view = base[1:]
        assert view.requires_grad and view.is_leaf
        y = (view * 3).sum()
        y.backward()
        assert y.requires_grad and view.grad is None and x.grad is None
        assert grad((view * 3).sum(), view, allow_unused=True) == (None,)
        with pytest.raises(RuntimeError, match="A view was created in no_grad mode"):
            view.mul_(2)


def test_what_a_function_marks_dirty_counts_as_written_once_more() -> None:
    class Dirty(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x.mul_(3))
            return x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3

    y = leaf(1.0) * 1
    assert Dirty.apply(y)._version == 2


# ------------------------------------------------------------------------------------------- what single nodes keep


def test_a_tensor_that_several_rules_need_is_saved_once() -> None:
    x, y = leaf(2.0, 3.0), leaf(4.0, 5.0)
    for f, n in ((lambda: x / y, 2), (lambda: mg.maximum(x, y), 2), (lambda: x**y, 3), (lambda: x * x, 2)):
        log: list[str] = []

        def note(t: Any, word: str, log: list[str] = log) -> Any:
            log.append(word)
            return t

        with saved_tensors_hooks(partial(note, word="packed"), partial(note, word="fetched")):
            out = f()
        out.sum().backward()
        assert log == ["packed"] * n + ["fetched"] * n


def test_gradcheck_wants_zeros_for_zeros() -> None:
    class Shifted(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            if g is None:
                raise RuntimeError("nothing arrives")
            return g

    class Loose(Shifted):
        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return mg.ones(2, dtype=mg.float64) if g is None else g

    class Unscaled(Loose):
        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g if g.any() else g + 1

    with pytest.raises(GradcheckError, match="backward not multiplied by grad_output"):
        gradcheck(Unscaled.apply, leaf(1.0, 2.0))
    for kind, sentence in ((Shifted, "Expected backward function to handle undefined output grads"),
                           (Loose, "Expected all input grads to be undefined or zero when all output grads are")):  # fmt: skip
        with (
            pytest.warns(UserWarning, match="New undefined gradient support"),
            pytest.raises(GradcheckError, match=sentence),
        ):
            gradcheck(kind.apply, leaf(1.0, 2.0))
        assert gradcheck(kind.apply, leaf(1.0, 2.0), check_undefined_grad=False)


def test_a_view_made_in_inference_mode_is_what_its_base_is() -> None:
    w = leaf(1.0, 2.0)
    x = w * 3
    z = x * x
    with mg.inference_mode():
        view, made = x.view(2), mg.ones(2).view(2)
        assert not view.is_inference() and made.is_inference() and w[:1].requires_grad
        view.mul_(2)
    assert view._version == 1
    with pytest.raises(RuntimeError, match="has been modified by an inplace operation"):
        z.sum().backward()


def test_a_view_of_a_view_made_without_recording() -> None:
    with mg.no_grad():
        y = mg.zeros(6).view(6)
    y.requires_grad_()
    with pytest.raises(RuntimeError, match=r"^Output 0 of Select is a view of a view which was created in no_grad mode and is"):
        y.view(2, 3)[0].mul_(2)


def test_in_inference_mode_nothing_is_recorded_whatever_is_asked_for() -> None:
    x = mg.ones(2, requires_grad=True)
    with mg.inference_mode(), mg.enable_grad():
        y = x * 2
        assert mg.is_grad_enabled() and not y.requires_grad and y.is_inference()
        with mg.no_grad():
            assert not mg.is_grad_enabled()
        with mg.inference_mode(False):
            assert (x * 2).requires_grad
    assert (x * 2).requires_grad and mg.is_grad_enabled()
