"""A backward pass as data: what every picture and transcript is made from.

Its parts stand in moves.py: `Place`, a tensor of the graph; `Step`, one move
of the walk; `Contribution`, what one operation passes to one of its inputs.
A recording reads as text (`str(recording)`, in the words of words.py) and as
plain JSON (`to_dict`).  recorder.py makes one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad.record.formula import shown
from minigrad.record.moves import Contribution, Place, Step
from minigrad.record.numbers import Array, norm, rounded, short
from minigrad.record.words import (
    brief_beats,
    contribution_beats,
    leaf_sentence,
    legend,
    local_slope,
    start_sentence,
    substituted,
    which,
)

SAMPLE = 16  # a longer row or column is shown by its first 16 numbers
VERSION = 1


Row = dict[str, str]


@dataclass(slots=True)
class Recording:
    """A whole backward pass: as text by `str`, as plain data by `to_dict`."""

    root: int
    places: list[Place]
    edges: list[tuple[int, int, int]]  # from, to, slot
    steps: list[Step]
    seed: Array
    seed_given: bool = False

    # -------------------------------------------------- asking it
    @property
    def grads(self) -> dict[str, Array]:
        """What each leaf's .grad would hold after this pass, by name."""
        leaves = [s for s in self.steps if s.kind == "leaf"]
        found = ((self.places[s.node].name, s.after) for s in leaves)
        return {name: grad for name, grad in found if grad is not None}

    def gradient(self, place: int) -> Array | None:
        """The whole gradient that arrived at a place in this pass."""
        found = (s.upstream for s in self.steps if s.node == place)
        return next(found, None)

    def ledger(self, place: int) -> list[tuple[int, Contribution]]:
        """Which node contributed what to a tensor, in order of arrival."""
        sent = ((s.node, each) for s in self.steps for each in s)
        return [(n, c) for n, c in sent if c.parent == place and not c.skipped]

    # -------------------------------------------------- as text
    def sentences(
        self, step: Step, sent: Contribution | None = None, brief: bool = False
    ) -> list[str]:
        """One sentence for each beat of a contribution, or of a step without."""
        place = self.places[step.node]
        if step.kind == "leaf":
            change = f"A hook makes it {short(step.upstream)}. "
            hook = "" if place.hooked is None else change
            return [hook + leaf_sentence(place, step)]
        if sent is None:
            none = "needs a gradient, but none of its inputs does"
            return [f"{place.name} {none}: the walk ends here."]
        target = self.places[sent.parent].name
        if sent.skipped:
            return [f"{place.name} sends nothing to {target}: {sent.reason}."]
        make = brief_beats if brief else contribution_beats
        beats = make(place.name, target, step, sent)
        if place.hooked is not None:
            beats[0] += " A hook made it that."
        return beats

    def start(self) -> str:
        """The sentence that begins the pass: what the seed is and why."""
        name = self.places[self.root].name
        return start_sentence(name, self.seed, self.seed_given)

    def transcript(self) -> list[Row]:
        """The pass as a table: one row a move.

        Keys: move, node, to, rule, contribution, ledger, words.
        """
        root = self.places[self.root].name
        seed = short(self.seed)
        rows = [row("start", root, contribution=seed, words=self.start())]
        for step in self.steps:
            if step.kind == "leaf":
                rows.append(self.stored(step))
            rows += [self.sent(step, each) for each in step]
        return rows

    def stored(self, step: Step) -> Row:
        """The row of a leaf."""
        place = self.places[step.node]
        assert step.after is not None
        return row(
            "store", place.name, f"{place.name}.grad",
            contribution=short(step.upstream), ledger=short(step.after),
            words=leaf_sentence(place, step),
        )  # fmt: skip

    def sent(self, step: Step, sent: Contribution) -> Row:
        """The row of a contribution."""
        target = self.places[sent.parent]
        made = row(
            "skip" if sent.skipped else "send",
            self.places[step.node].name, target.name, sent.named,
            words=" ".join(self.sentences(step, sent)),
        )  # fmt: skip
        if sent.value is None or sent.after is None or sent.raw is None:
            return made
        hook = f"{short(sent.raw)}, a hook makes it " if sent.hooked else ""
        made["contribution"] = hook + short(sent.value)
        count = f"({sent.arrived} of {sent.expected})"
        made["ledger"] = f"{short(sent.after)} {count}"
        if target.hooked is not None and sent.arrived == sent.expected:
            made["ledger"] += f"; a hook makes it {short(target.hooked)}"
        return made

    def __str__(self) -> str:
        root, rows = self.places[self.root].name, self.transcript()
        size = f"{len(self.steps)} nodes, {len(rows)} moves"
        moves = [f"{i:>3}  {line(each)}" for i, each in enumerate(rows)]
        return "\n".join([f"Backward pass of {root}: {size}", *moves])

    def __repr__(self) -> str:
        size = f"{len(self.steps)} nodes, {len(self.edges)} edges"
        return f"<Recording of {self.places[self.root].name}: {size}>"

    # -------------------------------------------------- plain data
    def to_dict(self, sample: int = SAMPLE, brief: bool = False) -> dict[str, Any]:
        """Plain lists, numbers and strings, version 1.  Arrays are in `vals`.

        sample: longer rows and columns are cut there.  brief: short
        sentences, for long recordings.
        """
        pool = Pool(sample)
        nodes = [place_data(p, pool, brief) for p in self.places]
        seed = pool.add(self.seed)
        start = {"kind": "seed", "node": self.root, "up": seed}
        steps: list[dict[str, Any]] = [start | {"text": [self.start()]}]
        for step in self.steps:
            up = pool.add(step.upstream)
            made: dict[str, Any] = {"kind": "end", "node": step.node, "up": up}
            if step.kind == "leaf":
                made["kind"] = "leaf"
                made["before"] = pool.add(step.before)
                made["after"] = pool.add(step.after)
            if not step.contributions:
                steps.append(made | {"text": self.sentences(step)})
            for sent in step:
                data = contribution_data(sent, pool, brief)
                data |= {"node": step.node, "up": up}
                data["text"] = self.sentences(step, sent, brief)
                if not sent.skipped:
                    data |= self.extras(step, sent)
                steps.append(data)
        return {
            "v": VERSION,
            "root": self.root,
            "nodes": nodes,
            "edges": [list(e) for e in self.edges],
            "steps": steps,
            "vals": pool.values,
        }

    def extras(self, step: Step, sent: Contribution) -> dict[str, Any]:
        """What else is said of a contribution, where there is something."""
        plain = shown(sent.rule)  # in the table's own names
        target = which(self.places[sent.parent].name, sent, step)
        name = self.places[step.node].name
        texts = {
            "formula": plain if plain != sent.named else "",
            "slope": local_slope(name, target, sent),
            "legend": legend(sent),
            "note": sent.note,
            "around": sent.around,
        }
        found = {key: text for key, text in texts.items() if text}
        return found | {"sub": substituted(step, sent)}

    def pooled(self, sample: int) -> list[Any]:
        """`vals` alone, cut elsewhere; the numbers that point into it stay."""
        pooled: list[Any] = self.to_dict(sample, brief=True)["vals"]
        return pooled

    def to_json(self) -> str:
        """One line of JSON, the same bytes for the same recording."""
        return json.dumps(
            self.to_dict(), separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )


