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
import gc
import io
import itertools
import math
import random
import time
import traceback
import warnings
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.course import notebooks
from minigrad.course.checks import looking, own_engine, progress_store
from minigrad.course.commands import lookup

__all__ = ["NEEDS", "show"]

DATA = Path(__file__).parents[1] / "data"
DIGITS = "3.0 3.4 3.6 5.4 5.5 6.1 7.1 10.1 11.1 11.2"
NEEDS = {  # the parts of the engine with which the page of a lesson is made
    "03": "3.0 3.1 3.2 3.3 3.4 3.5 3.6", "06": "3.0 3.4 3.6 5.4 5.5 6.1 6.3", "12": DIGITS, "14": DIGITS,
    "16": f"{DIGITS} 12.1 12.2 16.1 16.2 16.3",
}  # fmt: skip
THEIRS = "the engine of the course minigrad"
SECONDS = 20  # after which a training ends
LONGEST, NAMES = 15, (20, 5000)  # letters of a name; the fewest and the most names
FEWEST, MOST = 4, 200  # points: with lesson 03's engine each costs about a millisecond a step
TILE = 16  # the side of a photo's tile in pixels, when the photo has been made small
SIZE = 2_000_000  # bytes of a page, and letters of a list or a table that are read
Bar = Callable[[range, int], Generator[int, None, None]]
Array = np.ndarray[Any, Any]
Facts = dict[str, Any]


class Unshown(ValueError):
    """Why there is no page, in a sentence for the student."""


def show(lesson: str, data: Path | None, photo: Path | None, bar: Bar) -> str:
    """Train, and write the page of a lesson into the working directory as a new file; what was done, in a sentence."""
    import jinja2
    import matplotlib  # noqa: F401  its extra is named where it is missing, and Pillow comes with it

    source: Any = (read_names if lesson == "16" else read_points)(data) if data else read_photo(photo) if photo else None
    engine = load(lesson, bar)
    with blamed(engine.name):
        facts = {"03": moons, "06": scanner, "12": digits, "14": digits, "16": names}[lesson](engine, source)
    room = jinja2.Environment(loader=jinja2.FileSystemLoader(DATA / "show"), autoescape=True, undefined=jinja2.StrictUndefined)
    page = room.get_template("page.html").render(lesson=lesson, engine=engine, own=source is not None, **facts)
    size = len(page.encode())
    if size > SIZE:
        raise Unshown(f"the page would have {size / 1e6:.1f} MB, and {SIZE / 1e6:.0f} MB are the most")
    for number in itertools.count(1):
        file = Path(f"minigrad-{lesson}{f'-{number}' if number > 1 else ''}.html")
        try:
            if notebooks.create(file, page.encode()):
                break
        except OSError as error:
            raise Unshown(f"{file.absolute()} cannot be written ({error.strerror}); nothing of it is there") from None
    return f"Written: {file} ({size / 1000:.0f} kB), trained by {engine.name}. Open it in a browser, or send it to a friend."


# The engine ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Engine:
    """An engine that is ready to train: what it defines, its text, its name in messages, and in words whose it is."""

    made: Facts
    text: str
    name: str
    whose: str
    bar: Bar

    def train(
        self, steps: int, loss: Callable[[int], Any], parameters: Sequence[Any], rate: float,
        frame: Callable[[], Facts] = dict, at: Collection[int] = (),
    ) -> tuple[list[float], list[Facts]]:  # fmt: skip
        """The losses of a training, and what `frame` gives after the steps `at`; it may end before all steps."""
        gc.freeze()  # the collector need not look at what is there before: twice as fast with lesson 03's engine
        began, losses, film = time.monotonic(), [], [{"step": 0, **frame()}]
        with contextlib.closing(self.bar(range(steps), steps)) as count:
            for n in count:
                now = loss(n)
                now.backward()
                self.made["descend"](parameters, rate)
                losses.append(float(now.data))
                if not math.isfinite(losses[-1]):
                    raise Unshown(f"the loss of step {n + 1} is {losses[-1]}, so there is nothing to show")
                over = time.monotonic() - began > SECONDS
                if over or n + 1 in at or n + 1 == steps:
                    film.append({"step": n + 1, **frame()})
                if over:
                    break
        return losses, film


