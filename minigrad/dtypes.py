"""Number types: the nine names PyTorch gives them, and the rule that decides the type of a mixed result.

Here you meet `DType` (what `x.dtype` returns), the default type that `tensor([1.0])` gets, and promotion.
PyTorch's promotion differs from numpy's in one idea: *category before width*. The categories are bool < integer <
floating point. Tensors with dimensions speak first; a 0-d tensor is heard only if its category is higher than
theirs, and a Python number likewise. So float32 * 2.0 stays float32, int64 * 1.5 becomes float32, and a float64
0-d tensor does not widen a float32 vector.
"""

from __future__ import annotations

import builtins
import functools
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
BOOLEAN, INTEGER, FLOATING = range(3)


class DType:
    """A number type, such as `float32`. There is one object for each type: compare with `is` or `==`."""

    __module__, __qualname__ = "minigrad", "dtype"  # as `type(x.dtype)` shows it
    __slots__ = ("c_name", "category", "itemsize", "name", "numpy", "tensor_name")

    def __init__(self, name: str, tensor_name: str, c_name: str, category: int) -> None:
        self.name = name
        self.numpy: np.dtype[Any] = np.dtype(name)
        self.tensor_name = tensor_name
        self.c_name = c_name
        self.category = category
        self.itemsize = self.numpy.itemsize

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return by_name, (self.name,)

    @property
    def is_floating_point(self) -> builtins.bool:
        """Whether its numbers are floats: whether they can have gradients."""
        return self.category == FLOATING

    @property
    def is_complex(self) -> builtins.bool:
        """Whether its numbers are complex: never."""
        return False

    @property
    def is_signed(self) -> builtins.bool:
        """Whether it has numbers below 0."""
        return self.numpy.kind in "if"


class LeftOut(DType):
    """A number type that PyTorch has and minigrad has not: it can be named and compared; to use it raises."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        self.name = name
        self.category = FLOATING if "float" in name else INTEGER

    @property
    def numpy(self) -> np.dtype[Any]:  # type: ignore[override]
        raise NotImplementedError(f"no number type {self.name!r}: {LIMITS[self.name]}")

    @property
    def itemsize(self) -> int:  # type: ignore[override]
        return self.numpy.itemsize

    @property
    def is_complex(self) -> builtins.bool:
        return self.name.startswith("c")

    def __reduce__(self) -> tuple[Any, ...]:
        return left_out, (self.name,)


float16 = DType("float16", "Half", "c10::Half", FLOATING)
float32 = DType("float32", "Float", "float", FLOATING)
float64 = DType("float64", "Double", "double", FLOATING)
uint8 = DType("uint8", "Byte", "unsigned char", INTEGER)
int8 = DType("int8", "Char", "signed char", INTEGER)
int16 = DType("int16", "Short", "short", INTEGER)
int32 = DType("int32", "Int", "int", INTEGER)
int64 = DType("int64", "Long", "long int", INTEGER)
bool_ = DType("bool", "Bool", "bool", BOOLEAN)

# Every name under which a type is public, such as `minigrad.float` and `minigrad.float32`.
NAMES: dict[str, DType] = {
    **{t.name: t for t in (float16, float32, float64, uint8, int8, int16, int32, int64, bool_)},
    "half": float16,
    "float": float32,
    "double": float64,
    "short": int16,
    "int": int32,
    "long": int64,
}
LIMITS = {
    **dict.fromkeys(
        ("complex32", "complex64", "complex128", "cfloat", "cdouble"), "complex numbers are left out of minigrad"
    ),
    **dict.fromkeys(
        ("bfloat16", "uint16", "uint32", "uint64", "qint8", "quint8", "qint32", "float8_e4m3fn", "float8_e5m2"),
        "minigrad has float16/32/64, int8/16/32/64, uint8 and bool",
    ),
}
_BY_NUMPY = {t.numpy: t for t in NAMES.values()}
_BY_PYTHON: dict[type, DType] = {builtins.float: float64, builtins.int: int64, builtins.bool: bool_}
_default = float32


def by_name(name: str) -> DType:
    """The type with this name, such as "float32" or "long"; a type minigrad leaves out raises and says so."""
    if name in NAMES:
        return NAMES[name]
    raise NotImplementedError(f"no number type {name!r}: {LIMITS.get(name, LIMITS['bfloat16'])}")


@functools.cache
def left_out(name: str) -> LeftOut:
    """The one object for a type that minigrad leaves out, such as bfloat16."""
    return LeftOut({"cfloat": "complex64", "cdouble": "complex128"}.get(name, name))


def native(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array with numpy's one object for its type, as types are compared by identity: a file brings another one."""
    kind = of(array.dtype).numpy
    return array if array.dtype is kind else array.view(kind)


