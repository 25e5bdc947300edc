"""Is the engine fast enough?  One table of ratios, memory and scale; the exit code says whether every budget holds.

    python benchmarks/engine.py [--quick] [--only WORD]        (needs the extra `bench`; libraries not installed are left out)

All candidates live in one process and take turns in random order, with one thread each and Python's garbage collector
as it ships. Before a step is timed the others' garbage is collected. Time is processor time, so that other programs
disturb little; a number is the 20th percentile of all rounds. Before anything is timed, the gradients of all candidates are
compared. A ratio is minigrad's time divided by the other's: below 1 minigrad is faster.

Tolerance: on a machine that does other work ratios repeat to about 5 %. A row above its budget is measured again, three
times as long; a budget counts as broken when that too is more than 5 % above it, and as "close" in between.
"""

from __future__ import annotations

import os

for _library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR"):
    os.environ[f"{_library}_NUM_THREADS"] = "1"  # before numpy and PyTorch are loaded

import argparse
import gc
import importlib
import platform
import random
import statistics
import sys
from collections.abc import Callable, Iterable
from datetime import date
from importlib.metadata import version
from time import process_time
from types import ModuleType
from typing import Any

import numpy as np
from long_graphs import Measured, long_graphs, memory
from workloads import Row, Step, rows

TOLERANCE = 1.05
COLUMNS = {"torch": "PyTorch", "numpy": "numpy by hand", "micrograd": "micrograd", "autograd": "HIPS"}
DISTRIBUTIONS = {"minigrad": "minigrad-course"}


def load(name: str) -> ModuleType | None:
    """A library with the parts we use, or None where it is not installed."""
    parts = {"micrograd": ["micrograd.engine"], "autograd": ["autograd.numpy"]}
    try:
        for part in parts.get(name, []):
            importlib.import_module(part)
        library = importlib.import_module(name)
    except ImportError:
        return None
    if name == "torch":
        library.set_num_threads(1)
    return library


# ------------------------------------------------------------------------------------------- measuring


def arrays(gradients: Iterable[Any]) -> list[Any]:
    """Gradients of any library as numpy arrays."""
    return [np.asarray(g.detach() if hasattr(g, "detach") else g, np.float64) for g in gradients]


def agree(steps: dict[str, Step]) -> None:
    """Raise unless every candidate's first gradients are minigrad's, to single precision."""
    expected = arrays(steps["minigrad"]())
    for name, step in steps.items():
        if name == "minigrad":
            continue
        for mine, theirs in zip(expected, arrays(step()), strict=True):
            np.testing.assert_allclose(theirs, mine, rtol=2e-4, atol=2e-5 * np.abs(mine).max(), err_msg=name)


def measure(steps: dict[str, Step], rounds: int) -> dict[str, float]:
    """Seconds a step, for each candidate: the 20th percentile over the rounds."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    order = list(steps)
    for _ in range(rounds):
        random.shuffle(order)
        for name in order:
            step = steps[name]
            gc.collect(1)
            step()  # its own data back into the caches, as in a training loop
            start = process_time()
            step()
            times[name].append(process_time() - start)
    return {name: statistics.quantiles(values, n=5, method="inclusive")[0] for name, values in times.items()}


def rounds_for(steps: dict[str, Step], seconds: float) -> int:
    """How many rounds take about so long; a slow candidate is dropped to few rounds by the caller's budget of time."""
    start = process_time()
    for step in steps.values():
        step()
    return max(5, round(seconds / (2 * (process_time() - start))))


