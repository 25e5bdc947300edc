"""Random tensors: rand, randn, randint, ..., and the methods that fill a tensor with random numbers.

The numbers are PyTorch's own for the same seed (see random.py, which makes them as arrays).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minigrad import dtypes, errors, inplace, layout, random
from minigrad.creation import as_dtype, as_size, finish, size_keyword
from minigrad.random import Generator
from minigrad.tensor import Tensor, method, wrap

__all__ = [
    "bernoulli",
    "multinomial",
    "normal",
    "poisson",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
]


def _source(generator: Generator | None) -> Generator:
    return random.default_generator if generator is None else generator


def _floating(name: str, dtype: Any, options: Any, kernel: str) -> Any:
    """The numpy type of the numbers to draw; NotImplementedError for integers."""
    found = as_dtype(dtype, name, options)
    if not found.is_floating_point:
        raise errors.not_implemented(kernel, found.tensor_name)
    return found.numpy


def rand(*size: Any, generator: Generator | None = None, dtype: Any = None, **options: Any) -> Tensor:
    """Uniform numbers in [0, 1)."""
    shape = as_size("rand", size_keyword(size, options))
    return finish(_source(generator).rand(shape, _floating("rand", dtype, options, "check_uniform_bounds")), **options)


def randn(*size: Any, generator: Generator | None = None, dtype: Any = None, **options: Any) -> Tensor:
    """Numbers from the normal distribution with mean 0 and standard deviation 1."""
    shape = as_size("randn", size_keyword(size, options))
    return finish(_source(generator).randn(shape, _floating("randn", dtype, options, "normal_kernel_cpu")), **options)


def randint(*args: Any, generator: Generator | None = None, dtype: Any = None, **options: Any) -> Tensor:
    """Integers from `low` (0 unless given) up to, but not including, `high`: randint(low, high, size)."""
    values = list(args)
    size = options.pop("size", None)
    size = values.pop() if size is None else size
    high = options.pop("high", None)
    high = values.pop() if high is None else high
    low = options.pop("low", values.pop() if values else 0)
    whole = all(isinstance(n, (int, np.integer, Tensor)) and not isinstance(n, bool) for n in (low, high))
    if not whole or not isinstance(size, (tuple, list)):
        types = ", ".join(map(errors.type_name, args))
        raise TypeError(f"randint() received an invalid combination of arguments - got ({types}), but expected one of:\n")
    if low >= high:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    kind = as_dtype(dtype, "randint", options, dtypes.int64)
    for name, bound in (("from", int(low)), ("to - 1", int(high) - 1)):
        _check_bound(name, bound, kind)
    numbers = _source(generator).randint(int(low), int(high), as_size("randint", (size,)))
    return finish(numbers.astype(kind.numpy), **options)


def randperm(n: int, *, generator: Generator | None = None, dtype: Any = None, **options: Any) -> Tensor:
    """The integers 0 to n - 1 in random order."""
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    kind = as_dtype(dtype, "randperm", options, dtypes.int64)
    return finish(_source(generator).randperm(n).astype(kind.numpy), **options)


def rand_like(input: Tensor, *, generator: Generator | None = None, dtype: Any = None, **options: Any) -> Tensor:
    """Uniform numbers in [0, 1), with the shape and type of `input`."""
    kind = _floats("rand_like", "check_uniform_bounds", input, dtype).numpy
    return finish(layout.filled_like(input._data, lambda shape: _source(generator).rand(shape, kind)), **options)


def randn_like(input: Tensor, *, generator: Generator | None = None, dtype: Any = None, **options: Any) -> Tensor:
    """Normal numbers, mean 0 and standard deviation 1, with the shape and type of `input`."""
    kind = _floats("randn_like", "normal_kernel_cpu", input, dtype).numpy
    turned = layout.memory_order(input._data) is not None
    draw = lambda shape: _source(generator).normal(shape, dtype=kind, single=turned)
    return finish(layout.filled_like(input._data, draw), **options)


def _floats(own: str, kernel: str, input: Tensor, dtype: Any = None) -> Any:
    """The type that random numbers like the tensor's have; NotImplementedError for whole numbers."""
    wanted = input.dtype if dtype is None else dtypes.resolve(dtype, own)
    if not wanted.is_floating_point:
        raise errors.not_implemented(kernel, wanted.tensor_name)
    return wanted


def randint_like(input: Tensor, *args: Any, dtype: Any = None, **options: Any) -> Tensor:
    """Integers from `low` (0 unless given) to `high`, exclusive, with the shape and type of `input`."""
    kind = input.dtype if dtype is None else dtype
    draw = lambda shape: randint(*args, shape, dtype=kind, **options)._data
    return finish(layout.filled_like(input._data, draw), requires_grad=options.get("requires_grad", False))


