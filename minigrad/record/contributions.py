"""One contribution, explained: which rule, with which numbers, and what kind of arithmetic it is.

`explain_share` reads the rule's formula from the table and finds what to show: factors that multiply element by
element, a product of matrices, numbers that only move, spread out or go back to where they were read. `check_share`
runs a student's own rule on the same numbers and sets it beside the engine's and beside a measurement.
"""

from __future__ import annotations

import ast
import inspect
import re
import reprlib
import textwrap
from collections.abc import Mapping
from copy import deepcopy
from difflib import get_close_matches
from time import perf_counter
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from minigrad import layout
from minigrad.operations import Operation, parameters
from minigrad.record.formula import formulas_of
from minigrad.record.names import term
from minigrad.record.notation import WORD, bracketed, latex
from minigrad.record.numbers import Array, number, plural, short
from minigrad.record.recording import Contribution, Saved, Step
from minigrad.record.values import array_of, inputs_of, operation_of
from minigrad.tape import TABLE, Node

if TYPE_CHECKING:
    from minigrad.record.recorder import Recorder


SAID = {"erase(g, path)": "g, but 0 where it was overwritten", "follow(g, path)": "g where it was written"}
OF_SHAPES = {"len": len, "min": min, "count": layout.count, "inverse_order": layout.inverse_order,
             "negated": layout.negated, "negated_pairs": layout.negated_pairs}  # fmt: skip


def explain_contribution(sent: Contribution, step: Step, node: Node, recorder: Recorder) -> None:
    """The rule in words and symbols, what it was given, and what kind of arithmetic it is."""
    made = operation_of(node)
    if made is None:
        explain_function(sent, node, recorder)
    else:
        explain_rule(sent, step, node, recorder, made)
    if sent.hooked and sent.value is not None:
        sent.note = f"A hook makes it {short(sent.value)}"


def explain_rule(sent: Contribution, step: Step, node: Node, recorder: Recorder, made: Operation) -> None:
    """One rule of the table: its formula in the student's words, what it was given, the arithmetic."""
    slot = sent.slot
    names, args = made.arguments[slot], (node.kept or ())[slot] or ()
    formula = settled(formulas_of(made)[slot], dict(zip(names, args, strict=True)))
    sent.rule, sent.operation = SAID.get(formula, formula), made.name
    sent.arguments = {**recorder.inputs(node), **dict(zip(names, args, strict=True))}
    sent.saved = tuple(saved_as(name, value, node, recorder) for name, value in zip(names, args, strict=True))
    sent.how, sent.terms = arithmetic(sent, step)
    sent.names = students_names(sent, node, recorder)
    sent.latex = latex(sent.named) or latex(sent.rule)
    rule = made.rules[slot]
    assert rule is not None and sent.raw is not None

    def applied(g: Array) -> Array:
        return array_of(rule(g[()], *args))

    with np.errstate(all="ignore"):
        if sent.how != "matmul":
            kind_by_ones(sent, step, applied(np.ones_like(step.upstream)))
        assert sent.value is not None
        size = sent.value.size * step.upstream.size
        if step.upstream.ndim and sent.raw.ndim and size <= 64:
            units = np.eye(step.upstream.size, dtype=step.upstream.dtype)
            rows = [applied(u.reshape(step.upstream.shape)).sum(sent.summed) for u in units]  # a stretched input is one
            sent.jacobian = np.array([row.ravel() for row in rows])
        elif sent.how == "matmul":
            sent.note = "; ".join(
                filter(None, (
                    helpers(sent.rule, sent.named, rule),
                    f"a full Jacobian would have {step.upstream.size} \u00d7 {sent.value.size} = {size} numbers",
                ))
            )  # fmt: skip
    if sent.how == "elementwise":
        sent.measured = slope(node, slot, recorder)
    sent.note = sent.note or remark(sent) or helpers(sent.rule, sent.named, rule)


def settled(rule: str, given: Mapping[str, Any]) -> str:
    """A formula with its dealings with shapes done: `expand(g / 6, (2, 3))` for `expand(g / count(x_shape), x_shape)`."""
    known = {name: value for name, value in given.items() if not hasattr(value, "dtype")}
    return ast.unparse(Settle(known).visit(ast.parse(rule, mode="eval"))) if known else rule


