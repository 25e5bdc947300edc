"""Tensors from numbers, lists and numpy arrays, from a shape, from a range; copies, and other number types.

What is made here is a leaf: nothing is recorded, but where a tensor changes its number type. Python floats give
the default type (float32), Python integers int64, booleans bool; numpy arrays and tensors keep theirs. `device=`
may only name the CPU.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad import dtypes, errors
from minigrad.dtypes import DType, check_device
from minigrad.operation import attach, public
from minigrad.tape import state
from minigrad.tensor import Array, Tensor, Untracked, plain, wrap

COPY = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() "
    "or sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor)."
)
NEGATIVE_STRIDE = (
    "At least one stride in the given numpy array is negative, "
    "and tensors with negative strides are not currently supported. "
    "(You can probably work around this by making a copy of your array  with array.copy().) "
)


def leaf(array: Array, requires_grad: bool = False, device: Any = None) -> Tensor:
    """A leaf around this array; RuntimeError when integers are to require a gradient."""
    check_device(device)
    if requires_grad and array.dtype.kind != "f":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    made = wrap(array if array.ndim else array[()])
    if state.inference:
        made._counter = Untracked(made._counter)
    return made.requires_grad_() if requires_grad else made


def size_of(function: str, size: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape given as separate integers or as one sequence; TypeError for what is no integer."""
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = tuple(size[0])
    for place, n in enumerate(size):
        if isinstance(n, (bool, float)) or not hasattr(n, "__index__"):
            kind = type(n).__name__
            if place == 0:
                raise TypeError(f"{function}(): argument 'size' (position 1) must be tuple of ints, not {kind}")
            raise TypeError(
                f"{function}(): argument 'size' failed to unpack the object at pos {place + 1} "
                f'with error "type must be tuple of ints,but got {kind}"'
            )
    sizes = [int(n) for n in size]
    for n in sizes:
        if n < 0 and function == "zeros":
            raise RuntimeError("zeros: Dimension size must be non-negative.")
        if n < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {n}: {sizes}")
    return tuple(sizes)


def kind_of(dtype: Any, function: str, ordinary: DType | None = None) -> DType:
    """The type asked for with `dtype=`; for None the ordinary one, or the default type."""
    if dtype is None:
        return ordinary or dtypes.get_default_dtype()
    return dtypes.resolve(dtype, function)


def number(function: str, name: str, value: Any, place: int = 1) -> Any:
    """A Python number from an argument; TypeError for what is none."""
    value = plain(value)
    if not isinstance(value, (bool, int, float)):
        kind = errors.type_name(value)
        raise TypeError(f"{function}(): argument '{name}' (position {place}) must be Number, not {kind}")
    return value


def fitting(number: Any, dtype: DType) -> Any:
    """`cast` of a Python number; RuntimeError for one beyond the type's range (negative ones wrap in uint8)."""
    if isinstance(number, (int, float)) and dtype is not dtypes.bool_:
        limits: Any = np.finfo(dtype.numpy) if dtype.is_floating_point else np.iinfo(dtype.numpy)
        least = -255 if dtype is dtypes.uint8 and isinstance(number, int) else limits.min
        endless = dtype.is_floating_point and number - number != 0
        if not endless and not least <= number <= limits.max:
            name = f"{dtype.name}_t" if dtype.name in ("uint8", "int8", "int16", "int64") else dtype.c_name
            raise RuntimeError(f"value cannot be converted to type {name} without overflow")
    return dtypes.cast(number, dtype)


# ------------------------------------------------------------------ from data


@public
def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """A new leaf with a copy of `data`: a number, a nested sequence of numbers, an array or a tensor.

    `dtype=None` takes the type from the data, with Python floats as the default type. Raises ValueError for
    ragged sequences, TypeError for what is no number, RuntimeError when integers are to require a gradient.

    >>> torch.tensor([[1, 2], [3, 4]], dtype=torch.float64)
    tensor([[1., 2.],
            [3., 4.]], dtype=torch.float64)
    """
    if isinstance(data, Tensor):
        warnings.warn(COPY, UserWarning, stacklevel=3)
    wanted = None if dtype is None else dtypes.resolve(dtype, "tensor")
    return leaf(np.array(array_of(data, wanted)), requires_grad, device)


