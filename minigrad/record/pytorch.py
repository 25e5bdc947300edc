"""`record(loss)` of a tensor of PyTorch.

pytorch_pass.py lets PyTorch walk and writes down what passes; here each of
its nodes becomes a node of ours (pytorch_rows.py says of which row of the
table), so that names, values, rules and sentences come from where those of
minigrad's own passes come from.  The numbers are PyTorch's; beside each stands
what our rule gives, and where the two differ the recording says so.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ..function import Output
from ..operation import new
from ..tape import AccumulateGrad, Walk, stretched_axes
from ..tensor import Node, Tensor, wrap
from .moves import Contribution, Place
from .names import variables
from .nodes import Unlisted, array_of, operation_of
from .numbers import Array, large, short
from .places import Graph
from .pytorch_explained import cuts
from .pytorch_forward import Noted
from .pytorch_lines import Codes, Lines, assignments, user_code
from .pytorch_pass import TAKES, Arrays, Move, Pass, Sent, edge_of, is_dense, is_leaf, pytorch
from .pytorch_rows import OTHER_FORM, OTHER_VALUES, row_of
from .recording import Recording
from .steps import Recorder

NO_GRAPH = "this tensor has no backward pass: it does not require grad and does not have a grad_fn"
AGREES = "PyTorch's numbers; minigrad's rules give the same ({} of {} contributions)"
OURS = "minigrad's rule gives {}, {}"
MISSING = "PyTorch did not keep this value: no rule needs it"
WALK = Walk([])
# joins of several inputs: each gets back its part
JOINS = ("CatBackward0", "StackBackward0")
# by PyTorch's names of dtypes: how far two right results may lie apart
PRECISION = {"bfloat16": 3e-2, "float16": 4e-3, "float64": 1e-9}


def record(root: Any, gradient: Any, names: Mapping[str, Any], values: Mapping[Any, Noted]) -> Recording:
    """The backward pass of a tensor of PyTorch, which PyTorch itself runs; nothing is changed or freed.

    Takes and raises what `record` in recorder.py does; TypeError for sparse and nested tensors.
    """
    torch = pytorch()
    if not is_dense(root):
        raise TypeError(TAKES.format("nested" if root.is_nested else root.layout, root.device))
    if not root.requires_grad:
        raise RuntimeError(NO_GRAPH)
    given = gradient is not None
    passed = Pass(torch, root, gradient, Arrays(torch))
    passed.run()
    passed.fold_transposes()
    copies = Copies(passed, values)
    with np.errstate(all="ignore"):
        namespace = copies.namespace(names)
        codes = user_code(names)
        if not values:
            held = {t._node: name for name, t in namespace.items() if t._node is not None}
            for node, site in Lines(codes, held, names).read(copies.nodes[::-1]).items():
                node.code, node.at = site
        graph = Graph(copies.root, copies.nodes, namespace, copies.values)
        watched = Watched(graph, copies, codes)
        watched.replay(passed.moves)
    for place in graph.places:
        place.missing = MISSING if place.value is None else ""
    seed = np.ones_like(copies.root._data) if gradient is None else passed.arrays.copied(gradient)
    remark = AGREES.format(watched.agreed, watched.compared) if watched.compared else ""
    return Recording(graph.place[copies.start], graph.places, graph.edges, watched.steps, seed, given, remark)


class Copies:
    """Nodes and tensors of ours for those of a pass, oldest first."""

    def __init__(self, passed: Pass, noted: Mapping[Any, Noted]) -> None:
        self.passed, self.arrays, self.noted = passed, passed.arrays, noted
        # by node and output
        self.of: dict[tuple[Any, int], Node] = {}
        self.originals: dict[Node, Any] = {}
        self.nodes: list[Node] = []
        # for each of their inputs, which of ours
        self.slots: dict[Node, list[int]] = {}
        # that were noted while a function ran
        self.values: dict[Node, Array] = {}
        # a node holds its leaf by a weak reference
        self.leaves: list[Tensor] = []
        outputs: dict[Any, set[int]] = {passed.start[0]: {passed.start[1]}}
        for parent, nr in passed.expected:
            outputs.setdefault(parent, set()).add(nr)
        for move in reversed(passed.moves):
            self.enter(move.node, sorted(outputs[move.node]))
        self.start = self.of[passed.start]
        self.root = wrap(self.arrays(passed.root), self.start)

    def enter(self, theirs: Any, outputs: list[int]) -> None:
        """A node of PyTorch; where several of its outputs are used, each has a node of its own besides."""
        several = len(outputs) > 1
        node = self.leaf(theirs) if is_leaf(theirs) else self.made(theirs)
        self.add(node, theirs, None if several else outputs[0])
        for nr in outputs:
            if several:
                out = new(Output)
                out.parents, out.saved, out.output_nr, out.count = (node,), ((),), nr, len(outputs)
                self.add(out, theirs, nr)
            self.of[theirs, nr] = out if several else node

    def add(self, node: Node, theirs: Any, nr: int | None) -> None:
        """Number it; shape and dtype are those of the output, if it is one."""
        node.seq, node.code, node.at = len(self.nodes), None, -1 - len(self.nodes)  # type: ignore[assignment]
        node.versions = None
        node.shape = None if nr is None else tuple(theirs._input_metadata[nr].shape)
        node.dtype = np.dtype(np.float32)
        noted = None if nr is None else self.noted.get((theirs, nr))
        if noted is not None:
            self.values[node] = noted.value
            if noted.code is not None:
                node.code, node.at = noted.code, noted.at
        self.originals[node] = theirs
        self.nodes.append(node)

    def leaf(self, theirs: Any) -> Node:
        """The node of a leaf, with what its .grad holds."""
        variable = theirs.variable
        tensor = wrap(self.arrays(variable))
        node: Node = AccumulateGrad(tensor)
        tensor._node = node
        if variable.grad is not None:
            tensor._grad = wrap(self.arrays.copied(variable.grad))
        self.leaves.append(tensor)
        return node

    def made(self, theirs: Any) -> Node:
        """The node of an operation, with what its rules take."""
        edges = self.passed.edges[theirs]
        parents = [self.of.get(edge) for edge in edges]
        node = self.by_rule(theirs, edges, parents)
        if node is not None:
            return node
        name, content = theirs.name().rpartition(":")[2], dict[str, Any](__module__="builtins")
        base, function = Node if name in JOINS else Unlisted, getattr(type(theirs), "_forward_cls", None)
        if name.startswith(OTHER_FORM):
            content["note"] = OTHER_VALUES
        # its own lines are shown
        if function is not None and not function.__module__.startswith("torch."):
            saved = [t if t is None else self.tensor(t) for t in theirs.saved_tensors]
            base, content = Node, content | {"function": function, "saved_tensors": saved}
        kind: Any = type(name, (base,), content)
        other: Node = new(kind)
        other.parents, other.saved = tuple(parents), ((),) * len(parents)
        first = parents[0] if parents else None
        for word, owner in {"self": first, "input": first, "result": other}.items():
            saved_value = getattr(theirs, f"_saved_{word}", None)
            if owner is not None and saved_value is not None:
                self.values[owner] = self.arrays(saved_value)
        return other

    def by_rule(self, theirs: Any, edges: list[Any], parents: list[Node | None]) -> Node | None:
        """The same, with a row of the table; None where no rule fits: those of the table are for real numbers."""
        metas = [p._input_metadata[nr] if p else None for p, nr in edges]
        if any(meta and meta.dtype.is_complex for meta in (*metas, *theirs._input_metadata)):
            return None
        turned = theirs.next_functions != tuple(edges)
        found = row_of(theirs, [meta and meta.shape for meta in metas], self.arrays, turned)
        if found is None:
            return None
        row, known = found
        at = [i for i, rule in enumerate(row.rules) if rule is not None]
        at = at[1:] if theirs.name() == "PowBackward2" else at
        known_parents = dict(zip(at, parents))
        inputs = [known_parents.get(i) for i in range(len(row.rules))]
        taken = [() if p is None else words for p, words in zip(inputs, row.arguments)]
        if len(at) < len(edges) or any(word not in known for words in taken for word in words):
            return None
        node: Node = new(row.kind)
        node.parents, self.slots[node] = tuple(inputs), at
        node.saved = tuple(tuple(known[word] for word in words) for words in taken)
        return node

    def tensor(self, theirs: Any) -> Tensor:
        """A tensor of ours for one of PyTorch, with its node if that is part of the pass."""
        node = self.of.get(edge_of(theirs)) if theirs.requires_grad else None
        return wrap(self.arrays(theirs), node)

    def namespace(self, names: Mapping[str, Any]) -> dict[str, Tensor]:
        """The user's variables as tensors of ours: those of the pass, and constants."""
        found = variables(names, self.passed.torch.Tensor)
        both = ((name, t, self.tensor(t)) for name, t in found if is_dense(t))
        return {name: copy for name, t, copy in both if copy._node is not None or not t.requires_grad}


