"""Parts of a tensor: `x[...]` in all its forms, gather and scatter, selections by index and by mask.

An index of integers and slices gives a view; index arrays and masks give a copy. Where an index repeats, gradients
of its copies add up.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad import dtypes, errors, gathering, indexing, inplace
from minigrad import more_derivatives as more
from minigrad.errors import check_dim
from minigrad.public import (
    FUNCTIONS,
    accepting_out,
    as_one_node,
    converted,
    function,
    in_place,
    index_array,
    owned,
    plain,
    raw,
    register,
    wrapped,
)
from minigrad.tape import mode
from minigrad.tensor import Tensor, method, wrap
from minigrad.versions import noticing

VIEWS = {
    "Select": table.select,
    "Slice": table.slice_,
    "Unsqueeze": table.unsqueeze,
    "Alias": table.narrowed_alias,
    "Index": table.slice_,
}


@method
def __getitem__(self: Tensor, index: Any) -> Tensor:
    if type(index) is int and (shape := self._data.shape) and -shape[0] <= index < shape[0]:
        return table.select(self, (index, Ellipsis))
    parsed = indexing.parse(index, self._data.shape)
    if parsed.advanced is None:
        if parsed.name == "Unsqueeze":
            part = _part(self, tuple(key for key in parsed.basic if key is not None))
            return table.unsqueeze(part, np.asarray(self._data)[parsed.basic].shape)
        return VIEWS[parsed.name](self, parsed.basic)
    return noticing(table.pick(_part(self, parsed.basic), parsed.advanced), *_tensors_of(index))


def _part(x: Tensor, basic: tuple[Any, ...], name: str = "Slice") -> Tensor:
    """The view that `basic` selects; x itself when that is all of it."""
    if builtins.all(k is Ellipsis or (isinstance(k, slice) and k == slice(None)) for k in basic):
        return x
    return VIEWS[name](x, basic)


def _tensors_of(index: Any) -> list[Tensor]:
    """The tensors among the parts of an index."""
    return [i for i in (index if isinstance(index, (tuple, list)) else (index,)) if isinstance(i, Tensor)]


@method
def __delitem__(self: Tensor, index: Any) -> None:
    raise TypeError("Tensor does not support deleting items")


@method
def __setitem__(self: Tensor, index: Any, value: Any) -> None:
    source = value if isinstance(value, Tensor) else wrap(np.asarray(_number(value, self)))
    if type(index) is not int and indexing.picks(index, self._data.ndim):
        inplace.check_history(self)
    parsed = indexing.parse(index, self._data.shape)
    whole = self._writable()[parsed.basic] if parsed.advanced is None else None
    target = whole.shape if whole is not None else np.shape(self._data[parsed.basic][parsed.advanced])
    fitting = indexing.check_value(source._data.shape, target, parsed.advanced is not None, source.dtype.tensor_name)
    filled = (parsed.is_mask and source._data.size == 1) or isinstance(index, bool)  # no index_put in PyTorch
    items = [raw(item) for item in (index if isinstance(index, tuple) else (index,))] if filled else []
    if builtins.any(np.ndim(item) and getattr(item, "dtype", None) == np.uint8 for item in items):
        raise RuntimeError("masked_fill_ only supports boolean masks, but got mask with dtype unsigned char")
    if parsed.advanced is not None and not filled:
        given = index if isinstance(index, tuple) else (index,)
        inplace.check_apart(_part(self, parsed.basic), source._data, *(getattr(i, "_data", None) for i in given))
    if parsed.advanced is not None and not filled:
        _check_types(self, source)
    if source._data.shape != fitting:
        source = table.reshape(source, fitting)
    recorded = self._node is not None or self._view is not None or (source._node is not None and mode.record is not None)
    name = "Slice" if parsed.name == "Unsqueeze" else parsed.name
    if parsed.advanced is None:
        seen = wrap(whole)
        seen._counter = self._counter
        inplace.check_writable(_part(self, parsed.basic, name) if recorded else seen)
        if source._data.shape == target:
            inplace.check_overlap(seen, (source,))
    else:
        inplace.check_history(self)
        inplace.warn_if_stretched(self, "masked_fill" if _is_mask(index) and not source._data.ndim else "index_put")
    if not recorded:
        array = dtypes.cast(source._data, self.dtype)
        if whole is not None:
            whole[...] = array
        else:
            self._writable()[parsed.basic][parsed.advanced] = array
        inplace.unrecorded(self._counter)
        return
    if parsed.advanced is None:
        inplace.copy(_part(self, parsed.basic, name), more.copied, _cast(source, self))
    else:
        view = _part(self, parsed.basic)
        put_in = lambda *given: noticing(more.index_put(*given), *_tensors_of(index))
        inplace.overwrite(view, put_in, _cast(source, view), parsed.advanced, False)


def _check_types(target: Tensor, source: Tensor) -> None:
    if source._data.dtype != target._data.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{target.dtype.tensor_name} for the destination and {source.dtype.tensor_name} for the source."
        )


def _fills(indices: Any, values: Tensor, accumulate: bool) -> bool:
    """Whether PyTorch makes a masked_fill of an index_put."""
    return not accumulate and values._data.size == 1 and all(map(_is_mask, indices))


def _is_mask(index: Any) -> bool:
    return isinstance(index, Tensor) and index._data.dtype.kind in "b"


def _number(value: Any, like: Tensor) -> Any:
    if not isinstance(value, (bool, int, float, np.generic)):
        raise TypeError(f"can't assign a {errors.type_name(value)} to a {like.type()}")
    return dtypes.cast(dtypes.fitting(plain(value), dtypes.before_half(like.dtype)), like.dtype)


def _cast(source: Tensor, like: Tensor) -> Tensor:
    return source if source._data.dtype == like._data.dtype else converted(source, like.dtype)


# ------------------------------------------------------------------------------------------- gather and scatter


def _checked_index(name: str, input: Tensor, dim: int, index: Any, source: Any = None) -> Any:
    """The index as an array, checked against the shapes; IndexError or RuntimeError as in PyTorch."""
    wrong_type = index._data.dtype.kind != "i" or index._data.dtype.itemsize < 4
    if wrong_type and (index._data.size or index._data.dtype.kind == "f"):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    array = np.asarray(index._data, np.int64)
    x, reads = input._data, name == "gather"
    if source is not None and not array.ndim:
        array = array.reshape(1)
    if array.size:
        held, asked = x.shape or (1,), array.shape or (1,)
        given = asked if source is None else source.shape or (1,)
        for shape, other in ((held, "input" if reads else "self"), (given, "src")):
            if len(shape) != len(asked):
                raise RuntimeError(f"Index tensor must have the same number of dimensions as {other} tensor")
        size = held[dim]
        for d, n in enumerate(asked):
            if (d != dim and n > held[d]) or n > given[d]:
                words = f"Size does not match at dimension {d} expected" if reads else "Expected"
                raise RuntimeError(
                    f"{words} index {list(index._data.shape)} to be no larger than self "
                    f"{list(x.shape)} apart from dimension {dim}"
                    + (f" and to be no larger size than src {list(source.shape)}" if source is not None else "")
                )
        wrong = (array < 0) | (array >= size)
        if wrong.any():
            raise RuntimeError(f"index {array[wrong].flat[0]} is out of bounds for dimension {dim} with size {size}")
    return array


@function
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """out[i][j] = input[index[i][j]][j] for dim 0: one element of each row for each entry of `index`.

    >>> torch.tensor([[1, 2], [3, 4]]).gather(1, torch.tensor([[1], [0]]))
    tensor([[2],
            [3]])
    """
    where = check_dim(dim, input._data.ndim)
    return more.gather(input, wrap(_checked_index("gather", input, where, index)), where)


@function
def take_along_dim(input: Tensor, indices: Tensor, dim: Any = None) -> Tensor:
    """As `gather`, with broadcasting; `dim=None` flattens both.

    With a `dim`, `indices` are int64, of as many dimensions as input.  RuntimeError for others and for one that is out
    of bounds.
    """
    if dim is None:
        return gather(input.reshape(-1), 0, indices.reshape(-1))
    where = check_dim(dim, input._data.ndim)
    if input._data.ndim != indices._data.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{input._data.ndim} dimensions for input, and {indices._data.ndim} dimensions for indices"
        )
    if indices._data.dtype != np.int64:
        raise RuntimeError(f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype.tensor_name}")
    shapes = [tuple(1 if d == where else n for d, n in enumerate(t._data.shape)) for t in (input, indices)]
    common = errors.broadcast_shapes(*shapes)
    x = input.expand(tuple(input._data.shape[where] if d == where else n for d, n in enumerate(common)))
    places = np.broadcast_to(
        index_array(indices), tuple(indices._data.shape[where] if d == where else n for d, n in enumerate(common))
    )
    return more.gather(x, wrap(places), where)


@function(inplace=True)
def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: Any = None
) -> Tensor:
    """A copy of input with `src` (a tensor or a number) written at `index` along `dim`."""
    source = value if src is None else src
    where = check_dim(dim, input._data.ndim)
    array = _checked_index("scatter", input, where, index, raw(source) if isinstance(source, Tensor) else None)
    one = not isinstance(source, Tensor)
    if one:
        source = wrap(np.full(array.shape, dtypes.fitting(plain(source), input.dtype)))
    elif source._data.dtype != input._data.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if reduce is not None:
        if reduce not in ("add", "multiply"):
            raise RuntimeError("reduce argument must be either add or multiply.")
        return scatter_reduce(input, dim, index, source, {"add": "sum", "multiply": "prod"}[reduce])
    out = noticing(more.scatter(input, source, where, array), index)
    return as_one_node(out, "ScatterBackward1") if one else out


@function(inplace=True)
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy of input with `src` added at `index` along `dim`; repeated indices all count."""
    where = check_dim(dim, input._data.ndim)
    if src._data.dtype != input._data.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    out = more.scatter_add(input, src, where, _checked_index("scatter_add", input, where, index, src._data))
    return noticing(out, index) if src.requires_grad else out