def load(lesson: str, bar: Bar) -> Engine:
    """The student's engine, else the solutions'. Raises `Unshown` for one that does not run or lacks a part."""
    here = progress_store.folder()
    file = (here if (here / own_engine.FILE).exists() else lookup.course(here) or here) / own_engine.FILE
    text, name, whose = own_engine.reference(int(lesson) + 1), f"the solutions' engine (there is no {file} yet)", THEIRS
    if file.exists():
        text, name = own_engine.text_of(file), str(file)
        there = own_engine.parts_in(text)
        if gone := [part for part in NEEDS[lesson].split() if part not in there]:
            raise Unshown(f"{file} lacks {own_engine.listed(gone)}. Solve and keep this, or get it from the solutions by "
                          f"`minigrad engine --upto {own_engine.given()[gone[-1]].lesson + 1:02d}`.")  # fmt: skip
        parts = [part for part in there if own_engine.given()[part].names]
        if mine := len(parts) - len(own_engine.from_reference(text)):
            whose = f"an engine of which I wrote {mine} of the {len(parts)} parts"
            whose = whose if mine < len(parts) else "an engine that I wrote myself"
    made: Facts = {"__name__": Path(own_engine.FILE).stem}
    with blamed(name):
        exec(compile(text, name, "exec"), made)
    return Engine(made, text, name, whose, bar)


@contextlib.contextmanager
def blamed(name: str) -> Iterator[None]:
    """What an engine raises becomes a sentence with its line."""
    try:
        with np.errstate(all="ignore"):
            yield
    except Unshown:
        raise
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
        where = f" in line {lines[-1]}" if lines else ""
        raise Unshown(f"{name} fails{where} ({type(error).__name__}: {' '.join(str(error).split())})") from None


# 03: two classes of points -------------------------------------------------------------------------------


