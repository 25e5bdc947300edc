"""Predict before reveal: the questions that a stepper may ask, one at most for each move.

Six kinds: which node is next, the sign, the value, the shape, how many contributions, which rule. Which one
fits is read from the move itself, so the same graph asks the same questions. Every wrong choice is a known
mistake, with what that mistake gives here: the upstream gradient forgotten (M23), `=` where `+=` belongs
(M19), a node that is taken too early (M20), a stretched axis that is not summed (M28), a product of matrices in
the wrong order (M29).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np

from ..operation import parameters
from ..record.bugs import wrong_rules
from ..record.moves import Contribution, Step
from ..record.numbers import Extent, number, rounded, short
from ..record.recording import Recording
from ..tape import TABLE

Quiz = dict[str, Any]
MOST_QUESTIONS = 80


def add(data: dict[str, Any], recording: Recording) -> None:
    """Give the moves of `data` their questions, as `quiz`."""
    moves = iter(data["steps"][1:])
    asked = 0
    expected, arrived = Counter(a for a, _, _ in recording.edges), Counter({recording.root: 1})
    expected[recording.root] = 1
    done: set[int] = set()
    every = 1 + len(recording.steps) // 300  # of a very long pass only every so-manieth node is asked about
    for at, step in enumerate(recording.steps):
        if not step.contributions:
            next(moves)
            done.add(step.node)
            continue
        first = True
        for sent in step.contributions:
            move = next(moves)
            if sent.skipped:
                continue
            if at % every == 0:
                of_walk = next_node(recording, at, arrived, expected, done) if first and at and asked % 3 == 0 else None
                quiz = of_walk or question(recording, step, sent, asked)
                first = False
                if quiz is not None:
                    move["quiz"] = quiz
                    asked += 1
            arrived[sent.parent] += 1
        done.add(step.node)
    thin_out(data)


def thin_out(data: dict[str, Any]) -> None:
    """Of very many questions only every so-manieth is asked."""
    asked = [move for move in data["steps"] if "quiz" in move]
    for i, move in enumerate(asked):
        if i % -(-len(asked) // MOST_QUESTIONS):
            del move["quiz"]


def question(recording: Recording, step: Step, sent: Contribution, asked: int) -> Quiz | None:
    """The question that fits this contribution."""
    numbers = (step.upstream, sent.value, *(each.value for each in sent.saved))
    if any(isinstance(each, Extent) for each in numbers):  # only its extent is known
        return None
    target = recording.places[sent.parent].name
    assert sent.value is not None and sent.raw is not None
    if sent.summed:
        return shape(target, step, sent)
    if sent.before is not None and sent.after is not None and sent.after.ndim == 0:
        return total(target, sent)
    if sent.how == "matmul":
        return rule(target, step, sent, asked)
    if sent.expected > 1 and sent.arrived == 1 and asked % 2 == 0:
        return count(target, sent)
    if sent.how not in ("elementwise", "copy"):
        return shape(target, step, sent) if sent.raw.shape != step.upstream.shape else None
    if sent.raw.ndim:
        return rule(target, step, sent, asked) if sent.how == "elementwise" else None
    if sent.how == "copy":
        return value(target, step, sent) if asked % 2 else sign(target, step, sent)
    return rule(target, step, sent, 1) if asked % 3 == 2 else (value, sign)[asked % 3](target, step, sent)


def slips(step: Step, sent: Contribution) -> list[tuple[str, str, np.ndarray[Any, Any]]]:
    """What this contribution would be under each catalogued mistake: its id, what is said of it, and the numbers."""
    if sent.operation not in TABLE or any(isinstance(x, Extent) for x in (step.upstream, sent.value, *sent.arguments.values())):
        return []
    found = []
    for wrong in wrong_rules(sent.operation):
        rule = wrong.rules[sent.slot] if sent.slot < len(wrong.rules) else None
        names = () if rule is None else parameters(rule)[1:]
        if rule is None or any(n not in sent.arguments for n in names):
            continue
        with np.errstate(all="ignore"):
            try:
                answer = rule(step.upstream.copy()[()], *(sent.arguments[n] for n in names))
            except ValueError:  # a product of matrices that do not fit together has no value to show
                continue
        found.append((wrong.id, wrong.says, np.asarray(answer)))
    return found


def options(right: str, wrong: list[tuple[str, str]], turn: int) -> Quiz | None:
    """Up to four different choices; the right one stands now here, now there."""
    seen = {right}
    choices: list[tuple[str, str]] = []
    for text, why in wrong:
        if text not in seen and len(choices) < 3:
            seen.add(text)
            choices.append((text, why))
    if not choices:
        return None
    place = turn % (len(choices) + 1)
    choices.insert(place, (right, ""))
    return {"options": [c[0] for c in choices], "why": [c[1] for c in choices], "answer": place}


# ---------------------------------------------------------------- the six kinds
def next_node(
    recording: Recording, at: int, arrived: Counter[int], expected: Counter[int], done: set[int]
) -> Quiz | None:
    """Before a node is taken: which one is it?"""
    right = recording.steps[at].node
    name = {p.id: p.name for p in recording.places}
    waiting = [i for i in range(len(name)) if 0 < arrived[i] < expected[i] and i not in done]
    ready = [i for i in range(len(name)) if arrived[i] == expected[i] > 0 and i not in done and i != right]
    others = [i for i in range(len(name)) if not arrived[i] and recording.places[i].needs_grad and i not in done]
    unfinished = "{} has {} of {} contributions: it would pass on an unfinished sum."
    later = "{} is ready too, but was made before {}: the node made last goes first."
    wrong = [(i, unfinished.format(name[i], arrived[i], expected[i])) for i in waiting]
    wrong += [(i, later.format(name[i], name[right])) for i in ready]
    wrong += [(i, f"Nothing has arrived at {name[i]} yet.") for i in others]
    if len(wrong) < 2:
        return None
    choices = sorted([(right, ""), *wrong[:3]])
    return {
        "type": "next", "beat": "focus", "ask": "Which node is next?", "ids": [i for i, _ in choices],
        "options": [name[i] for i, _ in choices], "why": [w for _, w in choices],
        "answer": [i for i, _ in choices].index(right),
        "hint": "A node is ready when every node that used it is done; of the ready nodes, the one made last goes first.",
        "reveal": f"{name[right]}: its gradient is complete.",
    }  # fmt: skip


def sign(target: str, step: Step, sent: Contribution) -> Quiz | None:
    assert sent.raw is not None
    x = float(sent.raw)
    right = "+" if x > 0 else "\u2212" if x < 0 else "0"
    local = "" if sent.local is None else f" The local derivative is {number(sent.local)}."
    law = "Equal signs give +, different signs give \u2212."
    hint = "Multiply the sign of the upstream gradient by the sign of the local derivative."
    if sent.how == "copy":
        law, hint = "The rule passes it on unchanged.", "What does the rule do to the upstream gradient?"
    why = f"The upstream gradient is {number(step.upstream)}.{local} {law}"
    made = options(right, [(c, why) for c in ("+", "\u2212", "0")], "+\u22120".index(right))
    return made and {
        **made, "type": "sign", "beat": "rule", "ask": f"Which sign does the contribution to {target} have?",
        "hint": hint,
        "reveal": f"The contribution is {number(x)}.",
    }  # fmt: skip


def value(target: str, step: Step, sent: Contribution) -> Quiz | None:
    """A number to work out; known slips are recognised by their value."""
    assert sent.raw is not None
    x = float(sent.raw)
    if not np.isfinite(x):
        return None
    wrong = [
        *((float(v), f"That is what comes out of a rule that {why}.") for _, why, v in slips(step, sent) if not v.ndim),
        (-x, "The size is right, but the sign is wrong."),
        (float(step.upstream), "That is g itself: the local derivative is missing."),
    ]
    return {
        "type": "value", "beat": "rule", "ask": f"What is the contribution to {target}?", "answer": rounded(x),
        "tol": tolerance(x), "wrong": [[rounded(v), why] for v, why in wrong if differs(v, x)],
        "hint": f"The rule is {sent.named}, and g is {number(step.upstream)}.",
        "reveal": f"It is {number(x)}.",
    }  # fmt: skip


def total(target: str, sent: Contribution) -> Quiz | None:
    """At a fan-in: what does the ledger hold after this one?"""
    assert sent.value is not None and sent.after is not None and sent.before is not None
    x = float(sent.before + sent.value)  # an engine with a bug may hold something else afterwards
    if not np.isfinite(x):
        return None
    before, sent_now = float(sent.before), float(sent.value)
    wrong = [
        (sent_now, f"That is this contribution alone: `=` would have thrown away {short(sent.before)}."),
        (before, "That is what was there before: the new contribution is missing."),
        (before * sent_now, "Along a path, derivatives are multiplied; where paths meet, contributions are added."),
    ]
    return {
        "type": "value", "beat": "collect", "answer": rounded(x), "tol": tolerance(x),
        "ask": f"{target} holds {short(sent.before)} and now receives {short(sent.value)}. What does it hold then?",
        "wrong": [[rounded(v), why] for v, why in wrong if differs(v, x)],
        "hint": "Each path from the root back to it brings a contribution of its own.",
        "reveal": f"{short(sent.before)} + {short(sent.value)} = {number(x)}.",
    }  # fmt: skip


def shape(target: str, step: Step, sent: Contribution) -> Quiz | None:
    assert sent.value is not None and sent.raw is not None
    right = spelled(sent.value.shape)
    wrong = [(spelled(sent.raw.shape), f"That is the shape before the sum. {target} was stretched: each of its numbers was "
              "used several times, and those contributions are added up.")] if sent.summed else []  # fmt: skip
    wrong += [(spelled(v.shape), f"That comes out of a rule where {why}.") for _, why, v in slips(step, sent)]
    wrong += [
        (spelled(step.upstream.shape), "That is the shape of g, the gradient of the output. The gradient of an input has "
         "the shape of the input: one number for each number that you could nudge."),
        (spelled(()), f"{target} has {sent.value.size} numbers to nudge, so its gradient has as many."),
    ]  # fmt: skip
    made = options(right, wrong, len(right))
    return made and {
        **made, "type": "shape", "beat": "rule", "ask": f"Which shape will the gradient of {target} have?",
        "hint": f"One number for each number of {target} that could be nudged.",
        "reveal": f"{right}, the shape of {target}.",
    }  # fmt: skip


def count(target: str, sent: Contribution) -> Quiz | None:
    right = sent.expected
    why = f"Count the lines that leave {target} to the right: each use sends one contribution back."
    choices = sorted({1, right - 1, right, right + 1} - {0})
    made = {"options": [str(n) for n in choices], "why": ["" if n == right else why for n in choices]}
    return {
        **made, "answer": choices.index(right), "type": "count", "beat": "collect",
        "ask": f"How many contributions will {target} receive in all?",
        "hint": f"How often was {target} used?", "reveal": f"{right}: {target} was used {right} times.",
    }  # fmt: skip


def rule(target: str, step: Step, sent: Contribution, asked: int) -> Quiz | None:
    """Which formula? The others are typical mistakes, with what they would have given."""
    right = sent.named
    wrong = matrix_mistakes(sent, step) if sent.how == "matmul" else plain_mistakes(sent, step)
    wrong = [(sent.renamed(text), why) for text, why in wrong]
    made = options(right, wrong, asked)
    return made and {
        **made, "type": "rule", "beat": "rule", "ask": f"Which rule gives the contribution to {target}?",
        "hint": "Nudge the input by a little: by how much does the result change? Then multiply by g."
        if sent.how != "matmul" else f"Only one product has the shape of {target}; for square ones, mind the order.",
        "reveal": f"{target} gets {right}.",
    }  # fmt: skip


def plain_mistakes(sent: Contribution, step: Step) -> list[tuple[str, str]]:
    right = sent.rule
    gives = "".join(f" It would give {short(v)}." for known, _, v in slips(step, sent) if known == "M23")
    bare = re.sub(r"^-?g \* ", lambda m: "-" if m[0].startswith("-") else "", right)
    bare = "1 / " + right[4:] if right.startswith("g / ") else bare
    flipped = right[1:] if right.startswith("-") else "-" + right
    wrong = [(bare, f"Without g it is right only where the upstream gradient is 1.{gives}")] if bare != right else []
    wrong.append((flipped, "The sign is reversed."))
    wrong.append(("g", "That would be the rule of an addition."))
    saved = [k.name for k in sent.saved]
    wrong += [(f"g * {name}", "The local derivative is the other operand: x * y grows by y when x grows by 1.")
              for name in ("x", "y", "out") if name not in saved]  # fmt: skip
    return wrong


def matrix_mistakes(sent: Contribution, step: Step) -> list[tuple[str, str]]:
    """Products without the transpose or in the wrong order, and what shape they have."""
    assert sent.raw is not None
    (a, flip_a), (b, flip_b) = sent.terms
    values = {"g": step.upstream, **{k.name: k.value for k in sent.saved if k.value is not None}}

    def text(name: str, flip: bool) -> str:
        return name + (".mT" if flip else "")

    tries = [
        (a, False, b, False, "The transpose is missing"),
        (b, flip_b, a, flip_a, "The order is reversed"),
        (b, False, a, False, "Order and transpose are wrong"),
        (a, not flip_a, b, not flip_b, "The wrong factor is transposed"),
    ]
    wrong = []
    for m, fm, n, fn, why in tries:
        left, right = (x.swapaxes(-1, -2) if f and x.ndim > 1 else x for x, f in ((values[m], fm), (values[n], fn)))
        try:
            made = left @ right
            gave = f"it gives {short(made) if made.shape == sent.raw.shape else 'shape ' + spelled(made.shape)}"
        except ValueError:  # the mistake shows itself: these two do not fit together
            gave = f"{spelled(left.shape)} @ {spelled(right.shape)} does not fit together"
        wrong.append((f"{text(m, fm)} @ {text(n, fn)}", f"{why}: {gave}."))
    name = next(k for k in values if k != "g")
    wrong.append((f"g * {name}", "That multiplies number by number; each output mixes a whole row and column."))
    return wrong


def spelled(shape: tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")" if shape else "() one number"


def tolerance(x: float) -> float:
    """Three digits are enough."""
    return float(f"{max(5e-4, 0.005 * abs(x)):.3g}")


def differs(a: float, b: float) -> bool:
    return bool(np.isfinite(a)) and abs(a - b) > tolerance(b)
