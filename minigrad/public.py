"""How a Python function becomes part of the public face: `minigrad.exp(x)`, `x.exp()`, `x.exp_()`.

`function` registers under PyTorch's name, checks that the first argument is a tensor, knows numpy's keyword names
(`axis` for `dim`) and the argument `out=`. What is registered is collected in FUNCTIONS, for `minigrad/__init__.py`.
"""

from __future__ import annotations

import functools
import importlib
from collections import namedtuple
from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np

from minigrad import derivatives as table
from minigrad import dtypes, errors, inplace
from minigrad.inplace import into as into
from minigrad.tape import mode
from minigrad.tensor import Array, Tensor, wrap
from minigrad.tensor import plain as plain
from minigrad.versions import noticing

FUNCTIONS: dict[str, Any] = {}
methods: Any = Tensor  # the class, as something to hang methods on
ALIASES = {
    **{"axis": "dim", "keepdims": "keepdim", "x": "input", "x1": "input", "x2": "other", "a": "input"},
    **{"mat": "first", "vec": "second", "vec1": "first", "vec2": "second", "batch1": "first", "batch2": "second"},
}


F = TypeVar("F", bound=Callable[..., Any])


@overload
def function(implementation: F) -> F: ...


@overload
def function(
    *, name: str = "", names: tuple[str, ...] = (), method: bool = True, inplace: bool = False
) -> Callable[[F], F]: ...


@overload
def function(
    implementation: F, *, name: str = "", names: tuple[str, ...] = (), method: bool = True, inplace: bool = False
) -> F: ...


def function(
    implementation: Any = None,
    *,
    name: str = "",
    names: tuple[str, ...] = (),
    method: bool = True,
    inplace: bool = False,
) -> Any:
    """Register a function under its own name (and other `names`), as a method too, and perhaps with `name_`."""
    if implementation is None:
        return lambda f: function(f, name=name, names=names, method=method, inplace=inplace)
    own = name or implementation.__name__.rstrip("_")

    def face(name: str, as_method: bool) -> Any:
        seen: set[Any] = set()

        def call(*args: Any, **keywords: Any) -> Any:
            kinds = kinds_of(args, keywords)
            if kinds not in seen:
                _look(name, args, keywords, as_method)
                seen.add(kinds)
            try:
                if keywords:
                    return _call_with(own, implementation, args, {**keywords})
                if not args or not isinstance(args[0], Tensor):
                    return implementation(*_with_a_number_first(own, args))
                return implementation(*args)
            except Exception as error:
                args, keywords = _again(error, name, args, keywords, as_method)
            return _call_with(own, implementation, args, keywords)

        return _named(call, name, implementation)

    register(face, own, *names, method=method, made=True)
    if inplace:
        for each in (own, *names):
            in_place(each, getattr(Tensor, each) if method else FUNCTIONS[each])
    return FUNCTIONS[own]


