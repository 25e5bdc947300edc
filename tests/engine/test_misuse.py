"""What PyTorch says to somebody who goes wrong with autograd, type and sentence word for word."""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.autograd import Function

ATTEMPTS: list[tuple[str, type[Exception], str]] = [
    # ---- asking for gradients
    ("y.sum().backward(inputs=[c])", RuntimeError, "can't retain_grad on Tensor that has requires_grad=False"),
    ("y.sum().backward(inputs=[None])", RuntimeError, "all inputs have to be Tensors or GradientEdges, but got NoneType"),
    ("y.sum().backward(inputs=3)", TypeError, "'int' object is not iterable"),
    ("y.backward(foo=1)", TypeError, "Tensor.backward() got an unexpected keyword argument 'foo'"),
    ("T.autograd.backward([y.sum(), 'a'])", AssertionError, "Expected output to be a torch.Tensor"),
    ("T.autograd.backward(y.sum(), c, grad_variables=c)", RuntimeError,
     "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use `grad_tensors`."),
    ("T.autograd.grad(y.sum(), 'x')", RuntimeError, "all inputs have to be Tensors or GradientEdges, but got str"),
    ("T.autograd.grad(1.0, [x])", TypeError, "'float' object is not iterable"),
    ("T.autograd.grad([None], [x])", AssertionError, "Expected output to be a torch.Tensor"),
    ("T.autograd.grad(y, x, None, is_grads_batched=True)", RuntimeError,
     "grad can be implicitly created only for scalar outputs"),
    ("T.autograd.grad([y, y], x, [T.ones(2, 3), T.ones(1, 3)], is_grads_batched=True)", ValueError,
     "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes [2, 1] for the mapped dimension"),
    # ---- flags
    ("x.requires_grad_(1)", TypeError, "requires_grad_(): argument 'requires_grad' (position 1) must be bool, not int"),
    ("setattr(x, 'requires_grad', None)", RuntimeError, "requires_grad must be a bool"),
    ("setattr(T.tensor([1]), 'requires_grad', True)", RuntimeError,
     "only Tensors of floating point and complex dtype can require gradients"),
    ("T.set_grad_enabled('on')", TypeError, "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not str"),
    ("setattr(x, 'grad', T.ones(2))", RuntimeError,
     "attempting to assign a gradient of size '[2]' to a tensor of size '[3]'. Please ensure that the gradient and the tensor "
     "are the same size"),
    # ---- numbers
    ("float(y)", ValueError, "only one element tensors can be converted to Python scalars"),
    ("int(c)", ValueError, "only one element tensors can be converted to Python scalars"),
    ("T.autograd.Variable(3)", TypeError, "Variable data has to be a tensor, but got int"),
    # ---- writing
    ("x.__setitem__(slice(None), 1.0)", RuntimeError,
     "a leaf Variable that requires grad is being used in an in-place operation."),
    ("x.unbind()[0].mul_(2)", RuntimeError,
     "Output 0 of Unbind is a view and is being modified inplace. This view is the output of a function that "
     "returns multiple views. Such functions do not allow the output views to be modified inplace. You should replace the "
     "inplace operation by an out-of-place one."),
    ("T.exp(y, out=c)", RuntimeError, "exp(): functions with out=... arguments don't support automatic differentiation, "
     "but one of the arguments requires grad."),
    # ---- hooks
    ("hooked(y, lambda g: 3)", TypeError, "expected Variable, but hook returned 'int'"),
    ("hooked(y, lambda g: (g,))", TypeError, "expected Variable, but hook returned 'tuple'"),
    ("hooked(y, lambda g: g.numpy())", TypeError, "expected Variable, but hook returned 'numpy.ndarray'"),
    ("hooked(y, lambda g: g.double())", RuntimeError,
     "hook '<lambda>' has changed the type of value (was torch.FloatTensor got torch.DoubleTensor)"),
    ("hooked(y.grad_fn, lambda i, o: i[0])", TypeError, "expected tuple, but hook returned 'Tensor'"),
    ("hooked(y.grad_fn, lambda i, o: (i[0],))", RuntimeError,
     "hook '<lambda>' has returned an incorrect number of values (got 1, but expected 2)"),
    ("hooked(y.grad_fn, lambda i, o: ('a', None))", TypeError, "expected Variable, but hook returned 'str'"),
    ("hooked(y.grad_fn, lambda i, o: (None, o[0]))", RuntimeError, "can't replace a None gradient with a non-None value"),
    ("hooked(y.grad_fn, lambda i, o: (i[0][:1], None))", RuntimeError, "hook '<lambda>' has changed the size of value"),
]  # fmt: skip


