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
        def call(*args: Any, **keywords: Any) -> Any:
            if keywords:
                return _call_with(own, implementation, args, {**keywords})
            if not args or not isinstance(args[0], Tensor):
                return implementation(*_with_a_number_first(own, args))
            return implementation(*args)

        return _named(call, name, implementation)

    register(face, own, *names, method=method, made=True)
    if inplace:
        for each in (own, *names):
            in_place(each, getattr(Tensor, each) if method else FUNCTIONS[each])
    return FUNCTIONS[own]


def told(call: Any, name: str, as_method: bool = False, order: str = "") -> Any:
    """The function itself (arguments are looked at where they are used)."""
    return call


def _named(call: Any, name: str, like: Any) -> Any:
    call.__name__ = call.__qualname__ = name
    call.__doc__, call.__module__, call.__wrapped__ = like.__doc__, like.__module__, like
    return call


def register(call: Any, *names: str, method: bool = True, made: bool = False) -> None:
    """Offer a function under these names, with `method` as methods of tensors too; `made`: `call` makes it from its name."""
    make = call if made else functools.partial(_of_a_tensor if method else told, call)
    for each in names:
        FUNCTIONS[each] = make(each, False)
        if method:
            setattr(Tensor, each, call(each, True) if made else call)


def _of_a_tensor(call: Any, name: str, as_method: bool) -> Any:
    def checked(*args: Any, **keywords: Any) -> Any:
        if args and not isinstance(args[0], Tensor) and name != "pow":
            raise _no_tensor(name, args)
        return call(*args, **keywords)

    return _named(checked, name, call)


def _call_with(own: str, implementation: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    if keywords.pop("out", None) is not None:
        raise TypeError(f"{own}(): minigrad leaves out the argument 'out'")
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
    return result


def check_asked(dtype: Any, out: Any) -> None:
    """Nothing."""


def check_out(own: str, out: Any, result: Any, given: tuple[Any, ...]) -> None:
    """Nothing."""


# Functions that write at indices: what they read may not be the very tensor that is written.
AT_INDICES = frozenset(
    "index_add index_copy index_fill index_reduce put scatter scatter_add scatter_reduce".split()  # noqa: SIM905
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
        ("bincount", "bucketize", "histc", "histogram", "searchsorted", "unique", "unique_consecutive"), "counting"
    ),
    **dict.fromkeys(("cumulative_trapezoid", "diff", "trapezoid", "trapz"), "differences"),
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
    bucketize cumulative_trapezoid searchsorted trapezoid trapz
    """.split()  # noqa: SIM905
)
for _name in LATER:
    if _name not in FUNCTIONS_ONLY:
        setattr(Tensor, _name, _later(_name))


FIELDS = {
    "aminmax": "min max",
    "histogram": "hist bin_edges",
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
