"""The same numbers in other places, or several times: copies, for no view can show them so."""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad import errors
from minigrad import more_derivatives as more
from minigrad.errors import check_dim, check_dims
from minigrad.public import FUNCTIONS, as_one_node, function, ints, raw
from minigrad.shapes import ravel, transpose
from minigrad.tensor import Tensor, method, wrap


@function
def flip(input: Tensor, *args: Any, dims: Any = None) -> Tensor:
    """The order of the elements along these dimensions reversed."""
    given = ints(args or (tuple(dims) if isinstance(dims, (tuple, list)) else dims,))
    return more.flip(input, check_dims(given, input._data.ndim) if given else ())


@method
def __reversed__(self: Tensor) -> Tensor:
    """Turned around along the first dimension."""
    turned: Tensor = self.flip(0) if self.ndim else self
    return turned


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
    if i == j or abs(i - j) == input._data.ndim:
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
    index = np.repeat(np.arange(n), np.broadcast_to(times, (n,)))
    return FUNCTIONS["index_select"](x, where, wrap(index))
