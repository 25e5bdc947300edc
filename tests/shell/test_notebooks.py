"""Notebooks as data: reading and writing, from a solution to an exercise, the swap of engines, laying out."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from minigrad.course import notebooks
from minigrad.course.commands import building
from tests.shell.test_engines import to_torch

LESSONS = [lesson for lesson in notebooks.lessons() if notebooks.path("solutions", lesson).exists()]


def code(source: str, *tags: str, **more: Any) -> notebooks.Cell:
    metadata = {"tags": list(tags)} if tags else {}
    return {
        "cell_type": "code",
        "metadata": metadata,
        "source": source,
        "outputs": [],
        "execution_count": None,
    } | more


def prose(source: str) -> notebooks.Cell:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def notebook(*cells: notebooks.Cell) -> notebooks.Notebook:
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


FUNCTION = """def vjp_square(v, x):
    ### BEGIN SOLUTION
    return 2 * x * v
    ### END SOLUTION"""
VALUE = """answer = ...
### BEGIN SOLUTION
answer = 42
### END SOLUTION"""


# What is stored is what the sources give -----------------------------------------------------------------


@pytest.mark.parametrize("lesson", LESSONS)
def test_stored_exercise_is_what_its_solution_gives(lesson: str) -> None:
    made = notebooks.exercise_from_solution(notebooks.read(notebooks.path("solutions", lesson)))
    stored = notebooks.path("exercises", lesson).read_bytes().decode()
    assert stored == notebooks.dumps(made), f"run: minigrad build --lesson {lesson[:2]}"


@pytest.mark.parametrize("lesson", notebooks.lessons())
@pytest.mark.parametrize("kind", ["notebooks", "solutions"])
def test_stored_notebooks_are_tidy(kind: str, lesson: str) -> None:
    file = notebooks.path(kind, lesson)
    if not file.exists():
        pytest.skip(f"optional: {lesson} has no {kind}")
    tidy = building.mark(kind, notebooks.read(file), lesson)
    assert file.read_bytes().decode() == notebooks.dumps(tidy), f"run: minigrad build --lesson {lesson[:2]}"


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_exercise_of_a_lesson_has_its_check(lesson: str) -> None:
    from minigrad.course import lessons

    asked = notebooks.exercise_ids(notebooks.read(notebooks.path("exercises", lesson)))
    assert asked == [exercise.id for exercise in lessons.lesson(int(lesson[:2])).exercises if exercise.points]


@pytest.mark.slow
def test_stored_reference_pages_are_what_the_code_gives() -> None:
    for file, text in building.pages().items():
        assert file.read_bytes().decode() == text, "run: minigrad build"


# What is generated in a notebook ------------------------------------------------------------------------


def test_minutes_are_words_cells_and_predictions() -> None:
    words = " ".join(["word"] * 149) + " [link](a/long/address) ![a picture of many words](images/a.svg) <b>"
    nb = notebook(prose(words), code("x"), code("x"), code("x"), code('predict("5.0a", ...)'))
    assert building.minutes_to_read(nb) == 1 + 1 + 1
    assert building.minutes_to_read(notebook(prose(words + " more"))) == 2, "rounded up"


def test_a_notebook_leads_on_and_what_was_written_by_hand_goes() -> None:
    """The link to the next notebook is generated, so it is there once however often the course is built."""
    opening = "# 05 · Vectors\n\n**7 minutes** · after lesson 04 · you can add"
    nb = notebook(prose(opening), prose("Three lines.\n\n**Next:** lesson 77."))
    for kind, first, then in (
        ("notebooks", "../exercises/05_vectors_exercises.ipynb", "06_broadcasting.ipynb"),
        ("solutions", "../notebooks/06_broadcasting.ipynb", "../notebooks/README.md"),
    ):
        made = building.mark(kind, nb, "05_vectors")
        *_, last, way_on = [cell["source"] for cell in made["cells"]]
        assert last == "Three lines." and way_on.index(first) < way_on.index(then)
        assert building.mark(kind, made, "05_vectors") == made
    made = building.mark("solutions", nb, notebooks.lessons()[-1])
    assert "the last lesson" in made["cells"][-1]["source"]
    assert re.search(r"^\*\*\d+ minutes\*\* · after", made["cells"][0]["source"], re.MULTILINE)


