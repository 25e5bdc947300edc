"""torch.func: functions that turn a function into its derivative.  `vmap` is an honest loop."""

from __future__ import annotations

from collections.abc import Callable
from operator import methodcaller
from typing import Any

from minigrad.autograd import functional
from minigrad.autograd.gradients import grad as _grad
from minigrad.autograd.gradients import zeros_like
from minigrad.shapes import stack
from minigrad.tape import enable_grad, is_grad_enabled
from minigrad.tensor import Tensor

Func = Callable[..., Any]


def _mapped(change: Func, x: Any) -> Any:
    """A tensor, or each tensor in tuples, lists and dictionaries, changed."""
    if isinstance(x, dict):
        return {name: _mapped(change, value) for name, value in x.items()}
    return type(x)(_mapped(change, value) for value in x) if isinstance(x, (tuple, list)) else change(x)


def _tensors(x: Any) -> list[Tensor]:
    """All tensors in there, in order."""
    if isinstance(x, (dict, tuple, list)):
        return [t for value in (x.values() if isinstance(x, dict) else x) for t in _tensors(value)]
    return [x] if isinstance(x, Tensor) else []


def grad_and_value(func: Func, argnums: int | tuple[int, ...] = 0, has_aux: bool = False) -> Func:
    """A function that returns (gradient, value) of `func` with respect to the arguments `argnums`.  `func` returns a
    tensor with one element, or with `has_aux` a pair of that and anything else."""

    def derivative(*args: Any, **kwargs: Any) -> Any:
        nested = is_grad_enabled()
        places = (argnums,) if isinstance(argnums, int) else argnums
        with enable_grad():
            leaves = list(args)
            for i in places:
                leaves[i] = _mapped(lambda x: x.view_as(x) if x.requires_grad else x.detach().requires_grad_(), args[i])
            answer = func(*leaves, **kwargs)
            value, aux = answer if has_aux else (answer, None)
            if not isinstance(value, Tensor):
                raise RuntimeError(f"Expected f(*args) to return a scalar tensor, got {type(value).__name__}")
            if value.dim() != 0:
                raise RuntimeError(
                    "Expected f(*args) to return a scalar tensor, got tensor with "
                    f"{value.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            wanted = tuple(_tensors([leaves[i] for i in places]))
            if value.requires_grad:
                found = _grad(value, wanted, create_graph=nested, retain_graph=True, allow_unused=True)
            else:
                found = (None,) * len(wanted)
        gradients = tuple(zeros_like(x) if g is None else g for g, x in zip(found, wanted, strict=True))
        connected = any(x.requires_grad for x in _tensors(args))
        if not connected:
            gradients, value = tuple(g.detach() for g in gradients), value.detach()
        each = iter(gradients)
        shaped = tuple(_mapped(lambda _: next(each), leaves[i]) for i in places)
        first = shaped[0] if isinstance(argnums, int) else shaped
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
        sizes = {t.shape[d] for a, d in zip(args, dims, strict=True) if d is not None for t in _tensors(a)}
        if len(sizes) != 1:
            raise ValueError(
                f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sorted(sizes)}"
            )
        results = [
            func(*(a if d is None else _mapped(methodcaller("select", d, i), a) for a, d in zip(args, dims, strict=True)))
            for i in range(sizes.pop())
        ]
        columns = zip(*map(_tensors, results), strict=True)
        return _mapped(lambda _: stack(next(columns), out_dims), results[0])

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
