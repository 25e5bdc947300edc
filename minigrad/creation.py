"""Tensors from nothing: from Python numbers and lists, from numpy arrays, from a shape, from a range.

Nothing here is recorded: what these functions return are leaves. The one subtle point is the number type. Python
floats give the default type (float32), Python integers int64, booleans bool; numpy arrays and tensors keep theirs.
Every function takes `dtype=` and `requires_grad=`, and `device=` as long as it names the CPU.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from sys import _getframe
from typing import Any

import numpy as np

from minigrad import dtypes, errors, layout
from minigrad.devices import check_device
from minigrad.dtypes import DType
from minigrad.size import Size
from minigrad.tape import TABLE, mode
from minigrad.tensor import Array, Tensor, Untracked, method, plain, wrap

__all__ = [
    "arange", "as_tensor", "asarray", "empty", "empty_like", "eye", "from_numpy", "full", "full_like", "linspace",
    "logspace", "ones", "ones_like", "range", "scalar_tensor", "tensor", "tril_indices", "triu_indices", "vander",
    "zeros", "zeros_like",
]  # fmt: skip

COPY = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor)."
)

READ_ONLY = (
    "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means writing to this "
    "tensor will result in undefined behavior. You may want to copy the array to protect its data or make it writable before "
    "converting it to a tensor. This type of warning will be suppressed for the rest of this program."
)

# ------------------------------------------------------------------------------------------- arguments


def finish(array: Array, requires_grad: bool = False, device: Any = None, out: Any = None, **rest: Any) -> Tensor:
    """A leaf around this array, or `out` with its numbers. What minigrad has no use for must have its ordinary value."""
    check_device(device)
    for name, value in rest.items():
        if name not in ("pin_memory", "layout", "memory_format", "names", "copy"):
            raise TypeError(f"unexpected keyword argument {name!r}")
        if name == "pin_memory" and value:
            raise NotImplementedError("minigrad keeps tensors in ordinary memory: pin_memory is left out")
    if type(requires_grad) is not bool and requires_grad is not None:
        kind = errors.type_name(requires_grad)
        raise TypeError(f"{_getframe(1).f_code.co_name}(): argument 'requires_grad' must be bool, not {kind}")
    if out is not None:
        return _into(out, array)
    if requires_grad and array.dtype.kind != "f":
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    made = wrap(array[()] if array.ndim == 0 else array)
    if mode.inference:
        made._counter = Untracked(made._counter)
    if requires_grad:
        made.requires_grad_()
    return made


def _into(out: Tensor, array: Array) -> Tensor:
    from minigrad.inplace import into

    written: Tensor = into(out, wrap(dtypes.cast(array, out.dtype)), "out")
    return written


def _along(array: Array, options: dict[str, Any]) -> Array:
    """The numbers of a range in the shape of `out=`, if that has room for just as many."""
    out = options.get("out")
    return array.reshape(out.shape) if out is not None and out.numel() == array.size else array


def as_dtype(dtype: Any, function: str, options: dict[str, Any] | None = None, ordinary: DType | None = None) -> DType:
    """The type asked for; else that of `out=`; else the ordinary one: the default type, unless told."""
    if options and "device" in options:
        check_device(options["device"])  # before anything is made
    out = options.get("out") if options else None
    if dtype is None:
        return out.dtype if out is not None else ordinary or dtypes.get_default_dtype()
    found = dtypes.resolve(dtype, function)
    if out is not None and found is not out.dtype:
        theirs = found.tensor_name, out.dtype.tensor_name
        raise RuntimeError(f"dtype {theirs[0]} does not match dtype of out parameter ({theirs[1]})")
    return found


def as_size(function: str, size: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape given as separate integers or as one sequence; TypeError or RuntimeError as in PyTorch."""
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = tuple(size[0])
    sizes = []
    for position, n in enumerate(size):
        if isinstance(n, (bool, float)) or not hasattr(n, "__index__"):
            kind = type(n).__name__
            if position == 0:
                raise TypeError(f"{function}(): argument 'size' (position 1) must be tuple of ints, not {kind}")
            raise TypeError(
                f"{function}(): argument 'size' failed to unpack the object at pos {position + 1} with error "
                f'"type must be tuple of ints,but got {kind}"'
            )
        sizes.append(n.__index__())
    if any(n < 0 for n in sizes) and function != "zeros":
        raise RuntimeError(f"Trying to create tensor with negative dimension {next(n for n in sizes if n < 0)}: {sizes}")
    if any(n < 0 for n in sizes):
        raise RuntimeError(f"{function}: Dimension size must be non-negative.")
    return tuple(sizes)


