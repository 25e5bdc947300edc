"""The whole course through the grader: every solution has full marks, every blank exercise has none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from minigrad.course import lessons, notebooks
from minigrad.course.grading import journal, runs, sandbox
from minigrad.course.grading.sandbox import Unavailable


@pytest.fixture(autouse=True)
def isolated() -> None:
    try:
        sandbox.choose()
    except Unavailable as error:
        pytest.skip(f"optional: no isolation level holds here: {error}")


@pytest.mark.slow
def test_solutions_have_full_marks_and_blanks_have_none(tmp_path: Path) -> None:
    written = [name for name in notebooks.lessons() if notebooks.path("solutions", name).exists()]
    for student, kind in (("right", "solutions"), ("blank", "exercises")):
        folder = tmp_path / "in" / student
        folder.mkdir(parents=True)
        for name in written:
            shutil.copy(notebooks.path(kind, name), folder)
    runs.grade(tmp_path / "in", out=tmp_path / "out", jobs=1)
    results = list(journal.read(tmp_path / "out" / "results.jsonl"))
    assert len(results) == 2 * len(written)
    for result in results:
        lesson = lessons.lesson(result["lesson"])
        assert Path(result["path"]).stem == f"{lesson.slug}_exercises", "a notebook was taken for another lesson's"
        full = sum(exercise.points for exercise in lesson.exercises)
        assert result["out_of"] == full
        assert result["points"] == (full if result["student"] == "right" else 0.0), result["verdicts"]
        assert result["graded"]
        assert [c for c in result["cells"] if result["student"] == "right"] == [], "a cell of a solution stopped"


@pytest.mark.slow
def test_an_error_in_an_early_lesson_costs_nothing_in_a_later_one(tmp_path: Path) -> None:
    """Everybody has the wrong rule for a product in 03, and hands in the notebooks alone."""
    asked = [lessons.lesson(number) for number in (3, 4, 5, 7)]
    for student in ("ann", "bob", "cy"):
        folder = tmp_path / "in" / student
        folder.mkdir(parents=True)
        for lesson in asked:
            text = notebooks.path("solutions", lesson.slug).read_text(encoding="utf-8")
            wrong = text.replace("self.grad += other.data * out.grad", "self.grad += self.data * out.grad")
            assert (wrong != text) == (lesson.number == 3)
            (folder / f"{lesson.slug}.ipynb").write_text(wrong, encoding="utf-8")
    runs.grade(tmp_path / "in", out=tmp_path / "out", jobs=1)
    results = list(journal.read(tmp_path / "out" / "results.jsonl"))
    assert len(results) == 12
    for result in results:
        wrong = {verdict["exercise"] for verdict in result["verdicts"] if verdict["status"] != "passed"}
        assert wrong == ({"3.2"} if result["lesson"] == 3 else set()) and result["cells"] == [], result["verdicts"]
