"""The same numbers in another shape, or with their dimensions in another order.

What can be a view is one: it shares memory with its source, and writing to one is seen in the other.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad import dtypes, errors
from minigrad import more_derivatives as more
from minigrad.errors import check_dim, check_dims
from minigrad.inplace import reshaped_in_place
from minigrad.public import (
    as_one_node,
    function,
    ints,
    methods,
    register,
    renamed,
)
from minigrad.size import Size
from minigrad.tensor import Tensor, method, wrap

# ------------------------------------------------------------------------------------------- another shape


def reshape(input: Tensor, *sizes: Any, shape: Any = ()) -> Tensor:
    """The elements in another shape: a view where memory allows, else a copy. One size may be -1."""
    wanted = sizes or (shape,)
    if len(wanted) == 1 and isinstance(wanted[0], (tuple, list)):
        wanted = tuple(wanted[0])
    return _reshaped(input, errors.infer_size(wanted, int(input._data.size)))


def _reshaped(x: Tensor, sizes: tuple[int, ...]) -> Tensor:
    """A view of x; of its copy, where memory does not allow one."""
    if x._node is not None and not x._data.flags.c_contiguous:
        try:
            x._data.reshape(sizes, copy=False)
        except ValueError:
            return as_one_node(table.reshape(contiguous(x), sizes), "UnsafeViewBackward0")
        return renamed(table.reshape(x, sizes), "ReshapeAliasBackward0")
    return table.reshape(x, sizes)


function(reshape)
methods.reshape = reshape


@method
def view(self: Tensor, *shape: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """As `reshape`, but never a copy: RuntimeError where memory does not allow a view.

    Given a type, the same memory read as numbers of that type.
    """
    shape = shape or tuple(given for given in (size, dtype) if given is not None)
    if len(shape) == 1 and isinstance(shape[0], dtypes.DType):
        return _read_as(self, shape[0])
    sizes = errors.infer_size(ints(shape), int(self._data.size))
    array = self._writable()
    try:
        array.reshape(sizes, copy=False)
    except ValueError:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        ) from None
    return table.reshape(self, sizes)


def _read_as(x: Tensor, dtype: dtypes.DType) -> Tensor:
    """The same memory read as numbers of another type, of which the last dimension holds more or fewer; no gradient."""
    array, wanted = x._writable(), dtype.numpy
    if array.dtype.itemsize != wanted.itemsize:
        _check_read(x, wanted.itemsize, f" to view {x.dtype.tensor_name} as {dtype.tensor_name} (different element sizes)")
    out = wrap(array.view(wanted))
    out._counter = x._counter
    return out


def _check_read(x: Tensor, size: int, words: str) -> None:
    steps, itemsize = x.stride(), x._data.dtype.itemsize
    if not steps:
        raise RuntimeError(f"self.dim() cannot be 0{words}")
    if steps[-1] != 1:
        raise RuntimeError(f"self.stride(-1) must be 1{words}, but got {steps[-1]}")
    if size > itemsize:
        ratio = size // itemsize
        asked = {"size(-1)": x._data.shape[-1], "storage_offset()": x.storage_offset()}
        asked.update({f"stride({d})": step for d, step in enumerate(steps[:-1])})
        for what, number in asked.items():
            if number % ratio:
                raise RuntimeError(f"self.{what} must be divisible by {ratio}{words}, but got {number}")


@method
def view_as(self: Tensor, other: Tensor) -> Tensor:
    """`view` in the shape of another tensor."""
    return view(self, *other._data.shape)


@method
def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """`reshape` to the shape of another tensor."""
    return reshape(self, other._data.shape)


@function
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions `start_dim` to `end_dim` as one."""
    shape = input._data.shape
    first, last = check_dim(start_dim, len(shape)), check_dim(end_dim, len(shape))
    if not shape:
        return table.reshape(input, (1,))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if first == last:
        return input
    return _reshaped(input, (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]))


