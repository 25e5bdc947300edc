"""Every row of the derivative table against finite differences, at first and second order.

The programs are the recorded ones (tests/data/programs/samples.json and layers.json) and those below, for rows that these do
not reach. A new row of the table cannot stay untried: `test_every_row` fails while no program has it in its graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.operation import TABLE
from tests import recorded
from tests.graphs import rows

SMALL = 64  # elements of all inputs; finite differences cost two forward passes for each
LEFT_OUT = {
    **dict.fromkeys(("float()", "float16", "float32", "type_as", "half()"), "finite differences of a rounded number are noise"),
    "detach()": "finite differences look through it",
    "padding_idx": "a row that gets no gradient on purpose",
    "t.tensor([1, 1])] +=": "two writes to one place: the last wins, and PyTorch gives both a gradient",
}

MORE = """
t.mv(n(2, 3), n(3))
n(4).round(decimals=1)
n(2, 3).masked_fill(t.tensor([True, False, True]), n())
t.bmm(n(2, 2, 2), n(2, 2, 1))
n(2, 2, 2) @ n(2, 2)
n(3) @ n(2, 3, 2)
t.linalg.inv(n(2, 2))
n(3, 3).diag()
n(2).diag() * n(2, 2).diagonal()
n(2, 3).flip(1) * n(2, 3).roll(1, 0)
n(3, 3).tril() @ n(3, 3).triu()
n(4).split(2)[1] * n(4).split([1, 2, 1])[1]
(n(3) * 1).fill_(n())
(n(3)[...] * n(2, 3)[:])
F.embedding(t.tensor([0, 2, 0]), n(3, 2))
F.max_pool2d(n(1, 1, 4, 4), 2, 1)
F.conv2d(n(1, 1, 3, 3), n(1, 1, 2, 2))
""".strip().splitlines()

ELSEWHERE = {
    "cast": "rounds: its values are recorded",
    **dict.fromkeys(("floor_divide", "refuse"), "no derivative"),
    **dict.fromkeys([name for name in TABLE if name.startswith("drawn_")], "random: its slope is 0, in test_random"),
}


def programs() -> list[str]:
    found = [*MORE]
    for subject in ("samples", "layers"):
        found += [p for p, answer in recorded.programs(subject).items() if any(answer.get("gradients", []))]
    return [program for program in found if not any(word in program for word in LEFT_OUT)]


def outputs(value: Any) -> tuple[mg.Tensor, ...]:
    parts = value if isinstance(value, (tuple, list)) else (value,)
    return tuple(t for t in parts if isinstance(t, mg.Tensor) and t.requires_grad)


def function(program: str) -> tuple[Any, list[mg.Tensor]]:
    """A program as a function of its inputs, and the inputs."""
    leaves = recorded.evaluate(mg, program)[1]
    return lambda *given: outputs(recorded.evaluate(mg, program, given)[0]), leaves


def met(program: str) -> set[str]:
    """The rows in the graphs of a program's outputs and of their differentiable gradients."""
    run, leaves = function(program)
    roots = run(*leaves)
    weights = [mg.ones_like(t).requires_grad_() for t in roots]
    found = mg.autograd.grad(roots, leaves, weights, create_graph=True, allow_unused=True)
    return rows(roots) | rows(g for g in found if g is not None and g.requires_grad)


def check(program: str, second: bool = True) -> None:
    run, leaves = function(program)
    with np.errstate(all="ignore"):
        assert mg.autograd.gradcheck(run, leaves, atol=1e-4), program
        assert not second or mg.autograd.gradgradcheck(run, leaves, atol=1e-3, rtol=1e-2), program


def size(program: str) -> int:
    return sum(t.numel() for t in recorded.evaluate(mg, program)[1])


def test_every_row() -> None:
    """One program for each row: the smallest that reaches it; the slow test has all of them, at second order too."""
    missing = set(TABLE) - ELSEWHERE.keys()
    for program in sorted((p for p in programs() if 1 < size(p) <= SMALL), key=size):
        new = met(program) & missing
        if new:
            check(program, second=False)
            missing -= new
    assert not missing


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_every_program(part: int) -> None:
    for program in programs()[part::8]:
        if 0 < size(program) <= SMALL:
            check(program)