class Settle(ast.NodeTransformer):
    """Replaces each call or part of what is no tensor by the whole numbers that it gives."""

    def __init__(self, known: Mapping[str, Any]) -> None:
        self.known = known

    def visit(self, tree: ast.AST) -> Any:
        if not isinstance(tree, (ast.Call, ast.Subscript)):
            return self.generic_visit(tree)
        words = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
        if words & self.known.keys() and words <= self.known.keys() | OF_SHAPES.keys():
            value = eval(ast.unparse(tree), OF_SHAPES, dict(self.known))
            return ast.parse(str(value), mode="eval").body
        return self.generic_visit(tree)


def remark(sent: Contribution) -> str:
    """What a picture of this kind of rule needs to say besides."""
    if sent.how == "move":
        return "the same numbers in another shape: no arithmetic"
    if sent.how == "scatter":
        return "hatched: never used in the result, so no gradient comes back"
    if (
        sent.how == "elementwise"
        and sent.local is not None
        and sent.local.ndim
        and (sent.local == 0).any()
    ):
        assert sent.raw is not None
        spoilt = np.isnan(sent.raw[sent.local == 0]).any() if sent.raw.shape == sent.local.shape else False
        return f"hatched: the local factor is 0, {'but 0 times inf or nan is nan' if spoilt else 'nothing gets through'}"
    return ""


def helpers(text: str, shown: str, rule: Any) -> str:
    """What the functions in a rule do that is shown, from the first line of what is written above each."""
    said = []
    for name in dict.fromkeys(WORD.findall(text)):
        if f"{name}(" not in shown:
            continue
        helper = getattr(rule, "__globals__", {}).get(name)
        if isinstance(helper, FunctionType) and helper.__doc__ and not helper.__doc__.startswith("Elementwise "):
            said.append(f"{name}: {re.split(r'[;.](?= |$)', helper.__doc__.splitlines()[0])[0]}")
    return "; ".join(said)


def students_names(sent: Contribution, node: Node, recorder: Recorder) -> dict[str, str]:
    """What the student calls each word of the rule: a tensor's name, a number, a shape; g stays g."""
    i = recorder.place[node]
    labels = {"out": recorder.places[i].name}
    for slot, (name, parent) in enumerate(zip(node.operation.inputs, node.parents, strict=False)):
        place = recorder.cut.get((i, slot)) if parent is None else recorder.place[parent]
        if place is not None:
            labels[name] = recorder.places[place].name
    names = {name: term(label) for name, label in labels.items() if label != "g"}
    for saved in sent.saved:
        if saved.value is None and 0 < len(saved.label) <= 20:
            names[saved.name] = saved.label
        elif saved.name not in labels and saved.value is not None and saved.value.ndim == 0:
            names[saved.name] = str(saved.value) if saved.value.dtype == bool else bracketed(number(saved.value))
    return names


def kind_by_ones(sent: Contribution, step: Step, ones: Array) -> None:
    """What the rule makes of a gradient of ones tells its kind: factors, the same numbers, places, copies."""
    assert sent.raw is not None
    if ones.shape != sent.raw.shape:
        return
    if sent.how == "elementwise":
        sent.local = ones
    elif sent.how == "other":
        if ones.size == step.upstream.size and (ones == 1).all():
            sent.how = "move"
        elif (ones == 0).any() and (ones >= 1).any() and (ones == np.abs(np.round(ones))).all():
            sent.how, sent.local = "scatter", ones
        elif ones.size >= step.upstream.size and np.unique(ones).size == 1:
            sent.how, sent.local = "spread", ones


def explain_function(sent: Contribution, node: Node, recorder: Recorder) -> None:
    """A custom Function shows the student's own line; one of its outputs only passes its gradient on."""
    function = getattr(node, "function", None)
    parent = node.parents[sent.slot]
    if function is None and parent is not None and parent.shape is None:
        sent.how, sent.rule, sent.note = "slot", "g", f"output {node.output_nr + 1}"
        return
    if function is None:  # several inputs side by side, or written into one another
        sent.rule, sent.note = "its part of g", "each input gets back the part that came from it"
        return
    sent.how = "function"
    sent.saved = saved_by_function(node, recorder)
    line, parts = returned(function.backward)
    sent.rule = parts[sent.slot] if sent.slot < len(parts) else f"backward of {function.__name__}"
    sent.note = f"{function.__name__}.backward: {line}" if line else ""


