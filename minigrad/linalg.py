"""Linear algebra: determinants, inverses, solutions, factorisations, norms (`torch.linalg`).

All of it works on the last two dimensions; what comes before is a batch. The forward code is numpy's.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad import errors, kernels, layout
from minigrad import more_derivatives as more
from minigrad import special_derivatives as rows
from minigrad.joining import cat
from minigrad.kernels import LinAlgError
from minigrad.products import cross as found_cross
from minigrad.products import matmul, matrix_power
from minigrad.public import accepting_out, as_one_node, function, register, return_type, told
from minigrad.reductions import vector_norm
from minigrad.tensor import Tensor, wrap
from minigrad.versions import noticing

importlib.import_module("minigrad.autograd.function")  # what its Functions do once they have run is written there

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]


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


def slogdet(A: Tensor) -> Any:
    """The sign of the determinant and the logarithm of its size."""
    _square("linalg.slogdet", A)
    return return_type("linalg_slogdet")(rows.det_sign(A), rows.log_size(A))


def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant; nan where that is negative."""
    _square("linalg.slogdet", input)
    return table.where(math.nan, rows.log_size(input), np.linalg.slogdet(input._data)[0] < 0)


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


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower triangular L with L L^T = A."""
    _square("linalg.cholesky", A)
    lower = more.cholesky((A + A.mT) / 2 if A.requires_grad else A)
    return lower.mT if upper else lower


def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """Eigenvalues in ascending order and eigenvectors (as columns) of a symmetric matrix.

    Differentiable as long as the eigenvalues are distinct: built from first-order perturbation around the values
    found by numpy.
    """
    _square("linalg.eigh", A)
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    values, vectors = np.linalg.eigh(A._data, "U" if UPLO in "uU" else "L")
    if not A.requires_grad:
        return return_type("linalg_eigh")(wrap(values), wrap(vectors))
    return return_type("linalg_eigh")(*(as_one_node(x, "LinalgEighBackward0") for x in _EighFunction.apply(A, UPLO)))


def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of a symmetric matrix, ascending."""
    return eigh(A, UPLO)[0]


from minigrad.function import Function  # noqa: E402


class _EighFunction(Function):
    """Eigenvalues and eigenvectors of a symmetric matrix."""

    jvp = None  # forward mode goes by the backward

    @staticmethod
    def forward(ctx: Any, x: Tensor, UPLO: str) -> tuple[Tensor, Tensor]:
        ctx.set_materialize_grads(False)
        values, vectors = np.linalg.eigh(x._data, "U" if UPLO in "uU" else "L")
        w, v = wrap(values), wrap(vectors)
        ctx.save_for_backward(w, v)
        return w, v

    @staticmethod
    def backward(ctx: Any, gw: Tensor | None, gv: Tensor | None) -> tuple[Tensor, None]:
        w, v = ctx.saved_tensors
        if gv is None:  # no gap is asked for: equal eigenvalues do no harm
            return (v * gw.unsqueeze(-2)) @ v.mT, None  # type: ignore[union-attr]
        gaps = w.unsqueeze(-2) - w.unsqueeze(-1)
        same = np.eye(w._data.shape[-1], dtype=bool)
        turn = v.mT @ gv
        inner = table.where(0.0, (turn - turn.mT) / (2 * table.where(1.0, gaps, same)), same)
        n = w._data.ndim
        if gw is not None:
            inner = inner + more.put_diagonal(gw, tuple(v._data.shape), 0, n - 1, n)
        return v @ inner @ v.mT, None


class _QrRefused(Function):
    """The QR decompositions that have no gradient: they say so when one is asked for."""

    jvp = None  # forward mode goes by the backward

    @staticmethod
    def forward(ctx: Any, x: Tensor, mode: str) -> tuple[Tensor, Tensor]:
        ctx.mode = mode
        if mode == "r":
            return wrap(np.zeros(0, x._data.dtype)), wrap(np.linalg.qr(x._data, "r"))
        q, r = np.linalg.qr(x._data, "complete")
        return wrap(q), wrap(r)

    @staticmethod
    def backward(ctx: Any, gq: Tensor, gr: Tensor) -> Tensor:
        if ctx.mode == "r":
            raise RuntimeError(
                "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
                "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
            )
        raise RuntimeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")


