"""The memory behind tensors: one row of numbers that all views of a tensor share, each with its own shape and steps.

Loaded by `x.storage()`, `x.untyped_storage()` or `x.storage_offset()`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.devices import CPU, Device
from minigrad.tensor import Array, Tensor

DEPRECATED = (
    "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage class. This "
    "should only matter to you if you are using storages directly.  To access UntypedStorage directly, use "
    "tensor.untyped_storage() instead of tensor.storage()"
)


def _owner(x: Tensor) -> Array:
    """The array whose memory x shows, or shows a part of."""
    owner: Any = x._writable()
    base = owner.base
    while base is not None:  # what numpy puts between an array and its `as_strided` has a base too, but is no array
        if isinstance(base, np.ndarray):
            owner = base
        base = getattr(base, "base", None)
    return owner


def _start(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def offset(x: Tensor) -> int:
    """How many elements of the memory lie before the tensor's first one."""
    return (_start(x._writable()) - _start(_owner(x))) // x.dtype.itemsize


class UntypedStorage:
    """Memory as bytes.  NotImplementedError for memory with gaps, which an array of another library may have."""

    def __init__(self, x: Tensor) -> None:
        owner = _owner(x)
        row = owner.ravel("K")
        if owner.size and not np.shares_memory(row, owner):
            raise NotImplementedError("this memory has gaps: minigrad shows only numbers that lie side by side")
        self._row: Array = row.view(np.uint8)
        self.device: Device = CPU

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return _start(self._row)

    def nbytes(self) -> int:
        return int(self._row.size)

    size = __len__ = nbytes

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __getitem__(self, place: int) -> int:
        return int(self._row[place])

    def __setitem__(self, place: Any, value: int) -> None:
        self._row[place] = value

    def tolist(self) -> list[int]:
        return list(self._row.tolist())

    def __repr__(self) -> str:
        return "".join(f" {n}\n" for n in self._row) + f"[torch.storage.UntypedStorage(device=cpu) of size {len(self)}]"


class TypedStorage:
    """Memory as numbers of one type: `len(s)`, `s[2]`, `s[2] = 1.5`, which every view of it sees."""

    def __init__(self, x: Tensor) -> None:
        warnings.warn(DEPRECATED, UserWarning, stacklevel=4)
        self._bytes = UntypedStorage(x)
        self._row = self._bytes._row.view(x._data.dtype)
        self.dtype: dtypes.DType = x.dtype
        self.device: Device = CPU

    def untyped(self) -> UntypedStorage:
        return self._bytes

    def data_ptr(self) -> int:
        """The address of the first number."""
        return self._bytes.data_ptr()

    def nbytes(self) -> int:
        return self._bytes.nbytes()

    def size(self) -> int:
        """How many numbers there are."""
        return int(self._row.size)

    __len__ = size

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __getitem__(self, place: int) -> Any:
        return self._row[place].item()

    def __setitem__(self, place: Any, value: Any) -> None:
        self._row[place] = dtypes.cast(value, self.dtype)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def tolist(self) -> list[Any]:
        return list(self._row.tolist())

    def __repr__(self) -> str:
        size = f"[torch.storage.TypedStorage(dtype={self.dtype}, device=cpu) of size {len(self)}]"
        return "".join(f" {n}\n" for n in self.tolist()) + size
