"""One contribution, explained: the rule, its numbers, the kind of arithmetic."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

import numpy as np

from minigrad.operation import Operation, parameters
from minigrad.record.formula import (
    Named,
    latex,
    parsed,
    plain,
    settled,
)
from minigrad.record.graph import Graph
from minigrad.record.moves import Contribution, Saved, Step
from minigrad.record.names import term
from minigrad.record.nodes import arguments_of, array_of, inputs_of, operation_of
from minigrad.record.numbers import Array, short
from minigrad.tensor import Node

SMALL = 64  # of so many numbers a Jacobian is shown, and slopes are measured


def explain_contribution(
    sent: Contribution, step: Step, node: Node, graph: Graph, arrived: Any
) -> None:
    """Fill in the rule, what it was given, and what kind of arithmetic it is."""
    made = operation_of(node)
    if made is None:
        explain_function(sent, node, graph, arrived)
    else:
        explain_rule(sent, step, node, graph, made)
    if sent.hooked and sent.value is not None:
        sent.note = f"A hook makes it {short(sent.value)}"


def explain_rule(
    sent: Contribution, step: Step, node: Node, graph: Graph, made: Operation
) -> None:
    """A rule of the table."""
    assert sent.raw is not None and sent.value is not None
    given = arguments_of(node, sent.slot)
    sent.operation = made.name
    rule = made.rules[sent.slot]
    assert rule is not None
    numbers = {n: v for n, v in given.items() if not graph.label(node, n)}
    known = given | {n: scalar(v) for n, v in numbers.items()}
    sent.rule = settled(rule, known)
    sent.arguments = graph.inputs(node) | given
    words = [saved_as(name, v, node, graph) for name, v in given.items()]
    sent.saved = tuple(k for k in words if k.label or k.value is not None)
    sent.how, sent.terms = arithmetic(sent.rule, sent.raw, step.upstream)
    sent.names = students_names(sent, node, graph)

    def applied(g: Array) -> Array:
        return array_of(rule(g[()], *given.values()))

    g, sizes = step.upstream, (step.upstream.size, sent.value.size)
    size = sizes[0] * sizes[1]
    with np.errstate(all="ignore"):
        if sent.how != "matmul":
            kind_by_ones(sent, step, applied(np.ones_like(g)))
        if g.ndim and sent.raw.ndim and size <= SMALL:
            units = np.eye(g.size, dtype=g.dtype).reshape(-1, *g.shape)
            rows = [applied(unit).sum(sent.summed) for unit in units]
            sent.jacobian = np.array([row.ravel() for row in rows])
        elif sent.how == "matmul":
            full = "a full Jacobian would have"
            sent.note = f"{full} {sizes[0]} × {sizes[1]} = {size} numbers"
    if sent.how == "elementwise" and not g.ndim:
        ones = np.ones_like(g, np.float64)
        slope = measured(sent.slot, ones, node, graph)
        sent.measured = None if slope is None or slope.ndim else float(slope)
    sent.latex = latex(sent.named)
    sent.note = sent.note or remark(sent)


def scalar(value: Any) -> Any:
    """A numpy number as Python's own."""
    return value.item() if isinstance(value, np.generic) else value


def saved_as(name: str, value: Any, node: Node, graph: Graph) -> Saved:
    """One of the rule's arguments, by the name that the student knows."""
    if isinstance(value, (bool, int, float, np.ndarray, np.generic)):
        return Saved(name, graph.label(node, name), np.array(value))
    if name in ("key", "index"):
        return Saved(name, f"[{spelled(value)}]", None)
    return Saved(name, str(value) if plain(value) else "", None)


def spelled(key: Any) -> str:
    """What stands between the brackets of an index: `1:3`, `0, :`."""
    if isinstance(key, tuple):
        return ", ".join(spelled(part) for part in key if part is not Ellipsis)
    if isinstance(key, slice):
        parts = [key.start, key.stop, key.step]
        parts = parts if key.step not in (None, 1) else parts[:2]
        return ":".join("" if n is None else str(n) for n in parts)
    if isinstance(key, np.ndarray):
        return short(key) if key.size > 6 else str(key.tolist())
    return str(key)


def students_names(sent: Contribution, node: Node, graph: Graph) -> dict[str, str]:
    """What the student calls each word of the rule."""
    words = ("out", *node.operation.inputs)
    labels = {word: graph.label(node, word) for word in words}
    names = {w: term(text) for w, text in labels.items() if text not in ("", "g")}
    for saved in sent.saved:
        if saved.value is None and len(saved.label) <= 20:
            names[saved.name] = saved.label
    return names


# ------------------------------------------------------ the kind of arithmetic
def arithmetic(
    rule: str, raw: Array, g: Array
) -> tuple[str, tuple[tuple[str, bool], ...]]:
    """What the formula tells: copy, elementwise, matmul or other."""
    try:
        tree = Named().visit(parsed(rule))
    except SyntaxError:  # a rule that was put in place of ours
        return "other", ()
    if isinstance(tree, ast.Name):
        return "copy", ()
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult):
        factors = [factor(tree.left), factor(tree.right)]
        if None not in factors:
            return "matmul", tuple(f for f in factors if f is not None)
    if raw.shape == g.shape and number_by_number(tree):
        return "elementwise", ()
    return "other", ()


