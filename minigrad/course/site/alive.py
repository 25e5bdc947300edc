"""What moves on a page: the recordings behind the steppers, and the pictures behind the sliders.

A stored notebook holds pictures and text. A stepper needs its recording and a slider its pictures, so the cells of a
lesson are run once, in order, up to the last of them that gives either; all other outputs come from the notebook.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import html
import io
import linecache
import os
import re
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from minigrad.course.notebooks import CellFailed, Notebook

if TYPE_CHECKING:
    from minigrad.viz.live import Slider, Sliders

__all__ = ["Control", "Frames", "Picture", "run", "small"]

CALLS = re.compile(r"step|draw|film|with_sliders|\w+_slider|where_it_looks")
ALONE, EACH = 9, 7  # positions of a slider that is alone, and of each of several
LARGE = 24_000  # bytes of a picture: several sliders have five positions each then, or the site would be too large


@dataclass(frozen=True)
class Picture:
    """A picture as WebP, and what it shows in words."""

    image: bytes
    alt: str


@dataclass(frozen=True)
class Control:
    """A slider: its name, the values at its positions as text, and the position at the start."""

    name: str
    values: tuple[str, ...]
    start: int


@dataclass(frozen=True)
class Frames:
    """Pictures for every combination of the controls' positions, those of the last control in a row."""

    controls: tuple[Control, ...]
    pictures: tuple[Picture, ...]
    play: bool = False


Moving = dict[str, Any] | Frames | str


def run(nb: Notebook, slug: str, folder: Path) -> dict[str, Moving]:
    """The recordings (the JSON value of a stepper), Frames, and HTML that moves by itself, by the ids of a lesson's cells,
    which run in this process, in `folder`; CellFailed for one that fails and has no error stored."""
    cells = [cell for cell in nb["cells"] if cell["cell_type"] == "code"]
    last = max((place for place, cell in enumerate(cells) if lively(cell["source"])), default=-1)
    space: dict[str, Any] = {"__name__": "__main__"}
    found: dict[str, Moving] = {}
    with contextlib.chdir(folder), mock.patch.dict(os.environ, {"MINIGRAD_DISPLAY": "page", "MINIGRAD_CHECK": "raise"}):
        for place, cell in enumerate(cells[: last + 1]):
            expected = any(output["output_type"] == "error" for output in cell["outputs"])
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    value = value_of(cell["source"], f"<{slug}, code cell {place}>", space)
            except Exception as error:
                if expected:
                    continue
                raise CellFailed(f"{slug}, code cell {place}: {type(error).__name__}: {error}") from error
            living = moving(value) if lively(cell["source"]) else None
            if living is not None:
                found[cell["id"]] = living
    return found


def lively(source: str) -> bool:
    """Whether a cell ends in a call whose result can move."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return False
    if not body or not isinstance(body[-1], ast.Expr) or not isinstance(body[-1].value, ast.Call):
        return False
    function = body[-1].value.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return bool(CALLS.fullmatch(name))


def value_of(source: str, file: str, space: dict[str, Any]) -> Any:
    """Run a cell, and give the value of its last expression; its lines can be quoted under the name `file`."""
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    tree = ast.parse(source, file)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        exec(compile(tree, file, "exec"), space)
        return None
    tree.body.pop()
    exec(compile(tree, file, "exec"), space)
    return eval(compile(ast.Expression(last.value), file, "eval"), space)


def moving(value: Any) -> Moving | None:
    """The recording of a stepper, the frames of a slider or a film, or letters to move over; None for a still picture."""
    from minigrad.course.checks.looking import Looking
    from minigrad.viz.live import Film, Sliders
    from minigrad.viz.stepper import Framed

    if isinstance(value, Framed):
        data: dict[str, Any] = value.data
        return data
    if isinstance(value, Looking):
        return value.moving()
    if isinstance(value, Film):
        control = Control(value.slider.label, tuple(value.slider.texts), value.slider.start)
        return Frames((control,), tuple(map(seen, value.pictures)), play=True)
    return slides(value) if isinstance(value, Sliders) else None


def slides(live: Sliders) -> Frames:
    """The frames of `plots.with_sliders`: what it draws at some places of each slider."""
    knobs = live.sliders.values()
    several = min(EACH, 5) if len(seen(live.first[0]).image) > LARGE else EACH
    chosen = [places(knob, ALONE if len(knobs) == 1 else several) for knob in knobs]
    pictures = []
    for taken in product(*chosen):
        values = [knob.values[place] for knob, place in zip(knobs, taken, strict=True)]
        pictures.append(seen(live.draw(**dict(zip(live.sliders, values, strict=True)))[0]))
    controls = [
        Control(knob.label, tuple(knob.texts[place] for place in taken), taken.index(knob.start))
        for knob, taken in zip(knobs, chosen, strict=True)
    ]
    return Frames(tuple(controls), tuple(pictures))


def places(knob: Slider, count: int) -> list[int]:
    """So many places of a slider, its start among them, at about equal distances."""
    steps = len(knob.values) - 1
    count = min(count, steps + 1)
    found = [round(i * steps / (count - 1)) for i in range(count)]
    found[min(range(count), key=lambda i: abs(found[i] - knob.start))] = knob.start
    return found


def seen(markup: str) -> Picture:
    """The picture of an `<img>` with its data."""
    found = re.search(r'<img alt="([^"]*)" src="data:image/png;base64,([^"]+)"', markup)
    assert found is not None
    return Picture(small(base64.b64decode(found[2])), html.unescape(found[1]))


def small(png: bytes) -> bytes:
    """The same pixels as WebP, in about a third of the bytes."""
    from PIL import Image

    sink = io.BytesIO()
    Image.open(io.BytesIO(png)).save(sink, format="webp", lossless=True, method=2)
    return sink.getvalue()
