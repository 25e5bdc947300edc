"""`record(loss)`: a backward pass written down, not run.

There is no walk here. Every node is dressed in a shadow that writes down what passes through it, and the very walk of
tape.py is sent through the shadows. So a recording cannot differ from what `backward()` does; no `.grad` changes,
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
from minigrad.record.contributions import check_contribution, check_names, explain_contribution
from minigrad.record.names import Names, birth, is_operation, kind_of, symbol
from minigrad.record.numbers import Array
from minigrad.record.recording import Contribution, Place, Recording, Step, same
from minigrad.record.values import (
    array_of,
    inputs_known,
    inputs_of,
    known_values,
    operand_value,
    operation_of,
    stretched,
)
from minigrad.tape import Node, noted, set_grad_enabled
from minigrad.tensor import Tensor
from minigrad.versions import check_versions

GONE = (
    "The values that this backward pass needs are gone: backward() has already run here and freed them. "
    "Run the lines that compute the tensor again and record before backward(), or call backward(retain_graph=True)."
)


class Shadow(Node):
    """Stands in for a node in the walk: asks its rules, and writes down what they say."""

    __slots__ = ("place", "real", "recorder")

    def __init__(self, real: Node, recorder: Recorder, place: int) -> None:
        self.real, self.recorder, self.place = real, recorder, place
        self.seq, self.shape, self.dtype = real.seq, real.shape, real.dtype
        self.code, self.at, self.guards = real.code, real.at, None
        self.kept = ()  # what the rules need stays with the real node
        if real.hooks is not None:
            self.hooks = QuietHooks(real.hooks, recorder, place)  # type: ignore[assignment]

    def evaluate(self, g: Any, create_graph: bool) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The walk asks here for the contributions of a node that has no plain rules; a shadow never has."""
        contributions = self.recorder.evaluated(self, g)
        return (handed,) * len(contributions), tuple((sent,) for sent in contributions)

    def accumulate(self, g: Any, create_graph: bool) -> None:
        """A leaf's gradient is complete."""
        self.recorder.store(self, g)


def handed(_g: Any, sent: Any) -> Any:
    """A rule that already knows its answer."""
    return sent


class QuietHooks:
    """A node's hooks on its gradient, run because they may change it; what they would store is not stored."""

    def __init__(self, hooks: Any, recorder: Recorder, place: int) -> None:
        self.hooks, self.recorder, self.place = hooks, recorder, place

    def arriving(self, g: Any, create_graph: bool, deposit: Any) -> Any:
        return self.recorder.hooked(self.place, self.hooks.arriving(g, create_graph, lambda *_: None), g)


