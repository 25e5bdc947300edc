"""The derivative table, third page: functions of Bessel, Gauss, Riemann and Euler, which few programs need.

derivatives.py explains the form. Below the lines are the functions that compute their values, in float64: series, sums
and continued fractions. Loaded when one of them is first called.
"""

# mypy: disable-error-code="no-any-return,has-type"
# (operations are typed Any: the same functions take arrays and Tensors; rules name operations that stand further down)

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import dtypes, kernels, special_functions
from minigrad import more_derivatives as more
from minigrad.derivatives import constant, exp, log, sign, where, zeros
from minigrad.kernels import floating
from minigrad.more_derivatives import is_zero, without
from minigrad.operations import enter, operation

Array = Any

# ------------------------------------------------------------------------------------------------------- the table


def in_float64(compute: Any) -> Any:
    """`compute` of float64 numbers, rounded to the type of the input; integers give the default floating-point type."""

    def forward(x: Array, *others: Array) -> Array:
        out = compute(*(np.asarray(v, np.float64) for v in (x, *others)))
        return out.astype(dtypes.floating(x).dtype)[()]

    return forward


def _refuse(name: str) -> Any:
    """The rule of an input in which PyTorch, too, has no derivative."""

    def refused(g: Any) -> Any:
        """Raises NotImplementedError: PyTorch has no derivative here, either."""
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return refused


i0 = operation("I0", in_float64(lambda x: _grown(x, 0)), lambda g, x: g * i1(x))
i0e = operation("SpecialI0E", in_float64(lambda x: bessel(x, 0)), lambda g, x, out: g * (i1e(x) - sign(x) * out))
i1 = operation(
    "SpecialI1",
    in_float64(lambda x: _grown(x, 1)),
    lambda g, x, out: g * where(0.5, i0(x) - out / not_zero(x), is_zero(x)),
)
i1e = operation(
    "SpecialI1E",
    in_float64(lambda x: bessel(x, 1)),
    lambda g, x, out: g * where(0.5, i0e(x) - out * (sign(x) + 1 / not_zero(x)), is_zero(x)),
)
ndtri = operation(
    "SpecialNdtri",
    in_float64(lambda x: _ndtri(x)),
    lambda g, out: g * math.sqrt(2 * math.pi) * exp(out * out / 2),
)
log_ndtr = operation(
    "SpecialLogNdtr",
    in_float64(lambda x: _log_ndtr(x)),
    lambda g, x: g / erfcx(x / -math.sqrt(2)) * math.sqrt(2 / math.pi),
)
erfcx = operation(
    "SpecialErfcx", in_float64(lambda x: _erfcx(x)), lambda g, x, out: g * (2 * x * out - 2 / math.sqrt(math.pi))
)
entr = operation("SpecialEntr", floating(lambda x: _entropy(x)), lambda g, x: g * -(log(x) + 1))
xlog1py = operation(
    "SpecialXlog1Py",
    floating(lambda x, y: _xlog1py(x, y)),
    lambda g, x, y: without(xlog1py(g, y), is_zero(x) & (y <= -1)),
    lambda g, x, y: g * x / (y + 1),
)
zeta = operation(
    "SpecialZeta", in_float64(lambda x, y: _zeta(x, y)), _refuse("zeta"), lambda g, x, y: -g * x * zeta(x + 1, y)
)
igamma = operation(
    "Igamma",
    in_float64(lambda x, y: _incomplete_gamma(x, y)[0]),
    _refuse("igamma: input"),
    lambda g, x, y: g * exp((x - 1) * log(y) - y - more.lgamma(x)),
)
igammac = operation(
    "Igammac",
    in_float64(lambda x, y: _incomplete_gamma(x, y)[1]),
    _refuse("igammac: input"),
    lambda g, x, y: -g * exp((x - 1) * log(y) - y - more.lgamma(x)),
)
mvlgamma = operation(
    "Mvlgamma",
    lambda x, order: _mvlgamma(dtypes.floating(x), order),
    lambda g, x, order: g * _over_halves(more.digamma, x, order),
)
mantissa = operation("Frexp", lambda x: np.frexp(x)[0], lambda g, x: g / power_of_two(x))

# ---------------------------------------------------------------------------------------------------- of matrices

