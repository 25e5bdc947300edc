"""The same numbers in another arrangement: views, joins, splits, repetitions.

What can be a view is one: it shares memory with its source, and writing to one is seen in the other.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import builtins
import itertools
import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad import dtypes, errors, kernels
from minigrad import more_derivatives as more
from minigrad.errors import check_dim, check_dims
from minigrad.inplace import reshaped_in_place
from minigrad.public import (
    FUNCTIONS,
    accepting_out,
    as_one_node,
    check_out,
    converted,
    function,
    into,
    ints,
    methods,
    raw,
    register,
    renamed,
)
from minigrad.size import Size
from minigrad.tape import Node, mode, record
from minigrad.tensor import Tensor, method, wrap

# ------------------------------------------------------------------------------------------- another shape


def reshape(input: Tensor, *sizes: Any, shape: Any = ()) -> Tensor:
    """The elements in another shape: a view where memory allows, else a copy. One size may be -1."""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = tuple(sizes[0])
    sizes = sizes or tuple(shape)
    return _reshaped(input, errors.infer_size(tuple(sizes), int(input._data.size)))


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
    try:
        parts = errors.infer_size(tuple(sizes), shape[where])
    except RuntimeError:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {where} ({shape[where]}) in "
            "the input tensor"
        ) from None
    return table.reshape(input, (*shape[:where], *parts, *shape[where + 1 :]))


@function(inplace=False)
def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Without dimensions of size 1: all of them, or those in `dim` that are."""
    shape = input._data.shape
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
    if any(n < 0 for shape in given for n in shape):
        raise ValueError("Attempting to broadcast a dimension with negative length!")
    return Size(errors.broadcast_shapes(*given))


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


# ------------------------------------------------------------------------------------------- joining


class Joined(Node):
    """The node of a tensor made of any number of others; what it keeps for input i takes i's part of a gradient."""

    __slots__ = ()

    def lift(self, kept: Any) -> tuple[Any, ...]:
        return tuple(kept)

    def contributions(self, g: Any, create_graph: bool) -> tuple[Any, ...]:
        return tuple(args[0](g) for args in self.kept or () if args)


KINDS: dict[str, type[Joined]] = {}


def joined(title: str, tensors: Sequence[Tensor], array: Any, parts: Sequence[Any]) -> Tensor:
    """A tensor made of several: `parts[i]` takes from a gradient (an array or a Tensor) what belongs to input i."""
    out = wrap(array)
    parents = tuple(x._node for x in tensors)
    if mode.record is not None and builtins.any(p is not None for p in parents):
        kind = KINDS.setdefault(title, type(title, (Joined,), {"__slots__": ()}))
        node = record(kind, parents, tuple((part,) for part in parts), None, array)
        node.rules = (_take_part,) * len(parents)
        out._node = node
    return out


def _take_part(g: Any, part: Any) -> Any:
    return part(g)


def _tensors(name: str, tensors: Any) -> list[Tensor]:
    if not isinstance(tensors, (tuple, list)):
        raise errors.must_be_sequence_of_tensors(name, "tensors", 1, tensors)
    for i, each in enumerate(tensors):
        if not isinstance(each, Tensor):
            raise errors.element_must_be_tensor(name, i, each)
    if not tensors:
        if name == "cat":
            raise ValueError("torch.cat(): expected a non-empty list of Tensors")
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return list(tensors)


def _common(tensors: Sequence[Tensor]) -> list[Tensor]:
    wanted = dtypes.result_type(*(x._data for x in tensors))
    return [x if x._data.dtype == wanted.numpy else converted(x, wanted) for x in tensors]


