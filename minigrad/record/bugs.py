"""Bugs of an autograd engine, as code, by the id they have in the course's catalogue of misconceptions.

Two kinds: a wrong walk (the order of the nodes, what happens where two gradients meet, what the pass starts
from) and wrong rules (one line of the derivative table, mistaken in a way that people mistake it).
`broken(id)` puts one of them into the real engine while a `with` block runs; the stepper offers the wrong
rules as wrong answers; the exercises of the clinic hide them. Nothing here is ever used by a right backward
pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad import operations, tape
from minigrad.tape import Node
from minigrad.tensor import Tensor, wrap
from minigrad.versions import check_versions

__all__ = ["BUGS", "RULES", "Bug", "WrongRule", "broken", "wrong_rules"]

Contribution = tuple[Node, Any]


@dataclass(frozen=True)
class Bug:
    """One injectable bug: its id, what it does, and the block that does it."""

    id: str
    does: str
    inject: Callable[[], Any]


@dataclass(frozen=True)
class WrongRule:
    """Wrong rules for one operation, one for each input; `says` is the mistake in a few words."""

    id: str
    operation: str
    says: str
    rules: tuple[Callable[..., Any] | None, ...]


@contextmanager
def broken(id: str) -> Iterator[None]:
    """Work with an engine that has this bug, for example `with minigrad.broken("M19"):`.

    Forward and backward both belong inside the block.  Rules and walk are put back at its end, whatever happens.
    KeyError if no bug of this id can be put in: the message lists those that can.

    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> with minigrad.broken("M19"):
    ...     (x * x + x).sum().backward()
    >>> x.grad.tolist() == [3.0, 5.0]
    False
    """
    if id not in BUGS:
        raise KeyError(f"no bug {id!r} can be put into the engine; there are {', '.join(BUGS)}")
    with BUGS[id].inject():
        yield


# --- wrong walks --------------------------------------------------------------------------------------------


def contributions_of(node: Node, g: Any, create_graph: bool) -> list[Contribution]:
    """What a node hands to its parents, by its right rules."""
    if node.kept is None:
        raise tape.freed(node)
    check_versions(node)
    _, contributions = node.evaluate(g, create_graph)
    return [
        (p, s[0]) for p, s in zip(node.parents, contributions, strict=True) if p is not None and s[0] is not None
    ]


def finish(
    node: Node, g: Any, create_graph: bool, retain_graph: bool, targets: dict[Node, Any] | None
) -> None:
    """Store a gradient where it was asked for, or at its leaf; give memory back."""
    if targets is not None:
        if node in targets:
            targets[node] = g
    elif not node.parents:
        node.accumulate(g if create_graph else g.copy(), create_graph)  # type: ignore[attr-defined]
    if not retain_graph and node.guards is not None:
        node.kept = None


Order = Callable[[list[Node]], list[Node]]


def ordered_walk(order: Order, meet: Callable[[Any, Any], Any]) -> Callable[..., None]:
    """A walk that visits nodes in this order, and joins two gradients that meet at a node with `meet`."""

    def walk(
        roots: Iterable[Contribution], create_graph: bool = False, retain_graph: bool = False,
        targets: dict[Node, Any] | None = None,
    ) -> None:  # fmt: skip
        arrived: dict[Node, Any] = {}
        for node, g in roots:
            arrived[node] = meet(arrived[node], g) if node in arrived else g
        visits = order(list(arrived))
        last = {node: i for i, node in enumerate(visits)}
        for i, node in enumerate(visits):
            if node not in arrived:
                continue  # nothing has reached it yet, and it will not be asked again
            g = arrived[node]
            if node.parents:
                for parent, sent in contributions_of(node, g, create_graph):
                    arrived[parent] = meet(arrived[parent], sent) if parent in arrived else sent
            if last[node] == i and node.parents:
                finish(node, g, create_graph, retain_graph, targets)
        for node in last:
            if not node.parents and node in arrived:
                finish(node, arrived[node], create_graph, retain_graph, targets)

    walk.meet = meet  # type: ignore[attr-defined]  # a recording of this walk asks for it
    return walk


def newest_first(roots: list[Node]) -> list[Node]:
    """The right order."""
    return sorted(set(visited(roots)), key=lambda node: node.seq)


def visited(roots: list[Node]) -> Iterator[Node]:
    """Every node in the order of the first visit, going to the first input first."""
    seen: set[Node] = set()
    stack = list(reversed(roots))
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            yield node
            stack.extend(p for p in reversed(node.parents) if p is not None)


def first_visit(roots: list[Node]) -> list[Node]:
    """Pre-order: a node stands where it was first seen, although somebody later in the list may still write
    to it."""
    return list(visited(roots))


def every_visit(roots: list[Node]) -> list[Node]:
    """Post-order without a set of visited nodes, reversed: a node that is used twice is taken twice."""
    order: list[Node] = []
    stack: list[tuple[Node, bool]] = [(node, False) for node in reversed(roots)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
            continue
        stack.append((node, True))
        stack.extend((p, False) for p in reversed(node.parents) if p is not None)
    return order[::-1]


def hasty_walk(
    roots: Iterable[Contribution], create_graph: bool = False, retain_graph: bool = False,
    targets: dict[Node, Any] | None = None,
) -> None:  # fmt: skip
    """A node passes on all it has as soon as anything reaches it, and again when more comes."""
    total: dict[Node, Any] = {}
    stack = [(node, g) for node, g in roots]
    while stack:
        node, g = stack.pop()
        total[node] = total[node] + g if node in total else g
        if node.parents:
            stack.extend(reversed(contributions_of(node, total[node], create_graph)))
    for node, g in total.items():
        finish(node, g, create_graph, retain_graph, targets)


def the_later(_old: Any, new: Any) -> Any:
    return new


def both(old: Any, new: Any) -> Any:
    return old + new


# --- wrong rules --------------------------------------------------------------------------------------------


def numbers(value: Any) -> Any:
    """The bare numbers of an array or a Tensor."""
    return value._data if isinstance(value, Tensor) else value


def like(g: Any, array: Any) -> Any:
    """An array in the form that g has."""
    return wrap(np.asarray(array)[()]) if isinstance(g, Tensor) else np.asarray(array)[()]


def spread(g: Any, shape: tuple[int, ...]) -> Any:
    """A number for every place."""
    return like(g, np.broadcast_to(numbers(g), shape).copy())


def over_dims(g: Any, x_shape: tuple[int, ...], dims: Any, keepdim: bool) -> Any:
    """g with the reduced axes put back as size 1."""
    if keepdim:
        return g
    reduced = {d % len(x_shape) for d in (dims if isinstance(dims, tuple) else (dims,))}
    return like(g, numbers(g).reshape(tuple(1 if i in reduced else n for i, n in enumerate(x_shape))))


def assigned(g: Any, x_shape: tuple[int, ...], index: Any) -> Any:
    """Write the gradient back with `=`: of two readings of one place only the last is kept."""
    back = np.zeros(x_shape, numbers(g).dtype)
    back[index] = numbers(g)
    return like(g, back)


def all_ties(g: Any, x: Any, out: Any) -> Any:
    """Every entry that equals the maximum gets all of g."""
    return g * like(g, (numbers(x) == numbers(out)).astype(numbers(g).dtype))


def mask(g: Any, condition: Any) -> Any:
    return g * like(g, np.asarray(condition).astype(numbers(g).dtype))


RULES: tuple[WrongRule, ...] = (
    WrongRule("M27", "sum_all", "the gradient of a sum stays one number", (lambda g: g,)),
    WrongRule("M27", "sum_dims", "the gradient of a sum keeps the shape of the sum", (lambda g: g,)),
    WrongRule("M27", "mean_all", "the gradient of a mean stays one number", (lambda g: g,)),
    WrongRule("M27", "mean_dims", "the gradient of a mean keeps the shape of the mean", (lambda g: g,)),
    *(
        WrongRule("M29", name, "multiplies without transposing", (lambda g, y: g @ y, lambda g, x: x @ g))
        for name in ("mm", "bmm", "rows_mm", "batch_mm")
    ),
    WrongRule("M30", "mean_all", "forgets the 1/N", (lambda g, x_shape: spread(g, x_shape),)),
    WrongRule(
        "M30", "mean_dims", "forgets the 1/N",
        (lambda g, x_shape, dims, keepdim: spread(over_dims(g, x_shape, dims, keepdim), x_shape),),
    ),
    WrongRule("M35", "relu", "lets the gradient through at 0", (lambda g, x: mask(g, numbers(x) >= 0),)),
    WrongRule("M35", "abs", "has slope 1 at 0", (lambda g, x: mask(g, np.where(numbers(x) < 0, -1, 1)),)),
    WrongRule(
        "M35", "maximum", "gives a tie to the first alone",
        (lambda g, x, y: mask(g, numbers(x) >= numbers(y)), lambda g, x, y: mask(g, numbers(y) > numbers(x))),
    ),
    WrongRule("M35", "max_all", "gives every tie the whole gradient", (all_ties,)),
    WrongRule("M35", "min_all", "gives every tie the whole gradient", (all_ties,)),
    WrongRule("M36", "pick", "assigns where it should add", (assigned,)),
)  # fmt: skip


def wrong_rules(operation: str) -> list[WrongRule]:
    """The wrong rules of one operation of the table; the forgotten upstream gradient (M23) is one of every
    operation.

    KeyError if there is no such operation.
    """
    made = tape.TABLE[operation]
    return [without_upstream(made), *(rule for rule in RULES if rule.operation == operation)]


def without_upstream(made: operations.Operation) -> WrongRule:
    """An operation's rules as its local derivative: right only when what arrives is 1."""

    def local(rule: Callable[..., Any] | None) -> Callable[..., Any] | None:
        if rule is None:
            return None

        def forgetful(g: Any, *saved: Any) -> Any:
            return rule(like(g, np.ones_like(numbers(g))), *saved)

        forgetful.takes = operations.parameters(rule)  # type: ignore[attr-defined]
        return forgetful

    return WrongRule("M23", made.name, "forgets the upstream gradient", tuple(map(local, made.rules)))


# --- putting them in ----------------------------------------------------------------------------------------


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
    """The table with other lines."""
    with ExitStack() as stack:
        for each in wrong:
            if each.operation in tape.TABLE:
                stack.enter_context(operations.replace(each.operation, each.rules))
        yield


RIGHT_FIT, RIGHT_STARTS = tape.fit, tape.starts


def averaged(g: Any, node: Node | None, *rest: Any) -> Any:
    """Un-broadcasting that takes the mean over the copies instead of the sum."""
    fitted = RIGHT_FIT(g, node, *rest)
    if node is None or node.shape is None or numbers(g).size <= numbers(fitted).size:
        return fitted
    return fitted * (numbers(fitted).size / numbers(g).size)


def start_from(number: Callable[[Tensor], Any]) -> Callable[..., list[tuple[Node, Any]]]:
    """Another first gradient, where none was given."""

    def starts(roots: Sequence[Tensor], gradients: Sequence[Tensor | None], create_graph: bool) -> list[tuple[Node, Any]]:
        def first(root: Tensor) -> Any:
            other = np.asarray(number(root), root._data.dtype)[()]
            return wrap(other) if create_graph else other

        right = RIGHT_STARTS(roots, gradients, create_graph)
        return [
            (node, begun if given is not None else first(root))
            for (node, begun), root, given in zip(right, roots, gradients, strict=True)
        ]

    return starts


