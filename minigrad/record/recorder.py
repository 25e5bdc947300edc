"""`record(loss)`: a backward pass written down, not run.

There is no walk here.  Each node gets a shadow that writes down what passes
through it, and the very walk of tape.py is sent through the shadows.  So a
recording cannot differ from what `backward()` does; no `.grad` changes,
nothing is freed, and the hot walk knows nothing of it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from sys import _getframe
from typing import Any

import numpy as np

from minigrad import hooks, tape
from minigrad.record.contributions import explain_contribution
from minigrad.record.graph import Graph
from minigrad.record.moves import Contribution, Step, same
from minigrad.record.nodes import array_of, operation_of, stretched
from minigrad.record.numbers import Array
from minigrad.record.recording import Recording
from minigrad.record.student import Rules
from minigrad.tape import Node, noted, set_grad_enabled
from minigrad.tensor import Tensor
from minigrad.versions import check_versions

GONE = (
    "The values that this backward pass needs are gone: backward() has "
    "already run here and freed them. Run the lines that compute the tensor "
    "again and record before backward(), or call backward(retain_graph=True)."
)


class Shadow(Node):
    """Stands for a node in the walk, and writes down what its rules say."""

    __slots__ = ("place", "real", "recorder")

    def __init__(self, real: Node, recorder: Recorder) -> None:
        self.real, self.recorder = real, recorder
        self.place = recorder.graph.place[real]
        self.seq, self.shape, self.dtype = real.seq, real.shape, real.dtype
        self.code, self.at, self.guards = real.code, real.at, None
        self.kept = ()  # what the rules need stays with the real node
        self.parents = tuple(None if p is None else recorder.shadows[p] for p in real.parents)
        if real.hooks is not None:
            self.hooks = self  # type: ignore[assignment]

    def arriving(self, g: Any, create_graph: bool, _store: Any) -> Any:
        """Hooks on the tensor run, because they may change its gradient; nothing is stored."""
        changed = self.real.hooks.arriving(g, create_graph, lambda *_: None)  # type: ignore[union-attr]
        return self.recorder.hooked(self.place, changed, g)

    def evaluate(self, g: Any, create_graph: bool) -> tuple[Any, Any]:
        """The walk asks here for what a node contributes."""
        found = self.recorder.step(self, g)
        return (given,) * len(found), tuple((each,) for each in found)

    def accumulate(self, g: Any, create_graph: bool) -> None:
        """A leaf's gradient is complete."""
        self.recorder.store(self, g)


def given(_g: Any, contribution: Any) -> Any:
    """A rule that already knows its answer."""
    return contribution


class Recorder:
    """Writes steps down while the walk goes through the shadows."""

    def __init__(self, graph: Graph, nodes: list[Node], rules: Rules) -> None:
        self.graph, self.rules = graph, rules
        self.steps: list[Step] = []
        self.expected = [0] * len(graph.places)
        self.arrived = self.expected.copy()
        self.sums: dict[int, Array] = {}
        for i, _, _ in graph.edges:
            self.expected[i] += 1
        # a broken walk may join two gradients in another way
        self.meet = getattr(tape.walk, "meet", operator.add)
        self.shadows: dict[Node, Shadow] = {}
        for node in nodes:
            self.shadows[node] = Shadow(node, self)

    def step(self, shadow: Shadow, g: Any) -> tuple[Any, ...]:
        """A node's gradient is complete: what does it contribute?"""
        node, at, was = shadow.real, shadow.place, g
        if node.hooks is not None:
            g = self.hooked(at, node.hooks.before_node(g, False), g)
        step = Step("node", at, array_of(was if g is None else g), early=self.early(at, g))
        raws = answers(node, g)
        values = tuple(r if r is None else tape.fit(r, p) for r, p in zip(raws, node.parents, strict=True))
        if node.hooks is not None:
            values = node.hooks.after_node(g, values, False)
        for slot, parent in enumerate(node.parents):
            i = self.graph.cut.get((at, slot)) if parent is None else self.graph.place[parent]
            if i is None:
                continue
            sent = Contribution(slot, i)
            step.contributions.append(sent)
            if parent is None:
                sent.reason = self.graph.why_not(node, slot)
            elif values[slot] is not None:
                self.write(sent, parent, raws[slot], values[slot], node.hooks is not None)
                explain_contribution(sent, step, node, self.graph, g if isinstance(g, tuple) else None)
                self.rules.check(sent, step, node, self.graph)
            elif raws[slot] is not None or g is None:
                sent.reason = "a hook took it away"
            else:
                rule = "its rule" if operation_of(node) else f"backward of {self.graph.places[at].symbol}"
                sent.reason = f"{rule} declares no gradient for this input (None)"
        self.steps.append(step)
        return values

    def write(self, sent: Contribution, parent: Node, raw: Any, value: Any, hooks: bool) -> None:
        """The numbers of one contribution, and what has accumulated with it."""
        i = sent.parent
        sent.raw, sent.value = array_of(raw), array_of(value)
        sent.summed = stretched(sent.raw.shape, sent.value.shape)
        sent.hooked = hooks and not same(array_of(tape.fit(raw, parent)), sent.value)
        # a node of several outputs has a gradient for each: nothing is added
        sent.before = None if parent.shape is None else self.sums.get(i)
        sent.after = sent.value if sent.before is None else self.meet(sent.before, sent.value)
        self.sums[i] = sent.after
        self.arrived[i] += 1
        sent.arrived, sent.expected = self.arrived[i], self.expected[i]

    def hooked(self, i: int, g: Any, was: Any) -> Any:
        """The gradient of a place as a hook left it; noted if it changed."""
        one = g is not None and not isinstance(g, tuple)
        if one and not same(array_of(g), array_of(was)):
            self.graph.places[i].hooked = array_of(g)
        return g

    def early(self, i: int, g: Any) -> bool:
        """Whether not all has arrived yet: only in a broken walk."""
        changed = g is None or self.graph.places[i].hooked is not None
        partly = i in self.sums and not changed and not same(self.sums[i], array_of(g))
        return partly or self.arrived[i] < self.expected[i]

    def store(self, shadow: Shadow, g: Any) -> None:
        """A leaf adds what arrived to what its .grad held."""
        at, hooks = shadow.place, shadow.real.hooks
        g = array_of(g if hooks is None else self.hooked(at, hooks.before_node(g, False), g))
        old = self.graph.places[at].old_grad
        self.steps.append(Step("leaf", at, g, before=old, after=g if old is None else old + g))


