"""The text of a rule, made from the derivative table's own source.

`formula` reads the lambda: `g * exponent * x ** (exponent - 1)`.
`settled` puts in what is known and folds constants: `g * 2 * x`.
`shown` writes it as a person would, in the student's names: `g · 2 · w`.
`latex` does the same for lectures.  There is no text for any one operation.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from minigrad import kernels
from minigrad.operation import Operation, parameters
from minigrad.record.names import symbol
from minigrad.record.numbers import number
from minigrad.operation import TABLE

# Helpers of the table that only arrange numbers: a formula leaves them out.
ARRANGING = {"column", "fold_rows", "unreduce", "cropped"}
ROOMS = {"kernels", "windows", "np", "math"}
OF_SHAPES: dict[str, Any] = {"len": len, "min": min} | {
    name: getattr(kernels, name)
    for name in ("count", "inverse_order", "negated", "negated_pairs")
}


# ------------------------------------------------------ from the source
def formulas_of(made: Operation) -> tuple[str, ...]:
    """One formula for each input of an operation; "" where it has no rule."""
    return tuple("" if rule is None else formula(rule) for rule in made.rules)


def formula(rule: Callable[..., Any]) -> str:
    """The body of a lambda as Python; of a function its name and parameters."""
    body = lambda_of(rule)
    if body is not None:
        return ast.unparse(Plain().visit(parsed(body)))
    name = getattr(rule, "__name__", "rule").strip("<>")
    return f"{name}({', '.join(parameters(rule))})"


def lambda_of(rule: Callable[..., Any]) -> str | None:
    """What a lambda returns, as it is written."""
    code = getattr(rule, "__code__", None)
    if code is None or code.co_name != "<lambda>":
        return None
    spots = [p[0::2] for p in code.co_positions() if None not in p[0::2]]
    inside = max(spots, default=(0, 0))  # the instruction furthest into it
    names = list(code.co_varnames[: code.co_argcount])
    fitting = [
        (body.lineno, body.col_offset, ast.unparse(body))
        for body, its_names in lambdas(code.co_filename)
        if (body.lineno, body.col_offset) <= inside and its_names == names
        and inside <= (body.end_lineno, body.end_col_offset)
    ]  # fmt: skip
    return max(fitting)[2] if fitting else None


@lru_cache(maxsize=64)
def lambdas(file: str) -> list[tuple[Any, list[str]]]:
    """Body and parameters of every lambda of a file that can be read."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return []
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Lambda)]
    return [(n.body, [a.arg for a in n.args.args]) for n in found]


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
def settled(rule: Callable[..., Any], known: Mapping[str, Any]) -> str:
    """Its formula with known numbers and shapes put in, constants folded."""
    room = getattr(rule, "__globals__", {})
    return ast.unparse(Settle(known, room).visit(parsed(formula(rule))))


def plain(value: Any) -> bool:
    """Whether a value can stand in a formula: a number, or a shape."""
    if isinstance(value, tuple):
        return all(isinstance(n, int) for n in value)
    kinds = (bool, int, float, str, type(None))
    return isinstance(value, kinds) and not hasattr(value, "dtype")


def parsed(rule: str) -> ast.expr:
    """The formula as a syntax tree.  SyntaxError if it is none."""
    return ast.parse(rule, mode="eval").body


FOLDED: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.Pow: operator.pow, ast.Eq: operator.eq,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
}  # fmt: skip
NEUTRAL = {
    (ast.Pow, 1), (ast.Mult, 1), (ast.Div, 1), (ast.Add, 0), (ast.Sub, 0),
    (ast.BitAnd, True), (ast.BitOr, False),
}  # fmt: skip
UNKNOWN = object()


