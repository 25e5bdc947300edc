"""A backward pass as data: what every picture, table and transcript of minigrad is made from.

The reader meets a `Recording` and its parts (`Place`, a tensor of the graph; `Contribution`, what one operation passes to
one of its inputs; `Step`, one move of the walk); how it reads aloud (`str(recording)`, in the words of sentences.py) and as
plain JSON (`to_dict`). recorder.py makes one, by sending the tape's own walk along.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minigrad.record.notation import WORD
from minigrad.record.numbers import Array, norm, rounded, short
from minigrad.record.words import few_words, leaf_sentence, legend, local_slope, sentences_of, substituted, which

TURNED = re.compile(r"^(permute|swap)\(g, \(?([-\d, ]+)\)?\)$")  # a gradient with its dimensions in another order
ROWS = re.compile(r"^rows_mm\((.+), (.+)\)$")  # a product with every row of a batch
SAMPLE = 16  # a longer row or column is shown by its first 16 numbers
VERSION = 1


# ---------------------------------------------------------------- what a recording holds
@dataclass(slots=True)
class Place:
    """A tensor of the graph: one node of the tape, or an operand that needs no gradient (`needs_grad`
    False).
    """

    id: int
    name: str  # the caller's variable, else the expression that made it
    op: str  # "Mul", "AccumulateGrad", "" for an operand without history
    shape: tuple[int, ...]
    dtype: str = "float32"
    leaf: bool = False
    needs_grad: bool = True
    named: bool = False  # whether `name` is a variable of the caller
    expression: str = ""  # the piece of source that made it
    where: str = ""  # "model.py:12"
    source: str = ""  # the whole line
    value: Array | None = None  # None where nothing holds it
    old_grad: Array | None = None  # what .grad held before this pass
    hooked: Array | None = None  # the whole gradient as a hook left it, where that is another one
    empty: str = "None"  # what .grad is before any pass; some engines start with 0
    symbol: str = ""  # "*", "@", "relu"
    spot: str = ""  # call site as a key: nodes of one loop body share it


@dataclass(slots=True)
class Saved:
    """A number that the rule was given besides g: its name in the rule, whose value it is, and the value."""

    name: str
    label: str
    value: Array | None  # None for what is no number, such as a shape; then the label says it


@dataclass(slots=True)
class Contribution:
    """What one operation passes to one of its inputs."""

    slot: int
    parent: int
    rule: str = ""
    latex: str = ""
    saved: tuple[Saved, ...] = ()
    how: str = "other"  # copy, elementwise, matmul, move, spread, scatter, function, other
    local: Array | None = (
        None  # the local factor, where the rule multiplies g by something element by element
    )
    raw: Array | None = None  # as the rule returned it
    value: Array | None = None  # summed and cast to the input's shape and dtype
    summed: tuple[int, ...] = ()  # axes of `raw` that were summed because the input had been stretched
    before: Array | None = None
    after: Array | None = None
    arrived: int = 0
    expected: int = 0
    reason: str = ""  # why there is no contribution, where there is none
    hooked: bool = False  # whether a hook on the node changed it
    terms: tuple[tuple[str, bool], ...] = ()  # a matrix product's two factors: name, transposed
    operation: str = ""  # its line in the derivative table
    arguments: dict[str, Any] = field(
        default_factory=dict
    )  # what is known of the operation's inputs and settings
    names: dict[str, str] = field(default_factory=dict)  # what the student calls them
    note: str = ""  # the student's own line, or why a Jacobian is not shown
    around: int = 0  # of a box that stands for many nodes: the number of the one in their middle
    jacobian: Array | None = None  # outputs by inputs, where that is small
    measured: float | None = None  # the local slope of a scalar operation, by nudging
    yours: Array | None = None  # what the student's own rule returned
    numeric: Array | None = None  # the same by finite differences
    verdict: str = ""  # "", "agrees" or why the student's rule is wrong

    @property
    def skipped(self) -> bool:
        return self.value is None

    @property
    def lost(self) -> bool:
        """Whether the ledger holds less afterwards than it should: a broken walk, or an engine with `=` for `+=`."""
        if self.before is None or self.value is None or self.after is None:
            return False
        return not same(self.before + self.value, self.after)

    @property
    def named(self) -> str:
        """The rule in the student's own names: `g * b` for `g * y`."""
        return self.renamed(self.rule)

    def renamed(self, rule: str) -> str:
        """Any formula about this operation, in the student's names."""

        def one(word: re.Match[str]) -> str:
            text = self.names.get(word[0], word[0])
            alone = rule[: word.start()].rstrip()[-1:] in tuple("(,") and rule[word.end() : word.end() + 1] in tuple("),")
            return text[1:-1] if alone and text[:1] == "(" != text[:-1] and "," not in text else text  # f((a + b)): f(a + b)

        if not any(k.value is not None and k.value.ndim > 2 for k in self.saved):
            rule = re.sub(r"fold_rows\((\w+)\)", r"\1", rule)  # of a plain table there is nothing to fold
        text = ROWS.sub(r"\1 @ \2", WORD.sub(one, rule))
        flat, turned = self.raw is not None and self.raw.ndim <= 2, TURNED.match(text)
        if turned:
            plain = flat and (turned[1] == "swap" or turned[2] == "1, 0")
            return "g.T" if plain else f"g.{turned[1].replace('swap', 'transpose')}({turned[2]})"
        return text.replace(".mT", ".T") if flat else text