def cat(tensors: Any, dim: int = 0, *, axis: int | None = None, out: Any = None) -> Tensor:
    """The tensors one after another along `dim`; their other sizes must be equal.

    >>> torch.cat([torch.zeros(1, 2), torch.ones(1, 2)])
    tensor([[0., 0.],
            [1., 1.]])
    """
    dim = dim if axis is None else axis
    given = _common(_tensors("cat", tensors))
    for i, x in enumerate(given):
        if not x._data.ndim:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    real = [x for x in given if x._data.shape != (0,)] or given
    first = real[0]._data.shape
    where = 0 if first == (0,) else check_dim(dim, len(first))  # nothing but empty vectors: any dim will do
    for i, x in enumerate(real):
        shape = x._data.shape
        if len(shape) != len(first):
            raise RuntimeError(f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}")
        if shape[:where] + shape[where + 1 :] != first[:where] + first[where + 1 :]:
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {where}. Expected size "
                f"{next(m for d, (m, n) in enumerate(zip(first, shape)) if m != n and d != where)} but got size "
                f"{next(n for d, (m, n) in enumerate(zip(first, shape)) if m != n and d != where)} for tensor number {i} in "
                "the list."
            )
    array = kernels.in_order(np.concatenate([x._data for x in real], where))
    parts, start = [], 0
    for x in given:
        stop = start + (x._data.shape[where] if x._data.shape != (0,) or len(first) == 1 else 0)
        key = (slice(None),) * where + (slice(start, stop), Ellipsis)
        parts.append(lambda g, key=key, shape=x._data.shape: _part(g, key, shape))
        start = stop
    result = joined("CatBackward0", given, array, parts)
    if out is None:
        return result
    check_out("cat", out, result, (given,))
    return into(out, result, "cat")


def _part(g: Any, key: Any, shape: tuple[int, ...]) -> Any:
    return table.slice_(g, key).reshape(shape)


for _name in ("cat", "concat", "concatenate"):
    register(cat, _name, method=False)


def stack(tensors: Any, dim: int = 0, *, axis: int | None = None, out: Any = None) -> Tensor:
    """Tensors of one shape as the slices of a new dimension."""
    given = _common(_tensors("stack", tensors))
    first = given[0]._data.shape
    for i, x in enumerate(given):
        if x._data.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and "
                f"{list(x._data.shape)} at entry {i}"
            )
    where = check_dim(dim if axis is None else axis, len(first) + 1)
    array = kernels.in_order(np.stack([x._data for x in given], where))
    keys = [(slice(None),) * where + (i, Ellipsis) for i in range(len(given))]
    parts = [lambda g, key=key: table.select(g, key) for key in keys]
    result = joined("StackBackward0", given, array, parts)
    if out is None:
        return result
    check_out("stack", out, result, (given,))
    return into(out, result, "stack")


register(stack, "stack", method=False)


def _at_least(n: int) -> Any:
    def one(x: Tensor) -> Tensor:
        shape = tuple(x._data.shape)
        if len(shape) >= n:
            return x
        return reshape(x, {1: (1,), 2: (1, *shape)[-2:] if shape else (1, 1), 3: _to_3d(shape)}[n])

    def call(*tensors: Any) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
            tensors = tuple(tensors[0])
            return tuple(one(x) for x in tensors)
        return one(tensors[0]) if len(tensors) == 1 else tuple(one(x) for x in tensors)

    call.__name__ = f"atleast_{n}d"
    call.__doc__ = f"The tensor (or each of several) with at least {n} dimension{'s' * (n > 1)}; new ones have size 1."
    return call


def _to_3d(shape: tuple[int, ...]) -> tuple[int, ...]:
    return {0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)}.get(len(shape), shape)


atleast_1d, atleast_2d, atleast_3d = map(_at_least, (1, 2, 3))
for _name in ("atleast_1d", "atleast_2d", "atleast_3d"):
    register(globals()[_name], _name, method=False)


def hstack(tensors: Any) -> Tensor:
    """Joined along the second dimension (vectors: the first)."""
    given = [atleast_1d(x) for x in _tensors("hstack", tensors)]
    return cat(given, 0 if given[0]._data.ndim == 1 else 1)


def vstack(tensors: Any) -> Tensor:
    """Joined along the first dimension, vectors as rows."""
    return cat([atleast_2d(x) for x in _tensors("vstack", tensors)], 0)


def dstack(tensors: Any) -> Tensor:
    """Joined along the third dimension."""
    return cat([atleast_3d(x) for x in _tensors("dstack", tensors)], 2)


def column_stack(tensors: Any) -> Tensor:
    """Vectors as the columns of a matrix."""
    given = _tensors("column_stack", tensors)
    return cat([reshape(x, int(x._data.size), 1) if x._data.ndim < 2 else x for x in given], 1)


for _call, *_names in (
    (hstack, "hstack"), (vstack, "vstack", "row_stack"), (dstack, "dstack"), (column_stack, "column_stack")
):  # fmt: skip
    register(accepting_out(_call), *_names, method=False)

# ------------------------------------------------------------------------------------------- splitting


def _views(input: Tensor, recorded: Any, keys: Sequence[Any], title: str) -> tuple[Tensor, ...]:
    """Several views of one tensor, each of which knows which output it is."""
    made = []
    for i, key in enumerate(keys):
        out = recorded(input, key)
        out.__dict__["_one_of"] = title
        if out._node is not None and not out.is_leaf:
            out._node.output_nr = i
        made.append(out)
    return tuple(made)


def _pieces(input: Tensor, sizes: Sequence[int], dim: int, title: str = "Split") -> tuple[Tensor, ...]:
    keys, start = [], 0
    for size in sizes:
        keys.append((slice(None),) * dim + (slice(start, start + size), Ellipsis))
        start += size
    return _views(input, table.split if title == "Split" else table.split_sizes, keys, title)


@function
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of at most this size along `dim`, or of these sizes."""
    if not tensor._data.ndim:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    where = check_dim(dim, tensor._data.ndim)
    size = tensor._data.shape[where]
    if isinstance(split_size_or_sections, (bool, float, str)):
        kind = errors.type_name(split_size_or_sections)
        raise TypeError(f"split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, not {kind}")
    if isinstance(split_size_or_sections, (tuple, list)):
        for at, n in enumerate(split_size_or_sections):
            if isinstance(n, (float, str)):
                raise TypeError(
                    "split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, but found element of type "
                    f"{errors.type_name(n)} at pos {at}"
                )
        sizes = [int(n) for n in split_size_or_sections]
        if builtins.sum(sizes) == size and min(sizes, default=0) < 0:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={sizes}"
            )
        if builtins.sum(sizes) != size or builtins.any(n < 0 for n in sizes):
            raise RuntimeError(
                f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension "
                f"{where}), but got split_sizes={sizes}"
            )
        return _pieces(tensor, sizes, where, "SplitWithSizes")
    step = int(split_size_or_sections)
    if step < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={step}")
    if step == 0 and size:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}")
    starts = range(0, size, step) if size else range(1)
    return _pieces(tensor, [builtins.min(step, size - s) for s in starts] if size else [0], where)


def _unsafe(name: str, safe: Any) -> None:
    def call(tensor: Tensor, *args: Any, **keywords: Any) -> tuple[Tensor, ...]:
        views = safe(tensor, *args, **keywords)
        parts = tuple(map(table.clone, views))
        for part, view in zip(parts, views, strict=True):
            part._data = view._data
        return parts

    call.__doc__ = f"As `{name.removeprefix('unsafe_')}`, in the same memory, but no views: nobody is told of a write into one."
    function(call, name=name)


@function(name="split_with_sizes")
def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of these sizes along `dim`; they must add up to the size of the dimension."""
    return split(input, list(split_sizes), dim)


