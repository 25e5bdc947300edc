"""What a node of the tape still holds, and the value of every tensor of a graph.

A node saves only what its rules need.  For a picture the other values are
looked for in the caller's variables, in what a neighbour saved, in a number
that stands in the source; what is missing then is computed again from its
inputs.  What cannot be had stays unknown: its shape alone is shown.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..operation import Operation
from ..tensor import Node, Tensor
from .names import Names, is_operation, literal, source_of
from .numbers import Array, Extent, large


class Unlisted(Node):
    """A node of PyTorch that is shown without a rule; note: why."""

    __slots__ = ()
    note = "A rule that this course does not have"


def array_of(value: Any) -> Array:
    """A copy; of the gradients of several outputs, the first that is there."""
    if isinstance(value, tuple):
        value = next(v for v in value if v is not None)
    value = getattr(value, "_data", value)
    return value if isinstance(value, Extent) else np.array(value)


def operation_of(node: Node) -> Operation | None:
    """A node's row of the table; None for a custom Function and the like."""
    made: Operation | None = getattr(node, "operation", None)
    return made if made is not None and made.rules else None


def arguments_of(node: Node, slot: int) -> dict[str, Any]:
    """What the rule for an input gets besides g."""
    saved = (node.saved or ())[slot] or ()
    return dict(zip(node.operation.arguments[slot], saved))


def saved_by(node: Node) -> dict[str, Any]:
    """All that a node of the table has saved, by the rules' names for it."""
    found: dict[str, Any] = {}
    for slot, saved in enumerate(node.saved or () if operation_of(node) else ()):
        found |= arguments_of(node, slot) if saved else {}
    return found


def operand(node: Node, slot: int) -> Any:
    """The value of an input, if a rule saved it."""
    made = operation_of(node)
    return None if made is None else saved_by(node).get(made.inputs[slot])


def known_values(nodes: list[Node], root: Tensor, names: Names, given: Mapping[Node, Any]) -> dict[Node, Array]:
    """The value of each node, oldest first, where it can be had."""
    values: dict[Any, Any] = {}
    for node in nodes:
        leaf = getattr(node, "variable", None)
        if leaf is not None:
            values[node] = leaf._data
        made, saved = operation_of(node), saved_by(node)
        for name, owner in zip((*made.inputs, "out"), (*node.parents, node)) if made else ():
            if owner is not None and hasattr(saved.get(name), "dtype"):
                values.setdefault(owner, saved[name])
    values |= {node: tensor._data for node, (_, tensor) in names.tensors.items()}
    values[root._node] = root._data
    values |= {node: given[node] for node in nodes if node in given}
    for node in nodes:
        arguments = None if node in values else inputs_of(node, values)
        # it was not saved: compute it again
        if arguments is not None:
            values[node] = node.operation.forward(*arguments)
    return {n: array_of(v) for n, v in values.items() if np.shape(v) == n.shape}


def known_of(node: Node, values: Mapping[Node, Any]) -> dict[str, Any]:
    """What is known of a node's inputs, settings and result, by the rules' names."""
    made, known = operation_of(node), saved_by(node)
    pairs = list(zip(made.inputs, node.parents)) if made else []
    texts = source_of(node).operands if is_operation(node) else ()
    for slot, (name, parent) in enumerate(pairs):
        if parent is not None and parent in values:
            known[name] = values[parent][()]
        if parent is None and len(texts) == len(pairs):
            # a number that stands in the source
            value = literal(texts[slot])
            known |= {} if value is NotImplemented else {name: value}
    known |= {f"{n}_shape": np.shape(known[n]) for n, _ in pairs if n in known}
    return known | ({"out": values[node][()]} if node in values else {})


def inputs_of(node: Node, values: Mapping[Node, Any], **given: Any) -> list[Any] | None:
    """All arguments of a node's forward function; None if one is not known, or too large to be computed with."""
    made, known = operation_of(node), known_of(node, values) | given
    names = (*made.inputs, *made.statics) if made else ()
    if not names or not known.keys() >= set(names):
        return None
    found = [known[name] for name in names]
    return None if large(*found) else found