class Settle(ast.NodeTransformer):
    """Puts values in for names, and computes what is known then."""

    def __init__(
        self, known: Mapping[str, Any], room: Mapping[str, Any] | None = None
    ) -> None:
        self.known, self.room = known, room or {}

    def visit_Name(self, tree: ast.Name) -> Any:
        value = self.known.get(tree.id, UNKNOWN)
        if not plain(value):
            return tree
        real = isinstance(value, float)
        return parsed(number(value) if real else repr(value))

    def visit_Attribute(self, tree: ast.Attribute) -> Any:
        value = tree.value
        array = self.known.get(value.id) if isinstance(value, ast.Name) else None
        if tree.attr == "shape" and array is not None:
            return parsed(repr(np.shape(array)))
        return self.generic_visit(tree)

    def visit_Subscript(self, tree: ast.Subscript) -> Any:
        self.generic_visit(tree)
        return self.computed(tree)

    def visit_Call(self, tree: ast.Call) -> Any:
        self.generic_visit(tree)
        name = ast.unparse(tree.func)
        known = [value_of(each) for each in tree.args]
        if name == "where" and known[0] in (True, False):
            return tree.args[1 if known[0] else 2]
        helper = self.room.get(name) if name not in OF_SHAPES else None
        settings = any(value is not UNKNOWN for value in known)
        if settings and isinstance(helper, FunctionType):
            return self.inlined(tree, helper)
        return self.computed(tree)

    def inlined(self, tree: ast.Call, helper: FunctionType) -> ast.expr:
        """A call with settings as what it does, if that is one expression."""
        if hasattr(helper, "operation"):
            return tree
        (body,) = ast.parse(inspect.getsource(helper)).body
        if any(isinstance(n, ast.comprehension) for n in ast.walk(body)):
            return tree
        values = dict(zip(parameters(helper), tree.args, strict=False))
        for line in body.body[1:]:  # type: ignore[attr-defined]
            match line:
                case ast.Assign([ast.Name(name)], value):
                    values[name] = Put(values).visit(value)
                case ast.Return(value) if value is not None:
                    found = Plain().visit(Put(values).visit(value))
                    return self.visit(found)  # type: ignore[no-any-return]
                case _:
                    break
        return tree

    def computed(self, tree: ast.expr) -> ast.expr:
        """The value of an expression about shapes alone."""
        names = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name)]
        if any(name not in OF_SHAPES for name in names):
            return tree
        return parsed(repr(eval(ast.unparse(tree), OF_SHAPES)))

    def visit_IfExp(self, tree: ast.IfExp) -> Any:
        self.generic_visit(tree)
        test = value_of(tree.test)
        return tree if test is UNKNOWN else tree.body if test else tree.orelse

    def visit_BoolOp(self, tree: ast.BoolOp) -> Any:
        self.generic_visit(tree)
        first = value_of(tree.values[0])
        either = isinstance(tree.op, ast.Or) and first is not UNKNOWN
        return tree.values[0 if first else 1] if either else tree

    def visit_Compare(self, tree: ast.Compare) -> Any:
        self.generic_visit(tree)
        match tree:
            case ast.Compare(left, [ast.Is()], [right]):
                left, right = value_of(left), value_of(right)
                known = UNKNOWN not in (left, right)
                return ast.Constant(left is right) if known else tree
            case ast.Compare(left, [op], [right]):
                return self.folded(tree, left, type(op), right)
        return tree

    def visit_BinOp(self, tree: ast.BinOp) -> Any:
        self.generic_visit(tree)
        match tree:  # g * (2 * x) is g * 2 * x
            case ast.BinOp(first, ast.Mult() as op, ast.BinOp(a, ast.Mult(), b)):
                first = self.visit(ast.BinOp(first, op, a))
                return self.folded(tree, first, type(op), b)
        return self.folded(tree, tree.left, type(tree.op), tree.right)

    def folded(self, tree: Any, left: Any, op: type[ast.AST], right: Any) -> Any:
        """The value of what is constant; an operand that the other leaves be."""
        a, b = value_of(left), value_of(right)
        if UNKNOWN not in (a, b) and op in FOLDED:
            try:
                return parsed(repr(FOLDED[op](a, b)))
            except (ArithmeticError, SyntaxError, TypeError):
                return tree
        if (op, b) in NEUTRAL:
            return left
        if (op, a) in NEUTRAL and op in (ast.Mult, ast.Add, ast.BitAnd, ast.BitOr):
            return right
        if (op, a) == (ast.Mult, -1):
            return ast.UnaryOp(ast.USub(), right)
        if op is ast.BitAnd and False in (a, b):
            return ast.Constant(False)
        return tree


