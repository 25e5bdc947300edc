"""What a node of the tape can be asked, besides its part in the walk: its saved values by PyTorch's names, and its rules.

`y.grad_fn._saved_result`, `loss.grad_fn(g)`, `y.grad_fn.metadata`: for looking at a graph, not for walking it.
"""

from __future__ import annotations

from typing import Any

from minigrad.tape import FREED, Node, check_versions, counter_of, is_grad_enabled, noted
from minigrad.tensor import Tensor, wrap

# What PyTorch calls the inputs and arguments that rules keep; where it has no other name, ours.
SAVED = {"x": "self", "y": "other", "z": "weight", "out": "result", "x_shape": "self_sym_sizes", "y_shape": "other_sym_sizes",
         "dims": "dim"}  # fmt: skip
SECOND = {"MmBackward0": "mat2", "BmmBackward0": "mat2", "MvBackward0": "vec", "DotBackward0": "tensor",
          "PowBackward1": "exponent", "SolveBackward0": "B"}  # fmt: skip


def saved(node: Node, name: str) -> Any:
    """What the rules of this node keep under PyTorch's name for it; AttributeError if that is not kept."""
    made: Any = getattr(type(node), "operation", None)
    found: dict[str, Any] = {}
    if made is not None and node.kept is not None:
        check_versions(node)
        for names, args in zip(made.arguments, node.lift(node.unpacked()), strict=True):
            found.update(zip(names, args or (), strict=False))
    for ours in () if made is None else {n for names in made.arguments for n in names}:
        theirs = SECOND.get(made.node_name, "other") if ours == "y" else SAVED.get(ours, ours)
        if theirs == name:
            if ours not in found:
                raise noted(RuntimeError(FREED), node, "its saved values were freed by an earlier backward pass")
            value = found[ours]
            if not hasattr(value, "dtype"):
                return value
            tensor = value if isinstance(value, Tensor) else wrap(value)
            tensor._counter = counter_of(node, ours) or tensor._counter
            return tensor
    raise AttributeError(f"'{node.name()}' object has no attribute '_saved_{name}'")


def _get(node: Node, name: str) -> Any:
    if name.startswith("_saved_"):
        return saved(node, name.removeprefix("_saved_"))
    raise AttributeError(f"'{type(node).__name__}' object has no attribute '{name}'")


def _call(node: Node, *gradients: Tensor) -> Any:
    """Apply the rules to a gradient: one contribution for each input, as the backward pass would hand them on."""
    if len(gradients) != 1:
        raise TypeError(f"expected 1 arguments, got {len(gradients)} instead")
    if node.kept is None:
        raise noted(RuntimeError(FREED), node, "its saved values were freed by an earlier backward pass")
    check_versions(node)
    recording = is_grad_enabled()
    _, shares = node.evaluate(gradients[0] if recording else gradients[0]._data, recording)
    answers = tuple(s if s is None or isinstance(s, Tensor) else wrap(s) for (s,) in shares)
    return answers[0] if len(answers) == 1 else answers


def _metadata(node: Node) -> dict[str, Any]:
    notes: dict[str, Any] = node.__dict__.setdefault("_metadata", {})
    return notes


Node.__getattr__ = _get  # type: ignore[attr-defined]
Node.__call__ = _call  # type: ignore[method-assign]
Node.metadata = property(_metadata, doc="A dictionary to keep notes in.")  # type: ignore[attr-defined]