def read_points(file: Path) -> tuple[list[str], Array, list[int]]:
    """The names of two classes, the points as rows, and the class of each."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as text:
            rows = list(itertools.islice(csv.reader(io.StringIO(text.read(SIZE), newline="")), MOST + 2))
    except (UnicodeDecodeError, csv.Error):
        raise Unshown(f"{file} is no table, which is a text with commas") from None
    if not rows or [cell.strip().lower() for cell in rows[0]] != ["x", "y", "class"]:
        raise Unshown(f"the first line of {file} has to be x,y,class")
    points, names = [], []
    for line, row in enumerate(rows[1:], 2):
        try:
            if row:
                x, y, name = row
                points.append([float(x), float(y)])
                names.append(name.strip())
        except ValueError:
            raise Unshown(f"line {line} of {file} has to be two numbers and a class, such as 1.5,0.2,blue") from None
    if not FEWEST <= len(points) <= MOST:
        some = f"more than {MOST}" if len(points) > MOST else len(points)
        raise Unshown(f"{file} has {some} points; from {FEWEST} to {MOST} can be shown")
    if not (np.abs(points) < 1e9).all():
        raise Unshown(f"{file} has a coordinate that is no number below a thousand million")
    kinds = sorted(set(names))
    if len(kinds) != 2:
        raise Unshown(f"the points of {file} belong to {len(kinds)} class{'es' * (len(kinds) > 1)}; the net tells 2 apart")
    return kinds, np.array(points), [kinds.index(name) for name in names]


def two_moons(rng: random.Random) -> tuple[list[str], Array, list[int]]:
    """The points of lesson 03."""
    points = []
    for i in range(20):
        a, b = math.cos(math.pi * i / 19), math.sin(math.pi * i / 19)
        points += [(x + rng.gauss(0, 0.1), y + rng.gauss(0, 0.1)) for x, y in ((a, b), (1 - a, 0.5 - b))]
    return ["upper moon", "lower moon"], np.array(points), [0, 1] * 20


def moons(engine: Engine, source: Any) -> Facts:
    """The net of lesson 03 while it learns, and one of its neurons in the stepper."""
    from minigrad.viz.pages import saved_html
    from minigrad.viz.stepper import step

    Value, rng = engine.made["Value"], random.Random(3)
    kinds, points, classes = source or two_moons(rng)
    middle, size = (points.mean(axis=0), points.std(axis=0)) if source else (np.zeros(2), np.ones(2))
    size = np.where(size, size, 1)
    inputs = ((points - middle) / size).tolist()
    weights = [[Value(rng.uniform(-1, 1)) for _ in range(n)] for n in [3] * 8 + [9]]

    def neuron(weights: Sequence[Any], inputs: Sequence[Any]) -> Any:
        total = weights[0]
        for w, x in zip(weights[1:], inputs, strict=True):
            total = total + w * x
        return total.tanh()

    def loss(_: int) -> Any:
        total = Value(0.0)
        for (x, y), side in zip(inputs, classes, strict=True):
            answer = neuron(weights[-1], [neuron(each, [Value(x), Value(y)]) for each in weights[:-1]])
            miss = answer + Value(1.0 - 2 * side)
            total = total + miss * miss
        return total * Value(1 / len(inputs))

    def frame() -> Facts:
        return {"weights": [[round(float(p.data), 4) for p in each] for each in weights]}

    losses, film = engine.train(100, loss, [p for each in weights for p in each], 1.0, frame, range(0, 100, 5))
    x, y = map(Value, inputs[0])
    b, w1, w2 = min(weights[:-1], key=lambda each: abs(neuron(each, [x, y]).data))  # where tanh is steep, more comes back
    answer = neuron([b, w1, w2], [x, y])
    stepper = step(answer, names={"b": b, "w1": w1, "w2": w2, "x": x, "y": y, "answer": answer}, portable=True)
    drawn = {"kinds": kinds, "points": points.tolist(), "classes": classes, "middle": middle.tolist(), "size": size.tolist()}
    return {"stepper": saved_html(stepper.data), "data": {**drawn, "film": film, "losses": losses}}


# 06: a scan that is mended -------------------------------------------------------------------------------


def read_photo(file: Path) -> Any:
    """A photo in shades of grey, upright, with sides of at most 900 pixels."""
    from PIL import Image, ImageOps

    bomb = Image.DecompressionBombWarning
    with file.open("rb") as content, warnings.catch_warnings(action="error", category=bomb):
        try:
            image: Any = Image.open(content)
            image.draft("L", (900, 900))
            image = ImageOps.exif_transpose(image.convert("L"))
        except (Image.DecompressionBombError, bomb):
            raise Unshown(f"{file} is too large: 89 million pixels are the most") from None
        except (OSError, ValueError, SyntaxError):
            raise Unshown(f"{file} is no picture that can be read, such as a jpg or png") from None
    image.thumbnail((900, 900))
    if min(image.size) < 64:
        raise Unshown(f"{file} is too small: 64 pixels a side are the least")
    return image


def scanner(engine: Engine, source: Any) -> Facts:
    """Contrast and brightness, one of each for each tile, found by descent."""
    from PIL import Image, ImageFilter

    Tensor, rows, columns = engine.made["Tensor"], 1, 3
    if source:
        rows, columns = (max(2, round(16 * side / max(source.size))) for side in source.size[::-1])
        small = source.resize((columns * TILE, rows * TILE), Image.Resampling.BOX)
        light, around = (np.asarray(each, float) for each in (small, small.filter(ImageFilter.GaussianBlur(TILE))))
        both = np.stack([light / 127.5 - 1, np.where(light < 0.88 * around, -1.0, 1.0)])  # the photo, and paper or ink
        if both[1].min() > 0:
            raise Unshown("the photo shows no writing: no pixel is much darker than its surroundings")
        scan, page = both.reshape(2, rows, TILE, columns, TILE).swapaxes(2, 3).reshape(2, -1, TILE**2)
    else:
        with np.load(DATA / "digits.npz") as file:
            page = file["images"][1:4].reshape(3, 64) / 8 - 1
        scan = np.array([[0.4], [0.7], [-0.8]]) * page + np.array([[0.4], [-0.3], [0.2]])
    contrast, brightness = Tensor(np.ones((len(scan), 1))), Tensor(np.zeros((len(scan), 1)))

    def loss(_: int) -> Any:
        miss = contrast * Tensor(scan) + brightness - Tensor(page)
        return (miss * miss).mean()

    def frame() -> Facts:
        c, b = contrast.data, brightness.data
        if source:
            whole = [Image.fromarray(each.reshape(rows, columns).astype(np.float32)) for each in (c, b)]
            c, b = (np.asarray(each.resize(source.size, Image.Resampling.BILINEAR)) for each in whole)
            shown = c * (np.asarray(source, np.float32) / 127.5 - 1) + b
        else:
            apart = np.pad((c * scan + b).reshape(3, 8, 8), ((0, 0), (1, 1), (1, 1)), constant_values=-1)
            shown = np.hstack(list(apart)).repeat(24, 0).repeat(24, 1)
        Image.fromarray(np.uint8(np.clip(127.5 * shown + 127.5, 0, 255))).save(sink := io.BytesIO(), "jpeg", quality=60)
        return {"picture": f"data:image/jpeg;base64,{base64.b64encode(sink.getvalue()).decode()}"}

    steps, rate = 1024 if source else 128, len(scan) / 3  # the mean is over all tiles: lesson 06's rate is 1 for three
    losses, film = engine.train(steps, loss, [contrast, brightness], rate, frame, [2**n for n in range(10)])
    return {"tiles": len(scan), "data": {"film": film, "losses": losses}}


# 12 and 14: digits ---------------------------------------------------------------------------------------


def digits(engine: Engine, source: Any) -> Facts:
    """The net of lesson 14, trained on 1,437 digits: its weights, and its first losses beside PyTorch's."""
    Tensor = engine.made["Tensor"]
    with np.load(DATA / "digits.npz") as file:
        images, labels = file["images"], file["labels"].astype(np.int64)
    order, rng = np.random.default_rng(0).permutation(len(images)), np.random.default_rng(0)
    x, y = images[order].reshape(-1, 64) / 16, labels[order]
    first, second = rng.uniform(-1, 1, (64, 32)) / 8, rng.uniform(-1, 1, (32, 10)) / 32**0.5
    parameters = W1, b1, W2, b2 = [Tensor(array) for array in (first, np.zeros(32), second, np.zeros(10))]

    def scores(x: Array) -> Any:
        return (Tensor(x) @ W1 + b1).relu() @ W2 + b2

    def loss(n: int) -> Any:
        batch = slice(n % 45 * 32, min(n % 45 * 32 + 32, 1437))
        return engine.made["cross_entropy_loss"](scores(x[batch]), y[batch])

    losses, _ = engine.train(30 * 45, loss, parameters, 0.5)
    read = np.asarray(scores(x[1437:]).data).argmax(axis=1)
    examples = [{"pixels": (16 * x[i]).tolist(), "digit": int(y[i])} for i in range(1437, 1477)]
    data = {"weights": [np.round(p.data, 4).tolist() for p in parameters], "examples": examples, "losses": losses}
    data["pytorch"] = twenty_of_pytorch()
    worst = max(abs(mine - theirs) for mine, theirs in zip(losses, data["pytorch"]))
    return {"right": int((read == y[1437:]).sum()), "worst": worst, "places": int(-math.log10(worst)), "data": data}


