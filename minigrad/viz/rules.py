"""A student's own rules beside the engine's: on the same numbers, who is right?"""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Mapping
from copy import deepcopy
from difflib import get_close_matches
from typing import Any

import numpy as np

from ..record.moves import Contribution
from ..record.numbers import Array
from ..record.recording import Recording
from ..tape import TABLE

# Names for several rows of the table at once.
ALSO = {
    "matmul": ("mm", "bmm", "mv", "dot"), "sum": ("sum_all", "sum_dims"),
    "mean": ("mean_all", "mean_dims"), "pow": ("power",),
}  # fmt: skip
SMALL = 64  # a gradient of so many numbers is measured


def judge(recording: Recording, rules: Mapping[str, Any]) -> Recording:
    """Run a student's rules on the numbers of a recording, and say who is right.

    KeyError for a rule of an operation that does not exist.
    """
    own = by_row(rules)
    for step in recording.steps if own else ():
        for sent in step:
            if sent.operation in own and not sent.skipped:
                sent.numeric = measured(sent, step.upstream)
                sent.verdict = verdict(own[sent.operation], sent, step.upstream)
    return recording


def by_row(rules: Mapping[str, Any]) -> dict[str, Any]:
    """The rules by the rows of the table that they are for."""
    found: dict[str, Any] = {}
    known = [*TABLE, *ALSO]
    for name, rule in rules.items():
        if name not in known:
            like = get_close_matches(name.lower(), known, 4, 0.5)
            has = "among others " * bool(like) + ", ".join(like or sorted(TABLE))
            raise KeyError(f"no operation {name!r} in the derivative table; it has {has}")
        for each in (name, *ALSO.get(name, ())):
            found.setdefault(each, rule)
    return found


def measured(sent: Contribution, g: Array) -> Array | None:
    """The contribution by central differences; None if an input is not known."""
    made = TABLE[sent.operation]
    names = (*made.inputs, *made.statics)
    if not sent.arguments.keys() >= set(names) or np.size(sent.arguments[names[sent.slot]]) > SMALL:
        return None
    given = [sent.arguments[name] for name in names]
    double = [np.float64(a) if getattr(getattr(a, "dtype", None), "kind", "") == "f" else a for a in given]
    x = np.array(double[sent.slot], np.float64)
    slopes = np.zeros(x.shape)
    for index in np.ndindex(*x.shape):
        sides = []
        for h in (1e-5, -1e-5):
            nudged = x.copy()
            nudged[index] += h
            double[sent.slot] = nudged[()]
            sides.append(np.sum(g * made.forward(*double)))
        slopes[index] = (sides[0] - sides[1]) / 2e-5
    return slopes


def verdict(rule: Any, sent: Contribution, g: Array) -> str:
    """What is wrong with the rule, or "agrees"; notes what it returned."""
    several = isinstance(rule, (tuple, list))
    if several and sent.slot >= len(rule):
        return f"You gave {len(rule)} rules; this is input {sent.slot + 1}."
    single = rule[sent.slot] if several else rule
    if not callable(single):
        return f"Your rule for this input is {reprlib.repr(single)}; it has to be a function of g and what it needs."
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
        inputs = len(TABLE[sent.operation].inputs)
        if len(answer) > inputs:
            has = f"{inputs} input{'s' * (inputs != 1)}"
            return f"Your rule returned {len(answer)} gradients; the operation has {has}."
        answer = answer[sent.slot] if sent.slot < len(answer) else None
    if answer is None:
        return "Your rule returned nothing for this input."
    try:
        sent.yours = np.array(getattr(answer, "_data", answer)).astype(np.float64, casting="same_kind")
    except (TypeError, ValueError):
        what = f"a {type(answer).__name__}" if repr(answer)[:1] == "<" else reprlib.repr(answer)
        return f"Your rule returned {what}, which is no array of numbers."
    spoilt = [n for n, v in given.items() if hasattr(v, "dtype") and not np.array_equal(v, before[n], True)]
    if spoilt:
        into = " and ".join(spoilt)
        return f"Your rule writes into {into}, which others still need: make a new array instead."
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
        return f"Yours has shape {yours.shape}; the input has shape {right.shape}, and so must its gradient."
    if sent.local is not None and close(yours, sent.local):
        return "Yours is the local factor alone. The upstream gradient, g, is missing."
    if close(yours, -raw) or close(yours, -right):
        return "Yours has the opposite sign."
    here = f"The rule here is {sent.named}."
    for name, value in sent.arguments.items():
        if np.shape(value) == g.shape and close(yours, g * value):
            return f"Yours is g · {sent.names.get(name, name)}. {here}"
    return f"The numbers differ. {here}"


def close(a: Array, b: Array, atol: float = 1e-8) -> bool:
    """Equal, but for rounding in single precision."""
    return a.shape == b.shape and np.allclose(a, b, 1e-4, atol, equal_nan=True)
