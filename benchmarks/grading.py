"""How fast a class is graded, against nbclient on the same notebooks in the same run, and whether memory stays flat.

    python benchmarks/grading.py [--notebooks 60] [--flat 2000] [--course 0] [--lessons 14] [--jobs 2] [--whole]

Both sides get the same short notebooks; with `--whole` the hand-ins of lesson 05, as students save them, text and outputs
included. nbclient runs the cells of one after the other (a grader built on it does
more, and none was found that uses a second core); we run the cells in the sandbox and judge, in one process and in
`--jobs` processes, as `minigrad grade` does. The three alternate in small rounds, so that a busy machine is busy for
all. Budget: the command grades at least 50 times as many a second. Then `--flat` hand-ins are graded, and the
largest resident memory after the first 200 of them may be 20 MB less than that after all. `--course 1000 --lessons 3` grades
the first lessons of so many students besides: the solutions with some of the answers left blank, in one command.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")

from minigrad.course import lessons, notebooks
from minigrad.course.grading import reader, runs, sandbox
from minigrad.course.grading.grader import Grader
from minigrad.course.grading.runs import Count

BUDGET, GROWTH = 50.0, 20.0  # times nbclient's rate; MB
WHOLE = False
ANSWERS = ("2 * x * v", "2 * x", "x * v", "v * x**2", "np.diag(2 * x) @ v")


def notebook(number: int) -> bytes:
    """A short notebook: five cells, one answer, right or wrong; or a whole one."""
    if WHOLE:
        solved = notebooks.read(notebooks.path("solutions", "05_vectors"))
        solved["cells"][-2]["source"] += f"\n\n{number}"
        for cell in solved["cells"]:
            cell["source"] = cell["source"].replace("return v * 2 * x", f"return {ANSWERS[number % len(ANSWERS)]}")
        return json.dumps(solved).encode()
    sources = [
        "import numpy as np\nfrom minigrad.course import check",
        "x = np.arange(3.0)\nprint(x)",
        f"def vjp_square(v, x):\n    return {ANSWERS[number % len(ANSWERS)]}",
        "vjp_square(np.ones(3), x)",
        f"# hand-in {number}\ny = sum(range(1000))",
    ]
    cells = [
        {"id": f"c{i}", "cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        for i, source in enumerate(sources)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": cells}).encode()


def jobs_of(numbers: range) -> list[dict[str, Any]]:
    """What the command would hand to its pool."""
    settings = {"isolation": "auto", "trust": False, "seconds": None, "megabytes": None, "lesson": 5, "allowance": 60.0}
    return [{"key": str(n), "submission": reader.read(notebook(n)), "seed": b"%d" % n, **settings} for n in numbers]


def speed(count: int, jobs: int, rounds: int = 6) -> float:
    """The command's rate over nbclient's, in alternation; prints the one-process ratio too."""
    import nbformat
    from nbclient import NotebookClient

    level = sandbox.choose()
    lesson = lessons.lesson(5)
    theirs: list[float] = []
    ours: list[float] = []
    together: list[float] = []
    each = count // rounds
    with contextlib.closing(Grader(level)) as grader, runs.Pool(None, jobs) as pool:
        grader.grade(notebook(0), lesson, b"warm")
        list(pool.run(iter(jobs_of(range(8 * jobs)))))
        for turn in range(rounds):
            nb = nbformat.reads(notebook(turn).decode(), as_version=4)
            started = time.perf_counter()
            NotebookClient(nb, timeout=60, kernel_name="python3").execute()
            theirs.append(time.perf_counter() - started)
            started = time.perf_counter()
            results = [grader.grade(notebook(n), lesson, b"%d" % n) for n in range(each)]
            ours.append((time.perf_counter() - started) / each)
            started = time.perf_counter()
            results += [result for _, result in pool.run(iter(jobs_of(range(jobs * each))))]
            together.append((time.perf_counter() - started) / (jobs * each))
            assert all(result["graded"] for result in results)
    slow, one, many = (statistics.median(times) for times in (theirs, ours, together))
    print(f"isolation {level}, verdicts included: {1000 * one:.1f} ms a notebook in one process,"
          f" {1 / many:.0f} a second in {jobs}")  # fmt: skip
    print(f"nbclient: {1000 * slow:.0f} ms, running the cells only")
    print(f"ratio {slow / one:.0f} in one process, {slow / many:.0f} in {jobs} (budget: at least {BUDGET:.0f})")
    return slow / many


def flatness(count: int, jobs: int) -> float:
    """By how much the grading process's largest memory grew after the first 200 hand-ins, in MB."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "in")
        for number in range(count):
            path = folder / f"student{number:05d}" / "05_vectors.ipynb"
            path.parent.mkdir(parents=True)
            path.write_bytes(notebook(number))
        return graded(folder, Path(name, "out"), f"{count} hand-ins", jobs)


def graded(folder: Path, out: Path, title: str, jobs: int) -> float:
    """Grade a folder, print rate and memory, and return by how many MB the memory grew after the first 200 notebooks."""
    peaks: dict[str, int] = {}

    def note(progress: Count) -> None:
        if progress.done >= min(200, progress.total // 2) and not peaks:
            peaks["early"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    done = runs.grade(folder, out=out, jobs=jobs, progress=note)
    peaks["all"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    growth = (peaks["all"] - peaks["early"]) / 1024
    print(f"{title}, {jobs} jobs: {done.total} notebooks in {done.seconds:.0f} s, {done.total / done.seconds:.0f} a second")
    print(f"memory: {peaks['early'] / 1024:.0f} MB after 200, {peaks['all'] / 1024:.0f} MB after all (+{growth:.1f});"
          f" largest child {children / 1024:.0f} MB")  # fmt: skip
    return growth


def course(students: int, count: int, jobs: int) -> float:
    """Lessons 01 up to so many (the whole course by default) of a class: each student leaves other answers blank."""
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "in")
        for lesson in notebooks.lessons()[1 : count + 1]:
            solved, blank = (json.loads(notebooks.path(kind, lesson).read_bytes()) for kind in ("solutions", "exercises"))
            given = {cell["id"]: cell for cell in blank["cells"]}
            for number in range(students):
                cells = [given.get(c["id"], c) if rng.random() < 0.2 else c for c in solved["cells"]]
                path = folder / f"student{number:05d}" / f"{lesson}.ipynb"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(solved | {"cells": cells}), encoding="utf-8")
        return graded(folder, Path(name, "out"), f"{count} lessons of {students} students", jobs)


def main() -> int:
    """Print the table; 1 if a budget is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notebooks", type=int, default=120)
    parser.add_argument("--flat", type=int, default=2000)
    parser.add_argument("--course", type=int, default=0)
    parser.add_argument("--lessons", type=int, default=14)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--whole", action="store_true")
    options = parser.parse_args()
    global WHOLE
    WHOLE = options.whole
    ratio = speed(options.notebooks, options.jobs)
    growth = flatness(options.flat, options.jobs)
    if options.course:
        growth = max(growth, course(options.course, options.lessons, options.jobs))
    return 0 if ratio >= BUDGET and growth <= GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
