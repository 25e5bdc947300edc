"""A move of the backward pass in words: who speaks, what the rule says, what has arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from minigrad.record.names import term
from minigrad.record.notation import WORD, put_in, without_g
from minigrad.record.numbers import number, plural, short

if TYPE_CHECKING:
    from minigrad.record.recording import Kept, Place, Share, Step


def share_sentences(name: str, target: str, step: Step, share: Share) -> list[str]:
    assert share.contribution is not None and share.after is not None and share.raw is not None
    g = short(step.upstream)
    beats = [
        f"{name} speaks too early, for more is to come: g = {g}."
        if step.early
        else f"{name} speaks: its gradient is complete, g = {g}."
    ]
    given = ", ".join(kept_text(k, share) for k in share.kept if k.value is not None and k.label)
    unchanged = ": g, unchanged" if share.how in ("copy", "slot") else f" is {share.named}"
    beats.append(f"Its rule for {target}{unchanged}" + (f", with {given}." if given else "."))
    beats.append(product_sentence(target, step, share))
    if share.hooked:
        beats[-1] += f" {share.note}."
    if share.summed:
        beats.append(
            f"{target} has shape {share.contribution.shape}: it was stretched, so the "
            f"{plural(len(share.summed), 'stretched axis', 'stretched axes')} "
            f"{', '.join(map(str, share.summed))} {'is' if len(share.summed) == 1 else 'are'} summed: "
            f"{short(share.contribution)}."
        )
    count = f"{share.arrived} of {share.expected} arrived"
    if share.lost:
        assert share.before is not None
        beats.append(
            f"{target} held {short(share.before)} and now receives {short(share.contribution)}. Here it then holds "
            f"{short(share.after)}: something was thrown away ({count})."
        )
    elif share.before is None:
        whose = f"{share.note} of {target}" if share.how == "slot" else target
        beats.append(f"The gradient of {whose} was empty; now it is {short(share.after)} ({count}).")
    else:
        beats.append(
            f"{short(share.before)} + {short(share.contribution)} = {short(share.after)} "
            f"is now the gradient of {target} ({count})."
        )
    return beats


def few_words(name: str, target: str, _step: Step, share: Share) -> list[str]:
    """The same beats, shorter."""
    assert share.raw is not None
    summed = [f"Summed over axis {', '.join(map(str, share.summed))}."] if share.summed else []
    return [f"{name} speaks.", f"For {target}: {share.named}.", f"{target} gets {short(share.raw)}.", *summed,
            f"{share.arrived} of {share.expected} arrived at {target}."]  # fmt: skip


def kept_text(kept: Kept, share: Share) -> str:
    assert kept.value is not None
    return f"{share.names.get(kept.name) or kept.label or kept.name} = {short(kept.value)}"


def which(target: str, share: Share, step: Step) -> str:
    """An input as part of a slope: `a`; of `a * a`, where each use has a slope of its own, `(a, input 1)`."""
    uses = sum(other.parent == share.parent for other in step)
    return term(target) if uses == 1 else f"({target}, input {share.slot + 1})"


def local_slope(name: str, target: str, share: Share) -> str:
    """The operation's own slope, `∂c/∂a = b = -3`; of tables the formula alone. Nothing where there is none."""
    if share.raw is None or share.how not in (("elementwise",) if share.raw.ndim else ("elementwise", "copy")):
        return ""
    formula = share.renamed(without_g(share.rule))
    value = number(1 if share.local is None else share.local) if not share.raw.ndim else ""
    said = [formula] * (formula not in ("", value)) + [value] * bool(value)
    tail = ", number by number" if share.raw.ndim else ""
    return f"\u2202{term(name)}/\u2202{target} = {' = '.join(said)}{tail}" if said else ""


def product_sentence(target: str, step: Step, share: Share) -> str:
    assert share.raw is not None
    result = short(share.raw)
    if share.how == "slot":
        return f"It is the {share.note} of {target}: its gradient goes there as it is, {result}."
    if share.how == "function":
        return f"{share.note or 'Its own backward'}: for {target} that is {result}."
    if share.how == "copy":
        return f"g goes to {target} unchanged: {result}."
    if share.how == "move":
        return f"The same numbers in the shape of {target}, no arithmetic: {result}."
    if share.how == "spread":
        assert share.local is not None
        each = float(share.local.flat[0])
        part = "all of g" if each == 1 else f"g times {number(each)}"
        return f"Each of the {share.raw.size} numbers of {target} went into the result, so each gets {part}: {result}."
    if share.how == "scatter":
        return f"Each number of g goes back to the place it was read from, the other places get 0: {result}."
    sub = substituted(step, share)
    return f"The contribution to {target} is {sub + ' = ' if sub else ''}{result}."


def leaf_sentence(place: Place, step: Step) -> str:
    assert step.after is not None
    if step.before is None:
        return f"{place.name} is a leaf: {place.name}.grad was {place.empty} and is now {short(step.after)}."
    return (
        f"{place.name} is a leaf and {place.name}.grad already held {short(step.before)} from an earlier pass: "
        f"{short(step.before)} + {short(step.upstream)} = {short(step.after)}."
    )


def legend(share: Share) -> str:
    """Words of the shown rule that are not the student's; where a verdict speaks of the rule, all of its words."""
    if share.verdict not in ("", "agrees"):
        words = WORD.findall(share.verdict)
        said = {f"the rule's {n}": text for n, text in share.names.items() if n in words and n != text}
    else:
        said = {k.name: k.label for k in share.kept if k.name not in share.names and k.label not in ("", k.name)}
    return ", ".join(f"{name} is {text}" for name, text in said.items())


def substituted(step: Step, share: Share) -> str:
    """The rule with its numbers put in, where every name in it is a single number; else nothing."""
    values = {"g": step.upstream, **{k.name: k.value for k in share.kept}}
    if share.how == "function" or any(v is not None and np.ndim(v) for v in values.values()):
        return ""
    return put_in(share.rule, {name: number(v) for name, v in values.items() if v is not None})