# ------------------------------------------------------------------------------------------- from data


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A new leaf with a copy of `data`: a number, a nested sequence of numbers, an array or a tensor.

    `dtype=None` means: what the data says, with Python floats as the default type. Raises ValueError for ragged
    sequences, TypeError for what is no number, RuntimeError when integers are to require a gradient.

    >>> torch.tensor([[1, 2], [3, 4]], dtype=torch.float64)
    tensor([[1., 2.],
            [3., 4.]], dtype=torch.float64)
    """
    if isinstance(data, Tensor):
        warnings.warn(COPY, UserWarning, stacklevel=2)
    if not isinstance(requires_grad, bool):
        raise TypeError(f"tensor(): argument 'requires_grad' must be bool, not {errors.type_name(requires_grad)}")
    wanted = None if dtype is None else dtypes.resolve(dtype, "tensor")
    return finish(np.array(to_array(data, wanted)), requires_grad, device, pin_memory=pin_memory)


def to_array(data: Any, dtype: DType | None = None) -> Array:
    """The array behind some data, cast to `dtype` if given; a tensor or array of that type is not copied."""
    if isinstance(data, Tensor):
        data = data._data
    if isinstance(data, (np.ndarray, np.generic)):
        found = dtypes.of(data.dtype)
        data = _ordinary(data) if isinstance(data, np.ndarray) else data
        return data if dtype in (None, found) else dtypes.cast(data, dtype)
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if type(data) is float and (dtype is None or dtype.is_floating_point):  # the most common leaf of all
        return np.array(data, (dtype or dtypes.get_default_dtype()).numpy)
    shape = _shape(data)
    try:
        inferred = dtype or _infer(data) or dtypes.get_default_dtype()
    except RecursionError:
        raise TypeError("new(): self-referential lists are incompatible") from None
    _check_shape(data, shape, inferred)
    try:
        array = np.array(_unwrapped(data))
    except OverflowError:
        raise ValueError("Overflow when unpacking long long") from None
    if dtype is not None and array.dtype.kind in "OUS":
        _check_numbers(data, dtype)
    if array.dtype.kind in "uO" and array.dtype.itemsize == 8 and array.size:
        if dtype is None or dtype.category == dtypes.INTEGER:
            raise ValueError("Overflow when unpacking long long")
        array = array.astype(np.float64)
    _check_range(array, inferred)
    return dtypes.native(dtypes.cast(array.reshape(shape), inferred))


def _is_sequence(data: Any) -> bool:
    if isinstance(data, Tensor):
        return data._data.ndim > 0
    if isinstance(data, np.ndarray):
        return data.ndim > 0
    return hasattr(data, "__len__") and hasattr(data, "__getitem__") and not isinstance(data, (dict, str, bytes))


def _shape(data: Any) -> tuple[int, ...]:
    """The shape that the first elements suggest."""
    shape: tuple[int, ...] = ()
    while _is_sequence(data):
        if isinstance(data, np.ndarray):
            return shape + data.shape
        if isinstance(data, Tensor):
            if data.numel() == 1:
                return shape
            raise ValueError("only one element tensors can be converted to Python scalars")
        shape += (len(data),)
        if not len(data):
            break
        if len(shape) > 64:  # numpy's limit, and that of a list that holds itself
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        data = data[0]
    if isinstance(data, str) and shape:
        raise ValueError("too many dimensions 'str'")
    return shape


def _check_shape(data: Any, shape: tuple[int, ...], dtype: DType, dim: int = 0) -> None:
    """Raise as PyTorch does where the data does not have the shape."""
    if isinstance(data, (np.ndarray, Tensor)):
        return
    if dim == len(shape):
        if _is_sequence(data):
            kind = type(data).__name__
            if dtype.is_floating_point:
                raise TypeError(f"must be real number, not {kind}")
            raise TypeError(f"'{kind}' object cannot be interpreted as an integer")
        return
    if not _is_sequence(data):
        raise TypeError("not a sequence")
    if len(data) != shape[dim]:
        raise ValueError(f"expected sequence of length {shape[dim]} at dim {dim} (got {len(data)})")
    if dim + 1 == len(shape) and set(map(type, data)) <= {float, int, bool}:
        return
    for part in data:
        _check_shape(part, shape, dtype, dim + 1)


def _infer(data: Any) -> DType | None:
    """The type that holds all numbers in the data; None when there are none."""
    if isinstance(data, (Tensor, np.ndarray, np.generic)):
        array: Any = getattr(data, "_data", data)
        return dtypes.of(array.dtype)
    if isinstance(data, bool):
        return dtypes.bool_
    if isinstance(data, int):
        return dtypes.int64
    if isinstance(data, float):
        return dtypes.get_default_dtype()
    if isinstance(data, complex):
        raise NotImplementedError("complex numbers are left out of minigrad")
    if isinstance(data, str):
        raise TypeError("new(): invalid data type 'str'")
    if not _is_sequence(data):
        raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")
    found: DType | None = None
    kinds = set(map(type, data))
    for part in data if not kinds <= {float, int, bool} else [kind() for kind in kinds]:
        inferred = _infer(part)
        if inferred is not None:
            found = inferred if found is None else dtypes.promote_types(found, inferred)
    return found


def _unwrapped(data: Any) -> Any:
    if isinstance(data, Tensor):
        return data._data.reshape(())
    if isinstance(data, (list, tuple)) and not set(map(type, data)) <= {float, int, bool}:
        return [_unwrapped(part) for part in data]
    return data


def _check_numbers(data: Any, dtype: DType) -> None:
    """TypeError in Python's words for the first thing in nested sequences that is no number."""
    if isinstance(data, (list, tuple)):
        for part in data:
            _check_numbers(part, dtype)
    elif not isinstance(data, (complex, np.ndarray, Tensor)) and not hasattr(data, "__float__"):
        kind = errors.type_name(data)
        if dtype.is_floating_point:
            raise TypeError(f"must be real number, not {kind}")
        raise TypeError(f"'{kind}' object cannot be interpreted as an integer")


