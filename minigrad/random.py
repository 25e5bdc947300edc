"""Random numbers: the very ones PyTorch's CPU generator gives after the same `manual_seed`.

PyTorch and numpy's old RandomState share one source of random 32-bit words, the Mersenne Twister with the
same seeding. What differs is how words become numbers, and that is this file: low bits of a word for `rand`,
words modulo a range for `randint`, a shuffle for `randperm`, and two kinds of Box-Muller for `randn`. A
`Generator` holds the state; each of its methods takes a shape and gives a numpy array. The functions that
tensors see (`minigrad.rand` and so on) wrap these arrays.
"""

from __future__ import annotations

import contextlib
import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad.devices import CPU, check_device

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from minigrad.tensor import Tensor

Array = np.ndarray[Any, np.dtype[Any]]
_FLOAT32 = np.dtype(np.float32)
_FLOAT64 = np.dtype(np.float64)
_UNSEEDED = 67280421310721  # the seed of a Generator that was given none


class Generator:
    """A source of random numbers with its own state; equal seeds give equal numbers.

    Methods that draw take a shape (a tuple) and a floating-point numpy dtype, and return an ndarray.
    """

    def __init__(self, device: Any = "cpu") -> None:
        check_device(device)
        self.device = CPU
        self.manual_seed(_UNSEEDED)

    def __repr__(self) -> str:
        return f"<torch._C.Generator object at {id(self):#x}>"

    # ---------------------------------------------------------------------------------------- seed and state

    def manual_seed(self, seed: int) -> Generator:
        """Start again from this seed (an integer of up to 64 bits); returns the generator itself."""
        seed = int(seed)
        if not -(2**63) <= seed < 2**64:
            raise ValueError("Overflow when unpacking long long")
        self._seed = seed % 2**64
        self._source: Any = None  # numpy.random is loaded at the first draw
        self._cached_normal: float | None = None
        return self

    def seed(self) -> int:
        """Start again from a seed that nobody knows, and return it."""
        seed = int.from_bytes(os.urandom(8)) >> 1
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """The seed of the last start."""
        return self._seed

    def _twister(self) -> Any:
        if self._source is None:
            self._source = np.random.RandomState(self._seed & 0xFFFFFFFF)
        return self._source

    def state_bytes(self) -> Array:
        """The state in PyTorch's layout: 5056 bytes as a uint8 array."""
        words, position = self._twister().get_state()[1:3]
        fresh = position == 624 and self._is_fresh(words)
        state = np.zeros(5056, np.uint8)
        state[:8].view(np.uint64)[:] = self._seed
        state[8:16].view(np.int32)[:] = 625 - position, 1
        state[16:24].view(np.uint64)[:] = 0 if fresh else position
        state[24:5016].view(np.uint64)[:] = words
        if self._cached_normal is not None:
            # PyTorch keeps the two uniforms and the radius of the pair whose sine is still to be given.
            state[5016:5040].view(np.float64)[1] = self._cached_normal
            state[5040:5044].view(np.int32)[:] = 1
        return state

    def _is_fresh(self, words: Array) -> bool:
        first: Any = np.random.RandomState(self._seed & 0xFFFFFFFF).get_state(legacy=True)[1]  # type: ignore
        return bool(np.array_equal(first, words))

    def load_state_bytes(self, state: Array) -> None:
        """Go back to a state that `state_bytes` gave."""
        if state.dtype != np.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if state.shape != (5056,):
            raise RuntimeError(
                "Expected either a CPUGeneratorImplStateLegacy of size 5048 or a CPUGeneratorImplState of "
                f"size 5056 but found the input RNG state size to be {state.size}"
            )
        state = np.ascontiguousarray(state)
        self.manual_seed(int(state[:8].view(np.uint64)[0]))
        position = 625 - int(state[8:12].view(np.int32)[0])
        words = state[24:5016].view(np.uint64).astype(np.uint32)
        self._twister().set_state(("MT19937", words, position))
        if state[5040:5044].view(np.int32)[0]:
            self._cached_normal = float(state[5016:5040].view(np.float64)[1])

    def get_state(self) -> Tensor:
        """The state as a uint8 tensor of 5056 bytes."""
        from .tensor import wrap

        return wrap(self.state_bytes())

    def set_state(self, new_state: Tensor) -> None:
        """Go back to a state that `get_state` gave."""
        if not hasattr(new_state, "_data"):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        self.load_state_bytes(new_state._data)

    # --------------------------------------------------------------------------------------------- raw bits

    def _words(self, count: int) -> Array:
        """The next random 32-bit words."""
        words: Array = self._twister().randint(0, 2**32, size=count, dtype=np.uint32)
        return words

    def _long_words(self, count: int) -> Array:
        """Random 64-bit words: the first of two words is the upper half."""
        pairs = self._words(2 * count).astype(np.uint64).reshape(count, 2)
        return (pairs[:, 0] << np.uint64(32)) | pairs[:, 1]

    def _uniform(self, count: int, dtype: np.dtype[Any]) -> Array:
        """Numbers in [0, 1): the low 53 bits of two words for float64, else the low 24 of one, as float32."""
        if dtype == _FLOAT64:
            return (self._long_words(count) & np.uint64(2**53 - 1)).astype(np.float64) * 2.0**-53
        low = (self._words(count) & np.uint32(2**24 - 1)).astype(np.float32)
        low *= np.float32(2.0**-24)
        return low

    # ------------------------------------------------------------------------------------------ distributions

    def rand(self, shape: Sequence[int], dtype: Any = _FLOAT32) -> Array:
        """Uniform numbers in [0, 1)."""
        dtype = np.dtype(dtype)
        return _rounded(self._uniform(math.prod(shape), dtype), dtype, 0.0, 1.0).reshape(shape)

    def uniform(self, shape: Sequence[int], low: float, high: float, dtype: Any = _FLOAT32) -> Array:
        """Uniform numbers in [low, high). The bounds are rounded to the dtype; the arithmetic is double."""
        dtype = np.dtype(dtype)
        if not low <= high:
            raise RuntimeError(
                f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}"
            )
        wide = np.float64 if dtype == _FLOAT64 else np.float32
        first, last = wide(low), wide(high)
        numbers = self._uniform(math.prod(shape), dtype).astype(np.float64)
        numbers *= np.float64(last - first)
        numbers += np.float64(first)
        return _rounded(numbers.astype(wide, copy=False), dtype, low, high).reshape(shape)

    def normal(
        self, shape: Sequence[int], mean: float = 0.0, std: float = 1.0, dtype: Any = _FLOAT32, single: bool = False
    ) -> Array:
        """Normally distributed numbers.

        Fewer than 16, and where memory has another order (`single`), come one by one from double Box-Muller, which
        gives two at a time and keeps the second.
        Otherwise blocks of 16 uniforms are turned into 16 normals; if the last block is short, the last 16
        numbers are drawn again.
        """
        dtype = np.dtype(dtype)
        if not std >= 0:
            raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
        count = math.prod(shape)
        if count < 16 or single:
            few = np.array([self._one_normal() for _ in range(count)], np.float64)
            return _scaled(few, mean, std).astype(dtype).reshape(shape)
        numbers = self._uniform(count - count % 16 if dtype == np.float16 else count, dtype)
        numbers.resize(count, refcheck=False)
        blocks = numbers[: count - count % 16].reshape(-1, 16)
        blocks[:] = _normal_blocks(blocks, mean, std)
        if count % 16:
            numbers[-16:] = _normal_blocks(self._uniform(16, dtype).reshape(1, 16), mean, std)[0]
        return numbers.astype(dtype, copy=False).reshape(shape)

    def randn(self, shape: Sequence[int], dtype: Any = _FLOAT32) -> Array:
        """Normally distributed numbers with mean 0 and standard deviation 1."""
        return self.normal(shape, dtype=dtype)

    def _one_normal(self) -> float:
        if self._cached_normal is not None:
            second, self._cached_normal = self._cached_normal, None
            return second
        first, second = self._uniform(2, _FLOAT64).tolist()
        radius, angle = math.sqrt(-2.0 * math.log1p(-second)), 2.0 * math.pi * first
        self._cached_normal = radius * math.sin(angle)
        return radius * math.cos(angle)

    def randint(
        self, low: int, high: int, shape: Sequence[int], dtype: Any = np.int64, short: bool = False
    ) -> Array:
        """Integers from low up to and not including high; a wide range takes two words each, unless `short`."""
        if low >= high:
            raise RuntimeError(
                f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
            )
        count, span = math.prod(shape), high - low
        words = self._words(count) if short or span < _LONG_SPAN else self._long_words(count)
        numbers = words.astype(np.int64) if span == 2**64 else (words.astype(np.uint64) % np.uint64(span)).astype(np.int64)
        numbers += np.int64(low) if span < 2**64 else 0
        return numbers.astype(dtype, copy=False).reshape(shape)

    def randperm(self, n: int) -> Array:
        """The integers 0 ... n-1 in random order (int64)."""
        order = list(range(n))
        words = self._words(max(n - 1, 0)).astype(np.int64)
        swaps = words % np.arange(n, 1, -1) if n > 1 else words
        for place, further in enumerate(swaps.tolist()):
            other = place + further
            order[place], order[other] = order[other], order[place]
        return np.array(order, np.int64)

    def bernoulli(self, probability: Any, dtype: Any = None) -> Array:
        """1 with the given probabilities (an array), else 0."""
        probability = np.asarray(probability)  # float32 ones are compared with 24-bit uniforms
        if probability.size and not ((probability >= 0) & (probability <= 1)).all():
            raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
        drawn = self.rand(probability.shape, _FLOAT64 if probability.dtype == _FLOAT64 else _FLOAT32)
        hits: Array = drawn < probability
        return hits.astype(probability.dtype if dtype is None else dtype)

    def keep(self, shape: Sequence[int], probability: float) -> Array:
        """Booleans that are True with one probability: what dropout keeps, and `bernoulli_(p)`."""
        return self.rand(shape, _FLOAT64) < probability

    def poisson(self, rates: Array) -> Array:
        """A number from the Poisson distribution for each rate, in its dtype."""
        from minigrad.rejection import poissons

        return poissons(rates, self)

    def exponential(self, shape: Sequence[int], rate: float = 1.0, dtype: Any = _FLOAT32) -> Array:
        """Exponentially distributed numbers with mean 1 / rate."""
        if not rate > 0:
            raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
        numbers = -1.0 / rate * _exactly(math.log1p, -self.rand(shape, _FLOAT64))
        return numbers.astype(dtype, copy=False)

    def multinomial(self, weights: Array, count: int, replacement: bool = False) -> Array:
        """Indices drawn with the probabilities of the last dimension of `weights` (1-d or 2-d), as int64.

        Without replacement (and for one index) a race decides: the largest weight / exponential wins.
        """
        if replacement and count > 1:
            rows = np.atleast_2d(weights).astype(np.float64)
            sums = np.cumsum(rows, axis=1)
            sums /= sums[:, -1:]
            drawn = self.rand((len(rows), count), _FLOAT64)
            found = np.stack([np.searchsorted(s, u, side="left") for s, u in zip(sums, drawn, strict=True)])
            return found.reshape(weights.shape[:-1] + (count,)).astype(np.int64)
        race = weights / self.exponential(weights.shape, dtype=weights.dtype)
        if count == 1:
            return np.asarray(race.argmax(axis=-1, keepdims=True))
        return np.asarray(np.argsort(-race, axis=-1, kind="stable")[..., :count])


