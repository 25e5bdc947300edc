"""A school's own nbgrader: the solved notebook gets every point, the blank one none, a half-solved one its half."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from minigrad.course import lessons, notebooks

# A lesson of choices, one of functions, one with an engine, the capstone: the others differ in nothing that nbgrader sees.
LESSONS = ["00_start_here", "05_vectors", "12_digits", "14_capstone"]


def half_solved(name):
    """The solution with every second exercise as it was handed out."""
    solved = notebooks.read(notebooks.path("solutions", name))
    blank = notebooks.read(notebooks.path("exercises", name))
    keep = True
    for cell, given in zip(solved["cells"], blank["cells"], strict=True):
        kind = cell["metadata"].get("nbgrader", {})
        if kind.get("solution") and not keep:
            cell["source"] = given["source"]
        if kind.get("grade"):  # a check ends its exercise
            keep = not keep
    return notebooks.strip_outputs(solved)


@pytest.mark.slow
@pytest.mark.needs("nbgrader")
@pytest.mark.parametrize("name", LESSONS)
def test_real_nbgrader_grades_by_the_answers(name, tmp_path: Path, monkeypatch):
    from nbgrader.api import Gradebook
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    for variable in ("MINIGRAD_CHECK", "MINIGRAD_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)
    notebooks.lay_out_for_nbgrader(tmp_path)
    config = Config()
    exec((tmp_path / "nbgrader_config.py").read_text(encoding="utf-8"), {"get_config": lambda: config})
    config.CourseDirectory.root = str(tmp_path)
    api = NbGraderAPI(config=config)
    made = api.generate_assignment(name)
    assert made["success"], made.get("error")

    release = tmp_path / "release" / name
    ours, theirs = (notebooks.read(file)["cells"] for file in (
        notebooks.path("exercises", name), release / f"{name}_exercises.ipynb"))  # fmt: skip
    assert [cell["source"] for cell in theirs] == [cell["source"] for cell in ours]
    answers = {
        "blank": None,
        "solved": notebooks.strip_outputs(notebooks.read(notebooks.path("solutions", name))),
        "half": half_solved(name),
    }
    for student, notebook in answers.items():
        target = tmp_path / "submitted" / student / name
        shutil.copytree(release, target)
        if notebook is not None:
            notebooks.write(notebook, target / f"{name}_exercises.ipynb")
        graded = api.autograde(name, student, force=True)
        assert graded["success"], graded.get("error")

    possible = sum(e.points for e in lessons.lesson(int(name[:2])).exercises)
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        scores = {student: book.find_submission(name, student).score for student in answers}
    assert scores["blank"] == 0
    assert scores["solved"] == possible
    assert 0 < scores["half"] < possible
