"""A whole class: what is found, kept, graded once, and written down."""

from __future__ import annotations

import concurrent.futures as futures
import csv
import functools
import io
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from minigrad.course.commands import cli
from minigrad.course.grading import journal, runs, sandbox, tables
from minigrad.course.grading.plan import Plan
from minigrad.course.grading.sandbox import Unavailable
from tests.grading.classroom import notebook
from tests.house import walls

RIGHT = "import numpy as np\ndef vjp_square(v, x):\n    return 2 * x * v"
WRONG = "def vjp_square(v, x):\n    return 2 * x"


@pytest.fixture
def level() -> str:
    """The strongest level that holds here."""
    try:
        return sandbox.choose()
    except Unavailable as error:
        pytest.skip(f"optional: no isolation level holds here: {error}")


@functools.cache
def one_thread() -> futures.Executor:
    """The quickest executor: one thread of this process, whose sandbox stays up from test to test."""
    return futures.ThreadPoolExecutor(1)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command grades in this process, where a sandbox is up already."""
    real = runs.grade
    monkeypatch.setattr(runs, "grade", lambda *args, **options: real(*args, **options | {"executor": one_thread()}))


def hand_in(folder: Path, **students: str | bytes) -> Path:
    for name, source in students.items():
        path = folder / name / "05_vectors.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(source if isinstance(source, bytes) else notebook(source, 'check("5.1")'))
    return folder


def results(out: Path) -> dict[str, dict[str, Any]]:
    return {result["student"]: result for result in journal.read(out / "results.jsonl")}


def status(out: Path, student: str) -> str:
    found = {v["exercise"]: v["status"] for v in results(out)[student]["verdicts"]}
    return str(found["5.1"])


def rows(out: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((out / "grades.csv").read_text(encoding="utf-8"))))


def left_behind() -> Iterator[Path]:
    """Sandboxes of processes that are gone; other tests' own are at work."""
    for path in Path(tempfile.gettempdir()).glob("minigrad-sandbox-*"):
        number = path.name.split("-")[2]
        if number.isdigit() and not psutil.pid_exists(int(number)):
            yield path


@pytest.mark.slow
def test_a_class_from_start_to_end(tmp_path: Path, level: str) -> None:
    before = set(left_behind())
    hand_ins = hand_in(tmp_path / "in", ann=RIGHT, bob=WRONG, cy=b"", dan="def vjp_square(v, x):\n    ...")
    count = runs.grade(hand_ins, out=tmp_path / "out", jobs=2)
    assert (count.total, count.graded, count.kept, count.failed) == (4, 3, 0, 1)
    assert count.isolation == level
    out = tmp_path / "out"
    assert [status(out, name) for name in ("ann", "bob", "cy", "dan")] == ["passed", "wrong", "not graded", "not attempted"]
    assert [row["SIS Login ID"] for row in rows(out)] == ["ann", "bob", "cy", "dan"]
    assert [row[tables.TOTAL] for row in rows(out)] == ["1", "0", "", "0"], "what could not be read is no zero"
    assert all(result["isolation"] == level for result in results(out).values())
    assert (out / "run.json").stat().st_mode & 0o077 == 0, "the key is nobody else's"
    key = json.loads((out / "run.json").read_text())["key"]
    told = [path for path in out.rglob("*") if path.suffix in (".html", ".csv", ".jsonl")]
    assert told and not any(key in path.read_text(encoding="utf-8") for path in told)
    assert {path.name for path in (out / "feedback").iterdir()} == {"ann", "bob", "cy", "dan"}
    assert set(left_behind()) <= before, "the sandbox left files behind"


@pytest.mark.slow
@pytest.mark.parametrize("piped", [False, True], ids=["script", "pipe"])
def test_a_program_without_a_main_guard_grades_once(tmp_path: Path, level: str, piped: bool) -> None:
    hand_ins = hand_in(tmp_path / "in", ann=RIGHT)
    script = tmp_path / "mine.py"
    script.write_text(
        "from minigrad.course.grading import grade\n"
        f"print('graded', grade({str(hand_ins)!r}, out={str(tmp_path / 'out')!r}, jobs=2).graded)\n"
    )
    source = script.open() if piped else None
    ran = subprocess.run([sys.executable, "-" if piped else str(script)], stdin=source, capture_output=True, text=True,
                         cwd=Path(__file__).parents[2])  # fmt: skip
    assert (ran.stdout, ran.stderr) == ("graded 1\n", "")
    assert status(tmp_path / "out", "ann") == "passed"


