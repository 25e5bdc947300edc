"""One notebook, two engines: a lesson under real PyTorch shows what it shows under minigrad."""

import re
from pathlib import Path
from typing import Any

import pytest

from minigrad.course import notebooks

ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
LESSONS = [lesson for lesson in notebooks.lessons() if notebooks.path("notebooks", lesson).exists()]


def visible(cell: notebooks.Cell) -> list[Any]:
    """What a reader sees of a cell's outputs: text, results, errors; a picture counts as a picture."""
    shown = []
    for output in cell["outputs"]:
        if notebooks.IGNORE_OUTPUT in notebooks.tags(cell):
            continue
        data = output.get("data", {})
        text = "".join(output.get("text", "")) + "".join(data.get("text/plain", ""))
        shown.append((ADDRESS.sub("0x", text), output.get("ename"), output.get("evalue"), sorted(data)))
    return shown


@pytest.mark.slow
@pytest.mark.needs("torch")
@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_runs_unchanged_under_pytorch(lesson: str, tmp_path: Path) -> None:
    nb = notebooks.read(notebooks.path("notebooks", lesson))
    swapped = notebooks.to_torch(nb)
    sources = [source.replace('files("minigrad.course")', "") for source in notebooks.code_cells(swapped)]
    assert not [source for source in sources if "minigrad" in source]
    ran = notebooks.execute(swapped, tmp_path)
    ours = [cell for cell in nb["cells"] if notebooks.MINIGRAD_ONLY not in notebooks.tags(cell)]
    for mine, theirs in zip(ours, ran["cells"], strict=True):
        if mine["cell_type"] == "code":
            assert visible(mine) == visible(theirs), mine["source"]
    assert sum(cell["cell_type"] == "code" for cell in ran["cells"]) >= 5, "a lesson is more than its stepper"
