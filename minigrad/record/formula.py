"""The text of a rule, made from the derivative table's own source.

`formula` reads the lambda: `g * exponent * x ** (exponent - 1)`.
`settled` puts in what is known and folds constants: `g * 2 * x`.
`shown` writes it as a person would, in the student's names: `g · 2 · w`.
`latex` does the same for lectures.  There is no text for any one operation.
"""

from __future__ import annotations

import ast
import linecache
import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from minigrad import layout
from minigrad.operations import Operation, parameters
from minigrad.record.names import symbol
from minigrad.record.numbers import number
from minigrad.tape import TABLE

# Helpers of the table that only arrange numbers: a formula leaves them out.
ARRANGING = {"fold_rows", "kept", "flat"}
ROOMS = {"kernels", "layout", "sums", "gathering", "windows", "np", "math"}
OF_SHAPES: dict[str, Any] = {
    name: getattr(layout, name)
    for name in ("count", "inverse_order", "negated", "negated_pairs")
} | {"len": len, "min": min}


# ------------------------------------------------------ from the source
def formulas_of(made: Operation) -> tuple[str, ...]:
    """One formula for each input of an operation; "" where it has no rule."""
    return tuple("" if rule is None else formula(rule) for rule in made.rules)


def formula(rule: Callable[..., Any]) -> str:
    """The body of a lambda as Python; of a function its name and parameters."""
    body = lambda_of(rule)
    if body is not None:
        return ast.unparse(Plain().visit(body))
    name = getattr(rule, "__name__", "rule").strip("<>")
    return f"{name}({', '.join(parameters(rule))})"


def lambda_of(rule: Callable[..., Any]) -> ast.expr | None:
    """A copy of the expression that a lambda returns."""
    code = getattr(rule, "__code__", None)
    if code is None or code.co_name != "<lambda>":
        return None
    spots = [p[0::2] for p in code.co_positions() if None not in p[0::2]]
    inside = max(spots, default=(0, 0))  # the instruction furthest into it
    names = list(code.co_varnames[: code.co_argcount])
    fitting = [
        each
        for each in lambdas(code.co_filename)
        if begin(each.body) <= inside <= end(each.body)
        and [a.arg for a in each.args.args] == names
    ]
    if not fitting:
        return None
    found = max(fitting, key=lambda each: begin(each.body)).body
    return ast.parse(ast.unparse(found), mode="eval").body


