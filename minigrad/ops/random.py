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
from typing import Any

import numpy as np

from minigrad import dtypes, errors
from minigrad.dtypes import CPU, DType, check_device
from minigrad.operation import attach, public
from minigrad.ops.creation import kind_of, leaf, size_of
from minigrad.tensor import Tensor, wrap
from minigrad.views import write

Array = np.ndarray[Any, np.dtype[Any]]
Shape = Sequence[int]
FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
UNSEEDED = 67280421310721  # the seed of a Generator that was given none
STATE_SIZE = 5056  # bytes
UNIFORM, NORMAL = "check_uniform_bounds", "normal_kernel_cpu"  # the names of PyTorch's loops
LONG_SPAN = 2**28  # ranges of at least this many integers take 64-bit words


class Generator:
    """A source of random numbers with its own state; equal seeds give equal numbers."""

    def __init__(self, device: Any = "cpu") -> None:
        check_device(device)
        self.device = CPU
        self.manual_seed(UNSEEDED)

    def __repr__(self) -> str:
        return f"<torch._C.Generator object at {id(self):#x}>"

    def manual_seed(self, seed: int) -> Generator:
        """Start again from this seed (an integer of up to 64 bits); returns the generator itself."""
        seed = int(seed)
        if not -(2**63) <= seed < 2**64:
            raise ValueError("Overflow when unpacking long long")
        self._seed = seed % 2**64
        self._source: Any = None  # numpy.random is loaded at the first draw
        self._next_normal: float | None = None
        return self

    def seed(self) -> int:
        """Start again from a seed that nobody knows, and return it."""
        self.manual_seed(int.from_bytes(os.urandom(8)) >> 1)
        return self._seed

    def initial_seed(self) -> int:
        """The seed of the last start."""
        return self._seed

    def _twister(self) -> Any:
        if self._source is None:
            self._source = np.random.RandomState(self._seed & 0xFFFFFFFF)
        return self._source

    def get_state(self) -> Tensor:
        """The state as a uint8 tensor of 5056 bytes, laid out as PyTorch's."""
        _, words, position, *_ = self._twister().get_state()
        _, start, *_ = np.random.RandomState(self._seed & 0xFFFFFFFF).get_state()
        fresh = position == 624 and np.array_equal(start, words)
        state = np.zeros(STATE_SIZE, np.uint8)
        state[:8].view(np.uint64)[:] = self._seed
        state[8:16].view(np.int32)[:] = 625 - position, 1
        state[16:24].view(np.uint64)[:] = 0 if fresh else position
        state[24:5016].view(np.uint64)[:] = words
        if self._next_normal is not None:
            state[5024:5032].view(np.float64)[:] = self._next_normal
            state[5040:5044].view(np.int32)[:] = 1
        return wrap(state)

    def set_state(self, new_state: Tensor) -> None:
        """Go back to a state that `get_state` gave; TypeError or RuntimeError for anything else."""
        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        state = np.ascontiguousarray(new_state._data)
        if state.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if state.size != STATE_SIZE:
            raise RuntimeError(
                "Expected either a CPUGeneratorImplStateLegacy of size 5048 or a CPUGeneratorImplState of "
                f"size 5056 but found the input RNG state size to be {state.size}"
            )
        self.manual_seed(int(state[:8].view(np.uint64)[0]))
        position = 625 - int(state[8:12].view(np.int32)[0])
        words = state[24:5016].view(np.uint64).astype(np.uint32)
        self._twister().set_state(("MT19937", words, position))
        if state[5040:5044].view(np.int32)[0]:
            self._next_normal = float(state[5024:5032].view(np.float64)[0])

    # ------------------------------------------------------------------ words and what becomes of them

    def _words(self, count: int) -> Array:
        """The next random 32-bit words."""
        words: Array = self._twister().randint(0, 2**32, count, np.uint32)
        return words

    def _long_words(self, count: int) -> Array:
        """Random 64-bit words: the first of two words is the upper half."""
        pairs = self._words(2 * count).astype(np.uint64).reshape(count, 2)
        return (pairs[:, 0] << np.uint64(32)) | pairs[:, 1]

    def _uniform(self, count: int, kind: Any) -> Array:
        """Numbers in [0, 1): the low 53 bits of two words for float64, else the low 24 of one, as float32."""
        if kind == FLOAT64:
            bits = self._long_words(count) & np.uint64(2**53 - 1)
            return bits.astype(FLOAT64) * 2.0**-53
        low = self._words(count) & np.uint32(2**24 - 1)
        return low.astype(FLOAT32) * np.float32(2.0**-24)

    def rand(self, shape: Shape, kind: Any = FLOAT32) -> Array:
        """Uniform numbers in [0, 1)."""
        return self.uniform(shape, 0.0, 1.0, kind)

    def uniform(self, shape: Shape, low: float, high: float, kind: Any = FLOAT32) -> Array:
        """Uniform numbers in [low, high); the bounds are rounded to the type, the arithmetic is double."""
        if not low <= high:
            raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
        wide = np.float64 if kind == FLOAT64 else np.float32
        first, last = wide(low), wide(high)
        numbers = self._uniform(math.prod(shape), kind).astype(FLOAT64)
        numbers *= np.float64(last - first)
        numbers += np.float64(first)
        numbers = numbers.astype(wide).astype(kind)
        if kind == np.float16:
            numbers[numbers == np.float16(high)] = low  # rounded up
        return numbers.reshape(shape)

    def normal(self, shape: Shape, mean: float = 0.0, std: float = 1.0, kind: Any = FLOAT32) -> Array:
        """Normally distributed numbers.

        Fewer than 16 come one by one from double Box-Muller, which gives two at a time and keeps the second. Else
        blocks of 16 uniforms become 16 normals; where the last block is short, the last 16 are drawn again.
        """
        if not std >= 0:
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
        kind = np.dtype(kind)
        count = math.prod(shape)
        if count < 16:
            few = np.array([self._one_normal() for _ in range(count)], FLOAT64)
            return _scaled(few, mean, std).astype(kind).reshape(shape)
        whole = count - count % 16
        numbers = self._uniform(whole if kind == np.float16 else count, kind)
        numbers.resize(count, refcheck=False)
        numbers[:whole] = _blocks(numbers[:whole], mean, std)
        if count % 16:
            numbers[-16:] = _blocks(self._uniform(16, kind), mean, std)
        return numbers.astype(kind, copy=False).reshape(shape)

    def _one_normal(self) -> float:
        if self._next_normal is not None:
            second, self._next_normal = self._next_normal, None
            return second
        first, second = self._uniform(2, FLOAT64).tolist()
        radius = math.sqrt(-2.0 * math.log1p(-second))
        angle = 2.0 * math.pi * first
        self._next_normal = radius * math.sin(angle)
        return radius * math.cos(angle)

    def randint(self, low: int, high: int, shape: Shape) -> Array:
        """Integers (int64) from low up to and not including high; a wide range takes two words each."""
        if low >= high:
            raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
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

    def keep(self, shape: Shape, probability: float) -> Array:
        """Booleans that are True with this probability: what dropout keeps."""
        return self.rand(shape, FLOAT64) < probability