_LONG_SPAN = 2**28  # ranges of at least this many integers take 64-bit words

# --------------------------------------------------------------------------------- Box-Muller on blocks of 16


def _normal_blocks(uniforms: Array, mean: float, std: float) -> Array:
    """Rows of 16 uniforms to rows of 16 normals: the first 8 give radii, the last 8 angles."""
    first, second = uniforms[:, :8], uniforms[:, 8:]
    if uniforms.dtype == _FLOAT64:
        radius = np.sqrt(-2.0 * _exactly(math.log, 1.0 - first))
        angle = 2.0 * math.pi * second
        sine, cosine = _exactly(math.sin, angle), _exactly(math.cos, angle)
    else:
        radius = np.sqrt(np.float32(-2) * _log32(np.float32(1) - first))
        sine, cosine = _sin_cos32(np.float32(2 * math.pi) * second)
    return _scaled(np.concatenate([radius * cosine, radius * sine], axis=1), mean, std)


def _scaled(normals: Array, mean: float, std: float) -> Array:
    """normals * std + mean with one rounding, in their own dtype."""
    if mean == 0 and std == 1:
        return normals
    wider = np.longdouble if normals.dtype == _FLOAT64 else np.float64
    scale, shift = normals.dtype.type(std), normals.dtype.type(mean)
    wide: Array = normals.astype(wider)
    wide *= scale
    wide += shift
    return wide.astype(normals.dtype)


