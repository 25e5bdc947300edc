"""Smaller questions: what is left of a failing call or program when everything is taken away that can be.

`simpler(probe)` gives questions a little smaller than a probe: shorter axes and plainer numbers for a call; for a
program also a statement left out, a loop run less often, one number looked at instead of a list of them. Whether a
smaller question still has a right answer, and still gets a wrong one, is for the judge to find out.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import math
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..exercise import Probe

__all__ = ["Patience", "clock", "simpler", "weight", "with_values"]

ASKED = 60  # smaller questions tried
SECONDS = 0.5  # and the time for it, where a question takes long


def clock() -> float:
    """Seconds, without those in which a busy machine lets this process wait, and the one that it asks as long: what is found
    in a time is the same there."""
    try:
        with open("/proc/self/schedstat", "rb", 0) as schedule:
            return time.monotonic() - 2e-9 * int(schedule.read(99).split()[1])
    except (OSError, IndexError):
        return time.monotonic()  # not Linux


class Patience:
    """How much longer to go on; by number alone if it is not `timed`."""

    def __init__(self, timed: bool = True) -> None:
        self.asked, self.end = 0, clock() + (SECONDS if timed else math.inf)

    def left(self) -> bool:
        """Counts one question; False when it is one too many, or the time is up."""
        self.asked += 1
        return self.asked <= ASKED and clock() < self.end


def weight(probe: Probe) -> tuple[int, int]:
    """How big a probe is to read: numbers and lines, then characters."""
    numbers = sum(count(value) for value in (*probe.args, *probe.data.values()))
    return numbers + len(probe.code.splitlines()), len(probe.code) + len(repr(probe.args))


def count(value: Any) -> int:
    """How many numbers there are in a value."""
    if isinstance(value, np.ndarray):
        return value.size
    if isinstance(value, list | tuple):
        return sum(count(v) for v in value)
    return int(isinstance(value, int | float | np.generic))


def simpler(probe: Probe) -> Iterator[Probe]:
    """Questions a little smaller: less code, an axis length shortened wherever it occurs, then plainer numbers."""
    if probe.kind == "run" and probe.outside is None:  # the outside needs all of its data
        for code in shorter_programs(probe.code):
            yield without_spare_data(dataclasses.replace(probe, code=code))
    given = [*probe.args, *probe.data.values()]
    lengths = sorted({n for a in given if isinstance(a, np.ndarray) for n in a.shape if n > 1}, reverse=True)
    for n in lengths:
        yield with_values(probe, [shortened(a, n) for a in given])
    for i, a in enumerate(given):
        for plain in plainer(a):
            yield with_values(probe, [*given[:i], plain, *given[i + 1 :]])


def with_values(probe: Probe, values: list[Any]) -> Probe:
    """The probe with other inputs, positional ones first."""
    n = len(probe.args)
    return dataclasses.replace(probe, args=tuple(values[:n]), data=dict(zip(probe.data, values[n:], strict=True)))


def shortened(value: Any, n: int) -> Any:
    """Every axis of length n (and every n in a shape) made one shorter."""
    if isinstance(value, np.ndarray):
        return value[tuple(slice(0, n - 1) if size == n else slice(None) for size in value.shape)].copy()
    if type(value) is tuple and all(type(v) is int for v in value):
        return tuple(v - 1 if v == n else v for v in value)
    return value


def plainer(value: Any) -> Iterator[Any]:
    """The same value with numbers that are easier to reckon with: whole ones, then 2 and -2."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        rounded = np.round(value)
        whole = np.where((rounded == 0) & (value != 0), np.sign(value), rounded) + 0.0  # never a zero that was none
        for plain in (whole, np.where(value < 0, -2.0, 2.0)):
            if not np.array_equal(plain, value) and np.abs(plain).sum() <= np.abs(value).sum() + value.size:
                yield plain
    if type(value) is float and abs(value) > 2:
        yield from (plain for plain in (float(round(value)), np.copysign(2.0, value).item()) if plain != value)


# --- programs -----------------------------------------------------------------------------------------------


def shorter_programs(code: str) -> Iterator[str]:
    """The program with one thing less in it, its last line kept as the answer."""
    tree = ast.parse(code)
    for path in places(tree):
        for number in range(len(list(cuts(follow(tree, path))))):
            smaller = copy.deepcopy(tree)
            list(cuts(follow(smaller, path)))[number]()
            if smaller.body and isinstance(smaller.body[-1], ast.Expr):
                yield ast.unparse(ast.fix_missing_locations(smaller))


Path = tuple[tuple[str, int], ...]


def places(node: ast.AST, path: Path = ()) -> Iterator[Path]:
    """The way to each node: (field, index) after (field, index)."""
    yield path
    for name, value in ast.iter_fields(node):
        for i, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.AST):
                yield from places(child, (*path, (name, i)))


def follow(node: ast.AST, path: Path) -> Any:
    """The node at the end of the way."""
    found: Any = node
    for name, i in path:
        value = getattr(found, name)
        found = value[i] if isinstance(value, list) else value
    return found


def cuts(node: Any) -> Iterator[Any]:
    """What can be taken away at this node, each as an action."""
    body = getattr(node, "body", None)
    if isinstance(body, list):
        last = isinstance(node, ast.Module)  # the last line of the whole is the answer
        for i in range(len(body) - last):
            if len(body) > 1:
                yield lambda i=i: body.pop(i)
    if isinstance(node, ast.Module) and isinstance(node.body[-1], ast.Expr):
        answer = node.body[-1]
        if isinstance(answer.value, ast.List) and len(answer.value.elts) > 1:
            for element in answer.value.elts:
                yield lambda element=element: setattr(answer, "value", element)
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
        names, values = node.targets[0].elts, node.value.elts
        for i in range(len(names)):
            if len(names) == len(values) == 2:
                yield lambda i=i: node.__dict__.update(targets=[names[1 - i]], value=values[1 - i])
            elif len(names) == len(values):
                yield lambda i=i: (names.pop(i), values.pop(i))
    if isinstance(node, ast.Constant) and type(node.value) is int and node.value > 3:
        yield lambda: setattr(node, "value", node.value // 2)


def without_spare_data(probe: Probe) -> Probe:
    """The probe without inputs that its program no longer mentions."""
    named = {node.id for node in ast.walk(ast.parse(probe.code)) if isinstance(node, ast.Name)}
    return dataclasses.replace(probe, data={name: value for name, value in probe.data.items() if name in named})
