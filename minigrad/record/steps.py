"""Steps of the backward pass, written down while a walk goes through the graph."""

from collections.abc import Sequence
from typing import Any

from .. import tape
from ..tape import Walk
from ..tensor import Node
from .contributions import explain_contribution
from .moves import Contribution, Place, Step, same
from .nodes import array_of, operation_of
from .numbers import Array
from .places import Graph


class Recorder:
    """Writes steps down while a walk goes through the graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.steps: list[Step] = []
        self.expected = [0] * len(graph.places)
        self.arrived = self.expected.copy()
        self.sums: dict[int, Array] = {}
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

            def hooked(self, node: Any, g: Any) -> Any:
                """Hooks on the tensor run, because they may change its gradient; nothing is stored."""
                changed = tape.on_tensor(node.hooks, g, False)
                return recorder.hooked(recorder.graph.place[node], changed, g)

        Recorded([(root, seed)], retain_graph=True).run()

    def step(self, walk: Walk, node: Node, g: Any) -> tuple[Any, ...]:
        """A node's gradient is complete: what does it contribute?"""
        # no gradient came
        if g is None:
            return (None,) * len(node.parents)
        at, was = self.graph.place[node], g
        if node.hooks is not None:
            g = self.hooked(at, tape.before_node(node.hooks, g, False), g)
        step = Step("node", at, array_of(was if g is None else g), early=self.early(at, g))
        raws, values = self.sent(walk, node, g)
        for slot, parent in enumerate(node.parents):
            i = self.graph.inputs.get((at, slot))
            if i is None:
                continue
            sent = Contribution(slot, i)
            step.contributions.append(sent)
            if parent is None:
                sent.reason = self.why_not(node, self.graph.places[i])
            elif values[slot] is not None:
                self.write(walk, sent, node, raws[slot], values[slot])
                explain_contribution(sent, step, node, self.graph, g)
            elif raws[slot] is not None or g is None:
                sent.reason = "a hook took it away"
            else:
                rule = "its rule" if operation_of(node) else f"backward of {self.graph.places[at].symbol}"
                sent.reason = f"{rule} declares no gradient for this input (None)"
        self.steps.append(step)
        return values

    def sent(self, walk: Walk, node: Node, g: Any) -> tuple[Sequence[Any], tuple[Any, ...]]:
        """What a node contributes, as its rules return it and as its inputs receive it."""
        raws = (None,) * len(node.parents) if g is None else tape.contributions(node, g)
        pairs = zip(raws, node.parents)
        values = tuple(None if r is None or p is None else walk.fit(r, p, node) for r, p in pairs)
        return raws, values if node.hooks is None else tape.after_node(node.hooks, g, values, False)

    def write(self, walk: Walk, sent: Contribution, node: Node, raw: Any, value: Any) -> None:
        """The numbers of one contribution, and what has accumulated with it."""
        i, parent = sent.parent, node.parents[sent.slot]
        assert parent is not None
        sent.raw, sent.value = array_of(raw), array_of(value)
        sent.summed = tape.stretched_axes(sent.value.shape, sent.raw.shape) or ()
        sent.hooked = node.hooks is not None and not same(array_of(walk.fit(raw, parent, node)), sent.value)
        # a node of several outputs has a gradient for each: nothing is added
        sent.before = None if parent.shape is None else self.sums.get(i)
        self.sums[i] = sent.after = self.total(walk, sent)
        self.arrived[i] += 1
        sent.arrived, sent.expected = self.arrived[i], self.expected[i]

    def total(self, walk: Walk, sent: Contribution) -> Any:
        """What has accumulated with this contribution."""
        return sent.value if sent.before is None else walk.join(sent.before, sent.value)

    def why_not(self, node: Node, place: Place) -> str:
        """Why an operand gets no gradient."""
        tensor = self.graph.names.cut.get(place.name)
        lost = () if tensor is None else tensor.__dict__.get("_cut", ())
        if ".detach()" in place.name or "detach" in lost:
            return "detach() cut it off from its history"
        if "no_grad" in lost:
            return f"{place.name} was computed under no_grad"
        return f"{place.name} does not require a gradient"

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

    def store(self, node: Node, g: Any, total: Array | None = None) -> None:
        """A leaf adds what arrived to what its .grad held; total: the sum, if it is known."""
        if g is None:
            return
        at, hooks = self.graph.place[node], node.hooks
        g = array_of(g if hooks is None else self.hooked(at, tape.before_node(hooks, g, False), g))
        old = self.graph.places[at].old_grad
        after = g if old is None else old + g if total is None else total
        self.steps.append(Step("leaf", at, g, before=old, after=after))
