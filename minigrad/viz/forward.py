"""The forward pass as moves of the time line: which tensor is computed, from what, and with which numbers."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

from ..record.moves import Place
from ..record.numbers import number, short
from ..record.recording import Recording
from .layout import sizes

SIGNS = {"*": "\u00b7"}
INFIX = ("+", "-", "*", "/", "@", "**")
Part = list[Any]  # its name, where its value is in `vals` (None: nowhere), and the value of a written number


def forward_moves(recording: Recording, nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One move for each operation, oldest first: node, text, line, and the parts that go in."""
    uses = Counter(a for a, _, _ in recording.edges)
    made = [p for p in recording.places if p.needs_grad and not p.leaf]
    return [move(place, recording, nodes, uses[place.id]) for place in made]


def move(place: Place, recording: Recording, nodes: list[dict[str, Any]], uses: int) -> dict[str, Any]:
    inputs = sorted((slot, a) for a, b, slot in recording.edges if b == place.id)
    parts = parts_of(place, [recording.places[a] for _, a in inputs], nodes)
    line = written(place, parts, {p.name: p for p in recording.places})
    value = "" if place.value is None else short(place.value)
    text = f"{place.name} is computed: {line or value}."
    if uses > 1:
        text += f" {place.name} is used {uses} times, so {uses} contributions will come back to it."
    return {"node": place.id, "text": text, "line": line, "parts": parts}


def parts_of(place: Place, inputs: list[Place], nodes: list[dict[str, Any]]) -> list[Part]:
    """What goes in, in the order of the source; a number that is written there has no box."""
    tensors: list[Part] = [[p.name, nodes[p.id]["val"]] for p in inputs]
    if place.symbol not in INFIX or len(tensors) == 2:
        return tensors
    try:
        tree = ast.parse(place.expression, mode="eval").body
    except SyntaxError:
        return tensors
    if not isinstance(tree, ast.BinOp) or len(tensors) != 1:
        return tensors
    sides = [literal(tree.left), literal(tree.right)]
    if sides.count(None) != 1:
        return tensors
    return [tensors[0] if x is None else [number(x), None, x] for x in sides]


def literal(tree: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(tree)
    except ValueError:
        return None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def written(place: Place, parts: list[Part], places: dict[str, Place]) -> str:
    """`c = a * b = 2 · (-3) = -6`; of arrays the operation and the shape of the result."""
    values = [p[2] if len(p) > 2 else places[p[0]].value for p in parts]
    formula = place.expression or joined(place, [p[0] for p in parts])
    said = [place.name, formula] if formula != place.name else [formula]
    if place.value is None:
        return " = ".join(said)
    if place.value.ndim:
        return f"{' = '.join(said)}, shape {sizes(place.value.shape)}"
    if values and all(v is not None and getattr(v, "ndim", 0) == 0 for v in values):
        said.append(joined(place, [number(v) for v in values]))
    return " = ".join([*said, number(place.value)])


def joined(place: Place, texts: list[str]) -> str:
    """Operands with their operation, in brackets where that is needed."""
    if place.symbol in INFIX and len(texts) == 2:
        first = texts[0][:1] == "-" and place.symbol == "**"
        left, right = (f"({t})" if " " in t or (t[:1] == "-" and (i or first)) else t for i, t in enumerate(texts))
        return f"{left} {SIGNS.get(place.symbol, place.symbol)} {right}"
    if place.symbol == "-" and len(texts) == 1:
        return f"-({texts[0]})" if texts[0][:1] == "-" else f"-{texts[0]}"
    return f"{place.symbol}({', '.join(texts)})"