def row(
    move: str, node: str, to: str = "", rule: str = "",
    contribution: str = "", ledger: str = "", words: str = "",
) -> Row:  # fmt: skip
    """One move of a transcript."""
    return dict(locals())


def line(row: Row) -> str:
    """A row of a transcript as a line of text."""
    node, to = row["node"], row["to"]
    if row["move"] == "start":
        return f"start {node}: gradient {row['contribution']}"
    if row["move"] == "store":
        return f"store {to} = {row['ledger']}"
    if row["move"] == "skip":
        return f"{node} -> {to}: nothing, {row['words'].partition(': ')[2]}"
    result = f"{row['rule']} = {row['contribution']}"
    return f"{node} -> {to}: {result}; {to} has {row['ledger']}"


def place_data(place: Place, pool: Pool, brief: bool) -> dict[str, Any]:
    """A place as plain data."""
    made = {
        "id": place.id,
        "name": place.name,
        "op": place.op,
        "symbol": place.symbol,
        "shape": list(place.shape),
        "rg": place.needs_grad,
        "leaf": place.leaf,
        "named": place.named,
        "expr": place.expression,
        "line": place.where,
        "src": "" if brief else place.source,
        "spot": place.spot,
        "val": pool.add(place.value),
        "old": pool.add(place.old_grad),
    }
    if place.empty != "None":
        made["empty"] = place.empty
    if place.hooked is not None:
        made["hook"] = pool.add(place.hooked)
    return made


def contribution_data(sent: Contribution, pool: Pool, brief: bool) -> dict[str, Any]:
    """A contribution as plain data, without its sentences."""
    made: dict[str, Any] = {"parent": sent.parent, "slot": sent.slot}
    if sent.skipped:
        return {"kind": "skip", **made}
    made |= {
        "kind": "send",
        "rule": sent.named,
        "how": sent.how,
        "saved": [[k.name, k.label, pool.add(k.value)] for k in sent.saved],
        "local": pool.add(sent.local),
        "raw": pool.add(sent.raw),
        "contrib": pool.add(sent.value),
        "axes": list(sent.summed),
        "before": pool.add(sent.before),
        "after": pool.add(sent.after),
        "arrived": [sent.arrived, sent.expected],
        "terms": [list(t) for t in sent.terms],
    }
    if sent.latex and not brief:
        made["latex"] = sent.latex
    if sent.lost:
        made["lost"] = True
    if sent.measured is not None:
        made["fd"] = rounded(sent.measured)
    if sent.jacobian is not None:
        made["jac"] = pool.add(sent.jacobian)
    if sent.yours is not None or sent.verdict:
        made["check"] = {
            "yours": pool.add(sent.yours),
            "numeric": pool.add(sent.numeric),
            "verdict": sent.verdict,
        }
    return made


class Pool:
    """Each array once: `add` gives its index in `values`."""

    def __init__(self, sample: int) -> None:
        self.sample = sample
        self.values: list[Any] = []
        self.seen: dict[Any, int] = {}

    def add(self, array: Array | None) -> int | None:
        if array is None:
            return None
        array = np.asarray(array)
        key = (array.shape, array.dtype.str, array.tobytes())
        if key not in self.seen:
            self.seen[key] = len(self.values)
            self.values.append(plain(array, self.sample))
        return self.seen[key]


def plain(array: Array, sample: int) -> Any:
    """One array for JSON: a number, or shape, shown part, and its extent."""
    if array.ndim == 0:
        return rounded(array)
    columns = array.shape[-1] if array.size else 0
    table = array.reshape(-1 if columns else 0, columns)
    shown = table[:sample, :sample]
    wide = np.abs(np.asarray(array, np.float64))
    finite = wide[np.isfinite(wide)]
    made = {
        "s": list(array.shape),
        "r": shown.shape[0],
        "c": shown.shape[1],
        "d": [rounded(x) for x in shown.flat],
        "top": rounded(finite.max(initial=0.0)),
        "norm": rounded(norm(array)),
    }
    if shown.size < table.size:
        made |= {"lo": rounded(array.min()), "hi": rounded(array.max())}
    if finite.size < wide.size:
        made["bad"] = int(wide.size - finite.size)
    return made
