"""`weight_norm` and `spectral_norm` as they were before parametrizations: a hook computes the weight before each forward."""

from __future__ import annotations

import warnings
from typing import Any

import minigrad as mg
from minigrad.nn.functional import normalize
from minigrad.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from minigrad.nn.modules.module import Module
from minigrad.nn.parameter import Parameter
from minigrad.nn.utils.parametrizations import norm_except_dim
from minigrad.tape import no_grad
from minigrad.tensor import Tensor


class WeightNorm:
    """The hook of `weight_norm`."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Any:
        """The weight of length `name_g` and direction `name_v`."""
        v = getattr(module, self.name + "_v")
        return v * (getattr(module, self.name + "_g") / norm_except_dim(v, self.dim))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


class SpectralNorm:
    """The hook of `spectral_norm`."""

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def matrix(self, weight: Tensor) -> Any:
        """The weight as a matrix with `dim` as its rows."""
        return weight.movedim(self.dim, 0).reshape(weight.shape[self.dim], -1)

    def compute_weight(self, module: Module, improve: bool) -> Any:
        """The weight divided by the estimate of its largest singular value."""
        weight, u, v = (getattr(module, self.name + part) for part in ("_orig", "_u", "_v"))
        matrix = self.matrix(weight)
        if improve:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(mg.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(normalize(mg.mv(matrix, v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()
        return weight / mg.dot(u, mg.mv(matrix, v))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


def _hook_of(module: Module, kind: type, name: str) -> Any:
    for key, hook in module._forward_pre_hooks.items():
        found = hook[0] if isinstance(hook, tuple) else hook
        if isinstance(found, kind) and found.name == name:  # type: ignore[attr-defined]
            return key
    return None


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """The weight becomes `name_g` (lengths) times `name_v` (directions), computed before each forward.

    RuntimeError if it is so already.
    """
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    if _hook_of(module, WeightNorm, name) is not None:
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook, weight = WeightNorm(name, dim), getattr(module, name)
    del module._parameters[name]
    module.register_parameter(name + "_g", Parameter(norm_except_dim(weight, dim).detach()))
    module.register_parameter(name + "_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: Module, name: str = "weight") -> Module:
    """Undo `weight_norm`: the weight keeps its value.  ValueError if there is nothing to undo."""
    key = _hook_of(module, WeightNorm, name)
    if key is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    value = WeightNorm(name, module._forward_pre_hooks.pop(key).dim).compute_weight(module)
    delattr(module, name)
    del module._parameters[name + "_g"], module._parameters[name + "_v"]
    setattr(module, name, Parameter(value.detach()))
    return module


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """The weight is `name_orig` divided by its largest singular value, which each forward in training knows better.

    RuntimeError if it is so already.
    """
    if _hook_of(module, SpectralNorm, name) is not None:
        raise RuntimeError("Cannot register two spectral_norm hooks on the same parameter weight")
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    hook, weight = SpectralNorm(name, n_power_iterations, dim, eps), module._parameters[name]
    assert weight is not None
    rows, columns = hook.matrix(weight.detach()).shape
    u = normalize(mg.empty(rows, dtype=weight.dtype).normal_(0, 1), dim=0, eps=eps)
    v = normalize(mg.empty(columns, dtype=weight.dtype).normal_(0, 1), dim=0, eps=eps)
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.detach())
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Undo `spectral_norm`: the weight keeps its value.  ValueError if there is nothing to undo."""
    key = _hook_of(module, SpectralNorm, name)
    if key is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    with no_grad():
        value = module._forward_pre_hooks.pop(key).compute_weight(module, False)
    delattr(module, name)
    for part in ("_u", "_v"):
        del module._buffers[name + part]
    del module._parameters[name + "_orig"]
    module.register_parameter(name, Parameter(value.detach()))
    return module
