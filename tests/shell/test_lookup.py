"""What a student may type instead of a notebook's path, from any place in or above the course."""

import errno
import re
from pathlib import Path
from typing import Any

import pytest

from minigrad.course import notebooks
from minigrad.course.checks import next_step, progress_store
from minigrad.course.commands import cli, lab, lookup, terminal
from tests.together import together

COURSE = "minigrad-course"
PLACES = (".", COURSE, f"{COURSE}/exercises", f"{COURSE}/notebooks/reference")


@pytest.fixture
def above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder above a course as `minigrad lab` lays it out; also the working directory."""
    monkeypatch.delenv("MINIGRAD_CHECK", raising=False)
    lab.lay_out(tmp_path / COURSE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, str]]:
    """What `minigrad check` was asked to judge, without judging it."""
    seen: list[tuple[Path, str]] = []
    monkeypatch.setattr(terminal, "check_notebook", lambda file, only="": seen.append((file.resolve(), only)) or True)
    return seen


def mine(above: Path, name: str = "05_vectors") -> Path:
    return above / COURSE / "exercises" / f"{name}_exercises.ipynb"


@together("place", PLACES)
def test_check_finds_the_notebook_from_above_and_inside(
    place: str, above: Path, checked: list[tuple[Path, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(above / place)
    checked.clear()
    asked = ["5", "05", "vectors", "Vectors", "vector", "05_vectors", "05_vectors_exercises.ipynb",
             "exercises/05_vectors_exercises.ipynb", str(mine(above))]  # fmt: skip
    assert cli.main(["check", *asked]) == 0
    assert checked == [(mine(above), "")] * len(asked)
    checked.clear()
    assert cli.main(["check", "07.2", "7,2", "chain-rule"]) == 0
    assert checked == [(mine(above, "07_matmul"), "7.2")] * 2 + [(mine(above, "02_chain_rule"), "")]


@together(
    "typed, said",
    [
        ("engine", "03 scalar engine|14 capstone"),
        ("vectros", "Did you mean vectors"),
        ("exercises/05_vectros_exercises.ipynb", "no notebook exercises/05_vectros_exercises.ipynb.*Did you mean vectors"),
        ("77", "no lesson 77.*00 to 1"),
        ("7.9", "no exercise 7.9.*7.1, 7.2, 7.3, 7.4, 7.5"),
        ("zebras", "(?s)no lesson .zebras.*00 start here.*14 capstone"),
        ("", "no lesson"),
        ("-1", "no lesson -1"),
        (".", "is a folder"),
    ],
)
def test_what_names_no_lesson_is_wrong_use_and_says_what_would(
    typed: str, said: str, above: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(above.rglob("*"))
    for command in ("check", "solution", "reset", "lab"):
        assert cli.main([command, typed]) == 2
        assert re.search(said, capsys.readouterr().err)
    assert sorted(above.rglob("*")) == before


def test_every_lesson_is_found_by_its_number_its_name_and_a_word_of_its_own() -> None:
    for slug in notebooks.lessons():
        number, _, words = slug.partition("_")
        for typed in (number, str(int(number)), slug, words, words.replace("_", " "), words.upper()):
            assert lookup.lesson(typed) == (slug, ""), typed
    assert lookup.lesson("softmax") == ("11_cross_entropy", "")
    assert lookup.lesson("0013.7") == ("13_clinic", "13.7")


@pytest.mark.slow
def test_one_exercise_alone_is_judged(above: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", "0.1"]) == 1
    shown = capsys.readouterr().out
    assert "0.1 " in shown and "0.2 " not in shown and "0 of 1 passed" in shown
    assert cli.main(["check", "0.1a"]) == 2
    assert "0.1a is a question of the lesson" in capsys.readouterr().err


def no_room(path: Path, content: bytes) -> None:
    raise OSError(errno.ENOSPC, "No space left on device", str(path))


@pytest.mark.slow
@together("place", PLACES)
def test_reset_keeps_what_was_there_and_names_it(
    place: str, above: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(above / place)
    fresh = mine(above).read_bytes()
    mine(above).write_bytes(fresh.replace(b"your code here", b"my own code"))
    assert cli.main(["reset", "vectors"]) == 0
    assert mine(above).read_bytes() == fresh
    named = re.search(r"kept as (\S+ipynb)", capsys.readouterr().out)
    assert named and b"my own code" in mine(above).with_name(named[1]).read_bytes()
    assert cli.main(["reset", "5.1"]) == 2
    assert "minigrad reset 05" in capsys.readouterr().err
    with monkeypatch.context() as full:
        mine(above).write_bytes(fresh + b"\n")
        full.setattr(Path, "write_bytes", no_room)
        before = sorted(mine(above).parent.iterdir())
        assert cli.main(["reset", "5"]) == 2 and "No space" in capsys.readouterr().err
        assert sorted(mine(above).parent.iterdir()) == before
    mine(above).unlink()
    assert cli.main(["check", "5"]) == 2 and "minigrad reset 05" in capsys.readouterr().err
    assert cli.main(["reset", "5"]) == 0 and "kept" not in capsys.readouterr().out
    assert mine(above).read_bytes() == fresh


@together("place", PLACES)
def test_solution_lies_beside_the_students_own(place: str, above: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(above / place)
    assert cli.main(["solution", "5", "--yes"]) == 0
    mine(above).with_name("05_vectors_solution.ipynb").unlink()


@pytest.mark.slow
def test_the_solution_of_one_exercise_is_written_alone(above: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blank = notebooks.code_cells(notebooks.read(mine(above)))
    answers = notebooks.code_cells(notebooks.read(notebooks.path("solutions", "05_vectors")))
    assert cli.main(["solution", "5.1"]) == 2 and "exercise 5.1 is not solved yet" in capsys.readouterr().err
    assert cli.main(["solution", "5.1", "--yes"]) == 0
    assert "the other exercises of lesson 05 stay blank" in capsys.readouterr().out
    written = notebooks.code_cells(notebooks.read(mine(above).with_name("05_vectors_solution_5.1.ipynb")))
    differing = [place for place, (one, other) in enumerate(zip(written, blank, strict=True)) if one != other]
    assert differing and all(written[place] == answers[place] for place in differing)
    until = next(place for place, source in enumerate(blank) if source == 'check("5.1")')
    assert max(differing) < until, "no cell of another exercise"
    assert not mine(above).with_name("05_vectors_solution.ipynb").exists()


@pytest.mark.slow
def test_an_answer_in_the_form_counts_for_check_as_for_progress(
    above: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And reset says what becomes of it."""
    from minigrad.course import lessons
    from minigrad.course.checks import checking

    monkeypatch.chdir(above / COURSE / "exercises")
    for id in ("2.1", "2.5"):
        exercise = lessons.find(id)
        assert checking.answered(exercise, {}, exercise.right).state == "passed"
    checking.answered(lessons.find("2.4"), {}, 5)
    capsys.readouterr()
    assert cli.main(["check", "2.1", "2.5"]) == 0
    assert "1 of 1 passed" in (shown := capsys.readouterr().out) and "The cell is still blank" in shown
    assert cli.main(["check", "2"]) == 1
    assert "2 of 7 passed" in (shown := capsys.readouterr().out) and "2.4 two paths from one input: not yet" in shown
    nb = notebooks.read(mine(above, "02_chain_rule"))
    for cell in nb["cells"]:
        if cell["source"].startswith("forward_values"):
            cell["source"] = "forward_values = 1"
    notebooks.write(nb, mine(above, "02_chain_rule"))
    assert cli.main(["check", "2.1"]) == 1, "the notebook's own answer comes first"
    assert "You solved it before, and your progress keeps that." in capsys.readouterr().out
    checking.answered(lessons.find("1.1"), {}, 5)
    assert cli.main(["reset", "2"]) == 0
    said = capsys.readouterr().out
    assert "What you have solved stays solved: 2 of 7 exercises of this lesson." in said
    assert "The answers in the fields of 2.1, 2.4, 2.5 are gone." in said and "stays as it is" not in said
    assert next_step.last_tried(progress_store.load(above / COURSE)).id == "1.1", "what was worked on last is what it was"
    assert cli.main(["check", "2.5"]) == 1
    assert "not attempted" in (shown := capsys.readouterr().out) and "You solved it before" in shown
    assert cli.main(["progress"]) == 0 and "2 of 7" in capsys.readouterr().out


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The folder and the page that `minigrad lab` opens, without a server."""
    seen: list[tuple[str, str]] = []

    def serve(line: list[str], folder: Path, page: str) -> int:
        options = dict(option.split("=", 1) for option in line if "=" in option)
        seen.append((options["--ServerApp.root_dir"], options["--LabApp.default_url"].removeprefix("/lab/tree/")))
        return 0

    monkeypatch.setattr(lab, "serve", serve)
    return seen


@pytest.mark.slow
@together("place", PLACES)
def test_lab_opens_the_lesson_in_the_course_that_is_there(
    place: str, above: Path, opened: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(above / place)
    pages = {"": "Welcome.md", "07": "notebooks/07_matmul.ipynb", "7.2": "exercises/07_matmul_exercises.ipynb",
             str(mine(above)): "exercises/05_vectors_exercises.ipynb"}  # fmt: skip
    for typed in pages if place == "." else ["07"]:
        assert cli.main(["lab", "--no-browser", *filter(None, [typed])]) == 0
        assert opened.pop() == (str(above / COURSE), pages[typed])
    assert not (above / COURSE / COURSE).exists()


@pytest.mark.slow
def test_lab_makes_a_course_where_there_is_none(
    tmp_path: Path, opened: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A progress file alone, left where a notebook once ran, makes no course of a home folder."""
    (tmp_path / progress_store.FILE).write_text("{}", encoding="utf-8")
    (tmp_path / "class").mkdir()
    monkeypatch.chdir(tmp_path / "class")
    assert cli.main(["check", "5"]) == 2 and "minigrad lab" in capsys.readouterr().err
    for kind in notebooks.KINDS:
        (tmp_path / "checkout" / kind).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "checkout")
    assert cli.main([]) == 0 and "There is no course" in capsys.readouterr().out, "a checkout is nobody's course"
    monkeypatch.chdir(tmp_path / "class")
    assert cli.main(["lab", "7"]) == 0
    assert opened == [(str(tmp_path / "class" / COURSE), "notebooks/07_matmul.ipynb")]
    assert cli.main(["lab", "--dir", "mine", "vectors"]) == 0
    assert opened[-1] == (str(tmp_path / "class" / "mine"), "notebooks/05_vectors.ipynb")