def returned(function: Any) -> tuple[str, list[str]]:
    """The last return of a function as its line and its parts; nothing where the source cannot be read."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return "", []
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Return) and n.value is not None]
    if not found:
        return "", []
    value = found[-1].value
    assert value is not None
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    return ast.unparse(found[-1]), [ast.unparse(p) for p in parts]


def saved_as(name: str, value: Any, node: Node, recorder: Recorder) -> Saved:
    """One of the rule's arguments: under what name the student knows it, and its value if it is numbers."""
    made = node.operation
    label = ""
    if name == "out":
        label = recorder.places[recorder.place[node]].name
    elif name in made.inputs:
        slot = made.inputs.index(name)
        parent = node.parents[slot]
        if parent is not None:
            label = recorder.places[recorder.place[parent]].name
        elif (recorder.place[node], slot) in recorder.cut:
            label = recorder.places[recorder.cut[recorder.place[node], slot]].name
    if isinstance(value, (bool, int, float, np.ndarray, np.generic)):
        return Saved(name, label, np.array(value))
    return Saved(name, f"[{spelled(value)}]" if name in ("key", "index") else str(value), None)


def spelled(key: Any) -> str:
    """What stands between the brackets of an index: `1:3`, `[0, 0, 1]`, `0, :`."""
    if isinstance(key, tuple):
        return ", ".join(spelled(part) for part in key if part is not Ellipsis)
    if isinstance(key, slice):
        return ":".join("" if n is None else str(n) for n in (key.start, key.stop, key.step)[: 2 + (key.step not in (None, 1))])
    return short(key) if isinstance(key, np.ndarray) and key.size > 6 else str(getattr(key, "tolist", lambda: key)())


def saved_by_function(node: Node, recorder: Recorder) -> tuple[Saved, ...]:
    """What a custom Function has in backward: the gradients of its several outputs, and what it saved."""
    place = recorder.place
    own = parameters(node.function.backward)[1:]  # type: ignore[attr-defined]
    saved = [Saved(own[i] if i < len(own) else f"g{i + 1}", f"gradient of output {i + 1}", g)
            for i, g in enumerate(recorder.arrivals.get(place[node], ())) if g is not None]  # fmt: skip
    for i, tensor in enumerate(getattr(node, "saved_tensors", ())):
        if tensor is not None:
            owner = None if tensor._node is None else place.get(tensor._node)
            constant = recorder.names.constants.get(id(tensor._data), "")
            label = constant if owner is None else recorder.places[owner].name
            saved.append(Saved(f"saved {i + 1}", label, np.array(tensor._data)))
    return tuple(saved)


def arithmetic(sent: Contribution, step: Step) -> tuple[str, tuple[tuple[str, bool], ...]]:
    """What kind of rule this is, read from its formula: copy, elementwise, matmul or other."""
    assert sent.raw is not None
    try:
        tree: ast.AST = ast.parse(sent.rule, mode="eval").body
    except SyntaxError:  # a rule that was put in place of ours need not be one expression
        return "other", ()
    if isinstance(tree, ast.Name):
        return "copy", ()
    if (pair := product(tree)) is not None:
        return "matmul", pair
    if sent.raw.shape == step.upstream.shape and number_by_number(tree):
        return "elementwise", ()
    return "other", ()


