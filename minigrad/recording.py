"""A backward pass as data: what every picture, table and transcript of minigrad is made from.

The reader meets, in this order: how a number is written; a `Recording` and its parts (`Place`, a tensor of the graph;
`Share`, what one operation hands to one of its inputs; `Step`, one move of the walk); how it reads aloud
(`str(recording)`) and as plain JSON (`to_dict`). recorder.py makes one, by sending the tape's own walk along.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from minigrad.naming import term

Array = np.ndarray[Any, Any]
WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")  # a name in a formula
TURNED = re.compile(r"^(permute|swap)\(g, \(?([-\d, ]+)\)?\)$")  # a gradient with its dimensions in another order
ROWS = re.compile(r"^rows_mm\((.+), (.+)\)$")  # a product with every row of a batch
SAMPLE = 16  # a longer row or column is shown by its first 16 numbers
VERSION = 1


# ---------------------------------------------------------------- numbers as text
def number(value: Any) -> str:
    """A number with four significant digits, whole numbers in full, the same text on every machine."""
    x = float(value)
    if x != x:
        return "nan"
    if x in (float("inf"), float("-inf")):
        return "inf" if x > 0 else "-inf"
    if x == int(x) and abs(x) < 1e6:
        return str(int(x))
    x = float(f"{x:.4g}")
    if 1e-4 <= abs(x) < 1e6:
        return f"{x:.8f}".rstrip("0").rstrip(".")
    digits, exponent = f"{x:.3e}".split("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}"


def rounded(value: Any) -> float | int | str:
    """The number that `number` prints, for JSON; non-finite ones as the strings nan, inf and -inf."""
    text = number(value)
    if text in ("nan", "inf", "-inf"):
        return text
    x = float(text)
    return int(x) if x == int(x) and abs(x) < 1e6 else x


def short(array: Array) -> str:
    """An array in a few words: a number, a short list, or its shape and length."""
    if array.ndim == 0:
        return number(array)
    if array.size <= 6 and array.ndim == 1:
        return "[" + ", ".join(number(x) for x in array) + "]"
    if array.size <= 6 and array.ndim == 2:
        return "[" + ", ".join(short(row) for row in array) + "]"
    return f"{shape_text(array.shape)} numbers, norm {number(norm(array))}"


def shape_text(shape: tuple[int, ...]) -> str:
    return "\u00d7".join(map(str, shape)) if len(shape) != 1 else str(shape[0])


def norm(array: Array) -> float:
    """Square root of the sum of squares; of a long way round the overflow that squaring may bring."""
    x = np.abs(np.asarray(array, np.float64))
    top = float(x.max(initial=0.0))
    if not np.isfinite(top) or top == 0.0:
        return top
    return top * float(np.sqrt(((x / top) ** 2).sum()))


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
    value: Array | None = None  # None where nothing kept it
    old_grad: Array | None = None  # what .grad held before this pass
    hooked: Array | None = None  # the whole gradient as a hook left it, where that is another one
    empty: str = "None"  # what .grad is before any pass; some engines start with 0
    symbol: str = ""  # "*", "@", "relu"
    spot: str = ""  # birthplace as a key: nodes of one loop body share it


@dataclass(slots=True)
class Kept:
    """A number that the rule was given besides g: its name in the rule, whose value it is, and the value."""

    name: str
    label: str
    value: Array | None  # None for what is no number, such as a shape; then the label says it


@dataclass(slots=True)
class Share:
    """What one operation hands to one of its inputs."""

    slot: int
    parent: int
    rule: str = ""
    latex: str = ""
    kept: tuple[Kept, ...] = ()
    how: str = "other"  # copy, elementwise, matmul, move, spread, scatter, function, other
    local: Array | None = (
        None  # the local factor, where the rule multiplies g by something element by element
    )
    raw: Array | None = None  # as the rule returned it
    contribution: Array | None = None  # summed and cast to the input's shape and dtype
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
        return self.contribution is None

    @property
    def lost(self) -> bool:
        """Whether the ledger holds less afterwards than it should: a broken walk, or an engine with `=` for `+=`."""
        if self.before is None or self.contribution is None or self.after is None:
            return False
        return not same(self.before + self.contribution, self.after)

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

        if not any(k.value is not None and k.value.ndim > 2 for k in self.kept):
            rule = re.sub(r"fold_rows\((\w+)\)", r"\1", rule)  # of a plain table there is nothing to fold
        text = ROWS.sub(r"\1 @ \2", WORD.sub(one, rule))
        flat, turned = self.raw is not None and self.raw.ndim <= 2, TURNED.match(text)
        if turned:
            plain = flat and (turned[1] == "swap" or turned[2] == "1, 0")
            return "g.T" if plain else f"g.{turned[1].replace('swap', 'transpose')}({turned[2]})"
        return text.replace(".mT", ".T") if flat else text


@dataclass(slots=True)
class Step:
    """One move of the walk: a node receives its gradient and hands a share to each input; or a leaf stores
    it.
    """

    kind: str  # "node" or "leaf"
    node: int
    upstream: Array
    shares: list[Share] = field(default_factory=list)
    before: Array | None = None  # a leaf's .grad before
    after: Array | None = None  # and after
    early: bool = False  # whether a broken walk let it speak before everything had arrived

    def __iter__(self) -> Iterator[Share]:
        return iter(self.shares)


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

    def ledger(self, place: int) -> list[tuple[int, Share]]:
        """The rows of one tensor's ledger: who sent what, in the order in which it arrived."""
        return [
            (s.node, share) for s in self.steps for share in s if share.parent == place and not share.skipped
        ]

    # ------------------------------------------------------------ reading it aloud
    def sentences(self, step: Step, share: Share | None = None, brief: bool = False) -> list[str]:
        """One sentence for each beat of a share (focus, rule, product, sum, accumulate), or of a step
        without.
        """
        name = self.places[step.node].name
        if step.kind == "leaf":
            hook = "" if self.places[step.node].hooked is None else f"A hook makes it {short(step.upstream)}. "
            return [hook + leaf_sentence(self.places[step.node], step)]
        if share is None:
            return [f"{name} needs a gradient, but none of its inputs does: the walk ends here."]
        target = self.places[share.parent].name
        if share.skipped:
            return [f"{name} sends nothing to {target}: {share.reason}."]
        beats = (few_words if brief else share_sentences)(name, target, step, share)
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
            for share in step:
                target = self.places[share.parent].name
                row = {
                    "move": "skip" if share.skipped else "send",
                    "node": node.name,
                    "to": target,
                    "rule": share.named,
                    "contribution": "",
                    "ledger": "",
                    "words": " ".join(self.sentences(step, share)),
                }
                if share.contribution is not None and share.after is not None:
                    hook = f"{short(share.raw)}, a hook makes it " if share.hooked and share.raw is not None else ""
                    row["contribution"] = hook + short(share.contribution)
                    row["ledger"] = f"{short(share.after)} ({share.arrived} of {share.expected})"
                    hooked = self.places[share.parent].hooked
                    if hooked is not None and share.arrived == share.expected:
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
            elif not step.shares:
                steps.append({"kind": "end", "node": step.node, "up": up, "text": self.sentences(step)})
            steps.extend(self._share(step, share, up, pool, brief) for share in step)
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

    def _share(self, step: Step, share: Share, up: int | None, pool: Pool, brief: bool) -> dict[str, Any]:
        row: dict[str, Any] = {
            "kind": "skip" if share.skipped else "share",
            "node": step.node,
            "parent": share.parent,
            "slot": share.slot,
            "up": up,
            "text": self.sentences(step, share, brief),
        }
        if share.skipped:
            return row
        row.update(
            rule=share.named,
            how=share.how,
            sub=substituted(step, share),
            kept=[[k.name, k.label, pool.add(k.value)] for k in share.kept],
            local=pool.add(share.local),
            raw=pool.add(share.raw),
            contrib=pool.add(share.contribution),
            axes=list(share.summed),
            before=pool.add(share.before),
            after=pool.add(share.after),
            arrived=[share.arrived, share.expected],
            terms=[list(t) for t in share.terms],
        )
        target = self.places[share.parent].name
        row |= {
            key: text
            for key, text in (
                ("formula", share.rule if share.rule != share.named else ""),  # as the table has it
                ("latex", "" if brief else share.latex),
                ("slope", local_slope(self.places[step.node].name, which(target, share, step), share)),
                ("legend", legend(share)),
            )
            if text
        }
        if share.lost:
            row["lost"] = True
        if share.measured is not None:
            row["fd"] = rounded(share.measured)
        if share.note:
            row["note"] = share.note
        if share.around:
            row["around"] = share.around
        if share.jacobian is not None:
            row["jac"] = pool.add(share.jacobian)
        if share.yours is not None or share.verdict:
            row["check"] = {
                "yours": pool.add(share.yours),
                "numeric": pool.add(share.numeric),
                "verdict": share.verdict,
            }
        return row

    def to_json(self) -> str:
        """The same as one line of JSON, the same bytes for the same recording."""
        return json.dumps(self.to_dict(), separators=(",", ":"), ensure_ascii=False, allow_nan=False)


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


