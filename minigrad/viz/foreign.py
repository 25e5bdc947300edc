"""The stepper on a student's own engine: any graph of objects with data, grad, parents and an operation's name.

`record(root)` looks for the usual names (`_prev`, `parents`, `children`, ...; `_op`, `op`, ...; `_backward`,
...), runs the student's own backward functions one node at a time, and writes down what each of them added
where. Beside each contribution stands the one that minigrad's derivative table gives for the same operation:
where they differ, the stepper stops and shows both. Every `.grad` is put back as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from typing import Any

import numpy as np

from ..operation import parameters
from ..record.contributions import arithmetic
from ..record.formula import bracketed, formula, settled
from ..record.moves import Contribution, Place, Saved, Step
from ..record.names import term
from ..record.numbers import Array, number, short
from ..record.recording import Recording
from ..tape import TABLE, AccumulateGrad, fit
from ..tensor import Tensor, wrap

PARENTS = ("_prev", "parents", "_parents", "children", "_children", "prev", "inputs", "operands", "sources", "args")
OPERATION = ("_op", "op", "operation", "op_name", "_operation", "kind", "fn_name")
BACKWARD = ("_backward", "backward_fn", "_backward_fn", "grad_fn", "_grad_fn", "local_backward", "push")
NAME = ("label", "name", "_label")
LIKE = {"+": "add", "-": "sub", "*": "mul", "/": "div", "@": "mm", "matmul": "mm", "truediv": "div", "**": "power",
        "pow": "power", "sum": "sum_all", "add": "add", "neg": "neg"}  # fmt: skip
SIGN = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mm": "@", "power": "**", "sum_all": "sum", "neg": "-"}
Known = Contribution | None  # what the table says, where it knows the operation
MISSING: Any = object()


def is_foreign(thing: Any) -> bool:
    """Whether this is a node of a student's own engine."""
    if isinstance(thing, Tensor):
        return False
    return found(thing, PARENTS) is not None and hasattr(thing, "data") and hasattr(thing, "grad")


def found(thing: Any, names: Iterable[str]) -> str | None:
    """The first of these attributes that the object has."""
    return next((n for n in names if hasattr(thing, n)), None)


def parents_of(thing: Any) -> list[Any]:
    """Its inputs, as a list; of a set in an order of our own, for it has none."""
    name = found(thing, PARENTS)
    value = getattr(thing, name) if name else ()
    value = value() if callable(value) else value
    if isinstance(value, (set, frozenset)):
        both = sorted(value, key=lambda v: (getattr(v, "label", "") or "", short(array(v.data))))
        return sort_set(thing, both)
    return [v for v in (value or ()) if hasattr(v, "data")]


def sort_set(thing: Any, both: list[Any]) -> list[Any]:
    """Operands that stand in a set: the order in which the operation gives the value, once or twice the same."""
    table = table_name(thing)
    if table not in TABLE or len(TABLE[table].inputs) != 2:
        return both
    choices = [both * 2] if len(both) == 1 else [both, both[::-1]]
    for choice in choices:
        value = TABLE[table].forward(*(array(v.data) for v in choice))
        if np.shape(value) == np.shape(thing.data) and np.allclose(value, array(thing.data)):
            return choice
    return both


def operation_of(thing: Any) -> str:
    name = found(thing, OPERATION)
    value = getattr(thing, name) if name else ""
    return getattr(value, "__name__", None) or str(value or "")


def table_name(thing: Any) -> str:
    """The line of the derivative table for its operation, or nothing."""
    op = operation_of(thing).strip()
    op = "**" if op.startswith("**") else op
    plain = op.strip("_").lower().removesuffix("backward")
    name = LIKE.get(op) or LIKE.get(plain) or plain
    return name if name in TABLE else ""


def array(value: Any) -> Array:
    """A value or gradient as numbers. TypeError for what holds none."""
    try:
        return np.array(getattr(value, "_data", value)).astype(np.float64, casting="same_kind")
    except (TypeError, ValueError):
        raise TypeError(f"a node's data must be a number or an array of numbers, not {value!r}") from None