# ------------------------------------------------------------------ Box-Muller on blocks of 16


def _blocks(uniforms: Array, mean: float, std: float) -> Array:
    """Rows of 16 uniforms as rows of 16 normals: the first 8 give radii, the last 8 angles."""
    rows = uniforms.reshape(-1, 16)
    first, second = rows[:, :8], rows[:, 8:]
    if uniforms.dtype == FLOAT64:
        radius = np.sqrt(-2.0 * _each(math.log, 1.0 - first))
        angle = 2.0 * math.pi * second
        sine, cosine = _each(math.sin, angle), _each(math.cos, angle)
    else:
        radius = np.sqrt(np.float32(-2) * _log32(np.float32(1) - first))
        sine, cosine = _sin_cos32(np.float32(2 * math.pi) * second)
    normals = np.concatenate([radius * cosine, radius * sine], axis=1)
    return _scaled(normals, mean, std).reshape(-1)


def _scaled(normals: Array, mean: float, std: float) -> Array:
    """normals * std + mean with one rounding."""
    if mean == 0 and std == 1:
        return normals
    kind: Any = normals.dtype.type
    wide = np.longdouble if kind is np.float64 else np.float64
    scaled: Array = normals.astype(wide) * kind(std) + kind(mean)
    return scaled.astype(kind)


