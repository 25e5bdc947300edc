"""What a card shows: calls, programs, answers and values, as a student would write them."""

from __future__ import annotations

import ast
import functools
import re
from typing import Any

import numpy as np

from ..exercise import Exercise, Probe, Raises
from ..student.wire import Failure, Tensor
from .plain import as_numbers, kind_of


def printable(text: str) -> str:
    """Text without control characters: what a student raises or names is shown to others."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def shown_call(exercise: Exercise, probe: Probe) -> str:
    """The call as the student could type it, or the program."""
    if probe.kind == "run":
        given = [f"{k} = {typed(v)}" for k, v in probe.data.items()]
        return "\n".join([*given, as_in_the_notebook(probe.code, exercise.prelude, tuple(probe.data))])
    arguments = [typed(a) for a in probe.args] + [f"{k}={typed(v)}" for k, v in probe.data.items()]
    return f"{probe.name}({', '.join(arguments)})"


GUARDS = {"engine_off", "own_work", "recursion_kept_short", "by_rules_alone", "as_given"}  # where something is switched off
GIVEN = {"Graph", "Loss", "training", "Relu", "Signal", "Layer", "Tensor", "Value"}  # a prelude has them as the notebook does


class Plain(ast.NodeTransformer):
    """A program without what only checks have: guards, and functions in the place of signs."""

    def visit_With(self, node: ast.With) -> Any:
        self.generic_visit(node)
        names = [getattr(getattr(each.context_expr, "func", None), "id", "") for each in node.items]
        return node.body if GUARDS & set(names) else node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        name = getattr(node.func, "id", "")
        if name in ("plus", "times") and len(node.args) == 2:
            return ast.BinOp(node.args[0], ast.Add() if name == "plus" else ast.Mult(), node.args[1])
        if name == "by_rules_alone":
            return ast.Call(ast.Attribute(node.args[0], "backward", ast.Load()), node.args[1:], [])
        return node


@functools.lru_cache(maxsize=64)
def as_in_the_notebook(code: str, prelude: str, given: tuple[str, ...]) -> str:
    """The program as a student can run it: with what it takes from the prelude, and nothing that only checks have."""
    plain = Plain().visit(ast.parse(code))
    if len(plain.body) > 1 and isinstance(plain.body[-2], ast.Assign) and isinstance(plain.body[-1], ast.Expr):
        made, last = plain.body[-2], plain.body[-1].value
        if ast.unparse(made.targets[0]) == ast.unparse(last) == "answer":
            plain.body[-2:] = [ast.Expr(made.value)]
    text = ast.unparse(ast.fix_missing_locations(plain))
    changed = text != ast.unparse(ast.parse(code))
    bound = {node.id for node in ast.walk(plain) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    words = set(re.findall(r"\w+", text)) - GIVEN - bound - set(given)
    shown = []
    for node in ast.parse(prelude).body:
        targets = [ast.unparse(target) for target in node.targets] if isinstance(node, ast.Assign) else []
        names = {getattr(node, "name", ""), *targets} - GUARDS
        shown += [ast.unparse(node)] if words & names else []
    return "\n".join([*shown, text if changed else code])


def typed(value: Any) -> str:
    """A value as Python source (`np.array(...)` for arrays)."""
    if isinstance(value, np.ndarray):
        dtype = "" if value.dtype in (np.float64, np.int64, np.bool_) else f", dtype='{value.dtype}'"
        if not value.size:
            return f"np.zeros({value.shape}{dtype})"
        return f"np.array({listed(value)}{dtype})"
    if callable(value):
        return getattr(value, "__name__", "f")
    return spelled(value)


def listed(array: np.ndarray[Any, Any]) -> str:
    """The numbers of an array on one line, up to six digits, long ones summarised."""
    if array.ndim == 0:
        return spelled(array.item(), "")
    if array.size > 60 and array.ndim > 4:
        return "[...]"
    if array.size > 60 and array.shape[0] > 6:
        ends = [listed(part) for part in (*array[:3], *array[-2:])]
        return "[" + ", ".join([*ends[:3], "...", *ends[3:]]) + "]"
    return "[" + ", ".join(listed(part) for part in array) + "]"


def spelled(value: Any, zero: str = "0") -> str:
    """A number, list, tuple or other plain value, floats to six digits: 3.0 as Python has it, in an array 3. as numpy has."""
    if isinstance(value, float):
        text = f"{value:.6g}"
        return text if any(c in text for c in ".en") else f"{text}.{zero}"
    if isinstance(value, np.generic):
        return spelled(value.item())
    if isinstance(value, np.ndarray):
        return f"array({listed(value)})"
    if isinstance(value, Tensor):
        return f"tensor({listed(value.array)})"
    if isinstance(value, list):
        return "[" + ", ".join(spelled(v) for v in value) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(spelled(v) for v in value) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {spelled(v)}" for k, v in value.items()) + "}"
    return repr(value)


def shown_answer(answer: Any) -> str:
    """What came, in at most 400 characters."""
    if isinstance(answer, Failure):
        if answer.kind == "changed":
            return shown_answer(answer.value)
        if answer.kind == "printed":
            return "None"
        if answer.kind == "raised":
            return f"no value, but {answer.type}"
        return {"not plain": answer.message, "missing": "nothing"}.get(answer.kind, answer.kind)
    text = spelled(answer)
    shape = f"   (shape {answer.shape})" if isinstance(answer, np.ndarray) and answer.ndim != 1 else ""
    return (text if len(text) <= 400 else text[:397] + "...") + shape


def apart(answer: Any, truth: Any) -> str:
    """A sentence about numbers that are printed like the right ones and are not; "" if they are not printed alike."""
    given, wanted = as_numbers(answer), as_numbers(truth)
    if given is None or wanted is None or given.shape != wanted.shape or listed(given) != listed(wanted):
        return ""
    most = float(np.abs(given.astype(float) - wanted.astype(float)).max(initial=0.0))
    return f"The printed digits are right; the largest error is {most:.1e}." if most > 0 else ""


def briefly(answer: Any) -> str:
    """The same within a sentence."""
    text = shown_answer(answer)
    return text if len(text) <= 90 else text[:87] + "..."


def shown_truth(truth: Any) -> str:
    if isinstance(truth, Raises):
        return f"{truth.type}" + (f" with {truth.contains!r} in its message" if truth.contains else "")
    return shown_answer(truth)


def sort_of(truth: Any) -> str:
    """The kind of value that is asked for, and nothing about what is in it."""
    if isinstance(truth, bool | np.bool_):
        return "True or False"
    if isinstance(truth, str):
        return "a string"
    if type(truth) is list and truth and all(type(pair) is tuple and len(pair) == 2 for pair in truth):
        return "a list of pairs"
    if type(truth) in (list, tuple):
        return f"a {type(truth).__name__}" + " of numbers" * (as_numbers(truth) is not None and len(truth) > 0)
    return kind_of(truth)
