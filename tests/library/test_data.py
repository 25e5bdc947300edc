"""Datasets and loaders: what a batch is, and the mistakes that are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.utils import data


class Squares(data.Dataset):
    def __len__(self) -> int:
        return 5

    def __getitem__(self, i: int) -> Any:
        return {"number": i, "square": mg.tensor(float(i * i)), "name": f"n{i}", "row": np.arange(2) * i}


def test_items_are_gathered_into_batches() -> None:
    first, *_, last = data.DataLoader(Squares(), batch_size=2)
    assert first["number"].tolist() == [0, 1] and first["number"].dtype is mg.int64
    assert first["square"].tolist() == [0.0, 1.0] and first["name"] == ["n0", "n1"]
    assert first["row"].tolist() == [[0, 0], [0, 1]] and last["number"].tolist() == [4]
    assert len(data.DataLoader(Squares(), batch_size=2)) == 3
    assert len(list(data.DataLoader(Squares(), batch_size=2, drop_last=True))) == 2


def test_tensors_are_cut_together() -> None:
    x, y = mg.arange(6.0).reshape(3, 2), mg.tensor([0, 1, 2])
    pairs = data.TensorDataset(x, y)
    assert len(pairs) == 3 and pairs[1][0].tolist() == [2.0, 3.0] and pairs[1][1].item() == 1
    (features, labels), *_ = data.DataLoader(pairs, batch_size=2)
    assert features.shape == (2, 2) and labels.tolist() == [0, 1]
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        data.TensorDataset(x, y[:2])


def test_a_shuffle_is_new_in_every_epoch_and_complete() -> None:
    mg.manual_seed(0)
    loader = data.DataLoader(data.TensorDataset(mg.arange(20)), batch_size=7, shuffle=True)
    first, second = (mg.cat([batch for (batch,) in loader]).tolist() for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(20)) != first != second


def test_an_own_way_to_gather() -> None:
    assert list(data.DataLoader(range(5), batch_size=3, collate_fn=sum)) == [3, 7]


def test_random_split() -> None:
    mg.manual_seed(0)
    parts = data.random_split(range(10), [0.7, 0.3])
    assert [len(part) for part in parts] == [7, 3] and sorted([*parts[0], *parts[1]]) == list(range(10))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: data.DataLoader(range(3), sampler=[0]), TypeError, "leaves out the argument 'sampler'"),
        (lambda: data.DataLoader(range(3), batch_size=0), ValueError, "batch_size should be a positive integer"),
        (lambda: data.random_split(range(3), [1, 1]), ValueError, "Sum of input lengths does not equal"),
        (lambda: list(data.DataLoader([[1], [1, 2]], 2)), RuntimeError, "should be of equal size"),
        (lambda: list(data.DataLoader([object()])), TypeError, "batch must contain tensors"),
        (lambda: data.Dataset()[0], NotImplementedError, "Subclasses of Dataset should implement __getitem__"),
    ],
)
def test_refused(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()
