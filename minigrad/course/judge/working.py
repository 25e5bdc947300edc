"""A calculation by hand, and the slip in it that gives the numbers which a student wrote.

A value's exercise may hold its calculation: one step a line (`w = u + 5`, with a comment where the step has a name in
words), and what is asked for on the last line. `told(source, given)` changes one step (an operator, a name, a number, a
factor too many), or the same in several steps, goes on from there as a student would, and says which change gives these
numbers. Nobody has to foresee the slip.
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["told", "values"]

SIGNS: tuple[type[ast.operator], ...] = (ast.Add, ast.Mult, ast.Sub, ast.Div, ast.Pow)
SLIPPED = [float(n) for n in range(-50, 400)]  # what a number may become by a slip in the arithmetic
LIKELY = 3.0  # as unlikely as a change may be that explains one number of several
MOST = 4000  # pairs of changes that are tried
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
Put = Callable[[ast.expr], ast.expr]


@dataclass(frozen=True)
class Change:
    """Some steps computed in another way: how, in words, and how unlikely that is."""

    codes: Mapping[int, Any]
    says: str
    cost: float
    key: str = ""  # the same change in several steps has the same key


@dataclass(frozen=True)
class Calculation:
    """The steps with their names in words, what is asked for, and all changes, the likely ones first."""

    names: tuple[str, ...]
    words: tuple[str, ...]
    steps: tuple[Any, ...]
    asked: Any
    changes: tuple[Change, ...] = ()

    def result(self, other: Mapping[int, Any]) -> list[float]:
        """The numbers asked for, where some steps are computed in another way or have another value; [] if there are none."""
        known: dict[str, Any] = {}
        try:
            for i, name in enumerate(self.names):
                code = other.get(i, self.steps[i])
                known[name] = code if isinstance(code, float) else eval(code, {}, known)
            found = eval(self.asked, {}, known)
            return [float(number) for number in (found if isinstance(found, list) else [found])]
        except (ArithmeticError, TypeError, ValueError):
            return []


def told(source: str, given: Sequence[float]) -> str:
    """A sentence on the slip that gives these numbers, "" if none is found."""
    work = calculation(source)
    right = work.result({})
    wrong = [i for i, (a, b) in enumerate(zip(given, right)) if not near(a, b)]
    if len(given) != len(right) or not wrong:
        return ""
    first: list[Change] = []  # those that explain the first wrong number

    def fits(codes: Mapping[int, Any], until: int = len(given)) -> bool:
        found = work.result(codes)
        return bool(found) and all(map(near, found[:until], given))

    for change in work.changes:
        if fits(change.codes):
            whose = "Your numbers come out" if len(given) > 1 else "Your number comes out, for example,"
            return f"{whose} if {change.says}."
        if len(given) > 1 and change.cost <= LIKELY and fits(change.codes, wrong[0] + 1):
            first.append(change)
    if len(wrong) > 1:
        for i, value in itertools.product(reversed(range(len(work.words))), SLIPPED):
            if fits({i: value}):
                return f"All your numbers follow from {value:g} as {work.words[i]}. Compute that once more."
        likely = [change for change in work.changes if change.cost <= 1.5]
        pairs = [*itertools.product(first, work.changes), *itertools.combinations(likely, 2)]
        for one, other in pairs[:MOST]:
            if not set(one.codes) & set(other.codes) and fits({**one.codes, **other.codes}):
                return f"Your numbers come out if {one.says}, and {other.says}."
    return f"The {ORDINALS[wrong[0]]} number comes out if {first[0].says}." if first else ""


def values(source: str) -> dict[str, float]:
    """What each step gives."""
    known: dict[str, float] = {}
    work = calculation(source)
    for name, code in zip(work.names, work.steps):
        known[name] = eval(code, {}, known)
    return known


@functools.lru_cache(maxsize=16)
def calculation(source: str) -> Calculation:
    """The steps of a source, and their changes."""
    lines = source.strip().splitlines()
    *tree, asked = ast.parse("\n".join(lines)).body
    names = [ast.unparse(node.targets[0]) for node in tree if isinstance(node, ast.Assign)]
    formulas = [node.value for node in tree if isinstance(node, ast.Assign)]
    labels = {name: line.partition("#")[2].strip() for name, line in zip(names, lines) if "#" in line}
    numbers = {node.value for formula in formulas for node in ast.walk(formula)
               if isinstance(node, ast.Constant) and isinstance(node.value, int)}  # fmt: skip
    final = set(labels) | {node.id for node in ast.walk(asked) if isinstance(node, ast.Name)}
    found: list[Change] = []
    right: dict[str, Any] = {}
    for i, (name, formula) in enumerate(zip(names, formulas)):
        others: list[ast.expr] = [ast.Name(other, ast.Load()) for other in names[:i]]
        others += map(ast.Constant, sorted({0, 1} | numbers))
        seen = {ast.unparse(formula)}
        for cost, new, says, key in ways(formula, others, name in final):
            text, code = ast.unparse(new), code_of(new)
            if text not in seen and differs(code, formula, right):
                seen.add(text)
                says = in_words(says or "{} is " + text, labels).replace("{}", labels.get(name, name))
                found.append(Change({i: code}, says, cost, key if name in final else ""))
        right[name] = eval(code_of(formula), {}, right)
    groups: dict[str, list[Change]] = {}
    for change in found:
        groups.setdefault(change.key, []).append(change)
    groups.pop("", None)
    for group in groups.values():
        steps = {next(iter(change.codes)): change for change in group}
        for few in [list(steps.values())[k:] for k in range(len(steps) - 1)]:
            codes = {step: code for change in few for step, code in change.codes.items()}
            found.append(Change(codes, " and ".join(change.says for change in few), few[0].cost + 0.25))
    assert isinstance(asked, ast.Expr)
    words = tuple(labels.get(name, name) for name in names)
    return Calculation(tuple(names), words, tuple(map(code_of, formulas)), code_of(asked.value),
                       tuple(sorted(found, key=lambda change: (change.cost, -min(change.codes)))))  # fmt: skip


def differs(code: Any, formula: ast.expr, right: Mapping[str, Any]) -> bool:
    """True if a step gives another number when it is computed so."""
    try:
        return bool(eval(code, {}, right) != eval(code_of(formula), {}, right))
    except (ArithmeticError, TypeError, ValueError):
        return False


def in_words(text: str, labels: Mapping[str, str]) -> str:
    """The text with the names of steps in words."""
    for name, label in labels.items():
        text = re.sub(rf"\b{name}\b", label, text)
    return text


def ways(formula: ast.expr, others: Sequence[ast.expr], final: bool) -> Iterator[tuple[float, ast.expr, str, str]]:
    """How unlikely, what the step may be computed as, this in words if not by its formula, and the key."""
    here = list(places(formula))
    yield from ((1.2, part, "", "") for part, _ in here[1:])
    for node, put in here:
        if isinstance(node, ast.BinOp):
            for sign in SIGNS:
                cost = 2.5 if sign is ast.Pow else 1.5 if sign in (ast.Sub, ast.Div) else 1.0
                yield cost, put(ast.BinOp(node.left, sign(), node.right)), "", f"{type(node.op)} {sign}"
            if isinstance(node.op, ast.Pow):
                new = put(ast.BinOp(node.left, ast.BitXor(), node.right))
                yield 1.2, new, f"{{}} is {ast.unparse(new)}, and in Python ^ is no power", ""
            yield 1.0, put(node.left), "", "left"
            yield 1.0, put(node.right), "", "right"
            if isinstance(node.right, ast.BinOp):
                inner = ast.BinOp(node.left, node.op, node.right.left)
                yield 1.0, put(ast.BinOp(inner, node.right.op, node.right.right)), "", "brackets"
        elif isinstance(node, ast.Name | ast.Constant):
            old = ast.unparse(node)
            if isinstance(node, ast.Constant) and isinstance(node.value, int):
                yield from ((2.5, put(ast.Constant(node.value + n)), "", f"{old} {n:+}") for n in (1, -1))
            for other in others:
                cost = 2.0 if isinstance(node, ast.Name) and isinstance(other, ast.Name) else 3.0
                yield cost, put(other), "", " ".join(sorted([old, ast.unparse(other)]))
    if not final:
        return
    yield from ((3.0, other, "", f"whole {ast.unparse(other)}") for other in others)
    for other, text in [(other, ast.unparse(other)) for other in others]:
        if text not in "01":
            yield 3.0, ast.BinOp(formula, ast.Mult(), other), f"{{}} is multiplied by {text} once more", f"times {text}"
            yield 3.0, ast.BinOp(formula, ast.Div(), other), f"{{}} is divided by {text}", f"by {text}"
            yield 3.5, ast.BinOp(formula, ast.Add(), other), f"{text} is added to {{}}", f"plus {text}"
    yield 2.0, ast.UnaryOp(ast.USub(), formula), "{} has the other sign", "sign"
    yield 3.0, ast.BinOp(formula, ast.Pow(), ast.Constant(2)), "{} is squared once more", "squared"


def places(formula: ast.expr) -> Iterator[tuple[ast.expr, Put]]:
    """Each part of a formula, and what makes the formula with something else in its place."""

    def in_(put: Put, left: bool, whole: ast.BinOp) -> Put:
        return lambda new: ast.BinOp(put(new) if left else whole.left, whole.op, whole.right if left else put(new))

    yield formula, lambda new: new
    if isinstance(formula, ast.BinOp):
        yield from ((part, in_(put, True, formula)) for part, put in places(formula.left))
        yield from ((part, in_(put, False, formula)) for part, put in places(formula.right))


def code_of(formula: ast.expr) -> Any:
    return compile(ast.fix_missing_locations(ast.Expression(formula)), "<by hand>", "eval")


def near(a: float, b: float) -> bool:
    """True if these are the same number."""
    return abs(a - b) <= 1e-6 * (1 + abs(b))
