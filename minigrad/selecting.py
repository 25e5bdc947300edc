"""Order as C++ makes it: of equal elements PyTorch's `topk` and `sort` name those that its library comes upon.

Three algorithms of GNU's C++ library, on a list of places in a row: `sort`, `nth_element` and, where a few are chosen from
many, `partial_sort`.  Loaded when equal elements are first met.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any
Order = list[int]


def selected(x: Array, dim: int, largest: bool, k: int | None = None, in_order: bool = True) -> Array:
    """The places of the k largest (or smallest) elements along `dim`, of all if k is None; nan counts as the largest."""
    rows = np.moveaxis(x, dim, -1)
    found = np.empty((*rows.shape[:-1], rows.shape[-1] if k is None else k), np.int64)
    for row in np.ndindex(rows.shape[:-1]):
        rank = np.unique(rows[row], return_inverse=True)[1]
        found[row] = _first((-rank if largest else rank).tolist(), k, in_order)
    return np.moveaxis(found, -1, dim)


def _first(keys: list[int], k: int | None, in_order: bool) -> Order:
    order = list(range(len(keys)))
    if k is None:
        _sort(order, keys, len(keys))
        return order
    if k * 64 <= len(keys):
        _partial_sort(order, keys, k)
        return order[:k]
    _nth_element(order, keys, k - 1)
    if in_order:
        _sort(order, keys, k - 1)
    return order[:k]


def _nth_element(order: Order, keys: list[int], nth: int) -> None:
    """Cut off, again and again, the side of a pivot where the wanted place is not."""
    first, last = 0, len(order)
    while last - first > 3:
        cut = _parted(order, keys, first, last)
        first, last = (cut, last) if cut <= nth else (first, cut)
    order[first:last] = _inserted(order[first:last], keys)


def _sort(order: Order, keys: list[int], n: int) -> None:
    """Sort the first n: parts of more than 16 around a pivot, what is left by insertion."""
    parts = [(0, n)]
    while parts:
        first, last = parts.pop()
        while last - first > 16:
            cut = _parted(order, keys, first, last)
            parts.append((cut, last))
            last = cut
    order[:n] = _inserted(order[:n], keys)


def _inserted(places: Order, keys: list[int]) -> Order:
    """What insertion makes of them: equal ones stay in order."""
    return sorted(places, key=keys.__getitem__)


def _parted(order: Order, keys: list[int], first: int, last: int) -> int:
    """Smaller ones to the left, greater ones to the right of the median of three; where the right side begins."""
    three = first + 1, (first + last) // 2, last - 1
    a, b, c = (keys[order[i]] for i in three)
    if a < b:
        middle = three[1] if b < c else three[2] if a < c else three[0]
    else:
        middle = three[0] if a < c else three[2] if b < c else three[1]
    order[first], order[middle] = order[middle], order[first]
    pivot, up, down = keys[order[first]], first + 1, last
    while True:
        while keys[order[up]] < pivot:
            up += 1
        down -= 1
        while pivot < keys[order[down]]:
            down -= 1
        if up >= down:
            return up
        order[up], order[down] = order[down], order[up]
        up += 1


def _partial_sort(order: Order, keys: list[int], k: int) -> None:
    """Keep the k best in a heap, the worst on top; then take the heap apart."""
    for parent in range((k - 2) // 2, -1, -1):
        _sift(order, keys, parent, k, order[parent])
    for i in range(k, len(order)):
        if keys[order[i]] < keys[order[0]]:
            place, order[i] = order[i], order[0]
            _sift(order, keys, 0, k, place)
    for last in range(k - 1, 0, -1):
        place, order[last] = order[last], order[0]
        _sift(order, keys, 0, last, place)


def _sift(heap: Order, keys: list[int], hole: int, n: int, place: int) -> None:
    """Fill a hole in the heap of the first n: children move up to the bottom, from where `place` climbs."""
    top, child = hole, hole
    while child < (n - 1) // 2:
        child = 2 * child + 2
        if keys[heap[child]] < keys[heap[child - 1]]:
            child -= 1
        heap[hole], hole = heap[child], child
    if n % 2 == 0 and child == (n - 2) // 2:
        heap[hole], hole = heap[2 * child + 1], 2 * child + 1
    while hole > top and keys[heap[(hole - 1) // 2]] < keys[place]:
        heap[hole], hole = heap[(hole - 1) // 2], (hole - 1) // 2
    heap[hole] = place
