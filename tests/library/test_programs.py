"""Short programs against what PyTorch gave: values, types, gradients, refusals (programs.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.library import programs

DATA = Path(__file__).parents[1] / "data" / "library"
RECORDED: dict[str, Any] = json.loads((DATA / "programs.json").read_text())


def check(got: Any, expected: Any) -> None:
    if isinstance(expected, dict):
        assert isinstance(got, dict) and got.keys() == expected.keys(), (got, expected)
        if "error" in expected and expected["error"].startswith("NotImplementedError"):
            assert got["error"].startswith("NotImplementedError")
            return
        for key in expected:
            check(got[key], expected[key]) if isinstance(expected[key], (list, dict)) else None
        if {"error", "text"} & expected.keys():
            assert got == expected
    elif len(expected) == 4 and isinstance(expected[0], str):
        assert isinstance(got, list) and len(got) == 4, (got, expected)
        assert got[:2] == expected[:2], (got, expected)
        assert got[3] == expected[3]
        tolerance = 2e-5 if expected[0] == "float32" else 1e-9
        np.testing.assert_allclose(got[2], expected[2], rtol=tolerance, atol=tolerance)
    else:
        assert isinstance(got, list) and len(got) == len(expected), (got, expected)
        for mine, theirs in zip(got, expected, strict=True):
            check(mine, theirs)


def differing(engine: str, area: str) -> list[str]:
    """The programs of an area that give something else than what is recorded, and what."""
    wrong = []
    for program in programs.AREAS[area]:
        try:
            check(programs.run(engine, program), RECORDED[program])
        except AssertionError as error:
            wrong.append(f"{program}\n    {str(error)[:600]}")
    return wrong


@pytest.mark.parametrize("area", programs.AREAS)
def test_programs(area: str) -> None:
    wrong = differing("minigrad", area)
    assert not wrong, f"{len(wrong)} of {len(programs.AREAS[area])}:\n" + "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.needs("torch")
@pytest.mark.parametrize("area", programs.AREAS)
def test_the_record_is_what_pytorch_gives(area: str) -> None:
    pytest.importorskip("torch")
    wrong = differing("torch", area)  # its own last digit depends on the number of threads
    assert not wrong, "\n".join(wrong)
