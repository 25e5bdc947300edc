"""Tensors from numbers, lists and numpy arrays, from a shape, from a range; copies, and other number types.

What is made here is a leaf: nothing is recorded, but where a tensor changes its number type. Python floats give
the default type (float32), Python integers int64, booleans bool; numpy arrays and tensors keep theirs.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from .. import derivatives as table
from .. import dtypes, errors
from ..dtypes import Device, DType, check_device
from ..errors import at_least, check
from ..operation import attach, public
from ..tape import state
from ..tensor import Array, Tensor, Untracked, plain, wrap

COPY = (
    "To copy construct from a tensor, it is recommended to use "
    "sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), "
    "rather than torch.tensor(sourceTensor)."
)
NEGATIVE_STRIDE = (
    "At least one stride in the given numpy array is negative, "
    "and tensors with negative strides are not currently supported. "
    "(You can probably work around this by making a copy of your array  with array.copy().) "
)


def leaf(array: Array, requires_grad: bool = False) -> Tensor:
    """A leaf around this array; RuntimeError when integers are to require a gradient."""
    check(not requires_grad or array.dtype.kind == "f", errors.ONLY_FLOATS)
    made = wrap(array if array.ndim else array[()])
    if state.inference:
        made._counter = Untracked(made._counter)
    return made.requires_grad_(requires_grad) if requires_grad else made


def size_of(function: str, size: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape given as separate integers or as one sequence; TypeError for what is no integer."""
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = tuple(size[0])
    for n in size:
        if isinstance(n, (bool, float)) or not hasattr(n, "__index__"):
            raise no_size(function, n)
    errors.check_sizes(sizes := [int(n) for n in size])
    return tuple(sizes)


def no_size(function: str, value: Any) -> TypeError:
    return errors.must_be("tuple of ints", function, "size", 1, value)


def kind_of(dtype: Any, function: str, ordinary: DType | None = None) -> DType:
    """The type asked for with `dtype=`; for None the ordinary one, or the default type."""
    if dtype is None:
        return ordinary or dtypes.get_default_dtype()
    return dtypes.resolve(dtype, function)


# ------------------------------------------------------------------ from data


@public
def tensor(data: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A new leaf with a copy of `data`: a number, a nested sequence of numbers, an array or a tensor.

    `dtype=None` takes the type from the data, with Python floats as the default type. Raises ValueError for
    ragged sequences, TypeError for what is no number, RuntimeError when integers are to require a gradient.

    >>> torch.tensor([[1, 2], [3, 4]], dtype=torch.float64)
    tensor([[1., 2.],
            [3., 4.]], dtype=torch.float64)
    """
    if isinstance(data, Tensor):
        warnings.warn(COPY, stacklevel=3)
    wanted = None if dtype is None else dtypes.resolve(dtype, "tensor")
    return leaf(np.array(array_of(data, wanted)), requires_grad)


def array_of(data: Any, dtype: DType | None = None) -> Array:
    """The data as an array of this type; a tensor or array that has it already is not copied."""
    if isinstance(data, Tensor):
        data = data._data
    if isinstance(data, dtypes.ARRAYS):
        array = dtypes.native(np.asarray(data))
        return array if dtype is None else dtypes.cast(array, dtype)
    # numpy finds the shape
    cells = np.array(_unwrapped(data), object)
    found = _type(cells)
    kind = dtype or found
    try:
        return cells.astype(kind.numpy)
    except (OverflowError, ValueError) as error:
        if "too large" in str(error):
            raise ValueError("Overflow when unpacking long long") from None
        raise RuntimeError(f"value cannot be converted to type {kind.name} without overflow") from None


def _unwrapped(data: Any) -> Any:
    """Nested lists of numbers; what was a tensor or an array is of numpy's types."""
    if isinstance(data, Tensor):
        if data.numel() != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        if data.requires_grad:
            warnings.warn(errors.TO_SCALAR, stacklevel=6)
        return data._data.reshape(())[()]
    if isinstance(data, np.ndarray):
        return [_unwrapped(x) for x in data] if data.ndim else data[()]
    if isinstance(data, (list, tuple)):
        return [*data] if {float, int}.issuperset(map(type, data)) else [*map(_unwrapped, data)]
    return data


def _type(cells: Array) -> DType:
    """The type that holds all of these, the default type if there are none; an error for what is no number."""
    found = []
    for kind in dict.fromkeys(map(type, cells.flat)):
        if issubclass(kind, np.generic):
            found.append(dtypes.of(np.dtype(kind)))
        elif kind in (float, int, bool):
            found.append(dtypes.result_type(kind()))
        elif kind is list:
            raise _ragged(cells)
        elif kind is str and cells.ndim and type(cells.flat[0]) is str:
            raise ValueError("too many dimensions 'str'")
        elif kind is str:
            raise TypeError("new(): invalid data type 'str'")
        else:
            complexes = ": minigrad leaves out complex numbers" * (kind is complex)
            raise RuntimeError(f"Could not infer dtype of {kind.__name__}{complexes}")
    return reduce(dtypes.promote_types, found) if found else dtypes.get_default_dtype()


def _ragged(cells: Array) -> Exception:
    """The error for lists of different lengths, which numpy did not take apart."""
    lengths = [len(cell) for cell in cells.flat if isinstance(cell, list)]
    if len(lengths) < cells.size:
        return TypeError("must be real number, not list")
    other = next(n for n in lengths if n != lengths[0])
    return ValueError(f"expected sequence of length {lengths[0]} at dim {cells.ndim} (got {other})")


@public
def as_tensor(data: Any, dtype: Any = None) -> Tensor:
    """The data as a tensor: a tensor itself, or one that shares an array's memory, where the type fits."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    wanted = None if dtype is None else dtypes.resolve(dtype, "as_tensor")
    if isinstance(data, np.ndarray):
        data = from_numpy(data)
    return leaf(array_of(data, wanted))


@public
def from_numpy(ndarray: Any) -> Tensor:
    """A tensor that shares memory with the array: writing to one is seen in the other."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {errors.type_name(ndarray)})")
    if any(step < 0 for step in ndarray.strides):
        raise ValueError(NEGATIVE_STRIDE)
    return wrap(np.asarray(dtypes.native(ndarray)))


