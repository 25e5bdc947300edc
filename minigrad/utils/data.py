"""torch.utils.data: datasets, samplers that choose an order, and a loader that hands out batches.

The order of a shuffled loader is PyTorch's own for the same seed.  Everything is loaded in this process.
"""

from __future__ import annotations

import copy
import math
import sys
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from itertools import accumulate, islice, pairwise
from typing import Any

import numpy as np

from minigrad import creation, dtypes, random, sampling
from minigrad.ops.shapes import stack
from minigrad.random import Generator
from minigrad.tensor import Tensor

__all__ = [
    "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "IterableDataset", "RandomSampler", "Sampler",
    "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler",
    "default_collate", "default_convert", "random_split",
]  # fmt: skip

# ------------------------------------------------------------------------------------------- datasets


class Dataset:
    """Anything with `len(dataset)` and `dataset[i]`."""

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Any) -> ConcatDataset:
        return ConcatDataset([self, other])

    def __class_getitem__(cls, item: Any) -> Any:
        return cls  # Dataset[Tensor] is only a note to the reader


class IterableDataset(Dataset):
    """A dataset that is a stream: it defines `__iter__` instead of `__getitem__`."""

    def __add__(self, other: Any) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    """Tensors whose first dimensions belong together: item i is a tuple of their i-th rows."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(t.size(0) != tensors[0].size(0) for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


class StackDataset(Dataset):
    """Datasets whose items belong together: item i is a tuple, or with keywords a dictionary, of their i-th items.

    ValueError if they differ in length.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, but both types are "
                "given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets: Any = args or kwargs
        parts = list(args or kwargs.values())
        self._length = len(parts[0])
        if any(len(part) != self._length for part in parts):
            raise ValueError("Size mismatch between datasets")

    def __getitem__(self, index: int) -> Any:
        if isinstance(self.datasets, dict):
            return {name: part[index] for name, part in self.datasets.items()}
        return tuple(part[index] for part in self.datasets)

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        parts = self.datasets.values() if isinstance(self.datasets, dict) else self.datasets
        rows = zip(*(_items(part, indices) for part in parts), strict=True)
        return [dict(zip(self.datasets, row, strict=True)) if isinstance(self.datasets, dict) else row for row in rows]

    def __len__(self) -> int:
        return self._length


def _items(dataset: Any, indices: list[Any]) -> Any:
    """A batch of items: asked for at once, if the dataset can give them so."""
    if getattr(dataset, "__getitems__", None) is None:
        return [dataset[i] for i in indices]
    items = dataset.__getitems__(indices)
    if len(items) != len(indices):
        raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(items)}")
    return items