def _check_range(array: Array, dtype: DType) -> None:
    """Python numbers that an integer type cannot hold raise; only negative ones wrap in uint8."""
    if dtype.category != dtypes.INTEGER or not array.size or array.dtype.kind == "b":
        return
    limits = np.iinfo(dtype.numpy)
    low = -limits.max - 1 if dtype is dtypes.uint8 else limits.min
    if not np.all((array >= low) & (array <= limits.max)):
        raise RuntimeError(f"value cannot be converted to type {dtype.numpy.name} without overflow")


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """The data as a tensor, sharing memory with a tensor or array of the right type, and keeping its graph."""
    wanted = None if dtype is None else dtypes.resolve(dtype, "as_tensor")
    if isinstance(data, Tensor):
        return data if wanted is None else data.to(wanted)
    if isinstance(data, np.ndarray):
        data = _shared(data)
    return finish(to_array(data, wanted), device=device)


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool | None = None
) -> Tensor:
    """As `as_tensor`, with `copy=True` to force a copy and `copy=False` to refuse one; ValueError where it takes one.

    A buffer (a memoryview, a bytearray) is read as numbers of the type asked for, and its memory is shared.
    """
    if isinstance(obj, (bytearray, memoryview)):
        obj = np.frombuffer(obj, dtypes.resolve(dtype or dtypes.get_default_dtype(), "asarray").numpy)
    if copy is False and isinstance(obj, np.generic):
        raise RuntimeError("can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. ")
    made = as_tensor(obj, dtype, device)
    if copy is False and not isinstance(obj, (Tensor, np.ndarray)):
        raise ValueError("can't alias arbitrary sequence into a tensor.")
    if copy is False and made.dtype != (found := dtypes.of(getattr(obj, "_data", obj).dtype)):
        raise ValueError(f"can't alias tensor with dtype '{found.tensor_name}' into dtype '{made.dtype.tensor_name}'.")
    if copy:
        made = made.clone()
    if requires_grad:
        return made.requires_grad_()
    return made.detach() if requires_grad is False and made.requires_grad else made