def test_seeds_differ_by_student_exercise_key_and_notebook(tmp_path: Path, level: str) -> None:
    hand_ins = hand_in(tmp_path / "in", ann=RIGHT, bob=RIGHT)
    seeds = set()
    for key in (b"k" * 16, b"l" * 16):
        runs.grade(hand_ins, out=tmp_path / key.decode(), key=key, executor=one_thread())
        found = results(tmp_path / key.decode())
        seeds |= {(v["exercise"], v["seed"]) for r in found.values() for v in r["verdicts"]}
    exercises = {exercise for exercise, _ in seeds}
    assert len(seeds) == 4 * len(exercises) and len({seed for _, seed in seeds}) == len(seeds)
    again = runs.grade(hand_ins, out=tmp_path / "again", key=b"k" * 16, executor=one_thread())
    assert again.graded == 2
    first, second = (results(tmp_path / name) for name in ("k" * 16, "again"))
    assert [r["verdicts"] for r in first.values()] == [r["verdicts"] for r in second.values()]
    hand_in(hand_ins, ann=RIGHT + "\n", bob=RIGHT + "\n")
    runs.grade(hand_ins, out=tmp_path / "later", key=b"k" * 16, executor=one_thread())
    later = {(v["exercise"], v["seed"]) for r in results(tmp_path / "later").values() for v in r["verdicts"]}
    assert not later & seeds