class _SvdFunction(Function):
    """The reduced singular value decomposition."""

    jvp = None  # forward mode goes by the backward

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        ctx.set_materialize_grads(False)
        u, s, vh = (wrap(part) for part in np.linalg.svd(x._data, full_matrices=False))
        ctx.save_for_backward(u, s, vh)
        return u, s, vh

    @staticmethod
    def backward(ctx: Any, gu: Tensor | None, gs: Tensor | None, gvh: Tensor | None) -> Tensor | None:
        u, s, vh = ctx.saved_tensors
        if gu is None and gvh is None:  # no gap is asked for: equal singular values do no harm
            return None if gs is None else (u * gs.unsqueeze(-2)) @ vh
        gu, gs, gvh = (wrap(np.zeros_like(x._data)) if g is None else g for g, x in zip((gu, gs, gvh), (u, s, vh), strict=True))
        k = s._data.shape[-1]
        same = np.eye(k, dtype=bool)
        squares = s.unsqueeze(-2) ** 2 - s.unsqueeze(-1) ** 2
        gaps = table.where(1.0, squares, same)
        skew_u, skew_v = u.mT @ gu, vh @ gvh.mT
        left = table.where(0.0, (skew_u - skew_u.mT) / gaps, same) * s.unsqueeze(-2)
        right = table.where(0.0, (skew_v - skew_v.mT) / gaps, same) * s.unsqueeze(-1)
        n = gs._data.ndim
        middle = left + right + more.put_diagonal(gs, (*s._data.shape, k), 0, n - 1, n)
        out = u @ middle @ vh
        if u._data.shape[-2] > k:
            out = out + (gu - u @ skew_u) / s.unsqueeze(-2) @ vh
        if vh._data.shape[-1] > k:
            out = out + u @ ((gvh - skew_v.mT @ vh) / s.unsqueeze(-1))
        return out


class _QrFunction(Function):
    """The reduced QR decomposition of a matrix that is at least as high as wide."""

    jvp = None  # forward mode goes by the backward

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> tuple[Tensor, Tensor]:
        q, r = (wrap(part) for part in np.linalg.qr(x._data))
        ctx.save_for_backward(q, r)
        return q, r

    @staticmethod
    def backward(ctx: Any, gq: Tensor, gr: Tensor) -> Tensor:
        q, r = ctx.saved_tensors
        m = r @ gr.mT - gq.mT @ q
        lower = more.tril(m, -1)
        half = more.tril(m, 0) + lower.mT
        return more.solve(r, (gq + q @ half).mT).mT


def svd(A: Tensor, full_matrices: bool = True) -> Any:
    """U, S, Vh with A = U diag(S) Vh."""
    _matrices("linalg.svd", A)
    if not A.requires_grad:
        return return_type("linalg_svd")(*map(wrap, np.linalg.svd(A._data, full_matrices=full_matrices)))
    u, s, vh = (as_one_node(x, "LinalgSvdBackward0") for x in _SvdFunction.apply(A))
    if full_matrices and A._data.shape[-1] != A._data.shape[-2]:  # what is added to U or Vh has no gradient
        count, (more_u, _, more_vh) = s._data.shape[-1], np.linalg.svd(A._data)
        u = cat([u, wrap(more_u[..., count:])], -1)
        vh = cat([vh, wrap(more_vh[..., count:, :])], -2)
    return return_type("linalg_svd")(u, s, vh)


def old_svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """`torch.svd`: U, S and V (not V transposed), reduced if `some`; without `compute_uv`, U and V are zeros."""
    if not compute_uv:
        *batch, rows, columns = input._data.shape
        zeros = (wrap(np.zeros((*batch, n, n), input._data.dtype)) for n in (rows, columns))
        return return_type("svd")(next(zeros), svdvals(input), next(zeros))
    u, s, vh = svd(input, not some)
    return return_type("svd")(u, s, vh.mT)


def svdvals(A: Tensor) -> Tensor:
    """The singular values, descending."""
    return svd(A, full_matrices=False)[1]


