"""Mistakes with autograd: the error and the sentence of PyTorch, and the note with the student's own line."""

from __future__ import annotations

import linecache
import traceback
import warnings
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.autograd import grad


def leaf(*values: float) -> Any:
    return mg.tensor(values, dtype=mg.float64, requires_grad=True)


ATTEMPTS: list[tuple[str, type[Exception], str]] = [
    # ---- asking for gradients
    ("y.sum().backward(inputs=[c])", RuntimeError, "can't retain_grad on Tensor that has requires_grad=False"),
    ("y.sum().backward(inputs=[None])", RuntimeError, "all inputs have to be Tensors or GradientEdges, but got NoneType"),
    ("y.sum().backward(inputs=3)", TypeError, "'int' object is not iterable"),
    ("y.backward(foo=1)", TypeError, "Tensor.backward() got an unexpected keyword argument 'foo'"),
    ("T.autograd.backward([y.sum(), 'a'])", AssertionError, "Expected output to be a torch.Tensor"),
    ("T.autograd.grad(y.sum(), 'x')", RuntimeError, "all inputs have to be Tensors or GradientEdges, but got str"),
    ("T.autograd.grad(1.0, [x])", TypeError, "'float' object is not iterable"),
    ("T.autograd.grad([None], [x])", AssertionError, "Expected output to be a torch.Tensor"),
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
    # ---- writing
    ("x.__setitem__(slice(None), 1.0)", RuntimeError,
     "a leaf Variable that requires grad is being used in an in-place operation."),
    ("T.zeros(1).expand(3).copy_(c)", RuntimeError,
     "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() "
     "the tensor before performing the operation."),
    ("T.zeros(1).expand(3).__setitem__(slice(None), 0)", RuntimeError,
     "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() "
     "the tensor before performing the operation."),
    ("c.copy_(c[0])", RuntimeError,
     "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. "
     "Please clone() the tensor before performing the operation."),
    ("T.zeros(2, 1, 3).copy_(T.zeros(2, 3))", RuntimeError,
     "output with shape [2, 1, 3] doesn't match the broadcast shape [2, 2, 3]"),
    ("T.nn.Parameter(T.tensor([1]))", RuntimeError, "Only Tensors of floating point and complex dtype can require gradients"),
    ("T.ones(2, 1).requires_grad_().__setitem__((slice(None), c > 0), 0)", RuntimeError,
     "a leaf Variable that requires grad is being used in an in-place operation."),
    ("T.zeros(0, 3).index_select(0, T.tensor([0]))", RuntimeError, "index_select(): self indexing axis dim should be positive"),
    ("T.meshgrid(c, c.double())", RuntimeError, "meshgrid expects all tensors to have the same dtype"),
    ("c.scatter_add(0, T.tensor([0]), c.double())", RuntimeError, "scatter(): Expected self.dtype to be equal to src.dtype"),
    ("c.masked_fill_(T.ones(2) > 0, 0)", RuntimeError,
     "The size of tensor a (3) must match the size of tensor b (2) at non-singleton dimension 0"),
    ("c.masked_fill(T.ones(2) > 0, 0)", RuntimeError,
     "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0"),
    ("c.fill_(c)", RuntimeError, "fill_ only supports 0-dimension value tensor but got tensor with 1 dimensions."),
    ("x.unbind()[0].mul_(2)", RuntimeError,
     "Output 0 of Unbind is a view and is being modified inplace. This view is the output of a function that "
     "returns multiple views. Such functions do not allow the output views to be modified inplace. You should replace the "
     "inplace operation by an out-of-place one."),
    ("x ^ 2", NotImplementedError, "\"bitwise_xor_cpu\" not implemented for 'Float'"),
    ("1 | x", NotImplementedError, "\"bitwise_or_cpu\" not implemented for 'Float'"),
    ("~x", TypeError, "~ (operator.invert) is only implemented on integer and Boolean-type tensors"),
    ("T.tensor(3.0).permute()", TypeError, "permute() missing 1 required positional argument: 'dims'"),
    ("c.fill_('a')", TypeError, "fill_() received an invalid combination of arguments - got (str)"),
    ("'a' in c", RuntimeError, "Tensor.__contains__ only supports Tensor or scalar, but you passed in a <class 'str'>."),
    ("T.einsum('i->ik', c)", RuntimeError,
     "einsum(): output subscript k does not appear in the equation for any input operand"),
    ("T.einsum('i->ii', c)", RuntimeError, "einsum(): output subscript i appears more than once in the output"),
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


def notes(error: BaseException) -> str:
    return " ".join(getattr(error, "__notes__", []))


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


def test_the_line_of_a_notebook_cell() -> None:
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


def test_an_overwritten_base_of_a_power_is_reported() -> None:
    x = leaf(1.0, 2.0)
    y = x.clone()
    z = (y**2).sum()
    y.sin_()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.backward()
    np.testing.assert_array_equal(x.detach().numpy(), [1.0, 2.0])


def test_what_a_differentiated_backward_pass_saved_is_watched_too() -> None:
    for compute in (lambda c, w: c / w, lambda c, w: c * w, lambda c, w: c @ w):
        c, w = leaf(1.0, 2.0), mg.tensor([3.0, 4.0], dtype=mg.float64)
        f = compute(c, w)
        (g,) = grad((f * f).sum(), c, create_graph=True)
        w.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            grad(g.sum(), f)


def test_numpy_is_refused_where_it_would_lose_the_graph() -> None:
    x = mg.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        np.sin(x)
    with pytest.raises(TypeError, match="unsupported operand"):
        np.ones(2) * x
    with pytest.raises(TypeError, match="must be Tensor"):
        mg.sin(np.ones(2))


def test_an_overwritten_weight_of_a_linear_layer() -> None:
    layer = mg.nn.Linear(16, 1)
    out = layer(mg.ones(4, 16, requires_grad=True))
    with mg.no_grad():
        layer.weight.mul_(2)
    with pytest.raises(RuntimeError, match=r"\[torch.FloatTensor \[16, 1\]\], which is output 0 of AsStrided, is at version 2"):
        out.sum().backward()


def test_numbers_taken_from_tensors_that_require_grad_warn() -> None:
    x = leaf(1.0, 2.0)
    with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar") as caught:
        y = mg.tensor([2 * v for v in x])
    assert not y.requires_grad and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mg.tensor([v.detach() for v in x])
