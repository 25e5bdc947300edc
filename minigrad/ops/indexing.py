"""Parts of a tensor: `x[...]` in all its forms, gather and scatter, selection by index and by mask.

Integers and slices give a view; index tensors and masks give a copy. Where an index
repeats, the gradients of the copies add up.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import re
from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad import dtypes, errors
from minigrad.errors import check_dim
from minigrad.operation import attach, public
from minigrad.ops.shapes import expand, expand_shape
from minigrad.tensor import Tensor, wrap
from minigrad.views import in_place, overlaps, overwrite

Shape = tuple[int, ...]

VIEWS = {
    "Alias": table.narrowed_alias,
    "Select": table.select,
    "Slice": table.slice_,
}


# ------------------------------------------------------------------- x[...]


def __getitem__(self: Tensor, index: Any) -> Tensor:
    """A part: a view for integers and slices, a copy for index tensors and masks."""
    shape = self._data.shape
    if type(index) is int and shape and -shape[0] <= index < shape[0]:
        return table.select(self, (index, ...))
    key, picks, last = parse(index, shape)
    if not picks:
        return _view(self, key, last)
    view = _view(self, key, "Slice") if _narrows(key) else self
    y, dims = _joined(picks, view._data.shape)
    try:
        return table.pick(view, y, dims)
    except IndexError as error:
        raise _out_of_bounds(error, dims) from None


def __setitem__(self: Tensor, index: Any, value: Any) -> None:
    """Write into a part: the value is broadcast to the part's shape."""
    key, picks, last = parse(index, self._data.shape)
    source = _without_leading_ones(_value(value, self))
    if not picks:
        view = _view(self, key, last) if _narrows(key) else self
        kind = f"torch.{source.dtype.tensor_name}Tensor"
        expand_shape(source._data.shape, view._data.shape, kind)
        overwrite(view, table.copied, _cast(source, self))
        return
    view = _view(self, key, "Slice") if _narrows(key) else self
    y, dims = _joined(picks, view._data.shape)
    if source.numel() == 1 and y.dtype is dtypes.bool_:
        source = _cast(source, self)
    else:
        if source._data is view._data or overlaps(view._data, source._data):
            raise RuntimeError(errors.PARTIAL_OVERLAP)
    if source.dtype is not self.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{self.dtype.tensor_name} for the destination and "
            f"{source.dtype.tensor_name} for the source."
        )
    try:
        overwrite(view, table.index_put, y, source, dims)
    except IndexError as error:
        raise _out_of_bounds(error, dims) from None
    except (TypeError, ValueError):
        part = list(table.pick(view.detach(), y, dims).shape)
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(source.shape)} cannot be "
            f"broadcast to indexing result of shape {part}"
        ) from None


def __delitem__(self: Tensor, index: Any) -> None:
    """Raises TypeError: a tensor keeps its elements."""
    raise TypeError("Tensor does not support deleting items")


Picks = list[tuple[int, Tensor]]


def parse(index: Any, shape: Shape) -> tuple[tuple[Any, ...], Picks, str]:
    """An index of a tensor of this shape, in PyTorch's two steps.

    The numpy key of integers, slices and None that gives a view; the index tensors and
    masks, each with its dimension of that view; the name of the view's last step.
    """
    if isinstance(index, list) and any(map(_is_part, index)):
        index = tuple(index)  # x[[[0, 1], [1, 0]]] means x[[0, 1], [1, 0]]
    several = isinstance(index, tuple)
    items = [_item(item) for item in (index if several else (index,))]
    rest = len(shape) - sum(map(_consumes, items))
    if rest < 0:
        raise _too_many(index, shape)
    key: list[Any] = []
    picks: Picks = []
    last, dim, dropped = "Alias", 0, 0
    for place, item in enumerate(items):
        if item is None or isinstance(item, bool):
            if item is not None:
                picks.append((len(key) - dropped, wrap(np.array([item]))))
            key.append(None)
            last = "Unsqueeze"
        elif item is Ellipsis:
            key += [slice(None)] * rest
            dim, rest = dim + rest, 0
        elif isinstance(item, int):
            _check_bounds(item, place, shape[dim])
            key.append(item)
            dropped += 1
            last = "Select"
        elif isinstance(item, slice):
            key.append(_slice(item, shape[dim]))
            whole = range(shape[dim])[key[-1]] == range(shape[dim])
            last = last if whole and several else "Slice"
        else:
            picks.append((len(key) - dropped, item))
            key += [slice(None)] * _consumes(item)
        dim += _consumes(item)
    return (*key, ...), picks, last


def _is_part(item: Any) -> bool:
    """Whether a list that holds this is a tuple of indices, not one index tensor."""
    return item is None or item is Ellipsis or isinstance(item, (list, tuple, slice, Tensor))


