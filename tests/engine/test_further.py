"""Functions that few programs need, and derivatives where values are equal, huge or drawn: what PyTorch gave, recorded.

The incomplete gamma functions are SciPy's numbers: PyTorch's series loses digits at (50, 45).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg

PROGRAMS = json.loads((Path(__file__).parents[1] / "data" / "further.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("program", "want"), PROGRAMS, ids=[program for program, _ in PROGRAMS])
def test_as_recorded(program: str, want: Any) -> None:
    if isinstance(want, str):
        kind, _, message = want.partition(": ")
        with pytest.raises((RuntimeError, ValueError, NotImplementedError)) as caught:
            eval(program, {"t": mg})
        assert (type(caught.value).__name__, str(caught.value).splitlines()[0]) == (kind, message)
        return
    got = eval(program, {"t": mg})
    tolerance = 1e-6
    if isinstance(got, mg.Tensor):
        tolerance = 1e-12 if got.dtype is mg.float64 else 1e-6
        got = got.detach().numpy()
    elif isinstance(want[0], str):
        assert got == want
        return
    np.testing.assert_allclose(got, np.array(want), tolerance, tolerance)
