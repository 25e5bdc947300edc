"""The error function and the gamma function with their relatives, which numpy does not have: numpy in, numpy out.

Each is computed in float64, by the series or the iteration that its docstring names, and given back in the type of x.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

Array = Any  # numpy.ndarray or numpy.generic


@lru_cache
def _erfc_series(terms: int) -> Array:
    """Chebyshev coefficients of log(erfc(z) e^(z^2) / t) over t = 2 / (2 + z) in (0, 1)."""
    nodes = np.cos(np.pi * (np.arange(terms) + 0.5) / terms)
    values = []
    for t in (nodes + 1) / 2:
        z = 2 / t - 2
        if z < 20:
            values.append(math.log(math.erfc(z)) + z * z - math.log(t))
        else:
            tail = sum((-1) ** k * math.prod(range(1, 2 * k, 2)) / (2 * z * z) ** k for k in range(8))
            values.append(math.log(tail / (z * math.sqrt(math.pi))) - math.log(t))
    k = np.arange(terms)[:, None]
    angles = np.pi * k * (np.arange(terms) + 0.5) / terms
    coefficients = 2 / terms * (np.cos(angles) @ np.array(values))
    coefficients[0] /= 2
    return coefficients


def erfc(x: Array) -> Array:
    """The complementary error function to about 1e-15 (float32: 1e-9 before rounding)."""
    z = np.absolute(np.asarray(x, np.float64))
    t = 2 / (2 + z)
    u = 2 * t - 1
    a: Array = 0.0
    b: Array = 0.0
    for c in _erfc_series(34 if x.dtype == np.float64 else 16)[:0:-1]:
        a, b = 2 * u * a - b + c, a
    with np.errstate(invalid="ignore", under="ignore"):
        tail = t * np.exp(-z * z + u * a - b + _erfc_series(34 if x.dtype == np.float64 else 16)[0])
    tail = np.where(np.isinf(z), 0.0, tail)
    return np.where(x < 0, 2 - tail, tail).astype(x.dtype)[()]


def erf(x: Array) -> Array:
    """The error function; near 0 by its power series, where 1 - erfc would lose digits."""
    z = np.asarray(x, np.float64)
    far = np.copysign(1 - erfc(np.absolute(z) if x.dtype == np.float64 else np.absolute(x)), z)
    small = np.absolute(z) < 0.5
    if small.any():
        s = np.where(small, z, 0.0)
        q = -s * s
        series: Array = 0.0
        for k in range(13, -1, -1):
            series = series * q + 1 / (math.factorial(k) * (2 * k + 1))
        far = np.where(small, s * series * (2 / math.sqrt(math.pi)), far)
    return far.astype(x.dtype)[()]


def erfinv(x: Array) -> Array:
    """The inverse of `erf` by Newton's method from a rough start."""
    y = np.asarray(x, np.float64)
    with np.errstate(all="ignore"):
        log = np.log1p(-y * y)
        half = 2 / (math.pi * 0.147) + log / 2
        z = np.copysign(np.sqrt(np.sqrt(half * half - log / 0.147) - half), y)
        # In the middle solve erf(z) = |y|, in the tails log(erfc(z)) = log(1 - |y|), which is nearly a parabola.
        size = np.absolute(z)
        for _ in range(4):
            tail = erfc(size)
            density = 2 / math.sqrt(math.pi) * np.exp(-size * size)
            step = np.where(np.absolute(y) < 0.7, (erf(size) - np.absolute(y)) / density,
                            (np.log1p(-np.absolute(y)) - np.log(tail)) * tail / density)  # fmt: skip
            size = size - step
        z = np.copysign(size, y)
    z = np.where(np.absolute(y) == 1, np.copysign(np.inf, y), np.where(np.absolute(y) > 1, np.nan, z))
    return z.astype(x.dtype)[()]


def lgamma(x: Array) -> Array:
    """log |gamma(x)|."""

    def one(value: float) -> float:
        if abs(value) > 2.5e305 or (value <= 0 and value == int(value)):
            return math.inf
        return math.lgamma(value)

    flat = [one(value) for value in np.asarray(x, np.float64).reshape(-1).tolist()]
    return np.array(flat, np.float64).reshape(np.shape(x)).astype(x.dtype)[()]


def polygamma(x: Array, n: int) -> Array:
    """The n-th derivative of digamma: steps up to x >= 10, then Stirling's series; reflected for negative x."""
    z = np.array(x, np.float64)
    negative = z < 0
    with np.errstate(all="ignore"):
        reflected = np.where(negative, 1 - z, z)
        total = np.zeros_like(z)
        sign = (-1.0) ** (n + 1)
        for _ in range(16):
            low = reflected < 16
            term = -1 / reflected if n == 0 else sign * math.factorial(n) / reflected ** (n + 1)
            total = np.where(low, total + term, total)
            reflected = np.where(low, reflected + 1, reflected)
        r = reflected
        if n == 0:
            tail = np.log(r) - 1 / (2 * r)
        else:
            tail = sign * (math.factorial(n - 1) / r**n + math.factorial(n) / (2 * r ** (n + 1)))
        for k, bernoulli in enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6), 1):
            if n == 0:
                tail = tail - bernoulli / (2 * k * r ** (2 * k))
            else:
                scale = math.factorial(2 * k + n - 1) / math.factorial(2 * k)
                tail = tail + sign * bernoulli * scale / r ** (2 * k + n)
        value = total + tail
        if negative.any():
            value = np.where(negative, (-1) ** n * value - _cot_derivative(np.where(negative, z, 0.5), n), value)
        value = np.where((z <= 0) & (z == np.floor(z)), (np.nan if n == 0 else (-1) ** (n + 1) * np.inf), value)
        if n == 0:
            value = np.where(z == 0, np.copysign(np.inf, -z), value)
    return value.astype(x.dtype)[()]


def _cot_derivative(z: Array, n: int) -> Array:
    """The n-th derivative of pi * cot(pi z), as a polynomial in cot."""
    poly = np.polynomial.Polynomial([0.0, 1.0])
    for _ in range(n):
        poly = poly.deriv() * np.polynomial.Polynomial([-1.0, 0.0, -1.0])
    return math.pi ** (n + 1) * poly(1 / np.tan(math.pi * z))
