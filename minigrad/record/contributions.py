"""One contribution, explained: the rule, its numbers, the kind of arithmetic."""

import ast
import inspect
import textwrap
from functools import lru_cache
from typing import Any

import numpy as np

from ..operation import parameters
from ..tensor import Node
from .formula import Named, parsed, plain, settled
from .moves import Contribution, Saved, Step
from .names import literal, symbol, term
from .nodes import Unlisted, arguments_of, array_of, known_of, operation_of
from .numbers import Array, large, short
from .places import Graph

# so many numbers of a Jacobian are shown
SMALL = 64
Terms = tuple[tuple[str, bool], ...]


def explain_contribution(sent: Contribution, step: Step, node: Node, graph: Graph, g: Any) -> None:
    """Fill in the rule, what it was given, and what kind of arithmetic it is."""
    parent = node.parents[sent.slot]
    if operation_of(node) is not None:
        explain_rule(sent, step, node, graph)
    elif hasattr(node, "function"):
        explain_function(sent, node, graph, g if isinstance(g, tuple) else ())
    # one output of several
    elif parent is not None and parent.shape is None:
        sent.how, sent.rule, sent.note = "slot", "g", f"output {node.output_nr + 1}"
    elif isinstance(node, Unlisted):
        sent.how, sent.rule = "function", f"backward of {symbol(node.name())}"
        sent.note = node.note
    # several inputs side by side, or written into one another
    else:
        sent.rule, sent.note = "its part of g", "each input gets back the part that came from it"
    if sent.hooked and sent.value is not None:
        sent.note = f"A hook makes it {short(sent.value)}"


def explain_rule(sent: Contribution, step: Step, node: Node, graph: Graph) -> None:
    """A rule of the table."""
    made, g, given = node.operation, step.upstream, arguments_of(node, sent.slot)
    rule = made.rules[sent.slot]
    assert rule is not None
    labels = {name: graph.label(node, name) for name in ("out", *made.inputs)}
    numbers = {n: v for n, v in given.items() if isinstance(v, np.generic)}
    bare = {n: v.item() for n, v in numbers.items() if literal(labels.get(n) or "0") is not NotImplemented}
    sent.rule, sent.operation = settled(rule, given | bare), made.name
    sent.arguments = known_of(node, graph.values) | given
    sent.saved = tuple(saved_as(name, value, labels.get(name, "")) for name, value in given.items())
    sent.names = {word: term(label) for word, label in labels.items() if label not in ("", "g")}
    sent.names |= {k.name: k.label for k in sent.saved if k.value is None and 0 < len(k.label) <= 20}
    sent.how, sent.terms = arithmetic(sent.rule, sent.raw.shape == g.shape)
    if large(g, sent.raw, *given.values()):
        return

    def applied(g: Array) -> Array:
        return array_of(rule(g[()], *given.values()))

    if sent.how != "matmul":
        kind_by_ones(sent, g, applied(np.ones_like(g)))
    if g.ndim and sent.raw.ndim and 0 < g.size * sent.value.size <= SMALL:
        units = np.eye(g.size, dtype=g.dtype).reshape(-1, *g.shape)
        rows = [applied(unit).sum(sent.summed) for unit in units]
        sent.jacobian = np.array([row.ravel() for row in rows])
    sent.note = ". ".join(filter(None, [sent.note, remark(sent, g)]))


def saved_as(name: str, value: Any, label: str) -> Saved:
    """One of the rule's arguments, by the name that the student knows."""
    if isinstance(value, (bool, int, float, np.ndarray, np.generic)):
        return Saved(name, label, array_of(value))
    if name == "key":
        return Saved(name, f"[{spelled(value)}]", None)
    return Saved(name, str(value) if plain(value) else "", None)


def spelled(key: Any) -> str:
    """What stands between the brackets of an index: `1:3`, `0, :`."""
    if isinstance(key, tuple):
        return ", ".join(spelled(part) for part in key if part is not Ellipsis)
    if not isinstance(key, slice):
        return str(key)
    parts = [key.start, key.stop, key.step][: 2 + (key.step not in (None, 1))]
    return ":".join("" if n is None else str(n) for n in parts)


