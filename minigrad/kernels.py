"""Forward code too long for the derivative table: numpy in, numpy out, no Tensor in sight.

Arithmetic, activations, losses, matrices and reductions stand here; around it layout.py (memory), sums.py (adding up),
special_functions.py (erf, gamma), gathering.py (picking, order, running totals) and windows.py (convolution, pooling).
A name that PyTorch's own kernel has in an error message, such as "addmm_impl_cpu_", is given where the kernel stands.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import dtypes, errors, special_functions
from minigrad.layout import Array, count, in_order
from minigrad.sums import FEW, few_rows, total, total_of_squares

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


# ------------------------------------------------------------------------------------------- softmax


@rounded_once
def softmax(x: Array, dim: int) -> Array:
    if not x.size:
        return x.copy()
    if x.size > 1000 and x.dtype.char in "fd" and smallest(x, None) > -40 and largest(x, None) < 40:
        y = np.exp(x)  # no power so large or small that it matters: nothing to subtract first
    else:
        y = exp(x - largest_of_rows(x, dim))
    if (few := few_rows(y, dim)) is not None:
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
    few = few_rows(powers, dim)
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


def largest_of_rows(x: Array, dim: int) -> Array:
    """The largest along one dimension, kept as size 1; numpy compares short rows fastest when they stand upright."""
    if x.shape[dim] > 32 or x.size < 300 or dim % x.ndim != x.ndim - 1:
        return largest(x, dim, None, None, True)
    upright = np.ascontiguousarray(x.reshape((-1, x.shape[dim])).T)
    return largest(upright, 0).reshape((*x.shape[:-1], 1))


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
        return np.sqrt(total_of_squares(size * size, dims, keepdim))
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


def trace(x: Array) -> Array:
    """The sum of the diagonal; integers add up as int64."""
    refuse_booleans("trace", x)
    return np.trace(x, dtype=x.dtype if x.dtype.kind == "f" else np.int64)
