"""The sandbox itself: what it promises to the grader, and that its self-test would notice a hole."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from minigrad.course.grading import LEVELS, confine, package, sandbox, zygote
from minigrad.course.student.wire import Failure
from tests.grading.classroom import BOUNDARIES, LESSON, grade, grader, notebook


def worker(level: str, **limits: Any) -> sandbox.Worker:
    box = grader(level).sandbox(frozenset({"engine"}))
    made = box.worker(memory=limits.get("memory", 256 << 20), cpu=limits.get("cpu", 20))
    made.limit(limits.get("seconds", 5.0), limits.get("wall", 15.0))
    return made


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_every_way_to_end_has_its_own_name(level: str) -> None:
    ways = {
        "while True: pass": "timeout",
        "import time; time.sleep(60)": "timeout",
        "import os; os._exit(3)": "killed",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)": "killed" if level == "process" else "raised",
        "import ctypes; ctypes.string_at(0)": "killed",
    }
    for source, kind in ways.items():
        student = worker(level, seconds=0.3, wall=0.9)
        outcome = student.exec([source])
        found = outcome.kind if isinstance(outcome, Failure) else outcome[0] and outcome[0].kind
        assert found == kind, (source, outcome)
        student.close()
        student.close()


@pytest.mark.slow
def test_a_command_that_was_stopped_and_goes_on_is_nobodys_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-Z, then fg: the clock went on while the grader stood still."""
    student = worker("landlock", seconds=0.3, wall=0.9)
    late, clock = [0.0], time.monotonic

    class Poll:
        def __init__(self) -> None:
            self.poll_for_real = select_poll()

        def register(self, descriptor: int, events: int) -> None:
            self.poll_for_real.register(descriptor, events)
            self.reads = events == sandbox.select.POLLIN

        def poll(self, wait: float) -> Any:
            late[0] += 30.0 if self.reads and not late[0] else 0.0
            return self.poll_for_real.poll(wait)

    select_poll = sandbox.select.poll
    monkeypatch.setattr(sandbox.select, "poll", Poll)
    monkeypatch.setattr(time, "monotonic", lambda: clock() + late[0])
    assert student.exec(["import time\ntime.sleep(0.2)\nx = 1"]) == [None]
    assert late == [30.0]
    student.close()


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_memory_is_what_the_exercise_says(level: str) -> None:
    student = worker(level, memory=128 << 20)
    assert student.exec(["x = bytearray(64 << 20)", "del x", "y = bytearray(200 << 20)"])[2].type == "MemoryError"
    student.close()


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_processor_time_ends_who_ignores_it(level: str) -> None:
    """Behind our own watch stands the kernel's limit, which nobody can raise or ignore."""
    student = worker(level, cpu=1, seconds=30.0, wall=30.0)
    started = time.monotonic()
    outcome = student.exec(["import signal\nfor s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n"
                            "    except BaseException: pass\nwhile True: pass"])  # fmt: skip
    assert isinstance(outcome, Failure) and outcome.kind in ("killed", "timeout")
    assert time.monotonic() - started < 25
    student.close()


@pytest.mark.parametrize("level", BOUNDARIES)
def test_threads_numpy_and_late_imports_work_inside(level: str) -> None:
    result = grade(
        notebook(
            "import threading, concurrent.futures, asyncio, decimal, colorsys",
            "with concurrent.futures.ThreadPoolExecutor(4) as pool:\n    n = sum(pool.map(abs, range(10)))",
            "import numpy as np\nanswer = 66.0 if n == 45 and np.linalg.eigvals(np.eye(3)).sum() == 3 else 0",
        ),
        level,
    )
    assert result["verdicts"][2]["status"] == "passed", result["cells"]


def test_every_student_meets_the_same_random_numbers_and_orders() -> None:
    source = "import numpy as np, random\nanswer = [np.random.rand(), random.random(), *{'a', 'b', 'c', 'd'}].__repr__()"
    got = {grade(notebook(source), level)["verdicts"][2]["got"] for level in BOUNDARIES for _ in range(3)}
    assert len(got) == 1


