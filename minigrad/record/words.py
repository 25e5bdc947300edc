"""A move of the backward pass in words."""

from __future__ import annotations

import numpy as np

from minigrad.record.formula import WORD, put_in
from minigrad.record.moves import Contribution, Place, Saved, Step
from minigrad.record.numbers import Array, number, plural, short


def start_sentence(name: str, seed: Array, given: bool) -> str:
    """What the pass starts from, and why."""
    start = f"The pass starts at {name} with"
    if given:
        why = "one number for each output, saying how much it counts"
        return f"{start} the gradient you gave, {short(seed)}: {why}."
    why = f"when {name} changes by a little, {name} changes by just as much"
    if (seed != 1).any():
        return f"{start} {short(seed)}. It should be 1: {why}."
    return f"{start} gradient 1: {why}."


def contribution_beats(
    name: str, target: str, step: Step, sent: Contribution
) -> list[str]:
    """One sentence each: focus, rule, product, sum over axes, accumulation."""
    assert sent.value is not None and sent.after is not None
    state = "is current: its gradient is complete"
    if step.early:
        state = "is taken too early, for more is to come"
    beats = [f"{name} {state}, g = {short(step.upstream)}."]
    labelled = [k for k in sent.saved if k.value is not None and k.label]
    given = ", ".join(saved_text(k, sent) for k in labelled)
    unchanged = sent.how in ("copy", "slot")
    rule = ": g, unchanged" if unchanged else f" is {sent.named}"
    with_these = f", with {given}" if given else ""
    beats.append(f"Its rule for {target}{rule}{with_these}.")
    beats.append(product_sentence(target, step, sent))
    if sent.hooked:
        beats[-1] += f" {sent.note}."
    if sent.summed:
        beats.append(
            f"{target} has shape {sent.value.shape}: it was stretched, "
            f"so the {summed_axes(sent)} summed: {short(sent.value)}."
        )
    beats.append(accumulation(target, sent))
    return beats


def summed_axes(sent: Contribution) -> str:
    """`stretched axis 0 is`, `stretched axes 0, 1 are`."""
    axes, n = ", ".join(map(str, sent.summed)), len(sent.summed)
    what = plural(n, "stretched axis", "stretched axes")
    return f"{what} {axes} {plural(n, 'is', 'are')}"


def accumulation(target: str, sent: Contribution) -> str:
    """What had accumulated, what is added, and what there is now."""
    assert sent.value is not None and sent.after is not None
    count = f"({sent.arrived} of {sent.expected} arrived)"
    value, after = short(sent.value), short(sent.after)
    if sent.before is None:
        whose = f"{sent.note} of {target}" if sent.how == "slot" else target
        return f"The gradient of {whose} was empty; now it is {after} {count}."
    before = short(sent.before)
    if sent.lost:
        return (
            f"{target} held {before} and now receives {value}. Here it then "
            f"holds {after}: something was thrown away {count}."
        )
    total = f"{before} + {value} = {after}"
    return f"{total} is now the gradient of {target} {count}."


def brief_beats(
    name: str, target: str, _step: Step, sent: Contribution
) -> list[str]:
    """The same beats, shorter."""
    assert sent.raw is not None
    axes = ", ".join(map(str, sent.summed))
    return [
        f"{name} is current.",
        f"For {target}: {sent.named}.",
        f"{target} gets {short(sent.raw)}.",
        *([f"Summed over axis {axes}."] if axes else []),
        f"{sent.arrived} of {sent.expected} arrived at {target}.",
    ]


def saved_text(saved: Saved, sent: Contribution) -> str:
    assert saved.value is not None
    name = sent.names.get(saved.name) or saved.label
    return f"{name} = {short(saved.value)}"


def product_sentence(target: str, step: Step, sent: Contribution) -> str:
    """What the rule does with the numbers."""
    assert sent.raw is not None
    result, size = short(sent.raw), sent.raw.size
    if sent.how == "slot":
        passed = f"its gradient goes there as it is, {result}"
        return f"It is the {sent.note} of {target}: {passed}."
    if sent.how == "function":
        rule = sent.note or "Its own backward"
        return f"{rule}: for {target} that is {result}."
    if sent.how == "copy":
        return f"g goes to {target} unchanged: {result}."
    if sent.how == "move":
        same = f"The same numbers in the shape of {target}"
        return f"{same}, no arithmetic: {result}."
    if sent.how == "spread" and sent.local is not None:
        each = float(sent.local.flat[0])
        part = "all of g" if each == 1 else f"g times {number(each)}"
        return (
            f"Each of the {size} numbers of {target} went into the result, "
            f"so each gets {part}: {result}."
        )
    if sent.how == "scatter":
        return (
            "Each number of g goes back to the place it was read from, "
            f"the other places get 0: {result}."
        )
    sub = substituted(step, sent)
    product = f"{sub} = {result}" if sub else result
    return f"The contribution to {target} is {product}."


def result(target: Place, sent: Contribution) -> str:
    """A contribution in a line: rule, value, what has accumulated."""
    if sent.value is None or sent.after is None or sent.raw is None:
        return f"nothing, {sent.reason}."
    hook = f"{short(sent.raw)}, a hook makes it " if sent.hooked else ""
    count = f"({sent.arrived} of {sent.expected})"
    total = f"{target.name} has {short(sent.after)} {count}"
    if target.hooked is not None and sent.arrived == sent.expected:
        total += f"; a hook makes it {short(target.hooked)}"
    return f"{sent.named} = {hook}{short(sent.value)}; {total}"


def leaf_sentence(place: Place, step: Step) -> str:
    """What a leaf's .grad was, and what it is now."""
    assert step.after is not None
    grad, after = f"{place.name}.grad", short(step.after)
    change = f"A hook makes it {short(step.upstream)}. "
    leaf = ("" if place.hooked is None else change) + f"{place.name} is a leaf"
    if step.before is None:
        return f"{leaf}: {grad} was {place.empty} and is now {after}."
    before = short(step.before)
    total = f"{before} + {short(step.upstream)} = {after}"
    held = f"{grad} already held {before} from an earlier pass"
    return f"{leaf} and {held}: {total}."


def legend(sent: Contribution) -> str:
    """Words of the shown rule, or of a verdict, that are not the student's."""
    if sent.verdict not in ("", "agrees"):
        words = WORD.findall(sent.verdict)
        names = {n: t for n, t in sent.names.items() if n in words and n != t}
        said = {f"the rule's {name}": text for name, text in names.items()}
    else:
        said = {k.name: k.label for k in sent.saved if k.name in sent.named}
        said = {n: t for n, t in said.items() if n not in sent.names}
    pairs = [(name, text) for name, text in said.items() if text not in ("", name)]
    return ", ".join(f"{name} is {text}" for name, text in pairs)


def substituted(step: Step, sent: Contribution) -> str:
    """The rule with its numbers put in, where each name is a single number."""
    saved = {k.name: k.value for k in sent.saved if k.value is not None}
    values = {"g": step.upstream, **saved}
    if sent.how == "function" or any(np.ndim(v) for v in values.values()):
        return ""
    return put_in(sent.rule, values)
