"""Controls in a notebook, in any front end: a page in the output of a cell, and a channel from it to the kernel.

The page is plain HTML with a short script, so it is saved as it is and needs no saved widget. What it asks of the kernel goes
through one widget without a view, which a front end with widgets knows as soon as it is made. The page looks whether that is
so: `data-awake` shows what needs the kernel, `data-asleep` what is read without it, there and in a notebook opened later.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from IPython import get_ipython

from ..record.recording import Recording
from .data import as_json, dress
from .pages import bare
from .program import Program

__all__ = ["BUTTON", "FIELD", "Behind", "Film", "Live", "Slider", "Sliders", "asleep", "channel"]

HERE = Path(__file__).parent
MOST_PAGES = 300  # more than the cells of a lesson make; where a front end does not name its cells, each run adds some
COLOURS = "background:var(--jp-layout-color1,Field);color:var(--jp-content-font-color1,FieldText)"
BUTTON = f"font:inherit;padding:0.2em 0.8em;border:1px solid currentColor;border-radius:3px;cursor:pointer;{COLOURS}"
FIELD = f"font:inherit;padding:0.2em 0.4em;border:1px solid currentColor;width:min(24em,90%);{COLOURS}"
RUN_ABOVE = (  # JupyterLab and Notebook 7 run the named command for a press; elsewhere the button is not shown
    "<style>.minigrad-above{display:none}.jp-Notebook .minigrad-above{display:inline-block}</style>"
    '<button type="button" class="minigrad-above" data-commandlinker-command="notebook:run-all-above"'
    f' data-commandlinker-args="{{}}" style="{BUTTON}">Run all cells above</button>'
)


def asleep(stale: str) -> str:
    """What a page says while no kernel listens: how it comes to life, and the way there in one press."""
    return f"<p data-asleep>{stale} In a notebook that was just opened, the cells above come first. {RUN_ABOVE}</p>"


@cache
def script() -> str:
    """The script of every page, without its comments."""
    return bare((HERE / "live.js").read_text(encoding="utf-8"))


@cache
def channel() -> Any:
    """The one channel of this kernel, a widget without a view; outside a kernel its messages go nowhere."""
    import anywidget
    import traitlets

    class Channel(anywidget.AnyWidget):  # type: ignore[misc]
        _esm = HERE / "channel.js"
        name = traitlets.Unicode().tag(sync=True)

    made = Channel()
    made.name = made.model_id
    made.on_msg(on_message)
    return made


Made = TypeVar("Made")
OfCell = dict[str, tuple[str, list[Made]]]  # for each cell, the message that ran it last and what this run made
pages: dict[str, Live] = {}
of_cell: OfCell[Live] = {}


def replaced(of_cell: OfCell[Made], new: Made) -> list[Made]:
    """What an earlier run of the running cell made, which `new` replaces; none where the front end does not name its cells."""
    shell = get_ipython()
    parent: dict[str, Any] = shell.get_parent() if hasattr(shell, "get_parent") else {}
    cell, run = parent.get("metadata", {}).get("cellId", ""), parent.get("header", {}).get("msg_id", "")
    before, made = of_cell.get(cell, ("", []))
    if cell:
        of_cell[cell] = run, [*(made if before == run else []), new]
    return made if before != run else []


def on_message(_: Any, message: dict[str, Any], __: Any) -> None:
    """A page asks: its answer goes back, and nothing to a page that is gone.

    The page waits for the answer, so there is one after an error too, which ipywidgets shows.
    """
    page = pages.get(str(message.get("page")))
    if page is None:
        return
    parts: dict[str, str] = {}
    try:
        parts = page.on_action(str(message.get("action")), dict(message.get("values", {})))
    finally:
        channel().send({"page": page.id, "parts": parts})


class Live:
    """A page in an output. `html` is its body, `text` what is shown where there is no HTML.

    on_action(action, values): gives new HTML by the name of a part (`data-part`) when a button with that `data-action` was
    pressed, with the texts of all fields by name (`data-value`); `moved` is the action for each move of a slider.
    """

    moved = ""
    asks = True  # whether it needs the kernel for anything

    def __init__(self) -> None:
        self.id = uuid4().hex
        if self.asks:
            pages[self.id] = self
            for page in replaced(of_cell, self):
                pages.pop(page.id, None)
            while len(pages) > MOST_PAGES:
                del pages[next(iter(pages))]

    def body(self) -> str:
        """The page's HTML."""
        raise NotImplementedError

    def text(self) -> str:
        """The same as text."""
        raise NotImplementedError

    def on_action(self, action: str, values: Mapping[str, Any]) -> dict[str, str]:
        """What changes on the page for an action: HTML by the name of a part."""
        return {}

    def bundle(self) -> dict[str, str]:
        """The page and its text by MIME type."""
        name = channel().model_id if self.asks else ""
        moved = f' data-moved="{self.moved}"' if self.moved else ""
        root = f'<div class="minigrad-live" data-live="{self.id}"{moved}>'
        run = f'<script>({script()})("{self.id}", "{name}")</script>'
        return {"text/html": f"{root}{self.body()}</div>{run}", "text/plain": self.text()}

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return self.bundle()


