"""`keep`: a solved function goes into the student's own engine, and nothing that stands there is ever lost."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import nbclient
import nbformat
import numpy as np
import pytest

from minigrad.course import notebooks
from minigrad.course.checks import own_engine
from minigrad.course.checks.own_engine import FILE, Unkept, given, keep, reference
from minigrad.course.commands import cli, terminal
from minigrad.viz import step

PARTS = given()
MATMUL = "def matmul_backward(G, X, W):\n    # each has the shape of its own\n    return G @ W.T, X.T @ G"
ORDER = "def topological_order(root):\n    return [*map(topological_order, root.parents), root]"
OTHER = MATMUL.replace("return G @ W.T, X.T @ G", "dX = G @ W.T\n    return dX, X.T @ G")


def kept(folder: Path) -> str:
    return (folder / FILE).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_solutions_kept_one_after_another_train_the_digits(tmp_path: Path) -> None:
    """As a student would, from 03 to 12: it agrees with PyTorch's losses, reads the digits, and the stepper walks it."""
    for part in PARTS.values():
        cells = own_engine.solved(part)
        assert keep(part, cells, tmp_path, "a title").lines, part.id
        assert not keep(part, cells, tmp_path, "a title").lines, "a second time nothing changes"
    text = kept(tmp_path)
    assert len(text.splitlines()) <= 420 and own_engine.parts_in(text) == [*PARTS]
    space: dict[str, object] = {"__name__": "my_engine"}
    exec(text, space)
    exec("x = Tensor([4.0, 5.0])\n((1 - x) * (np.array([3.0, 7.0]) / x)).sum().backward()", space)
    assert np.allclose(space["x"].grad, [-3 / 16, -7 / 25], rtol=1e-12), "(1 - x) * c / x has the derivative -c / x**2"
    exec(TRAIN, space)
    assert np.abs(np.array(space["losses"]) - space["pytorch"]).max() < 1e-9
    assert space["right"] >= 0.93
    exec("x, w = Tensor([[3.0, 4.0]]), Tensor([[1.0], [2.0]])\nloss = mse_loss(x @ w, [[0.0]])", space)
    walked = str(step(space["loss"], names={name: space[name] for name in ("x", "w", "loss")}, display="static"))
    assert "xᵀ @ g = [[66], [88]]; w has [[66], [88]] (1 of 1)" in walked and "differs" not in walked


@pytest.mark.slow
def test_parts_that_come_late_stand_where_they_are_needed(tmp_path: Path) -> None:
    """Who skipped lessons fills the gaps afterwards: first the odd ones, then the even ones."""
    for odd in (1, 0):
        for part in PARTS.values():
            if part.lesson % 2 == odd:
                keep(part, own_engine.solved(part), tmp_path, "t")
    space: dict[str, object] = {"__name__": "my_engine"}
    exec(kept(tmp_path), space)
    exec("w = Tensor([[1.0], [2.0]])\nTensor([[3.0, 4.0]]).__matmul__(w).sum().backward()", space)
    assert np.array_equal(space["w"].grad, [[3.0], [4.0]])


TRAIN = """
from importlib.resources import files
with np.load(files("minigrad.course") / "data" / "digits.npz") as file:
    images, labels = file["images"], file["labels"].astype(np.int64)
order = np.random.default_rng(0).permutation(len(images))
x, y = images[order].reshape(-1, 64) / 16, labels[order]

def new():
    rng = np.random.default_rng(0)
    return Sequential(Linear(64, 32, rng), Relu(), Linear(32, 10, rng))

def train(net, x, y, epochs):
    optimizer, losses = SGD(net.parameters(), lr=0.5), []
    for i in list(range(0, len(x), 32)) * epochs:
        loss = cross_entropy_loss(net(Tensor(x[i : i + 32])), y[i : i + 32])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.data))
    return losses

losses = train(new(), x[:640], y[:640], 1)
pytorch = np.array([2.30925348, 2.326766128, 2.274617777, 2.265726122, 2.241954464, 2.15766178, 2.186136624, 2.14557278,
    2.123848156, 2.00340798, 2.102516194, 2.022826088, 2.049189097, 1.967054171, 1.94392382, 1.872580093, 1.844960978,
    1.809055471, 1.759678783, 1.571027042])  # as in the notebook of 14.6
net = new()
train(net, x[:1437], y[:1437], 10)
right = (net(Tensor(x[1437:])).data.argmax(axis=1) == y[1437:]).mean()
"""


