"""`grad`: the derivatives of some tensors with respect to others, leaving every `.grad` alone."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.operations import Nowhere
from minigrad.tape import Node, check_input, given_gradients, run, sequence, starts
from minigrad.tensor import Tensor, wrap

ONLY_INPUTS = (
    "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other parts of "
    "the graph, please use torch.autograd.backward."
)


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor] | dict[Any, Tensor],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> Any:
    """The gradient of the sum of `outputs` (weighted by `grad_outputs`) with respect to each of `inputs`.

    grad_outputs: one tensor of each output's shape, or None for outputs with one element.
    Inputs may be non-leaves.  Returns a tuple (for a dict of inputs
    a dict) with a tensor of each input's shape; None for an unused input under `allow_unused`, zeros under `materialize_grads`.
    RuntimeError if an input is unused or requires no gradient, if there is no graph, or if it was freed.

    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> (slope,) = torch.autograd.grad(x**3, x, create_graph=True)
    >>> torch.autograd.grad(slope, x)
    (tensor(12.),)
    """
    if allow_unused is False and materialize_grads:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    if isinstance(inputs, dict):
        found = grad(
            outputs, tuple(inputs.values()), grad_outputs, retain_graph, create_graph, only_inputs, allow_unused,
            materialize_grads,
        )  # fmt: skip
        return dict(zip(inputs, found, strict=True))
    if not only_inputs:
        warnings.warn(ONLY_INPUTS, FutureWarning, stacklevel=2)
    roots, wanted = sequence(outputs), sequence(inputs)
    if not all(isinstance(root, Tensor) for root in roots):
        raise AssertionError("Expected output to be a torch.Tensor")
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    gradients = given_gradients(grad_outputs, len(roots))
    retain = create_graph if retain_graph is None else retain_graph
    started = starts(roots, gradients, create_graph)
    for t in wanted:
        check_input(t)
        if t._node is None:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
    targets: dict[Node, Any] = {t._node: None for t in wanted if t._node is not None}
    run(started, create_graph, retain, targets)
    results: list[Any] = []
    given: set[int] = set()
    for i, t in enumerate(wanted):
        g = None if isinstance(t._node, Nowhere) else targets[t._node]  # type: ignore[index]
        if g is None:
            if not (allow_unused or materialize_grads):
                raise RuntimeError(
                    f"The differentiated Tensor at index {i} appears to not have been used in the graph. Set "
                    "allow_unused=True if this is the desired behavior."
                )
            if materialize_grads and t.__dict__.get("_edge"):
                raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
            results.append(zeros_like(t).requires_grad_(create_graph) if materialize_grads else None)
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