def of(numpy_dtype: np.dtype[Any]) -> DType:
    """The `DType` of a numpy dtype; one that PyTorch or minigrad lacks raises TypeError."""
    found = _BY_NUMPY.get(numpy_dtype)
    if found is not None:
        return found
    if numpy_dtype.kind == "c":
        raise TypeError(f"no number type {numpy_dtype}: {LIMITS['complex64']}")
    if not numpy_dtype.isnative:
        raise ValueError(
            "given numpy array has byte order different from the native byte order. "
            "Conversion between byte orders is currently not supported."
        )
    raise TypeError(
        f"can't convert np.ndarray of type {numpy_dtype.type.__module__}.{numpy_dtype.type.__name__}. "
        "The only supported types are: float64, float32, float16, int64, int32, int16, int8, uint8, and bool."
    )


def resolve(dtype: Any, function: str = "to") -> DType:
    """The `DType` a `dtype=` argument names: a DType, or Python's float, int, bool; else TypeError."""
    if type(dtype) is DType:
        return dtype
    if isinstance(dtype, DType) and dtype.numpy:  # a type left out refuses here
        return dtype
    if isinstance(dtype, type) and dtype in _BY_PYTHON:
        return _BY_PYTHON[dtype]
    raise TypeError(f"{function}(): argument 'dtype' must be torch.dtype, not {type(dtype).__name__}")


def get_default_dtype() -> DType:
    """The type of floating-point tensors made from Python numbers (float32 unless changed)."""
    return _default


def default_numpy() -> np.dtype[Any]:
    """The default type, as numpy names it."""
    return _default.numpy


def set_default_dtype(d: DType) -> None:
    """Change the type that `tensor([1.0])`, `zeros(2)` and integer division give; a floating-point type."""
    global _default
    if not isinstance(d, DType):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _default = resolve(d)


# ------------------------------------------------------------------------------------------- promotion


def promote_types(a: DType, b: DType) -> DType:
    """The smallest type of the higher category that holds both: int32 and float16 give float16."""
    if a is b:
        return a
    try:
        if a.category != b.category:
            return a if a.category > b.category else b
    except AttributeError:
        place, given = (2, b) if isinstance(a, DType) else (1, a)
        kind = type(given).__name__
        raise TypeError(
            f"promote_types(): argument 'type{place}' (position {place}) must be torch.dtype, not {kind}"
        ) from None
    return _BY_NUMPY[np.promote_types(a.numpy, b.numpy)]


def _combine(strong: DType | None, weak: DType | None) -> DType | None:
    """`weak` is heard only when its category is higher."""
    if strong is None or weak is None:
        return strong or weak
    return weak if weak.category > strong.category else strong


def result_type(*operands: Any) -> DType:
    """PyTorch's result type of arrays (with dimensions), numpy scalars and 0-d arrays, and Python numbers."""
    ranks: list[DType | None] = [None, None, None]
    for operand in operands:
        if isinstance(operand, (np.ndarray, np.generic)):
            rank, found = (0 if operand.ndim else 1), of(operand.dtype)
        else:
            rank = 2
            if isinstance(operand, builtins.float):
                found = _default
            else:
                found = bool_ if isinstance(operand, builtins.bool) else int64
        known = ranks[rank]
        ranks[rank] = found if known is None else promote_types(known, found)
    combined = _combine(ranks[0], _combine(ranks[1], ranks[2]))
    assert combined is not None
    return combined


def cast(x: Any, dtype: DType) -> Any:
    """An array or number as an array (or numpy scalar) of this type; no copy when it has it already.

    Floats are cut towards zero and integers wrap, as in C.
    """
    target = dtype.numpy
    if isinstance(x, (np.ndarray, np.generic)):
        if x.dtype == target:
            return x
        layout: Literal["C", "K"] = "C" if 0 in x.strides else "K"  # K would set an expanded array column by column
        if x.dtype.kind == "f":
            with np.errstate(invalid="ignore", over="ignore"):
                if target.kind == "u":
                    return x.astype(np.int64, layout).astype(target)
                return x.astype(target, layout)
        return x.astype(target, layout)
    if isinstance(x, builtins.int) and target.kind in "iu":
        return np.array(x).astype(target)[()]
    if not isinstance(x, (builtins.bool, builtins.int, builtins.float)):
        raise TypeError(f"a number was expected, not {type(x).__name__}")  # which numpy would take: None is nan to it
    with np.errstate(over="ignore"):
        return target.type(x)


@functools.cache
def _range(dtype: DType, whole: builtins.bool) -> tuple[Any, Any]:
    """The least and the largest number that `fitting` lets into this type; whole ones wrap below 0 in uint8."""
    if dtype.is_floating_point:
        largest = builtins.float(np.finfo(dtype.numpy).max)
        return -largest, largest
    limits = np.iinfo(dtype.numpy)
    return -255 if whole and dtype is uint8 else limits.min, limits.max


