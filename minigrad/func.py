"""torch.func: functions that turn a function into its derivative.  `vmap` is an honest loop.

Each takes tensors also in tuples, lists and dictionaries.  A transform differentiates by inputs of its own (`_traced`);
its results require grad only if the function also met a tensor from outside that does, be it through another transform.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any

import numpy as np

from minigrad.autograd.function import OTHER_SIZE
from minigrad.autograd.gradients import grad as _grad
from minigrad.autograd.gradients import zeros_like
from minigrad.autograd.graph import disable_saved_tensors_hooks
from minigrad.creation import eye
from minigrad.function import Function
from minigrad.joining import stack
from minigrad.random import get_rng_state, set_rng_state
from minigrad.tape import ancestors, enable_grad, is_grad_enabled, mode
from minigrad.tensor import Tensor

Func = Callable[..., Any]
Argnums = int | tuple[int, ...]


# ------------------------------------------------------------------------------------------- tensors in containers


def _leaves(tree: Any) -> list[Any]:
    """All that is no container, in order."""
    if isinstance(tree, (dict, tuple, list)):
        return [x for part in (tree.values() if isinstance(tree, dict) else tree) for x in _leaves(part)]
    return [tree]


def _mapped(change: Func, tree: Any) -> Any:
    """The same containers, with what is in them changed."""
    if isinstance(tree, dict):
        made = tree.copy()  # an OrderedDict, or one with a default, stays one
        made.update((name, _mapped(change, part)) for name, part in tree.items())
        return made
    if isinstance(tree, (tuple, list)):
        parts = [_mapped(change, part) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    return change(tree)


def _refilled(tree: Any, values: Any) -> Any:
    """The same containers around other values."""
    each = iter(values)
    return _mapped(lambda _: next(each), tree)


class _Star:
    def __repr__(self) -> str:
        return "*"


def _structure(tree: Any) -> str:
    """The containers only, as PyTorch writes them: (*, [*, *])."""
    return repr(_mapped(lambda _: _Star(), tree))


# ------------------------------------------------------------------------------------------- where transforms begin


def _chosen(args: tuple[Any, ...], argnums: Argnums) -> tuple[int, ...]:
    """Which arguments to differentiate by, after PyTorch's checks."""
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    numbers = argnums if isinstance(argnums, tuple) else (argnums,)
    for i in numbers:
        if not isinstance(i, int):
            raise RuntimeError(f"argnum must be int, got: {type(i)}")
        if not -len(args) <= i < len(args):
            raise RuntimeError(f"Got argnum={i}, but only {len(args)} positional inputs")
    found = tuple(i % len(args) for i in numbers)
    if not found:
        raise RuntimeError("argnums must be non-empty")
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {found}")
    return found


class Transform:
    """A transform while it runs its function: what it makes of custom Functions, and of saved-tensor hooks, in there."""

    def __enter__(self) -> None:
        self.guard = self.guarded()
        self.guard.__enter__()
        mode.transforms.append(self)

    def __exit__(self, *_: object) -> None:
        mode.transforms.remove(self)
        self.guard.__exit__(None, None, None)

    def guarded(self) -> AbstractContextManager[Any]:
        """Where PyTorch refuses hooks on saved tensors, so do we."""
        return disable_saved_tensors_hooks(NO_SAVED_HOOKS)

    def admit(self, function: Any, separate: bool) -> None:
        """RuntimeError for a Function that PyTorch does not take: no `setup_context`, or vmap does not know how to map it."""
        if function.jvp is None:
            return  # one of our own
        if not separate:
            raise RuntimeError(NO_SETUP_CONTEXT)
        if any(isinstance(each, Mapping) for each in mode.transforms):
            own = function.vmap is not Function.vmap  # type: ignore[attr-defined]
            if own and function.generate_vmap_rule:
                raise RuntimeError(NOT_MAPPED.format(function.__name__, TWO_RULES))
            if not own and not function.generate_vmap_rule:
                raise RuntimeError(NOT_MAPPED.format(function.__name__, NO_RULE))

    def recorded(self, ctx: Any, outputs: Any) -> None:
        """Called when a Function has written its node."""


