"""How a tensor is printed, character by character as PyTorch prints it: `tensor([2., 4.], grad_fn=<MulBackward0>)`.

Three decisions make the text: which elements are shown (more than 1000 are summarised), one number format for all of
them (whole numbers as `2.`, four decimals, or scientific), and where lines break at 80 columns.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import dtypes

Array = np.ndarray[Any, np.dtype[Any]]
PROFILES = {
    "default": (4, 1000, 3, 80),
    "short": (2, 1000, 2, 80),
    "full": (4, math.inf, 3, 80),
}


class options:
    """The numbers that `set_printoptions` changes."""

    # digits after the point
    precision: int = 4
    # with more elements, show only the edges
    threshold: float = 1000
    # how many at each edge of a dimension
    edgeitems: int = 3
    linewidth: int = 80
    # None: decide from the values
    sci_mode: bool | None = None


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors print; what is not given stays, except `sci_mode`, which goes back to automatic.

    `profile` is "default", "short" or "full" (never summarise); the other arguments apply on top of it.
    """
    names = ("precision", "threshold", "edgeitems", "linewidth")
    for values in (PROFILES.get(profile or "", ()), (precision, threshold, edgeitems, linewidth)):
        for name, value in zip(names, values):
            if value is not None:
                setattr(options, name, value)
    options.sci_mode = sci_mode


class NumberFormat:
    """One format for all the numbers of a tensor, chosen from the elements that will be shown."""

    def __init__(self, shown: Array) -> None:
        self.floating = shown.dtype.kind == "f"
        self.whole, self.scientific = True, False
        values = shown.reshape(-1)
        if self.floating:
            values = values.astype(np.float64)
            values = values[np.isfinite(values) & (values != 0)]
        if self.floating and values.size:
            sizes = np.abs(values)
            small, large = float(sizes.min()), float(sizes.max())
            self.whole = bool((values == np.ceil(values)).all())
            self.scientific = large > 1e8 or large / small > 1000 or (not self.whole and small < 1e-4)
            if options.sci_mode is not None:
                self.scientific = options.sci_mode
        self.width = max((len(self.digits(x)) for x in values.tolist()), default=1)

    def digits(self, x: Any) -> str:
        if not self.floating:
            return str(x)
        if self.scientific:
            return f"{x:.{options.precision}e}"
        if self.whole:
            return f"{x:.0f}." if math.isfinite(x) else f"{x:.0f}"
        return f"{x:.{options.precision}f}"

    def __call__(self, x: Any) -> str:
        return self.digits(x).rjust(self.width)


def _edges(array: Array) -> Array:
    """The elements that a summary shows: the first and last few along each dimension."""
    edge = options.edgeitems
    for dim, size in enumerate(array.shape):
        if size > 2 * edge:
            array = array.take(np.r_[0:edge, size - edge : size], axis=dim)
    return array


def _body(array: Array, summarised: bool, indent: int, number: NumberFormat) -> str:
    """The nested brackets; `indent` is the column of the opening one."""
    if array.ndim == 0:
        return number(array.item())
    edge = options.edgeitems
    shortened = summarised and len(array) > 2 * edge
    first, last = (array[:edge], array[len(array) - edge :]) if shortened else (array, array[:0])
    if array.ndim == 1:
        words = [number(x) for x in first.tolist()]
        if shortened:
            words += [" ..." if edge else "...", *map(number, last.tolist())]
        count = max(1, (options.linewidth - indent) // (number.width + 2))
        parts = [", ".join(words[i : i + count]) for i in range(0, len(words), count)]
    else:
        parts = [_body(row, summarised, indent + 1, number) for row in first]
        if shortened:
            parts += ["...", *(_body(row, summarised, indent + 1, number) for row in last)]
    gap = "," + "\n" * max(1, array.ndim - 1) + " " * (indent + 1)
    return f"[{gap.join(parts)}]"


def _with_suffixes(text: str, suffixes: list[str], indent: int) -> str:
    """Append `, dtype=...` and the like, each on the last line while it fits, else on a line of its own."""
    column = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if column + len(suffix) + 2 > options.linewidth:
            text += ",\n" + " " * indent + suffix
            column = indent + len(suffix)
        else:
            text += ", " + suffix
            column += len(suffix) + 2
    return text + ")"


def shown(tensor: Any) -> str:
    """The printed form of a tensor."""
    array = np.asarray(tensor._data)
    kind = array.dtype
    plain = [dtypes.get_default_dtype().numpy]
    suffixes = []
    if array.size:
        summarised = array.size > options.threshold
        number = NumberFormat(_edges(array) if summarised else array)
        body = _body(array, summarised, len("tensor("), number)
        plain += [np.dtype(np.int64), np.dtype(np.bool_)]
    else:
        body = "[]"
    if (array.ndim != 1) if not array.size else not options.edgeitems:
        suffixes.append(f"size={tuple(array.shape)}")
    if kind not in plain:
        suffixes.append(f"dtype=torch.{kind.name}")
    name = _node_name(tensor)
    if name:
        suffixes.append(f"grad_fn=<{name}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    return _with_suffixes(f"tensor({body}", suffixes, len("tensor("))


def _node_name(tensor: Any) -> str:
    try:
        node = tensor.grad_fn
    # a view whose memory was written to, and which may not be used any more
    except RuntimeError:
        return "Invalid"
    return "" if node is None else type(node).__name__
