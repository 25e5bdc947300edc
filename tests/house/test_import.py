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
later = ("minigrad.viz", "minigrad.course", "minigrad.record", "minigrad.linalg", "minigrad.nn", "minigrad.optim")
rooms = {name for name in sys.modules if name.startswith(later)}
print(sorted(roots - set(sys.stdlib_module_names) - {"minigrad", "numpy"}), sorted(rooms))
"""


def test_import_loads_numpy_and_the_standard_library_only() -> None:
    shown = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True).stdout
    assert shown == "[] []\n"


LATER = """
import sys
import minigrad
late = ("nn", "optim", "utils", "record")
print(sorted(name for name in late if f"minigrad.{name}" in sys.modules), "threading" in sys.modules)
print(minigrad.nn.Linear(2, 1).weight.shape, minigrad.optim.SGD, minigrad.utils.data.DataLoader, minigrad.linalg.norm)
"""


def test_networks_optimizers_data_and_the_record_are_loaded_on_first_use() -> None:
    shown = subprocess.run([sys.executable, "-c", LATER], capture_output=True, text=True, check=True).stdout
    assert shown.startswith("[] False\ntorch.Size([1, 2]) <class")


@pytest.mark.slow
@pytest.mark.alone
def test_import_costs_at_most_its_budget() -> None:
    """Eight tries: what else the machine does can only make it slower."""
    assert any(import_cost.ratio() <= import_cost.BUDGET for _ in range(8))


RECORD = """
import sys
import minigrad
{first}
from minigrad.record import Recording
from minigrad import record
import minigrad.record.bugs
x = minigrad.tensor(3.0, requires_grad=True)
broken = sys.modules["minigrad.record"].broken
print(minigrad.record is record, isinstance(minigrad.record(x * x), Recording), minigrad.broken is broken)
"""


@pytest.mark.slow
@pytest.mark.parametrize("first", ["assert 'minigrad.record' not in sys.modules; minigrad.record", "import minigrad.record"])
def test_record_is_the_function_whichever_of_it_and_its_package_came_first(first: str) -> None:
    code = RECORD.format(first=first)
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown == "True True True\n"
