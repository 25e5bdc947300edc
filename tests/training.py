"""Steps of an optimiser, of a scheduler and of a loader, for two libraries: the programs of tests/recorded.py call them."""

from __future__ import annotations

from typing import Any


def descend(t: Any, kind: str, **settings: Any) -> list[list[float]]:
    """Where each of six steps in float64 on a small curved problem leads; one gradient is missing at first."""
    w = t.tensor([1.0, -2.0, 0.5], dtype=t.float64, requires_grad=True)
    b = t.tensor([[0.3], [-0.7]], dtype=t.float64, requires_grad=True)
    optimiser = getattr(t.optim, kind)([w, b], **settings)
    path = []
    for step in range(6):
        optimiser.zero_grad()
        loss = (w.exp() * t.tensor([1.0, 2.0, -1.0], dtype=t.float64)).sum() + (w * w).sum()
        if step > 1:
            loss = loss + ((b * w) ** 2).sum() + b.sum()
        loss.backward()
        optimiser.step()
        path.append(w.tolist() + b.reshape(-1).tolist())
    return path


def rates(t: Any, kind: str, *settings: Any, again: bool = False) -> list[list[float]]:
    """The learning rates of two groups over nine epochs; `again` makes the scheduler anew after three."""
    groups = [{"params": [t.ones(1, requires_grad=True)], "lr": lr} for lr in (0.1, 0.5)]
    optimiser = t.optim.SGD(groups, lr=0.3)
    make = getattr(t.optim.lr_scheduler, kind)
    scheduler, path = make(optimiser, *settings), []
    for epoch in range(9):
        if again and epoch == 3:
            scheduler = make(optimiser, *settings, last_epoch=scheduler.last_epoch)
        path.append(scheduler.get_last_lr())
        optimiser.step()
        scheduler.step()
    return path


def loaded(t: Any, **settings: Any) -> Any:
    """Two rounds through a loader: the order of a shuffle, and the generator afterwards."""
    data = t.utils.data
    loader = data.DataLoader(data.TensorDataset(t.arange(10)), batch_size=4, **settings)
    return t.cat([batch for _ in range(2) for (batch,) in loader] + [t.rand(2)])