log_size = operation(  # the logarithm of the size of the determinant, which itself may be beyond all numbers
    "LinalgSlogdet",
    lambda x: np.linalg.slogdet(x)[1],
    lambda g, x: more.solve(x.mT, kernels.column(g) * identity(x)),
)
det_sign = operation("LinalgSlogdet", lambda x: np.linalg.slogdet(x)[0], lambda g: None)
pinv = operation(
    "LinalgPinv",
    lambda x, value: value,
    lambda g, x, out: (
        (g.mT - x @ (out @ g.mT)) @ out @ out.mT + out.mT @ out @ (g.mT - (g.mT @ out) @ x) - out.mT @ g @ out.mT
    ),
)
lu_square = operation("LinalgLuFactorEx", lambda x: _lu_square(x), lambda g, out: _lu_gradient(g, out))

# --------------------------------------------------------------------------------------------------- random numbers

# What is drawn does not follow the parameters smoothly: PyTorch's derivative is 0, not missing.

drawn_bernoulli, drawn_poisson, drawn_normal_mean = (
    operation(name, lambda x, value: value, lambda g: zeros(g)) for name in ("Bernoulli", "Poisson", "NormalBackward1")
)
drawn_normal_std = operation("NormalBackward2", lambda x, value: value, lambda g: zeros(g))
drawn_normal = operation("NormalBackward3", lambda x, y, value: value, lambda g: zeros(g), lambda g: zeros(g))

identity = constant(lambda x: np.eye(x.shape[-1], dtype=x.dtype))
power_of_two = constant(lambda x: np.ldexp(x.dtype.type(1), np.frexp(x)[1]))

enter(globals())


def not_zero(x: Any) -> Any:
    """x, and 1 where it is 0."""
    return where(1.0, x, is_zero(x))


# ------------------------------------------------------------------------------------------------------ the values


def bessel(x: Array, n: int) -> Array:
    """exp(-|x|) times the modified Bessel function of order 0 or 1.

    Up to 20 its integral over a circle (64 points are exact to the last digit), beyond that its asymptotic series.
    """
    size = np.absolute(x)
    angles = np.arange(64) * (2 * math.pi / 64)
    near = np.minimum(size, 20.0)[..., None] * (np.cos(angles) - 1)
    inner = (np.exp(near) * (size[..., None] * np.sin(angles) ** 2 if n else 1.0)).mean(-1)
    far = np.maximum(size, 20.0)
    term = series = np.ones_like(far)
    for k in range(1, 25):
        term = term * ((2 * k - 1) ** 2 - 4 * n * n) / (8 * k * far)
        series = series + term
    out = np.where(size > 20, series / np.sqrt(2 * math.pi * far), inner)
    return out * np.sign(x) if n else out


def _grown(x: Array, n: int) -> Array:
    with np.errstate(all="ignore"):
        return bessel(x, n) * np.exp(np.absolute(x))


def _erfcx(x: Array) -> Array:
    """exp(x * x) * erfc(x): of a large x a continued fraction, in which the two do not have to be multiplied."""
    with np.errstate(all="ignore"):
        near = np.exp(x * x) * special_functions.erfc(x)
        tail = np.maximum(x, 2.0)
        fraction: Array = tail
        for k in range(120, 0, -1):
            fraction = tail + k / 2 / fraction
    return np.where(x > 2, 1 / (math.sqrt(math.pi) * fraction), near)


def _log_ndtr(x: Array) -> Array:
    t = x / math.sqrt(2)
    with np.errstate(all="ignore"):
        return np.where(x < -1, np.log(_erfcx(-t) / 2) - t * t, np.log1p(-special_functions.erfc(t) / 2))


def _ndtri(x: Array) -> Array:
    """Where the normal distribution has share x below it; far out by Newton's method on the logarithm of the share."""
    with np.errstate(all="ignore"):
        y = np.minimum(x, 1 - x)
        z = math.sqrt(2) * special_functions.erfinv(2 * y - 1)
        wanted = np.log(np.clip(y, 5e-324, 0.02))
        far = -np.sqrt(-2 * wanted)
        for _ in range(6):
            far = far - (_log_ndtr(far) - wanted) * _erfcx(far / -math.sqrt(2)) * math.sqrt(math.pi / 2)
        z = np.where((y > 0) & (y < 0.02), far, z)
    return np.where(x > 0.5, -z, z)


def _mvlgamma(x: Array, p: int) -> Array:
    return (_over_halves(special_functions.lgamma, x, p) + p * (p - 1) / 4 * math.log(math.pi)).astype(x.dtype)[()]


