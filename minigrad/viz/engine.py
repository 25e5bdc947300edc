"""What the small engine in the page (js/engine.js) needs to compute a stepper anew: operations, exact numbers and rules.

The rules are the formulas of derivatives.py, sent as trees, so that the page multiplies by what the table says. A pass
can be computed there if each of its nodes has one of these rows and nothing of it depends on a decision in the code.
"""

from __future__ import annotations

import ast
import dis
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..record.formula import formula, parsed, shown, without_g
from ..record.numbers import Array
from ..record.recording import Recording
from ..tape import TABLE

ROWS = """
    add sub rsub mul div reciprocal neg power power_zero power_base power_tensor mm dot
    exp log sqrt sin cos tanh sigmoid relu abs sum_all mean_all
""".split()  # noqa: SIM905
OPERATORS: dict[type[ast.AST], str] = {
    ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "power", ast.MatMult: "mm", ast.BitAnd: "&",
    ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==",
}  # fmt: skip
Tree = str | float | list[Any]


def tree_of(part: ast.expr) -> Tree:
    """A formula as nested lists: [operation, operands], a name, a number."""
    match part:
        case ast.Name(name):
            return name
        case ast.Constant(int() | float() as value):
            return float(value)
        case ast.UnaryOp(ast.USub(), operand):
            return ["neg", tree_of(operand)]
        case ast.BinOp(left, operator, right) | ast.Compare(left, [operator], [right]):
            return [OPERATORS[type(operator)], tree_of(left), tree_of(right)]
        case ast.Attribute(operand, name):
            return [name, tree_of(operand)]
        case ast.Call(ast.Name(name), given):
            return [name, *map(tree_of, given)]
    raise ValueError(f"the engine in the page cannot read {ast.unparse(part)!r}")


@cache
def rules() -> dict[str, list[dict[str, Any]]]:
    """For each row and each input: the rule as a tree, and as text with and without g."""
    return {row: [described(rule) for rule in TABLE[row].rules] for row in ROWS}


def described(rule: Callable[..., Any]) -> dict[str, Any]:
    text = formula(rule)
    factor = without_g(text)
    return {"rule": tree_of(parsed(text)), "form": shown(text), **({"partial": shown(factor)} if factor else {})}


def live_of(recording: Recording, data: dict[str, Any]) -> dict[str, Any] | None:
    """What `compute` of js/engine.js needs besides the data; None where the page cannot compute this pass anew.

    `make`: for each node its row, then the node of each operand, or a list with the number that is written there.
    `exact`: the arrays of inputs and plain data. `single`: they are float32. `seed`: the gradient that was given.
    """
    places = recording.places
    written = {move["node"]: [part[2] for part in move["parts"] if len(part) > 2] for move in data["forward"]}
    make: list[Any] = [None] * len(places)
    for step in recording.steps:
        sent = next((each for each in step if not each.skipped), None)
        if step.early or places[step.node].hooked is not None or any(each.verdict or each.hooked for each in step):
            return None
        if step.kind == "node":
            row = TABLE.get(sent.operation) if sent else None
            if row is None or row.name not in ROWS or data["nodes"][step.node].get("cut"):
                return None
            inputs = {slot: a for a, b, slot in recording.edges if b == step.node}
            own = [*row.inputs, *row.statics]
            make[step.node] = [row.name, *(inputs.get(slot, written[step.node]) for slot in range(len(own)))]
    inputs_only = [p for p in places if make[p.id] is None]
    kinds = {p.value.dtype.str[1:] for p in inputs_only if p.value is not None}
    missing = any(p.old_grad is not None or not finite(p.value) or "cut" in data["nodes"][p.id] for p in inputs_only)
    whole = all(part != [] for row in make if row for part in row)
    missing = missing or not finite(recording.seed)
    if missing or not whole or not kinds <= {"f4", "f8"} or len(kinds) != 1 or decides(recording):
        return None
    exact = {str(p.id): exactly(p.value) for p in inputs_only if p.value is not None}
    return {
        "make": make, "exact": exact, "single": kinds == {"f4"},
        "seed": exactly(recording.seed) if recording.seed_given else None,
    }  # fmt: skip


def finite(array: Array | None) -> bool:
    """Whether all numbers are known, and JSON has them."""
    return array is not None and bool(np.isfinite(array).all())


def exactly(array: Array) -> dict[str, Any]:
    return {"s": list(array.shape), "d": [float(x) for x in array.flat]}


def decides(recording: Recording) -> bool:
    """Whether the code around an operation jumps on a condition: another input might take another way."""
    codes = {place.site[0] for place in recording.places if place.site and place.symbol}
    return any("_IF_" in instruction.opname for code in codes for instruction in dis.get_instructions(code))
