"""Numbers as text: the same few digits on every machine, and an array in a few words."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


class Extent(np.ndarray[Any, Any]):
    """Stands for an array that is too large to be copied: its shape and dtype, a corner, and how far its numbers go.

    It holds no memory of that shape.  `facts`: norm, lo, hi, top (largest finite size), bad (how many are not finite).
    """

    corner: Array
    facts: dict[str, Any]

    @classmethod
    def of(cls, shape: tuple[int, ...], corner: Array, facts: dict[str, Any]) -> "Extent":
        """One with this shape; corner: the first rows and columns."""
        made = np.broadcast_to(np.zeros((), corner.dtype), shape).view(cls)
        made.corner, made.facts = corner, facts
        return made


def large(*values: Any) -> bool:
    """Whether one of them stands for a larger array."""
    return any(isinstance(each, Extent) for each in values)


def number(value: Any) -> str:
    """A number with four significant digits, whole numbers in full, the same text on every machine."""
    if np.iscomplexobj(value):
        imaginary = number(value.imag)
        return f"{number(value.real)}{'' if imaginary[0] == '-' else '+'}{imaginary}j"
    x = float(value)
    if not np.isfinite(x):
        return str(x)
    if x == int(x) and abs(x) < 1e6:
        return str(int(x))
    x = float(f"{x:.4g}")
    if 1e-4 <= abs(x) < 1e6:
        return f"{x:.8f}".rstrip("0").rstrip(".")
    digits, exponent = f"{x:.3e}".split("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}"


def rounded(value: Any) -> float | int | str:
    """The number that `number` prints, for JSON; non-finite ones as the strings nan, inf and -inf."""
    text = number(value)
    # nan, inf, 2+1j
    if text[-1].isalpha():
        return text
    whole = text.lstrip("-").isdigit()
    return int(text) if whole else float(text)


def short(array: Array) -> str:
    """An array in a few words: a number, a short list, or its shape and length."""
    if array.ndim == 0:
        return number(array)
    if array.size <= 6 and array.ndim <= 2:
        return "[" + ", ".join(map(short, array)) + "]"
    sizes = "\u00d7".join(map(str, array.shape))
    return f"{sizes} numbers, size {number(norm(array))}"


def norm(array: Array) -> float:
    """Square root of the sum of squares, without overflow on the way."""
    return float(facts_of(array)["norm"])


def facts_of(array: Array) -> dict[str, Any]:
    """How far the numbers of an array go; of complex ones their sizes.  A large array is not copied."""
    if isinstance(array, Extent):
        return array.facts
    x = np.abs(array) if np.iscomplexobj(array) else array
    low, high = (x.min(), x.max()) if x.size else (0, 0)
    good = x if np.isfinite([low, high]).all() else x[np.isfinite(x)]
    top = float(max(good.max(initial=0), -float(good.min(initial=0))))
    # in float64, some numbers at a time; what would overflow there is divided first
    scale = 1.0 if 1e-100 < top < 1e100 else top or 1.0
    near, axes = x if scale == 1 else x / scale, [*range(x.ndim)]
    product: list[Any] = [near, axes, near, axes, []]
    squares = np.einsum(*product, dtype="f8", casting="unsafe")
    bad = x.size - good.size
    size = scale * float(squares**0.5)
    return {"top": top, "norm": size, "lo": low, "hi": high, "bad": bad}
