"""What the prose says that code does, and no cell of its notebook shows: each sentence has a program, which PyTorch runs.

The cells themselves run under PyTorch in `tests/shell/test_engines.py`, and the programs for PyTorch alone in
`tests/shell/test_pytorch_programs.py`. A sentence that is changed has to be found here again.
"""

import ast
import re
import warnings
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.course import notebooks
from tests.shell.test_engines import to_torch

LEAF = "x = torch.tensor(3.0, requires_grad=True)\n"
SHAPES = "p, t = torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([2.0, 4.0, 5.0])\n"
QUIET = "import warnings\nwarnings.simplefilter('ignore')\n"
UNUSED = (
    "w, c = (torch.tensor(v, requires_grad=True) for v in (2.0, 0.5))\noptimizer = torch.optim.SGD([w, c], lr=0.1)\n"
    "(3 * w).backward()\noptimizer.step()\n"
)
FIT = (
    "def fit(rate, steps):\n    x, y = torch.tensor([[1.0], [2.0], [3.0]]), torch.tensor([2.0, 4.0, 5.0])\n"
    "    w, b = torch.tensor([-1.0], requires_grad=True), torch.tensor([6.0], requires_grad=True)\n    for _ in range(steps):\n"
    "        gradients = torch.autograd.grad(((w * x + b - y) ** 2).mean(), (w, b))\n        with torch.no_grad():\n"
    "            w -= rate * gradients[0]\n            b -= rate * gradients[1]\n    return w.item(), b.item()\n"
)
KINK = "x = torch.tensor(0.0, requires_grad=True)\n{}.backward()\nx.grad.item()"
ORDER = (
    "order = []\na, b = (torch.tensor(v, requires_grad=True) for v in (2.0, 3.0))\n"
    "c = a + b\nd = a * b\ne = c + d\nf = c * d\ny = e + f\n"
    "for name, t in zip('cdefy', (c, d, e, f, y)):\n"
    "    t.grad_fn.register_hook(lambda grads, arrived, name=name: order.append(name))\ny.backward()\n''.join(order)"
)
# the notebook, the cell, words of the sentence, a program, what it gives, whether minigrad gives the same
CLAIMS: list[tuple[str, str, str, str, str, Any]] = [
    ("notebooks", "04_pytorch_semantics", "04-0832bf", "warns when you read the gradient of a tensor that is not a leaf",
     LEAF + "y = x * 2\ny.backward()\ny.grad", UserWarning),
    ("notebooks", "04_pytorch_semantics", "04-115", "you may overwrite the input of `exp`, but not its output",
     "x = torch.tensor([0.5, 1.5], requires_grad=True) * 2\nz = x.exp()\ntotal = z.sum()\nx.add_(1)\ntotal.backward()", None),
    ("notebooks", "04_pytorch_semantics", "04-115", "but not its output",
     "z = torch.tensor([0.5, 1.5], requires_grad=True).exp()\ntotal = z.sum()\nz.add_(1)\ntotal.backward()", RuntimeError),
    ("notebooks", "07_matmul", "07-04c251", "it warns you if there are more than two", "torch.rand(2, 4, 3).T", UserWarning),
    ("notebooks", "08_mse", "08-7cafb9", "would stay `None`",
     LEAF + "(x * x).backward()\nnew = x - 0.1 * x.grad\n(new * new).backward()\n(new.is_leaf, new.retains_grad)",
     (False, False)),
    ("notebooks", "08_mse", "08-7cafb9", "the graph would contain all earlier updates",
     LEAF + "new = x\nfor _ in range(3):\n    new = new - 0.1 * torch.autograd.grad(new * new, new, retain_graph=True)[0]\n"
     "deep, node = 0, new.grad_fn\nwhile node:\n    deep, node = deep + 1, next((n for n, _ in node.next_functions if n), None)"
     "\ndeep", 4),
    ("notebooks", "08_mse", "08-db3cef", "warns you of trap 1", SHAPES + "torch.nn.MSELoss()(p, t)", UserWarning),
    ("notebooks", "08_mse", "08-db3cef", "Then it computes the same wrong loss",
     QUIET + SHAPES + "(torch.nn.MSELoss()(p, t) == ((p - t) ** 2).mean()).item()", True),
    ("notebooks", "08_mse", "08-50c1eb", "A smaller rate or more steps lead to the same line",
     FIT + "[[abs(round(v, 3)) for v in fit(rate, steps)] for rate, steps in ((0.1, 500), (0.05, 1000), (0.1, 2000))]",
     [[0.0, 3.667]] * 3),
    ("notebooks", "08_mse", "08-5c7240", "skip such a parameter and show no message", UNUSED + "round(c.item(), 4)", 0.5),
    ("notebooks", "10_activations", "10-100", "0 for `relu`", KINK.format("torch.relu(x)"), 0.0),
    ("notebooks", "10_activations", "10-100", "a half to each", KINK.format("torch.maximum(x, torch.tensor(0.0))"), 0.5),
    ("notebooks", "10_activations", "10-100", "clamp of x at 0: derivative 1", KINK.format("torch.clamp(x, min=0)"), 1.0),
    ("notebooks", "10_activations", "10-100", "abs: flat, derivative 0", KINK.format("torch.abs(x)"), 0.0),
    ("notebooks", "12_digits", "12-5e1c04", r"evenly between $-1/\sqrt n$ and $1/\sqrt n$",
     "w = torch.nn.Linear(400, 400).weight.detach()\n"
     "[round(v.item(), 2) for v in (w.min() * 20, w.max() * 20, w.std() * 20 * 3 ** 0.5)]", [-1.0, 1.0, 1.0]),
    ("notebooks", "12_digits", "12-5e1c06", r"has $\sqrt{2/n}$",
     "w = torch.zeros(400, 400)\n[round(start(w).std().item() * 20, 1) for start in (torch.nn.init.xavier_normal_, "
     "torch.nn.init.kaiming_normal_)]", [1.0, 1.4]),
    ("notebooks", "13_clinic", "13-28a6af", "all hidden units would be equal, and they would stay equal",
     "torch.manual_seed(0)\nx, labels = torch.randn(5, 2), torch.tensor([0, 1, 0, 2, 1])\n"
     "w1, w2 = (torch.ones(size, requires_grad=True) for size in ((2, 4), (4, 3)))\nfor _ in range(20):\n"
     "    loss = torch.nn.functional.cross_entropy(torch.tanh(x @ w1) @ w2, labels)\n"
     "    gradients = torch.autograd.grad(loss, (w1, w2))\n"
     "    with torch.no_grad():\n        w1 -= 0.5 * gradients[0]\n        w2 -= 0.5 * gradients[1]\n"
     "[bool((w1 == w1[:, :1]).all()), bool((w2 == w2[:1]).all()), bool((w1 == 1).any())]", [True, True, False]),
    ("notebooks", "14_capstone", "14-799cfb", "takes the newest node first", ORDER, "yfedc"),
    ("solutions", "04_pytorch_semantics", "04-7445f5", "In PyTorch it is `None` afterwards",
     LEAF + "(x * x).backward()\ntorch.optim.SGD([x], lr=0.1).zero_grad()\nx.grad", None),
    ("solutions", "04_pytorch_semantics", "04-1fdebe", "PyTorch forbids changing a leaf in place",
     LEAF + "x.add_(1)", RuntimeError),
    ("solutions", "12_digits", "12-d33aaf", "with shape (n_out, n_in)", "tuple(torch.nn.Linear(3, 2).weight.shape)", (2, 3)),
    ("solutions", "12_digits", "12-bad352", "its `step` skips such a parameter",
     UNUSED + "optimizer.zero_grad()\noptimizer.step()\n(w.grad, round(w.item(), 4))", (None, 1.7)),
]  # fmt: skip
WHAT = ("kind", "lesson", "cell", "words", "program", "gives")
claims = pytest.mark.parametrize(WHAT, CLAIMS, ids=[each[3] for each in CLAIMS])