def record(root: Any, gradient: Any = None, names: Mapping[str, Any] | None = None, rules: Any = None) -> Recording:
    """The backward pass of a student's own graph as a Recording. Every .grad is put back afterwards."""
    order = topological(root)
    if gradient is None and np.size(array(root.data)) != 1:
        raise RuntimeError("this root holds several numbers: say how much each counts, step(root, gradient=...)")
    keep = [(v, getattr(v, "grad", MISSING)) for v in order]
    try:
        return Walk(root, order, gradient, names or {}).run()
    finally:
        for v, grad in keep:
            if grad is not MISSING:
                v.grad = grad
            elif hasattr(v, "grad"):
                del v.grad


def topological(root: Any) -> list[Any]:
    """Inputs first, the root last; without recursion. ValueError for a graph that runs in a circle."""
    order: list[Any] = []
    seen: set[int] = set()
    done: set[int] = set()
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        thing, entered = stack.pop()
        if entered:
            order.append(thing)
            done.add(id(thing))
        elif id(thing) not in seen:
            seen.add(id(thing))
            stack.append((thing, True))
            stack.extend((p, False) for p in reversed(parents_of(thing)))
        elif id(thing) not in done:  # its own inputs are still being looked at
            raise ValueError(
                f"the node {short(array(thing.data))} is among its own inputs: no order of the walk exists"
            )
    return order


