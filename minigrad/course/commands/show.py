"""`minigrad show 03`: what the student's engine can do after a lesson, as one page to send to a friend.

The training runs on `my_engine.py` of the course, or on the solutions' engine where there is no such file, and the page says
which. The page needs no network: data/show holds its frame, its style and the script that computes with the trained weights.
All refusals are ValueErrors.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import csv
import io
import itertools
import json
import math
import random
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad.course import notebooks
from minigrad.course.checks import own_engine, progress_store
from minigrad.course.commands import lookup

__all__ = ["SHOWN", "show"]

DATA = Path(__file__).parents[1] / "data"
NEEDS = {  # the parts of the engine with which a page is made
    "03": "3.0 3.1 3.2 3.3 3.4 3.5 3.6",
    "06": "3.0 3.4 3.6 5.4 5.5 6.1 6.3",
    "12": "3.0 3.4 3.6 5.4 5.5 6.1 7.1 10.1 11.1 11.2",
    "14": "3.0 3.4 3.6 5.4 5.5 6.1 7.1 10.1 11.1 11.2",
}
SECONDS = 20  # how long a training may take
FEWEST, MOST = 4, 200  # points: each costs about 1.6 ms in each step of lesson 03's engine
PIXELS = 80_000_000
TILE = 16  # pixels of a tile's side, in a photo that is made small
SIZE = 2_000_000
Bar = Callable[[range, int], Iterator[int]]
Facts = dict[str, Any]


@dataclass(frozen=True)
class Engine:
    """An engine that is ready to train: what it defines, its text, and the name that errors have for it."""

    made: SimpleNamespace
    text: str
    name: str
    whose: str


def show(lesson: str, points: Path | None, photo: Path | None, bar: Bar) -> tuple[Path, int]:
    """Train, and write the page of a lesson into the working directory; the file, which is a new one, and its size."""
    import jinja2

    source: Any = {"03": points and read_points(points), "06": photo and read_photo(photo)}.get(lesson)
    engine = load(lesson)
    with blamed(engine):
        facts = SHOWN[lesson](engine, source, bar)
    facts["data"]["losses"] = finite(facts["data"]["losses"])
    room = jinja2.Environment(loader=jinja2.FileSystemLoader(DATA / "show"), autoescape=True, undefined=jinja2.StrictUndefined)
    lines = len(engine.text.splitlines())
    page = room.get_template("page.html").render(lesson=lesson, whose=engine.whose, lines=lines, listing=engine.text, **facts)
    if len(page.encode()) > SIZE:
        raise ValueError(f"the page would have {len(page.encode()) / 1e6:.1f} MB, and {SIZE / 1e6:.0f} MB are the most")
    for number in itertools.count(1):
        file = Path(f"minigrad-{lesson}{f'-{number}' if number > 1 else ''}.html")
        with contextlib.suppress(FileExistsError), file.open("x", encoding="utf-8") as target:
            target.write(page)
            break
    return file, len(page.encode())


# The engine ----------------------------------------------------------------------------------------------


def load(lesson: str) -> Engine:
    """The student's engine, else the solutions'. ValueError for one that does not run or lacks a part."""
    file = (lookup.course() or progress_store.folder()) / own_engine.FILE
    needed, whose = NEEDS[lesson].split(), "the engine of the course minigrad"
    if not file.exists():
        text, name = own_engine.reference(int(lesson) + 1), f"{own_engine.FILE} of the solutions"
    else:
        try:
            text, name = file.read_text(encoding="utf-8-sig"), str(file)
            there = own_engine.parts_in(text, own_engine.given())
        except UnicodeDecodeError:
            raise ValueError(f"{file} is no text in UTF-8") from None
        except own_engine.Unkept as error:
            raise ValueError(str(error).partition(". Mend")[0]) from None
        if lacking := [id for id in needed if id not in there]:
            raise ValueError(f"{file} lacks {', '.join(lacking)}: solve and keep them, or fill them in by "
                             f"`minigrad engine --upto {lesson}`")  # fmt: skip
        given = text.count(own_engine.REFERENCE)
        whose = "an engine that I wrote myself"
        if given:
            whose = f"an engine that I wrote, but for {given} of its {len(there)} parts, which are the course's"
    names: dict[str, Any] = {"__name__": Path(own_engine.FILE).stem}
    engine = Engine(SimpleNamespace(), text, name, whose)
    with blamed(engine):
        exec(compile(text, name, "exec"), names)
    vars(engine.made).update(names)
    return engine


@contextlib.contextmanager
def blamed(engine: Engine) -> Iterator[None]:
    """What a student's engine raises becomes a sentence with its line."""
    try:
        with np.errstate(all="ignore"):
            yield
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == engine.name]
        where = f" in line {lines[-1]}" if lines else ""
        raise ValueError(f"{engine.name} fails{where} ({type(error).__name__}: {error})") from None


