"""What stands between the brackets: PyTorch's indexing, translated to numpy's.

PyTorch works in two steps, and so does this file. First every integer, slice, None and `...` is applied: that gives
a *view*. Then the index tensors (or lists, or masks) pick elements of that view: that gives a *copy*. numpy does
both at once, which is why `x[0, :, [0, 1]]` has its dimensions in another order there. `parse` returns both steps,
the name PyTorch's node would have, and raises PyTorch's exceptions.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from minigrad import errors

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]


class Index(NamedTuple):
    """An index in two steps: `basic` for a view, then `advanced` (None when there is none) for a copy."""

    basic: tuple[Any, ...]
    advanced: tuple[Any, ...] | None
    name: str
    is_mask: bool = False  # whether a single mask is all there is to pick with


def parse(index: Any, shape: Shape) -> Index:
    """Translate the index of a tensor of this shape.

    Integers (also 0-d integer arrays), slices, None, Ellipsis, booleans, lists, integer and boolean arrays, and
    tuples of these; anything with `_data` (a tensor) counts as its array. `array[basic]` is always an ndarray view,
    also for a single element. Raises IndexError or TypeError as PyTorch does.
    """
    if isinstance(index, list) and len(index) < 32 and any(map(_makes_a_tuple, index)):
        index = tuple(index)
    items = index if isinstance(index, tuple) else (index,)
    try:
        items = tuple(_plain(item) for item in items)
    except IndexError:
        if sum(_consumes(getattr(item, "_data", item)) for item in items) > len(shape):
            raise _too_many(index, shape) from None
        raise
    consumed = sum(_consumes(item) for item in items)
    if consumed > len(shape):
        raise _too_many(index, shape)
    missing = len(shape) - consumed

    basic: list[Any] = []
    view: list[int] = []  # the shape of the view so far
    picks: dict[int, Array] = {}  # which dimensions of the view are picked from, and the index array
    name = "Alias"
    dim = 0
    for place, item in enumerate(items):
        if item is None or isinstance(item, bool):
            if isinstance(item, bool):
                picks[len(view)] = np.array([item])
            basic.append(None)
            view.append(1)
            name = "Unsqueeze"
        elif item is Ellipsis:
            basic.extend([slice(None)] * missing)
            view.extend(shape[dim : dim + missing])
            dim, missing = dim + missing, 0
        elif isinstance(item, int):
            basic.append(_within(item, place, shape[dim]))
            dim += 1
            name = "Select"
        elif isinstance(item, slice):
            basic.append(_slice(item))
            view.append(len(range(shape[dim])[basic[-1]]))
            dim += 1
            everything = range(shape[dim - 1])[basic[-1]] == range(shape[dim - 1])  # in a tuple PyTorch leaves it out
            if not (everything if isinstance(index, tuple) else basic[-1] == slice(None)):
                name = "Slice"
        else:
            count = _consumes(item)
            picks[len(view)] = item
            basic.extend([slice(None)] * count)
            view.extend(shape[dim : dim + count])
            dim += count
    view.extend(shape[dim:])
    basic.append(Ellipsis)
    if not picks:
        return Index(tuple(basic), None, name)
    is_mask = len(picks) == 1 and all(p.dtype.kind == "b" for p in picks.values()) and True not in map(_is_bool, items)
    return Index(tuple(basic), _advanced(picks, tuple(view)), "Index", is_mask)


def picks(index: Any, ndim: int) -> bool:
    """Whether lists or tensors pick elements, from no more dimensions than there are."""
    items = [getattr(item, "_data", item) for item in (index if isinstance(index, tuple) else (index,))]
    return any(isinstance(i, list) or getattr(i, "ndim", 0) for i in items) and sum(map(_consumes, items)) <= ndim


def _is_bool(item: Any) -> bool:
    return isinstance(item, bool)


def _makes_a_tuple(item: Any) -> bool:
    """Whether a list with this item in it is read as a tuple of indices, as numpy once did."""
    return item is None or item is Ellipsis or isinstance(item, (list, tuple, slice, np.ndarray)) or hasattr(item, "_data")


def _advanced(picks: dict[int, Array], view: Shape) -> tuple[Any, ...]:
    """The numpy index that picks elements of the view; masks become the positions of their True."""
    parts: list[Any] = []
    for position, item in picks.items():
        parts.extend([slice(None)] * (position - len(parts)))
        if item.dtype.kind == "b":
            _check_mask(item, position, view)
            parts.extend(item.nonzero())
        else:
            parts.append(item)
    picked = [(part, view[position]) for position, part in enumerate(parts) if isinstance(part, np.ndarray)]
    _check_broadcast([part for part, _ in picked])
    chosen = np.broadcast_shapes(*(part.shape for part, _ in picked))
    rest = [n for d, n in enumerate(view) if d >= len(parts) or not isinstance(parts[d], np.ndarray)]
    if 0 in (*chosen, *rest) and all(size for _, size in picked):  # nothing is picked, so nothing is checked
        return tuple(np.zeros_like(part) if isinstance(part, np.ndarray) else part for part in parts)
    for ordinal, (part, size) in enumerate(picked):
        _check_range(part, ordinal, size)
    return tuple(parts)


def _too_many(index: Any, shape: Shape) -> IndexError:
    if not shape and isinstance(index, (int, np.integer)):
        if index == 0:
            return IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to "
                "convert a 0-dim tensor to a number"
            )
        return IndexError(f"index {index} is out of bounds for dimension 0 with size 0")
    if not shape and isinstance(index, slice):
        return IndexError("slice() cannot be applied to a 0-dim tensor.")
    return IndexError(f"too many indices for tensor of dimension {len(shape)}")


def check_value(value: Shape, target: Shape, advanced: bool, kind: str) -> Shape:
    """The shape to give a value (of this kind) before numpy writes it into a selection; RuntimeError when it does not fit."""
    while len(value) > len(target) and value[0] == 1:
        value = value[1:]
    lead = len(value) - len(target)
    ok = lead <= 0 and errors.broadcast_mismatch(value, target) is None
    if ok and errors.broadcast_shapes(value, target) == target:
        return value
    if advanced:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value)} cannot be broadcast to indexing result of shape "
            f"{list(target)}"
        )
    if lead > 0:
        raise RuntimeError(
            f"expand(torch.{kind}Tensor{{{list(value)}}}, size={list(target)}): the number of sizes provided "
            f"({len(target)}) must be greater or equal to the number of dimensions in the tensor ({len(value)})"
        )
    for back in range(1, len(value) + 1):
        own, wanted = value[-back], target[-back]
        if own not in (1, wanted):
            where = len(target) - back
            raise RuntimeError(errors.expanded_size(wanted, own, where, target, value))
    raise AssertionError("unreachable: one of the sizes differs")


def _plain(item: Any) -> Any:
    """One item as an int, bool, slice, None, Ellipsis or array."""
    if isinstance(item, (np.bool_, np.floating)):
        raise _no_index(item)
    given, item = item, getattr(item, "_data", item)
    if item is None or item is Ellipsis or isinstance(item, (slice, bool)):
        return item
    if isinstance(item, np.integer):
        is_mask = given is not item and item.dtype == np.uint8  # a tensor of bytes without dimensions
        return bool(item) if is_mask else item.item()
    if isinstance(item, int):
        return item
    if isinstance(item, (list, tuple, range)):
        return _listed(item)
    if isinstance(item, (np.ndarray, np.generic)):
        if given is item and item.dtype.kind == "f":
            item = item.astype(np.int64)  # what is no tensor is made one, of whole numbers
        if item.dtype.kind not in "biu" or item.dtype in (np.int8, np.int16):
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        if item.ndim == 0:
            return bool(item) if item.dtype == np.uint8 else item.item()
        return _mask_of_bytes(item) if item.dtype == np.uint8 else np.asarray(item)
    if hasattr(item, "__index__"):
        return operator.index(item)
    if isinstance(item, str):
        raise TypeError("new(): invalid data type 'str'")
    raise _no_index(item)


def _no_index(item: Any) -> IndexError:
    return IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices "
        f"(got {errors.type_name(item)})"
    )


def _mask_of_bytes(array: Any) -> Any:
    warnings.warn(
        "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.", UserWarning, stacklevel=5
    )
    return array.astype(bool)


def _listed(item: Iterable[Any]) -> Array:
    """A list (perhaps of lists or tensors) as an index array."""
    array = np.array(_values(item))
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind == "f":
        return array.astype(np.int64)
    if array.dtype.kind == "U":
        raise TypeError("new(): invalid data type 'str'")
    if array.dtype.kind not in "biu":
        raise _no_index(item)
    return array


def _values(item: Any) -> Any:
    item = getattr(item, "_data", item)
    return [_values(part) for part in item] if isinstance(item, (list, tuple, range)) else item


def _consumes(item: Any) -> int:
    """How many dimensions of the tensor an item uses up."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, np.ndarray) and item.dtype.kind == "b":
        return item.ndim
    return 1