def twenty_of_pytorch() -> list[float]:
    """PyTorch's first twenty losses of this training, as the notebook of lesson 14 has them."""
    cells = notebooks.code_cells(notebooks.read(notebooks.path("solutions", "14_capstone")))
    cell = next(cell for cell in cells if cell.startswith("pytorch = ["))
    numbers: list[float] = ast.literal_eval(cell.partition("=")[2].strip())
    return numbers


# 16: names -----------------------------------------------------------------------------------------------


def read_names(file: Path) -> list[str]:
    """The names of a list, one in each line, in small letters."""
    try:
        with file.open(encoding="utf-8-sig") as text:
            lines = [line.strip().lower() for line in text.read(SIZE).split("\n")]
    except UnicodeDecodeError:
        raise Unshown(f"{file} is no text in UTF-8 with a name in each line") from None
    for number, name in enumerate(lines, 1):
        if len(name) > LONGEST:
            raise Unshown(f"the name in line {number} of {file} has {len(name)} letters; {LONGEST} are the most")
        if "." in name or not name.isprintable():
            raise Unshown(f"the name in line {number} of {file} has a dot, or a character that cannot be shown")
    found = sorted({*lines} - {""})
    if not NAMES[0] <= len(found) <= NAMES[1]:
        raise Unshown(f"{file} has {len(found)} different names; from {NAMES[0]} to {NAMES[1]:,} can be learned")
    return found


