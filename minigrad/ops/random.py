"""Random numbers: the very ones that PyTorch's CPU generator gives after the same `manual_seed`.

PyTorch and numpy's RandomState share one source of random 32-bit words, the Mersenne Twister with the same seeding.
What differs is how words become numbers: low bits of a word for `rand`, words modulo a range for `randint`, a
shuffle for `randperm`, and two kinds of Box-Muller for `randn`. A `Generator` holds the state and draws numpy
arrays; the functions below make tensors of them.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from operator import index
from typing import Any, TypeAlias

import numpy as np

from .. import derivatives as table
from .. import dtypes, errors
from ..dtypes import CPU, DType, check_device
from ..errors import check
from ..operation import attach, public
from ..tensor import Tensor, wrap
from ..views import write
from .creation import kind_of, leaf, no_size, size_of

Array: TypeAlias = Any
Shape = Sequence[int]
f32: Any = np.float32
f64: Any = np.float64
# the names of PyTorch's loops
UNIFORM, NORMAL = "check_uniform_bounds", "normal_kernel_cpu"
# ranges of at least this many integers take 64-bit words
LONG_SPAN = 2**28


class Generator:
    """A source of random numbers with its own state; equal seeds give equal numbers."""

    def __init__(self, device: Any = "cpu") -> None:
        check_device(device)
        self.device = CPU
        # as in PyTorch
        self.manual_seed(67280421310721)

    def manual_seed(self, seed: int) -> Generator:
        """Start again from this seed (an integer of up to 64 bits); returns the generator itself."""
        self._seed = int(seed)
        # numpy.random is loaded at the first draw
        self._source: Any = None
        self._next_normal: float | None = None
        return self

    def _twister(self) -> Any:
        if self._source is None:
            self._source = np.random.RandomState(self._seed % 2**32)
        return self._source

    def __getattr__(self, name: str) -> Any:
        raise errors.no_attribute("'Generator' object", name, Generator)

    def get_state(self) -> Tensor:
        """Where the generator stands, as a tensor of bytes."""
        _, words, position, *_ = self._twister().get_state()
        spare = math.nan if self._next_normal is None else self._next_normal
        return wrap(np.array([*words, position, spare]).view(np.uint8))

    def set_state(self, new_state: Tensor) -> None:
        """Go back to where `get_state` was called."""
        if new_state.dtype is not dtypes.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        check(new_state.shape == self.get_state().shape, "RNG state is wrong size")
        *words, position, spare = np.frombuffer(new_state._data.tobytes())
        self._twister().set_state(("MT19937", np.array(words, np.uint32), int(position)))
        self._next_normal = None if math.isnan(spare) else float(spare)

    # ------------------------------------------------------------------ words and what becomes of them

    def _words(self, count: int) -> Array:
        """The next random 32-bit words."""
        return self._twister().randint(0, 2**32, count, np.uint32)

    def _long_words(self, count: int) -> Array:
        """Random 64-bit words: the first of two words is the upper half."""
        pairs = self._words(2 * count).astype(np.uint64).reshape(count, 2)
        return (pairs[:, 0] << np.uint64(32)) | pairs[:, 1]

    def _uniform(self, count: int, kind: Any) -> Array:
        """Numbers in [0, 1): the low 53 bits of two words for float64, else the low 24 of one, as float32."""
        if kind == f64:
            bits = self._long_words(count) & np.uint64(2**53 - 1)
            return bits.astype(f64) * 2.0**-53
        low = self._words(count) & np.uint32(2**24 - 1)
        return low.astype(f32) * 2.0**-24

    def uniform(self, shape: Shape, low: float = 0, high: float = 1, kind: Any = f32) -> Array:
        """Uniform numbers in [low, high); the bounds are rounded to the type, the arithmetic is double."""
        wide = f64 if kind == f64 else f32
        first, last = wide(low), wide(high)
        drawn = self._uniform(math.prod(shape), kind)
        numbers = drawn * f64(last - first) + f64(first)
        return numbers.astype(kind).reshape(shape)

    def normal(self, shape: Shape, mean: float = 0, std: float = 1, kind: Any = f32) -> Array:
        """Normally distributed numbers.

        Fewer than 16 come one by one from double Box-Muller, which gives two at a time and keeps the second. Else
        blocks of 16 uniforms become 16 normals; where the last block is short, the last 16 are drawn again.
        """
        errors.at_least(0, std, "normal expects std >= 0.0, but found std {:g}")
        count = math.prod(shape)
        if count < 16:
            few = np.array([self._one_normal() for _ in range(count)])
            return _scaled(few, mean, std).astype(kind).reshape(shape)
        whole = count - count % 16
        numbers = self._uniform(count, kind)
        numbers[:whole] = _blocks(numbers[:whole], mean, std)
        if count % 16:
            numbers[-16:] = _blocks(self._uniform(16, kind), mean, std)
        return numbers.astype(kind, copy=False).reshape(shape)

    def _one_normal(self) -> float:
        if self._next_normal is not None:
            second, self._next_normal = self._next_normal, None
            return second
        first, second = self._uniform(2, f64).tolist()
        radius = math.sqrt(-2.0 * math.log1p(-second))
        angle = 2.0 * math.pi * first
        self._next_normal = radius * math.sin(angle)
        return radius * math.cos(angle)

    def randint(self, low: int, high: int, shape: Shape) -> Array:
        """Integers (int64) from low up to and not including high; a wide range takes two words each."""
        words = "random_ expects 'from' to be less than 'to'"
        check(low < high, f"{words}, but got from={low} >= to={high}")
        count, span = math.prod(shape), high - low
        words = self._words(count) if span < LONG_SPAN else self._long_words(count)
        numbers = (words.astype(np.uint64) % np.uint64(span)).astype(np.int64)
        return (numbers + low).reshape(shape)

    def randperm(self, n: int) -> Array:
        """The integers 0 ... n-1 in random order (int64)."""
        order = list(range(n))
        words = self._words(max(n - 1, 0)).astype(np.int64)
        for place, further in enumerate((words % np.arange(n, 1, -1)).tolist()):
            other = place + further
            order[place], order[other] = order[other], order[place]
        return np.array(order, np.int64)


# ------------------------------------------------------------------ Box-Muller on blocks of 16


def _blocks(uniforms: Array, mean: float, std: float) -> Array:
    """Rows of 16 uniforms as rows of 16 normals: the first 8 give radii, the last 8 angles."""
    rows = uniforms.reshape(-1, 16)
    first, second = rows[:, :8], rows[:, 8:]
    angle = 2 * math.pi * second
    if uniforms.dtype == f64:
        logs = _each(math.log, 1 - first)
        sine, cosine = _each(math.sin, angle), _each(math.cos, angle)
    else:
        logs = _log32(1 - first)
        sine, cosine = _sin_cos32(angle)
    radius = np.sqrt(-2 * logs)
    normals = np.concatenate([radius * cosine, radius * sine], axis=1)
    return _scaled(normals, mean, std).reshape(-1)


def _scaled(normals: Array, mean: float, std: float) -> Array:
    """normals * std + mean with one rounding."""
    if mean == 0 and std == 1:
        return normals
    kind = normals.dtype.type
    scaled = normals.astype(np.longdouble) * kind(std) + kind(mean)
    return scaled.astype(kind)


def _each(function: Any, x: Array) -> Array:
    """The C library's function of each element: numpy's own differ in the last bit."""
    return np.array([function(n) for n in x.ravel().tolist()]).reshape(x.shape)


# PyTorch computes float32 normals with the polynomials of the Cephes library (S. L. Moshier).
# The same coefficients in the same order of operations give the same bits.
LOG = f32([
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1,
    -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
    2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
])
SIN = f32([-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1])
COS = f32([2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2])
# minus pi/4 in three parts, and log(2) in two
QUARTER_PI = f32([-0.78515625, -2.4187564849853516e-4, -3.77489497744594e-8])
LOG2 = f32([-2.12194440e-4, 0.693359375])


def _fused(a: Any, b: Any, c: Any) -> Array:
    """a * b + c in float32 with one rounding, as a processor's fused multiply-add."""
    return np.asarray(np.multiply(a, b, dtype=f64) + c, f32)


