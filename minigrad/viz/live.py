"""Controls in a notebook, and what a page shows that has no kernel behind them, or no widgets at all."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import ipywidgets

# Where its kernel is gone a widget's parts have this class: what can only be pressed in vain is left out.
# A film's slider (plots.film) works without one.
GONE = ".jupyter-widgets-disconnected"
BOX = ".minigrad-live"
LOST = ",".join(f"{BOX}:not(.minigrad-film) .widget-{part}{GONE}" for part in ("button", "slider", "text", "radio"))
MARKS = f"{BOX}{GONE}::before,{BOX} {GONE}::before"
RUN_ABOVE = (  # JupyterLab and Notebook 7 run the named command for a press; elsewhere the button is not shown
    '<button class="minigrad-above" data-commandlinker-command="notebook:run-all-above" data-commandlinker-args="{}">'
    "Run all cells above</button>"
)
STYLE = f"<style>{MARKS},{LOST},{BOX}:not({GONE}) .minigrad-stale{{display:none!important}}"
STYLE += ".minigrad-above{display:none}.jp-Notebook .minigrad-above{display:inline-block}</style>"


class Live(ipywidgets.VBox):  # type: ignore[misc]
    """Controls, one below the other.

    `stale` is said on a page that is read without its kernel, where the last state of the rest is shown. `instead`
    is shown where there are no widgets: content by MIME type, with `text/plain`. Only the lab that `minigrad lab` starts
    saves widgets with a notebook, so they are shown there; elsewhere they would be errors the next day.
    """

    def __init__(self, children: Sequence[Any], stale: str, instead: Mapping[str, str]) -> None:
        words = f"{escape(stale)} In a notebook that was just opened, the cells above come first. {RUN_ABOVE}"
        note = ipywidgets.HTML(f'{STYLE}<p class="minigrad-stale">{words}</p>' if stale else STYLE)
        super().__init__([*children, note])
        self.add_class("minigrad-live")
        self.instead = dict(instead)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        return {**bundle, **self.instead} if os.environ.get("MINIGRAD_LAB") else self.instead
