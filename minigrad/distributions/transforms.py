"""Invertible functions with known slopes, of which `TransformedDistribution` makes new distributions."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import minigrad as mg
from minigrad.distributions import constraints
from minigrad.distributions.distribution import clamped, summed
from minigrad.nn.functional import softplus
from minigrad.tensor import Tensor


class Transform:
    """An invertible function: `t(x)`, `t.inv(y)` and `t.log_abs_det_jacobian(x, y)`; define `_call` and `_inverse`."""

    bijective = True
    domain: constraints.Constraint = constraints.real
    codomain: constraints.Constraint = constraints.real

    def __init__(self, cache_size: int = 0) -> None:
        self._cache_size = cache_size

    def __call__(self, x: Tensor) -> Tensor:
        return self._call(x)

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    @property
    def inv(self) -> Transform:
        """The inverse function."""
        return _Inverse(self)

    @property
    def sign(self) -> Any:
        """1 where the function grows, -1 where it falls."""
        return 1

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """The logarithm of the slope at x, where y = t(x)."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return type(self).__name__ + "()"


class _Inverse(Transform):
    def __init__(self, forward: Transform) -> None:
        super().__init__()
        self.forward, self.domain, self.codomain = forward, forward.codomain, forward.domain

    def _call(self, x: Tensor) -> Tensor:
        return self.forward._inverse(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.forward._call(y)

    @property
    def inv(self) -> Transform:
        return self.forward

    @property
    def sign(self) -> Any:
        return self.forward.sign

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self.forward.log_abs_det_jacobian(y, x)

    def __repr__(self) -> str:
        return f"_InverseTransform({self.forward!r})"


class ExpTransform(Transform):
    """y = exp(x)."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class AffineTransform(Transform):
    """y = loc + scale * x."""

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim

    @property
    def sign(self) -> Any:
        return self.scale.sign() if isinstance(self.scale, Tensor) else (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        scale = self.scale
        slope = scale.abs().log() if isinstance(scale, Tensor) else mg.full_like(x, math.log(abs(scale)))
        return summed(slope.expand(x.shape), self.event_dim)


class SigmoidTransform(Transform):
    """y = 1 / (1 + exp(-x))."""

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        return clamped(mg.sigmoid(x))

    def _inverse(self, y: Tensor) -> Tensor:
        y = clamped(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class TanhTransform(Transform):
    """y = tanh(x)."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return mg.atanh(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class ComposeTransform(Transform):
    """One transform after the other."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = list(parts)
        if parts:
            self.domain, self.codomain = parts[0].domain, parts[-1].codomain

    def _call(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Tensor) -> Tensor:
        for part in reversed(self.parts):
            y = part._inverse(y)
        return y

    @property
    def sign(self) -> Any:
        return math.prod(part.sign for part in self.parts)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        total: Any = 0
        for part in self.parts:
            after = part(x)
            total, x = total + part.log_abs_det_jacobian(x, after), after
        return total if self.parts else mg.zeros_like(x)