@pytest.mark.slow
def test_the_self_test_notices_each_wall_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take one wall away and the level is refused. (The walls run in the sandbox's copy, so the copy is edited.)"""
    whole = package.build
    holes = {
        "confine.seccomp()": "start a process",
        "confine.landlock(opened, listable)": "read a file outside",
        'confine.limits(**limits | more)': "the limit of memory does not hold",
    }
    for wall, escape in holes.items():

        def build(site: Any, without: frozenset[str], wall: str = wall) -> Any:
            made = whole(site, without)
            path = made / "minigrad" / "course" / "grading" / "zygote.py"
            text = path.read_text(encoding="utf-8")
            assert text.count(wall) == 1
            instead = "confine.prctl(confine.PR_SET_NO_NEW_PRIVS, 1)"  # which Landlock and seccomp both ask for
            path.write_text(text.replace(wall, instead), encoding="utf-8")
            return made

        grader("landlock")
        with monkeypatch.context() as patch:
            patch.setattr(package, "build", build)
            found = sandbox.problems.__wrapped__("landlock")
        assert any(escape in problem for problem in found), (wall, found)


@pytest.mark.slow
def test_a_zygote_that_is_lost_is_replaced() -> None:
    box = grader("landlock").sandbox(frozenset({"engine"}))
    box.start()
    assert box._process is not None
    box._process.kill()
    box._process.wait()
    student = worker("landlock")
    assert student.exec(["x = 1"]) == [None]
    student.close()


def test_a_sandbox_that_cannot_start_says_why(tmp_path: Any) -> None:
    site = package.build(tmp_path / "site", frozenset({"engine"}))
    (site / "minigrad" / "course" / "grading" / "zygote.py").write_text("raise SystemExit('no such luck')")
    with contextlib.closing(sandbox.Sandbox("landlock", site)) as box, pytest.raises(sandbox.Unavailable, match="no such luck"):
        box.start()


def test_other_systems_are_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = sandbox.problems.__wrapped__
    with monkeypatch.context() as patch:
        patch.setattr("platform.system", lambda: "Darwin")
        assert "Linux" in ask("namespace")[0] and "Linux" in ask("landlock")[0]
    with monkeypatch.context() as patch:
        patch.setattr(os, "name", "nt")
        assert "WSL2" in ask("process")[0]


def test_a_machine_without_a_list_of_calls_is_refused() -> None:
    with pytest.raises(OSError, match="riscv64"):
        confine._program("riscv64")
    for machine in ("x86_64", "aarch64"):
        program = confine._program(machine)
        assert len(program) % 8 == 0 and len(program) // 8 < 4096


def test_the_unmapped_user_is_nobody() -> None:
    import pwd

    uid = sandbox.unmapped_user()
    assert uid > 60_000
    with pytest.raises(KeyError):
        pwd.getpwuid(uid)


def test_reachable_looks_at_every_folder(tmp_path: Any) -> None:
    inner = tmp_path / "closed" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "closed").chmod(0o700)
    assert not zygote.reachable(str(inner))
    assert zygote.reachable("/usr")


ASKS_AROUND = """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
here, there = socket.socketpair()
page = ctypes.cast(libc.getpid, ctypes.c_void_p).value & ~3
def refused(action):
    try:
        return action() in (-1, None)
    except OSError:
        return True
answer = [
    *(refused(lambda option=option: here.getsockopt(socket.SOL_SOCKET, option, 12)) for option in (17, 59, 31, 77)),
    *(refused(lambda ask=ask: ask(OTHER)) for ask in (os.getsid, os.getpgid, os.sched_getaffinity)),
    *(libc.syscall(202, ctypes.c_void_p(page), op, 1, None, None, 0) == -1 for op in (1, 3, 5, 10)),
    [libc.getauxval(entry) for entry in (11, 12, 13, 14)] == [65534] * 4,
    os.getsid(0) >= 0, len(os.sched_getaffinity(0)) > 0, here.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE) == 1,
]
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="optional: the number of futex")
@pytest.mark.parametrize("level", BOUNDARIES)
def test_the_system_says_nothing_of_users_and_processes_and_carries_no_message(level: str) -> None:
    """SO_PEERCRED and its kin, getauxval, process ids of others; a futex shared with another hand-in cannot be woken."""
    asks = ASKS_AROUND.replace("OTHER", str(os.getpid()))
    got = grader(level).grade(notebook(asks), LESSON, b"seed")["verdicts"][2]["got"]
    assert got == str([True] * 15), got


def test_a_full_folder_for_temporary_files_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(*args: Any, **options: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "mkdtemp", full)
        sandbox.problems.cache_clear()
        assert "make room there, or name another folder in TMPDIR" in sandbox.problems("landlock")[0]
    sandbox.problems.cache_clear()


def test_what_a_stopped_self_test_leaves_is_taken_away_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder is open to everybody, and carries the number of its process as the sandboxes do."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    program = (
        "import os, sys, tempfile\nfrom minigrad.course.grading import escape\ntempfile.tempdir = sys.argv[1]\n"
        "class Stopped:\n    def worker(self, **options):\n        os.kill(os.getpid(), 9)\nlist(escape.attempt(Stopped()))"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], cwd=Path(__file__).parents[2])
    assert len(list(tmp_path.iterdir())) == 1
    package.tidy_up()
    assert list(tmp_path.iterdir()) == []