def test_what_is_edited_by_hand_stays(tmp_path: Path) -> None:
    """A part is found by its names, wherever it stands; other lines stay until one says so; the file before it is kept."""
    keep(PARTS["7.1"], [MATMUL], tmp_path, "both gradients")
    mine = "# mine\nfrom values import Value\n\n" + OTHER + "\n\nx = 1  # stays\n\nTensor.__matmul__ = None\n"
    (tmp_path / FILE).write_text(mine, encoding="utf-8")
    with pytest.raises(own_engine.Differs) as differs:
        keep(PARTS["7.1"], [MATMUL], tmp_path, "both gradients")
    assert kept(tmp_path) == mine
    change = keep(PARTS["7.1"], [MATMUL], tmp_path, "both gradients", over=True)
    assert "-    dX = G @ W.T" in change.lines and "+    return G @ W.T, X.T @ G" in differs.value.lines
    text = kept(tmp_path)
    assert text.startswith("# mine\nfrom values import Value\n\ndef matmul_backward") and "x = 1  # stays" in text
    assert "Tensor.__matmul__ = operation(" in text and "= None" not in text and text.count("def matmul_backward") == 1
    assert (tmp_path / change.old).read_text(encoding="utf-8") == mine and "my_engine.2" in change.old


def test_a_part_of_the_reference_gives_way_at_once(tmp_path: Path) -> None:
    own_engine.complete(tmp_path, 8, {part.id: f"the title of {part.id}" for part in PARTS.values()})
    change = keep(PARTS["7.1"], [MATMUL], tmp_path, "both gradients")
    assert "-    dX = G @ W.T" in change.lines and "+    # each has the shape of its own" in change.lines
    text = kept(tmp_path)
    assert "# 7.1 both gradients\ndef matmul_backward" in text and "7.1" not in own_engine.from_reference(text)
    assert "# 6.1 the title of 6.1 (from the reference, not yours)\ndef unbroadcast" in text
    assert "6.1" in own_engine.from_reference(text)


def test_helpers_come_along_and_the_last_definition_counts(tmp_path: Path) -> None:
    cells = [
        "%%time\nimport random as r", "SIZE = 3", "W = 5", "def matmul_backward(G, X, W): return 0",
        "def half(x):\n    return other(x) / 2", "def other(x):\n    return x", "from my_engine import Tensor",
        "def matmul_backward(G, X, W):\n    return half(G), r.random() * SIZE",
    ]  # fmt: skip
    keep(PARTS["7.1"], cells, tmp_path, "both gradients")
    text = kept(tmp_path)
    assert text.index("def other") < text.index("def half") < text.index("def matmul_backward") and "return 0" not in text
    assert "import random as r" in text and "SIZE = 3" in text and "W = 5" not in text, "globals come too, parameters do not"


@pytest.mark.parametrize(
    ("before", "cells", "says"),
    [
        (b"def f(:\n    pass\n", [MATMUL], r"is no Python in line 1 \(invalid syntax\)\. Mend it"),
        (b"\xff\xfe\x00", [MATMUL], "no text in UTF-8"),
        (b"x = 1; y = 2\n", [MATMUL], "Line 1 of my_engine.py holds two statements"),
        (b"x = 1\n", ["x = 2"], "No cell that you ran defines matmul_backward"),
    ],
)
def test_what_cannot_be_kept_is_a_sentence_and_nothing_is_lost(
    tmp_path: Path, before: bytes, cells: list[str], says: str
) -> None:
    (tmp_path / FILE).write_bytes(before)
    with pytest.raises(Unkept, match=says):
        keep(PARTS["7.1"], cells, tmp_path, "both gradients")
    assert [file.name for file in tmp_path.iterdir()] == [FILE] and (tmp_path / FILE).read_bytes() == before


