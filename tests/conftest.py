"""What all tests share: what a test may need beyond the test extra, and the rule that CI skips nothing.

`@pytest.mark.needs("torch")` skips a test where torch is missing. In `.ci/run`, which provides for all,
a skipped test is a failure: unless its reason names what this stage does not install (MINIGRAD_ABSENT), or
begins with "optional:". The summary says how many tests ran for each need.

Of the slow cases of a `@pytest.mark.sweep(n)` CI runs n, other ones each day; `pytest -m sweep` runs them all. A sample is
drawn again by its date: MINIGRAD_DRAW=2026-11-28.

Where a test has a time limit (in `.ci/run`: PYTEST_TIMEOUT), it takes with it what it has started.

A run starts some two hundred Pythons. Each would compile the package anew where PYTHONDONTWRITEBYTECODE is set (in
most containers), for a third of the run's time: so a run writes bytecode, which git ignores.
"""

import os
import random
import shutil
import signal
import sys
from collections import Counter, defaultdict
from collections.abc import Generator
from contextlib import suppress
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from tests.browser.fixtures import axe, chromium, lab, page, walk

__all__ = ["axe", "chromium", "lab", "page", "walk"]

STRICT = os.environ.get("MINIGRAD_CI") == "1"
DRAW = os.environ.setdefault("MINIGRAD_DRAW", date.today().isoformat())  # for processes started by this one as well
ABSENT = os.environ.get("MINIGRAD_ABSENT", "").split()
PROGRAMS = {"chromium": ("chromium", "chromium-browser", "google-chrome"), "bubblewrap": ("bwrap",)}

collect_ignore = ["data"]  # notebooks of another edition among it
if os.name != "posix":  # sandboxes and forks
    collect_ignore += ["attacks", "grading", "course/test_limits.py"]

REFUSED = "CI provides for this test, and it was skipped: "

sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

EARLIER = pytest.StashKey[set[int]]()  # the processes that shared fixtures have started

ran: Counter[str] = Counter()
refused: list[str] = []


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Plain `pytest` uses several processes, a file each; chosen tests and slow ones (`alone` are timed) run in this one."""
    everything = config.args_source == pytest.Config.ArgsSource.TESTPATHS
    return min(4, os.cpu_count() or 1) if everything and config.option.markexpr == "not slow" else 0


def pytest_configure(config: pytest.Config) -> None:
    """The kernels of the notebooks are forks of one process, where there are handles of processes."""
    if config.getoption("nbval", default=False) and hasattr(os, "pidfd_open"):
        from jupyter_client.provisioning import local_provisioner

        from tests import warm

        local_provisioner.launch_kernel = warm.starter(local_provisioner.launch_kernel)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cases: dict[tuple[str, int], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if STRICT and item.get_closest_marker("slow") and (mark := item.get_closest_marker("sweep")):
            cases[item.nodeid.partition("[")[0], mark.args[0]].append(item)
    left = [case for (name, n), all in cases.items() for case in random.Random(DRAW + name).sample(all, max(0, len(all) - n))]
    items[:] = [item for item in items if item not in {*left}]
    config.hook.pytest_deselected(items=left)


def is_here(need: str) -> bool:
    if need == "chromium" and os.environ.get("MINIGRAD_CHROMIUM"):
        return True
    if need in PROGRAMS:
        return any(shutil.which(name) for name in PROGRAMS[need])
    return find_spec(need) is not None


def needs(item: pytest.Item) -> list[str]:
    return [need for marker in item.iter_markers("needs") for need in marker.args]


def excused(reason: str) -> bool:
    return reason.startswith("optional:") or any(name in reason for name in ABSENT)


def pytest_runtest_setup(item: pytest.Item) -> None:
    for need in needs(item):
        if not is_here(need):
            pytest.skip(f"{need} is not on this machine")


def children() -> set[int]:
    """The processes that this one has started, each of its threads; cheap enough for every test."""
    found: set[int] = set()
    for listed in Path("/proc/self/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended meanwhile
            found.update(map(int, listed.read_text().split()))
    return found


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    item.stash[EARLIER] = children()


@pytest.hookimpl(optionalhook=True, wrapper=True)
def pytest_timeout_set_timer(item: pytest.Item) -> Generator[None, Any, Any]:
    """When the time is up, first end what the test has started (who waits for it waits no longer), then the test."""
    done = yield
    fail = signal.getsignal(signal.SIGALRM)

    def end(number: int, frame: FrameType | None) -> None:
        import psutil

        for child in psutil.Process().children():
            if child.pid not in item.stash.get(EARLIER, ()):
                with suppress(psutil.NoSuchProcess):  # it has ended by itself
                    family = child.children(recursive=True)
                    for process in (*family, child):
                        with suppress(psutil.NoSuchProcess):
                            process.kill()
        assert callable(fail)
        fail(number, frame)

    signal.signal(signal.SIGALRM, end)
    return done


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    report = yield
    if report.when == "call" and report.passed:
        report.user_properties += [("need", need) for need in needs(item)]
    return refuse(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    return refuse((yield))


def refuse(report: Any) -> Any:
    """In CI, turn a skip that nothing excuses into a failure."""
    if STRICT and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[-1] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        if not excused(reason):
            report.outcome = "failed"
            report.longrepr = REFUSED + reason
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Count what ran, wherever it ran: reports of other processes arrive here too."""
    if report.when == "call":
        ran.update(str(need) for name, need in report.user_properties if name == "need")
    note_refusal(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    note_refusal(report)


def note_refusal(report: Any) -> None:
    if str(report.longrepr).startswith(REFUSED):
        refused.append(report.nodeid)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for need, count in sorted(ran.items()):
        terminalreporter.write_line(f"provided for: {need}: {count} tests ran")
    if STRICT:
        terminalreporter.write_line(f"sweeps are samples of the day MINIGRAD_DRAW={DRAW}")
    for nodeid in refused:
        terminalreporter.write_line(f"provided for, yet skipped: {nodeid}")