def walks(order: Order, meet: Callable[[Any, Any], Any] = both) -> Callable[[], Any]:
    return lambda: swapped("walk", ordered_walk(order, meet))


def starts(number: Callable[[Tensor], Any]) -> Callable[[], Any]:
    return lambda: swapped("starts", start_from(number))


def rules(id: str) -> Callable[[], Any]:
    return lambda: with_rules(r for r in RULES if r.id == id)


BUGS: dict[str, Bug] = {
    bug.id: bug
    for bug in (
        Bug("M19", "where two gradients meet, the later one is kept", walks(newest_first, the_later)),
        Bug("M20", "a node is taken before its gradient is complete", lambda: swapped("walk", hasty_walk)),
        Bug("M21", "nodes are taken in the order of the first visit", walks(first_visit)),
        Bug("M21-visits", "a node that is used twice is taken twice", walks(every_visit)),
        Bug("M21-zero", "the pass starts from 0", starts(lambda root: root._data * 0)),
        Bug("M21-value", "the pass starts from the loss itself", starts(lambda root: root._data)),
        Bug("M23", "every rule forgets the upstream gradient",
            lambda: with_rules(without_upstream(made) for made in tape.TABLE.values())),
        Bug("M27", "the gradient of a sum or mean is not spread over what was summed", rules("M27")),
        Bug("M28", "a broadcast operand gets the mean over its copies", lambda: swapped("fit", averaged)),
        Bug("M29", "matrix products forget to transpose", rules("M29")),
        Bug("M30", "a mean forgets the 1/N in its gradient", rules("M30")),
        Bug("M35", "kinks and ties are decided another way than PyTorch does", rules("M35")),
        Bug("M36", "of several readings of one place only the last gets its gradient", rules("M36")),
    )
}  # fmt: skip
