"""Probability distributions: `sample` and `rsample` with PyTorch's random numbers, `log_prob`, `entropy`, `kl_divergence`.

    q = Normal(mean, std)
    loss = q.log_prob(x).mean() + kl_divergence(q, Normal(0.0, 1.0)).sum()

`distribution.py` holds what all share; `continuous.py`, `discrete.py`, `joint.py` (of vectors, mixed, transformed) and
`tails.py` (durations, counts, outliers) the families; `kl.py` the divergences; `constraints.py` what parameters and
samples may be. Gradients flow through `rsample` where PyTorch has them, but for Beta, Dirichlet, Gamma and what is made
of it, of which only `sample` is here.
"""

import sys as _sys

from minigrad.distributions import constraints, continuous, discrete, joint, tails, transforms
from minigrad.distributions.continuous import (
    Beta,
    Cauchy,
    Exponential,
    Gamma,
    Gumbel,
    HalfNormal,
    Laplace,
    LogNormal,
    Normal,
    Uniform,
)
from minigrad.distributions.discrete import Bernoulli, Binomial, Categorical, Geometric, Poisson
from minigrad.distributions.distribution import Distribution
from minigrad.distributions.joint import (
    Dirichlet,
    Independent,
    MixtureSameFamily,
    Multinomial,
    MultivariateNormal,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
    TransformedDistribution,
)
from minigrad.distributions.kl import kl_divergence, register_kl
from minigrad.distributions.tails import (
    Chi2,
    HalfCauchy,
    InverseGamma,
    NegativeBinomial,
    Pareto,
    StudentT,
    Weibull,
)
from minigrad.distributions.transforms import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    SigmoidTransform,
    TanhTransform,
    Transform,
)

__all__ = [
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "Gamma",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "InverseGamma",
    "Laplace",
    "LogNormal",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "SigmoidTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "Weibull",
    "constraints",
    "kl_divergence",
    "register_kl",
    "transforms",
]

# PyTorch keeps each family in a file of its own: `from torch.distributions.normal import Normal`.
for _room, _names in (
    (continuous, "normal log_normal laplace cauchy gumbel uniform exponential half_normal gamma beta"),
    (discrete, "bernoulli geometric binomial categorical poisson"),
    (tails, "chi2 half_cauchy inverse_gamma negative_binomial pareto studentT weibull"),
    (joint, "independent one_hot_categorical multinomial dirichlet multivariate_normal transformed_distribution"),
):
    for _name in _names.split():
        globals()[_name] = _sys.modules[f"{__name__}.{_name}"] = _room
