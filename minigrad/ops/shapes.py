"""The same elements in another shape or order, joined, split or copied.

What can be a view is one: it shares memory with its source, and a write to one is seen in the other.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import functools
import math
import operator
import warnings
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from .. import derivatives as table
from .. import dtypes, errors
from ..dtypes import Size
from ..errors import at_least, check, check_dim, check_dims
from ..operation import attach, note_cut, public
from ..tensor import Tensor, wrap

Shape = tuple[int, ...]
Dims = int | Sequence[int]


def one_by_one(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The method whose sizes may also be given one by one: x.reshape(2, 3)."""

    @functools.wraps(function)
    def method(self: Tensor, *sizes: Any, **named: Any) -> Tensor:
        if named or not sizes:
            return function(self, **named)
        several = len(sizes) != 1 or hasattr(sizes[0], "__index__")
        return function(self, sizes if several else sizes[0])

    return method


def along(dim: int, key: Any) -> tuple[Any, ...]:
    """The numpy index that applies `key` to dimension `dim`."""
    return (slice(None),) * dim + (key, ...)


def infer_size(x: Tensor, sizes: Sequence[int]) -> Shape:
    """The sizes of `reshape`, the -1 among them replaced."""
    shape = tuple(map(operator.index, sizes))
    size, known = x._data.size, math.prod(n for n in shape if n != -1)
    if -1 not in shape and known == size and min(shape, default=0) >= 0:
        return shape
    check(shape.count(-1) <= 1, "only one dimension can be inferred")
    for i, n in enumerate(shape):
        check(n >= -1, f"invalid shape dimension {n} at index {i} of shape {list(shape)}")
    fits = -1 in shape and not size % (known or size + 1)
    check(fits, f"shape '{list(shape)}' is invalid for input of size {size}")
    check(known, f"cannot reshape tensor of 0 elements into shape {list(shape)}")
    return tuple(size // known if n == -1 else n for n in shape)


def expand_shape(x: Tensor, sizes: Sequence[int]) -> Shape:
    """The sizes of `expand`, with -1 meaning the tensor's own; RuntimeError when it cannot be."""
    sizes, shape = tuple(map(operator.index, sizes)), x._data.shape
    extra = len(sizes) - len(shape)
    if extra < 0:
        call = f"expand({x.type()}{{{list(shape)}}}, size={list(sizes)})"
        words = "must be greater or equal to the number of dimensions in the tensor"
        raise RuntimeError(f"{call}: the number of sizes provided ({len(sizes)}) {words} ({len(shape)})")
    for place, (n, own) in enumerate(zip(sizes[extra:], shape), extra):
        if own not in (1, n) and n != -1:
            words = f"The expanded size of the tensor ({n}) must match the existing size ({own})"
            both = f"Target sizes: {list(sizes)}.  Tensor sizes: {list(shape)}"
            raise RuntimeError(f"{words} at non-singleton dimension {place}.  {both}")
    for place, n in enumerate(sizes[:extra]):
        words = f"The expanded size of the tensor ({n}) isn't allowed in a leading"
        check(n >= 0, f"{words}, non-existing dimension {place}")
    wide = (1,) * extra + shape
    return tuple(own if n == -1 else n for n, own in zip(sizes, wide))


# ------------------------------------------------------------------- another shape


@public
def reshape(input: Tensor, shape: Sequence[int]) -> Tensor:
    """The elements in another shape, in which one size may be -1.

    A view where memory allows it, else a copy. RuntimeError for another number of elements.
    """
    return _reshaped(input, infer_size(input, shape))


def _reshaped(x: Tensor, shape: Shape) -> Tensor:
    if x._node is None or x._data.flags.c_contiguous or _can_view(x._data, shape):
        return table.reshape(x, shape)
    return table.unsafe_view(contiguous(x), shape)


def _can_view(array: Any, shape: Shape) -> bool:
    try:
        array.reshape(shape, copy=False)
    except ValueError:
        return False
    return True


def view(self: Tensor, size: Sequence[int]) -> Tensor:
    """As `reshape`, but never a copy: RuntimeError where memory does not allow a view."""
    sizes = infer_size(self, size)
    if not _can_view(self._writable(), sizes):
        words = "view size is not compatible with input tensor's size and stride"
        where = "at least one dimension spans across two contiguous subspaces"
        raise RuntimeError(f"{words} ({where}). Use .reshape(...) instead.")
    return table.reshape(self, sizes)


def view_as(self: Tensor, other: Tensor) -> Tensor:
    """`view` in the shape of another tensor."""
    return view(self, other.shape)


def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """`reshape` to the shape of another tensor."""
    return reshape(self, other.shape)


@public
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions `start_dim` to `end_dim` as one."""
    shape = input._data.shape
    first, last = (check_dim(dim, len(shape)) for dim in (start_dim, end_dim))
    check(first <= last, "flatten() has invalid args: start_dim cannot come after end_dim")
    if first == last and shape:
        return input
    size = math.prod(shape[first : last + 1])
    return _reshaped(input, (*shape[:first], size, *shape[last + 1 :]))


@public
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension."""
    return table.reshape(contiguous(input), (input.numel(),))


@public
def squeeze(input: Tensor, dim: Dims | None = None) -> Tensor:
    """Without dimensions of size 1: all of them, or those in `dim` that are."""
    shape = input._data.shape
    if dim is None:
        return table.squeeze(input, tuple(n for n in shape if n != 1))
    dims = check_dims(dim, len(shape))
    return table.squeeze_dim(input, tuple(n for d, n in enumerate(shape) if n != 1 or d not in dims))


@public
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """With a new dimension of size 1 at position `dim`."""
    shape = input._data.shape
    where = check_dim(dim, len(shape) + 1)
    return table.unsqueeze(input, (*shape[:where], 1, *shape[where:]))


# ------------------------------------------------------------------- broadcasting


def expand(self: Tensor, size: Sequence[int]) -> Tensor:
    """A view that repeats dimensions of size 1; -1 leaves a size as it is.

    >>> torch.tensor([[1], [2]]).expand(2, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    return table.expand(self, expand_shape(self, size))


def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """`expand` to the shape of another tensor."""
    return expand(self, other.shape)


@public
def broadcast_to(input: Tensor, size: Sequence[int]) -> Tensor:
    """A view repeated to this shape."""
    return expand(input, size)


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors, expanded to their common shape."""
    shape = errors.broadcast_shapes(*(x._data.shape for x in tensors))
    return tuple(x if x.shape == shape else expand(x, shape) for x in tensors)


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that tensors of these shapes have together; else RuntimeError."""
    return Size(errors.broadcast_shapes(*((n,) if isinstance(n, int) else n for n in shapes)))


def listed(tensors: Sequence[Any]) -> list[Any]:
    """Tensors that are given one by one, or all in one list."""
    one = len(tensors) == 1 and isinstance(tensors[0], (tuple, list))
    return list(tensors[0] if one else tensors)


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """Vectors as coordinates of a grid: "ij" varies the first down the rows, "xy" along them."""
    given = listed(tensors)
    check(indexing in ("ij", "xy"), 'torch.meshgrid: indexing must be one of "xy" or "ij"')
    for x in given:
        check(x.ndim <= 1, f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {x}")
    check(len({x.dtype for x in given}) < 2, "meshgrid expects all tensors to have the same dtype")
    if indexing == "xy":
        given[:2] = given[1::-1]
    shape = tuple(x.numel() for x in given)
    ones = (1,) * len(given)
    columns = [view(x, (*ones[:d], shape[d], *ones[d + 1 :])) for d, x in enumerate(given)]
    grids = [table.expand(column, shape) for column in columns]
    if indexing == "xy":
        grids[:2] = grids[1::-1]
    return tuple(grids)


# ------------------------------------------------------------------- order of dimensions


@public
def permute(input: Tensor, dims: Sequence[int]) -> Tensor:
    """The dimensions in another order."""
    order, ndim = tuple(dims), input._data.ndim
    if len(order) != ndim:
        words = "number of dimensions in the tensor input does not match the length of the"
        sizes = f"input.dim() = {ndim} is not equal to len(dims) = {len(order)}"
        raise RuntimeError(f"permute(sparse_coo): {words} desired ordering of dimensions i.e. {sizes}")
    positive = tuple(check_dim(d, ndim) for d in order)
    check(len(set(positive)) == ndim, "permute(): duplicate dims are not allowed.")
    return table.permute(input, positive)


@public
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged."""
    ndim = input._data.ndim
    return table.swap(input, check_dim(dim0, ndim), check_dim(dim1, ndim))


@public
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two dimensions exchanged, as `transpose` does."""
    return transpose(input, axis0, axis1)


@public
def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; a vector stays as it is."""
    ndim = input.ndim
    check(ndim <= 2, f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return table.transpose(input, 0, max(ndim - 1, 0))


def _reversed(self: Tensor) -> Tensor:
    """The transpose of a matrix."""
    ndim = self.ndim
    if ndim != 2:
        warnings.warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
            "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
            UserWarning,
            stacklevel=2,
        )
    return table.permute(self, tuple(range(ndim))[::-1])


def _swapped(self: Tensor) -> Tensor:
    """The last two dimensions exchanged."""
    ndim = self.ndim
    words = "tensor.mT is only supported on matrices or batches of matrices."
    check(ndim >= 2, f"{words} Got {ndim}-D tensor.")
    return table.swap(self, ndim - 2, ndim - 1)


@public
def movedim(input: Tensor, source: Dims, destination: Dims) -> Tensor:
    """Dimensions moved to other positions; the others keep their order."""
    ndim = input.ndim
    origins, targets = check_dims(source, ndim), check_dims(destination, ndim)
    check(len(origins) == len(targets), "movedim: Invalid source or destination dims")
    order = [d for d in range(ndim) if d not in origins]
    for target, origin in sorted(zip(targets, origins)):
        order.insert(target, origin)
    return table.permute(input, tuple(order))


@public
def flip(input: Tensor, dims: Dims) -> Tensor:
    """The order of the elements along these dimensions reversed."""
    return table.flip(input, check_dims(dims, input.ndim))


@public
def roll(input: Tensor, shifts: Dims, dims: Dims | None = None) -> Tensor:
    """Elements shifted along dimensions; those that leave at one end enter at the other."""
    steps, along = ((n,) if isinstance(n, int) else tuple(n or ()) for n in (shifts, dims))
    check(steps, "`shifts` required")
    if not along and len(steps) == 1:
        return table.roll(input, steps, None)
    check(len(steps) == len(along), "shifts and dimensions must align.")
    return table.roll(input, steps, tuple(errors.sized_dim(dim, input.ndim) for dim in along))


# ------------------------------------------------------------------- copies


@public
def clone(input: Tensor) -> Tensor:
    """A copy, through which gradients flow."""
    return table.clone(input)


@public
def detach(input: Tensor) -> Tensor:
    """The same memory, cut off from the graph."""
    out = wrap(input._writable())
    out._counter = input._counter
    if input.requires_grad:
        note_cut(out, "detach")
    return out


def contiguous(self: Tensor) -> Tensor:
    """The tensor with its elements in order in memory: itself, or a copy."""
    if self._data.flags.c_contiguous:
        return self
    return table.clone(self)


def repeat(self: Tensor, repeats: Sequence[int]) -> Tensor:
    """The tensor repeated along each dimension; new dimensions come first."""
    wide = len(repeats) >= self.ndim
    check(wide, "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    own = (1,) * (len(repeats) - self.ndim) + self.shape
    errors.check_sizes([n * times for n, times in zip(own, repeats)])
    return table.repeat(self, tuple(repeats))


@public
def tile(input: Tensor, dims: Sequence[int]) -> Tensor:
    """As `repeat`, but missing dimensions count as 1."""
    return repeat(input, (1,) * (input.ndim - len(dims)) + tuple(dims))


@public
def repeat_interleave(input: Tensor, repeats: int | Tensor, dim: int | None = None) -> Tensor:
    """Each element repeated in place: all `repeats` times, or each as often as `repeats` says."""
    x = ravel(input) if dim is None else input
    where = errors.sized_dim(dim or 0, x.ndim)
    size = x._data.shape[where]
    if not isinstance(repeats, Tensor):
        times = at_least(0, operator.index(repeats), "Repeats must be non-negative")
        shape = (*x.shape[: where + 1], times, *x.shape[where + 1 :])
        return flatten(clone(expand(unsqueeze(x, where + 1), shape)), where, where + 1)
    if repeats.dtype not in (dtypes.int64, dtypes.int32):
        raise errors.not_implemented("repeat_interleave_cpu", repeats.dtype.tensor_name)
    times = repeats._data.astype(np.intp)
    check(times.size in (1, size), "repeats must have the same size as input along dim")
    check((times >= 0).all(), "repeats can not be negative")
    places = np.repeat(np.arange(size, dtype=np.int64), times)
    return table.index_select(x, wrap(places), (where,))


# ------------------------------------------------------------------- diagonals


@public
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A diagonal of two dimensions, as a view with a new last dimension."""
    first, second = check_dim(dim1, input.ndim), check_dim(dim2, input.ndim)
    check(first != second, f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return table.diagonal(input, operator.index(offset), first, second)


@public
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A vector as the diagonal of a matrix, or the diagonal of a matrix as a vector."""
    if input.ndim == 1:
        size = input.numel() + abs(operator.index(diagonal))
        return table.diag_embed(input, (size, size), diagonal, 0, 1)
    if input.ndim == 2:
        return table.clone(table.diagonal(input, diagonal, 0, 1))
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input.ndim}D")


@public
def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """Zeros above a diagonal of the last two dimensions."""
    check(input.ndim >= 2, "tril: input tensor must have at least 2 dimensions")
    return table.tril(input, operator.index(diagonal))


@public
def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """Zeros below a diagonal of the last two dimensions."""
    check(input.ndim >= 2, "triu: input tensor must have at least 2 dimensions")
    return table.triu(input, operator.index(diagonal))


# ------------------------------------------------------------------- several as one


def _of_one_type(name: str, tensors: Any) -> list[Tensor]:
    """The tensors of a list, in the number type of their common result."""
    if not isinstance(tensors, (tuple, list)):
        raise errors.must_be("tuple of Tensors", name, "tensors", 1, tensors)
    if not tensors and name == "cat":
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    check(tensors, "stack expects a non-empty TensorList")
    for i, x in enumerate(tensors):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {errors.type_name(x)}")
    wanted = dtypes.result_type(*(x._data for x in tensors))
    return [x if x.dtype is wanted else x.to(wanted) for x in tensors]


@public
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """The tensors one after another along `dim`; their other sizes must be equal.

    >>> torch.cat([torch.zeros(1, 2), torch.ones(1, 2)])
    tensor([[0., 0.],
            [1., 1.]])
    """
    given = _of_one_type("cat", tensors)
    first = next((x._data.shape for x in given if x._data.shape != (0,)), (0,))
    where = check_dim(dim, len(first))
    # an empty list, which may start a loop, fits any other tensors
    nothing = (*first[:where], 0, *first[where + 1 :])
    given = [table.reshape(x, nothing) if x._data.shape == (0,) != nothing else x for x in given]
    _check_joined([x._data.shape for x in given], where)
    bounds = (0, *accumulate(x._data.shape[where] for x in given))
    return table.cat(given, where, bounds)


concat = cat


def _check_joined(shapes: list[Shape], dim: int) -> None:
    """RuntimeError unless the shapes are equal in all dimensions but `dim`."""
    first = shapes[0]
    for i, shape in enumerate(shapes):
        check(shape, f"zero-dimensional tensor (at position {i}) cannot be concatenated")
        sizes = f"{len(first)} and {len(shape)}"
        alike = len(shape) == len(first)
        check(alike, f"Tensors must have same number of dimensions: got {sizes}")
        for d, (m, n) in enumerate(zip(first, shape)):
            if m != n and d != dim:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected "
                    f"size {m} but got size {n} for tensor number {i} in the list."
                )


