"""The commands, as a student or teacher types them: what they do, what they say, and how they end."""

import argparse
import builtins
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from minigrad.course import lessons, notebooks
from minigrad.course.checks import own_engine
from minigrad.course.commands import building, cli
from minigrad.course.exercise import EDITION

COMMANDS = ("lab", "check", "solution", "engine", "progress", "reset", "show", "doctor", "build")
LESSON = "05_vectors"
ASKED = sum(exercise.points > 0 for exercise in lessons.all_exercises())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A student's folder with the course laid out; also the working directory."""
    monkeypatch.delenv("MINIGRAD_CHECK", raising=False)
    notebooks.lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def blank(folder: Path) -> Path:
    return folder / "exercises" / f"{LESSON}_exercises.ipynb"


@pytest.fixture
def solved(blank: Path) -> Path:
    nb = notebooks.read(notebooks.path("solutions", LESSON))
    notebooks.write(notebooks.strip_outputs(nb), blank)
    return blank


def run(*arguments: str | Path) -> int:
    return cli.main([str(argument) for argument in arguments])


# Help and wrong use --------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_that_parses(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        run(command, "--help")
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    example = re.search(r"^  minigrad (.+)$", shown, re.MULTILINE)
    assert example and example[1].split()[0] == command
    cli.make_parser().parse_args(example[1].split())


@pytest.mark.parametrize(
    "arguments",
    [["fly"], ["lab", "--port", "0"], ["lab", "--port", "x"], ["check"], ["reset"], ["build", "--x"]],
)
def test_wrong_use_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        run(*arguments)
    assert stop.value.code == 2
    assert "usage:" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("command", ["check", "solution", "reset"])
def test_a_missing_notebook_is_wrong_use(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command, "nowhere.ipynb") == 2
    assert "there is no notebook nowhere.ipynb" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("command", ["check", "solution", "reset"])
