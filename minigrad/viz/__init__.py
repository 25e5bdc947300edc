"""Pictures of a backward pass: `step` walks through it, `draw` shows its graph, `page` makes a page of a recording, `plots`
has curves and heat maps. `record`, `explain` and `check_graph` of minigrad.record are here as well, so that one line imports
all that there is for a loss.

    from minigrad.viz import step, draw
    step(loss)          # press the right arrow

Everything here reads a `Recording` (see minigrad/record/) and asks nothing else of the engine; neither Jupyter nor
matplotlib is loaded before a widget or a plot is asked for.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..record import check_graph, explain, record
from .pages import page
from .stepper import Framed, Still, draw, step

__all__ = ["Framed", "Stepper", "Still", "check_graph", "draw", "explain", "page", "plots", "record", "step"]


def __getattr__(name: str) -> Any:
    """`plots` brings matplotlib and `Stepper` Jupyter's widgets, so they are loaded when they are first asked for."""
    if name == "plots":
        try:
            return importlib.import_module(".plots", __name__)
        except ModuleNotFoundError as error:
            if not str(error.name).startswith("matplotlib") or sys.platform != "emscripten":
                raise
            return _no_plots()
    if name == "Stepper":
        return importlib.import_module(".widget", __name__).Stepper
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _no_plots() -> SimpleNamespace:
    """Stands for `plots` in a browser that has no matplotlib: a sentence for each picture, so that a lesson goes on."""
    source = Path(__file__).with_name("plots.py").read_text(encoding="utf-8")

    def says(name: str) -> Callable[..., None]:
        return lambda *args, **more: print(f"plots.{name} draws nothing here, because matplotlib is not installed.")

    return SimpleNamespace(**{name: says(name) for name in re.findall(r"^def ([a-z]\w*)", source, re.MULTILINE)})
