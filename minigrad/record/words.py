"""A move of the backward pass in words: which node is current, what the rule says, what has arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from minigrad.record.names import term
from minigrad.record.notation import WORD, put_in, without_g
from minigrad.record.numbers import number, plural, short

if TYPE_CHECKING:
    from minigrad.record.recording import Contribution, Place, Saved, Step


def sentences_of(name: str, target: str, step: Step, sent: Contribution) -> list[str]:
    assert sent.value is not None and sent.after is not None and sent.raw is not None
    g = short(step.upstream)
    beats = [
        f"{name} is taken too early, for more is to come: g = {g}."
        if step.early
        else f"{name} is current: its gradient is complete, g = {g}."
    ]
    given = ", ".join(saved_text(k, sent) for k in sent.saved if k.value is not None and k.label)
    unchanged = ": g, unchanged" if sent.how in ("copy", "slot") else f" is {sent.named}"
    beats.append(f"Its rule for {target}{unchanged}" + (f", with {given}." if given else "."))
    beats.append(product_sentence(target, step, sent))
    if sent.hooked:
        beats[-1] += f" {sent.note}."
    if sent.summed:
        beats.append(
            f"{target} has shape {sent.value.shape}: it was stretched, so the "
            f"{plural(len(sent.summed), 'stretched axis', 'stretched axes')} "
            f"{', '.join(map(str, sent.summed))} {'is' if len(sent.summed) == 1 else 'are'} summed: "
            f"{short(sent.value)}."
        )
    count = f"{sent.arrived} of {sent.expected} arrived"
    if sent.lost:
        assert sent.before is not None
        beats.append(
            f"{target} held {short(sent.before)} and now receives {short(sent.value)}. Here it then holds "
            f"{short(sent.after)}: something was thrown away ({count})."
        )
    elif sent.before is None:
        whose = f"{sent.note} of {target}" if sent.how == "slot" else target
        beats.append(f"The gradient of {whose} was empty; now it is {short(sent.after)} ({count}).")
    else:
        beats.append(
            f"{short(sent.before)} + {short(sent.value)} = {short(sent.after)} "
            f"is now the gradient of {target} ({count})."
        )
    return beats


def few_words(name: str, target: str, _step: Step, sent: Contribution) -> list[str]:
    """The same beats, shorter."""
    assert sent.raw is not None
    summed = [f"Summed over axis {', '.join(map(str, sent.summed))}."] if sent.summed else []
    return [f"{name} is current.", f"For {target}: {sent.named}.", f"{target} gets {short(sent.raw)}.", *summed,
            f"{sent.arrived} of {sent.expected} arrived at {target}."]  # fmt: skip


def saved_text(saved: Saved, sent: Contribution) -> str:
    assert saved.value is not None
    return f"{sent.names.get(saved.name) or saved.label or saved.name} = {short(saved.value)}"


def which(target: str, sent: Contribution, step: Step) -> str:
    """An input as part of a slope: `a`; of `a * a`, where each use has a slope of its own, `(a, input 1)`."""
    uses = sum(other.parent == sent.parent for other in step)
    return term(target) if uses == 1 else f"({target}, input {sent.slot + 1})"


def local_slope(name: str, target: str, sent: Contribution) -> str:
    """The operation's own slope, `∂c/∂a = b = -3`; of tables the formula alone. Nothing where there is none."""
    if sent.raw is None or sent.how not in (("elementwise",) if sent.raw.ndim else ("elementwise", "copy")):
        return ""
    formula = sent.renamed(without_g(sent.rule))
    value = number(1 if sent.local is None else sent.local) if not sent.raw.ndim else ""
    said = [formula] * (formula not in ("", value)) + [value] * bool(value)
    tail = ", number by number" if sent.raw.ndim else ""
    return f"\u2202{term(name)}/\u2202{target} = {' = '.join(said)}{tail}" if said else ""


def product_sentence(target: str, step: Step, sent: Contribution) -> str:
    assert sent.raw is not None
    result = short(sent.raw)
    if sent.how == "slot":
        return f"It is the {sent.note} of {target}: its gradient goes there as it is, {result}."
    if sent.how == "function":
        return f"{sent.note or 'Its own backward'}: for {target} that is {result}."
    if sent.how == "copy":
        return f"g goes to {target} unchanged: {result}."
    if sent.how == "move":
        return f"The same numbers in the shape of {target}, no arithmetic: {result}."
    if sent.how == "spread":
        assert sent.local is not None
        each = float(sent.local.flat[0])
        part = "all of g" if each == 1 else f"g times {number(each)}"
        return f"Each of the {sent.raw.size} numbers of {target} went into the result, so each gets {part}: {result}."
    if sent.how == "scatter":
        return f"Each number of g goes back to the place it was read from, the other places get 0: {result}."
    sub = substituted(step, sent)
    return f"The contribution to {target} is {sub + ' = ' if sub else ''}{result}."


def leaf_sentence(place: Place, step: Step) -> str:
    assert step.after is not None
    if step.before is None:
        return f"{place.name} is a leaf: {place.name}.grad was {place.empty} and is now {short(step.after)}."
    return (
        f"{place.name} is a leaf and {place.name}.grad already held {short(step.before)} from an earlier pass: "
        f"{short(step.before)} + {short(step.upstream)} = {short(step.after)}."
    )


def legend(sent: Contribution) -> str:
    """Words of the shown rule that are not the student's; where a verdict names the rule, all of its words."""
    if sent.verdict not in ("", "agrees"):
        words = WORD.findall(sent.verdict)
        said = {f"the rule's {n}": text for n, text in sent.names.items() if n in words and n != text}
    else:
        said = {k.name: k.label for k in sent.saved if k.name not in sent.names and k.label not in ("", k.name)}
    return ", ".join(f"{name} is {text}" for name, text in said.items())


def substituted(step: Step, sent: Contribution) -> str:
    """The rule with its numbers put in, where every name in it is a single number; else nothing."""
    values = {"g": step.upstream, **{k.name: k.value for k in sent.saved}}
    if sent.how == "function" or any(v is not None and np.ndim(v) for v in values.values()):
        return ""
    return put_in(sent.rule, {name: number(v) for name, v in values.items() if v is not None})
