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


_BITS, _ONE = {np.dtype(f"f{size}"): np.dtype(f"i{size}") for size in (2, 4, 8)}, np.ones((), np.int8)
_ZERO = {np.dtype(code): np.zeros((), code) for code in "?Bbhilefd"}


def relu(x: Array) -> Array:
    """The larger of x and 0.  (numpy compares fastest with a 0 of x's own type; in bulk `clip` is faster still.)"""
    if x.dtype is BOOLEAN:
        raise RuntimeError("Boolean inputs not supported for relu")
    if not x.ndim:
        return x.dtype.type(0) if x < 0 else x[()]
    return np.maximum(_ZERO[x.dtype], x) if x.size < 1000 or x.dtype.kind != "f" else x.clip(0, np.inf)


def where(condition: Array, x: Any, y: Any) -> Array:
    return np.where(condition, x, y)


def masked_fill(x: Array, y: Any, mask: Array) -> Array:
    return np.asarray(np.where(mask, y, x), order="C")


def nan_to_num(x: Array, nan: float, posinf: float | None, neginf: float | None) -> Array:
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


def rsqrt(x: Array) -> Array:
    return 1 / np.sqrt(dtypes.floating(x))


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


@only_floats("GeluKernelImpl")
@rounded_once
def gelu(x: Array, approximate: str) -> Array:
    if approximate == "none":
        return x * 0.5 * (1 + special_functions.erf(x * x.dtype.type(math.sqrt(0.5))))
    return 0.5 * x * (1 + tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


@only_floats("leaky_relu_cpu")
def leaky_relu(x: Array, slope: float) -> Array:
    return np.where(x > 0, x, x * slope)


# ------------------------------------------------------------------------------------------- losses


def reduced(losses: Array, reduction: str) -> Array:
    """The mean or the sum of each element's loss, or all of them."""
    if losses.dtype.kind != "f":
        raise errors.not_implemented("mse_cpu", dtypes.of(losses.dtype).tensor_name)
    if reduction == "mean":
        return mean_all(losses)
    return total(losses, None) if reduction == "sum" else losses


def smooth_l1_loss(x: Array, y: Array, reduction: str, beta: float) -> Array:
    size = np.absolute(x - y)
    return reduced(np.where(size < beta, size * size * (0.5 / beta), size - 0.5 * beta), reduction)


def huber_loss(x: Array, y: Array, reduction: str, delta: float) -> Array:
    size = np.absolute(x - y)
    return reduced(np.where(size <= delta, size * size * 0.5, delta * (size - 0.5 * delta)), reduction)


def bce_loss(x: Array, y: Array, weight: Array | None, reduction: str) -> Array:
    """-(y log x + (1 - y) log(1 - x)), with the logarithms at least -100."""
    losses = (y - 1) * np.maximum(log1p(-x), -100) - y * np.maximum(log(x), -100)
    return reduced(losses if weight is None else losses * weight, reduction)


def bce_with_logits_loss(x: Array, y: Array, weight: Array | None, positive: Array | None, reduction: str) -> Array:
    """The same of sigmoid(x), without overflow."""
    if positive is None:
        losses = (1 - y) * x - logsigmoid(x)
    else:
        losses = (1 - y) * x - ((positive - 1) * y + 1) * logsigmoid(x)
    losses = losses.astype(y.dtype, copy=False) if y.dtype.kind == "f" else losses  # PyTorch writes into 1 - y
    return reduced(losses if weight is None else losses * weight, reduction)


# ------------------------------------------------------------------------------------------- indexing


def place(g: Array, shape: tuple[int, ...], key: Any) -> Array:
    """Zeros of this shape with g at x[key]."""
    out = np.zeros(shape, g.dtype)
    out[key] = g
    return out


def at(index: Array, dims: tuple[int, ...]) -> tuple[Any, ...]:
    """numpy's index for an index array at one dimension, or for its rows at several."""
    parts: list[Any] = [slice(None)] * (dims[-1] + 1)
    for dim, part in zip(dims, (index,) if len(dims) == 1 else index):
        parts[dim] = part
    return tuple(parts)


def pick(x: Array, index: Array, dims: tuple[int, ...]) -> Array:
    return in_order(x[at(index, dims)])


def put(g: Array, index: Array, shape: tuple[int, ...], dims: tuple[int, ...]) -> Array:
    """The transpose of `pick`: g added into zeros; repeated indices add up."""
    out = np.zeros(shape, g.dtype)
    if index.dtype is BOOLEAN:
        out[at(index, dims)] = g
    else:
        np.add.at(out, at(index, dims), g)
    return out


def index_put(x: Array, index: Array, value: Any, dims: tuple[int, ...]) -> Array:
    out = np.array(x, order="C")
    out[at(index, dims)] = value
    return out


def index_add(x: Array, index: Array, source: Array, dims: tuple[int, ...]) -> Array:
    out = np.array(x, order="C")
    np.add.at(out, at(index, dims), source)
    return out


def along(index: Array, dim: int) -> tuple[Any, ...]:
    """numpy's index that pairs `index` along `dim` with its own place in the others."""
    grid: list[Any] = list(np.ogrid[tuple(map(slice, index.shape))])
    grid[dim : dim + 1] = [index]  # the index itself, for a single number
    return tuple(grid)


def gather(x: Array, index: Array, dim: int) -> Array:
    return in_order(np.atleast_1d(x)[along(index, dim)])


def put_along(g: Array, index: Array, shape: tuple[int, ...], dim: int) -> Array:
    """The transpose of `gather`: g added into zeros."""
    return scatter_add(np.zeros(shape, g.dtype), index, g, dim)


def scatter(x: Array, index: Array, source: Any, dim: int) -> Array:
    out = np.array(x, order="C")
    np.atleast_1d(out)[along(index, dim)] = source
    return out


def scatter_add(x: Array, index: Array, source: Array, dim: int) -> Array:
    out = np.array(x, order="C")
    np.add.at(np.atleast_1d(out), along(index, dim), source)
    return out


def cat(arrays: list[Array], dim: int, bounds: tuple[int, ...]) -> Array:
    return in_order(np.concatenate(arrays, dim))


def stack(arrays: list[Array], dim: int) -> Array:
    return in_order(np.stack(arrays, dim))


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


class LinAlgError(RuntimeError):
    """A matrix that the algorithm cannot take, such as a singular one."""


LinAlgError.__name__ = "_LinAlgError"  # what PyTorch's traceback shows


def pivots(matrix: Array) -> list[Any]:
    """The pivots of Gaussian elimination, negative after an exchange of rows, up to the first 0."""
    a, found = matrix.copy(), []
    for k in range(len(a)):
        best = k + int(np.absolute(a[k:, k]).argmax())
        a[[k, best]] = a[[best, k]]
        found.append(a[k, k] if best == k else -a[k, k])
        if not found[-1]:
            break
        a[k + 1 :, k:] -= np.outer(a[k + 1 :, k] / a[k, k], a[k, k:])
    return found


def det(x: Array) -> Array:
    """numpy's goes by logarithms, and is 5.000000000000001 for [[2, 1], [1, 3]]."""
    lead, n = x.shape[:-2], x.shape[-1]
    flat = x.reshape((math.prod(lead), n, n))
    return np.array([math.prod(pivots(a)) for a in flat], x.dtype).reshape(lead)[()]


def inverse(x: Array) -> Array:
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError:
        every = [pivots(a) for a in x.reshape((-1, *x.shape[-2:]))]
    place = next((i for i, found in enumerate(every) if not found[-1]), 0)
    batch = "" if x.ndim == 2 else f"(Batch element {place}): "
    raise LinAlgError(
        f"linalg.inv: {batch}The diagonal element {len(every[place])} is zero, the "
        "inversion could not be completed because the input matrix is singular."
    )


def solve(x: Array, y: Array) -> Array:
    try:
        return np.linalg.solve(x, y)
    except np.linalg.LinAlgError:
        raise LinAlgError(
            "torch.linalg.solve: The solver failed because the input matrix is singular."
        ) from None


def solve_vector(x: Array, y: Array) -> Array:
    return solve(x, y[..., None])[..., 0]


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


def sum_all(x: Array) -> Array:
    return np.add.reduce(x, None)


def sum_dims(x: Array, dims: tuple[int, ...] | None, keepdim: bool) -> Array:
    return in_order(np.add.reduce(x, dims, None, None, keepdim))


def prod_dim(x: Array, dim: int, keepdim: bool) -> Array:
    return np.multiply.reduce(x, dim, None, None, keepdim) if x.ndim else x[()]


def amax(x: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    return in_order(np.maximum.reduce(x, dims, None, None, keepdim))


def amin(x: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    return in_order(np.minimum.reduce(x, dims, None, None, keepdim))


def picked(x: Array, index: Array, dim: int, keepdim: bool) -> Array:
    """The element of each row whose place `index` names."""
    if not x.ndim:
        return x[()]
    out = np.take_along_axis(x, index, dim)
    return out if keepdim else out.squeeze(dim)[()]


def no_derivative(name: str) -> Any:
    """NotImplementedError: PyTorch has no derivative here, either."""
    raise NotImplementedError(f"the derivative for '{name}' is not implemented.")


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
