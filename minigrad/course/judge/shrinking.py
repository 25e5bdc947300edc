"""Smaller questions: the same call or program with less data.

`simpler(probe)` gives questions a little smaller than a probe: shorter axes and plainer numbers. Whether a smaller question
still has a right answer, and still gets a wrong one, is for the judge to find out.
"""

from __future__ import annotations

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
    """Questions a little smaller: an axis length shortened wherever it occurs, then plainer numbers."""
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
