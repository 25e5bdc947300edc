"""The graph behind a tensor as places with names and values."""

from collections.abc import Mapping
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from ..operation import parameters
from ..tensor import Node, Tensor
from .moves import Place
from .names import Names, is_operation, kind_of, literal, source_of, symbol
from .nodes import array_of, inputs_of, known_values, operand, operation_of, saved_by
from .numbers import number


class Graph:
    """The places of a graph: one for each node, and for operands without one."""

    def __init__(self, root: Tensor, nodes: list[Node], names: Mapping[str, Any], values: Mapping[Node, Any]) -> None:
        self.names = Names(names)
        self.values = known_values(nodes, root, self.names, values)
        self.place: dict[Node, int] = {}
        self.places: list[Place] = []
        self.edges: list[tuple[int, int, int]] = []
        # (place, slot) -> the place of that input
        self.inputs: dict[tuple[int, int], int] = {}
        # nodes that another node finishes: the source writes both as one
        self.inner = {
            parent
            for node in nodes
            for parent in node.parents
            if parent is not None and type(parent) is not type(node)
            and (parent.code, parent.at) == (node.code, node.at)
        }
        for node in nodes:
            self.enter(node)

    def enter(self, node: Node) -> None:
        """Give a node its place, and one to each operand without history."""
        inputs = [self.input(node, slot) for slot in range(len(node.parents))]
        inner, found, at = node in self.inner, source_of(node), len(self.places)
        name, named = self.names.of(node, inner, self.texts(node, inputs))
        fits = is_operation(node) and not inner and bool(node.parents)
        place = Place(
            at,
            name,
            node.name(),
            tuple(node.shape or ()),
            leaf=not node.parents,
            named=named,
            where=found.where,
            expression=found.expression if fits else "",
            source=found.line,
            value=self.values.get(node),
            symbol=symbol(kind_of(node)),
            spot=spot_of(node),
            site=(node.code, node.at) if node.code else None,
        )
        leaf = getattr(node, "variable", None)
        if leaf is not None and leaf._grad is not None:
            place.old_grad = array_of(leaf._grad)
        self.place[node] = at
        self.places.append(place)
        known = [(i, slot) for slot, i in enumerate(inputs) if i is not None]
        self.edges += [(i, at, slot) for i, slot in known]
        self.inputs |= {(at, slot): i for i, slot in known}

    def input(self, node: Node, slot: int) -> int | None:
        """The place of an input; none for a number, or where none is known."""
        parent, made, value = node.parents[slot], operation_of(node), operand(node, slot)
        if parent is not None:
            return self.place[parent]
        if isinstance(value, (int, float)) or (made is not None and made.rules[slot] is None):
            # a condition, an index: nothing to differentiate by
            return None
        name = self.names.constant(value, node, slot)
        # None, or a number
        if np.ndim(value) == 0 and (name == "constant" or literal(name) is not NotImplemented):
            return None
        tensor = self.names.cut.get(name)
        if value is None and tensor is not None and self.made_from(node, slot, tensor):
            value = tensor._data
        for place in self.places:
            alike = not place.needs_grad and place.name == name
            if alike and (value is None or place.value is value):
                return place.id
        array = None if value is None else np.asanyarray(value)
        place = Place(len(self.places), name, "", () if array is None else array.shape)
        place.needs_grad, place.named, place.value = False, True, array
        self.places.append(place)
        return place.id

    def texts(self, node: Node, inputs: list[int | None]) -> list[str]:
        """What a node's inputs are called; numbers stand for themselves."""
        made, saved = operation_of(node), saved_by(node)
        settings = [saved.get(name) for name in made.statics] if made else []
        values = [operand(node, slot) for slot in range(len(inputs))]
        names = [number(v) if v is not None and np.ndim(v) == 0 else "…" for v in values]
        names = [n if i is None else self.places[i].name for n, i in zip(names, inputs)]
        return names + [number(v) for v in settings if isinstance(v, (int, float))]

    def made_from(self, node: Node, slot: int, tensor: Tensor) -> bool:
        """Whether the node's value comes out with this tensor as its input.

        The variable may have come to hold another one.
        """
        made = operation_of(node)
        given = {made.inputs[slot]: tensor._data} if made else {}
        arguments = inputs_of(node, self.values, **given)
        if made is None or arguments is None or node not in self.values:
            return False
        try:
            value = made.forward(*arguments)
        # it does not even fit
        except ValueError:
            return False
        return np.array_equal(value, self.values[node], equal_nan=True)

    def label(self, node: Node, name: str) -> str:
        """What the student calls an input, or the result, of a node."""
        at, made = self.place[node], node.operation
        if name == "out":
            return self.places[at].name
        if name not in made.inputs:
            return ""
        slot = made.inputs.index(name)
        if (at, slot) in self.inputs:
            return self.places[self.inputs[at, slot]].name
        value = operand(node, slot)
        text = self.names.constant(value, node, slot) if np.ndim(value) else ""
        if text == "constant" and made.rules[slot] is None:
            # "condition"
            return str(parameters(made.forward)[slot])
        return "" if text == "constant" else text


def spot_of(node: Node) -> str:
    """The call site of a node, as a key: the turns of a loop have the same."""
    code = node.code
    return f"{code.co_name}:{code.co_firstlineno}:{start_of(code, node.at)}" if code else ""


@lru_cache(maxsize=4096)
def start_of(code: CodeType, at: int) -> int:
    """Where an instruction begins: one that Python has specialised since says where its caches end."""
    # a cache entry
    while code.co_code[at] == 0:
        at -= 2
    return at
