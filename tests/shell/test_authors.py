"""The guide for authors is followed word by word in a copy of the package, and what it adds works there."""

import csv
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from minigrad.course import notebooks
from tests.house.pages import ROOT, blocks

GUIDE = ROOT / "docs" / "authors.md"
COPIED = ("minigrad", "notebooks", "exercises", "solutions", "tests", "docs", "pyproject.toml")
HEAD = re.compile(r"(?:#|//|/\*|<!--) (.+?)(?: \*/| -->)?\n")
PLACE = re.compile(r"in (\S+), (above|below|in place of): (.+)")
PROGRAMS = {
    "minigrad": ["-m", "minigrad.course.commands.cli"],
    "pytest": ["-m", "pytest", "-q", "-p", "no:cacheprovider"],
    "python": [],
}


@dataclass
class Copy:
    """The copy of the package, and what the commands of the guide printed there."""

    root: Path
    printed: dict[str, str]

    def run(self, *arguments: str) -> str:
        """Run Python in the copy; what it printed."""
        env = {**os.environ, "PYTHONPATH": str(self.root)}
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=self.root, env=env, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, f"{shlex.join(arguments)}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
        return done.stdout

    def follow(self, language: str, text: str) -> None:
        """Do what one block of the guide says."""
        if language == "sh":
            for command in text.splitlines():
                program, *arguments = shlex.split(command)
                if program != "pip":  # the copy uses this environment
                    self.printed[command] = self.run(*PROGRAMS[program], *arguments)
            return
        head = HEAD.match(text)
        assert head, f"the first line of a block says where it goes: {text[:80]}"
        body = text[head.end() :]
        where = PLACE.fullmatch(head[1])
        if head[1] == "to try":
            self.run("-c", body)
        elif head[1].startswith("new cell of "):
            self.add_cell(head[1].removeprefix("new cell of "), "code" if language == "python" else language, body)
        elif head[1].startswith("at the end of "):
            file = self.root / head[1].removeprefix("at the end of ")
            file.write_text(file.read_text(encoding="utf-8") + body, encoding="utf-8")
        elif head[1].startswith("new file "):
            file = self.root / head[1].removeprefix("new file ")
            assert not file.exists()
            file.write_text(text if language == "js" else body, encoding="utf-8")
        else:
            assert where, head[1]
            self.insert(where[1], where[2], where[3], body)

    def insert(self, name: str, how: str, start: str, body: str) -> None:
        """Put lines above, below or in place of the one line of a file that begins so."""
        file = self.root / name
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        (at,) = (i for i, line in enumerate(lines) if line.lstrip().startswith(start))
        lines[at + (how == "below") : at + (how != "above")] = [body]
        file.write_text("".join(lines), encoding="utf-8")

    def add_cell(self, name: str, kind: str, source: str) -> None:
        """Put a cell above "Done?" in a notebook, or before its links; a notebook that is not there begins with it."""
        file = self.root / name
        nb = notebooks.read(file) if file.exists() else {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        cell = {"cell_type": kind, "metadata": {}, "source": source.rstrip("\n")}
        cell |= {"outputs": [], "execution_count": None} if kind == "code" else {}
        ends = [i for i, c in enumerate(nb["cells"]) if c.get("id", "").endswith("-next") or "## Done?" in "".join(c["source"])]
        last = min([*ends, len(nb["cells"])])
        nb["cells"].insert(last, cell)
        notebooks.write(nb, file)

    def text(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """A copy of the package in which the whole guide was followed."""
    made = Copy(tmp_path_factory.mktemp("copy"), {})
    for name in COPIED:
        source, target = ROOT / name, made.root / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    (made.root / "README.md").write_text("A copy.\n", encoding="utf-8")
    for language, text in blocks(GUIDE):
        made.follow(language, text)
    return made


@pytest.mark.slow
def test_the_exercise_is_graded(copy: Copy) -> None:
    tried = copy.printed["minigrad answers minigrad/course/lessons/05_vectors.md --exercise 5.6 -v"]
    assert "5.6  the vector-Jacobian product of a cube: fine" in tried and "How fast does x**3 grow" in tried
    assert re.search(r"^5\.6 .*: passed", copy.printed["minigrad check solutions/05_vectors_exercises.ipynb"], re.MULTILINE)
    exercise = copy.text("exercises/05_vectors_exercises.ipynb")
    assert "def vjp_cube(v, x):" in exercise and "v * 3 * x**2" not in exercise
    wrong = copy.text("solutions/05_vectors_exercises.ipynb").replace("v * 3 * x**2", "v * x**2")
    for student, text in {"ada": copy.text("solutions/05_vectors_exercises.ipynb"), "bo": wrong}.items():
        folder = copy.root / "submitted" / student
        folder.mkdir(parents=True)
        (folder / "05_vectors_exercises.ipynb").write_text(text, encoding="utf-8")
    options = ["--out", "report", "--isolation", "process", "--trust-students"]
    copy.run(*PROGRAMS["minigrad"], "grade", "submitted", *options)
    ada, bo = (float(row["Total (Final Points)"]) for row in csv.DictReader(io.StringIO(copy.text("report/grades.csv"))))
    assert ada == bo + 1 and "5.6 no 3" in copy.text("report/report.html")
    assert "How fast does x**3 grow" in copy.text("report/feedback/bo/05_vectors_exercises.html")


@pytest.mark.slow
def test_the_lesson_builds(copy: Copy) -> None:
    assert "passed" in copy.printed["minigrad check solutions/99_norms_exercises.ipynb"]
    lesson, exercise = copy.text("notebooks/99_norms.ipynb"), copy.text("exercises/99_norms_exercises.ipynb")
    assert "tensor(5.)" in lesson and "minutes**: " in lesson and "length = 13" not in exercise
    assert "99_norms.ipynb" in copy.text("notebooks/README.md")
    assert "tensor(5.)" in copy.text("public/lessons/99_norms.html")


@pytest.mark.slow
def test_the_operation_shows_its_rule(copy: Copy) -> None:
    assert "| `exp2` | `Exp2Backward0` | x: `g · out · log(2)` | `out` |" in copy.text("notebooks/reference/rules.md")
    assert "exp2 as exp2" in copy.text("minigrad/__init__.pyi") and "def exp2_(" in copy.text("minigrad/tensor.pyi")


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.needs("chromium")
def test_the_panel_appears(copy: Copy, page: Any) -> None:
    page.goto((copy.root / "lengths.html").as_uri())
    panel = page.locator(".mg-lengths")
    assert panel.inner_text() == "Size of each gradient: none yet"
    page.locator("[data-id=next]").focus()
    page.keyboard.press("End")
    assert "x 4.472" in panel.inner_text() and panel.bounding_box()["height"] >= 24
    page.keyboard.press("Home")
    assert panel.inner_text() == "Size of each gradient: none yet" and page.errors == []
