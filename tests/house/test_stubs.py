"""The stubs are those of the code, and with them editors complete names and report misspelled ones."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house import stubs

RIGHT = """
import minigrad as torch
import minigrad.nn.functional as F
from minigrad import Tensor, nn

x = torch.ones(2, 3, requires_grad=True)
y = (2 * x - x / 3).exp().view(3, 2).reshape(6).relu().sum(0, keepdim=True).mean()
y.backward()
print(x.grad, x.T @ x, x[0] + 1, -x, x.max(), x.float().to(torch.float64), torch.autograd.grad(y, x), torch.record(y))
print(F.relu(x), torch.utils.data.DataLoader, torch.linalg.norm(x), (x > 0).any(), x.add_(1).requires_grad_())


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Sequential(nn.Linear(3, 2), nn.ReLU())

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
with torch.no_grad():
    optimizer.step()
"""
WRONG = [
    "torch.relUU", "x.sume()", "torch.optim.SDG", "torch.nn.Linaer", "x.requires_gradd", "torch.autograd.gard",
    "x.exp().sin().coss()", "(x + 1).sume()", "torch.linalg.nrom", "torch.nn.functional.rellu",
    "torch.utils.data.Dataloader", "torch.distributions", "(x > 0).anny()",
]  # fmt: skip
TYPES = """
torch.tensor([1.0, 2.0], requires_grad=True): Tensor
x.max(dim=0): Picked
x.max(dim=0).values: Tensor
x.max(0).indices: Tensor
x.max(): Tensor
x.min(dim=1).values: Tensor
x.min(): Tensor
x.median(0).values: Tensor
x.sort(): Picked
x.sort().indices: Tensor
x.topk(2).values: Tensor
torch.max(x, 0): Picked
torch.max(x, 0).values: Tensor
torch.max(x, x): Tensor
torch.min(x): Tensor
torch.topk(x, 2).indices: Tensor
torch.sort(x).values: Tensor
nn.Linear(2, 3): Linear
nn.Linear(2, 3).weight: Parameter
nn.Linear(2, 3).bias: Parameter | None
nn.Linear(2, 3).in_features: int
nn.Linear(2, 3).parameters(): Iterator[Parameter]
nn.Sequential(nn.Linear(2, 3), nn.ReLU()): Sequential
opt: SGD
opt.param_groups: list[dict[str, Any]]
opt.zero_grad(): None
torch.optim.Adam([x]).state_dict(): dict[str, Any]
x.grad: Tensor | None
x.grad_fn: Node | None
x.shape: Size
x.dtype: DType
x.split(1): tuple[Tensor, ...]
2 * x @ x.T: Tensor
(x > 0).any(): Tensor
F.relu(x).sum(0): Tensor
"""
COMPLETED = {
    "torch.rel": "relu",
    "torch.nn.Lin": "Linear",
    "torch.optim.SG": "SGD",
    "torch.autograd.gr": "grad",
    "torch.no_g": "no_grad",
    "torch.utils.data.DataL": "DataLoader",
    "x.": "sum",
    "x.requires_gra": "requires_grad_",
    "(x * 2).exp().backw": "backward",
    "(x @ x)[0].sq": "sqrt_",
    "torch.nn.Linear(2, 3).wei": "weight",
}


@pytest.mark.parametrize("name", stubs.STUBS)
def test_the_stubs_are_those_of_the_code(name: str) -> None:
    written = (stubs.PACKAGE / name).read_text(encoding="utf-8")
    assert stubs.STUBS[name]() == written, "python -m tests.house.stubs writes them anew"


@pytest.mark.slow
@pytest.mark.needs("pyright")
def test_pyright_takes_what_is_right_and_reports_what_is_misspelled(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(RIGHT)
    wrong = ["import minigrad as torch", "x = torch.ones(2)", *WRONG]
    (tmp_path / "wrong.py").write_text("\n".join(wrong))
    command = ["pyright", "--outputjson", "--pythonpath", sys.executable, "right.py", "wrong.py"]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    reports = [r for r in json.loads(shown.stdout)["generalDiagnostics"] if r["severity"] == "error"]
    lines = [(Path(r["file"]).name, r["range"]["start"]["line"]) for r in reports]
    assert lines == [("wrong.py", 2 + i) for i in range(len(WRONG))], shown.stdout


@pytest.mark.slow
@pytest.mark.needs("pyright")
def test_pyright_knows_the_types_of_what_a_student_writes(tmp_path: Path) -> None:
    wanted = dict(line.rsplit(": ", 1) for line in TYPES.strip().splitlines())
    head = "import minigrad as torch\nimport minigrad.nn.functional as F\nfrom minigrad import nn\nx = torch.ones(2, 2)\n"
    lines = ["opt = torch.optim.SGD([x], lr=0.1)", *(f"reveal_type({expression})" for expression in wanted)]
    (tmp_path / "types.py").write_text(head + "\n".join(lines))
    command = ["pyright", "--outputjson", "--pythonpath", sys.executable, "types.py"]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    told = [r["message"].rpartition(" is ")[2].strip('"') for r in json.loads(shown.stdout)["generalDiagnostics"]]
    assert dict(zip(wanted, told, strict=True)) == wanted


@pytest.mark.slow
@pytest.mark.needs("jedi")
@pytest.mark.parametrize("typed", COMPLETED)
def test_jedi_completes(typed: str) -> None:
    jedi = pytest.importorskip("jedi")
    source = f"import minigrad as torch\nx = torch.ones(2, 2)\n{typed}"
    assert COMPLETED[typed] in [c.name for c in jedi.Script(source).complete()]
