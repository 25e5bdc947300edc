"""What .ci/run relies on, in one process and in several: nothing is skipped unseen, and no test hangs for ever."""

import os
import re
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path

import psutil
import pytest

from tests.conftest import children

ROOT = Path(__file__).parents[2]
CI = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
FORMS = pytest.mark.parametrize("form", [["-n", "0"], ["-n", "2", "--dist", "worksteal"]], ids=("one", "two"))

SKIPS = """
import pytest

@pytest.mark.needs("json")
def test_provided_for(): pass

@pytest.mark.needs("no_such_module")
def test_not_provided_for(): pass

@pytest.mark.needs("left_out")
def test_left_out_of_this_stage(): pass

def test_without_which_nothing_is_lost(): pytest.skip("optional: no second moon here")

def test_for_no_reason(): pytest.skip("not today")
"""
SKIPPED_MODULE = "import pytest\npytest.importorskip('another_missing_module')\ndef test_unseen(): pass\n"

SWEEP = """
import pytest

@pytest.mark.slow
@pytest.mark.sweep(3)
@pytest.mark.parametrize("i", range(40))
def test_case(i): pass
"""

HANGS = """
import subprocess

def test_waits_for_a_grandchild():
    child = subprocess.Popen(["sh", "-c", "sleep 1000 & echo $! > pid; wait"], cwd={folder!r})
    child.wait()

def test_next(): pass
"""
DEAF = """
import signal, time

def test_hears_nothing():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    time.sleep(1000)
"""


def run(folder: Path, form: list[str], tests: dict[str, str], *more: str, **env: str) -> subprocess.CompletedProcess[str]:
    """These tests under the configuration of this repository."""
    for name, text in tests.items():
        (folder / name).write_text(text, encoding="utf-8")
    ours = ("MINIGRAD_", "PYTEST")
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)} | env
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), f"--rootdir={folder}",
               "-p", "tests.conftest", "-p", "no:cacheprovider", *form, *more, *tests]  # fmt: skip
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=200, check=False)


@pytest.mark.slow
def test_of_a_sweep_ci_runs_other_cases_each_day(tmp_path: Path) -> None:
    def names(**env: str) -> set[str]:
        shown = run(tmp_path, ["-n", "2"], {"test_sweep.py": SWEEP}, "-m", "slow", "-rp", **env).stdout
        return set(re.findall(r"PASSED test_sweep\.py::(\S+)", shown))

    days = [names(MINIGRAD_CI="1", MINIGRAD_DRAW=day) for day in ("2026-11-28", "2026-11-28", "2026-11-29")]
    assert [len(day) for day in days] == [3, 3, 3] and days[0] == days[1] != days[2]
    assert len(names(MINIGRAD_DRAW="2026-11-28")) == 40, "whole, where it is asked for"


def test_children_are_counted_while_threads_come_and_go() -> None:
    """A thread that ends between being listed and being looked at is no error."""
    done = threading.Event()

    def churn() -> None:
        while not done.is_set():
            short = [threading.Thread(target=time.sleep, args=(i / 10_000,)) for i in range(20)]
            for thread in short:
                thread.start()
            for thread in short:
                thread.join()

    threads = [threading.Thread(target=churn) for _ in range(2)]
    for thread in threads:
        thread.start()
    child = subprocess.Popen(["sleep", "60"])
    try:
        assert all(child.pid in children() for _ in range(300))
    finally:
        child.kill()
        child.wait()
        done.set()
        for thread in threads:
            thread.join()


@FORMS
@pytest.mark.slow
def test_in_ci_a_skip_is_a_failure_unless_excused(form: list[str], tmp_path: Path) -> None:
    tests = {"test_skips.py": SKIPS, "test_whole.py": SKIPPED_MODULE}
    more = "--continue-on-collection-errors"
    done = run(tmp_path, form, tests, more, MINIGRAD_CI="1", MINIGRAD_ABSENT="torch left_out")
    told = set(re.findall(r"provided for.*", done.stdout))
    assert told == {
        "provided for: json: 1 tests ran",
        "provided for, yet skipped: test_skips.py::test_not_provided_for",
        "provided for, yet skipped: test_skips.py::test_for_no_reason",
        "provided for, yet skipped: test_whole.py",
    }, done.stdout
    assert done.returncode == 1


@pytest.mark.slow
def test_elsewhere_a_skip_is_a_skip(tmp_path: Path) -> None:
    done = run(tmp_path, ["-n", "0"], {"test_skips.py": SKIPS, "test_whole.py": SKIPPED_MODULE})
    assert done.returncode == 0 and "1 passed, 5 skipped" in done.stdout, done.stdout
    assert re.findall(r"provided for.*", done.stdout) == ["provided for: json: 1 tests ran"]


@FORMS
@pytest.mark.slow
def test_a_test_that_hangs_fails_and_leaves_nothing_behind(form: list[str], tmp_path: Path) -> None:
    done = run(tmp_path, form, {"test_hangs.py": HANGS.format(folder=str(tmp_path))}, PYTEST_TIMEOUT="3")
    assert done.returncode == 1 and "1 failed, 1 passed" in done.stdout, done.stdout
    assert "Timeout (>3.0s)" in done.stdout and "child.wait()" in done.stdout
    grandchild, deadline = int((tmp_path / "pid").read_text()), time.monotonic() + 10
    while psutil.pid_exists(grandchild) and psutil.Process(grandchild).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline, "the grandchild outlived its test"
        time.sleep(0.05)


@FORMS
@pytest.mark.slow
def test_a_test_that_no_signal_reaches_ends_too(form: list[str], tmp_path: Path) -> None:
    options = re.search(r'PYTEST_ADDOPTS="(.*)"', CI)
    assert options
    sooner, count = re.subn(r"faulthandler_timeout=\d+", "faulthandler_timeout=2", options[1])
    done = run(tmp_path, form, {"test_deaf.py": DEAF}, PYTEST_TIMEOUT="1", PYTEST_ADDOPTS=sooner)
    assert count == 1 and done.returncode == 1, done
    assert "in test_hears_nothing" in done.stderr


def test_the_limits_of_ci() -> None:
    """A hanging test may not use up the whole of CI's time; what no signal reaches ends after what a signal does."""
    limit, last = (int(n) for n in re.findall(r"(?:PYTEST_TIMEOUT|faulthandler_timeout)=(\d+)", CI))
    assert limit <= 300 < last <= 600
    stages = re.findall(r'^stage .*pytest -m "(.*?)"', CI, re.MULTILINE)
    assert stages == ["slow and alone", "slow and not alone"], "each slow test is in one of the two"


def test_what_says_which_pythons_are_tested_says_the_same() -> None:
    (tested,) = re.findall(r"^for version in (.*); do$", CI, re.MULTILINE)
    pythons = tested.split()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["requires-python"] == f">={pythons[0]}"
    assert re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"])) == pythons
    words = f"Python {', '.join(pythons[:-1])} and {pythons[-1]}"
    for file in ("README.md", "CHANGELOG.md"):
        assert words in (ROOT / file).read_text(encoding="utf-8"), file
