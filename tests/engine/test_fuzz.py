"""Random programs, run on PyTorch and on minigrad: everything that can be seen of their variables must agree.

MINIGRAD_FUZZ=20000 runs more of them, MINIGRAD_FUZZ_SEED=7 others. A program that disagrees is shrunk and printed as a
snippet that can be pasted and run (with `import torch as T` or `import minigrad as T`, and `log = []`, before it).
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

import minigrad
from tests.engine.programs import Crash, PyTorch, disagreement, ran, shrunk

PROGRAMS = int(os.environ.get("MINIGRAD_FUZZ", "2000"))
FIRST = int(os.environ.get("MINIGRAD_FUZZ_SEED", "0")) * 1_000_000
PARTS = 20


@pytest.fixture(scope="module")
def pytorch() -> Iterator[PyTorch]:
    pytest.importorskip("torch", reason="compares with PyTorch: pip install torch==2.13.0")
    with PyTorch() as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_programs_agree_with_pytorch(part: int, pytorch: PyTorch) -> None:
    different = []
    for seed, program, theirs in pytorch.programs(list(range(FIRST + part, FIRST + PROGRAMS, PARTS))):
        if isinstance(theirs, Crash):
            different.append(f"seed {seed}: PyTorch crashes: {theirs}\n\n" + "\n".join(program))
        elif disagreement(program, theirs, ran(program, minigrad)):
            shortest, what = shrunk(program, minigrad)
            different.append(f"seed {seed}: {what}\n\n" + "\n".join(shortest))
    if different:
        pytest.fail("\n\n".join(different), pytrace=False)