def steps(count: int, bar: Bar) -> Iterator[int]:
    """The numbers of the steps, with a count in the terminal, until the time is over."""
    began = time.monotonic()
    for n in bar(range(count), count):
        if time.monotonic() - began > SECONDS:
            return
        yield n


def finite(losses: list[float]) -> list[float]:
    """The losses, rounded for a page. ValueError where one is no number."""
    bad = next((n for n, loss in enumerate(losses, 1) if not math.isfinite(loss)), 0)
    if bad:
        raise ValueError(f"the loss of step {bad} is {losses[bad - 1]}, so there is nothing to show")
    return [round(loss, 9) for loss in losses]


def picture(image: Any, kind: str, **options: Any) -> str:
    """A picture as the address of itself."""
    sink = io.BytesIO()
    image.save(sink, kind, **options)
    return f"data:image/{kind};base64,{base64.b64encode(sink.getvalue()).decode()}"


# 03: two classes of points -------------------------------------------------------------------------------


def read_points(file: Path) -> tuple[list[str], np.ndarray[Any, Any], list[int]]:
    """The names of two classes, the points as rows, and the class of each."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as text:
            rows = list(itertools.islice(csv.reader(text), MOST + 2))
    except (UnicodeDecodeError, csv.Error):
        raise ValueError(f"{file} is no table of text with commas") from None
    if not rows or [cell.strip().lower() for cell in rows[0]] != ["x", "y", "class"]:
        raise ValueError(f"the first line of {file} has to be x,y,class")
    points, names = [], []
    for line, row in enumerate(rows[1:], 2):
        if not row:
            continue
        if len(row) != 3:
            raise ValueError(f"line {line} of {file} has {len(row)} columns, and x,y,class are 3")
        points.append([coordinate(cell, line, file) for cell in row[:2]])
        names.append(row[2].strip())
    kinds = sorted(set(names))
    if not FEWEST <= len(points) <= MOST:
        some = f"more than {MOST}" if len(points) > MOST else len(points)
        raise ValueError(f"{file} has {some} points; from {FEWEST} to {MOST} can be shown")
    if len(kinds) != 2:
        raise ValueError(f"the points of {file} belong to {len(kinds)} class{'es' * (len(kinds) > 1)}, and the net tells 2 apart")
    return kinds, np.array(points), [kinds.index(name) for name in names]


def coordinate(cell: str, line: int, file: Path) -> float:
    with contextlib.suppress(ValueError):
        if abs(number := float(cell)) < 1e9:
            return number
    raise ValueError(f"line {line} of {file}: x and y have to be numbers below a thousand million, and {cell[:20]!r} is none")


def two_moons(rng: random.Random) -> tuple[list[str], np.ndarray[Any, Any], list[int]]:
    """The points of lesson 03."""
    points = []
    for i in range(20):
        a, b = math.cos(math.pi * i / 19), math.sin(math.pi * i / 19)
        points += [(x + rng.gauss(0, 0.1), y + rng.gauss(0, 0.1)) for x, y in ((a, b), (1 - a, 0.5 - b))]
    return ["upper moon", "lower moon"], np.array(points), [0, 1] * 20


def moons(engine: Engine, source: Any, bar: Bar) -> Facts:
    """The net of lesson 03 while it learns, and one of its neurons in the stepper."""
    from minigrad.viz.pages import saved_html
    from minigrad.viz.stepper import step

    Value, rng = engine.made.Value, random.Random(3)
    kinds, points, classes = source or two_moons(rng)
    middle, size = points.mean(axis=0), points.std(axis=0)
    middle, size = (middle, np.where(size, size, 1)) if source else (np.zeros(2), np.ones(2))
    inputs = ((points - middle) / size).tolist()
    weights = [[Value(rng.uniform(-1, 1)) for _ in range(n)] for n in [3] * 8 + [9]]
    parameters = [p for each in weights for p in each]

    def neuron(weights: list[Any], inputs: list[Any]) -> Any:
        total = weights[0]
        for w, x in zip(weights[1:], inputs, strict=True):
            total = total + w * x
        return total.tanh()

    def loss() -> Any:
        total = Value(0.0)
        for (x, y), side in zip(inputs, classes, strict=True):
            answer = neuron(weights[-1], [neuron(each, [Value(x), Value(y)]) for each in weights[:-1]])
            miss = answer + Value(1.0 - 2 * side)
            total = total + miss * miss
        return total * Value(1 / len(inputs))

    def frame(step: int) -> Facts:
        return {"step": step, "weights": [[round(float(p.data), 4) for p in each] for each in weights]}

    losses: list[float] = []
    film = [frame(0)]
    for n in steps(100, bar):
        now = loss()
        now.backward()
        engine.made.descend(parameters, 1.0)
        losses.append(float(now.data))
        if n % 5 == 4:
            film.append(frame(n + 1))
    (b, w1, w2), (x, y) = weights[0], map(Value, inputs[0])
    stepper = step((b + w1 * x + w2 * y).tanh(), names={"b": b, "w1": w1, "w2": w2, "x": x, "y": y}, portable=True)
    drawn = {"kinds": kinds, "points": points.tolist(), "classes": classes, "middle": middle.tolist(), "size": size.tolist()}
    return {"own": bool(source), "stepper": saved_html(stepper.data), "data": {**drawn, "film": film, "losses": losses}}


# 06: a scan that is mended -------------------------------------------------------------------------------


def read_photo(file: Path) -> Any:
    """A photo in shades of grey, upright, with sides of at most 900 pixels."""
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib") from None
    with file.open("rb") as bytes:
        try:
            image: Any = Image.open(bytes)
            wide, high = image.size
            if wide * high > PIXELS:
                raise Image.DecompressionBombError
            image.draft("L", (900, 900))
            image = ImageOps.exif_transpose(image.convert("L"))
        except (Image.DecompressionBombError, Image.DecompressionBombWarning):
            raise ValueError(f"{file} is too large: {PIXELS // 10**6} million pixels are the most") from None
        except (OSError, ValueError, SyntaxError):
            raise ValueError(f"{file} is no picture that can be read, such as a jpg or png") from None
    image.thumbnail((900, 900))
    if min(image.size) < 64:
        raise ValueError(f"{file} is too small: 64 pixels a side are the least")
    return image


def scanner(engine: Engine, source: Any, bar: Bar) -> Facts:
    """Contrast and brightness, one of each for each tile, found by descent."""
    from PIL import Image, ImageFilter

    Tensor = engine.made.Tensor
    if source:
        rows, columns = (max(4, round(side / max(source.size) * 16)) for side in source.size[::-1])
        small = source.resize((columns * TILE, rows * TILE), Image.Resampling.BOX)
        light = np.asarray(small, float)
        around = np.asarray(small.filter(ImageFilter.GaussianBlur(TILE)), float)
        ink = light < around - max(8.0, 0.12 * np.ptp(light))
        scan, page = light / 127.5 - 1, np.where(ink, -1.0, 1.0)
        scan, page = (each.reshape(rows, TILE, columns, TILE).swapaxes(1, 2).reshape(-1, TILE**2) for each in (scan, page))
    else:
        with np.load(DATA / "digits.npz") as file:
            page = file["images"][1:4].reshape(3, 64) / 8 - 1
        scan = np.array([[0.4], [0.7], [-0.8]]) * page + np.array([[0.4], [-0.3], [0.2]])
    contrast, brightness = Tensor(np.ones((len(scan), 1))), Tensor(np.zeros((len(scan), 1)))

    def frame(step: int) -> Facts:
        c, b = contrast.data, brightness.data
        if source:
            whole = [Image.fromarray(each.reshape(rows, columns).astype(np.float32)) for each in (c, b)]
            c, b = (np.asarray(each.resize(source.size, Image.Resampling.BILINEAR)) for each in whole)
            shown = c * (np.asarray(source, np.float32) / 127.5 - 1) + b
        else:
            apart = np.pad((c * scan + b).reshape(3, 8, 8), ((0, 0), (1, 1), (1, 1)), constant_values=np.nan)
            shown = np.hstack(list(apart)).repeat(24, 0).repeat(24, 1)
        grey = np.uint8(np.clip(shown * 127.5 + 127.5, 0, 255))
        return {"step": step, "picture": picture(Image.fromarray(grey), "jpeg", quality=60)}

    film, losses = [frame(0)], []
    for n in steps(128, bar):
        miss = contrast * Tensor(scan) + brightness - Tensor(page)
        loss = (miss * miss).mean()
        loss.backward()
        engine.made.descend([contrast, brightness], len(scan) / 3)
        losses.append(float(loss.data))
        if (n + 1) & n == 0:  # 1, 2, 4, 8, ...
            film.append(frame(n + 1))
    return {"own": bool(source), "tiles": len(scan), "data": {"film": film, "losses": losses}}


# 12 and 14: digits ---------------------------------------------------------------------------------------


def digits(engine: Engine, source: Any, bar: Bar) -> Facts:
    """The net of lessons 12 and 14, trained on 1,437 digits; its weights, and twenty losses beside PyTorch's."""
    Tensor = engine.made.Tensor
    with np.load(DATA / "digits.npz") as file:
        images, labels = file["images"], file["labels"].astype(np.int64)
    order, rng = np.random.default_rng(0).permutation(len(images)), np.random.default_rng(0)
    x, y = images[order].reshape(-1, 64) / 16, labels[order]
    first, second = rng.uniform(-1, 1, (64, 32)) / 8, rng.uniform(-1, 1, (32, 10)) / 32**0.5
    parameters = [Tensor(array) for array in (first, np.zeros(32), second, np.zeros(10))]

    def scores(x: np.ndarray[Any, Any]) -> Any:
        W1, b1, W2, b2 = parameters
        return (Tensor(x) @ W1 + b1).relu() @ W2 + b2

    losses: list[float] = []
    batches = range(0, 1437, 32)
    for n in steps(30 * len(batches), bar):
        i = batches[n % len(batches)]
        loss = engine.made.cross_entropy_loss(scores(x[i : min(i + 32, 1437)]), y[i : min(i + 32, 1437)])
        loss.backward()
        engine.made.descend(parameters, 0.5)
        losses.append(float(loss.data))
    read = np.asarray(scores(x[1437:]).data).argmax(axis=1)
    examples = [{"pixels": np.int64(16 * pixels).tolist(), "digit": int(digit)} for pixels, digit in zip(x[1437:1477], y[1437:])]
    weights = [np.round(p.data, 4).tolist() for p in parameters]
    pytorch = twenty_of_pytorch()
    worst = max(abs(mine - theirs) for mine, theirs in zip(losses, pytorch))
    data = {"weights": weights, "examples": examples, "losses": losses, "pytorch": pytorch}
    return {"right": int((read == y[1437:]).sum()), "worst": worst, "own": False, "data": data}


def twenty_of_pytorch() -> list[float]:
    """PyTorch's first twenty losses of this training, as the notebook of lesson 14 has them."""
    solution = notebooks.read(notebooks.path("solutions", "14_capstone"))
    cell = next(cell for cell in notebooks.code_cells(solution) if cell.startswith("pytorch = ["))
    numbers: list[float] = ast.literal_eval(cell.partition("=")[2].strip())
    return numbers


SHOWN: dict[str, Callable[[Engine, Any, Bar], Facts]] = {"03": moons, "06": scanner, "12": digits, "14": digits}