# Reading and writing -------------------------------------------------------------------------------------


def test_writing_what_was_read_changes_no_byte(tmp_path: Path) -> None:
    nb = notebook(
        prose("# Grüße\n\nx"),
        code("a\nb", outputs=[{"output_type": "stream", "name": "stdout", "text": "1\n2\n"}]),
    )
    notebooks.write(nb, tmp_path / "a.ipynb")
    first = (tmp_path / "a.ipynb").read_bytes()
    notebooks.write(notebooks.read(tmp_path / "a.ipynb"), tmp_path / "a.ipynb")
    assert (tmp_path / "a.ipynb").read_bytes() == first
    assert "Grüße".encode() in first and b"\r" not in first and first.endswith(b"}\n")


def test_our_layout_is_jupyters(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nb = notebooks.tidy(notebook(prose("# a\nb"), code("x = 1\nx", "minigrad-only")), "05_vectors")
    assert nbformat.writes(nbformat.from_dict(nb)) + "\n" == notebooks.dumps(nb)
    nbformat.validate(nb)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"cells": 3}', '{"worksheets": []}', '{"cells": [1]}', "\xff"])
def test_what_is_no_notebook_is_refused_in_words(content: str, tmp_path: Path) -> None:
    file = tmp_path / "odd.ipynb"
    file.write_bytes(content.encode("latin-1"))
    with pytest.raises(ValueError, match="is not a notebook"):
        notebooks.read(file)


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "a.ipynb"
    file.write_text(notebooks.dumps(notebook(code("1"))), encoding="utf-8-sig")
    assert notebooks.code_cells(notebooks.read(file)) == ["1"]


def test_code_cells_and_exercise_ids() -> None:
    nb = notebook(prose('check("9.9")'), code(" \n"), code('check("5.1")'), code('predict("5.2", guess)\ncheck("5.1")'))
    assert notebooks.code_cells(nb) == ['check("5.1")', 'predict("5.2", guess)\ncheck("5.1")']
    assert notebooks.exercise_ids(nb) == ["5.1", "5.2"]


def test_tidy_keeps_ids_and_mends_doubles() -> None:
    nb = notebooks.tidy(notebook(code("1", id="mine"), code("2", id="mine"), prose("3")), "05_vectors")
    assert [cell["id"] for cell in nb["cells"]] == ["mine", "minex", "05-002"]
    assert notebooks.tidy(nb, "05_vectors") == nb


# From a solution to an exercise --------------------------------------------------------------------------


def exercise(*cells: notebooks.Cell) -> notebooks.Notebook:
    return notebooks.exercise_from_solution(notebooks.mark_for_nbgrader(notebooks.tidy(notebook(*cells), "05_vectors")))


def test_a_blank_is_a_stub_in_place_of_the_solution() -> None:
    function, value = exercise(code(FUNCTION), code(VALUE), code('check("5.1")'))["cells"][:2]
    assert function["source"] == "def vjp_square(v, x):\n    ...  # your code here"
    assert value["source"] == "answer = ...  # your code here", "one blank for one answer"


def test_two_blanks_in_a_cell() -> None:
    source = "class V:\n" + FUNCTION.replace("\n", "\n    ") + "\n    kept = 1\n" + FUNCTION.replace("\n", "\n    ")
    (cell,) = exercise(code(source))["cells"]
    assert cell["source"].count(notebooks.STUB) == 2
    assert "kept = 1" in cell["source"] and "2 * x * v" not in cell["source"]


@pytest.mark.parametrize(
    "source",
    [
        "### BEGIN SOLUTION\nx",
        "x\n### END SOLUTION",
        "### BEGIN SOLUTION\n### BEGIN SOLUTION\n### END SOLUTION",
    ],
)
def test_markers_that_do_not_pair_up_are_refused(source: str) -> None:
    with pytest.raises(ValueError, match="solution"):
        notebooks.exercise_from_solution(notebook(code(source)))


