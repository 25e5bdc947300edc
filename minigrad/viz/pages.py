"""The forms that need no kernel: a page of its own, a frame and a picture for saved notebooks, a plain table.

All of them are pure functions of the stepper's JSON value, the same bytes every time. `script()` joins the ES modules of
js/ into one when they are read: no build step, and one file in a page.
"""

from __future__ import annotations

import base64
import os
import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from ..record.recording import Recording
from .data import as_json, dress
from .engine import rules
from .layout import brief
from .svg import describe, picture

HERE = Path(__file__).parent
PLAYGROUND = ("places", "formula", "playground")  # what a page brings besides that has a field for formulas
MODULES = "tools words engine local numbers state graph help panels beside predict transport inputs main".split()  # noqa: SIM905

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>%TITLE%</title><style>%CSS%</style></head><body class="mg-page"><main id="stepper"></main>
<script type="application/json" id="data">%DATA%</script>
<script type="module">%ESM%
const data = JSON.parse(document.getElementById("data").textContent), read = (id) => document.querySelector(id).textContent;
const asked = /^#step=(\\d+)$/, linked = () => asked.exec(location.hash)?.[1];
const values = { data, predict: data.predict, step: +(linked() ?? data.at ?? 0), css: read("style"), own: true };
values.whole = "<!doctype html>\\n" + document.documentElement.outerHTML;
const note = () => history.replaceState(null, "", "#step=" + values.step);  // slow, so once after several keys
let link;
const model = pageModel(values, (name) => {
  if (name === "step" && !window.frameElement) { clearTimeout(link); link = setTimeout(note, 100); }
});
render({ model, el: document.getElementById("stepper"), signal: new AbortController().signal });
addEventListener("hashchange", () => { if (linked()) model.set("step", +linked()); });
%FRAME%</script></body></html>
"""

FRAME = """
const frame = window.frameElement;
if (frame) {
  for (const e of frame.parentElement.querySelectorAll(":scope > .mg-still")) e.hidden = true;
  const fit = () => { frame.style.height = Math.ceil(document.body.getBoundingClientRect().height) + 2 + "px"; };
  new ResizeObserver(fit).observe(document.getElementById("stepper"));
  fit();
  const kernel = %KERNEL%;
  if (kernel) withKernel(model, ...kernel);
}
"""


# What a page does not need: comments, indentation, spaces beside signs, and what ends the last line of a block. What is quoted
# stays, and so does a regular expression, which stands where a value is expected.
TEXT, INNER = r""" "(?:\\.|[^"\\])*"|'[^'\n]*' """.strip(), r"`(?:\\.|[^`\\])*`"
LONG = rf"`(?:\\.|\$\{{(?:{TEXT}|{INNER}|[^`\"'}}])*\}}|[^`\\])*`"  # a template, and in it perhaps another one
PATTERN = r"(?<=[(,=:!&|?]) ?/(?![/*])(?:\\.|\[(?:\\.|[^]\\])*\]|[^/\\\n])+/"
COMMENT, INDENTATION = r"\s*/\*.*?\*/|\s*//[^\n]*", r"[;,]?\s+(?=[})\]])|(?<=\n)\s+"
SPACES = r"(?<![\w$+-]) +| +(?![\w$+-])|(?<=[\w$]) +(?=[+-])|(?<=[+-]) +(?=[\w$])"  # a - -b keeps one
SPARE = re.compile(rf"({TEXT}|{LONG}|{PATTERN})|{COMMENT}|{INDENTATION}|{SPACES}", re.DOTALL)


def bare(script: str) -> str:
    """JavaScript without what a page does not need; its lines stay lines."""
    return SPARE.sub(lambda found: (found[1] or "").lstrip(), script)


@cache
def script() -> str:
    """The stepper's JavaScript as one module: the files of js/ in order, without imports, exports and spare text.

    What js/rules.js would hold is made here from the derivative table.
    """
    return f"const RULES = {as_json(rules())};\n{joined(*MODULES)}\nexport default {{ render }};\n"


@cache
def playground() -> str:
    """The JavaScript of a page with a field for formulas: it stands in one scope with the stepper's."""
    return joined(*PLAYGROUND)


def joined(*names: str) -> str:
    texts = [bare((HERE / "js" / f"{name}.js").read_text(encoding="utf-8")) for name in names]
    return re.sub(r"^(import\b.*\n|export )", "", "\n".join(texts), flags=re.MULTILINE)


