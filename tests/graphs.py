"""Walks over graphs from outside: their nodes, and the rows of the derivative table that made them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def nodes(tensors: Iterable[Any]) -> list[Any]:
    """Every node behind these tensors, once each, those of leaves among them."""
    found: dict[Any, None] = {}
    waiting = [t.grad_fn for t in tensors if t.grad_fn is not None]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found[node] = None
            waiting += [parent for parent, _ in node.next_functions if parent is not None]
    return list(found)


def rows(tensors: Iterable[Any]) -> set[str]:
    """The names of the table's rows in the graph behind these tensors."""
    return {node.operation.name for node in nodes(tensors) if getattr(node, "operation", None) is not None}
