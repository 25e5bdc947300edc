"""What `import minigrad` costs, as a multiple of `import numpy` (budget: 1.3).

Fresh interpreters take turns: one imports nothing, one numpy, one minigrad. The ratio is that of the smallest
processor times, each less the cost of starting Python: what else the machine does can only add to them.
Run: python benchmarks/import_cost.py
"""

import os
import resource
import subprocess
import sys

BUDGET = 1.3


def seconds(statement: str) -> float:
    """The processor time of one fresh interpreter that runs a statement."""
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-I", "-c", statement], check=True, env=env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def ratio(rounds: int = 21) -> float:
    """`import minigrad` over `import numpy`."""
    statements = ("pass", "import numpy", "import minigrad")
    times = [[seconds(statement) for statement in statements] for _ in range(rounds)]
    empty, numpy, ours = (min(column) for column in zip(*times, strict=True))
    return (ours - empty) / (numpy - empty)


if __name__ == "__main__":
    measured = ratio()
    print(f"import minigrad: {measured:.2f} x import numpy (budget {BUDGET})")
    sys.exit(measured > BUDGET)