@function(inplace=True)
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """Combine `src` into input at `index` by "sum", "mean", "prod", "amax" or "amin"."""
    where = check_dim(dim, input._data.ndim)
    array = _checked_index("scatter_reduce", input, where, index, src._data)
    if src._data.dtype != input._data.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if reduce == "prod":
        return noticing(more.scatter_prod(input, src, where, array, include_self), index)
    if reduce in ("amax", "amin"):
        return noticing(more.scatter_extreme(input, src, where, array, include_self, reduce), index)
    if reduce not in ("sum", "mean"):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    start = input if include_self else wrap(gathering.scatter(np.ones_like(input._data), where, array, 0)) * input
    total = more.scatter_add(start, src, where, array)
    if reduce == "sum":
        return noticing(total, index, input, src, total)
    ones = np.ones(array.shape, input._data.dtype)
    first = np.ones_like(input._data) if include_self else gathering.scatter(np.ones_like(input._data), where, array, 0)
    number = gathering.scatter_add(first, where, array, ones)
    number = wrap(np.maximum(number, 1))
    mean = total / number if input._data.dtype.kind == "f" else total.div(number, rounding_mode="floor")
    return noticing(mean, index, input, src, mean)


# ------------------------------------------------------------------------------------------- by index


def _places(input: Tensor, dim: int, index: Any, name: str) -> tuple[int, Any]:
    where = check_dim(dim, input._data.ndim)
    if not isinstance(index, Tensor):
        raise TypeError(f"{name}(): argument 'index' (position 3) must be Tensor, not {errors.type_name(index)}")
    if index._data.ndim > 1:
        raise IndexError(f"{name}(): Index is supposed to be a vector")
    kind = index.dtype
    if name == "index_fill" and kind is not dtypes.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if name == "index_copy" and kind is not dtypes.int64:
        raise RuntimeError(f"index_copy_(): Expected a long tensor for index, but got {kind.tensor_name}")
    if kind is not dtypes.int64 and kind is not dtypes.int32:
        if name == "index_add":
            raise RuntimeError(f"index_add_(): Expected dtype int32/int64 for index but got: {kind.tensor_name}")
        raise RuntimeError(f"{name}(): Expected dtype int32 or int64 for index")
    array = index_array(index).reshape(-1)
    size = input._data.shape[where] if input._data.ndim else 1
    if name == "index_fill":  # here alone a negative index counts from the end
        outside = (array < -size) | (array >= size)
    else:
        outside = (array < 0) | (array >= size)
    if outside.any():
        raise _out_of_bounds(name, input, where, int(array[outside][0]), size)
    return where, array


