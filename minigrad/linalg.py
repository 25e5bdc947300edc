"""Linear algebra: determinants, inverses, solutions, norms (`torch.linalg`).

All of it works on the last two dimensions; what comes before is a batch. The forward code is numpy's.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import errors, kernels
from minigrad import more_derivatives as more
from minigrad.public import accepting_out, as_one_node, told
from minigrad.reductions import vector_norm
from minigrad.tensor import Tensor, wrap
from minigrad.versions import noticing

__all__ = ["det", "inv", "norm", "solve", "vector_norm"]


def _matrices(name: str, x: Tensor) -> None:
    """RuntimeError unless x is a matrix, or a batch of them, of floats."""
    _two_dimensions(name, x)
    _floats(name, x)


def _two_dimensions(name: str, x: Tensor) -> None:
    if not isinstance(x, Tensor):
        raise errors.must_be_tensor(name, "A", 1, x)
    if x._data.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")


# What PyTorch says of halves: the kernel that does not know them, else that they are too coarse.
KERNELS = {"linalg.det": "lu_cpu", "linalg.solve": "lu_cpu", "linalg.cholesky": "cholesky_cpu",
           "linalg.eigh": "linalg_eigh_cpu", "linalg.svd": "linalg_svd_cpu", "linalg.qr": "geqrf_cpu"}  # fmt: skip


def _floats(name: str, x: Tensor) -> None:
    if x._data.dtype.char == "e" and name in KERNELS:
        raise errors.not_implemented(KERNELS[name], "Half")
    if x._data.dtype.char == "e" and name in ("linalg.inv", "linalg.slogdet"):
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got Half")
    if x._data.dtype.kind != "f" and name == "linalg.eigh":
        raise errors.not_implemented(KERNELS[name], x.dtype.tensor_name)
    if x._data.dtype.kind != "f":
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {x.dtype.tensor_name}")


def _square(name: str, x: Tensor) -> None:
    _two_dimensions(name, x)
    if x._data.shape[-1] != x._data.shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {x._data.shape[-2]} by {x._data.shape[-1]} "
            "matrices"
        )
    _floats(name, x)


def det(A: Tensor) -> Tensor:
    """The determinant; its gradient is that of the cofactors, also for singular matrices."""
    _square("linalg.det", A)
    if not A.requires_grad or (np.all(kernels.det(A._data)) and np.all(np.linalg.det(A._data.mT))):
        return more.det(A)  # the second is 0 where `solve`, which its rule uses, would give up
    return _cofactor_det(A)


def _cofactor_det(x: Tensor) -> Tensor:
    """Laplace's expansion along the first row: slow, but differentiable where the matrix is singular."""
    n = x._data.shape[-1]
    if n == 0:
        return wrap(np.ones(x._data.shape[:-2], x._data.dtype))
    if n == 1:
        return x.reshape(x._data.shape[:-2])
    if n > 6:
        raise NotImplementedError("linalg.det: minigrad has no gradient for singular matrices larger than 6 x 6")
    total: Any = None
    rest = x[..., 1:, :]
    for j in range(n):
        kept = [k for k in range(n) if k != j]
        term = x[..., 0, j] * _cofactor_det(rest[..., kept]) * (-1) ** j
        total = term if total is None else total + term
    return total


def inv(A: Tensor) -> Tensor:
    """The inverse; LinAlgError for a singular matrix."""
    _square("linalg.inv", A)
    return more.inv(A)


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """X with A X = B (or X A = B with left=False); B may be a vector."""
    _square("linalg.solve", A)
    if A._data.dtype != B._data.dtype:
        raise RuntimeError(
            "linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{A.dtype.tensor_name} and B of type {B.dtype.tensor_name} instead"
        )
    if not left:
        return solve(A.mT, B.mT).mT
    vector = B._data.ndim == 1 or (B._data.ndim == A._data.ndim - 1 and B._data.shape == A._data.shape[:-1])
    right = B.unsqueeze(-1) if vector else B
    if right._data.shape[-2] != A._data.shape[-1]:
        sizes = " and ".join("x".join(map(str, x._data.shape[-2:])) for x in (A, right))
        raise RuntimeError(f"linalg.solve: Incompatible shapes of A and B for the equation AX = B ({sizes})")
    out = more.solve(A, right)
    if vector:
        out = as_one_node(out.squeeze(-1), "LinalgSolveExBackward0")
        noticing(out, out)
    return out




def norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Of vectors (one dimension, or `ord=None`) the p-norm, of matrices the matrix norm `ord`."""
    if dim is not None and not isinstance(dim, int) and len(dim) not in (1, 2) and ord is not None:
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    if isinstance(ord, str):
        return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if (
        ord is None
        or isinstance(dim, int)
        or (dim is None and A._data.ndim == 1)
        or (dim is not None and len(dim) == 1)
    ):
        return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)
    if dim is None and A._data.ndim != 2:
        raise RuntimeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A._data.ndim}D."
        )
    return matrix_norm(A, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)


def matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The norm of matrices: "fro", 1, inf and their negatives."""
    _matrices("linalg.matrix_norm", A)
    given = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(given) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, given))}")
    x = A if dtype is None else A.to(dtype)
    rows, columns = (errors.check_dim(d, x._data.ndim) for d in given)
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({rows}, {columns})")
    if ord == "fro":
        return vector_norm(x, 2, (rows, columns), keepdim)
    if ord not in (1, -1, math.inf, -math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    along, over = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = vector_norm(x, 1, along, True)
    if not keepdim:
        sums, over = sums.squeeze(along), over - (along < over)
    return sums.amax(over, keepdim) if ord > 0 else sums.amin(over, keepdim)


# --------------------------------------------------------------------------------------- with a report, and in two parts


for _name in __all__:
    globals()[_name] = told(accepting_out(globals()[_name]), f"linalg_{_name}")


def __getattr__(name: str) -> Any:
    from minigrad.settings import missing

    raise missing(name, __name__)