@pytest.mark.slow
def test_a_course_under_another_name_is_found_and_of_two_none_is_guessed(
    above: Path, checked: list[tuple[Path, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    (above / COURSE).rename(above / "autograd")
    assert cli.main(["check", "5"]) == 0
    assert checked == [(above / "autograd" / "exercises" / "05_vectors_exercises.ipynb", "")]
    lab.lay_out(above / "second")
    assert cli.main(["check", "5"]) == 2
    assert "autograd, second" in capsys.readouterr().err


# `minigrad` alone ----------------------------------------------------------------------------------------


@together("place", PLACES)
def test_minigrad_alone_says_where_you_are_and_what_is_next(
    place: str, above: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(above / place)
    (above / COURSE / progress_store.FILE).unlink(missing_ok=True)
    assert cli.main([]) == 0
    shown = capsys.readouterr().out
    assert str(above / COURSE) in shown and "solved 0 of" in shown and "minigrad lab 00" in shown
    monkeypatch.chdir(above / COURSE)
    for id in ("0.1", "0.2", "0.3", "1.1"):
        progress_store.note(id, passed=True, state="passed")
    monkeypatch.chdir(above / place)
    assert cli.main([]) == 0
    shown = capsys.readouterr().out
    assert "solved 4 of" in shown and "Lesson 01, A derivative" in shown and "1 of 4" in shown and "Next: 1.2 a good h" in shown
    assert "minigrad lab 01" in shown and "minigrad check 1.2" in shown and shown.isascii()


def test_minigrad_alone_without_a_course_and_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from minigrad.course import lessons

    monkeypatch.chdir(tmp_path)
    assert cli.main([]) == 0
    shown = capsys.readouterr().out
    assert "no course" in shown and "minigrad lab" in shown
    lab.lay_out(tmp_path / COURSE)
    every: dict[str, dict[str, Any]] = {e.id: {"passed": True} for each in lessons.all_lessons() for e in each.exercises}
    monkeypatch.setattr(progress_store, "load", lambda where=None: every)
    assert cli.main([]) == 0
    assert "all of them" in capsys.readouterr().out


def test_a_misspelled_command_suggests_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["chek", "05"])
    assert stop.value.code == 2
    assert "did you mean check?" in capsys.readouterr().err
