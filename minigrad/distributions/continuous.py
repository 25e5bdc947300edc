"""Continuous distributions of numbers."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.distributions import constraints
from minigrad.distributions.distribution import Distribution, standard_normal, together
from minigrad.nn.functional import one_hot
from minigrad.random import default_generator
from minigrad.rejection import gammas
from minigrad.tape import no_grad
from minigrad.tensor import Tensor, wrap


class _Located(Distribution):
    """A distribution with a location and a scale."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = together(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc


class Normal(_Located):
    """The normal distribution with mean `loc` and standard deviation `scale`.

    >>> torch.distributions.Normal(0.0, 2.0).log_prob(torch.tensor(1.0))
    tensor(-1.7371)
    """

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return mg.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.loc + standard_normal(self._extended_shape(sample_shape), self.loc) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        away = self._checked(value) - self.loc
        return -(away**2) / (2 * self.scale**2) - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Tensor) -> Tensor:
        return 0.5 * (1 + mg.erf((self._checked(value) - self.loc) * self.scale.reciprocal() / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * mg.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + mg.log(self.scale)


class LogNormal(Distribution):
    """The distribution of exp(x), where x is normal with mean `loc` and standard deviation `scale`."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = together(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def base_dist(self) -> Normal:
        """The distribution of the logarithm."""
        return Normal(self.loc, self.scale, validate_args=False)

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        return self.scale.square().expm1() * (2 * self.loc + self.scale.square()).exp()

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.sample(sample_shape).exp()

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        logarithm = self._checked(value).log()
        return self.base_dist.log_prob(logarithm) - logarithm

    def cdf(self, value: Tensor) -> Tensor:
        return self.base_dist.cdf(self._checked(value).log())

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf(value).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc

    def __repr__(self) -> str:
        return "LogNormal()"


class Laplace(_Located):
    """The Laplace distribution: density exp(-|x - loc| / scale) / (2 scale)."""

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        return 2**0.5 * self.scale

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape, eps = self._extended_shape(sample_shape), float(np.finfo(self.loc._data.dtype).eps)
        u = mg.empty(tuple(shape), dtype=self.loc.dtype).uniform_(eps - 1, 1)
        return self.loc - self.scale * u.sign() * mg.log1p(-u.abs())

    def log_prob(self, value: Tensor) -> Tensor:
        return -mg.log(2 * self.scale) - mg.abs(self._checked(value) - self.loc) / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        away = self._checked(value) - self.loc
        return 0.5 - 0.5 * away.sign() * mg.expm1(-away.abs() / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        away = value - 0.5
        return self.loc - self.scale * away.sign() * mg.log1p(-2 * away.abs())

    def entropy(self) -> Tensor:
        return 1 + mg.log(2 * self.scale)


class Cauchy(_Located):
    """The Cauchy distribution, whose mean and variance do not exist (nan and inf)."""

    @property
    def mean(self) -> Tensor:
        return mg.full(self._extended_shape(), math.nan, dtype=self.loc.dtype)

    @property
    def variance(self) -> Tensor:
        return mg.full(self._extended_shape(), math.inf, dtype=self.loc.dtype)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        eps = mg.empty(tuple(self._extended_shape(sample_shape)), dtype=self.loc.dtype).cauchy_()
        return self.loc + eps * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        away = (self._checked(value) - self.loc) / self.scale
        return -math.log(math.pi) - self.scale.log() - (away**2).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        return mg.atan((self._checked(value) - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return mg.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()


class Gumbel(_Located):
    """The Gumbel distribution: -log(-log(u)) for a uniform u, scaled and moved."""

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * np.euler_gamma

    @property
    def variance(self) -> Tensor:
        return (math.pi / math.sqrt(6) * self.scale).pow(2)

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        limits = np.finfo(self.loc._data.dtype)
        low, high = float(limits.tiny), 1 - float(limits.eps)
        u = mg.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc - self.scale * (-(low + u * (high - low)).log()).log()

    def log_prob(self, value: Tensor) -> Tensor:
        y = (self.loc - self._checked(value)) / self.scale
        return y - y.exp() - self.scale.log()

    def cdf(self, value: Tensor) -> Tensor:
        return (-((self.loc - self._checked(value)) / self.scale).exp()).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + np.euler_gamma)


class Uniform(Distribution):
    """Every number from `low` up to `high` is as likely as any other."""

    has_rsample = True

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:  # type: ignore[override]
        """What each parameter must satisfy: low < high."""
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        """ValueError unless low < high everywhere."""
        self.low, self.high = together(low, high)
        super().__init__(self.low.shape, validate_args=validate_args)

    @property
    def support(self) -> constraints.Constraint:
        """Where its samples lie."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return math.nan * self.high

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        drawn = mg.rand(self._extended_shape(sample_shape), dtype=self.low.dtype)
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        inside = self.low.le(self._checked(value)) & self.high.gt(value)
        return mg.log(inside.to(self.low.dtype)) - mg.log(self.high - self.low)

    def cdf(self, value: Tensor) -> Tensor:
        return ((self._checked(value) - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return mg.log(self.high - self.low)


class Exponential(Distribution):
    """The exponential distribution with mean 1 / `rate`."""

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = together(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        return mg.zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return mg.empty(tuple(self._extended_shape(sample_shape)), dtype=self.rate.dtype).exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        return self.rate.log() - self.rate * self._checked(value)

    def cdf(self, value: Tensor) -> Tensor:
        return 1 - mg.exp(-self.rate * self._checked(value))

    def icdf(self, value: Tensor) -> Tensor:
        return -mg.log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        return 1.0 - mg.log(self.rate)


class HalfNormal(Distribution):
    """The distribution of |x|, where x is normal with mean 0 and standard deviation `scale`."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _shows_parameters = False

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        (self.scale,) = together(scale)
        super().__init__(self.scale.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Tensor:
        return mg.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)

    def _whole(self) -> Normal:
        return Normal(mg.zeros_like(self.scale), self.scale, validate_args=False)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._whole().sample(sample_shape).abs()

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._whole().rsample(sample_shape).abs()

    def log_prob(self, value: Tensor) -> Tensor:
        inside = self._whole().log_prob(self._checked(value)) + math.log(2)
        return mg.where(value >= 0, inside, -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        return 2 * self._whole().cdf(self._checked(value)) - 1

    def icdf(self, value: Tensor) -> Tensor:
        return self._whole().icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self._whole().entropy() - math.log(2)


def most_likely_shares(concentration: Tensor) -> Tensor:
    """The mode of a Dirichlet distribution; where no concentration reaches 1, all goes to the largest."""
    above = (concentration - 1).clamp(min=0.0)
    whole = one_hot(above.argmax(-1), concentration.shape[-1]).to(above.dtype)
    return mg.where((concentration < 1).all(-1, keepdim=True), whole, above / above.sum(-1, True))


class Gamma(Distribution):
    """The gamma distribution with shape `concentration` and mean concentration / rate; `sample` only."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = together(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        raise NotImplementedError("Gamma.rsample: minigrad has no gradients of gamma samples; use sample()")

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            drawn = wrap(gammas(np.broadcast_to(self.concentration._data, shape), default_generator)) / self.rate
            return drawn.clamp(min=float(np.finfo(drawn._data.dtype).tiny))

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(mg.as_tensor(value, dtype=self.rate.dtype))
        a, rate = self.concentration, self.rate
        return mg.xlogy(a, rate) + mg.xlogy(a - 1, value) - rate * value - mg.lgamma(a)

    def cdf(self, value: Tensor) -> Tensor:
        return mg.special.gammainc(self.concentration, self.rate * self._checked(value))

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - mg.log(self.rate) + mg.lgamma(a) + (1.0 - a) * mg.digamma(a)


class Beta(Distribution):
    """The beta distribution on (0, 1), with mean concentration1 / (concentration1 + concentration0); `sample` only."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    _shows_parameters = False

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = together(concentration1, concentration0)
        super().__init__(self.concentration1.shape, validate_args=validate_args)

    @property
    def _total(self) -> Tensor:
        return self.concentration1 + self.concentration0

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / self._total

    @property
    def mode(self) -> Tensor:
        return most_likely_shares(mg.stack([self.concentration1, self.concentration0], -1))[..., 0]

    @property
    def variance(self) -> Tensor:
        return self.concentration1 * self.concentration0 / (self._total.pow(2) * (self._total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        raise NotImplementedError("Beta.rsample: minigrad has no gradients of beta samples; use sample()")

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        pairs = np.stack([self.concentration1._data, self.concentration0._data], -1)
        drawn = gammas(np.broadcast_to(pairs, (*self._extended_shape(sample_shape), 2)), default_generator, True)
        return wrap(drawn)[..., 0]

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        one, zero = self.concentration1, self.concentration0
        return (
            mg.xlogy(one - 1.0, value) + mg.xlogy(zero - 1.0, 1.0 - value)
            + mg.lgamma(self._total) - mg.lgamma(one) - mg.lgamma(zero)
        )  # fmt: skip

    def entropy(self) -> Tensor:
        one, zero, total = self.concentration1, self.concentration0, self._total
        return (
            mg.lgamma(one) + mg.lgamma(zero) - mg.lgamma(total) + (total - 2) * mg.digamma(total)
            - (one - 1.0) * mg.digamma(one) - (zero - 1.0) * mg.digamma(zero)
        )  # fmt: skip