def normal(
    mean: Any,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    **options: Any,
) -> Tensor:
    """Normal numbers of the given mean and standard deviation (numbers with a size, or tensors)."""
    if size is not None:
        mean, std = (v.item() if isinstance(v, Tensor) and not v._data.ndim else v for v in (mean, std))
    tensors = isinstance(mean, Tensor) + isinstance(std, Tensor)
    known = all(isinstance(v, (bool, int, float, np.number, Tensor)) for v in (mean, std))
    if not known or bool(tensors) == (size is not None) or (tensors and dtype is not None):
        types = ", ".join(errors.type_name(v) for v in (mean, std, size)[: 2 + (size is not None)])
        raise TypeError(f"normal() received an invalid combination of arguments - got ({types}), but expected one of:\n")
    if tensors:
        _floats("normal", "normal_kernel_cpu", mean if isinstance(mean, Tensor) else std)
    if not np.all(np.greater_equal(getattr(std, "_data", std), 0)):
        found = "all elements of std >= 0.0" if isinstance(std, Tensor) else f"std >= 0.0, but found std {std:g}"
        raise RuntimeError(f"normal expects {found}")
    if size is not None:
        kind = as_dtype(dtype, "normal", options).numpy
        return finish(_source(generator).normal(as_size("normal", (size,)), mean, std, kind), **options)
    means = mean._data if isinstance(mean, Tensor) else np.float32(mean)
    stds = std._data if isinstance(std, Tensor) else std
    if not (np.asarray(stds) >= 0).all():
        raise RuntimeError("normal expects all elements of std >= 0.0")
    shape = errors.broadcast_shapes(np.shape(means), np.shape(stds))
    numbers = _source(generator).randn(shape, means.dtype) * stds + means
    kind = means.dtype if isinstance(mean, Tensor) else numbers.dtype
    return _drawn("normal", numbers.astype(kind), mean, std, **options)


def _drawn(name: str, values: Any, *parameters: Any, **options: Any) -> Tensor:
    """The numbers as a tensor; drawn with parameters that require grad, it requires grad too, and hands them zeros."""
    if not any(isinstance(p, Tensor) and p.requires_grad for p in parameters):
        return finish(values, **options)
    from minigrad import more_derivatives as rows

    tensors = [p for p in parameters if isinstance(p, Tensor)]
    if len(tensors) < len(parameters):
        name += "_mean" if isinstance(parameters[0], Tensor) else "_std"
    made: Tensor = getattr(rows, f"drawn_{name}")(*tensors, values)
    return made


def bernoulli(input: Tensor, *, generator: Generator | None = None, out: Any = None) -> Tensor:
    """For each probability in `input`, 1 or 0.  RuntimeError for one outside [0, 1]."""
    if input._data.dtype.kind != "f":
        raise errors.not_implemented("bernoulli_tensor_cpu_p_", input.dtype.tensor_name)
    p = np.asarray(input._data)
    if p.size and not ((p >= 0) & (p <= 1)).all():
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    if out is not None:
        return finish(_source(generator).bernoulli(p), out=out)
    return _drawn("bernoulli", _source(generator).bernoulli(p), input)


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """Indices drawn with the given weights, for each row: shape (..., num_samples)."""
    _check_weights(np.asarray(input._data), input.dtype, num_samples, replacement)
    rows = np.atleast_2d(np.asarray(input._data))
    drawn = np.array([_source(generator).multinomial(row, num_samples, replacement) for row in rows], np.int64)
    return wrap(drawn.reshape((*input.shape[:-1], num_samples)))


def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """For each rate in `input`, a number from the Poisson distribution."""
    if (input._data < 0).any():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    return _drawn("poisson", _source(generator).poisson(np.asarray(input._data)), input)


for _call in (bernoulli, multinomial):
    setattr(Tensor, _call.__name__, _call)


