"""What `max`, `sort` and their kin return: values and indices by name."""

from __future__ import annotations

import functools
from typing import NamedTuple

from ..tensor import Tensor


class Picked(NamedTuple):
    """The elements that a function picked along a dimension, and where they were; it prints as PyTorch's."""

    values: Tensor
    indices: Tensor

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\nvalues={self.values!r},\nindices={self.indices!r})"


@functools.cache
def return_type(name: str) -> type[Picked]:
    """The type of what a function returns, under PyTorch's name for it."""
    return type(f"torch.return_types.{name}", (Picked,), {"__slots__": ()})
