"""A move of the backward pass in words."""

import numpy as np

from .formula import put_in
from .moves import Contribution, Place, Step
from .numbers import Array, number, short

GONE = (
    "The values that this backward pass needs were freed by backward(). "
    "Run the lines that compute the tensor again and record before backward(), "
    "or call backward(retain_graph=True)."
)


def start_sentence(name: str, seed: Array, given: bool) -> str:
    """What the pass starts from, and why."""
    start = f"The pass starts at {name} with"
    if given:
        why = f"it says how much each entry of {name} counts"
        return f"{start} the gradient that you gave, {short(seed)}: {why}."
    why = f"when {name} changes by a little, {name} changes by just as much"
    if (seed != 1).any():
        return f"{start} {short(seed)}. It should be 1: {why}."
    return f"{start} gradient 1: {why}."


def contribution_beats(name: str, target: str, step: Step, sent: Contribution) -> list[str]:
    """One sentence each: focus, rule, product, sum over axes, accumulation."""
    early = "is taken too early: more contributions are still to come"
    state = early if step.early else "is current: its gradient is complete"
    upstream = f"The upstream gradient is g = {short(step.upstream)}"
    beats = [f"{name} {state}. {upstream}."]
    rule = " is g, unchanged" if sent.how in ("copy", "slot") else f" is {sent.named}"
    labelled = [k for k in sent.saved if k.value is not None and k.label]
    values = [f"{sent.names.get(k.name) or k.label} = {short(k.value)}" for k in labelled]
    beats.append(f"Its rule for {target}{rule}" + (f", with {', '.join(values)}." if values else "."))
    hook = f" {sent.note}." if sent.hooked else ""
    beats.append(product_sentence(target, step, sent) + hook)
    if sent.summed:
        axes, one = ", ".join(map(str, sent.summed)), len(sent.summed) == 1
        which = f"stretched axis {axes} is" if one else f"stretched axes {axes} are"
        shape = f"{target} has shape {sent.value.shape}: it was stretched"
        beats.append(f"{shape}, so the {which} summed: {short(sent.value)}.")
    return [*beats, accumulation(target, sent)]


def accumulation(target: str, sent: Contribution) -> str:
    """What had accumulated, what is added, and what there is now."""
    count = f"({sent.arrived} of {sent.expected} arrived)"
    value, after = short(sent.value), short(sent.after)
    if sent.before is None:
        whose = f"{sent.note} of {target}" if sent.how == "slot" else target
        return f"The gradient of {whose} was empty; now it is {after} {count}."
    before = short(sent.before)
    if sent.lost:
        held = f"{target} held {before} and now receives {value}"
        lost = f"Afterwards it holds {after}: a contribution was lost"
        return f"{held}. {lost} {count}."
    total = f"{before} + {value} = {after}"
    return f"{total} is now the gradient of {target} {count}."


def brief_beats(name: str, target: str, _step: Step, sent: Contribution) -> list[str]:
    """The same beats, shorter."""
    axes = ", ".join(map(str, sent.summed))
    return [
        f"{name} is current.",
        f"For {target}: {sent.named}.",
        f"{target} gets {short(sent.raw)}.",
        *([f"Summed over axis {axes}."] if axes else []),
        f"{sent.arrived} of {sent.expected} arrived at {target}.",
    ]


PRODUCTS = {
    "slot": "It is the {note} of {target}: its gradient goes there as it is, {result}.",
    "function": "{note}: for {target} that is {result}.",
    "copy": "The upstream gradient goes to {target} unchanged: {result}.",
    "move": "The numbers stay the same and take the shape of {target}: {result}.",
    "spread": "Each of the {size} numbers of {target} went into the result, so each gets {part}: {result}.",
    "scatter": "Each number of g goes back to the place that it was read from, and the other places get 0: {result}.",
}


def product_sentence(target: str, step: Step, sent: Contribution) -> str:
    """What the rule does with the numbers."""
    sub, local = substituted(step, sent), sent.local
    factor = 1.0 if local is None or not local.size else float(local.flat[0])
    part = "all of g" if factor == 1 else f"g times {number(factor)}"
    other = "The contribution to {target} is {sub}{result}."
    return PRODUCTS.get(sent.how, other).format(
        target=target, result=short(sent.raw), size=sent.raw.size, part=part,
        note=sent.note or "Its own backward", sub=f"{sub} = " if sub not in ("", short(sent.raw)) else "",
    )


def result(target: Place, sent: Contribution) -> str:
    """A contribution in a line: rule, value, what has accumulated."""
    if sent.skipped:
        return f"nothing, {sent.reason}."
    hook = f"{short(sent.raw)}, a hook makes it " if sent.hooked else ""
    count = f"({sent.arrived} of {sent.expected})"
    total = f"{target.name} has {short(sent.after)} {count}"
    if target.hooked is not None and sent.arrived == sent.expected:
        total += f"; a hook makes it {short(target.hooked)}"
    if sent.verdict and sent.verdict != "agrees":
        total += f". Yours differs here. {sent.verdict}"
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


def substituted(step: Step, sent: Contribution) -> str:
    """The rule with its numbers put in, where each name is a single number."""
    saved = {k.name: k.value for k in sent.saved if k.value is not None}
    values = {"g": step.upstream, **saved}
    if sent.how == "function" or any(np.ndim(v) for v in values.values()):
        return ""
    return put_in(sent.rule, values)