@pytest.mark.parametrize(("attempt", "kind", "sentence"), ATTEMPTS)
def test_an_attempt_fails_with_pytorchs_words(attempt: str, kind: type[Exception], sentence: str) -> None:
    x = mg.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x * 2

    def hooked(thing: Any, hook: Any) -> None:
        thing.register_hook(hook)
        y.sum().backward()

    with pytest.raises(kind) as caught:
        eval(attempt, {"T": mg, "x": x, "y": y, "c": mg.ones(3), "hooked": hooked})
    assert type(caught.value) is kind
    assert str(caught.value).replace("minigrad", "torch") == sentence


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
        (lambda ctx, x: ctx.mark_dirty(3), numpy_gradient, "mark_dirty can only accept variables, but argument "),
        (lambda ctx, x: ctx.mark_non_differentiable(3), numpy_gradient,
         "mark_non_differentiable only accepts variable arguments, but got "),
        (lambda ctx, x: x * 2, numpy_gradient, "expected Variable or None (got numpy.ndarray)"),
    ],
)  # fmt: skip
def test_a_function_used_wrongly(forward: Any, backward: Any, sentence: str) -> None:
    x = mg.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match=f"^{re.escape(sentence)}$"):
        function(forward, backward).apply(x * 1).sum().backward()


def test_marks_that_pytorch_takes_note_of() -> None:
    def constant(ctx: Any, x: Any) -> Any:
        ctx.mark_non_differentiable(x)
        return x

    def mistaken(ctx: Any, x: Any) -> Any:
        y = x * 2
        ctx.mark_dirty(y)
        return y

    x = mg.ones(3, requires_grad=True)
    assert not function(constant).apply(x).requires_grad
    with pytest.warns(UserWarning, match=r"^ctx\.mark_dirty\(\) received a tensor that was not an input\."):
        function(mistaken).apply(x)


def test_what_a_function_saved_of_its_own_is_named_after_it() -> None:
    def forward(ctx: Any, x: Any) -> Any:
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    z = function(forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(mg.ones(2, requires_grad=True) * 1)
    z.add_(1)
    with pytest.raises(RuntimeError, match=r"FloatTensor \[2\]\], which is output 0 of Made, is at version 1"):
        z.sum().backward()


@pytest.mark.parametrize(
    ("program", "maker"),
    [
        ("v = y[:2]; z = v * v; y.mul_(2)", "AsStrided"),
        ("v = y[:2]; z = v * v; v.mul_(2)", "AsStrided"),
        ("v = y[:2]; z = y * y; v.mul_(2)", "torch::autograd::CopySlices"),
        ("z = y * y; y.mul_(2)", "Mul"),
    ],
)
def test_who_made_what_was_overwritten(program: str, maker: str) -> None:
    names: dict[str, Any] = {"y": mg.ones(4, requires_grad=True) * 1}
    exec(program, names)
    with pytest.raises(RuntimeError, match=f", which is output 0 of {maker}, is at version 1"):
        names["z"].sum().backward()


def test_a_hook_may_take_a_gradient_away() -> None:
    x = mg.ones(2, requires_grad=True)
    y = x * 2
    assert y.grad_fn is not None
    y.grad_fn.register_prehook(lambda gradients: (None,))
    y.sum().backward()
    assert x.grad is None


def test_copies_of_what_was_computed_are_leaves() -> None:
    y = mg.ones(2, requires_grad=True) * 3
    shared, kept = copy.copy(y), pickle.loads(pickle.dumps(y))
    for twin in (shared, kept):
        assert twin.is_leaf and twin.requires_grad and twin.tolist() == [3.0, 3.0]
    with mg.no_grad():
        y.add_(1)
    assert shared.tolist() == [4.0, 4.0] and kept.tolist() == [3.0, 3.0]


def test_versions_are_not_counted_in_inference_mode() -> None:
    with mg.inference_mode():
        x = mg.ones(2) * 2
    with pytest.raises(RuntimeError, match=r"^Inference tensors do not track version counter\.$"):
        _ = x._version
    assert np.asarray(x).tolist() == [2.0, 2.0]


def test_what_a_node_saved_of_a_leaf_is_the_leaf() -> None:
    x = mg.randn(3, requires_grad=True)
    y = x.pow(2)
    assert y.grad_fn is not None and y.grad_fn._saved_self is x
    d = mg.randn(size=(), requires_grad=True)
    assert d.shape == () and not (mg.ones(3) @ mg.ones(3, 2))._is_view()
