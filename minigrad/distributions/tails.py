"""Distributions of durations, counts and outliers: chi-squared, Student's t, half Cauchy, Pareto, Weibull, ..."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import minigrad as mg
from minigrad.distributions import constraints
from minigrad.distributions.continuous import Cauchy, Gamma
from minigrad.distributions.discrete import Odds, either
from minigrad.distributions.distribution import Distribution, standard_normal, together
from minigrad.tape import no_grad
from minigrad.tensor import Tensor

EULER = 0.57721566490153286060


class Chi2(Gamma):
    """The distribution of the sum of the squares of `df` standard normal numbers; `sample` only."""

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        (df,) = together(df)
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self.concentration * 2

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        return Chi2(self.df.expand(batch_shape), self._validate_args)


class StudentT(Distribution):
    """Student's distribution with `df` degrees of freedom: its tails are heavier than a normal one's; `sample` only."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = together(df, loc, scale)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return mg.where(self.df > 1, self.loc, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        finite = self.scale.pow(2) * self.df / (self.df - 2)
        return mg.where(self.df > 2, finite, mg.where(self.df > 1, mg.full_like(self.df, math.inf), math.nan))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        raise NotImplementedError("StudentT.rsample: minigrad has no gradients of gamma samples; use sample()")

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            normal = standard_normal(self._extended_shape(sample_shape), self.df)
            spread = Chi2(self.df, validate_args=False).sample(sample_shape)
            return self.loc + self.scale * (normal * mg.rsqrt(spread / self.df))

    def log_prob(self, value: Tensor) -> Tensor:
        y, df = (self._checked(value) - self.loc) / self.scale, self.df
        total = self.scale.log() + 0.5 * df.log() + 0.5 * math.log(math.pi) + mg.lgamma(0.5 * df) - mg.lgamma(0.5 * (df + 1))
        return -0.5 * (df + 1.0) * mg.log1p(y**2 / df) - total

    def entropy(self) -> Tensor:
        df = self.df
        lbeta = mg.lgamma(0.5 * df) + math.lgamma(0.5) - mg.lgamma(0.5 * (df + 1))
        return self.scale.log() + 0.5 * (df + 1) * (mg.digamma(0.5 * (df + 1)) - mg.digamma(0.5 * df)) + 0.5 * df.log() + lbeta


class HalfCauchy(Distribution):
    """The distribution of |x|, where x is Cauchy distributed around 0 with this scale."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _shows_parameters = False

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        (self.scale,) = together(scale)
        super().__init__(self.scale.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return mg.full(self._extended_shape(), math.inf, dtype=self.scale.dtype)

    @property
    def mode(self) -> Tensor:
        return mg.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        return mg.full(self._extended_shape(), math.inf, dtype=self.scale.dtype)

    def _whole(self) -> Cauchy:
        return Cauchy(mg.zeros_like(self.scale), self.scale, validate_args=False)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._whole().rsample(sample_shape).abs()

    def log_prob(self, value: Tensor) -> Tensor:
        value = mg.as_tensor(self._checked(value), dtype=self.scale.dtype)
        return mg.where(value >= 0, self._whole().log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        return 2 * self._whole().cdf(self._checked(value)) - 1

    def icdf(self, value: Tensor) -> Tensor:
        return self._whole().icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self._whole().entropy() - math.log(2)


class Pareto(Distribution):
    """The distribution from `scale` upwards whose density falls as x ** -(alpha + 1)."""

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}
    has_rsample = True

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = together(scale, alpha)
        super().__init__(self.scale.shape, validate_args=validate_args)

    @property
    def support(self) -> constraints.Constraint:
        """Where its samples lie."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        drawn = mg.empty(tuple(self._extended_shape(sample_shape)), dtype=self.scale.dtype).exponential_()
        return self.scale * (drawn / self.alpha).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        away = ((self._checked(value) / self.scale).log()) * self.alpha
        return self.alpha.log() - self.scale.log() - away - (value / self.scale).log()

    def cdf(self, value: Tensor) -> Tensor:
        return 1 - (self._checked(value) / self.scale) ** -self.alpha

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * (-mg.log1p(-value) / self.alpha).exp()

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(Distribution):
    """The distribution of scale * x ** (1 / concentration), where x is exponentially distributed."""

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = together(scale, concentration)
        super().__init__(self.scale.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * mg.exp(mg.lgamma(1 + self.concentration.reciprocal()))

    @property
    def mode(self) -> Tensor:
        k = self.concentration
        return self.scale * ((k - 1) / k) ** k.reciprocal()

    @property
    def variance(self) -> Tensor:
        once = self.concentration.reciprocal()
        return self.scale.pow(2) * (mg.exp(mg.lgamma(1 + 2 * once)) - mg.exp(2 * mg.lgamma(1 + once)))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        drawn = mg.empty(tuple(self._extended_shape(sample_shape)), dtype=self.scale.dtype).exponential_()
        return self.scale * drawn ** self.concentration.reciprocal()

    def log_prob(self, value: Tensor) -> Tensor:
        k, share = self.concentration, self._checked(value) / self.scale
        return k.log() - self.scale.log() + (k - 1) * share.log() - share**k

    def cdf(self, value: Tensor) -> Tensor:
        return 1 - mg.exp(-((self._checked(value) / self.scale) ** self.concentration))

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * (-mg.log1p(-value)) ** self.concentration.reciprocal()

    def entropy(self) -> Tensor:
        once = self.concentration.reciprocal()
        return EULER * (1 - once) + mg.log(self.scale * once) + 1


class InverseGamma(Distribution):
    """The distribution of 1 / x, where x is gamma distributed with `concentration` and `rate`; `sample` only."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    _shows_parameters = False

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = together(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    def _inverse(self) -> Gamma:
        return Gamma(self.concentration, self.rate, validate_args=False)

    @property
    def mean(self) -> Tensor:
        return mg.where(self.concentration > 1, self.rate / (self.concentration - 1), math.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        a = self.concentration
        return mg.where(a > 2, self.rate.square() / ((a - 1).square() * (a - 2)), math.inf)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        raise NotImplementedError("InverseGamma.rsample: minigrad has no gradients of gamma samples; use sample()")

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return self._inverse().sample(sample_shape).reciprocal()

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        return self._inverse().log_prob(value.reciprocal()) - 2 * value.log()

    def cdf(self, value: Tensor) -> Tensor:
        return 1 - self._inverse().cdf(self._checked(value).reciprocal())

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class NegativeBinomial(Odds):
    """How many trials of probability `probs` succeed before `total_count` have failed."""

    support = constraints.nonnegative_integer

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        """ValueError unless one of `probs` and `logits` is given."""
        either(probs, logits)
        name, value = ("probs", probs) if logits is None else ("logits", logits)
        self.total_count, self.__dict__[name] = together(total_count, value)
        self.total_count = self.total_count.to(self.__dict__[name].dtype)
        super().__init__(self.__dict__[name].shape, validate_args=validate_args)

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }

    @property
    def mean(self) -> Tensor:
        return self.total_count * mg.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / mg.sigmoid(-self.logits)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return mg.poisson(Gamma(self.total_count, mg.exp(-self.logits), validate_args=False).sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        value, n = self._checked(value), self.total_count
        normal = -mg.lgamma(n + value) + mg.lgamma(1.0 + value) + mg.lgamma(n)
        normal = mg.where(n + value == 0.0, 0.0, normal)
        log_sigmoid = mg.nn.functional.logsigmoid
        return n * log_sigmoid(-self.logits) + value * log_sigmoid(self.logits) - normal
