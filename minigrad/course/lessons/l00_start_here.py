"""Lesson 00: how a check, a hint and a prediction work. Three exercises about the course, not yet about derivatives."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..exercise import Probe, call
from ..lesson_text import lesson


def probes_0_3(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(-1.5).show()
    yield call(2.0).show()
    yield call(0.0)
    yield call(0.35)
    yield call(3.0)
    yield call(-0.123456789)
    yield call(round(float(rng.uniform(-40, 40)), 4))
    yield call(-1234.5)
    yield call(-(int(rng.integers(1, 100)) + 0.123456789))


def twice_by_sum(x: float) -> float:
    return sum([x, x])


LESSON = lesson(__file__, globals(), {"0.3": {"oracle": twice_by_sum, "probes": probes_0_3}})
