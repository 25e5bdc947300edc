"""`explain(t)`: one paragraph on a tensor: its place in the graph, and its .grad."""

import ast
import re
from typing import Any

from .. import tape
from ..function import FunctionNode
from ..tape import AccumulateGrad, no_grad
from ..tensor import Node, Tensor
from .names import Source, callers_variables, source, source_of
from .nodes import saved_by
from .pytorch_explained import explain_pytorch
from .pytorch_pass import is_pytorch


def explain(tensor: Any) -> str:
    """What this tensor is to autograd, in a few sentences.

    Says whether it is a leaf, which line made it, what its node saved (bytes, or
    that it was freed), and, when `.grad` is None, exactly why.  TypeError for
    anything but a tensor.

    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> minigrad.explain(x)[:63]
    'A float32 tensor of one number. It is a leaf that requires grad'
    """
    if is_pytorch(tensor):
        return explain_pytorch(tensor, callers_variables())
    if not isinstance(tensor, Tensor):
        raise TypeError(f"explain() takes a tensor of minigrad or of PyTorch, not {type(tensor).__name__}")
    # so that a view whose memory was written to keeps its node
    with no_grad():
        node: Any = tensor._node
    sentences = [what_it_is(tensor, node), what_is_saved(node)]
    if tensor._grad is None:
        sentences.append(f".grad is None because {why(tensor, node)}.")
    else:
        sentences.append("Its .grad holds what backward passes have added up so far.")
    return " ".join(filter(None, sentences))


def what_it_is(t: Tensor, node: Any) -> str:
    """Type and shape; leaf or not, and which line made it."""
    shape = f"shape {tuple(t.shape)}" if t.dim() else "one number"
    kind = f"A {t.dtype.name} tensor of {shape}."
    if node is None:
        return f"{kind} It requires no gradient, so an operation on it alone is not recorded."
    if cut_view(node):
        return f"{kind} It is a view of a tensor that requires grad, but its making was not recorded."
    line = source_of(node.owner).line
    where = f' in the line "{line}"' if line else ""
    if isinstance(node, AccumulateGrad):
        made = f", made{where}" if line else ""
        return f"{kind} It is a leaf that requires grad{made}: backward passes add its gradient to .grad."
    inputs = ["a constant" if p is None else p.owner.name() for p in node.owner.parents]
    several = " and ".join(filter(None, [", ".join(inputs[:-1]), *inputs[-1:]]))
    several = several.replace("torch::autograd::AccumulateGrad", "a leaf")
    return f"{kind} It is not a leaf: {node.owner.name()} made it{where}, from {several}."


def cut_view(node: Any) -> bool:
    """Whether it belongs to a view that was made without recording: it requires grad, and gets none."""
    return isinstance(node, AccumulateGrad) and node.variable is None


def what_is_saved(node: Any) -> str:
    """How many bytes the node saved, under which names; "" for no node."""
    if node is None or isinstance(node, AccumulateGrad):
        return ""
    maker: Node = node.owner
    if maker.saved is None:
        return "What its node had saved was freed by a backward pass, so a second pass would raise an error."
    saved: dict[Any, Any] = saved_by(maker)
    if isinstance(maker, FunctionNode):
        saved = dict(enumerate(maker.saved_tensors))
    found = {name: getattr(value, "_data", value) for name, value in saved.items()}
    arrays = {name: value for name, value in found.items() if hasattr(value, "nbytes")}
    # what else it has is a shape or a constant
    if not arrays:
        return "" if saved else "Its node saves no numbers, so a second backward pass through it alone would work."
    size = sum({id(value): int(value.nbytes) for value in arrays.values()}.values())
    names = f" ({', '.join(sorted(arrays))})" if saved_by(maker) else ""
    return f"Its node saved {size} bytes for the backward pass{names}."


def why(t: Tensor, node: Any) -> str:
    """Why .grad is None."""
    if node is None or cut_view(node):
        return why_no_graph(t)
    if not isinstance(node, AccumulateGrad):
        found = source_of(node)
        if rebound(found):
            return (
                f'the line "{found.line}" bound the name {found.assigned} to a new tensor, which is not a leaf. The '
                "old tensor is the leaf that collects gradients. Update the leaf in place under no_grad instead"
            )
        return "it is not a leaf: its gradient is used and then dropped. Call retain_grad() on it before backward"
    if tape.last_pass is None or tape.last_pass < node.seq:
        return "no backward pass has run since it was made"
    return "the last backward pass did not reach it: no path leads from it to what backward was called on"


def why_no_graph(t: Tensor) -> str:
    """How a tensor without a node lost its history, or never had one."""
    how, code, at = t.__dict__.get("_cut", ("", None, 0))
    found = source(code, at)
    where = f' in "{found.line}"' if found.line else ""
    if how == "detach":
        return f"it was cut off from the graph by detach(){where}"
    if how == "no_grad":
        old = f", which bound {found.assigned} to a new tensor; the leaf is the old one"
        also = old if rebound(found) else ""
        return f"it was computed while recording was switched off (no_grad){where}{also}"
    if not t.dtype.is_floating_point:
        return f"it holds {t.dtype.name} numbers, and only floating-point tensors have gradients"
    return "it was made without requires_grad=True, and from nothing that requires grad"


def rebound(found: Source) -> bool:
    """Whether a line gives a name that it reads a new tensor: `w = w - lr * w.grad`."""
    name = found.assigned
    read = {n.id for n in ast.walk(ast.parse(found.expression)) if isinstance(n, ast.Name)}
    return name in read and re.search(rf"\b{name}\s*=(?!=)", found.line) is not None
