"""What a tensor is called in the student's own code.

A node of the tape remembers the instruction that made it. From that, and from the caller's variables, come
the names that every picture and transcript uses: the variable that holds the tensor now; else the one it was
assigned to; else the piece of source that made it, `x @ w`; else the operation's symbol. Nothing is guessed:
a piece of source counts only if it is the very operation that the node is.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

from minigrad.tape import Node
from minigrad.tensor import Tensor

SYMBOLS = {
    "add": "+", "sub": "-", "rsub": "-", "mul": "*", "div": "/", "pow": "**", "neg": "-", "matmul": "@", "mm": "@",
    "bmm": "@", "mv": "@", "dot": "@", "select": "[ ]", "slice": "[ ]", "index": "[ ]", "view": "reshape",
    "accumulategrad": "", "output": "", "unsafeview": "@", "copyslices": "[ ]=", "copybackwards": "=", "tocopy": "to",
    "nativelayernorm": "layer_norm", "linalgvectornorm": "norm", "logsoftmax": "log_softmax", "convolution": "conv",
    **{f"maxpool{n}dwithindices": f"max_pool{n}d" for n in (1, 2, 3)},
}  # fmt: skip
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@", ast.USub: "-",
}  # fmt: skip
SPELLINGS = {
    "reshape": ("view", "reshape", "flatten", "ravel", "unflatten"), "permute": ("T", "permute"),
    "transpose": ("mT", "T", "t", "transpose", "swapaxes"), "@": ("@", "matmul", "mm", "bmm", "mv", "dot"),
    "to": ("to", "type", "float", "double", "half", "bfloat16"), "[ ]=": ("[ ]=",), "=": ("copy",),
    "+": ("+", "add"), "-": ("-", "neg", "sub"), "*": ("*", "mul", "/"), "/": ("/", "div"), "**": ("**", "pow", "square"),
    "[ ]": ("[ ]",),
}  # fmt: skip
NUMBERED = re.compile(r" \((\d+)\)$")
LOW = str.maketrans("0123456789", "\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089")
LONGEST = 28  # of an expression that serves as a name


def symbol(kind: str) -> str:
    """`*` for MulBackward0, `relu` for ReluBackward0, the class's name for a custom Function."""
    plain = kind.rpartition(":")[2].rstrip("0123456789").removesuffix("Backward")
    return SYMBOLS.get(plain.lower(), plain.lower() if kind[-1].isdigit() else plain)


def kind_of(node: Node) -> str:
    """The name of a node, by which it gets its symbol: a reshape of what is not in order is still a reshape."""
    name = node.name()
    other = name in ("UnsafeViewBackward0", "ReshapeAliasBackward0") and node.operation.name == "reshape"
    return "ViewBackward0" if other else name


@dataclass(slots=True)
class Birth:
    """Where a node was written: the file and line, the expression, its operands, the name it was assigned
    to.
    """

    where: str = ""
    line: str = ""
    expression: str = ""
    operator: str = ""  # the symbol, method or function of the expression
    operands: tuple[str, ...] = ()
    literals: dict[int, float] = field(default_factory=dict)
    assigned: str = ""


@lru_cache(maxsize=4096)
def birth(code: CodeType | None, at: int) -> Birth:
    """Everything the source says about the instruction at offset `at` of `code`."""
    found = Birth()
    if code is None:
        return found
    positions = list(code.co_positions())
    start, end, left, right = positions[at // 2] if at // 2 < len(positions) else (None,) * 4
    start = start or code.co_firstlineno
    file = code.co_filename
    real = not (file.startswith("<") or "ipykernel" in file)
    found.where = f"{Path(file).name}:{start}" if real else f"line {start}"
    found.line = linecache.getline(file, start).strip()
    if end is None or left is None or right is None or not found.line:
        return found
    rows = [linecache.getline(file, n).rstrip("\n") for n in range(start, end + 1)]
    first, last = rows[0].encode(), rows[-1].encode()
    if start == end:
        text = first[left:right].decode(errors="replace")
    else:
        text = "\n".join(
            [first[left:].decode(errors="replace"), *rows[1:-1], last[:right].decode(errors="replace")]
        )
    try:
        node: ast.AST = ast.parse(f"({text})", mode="eval").body
    except (SyntaxError, ValueError):
        try:
            (changed,) = ast.parse(text.strip()).body
        except (SyntaxError, ValueError):
            return found
        if not isinstance(changed, ast.AugAssign):
            return found
        node = ast.BinOp(changed.target, changed.op, changed.value)  # y += 1 makes of the tensor y the tensor y + 1
    found.expression = ast.unparse(node)
    _read_operation(node, found)
    _read_assignment(found, text)
    return found


def _read_operation(node: ast.AST, found: Birth) -> None:
    parts: list[ast.AST] = []
    if isinstance(node, ast.BinOp):
        found.operator, parts = OPERATORS.get(type(node.op), ""), [node.left, node.right]
    elif isinstance(node, ast.UnaryOp):
        found.operator, parts = OPERATORS.get(type(node.op), ""), [node.operand]
    elif isinstance(node, ast.Subscript):
        found.operator, parts = "[ ]", [node.value]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        found.operator = node.func.attr
        if node.func.attr == "apply":  # Square.apply(x) is the operation Square
            found.operator = ast.unparse(node.func.value)
        module = isinstance(node.func.value, ast.Name) and node.func.value.id in (
            "torch",
            "minigrad",
            "F",
            "np",
            "mg",
        )
        module = module or node.func.attr == "apply"
        parts = [*([] if module else [node.func.value]), *node.args]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        found.operator, parts = node.func.id, list(node.args)
    elif isinstance(node, ast.Attribute):
        found.operator, parts = node.attr, [node.value]
    found.operands = tuple(ast.unparse(p) for p in parts)
    for i, part in enumerate(parts):
        try:
            value = ast.literal_eval(part)
        except (ValueError, SyntaxError, TypeError):
            continue
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            found.literals[i] = float(value)


def _read_assignment(found: Birth, text: str) -> None:
    try:
        body = ast.parse(found.line).body
    except SyntaxError:
        return
    if len(body) == 1 and isinstance(body[0], ast.Assign) and len(body[0].targets) == 1:
        target = body[0].targets[0]
        if isinstance(target, ast.Subscript) and ast.unparse(target) == found.expression:  # y[0] = 5 writes into y
            found.operator, found.operands = "[ ]=", (found.expression,)
            found.assigned, found.expression = ast.unparse(target.value), ast.unparse(body[0])
        if ast.unparse(body[0].value) == found.expression:
            found.assigned = ast.unparse(body[0].targets[0])
    elif len(body) == 1 and isinstance(body[0], ast.AugAssign):
        found.assigned = ast.unparse(body[0].target) if text in found.line else ""


def is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError):
        return False
    return True