def array_of(data: Any, dtype: DType | None = None) -> Array:
    """The data as an array of this type; a tensor or array that has it already is not copied."""
    if isinstance(data, Tensor):
        data = data._data
    if isinstance(data, (np.ndarray, np.generic)):
        found = dtypes.of(data.dtype)
        return dtypes.native(np.asarray(data)) if dtype in (None, found) else dtypes.cast(data, dtype)
    if isinstance(data, str):
        raise TypeError("new(): invalid data type 'str'")
    shape = _shape(data)
    numbers: list[Any] = []
    _collect(data, shape, 0, numbers)
    found = _type(numbers, dtype)
    return _packed(numbers, found, dtype or found).reshape(shape)


def _is_sequence(data: Any) -> bool:
    if isinstance(data, (Tensor, np.ndarray)):
        return data.ndim > 0
    return hasattr(data, "__len__") and hasattr(data, "__getitem__") and not isinstance(data, (dict, str))


def _shape(data: Any) -> tuple[int, ...]:
    """The shape that the first elements suggest."""
    shape: tuple[int, ...] = ()
    while _is_sequence(data):
        if isinstance(data, Tensor):
            if data.numel() != 1:
                raise ValueError("only one element tensors can be converted to Python scalars")
            return shape
        shape += (len(data),)
        if not len(data):
            return shape
        if len(shape) > 64:  # a list that holds itself
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        data = data[0]
    if isinstance(data, str):
        raise ValueError("too many dimensions 'str'")
    return shape


def _collect(data: Any, shape: tuple[int, ...], dim: int, numbers: list[Any]) -> None:
    """Append the numbers in nested sequences of this shape, one by one; ValueError or TypeError for another shape."""
    if dim == len(shape):
        numbers.append(_one(data))
        return
    if not _is_sequence(data):
        raise TypeError("not a sequence")
    if len(data) != shape[dim]:
        raise ValueError(f"expected sequence of length {shape[dim]} at dim {dim} (got {len(data)})")
    if dim + 1 == len(shape) and set(map(type, data)) <= {float, int, bool}:
        numbers.extend(data)
        return
    for part in data:
        _collect(part, shape, dim + 1, numbers)


