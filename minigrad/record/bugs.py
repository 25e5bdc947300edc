"""Bugs of an autograd engine, by the id they have among the misconceptions.

Two kinds: a wrong walk (the order of the nodes, what happens where two
gradients meet, what the pass starts from) and wrong rules (a row of the
table, mistaken as people mistake it).  `broken(id)` puts one into the real
engine while a `with` block runs; the stepper offers wrong rules as wrong
answers.  No right backward pass uses anything of this.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import derivatives as table
from .. import tape
from ..operation import Operation, parameters
from ..tape import TABLE, Walk
from ..tensor import Node, Tensor, wrap
from .replacement import replace

__all__ = ["BUGS", "RULES", "WrongRule", "broken", "wrong_rules"]

Rule = Callable[..., Any]


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
        known = ", ".join(sorted(BUGS))
        raise KeyError(f"no bug {id!r} can be put into the engine; there are {known}")
    with BUGS[id]():
        yield


# ------------------------------------------------------ wrong walks
class OrderedWalk(Walk):
    """A walk that visits nodes in an order of its own."""

    order: Callable[[list[Node]], list[Node]]

    def run(self) -> None:
        arrived: dict[Node, Any] = {}
        self.arrive(arrived, self.roots)
        visits = type(self).order(list(arrived))
        for node in visits:
            if node not in arrived or not node.parents:
                # nothing has reached it yet, and it has had its turn
                continue
            self.arrive(arrived, pairs(node, self.contributions(node, arrived[node])))
        self.finish(arrived, visits)

    def arrive(self, arrived: dict[Node, Any], found: Iterable[tuple[Node, Any]]) -> None:
        """Add contributions to what has arrived."""
        for node, g in found:
            arrived[node] = self.join(arrived[node], g) if node in arrived else g

    def finish(self, arrived: dict[Node, Any], visits: Iterable[Node]) -> None:
        """Store gradients where they were asked for; free memory."""
        for node in dict.fromkeys(visits):
            if self.targets is not None and node in self.targets:
                self.targets[node] = arrived.get(node)
            elif self.targets is None and not node.parents and node in arrived:
                self.accumulate(node, arrived[node])
            if not self.retain_graph and node.versions is not None:
                node.saved = None


class HastyWalk(OrderedWalk):
    """A node passes all it has on as soon as anything arrives, and again later."""

    def run(self) -> None:
        total: dict[Node, Any] = {}
        stack = list(self.roots)
        while stack:
            node, g = stack.pop()
            self.arrive(total, [(node, g)])
            if node.parents:
                found = pairs(node, self.contributions(node, total[node]))
                stack.extend(reversed(found))
        self.finish(total, total)


def pairs(node: Node, found: Iterable[Any]) -> list[tuple[Node, Any]]:
    """Each parent with its contribution, where there is one."""
    both = zip(node.parents, found)
    return [(p, c) for p, c in both if p is not None and c is not None]


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
    stack = list(roots)
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(p for p in node.parents if p is not None)
    return order


# ------------------------------------------------------ wrong rules
def assigned(g: Any, x_shape: Any, y: Any, dims: Any) -> Any:
    """Of two readings of one place only the last is stored."""
    zeros = table.expand(table.zeros(table.sum_all(g)), x_shape)
    return table.index_put(zeros, y, g, dims)


def wrong(id: str, operations: str, says: str, *rules: Rule | None) -> list[WrongRule]:
    return [WrongRule(id, name, says, rules) for name in operations.split()]


RULES: tuple[WrongRule, ...] = (
    *wrong("M27", "sum_all mean_all", "leaves the gradient one number", lambda g: g),
    *wrong("M27", "sum_dims mean_dims", "leaves the gradient in the shape of the result", lambda g: g),
    *wrong("M29", "mm bmm rows_mm batch_mm", "multiplies without transposing",
           lambda g, y: g @ y, lambda g, x: x @ g),
    *wrong("M30", "mean_all", "forgets the 1/N", lambda g, x_shape: table.expand(g, x_shape)),
    *wrong("M30", "mean_dims", "forgets the 1/N", lambda g, x_shape, dims, keepdim:
           table.expand(table.unreduce(g, x_shape, dims, keepdim), x_shape)),
    *wrong("M35", "relu", "lets the gradient through at 0", lambda g, x: g * (x >= 0)),
    *wrong("M35", "abs", "has slope 1 at 0", lambda g, x: table.where(x < 0, -g, g)),
    *wrong("M35", "maximum", "gives a tie to the first alone",
           lambda g, x, y: table.where(x >= y, g, 0.0), lambda g, x, y: table.where(x < y, g, 0.0)),
    *wrong("M35", "max_all min_all", "gives every tie the whole gradient",
           lambda g, x, out: g * (x == out)),
    *wrong("M36", "pick", "assigns where it should add", assigned, None),
)


def wrong_rules(operation: str) -> list[WrongRule]:
    """The wrong rules of one operation; forgetting g (M23) is one of each.

    KeyError if there is no such operation.
    """
    made = TABLE[operation]
    return [without_g(made), *(rule for rule in RULES if rule.operation == operation)]


def without_g(made: Operation) -> WrongRule:
    """An operation's rules as its local derivative: right only where g is 1."""

    def local(rule: Rule | None) -> Rule | None:
        if rule is None:
            return None

        def forgetful(g: Any, *saved: Any) -> Any:
            return rule(table.zeros(g) + 1, *saved)

        forgetful.takes = parameters(rule)  # type: ignore[attr-defined]
        return forgetful

    rules = tuple(map(local, made.rules))
    return WrongRule("M23", made.name, "forgets the upstream gradient", rules)


