"""Memory that comes from outside: a buffer of bytes, or an array of another library that speaks DLPack.

Loaded when one of its functions is first called.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.creation import finish, from_numpy
from minigrad.tensor import Tensor

READ_ONLY = (
    "The given buffer is not writable, and PyTorch does not support non-writable tensors. This means you can write to the "
    "underlying (supposedly non-writable) buffer using the tensor. You may want to copy the buffer to protect its data or make "
    "it writable before converting it to a tensor. This type of warning will be suppressed for the rest of this program."
)


def empty_strided(size: Any, stride: Any, *, dtype: Any = None, **options: Any) -> Tensor:
    """Some numbers or other, laid out in memory of their own with these steps (in elements) from one to the next.

    RuntimeError for sizes or steps that are negative or of different number.
    """
    if len(size) != len(stride):
        raise RuntimeError(
            f"mismatch in length of strides and shape: {len(stride)} steps for {len(size)} sizes"
        )
    for word, numbers in (("dimension", size), ("stride", stride)):
        if any(n < 0 for n in numbers):
            raise RuntimeError(f"Trying to create tensor with negative {word} {min(numbers)}: {list(numbers)}")
    kind = dtypes.get_default_dtype() if dtype is None else dtypes.resolve(dtype, "empty_strided")
    reach = 0 if 0 in tuple(size) else 1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    memory = np.zeros(reach, kind.numpy)
    steps = tuple(s * memory.itemsize for s in stride)
    return finish(np.lib.stride_tricks.as_strided(memory, tuple(size), steps), **options)


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A 1-d tensor that shares memory with a buffer of bytes: `count` numbers of this type from byte `offset` on.

    ValueError if the buffer does not hold them.
    """
    wanted = dtypes.resolve(dtype, "frombuffer").numpy
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    length, size = view.nbytes, wanted.itemsize
    if not length or not count:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1"
        )
    if count < 0 and (length - offset) % size:
        raise ValueError(
            f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of element size ({size})"
        )
    if offset + max(count, 0) * size > length:
        raise ValueError(
            f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must not be greater than actual "
            f"buffer length ({length} bytes)"
        )
    if view.readonly:
        warnings.warn(READ_ONLY, UserWarning, stacklevel=2)
    return finish(np.frombuffer(view, wanted, max(count, -1), offset), requires_grad)


def from_dlpack(ext_tensor: Any) -> Tensor:
    """A tensor that shares memory with an array of another library; RuntimeError for what is no such array."""
    if not hasattr(ext_tensor, "__dlpack__"):
        raise RuntimeError(
            "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you might have "
            "already constructed a tensor from it once."
        )
    return from_numpy(np.from_dlpack(ext_tensor))