class Pushing(Transform):
    """jvp (and vmap), which has nothing against hooks on saved tensors."""

    def guarded(self) -> AbstractContextManager[Any]:
        return nullcontext()


class Mapping(Pushing):
    """vmap, which wants to know of a Function how it is mapped (though ours calls it for each slice)."""


NO_SAVED_HOOKS = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with your use case."
)
NOT_MAPPED = (
    "You tried to vmap over {}, but it {}. For more details, please see "
    "https://pytorch.org/docs/main/notes/extending.func.html"
)
NO_RULE = (
    "does not have vmap support. Please override and implement the vmap staticmethod or set generate_vmap_rule=True"
)
TWO_RULES = (
    "has both generate_vmap_rule=True and an overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the "
    "overridden vmap staticmethod to avoid ambiguity"
)
NO_SETUP_CONTEXT = (
    "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override the "
    "setup_context staticmethod. For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"
)


class _Traced:
    """One call of a function, by inputs of its own: what it gave, and whether that also leads to tensors outside."""

    def __init__(
        self, api: str, func: Func, args: tuple[Any, ...], argnums: Argnums, has_aux: bool, keywords: dict[str, Any]
    ) -> None:
        places = _chosen(args, argnums)
        forward = api.startswith(("jvp", "jacfwd", "linearize"))
        for x in _leaves([args[i] for i in places]) if forward else ():
            if isinstance(x, Tensor) and not x.is_floating_point():
                raise ValueError(f"Expected primal to be floating point or complex, but got: {x.dtype}")
        with enable_grad(), Pushing() if api[0] in "jl" else Transform():
            own = {i: _mapped(_own, args[i]) for i in places}
            given = [own.get(i, a) for i, a in enumerate(args)]
            if forward:  # there the function may write into its inputs
                given = [_mapped(_stand_in, a) if i in own else a for i, a in enumerate(given)]
            answer = func(*given, **keywords)
        for x in _leaves([own[i] for i in places]):
            if x.is_leaf:  # what an outer transform finds behind our results is no tensor of the caller's
                x._node.__dict__["_of_transform"] = True
        if has_aux and not (isinstance(answer, tuple) and len(answer) == 2):
            raise RuntimeError(f"{api}: output of function f should be a tuple: (output, aux) if has_aux is True")
        for x in _leaves(answer[1]) if has_aux else ():
            if not isinstance(x, Tensor):
                raise RuntimeError(f"Expected tensors, got unsupported type {type(x)}")
        self.value: Any = answer[0] if has_aux else answer
        self.aux: Any = answer[1] if has_aux else None
        self.own = tuple(own[i] for i in places) if isinstance(argnums, tuple) else own[places[0]]
        self.wanted: tuple[Tensor, ...] = tuple(_leaves([own[i] for i in places]))
        self.outputs = _leaves(self.value)

    def only_tensors(self, api: str) -> None:
        """RuntimeError unless the function gave tensors, and at least one."""
        if self.outputs in ([], [None]):
            raise RuntimeError(
                f"{api}: Expected f to be a function that has non-empty output (got output = {self.outputs})"
            )
        for y in self.outputs:
            if not isinstance(y, Tensor):
                raise RuntimeError(
                    f"{api}: expected f(*primals) to return only tensors, got unsupported type {type(y)}"
                )

    def connected(self, *further: Any) -> bool:
        """Is there, behind the outputs or these further tensors, a leaf that is not of our own making?"""
        return leads_further((*self.outputs, *further), self.wanted)

    def outward(self, tree: Any, connected: bool) -> Any:
        """Results as the caller sees them: cut off from our own inputs, unless they lead further."""
        return tree if connected else _mapped(lambda t: t.detach() if isinstance(t, Tensor) else t, tree)