@dataclass(slots=True)
class Step:
    """One move of the walk: a node receives its gradient and passes a contribution to each input; or a leaf
    stores it.
    """

    kind: str  # "node" or "leaf"
    node: int
    upstream: Array
    contributions: list[Contribution] = field(default_factory=list)
    before: Array | None = None  # a leaf's .grad before
    after: Array | None = None  # and after
    early: bool = False  # whether a broken walk took it before everything had arrived

    def __iter__(self) -> Iterator[Contribution]:
        return iter(self.contributions)


@dataclass(slots=True)
class Recording:
    """A whole backward pass. `str()` reads it aloud, `to_dict()` and `to_json()` give it as plain data."""

    root: int
    places: list[Place]
    edges: list[tuple[int, int, int]]  # from, to, slot
    steps: list[Step]
    seed: Array
    seed_given: bool = False

    # ------------------------------------------------------------ asking it
    @property
    def grads(self) -> dict[str, Array]:
        """What each leaf's .grad would hold after this pass, by name."""
        return {
            self.places[s.node].name: s.after for s in self.steps if s.kind == "leaf" and s.after is not None
        }

    def gradient(self, place: int) -> Array | None:
        """The whole gradient that arrived at a place in this pass, without what its .grad held before."""
        for step in self.steps:
            if step.node == place:
                return step.upstream
        return None

    def ledger(self, place: int) -> list[tuple[int, Contribution]]:
        """The rows of one tensor's ledger: who sent what, in the order in which it arrived."""
        return [
            (s.node, sent) for s in self.steps for sent in s if sent.parent == place and not sent.skipped
        ]

    # ------------------------------------------------------------ reading it aloud
    def sentences(self, step: Step, sent: Contribution | None = None, brief: bool = False) -> list[str]:
        """One sentence for each beat of a contribution (focus, rule, product, sum, accumulate), or of a step
        without.
        """
        name = self.places[step.node].name
        if step.kind == "leaf":
            hook = "" if self.places[step.node].hooked is None else f"A hook makes it {short(step.upstream)}. "
            return [hook + leaf_sentence(self.places[step.node], step)]
        if sent is None:
            return [f"{name} needs a gradient, but none of its inputs does: the walk ends here."]
        target = self.places[sent.parent].name
        if sent.skipped:
            return [f"{name} sends nothing to {target}: {sent.reason}."]
        beats = (few_words if brief else sentences_of)(name, target, step, sent)
        if self.places[step.node].hooked is not None:
            beats[0] += " A hook made it that."
        return beats

    def start(self) -> str:
        """The sentence that begins the pass: what the seed is and why."""
        name = self.places[self.root].name
        if self.seed_given:
            return (
                f"The pass starts at {name} with the gradient you gave, {short(self.seed)}: "
                f"one number for each output, saying how much it counts."
            )
        one = f"when {name} changes by a little, {name} changes by just as much."
        if (self.seed != 1).any():
            return f"The pass starts at {name} with {short(self.seed)}. It should be 1: {one}"
        return f"The pass starts at {name} with gradient 1: {one}"

    def transcript(self) -> list[dict[str, str]]:
        """The pass as a table: one row a move. Keys: move, from, to, rule, contribution, ledger, words."""
        rows = [
            {
                "move": "start",
                "node": self.places[self.root].name,
                "to": "",
                "rule": "",
                "contribution": short(self.seed),
                "ledger": "",
                "words": self.start(),
            }
        ]
        for step in self.steps:
            node = self.places[step.node]
            if step.kind == "leaf":
                assert step.after is not None
                rows.append(
                    {
                        "move": "store",
                        "node": node.name,
                        "to": f"{node.name}.grad",
                        "rule": "",
                        "contribution": short(step.upstream),
                        "ledger": short(step.after),
                        "words": leaf_sentence(node, step),
                    }
                )
            for sent in step:
                target = self.places[sent.parent].name
                row = {
                    "move": "skip" if sent.skipped else "send",
                    "node": node.name,
                    "to": target,
                    "rule": sent.named,
                    "contribution": "",
                    "ledger": "",
                    "words": " ".join(self.sentences(step, sent)),
                }
                if sent.value is not None and sent.after is not None:
                    hook = f"{short(sent.raw)}, a hook makes it " if sent.hooked and sent.raw is not None else ""
                    row["contribution"] = hook + short(sent.value)
                    row["ledger"] = f"{short(sent.after)} ({sent.arrived} of {sent.expected})"
                    hooked = self.places[sent.parent].hooked
                    if hooked is not None and sent.arrived == sent.expected:
                        row["ledger"] += f"; a hook makes it {short(hooked)}"
                rows.append(row)
        return rows

    def __str__(self) -> str:
        root = self.places[self.root].name
        rows = self.transcript()
        lines = [f"Backward pass of {root}: {len(self.steps)} nodes, {len(rows)} moves"]
        for i, row in enumerate(rows):
            head = f"{i:>3}  "
            if row["move"] == "start":
                lines.append(f"{head}start {row['node']}: gradient {row['contribution']}")
            elif row["move"] == "store":
                lines.append(f"{head}store {row['to']} = {row['ledger']}")
            elif row["move"] == "skip":
                lines.append(
                    f"{head}{row['node']} -> {row['to']}: nothing, {row['words'].partition(': ')[2]}"
                )
            else:
                lines.append(
                    f"{head}{row['node']} -> {row['to']}: {row['rule']} = {row['contribution']}"
                    f"; {row['to']} has {row['ledger']}"
                )
        return "\n".join(lines)

    def __repr__(self) -> str:
        return (
            f"<Recording of {self.places[self.root].name}: {len(self.steps)} nodes, {len(self.edges)} edges>"
        )

    # ------------------------------------------------------------ plain data
    def to_dict(self, sample: int = SAMPLE, brief: bool = False) -> dict[str, Any]:
        """Plain lists, numbers and strings, version 1. Arrays are pooled in `vals`.

        sample: longer rows and columns are cut there. brief: short sentences, for long recordings.
        """
        pool = Pool(sample)
        nodes = [
            {
                "id": p.id,
                "name": p.name,
                "op": p.op,
                "symbol": p.symbol,
                "shape": list(p.shape),
                "rg": p.needs_grad,
                "leaf": p.leaf,
                "named": p.named,
                "expr": p.expression,
                "line": p.where,
                "src": "" if brief else p.source,
                "spot": p.spot,
                "val": pool.add(p.value),
                "old": pool.add(p.old_grad),
                **({} if p.empty == "None" else {"empty": p.empty}),
                **({} if p.hooked is None else {"hook": pool.add(p.hooked)}),
            }
            for p in self.places
        ]
        steps: list[dict[str, Any]] = [
            {"kind": "seed", "node": self.root, "up": pool.add(self.seed), "text": [self.start()]}
        ]
        for step in self.steps:
            up = pool.add(step.upstream)
            if step.kind == "leaf":
                steps.append(
                    {
                        "kind": "leaf",
                        "node": step.node,
                        "up": up,
                        "before": pool.add(step.before),
                        "after": pool.add(step.after),
                        "text": self.sentences(step),
                    }
                )
            elif not step.contributions:
                steps.append({"kind": "end", "node": step.node, "up": up, "text": self.sentences(step)})
            steps.extend(self._contribution(step, sent, up, pool, brief) for sent in step)
        return {
            "v": VERSION,
            "root": self.root,
            "nodes": nodes,
            "edges": [list(e) for e in self.edges],
            "steps": steps,
            "vals": pool.values,
        }

    def pooled(self, sample: int) -> list[Any]:
        """`vals` alone, cut elsewhere; the numbers that point into it stay what they are."""
        pooled: list[Any] = self.to_dict(sample, brief=True)["vals"]
        return pooled

    def _contribution(self, step: Step, sent: Contribution, up: int | None, pool: Pool, brief: bool) -> dict[str, Any]:
        row: dict[str, Any] = {
            "kind": "skip" if sent.skipped else "share",
            "node": step.node,
            "parent": sent.parent,
            "slot": sent.slot,
            "up": up,
            "text": self.sentences(step, sent, brief),
        }
        if sent.skipped:
            return row
        row.update(
            rule=sent.named,
            how=sent.how,
            sub=substituted(step, sent),
            saved=[[k.name, k.label, pool.add(k.value)] for k in sent.saved],
            local=pool.add(sent.local),
            raw=pool.add(sent.raw),
            contrib=pool.add(sent.value),
            axes=list(sent.summed),
            before=pool.add(sent.before),
            after=pool.add(sent.after),
            arrived=[sent.arrived, sent.expected],
            terms=[list(t) for t in sent.terms],
        )
        target = self.places[sent.parent].name
        row |= {
            key: text
            for key, text in (
                ("formula", sent.rule if sent.rule != sent.named else ""),  # as the table has it
                ("latex", "" if brief else sent.latex),
                ("slope", local_slope(self.places[step.node].name, which(target, sent, step), sent)),
                ("legend", legend(sent)),
            )
            if text
        }
        if sent.lost:
            row["lost"] = True
        if sent.measured is not None:
            row["fd"] = rounded(sent.measured)
        if sent.note:
            row["note"] = sent.note
        if sent.around:
            row["around"] = sent.around
        if sent.jacobian is not None:
            row["jac"] = pool.add(sent.jacobian)
        if sent.yours is not None or sent.verdict:
            row["check"] = {
                "yours": pool.add(sent.yours),
                "numeric": pool.add(sent.numeric),
                "verdict": sent.verdict,
            }
        return row

    def to_json(self) -> str:
        """The same as one line of JSON, the same bytes for the same recording."""
        return json.dumps(self.to_dict(), separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def same(a: Array, b: Array) -> bool:
    """Equal, but for rounding."""
    if a.shape != b.shape or np.array_equal(a, b):
        return bool(a.shape == b.shape)
    return bool(np.allclose(a, b, rtol=1e-5, atol=1e-12, equal_nan=True))


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
    """One array for JSON: a bare number, or shape, the shown rows and columns, and what the whole is like."""
    if array.ndim == 0:
        return rounded(array)
    table = array.reshape(-1, array.shape[-1]) if array.size else array.reshape(0, 0)
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