def from_numpy(ndarray: Any) -> Tensor:
    """A tensor that shares memory with the array: writing to one is seen in the other."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {errors.type_name(ndarray)})")
    return wrap(_shared(ndarray))


def _shared(array: Any) -> Array:
    if not array.flags.writeable:
        warnings.warn(READ_ONLY, UserWarning, stacklevel=3)
    return _ordinary(array)


def _ordinary(array: Any) -> Array:
    """The array without what a subclass (a matrix, one with a mask) adds; TypeError or ValueError if it can be no tensor."""
    dtypes.of(array.dtype)
    if any(step < 0 for step in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative strides are not "
            "currently supported. (You can probably work around this by making a copy of your array  with array.copy().) "
        )
    return dtypes.native(np.asarray(array))


@method
def numpy(self: Tensor, *, force: bool = False) -> Array:
    """The numbers as an ndarray that shares this tensor's memory; RuntimeError if that could hide them from autograd.

    force: for a tensor that requires grad too, as `detach().numpy()`.
    """
    if self._node is not None and mode.record is not None and not force:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    return self._writable()


@method
def __deepcopy__(self: Tensor, memo: dict[int, Any]) -> Tensor:
    return _copying().deep(self, memo)


@method
def __copy__(self: Tensor) -> Tensor:
    """A leaf that shares the memory."""
    return _copying().shallow(self)


@method
def __reduce_ex__(self: Tensor, protocol: Any) -> Any:
    return _copying().reduced(self)


def _copying() -> Any:
    from minigrad import copying  # seldom needed: `import minigrad` does not load it

    return copying


@method
def as_subclass(self: Tensor, cls: type[Tensor]) -> Tensor:
    """The same tensor, its memory and its place in the graph, as an instance of a subclass."""
    if not isinstance(cls, type) or not issubclass(cls, Tensor):
        raise TypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your class "
            "inherits from Tensor."
        )
    made = object.__new__(cls)
    made._data, made._node, made._counter = self._writable(), self._node, self._counter
    made._view = self._view
    return made


@method
def __dlpack__(self: Tensor, **options: Any) -> Any:
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    return self._writable().__dlpack__(**options)


@method
def __dlpack_device__(self: Tensor) -> Any:
    return self._writable().__dlpack_device__()


class _OldType(type):
    """`torch.FloatTensor` and its like: the old way to name a number type, as a constructor and in isinstance."""

    dtype: DType

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor) and value.dtype is cls.dtype

    def __call__(cls, *data: Any) -> Tensor:
        return legacy(data, cls.dtype)

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


_OLD_OPTIONS = (
    "TensorOptions(dtype={}, device=cpu, layout=Strided, requires_grad=false (default), pinned_memory=false (default), "
    "memory_format=(nullopt))"
)


def legacy(data: tuple[Any, ...], dtype: DType) -> Tensor:
    """What `FloatTensor(...)` makes: of integers, a tensor of this shape; of a sequence or tensor, one with these numbers."""
    if len(data) != 1 or (isinstance(data[0], (int, Size)) and not isinstance(data[0], bool)):
        return empty(*(data or (0,)), dtype=dtype)
    given = data[0]
    if isinstance(given, Tensor):
        if given.dtype is not dtype:
            raise TypeError(f"expected {_OLD_OPTIONS.format(dtype.c_name)} (got {_OLD_OPTIONS.format(given.dtype.c_name)})")
        return TABLE["narrowed_alias"].function(given, (Ellipsis,))
    if isinstance(given, np.ndarray):
        return as_tensor(given, dtype=dtype)
    if isinstance(given, str):
        raise TypeError(f"new(): invalid data type '{type(given).__name__}'")
    if not isinstance(given, Sequence):
        raise TypeError(f"new(): data must be a sequence (got {type(given).__name__})")
    return tensor(given, dtype=dtype)


for _dtype in (dtypes.float32, dtypes.float64, dtypes.int64, dtypes.int32, dtypes.int16, dtypes.int8, dtypes.uint8,
               dtypes.bool_, dtypes.float16):  # fmt: skip
    _name = f"{_dtype.tensor_name}Tensor"
    _what = f"The old constructor of {_dtype} tensors, from a shape or from numbers; `isinstance` asks for the type."
    globals()[_name] = _OldType(_name, (), {"dtype": _dtype, "__doc__": _what})
    __all__.append(_name)


def _made(cls: type[Tensor], *data: Any) -> Tensor:
    """The old constructor: `Tensor([1, 2])` copies numbers, `Tensor(2, 3)` makes room; the default float type."""
    one = len(data) == 1 and isinstance(data[0], Tensor)
    made = legacy(data, data[0].dtype if one else dtypes.get_default_dtype())
    if cls is Tensor:
        return made
    self = object.__new__(cls)
    self._data, self._node, self._counter = made._data, made._node, made._counter
    return self


Tensor.__new__ = _made  # type: ignore[method-assign, assignment]


@method
def new(self: Tensor, *data: Any, size: Any = None) -> Tensor:
    """A tensor of the same number type, from a shape (also as `size=`) or from numbers."""
    return legacy(data if size is None else (Size(size),), self.dtype)


def scalar_tensor(s: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """A 0-d tensor of the default type."""
    return finish(dtypes.cast(plain(s), as_dtype(dtype, "scalar_tensor")), **options)


# ------------------------------------------------------------------------------------------- from a shape


def zeros(*size: Any, dtype: Any = None, **options: Any) -> Tensor:
    """All zeros: `zeros(2, 3)` or `zeros((2, 3))`, of the default type."""
    size = size_keyword(size, options)
    return finish(np.zeros(as_size("zeros", size), as_dtype(dtype, "zeros", options).numpy), **options)


def ones(*size: Any, dtype: Any = None, **options: Any) -> Tensor:
    """All ones."""
    size = size_keyword(size, options)
    return finish(np.ones(as_size("ones", size), as_dtype(dtype, "ones", options).numpy), **options)


def empty(*size: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Some numbers or other (here: zeros), to be overwritten."""
    size = size_keyword(size, options)
    return finish(np.zeros(as_size("empty", size), as_dtype(dtype, "empty", options).numpy), **options)


