"""`Size`: the shape of a tensor.

A tuple of dimensions that prints as PyTorch prints it, counts its elements with `numel()`, and stays a Size
when it is sliced or added to.
"""

from __future__ import annotations

import math
import operator
from typing import Any, SupportsIndex, overload


def _whole(dim: Any, position: int) -> int:
    try:
        return operator.index(dim)
    except TypeError:
        kind = type(dim).__name__
        raise TypeError(f"torch.Size() takes an iterable of 'int' (item {position} is '{kind}')") from None


class Size(tuple[int, ...]):
    """The shape of a tensor: `Size([2, 3])`, equal to the tuple `(2, 3)`.

    Slices and sums are Sizes again; one index gives an int. Entries that are not integers raise TypeError.
    """

    __module__ = "minigrad"
    __slots__ = ()

    def __new__(cls, dims: Any = ()) -> Size:
        return tuple.__new__(cls, [_whole(dim, position) for position, dim in enumerate(dims)])

    def numel(self) -> int:
        """The number of elements a tensor of this shape holds."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"

    __str__ = __repr__

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Size: ...
    def __getitem__(self, index: SupportsIndex | slice) -> int | Size:
        if isinstance(index, slice):
            return tuple.__new__(Size, tuple.__getitem__(self, index))
        return tuple.__getitem__(self, index)

    def __add__(self, other: Any) -> Size:
        if not isinstance(other, tuple):
            return NotImplemented
        return tuple.__new__(Size, tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Size:
        if not isinstance(other, tuple):
            return NotImplemented
        return tuple.__new__(Size, tuple.__add__(other, self))

    def __mul__(self, times: SupportsIndex) -> Size:
        return tuple.__new__(Size, tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[Any, ...]:
        return Size, (tuple(self),)
