"""A formula written another way: with its numbers put in, without its g, in LaTeX."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")  # a name in a formula


def without_g(rule: str) -> str:
    """What g is multiplied by: `y` of `g * y`; nothing where that is not the rule's form."""
    tree = ast.parse(rule, mode="eval").body
    if isinstance(tree, ast.Name):
        return "1"
    if not isinstance(tree, ast.BinOp) or not isinstance(tree.op, (ast.Mult, ast.Div)):
        return "-1" if ast.unparse(tree) == "-g" else ""
    sign = {"g": "", "-g": "-"}.get(ast.unparse(tree.left))
    if sign is None:
        return ""
    if isinstance(tree.op, ast.Div):
        return f"{sign}1 {ast.unparse(ast.BinOp(ast.Name('_'), tree.op, tree.right))[2:]}"
    right = ast.unparse(tree.right)
    return f"-({right})" if sign and isinstance(tree.right, ast.BinOp) else sign + right


LATEX = {ast.Add: " + ", ast.Sub: " - ", ast.Mult: r" \cdot ", ast.MatMult: r" \, ", ast.Gt: " > ", ast.Lt: " < ",
         ast.GtE: r" \ge ", ast.LtE: r" \le ", ast.Eq: " = "}  # fmt: skip
TIGHT = {ast.Add: 1, ast.Sub: 1, ast.Mult: 2, ast.MatMult: 2, ast.Div: 3, ast.Pow: 4}


def latex(rule: str) -> str:
    """A rule in LaTeX: `x.mT @ g` gives `x^{\\top} \\, g`; nothing where it is not one expression."""
    try:
        return _latex(ast.parse(rule, mode="eval").body)
    except SyntaxError:
        return ""


def _latex(tree: ast.AST, outer: int = 0) -> str:
    if isinstance(tree, ast.BinOp):
        rank = TIGHT.get(type(tree.op), 0)
        if isinstance(tree.op, ast.Div):
            return rf"\frac{{{_latex(tree.left)}}}{{{_latex(tree.right)}}}"
        if isinstance(tree.op, ast.Pow):
            return f"{_latex(tree.left, 4)}^{{{_latex(tree.right)}}}"
        text = _latex(tree.left, rank) + LATEX.get(type(tree.op), " ? ") + _latex(tree.right, rank + 1)
        return rf"\left({text}\right)" if rank < outer else text
    if isinstance(tree, ast.UnaryOp):
        return ("-" if isinstance(tree.op, ast.USub) else r"\lnot ") + _latex(tree.operand, 3)
    if isinstance(tree, ast.Compare):
        return rf"[{_latex(tree.left)}{LATEX.get(type(tree.ops[0]), ' ? ')}{_latex(tree.comparators[0])}]"
    if isinstance(tree, ast.Attribute) and tree.attr in ("T", "mT"):
        return rf"{_latex(tree.value, 4)}^{{\top}}"
    if isinstance(tree, ast.Call):
        function = ast.unparse(tree.func).replace("_", r"\_")
        return rf"\operatorname{{{function}}}\left({', '.join(_latex(a) for a in tree.args)}\right)"
    if isinstance(tree, ast.Name) and len(tree.id) > 1:
        return rf"\mathrm{{{tree.id}}}".replace("_", r"\_")
    return ast.unparse(tree)


def put_in(rule: str, numbers: Mapping[str, str]) -> str:
    """Names replaced by their numbers, negative ones in brackets; `g * y` -> `0.5 * (-3)`."""

    def one(match: re.Match[str]) -> str:
        text = numbers.get(match[0])
        return match[0] if text is None else bracketed(text)

    return WORD.sub(one, rule)


def bracketed(number: str) -> str:
    """A negative number in brackets, as a part of a formula."""
    return f"({number})" if number.startswith("-") else number
