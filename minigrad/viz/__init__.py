"""Pictures of a backward pass: `step` walks through it, `draw` shows its graph, `plots` has curves and heat
maps.

    from minigrad.viz import step, draw
    step(loss)          # press the right arrow

Everything here reads a `Recording` (see minigrad/record/recording.py), writes numbers as numbers.py there does,
and asks nothing else of the engine.
"""

from __future__ import annotations

import importlib
from typing import Any

from .stepper import Stepper, draw, step

__all__ = ["Stepper", "draw", "plots", "step"]


def __getattr__(name: str) -> Any:
    """`plots` brings matplotlib, so it is loaded when it is first asked for."""
    if name == "plots":
        return importlib.import_module(".plots", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
