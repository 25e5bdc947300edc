"""nbval and nbgrader decide by the answer: an exercise notebook is red while blank and green once solved.

Five cases: blank and never run, run and saved, with outputs cleared; solved with stale outputs, with fresh
ones. `pytest --nbval` runs outside the checkout, as a student would.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from minigrad.course import notebooks

# Of every kind of exercise one; that every blank has no marks and every solution all, tests/grading/test_course.py shows.
LESSONS = ["01_slope", "06_broadcasting", "13_clinic"]
OUTCOME = re.compile(r"^(\w+)::ipynb::Cell \d+ ([A-Z]+)", re.MULTILINE)


def nbval(folder: Path, *files: str) -> subprocess.CompletedProcess[str]:
    """One run for all of these files: each has a kernel of its own."""
    ours = ("MINIGRAD_", "PYTEST", "NBGRADER")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    command = [sys.executable, "-m", "pytest", "-p", "minigrad", "--nbval", "-p", "no:cacheprovider", "-v", *files]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=250, check=False)


def as_saved_after_a_run(nb: notebooks.Notebook, folder: Path) -> notebooks.Notebook:
    """The notebook as JupyterLab saves it after "run all": checks show a card and raise nothing."""
    import nbclient
    import nbformat

    client = nbclient.NotebookClient(
        nbformat.from_dict(nb),
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    env = {name: value for name, value in os.environ.items() if not name.startswith("MINIGRAD_")}
    ran: notebooks.Notebook = client.execute(env=env, stderr=subprocess.DEVNULL)
    return ran


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS)
def test_a_blank_notebook_is_red_and_a_solved_one_green(lesson: str, tmp_path: Path) -> None:
    blank = notebooks.read(notebooks.path("exercises", lesson))
    saved = as_saved_after_a_run(blank, tmp_path)
    results = [output.get("data", {}).get("text/plain") for cell in saved["cells"] for output in cell.get("outputs", ())]
    assert "Ellipsis" not in results, "a blank that is run as it stands shows nothing"
    cleared = notebooks.strip_outputs(saved)

    stale = notebooks.read(notebooks.path("exercises", lesson))
    solution = notebooks.read(notebooks.path("solutions", lesson))
    for cell, solved, ran in zip(stale["cells"], solution["cells"], saved["cells"], strict=True):
        cell["source"] = solved["source"]
        if cell["cell_type"] == "code":
            cell["outputs"], cell["execution_count"] = ran["outputs"], ran["execution_count"]
    fresh = as_saved_after_a_run(stale, tmp_path)

    files = {"never_run": blank, "saved": saved, "cleared": cleared, "stale": stale, "fresh": fresh}
    for name, nb in files.items():
        notebooks.write(nb, tmp_path / f"{name}.ipynb")
    done = nbval(tmp_path, *(f"{name}.ipynb" for name in files))
    cells, exercises = len(notebooks.code_cells(blank)), len(notebooks.exercise_ids(blank))
    red, green = {"FAILED": exercises, "PASSED": cells - exercises}, {"PASSED": cells}
    outcomes: dict[str, Counter[str]] = {name: Counter() for name in files}
    for name, outcome in OUTCOME.findall(done.stdout):
        outcomes[name][outcome] += 1
    expected = {"never_run": red, "saved": red, "cleared": red, "stale": green, "fresh": green}
    assert outcomes == expected, f"each blank fails, and nothing else: {done.stdout}"
    assert f"{3 * exercises} failed, {5 * cells - 3 * exercises} passed" in done.stdout, done.stdout


ENVIRONMENT = "import os\nprint(os.environ.get('MINIGRAD_CHECK'), os.environ.get('MINIGRAD_DISPLAY'))"


@pytest.mark.slow
def test_the_plugin_reaches_the_kernel_and_leaves_no_trace(tmp_path: Path) -> None:
    """The kernel sees the two variables; a test that runs after the notebook does not."""
    shown = {"output_type": "stream", "name": "stdout", "text": "raise static\nobject at 0xabcdef12\n"}
    source = ENVIRONMENT + "\nprint('object at', hex(id(os)))"
    cell = {
        "cell_type": "code",
        "metadata": {},
        "source": source,
        "outputs": [shown],
        "execution_count": 1,
        "id": "a",
    }
    nb = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    notebooks.write(notebooks.tidy(nb), tmp_path / "a.ipynb")
    after = "import os\ndef test_after():\n    assert 'MINIGRAD_CHECK' not in os.environ\n"
    (tmp_path / "test_b.py").write_text(after, encoding="utf-8")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MINIGRAD_", "PYTEST"))}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--nbval",
        "-q",
        "-p",
        "no:cacheprovider",
        "a.ipynb",
        "test_b.py",
    ]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout
