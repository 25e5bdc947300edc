"""Parts of a tensor: `x[...]` in all its forms, gather and scatter, selection by index and by mask.

Integers and slices give a view; index tensors and masks give a copy. Where an index
repeats, the gradients of the copies add up.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .. import derivatives as table
from .. import dtypes, errors
from ..errors import check, check_dim
from ..operation import attach, public
from ..tensor import Tensor, wrap
from ..views import check_memory, check_writable, in_place, overlaps, overwrite
from .creation import converted
from .elementwise import places_of
from .shapes import expand, expand_shape

Shape = tuple[int, ...]


# ------------------------------------------------------------------- x[...]


def __getitem__(self: Tensor, index: Any) -> Tensor:
    """A part: a view for integers and slices, a copy for index tensors and masks."""
    shape = self._data.shape
    if type(index) is int and shape and -shape[0] <= index < shape[0]:
        return table.select(self, (index, ...))
    key, picks, last = parse(index, shape)
    if not picks:
        return _view(self, key, last)
    view = _view(self, key, table.slice_) if _narrows(key) else self
    y, dims = _joined(picks, view._data.shape)
    try:
        return table.pick(view, y, dims)
    except IndexError as error:
        raise in_words(error) from None


def __setitem__(self: Tensor, index: Any, value: Any) -> None:
    """Write into a part: the value is broadcast to the part's shape."""
    if isinstance(index, Tensor) and index.dtype is dtypes.uint8 and not isinstance(value, Tensor):
        _check_mask_type(index)
    key, picks, last = parse(index, self._data.shape)
    source = _stripped(_value(value, self))
    view = _view(self, key, table.slice_ if picks else last) if _narrows(key) else self
    if not picks:
        expand_shape(source, view._data.shape)
        # a source that has to be stretched may lie in the same memory
        check_memory(view._data, (source,) if source._data.shape == view._data.shape else ())
        overwrite(view, table.copied, converted(source, self.dtype))
        return
    check_writable(view)
    y, dims = _joined(picks, view._data.shape)
    if source.numel() == 1:
        source = converted(source, self.dtype)
    elif source._data is view._data or overlaps(view._data, source._data):
        raise RuntimeError(errors.PARTIAL_OVERLAP)
    a, b = self.dtype.tensor_name, source.dtype.tensor_name
    words = f"Index put requires the source and destination dtypes match, got {a}"
    check(a == b, f"{words} for the destination and {b} for the source.")
    try:
        overwrite(view, table.index_put, y, source, dims)
    except (IndexError, TypeError, ValueError) as error:
        raise in_words(error) from None


Picks = list[tuple[int, Tensor]]


def parse(index: Any, shape: Shape) -> tuple[tuple[Any, ...], Picks, Any]:
    """An index of a tensor of this shape, in PyTorch's two steps.

    The numpy key of integers, slices and None that gives a view; the index tensors and
    masks, each with its dimension of that view; the row of the view's last step.
    """
    several = isinstance(index, tuple) or (isinstance(index, list) and _stands_for_a_tuple(index))
    items = [_item(item) for item in (index if several else (index,))]
    rest = len(shape) - sum(map(_consumes, items))
    if rest < 0:
        raise _too_many(index, shape)
    key: list[Any] = []
    picks: Picks = []
    last, dim, dropped = table.narrowed_alias, 0, 0
    for place, item in enumerate(items):
        if item is None or isinstance(item, bool):
            if item is not None:
                picks.append((len(key) - dropped, wrap(np.array([item]))))
            key.append(None)
            last = table.unsqueeze
        elif item is Ellipsis:
            key += [slice(None)] * rest
            dim, rest = dim + rest, 0
        elif isinstance(item, int):
            if not -shape[dim] <= item < shape[dim]:
                raise IndexError(f"index {item} is out of bounds for dimension {place} with size {shape[dim]}")
            key.append(item)
            dropped += 1
            last = table.select
        elif isinstance(item, slice):
            if item.step is not None and item.step <= 0:
                raise ValueError("step must be greater than zero")
            key.append(item)
            last = last if item == slice(None) and items[1:] else table.slice_
        else:
            picks.append((len(key) - dropped, item))
            key += [slice(None)] * _consumes(item)
        dim += _consumes(item)
    return (*key, ...), picks, last