def fitting(number: Any, dtype: DType) -> Any:
    """`cast` of a Python number; RuntimeError for one that lies beyond the type's range (inf and nan are floats)."""
    if dtype.category != BOOLEAN and isinstance(number, (builtins.int, builtins.float)):
        least, largest = _range(dtype, isinstance(number, builtins.int))
        endless = dtype.is_floating_point and number - number != 0
        if not (endless or least <= number <= largest):
            raise RuntimeError(f"value cannot be converted to type {_IN_C.get(dtype.name, dtype.c_name)} without overflow")
    return cast(number, dtype)


def before_half(dtype: DType) -> DType:
    """The type in which PyTorch first makes a tensor of a number that is to become one of this type."""
    return float32 if dtype is float16 else dtype


_IN_C = {"uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int64": "int64_t"}


def promote(x: Any, y: Any) -> tuple[Any, Any]:
    """Two raw operands, cast so that a numpy function of them gives PyTorch's result type."""
    target = result_type(x, y)
    return cast(x, target), cast(y, target)


class Wide(np.float64):
    """A number that multiplies or divides float16: in float32, and only the result is rounded, as PyTorch does."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        """The result of the numpy function, as float16."""
        with np.errstate(over="ignore"):
            wide = [np.float32(x) if isinstance(x, Wide) else x for x in inputs]
            return getattr(ufunc, method)(*wide, dtype=np.float32, **settings).astype(np.float16)


def promote_factors(x: Any, y: Any) -> tuple[Any, Any]:
    """`promote` for * and /, where a number (or a 0-d tensor as second operand) beside float16 stays as precise as it is."""
    a, b = promote(x, y)
    if a.dtype == np.float16:
        if not b.ndim and getattr(y, "dtype", None) != np.float16:
            return np.asarray(a), Wide(y)
        if not isinstance(x, (np.ndarray, np.generic)):
            return Wide(x), np.asarray(b)
    return a, b


TWO_BOOLEANS = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
    "instead."
)
BOOLEAN_SUBTRACTION = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the "
    "`~` or `logical_not()` operator instead."
)


def promote_numbers(x: Any, y: Any) -> tuple[Any, Any]:
    """`promote` for subtraction, which takes no booleans."""
    booleans = [getattr(operand, "dtype", None) is bool_.numpy for operand in (x, y)]
    if any(booleans):
        raise RuntimeError(TWO_BOOLEANS if all(booleans) else BOOLEAN_SUBTRACTION)
    return promote(x, y)


def promote_floating(x: Any, y: Any) -> tuple[Any, Any]:
    """`promote` for functions that give floats of integers, such as division."""
    target = result_type(x, y)
    if not target.is_floating_point:
        target = _default
    return cast(x, target), cast(y, target)


def promote_quotient(x: Any, y: Any) -> tuple[Any, Any]:
    """`promote_factors` for /, where a number beside integers is a float at once: in uint8, -1 would be 255."""
    return (promote_factors if result_type(x, y).is_floating_point else promote_floating)(x, y)


def floating(x: Any) -> Any:
    """An operand of a float function such as sin: integers and booleans become the default type."""
    return x if x.dtype.kind == "f" else x.astype(_default.numpy)


def accumulating(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of a sum or product: int64 for integers and booleans, its own for floats."""
    return dtype if dtype.kind == "f" else int64.numpy


def can_cast(from_: DType, to: DType) -> builtins.bool:
    """Whether PyTorch lets an in-place result of type `from_` be written into `to`: never down a category."""
    return from_.category <= to.category


# ------------------------------------------------------------------------------------------- limits


class finfo:
    """The limits of a floating-point type: bits, eps, max, min, tiny, smallest_normal, resolution."""

    def __init__(self, type: DType | None = None) -> None:
        found = _default if type is None else type
        if not isinstance(found, DType) or not found.is_floating_point:
            raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'")
        limits = np.finfo(found.numpy)
        self.bits = found.itemsize * 8
        self.dtype = found.name
        self.eps = builtins.float(limits.eps)
        self.max = builtins.float(limits.max)
        self.min = builtins.float(limits.min)
        self.tiny = self.smallest_normal = builtins.float(limits.smallest_normal)
        self.resolution = builtins.float(np.format_float_scientific(limits.resolution))

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:
    """The limits of an integer type: bits, max, min."""

    def __init__(self, type: DType) -> None:
        if not isinstance(type, DType) or type.category != INTEGER:
            raise TypeError(
                "torch.bool is not supported by torch.iinfo"
                if type is bool_
                else "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'"
            )
        limits = np.iinfo(type.numpy)
        self.bits = type.itemsize * 8
        self.dtype = type.name
        self.max = builtins.int(limits.max)
        self.min = builtins.int(limits.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