class Walk:
    """Runs the student's backward functions one by one and writes down what each adds."""

    def __init__(self, root: Any, order: list[Any], gradient: Any, names: Mapping[str, Any]) -> None:
        self.root, self.order = root, order
        self.index = {id(v): i for i, v in enumerate(order)}
        self.parents = [parents_of(v) for v in order]
        self.seed = np.ones_like(array(root.data)) if gradient is None else array(gradient)
        self.given = gradient is not None
        self.empty = ["None" if getattr(v, "grad", None) is None else "0" for v in order]
        self.old = [g if had == "0" and np.any(g := array(v.grad)) else None for v, had in zip(order, self.empty)]
        self.places = self.named(names)
        self.edges = [(self.index[id(p)], i, slot) for i, ps in enumerate(self.parents) for slot, p in enumerate(ps)]
        self.expected = [sum(a == i for a, _, _ in self.edges) for i in range(len(order))]
        self.arrived = [0] * len(order)
        self.sums: list[Array | None] = [None] * len(order)

    def named(self, names: Mapping[str, Any]) -> list[Place]:
        mine = {id(v): k for k, v in reversed(list(names.items())) if isinstance(k, str) and not k.startswith("_")}
        places: list[Place] = []
        used: set[str] = set(mine.values())
        for i, v in enumerate(self.order):
            op = operation_of(v)
            sign = SIGN.get(table_name(v), op)
            own = found(v, NAME)
            label = mine.get(id(v)) or (getattr(v, own) if own and isinstance(getattr(v, own), str) else "")
            inputs = [places[self.index[id(p)]].name for p in self.parents[i]]
            expression = expressed(op, sign, inputs)
            name = label or (expression if 0 < len(expression) <= 24 else sign) or short(array(v.data))
            n = 1
            while not label and (name if n == 1 else f"{name} ({n})") in used:
                n += 1
            name = name if n == 1 else f"{name} ({n})"
            used.add(name)
            place = Place(i, name, op, np.shape(v.data), leaf=not inputs, named=bool(label), symbol=sign, spot=op)
            place.value, place.expression, place.empty = array(v.data), expression, self.empty[i]
            place.old_grad = None if inputs else self.old[i]
            place.needs_grad = bool(inputs) or bool(getattr(v, "requires_grad", True))
            places.append(place)
        return places

    def run(self) -> Recording:
        for v in self.order:
            v.grad = like(v, np.zeros_like(array(v.data)))
        self.root.grad = like(self.root, self.seed)
        steps = [self.evaluated(i) for i in reversed(range(len(self.order))) if self.places[i].needs_grad]
        return Recording(len(self.order) - 1, self.places, self.edges, steps, self.seed, self.given)

    def evaluated(self, i: int) -> Step:
        v, inputs = self.order[i], self.parents[i]
        g = array(v.grad)
        if not inputs:
            old = self.old[i]
            return Step("leaf", i, g, before=old, after=g if old is None else old + g)
        step = Step("node", i, g)
        reference = [reference_contribution(v, inputs, slot, g) for slot in range(len(inputs))]
        before = [array(p.grad) for p in inputs]
        push = own_backward(v, inputs) or by_own_rules(v, inputs)
        if push is not None:
            try:
                push()
            except Exception as error:
                error.add_note(f"minigrad: in the backward function of {self.places[i].name}")
                raise
        elif any(r is None for r in reference):
            raise TypeError(
                f"{self.places[i].name} has no backward function of a known name "
                f"({', '.join(BACKWARD)}), and its operation {operation_of(v)!r} is not in the derivative table"
            )
        else:
            for p, r in zip(inputs, reference, strict=True):
                assert r is not None and r.value is not None
                grow(p, r.value)
        for slot, p in enumerate(inputs):
            place = self.places[self.index[id(p)]]
            made = Contribution(slot, place.id, reason=f"{place.name} does not require a gradient")
            if place.needs_grad:
                made = self.sent(step, slot, inputs, before, reference, push is not None)
            step.contributions.append(made)
        return step

    def sent(
        self, step: Step, slot: int, inputs: list[Any], before: list[Array], reference: list[Known], own: bool
    ) -> Contribution:
        """One contribution: what the table says, and whether the student's function did the same."""
        parent = inputs[slot]
        j = self.index[id(parent)]
        twins = [k for k, p in enumerate(inputs) if p is parent]
        known = reference[slot]
        moved = array(parent.grad) - before[slot]
        sent = known or Contribution(slot, j, rule=own_rule(self.order[step.node], slot, len(inputs)), how="function")
        sent.parent = j
        words = [self.places[self.index[id(p)]].name for p in inputs] + [self.places[step.node].name]
        for name, word in zip((*"xyz"[: len(inputs)], "out"), words, strict=True):
            sent.names[name] = term(word)
        for saved in sent.saved:
            if saved.name in sent.names:
                saved.label = sent.names[saved.name]
            elif saved.value is not None and not saved.value.ndim:  # an exponent: its number is its name
                sent.names[saved.name] = bracketed(number(saved.value))
        total = moved if known is None else sum_of([reference[k] for k in twins])
        if known is None:
            sent.raw = sent.value = moved / len(twins)
        sent.before = self.sums[j]
        last = slot == twins[-1]
        assert sent.value is not None
        right = sent.value if sent.before is None else sent.before + sent.value
        sent.after = array(parent.grad) if last else right
        self.sums[j] = sent.after
        self.arrived[j] += 1
        sent.arrived, sent.expected = self.arrived[j], self.expected[j]
        if own and known is not None and last:
            sent.yours = moved if len(twins) == 1 else moved - (total - sent.value)
            sent.verdict = self.judge(sent, moved, total, before[slot], parent)
        return sent

    def judge(self, sent: Contribution, moved: Array, total: Any, before: Array, parent: Any) -> str:
        if moved.shape == np.shape(total) and np.allclose(moved, total, rtol=1e-6, atol=1e-9, equal_nan=True):
            return "agrees"
        now, name = array(parent.grad), self.places[sent.parent].name
        assert sent.value is not None
        alone = now.shape == sent.value.shape and np.allclose(now, sent.value)
        if alone and (np.any(before) or self.expected[sent.parent] > 1):
            sent.yours = None  # the difference of before and after is no contribution
            return (
                f"{name}.grad held {short(before)} and this contribution is {short(sent.value)}, but your engine "
                f"left {short(now)}: the new contribution took the place of the old ones. Use += where you have =."
            )
        if sent.local is not None and np.shape(sent.local) == moved.shape and np.allclose(moved, sent.local):
            return "Your function adds the local factor alone: multiply by out.grad, the upstream gradient."
        return f"Your function adds {short(moved)}; the derivative table gives {short(np.asarray(total))}."


def expressed(op: str, sign: str, inputs: list[str]) -> str:
    if not inputs:
        return ""
    bare = sign in ("+", "sum") or len(inputs) == 1
    safe = [n if bare or not re.search(r"[ +\-*/@]", n) else f"({n})" for n in inputs]
    if sign in ("+", "-", "*", "/", "@", "**") and len(inputs) == 2:
        return f"{safe[0]} {sign} {safe[1]}"
    if op.startswith("**"):
        return f"{safe[0]}{op}" if len(inputs) == 1 else op
    return f"{op if sign == '**' else sign}({', '.join(inputs)})"


