"""Derivatives of functions: jacobian, hessian, and products with a vector.

Each calls the student's function on fresh leaves, so inputs are left as they
are.  A Jacobian is built from one backward pass per output element; J v from
two backward passes: the derivative of uᵀ J with respect to u, times v.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minigrad import errors
from minigrad.operation import public
from minigrad.ops.creation import ones_like, zeros_like
from minigrad.ops.shapes import stack
from minigrad.tape import enable_grad, grad
from minigrad.tensor import Tensor

Func = Callable[..., Any]
Tensors = tuple[Tensor, ...]
Pair = tuple[Any, Any]


@public
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
    xs, one_input = tensors(inputs, "inputs", "jacobian")
    with enable_grad():
        leaves = fresh(xs, create_graph)
        ys, one_output = called(func, leaves, "jacobian")
        rows = []
        for i, y in enumerate(ys):
            row = [block(y, x, create_graph) for x in leaves]
            for j, found in enumerate(row):
                if found is None and strict:
                    raise RuntimeError(
                        f"Output {i} of the user-provided function is independent "
                        f"of input {j}. This is not allowed in strict mode."
                    )
                if found is None:
                    row[j] = leaves[j].new_zeros((*y.shape, *leaves[j].shape))
            rows.append(row[0] if one_input else tuple(row))
    return rows[0] if one_output else tuple(rows)


def block(y: Tensor, x: Tensor, create_graph: bool) -> Tensor | None:
    """The Jacobian of one output with respect to one input; None if it is 0."""
    rows = [gradients([each], [x], None, create_graph)[0] for each in y.reshape(-1)]
    if all(g is None for g in rows):
        return None
    stacked = stack([zeros_like(x) if g is None else g for g in rows])
    whole: Tensor = stacked.reshape((*y.shape, *x.shape))
    return whole if create_graph else whole.detach()


@public
def hessian(func: Func, inputs: Any, create_graph: bool = False) -> Any:
    """The second derivatives of a function with one output element.

    >>> torch.autograd.functional.hessian(lambda x: x.prod(), torch.tensor([2.0, 5.0]))
    tensor([[0., 1.],
            [1., 0.]])
    """
    xs, one_input = tensors(inputs, "inputs", "hessian")

    def gradient(*leaves: Tensor) -> Any:
        found = weighted([scalar(func, leaves, "hessian")], leaves, None, True)
        return found[0] if one_input else found

    return jacobian(gradient, xs[0] if one_input else xs, create_graph)


@public
def vjp(func: Func, inputs: Any, v: Any = None, create_graph: bool = False) -> Pair:
    """(outputs, v times the Jacobian): one backward pass that starts from v.

    >>> torch.autograd.functional.vjp(lambda x: x**2, torch.tensor([1.0, 3.0]), torch.tensor([1.0, 0.5]))
    (tensor([1., 9.]), tensor([2., 3.]))
    """
    xs, one_input = tensors(inputs, "inputs", "vjp")
    with enable_grad():
        leaves = fresh(xs, create_graph)
        ys, one_output = called(func, leaves, "vjp")
        vs = vector(v, ys, one_output, "vjp", "returns")
        found = weighted(ys, leaves, vs, create_graph)
    return given(ys, one_output, create_graph), given(found, one_input, create_graph)


@public
def jvp(func: Func, inputs: Any, v: Any = None, create_graph: bool = False) -> Pair:
    """(outputs, the Jacobian times v): v has the inputs' shape.

    >>> torch.autograd.functional.jvp(lambda x: x.sum() ** 2, torch.tensor([1.0, 3.0]), torch.tensor([1.0, 0.5]))
    (tensor(16.), tensor(12.))
    """
    xs, one_input = tensors(inputs, "inputs", "jvp")
    vs = vector(v, xs, one_input, "jvp", "is")
    with enable_grad():
        leaves = fresh(xs, create_graph)
        ys, one_output = called(func, leaves, "jvp")
        us = tuple(zeros_like(y).requires_grad_() for y in ys)
        through = weighted(ys, leaves, us, True)
        found = weighted(through, us, vs, create_graph)
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


def hessian_product(name: str, func: Func, inputs: Any, v: Any, create_graph: bool) -> Pair:
    xs, one_input = tensors(inputs, "inputs", name)
    with enable_grad():
        leaves = fresh(xs, create_graph)
        vs = vector(v, xs, one_input, name, "is")
        y = scalar(func, leaves, name)
        first = weighted([y], leaves, None, True)
        found = weighted(first, leaves, vs, create_graph)
    return given((y,), True, create_graph), given(found, one_input, create_graph)


# ------------------------------------------------------ what they have in common
def gradients(
    ys: Sequence[Tensor], xs: Sequence[Tensor], vs: Tensors | None, create_graph: bool
) -> Sequence[Any]:
    """`grad` of those outputs that have a graph; None where there is none."""
    at = [i for i, y in enumerate(ys) if y.requires_grad]
    if not at:
        return [None] * len(xs)
    roots = [ys[i] for i in at]
    weights = None if vs is None else [vs[i] for i in at]
    return grad(roots, xs, weights, True, create_graph, allow_unused=True)


def weighted(
    ys: Sequence[Tensor], xs: Tensors, vs: Tensors | None, create_graph: bool
) -> Tensors:
    """The gradient of sum(v · y) with respect to xs; zeros where none depends."""
    found = zip(gradients(ys, xs, vs, create_graph), xs, strict=True)
    return tuple(zeros_like(x) if g is None else g for g, x in found)


def tensors(value: Any, what: str, name: str) -> tuple[Tensors, bool]:
    """A tensor or tuple of tensors as a tuple, and whether it was a single one."""
    if isinstance(value, Tensor):
        return (value,), True
    must = "must be either a Tensor or a tuple of Tensors but the"
    start = f"The {what} given to {name} {must}"
    if not isinstance(value, tuple):
        raise TypeError(f"{start} given {what} has type {type(value)}.")
    for i, x in enumerate(value):
        if not isinstance(x, Tensor):
            raise TypeError(f"{start} value at index {i} has type {type(x)}.")
    return value, False


def fresh(xs: Tensors, create_graph: bool) -> Tensors:
    """Leaves of our own; with create_graph, still part of the caller's graph."""
    own = [create_graph and x.requires_grad for x in xs]
    pairs = zip(xs, own, strict=True)
    return tuple(x.view_as(x) if o else x.detach().requires_grad_() for x, o in pairs)


