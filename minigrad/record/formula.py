"""The text of a rule, made from the derivative table's own source.

`formula` reads the lambda: `g * exponent * x ** (exponent - 1)`.
`settled` puts in what is known and folds constants: `g * 2 * x`.
`shown` writes it as a person would, in the student's names: `g · 2 · w`.
There is no text for any one operation.
"""

import ast
import inspect
import linecache
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import FunctionType
from typing import Any

from .. import kernels
from ..operation import Operation, parameters
from ..tape import TABLE
from .names import literal, symbol
from .numbers import number

# Helpers of the table that change no number: a formula leaves them out.
ARRANGING = {"column", "fold_rows", "unreduce", "cropped", "locally_constant"}
MODULES = {"kernels", "windows", "np", "math"}
OF_SHAPES: dict[str, Any] = {"len": len, "min": min} | {
    name: getattr(kernels, name) for name in ("count", "inverse_order", "negated", "negated_pairs")
}


# ------------------------------------------------------ from the source
def formulas_of(made: Operation) -> tuple[str, ...]:
    """One formula for each input of an operation; "" where it has no rule."""
    return tuple("" if rule is None else formula(rule) for rule in made.rules)


@lru_cache(maxsize=512)
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
    # the instruction furthest into it
    inside = max(spots, default=(0, 0))
    names = list(code.co_varnames[: code.co_argcount])
    fitting = [
        (body.lineno, body.col_offset, ast.unparse(body))
        for body, its_names in lambdas(code.co_filename)
        if (body.lineno, body.col_offset) <= inside and its_names == names
        and inside <= (body.end_lineno, body.end_col_offset)
    ]
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
    """Leaves out modules (`kernels.`) and helpers that change no number; spells out what has a row of its own."""

    def visit_Attribute(self, tree: ast.Attribute) -> Any:
        self.generic_visit(tree)
        module = isinstance(tree.value, ast.Name) and tree.value.id in MODULES
        return ast.Name(tree.attr) if module else tree

    def visit_Call(self, tree: ast.Call) -> Any:
        self.generic_visit(tree)
        name = tree.func.id if isinstance(tree.func, ast.Name) else ""
        slope = TABLE[name].forward if name.endswith("_slope") and name in TABLE else None
        # a rule with a row of its own, for its derivative
        if slope is not None:
            return Settle(dict(zip(parameters(slope), tree.args))).visit(parsed(formula(slope)))
        return tree.args[0] if name in ARRANGING else tree


# ------------------------------------------------------ with what is known
def settled(rule: Callable[..., Any], known: Mapping[str, Any]) -> str:
    """Its formula with known numbers and shapes put in, constants folded."""
    names = getattr(rule, "__globals__", {})
    return ast.unparse(Settle(known, names).visit(parsed(formula(rule))))


def plain(value: Any) -> bool:
    """Whether a value can stand in a formula: a number, or a shape."""
    if isinstance(value, tuple):
        return all(isinstance(n, int) for n in value)
    kinds = (bool, int, float, str, type(None))
    return isinstance(value, kinds) and not hasattr(value, "dtype")


def parsed(rule: str) -> ast.expr:
    """The formula as a syntax tree.  SyntaxError if it is none."""
    return ast.parse(rule, mode="eval").body


NEUTRAL = {ast.Pow: 1, ast.Mult: 1, ast.Div: 1, ast.Add: 0, ast.Sub: 0}
NEUTRAL |= {ast.BitAnd: True, ast.BitOr: False}
EITHER_SIDE = (ast.Mult, ast.Add, ast.BitAnd, ast.BitOr)
# of what a helper's name stands for
LONGEST = 80


