"""torch.autograd.graph: nodes as objects, and hooks on the tensors they save."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import errors, tape
from minigrad.function import FunctionCtx
from minigrad.hooks import Pass
from minigrad.tape import Node, mode, no_grad
from minigrad.tensor import Tensor, wrap

__all__ = ["Node", "saved_tensors_hooks"]

PACKED_IN_PLACE = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided "
    "as input to pack hook cannot be modified by in-place operations as this can "
    "lead to unexpected side-effects. Please open an issue if you need to perform "
    "in-place operations on the input to a pack hook."
)
NO_TENSOR = "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "


class Packed:
    """What a pack hook returned, in place of the array a node would have saved."""

    __slots__ = ("content", "node", "unpack")

    def __init__(self, content: Any, unpack: Callable[[Any], Any], node: Node | None) -> None:
        self.content, self.unpack, self.node = content, unpack, node

    def value(self) -> Any:
        """The array that the unpack hook gives back.  TypeError for no tensor."""
        tensor = self.unpack(self.content)
        if not isinstance(tensor, Tensor):
            raise TypeError(NO_TENSOR + type(tensor).__name__)
        return tensor._data


class saved_tensors_hooks:
    """Within the `with` block, nodes save `pack(tensor)` in place of each tensor.

    Their backward gets `unpack` of that.  RuntimeError if `pack` writes into its
    tensor; TypeError if `unpack` gives no tensor.

    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> with torch.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), torch.from_numpy):
    ...     y = x * x
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook
        # in which backward pass it was entered, and what recorded before
        self.entered: list[tuple[Pass | None, Any]] = []

    def __enter__(self) -> None:
        if not callable(self.pack_hook) or not callable(self.unpack_hook):
            raise TypeError("saved_tensors_hooks takes two functions: pack_hook(tensor) and unpack_hook(packed)")
        self.entered.append((mode.running, mode.recorder))
        tape.record_with(self.replace)

    def __exit__(self, *_: object) -> None:
        last = None
        while self.entered and (last is None or last[0] is not mode.running):
            last = self.entered.pop()  # a pass that is over took its own along
        if last is not None:
            tape.record_with(last[1])

    def pack(
        self, array: Any, node: Node | None = None, maker: Node | None = None, own: bool = False
    ) -> Packed:
        """What stands in a node for this array.

        maker: the node that made it; `own` if that is the very node.
        """
        tensor = wrap(array, maker)
        with no_grad():
            content = self.pack_hook(tensor)
        if tensor._counter[0]:
            raise RuntimeError(PACKED_IN_PLACE)
        if content is tensor and own and maker is not None:
            # a node that held its own result would never go away
            made_by, unpack = weakref.ref(maker), self.unpack_hook
            return Packed(array, lambda array: unpack(wrap(array, made_by())), node)
        return Packed(content, self.unpack_hook, node)

    def replace(self, node: Node) -> None:
        """Called with each new node: replace the arrays that it saves."""
        if isinstance(node, FunctionCtx):
            node.__dict__["pack"] = self.pack
        if type(node).rules is None or not node.kept:
            return
        made = node.operation
        packed: dict[str, Packed] = {}  # each tensor once, however many rules need it
        makers = (*node.parents, node)

        def in_place_of(value: Any, name: str, place: int | None) -> Any:
            array = (np.ndarray,) if place is None else (np.ndarray, np.generic)
            if not isinstance(value, array):
                return value
            if name not in packed:
                maker = None if place is None else makers[place]
                packed[name] = self.pack(value, maker=maker, own=maker is node)
            return packed[name]

        node.kept = tuple(
            args and tuple(map(in_place_of, args, names, where))
            for args, names, where in zip(node.kept, made.arguments, made.places, strict=True)
        )
        node.rules = None  # the walk asks `evaluate`, which unpacks
        if node.guards is not None:  # a write to what a hook holds is its own affair
            node.guards = ()


errors.namespace(__name__)