def _stands_for_a_tuple(index: list[Any]) -> bool:
    """Whether a list is a tuple of indices, as in PyTorch: `x[[0, [1, 2]]]` is `x[0, [1, 2]]`."""
    kinds = (Tensor, list, tuple, slice, type(None), type(...))
    return len(index) < 32 and any(isinstance(part, kinds) for part in index)


def _item(item: Any) -> Any:
    """One item as an int, a slice, None, Ellipsis, or a tensor with dimensions."""
    if item is None or item is Ellipsis or isinstance(item, (int, slice)):
        return item
    if isinstance(item, (list, tuple, range, np.ndarray, np.integer)):
        array = np.asarray(item)
        item = wrap(array if array.size else array.astype(np.int64))
    if not isinstance(item, Tensor):
        kinds = "integers, slices (`:`), ellipsis (`...`), None and long or byte Variables"
        raise IndexError(f"only {kinds} are valid indices (got {errors.type_name(item)})")
    if item.dtype is dtypes.uint8:
        warnings.warn("indexing with dtype torch.uint8 is now deprecated", stacklevel=5)
        item = item.bool()
    if item._data.dtype not in (np.int64, np.int32, np.bool_):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return item if item.ndim else item.item()


def _consumes(item: Any) -> int:
    """How many dimensions of the tensor an item uses up."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    mask = isinstance(item, Tensor) and item.dtype is dtypes.bool_
    return item.ndim if mask else 1


def _joined(picks: Picks, shape: Shape) -> tuple[Tensor, Shape]:
    """The index itself, or several as the rows of one, and their dimensions."""
    arrays: list[Any] = []
    dims: list[int] = []
    for dim, index in picks:
        mask = index.dtype is dtypes.bool_
        if mask:
            _check_mask(index._data.shape, shape, dim)
        parts = index._data.nonzero() if mask else [index._data]
        arrays += parts
        dims += range(dim, dim + len(parts))
    if 0 in shape and any(a.size and not shape[d] for d, a in zip(dims, arrays)):
        raise IndexError("index is out of bounds for dimension with size 0")
    if len(picks) == 1:
        return picks[0][1], (picks[0][0],)
    try:
        return wrap(np.stack(np.broadcast_arrays(*arrays), dtype=np.int64)), tuple(dims)
    except ValueError:
        shapes = ", ".join(str(list(array.shape)) for array in arrays)
        words = "shape mismatch: indexing tensors could not be broadcast together with shapes"
        raise IndexError(f"{words} {shapes}") from None


def _check_mask(mask: Shape, shape: Shape, dim: int) -> None:
    for k, n in enumerate(mask):
        if n != shape[dim + k]:
            masks = f"The shape of the mask {list(mask)} at index {k}"
            tensors = f"the shape of the indexed tensor {list(shape)} at index {dim + k}"
            raise IndexError(f"{masks} does not match {tensors}")


def _narrows(key: tuple[Any, ...]) -> bool:
    return any(part not in (..., slice(None)) for part in key)


def _view(x: Tensor, key: tuple[Any, ...], last: Any) -> Tensor:
    if last is not table.unsqueeze:
        return last(x, key)
    inner = tuple(part for part in key if part is not None)
    view = table.slice_(x, inner) if _narrows(inner) else x
    return table.unsqueeze(view, np.asarray(x._data)[key].shape)


def _too_many(index: Any, shape: Shape) -> IndexError:
    if not shape and isinstance(index, int):
        return IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
        )
    return IndexError(f"too many indices for tensor of dimension {len(shape)}")


def in_words(error: Exception) -> Exception:
    """What numpy says of an index array; its axis is PyTorch's dimension."""
    kind = IndexError if isinstance(error, IndexError) else RuntimeError
    return kind(str(error).replace("axis", "dimension"))


