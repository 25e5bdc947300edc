"""kill -9 in the middle, again and again: the report that comes out at last is the one of an undisturbed run."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from minigrad.course.grading import journal
from tests.grading.classroom import notebook

STUDENTS = 120
KILLS = 6
ANSWERS = ("2 * x * v", "2 * x", "x * v", "v * x**2", "x / 0", "open('/etc/passwd')")


@pytest.fixture(scope="module")
def hand_ins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class")
    for number in range(STUDENTS):
        path = folder / f"s{number:03d}" / "05_vectors.ipynb"
        path.parent.mkdir()
        source = f"def vjp_square(v, x):\n    return {ANSWERS[number % len(ANSWERS)]}\n# {number}"
        path.write_bytes(notebook(source) if number % 17 else b"")
    return folder


def start(hand_ins: Path, out: Path, key: Path) -> subprocess.Popen[bytes]:
    given = ["grade", hand_ins, "--out", out, "--key", key, "--jobs", "2"]
    command = [sys.executable, "-m", "minigrad.course.commands.cli", *given]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)


def kill_all(process: subprocess.Popen[bytes], how: signal.Signals = signal.SIGKILL) -> list[psutil.Process]:
    """End the command alone, as a power cut, the system or a person would; its children are told by nobody."""
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(how)
    process.wait()
    return children


def finished(out: Path) -> dict[str, str]:
    """All that a report folder holds, without times."""
    texts = {}
    for path in sorted(out.rglob("*")):
        if path.is_file() and path.name not in ("run.lock",):
            text = path.read_text(encoding="utf-8")
            text = re.sub(r'"seconds": [0-9.e-]+', '"seconds": 0', text)
            texts[path.relative_to(out).as_posix()] = re.sub(r"per notebook: [0-9.]+ ms", "", text)
    return texts


@pytest.mark.slow
def test_kills_at_random_moments_lose_nothing(hand_ins: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(b"0123456789abcdef")
    assert start(hand_ins, tmp_path / "whole", key).wait(300) == 1
    rng, out, kills = random.Random(7), tmp_path / "killed", 0
    orphans: list[psutil.Process] = []
    seen: dict[str, str] = {}
    while kills < KILLS:
        process = start(hand_ins, out, key)
        try:
            process.wait(rng.uniform(0.2, 3.0))
        except subprocess.TimeoutExpired:
            orphans += kill_all(process, rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
            kills += 1
        for result in journal.read(out / "results.jsonl"):
            line = json.dumps(result["verdicts"])
            assert seen.setdefault(result["key"], line) == line, "a result was lost or changed"
        if len(seen) == STUDENTS and kills < KILLS:
            (out / "results.jsonl").unlink()
            seen.clear()
    assert start(hand_ins, out, key).wait(300) == 1
    again, whole = finished(out), finished(tmp_path / "whole")
    assert again.pop("results.jsonl").splitlines() == whole.pop("results.jsonl").splitlines()
    assert again == whole
    keys = [result["key"] for result in journal.read(out / "results.jsonl")]
    assert len(keys) == len(set(keys)) == STUDENTS
    deadline = time.monotonic() + 10
    while any(orphan.is_running() and orphan.status() != psutil.STATUS_ZOMBIE for orphan in orphans):
        assert time.monotonic() < deadline, "something outlived the grader"
        time.sleep(0.1)


@pytest.mark.slow
def test_a_lost_process_of_the_pool_costs_nobody_anything(hand_ins: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_bytes(b"0123456789abcdef")
    out = tmp_path / "out"
    process = start(hand_ins, out, key)
    deadline = time.monotonic() + 60
    while not (out / "results.jsonl").exists() or (out / "results.jsonl").stat().st_size < 20_000:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    workers = [p for p in psutil.Process(process.pid).children() if "spawn_main" in " ".join(p.cmdline())]
    assert workers
    workers[0].kill()
    assert process.wait(300) == 1
    results = list(journal.read(out / "results.jsonl"))
    assert len(results) == STUDENTS and all(result["graded"] for result in results if int(result["student"][1:]) % 17)