def _entropy(x: Array) -> Array:
    safe = np.where(x > 0, x, x.dtype.type(1))
    return np.where(x > 0, -safe * np.log(safe), np.where(np.isnan(x), x, np.where(x == 0, 0, -np.inf))).astype(x.dtype)[()]


def _xlog1py(x: Array, y: Array) -> Array:
    with np.errstate(all="ignore"):
        return np.where((x == 0) & ~np.isnan(y), x.dtype.type(0), x * np.log1p(y))[()]


def _zeta(s: Array, q: Array) -> Array:
    """Hurwitz's zeta function: the first ten terms, and Euler and Maclaurin's formula for the rest."""
    with np.errstate(all="ignore"):
        first = sum((q + k) ** -s for k in range(10))
        a = q + 10
        rest = a ** (1 - s) / (s - 1) + a**-s / 2
        rising = s * a ** (-s - 1)
        for k, bernoulli in enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6), 1):
            rest = rest + bernoulli / math.factorial(2 * k) * rising
            rising = rising * (s + 2 * k - 1) * (s + 2 * k) / (a * a)
        out = first + rest
        pole = (q <= 0) & (q == np.floor(q))
        out = np.where(pole, np.inf, np.where((q <= 0) & (s != np.floor(s)), np.nan, out))
    return np.where(s < 1, np.nan, np.where(s == 1, np.inf, out))


def _incomplete_gamma(a: Array, x: Array) -> tuple[Array, Array]:
    """The shares of the gamma function below and above x: by a series for small x, else by a continued fraction."""
    a, x = np.broadcast_arrays(a, x)
    with np.errstate(all="ignore"):
        front = np.exp(a * np.log(x) - x - special_functions.lgamma(np.asarray(a, np.float64)))
        term = total = 1 / a
        for k in range(1, 400):
            term = term * (x / (a + k))
            total = total + np.where(np.isfinite(term), term, 0)
            if not np.any(np.absolute(term) > np.absolute(total) * 1e-17):
                break
        lower = front * total
        b = x + 1 - a
        c = np.full_like(b, 1e300)
        d = 1 / b
        fraction = d
        for k in range(1, 400):  # Lentz's way from the front
            b = b + 2
            step = -k * (k - a)
            d = 1 / (step * d + b)
            c = b + step / c
            fraction = fraction * (c * d)
            if not np.any(np.absolute(c * d - 1) > 1e-16):
                break
        upper = front * fraction
        by_series = x < a + 1
        lower, upper = np.where(by_series, lower, 1 - upper), np.where(by_series, 1 - lower, upper)
        lower = np.where(np.isinf(x) | (a == 0), 1.0, np.where(x == 0, 0.0, np.where(np.isinf(a), 0.0, lower)))
        upper = np.where(np.isinf(x) | (a == 0), 0.0, np.where(x == 0, 1.0, np.where(np.isinf(a), 1.0, upper)))
        invalid = (a < 0) | (x < 0) | np.isnan(a + x) & ~np.isinf(x) | ((a == 0) & (x == 0)) | (np.isinf(a) & np.isinf(x))
    return np.where(invalid, np.nan, lower), np.where(invalid, np.nan, upper)


def _over_halves(compute: Any, x: Any, p: int) -> Any:
    """The sum of compute(x), compute(x - 1/2), ... over p terms."""
    total = compute(x)
    for k in range(1, p):
        total = total + compute(x - k / 2)
    return total


def _lu_square(x: Array) -> Array:
    """L (below the diagonal, on which it has ones) and U of square matrices whose rows are in the right order."""
    out = np.array(x)
    with np.errstate(all="ignore"):
        for k in range(out.shape[-1] - 1):
            pivot = out[..., k, k, None]
            out[..., k + 1 :, k] = np.where(pivot == 0, out[..., k + 1 :, k], out[..., k + 1 :, k] / pivot)
            out[..., k + 1 :, k + 1 :] -= out[..., k + 1 :, k, None] * out[..., None, k, k + 1 :]
    return out


def _lu_gradient(g: Any, out: Any) -> Any:
    """L^-T (strict lower triangle of L^T gL + upper triangle of gU U^T) U^-T."""
    upper = more.triu(out, 0)
    lower = more.tril(out, -1) + identity(out)
    inner = more.tril(lower.mT @ more.tril(g, -1), -1) + more.triu(more.triu(g, 0) @ upper.mT, 0)
    return more.solve(lower.mT, more.solve(upper, inner.mT).mT)
