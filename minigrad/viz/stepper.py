"""`step(loss)`: a backward pass to walk through; `draw(loss)`: its graph as a still picture.

The reader meets `step` and `draw`, how a graph of any origin becomes one JSON value (`data_of`: the
recording, its layout and its questions), the live widget `Stepper`, and the forms that need no kernel: a page
of its own (`page`), a frame for saved notebooks, the still picture, and plain text. All of them are pure
functions of that JSON value.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import re
from collections.abc import Mapping
from functools import cache
from html import escape
from math import prod
from pathlib import Path
from sys import _getframe
from types import FrameType
from typing import Any

import anywidget
import traitlets

from ..record.recorder import record
from ..record.recording import SAMPLE, Recording
from . import foreign, quiz
from .layout import MOST_BOXES, lay_out
from .part import excerpt
from .svg import describe, picture

HERE = Path(__file__).parent
BUDGET = 480_000  # bytes of JSON: samples shrink until it fits
MOST_MOVES = 3_000  # more are never shown
LONG = 400  # moves from which on the sentences are short
MIME = "application/vnd.jupyter.widget-view+json"

PAGE = """<!doctype html> <html lang="en"><head><meta charset="utf-8"><meta name="viewport"
content="width=device-width, initial-scale=1">
<title>%TITLE%</title><style>body{margin:8px}%CSS%</style></head> <body><main id="stepper"></main><script
type="application/json" id="data">%DATA%</script> <script type="module">%ESM% const values = { data:
JSON.parse(document.getElementById("data").textContent) }; values.whole = "<!doctype html>\\n" +
document.documentElement.outerHTML; const model = { get: (k) => values[k], set: (k, v) => { values[k] = v; },
save_changes() {}, on() {} }; values.step = values.data.at; values._css =
document.querySelector("style").textContent; values.predict
= values.data.predict; render({ model, el: document.getElementById("stepper"), signal: new
AbortController().signal }); %FRAME%</script></body></html>
"""

FRAME = """
const frame = window.frameElement;
if (frame) {
  for (const e of frame.parentElement.querySelectorAll(":scope > .mg-still")) e.hidden = true;
  const fit = () => { frame.style.height = document.documentElement.scrollHeight + 4 + "px"; };
  new ResizeObserver(fit).observe(document.getElementById("stepper"));
  fit();
}
"""


@cache
def source(name: str) -> str:
    """The text of one of the widget's two files."""
    return (HERE / name).read_text(encoding="utf-8")


# ---------------------------------------------------------------- the two public functions
def step(
    loss: Any,
    gradient: Any = None,
    names: Mapping[str, Any] | None = None,
    rules: Mapping[str, Any] | None = None,
    predict: bool = False,
    portable: bool = False,
    display: str | None = None,
    around: Any = None,
) -> Stepper | Still:
    """Walk through the backward pass of `loss`, one beat at a time.

    loss: a tensor that requires a gradient; or the root of a student's own engine (an object with data, grad,
    parents and an operation's name). It must not have been backwarded yet: the walk needs the saved values.
    gradient: what the pass starts from, for a root of more than one number; same shape as `loss`. names: what
    to call tensors, {"x": x}; by default the caller's variables. rules: {"mul": rule}: show your rule beside
    the engine's and beside a measurement, and stop where yours is wrong. predict: ask before each reveal.
    portable: leave the live widget out, so that a saved notebook works anywhere. display: "static" gives the
    still picture only (also by the environment variable MINIGRAD_DISPLAY=static). around: of a pass that is too long
    to be shown whole, the part that is: around a tensor, the name of one, or the so-manieth node of the walk; by
    default both ends. Raises ValueError if the pass does not reach it, RuntimeError if the
    graph was freed, if there is none, or if a gradient is needed and missing.
    """
    frame = _getframe(1)
    names = names or namespace(frame)
    recording = recorded(loss, gradient, names, rules)
    at = None if around is None else place_of(around, recording, names)
    data, text = dress(recording, at)
    data["predict"] = bool(predict)
    if (display or os.environ.get("MINIGRAD_DISPLAY", "")) == "static":
        return Still(data, text)
    return Stepper(data, text, portable=portable, whole=recording if len(data["nodes"]) < len(recording.places) else None)


def draw(loss: Any, names: Mapping[str, Any] | None = None, grads: bool = False) -> Still:
    """The graph behind `loss` as a still picture, with `.svg()`. `grads` adds the gradient of every
    tensor.
    """
    data, text = data_of(loss, None, names or namespace(_getframe(1)), None, ones=True)
    return Still(data, describe(data) if not grads else text, grads=grads)


