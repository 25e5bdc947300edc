"""Why a call was refused, in PyTorch's words: too many arguments, one of the wrong type, too few, or an unknown name.

Loaded when a function has raised. It tries the call against each form that PyTorch's function has (signatures.py) and
says what PyTorch says when none fits.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from minigrad import errors
from minigrad.devices import Device
from minigrad.dtypes import DType
from minigrad.random import Generator
from minigrad.signatures import FORMS, OPTIONS
from minigrad.tensor import Tensor

# Functions that write into an `out=` of their result's own type only; indices go into int64 everywhere.
EXACT = frozenset(
    """
    matmul mm bmm addmm addbmm baddbmm addmv gather softmax log_softmax tril triu where clamp index_select masked_select norm
    dot searchsorted bucketize argmax argmin sort topk max min median mode kthvalue cummax cummin nonzero argwhere isposinf
    isneginf aminmax logcumsumexp frexp quantile nanquantile
    """.split()  # noqa: SIM905
)


def exact_type(own: str, several: bool) -> bool:
    """Whether the function casts its result (one of several) to no other type."""
    return own in EXACT and (several or own not in ("max", "min"))


def wrong_out(own: str, wanted: DType, given: DType) -> str:
    """What PyTorch says of an `out=` of the wrong type."""
    if own in ("cummax", "cummin", "logcumsumexp"):
        return f"expected scalar_type {wanted.tensor_name} but found {given.tensor_name}"
    if own in ("quantile", "nanquantile"):
        return "quantile() out tensor must be same dtype as the input tensor"
    if own in ("isposinf", "isneginf"):
        return f"{own} does not support non-boolean outputs."
    if own == "frexp" and wanted.is_floating_point:
        return f"torch.frexp() expects mantissa to have dtype {wanted.c_name} but got {given.c_name}"
    if own == "frexp":
        return f"torch.frexp() expects exponent to have int dtype but got {given.c_name}"
    return f"Expected out tensor to have dtype {wanted.c_name}, but got {given.c_name} instead"


# Functions that take a number where their form says Tensor.
NUMBERS = frozenset("add sub mul div subtract multiply divide true_divide floor_divide".split())  # noqa: SIM905

# ------------------------------------------------------------------------------------------- the forms


class Parameter(NamedTuple):
    """One argument of a form: its kind, whether None will do, its name, its default as PyTorch prints it, how it is given."""

    kind: str
    nullable: bool
    name: str
    default: str | None
    by_name: bool


class Form(NamedTuple):
    """One form of a function; PyTorch lists those that are not hidden."""

    parameters: tuple[Parameter, ...]
    hidden: bool

    @property
    def least(self) -> int:
        """How many arguments must be given."""
        return sum(p.default is None for p in self.parameters)

    @property
    def places(self) -> int:
        """How many may be given without a name."""
        return sum(not p.by_name for p in self.parameters)

    def __str__(self) -> str:
        """As PyTorch lists it."""
        shown: list[str] = []
        for p in self.parameters:
            if p.by_name and "*" not in shown:
                shown.append("*")
            shown.append(
                f"{CALLED.get(p.kind, p.kind)} {p.name}" + (f" = {p.default}" if p.default is not None else "")
            )
        return f"({', '.join(shown)})"


@functools.cache
def _written() -> dict[str, list[str]]:
    """The forms of every function, as they are written."""
    found: dict[str, list[str]] = {}
    names: list[str] = []
    for line in FORMS.strip().splitlines():
        if line.startswith(" " * 8):
            for name in names:
                found[name][-1] += f" {line.strip()}"
        elif line.startswith(" "):
            for name in names:
                found[name].append(line.strip())
        else:
            names = names + line.split() if names and not found[names[0]] else line.split()
            found.update({name: [] for name in names})
    return found


def functions() -> list[str]:
    """The functions whose forms are known."""
    return list(_written())


def _form(text: str) -> Form:
    hidden = text.endswith(" !")
    text = text.removesuffix(" !").replace("OPTIONS", OPTIONS)
    parameters, by_name = [], False
    for part in text.split(", ") if text else ():
        if part == "*":
            by_name = True
            continue
        kind, _, name = ("Tensor out=None" if part == "out" else part).partition(" ")
        name, _, default = name.partition("=")
        nullable = kind.endswith("?") or default == "None"
        parameters.append(Parameter(kind.rstrip("?"), nullable, name, default or None, by_name))
    return Form(tuple(parameters), hidden)


@functools.cache
def forms(name: str, as_method: bool) -> tuple[Form, ...]:
    """The forms of a function; of a method, without `input` and `out`. None if PyTorch does not read its arguments so."""
    written = _written()
    made = map(_form, written.get(name) or written.get(name.removesuffix("_"), []))
    if not as_method:
        return tuple(made)
    kept = [
        f for f in made if (names := {p.name for p in f.parameters}) and "input" in names and "out_dtype" not in names
    ]
    return tuple(f._replace(parameters=tuple(p for p in f.parameters if p.name not in ("input", "out"))) for f in kept)


# ------------------------------------------------------------------------------------------- the kinds

CALLED = {
    "index": "int",
    **dict.fromkeys(("ints", "ints1"), "tuple of ints"),
    **dict.fromkeys(("Tensors", "Tensors2", "Tensors3"), "tuple of Tensors"),
    "floats": "tuple of floats",
    "Numbers": "tuple of Scalars",
    **{kind: f"torch.{kind}" for kind in ("dtype", "layout", "device", "memory_format", "Generator")},
}
WHOLE, NUMBER = (int, np.integer), (bool, int, float, complex, np.number, np.bool_)


def _is_number(value: Any, kinds: str = "iufb") -> bool:
    """Whether PyTorch would take the tensor for a number."""
    return (
        isinstance(value, Tensor)
        and not value._data.ndim
        and value._data.dtype.kind in kinds
        and not value.requires_grad
    )


def _is_index(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value._data.size == 1 and value._data.dtype.kind in "iu"
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "iu"
    return not isinstance(value, bool) and hasattr(value, "__index__") and not isinstance(value, type)


def _are_indices(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and (not value or _is_index(value[0]))


FITS: dict[str, Callable[[Any], bool]] = {
    "Tensor": lambda v: isinstance(v, Tensor),
    "Number": lambda v: isinstance(v, NUMBER) or _is_number(v),
    "float": lambda v: isinstance(v, (int, float, np.number, np.bool_)) or _is_number(v),
    "int": lambda v: (isinstance(v, WHOLE) and not isinstance(v, bool)) or _is_number(v, "iu"),
    "index": _is_index,
    "bool": lambda v: isinstance(v, bool),
    "str": lambda v: isinstance(v, str),
    "ints": _are_indices,
    "ints1": lambda v: _are_indices(v) or _is_index(v),
    "floats": lambda v: isinstance(v, (tuple, list)) and (not v or FITS["float"](v[0])),
    "Numbers": lambda v: isinstance(v, (tuple, list)) and all(isinstance(n, NUMBER) for n in v),
    "dtype": lambda v: isinstance(v, DType) or v in (float, int, bool, complex),
    "Generator": lambda v: isinstance(v, Generator),
    "memory_format": lambda v: type(v).__name__ == "memory_format",
    "device": lambda v: isinstance(v, (int, str, Device)) and not isinstance(v, bool),
}


def _fits(kind: str, value: Any, own: str, place: int) -> bool:
    if kind.startswith("Tensors"):
        if not isinstance(value, (tuple, list)):
            return False
        for i, each in enumerate(value):
            if not isinstance(each, Tensor):  # PyTorch says so at once, whatever other forms there are
                raise TypeError(f"expected Tensor as element {i} in argument {place}, but got {errors.type_name(each)}")
        return True
    if kind == "Tensor" and own.removesuffix("_") in NUMBERS and isinstance(value, NUMBER):
        return True
    return FITS[kind](value) if kind in FITS else not isinstance(value, (str, float, *WHOLE, Tensor, tuple, list, dict))


# ------------------------------------------------------------------------------------------- the call

NUMPY_NAMES = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}


def _tried(own: str, form: Form, args: tuple[Any, ...], keywords: dict[str, Any]) -> str | None:
    """What is wrong with a call of this form; None if it fits."""
    places = form.places
    spread = places == 1 and form.parameters[0].kind in ("ints", "ints1")  # x.view(2, 3)
    if len(args) > places and not spread:
        return _too_many(own, form, len(args))
    at, left = 0, dict(keywords)
    unread: list[tuple[str, int, Any]] = []  # sizes are looked at one by one when the form has been chosen
    for i, (kind, nullable, name, default, by_name) in enumerate(form.parameters):
        given = at < len(args)
        if given and by_name:
            return _too_many(own, form, len(args))
        key = name if given else next((n for n in (name, *NUMPY_NAMES.get(name, ())) if n in left), None)
        if key is None:
            if default is None:
                missing = [f'"{p.name}"' for p in form.parameters[i:] if p.default is None]
                plural = "s" if len(missing) == 1 else ""  # as PyTorch has it
                return f"{own}() missing {len(missing)} required positional argument{plural}: {', '.join(missing)}"
            continue
        value = args[at] if given else left.pop(key)
        if not (value is None and nullable) and not _fits(kind, value, own, i):
            if spread and at == 0 and given and _are_indices(args):
                value = args
            elif len(args) > places:
                return _too_many(own, form, len(args))
            else:
                return _of_wrong_kind(own, name, kind, value, args, at + 1 if given else 0, spread and given)
        if kind in ("ints", "ints1") and isinstance(value, (tuple, list)):
            unread += [
                (name, place, v) for place, v in enumerate(value[1:], 2) if not _is_index(v) and type(v) is not bool
            ]
        at = len(args) if value is args else at + given
    if at < len(args):
        return _too_many(own, form, len(args))
    known = [p.name for p in form.parameters]
    for name in left:
        if name not in known:
            return f"{own}() got an unexpected keyword argument '{name}'"
        return f"{own}() got multiple values for argument '{name}'"
    for name, place, value in unread:
        kind = errors.type_name(value)
        raise TypeError(
            f"{own}(): argument '{name}' failed to unpack the object at pos {place} with error "
            f'"type must be tuple of ints,but got {kind}"'
        )
    return None


def _too_many(own: str, form: Form, given: int) -> str:
    least, most = form.least, form.places
    if least != most:
        return f"{own}() takes from {least} to {most} positional arguments but {given} were given"
    verb = "was" if given == 1 else "were"
    return f"{own}() takes {most} positional argument{'' if most == 1 else 's'} but {given} {verb} given"


def _of_wrong_kind(own: str, name: str, kind: str, value: Any, args: tuple[Any, ...], place: int, spread: bool) -> str:
    start = f"{own}(): argument '{name}'" + (f" (position {place})" if place else "")
    start += f" must be {CALLED.get(kind, kind)}, "
    several = value if isinstance(value, (tuple, list)) else args if spread and len(args) > 1 else ()
    if kind in ("ints", "ints1") and several and place:
        return f"{start}but found element of type {errors.type_name(several[0])} at pos 0"
    return f"{start}not {errors.type_name(value)}"


def _takes_nothing(own: str, given: int, named: bool) -> TypeError | None:
    if not given and not named:
        return None
    return TypeError(f"TensorBase.{own}() takes no " + ("keyword arguments" if named else f"arguments ({given} given)"))


# Functions that PyTorch writes in Python, which hand on each argument by its name; and to which function.
WITHIN = {"unique": "_unique2", "unique_consecutive": "unique_consecutive"}


def why(own: str, args: tuple[Any, ...], keywords: dict[str, Any], as_method: bool = False) -> TypeError | None:
    """The TypeError that PyTorch raises for these arguments; None if a form of the function takes them."""
    known = forms(own, as_method)
    if not known:
        return None
    if as_method:
        args = args[1:]
        if known == (Form((), False),):
            return _takes_nothing(own, len(args), bool(keywords))
    if own in WITHIN:
        first, names = 0 if as_method else 1, [p.name for p in known[0].parameters]
        handed = dict(zip(names[first:], args[first:], strict=False))
        if len(args) > len(names) or not handed.keys().isdisjoint(keywords):
            return None  # Python itself says so
        own, args, keywords = WITHIN[own], args[:first], {**handed, **keywords}
    try:
        problems = [_tried(own, form, args, keywords) for form in known]
    except TypeError as error:
        return error
    if None in problems:
        return None
    if len(known) == 1:
        return TypeError(problems[0])
    count = len(args) + len(keywords)
    near = [i for i, f in enumerate(known) if f.least <= count <= len(f.parameters) and not f.hidden]
    if len(near) == 1:
        return TypeError(problems[near[0]])
    return TypeError("".join(_no_form(own, [str(f) for f in known if not f.hidden], args, keywords)))


def within(
    call: Callable[..., Any], own: str, order: str, args: tuple[Any, ...], keywords: dict[str, Any]
) -> TypeError | None:
    """`why`, for a function that PyTorch writes in Python: of the function `own` that it calls with these arguments."""
    try:
        bound = inspect.signature(call).bind(*args, **keywords)
    except TypeError:
        return None
    bound.apply_defaults()
    return why(own, tuple(1 if n == "reduction" else bound.arguments[n] for n in order.split()), {})


Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def in_places(own: str, args: tuple[Any, ...], keywords: dict[str, Any], as_method: bool) -> Arguments | None:
    """The same arguments, those that PyTorch's form names in their places: `addmv(x, mat=a, vec=b)`; None if none is."""
    given = args[1:] if as_method else args
    for form in forms(own, as_method):
        if not form.hidden and _tried(own, form, given, keywords) is None:
            left, moved = dict(keywords), list(args)
            for p in form.parameters[len(given) : form.places]:
                if p.name not in left:
                    break
                moved.append(left.pop(p.name))
            return (tuple(moved), left) if len(left) < len(keywords) else None
    return None


