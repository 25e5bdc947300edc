"""What describes a tensor: its number type, its shape, its device; and the type of a mixed result.

PyTorch's promotion differs from numpy's in one idea: category before width. The categories are bool < integer <
floating point. Tensors with dimensions decide first; a 0-d tensor counts only if its category is higher than
theirs, and then a Python number likewise. So float32 * 2.0 stays float32, int64 * 1.5 becomes float32, and a
float64 0-d tensor does not widen a float32 vector.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import reduce
from typing import Any, SupportsIndex, overload

import numpy as np

from . import errors

Array = np.ndarray[Any, np.dtype[Any]]
BOOLEAN, INTEGER, FLOATING = range(3)

# ------------------------------------------------------------------ number types


class DType:
    """A number type, such as `float32`. There is one object for each type: compare with `is` or `==`."""

    __module__, __qualname__ = "minigrad", "dtype"
    __slots__ = ("c_name", "category", "itemsize", "name", "numpy", "tensor_name")

    def __init__(self, name: str, tensor: str, c: str, category: int) -> None:
        self.name = name
        self.numpy: np.dtype[Any] = np.dtype(name)
        self.tensor_name = tensor
        self.c_name = c
        self.category = category
        self.itemsize = self.numpy.itemsize

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        # pickled as minigrad.float32
        return self.name

    @property
    def is_floating_point(self) -> bool:
        """Whether its numbers are floats, which can have gradients."""
        return self.category == FLOATING


float16 = DType("float16", "Half", "c10::Half", FLOATING)
float32 = DType("float32", "Float", "float", FLOATING)
float64 = DType("float64", "Double", "double", FLOATING)
uint8 = DType("uint8", "Byte", "unsigned char", INTEGER)
int8 = DType("int8", "Char", "signed char", INTEGER)
int16 = DType("int16", "Short", "short", INTEGER)
int32 = DType("int32", "Int", "int", INTEGER)
int64 = DType("int64", "Long", "long int", INTEGER)
bool_ = DType("bool", "Bool", "bool", BOOLEAN)

ALL = (float16, float32, float64, uint8, int8, int16, int32, int64, bool_)
_BY_NUMPY = {t.numpy: t for t in ALL}
_BY_PYTHON: dict[Any, DType] = {float: float64, int: int64, bool: bool_}
_default = float32


def of(numpy_dtype: np.dtype[Any]) -> DType:
    """The `DType` of a numpy dtype; TypeError for one that a tensor cannot have."""
    found = _BY_NUMPY.get(numpy_dtype)
    if found is not None:
        return found
    raise TypeError(
        f"can't convert np.ndarray of type numpy.{numpy_dtype.type.__name__}. "
        "The only supported types are: float64, float32, float16, "
        "int64, int32, int16, int8, uint8, and bool."
    )


def resolve(dtype: Any, function: str = "to") -> DType:
    """The `DType` that an argument names: a DType, or Python's float, int, bool; else TypeError."""
    if type(dtype) is DType:
        return dtype
    if isinstance(dtype, type) and dtype in _BY_PYTHON:
        return _BY_PYTHON[dtype]
    raise errors.must_be("torch.dtype", function, "dtype", 0, dtype)