@pytest.mark.slow
def test_nothing_is_graded_twice_and_only_what_changed_again(
    tmp_path: Path, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_ins, out = hand_in(tmp_path / "in", ann=RIGHT, bob=WRONG), tmp_path / "out"
    runs.grade(hand_ins, out=out, executor=one_thread())
    before = (out / "results.jsonl").read_bytes()
    count = runs.grade(hand_ins, out=out, executor=one_thread())
    assert (count.kept, count.graded) == (2, 0)
    assert (out / "results.jsonl").read_bytes() == before

    hand_in(hand_ins, bob=RIGHT, cy=WRONG)
    count = runs.grade(hand_ins, out=out, executor=one_thread())
    assert (count.kept, count.graded) == (1, 2)
    assert [status(out, name) for name in ("ann", "bob", "cy")] == ["passed", "passed", "wrong"]

    monkeypatch.setattr(journal, "pack_hash", lambda number, answers: "another")
    assert runs.grade(hand_ins, out=out, executor=one_thread()).graded == 3
    assert runs.grade(hand_ins, out=out, executor=one_thread(), fresh=True).graded == 3

    (hand_ins / "cy" / "05_vectors.ipynb").unlink()
    runs.grade(hand_ins, out=out, executor=one_thread())
    assert set(results(out)) == {"ann", "bob"}
    assert not (out / "feedback" / "cy" / "05_vectors.html").exists()


@pytest.mark.slow
def test_a_changed_limit_grades_again(tmp_path: Path, level: str) -> None:
    hand_ins, out = hand_in(tmp_path / "in", ann="def vjp_square(v, x):\n    while True: pass"), tmp_path / "out"
    runs.grade(hand_ins, out=out, executor=one_thread(), seconds=0.3)
    assert "0.3 s" in " ".join(results(out)["ann"]["verdicts"][0]["lines"])
    assert runs.grade(hand_ins, out=out, executor=one_thread(), seconds=0.4).graded == 1


def test_the_same_key_or_none(tmp_path: Path, level: str) -> None:
    hand_ins, out = hand_in(tmp_path / "in", ann=RIGHT), tmp_path / "out"
    runs.grade(hand_ins, out=out, executor=one_thread(), key=b"k" * 16)
    with pytest.raises(ValueError, match="another key"):
        runs.grade(hand_ins, out=out, executor=one_thread(), key=b"l" * 16)
    assert runs.grade(hand_ins, out=out, executor=one_thread()).kept == 1
    assert runs.grade(hand_ins, out=out, executor=one_thread(), key=b"l" * 16, fresh=True).graded == 1


def test_two_runs_do_not_write_to_one_report(tmp_path: Path, level: str) -> None:
    hand_ins, out = hand_in(tmp_path / "in", ann=RIGHT), tmp_path / "out"
    out.mkdir()
    kept = (out / "results.jsonl").write_text("kept\n")
    with journal.locked(out):
        for fresh in (False, True):
            with pytest.raises(ValueError, match="another run"):
                runs.grade(hand_ins, out=out, executor=one_thread(), fresh=fresh)
    assert (out / "results.jsonl").stat().st_size == kept, "a running grader's results were taken away"


def test_of_several_copies_the_last_counts(tmp_path: Path, level: str) -> None:
    """Or else who hands in an answer in every way gets the best of all."""
    hand_ins, out = hand_in(tmp_path / "in", ann=WRONG), tmp_path / "out"
    copies = (("05_vectors (1).ipynb", WRONG, 20), ("old/05_vectors.ipynb", RIGHT, 30), ("ps1 (1).ipynb", WRONG, 10))
    for name, source, seconds in copies:
        path = hand_ins / "ann" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(notebook(source, 'check("5.1")'))
        os.utime(path, (seconds, seconds))
    os.utime(hand_ins / "ann" / "05_vectors.ipynb", (5, 5))
    assert runs.grade(hand_ins, out=out, executor=one_thread()).graded == 1
    assert rows(out)[0][tables.TOTAL] == "1"
    text = (out / "report.html").read_text()
    assert "More than one copy, 05: ann" in text and text.count("an earlier copy of lesson 05") == 3
    assert "Of 4 copies the last one was graded" in next((out / "feedback" / "ann").iterdir()).read_text()
    os.utime(hand_ins / "ann" / "05_vectors (1).ipynb", (30, 30))  # of the same time: by name, "old" is the last
    runs.grade(hand_ins, out=out, executor=one_thread())
    assert rows(out)[0][tables.TOTAL] == "1"
    os.utime(hand_ins / "ann" / "05_vectors (1).ipynb", (31, 31))
    runs.grade(hand_ins, out=out, executor=one_thread())
    assert rows(out)[0][tables.TOTAL] == "0"


def test_a_download_from_canvas_goes_back_to_canvas(tmp_path: Path, level: str) -> None:
    (tmp_path / "in").mkdir()
    for name in ("adalovelace_4711_90001_05_vectors.ipynb", "adalovelace_4711_90002_05_vectors-1.ipynb",
                 "boolegeorge_LATE_12_90003_05_vectors.ipynb", "cy_13_90004_..\\..\\y.ipynb", "mine_alone.ipynb"):  # fmt: skip
        (tmp_path / "in" / name).write_bytes(notebook(RIGHT, 'check("5.1")'))
    runs.grade(tmp_path / "in", out=tmp_path / "out", executor=one_thread(), plan=Plan(feedback="canvas"))
    back = {path.stem: zipfile.ZipFile(path).namelist() for path in (tmp_path / "out" / "hand_back").iterdir()}
    # Canvas reads the person's number and the file's, the first two that stand between underscores.
    assert back == {"student-mine_alone": ["mine_alone.html"], "canvas-05_vectors": [
        "adalovelace_4711_90002_05_vectors-1.html", "boolegeorge_LATE_12_90003_05_vectors.html",
        "cy_13_90004_.._.._y.html"]}  # fmt: skip
    fixed = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert [*rows(tmp_path / "out")[0]] == [*fixed, "05_vectors", "Total (Final Points)"]
    assert [(row["Student"], row["ID"], row["SIS Login ID"], row[tables.TOTAL]) for row in rows(tmp_path / "out")] == [
        ("adalovelace_4711", "4711", "", "1"), ("boolegeorge_12", "12", "", "1"),
        ("cy_13", "13", "", "1"), ("mine_alone", "", "mine_alone", "1"),
    ]  # fmt: skip


@pytest.mark.slow
def test_a_download_within_a_folder_is_named(tmp_path: Path, level: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whose folder it is counts, whatever the files are called; two downloads are two folders of one class."""
    for lesson, ids in ((5, (11, 12)), (6, (11, 13))):
        for id in ids:
            file = tmp_path / "in" / f"lesson {lesson}" / f"s{id}_{id}_900{id}_{lesson}.ipynb"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(notebook(RIGHT, f'check("{lesson}.1")'))
    runs.grade(tmp_path / "in", out=tmp_path / "out", executor=one_thread())
    assert "lesson 5: this looks like a whole download" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    folders = [str(tmp_path / "in" / f"lesson {lesson}") for lesson in (5, 6)]
    assert cli.main(["grade", *folders, "--out", str(tmp_path / "two"), "--jobs", "1"]) == 0
    assert [row["ID"] for row in rows(tmp_path / "two")] == ["11", "12", "13"]
    assert "4 notebooks graded" in capsys.readouterr().out


def test_what_lies_around_a_notebook_is_no_matter(tmp_path: Path, level: str) -> None:
    hand_ins = hand_in(tmp_path / "in", ann="import numpy as np\n" + WRONG, bob=RIGHT)
    here = hand_ins / "ann"
    for name in ("numpy.py", "minigrad.py", "sitecustomize.py", "conftest.py", "json.py"):
        (here / name).write_text("raise SystemExit('taken over')\n")
    (here / ".OTTER_LOG").write_bytes(b"cos\nsystem\n(S'touch pwned'\ntR.")
    (here / "pickle.pkl").write_bytes(b"cos\nsystem\n(S'touch pwned'\ntR.")
    (here / "leak.ipynb").symlink_to("/etc/passwd")
    (hand_ins / "eve").symlink_to("/etc")
    out = tmp_path / "out"
    runs.grade(hand_ins, out=out, executor=one_thread())
    assert (status(out, "ann"), status(out, "bob")) == ("wrong", "passed")
    assert "root:" not in (out / "results.jsonl").read_text()
    assert not list(tmp_path.rglob("pwned"))


def test_a_stray_file_is_named_and_stops_nobody(tmp_path: Path, level: str) -> None:
    hand_ins = hand_in(tmp_path / "in", ann=RIGHT)
    (hand_ins / "ann" / "holiday.ipynb").write_bytes(notebook("x = 1"))
    out = tmp_path / "out"
    (hand_ins / "bob").mkdir()
    (hand_ins / "cy").mkdir()
    (hand_ins / "cy" / "homework.ipynb").touch()
    for again in (0, 1):
        count = runs.grade(hand_ins, out=out, executor=one_thread())
        assert (count.total, count.kept, count.failed) == (1, again, 1)
        text = (out / "report.html").read_text()
        assert "holiday.ipynb: belongs to no lesson" in text and "bob: nothing in the folder" in text
        assert "cy/homework.ipynb: the file is empty (not graded, which is no zero)" in text
        assert [(row["05_vectors"], row[tables.TOTAL]) for row in rows(out)] == [("1", "1"), ("0", "0"), ("", "")]


def test_hostile_names_are_tame_everywhere(tmp_path: Path, level: str) -> None:
    names = ["=HYPERLINK(1)", "<script>alert(1)<", "\u202egnp.exe", "-rf", "+1", "@x", "a" * 200, "é à", "a;b|c&d", "x\ny",
             "\udce9"]  # fmt: skip
    hand_ins = tmp_path / "in"
    for name in names:
        folder = hand_ins / os.fsdecode(os.fsencode(name))
        folder.mkdir(parents=True)
        (folder / "05_vectors.ipynb").write_bytes(notebook(RIGHT))
        (folder / ("<img src=x onerror=alert(1)>" + name[:20] + ".ipynb")).write_bytes(notebook(RIGHT))
    out = tmp_path / "out"
    count = runs.grade(hand_ins, out=out, executor=one_thread())
    assert (count.graded, count.aside) == (len(names), len(names)), "two copies each"
    found = rows(out)
    assert len(found) == len(names) and all(row[tables.TOTAL] == "1" for row in found)
    for row in found:
        assert row["Student"].lstrip()[:1] not in ("=", "+", "-", "@")
    text = (out / "report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text and "<img" not in text and "\u202e" not in text
    for page in (out / "feedback").rglob("*.html"):
        assert page.resolve().is_relative_to((out / "feedback").resolve())
        assert "<img" not in page.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["thread", "process"])
def test_any_executor_will_do(kind: str, tmp_path: Path, level: str) -> None:
    hand_ins = hand_in(tmp_path / "in", **{f"s{i}": RIGHT if i % 2 else WRONG for i in range(6)})
    pool: futures.Executor = futures.ThreadPoolExecutor(2) if kind == "thread" else futures.ProcessPoolExecutor(2)
    with pool:
        count = runs.grade(hand_ins, out=tmp_path / "out", executor=pool)
    assert count.graded == 6
    assert [row[tables.TOTAL] for row in rows(tmp_path / "out")] == ["0", "1"] * 3


def test_without_a_sandbox_nobody_is_graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: str) -> None:
    hand_ins, out = hand_in(tmp_path / "in", ann=RIGHT), tmp_path / "out"
    with monkeypatch.context() as patch:
        def broken(*args: Any, **kwargs: Any) -> Any:
            raise Unavailable("the sandbox could not start")
        patch.setattr("minigrad.course.grading.grader.Sandbox.worker", broken)
        with futures.ThreadPoolExecutor(1) as pool:
            count = runs.grade(hand_ins, out=out, executor=pool)
    assert (count.failed, count.graded) == (1, 0)
    assert status(out, "ann") == "not graded"
    assert rows(out)[0][tables.TOTAL] == "" and rows(out)[0]["05_vectors"] == "", "no grade is not a zero"
    assert "not graded" in (out / "report.html").read_text()
    assert runs.grade(hand_ins, out=out, executor=one_thread()).graded == 1, "and it is tried again"
    assert status(out, "ann") == "passed"


@pytest.mark.slow
def test_the_level_that_is_no_boundary_wants_trust() -> None:
    with pytest.raises(Unavailable, match="not a security boundary"):
        sandbox.choose("process")
    assert sandbox.choose("process", trust_students=True) == "process"


def test_auto_falls_back_and_never_below_a_boundary(monkeypatch: pytest.MonkeyPatch) -> None:
    broken: set[str] = {"namespace"}
    monkeypatch.setattr(sandbox, "problems", lambda level: ("it does not hold",) if level in broken else ())
    assert sandbox.choose() == "landlock"
    broken.add("landlock")
    with pytest.raises(Unavailable, match="trust-students"):
        sandbox.choose()
    assert sandbox.choose(trust_students=True) == "process"


def test_a_journal_line_that_was_cut_off_is_graded_again(tmp_path: Path, level: str) -> None:
    hand_ins, out = hand_in(tmp_path / "in", ann=RIGHT, bob=WRONG), tmp_path / "out"
    runs.grade(hand_ins, out=out, executor=one_thread())
    whole = (out / "results.jsonl").read_bytes()
    (out / "results.jsonl").write_bytes(whole[:-30])
    count = runs.grade(hand_ins, out=out, executor=one_thread())
    assert (count.kept, count.graded) == (1, 1)
    assert set(results(out)) == {"ann", "bob"}


def test_what_moved_and_why(tmp_path: Path, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_ins = hand_in(tmp_path / "in", ann=RIGHT, bob=WRONG, cy=WRONG)
    runs.grade(hand_ins, out=tmp_path / "old", executor=one_thread(), key=b"k" * 16)
    hand_in(hand_ins, bob=RIGHT, dan=RIGHT)
    (hand_ins / "cy" / "05_vectors.ipynb").unlink()
    runs.grade(hand_ins, out=tmp_path / "new", executor=one_thread(), key=b"k" * 16)
    moved = [m for m in tables.write_differences(tmp_path / "new", tmp_path / "old")[1] if m["exercise"] == "5.1"]
    assert [(m["student"], m["before"], m["after"], m["points"], m["why"]) for m in moved] == [
        ("bob", "wrong", "passed", 1.0, "another notebook"),
        ("cy", "wrong", "", 0.0, "no longer handed in"),
        ("dan", "", "passed", 1.0, "a new hand-in"),
    ]
    table = list(csv.DictReader(io.StringIO((tmp_path / "new" / "differences.csv").read_text())))
    assert {row["Why"] for row in table} == {m["why"] for m in moved}
    assert len(table) == tables.write_differences(tmp_path / "new", tmp_path / "old")[0]

    changed = [json.loads(line) for line in (tmp_path / "old" / "results.jsonl").read_text().splitlines()]
    for result in changed:
        result["pack"], result["verdicts"][0]["status"] = "another", "error"
    found = tables.differences(journal.read(tmp_path / "old" / "results.jsonl"), changed)
    assert {m["why"] for m in found} == {"a changed check"}


@pytest.mark.slow
def test_nothing_of_a_student_is_rendered(tmp_path: Path, level: str) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>\\u202e" + "A" * 10_000
    hand_ins = hand_in(
        tmp_path / "in",
        ann=f"def vjp_square(v, x):\n    raise ValueError('{evil}')", bob=f"def vjp_square(v, x):\n    return '{evil}'",
        cy=f"raise ValueError('{evil}')",
    )  # fmt: skip
    runs.grade(hand_ins, out=tmp_path / "out", executor=one_thread())
    for page in (tmp_path / "out").rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "<script>alert" not in text and "<img" not in text and "\u202e" not in text
        assert "Content-Security-Policy" in text and "http" not in text.replace("http-equiv", "")
        assert "A" * 5_000 not in text


# In a process of its own: what other tests have left behind must not be counted.
REMEMBERING = """
import pathlib, sys, tracemalloc
from minigrad.course.grading import journal, runs, tables

folder, out = map(pathlib.Path, sys.argv[1:])
room = [sys.intern(f"name {number}") for number in range(400_000)]  # pathlib interns names: their table must not grow now
tracemalloc.start()
found = runs.HandIns([folder])
with journal.Journal(out) as log:
    for _, ((_, one),) in found:
        key = journal.key_of(one.row, "05_vectors.ipynb", "", "", "")
        assert log.graded(key)
        found.expect({"key": key, "time": one.time, "copies": 1})
        found.set_aside(one, "a test")
    log.settle(found.expected())
runs.write(out, found)
print(tracemalloc.get_traced_memory()[1])
"""


@pytest.mark.slow
def test_a_large_class_needs_no_more_memory(tmp_path: Path, level: str) -> None:
    """What is remembered of a hand-in lies on disk: finding, settling and reporting 8,000 takes no more than 4,000."""
    hand_ins = hand_in(tmp_path / "in", ann=WRONG)
    runs.grade(hand_ins, out=tmp_path / "one", executor=one_thread(), key=b"k" * 16)
    result = next(journal.read(tmp_path / "one" / "results.jsonl"))
    peaks = []
    for count in (4_000, 8_000):  # fewer do not fill the caches
        out = tmp_path / str(count)
        folder = out / "in"
        folder.mkdir(parents=True)
        with journal.Journal(out) as log:
            for number in range(count):
                student = f"student{number:05d}"
                key = journal.key_of(student, "05_vectors.ipynb", "", "", "")
                log.append(result | {"key": key, "student": student, "path": f"{student}/05_vectors.ipynb"})
                (folder / f"{student}.ipynb").touch()
        alone = subprocess.run([sys.executable, "-c", REMEMBERING, folder, out], capture_output=True, text=True, check=True)
        peaks.append(int(alone.stdout))
        assert len(list(journal.read(out / "results.jsonl"))) == len(rows(out)) == count
    assert peaks[1] < peaks[0] + 200_000, peaks


@pytest.mark.slow
def test_a_result_depends_on_every_file_of_the_judge() -> None:
    """Else a run that goes on after an update would take over what an older judge said."""
    course = journal.PACKAGE / "course"
    hashed = {file for name in journal._JUDGE for file in course.glob(f"{name}.py")}
    modules = [name for name in walls.closure(["minigrad.course.judge.verdict"]) if name.startswith("minigrad.course.")]
    needed = {walls.MODULES[name] for name in modules if "lessons" not in name and walls.MODULES[name].name != "__init__.py"}
    assert needed and needed <= hashed | {course / "judge/__init__.py"}, sorted(needed - hashed)
