"""What a node of the tape still holds, and the value of every tensor of a graph.

A node saves only what its rules need.  For a picture the other values are
looked for in the caller's variables, in what a neighbour saved, in a number
that stands in the source; what is missing then is computed again from its
inputs.  What cannot be had stays unknown: its shape alone is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from minigrad.operation import Operation
from minigrad.record.names import Names, is_operation, literal, source_of
from minigrad.record.numbers import Array
from minigrad.tensor import Node
from minigrad.tensor import Tensor


def array_of(value: Any) -> Array:
    """A copy; of the gradients of several outputs, the first that is there."""
    if isinstance(value, tuple):
        value = next(v for v in value if v is not None)
    return np.array(getattr(value, "_data", value))


def stretched(raw: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of `raw` that are summed to get `shape`."""
    lead = len(raw) - len(shape)
    inside = (i for i, n in enumerate(raw[lead:]) if n != 1 == shape[i])
    return (*range(lead), *(lead + i for i in inside))


def operation_of(node: Node) -> Operation | None:
    """A node's row of the table; None for a custom Function and the like."""
    made: Operation | None = getattr(node, "operation", None)
    return made if made is not None and made.rules else None


def arguments_of(node: Node, slot: int) -> dict[str, Any]:
    """What the rule for an input gets besides g."""
    saved = (node.saved or ())[slot] or ()
    return dict(zip(node.operation.arguments[slot], saved, strict=True))


def saved_by(node: Node) -> dict[str, Any]:
    """All that a node of the table has saved, by the rules' names for it."""
    found: dict[str, Any] = {}
    for slot, saved in enumerate(node.saved or ()):
        if saved:
            found |= arguments_of(node, slot)
    return found


def known_values(nodes: list[Node], root: Tensor, names: Names) -> dict[Node, Array]:
    """The value of each node, oldest first, where it can be had."""
    values: dict[Node, Any] = {}
    for node in nodes:
        if not node.parents:
            leaf = node.variable  # type: ignore[attr-defined]
            if leaf is not None:
                values[node] = leaf._data
        elif (made := operation_of(node)) is not None:
            owners = zip((*made.inputs, "out"), (*node.parents, node), strict=True)
            saved = saved_by(node)
            for name, owner in owners:
                if owner is not None and hasattr(saved.get(name), "dtype"):
                    values.setdefault(owner, saved[name])
    for node, (_, tensor) in names.tensors.items():
        values[node] = tensor._data
    if root._node is not None:
        values[root._node] = root._data
    for node in nodes:
        if node.parents and node not in values:
            value = recomputed(node, values)
            if value is not None:
                values[node] = value
    fitting = {n: v for n, v in values.items() if np.shape(v) == n.shape}
    return {node: np.array(value) for node, value in fitting.items()}


def inputs_known(node: Node, values: Mapping[Node, Any]) -> dict[str, Any]:
    """What is known of a node's inputs and settings, by the rules' names."""
    made = operation_of(node)
    if made is None:
        return {}
    known = saved_by(node)
    pairs = list(zip(made.inputs, node.parents, strict=True))
    texts = source_of(node).operands if is_operation(node) else ()
    for slot, (name, parent) in enumerate(pairs):
        if parent is not None and parent in values:
            known[name] = values[parent][()]
        if parent is None and len(texts) == len(pairs):
            value = literal(texts[slot])  # a number that stands in the source
            known |= {} if value is NotImplemented else {name: value}
    shapes = {f"{n}_shape": np.shape(known[n]) for n in made.inputs if n in known}
    return known | shapes


def inputs_of(node: Node, values: Mapping[Node, Any], **given: Any) -> list[Any] | None:
    """All arguments of a node's forward function; None if one is not known."""
    made = operation_of(node)
    if made is None:
        return None
    known = inputs_known(node, values) | given
    names = (*made.inputs, *made.statics)
    return [known[n] for n in names] if known.keys() >= set(names) else None


def recomputed(node: Node, values: Mapping[Node, Any]) -> Any:
    """A value that was not saved, from what is known; None if that fails."""
    arguments = inputs_of(node, values)
    if arguments is None:
        return None
    with np.errstate(all="ignore"):
        value = node.operation.forward(*arguments)
    return value if np.shape(value) == node.shape else None