def run_row(row: Row, libraries: dict[str, Any], seconds: float) -> tuple[dict[str, float], float]:
    """The ratios minigrad / other of one row, and minigrad's own time."""
    steps = {name: make(libraries[name]) for name, make in row.candidates.items() if name in libraries}
    agree(steps)
    times = measure(steps, rounds_for(steps, seconds))
    ratios = {name: times["minigrad"] / t for name, t in times.items() if name != "minigrad"}
    doubtful = {name: step for name, step in steps.items() if name == "minigrad" or ratios[name] > row.budgets[name]}
    if len(doubtful) > 1:
        again = measure(doubtful, 3 * rounds_for(doubtful, seconds))
        ratios |= {name: again["minigrad"] / t for name, t in again.items() if name != "minigrad"}
    return ratios, times["minigrad"]


# ------------------------------------------------------------------------------------------- reporting


def verdict(value: float, budget: float) -> str:
    if value <= budget:
        return "holds"
    return "close" if value <= budget * TOLERANCE else "BROKEN"


def machine(libraries: dict[str, Any]) -> str:
    """Date, versions and processor, in a line."""
    names = ["numpy", *(n for n in libraries if n != "numpy")]
    versions = ", ".join(f"{n} {version(DISTRIBUTIONS.get(n, n))}" for n in names)
    return f"{date.today()}: Python {platform.python_version()}, {versions}; {platform.machine()}, {os.cpu_count()} cores"


def table(lines: list[list[str]]) -> str:
    """A Markdown table with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

    def joined(cells: list[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"

    return "\n".join([joined(lines[0]), joined(["-" * w for w in widths]), *map(joined, lines[1:])])


def timed(libraries: dict[str, Any], seconds: float, wanted: Callable[[str], bool]) -> list[str]:
    """Print the table of times; return the verdicts."""
    others = [name for name in COLUMNS if name in libraries]
    lines = [["minigrad's time divided by that of", *(COLUMNS[n] for n in others), "minigrad"]]
    verdicts = []
    for row in rows():
        if not wanted(row.title):
            continue
        ratios, own = run_row(row, libraries, seconds)
        cells = []
        for name in others:
            if name not in ratios:
                cells.append("")
                continue
            found = verdict(ratios[name], row.budgets[name])
            verdicts.append(found)
            cells.append(f"{ratios[name]:.2f} of {row.budgets[name]:.2f}" + ("" if found == "holds" else f" {found}"))
        lines.append([row.title, *cells, f"{own * 1e6:,.0f} us"])
        print(row.title, *cells, sep="  ", file=sys.stderr)
    if len(lines) > 1:
        print(table(lines), end="\n\n")
    return verdicts


def sized(measured: Iterable[Measured]) -> list[str]:
    """Print memory and scale; return the verdicts."""
    lines, verdicts = [["memory and scale", "measured", "budget"]], []
    for each in measured:
        found = "" if each.budget is None else verdict(each.value, each.budget)
        verdicts.append(found)
        budget = "" if each.budget is None else f"{each.budget:g}" + ("" if found == "holds" else f" {found}")
        lines.append([each.title, f"{each.value:,.2f}" if each.value < 100 else f"{each.value:,.0f}", budget])
    print(table(lines))
    return verdicts


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure minigrad's engine against its budgets.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, graphs of up to 100,000 operations")
    parser.add_argument("--only", default="", help="only rows whose title contains this; 'scale' and 'memory' are two")
    options = parser.parse_args()

    np.ones(3_900_000).sum()  # having freed 31 MB once, the C library keeps freed memory instead of giving it back at once

    found = {name: load(name) for name in ("minigrad", "torch", "micrograd", "autograd", "numpy")}
    libraries = {name: library for name, library in found.items() if library is not None}
    print(machine(libraries), end="\n\n", flush=True)

    verdicts = timed(libraries, 3 if options.quick else 20, lambda title: options.only in title)
    extra = []
    if options.only in "memory":
        extra += memory()
    if options.only in "scale":
        extra += long_graphs(100_000 if options.quick else 1_000_000)
    if extra:
        verdicts += sized(extra)
    broken = verdicts.count("BROKEN")
    print(f"\n{broken} budgets broken" if broken else "\nevery budget holds" + " (some closely)" * ("close" in verdicts))
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
