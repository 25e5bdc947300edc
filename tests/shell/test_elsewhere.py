"""Every command in a folder named in German, with the home folder there: here, and as on macOS and on Windows.

The other systems are simulated (tests/elsewhere): no fork and no descriptor for a child on Windows, spawn instead of fork in a
pool, no /proc and no Linux calls on macOS. A copy of the checkout stands in the folder, too.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import matplotlib
import pytest

from tests.browser.fixtures import free_port, stop, wait_until_it_answers

ROOT = Path(__file__).parents[2]
MINIGRAD = [sys.executable, "-m", "minigrad.course.commands.cli"]
LESSON = "05_vectors"

EVERY_EXERCISE = """
from minigrad.course import lessons
from minigrad.course.checks.checking import examine
from minigrad.course.student.child import can_fork
right, wrong = [], []
for exercise in lessons.all_exercises():
    if exercise.kind not in ("function", "program") or exercise.one_of:
        continue
    right += [exercise.id] * (not examine(exercise, exercise.namespace(exercise.alternatives[0])).passed)
    wrong += [exercise.id] * examine(exercise, exercise.namespace(exercise.wrong[0].answer)).passed
print(can_fork(), right, wrong)
"""
TWO_LESSONS = """
import multiprocessing as used
from minigrad.course import lessons, site
contexts, used.get_context = [], lambda method, get=used.get_context: contexts.append(method) or get(method)
made = {lesson.slug: len(living) for lesson, living in site.moved(lessons.all_lessons()[1:3])}
print(contexts, made)
"""


class Place:
    """A user's folder on one system, in which commands run."""

    def __init__(self, folder: Path, system: str) -> None:
        self.system, self.home = system, folder / "Käse und Brot"
        self.checkout = self.home / "mini grad"
        for name in ("minigrad", "notebooks", "exercises", "solutions"):
            shutil.copytree(ROOT / name, self.checkout / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
        shutil.copy(ROOT / "pyproject.toml", self.checkout)
        jupyter = self.home / ".jupyter"
        jupyter.mkdir()
        (jupyter / "jupyter_server_config.json").write_text('{"ServerApp": {"allow_root": true}}')
        ours = ("MINIGRAD_", "JUPYTER", "PYTEST", "PYTHON", "XDG_", "IPYTHON")
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(ours)} | {
            "HOME": str(self.home), "PYTHONPATH": str(self.checkout), "PYTHONWARNDEFAULTENCODING": "1",
            "no_proxy": "127.0.0.1,localhost", "JUPYTER_TOKEN": "t", "MPLCONFIGDIR": matplotlib.get_cachedir(),
        }  # fmt: skip
        if system != "Linux":
            paths = os.pathsep.join([str(ROOT / "tests" / "elsewhere"), str(self.checkout)])
            self.env |= {"MINIGRAD_ELSEWHERE": system, "PYTHONPATH": paths}

    def run(self, *line: str | Path, code: int = 0, command: list[str] = MINIGRAD) -> str:
        """What a command prints; it has to end with `code`."""
        words = [*command, *map(str, line)]
        done = subprocess.run(words, cwd=self.home, env=self.env, capture_output=True, text=True, encoding="utf-8", timeout=280)
        shown = done.stdout + done.stderr
        assert done.returncode == code, f"{line} ended with {done.returncode}:\n{shown}"
        unsaid = [line for line in shown.splitlines() if "EncodingWarning" in line and str(self.checkout) in line]
        assert "Traceback" not in shown and not unsaid, shown
        return shown


@pytest.fixture(params=["Linux", "Darwin", "Windows"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return Place(tmp_path, request.param)


@pytest.mark.slow
def test_every_command_in_a_folder_with_spaces_and_umlauts(place: Place) -> None:
    course = place.home / "Kurs für Jörg"
    exercises = course / "exercises" / f"{LESSON}_exercises.ipynb"
    lab(place, course)
    assert exercises.exists()

    shown = place.run("doctor")
    assert f"checkout in {place.checkout}" in shown and f"on {place.system}" in shown
    assert ("watchdog" in shown) == (place.system == "Windows") and "ok    kernel" in shown
    assert ("no isolation works here" in shown and "WSL2" in shown) == (place.system == "Windows")

    place.run("check", exercises, code=1)
    shutil.copy(ROOT / "solutions" / f"{LESSON}_exercises.ipynb", exercises)
    total = re.search(r"(\d+) of (\d+) passed", place.run("check", exercises))
    assert total and total[1] == total[2]
    place.run("solution", "--yes", exercises)
    assert (exercises.parent / f"{LESSON}_solution.ipynb").exists()
    assert str(course) in place.run("progress", "--dir", course)
    place.run("reset", exercises)
    assert len(list(exercises.parent.glob(f"{LESSON}_exercises*"))) == 2, "the old one is there under a dated name"

    if place.system != "Darwin":  # where PyTorch, if it is here, looks for libraries of that system
        before = {f: f.read_bytes() for kind in ("exercises", "solutions", "notebooks") for f in (ROOT / kind).glob("05*")}
        del place.env["PYTHONWARNDEFAULTENCODING"]  # the outputs of the lesson would show the warnings of other packages
        place.run("build", "--lesson", "05")  # its checks run in a kernel, as in the lab
        for file, content in before.items():
            made = (place.checkout / file.relative_to(ROOT)).read_bytes()
            assert [a for a, b in zip(made.splitlines(), content.splitlines()) if a != b][:3] == [], file
            assert len(made) == len(content), file

    handed_in = place.home / "Abgaben" / "Jörg Groß"
    handed_in.mkdir(parents=True)
    shutil.copy(ROOT / "solutions" / f"{LESSON}_exercises.ipynb", handed_in / exercises.name)
    report = place.home / "Bericht über alle"
    line = ("grade", handed_in.parent, "--out", report, "--jobs", "2")
    if place.system == "Windows":
        assert "WSL2" in place.run(*line, code=1)
        return
    place.run(*line, *(["--isolation", "process", "--trust-students"] if place.system == "Darwin" else []))
    (result,) = map(json.loads, (report / "results.jsonl").read_text(encoding="utf-8").splitlines())
    assert "Jörg Groß" in json.dumps(result, ensure_ascii=False) and result["points"] == result["out_of"]
    assert list((report / "feedback").glob("*/*.html"))


def lab(place: Place, course: Path) -> None:
    """Start the lab there, and ask the server for a notebook of the course."""
    port, log = free_port(), place.home / "lab.log"
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [*MINIGRAD, "lab", "--no-browser", "--port", str(port), "--dir", str(course)],
            cwd=place.home, env=place.env, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, start_new_session=True,
        )  # fmt: skip
    try:
        path = f"api/contents/exercises/{LESSON}_exercises.ipynb"
        wait_until_it_answers(f"http://127.0.0.1:{port}/{path}?token=t", process, log)
    finally:
        stop(process)


@pytest.mark.slow
def test_every_exercise_is_checked_where_nothing_forks(tmp_path: Path) -> None:
    place = Place(tmp_path, "Windows")
    assert place.run("-c", EVERY_EXERCISE, command=[sys.executable]).splitlines()[-1] == "False [] []"


@pytest.mark.slow
def test_the_lessons_of_a_site_are_run_where_processes_are_spawned(tmp_path: Path) -> None:
    shown = Place(tmp_path, "Darwin").run("-c", TWO_LESSONS, command=[sys.executable])
    assert re.search(r"^\['spawn'\] \{'01_\w+': [1-9], '02_\w+': [1-9]\}$", shown, re.MULTILINE), shown
