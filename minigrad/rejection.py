"""Samples that are drawn by trial: gamma, Dirichlet, binomial and Poisson, with PyTorch's own sequence of trials."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from minigrad.random import Generator

Array = np.ndarray[Any, np.dtype[Any]]
FLOAT64 = np.dtype(np.float64)


def _uniform(source: Generator) -> float:
    return float(source._uniform(1, FLOAT64)[0])


def _gamma(alpha: float, source: Generator) -> float:
    """Marsaglia and Tsang, 2000: a cubed normal, taken or left; a small alpha is raised by one and scaled back."""
    scale = 1.0
    if alpha < 1.0:
        scale = (1 - _uniform(source)) ** (1.0 / alpha)
        alpha += 1.0
    d = alpha - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = source._one_normal()
        while 1.0 + c * x <= 0:
            x = source._one_normal()
        v = (1.0 + c * x) ** 3
        u = 1 - _uniform(source)
        if u < 1.0 - 0.0331 * x**4 or math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return scale * d * v


def gammas(concentration: Array, source: Generator, shares: bool = False) -> Array:
    """A gamma sample of rate 1 for each concentration; `shares` divides by the sum over the last dimension."""
    kind = np.dtype(concentration.dtype)
    drawn = np.array([_gamma(float(a), source) for a in concentration.ravel()], FLOAT64).reshape(concentration.shape)
    limits = np.finfo(kind)
    if not shares:
        return np.maximum(drawn.astype(kind), limits.tiny)
    drawn = np.maximum(drawn, limits.tiny)
    drawn /= drawn.sum(-1, keepdims=True)
    return np.clip(drawn.astype(kind), limits.tiny, 1 - limits.eps / 2).astype(kind)


def _binomial(count: float, p: float, source: Generator) -> float:
    if count <= 0 or p <= 0:
        return 0.0
    if p >= 1:
        return count
    if p > 0.5:
        return count - _binomial(count, 1 - p, source)
    return _binomial_far(count, p, source) if count * p >= 10 else _binomial_near(count, p, source)


def _binomial_near(count: float, p: float, source: Generator) -> float:
    """Failures between two successes are geometric: count how many fit."""
    waited, found = 0.0, 0
    while True:
        waited += math.ceil(math.log(_uniform(source)) / math.log1p(-p))
        if waited > count:
            return float(found)
        found += 1


def _rest(k: float) -> float:
    """What Stirling's formula leaves of log(k!)."""
    if k <= 9:
        return math.lgamma(k + 1) - (0.5 * math.log(2 * math.pi) + (k + 0.5) * math.log(k + 1) - (k + 1))
    square = (k + 1) ** 2
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def _binomial_far(count: float, p: float, source: Generator) -> float:
    """Hormann's transformed rejection, 1993."""
    stddev = math.sqrt(count * p * (1 - p))
    b = 1.15 + 2.53 * stddev
    a, c = -0.0873 + 0.0248 * b + 0.01 * p, count * p + 0.5
    vr, alpha, odds = 0.92 - 4.2 / b, (2.83 + 5.1 / b) * stddev, p / (1 - p)
    m = math.floor((count + 1) * p)
    while True:
        u, v = _uniform(source) - 0.5, _uniform(source)
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + c)
        if us >= 0.07 and v <= vr:
            return float(k)
        if k < 0 or k > count:
            continue
        bound = (
            (m + 0.5) * math.log((m + 1) / (odds * (count - m + 1)))
            + (count + 1) * math.log((count - m + 1) / (count - k + 1))
            + (k + 0.5) * math.log(odds * (count - k + 1) / (k + 1))
            + _rest(m) + _rest(count - m) - _rest(k) - _rest(count - k)
        )  # fmt: skip
        if math.log(v * alpha / (a / (us * us) + b)) <= bound:
            return float(k)


def binomials(count: Array, p: Array, source: Generator) -> Array:
    """How many of `count` trials of probability `p` succeed, for each pair."""
    drawn = [_binomial(float(n), float(q), source) for n, q in zip(count.ravel(), p.ravel(), strict=True)]
    return np.array(drawn, count.dtype).reshape(count.shape)


def _poisson(rate: float, source: Generator) -> float:
    if rate == 0:
        return 0.0
    if rate < 10:  # exponential waiting times, as a product of uniforms
        found, product = 0, _uniform(source)
        while product > math.exp(-rate):
            found, product = found + 1, product * _uniform(source)
        return float(found)
    b = 0.931 + 2.53 * math.sqrt(rate)  # Hormann again
    a, inverse, vr = -0.059 + 0.02483 * b, 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = _uniform(source) - 0.5, _uniform(source)
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= vr:
            return float(k)
        if k < 0 or (us < 0.013 and v > us):
            continue
        bound = -rate + k * math.log(rate) - math.lgamma(k + 1)
        if math.log(v) + math.log(inverse) - math.log(a / (us * us) + b) <= bound:
            return float(k)


def poissons(rates: Array, source: Generator) -> Array:
    """A number from the Poisson distribution for each rate."""
    return np.array([_poisson(float(rate), source) for rate in rates.ravel()], rates.dtype).reshape(rates.shape)