def called(func: Func, leaves: Tensors, name: str) -> tuple[Tensors, bool]:
    """The outputs of the student's function, and whether it was a single one."""
    return tensors(func(*leaves), "outputs of the user-provided function", name)


def scalar(func: Func, leaves: Tensors, name: str) -> Tensor:
    """The one number that a function returns."""
    ys, one = called(func, leaves, name)
    if not one:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if ys[0].numel() != 1:
        given = f"The Tensor returned by the function given to {name}"
        raise RuntimeError(f"{given} should contain a single element")
    return ys[0]


def vector(v: Any, like: Tensors, one: bool, name: str, verb: str) -> Tensors:
    """The vector of a product, checked; ones where it may be left out."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            whose = "" if verb == "returns" else "input to the "
            only = f"if the {whose}user-provided function {verb} a single Tensor"
            raise RuntimeError(f"The vector v can only be None {only} with a single element.")
        return (ones_like(like[0]),)
    vs, _ = tensors(v, "v", name)
    if len(vs) != len(like):
        if one:
            raise RuntimeError("The given v should contain a single Tensor.")
        lengths = f"should be {len(like)} but got {len(vs)}"
        raise RuntimeError(f"v is a tuple of invalid length: {lengths}.")
    for i, (a, b) in enumerate(zip(vs, like, strict=True)):
        if a.shape != b.shape:
            prefix = f"Entry {i} in " if len(vs) > 1 else ""
            sizes = f"should be {b.shape} but got {a.shape}"
            raise RuntimeError(f"{prefix}v has invalid size: {sizes}.")
    return vs


def given(values: Tensors, one: bool, create_graph: bool) -> Any:
    """What the caller gets: without a graph unless it was asked for."""
    out = tuple(v if create_graph else v.detach() for v in values)
    return out[0] if one else out


__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
errors.namespace(__name__)
