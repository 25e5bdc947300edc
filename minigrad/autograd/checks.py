"""Are the gradients right?  Compare them with finite differences.

gradcheck       a function at given inputs: every entry of its Jacobian, by backward passes and by central differences
gradgradcheck   the same for the backward pass itself
check_graph     every operation that a loss was computed with: names the first whose rule disagrees with its forward
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.autograd.gradients import grad, zeros_like
from minigrad.birthplace import quoted
from minigrad.function import FunctionCtx, Slots
from minigrad.tape import Node, ancestors, enable_grad, fit, no_grad, record
from minigrad.tensor import Tensor, wrap

Func = Callable[..., Any]


class GradcheckError(RuntimeError):
    """A gradient that does not agree with finite differences."""


def gradcheck(
    func: Func,
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """True if backward agrees with central differences: |analytical - numerical| <= atol + rtol * |numerical|.

    func: takes `inputs`, returns a tensor or a tuple of tensors.  Inputs that require grad should be float64.
    GradcheckError names output, input and both Jacobians (or False is returned, if not raise_exception).

    >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(torch.sin, (x,))
    True
    """
    if not raise_exception:
        try:
            return gradcheck(
                func, inputs, eps=eps, atol=atol, rtol=rtol, nondet_tol=nondet_tol, check_grad_dtypes=check_grad_dtypes,
                check_undefined_grad=check_undefined_grad, fast_mode=fast_mode,
            )  # fmt: skip
        except GradcheckError:
            return False
    args = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    wanted = _checkable(args)
    outputs = _outputs(func, args)
    if not any(y.requires_grad for y in outputs):
        return _constant(func, args, wanted, outputs, eps)
    for i, y in enumerate(outputs):
        for k, j in enumerate(wanted):
            numerical = _numerical(func, args, j, i, eps)
            analytical = _analytical(y, args[j])
            again = _analytical(y, args[j])
            if np.abs(analytical - again).max(initial=0.0) > nondet_tol:
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times "
                    "gives different values, although analytical gradient matches numerical gradient."
                    f"The tolerance for nondeterminism was {nondet_tol}."
                )
            if not np.allclose(analytical, numerical, rtol, atol, equal_nan=True):
                raise _mismatch(i, k, numerical, analytical)
    _scaled(func, args, wanted)
    if check_undefined_grad:
        _undefined(func, args)
    return True


def _mismatch(i: int, j: int, numerical: Any, analytical: Any) -> GradcheckError:
    return GradcheckError(
        f"Jacobian mismatch for output {i} with respect to input {j},\n"
        f"numerical:{wrap(numerical)}\nanalytical:{wrap(analytical)}\n"
    )


def _checkable(args: tuple[Any, ...]) -> list[int]:
    """Which arguments to differentiate by, after the checks that PyTorch makes of them."""
    wanted = [i for i, a in enumerate(args) if isinstance(a, Tensor) and a.requires_grad]
    for i in wanted:
        if args[i].dtype is not dtypes.float64:
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will "
                "likely fail if all the inputs are not of double precision floating point or complex. ",
                UserWarning,
                stacklevel=3,
            )
        if args[i].numel() and any(n > 1 and s == 0 for n, s in zip(args[i].shape, args[i].stride(), strict=True)):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to "
                "be able to compute the numerical gradients correctly. You should call .contiguous on the input before "
                "passing it to gradcheck."
            )
        args[i].retain_grad()
    if not wanted:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    return wanted


def _outputs(func: Func, args: tuple[Any, ...]) -> list[Tensor]:
    with enable_grad():
        answer = func(*args)
    values = answer if isinstance(answer, (tuple, list)) else [answer]
    if not all(isinstance(y, Tensor) for y in values):
        raise ValueError("Expected outputs of the function to be tensors")
    return [y for y in values if y.dtype.is_floating_point]


def _constant(func: Func, args: tuple[Any, ...], wanted: list[int], outputs: list[Tensor], eps: float) -> bool:
    """A function whose outputs have no graph passes only where it does not vary."""
    for i in range(len(outputs)):
        for j in wanted:
            if np.any(np.abs(_numerical(func, args, j, i, eps)) > 0):
                raise GradcheckError("Numerical gradient for function expected to be zero")
    return True


def _numerical(func: Func, args: tuple[Any, ...], j: int, i: int, eps: float) -> Any:
    """Central differences: rows are elements of input j, columns elements of output i, as PyTorch prints them."""
    base = args[j]._writable()  # nudged where it lies, for the function may know it by another name too
    found = _outputs(func, args)[i]
    rows = []
    for place in np.ndindex(base.shape):
        values = []
        for sign in (1, -1):
            before = base[place].copy()
            base[place] += sign * eps
            try:
                moved = _outputs(func, args)[i]
                _unchanged("shape", found.shape, moved.shape, eps)
                _unchanged("dtype", found.dtype, moved.dtype, eps)
                values.append(np.array(moved._data, dtype=np.float64).reshape(-1))
            finally:
                base[place] = before
        rows.append((values[0] - values[1]) / (2 * eps))
    dtype = found._data.dtype
    return np.array(rows, dtype=dtype) if rows else np.zeros((0, 1), dtype)


def _unchanged(what: str, now: Any, nudged: Any, eps: float) -> None:
    if now != nudged:
        raise AssertionError(
            f"Expected `func` to return outputs with the same {what} when inputs are perturbed by {eps}, but got: "
            f"{what}s {now} and {nudged}."
        )


def _analytical(y: Tensor, x: Tensor) -> Any:
    """The same Jacobian from one backward pass per output element."""
    columns = []
    for place in np.ndindex(y.shape):
        seed = np.zeros(y.shape, y._data.dtype)
        seed[place] = 1
        g = grad(y, x, wrap(seed[()]), retain_graph=True, allow_unused=True)[0] if y.requires_grad else None
        columns.append(np.array((zeros_like(x) if g is None else g)._data).reshape(-1))
    return np.stack(columns, 1) if columns else np.zeros((x.numel(), 0), x._data.dtype)


def _scaled(func: Func, args: tuple[Any, ...], wanted: list[int]) -> None:
    """A backward must be linear in what it is given: nothing comes of zeros."""
    outputs = [y for y in _outputs(func, args) if y.requires_grad]
    found = grad(outputs, [args[j] for j in wanted], [zeros_like(y) for y in outputs], allow_unused=True)
    if any(g is not None and bool((g != 0).any()) for g in found):
        raise GradcheckError("backward not multiplied by grad_output")


def _undefined(func: Func, args: tuple[Any, ...]) -> None:
    """A Function that asked for None where nothing comes must cope with it, and make nothing of it."""
    nodes = {y._node.owner for y in _outputs(func, args) if y._node is not None}
    for node in nodes:
        if not isinstance(node, FunctionCtx) or node._materialize:
            continue
        n = len(node._outputs)
        try:
            found = node.contributions(Slots((None,) * n) if n > 1 else None, False)
        except RuntimeError as error:
            raise _refused("Expected backward function to handle undefined output grads.") from error
        if any(g is not None and bool((g != 0).any()) for g in found):
            raise _refused(
                "Expected all input grads to be undefined or zero when all output grads are undefined or zero."
            )


def _refused(what: str) -> GradcheckError:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break "
        "existing callers of this function. If this is true for you, you can call this function with "
        '"check_undefined_grad=False" to disable the feature',
        stacklevel=4,
    )
    return GradcheckError(
        f'{what} Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
    )


def gradgradcheck(
    func: Func,
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """`gradcheck` of the function that maps inputs and starting gradients to gradients.

    grad_outputs: the starting gradients, one for each output that requires grad; random ones unless given.

    >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(torch.sin, (x,))
    True
    """
    args = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    wanted = [i for i, a in enumerate(args) if isinstance(a, Tensor) and a.requires_grad]
    outputs = [y for y in _outputs(func, args) if y.requires_grad]
    if grad_outputs is None:
        seeds = tuple(zeros_like(y).uniform_(-1, 1).requires_grad_() for y in outputs)
    else:
        seeds = (grad_outputs,) if isinstance(grad_outputs, Tensor) else tuple(grad_outputs)

    def derivative(*both: Any) -> tuple[Tensor, ...]:
        xs, gs = both[: len(args)], both[len(args) :]
        xs = tuple(x.detach().requires_grad_() if i in wanted and not x.requires_grad else x for i, x in enumerate(xs))
        with enable_grad():
            ys = [y for y in _outputs(func, xs) if y.requires_grad]
            found = grad(ys, [xs[i] for i in wanted], gs, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        derivative, (*args, *seeds), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_undefined_grad=False,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------ check_graph


def check_graph(loss: Tensor, *, eps: float = 1e-6, atol: float = 1e-6, rtol: float = 1e-4, seed: int = 0) -> bool:
    """Check every operation `loss` was computed with: its rule against finite differences of its forward, in float64.

    From the oldest to the newest; the upstream gradient is random.  Where a node kept its inputs they are used, else random
    ones of the same shape (its rule does not depend on them).  Returns True, or raises GradcheckError that names the first
    wrong operation and the line it came from.  RuntimeError if the graph was freed by a backward pass.

    >>> x = torch.tensor([0.5, 2.0], requires_grad=True)
    >>> minigrad.check_graph((x.exp() * x).sum())
    True
    """
    if loss._node is None:
        raise RuntimeError("check_graph needs a tensor that requires grad: this one has no graph")
    rng = np.random.default_rng(seed)
    for node in sorted(ancestors([loss._node], 0), key=lambda node: -node.seq):  # oldest first
        if not node.parents or node.owner is not node:
            continue
        if not isinstance(node, FunctionCtx) and not hasattr(type(node), "operation"):
            continue  # cat and stack only deal out parts of the gradient: there is no rule to be wrong
        if node.kept is None:
            raise RuntimeError(
                "this graph was freed by a backward pass: compute the loss again, or use backward(retain_graph=True)"
            )
        for i, numerical, analytical in _compared(node, rng, eps):
            if not np.allclose(analytical, numerical, rtol, atol, equal_nan=True):
                raise GradcheckError(
                    f"{node.name()}, recorded{quoted(node.code, node.at)}, has a wrong gradient for its input {i}:\n"
                    f"numerical: {wrap(numerical)}\nanalytical: {wrap(analytical)}"
                )
    return True


def _compared(node: Node, rng: Any, eps: float) -> list[tuple[int, Any, Any]]:
    """For each input that wants a gradient: (its place, by finite differences, by the rule), for a random upstream."""
    forward, values = _replay(node, rng)
    out = np.asarray(forward(values), dtype=np.float64)
    g = rng.standard_normal(out.shape)
    found = _shares(node, values, out, g)
    checked = []
    for i, parent in enumerate(node.parents):
        if parent is None or i not in found:
            continue
        numerical = np.zeros(values[i].shape)
        for place in np.ndindex(values[i].shape):
            sides = []
            for sign in (1, -1):
                moved = [np.array(v) if isinstance(v, np.ndarray) else v for v in values]
                moved[i][place] += sign * eps
                sides.append(np.asarray(forward(moved), dtype=np.float64))
            numerical[place] = ((sides[0] - sides[1]) * g).sum() / (2 * eps)
        checked.append((i, numerical, np.asarray(found[i], dtype=np.float64)))
    return checked


def _replay(node: Node, rng: Any) -> tuple[Callable[[list[Any]], Any], list[Any]]:
    """The node's forward as a function of its inputs, and inputs to try it at."""
    if isinstance(node, FunctionCtx):
        return _replay_function(node, rng)
    made = node.operation
    known: dict[str, Any] = {}
    for names, args in zip(made.arguments, node.kept or (), strict=True):
        known.update(zip(names, args or (), strict=False))
    values = []
    for name, parent in zip(made.inputs, node.parents, strict=True):
        if name in known:
            value = known[name]
        elif parent is not None:
            value = rng.uniform(0.5, 1.5, parent.shape)
        else:
            value = rng.uniform(0.5, 1.5, known.get(f"{name}_shape", node.shape))
        floating = hasattr(value, "dtype") and value.dtype.kind == "f"
        values.append(np.array(value, dtype=np.float64) if floating else value)
    defaults = {"shape": node.shape, "dtype": dtypes.float64}
    statics = [known[name] if name in known else defaults[name] for name in made.statics]
    return lambda inputs: made.forward(*inputs, *statics), values