def _each(function: Any, x: Array) -> Array:
    """The C library's function of each element: numpy's own differ in the last bit."""
    return np.array([function(n) for n in x.ravel().tolist()]).reshape(x.shape)


# PyTorch computes float32 normals with the polynomials of the Cephes library (S. L. Moshier).
# The same coefficients in the same order of operations give the same bits.
LOG = (
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
    2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
)  # fmt: skip
SIN = -1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1
COS = 2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2
QUARTER_PI = -0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8  # minus pi/4, in three parts
LOG2 = -2.12194440e-4, 0.693359375  # log(2) in two parts


def _fused(a: Any, b: Any, c: Any) -> Array:
    """a * b + c in float32 with one rounding, as a processor's fused multiply-add."""
    wide = np.multiply(a, b, dtype=FLOAT64) + c
    return np.asarray(wide, FLOAT32)


def _polynomial(coefficients: tuple[float, ...], x: Array) -> Array:
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value = _fused(value, x, np.float32(coefficient))
    return value


def _log32(x: Array) -> Array:
    """log of float32 numbers in (0, 1]."""
    mantissa, exponent = np.frexp(x)
    low = mantissa < np.float32(math.sqrt(0.5))
    scale = (exponent - low).astype(FLOAT32)
    x = (mantissa - np.float32(1)) + np.where(low, mantissa, np.float32(0))
    square = x * x
    y = _polynomial(LOG, x) * x
    y = _fused(y, square, scale * np.float32(LOG2[0]))
    y = _fused(square, np.float32(-0.5), y)
    return _fused(scale, np.float32(LOG2[1]), x + y)


def _sin_cos32(x: Array) -> tuple[Array, Array]:
    """sin and cos of float32 numbers in [0, 2 pi]."""
    octant = ((x * np.float32(4 / math.pi)).astype(np.int32) + 1) & ~1
    for part in QUARTER_PI:
        x = _fused(octant.astype(FLOAT32), np.float32(part), x)
    square = x * x
    cosine = _polynomial(COS, square) * square
    cosine = _fused(cosine, square, -(square * np.float32(0.5)))
    cosine = cosine + np.float32(1)
    sine = _fused(_polynomial(SIN, square) * square, x, x)
    swapped = (octant & 2) != 0
    sine, cosine = np.where(swapped, cosine, sine), np.where(swapped, sine, cosine)
    sine = np.where(octant & 4, -sine, sine)
    return sine, np.where((octant + 2) & 4, -cosine, cosine)


# ------------------------------------------------------------------ the default generator

default_generator = Generator()
default_generator.seed()


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
    if not found.is_floating_point:
        raise errors.not_implemented(kernel, found.tensor_name)
    return found.numpy


@public
def rand(
    *shape: Any, size: Any = (),
    generator: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False,
) -> Tensor:
    """Uniform numbers in [0, 1): `rand(2, 3)` or `rand((2, 3))`."""
    source = generator or default_generator
    array = source.rand(size_of("rand", shape or (size,)), _floats(UNIFORM, dtype))
    return leaf(array, requires_grad, device)


@public
def randn(
    *shape: Any, size: Any = (),
    generator: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False,
) -> Tensor:
    """Numbers from the normal distribution with mean 0 and standard deviation 1."""
    source = generator or default_generator
    array = source.normal(size_of("randn", shape or (size,)), kind=_floats(NORMAL, dtype))
    return leaf(array, requires_grad, device)