# ---------------------------------------------------------------- sentences
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


def same(a: Array, b: Array) -> bool:
    """Equal, but for rounding."""
    if a.shape != b.shape or np.array_equal(a, b):
        return bool(a.shape == b.shape)
    return bool(np.allclose(a, b, rtol=1e-5, atol=1e-12, equal_nan=True))


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


def without_g(rule: str) -> str:
    """What g is multiplied by: `y` of `g * y`; nothing where that is not the rule's form."""
    tree = ast.parse(rule, mode="eval").body
    if isinstance(tree, ast.Name):
        return "1"
    if not isinstance(tree, ast.BinOp) or not isinstance(tree.op, (ast.Mult, ast.Div)):
        return "-1" if ast.unparse(tree) == "-g" else ""
    sign = {"g": "", "-g": "-"}.get(ast.unparse(tree.left))
    if sign is None:
        return ""
    if isinstance(tree.op, ast.Div):
        return f"{sign}1 {ast.unparse(ast.BinOp(ast.Name('_'), tree.op, tree.right))[2:]}"
    right = ast.unparse(tree.right)
    return f"-({right})" if sign and isinstance(tree.right, ast.BinOp) else sign + right


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


LATEX = {ast.Add: " + ", ast.Sub: " - ", ast.Mult: r" \cdot ", ast.MatMult: r" \, ", ast.Gt: " > ", ast.Lt: " < ",
         ast.GtE: r" \ge ", ast.LtE: r" \le ", ast.Eq: " = "}  # fmt: skip
