"""Optimisers and schedulers: PyTorch's trajectories and messages, and how a step treats the tensors it updates."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import pytest

import minigrad as mg
from minigrad import optim
from tests import recorded

KINDS = ("SGD", "Adam", "AdamW", "RMSprop")


def test_trajectories_rates_and_messages() -> None:
    assert recorded.differing(mg, "optim") == []


def made(kind: str, *values: float) -> tuple[Any, Any]:
    w = mg.tensor(values if len(values) > 1 else values[0], requires_grad=True)
    settings = {"momentum": 0.9} if kind in ("SGD", "RMSprop") else {}
    return w, getattr(optim, kind)([w], lr=0.05, **settings)


def train(w: Any, optimiser: Any, steps: int) -> None:
    for _ in range(steps):
        optimiser.zero_grad()
        (w * w).sum().backward()
        optimiser.step()


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_keeps_the_leaf_its_memory_and_its_gradient(kind: str) -> None:
    w, optimiser = made(kind, 1.0, -2.0)
    view, memory, before = w.detach(), w._data, w._version
    (w * w).sum().backward()
    optimiser.step()
    assert w.is_leaf and w.requires_grad and w.grad_fn is None and w.grad.tolist() == [2.0, -4.0]
    assert w._data is memory and w._version > before and view.tolist() == w.tolist() != [1.0, -2.0]


@pytest.mark.parametrize("kind", KINDS)
def test_training_goes_on_from_a_saved_state(kind: str) -> None:
    """Also of a parameter without dimensions."""
    for values in ((1.0, -2.0, 3.0), (2.0,)):
        w, optimiser = made(kind, *values)
        train(w, optimiser, 3)
        saved = pickle.loads(pickle.dumps(optimiser.state_dict()))
        other, restored = made(kind, *values)
        other.data.copy_(w.detach())
        restored.load_state_dict(saved)
        train(w, optimiser, 3)
        train(other, restored, 3)
        assert other.tolist() == w.tolist() and w.dtype is mg.float32


def test_a_step_between_forward_and_backward_is_noticed() -> None:
    w, optimiser = made("SGD", 1.0, 2.0)
    loss = (w * w).sum()
    loss.backward(retain_graph=True)
    optimiser.step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_groups_have_their_own_settings() -> None:
    a, b = mg.ones(1, requires_grad=True), mg.ones(1, requires_grad=True)
    optimiser = optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=0.1)
    (a + b).sum().backward()
    optimiser.step()
    assert a.item() == pytest.approx(0.9) and b.item() == 0.5
    c = mg.ones(1, requires_grad=True)
    optimiser.add_param_group({"params": [c]})
    assert [group["lr"] for group in optimiser.param_groups] == [0.1, 0.5, 0.1]


def test_zero_grad_forgets_or_zeroes() -> None:
    w, optimiser = made("SGD", 1.0, 2.0)
    (w * w).sum().backward()
    optimiser.zero_grad(set_to_none=False)
    assert w.grad.tolist() == [0.0, 0.0]
    optimiser.zero_grad()
    assert w.grad is None
    optimiser.step()  # a parameter without a gradient is passed over
    assert w.tolist() == [1.0, 2.0]


def test_a_closure_runs_with_gradients_on() -> None:
    w = mg.tensor([1.0], requires_grad=True)
    optimiser = optim.SGD([w], lr=0.1)

    def closure() -> Any:
        optimiser.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    with mg.no_grad():
        loss = optimiser.step(closure)
    assert loss.item() == 1.0 and w.item() == pytest.approx(0.8)


def test_an_optimiser_of_ones_own() -> None:
    class Plain(optim.Optimizer):
        def __init__(self, params: Any, rate: float) -> None:
            super().__init__(params, {"rate": rate})

        @mg.no_grad()
        def step(self) -> None:
            for group in self.param_groups:
                for p in group["params"]:
                    self.state[p]["steps"] = self.state[p].get("steps", 0) + 1
                    p -= group["rate"] * p.grad

    w = mg.tensor([1.0], requires_grad=True)
    optimiser = Plain([w], 0.25)
    train(w, optimiser, 2)
    assert w.item() == 0.25 and optimiser.state_dict()["state"] == {0: {"steps": 2}}
    with pytest.raises(NotImplementedError):
        optim.Optimizer([w], {}).step()


def test_a_scheduler_before_the_optimiser_warns() -> None:
    _, optimiser = made("SGD", 1.0)
    scheduler = optim.lr_scheduler.StepLR(optimiser, 1)
    with pytest.warns(UserWarning, match="Detected call of `lr_scheduler.step"):
        scheduler.step()
    w, optimiser = made("SGD", 1.0)
    scheduler = optim.lr_scheduler.StepLR(optimiser, 1)
    train(w, optimiser, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler.step()
    assert scheduler.get_last_lr() == pytest.approx([0.005])


def test_a_scheduler_goes_on_from_its_state() -> None:
    rates = []
    for again in (False, True):
        w, optimiser = made("SGD", 1.0)
        scheduler = optim.lr_scheduler.CosineAnnealingLR(optimiser, 6)
        for epoch in range(5):
            train(w, optimiser, 1)
            scheduler.step()
            if again and epoch == 2:
                saved = scheduler.state_dict()
                scheduler = optim.lr_scheduler.CosineAnnealingLR(optimiser, 99)
                scheduler.load_state_dict(saved)
                optimiser.param_groups[0]["lr"] = saved["_last_lr"][0]
        rates.append(scheduler.get_last_lr())
    assert rates[0] == pytest.approx(rates[1])