def _joined(picks: Picks, shape: Shape) -> tuple[Tensor, Shape]:
    """The index itself, or several as the rows of one, and their dimensions."""
    for dim, index in picks:
        if index.dtype is dtypes.bool_:
            _check_mask(index._data.shape, shape, dim)
    if len(picks) == 1:
        return picks[0][1], (picks[0][0],)
    arrays: list[Any] = []
    dims: list[int] = []
    for dim, index in picks:
        mask = index.dtype is dtypes.bool_
        parts = index._data.nonzero() if mask else [index._data]
        arrays += parts
        dims += range(dim, dim + len(parts))
    try:
        return wrap(np.stack(np.broadcast_arrays(*arrays))), tuple(dims)
    except ValueError:
        shapes = ", ".join(str(list(array.shape)) for array in arrays)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {shapes}"
        ) from None


def _item(item: Any) -> Any:
    """One item as an int, a bool, a slice, None, Ellipsis, or a tensor with dimensions."""
    if item is None or item is Ellipsis or isinstance(item, (int, slice)):
        return item
    if isinstance(item, (list, tuple, range, np.ndarray)):
        array = np.asarray(item)
        item = wrap(array if array.size else array.astype(np.int64))
    if isinstance(item, Tensor):
        return _index_tensor(item)
    if hasattr(item, "__index__"):
        return item.__index__()
    if isinstance(item, str):
        raise TypeError("new(): invalid data type 'str'")
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "
        f"are valid indices (got {errors.type_name(item)})"
    )


def _index_tensor(index: Tensor) -> Any:
    kind = index._data.dtype
    if kind == np.uint8:  # the masks of old
        index = wrap(index._data.astype(bool))
    elif kind not in (np.int64, np.int32, np.bool_):
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    return index if index.ndim else index.item()


def _consumes(item: Any) -> int:
    """How many dimensions of the tensor an item uses up."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    mask = isinstance(item, Tensor) and item.dtype is dtypes.bool_
    return item.ndim if mask else 1


def _check_bounds(index: int, place: int, size: int) -> None:
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for dimension {place} with size {size}")


def _check_mask(mask: Shape, shape: Shape, dim: int) -> None:
    for k, n in enumerate(mask):
        if n != shape[dim + k]:
            raise IndexError(
                f"The shape of the mask {list(mask)} at index {k} does not match the "
                f"shape of the indexed tensor {list(shape)} at index {dim + k}"
            )


def _slice(item: slice, size: int) -> slice:
    start, stop, step = item.indices(size)
    if step < 0:
        raise ValueError("step must be greater than zero")
    end = None if item.stop is None or stop == size else stop
    return slice(start or None, end, None if step == 1 else step)


def _narrows(key: tuple[Any, ...]) -> bool:
    return any(part not in (..., slice(None)) for part in key)


def _view(x: Tensor, key: tuple[Any, ...], last: str) -> Tensor:
    if last != "Unsqueeze":
        return VIEWS[last](x, key)
    inner = tuple(part for part in key if part is not None)
    view = table.slice_(x, inner) if _narrows(inner) else x
    return table.unsqueeze(view, np.asarray(x._data)[key].shape)


def _too_many(index: Any, shape: Shape) -> IndexError:
    if not shape and isinstance(index, slice):
        return IndexError("slice() cannot be applied to a 0-dim tensor.")
    if not shape and isinstance(index, int):
        return IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
        )
    return IndexError(f"too many indices for tensor of dimension {len(shape)}")


def _out_of_bounds(error: Exception, dims: Shape) -> Exception:
    """PyTorch's words for what numpy says of an index array."""
    found = re.search(r"index (-?\d+) .* axis (\d+) with size (\d+)", str(error))
    if found is None:
        return error
    index, axis, size = map(int, found.groups())
    if not size:
        return IndexError("index is out of bounds for dimension with size 0")
    return IndexError(f"index {index} is out of bounds for dimension {dims.index(axis)} with size {size}")


def _value(value: Any, like: Tensor) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if not isinstance(value, (int, float, np.generic)):
        raise TypeError(f"can't assign a {errors.type_name(value)} to a {like.type()}")
    return wrap(np.asarray(dtypes.cast(value, like.dtype)))


def _cast(x: Tensor, like: Tensor) -> Tensor:
    return x if x.dtype is like.dtype else x.to(like.dtype)


def _without_leading_ones(x: Tensor) -> Tensor:
    shape = x._data.shape
    while shape[:1] == (1,):
        shape = shape[1:]
    return x if shape == x._data.shape else table.reshape(x, shape)


# ------------------------------------------------------------------- gather and scatter


def _check_index(name: str, input: Tensor, dim: int, index: Tensor, src: Tensor | None = None) -> int:
    """`dim` counted from the left; raises unless the index fits the tensors."""
    where = check_dim(dim, input.ndim)
    if index._data.dtype not in (np.int64, np.int32) and index.numel():
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    pairs = [("input" if name == "gather" else "self", input)]
    if src is not None:
        pairs.append(("src", src))
        _same_type("scatter(): Expected self.dtype to be equal to src.dtype", input, src)
    for other, x in pairs:
        if max(x.ndim, 1) != max(index.ndim, 1):
            raise RuntimeError(f"Index tensor must have the same number of dimensions as {other} tensor")
    _check_sizes(input, where, index, src)
    size = input.shape[where] if input.ndim else 1
    wrong = index._data[(index._data < 0) | (index._data >= size)]
    if wrong.size:
        raise RuntimeError(f"index {wrong[0]} is out of bounds for dimension {where} with size {size}")
    return where


