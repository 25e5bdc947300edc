"""Windows: weights that fade out towards both ends of a piece of a signal (`torch.signal.windows`, `hann_window`, ...).

A window is symmetric (`sym=True`), or the first M of M + 1 places of a symmetric one, so that it can be repeated.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.creation import finish
from minigrad.tensor import Tensor

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann",
    "kaiser", "nuttall",
]  # fmt: skip

Array = Any


def _window(shape: Callable[..., Array]) -> Callable[..., Tensor]:
    """The public window, from its values `shape(places, of, ...)` at places 0, 1, ... of 0 to `of`."""

    @functools.wraps(shape)
    def call(M: int, *args: Any, sym: bool = True, dtype: Any = None, **keywords: Any) -> Tensor:
        name, found = shape.__name__, dtypes.get_default_dtype() if dtype is None else dtypes.resolve(dtype)
        if M < 0:
            raise ValueError(f"{name} requires non-negative window length, got M={M}")
        if found not in (dtypes.float32, dtypes.float64):
            raise ValueError(f"{name} expects float32 or float64 dtypes, got: {found}")
        own = {key: keywords.pop(key) for key in [*keywords] if key in inspect.signature(shape).parameters}
        values = shape(np.arange(M, dtype=np.float64), max(M - 1 if sym else M, 1), *args, **own)
        return finish((values if M > 1 else np.ones(M)).astype(found.numpy), **keywords)

    return call


def _cosines(k: Array, of: int, weights: Iterable[float]) -> Array:
    """w[0] - w[1] cos(x) + w[2] cos(2 x) - ..., x going once round."""
    return sum((-1) ** i * a * np.cos(2 * np.pi * i * k / of) for i, a in enumerate(weights))


@_window
def bartlett(k: Array, of: int) -> Array:
    """A triangle of M numbers from 0 up to 1 and down again."""
    return 1 - np.abs(2 * k / of - 1)


@_window
def blackman(k: Array, of: int) -> Array:
    """0.42 - 0.5 cos(x) + 0.08 cos(2 x) at M places of one round."""
    return _cosines(k, of, (0.42, 0.5, 0.08))


@_window
def cosine(k: Array, of: int) -> Array:
    """Half a wave of a sine, at the middles of M pieces."""
    return np.sin(np.pi * (k + 0.5) / (of + 1))


@_window
def exponential(k: Array, of: int, *, center: float | None = None, tau: float = 1.0) -> Array:
    """exp(-|k - center| / tau) at k = 0 ... M - 1; ValueError for a tau that is not above 0, for a centre if symmetric."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if center is not None and of == k.size - 1:
        raise ValueError("Center must be None for symmetric windows")
    return np.exp(-np.abs(k - (of / 2 if center is None else center)) / tau)


@_window
def gaussian(k: Array, of: int, *, std: float = 1.0) -> Array:
    """The bell exp(-x ** 2 / (2 std ** 2)), x counted from the middle; ValueError for a std that is not above 0."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    return np.exp(-(((k - of / 2) / std) ** 2) / 2)


@_window
def general_cosine(k: Array, of: int, *, a: Iterable[float]) -> Array:
    """a[0] - a[1] cos(x) + a[2] cos(2 x) - ... at M places of one round.  TypeError, ValueError for no list of weights."""
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    return _cosines(k, of, a)


@_window
def general_hamming(k: Array, of: int, *, alpha: float = 0.54) -> Array:
    """alpha - (1 - alpha) cos(x) at M places of one round."""
    return _cosines(k, of, (alpha, 1 - alpha))


@_window
def hamming(k: Array, of: int) -> Array:
    """0.54 - 0.46 cos(x) at M places of one round."""
    return _cosines(k, of, (0.54, 0.46))


@_window
def hann(k: Array, of: int) -> Array:
    """0.5 - 0.5 cos(x) at M places of one round."""
    return _cosines(k, of, (0.5, 0.5))


@_window
def kaiser(k: Array, of: int, *, beta: float = 12.0) -> Array:
    """I0(beta sqrt(1 - x ** 2)) / I0(beta), x from -1 to 1; ValueError for a negative beta."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    return np.i0(beta * np.sqrt(np.maximum(1 - (2 * k / of - 1) ** 2, 0))) / np.i0(beta)


@_window
def nuttall(k: Array, of: int) -> Array:
    """0.3635819 - 0.4891775 cos(x) + 0.1365995 cos(2 x) - 0.0106411 cos(3 x) at M places of one round."""
    return _cosines(k, of, (0.3635819, 0.4891775, 0.1365995, 0.0106411))


def _periodic(name: str, window: Callable[..., Tensor], window_length: int, periodic: bool, options: Any) -> Tensor:
    """The window as PyTorch offers it at top level: for one more place, without the last one, unless not `periodic`."""
    found = dtypes.get_default_dtype() if options.get("dtype") is None else dtypes.resolve(options["dtype"])
    if not found.is_floating_point:
        raise RuntimeError(f"{name} expects floating point dtypes, got: {found.tensor_name}")
    if window_length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={window_length}")
    wide = dtypes.float32 if found is dtypes.float16 else found
    made: Tensor = window(window_length, sym=not periodic, **{**options, "dtype": wide}).to(found)
    return made


def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """A triangle of `window_length` numbers from 0 up to 1 and down again."""
    return _periodic("bartlett_window", bartlett, window_length, periodic, options)


def blackman_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """0.42 - 0.5 cos(x) + 0.08 cos(2 x) at `window_length` places of one round."""
    return _periodic("blackman_window", blackman, window_length, periodic, options)


def hann_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """0.5 - 0.5 cos(x) at `window_length` places of one round."""
    return _periodic("hann_window", hann, window_length, periodic, options)


def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **options: Any
) -> Tensor:
    """alpha - beta cos(x) at `window_length` places of one round."""
    window = functools.partial(general_cosine, a=(alpha, beta))
    return _periodic("hamming_window", window, window_length, periodic, options)


def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any) -> Tensor:
    """I0(beta sqrt(1 - x ** 2)) / I0(beta) at `window_length` places x from -1 to 1."""
    return _periodic("kaiser_window", functools.partial(kaiser, beta=beta), window_length, periodic, options)
