"""`explain(t)`: one paragraph on a tensor: where it stands in the graph, what its node keeps, and why .grad is None."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from minigrad import tape
from minigrad.errors import source_line
from minigrad.function import FunctionNode
from minigrad.tape import AccumulateGrad, Node
from minigrad.tensor import Tensor


def explain(tensor: Tensor) -> str:
    """What this tensor is to autograd, in a few sentences.

    Says whether it is a leaf, which line made it, what its node saved (bytes, or that it was freed), and, when `.grad` is
    None, exactly why.  TypeError for anything but a tensor.

    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> minigrad.explain(x)[:63]
    'A float32 tensor of one number. It is a leaf that requires grad'
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"explain() takes a tensor, not {type(tensor).__name__}")
    return " ".join([_what(tensor), *_saved(tensor), _gradient(tensor)])


def _what(t: Tensor) -> str:
    shape = f"shape {tuple(t.shape)}" if t.dim() else "one number"
    kind = f"A {t.dtype.name} tensor of {shape}."
    node = t._node
    if node is None:
        return f"{kind} It requires no gradient, so nothing done with it alone is recorded."
    if _is_cut_view(node):
        return f"{kind} It is a view of a tensor that requires grad, but how it was made was not recorded."
    if isinstance(node, AccumulateGrad):
        return f"{kind} It is a leaf that requires grad{_line(node)}: backward passes add its gradient to .grad."
    maker = node.owner
    inputs = ", ".join("a constant" if p is None else p.owner.name() for p in maker.parents)
    return f"{kind} It is not a leaf: {maker.name()} made it{_line(maker)}, from {inputs}."


def _is_cut_view(node: Node | None) -> bool:
    """Whether it belongs to a view that was made without recording: it requires grad, and gets none."""
    return isinstance(node, AccumulateGrad) and node.variable is None


def _saved(t: Tensor) -> list[str]:
    node = t._node
    if node is None or isinstance(node, AccumulateGrad):
        return []
    maker = node.owner
    if maker.saved is None:
        return ["What its node had saved was freed by a backward pass: a second one would raise."]
    held = _bytes(maker)
    if not held:
        return ["Its node saves no numbers, so a second backward pass through it alone would work."]
    names = sorted({name for n in _saved_names(maker) for name in n}) if not isinstance(maker, FunctionNode) else []
    what = f" ({', '.join(names)})" if names else ""
    return [f"Its node saves {held} bytes for the backward pass{what}."]


def _saved_names(node: Node) -> list[list[str]]:
    made = node.operation
    return [
        [n for n in names if n in ("out", *made.inputs)]
        for names, args in zip(made.arguments, node.saved or (), strict=True)
        if args is not None
    ]


def _bytes(node: Node) -> int:
    values: dict[int, Any] = {}
    for args in node.saved or ():
        for value in args or ():
            array = value._data if isinstance(value, Tensor) else value
            if isinstance(array, (np.ndarray, np.generic)):
                values[id(array)] = array
    return sum(int(v.nbytes) for v in values.values())


def _gradient(t: Tensor) -> str:
    if t._grad is not None:
        return "Its .grad holds what backward passes have added up so far."
    return f".grad is None because {_why(t)}."


def _why(t: Tensor) -> str:
    node = t._node
    if node is None or _is_cut_view(node):
        return _why_no_graph(t)
    if not isinstance(node, AccumulateGrad):
        name = _rebound(node)
        if name:
            return (
                f"the line {_quote(node)} bound the name {name} to a new tensor, which is not a leaf: the tensor that "
                f"collects gradients is the old one. Update it in place under no_grad instead"
            )
        return "it is not a leaf: its gradient passes through and is not stored. Call retain_grad() on it before backward"
    if tape.last_pass is None or tape.last_pass > node.seq:
        return "no backward pass has run since it was made"
    return "the last backward pass did not reach it: no path leads from it to what backward was called on"


def _why_no_graph(t: Tensor) -> str:
    how, code, at = t.__dict__.get("_cut", ("", None, 0))
    line = source_line(code, at)
    where = f' in "{line}"' if line else ""
    if how == "detach":
        return f"it was cut off from the graph by detach(){where}"
    if how == "no_grad":
        name = _assigned_from_itself(line)
        also = f", which bound {name} to a new tensor; the leaf is the old one" if name else ""
        return f"it was computed while recording was switched off (no_grad){where}{also}"
    if not t.dtype.is_floating_point:
        return f"it holds {t.dtype.name} numbers, and only floating-point tensors have gradients"
    return "it was made without requires_grad=True, and from nothing that requires grad"


def _rebound(node: Node) -> str | None:
    return _assigned_from_itself(source_line(node.code, node.at))


def _assigned_from_itself(line: str | None) -> str | None:
    """The name w in a line like `w = w - lr * w.grad`."""
    try:
        tree = ast.parse(line or "")
    except SyntaxError:  # a part of a longer statement: no single assignment to look at
        return None
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(statement.value)):
                return name
    return None


def _line(node: Node) -> str:
    line = source_line(node.code, node.at)
    return f' (made in "{line}")' if line else ""


def _quote(node: Node) -> str:
    return f'"{source_line(node.code, node.at)}"'