def result(program: str, engine: Any) -> Any:
    """What the last line of a program gives, or the kind of its error or warning."""
    *lines, last = ast.parse(program).body
    space: dict[str, Any] = {"torch": engine}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            exec(compile(ast.Module(lines, []), "program", "exec"), space)
            value = eval(ast.unparse(last), space)
        except RuntimeError as error:
            return type(error)
    return told[-1].category if told else value


@pytest.mark.slow
@claims
def test_minigrad_does_what_the_prose_says_of_pytorch(
    kind: str, lesson: str, cell: str, words: str, program: str, gives: Any
) -> None:
    source = next(each["source"] for each in notebooks.read(notebooks.path(kind, lesson))["cells"] if each["id"] == cell)
    assert words in source
    assert result(program, minigrad) == gives


@pytest.mark.slow
@pytest.mark.needs("torch")
@claims
def test_pytorch_does_what_the_prose_says(kind: str, lesson: str, cell: str, words: str, program: str, gives: Any) -> None:
    import torch

    assert torch.__version__.startswith("2.13")
    assert result(program, torch) == gives


@pytest.mark.slow
def test_two_units_of_lesson_12_hardly_moved() -> None:
    """Under its picture of the first twelve units: units 0 and 3 are pale."""
    space: dict[str, Any] = {}
    for cell in notebooks.read(notebooks.path("notebooks", "12_digits"))["cells"]:
        if cell["cell_type"] == "code" and notebooks.MINIGRAD_ONLY not in cell["metadata"].get("tags", ()):
            exec(cell["source"], space)
        if "losses" in space:
            break
    after, before = (net[0].weight.detach().numpy()[:12] for net in (space["net"], space["new_net"]()))
    moved = np.linalg.norm(after - before, axis=1)
    assert [*np.flatnonzero(moved < 0.2)] == [0, 3] and np.sort(moved)[2] > 2


