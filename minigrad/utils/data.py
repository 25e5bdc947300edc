"""torch.utils.data: datasets, and a loader that hands out batches.

The order of a shuffled loader is PyTorch's for the same seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from .. import errors
from ..operation import public
from ..ops import random
from ..ops.creation import as_tensor
from ..ops.random import Generator, randperm
from ..ops.shapes import stack
from ..tensor import Tensor


class Dataset:
    """Anything with `len(dataset)` and `dataset[i]`; subclasses define both."""

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __class_getitem__(cls, item: Any) -> Any:
        # Dataset[Tensor] is a note for the reader
        return cls


class TensorDataset(Dataset):
    """Tensors of the same length: item i is the tuple of their rows i."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(t.size(0) != tensors[0].size(0) for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


class Subset(Dataset):
    """The items of a dataset at these indices: what `random_split` gives."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: int) -> Any:
        return self.dataset[self.indices[index]]

    def __len__(self) -> int:
        return len(self.indices)


@public
def random_split(dataset: Any, lengths: Sequence[float], generator: Generator | None = None) -> list[Subset]:
    """Parts of these lengths, or of these fractions (whose sum is 1), in random order."""
    total, sizes = len(dataset), list(lengths)
    if math.isclose(sum(sizes), 1) and sum(sizes) <= 1:
        sizes = [math.floor(total * fraction) for fraction in lengths]
        for i in range(total - int(sum(sizes))):
            sizes[i % len(sizes)] += 1
    if sum(sizes) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = randperm(total, generator=generator).tolist()
    ends = accumulate(map(int, sizes), initial=0)
    return [Subset(dataset, order[a:b]) for a, b in pairwise(ends)]


class DataLoader:
    """Iterates over a dataset in batches; with `shuffle`, in a new random order each time.

    collate_fn makes a batch of a list of items; by default tensors are stacked, and tuples and dictionaries are
    batched entry by entry.  ValueError for a batch_size below 1.

    >>> pairs = torch.utils.data.TensorDataset(torch.arange(4), torch.ones(4))
    >>> [x.tolist() for x, _ in torch.utils.data.DataLoader(pairs, batch_size=3)]
    [[0, 1, 2], [3]]
    """

    @public
    def __init__(
        self, dataset: Any, batch_size: int = 1, shuffle: bool = False, *,
        collate_fn: Callable[[list[Any]], Any] | None = None, drop_last: bool = False,
        generator: Generator | None = None,
    ) -> None:
        if batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        self.dataset, self.batch_size, self.shuffle = dataset, batch_size, shuffle
        self.drop_last, self.generator = drop_last, generator
        self.collate_fn = collate_fn or collated

    def __len__(self) -> int:
        n, size = len(self.dataset), self.batch_size
        return n // size if self.drop_last else -(-n // size)

    def __iter__(self) -> Iterator[Any]:
        # PyTorch draws one for its workers
        _seed(self.generator)
        return self._batches()

    def _batches(self) -> Iterator[Any]:
        n, size = len(self.dataset), self.batch_size
        order = self._order(n) if self.shuffle else range(n)
        for start in range(0, len(self) * size, size):
            yield self.collate_fn([self.dataset[i] for i in order[start : start + size]])

    def _order(self, n: int) -> list[int]:
        source = self.generator
        # one of its own, seeded from the default one
        if source is None:
            source = Generator().manual_seed(_seed(None))
        order: list[int] = randperm(n, generator=source).tolist()
        # PyTorch draws another one, for what is left
        randperm(n, generator=source)
        return order


def _seed(generator: Any) -> int:
    return int((generator or random.default_generator).randint(0, 2**63, ())[()])


def collated(batch: list[Any]) -> Any:
    """A list of items as one batch.  TypeError for items that are no tensors, arrays, numbers, tuples or dictionaries."""
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(batch)
    if isinstance(first, (np.ndarray, np.generic, float, int)):
        return as_tensor(np.stack(batch))
    if isinstance(first, str):
        return batch
    if isinstance(first, Mapping):
        return {key: collated([item[key] for item in batch]) for key in first}
    if isinstance(first, Sequence):
        alike = all(len(item) == len(first) for item in batch)
        errors.check(alike, "each element in list of batch should be of equal size")
        return [collated(list(column)) for column in zip(*batch)]
    words = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists"
    raise TypeError(f"{words}; found {type(first)}")


__all__ = ["DataLoader", "Dataset", "TensorDataset", "random_split"]
errors.namespace(__name__)