def test_a_read_only_file_a_missing_folder_and_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unkept, match="No such file or directory"):
        keep(PARTS["7.1"], [MATMUL], tmp_path / "gone", "both gradients")
    (tmp_path / FILE).write_text("x = 1\n")
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda file, mode: False)
        with pytest.raises(Unkept, match="it is read-only"):
            keep(PARTS["7.1"], [MATMUL], tmp_path, "both gradients")

    def full(*given: object) -> None:
        raise OSError(28, "No space left on device")

    for what in ("fsync", "replace"):  # before the copy of the old file, and after it
        with monkeypatch.context() as patch:
            patch.setattr(os, what, full)
            with pytest.raises(Unkept, match="No space left on device"):
                keep(PARTS["7.1"], [MATMUL], tmp_path, "both gradients")
        assert [file for file in tmp_path.rglob("*") if file.is_file()] == [tmp_path / FILE] and kept(tmp_path) == "x = 1\n"


AGAIN = """
import sys
from pathlib import Path
from minigrad.course.checks.own_engine import given, keep
part = given()[sys.argv[1]]
for n in range(int(sys.argv[2])):
    keep(part, [f"{'def ' + part.names[0]}(a, b, c=0):\\n    return {n}"], Path(sys.argv[3]), "t", over=True)
"""


def started(part: str, times: int, folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", AGAIN, part, str(times), str(folder)])


@pytest.mark.slow
def test_two_notebooks_at_once_lose_nothing(tmp_path: Path) -> None:
    both = [started("7.1", 8, tmp_path), started("6.1", 8, tmp_path)]
    assert [each.wait(60) for each in both] == [0, 0]
    assert own_engine.parts_in(kept(tmp_path)) == ["3.0", "6.1", "7.1"] and kept(tmp_path).count("return 7") == 2


@pytest.mark.slow
def test_killed_at_any_moment_the_file_is_whole(tmp_path: Path) -> None:
    keep(PARTS["6.1"], ["def unbroadcast(g, shape):\n    return g"], tmp_path, "t")
    for pause in (0.0, 0.003, 0.011):
        running = started("7.1", 10_000, tmp_path)
        seen = kept(tmp_path)
        while kept(tmp_path) == seen and running.poll() is None:
            time.sleep(0.01)
        time.sleep(pause)
        running.send_signal(signal.SIGKILL)
        running.wait()
        assert own_engine.parts_in(kept(tmp_path))[-2:] == ["6.1", "7.1"]
        keep(PARTS["3.6"], ["def descend(parameters, rate):\n    pass"], tmp_path, "t")  # no lock is left


# --- import my_engine --------------------------------------------------------------------------------------


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, list[str]]]:
    """A student's folder, in whose exercises a notebook runs, and what it is told of `my_engine`."""
    (tmp_path / "exercises").mkdir()
    monkeypatch.chdir(tmp_path / "exercises")
    monkeypatch.delenv("MINIGRAD_CHECK", raising=False)
    told: list[str] = []
    own_engine.said.clear()
    monkeypatch.setattr(sys, "meta_path", [own_engine.Finder(told.append), *sys.meta_path])
    yield tmp_path, told
    sys.modules.pop("my_engine", None)


def imported() -> ModuleType:
    sys.modules.pop("my_engine", None)
    return importlib.import_module("my_engine")


@pytest.mark.slow
def test_the_engine_is_the_file_in_the_folder_of_the_course_completed(course: tuple[Path, list[str]]) -> None:
    folder, told = course
    for part in ("3.4", "7.1"):
        keep(PARTS[part], [MATMUL, ORDER], folder, "t")
    module = imported()
    assert module.__file__ == str(folder / FILE) and not (folder / "__pycache__").exists()
    assert (module.Tensor([[2.0]]) @ module.Tensor([[3.0]])).data == 6.0
    assert len(told) == 1 and told[0].startswith("my_engine.py lacks 3.1, 3.2, 3.3, 3.5, 3.6, 4.6, 5.4, 5.5, 6.1 and 6.3, so")
    assert "`minigrad engine --upto 07`" in told[0], "and nothing on 8.1, which comes later"
    assert module.topological_order.__code__.co_filename == str(folder / FILE)
    assert inspect.getsource(module.mse).startswith("def mse(p, t):") and "mse" not in kept(folder)
    assert "its own" in inspect.getsource(module.matmul_backward), "tracebacks show the line in the file"
    (folder / "exercises" / FILE).write_text("x = 1\n")
    assert imported().__file__ == str(folder / FILE) and imported() and len(told) == 2
    assert told[1].startswith(f"The {FILE} in `{folder / 'exercises'}` is not used")


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [(b"x = 1\ndef f(:\n", SyntaxError, "my_engine.py, line 2"), (b"\xff", ImportError, "no text in UTF-8")],
)
def test_a_file_that_cannot_be_imported(
    course: tuple[Path, list[str]], text: bytes, error: type[Exception], says: str
) -> None:
    (course[0] / FILE).write_bytes(text)
    with pytest.raises(error, match=says):
        imported()