# ------------------------------------------------------------------ from a shape


@public
def zeros(
    *shape: Any, size: Any = None, dtype: Any = None, requires_grad: bool = False,
) -> Tensor:
    """All zeros: `zeros(2, 3)` or `zeros((2, 3))`, of the default type."""
    return _filled(np.zeros, "zeros", shape or (size,), dtype, requires_grad)


@public
def ones(
    *shape: Any, size: Any = None, dtype: Any = None, requires_grad: bool = False,
) -> Tensor:
    """All ones: `ones(2, 3)` or `ones((2, 3))`, of the default type."""
    return _filled(np.ones, "ones", shape or (size,), dtype, requires_grad)


@public
def empty(
    *shape: Any, size: Any = None, dtype: Any = None, requires_grad: bool = False,
) -> Tensor:
    """Room for numbers that are to be written: they are zeros here, and anything in PyTorch."""
    return _filled(np.zeros, "empty", shape or (size,), dtype, requires_grad)


def _filled(make: Any, name: str, size: Any, dtype: Any, *further: Any) -> Tensor:
    return leaf(make(size_of(name, size), kind_of(dtype, name).numpy), *further)


@public
def full(
    size: Any, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False,
) -> Tensor:
    """The same number everywhere; its type is the number's: int64, bool, or the default type."""
    if not isinstance(size, (tuple, list)):
        raise no_size("full", size)
    value = _fill("full", fill_value)
    found = kind_of(dtype, "full", dtypes.result_type(value))
    array = np.full(size_of("full", (size,)), dtypes.cast(value, found))
    return leaf(array, requires_grad)


@public
def zeros_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros with the shape and type of `input`."""
    kind = kind_of(dtype, "zeros_like", input.dtype).numpy
    return leaf(np.zeros_like(input._data, kind), requires_grad)


@public
def ones_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones with the shape and type of `input`."""
    kind = kind_of(dtype, "ones_like", input.dtype).numpy
    return leaf(np.ones_like(input._data, kind), requires_grad)


@public
def empty_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Room for numbers that are to be written, with the shape and type of `input`."""
    return zeros_like(input, dtype=dtype, requires_grad=requires_grad)


@public
def full_like(
    input: Tensor, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False,
) -> Tensor:
    """One number everywhere, with the shape and type of `input`."""
    found = kind_of(dtype, "full_like", input.dtype)
    value = dtypes.cast(_fill("full_like", fill_value), found)
    return leaf(np.full_like(input._data, value, found.numpy), requires_grad)


def _fill(function: str, value: Any) -> Any:
    """The number to fill with."""
    if isinstance(plain(value), (bool, int, float)):
        return plain(value)
    raise errors.must_be("Number", function, "fill_value", 2, value)


@public
def new_zeros(self: Tensor, *size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros of this shape, in this tensor's number type unless another is given."""
    return zeros(*size, dtype=dtype or self.dtype, requires_grad=requires_grad)


