"""A backward pass that PyTorch runs, watched by hooks: what each node received and what it sent on.

The pass is `torch.autograd.grad` with retain_graph: it writes to no `.grad`,
frees nothing, and takes nodes in PyTorch's own order.  Hooks of ours, random
generators and what `retain_grad` stored are afterwards as before, also after an error.
"""

import gc
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from .numbers import Array, Extent, facts_of
from .words import GONE

OLDEST = (2, 13)
# numbers; of a larger tensor only a corner is copied
LARGE = 4096
CORNER = 8
# of nodes that are freed one inside the other
CHAIN = 500
# a node of PyTorch, and which of its outputs
Output = tuple[Any, int]

OLD = "this takes PyTorch {}.{} or newer, and not PyTorch {}"
TAKES = "this takes dense PyTorch tensors of numbers, not layout {} on {}"
# by words of PyTorch's errors
NOTES = {
    "second time": GONE,
    "inplace operation": "a line wrote into a tensor that the pass needs. Make a new tensor there, as in y = y + 1.",
    "donated buffers": "torch.compile has compiled the backward pass too: call the function itself.",
    "incompatible with .grad()": "Only backward() goes through checkpoint(use_reentrant=True): "
    "use_reentrant=False can be shown.",
}


def is_pytorch(value: Any) -> bool:
    """Whether this is a tensor of PyTorch; PyTorch is not asked, for it may be missing or switched off."""
    return any((kind.__module__, kind.__name__) == ("torch", "Tensor") for kind in type(value).__mro__)


def is_dense(tensor: Any) -> bool:
    """Whether a tensor of PyTorch holds its numbers one after the other."""
    meta = tensor.device.type == "meta"
    return str(tensor.layout) == "torch.strided" and not tensor.is_nested and not meta


def pytorch() -> Any:
    """The user's PyTorch.  RuntimeError for one that is too old."""
    torch: Any = sys.modules["torch"]
    if tuple(int(n) for n in torch.__version__.split(".")[:2]) < OLDEST:
        raise RuntimeError(OLD.format(*OLDEST, torch.__version__))
    return torch


def edge_of(tensor: Any) -> Output:
    """The node that a tensor came from, and which of its outputs it is."""
    edge = pytorch().autograd.graph.get_gradient_edge(tensor)
    return edge.node, edge.output_nr


def is_leaf(node: Any) -> bool:
    return bool(node.name().endswith("AccumulateGrad"))


# ------------------------------------------------------ numbers
class Arrays:
    """Arrays of tensors: one for each memory, so that what is the same tensor stays the same array."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.known: dict[Any, tuple[Array, Any]] = {}

    def __call__(self, tensor: Any) -> Array:
        """The array of a tensor that lives until the recording is made."""
        t = tensor.to_dense()
        key = t.data_ptr(), tuple(t.shape), t.stride(), t.dtype, t.device, t.is_conj()
        if key not in self.known:
            # the tensor stays here: its memory is not given to another one
            array = self.copied(t)
            self.known[key] = array if array.ndim else array[()], t
        return self.known[key][0]

    def copied(self, tensor: Any) -> Array:
        """A copy on the CPU; of a large tensor only its extent."""
        torch, t = self.torch, tensor.detach().to_dense().resolve_conj().resolve_neg()
        if t.dtype in (torch.bfloat16, torch.float16):
            t = t.float()
        if t.numel() > LARGE:
            part = corner(t).cpu().numpy().copy()
            return Extent.of((*t.shape,), part, facts_of(t.cpu().numpy()))
        return np.array(t.cpu().numpy())


def corner(t: Any) -> Any:
    """The first numbers of the first rows, as a matrix."""
    first = t[(0,) * max(0, t.ndim - 2)]
    return first[None, :CORNER] if t.ndim == 1 else first[:CORNER, :CORNER]


# ------------------------------------------------------ the pass
@dataclass(slots=True)
class Sent:
    """What a node sent to one of its inputs: as its rule gave it, in the input's shape, and the sum so far."""

    raw: Array
    value: Array
    after: Array


@dataclass(slots=True)
class Move:
    """A node that ran: the gradients of its outputs, and what it sent to each input."""

    node: Any
    received: list[Array | None]
    sent: list[Sent | None] = field(default_factory=list)
    # of a leaf: its .grad after the pass
    total: Array | None = None


