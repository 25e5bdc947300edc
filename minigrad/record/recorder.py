"""`record(loss)`: a backward pass written down, not run.

There is no walk here: the walk of tape.py runs, with methods that write down
what passes.  So a recording cannot differ from what `backward()` does; no
`.grad` changes, and nothing is freed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from sys import _getframe
from typing import Any

import numpy as np

from minigrad import tape
from minigrad.record.contributions import explain_contribution
from minigrad.record.graph import Graph
from minigrad.record.moves import Contribution, Step, same
from minigrad.record.nodes import array_of, operation_of, stretched
from minigrad.record.numbers import Array
from minigrad.record.recording import Recording
from minigrad.record.student import Rules
from minigrad.tape import (
    Walk,
    after_node,
    before_node,
    check_versions,
    contributions,
    noted,
    on_tensor,
    set_grad_enabled,
)
from minigrad.tensor import Node, Tensor

GONE = (
    "The values that this backward pass needs are gone: backward() has "
    "already run here and freed them. Run the lines that compute the tensor "
    "again and record before backward(), or call backward(retain_graph=True)."
)


class Recorder:
    """Writes steps down while a walk goes through the graph."""

    def __init__(self, graph: Graph, rules: Rules) -> None:
        self.graph, self.rules = graph, rules
        self.steps: list[Step] = []
        n = len(graph.places)
        self.expected, self.arrived = [0] * n, [0] * n
        self.sums: list[Array | None] = [None] * n
        for i, _, _ in graph.edges:
            self.expected[i] += 1

    def run(self, root: Node, seed: Any) -> None:
        """Walk as a backward pass would now, and write it down."""
        recorder = self

        class Recorded(tape.chosen or Walk):  # type: ignore[misc]
            def contributions(self, node: Node, g: Any) -> tuple[Any, ...]:
                return recorder.step(self, node, g)

            def accumulate(self, node: Node, g: Any) -> None:
                recorder.store(node, g)

            def hooked(self, node: Node, g: Any) -> Any:
                changed = on_tensor(node.hooks, g, False)
                return recorder.hooked(recorder.graph.place[node], changed, g)

        Recorded([(root, seed)], retain_graph=True).run()

    def step(self, walk: Walk, node: Node, g: Any) -> tuple[Any, ...]:
        """A node's gradient is complete: what does it contribute?"""
        if g is None:  # no gradient came
            return (None,) * len(node.parents)
        at, was = self.graph.place[node], g
        if node.hooks is not None:
            g = self.hooked(at, before_node(node.hooks, g, False), g)
        upstream = array_of(was if g is None else g)
        step = Step("node", at, upstream, early=self.early(at, g))
        raws = (None,) * len(node.parents) if g is None else contributions(node, g)
        pairs = zip(raws, node.parents, strict=True)
        values = tuple(
            None if r is None or p is None else walk.fit(r, p, node) for r, p in pairs
        )
        if node.hooks is not None:
            values = after_node(node.hooks, g, values, False)
        for slot, parent in enumerate(node.parents):
            cut = self.graph.cut.get((at, slot))
            if cut is not None:
                reason = self.graph.why_not(node, slot)
                step.contributions.append(Contribution(slot, cut, reason=reason))
            if parent is None:
                continue
            sent = Contribution(slot, self.graph.place[parent])
            step.contributions.append(sent)
            if values[slot] is not None:
                self.write(walk, sent, step, node, raws[slot], values[slot], g)
            elif raws[slot] is not None or g is None:
                sent.reason = "a hook took it away"
            else:
                rule = f"backward of {self.graph.places[at].symbol}"
                whose = "its rule" if operation_of(node) else rule
                sent.reason = f"{whose} declares no gradient for this input (None)"
        self.steps.append(step)
        return values

    def write(
        self, walk: Walk, sent: Contribution, step: Step, node: Node, raw: Any, value: Any, g: Any
    ) -> None:
        """Everything about one contribution."""
        i, parent = sent.parent, node.parents[sent.slot]
        assert parent is not None
        sent.raw, sent.value = array_of(raw), array_of(value)
        sent.summed = stretched(sent.raw.shape, sent.value.shape)
        fitted = array_of(walk.fit(raw, parent, node))
        sent.hooked = node.hooks is not None and not same(fitted, sent.value)
        # a node of several outputs has a gradient for each: nothing is added
        sent.before = None if parent.shape is None else self.sums[i]
        sent.after = walk.join(sent.before, sent.value)
        self.sums[i] = sent.after
        self.arrived[i] += 1
        sent.arrived, sent.expected = self.arrived[i], self.expected[i]
        several = g if isinstance(g, tuple) else None
        explain_contribution(sent, step, node, self.graph, several)
        self.rules.check(sent, step, node, self.graph)

    def hooked(self, i: int, g: Any, was: Any) -> Any:
        """The gradient of a place as a hook left it; noted if it changed."""
        one = g is not None and not isinstance(g, tuple)
        if one and not same(array_of(g), array_of(was)):
            self.graph.places[i].hooked = array_of(g)
        return g

    def early(self, i: int, g: Any) -> bool:
        """Whether not all has arrived yet: only in a broken walk."""
        if self.arrived[i] < self.expected[i]:
            return True
        held = self.sums[i]
        if held is None or g is None or self.graph.places[i].hooked is not None:
            return False
        return not same(held, array_of(g))

    def store(self, node: Node, g: Any) -> None:
        """A leaf adds what arrived to what its .grad held."""
        if g is None:
            return
        at = self.graph.place[node]
        old = self.graph.places[at].old_grad
        if node.hooks is not None:
            g = self.hooked(at, before_node(node.hooks, g, False), g)
        g = array_of(g)
        after = g if old is None else old + g
        self.steps.append(Step("leaf", at, g, before=old, after=after))


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
    ((_, seed),) = (tape.chosen or Walk).started((root,), (gradient,), False)
    nodes = ancestry(root._node)
    with unpacked(nodes), set_grad_enabled(False), np.errstate(all="ignore"):
        graph = Graph(root, nodes, names)
        recorder = Recorder(graph, own)
        recorder.run(root._node, seed)
    return Recording(
        graph.place[root._node], graph.places, graph.edges, recorder.steps,
        array_of(seed), gradient is not None,
    )  # fmt: skip


@contextmanager
def unpacked(nodes: list[Node]) -> Iterator[None]:
    """Meanwhile nodes hold what saved-tensor hooks packed as what it was."""
    packed = [n for n in nodes if n.rules is None and n.saved and operation_of(n)]
    before = [node.saved for node in packed]
    for node in packed:
        node.saved = tape.unpacked(node.saved)
    try:
        yield
    finally:
        for node, saved in zip(packed, before, strict=True):
            node.saved = saved


def ancestry(root: Node) -> list[Node]:
    """Every node that the walk can reach, oldest first.

    RuntimeError if one was freed, or if what it saved was overwritten.
    """
    nodes = tape.ancestors([root], 0)
    for node in nodes:
        if node.parents and node.saved is None:
            freed = "its saved values were freed by an earlier backward pass"
            raise noted(RuntimeError(GONE), node, freed)
        check_versions(node)
    return sorted(nodes, key=lambda n: n.seq, reverse=True)