def test_an_exercise_has_no_outputs_and_is_not_compared() -> None:
    shown = {"output_type": "stream", "name": "stdout", "text": "4\n"}
    nb = exercise(code(FUNCTION, "raises-exception", outputs=[shown], execution_count=3), code("print(4)"))
    for cell in nb["cells"]:
        assert cell["outputs"] == [] and cell["execution_count"] is None
        assert notebooks.IGNORE_OUTPUT in cell["metadata"]["tags"]
    assert "raises-exception" in nb["cells"][0]["metadata"]["tags"]


def test_answers_and_checks_carry_nbgraders_metadata() -> None:
    nb = exercise(prose("# x"), code("import numpy"), code(FUNCTION), code('check("5.1")'), code('check("5.1")'))
    marks = [cell["metadata"].get("nbgrader") for cell in nb["cells"]]
    assert marks[:2] == [None, None]
    shared = {"schema_version": 3, "task": False}
    assert marks[2] == shared | {"grade": False, "solution": True, "locked": False, "grade_id": "answer-5-1"}
    check = shared | {"grade": True, "solution": False, "locked": True, "points": marks[3]["points"]}
    assert marks[3:] == [check | {"grade_id": "check-5-1"}, check | {"grade_id": "check-5-1-2"}]
    assert marks[3]["points"] > 0
    assert nb["cells"][3]["metadata"]["editable"] is False and nb["cells"][3]["metadata"]["deletable"] is False


NBGRADER_FIELDS = {"schema_version", "grade", "locked", "solution", "task", "grade_id", "points"}


@pytest.mark.parametrize("lesson", LESSONS)
@pytest.mark.parametrize("kind", ["exercises", "solutions"])
def test_stored_metadata_fits_nbgraders_schema(kind: str, lesson: str) -> None:
    seen = set()
    for cell in notebooks.read(notebooks.path(kind, lesson))["cells"]:
        mark = cell["metadata"].get("nbgrader")
        if mark is None:
            continue
        assert set(mark) <= NBGRADER_FIELDS and mark["schema_version"] == 3
        assert re.fullmatch(r"[a-zA-Z0-9_\-]+", mark["grade_id"]) and mark["grade_id"] not in seen
        assert ("points" in mark) == mark["grade"] == mark["locked"] and mark["solution"] != mark["grade"]
        seen.add(mark["grade_id"])
    assert seen


