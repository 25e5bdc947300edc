"""Optimisers and schedulers: PyTorch's trajectories, and how a step treats the tensors it updates."""

from __future__ import annotations

import copy
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


ALL = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Adamax", "NAdam")


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


def test_hooks_around_a_step_also_in_a_subclass() -> None:
    calls = []

    class Own(optim.Optimizer):
        def step(self, closure: Any = None) -> None:
            calls.append("step")

    optimiser = Own([mg.ones(1, requires_grad=True)], {})
    optimiser.register_step_pre_hook(lambda o, args, kwargs: calls.append("before"))
    handle = optimiser.register_step_post_hook(lambda o, args, kwargs: calls.append("after"))
    optimiser.step()
    handle.remove()
    optimiser.step()
    assert calls == ["before", "step", "after", "before", "step"]


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


def test_scheduler_state_dict() -> None:
    w = mg.ones(1, requires_grad=True)
    scheduler = optim.lr_scheduler.ExponentialLR(optim.SGD([w], lr=0.1), 0.5)
    scheduler.optimizer.step()
    scheduler.step()
    other = optim.lr_scheduler.ExponentialLR(optim.SGD([w], lr=0.1), 0.9)
    other.load_state_dict(copy.deepcopy(scheduler.state_dict()))
    assert other.gamma == 0.5 and other.last_epoch == 1 and other.get_last_lr() == [0.05]


def test_a_scheduler_saves_what_its_function_holds() -> None:
    class Decay:
        def __init__(self, rate: float) -> None:
            self.rate = rate

        def __call__(self, epoch: int) -> float:
            return self.rate**epoch

    optimiser = optim.SGD([mg.ones(1, requires_grad=True)], lr=0.1)
    saved = optim.lr_scheduler.LambdaLR(optimiser, Decay(0.5)).state_dict()
    assert saved["lr_lambdas"] == [{"rate": 0.5}]
    other = optim.lr_scheduler.LambdaLR(optimiser, Decay(0.9))
    other.load_state_dict(saved)
    assert other.lr_lambdas[0].rate == 0.5
    assert optim.lr_scheduler.LambdaLR(optimiser, lambda e: 1.0).state_dict()["lr_lambdas"] == [None]


def test_schedulers_refuse() -> None:
    rates, optimiser = optim.lr_scheduler, optim.SGD([mg.ones(1, requires_grad=True)], lr=0.1)
    for wrong, message in (
        (lambda: rates.OneCycleLR(optimiser, 1.0, 10, pct_start=1.1), "Expected float between 0 and 1 pct_start"),
        (lambda: rates.OneCycleLR(optimiser, 1.0, epochs=3, steps_per_epoch=0), "positive integer steps_per_epoch"),
        (lambda: rates.OneCycleLR(optimiser, [1.0, 2.0], 10), "max_lr must have the same length as optimizer"),
        (lambda: rates.CyclicLR(optimiser, [1.0, 2.0], 3.0), "base_lr must have the same length as optimizer"),
        (lambda: rates.SequentialLR(optimiser, [rates.ReduceLROnPlateau(optimiser)], []), "ReduceLROnPlateau"),
        (lambda: rates.ChainedScheduler([rates.StepLR(optimiser, 1)], 3), "belong to the same optimizer"),
    ):
        with pytest.raises(ValueError, match=message):
            wrong()


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


EMA = [0.2683, 0.5683, 0.8683]
AVERAGES = [
    ({}, [0.55, 0.85, 1.15]),
    ({"multi_avg_fn": mg.optim.swa_utils.get_ema_multi_avg_fn(0.9)}, EMA),
    ({"avg_fn": mg.optim.swa_utils.get_ema_avg_fn(0.9), "use_buffers": True}, EMA),
]


@pytest.mark.parametrize(("settings", "want"), AVERAGES)
def test_averages_of_weights(settings: dict[str, Any], want: list[float]) -> None:
    """A mean or an exponential mean of four models, as PyTorch gives it; then statistics counted anew."""
    model = mg.nn.Sequential(mg.nn.BatchNorm1d(2), mg.nn.Linear(2, 1))
    mean = mg.optim.swa_utils.AveragedModel(model, **settings)
    for step in range(4):
        with mg.no_grad():
            model[1].weight.copy_(mg.tensor([[0.1 + 0.3 * step, 0.4 + 0.3 * step]]))
            model[1].bias.fill_(0.7 + 0.3 * step)
        mean.update_parameters(model)
    assert [*mean.module[1].weight.flatten().tolist(), mean.module[1].bias.item()] == pytest.approx(want, abs=1e-6)
    assert mean.n_averaged.item() == 4
    x = mg.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]])
    mg.optim.swa_utils.update_bn([x, (x + 1, None)], mean)
    assert mean.module[0].running_mean.tolist() == pytest.approx([2.0, 2.1666667], abs=1e-6)
    assert mean.module[0].momentum == 0.1


def test_rate_on_its_way_to_that_of_averaging() -> None:
    optimiser = mg.optim.SGD([mg.ones(1)], lr=0.1)
    scheduler = mg.optim.swa_utils.SWALR(optimiser, 0.02, 3)
    rates = []
    for _ in range(4):
        optimiser.step()
        scheduler.step()
        rates += scheduler.get_last_lr()
    assert rates == pytest.approx([0.08, 0.04, 0.02, 0.02], abs=1e-12)


@pytest.mark.parametrize(
    "make",
    [
        lambda o: optim.lr_scheduler.StepLR(o, 1, 0.5),
        lambda o: optim.lr_scheduler.ReduceLROnPlateau(o, factor=0.5, patience=0),
        lambda o: optim.lr_scheduler.CyclicLR(o, 0.1, 1.0, 5, cycle_momentum=False),
        lambda o: optim.lr_scheduler.SequentialLR(o, [optim.lr_scheduler.ConstantLR(o), optim.lr_scheduler.StepLR(o, 1)], [1]),
    ],
)
def test_a_rate_in_a_tensor_is_changed_where_it_is(make: Any) -> None:
    """Whoever holds the tensor sees the rate; what is reported are copies."""
    rate = mg.tensor(1.0)
    optimiser = optim.SGD([nn.Parameter(mg.ones(1))], lr=rate)
    scheduler = make(optimiser)
    seen = [rate.item()]
    for _ in range(3):
        optimiser.step()
        scheduler.step(*([1.0] if isinstance(scheduler, optim.lr_scheduler.ReduceLROnPlateau) else []))
        seen.append(rate.item())
    assert optimiser.param_groups[0]["lr"] is rate and len(set(seen)) > 1
    (last,) = scheduler.get_last_lr()
    assert last == rate and last is not rate


def test_plateau_knows_the_epoch_it_is_told_and_groups_that_came_later() -> None:
    one, two, three = (nn.Parameter(mg.ones(1)) for _ in range(3))
    optimiser = optim.SGD([one], lr=1.0)
    scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimiser, patience=0)
    with pytest.warns(UserWarning, match="The epoch parameter"):
        scheduler.step(1.0, 5)
    optimiser.add_param_group({"params": [two], "lr": 3.0})
    scheduler.step(2.0)
    assert scheduler.last_epoch == 6 and scheduler.get_last_lr() == [0.1, 3.0 * 0.1] and scheduler.min_lrs == [0, 0]
    scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimiser, patience=0, min_lr=[0, 0])
    optimiser.add_param_group({"params": [three]})
    scheduler.step(1.0)
    with pytest.raises(RuntimeError, match=r"The number of param groups in the `optimizer` \(3\) differs from when"):
        scheduler.step(2.0)