def test_a_file_that_is_no_notebook(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.ipynb").write_text("hello", encoding="utf-8")
    assert run(command, "a.ipynb") == 2
    assert "is not a notebook" in capsys.readouterr().err
    assert Path("a.ipynb").read_text(encoding="utf-8") == "hello"
    Path("deep.ipynb").write_text("[" * 100_000, encoding="utf-8")
    assert run(command, "deep.ipynb") == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [["lab", "--dir", "file"], ["lab", "--dir", "file/x"], ["build", "--nbgrader", "file"], ["progress", "--dir", "file"]],
)
def test_a_file_where_a_folder_is_wanted(arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("file").touch()
    assert run(*arguments) == 2
    assert "file" in capsys.readouterr().err


def test_an_unknown_lesson_cannot_be_built(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("build", "--lesson", "77") == 2
    assert "05_vectors" in capsys.readouterr().err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        run("--version")
    assert stop.value.code == 0
    assert re.fullmatch(r"minigrad-course \d+\.\d+\.\d+\n", capsys.readouterr().out)


@pytest.mark.slow
def test_as_a_program_it_prints_plain_ascii(blank: Path) -> None:
    """In a pipe whose encoding is ASCII; no escape sequences either."""
    done = subprocess.run(
        [sys.executable, "-m", "minigrad.course.commands.cli", "check", str(blank)],
        capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout.isascii() and b"\x1b" not in done.stdout + done.stderr


# check ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_reader_who_leaves_early(folder: Path) -> None:
    """`minigrad doctor | head`: no traceback, however Python buffers what it prints."""
    for buffering in ({}, {"PYTHONUNBUFFERED": "1"}):
        env = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"} | buffering
        command = [sys.executable, "-m", "minigrad.course.commands.cli", "doctor"]
        program = subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert program.stdout and program.stderr
        program.stdout.close()
        assert (program.stderr.read(), program.wait()) == (b"", 1)


@pytest.mark.slow
def test_check_of_a_blank_notebook(blank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", blank) == 1
    shown = capsys.readouterr().out
    assert "5.1 " in shown and "not attempted" in shown
    assert re.search(r"^0 of \d+ passed$", shown, re.MULTILINE)


@pytest.mark.slow
def test_check_of_a_solved_notebook(solved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("check", solved) == 0
    shown = capsys.readouterr().out
    total = len(notebooks.exercise_ids(notebooks.read(solved)))
    assert shown.count(": passed") == total
    assert f"{total} of {total} passed" in shown


@pytest.mark.slow
def test_one_unsolved_notebook_among_several(solved: Path, folder: Path) -> None:
    other = folder / "other.ipynb"
    other.write_bytes(notebooks.path("exercises", LESSON).read_bytes())
    assert run("check", solved, other) == 1


@pytest.mark.slow
def test_check_writes_nothing(solved: Path, folder: Path) -> None:
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    run("check", solved)
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before


def spoil(file: Path, source: str) -> None:
    """Put a cell before the first check of a notebook."""
    nb = notebooks.read(file)
    place = next(i for i, cell in enumerate(nb["cells"]) if cell["source"].startswith("check("))
    nb["cells"].insert(place, {**nb["cells"][place], "source": source, "id": "spoiled", "metadata": {}})
    notebooks.write(nb, file)


@pytest.mark.slow
def test_a_cell_that_raises_does_not_stop_later_cells(solved: Path) -> None:
    spoil(solved, "raise ValueError('mine')")
    assert run("check", solved) == 0


@pytest.mark.slow
def test_a_wrong_answer_says_what_it_gave(solved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil(solved, "def vjp_square(v, x):\n    return x * v")
    assert run("check", solved) == 1
    shown = capsys.readouterr().out
    assert "5.1" in shown and "not yet" in shown and "it gave" in shown


@pytest.mark.slow
def test_a_loop_costs_its_exercise_only(
    solved: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The function loops whenever it is called: in the check, and in each cell that tries it."""
    from minigrad.course.commands import terminal

    monkeypatch.setattr(terminal, "CELL_SECONDS", 3.0)
    spoil(solved, "def vjp_square(v, x):\n    while True:\n        pass")
    assert run("check", solved) == 1
    total = len(notebooks.exercise_ids(notebooks.read(solved)))
    assert f"{total - 1} of {total} passed" in capsys.readouterr().out


DOES = {
    "return list(range(1 << 40))": "may use 512 MB of memory",
    "import os; os._exit(0)": "ended the whole process",
    "import minigrad; t = minigrad.tensor(x); return 2 * x * v": "minigrad are switched off",
}


@pytest.mark.slow
@pytest.mark.parametrize("line", DOES)
def test_limits_are_those_of_the_notebook(solved: Path, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """And the others are judged all the same. The cells that try the function are left out."""
    nb = notebooks.read(solved)
    for cell in nb["cells"]:
        if "def vjp_square" in cell["source"]:
            cell["source"] = f"def vjp_square(v, x):\n    {line}"
        elif "vjp_square(" in cell["source"]:
            cell["source"] = ""
    notebooks.write(nb, solved)
    assert run("check", solved) == 1
    shown = capsys.readouterr().out
    total = len(notebooks.exercise_ids(notebooks.read(solved)))
    assert DOES[line] in " ".join(shown.split()) and f"{total - 1} of {total} passed" in shown, shown


@pytest.mark.slow
def test_a_cell_that_ends_the_process_is_left_out(solved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil(solved, "import os\nos._exit(0)")
    assert run("check", solved) == 0
    assert "is left out: it ended everything: import os" in capsys.readouterr().out


CHECK_AS_ON_WINDOWS = """
import platform, sys
platform.system = lambda: "Windows"
from minigrad.course.commands import cli
sys.exit(cli.main(["check", sys.argv[1]]))
"""


@pytest.mark.slow
def test_check_where_no_process_can_be_had(solved: Path) -> None:
    """In a process of its own, because there the cells run in the command itself."""
    command = [sys.executable, "-c", CHECK_AS_ON_WINDOWS, str(solved)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    spoil(solved, "def vjp_square(v, x):\n    return x * v")
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1


def test_a_lesson_holds_no_graded_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nb = notebooks.read(folder / "notebooks" / f"{LESSON}.ipynb")
    nb["cells"] = [cell for cell in nb["cells"] if "predict(" not in cell["source"] and "check(" not in cell["source"]]
    notebooks.write(nb, folder / "read.ipynb")
    assert run("check", "read.ipynb") == 2
    assert "holds no check" in capsys.readouterr().err


# solution ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_solution_of_a_solved_notebook(solved: Path) -> None:
    assert run("solution", solved) == 0
    written = solved.with_name(f"{LESSON}_solution.ipynb")
    assert notebooks.code_cells(notebooks.read(written)) == notebooks.code_cells(notebooks.read(solved))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.slow
@pytest.mark.parametrize(("reply", "code"), [("y", 0), ("n", 1), ("", 1)])
def test_it_asks_first_while_unsolved(blank: Path, reply: str, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(reply + "\n"))
    assert run("solution", blank) == code
    assert blank.with_name(f"{LESSON}_solution.ipynb").exists() == (code == 0)


@pytest.mark.slow
def test_without_a_terminal_it_says_how(
    blank: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert run("solution", blank) == 2
    assert "--yes" in capsys.readouterr().err
    assert run("solution", "--yes", blank) == 0


def test_a_solution_that_is_there_stays(solved: Path) -> None:
    written = solved.with_name(f"{LESSON}_solution.ipynb")
    written.write_text("my notes", encoding="utf-8")
    assert run("solution", solved) == 0
    assert written.read_text(encoding="utf-8") == "my notes"


# reset ---------------------------------------------------------------------------------------------------


def test_reset_keeps_the_old_one_under_a_dated_name(solved: Path) -> None:
    mine = solved.read_bytes()
    for _ in range(2):  # the second time there is nothing to do
        assert run("reset", solved) == 0
    fresh = notebooks.for_student(notebooks.path("exercises", LESSON))
    assert solved.read_bytes() == fresh
    kept = sorted(file for file in solved.parent.iterdir() if re.search(r"\.\d{4}-\d\d-\d\d-\d{6}", file.name))
    assert [file.read_bytes() for file in kept] == [mine]


def test_reset_of_a_lesson_gives_the_lesson(folder: Path) -> None:
    file = folder / "notebooks" / f"{LESSON}.ipynb"
    before = file.read_bytes()
    file.write_bytes(before.replace(b"minutes", b"hours"))
    assert run("reset", file) == 0
    assert file.read_bytes() == before


# progress, doctor, build ---------------------------------------------------------------------------------


def test_progress_shows_every_exercise(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("progress", "--dir", folder) == 0
    shown = capsys.readouterr().out
    assert f"solved 0 of {ASKED}" in shown and "Next: lesson 00, Start here" in shown
    assert "--all" in shown and "5.1" not in shown
    assert run("progress", "--all", "--dir", folder) == 0
    assert "5.1 " in capsys.readouterr().out


def test_a_long_progress_ends_with_what_is_done_and_what_is_next(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And it counts as everything else does: the questions of the lessons are no exercises."""
    known = [exercise for lesson in lessons.all_lessons() for exercise in lesson.exercises]
    done = {exercise.id: {"passed": True, "tries": 1} for exercise in [*known[:30], lessons.find("5.0a")]}
    record = {"minigrad": 1, "edition": EDITION, "exercises": done}
    (folder / "minigrad-progress.json").write_text(json.dumps(record), encoding="utf-8")
    count = sum(exercise.points > 0 for exercise in known[:30])
    for options in ([], ["--all"]):
        assert run("progress", *options) == 0
        shown = capsys.readouterr().out
        assert f"You have solved {count} of {ASKED} exercises." in shown and "points" not in shown
        assert any("Next: lesson 05" in line for line in shown.splitlines()[-4:]), shown
        assert len(shown.splitlines()) < 24 or options
    assert run() == 0
    assert f"You have solved {count} of {ASKED} exercises." in capsys.readouterr().out


@pytest.mark.parametrize("place", [".", "exercises"])
def test_progress_of_the_folder_one_is_in(
    folder: Path, place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record = {"minigrad": 1, "edition": EDITION, "exercises": {"5.1": {"passed": True, "tries": 77}}}
    (folder / "minigrad-progress.json").write_text(json.dumps(record), encoding="utf-8")
    (folder / "exercises").mkdir(exist_ok=True)
    monkeypatch.chdir(folder / place)
    assert run("progress", "--all") == 0
    assert "77" in capsys.readouterr().out


def test_progress_finds_the_course_that_lab_laid_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also beside it in a checkout, which has a folder of exercises itself, and from within."""
    for folder in ("exercises", "solutions", "minigrad-course/exercises", "minigrad-course/notebooks/reference", "elsewhere"):
        (tmp_path / folder).mkdir(parents=True)
    file = tmp_path / "minigrad-course" / "minigrad-progress.json"
    monkeypatch.chdir(tmp_path)
    assert run("progress") == 0
    assert f"there is no {file}" in capsys.readouterr().out
    record = {"minigrad": 1, "edition": EDITION, "exercises": {"5.1": {"passed": True, "tries": 77}}}
    file.write_text(json.dumps(record), encoding="utf-8")
    for place in (".", "minigrad-course", "minigrad-course/exercises", "minigrad-course/notebooks/reference", "elsewhere"):
        monkeypatch.chdir(tmp_path / place)
        assert run("progress", "--all") == 0
        out = capsys.readouterr().out
        assert "77" in out and f"Read from {file}" in out


def test_progress_of_no_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("progress", "--dir", "nowhere") == 2
    assert "minigrad lab" in capsys.readouterr().err


def test_engine_writes_what_is_missing_and_says_whose_it_is(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / own_engine.FILE
    assert run("engine") == 0
    assert f"There is no {file} yet" in capsys.readouterr().out
    mine = "def unbroadcast(g, shape):\n    return g  # mine\n"
    file.write_text(mine, encoding="utf-8")
    assert run("engine", "--upto", "matmul", "--dir", folder) == 0
    shown = capsys.readouterr().out
    assert "3.1, 3.2, 3.3, 3.4, 3.5, 3.6, 4.6, 5.4, 5.5 and 6.3." in shown and 'keep("3.1") puts yours in its place' in shown
    text = file.read_text(encoding="utf-8")
    assert mine in text and "matmul_backward" not in text
    assert "# 6.3 backward of sum and mean (from the reference, not yours)\ndef sum_backward" in text
    assert [old.read_text() for old in (folder / own_engine.OLDER).iterdir()] == [mine]
    assert run("engine", "--upto", "07") == 0 and file.read_text(encoding="utf-8") == text
    assert "lacks nothing of the lessons before 07" in capsys.readouterr().out
    assert run("engine") == 0
    shown = capsys.readouterr().out
    assert re.search(r"yours +6\.1\n +from the reference +3\.1, .*6\.3\n +not there yet +7\.1, ", shown), shown
    assert shown.endswith("minigrad engine --upto 08 writes 7.1: all that is missing of the lessons before 08.\n")
    assert run("progress") == 0
    assert "my_engine.py has 1 of" in (shown := capsys.readouterr().out) and "from the reference 3.1, 3.2" in shown


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "before", "says"),
    [
        (["--upto", "77"], b"", "there is no lesson 77"),
        (["--upto", ""], b"", "there is no lesson ''"),
        (["--dir", "nowhere"], b"", "there is no folder nowhere"),
        (["--upto", "07"], b"x = 1\ndef f(:\n", "my_engine.py is no Python in line 2"),
        ([], b"\xff", "my_engine.py is no text in UTF-8"),
    ],
)
def test_engine_with_what_it_cannot_use(
    folder: Path, arguments: list[str], before: bytes, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / own_engine.FILE).write_bytes(before)
    assert run("engine", *arguments) == 2
    assert says in capsys.readouterr().err and (folder / own_engine.FILE).read_bytes() == before
    assert run("progress") == 0 and (b"f(" not in before or "is no Python in line 2" in capsys.readouterr().out)


def test_an_engine_that_is_read_only_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / own_engine.FILE).write_text("x = 1\n")
    monkeypatch.setattr(own_engine.os, "access", lambda file, mode: False)
    assert run("engine", "--upto", "04") == 2
    assert "it is read-only" in capsys.readouterr().err and (folder / own_engine.FILE).read_text() == "x = 1\n"


@pytest.mark.slow
def test_doctor_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("doctor") == 0
    shown = capsys.readouterr().out
    for thing in ("python", "numpy", "jupyterlab", "stepper", "checks", "browser", "grading", "kernel"):
        assert re.search(rf"^(ok|note) +{thing} ", shown, re.MULTILINE), thing


def test_doctor_without_jupyter(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from minigrad.course.commands import doctor

    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    monkeypatch.setattr(doctor, "isolation", lambda: doctor.Finding("ok", "grading", "not looked at"))
    assert run("doctor") == 1
    shown = capsys.readouterr().out
    assert shown.count("NO ") >= 5 and 'pip install -e ".[course]"' in shown


def test_doctor_where_nothing_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    from minigrad.course.commands import doctor

    monkeypatch.delattr("os.fork")
    assert "watchdog" in str(doctor.checks())
    monkeypatch.setattr("platform.system", lambda: "Windows")
    assert doctor.python().level == "note"


@pytest.mark.parametrize("command", ["lab", "build"])
def test_without_the_extras_a_command_says_which_to_install(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from minigrad.course.commands import lab

    known, spec = builtins.__import__, lab.find_spec

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.split(".")[0] in ("nbclient", "jupyterlab"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return known(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setattr(lab, "find_spec", lambda name: None if name == "jupyterlab" else spec(name))
    assert run(command) == 2
    assert 'extra "course"' in capsys.readouterr().err


def test_a_missing_module_of_our_own_is_a_bug_and_is_shown() -> None:
    with pytest.raises(ModuleNotFoundError):
        cli.missing(ModuleNotFoundError("No module named 'minigrad.gone'", name="minigrad.gone"))


@pytest.fixture
def small_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course of one tiny lesson, in place of the real one."""
    cell = {
        "cell_type": "code",
        "metadata": {},
        "source": "print(2 * 21)",
        "outputs": [],
        "execution_count": None,
    }
    nb = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    notebooks.write(nb, tmp_path / "solutions" / "41_small_exercises.ipynb")
    monkeypatch.setattr(notebooks, "course_root", lambda: tmp_path)
    monkeypatch.setattr(building, "pages", dict)
    monkeypatch.setattr(lessons, "all_lessons", list)
    return tmp_path


@pytest.mark.slow
def test_build_writes_once_and_then_changes_nothing(small_course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("build") == 0
    assert capsys.readouterr().out.split() == [
        "written",
        "solutions/41_small_exercises.ipynb",
        "written",
        "exercises/41_small_exercises.ipynb",
    ]
    assert notebooks.read(small_course / "solutions" / "41_small_exercises.ipynb")["cells"][0]["outputs"][0]["text"] == ["42\n"]
    before = (small_course / "solutions" / "41_small_exercises.ipynb").read_bytes()
    assert run("build", "--lesson", "41") == 0
    assert capsys.readouterr().out.count("unchanged") == 2
    assert (small_course / "solutions" / "41_small_exercises.ipynb").read_bytes() == before


@pytest.mark.slow
def test_build_stops_at_a_cell_that_fails(small_course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = small_course / "solutions" / "41_small_exercises.ipynb"
    file.write_text(file.read_text(encoding="utf-8").replace("print(2 * 21)", "1 / 0"), encoding="utf-8")
    before = file.read_bytes()
    assert run("build") == 1
    assert "ZeroDivisionError" in capsys.readouterr().err
    assert file.read_bytes() == before


def test_build_for_nbgrader(tmp_path: Path) -> None:
    assert run("build", "--nbgrader", tmp_path) == 0
    assert (tmp_path / "source" / LESSON / f"{LESSON}_exercises.ipynb").exists()
    assert "...  # your code here" in (tmp_path / "nbgrader_config.py").read_text(encoding="utf-8")


def test_build_is_for_checkouts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(notebooks, "is_installed", lambda: True)
    assert run("build") == 2
    assert "checkout" in capsys.readouterr().err


# The bar -------------------------------------------------------------------------------------------------


def test_no_bar_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(cli.bar([1, 2, 3], 3)) == [1, 2, 3]
    assert capsys.readouterr() == ("", "")


def test_a_bar_in_a_terminal_is_cleared_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)

    def items() -> Iterator[int]:
        yield from (1, 2)

    assert list(cli.bar(items(), 2)) == [1, 2]
    assert "[##########          ] 1/2" in screen.getvalue() and screen.getvalue().isascii()
    assert screen.getvalue().endswith("\r\x1b[K")


# lab -----------------------------------------------------------------------------------------------------


def test_the_command_line_of_lab(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from minigrad.course.commands import lab

    line = lab.command(folder, browser=False, port=9000)
    assert line[:3] == [sys.executable, "-m", "jupyterlab"]
    assert "--no-browser" in line and "--ServerApp.port=9000" in line
    assert "--LabApp.default_url=/lab/tree/Welcome.md" in line
    assert "--no-browser" not in lab.command(folder)
    monkeypatch.setattr("os.geteuid", lambda: 1000, raising=False)
    assert "--allow-root" not in lab.command(folder)
    monkeypatch.delattr("os.geteuid")
    assert "--allow-root" not in lab.command(folder)


def test_lab_lays_the_course_out_and_serves_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from minigrad.course.commands import lab

    called: list[Any] = []
    monkeypatch.setattr(lab, "serve", lambda *arguments: called.append(arguments) or 3)
    assert lab.start(folder / "mine", browser=False) == 3
    assert called[0] == (lab.command(folder / "mine", browser=False), folder / "mine", "")
    assert (folder / "mine" / "exercises" / f"{LESSON}_exercises.ipynb").exists()


def test_the_welcome_page_says_what_is_solved_and_where_to_go_on(tmp_path: Path) -> None:
    from minigrad.course.checks import welcome
    from minigrad.course.commands import lab

    written, *_ = lab.lay_out(tmp_path)
    file = tmp_path / "Welcome.md"
    text = file.read_text(encoding="utf-8")
    button = re.search(r'<a href="([^"]+)" style="[^"]+">([^<]+)</a>', text)
    assert button and button.groups() == ("notebooks/00_start_here.ipynb", "Begin with lesson 00, Start here")
    assert "0 of 3" in text and re.search(rf"{len(notebooks.lessons())} lessons, about \d+ hours in all", text)
    assert 'src="notebooks/images/stepper.png"' in text and "](https://" in text
    links = re.findall(r"\]\((?!https:)([^)]+)\)", text)
    assert len(links) >= 2 * 15 and all((tmp_path / link).exists() for link in links)
    assert any("](../Welcome.md)" in path.read_text(encoding="utf-8") for path in written if path.suffix == ".ipynb")
    passed = {id: {"passed": True} for id in ("5.0a", "0.1", "0.2", "0.3", "1.1")}
    record = {"minigrad": 1, "edition": EDITION, "exercises": passed}
    (tmp_path / "minigrad-progress.json").write_text(json.dumps(record), encoding="utf-8")
    welcome.write(tmp_path)
    text = file.read_text(encoding="utf-8")
    assert "solved 4 of" in text and "3 of 3" in text and "1 of 4" in text, "a prediction of a lesson is no exercise"
    button = re.search(r'<a href="([^"]+)" style="[^"]+">([^<]+)</a>', text)
    assert button and button.groups() == ("exercises/01_slope_exercises.ipynb#1.2-A-good-h", "Go on with 1.2 a good h")
    file.write_text("my own page", encoding="utf-8")
    lab.lay_out(tmp_path)
    assert file.read_text(encoding="utf-8") == "my own page"
    every = {e.id: {"passed": True} for each in lessons.all_lessons() for e in each.exercises}
    assert "That is all of them." in welcome.page(every)


def test_the_users_own_jupyter_settings_come_first() -> None:
    from minigrad.course.commands import lab

    path = lab.environment({"JUPYTER_CONFIG_PATH": "theirs"})["JUPYTER_CONFIG_PATH"]
    assert path.split(":" if ":" in path else ";")[0] == "theirs" and str(lab.SETTINGS) in path
    overrides = json.loads((lab.SETTINGS / "labconfig" / "default_setting_overrides.json").read_text(encoding="utf-8"))
    assert overrides["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"


def test_port_is_a_port() -> None:
    assert cli.port("8888") == 8888
    with pytest.raises(argparse.ArgumentTypeError):
        cli.port("65536")
