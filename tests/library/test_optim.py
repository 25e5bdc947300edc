"""Optimisers and schedulers: PyTorch's trajectories, and how a step treats the tensors it updates."""

from __future__ import annotations

import json
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import nn, optim
from tests.library import trajectories

DATA = Path(__file__).parents[1] / "data" / "library"
PATHS = json.loads((DATA / "optimisers.json").read_text())
RATES = json.loads((DATA / "schedulers.json").read_text())


@pytest.mark.parametrize("name", trajectories.OPTIMISERS)
def test_trajectory(name: str) -> None:
    np.testing.assert_allclose(trajectories.descend(mg, name), PATHS[name], rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("name", trajectories.SCHEDULERS)
def test_rates(name: str) -> None:
    np.testing.assert_allclose(trajectories.rates(mg, name), RATES[name], rtol=1e-12)


ALL = ("SGD", "Adam", "AdamW", "RMSprop")


def quadratic(w: Any) -> Any:
    return (w * w).sum()


@pytest.mark.parametrize("kind", ALL)
def test_a_step_keeps_the_leaf_and_its_memory(kind: str) -> None:
    w = mg.tensor([1.0, -2.0], requires_grad=True)
    view, memory = w.detach(), w._data
    optimiser = getattr(optim, kind)([w], lr=0.1)
    quadratic(w).backward()
    before, gradient = w._version, w.grad.numpy().copy()
    optimiser.step()
    assert w.is_leaf and w.requires_grad and w.grad_fn is None
    assert w._data is memory and w._version > before
    assert view.tolist() == w.tolist() != [1.0, -2.0]
    assert w.grad.numpy().tolist() == gradient.tolist()


@pytest.mark.parametrize("kind", ALL)
def test_zero_dimensional_and_float64_parameters(kind: str) -> None:
    w = mg.tensor(2.0, dtype=mg.float64, requires_grad=True)
    optimiser = getattr(optim, kind)([w], lr=0.1)
    for _ in range(3):
        optimiser.zero_grad()
        (w * w).backward()
        optimiser.step()
    assert w.shape == () and w.dtype is mg.float64 and 0 < w.item() < 2


def test_stepping_between_forward_and_backward_is_noticed() -> None:
    w = mg.tensor([1.0, 2.0], requires_grad=True)
    optimiser = optim.SGD([w], lr=0.1)
    loss = (w * w).sum()
    loss.backward(retain_graph=True)
    optimiser.step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("kind", ALL)
def test_a_restored_state_continues_the_same_path(kind: str) -> None:
    def fresh() -> tuple[Any, Any]:
        w = mg.tensor([1.0, -2.0, 3.0], requires_grad=True)
        return w, getattr(optim, kind)([w], lr=0.1)

    def steps(w: Any, optimiser: Any, count: int) -> None:
        for _ in range(count):
            optimiser.zero_grad()
            quadratic(w).backward()
            optimiser.step()

    w, optimiser = fresh()
    steps(w, optimiser, 3)
    saved = pickle.loads(pickle.dumps(optimiser.state_dict()))
    other, restored = fresh()
    other.data.copy_(w.detach())
    restored.load_state_dict(saved)
    steps(w, optimiser, 3)
    steps(other, restored, 3)
    assert other.tolist() == w.tolist()


def test_groups_have_their_own_settings() -> None:
    a, b = mg.ones(1, requires_grad=True), mg.ones(1, requires_grad=True)
    optimiser = optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=0.1)
    (a + b).sum().backward()
    optimiser.step()
    assert [round(a.item(), 6), round(b.item(), 6)] == [0.9, 0.5]
    assert optimiser.state_dict()["param_groups"][1]["params"] == [1]


def test_closure_runs_with_gradients_on() -> None:
    w = mg.tensor([1.0], requires_grad=True)
    optimiser = optim.SGD([w], lr=0.1)

    def closure() -> Any:
        optimiser.zero_grad()
        loss = quadratic(w)
        loss.backward()
        return loss

    with mg.no_grad():
        loss = optimiser.step(closure)
    assert loss.item() == 1.0 and w.item() == pytest.approx(0.8)


def test_a_base_optimiser_has_no_update() -> None:
    w = mg.ones(1, requires_grad=True)
    w.sum().backward()
    with pytest.raises(NotImplementedError):
        optim.Optimizer([w], {}).step()


def test_scheduler_first_warns() -> None:
    w = mg.ones(1, requires_grad=True)
    optimiser = optim.SGD([w], lr=0.1)
    scheduler = optim.lr_scheduler.StepLR(optimiser, 1)
    with pytest.warns(UserWarning, match="Detected call of `lr_scheduler.step"):
        scheduler.step()
    optimiser = optim.SGD([w], lr=0.1)
    scheduler = optim.lr_scheduler.StepLR(optimiser, 1)
    optimiser.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler.step()
        optim.lr_scheduler.StepLR(optimiser, 1).step()  # the optimiser has stepped since its first scheduler
    optimiser = optim.SGD([w], lr=0.1)
    scheduler = optim.lr_scheduler.StepLR(optimiser, 1)
    optimiser.step = lambda: None
    with pytest.warns(UserWarning, match="`optimizer.step\\(\\)` has been overridden"):
        scheduler.step()


def test_a_step_allocates_next_to_nothing() -> None:
    import tracemalloc

    w = nn.Parameter(mg.zeros(400, 500))
    optimiser = optim.Adam([w])
    w.grad = mg.ones(400, 500)
    optimiser.step()
    tracemalloc.start()
    optimiser.step()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400 * 500 * 4 / 10
