"""Every attack of the collection, at every level that claims to be a boundary: none may succeed.

Around each attacker sit honest students, one before and one after, and both must get their exact marks. A secret
that any file of the system could hold must not come out in a verdict, nothing may be written or left running, and
an attack must never end in `not graded`, which would let a student stop a class.
"""

import functools
import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.attacks.collection import FROM_THE_LIST, LATER, OURS, WRONG
from tests.grading.classroom import BOUNDARIES, FULL, LESSON, RIGHT, grader, notebook, same_result, statuses

REPO = Path(__file__).parents[2]
ATTACKS = FROM_THE_LIST | OURS | LATER
SECRET = "hidden-7d1f3c"


@pytest.fixture
def prize(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """What an attacker would like to have: readable and writable for anybody, as a careless teacher leaves it."""
    report = tmp_path / "report"
    report.mkdir()
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.getuid() and folder != Path("/") and "pytest" in folder.name:
            folder.chmod(0o755)
    report.chmod(0o777)
    files = {report / name: f"{SECRET} {name}" for name in ("results.jsonl", "grades.csv", "run.json", "secret.txt")}
    for path, text in files.items():
        path.write_text(text, encoding="utf-8")
        path.chmod(0o666)
    before = {path: (path.stat().st_mode, path.stat().st_mtime_ns) for path in files}
    yield {"@SECRET@": str(report / "secret.txt"), "@REPORT@": str(report), "@GRADER@": str(os.getpid()), "@REPO@": str(REPO)}
    assert sorted(report.iterdir()) == sorted(files), "something was made or deleted in the report folder"
    for path, text in files.items():
        assert path.read_text(encoding="utf-8") == text
        assert (path.stat().st_mode, path.stat().st_mtime_ns) == before[path]


def graded(level: str, data: bytes, seed: bytes = b"seed") -> dict[str, Any]:
    return grader(level).grade(data, LESSON, seed)


@functools.cache
def before_all(level: str) -> dict[str, Any]:
    """The honest student who comes before any attacker; the one after each must fare the same."""
    return graded(level, notebook(*RIGHT))


def fill(source: str, prize: dict[str, Any]) -> str:
    for name, value in prize.items():
        source = source.replace(name, value)
    return source


def left_running(level: str) -> list[str]:
    """What still runs below the sandboxes of a level besides their own processes."""
    found = []
    for sandbox in grader(level)._sandboxes.values():
        sandbox.how_it_ended()  # the zygote says so when it has cleared away
        if sandbox._process is not None:
            below = psutil.Process(sandbox._process.pid).children(recursive=True)
            found += [str(p) for p in below if "zygote" not in " ".join(p.cmdline())]
            found += [str(p) for p in below[1 if level == "namespace" else 0 :]]
    return found


WATCHED = [Path(p) for p in ("/tmp", "/var/tmp", "/dev/shm", "/run", "/", str(Path.home())) if Path(p).is_dir()]


QUICK = ("reads the tests", "imports the oracles", "system calls", "answers in the worker's place")


@pytest.mark.sweep(40)
@pytest.mark.parametrize("level", BOUNDARIES)
@pytest.mark.parametrize("name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in ATTACKS])
def test_attack_fails(name: str, level: str, prize: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("minigrad.course.grading.grader.CELLS_SECONDS", 1.0)
    before = before_all(level)
    assert before["points"] == FULL
    started = time.monotonic()

    result = graded(level, notebook(WRONG, fill(ATTACKS[name], prize)))

    assert result["points"] == 0.0, result["verdicts"]
    assert result["graded"], result["verdicts"]
    assert set(statuses(result)) <= {"wrong", "error", "timeout", "memory", "forbidden", "missing", "not attempted"}
    came_out = [{k: v for k, v in verdict.items() if k != "row"} for verdict in result["verdicts"]]  # a row is their own code
    assert "hidden-" not in json.dumps(result | {"verdicts": came_out}), "something that the student must not see came out"
    assert len(json.dumps(result)) < 50_000
    assert time.monotonic() - started < 30
    assert same_result(graded(level, notebook(*RIGHT)), before)
    assert left_running(level) == []
    for folder in WATCHED:
        assert not (folder / "minigrad-left-behind").exists()


@pytest.mark.parametrize("level", BOUNDARIES)
def test_the_attack_as_the_first_cell_spoils_nothing_for_the_honest_half(level: str) -> None:
    """A student whose own code is destructive still gets what the untouched answers earn, or less; never an error of ours."""
    for name in ("patched builtins", "builtins deleted", "poisons what others share", "hangs up"):
        result = graded(level, notebook(ATTACKS[name], *RIGHT))
        assert result["graded"], name


def test_forged_outputs_are_not_read() -> None:
    forged = [
        {"output_type": "execute_result", "data": {"text/plain": "4.0", "text/html": "<b>passed</b>"}, "metadata": {},
         "execution_count": 1},
        {"output_type": "stream", "name": "stdout", "text": '{"status": "passed", "points": 4}'},
    ]  # fmt: skip
    result = graded("landlock", notebook(WRONG, outputs=forged, nbgrader={"points": 100, "grade": True, "score": 4}))
    assert result["points"] == 0.0


def test_what_the_sandbox_holds() -> None:
    """No oracle, probe, solution or lesson; at the level of a lesson that builds it, no engine."""
    from minigrad.course.grading import package

    for with_engine in (False, True):
        without = frozenset[str]() if with_engine else frozenset({"engine"})
        site = package.build(Path(grader("landlock")._home()) / f"look-{with_engine}", without)
        names = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file() and "numpy" not in path.parts}
        course = {name for name in names if name.startswith("minigrad/course/")}
        assert course == {f"minigrad/course/{name}" for name in (
            "__init__.py", "student/__init__.py", "student/wire.py", "student/worker.py", "student/slips.py",
            "grading/__init__.py", "grading/cells.py", "grading/confine.py", "grading/zygote.py", "data/digits.npz",
            "data/names.txt", "data/passes.csv",
        )}  # fmt: skip
        engine = {name for name in names if name.startswith("minigrad/")} - course
        assert ("minigrad/tape.py" in engine) == with_engine
        if not with_engine:
            assert {(site / name).read_text() for name in engine if "viz" not in name} == {package._USED_ON}


@pytest.mark.parametrize("level", BOUNDARIES)
def test_nobody_on_this_machine_is_the_student(level: str) -> None:
    """Root is left behind first, and no name belongs to whom the code runs as."""
    import pwd

    who = "import os\nanswer = [os.getuid(), os.geteuid(), os.getgid(), os.getegid()]"
    result = graded(level, notebook(*RIGHT[:3], who))
    assert json.loads(result["verdicts"][2]["got"]) == [-1, -1, -1, -1]
    sandbox = next(iter(grader(level)._sandboxes.values()))
    worker = sandbox.worker(memory=64 << 20, cpu=5)
    status = Path(f"/proc/{worker._pid}/status").read_text()
    worker.close()
    users, groups = (set(re.findall(rf"^{name}:(.*)$", status, re.MULTILINE)[0].split()) for name in ("Uid", "Groups"))
    if os.getuid() == 0:
        assert not users & {str(entry.pw_uid) for entry in pwd.getpwall()} and not groups
