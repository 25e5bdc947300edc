"""A student's own rules beside the engine's: on the same numbers, who is right?"""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Mapping
from copy import deepcopy
from difflib import get_close_matches
from typing import Any

import numpy as np

from minigrad.record.contributions import measured
from minigrad.record.formula import shown
from minigrad.record.graph import Graph
from minigrad.record.moves import Contribution, Step
from minigrad.record.nodes import operation_of
from minigrad.record.numbers import Array, plural
from minigrad.operation import TABLE
from minigrad.tensor import Node

# Names for several rows of the table at once.
ALSO = {
    "matmul": ("mm", "bmm", "mv", "dot"), "sum": ("sum_all", "sum_dims"),
    "mean": ("mean_all", "mean_dims"), "pow": ("square_power", "power"),
}  # fmt: skip


class Rules:
    """The student's rules, by operation.  KeyError for one that is not there."""

    def __init__(self, rules: Mapping[str, Any]) -> None:
        self.rules: dict[str, Any] = {}
        known = [*TABLE, *ALSO]
        for name, rule in rules.items():
            if name not in known:
                like = get_close_matches(name.lower(), known, 4, 0.5)
                has = "among others " * bool(like) + ", ".join(like or sorted(TABLE))
                raise KeyError(
                    f"no operation {name!r} in the derivative table; it has {has}"
                )
            for each in (name, *ALSO.get(name, ())):
                self.rules.setdefault(each, rule)

    def check(self, sent: Contribution, step: Step, node: Node, graph: Graph) -> None:
        """Run the student's rule for this operation, and measure who is right."""
        made = operation_of(node)
        if made is None or made.name not in self.rules:
            return
        g = step.upstream.astype(np.float64)
        sent.numeric = measured(sent.slot, g, node, graph)
        inputs = len(node.parents)
        sent.verdict = verdict(self.rules[made.name], sent, step.upstream, inputs)


def verdict(rule: Any, sent: Contribution, g: Array, inputs: int) -> str:
    """What is wrong with the rule, or "agrees"; notes what it returned."""
    several = isinstance(rule, (tuple, list))
    if several and sent.slot >= len(rule):
        return f"You gave {len(rule)} rules; this is input {sent.slot + 1}."
    single = rule[sent.slot] if several else rule
    if not callable(single):
        needs = "it has to be a function of g and what it needs"
        return f"Your rule for this input is {reprlib.repr(single)}; {needs}."
    names = asked_for(single, sent.arguments)
    missing = [n for n in names if n not in sent.arguments]
    if missing:
        has = ", ".join(["g", *sorted(sent.arguments)])
        return f"Your rule asks for {', '.join(missing)}; it can have {has}."
    before = {"g": g, **{n: sent.arguments[n] for n in names}}
    given = deepcopy(before)
    try:
        answer = single(given["g"][()], *(given[n] for n in names))
    except (Exception, SystemExit) as error:  # a rule may raise anything
        return f"Your rule raised {type(error).__name__}: {error}"
    if not several and isinstance(answer, (tuple, list)):
        if len(answer) > inputs:
            has = f"{inputs} {plural(inputs, 'input', 'inputs')}"
            much = f"Your rule returned {len(answer)} gradients"
            return f"{much}; the operation has {has}."
        answer = answer[sent.slot] if sent.slot < len(answer) else None
    if answer is None:
        return "Your rule returned nothing for this input."
    try:
        found = np.array(getattr(answer, "_data", answer))
        sent.yours = found.astype(np.float64, casting="same_kind")
    except (TypeError, ValueError):
        named = f"a {type(answer).__name__}"
        what = named if repr(answer)[:1] == "<" else reprlib.repr(answer)
        return f"Your rule returned {what}, which is no array of numbers."
    arrays = [n for n, v in given.items() if hasattr(v, "dtype")]
    spoilt = [n for n in arrays if not np.array_equal(given[n], before[n], True)]
    if spoilt:
        into = f"Your rule writes into {' and '.join(spoilt)}"
        return f"{into}, which others still need: make a new array instead."
    return compared(sent, g)


def asked_for(rule: Any, known: Mapping[str, Any]) -> list[str]:
    """What a rule asks for besides g; what has a default only if we know it."""
    try:
        wanted = [*inspect.signature(rule).parameters.values()][1:]
    except (TypeError, ValueError):  # numpy's own functions do not say
        return []
    plain = [p for p in wanted if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [p.name for p in plain if p.default is p.empty or p.name in known]


def compared(sent: Contribution, g: Array) -> str:
    """What sets the student's gradient apart from the right one."""
    yours, right, raw = sent.yours, sent.value, sent.raw
    assert yours is not None and right is not None and raw is not None
    if close(yours, right, 1e-6) or close(yours, raw, 1e-6):
        return "agrees"
    if yours.shape not in (right.shape, raw.shape):
        shapes = f"Yours has shape {yours.shape}; the input has shape {right.shape}"
        return f"{shapes}, and so must its gradient."
    if sent.local is not None and close(yours, sent.local):
        return "Yours is the local factor alone. The upstream gradient, g, is missing."
    if close(yours, -raw) or close(yours, -right):
        return "Yours has the opposite sign."
    here = f"The rule here is {shown(sent.rule)}."
    for name, value in sent.arguments.items():
        if np.shape(value) == g.shape and close(yours, g * value):
            return f"Yours is g · {name}. {here}"
    return f"The numbers differ. {here}"


def close(a: Array, b: Array, atol: float = 1e-8) -> bool:
    """Equal, but for rounding in single precision."""
    return a.shape == b.shape and np.allclose(a, b, 1e-4, atol, equal_nan=True)
