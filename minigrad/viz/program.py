"""A function with its inputs: runs it, notes every result, and records the backward pass of what it returns.

A loss alone cannot give all values back, because what no rule needed was not saved. Here each tensor is noted when the
function that made it returns; of a tensor of PyTorch that is done by record/pytorch_forward.py.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np

import minigrad as mg

from ..record.pytorch_forward import leaf_like, leaves, numbers_of, watched
from ..record.pytorch_pass import is_pytorch
from ..record.recorder import record
from ..record.recording import Recording
from ..tensor import Tensor
from . import foreign
from .rules import judge

EDITABLE = 12  # numbers of an input that can be changed in a notebook


@dataclass
class Program:
    """A function, its inputs by name, and what its backward pass starts from."""

    function: Callable[..., Any]
    inputs: dict[str, Any]
    gradient: Any = None
    names: Mapping[str, Any] = field(default_factory=dict)
    rules: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        self.inputs = {name: leaf(value) for name, value in leaves(self.inputs).items()}

    def run(self) -> Recording:
        """Runs the function and records its backward pass. TypeError if it returns no tensor."""
        with noting(self.function) as (values, variables), watched(values, self.function, self.names):
            result = self.function(**self.inputs)
        names = {**self.names, **variables, **self.inputs}
        if foreign.is_foreign(result):
            return foreign.record(result, self.gradient, names, self.rules)
        if not isinstance(result, Tensor) and not is_pytorch(result):
            raise TypeError(f"step(f, ...) needs a function that returns a tensor, not {type(result).__name__}")
        recording = record(result, self.gradient, names=names, values=values)
        for place in recording.places:
            if place.leaf and place.site and place.site[0].co_filename == __file__:
                place.where = place.source = ""  # it was made here, by no line of the caller
        return judge(recording, self.rules or {})

    def editable(self) -> dict[str, Any]:
        """The inputs that can be changed: a number, or the shape and the numbers of a small tensor; JSON has no inf or nan."""
        found: dict[str, Any] = {}
        for name, value in self.inputs.items():
            ours = isinstance(value, Tensor) and value.requires_grad and value.is_leaf
            data = value.data if foreign.is_foreign(value) else value._data if ours else numbers_of(value)
            array = np.asarray(data)
            if array.dtype.kind == "f" and 0 < array.size <= EDITABLE and np.isfinite(array).all():
                found[name] = {"s": list(array.shape), "d": [float(x) for x in array.flat]}
        return found

    def change(self, name: str, index: int, value: float) -> Recording:
        """Gives one number of an input another value, and runs. KeyError or IndexError for what cannot be changed."""
        shape, flat = self.editable()[name].values()
        flat[index] = value
        old = self.inputs[name]
        data = np.array(flat).reshape(shape)
        if foreign.is_foreign(old):
            self.inputs[name] = type(old)(data if shape else float(value))
        elif is_pytorch(old):
            self.inputs[name] = leaf_like(old, data)
        else:
            self.inputs[name] = mg.tensor(data, dtype=old.dtype, requires_grad=True)
        return self.run()


def leaf(value: Any) -> Any:
    """Numbers, lists and arrays of numbers as tensors that require a gradient; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, (int, float, list, tuple, np.ndarray)):
        return value
    array = np.asarray(value)
    if array.dtype.kind == "i" and not isinstance(value, np.ndarray):
        array = array.astype(float)  # a number that was written without a point
    return mg.tensor(array, dtype=mg.float32, requires_grad=True) if array.dtype.kind == "f" else value


@contextmanager
def noting(function: Callable[..., Any]) -> Iterator[tuple[dict[Any, Any], dict[str, Any]]]:
    """Notes the value of every tensor as what made it returns, and the function's variables at its end."""
    own = getattr(function, "__code__", None)
    values: dict[Any, Any] = {}
    variables: dict[str, Any] = {}

    def see(frame: FrameType, event: str, result: Any) -> None:
        if event != "return":
            return
        if frame.f_code is own:
            variables.update(frame.f_locals)
        if isinstance(result, Tensor):
            node = result._node
            if node is not None and node not in values:
                values[node] = np.array(result._data)

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        yield values, variables
    finally:
        sys.setprofile(before)