@pytest.mark.slow
def test_without_a_file_and_in_a_test_it_is_the_reference(
    course: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, told = course
    assert imported().Tensor([1.0]).data == [1.0] and imported()
    assert len(told) == 1 and told[0].startswith(f"There is no {FILE} in `{folder}` yet")
    (folder / FILE).write_text("x = 1\n")
    assert imported().x == 1
    monkeypatch.setenv("MINIGRAD_CHECK", "raise")
    assert not hasattr(imported(), "x") and len(told) == 1


def test_the_reference_has_the_parts_of_the_lessons_before() -> None:
    for before in (3, 7, 12):
        text = reference(before)
        there = [part for part in PARTS.values() if part.lesson < before]
        assert own_engine.parts_in(text) == [part.id for part in there] and "### " not in text
        assert own_engine.from_reference(text) == [part.id for part in there if part.names]
        exec(text, {"__name__": "my_engine"})


# --- in a kernel -------------------------------------------------------------------------------------------


def ran(folder: Path, cells: list[str], **environment: str) -> list[str]:
    """What the cells of a notebook in the exercises of this folder show, as plain text."""
    (folder / "exercises").mkdir(exist_ok=True)
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    where = {"metadata": {"path": str(folder / "exercises")}}
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MINIGRAD", "NBGRADER"))}
    client = nbclient.NotebookClient(nb, kernel_name="python3", resources=where, allow_errors=True)
    client.execute(env=own | environment, stderr=subprocess.DEVNULL)
    return ["".join(str(o.get("text") or o.get("data", {}).get("text/plain") or o.get("evalue", "")) for o in c.outputs)
            for c in nb.cells]  # fmt: skip


@pytest.mark.slow
def test_keep_in_a_notebook(tmp_path: Path) -> None:
    """As a student would: too early, then after a check; in another kernel it is there; in a test nothing happens."""
    value, add = own_engine.solved(PARTS["3.1"])[2:4]
    first = ["from minigrad.course import check, keep", "from my_engine import *", "import math", value]
    blank = "def add(self, other):\n    ...  # your code here\n\nValue.__add__ = add"
    keeps = ['keep("3.1")', f"%%time\n{add}", 'check("3.1")', 'keep("3.1")', 'keep("3.1")']
    cells = [*first, blank, *keeps, WHERE, 'check("3.1")', 'keep("4.1")']
    _, engine, _, _, _, early, _, checked, card, again, place, still, no_part = ran(tmp_path, cells)
    assert says(engine, f"There is no {FILE} in `{tmp_path}` yet") and says(early, 'Run check("3.1"), then this again')
    assert "All 15 probes agree" in checked and card.startswith(f"{FILE}: 3.1 plus, with its backward: kept\n  new lines  +")
    assert says(card, f"Your engine is `{tmp_path / FILE}`.") and "there already" in again
    assert place.strip() == str(tmp_path / FILE) and "the engine gets nothing from 4.1" in no_part
    assert "All 15 probes agree" in still
    imported = ran(tmp_path, [*first[:2], 'check("3.1")'])[-1]
    assert says(imported, "`Value.__add__` is imported from my_engine.py now")
    assert says(imported, "Run the cell in which you wrote it")
    text = kept(tmp_path)
    other = add.replace("self.data + other.data", "other.data + self.data")
    again = [*first, other, 'keep("3.1")', WHERE]
    _, engine, *_, card, place = ran(tmp_path, again)
    assert not engine and says(card, "has other lines for 3.1, so nothing was written")
    assert says(card, 'keep("3.1", replace=True)')
    assert place.strip() == str(tmp_path / FILE) and kept(tmp_path) == text
    *_, card, place = ran(tmp_path, again, MINIGRAD_CHECK="raise")
    assert not card and place.strip() == "my_engine.py (reference)" and kept(tmp_path) == text
    *_, card = ran(tmp_path, [*first, other, 'keep("3.1", replace=True)'])
    edit = f"from pathlib import Path\nPath('../{FILE}').write_text('x = 5')"
    assert ran(tmp_path, [*first, edit, "import my_engine\nprint(my_engine.x)"])[-1] == "5\n", "a change by hand counts at once"
    assert "3.1 plus, with its backward: kept" in card and "-    out = Value(self.data + other.data" in card
    assert [file.read_text(encoding="utf-8") for file in (tmp_path / own_engine.OLDER).iterdir()] == [text]


def says(card: str, words: str) -> bool:
    """Whether these words are on a card, wherever its lines end: the folder of a test may be long."""
    return "".join(words.split()) in "".join(card.split())


WHERE = "from my_engine import *\nimport my_engine\nprint(my_engine.Value.__add__.__code__.co_filename)"


@pytest.mark.slow
def test_a_notebook_in_the_terminal_has_the_students_engine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "exercises").mkdir()
    (tmp_path / FILE).write_text("slope = 2\n", encoding="utf-8")
    first = 'from minigrad.course import check, keep\nfrom my_engine import slope\nkeep("5.1")'
    cells = [first, "def vjp_square(v, x):\n    return v * slope * x", 'check("5.1")']
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(nb, file := tmp_path / "exercises" / "05_vectors_exercises.ipynb")
    assert terminal.check_notebook(file), capsys.readouterr().out
    assert kept(tmp_path) == "slope = 2\n"


