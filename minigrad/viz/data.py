"""The one JSON value behind every form of the stepper: a recording with its layout, questions, code and labels.

`recorded` takes a tensor, a student's own engine or a recording, and `dress` makes the value, within the budgets of bytes
and boxes. Every form (widget, page, still picture, text) is a pure function of it, so they cannot disagree.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import numpy as np

from ..nn import functional
from ..record.formula import shown, without_g
from ..record.moves import Contribution, Step
from ..record.names import term
from ..record.numbers import number
from ..record.recorder import record
from ..record.recording import SAMPLE, Recording
from ..record.words import substituted
from ..tensor import Tensor
from . import foreign, quiz
from .code import code_of
from .engine import live_of
from .forward import forward_moves
from .layout import MOST_BOXES, lay_out
from .part import excerpt, outline
from .rules import judge

BUDGET = 480_000  # bytes of JSON: samples shrink until it fits
MOST_MOVES = 3_000  # more are never shown
LONG = 400  # moves from which on the sentences are short
BEATS = ("focus", "rule", "product", "sum", "collect")
PLAIN = {  # rules in words
    "spread": "g{} to each number",
    "move": "g, the same numbers",
    "scatter": "g, back where it was read",
}
SAID = {
    "follow": "the part of {} that was written there",
    "cut_view": "{}, but 0 where it was overwritten",
    "put_along": "{}, back where it was read",
}
PRESS = "Click here and press \u2192"  # on a touch screen the stepper says "tap" (js/state.js)
LABEL = 9  # letters of an edge's label


def recorded(
    loss: Any, gradient: Any, names: Mapping[str, Any], rules: Any, whole: bool = False, ones: bool = False
) -> Recording:
    """The pass of a tensor, of a student's own engine, or one that is there. `ones`: of many numbers it starts from ones."""
    if isinstance(loss, Recording):
        return loss
    if foreign.is_foreign(loss):
        if ones and gradient is None:
            gradient = foreign.array(loss.data) * 0 + 1
        return foreign.record(loss, gradient, names, rules)
    if ones and gradient is None and loss.numel() != 1:
        gradient = loss.detach() * 0 + 1
    long = None if whole else outline(loss, gradient, names)
    return long or judge(record(loss, gradient, names=names), rules or {})


def place_of(around: Any, recording: Recording, names: Mapping[str, Any]) -> int:
    """The index of the step that is meant: by its number from 1, by a name, or by the tensor itself."""
    if isinstance(around, int):
        if 0 < around <= len(recording.steps):
            return around - 1
        raise ValueError(f"around={around}: the walk has nodes 1 to {len(recording.steps)}")
    name = around if isinstance(around, str) else next((k for k, v in names.items() if v is around), None)
    found = [i for i, step in enumerate(recording.steps) if recording.places[step.node].name == name]
    if not found:
        raise ValueError(f"around: the backward pass does not reach {name or 'this tensor'}")
    return found[0]


def dress(recording: Recording, around: int | None = None, forward: bool = False) -> tuple[dict[str, Any], str]:
    """A recording's JSON value, within the budgets of bytes and boxes, and its text.

    Of a very long pass the beginning and the end are shown, as much as fits, or most of it around one step; boxes
    stand for the rest. `forward`: the forward pass comes first, where the pass is shown whole.
    """
    moves = 1 + sum(max(1, len(step.contributions)) for step in recording.steps)
    limit = min(moves, MOST_MOVES)
    while True:
        shown = recording if limit == moves else excerpt(recording, limit, around)
        data = shown.to_dict(2 if limit == moves else 6, brief=limit > LONG)
        finish(data, shown, forward and shown is recording)
        size = len(as_json(data).encode())
        room = BUDGET / size if data["layout"]["start"] else MOST_BOXES / len(data["nodes"])
        if room >= 1:
            break
        limit = int(0.95 * limit * room)
    for sample in (SAMPLE, 12, 8, 6, 4):
        if size + more_bytes(data, sample) <= BUDGET:
            vals = shown.to_dict(sample, brief=True)["vals"]
            if len(as_json({**data, "vals": vals}).encode()) <= BUDGET:
                data["vals"] = vals
                break
    if around is not None:
        data["at"] = first_frame(data, recording.places[recording.steps[around].node].name)
    lines = [f"     {move['line'] or move['text']}" for move in data.get("forward", ())]
    return data, "\n".join([*(["Forward pass", *lines] if lines else []), str(shown)])


