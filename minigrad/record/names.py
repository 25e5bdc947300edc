"""What a tensor is called in the student's own code.

A node of the tape remembers the instruction that made it.  From that and
from the caller's variables come the names of every picture and transcript:
the variable that holds the tensor now; else the one it was assigned to; else
the piece of source that made it, `x @ w`; else the operation's symbol.  A
piece of source counts only if it is the very operation that the node is.
"""

import ast
import linecache
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from sys import _getframe
from types import CodeType
from typing import Any

from ..tape import no_grad
from ..tensor import Node, Tensor

# Nodes whose symbol is not their own name.
SYMBOLS = {
    "add": "+", "sub": "-", "rsub": "-", "mul": "*", "div": "/", "pow": "**", "neg": "-",
    "mm": "@", "bmm": "@", "mv": "@", "dot": "@", "unsafeview": "@",
    "select": "[ ]", "slice": "[ ]", "index": "[ ]", "copyslices": "[ ]=", "copybackwards": "=",
    "view": "reshape", "reshapealias": "reshape", "tocopy": "to", "convolution": "conv",
    "nativelayernorm": "layer_norm", "nativebatchnorm": "batch_norm",
    "logsoftmax": "log_softmax", "linalgvectornorm": "norm", "maxpool2dwithindices": "max_pool2d",
    "accumulategrad": "", "output": "",
}
# How the source may call an operation, besides its symbol.
SPELLINGS = {
    "reshape": ("view", "flatten", "ravel"), "permute": ("T",), "=": ("copy",),
    "transpose": ("mT", "T", "t", "swapaxes"), "@": ("matmul", "mm", "bmm", "mv", "dot"),
    "to": ("type", "float", "double", "half"), "+": ("add",), "-": ("neg", "sub"),
    "*": ("mul", "/"), "/": ("div",), "**": ("pow", "square"),
}
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@", ast.USub: "-",
}
MODULES = ("torch", "minigrad", "F", "np", "mg")
LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
# of an expression that serves as a name
LONGEST = 24


def symbol(kind: str) -> str:
    """`*` for MulBackward0, `relu` for ReluBackward0, a custom Function's name."""
    plain = kind.rpartition(":")[2].rstrip("0123456789").removesuffix("Backward")
    return SYMBOLS.get(plain.lower(), plain.lower() if kind[-1].isdigit() else plain)


def kind_of(node: Node) -> str:
    """The name of a node, by which it gets its symbol: a reshaped copy is no product."""
    copy = getattr(getattr(node, "operation", None), "name", "") == "unsafe_view"
    return "ViewBackward0" if copy else node.name()


# ------------------------------------------------------ reading the source
@dataclass(slots=True)
class Source:
    """Where an operation was written, and what stands there."""

    # file and line
    where: str = ""
    line: str = ""
    expression: str = ""
    # symbol, method or function of the expression
    operator: str = ""
    operands: tuple[str, ...] = ()
    # the name that the result was given
    assigned: str = ""


def source_of(node: Node) -> Source:
    """What the source says about the instruction that made a node."""
    return source(node.code, node.at)


