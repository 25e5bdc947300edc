"""Pictures of a backward pass: `step` walks through it, `draw` shows its graph, `page` makes a page of a recording, `plots`
has curves and heat maps.

    from minigrad.viz import step, draw
    step(loss)          # press the right arrow

Everything here reads a `Recording` (see minigrad/record/) and asks nothing else of the engine; neither Jupyter nor
matplotlib is loaded before a widget or a plot is asked for.
"""

from __future__ import annotations

import importlib
from typing import Any

from .pages import page
from .stepper import Framed, Still, draw, step

__all__ = ["Framed", "Stepper", "Still", "draw", "page", "plots", "step"]


def __getattr__(name: str) -> Any:
    """`plots` brings matplotlib and `Stepper` Jupyter's widgets, so they are loaded when they are first asked for."""
    if name == "plots":
        return importlib.import_module(".plots", __name__)
    if name == "Stepper":
        return importlib.import_module(".widget", __name__).Stepper
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