# ------------------------------------------------------ the kind of arithmetic
@lru_cache(maxsize=4096)
def arithmetic(rule: str, same_shape: bool) -> tuple[str, Terms]:
    """What the formula tells: copy, elementwise, matmul or other.  same_shape: of g and what comes out."""
    try:
        tree = Named().visit(parsed(rule))
    # a rule that was put in place of ours
    except SyntaxError:
        return "other", ()
    match tree:
        case ast.Name():
            return "copy", ()
        case ast.BinOp(left, ast.MatMult(), right):
            factors = tuple(f for f in map(factor, (left, right)) if f is not None)
            return ("matmul", factors) if len(factors) == 2 else ("other", ())
    return "elementwise" if same_shape and number_by_number(tree) else "other", ()


def factor(tree: ast.expr) -> tuple[str, bool] | None:
    """`x` or `x.mT` as a name and whether it is transposed."""
    match tree:
        case ast.Name(name):
            return name, False
        case ast.Attribute(ast.Name(name), "mT" | "T"):
            return name, True
    return None


def number_by_number(tree: ast.AST) -> bool:
    """Whether nothing mixes or moves the numbers of g."""
    for part in ast.walk(tree):
        called = isinstance(part, ast.Call) and ast.unparse(part.func) not in ("where", "zeros")
        mixes = isinstance(part, ast.MatMult | ast.Attribute) or called
        names = [n.id for n in ast.walk(part) if isinstance(n, ast.Name)]
        if mixes and (isinstance(part, ast.MatMult) or "g" in names):
            return False
    return True


def kind_by_ones(sent: Contribution, g: Array, ones: Array) -> None:
    """What the rule makes of a gradient of ones tells its kind."""
    if ones.shape != sent.raw.shape:
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


def remark(sent: Contribution, g: Array) -> str:
    """What a factor of 0 does; how large a Jacobian is that nobody makes."""
    if sent.how == "matmul" and sent.jacobian is None:
        return f"A full Jacobian would have {g.size} × {sent.value.size} = {g.size * sent.value.size} numbers"
    if sent.how != "elementwise" or not np.ndim(sent.local) or np.all(sent.local):
        return ""
    spoilt = np.isnan(sent.raw[sent.local == 0]).any()
    passes = "0 times inf or nan is nan" if spoilt else "nothing gets through"
    return f"Where the local factor is 0, {passes}"


# ------------------------------------------------------ custom Functions
def explain_function(sent: Contribution, node: Any, graph: Graph, arrived: tuple[Any, ...]) -> None:
    """A custom Function shows the student's own line."""
    function = type(node).function
    line, parts, read = returned(function.backward)
    name, known = function.__name__, sent.slot < len(parts)
    sent.how, sent.rule = "function", parts[sent.slot] if known else f"backward of {name}"
    given = parameters(function.backward)[1:]
    unused = " (the upstream gradient is not used)" if given and read.isdisjoint(given) else ""
    sent.note = f"{name}.backward: {line}{unused}" if line else ""
    own = [*given, *(f"g{i + 1}" for i in range(len(arrived)))]
    gradients = zip(own, enumerate(arrived, 1))
    saved = [Saved(n, f"gradient of output {i}", g) for n, (i, g) in gradients if g is not None]
    for i, tensor in enumerate(node.saved_tensors):
        if tensor is not None:
            at = graph.place.get(tensor._node)
            constant = graph.names.constants.get(id(tensor._data), "")
            label = constant if at is None else graph.places[at].name
            saved.append(Saved(f"saved {i + 1}", label, array_of(tensor)))
    sent.saved = tuple(saved)


def returned(function: Any) -> tuple[str, list[str], set[str]]:
    """The last return of a function as its line and its parts, and all names that the function reads."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return "", [], set()
    lines = [n for n in ast.walk(tree) if isinstance(n, ast.Return) and n.value]
    value: Any = lines[-1].value if lines else ast.Tuple([])
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return ast.unparse(lines[-1]) if lines else "", [ast.unparse(p) for p in parts], read