def _polynomial(coefficients: Array, x: Array) -> Array:
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value = _fused(value, x, coefficient)
    return value


def _log32(x: Array) -> Array:
    """log of float32 numbers in (0, 1]."""
    mantissa, exponent = np.frexp(x)
    low = mantissa < math.sqrt(0.5)
    scale = (exponent - low).astype(f32)
    x = (mantissa - 1) + np.where(low, mantissa, f32(0))
    square = x * x
    y = _polynomial(LOG, x) * x
    y = _fused(y, square, scale * LOG2[0])
    y = _fused(square, -0.5, y)
    return _fused(scale, LOG2[1], x + y)


def _sin_cos32(x: Array) -> tuple[Array, Array]:
    """sin and cos of float32 numbers in [0, 2 pi]."""
    octant = ((x * (4 / math.pi)).astype(np.int32) + 1) & ~1
    for part in QUARTER_PI:
        x = _fused(octant, part, x)
    square = x * x
    cosine = _polynomial(COS, square) * square
    cosine = _fused(cosine, square, -(square * 0.5))
    cosine = cosine + 1
    sine = _fused(_polynomial(SIN, square) * square, x, x)
    swapped = (octant & 2) != 0
    sine, cosine = np.where(swapped, cosine, sine), np.where(swapped, sine, cosine)
    sine = np.where(octant & 4, -sine, sine)
    return sine, np.where((octant + 2) & 4, -cosine, cosine)


# ------------------------------------------------------------------ the default generator

default_generator = Generator().manual_seed(int.from_bytes(os.urandom(4)))


def manual_seed(seed: int) -> Generator:
    """Seed the default generator; returns it."""
    return default_generator.manual_seed(seed)


def get_rng_state() -> Tensor:
    """The state of the default generator, as a uint8 tensor."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Put the default generator back into a state that `get_rng_state` gave."""
    default_generator.set_state(new_state)


