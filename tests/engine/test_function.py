"""Custom Functions: what forward and backward are given, what may be marked, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

import minigrad as mg
from minigrad.autograd import Function, grad
from minigrad.autograd.graph import saved_tensors_hooks


def leaf(*values: float) -> Any:
    return mg.tensor(values, dtype=mg.float64, requires_grad=True)


class Peek(Function):
    """Returns its input as a view of it."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g


def test_backward_gets_a_gradient_for_every_output() -> None:
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


def test_a_view_out_of_a_function_is_not_written_into() -> None:
    for x in (leaf(1.0).clone(), mg.ones(1, dtype=mg.float64)):
        view = Peek.apply(x)
        with pytest.raises(RuntimeError, match="This view was created inside a custom Function"):
            view += leaf(1.0)
    plain = Peek.apply(mg.ones(1))
    plain += 1  # nothing here is recorded
    assert plain.tolist() == [2.0]


def test_a_function_that_writes_into_a_view_changes_the_graph_of_the_base() -> None:
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


def function(forward: Any, backward: Any = lambda ctx, g: g) -> Any:
    return type("Made", (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def dirty_but_not_returned(ctx: Any, x: Any) -> Any:
    ctx.mark_dirty(x)
    return x * 2


def numpy_gradient(ctx: Any, g: Any) -> Any:
    return g.numpy()


@pytest.mark.parametrize(
    ("forward", "backward", "sentence"),
    [
        (dirty_but_not_returned, numpy_gradient,
         "Some elements marked as dirty during the forward method were not returned as output. The inputs that are modified "
         "inplace must all be outputs of the Function."),
        (lambda ctx, x: x * 2, numpy_gradient, "expected Variable or None (got numpy.ndarray)"),
    ],
)  # fmt: skip
def test_a_function_used_wrongly(forward: Any, backward: Any, sentence: str) -> None:
    x = mg.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match=f"^{re.escape(sentence)}$"):
        function(forward, backward).apply(x * 1).sum().backward()


def test_an_overwritten_output_is_named_after_its_function() -> None:
    def forward(ctx: Any, x: Any) -> Any:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    z = function(forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(mg.ones(2, requires_grad=True) * 1)
    z.add_(1)
    with pytest.raises(RuntimeError, match=r"FloatTensor \[2\]\], which is output 0 of Made, is at version 1"):
        z.sum().backward()


def test_ctx_says_what_it_leaves_out_and_nothing_more() -> None:
    class Old(Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return ctx.saved_variables if ctx.saved_tensors else ctx.factor

    with pytest.raises(AttributeError, match=r"has no attribute 'factor'$"):
        Old.apply(mg.ones(2, requires_grad=True)).sum().backward()
    Old.forward = lambda ctx, x: ctx.save_for_backward(x) or x * 2
    with pytest.raises(AttributeError, match="minigrad leaves out"):
        Old.apply(mg.ones(2, requires_grad=True)).sum().backward()
