"""Are the gradients right?  They are compared with finite differences.

gradcheck       a function at given inputs: every entry of its Jacobian
gradgradcheck   the same for its gradient
check_graph     every operation that a loss was computed with
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import dtypes, errors
from ..errors import quoted
from ..function import FunctionNode
from ..operation import operation, public
from ..ops.creation import zeros_like
from ..tape import ancestors, enable_grad, grad
from ..tensor import Node, Tensor, wrap

Func = Callable[..., Any]

NOT_DOUBLE = (
    "Input #{} requires gradient and is not a double precision floating point "
    "or complex. This check will likely fail if all the inputs are not of "
    "double precision floating point or complex. "
)
EXPANDED = (
    "The {}th input has a dimension with stride 0. gradcheck only supports inputs that "
    "are non-overlapping to be able to compute the numerical gradients correctly. "
    "You should call .contiguous on the input before passing it to gradcheck."
)
NO_INPUT = (
    "gradcheck expects at least one input tensor to require gradient, but none "
    "of them have requires_grad=True."
)
FREED = (
    "this graph was freed by a backward pass: compute the loss again, or use "
    "backward(retain_graph=True)"
)


class GradcheckError(RuntimeError):
    """A gradient that does not agree with finite differences."""


@public
def gradcheck(
    func: Func, inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """True if |analytical - numerical| <= atol + rtol * |numerical| everywhere.

    func: takes `inputs`, returns a tensor or a tuple of tensors.  Inputs that
    require grad should be float64.  GradcheckError names output, input and both
    Jacobians (or False is returned, if not raise_exception).

    >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(torch.sin, (x,))
    True
    """
    try:
        check(func, inputs, eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def check(func: Func, inputs: Any, eps: float, atol: float, rtol: float) -> None:
    """Raise for the first Jacobian that is wrong."""
    args = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    wanted = [x for x in args if isinstance(x, Tensor) and x.requires_grad]
    if not wanted:
        raise ValueError(NO_INPUT)
    for i, x in enumerate(args):
        if not isinstance(x, Tensor) or not x.requires_grad:
            continue
        if x.dtype is not dtypes.float64:
            warnings.warn(NOT_DOUBLE.format(i), stacklevel=4)
        stretched = any(step == 0 and n > 1 for step, n in zip(x.stride(), x.shape))
        errors.check(not stretched, EXPANDED.format(i))
    ys = called(func, args)
    for i, y in enumerate(ys):
        for j, x in enumerate(wanted):
            found = analytical(y, x)
            # x may be empty
            numbers = numerical(func, args, x, i, eps).reshape(found.shape)
            if not any(y.requires_grad for y in ys) and numbers.any():
                raise GradcheckError("Numerical gradient for function expected to be zero")
            if not np.allclose(found, numbers, rtol, atol, equal_nan=True):
                raise GradcheckError(
                    f"Jacobian mismatch for output {i} with respect to input {j},\n"
                    f"numerical:{wrap(numbers)}\nanalytical:{wrap(found)}\n"
                )
    roots = [y for y in ys if y.requires_grad]
    if roots:
        found = grad(roots, wanted, [zeros_like(y) for y in roots], allow_unused=True)
        if any(g is not None and bool((g != 0).any()) for g in found):
            raise GradcheckError("backward not multiplied by grad_output")


def called(func: Func, args: Sequence[Any]) -> list[Tensor]:
    """The outputs that can have a gradient."""
    with enable_grad():
        answer = func(*args)
    values = answer if isinstance(answer, (tuple, list)) else [answer]
    return [y for y in values if y.dtype.is_floating_point]


def numerical(
    func: Func, args: Sequence[Any], x: Tensor, i: int, eps: float, weights: Any = 1.0
) -> Any:
    """Central differences: a row for each element of x, a column for each of output i (their sum with weights)."""
    # where it lies: the function may know it by another name
    base = x._writable()

    def moved(place: Any, by: float) -> Any:
        before = base[place].copy()
        base[place] += by
        try:
            y = called(func, args)[i]
            # a view of x would move back with it
            return np.array(y._data, np.float64).reshape(-1)
        finally:
            base[place] = before

    rows = [np.dot(moved(at, eps) - moved(at, -eps), weights) for at in np.ndindex(base.shape)]
    return np.array(rows, base.dtype) / (2 * eps)


def analytical(y: Tensor, x: Tensor) -> Any:
    """The same Jacobian from one backward pass per output element."""
    columns = np.zeros((x.numel(), y.numel()), x._data.dtype)
    for i, at in enumerate(np.ndindex(y.shape)):
        seed = np.zeros(y.shape, y._data.dtype)
        seed[at] = 1
        if y.requires_grad:
            (g,) = grad(y, x, wrap(seed[()]), True, allow_unused=True)
            columns[:, i] = 0 if g is None else g._data.reshape(-1)
    return columns


@public
def gradgradcheck(
    func: Func, inputs: Any, grad_outputs: Any = None, *, eps: float = 1e-6, atol: float = 1e-5,
    rtol: float = 1e-3, raise_exception: bool = True,
) -> bool:
    """`gradcheck` of the function from inputs and upstream gradients to gradients.

    grad_outputs: the upstream gradients, one for each output that requires grad;
    random ones unless given.

    >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(torch.sin, (x,))
    True
    """
    args = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    wanted = [i for i, a in enumerate(args) if isinstance(a, Tensor) and a.requires_grad]
    if grad_outputs is None:
        roots = [y for y in called(func, args) if y.requires_grad]
        grad_outputs = tuple(zeros_like(y).uniform_(-1, 1).requires_grad_() for y in roots)
    seeds = (grad_outputs,) if isinstance(grad_outputs, Tensor) else tuple(grad_outputs)

    def derivative(*both: Any) -> tuple[Tensor, ...]:
        xs, gs = both[: len(args)], both[len(args) :]
        ys = [y for y in called(func, xs) if y.requires_grad]
        found = grad(ys, [xs[i] for i in wanted], gs, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        derivative, (*args, *seeds), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception
    )


# ------------------------------------------------------ check_graph
def check_graph(
    loss: Tensor, *, eps: float = 1e-6, atol: float = 1e-6,
    rtol: float = 1e-4, seed: int = 0,
) -> bool:
    """Check each operation of a graph: its rule against its own forward.

    In float64, from the oldest to the newest; the upstream gradient is random.
    Inputs are those that the node saved, else random ones of the same shape.
    Returns True, or raises GradcheckError that names the first wrong operation
    and the line it came from.  RuntimeError if a backward pass freed the graph.

    >>> x = torch.tensor([0.5, 2.0], requires_grad=True)
    >>> minigrad.autograd.check_graph((x.exp() * x).sum())
    True
    """
    if loss._node is None:
        raise RuntimeError("check_graph needs a tensor that requires grad: this one has no graph")
    rng = np.random.default_rng(seed)
    for node in sorted(ancestors([loss._node], 0), key=lambda n: n.seq):
        custom = isinstance(node, FunctionNode)
        if not custom and node.operation is None:
            # a leaf; one output of several: there is no rule
            continue
        errors.check(node.saved is not None, FREED)
        func, args = of_function(node, rng) if custom else of_row(node, rng)
        wanted = [i for i, parent in enumerate(node.parents) if parent is not None]
        for i in wanted:
            args[i].requires_grad_()
        y = called(func, args)[0]
        upstream = np.asarray(rng.standard_normal(y.shape))
        gradients = grad(y, [args[i] for i in wanted], wrap(upstream[()]), allow_unused=True)
        for i, g in zip(wanted, gradients):
            if g is None:
                # no gradient is defined
                continue
            numbers = numerical(func, args, args[i], 0, eps, upstream.reshape(-1)).reshape(g.shape)
            if not np.allclose(g._data, numbers, rtol, atol, equal_nan=True):
                raise GradcheckError(
                    f"{node.name()}, recorded{quoted(node.code, node.at)}, "
                    f"has a wrong gradient for its input {i}:\n"
                    f"numerical: {wrap(numbers)}\nanalytical: {g}"
                )
    return True


def of_function(node: Any, rng: Any) -> tuple[Func, list[Any]]:
    """A custom Function, and random inputs for it."""
    pairs = zip(node.ctx._call, node.ctx._tensors)
    args = [wrap(np.asarray(rng.uniform(0.5, 1.5, like[0]))) if tensor else like for like, tensor in pairs]
    return node.function.apply, args


def of_row(node: Node, rng: Any) -> tuple[Func, list[Any]]:
    """An operation of the table with the rules of this node, and its inputs: saved ones, else random ones."""
    made = node.operation
    known: dict[str, Any] = {"shape": node.shape, "dtype": dtypes.float64, "mode": "floor"}
    for names, saved in zip(made.arguments, node.saved or ()):
        known |= zip(names, saved or ())
    args = []
    for name, parent in zip(made.inputs, node.parents):
        shape = known.get(f"{name}_shape", node.shape) if parent is None else parent.shape
        value = known.get(name, rng.uniform(0.5, 1.5, shape))
        real = getattr(getattr(value, "dtype", None), "kind", "") == "f"
        args.append(wrap(np.array(value, np.float64)) if real else value)
    # 0: a constant that no rule asks for
    settings = [known.get(name, 0) for name in made.statics]
    again = operation(made.node_name, made.forward, *made.rules)
    return lambda *inputs: again(*inputs, *settings), args
