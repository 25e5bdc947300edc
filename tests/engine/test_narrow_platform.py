"""The engine where a processor's index has 32 bits, as in a browser: its integers are int64 all the same.

numpy's functions are replaced by ones that answer, and refuse, as numpy does on such a platform.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad as torch

INDICES = ("argmax", "argmin", "argsort", "nonzero", "argwhere", "count_nonzero", "flatnonzero", "searchsorted")


def narrowed(value: Any) -> Any:
    """Indices as such a platform gives them."""
    if isinstance(value, tuple):
        return tuple(map(narrowed, value))
    return value.astype(np.int32) if isinstance(value, np.ndarray | np.int64) and value.dtype == np.int64 else value


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    def answering(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **more: narrowed(function(*args, **more))

    def counting(function: Callable[..., Any], place: int) -> Callable[..., Any]:
        """Counts must be safe to turn into an index: an int64 array is not, unless it was turned into np.intp before."""

        def counted(*args: Any, **more: Any) -> Any:
            given = args[place]
            if isinstance(given, np.ndarray) and given.dtype == np.int64 and given.dtype is not np.dtype(np.intp):
                raise TypeError("Cannot cast array data from dtype('int64') to dtype('int32') according to the rule 'safe'")
            return narrowed(function(*args, **more))

        return counted

    for name in INDICES:
        monkeypatch.setattr(np, name, answering(getattr(np, name)))
    arange, unique = np.arange, np.unique
    monkeypatch.setattr(np, "arange", lambda *args, **more: arange(*args, **more) if more else narrowed(arange(*args)))
    monkeypatch.setattr(
        np, "unique", lambda *args, **more: tuple(x if i == 0 else narrowed(x) for i, x in enumerate(unique(*args, **more)))
    )
    monkeypatch.setattr(np, "intp", np.int32)
    monkeypatch.setattr(np, "repeat", counting(np.repeat, 1))
    monkeypatch.setattr(np, "bincount", counting(np.bincount, 0))


X = torch.tensor([[3.0, 1.0, 2.0], [0.0, 5.0, 5.0]])
COUNTS = torch.tensor([1, 2])


@pytest.mark.parametrize(
    ("ask", "right"),
    [
        (lambda: X.argmax(), 4),
        (lambda: X.argmin(1), [1, 0]),
        (lambda: X.max(1).indices, [0, 1]),
        (lambda: X.min(0, keepdim=True).indices, [[1, 0, 0]]),
        (lambda: X.median(1).indices, [2, 1]),
        (lambda: X.sort(1).indices, [[1, 2, 0], [0, 1, 2]]),
        (lambda: X.argsort(1, descending=True), [[0, 2, 1], [1, 2, 0]]),
        (lambda: X.topk(2).indices, [[0, 2], [1, 2]]),
        (lambda: X.nonzero(), [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2]]),
        (lambda: X.nonzero(as_tuple=True)[0], [0, 0, 0, 1, 1]),
        (lambda: torch.where(X > 2)[1], [0, 1, 2]),
        (lambda: torch.count_nonzero(X), 5),
        (lambda: torch.unique(X, return_counts=True)[1], [1, 1, 1, 1, 2]),
        (lambda: torch.unique(X, return_inverse=True)[1], [[3, 1, 2], [0, 4, 4]]),
        (lambda: torch.bincount(COUNTS), [0, 1, 1]),
        (lambda: torch.arange(3), [0, 1, 2]),
        (lambda: torch.randperm(4).sum(), 6),
        (lambda: (X > 1).sum(), 4),
        (lambda: torch.arange(2).repeat_interleave(COUNTS), [0, 1, 1]),
        (lambda: torch.tensor([5, 6]).repeat_interleave(2), [5, 5, 6, 6]),
    ],
)
@pytest.mark.usefixtures("narrow")
def test_integers_are_int64(ask: Callable[[], torch.Tensor], right: Any) -> None:
    found = ask()
    assert found.dtype is torch.int64 and found.tolist() == right


@pytest.mark.usefixtures("narrow")
def test_gradients_go_back_by_such_indices() -> None:
    x = X.clone().requires_grad_()
    (x.max(1).values.sum() + x[x > 2].sum() + x.sort(1).values[:, 0].sum() + x[COUNTS - 1, COUNTS].sum()).backward()
    assert x.grad is not None and x.grad.tolist() == [[2.0, 2.0, 0.0], [1.0, 2.0, 2.0]]