def _own(x: Any) -> Any:
    if not isinstance(x, Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
    if x.requires_grad:
        return x.view_as(x)
    return (x.clone() if x.is_inference() else x.detach()).requires_grad_()


def _stand_in(x: Tensor) -> Tensor:
    """What the function is given for one of our own inputs: no view of anything, but a write to x is seen on it."""
    given: Tensor = x.view_as(x)
    given._view = None
    return given


def leads_further(tensors: Any, own: Any) -> bool:
    """Whether somebody outside, who records, could differentiate these tensors by others than our own leaves."""
    inside = {x._node for x in own}
    reached = ancestors([t._node for t in tensors if isinstance(t, Tensor) and t._node is not None], 0)
    return is_grad_enabled() and any(
        not n.parents and n not in inside and "_of_transform" not in n.__dict__ for n in reached
    )


def _products(
    outputs: Any, inputs: tuple[Tensor, ...], weights: Any, create_graph: bool, batched: bool = False
) -> list[Any]:
    """The gradients of the outputs, with these weights, by each input; None where nothing depends."""
    pairs = [(y, v) for y, v in zip(outputs, weights, strict=True) if y.requires_grad]
    if not pairs:
        return [None] * len(inputs)
    ys, vs = zip(*pairs, strict=True)
    return list(
        _grad(ys, inputs, vs, create_graph=create_graph, retain_graph=True, allow_unused=True, is_grads_batched=batched)
    )


# ------------------------------------------------------------------------------------------- derivatives


def grad_and_value(func: Func, argnums: Argnums = 0, has_aux: bool = False) -> Func:
    """A function that returns (gradient, value) of `func` with respect to the arguments `argnums`.

    `func` returns a tensor without dimensions, or with `has_aux` a pair of that and anything else: then (gradient,
    (value, aux)).  The gradient has the containers of the argument; a tuple of these if `argnums` is one.

    >>> torch.func.grad_and_value(lambda x: x**3)(torch.tensor(2.0))
    (tensor(12.), tensor(8.))
    """

    @wraps(func)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        api = "grad_and_value(f)(*args)"
        traced = _Traced(api, func, args, argnums, has_aux, kwargs)
        value = traced.value
        if not isinstance(value, Tensor):
            raise RuntimeError(f"{api}: Expected f(*args) to return a Tensor, got {type(value)}")
        if value.dim() != 0:
            raise RuntimeError(
                f"{api}: Expected f(*args) to return a scalar Tensor, got tensor with {value.dim()} dims. Maybe you wanted to "
                "use the vjp or jacrev APIs instead?"
            )
        connected = traced.connected()
        found = _products([value], traced.wanted, [None], connected)
        gradients = [zeros_like(x) if g is None else g for g, x in zip(found, traced.wanted, strict=True)]
        answer = traced.outward((value, traced.aux) if has_aux else value, connected)
        return _refilled(traced.own, gradients), answer

    return derivative


def grad(func: Func, argnums: Argnums = 0, has_aux: bool = False) -> Func:
    """A function that returns the gradient of `func` (and its second result, with `has_aux`).

    >>> torch.func.grad(torch.func.grad(lambda x: x**3))(torch.tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @wraps(func)
    def derivative(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return derivative


def vjp(func: Func, *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """(func(*primals), a function from a cotangent to the vector-Jacobian products, one per primal, and perhaps aux).

    The cotangent has the containers and shapes of func's output.

    >>> value, product = torch.func.vjp(lambda x: x**2, torch.tensor([1.0, 3.0]))
    >>> product(torch.tensor([1.0, 0.5]))
    (tensor([2., 3.]),)
    """
    api = "vjp(f, *primals)"
    traced = _Traced(api, func, primals, tuple(range(len(primals))), has_aux, {})
    traced.only_tensors(api)
    for y in traced.outputs:
        if not y.dtype.is_floating_point:
            raise RuntimeError(
                f"vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype {y.dtype}"
            )

    def product(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        if _structure(cotangents) != _structure(traced.value):
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
                f"cotangents: {_structure(cotangents)}, primal output: {_structure(traced.value)}"
            )
        weights = _leaves(cotangents)
        found = _products(traced.outputs, traced.wanted, weights, traced.connected(*weights))
        return _refilled(
            traced.own, (zeros_like(x) if g is None else g for g, x in zip(found, traced.wanted, strict=True))
        )

    outputs, aux = traced.outward((traced.value, traced.aux), traced.connected())
    return (outputs, product, aux) if has_aux else (outputs, product)


def _tangents(api: str, primals: Any, tangents: Any) -> list[Tensor]:
    if _structure(primals) != _structure(tangents):
        raise RuntimeError(
            f"{api}: Expected primals and tangents to have the same python structure. For example, if primals is a tuple of 3 "
            f"tensors, tangents also must be. Got primals with structure {_structure(primals)} and tangents with structure "
            f"{_structure(tangents)}"
        )
    for name, found in (("primals", _leaves(primals)), ("tangents", _leaves(tangents))):
        if not found:
            raise RuntimeError(f"{api}: Expected {name} to contain at least one Tensor.")
        for x in found:
            if not isinstance(x, Tensor):
                raise RuntimeError(f"{api}: Expected {name} to only contain Tensors, got {type(x)}")
    return _leaves(tangents)


def pushed(
    outputs: list[Tensor], own: Any, tangents: Any, create_graph: bool, level: Any = None, batched: bool = False
) -> list[Tensor | None]:
    """How the outputs move as their own inputs move along the tangents, by two backward passes: d/du of (u . J) . v is J v.

    None for an output that does not depend on them.  A custom Function is asked for its jvp (see autograd/function.py).
    `batched`: the tangents have one dimension more in front.
    """
    moving = [y for y in outputs if y.requires_grad]
    dummies = tuple(zeros_like(y).requires_grad_() for y in moving)
    before, mode.pushing = mode.pushing, level or own
    try:
        with enable_grad():
            through = _products(moving, own, dummies, True)
    finally:
        mode.pushing = before
    pairs = [(g, v) for g, v in zip(through, tangents, strict=True) if g is not None]
    found = iter(_products([g for g, _ in pairs], dummies, [v for _, v in pairs], create_graph, batched))
    return [next(found) if y.requires_grad else None for y in outputs]


def _pushed(traced: _Traced, vs: list[Tensor], strict: bool = False) -> tuple[Any, bool]:
    """The Jacobian-vector products, in the output's containers; and whether they lead outside."""
    connected = traced.connected(*vs)
    found = pushed(traced.outputs, traced.wanted, vs, connected)
    if strict and any(g is None for g in found):
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not allowed with "
            "strict=True."
        )
    known = [zeros_like(y) if g is None else g for g, y in zip(found, traced.outputs, strict=True)]
    return _refilled(traced.value, known), connected


