"""Attacks that never run: on the folder of submissions, on the reader of files, and on who reads the report.

In each an honest student sits beside the attacker and gets exact marks.
"""

from __future__ import annotations

import csv
import io
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from minigrad.course import lessons
from minigrad.course.grading import command, reader, runs, tables
from tests.grading.classroom import RIGHT, grade, grader, notebook, same_result
from tests.grading.test_runs import RIGHT as HONEST
from tests.grading.test_runs import WRONG, hand_in, level, one_thread, results, rows  # noqa: F401

SECRET = "hidden-4c1a90"


# ------------------------------------------------------------------ the folder


@pytest.mark.slow
def test_a_folder_full_of_traps(tmp_path: Path, level: str) -> None:  # noqa: F811
    secret = tmp_path / "secret.ipynb"
    secret.write_bytes(notebook(HONEST, f"# {SECRET}"))
    hand_ins = hand_in(tmp_path / "in", ann=HONEST, eve=WRONG)
    eve = hand_ins / "eve"
    (eve / "link.ipynb").symlink_to(secret)
    (eve / "chain.ipynb").symlink_to("link.ipynb")
    (eve / "up").symlink_to("../ann")
    (eve / "loop").symlink_to(".")
    (hand_ins / "eve2").symlink_to("ann")
    (eve / "broken.ipynb").symlink_to("/nowhere")
    (eve / "device.ipynb").symlink_to("/dev/zero")
    os.mkfifo(eve / "fifo.ipynb")
    (eve / "folder.ipynb" / "inner.ipynb").mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as s:
        os.chdir(eve)
        s.bind("socket.ipynb")
    with open(eve / "sparse.ipynb", "wb") as file:
        file.truncate(1 << 40)
    deep = eve
    for _ in range(100):
        deep = deep / ("d" * 30)
        deep.mkdir()
        os.chdir(deep)
        deep = Path(".")
    (Path.cwd() / "05_vectors.ipynb").write_bytes(notebook("1 / 0", 'check("5.1")'))
    os.chdir(tmp_path)
    for name in ("..ipynb", "...ipynb", " .ipynb", "05%2f..%2f..%2fx.ipynb", "..\\..\\x.ipynb", "-rf.ipynb",
                 "$(touch pwned).ipynb"):  # fmt: skip
        (eve / name).write_bytes(notebook(WRONG, 'check("5.1")'))
    out = tmp_path / "out"
    started = time.monotonic()
    count = runs.grade(hand_ins, out=out, executor=one_thread())
    assert time.monotonic() - started < 60
    assert count.failed == 7, "a terabyte, four links, a pipe and a socket are called like notebooks, and nobody read them"
    assert [(row["Student"], row[tables.TOTAL]) for row in rows(out)] == [("ann", "1"), ("eve", "")]
    assert set(results(out)) == {"ann", "eve"}, "a link made somebody else of her"
    assert SECRET not in "".join(path.read_text(encoding="utf-8") for path in out.rglob("*") if path.is_file())
    assert {path.name for path in tmp_path.iterdir()} == {"secret.ipynb", "in", "out"}
    assert all(page.resolve().is_relative_to(out / "feedback") for page in (out / "feedback").rglob("*"))