def qr(A: Tensor, mode: str = "reduced") -> Any:
    """Q with orthonormal columns and upper triangular R, with Q R = A."""
    _matrices("linalg.qr", A)
    if mode not in ("reduced", "r", "complete"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    rows, columns = A._data.shape[-2:]
    if not A.requires_grad:
        if mode == "r":
            return return_type("linalg_qr")(wrap(np.zeros(0, A._data.dtype)), wrap(np.linalg.qr(A._data, "r")))
        parts = np.linalg.qr(A._data, "complete" if mode == "complete" else "reduced")
        return return_type("linalg_qr")(*map(wrap, parts))
    if mode == "r" or (mode == "complete" and rows > columns):
        return return_type("linalg_qr")(*_QrRefused.apply(A, mode))
    if rows >= columns:
        return return_type("linalg_qr")(*(as_one_node(x, "LinalgQrBackward0") for x in _QrFunction.apply(A)))
    q, r = (as_one_node(x, "LinalgQrBackward0") for x in _QrFunction.apply(A[..., :rows]))
    # of a wide matrix: the left square, and what Q makes of the rest
    return return_type("linalg_qr")(q, cat([r, q.mT @ A[..., rows:]], -1))


def old_qr(input: Tensor, some: bool = True) -> Any:
    """`torch.qr`: Q and R, reduced if `some`."""
    return return_type("qr")(*qr(input, "reduced" if some else "complete"))


def _limit(x: Any, largest: Any, atol: Any, rtol: Any) -> Any:
    """Below this, a singular value counts as 0."""
    absolute = 0.0 if atol is None else getattr(atol, "_data", atol)
    if rtol is None:
        rtol = 0.0 if np.any(absolute > 0) else max(x.shape[-2:]) * np.finfo(x.dtype).eps
    return np.maximum(np.asarray(absolute)[..., None], np.asarray(getattr(rtol, "_data", rtol))[..., None] * largest)


def pinv(A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:  # fmt: skip
    """The pseudo-inverse: singular values below a limit count as 0."""
    if A._data.ndim < 2 or A._data.dtype.char not in "fd":
        raise RuntimeError(
            f"linalg.pinv({A.dtype.tensor_name}{{{list(A._data.shape)}}}): expected a tensor with 2 or more dimensions of "
            "float, double, cfloat or cdouble types"
        )
    rtol = rcond if rtol is None else rtol
    if not A._data.size:
        return A.mT.clone()
    if hermitian:
        w, v = np.linalg.eigh(A._data)
        size, left, right = np.absolute(w), v, v.swapaxes(-1, -2)
    else:
        u, w, vh = np.linalg.svd(A._data, full_matrices=False)
        size, left, right = w, vh.swapaxes(-1, -2), u.swapaxes(-1, -2)
    kept = size > _limit(A._data, size.max(-1, keepdims=True), atol, rtol)
    return rows.pinv(A, (left * np.where(kept, 1 / np.where(kept, w, 1), 0).astype(w.dtype)[..., None, :]) @ right)


def lstsq(A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """The X that makes A X closest to B; the sums of squared residuals where A is high and of full rank."""
    driver = driver or "gelsy"
    if A._data.ndim < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    if A._data.dtype != B._data.dtype:
        raise RuntimeError(
            "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype "
            f"{A.dtype.tensor_name} and other's dtype {B.dtype.tensor_name}"
        )
    if B._data.ndim > 1 and B._data.ndim == A._data.ndim and A._data.shape[-2] != B._data.shape[-2]:
        raise RuntimeError("torch.linalg.lstsq: input.size(-2) should match other.size(-2)")
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    empty = np.zeros(0, A._data.dtype)
    rank = np.linalg.matrix_rank(A._data) if A._data.size else np.zeros(A._data.shape[:-2], np.int64)
    solution = pinv(A) @ B
    high = A._data.shape[-2] > A._data.shape[-1] and np.all(rank == A._data.shape[-1])
    residuals = ((A @ solution - B) ** 2).sum(-2) if high and driver != "gelsy" else wrap(empty)
    values = np.linalg.svd(A._data, compute_uv=False) if driver in ("gelsd", "gelss") else empty
    found = np.zeros(0, np.int64) if driver == "gels" else np.asarray(rank)
    return return_type("linalg_lstsq")(solution, residuals, wrap(found), wrap(values))


def matrix_rank(A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """The number of singular values that are not (nearly) 0."""
    if A._data.ndim < 2:
        raise RuntimeError("torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions.")
    if A._data.dtype.char not in "fd":
        raise RuntimeError("This function doesn't handle types other than float and double")
    if not A._data.size:
        return wrap(np.zeros(A._data.shape[:-2], np.int64))
    s = np.absolute(np.linalg.eigvalsh(A._data)) if hermitian else np.linalg.svd(A._data, compute_uv=False)
    limit = _limit(A._data, s.max(-1, keepdims=True), tol if atol is None else atol, 0.0 if tol is not None else rtol)
    return wrap(np.asarray((s > limit).sum(-1)))


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
    """The norm of matrices: "fro", "nuc", 1, 2, inf and their negatives."""
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
    if ord in ("nuc", 2, -2):
        s = svdvals(x.movedim((rows, columns), (-2, -1)))
        out = s.sum(-1) if ord == "nuc" else s.amax(-1) if ord == 2 else s.amin(-1)
        if keepdim:
            for d in sorted((rows, columns)):
                out = out.unsqueeze(d)
        return out
    if ord not in (1, -1, math.inf, -math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    along, over = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = vector_norm(x, 1, along, True)
    if not keepdim:
        sums, over = sums.squeeze(along), over - (along < over)
    return sums.amax(over, keepdim) if ord > 0 else sums.amin(over, keepdim)


def cond(A: Tensor, p: Any = None) -> Tensor:
    """The condition number: how much an error may grow when a system with A is solved."""
    if A._data.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if not A._data.size:
        return wrap(np.zeros(A._data.shape[:-2], A._data.dtype)[()])
    if p in (None, 2, -2):
        s = svdvals(A)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    _square(f"linalg.cond(ord={p})", A)
    if p not in ("fro", "nuc", 1, -1, math.inf, -math.inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    inverse, info = inv_ex(A)
    found = matrix_norm(A, p) * matrix_norm(inverse, p)
    return table.where(math.inf, found, info._data != 0) if np.any(info._data) else found


def multi_dot(tensors: Any) -> Tensor:
    """The product of a chain of matrices; the first and last may be vectors."""
    tensors, last = list(tensors), len(tensors) - 1
    if last < 1:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {last + 1}")
    for i, x in enumerate(tensors):
        end = {0: "the first tensor", last: "the last tensor"}.get(i)
        if x._data.ndim not in ((1, 2) if end else (2,)):
            what = f"{end} must be 1D or 2D" if end else f"tensor {i} must be 2D"
            raise RuntimeError(f"multi_dot(): {what} but got {x._data.ndim}D")
    for i, x in enumerate(tensors[1:], 1):
        if x._data.dtype != tensors[0]._data.dtype:
            raise RuntimeError(
                f"multi_dot(): all tensors must have be the same dtype but tensor 0 is {tensors[0].dtype.c_name} and tensor "
                f"{i} {x.dtype.c_name}"
            )
        before = tensors[i - 1]._data.shape
        if before[-1] != x._data.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i - 1} and {i} with shapes {list(before)} and {list(x._data.shape)} cannot be "
                "multiplied"
            )
    product = tensors[0]
    for x in tensors[1:]:
        product = matmul(product, x)
    return product


def chain_matmul(*matrices: Tensor) -> Tensor:
    """The product of a chain of matrices."""
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for matrix in matrices:
        if matrix._data.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {matrix._data.ndim}, expected 2 instead.")
    if len(matrices) == 1:
        return matrices[0]
    return as_one_node(multi_dot(matrices), "ViewBackward0")


def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The vector product along a dimension of size 3: the last, unless told otherwise."""
    return found_cross(input, other, dim)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The dot product along one dimension."""
    if x._data.dtype != y._data.dtype:
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type {x.dtype.tensor_name} and y of "
            f"type {y.dtype.tensor_name} instead"
        )
    return (x * y).sum(dim)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of the matrices."""
    return A.diagonal(offset, dim1, dim2)


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse with respect to `tensordot` over `ind` dimensions."""
    n = layout.count(A._data.shape[ind:])
    return inv(A.reshape(layout.count(A._data.shape[:ind]), n)).reshape((*A._data.shape[ind:], *A._data.shape[:ind]))


def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """The powers x ** 0 to x ** (N - 1) as columns."""
    x = x if x._data.ndim else x.reshape(1)
    return x.unsqueeze(-1) ** wrap(np.arange(x._data.shape[-1] if N is None else N))


def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """X with A X = B, using only the upper or lower triangle of A."""
    triangle = more.triu(A, 0) if upper else more.tril(A, 0)
    if unitriangular:
        triangle = triangle - more.put_diagonal(
            triangle.diagonal(0, -2, -1) - 1, A._data.shape, 0, A._data.ndim - 2, A._data.ndim - 1
        )
    return noticing(_solve_matrix(triangle, B, left), A)


def _solve_matrix(A: Tensor, B: Tensor, left: bool = True) -> Tensor:
    """`solve` of a matrix B, which it would take for a batch of vectors where A is a batch."""
    missing = A._data.ndim - B._data.ndim
    return solve(A, B.reshape((*(1,) * missing, *B._data.shape)) if missing > 0 else B, left=left)


def matrix_exp(A: Tensor) -> Tensor:
    """The exponential of a square matrix: Taylor's series of A / 2^s, squared s times."""
    _square("linalg.matrix_exp", A)
    size = float(np.absolute(A._data).sum(-1).max(initial=0.0))
    halvings = max(0, math.ceil(math.log2(size)) + 1) if size > 0 else 0
    x = A / 2**halvings
    eye = wrap(np.broadcast_to(np.eye(A._data.shape[-1], dtype=A._data.dtype), A._data.shape).copy())
    total, term = eye + x, x
    for k in range(2, 19):
        term = term @ x / k
        total = total + term
    for _ in range(halvings):
        total = total @ total
    return noticing(total, A)


def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """X with A X = B, given the Cholesky factor L of A."""
    return noticing(_solve_matrix(_whole(L, upper), B), B, L)


def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """The inverse of A, given its Cholesky factor."""
    return noticing(more.inv(_whole(L, upper)), L)


def _whole(L: Tensor, upper: bool) -> Tensor:
    """A from its Cholesky factor. Only its triangle counts, yet the gradient is that of the whole matrix."""
    lower = L.mT if upper else L
    lower = lower - more.triu(lower.detach(), 1)
    return lower @ lower.mT


def nuclear_norm(input: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """The sum of the singular values."""
    return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim)


# --------------------------------------------------------------------------------------- with a report, and in two parts


def _checked(name: str, info: Any, check: bool, message: str) -> Tensor:
    """`info` as a tensor: 0 for each matrix that went well, else the place where it did not."""
    if check and np.any(info):
        first = int(np.flatnonzero(info)[0])
        batch = f"(Batch element {first}): " if np.ndim(info) else ""
        raise LinAlgError(f"{name}: {batch}{message.format(int(np.asarray(info).reshape(-1)[first]))}")
    return wrap(np.asarray(info, np.int32)[()])


def _failures(A: Tensor, compute: Any) -> Any:
    """For each matrix, 0 if `compute` takes it, else the size of the first leading block that it refuses."""
    batch, n = A._data.shape[:-2], A._data.shape[-1]
    info = np.zeros(batch, np.int32)
    for where in np.ndindex(*batch):
        try:
            compute(A._data[where])
        except np.linalg.LinAlgError:
            info[where] = next(k for k in range(1, n + 1) if _fails(compute, A._data[where][:k, :k]))
    return info


def _fails(compute: Any, x: Any) -> bool:
    try:
        compute(x)
    except np.linalg.LinAlgError:
        return True
    return False


def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """`cholesky`, and for each matrix 0, or which leading minor is not positive-definite."""
    _square("linalg.cholesky", A)
    info = _checked(
        "linalg.cholesky_ex",
        _failures(A, np.linalg.cholesky),
        check_errors,
        "The factorization could not be completed because the input is not positive-definite (the leading minor of order "
        "{} is not positive-definite).",
    )
    lower = A if np.any(info._data) else cholesky(A, upper=upper)
    return return_type("linalg_cholesky_ex")(lower, info)


def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """`inv`, and for each matrix 0, or which diagonal element of its U is 0."""
    _square("linalg.inv", A)
    info = lu_factor_ex(A.detach())[2]
    message = "The diagonal element {} is zero, the inversion could not be completed because the input matrix is singular."
    _checked("linalg.inv_ex", info._data, check_errors, message)
    return return_type("linalg_inv_ex")(A if np.any(info._data) else inv(A), info)


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """`solve`, and for each matrix 0, or which diagonal element of its U is 0."""
    _square("linalg.solve", A)
    info = lu_factor_ex(A.detach())[2]
    _checked("linalg.solve_ex", info._data, check_errors, "The solver failed because the input matrix is singular.")
    return return_type("linalg_solve_ex")(B if np.any(info._data) else solve(A, B, left=left), info)


def _row_order(x: Any, pivot: bool) -> tuple[Any, Any]:
    """The order of the rows in which elimination meets the largest pivots, and the swaps that make it (from 1)."""
    left = np.array(x)
    rows_, columns = left.shape[-2:]
    order = np.broadcast_to(np.arange(rows_), left.shape[:-1]).copy()
    steps = min(rows_, columns)
    swaps = np.broadcast_to(np.arange(1, steps + 1, dtype=np.int32), (*left.shape[:-2], steps)).copy()
    with np.errstate(all="ignore"):
        for where in np.ndindex(*left.shape[:-2]) if pivot else ():
            m, o = left[where], order[where]
            for k in range(steps):
                best = k + int(np.argmax(np.absolute(m[k:, k])))
                m[[k, best]], o[[k, best]] = m[[best, k]], o[[best, k]]
                swaps[(*where, k)] = best + 1
                if m[k, k] != 0:
                    m[k + 1 :] -= np.outer(m[k + 1 :, k] / m[k, k], m[k])
    return order, swaps


def _packed(A: Tensor, pivot: bool, name: str = "torch.lu_factor") -> tuple[Tensor, Any, Any]:
    """L and U in one matrix, the order of the rows, and the swaps that made it."""
    if A._data.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(A._data.shape)} instead"
        )
    if A._data.dtype.kind != "f":
        raise errors.not_implemented("lu_cpu", A.dtype.tensor_name)
    m, n = A._data.shape[-2:]
    order, swaps = _row_order(A._data, pivot)
    ordered = A.gather(-2, wrap(np.broadcast_to(order[..., None], A._data.shape).copy()))
    k = min(m, n)
    square = rows.lu_square(ordered[..., :k, :k])
    if n > m:
        return cat([square, solve_triangular(square, ordered[..., k:], upper=False, unitriangular=True)], -1), order, swaps
    if m > n:
        return cat([square, solve_triangular(square, ordered[..., k:, :], upper=True, left=False)], -2), order, swaps
    return square, order, swaps


def _unpacked(packed: Tensor) -> tuple[Tensor, Tensor]:
    m, n = packed._data.shape[-2:]
    k = min(m, n)
    lower = more.tril(packed[..., :k], -1)
    return lower + wrap(np.eye(m, k, dtype=packed._data.dtype)), more.triu(packed[..., :k, :], 0)


def _permutation(order: Any, like: Tensor) -> Tensor:
    """The matrix P with A = P L U."""
    return wrap(np.eye(order.shape[-1], dtype=like._data.dtype)[order].swapaxes(-1, -2).copy())


def lu(A: Tensor, *, pivot: bool = True) -> Any:
    """P, L, U with A = P L U: a permutation, a lower triangle with ones on its diagonal, an upper triangle."""
    packed, order, _ = _packed(A, pivot, "linalg.lu")
    lower, upper = _unpacked(packed)
    return return_type("linalg_lu")(_permutation(order, A) if pivot else wrap(np.zeros(0, A._data.dtype)), lower, upper)


def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """L and U in one matrix, and with which row (counted from 1) each row was swapped."""
    packed, swaps, info = lu_factor_ex(A, pivot=pivot)
    if np.any(info._data):
        at = int(info._data.reshape(-1)[np.flatnonzero(info._data)[0]])
        raise RuntimeError(
            f"torch.linalg.lu_factor: U[{at},{at}] is zero and using it on lu_solve would result in a division by zero. If "
            "you still want to perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, "
            "pivot)"
        )
    return return_type("linalg_lu_factor")(packed, swaps)


def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """`lu_factor`, and for each matrix 0, or which diagonal element of U is 0."""
    packed, _, swaps = _packed(A, pivot)
    zero = np.diagonal(packed._data, 0, -2, -1) == 0
    info = np.where(zero.any(-1), zero.argmax(-1) + 1, 0) if zero.shape[-1] else np.zeros(zero.shape[:-1], np.int64)
    found = _checked("torch.linalg.lu_factor_ex", info, check_errors, "U[{0},{0}] is zero.")
    return return_type("linalg_lu_factor_ex")(packed, wrap(swaps), found)


def _order_of(pivots: Tensor, rows_: int) -> Any:
    """The order of the rows that these swaps make."""
    swaps = np.asarray(pivots._data)
    order = np.broadcast_to(np.arange(rows_), (*swaps.shape[:-1], rows_)).copy()
    for where in np.ndindex(*swaps.shape[:-1]):
        for k, best in enumerate(swaps[where] - 1):
            order[where][[k, best]] = order[where][[best, k]]
    return order


def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """P, L and U from what `lu_factor` gives."""
    nothing = wrap(np.zeros(0, LU_data._data.dtype))
    lower, upper = _unpacked(LU_data) if unpack_data else (nothing, nothing)
    order = _order_of(LU_pivots, LU_data._data.shape[-2])
    return return_type("lu_unpack")(_permutation(order, LU_data) if unpack_pivots else nothing, lower, upper)


def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """X with A X = B (or X A = B), given `lu_factor(A)`; `adjoint`: with the transpose of A."""
    if not left:
        return lu_solve(LU, pivots, B.mT, adjoint=not adjoint).mT
    order = _permutation(_order_of(pivots, LU._data.shape[-2]), LU)
    if adjoint:
        inner = solve_triangular(LU.mT, B, upper=False)
        return order @ solve_triangular(LU.mT, inner, upper=True, unitriangular=True)
    inner = solve_triangular(LU, order.mT @ B, upper=False, unitriangular=True)
    return solve_triangular(LU, inner, upper=True)


def old_lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """`torch.lu`: what `lu_factor` gives, as a plain tuple, with the report if asked for."""
    packed, swaps, info = lu_factor_ex(A, pivot=pivot)
    return return_type("_lu_with_info")(packed, swaps, info) if get_infos else (packed, swaps)


def old_lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """`torch.lu_solve`: X with A X = b, given `lu_factor(A)`."""
    return lu_solve(LU_data, LU_pivots, b)


def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """`solve_triangular` under its old name, and the matrix."""
    matrix, upper = (A.mT, not upper) if transpose else (A, upper)
    return return_type("triangular_solve")(solve_triangular(matrix, b, upper=upper, unitriangular=unitriangular), A.clone())


def householder_product(input: Tensor, tau: Tensor) -> Tensor:
    """The first columns of the product of the reflections I - tau v v^T, whose v stand below the diagonal."""
    rows_, columns = input._data.shape[-2:]
    eye = wrap(np.broadcast_to(np.eye(rows_, columns, dtype=input._data.dtype), input._data.shape).copy())
    vectors, out = more.tril(input, -1) + eye, more.copied(input, eye)
    for k in range(tau._data.shape[-1] - 1, -1, -1):
        v = vectors[..., k : k + 1]
        out = out - tau[..., k, None, None] * (v @ (v.mT @ out))
    return out


def tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:
    """X with tensordot(A, X, X.ndim) = B."""
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(A._data.ndim - len(dims), A._data.ndim)))
    shape = A._data.shape[B._data.ndim :]
    return solve(A.reshape(layout.count(B._data.shape), layout.count(shape)), B.reshape(-1)).reshape(shape)


