"""Which formula gives a student's numbers: for mistakes that no catalogue holds.

`formula(cases)` tries short formulas of the inputs and of the right result (`2 * v`, `x * v`, `right / 2`, `G @ W`) on
every call that failed, and gives the first that explains all of them. Nobody has to foresee the mistake.
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .findings import Finding

__all__ = ["Case", "by_chance", "formula", "gathered", "slope"]

Array = np.ndarray[Any, Any]
Make = Callable[[Mapping[str, Array]], Any]

MOST = 10  # inputs, and what is right: with more of them the search takes longer than anybody waits
LARGEST = 200  # numbers in one input: more are no short call
ALONE: dict[str, Callable[[Array], Any]] = {  # what is often done to one input by mistake, or forgotten
    "{}": lambda v: v,
    "-{}": lambda v: -v,
    "{}**2": lambda v: v * v,
    "abs({})": np.abs,
    "{}[0]": lambda v: v[0] if v.ndim and len(v) else None,
    "{}.T": lambda v: v.T if v.ndim > 1 else None,
    "{}.sum()": lambda v: v.sum(),
    "{}.mean()": lambda v: v.mean(),
    "{}.max()": lambda v: v.max() if v.size else None,
    "{}.sum(axis=0)": lambda v: v.sum(axis=0) if v.ndim > 1 else None,
    "{}.sum(axis=1)": lambda v: v.sum(axis=1) if v.ndim > 1 else None,
    "{}.max(axis=0)": lambda v: v.max(axis=0) if v.ndim > 1 and v.size else None,
    "{}.mean(axis=0)": lambda v: v.mean(axis=0) if v.ndim > 1 else None,
    "{}[::-1]": lambda v: v[::-1] if v.ndim == 1 and v.size > 1 else None,
    "len({})": lambda v: np.float64(len(v)) if v.ndim else None,
    "{}.size": lambda v: np.float64(v.size) if v.ndim > 1 else None,
    "np.ones_like({})": lambda v: np.ones_like(v) if v.ndim else None,
    "({} > 0)": lambda v: 1.0 * (v > 0),
    "({} < 0)": lambda v: 1.0 * (v < 0),
    "np.sign({})": np.sign,
    "np.maximum({}, 0)": lambda v: np.maximum(v, 0),
    "np.sqrt({})": np.sqrt,
    "np.exp({})": np.exp,
    "np.tanh({})": np.tanh,
    "np.sinh({})": np.sinh,
    "np.round({})": np.round,
    "int({})": lambda v: None if v.ndim else np.trunc(v),
}
BETWEEN: dict[str, Callable[[Any, Any], Any]] = {
    "*": operator.mul, "+": operator.add, "-": operator.sub, "/": lambda a, b: None if type(b) is float and not b else a / b,
    "@": lambda a, b: a @ b if {np.ndim(a), np.ndim(b)} <= {1, 2} and a.shape[-1] == b.shape[-min(2, b.ndim)] else None,
}  # fmt: skip
TIDY = {  # what is found first -> what is written
    r"\((\w+) / 2\) / 2": r"\1 / 4", r"\(2 \* (\w+)\) \* 2": r"4 * \1", r"(\w+) / \1\*\*2": r"1 / \1",
    r"(\w+) \* \1\*\*2": r"\1**3", r"\(2 \* (\w+)\) \+ \1": r"3 * \1", r"\((\w+) \+ 1\) \+ 2": r"\1 + 3",
    r"\(([^()]*)\)": r"\1",
}  # fmt: skip
SLOPES: dict[str, Callable[[Array], Any]] = {  # what stands in a rule beside the upstream gradient, or should
    "1": np.ones_like, "2": lambda v: np.full_like(v, 2), "{}": lambda v: v, "{}**2": lambda v: v * v,
    "{}**3": lambda v: v**3, "np.sqrt({})": np.sqrt, "np.exp({})": np.exp, "np.exp(-{})": lambda v: np.exp(-v),
    "np.log({})": np.log, "np.sin({})": np.sin, "np.cos({})": np.cos, "np.tanh({})": np.tanh,
    "np.tanh({})**2": lambda v: np.tanh(v) ** 2, "({} > 0)": lambda v: 1.0 * (v > 0), "np.exp({} - 1)": lambda v: np.exp(v - 1),
    "np.exp(np.exp({}))": lambda v: np.exp(np.exp(v)), "np.tanh(np.tanh({}))**2": lambda v: np.tanh(np.tanh(v)) ** 2,
}  # fmt: skip
BACK = {"+": "-", "-": "+", "*": "/", "/": "*"}  # (x + 1) - x is not what a student computed
NONE: tuple[str, Make] = ("", lambda known: None)


@dataclass(frozen=True)
class Case:
    """One call that failed: its inputs by name (what is right may be one of them), and what came back."""

    inputs: Mapping[str, Array]
    given: Array


def formula(cases: Sequence[Case]) -> tuple[str, Make]:
    """The shortest formula found that gives what came back in every case, and how to compute it; "" if there is none.

    There have to be two numbers: one alone proves nothing.
    """
    usable = bool(cases) and all(set(case.inputs) == set(cases[0].inputs) and np.isfinite(case.given).all() for case in cases)
    if not usable or sum(case.given.size for case in cases) < 2 or not any(case.given.any() for case in cases):
        return NONE
    if len(cases[0].inputs) > MOST or any(each.size > LARGEST for case in cases for each in case.inputs.values()):
        return NONE
    n, right = cases[0].given, [case.inputs["right"] for case in cases if "right" in case.inputs]
    constant = not n.ndim and all(alike(n, case.given) for case in cases)
    constant &= not any(alike(value, n) for case in cases for name, value in case.inputs.items() if name != "right")
    if constant and right and not all(alike(r, right[0]) for r in right):
        return f"{n:g}", number(n.item())
    with np.errstate(all="ignore"):
        # In a large one, and in a late one, the least is alike by chance.
        one = max(reversed(cases), key=lambda case: sum(each.size for each in case.inputs.values()))
        for text, make in candidates(one.inputs, one.given):
            if all(alike(make(case.inputs), case.given) for case in cases):
                return tidy(text), make
    return NONE


def tidy(text: str) -> str:
    """A formula as it is written: right / 4, and not (right / 2) / 2."""
    for form, plain in TIDY.items():
        text = re.sub(f"^{form}$", plain, text)
    return text


def slope(cases: Sequence[Case]) -> str:
    """The upstream gradient, v or g, times two terms of one input, such as "v * (1 - np.tanh(x))"; "" if that is not so."""
    up = next((name for name in "vg" if all(name in case.inputs for case in cases)), "")
    if not up or any(case.inputs[up].shape != case.given.shape or not case.inputs[up].all() for case in cases):
        return ""
    for name in set.intersection(*(set(case.inputs) for case in cases)) - {up, "right"}:
        pairs = [(case.inputs[name], case.given / case.inputs[up]) for case in cases]
        if any(x.shape != rate.shape or len(np.unique(rate)) < 2 for x, rate in pairs) or len(np.unique(pairs[0][0])) < 3:
            continue
        with np.errstate(all="ignore"):
            terms = [(text.format(name), [do(x) for x, _ in pairs]) for text, do in SLOPES.items()]
            for text, values in terms:
                if all(alike(value, rate) for value, (_, rate) in zip(values, pairs)):
                    return f"{up} * {text}"
            for minus, (a, left), (b, right), sign in itertools.product(("", "-"), terms, terms, "*/+-"):
                made = [combined(BETWEEN[sign], one, other) for one, other in zip(left, right)]
                if all(alike(value, -rate if minus else rate) for value, (_, rate) in zip(made, pairs)):
                    return f"{minus}{up} * ({a} {sign} {b})"
    return ""


def gathered(cases: Sequence[Case]) -> Finding | None:
    """Whether what came back has to be added up, or is more than what is asked for; None if neither."""
    pairs = [(case.given, case.inputs["right"]) for case in cases]
    if not any(given.size > right.size for given, right in pairs) or any(given.size < right.size for given, right in pairs):
        return None
    for axis, words in ((None, "all its numbers"), (0, "its first axis"), (1, "its second axis"), (-1, "its last axis")):
        if all(given.ndim > (axis or 0) for given, _ in pairs):
            for name, do in (("sum", np.sum), ("mean", np.mean)):
                if all(alike(np.asarray(do(given, axis=axis)), right) for given, right in pairs):
                    return Finding("gathered", where=words, how=name)
    if all(in_blocks(given, right) for given, right in pairs):
        return Finding("blocks")
    if len(pairs) > 2 and not any(right.ndim for _, right in pairs):
        held = all(bool(np.isclose(given, right, rtol=1e-7, atol=1e-9).any()) for given, right in pairs)
        return Finding("among") if held else None
    return None


def by_chance(text: str, cases: Sequence[Case]) -> bool:
    """True if a formula says more than the numbers do: a long one about few digits, or a factor that one case alone shows."""
    names = "|".join(re.escape(name) for name in sorted(cases[0].inputs, key=len, reverse=True))
    pieces = len(re.findall(rf"(?:{names})(?!\w)|\d+|\.\w+\(|\bnp\.\w+|\blen\b", text))
    numbers = [number for case in cases for number in case.given.ravel().tolist() if number]
    digits = sum(len(f"{number:.5e}".split("e")[0].strip("-").rstrip("0.").replace(".", "")) for number in numbers)
    factor = cases[0].given.ndim and re.search(r"\.(sum|mean|max)\(\)|len\(|\.size|(\b\w+) @ \2\b", text)
    return digits < 2 * (pieces - 1) or bool(factor and len(cases) < 2)


def in_blocks(given: Array, right: Array) -> bool:
    """True if this is several arrays, one below the other, whose sum is right."""
    if not right.ndim or given.shape[1:] != right.shape[1:] or not right.size or given.size % right.size:
        return False
    return alike(given.reshape(-1, *right.shape).sum(axis=0), right)


def candidates(inputs: Mapping[str, Array], wanted: Any) -> Iterator[tuple[str, Make]]:
    """Formulas that give the wanted numbers for the first case, short ones first."""
    terms = [Term(name, named(name)) for name in inputs] + [Term(str(n), number(n)) for n in (1, 2)]
    bare = {term.text for term in terms}
    terms += [Term(f"(2 * {name})", done(lambda v: 2 * v, named(name))) for name in inputs]
    shown = {name: f"({name})" if " " in name and not name.startswith("(") else name for name in inputs}
    terms += [Term(text.format(shown[name]), done(do, named(name))) for name in inputs for text, do in ALONE.items()]
    simple = valued(terms, inputs)
    yield from ((term.text, term.make) for term, value in simple if alike(value, wanted))
    inner = [(term, value) for term, value in simple if term.text in bare or not term.text.startswith("-")]
    goal = wanted if wanted.ndim else wanted.item()
    pairs: list[tuple[Term, Any]] = []
    later: list[Term] = []  # x / 2 after k * x, where k is 0.5
    for (a, left), (b, right) in itertools.product(inner, repeat=2):
        for sign, do in BETWEEN.items():
            value = None if odd(a.text, sign, b.text) else combined(do, left, right)
            if value is None:
                continue
            term = Term(f"{a.text} {sign} {b.text}", joined(do, a, b))
            if alike(value, goal) and (a.text.isdigit() or b.text.isdigit()) and {a.text, b.text} <= bare:
                later.append(term)
            elif alike(value, goal):
                yield term.text, term.make
            if a.text in bare and b.text in bare:
                pairs.append((term, value))
    yield from ((term.text, term.make) for term in later)
    few = [(term, value) for term, value in inner if term.text in bare or term.text.startswith(("len(", "(2 * "))]
    for (a, left), (b, right), sign in itertools.product(pairs, few, "*/+-"):
        if BACK[sign] not in a.text.replace(b.text, "").split() and alike(combined(BETWEEN[sign], left, right), goal):
            yield f"({a.text}) {sign} {b.text}", joined(BETWEEN[sign], a, b)


@dataclass(frozen=True)
class Term:
    """A piece of a formula, as text and as something to compute."""

    text: str
    make: Make


def named(name: str) -> Make:
    """An input by its name."""
    return lambda known: known[name]


def number(n: float) -> Make:
    """The same number in every case."""
    return lambda known: np.asarray(float(n))


def done(do: Callable[[Array], Any], to: Make) -> Make:
    """An operation on one term."""
    return lambda known: do(to(known))


def joined(do: Callable[[Any, Any], Any], a: Term, b: Term) -> Make:
    """An operation on two terms."""
    return lambda known: combined(do, a.make(known), b.make(known))


def combined(do: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """The value of an operation, None where numpy cannot put the two together."""
    if left is None or right is None:
        return None
    if type(left) is type(right) is float:
        return do(left, right) if do is not BETWEEN["@"] else None
    lengths = zip(reversed(np.shape(left)), reversed(np.shape(right)))
    if do is not BETWEEN["@"] and not all(a == b or 1 in (a, b) for a, b in lengths):
        return None
    return do(left, right)


def odd(a: str, sign: str, b: str) -> bool:
    """True for what nobody writes so: b * a, x * 2, 1 + x, x - x, x / 1."""
    last = (a[0].isdigit(), a) > (b[0].isdigit(), b) if sign == "+" else (not a[0].isdigit(), a) > (not b[0].isdigit(), b)
    if (a.isdigit() and b.isdigit()) or (sign == "/" and a.endswith("**2") and a[:-3] in (b, b[5:-1])):
        return True
    return (sign in "*+" and last) or (a == b and sign in "+-/") or (sign in "*/" and "1" in (a if sign == "*" else "", b))


def valued(terms: Sequence[Term], inputs: Mapping[str, Array]) -> list[tuple[Term, Any]]:
    """The terms that have a value here; of those with the same, the shortest."""
    found: dict[bytes, tuple[Term, Array]] = {}
    for term in terms:
        value = term.make(inputs)
        if value is not None and np.isfinite(value).all():
            array = np.asarray(value, dtype=float)
            found.setdefault(array.tobytes() + repr(array.shape).encode(), (term, array if array.ndim else array.item()))
    return list(found.values())


def alike(value: Any, wanted: Any) -> bool:
    """True if these are the same numbers in the same shape."""
    if type(value) is float:
        return (type(wanted) is float or not wanted.ndim) and abs(value - wanted) <= 1e-7 * (1 + abs(wanted))
    if value is None or np.shape(value) != np.shape(wanted):
        return False
    return bool((np.abs(value - wanted) <= 1e-7 * (1 + np.abs(wanted))).all())