def own_backward(v: Any, inputs: list[Any]) -> Callable[[], Any] | None:
    """The student's function that hands a node's gradient to its inputs: it takes nothing or that gradient, and adds
    the contributions itself or returns them.
    """
    name = found(v, BACKWARD)
    push = getattr(v, name) if name else None
    if not callable(push):
        return None

    known = signature(push).parameters.values()
    asks = [p for p in known if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]

    def call() -> None:
        contributions = push(v.grad) if asks else push()
        for p, sent in zip(inputs, contributions if isinstance(contributions, (tuple, list)) else (), strict=False):
            grow(p, array(sent))

    return call


def rules_of(v: Any, count: int) -> tuple[Callable[..., Any], ...]:
    """One function for each input, where a node keeps such: they take g, perhaps the result, and the inputs."""
    rules = getattr(v, "rules", None)
    if not isinstance(rules, (tuple, list)) or len(rules) != count or not all(map(callable, rules)):
        return ()
    return tuple(rules) if all(len(parameters(r)) in (count + 1, count + 2) for r in rules) else ()


def by_own_rules(v: Any, inputs: list[Any]) -> Callable[[], Any] | None:
    """The student's rules of a node, applied and added up, with stretched axes summed."""
    rules = rules_of(v, len(inputs))
    if not rules:
        return None

    def push() -> None:
        values = [array(p.data) for p in inputs]
        for p, rule in zip(inputs, rules, strict=True):
            out = [array(v.data)] if len(parameters(rule)) == len(inputs) + 2 else []
            grow(p, fitted(array(rule(array(v.grad), *out, *values)), p))

    return push


def own_rule(v: Any, slot: int, count: int) -> str:
    """What stands in the student's rule, if there is one for each input."""
    rules = rules_of(v, count)
    return formula(rules[slot]) if rules else "_backward()"


def like(v: Any, grad: Array) -> Any:
    """A gradient in the form in which this engine keeps its data: a Tensor, an array, or a plain number."""
    if isinstance(v.data, Tensor):
        return wrap(grad)
    return grad if isinstance(v.data, np.ndarray) else float(grad) if np.ndim(grad) == 0 else grad


def grow(v: Any, sent: Array) -> None:
    """Adds a contribution to a node's gradient."""
    v.grad = like(v, array(v.grad) + sent)


def fitted(raw: Array, v: Any) -> Array:
    """A contribution in the shape of a node's data: stretched axes are summed."""
    target = array(v.data)
    return raw if raw.shape == target.shape else np.array(fit(raw, AccumulateGrad(wrap(target))))


def reference_contribution(v: Any, inputs: list[Any], slot: int, g: Array) -> Known:
    """The contribution by the derivative table, or None where the operation is not in it."""
    name = table_name(v)
    if not name:
        return None
    made = TABLE[name]
    values: dict[str, Any] = dict(zip(made.inputs, (array(p.data)[()] for p in inputs), strict=False))
    values.update(out=array(v.data)[()], **{f"{n}_shape": np.shape(values[n]) for n in made.inputs if n in values})
    power = re.fullmatch(r"\*\*\s*\(?(-?[\d.]+)\)?", operation_of(v).strip())
    if power:
        values["exponent"] = float(power[1])
    rule = made.rules[slot] if slot < len(made.rules) else None
    if rule is None or any(n not in values for n in parameters(rule)[1:]):
        return None
    known = {n: values[n] for n in parameters(rule)[1:]}
    raw = np.array(rule(g[()], *known.values()))
    sent = Contribution(slot, 0, rule=settled(rule, known), raw=raw, value=fitted(raw, inputs[slot]))
    sent.summed = tuple(range(raw.ndim - np.ndim(sent.value)))
    sent.saved = tuple(
        Saved(n, str(a) if isinstance(a, tuple) else "", None if isinstance(a, tuple) else np.array(a))
        for n, a in known.items()
    )
    sent.how, sent.terms = arithmetic(sent.rule, raw.shape == g.shape)
    if sent.how == "elementwise":
        sent.local = np.array(rule(np.ones_like(g)[()], *known.values()))
    return sent


def sum_of(contributions: list[Known]) -> Array:
    """What several uses of one input add up to."""
    return sum((sent.value for sent in contributions if sent is not None and sent.value is not None), np.zeros(()))