def names(engine: Engine, source: Any) -> Facts:
    """The model of lesson 16: names that it invents, and where it looks."""
    made, rng = engine.made, np.random.default_rng(0)
    known = source or (DATA / "names.txt").read_text(encoding="utf-8").split()
    letters, steps = "." + "".join(sorted({*"".join(known)})), 1000
    Tensor, linear = made["Tensor"], made["Linear"]
    letter, place, *W = (Tensor(rng.normal(size=(n, 32)) / n**0.5) for n in (len(letters), LONGEST + 1, 32, 32, 32))
    net = made["Sequential"](linear(32, 64, rng), made["Relu"](), linear(64, len(letters), rng))
    optimizer = made["SGD"]([letter, place, *W, *net.parameters()], lr=0.3, momentum=0.9)

    def rows(some: Sequence[str]) -> list[Array]:
        """Letters, the letters that follow, places, and numbers of the names, as one long text."""
        codes = [[letters.index(each) for each in f".{name}."] for name in some]
        parts = [(c[i], c[i + 1], i, n) for n, c in enumerate(codes) for i in range(len(c) - 1)]
        return list(np.array(parts).T)

    def seen(some: Sequence[str]) -> tuple[Array, list[Any], Any]:
        """What follows each letter; queries, keys and values; the scores."""
        x, y, places, which = rows(some)
        h = letter[x] + place[places]
        q, k, v = (h @ each for each in W)
        return y, [q, k, made["causal"](which)], net(h + made["attention"](q, k, v, made["causal"](which)))

    def loss(n: int) -> Any:
        optimizer.lr = 0.3 * (1 - n / steps)
        y, _, scores = seen([known[i] for i in rng.integers(len(known), size=16)])
        return made["cross_entropy_loss"](scores, y)

    def descend(*_: Any) -> None:
        optimizer.step()
        optimizer.zero_grad()

    def invent() -> str:
        name = ""
        while len(name) < LONGEST:
            z = seen([name])[2].data[-1]
            p = np.exp(z - z.max())
            code = int(rng.choice(len(letters), p=p / p.sum()))
            if not code:
                break
            name += letters[code]
        return name

    losses, _ = replace(engine, made={**made, "descend": descend}).train(steps, loss, [], 0.3)
    invented = [name for name in (invent() for _ in range(60)) if name][:40]
    looks = []
    for n, name in enumerate(sorted({*invented} - {*known}, key=len)[-4:]):
        q, k, allowed = seen([name])[1]
        looks.append(looking.grid(name, made["attention_weights"](q.data, k.data, allowed), n))
    shown = [(name, name in known) for name in invented]
    return {"invented": shown, "looks": looking.STYLE + "".join(looks), "count": len(known), "data": {"losses": losses}}
