"""Derivatives of functions: jacobian, hessian, and products with a vector.

Each calls the student's function on fresh leaves, so the inputs do not change.
The call is recorded, also within `no_grad`.  A Jacobian is built from one
backward pass per output element; J v from two backward passes: the derivative
of uᵀ J with respect to u, times v.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import errors
from ..errors import check
from ..operation import public
from ..ops.creation import ones_like, zeros_like
from ..ops.shapes import stack
from ..tape import enable_grad, grad
from ..tensor import Tensor

Func = Callable[..., Any]
Tensors = tuple[Tensor, ...]
Pair = tuple[Any, Any]


@public
@enable_grad()
def jacobian(
    func: Func, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False
) -> Any:
    """d func(inputs) / d inputs, of shape output.shape + input.shape.

    For several inputs or outputs nested in tuples.  strict: RuntimeError if an
    output does not depend on an input (else zeros).  `vectorize` changes nothing.

    >>> torch.autograd.functional.jacobian(lambda x: x**2, torch.tensor([1.0, 3.0]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    xs, ys, one_input, one_output = evaluated("jacobian", func, inputs, create_graph)
    rows = []
    for i, y in enumerate(ys):
        row = tuple(block(y, x, create_graph) for x in xs)
        for j, x in enumerate(xs):
            words = f"Output {i} of the user-provided function is independent of input {j}."
            check(not strict or depends(y, x), f"{words} This is not allowed in strict mode.")
        rows.append(row[0] if one_input else row)
    return rows[0] if one_output else tuple(rows)


def depends(y: Tensor, x: Tensor) -> bool:
    if not y.requires_grad:
        return False
    return grad(y.sum(), x, None, True, allow_unused=True)[0] is not None


def block(y: Tensor, x: Tensor, create_graph: bool) -> Tensor:
    """The Jacobian of one output with respect to one input."""
    rows = [gradients([each], [x], None, create_graph)[0] for each in y.reshape(-1)]
    whole: Tensor = stack(rows).reshape((*y.shape, *x.shape))
    return whole if create_graph else whole.detach()


@public
def hessian(func: Func, inputs: Any, create_graph: bool = False) -> Any:
    """The second derivatives of a function with one output element.

    >>> torch.autograd.functional.hessian(lambda x: x.prod(), torch.tensor([2.0, 5.0]))
    tensor([[0., 1.],
            [1., 0.]])
    """

    def gradient(*leaves: Tensor) -> Any:
        ys, _ = tensors(func(*leaves), OUTPUTS, "hessian")
        found = gradients(scalar(ys, "hessian"), leaves, None, True)
        return found[0] if isinstance(inputs, Tensor) else found

    return jacobian(gradient, inputs, create_graph)


@public
@enable_grad()
def vjp(func: Func, inputs: Any, v: Any = None, create_graph: bool = False) -> Pair:
    """(outputs, v times the Jacobian): one backward pass that starts from v.

    >>> torch.autograd.functional.vjp(lambda x: x**2, torch.tensor([1.0, 3.0]), torch.tensor([1.0, 0.5]))
    (tensor([1., 9.]), tensor([2., 3.]))
    """
    xs, ys, one_input, one_output = evaluated("vjp", func, inputs, create_graph)
    vs = vector(v, ys, "vjp", "user-provided function returns")
    found = gradients(ys, xs, vs, create_graph)
    return given(ys, one_output, create_graph), given(found, one_input, create_graph)


@public
@enable_grad()
def jvp(func: Func, inputs: Any, v: Any = None, create_graph: bool = False) -> Pair:
    """(outputs, the Jacobian times v): v has the inputs' shape.

    >>> torch.autograd.functional.jvp(lambda x: x.sum() ** 2, torch.tensor([1.0, 3.0]), torch.tensor([1.0, 0.5]))
    (tensor(16.), tensor(12.))
    """
    xs, ys, _, one_output = evaluated("jvp", func, inputs, create_graph)
    vs = vector(v, xs, "jvp", "input to the user-provided function is")
    us = tuple(zeros_like(y).requires_grad_() for y in ys)
    found = gradients(gradients(ys, xs, us, True), us, vs, create_graph)
    return given(ys, one_output, create_graph), given(found, one_output, create_graph)


@public
def vhp(func: Func, inputs: Any, v: Any = None, create_graph: bool = False) -> Pair:
    """(output, v times the Hessian) of a function with one output element.

    >>> torch.autograd.functional.vhp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5]))
    (tensor(9.), tensor([6., 6.]))
    """
    return hessian_product("vhp", func, inputs, v, create_graph)


@public
def hvp(func: Func, inputs: Any, v: Any = None, create_graph: bool = False) -> Pair:
    """(output, the Hessian times v): the same as `vhp`, for a Hessian is symmetric.

    >>> torch.autograd.functional.hvp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5]))
    (tensor(9.), tensor([6., 6.]))
    """
    return hessian_product("hvp", func, inputs, v, create_graph)


@enable_grad()
def hessian_product(name: str, func: Func, inputs: Any, v: Any, create_graph: bool) -> Pair:
    xs, ys, one_input, _ = evaluated(name, func, inputs, create_graph)
    vs = vector(v, xs, name, "input to the user-provided function is")
    first = gradients(scalar(ys, name), xs, None, True)
    found = gradients(first, xs, vs, create_graph)
    return given(ys, True, create_graph), given(found, one_input, create_graph)


# ------------------------------------------------------ what they have in common
OUTPUTS = "outputs of the user-provided function"


def evaluated(name: str, func: Func, inputs: Any, create_graph: bool) -> tuple[Tensors, Tensors, bool, bool]:
    """Leaves of our own, func of them, and whether each was a single tensor.

    With create_graph the leaves are still part of the caller's graph.
    """
    given, one_input = tensors(inputs, "inputs", name)
    xs = tuple(
        x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_()
        for x in given
    )
    ys, one_output = tensors(func(*xs), OUTPUTS, name)
    return xs, ys, one_input, one_output


def tensors(value: Any, what: str, name: str) -> tuple[Tensors, bool]:
    """A tensor or tuple of tensors as a tuple, and whether it was a single one."""
    if isinstance(value, Tensor):
        return (value,), True
    must = f"The {what} given to {name} must be either a Tensor or a tuple of Tensors"
    if not isinstance(value, tuple):
        raise TypeError(f"{must} but the given {what} has type {type(value)}.")
    for i, x in enumerate(value):
        if not isinstance(x, Tensor):
            raise TypeError(f"{must} but the value at index {i} has type {type(x)}.")
    return value, False


def scalar(ys: Tensors, name: str) -> Tensors:
    """The outputs themselves; RuntimeError if they are not one number."""
    words = f"The Tensor returned by the function given to {name}"
    check(len(ys) == 1 and ys[0].numel() == 1, f"{words} should contain a single element")
    return ys


def gradients(
    ys: Sequence[Tensor], xs: Sequence[Tensor], vs: Tensors | None, create_graph: bool
) -> Tensors:
    """The gradient of sum(v · y) with respect to xs; zeros where none depends."""
    weights = vs or [None] * len(ys)
    roots = [(y, v) for y, v in zip(ys, weights) if y.requires_grad]
    if not roots:
        return tuple(zeros_like(x) for x in xs)
    outputs, weights = zip(*roots)
    return grad(outputs, xs, weights, True, create_graph, materialize_grads=True)


def vector(v: Any, like: Tensors, name: str, where: str) -> Tensors:
    """The vector of a product, checked; ones where it may be left out."""
    if v is None:
        only = f"if the {where} a single Tensor with a single element."
        one = len(like) == 1 and like[0].numel() == 1
        check(one, f"The vector v can only be None {only}")
        return (ones_like(like[0]),)
    vs, _ = tensors(v, "v", name)
    lengths = f"should be {len(like)} but got {len(vs)}"
    check(len(vs) == len(like), f"v is a tuple of invalid length: {lengths}.")
    for a, b in zip(vs, like):
        sizes = f"should be {b.shape} but got {a.shape}"
        check(a.shape == b.shape, f"v has invalid size: {sizes}.")
    return vs


def given(values: Tensors, one: bool, create_graph: bool) -> Any:
    """What the caller gets: without a graph unless it was asked for."""
    out = tuple(v if create_graph else v.detach() for v in values)
    return out[0] if one else out


__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
errors.namespace(__name__)