def product(tree: ast.AST) -> tuple[tuple[str, bool], ...] | None:
    """The two factors of a matrix product, each with whether it is transposed."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult):
        sides = [tree.left, tree.right]
    elif isinstance(tree, ast.Call) and ast.unparse(tree.func) == "rows_mm":
        sides = tree.args
    else:
        return None
    terms = [factor(side) for side in sides]
    return None if None in terms else tuple(t for t in terms if t is not None)


def factor(tree: ast.AST) -> tuple[str, bool] | None:
    """`x`, `x.mT`, `fold_rows(x)` or its transpose as a name and whether it is transposed."""
    turned = isinstance(tree, ast.Attribute) and tree.attr in ("mT", "T")
    inner = tree.value if isinstance(tree, ast.Attribute) and turned else tree
    if isinstance(inner, ast.Call) and ast.unparse(inner.func) == "fold_rows":
        inner = inner.args[0]
    return (inner.id, turned) if isinstance(inner, ast.Name) else None


def number_by_number(tree: ast.AST) -> bool:
    """Whether each number of g goes to one number of the result: g is handed to nothing that mixes or
    moves them.
    """
    for part in ast.walk(tree):
        if isinstance(part, ast.MatMult) or (isinstance(part, ast.Attribute) and holds_g(part.value)):
            return False
        taken = part.args if isinstance(part, ast.Call) else []
        if any(map(holds_g, taken)) and ast.unparse(part).partition("(")[0] not in ("where", "scale", "zeros"):
            return False
    return True


def holds_g(tree: ast.AST) -> bool:
    return any(isinstance(part, ast.Name) and part.id == "g" for part in ast.walk(tree))


def slope(node: Node, slot: int, recorder: Recorder) -> float | None:
    """The local slope of a scalar operation, measured by nudging one input both ways; None if its inputs
    are gone.
    """
    arguments = inputs_of(node, recorder.values)
    if arguments is None or node.shape != () or any(np.ndim(a) for a in arguments if hasattr(a, "dtype")):
        return None
    at, h = float(arguments[slot]), 1e-5
    sides = []
    with np.errstate(all="ignore"):
        for nudge in (at + h, at - h):
            nudged = [np.float64(a) if hasattr(a, "dtype") and a.dtype.kind == "f" else a for a in arguments]
            nudged[slot] = np.float64(nudge)
            sides.append(float(node.operation.forward(*nudged)))
    return (sides[0] - sides[1]) / (2 * h)


# ---------------------------------------------------------------- a student's rule beside ours
ALSO = {"matmul": ("mm", "bmm", "mv", "dot"), "sum": ("sum_all", "sum_dims"), "mean": ("mean_all", "mean_dims"),
        "pow": ("square_power", "power")}  # fmt: skip


def check_names(rules: Mapping[str, Any]) -> None:
    """An error for a rule of an operation that does not exist: it would never be asked."""
    for name in rules:
        if name not in TABLE and name not in ALSO:
            like = get_close_matches(name.lower(), [*TABLE, *ALSO], 4, 0.5)
            known = ", ".join(like or sorted(TABLE))
            raise KeyError(f"no operation {name!r} in the derivative table; it has {'among others ' * bool(like)}{known}")


PATIENCE = 3.0  # seconds that a student's rule may take in all: after that it is not asked any more


def check_contribution(sent: Contribution, step: Step, node: Node, recorder: Recorder) -> None:
    """Run the student's rule for this operation on the same numbers, and measure who is right."""
    made = operation_of(node)
    if made is None:
        return
    rule = recorder.rules.get(made.name)
    if rule is None:
        rule = next((r for name, r in recorder.rules.items() if made.name in ALSO.get(name, ())), None)
    if rule is None:
        return
    if recorder.waited > PATIENCE:
        sent.note = f"your rule was not asked here: it has taken {recorder.waited:.0f} seconds already"
        return
    assert sent.value is not None and sent.raw is not None
    sent.numeric = measured_contribution(sent, step, node, recorder)
    if isinstance(rule, (tuple, list)) and sent.slot >= len(rule):
        sent.verdict = f"You gave {len(rule)} rules; this is input {sent.slot + 1}."
        return
    single = rule[sent.slot] if isinstance(rule, (tuple, list)) else rule
    if not callable(single):
        sent.verdict = f"Your rule for this input is {reprlib.repr(single)}; it has to be a function of g and what it needs."
        return
    names = asked_for(single, sent.arguments)
    missing = [n for n in names if n not in sent.arguments]
    if missing:
        sent.verdict = f"Your rule asks for {', '.join(missing)}; it can have {', '.join(['g', *sorted(sent.arguments)])}."
        return
    try:
        answer, changed, again = tried(single, step.upstream, {n: sent.arguments[n] for n in names}, recorder)
    except (Exception, SystemExit) as error:  # the student's rule may raise anything; the walk shows what
        sent.verdict = f"Your rule raised {type(error).__name__}: {error}"
        return
    inputs = len(node.parents)
    if not isinstance(rule, (tuple, list)) and isinstance(answer, (tuple, list)):
        if len(answer) > inputs:
            has = f"{inputs} {plural(inputs, 'input', 'inputs')}"
            sent.verdict = f"Your rule returned {len(answer)} gradients; the operation has {has}."
            return
        answer, again = ((each[sent.slot] if sent.slot < len(each) else None) for each in (answer, again))
    if answer is None:
        sent.verdict = "Your rule returned nothing for this input."
        return
    try:
        given = np.array(getattr(answer, "_data", answer))
        sent.yours = given.astype(np.float64, casting="same_kind")
    except (TypeError, ValueError):
        said = f"a {type(answer).__name__}" if repr(answer).startswith("<") else reprlib.repr(answer)
        sent.verdict = f"Your rule returned {said}, which is no array of numbers."
        return
    if changed:
        sent.verdict = f"Your rule writes into {' and '.join(changed)}, which others still need: make a new array instead."
    elif not np.array_equal(getattr(again, "_data", again), given, equal_nan=given.dtype.kind == "f"):
        sent.verdict = "Asked twice with the same numbers, your rule gives two answers."
    else:
        sent.verdict = compare(sent, step)
        if sent.verdict.startswith("The numbers") and given.dtype.kind in "bi" and sent.raw.dtype.kind == "f":
            sent.verdict += f" Yours are {given.dtype}: cut to whole numbers."