# ------------------------------------------------------ putting them in
@contextmanager
def with_rules(wrong: Iterable[WrongRule]) -> Iterator[None]:
    """The table with other rows."""
    with ExitStack() as stack:
        for each in wrong:
            stack.enter_context(replace(each.operation, each.rules))
        yield


def averaged(g: Any, node: Node, child: Node | None = None) -> Any:
    """Un-broadcasting that takes the mean over the copies, not the sum."""
    fitted = tape.fit(g, node, child)
    if node.shape is None:
        return fitted
    copies = np.size(g) if not isinstance(g, Tensor) else g.numel()
    return fitted * (np.prod(node.shape, dtype=int) / copies)


def start_from(number: Callable[[Any], Any]) -> Any:
    """Another first gradient, where none was given."""

    def started(roots: Sequence[Tensor], gradients: Sequence[Any], create_graph: bool) -> Any:
        right = tape.started(roots, gradients, create_graph)
        found = []
        for (node, begun), root, given in zip(right, roots, gradients):
            data = root._data
            other: Any = np.asarray(number(data), data.dtype)[()]
            other = wrap(other) if create_graph else other
            found.append((node, other if given is None else begun))
        return found

    return staticmethod(started)


def walk(base: type[Walk] = Walk, **changes: Any) -> Callable[[], Any]:
    """The block in which every pass is such a walk, with these changes."""
    return lambda: tape.using(type("WrongWalk", (base,), changes))


def rules(id: str) -> Callable[[], Any]:
    return lambda: with_rules(r for r in RULES if r.id == id)


BUGS: dict[str, Callable[[], Any]] = {
    # where two gradients meet, only the later is left
    "M19": walk(join=lambda _walk, _old, new: new),
    # a node is taken before its gradient is complete
    "M20": walk(HastyWalk),
    # nodes are taken in the order of the first visit; or at every visit
    "M21": walk(OrderedWalk, order=staticmethod(first_visit)),
    "M21-visits": walk(OrderedWalk, order=staticmethod(every_visit)),
    # the pass starts from 0, or from the loss itself
    "M21-zero": walk(started=start_from(lambda value: value * 0)),
    "M21-value": walk(started=start_from(lambda value: value)),
    # every rule forgets the upstream gradient
    "M23": lambda: with_rules(map(without_g, TABLE.values())),
    # a broadcast operand gets the mean over its copies
    "M28": walk(fit=staticmethod(averaged)),
}
# what the wrong rules above say
BUGS |= {each.id: rules(each.id) for each in RULES}
