"""Parametrizations: `orthogonal`, `weight_norm` (a length times a direction), `spectral_norm` (largest stretch 1)."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import minigrad as mg
from minigrad.dtypes import finfo
from minigrad.nn.functional import normalize
from minigrad.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from minigrad.nn.modules.module import Module
from minigrad.nn.utils.parametrize import register_parametrization
from minigrad.tape import no_grad
from minigrad.tensor import Tensor


class _Orthogonal(Module):
    """A matrix with orthonormal columns (or rows, if it is wide), from one without conditions."""

    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool = True) -> None:
        super().__init__()
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        wide = X.size(-2) < X.size(-1)
        X = X.mT if wide else X
        n, k = X.size(-2), X.size(-1)
        if self.orthogonal_map == "householder":
            A = X.tril(-1)
            tau = 2.0 / (1.0 + (A * A).sum(dim=-2))
            Q = mg.linalg.householder_product(A, tau) * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            X = X.tril()
            if n != k:  # a square matrix, of which the first columns are kept
                X = mg.cat([X, X.new_zeros(n, n - k).expand(*X.shape[:-2], -1, -1)], -1)
            A = X - X.mT
            if self.orthogonal_map == "matrix_exp":
                Q = mg.linalg.matrix_exp(A)
            else:
                eye = mg.eye(n, dtype=A.dtype)
                Q = mg.linalg.solve(mg.add(eye, A, alpha=-0.5), mg.add(eye, A, alpha=0.5))
            Q = Q[..., :k]
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if wide else Q

    def right_inverse(self, Q: Tensor) -> Tensor:
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        wide = Q.size(-2) < Q.size(-1)
        tall = Q.mT if wide else Q
        n, k = tall.size(-2), tall.size(-1)
        if hasattr(self, "base"):  # the forward map starts at this matrix, and at -1 stands still
            if n != k:
                tall = mg.cat([tall, mg.randn((*tall.shape[:-2], n, n - k), dtype=Q.dtype)], -1)
            self.base = tall.clone() if n == k and _is_orthogonal(tall) else _made_orthogonal(tall)
            still = mg.zeros_like(Q)
            still.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return still
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        A, tau = mg.geqrf(tall)
        A.diagonal(dim1=-2, dim2=-1).sign_()
        A.diagonal(dim1=-2, dim2=-1)[tau == 0.0] *= -1
        return A.mT if wide else A


def _is_orthogonal(Q: Tensor) -> bool:
    n = Q.size(-1)
    eps = 10.0 * n * finfo(Q.dtype).eps
    return mg.allclose(Q.mT @ Q, mg.eye(n, dtype=Q.dtype), atol=eps)


def _made_orthogonal(A: Tensor) -> Tensor:
    """The orthonormal factor of A, with the signs that make the other factor's diagonal positive."""
    packed, tau = mg.geqrf(A)
    return mg.linalg.householder_product(packed, tau) * packed.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """The weight becomes a matrix with orthonormal columns (rows, if it is wide), and stays one while it is trained.

    `orthogonal_map`: "matrix_exp" (unless given, for square ones), "cayley" or "householder" (for others).
    ValueError for another name, for a parameter that is not there or has one dimension.
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.size(-2) == weight.size(-1) else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    return register_parametrization(module, name, _Orthogonal(weight, orthogonal_map, use_trivialization), unsafe=True)


def norm_except_dim(v: Tensor, dim: int | None) -> Tensor:
    """The norm of v over all dimensions but one (None: over all), with the dimensions kept."""
    if dim is None or dim == -1:
        return v.norm()
    others = [d for d in range(v.dim()) if d != dim % v.dim()]
    return (v**2).sum(others, keepdim=True).sqrt() if others else v.abs()


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return weight_v * (weight_g / norm_except_dim(weight_v, self.dim))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """The weight becomes a length (original0) times a direction (original1), one for each index of `dim`."""
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    """Divides by an estimate of the largest singular value, improved by power iteration at each forward in training."""

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + weight.dim()
        self.eps, self.n_power_iterations = eps, n_power_iterations
        if weight.dim() > 1:
            matrix = self._matrix(weight.detach())
            u = mg.empty(matrix.shape[0], dtype=matrix.dtype).normal_(0, 1)
            v = mg.empty(matrix.shape[1], dtype=matrix.dtype).normal_(0, 1)
            self.register_buffer("_u", normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", normalize(v, dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        return weight.movedim(self.dim, 0).flatten(1)

    def _iterate(self, matrix: Tensor, times: int) -> None:
        with no_grad():
            for _ in range(times):
                self._u.copy_(normalize(mg.mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(normalize(mg.mv(matrix.mT, self._u), dim=0, eps=self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.dim() == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        return weight / mg.dot(self._u.clone(), mg.mv(matrix, self._v.clone()))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """The weight, divided by its largest singular value.  ValueError if the module has no such parameter."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
