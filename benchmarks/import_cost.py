"""What `import minigrad` costs, as a multiple of `import numpy` (budget: 1.3).

Fresh interpreters take turns: one imports nothing, one numpy, one minigrad. The ratio is that of the medians,
each less the cost of starting Python. Run: python benchmarks/import_cost.py
"""

import os
import statistics
import subprocess
import sys
import time

BUDGET = 1.3


def seconds(statement: str) -> float:
    """The time of one fresh interpreter that runs a statement."""
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-I", "-c", statement], check=True, env=env)
    return time.perf_counter() - start


def ratio(rounds: int = 21) -> float:
    """`import minigrad` over `import numpy`."""
    statements = ("pass", "import numpy", "import minigrad")
    times = [[seconds(statement) for statement in statements] for _ in range(rounds)]
    empty, numpy, ours = (statistics.median(column) for column in zip(*times, strict=True))
    return (ours - empty) / (numpy - empty)


if __name__ == "__main__":
    measured = ratio()
    print(f"import minigrad: {measured:.2f} x import numpy (budget {BUDGET})")
    sys.exit(measured > BUDGET)