class Settle(ast.NodeTransformer):
    """Puts values (or other expressions) in for names, and computes what is known then."""

    def __init__(self, known: Mapping[str, Any], names: Mapping[str, Any] | None = None) -> None:
        self.known, self.names = known, names or {}

    def visit(self, tree: ast.AST) -> Any:
        """A part of the formula, from the inside out; its value where that is known."""
        return self.computed(super().visit(tree))

    def computed(self, made: Any) -> Any:
        """The value of a part in which nothing is unknown."""
        inner = isinstance(made, (ast.Name, ast.Constant)) or not isinstance(made, ast.expr)
        if inner or any(n.id not in OF_SHAPES for n in ast.walk(made) if isinstance(n, ast.Name)):
            return made
        try:
            value = eval(ast.unparse(made), OF_SHAPES)
        except ArithmeticError:
            return made
        return parsed(repr(value)) if plain(value) else made

    def visit_Name(self, tree: ast.Name) -> Any:
        value = self.known.get(tree.id, NotImplemented)
        if isinstance(value, ast.expr) or not plain(value):
            return value if isinstance(value, ast.expr) else tree
        return parsed(number(value) if isinstance(value, float) else repr(value))

    def visit_Attribute(self, tree: ast.Attribute) -> Any:
        array: Any = self.known.get(tree.value.id) if isinstance(tree.value, ast.Name) else None
        if tree.attr == "shape" and hasattr(array, "dtype"):
            return parsed(repr(array.shape))
        return self.generic_visit(tree)

    def visit_Call(self, tree: ast.Call) -> Any:
        self.generic_visit(tree)
        name = ast.unparse(tree.func)
        values = [literal(each) for each in tree.args]
        if name == "where" and values[0] in (True, False):
            return tree.args[1 if values[0] else 2]
        helper = self.names.get(name)
        ours = isinstance(helper, FunctionType) and name not in OF_SHAPES and name not in TABLE
        settings = any(value is not NotImplemented for value in values)
        return self.inlined(tree, helper) if ours and settings else tree

    def inlined(self, tree: ast.Call, helper: Any) -> Any:
        """A call with settings as what it does, if that is one short expression."""
        body: Any = ast.parse(inspect.getsource(helper)).body[0]
        if any(isinstance(n, ast.comprehension) for n in ast.walk(body)):
            return tree
        values = dict(zip(parameters(helper), tree.args))
        for line in body.body[1:]:
            match line:
                case ast.Assign([ast.Name(name)], value):
                    values[name] = Settle(values).visit(value)
                case ast.Return(value) if value is not None:
                    made = self.visit(Plain().visit(Settle(values).visit(value)))
                    return made if len(ast.unparse(made)) < LONGEST else tree
                case _:
                    break
        return tree

    def visit_IfExp(self, tree: ast.IfExp) -> Any:
        self.generic_visit(tree)
        test = literal(tree.test)
        return tree if test is NotImplemented else tree.body if test else tree.orelse

    def visit_BoolOp(self, tree: ast.BoolOp) -> Any:
        self.generic_visit(tree)
        first = literal(tree.values[0])
        either = isinstance(tree.op, ast.Or) and first is not NotImplemented
        return tree.values[0 if first else 1] if either else tree

    def visit_Compare(self, tree: ast.Compare) -> Any:
        self.generic_visit(tree)
        sides = literal(tree.left), literal(tree.comparators[0])
        if NotImplemented in sides or not isinstance(tree.ops[0], ast.Eq):
            return tree
        return ast.Constant(sides[0] == sides[1])

    def visit_BinOp(self, tree: ast.BinOp) -> Any:
        self.generic_visit(tree)
        # g * (2 * x) is g * 2 * x
        match tree:
            case ast.BinOp(first, ast.Mult() as times, ast.BinOp(second, ast.Mult(), third)):
                both = self.computed(self.folded(ast.BinOp(first, times, second)))
                tree = ast.BinOp(both, times, third)
        return self.folded(tree)

    def folded(self, tree: ast.BinOp) -> ast.expr:
        """What is left of an operation that leaves an operand as it is."""
        a, b = literal(tree.left), literal(tree.right)
        nothing = NEUTRAL.get(type(tree.op))
        if b == nothing:
            return tree.left
        if a == nothing and isinstance(tree.op, EITHER_SIDE):
            return tree.right
        if a == -1 and isinstance(tree.op, ast.Mult):
            return ast.UnaryOp(ast.USub(), tree.right)
        false = isinstance(tree.op, ast.BitAnd) and False in (a, b)
        return ast.Constant(False) if false else tree


@lru_cache(maxsize=4096)
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
# a name in a formula
WORD = re.compile(r"(?<![\w.])[A-Za-z_][A-Za-z_0-9]*")
WRITTEN = ((" * ", " · "), (".mT", "ᵀ"), (".T", "ᵀ"))
INFIX: dict[str, type[ast.operator]] = {"@": ast.MatMult, "*": ast.Mult}
# sum_dims is sum
VARIANT = re.compile(r"_(all|dims?)$")


def shown(rule: str, names: Mapping[str, str] | None = None) -> str:
    """A formula as a person writes it, with these words for its names."""
    try:
        return renamed(written(rule), names or {})
    # a student's own rule may be no expression
    except SyntaxError:
        return rule


@lru_cache(maxsize=4096)
def written(rule: str) -> str:
    """The same with the table's names.  SyntaxError if it is no expression."""
    text = ast.unparse(Named().visit(parsed(rule)))
    for python, mark in WRITTEN:
        text = text.replace(python, mark)
    return text


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
        tests = made.name == "where" and isinstance(tree.args[0], (ast.Compare, ast.BinOp))
        # where(a > b, g, 0) is g * (a > b)
        if tests and literal(tree.args[2]) == 0:
            return ast.BinOp(tree.args[1], ast.Mult(), tree.args[0])
        n, sign = len(made.inputs), symbol(made.node_name)
        if sign in INFIX and len(tree.args) == 2:
            return ast.BinOp(tree.args[0], INFIX[sign](), tree.args[1])
        further = zip(tree.args[n:], made.statics)
        rest = [single(each) if word == "dims" else each for each, word in further if word != "keepdim"]
        name = ast.Name(VARIANT.sub("", made.name))
        return ast.Call(name, [*tree.args[:n], *rest], [])


def single(tree: ast.expr) -> ast.expr:
    """A dimension for a tuple of one."""
    if isinstance(tree, ast.Tuple) and len(tree.elts) == 1:
        return tree.elts[0]
    return tree


def put_in(rule: str, values: Mapping[str, Any]) -> str:
    """The formula with numbers for its names: `0.5 · (-3)`."""
    return shown(rule, {k: bracketed(number(v)) for k, v in values.items()})


def bracketed(number: str) -> str:
    """A negative number in brackets, as a part of a formula."""
    return f"({number})" if number.startswith("-") else number
