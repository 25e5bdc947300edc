"""The error function, which numpy does not have: numpy in, numpy out.

It is computed in float64, by a series, and given back in the type of x.
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


