"""Derivatives of functions: jacobian, hessian, and products with a vector (vjp, jvp, hvp, vhp).

Each calls the student's function on fresh leaves, so inputs are left as they are.  A Jacobian is built from one backward
pass per output element; a Jacobian-vector product from two backward passes: d/dv of (v . J) . u is J u.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad import errors
from minigrad.autograd.gradients import grad, zeros_like
from minigrad.ops.creation import ones_like
from minigrad.ops.shapes import stack
from minigrad.tape import enable_grad
from minigrad.tensor import Tensor

Func = Callable[..., Any]
INDEPENDENT = "The {} of the user-provided function is independent of input {}. This is not allowed in strict mode."
STRATEGIES = ("forward-mode", "reverse-mode")
STRATEGY = 'Expected strategy to be either "forward-mode" or "reverse-mode".'


def jacobian(
    func: Func,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """d func(inputs) / d inputs: a tensor of shape output.shape + input.shape, nested in tuples for several of them.

    strict: raise if an output does not depend on an input (else zeros).  `vectorize` and `strategy` change nothing here.

    >>> torch.autograd.functional.jacobian(lambda x: x**2, torch.tensor([1.0, 3.0]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    _check_strategy(strategy, vectorize, create_graph, strict)
    if strict and vectorize:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please either "
            "set `strict=False` or `vectorize=False`."
        )
    xs, one_input = _tensors(inputs, "inputs", "jacobian")
    with enable_grad():
        leaves = _fresh(xs, create_graph)
        ys, one_output = _tensors(func(*leaves), "outputs of the user-provided function", "jacobian")
        rows = []
        for i, y in enumerate(ys):
            _check_connected(y, i, strict)
            rows.append(tuple(_one_jacobian(y, i, x, j, create_graph, strict) for j, x in enumerate(leaves)))
    several: Any = list if strategy == "forward-mode" else tuple  # as PyTorch gives them
    nested = several(row[0] if one_input else several(row) for row in rows)
    return nested[0] if one_output else nested


def _check_strategy(strategy: str, vectorize: bool, create_graph: bool, strict: bool) -> None:
    """What PyTorch refuses of its ways to compute; here all of them are backward passes, and give the same."""
    if strategy not in STRATEGIES:
        raise AssertionError(
            f'{STRATEGY} Hint: If your function has more outputs than inputs, "forward-mode" tends to be more performant. '
            'Otherwise, prefer to use "reverse-mode".'
        )
    for given, error, what in ((create_graph, NotImplementedError, "create_graph"), (strict, RuntimeError, "strict")):
        if given and strategy == "forward-mode":
            raise error(
                f'torch.autograd.functional.jacobian: `{what}=True` and `strategy="forward-mode"` are not supported together '
                f'(yet). Please either set `{what}=False` or `strategy="reverse-mode"`.'
            )
    if strategy == "forward-mode" and not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`."
        )


def _one_jacobian(y: Tensor, i: int, x: Tensor, j: int, create_graph: bool, strict: bool) -> Tensor:
    rows: list[Tensor] = []
    flat = y.reshape(-1)
    for k in range(y.numel()):
        g = (
            grad(flat[k], x, retain_graph=True, create_graph=create_graph, allow_unused=True)[0]
            if y.requires_grad
            else None
        )
        if g is None and strict:
            raise RuntimeError(
                f"Output {i} of the user-provided function is independent of input {j}. This is not allowed in strict mode."
            )
        if g is not None and strict and create_graph and not g.requires_grad:
            raise RuntimeError(INDEPENDENT.format("jacobian", j)[:-1] + " when create_graph=True.")
        rows.append(zeros_like(x) if g is None else g)
    if not rows:
        return x.new_zeros((*y.shape, *x.shape))  # type: ignore[no-any-return]
    whole: Tensor = stack(rows).reshape((*y.shape, *x.shape))
    return whole if create_graph else whole.detach()  # nobody's view


def hessian(
    func: Func,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function with one output element: the Jacobian of its gradient.

    >>> torch.autograd.functional.hessian(lambda x: x.prod(), torch.tensor([2.0, 5.0]))
    tensor([[0., 1.],
            [1., 0.]])
    """
    xs, one_input = _tensors(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in STRATEGIES:
        raise AssertionError(STRATEGY)

    def gradient(*leaves: Tensor) -> Any:
        y = _scalar(func(*leaves), "hessian")
        first = _gradient(y, leaves, strict, hessian=True)
        return first[0] if one_input else first

    return jacobian(gradient, xs[0] if one_input else xs, create_graph, strict, vectorize, outer_jacobian_strategy)


def _gradient(y: Tensor, leaves: tuple[Tensor, ...], strict: bool, hessian: bool = False) -> tuple[Tensor, ...]:
    _check_connected(y, 0, strict)
    if not y.requires_grad:
        return tuple(zeros_like(x) for x in leaves)
    found = grad(y.sum(), leaves, create_graph=True, allow_unused=True)
    for i, g in enumerate(found if strict else ()):
        if g is None and not hessian:
            raise RuntimeError(INDEPENDENT.format("output", i))
        if g is None or not g.requires_grad:
            raise RuntimeError(
                "While computing the hessian, found that the jacobian of the user-provided function with respect to input "
                f"{i} is independent of the input. This is not allowed in strict mode. You should ensure that your function is "
                "twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear "
                "function for example)."
            )
    return tuple(zeros_like(x) if g is None else g for g, x in zip(found, leaves, strict=True))


def vjp(func: Func, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """(outputs, v times the Jacobian): one backward pass that starts from v, of the outputs' shape.

    >>> torch.autograd.functional.vjp(lambda x: x**2, torch.tensor([1.0, 3.0]), torch.tensor([1.0, 0.5]))
    (tensor([1., 9.]), tensor([2., 3.]))
    """
    xs, one_input = _tensors(inputs, "inputs", "vjp")
    with enable_grad():
        leaves = _fresh(xs, create_graph)
        ys, one_output = _tensors(func(*leaves), "outputs of the user-provided function", "vjp")
        for i, y in enumerate(ys):
            _check_connected(y, i, strict)
        vs = _vector(v, ys, one_output, "vjp", "returns a single Tensor with a single element")
        found = _weighted(ys, leaves, vs, create_graph, strict, "output")
    return _given(ys, one_output, create_graph), _given(found, one_input, create_graph)


def jvp(func: Func, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """(outputs, the Jacobian times v): v has the inputs' shape.

    >>> torch.autograd.functional.jvp(lambda x: x.sum() ** 2, torch.tensor([1.0, 3.0]), torch.tensor([1.0, 0.5]))
    (tensor(16.), tensor(12.))
    """
    xs, one_input = _tensors(inputs, "inputs", "jvp")
    vs = _vector(v, xs, one_input, "jvp", "is a single Tensor with a single element", "input to the ")
    with enable_grad():
        leaves = _fresh(xs, create_graph)
        ys, one_output = _tensors(func(*leaves), "outputs of the user-provided function", "jvp")
        for i, y in enumerate(ys):
            _check_connected(y, i, strict)
        dummies = tuple(zeros_like(y).requires_grad_() for y in ys)
        through = _weighted(ys, leaves, dummies, True, strict, "gradient")
        found = _weighted(through, dummies, vs, create_graph, strict, "output")
    return _given(ys, one_output, create_graph), _given(found, one_output, create_graph)


def vhp(func: Func, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """(output, v times the Hessian) of a function with one output element.

    >>> torch.autograd.functional.vhp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5]))
    (tensor(9.), tensor([6., 6.]))
    """
    return _hessian_product("vhp", func, inputs, v, create_graph, strict)


def hvp(func: Func, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """(output, the Hessian times v): the same as `vhp`, for a Hessian is symmetric.

    >>> torch.autograd.functional.hvp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.5]))
    (tensor(9.), tensor([6., 6.]))
    """
    return _hessian_product("hvp", func, inputs, v, create_graph, strict)


def _hessian_product(name: str, func: Func, inputs: Any, v: Any, create_graph: bool, strict: bool) -> tuple[Any, Any]:
    xs, one_input = _tensors(inputs, "inputs", name)
    with enable_grad():
        leaves = _fresh(xs, create_graph)
        vs = _vector(v, xs, one_input, name, "is a single Tensor with a single element", "input to the ")
        y = _scalar(func(*leaves), name)
        first = _gradient(y, leaves, strict)
        found = _weighted(first, leaves, vs, create_graph, strict, "jacobian")
    return _given((y,), True, create_graph), _given(found, one_input, create_graph)


def _weighted(ys: Any, xs: Any, vs: Any, create_graph: bool, strict: bool, what: str) -> tuple[Tensor, ...]:
    """The gradient of sum(y . v) with respect to xs; zeros where nothing depends."""
    pairs = [(y, v) for y, v in zip(ys, vs, strict=True) if y.requires_grad]
    found: Any = [None] * len(xs)
    if pairs:
        outputs, weights = zip(*pairs, strict=True)
        found = grad(outputs, xs, weights, create_graph=create_graph, retain_graph=True, allow_unused=True)
    for i, g in enumerate(found):
        if g is None and strict:
            raise RuntimeError(INDEPENDENT.format("output" if what == "gradient" else what, i))
        if strict and create_graph and not g.requires_grad and what != "gradient":
            higher = "jacobian" if what == "output" else "hessian"
            raise RuntimeError(INDEPENDENT.format(higher, i)[:-1] + " when create_graph=True.")
    return tuple(zeros_like(x) if g is None else g for g, x in zip(found, xs, strict=True))


def _tensors(value: Any, what: str, name: str) -> tuple[tuple[Tensor, ...], bool]:
    """A tensor or tuple of tensors as a tuple, and whether it was a single one."""
    if isinstance(value, Tensor):
        return (value,), True
    given = f"given to {name}"
    if not isinstance(value, tuple):
        raise TypeError(
            f"The {what} {given} must be either a Tensor or a tuple of Tensors but the given {what} has type {type(value)}."
        )
    for i, x in enumerate(value):
        if not isinstance(x, Tensor):
            raise TypeError(
                f"The {what} {given} must be either a Tensor or a tuple of Tensors but the value at index {i} "
                f"has type {type(x)}."
            )
    return value, False


def _fresh(xs: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    """Leaves of our own to differentiate by; with create_graph, still connected to the caller's graph."""
    if create_graph:
        return tuple(x.view_as(x) if x.requires_grad else x.detach().requires_grad_() for x in xs)
    return tuple(x.detach().requires_grad_() for x in xs)


def _check_connected(y: Tensor, i: int, strict: bool) -> None:
    if strict and not y.requires_grad:
        raise RuntimeError(
            f"Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
            f"differentiable manner from the input when running in strict mode."
        )


def _scalar(output: Any, name: str) -> Tensor:
    ys, one = _tensors(output, "outputs of the user-provided function", name)
    if not one:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if ys[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a single element")
    return ys[0]


def _vector(v: Any, like: tuple[Tensor, ...], one: bool, name: str, single: str, whose: str = "") -> tuple[Tensor, ...]:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(f"The vector v can only be None if the {whose}user-provided function {single}.")
        return (ones_like(like[0]),)
    vs, _ = _tensors(v, "v", name)
    if len(vs) != len(like):
        if one:
            raise RuntimeError("The given v should contain a single Tensor.")
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(vs)}.")
    for i, (a, b) in enumerate(zip(vs, like, strict=True)):
        if a.shape != b.shape:
            prefix = f"Entry {i} in " if len(vs) > 1 else ""
            raise RuntimeError(f"{prefix}v has invalid size: should be {b.shape} but got {a.shape}.")
    return vs


def _given(values: tuple[Tensor, ...], one: bool, create_graph: bool) -> Any:
    out = tuple(v if create_graph else v.detach() for v in values)
    return out[0] if one else out


__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


errors.namespace(__name__)
