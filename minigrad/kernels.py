"""Forward code too long for a line of the derivative table: numpy in, numpy out, no Tensor in sight.

A function that is linear comes with its transpose, such as `pick` with `put`: in the table each is the derivative of the
other.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import dtypes, errors

# numpy.ndarray or numpy.generic
Array = Any
Kernel = Callable[..., Array]
Shape = tuple[int, ...]

# Called with all arguments in order, (x, dims, None, None, keepdim): by keyword they take half as long again.
total: Any = np.add.reduce
product: Any = np.multiply.reduce
largest: Any = np.maximum.reduce
smallest: Any = np.minimum.reduce


def of_rows(function: Kernel) -> Kernel:
    """A function along a dimension that takes single numbers too: each counts as a row of one."""

    @functools.wraps(function)
    def forward(x: Array, *others: Any) -> Array:
        if x.ndim:
            return function(x, *others)
        rows = (np.atleast_1d(y) if isinstance(y, dtypes.ARRAYS) else y for y in (x, *others))
        return function(*rows).reshape(())[()]

    return forward


def of_kinds(kinds: str, kernel: str) -> Callable[[Any], Kernel]:
    """A function of floats ("f"), or of all but booleans ("fiu"); others are NotImplementedError, with PyTorch's kernel."""

    def limited(function: Any) -> Kernel:
        @functools.wraps(function)
        def forward(x: Array, *others: Any) -> Array:
            if getattr(x, "dtype", FLOAT64).kind not in kinds:
                raise errors.not_implemented(kernel, dtypes.of(x.dtype).tensor_name)
            return function(x, *others)

        return forward

    return limited


def median(x: Array) -> Array:
    """The lower median of all elements; nan of none."""
    x = x.reshape(-1)
    return x[median_places(x, 0)] if x.size else np.float64(np.nan).astype(x.dtype)


