"""Distributions of vectors, and distributions made of distributions."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

import minigrad as mg
from minigrad.distributions import constraints
from minigrad.distributions.continuous import most_likely_shares
from minigrad.distributions.discrete import Binomial, Categorical, Odds, Outcomes, either
from minigrad.distributions.distribution import Distribution, clamped, lazy, standard_normal, summed, together
from minigrad.distributions.transforms import Transform
from minigrad.nn.functional import one_hot
from minigrad.random import default_generator
from minigrad.rejection import gammas
from minigrad.size import Size
from minigrad.tape import no_grad
from minigrad.tensor import Tensor, wrap


class Independent(Distribution):
    """The last `reinterpreted_batch_ndims` batch dimensions of `base_distribution` become one event."""

    arg_constraints = {}
    _settings = ("reinterpreted_batch_ndims",)

    def __init__(
        self, base_distribution: Distribution, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        """ValueError if there are not so many batch dimensions."""
        shape = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(shape)}"
            )
        self.base_dist, self.reinterpreted_batch_ndims = base_distribution, reinterpreted_batch_ndims
        cut = len(shape) - reinterpreted_batch_ndims
        super().__init__(shape[:cut], (*shape[cut:], *base_distribution.event_shape), validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Self:
        new = super().expand(batch_shape)
        new.base_dist = self.base_dist.expand((*batch_shape, *self._event_shape[: self.reinterpreted_batch_ndims]))
        return new

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether its samples can be differentiated."""
        return self.base_dist.has_rsample

    @property
    def support(self) -> constraints.Constraint:
        """Where its samples lie."""
        base: constraints.Constraint = self.base_dist.support
        dims = self.reinterpreted_batch_ndims
        return constraints.independent(base, dims) if dims else base

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return summed(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return summed(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


class OneHotCategorical(Outcomes):
    """A categorical distribution whose values are vectors with a single 1."""

    support = constraints.one_hot
    has_enumerate_support = True
    _shows_parameters = False

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(probs, logits, validate_args)
        self._event_shape = Size((self._num_events,))

    def _index(self) -> Categorical:
        return Categorical(logits=self.logits, validate_args=False)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return one_hot(self.probs.argmax(-1), self._num_events).to(self.probs.dtype)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        index = Categorical(probs=self.probs.detach(), validate_args=False).sample(sample_shape)
        return one_hot(index, self._num_events).to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        return self._index().log_prob(self._checked(value).max(-1)[1])

    def entropy(self) -> Tensor:
        return self._index().entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self._num_events
        values = mg.eye(n, dtype=self.probs.dtype).reshape((n, *(1,) * len(self._batch_shape), n))
        return values.expand((n, *self._batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """`rsample` gives one-hot vectors whose gradient is that of the probabilities."""

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(Outcomes):
    """How often each of n outcomes comes up in `total_count` draws."""

    _settings = ("_num_events", "total_count")
    _shows_parameters = False

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        """NotImplementedError if total_count is a tensor: all of a batch draw equally often."""
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        super().__init__(probs, logits, validate_args)
        self._event_shape = Size((self._num_events,))

    @property
    def support(self) -> constraints.Constraint:
        """Where its samples lie."""
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            draws = Categorical(probs=self.probs, validate_args=False).sample((self.total_count, *sample_shape))
            return one_hot(draws, self._num_events).sum(0).to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        logits, value = mg.broadcast_tensors(self.logits, self._checked(value))
        logits = mg.where((value == 0) & (logits == -math.inf), 0.0, logits)
        return mg.lgamma(value.sum(-1) + 1) - mg.lgamma(value + 1).sum(-1) + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        n, drawn = self.total_count, mg.lgamma(mg.tensor(self.total_count + 1.0))
        counts = Binomial(n, self.probs, validate_args=False)
        values = mg.arange(1.0, n + 1).reshape((-1, *(1,) * (1 + len(self._batch_shape))))
        weights = counts.log_prob(values).exp()
        one = Categorical(self.probs, validate_args=False).entropy()
        return n * one - drawn + (weights * (values + 1).lgamma()).sum((0, -1))


class Dirichlet(Distribution):
    """Vectors of n shares that sum to 1; `sample` only."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        """ValueError if `concentration` has no dimension."""
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        return most_likely_shares(self.concentration)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        raise NotImplementedError("Dirichlet.rsample: minigrad has no gradients of Dirichlet samples; use sample()")

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return wrap(gammas(np.broadcast_to(self.concentration._data, shape), default_generator, shares=True))

    def log_prob(self, value: Tensor) -> Tensor:
        a = self.concentration
        return mg.xlogy(a - 1.0, self._checked(value)).sum(-1) + mg.lgamma(a.sum(-1)) - mg.lgamma(a).sum(-1)

    def entropy(self) -> Tensor:
        a, n = self.concentration, self.concentration.shape[-1]
        total = a.sum(-1)
        return (
            mg.lgamma(a).sum(-1) - mg.lgamma(total) - (n - total) * mg.digamma(total)
            - ((a - 1.0) * mg.digamma(a)).sum(-1)
        )  # fmt: skip


class MultivariateNormal(Distribution):
    """Normal vectors with mean `loc`, and a covariance, its inverse (`precision_matrix`) or its root (`scale_tril`)."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        """ValueError unless exactly one of the three matrices is given."""
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {"covariance_matrix": covariance_matrix, "scale_tril": scale_tril, "precision_matrix": precision_matrix}
        ((name, matrix), *more) = [(k, v) for k, v in given.items() if v is not None] or [("", loc)]
        if more or not name:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
            )
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        batch = np.broadcast_shapes(tuple(matrix.shape[:-2]), tuple(loc.shape[:-1]))
        self.loc = loc.expand((*batch, loc.shape[-1]))
        self.__dict__[name] = matrix.expand((*batch, *matrix.shape[-2:]))
        super().__init__(batch, loc.shape[-1:], validate_args=validate_args)

    @lazy
    def scale_tril(self) -> Tensor:
        """The lower triangular root of the covariance."""
        if "covariance_matrix" in self.__dict__:
            return mg.linalg.cholesky(self.covariance_matrix)
        flipped = mg.linalg.cholesky(mg.flip(self.precision_matrix, (-2, -1)))  # the inverse's root, without inverting
        inverse = mg.transpose(mg.flip(flipped, (-2, -1)), -2, -1)
        return mg.linalg.solve_triangular(inverse, mg.eye(inverse.shape[-1], dtype=inverse.dtype), upper=False)

    @lazy
    def covariance_matrix(self) -> Tensor:
        """Of each two entries, how they vary together."""
        return self.scale_tril @ self.scale_tril.mT

    @lazy
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return mg.cholesky_inverse(self.scale_tril)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self.scale_tril.pow(2).sum(-1)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        eps = standard_normal(self._extended_shape(sample_shape), self.loc)
        return self.loc + (self.scale_tril @ eps.unsqueeze(-1)).squeeze(-1)

    def _half_log_det(self) -> Tensor:
        return self.scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        away = (self._checked(value) - self.loc).unsqueeze(-1)
        whitened = mg.linalg.solve_triangular(self.scale_tril, away, upper=False)
        distance = whitened.pow(2).sum((-2, -1))
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - self._half_log_det()

    def entropy(self) -> Tensor:
        return 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()


class TransformedDistribution(Distribution):
    """The distribution of t(x) for x drawn from `base_distribution`; `transforms` is one transform or several."""

    arg_constraints = {}
    _settings = ("transforms",)

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | list[Transform],
        validate_args: bool | None = None,
    ) -> None:
        """ValueError unless `transforms` is a Transform or a list of them."""
        self.transforms = [transforms] if isinstance(transforms, Transform) else transforms
        if not isinstance(self.transforms, list) or not all(isinstance(t, Transform) for t in self.transforms):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        self.base_dist = base_distribution
        super().__init__(base_distribution.batch_shape, base_distribution.event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Self:
        new = super().expand(batch_shape)
        new.base_dist = self.base_dist.expand(batch_shape)
        return new

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether its samples can be differentiated."""
        return self.base_dist.has_rsample

    @property
    def support(self) -> constraints.Constraint:
        """Where its samples lie."""
        if not self.transforms:
            return self.base_dist.support
        dims = len(self._event_shape)
        last = self.transforms[-1].codomain
        return constraints.independent(last, dims) if dims else last

    def _through(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            return self._through(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._through(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        y, slopes = self._checked(value), mg.zeros(())
        for transform in reversed(self.transforms):
            x = transform._inverse(y)
            missing = len(self._event_shape) - getattr(transform, "event_dim", 0)
            slopes, y = slopes - summed(transform.log_abs_det_jacobian(x, y), missing), x
        return slopes + self.base_dist.log_prob(y)

    def _fold(self, value: Tensor) -> Tensor:
        """Of a falling transform, the probability of more becomes that of less."""
        sign = math.prod(t.sign for t in self.transforms)
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        y = self._checked(value)
        for transform in reversed(self.transforms):
            y = transform._inverse(y)
        return self._fold(self.base_dist.cdf(y))

    def icdf(self, value: Tensor) -> Tensor:
        return self._through(self.base_dist.icdf(self._fold(value)))


class RelaxedBernoulli(Odds):
    """Numbers between 0 and 1 that come near to a Bernoulli sample as `temperature` falls (Gumbel-sigmoid)."""

    support = constraints.unit_interval
    has_rsample = True
    _shows_parameters = False
    _settings = ("temperature",)

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        """ValueError unless one of `probs` and `logits` is given."""
        either(probs, logits)
        name, value = ("probs", probs) if logits is None else ("logits", logits)
        (self.__dict__[name],) = together(value)
        self.temperature = temperature
        super().__init__(self.__dict__[name].shape, validate_args=validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        probs = clamped(self.probs.expand(shape))
        u = clamped(mg.rand(shape, dtype=probs.dtype))
        scores = u.log() - (-u).log1p() + probs.log() - (-probs).log1p()
        return clamped((scores / self.temperature).sigmoid())

    def log_prob(self, value: Tensor) -> Tensor:
        y = clamped(self._checked(value))
        y = y.log() - (-y).log1p()
        away = self.logits - y * self.temperature
        slope = mg.nn.functional.softplus(-y) + mg.nn.functional.softplus(y)
        return mg.log(mg.as_tensor(self.temperature)) + away - 2 * away.exp().log1p() + slope


class RelaxedOneHotCategorical(Outcomes):
    """Vectors that come near to a one-hot sample as `temperature` falls (Gumbel-softmax)."""

    support = constraints.simplex
    has_rsample = True
    _shows_parameters = False
    _settings = ("_num_events", "temperature")

    def __init__(
        self,
        temperature: Any,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__(probs, logits, validate_args)
        self.temperature, self._event_shape = temperature, Size((self._num_events,))

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        u = clamped(mg.rand(self._extended_shape(sample_shape), dtype=self.logits.dtype))
        scores = (self.logits - (-u.log()).log()) / self.temperature
        return (scores - scores.logsumexp(-1, keepdim=True)).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        n, y = self._num_events, self._checked(value).log()
        t = mg.as_tensor(self.temperature, dtype=y.dtype)
        scores = self.logits - y * t
        scores = (scores - scores.logsumexp(-1, keepdim=True)).sum(-1)
        return scores + math.lgamma(n) + t.log() * (n - 1) - y.sum(-1)


class MixtureSameFamily(Distribution):
    """Draw one of n components of one family, then from it."""

    arg_constraints = {}

    def __init__(
        self, mixture_distribution: Categorical, component_distribution: Distribution, validate_args: bool | None = None
    ) -> None:
        """ValueError unless the mixture is a Categorical over the last batch dimension of the components."""
        self.mixture_distribution, self.component_distribution = mixture_distribution, component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution need to be an instance of torch.distributions.Distribution"
            )
        shape, weights = component_distribution.batch_shape[:-1], mixture_distribution.batch_shape
        for one, other in zip(reversed(weights), reversed(shape)):
            if one != 1 and other != 1 and one != other:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({weights}) is not compatible with "
                    f"`component_distribution.batch_shape`({shape})"
                )
        wanted, found = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if wanted != found:
            raise ValueError(
                f"`mixture_distribution component` ({wanted}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({found})"
            )
        super().__init__(shape, component_distribution.event_shape, validate_args=validate_args)

    @property
    def support(self) -> constraints.Constraint:
        """Where its samples lie."""
        base: constraints.Constraint = self.component_distribution.support
        text = f"MixtureSameFamilyConstraint({base!r})"
        return constraints.Constraint(text, base._test, is_discrete=base.is_discrete, event_dim=base.event_dim)

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Self:
        new = super().expand(batch_shape)
        count = self.mixture_distribution.param_shape[-1]
        new.mixture_distribution = self.mixture_distribution.expand(batch_shape)
        new.component_distribution = self.component_distribution.expand((*batch_shape, count))
        return new

    def _weights(self) -> Tensor:
        probs = self.mixture_distribution.probs
        return probs.reshape((*probs.shape, *(1,) * len(self._event_shape)))

    @property
    def mean(self) -> Tensor:
        return (self._weights() * self.component_distribution.mean).sum(-1 - len(self._event_shape))

    @property
    def variance(self) -> Tensor:
        place, parts = -1 - len(self._event_shape), self.component_distribution
        within = (self._weights() * parts.variance).sum(place)
        between = (self._weights() * (parts.mean - self.mean.unsqueeze(place)).pow(2)).sum(place)
        return within + between

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            place = len(sample_shape) + len(self._batch_shape)
            which = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            ones = (1,) * (1 + len(self._event_shape))
            index = which.reshape((*which.shape, *ones)).expand((*drawn.shape[:place], 1, *self._event_shape))
            return mg.gather(drawn, place, index).squeeze(place)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        parts = self.component_distribution.log_prob(value.unsqueeze(-1 - len(self._event_shape)))
        return mg.logsumexp(parts + mg.log_softmax(self.mixture_distribution.logits, -1), -1)

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        parts = self.component_distribution.cdf(value.unsqueeze(-1 - len(self._event_shape)))
        return (parts * self.mixture_distribution.probs).sum(-1)

    def __repr__(self) -> str:
        inside = f"\n  {self.mixture_distribution},\n  {self.component_distribution}"
        return f"MixtureSameFamily({inside})"
