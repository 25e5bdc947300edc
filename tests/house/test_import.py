"""What `import minigrad` loads and costs."""

import subprocess
import sys

import pytest

from benchmarks import import_cost

LOADED = """
import sys
before = set(sys.modules)
import minigrad
roots = {name.split(".")[0] for name in set(sys.modules) - before}
rooms = {name for name in sys.modules if name.startswith(("minigrad.viz", "minigrad.course"))}
print(sorted(roots - set(sys.stdlib_module_names) - {"minigrad", "numpy"}), sorted(rooms))
"""


def test_import_loads_numpy_and_the_standard_library_only() -> None:
    shown = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True).stdout
    assert shown == "[] []\n"


@pytest.mark.slow
@pytest.mark.alone
def test_import_costs_at_most_its_budget() -> None:
    """Three tries: what else the machine does can only make it slower."""
    assert any(import_cost.ratio() <= import_cost.BUDGET for _ in range(3))