@pytest.mark.slow
@pytest.mark.needs("torch")
def test_sum_to_size_is_the_rule_of_lesson_06() -> None:
    import torch

    g = torch.arange(12.0).reshape(4, 3)
    assert g.sum_to_size(3).tolist() == [18.0, 22.0, 26.0]
    assert g.sum_to_size(4, 1).tolist() == [[3.0], [12.0], [21.0], [30.0]]


@pytest.mark.slow
@pytest.mark.needs("torch")
def test_the_twenty_losses_of_lesson_14_are_pytorchs() -> None:
    import torch

    sources = [cell["source"] for cell in notebooks.read(notebooks.path("solutions", "14_capstone"))["cells"]]
    given = [source for source in sources if re.match("from importlib|def new_parameters|pytorch = ", source)]
    space: dict[str, Any] = {"np": np, "Tensor": lambda array: torch.tensor(array, requires_grad=True)}
    exec("\n".join(given), space)
    parameters = W1, b1, W2, b2 = space["new_parameters"]()
    losses = []
    for i in range(0, 640, 32):
        x, y = (torch.tensor(space[name][i : i + 32]) for name in "xy")
        loss = torch.nn.functional.cross_entropy((x @ W1 + b1).relu() @ W2 + b2, y)
        losses.append(loss.item())
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for p, gradient in zip(parameters, gradients, strict=True):
                p -= 0.5 * gradient
    assert np.abs(np.array(losses) - space["pytorch"]).max() < 1e-9


@pytest.mark.slow
@pytest.mark.needs("torch")
def test_the_functions_of_lesson_09_run_in_pytorch() -> None:
    """The last cell of its exercises says so: only the imports change."""
    import torch

    solution = to_torch(notebooks.read(notebooks.path("solutions", "09_custom_function")))
    space: dict[str, Any] = {}
    for source in notebooks.code_cells(solution):
        exec(source, space)
    assert space["torch"] is torch
    x = torch.tensor([3.0, -4.0], requires_grad=True)
    zero = torch.tensor([4.0, 0.0], requires_grad=True)
    for of, right in [
        (lambda: space["square"](x), [6.0, -8.0]),
        (lambda: space["Scale"].apply(x, 2.5), [2.5, 2.5]),
        (lambda: space["Hypot"].apply(x, zero), [0.6, -1.0]),
        (lambda: space["Cube"].apply(x), [27.0, 48.0]),
        (lambda: space["RoundThrough"].apply(x), [1.0, 1.0]),
        (lambda: space["Reverse"].apply(x, 2.0), [-2.0, -2.0]),
    ]:
        (gradient,) = torch.autograd.grad(of().sum(), x)
        assert np.allclose(gradient.numpy(), right)
    changed = x * 1
    cubed = space["Cube"].apply(changed)
    changed += 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        cubed.sum().backward()