@lru_cache(maxsize=64)
def lambdas(file: str) -> tuple[ast.Lambda, ...]:
    """Every lambda of a file; none where the source cannot be read."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ()
    return tuple(n for n in ast.walk(tree) if isinstance(n, ast.Lambda))


def begin(tree: ast.expr) -> tuple[int, int]:
    return tree.lineno, tree.col_offset


def end(tree: ast.expr) -> tuple[int, int]:
    return tree.end_lineno or 0, tree.end_col_offset or 0


class Plain(ast.NodeTransformer):
    """Leaves out modules (`kernels.`) and helpers that only arrange."""

    def visit_Attribute(self, tree: ast.Attribute) -> Any:
        self.generic_visit(tree)
        module = isinstance(tree.value, ast.Name) and tree.value.id in ROOMS
        return ast.Name(tree.attr) if module else tree

    def visit_Call(self, tree: ast.Call) -> Any:
        self.generic_visit(tree)
        helper = isinstance(tree.func, ast.Name) and tree.func.id in ARRANGING
        return tree.args[0] if helper else tree


# ------------------------------------------------------ with what is known
def settled(rule: str, known: Mapping[str, Any]) -> str:
    """A formula with known numbers and shapes put in, and constants folded."""
    values = {k: v for k, v in known.items() if plain(v)}
    return ast.unparse(Settle(values).visit(parsed(rule)))


def plain(value: Any) -> bool:
    """Whether a value can stand in a formula: a number, or a shape."""
    if isinstance(value, tuple):
        return all(isinstance(n, int) for n in value)
    if hasattr(value, "dtype"):
        return False
    return value is None or isinstance(value, (bool, int, float))


def parsed(rule: str) -> ast.expr:
    """The formula as a syntax tree.  SyntaxError if it is none."""
    return ast.parse(rule, mode="eval").body


FOLDED: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.Pow: operator.pow,
}  # fmt: skip
NEUTRAL = {(ast.Pow, 1), (ast.Mult, 1), (ast.Div, 1), (ast.Add, 0), (ast.Sub, 0)}


class Settle(ast.NodeTransformer):
    """Puts values in for names, and computes what is known then."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self.known = known

    def visit_Name(self, tree: ast.Name) -> Any:
        if tree.id not in self.known:
            return tree
        value = self.known[tree.id]
        real = isinstance(value, float)
        return parsed(number(value) if real else repr(value))

    def visit_Call(self, tree: ast.Call) -> Any:
        self.generic_visit(tree)
        return self.computed(tree)

    def visit_Subscript(self, tree: ast.Subscript) -> Any:
        self.generic_visit(tree)
        return self.computed(tree)

    def computed(self, tree: ast.expr) -> ast.expr:
        """The value of an expression about shapes alone."""
        names = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name)]
        if any(name not in OF_SHAPES for name in names):
            return tree
        return parsed(repr(eval(ast.unparse(tree), OF_SHAPES)))

    def visit_IfExp(self, tree: ast.IfExp) -> Any:
        self.generic_visit(tree)
        if not isinstance(tree.test, ast.Constant):
            return tree
        return tree.body if tree.test.value else tree.orelse

    def visit_UnaryOp(self, tree: ast.UnaryOp) -> Any:
        self.generic_visit(tree)
        inner = tree.operand
        if isinstance(tree.op, ast.USub) and isinstance(inner, ast.UnaryOp):
            return inner.operand
        return tree

    def visit_BinOp(self, tree: ast.BinOp) -> Any:
        self.generic_visit(tree)
        left, right = value_of(tree.left), value_of(tree.right)
        kind = type(tree.op)
        if left is not None and right is not None and kind in FOLDED:
            try:
                return parsed(repr(FOLDED[kind](left, right)))
            except (ArithmeticError, SyntaxError):
                return tree
        match tree:  # g * (2 * x) is g * 2 * x
            case ast.BinOp(first, ast.Mult() as op, ast.BinOp(a, ast.Mult(), b)):
                return self.visit(ast.BinOp(ast.BinOp(first, op, a), op, b))
        if (kind, right) in NEUTRAL:
            return tree.left
        if kind is ast.Mult and left in (1, -1):
            negative = ast.UnaryOp(ast.USub(), tree.right)
            return tree.right if left == 1 else negative
        return tree


def value_of(tree: ast.expr) -> float | None:
    """The number that stands here, or None."""
    try:
        value = ast.literal_eval(tree)
    except ValueError:
        return None
    return value if isinstance(value, (int, float)) else None


def without_g(rule: str) -> str:
    """What g is multiplied by: `2 * x` of `g * 2 * x`; "" for another form."""
    at: ast.expr
    tree = ast.BinOp(parsed(rule), ast.Mult(), ast.Constant(1))
    at, outer = tree.left, tree
    while isinstance(at, ast.BinOp) and isinstance(at.op, (ast.Mult, ast.Div)):
        at, outer = at.left, at
    sign = isinstance(at, ast.UnaryOp) and isinstance(at.op, ast.USub)
    inner = at.operand if isinstance(at, ast.UnaryOp) else at
    if not isinstance(inner, ast.Name) or inner.id != "g":
        return ""
    outer.left = ast.Constant(-1 if sign else 1)
    return ast.unparse(Settle({}).visit(tree))


# ------------------------------------------------------ as a person writes
WORD = re.compile(r"(?<![\w.])[A-Za-z_][A-Za-z_0-9]*")  # a name in a formula
WRITTEN = ((" * ", " · "), (".mT", "ᵀ"), (".T", "ᵀ"))
INFIX: dict[str, type[ast.operator]] = {
    "@": ast.MatMult, "+": ast.Add, "*": ast.Mult, "/": ast.Div
}  # fmt: skip