def by_old_form(own: str, args: tuple[Any, ...], keywords: dict[str, Any], as_method: bool) -> Arguments | None:
    """The arguments by name, if they fit a form that PyTorch no longer lists, as `x.add(alpha, y)`; with its warning."""
    known = forms(own, as_method)
    given = args[1:] if as_method else args
    for old in known:
        if old.hidden and _tried(own, old, given, keywords) is None:
            shown = [f"\t{own}{form}" for form in (old, *(f for f in known if not f.hidden))]
            warnings.warn(
                f"This overload of {own} is deprecated:\n{shown[0]}\n"
                "Consider using one of the following signatures instead:\n" + "\n".join(shown[1:]),
                UserWarning,
                stacklevel=4,
            )
            named = dict(zip((p.name for p in old.parameters), given, strict=False))
            return (), {**({"input": args[0]} if as_method else {}), **named, **keywords}
    return None


# ------------------------------------------------------------------------------------------- none of several forms


def _no_form(own: str, options: list[str], args: tuple[Any, ...], keywords: dict[str, Any]) -> Iterator[str]:
    """PyTorch's report. It reads its own list of forms again, word by word, so that a default counts as a name."""
    names = list(reversed(keywords))
    given = [*map(errors.type_name, args), *(f"{n}={errors.type_name(keywords[n])}" for n in names)]
    shown = f"({', '.join(given)}{', ' if names and not args else ''})"
    words = [option[1:-1].split(", ") for option in options]
    yield f"{own}() received an invalid combination of arguments - "
    if len(options) == 1:
        odd = _odd(words[0], len(args), names)
        if odd:
            yield f"got unrecognized keyword arguments: {', '.join(odd)}"
            return
        if len(words[0]) == len(given):
            shown = _compared(words[0], args, keywords)
        yield f"got {shown}, but expected {options[0]}"
        return
    yield f"got {shown}, but expected one of:\n"
    for option, parts in zip(options, words, strict=True):
        yield f" * {option}\n"
        if len(parts) == len(given):
            odd = _odd(parts, len(args), names)
            if odd:
                yield f"      didn't match because some of the keywords were incorrect: {', '.join(odd)}\n"
            else:
                found = _compared(parts, args, keywords)
                yield f"      didn't match because some of the arguments have invalid types: {found}\n"


def _odd(parts: list[str], places: int, names: list[str]) -> list[str]:
    """The given names that the form does not end in."""
    ends = [part.rpartition(" ")[2] for part in parts[max(len(parts) - len(names), 0) :]]
    return [name for name in names if name not in ends]


def _compared(parts: list[str], args: tuple[Any, ...], keywords: dict[str, Any]) -> str:
    """The types given, with marks around those that do not match the form."""
    shown = []
    for i, part in enumerate(parts):
        kind, _, name = part.rpartition(" ")
        value = args[i] if i < len(args) else keywords[name]
        found = errors.type_name(value)
        label = found
        if isinstance(value, (tuple, list)):
            inside = ", ".join(map(errors.type_name, value))
            label += f" of ({inside}{',' * (len(value) == 1)})" if isinstance(value, tuple) else f" of [{inside}]"
        label = label if i < len(args) else f"{name}={label}"
        shown.append(label if found in (("float", "int") if kind == "float" else (kind or name,)) else f"!{label}!")
    return f"({', '.join(shown)}{'' if args else ', '})"
