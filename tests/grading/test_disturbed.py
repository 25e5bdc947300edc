"""Whatever stops a run, the next one gives the report of an undisturbed run. (kill -9 at random moments: test_killed.py)"""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from minigrad.course import notebooks
from minigrad.course.commands import cli
from minigrad.course.grading import journal, pages, runs
from tests.grading.classroom import grader, notebook
from tests.grading.test_killed import finished
from tests.grading.test_runs import RIGHT, WRONG, hand_in, here, level, one_thread  # noqa: F401

KEY = b"k" * 16


@pytest.fixture(scope="module")
def hand_ins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = hand_in(tmp_path_factory.mktemp("class"), **{f"s{i}": (RIGHT if i % 2 else WRONG) for i in range(6)}, bad=b"{")
    (folder / "notes.txt").touch()
    return folder


@pytest.fixture(scope="module")
def undisturbed(hand_ins: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    out = tmp_path_factory.mktemp("whole") / "out"
    runs.grade(hand_ins, out=out, key=KEY, executor=one_thread())
    return finished(out)


def full_disk(patch: pytest.MonkeyPatch) -> None:
    """In the middle of a line."""
    real = journal.Journal.append

    def append(self: Any, result: dict[str, Any]) -> None:
        if self._size > 8_000:
            self._file.write(b'{"key": "half a line')
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(self, result)

    patch.setattr(journal.Journal, "append", append)


def full_at_the_end(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pages, "_student", lambda *a: list(raising(OSError(errno.ENOSPC, "No space left on device"))))


def read_only(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(runs, "write_whole", lambda *a: list(raising(OSError(errno.EROFS, "Read-only file system"))))


def settling_fails(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(journal.Journal, "settle", lambda *a: list(raising(OSError(errno.EIO, "Input/output error"))))


def interrupted(patch: pytest.MonkeyPatch) -> None:
    real = journal.Journal.append

    def append(self: Any, result: dict[str, Any]) -> None:
        real(self, result)
        if self._size > 8_000:
            raise KeyboardInterrupt

    patch.setattr(journal.Journal, "append", append)


def clock_set_back(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(time, "time", lambda: 0.0)


def raising(error: BaseException) -> Iterator[str]:
    yield "half"
    raise error


@pytest.mark.slow
@pytest.mark.parametrize(
    ("disturb", "says"),
    [(full_disk, "No space left"), (full_at_the_end, "No space left"), (read_only, "Read-only"),
     (settling_fails, "Input/output"), (interrupted, "Stopped. What was graded is kept"), (clock_set_back, "")],
)  # fmt: skip
def test_the_next_run_gives_the_undisturbed_report(
    disturb: Callable[[pytest.MonkeyPatch], None], says: str, hand_ins: Path, undisturbed: dict[str, str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], level: str, here: None,  # noqa: F811
) -> None:  # fmt: skip
    out, key = tmp_path / "out", tmp_path / "key"
    key.write_bytes(KEY)
    with monkeypatch.context() as patch:
        disturb(patch)
        code = cli.main(["grade", str(hand_ins), "--out", str(out), "--key", str(key)])
    said = capsys.readouterr()
    assert code != 0 and says in said.err and "Traceback" not in said.err
    assert cli.main(["grade", str(hand_ins), "--out", str(out), "--key", str(key)]) == 1, "one file could not be read"
    assert finished(out) == undisturbed


@pytest.mark.slow
def test_a_hundred_endless_loops_end_within_what_is_announced(tmp_path: Path, level: str) -> None:  # noqa: F811
    """Computing or nearly asleep, in copies or in many lessons: honest neighbours lose nothing."""
    hand_ins = hand_in(tmp_path / "in", ann=RIGHT, zoe=RIGHT)
    for number in range(100):
        path = hand_ins / "eve" / f"{number:02d}.ipynb"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(notebook("while True: pass", 'check("5.1")'))
    for number in (3, 5, 6):
        path = hand_ins / "mia" / f"{number:02d}.ipynb"
        path.parent.mkdir(exist_ok=True)
        dozes = "import time\nend = 0\nwhile True:\n    time.sleep(0.03)\n    for _ in range(20_000): end += 1"
        path.write_bytes(notebook(dozes, dozes, dozes, f'check("{number}.1")'))
    out, started = tmp_path / "out", time.monotonic()
    count = runs.grade(hand_ins, out=out, executor=one_thread(), student_seconds=1.5)
    assert count.failed == 0 and count.graded == 6
    assert time.monotonic() - started < 2 * 1.5 + 8, "sandboxes that start anew and honest students take some of it"
    told = {result["student"]: {v["status"] for v in result["verdicts"]} for result in journal.read(out / "results.jsonl")}
    assert told["eve"] == {"timeout"} and told["mia"] == {"timeout"} and "passed" in told["ann"] & told["zoe"]
    assert any("together may take" in " ".join(v["lines"]) for r in journal.read(out / "results.jsonl") for v in r["verdicts"])


@pytest.mark.slow
def test_sixty_computing_threads_make_no_neighbour_late(tmp_path: Path, level: str) -> None:  # noqa: F811
    """On both sides of the honest ones, in two processes: what counts is the time in which a student's own code computes."""
    spins = (
        "import threading\ndef spin():\n    while True: pass\n"
        "for _ in range(60): threading.Thread(target=spin, daemon=True).start()"
    )
    hand_ins = hand_in(tmp_path / "in", **dict.fromkeys(("eve", "mia", "sam"), spins))
    for name in ("ann", "gus", "zoe"):
        (hand_ins / name).mkdir()
        shutil.copy(notebooks.path("solutions", "05_vectors"), hand_ins / name)
    out = tmp_path / "out"
    assert runs.grade(hand_ins, out=out, jobs=2).failed == 0
    told = {result["student"]: {v["status"] for v in result["verdicts"]} for result in journal.read(out / "results.jsonl")}
    assert told["ann"] == told["gus"] == told["zoe"] == {"passed"}
    assert not {"passed", "not graded"} & (told["eve"] | told["mia"] | told["sam"])


def test_all_keep_to_the_level_that_was_found(
    hand_ins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: str  # noqa: F811
) -> None:
    """A sandbox whose starting process is killed again and again does not go on at a weaker level."""
    jobs: list[dict[str, Any]] = []
    monkeypatch.setattr(runs.Pool, "run", lambda self, work: iter([jobs.extend(work)][:0]))
    runs.grade(hand_ins, out=tmp_path / "out", jobs=1)
    assert {job["isolation"] for job in jobs} == {level}


@pytest.mark.parametrize("isolation", ["namespace", "landlock"])
def test_the_machine_has_no_name_in_there(isolation: str, tmp_path: Path) -> None:
    (tmp_path / "hand_in.ipynb").touch()
    asks = (
        "import ctypes, os, platform, socket\nplace = ctypes.create_string_buffer(400)\n"
        "answer = [*os.uname()[:4], platform.node(), socket.gethostname(), ctypes.CDLL(None).uname(place)]\n"
        "answer.append(place.value.decode())\n"
        "answer += [str(os.getuid()), str(os.getegid()), str(os.getgroups)]\n"
        f"try:\n    os.stat({str(tmp_path / 'hand_in.ipynb')!r}); answer.append('seen')\nexcept OSError: answer.append('')\n"
    )
    from tests.grading.classroom import LESSON

    got = grader(isolation).grade(notebook(asks), LESSON, b"seed")["verdicts"][2]["got"]
    assert os.uname().nodename not in got and os.uname().release not in got and "-1" in got
    if isolation == "namespace":
        assert "seen" not in got
