"""`step(f, x=...)`: the forward pass first, values everywhere, inputs that can be changed."""

import numpy as np
import pytest

import minigrad as torch
from minigrad import nn
from minigrad.viz import step
from minigrad.viz.data import dress
from minigrad.viz.program import Program

from .cases import Value


def bowl(x, w):
    h = w * x
    y = torch.sin(h) + h + 3
    return y * y


def test_every_value_is_known_and_the_forward_pass_comes_first() -> None:
    data, text = dress(Program(bowl, {"x": 2.0, "w": -0.5}).run(), forward=True)
    assert [n["name"] for n in data["nodes"] if n["val"] is None] == [], "a loss alone could not say what h + 3 was"
    first, second = (move["line"] for move in data["forward"][:2])
    assert first == "h = w * x = -0.5 \u00b7 2 = -1" and second == "torch.sin(h) = sin(-1) = -0.8415"
    assert "h is used 2 times, so 2 contributions will come back" in data["forward"][0]["text"]
    assert text.startswith("Forward pass\n     h = w * x")
    alone, _ = dress(torch.record(bowl(torch.tensor(2.0), torch.tensor(-0.5, requires_grad=True)), names={}))
    assert any(n["val"] is None for n in alone["nodes"] if n["rg"]) and "forward" not in alone


def test_inputs_become_leaves_and_tensors_stay_what_they_are() -> None:
    data = torch.tensor([[1.0, 2.0]])
    program = Program(lambda X, w: (X @ w).sum(), {"X": data, "w": [[1], [2.5]]})
    recording = program.run()
    kinds = {p.name: (p.needs_grad, p.shape) for p in recording.places}
    assert kinds["X"] == (False, (1, 2)) and kinds["w"] == (True, (2, 1))
    assert program.editable() == {"w": {"s": [2, 1], "d": [1.0, 2.5]}}
    before = recording.places[recording.root].value
    program.change("w", 1, 4.5)
    assert program.run().places[recording.root].value == before + 4.0


def test_modules_and_a_students_own_engine_run_too() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    made = step(net, input=torch.tensor([1.0, -1.0]), names={"net": net}, display="page")
    assert {"net.0.weight", "net.2.bias"} <= {n["name"] for n in made.data["nodes"]}
    own = Program(lambda a, b: a * b + a, {"a": Value(2.0), "b": Value(3.0)})
    assert own.run().grads == {"a": 4.0, "b": 2.0} and set(own.editable()) == {"a", "b"}
    own.change("b", 0, 5.0)
    assert own.run().grads["a"] == 6.0


def test_what_does_not_fit_is_said() -> None:
    x = torch.tensor(1.0, requires_grad=True)
    with pytest.raises(TypeError, match="only with a function, step\\(f, x="):
        step(x * x, x=3.0)
    with pytest.raises(TypeError, match="a function that returns a tensor, not float"):
        step(lambda x: 3.0, x=3.0)
    assert np.allclose(x.item(), 1.0) and x.grad is None