@pytest.mark.slow
@pytest.mark.needs("nbgrader")
def test_nbgrader_makes_the_same_student_notebooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real `generate_assignment`, on the folder that `build --nbgrader` lays out."""
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config

    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    monkeypatch.setenv("PATH", programs)  # nbgrader calls alembic by its name
    notebooks.lay_out_for_nbgrader(tmp_path)
    config = Config()
    exec((tmp_path / "nbgrader_config.py").read_text(encoding="utf-8"), {"get_config": lambda: config})
    config.CourseDirectory.root = str(tmp_path)
    api = NbGraderAPI(config=config)
    for lesson in LESSONS:
        result = api.generate_assignment(lesson)
        assert result["success"], result.get("error")
        released = notebooks.read(tmp_path / "release" / lesson / f"{lesson}_exercises.ipynb")
        ours = notebooks.read(notebooks.path("exercises", lesson))
        assert [cell["source"] for cell in released["cells"]] == [cell["source"] for cell in ours["cells"]]


# The swap of engines -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("import minigrad as torch", "import torch as torch"),
        ("import minigrad.nn as nn", "import torch.nn as nn"),
        ("from minigrad.autograd import Function", "from torch.autograd import Function"),
        ("from minigrad import nn, tensor", "from torch import nn, tensor"),
        ("import numpy as np, minigrad as torch", "import numpy as np, torch as torch"),
        ("def f():\n    import minigrad\n", "def f():\n    import torch\n"),
        ("é = 1; import minigrad as torch", "é = 1; import torch as torch"),
        ("import minigrad_tools", "import minigrad_tools"),
        ("print('import minigrad')  # import minigrad", "print('import minigrad')  # import minigrad"),
    ],
)
def test_exactly_the_packages_name_in_imports_is_swapped(ours: str, theirs: str) -> None:
    (cell,) = to_torch(notebook(code(ours)))["cells"]
    assert cell["source"] == theirs


def test_cells_for_minigrad_only_are_dropped() -> None:
    nb = notebook(code("from minigrad.viz import step", "minigrad-only"), prose("a"), code("1"))
    assert [cell["source"] for cell in to_torch(nb)["cells"]] == ["a", "1"]


# Laying out ----------------------------------------------------------------------------------------------


def test_a_student_gets_lessons_and_exercises_without_outputs(tmp_path: Path) -> None:
    written, kept = notebooks.lay_out(tmp_path)
    assert written and not kept
    assert {file.relative_to(tmp_path).parts[0] for file in written} == {"notebooks", "exercises"}
    for file in written:
        if file.suffix == ".ipynb":
            cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
            assert all(cell.get("outputs", []) == [] for cell in cells)


def test_a_file_that_is_there_is_never_touched(tmp_path: Path) -> None:
    written, _ = notebooks.lay_out(tmp_path)
    mine, gone = written[0], written[1]
    mine.write_text("my work", encoding="utf-8")
    os.utime(mine, (1, 1))
    gone.unlink()
    again, kept = notebooks.lay_out(tmp_path)
    assert again == [gone]
    assert mine in kept and mine.read_text(encoding="utf-8") == "my work" and mine.stat().st_mtime == 1
    assert not list(tmp_path.rglob(".*")), "nothing half-written stays"


@pytest.mark.skipif(os.name != "posix", reason="optional: symbolic links need rights on this system")
def test_a_dangling_link_counts_as_there(tmp_path: Path) -> None:
    written, _ = notebooks.lay_out(tmp_path)
    written[0].unlink()
    written[0].symlink_to(tmp_path / "elsewhere.ipynb")
    again, _ = notebooks.lay_out(tmp_path)
    assert again == [] and not (tmp_path / "elsewhere.ipynb").exists()


def test_without_hard_links_the_file_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*paths: str) -> None:
        raise OSError("no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    written, kept = notebooks.lay_out(tmp_path)
    assert written and not kept and all(file.stat().st_size for file in written)


@pytest.mark.parametrize(
    "name",
    ["05_vectors.ipynb", "05_vectors_exercises.ipynb", "05_vectors_exercises (1).ipynb",
     "05_vectors_exercises.2026-01-01-120000.ipynb", "my work.ipynb"],
)
def test_a_renamed_notebook_still_finds_its_lesson(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(notebooks.path("exercises", "05_vectors").read_bytes())
    assert notebooks.lesson_of(file) == "05_vectors"


def test_a_students_copy_names_the_kernel_as_jupyterlab_does() -> None:
    """Else JupyterLab would mark it as changed as soon as it is opened."""
    from ipykernel.ipkernel import IPythonKernel
    from ipykernel.kernelspec import get_kernel_dict

    copy = json.loads(notebooks.for_student(notebooks.path("notebooks", "05_vectors")))
    spec = {name: value for name, value in get_kernel_dict().items() if name in ("display_name", "language")}
    copy["metadata"].pop("minigrad")  # which JupyterLab keeps as it is
    assert copy["metadata"] == {"kernelspec": spec | {"name": "python3"}, "language_info": IPythonKernel.language_info}
    assert all(cell.get("outputs", []) == [] for cell in copy["cells"])


def test_a_strangers_notebook_belongs_to_no_lesson(tmp_path: Path) -> None:
    notebooks.write(notebook(code("1")), tmp_path / "a.ipynb")
    assert notebooks.lesson_of(tmp_path / "a.ipynb") is None