@function
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension."""
    return table.reshape(contiguous(input), (int(input._data.size),))


@function
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """One dimension as several."""
    shape = input._data.shape
    where = check_dim(dim, len(shape))
    if not shape:
        raise RuntimeError(f"unflatten got an unexpected error:\nDimension specified as {dim} but tensor has no dimensions")
    if not isinstance(sizes, (tuple, list)):
        raise TypeError(f"unflatten(): argument 'sizes' (position 2) must be tuple of ints, not {errors.type_name(sizes)}")
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    try:
        parts = errors.infer_size(tuple(sizes), shape[where])
    except RuntimeError:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {where} ({shape[where]}) in "
            "the input tensor"
        ) from None
    return table.reshape(input, (*shape[:where], *parts, *shape[where + 1 :]))


@function(inplace=False)
def squeeze(input: Tensor, dim: Any = None, *more: int) -> Tensor:
    """Without dimensions of size 1: all of them, or those in `dim` that are."""
    shape = input._data.shape
    dim = (dim, *more) if more else dim
    if dim is None:
        return table.squeeze(input, tuple(n for n in shape if n != 1))
    several = isinstance(dim, (tuple, list))
    dims = check_dims(dim, len(shape)) if several and dim else () if several else (check_dim(dim, len(shape)),)
    left = tuple(n for i, n in enumerate(shape) if i not in dims or n != 1)
    return (table.squeeze_dims if several else table.squeeze_dim)(input, left)


@function
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """With a new dimension of size 1 before position `dim`."""
    where = check_dim(dim, input._data.ndim + 1)
    shape = input._data.shape
    return table.unsqueeze(input, (*shape[:where], 1, *shape[where:]))


@method
def expand(self: Tensor, *sizes: Any, size: Any = (), implicit: bool = False) -> Tensor:
    """A view that repeats dimensions of size 1; -1 keeps a size.

    >>> torch.tensor([[1], [2]]).expand(2, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    kind = "CPUBoolType" if self._data.dtype == bool else f"torch.{self.dtype.tensor_name}Tensor"
    return table.expand(self, errors.expand_shape(tuple(self._data.shape), ints(sizes or (tuple(size),)), kind))


@method
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """`expand` to the shape of another tensor."""
    return expand(self, other._data.shape)


@function
def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """A view repeated to this shape."""
    return expand(input, tuple(size))


methods.broadcast_to = lambda self, *size, **keywords: expand(self, *size, **keywords)
methods.broadcast_to.__doc__ = "`expand`, by its other name."


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors, expanded to their common shape."""
    for place, x in enumerate(tensors):
        if not isinstance(x, Tensor):
            raise errors.element_must_be_tensor("broadcast_tensors", place, x)
    shape = errors.broadcast_shapes(*(tuple(t._data.shape) for t in tensors))
    return tuple(t if t._data.shape == shape else expand(t, shape) for t in tensors)


def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that tensors of these shapes have together."""
    given = [tuple(s) if isinstance(s, Sequence) else (s,) for s in shapes]
    together = [1] * max(map(len, given), default=0)
    for place, shape in enumerate(given):
        for at in range(-1, -len(shape) - 1, -1):
            if shape[at] in (1, together[at]):
                continue
            if isinstance(shape[at], int) and shape[at] < 0 and together[at] == 1:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
            if together[at] != 1:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {shape[at]} at {at}! Mismatching argument at index {place} "
                    f"had {shapes[place]}; but expected shape should be broadcastable to {together}"
                )
            together[at] = shape[at]
    return Size(together)


register(broadcast_tensors, "broadcast_tensors", method=False)
register(broadcast_shapes, "broadcast_shapes", method=False)

# ------------------------------------------------------------------------------------------- order of dimensions


def _permute(input: Tensor, *order: Any, dims: Any = ()) -> Tensor:
    """The dimensions in another order."""
    order = ints(order or (tuple(dims),))
    n = input._data.ndim
    if len(order) != n:
        raise RuntimeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {n} is not equal to len(dims) = {len(order)}"
        )
    positive = tuple(check_dim(d, n) for d in order)
    if len(set(positive)) != n:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return table.permute(input, positive)


function(_permute, name="permute")


@function(names=("swapaxes", "swapdims"))
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged."""
    n = input._data.ndim
    i, j = check_dim(dim0, n), check_dim(dim1, n)
    return table.swap(input, i, j)


@function
def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; a vector stays as it is."""
    n = input._data.ndim
    if n > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {n}D")
    return table.transpose(input, 0, n - 1 if n else 0)