def asked_for(rule: Any, known: Mapping[str, Any]) -> list[str]:
    """What a rule asks for besides g; a parameter with a value of its own only if we know it."""
    try:
        wanted = [*inspect.signature(rule).parameters.values()][1:]
    except (TypeError, ValueError):  # numpy's own functions do not say
        return []
    plain = [p for p in wanted if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [p.name for p in plain if p.default is p.empty or p.name in known]


def tried(rule: Any, g: Array, arguments: dict[str, Any], recorder: Recorder) -> tuple[Any, list[str], Any]:
    """What a rule answers, which of its arguments it changed, and (unless it is slow) what it answers a second time."""

    def ask() -> tuple[Any, dict[str, Any]]:
        given = {"g": g.copy(), **deepcopy(arguments)}
        return rule(given["g"][()], *(given[n] for n in arguments)), given

    start = perf_counter()
    answer, given = ask()
    took = perf_counter() - start
    recorder.waited += took
    before = {"g": g, **arguments}
    arrays = [n for n, value in given.items() if hasattr(value, "dtype")]
    changed = [n for n in arrays if not np.array_equal(given[n], before[n], equal_nan=True)]
    return answer, changed, answer if took > 0.05 else ask()[0]


def compare(sent: Contribution, step: Step) -> str:
    assert sent.yours is not None and sent.value is not None and sent.raw is not None
    yours, right = sent.yours, sent.value
    for target in (right, sent.raw):
        if yours.shape == target.shape and np.allclose(yours, target, rtol=1e-4, atol=1e-6, equal_nan=True):
            return "agrees"
    if yours.shape not in (right.shape, sent.raw.shape):
        return f"Yours has shape {yours.shape}; the input has shape {right.shape}, and so must its gradient."
    if (
        sent.local is not None
        and yours.shape == sent.local.shape
        and np.allclose(yours, sent.local, rtol=1e-4)
    ):
        return "Yours is the local factor alone. The upstream gradient, g, is missing."
    if np.allclose(yours, -sent.raw, rtol=1e-4) or np.allclose(yours, -right, rtol=1e-4):
        return "Yours has the opposite sign."
    for name, value in sent.arguments.items():
        if np.shape(value) == np.shape(step.upstream) and np.allclose(
            yours, step.upstream * value, rtol=1e-4
        ):
            return f"Yours is g * {name}. The rule here is {sent.rule}."
    return f"The numbers differ. The rule here is {sent.rule}."


def measured_contribution(sent: Contribution, step: Step, node: Node, recorder: Recorder) -> Array | None:
    """The contribution by central differences of sum(g * forward); None for big inputs or lost ones."""
    arguments = inputs_of(node, recorder.values)
    if arguments is None or np.size(arguments[sent.slot]) > 64:
        return None
    double = [
        np.array(a, np.float64) if hasattr(a, "dtype") and a.dtype.kind == "f" else a for a in arguments
    ]
    x = np.array(double[sent.slot], np.float64)
    g = step.upstream.astype(np.float64)
    slopes = np.zeros(x.shape)
    with np.errstate(all="ignore"):
        for index in np.ndindex(*x.shape):
            sides = []
            for h in (1e-5, -1e-5):
                nudged = x.copy()
                nudged[index] += h
                double[sent.slot] = nudged if nudged.ndim else nudged[()]
                sides.append(float(np.sum(g * node.operation.forward(*double))))
            slopes[index] = (sides[0] - sides[1]) / 2e-5
    return slopes