class Put(ast.NodeTransformer):
    """Expressions in place of names."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, tree: ast.Name) -> Any:
        return self.values.get(tree.id, tree)


def value_of(tree: ast.expr) -> Any:
    """The number or word that stands here, or UNKNOWN."""
    try:
        value = ast.literal_eval(tree)
    except ValueError:
        return UNKNOWN
    return value if plain(value) else UNKNOWN


def without_g(rule: str) -> str:
    """What g is multiplied by: `2 * x` of `g * 2 * x`; "" for another form."""
    tree = ast.BinOp(parsed(rule), ast.Mult(), ast.Constant(1))
    outer: ast.BinOp = tree
    at: ast.expr = tree.left
    while isinstance(at, ast.BinOp) and isinstance(at.op, (ast.Mult, ast.Div)):
        outer = at
        at = outer.left
    sign = -1 if ast.unparse(at) == "-g" else 1
    if ast.unparse(at).removeprefix("-") != "g":
        return ""
    outer.left = ast.Constant(sign)
    return ast.unparse(Settle({}).visit(tree))


# ------------------------------------------------------ as a person writes
WORD = re.compile(r"(?<![\w.])[A-Za-z_][A-Za-z_0-9]*")  # a name in a formula
WRITTEN = ((" * ", " · "), (".mT", "ᵀ"), (".T", "ᵀ"))
INFIX: dict[str, type[ast.operator]] = {"@": ast.MatMult, "*": ast.Mult}
VARIANT = re.compile(r"_(all|dims?)$")  # sum_dims is sum


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

    def visit_Constant(self, tree: ast.Constant) -> Any:
        real = isinstance(tree.value, float)
        return parsed(number(tree.value)) if real else tree

    def visit_Call(self, tree: ast.Call) -> Any:
        self.generic_visit(tree)
        made = TABLE.get(tree.func.id) if isinstance(tree.func, ast.Name) else None
        if made is None:
            return tree
        n, sign = len(made.inputs), symbol(made.node_name)
        if sign in INFIX and len(tree.args) == 2:
            return ast.BinOp(tree.args[0], INFIX[sign](), tree.args[1])
        further = zip(tree.args[n:], made.statics, strict=False)
        rest = [
            single(each) if word in ("dim", "dims") else each
            for each, word in further
            if word != "keepdim"
        ]
        name = ast.Name(VARIANT.sub("", made.name))
        return ast.Call(name, [*tree.args[:n], *rest], [])


def single(tree: ast.expr) -> ast.expr:
    """A dimension for a tuple of one."""
    one = isinstance(tree, ast.Tuple) and len(tree.elts) == 1
    return tree.elts[0] if one else tree  # type: ignore[attr-defined]


def put_in(rule: str, values: Mapping[str, Any]) -> str:
    """The formula with numbers for its names: `0.5 · (-3)`."""
    return shown(rule, {k: bracketed(number(v)) for k, v in values.items()})


def bracketed(number: str) -> str:
    """A negative number in brackets, as a part of a formula."""
    return f"({number})" if number.startswith("-") else number


TEX = (
    (r" · ", r" \\cdot "), (r" @ ", r" \\, "), (r" \*\* (\w+)", r"^{\1}"),
    (r"ᵀ", r"^{\\top}"), (r"_", r"\\_"), (r" & ", r" \\land "),
    (r"(?<![\w\\{])([A-Za-z][\w\\]+)(?=\()", r"\\operatorname{\1}"),
    (r"(?<![\w\\{])([A-Za-z][\w\\]+)(?![\w}])", r"\\mathrm{\1}"),
)  # fmt: skip


def latex(formula: str) -> str:
    """A shown formula in LaTeX: `xᵀ @ g` gives `x^{\\top} \\, g`."""
    for text, tex in TEX:
        formula = re.sub(text, tex, formula)
    return formula
