"""Random programs, run on PyTorch and on minigrad: everything that can be seen of their variables must agree.

MINIGRAD_FUZZ=20000 runs more of them, MINIGRAD_FUZZ_SEED=7 others. A program that disagrees is shrunk and printed as a
snippet that can be pasted and run (with `import torch as T` or `import minigrad as T` before it).
"""

from __future__ import annotations

import os
import random

import pytest

import minigrad
from tests.engine.programs import disagreement, shrunk, written

PROGRAMS = int(os.environ.get("MINIGRAD_FUZZ", "2000"))
FIRST = int(os.environ.get("MINIGRAD_FUZZ_SEED", "0")) * 1_000_000
PARTS = 20


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_programs_agree_with_pytorch(part: int) -> None:
    torch = pytest.importorskip("torch", reason="compares with PyTorch: pip install torch==2.13.0")
    for seed in range(FIRST + part, FIRST + PROGRAMS, PARTS):
        program = written(random.Random(seed), torch)
        if disagreement(program, torch, minigrad):
            shortest = shrunk(program, torch, minigrad)
            what = disagreement(shortest, torch, minigrad)
            pytest.fail(f"seed {seed}: {what}\n\n" + "\n".join(shortest), pytrace=False)