def _within(index: int, dim: int, size: int) -> int:
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")
    return index


def _slice(item: slice) -> slice:
    parts = [
        None if bound is None else _bound(getattr(bound, "_data", bound))
        for bound in (item.start, item.stop, item.step)
    ]
    step = parts[2]
    if step is not None and step <= 0:
        raise ValueError("step must be greater than zero" if step else "slice step cannot be zero")
    if parts[0] == 0:
        parts[0] = None
    return slice(parts[0], parts[1], None if step == 1 else step)


def _bound(bound: Any) -> int:
    try:
        return operator.index(bound.item() if isinstance(bound, (np.ndarray, np.generic)) else bound)
    except TypeError:
        raise TypeError("slice indices must be integers or None or have an __index__ method") from None


def _check_mask(mask: Array, dim: int, shape: Shape) -> None:
    for k, n in enumerate(mask.shape):
        if dim + k >= len(shape) or n != shape[dim + k]:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {k} does not match the shape of the indexed "
                f"tensor {list(shape)} at index {dim + k}"
            )


def _check_range(index: Array, dim: int, size: int) -> None:
    if not index.size:
        return
    if size == 0:
        raise IndexError("index is out of bounds for dimension with size 0")
    low, high = index.min(), index.max()
    if low < -size or high >= size:
        wrong = index[(index < -size) | (index >= size)].flat[0]
        raise IndexError(f"index {wrong} is out of bounds for dimension {dim} with size {size}")


def _check_broadcast(arrays: list[Array]) -> None:
    try:
        errors.broadcast_shapes(*(array.shape for array in arrays))
    except RuntimeError:
        listed = ", ".join(str(list(array.shape)) for array in arrays)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {listed}"
        ) from None