def _one(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value._data.reshape(())[()]
    if isinstance(value, complex):
        raise NotImplementedError("minigrad leaves out complex numbers")
    if _is_sequence(value):
        raise TypeError(f"must be real number, not {type(value).__name__}")
    return value


def _type(numbers: list[Any], wanted: DType | None) -> DType:
    """The type that holds all of these, the default type if there are none; an error for what is no number."""
    found: DType | None = None
    for kind in dict.fromkeys(map(type, numbers)):
        if issubclass(kind, np.generic):
            one = dtypes.of(np.dtype(kind))
        elif kind in (float, int, bool):
            one = dtypes.get_default_dtype() if kind is float else dtypes.resolve(kind)
        elif wanted is None:
            raise RuntimeError(f"Could not infer dtype of {kind.__name__}")
        elif wanted.is_floating_point:
            raise TypeError(f"must be real number, not {kind.__name__}")
        else:
            raise TypeError(f"'{kind.__name__}' object cannot be interpreted as an integer")
        found = one if found is None else dtypes.promote_types(found, one)
    return found or dtypes.get_default_dtype()


def _packed(numbers: list[Any], found: DType, dtype: DType) -> Array:
    """The numbers as an array; an error where an integer type cannot hold them."""
    wide = np.float64 if found.is_floating_point else found.numpy
    try:
        array = np.array(numbers, wide)
    except OverflowError:
        raise ValueError("Overflow when unpacking long long") from None
    if dtype.category == dtypes.INTEGER and array.size and array.dtype.kind != "b":
        limits = np.iinfo(dtype.numpy)
        low = -limits.max - 1 if dtype is dtypes.uint8 else limits.min
        if not ((array >= low) & (array <= limits.max)).all():
            raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")
    return dtypes.cast(array, dtype)


@public
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """The data as a tensor: a tensor itself, or one that shares an array's memory, where the type fits."""
    if isinstance(data, Tensor):
        return data if dtype is None else data.to(dtype)
    wanted = None if dtype is None else dtypes.resolve(dtype, "as_tensor")
    if isinstance(data, np.ndarray):
        data = _shared(data)
    return leaf(array_of(data, wanted), device=device)


@public
def from_numpy(ndarray: Any) -> Tensor:
    """A tensor that shares memory with the array: writing to one is seen in the other."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {errors.type_name(ndarray)})")
    return wrap(_shared(ndarray))


def _shared(array: Any) -> Array:
    array = dtypes.native(array)
    if any(step < 0 for step in array.strides):
        raise ValueError(NEGATIVE_STRIDE)
    return np.asarray(array)


# ------------------------------------------------------------------ from a shape


@public
def zeros(*shape: Any, size: Any = (), dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """All zeros: `zeros(2, 3)` or `zeros((2, 3))`, of the default type."""
    found = kind_of(dtype, "zeros")
    return leaf(np.zeros(size_of("zeros", shape or (size,)), found.numpy), requires_grad, device)


@public
def ones(*shape: Any, size: Any = (), dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """All ones: `ones(2, 3)` or `ones((2, 3))`, of the default type."""
    found = kind_of(dtype, "ones")
    return leaf(np.ones(size_of("ones", shape or (size,)), found.numpy), requires_grad, device)


@public
def empty(*shape: Any, size: Any = (), dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Room for numbers that are to be written: they are zeros here, and anything in PyTorch."""
    found = kind_of(dtype, "empty")
    return leaf(np.zeros(size_of("empty", shape or (size,)), found.numpy), requires_grad, device)


@public
def full(size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """The same number everywhere; its type is the number's: int64, bool, or the default type."""
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"full(): argument 'size' (position 1) must be tuple of ints, not {errors.type_name(size)}")
    value = number("full", "fill_value", fill_value, 2)
    found = kind_of(dtype, "full", dtypes.result_type(value))
    array = np.full(size_of("full", (size,)), fitting(value, found))
    return leaf(array, requires_grad, device)


@public
def zeros_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Zeros with the shape and type of `input`."""
    found = kind_of(dtype, "zeros_like", input.dtype)
    return leaf(np.zeros_like(input._data, found.numpy), requires_grad, device)


@public
def ones_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones with the shape and type of `input`."""
    found = kind_of(dtype, "ones_like", input.dtype)
    return leaf(np.ones_like(input._data, found.numpy), requires_grad, device)


@public
def empty_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Room for numbers that are to be written, with the shape and type of `input`."""
    return zeros_like(input, dtype=dtype, device=device, requires_grad=requires_grad)


@public
def full_like(
    input: Tensor, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """One number everywhere, with the shape and type of `input`."""
    found = kind_of(dtype, "full_like", input.dtype)
    value = fitting(number("full_like", "fill_value", fill_value, 2), found)
    return leaf(np.full_like(input._data, value, found.numpy), requires_grad, device)


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
    start: Any = None,
    end: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """start, start + step, ... as long as it is below `end`: int64 if all are integers, else the default type.

    `arange(end)` starts at 0. RuntimeError for a step of 0, or one that leads away from `end`.
    """
    if start is None or end is None:
        start, end = 0, end if start is None else start
    start, end = number("arange", "start", start), number("arange", "end", end)
    step = number("arange", "step", step, 3)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not np.isfinite(start) or not np.isfinite(end):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    found = kind_of(dtype, "arange", dtypes.result_type(start, end, step))
    count = int(np.ceil((end - start) / step))
    return leaf(dtypes.cast(start + step * np.arange(count), found), requires_grad, device)


@public
def linspace(
    start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """`steps` numbers from `start` to `end`, both included, at equal distances."""
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    for name, bound in (("start", start), ("end", end)):
        if isinstance(bound, Tensor) and bound.ndim:
            got = f"{name} with {bound.ndim} dimension(s)."
            raise RuntimeError(f"linspace only supports 0-dimensional start and end tensors, but got {got}")
    first, last = number("linspace", "start", start), number("linspace", "end", end)
    found = kind_of(dtype, "linspace")
    if not found.is_floating_point:
        first, last = int(first), int(last)
    return leaf(dtypes.cast(np.linspace(first, last, plain(steps)), found), requires_grad, device)


@public
def eye(n: int, m: int | None = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """The identity matrix (n, n), or an (n, m) matrix with ones on the diagonal."""
    for name, count in (("n", n), ("m", m)):
        if count is not None and count < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {count}")
    return leaf(np.eye(n, m, dtype=kind_of(dtype, "eye").numpy), requires_grad, device)


# ------------------------------------------------------------------ of another type


def converted(x: Tensor, dtype: DType) -> Tensor:
    """x in another number type, itself if it has it; of integers there is no gradient, and so no history."""
    if x._data.dtype == dtype.numpy:
        return x
    return table.cast(x if dtype.is_floating_point else wrap(x._data), dtype)


@public
def to(
    self: Tensor, *args: Any, dtype: Any = None, device: Any = None, non_blocking: bool = False, copy: bool = False
) -> Tensor:
    """The tensor in another number type: `x.to(float64)`, `x.to(other)`; itself if it has the type already.

    A device may be named too, by place or by name: NotImplementedError for any but the CPU.
    """
    check_device(device)
    for arg in args:
        if isinstance(arg, Tensor):
            dtype = arg.dtype
        elif isinstance(arg, DType) or arg in (float, int, bool):
            dtype = arg
        elif not isinstance(arg, bool):
            check_device(arg)
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
        found = dtypes.get_default_dtype() if type is None else type
        if not isinstance(found, DType) or not found.is_floating_point:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        limits = np.finfo(found.numpy)
        self.bits = found.itemsize * 8
        self.dtype = found.name
        self.eps = float(limits.eps)
        self.max = float(limits.max)
        self.min = float(limits.min)
        self.smallest_normal = float(limits.smallest_normal)
        self.tiny = self.smallest_normal
        self.resolution = float(str(limits.resolution))

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, "
            f"max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, "
            f"tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo:
    """The limits of an integer type: bits, max, min."""

    def __init__(self, type: DType) -> None:
        if type is dtypes.bool_:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if not isinstance(type, DType) or type.category != dtypes.INTEGER:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        limits = np.iinfo(type.numpy)
        self.bits = type.itemsize * 8
        self.dtype = type.name
        self.max = int(limits.max)
        self.min = int(limits.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


# ------------------------------------------------------------------ copies


def to_numpy(self: Tensor, *, force: bool = False) -> Array:
    """The numbers as an ndarray that shares this tensor's memory.

    RuntimeError for a tensor that requires grad, unless `force`: writes would go unnoticed.
    """
    if self.requires_grad and state.recording and not force:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    return self._writable()


def rebuild(cls: type[Tensor], array: Array, requires_grad: bool) -> Tensor:
    """The leaf that a pickle or a copy describes."""
    made = object.__new__(cls)
    made._data, made._node, made._counter = dtypes.native(array), None, [0]
    return made.requires_grad_() if requires_grad else made


def _own_attributes(x: Tensor) -> dict[str, Any]:
    return {name: value for name, value in vars(x).items() if name[0] != "_"}


def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Tensor:
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) "
            "support the deepcopy protocol at the moment."
        )
    if id(self) not in memo:
        array = copy.deepcopy(self._writable(), memo)
        memo[id(self)] = made = rebuild(type(self), array, self.requires_grad)
        vars(made).update(copy.deepcopy(_own_attributes(self), memo))
        made._grad = copy.deepcopy(self._grad, memo)
    return memo[id(self)]


def __reduce_ex__(self: Tensor, protocol: Any) -> Any:
    """A pickle holds the numbers and requires_grad, not the graph; a shallow copy shares the numbers."""
    return rebuild, (type(self), self._writable(), self.requires_grad), _own_attributes(self) or None


def __new__(cls: type[Tensor], *data: Any) -> Tensor:
    """The old constructor: `Tensor([1, 2])` copies numbers, `Tensor(2, 3)` makes room; the default float type."""
    of_numbers = len(data) == 1 and not isinstance(data[0], int)
    kind = dtypes.get_default_dtype()
    array = np.array(array_of(data[0], kind)) if of_numbers else np.zeros(size_of("Tensor", data), kind.numpy)
    return rebuild(cls, array, False)


attach(new_zeros, new_ones, new_tensor, to, type_as, cpu, cuda, is_floating_point, element_size)
attach(half=_as(dtypes.float16), float=_as(dtypes.float32), double=_as(dtypes.float64))
attach(short=_as(dtypes.int16), int=_as(dtypes.int32), long=_as(dtypes.int64), bool=_as(dtypes.bool_))
attach(nbytes=property(nbytes), type=to_type, numpy=to_numpy)
attach(__new__, __deepcopy__, __reduce_ex__)
