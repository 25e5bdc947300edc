"""Linear algebra: determinants, inverses, solutions, norms (`torch.linalg`).

Matrices are the last two dimensions; those before are a batch.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

from typing import Any

from minigrad.ops.reductions import vector_norm as vector_norm

from . import derivatives as table
from .errors import check, linalg_floats, namespace
from .kernels import LinAlgError as LinAlgError
from .kernels import inverse
from .operation import public
from .tensor import Tensor

Dims = int | tuple[int, ...]


def _check_square(name: str, x: Tensor) -> None:
    check(x.ndim >= 2, f"linalg.{name}: The input tensor A must have at least 2 dimensions.")
    rows, columns = x.shape[-2:]
    words = f"but they are {rows} by {columns} matrices"
    check(rows == columns, f"linalg.{name}: A must be batches of square matrices, {words}")
    linalg_floats(name, x.dtype)


@public
def det(A: Tensor) -> Tensor:
    """The determinant of square matrices."""
    _check_square("det", A)
    try:
        # which the gradient needs
        inverse(A._data)
    except LinAlgError:
        return _by_cofactors(A)
    return table.det(A)


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
def solve(A: Tensor, B: Tensor) -> Tensor:
    """X with A X = B; B may be a vector.

    LinAlgError if A is singular.
    """
    _check_square("solve", A)
    check(A.dtype is B.dtype, "linalg.solve: Expected A and B to have the same dtype")
    check(B.ndim, "linalg.solve: The input tensor B must have at least 2 dimensions.")
    vector, n = B.ndim == 1 or B.shape == A.shape[:-1], A.shape[-1]
    matrix = B.unsqueeze(-1) if vector else B
    rows, columns = matrix.shape[-2:]
    equation = f"AX = B ({n}x{n} and {rows}x{columns})"
    words = "linalg.solve: Incompatible shapes of A and B for the equation"
    check(n == rows, f"{words} {equation}")
    solved = table.solve(A, matrix)
    return solved.squeeze(-1) if vector else solved


@public
def norm(
    A: Tensor,
    ord: Any = None,
    dim: Dims | None = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """The norm of vectors: `ord` None is the root of the sum of squares. Of matrices only that, "fro"."""
    if ord is None or ord == "fro":
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if A.ndim > 1 and not isinstance(dim, int):
        raise NotImplementedError(f"linalg.norm: minigrad leaves out ord={ord!r} of matrices")
    return vector_norm(A, ord, dim, keepdim, dtype=dtype)


namespace(__name__, "vector_norm")
