"""What a node of the tape can be asked, besides its part in the walk: its saved values by PyTorch's names, and its rules.

`y.grad_fn._saved_result`, `loss.grad_fn(g)`, `y.grad_fn.metadata`: for looking at a graph, not for walking it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.dtypes import DType
from minigrad.hooks import unpacked
from minigrad.tape import AccumulateGrad, Node, freed, is_grad_enabled
from minigrad.tensor import Tensor, wrap
from minigrad.versions import check_versions, counter_of

# What PyTorch calls the inputs and arguments that rules keep; where it has no other name, ours.
SAVED = {"x": "self", "y": "other", "z": "weight", "out": "result", "x_shape": "self_sym_sizes", "y_shape": "other_sym_sizes",
         "dims": "dim", "low": "min", "high": "max", "order": "ord"}  # fmt: skip
SECOND = {"MmBackward0": "mat2", "BmmBackward0": "mat2", "MvBackward0": "vec", "DotBackward0": "tensor",
          "PowBackward1": "exponent", "SolveBackward0": "B", "AddmmBackward0": "mat1",
          "MseLossBackward0": "target", "BinaryCrossEntropyBackward0": "target", "SmoothL1LossBackward0": "target",
          "HuberLossBackward0": "target"}  # fmt: skip


def readers(made: Any) -> dict[str, property]:
    """What the nodes of an operation keep, as properties under PyTorch's names."""

    def reader(ours: str) -> property:
        return property(lambda node: saved(node, ours))

    kept = dict.fromkeys(ours for names in made.arguments for ours in names)
    return {f"_saved_{_theirs(made, ours)}": reader(ours) for ours in kept}


def _theirs(made: Any, ours: str) -> str:
    return SECOND.get(made.node_name, "other") if ours == "y" else SAVED.get(ours, ours)


def saved(node: Node, ours: str) -> Any:
    """What the rules of this node keep under this name."""
    found: dict[str, Any] = {}
    if node.kept is None:
        raise freed(node)
    check_versions(node)
    for names, args in zip(node.operation.arguments, node.lift(unpacked(node.kept)), strict=True):
        found.update(zip(names, args or (), strict=False))
    value = found.get(ours)  # None where nobody needs it: of x * 2, x
    if ours in node.operation.inputs and isinstance(value, (int, float)):
        return wrap(np.array(value))
    if not hasattr(value, "dtype"):
        return value
    source = node.parents[node.operation.inputs.index(ours)] if ours in node.operation.inputs else None
    leaf = source.variable if isinstance(source, AccumulateGrad) else None
    if leaf is not None and leaf._data is getattr(value, "_data", value):
        return leaf
    tensor = value if isinstance(value, Tensor) else wrap(value)
    tensor._counter = counter_of(node, ours) or tensor._counter
    return tensor


def _call(node: Node, *gradients: Tensor) -> Any:
    """Apply the rules to a gradient: one contribution for each input, as the backward pass would hand them on."""
    if len(gradients) != 1:
        raise TypeError(f"expected 1 arguments, got {len(gradients)} instead")
    if node.kept is None:
        raise freed(node)
    check_versions(node)
    recording = is_grad_enabled()
    _, shares = node.evaluate(gradients[0] if recording else gradients[0]._data, recording)
    answers = tuple(s if s is None or isinstance(s, Tensor) else wrap(s) for (s,) in shares)
    return answers[0] if len(answers) == 1 else answers


def _metadata(node: Node) -> dict[str, Any]:
    notes: dict[str, Any] = node.__dict__.setdefault("_metadata", {})
    return notes


def _grad_dtype(self: Tensor) -> Any:
    """The type that a leaf's gradient has: its own, unless another was set; None for any."""
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
    return self.__dict__.get("_grad_dtype", self.dtype)


def _set_grad_dtype(self: Tensor, dtype: Any) -> None:
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be set on leaf tensors.")
    if dtype is not None and not isinstance(dtype, DType):
        raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type(dtype).__name__}")
    if self._grad is not None and dtype not in (None, self._grad.dtype):
        raise RuntimeError(
            f"Cannot set grad_dtype to '{dtype.tensor_name}' because there is already a gradient with dtype "
            f"'{self._grad.dtype.c_name}'. Please clear the gradient (.grad = None) before changing grad_dtype, or ensure the "
            "new grad_dtype matches the existing gradient's dtype."
        )
    self.__dict__["_grad_dtype"] = dtype
    if self._node is not None:
        self._node.dtype = (dtype or self.dtype).numpy


Tensor.grad_dtype = property(_grad_dtype, _set_grad_dtype)  # type: ignore[attr-defined]
Node._also = ()  # type: ignore[attr-defined]  # what `noticing` was told of (see versions.py)
Node.__call__ = _call  # type: ignore[method-assign]
Node.metadata = property(_metadata, doc="A dictionary to keep notes in.")  # type: ignore[attr-defined]
