"""Bugs of an autograd engine, by the id they have among the misconceptions.

Two kinds: a wrong walk (the order of the nodes, what happens where two
gradients meet, what the pass starts from) and wrong rules (a row of the
table, mistaken as people mistake it).  `broken(id)` puts one into the real
engine while a `with` block runs; the stepper offers wrong rules as wrong
answers.  No right backward pass uses anything of this.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad import operations, tape
from minigrad.tape import Node
from minigrad.tensor import Tensor, wrap
from minigrad.versions import check_versions

__all__ = ["BUGS", "RULES", "Bug", "WrongRule", "broken", "wrong_rules"]

Gradients = Iterable[tuple[Node, Any]]
Rule = Callable[..., Any]


@dataclass(frozen=True)
class Bug:
    """A bug that can be put in: its id, what it does, the block that does it."""

    id: str
    does: str
    inject: Callable[[], Any]


@dataclass(frozen=True)
class WrongRule:
    """Wrong rules for one operation, one an input; `says` is the mistake."""

    id: str
    operation: str
    says: str
    rules: tuple[Rule | None, ...]


@contextmanager
def broken(id: str) -> Iterator[None]:
    """Work with an engine that has this bug: `with minigrad.broken("M19"):`.

    Forward and backward both belong inside the block.  Rules and walk are put
    back at its end, whatever happens.  KeyError if no bug of this id can be
    put in: the message lists those that can.

    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> with minigrad.broken("M19"):
    ...     (x * x + x).sum().backward()
    >>> x.grad.tolist() == [3.0, 5.0]
    False
    """
    if id not in BUGS:
        known = ", ".join(BUGS)
        raise KeyError(f"no bug {id!r} can be put into the engine; there are {known}")
    with BUGS[id].inject():
        yield


# ------------------------------------------------------ wrong walks
def contributions_of(node: Node, g: Any, create_graph: bool) -> list[tuple[Node, Any]]:
    """What a node passes to its parents, by its right rules."""
    if node.kept is None:
        raise tape.freed(node)
    check_versions(node)
    _, found = node.evaluate(g, create_graph)
    pairs = zip(node.parents, found, strict=True)
    return [(p, c) for p, (c,) in pairs if p is not None and c is not None]


def finish(node: Node, g: Any, create_graph: bool, retain: bool, targets: Any) -> None:
    """Store a gradient where it was asked for, or at its leaf; free memory."""
    if targets is not None:
        if node in targets:
            targets[node] = g
    elif not node.parents:
        own = g if create_graph else g.copy()
        node.accumulate(own, create_graph)  # type: ignore[attr-defined]
    if not retain and node.guards is not None:
        node.kept = None


def ordered_walk(order: Callable[[list[Node]], list[Node]], meet: Rule) -> Rule:
    """A walk that visits nodes in this order and joins gradients with `meet`."""

    def walk(
        roots: Gradients, create_graph: bool = False, retain_graph: bool = False, targets: Any = None
    ) -> None:
        arrived: dict[Node, Any] = {}

        def arrive(node: Node, g: Any) -> None:
            arrived[node] = meet(arrived[node], g) if node in arrived else g

        for node, g in roots:
            arrive(node, g)
        visits = order(list(arrived))
        last = {node: i for i, node in enumerate(visits)}
        for i, node in enumerate(visits):
            if node not in arrived or not node.parents:
                continue  # nothing has reached it yet, and it has had its turn
            g = arrived[node]
            for parent, contribution in contributions_of(node, g, create_graph):
                arrive(parent, contribution)
            if last[node] == i:
                finish(node, g, create_graph, retain_graph, targets)
        for node in last:
            if not node.parents and node in arrived:
                finish(node, arrived[node], create_graph, retain_graph, targets)

    walk.meet = meet  # type: ignore[attr-defined]  # a recording asks for it
    return walk


def hasty_walk(
    roots: Gradients, create_graph: bool = False, retain_graph: bool = False, targets: Any = None
) -> None:
    """A node passes all it has on as soon as anything arrives, and again later."""
    total: dict[Node, Any] = {}
    stack = list(roots)
    while stack:
        node, g = stack.pop()
        total[node] = total[node] + g if node in total else g
        if node.parents:
            found = contributions_of(node, total[node], create_graph)
            stack.extend(reversed(found))
    for node, g in total.items():
        finish(node, g, create_graph, retain_graph, targets)


def newest_first(roots: list[Node]) -> list[Node]:
    """The right order."""
    return sorted(first_visit(roots), key=lambda node: node.seq)


def first_visit(roots: list[Node]) -> list[Node]:
    """Pre-order: a node comes where it was first seen."""
    seen: dict[Node, None] = {}
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        if node not in seen:
            seen[node] = None
            stack.extend(p for p in reversed(node.parents) if p is not None)
    return list(seen)


def every_visit(roots: list[Node]) -> list[Node]:
    """Reversed post-order, but a node that is used twice comes twice."""
    order: list[Node] = []
    stack = [(node, False) for node in reversed(roots)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
            continue
        parents = (p for p in reversed(node.parents) if p is not None)
        stack += [(node, True), *((p, False) for p in parents)]
    return order[::-1]


def the_later(_old: Any, new: Any) -> Any:
    return new


# ------------------------------------------------------ wrong rules
def assigned(g: Any, x_shape: Any, y: Any, dims: Any) -> Any:
    """Of two readings of one place only the last is stored."""
    zeros = table.expand(table.zeros(table.sum_all(g)), x_shape)
    return table.index_put(zeros, y, g, dims)


def once(g: Any, x_shape: Any, dims: Any, keepdim: bool) -> Any:
    return table.expand(table.unreduce(g, x_shape, dims, keepdim), x_shape)


def wrong(id: str, operations: str, says: str, *rules: Rule | None) -> list[WrongRule]:
    return [WrongRule(id, name, says, rules) for name in operations.split()]


RULES: tuple[WrongRule, ...] = (
    *wrong("M27", "sum_all", "the gradient of a sum stays one number", lambda g: g),
    *wrong("M27", "sum_dims", "the gradient of a sum keeps the shape of the sum", lambda g: g),
    *wrong("M27", "mean_all", "the gradient of a mean stays one number", lambda g: g),
    *wrong("M27", "mean_dims", "the gradient of a mean keeps the shape of the mean", lambda g: g),
    *wrong("M29", "mm bmm rows_mm batch_mm", "multiplies without transposing",
           lambda g, y: g @ y, lambda g, x: x @ g),
    *wrong("M30", "mean_all", "forgets the 1/N", lambda g, x_shape: table.expand(g, x_shape)),
    *wrong("M30", "mean_dims", "forgets the 1/N", once),
    *wrong("M35", "relu", "lets the gradient through at 0", lambda g, x: g * (x >= 0)),
    *wrong("M35", "abs", "has slope 1 at 0", lambda g, x: table.where(x < 0, -g, g)),
    *wrong("M35", "maximum", "gives a tie to the first alone",
           lambda g, x, y: table.where(x >= y, g, 0.0), lambda g, x, y: table.where(x < y, g, 0.0)),
    *wrong("M35", "max_all min_all", "gives every tie the whole gradient",
           lambda g, x, out: g * (x == out)),
    *wrong("M36", "pick", "assigns where it should add", assigned, None),
)  # fmt: skip


def wrong_rules(operation: str) -> list[WrongRule]:
    """The wrong rules of one operation; forgetting g (M23) is one of each.

    KeyError if there is no such operation.
    """
    made = tape.TABLE[operation]
    return [without_g(made), *(rule for rule in RULES if rule.operation == operation)]


def without_g(made: operations.Operation) -> WrongRule:
    """An operation's rules as its local derivative: right only where g is 1."""

    def local(rule: Rule | None) -> Rule | None:
        if rule is None:
            return None

        def forgetful(g: Any, *saved: Any) -> Any:
            return rule(table.zeros(g) + 1, *saved)

        forgetful.takes = operations.parameters(rule)  # type: ignore[attr-defined]
        return forgetful

    rules = tuple(map(local, made.rules))
    return WrongRule("M23", made.name, "forgets the upstream gradient", rules)