def _check_weights(p: Any, dtype: dtypes.DType, num_samples: int, replacement: bool) -> None:
    if p.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if not dtype.is_floating_point:
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {dtype.tensor_name}")
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > p.shape[-1]:
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    endless, negative = not np.isfinite(p).all(), bool((p < 0).any())
    if (endless or negative) and (not replacement or num_samples == 1):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if endless or negative:
        which = "= infinity or NaN" if endless else "< 0"
        raise RuntimeError(f"invalid multinomial distribution (encountering probability entry {which})")
    if (p.sum(-1) <= 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")


def _drawn_into(tensor: Tensor, draw: Any) -> Tensor:
    """Fill with what `draw` gives for a shape, in the order of memory."""
    return _fill(tensor, layout.filled_like(tensor._data, draw))


def _fill(tensor: Tensor, array: Any) -> Tensor:
    inplace.check_writable(tensor)
    inplace.commit(tensor, wrap(np.asarray(array).astype(tensor._data.dtype)))
    return tensor


@method
def uniform_(self: Tensor, a: float = 0.0, b: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with uniform numbers in [a, b).  RuntimeError for bounds that the type cannot hold."""
    _floats("uniform_", "check_uniform_bounds", self)
    if self._data.dtype.kind == "f":
        largest = float(np.finfo(self._data.dtype).max)
        for name, bound in (("from", a), ("to", b)):
            if not -largest <= bound <= largest:
                raise RuntimeError(f"{name} is out of bounds for {self.dtype.c_name}")
        if b - a > largest:
            raise RuntimeError(
                f"uniform_ expects to-from <= std::numeric_limits<{self.dtype.tensor_name}>::max(), but found to={b:g} and "
                f"from={a:g} which result in to-from to exceed the limit"
            )
    return _drawn_into(self, lambda shape: _source(generator).uniform(shape, a, b, self._data.dtype))


@method
def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with normal numbers."""
    for place, (name, value) in enumerate((("mean", mean), ("std", std))):
        if not isinstance(value, (bool, int, float, np.number, Tensor)):
            kind = errors.type_name(value)
            raise TypeError(f"normal_(): argument '{name}' (position {place + 1}) must be float, not {kind}")
    _floats("normal_", "normal_kernel_cpu", self)
    if std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    single = not self._data.flags.c_contiguous
    return _drawn_into(self, lambda shape: _source(generator).normal(shape, mean, std, self._data.dtype, single))


@method
def bernoulli_(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with 1 (with probability p) and 0."""
    if isinstance(p, Tensor):
        return _fill(self, _source(generator).bernoulli(np.asarray(p._data)))
    return _drawn_into(self, lambda shape: _source(generator).keep(shape, p))


@method
def random_(self: Tensor, low: int | None = None, *high: Any, generator: Generator | None = None) -> Tensor:
    """Fill with integers from low up to, but not including, high (given alone, low is the upper bound).

    Without bounds: all the integers that the type holds exactly, from 0; `random_(low, None)`: from low.
    """
    kind = self._data.dtype
    if low is not None and high == (None,):
        _check_bound("from", low, self.dtype)
        return _drawn_into(self, lambda shape: _source(generator).randint(low, _beyond(kind), shape))
    if low is None:
        short = kind.itemsize < 8
        return _drawn_into(self, lambda shape: _source(generator).randint(0, _beyond(kind), shape, short=short))
    first, last = (low, *high) if high else (0, low)
    if first >= last:
        raise RuntimeError(f"random_ expects 'from' to be less than 'to', but got from={first} >= to={last}")
    for name, bound in (("from", first), ("to - 1", last - 1)):
        _check_bound(name, bound, self.dtype)
    return _drawn_into(self, lambda shape: _source(generator).randint(first, last, shape))


def _beyond(kind: Any) -> int:
    """One more than the largest integer up to which the type holds all of them."""
    if kind.kind == "f":
        return int(2 ** (np.finfo(kind).nmant + 1)) + 1
    return 2 if kind.kind == "b" else int(np.iinfo(kind).max) + 1


def _check_bound(name: str, bound: int, dtype: dtypes.DType) -> None:
    """RuntimeError for a bound that the type cannot hold, a warning for one beyond which it skips integers."""
    kind: Any = dtype.numpy
    floating = kind.kind == "f"
    limits: Any = np.finfo(kind) if floating else (np.iinfo(kind) if kind.kind != "b" else np.iinfo(np.uint8))
    largest = 1 if kind.kind == "b" else int(limits.max)
    if not (0 if kind.kind == "b" else int(limits.min)) <= bound <= largest:
        raise RuntimeError(f"{name} is out of bounds for {dtype.c_name}")
    if floating and abs(bound) > 2 ** (limits.nmant + 1):
        digits = limits.nmant + 1
        warnings.warn(
            f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision limitations {dtype.c_name} can support "
            "discrete uniform distribution only within this range. This warning will become an error in a future release, "
            "please fix the code in advance",
            UserWarning,
            stacklevel=3,
        )


@method
def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers from the exponential distribution."""
    return _drawn_into(self, lambda shape: _source(generator).exponential(shape, lambd, self._data.dtype))


@method
def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with the exponentials of normal numbers."""
    if std <= 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    return _drawn_into(self, lambda shape: np.exp(_source(generator).normal(shape, mean, std, np.float64, single=True)))


def _doubles(generator: Generator | None, shape: tuple[int, ...]) -> Any:
    """Uniform numbers in [0, 1), in double precision."""
    return _source(generator).uniform(shape, 0.0, 1.0, np.dtype(np.float64))


@method
def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fill with how many trials it takes until the first success of probability p."""
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    return _drawn_into(self, lambda shape: np.ceil(np.log(_doubles(generator, shape)) / np.log1p(-p)))


@method
def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers from the Cauchy distribution."""
    if sigma <= 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    return _drawn_into(self, lambda shape: median + sigma * np.tan(np.pi * (_doubles(generator, shape) - 0.5)))


def _bernoulli(self: Tensor, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
    """`bernoulli`; with `p`, that probability everywhere."""
    return bernoulli(self if p is None else wrap(np.full(self.shape, p, self._data.dtype)), generator=generator)


Tensor.bernoulli = _bernoulli  # type: ignore[attr-defined]
method(multinomial)