class Recorder:
    """Builds the shadows, and fills a Recording while the walk goes through them."""

    def __init__(self, root: Tensor, nodes: list[Node], names: Mapping[str, Any], rules: Mapping[str, Any]) -> None:
        self.rules = rules
        self.waited = 0.0  # seconds that they have taken
        self.names = Names(names)
        self.nodes = nodes
        self.place: dict[Node, int] = {}
        self.places: list[Place] = []
        self.edges: list[tuple[int, int, int]] = []
        self.cut: dict[tuple[int, int], int] = {}  # (place, slot) -> the operand without history
        self.values = known_values(self.nodes, root, self.names)
        self.shadows: dict[Node, Shadow] = {}
        self.steps: list[Step] = []
        self.inner = {
            parent for node in self.nodes for parent in node.parents
            if parent is not None and (parent.code, parent.at) == (node.code, node.at) and type(parent) is not type(node)
        }  # fmt: skip
        for node in self.nodes:
            self.enter(node)
        self.expected = [0] * len(self.places)
        self.arrived = [0] * len(self.places)
        self.sums: list[Array | None] = [None] * len(self.places)
        self.arrivals: dict[int, list[Array | None]] = {}  # of a Function with several outputs: its gradients
        for a, _, _ in self.edges:
            self.expected[a] += 1
        self.meet = getattr(tape.walk, "meet", operator.add)  # a broken walk may join two gradients otherwise

    # ------------------------------------------------------------ the graph
    def enter(self, node: Node) -> None:
        """Give a node its place, its shadow, and a place to each operand without history."""
        name, named = self.names.of(node, node in self.inner)
        found = birth(node.code, node.at)
        kind = node.name()
        parents = [None if p is None else self.place[p] for p in node.parents]
        for slot, parent in enumerate(parents):
            if parent is None:
                parents[slot] = self.operand(node, slot)
        i = len(self.places)
        fits = is_operation(found, kind_of(node)) and node not in self.inner
        place = Place(
            i, name, kind, tuple(node.shape or ()), str(node.dtype), leaf=not node.parents, named=named,
            expression=found.expression if fits and node.parents else "", where=found.where, source=found.line,
            value=self.values.get(node), symbol=symbol(kind_of(node)), spot=spot_of(node),
        )  # fmt: skip
        if not node.parents and node.variable is not None and node.variable._grad is not None:  # type: ignore[attr-defined]
            place.old_grad = np.array(node.variable._grad._data)  # type: ignore[attr-defined]
        self.place[node] = i
        self.places.append(place)
        for slot, parent in enumerate(parents):
            if parent is not None:
                self.edges.append((parent, i, slot))
                if not self.places[parent].needs_grad:
                    self.cut[i, slot] = parent
        shadow = Shadow(node, self, i)
        shadow.parents = tuple(None if p is None else self.shadows[p] for p in node.parents)
        self.shadows[node] = shadow

    def operand(self, node: Node, slot: int) -> int | None:
        """The place of an operand that needs no gradient; none for a plain number or where nothing is
        known of it.
        """
        value = operand_value(node, slot)
        found = birth(node.code, node.at)
        of_ours = getattr(node, "operation", None) is not None
        if isinstance(value, (int, float)) or (of_ours and is_operation(found, kind_of(node)) and found.literals):
            return None
        name = self.names.constant(value, node, slot)
        if name == "constant" and value is None:
            return None
        if value is None and name in self.names.cut and self.made_from(node, slot, self.names.cut[name]):
            value = self.names.cut[name]._data
        for place in self.places:
            if not place.needs_grad and place.name == name and (value is None or place.value is value):
                return place.id
        array = None if value is None else np.asarray(value)
        self.places.append(
            Place(
                len(self.places),
                name,
                "",
                () if array is None else array.shape,
                needs_grad=False,
                named=True,
                value=array,
            )
        )
        return len(self.places) - 1

    def made_from(self, node: Node, slot: int, tensor: Tensor) -> bool:
        """Whether the node's value comes out with this tensor as its input: the variable may have been bound anew."""
        made = operation_of(node)
        if made is None or slot >= len(made.inputs) or node not in self.values:
            return False
        arguments = inputs_of(node, self.values, {made.inputs[slot]: tensor._data})
        if arguments is None:
            return False
        try:
            with np.errstate(all="ignore"):
                value = made.forward(*arguments)
        except ValueError:  # it does not even fit
            return False
        return np.array_equal(value, self.values[node], equal_nan=True)

    # ------------------------------------------------------------ what the walk reports
    def evaluated(self, shadow: Shadow, g: Any) -> tuple[Any, ...]:
        """A node's gradient is complete: ask its rules, write down the contributions, pass them to the walk."""
        node = shadow.real
        was = g
        if node.hooks is not None:
            g = self.hooked(shadow.place, node.hooks.before_node(g, False), g)
        step = Step("node", shadow.place, array_of(was if g is None else g), early=self.early(shadow.place, g))
        if isinstance(g, tuple):
            self.arrivals[shadow.place] = [None if x is None else array_of(x) for x in g]
        raws = self.answers(node, g)
        contributions = tuple(None if raw is None else tape.fit(raw, p) for raw, p in zip(raws, node.parents, strict=True))
        if node.hooks is not None:
            contributions = node.hooks.after_node(g, contributions, False)
        for slot, parent in enumerate(node.parents):
            if parent is None:
                if (shadow.place, slot) in self.cut:
                    step.contributions.append(
                        Contribution(slot, self.cut[shadow.place, slot], reason=self.why_not(node, slot))
                    )
                continue
            sent = Contribution(slot, self.place[parent])
            if contributions[slot] is None:
                whose = "its rule" if operation_of(node) else f"backward of {self.places[shadow.place].symbol}"
                taken = raws[slot] is not None or g is None
                sent.reason = "a hook took it away" if taken else f"{whose} declares no gradient for this input (None)"
            else:
                self.write(sent, step, node, parent, raws[slot], contributions[slot])
            step.contributions.append(sent)
        self.steps.append(step)
        return contributions

    def answers(self, node: Node, g: Any) -> tuple[Any, ...]:
        """What the rules of a node make of its gradient, before it is fitted to the inputs."""
        rules = type(node).rules if node.rules is None else node.rules  # a hook puts None into the node's own
        if g is None:  # a hook took it away
            return (None,) * len(node.parents)
        if rules is None:
            return node.contributions(g, False)
        return tuple(
            None if parent is None or rule is None else rule(g, *(args or ()))
            for parent, rule, args in zip(node.parents, rules, node.kept or (), strict=True)
        )

    def hooked(self, i: int, g: Any, was: Any) -> Any:
        """The gradient of a place as a hook left it, noted where that is another one."""
        if g is not None and not isinstance(g, tuple) and not same(array_of(g), array_of(was)):
            self.places[i].hooked = array_of(g)
        return g

    def write(self, sent: Contribution, step: Step, node: Node, parent: Node, raw: Any, fitted: Any) -> None:
        """Everything about one contribution."""
        sent.raw, sent.value = array_of(raw), array_of(fitted)
        sent.summed = stretched(sent.raw.shape, sent.value.shape)
        sent.hooked = node.hooks is not None and not same(array_of(tape.fit(raw, parent)), sent.value)
        i = sent.parent
        sent.before = None if parent.shape is None else self.sums[i]  # several outputs: nothing is added
        sent.after = sent.value if sent.before is None else self.meet(sent.before, sent.value)
        self.sums[i] = sent.after
        self.arrived[i] += 1
        sent.arrived, sent.expected = self.arrived[i], self.expected[i]
        explain_contribution(sent, step, node, self)
        if self.rules:
            check_contribution(sent, step, node, self)

    def early(self, i: int, g: Any) -> bool:
        """Whether a node is taken before all has arrived: only a broken walk does that."""
        held = self.sums[i] if self.places[i].hooked is None and g is not None else None
        return self.arrived[i] < self.expected[i] or (held is not None and not same(held, array_of(g)))

    def store(self, shadow: Shadow, g: Any) -> None:
        """A leaf adds what arrived to what its .grad held."""
        old, hooks = self.places[shadow.place].old_grad, shadow.real.hooks
        if hooks is not None:
            g = self.hooked(shadow.place, hooks.before_node(g, False), g)
        g = array_of(g)
        self.steps.append(Step("leaf", shadow.place, g, before=old, after=g if old is None else old + g))

    def inputs(self, node: Node) -> dict[str, Any]:
        """What is known of the values that went into a node, by the names its rules use."""
        known = inputs_known(node, self.values)
        if node in self.values:
            known["out"] = self.values[node][()]
        return known

    def why_not(self, node: Node, slot: int) -> str:
        name = self.places[self.cut[self.place[node], slot]].name
        how = self.names.cut[name].__dict__.get("_lost", ("",))[0] if name in self.names.cut else ""
        if how == "detach" or ".detach()" in name:
            return "detach() cut it off from its history"
        if how == "no_grad":
            return f"{name} was computed under no_grad"
        return f"{name} does not require a gradient"


