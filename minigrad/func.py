"""torch.func: functions that turn a function into its derivative.  `vmap` is an honest loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrad.autograd import functional
from minigrad.autograd.gradients import grad as _grad
from minigrad.autograd.gradients import zeros_like
from minigrad.shapes import stack
from minigrad.tape import enable_grad, is_grad_enabled
from minigrad.tensor import Tensor

Func = Callable[..., Any]


def grad_and_value(func: Func, argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Func:
    """A function that returns (gradient, value) of `func` with respect to the arguments `argnums`.  `func` returns a
    tensor with one element, or with `has_aux` a pair of that and anything else."""

    def derivative(*args: Any, **kwargs: Any) -> Any:
        nested = is_grad_enabled()
        places = (argnums,) if isinstance(argnums, int) else argnums
        with enable_grad():
            leaves = list(args)
            for i in places:
                leaves[i] = args[i].view_as(args[i]) if args[i].requires_grad else args[i].detach().requires_grad_()
            answer = func(*leaves, **kwargs)
            value, aux = answer if has_aux else (answer, None)
            if not isinstance(value, Tensor):
                raise RuntimeError(f"Expected f(*args) to return a scalar tensor, got {type(value).__name__}")
            if value.dim() != 0:
                raise RuntimeError(
                    "Expected f(*args) to return a scalar tensor, got tensor with "
                    f"{value.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            wanted = tuple(leaves[i] for i in places)
            if value.requires_grad:
                found = _grad(value, wanted, create_graph=nested, retain_graph=True, allow_unused=True)
            else:
                found = (None,) * len(wanted)
        gradients = tuple(zeros_like(x) if g is None else g for g, x in zip(found, wanted, strict=True))
        connected = any(isinstance(a, Tensor) and a.requires_grad for a in args)
        if not connected:
            gradients, value = tuple(g.detach() for g in gradients), value.detach()
        first = gradients[0] if isinstance(argnums, int) else gradients
        return (first, (value, aux)) if has_aux else (first, value)

    return derivative


def grad(func: Func, argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Func:
    """A function that returns the gradient of `func` (and its second result, with `has_aux`)."""
    both = grad_and_value(func, argnums, has_aux)

    def derivative(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return derivative


def vjp(func: Func, *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """(func(*primals), a function from a cotangent to the vector-Jacobian products, one per primal)."""
    with enable_grad():
        leaves = tuple(p.view_as(p) if p.requires_grad else p.detach().requires_grad_() for p in primals)
        answer = func(*leaves)
    value, aux = answer if has_aux else (answer, None)

    def product(*cotangents: Any) -> tuple[Any, ...]:
        found = _grad(value, leaves, cotangents, retain_graph=True, allow_unused=True)
        return tuple(zeros_like(x) if g is None else g for g, x in zip(found, leaves, strict=True))

    outputs = tuple(v.detach() for v in value) if isinstance(value, tuple) else value.detach()
    return (outputs, product, aux) if has_aux else (outputs, product)


def jvp(func: Func, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """(func(*primals), the Jacobian times the tangents)."""
    return functional.jvp(func, tuple(primals), tuple(tangents))


def jacrev(func: Func, argnums: int = 0) -> Func:
    """A function that returns the Jacobian of `func` with respect to argument number `argnums`."""

    def jacobian(*args: Any) -> Any:
        def of_one(x: Tensor) -> Any:
            return func(*args[:argnums], x, *args[argnums + 1 :])

        return functional.jacobian(of_one, args[argnums], create_graph=args[argnums].requires_grad)

    return jacobian


jacfwd = jacrev


def hessian(func: Func, argnums: int = 0) -> Func:
    """A function that returns the second derivatives of `func`."""
    return jacrev(jacrev(func, argnums), argnums)


def vmap(func: Func, in_dims: Any = 0, out_dims: int = 0) -> Func:
    """A function that applies `func` to each slice along the dimensions `in_dims` and stacks the results."""

    def mapped(*args: Any) -> Any:
        dims = (in_dims,) * len(args) if isinstance(in_dims, int) else in_dims
        sizes = {a.shape[d] for a, d in zip(args, dims, strict=True) if d is not None}
        if len(sizes) != 1:
            raise ValueError(
                f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sorted(sizes)}"
            )
        results = [
            func(*(a if d is None else a.select(d, i) for a, d in zip(args, dims, strict=True)))
            for i in range(sizes.pop())
        ]
        if isinstance(results[0], tuple):
            return tuple(stack(column, out_dims) for column in zip(*results, strict=True))
        return stack(results, out_dims)

    return mapped


def functional_call(
    module: Any,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """What the module gives with these tensors (a dict by dotted name, or several) in place of its own.

    Gradients go to the tensors that were given.  With `strict`, RuntimeError unless all names are given, and no other.
    """
    given = parameter_and_buffer_dicts
    named = dict(given) if isinstance(given, dict) else {k: v for part in given for k, v in part.items()}
    own = {name for each in (module.named_parameters(), module.named_buffers()) for name, _ in each}
    unknown, missing = sorted(named.keys() - own), sorted(own - named.keys())
    if strict and (unknown or missing):
        raise RuntimeError(f"Missing key(s): {', '.join(missing)}. Unexpected key(s): {', '.join(unknown)}.")
    changed: list[tuple[dict[str, Any], str, Any]] = []
    try:
        for name, value in named.items():
            path, _, last = name.rpartition(".")
            owner = module.get_submodule(path)
            home = owner._buffers if last in owner._buffers else owner._parameters
            if last not in home:
                raise KeyError(name)
            changed.append((home, last, home[last]))
            home[last] = value
        arguments = () if args is None else args if isinstance(args, tuple) else (args,)
        return module(*arguments, **(kwargs or {}))
    finally:
        for home, last, value in reversed(changed):
            home[last] = value


__all__ = ["functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp", "vmap"]