def is_operation(found: Birth, kind: str) -> bool:
    """Whether the expression is this very operation, and not a call of something that contains it."""
    mark, name = symbol(kind), found.operator.strip("_")
    if not name:
        return False
    return (
        name in SPELLINGS.get(mark, ())
        or name.lower() == mark.lower()
        or mark.lower().startswith(name.lower() + "_")
    )


def variables(namespace: Mapping[str, Any]) -> Iterator[tuple[str, Tensor]]:
    """The tensors among the caller's variables, then those one step inside its lists, dicts and modules."""
    plain = {
        k: v
        for k, v in namespace.items()
        if isinstance(k, str) and not k.startswith("_") and k not in ("In", "Out")
    }
    for name, value in plain.items():
        if isinstance(value, Tensor):
            yield name, value
    for name, value in plain.items():
        if isinstance(value, (list, tuple)):
            yield from ((f"{name}[{i}]", v) for i, v in enumerate(value) if isinstance(v, Tensor))
        elif isinstance(value, dict):
            yield from ((f"{name}[{k!r}]", v) for k, v in value.items() if isinstance(v, Tensor))
        elif hasattr(value, "named_parameters") and not isinstance(value, type):
            yield from ((f"{name}.{k}", v) for k, v in value.named_parameters() if isinstance(v, Tensor))


def cut(expression: str) -> str:
    """An expression as a name: its beginning, if it is long."""
    return expression if len(expression) <= LONGEST else expression[: LONGEST - 1] + "\u2026"


def term(name: str) -> str:
    """A tensor's name as part of a formula: an expression in brackets, a long one cut, `W (2)` as W\u2082."""
    found = NUMBERED.search(name)
    if found:
        return term(name[: found.start()]) + found[1].translate(LOW)
    if re.fullmatch(r"[\w.]+(\[[^][]*\])*", name):  # net.2.weight, a parameter of a module, is no Python
        return name
    try:
        tree: ast.AST | None = ast.parse(name, mode="eval").body
    except SyntaxError:
        tree = None
    if tree is not None and len(name) <= 20:
        return name if isinstance(tree, (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant)) else f"({name})"
    call = re.match(r"[A-Za-z_][\w.]*(?=\()", name)
    return f"{call[0]}(\u2026)" if call else f"({name[:15].rstrip()}\u2026)"


class Names:
    """Finds names: by the node that made a tensor, and for constants by the memory that holds them."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self.tensors: dict[Node, tuple[str, Tensor]] = {}
        self.constants: dict[int, str] = {}
        self.cut: dict[str, Tensor] = {}  # by name, those without history
        for name, tensor in variables(namespace):
            if tensor._node is not None:
                self.tensors.setdefault(tensor._node, (name, tensor))
            else:
                self.constants.setdefault(id(tensor._data), name)
                self.cut.setdefault(name, tensor)
        self.count = {name: 0 for name, _ in self.tensors.values()}  # how many others would have the same name

    def of(self, node: Node, inner: bool = False) -> tuple[str, bool]:
        """The node's name, and whether it is one of the caller's variables.

        inner: another operation finishes what the source writes as one, so that the source's name is not this
        one's.
        """
        if node in self.tensors:
            return self.tensors[node][0], True
        found = birth(node.code, node.at)
        kind = kind_of(node)
        if not node.parents:
            return self.fresh(found.assigned or "leaf"), False
        if is_operation(found, kind) and not inner:
            return self.fresh(found.assigned or cut(found.expression)), False
        if found.operator == "[ ]=":
            return self.fresh(f"{'new' if symbol(kind) == '=' else 'old'} {cut(found.operands[0])}"), False
        return self.fresh(symbol(kind) or kind), False

    def constant(self, value: Any, node: Node, slot: int) -> str:
        """An operand without history: the caller's name for it, else how the source calls it."""
        if id(value) in self.constants:
            return self.constants[id(value)]
        found = birth(node.code, node.at)
        made = getattr(node, "operation", None)  # a custom Function has none
        aligned = len(found.operands) == len(node.parents) and getattr(made, "name", "") != "linear"
        if aligned and is_operation(found, kind_of(node)):
            name = cut(found.operands[slot])
            if value is None and is_literal(name):
                return "constant"  # a flag or a setting of a custom Function, no tensor
            return f"{name} (0)" if name in self.count else name  # the variable has come to hold another tensor
        return "constant"

    def fresh(self, name: str) -> str:
        """The name, with a number behind it if it is taken. A loop that binds `h` anew gives h (1), h (2), ... and,
        for the tensor that the variable holds now, h.
        """
        n = self.count.get(name)
        self.count[name] = 1 if n is None else n + 1
        return name if n is None else f"{name} ({n + 1})"
