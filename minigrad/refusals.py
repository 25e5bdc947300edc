"""Why a call was refused, in PyTorch's words: too many arguments, one of the wrong type, or too few.

Loaded when a function has raised: the types are those that its Python signature states.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.dtypes import DType
from minigrad.tensor import Tensor

WHOLE, NUMBER = (int, np.integer), (int, float, np.number)


def _is_one(value: Any, kinds: str) -> bool:
    """Whether PyTorch would take the tensor for a number."""
    return isinstance(value, Tensor) and value._data.size == 1 and value._data.dtype.kind in kinds


FITS: dict[str, Any] = {
    "Tensor": lambda v: isinstance(v, Tensor),
    "int": lambda v: (isinstance(v, WHOLE) and not isinstance(v, bool)) or _is_one(v, "iu"),
    "float": lambda v: isinstance(v, NUMBER) or (_is_one(v, "iuf") and v._node is None),
    "bool": lambda v: isinstance(v, (bool, np.bool_)),
}

# Functions of which PyTorch has several forms: it names the types that fit none of them.
SEVERAL_FORMS = frozenset(
    """
    add addbmm addcdiv addcmul addmm addmv addr all any argsort baddbmm bitwise_and bitwise_left_shift bitwise_or
    bitwise_right_shift bitwise_xor bmm bucketize clamp clamp_max clamp_min clip conv1d conv2d conv3d copysign
    count_nonzero cumulative_trapezoid div divide dsplit eq fill float_power floor_divide fmod ge greater greater_equal gt
    hsplit index_fill isin le lerp less less_equal lt masked_fill max mean min mm moveaxis movedim multiply nanquantile
    narrow ne not_equal pow prod quantile remainder repeat_interleave round rsub scatter searchsorted sort squeeze std
    std_mean sub subtract sum tensor_split trapezoid trapz true_divide var var_mean vsplit where xlogy
    """.split()  # noqa: SIM905
)

# Functions that write into an `out=` of their result's own type only; indices go into int64 everywhere.
EXACT = frozenset(
    """
    matmul mm bmm addmm addbmm baddbmm addmv gather softmax log_softmax tril triu where clamp index_select masked_select norm
    dot searchsorted bucketize argmax argmin sort topk max min median mode kthvalue cummax cummin nonzero argwhere isposinf
    isneginf logcumsumexp frexp quantile nanquantile
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


# Functions whose second argument is several whole numbers, and its name.
SIZES = {
    **dict.fromkeys(("nansum", "nanmean", "logsumexp", "amax", "amin"), "dim"),
    **dict.fromkeys(("max_pool1d", "max_pool1d_with_indices", "max_pool2d", "max_pool3d", "avg_pool1d"), "kernel_size"),
    **dict.fromkeys(("adaptive_avg_pool1d", "adaptive_max_pool1d"), "output_size"),
    **dict.fromkeys(("permute", "flip", "tile"), "dims"),
    **dict.fromkeys(("as_strided", "broadcast_to"), "size"),
    **dict.fromkeys(("split_with_sizes", "unsafe_split_with_sizes"), "split_sizes"),
    "reshape": "shape", "roll": "shifts", "constant_pad_nd": "pad",
}  # fmt: skip


def _are_sizes(value: Any) -> bool:
    whole = FITS["int"]
    return whole(value) or (isinstance(value, (tuple, list)) and all(map(whole, value)))


def why(own: str, implementation: Any, args: tuple[Any, ...], error: Exception | None) -> TypeError | None:
    """The TypeError that says what is wrong with the positional arguments; None if they fit the signature.

    `error` is what the function raised, if it was run: a TypeError in other words than PyTorch's is about its arguments.
    """
    foreign = isinstance(error, TypeError) and "()" not in str(error)
    found = _mismatch(own, implementation, args, foreign)
    if own in SEVERAL_FORMS and (found or foreign):
        types = ", ".join(map(errors.type_name, args))
        return TypeError(
            f"{own}() received an invalid combination of arguments - got ({types}), but expected one of:\n"
            f" * {str(inspect.signature(implementation)).replace(chr(39), '')}\n"
        )
    return found


def check_setting(own: str, implementation: Any, args: tuple[Any, ...], keywords: dict[str, Any], name: str) -> None:
    """TypeError if what was given by this name is no bool, or no whole number, as its annotation says."""
    kind, value = implementation.__annotations__[name], keywords[name]
    if FITS[kind](value):
        return
    if own in SEVERAL_FORMS and kind != "float":
        given = [*map(errors.type_name, args), *(f"{n}={errors.type_name(v)}" for n, v in keywords.items())]
        raise TypeError(
            f"{own}() received an invalid combination of arguments - got ({', '.join(given)}), but expected one of:\n"
            f" * {str(inspect.signature(implementation)).replace(chr(39), '')}\n"
        )
    kind = "Number" if name in ("alpha", "beta", "value") else kind
    raise TypeError(f"{own}(): argument '{name}' must be {kind}, not {errors.type_name(value)}")


def _mismatch(own: str, implementation: Any, args: tuple[Any, ...], foreign: bool) -> TypeError | None:
    parameters = list(inspect.signature(implementation).parameters.values())
    if own in SIZES and isinstance(args[0], Tensor) and len(args) > 1 and not _are_sizes(args[1]):
        kind = f"not {errors.type_name(args[1])}"
        if isinstance(args[1], (tuple, list)):
            at, odd = next((i, v) for i, v in enumerate(args[1]) if not FITS["int"](v))
            kind = f"but found element of type {errors.type_name(odd)} at pos {at}"
        return TypeError(f"{own}(): argument '{SIZES[own]}' (position 2) must be tuple of ints, {kind}")
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    parameters = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    required = [p for p in parameters if p.default is p.empty]
    if len(args) > len(parameters):
        least, most = len(required), len(parameters)
        count = f"from {least} to {most}" if least < most else str(most)
        plural = "s" if most > 1 else ""
        return TypeError(f"{own}() takes {count} positional argument{plural} but {len(args)} were given")
    for place, (parameter, value) in enumerate(zip(parameters, args, strict=False)):
        kind, _, optional = str(parameter.annotation).partition(" | ")
        if kind == "Any" and foreign and parameter.name == "dim":
            kind, optional = "int", "None"
        if kind in FITS and optional in ("", "None") and not FITS[kind](value) and not (optional and value is None):
            return TypeError(
                f"{own}(): argument '{parameter.name}' (position {place + 1}) must be {kind}, not {errors.type_name(value)}"
            )
    missing = ", ".join(f'"{p.name}"' for p in required[len(args) :])
    if missing:
        return TypeError(f"{own}() missing {len(required) - len(args)} required positional arguments: {missing}")
    return None
