"""How long one backward pass takes, for graphs of several sizes: the measurements to which lesson 08 fits a line.

    python benchmarks/passes.py            # measures anew and prints the file
    python benchmarks/passes.py --write    # and stores it, with the date and the machine, for the lesson

The graph multiplies and adds numbers, one node each. Each time is processor time, the shortest of fifteen passes,
in turns with the other sizes: a busy machine can only add to it.
"""

import platform
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import minigrad as torch

SIZES = (1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 50_000)
FILE = Path(__file__).resolve().parents[1] / "minigrad" / "course" / "data" / "passes.csv"


def milliseconds(nodes: int) -> float:
    """The time of one backward pass through this many nodes."""
    x = torch.tensor(0.5, requires_grad=True)
    y = x
    for _ in range(nodes // 2):
        y = y * 0.999 + 0.001
    start = time.process_time()
    y.backward()
    return 1000 * (time.process_time() - start)


def measured() -> str:
    """The file: what was measured where, and a row for each size."""
    rounds = [[milliseconds(nodes) for nodes in SIZES] for _ in range(15)]
    rows = [f"{nodes},{min(times):.1f}" for nodes, times in zip(SIZES, zip(*rounds, strict=True), strict=True)]
    machine = f"{platform.system()} on {platform.machine()}, Python {platform.python_version()}"
    when = f"{datetime.now(UTC):%Y-%m-%d}"
    head = [f"# one backward pass of minigrad, measured on {when} by benchmarks/passes.py", f"# {machine}"]
    return "\n".join([*head, "# nodes,milliseconds", *rows]) + "\n"


if __name__ == "__main__":
    text = measured()
    if "--write" in sys.argv:
        FILE.write_text(text, encoding="utf-8")
    print(text, end="")