@lru_cache(maxsize=32)
def precision(dtype: Any) -> float:
    """How near two right results are in a dtype of PyTorch."""
    return PRECISION.get(str(dtype).rpartition(".")[2], 1e-4)


class Watched(Recorder):
    """Writes down what PyTorch did, and compares it with our rules."""

    def __init__(self, graph: Graph, copies: Copies, codes: Codes) -> None:
        super().__init__(graph)
        self.copies, self.codes = copies, codes
        self.compared = self.agreed = 0
        self.passing: dict[int, Sent] = {}

    def replay(self, moves: list[Move]) -> None:
        """Write down the moves of a pass."""
        for move in moves:
            of = ((self.copies.of.get((move.node, nr)), g) for nr, g in enumerate(move.received))
            known = [(node, g) for node, g in of if node is not None and g is not None]
            for node, g in known:
                if isinstance(node, AccumulateGrad):
                    self.store(node, self.changed(node, g), move.total)
                else:
                    self.one(node, g, [Sent(g, g, g)] if isinstance(node, Output) else move.sent)
            if known and isinstance(known[0][0], Output):
                self.one(known[0][0].owner, known[0][1], move.sent)

    def one(self, node: Node, g: Array, sent: list[Sent | None]) -> None:
        """One step, with what the node sent to each of its inputs."""
        slots = self.copies.slots.get(node, range(len(sent)))
        self.passing = {slot: each for slot, each in zip(slots, sent) if each is not None}
        self.g = self.changed(node, g)
        self.step(WALK, node, self.g)

    def changed(self, node: Node, g: Array) -> Array:
        """The gradient as PyTorch passed it on; noted where a hook had changed the sum."""
        i = self.graph.place[node]
        return g if i not in self.sums or node.shape is None else self.hooked(i, g, self.sums[i])

    def sent(self, walk: Walk, node: Node, g: Any) -> tuple[Any, tuple[Any, ...]]:
        found = [self.passing.get(slot) for slot in range(len(node.parents))]
        return [s and s.raw for s in found], tuple(s and s.value for s in found)

    def why_not(self, node: Node, place: Place) -> str:
        """The same, with the line of the cut, if it can be read."""
        own = {node.code: node.at} if node.code else {}
        made = assignments(own | self.codes, place.name)[:1]
        for place.site, line in made:
            place.where, place.source = line.where, line.line
        cut = [f"it was {how}" for how in cuts(made)]
        return cut[0] if cut else super().why_not(node, place)

    def total(self, walk: Walk, sent: Contribution) -> Array:
        return self.passing[sent.slot].after

    def write(self, walk: Walk, sent: Contribution, node: Node, raw: Any, value: Any) -> None:
        parent, ours = node.parents[sent.slot], self.ours(node, sent.slot)
        right = None if ours is None else self.agrees(ours, value, (node, parent))
        if ours is not None and right and ours.shape != raw.shape:
            # PyTorch summed over the stretched axes at once
            raw = ours
        super().write(walk, sent, node, raw, value)
        if ours is not None and right is not None:
            self.compared += 1
            self.agreed += right
            sent.note = OURS.format(short(ours), "too" if right else "but PyTorch does not")

    def ours(self, node: Node, slot: int) -> Array | None:
        """What the rule of the table gives; None where there is none, or where a tensor is too large to be copied."""
        made, given = operation_of(node), (node.saved or ())[slot] or ()
        if made is None or large(self.g, self.passing[slot].value, *given):
            return None
        return array_of(made.rules[slot](self.g[()], *given))  # type: ignore[misc]

    def agrees(self, ours: Array, value: Array, nodes: tuple[Any, ...]) -> bool | None:
        """Whether it is PyTorch's number, to the precision of the nodes' dtypes; None where it has another form."""
        metas, shape = [self.copies.originals[each]._input_metadata[0] for each in nodes], value.shape
        near = max(precision(meta.dtype) for meta in metas)
        axes = stretched_axes(shape, ours.shape)
        if axes is None:
            return None
        ours = ours.sum(axes).reshape(shape)
        if np.array_equal(ours, value):
            return True
        size, most = (np.abs(each)[np.isfinite(each)].max(initial=0.0) for each in (value, self.g))
        return bool(np.allclose(ours, value, rtol=near, atol=near * (size + most / 100), equal_nan=True))
