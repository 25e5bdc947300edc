"""Hooks: functions of the student's that a backward pass calls on its way, and the handles that remove them.

In the order in which a node meets them: hooks on its output tensor (each may replace the gradient), tensors that
retain their gradient, hooks before the node, the node itself, hooks after it, and on a leaf hooks after accumulation.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from heapq import heapify
from itertools import count
from typing import Any

from minigrad.errors import type_name
from minigrad.tensor import Tensor, wrap

_ids = count().__next__
Hook = Callable[..., Any]


class RemovableHandle:
    """What registering a hook returns: `remove()` takes the hook off again (twice does no harm)."""

    __module__ = "minigrad.utils.hooks"  # where PyTorch has it

    def __init__(self, hooks: dict[int, Hook], key: int) -> None:
        self.hooks, self.key = hooks, key
        self.id = key

    def remove(self) -> None:
        """Take the hook off; a second time does nothing."""
        self.hooks.pop(self.key, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class Pass:
    """One backward pass: where it started, the nodes it was asked for (None: all leaves), within how many others it runs."""

    def __init__(self, started: list[tuple[Any, Any]], targets: dict[Any, Any] | None, depth: int = 0) -> None:
        self.started, self.targets, self.depth = started, targets, depth


watched: weakref.WeakSet[Any] = weakref.WeakSet()  # the nodes that were given hooks


class Watch:
    """What hooks notice of the order of a pass: a leaf is heard as soon as its gradient is complete, and in the end those
    nodes to which no gradient came."""

    def __init__(self, nodes: set[Any]) -> None:
        self.silent = {node for node in nodes if node in watched}
        self.due: dict[Any, tuple[int, int]] = {}  # of each leaf the oldest node that used it, and as which input
        for node in nodes:
            self.silent.update(output for ref in node.__dict__.get("_heard", ()) if (output := ref()) is not None)
            for i, parent in enumerate(node.parents):
                if parent is not None and not parent.parents and parent in self.silent:
                    self.due[parent] = max(self.due.get(parent, (node.seq, i)), (node.seq, i))
        self.waiting = deque(sorted(self.due, key=self.due.__getitem__))

    def first(self, node: Any, g: Any, heap: list[int], arrived: dict[int, tuple[Any, Any]]) -> tuple[Any, Any]:
        """The node that is next, and its gradient; but before it each leaf that only newer nodes used."""
        at = self.due.get(node, (node.seq, 0))
        while self.waiting and self.due[self.waiting[0]] < at:
            leaf = self.waiting.popleft()
            if leaf.seq in arrived:
                heap[heap.index(leaf.seq)] = node.seq
                heapify(heap)
                arrived[node.seq] = node, g
                node, g = arrived.pop(leaf.seq)
                break
        self.silent.discard(node)
        return node, g

    def finish(self) -> None:
        """Call the hooks of the nodes to which no gradient came with None."""
        for node in sorted(self.silent, key=lambda node: node.seq):
            node.hooks.without(len(node.parents), len(node._outputs) if hasattr(node, "_outputs") else 1)


class Hooks:
    """All hooks of one node."""

    def __init__(self, node: Any) -> None:
        self.node = weakref.ref(node)
        self.tensor: dict[int, Hook] = {}
        self.before: dict[int, Hook] = {}
        self.after: dict[int, Hook] = {}
        self.accumulated: dict[int, Hook] = {}
        self.retained: weakref.ref[Tensor] | None = None

    def add(self, kind: str, hook: Hook) -> RemovableHandle:
        hooks: dict[int, Hook] = getattr(self, kind)
        key = _ids()
        hooks[key] = hook
        node: Any = self.node()
        watched.add(node)
        if node.owner is not node:
            node.owner.__dict__.setdefault("_heard", []).append(self.node)
        return RemovableHandle(hooks, key)

    def arriving(self, g: Any, create_graph: bool, deposit: Callable[..., None]) -> Any:
        """The gradient as the hooks on the tensor leave it; a tensor that retains its gradient gets a copy."""
        if self.tensor:
            t = g if create_graph else wrap(g.copy())
            for hook in list(self.tensor.values()):
                t = _replaced(hook, t, hook(t))
            g = t if create_graph else t._data
        tensor = None if self.retained is None else self.retained()
        if tensor is None:
            return g
        if tensor._grad is None or create_graph:
            deposit(tensor, g if create_graph else g.copy(), create_graph)
        else:  # never in place: who has read it keeps what was read
            tensor._grad = wrap(tensor._grad._data + g)
        return g

    def before_node(self, g: Any, create_graph: bool) -> Any:
        """The node's incoming gradient as its pre-hooks leave it."""
        for hook in list(self.before.values()):
            given = _tensors(g)
            answer = hook(given)
            if answer is not None:
                g = _like(g, _replaced_all(hook, given, answer), create_graph)
        return g

    def without(self, inputs: int, outputs: int) -> None:
        """No gradient came: the hooks are told so, and can change nothing."""
        for hook in list(self.tensor.values()):
            if hook(None) is not None:
                raise RuntimeError("can't replace a None gradient with a non-None value")
        for hook in list(self.before.values()):
            _replaced_all(hook, (None,) * outputs, hook((None,) * outputs) or (None,) * outputs)
        for hook in list(self.after.values()):
            _replaced_all(hook, (None,) * inputs, hook((None,) * inputs, (None,) * outputs) or (None,) * inputs)

    def after_leaf(self, leaf: Tensor, g: Any, create_graph: bool) -> None:
        """The hooks on a leaf's accumulated gradient, then those on its node."""
        for hook in list(self.accumulated.values()):
            answer = hook(leaf)
            if answer is not None and answer is not leaf:
                _replaced(hook, leaf, answer)
                raise RuntimeError("Tensor post accumulate grad hooks should return None.")
        self.after_node(g, (), create_graph)

    def after_node(self, g: Any, shares: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
        """The node's contributions as its hooks leave them."""
        for hook in list(self.after.values()):
            inputs = tuple(None if s is None else s if create_graph else wrap(s) for s in shares)
            answer = hook(inputs, _tensors(g))
            if answer is not None:
                answers = _replaced_all(hook, inputs, answer)
                shares = tuple(a if a is None or create_graph else a._data for a in answers)
        return shares


def unpacked(kept: Any) -> Any:
    """What a node kept, with what a saved-tensor hook packed (see autograd/graph.py) unpacked again, each thing once."""
    packed = {id(v): v for args in kept or () for v in args or () if hasattr(v, "unpack")}
    values = {key: v.value() for key, v in packed.items()}
    return tuple(args and tuple(values.get(id(v), v) for v in args) for args in kept or ())


def _tensors(g: Any) -> tuple[Any, ...]:
    gradients = g if isinstance(g, tuple) else (g,)
    return tuple(x if x is None or isinstance(x, Tensor) else wrap(x) for x in gradients)


def _like(g: Any, answer: tuple[Any, ...], create_graph: bool) -> Any:
    values = tuple(a if a is None or create_graph else a._data for a in answer)
    return type(g)(values) if isinstance(g, tuple) else values[0]


def _replaced_all(hook: Hook, old: tuple[Any, ...], new: Any) -> tuple[Any, ...]:
    """What a hook on a node returned: a tuple with a tensor, or None, for each gradient it was given."""
    if not isinstance(new, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type_name(new)}'")
    if len(new) != len(old):
        raise RuntimeError(
            f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(new)}, but expected {len(old)})"
        )
    for before, after in zip(old, new, strict=True):
        if before is None and after is not None:
            raise RuntimeError("can't replace a None gradient with a non-None value")
        _replaced(hook, before, after)
    return new


def _replaced(hook: Hook, old: Any, new: Any) -> Any:
    if new is None:
        return old
    if not isinstance(new, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type_name(new)}'")
    if new.shape != old.shape:
        raise RuntimeError(f"hook '{_name(hook)}' has changed the size of value")
    if new._data.dtype != old._data.dtype:
        raise RuntimeError(f"hook '{_name(hook)}' has changed the type of value (was {old.type()} got {new.type()})")
    return new


def _name(hook: Hook) -> str:
    return getattr(hook, "__name__", type(hook).__name__)