def answers(node: Node, g: Any) -> tuple[Any, ...]:
    """What a node's rules make of its gradient, not fitted to the inputs yet."""
    if g is None:  # a hook took it away
        return (None,) * len(node.parents)
    # a hook on the node puts None in place of its own
    rules = type(node).rules if node.rules is None else node.rules
    if rules is None:
        return node.contributions(g, False)
    return tuple(
        None if parent is None or rule is None else rule(g, *(args or ()))
        for parent, rule, args in zip(node.parents, rules, node.kept or (), strict=True)
    )


def record(
    root: Tensor,
    gradient: Tensor | None = None,
    names: Mapping[str, Any] | None = None,
    rules: Mapping[str, Any] | None = None,
) -> Recording:
    """The backward pass of `root` as data: nothing is run, changed or freed.

    root: a tensor that requires a gradient.  gradient: what the pass starts
    from, of the root's shape; may be left out if the root holds one number.
    names: what to call tensors, {"x": x}; by default the caller's variables.
    rules: {"mul": rule}, compared with the engine's own at every edge (see
    `minigrad.replace` for their form).  RuntimeError if there is no graph, if
    backward() has freed it, if something it needs was overwritten, or if
    `gradient` is missing or of another shape; KeyError for a rule of an
    unknown operation.

    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> print(minigrad.record(x * x))
    Backward pass of x * x: 2 nodes, 4 moves
      0  start x * x: gradient 1
      1  x * x -> x: g · x = 3; x has 3 (1 of 2)
      2  x * x -> x: g · x = 3; x has 6 (2 of 2)
      3  store x.grad = 6
    """
    if not isinstance(root, Tensor):
        raise TypeError(f"record() takes a tensor, not {type(root).__name__}")
    if names is None:
        frame = _getframe(1)
        names = {**frame.f_globals, **frame.f_locals}
    if root._node is None:
        raise RuntimeError(
            "this tensor has no backward pass: it does not require grad and "
            "does not have a grad_fn"
        )
    own = Rules(rules or {})
    ((_, seed),) = tape.starts((root,), (gradient,), False)
    nodes = ancestry(root._node)
    with unpacked(nodes), set_grad_enabled(False), np.errstate(all="ignore"):
        graph = Graph(root, nodes, names)
        recorder = Recorder(graph, nodes, own)
        tape.walk([(recorder.shadows[root._node], seed)])
    return Recording(
        graph.place[root._node], graph.places, graph.edges, recorder.steps,
        array_of(seed), gradient is not None,
    )  # fmt: skip


@contextmanager
def unpacked(nodes: list[Node]) -> Iterator[None]:
    """Meanwhile nodes hold what saved-tensor hooks packed as what it was."""
    packed = [n for n in nodes if n.rules is None and n.kept and operation_of(n)]
    before = [node.kept for node in packed]
    for node in packed:
        node.kept = hooks.unpacked(node.kept)
    try:
        yield
    finally:
        for node, saved in zip(packed, before, strict=True):
            node.kept = saved


def ancestry(root: Node) -> list[Node]:
    """Every node that the walk can reach, oldest first.

    RuntimeError if one was freed, or if what it saved was overwritten.
    """
    nodes = tape.ancestors([root], 0)
    for node in nodes:
        if node.parents and node.kept is None:
            freed = "its saved values were freed by an earlier backward pass"
            raise noted(RuntimeError(GONE), node, freed)
        check_versions(node)
    return sorted(nodes, key=lambda n: n.seq, reverse=True)
