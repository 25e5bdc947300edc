"""The text of a rule, read from the derivative table itself: `g * y` for `lambda g, y: g * y`.

There is no second copy of any formula: the stepper, the errors and the page of all rules print what stands in
the table. Each file of rules is parsed once, on first use. A helper that the table calls for speed's sake is
spelled out (and a test holds the spelling to the helper).
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from minigrad.operations import Operation, parameters

ROOMS = re.compile(r"\b(kernels|layout|sums)\.")  # files of functions on arrays that rules call
SPELLED = {"power_slope(x, exponent)": "exponent * x ** (exponent - 1)", "gate(g, out)": "g * (out > 0)"}


def formulas_of(made: Operation) -> tuple[str, ...]:
    """One formula for each input of an operation; empty text where an input has no rule."""
    return tuple("" if rule is None else formula(rule) for rule in made.rules)


def formula(rule: Callable[..., Any]) -> str:
    """The body of a lambda as source; of any other function its name and what it takes."""
    code = getattr(rule, "__code__", None)
    if code is not None and code.co_name == "<lambda>":
        spots = [(p[0], p[2]) for p in code.co_positions() if p[0] is not None and p[2] is not None]
        inside = max(spots, default=None)  # the furthest instruction: those before the body may stand outside it
        names = list(code.co_varnames[: code.co_argcount])
        here = [
            tree
            for tree in lambdas(code.co_filename)
            if inside is not None
            and starts(tree.body) <= inside <= ends(tree.body)
            and arguments(tree) == names
        ]
        if here:
            innermost = max(here, key=lambda tree: starts(tree.body))
            return spelled(ast.unparse(seen(innermost.body)))
    return f"{getattr(rule, '__name__', 'rule').strip('<>')}({', '.join(parameters(rule))})"


def seen(body: ast.expr) -> ast.expr:
    """What a rule computes: `flat(share, x)` is the share, which x does not change for as long as it is on its side."""
    called = isinstance(body, ast.Call) and ast.unparse(body.func) == "flat"
    return body.args[0] if called else body  # type: ignore[attr-defined]


def spelled(text: str) -> str:
    """A formula without the helpers' names, and without the room in which another function stands."""
    for helper, meaning in SPELLED.items():
        text = meaning if text == helper else text.replace(helper, f"({meaning})")
    return ROOMS.sub("", text)


@lru_cache(maxsize=64)
def lambdas(file: str) -> tuple[ast.Lambda, ...]:
    """Every lambda of a file; none where the source cannot be read."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ()
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.Lambda))


def arguments(tree: ast.Lambda) -> list[str]:
    return [a.arg for a in tree.args.args]


def starts(tree: ast.expr) -> tuple[int, int]:
    return tree.lineno, tree.col_offset


def ends(tree: ast.expr) -> tuple[int, int]:
    return tree.end_lineno or tree.lineno, tree.end_col_offset or 0