@public
def new_ones(self: Tensor, *size: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones of this shape, in this tensor's number type unless another is given."""
    return ones(*size, dtype=dtype or self.dtype, requires_grad=requires_grad)


@public
def new_tensor(self: Tensor, data: Any, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A leaf with a copy of `data`, in this tensor's number type unless another is given."""
    return tensor(data, dtype=dtype or self.dtype, requires_grad=requires_grad)


# ------------------------------------------------------------------ from a range


@public
def arange(
    start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """start, start + step, ... as long as it is below `end`: int64 if all are integers, else the default type.

    `arange(end)` starts at 0. RuntimeError for a step of 0, or one that leads away from `end`.
    """
    if end is None:
        start, end = 0, start
    start, end, step = plain(start), plain(end), plain(step)
    check(all(map(math.isfinite, (start, end))), f"unsupported range: {start} -> {end}")
    found = kind_of(dtype, "arange", dtypes.result_type(start, end, step))
    if found is dtypes.int64:
        start, end, step = int(start), int(end), int(step)
    check(step, "step must be nonzero")
    check((end - start) * step >= 0, "upper bound and lower bound inconsistent with step sign")
    count = int(np.ceil((end - start) / step))
    # smaller types of integers lose their fractions after the count
    if not found.is_floating_point:
        start, step = int(start), int(step)
    return leaf(dtypes.cast(start + step * np.arange(count), found), requires_grad)


@public
def linspace(
    start: Any, end: Any, steps: int, *, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """`steps` numbers from `start` to `end`, both included, at equal distances."""
    at_least(0, steps, "number of steps must be non-negative")
    kind = kind_of(dtype, "linspace")
    first, last = (plain(x) if kind.is_floating_point else int(x) for x in (start, end))
    return leaf(dtypes.cast(np.linspace(first, last, plain(steps)), kind), requires_grad)


@public
def eye(
    n: int, m: int | None = None, *,
    dtype: Any = None, requires_grad: bool = False,
) -> Tensor:
    """The identity matrix (n, n), or an (n, m) matrix with ones on the diagonal."""
    at_least(0, n, "n must be greater or equal to 0, got {}")
    at_least(0, n if m is None else m, "m must be greater or equal to 0, got {}")
    return leaf(np.eye(n, m, dtype=kind_of(dtype, "eye").numpy), requires_grad)


# ------------------------------------------------------------------ of another type


def converted(x: Tensor, dtype: DType) -> Tensor:
    """x in another number type, itself if it has it; of integers there is no gradient, and so no history."""
    if x._data.dtype == dtype.numpy:
        return x
    return table.cast(x if dtype.is_floating_point else wrap(x._data), dtype)


@public
def to(
    self: Tensor, *args: Any, dtype: Any = None, device: Any = None, non_blocking: bool = False,
    copy: bool = False,
) -> Tensor:
    """The tensor in another number type: `x.to(float64)`, `x.to(other)`; itself if it has the type already.

    A device may be named too, by place or by name: NotImplementedError for any but the CPU.
    """
    check_device(device)
    for arg in args:
        if isinstance(arg, (str, Device)):
            check_device(arg)
        # non_blocking
        elif not isinstance(arg, bool):
            # a tensor's, or a dtype
            dtype = getattr(arg, "dtype", arg)
    made = self if dtype is None else converted(self, dtypes.resolve(dtype))
    return table.clone(self) if copy and made is self else made


def element_size(self: Tensor) -> int:
    """How many bytes an element takes."""
    return int(self._data.dtype.itemsize)


def nbytes(self: Tensor) -> int:
    """How many bytes all elements take."""
    return int(self._data.nbytes)


def _as(dtype: DType) -> Callable[[Tensor], Tensor]:
    """The method `x.float()` and its like."""

    def convert(self: Tensor) -> Tensor:
        return converted(self, dtype)

    convert.__qualname__ = f"Tensor.{dtype.name}"
    convert.__doc__ = f"The tensor as {dtype}; itself if it is."
    return convert


def to_type(self: Tensor, dtype: Any = None) -> Any:
    """The tensor in another type; without an argument the name of its type, such as 'torch.FloatTensor'."""
    if dtype is None:
        return f"torch.{self.dtype.tensor_name}Tensor"
    if isinstance(dtype, str):
        raise TypeError(f"type(): minigrad leaves out names such as {dtype!r}; give a dtype")
    return converted(self, dtypes.resolve(dtype, "type"))


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """The tensor in the number type of another; itself if it has that."""
    return converted(self, other.dtype)


def cpu(self: Tensor) -> Tensor:
    """The tensor itself: it lives on the CPU."""
    return self


def cuda(self: Tensor, device: Any = None) -> Tensor:
    """Raises NotImplementedError: minigrad runs on the CPU only."""
    raise NotImplementedError("minigrad runs on the CPU only")


@public
def is_floating_point(input: Tensor) -> bool:
    """Whether the elements are floats."""
    return bool(input._data.dtype.kind == "f")


@public
def numel(input: Tensor) -> int:
    """How many elements the tensor has."""
    return input.numel()


def is_tensor(obj: Any) -> bool:
    """Whether this is a Tensor."""
    return isinstance(obj, Tensor)


def result_type(tensor: Any, other: Any) -> DType:
    """The number type of an operation on these two tensors or numbers."""
    return dtypes.result_type(*(getattr(x, "_data", x) for x in (tensor, other)))


# ------------------------------------------------------------------ limits


class finfo:
    """The limits of a floating-point type: bits, eps, max, min, tiny, smallest_normal, resolution."""

    def __init__(self, type: DType | None = None) -> None:
        found = type or dtypes.get_default_dtype()
        limits = np.finfo(found.numpy)
        self.dtype, self.bits = found.name, limits.bits
        self.min, self.max = float(limits.min), float(limits.max)
        self.eps, self.tiny = float(limits.eps), float(limits.tiny)
        self.smallest_normal = self.tiny
        self.resolution = float(str(limits.resolution))

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        parts = [f"{name}={getattr(self, name):g}" for name in names]
        return f"finfo({', '.join(parts)}, dtype={self.dtype})"


class iinfo:
    """The limits of an integer type: bits, max, min."""

    def __init__(self, type: DType) -> None:
        limits = np.iinfo(type.numpy)
        self.dtype, self.bits = type.name, limits.bits
        self.min, self.max = int(limits.min), int(limits.max)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


# ------------------------------------------------------------------ copies


def to_numpy(self: Tensor, *, force: bool = False) -> Array:
    """The numbers as an ndarray that shares this tensor's memory.

    RuntimeError for a tensor that requires grad, unless `force`: writes would go unnoticed.
    """
    allowed = force or not state.recording or not self.requires_grad
    check(allowed, "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    return self._writable()


def rebuild(cls: type[Tensor], array: Array, requires_grad: bool) -> Tensor:
    """The leaf that a pickle or a copy describes."""
    made = object.__new__(cls)
    made._data, made._node, made._counter = dtypes.native(array), None, [0]
    return made.requires_grad_() if requires_grad else made


def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Tensor:
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) "
            "support the deepcopy protocol at the moment.  "
            "If you were attempting to deepcopy a module, this may be because of "
            "a torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
        )
    if id(self) not in memo:
        memo[id(self)] = made = rebuild(type(self), np.array(self._data), self.requires_grad)
        made._grad = copy.deepcopy(self._grad, memo)
    return memo[id(self)]


def __reduce_ex__(self: Tensor, protocol: Any) -> Any:
    """A pickle holds the numbers and requires_grad, not the graph; a shallow copy shares the numbers."""
    return rebuild, (type(self), self._writable(), self.requires_grad)


def __new__(cls: type[Tensor], *data: Any) -> Tensor:
    """The old constructor: `Tensor([1, 2])` copies numbers, `Tensor(2, 3)` makes room; the default float type."""
    kind = dtypes.get_default_dtype()
    if len(data) == 1 and not isinstance(data[0], int):
        return rebuild(cls, np.array(array_of(data[0], kind)), False)
    return rebuild(cls, np.zeros(size_of("Tensor", data), kind.numpy), False)


attach(new_zeros, new_ones, new_tensor, to, type_as, cpu, cuda, is_floating_point, element_size)
attach(half=_as(dtypes.float16), float=_as(dtypes.float32), double=_as(dtypes.float64))
attach(short=_as(dtypes.int16), int=_as(dtypes.int32), long=_as(dtypes.int64), bool=_as(dtypes.bool_))
attach(nbytes=property(nbytes), type=to_type, numpy=to_numpy)
attach(__new__, __deepcopy__, __reduce_ex__)
