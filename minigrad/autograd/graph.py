"""torch.autograd.graph: nodes as objects, and hooks on the tensors that they save."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import errors, tape
from ..function import FunctionNode
from ..tape import no_grad, state
from ..tensor import Node, Tensor, wrap

__all__ = ["Node", "saved_tensors_hooks"]

errors.namespace(__name__)


PACKED_IN_PLACE = (
    "A saved tensor pack hook is modifying its input in place. "
    "Tensors provided as input to pack hook cannot be modified "
    "by in-place operations as this can lead to unexpected side-effects. "
    "Please open an issue if you need to perform in-place operations "
    "on the input to a pack hook."
)
UNPACKED = (
    "Output of saved tensor unpack_hook expected to be a Tensor "
    "but got result of type {}"
)
Hook = Callable[[Any], Any]


class Packed:
    """What a pack hook returned, in place of the array that a node would have saved."""

    def __init__(self, content: Any, unpack: Hook, node: Node | None = None) -> None:
        self.content, self.unpack, self.node = content, unpack, node

    def value(self) -> Any:
        """The array that the unpack hook gives back.  TypeError for no tensor."""
        tensor = self.unpack(self.content)
        if not isinstance(tensor, Tensor):
            raise TypeError(UNPACKED.format(type(tensor).__name__))
        return tensor._data


class saved_tensors_hooks:
    """Within the `with` block nodes save `pack_hook(tensor)` in place of each tensor; backward gets `unpack_hook(that)`."""

    def __init__(self, pack_hook: Hook, unpack_hook: Hook) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        tape.record_with(*state.on_record, self.pack_all)

    def __exit__(self, *_: object) -> None:
        tape.record_with(*state.on_record[:-1])

    def pack(self, array: Any, maker: Node | None = None, own: bool = False) -> Packed:
        """What a node saves for this array, which `maker` made: the very node, if it is its `own` result."""
        tensor = wrap(array, maker)
        with no_grad():
            content = self.pack_hook(tensor)
        errors.check(not tensor._counter[0], PACKED_IN_PLACE)
        if content is tensor and own and maker is not None:
            # a node that holds its own result would never be freed
            made_by, unpack = weakref.ref(maker), self.unpack_hook
            return Packed(array, lambda array: unpack(wrap(array, made_by())))
        return Packed(content, self.unpack_hook, None if own else maker)

    def pack_all(self, node: Node) -> None:
        """Called with each new node: pack the arrays that it saves, each of them once."""
        if isinstance(node, FunctionNode):
            node.__dict__["pack"] = self.pack
        if node.operation is None or not node.saved:
            return
        made = node.operation
        makers = dict(zip((*made.inputs, "out"), (*node.parents, node)))
        packed: dict[str, Packed] = {}

        def in_place_of(name: str, value: Any) -> Any:
            scalar = isinstance(value, np.generic) and name in makers
            if not scalar and not isinstance(value, np.ndarray):
                return value
            if name not in packed:
                maker = makers.get(name)
                packed[name] = self.pack(value, maker, own=maker is node)
            return packed[name]

        node.saved = tuple(
            values and tuple(map(in_place_of, names, values))
            for names, values in zip(made.arguments, node.saved)
        )
        # the walk asks `contributions`, which unpacks
        node.rules = None
        # what a hook holds is its own affair
        node.versions = None if node.versions is None else ()