def _replay_function(node: FunctionCtx, rng: Any) -> tuple[Callable[[list[Any]], Any], list[Any]]:
    values: list[Any] = [
        np.array(rng.uniform(0.5, 1.5, like[0])) if isinstance(like, tuple) and len(like) == 2 and tensor else like
        for like, tensor in zip(node.call, node._is_tensor, strict=True)
    ]

    def forward(inputs: list[Any]) -> Any:
        with no_grad():
            answer = node.function.apply(*(wrap(v) if t else v for v, t in zip(inputs, node._is_tensor, strict=True)))
        return (answer[0] if isinstance(answer, tuple) else answer)._data

    return forward, values


def _shares(node: Node, values: list[Any], out: Any, g: Any) -> dict[int, Any]:
    """What the rules of this node answer to g at these inputs, summed to the inputs' shapes."""
    if isinstance(node, FunctionCtx):
        leaves = [wrap(v).requires_grad_() if t and p is not None else wrap(v) if t else v
                  for v, t, p in zip(values, node._is_tensor, node.parents, strict=True)]  # fmt: skip
        with enable_grad():
            answer = node.function.apply(*leaves)
        y = answer[0] if isinstance(answer, tuple) else answer
        wanted = [i for i, p in enumerate(node.parents) if p is not None]
        got = grad(y, [leaves[i] for i in wanted], wrap(g[()]), allow_unused=True)
        return {i: x._data for i, x in zip(wanted, got, strict=True) if x is not None}
    made = node.operation
    found = {}
    for i, (rule, names, args) in enumerate(zip(made.rules, made.arguments, node.kept or (), strict=True)):
        parent = node.parents[i]
        if parent is None or rule is None or args is None:
            continue
        fresh = [
            values[made.inputs.index(name)] if name in made.inputs else out if name == "out" else value
            for name, value in zip(names, args, strict=True)
        ]
        share = rule(g[()], *fresh)
        if share is not None:
            like = record(Node, (), (), None, values[i])
            found[i] = fit(share, like)
    return found
