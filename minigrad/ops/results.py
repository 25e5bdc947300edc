"""What `max`, `sort` and their kin return: values and indices by name."""

from __future__ import annotations

import functools
from typing import NamedTuple

from minigrad.tensor import Tensor


class Picked(NamedTuple):
    """The elements that a function picked along a dimension, and where they were; it prints as PyTorch's."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"torch.return_types.{name}(\nvalues={self.values!r},\nindices={self.indices!r})"


@functools.cache
def return_type(name: str) -> type[Picked]:
    """The type of what a function returns, under the function's name."""
    return type(name, (Picked,), {"__slots__": ()})