register(accepting_out(nuclear_norm), "nuclear_norm", method=False)
register(chain_matmul, "chain_matmul", method=False)
for _name in __all__:
    if _name not in ("LinAlgError", "matmul", "matrix_power"):
        globals()[_name] = told(accepting_out(globals()[_name]), f"linalg_{_name}")
for _call, *_names in (
    (accepting_out(lu_unpack), "lu_unpack"),
    (accepting_out(triangular_solve), "triangular_solve"),
):
    register(_call, *_names, method=_names[0] != "lu_unpack")
register(old_lu, "lu")
register(accepting_out(old_lu_solve), "lu_solve")
register(householder_product, "orgqr")
for _call in (cholesky_solve, cholesky_inverse):
    register(accepting_out(_call), _call.__name__)
register(accepting_out(old_svd), "svd")
for _call, *_names in (
    (matrix_exp, "matrix_exp"),
    (det, "det"),
    (inv, "inverse"),
    (logdet, "logdet"),
    (slogdet, "slogdet"),
    (pinv, "pinverse"),
):
    register(_call, *_names)


def old_cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """`torch.cholesky`: the lower triangular L with L L^T = A, or its transpose."""
    return cholesky(input, upper=upper)


for _name, _call in (("cholesky", old_cholesky), ("qr", old_qr)):
    _old: Any = lambda input, *args, _call=_call, **keywords: _call(input, *args, **keywords)
    _old.__doc__ = _call.__doc__
    function(_old, name=_name)


def __getattr__(name: str) -> Any:
    from minigrad.settings import missing

    raise missing(name, __name__)
