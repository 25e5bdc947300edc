"""The command: its words, its exit codes, its bar."""

import io
import json
import shutil
from pathlib import Path

import pytest

from minigrad.course.commands import cli
from minigrad.course.exercise import EDITION
from minigrad.course.grading import command
from minigrad.course.grading.runs import Count
from tests.grading.classroom import notebook
from tests.grading.test_runs import here  # noqa: F401


@pytest.fixture
def hand_ins(tmp_path: Path) -> Path:
    folder = tmp_path / "in" / "ann"
    folder.mkdir(parents=True)
    (folder / "05_vectors.ipynb").write_bytes(notebook("def vjp_square(v, x):\n    return 2 * x * v"))
    return tmp_path / "in"


@pytest.mark.slow
def test_grade_says_what_it_did(hand_ins: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert cli.main(["grade", str(hand_ins), "--out", str(out), "--jobs", "1"]) == 0
    said = capsys.readouterr()
    assert "1 notebooks graded" in said.out and "isolation: " in said.out and str(out / "report.html") in said.out
    assert said.err == "", "no bar without a terminal"
    assert said.out.isascii()
    assert cli.main(["grade", str(hand_ins), "--out", str(out), "--jobs", "1", "--diff", str(out)]) == 0
    assert "1 were graded before" in capsys.readouterr().out


@pytest.mark.slow
def test_results_and_hand_ins_of_another_edition_are_set_aside(
    hand_ins: Path, tmp_path: Path, here: None, capsys: pytest.CaptureFixture[str]  # noqa: F811
) -> None:
    """As another edition wrote them: who did the exercise that had this number then gets neither its points nor a zero."""
    out, old, first = tmp_path / "out", tmp_path / "old", Path(__file__).parents[1] / "data" / "another_edition"
    for folder in (out, old):
        folder.mkdir()
        for name in ("results.jsonl", "run.json"):
            shutil.copy(first / name, folder)
    for name in ("04_pytorch_semantics", "11_clinic"):
        shutil.copy(first / "exercises" / f"{name}.ipynb", next(hand_ins.iterdir()))
    grade = ["grade", str(hand_ins), "--out", str(out), "--jobs", "1"]
    assert cli.main([*grade, "--diff", str(old)]) == 2
    assert "exercises asked for something else" in capsys.readouterr().err
    assert cli.main(grade) == 1
    said = capsys.readouterr().out
    (kept,) = out.glob("results.2*.jsonl")
    assert "1 notebooks graded" in said and "2 notebooks are NOT GRADED (no points lost)" in said and kept.name in said
    assert kept.read_bytes() == (old / "results.jsonl").read_bytes()
    results = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert [(r["lesson"], r["graded"], r["edition"]) for r in results] == [(4, False, EDITION), (5, True, EDITION)]
    report = (out / "report.html").read_text(encoding="utf-8")
    assert f"Edition {EDITION} of the course" in report
    assert "11_clinic.ipynb: the notebook is from another edition of the course" in report
    assert json.loads((out / "run.json").read_text())["key"] == json.loads((old / "run.json").read_text())["key"]


@pytest.mark.slow
def test_the_weak_level_is_named_as_such(hand_ins: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weak = ["grade", str(hand_ins), "--out", str(tmp_path / "out"), "--jobs", "1", "--isolation", "process"]
    assert cli.main(weak) == 1
    assert "not a security boundary" in capsys.readouterr().err
    assert not (tmp_path / "out" / "results.jsonl").exists()
    assert cli.main([*weak, "--trust-students"]) == 0
    assert "not a security boundary" in capsys.readouterr().out
    result = json.loads((tmp_path / "out" / "results.jsonl").read_text())
    assert result["isolation"] == "process"


@pytest.mark.parametrize("more", [["--key", "missing"], ["--diff", "missing"], ["--timeout", "0"], ["--key", "short"],
                                  ["--key", "/dev/zero"], ["--out", "short"], ["--out", "short/report"]])  # fmt: skip
def test_wrong_use_is_two(more: list[str], hand_ins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("short").write_text("abc")
    assert cli.main(["grade", str(hand_ins), "--out", str(tmp_path / "out"), *more]) == 2
    assert cli.main(["grade", str(tmp_path / "nowhere"), "--out", str(tmp_path / "out")]) == 2


def test_a_folder_without_hand_ins_is_not_fine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in" / "ann").mkdir(parents=True)
    assert cli.main(["grade", str(tmp_path / "in"), "--out", str(tmp_path / "out")]) == 1
    shown = capsys.readouterr().out
    assert "No notebook of this course was found" in shown and "report names: 1." in shown


def test_the_bar_has_rate_and_time_left() -> None:
    line = command.bar(Count(total=200, kept=20, graded=79, failed=1, seconds=8.0), 79)
    assert line.startswith("[") and "100/200" in line and "10/s" in line and "0:10 left" in line and "1 not graded" in line
    assert len(line) <= 79 and line.isascii()
    assert "0:00 left" in command.bar(Count(total=0), 79)
    assert "1:02:05 left" in command.bar(Count(total=3726, graded=1, seconds=1.0), 79)

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    bar = command.Bar(stream)
    bar.show(Count(total=1, graded=1, seconds=1.0))
    bar.end()
    assert stream.getvalue().startswith("\r[#") and stream.getvalue().endswith("\n")


def test_a_name_cannot_move_the_cursor() -> None:
    assert command._printable("a\x1b[2J\u202e\n") == "a\\u001b[2J\\u202e\\u000a"
