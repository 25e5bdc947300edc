"""`grad`: the derivatives of some tensors with respect to others, leaving every `.grad` alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.shapes import stack
from minigrad.tape import Node, check_graphs, given_gradients, run, sequence
from minigrad.tensor import Tensor, wrap

UNUSED = (
    "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is the "
    "desired behavior."
)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradient of the sum of `outputs` (weighted by `grad_outputs`) with respect to each of `inputs`.

    grad_outputs: one tensor of each output's shape, or None for outputs with one element; with `is_grads_batched` each has
    one dimension more in front, and so have the results.  Inputs may be non-leaves.  Returns a tuple with a tensor of each
    input's shape; None for an unused input under `allow_unused`, zeros under `materialize_grads`.
    RuntimeError if an input is unused or requires no gradient, if there is no graph, or if it was freed.
    """
    if allow_unused is False and materialize_grads:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    roots, wanted = sequence(outputs), sequence(inputs)
    if not wanted:
        raise ValueError("grad requires non-empty inputs.")
    gradients = given_gradients(grad_outputs, len(roots))
    retain = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        return _batched(roots, wanted, gradients, retain, create_graph, bool(allow_unused), materialize_grads)
    check_graphs(roots)
    for t in wanted:
        if t._node is None:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    targets: dict[Node, Any] = {t._node: None for t in wanted if t._node is not None}
    run(roots, gradients, create_graph, retain, targets)
    results: list[Any] = []
    given: set[int] = set()
    for t in wanted:
        g = targets[t._node]  # type: ignore[index]
        if g is None:
            if not (allow_unused or materialize_grads):
                raise RuntimeError(UNUSED)
            results.append(zeros_like(t) if materialize_grads else None)
        elif create_graph:
            results.append(g)
        else:
            shared = id(g) in given or g.base is not None  # two results must not be one array
            given.add(id(g))
            results.append(wrap(g.copy() if shared else g))
    return tuple(results)


def zeros_like(t: Tensor) -> Tensor:
    """Zeros of this tensor's shape and type."""
    return wrap(np.zeros(t._data.shape, t._data.dtype)[()])


def _batched(
    roots: Any, wanted: Any, gradients: Any, retain: bool, create_graph: bool, allow_unused: bool, zeros: bool
) -> tuple[Any, ...]:
    n = next(len(g) for g in gradients if g is not None)
    rows = [
        grad(
            roots,
            wanted,
            [None if g is None else g[i] for g in gradients],
            retain_graph=retain or i < n - 1,
            create_graph=create_graph,
            allow_unused=allow_unused,
            materialize_grads=zeros,
        )
        for i in range(n)
    ]
    return tuple(None if column[0] is None else stack(column) for column in zip(*rows, strict=True))
