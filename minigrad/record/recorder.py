"""`record(loss)`: a backward pass written down, not run.

There is no walk here: the walk of tape.py runs, with methods that write down
what passes (steps.py).  So a recording cannot differ from what `backward()`
does; no `.grad` changes, and nothing is freed.  Of a tensor of PyTorch it is
PyTorch's own pass that is written down (pytorch.py).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import errors, tape
from ..tape import Walk
from ..tensor import Node, Tensor
from . import pytorch
from .names import callers_variables
from .nodes import array_of, operation_of
from .places import Graph
from .pytorch_pass import is_pytorch
from .recording import Recording
from .steps import Recorder
from .words import GONE


def record(
    root: Any, gradient: Any = None,
    names: Mapping[str, Any] | None = None, values: Mapping[Any, Any] | None = None,
) -> Recording:
    """The backward pass of `root` as data: nothing is run, changed or freed.

    root: a tensor that requires a gradient, of minigrad or of PyTorch.  gradient: what the pass starts
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
    names = callers_variables() if names is None else names
    if is_pytorch(root):
        return pytorch.record(root, gradient, names, values or {})
    if not isinstance(root, Tensor):
        raise TypeError(f"record() takes a tensor of minigrad or of PyTorch, not {type(root).__name__}")
    if root._node is None:
        raise RuntimeError(pytorch.NO_GRAPH)
    ((_, seed),) = (tape.chosen or Walk).started((root,), (gradient,), False)
    nodes = ancestry(root._node)
    with unpacked(nodes), tape.set_grad_enabled(False), np.errstate(all="ignore"):
        graph = Graph(root, nodes, names, values or {})
        recorder = Recorder(graph)
        recorder.run(root._node, seed)
    parts = graph.place[root._node], graph.places, graph.edges, recorder.steps
    return Recording(*parts, array_of(seed), gradient is not None)


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
        for node, saved in zip(packed, before):
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