@of_kinds("fiu", "median_cpu")
def median_places(x: Array, dim: int) -> Array:
    """Where along a dimension the lower median stands, or the first nan."""
    places = np.argsort(x, dim, kind="stable").take((x.shape[dim] - 1) // 2, dim)
    nans = x != x
    return np.where(nans.any(dim), nans.argmax(dim), places)


def sign(x: Array) -> Array:
    """-1, 0 or 1; 0 of nan, and a boolean is its own."""
    return x.copy() if x.dtype.kind == "b" else np.nan_to_num(np.sign(x))

# ------------------------------------------------------------ shapes and order in memory


def count(shape: Shape, dims: Sequence[int] | None = None) -> int:
    """The number of elements, or of those along `dims`."""
    return math.prod(shape if dims is None else [shape[d] for d in dims])


def copied(x: Array, y: Array) -> Array:
    """y in the shape and type of x."""
    # which numpy takes long to say
    wide = np.broadcast_shapes(x.shape, y.shape) if y.ndim and y.shape != x.shape else x.shape
    if wide != x.shape:
        raise RuntimeError(errors.OUTPUT_SHAPE.format(list(x.shape), list(wide)))
    return np.broadcast_to(np.asarray(y).astype(x.dtype), x.shape).copy()


def expand(x: Array, shape: Shape) -> Array:
    """np.broadcast_to, at a fraction of its cost, and a view that may be written."""
    steps = x.strides
    if 1 in x.shape:
        steps = tuple(0 if n == 1 else step for n, step in zip(x.shape, steps))
    steps = (0,) * (len(shape) - x.ndim) + steps
    if x.flags.c_contiguous:
        return np.ndarray(shape, x.dtype, x, 0, steps)
    return np.lib.stride_tricks.as_strided(x, shape, steps)


def swap(x: Array, i: int, j: int) -> Array:
    """Two dimensions exchanged; a single number has none."""
    return x.swapaxes(i, j) if x.ndim else x[...]


def inverse_order(dims: Sequence[int]) -> Shape:
    """The permutation that undoes this one."""
    return tuple(sorted(range(len(dims)), key=dims.__getitem__))


def negated(shifts: Shape) -> Shape:
    """Each number with the other sign."""
    return tuple(-n for n in shifts)


def negated_pairs(widths: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Each number of each pair with the other sign."""
    return tuple((-a, -b) for a, b in widths)


def diagonal(x: Array, offset: int, i: int, j: int) -> Array:
    """The diagonal of dimensions i and j as a new last one: a view that may be written."""
    view = np.diagonal(x, offset, i, j)
    # which numpy takes away
    view.flags.writeable = x.flags.writeable
    return view


def put_diagonal(g: Array, shape: Shape, offset: int, i: int, j: int) -> Array:
    """The transpose of `diagonal`: zeros with g on the diagonal."""
    out = np.zeros(shape, g.dtype)
    diagonal(out, offset, i, j)[...] = g
    return out


# ------------------------------------------------------------ division and powers


def true_divide(x: Array, y: Array) -> Array:
    """x / y; integers give the default floating-point type."""
    out = x / y
    kinds = (getattr(n, "dtype", FLOAT64).kind for n in (x, y))
    if out.dtype is FLOAT64 and "f" not in kinds:
        return np.true_divide(*dtypes.promote_floating(x, y))
    return out


FLOAT64 = np.dtype(np.float64)


def negative(x: Array) -> Array:
    if x.dtype.kind == "b":
        raise RuntimeError("Negation, the `-` operator, on a bool tensor " + errors.USE_NOT)
    return -x


def whole(division: Any, kernel: str) -> Kernel:
    """A division that is defined for whole numbers too, but not by 0; nor for booleans, which PyTorch's `kernel` refuses."""

    @of_kinds("fiu", kernel)
    def forward(x: Array, y: Array) -> Array:
        if np.result_type(x, y).kind in "iu" and np.size(x) and not np.all(y):
            raise RuntimeError("ZeroDivisionError")
        return division(x, y)

    return forward


floor_divide = whole(np.floor_divide, "div_floor_cpu")


def remainder(x: Array, y: Array) -> Array:
    """The rest of a division with the sign of y; a rest of 0 has that of x, as in C."""
    rest = np.asarray(np.remainder(x, y))
    if rest.dtype.kind == "f":
        np.copysign(rest, x, rest, where=np.logical_not(rest))
    return rest if rest.ndim else rest[()]


def divide_rounded(x: Array, y: Array, mode: str) -> Array:
    """x / y rounded down ("floor") or towards zero ("trunc")."""
    if mode == "floor":
        return floor_divide(x, y)
    if mode != "trunc":
        raise RuntimeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{mode}'")
    return np.trunc(x / y).astype(np.result_type(x, y))


def power(x: Array, exponent: float) -> Array:
    """x ** exponent for a number; a float exponent makes floats of integers."""
    if x.dtype.kind != "f":
        x = dtypes.cast(x, dtypes.result_type(x, exponent))
    if x.dtype.kind in "iu" and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    return x**exponent


# ------------------------------------------------------------ each number by itself


def floating(function: Kernel) -> Kernel:
    """A function that gives floats of the default type when it is given integers."""

    def forward(x: Array) -> Array:
        return function(x if x.dtype.kind == "f" else dtypes.floating(x))

    return forward


# 0-d arrays, because numpy compares slowly with a Python 0; "l" has 32 bits in a browser
ZEROS = {np.dtype(kind): np.zeros((), kind) for kind in ("e", "f", "d", "i1", "i2", "i4", "i8", "B")}


def relu(x: Array) -> Array:
    if x.dtype.kind == "b":
        raise RuntimeError("Boolean inputs not supported for relu")
    if not x.ndim:
        return x.dtype.type(0) if x < 0 else x[()]
    if x.size < 1000 or x.dtype.kind != "f":
        return np.maximum(ZEROS[x.dtype], x)
    return x.clip(0, math.inf)


def where(condition: Array, x: Any, y: Any) -> Array:
    # "g where ..., and 0 elsewhere" ends many rules; these ways take half the time of np.where and less.
    if type(y) is float and y == 0.0 and x.shape == condition.shape and x.dtype in BITS:
        if isinstance(x, np.generic):
            return x if condition else x.dtype.type(0)
        if x.size < 1000:
            out = np.zeros(x.shape, x.dtype)
            np.putmask(out, condition, x)
            return out
        # inf * 0 is nan, but the bits of inf are a number like any other
        bits = BITS[x.dtype]
        return (x.view(bits) * condition.astype(bits)).view(x.dtype)
    return np.where(condition, x, y)[()]


BITS = {np.dtype(f"f{n}"): np.dtype(f"i{n}") for n in (4, 8)}


# ------------------------------------------------------------ activations


def sigmoid(x: Array) -> Array:
    x = dtypes.floating(x)
    return 1 / (1 + np.exp(-x))


@of_kinds("f", "log_sigmoid_cpu")
def logsigmoid(x: Array) -> Array:
    """log(sigmoid(x)) without overflow."""
    return np.minimum(x, 0) - np.log1p(np.exp(-np.absolute(x)))


@of_kinds("f", "softplus_cpu")
def softplus(x: Array, beta: float, threshold: float) -> Array:
    """log(1 + exp(beta * x)) / beta; x itself where beta * x is larger than the threshold."""
    b = x * beta
    return np.where(b > threshold, x, np.log1p(np.exp(np.minimum(b, threshold))) / beta)


@of_kinds("f", "GeluKernelImpl")
def gelu(x: Array, approximate: str) -> Array:
    if approximate == "none":
        return x * 0.5 * (1 + erf(x * math.sqrt(0.5)))
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def erf(x: Array) -> Array:
    return erf_of_numbers(x).astype(dtypes.floating(x).dtype)[()]


erf_of_numbers = np.vectorize(math.erf, [float])


def upright(function: Kernel) -> Kernel:
    """The function of rows; numpy reduces short ones fastest when they stand upright, as columns."""

    def forward(x: Array, dims: Shape) -> Array:
        if not x.size:
            return x.copy()
        if x.ndim != 2 or dims != (1,) or x.shape[1] > 32:
            return function(x, dims)
        return function(x.T.copy(), (0,)).T.copy()

    return forward


@of_kinds("f", "softmax_lastdim_kernel_impl")
@upright
def softmax(x: Array, dims: Shape) -> Array:
    # The largest of each short row takes longer than the rest; of moderate numbers no power overflows without it.
    moderate = x.size > 1000 and x.dtype in BITS and largest(np.absolute(x), None) < 40
    y = np.exp(x if moderate else x - largest(x, dims, None, None, True))
    y /= total(y, dims, None, None, True)
    return y


@of_kinds("f", "log_softmax_lastdim_kernel_impl")
@upright
def log_softmax(x: Array, dims: Shape) -> Array:
    y = x - largest(x, dims, None, None, True)
    y -= np.log(total(np.exp(y), dims, None, None, True))
    return y


def logsumexp(x: Array, dims: Shape, keepdim: bool) -> Array:
    top = largest(x, dims, None, None, True, -np.inf)
    top = np.where(np.isfinite(top), top, x.dtype.type(0))
    y = np.log(total(np.exp(x - top), dims, None, None, keepdim))
    return y + top.reshape(y.shape)


# ------------------------------------------------------------ losses


def reduced(losses: Array, reduction: str) -> Array:
    """The mean or the sum of each element's loss, or all of them."""
    if reduction == "mean":
        return mean_all(losses)
    return total(losses, None) if reduction == "sum" else losses


@of_kinds("f", "mse_cpu")
def mse_loss(x: Array, y: Array, reduction: str) -> Array:
    return reduced(np.square(x - y), reduction)


@of_kinds("f", "huber_cpu")
def huber_loss(x: Array, y: Array, reduction: str, delta: float) -> Array:
    size = np.absolute(x - y)
    losses = np.where(size <= delta, size * size * 0.5, delta * (size - 0.5 * delta))
    return reduced(losses, reduction)


def smooth_l1_loss(x: Array, y: Array, reduction: str, beta: float) -> Array:
    return huber_loss(x, y, reduction, beta) / x.dtype.type(beta)


def bce_loss(x: Array, y: Array, weight: Any, reduction: str) -> Array:
    """-(y log x + (1 - y) log(1 - x)), with the logarithms at least -100."""
    losses = (y - 1) * np.maximum(np.log1p(-x), -100) - y * np.maximum(np.log(x), -100)
    return reduced(losses if weight is None else losses * weight, reduction)


def bce_with_logits_loss(x: Array, y: Array, weight: Any, positive: Any, reduction: str) -> Array:
    """The same of sigmoid(x), without overflow; `positive` weighs the targets that are 1."""
    gain = 1 if positive is None else (positive - 1) * y + 1
    losses = (1 - y) * x - gain * logsigmoid(x)
    return reduced(losses if weight is None else losses * weight, reduction)


# ------------------------------------------------------------------------------------------- indexing


def place(g: Array, shape: Shape, key: Any) -> Array:
    """Zeros of this shape with g at x[key]."""
    return written(np.zeros(shape, g.dtype), key, g)


def at(index: Array, dims: Shape) -> tuple[Any, ...]:
    """numpy's index for an index array at one dimension, or for its rows at several."""
    parts: list[Any] = [slice(None)] * (dims[-1] + 1)
    for dim, part in zip(dims, (index,) if len(dims) == 1 else index):
        parts[dim] = part
    return tuple(parts)


def pick(x: Array, index: Array, dims: Shape) -> Array:
    return np.ascontiguousarray(x[at(index, dims)])


def put(g: Array, index: Array, shape: Shape, dims: Shape) -> Array:
    """The transpose of `pick`: g added into zeros; repeated indices add up."""
    write = written if index.dtype.kind == "b" else added
    return write(np.zeros(shape, g.dtype), at(index, dims), g)


def written(out: Array, key: Any, values: Any) -> Array:
    """The array, after writing into it."""
    out[key] = values
    return out


def added(out: Array, key: Any, values: Array) -> Array:
    """The array, after adding to it, once for each time that a place is named; a single number counts as a row."""
    np.add.at(np.atleast_1d(out), key, values)
    return out


def index_put(x: Array, index: Array, value: Any, dims: Shape) -> Array:
    return written(np.array(x, order="C"), at(index, dims), value)


select_rows = of_rows(pick)


@of_rows
def index_add(x: Array, index: Array, source: Array, dims: Shape) -> Array:
    return added(np.array(x, order="C"), at(index, dims), source)


def own_places(shape: Shape) -> list[Any]:
    """For each dimension the place of every element in it."""
    ones = (1,) * len(shape)
    return [np.arange(n).reshape((-1, *ones[i + 1 :])) for i, n in enumerate(shape)]


def along(index: Array, dim: int) -> tuple[Any, ...]:
    """numpy's index that pairs `index` along `dim` with its own place in the others."""
    grid = own_places(index.shape)
    # the index itself, for a single number
    grid[dim : dim + 1] = [index]
    return tuple(grid)


def gather(x: Array, index: Array, dim: int) -> Array:
    return np.atleast_1d(x)[along(index, dim)] if index.size else np.zeros(index.shape, x.dtype)


def put_along(g: Array, index: Array, shape: Shape, dim: int) -> Array:
    """The transpose of `gather`: g added into zeros."""
    out = np.zeros(shape, g.dtype)
    return added(out, along(index, dim), g)[()] if index.size else out


def scattered(write: Kernel) -> Kernel:
    """A copy of x into which `source` is written (or to which it is added) at `index` along a dimension."""

    @of_rows
    def forward(x: Array, index: Array, source: Any, dim: int) -> Array:
        out = np.array(x, order="C")
        return write(out, along(index, dim), source) if index.size else out

    return forward


scatter, scatter_add = scattered(written), scattered(added)
cumsum = of_rows(lambda x, dim: np.add.accumulate(x, dim))
cumprod = of_rows(lambda x, dim: np.multiply.accumulate(x, dim))
flip = of_rows(lambda x, dims: np.flip(x, dims).copy())


# ------------------------------------------------------------------------------------------- matrices


def fold_rows(x: Any) -> Any:
    """All rows of x under one another: (..., n) to (rows, n); for arrays and Tensors."""
    return x if x.ndim == 2 else x.reshape((math.prod(x.shape[:-1]), x.shape[-1]))


def rows_mm(x: Array, y: Array) -> Array:
    """x (..., n) times y (n, m), in one matrix product instead of many small ones."""
    out: Array = fold_rows(x) @ y
    return out if x.ndim == 2 else out.reshape((*x.shape[:-1], y.shape[-1]))


def linear(bias: Array, x: Array, weight: Array) -> Array:
    out = fold_rows(x) @ weight.T
    out += bias
    return out if x.ndim == 2 else out.reshape((*x.shape[:-1], weight.shape[0]))


class LinAlgError(RuntimeError):
    """A matrix that the algorithm cannot take, such as a singular one."""


# what PyTorch's traceback shows
LinAlgError.__name__ = "_LinAlgError"


def det(x: Array) -> Array:
    """By elimination: numpy's goes by logarithms, and says 5.000000000000001 for [[2, 1], [1, 3]]."""
    if x.ndim > 2:
        return np.array([det(matrix) for matrix in x], x.dtype)
    a, out = x.copy(), x.dtype.type(1)
    for k in range(len(a)):
        best = k + int(np.absolute(a[k:, k]).argmax())
        a[[k, best]] = a[[best, k]]
        out *= a[k, k] if best == k else -a[k, k]
        if out == 0:
            break
        a[k + 1 :, k:] -= np.outer(a[k + 1 :, k] / a[k, k], a[k, k:])
    return out


def of_regular(function: Any, words: str) -> Kernel:
    """numpy's function, which says in these words that a matrix is singular."""

    def forward(*arrays: Array) -> Array:
        try:
            return function(*arrays)
        except np.linalg.LinAlgError:
            raise LinAlgError(words + " the input matrix is singular.") from None

    return forward


inverse = of_regular(np.linalg.inv, "linalg.inv: The inversion could not be completed because")
solve = of_regular(np.linalg.solve, "torch.linalg.solve: The solver failed because")


# ------------------------------------------------------------ reductions


def sum_dims(x: Array, dims: Shape | None, keepdim: bool) -> Array:
    return total(x, dims, None, None, keepdim)


def mean_all(x: Array) -> Array:
    # the sum might be too large
    if x.dtype.itemsize == 2:
        return np.asarray(x).mean()
    return total(x, None) / x.dtype.type(x.size)


def mean_dims(x: Array, dims: Shape, keepdim: bool) -> Array:
    if x.dtype.itemsize == 2:
        return np.asarray(x).mean(dims, keepdims=keepdim)
    return sum_dims(x, dims, keepdim) / x.dtype.type(count(x.shape, dims))


def prod_dim(x: Array, dim: int, keepdim: bool) -> Array:
    return product(x, dim, None, None, keepdim)


NO_FREEDOM = (
    "var(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
    "(input numel divided by output numel)."
)


def var(x: Array, dims: Shape, correction: float, keepdim: bool) -> Array:
    centred = x - mean_dims(x, dims, True)
    free = max(count(x.shape, dims) - correction, 0)
    if not free:
        warnings.warn(NO_FREEDOM, stacklevel=5)
    return sum_dims(centred * centred, dims, keepdim) / x.dtype.type(free)


def order_norm(x: Array, order: float, dims: Shape, keepdim: bool) -> Array:
    size = np.absolute(x)
    if order == 0:
        return sum_dims((size != 0).astype(x.dtype), dims, keepdim)
    return sum_dims(size**order, dims, keepdim) ** x.dtype.type(1 / order)


@of_rows
def picked(x: Array, index: Array, dim: int, keepdim: bool) -> Array:
    """The element of each row whose place `index` names."""
    out = np.take_along_axis(x, index, dim)
    return out if keepdim else out.squeeze(dim)[()]


def has_zero(x: Any) -> bool:
    """Whether a factor is 0; for arrays and Tensors."""
    return not np.all(getattr(x, "_data", x))


# ------------------------------------------------------------------------------------------- layers of networks


def nll_loss(x: Array, classes: Array, weight: Any, total: Any) -> Array:
    """-x of each class times its weight; with a total their sum divided by it, which is never -0."""
    if classes.ndim == 1:
        losses = x[np.arange(len(classes)), classes]
    else:
        rows, *others = own_places(classes.shape)
        losses = x[(rows, classes, *others)]
    if weight is not None:
        losses = losses * weight
    return -losses if total is None else 0.0 - np.add.reduce(losses, None) / total


def pair(value: Any) -> tuple[int, int]:
    """One number for both dimensions of an image, or one for each."""
    found = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    words = f"expected one number, or two for height and width, but got {found}"
    errors.check(len(found) in (1, 2), words)
    return found[0], found[-1]


class Windows(NamedTuple):
    """Which windows of an image are looked at; each field is (down, across)."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int]
    dilation: tuple[int, int]

    def counts(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """How many windows fit below and beside one another."""
        fields = zip(sizes, *self, strict=True)
        return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in fields)

    def of(self, x: Array, border: float = 0.0) -> Array:
        """Every window of x, as a view: (batch, channels, *kernel, *counts)."""
        counts = self.counts(x.shape[2:])
        if any(self.padding):
            widths = ((0, 0), (0, 0), *((p, p) for p in self.padding))
            x = pad(x, widths, border)
        step = np.array(x.strides[2:])
        inner, outer = step * self.dilation, step * self.stride
        shape, steps = (*x.shape[:2], *self.kernel, *counts), (*x.strides[:2], *inner, *outer)
        return np.lib.stride_tricks.as_strided(x, shape, steps, writeable=False)


def pad(x: Array, widths: Sequence[tuple[int, int]], value: float) -> Array:
    """Elements before and after each dimension; a negative width cuts off."""
    part = tuple(slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(x.shape, widths))
    more = [(max(a, 0), max(b, 0)) for a, b in widths]
    return np.pad(x[part], more or 0, constant_values=value)


def unfold(x: Array, windows: Windows) -> Array:
    """Every window as a column: (batch, channels * kernel size, windows)."""
    seen = windows.of(x)
    columns = math.prod(seen.shape[1:4]), math.prod(seen.shape[4:])
    return np.array(seen).reshape(len(x), *columns)


def fold(columns: Array, shape: Sequence[int], windows: Windows) -> Array:
    """The transpose of `unfold`: adds each element to where it came from."""
    (down, across), (top, left) = windows.stride, windows.padding
    rows, beside = windows.counts(shape[2:])
    seen = columns.reshape(*shape[:2], *windows.kernel, rows, beside)
    height, width = shape[2:]
    padded = *shape[:2], height + 2 * top, width + 2 * left
    out: Array = np.zeros(padded, columns.dtype)
    for i, j in np.ndindex(*windows.kernel):
        y, x = i * windows.dilation[0], j * windows.dilation[1]
        stop = y + rows * down, x + beside * across
        out[:, :, y : stop[0] : down, x : stop[1] : across] += seen[:, :, i, j]
    return out[:, :, top : top + height, left : left + width]


def conv2d(x: Array, weight: Array, bias: Any, windows: Windows, groups: int) -> Array:
    """One matrix product for each sample and group: weights times windows."""
    columns = unfold(x, windows)
    inputs = math.prod(weight.shape[1:])
    columns = columns.reshape(len(x), groups, inputs, columns.shape[-1])
    rows = weight.reshape(groups, len(weight) // groups, inputs)
    counts = windows.counts(x.shape[2:])
    out: Array = (rows @ columns).reshape(len(x), len(weight), *counts)
    return out if bias is None else out + bias[:, None, None]


def avg_pool2d(x: Array, windows: Windows) -> Array:
    return windows.of(x).mean((2, 3))


def largest_places(x: Array, windows: Windows) -> Array:
    """Where the largest element of each window is: its index in each of the four dimensions."""
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    seen = windows.of(x, lowest)
    shape = *seen.shape[:2], math.prod(windows.kernel), *seen.shape[4:]
    inside = np.unravel_index(seen.reshape(shape).argmax(2), windows.kernel)
    grid = np.indices(inside[0].shape)
    fields = zip(inside, grid[2:], x.shape[2:], *windows[1:])
    places = [np.clip(i * d + g * s - p, 0, n - 1) for i, g, n, s, p, d in fields]
    return np.stack((*grid[:2], *places))


def follow(x: Any, path: Any) -> Any:
    """The view of x that these view operations make, of an array or of a Tensor."""
    for view, arguments in path:
        x = view(x, *arguments)
    return x


def places_of(shape: Shape, path: Any) -> Array:
    """Which elements of an array of this shape the view at the end of the path shows."""
    return follow(np.arange(math.prod(shape)).reshape(shape), path).reshape(-1)


def cut_view(x: Array, path: Any) -> Array:
    """A copy of x with zeros where the view is."""
    return write_view(x, np.zeros(()), path)


def write_view(x: Array, y: Array, path: Any) -> Array:
    """A copy of x with y where the view is."""
    copy = np.array(x, order="C")
    copy.reshape(-1)[places_of(copy.shape, path)] = np.reshape(y, -1)
    return copy