def kinds_of(args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The types of all arguments, and the names of those that have one: what `seen` knows calls by."""
    if keywords:
        return (*map(type, args), *keywords, *map(type, keywords.values()))
    if len(args) == 1:  # spelled out, for `map` takes longer than a small operation
        return type(args[0])
    if len(args) == 2:
        return type(args[0]), type(args[1])
    if len(args) == 3:
        return type(args[0]), type(args[1]), type(args[2])
    return tuple(map(type, args))


def _refused(name: str, args: tuple[Any, ...], keywords: dict[str, Any], as_method: bool) -> TypeError | None:
    from minigrad import refusals

    return refusals.why(name, args, keywords, as_method)


def _again(
    error: Exception, name: str, args: tuple[Any, ...], keywords: dict[str, Any], as_method: bool
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The same arguments in our order and names, where PyTorch has others too; else raises why they were refused."""
    from minigrad import refusals

    reason = refusals.why(name, args, keywords, as_method)
    if reason is not None:
        raise reason from None
    found = refusals.by_old_form(name, args, keywords, as_method)
    if found is None and isinstance(error, TypeError):
        found = refusals.in_places(name, args, keywords, as_method)
    if found is None:
        raise error
    return found


def _look(name: str, args: tuple[Any, ...], keywords: dict[str, Any], as_method: bool) -> None:
    """Refuse arguments of types that PyTorch refuses: asked once for each combination of types."""
    reason = _refused(name, args, keywords, as_method)
    if reason is not None:
        raise reason


def told(call: Any, name: str, as_method: bool = False, order: str = "") -> Any:
    """The same function, which refuses wrong arguments in PyTorch's words: such types, and what made it raise.

    With `order` it is PyTorch's function of this name, called with these arguments of ours, that reads them.
    """
    seen: set[Any] = set()

    def refused(args: tuple[Any, ...], keywords: dict[str, Any]) -> TypeError | None:
        from minigrad import refusals

        return refusals.within(call, name, order, args, keywords) if order else _refused(name, args, keywords, as_method)

    def with_reason(*args: Any, **keywords: Any) -> Any:
        kinds = kinds_of(args, keywords)
        if kinds not in seen:
            reason = refused(args, keywords)
            if reason is not None:
                raise reason
            seen.add(kinds)
        try:
            return call(*args, **keywords)
        except Exception as error:
            reason = refused(args, keywords) if order else None
            if reason is not None:
                raise reason from None
            if order:
                raise
            args, keywords = _again(error, name, args, keywords, as_method)
        return call(*args, **keywords)

    return _named(with_reason, call.__name__ if order else name, call)


def tell(namespace: dict[str, Any]) -> None:
    """Let what makes tensors, and the methods that are no functions too, say what is wrong with their arguments."""
    for name in MAKERS:
        namespace[name] = told(namespace[name], name)
    for name in METHODS:
        setattr(Tensor, name, told(getattr(Tensor, name), name, True))


# Functions that make tensors, and methods that are written as such, whose arguments PyTorch reads itself.
MAKERS = (
    "arange", "bernoulli", "empty", "empty_like", "eye", "full", "full_like", "linspace", "logspace", "multinomial", "normal",
    "ones", "ones_like", "poisson", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "range",
    "tril_indices", "triu_indices", "vander", "zeros", "zeros_like",
)  # fmt: skip
METHODS = (
    "bernoulli", "bernoulli_", "cauchy_", "expand", "expand_as", "exponential_", "fill_", "fill_diagonal_", "geometric_",
    "index_put_", "log_normal_", "multinomial", "new_empty", "new_full", "new_ones", "new_zeros", "normal_", "random_",
    "repeat", "reshape_as", "resize_", "squeeze_", "sum_to_size", "swapaxes_", "swapdims_", "t_", "transpose_", "type_as",
    "unfold", "uniform_", "unsqueeze_", "view", "view_as",
)  # fmt: skip


def _named(call: Any, name: str, like: Any) -> Any:
    call.__name__ = call.__qualname__ = name
    call.__doc__, call.__module__, call.__wrapped__ = like.__doc__, like.__module__, like
    return call


def register(call: Any, *names: str, method: bool = True, made: bool = False) -> None:
    """Offer a function under these names, with `method` as methods of tensors too; `made`: `call` makes it from its name."""
    make = call if made else functools.partial(told, call)
    for each in names:
        FUNCTIONS[each] = make(each, False)
        if method:
            setattr(Tensor, each, make(each, True))


def _call_with(own: str, implementation: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    if "out" in keywords and own in NO_OUT:
        raise TypeError(f"{own}() got an unexpected keyword argument 'out'")
    out = keywords.pop("out", None)
    if out is not None and not isinstance(out, (Tensor, tuple, list)):
        raise TypeError(f"{own}(): argument 'out' must be Tensor, not {errors.type_name(out)}")
    for alias in ALIASES.keys() & keywords.keys():
        if alias not in implementation.__code__.co_varnames:
            keywords[ALIASES[alias]] = keywords.pop(alias)
    first = implementation.__code__.co_varnames[0]
    if "input" in keywords and first != "input":
        keywords[first] = keywords.pop("input")
    if args and "self" in keywords:
        raise TypeError(f"{own}() got multiple values for argument 'self'")
    given = args[:1] or (keywords.get(first),)
    if not isinstance(given[0], Tensor):
        args = _with_a_number_first(own, args or given)
    for place, name in enumerate(
        implementation.__code__.co_varnames[: min(len(args), implementation.__code__.co_argcount)]
    ):
        if name in keywords:
            raise TypeError(f"{own}() got multiple values for argument {name!r} (position {place + 1})")
    try:
        result = implementation(*args, **keywords)
    except TypeError as error:
        raise (TypeError(str(error)) if "keyword" in str(error) else error) from None
    if out is None:
        return result
    check_asked(keywords.get("dtype"), out)
    check_out(own, out, result, (*args, *keywords.values()))
    return into(out, result, own)


def check_asked(dtype: Any, out: Any) -> None:
    """RuntimeError for `out=` of another type than the one that `dtype=` asks for."""
    if dtype is not None and isinstance(out, Tensor) and out.dtype is not dtypes.resolve(dtype):
        from minigrad.refusals import wrong_out

        raise RuntimeError(wrong_out("", dtypes.resolve(dtype), out.dtype))


def check_out(own: str, out: Any, result: Any, given: tuple[Any, ...]) -> None:
    """RuntimeError for an `out=` of a type that this function does not cast to, or that shares memory with an argument."""
    from minigrad.refusals import exact_type, wrong_out

    if own == "nonzero" and isinstance(result, tuple):
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    lists = [tuple(one) for one in given if isinstance(one, (tuple, list))]
    for o, r in zip(out, result, strict=True) if isinstance(result, tuple) else [(out, result)]:
        if o.dtype is not r.dtype and exact_type(own, isinstance(result, tuple)):
            raise RuntimeError(wrong_out(own, r.dtype, o.dtype))
        if own in ("all", "any") and o.dtype not in (dtypes.bool_, dtypes.uint8):
            raise RuntimeError(f"{own} only supports bool tensor for result, got: {o.dtype.tensor_name}")
        if own in PICKS:
            read = given[:1] if own == "gather" else given
            inplace.check_apart(o, *(v._data for v in read if isinstance(v, Tensor)))
        for values in (given, *lists):
            inplace.check_overlap(o, values)


# Functions that pick elements: `out` must not even be the very tensor they read (gather: pick from).
PICKS = ("gather", "take", "index_select", "masked_select")

# Functions that write at indices: what they read may not be the very tensor that is written.
AT_INDICES = frozenset(
    "index_add index_copy index_fill index_reduce put scatter scatter_add scatter_reduce".split()  # noqa: SIM905
)

# Functions that PyTorch offers without `out=`.
NO_OUT = frozenset(
    """
    split chunk unbind squeeze unsqueeze transpose permute reshape flatten flip roll tile repeat_interleave masked_fill unique
    bincount broadcast_to argsort narrow select clone t view expand repeat contiguous expand_as view_as type_as movedim
    swapaxes swapdims moveaxis unflatten ravel diagonal index_fill isclose allclose equal rot90 fliplr flipud numel
    """.split()  # noqa: SIM905
)

# Functions of which PyTorch has a form with a number in front: `remainder(2, x)`.
NUMBER_FIRST = frozenset(
    """
    add sub mul div true_divide floor_divide remainder bitwise_and bitwise_or bitwise_xor bitwise_left_shift
    bitwise_right_shift xlogy float_power bucketize special_xlog1py special_zeta
    """.split()  # noqa: SIM905
)
NUMBERS_ONLY = frozenset(("add", "sub", "mul", "div", "true_divide", "floor_divide"))  # `add(2, 3)` is tensor(5)


def _with_a_number_first(own: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments with a number in front made a tensor, where PyTorch takes one; else TypeError."""
    numbers = [isinstance(a, (bool, int, float, np.generic)) for a in args[:2]]
    if own in NUMBER_FIRST and numbers[:1] == [True] and len(args) > 1 and isinstance(args[1], Tensor):
        first = wrap(np.float64(args[0])) if own == "float_power" else as_tensor_like(args[0], args[1])
        return first, *args[1:]
    if own in NUMBERS_ONLY and numbers == [True, True]:
        return wrap(dtypes.cast(args[0], dtypes.result_type(args[0]))), *args[1:]
    raise _no_tensor(own, args)


def _no_tensor(own: str, args: tuple[Any, ...]) -> TypeError:
    if not args:
        return TypeError(f'{own}() missing 1 required positional arguments: "input"')
    return errors.must_be_tensor(own, "input", 1, args[0])


def accepting_out(call: Callable[..., Any]) -> Callable[..., Any]:
    """The same function with the argument `out=`."""

    @functools.wraps(call)
    def with_out(*args: Any, out: Any = None, **keywords: Any) -> Any:
        result = call(*args, **keywords)
        return result if out is None else into(out, result, call.__name__)

    return with_out


# What lives in a file that is loaded when one of its functions is first called.
LATER = {
    **dict.fromkeys(
        ("adaptive_avg_pool1d", "adaptive_max_pool1d", "avg_pool1d", "channel_shuffle", "constant_pad_nd", "conv1d", "conv2d",
         "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "embedding", "max_pool1d",
         "max_pool1d_with_indices", "max_pool2d", "max_pool2d_with_indices", "max_pool3d", "max_pool3d_with_indices",
         "pixel_shuffle", "pixel_unshuffle"),
        "layers",
    ),
    **dict.fromkeys(
        ("chain_matmul", "cholesky", "cholesky_inverse", "cholesky_solve", "det", "inverse", "logdet", "lu", "lu_solve",
         "lu_unpack", "matrix_exp", "nuclear_norm", "orgqr", "pinverse", "qr", "slogdet", "svd", "triangular_solve"),
        "linalg",
    ),
    **dict.fromkeys(
        ("bincount", "bucketize", "histc", "histogram", "searchsorted", "unique", "unique_consecutive"), "counting"
    ),
    **dict.fromkeys(("cumulative_trapezoid", "diff", "trapezoid", "trapz"), "differences"),
    **dict.fromkeys(("cartesian_prod", "combinations", "meshgrid"), "grids"),
    **dict.fromkeys(("frexp", "i0", "igamma", "igammac", "mvlgamma"), "special"),
}  # fmt: skip


def load(name: str) -> Any:
    """A function of LATER; its file registers all that it has."""
    importlib.import_module(f"minigrad.{LATER[name]}")
    return FUNCTIONS[name]


def _later(name: str) -> Callable[..., Any]:
    def call(self: Tensor, *args: Any, **keywords: Any) -> Any:
        load(name)
        return getattr(Tensor, name)(self, *args, **keywords)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"See `minigrad.{name}`."
    return call


# These are no methods in PyTorch either.
FUNCTIONS_ONLY = frozenset(
    """
    bucketize cartesian_prod chain_matmul combinations cumulative_trapezoid lu_unpack meshgrid
    nuclear_norm searchsorted trapezoid trapz
    """.split()  # noqa: SIM905
)
for _name, _room in LATER.items():
    if _room != "layers" and _name not in FUNCTIONS_ONLY:
        setattr(Tensor, _name, _later(_name))


FIELDS = {
    "_lu_with_info": "LU pivots info",
    "aminmax": "min max",
    "frexp": "mantissa exponent",
    "geqrf": "a tau",
    "histogram": "hist bin_edges",
    "linalg_cholesky_ex": "L info",
    "linalg_eigh": "eigenvalues eigenvectors",
    "linalg_inv_ex": "inverse info",
    "linalg_lstsq": "solution residuals rank singular_values",
    "linalg_lu": "P L U",
    "linalg_lu_factor": "LU pivots",
    "linalg_lu_factor_ex": "LU pivots info",
    "linalg_qr": "Q R",
    "linalg_slogdet": "sign logabsdet",
    "linalg_solve_ex": "result info",
    "linalg_svd": "U S Vh",
    "lu_unpack": "P L U",
    "qr": "Q R",
    "svd": "U S V",
    "triangular_solve": "solution cloned_coefficient",
}


@functools.cache
def return_type(name: str) -> Any:
    """A named tuple that prints like PyTorch's: of values and indices, or of FIELDS; made when it is first needed."""
    named: Any = namedtuple
    made: Any = named(name, FIELDS.get(name, "values indices"))

    def show(self: Any) -> str:
        inside = ",\n".join(f"{field}={getattr(self, field)!r}" for field in self._fields)
        return f"torch.return_types.{name}(\n{inside})"

    return type(name, (made,), {"__repr__": show, "__slots__": ()})


def with_indices(name: str, values: Tensor, index: Array) -> Any:
    """Values and where they stood; PyTorch keeps the latter, and notices when they are overwritten."""
    indices = wrapped(index)
    return return_type(name)(noticing(values, indices), indices)


def in_place(name: str, operation: Callable[..., Any]) -> None:
    """The method `name_`, which writes what `operation` gives into the tensor itself."""
    ufunc = inplace.DIRECT.get(getattr(table, name, operation))

    def write(self: Tensor, *args: Any, **keywords: Any) -> Any:
        __tracebackhide__ = True
        try:
            plain = ufunc is not None and mode.record is None and len(args) == 1 and not keywords
            if plain and inplace.written_directly(self, ufunc, args[0]):
                return self
            chosen = functools.partial(operation, **keywords) if keywords else operation
            if keywords:
                inplace.check_history(self)
                inplace.check_overlap(self, tuple(keywords.values()))
            if name in AT_INDICES:
                inplace.check_history(self)
                inplace.check_apart(self, *map(raw, args))
            if name in inplace.STRETCHABLE:
                inplace.warn_if_stretched(self, name)
                return inplace.overwrite(self, chosen, *args)
            return inplace.write(self, chosen, *args)
        except Exception:
            reason = _refused(f"{name}_", (self, *args), keywords, True)
            if reason is None:
                raise
        raise reason

    write.__name__ = write.__qualname__ = f"{name}_"
    write.__doc__ = f"`{name}`, written into this tensor; returns it."
    setattr(Tensor, f"{name}_", write)


# ------------------------------------------------------------------------------------------- arguments


def raw(value: Any) -> Any:
    """The array of a tensor; anything else as it is."""
    return value._data if isinstance(value, Tensor) else value


def is_number(value: Any) -> bool:
    """Whether it is a number of Python or numpy."""
    return isinstance(value, (bool, int, float, np.generic))


def is_operand(value: Any) -> bool:
    """Whether Python's symbols take it beside a tensor."""
    return isinstance(value, Tensor) or is_number(value)


def index_array(index: Any) -> Array:
    """An index tensor as an int64 array."""
    array = raw(index)
    return np.asarray(array, np.int64)


def wrapped(array: Array) -> Tensor:
    """A tensor around an array; a numpy scalar stands for an array without dimensions."""
    return wrap(array[()] if isinstance(array, np.ndarray) and not array.ndim else array)


def converted(x: Tensor, dtype: Any) -> Tensor:
    """x in another number type; in an integer type it has no gradient, and so no history."""
    made: Tensor = table.cast(x if dtype.is_floating_point else wrap(x._data), dtype)
    return made


def as_tensor_like(value: Any, like: Tensor) -> Tensor:
    """A tensor from a number, of the type that it has beside `like`."""
    if isinstance(value, Tensor):
        return value
    value = value.item() if isinstance(value, np.generic) else value
    return wrap(dtypes.cast(value, dtypes.result_type(like._data, value)))


def as_float_like(value: Any, like: Tensor) -> Tensor:
    """A tensor of floats from a number, of the type that a function of floats gives of it and `like`."""
    return value if isinstance(value, Tensor) else wrap(dtypes.promote_floating(value, like._data)[0])


def ints(values: tuple[Any, ...]) -> tuple[int, ...]:
    """Integers given separately or as one sequence."""
    if len(values) == 1 and isinstance(values[0], (tuple, list)):
        values = tuple(values[0])
    if any(isinstance(v, (bool, float)) for v in values):
        raise TypeError("sizes are whole numbers")
    return tuple(int(v) for v in values)


def owned(x: Tensor) -> Tensor:
    """The result of a composed operation whose last step was a view: nobody knows what of, so it is none."""
    if x._view is not None:  # else its counter may be watched: by a node that kept this result
        x._view, x._counter = None, [0]
    return x


def as_one_node(x: Tensor, name: str) -> Tensor:
    """`owned`, and shown under the name of the one node that PyTorch has there."""
    return owned(renamed(x, name))


def renamed(x: Tensor, name: str) -> Tensor:
    """x, whose node is shown under this name."""
    made = x.grad_fn
    if made is not None:
        made.__class__ = inplace.renamed(type(made), name)
    return x


def floating_input(kernel: str, x: Tensor) -> Tensor:
    """x itself if it holds floats; else PyTorch's NotImplementedError naming its kernel."""
    if x._data.dtype.kind != "f" and x._data.size:
        raise errors.not_implemented(kernel, dtypes.of(x._data.dtype).tensor_name)
    return x
