"""`record(loss)` of a tensor of PyTorch.

pytorch_pass.py lets PyTorch walk and writes down what passes; here each of
its nodes becomes a node of ours (pytorch_rows.py says of which row of the
table), so that names, values, rules and sentences come from where those of
minigrad's own passes come from.  The numbers are PyTorch's; beside each stands
what our rule gives, and where the two differ the recording says so.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from minigrad.function import Output
from minigrad.operation import Operation, new
from minigrad.record.moves import Contribution
from minigrad.record.names import variables
from minigrad.record.nodes import Unlisted, array_of, operation_of
from minigrad.record.numbers import Array, Extent, short
from minigrad.record.places import Graph
from minigrad.record.pytorch_pass import TAKES, Arrays, Move, Pass, Sent, edge_of, is_leaf, pytorch
from minigrad.record.pytorch_rows import row_of
from minigrad.record.recording import Recording
from minigrad.record.steps import Recorder
from minigrad.tape import AccumulateGrad, Walk, stretched_axes
from minigrad.tensor import Node, Tensor, wrap

NO_GRAPH = "this tensor has no backward pass: it does not require grad and does not have a grad_fn"
AGREES = "PyTorch computed these numbers; the rules of minigrad's table give the same ({} of {} contributions)"
# joins of several inputs: each gets back its part
JOINS = ("CatBackward0", "StackBackward0")
# by PyTorch's names of dtypes: how far two right results may lie apart
PRECISION = {"bfloat16": 3e-2, "float16": 4e-3, "float64": 1e-9, "complex128": 1e-9}


def record(root: Any, gradient: Any, names: Mapping[str, Any], values: Mapping[Any, Any]) -> Recording:
    """The backward pass of a tensor of PyTorch, which PyTorch itself runs; nothing is changed or freed.

    Takes and raises what `record` in recorder.py does; TypeError for sparse and nested tensors.
    """
    torch = pytorch()
    check_taken(torch, root)
    if not root.requires_grad:
        raise RuntimeError(NO_GRAPH)
    given = gradient is not None
    if given and not isinstance(gradient, torch.Tensor):
        gradient = torch.as_tensor(gradient, dtype=root.dtype, device=root.device).expand(root.shape)
    arrays = Arrays(torch)
    passed = Pass(torch, root, gradient, arrays)
    passed.run()
    copies = Copies(torch, passed, arrays)
    with np.errstate(all="ignore"):
        graph = Graph(copies.root, copies.nodes, copies.namespace(names), copies.values(values))
        watched = Watched(graph, copies)
        watched.replay(passed.moves)
    seed = np.ones_like(copies.root._data) if gradient is None else arrays.copied(gradient)
    start = graph.place[copies.start]
    remark = AGREES.format(watched.agreed, watched.compared) if watched.compared else ""
    return Recording(start, graph.places, graph.edges, watched.steps, seed, given, remark)


def check_taken(torch: Any, root: Any) -> None:
    """TypeError for a tensor that cannot be shown."""
    kind = "" if root.layout is torch.strided else f"one of layout {root.layout}"
    kind = "a nested tensor" if root.is_nested else kind
    if not kind and torch._C._functorch.is_functorch_wrapped_tensor(root):
        kind = "one inside torch.func"
    if not kind and root.device.type == "meta":
        kind = "one on the meta device, which has no numbers"
    if kind:
        raise TypeError(TAKES.format(kind))


class Copies:
    """Nodes and tensors of ours for those of a pass, oldest first."""

    def __init__(self, torch: Any, passed: Pass, arrays: Arrays) -> None:
        self.torch, self.passed, self.arrays = torch, passed, arrays
        self.of: dict[tuple[Any, int], Node] = {}  # by node and output
        self.originals: dict[Node, Any] = {}
        self.nodes: list[Node] = []
        self.slots: dict[Node, list[int]] = {}  # for each of their inputs, which of ours
        self.leaves: list[Tensor] = []  # a node holds its leaf by a weak reference
        outputs: dict[Any, set[int]] = {passed.start[0]: {passed.start[1]}}
        for parent, nr in passed.expected:
            outputs.setdefault(parent, set()).add(nr)
        for move in reversed(passed.moves):
            self.enter(move.node, sorted(outputs[move.node]))
        self.start = self.of[passed.start]
        self.root = wrap(arrays(passed.root), self.start)

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
        function = getattr(type(theirs), "_forward_cls", None)
        if function is not None and not function.__module__.startswith("torch."):
            return self.function(theirs, function, parents)
        node: Node
        shapes = [None if p is None else p._input_metadata[nr].shape for p, nr in edges]
        turned = theirs.next_functions != tuple(edges)
        metas = [p._input_metadata[nr] for p, nr in edges if p is not None] + list(theirs._input_metadata)
        # the rules of the table are for real numbers
        complex_too = any(meta.dtype.is_complex for meta in metas)
        found = None if complex_too else row_of(theirs, shapes, self.arrays, turned)
        if found is not None:
            row, known = found
            inputs: list[Node | None] = [None] * len(row.rules)
            at = slots_of(theirs, row)
            for i, parent in zip(at, parents, strict=False):
                inputs[i] = parent
            pairs = list(zip(row.arguments, inputs, strict=True))
            if len(at) >= len(edges) and all(w in known for words, p in pairs if p is not None for w in words):
                node = new(row.kind)
                node.parents = tuple(inputs)
                node.saved = tuple(None if p is None else tuple(known[w] for w in words) for words, p in pairs)
                self.slots[node] = at
                return node
        name = theirs.name().rpartition(":")[2]
        kind: Any = type(name, (Node if name in JOINS else Unlisted,), {"__module__": "builtins"})
        node = new(kind)
        node.parents, node.saved = tuple(parents), ((),) * len(parents)
        return node

    def function(self, theirs: Any, function: Any, parents: list[Node | None]) -> Node:
        """The node of a custom Function, which shows the lines of its backward."""
        saved = [t if t is None else self.tensor(t) for t in theirs.saved_tensors]
        content = {"__module__": "builtins", "function": function, "saved_tensors": saved}
        node: Node = new(type(f"{function.__name__}Backward", (Node,), content))
        node.parents, node.saved = tuple(parents), ((),) * len(parents)
        return node

    def tensor(self, theirs: Any) -> Tensor:
        """A tensor of ours for one of PyTorch, with its node if that is part of the pass."""
        node = self.of.get(edge_of(theirs)) if theirs.requires_grad else None
        return wrap(self.arrays(theirs), node)

    def namespace(self, names: Mapping[str, Any]) -> dict[str, Tensor]:
        """The user's variables as tensors of ours: those of the pass, and constants."""
        found = variables(names, self.torch.Tensor)
        dense = ((n, t) for n, t in found if t.layout is self.torch.strided and not t.is_nested)
        both = ((name, t, self.tensor(t)) for name, t in dense if t.device.type != "meta")
        return {name: copy for name, t, copy in both if copy._node is not None or not t.requires_grad}

    def values(self, known: Mapping[Any, Any]) -> dict[Node, Any]:
        """Values that were noted while a function ran, by our nodes."""
        return {self.of[edge]: self.arrays(t) for edge, t in known.items() if edge in self.of}