@cache
def style() -> str:
    """The stepper's CSS, without comments."""
    return re.sub(r"\s*/\*.*?\*/", "", (HERE / "stepper.css").read_text(encoding="utf-8"), flags=re.DOTALL)


def page(recording: Recording, title: str = "") -> str:
    """A recording as an HTML page of its own, with the stepper: no network, no kernel, the same bytes every time.

    recording: what `minigrad.record(loss)` gives. title: of the page; by default the name of what was recorded.
    The address may end in `#step=12`, which opens that step.
    """
    return page_of(dress(recording)[0], title)


def page_of(data: dict[str, Any], title: str = "", frame: bool = False, kernel: tuple[str, str] | None = None) -> str:
    """The page of a stepper's JSON value. `frame`: it will stand in a frame of a notebook, and fits its height; `kernel`: the
    names of the page and of the channel by which it asks the kernel that made it.
    """
    inside = {
        "%TITLE%": escape(title or data["title"]),
        "%CSS%": style(),
        "%DATA%": as_json(data).replace("<", "\\u003c"),
        "%ESM%": script(),
        "%FRAME%": joined("kernel") + FRAME.replace("%KERNEL%", as_json(kernel)) if frame else "",
    }
    return re.sub("%[A-Z]+%", lambda mark: inside[mark[0]], PAGE)  # in one go: a name may hold such a mark, too


def table(data: dict[str, Any]) -> str:
    """Every step as a row of a plain table: what an untrusted notebook and a screen reader get."""
    rows = [
        f"<tr><td>forward</td><td>{escape(data['nodes'][move['node']]['name'])}</td><td></td>"
        f"<td>{escape(move['line'])}</td><td>{escape(move['text'])}</td></tr>"
        for move in data.get("forward", ())
    ]
    for k, move in enumerate(data["steps"]):
        node = data["nodes"][move["node"]]["name"]
        to = data["nodes"][move["parent"]]["name"] if "parent" in move else ""
        cells = (str(k), node, to, move.get("rule", move["kind"]), " ".join(move["text"]) + wrong(data, move))
        rows.append("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in cells) + "</tr>")
    head = "".join(f'<th scope="col">{t}</th>' for t in ("step", "from", "to", "rule", "in words"))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def wrong(data: dict[str, Any], move: dict[str, Any]) -> str:
    """What is wrong with a contribution: which was expected, and which was found. Nothing where it agrees."""
    check = move.get("check") or {"verdict": "agrees"}
    if check["verdict"] == "agrees":
        return ""
    said = f" Yours differs here. {check['verdict']}"
    if check["yours"] is None:
        return said
    expected, found = (brief(data["vals"][i], 60) for i in (move["contrib"], check["yours"]))
    return f"{said} Expected {expected}, found {found}."


def image(words: str, kind: str, content: bytes) -> str:
    """An `<img>` that holds its picture, with its words."""
    source = base64.b64encode(content).decode()
    return f'<img alt="{escape(words, quote=True)}" src="data:image/{kind};base64,{source}">'


def still_html(data: dict[str, Any]) -> str:
    """Picture and table: what shows where no script may run."""
    return (
        f'<div class="mg-still">{image(describe(data), "svg+xml", picture(data).encode())}</div>'
        f'<details class="mg-still"><summary>All steps as a table</summary>{table(data)}</details>'
    )


def saved_html(data: dict[str, Any], kernel: tuple[str, str] | None = None) -> str:
    """What a notebook shows: the stepper in a frame, and before it runs the picture and the table."""
    title, inner = escape(f"{data['title']}, stepper", quote=True), escape(page_of(data, "", True, kernel), quote=True)
    return f'{still_html(data)}<iframe title="{title}" srcdoc="{inner}" style="width:100%;height:640px;border:0"></iframe>'


class Forms:
    """What the picture, the page and the widget have in common: they can be printed, and saved as files."""

    data: Any
    text: str
    grads = True

    def svg(self) -> str:
        """The picture as an SVG document."""
        return picture(self.data, self.grads)

    def save_svg(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file."""
        Path(path).write_text(self.svg(), encoding="utf-8")

    def save_html(self, path: str | os.PathLike[str]) -> None:
        """Write the stepper as a page of its own: it needs no kernel and no network."""
        Path(path).write_text(page_of(self.data), encoding="utf-8")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text
