"""Forward code too long for the derivative table: numpy in, numpy out, no Tensor in sight.

Arithmetic, activations, losses, matrices, reductions and shapes stand here; around it special_functions.py (erf, gamma),
gathering.py (picking, order, running totals) and windows.py (convolution, pooling).  A name that PyTorch's own kernel
has in an error message, such as "addmm_impl_cpu_", is given where the kernel stands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from minigrad import dtypes, errors, special_functions

Array = Any  # numpy.ndarray or numpy.generic
Shape = tuple[int, ...]

# Called with all arguments in order: far cheaper than np.sum and its keywords.
largest: Any = np.maximum.reduce
smallest: Any = np.minimum.reduce
multiplied: Any = np.multiply.reduce


def only_floats(label: str) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """A function that refuses integers, as PyTorch's kernel of this name does."""

    def decorate(function: Any) -> Any:
        def forward(x: Array, *rest: Any) -> Array:
            if x.dtype.kind != "f":
                errors.broadcast_shapes(x.shape, *(y.shape for y in rest if hasattr(y, "dtype")))  # that is looked at first
                raise errors.not_implemented(label, dtypes.of(x.dtype).tensor_name)
            return function(x, *rest)

        return _taking_what(function, forward)

    return decorate


def rounded_once(function: Any) -> Any:
    """A function that computes with float32 where it is given halves, as PyTorch does: nothing overflows on the way."""

    def forward(x: Array, *rest: Any) -> Array:
        if x.dtype.char != "e":
            return function(x, *rest)
        return np.asarray(function(x.astype(np.float32), *rest)).astype(np.float16)[()]

    return _taking_what(function, forward)


FEW = 256  # numbers that somebody may look at: that they take a microsecond longer nobody notices


def fine(function: np.ufunc) -> Callable[..., Array]:
    """A function of numpy's that is right in the last place, where there are few numbers; of integers it gives floats.

    In float32 numpy's own are one off there for every third number, PyTorch's for one in a hundred.
    """

    def forward(x: Array) -> Array:
        kind = x.dtype.char
        if kind == "f" and x.size <= FEW:
            return function(x, dtype=np.float64).astype(np.float32)
        return function(x if kind in "fde" else dtypes.floating(x))

    return forward


def in_double(function: Any) -> Any:
    """A function that computes few float32 with float64, as PyTorch does all; and halves with float32."""

    def forward(x: Array, *rest: Any) -> Array:
        if x.size > FEW or x.dtype.char != "f":
            return function(x, *rest) if x.dtype.char != "e" else forward(x.astype(np.float32), *rest).astype(np.float16)
        return function(x.astype(np.float64), *rest).astype(np.float32)

    return _taking_what(function, forward)


exp, expm1, log, log1p, log10 = map(fine, (np.exp, np.expm1, np.log, np.log1p, np.log10))
sin, cos, tanh = map(fine, (np.sin, np.cos, np.tanh))


def _taking_what(function: Any, forward: Any) -> Any:
    """`forward`, which takes what `function` does, under the names that rules use."""
    code = getattr(function, "__code__", None)
    forward.takes = getattr(function, "takes", code.co_varnames[: code.co_argcount] if code else ("x",))
    return forward


BOOLEAN = np.dtype(bool)


def refuse_booleans(label: str, x: Array) -> None:
    """NotImplementedError where PyTorch's kernel of this name takes no booleans."""
    if x.dtype is BOOLEAN:
        raise errors.not_implemented(label, "Bool")


def in_order(x: Array) -> Array:
    """x with its elements in order in memory: numpy lays many results out as their inputs are, where PyTorch does not."""
    return x if x.flags.c_contiguous else x.copy()


# ------------------------------------------------------------------------------------------- softmax


@rounded_once
def softmax(x: Array, dim: int) -> Array:
    if not x.size:
        return x.copy()
    if x.size > 1000 and x.dtype.char in "fd" and smallest(x, None) > -40 and largest(x, None) < 40:
        y = np.exp(x)  # no power so large or small that it matters: nothing to subtract first
    else:
        y = exp(x - largest_of_rows(x, dim))
    if (few := _few_rows(y, dim)) is not None:
        y *= 1 / few
    else:
        y /= total(y, dim, True)
    return in_order(y)


@rounded_once
def log_softmax(x: Array, dim: int) -> Array:
    if not x.size:
        return x.copy()
    y = x - largest_of_rows(x, dim)
    if y.size > FEW:
        y -= np.log(total(np.exp(y), dim, True))
        return in_order(y)
    powers = exp(y)
    few = _few_rows(powers, dim)
    y -= log(total(powers, dim, True) if few is None else few)
    return in_order(y)