def _out_of_bounds(name: str, input: Tensor, dim: int, index: int, size: int) -> Exception:
    """PyTorch's error for the function: its kernels differ in type and words, and for one dimension."""
    words = f"index {index} is out of bounds for dimension {dim} with size {size}"
    if name == "index_fill":
        return IndexError(words)
    if name == "index_copy":
        return IndexError(f"index_copy_(): {words}")
    if name == "index_select" and not size and input._data.ndim > 1:
        return RuntimeError("index_select(): self indexing axis dim should be positive")
    if input._data.ndim < 2 or (name == "index_select" and dim != 1):
        return IndexError("index out of range in self")
    if name != "index_select":
        return RuntimeError(words)
    return RuntimeError(f"INDICES element is out of DATA bounds, id={index} axis_dim={size}")


@function
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices along `dim` that `index` names."""
    where, array = _places(input, dim, index, "index_select")
    if not input._data.ndim:
        if array.size != 1:
            raise RuntimeError(f"index_select(): Index to scalar can have only 1 value, got {array.size} value(s)")
        return owned(table.reshape(more.index_select(input.reshape(1), (array,)), ()))
    return noticing(more.index_select(input, (slice(None),) * where + (array,)), index)


def _check_slices(name: str, input: Tensor, dim: int, index: Any, source: Tensor) -> None:
    """RuntimeError unless source has input's type, one slice for each index, and slices of input's shape."""
    ours, theirs = input._data.shape, source._data.shape
    if source._data.dtype != input._data.dtype:
        raise RuntimeError(
            f"{name}_(): self ({input.dtype.tensor_name}) and source ({source.dtype.tensor_name}) must have the same scalar "
            "type"
        )
    if not theirs and index.size != 1:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if theirs and theirs[dim] != index.size:
        raise RuntimeError(
            f"{name}_(): Number of indices ({index.size}) should be equal to source.size(dim): ({theirs[dim]}), for dim: {dim}"
        )
    if len(ours) != len(theirs) or builtins.any(m != n for d, (m, n) in enumerate(zip(ours, theirs)) if d != dim):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(ours)} source.shape = {list(theirs)}"
        )


def _check_copied_slices(input: Tensor, dim: int, index: Any, source: Tensor) -> None:
    """The same for index_copy, in the words that PyTorch has there; a single number goes for a slice of one."""
    ours, theirs = input._data.shape, source._data.shape
    if not theirs and index.size != 1:
        raise IndexError(f"index_copy_(): When source is scalar, index should have one element (got {index.size})")
    if ours and theirs and len(ours) != len(theirs):
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
            f"dimensionality ({len(theirs)}), destination dimensionality ({len(ours)})"
        )
    if source._data.dtype != input._data.dtype:
        raise RuntimeError(
            f"index_copy_(): self and source expected to have the same dtype, but got (self) {input.dtype.tensor_name} and "
            f"(source) {source.dtype.tensor_name}"
        )
    slices = [tuple(n for d, n in enumerate(shape) if d != dim) for shape in (ours, theirs)]
    if slices[0] != slices[1]:
        into, came = (" ".join(map(str, shape)) for shape in slices)
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{into} at dimension {dim} and source slice shape: {came} at dimension 0."
        )
    if theirs and theirs[dim] != index.size:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.size}) should be equal to source.size(dim) ({theirs[dim]})"
        )


def _changed(recorded: Any, input: Tensor, dim: int, index: Any, source: Tensor, accumulate: bool) -> Tensor:
    """A copy of input with slices replaced, or added to; a tensor without dimensions counts as one element."""
    if not input._data.ndim:
        changed = recorded(input.reshape(1), source.reshape(-1), (index,), accumulate)
        return as_one_node(table.reshape(changed, ()), recorded.operation.node_name)
    return recorded(input, source, (slice(None),) * dim + (index,), accumulate)


@function(inplace=True)
def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    """A copy of input with the slices of `source`, times alpha, added at `index` along `dim`; repeated indices all count.

    RuntimeError unless source has input's type, one slice for each index, and slices of input's shape.
    """
    where, array = _places(input, dim, index, "index_add")
    _check_slices("index_add", input, where, array, source)
    out = _changed(more.index_add, input, where, array, source if alpha == 1 else source * alpha, True)
    return noticing(out, index, source) if source.requires_grad else out


@function(inplace=True)
def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """A copy of input with the slices of `source` written at `index` along `dim`.

    RuntimeError or IndexError unless source has input's type, one slice for each index, and slices of input's shape.
    """
    where, array = _places(input, dim, index, "index_copy")
    _check_copied_slices(input, where, array, source)
    source = source if source._data.ndim else source.reshape(1)
    return noticing(_changed(more.index_copy, input, where, array, source, False), index)


@function(inplace=True)
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A copy of input with one number, also as a tensor without dimensions, everywhere in the slices at `index` along `dim`."""
    where, array = _places(input, dim, index, "index_fill")
    if isinstance(value, Tensor) and value._data.ndim:
        raise RuntimeError(
            f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value._data.ndim} dimension(s)."
        )
    fitted = wrap(np.asarray(dtypes.fitting(plain(value), input.dtype)))
    number = _cast(value, input) if isinstance(value, Tensor) else fitted
    return noticing(_changed(more.index_fill, input, where, np.unique(array), number, False), index)  # each once


