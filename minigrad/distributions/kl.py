"""Kullback-Leibler divergences: one function for each pair of families."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import minigrad as mg
from minigrad.distributions.continuous import (
    Beta,
    Exponential,
    Gamma,
    Gumbel,
    HalfNormal,
    Laplace,
    LogNormal,
    Normal,
    Uniform,
)  # fmt: skip
from minigrad.distributions.discrete import Bernoulli, Binomial, Categorical, Geometric, Poisson
from minigrad.distributions.distribution import Distribution, summed
from minigrad.distributions.joint import Dirichlet, Independent, MultivariateNormal, OneHotCategorical
from minigrad.distributions.tails import Pareto
from minigrad.nn.functional import softplus
from minigrad.tensor import Tensor

Rule = Callable[[Any, Any], Tensor]
_RULES: dict[tuple[type, type], Rule] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Rule], Rule]:
    """A decorator: the function is the divergence of a `type_p` from a `type_q`.  TypeError unless both are types."""
    for each, name in ((type_p, "type_p"), (type_q, "type_q")):
        if not (isinstance(each, type) and issubclass(each, Distribution)):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {each}")

    def remember(rule: Rule) -> Rule:
        _RULES[type_p, type_q] = rule
        return rule

    return remember


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """KL(p || q), the expected value under p of p.log_prob(x) - q.log_prob(x); shape batch_shape.

    NotImplementedError if there is no formula for the two families.
    """
    for one in type(p).__mro__:
        for other in type(q).__mro__:
            if (one, other) in _RULES:
                return _RULES[one, other](p, q)
    raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")


@register_kl(Normal, Normal)
@register_kl(LogNormal, LogNormal)
def _normals(p: Any, q: Any) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normals(p: Any, q: Any) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio - 1 - ratio.log())


@register_kl(Pareto, Pareto)
def _paretos(p: Any, q: Any) -> Tensor:
    ratio = q.alpha / p.alpha
    kl = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return mg.where(p.scale < q.scale, math.inf, kl)


@register_kl(Pareto, Normal)
def _pareto_normal(p: Any, q: Any) -> Tensor:
    mean = p.scale / (p.alpha - 1)
    away = p.alpha * mean.pow(2) / (p.alpha - 2) + (p.alpha * mean - q.loc).pow(2)
    entropy = (math.sqrt(2 * math.pi) * q.scale * p.alpha / p.scale).log() - p.alpha.reciprocal()
    return mg.where(p.alpha <= 2, math.inf, entropy + away / (2 * q.scale.pow(2)) - 1)


@register_kl(Bernoulli, Bernoulli)
def _bernoullis(p: Any, q: Any) -> Tensor:
    yes = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    no = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    yes = mg.where(p.probs == 0, 0.0, mg.where(q.probs == 0, math.inf, yes))
    no = mg.where(p.probs == 1, 0.0, mg.where(q.probs == 1, math.inf, no))
    return yes + no


@register_kl(Binomial, Binomial)
def _binomials(p: Any, q: Any) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return mg.where(p.total_count > q.total_count, math.inf, kl)


@register_kl(Categorical, Categorical)
@register_kl(OneHotCategorical, OneHotCategorical)
def _categoricals(p: Any, q: Any) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    terms = mg.where((q.probs == 0).expand(terms.shape), math.inf, terms)
    return mg.where((p.probs == 0).expand(terms.shape), 0.0, terms).sum(-1)


@register_kl(Geometric, Geometric)
def _geometrics(p: Any, q: Any) -> Tensor:
    return -p.entropy() - mg.log1p(-q.probs) / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poissons(p: Any, q: Any) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniforms(p: Any, q: Any) -> Tensor:
    kl = ((q.high - q.low) / (p.high - p.low)).log()
    return mg.where((q.low > p.low) | (q.high < p.high), math.inf, kl)


@register_kl(Uniform, Normal)
@register_kl(Exponential, Normal)
@register_kl(Laplace, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Gamma, Normal)
@register_kl(Beta, Normal)
def _from_normal(p: Any, q: Any) -> Tensor:
    """Of a normal q, log_prob is a parabola: mean and variance of p are enough."""
    expected = ((p.mean - q.loc).pow(2) + p.variance) / (2 * q.scale.pow(2))
    return expected + (q.scale * math.sqrt(2 * math.pi)).log() - p.entropy()


@register_kl(Gumbel, Gumbel)
def _gumbels(p: Any, q: Any) -> Tensor:
    ratio, away = p.scale / q.scale, (q.loc - p.loc) / q.scale
    return ratio * np.euler_gamma - np.euler_gamma - 1 - ratio.log() - away + (away + (1 + ratio).lgamma()).exp()


@register_kl(Exponential, Exponential)
def _exponentials(p: Any, q: Any) -> Tensor:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Laplace, Laplace)
def _laplaces(p: Any, q: Any) -> Tensor:
    ratio, away = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * mg.exp(-away / p.scale) - 1


@register_kl(Gamma, Gamma)
def _gammas(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    return (
        b * (p.rate / q.rate).log() + mg.lgamma(b) - mg.lgamma(a) + (a - b) * mg.digamma(a)
        + (q.rate - p.rate) * (a / p.rate)
    )  # fmt: skip


@register_kl(Beta, Beta)
def _betas(p: Any, q: Any) -> Tensor:
    one, zero = p.concentration1, p.concentration0
    total, other = one + zero, q.concentration1 + q.concentration0
    heights = q.concentration1.lgamma() + q.concentration0.lgamma() + total.lgamma()
    return (
        heights - one.lgamma() - zero.lgamma() - other.lgamma() + (one - q.concentration1) * mg.digamma(one)
        + (zero - q.concentration0) * mg.digamma(zero) + (other - total) * mg.digamma(total)
    )  # fmt: skip


@register_kl(Dirichlet, Dirichlet)
def _dirichlets(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    heights = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return heights + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normals(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError("KL-divergence between two Multivariate Normals with\nerent event shapes cannot be computed")
    ratio = mg.linalg.solve_triangular(q.scale_tril, p.scale_tril, upper=False).pow(2).sum((-2, -1))
    away = mg.linalg.solve_triangular(q.scale_tril, (p.loc - q.loc).unsqueeze(-1), upper=False)
    return q._half_log_det() - p._half_log_det() + 0.5 * (ratio + away.pow(2).sum((-2, -1)) - p.event_shape[0])


@register_kl(Independent, Independent)
def _independents(p: Any, q: Any) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return summed(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
