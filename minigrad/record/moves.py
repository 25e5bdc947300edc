"""What a recording holds: places, steps of the walk, contributions."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import numpy as np

from .formula import renamed, shown
from .numbers import Array, Extent


@dataclass(slots=True)
class Place:
    """A tensor of the graph: a node of the tape, or an operand without one."""

    id: int
    # the caller's variable, else the expression that made it
    name: str
    # "Mul", "AccumulateGrad", "" for an operand without history
    op: str
    shape: tuple[int, ...]
    leaf: bool = False
    needs_grad: bool = True
    # whether `name` is a variable of the caller
    named: bool = False
    # the piece of source that made it
    expression: str = ""
    # "model.py:12"
    where: str = ""
    # the whole line
    source: str = ""
    # None where nothing holds it
    value: Array | None = None
    # then what is said of it
    missing: str = ""
    # what .grad held before this pass
    old_grad: Array | None = None
    # its gradient, where a hook changed it
    hooked: Array | None = None
    # what .grad is before any pass
    empty: str = "None"
    # "*", "@", "relu"
    symbol: str = ""
    # its call site: the turns of a loop have the same
    spot: str = ""
    # the code, and the instruction
    site: tuple[CodeType, int] | None = None


@dataclass(slots=True)
class Saved:
    """What a rule was given besides g: the rule's name for it, and its value."""

    name: str
    # the tensor's name
    label: str
    # an array; None for what is no number: then the label says it
    value: Any


@dataclass(slots=True)
class Contribution:
    """What one operation passes to one of its inputs."""

    slot: int
    parent: int
    rule: str = ""
    saved: tuple[Saved, ...] = ()
    # copy, elementwise, matmul, move, spread, scatter, function, slot, other
    how: str = "other"
    # an array: what g is multiplied by, number by number
    local: Any = None
    # an array: as the rule returned it
    raw: Any = None
    # an array: summed and cast to the input's shape and type
    value: Any = None
    # axes of `raw` along which that summed
    summed: tuple[int, ...] = ()
    # what had accumulated
    before: Any = None
    after: Any = None
    arrived: int = 0
    expected: int = 0
    # why there is no contribution, where there is none
    reason: str = ""
    # whether a hook on the node changed it
    hooked: bool = False
    # matmul: factor, transposed
    terms: tuple[tuple[str, bool], ...] = ()
    # its row of the derivative table
    operation: str = ""
    # what is known of the operation's inputs and settings
    arguments: dict[str, Any] = field(default_factory=dict)
    # the student's words
    names: dict[str, str] = field(default_factory=dict)
    note: str = ""
    # of a box of many nodes: the number of the middle one
    around: int = 0
    # outputs by inputs, where that is small
    jacobian: Array | None = None
    # what the student's own rule returned
    yours: Array | None = None
    # the same by finite differences
    numeric: Array | None = None
    # "agrees", or why the student's rule is wrong
    verdict: str = ""

    @property
    def skipped(self) -> bool:
        return self.value is None

    @property
    def lost(self) -> bool:
        """Whether less has accumulated than should: a broken walk, `=` for `+=`."""
        whole = self.before is None or isinstance(self.value, Extent)
        return not whole and not same(self.before + self.value, self.after)

    @property
    def named(self) -> str:
        """The rule in the student's own names: `g · b` for `g * y`."""
        return self.renamed(self.rule)

    def renamed(self, rule: str) -> str:
        """Any formula about this operation, in the student's names."""
        write = renamed if self.how == "function" else shown
        return write(rule, self.names)


@dataclass(slots=True)
class Step:
    """One move of the walk: a node contributes to its inputs, or a leaf stores."""

    # "node" or "leaf"
    kind: str
    node: int
    upstream: Array
    contributions: list[Contribution] = field(default_factory=list)
    # a leaf's .grad before
    before: Array | None = None
    # and after
    after: Array | None = None
    # whether a broken walk took it before all had arrived
    early: bool = False

    def __iter__(self) -> Iterator[Contribution]:
        return iter(self.contributions)


def same(a: Array, b: Array) -> bool:
    """Equal, but for rounding."""
    if isinstance(a, Extent) and isinstance(b, Extent):
        return a.shape == b.shape and bool(np.isclose(a.facts["norm"], b.facts["norm"], 1e-4))
    if a.shape != b.shape or np.array_equal(a, b):
        return bool(a.shape == b.shape)
    return bool(np.allclose(a, b, rtol=1e-5, atol=1e-12, equal_nan=True))