def factor(tree: ast.expr) -> tuple[str, bool] | None:
    """`x` or `x.mT` as a name and whether it is transposed."""
    turned = isinstance(tree, ast.Attribute) and tree.attr in ("mT", "T")
    inner = tree.value if isinstance(tree, ast.Attribute) else tree
    return (inner.id, turned) if isinstance(inner, ast.Name) else None


def number_by_number(tree: ast.AST) -> bool:
    """Whether nothing mixes or moves the numbers of g."""
    for part in ast.walk(tree):
        if isinstance(part, ast.MatMult):
            return False
        if isinstance(part, ast.Attribute) and holds_g(part.value):
            return False
        called = ast.unparse(part.func) if isinstance(part, ast.Call) else "where"
        if called not in ("where", "zeros") and holds_g(part):
            return False
    return True


def holds_g(tree: ast.AST) -> bool:
    names = (n.id for n in ast.walk(tree) if isinstance(n, ast.Name))
    return "g" in names


def kind_by_ones(sent: Contribution, step: Step, ones: Array) -> None:
    """What the rule makes of a gradient of ones tells its kind."""
    g = step.upstream
    if sent.raw is None or ones.shape != sent.raw.shape:
        return
    if sent.how == "elementwise":
        sent.local = ones
    elif sent.how == "other":
        whole = (ones == np.abs(np.round(ones))).all()
        if ones.size == g.size and (ones == 1).all():
            sent.how = "move"
            turned = sent.rule.startswith(("swap(", "permute(", "transpose("))
            sent.rule = "g.mT" if turned and g.ndim == 2 else sent.rule
        elif (ones == 0).any() and (ones >= 1).any() and whole:
            sent.how, sent.local = "scatter", ones
        elif ones.size >= g.size and np.unique(ones).size == 1:
            sent.how, sent.local = "spread", ones


def remark(sent: Contribution) -> str:
    """What a picture of this kind of rule needs to say besides."""
    if sent.how == "move":
        return "the same numbers in another shape: no arithmetic"
    if sent.how == "scatter":
        unused = "never used in the result, so no gradient comes back"
        return f"hatched: {unused}"
    local, raw = sent.local, sent.raw
    if sent.how != "elementwise" or local is None or raw is None:
        return ""
    if not local.ndim or (local != 0).all():
        return ""
    spoilt = np.isnan(raw[local == 0]).any()
    passes = "but 0 times inf or nan is nan" if spoilt else "nothing gets through"
    return f"hatched: the local factor is 0, {passes}"


def measured(slot: int, g: Array, node: Node, graph: Graph) -> Array | None:
    """The contribution by central differences of sum(g * forward).

    None for an input of many numbers, and where an input is not known.
    """
    given = inputs_of(node, graph.values)
    if given is None or np.size(given[slot]) > SMALL:
        return None
    double = [a.astype(np.float64) if floating(a) else a for a in given]
    x = np.array(double[slot], np.float64)
    slopes = np.zeros(x.shape)
    with np.errstate(all="ignore"):
        for index in np.ndindex(*x.shape):
            sides = []
            for h in (1e-5, -1e-5):
                nudged = x.copy()
                nudged[index] += h
                double[slot] = nudged[()]
                sides.append(np.sum(g * node.operation.forward(*double)))
            slopes[index] = (sides[0] - sides[1]) / 2e-5
    return slopes


def floating(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "f"


# ------------------------------------------------------ custom Functions
def explain_function(
    sent: Contribution, node: Node, graph: Graph, arrived: Any
) -> None:
    """A custom Function shows the student's own line."""
    function = getattr(node, "function", None)
    parent = node.parents[sent.slot]
    if function is not None:
        sent.how = "function"
        sent.saved = saved_by_function(node, graph, arrived)
        line, parts = returned(function.backward)
        known = sent.slot < len(parts)
        other = f"backward of {function.__name__}"
        sent.rule = parts[sent.slot] if known else other
        sent.note = f"{function.__name__}.backward: {line}" if line else ""
    elif parent is not None and parent.shape is None:  # one output of several
        sent.how, sent.rule = "slot", "g"
        sent.note = f"output {node.output_nr + 1}"
    else:  # several inputs side by side, or written into one another
        sent.rule = "its part of g"
        sent.note = "each input gets back the part that came from it"


def returned(function: Any) -> tuple[str, list[str]]:
    """The last return of a function as its line and its parts."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return "", []
    lines = [n for n in ast.walk(tree) if isinstance(n, ast.Return) and n.value]
    if not lines:
        return "", []
    value = lines[-1].value
    assert value is not None
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    return ast.unparse(lines[-1]), [ast.unparse(p) for p in parts]


def saved_by_function(node: Any, graph: Graph, arrived: Any) -> tuple[Saved, ...]:
    """What a custom Function has in backward: its gradients, and what it saved."""
    own = parameters(node.function.backward)[1:]
    saved = [
        Saved(own[i] if i < len(own) else f"g{i + 1}", f"gradient of output {i + 1}", g)
        for i, g in enumerate(arrived or ())
        if g is not None
    ]
    for i, tensor in enumerate(getattr(node, "saved_tensors", ())):
        if tensor is not None:
            at = graph.place.get(tensor._node)
            constant = graph.names.constants.get(id(tensor._data), "")
            label = constant if at is None else graph.places[at].name
            saved.append(Saved(f"saved {i + 1}", label, np.array(tensor._data)))
    return tuple(saved)
