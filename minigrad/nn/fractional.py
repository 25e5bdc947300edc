"""Max pooling with windows at random places (`fractional_max_pool2d`): a picture may shrink by any ratio."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import minigrad as mg
from minigrad import more_derivatives as more
from minigrad.nn.arguments import each
from minigrad.public import as_one_node
from minigrad.tensor import Tensor, wrap

Array = Any


def _starts(sample: Array, size: int, count: int, kernel: int) -> Array:
    """Where `count` windows begin, about equally far apart: the random number says how the rounding falls."""
    step = sample.dtype.type(size - kernel) / sample.dtype.type(max(count - 1, 1))
    at = np.trunc((np.arange(count, dtype=sample.dtype) + sample[..., None]) * step) - np.trunc(sample * step)[..., None]
    at[..., -1:] = size - kernel  # the last window ends with the picture
    return at.astype(np.int64)


def _check_samples(samples: Tensor, input: Tensor, batch: int, channels: int, n: int) -> None:
    if samples.dtype is not input.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if samples.ndim != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.ndim}")
    if samples.shape[0] < batch:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if samples.shape[1] != channels:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if samples.shape[2] != n:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {n}; got {samples.shape[2]}.")


def _fractional(input: Tensor, n: int, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Tensor | None) -> Any:
    name = f"fractional_max_pool{n}d"
    sizes = tuple(input.size(d) for d in range(-n, 0))
    channels = input.size(-n - 1)
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    kernel = each(kernel_size, n)
    if output_size is None:
        output_size = [int(size * ratio) for size, ratio in zip(sizes, each(output_ratio, n), strict=True)]
    counts = each(output_size, n)
    batch = 1 if input.dim() == n + 1 else input.size(0)
    if samples is None:
        samples = mg.rand((batch, channels, n), dtype=input.dtype)
    for d, size in enumerate(input.shape[-n - 1 :], -n - 1):
        if not size:
            where = d + input.dim()
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but got{list(input.shape)} "
                f"with dimension {where} being empty."
            )
    for what, count, size, window in zip(("time", "height", "width")[-n:], counts, sizes, kernel, strict=True):
        if count + window - 1 > size - (n == 3):
            own = name if n == 2 else f"{name}_out"
            raise RuntimeError(f"{own}(): pool {what} {window} too large relative to input {what} {size}")
    _check_samples(samples, input, batch, channels, n)
    order = range(n) if n == 3 else (1, 0)  # PyTorch draws the place across before the place down
    flat = np.zeros((batch, channels, *(1,) * (2 * n)), np.int64)
    for d, place in enumerate(order):
        inside = _starts(samples._data[:batch, :, place], sizes[d], counts[d], kernel[d])[..., None] + np.arange(kernel[d])
        shape = [batch, channels, *(1,) * (2 * n)]
        shape[2 + d], shape[2 + n + d] = counts[d], kernel[d]
        flat = flat * sizes[d] + inside.reshape(shape)
    flat = flat.reshape((batch, channels, math.prod(counts), math.prod(kernel)))
    pixels = input._data.reshape((batch, channels, 1, math.prod(sizes)))
    best = np.take_along_axis(pixels, flat, -1).argmax(-1)[..., None]
    index = np.take_along_axis(flat, best, -1).reshape((*input.shape[:-n], *counts))
    recorded = more.max_pool2d if n == 2 else more.max_pool3d
    return as_one_node(recorded(input, index, n), f"FractionalMaxPool{n}DBackward0"), wrap(index)


def _public(n: int) -> tuple[Any, Any]:
    def call(
        input: Tensor,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Any:
        made = _fractional(input, n, kernel_size, output_size, output_ratio, _random_samples)
        return made if return_indices else made[0]

    def both(*args: Any, **keywords: Any) -> Any:
        return call(*args, **{**keywords, "return_indices": True})

    call.__name__ = call.__qualname__ = f"fractional_max_pool{n}d"
    both.__name__ = both.__qualname__ = f"fractional_max_pool{n}d_with_indices"
    call.__doc__ = (
        f"The largest elements of {n}-d windows at random places: `output_size` of them, or `output_ratio` times the size.\n\n"
        f"With `return_indices` also where they stood; `_random_samples` (N, C, {n}) of numbers from 0 to 1 fixes the places."
    )
    both.__doc__ = f"`fractional_max_pool{n}d`, and where the elements stood in the flattened dimensions."
    return call, both


fractional_max_pool2d, fractional_max_pool2d_with_indices = _public(2)
fractional_max_pool3d, fractional_max_pool3d_with_indices = _public(3)