def test_who_hands_in_too_much_is_told_and_stops_nobody(
    tmp_path: Path, level: str, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:
    hand_ins = hand_in(tmp_path / "in", ann=HONEST, eve=HONEST, zoe=HONEST)
    for number in range(200):
        (hand_ins / "eve" / "more" / f"{number}").mkdir(parents=True)
        (hand_ins / "eve" / "more" / f"{number}" / "x.ipynb").write_bytes(notebook("x = 1"))
    (hand_ins / "zoe" / "more").mkdir()
    (hand_ins / "zoe" / "more" / "large.ipynb").write_bytes(b" " * 5_000)
    monkeypatch.setattr(reader, "MOST_NOTEBOOKS", 20)
    monkeypatch.setattr(reader, "MOST_BYTES", 5_000)
    monkeypatch.setattr(reader, "MOST_ENTRIES", 300)
    out = tmp_path / "out"
    count = runs.grade(hand_ins, out=out, executor=one_thread())
    assert (count.total, count.graded) == (3, 3)
    assert [row[tables.TOTAL] for row in rows(out)] == ["1", "1", "1"], "what lies on top is graded"
    text = (out / "report.html").read_text(encoding="utf-8")
    assert "eve: more than 300 files and folders" in text and "20 notebooks are graded" not in text
    assert "zoe/more/large.ipynb: not graded: of one student" in text
    monkeypatch.undo()
    monkeypatch.setattr(reader, "MOST_NOTEBOOKS", 20)
    assert runs.grade(hand_ins, out=out, executor=one_thread()).kept == 3
    text = (out / "report.html").read_text(encoding="utf-8")
    assert "more files were left aside" in text and text.count("<li>") < 30


def test_a_folder_that_becomes_a_link_leads_nowhere(tmp_path: Path) -> None:
    """Between looking and reading, who owns a folder may put a link in its place."""
    hand_ins = hand_in(tmp_path, ann=HONEST, eve=WRONG)
    (hand_ins / "eve" / "week").mkdir()
    (hand_ins / "eve" / "week" / "05_vectors.ipynb").write_bytes(b"{}")
    found = [one for _, files in runs.HandIns([hand_ins]) for one in files if "week" in one[1].path]
    (hand_ins / "eve" / "week").rename(tmp_path / "eve" / "old")
    (hand_ins / "eve" / "week").symlink_to(hand_ins / "ann")
    ((folder, one),) = found
    settings = {"seconds": None, "megabytes": None, "together": 300.0, "answers": b""}
    job = runs.prepare(folder, one, b"k" * 16, settings)
    assert isinstance(job, dict) and job["submission"].unread and "could not be read" in job["submission"].problem


@pytest.mark.slow
def test_a_table_of_the_answers_that_feedback_named_is_of_no_use(tmp_path: Path, level: str) -> None:  # noqa: F811
    """The page of a wrong answer tells its seed, and anybody can ask the course what is right for it."""
    hand_ins = hand_in(tmp_path / "in", eve=WRONG)
    out = tmp_path / "out"
    runs.grade(hand_ins, out=out, executor=one_thread())
    verdict = results(out)["eve"]["verdicts"][0]
    exercise = lessons.find("5.1")
    table = [(probe.args[0].tolist(), probe.args[1].tolist(), exercise.expected(probe).tolist())
             for probe in exercise.questions(verdict["seed"])]  # fmt: skip
    cheat = (
        f"import numpy as np\nknown = {table!r}\ndef vjp_square(v, x):\n"
        "    return next((np.array(y) for a, b, y in known if (a, b) == (v.tolist(), x.tolist())), x)"
    )
    hand_in(hand_ins, eve=cheat)
    runs.grade(hand_ins, out=out, executor=one_thread())
    assert results(out)["eve"]["verdicts"][0]["status"] == "wrong"


@pytest.mark.slow
def test_names_that_look_alike_are_two_students(tmp_path: Path, level: str) -> None:  # noqa: F811
    names = ["zo\u00eb", "zoe\u0308", "Zo\u00eb", "ann", "Ann", "ANN", "\uff41nn", "\u0430nn", "ann ", "ann.",
             "\udce9", "\udcea", "con"]  # fmt: skip
    hand_ins = tmp_path / "in"
    for number, name in enumerate(names):
        folder = hand_ins / os.fsdecode(os.fsencode(name))
        folder.mkdir(parents=True)
        (folder / "05_vectors.ipynb").write_bytes(notebook(HONEST if number % 2 else WRONG, 'check("5.1")'))
    out = tmp_path / "out"
    runs.grade(hand_ins, out=out, executor=one_thread())
    graded = {result["student"]: result["verdicts"][0]["status"] for result in results(out).values()}
    assert len(graded) == len(rows(out)) == len(names)
    for number, name in enumerate(names):
        assert graded[runs.readable(name)] == ("passed" if number % 2 else "wrong"), name
    pages = [page.relative_to(out / "feedback").as_posix().lower() for page in (out / "feedback").rglob("*.html")]
    assert len(set(pages)) == len(names), "where upper and lower case are one, a page would be another's"


# ------------------------------------------------------------------ the file

BOMBS = {
    "empty objects": lambda: b'{"cells": [' + b"{}," * (20 << 20) + b"{}]}",
    "empty lists": lambda: b"[" + b"[]," * (20 << 20) + b"[]]",
    "strings": lambda: b"[" + b'"",' * (20 << 20) + b'""]',
    "escaped quotes": lambda: b'{"cells": "' + b'\\"' * (30 << 20),
    "quotes": lambda: b'"' * (60 << 20),
    "one number": lambda: b"1" * (60 << 20),
    "depth": lambda: b'{"cells":[' * (5 << 20),
    "a million cells": lambda: b'{"cells": [' + b'{"cell_type":"code","source":"x"},' * 1_000_000 + b"{}]}",
    "one line of many": lambda: json.dumps({"cells": [{"cell_type": "code", "source": ["x"] * 3_000_000}]}).encode(),
    "a name on every line": lambda: notebook("\n".join(f"v{n} = {n}" for n in range(90_000))),
    "blanks before an id": lambda: notebook(("check(" + " " * 1000) * 900, "\t" * 900_000 + "x"),
}


@pytest.mark.slow
def test_a_bomb_costs_seconds_and_little_memory() -> None:
    """In a process of its own, whose memory can be seen."""
    program = (
        "import resource, time\nfrom tests.attacks.test_hand_ins import BOMBS\n"
        "from minigrad.course.grading import reader, runs\n"
        "for make in BOMBS.values():\n"
        "    data = make(); started = time.process_time(); submission = reader.read(data)\n"
        "    runs.lesson_of(submission, 'x.ipynb'); print(time.process_time() - started)\n"
        "    assert not any('def ' in c for c in submission.cells)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert ran.returncode == 0, ran.stderr
    *seconds, megabytes = map(float, ran.stdout.split())
    assert len(seconds) == len(BOMBS) and max(seconds) < 30, seconds
    assert megabytes < 1_000


@pytest.mark.slow
def test_fifteen_megabytes_of_output_cost_nothing() -> None:
    text = [f"{n} {'x' * 40}\n" for n in range(300_000)]
    outputs = [{"output_type": "stream", "name": "stdout", "text": text}]
    cells = json.loads(notebook(*RIGHT))
    cells["cells"][0]["outputs"] = outputs
    data = json.dumps(cells).encode()
    assert len(data) > 15 << 20
    assert same_result(grade(data), grade(notebook(*RIGHT)))


def test_ids_and_points_in_metadata_change_nothing() -> None:
    honest = grade(notebook(*RIGHT))
    for metadata in ({"nbgrader": {"grade_id": "90.2", "points": 1e9, "locked": True}}, {"exercise": "90.3", "id": "90.3"},
                     {"tags": ["90.1", "passed", "nbval-ignore-output"]}, {"id": "same", "deletable": False}):  # fmt: skip
        assert same_result(grade(notebook(*RIGHT, **metadata)), honest)
        assert grade(notebook("x = 1", **metadata))["points"] == 0.0


# ------------------------------------------------------------------ who reads it

EVIL = ["=cmd|' /C calc'!A0", "\uff1d1+1", "ann;=1+1", "ann\t=1+1", "ann|=1", '","=1+1', "[x](javascript:alert(1))",
        "# heading", "\x1b]0;owned\x07\x1b[2J", "\x9b31m", "</title><script>alert(1)<", "{{7*7}}", "' onmouseover='alert(1)",
        "\u202ecod.exe", "a" * 250, "\u200b", "&lt;b&gt;", "%00", "$HOME",
        "    Points Possible"]  # fmt: skip


@pytest.mark.slow
def test_names_with_markup_are_plain_text_in_the_report(tmp_path: Path, level: str, capsys: Any) -> None:  # noqa: F811
    hand_ins = hand_in(tmp_path / "in", ann=HONEST, **dict.fromkeys(EVIL, WRONG))
    out = tmp_path / "out"
    runs.grade(hand_ins, out=out, executor=one_thread(), key=b"k" * 16)
    for line in (out / "grades.csv").read_text(encoding="utf-8").splitlines():
        assert "Points Possible" not in line, "Canvas would take it for the points that each lesson is worth"
        for mark in (",", ";", "\t", "|"):
            for cell in next(csv.reader([line], delimiter=mark)):
                assert cell.lstrip()[:1] not in ("=", "@", "\uff1d"), (mark, cell)
    found = list(csv.DictReader(io.StringIO((out / "grades.csv").read_text(encoding="utf-8"))))
    assert len(found) == len(EVIL) + 1
    assert [row[tables.TOTAL] for row in found if row["Student"] == "ann"] == ["1"]
    for page in out.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "<script>alert" not in text and "onmouseover='" not in text and "\x1b" not in text and "\x9b" not in text
        assert "\u202e" not in text and "javascript:alert(1)</a>" not in text and 'href="javascript' not in text
    # The terminal: a name among what moved.
    for name in EVIL[8:10]:
        (hand_ins / name / "05_vectors.ipynb").write_bytes(notebook(HONEST, 'check("5.1")'))
    runs.grade(hand_ins, out=tmp_path / "new", executor=one_thread(), key=b"k" * 16)
    moved, first = tables.write_differences(tmp_path / "new", out)
    assert moved == len(first) == 2
    assert all(" " <= c <= "~" for m in first for c in command._printable(m["student"]))


# ------------------------------------------------------------------ answers that anybody can look up


@pytest.mark.slow
def test_every_exercise_asks_something_that_no_table_holds() -> None:
    """A constant can be looked up in the course's own files; at least one answer must follow from this student's numbers."""
    for lesson in lessons.all_lessons():
        for exercise in lesson.exercises:
            if exercise.kind not in ("function", "program") or not exercise.points:
                continue
            for part in exercise.one_of or (exercise,):
                seen = []
                for seed in range(4):
                    probes = part.questions(seed)
                    seen.append([str(p.data) if p.view else repr(part.expected(p)) for p in probes])
                assert any(len(set(answers)) > 1 for answers in zip(*seen, strict=False)), exercise.id


@pytest.mark.slow
def test_a_program_does_not_judge_itself(level: str) -> None:  # noqa: F811
    """What says True inside the sandbox can be made to say so; numbers are looked at outside."""
    zeros = (
        "import minigrad as torch\nculprit_6 = 'a'\ndef cure_6(i, h, o):\n"
        "    return [torch.zeros(*n, requires_grad=True) for n in ((i, h), (h,), (h, o), (o,))]"
    )
    forged = "bool = lambda *a: True\nlen = lambda *a: 4\nfloat = round = lambda *a: 0.1\nsum = lambda *a: 4"
    says = (
        "from minigrad.course.student import worker\nreal = worker.Server.run\n"
        "def run(self, code, data, prelude=''):\n"
        "    if 'how many' in code: return 4\n    if 'spread' in code: return [True, True]\n"
        "    if 'gradient' in code: return [True] * 4\n    return real(self, code, data, prelude)\nworker.Server.run = run"
    )
    lesson = lessons.lesson(13)
    for cells in ((zeros, forged), (zeros, says), (zeros, forged, says)):
        result = grader(level).grade(notebook(*cells, 'check("13.6")'), lesson, b"seed")
        found = {v["exercise"]: v["status"] for v in result["verdicts"]}
        assert found["13.6"] == "wrong", result["verdicts"]


@pytest.mark.slow
def test_the_sandbox_of_a_thread_in_a_plain_program(tmp_path: Path, level: str) -> None:  # noqa: F811
    """A teacher's program may bring any executor; the first notebook must not be the one that is not graded."""
    hand_ins = hand_in(tmp_path / "in", ann=HONEST)
    program = (
        "import concurrent.futures as f\nfrom minigrad.course.grading import grade\n"
        f"with f.ThreadPoolExecutor(1) as e: print(grade({str(hand_ins)!r}, out={str(tmp_path / 'out')!r}, executor=e).graded)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert (ran.stdout, ran.stderr) == ("1\n", "")