@function
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most this number of views of equal size (the last may be smaller)."""
    if input._data.ndim == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    where = check_dim(dim, input._data.ndim)
    size = input._data.shape[where]
    step = -(-size // chunks)
    return split(input, step, where) if size else _pieces(input, [0] * chunks, where, "SplitWithSizes")


_unsafe("unsafe_split", split)
_unsafe("unsafe_chunk", chunk)
_unsafe("unsafe_split_with_sizes", split_with_sizes)


@function
def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views split at these indices, or into this number of nearly equal parts."""
    if not input._data.ndim:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    where = check_dim(dim, input._data.ndim)
    size = input._data.shape[where]
    given = indices_or_sections
    if isinstance(given, Tensor):
        if given._data.dtype != np.int64:
            raise RuntimeError(
                f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got {given.dtype.tensor_name}"
            )
        if given._data.ndim > 1:
            raise RuntimeError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but "
                f"got a tensor with {given._data.ndim} dims"
            )
        given = given.tolist()
    if isinstance(given, int):
        if given <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {given}")
        bounds = [(i * (size // given) + builtins.min(i, size % given)) for i in range(given + 1)]
    else:
        bounds = [0, *given, size]
    keys = [(slice(None),) * where + (slice(a, b), Ellipsis) for a, b in itertools.pairwise(bounds)]
    return tuple(table.slice_(input, key) for key in keys)


def _split_at(name: str, dim: int, least: int) -> None:
    def call(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
        shape = input._data.shape
        if len(shape) < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {len(shape)} "
                "dimensions!"
            )
        where = dim if len(shape) > dim else 0  # the columns of a vector are its elements
        parts = indices_or_sections
        if isinstance(parts, int) and (parts == 0 or shape[where] % parts):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {where}, but the size of the dimension {shape[where]} is "
                f"not divisible by the split_size {parts}!"
            )
        return tensor_split(input, parts, where)

    call.__doc__ = f"`tensor_split` along dimension {dim}; a number of sections must divide its size."
    function(call, name=name)


_split_at("hsplit", 1, 1)
_split_at("vsplit", 0, 2)
_split_at("dsplit", 2, 3)


@function
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along `dim`, as views."""
    if not input._data.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    where = check_dim(dim, input._data.ndim)
    keys = [(slice(None),) * where + (i, Ellipsis) for i in range(input._data.shape[where])]
    return _views(input, table.unbind, keys, "Unbind")


@function
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """A view of `length` elements from `start` on, along `dim`."""
    if input._data.ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    where = check_dim(dim, input._data.ndim)
    size = input._data.shape[where]
    if isinstance(start, Tensor) and (start._data.ndim or start._data.dtype.kind not in "iu"):
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    start = int(start)
    if not -size <= start <= size:
        raise IndexError(f"start out of range (expected to be in range of [{-size}, {size}], but got {start})")
    start = start + size if start < 0 else start
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if start + length > size:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return table.slice_(input, (slice(None),) * where + (slice(start, start + length), Ellipsis))


@function
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """One slice along `dim`, as a view."""
    if not input._data.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    where = check_dim(dim, input._data.ndim)
    size = input._data.shape[where]
    index = int(index)
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input._data.shape)} at dimension {where}"
        )
    return table.select(input, (slice(None),) * where + (index, Ellipsis))


@function
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A diagonal of two dimensions, as a view with a new last dimension."""
    i, j = check_dim(dim1, input._data.ndim), check_dim(dim2, input._data.ndim)
    if i == j:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return more.diagonal(input, offset, i, j)


@function
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A vector as the diagonal of a matrix, or the diagonal of a matrix as a vector."""
    if input._data.ndim == 1:
        return diag_embed(input, diagonal)
    if input._data.ndim != 2:
        raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {input._data.ndim}D")
    return more.diagonal_copy(input, diagonal)


@function
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The last dimension as the diagonal of two new ones."""
    n = input._data.ndim + 1
    i, j = check_dim(dim1, n), check_dim(dim2, n)
    if i == j:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    size = input._data.shape[-1] + builtins.abs(offset)
    shape = list(input._data.shape[:-1])
    for d in sorted((i, j)):
        shape.insert(d, size)
    return more.diag_embed(input, tuple(shape), offset, i, j)


@function
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """All elements as the diagonal of a matrix."""
    return diag_embed(ravel(input), offset)


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


@function
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view of this memory with these sizes and steps (in elements), which may overlap; the tensor must be contiguous."""
    if input._view is not None or not np.asarray(input._data).flags.c_contiguous:
        raise NotImplementedError("as_strided: minigrad reads memory of a tensor's own only; call clone() first")
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(s < 0 for s in stride):
        raise RuntimeError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    if any(n < 0 for n in size):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}"
        )
    places = builtins.sum((n - 1) * s for n, s in zip(size, stride, strict=True)) + 1 + (storage_offset or 0)
    if 0 not in tuple(size) and places > input._data.size:
        raise RuntimeError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {storage_offset or 0}, and itemsize "
            f"{input.element_size()} requiring a storage size of {places * input.element_size()} are out of bounds for storage "
            f"of size {input._data.nbytes}"
        )
    return more.strided(input, tuple(size), tuple(stride), storage_offset or 0)


@method
def storage_offset(self: Tensor) -> int:
    """How many elements of its memory lie before the tensor's first one."""
    from minigrad import storage

    return storage.offset(self)


@method
def untyped_storage(self: Tensor) -> Any:
    """The memory that this tensor and its views share, as bytes."""
    from minigrad import storage

    return storage.UntypedStorage(self)


@method
def storage(self: Tensor) -> Any:
    """The memory that this tensor and its views share, as numbers (PyTorch warns that it will go)."""
    from minigrad.storage import TypedStorage

    return TypedStorage(self)


@function
def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix."""
    if input._data.ndim != 2:
        raise RuntimeError("trace: expected a matrix, but got tensor with dim " + str(input._data.ndim))
    return more.trace(input)


# ------------------------------------------------------------------------------------------- moving


@function
def flip(input: Tensor, *args: Any, dims: Any = None) -> Tensor:
    """The order of the elements along these dimensions reversed."""
    if not args and dims is None:
        raise TypeError('flip() missing 1 required positional arguments: "dims"')
    given = ints(args or (tuple(dims) if isinstance(dims, (tuple, list)) else dims,))
    return more.flip(input, check_dims(given, input._data.ndim) if given else ())


@function
def fliplr(input: Tensor) -> Tensor:
    """The columns (the elements along dimension 1) in reversed order."""
    if input._data.ndim < 2:
        raise RuntimeError("Input must be >= 2-d.")
    return flip(input, (1,))


@function
def flipud(input: Tensor) -> Tensor:
    """The rows (the elements along dimension 0) in reversed order."""
    if input._data.ndim < 1:
        raise RuntimeError("Input must be >= 1-d.")
    return flip(input, (0,))


@function
def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Elements shifted along dimensions; what leaves at one end enters at the other."""
    amounts = ints((shifts,) if isinstance(shifts, int) else tuple(shifts))
    if not amounts:
        raise RuntimeError("`shifts` required")
    if dims is None or dims == ():
        if len(amounts) != 1:
            raise RuntimeError(f"shifts and dimensions must align. shifts: {len(amounts)}, dims:0")
        return more.roll(input, amounts, None)
    named = (dims,) if isinstance(dims, int) else tuple(dims)
    if len(named) != len(amounts):
        raise RuntimeError(f"shifts and dimensions must align. shifts: {len(amounts)}, dims:{len(named)}")
    if not input._data.ndim:
        raise IndexError(f"Dimension specified as {named[0]} but tensor has no dimensions")
    return more.roll(input, amounts, tuple(check_dim(d, input._data.ndim) for d in named))


@function
def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """A plane of two dimensions turned by k quarter turns."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input._data.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {input._data.ndim}")
    i, j = dims
    check_dim(i, input._data.ndim)
    check_dim(j, input._data.ndim)
    if i == j or builtins.abs(i - j) == input._data.ndim:
        raise RuntimeError(f"expected rotation dims to be different, but got dim0 = {i} and dim1 = {j}")
    k %= 4
    if k == 0:
        return as_one_node(table.clone(input), "Rot90Backward0")
    if k == 2:
        return as_one_node(flip(input, (i, j)), "Rot90Backward0")
    turned = transpose(flip(input, (j,)), i, j) if k == 1 else flip(transpose(input, i, j), (j,))
    return as_one_node(turned, "Rot90Backward0")


@method
def repeat(self: Tensor, *repeats: Any) -> Tensor:
    """The tensor laid out repeatedly along each dimension; new dimensions come first."""
    counts = ints(repeats)
    if len(counts) < self._data.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    if min(counts, default=0) < 0:
        shape = (1,) * (len(counts) - self._data.ndim) + tuple(self._data.shape)
        wanted = [n * size for n, size in zip(counts, shape, strict=True)]
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(wanted)}: {wanted}")
    return more.repeat(self, counts)


@function
def tile(input: Tensor, *dims: Any) -> Tensor:
    """As `repeat`; missing dimensions count as 1."""
    counts = ints(dims)
    return repeat(input, (1,) * (input._data.ndim - len(counts)) + counts)


@function
def repeat_interleave(input: Tensor, repeats: Any = None, dim: Any = None, *, output_size: Any = None) -> Tensor:
    """Each element repeated in place, all as often or each as often as `repeats` says; each position, given that alone."""
    if repeats is None:
        if input._data.ndim != 1:
            raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
        return repeat_interleave(wrap(np.arange(input._data.size)), input)
    times = np.asarray(raw(repeats))
    if times.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if times.dtype.kind == "f" and isinstance(repeats, Tensor):
        raise errors.not_implemented("repeat_interleave_cpu", repeats.dtype.tensor_name)
    if np.any(times < 0):
        raise RuntimeError("repeats can not be negative" if isinstance(repeats, Tensor) else "Repeats must be non-negative")
    x = ravel(input) if dim is None else input
    where = 0 if dim is None else check_dim(dim, input._data.ndim)
    n = x._data.shape[where]
    if times.size not in (1, n):
        raise RuntimeError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {times.size} and "
            f"input.size({where}) = {n}"
        )
    if output_size is not None and output_size != np.broadcast_to(times, (n,)).sum():
        raise RuntimeError("allocated size does not match required size")
    if isinstance(repeats, int) and x._data.ndim:
        shape = x._data.shape
        apart = x.unsqueeze(where + 1).expand(*shape[: where + 1], repeats, *shape[where + 1 :])
        return apart.clone().view(*shape[:where], n * repeats, *shape[where + 1 :])
    if times.size not in (1, n):
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got "
            f"repeats.size(0) = {times.size} and input.size({where}) = {n}"
        )
    index = np.repeat(np.arange(n), np.broadcast_to(times, (n,)))
    return FUNCTIONS["index_select"](x, where, wrap(index))


@function(inplace=True)
def tril(input: Tensor, diagonal: int = 0) -> Tensor:
    """Zeros above a diagonal of the last two dimensions."""
    _matrix("tril", input)
    return more.tril(input, diagonal)


@function(inplace=True)
def triu(input: Tensor, diagonal: int = 0) -> Tensor:
    """Zeros below a diagonal of the last two dimensions."""
    _matrix("triu", input)
    return more.triu(input, diagonal)


def _matrix(name: str, x: Tensor) -> None:
    if x._data.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Vectors as coordinates of a grid: "ij" varies the first one down the rows, "xy" along them."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing is None:
        warnings.warn(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.",
            UserWarning,
            stacklevel=2,
        )
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    if any(x.dtype is not tensors[0].dtype for x in tensors):
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if many := [x for x in tensors if x._data.ndim > 1]:
        raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {many[0]}")
    swapped = indexing == "xy" and len(tensors) >= 2
    given = [tensors[1], tensors[0], *tensors[2:]] if swapped else list(tensors)
    sizes = tuple(int(x._data.size) for x in given)
    grids = [
        expand(reshape(x, (1,) * i + (sizes[i],) + (1,) * (len(given) - i - 1)), sizes) for i, x in enumerate(given)
    ]
    if swapped:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


def _check_vector(x: Tensor) -> None:
    if x._data.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(x._data.shape)}")


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Every combination of elements, one a row."""
    for x in tensors:
        _check_vector(x)
    if len(tensors) == 1:
        return tensors[0]
    return stack([ravel(g) for g in meshgrid(*tensors, indexing="ij")], 1)


def block_diag(*tensors: Tensor) -> Tensor:
    """Matrices along the diagonal of a larger one."""
    if not tensors:
        return wrap(np.zeros((1, 0), dtypes.default_numpy()))
    given = [atleast_2d(x) for x in tensors]
    width = builtins.sum(x._data.shape[1] for x in given)
    rows, start = [], 0
    for x in given:
        n = x._data.shape[1]
        rows.append(pad_widths(x, ((0, 0), (start, width - start - n))))
        start += n
    return as_one_node(cat(rows, 0), "BlockDiagBackward0")


@function
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Every choice of r elements of a vector, one a row."""
    _check_vector(input)
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(range(input._data.shape[0]), r)) if r else []  # of nothing there is one choice, but PyTorch gives none
    return table.pick(input, (np.array(rows, np.int64).reshape(len(rows), r) if r else np.zeros(0, np.int64),))


register(meshgrid, "meshgrid", method=False)
register(cartesian_prod, "cartesian_prod", method=False)
register(block_diag, "block_diag", method=False)


def pad_widths(input: Tensor, widths: Any, value: float = 0.0) -> Tensor:
    """Pad with a number: (before, after) for each dimension; negative widths cut."""
    return more.pad(input, tuple(widths), float(value))


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
