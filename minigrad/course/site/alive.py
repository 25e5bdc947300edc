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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from minigrad.course.notebooks import CellFailed, Notebook

__all__ = ["Control", "Frames", "Picture", "run", "small"]

CALLS = re.compile(r"step|draw|film|with_sliders|\w+_slider")
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


def run(nb: Notebook, slug: str, folder: Path) -> dict[str, dict[str, Any] | Frames]:
    """The recordings (the JSON value of a stepper), and Frames, of a lesson's cells by the cells' ids.

    The code runs in this process, in `folder`. Raises CellFailed when a cell fails that has no error stored.
    """
    cells = [cell for cell in nb["cells"] if cell["cell_type"] == "code"]
    last = max((place for place, cell in enumerate(cells) if lively(cell["source"])), default=-1)
    space: dict[str, Any] = {"__name__": "__main__"}
    found: dict[str, dict[str, Any] | Frames] = {}
    with contextlib.chdir(folder), environment({"MINIGRAD_DISPLAY": "page", "MINIGRAD_CHECK": "raise"}):
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


@contextlib.contextmanager
def environment(wanted: Mapping[str, str]) -> Iterator[None]:
    """Sets variables of the environment, and puts the earlier ones back."""
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


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


def moving(value: Any) -> dict[str, Any] | Frames | None:
    """The recording of a stepper, the frames of a slider or a film; None for a picture that stands still."""
    from minigrad.viz.live import Live
    from minigrad.viz.stepper import Framed

    if isinstance(value, Framed):
        data: dict[str, Any] = value.data
        return data
    if isinstance(value, Live):
        return film(value) if "minigrad-film" in value._dom_classes else slides(value)
    return None


def film(live: Any) -> Frames:
    """The frames of `plots.film`."""
    (_, knob), stack = live.children[0].children, live.children[1]
    control = Control(knob.description, tuple(map(str, knob.options)), 0)
    return Frames((control,), tuple(seen(each.value) for each in stack.children), play=True)


def slides(live: Any) -> Frames:
    """The frames of `plots.with_sliders`: each slider is moved, and the picture that follows is taken."""
    knobs = [child for child in live.children if hasattr(child, "min")]
    picture = next(child for child in live.children if "<img" in str(getattr(child, "value", "")))
    several = min(EACH, 5) if len(seen(picture.value).image) > LARGE else EACH
    places = [positions(knob, ALONE if len(knobs) == 1 else several) for knob in knobs]
    starts = [chosen.index(knob.value) for knob, chosen in zip(knobs, places, strict=True)]
    pictures = []
    for combination in product(*places):
        for knob, value in zip(knobs, combination, strict=True):
            knob.value = value
        pictures.append(seen(picture.value))
    controls = [
        Control(knob.description, tuple(format(value, knob.readout_format) for value in chosen), start)
        for knob, chosen, start in zip(knobs, places, starts, strict=True)
    ]
    return Frames(tuple(controls), tuple(pictures))


def positions(knob: Any, count: int) -> list[Any]:
    """So many values of a slider, its present one among them, at about equal distances."""
    steps = round((knob.max - knob.min) / knob.step)
    count = min(count, steps + 1)
    places = [round(i * steps / (count - 1)) for i in range(count)]
    values = []
    for place in places:
        value = knob.min + place * knob.step
        values.append(knob.base**value if hasattr(knob, "base") else type(knob.value)(round(value, 9)))
    near = min(range(count), key=lambda i: abs(values[i] - knob.value))
    values[near] = knob.value
    return values


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
