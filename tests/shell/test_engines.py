"""One notebook, two engines: a lesson under real PyTorch shows what it shows under minigrad."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from minigrad.course import notebooks

ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
LESSONS = [lesson for lesson in notebooks.lessons() if notebooks.path("notebooks", lesson).exists()]


def to_torch(nb: notebooks.Notebook) -> notebooks.Notebook:
    """The notebook for real PyTorch: `minigrad` becomes `torch` in imports; cells tagged minigrad-only go."""
    out = notebooks.strip_outputs(nb)
    out["cells"] = [cell for cell in out["cells"] if notebooks.MINIGRAD_ONLY not in cell["metadata"].get("tags", ())]
    for cell in out["cells"]:
        if cell["cell_type"] == "code":
            cell["source"] = swap_imports(cell["source"])
    return out


def swap_imports(source: str) -> str:
    if "minigrad" not in source:
        return source
    places = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            places += [(name.lineno, name.col_offset) for name in node.names if is_ours(name.name)]
        elif isinstance(node, ast.ImportFrom) and not node.level and is_ours(node.module):
            places.append((node.lineno, node.col_offset + len("from")))
    lines = source.split("\n")
    for number, column in sorted(places, reverse=True):
        encoded = lines[number - 1].encode()
        head, tail = encoded[:column].decode(), encoded[column:].decode()
        lines[number - 1] = head + tail.replace("minigrad", "torch", 1)
    return "\n".join(lines)


def is_ours(module: str | None) -> bool:
    return module is not None and module.split(".")[0] == "minigrad"


def visible(cell: notebooks.Cell) -> list[Any]:
    """What a reader sees of a cell's outputs: text, results, errors; a picture counts as a picture."""
    shown = []
    for output in cell["outputs"]:
        if notebooks.IGNORE_OUTPUT in cell["metadata"].get("tags", ()):
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
    swapped = to_torch(nb)
    sources = [source.replace('files("minigrad.course")', "") for source in notebooks.code_cells(swapped)]
    assert not [source for source in sources if "minigrad" in source]
    ran = notebooks.execute(swapped, tmp_path)
    ours = [cell for cell in nb["cells"] if notebooks.MINIGRAD_ONLY not in cell["metadata"].get("tags", ())]
    for mine, theirs in zip(ours, ran["cells"], strict=True):
        if mine["cell_type"] == "code":
            assert visible(mine) == visible(theirs), mine["source"]
    assert sum(cell["cell_type"] == "code" for cell in ran["cells"]) >= 5, "a lesson is more than its stepper"