def _value(value: Any, like: Tensor) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if not isinstance(value, (int, float, np.generic)):
        raise TypeError(f"can't assign a {errors.type_name(value)} to a {like.type()}")
    return wrap(np.asarray(dtypes.cast(value, like.dtype)))


def _stripped(x: Tensor) -> Tensor:
    """Without leading dimensions of size 1."""
    shape = x._data.shape
    while shape[:1] == (1,):
        shape = shape[1:]
    return x if shape == x._data.shape else table.reshape(x, shape)


# ------------------------------------------------------------------- gather and scatter


def _places(name: str, index: Tensor, kinds: str) -> Any:
    """The array of an index, of one dimension at least; RuntimeError unless it is of integers."""
    whole = index._data.dtype in (np.int64, np.int32)
    check(whole, f"{name}(): Expected dtype {kinds} for index")
    return np.atleast_1d(index._data)


def _check_index(name: str, input: Tensor, dim: int, index: Tensor, src: Tensor | None = None) -> int:
    """`dim` counted from the left; raises unless the index fits the tensors."""
    where = check_dim(dim, input.ndim)
    alike = src is None or src.dtype is input.dtype
    check(alike, "scatter(): Expected self.dtype to be equal to src.dtype")
    if not index.numel():
        return where
    places = _places(name, index, "int32/int64")
    other, given = "input" if name == "gather" else "self", list(places.shape)
    for x in (input, src):
        if x is None:
            continue
        shape = x._data.shape or (1,)
        words = f"Index tensor must have the same number of dimensions as {other} tensor"
        check(len(shape) == places.ndim, words)
        for d, (n, most) in enumerate(zip(given, shape)):
            fits = n <= most or (x is input and d == where)
            check(fits, f"Size does not match at dimension {d} expected index {given}")
        other = "src"
    size = (input._data.shape or (1,))[where]
    for wrong in places[(places < 0) | (places >= size)][:1]:
        raise RuntimeError(f"index {wrong} is out of bounds for dimension {where} with size {size}")
    return where


def _cut(src: Tensor, index: Tensor) -> Tensor:
    """The part of `src` that the index writes."""
    if src.shape == index.shape:
        return src
    return table.slice_(src, tuple(slice(n) for n in index.shape))