class Pass:
    """One pass from `root`: `moves`, in the order in which the nodes ran."""

    def __init__(self, torch: Any, root: Any, gradient: Any, arrays: Arrays) -> None:
        self.torch, self.root, self.gradient, self.arrays = torch, root, gradient, arrays
        self.start = edge_of(root)
        self.nodes = reachable(self.start[0])
        self.edges = {n: list(n.next_functions) for n in self.nodes}
        self.expected = Counter((p, nr) for edges in self.edges.values() for p, nr in edges if p is not None)
        self.arrived: Counter[Output] = Counter()
        self.sums: dict[Output, Any] = {}
        # what each received, and its .grad after the pass
        self.leaves: dict[Any, Any] = {}
        self.moves: list[Move] = []

    def run(self) -> None:
        """Let PyTorch walk.  Its errors get a note."""
        leaves = [n for n in self.nodes if is_leaf(n)]
        handles: list[Any] = []
        with unchanged(self.torch, self.nodes):
            try:
                handles += [n.register_hook(partial(self.seen, n)) for n in self.watched()]
                handles += [n.variable.register_hook(partial(self.stored, n)) for n in leaves]
                self.torch.autograd.grad(
                    self.root, [n.variable for n in leaves], self.gradient, retain_graph=True, allow_unused=True
                )
            except RuntimeError as error:
                raise noted(error) from None
            finally:
                for handle in handles:
                    handle.remove()
        if is_leaf(self.start[0]):
            self.moves.append(Move(self.start[0], []))
        for move in self.moves:
            if move.node in self.leaves:
                move.received, move.total = self.leaves[move.node]

    def stored(self, leaf: Any, g: Any) -> Any:
        """A leaf's gradient is complete.  PyTorch would keep them all to the end: it is given zeros, which need no memory."""
        copied, old = self.arrays.copied, leaf.variable.grad
        total = old if old is None else copied(old.to_dense() + g.to_dense())
        self.leaves[leaf] = [copied(g)], total
        return None if g.is_sparse else g.new_zeros(()).expand_as(g)

    def watched(self) -> list[Any]:
        """The nodes that get a hook."""
        return [n for n in self.nodes if not is_leaf(n)]

    def fold_transposes(self) -> None:
        """`linear` reads as it was written: the transpose that it makes of its weight belongs to it."""
        by_node, folded = {move.node: move for move in self.moves}, set[Any]()
        for node, edges in self.edges.items():
            turned = edges[2][0] if node.name() == "AddmmBackward0" else None
            if turned is not None and turned.name() == "TBackward0" and self.expected[turned, 0] == 1:
                edges[2] = self.edges[turned][0]
                by_node[node].sent[2] = by_node[turned].sent[0]
                folded.add(turned)
        self.moves = [move for move in self.moves if move.node not in folded]

    def seen(self, node: Any, sent: tuple[Any, ...], received: tuple[Any, ...]) -> None:
        """A node has run."""
        copied = self.arrays.copied
        move = Move(node, [None if g is None else copied(g) for g in received])
        self.moves.append(move)
        for edge, g in zip(self.edges[node], sent):
            nothing = edge[0] is None or g is None
            move.sent.append(None if nothing else self.arriving(edge, g))
            self.arrived[edge] += 1
            # PyTorch takes a leaf as soon as its gradient is complete
            if self.arrived[edge] == self.expected[edge] and is_leaf(edge[0]):
                self.moves.append(Move(edge[0], []))

    def arriving(self, to: Output, g: Any) -> Sent:
        """A contribution, brought to the shape of what it is for and added to what is there."""
        meta = to[0]._input_metadata[to[1]]
        value = g.to_dense()
        raw = own = self.arrays.copied(value)
        if value.shape != meta.shape or value.dtype != meta.dtype:
            value = value.sum_to_size(meta.shape).to(meta.dtype)
            own = self.arrays.copied(value)
        if self.expected[to] == 1:
            return Sent(raw, own, own)
        before = self.sums.pop(to, None)
        total = value if before is None else before + value
        if self.arrived[to] + 1 < self.expected[to]:
            self.sums[to] = total
        return Sent(raw, own, own if before is None else self.arrays.copied(total))


class Crossings(Pass):
    """A pass through very many nodes, each in a box: only what leaves a box is noted."""

    # of each node
    box: dict[Any, int]
    # by box and box: the sum for each tensor
    crossing: dict[tuple[int, int], dict[Output, Any]]

    def watched(self) -> list[Any]:
        box, edges = self.box, self.edges
        return [n for n, here in box.items() if any(box.get(p, here) != here for p, _ in edges[n])]

    def seen(self, node: Any, sent: tuple[Any, ...], received: tuple[Any, ...]) -> None:
        here = self.box[node]
        for edge, g in zip(self.edges[node], sent):
            there = self.box.get(edge[0], here)
            if there != here and g is not None:
                sums = self.crossing.setdefault((here, there), {})
                before = sums.get(edge)
                sums[edge] = g if before is None else before + g


def reachable(root: Any) -> list[Any]:
    """The nodes that a pass from here goes through.

    PyTorch frees nodes that Python has seen one inside the other, and a long
    chain of them overflows the stack: so some hold those before them.
    """
    seen, waiting, found = {root}, [root], []
    while waiting:
        node = waiting.pop()
        found.append(node)
        for parent, _ in node.next_functions:
            if parent is not None and parent not in seen:
                seen.add(parent)
                waiting.append(parent)
    made = [n for n in found if not is_leaf(n)]
    made.sort(key=lambda n: n._sequence_nr())
    for i in range(len(made) - 1, CHAIN, -CHAIN):
        made[i].metadata["minigrad"] = made[i - CHAIN : i]
    return found


def noted(error: RuntimeError) -> RuntimeError:
    """PyTorch's error with a sentence on what to do."""
    for words, note in NOTES.items():
        if words in str(error):
            error.add_note(f"minigrad: {note}")
    return error


@contextmanager
def unchanged(torch: Any, nodes: list[Any]) -> Iterator[None]:
    """What a pass may change besides `.grad` of leaves is put back: random generators, retained gradients."""
    graph = set(nodes)
    tensors = [t for t in gc.get_objects() if type(t) is torch.Tensor and t.requires_grad]
    retained = [(t, t.grad) for t in tensors if t.retains_grad and t.grad_fn in graph]
    leaves = [n.variable for n in nodes if is_leaf(n)]
    bare = [t for t in leaves if t._backward_hooks is None]
    with random_state(torch):
        try:
            yield
        finally:
            for tensor, grad in retained:
                tensor.grad = grad
            for tensor in bare:
                tensor._backward_hooks = None


def random_state(torch: Any) -> Any:
    """The random generators are afterwards as before."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    return torch.random.fork_rng(devices)