def jvp(func: Func, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> tuple[Any, ...]:
    """(func(*primals), the Jacobian times the tangents, and perhaps aux).  Primals and tangents are tuples, alike in shape.

    >>> torch.func.jvp(lambda x: x**2, (torch.tensor([1.0, 3.0]),), (torch.tensor([1.0, 0.5]),))
    (tensor([1., 9.]), tensor([2., 3.]))
    """
    api = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{api}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    vs = _tangents(api, primals, tangents)
    for x, v in zip(_leaves(primals), vs, strict=True):
        if x.is_floating_point() and not v.is_floating_point():
            raise ValueError(f"Expected tangent to be floating point or complex, but got: {v.dtype}")
        if x.is_floating_point() and x.shape != v.shape:
            raise RuntimeError(OTHER_SIZE.format(list(x.shape), list(v.shape)))
    traced = _Traced(api, func, primals, tuple(range(len(primals))), has_aux, {})
    traced.only_tensors(api)
    pushed, connected = _pushed(traced, vs, strict)
    outputs, aux = traced.outward((traced.value, traced.aux), connected)
    return (outputs, pushed, aux) if has_aux else (outputs, pushed)


def linearize(func: Func, *primals: Any) -> tuple[Any, Func]:
    """(func(*primals), a function from tangents to the Jacobian times them): `func` itself runs only once."""
    traced = _Traced("linearize", func, primals, tuple(range(len(primals))), False, {})
    traced.only_tensors("linearize")

    def product(*tangents: Any) -> Any:
        vs = _tangents("linearize", primals, tangents)
        for i, (v, x) in enumerate(zip(vs, traced.wanted, strict=True)):
            for what, got, due in (("shape", v.shape, x.shape), ("dtype", v.dtype, x.dtype)):
                if got != due:
                    raise RuntimeError(
                        f"tangent:{i} with {what} {got} in flattened pytree doesn't match the {what} {due} of the "
                        "corresponding primal."
                    )
        return _pushed(traced, vs)[0]

    return traced.outward(traced.value, traced.connected()), product


def jacrev(
    func: Func,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Func:
    """A function that returns the Jacobian of `func`: for each output (in its containers) and each tensor of the argument
    (in its containers) a tensor of shape output.shape + input.shape.

    >>> torch.func.jacrev(lambda x: x**2)(torch.tensor([1.0, 3.0]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    return _jacobian("jacrev", "vjp(f, *primals)", func, argnums, has_aux, chunk_size)


def jacfwd(func: Func, argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error") -> Func:
    """The same Jacobian as `jacrev`, by pushing each direction of the input forward (see `jvp`).

    `func` may draw random numbers only if `randomness` is "same" or "different"; it is called once either way.
    """
    _check_randomness(randomness)
    jacobian = _jacobian("jacfwd", "jvp(f, primals, tangents)", func, argnums, has_aux, None)

    @wraps(func)
    def checked(*args: Any) -> Any:
        state = get_rng_state()
        answer = jacobian(*args)
        _refuse_draws(randomness, state)
        return answer

    return checked


def _check_randomness(randomness: str) -> None:
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")


def _refuse_draws(randomness: str, before: Tensor) -> None:
    """RuntimeError if numbers were drawn though that was to be an error; they are put back."""
    if randomness == "error" and bool((get_rng_state() != before).any()):
        set_rng_state(before)
        raise RuntimeError(RANDOM)


def _jacobian(name: str, api: str, func: Func, argnums: Argnums, has_aux: bool, chunk_size: int | None) -> Func:
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"{name}: `chunk_size` should be greater than 0.")

    @wraps(func)
    def jacobian(*args: Any) -> Any:
        with Mapping() if name == "jacfwd" else nullcontext():
            traced = _Traced(api, func, args, argnums, has_aux, {})
        traced.only_tensors(api)
        connected = traced.connected()

        def rows(y: Tensor) -> Any:
            if name == "jacfwd":
                return _refilled(traced.own, [_column(y, traced.wanted, i, connected) for i in range(len(traced.wanted))])
            basis = eye(y.numel(), dtype=y.dtype).reshape((y.numel(), *y.shape))
            found: list[Any] = [None] * len(traced.wanted)
            if y.numel():
                found = _products([y], traced.wanted, [basis], connected, batched=True)
            return _refilled(
                traced.own,
                [
                    y.new_zeros((*y.shape, *x.shape)) if g is None else g.reshape((*y.shape, *x.shape))
                    for g, x in zip(found, traced.wanted, strict=True)
                ],
            )

        answer = _mapped(rows, traced.value)
        return (answer, traced.outward(traced.aux, connected)) if has_aux else answer

    return jacobian


def _column(y: Tensor, inputs: tuple[Tensor, ...], i: int, connected: bool) -> Tensor:
    """dy / d(input number i), of shape y.shape + x.shape: how y moves along each direction of x, all others at rest."""
    x = inputs[i]
    if x.numel():
        basis = eye(x.numel(), dtype=x.dtype).reshape((x.numel(), *x.shape))
        (found,) = pushed([y], (x,), [basis], connected, batched=True)
        if found is not None:
            return found.movedim(0, -1).reshape((*y.shape, *x.shape))  # type: ignore[no-any-return]
    return y.new_zeros((*y.shape, *x.shape))  # type: ignore[no-any-return]


def hessian(func: Func, argnums: Argnums = 0) -> Func:
    """A function that returns the second derivatives of `func`: the Jacobian of its Jacobian.

    >>> torch.func.hessian(lambda x: x**3)(torch.tensor(2.0))
    tensor(12.)
    """
    return jacfwd(jacrev(func, argnums), argnums)


# ------------------------------------------------------------------------------------------- vmap


def _spread(dims: Any, tree: Any) -> Iterator[Any]:
    """For each thing in the tree its entry of `dims`, which may say one for a whole container.  KeyError if they differ."""
    if not isinstance(dims, (tuple, list, dict)):
        yield from (dims for _ in _leaves(tree))
    elif isinstance(dims, dict) and isinstance(tree, dict) and dims.keys() == tree.keys():
        for key, part in tree.items():
            yield from _spread(dims[key], part)
    elif type(dims) is type(tree) and len(dims) == len(tree):
        for dim, part in zip(dims, tree, strict=True):
            yield from _spread(dim, part)
    else:
        raise KeyError


RANDOM = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness "
    "flags on vmap or perform the randomness operation out of vmap"
)


def vmap(
    func: Func, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: int | None = None
) -> Func:
    """A function that applies `func` to each slice along the dimensions `in_dims` and stacks the results along `out_dims`.

    Both are a number, or containers of numbers like the arguments and the result; None: not sliced, and so are keyword
    arguments.  randomness: "different" numbers for each slice, the "same", or an "error".
    ValueError if the sizes differ, or if `func` returns something that is no tensor.

    >>> torch.func.vmap(torch.dot)(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[1.0, 1.0], [0.0, 2.0]]))
    tensor([3., 8.])
    """
    _check_randomness(randomness)
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    name = getattr(func, "__name__", repr(func))

    @wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        dims = _dims_of(name, in_dims, args)
        things = _leaves(args)
        sizes = [a.shape[d] for a, d in zip(things, dims, strict=True) if d is not None]
        if not sizes:
            raise ValueError("vmap: Expected at least one Tensor to vmap over")
        if len(set(sizes)) > 1:
            raise ValueError(
                "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
                f"{sizes} for the mapped dimension"
            )
        state, results = get_rng_state(), []
        for i in range(sizes[0] or 1):
            if randomness == "same":
                set_rng_state(state)
            slices = (a if d is None else _slice(a, d, i) for a, d in zip(things, dims, strict=True))
            with Mapping():
                results.append(func(*_refilled(args, slices), **kwargs))
        _refuse_draws(randomness, state)
        return _stacked(name, results, out_dims, sizes[0])

    return mapped


def _slice(a: Tensor, dim: int, i: int) -> Tensor:
    """Slice number i; of nothing a slice of zeros, which shows what shape the result has."""
    return a.select(dim, i) if a.shape[dim] else a.sum(dim).to(a.dtype)  # type: ignore[no-any-return]


def _dims_of(name: str, in_dims: Any, args: tuple[Any, ...]) -> list[Any]:
    """Along which dimension to slice each tensor of the arguments, after PyTorch's checks."""
    where = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{where}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: "
            f"{type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function "
            "with no inputs. The latter is unsupported."
        )
    try:
        dims = list(_spread(in_dims, args))
    except KeyError:
        raise ValueError(
            f"{where}in_dims is not compatible with the structure of `inputs`. in_dims has structure {_structure(in_dims)} but "
            f"inputs has structure {_structure(args)}."
        ) from None
    for a, d in zip(_leaves(args), dims, strict=True):
        if d is not None and not isinstance(d, int):
            raise ValueError(
                f"{where}Got in_dim={d} for an input but in_dim must be either an integer dimension or None."
            )
        if d is not None and not isinstance(a, Tensor):
            raise ValueError(
                f"{where}Got in_dim={d} for an input but the input is of type {type(a)}. We cannot vmap over non-Tensor "
                "arguments, please use None as the respective in_dim"
            )
        if d is not None and not -a.dim() <= d < a.dim():
            raise ValueError(
                f"{where}Got in_dim={d} for some input, but that input is a Tensor of dimensionality {a.dim()} so expected "
                f"in_dim to satisfy -{a.dim()} <= in_dim < {a.dim()}."
            )
    return dims