def logsumexp(x: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    if x.size == 0:
        return log(total(x, dims, keepdim))
    top = largest(x, dims, None, None, True)
    top = np.where(np.isfinite(top), top, x.dtype.type(0))
    with np.errstate(divide="ignore"):
        y = log(total(exp(x - top), dims, keepdim))
    return y + top.reshape(y.shape)


@only_floats("log_sigmoid_cpu")
@rounded_once
def logsigmoid(x: Array) -> Array:
    return np.subtract(np.minimum(x, 0), log1p(exp(-np.absolute(x))), order="C")


@rounded_once
def sigmoid(x: Array) -> Array:
    """1 / (1 + e^-x) without overflow."""
    with np.errstate(over="ignore"):
        return np.reciprocal(1 + exp(-x))


# ------------------------------------------------------------------------------------------- division and powers


def true_divide(x: Array, y: Array) -> Array:
    """x / y; integers give the default floating-point type."""
    out = x / y
    if out.dtype is FLOAT64 and getattr(x, "dtype", FLOAT64).kind != "f" != getattr(y, "dtype", FLOAT64).kind:
        return np.true_divide(*dtypes.promote_floating(x, y))
    return out


FLOAT64 = np.dtype(np.float64)


def divide_rounded(x: Array, y: Array, mode: str) -> Array:
    """x / y rounded down ("floor") or towards zero ("trunc"); an integer divided by zero raises."""
    refuse_booleans(f"div_{mode}_cpu", x)
    if x.dtype.kind != "f":
        _check_divisor(x, y)
        down = np.floor_divide(x, y)
        if mode == "floor":
            return down
        return (down + ((x % y != 0) & ((x < 0) != (y < 0)))).astype(x.dtype)[()]
    if mode == "trunc":
        return np.trunc(np.true_divide(x, y))
    # numpy gives nan for x // 0; C's division gives infinities.
    quotient: Array = np.where(y == 0, np.true_divide(x, y), np.floor_divide(x, y))
    return quotient.astype(x.dtype)[()]


def _check_divisor(x: Array, y: Array) -> None:
    if not np.all(y) and np.size(x):
        raise RuntimeError("ZeroDivisionError")


def remainder(x: Array, y: Array) -> Array:
    """x % y with the sign of y."""
    refuse_booleans("remainder_cpu", x)
    if x.dtype.kind != "f":
        _check_divisor(x, y)
        return np.remainder(x, y)
    rest = np.fmod(x, y)  # a rest of 0 keeps the sign of x
    return np.where((rest != 0) & ((y < 0) != (rest < 0)), rest + y, rest)[()]


def fmod(x: Array, y: Array) -> Array:
    """x % y with the sign of x."""
    refuse_booleans("fmod_cpu", x)
    if x.dtype.kind != "f":
        _check_divisor(x, y)
    return np.fmod(x, y)


def power(x: Array, exponent: float) -> Array:
    """x ** exponent for a number; a float exponent makes floats of integers."""
    if x.dtype.kind != "f":
        if x.dtype is BOOLEAN and isinstance(exponent, bool):
            return x | (not exponent)
        kind = dtypes.result_type(x, exponent)
        if not kind.is_floating_point and exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        x, exponent = dtypes.cast(x, kind), dtypes.fitting(exponent, kind)
    elif x.dtype.itemsize == 2:
        dtypes.fitting(exponent, dtypes.float16)
    return x**exponent


def power_tensor(x: Array, y: Array) -> Array:
    """x ** y in the type of both."""
    refuse_booleans("pow", y)
    if x.dtype.kind in "iu" and np.any(y < 0):
        return _integer_power(x, y)
    return np.power(x, y)


def power_base(x: Array, base: float) -> Array:
    """base ** x for a number as base."""
    low, high = dtypes.promote(base, x)
    return power_tensor(low, high)


def _integer_power(x: Array, y: Array) -> Array:
    """Negative exponents of integers: 1 and -1 have powers, for the rest 0."""
    both: Any = np.broadcast_arrays(x, y)
    base, exponent = both
    unit = np.where(base == 1, 1, np.where(base == -1, np.where(exponent % 2 == 0, 1, -1), 0))
    return np.where(exponent < 0, unit, np.power(base, np.maximum(exponent, 0))).astype(x.dtype)


# ------------------------------------------------------------------------------------------- elementwise


def floating(function: Callable[..., Array]) -> Callable[..., Array]:
    """A function that gives floats of the default type when it is given integers."""

    def forward(x: Array, *rest: Array) -> Array:
        return function(x, *rest) if x.dtype.kind == "f" else function(*map(dtypes.floating, (x, *rest)))

    return forward


def unless_whole(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A rounding function, which leaves integers as they are."""

    def forward(x: Array) -> Array:
        refuse_booleans(f"{function.__name__}_vml_cpu", x)
        return function(x) if x.dtype.kind == "f" else x.copy()

    return forward


def power_slope(x: Any, exponent: float) -> Any:
    """exponent * x ** (exponent - 1), and 0 where the exponent is 0; for arrays and Tensors."""
    if exponent == 2 and not hasattr(x, "_data"):  # the same number without a power, faster
        return x + x
    return x ** (exponent - 1) * exponent if exponent else (x != x) & (x == x)  # nowhere, also at nan


def log_of(base: float) -> float:
    """log(base) of a Python number, also where it is infinite or nan."""
    return math.log(base) if base > 0 else -math.inf if base == 0 else math.nan


def absolute(x: Array) -> Array:
    refuse_booleans("abs_cpu", x)
    return np.absolute(x)


def sign(x: Array) -> Array:
    if x.dtype.kind == "f":
        return np.where(np.isnan(x), x.dtype.type(0), np.sign(x))[()]
    return np.sign(x) if x.dtype.kind != "b" else x.copy()


def round_half_even(x: Array, decimals: int) -> Array:
    refuse_booleans("round_cpu" if decimals else "round_vml_cpu", x)
    if x.dtype.kind != "f":
        return x.copy() if decimals == 0 else np.round(x, decimals)
    return np.round(x, decimals)


def clamp(x: Array, low: Any, high: Any) -> Array:
    """x, but at least `low` and at most `high`; None means no bound. nan stays."""
    if low is not None:
        x = np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


def inside(x: Array, low: Any, high: Any) -> Array:
    """Where low <= x <= high; None means no bound. nan is not inside."""
    if low is None:
        return x <= high
    return x >= low if high is None else (x >= low) & (x <= high)


def is_below(x: Array, low: Any, high: Any) -> Array:
    """Where a gradient of clamping x reaches `low`."""
    return (x < low) if high is None else (x < low) & (low < high)


def is_above(x: Array, low: Any, high: Any) -> Array:
    """Where a gradient of clamping x reaches `high`."""
    return (x > high) if low is None else (x > high) | (low > high)


def attained(x: Array, out: Array) -> Array:
    """Where x is the result of a maximum, minimum or median; nan is equal to nan."""
    same: Array = x == out
    if x.dtype.kind == "f" and np.isnan(out).any():
        same = same | (np.isnan(x) & np.isnan(out))
    return same


def tied(x: Array, out: Array, dims: tuple[int, ...] | None, nans: bool = True) -> Array:
    """The share of each element in a maximum (or minimum, or median): equal elements share evenly."""
    same = attained(x, out) if nans else x == out
    found = same.sum(axis=dims, keepdims=True)
    return same.astype(x.dtype) / found.astype(x.dtype)


_BITS, _ONE = {np.dtype(f"f{size}"): np.dtype(f"i{size}") for size in (2, 4, 8)}, np.ones((), np.int8)
_ZERO = {np.dtype(code): np.zeros((), code) for code in "?Bbhilefd"}


def relu(x: Array) -> Array:
    """The larger of x and 0.  (numpy compares fastest with a 0 of x's own type; in bulk `clip` is faster still.)"""
    if x.dtype is BOOLEAN:
        raise RuntimeError("Boolean inputs not supported for relu")
    if not x.ndim:
        return x.dtype.type(0) if x < 0 else x[()]
    return np.maximum(_ZERO[x.dtype], x) if x.size < 1000 or x.dtype.kind != "f" else x.clip(0, np.inf)


def gate(g: Array, out: Array) -> Array:
    """The slope of relu, from its result: g where that is not 0, and 0 elsewhere."""
    if not out.ndim:
        return g if out else g.dtype.type(0)
    return blocked(g, out == _ZERO[out.dtype])


def choose(x: Any, y: Any, condition: Any) -> Array:
    """x where the condition (an array, or a Tensor) holds, y elsewhere."""
    condition = np.asarray(condition)
    if type(x) is float and x == 0.0 and condition.ndim and np.shape(y) == condition.shape:
        return blocked(y, condition)
    if type(y) is float and y == 0.0 and condition.ndim and np.shape(x) == condition.shape:
        return blocked(x, ~condition)
    return np.where(condition, x, y)


def blocked(x: Array, mask: Array) -> Array:
    """x with 0 where the mask holds, whatever x is there: 0 * inf would be nan.

    In bulk by bits, for numpy knows no faster way: 0 - 1 is all ones and keeps x, 1 - 1 keeps nothing of it.
    """
    if x.size < 2000 or x.dtype not in _BITS:
        x = x.copy()
        np.putmask(x, mask, _ZERO[x.dtype])
        return x
    bits: Array = (mask.view(np.int8) - _ONE).astype(_BITS[x.dtype])
    bits &= x.view(bits.dtype)
    return bits.view(x.dtype)


def larger_share(x: Array, y: Array) -> Array:
    """1 where x is the larger of the two, 0 where y is, 1/2 where they are equal (1 where either is nan)."""
    return (~(x < y)).astype(x.dtype) - (x == y).astype(x.dtype) / 2


def smaller_share(x: Array, y: Array) -> Array:
    """1 where x is the smaller of the two, 0 where y is, 1/2 where they are equal (1 where either is nan)."""
    return (~(x > y)).astype(x.dtype) - (x == y).astype(x.dtype) / 2


def logit(x: Array, eps: float | None) -> Array:
    x = dtypes.floating(x)
    if eps is not None:
        x = np.clip(x, eps, 1 - eps)
    return log(x / (1 - x))


def clear_of(x: Array, eps: float | None) -> Array:
    """Where logit has a slope."""
    return inside(x, 0 if eps is None else eps, 1 if eps is None else 1 - eps)


def nan_to_num(x: Array, nan: float, posinf: float | None, neginf: float | None) -> Array:
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


@only_floats("hypot_cpu")
def hypot(x: Array, y: Array) -> Array:
    return np.hypot(x, y)


@only_floats("logaddexp_cpu")
def logaddexp(x: Array, y: Array) -> Array:
    return np.logaddexp(x, y)


def xlogy(x: Array, y: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 * log(0), which is not used
        return np.where((x == 0) & ~np.isnan(y), x.dtype.type(0), x * log(y))[()]


def lerp(x: Array, y: Array, weight: Any) -> Array:
    """From x (weight 0) to y (weight 1), from the nearer end, so that both ends are exact; float16 is computed as float32."""
    if x.dtype == np.float16:
        return lerp(x.astype(np.float32), y.astype(np.float32), np.float32(weight)).astype(np.float16)
    return np.where(np.absolute(weight) < 0.5, x + weight * (y - x), y - (y - x) * (1 - weight)).astype(x.dtype)[()]


# ------------------------------------------------------------------------------------------- activations


@only_floats("softplus_cpu")
@rounded_once
def softplus(x: Array, beta: float, threshold: float) -> Array:
    b = x * beta
    return np.where(b > threshold, x, log1p(exp(np.minimum(b, threshold))) / beta).astype(x.dtype)[()]


@only_floats("mish_cpu")
@rounded_once
def mish(x: Array) -> Array:
    return x * tanh(softplus(x, 1.0, 20.0))


@only_floats("GeluKernelImpl")
@rounded_once
def gelu(x: Array, approximate: str) -> Array:
    if approximate == "none":
        return x * 0.5 * (1 + special_functions.erf(x * x.dtype.type(math.sqrt(0.5))))
    return 0.5 * x * (1 + tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


@only_floats("elu_cpu")
def elu(x: Array, alpha: float, gain: float, inner: float) -> Array:
    return np.where(x > 0, x * gain, expm1(np.minimum(x, 0) * inner) * (alpha * gain))


@only_floats("elu_cpu")
def celu(x: Array, alpha: float) -> Array:
    return np.where(x > 0, x, expm1(np.minimum(x, 0) / alpha) * alpha)


@only_floats("hardsigmoid_cpu")
def hardsigmoid(x: Array) -> Array:
    return np.minimum(np.maximum(x + 3, 0), 6) / 6


@only_floats("hardswish_cpu")
def hardswish(x: Array) -> Array:
    return x * np.minimum(np.maximum(x + 3, 0), 6) / 6


@only_floats("hardshrink_cpu")
def hardshrink(x: Array, lambd: float) -> Array:
    return np.where((x >= -lambd) & (x <= lambd), x.dtype.type(0), x)


@only_floats("softshrink_check")
def softshrink(x: Array, lambd: float) -> Array:
    return np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, x * 0))


@only_floats("leaky_relu_cpu")
def leaky_relu(x: Array, slope: float) -> Array:
    return np.where(x > 0, x, x * slope)


@only_floats("silu_cpu")
@rounded_once
def silu(x: Array) -> Array:
    return x * sigmoid(x)


# ------------------------------------------------------------------------------------------- losses


def reduced(losses: Array, reduction: str) -> Array:
    """The mean or the sum of each element's loss, or all of them."""
    if losses.dtype.kind != "f":
        raise errors.not_implemented("mse_cpu", dtypes.of(losses.dtype).tensor_name)
    if reduction == "mean":
        return mean_all(losses)
    return total(losses, None) if reduction == "sum" else losses


def smooth_l1(x: Array, y: Array, beta: float) -> Array:
    size = np.absolute(x - y)
    return np.where(size < beta, size * size * (0.5 / beta), size - 0.5 * beta)


def huber(x: Array, y: Array, delta: float) -> Array:
    size = np.absolute(x - y)
    return np.where(size <= delta, size * size * 0.5, delta * (size - 0.5 * delta))


def bce(x: Array, y: Array, weight: Array | None) -> Array:
    """-(y log x + (1 - y) log(1 - x)), with the logarithms at least -100."""
    losses = (y - 1) * np.maximum(log1p(-x), -100) - y * np.maximum(log(x), -100)
    return losses if weight is None else losses * weight


def bce_with_logits(x: Array, y: Array, weight: Array | None, positive: Array | None) -> Array:
    """The same of sigmoid(x), without overflow."""
    if positive is None:
        losses = (1 - y) * x - logsigmoid(x)
    else:
        losses = (1 - y) * x - ((positive - 1) * y + 1) * logsigmoid(x)
    losses = losses.astype(y.dtype, copy=False) if y.dtype.kind == "f" else losses  # PyTorch writes into 1 - y
    return losses if weight is None else losses * weight


# ------------------------------------------------------------------------------------------- matrices


def fold_rows(x: Any) -> Any:
    """All rows of x under one another: (..., n) to (rows, n); for arrays and Tensors."""
    return x if x.ndim == 2 else x.reshape((math.prod(x.shape[:-1]), x.shape[-1]))


def rows_mm(x: Array, y: Array) -> Array:
    """x (..., n) times y (n, m), in one matrix product instead of many small ones."""
    out: Array = fold_rows(x) @ y
    return out if x.ndim == 2 else out.reshape((*x.shape[:-1], y.shape[-1]))


def linear(bias: Array | None, x: Array, weight: Array) -> Array:
    out = fold_rows(x) @ weight.T
    if bias is not None:
        out += bias
    return out if x.ndim == 2 else out.reshape((*x.shape[:-1], weight.shape[0]))


def weighted(x: Any, factor: float) -> Any:
    """x * factor, where multiplying by 1 costs nothing; for arrays and Tensors."""
    return x if factor == 1 else x * factor


def weighted_sum(x: Any, beta: float, y: Any, alpha: float) -> Any:
    """x * beta + y * alpha, where with beta 0 x is not looked at, not even if it is nan; for arrays and Tensors."""
    return weighted(x, beta) + weighted(y, alpha) if beta else weighted(y, alpha)


def column(x: Any) -> Any:
    """(...) to (..., 1, 1), to multiply matrices by numbers; for arrays and Tensors."""
    return x.reshape((*x.shape, 1, 1))


def _singular(function: str, x: Array) -> RuntimeError:
    place, pivot = _zero_pivot(x.reshape(-1, *x.shape[-2:]))
    batch = "" if x.ndim == 2 else f"(Batch element {place}): "
    return LinAlgError(
        f"{function}: {batch}The solver failed because the input matrix is singular."
        if function == "torch.linalg.solve"
        else f"{function}: {batch}The diagonal element {pivot} is zero, the inversion could not be completed "
        "because the input matrix is singular."
    )


def _zero_pivot(matrices: Array) -> tuple[int, int]:
    """The first matrix that is found singular by elimination, and the place (from 1) of the first pivot that is 0."""
    n = matrices.shape[-1]
    for place, matrix in enumerate(matrices):
        a = matrix.copy()
        for k in range(n):
            best = k + int(np.absolute(a[k:, k]).argmax())
            a[[k, best]] = a[[best, k]]
            if a[k, k] == 0:
                return place, k + 1
            a[k + 1 :, k:] -= np.outer(a[k + 1 :, k] / a[k, k], a[k, k:])
    return 0, n


class LinAlgError(RuntimeError):
    """A matrix that the algorithm cannot take, such as a singular one."""


LinAlgError.__name__ = "_LinAlgError"  # what PyTorch's traceback shows


def det(x: Array) -> Array:
    """The determinant, by elimination with the largest pivot: exact where the arithmetic is."""
    a = np.array(x)
    out = np.ones(x.shape[:-2], x.dtype)
    for k in range(x.shape[-1]):
        best = k + np.absolute(a[..., k:, k]).argmax(-1)
        rows = np.broadcast_to(np.arange(a.shape[-2]), a.shape[:-1]).copy()
        np.put_along_axis(rows, best[..., None], k, -1)
        rows[..., k] = best
        a = np.take_along_axis(a, rows[..., None], -2)
        pivot = a[..., k, k]
        out = out * np.where(best == k, pivot, -pivot)
        factor = a[..., k + 1 :, k] / np.where(pivot == 0, x.dtype.type(1), pivot)[..., None]
        a[..., k + 1 :, k:] -= factor[..., None] * a[..., k : k + 1, k:]
    return out[()]


def inverse(x: Array) -> Array:
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError:
        raise _singular("linalg.inv", x) from None


def solve(x: Array, y: Array) -> Array:
    try:
        return np.linalg.solve(x, y)
    except np.linalg.LinAlgError:
        raise _singular("torch.linalg.solve", x) from None


def cholesky(x: Array) -> Array:
    try:
        return np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        place, order = _bad_minor(x.reshape(-1, *x.shape[-2:]))
        batch = "" if x.ndim == 2 else f"(Batch element {place}): "
        raise LinAlgError(
            f"linalg.cholesky: {batch}The factorization could not be completed because the input is not positive-definite "
            f"(the leading minor of order {order} is not positive-definite)."
        ) from None


def _bad_minor(matrices: Array) -> tuple[int, int]:
    """The first matrix that is not positive-definite, and the size of its first leading block that is not."""
    for place, matrix in enumerate(matrices):
        for n in range(1, len(matrix) + 1):
            try:
                np.linalg.cholesky(matrix[:n, :n])
            except np.linalg.LinAlgError:
                return place, n
    return 0, matrices.shape[-1]


def statistics(x: Array, dims: tuple[int, ...], eps: float) -> tuple[Array, Array, Array, Array]:
    """The mean, 1 / sqrt(variance + eps) and variance over `dims`, which are kept as size 1; x normalised by them."""
    n = count(x.shape, dims)
    mean = total(x, dims, True) / n
    centred = x - mean
    var = total(centred * centred, dims, True) / n
    rstd = 1 / np.sqrt(var + eps)
    return mean, rstd, var, centred * rstd


# ------------------------------------------------------------------------------------------- reductions


_add: Any = np.add.reduce


def laid_as(x: Array, like: Array) -> Array:
    """A copy of x that lies in memory as `like` does, if that has no gaps; else row by row."""
    if np.empty_like(like).strides != like.strides:
        return np.array(x, order="C")
    out = np.empty_like(like, x.dtype)
    out[...] = x
    return out


def total(x: Array, dims: int | tuple[int, ...] | None, keepdim: bool = False) -> Array:
    """The sum over `dims`.  Over the first or the last dimensions it is a product with ones, which is much faster."""
    if x.size < 256 or dims is None or x.dtype.char not in "fd":
        if 4 < x.size <= FEW and x.dtype.char == "f" and x.flags.c_contiguous:
            sums = _as_pytorch_adds(x, dims, keepdim)
            if sums is not None:
                return sums
        sums = _add(x, dims, None, None, keepdim)
        return sums if x.ndim < 3 else in_order(sums)
    ones, first, flat, left = _as_product(x.shape, dims, keepdim, x.dtype)
    if ones is None:
        return in_order(_add(x, dims, None, None, keepdim))
    if len(x.shape) > 2:
        x = x.reshape(flat)
    sums = ones.dot(x) if first else x.dot(ones)
    return sums if len(left) == 1 else sums.reshape(left)


@lru_cache(maxsize=256)  # working it out takes longer than a small product
def _as_product(
    shape: Shape, dims: int | Shape, keepdim: bool, dtype: np.dtype[Any]
) -> tuple[Array | None, bool, Shape, Shape]:
    """The ones (or None), whether they come first; the two dimensions to look at x in, and the result's shape."""
    over = (dims,) if isinstance(dims, int) else dims
    k, n = len(over), len(shape)
    if 0 < k < n and over == tuple(range(k)):
        first, flat, left = True, (math.prod(shape[:k]), math.prod(shape[k:])), (1,) * (k * keepdim) + shape[k:]
    elif 0 < k < n and over in ((-1,), tuple(range(n - k, n))) and math.prod(shape[-k:]) <= 1024:
        first, flat, left = False, (math.prod(shape[:-k]), math.prod(shape[-k:])), shape[:-k] + (1,) * (k * keepdim)
    else:
        return None, False, (), ()  # longer rows numpy adds with less rounding
    return _ones(flat[not first], dtype), first, flat, left


def _as_pytorch_adds(x: Array, dims: int | Shape | None, keepdim: bool) -> Array | None:
    """The sum of few numbers in PyTorch's order, to the last place: eight lanes, then four; None if numpy's is the same."""
    if dims is None or x.ndim == 1 or dims == tuple(range(x.ndim)):
        return _in_a_row(x.reshape(-1)).reshape((1,) * (x.ndim * keepdim))[()]
    ones, first, flat, left = _as_product(x.shape, dims, keepdim, x.dtype)
    if ones is None:
        return None
    m, n = flat
    if not first or n == 1:
        m, n = (n, m) if first else flat
        return _in_a_row(x.reshape((m, n)).T).reshape(left) if n > 4 else None
    plain = n // 32 * 32 if n >= 8 else n // 4 * 4  # these columns PyTorch adds from top to bottom
    if m < 5 or m > 63 or (plain and m > 15):
        return None
    padded = np.zeros((m + 1, n), x.dtype)
    padded[:m] = x.reshape(flat)
    sums = _add(_add(padded[_in_fours(m)], 0), 0)
    if plain:
        sums[:plain] = _add(padded[:, :plain], 0)
    return sums.reshape(left)


def _in_a_row(x: Array) -> Array:
    """The sum along the first dimension of what lies in a row, of five to 256 numbers."""
    n = len(x)
    padded = np.zeros((n + 1, *x.shape[1:]), x.dtype)
    padded[:n] = x
    lanes = padded[_in_lanes(n)]
    lanes = _add(lanes, 0) if n > 7 else lanes[0]
    if n >= 40:
        lanes[1:9] = _add(lanes[1:].reshape((4, 8, *x.shape[1:])), 0)
    return np.add.accumulate(lanes[:9])[-1]


def _few_rows(x: Array, dim: int) -> Array | None:
    """The sums along the last dimension, kept, in the order of PyTorch's softmax: eight lanes, folded; else None."""
    if x.size > FEW or x.dtype.char != "f" or dim not in (-1, x.ndim - 1):
        return None
    n = x.shape[-1] if x.ndim else 1
    if n < 8:
        return _add(x, dim, None, None, True)
    lanes = np.zeros((*x.shape[:-1], (n + 7) // 8 * 8), x.dtype)
    lanes[..., :n] = x
    lanes = _add(lanes.reshape((*x.shape[:-1], -1, 8)), -2)
    for half in (4, 2, 1):
        lanes = lanes[..., :half] + lanes[..., half:]
    return lanes


def _total_of_squares(x: Array, dims: Shape, keepdim: bool) -> Array:
    """`total`; of few numbers in the order of PyTorch's norm: eight lanes, then what remains; one by one in other rows."""
    if not 0 < x.size <= FEW or x.dtype.char != "f" or not x.flags.c_contiguous:
        return total(x, dims, keepdim)
    whole = dims == tuple(range(x.ndim))
    if not whole and dims != (x.ndim - 1,):
        return in_order(_add(x, dims, None, None, keepdim))
    rows = x.reshape((1, -1)).T if whole else x.reshape((-1, x.shape[-1])).T
    lanes = _add(rows[: len(rows) // 8 * 8].reshape((-1, 8, rows.shape[1])), 0)
    sums = np.add.accumulate(np.concatenate([lanes, rows[len(rows) // 8 * 8 :]]))[-1]
    left = () if whole else x.shape[:-1]
    return sums.reshape((*left, *[1] * (len(dims) * keepdim)))[()]


@lru_cache(maxsize=256)
def _in_fours(n: int) -> Array:
    """Which row is added when: four sums in turn, what remains to the first; `n` for none."""
    lists = [[i for i in range(k, n) if i < n // 4 * 4 and i % 4 == k] for k in range(4)]
    lists[0] += range(n // 4 * 4, n)
    return np.array([[*each, *[n] * (len(lists[0]) - len(each))] for each in lists]).T


@lru_cache(maxsize=256)
def _in_lanes(n: int) -> Array:
    """Which number of a row goes into which sum: the rest, then the lanes of four vectors; `n` for none."""
    if n < 8:
        return np.arange(n)[[0, *range(4, n), 1, 2, 3]][None]
    vectors = _in_fours(n // 8) if n >= 40 else np.arange(n // 8)[:, None]
    lanes = (vectors[..., None] * 8 + np.arange(8)).reshape((len(vectors), -1))
    rest = np.full((max(len(lanes), n % 8), 1), n)
    rest[: n % 8, 0] = np.arange(n // 8 * 8, n)
    lanes = np.concatenate([lanes, np.full((len(rest) - len(lanes), lanes.shape[1]), n)])
    return np.concatenate([rest, np.where(lanes < n // 8 * 8, lanes, n)], 1)


@lru_cache(maxsize=64)
def _ones(n: int, dtype: np.dtype[Any]) -> Array:
    return np.ones(n, dtype)


def largest_of_rows(x: Array, dim: int) -> Array:
    """The largest along one dimension, kept as size 1; numpy compares short rows fastest when they stand upright."""
    if x.shape[dim] > 32 or x.size < 300 or dim % x.ndim != x.ndim - 1:
        return largest(x, dim, None, None, True)
    upright = np.ascontiguousarray(x.reshape((-1, x.shape[dim])).T)
    return largest(upright, 0).reshape((*x.shape[:-1], 1))


def count(shape: Shape, dims: Sequence[int] | None = None) -> int:
    """The number of elements, or of those along `dims`."""
    return math.prod(shape if dims is None else [shape[d] for d in dims])


@rounded_once
def mean_all(x: Array) -> Array:
    return total(x, None) / (x.size or x.dtype.type(0))


@rounded_once
def mean_dims(x: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    return total(x, dims, keepdim) / (count(x.shape, dims) or x.dtype.type(0))


@in_double
def var(x: Array, dims: tuple[int, ...], correction: float, keepdim: bool) -> Array:
    centred = x - x[tuple(slice(0, 1) if d in dims else slice(None) for d in range(x.ndim))]  # exactly 0 for equal numbers
    centred -= mean_dims(centred, dims, True)
    free = max(count(x.shape, dims) - correction, 0)
    return total(centred * centred, dims, keepdim) / (free or x.dtype.type(0))


@in_double
def std(x: Array, dims: tuple[int, ...], correction: float, keepdim: bool) -> Array:
    return np.sqrt(var(x, dims, correction, keepdim))


def median_all(x: Array) -> Array:
    """The lower of the two middle elements; nan if there is one, or nothing."""
    flat = np.asarray(x).reshape(-1)
    if flat.size:
        refuse_booleans("median_cpu", x)
    if x.dtype is BOOLEAN:
        return x.dtype.type(True)
    if not flat.size:
        return x.dtype.type(np.nan if x.dtype.kind == "f" else np.iinfo(x.dtype).min)
    if x.dtype.kind == "f" and np.isnan(flat).any():
        return x.dtype.type(np.nan)
    return np.partition(flat, (flat.size - 1) // 2)[(flat.size - 1) // 2]


@rounded_once
def vector_norm(x: Array, order: float, dims: tuple[int, ...], keepdim: bool) -> Array:
    size = np.absolute(x)
    if order == 2:
        return np.sqrt(_total_of_squares(size * size, dims, keepdim))
    if order == 1:
        return total(size, dims, keepdim)
    if order == 0:
        return total((x != 0).astype(x.dtype), dims, keepdim)
    if math.isinf(order):
        extreme = largest if order > 0 else smallest
        return extreme(size, dims, None, None, keepdim) if x.size else total(size, dims, keepdim)
    return total(size**order, dims, keepdim) ** (1 / order)


def has_zero(x: Any) -> bool:
    return not np.all(getattr(x, "_data", x))


# ------------------------------------------------------------------------------------------- shapes


def swap(x: Array, i: int, j: int) -> Array:
    """Two dimensions exchanged; a single number has none to exchange."""
    return x.swapaxes(i, j) if x.ndim else x[...]


def copied(x: Array, y: Array) -> Array:
    """y in the shape and type of x."""
    return np.broadcast_to(np.asarray(y).astype(x.dtype), x.shape).copy()


def duplicate(x: Array) -> Array:
    """A copy whose numbers lie in the same order of memory as those of x (C's, if x repeats some)."""
    return x.copy() if x.flags.c_contiguous or 0 in x.strides else x.copy("K")


def laid_out(x: Array, like: Array) -> Array:
    """A new array in the order of memory of another one of its shape."""
    if like.flags.c_contiguous or 0 in like.strides:
        return x
    turned = np.empty_like(like, x.dtype)
    turned[...] = x
    return turned


def memory_order(like: Array) -> Shape | None:
    """The dimensions, those with the longest steps in memory first; None if they stand in this order."""
    if like.flags.c_contiguous or 0 in like.strides:
        return None
    order = tuple(sorted(range(like.ndim), key=lambda d: -like.strides[d]))
    return None if order == tuple(range(like.ndim)) else order


def filled_like(like: Array, draw: Any) -> Array:
    """What `draw` gives for a shape, its numbers (random ones) one after the other in the order of memory of `like`."""
    order = memory_order(like)
    if order is None:
        return draw(like.shape)
    return draw(tuple(like.shape[d] for d in order)).transpose(inverse_order(order))


def broadcast(x: Array, shape: Shape) -> Array:
    """A view that repeats x along new and stretched dimensions (np.broadcast_to, at a fraction of the cost)."""
    if not x.flags.c_contiguous:
        return np.lib.stride_tricks.as_strided(x, shape, _stretched(x, shape))
    return np.ndarray(shape, x.dtype, x, 0, _stretched(x, shape))


def _stretched(x: Array, shape: Shape) -> Shape:
    steps: Shape = tuple(0 if n == 1 else s for n, s in zip(x.shape, x.strides))
    new: int = len(shape) - x.ndim
    return (0,) * new + steps


def inverse_order(dims: Shape) -> Shape:
    """The permutation that undoes this one."""
    order = [0] * len(dims)
    for position, dim in enumerate(dims):
        order[dim] = position
    return tuple(order)


def negated(shifts: Shape) -> Shape:
    """Each number with the other sign."""
    return tuple(-s for s in shifts)


def negated_pairs(widths: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Each number of each pair with the other sign."""
    return tuple((-a, -b) for a, b in widths)


def strided(x: Array, size: Shape, stride: Shape, offset: int) -> Array:
    """Elements of contiguous memory by sizes and steps: a view."""
    flat = np.asarray(x).reshape(-1)[offset:]
    return np.lib.stride_tricks.as_strided(flat, size, tuple(s * x.itemsize for s in stride))


def add_strided(g: Array, shape: Shape, size: Shape, stride: Shape, offset: int) -> Array:
    """The transpose of `strided`: elements that were read more than once get the sum."""
    places = strided(np.arange(count(shape)), size, stride, offset)
    return np.bincount(places.reshape(-1), np.asarray(g).reshape(-1), count(shape)).astype(g.dtype).reshape(shape)


def trace(x: Array) -> Array:
    """The sum of the diagonal; integers add up as int64."""
    refuse_booleans("trace", x)
    return np.trace(x, dtype=x.dtype if x.dtype.kind == "f" else np.int64)


def diagonal_copy(x: Array, offset: int) -> Array:
    return diagonal(x, offset, 0, 1).copy()


def diagonal(x: Array, offset: int, i: int, j: int) -> Array:
    """A writable view of the diagonal of dimensions i and j, as a new last dimension."""
    rows, columns = x.shape[i], x.shape[j]
    length = max(min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns), 0)
    corner = [slice(None)] * x.ndim
    if length:
        corner[i], corner[j] = slice(max(-offset, 0), None), slice(max(offset, 0), None)
    part = x[tuple(corner)]
    keep = [d for d in range(x.ndim) if d not in (i, j)]
    shape = (*(x.shape[d] for d in keep), length)
    steps = (*(x.strides[d] for d in keep), x.strides[i] + x.strides[j])
    return np.lib.stride_tricks.as_strided(part, shape, steps)


def replace_diagonal(x: Array, y: Array, offset: int, i: int, j: int) -> Array:
    """A copy of x with y on the diagonal."""
    out = x.copy()
    diagonal(out, offset, i, j)[...] = y
    return out


def put_diagonal(g: Array, shape: Shape, offset: int, i: int, j: int) -> Array:
    """The transpose of `diagonal`: zeros with g on the diagonal."""
    out = np.zeros(shape, g.dtype)
    diagonal(out, offset, i, j)[...] = g
    return out


