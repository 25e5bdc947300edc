"""How a tensor is printed, character by character as PyTorch prints it.

`format_tensor` turns an array into text such as `tensor([2., 4.], grad_fn=<MulBackward0>)`. Three decisions
make that text: which elements are shown (more than 1000 are summarised), one number format for all of them
(whole numbers as `2.`, four decimals, or scientific), and how the lines break at 80 columns.
`set_printoptions` changes the numbers in those rules. Only `shown` knows about tensors and gradients: all else sees
an array and a few facts.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad import dtypes

Array = np.ndarray[Any, np.dtype[Any]]


class _Options:
    """The five numbers that `set_printoptions` changes."""

    precision: int = 4  # digits after the point
    threshold: float = 1000  # with more elements, show only the edges
    edgeitems: int = 3  # how many at each edge of a dimension
    linewidth: int = 80
    sci_mode: bool | None = None  # None: decide from the values


_PROFILES: dict[str, tuple[int, float, int, int]] = {
    "default": (4, 1000, 3, 80),
    "short": (2, 1000, 2, 80),
    "full": (4, math.inf, 3, 80),
}
options = _Options()


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
    if profile is not None and profile.lower() in _PROFILES:
        values = _PROFILES[profile.lower()]
        options.precision, options.threshold, options.edgeitems, options.linewidth = values
    if precision is not None:
        options.precision = precision
    if threshold is not None:
        options.threshold = threshold
    if edgeitems is not None:
        options.edgeitems = edgeitems
    if linewidth is not None:
        options.linewidth = linewidth
    options.sci_mode = sci_mode


class _NumberFormat:
    """One format for all the numbers of a tensor, chosen from the elements that will be shown."""

    def __init__(self, shown: Array) -> None:
        self.floating = shown.dtype.kind == "f"
        self.integral = True
        self.scientific = False
        self.width = 1
        if not self.floating:
            self.width = max((len(str(value)) for value in shown.reshape(-1).tolist()), default=1)
            return

        values = shown.reshape(-1).astype(np.float64)
        values = values[np.isfinite(values) & (values != 0)]
        if values.size == 0:
            return
        magnitudes = np.abs(values)
        smallest, largest = float(magnitudes.min()), float(magnitudes.max())
        self.integral = bool((values == np.ceil(values)).all())
        wide = largest > 1e8 or largest / smallest > 1000
        self.scientific = wide or (not self.integral and smallest < 1e-4)
        if options.sci_mode is not None:
            self.scientific = options.sci_mode
        self.width = max(len(self._digits(value)) for value in values.tolist())

    def _digits(self, value: float) -> str:
        if self.scientific:
            return f"{value:.{options.precision}e}"
        if self.integral:
            return f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}"
        return f"{value:.{options.precision}f}"

    def __call__(self, value: Any) -> str:
        return (self._digits(value) if self.floating else str(value)).rjust(self.width)


def _edges(array: Array) -> Array:
    """The elements a summary shows: the first and last few along each dimension."""
    keep = options.edgeitems
    for dim, size in enumerate(array.shape):
        if size > 2 * keep:
            edge = np.r_[0:keep, size - keep : size]
            array = array.take(edge, axis=dim)
    return array


def _body(array: Array, summarise: bool, indent: int, number: _NumberFormat) -> str:
    """The nested brackets. `indent` is the column of the opening one."""
    if array.ndim == 0:
        return number(array.item())
    keep = options.edgeitems
    shorten = summarise and len(array) > 2 * keep

    if array.ndim == 1:
        if shorten:
            first, last = array[:keep].tolist(), array[len(array) - keep :].tolist()
            words = [*map(number, first), " ..." if keep else "...", *map(number, last)]
        else:
            words = [number(value) for value in array.tolist()]
        per_line = max(1, (options.linewidth - indent) // (number.width + 2))
        lines = [", ".join(words[start : start + per_line]) for start in range(0, len(words), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"

    def rows(part: Array) -> list[str]:
        return [_body(row, summarise, indent + 1, number) for row in part]

    parts = [*rows(array[:keep]), "...", *rows(array[len(array) - keep :])] if shorten else rows(array)
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _with_suffixes(text: str, suffixes: list[str], indent: int) -> str:
    """Append `, dtype=...` and the like, each on the last line while it fits, else on a line of its own."""
    last_line = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if last_line + len(suffix) + 2 > options.linewidth:
            text += ",\n" + " " * indent + suffix
            last_line = indent + len(suffix)
        else:
            text += ", " + suffix
            last_line += len(suffix) + 2
    return text + ")"


def shown(tensor: Any) -> str:
    """The printed form of a tensor of this engine."""
    try:
        grad_fn_name = None if tensor.is_leaf else type(tensor._node.owner).__name__
    except RuntimeError:  # a view that could not follow a write to its base: PyTorch says so where it is printed
        grad_fn_name = "Invalid"
    return format_tensor(tensor._data, requires_grad=tensor.requires_grad, grad_fn_name=grad_fn_name)


def format_tensor(
    array: Any,
    *,
    requires_grad: bool = False,
    grad_fn_name: str | None = None,
    default_dtype: Any = None,
    name: str = "tensor",
) -> str:
    """The printed form of a tensor.

    `array` is an ndarray or numpy scalar; `grad_fn_name` is that of its node ("MulBackward0") or None;
    `default_dtype` is the floating-point numpy dtype that goes without saying (None: the engine's default).
    """
    array = np.asarray(array)
    default = dtypes.get_default_dtype().numpy if default_dtype is None else np.dtype(default_dtype)
    indent = len(name) + 1
    suffixes = []

    if array.size == 0:
        body = "[]"
        dtype_goes_without_saying = array.dtype == default
    else:
        summarise = array.size > options.threshold
        shown = _edges(array) if summarise else array
        body = _body(array, summarise, indent, _NumberFormat(shown))
        dtype_goes_without_saying = array.dtype == default or array.dtype in (np.int64, np.bool_)
    if array.ndim != 1 if array.size == 0 else options.edgeitems == 0:
        suffixes.append(f"size={tuple(array.shape)}")
    if not dtype_goes_without_saying:
        suffixes.append(f"dtype=torch.{array.dtype.name}")

    if grad_fn_name is not None:
        suffixes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    return _with_suffixes(f"{name}({body}", suffixes, indent)