# --- the whole way -----------------------------------------------------------------------------------------


def follow(folder: Path, name: str) -> None:
    """Run a lesson's solved exercises as a student would, in whose folder the engine grows."""
    (folder / "exercises").mkdir(exist_ok=True)
    solution = notebooks.strip_outputs(notebooks.read(notebooks.path("solutions", name)))
    where = {"metadata": {"path": str(folder / "exercises")}}
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MINIGRAD", "NBGRADER"))}
    client = nbclient.NotebookClient(nbformat.from_dict(solution), kernel_name="python3", timeout=300, resources=where)
    for cell in client.execute(env=own | {"MINIGRAD_DISPLAY": "static"}, stderr=subprocess.DEVNULL).cells:
        if found := re.search(r"^(?:keep|check)\(\"([\d.]+)\"", cell.source, re.MULTILINE):
            shown = next(out.data["text/plain"] for out in cell.outputs if "data" in out).splitlines()[0]
            assert shown.endswith(": kept" if cell.source.startswith("keep") else ": passed"), f"{found[1]}: {shown}"


LONG_WAY = [name for name in notebooks.lessons() if int(name[:2]) >= 3]


@pytest.mark.slow
@pytest.mark.parametrize("skipped", [[], LONG_WAY[2::2]], ids=["none", "05 and every second one"])
def test_the_whole_way(tmp_path: Path, skipped: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """From 03 on, each solution run in a kernel and kept; what is skipped is filled from the terminal."""
    monkeypatch.delenv("MINIGRAD_CHECK", raising=False)
    for name in LONG_WAY:
        if name not in skipped:
            assert cli.main(["engine", "--upto", name[:2], "--dir", str(tmp_path)]) == 0
            follow(tmp_path, name)
            exec(kept(tmp_path), {"__name__": "my_engine"})  # whole, without what `import my_engine` would add
    text, missed = kept(tmp_path), {int(name[:2]) for name in skipped}
    theirs = [part.id for part in PARTS.values() if part.names and part.lesson in missed]
    assert own_engine.parts_in(text) == [*PARTS] and own_engine.from_reference(text) == theirs
    assert len(text.splitlines()) <= 420
    space: dict[str, object] = {"__name__": "my_engine"}
    exec(text, space)
    exec(TRAIN, space)
    assert np.abs(np.array(space["losses"]) - space["pytorch"]).max() < 1e-9 and space["right"] >= 0.93