def slots_of(theirs: Any, row: Operation) -> list[int]:
    """For each input of a node of PyTorch, which input of the row it is."""
    ruled = [i for i, rule in enumerate(row.rules) if rule is not None]
    return ruled[1:] if theirs.name() == "PowBackward2" else ruled


def precision(theirs: Any) -> float:
    """How near two right results are in the dtype of a node's output."""
    return PRECISION.get(str(theirs._input_metadata[0].dtype).rpartition(".")[2], 1e-4)


class Watched(Recorder):
    """Writes down what PyTorch did, and compares it with our rules."""

    def __init__(self, graph: Graph, copies: Copies) -> None:
        super().__init__(graph)
        self.copies = copies
        self.compared = self.agreed = 0
        self.passing: dict[int, Sent] = {}

    def replay(self, moves: list[Move]) -> None:
        """Write down the moves of a pass."""
        for move in moves:
            of = ((self.copies.of.get((move.node, nr)), g) for nr, g in enumerate(move.received))
            known = [(node, g) for node, g in of if node is not None and g is not None]
            for node, g in known:
                if isinstance(node, AccumulateGrad):
                    self.store(node, self.changed(node, g))
                else:
                    self.one(node, g, [Sent(g, g, g)] if isinstance(node, Output) else move.sent)
            if known and isinstance(known[0][0], Output):
                self.one(known[0][0].owner, known[0][1], move.sent)

    def one(self, node: Node, g: Array, sent: list[Sent | None]) -> None:
        """One step, with what the node sent to each of its inputs."""
        slots = self.copies.slots.get(node, range(len(sent)))
        self.passing = {slot: each for slot, each in zip(slots, sent, strict=False) if each is not None}
        self.g = self.changed(node, g)
        self.step(Adding(), node, self.g)

    def changed(self, node: Node, g: Array) -> Array:
        """The gradient as PyTorch passed it on; noted where a hook had changed the sum."""
        i = self.graph.place[node]
        return g if i not in self.sums or node.shape is None else self.hooked(i, g, self.sums[i])

    def sent(self, walk: Walk, node: Node, g: Any) -> tuple[Any, tuple[Any, ...]]:
        slots = range(len(node.parents))
        found = [self.passing.get(slot) for slot in slots]
        return [s and s.raw for s in found], tuple(s and s.value for s in found)

    def write(self, walk: Walk, sent: Contribution, node: Node, raw: Any, value: Any) -> None:
        ours = self.ours(node, sent.slot)
        both = (node, node.parents[sent.slot])
        near = max(precision(self.copies.originals[each]) for each in both if each is not None)
        right = ours is not None and self.agrees(ours, value, near)
        if ours is not None and right and ours.shape != raw.shape:
            raw = ours  # PyTorch summed over the stretched axes at once
        super().write(Adding(self.passing[sent.slot].after), sent, node, raw, value)
        if ours is not None:
            self.compared += 1
            self.agreed += right
            sent.note = "" if right else f"The rule of minigrad's table gives {short(ours)} here"

    def ours(self, node: Node, slot: int) -> Array | None:
        """What the rule of the table gives; None where there is none, or where a tensor is too large to be copied."""
        made, given = operation_of(node), (node.saved or ())[slot] or ()
        if made is None or any(isinstance(each, Extent) for each in (self.g, *given)):
            return None
        return array_of(made.rules[slot](self.g[()], *given))  # type: ignore[misc]

    def agrees(self, ours: Array, value: Array, near: float) -> bool:
        """Whether it is PyTorch's number, to this relative precision."""
        shape = value.shape
        axes = stretched_axes(shape, ours.shape) if ours.shape != shape else ()
        if axes is None:
            return False
        ours = ours.sum(axes, keepdims=True).reshape(shape) if axes else ours.reshape(shape)
        size, most = (np.abs(each)[np.isfinite(each)].max(initial=0.0) for each in (value, self.g))
        return bool(np.allclose(ours, value, rtol=near, atol=near * (size + most / 100), equal_nan=True))


class Adding(Walk):
    """Adds nothing: it knows what PyTorch has added up."""

    def __init__(self, after: Array | None = None) -> None:
        super().__init__([])
        self.after = after

    def join(self, before: Array, value: Array) -> Any:
        return self.after