def record(
    root: Tensor,
    gradient: Tensor | None = None,
    names: Mapping[str, Any] | None = None,
    rules: Mapping[str, Any] | None = None,
) -> Recording:
    """The backward pass of `root` as data, without running it: no .grad changes and nothing is freed.

    root: a tensor that requires a gradient. gradient: what the pass starts from, of the root's shape; may be
    left out if the root holds one number. names: what to call tensors, {"x": x}; by default the caller's
    variables. rules: {"mul": rule}, compared with the engine's own at every edge (see `minigrad.replace` for
    their form). Raises RuntimeError if there is no graph, if backward() has freed it, if something it needs
    was overwritten, or if `gradient` is missing or of another shape; KeyError for a rule of an unknown operation.

    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> print(minigrad.record(x * x))
    Backward pass of x * x: 2 nodes, 4 moves
      0  start x * x: gradient 1
      1  x * x -> x: g * x = 3; x has 3 (1 of 2)
      2  x * x -> x: g * x = 3; x has 6 (2 of 2)
      3  store x.grad = 6
    """
    if not isinstance(root, Tensor):
        raise TypeError(f"record() takes a tensor, not {type(root).__name__}")
    if names is None:
        frame = _getframe(1)
        names = {**frame.f_globals, **frame.f_locals}
    if root._node is None:
        raise RuntimeError(
            "this tensor has no backward pass: it does not require grad and does not have a grad_fn"
        )
    check_names(rules or {})
    ((_, seed),) = tape.starts((root,), (gradient,), False)
    nodes = ancestry(root._node)  # oldest first
    with unpacked(nodes), set_grad_enabled(False), np.errstate(all="ignore"):
        recorder = Recorder(root, nodes, names, rules or {})
        tape.walk([(recorder.shadows[root._node], seed)])
    return Recording(
        recorder.place[root._node],
        recorder.places,
        recorder.edges,
        recorder.steps,
        array_of(seed),
        seed_given=gradient is not None,
    )


@contextmanager
def unpacked(nodes: list[Node]) -> Iterator[None]:
    """Meanwhile nodes hold what saved-tensor hooks packed as what it was: each is asked for once, as in a backward pass."""
    packed = {node: node.kept for node in nodes if node.rules is None and node.kept and operation_of(node)}
    before, tape.mode.running = tape.mode.running, hooks.Pass([(nodes[-1], None)], None)  # a checkpoint counts it as one pass
    try:
        for node in packed:
            node.kept = hooks.unpacked(node.kept)
    finally:
        tape.mode.running = before
    try:
        yield
    finally:
        for node, saved in packed.items():
            node.kept = saved


def spot_of(node: Node) -> str:
    """The instruction that made a node, as a key: the turns of a loop share it."""
    return f"{node.code.co_name}:{node.code.co_firstlineno}:{node.at}" if node.code else ""


def ancestry(root: Node) -> list[Node]:
    """Every node that the walk can reach, oldest first; an error if one was freed or what it kept was
    overwritten.
    """
    seen, stack = {root}, [root]
    while stack:
        node = stack.pop()
        if node.parents and node.kept is None:
            raise noted(RuntimeError(GONE), node, "its saved values were freed by an earlier backward pass")
        check_versions(node)
        for parent in node.parents:
            if parent is not None and parent not in seen:
                seen.add(parent)
                stack.append(parent)
    return sorted(seen, key=lambda n: n.seq, reverse=True)
