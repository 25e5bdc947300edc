"""`grad`: derivatives with respect to some tensors; every `.grad` is left alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad.operation import public
from minigrad.tape import Node, check_input, given_gradients, run, sequence, starts
from minigrad.tensor import Tensor, wrap

UNUSED = (
    "The differentiated Tensor at index {} appears to not have been used in "
    "the graph. Set allow_unused=True if this is the desired behavior."
)
NOT_BOTH = (
    "Expected allow_unused to be True or not passed when "
    "materialize_grads=True, but got: allow_unused=False."
)


@public
def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    *,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """The gradient of the sum of `outputs` with respect to each of `inputs`.

    grad_outputs: the weights in that sum, a tensor of each output's shape, or
    None for outputs of one element.  Inputs need not be leaves.  Returns a
    tensor of each input's shape; for an unused input None under `allow_unused`,
    zeros under `materialize_grads`.  RuntimeError if an input is unused or
    requires no gradient, if there is no graph, or if it was freed.

    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> (slope,) = torch.autograd.grad(x**3, x, create_graph=True)
    >>> torch.autograd.grad(slope, x)
    (tensor(12.),)
    """
    if allow_unused is False and materialize_grads:
        raise ValueError(NOT_BOTH)
    roots, wanted = sequence(outputs), sequence(inputs)
    if not all(isinstance(root, Tensor) for root in roots):
        raise AssertionError("Expected output to be a torch.Tensor")
    if not wanted:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    started = starts(roots, given_gradients(grad_outputs, len(roots)), create_graph)
    targets: dict[Node, Any] = {}
    for t in wanted:
        check_input(t)
        if t._node is None:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        targets[t._node] = None
    run(started, create_graph, create_graph if retain_graph is None else retain_graph, targets)
    found: list[Any] = []
    for i, t in enumerate(wanted):
        g = targets[t._node] if t._node is not None else None
        if g is None and not (allow_unused or materialize_grads):
            raise RuntimeError(UNUSED.format(i))
        if g is None:
            zeros = zeros_like(t).requires_grad_(create_graph)
            found.append(zeros if materialize_grads else None)
        else:  # no two results may be one array
            found.append(g if create_graph else wrap(g.copy()))
    return tuple(found)


def zeros_like(t: Tensor) -> Tensor:
    """Zeros of this tensor's shape and type."""
    return wrap(np.zeros(t._data.shape, t._data.dtype)[()])