TIGHT = {ast.Add: 1, ast.Sub: 1, ast.Mult: 2, ast.MatMult: 2, ast.Div: 3, ast.Pow: 4}


def latex(rule: str) -> str:
    """A rule in LaTeX: `x.mT @ g` gives `x^{\\top} \\, g`; nothing where it is not one expression."""
    try:
        return _latex(ast.parse(rule, mode="eval").body)
    except SyntaxError:
        return ""


def _latex(tree: ast.AST, outer: int = 0) -> str:
    if isinstance(tree, ast.BinOp):
        rank = TIGHT.get(type(tree.op), 0)
        if isinstance(tree.op, ast.Div):
            return rf"\frac{{{_latex(tree.left)}}}{{{_latex(tree.right)}}}"
        if isinstance(tree.op, ast.Pow):
            return f"{_latex(tree.left, 4)}^{{{_latex(tree.right)}}}"
        text = _latex(tree.left, rank) + LATEX.get(type(tree.op), " ? ") + _latex(tree.right, rank + 1)
        return rf"\left({text}\right)" if rank < outer else text
    if isinstance(tree, ast.UnaryOp):
        return ("-" if isinstance(tree.op, ast.USub) else r"\lnot ") + _latex(tree.operand, 3)
    if isinstance(tree, ast.Compare):
        return rf"[{_latex(tree.left)}{LATEX.get(type(tree.ops[0]), ' ? ')}{_latex(tree.comparators[0])}]"
    if isinstance(tree, ast.Attribute) and tree.attr in ("T", "mT"):
        return rf"{_latex(tree.value, 4)}^{{\top}}"
    if isinstance(tree, ast.Call):
        function = ast.unparse(tree.func).replace("_", r"\_")
        return rf"\operatorname{{{function}}}\left({', '.join(_latex(a) for a in tree.args)}\right)"
    if isinstance(tree, ast.Name) and len(tree.id) > 1:
        return rf"\mathrm{{{tree.id}}}".replace("_", r"\_")
    return ast.unparse(tree)


def legend(share: Share) -> str:
    """Words of the shown rule that are not the student's; where a verdict speaks of the rule, all of its words."""
    if share.verdict not in ("", "agrees"):
        words = WORD.findall(share.verdict)
        said = {f"the rule's {n}": text for n, text in share.names.items() if n in words and n != text}
    else:
        said = {k.name: k.label for k in share.kept if k.name not in share.names and k.label not in ("", k.name)}
    return ", ".join(f"{name} is {text}" for name, text in said.items())


def plural(n: int, one: str, many: str) -> str:
    return one if n == 1 else many


def substituted(step: Step, share: Share) -> str:
    """The rule with its numbers put in, where every name in it is a single number; else nothing."""
    values = {"g": step.upstream, **{k.name: k.value for k in share.kept}}
    if share.how == "function" or any(v is not None and np.ndim(v) for v in values.values()):
        return ""
    return put_in(share.rule, {name: number(v) for name, v in values.items() if v is not None})


def put_in(rule: str, numbers: Mapping[str, str]) -> str:
    """Names replaced by their numbers, negative ones in brackets; `g * y` -> `0.5 * (-3)`."""

    def one(match: re.Match[str]) -> str:
        text = numbers.get(match[0])
        return match[0] if text is None else bracketed(text)

    return WORD.sub(one, rule)


def bracketed(number: str) -> str:
    """A negative number in brackets, as a part of a formula."""
    return f"({number})" if number.startswith("-") else number