@function(inplace=True)
def index_reduce(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """A copy of input with slices of `source` combined into it at `index` by "prod", "mean", "amax" or "amin"."""
    where, array = _places(input, dim, index, "index_reduce")
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    _check_slices("index_reduce", input, where, array, source)
    lines = array.reshape(tuple(-1 if d == where else 1 for d in range(source._data.ndim)))
    everywhere = wrap(np.broadcast_to(lines, source._data.shape).copy())
    out = scatter_reduce(input, where, everywhere, source, reduce, include_self=include_self)
    return noticing(out, index, input, source)


@function
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy of input with input[indices] = values, or += with `accumulate`."""
    parsed = indexing.parse(tuple(indices), input._data.shape)
    if _fills(indices, values, accumulate):
        values = _cast(values, input)
    _check_types(input, values)
    target = np.shape(input._data[parsed.advanced])
    fitting = indexing.check_value(values._data.shape, target, True, values.dtype.tensor_name)
    source = values if values._data.shape == fitting else table.reshape(values, fitting)
    return noticing(more.index_put(input, source, parsed.advanced, accumulate), *_tensors_of(indices))


@method
def index_put_(self: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """Write values at these indices, or add them with `accumulate`."""
    inplace.check_history(self)
    inplace.warn_if_stretched(self, "index_put")
    if not _fills(indices, values, accumulate):
        inplace.check_apart(self, values._data, *map(raw, indices))
    return inplace.overwrite(self, index_put, indices, values, accumulate)


register(index_put_, "index_put_", method=False)


@function
def take(input: Tensor, index: Tensor) -> Tensor:
    """The elements at these positions of the flattened tensor."""
    if index._data.dtype != np.int64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {index.dtype.tensor_name}")
    array = index_array(index)
    size = input._data.size
    if array.size and not size:
        raise IndexError("take(): tried to take from an empty tensor")
    outside = array[(array < -size) | (array >= size)]
    if outside.size:
        raise IndexError(f"out of range: tried to access index {outside[0]} on a tensor of {size} elements.")
    return noticing(more.take(input.reshape(-1), (array,)), index)


@function(inplace=True)
def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """A copy of input with `source` written at these positions of the flattened tensor."""
    if source._data.size != index._data.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source._data.size}, index.numel() = {index._data.size}"
        )
    if source._data.dtype != input._data.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{input.dtype.tensor_name} and source.dtype = {source.dtype.tensor_name}"
        )
    if index._data.size and not input._data.size:
        raise IndexError("put_(): Tried to put elements into an empty tensor")
    changed = more.index_put(input.reshape(-1), source.reshape(index._data.shape), (index_array(index),), accumulate)
    changed = as_one_node(owned(table.reshape(changed, input._data.shape)), "PutBackward0")
    return noticing(changed, index, *([source] if source.requires_grad else []))


# ------------------------------------------------------------------------------------------- by mask


@function
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where the mask holds, in one dimension."""
    if mask._data.dtype.kind != "b":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = errors.broadcast_shapes(tuple(mask._data.shape), tuple(input._data.shape))
    x = input if tuple(input._data.shape) == shape else input.expand(shape)
    where = np.broadcast_to(mask._data, shape)
    return noticing(more.masked_select(x, where.nonzero() if shape else (np.asarray(where),)), mask)


@function(inplace=True)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy of input with the elements of `source`, in order, written where the mask holds."""
    if mask._data.dtype.kind != "b":
        raise RuntimeError(
            f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask.dtype.tensor_name}"
        )
    shape = errors.broadcast_shapes(tuple(input._data.shape), tuple(mask._data.shape))
    x = input if tuple(input._data.shape) == shape else input.expand(shape)
    where = np.broadcast_to(mask._data, shape)
    index = where.nonzero() if shape else (np.asarray(where),)
    count = int(where.sum())
    if source._data.dtype != input._data.dtype:
        names = f"{input.dtype.tensor_name} and {source.dtype.tensor_name}"
        raise RuntimeError(f"masked_scatter: expected self and source to have same dtypes but got{names}")
    if source._data.size < count:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    return noticing(more.masked_scatter(x, source.reshape(-1).narrow(0, 0, count), index, False), mask)


@function
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """The indices of the elements that are not 0: one row each, or one tensor for each dimension."""
    if as_tuple:
        return tuple(wrap(part) for part in np.atleast_1d(input._data).nonzero())
    if not input._data.ndim:
        return wrap(np.zeros((int(bool(input._data)), 0), np.int64))
    return wrap(np.argwhere(input._data))


@function
def argwhere(input: Tensor) -> Tensor:
    """The indices of the elements that are not 0, one row each."""
    return nonzero(input)


def isin(elements: Any, test_elements: Any, *, invert: bool = False, assume_unique: bool = False) -> Tensor:
    """Whether each element is one of `test_elements`."""
    for given in (elements, test_elements):
        if isinstance(given, Tensor) and given.dtype is dtypes.bool_:
            raise RuntimeError("Unsupported input type encountered for isin(): Bool")
    return wrapped(np.asarray(np.isin(raw(elements), raw(test_elements), invert=invert)))


register(accepting_out(isin), "isin", method=False)


def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Positions in the flattened tensor as one index for each dimension."""
    if indices._data.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, tuple, list)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
    if min(sizes, default=0) < 0:
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    if 0 in sizes:
        raise RuntimeError("ZeroDivisionError")
    places = index_array(indices)  # one too large or negative is counted round, as PyTorch does
    steps = [math.prod(sizes[d + 1 :]) for d in range(len(sizes))]
    return tuple(wrapped(places // step % size) for step, size in zip(steps, sizes, strict=True))


register(unravel_index, "unravel_index", method=False)


@method
def fill_diagonal_(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Write a number on the diagonal, of a tall matrix with `wrap` again and again after a row left out."""
    shape = self._data.shape
    if len(shape) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError("all dimensions of input must be of equal length")
    number = self.new_tensor(dtypes.fitting(plain(fill_value), self.dtype))
    period = shape[1] + 1 if wrap and len(shape) == 2 else max(shape)
    for first in range(0, max(shape[0], 1), max(period, 1)):
        diagonal = self.narrow(0, first, builtins.min(period, shape[0] - first)).diagonal()
        for _ in shape[2:]:
            diagonal = diagonal.diagonal()
        inplace.write(diagonal, more.copied, number)
    return self


def _laid_in(input: Tensor, src: Tensor, wanted: tuple[int, ...]) -> Tensor:
    """src in the type of input; RuntimeError unless it has the shape of what it replaces."""
    if src._data.shape != wanted:
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src._data.shape)}, slice size = "
            f"{list(wanted)}"
        )
    return src if src.dtype is input.dtype else converted(src, input.dtype)


@function
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy of input with the slice at `index` along `dim` replaced."""
    where = check_dim(dim, input._data.ndim)
    wanted = FUNCTIONS["select"](input.detach(), dim, index)._data.shape
    return more.select_scatter(input, _laid_in(input, src, wanted), (slice(None),) * where + (index,))


@function
def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Tensor:
    """A copy of input with a slice along `dim` replaced."""
    where = check_dim(dim, input._data.ndim)
    if step < 1:
        raise RuntimeError("slice step must be positive")
    place = (slice(None),) * where + (slice(start, end, step),)
    return more.slice_scatter(input, _laid_in(input, src, input._data[place].shape), place)


@function
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy of input with a diagonal replaced."""
    i, j = check_dim(dim1, input._data.ndim), check_dim(dim2, input._data.ndim)
    wanted = FUNCTIONS["diagonal"](input.detach(), offset, dim1, dim2)._data.shape
    return more.diagonal_scatter(input, _laid_in(input, src, wanted), offset, i, j)


in_place("put", put)