def _check_sizes(x: Tensor, dim: int, index: Tensor, src: Tensor | None) -> None:
    room = [n for d, n in enumerate(x.shape) if d != dim]
    asked = [n for d, n in enumerate(index.shape) if d != dim]
    beyond = [d for d, (n, m) in enumerate(zip(asked, room)) if n > m]
    rest = f"{list(index.shape)} to be no larger than self {list(x.shape)} apart from dimension {dim}"
    if src is None and beyond:
        at = beyond[0] + (beyond[0] >= dim)
        raise RuntimeError(f"Size does not match at dimension {at} expected index {rest}")
    if src is not None and (beyond or any(n > m for n, m in zip(index.shape, src.shape))):
        raise RuntimeError(f"Expected index {rest} and to be no larger size than src {list(src.shape)}")


def _same_type(sentence: str, x: Tensor, y: Tensor) -> None:
    if x._data.dtype != y._data.dtype:
        raise RuntimeError(sentence)


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
    if input.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of "
            f"dimensions, but got {input.ndim} dimensions for input, and "
            f"{indices.ndim} dimensions for indices"
        )
    x, places = list(input.shape), list(indices.shape)
    n, m = x[where], places[where]
    x[where] = places[where] = 1
    wide = list(errors.broadcast_shapes(tuple(x), tuple(places)))
    x, places = wide.copy(), wide
    x[where], places[where] = n, m
    return gather(expand(input, x), where, expand(indices, places))


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


def _check_vector(name: str, input: Tensor, dim: int, index: Any) -> int:
    """`dim` counted from the left; raises unless index is a vector of integers."""
    where = check_dim(dim, input.ndim)
    if not isinstance(index, Tensor):
        raise errors.must_be_tensor(name, "index", 2, index)
    if index.ndim > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector")
    if index._data.dtype not in (np.int64, np.int32):
        raise RuntimeError(f"{name}(): Expected dtype int32 or int64 for index")
    size = input.shape[where] if input.ndim else 1
    wrong = index._data[(index._data < 0) | (index._data >= size)]
    if wrong.size and name == "index_select":
        raise IndexError("index out of range in self")
    if wrong.size:
        raise RuntimeError(f"index {wrong.flat[0]} is out of bounds for dimension {where} with size {size}")
    return where


@public
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices along `dim` that `index` names.

    >>> torch.tensor([[1, 2], [3, 4]]).index_select(0, torch.tensor([1, 1]))
    tensor([[3, 4],
            [3, 4]])
    """
    where = _check_vector("index_select", input, dim, index)
    return table.index_select(input, index, (where,))


@public
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    """A copy of input with alpha times the slices of `source` added at `index` along `dim`.

    RuntimeError unless source has input's type, a slice for each index, and input's shape else.
    """
    where = _check_vector("index_add", input, dim, index)
    _same_type(
        f"index_add_(): self ({input.dtype.tensor_name}) and source "
        f"({source.dtype.tensor_name}) must have the same scalar type",
        input,
        source,
    )
    ours, theirs = list(input.shape), list(source.shape)
    number = theirs[where] if theirs else 1
    if number != index.numel():
        raise RuntimeError(
            f"index_add_(): Number of indices ({index.numel()}) should be equal to "
            f"source.size(dim): ({number}), for dim: {where}"
        )
    if ours[:where] + ours[where + 1 :] != theirs[:where] + theirs[where + 1 :]:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified "
            f"dimension. Got self.shape = {ours} source.shape = {theirs}"
        )
    scaled = source if alpha == 1 else source * alpha
    if not ours:
        return table.index_add(input.reshape(1), index, scaled.reshape(1), (0,)).reshape(())
    return table.index_add(input, index, scaled, (where,))


# ------------------------------------------------------------------- by mask


@public
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """A copy with `value`, a number or a tensor of one, where the mask holds."""
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError(f"masked_fill_ only supports boolean masks, but got mask with dtype {mask.dtype.c_name}")
    if isinstance(value, Tensor) and value.ndim:
        raise RuntimeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.ndim} dimension(s)."
        )
    errors.broadcast_shapes(mask._data.shape, input._data.shape)
    return table.masked_fill(input, _cast(_value(value, input), input), mask)


@public
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where the mask holds, in one dimension."""
    if mask.dtype is not dtypes.bool_:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = errors.broadcast_shapes(mask._data.shape, input._data.shape)
    x = input if input.shape == shape else expand(input, shape)
    where = mask if mask.shape == shape else expand(mask, shape)
    return table.masked_select(x, where, (0,))


@public
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The indices of the elements that are not 0: a row for each, or a tensor for each dimension."""
    if as_tuple:
        return tuple(map(wrap, np.atleast_1d(input._data).nonzero()))
    return wrap(np.argwhere(input._data))


attach(__getitem__, __setitem__, __delitem__, gather, take_along_dim, scatter)
attach(scatter_add, index_select, index_add, masked_fill, masked_select, nonzero)
attach(*in_place(scatter, scatter_add, index_add, masked_fill))
