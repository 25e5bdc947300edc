"""Random programs: everything that can be seen of their variables must agree with PyTorch.

Some are recorded (tests/data/random_programs.json; `python -m tests.engine.test_programs` records them again, and adds
the seeds it is given); the slow tests run fresh ones beside PyTorch. MINIGRAD_FUZZ=20000 runs more, MINIGRAD_FUZZ_SEED=7
others. A program that disagrees is shrunk and printed as a snippet that can be pasted and run (with `import torch as T` or
`import minigrad as T`, and `log = []`, before it).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator

import pytest

import minigrad
from tests import recorded
from tests.engine.random_programs import Crash, PyTorch, as_data, disagreement, from_data, ran, shrunk
from tests.together import together

FILE = recorded.DATA / "random_programs.json"
RECORDED = json.loads(FILE.read_text(encoding="utf-8"))
PROGRAMS = int(os.environ.get("MINIGRAD_FUZZ", "2000"))
FIRST = int(os.environ.get("MINIGRAD_FUZZ_SEED", "0")) * 1_000_000
PARTS = 20


@together("number", range(len(RECORDED)))
def test_recorded_programs(number: int) -> None:
    statements, theirs = RECORDED[number]
    what = disagreement(statements, from_data(theirs), ran(statements, minigrad))
    assert not what, what + "\n\n" + "\n".join(statements)


@pytest.fixture(scope="module")
def pytorch() -> Iterator[PyTorch]:
    pytest.importorskip("torch", reason="compares with PyTorch: pip install torch==2.13.0")
    with PyTorch() as running:
        yield running


@pytest.mark.slow
@pytest.mark.needs("torch")
@pytest.mark.parametrize("part", range(PARTS))
def test_programs_agree_with_pytorch(part: int, pytorch: PyTorch) -> None:
    different = []
    for seed, program, theirs in pytorch.programs(list(range(FIRST + part, FIRST + PROGRAMS, PARTS))):
        if isinstance(theirs, Crash):
            different.append(f"seed {seed}: PyTorch crashes: {theirs}\n\n" + "\n".join(program))
        elif disagreement(program, theirs, ran(program, minigrad)):
            with PyTorch() as another:
                shortest, what = shrunk(program, minigrad, another)
            different.append(f"seed {seed}: {what}\n\n" + "\n".join(shortest))
    if different:
        pytest.fail("\n\n".join(different), pytrace=False)


def record(seeds: list[int]) -> None:
    with PyTorch() as running:
        pairs = [(program, running.run(program)) for program, _ in RECORDED]
        pairs += [(program, run) for _, program, run in running.programs(seeds) if not isinstance(run, Crash)]
    lines = [json.dumps([program, as_data(run)]) for program, run in pairs]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    record([int(seed) for seed in sys.argv[1:]])
