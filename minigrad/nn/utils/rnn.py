"""Sequences of different lengths in one batch: padded with a number, or packed without it.

A PackedSequence holds, step by step, the entries of those sequences that are still running, longest sequence first:
that is what the recurrent layers take and give.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from minigrad import conversions, creation, dtypes, joining
from minigrad.tensor import Tensor, wrap


class PackedSequence(NamedTuple):
    """All steps one after the other in `data`, `batch_sizes[t]` of them at step t, and the order of the sequences."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None

    def to(self, *args: Any, **keywords: Any) -> PackedSequence:
        """The numbers in another type; this very sequence if they have it already."""
        data = conversions.to(self.data, *args, **keywords)
        return self if data is self.data else self._replace(data=data)

    @property
    def is_cuda(self) -> bool:
        """False: everything is on the CPU."""
        return False

    def cpu(self) -> PackedSequence:
        """This very sequence."""
        return self

    def pin_memory(self) -> PackedSequence:
        """This very sequence."""
        return self


def _cast(name: str) -> Any:
    def cast(self: PackedSequence) -> PackedSequence:
        return self.to(getattr(dtypes, name))

    cast.__doc__ = f"The numbers as {name}."
    return cast


for _method, _type in (
    ("double", "float64"), ("float", "float32"), ("half", "float16"), ("long", "int64"), ("int", "int32"),
    ("short", "int16"), ("char", "int8"), ("byte", "uint8"),
):  # fmt: skip
    setattr(PackedSequence, _method, _cast(_type))


def _lengths(lengths: Any) -> np.ndarray[Any, Any]:
    return np.asarray(getattr(lengths, "_data", lengths), np.int64)


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Sequences (length, ...) filled up to the longest and stacked: (longest, batch, ...), or batch first."""
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    items = list(sequences)
    longest = max(s.shape[0] for s in items)
    rows = []
    for s in items:
        gap = s.new_full((longest - s.shape[0], *s.shape[1:]), padding_value)
        rows.append(joining.cat([gap, s] if padding_side == "left" else [s, gap]))
    return joining.stack(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Any, batch_first: bool = False) -> list[Tensor]:
    """The sequences again, without what filled them up."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[: int(n)] for row, n in zip(rows, _lengths(lengths), strict=True)]


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """A padded batch as a PackedSequence.  Lengths must fall unless `enforce_sorted=False`, which sorts them."""
    sizes = _lengths(lengths)
    order = None
    if enforce_sorted:
        if (np.diff(sizes) > 0).any():
            raise RuntimeError(
                "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
                "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do "
                "not need ONNX exportability."
            )
    else:
        order = np.argsort(-sizes, kind="stable")
        sizes = sizes[order]
        input = input.index_select(0 if batch_first else 1, wrap(order))
    if not input.numel():
        raise RuntimeError("Cannot pack empty tensors.")
    if sizes.size and sizes[-1] <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    steps = input.transpose(0, 1) if batch_first else input
    if sizes.size != steps.shape[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {sizes.size} (batch_size={steps.shape[1]})"
        )
    running = (sizes[None] > np.arange(sizes[0])[:, None]).sum(1)
    data = joining.cat([steps[t, : int(n)] for t, n in enumerate(running)])
    if order is None:
        return PackedSequence(data, wrap(running))
    return PackedSequence(data, wrap(running), wrap(order), wrap(np.argsort(order)))


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """A PackedSequence as a padded batch in the original order, and the lengths."""
    running = _lengths(sequence.batch_sizes)
    longest = running.size
    if total_length is not None:
        if total_length < longest:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {longest}"
            )
        longest = total_length
    data, batch = sequence.data, int(running[0])
    steps = []
    for part in data.split(running.tolist()):
        gap = data.new_full((batch - part.shape[0], *data.shape[1:]), padding_value)
        steps.append(joining.cat([part, gap]))
    steps += [data.new_full((batch, *data.shape[1:]), padding_value)] * (longest - running.size)
    out = joining.stack(steps)
    sizes = (running[None] > np.arange(batch)[:, None]).sum(1)
    if sequence.unsorted_indices is not None:
        out = out.index_select(1, sequence.unsorted_indices)
        sizes = sizes[_lengths(sequence.unsorted_indices)]
    return (out.transpose(0, 1) if batch_first else out), wrap(sizes)


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences (length, ...) as a PackedSequence."""
    lengths = creation.as_tensor([s.shape[0] for s in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a PackedSequence, in their original order."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
