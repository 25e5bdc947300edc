"""A backward pass as data: what every picture, table and transcript of minigrad is made from.

The reader meets, in this order: `Recording` and its parts (`Place`, a tensor of the graph; `Share`, what one
operation hands to one of its inputs; `Step`, one move of the walk); how it reads aloud (`str(recording)`) and
as plain JSON (`to_dict`); and `record`, which makes one. `record` has no walk of its own: it dresses every
node in a shadow that writes down what passes through, and sends the very walk of `tape.py` through the
shadows. So the recording cannot differ from what `backward()` does, no `.grad` is touched, and nothing is
freed.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from sys import _getframe
from typing import Any

import numpy as np

from minigrad import tape
from minigrad.formulas import formulas
from minigrad.naming import Names, birth, is_operation, symbol
from minigrad.operations import Operation, parameters
from minigrad.tape import Node, check_versions, noted, set_grad_enabled
from minigrad.tensor import Tensor

Array = np.ndarray[Any, Any]
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
    return "x".join(map(str, shape)) if len(shape) != 1 else str(shape[0])


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
    terms: tuple[tuple[str, bool], ...] = ()  # a matrix product's two factors: name, transposed
    operation: str = ""  # its line in the derivative table
    arguments: dict[str, Any] = field(
        default_factory=dict
    )  # what is known of the operation's inputs and settings
    note: str = ""  # the student's own line, or why a Jacobian is not shown
    jacobian: Array | None = None  # outputs by inputs, where that is small
    measured: float | None = None  # the local slope of a scalar operation, by nudging
    yours: Array | None = None  # what the student's own rule returned
    numeric: Array | None = None  # the same by finite differences
    verdict: str = ""  # "", "agrees" or why the student's rule is wrong

    @property
    def skipped(self) -> bool:
        return self.contribution is None


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
    def sentences(self, step: Step, share: Share | None = None) -> list[str]:
        """One sentence for each beat of a share (focus, rule, product, sum, accumulate), or of a step
        without.
        """
        name = self.places[step.node].name
        if step.kind == "leaf":
            return [leaf_sentence(self.places[step.node], step)]
        if share is None:
            return [f"{name} needs a gradient, but none of its inputs does: the walk ends here."]
        target = self.places[share.parent].name
        if share.skipped:
            return [f"{name} sends nothing to {target}: {share.reason}."]
        return share_sentences(name, target, step, share)

    def start(self) -> str:
        """The sentence that begins the pass: what the seed is and why."""
        name = self.places[self.root].name
        if self.seed_given:
            return (
                f"The pass starts at {name} with the gradient you gave, {short(self.seed)}: "
                f"one number for each output, saying how much it counts."
            )
        return (
            f"The pass starts at {name} with gradient 1: "
            f"when {name} changes by a little, {name} changes by just as much."
        )

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
                    "rule": share.rule,
                    "contribution": "",
                    "ledger": "",
                    "words": " ".join(self.sentences(step, share)),
                }
                if share.contribution is not None and share.after is not None:
                    row["contribution"] = short(share.contribution)
                    row["ledger"] = f"{short(share.after)} ({share.arrived} of {share.expected})"
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
    def to_dict(self, sample: int = SAMPLE) -> dict[str, Any]:
        """Plain lists, numbers and strings, version 1. Arrays are pooled in `vals`; longer sides than
        `sample` are cut.
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
                "src": p.source,
                "spot": p.spot,
                "val": pool.add(p.value),
                "old": pool.add(p.old_grad),
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
            steps.extend(self._share(step, share, up, pool) for share in step)
        return {
            "v": VERSION,
            "root": self.root,
            "nodes": nodes,
            "edges": [list(e) for e in self.edges],
            "steps": steps,
            "vals": pool.values,
        }

    def _share(self, step: Step, share: Share, up: int | None, pool: Pool) -> dict[str, Any]:
        row: dict[str, Any] = {
            "kind": "skip" if share.skipped else "share",
            "node": step.node,
            "parent": share.parent,
            "slot": share.slot,
            "up": up,
            "text": self.sentences(step, share),
        }
        if share.skipped:
            return row
        row.update(
            rule=share.rule,
            latex=share.latex,
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
        if share.measured is not None:
            row["fd"] = rounded(share.measured)
        if share.note:
            row["note"] = share.note
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
    return {
        "s": list(array.shape),
        "r": shown.shape[0],
        "c": shown.shape[1],
        "d": [rounded(x) for x in shown.flat],
        "top": rounded(finite.max(initial=0.0)),
        "norm": rounded(norm(array)),
        "lo": rounded(array.min(initial=0)),
        "hi": rounded(array.max(initial=0)),
        "bad": int(wide.size - finite.size),
    }


# ---------------------------------------------------------------- sentences
def share_sentences(name: str, target: str, step: Step, share: Share) -> list[str]:
    assert share.contribution is not None and share.after is not None and share.raw is not None
    g = short(step.upstream)
    beats = [f"{name} speaks: its gradient is complete, g = {g}."]
    given = ", ".join(kept_text(k) for k in share.kept)
    beats.append(f"Its rule for {target} is {share.rule}" + (f", with {given}." if given else "."))
    beats.append(product_sentence(target, step, share))
    if share.summed:
        beats.append(
            f"{target} has shape ({', '.join(map(str, share.contribution.shape))}): it was stretched, so the "
            f"{plural(len(share.summed), 'stretched axis', 'stretched axes')} "
            f"{', '.join(map(str, share.summed))} {'is' if len(share.summed) == 1 else 'are'} summed: "
            f"{short(share.contribution)}."
        )
    count = f"{share.arrived} of {share.expected} arrived"
    if share.before is None:
        beats.append(f"The gradient of {target} was empty; now it is {short(share.after)} ({count}).")
    else:
        beats.append(
            f"{short(share.before)} + {short(share.contribution)} = {short(share.after)} "
            f"is now the gradient of {target} ({count})."
        )
    return beats


def kept_text(kept: Kept) -> str:
    parts = [kept.name] + ([kept.label] if kept.label not in ("", kept.name) else [])
    return " = ".join(parts + ([short(kept.value)] if kept.value is not None else []))


def product_sentence(target: str, step: Step, share: Share) -> str:
    assert share.raw is not None
    result = short(share.raw)
    if share.how == "slot":
        return f"It is the {share.note} of {target}: its gradient goes there as it is, {result}."
    if share.how == "function":
        return f"{share.note or 'Its own backward'} gives {target} {result}."
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
        return f"{place.name} is a leaf: {place.name}.grad was None and is now {short(step.after)}."
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
        if text is None:
            return match[0]
        return f"({text})" if text.startswith("-") else text

    return re.sub(r"(?<![\w.])[A-Za-z_]\w*", one, rule)


# ---------------------------------------------------------------- making one
GONE = (
    "The values that this backward pass needs are gone: backward() has already run here and freed them. "
    "Run the lines that compute the tensor again and record before backward(), or call backward(retain_graph=True)."
)


class Shadow(Node):
    """Stands in for a node in the walk: asks its rules, and writes down what they say."""

    __slots__ = ("place", "real", "recorder")

    def __init__(self, real: Node, recorder: Recorder, place: int) -> None:
        self.real, self.recorder, self.place = real, recorder, place
        self.seq, self.shape, self.dtype = real.seq, real.shape, real.dtype
        self.code, self.at, self.guards = real.code, real.at, None
        self.kept = ()  # what the rules need stays with the real node
        if real.hooks is not None:
            self.hooks = QuietHooks(real.hooks)  # type: ignore[assignment]

    def evaluate(self, g: Any, create_graph: bool) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The walk asks here for the contributions of a node that has no plain rules; a shadow never has."""
        shares = self.recorder.speak(self, g)
        return (handed,) * len(shares), tuple((share,) for share in shares)

    def accumulate(self, g: Any, create_graph: bool) -> None:
        """A leaf's gradient is complete."""
        self.recorder.store(self, g)


def handed(_g: Any, share: Any) -> Any:
    """A rule that already knows its answer."""
    return share


class QuietHooks:
    """A node's hooks on its gradient, run because they may change it; what they would store is not stored."""

    def __init__(self, hooks: Any) -> None:
        self.hooks = hooks

    def arriving(self, g: Any, create_graph: bool, deposit: Any) -> Any:
        return self.hooks.arriving(g, create_graph, lambda *_: None)


class Recorder:
    """Builds the shadows, and fills a Recording while the walk goes through them."""

    def __init__(self, root: Tensor, names: Mapping[str, Any], rules: Mapping[str, Any]) -> None:
        assert root._node is not None
        self.rules = rules
        self.names = Names(names)
        self.nodes = ancestry(root._node)  # oldest first
        self.place: dict[Node, int] = {}
        self.places: list[Place] = []
        self.edges: list[tuple[int, int, int]] = []
        self.cut: dict[tuple[int, int], int] = {}  # (place, slot) -> the operand without history
        self.values = known_values(self.nodes, root, self.names)
        self.shadows: dict[Node, Shadow] = {}
        self.steps: list[Step] = []
        self.inner = {
            parent for node in self.nodes for parent in node.parents
            if parent is not None and (parent.code, parent.at) == (node.code, node.at) and type(parent) is not type(node)
        }  # fmt: skip
        for node in self.nodes:
            self.enter(node)
        self.expected = [0] * len(self.places)
        self.arrived = [0] * len(self.places)
        self.sums: list[Array | None] = [None] * len(self.places)
        self.arrivals: dict[int, list[Array | None]] = {}  # of a Function with several outputs: its gradients
        for a, _, _ in self.edges:
            self.expected[a] += 1

    # ------------------------------------------------------------ the graph
    def enter(self, node: Node) -> None:
        """Give a node its place, its shadow, and a place to each operand without history."""
        name, named = self.names.of(node, node in self.inner)
        found = birth(node.code, node.at)
        kind = node.name()
        parents = [None if p is None else self.place[p] for p in node.parents]
        for slot, parent in enumerate(parents):
            if parent is None:
                parents[slot] = self.operand(node, slot)
        i = len(self.places)
        fits = is_operation(found, kind) and node not in self.inner
        place = Place(
            i, name, kind, tuple(node.shape or ()), str(node.dtype), leaf=not node.parents, named=named,
            expression=found.expression if fits and node.parents else "", where=found.where, source=found.line,
            value=self.values.get(node), symbol=symbol(kind), spot=f"{id(node.code)}:{node.at}",
        )  # fmt: skip
        if not node.parents and node.variable is not None and node.variable._grad is not None:  # type: ignore[attr-defined]
            place.old_grad = np.array(node.variable._grad._data)  # type: ignore[attr-defined]
        self.place[node] = i
        self.places.append(place)
        for slot, parent in enumerate(parents):
            if parent is not None:
                self.edges.append((parent, i, slot))
                if not self.places[parent].needs_grad:
                    self.cut[i, slot] = parent
        shadow = Shadow(node, self, i)
        shadow.parents = tuple(None if p is None else self.shadows[p] for p in node.parents)
        self.shadows[node] = shadow

    def operand(self, node: Node, slot: int) -> int | None:
        """The place of an operand that needs no gradient; none for a plain number or where nothing is
        known of it.
        """
        value = operand_value(node, slot)
        found = birth(node.code, node.at)
        if isinstance(value, (int, float)) or (is_operation(found, node.name()) and found.literals):
            return None
        name = self.names.constant(value, node, slot)
        if name == "constant" and value is None:
            return None
        for place in self.places:
            if not place.needs_grad and place.name == name and (value is None or place.value is value):
                return place.id
        array = None if value is None else np.asarray(value)
        self.places.append(
            Place(
                len(self.places),
                name,
                "",
                () if array is None else array.shape,
                needs_grad=False,
                named=True,
                value=array,
            )
        )
        return len(self.places) - 1

    # ------------------------------------------------------------ what the walk reports
    def speak(self, shadow: Shadow, g: Any) -> tuple[Any, ...]:
        """A node's gradient is complete: ask its rules, write down the shares, hand them to the walk."""
        node = shadow.real
        step = Step("node", shadow.place, array_of(g))
        if isinstance(g, tuple):
            self.arrivals[shadow.place] = [None if x is None else array_of(x) for x in g]
        shares: list[Any] = []
        arguments = node.kept if node.rules is not None else None
        given = None if node.rules is not None else node.evaluate(g, False)[1]
        for slot, parent in enumerate(node.parents):
            if parent is None:
                shares.append(None)
                if (shadow.place, slot) in self.cut:
                    step.shares.append(
                        Share(slot, self.cut[shadow.place, slot], reason=self.why_not(node, slot))
                    )
                continue
            share = Share(slot, self.place[parent])
            if given is not None:
                raw = given[slot][0]
            else:
                assert node.rules is not None and arguments is not None
                rule = node.rules[slot]
                raw = None if rule is None else rule(g, *arguments[slot])
            shares.append(None if raw is None else tape.fit(raw, parent))
            if raw is None:
                share.reason = (
                    "its rule declares no gradient for this input"
                    if given is None
                    else (
                        f"backward of {self.places[shadow.place].symbol} returned None here: it declares no gradient"
                    )
                )
            else:
                self.write(share, step, node, parent, raw)
            step.shares.append(share)
        self.steps.append(step)
        return tuple(shares)

    def write(self, share: Share, step: Step, node: Node, parent: Node, raw: Any) -> None:
        """Everything about one contribution."""
        share.raw, share.contribution = array_of(raw), array_of(tape.fit(raw, parent))
        share.summed = stretched(share.raw.shape, share.contribution.shape)
        i = share.parent
        share.before = None if parent.shape is None else self.sums[i]  # several outputs: nothing is added
        share.after = share.contribution if share.before is None else share.before + share.contribution
        self.sums[i] = share.after
        self.arrived[i] += 1
        share.arrived, share.expected = self.arrived[i], self.expected[i]
        explain_share(share, step, node, self)
        if self.rules:
            check_share(share, step, node, self)

    def store(self, shadow: Shadow, g: Any) -> None:
        """A leaf adds what arrived to what its .grad held."""
        old = self.places[shadow.place].old_grad
        g = array_of(g)
        self.steps.append(Step("leaf", shadow.place, g, before=old, after=g if old is None else old + g))

    def inputs(self, node: Node) -> dict[str, Any]:
        """What is known of the values that went into a node, by the names its rules use."""
        known = inputs_known(node, self.values)
        if node in self.values:
            known["out"] = self.values[node][()]
        return known

    def why_not(self, node: Node, slot: int) -> str:
        name = self.places[self.cut[self.place[node], slot]].name
        if ".detach()" in name:
            return "detach() cut it off from its history"
        return f"{name} does not require a gradient"


def record(
    root: Tensor,
    gradient: Tensor | None = None,
    names: Mapping[str, Any] | None = None,
    rules: Mapping[str, Any] | None = None,
) -> Recording:
    """The backward pass of `root` as data, without running it: no .grad changes and nothing is freed.

    root: a tensor that requires a gradient. gradient: what the pass starts from, of the root's shape; may be
    left out if the root holds one number. names: what to call tensors, {"x": x}; by default the caller's
    variables. rules: {"mul": rule}, compared with the engine's own at every edge (see `minigrad.replace` for
    their form). Raises RuntimeError if there is no graph, if backward() has freed it, if something it needs
    was overwritten, or if `gradient` is missing or of another shape.
    """
    if not isinstance(root, Tensor):
        raise TypeError(f"record() takes a tensor, not {type(root).__name__}")
    if names is None:
        frame = _getframe(1)
        names = {**frame.f_globals, **frame.f_locals}
    if root._node is None:
        raise RuntimeError(
            "this tensor has no backward pass: it does not require grad and does not have a grad_fn"
        )
    seed = tape._start(0, root, gradient)
    recorder = Recorder(root, names, rules or {})
    with set_grad_enabled(False), np.errstate(all="ignore"):
        tape.walk([(recorder.shadows[root._node], seed._data.copy())])
    return Recording(
        recorder.place[root._node],
        recorder.places,
        recorder.edges,
        recorder.steps,
        array_of(seed._data),
        seed_given=gradient is not None,
    )


def ancestry(root: Node) -> list[Node]:
    """Every node that the walk can reach, oldest first; an error if one was freed or what it kept was
    overwritten.
    """
    seen, stack = {root}, [root]
    while stack:
        node = stack.pop()
        if node.parents and node.kept is None:
            raise noted(RuntimeError(GONE), node, "its saved values were freed by an earlier backward pass")
        check_versions(node)
        for parent in node.parents:
            if parent is not None and parent not in seen:
                seen.add(parent)
                stack.append(parent)
    return sorted(seen, key=lambda n: n.seq, reverse=True)


def array_of(value: Any) -> Array:
    """A copy that nobody else writes to; of a gradient with several slots, the first that is there."""
    if isinstance(value, tuple):
        value = next(v for v in value if v is not None)
    return np.array(getattr(value, "_data", value))


def stretched(raw: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of `raw` that were summed to get `shape`."""
    lead = len(raw) - len(shape)
    return tuple(i for i, n in enumerate(raw) if i < lead or (n != 1 and shape[i - lead] == 1))


# ---------------------------------------------------------------- values that nobody kept on purpose
def operation_of(node: Node) -> Operation | None:
    """The line of the derivative table that a node belongs to; None for a custom Function and the like."""
    made: Operation | None = getattr(node, "operation", None)
    return made if made is not None and made.rules else None


def operand_value(node: Node, slot: int) -> Any:
    """The value of an input without history, if one of the node's rules kept it."""
    made = operation_of(node)
    if made is None or not node.kept or slot >= len(made.inputs):
        return None
    wanted = made.inputs[slot]
    for names, args in zip(made.arguments, node.kept, strict=True):
        for name, value in zip(names, args or (), strict=False):
            if name == wanted:
                return value
    return None


def known_values(nodes: list[Node], root: Tensor, names: Names) -> dict[Node, Array]:
    """The value of each node, where something still holds it: a leaf, a variable, a rule that kept it;
    else recomputed.
    """
    values: dict[Node, Array] = {}
    for node in nodes:
        if not node.parents:
            leaf = node.variable  # type: ignore[attr-defined]
            if leaf is not None:
                values[node] = leaf._data
        elif (made := operation_of(node)) is not None and node.kept:
            sources: list[Node | None] = [*node.parents, node]
            for places, args in zip(made.places, node.kept, strict=True):
                for source, value in zip(places, args or (), strict=False):
                    owner = None if source is None else sources[source]
                    if owner is not None and hasattr(value, "dtype"):
                        values.setdefault(owner, value)
    for node, (_, tensor) in names.tensors.items():
        values[node] = tensor._data
    if root._node is not None:
        values[root._node] = root._data
    for node in nodes:
        if node.parents and node not in values and (value := recomputed(node, values)) is not None:
            values[node] = value
    return {node: np.array(v) for node, v in values.items() if np.shape(v) == node.shape}


def inputs_known(node: Node, values: Mapping[Node, Array]) -> dict[str, Any]:
    """The arguments of a node's forward function, as far as anything still knows them."""
    made = operation_of(node)
    if made is None:
        return {}
    known: dict[str, Any] = {}
    for names, args in zip(made.arguments, node.kept or (), strict=False):
        known.update(zip(names, args or (), strict=False))
    found = birth(node.code, node.at)
    constants = [name for name, parent in zip(made.inputs, node.parents, strict=True) if parent is None]
    if is_operation(found, node.name()) and len(constants) == len(found.literals) == 1:
        known.setdefault(constants[0], *found.literals.values())  # a number that stands in the source
    for name, parent in zip(made.inputs, node.parents, strict=True):
        if parent is not None and parent in values:
            known[name] = values[parent][()]
    known.update({f"{name}_shape": np.shape(known[name]) for name in made.inputs if name in known})
    return known


def inputs_of(node: Node, values: Mapping[Node, Array]) -> list[Any] | None:
    """All arguments of a node's forward function, or None where one of them is not known any more."""
    made = operation_of(node)
    known = inputs_known(node, values)
    if made is None or not all(name in known for name in (*made.inputs, *made.statics)):
        return None
    return [known[name] for name in (*made.inputs, *made.statics)]


def recomputed(node: Node, values: Mapping[Node, Array]) -> Array | None:
    """A value that was not kept, by running the forward function again on what is known."""
    arguments = inputs_of(node, values)
    if arguments is None:
        return None
    with np.errstate(all="ignore"):
        value = node.operation.forward(*arguments)
    return np.asarray(value) if np.shape(value) == node.shape else None


# ---------------------------------------------------------------- explaining one share
def explain_share(share: Share, step: Step, node: Node, recorder: Recorder) -> None:
    """The rule in words and symbols, what it was given, and what kind of arithmetic it is."""
    made = operation_of(node)
    if made is None:
        explain_function(share, node, recorder)
        return
    slot = share.slot
    share.rule, share.operation = formulas(made)[slot], made.name
    share.latex = latex(share.rule)
    names, args = made.arguments[slot], (node.kept or ())[slot] or ()
    share.arguments = {**recorder.inputs(node), **dict(zip(names, args, strict=True))}
    share.kept = tuple(kept_as(name, value, node, recorder) for name, value in zip(names, args, strict=True))
    share.how, share.terms = arithmetic(share, step)
    rule = made.rules[slot]
    assert rule is not None and share.raw is not None

    def applied(g: Array) -> Array:
        return array_of(rule(g[()], *args))

    with np.errstate(all="ignore"):
        if share.how != "matmul":
            kind_by_ones(share, step, applied(np.ones_like(step.upstream)))
        size = share.raw.size * step.upstream.size
        if step.upstream.ndim and share.raw.ndim and size <= 64:
            units = np.eye(step.upstream.size, dtype=step.upstream.dtype)
            share.jacobian = np.array([applied(u.reshape(step.upstream.shape)).ravel() for u in units])
        elif share.how == "matmul":
            share.note = (
                f"a full Jacobian would have {step.upstream.size} x {share.raw.size} = {size} numbers"
            )
    if share.how == "elementwise":
        share.measured = slope(node, slot, recorder)
    share.note = share.note or remark(share)


def remark(share: Share) -> str:
    """What a picture of this kind of rule needs to say besides."""
    if share.how == "move":
        return "the same numbers in another shape: no arithmetic"
    if share.how == "scatter":
        return "hatched: never used in the result, so no gradient comes back"
    if (
        share.how == "elementwise"
        and share.local is not None
        and share.local.ndim
        and (share.local == 0).any()
    ):
        return "hatched: the local factor is 0, nothing gets through"
    return ""


def kind_by_ones(share: Share, step: Step, ones: Array) -> None:
    """What the rule makes of a gradient of ones tells its kind: factors, the same numbers, places, copies."""
    assert share.raw is not None
    if ones.shape != share.raw.shape:
        return
    if share.how == "elementwise":
        share.local = ones
    elif share.how == "other":
        if ones.size == step.upstream.size and (ones == 1).all():
            share.how = "move"
        elif (ones == 0).any() and (ones >= 1).any() and (ones == np.abs(np.round(ones))).all():
            share.how, share.local = "scatter", ones
        elif ones.size >= step.upstream.size and np.unique(ones).size == 1:
            share.how, share.local = "spread", ones


def explain_function(share: Share, node: Node, recorder: Recorder) -> None:
    """A custom Function shows the student's own line; one of its outputs only passes its gradient on."""
    function = getattr(node, "function", None)
    parent = node.parents[share.slot]
    if function is None and parent is not None and parent.shape is None:
        share.how, share.rule, share.note = "slot", "g", f"output {node.output_nr + 1}"
        return
    if function is None:  # several inputs side by side, or written into one another
        share.rule, share.note = "its part of g", "each input gets back the part that came from it"
        return
    share.how = "function"
    share.kept = saved_by_function(node, recorder)
    line, parts = returned(function.backward)
    share.rule = parts[share.slot] if share.slot < len(parts) else f"backward of {function.__name__}"
    share.note = f"{function.__name__}.backward: {line}" if line else ""


def returned(function: Any) -> tuple[str, list[str]]:
    """The last return of a function as its line and its parts; nothing where the source cannot be read."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return "", []
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Return) and n.value is not None]
    if not found:
        return "", []
    value = found[-1].value
    assert value is not None
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    return ast.unparse(found[-1]), [ast.unparse(p) for p in parts]


def kept_as(name: str, value: Any, node: Node, recorder: Recorder) -> Kept:
    """One of the rule's arguments: under what name the student knows it, and its value if it is numbers."""
    made = node.operation
    label = ""
    if name == "out":
        label = recorder.places[recorder.place[node]].name
    elif name in made.inputs:
        slot = made.inputs.index(name)
        parent = node.parents[slot]
        if parent is not None:
            label = recorder.places[recorder.place[parent]].name
        elif (recorder.place[node], slot) in recorder.cut:
            label = recorder.places[recorder.cut[recorder.place[node], slot]].name
    if isinstance(value, (bool, int, float, np.ndarray, np.generic)):
        return Kept(name, label, np.array(value))
    return Kept(name, str(value), None)


def saved_by_function(node: Node, recorder: Recorder) -> tuple[Kept, ...]:
    """What a custom Function has in backward: the gradients of its several outputs, and what it saved."""
    place = recorder.place
    kept = [Kept(f"g{i + 1}", f"gradient of output {i + 1}", g)
            for i, g in enumerate(recorder.arrivals.get(place[node], ())) if g is not None]  # fmt: skip
    for i, tensor in enumerate(getattr(node, "saved_tensors", ())):
        if tensor is not None:
            owner = None if tensor._node is None else place.get(tensor._node)
            constant = recorder.names.constants.get(id(tensor._data), "")
            label = constant if owner is None else recorder.places[owner].name
            kept.append(Kept(f"saved {i + 1}", label, np.array(tensor._data)))
    return tuple(kept)


def arithmetic(share: Share, step: Step) -> tuple[str, tuple[tuple[str, bool], ...]]:
    """What kind of rule this is, read from its formula: copy, elementwise, matmul or other."""
    assert share.raw is not None
    try:
        tree: ast.AST = ast.parse(share.rule, mode="eval").body
    except SyntaxError:  # a rule that was put in place of ours need not be one expression
        return "other", ()
    if isinstance(tree, ast.Name):
        return "copy", ()
    if (pair := product(tree)) is not None:
        return "matmul", pair
    if share.raw.shape == step.upstream.shape and number_by_number(tree):
        return "elementwise", ()
    return "other", ()


def product(tree: ast.AST) -> tuple[tuple[str, bool], ...] | None:
    """The two factors of a matrix product, each with whether it is transposed."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.MatMult):
        sides = [tree.left, tree.right]
    elif isinstance(tree, ast.Call) and ast.unparse(tree.func) == "rows_mm":
        sides = tree.args
    else:
        return None
    terms = [factor(side) for side in sides]
    return None if None in terms else tuple(t for t in terms if t is not None)


def factor(tree: ast.AST) -> tuple[str, bool] | None:
    """`x`, `x.mT`, `fold_rows(x)` or its transpose as a name and whether it is transposed."""
    turned = isinstance(tree, ast.Attribute) and tree.attr in ("mT", "T")
    inner = tree.value if isinstance(tree, ast.Attribute) and turned else tree
    if isinstance(inner, ast.Call) and ast.unparse(inner.func) == "fold_rows":
        inner = inner.args[0]
    return (inner.id, turned) if isinstance(inner, ast.Name) else None


def number_by_number(tree: ast.AST) -> bool:
    """Whether each number of g goes to one number of the result: g is handed to nothing that mixes or
    moves them.
    """
    for part in ast.walk(tree):
        if isinstance(part, ast.MatMult) or (isinstance(part, ast.Attribute) and holds_g(part.value)):
            return False
        if isinstance(part, ast.Call) and any(map(holds_g, part.args)):
            if ast.unparse(part.func) not in ("where", "scale", "zeros"):
                return False
    return True


def holds_g(tree: ast.AST) -> bool:
    return any(isinstance(part, ast.Name) and part.id == "g" for part in ast.walk(tree))


def slope(node: Node, slot: int, recorder: Recorder) -> float | None:
    """The local slope of a scalar operation, measured by nudging one input both ways; None if its inputs
    are gone.
    """
    arguments = inputs_of(node, recorder.values)
    if arguments is None or node.shape != () or any(np.ndim(a) for a in arguments if hasattr(a, "dtype")):
        return None
    at, h = float(arguments[slot]), 1e-5
    sides = []
    with np.errstate(all="ignore"):
        for nudge in (at + h, at - h):
            nudged = [np.float64(a) if hasattr(a, "dtype") and a.dtype.kind == "f" else a for a in arguments]
            nudged[slot] = np.float64(nudge)
            sides.append(float(node.operation.forward(*nudged)))
    return (sides[0] - sides[1]) / (2 * h)


# ---------------------------------------------------------------- a student's rule beside ours
ALSO = {"matmul": ("mm", "bmm", "mv", "dot"), "sum": ("sum_all", "sum_dims"), "mean": ("mean_all", "mean_dims"),
        "pow": ("square_power", "power")}  # fmt: skip


def check_share(share: Share, step: Step, node: Node, recorder: Recorder) -> None:
    """Run the student's rule for this operation on the same numbers, and measure who is right."""
    made = operation_of(node)
    if made is None:
        return
    rule = recorder.rules.get(made.name)
    if rule is None:
        rule = next((r for name, r in recorder.rules.items() if made.name in ALSO.get(name, ())), None)
    if rule is None:
        return
    assert share.contribution is not None and share.raw is not None
    share.numeric = measured_share(share, step, node, recorder)
    single = rule[share.slot] if isinstance(rule, (tuple, list)) else rule
    names = parameters(single)[1:]
    missing = [n for n in names if n not in share.arguments]
    if missing:
        share.verdict = f"Your rule asks for {', '.join(missing)}, which this operation did not keep."
        return
    try:
        answer = single(step.upstream.copy()[()], *(share.arguments[n] for n in names))
    except Exception as error:  # the student's rule may raise anything; the walk shows what
        share.verdict = f"Your rule raised {type(error).__name__}: {error}"
        return
    if not isinstance(rule, (tuple, list)) and isinstance(answer, (tuple, list)):
        answer = answer[share.slot] if share.slot < len(answer) else None
    if answer is None:
        share.verdict = "Your rule returned nothing for this input."
        return
    share.yours = np.array(getattr(answer, "_data", answer), dtype=np.float64)
    share.verdict = compare(share, step)


def compare(share: Share, step: Step) -> str:
    assert share.yours is not None and share.contribution is not None and share.raw is not None
    yours, right = share.yours, share.contribution
    for target in (right, share.raw):
        if yours.shape == target.shape and np.allclose(yours, target, rtol=1e-4, atol=1e-6, equal_nan=True):
            return "agrees"
    if yours.shape not in (right.shape, share.raw.shape):
        return f"Yours has shape {yours.shape}; the input has shape {right.shape}, and so must its gradient."
    if (
        share.local is not None
        and yours.shape == share.local.shape
        and np.allclose(yours, share.local, rtol=1e-4)
    ):
        return "Yours is the local factor alone. What arrives from behind, g, is missing."
    if np.allclose(yours, -share.raw, rtol=1e-4) or np.allclose(yours, -right, rtol=1e-4):
        return "Yours has the opposite sign."
    for name, value in share.arguments.items():
        if np.shape(value) == np.shape(step.upstream) and np.allclose(
            yours, step.upstream * value, rtol=1e-4
        ):
            return f"Yours is g * {name}. The rule here is {share.rule}."
    return f"The numbers differ. The rule here is {share.rule}."


def measured_share(share: Share, step: Step, node: Node, recorder: Recorder) -> Array | None:
    """The contribution by central differences of sum(g * forward); None for big inputs or lost ones."""
    arguments = inputs_of(node, recorder.values)
    if arguments is None or np.size(arguments[share.slot]) > 64:
        return None
    double = [
        np.array(a, np.float64) if hasattr(a, "dtype") and a.dtype.kind == "f" else a for a in arguments
    ]
    x = np.array(double[share.slot], np.float64)
    g = step.upstream.astype(np.float64)
    slopes = np.zeros(x.shape)
    with np.errstate(all="ignore"):
        for index in np.ndindex(*x.shape):
            sides = []
            for h in (1e-5, -1e-5):
                nudged = x.copy()
                nudged[index] += h
                double[share.slot] = nudged if nudged.ndim else nudged[()]
                sides.append(float(np.sum(g * node.operation.forward(*double))))
            slopes[index] = (sides[0] - sides[1]) / 2e-5
    return slopes