def size_keyword(size: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
    return (options.pop("size"),) if not size and "size" in options else size


def full(size: Any, fill_value: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """The same number everywhere; its type is the number's: int64, bool, or the default type."""
    if isinstance(fill_value, Tensor) and fill_value._data.ndim == 0:
        fill_value = fill_value.item()
    if not isinstance(fill_value, (bool, int, float, np.generic)):
        kind = errors.type_name(fill_value)
        raise TypeError(f"full(): argument 'fill_value' (position 2) must be Number, not {kind}")
    found = as_dtype(dtype, "full", options, dtypes.result_type(plain(fill_value)))
    return finish(np.full(as_size("full", (size,)), dtypes.fitting(plain(fill_value), found)), **options)


def _like(input: Tensor, dtype: Any, function: str) -> DType:
    return input.dtype if dtype is None else dtypes.resolve(dtype, function)


def zeros_like(input: Tensor, *, dtype: Any = None, **options: Any) -> Tensor:
    """Zeros with the shape and type of `input`."""
    found = _like(input, dtype, "zeros_like")
    return finish(layout.laid_out(np.zeros(input._data.shape, found.numpy), input._data), **options)


def ones_like(input: Tensor, *, dtype: Any = None, **options: Any) -> Tensor:
    """Ones with the shape and type of `input`."""
    found = _like(input, dtype, "ones_like")
    return finish(layout.laid_out(np.ones(input._data.shape, found.numpy), input._data), **options)


def empty_like(input: Tensor, *, dtype: Any = None, **options: Any) -> Tensor:
    """Some numbers or other with the shape and type of `input`."""
    found = _like(input, dtype, "empty_like")
    return finish(layout.laid_out(np.zeros(input._data.shape, found.numpy), input._data), **options)


def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """One number everywhere, with the shape and type of `input`."""
    found = _like(input, dtype, "full_like")
    if not isinstance(plain(fill_value), (bool, int, float)):
        kind = errors.type_name(fill_value)
        raise TypeError(f"full_like(): argument 'fill_value' (position 2) must be Number, not {kind}")
    filled = np.full(input._data.shape, dtypes.fitting(plain(fill_value), found))
    return finish(layout.laid_out(filled, input._data), **options)


@method
def new_zeros(self: Tensor, *size: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Zeros of this shape, in this tensor's number type unless another is given."""
    return zeros(*size, dtype=dtype or self.dtype, **options)


@method
def new_ones(self: Tensor, *size: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Ones of this shape, in this tensor's number type unless another is given."""
    return ones(*size, dtype=dtype or self.dtype, **options)


@method
def new_empty(self: Tensor, *size: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Some numbers or other of this shape, in this tensor's number type unless another is given."""
    return empty(*size, dtype=dtype or self.dtype, **options)


@method
def new_full(self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """One number everywhere, of this shape and in this tensor's number type unless another is given."""
    return full(size, fill_value, dtype=dtype or self.dtype, **options)


@method
def new_tensor(self: Tensor, data: Any, *, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Tensor:
    """A leaf with a copy of `data`, in this tensor's number type unless another is given."""
    found = self.dtype if dtype is None else dtypes.resolve(dtype, "new_tensor")
    return finish(dtypes.cast(np.array(to_array(data)), found), requires_grad, **options)


# ------------------------------------------------------------------------------------------- from a range


def _numbers(function: str, names: Sequence[str], values: Sequence[Any]) -> list[Any]:
    found = []
    for position, (name, value) in enumerate(zip(names, values, strict=True), 1):
        value = plain(value)
        if not isinstance(value, (bool, int, float)):
            kind = type(value).__name__
            raise TypeError(f"{function}(): argument '{name}' (position {position}) must be Number, not {kind}")
        found.append(value)
    return found


def arange(start: Any = None, end: Any = None, step: Any = 1, *, dtype: Any = None, **options: Any) -> Tensor:
    """start, start + step, ... as long as it is below `end`: int64 if all are integers, else the default type."""
    if start is None or end is None:
        (end,) = _numbers("arange", ["end"], [end if start is None else start])
        start = 0
    start, end, step = _numbers("arange", ["start", "end", "step"], [start, end, step])
    _check_step(start, end, step)
    found = as_dtype(dtype, "arange", options, dtypes.result_type(start, end, step))
    if not found.category:
        raise errors.not_implemented("arange_cpu", "Bool")
    if found.is_floating_point:
        count = math.ceil((end - start) / step)
        return finish(_along(_rising(start, step, count, found), options), **options)
    start, end, step = int(start), int(end), int(step)
    return finish(_along(np.arange(start, end, step).astype(found.numpy), options), **options)


def _rising(start: float, step: float, count: int, dtype: DType) -> Array:
    """start + step * i, to the last bit as PyTorch computes it: in groups of as many numbers as its processor adds at once."""
    i = np.arange(max(count, 0))
    kind: Any = dtype.numpy.type
    if kind is np.float16:
        return dtypes.cast(start + i * float(step), dtype)
    group = 8 if kind is np.float32 else 4
    within = np.where(i < i.size - i.size % (2 * group), i % group, 0)  # two groups at a time; the rest one by one
    first = _unrounded(float(start), step, i - within).astype(kind)
    return np.where(within, _unrounded(first.astype(np.float64), step, within).astype(kind), first)


def _unrounded(a: Any, b: float, i: Array) -> Array:
    """a + b * i in float64, rounded once (fma)."""
    high = np.float64(np.float32(b))
    product, rest = high * i, (np.float64(b) - high) * i  # both exact
    total = a + product
    lost = (a - (total - (total - a))) + (product - (total - a))
    return np.asarray(total + (lost + rest))


def _check_step(start: float, end: float, step: float) -> None:
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"unsupported range: {start} -> {end}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")


def range(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None, **options: Any) -> Tensor:
    """As `arange` but with the end included, and always floats; PyTorch advises against it."""
    warnings.warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        UserWarning,
        stacklevel=2,
    )
    start, end, step = _numbers("range", ["start", "end", "step"], [start, end, step])
    _check_step(start, end, step)
    count = math.floor((end - start) / step) + 1
    numbers = dtypes.cast(start + np.arange(count) * float(step), as_dtype(dtype, "range", options))
    return finish(_along(numbers, options), **options)


def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, **options: Any) -> Tensor:
    """`steps` numbers from `start` to `end`, both included, at equal distances."""
    if dtype is not None and dtypes.resolve(dtype, "linspace").numpy == np.bool_:
        raise errors.not_implemented("linspace_cpu", "Bool")
    return finish(_along(_linear(start, end, steps, as_dtype(dtype, "linspace", options)), options), **options)


def logspace(start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None, **options: Any) -> Tensor:
    """base ** start to base ** end, at equal ratios."""
    found = as_dtype(dtype, "logspace", options)
    if not found.is_floating_point:
        start, end = int(plain(start)), int(plain(end))
    exponents = _linear(start, end, steps, dtypes.float64, "logspace")
    return finish(_along(dtypes.cast(np.power(float(base), exponents), found), options), **options)


def _linear(start: Any, end: Any, steps: int, dtype: DType, name: str = "linspace") -> Array:
    for which, bound in (("start", start), ("end", end)):
        if isinstance(bound, Tensor) and bound._data.ndim:
            got = f"{which} with {bound._data.ndim} dimension(s)."
            raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but got {got}")
    start, end, steps = _numbers("linspace", ["start", "end", "steps"], [start, end, steps])
    if isinstance(steps, (bool, float)):  # the number in a tensor, whose type the signature does not see
        types = f"{errors.type_name(start)}, {errors.type_name(end)}, Tensor"
        raise TypeError(f"linspace() received an invalid combination of arguments - got ({types}), but expected one of:\n")
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    if steps == 0:
        return np.zeros(0, dtype.numpy)
    kind: Any = dtype.numpy.type if dtype.is_floating_point else np.float64
    first, last = (kind(n if dtype.is_floating_point else int(n)) for n in (start, end))
    step = (last - first) / kind(max(steps - 1, 1))
    # Counting from both ends makes the result symmetric and the last number exact. The product is not rounded (fma).
    wide: Any = np.float64 if kind is np.float32 else np.longdouble
    i = np.arange(steps).astype(wide)
    rising, falling = wide(first) + wide(step) * i, wide(last) - wide(step) * (steps - 1 - i)
    numbers = np.where(np.arange(steps) < max(steps // 2, 1), rising, falling)
    return dtypes.cast(numbers.astype(kind), dtype)


def eye(n: int, m: int | None = None, *, dtype: Any = None, **options: Any) -> Tensor:
    """The identity matrix, or an n x m matrix with ones on the diagonal."""
    if n < 0:
        raise RuntimeError(f"n must be greater or equal to 0, got {n}")
    if m is not None and m < 0:
        raise RuntimeError(f"m must be greater or equal to 0, got {m}")
    return finish(np.eye(n, m, dtype=as_dtype(dtype, "eye", options).numpy), **options)


def _index_type(name: str, row: int, col: int, dtype: Any) -> dtypes.DType:
    for side, n in (("row", row), ("col", col)):
        if n < 0:
            raise RuntimeError(f"{side} must be non-negative, got{n}")
    return dtypes.int64 if dtype is None else as_dtype(dtype, name)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, **options: Any) -> Tensor:
    """The rows and columns (2, count) of the elements on and below a diagonal."""
    found = _index_type("tril_indices", row, col, dtype)
    return finish(np.stack(np.tril_indices(row, offset, col)).astype(found.numpy), **options)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, **options: Any) -> Tensor:
    """The rows and columns (2, count) of the elements on and above a diagonal."""
    found = _index_type("triu_indices", row, col, dtype)
    return finish(np.stack(np.triu_indices(row, offset, col)).astype(found.numpy), **options)


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers x ** (N - 1) to x ** 0 as columns; `increasing=True` reverses them."""
    if x._data.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    powers = np.arange(x.shape[-1] if N is None else N)
    powers = powers if increasing else powers[::-1]
    return x.unsqueeze(-1) ** wrap(np.ascontiguousarray(powers))
