"""The coordinates of a grid.

Loaded when it is first called.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import warnings
from typing import Any

from minigrad.public import register
from minigrad.shapes import expand, reshape
from minigrad.tensor import Tensor


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Vectors as coordinates of a grid: "ij" varies the first one down the rows, "xy" along them."""
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing is None:
        warnings.warn(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.",
            UserWarning,
            stacklevel=2,
        )
    if indexing not in (None, "ij", "xy"):
        raise RuntimeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    if any(x.dtype is not tensors[0].dtype for x in tensors):
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    if many := [x for x in tensors if x._data.ndim > 1]:
        raise RuntimeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {many[0]}")
    swapped = indexing == "xy" and len(tensors) >= 2
    given = [tensors[1], tensors[0], *tensors[2:]] if swapped else list(tensors)
    sizes = tuple(int(x._data.size) for x in given)
    grids = [
        expand(reshape(x, (1,) * i + (sizes[i],) + (1,) * (len(given) - i - 1)), sizes) for i, x in enumerate(given)
    ]
    if swapped:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


register(meshgrid, "meshgrid", method=False)