def namespace(frame: FrameType) -> dict[str, Any]:
    """The caller's variables, local ones first."""
    return {**frame.f_globals, **frame.f_locals}


def data_of(
    loss: Any, gradient: Any, names: Mapping[str, Any], rules: Mapping[str, Any] | None, ones: bool = False
) -> tuple[dict[str, Any], str]:
    """The one JSON value behind every form, and its text. `ones`: a root of many numbers starts from ones."""
    return dress(recorded(loss, gradient, names, rules, ones))


def recorded(
    loss: Any, gradient: Any, names: Mapping[str, Any], rules: Mapping[str, Any] | None, ones: bool = False
) -> Recording:
    """The pass of a tensor, of a student's own engine, or one that is recorded already."""
    if isinstance(loss, Recording):
        return loss
    if foreign.is_foreign(loss):
        if ones and gradient is None:
            gradient = foreign.array(loss.data) * 0 + 1
        return foreign.record(loss, gradient, names, rules)
    if ones and gradient is None and loss.numel() != 1:
        gradient = loss.detach() * 0 + 1
    return record(loss, gradient, names=names, rules=rules)


def place_of(around: Any, recording: Recording, names: Mapping[str, Any]) -> int:
    """The index of the step that is meant: by its number from 1, by a name, or by the tensor itself."""
    if isinstance(around, int):
        if 0 < around <= len(recording.steps):
            return around - 1
        raise ValueError(f"around={around}: the walk has nodes 1 to {len(recording.steps)}")
    name = around if isinstance(around, str) else next((k for k, v in names.items() if v is around), None)
    found = [i for i, step in enumerate(recording.steps) if recording.places[step.node].name == name]
    if not found:
        raise ValueError(f"around: the backward pass does not reach {name or 'this tensor'}")
    return found[0]


def dress(recording: Recording, around: int | None = None) -> tuple[dict[str, Any], str]:
    """A recording's plain data with layout and questions, within the budgets of bytes and boxes, and its text.

    Of a very long pass the beginning and the end are shown, as much as fits, or most of it around one step; boxes
    stand for the rest.
    """
    moves = 1 + sum(max(1, len(step.contributions)) for step in recording.steps)
    limit = min(moves, MOST_MOVES)
    while True:
        shown = recording if limit == moves else excerpt(recording, limit, around)
        data = shown.to_dict(2 if limit == moves else 6, brief=limit > LONG)
        data["layout"] = lay_out(data)
        quiz.add(data, shown)
        size = len(as_json(data).encode())
        room = BUDGET / size if data["layout"]["start"] else MOST_BOXES / len(data["nodes"])
        if room >= 1:
            break
        limit = int(0.95 * limit * room)
    for sample in (SAMPLE, 12, 8, 6, 4):
        if size + more_bytes(data, sample) <= BUDGET:
            vals = shown.pooled(sample)
            if len(as_json({**data, "vals": vals}).encode()) <= BUDGET:
                data["vals"] = vals
                break
    if around is not None:
        data["at"] = first_frame(data, recording.places[recording.steps[around].node].name)
    return data, str(shown)


def first_frame(data: dict[str, Any], name: str) -> int:
    """The position on the page at which a node becomes current."""
    start, *moves = data["steps"]
    before = itertools.takewhile(lambda move: data["nodes"][move["node"]]["name"] != name, moves)
    return sum(len(move["text"]) for move in [start, *before])


def more_bytes(data: dict[str, Any], sample: int) -> int:
    """About how many bytes longer the data get when tables are cut at `sample` rows and columns."""
    tables = [v for v in data["vals"] if isinstance(v, dict) and v["d"]]
    cells: int = sum(min(prod(v["s"][:-1]), sample) * min(v["s"][-1], sample) - len(v["d"]) for v in tables)
    return 7 * cells