# ------------------------------------------------------ putting them in
@contextmanager
def swapped(name: str, thing: Any) -> Iterator[None]:
    """The tape with another walk, start or fit."""
    before = getattr(tape, name)
    setattr(tape, name, thing)
    try:
        yield
    finally:
        setattr(tape, name, before)


@contextmanager
def with_rules(wrong: Iterable[WrongRule]) -> Iterator[None]:
    """The table with other rows."""
    with ExitStack() as stack:
        for each in wrong:
            stack.enter_context(operations.replace(each.operation, each.rules))
        yield


RIGHT_FIT, RIGHT_STARTS = tape.fit, tape.starts


def averaged(g: Any, node: Node | None, *rest: Any) -> Any:
    """Un-broadcasting that takes the mean over the copies, not the sum."""
    fitted = RIGHT_FIT(g, node, *rest)
    if node is None or node.shape is None:
        return fitted
    copies = np.size(g) if not isinstance(g, Tensor) else g.numel()
    return fitted * (np.prod(node.shape, dtype=int) / copies)


def start_from(number: Callable[[Any], Any]) -> Rule:
    """Another first gradient, where none was given."""

    def starts(roots: Sequence[Tensor], gradients: Sequence[Any], create_graph: bool) -> Any:
        right = RIGHT_STARTS(roots, gradients, create_graph)
        found = []
        for (node, begun), root, given in zip(right, roots, gradients, strict=True):
            data = root._data
            other: Any = np.asarray(number(data), data.dtype)[()]
            other = wrap(other) if create_graph else other
            found.append((node, other if given is None else begun))
        return found

    return starts


