"""How long one backward pass takes, for graphs of several sizes: the measurements to which lesson 08 fits a line.

    python benchmarks/passes.py            # measures anew and prints the file
    python benchmarks/passes.py --write    # and stores it, with the date and the machine, for the lesson

The graph multiplies and adds numbers, one node each. Each time is processor time, the middle one of five.
"""

import platform
import statistics
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


def middle(nodes: int) -> float:
    """The middle one of five times."""
    return statistics.median(milliseconds(nodes) for _ in range(5))


def measured() -> str:
    """The file: what was measured where, and a row for each size."""
    milliseconds(1000)  # the first pass loads what later ones find loaded
    machine = f"{platform.system()} on {platform.machine()}, Python {platform.python_version()}"
    head = [f"# one backward pass of minigrad, measured on {datetime.now(UTC):%Y-%m-%d} by benchmarks/passes.py", f"# {machine}"]
    return "\n".join([*head, "# nodes,milliseconds", *(f"{n},{middle(n):.1f}" for n in SIZES)]) + "\n"


if __name__ == "__main__":
    text = measured()
    if "--write" in sys.argv:
        FILE.write_text(text, encoding="utf-8")
    print(text, end="")