@public
def rand_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Uniform numbers in [0, 1), with the shape and type of `input`."""
    array = default_generator.rand(input.shape, _floats(UNIFORM, dtype, input.dtype))
    return leaf(array, requires_grad, device)


@public
def randn_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Normal numbers, mean 0 and standard deviation 1, with the shape and type of `input`."""
    array = default_generator.normal(input.shape, kind=_floats(NORMAL, dtype, input.dtype))
    return leaf(array, requires_grad, device)


@public
def randint(
    low: Any, high: Any = None, size: Any = None, *,
    generator: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False,
) -> Tensor:
    """Integers from `low` up to, but not including, `high`: randint(low, high, size) or randint(high, size)."""
    given = [value for value in (low, high, size) if value is not None]
    if size is None:  # randint(high, size)
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    if not isinstance(size, (tuple, list)) or isinstance(low, float) or isinstance(high, float):
        raise errors.no_such_form("randint", given)
    found = kind_of(dtype, "randint", dtypes.int64)
    if found.category == dtypes.INTEGER:
        limits = np.iinfo(found.numpy)
        for name, bound in (("from", low), ("to - 1", high - 1)):
            if not limits.min <= bound <= limits.max:
                raise RuntimeError(f"{name} is out of bounds for {found.c_name}")
    source = generator or default_generator
    numbers = source.randint(int(low), int(high), size_of("randint", (size,)))
    return leaf(numbers.astype(found.numpy), requires_grad, device)


@public
def randperm(n: int, *, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """The integers 0 to n - 1 in random order."""
    (n,) = size_of("randperm", (n,))
    order = (generator or default_generator).randperm(n)
    return leaf(order.astype(kind_of(dtype, "randperm", dtypes.int64).numpy), device=device)


@public
def normal(
    mean: Any, std: Any = 1.0, size: Any = None, *,
    generator: Any = None, dtype: Any = None, device: Any = None, requires_grad: bool = False,
) -> Tensor:
    """Normal numbers of the given mean and standard deviation: numbers with a size, or tensors."""
    source = generator or default_generator
    tensors = [v._data for v in (mean, std) if isinstance(v, Tensor)]
    if size is not None and not tensors:
        array = source.normal(size_of("normal", (size,)), mean, std, _floats(NORMAL, dtype))
        return leaf(array, requires_grad, device)
    if size is not None or not tensors:
        raise TypeError("normal() takes two numbers with a size, or at least one tensor")
    means, stds = (getattr(v, "_data", v) for v in (mean, std))
    if not np.all(np.greater_equal(stds, 0)):
        raise RuntimeError("normal expects all elements of std >= 0.0")
    kind = tensors[0].dtype
    shape = errors.broadcast_shapes(np.shape(means), np.shape(stds))
    return leaf((source.normal(shape, kind=kind) * stds + means).astype(kind))


@public
def bernoulli(input: Tensor, *, generator: Any = None) -> Tensor:
    """For each probability in `input`, 1 or 0.  RuntimeError for one outside [0, 1]."""
    p = np.asarray(input._data)
    if p.dtype.kind != "f":
        raise errors.not_implemented("bernoulli_tensor_cpu_p_", input.dtype.tensor_name)
    if not ((p >= 0) & (p <= 1)).all():
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    drawn = (generator or default_generator).rand(p.shape, FLOAT64 if p.dtype == FLOAT64 else FLOAT32)
    return wrap((drawn < p).astype(p.dtype))


def uniform_(self: Tensor, a: float = 0.0, b: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with uniform numbers in [a, b)."""
    kind = _floats(UNIFORM, self.dtype)
    source = generator or default_generator
    return write(self, lambda x: wrap(source.uniform(x.shape, a, b, kind)))


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    """Fill with normal numbers of this mean and standard deviation."""
    kind = _floats(NORMAL, self.dtype)
    source = generator or default_generator
    return write(self, lambda x: wrap(source.normal(x.shape, mean, std, kind)))


attach(bernoulli, uniform_, normal_)
