"""Diagonals of matrices: taken out, put in, summed, and what lies above or below one."""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import numpy as np

from minigrad import dtypes
from minigrad import more_derivatives as more
from minigrad.errors import check_dim
from minigrad.joining import atleast_2d, cat
from minigrad.public import as_one_node, function, register
from minigrad.shapes import ravel
from minigrad.tensor import Tensor, wrap


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
    size = input._data.shape[-1] + abs(offset)
    shape = list(input._data.shape[:-1])
    for d in sorted((i, j)):
        shape.insert(d, size)
    return more.diag_embed(input, tuple(shape), offset, i, j)


@function
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """All elements as the diagonal of a matrix."""
    return diag_embed(ravel(input), offset)


def block_diag(*tensors: Tensor) -> Tensor:
    """Matrices along the diagonal of a larger one."""
    if not tensors:
        return wrap(np.zeros((1, 0), dtypes.default_numpy()))
    given = [atleast_2d(x) for x in tensors]
    width = sum(x._data.shape[1] for x in given)
    rows, start = [], 0
    for x in given:
        n = x._data.shape[1]
        rows.append(more.pad(x, ((0, 0), (start, width - start - n)), 0.0))
        start += n
    return as_one_node(cat(rows, 0), "BlockDiagBackward0")


register(block_diag, "block_diag", method=False)


@function
def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix."""
    if input._data.ndim != 2:
        raise RuntimeError("trace: expected a matrix, but got tensor with dim " + str(input._data.ndim))
    return more.trace(input)


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
