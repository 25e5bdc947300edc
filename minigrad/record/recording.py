"""A backward pass as data: what every picture and transcript is made from.

Its parts stand in moves.py: `Place`, a tensor of the graph; `Step`, one move
of the walk; `Contribution`, what one operation passes to one of its inputs.
A recording reads as text (`str(recording)`, in the words of words.py) and as
plain JSON (`to_dict`).  recorder.py makes one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import words
from .moves import Contribution, Place, Step
from .numbers import Array, Extent, facts_of, rounded, short

# a longer row or column is shown by its first 16 numbers
SAMPLE = 16


@dataclass(slots=True)
class Recording:
    """A whole backward pass: as text by `str`, as plain data by `to_dict`."""

    root: int
    places: list[Place]
    # from, to, slot
    edges: list[tuple[int, int, int]]
    steps: list[Step]
    seed: Array
    seed_given: bool = False
    # a sentence on the whole pass
    remark: str = ""

    @property
    def grads(self) -> dict[str, Array]:
        """What each leaf's .grad would hold after this pass, by name."""
        leaves = [s for s in self.steps if s.kind == "leaf"]
        found = ((self.places[s.node].name, s.after) for s in leaves)
        return {name: grad for name, grad in found if grad is not None}

    # -------------------------------------------------- as text
    def sentences(self, step: Step, sent: Contribution | None = None, brief: bool = False) -> list[str]:
        """One sentence for each beat of a contribution, or of a step without."""
        place = self.places[step.node]
        if step.kind == "leaf":
            return [words.leaf_sentence(place, step)]
        if sent is None:
            none = "needs a gradient, but none of its inputs does"
            return [f"{place.name} {none}: the walk ends here."]
        target = self.places[sent.parent].name
        if sent.skipped:
            return [f"{place.name} sends nothing to {target}: {sent.reason}."]
        make = words.brief_beats if brief else words.contribution_beats
        beats = make(place.name, target, step, sent)
        if place.hooked is not None:
            beats[0] += " A hook changed it to this."
        return beats

    def lines(self) -> list[str]:
        """One line a move."""
        name = {p.id: p.name for p in self.places}
        found = [f"start {name[self.root]}: gradient {short(self.seed)}"]
        for step in self.steps:
            if step.after is not None:
                found.append(f"store {name[step.node]}.grad = {short(step.after)}")
            for sent in step:
                move = f"{name[step.node]} -> {name[sent.parent]}: "
                target = self.places[sent.parent]
                found.append(move + words.result(target, sent))
        return found

    def __str__(self) -> str:
        lines = self.lines()
        size = f"{len(self.steps)} nodes, {len(lines)} moves"
        head = f"Backward pass of {self.places[self.root].name}: {size}"
        heads = [head, *filter(None, [self.remark])]
        return "\n".join([*heads, *(f"{i:>3}  {line}" for i, line in enumerate(lines))])

    def __repr__(self) -> str:
        size = f"{len(self.steps)} nodes, {len(self.edges)} edges"
        return f"<Recording of {self.places[self.root].name}: {size}>"

    # -------------------------------------------------- plain data
    def to_dict(self, sample: int = SAMPLE, brief: bool = False) -> dict[str, Any]:
        """Plain lists, numbers and strings, version 1.  Arrays are in `vals`.

        sample: longer rows and columns are cut there.  brief: short sentences,
        for long recordings.
        """
        pool = Pool(sample)
        nodes = [place_data(p, pool, brief) for p in self.places]
        start = words.start_sentence(nodes[self.root]["name"], self.seed, self.seed_given)
        start += f" {self.remark}." if self.remark else ""
        seed = {"kind": "seed", "node": self.root, "up": pool.add(self.seed), "text": [start]}
        steps: list[dict[str, Any]] = [seed]
        for step in self.steps:
            base: dict[str, Any] = {"node": step.node, "up": pool.add(step.upstream)}
            for sent in step:
                data = base | contribution_data(sent, pool)
                if not sent.skipped:
                    data["sub"] = words.substituted(step, sent)
                steps.append(data | {"text": self.sentences(step, sent, brief)})
            if step.kind == "leaf":
                held = pool.add(step.before), pool.add(step.after)
                base |= {"kind": "leaf", "before": held[0], "after": held[1]}
            if not step.contributions:
                text = self.sentences(step)
                steps.append({"kind": "end", **base, "text": text})
        edges = [list(edge) for edge in self.edges]
        made = {"v": 1, "root": self.root, "nodes": nodes, "edges": edges}
        return {**made, "steps": steps, "vals": pool.values}


# The names in JSON, and the attributes whose values they are.
PLACE = {name: name for name in ("id", "name", "op", "symbol", "leaf", "named", "spot")}
PLACE |= {"rg": "needs_grad", "expr": "expression", "line": "where", "src": "source"}
ARRAYS = {name: name for name in ("local", "raw", "before", "after")} | {"contrib": "value"}


def place_data(place: Place, pool: Pool, brief: bool) -> dict[str, Any]:
    """A place as plain data."""
    made = {key: getattr(place, name) for key, name in PLACE.items()}
    made["shape"] = list(place.shape)
    made |= {"val": pool.add(place.value), "old": pool.add(place.old_grad)}
    made |= {"src": ""} if brief else {}
    made |= {"empty": place.empty} if place.empty != "None" else {}
    made |= {"missing": place.missing} if place.missing else {}
    made |= {} if place.hooked is None else {"hook": pool.add(place.hooked)}
    return made


def contribution_data(sent: Contribution, pool: Pool) -> dict[str, Any]:
    """A contribution as plain data, without its sentences."""
    made: dict[str, Any] = {"parent": sent.parent, "slot": sent.slot}
    if sent.skipped:
        return {"kind": "skip", **made}
    made |= {"kind": "send", "rule": sent.named, "how": sent.how}
    made |= {key: pool.add(getattr(sent, name)) for key, name in ARRAYS.items()}
    made["saved"] = [[k.name, k.label, pool.add(k.value)] for k in sent.saved]
    made["axes"] = list(sent.summed)
    made["arrived"] = [sent.arrived, sent.expected]
    made["terms"] = [list(term) for term in sent.terms]
    further = {"note": sent.note, "around": sent.around, "lost": sent.lost}
    made |= {key: value for key, value in further.items() if value}
    if sent.jacobian is not None:
        made["jac"] = pool.add(sent.jacobian)
    if sent.verdict:
        compared = {"yours": pool.add(sent.yours), "numeric": pool.add(sent.numeric)}
        made["check"] = compared | {"verdict": sent.verdict}
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
        large = isinstance(array, Extent)
        key = id(array) if large else (array.shape, array.dtype.str, array.tobytes())
        if key not in self.seen:
            self.seen[key] = len(self.values)
            self.values.append(plain(array, self.sample))
        return self.seen[key]


def plain(array: Array, sample: int) -> Any:
    """One array for JSON: a number, or shape, shown part, and its extent."""
    if array.ndim == 0:
        return rounded(array)
    columns = array.shape[-1] if array.size else 0
    table = array.corner if isinstance(array, Extent) else array.reshape(-1 if columns else 0, columns)
    facts = facts_of(array)
    shown = table[:sample, :sample]
    rows, columns = shown.shape
    made = {"s": list(array.shape), "r": rows, "c": columns, "d": [rounded(x) for x in shown.flat]}
    wanted = ["top", "norm", *(["lo", "hi"] if shown.size < array.size else [])]
    made |= {key: rounded(facts[key]) for key in wanted}
    return made | ({"bad": facts["bad"]} if facts["bad"] else {})