def _rounded(numbers: Array, dtype: np.dtype[Any], low: float, high: float) -> Array:
    """Numbers in [low, high) in a narrower dtype: what would round up to `high` becomes `low`."""
    if numbers.dtype == dtype:
        return numbers
    narrow = numbers.astype(dtype)
    narrow[narrow == dtype.type(high)] = low
    return narrow


def _exactly(function: Any, x: Array) -> Array:
    """The C library's function of each element: numpy's own vector versions differ in the last bit."""
    return np.fromiter(map(function, x.reshape(-1).tolist()), np.float64, x.size).reshape(x.shape)


def _fused(a: Any, b: Any, c: Any) -> Array:
    """a * b + c in float32 with one rounding, as processors with a fused multiply-add compute it."""
    wide: Array = np.multiply(a, b, dtype=np.float64)
    wide += c
    return wide.astype(np.float32)


# PyTorch computes float32 normals with the polynomials of the Cephes library (S. L. Moshier).
# The same coefficients, in the same order of operations, give the same bits.
_LOG = (
    7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
    2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
)  # fmt: skip
_SIN = (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_QUARTER_PI = (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)  # minus pi/4, in three parts
_LOG2 = (-2.12194440e-4, 0.693359375)  # log(2) in two parts


def _polynomial(coefficients: tuple[float, ...], x: Array) -> Array:
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value = _fused(value, x, np.float32(coefficient))
    return value


def _log32(x: Array) -> Array:
    """log of float32 numbers in (0, 1]."""
    mantissa, exponent = np.frexp(x)
    low = mantissa < np.float32(math.sqrt(0.5))
    scale = (exponent - low).astype(np.float32)
    x = (mantissa - np.float32(1)) + np.where(low, mantissa, np.float32(0))
    square = x * x
    y = _polynomial(_LOG, x) * x
    y = _fused(y, square, scale * np.float32(_LOG2[0]))
    y = _fused(square, np.float32(-0.5), y)
    return _fused(scale, np.float32(_LOG2[1]), x + y)


def _sin_cos32(x: Array) -> tuple[Array, Array]:
    """sin and cos of float32 numbers in [0, 2 pi]."""
    octant = ((x * np.float32(4 / math.pi)).astype(np.int32) + 1) & ~1
    turns = octant.astype(np.float32)
    for part in _QUARTER_PI:
        x = _fused(turns, np.float32(part), x)
    square = x * x
    cosine = _polynomial(_COS, square) * square
    cosine = _fused(cosine, square, -(square * np.float32(0.5))) + np.float32(1)
    sine = _fused(_polynomial(_SIN, square) * square, x, x)

    swapped = (octant & 2) != 0
    sine, cosine = np.where(swapped, cosine, sine), np.where(swapped, sine, cosine)
    sine = np.where(octant & 4, -sine, sine)
    cosine = np.where((octant + 2) & 4, -cosine, cosine)
    return sine, cosine


# ------------------------------------------------------------------------------------- the default generator

default_generator = Generator()
default_generator.seed()


def manual_seed(seed: int) -> Generator:
    """Seed the default generator; returns it."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Seed the default generator with a number that nobody knows, and return it."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default generator's last start."""
    return default_generator.initial_seed()


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, device_type: str = "cuda") -> Iterator[None]:
    """Random numbers drawn inside `with fork_rng():` leave the default generator as it was."""
    state = default_generator.state_bytes()
    try:
        yield
    finally:
        if enabled:
            default_generator.load_state_bytes(state)


def get_rng_state() -> Tensor:
    """The state of the default generator, as a uint8 tensor."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Put the default generator back into a state that `get_rng_state` gave."""
    default_generator.set_state(new_state)