def native(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array with numpy's own object for its type (a file brings another), as types are compared by identity."""
    kind = of(array.dtype).numpy
    return array if array.dtype is kind else array.view(kind)


def get_default_dtype() -> DType:
    """The type of tensors made from Python floats: float32 unless changed."""
    return _default


def set_default_dtype(d: DType) -> None:
    """Change the type that `tensor([1.0])`, `zeros(2)` and integer division give.

    TypeError for anything but a floating-point type.
    """
    global _default
    if not isinstance(d, DType) or d.category != FLOATING:
        raise TypeError("only floating-point types are supported as the default type")
    _default = d
    _common.clear()


# ------------------------------------------------------------------ promotion


def promote_types(type1: DType, type2: DType) -> DType:
    """The smallest type of the higher category that holds both: int32 and float16 give float16."""
    a = resolve(type1, "promote_types")
    b = resolve(type2, "promote_types")
    if a.category != b.category:
        return a if a.category > b.category else b
    return _BY_NUMPY[np.promote_types(a.numpy, b.numpy)]


def can_cast(from_: DType, to: DType) -> bool:
    """Whether an in-place operation may write results of type `from_` into `to`: never down a category."""
    return from_.category <= to.category


ARRAYS = np.ndarray, np.generic
# the type of a result, by what it is made of
_common: dict[Any, DType] = {}


def _described(x: Any) -> Any:
    """What counts of an operand: an array's type, and whether it has dimensions; a number's Python type."""
    return (x.dtype.num, x.ndim > 0) if isinstance(x, ARRAYS) else type(x)


def result_type(*operands: Any) -> DType:
    """The type of an operation on these: arrays, 0-d arrays and numpy scalars, Python numbers."""
    key = tuple(map(_described, operands))
    found = _common.get(key)
    if found is None:
        found = _common[key] = _result_type(operands)
    return found


def _result_type(operands: Sequence[Any]) -> DType:
    arrays = [x for x in operands if isinstance(x, ARRAYS)]
    numbers = [x for x in operands if not isinstance(x, ARRAYS)]
    python = [_default if isinstance(x, float) else _BY_PYTHON.get(type(x), int64) for x in numbers]
    groups = [
        [of(x.dtype) for x in arrays if x.ndim],
        [of(x.dtype) for x in arrays if not x.ndim],
        python,
    ]
    first, *others = (reduce(promote_types, group) for group in groups if group)
    for kind in others:
        first = kind if kind.category > first.category else first
    return first


def cast(x: Any, dtype: DType) -> Any:
    """An array or number as an array (or numpy scalar) of this type; no copy when it has it already.

    Floats are cut towards zero and integers wrap around.
    """
    target = dtype.numpy
    if not isinstance(x, ARRAYS):
        x = np.float64(x) if isinstance(x, float) else np.int64(x)
    if x.dtype == target:
        return x
    if isinstance(x, np.generic) and dtype.category == FLOATING:
        return target.type(x)
    # numpy would lay out what was expanded column by column
    layout: Any = "C" if 0 in x.strides else "K"
    # by way of 32 bits, as C does: so 300 becomes 44 as a byte, and nan 0
    if x.dtype.kind == "f" and dtype.category == INTEGER:
        with np.errstate(invalid="ignore"):
            x = x.astype(np.int64 if target.itemsize == 8 else np.int32, layout)
    return x.astype(target, layout)


def promote(x: Any, y: Any) -> tuple[Any, Any]:
    """Two arrays or numbers, cast so that a numpy function of them gives PyTorch's result type."""
    target = result_type(x, y)
    return cast(x, target), cast(y, target)


def promote_floating(x: Any, y: Any) -> tuple[Any, Any]:
    """`promote` for functions that give floats of integers, such as division."""
    target = result_type(x, y)
    target = target if target.is_floating_point else _default
    return cast(x, target), cast(y, target)


def promote_numbers(x: Any, y: Any) -> tuple[Any, Any]:
    """`promote` for subtraction; RuntimeError for booleans."""
    booleans = [getattr(n, "dtype", None) is bool_.numpy for n in (x, y)]
    if any(booleans):
        one = "Subtraction, the `-` operator, with a bool tensor "
        raise RuntimeError(errors.TWO_BOOLEANS if all(booleans) else one + errors.USE_NOT)
    return promote(x, y)


def floating(x: Any) -> Any:
    """An operand of a function such as sin: integers and booleans become the default type."""
    return x if x.dtype.kind == "f" else x.astype(_default.numpy)


# ------------------------------------------------------------------ shape, device


class Size(tuple[int, ...]):
    """The shape of a tensor: a tuple, equal to `(2, 3)`, whose slices and sums are Sizes again.

    TypeError for entries that are not integers.
    """

    __module__ = "minigrad"
    __slots__ = ()

    def __new__(cls, dims: Any = ()) -> Size:
        return tuple.__new__(cls, map(operator.index, dims))

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Size: ...
    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Size:
        return Size(tuple.__add__(other, self))


KINDS = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, "
    "maia, xla, lazy, vulkan, mps, meta, hpu, mtia, privateuseone"
)


class Device:
    """A device by its name: device("cpu"), device("cuda:1"), device("cuda", 1).

    RuntimeError for a name that PyTorch does not know. Tensors live on the CPU only.
    """

    __module__, __qualname__ = "minigrad", "device"
    __slots__ = ("index", "type")

    def __init__(self, type: Any, index: int | None = None) -> None:
        kind, _, number = str(type).partition(":")
        if kind not in KINDS.split(", "):
            raise RuntimeError(f"Expected one of {KINDS} device type at start of device string: {kind}")
        self.type = kind
        self.index = int(number) if number else index

    def __str__(self) -> str:
        number = "" if self.index is None else f":{self.index}"
        return self.type + number

    def __repr__(self) -> str:
        number = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{number})"

    def __enter__(self) -> Device:
        check_device(self)
        return self

    def __exit__(self, *_: object) -> None: ...

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


CPU = Device("cpu")


def check_device(device: Any) -> None:
    """Nothing for None and the CPU; NotImplementedError for another device."""
    if device is None or device is CPU:
        return
    found = device if isinstance(device, Device) else Device(device)
    if found.type != "cpu":
        raise NotImplementedError(f"minigrad runs on the CPU only, not on device '{found}'")
