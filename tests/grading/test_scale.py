"""On a real Dask cluster of two processes: one is killed in the middle, and one cannot hold students' code."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest

from minigrad.course.commands import cli
from minigrad.course.grading import journal
from tests.grading.classroom import notebook


def without_a_boundary() -> None:
    """In a worker: what a machine is like whose kernel has neither namespaces nor Landlock."""
    from minigrad.course.grading import sandbox

    sandbox.problems = lambda level: () if level == "process" else ("the kernel has none",)  # type: ignore[assignment]


def a_worker_without_a_sandbox_refuses(address: str, folder: Path, out: Path) -> None:
    from distributed import Client

    with Client(address) as client:
        broken = sorted(client.scheduler_info()["workers"])[0]
        client.run(without_a_boundary, workers=[broken])
    # With other limits each worker chooses its level anew.
    command = ["grade", str(folder), "--out", str(out), "--timeout", "1.5"]
    assert cli.main([*command, "--scheduler", address]) == 1
    results = list(journal.read(out / "results.jsonl"))
    levels = {result["isolation"] for result in results if result["graded"]}
    refused = [result for result in results if not result["graded"]]
    assert levels and levels <= {"namespace", "landlock"}, "graded unsafely"
    assert refused and all("the kernel has none" in r["verdicts"][0]["lines"][0] for r in refused)
    assert cli.main([*command, "--jobs", "1"]) == 0 and all(result["graded"] for result in journal.read(out / "results.jsonl"))


@pytest.mark.slow
@pytest.mark.needs("distributed")
def test_a_killed_worker_of_a_cluster_costs_nobody_anything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from distributed import LocalCluster

    folder = tmp_path / "in"
    for number in range(60):
        path = folder / f"s{number:03d}" / "05_vectors.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(notebook(f"def vjp_square(v, x):\n    return {2 + number % 2} * x * v"))
    out = tmp_path / "out"
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        pids = [worker.pid for worker in cluster.workers.values()]

        def kill_one() -> None:
            while not (out / "results.jsonl").exists() or (out / "results.jsonl").stat().st_size < 5_000:
                time.sleep(0.02)
            os.kill(pids[0], signal.SIGKILL)

        killer = threading.Thread(target=kill_one, daemon=True)
        killer.start()
        code = cli.main(["grade", str(folder), "--out", str(out), "--scheduler", cluster.scheduler_address])
        killer.join(10)
        assert code == 0, capsys.readouterr()
        for number in range(16):
            shutil.copytree(folder / f"s{number:03d}", tmp_path / "few" / f"s{number:03d}")
        a_worker_without_a_sandbox_refuses(cluster.scheduler_address, tmp_path / "few", tmp_path / "refused")
    assert not killer.is_alive()
    results = {result["student"]: result for result in journal.read(out / "results.jsonl")}
    assert len(results) == 60 and all(result["graded"] for result in results.values())
    passed = [int(name[1:]) % 2 for name, result in results.items() if result["verdicts"][0]["status"] == "passed"]
    assert passed == [0] * 30