@dataclass(frozen=True)
class Slider:
    """A slider with a place for each of its values, which are shown as `texts`; it starts at the place `start`."""

    label: str
    values: Sequence[Any]
    texts: Sequence[str]
    start: int = 0

    @classmethod
    def of(cls, widget: Any) -> Slider:
        """The same as one of ipywidgets' sliders of numbers."""
        count = round((widget.max - widget.min) / widget.step)
        places = [widget.min + i * widget.step for i in range(count + 1)]
        values = [widget.base**place if hasattr(widget, "base") else type(widget.value)(round(place, 9)) for place in places]
        start = min(range(len(values)), key=lambda i: abs(values[i] - widget.value))
        values[start] = widget.value
        return cls(widget.description, values, [format(value, widget.readout_format) for value in values], start)

    def html(self, name: str) -> str:
        """A label, the slider, its value."""
        texts = escape(json.dumps(list(self.texts), ensure_ascii=False), quote=True)
        wide = max(map(len, self.texts))
        return (
            '<label style="display:flex;gap:0.6em;align-items:center;max-width:36em">'
            f'<span style="min-width:3em">{escape(self.label)}</span>'
            f'<input type="range" data-value="{escape(name, quote=True)}" min="0" step="1"'
            f' max="{len(self.values) - 1}" value="{self.start}"'
            f' data-texts="{texts}" aria-valuetext="{escape(self.texts[self.start], quote=True)}" style="flex:1;min-width:3em">'
            f'<output style="min-width:{wide}ch">{escape(self.texts[self.start])}</output></label>'
        )


class Sliders(Live):
    """A picture with sliders, which the kernel draws anew: `draw` gives its HTML and words for the sliders' values by name."""

    moved = "draw"

    def __init__(self, draw: Callable[..., tuple[str, str]], sliders: Mapping[str, Slider]) -> None:
        super().__init__()
        self.draw, self.sliders = draw, dict(sliders)
        self.first = draw(**{name: slider.values[slider.start] for name, slider in sliders.items()})

    def body(self) -> str:
        knobs = "".join(slider.html(name) for name, slider in self.sliders.items())
        picture = f'<div data-part="picture" aria-live="polite">{self.first[0]}</div>'
        stale = asleep("To move the slider, run this cell again.")
        return f'<div data-awake style="display:none">{knobs}</div>{picture}{stale}'

    def text(self) -> str:
        return self.first[1]

    def on_action(self, action: str, values: Mapping[str, str]) -> dict[str, str]:
        chosen = {name: slider.values[int(values[name])] for name, slider in self.sliders.items()}
        return {"picture": self.draw(**chosen)[0]}


class Film(Live):
    """Pictures in a row, as HTML, with a slider and a play button that need no kernel; `still` is there until they work."""

    asks = False

    def __init__(self, slider: Slider, pictures: Sequence[str], still: str, text: str) -> None:
        super().__init__()
        self.slider, self.pictures, self.still, self.said = slider, list(pictures), still, text

    def body(self) -> str:
        frames = "".join(
            f'<div data-frame="{i}"{" style=display:none" * bool(i)}>{picture}</div>' for i, picture in enumerate(self.pictures)
        )
        button = f'<button type="button" data-play="yes" style="{BUTTON};min-width:6em">▶ Play</button>'
        row = "display:flex;gap:1em;align-items:center"
        knob = f'<div style="{row}">{button}<div style="flex:1;min-width:0">{self.slider.html("frame")}</div></div>'
        return f'<div data-still>{self.still}</div><div data-moving style="display:none">{knob}{frames}</div>'

    def text(self) -> str:
        return self.said


class Behind(Live):
    """What answers a stepper's page (js/kernel.js): the function with its inputs, and the whole of a long pass."""

    def __init__(self, whole: Recording | None, program: Program | None) -> None:
        super().__init__()
        self.whole, self.program = whole, program

    def on_action(self, action: str, values: Mapping[str, Any]) -> dict[str, str]:
        if action == "change" and self.program is not None:
            try:
                self.whole = self.program.change(**values)
                data = dress(self.whole, forward=True)[0]
            except Exception as error:  # the student's function may not take it
                return {"trouble": f"{type(error).__name__}: {error}"}
            return {"data": as_json({**data, "inputs": self.program.editable(), "stay": True})}
        if action == "around" and self.whole is not None and 0 < values["at"] <= len(self.whole.steps):
            return {"data": as_json(dress(self.whole, values["at"] - 1)[0])}
        return {}
