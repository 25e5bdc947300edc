"""The value of every tensor of a graph, as far as anything still holds it.

A node keeps only what its rules need. For a picture the others are looked for: in the caller's variables, in what a
neighbour kept, in a number that stands in the source; what is still missing is computed again from its inputs. What
cannot be had stays unknown, and the pictures show its shape alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from minigrad.operations import Operation
from minigrad.record.names import Names, birth, is_operation, kind_of
from minigrad.record.numbers import Array
from minigrad.tape import Node
from minigrad.tensor import Tensor


def array_of(value: Any) -> Array:
    """A copy that nobody else writes to; of a gradient with several slots, the first that is there."""
    if isinstance(value, tuple):
        value = next(v for v in value if v is not None)
    return np.array(getattr(value, "_data", value))


def stretched(raw: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of `raw` that were summed to get `shape`."""
    lead = len(raw) - len(shape)
    return tuple(i for i, n in enumerate(raw) if i < lead or (n != 1 and shape[i - lead] == 1))


def operation_of(node: Node) -> Operation | None:
    """The line of the derivative table that a node belongs to; None for a custom Function and the like."""
    made: Operation | None = getattr(node, "operation", None)
    return made if made is not None and made.rules else None


def operand_value(node: Node, slot: int) -> Any:
    """The value of an input without history, if one of the node's rules kept it."""
    made = operation_of(node)
    if made is None or not node.kept or slot >= len(made.inputs):
        return None
    wanted = made.inputs[slot]
    for names, args in zip(made.arguments, node.kept, strict=True):
        for name, value in zip(names, args or (), strict=False):
            if name == wanted:
                return value
    return None


def known_values(nodes: list[Node], root: Tensor, names: Names) -> dict[Node, Array]:
    """The value of each node, where something still holds it: a leaf, a variable, a rule that kept it;
    else recomputed.
    """
    values: dict[Node, Array] = {}
    for node in nodes:
        if not node.parents:
            leaf = node.variable  # type: ignore[attr-defined]
            if leaf is not None:
                values[node] = leaf._data
        elif (made := operation_of(node)) is not None and node.kept:
            sources: list[Node | None] = [*node.parents, node]
            for places, args in zip(made.places, node.kept, strict=True):
                for source, value in zip(places, args or (), strict=False):
                    owner = None if source is None else sources[source]
                    if owner is not None and hasattr(value, "dtype"):
                        values.setdefault(owner, value)
    for node, (_, tensor) in names.tensors.items():
        values[node] = tensor._data
    if root._node is not None:
        values[root._node] = root._data
    for node in nodes:
        if node.parents and node not in values and (value := recomputed(node, values)) is not None:
            values[node] = value
    return {node: np.array(v) for node, v in values.items() if np.shape(v) == node.shape}


def inputs_known(node: Node, values: Mapping[Node, Array]) -> dict[str, Any]:
    """The arguments of a node's forward function, as far as anything still knows them."""
    made = operation_of(node)
    if made is None:
        return {}
    known: dict[str, Any] = {}
    for names, args in zip(made.arguments, node.kept or (), strict=False):
        known.update(zip(names, args or (), strict=False))
    found = birth(node.code, node.at)
    constants = [name for name, parent in zip(made.inputs, node.parents, strict=True) if parent is None]
    if is_operation(found, kind_of(node)) and len(constants) == len(found.literals) == 1:
        known.setdefault(constants[0], *found.literals.values())  # a number that stands in the source
    for name, parent in zip(made.inputs, node.parents, strict=True):
        if parent is not None and parent in values:
            known[name] = values[parent][()]
    known.update({f"{name}_shape": np.shape(known[name]) for name in made.inputs if name in known})
    return known


def inputs_of(node: Node, values: Mapping[Node, Array], given: Mapping[str, Any] | None = None) -> list[Any] | None:
    """All arguments of a node's forward function, or None where one of them is not known any more (nor `given`)."""
    made = operation_of(node)
    known = inputs_known(node, values) | dict(given or {})
    if made is None or not all(name in known for name in (*made.inputs, *made.statics)):
        return None
    return [known[name] for name in (*made.inputs, *made.statics)]


def recomputed(node: Node, values: Mapping[Node, Array]) -> Array | None:
    """A value that was not kept, by running the forward function again on what is known."""
    arguments = inputs_of(node, values)
    if arguments is None:
        return None
    with np.errstate(all="ignore"):
        value = node.operation.forward(*arguments)
    return np.asarray(value) if np.shape(value) == node.shape else None
