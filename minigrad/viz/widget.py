"""The live stepper: a widget whose position and answers Python sees.

The JavaScript and the CSS are in one `Source`, which all steppers of a notebook share: each stepper brings only a loader
and its data, so a saved notebook holds one copy.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets
from IPython.display import display

from ..record.recording import Recording
from .data import dress
from .live import OfCell, replaced
from .pages import PAGE, Forms, script, still_html, style
from .program import Program

MIME = "application/vnd.jupyter.widget-view+json"


class Source(ipywidgets.Widget):  # type: ignore[misc]
    """The text of the stepper, once for all steppers of a notebook."""

    esm = traitlets.Unicode().tag(sync=True)
    css = traitlets.Unicode().tag(sync=True)
    page = traitlets.Unicode().tag(sync=True)


@cache
def source() -> Source:
    """The one source of this kernel."""
    return Source(esm=script(), css=style(), page=PAGE)


of_cell: OfCell[Stepper] = {}


class Stepper(Forms, anywidget.AnyWidget):  # type: ignore[misc]
    """The live widget. `.answers` holds the predictions, `.step` the position; it goes into an HBox like any widget."""

    _esm = Path(__file__).with_name("loader.js")
    data = traitlets.Dict().tag(sync=True)
    source = traitlets.Unicode().tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    answers = traitlets.List().tag(sync=True)
    predict = traitlets.Bool(False).tag(sync=True)
    theme = traitlets.Unicode("auto").tag(sync=True)
    around = traitlets.Int(0).tag(sync=True)  # of a long pass, the number of the node that is to be shown
    inputs = traitlets.Dict().tag(sync=True)  # of a function, what can be changed
    trouble = traitlets.List([0, ""]).tag(sync=True)  # how often the function failed, and what it said last

    def __init__(
        self, data: dict[str, Any], text: str = "", whole: Recording | None = None, program: Program | None = None
    ) -> None:
        inputs = {} if program is None else program.editable()
        start = {"predict": bool(data.get("predict")), "step": data.get("at", 0)}
        super().__init__(data=data, inputs=inputs, source=source().model_id, **start)
        self.text, self.whole, self.program = text, whole, program
        self.on_msg(self._change)
        for old in replaced(of_cell, self):  # a saved notebook would hold them all
            old.close()

    def _change(self, _: Any, message: dict[str, Any], __: Any) -> None:
        """One number of an input was changed: the graph and all numbers anew."""
        if self.program is None:
            return
        try:
            self.whole = self.program.change(message["name"], message["index"], message["value"])
            data, self.text = dress(self.whole, forward=True)
        except Exception as error:  # the student's function may not take it
            self.trouble = [self.trouble[0] + 1, f"{type(error).__name__}: {error}"]
        else:
            self.trouble, self.inputs = [0, ""], self.program.editable()
            self.data = {**data, "predict": self.predict, "stay": True}

    @traitlets.observe("around")  # type: ignore[untyped-decorator]
    def _show_another_part(self, change: Any) -> None:
        if self.whole is not None and 0 < change["new"] <= len(self.whole.steps):
            data, self.text = dress(self.whole, change["new"] - 1)
            self.data = {**data, "predict": self.predict}

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        live = super()._repr_mimebundle_(**kwargs)
        live = live[0] if isinstance(live, tuple) else live
        bundle: dict[str, Any] = {"text/html": still_html(self.data), "text/plain": self.text}
        return bundle | ({MIME: live[MIME]} if live and MIME in live else {})

    def _ipython_display_(self, **_: Any) -> None:
        """The widget, and below it the picture and the table, hidden where the widget shows.

        They are two outputs: a page that is exported with saved widgets takes these alone, and shows nothing of them
        when it is offline.
        """
        bundle = self._repr_mimebundle_()
        html, text = bundle.pop("text/html"), bundle.pop("text/plain")
        display({**bundle, "text/plain": self.data["title"]}, raw=True)
        display({"text/html": html, "text/plain": text}, raw=True)