def shown(rule: str, names: Mapping[str, str] | None = None) -> str:
    """A formula as a person writes it, with these words for its names."""
    try:
        text = ast.unparse(Named().visit(parsed(rule)))
    except SyntaxError:  # a student's own rule may be no expression
        return rule
    for python, mark in WRITTEN:
        text = text.replace(python, mark)
    return renamed(text, names or {})


def renamed(text: str, names: Mapping[str, str]) -> str:
    """A formula with other words for its names: `cos(a + b)`."""
    text = WORD.sub(lambda word: names.get(word[0], word[0]), text)
    return re.sub(r"\(\(([^(),]*)\)\)", r"(\1)", text)


class Named(ast.NodeTransformer):
    """Calls operations of the table as users do: `g @ y` for mm(g, y)."""

    def visit_Call(self, tree: ast.Call) -> Any:
        self.generic_visit(tree)
        made = isinstance(tree.func, ast.Name) and TABLE.get(tree.func.id)
        if not isinstance(made, Operation):
            return tree
        n, name = len(made.inputs), symbol(made.node_name)
        if name in INFIX:
            return ast.BinOp(tree.args[0], INFIX[name](), tree.args[1])
        further = zip(tree.args[n:], made.statics, strict=False)
        rest = [each for each, word in further if word != "keepdim"]
        return ast.Call(ast.Name(name), [*tree.args[:n], *rest], [])


def put_in(rule: str, values: Mapping[str, Any]) -> str:
    """The formula with numbers for its names: `0.5 · (-3)`."""
    return shown(rule, {k: bracketed(number(v)) for k, v in values.items()})


def bracketed(number: str) -> str:
    """A negative number in brackets, as a part of a formula."""
    return f"({number})" if number.startswith("-") else number


# ------------------------------------------------------ in LaTeX
SIGNS: dict[type[ast.AST], tuple[str, int]] = {
    ast.Gt: (">", 0), ast.Lt: ("<", 0), ast.Eq: ("=", 0),
    ast.GtE: (r"\ge", 0), ast.LtE: (r"\le", 0), ast.NotEq: (r"\ne", 0),
    ast.BitAnd: (r"\land", 0), ast.BitOr: (r"\lor", 0),
    ast.Add: ("+", 1), ast.Sub: ("-", 1),
    ast.Mult: (r"\cdot", 2), ast.MatMult: (r"\,", 2),
}  # fmt: skip


def latex(rule: str) -> str:
    """A rule in LaTeX: `x.mT @ g` gives `x^{\\top} \\, g`; "" for no rule."""
    try:
        return written(Named().visit(parsed(rule)))
    except SyntaxError:
        return ""


def written(tree: ast.expr, outer: int = 0) -> str:
    """A syntax tree in LaTeX, in brackets if it binds less than `outer`."""
    match tree:
        case ast.BinOp(left, ast.Div(), right):
            return rf"\frac{{{written(left)}}}{{{written(right)}}}"
        case ast.BinOp(left, ast.Pow(), right):
            return f"{written(left, 4)}^{{{written(right)}}}"
        case ast.BinOp(left, op, right) | ast.Compare(left, [op], [right]):
            sign, rank = SIGNS.get(type(op), ("?", 0))
            text = f"{written(left, rank)} {sign} {written(right, rank + 1)}"
            return rf"\left({text}\right)" if rank < outer else text
        case ast.UnaryOp(op, inner):
            sign = "-" if isinstance(op, ast.USub) else r"\lnot "
            return sign + written(inner, 3)
        case ast.Attribute(value, "T" | "mT"):
            return rf"{written(value, 4)}^{{\top}}"
        case ast.Call(function, args):
            name = ast.unparse(function).replace("_", r"\_")
            given = ", ".join(map(written, args))
            return rf"\operatorname{{{name}}}\left({given}\right)"
        case ast.Name(name) if len(name) > 1:
            return rf"\mathrm{{{name}}}".replace("_", r"\_")
    return ast.unparse(tree)