class ChainDataset(IterableDataset):
    """Several streams one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets: Iterable[Any] = datasets

    def __iter__(self) -> Iterator[Any]:
        for part in self.datasets:
            if not isinstance(part, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield from iter(part)

    def __len__(self) -> int:
        if not all(isinstance(part, IterableDataset) for part in self.datasets):
            raise AssertionError("ChainDataset only supports IterableDataset")
        return sum(len(part) for part in self.datasets)


class ConcatDataset(Dataset):
    """Several datasets one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(accumulate(len(d) for d in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        which = bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]


class Subset(Dataset):
    """The items of another dataset at these indices."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        return self.dataset[[self.indices[i] for i in index] if isinstance(index, list) else self.indices[index]]

    def __getitems__(self, indices: list[int]) -> Any:
        return _items(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[float], generator: Generator | None = None) -> list[Subset]:
    """Parts of these lengths (or fractions that add up to 1), in random order."""
    total = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        for i, share in enumerate(lengths):
            if not 0 <= share <= 1:
                raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        sizes = [math.floor(total * share) for share in lengths]
        for i in range(total - sum(sizes)):
            sizes[i % len(sizes)] += 1
        for i, size in enumerate(sizes):
            if not size:
                warnings.warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=2)
    else:
        sizes = list(lengths)  # type: ignore[arg-type]
    if sum(sizes) != total:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = sampling.randperm(total, generator=generator).tolist()
    return [Subset(dataset, order[a:b]) for a, b in pairwise(accumulate(sizes, initial=0))]


# ------------------------------------------------------------------------------------------- samplers


def _check_count(num_samples: Any) -> None:
    if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
        raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")


class Sampler:
    """An order in which to go through a dataset: iterating gives indices."""

    def __init__(self, data_source: Any = None) -> None:
        pass

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError

    def __class_getitem__(cls, item: Any) -> Any:
        return cls


class SequentialSampler(Sampler):
    """0, 1, 2, ..."""

    def __init__(self, data_source: Any) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """All indices in random order, or `num_samples` of them; with `replacement`, each drawn by itself."""

    def __init__(
        self,
        data_source: Any,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator | None = None,
    ) -> None:
        self.data_source, self.replacement, self.generator = data_source, replacement, generator
        self._num_samples = num_samples
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        _check_count(self.num_samples)

    @property
    def num_samples(self) -> int:
        """How many indices a pass gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n, left = len(self.data_source), self.num_samples
        source = self.generator
        if source is None:  # a generator of its own, seeded from the common one
            source = Generator()
            source.manual_seed(_seed(None))
        size = 32 if self.replacement else n
        while left >= 0:  # a last round for what is left, even when nothing is
            if self.replacement:
                yield from sampling.randint(n, (min(left, size),), generator=source).tolist()
            else:
                yield from sampling.randperm(n, generator=source).tolist()[:left]
            left -= size

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """These indices in random order."""

    def __init__(self, indices: Sequence[int], generator: Generator | None = None) -> None:
        self.indices, self.generator = indices, generator

    def __iter__(self) -> Iterator[int]:
        for i in sampling.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Indices drawn with these weights."""

    def __init__(
        self, weights: Any, num_samples: int, replacement: bool = True, generator: Generator | None = None
    ) -> None:
        _check_count(num_samples)
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = creation.as_tensor(weights, dtype=dtypes.float64)
        if self.weights.ndim != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self) -> Iterator[int]:
        drawn = sampling.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        yield from drawn.tolist()  # drawn when the first is asked for

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of `batch_size` indices from another sampler."""

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        return (len(self.sampler) + (0 if self.drop_last else self.batch_size - 1)) // self.batch_size


def _seed(generator: Generator | None) -> int:
    """What PyTorch draws for the random numbers of a loader's workers, and of a sampler."""
    return int((generator or random.default_generator).randint(0, 2**63, ())[()])


# ------------------------------------------------------------------------------------------- the loader


def get_worker_info() -> None:
    """None: it is always the main process that loads."""
    return None


def _check_workers(workers: int, timeout: float, context: Any, prefetch: int | None, persistent: bool) -> None:
    """ValueError for settings of worker processes that do not go together: there are none, but the program may move on."""
    if workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if workers == 0 and prefetch is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
            "multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch is not None and prefetch < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent and workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")
    if context is not None and workers == 0:
        raise ValueError(
            "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
            f"num_workers={workers}"
        )
    methods = ["fork", "spawn", "forkserver"]
    if isinstance(context, str) and context not in methods:
        raise ValueError(
            f"multiprocessing_context option should specify a valid start method in {methods}, but got "
            f"multiprocessing_context={context!r}"
        )


FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class DataLoader:
    """Iterate over a dataset in batches; with `shuffle`, in a new random order each time.

    `num_workers` and `pin_memory` are accepted: this process does the work, in the same order.

    >>> pairs = torch.utils.data.TensorDataset(torch.arange(4), torch.ones(4))
    >>> [x.tolist() for x, _ in torch.utils.data.DataLoader(pairs, batch_size=3)]
    [[0, 1, 2], [3]]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, multiprocessing_context, prefetch_factor, persistent_workers)
        stream = isinstance(dataset, IterableDataset)
        if stream:
            unset = {"shuffle": shuffle or None, "sampler": sampler, "batch_sampler": batch_sampler}
            for option, given in unset.items():
                if given is not None:
                    raise ValueError(
                        f"DataLoader with IterableDataset: expected unspecified {option} option, but got {option}={given}"
                    )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
            )
        if sampler is None and not stream:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_sampler is None and batch_size is not None and not stream:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.dataset, self.batch_size, self.drop_last = dataset, batch_size, drop_last
        self.sampler, self.batch_sampler, self.generator = sampler, batch_sampler, generator
        self.num_workers, self.pin_memory, self.timeout = num_workers, pin_memory, timeout
        self.prefetch_factor, self.persistent_workers, self.in_order = prefetch_factor, persistent_workers, in_order
        self.worker_init_fn, self.pin_memory_device = worker_init_fn, pin_memory_device
        self.multiprocessing_context = multiprocessing_context
        alone = batch_size is None and batch_sampler is None
        self.collate_fn = collate_fn or (default_convert if alone else default_collate)
        self._fixed = True

    def __setattr__(self, name: str, value: Any) -> None:
        if name in FIXED and "_fixed" in self.__dict__:
            raise ValueError(f"{name} attribute should not be set after DataLoader is initialized")
        super().__setattr__(name, value)

    def __class_getitem__(cls, item: Any) -> Any:
        return cls

    def __len__(self) -> int:
        if isinstance(self.dataset, IterableDataset):
            n: int = len(self.dataset)  # type: ignore[arg-type]
            return n if not self.batch_size else n // self.batch_size if self.drop_last else -(-n // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        if self.pin_memory:
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be "
                "used.",
                stacklevel=2,
            )
        _seed(self.generator)
        return self._stream() if isinstance(self.dataset, IterableDataset) else self._batches()

    def _batches(self) -> Iterator[Any]:
        if self.batch_sampler is None:
            yield from (self.collate_fn(self.dataset[i]) for i in self.sampler)
        else:
            for indices in self.batch_sampler:
                together = getattr(self.dataset, "__getitems__", None)
                yield self.collate_fn(together(indices) if together else [self.dataset[i] for i in indices])

    def _stream(self) -> Iterator[Any]:
        items = iter(self.dataset)
        if self.batch_size is None:
            yield from map(self.collate_fn, items)
            return
        while batch := list(islice(items, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield self.collate_fn(batch)


def _of_words(array: Any) -> bool:
    return isinstance(array, (np.ndarray, np.generic)) and array.dtype.kind in "SUO"


def default_convert(data: Any) -> Any:
    """An item that is not batched: its arrays become tensors, lists and dicts keep their form."""
    if isinstance(data, (np.ndarray, np.generic)):
        return data if _of_words(data) else creation.as_tensor(data)
    if isinstance(data, (Mapping, Sequence)) and not isinstance(data, (str, bytes)):
        return _like(data, {key: default_convert(item) for key, item in _entries(data)})
    return data


def default_collate(batch: Sequence[Any]) -> Any:
    """A list of items as one batch: tensors are stacked, numbers become a tensor, lists and dicts keep their form."""
    first = batch[0]
    if isinstance(first, Tensor):
        return stack(list(batch))
    if isinstance(first, np.ndarray) and not _of_words(first):
        return stack([creation.as_tensor(item) for item in batch])
    if isinstance(first, (np.number, np.bool_)):
        return creation.as_tensor(np.stack(batch))
    if isinstance(first, float):
        return creation.tensor(batch, dtype=dtypes.float64)
    if isinstance(first, int):
        return creation.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _like(first, {key: default_collate([item[key] for item in batch]) for key in first})
    if isinstance(first, Sequence):
        if any(len(item) != len(first) for item in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return _like(first, {i: default_collate(column) for i, column in enumerate(zip(*batch, strict=True))})
    kind = first.dtype if isinstance(first, np.ndarray) else type(first)
    raise TypeError(f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {kind}")


def _entries(data: Any) -> Iterable[tuple[Any, Any]]:
    return data.items() if isinstance(data, Mapping) else enumerate(data)


def _like(first: Any, entries: dict[Any, Any]) -> Any:
    """These entries, by key or place, in a container as `first` is one; a plain one if it cannot be made so."""
    if isinstance(first, tuple):
        return type(first)(*entries.values()) if hasattr(first, "_fields") else list(entries.values())
    try:
        if isinstance(first, (MutableMapping, MutableSequence)):
            twin: Any = copy.copy(first)  # it may hold more than its entries
            for key, value in entries.items():
                twin[key] = value
            return twin
        return type(first)(entries if isinstance(first, Mapping) else list(entries.values()))
    except TypeError:
        return entries if isinstance(first, Mapping) else list(entries.values())


# PyTorch keeps these in several files: `from torch.utils.data.dataset import Dataset`.
for _name in ("dataset", "dataloader", "sampler"):
    globals()[_name] = sys.modules[f"{__name__}.{_name}"] = sys.modules[__name__]