def _stacked(name: str, results: list[Any], out_dims: Any, size: int) -> Any:
    first = results[0]
    if not all(dim is None or isinstance(dim, int) for dim in _leaves(out_dims)):
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of ints "
            "representing where in the outputs the vmapped dimension should appear."
        )
    dims = (out_dims,) if isinstance(first, Tensor) and not isinstance(out_dims, tuple) else out_dims
    try:
        where = list(_spread(dims, (first,) if isinstance(first, Tensor) else first))
    except KeyError:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of `outputs`. "
            f"out_dims has structure {_structure(out_dims)} but outputs has structure {_structure(first)}."
        ) from None
    columns = []
    for dim, column in zip(where, zip(*map(_leaves, results), strict=True), strict=True):
        if dim is None:
            if not all(x is column[0] or _equal(x, column[0]) for x in column):
                raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
            columns.append(column[0])
            continue
        if not isinstance(column[0], Tensor):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(column[0])}. Did you mean to set "
                "out_dims= to None for output?"
            )
        columns.append(stack(column, dim) if size else stack(column, dim).narrow(dim, 0, 0))
    return _refilled(first, columns)


def _equal(x: Any, y: Any) -> bool:
    """Whether two slices gave the same: then it did not come from the slice."""
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        return np.array_equal(x._data, y._data, equal_nan=x.dtype.is_floating_point)
    return bool(x == y)


