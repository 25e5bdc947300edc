"""The real nbgrader on our folders: the same blanks, and on honest work the same marks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from minigrad.course import notebooks
from minigrad.course.grading import journal, runs

LESSON = "05_vectors"


def nbgrader(folder: Path, *arguments: str) -> str:
    """Run nbgrader in a course folder; its output."""
    command = [sys.executable, "-m", "nbgrader", *arguments]
    environment = os.environ | {
        "OPENBLAS_NUM_THREADS": "1",
        "JUPYTER_CONFIG_DIR": str(folder / ".jupyter"),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),  # it calls alembic by name
    }
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


def code(path: Path) -> list[str]:
    return notebooks.code_cells(notebooks.read(path))


@pytest.mark.slow
@pytest.mark.needs("nbgrader")
def test_the_same_blanks_and_the_same_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nbgrader.api import Gradebook

    school = tmp_path / "school"
    notebooks.lay_out_for_nbgrader(school)
    nbgrader(school, "generate_assignment", LESSON, "--create", "--force")
    released = school / "release" / LESSON / f"{LESSON}_exercises.ipynb"
    assert code(released) == code(notebooks.path("exercises", LESSON))

    hand_ins = {
        "right": notebooks.path("solutions", LESSON),
        "blank": released,
    }
    for student, source in hand_ins.items():
        target = school / "submitted" / student / LESSON / f"{LESSON}_exercises.ipynb"
        target.parent.mkdir(parents=True)
        shutil.copy(source, target)
    half = notebooks.read(released)
    answers = {c["metadata"].get("nbgrader", {}).get("grade_id"): c for c in notebooks.read(
        school / "source" / LESSON / f"{LESSON}_exercises.ipynb")["cells"]}  # fmt: skip
    blanks = [c for c in half["cells"] if c["metadata"].get("nbgrader", {}).get("solution")]
    blanks[0]["source"] = answers[blanks[0]["metadata"]["nbgrader"]["grade_id"]]["source"]
    target = school / "submitted" / "half" / LESSON / f"{LESSON}_exercises.ipynb"
    target.parent.mkdir(parents=True)
    notebooks.write(half, target)

    nbgrader(school, "autograde", LESSON, "--create")
    theirs = {}
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    with Gradebook(f"sqlite:///{school / 'gradebook.db'}") as book:
        for student in ("right", "blank", "half"):
            theirs[student] = float(book.find_submission(LESSON, student).score)

    nbgrader(school, "generate_feedback", LESSON)
    for student in theirs:
        page = school / "feedback" / student / LESSON / f"{LESSON}_exercises.html"
        assert f"(Score: {theirs[student]:g} /" in page.read_text(encoding="utf-8").replace(".0", "")

    runs.grade(school / "submitted", out=tmp_path / "report", jobs=1)
    ours = {result["student"]: result["points"] for result in journal.read(tmp_path / "report" / "results.jsonl")}
    assert ours == theirs
    full = next(journal.read(tmp_path / "report" / "results.jsonl"))["out_of"]
    assert (theirs["right"], theirs["blank"]) == (full, 0.0)
    assert 0 < theirs["half"] < full
    assert json.dumps(ours)
