"""`record(loss)`: a backward pass written down, not run.

There is no walk here: the walk of tape.py runs, with methods that write down
what passes.  So a recording cannot differ from what `backward()` does; no
`.grad` changes, and nothing is freed.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from sys import _getframe
from typing import Any

import numpy as np

from minigrad import errors, tape
from minigrad.record.contributions import explain_contribution
from minigrad.record.moves import Contribution, Step, same
from minigrad.record.nodes import array_of, operation_of, stretched
from minigrad.record.numbers import Array
from minigrad.record.places import Graph
from minigrad.record.recording import Recording
from minigrad.tape import Walk
from minigrad.tensor import Node, Tensor

GONE = (
    "The values that this backward pass needs were freed by backward(). "
    "Run the lines that compute the tensor again and record before backward(), "
    "or call backward(retain_graph=True)."
)


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

            def hooked(self, node: Node, g: Any) -> Any:
                """Hooks on the tensor run, because they may change its gradient; nothing is stored."""
                changed = tape.on_tensor(node.hooks, g, False)  # type: ignore[arg-type]
                return recorder.hooked(recorder.graph.place[node], changed, g)

        Recorded([(root, seed)], retain_graph=True).run()

    def step(self, walk: Walk, node: Node, g: Any) -> tuple[Any, ...]:
        """A node's gradient is complete: what does it contribute?"""
        if g is None:  # no gradient came
            return (None,) * len(node.parents)
        at, was = self.graph.place[node], g
        if node.hooks is not None:
            g = self.hooked(at, tape.before_node(node.hooks, g, False), g)
        step = Step("node", at, array_of(was if g is None else g), early=self.early(at, g))
        raws = (None,) * len(node.parents) if g is None else tape.contributions(node, g)
        pairs = zip(raws, node.parents, strict=True)
        values = tuple(None if r is None or p is None else walk.fit(r, p, node) for r, p in pairs)
        if node.hooks is not None:
            values = tape.after_node(node.hooks, g, values, False)
        for slot, parent in enumerate(node.parents):
            i = self.graph.cut.get((at, slot)) if parent is None else self.graph.place[parent]
            if i is None:
                continue
            sent = Contribution(slot, i)
            step.contributions.append(sent)
            if parent is None:
                sent.reason = self.graph.why_not(node, slot)
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

    def write(self, walk: Walk, sent: Contribution, node: Node, raw: Any, value: Any) -> None:
        """The numbers of one contribution, and what has accumulated with it."""
        i, parent = sent.parent, node.parents[sent.slot]
        assert parent is not None
        sent.raw, sent.value = array_of(raw), array_of(value)
        sent.summed = stretched(sent.raw.shape, sent.value.shape)
        sent.hooked = node.hooks is not None and not same(array_of(walk.fit(raw, parent, node)), sent.value)
        # a node of several outputs has a gradient for each: nothing is added
        sent.before = None if parent.shape is None else self.sums.get(i)
        sent.after = after = sent.value if sent.before is None else walk.join(sent.before, sent.value)
        self.sums[i] = after
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

    def store(self, node: Node, g: Any) -> None:
        """A leaf adds what arrived to what its .grad held."""
        if g is None:
            return
        at, hooks = self.graph.place[node], node.hooks
        g = array_of(g if hooks is None else self.hooked(at, tape.before_node(hooks, g, False), g))
        old = self.graph.places[at].old_grad
        self.steps.append(Step("leaf", at, g, before=old, after=g if old is None else old + g))


def record(
    root: Tensor,
    gradient: Tensor | None = None,
    names: Mapping[str, Any] | None = None,
    values: Mapping[Node, Array] | None = None,
) -> Recording:
    """The backward pass of `root` as data: nothing is run, changed or freed.

    root: a tensor that requires a gradient.  gradient: what the pass starts
    from, of the root's shape; may be left out if the root holds one number.
    names: what to call tensors, {"x": x}; by default the caller's variables.
    values: what else is known, by node; a graph alone holds what it saved.
    RuntimeError if there is no graph, if backward() has freed it, if something
    it needs was overwritten, or if `gradient` is missing or of another shape.

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
        raise RuntimeError("this tensor has no backward pass: it does not require grad and does not have a grad_fn")
    ((_, seed),) = (tape.chosen or Walk).started((root,), (gradient,), False)
    nodes = ancestry(root._node)
    with unpacked(nodes), tape.set_grad_enabled(False), np.errstate(all="ignore"):
        graph = Graph(root, nodes, names, values or {})
        recorder = Recorder(graph)
        recorder.run(root._node, seed)
    return Recording(
        graph.place[root._node],
        graph.places,
        graph.edges,
        recorder.steps,
        array_of(seed),
        gradient is not None,
    )


@contextmanager
def unpacked(nodes: list[Node]) -> Iterator[None]:
    """Meanwhile nodes hold what saved-tensor hooks packed as what it was."""
    packed = [n for n in nodes if n.rules is None and n.saved and operation_of(n)]
    before = [node.saved for node in packed]
    for node in packed:
        node.saved = tape.unpacked(node.saved or ())
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
            raise errors.noted(RuntimeError(GONE), node, freed)
        tape.check_saved(node)
    return sorted(nodes, key=lambda n: n.seq)