@lru_cache(maxsize=4096)
def source(code: CodeType | None, at: int) -> Source:
    """The same for the instruction at offset `at` of `code`."""
    found = Source()
    if code is None:
        return found
    start, end, left, right = list(code.co_positions())[at // 2]
    file, start = code.co_filename, start or code.co_firstlineno
    typed = file.startswith("<") or "ipykernel" in file
    found.where = f"line {start}" if typed else f"{Path(file).name}:{start}"
    found.line = linecache.getline(file, start).strip()
    if end is None or not found.line:
        return found
    rows = [linecache.getline(file, n).encode() for n in range(start, end + 1)]
    rows[-1] = rows[-1][:right]
    tree = expression(b"".join(rows)[left:].decode(errors="replace"), found)
    if tree is not None:
        found.expression = ast.unparse(tree)
        read_operation(tree, found)
        read_assignment(found)
    return found


def expression(text: str, found: Source) -> ast.expr | None:
    """The expression that a text is; `y += 1` makes of y the tensor y + 1."""
    for line in map(statement, (f"({text})", text.strip())):
        if isinstance(line, ast.Expr):
            return line.value
        if isinstance(line, ast.AugAssign):
            found.assigned = ast.unparse(line.target)
            return ast.BinOp(line.target, line.op, line.value)
    return None


def statement(text: str) -> ast.stmt | None:
    """What a text says, if it is one statement."""
    try:
        (line,) = ast.parse(text).body
    except (SyntaxError, ValueError):
        return None
    return line


def read_operation(tree: ast.expr, found: Source) -> None:
    """The operator of an expression, and its operands."""
    parts: list[ast.expr] = []
    match tree:
        case ast.BinOp(op=op) | ast.UnaryOp(op=op):
            found.operator = OPERATORS.get(type(op), "")
            parts = [n for n in ast.iter_child_nodes(tree) if isinstance(n, ast.expr)]
        case ast.Subscript(value):
            found.operator, parts = "[ ]", [value]
        case ast.Call(ast.Attribute(value, "apply"), args):
            # a Function
            found.operator, parts = ast.unparse(value), args
        case ast.Call(ast.Attribute(value, name), args):
            module = isinstance(value, ast.Name) and value.id in MODULES
            found.operator = name
            parts = args if module else [value, *args]
        case ast.Call(ast.Name(name), args):
            found.operator, parts = name, args
        case ast.Attribute(value, name):
            found.operator, parts = name, [value]
    found.operands = tuple(map(ast.unparse, parts))


def read_assignment(found: Source) -> None:
    """The name that the line gives to the whole expression."""
    line = statement(found.line)
    if not isinstance(line, ast.Assign) or len(line.targets) > 1:
        return
    target = line.targets[0]
    into = ast.unparse(target)
    if isinstance(target, ast.Subscript) and into == found.expression:
        # y[0] = 5
        found.operator, found.operands = "[ ]=", (into,)
        found.assigned = ast.unparse(target.value)
        found.expression = ast.unparse(line)
    elif ast.unparse(line.value) == found.expression:
        found.assigned = into


def literal(text: str | ast.expr) -> Any:
    """The value of a literal, or NotImplemented for anything else."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError):
        return NotImplemented


def is_operation(node: Node) -> bool:
    """Whether the source at its call site is this operation, not a call around it."""
    return fits(source_of(node), symbol(kind_of(node)))


def fits(found: Source, mark: str) -> bool:
    """Whether what stands in the source is the operation with this symbol."""
    name = found.operator.strip("_")
    same = name.lower().replace("_", "") == mark.lower().replace("_", "")
    return bool(name) and (same or name in SPELLINGS.get(mark, ()))


# ------------------------------------------------------ the caller's variables
def callers_variables() -> dict[str, Any]:
    """The variables of the code that called the function that calls this one, local ones first."""
    frame = _getframe(2)
    return {**frame.f_globals, **frame.f_locals}


def variables(namespace: Mapping[str, Any], kind: type[Any] = Tensor) -> Iterator[tuple[str, Any]]:
    """The caller's tensors (of this kind), then those in its lists, dicts and modules."""
    plain = {k: v for k, v in namespace.items() if k[:1] != "_" and k not in ("In", "Out")}
    inside: list[tuple[str, Any]] = []
    for name, value in plain.items():
        if isinstance(value, (list, tuple)):
            inside += [(f"{name}[{i}]", v) for i, v in enumerate(value)]
        elif isinstance(value, dict):
            inside += [(f"{name}[{k!r}]", v) for k, v in value.items()]
        elif hasattr(value, "named_parameters") and not isinstance(value, type):
            inside += [(f"{name}.{k}", v) for k, v in value.named_parameters()]
    yield from ((n, v) for n, v in [*plain.items(), *inside] if isinstance(v, kind))


def cut(expression: str, longest: int = LONGEST) -> str:
    """An expression as a name: its beginning, if it is long."""
    return expression if len(expression) <= longest else expression[: longest - 1] + "…"


@lru_cache(maxsize=4096)
def term(name: str) -> str:
    """A name as part of a formula: an expression in brackets, a long one cut."""
    found = re.search(r" \((\d+)\)$", name)
    # `W (2)` is W₂
    if found:
        return term(name[: found.start()]) + found[1].translate(LOW)
    # net.2.weight is no Python
    if re.fullmatch(r"[\w.]+(\[[^][]*\])*", name):
        return name
    call = re.match(r"[A-Za-z_][\w.]*(?=\()", name)
    line = statement(name) if len(name) <= 20 else None
    if isinstance(line, ast.Expr):
        tight = isinstance(line.value, (ast.Attribute, ast.Subscript, ast.Call, ast.Constant))
        return name if tight else f"({name})"
    return f"{call[0]}(…)" if call else f"({name[:15].rstrip()}…)"


class Names:
    """Finds names: of nodes, and of constants by the memory that holds them."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self.tensors: dict[Node, tuple[str, Tensor]] = {}
        self.constants: dict[int, str] = {}
        # by name, those without history
        self.cut: dict[str, Tensor] = {}
        # how the source calls a node
        self.texts: dict[Node, set[str]] = {}
        # so that a view whose memory was written to keeps its node
        with no_grad():
            known = [(name, tensor, tensor._node) for name, tensor in variables(namespace)]
        for name, tensor, node in known:
            if node is not None:
                self.tensors.setdefault(node, (name, tensor))
            else:
                self.constants.setdefault(id(tensor._data), name)
                self.cut.setdefault(name, tensor)
        # how many others would have the same name
        self.count = {name: 0 for name, _ in self.tensors.values()}

    def of(self, node: Node, inner: bool, inputs: list[str]) -> tuple[str, bool]:
        """The node's name, and whether it is one of the caller's variables.

        inner: another operation finishes what the source writes as one, so
        the source's name is not this one's.  inputs: what its inputs are
        called, "…" where that is not known.
        """
        named, found = node in self.tensors, source_of(node)
        name = self.tensors[node][0] if named else self.fresh(self.proposed(node, inner, inputs))
        self.texts[node] = {found.expression, found.assigned, name} - {""}
        return name, named

    def proposed(self, node: Node, inner: bool, inputs: list[str]) -> str:
        """A name from the source, else from the operation and its inputs."""
        found, kind = source_of(node), kind_of(node)
        mark = symbol(kind)
        if not node.parents:
            return found.assigned or "leaf"
        if is_operation(node) and not inner:
            return found.assigned or cut(found.expression)
        if found.operator == "[ ]=":
            return f"{'old' if mark == '[ ]' else 'new'} {cut(found.operands[0])}"
        if mark not in OPERATORS.values() or not inputs:
            return mark or kind
        # made by a backward pass, say
        if mark == "*" and "1" in inputs:
            return inputs[inputs[0] == "1"]
        short = [term(text) if len(text) < 16 else "(…)" for text in inputs]
        return f" {mark} ".join(short[:2]) if len(short) > 1 else mark + short[0]

    def constant(self, value: Any, node: Node, slot: int) -> str:
        """An operand without history: the caller's name for it, or the source's."""
        if id(value) in self.constants:
            return self.constants[id(value)]
        found, made = source_of(node), getattr(node, "operation", None)
        # the bias comes first
        linear = getattr(made, "name", "") == "linear"
        aligned = len(found.operands) == len(node.parents) and not linear
        if not aligned or not is_operation(node) or self.swapped(node, found):
            return "constant"
        name = cut(found.operands[slot])
        if value is None and literal(name) is not NotImplemented:
            # a number, or a flag of a custom Function
            return "constant"
        # the variable may have come to hold another tensor
        return f"{name} (0)" if name in self.count else name

    def swapped(self, node: Node, found: Source) -> bool:
        """Whether a number stood on the left: `0 + y` runs y.__radd__(0)."""
        first, *others = node.parents
        if found.operator not in ("+", "*") or first is None or any(others):
            return False
        left, right = found.operands
        return left not in self.texts[first] and right in self.texts[first]

    def fresh(self, name: str) -> str:
        """The name, with a number behind it if it is taken.

        A loop that binds `h` anew gives h (1), h (2), ... and, for the tensor
        that the variable holds now, h.
        """
        n = self.count.get(name)
        self.count[name] = 1 if n is None else n + 1
        return name if n is None else f"{cut(name, LONGEST - 4)} ({n + 1})"
