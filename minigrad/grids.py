"""Every combination of the numbers of some vectors: grids, products, choices.

Loaded when one of its functions is first called.
"""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad.joining import stack
from minigrad.public import function, register
from minigrad.shapes import expand, ravel, reshape
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


def _check_vector(x: Tensor) -> None:
    if x._data.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {list(x._data.shape)}")


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Every combination of elements, one a row."""
    for x in tensors:
        _check_vector(x)
    if len(tensors) == 1:
        return tensors[0]
    return stack([ravel(g) for g in meshgrid(*tensors, indexing="ij")], 1)


@function(method=False)
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Every choice of r elements of a vector, one a row."""
    _check_vector(input)
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(choose(range(input._data.shape[0]), r)) if r else []  # of nothing there is one choice, but PyTorch gives none
    return table.pick(input, (np.array(rows, np.int64).reshape(len(rows), r) if r else np.zeros(0, np.int64),))


register(meshgrid, "meshgrid", method=False)
register(cartesian_prod, "cartesian_prod", method=False)