def walks(order: Any, meet: Rule = operator.add) -> Callable[[], Any]:
    return lambda: swapped("walk", ordered_walk(order, meet))


def starts(number: Callable[[Any], Any]) -> Callable[[], Any]:
    return lambda: swapped("starts", start_from(number))


def rules(id: str) -> Callable[[], Any]:
    return lambda: with_rules(r for r in RULES if r.id == id)


def all_without_g() -> Any:
    return with_rules(map(without_g, tape.TABLE.values()))


BUGS: dict[str, Bug] = {
    bug.id: bug
    for bug in (
        Bug("M19", "where two gradients meet, only the later is left", walks(newest_first, the_later)),
        Bug("M20", "a node is taken before its gradient is complete", lambda: swapped("walk", hasty_walk)),
        Bug("M21", "nodes are taken in the order of the first visit", walks(first_visit)),
        Bug("M21-visits", "a node that is used twice is taken twice", walks(every_visit)),
        Bug("M21-zero", "the pass starts from 0", starts(lambda value: value * 0)),
        Bug("M21-value", "the pass starts from the loss itself", starts(lambda value: value)),
        Bug("M23", "every rule forgets the upstream gradient", all_without_g),
        Bug("M27", "the gradient of a sum or mean is not spread over what was summed", rules("M27")),
        Bug("M28", "a broadcast operand gets the mean over its copies", lambda: swapped("fit", averaged)),
        Bug("M29", "matrix products forget to transpose", rules("M29")),
        Bug("M30", "a mean forgets the 1/N in its gradient", rules("M30")),
        Bug("M35", "kinks and ties are decided another way than PyTorch does", rules("M35")),
        Bug("M36", "of several readings of one place only the last gets its gradient", rules("M36")),
    )
}  # fmt: skip
