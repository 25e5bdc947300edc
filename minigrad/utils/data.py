"""torch.utils.data: datasets, and a loader that hands them out in batches (in this process, one after another)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from minigrad import creation, sampling
from minigrad.random import Generator
from minigrad.shapes import stack
from minigrad.tensor import Tensor

__all__ = ["DataLoader", "Dataset", "Subset", "TensorDataset", "random_split"]


class Dataset:
    """Anything with `len(dataset)` and `dataset[i]`."""

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")


class TensorDataset(Dataset):
    """Tensors whose first dimensions belong together: item i is a tuple of their i-th rows."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(t.shape[0] != tensors[0].shape[0] for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


class Subset(Dataset):
    """The items of another dataset at these indices."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: int) -> Any:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[float], generator: Generator | None = None) -> list[Subset]:
    """Parts of these lengths (or fractions that add up to 1), in random order."""
    total = len(dataset)
    if abs(sum(lengths) - 1) < 1e-6 and any(isinstance(n, float) for n in lengths):
        sizes = [int(total * n) for n in lengths]
        for i in range(total - sum(sizes)):
            sizes[i % len(sizes)] += 1
    else:
        sizes = [int(n) for n in lengths]
    if sum(sizes) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = sampling.randperm(total, generator=generator).tolist()
    starts = np.cumsum([0, *sizes])
    return [Subset(dataset, order[a:b]) for a, b in pairwise(starts)]


class DataLoader:
    """Iterate over a dataset in batches; with `shuffle`, in a new random order each time."""

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool = False,
        *,
        drop_last: bool = False,
        generator: Generator | None = None,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        num_workers: int = 0,
    ) -> None:
        if num_workers:
            raise NotImplementedError("minigrad loads data in this process: leave num_workers at 0")
        self.dataset, self.batch_size, self.shuffle = dataset, batch_size, shuffle
        self.drop_last, self.generator, self.collate = drop_last, generator, collate_fn or collated

    def __len__(self) -> int:
        n, size = len(self.dataset), self.batch_size or 1
        return n // size if self.drop_last else -(-n // size)

    def __iter__(self) -> Iterator[Any]:
        n = len(self.dataset)
        order = sampling.randperm(n, generator=self.generator).tolist() if self.shuffle else list(range(n))
        if self.batch_size is None:
            yield from (self.dataset[i] for i in order)
            return
        for start in range(0, len(self) * self.batch_size, self.batch_size):
            yield self.collate([self.dataset[i] for i in order[start : start + self.batch_size]])


def collated(items: list[Any]) -> Any:
    """A list of items as one batch: tensors are stacked, numbers become a tensor, tuples and dicts keep their form."""
    first = items[0]
    if isinstance(first, Tensor):
        return stack(items)
    if isinstance(first, (int, float)):
        return creation.tensor(items)
    if isinstance(first, tuple):
        return [collated(list(column)) for column in zip(*items, strict=True)]
    if isinstance(first, dict):
        return {key: collated([item[key] for item in items]) for key in first}
    return items