def as_json(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


# ---------------------------------------------------------------- forms without a kernel
def page(data: dict[str, Any], title: str = "", frame: bool = False) -> str:
    """A self-contained HTML page with the stepper: no network, no kernel."""
    inside = {
        "%TITLE%": escape(title or f"Backward pass of {data['nodes'][data['root']]['name']}"),
        "%CSS%": source("stepper.css"),
        "%DATA%": as_json(data).replace("<", "\\u003c"),
        "%ESM%": source("stepper.js"),
        "%FRAME%": FRAME if frame else "",
    }
    return re.sub("%[A-Z]+%", lambda mark: inside[mark[0]], PAGE)  # in one go: a name may hold such a mark, too


def table(data: dict[str, Any]) -> str:
    """Every step as a row of a plain table: what an untrusted notebook and a screen reader get."""
    rows = []
    for k, move in enumerate(data["steps"]):
        node = data["nodes"][move["node"]]["name"]
        to = data["nodes"][move["parent"]]["name"] if "parent" in move else ""
        cells = (str(k), node, to, move.get("rule", move["kind"]), " ".join(move["text"]))
        rows.append("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in cells) + "</tr>")
    head = "".join(f'<th scope="col">{t}</th>' for t in ("step", "from", "to", "rule", "in words"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def saved_html(data: dict[str, Any]) -> str:
    """What a saved notebook shows: picture and table, which the frame's own script hides once it runs."""
    image = base64.b64encode(picture(data).encode()).decode()
    alt = escape(describe(data), quote=True)
    title = escape(f"Backward pass of {data['nodes'][data['root']]['name']}, stepper", quote=True)
    inner = escape(page(data, frame=True), quote=True)
    return (
        f'<div class="mg-still"><img src="data:image/svg+xml;base64,{image}" alt="{alt}"></div>'
        f'<details class="mg-still"><summary>All steps as a table</summary>{table(data)}</details>'
        f'<iframe title="{title}" srcdoc="{inner}" style="width:100%;height:560px;border:0"></iframe>'
    )


class Still:
    """A still picture with its text. Shows itself as SVG; `print` gives the transcript."""

    def __init__(self, data: dict[str, Any], text: str, grads: bool = True) -> None:
        self.data, self.text, self.grads = data, text, grads

    def svg(self) -> str:
        """The picture as an SVG document."""
        return picture(self.data, self.grads)

    def save_svg(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file."""
        Path(path).write_text(self.svg(), encoding="utf-8")

    def save_html(self, path: str | os.PathLike[str]) -> None:
        """Write the stepper as a page of its own, which works offline."""
        Path(path).write_text(page(self.data), encoding="utf-8")

    @property
    def answers(self) -> list[dict[str, Any]]:
        """Always empty: a still picture asks nothing."""
        return []

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        bundle = {"image/svg+xml": self.svg(), "text/plain": self.text}
        if os.environ.get("MINIGRAD_DISPLAY") != "static":  # JupyterLab shows an SVG without its words
            image = base64.b64encode(bundle["image/svg+xml"].encode()).decode()
            words = escape(self.text, quote=True)
            bundle["text/html"] = f'<img alt="{words}" src="data:image/svg+xml;base64,{image}">'
        return bundle


class Stepper(anywidget.AnyWidget):  # type: ignore[misc]
    """The live widget. `.answers` holds the predictions, `.step` the position; it goes into an HBox like
    any widget.
    """

    _esm = source("stepper.js")
    _css = source("stepper.css")
    data = traitlets.Dict().tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    answers = traitlets.List().tag(sync=True)
    predict = traitlets.Bool(False).tag(sync=True)
    theme = traitlets.Unicode("auto").tag(sync=True)
    page = traitlets.Unicode(PAGE.replace("%FRAME%", "")).tag(sync=True)
    around = traitlets.Int(0).tag(sync=True)  # of a long pass, the number of the node that is to be shown

    def __init__(
        self, data: dict[str, Any], text: str = "", portable: bool = False, whole: Recording | None = None
    ) -> None:
        super().__init__(data=data, predict=bool(data.get("predict")), step=data.get("at", 0))
        self.text, self.portable, self.whole = text, portable, whole

    @traitlets.observe("around")  # type: ignore[untyped-decorator]
    def _show_another_part(self, change: Any) -> None:
        if self.whole is not None and 0 < change["new"] <= len(self.whole.steps):
            data, self.text = dress(self.whole, change["new"] - 1)
            self.data = {**data, "predict": self.predict}

    def svg(self) -> str:
        """The still picture of the graph as an SVG document."""
        return picture(self.data)

    def save_svg(self, path: str | os.PathLike[str]) -> None:
        """Write the still picture to a file."""
        Path(path).write_text(self.svg(), encoding="utf-8")

    def save_html(self, path: str | os.PathLike[str]) -> None:
        """Write the stepper as a page of its own: it needs no kernel and no network."""
        Path(path).write_text(page(self.data), encoding="utf-8")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle: dict[str, Any] = {"text/html": saved_html(self.data), "text/plain": self.text}
        if self.portable:
            return bundle
        live = super()._repr_mimebundle_(**kwargs)
        live = live[0] if isinstance(live, tuple) else live
        if live and MIME in live:
            bundle[MIME] = live[MIME]
        return bundle
