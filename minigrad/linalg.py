"""Linear algebra: determinants, inverses, solutions, norms (`torch.linalg`).

Matrices are the last two dimensions; those before are a batch.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad.errors import check_dim, namespace
from minigrad.kernels import LinAlgError as LinAlgError
from minigrad.operation import public
from minigrad.ops.reductions import vector_norm as vector_norm
from minigrad.tensor import Tensor

Dims = int | tuple[int, ...]


def _check_floats(name: str, x: Tensor) -> None:
    if not x.dtype.is_floating_point:
        raise RuntimeError(
            f"linalg.{name}: Expected a floating point or complex tensor as input. Got {x.dtype.tensor_name}"
        )


def _check_square(name: str, x: Tensor) -> None:
    if x.ndim < 2:
        raise RuntimeError(f"linalg.{name}: The input tensor A must have at least 2 dimensions.")
    rows, columns = x.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"linalg.{name}: A must be batches of square matrices, but they are {rows} by {columns} matrices"
        )
    _check_floats(name, x)


@public
def det(A: Tensor) -> Tensor:
    """The determinant of square matrices."""
    _check_square("det", A)
    if A.requires_grad and not _invertible(A._data):
        return _by_cofactors(A)
    return table.det(A)


def _invertible(array: Any) -> bool:
    try:
        np.linalg.inv(array)
    except np.linalg.LinAlgError:
        return False
    return True


def _by_cofactors(x: Tensor) -> Tensor:
    """Laplace's expansion: slow, but its derivative needs no inverse."""
    n = x.shape[-1]
    if n == 1:
        return x[..., 0, 0]
    total: Any = 0
    for j in range(n):
        others = [k for k in range(n) if k != j]
        minor = _by_cofactors(x[..., 1:, others])
        total = total + (-1) ** j * x[..., 0, j] * minor
    return total


@public
def inv(A: Tensor) -> Tensor:
    """The inverse of square matrices; LinAlgError if one is singular."""
    _check_square("inv", A)
    return table.inv(A)


@public
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """X with A X = B, or X A = B with left=False; B may be a vector.

    LinAlgError if A is singular.
    """
    _check_square("solve", A)
    if A.dtype is not B.dtype:
        raise RuntimeError(
            "linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{A.dtype.tensor_name} and B of type {B.dtype.tensor_name} instead"
        )
    if not left:
        return solve(A.mT, B.mT).mT
    vector = B.ndim == 1 or B.shape == A.shape[:-1]
    rows = B.shape[-1 if vector else -2]
    if rows != A.shape[-1]:
        columns = 1 if vector else B.shape[-1]
        raise RuntimeError(
            "linalg.solve: Incompatible shapes of A and B for the equation AX = B "
            f"({A.shape[-1]}x{A.shape[-1]} and {rows}x{columns})"
        )
    return (table.solve_vector if vector else table.solve)(A, B)


@public
def norm(
    A: Tensor,
    ord: Any = None,
    dim: Dims | None = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """The norm of vectors, or of matrices where `dim` has two dimensions or A is one.

    `ord` None is the root of the sum of squares. Of matrices it may be "fro", the same,
    1 or -1 (the largest or smallest sum of a column) and inf or -inf (of a row).
    """
    dims = (dim,) if isinstance(dim, int) else dim
    if dims is not None and len(dims) not in (1, 2):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    if ord is None or (len(dims) if dims else A.ndim) == 1:
        return vector_norm(A, 2 if ord is None else ord, dims, keepdim, dtype=dtype)
    if dims is None and A.ndim != 2:
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.ndim}D."
        )
    rows, columns = (check_dim(d, A.ndim) for d in dims or (0, 1))
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim, dtype=dtype)
    if ord in ("nuc", 2, -2):
        raise NotImplementedError(f"linalg.norm: minigrad leaves out the order {ord!r}")
    if ord not in (1, -1, math.inf, -math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    inner, outer = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = vector_norm(A, 1, inner, keepdim, dtype=dtype)
    if not keepdim and outer > inner:
        outer -= 1
    return sums.amax(outer, keepdim) if ord > 0 else sums.amin(outer, keepdim)


namespace(__name__, "vector_norm")