# ------------------------------------------------------------------ tensors


def _floats(kernel: str, dtype: Any, ordinary: DType | None = None) -> Any:
    """The numpy type of the floats to draw; NotImplementedError for integers."""
    found = kind_of(dtype, "rand", ordinary)
    errors.floats_only(kernel, found)
    return found.numpy


@public
def rand(
    *shape: Any, size: Any = None,
    generator: Any = None, dtype: Any = None, requires_grad: bool = False,
) -> Tensor:
    """Uniform numbers in [0, 1): `rand(2, 3)` or `rand((2, 3))`."""
    source, kind = generator or default_generator, _floats(UNIFORM, dtype)
    array = source.uniform(size_of("rand", shape or (size,)), kind=kind)
    return leaf(array, requires_grad)


@public
def randn(
    *shape: Any, size: Any = None,
    generator: Any = None, dtype: Any = None, requires_grad: bool = False,
) -> Tensor:
    """Numbers from the normal distribution with mean 0 and standard deviation 1."""
    source, kind = generator or default_generator, _floats(NORMAL, dtype)
    array = source.normal(size_of("randn", shape or (size,)), kind=kind)
    return leaf(array, requires_grad)


@public
def rand_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Uniform numbers in [0, 1), with the shape and type of `input`."""
    kind = _floats(UNIFORM, dtype, input.dtype)
    return leaf(default_generator.uniform(input.shape, kind=kind), requires_grad)


@public
def randn_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Normal numbers, mean 0 and standard deviation 1, with the shape and type of `input`."""
    kind = _floats(NORMAL, dtype, input.dtype)
    return leaf(default_generator.normal(input.shape, kind=kind), requires_grad)


@public
def randint(
    low: Any, high: Any = None, size: Any = None, *,
    generator: Any = None, dtype: Any = None, requires_grad: bool = False,
) -> Tensor:
    """Integers from `low` up to, but not including, `high`: randint(low, high, size) or randint(high, size)."""
    # randint(high, size)
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    if not isinstance(size, (tuple, list)):
        raise no_size("randint", size)
    kind = kind_of(dtype, "randint", dtypes.int64).numpy
    source = generator or default_generator
    numbers = source.randint(index(low), index(high), size_of("randint", (size,)))
    return leaf(numbers.astype(kind), requires_grad)


@public
def randperm(n: int, *, generator: Any = None, dtype: Any = None) -> Tensor:
    """The integers 0 to n - 1 in random order."""
    errors.check_sizes([n])
    order = (generator or default_generator).randperm(n)
    kind = kind_of(dtype, "randperm", dtypes.int64).numpy
    return leaf(order.astype(kind))


@public
def normal(
    mean: Any, std: Any = 1.0, size: Any = None, *,
    generator: Any = None, dtype: Any = None, requires_grad: bool = False,
) -> Tensor:
    """Normal numbers of the given mean and standard deviation: numbers with a size, or tensors."""
    source = generator or default_generator
    if not isinstance(mean, Tensor) and not isinstance(std, Tensor):
        array = source.normal(size_of("normal", (size,)), mean, std, _floats(NORMAL, dtype))
        return leaf(array, requires_grad)
    means, stds = (getattr(v, "_data", v) for v in (mean, std))
    kind = dtypes.result_type(means, stds).numpy
    shape = errors.broadcast_shapes(np.shape(means), np.shape(stds))
    check(np.all(np.asarray(stds) >= 0), "normal expects all elements of std >= 0.0")
    drawn = source.normal(shape, kind=kind) * stds + means
    return table.drawn_normal(mean, std, drawn.astype(kind)[()])


@public
def bernoulli(input: Tensor, *, generator: Any = None) -> Tensor:
    """For each probability in `input`, 1 or 0.  RuntimeError for one outside [0, 1]."""
    errors.floats_only("bernoulli_tensor_cpu_p_", input.dtype)
    p = np.asarray(input._data)
    right = ((p >= 0) & (p <= 1)).all()
    check(right, "Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    drawn = (generator or default_generator).uniform(p.shape, kind=p.dtype)
    return table.drawn_bernoulli(input, (drawn < p).astype(p.dtype)[()])


def uniform_(self: Tensor, a: float = 0, b: float = 1, *, generator: Any = None) -> Tensor:
    """Fill with uniform numbers in [a, b)."""
    kind = _floats(UNIFORM, self.dtype)
    source = generator or default_generator
    check(a <= b, f"uniform_ expects to return a [from, to) range, but found from={a:g} > to={b:g}")
    return write(self, lambda x: wrap(source.uniform(x.shape, a, b, kind)))


def normal_(self: Tensor, mean: float = 0, std: float = 1, *, generator: Any = None) -> Tensor:
    """Fill with normal numbers of this mean and standard deviation."""
    kind = _floats(NORMAL, self.dtype)
    source = generator or default_generator
    return write(self, lambda x: wrap(source.normal(x.shape, mean, std, kind)))


attach(bernoulli, uniform_, normal_)