def first_frame(data: dict[str, Any], name: str) -> int:
    """The position on the time line at which a node becomes current."""
    start, *moves = data["steps"]
    before = itertools.takewhile(lambda move: data["nodes"][move["node"]]["name"] != name, moves)
    return 1 + len(data.get("forward", ())) + sum(len(move["text"]) for move in [start, *before])


def more_bytes(data: dict[str, Any], sample: int) -> int:
    """About how many bytes longer the data get when arrays are cut at `sample` rows and columns."""
    arrays = [v for v in data["vals"] if isinstance(v, dict) and v["d"]]
    cells: int = sum(min(prod(v["s"][:-1]), sample) * min(v["s"][-1], sample) - len(v["d"]) for v in arrays)
    return 7 * cells


def as_json(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


# ---------------------------------------------------------------- what the pictures need besides
def finish(data: dict[str, Any], recording: Recording, forward: bool) -> None:
    """Adds questions, names of the beats, labels of the edges, the code and the layout."""
    root = data["nodes"][data["root"]]["name"]
    data["title"] = f"{'Forward and backward' if forward else 'Backward'} pass of {root}"
    boxes = f"This is the graph of {root}: each box holds a number or an array, and the lines lead to {root}. {PRESS} to go"
    if forward:
        data["forward"] = forward_moves(recording, data["nodes"])
        data["look"] = f"{boxes} forward, step by step, from the inputs to {root}, and then back."
    else:
        data["look"] = f"{boxes} back, step by step, from {root} to the inputs."
    quiz.add(data, recording)
    hooked = recording.places[recording.root].hooked is not None
    before = None if hooked else recording.root  # the seed has said that it is current
    for move, step, sent in moves_of(data, recording):
        short = sent is not None and sent.how == "copy" and np.ndim(sent.value) == 0
        name_beats(move, before == step.node, short)
        before = step.node
        if sent is not None and sent.skipped:
            note_cut(data["nodes"][sent.parent], sent.reason)
        elif sent is not None:
            node, target = (data["nodes"][i] for i in (step.node, sent.parent))
            rule = in_words(sent, node["symbol"])
            move["text"] = [text.replace(sent.named, rule) for text in move["text"]] if rule != sent.named else move["text"]
            move["rule"] = rule
            move["edge"] = edge_label(step, sent, node["symbol"])
            move["sub"] = substituted(step, sent) if rule == sent.named else ""
            move["partial"] = partial(node["name"], target["name"], sent)
    data["steps"][0]["beats"] = ["seed"]
    data["code"], spans = code_of(recording)
    for node, span in zip(data["nodes"], spans, strict=True):
        if span:
            node["span"] = span
    data["layout"] = lay_out(data)
    live = live_of(recording, data) if forward else None
    if live:
        data["live"] = live
        for move, _, sent in moves_of(data, recording):
            if sent is not None and not sent.skipped:
                move["form"] = shown(sent.rule)


def moves_of(data: dict[str, Any], recording: Recording) -> Iterator[tuple[dict[str, Any], Step, Contribution | None]]:
    """Each move after the first as data and as what it was made from."""
    moves = iter(data["steps"][1:])
    for step in recording.steps:
        if not step.contributions:
            yield next(moves), step, None
        for sent in step.contributions:
            yield next(moves), step, sent


def name_beats(move: dict[str, Any], again: bool, short: bool) -> None:
    """Says which beat each sentence is. Left out: that a node is current, the second time; the rule of what is only
    passed on, since the product says it. `short`: one number, passed on unchanged, arrives with the same press of a key.
    """
    if move["kind"] != "send":
        move["beats"] = ["collect"] * len(move["text"])
        return
    names = [beat for beat in BEATS if beat != "sum" or len(move["text"]) == 5]
    idle = {"focus"} if again else set()
    if move["how"] in ("copy", "slot", *PLAIN):
        idle.add("rule")
    said = [(name, text) for name, text in zip(names, move["text"], strict=True) if name not in idle]
    if short and said[-2][0] == "product" and "check" not in move:
        said[-2:] = [("collect", f"{said[-2][1]} {said[-1][1]}")]
    move["beats"], move["text"] = [name for name, _ in said], [text for _, text in said]
    if "quiz" in move:
        wanted = BEATS.index(move["quiz"]["beat"])
        move["quiz"]["beat"] = next(name for name in move["beats"] if BEATS.index(name) >= wanted)


def note_cut(node: dict[str, Any], reason: str) -> None:
    """Scissors stand only where a graph was cut; other operands without a gradient are plain data."""
    found = re.search(r"cut by (\w+)|detach|no_grad", reason)
    if found:
        node["cut"] = found[1] or found[0]


def in_words(sent: Contribution, symbol: str) -> str:
    """The rule as a person says it, where the table's own word is a helper's name."""
    if sent.how in PLAIN:
        return PLAIN[sent.how].format(factor_of(sent))
    helper = re.match(r"(\w+)\((.+?), ", sent.named)
    if helper and helper[1] in SAID:
        return SAID[helper[1]].format(helper[2])
    calls = [] if sent.how == "function" else re.findall(r"\b([a-z_]\w*)\(", shown(sent.rule))
    public = all(hasattr(Tensor, call) or hasattr(functional, call) for call in calls)
    return sent.named if public else f"g, by the derivative of {symbol}"


def factor_of(sent: Contribution) -> str:
    """What g is multiplied by where it goes to many numbers alike: ` \u00b7 0.25`; nothing for 1."""
    factor = 1.0 if sent.local is None else float(sent.local.flat[0])
    return "" if factor == 1 else f" \u00b7 {number(factor)}"


def partial(name: str, target: str, sent: Contribution) -> str:
    """The local derivative as a formula, `∂c/∂a = b`; nothing where a rule does not multiply."""
    factor = "" if sent.how not in ("elementwise", "copy") else without_g(sent.rule)
    return f"∂{term(name)}/∂{term(target)} = {sent.renamed(factor)}" if factor else ""


def edge_label(step: Step, sent: Contribution, symbol: str) -> str:
    """The local derivative along an edge in a few letters: a number, of arrays what g is multiplied by."""
    if not step.upstream.ndim and sent.how in ("elementwise", "copy") and (sent.local is None or not sent.local.ndim):
        return f"\u00d7 {number(1 if sent.local is None else sent.local)}"
    if sent.how == "matmul":
        (a, flip_a), (b, flip_b) = sent.terms
        name, flip, text = (b, flip_b, "@ {}") if a == "g" else (a, flip_a, "{} @")
        other = sent.names.get(name, name)
        return text.format((other if len(other) < LABEL - 2 else "(\u2026)") + ("\u1d40" if flip else ""))
    if sent.how == "elementwise":
        factor = without_g(sent.rule)
        text = sent.renamed(factor).replace(" \u00b7 ", "\u00b7") if factor else ""
        text = f"({text})" if re.search(r" [-+<>&|]", text) and "\u00b7" not in text else text
        text = text if len(text) < LABEL - 1 else re.sub(r"(?<=\S) ([-+*/]) ", r"\1", text)
        if not text or len(text) > LABEL - 2:
            text = f"{symbol}\u2032" if symbol.isidentifier() and len(symbol) < LABEL - 2 else "slope"
        return f"\u00d7 {text}"
    if sent.how == "spread" and sent.local is not None:
        return f"\u00d7 {number(sent.local.flat[0])}"
    return {"copy": "\u00d7 1", "move": "reshape", "scatter": "put back", "function": "backward"}.get(sent.how, "")
