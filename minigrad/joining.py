"""Several tensors as one: one after another, or as the slices of a new dimension.

The node of such a tensor has any number of inputs; each takes its own part of the gradient.
"""

# mypy: disable-error-code="no-any-return"
# (operations are typed Any: the same functions take arrays and Tensors)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minigrad import derivatives as table
from minigrad import dtypes, errors, layout
from minigrad.errors import check_dim
from minigrad.public import accepting_out, check_out, converted, into, register
from minigrad.shapes import reshape
from minigrad.tape import Node, mode, record
from minigrad.tensor import Tensor, wrap


class Joined(Node):
    """The node of a tensor made of any number of others; what it keeps for input i takes i's part of a gradient."""

    __slots__ = ()

    def lift(self, kept: Any) -> tuple[Any, ...]:
        return tuple(kept)

    def contributions(self, g: Any, create_graph: bool) -> tuple[Any, ...]:
        return tuple(args[0](g) for args in self.kept or () if args)


KINDS: dict[str, type[Joined]] = {}


def joined(title: str, tensors: Sequence[Tensor], array: Any, parts: Sequence[Any]) -> Tensor:
    """A tensor made of several: `parts[i]` takes from a gradient (an array or a Tensor) what belongs to input i."""
    out = wrap(array)
    parents = tuple(x._node for x in tensors)
    if mode.record is not None and any(p is not None for p in parents):
        kind = KINDS.setdefault(title, type(title, (Joined,), {"__slots__": ()}))
        node = record(kind, parents, tuple((part,) for part in parts), None, array)
        node.rules = (_take_part,) * len(parents)
        out._node = node
    return out


def _take_part(g: Any, part: Any) -> Any:
    return part(g)


def _tensors(name: str, tensors: Any) -> list[Tensor]:
    if not isinstance(tensors, (tuple, list)):
        raise errors.must_be_sequence_of_tensors(name, "tensors", 1, tensors)
    for i, each in enumerate(tensors):
        if not isinstance(each, Tensor):
            raise errors.element_must_be_tensor(name, i, each)
    if not tensors:
        if name == "cat":
            raise ValueError("torch.cat(): expected a non-empty list of Tensors")
        raise RuntimeError(f"{name} expects a non-empty TensorList")
    return list(tensors)


def _common(tensors: Sequence[Tensor]) -> list[Tensor]:
    wanted = dtypes.result_type(*(x._data for x in tensors))
    return [x if x._data.dtype == wanted.numpy else converted(x, wanted) for x in tensors]


def cat(tensors: Any, dim: int = 0, *, axis: int | None = None, out: Any = None) -> Tensor:
    """The tensors one after another along `dim`; their other sizes must be equal.

    >>> torch.cat([torch.zeros(1, 2), torch.ones(1, 2)])
    tensor([[0., 0.],
            [1., 1.]])
    """
    dim = dim if axis is None else axis
    given = _common(_tensors("cat", tensors))
    for i, x in enumerate(given):
        if not x._data.ndim:
            raise RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
    real = [x for x in given if x._data.shape != (0,)] or given
    first = real[0]._data.shape
    where = 0 if first == (0,) else check_dim(dim, len(first))  # nothing but empty vectors: any dim will do
    for i, x in enumerate(real):
        shape = x._data.shape
        if len(shape) != len(first):
            raise RuntimeError(f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}")
        if shape[:where] + shape[where + 1 :] != first[:where] + first[where + 1 :]:
            raise RuntimeError(
                f"Sizes of tensors must match except in dimension {where}. Expected size "
                f"{next(m for d, (m, n) in enumerate(zip(first, shape)) if m != n and d != where)} but got size "
                f"{next(n for d, (m, n) in enumerate(zip(first, shape)) if m != n and d != where)} for tensor number {i} in "
                "the list."
            )
    array = layout.in_order(np.concatenate([x._data for x in real], where))
    parts, start = [], 0
    for x in given:
        stop = start + (x._data.shape[where] if x._data.shape != (0,) or len(first) == 1 else 0)
        key = (slice(None),) * where + (slice(start, stop), Ellipsis)
        parts.append(lambda g, key=key, shape=x._data.shape: _part(g, key, shape))
        start = stop
    result = joined("CatBackward0", given, array, parts)
    if out is None:
        return result
    check_out("cat", out, result, (given,))
    return into(out, result, "cat")


def _part(g: Any, key: Any, shape: tuple[int, ...]) -> Any:
    return table.slice_(g, key).reshape(shape)


for _name in ("cat", "concat", "concatenate"):
    register(cat, _name, method=False)


def stack(tensors: Any, dim: int = 0, *, axis: int | None = None, out: Any = None) -> Tensor:
    """Tensors of one shape as the slices of a new dimension."""
    given = _common(_tensors("stack", tensors))
    first = given[0]._data.shape
    for i, x in enumerate(given):
        if x._data.shape != first:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and "
                f"{list(x._data.shape)} at entry {i}"
            )
    where = check_dim(dim if axis is None else axis, len(first) + 1)
    array = layout.in_order(np.stack([x._data for x in given], where))
    keys = [(slice(None),) * where + (i, Ellipsis) for i in range(len(given))]
    parts = [lambda g, key=key: table.select(g, key) for key in keys]
    result = joined("StackBackward0", given, array, parts)
    if out is None:
        return result
    check_out("stack", out, result, (given,))
    return into(out, result, "stack")


register(stack, "stack", method=False)


def _at_least(n: int) -> Any:
    def one(x: Tensor) -> Tensor:
        shape = tuple(x._data.shape)
        if len(shape) >= n:
            return x
        return reshape(x, {1: (1,), 2: (1, *shape)[-2:] if shape else (1, 1), 3: _to_3d(shape)}[n])

    def call(*tensors: Any) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
            tensors = tuple(tensors[0])
            return tuple(one(x) for x in tensors)
        return one(tensors[0]) if len(tensors) == 1 else tuple(one(x) for x in tensors)

    call.__name__ = f"atleast_{n}d"
    call.__doc__ = f"The tensor (or each of several) with at least {n} dimension{'s' * (n > 1)}; new ones have size 1."
    return call


def _to_3d(shape: tuple[int, ...]) -> tuple[int, ...]:
    return {0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)}.get(len(shape), shape)


atleast_1d, atleast_2d, atleast_3d = map(_at_least, (1, 2, 3))
for _name in ("atleast_1d", "atleast_2d", "atleast_3d"):
    register(globals()[_name], _name, method=False)


def hstack(tensors: Any) -> Tensor:
    """Joined along the second dimension (vectors: the first)."""
    given = [atleast_1d(x) for x in _tensors("hstack", tensors)]
    return cat(given, 0 if given[0]._data.ndim == 1 else 1)


def vstack(tensors: Any) -> Tensor:
    """Joined along the first dimension, vectors as rows."""
    return cat([atleast_2d(x) for x in _tensors("vstack", tensors)], 0)


def dstack(tensors: Any) -> Tensor:
    """Joined along the third dimension."""
    return cat([atleast_3d(x) for x in _tensors("dstack", tensors)], 2)


def column_stack(tensors: Any) -> Tensor:
    """Vectors as the columns of a matrix."""
    given = _tensors("column_stack", tensors)
    return cat([reshape(x, int(x._data.size), 1) if x._data.ndim < 2 else x for x in given], 1)


for _call, *_names in (
    (hstack, "hstack"), (vstack, "vstack", "row_stack"), (dstack, "dstack"), (column_stack, "column_stack")
):  # fmt: skip
    register(accepting_out(_call), *_names, method=False)
