"""One tensor as several, and parts of it along a dimension: all of them views."""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad import errors
from minigrad.errors import check_dim
from minigrad.public import function
from minigrad.tensor import Tensor


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
    if isinstance(split_size_or_sections, (bool, float, str, np.generic)):
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
        if sum(sizes) == size and min(sizes, default=0) < 0:
            raise RuntimeError(
                f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={sizes}"
            )
        if sum(sizes) != size or any(n < 0 for n in sizes):
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
    return _pieces(tensor, [min(step, size - s) for s in starts] if size else [0], where)


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
    step = -(-size // int(chunks))
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
        bounds = [(i * (size // given) + min(i, size % given)) for i in range(given + 1)]
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