@public
def gather(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """out[i][j] = input[index[i][j]][j] for dim 0: one element for each entry of `index`.

    >>> torch.tensor([[1, 2], [3, 4]]).gather(1, torch.tensor([[1], [0]]))
    tensor([[2],
            [3]])
    """
    return table.gather(input, index, _check_index("gather", input, dim, index))


@public
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """As `gather`, with broadcasting in the other dimensions; `dim=None` flattens both."""
    if dim is None:
        return gather(input.reshape(-1), 0, indices.reshape(-1))
    where = check_dim(dim, input.ndim)
    have, wanted = input.shape, indices.shape
    wide = errors.broadcast_shapes(_with(have, where, 1), _with(wanted, where, 1))
    source = expand(input, _with(wide, where, have[where]))
    index = expand(indices % have[where], _with(wide, where, wanted[where]))
    return gather(source, where, index)


def _with(shape: Any, dim: int, n: int) -> Shape:
    """The shape with n in one place."""
    return (*shape[:dim], n, *shape[dim + 1 :])


@public
def scatter(input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None) -> Tensor:
    """A copy of input with `src`, a tensor or a number, written at `index` along `dim`."""
    source = value if src is None else src
    if not isinstance(source, Tensor):
        where = _check_index("scatter", input, dim, index)
        return table.scatter_value(input, index, source, where)
    where = _check_index("scatter", input, dim, index, source)
    return table.scatter(input, index, _cut(source, index), where)


@public
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy of input with `src` added at `index` along `dim`; repeated indices all count."""
    where = _check_index("scatter_add", input, dim, index, src)
    return table.scatter_add(input, index, _cut(src, index), where)


# ------------------------------------------------------------------- slices by index


@public
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices along `dim` that `index` names.

    >>> torch.tensor([[1, 2], [3, 4]]).index_select(0, torch.tensor([1, 1]))
    tensor([[3, 4],
            [3, 4]])
    """
    where = check_dim(dim, input.ndim)
    some = input.shape[where : where + 1] != (0,) or input.ndim == 1 or not index.numel()
    check(some, "index_select(): self indexing axis dim should be positive")
    places = _vector("index_select", input, where, index, "int32 or int64")
    return table.index_select(input, index if index.ndim else wrap(places), (where,))


@public
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    """A copy of input with alpha times the slices of `source` added at `index` along `dim`."""
    where = check_dim(dim, input.ndim)
    a, b = input.dtype.tensor_name, source.dtype.tensor_name
    check(a == b, f"index_add_(): self ({a}) and source ({b}) must have the same scalar type")
    own, given = input._data.shape, source._data.shape
    words = "source tensor shape must match self tensor shape, excluding the specified dimension"
    others = len(own) == len(given) and _with(own, where, 0) == _with(given, where, 0)
    check(own == given or others, words)
    places = _vector("index_add_", input, where, index, "int32/int64")
    check(places.size == (given or (1,))[where], f"index_add_(): Number of indices ({places.size})")
    return table.index_add(input, index, source if alpha == 1 else source * alpha, (where,))


def _vector(name: str, input: Tensor, dim: int, index: Tensor, kinds: str) -> Any:
    """The array of an index that names slices along a dimension."""
    if index.ndim > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector")
    one = f"{name}(): Index to scalar can have only 1 value, got {index.numel()} value(s)"
    check(input.ndim or index.numel() == 1, one)
    places = _places(name, index, kinds)
    if ((places < 0) | (places >= (input._data.shape or (1,))[dim])).any():
        raise IndexError("index out of range in self")
    return places


# ------------------------------------------------------------------- by mask


@public
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A copy with `value`, a number or a tensor of one, where the mask holds."""
    _check_mask_type(mask)
    errors.broadcast_shapes(mask._data.shape, input._data.shape)
    source = _value(value, input)
    check(not source.ndim, "masked_fill_ only supports a 0-dimensional value tensor")
    row = table.masked_fill_tensor if isinstance(value, Tensor) else table.masked_fill
    return row(input, converted(source, input.dtype), mask)


@public
def masked_fill_(self: Tensor, mask: Tensor, value: Any) -> Tensor:
    """`masked_fill`, written into this tensor, to whose shape the mask is stretched; returns the tensor."""
    check_writable(self)
    errors.broadcast_shapes(self._data.shape, mask._data.shape)
    return overwrite(self, masked_fill, mask, value)


def _check_mask_type(mask: Tensor) -> None:
    words = f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype.c_name}"
    check(mask.dtype is dtypes.bool_, words)


@public
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where the mask holds, in one dimension."""
    check(mask.dtype is dtypes.bool_, "masked_select: expected BoolTensor for mask")
    shape = errors.broadcast_shapes(mask._data.shape, input._data.shape)
    x = input if input.shape == shape else expand(input, shape)
    where = mask if mask.shape == shape else expand(mask, shape)
    return table.masked_select(x, where, (0,))


@public
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The indices of the elements that are not 0: a row for each, or a tensor for each dimension."""
    if as_tuple:
        return places_of(input)
    return wrap(np.argwhere(input._data).astype(np.int64))


attach(__getitem__, __setitem__, gather, take_along_dim, scatter)
attach(scatter_add, index_select, index_add, masked_fill, masked_fill_, masked_select, nonzero)
attach(*in_place(scatter, scatter_add, index_add))
