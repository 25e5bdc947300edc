"""The same function on a real Dask cluster, one of whose workers is killed in the middle."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from minigrad.course import cli
from minigrad.course.grading import journal
from tests.grading.classroom import notebook


@pytest.mark.slow
@pytest.mark.needs("distributed")
def test_a_killed_worker_of_a_cluster_costs_nobody_anything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from distributed import LocalCluster

    folder = tmp_path / "in"
    for number in range(120):
        path = folder / f"s{number:03d}" / "05_vectors.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(notebook(f"def vjp_square(x, v):\n    return {2 + number % 2} * x * v"))
    out = tmp_path / "out"
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        pids = [worker.pid for worker in cluster.workers.values()]

        def kill_one() -> None:
            while not (out / "results.jsonl").exists() or (out / "results.jsonl").stat().st_size < 10_000:
                time.sleep(0.02)
            os.kill(pids[0], signal.SIGKILL)

        killer = threading.Thread(target=kill_one, daemon=True)
        killer.start()
        code = cli.main(["grade", str(folder), "--out", str(out), "--scheduler", cluster.scheduler_address])
        killer.join(10)
    assert code == 0, capsys.readouterr()
    assert not killer.is_alive()
    results = {result["student"]: result for result in journal.read(out / "results.jsonl")}
    assert len(results) == 120 and all(result["graded"] for result in results.values())
    passed = [int(name[1:]) % 2 for name, result in results.items() if result["verdicts"][0]["status"] == "passed"]
    assert passed == [0] * 60
