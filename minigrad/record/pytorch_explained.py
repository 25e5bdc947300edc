"""`explain(t)` of a tensor of PyTorch: its place in the graph, and why its .grad is what it is."""

import linecache
import re
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType
from typing import Any

from .names import Source, variables
from .pytorch_lines import Line, assignments, operations, user_code
from .pytorch_pass import edge_of, pytorch, reachable

CUT = re.compile(r"\.(detach|data|item|tolist|numpy|argmax|argmin|no_grad|inference_mode)\b")


def explain_pytorch(tensor: Any, names: Mapping[str, Any]) -> str:
    """A few sentences on a tensor of PyTorch, in the words of `explain` in explanation.py.

    names: the user's variables; the losses among them tell what reaches the tensor.
    """
    found, codes = list(variables(names, pytorch().Tensor)), user_code(names)
    name = next((n for n, t in found if t is tensor), "")
    lines = assignments(codes, name)[:1] if name else []
    where = "".join(f' in the line "{line.line}"' for _, line in lines)
    kind = f"A {tensor.dtype} tensor of shape {tuple(tensor.shape)}."
    if not tensor.requires_grad:
        frozen = ": its requires_grad is False" if name and tensor.grad_fn is None and not lines else ""
        why = "".join(f": {cut}" for cut in cuts(lines)) or frozen or ": nothing that it came from does"
        return f"{kind} It requires no gradient, so it gets no .grad{why}."
    if not tensor.is_leaf:
        made = f"{tensor.grad_fn.name()} made it{where}"
        return f"{kind} It is no leaf: {made}. retain_grad() gives it a .grad."
    losses = [(n, t) for n, t in found if t.grad_fn is not None and t.numel() == 1]
    reached = [n for n, t in losses if edge_of(tensor)[0] in reachable(t.grad_fn)]
    if tensor.grad is not None:
        zero = not tensor.grad.to_dense().any()
        why = "is 0 in every number" if zero else "holds the sum of the passes so far"
    elif reached:
        why = f"is None because {reached[-1]}.backward() has not run"
    else:
        # an update reads a gradient, and leads to no loss
        ran = ([x for x in operations(c) if x[0][1] < at and ".grad" not in x[1].line] for c, at in codes.items())
        near = ([*cuts(leading([n for n, _ in losses], done[::-1]))] for done in ran)
        why = f"is None because no path leads to it from {losses[-1][0] if losses else 'any loss'}"
        why += "".join(f": {cut}" for cut in dict.fromkeys(next(filter(None, near), [])))
    return f"{kind} It is a leaf that requires grad{where and f', made{where}'}. Its .grad {why}."


def leading(names: list[str], lines: list[Line]) -> list[Line]:
    """Of these lines, those that lead to one of the names: they compute it, or what it is computed from."""
    wanted, found, size = {*names}, list[Line](), -1
    while size < len(wanted):
        size = len(wanted)
        found = [(s, x) for s, x in lines if x.assigned in wanted or x.line[:6] == "return"]
        words = (re.findall(r"[A-Za-z_]\w*", x.line) for _, x in found)
        wanted.update(*words)
    return found


def cuts(lines: Iterable[Line]) -> Iterator[str]:
    """What cuts a graph in these lines or around them, with its line."""
    for (code, _), line in lines:
        for each in (line, *around(code, line)):
            found = CUT.search(each.expression)
            if found:
                yield f'cut by {found[1]}, in {each.where}: "{each.line}"'


def around(code: CodeType, line: Source) -> Iterator[Source]:
    """The `with` blocks around a line, from the inside out, and the decorators of its function."""
    stem = line.where.rstrip("0123456789")
    at, depth = int(line.where[len(stem) :]), 1000
    for n in range(at, code.co_firstlineno - 1, -1):
        text = linecache.getline(code.co_filename, n)
        head, indent = text.strip(), len(text) - len(text.lstrip())
        if head and indent < depth:
            depth = indent + head.startswith(("def", "@"))
            if head.startswith(("with", "@")):
                yield Source(f"{stem}{n}", head, head)
