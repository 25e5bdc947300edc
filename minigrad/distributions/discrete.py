"""Distributions of whole numbers."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

import minigrad as mg
from minigrad.distributions import constraints
from minigrad.distributions.distribution import Distribution, clamped, lazy, together
from minigrad.nn.functional import binary_cross_entropy_with_logits, softmax
from minigrad.random import default_generator
from minigrad.rejection import binomials
from minigrad.size import Size
from minigrad.tape import no_grad
from minigrad.tensor import Tensor, wrap


def either(probs: Any, logits: Any) -> None:
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class Odds(Distribution):
    """A distribution whose parameter is a probability, given as `probs` or as log odds, `logits`."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}

    @lazy
    def logits(self) -> Tensor:
        """log(p / (1 - p))."""
        inside = clamped(self.probs)
        return mg.log(inside) - mg.log1p(-inside)

    @lazy
    def probs(self) -> Tensor:
        """The probability of 1."""
        return mg.sigmoid(self.logits)

    @property
    def param_shape(self) -> Size:
        return Size((self.probs if "probs" in self.__dict__ else self.logits).shape)


class Bernoulli(Odds):
    """1 with probability `probs`, else 0."""

    support = constraints.boolean
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        """ValueError unless one of `probs` and `logits` is given."""
        either(probs, logits)
        name, value = ("probs", probs) if logits is None else ("logits", logits)
        (self.__dict__[name],) = together(value)
        super().__init__(self.__dict__[name].shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return mg.where(self.probs == 0.5, math.nan, (self.probs >= 0.5).to(self.probs.dtype))

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return mg.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        logits, value = together(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._listed(2, self.probs.dtype, expand)


class Geometric(Odds):
    """How many trials of probability `probs` fail before the first that succeeds."""

    support = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        """ValueError unless one of `probs` and `logits` is given, or if a probability is 0."""
        either(probs, logits)
        name, value = ("probs", probs) if logits is None else ("logits", logits)
        (self.__dict__[name],) = together(value)
        super().__init__(self.__dict__[name].shape, validate_args=validate_args)
        if self._validate_args and logits is None and not (self.probs > 0).all():
            wrong = self.probs[self.probs <= 0]
            raise ValueError(
                f"Expected parameter probs ({type(self.probs).__name__} of shape {tuple(self.probs.shape)}) of distribution "
                f"{self!r} to be positive but found invalid values:\n{wrong}"
            )

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return mg.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape, kind = self._extended_shape(sample_shape), self.probs.dtype
        with no_grad():
            u = mg.empty(tuple(shape), dtype=kind).uniform_(float(np.finfo(self.probs._data.dtype).tiny), 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        value, probs = together(self._checked(value), self.probs)
        probs = mg.where((probs == 1) & (value == 0), 0.0, probs)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs


class Binomial(Odds):
    """How many of `total_count` trials of probability `probs` succeed."""

    has_enumerate_support = True

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        """ValueError unless one of `probs` and `logits` is given."""
        either(probs, logits)
        name, value = ("probs", probs) if logits is None else ("logits", logits)
        self.total_count, self.__dict__[name] = together(total_count, value)
        self.total_count = self.total_count.to(self.__dict__[name].dtype)
        super().__init__(self.__dict__[name].shape, validate_args=validate_args)

    arg_constraints = {"total_count": constraints.nonnegative_integer, **Odds.arg_constraints}

    @property
    def support(self) -> constraints.Constraint:
        """Where its samples lie."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        count, p = (np.broadcast_to(t._data, shape) for t in (self.total_count, self.probs))
        return wrap(binomials(count, p, default_generator))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        n, logits = self.total_count, self.logits
        normalised = n * logits.clamp(min=0) + n * mg.log1p(mg.exp(-mg.abs(logits))) - mg.lgamma(n + 1)
        return value * logits - mg.lgamma(value + 1) - mg.lgamma(n - value + 1) - normalised

    def entropy(self) -> Tensor:
        total = int(self.total_count.max())
        if self.total_count.min() != total:
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(mg.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        total = int(self.total_count.max())
        if self.total_count.min() != total:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        return self._listed(total + 1, self.total_count.dtype, expand)


class Outcomes(Distribution):
    """A distribution with n outcomes; their probabilities are in the last dimension of `probs` (made to sum to 1)."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _settings: ClassVar[tuple[str, ...]] = ("_num_events",)

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        """ValueError unless one of `probs` and `logits` is given, of at least one dimension."""
        either(probs, logits)
        given = logits if probs is None else probs
        assert given is not None
        if given.dim() < 1:
            which = "probs" if logits is None else "logits"
            raise ValueError(f"`{which}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = given - given.logsumexp(-1, keepdim=True)
        self._num_events = given.shape[-1]
        super().__init__(given.shape[:-1], validate_args=validate_args)

    @lazy
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return clamped(self.probs).log()

    @lazy
    def probs(self) -> Tensor:
        """The probabilities; they sum to 1."""
        return softmax(self.logits, -1)

    @property
    def param_shape(self) -> Size:
        return Size((*self._batch_shape, self._num_events))


class Categorical(Outcomes):
    """One of the integers 0 to n - 1."""

    has_enumerate_support = True

    @property
    def support(self) -> constraints.Constraint:
        """Where its samples lie."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        return mg.full(self._extended_shape(), math.nan, dtype=self.probs.dtype)

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        return mg.full(self._extended_shape(), math.nan, dtype=self.probs.dtype)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        rows = self.probs.detach().reshape(-1, self._num_events)
        drawn = mg.multinomial(rows, math.prod(sample_shape), True).T
        return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value).long().unsqueeze(-1)
        value, logits = mg.broadcast_tensors(value, self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = self.logits.clamp(min=float(np.finfo(self.logits._data.dtype).min))
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._listed(self._num_events, mg.int64, expand)


class Poisson(Distribution):
    """How often something happens that happens `rate` times on average."""

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = together(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return mg.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        rate, value = together(self.rate, self._checked(value))
        return mg.xlogy(value, rate) - rate - (value + 1).lgamma()