# ------------------------------------------------------------------------------------------- modules as functions


def stack_module_state(models: Any) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """(parameters, buffers) of several modules of one kind, each stacked along a new first dimension: for an ensemble
    that `functional_call` and `vmap` run at once.  The parameters are leaves of their own.  RuntimeError if kinds differ."""
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if not (all(m.training for m in models) or all(not m.training for m in models)):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if not all(type(m) is type(models[0]) for m in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")

    def together(several: list[dict[str, Tensor]]) -> dict[str, Tensor]:
        made = {}
        for name, one in several[0].items():
            wanted = {each[name].requires_grad for each in several}
            if len(wanted) > 1:
                raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
            made[name] = stack([each[name].detach() for each in several]).requires_grad_(one.requires_grad)
        return made

    return together([dict(m.named_parameters()) for m in models]), together([dict(m.named_buffers()) for m in models])


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

    >>> layer = torch.nn.Linear(1, 1, bias=False)
    >>> torch.func.functional_call(layer, {"weight": torch.tensor([[3.0]])}, (torch.tensor([2.0]),))
    tensor([6.])
    """
    given = parameter_and_buffer_dicts
    if not isinstance(given, (dict, list, tuple)):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(given)}"
        )
    names = Counter(name for part in ([given] if isinstance(given, dict) else given) for name in part)
    if twice := [name for name, count in names.items() if count > 1]:
        raise ValueError(f"{twice} appeared in multiple dictionaries; behavior of functional call is ambiguous")
    named = dict(given) if isinstance(given, dict) else {k: v for part in given for k, v in part.items()}
    own = {name for each in (module.named_parameters(), module.named_buffers()) for name, _ in each}
    unknown, missing = sorted(named.keys() - own), sorted(own - named.keys())
    if strict and (unknown or missing):
        wrong = [
            f"\n\t{what} key(s): {', '.join(map(repr, found))}."
            for what, found in (("Unexpected", unknown), ("Missing", missing))
            if found
        ]
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:{''.join(wrong)}")
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


__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "stack_module_state",
    "vjp",
    "vmap",
]
