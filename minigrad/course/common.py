"""What the questions that fail have in common, and no other one has: it says which part of an answer to look at.

`in_programs` looks at the operations and statements of short programs, `in_inputs` at the arrays that calls are given.
Both return a sentence, or "" where nothing tells the failing ones from the others.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = ["in_inputs", "in_programs"]

Array = np.ndarray[Any, Any]
SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@",
}  # fmt: skip
SHARED = "a tensor that two operations use"
MANY = "a tensor that is used more than once"
PLAIN = {"append", "tolist", "index", "backward", "copy", "item", "extend"}  # no operation that could be at fault
INPUTS: dict[str, Callable[[Array], Any]] = {
    "an input has three axes or more": lambda v: v.ndim > 2,
    "an input has two axes or more": lambda v: v.ndim > 1,
    "an input has no axis": lambda v: v.ndim == 0,
    "an axis has the length 1": lambda v: 1 in v.shape,
    "an input holds a 0": lambda v: (v == 0).any(),
    "an input holds a negative number": lambda v: (v < 0).any(),
    "an input holds a large number": lambda v: (np.abs(v) > 500).any(),
}
WITHOUT: dict[str, Callable[[Any], Any]] = {  # the same input without it
    "an input holds a 0": lambda v: like(np.where(np.asarray(v) == 0, 1.0, v), v),
    "an input holds a negative number": lambda v: like(np.abs(v), v),
    "an input holds a large number": lambda v: like(np.clip(v, -3.0, 3.0), v),
}


def in_inputs(inputs: Mapping[int, Sequence[Array]], failing: Sequence[int]) -> tuple[str, Callable[[Any], Any] | None]:
    """A sentence on the inputs of calls, and what takes that away from an input (None for a shape): `inputs` are the arrays
    of each call, `failing` the calls that fail. What fails once, or only does not fail once, tells nothing about shapes."""
    wrong = set(inputs) & set(failing)
    for words, holds in INPUTS.items() if wrong < set(inputs) else ():
        enough = words in WITHOUT or min(len(wrong), len(inputs) - len(wrong)) > 1
        if enough and all(any(map(holds, arrays)) == (i in failing) for i, arrays in inputs.items()):
            return f"It goes wrong where {words}, and nowhere else.", WITHOUT.get(words)
    return "", None


def like(array: Array, value: Any) -> Any:
    """An array as what it was made of: a number, a list, an array."""
    return array if isinstance(value, np.ndarray) else array.tolist()


def in_programs(programs: Sequence[tuple[str, Mapping[str, Any]]], failing: Sequence[int], errors: Sequence[int]) -> str:
    """A sentence on programs, each with its data: what all that fail do, and no other one.

    Of the programs that raise `errors`, as they should, nothing can be learned about results.
    """
    if len(programs) < 8 or set(failing) & set(errors) or len(failing) > len(programs) / 2:
        return ""
    held = [features(code, data) for code, data in programs]
    words = dict.fromkeys(itertools.chain(*held))
    having = {word: {i for i, each in enumerate(held) if word in each and i not in errors} for word in words}
    fails = set(failing)
    added = " Its gradient is the sum of all contributions, and it is passed on when the last one has come."
    for word, there in having.items():
        one = word.startswith(("`.", "`@", "`-x", "a plain number"))  # one program alone does many things
        if there == fails and (len(fails) > 1 or one):
            return f"The programs that go wrong are those with {word}, and no others." + added * (word in (SHARED, MANY))
    wider = [word for word, there in having.items() if fails < there and word != "no backward pass"]
    for this, other in itertools.combinations(wider, 2) if len(fails) > 2 else ():
        if having[this] & having[other] == fails:
            return f"The programs that go wrong are those with {this} and {other}, and no others."
    close = [word for word in wider if len(having[word]) <= (3 if word == SHARED else 1.5) * len(fails) and len(fails) > 1]
    return f"All programs that go wrong have {close[0]} in them." + added * (close[0] in (SHARED, MANY)) if close else ""


def features(code: str, data: Mapping[str, Any]) -> list[str]:
    """What a program does, in words."""
    tree = ast.parse(code)
    users = [name for node in ast.walk(tree) if isinstance(node, ast.BinOp)
             for name in {each.id for each in (node.left, node.right) if isinstance(each, ast.Name)}]  # fmt: skip
    twice = any(users.count(name) > 1 for name in users if tracked(ast.Name(name)))
    found = [SHARED, MANY] if twice and re.search("ensor|Value|Deep", code) else []
    shapes = {name: value.shape for name, value in data.items() if isinstance(value, np.ndarray)}
    for node in ast.walk(tree):
        lists = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.List | ast.ListComp)]
        if isinstance(node, ast.BinOp) and type(node.op) in SIGNS and tracked(node) and not lists:
            sign = SIGNS[type(node.op)]
            found.append(f"`{sign}`")
            for side, words in ((node.left, "left"), (node.right, "right")):
                if tracked(side):
                    found.append(f"a tensor on the {words} of `{sign}`")
                elif isinstance(side, ast.Constant | ast.UnaryOp) and sign != "**":
                    found.append(f"a plain number on the {words} of `{sign}`")
            names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
            if len(set(names)) < len(names):
                found += ["a tensor that is used twice", MANY]
            sides = [shapes.get(side.id) for side in (node.left, node.right) if isinstance(side, ast.Name)]
            if sign != "@" and len(sides) == 2 and None not in sides and sides[0] != sides[1]:
                fewer = len({len(side) for side in sides if side is not None}) > 1
                found += ["operands of different shapes", "an operand with fewer axes than the other"] if fewer else [
                    "operands of different shapes"]  # fmt: skip
                found += ["an operand that is stretched along an axis of length 1"] * any(1 in side for side in sides if side)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and tracked(node.operand):
            found.append("`-x`")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr not in PLAIN:
            given = ", ".join([*(["..."] if node.args else []), *(f"{k.arg}=..." for k in node.keywords)])
            if node.func.attr.islower() and ast.unparse(node.func.value) not in ("np", "torch", "nn", "F", "rng"):
                found += ["a sum or a mean"] * (node.func.attr in ("sum", "mean"))
                found += [f"`.{node.func.attr}`", f"`.{node.func.attr}({given})`"]
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and len(node.value.id) == 1:
            found.append("an index")
            if isinstance(node.slice, ast.List):
                found.append("a list as index")
        elif isinstance(node, ast.With):
            inner = any(isinstance(each, ast.With) for part in node.body for each in ast.walk(part))
            found += [f"`with {ast.unparse(node.items[0])}`", *(["a block inside a block"] * inner)]
        elif isinstance(node, ast.Raise):
            found.append("an error in a block")
    passes = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
              and node.func.attr == "backward"]  # fmt: skip
    again = any(isinstance(node, ast.For) and "backward" in ast.unparse(node) and "append" not in ast.unparse(node)
                for node in ast.walk(tree))  # fmt: skip
    if len(passes) > 1 or again:
        found.append("more than one backward pass")
    if any(keyword.arg == "retain_graph" for node in passes for keyword in node.keywords):
        found.append("`retain_graph=True`")
    if not passes:
        found.append("no backward pass")
    return found


def tracked(node: ast.AST) -> bool:
    """True for an expression with a tensor in it: a name of one letter that is no constant, gradient or array."""
    return any(isinstance(each, ast.Name) and len(each.id) == 1 and each.id not in "kvug" for each in ast.walk(node))