@public
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors of one shape as the slices of a new dimension."""
    given = _of_one_type("stack", tensors)
    first, *others = ([*x._data.shape] for x in given)
    for i, shape in enumerate(others, 1):
        if shape != first:
            words = "stack expects each tensor to be equal size, but got"
            raise RuntimeError(f"{words} {first} at entry 0 and {shape} at entry {i}")
    return table.stack(given, check_dim(dim, len(first) + 1))


# ------------------------------------------------------------------- one as several


def _parts(x: Tensor, row: Any, dim: int, keys: Sequence[Any]) -> tuple[Tensor, ...]:
    """Several views of one tensor, each of which knows which output it is."""
    parts = tuple(row(x, along(dim, key)) for key in keys)
    for i, part in enumerate(parts):
        part.__dict__["_one_of"] = True
        if part._node is not None and part._node.parents:
            part._node.output_nr = i
    return parts


def _split(x: Tensor, row: Any, dim: int, sizes: Sequence[int]) -> tuple[Tensor, ...]:
    bounds = (0, *accumulate(sizes))
    return _parts(x, row, dim, [slice(a, b) for a, b in pairwise(bounds)])


@public
def split(tensor: Tensor, split_size_or_sections: Dims, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of at most this size along `dim`, or of these sizes."""
    check(tensor.ndim, "split expects at least a 1-dimensional tensor")
    where = check_dim(dim, tensor.ndim)
    size, step = tensor._data.shape[where], split_size_or_sections
    if isinstance(step, int):
        at_least(0, step, "split expects split_size be non-negative, but got split_size={}")
        check(step or not size, "split_size can only be 0 if dimension size is 0")
        pieces = [min(step, size - start) for start in range(0, size, step or 1)]
        return _split(tensor, table.split, where, pieces or [0])
    sizes = tuple(step)
    at_least(0, min(sizes, default=0), "split_with_sizes expects split_sizes have only non-negative entries")
    words = f"tensor's size at dimension {where}), but got split_sizes={list(sizes)}"
    check(sum(sizes) == size, f"split_with_sizes expects split_sizes to sum exactly to {size} (input {words}")
    return _split(tensor, table.split_sizes, where, sizes)


@public
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most this number of views of equal size; the last may be smaller."""
    check(input.ndim, "chunk expects at least a 1-dimensional tensor")
    where = check_dim(dim, input.ndim)
    at_least(1, chunks, "chunk expects `chunks` to be greater than 0, got: {}")
    size = input._data.shape[where]
    return split(input, -(-size // chunks) if size else [0] * chunks, where)


@public
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along `dim`, as views."""
    where = errors.sized_dim(dim, input.ndim)
    return _parts(input, table.unbind, where, range(input._data.shape[where]))


attach(flatten, ravel, squeeze, unsqueeze, expand_as, view_as, reshape_as)
attach(transpose, swapaxes, t, movedim, roll, clone, detach, contiguous)
attach(repeat_interleave, diagonal, diag, tril, triu, split, chunk, unbind)
for _function in (reshape, view, expand, broadcast_to, permute, flip, repeat, tile):
    attach(one_by_one(_function))
attach(__reversed__=lambda x: x.flip(0) if x.ndim else x)
attach(T=property(_reversed), mT=property(_swapped))
