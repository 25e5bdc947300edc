"""Programs of the lessons that need PyTorch: the same text with it, and without it from what the notebook has stored."""

from __future__ import annotations

import linecache

import pytest

from minigrad.course import in_pytorch, notebooks
from minigrad.course.checks import pytorch_programs

CELLS = [
    (cell["id"], cell["source"], "".join(line for output in cell["outputs"] for line in output["text"]))
    for lesson in notebooks.lessons()
    for cell in notebooks.read(notebooks.path("notebooks", lesson))["cells"]
    if cell["cell_type"] == "code" and "\nin_pytorch(" in cell["source"]
]
cells = pytest.mark.parametrize(("source", "stored"), [cell[1:] for cell in CELLS], ids=[cell[0] for cell in CELLS])


def run(source: str) -> None:
    """Run a cell, whose source can be read as that of a notebook's cell."""
    file = f"<ipython-input-{hash(source)}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    exec(compile(source, file, "exec"), {"__name__": "__main__"})


def test_lessons_04_and_13_have_one_each() -> None:
    assert [name[:2] for name, _, _ in CELLS] == ["04", "13"]


@cells
def test_without_pytorch_it_prints_what_is_stored(source: str, stored: str, monkeypatch, capsys) -> None:
    monkeypatch.setattr(pytorch_programs, "find_spec", lambda name: None)
    run(source)
    assert capsys.readouterr().out == stored != ""
    run(source.replace("import torch  # this", "import torch\n    # this"))
    assert capsys.readouterr().out == f"{pytorch_programs.CHANGED}\n{stored}"


@pytest.mark.slow
@pytest.mark.needs("torch")
@cells
def test_with_pytorch_it_prints_the_same(source: str, stored: str, capsys) -> None:
    run(source)
    assert capsys.readouterr().out == stored


def test_a_program_of_ones_own_needs_pytorch(monkeypatch) -> None:
    monkeypatch.setattr(pytorch_programs, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="test_a_program_of_ones_own_needs_pytorch needs PyTorch"):
        in_pytorch(test_a_program_of_ones_own_needs_pytorch)
