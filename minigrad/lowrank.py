"""Matrices of low rank from few random looks at a large one: `svd_lowrank`, `pca_lowrank`; and `geqrf`."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import linalg
from minigrad.public import return_type
from minigrad.sampling import randn
from minigrad.tensor import Tensor, wrap


def _basis(A: Tensor, q: int, niter: int) -> Tensor:
    """q orthonormal columns that span nearly what A's columns span: A times random ones, then A A^T again and again."""
    found: Tensor = linalg.qr(A @ randn(A.shape[-1], q, dtype=A.dtype))[0]
    for _ in range(niter):
        found = linalg.qr(A.mT @ found)[0]
        found = linalg.qr(A @ found)[0]
    return found


def svd_lowrank(A: Tensor, q: int = 6, niter: int = 2, M: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """(U, S, V) with about A - M = U diag(S) V^T, of rank q: the q largest singular values, by chance nearly right.

    `A` (..., m, n), U (..., m, q), S (..., q), V (..., n, q); `niter` more rounds make it better.
    """
    A = A if M is None else A - M.broadcast_to(A.shape)
    wide = A.shape[-2] < A.shape[-1]
    A = A.mT if wide else A
    basis = _basis(A, q, niter)
    u, s, vh = linalg.svd(basis.mT @ A, full_matrices=False)
    u, v = basis @ u, vh.mT
    return (v, s, u) if wide else (u, s, v)


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components: `svd_lowrank` of the rows of A less their mean; the columns of V are the directions.

    `q` is min(6, m, n) unless given.  ValueError for a q beyond m or n.
    """
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(dim=(-2,), keepdim=True) if center else A, q, niter)


def geqrf(input: Tensor) -> Any:
    """A QR factorisation as the computer does it: R, below it the reflections that make Q, and their factors tau.

    `linalg.householder_product(a, tau)` is Q. Not differentiable.
    """
    raw, tau = np.linalg.qr(input._data, "raw")
    return return_type("geqrf")(wrap(np.ascontiguousarray(np.swapaxes(raw, -1, -2))), wrap(tau))