def _reversed(self: Tensor) -> Tensor:
    n = self._data.ndim
    if n != 2:
        warnings.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw "
            "an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
            UserWarning,
            stacklevel=2,
        )
    return table.permute(self, tuple(range(n))[::-1])


def _matrices_transposed(self: Tensor) -> Tensor:
    if self._data.ndim == 0:
        return self
    if self._data.ndim < 2:
        raise RuntimeError(
            f"tensor.mT is only supported on matrices or batches of matrices. Got {self._data.ndim}-D tensor."
        )
    return table.swap(self, self._data.ndim - 2, self._data.ndim - 1)


def _matrix_transposed(self: Tensor) -> Tensor:
    if self.ndim not in (0, 2):
        batches = " For batches of matrices, consider using tensor.mH" if self.ndim > 2 else ""
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor.{batches}")
    turned: Tensor = transpose(self, 0, 1) if self.ndim else self
    return turned


methods.T = property(_reversed, doc="The transpose of a matrix.")
methods.mT = methods.mH = property(_matrices_transposed, doc="The last two dimensions exchanged.")
methods.H = property(_matrix_transposed, doc="The transpose of a matrix.")


@method
def adjoint(self: Tensor) -> Tensor:
    """The last two dimensions exchanged: what `mT` is, for real numbers."""
    if self._data.ndim == 1:
        raise RuntimeError("tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return self.mT


@function(names=("moveaxis",))
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions moved to other positions; the rest keep their order."""
    n = input._data.ndim
    named = [[d] if isinstance(d, int) else list(d) for d in (source, destination)]
    if len(named[0]) != len(named[1]):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({named[0]} dims) should contain the same number of dims "
            f"as destination ({named[1]} dims)"
        )
    for role, dims in zip(("source", "destination"), named, strict=True):
        if len({check_dim(d, n) for d in dims}) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{role}` ({dims})")
    sources = check_dims(source, n) if n else (0,)
    targets = check_dims(destination, n) if n else (0,)
    if not n:
        return table.alias(input, ())
    order: list[int] = [d for d in range(n) if d not in sources]
    for target, origin in sorted(zip(targets, sources, strict=True)):
        order.insert(target, origin)
    return table.permute(input, tuple(order))


@method
def contiguous(self: Tensor, *, memory_format: Any = None) -> Tensor:
    """The tensor in the usual order of memory: itself if it is."""
    if np.asarray(self._data).flags.c_contiguous:
        return self
    copy = table.clone(self)
    copy._data = np.ascontiguousarray(copy._data)
    return copy


@method
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Every window of `size` elements, `step` apart, along a dimension: a view with the windows in a new last one."""
    where = check_dim(dimension, self._data.ndim)
    length = self._data.shape[where] if self._data.ndim else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > length:
        raise RuntimeError(f"maximum size for tensor at dimension {where} is {length} but size is {size}")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return more.slide(self, where, size, step)


@method
def data_ptr(self: Tensor) -> int:
    """Where the first element stands in memory: equal for tensors that share it."""
    return int(self._writable().ctypes.data)


@method
def storage_offset(self: Tensor) -> int:
    """How many elements of its memory lie before the tensor's first one."""
    array = owner = self._writable()
    base = owner.base
    while base is not None:  # what numpy puts between an array and its `as_strided` has a base too, but is no array
        owner = base if isinstance(base, np.ndarray) else owner
        base = getattr(base, "base", None)
    starts = [x.__array_interface__["data"][0] for x in (array, owner)]
    return int(starts[0] - starts[1]) // self.dtype.itemsize


@method
def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether both have one shape."""
    return bool(self._data.shape == other._data.shape)


methods.ndimension, methods.nelement = Tensor.dim, Tensor.numel
register(Tensor.numel, "numel")

# ------------------------------------------------------------------------------------------- in place


def _itself_reshaped(name: str) -> None:
    def change(self: Tensor, *args: Any, **keywords: Any) -> Tensor:
        return reshaped_in_place(self, getattr(Tensor, name), *args, **keywords)

    change.__name__ = change.__qualname__ = f"{name}_"
    change.__doc__ = f"`{name}`, of the tensor itself."
    setattr(Tensor, f"{name}_", change)


for _name in ("t", "transpose", "squeeze", "unsqueeze", "swapaxes", "swapdims"):
    if not hasattr(Tensor, f"{_name}_"):
        _itself_reshaped(_name)
