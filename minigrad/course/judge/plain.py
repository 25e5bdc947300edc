"""What came back from a student as plain data: numbers, letters, lists, and what sort of thing it is."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..exercise import Raises
from ..student.wire import Tensor


def is_nothing(answer: Any) -> bool:
    """True for None, and for lists of nothing else."""
    return answer is None or (isinstance(answer, list | tuple) and all(map(is_nothing, answer)))


def size_of(answer: Any) -> int:
    """How many numbers an answer holds, in all its parts."""
    if isinstance(answer, list | tuple):
        return sum(map(size_of, answer))
    array = as_numbers(answer)
    return 1 if array is None else array.size


def as_numbers(value: Any) -> np.ndarray[Any, Any] | None:
    """An array of numbers, or None if it is none."""
    if isinstance(value, Tensor):
        return value.array
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, bool | int | float | np.generic) or (isinstance(value, list | tuple) and flat_numbers(value)):
        try:
            array = np.array(bare(value))
        except (ValueError, OverflowError):
            return None
        return array if array.dtype.kind in "biuf" else None
    return None


def bare(value: Any) -> Any:
    """Lists of tensors as lists of arrays."""
    if isinstance(value, list | tuple):
        return [bare(each) for each in value]
    return value.array if isinstance(value, Tensor) else value


def flat_numbers(value: Any) -> bool:
    """True for a (nested, rectangular) list or tuple of bare numbers."""
    if isinstance(value, list | tuple):
        inner = [v for v in value if isinstance(v, list | tuple)]
        if inner and len(inner) != len(value):
            return False
        return all(flat_numbers(v) for v in value) and len({len(v) for v in inner}) <= 1
    if isinstance(value, Tensor):
        return value.array.ndim == 0
    return isinstance(value, bool | int | float | np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0)


def truths_among(answer: Any) -> bool:
    """True for a list in which True or False stands."""
    return isinstance(answer, list | tuple) and any(isinstance(v, bool | np.bool_) for v in answer)


def numbers_of(answer: Any) -> list[int]:
    """A list of whole numbers out of a list, tuple, array or a string such as "3 1 2"; [] if it is none."""
    if isinstance(answer, str) or type(answer) is int:
        words = re.findall(r"\d{1,9}", str(answer)[:1000])
        answer = [int(word) for word in (words[0] if len(words) == 1 else words)]
    if isinstance(answer, list | tuple) and all(isinstance(n, str) and re.fullmatch(r"\d{1,9}", n) for n in answer):
        answer = [int(n) for n in answer]
    array = as_numbers(answer)
    if array is None or array.ndim != 1 or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        return []
    if (array != np.floor(array)).any():
        return []
    return [int(n) for n in array]


def option(answer: Any) -> str:
    """A letter as the student may have written it: b, B., (b), "b"."""
    if isinstance(answer, str):
        return answer.strip(" \t\n.,:;()[]`'\"").lower()
    return str(answer) if isinstance(answer, int) else ""


def plain_value(answer: Any) -> Any:
    """Tensors as arrays, numpy scalars and 0-d arrays as Python numbers."""
    if isinstance(answer, Tensor):
        answer = answer.array
    single = isinstance(answer, np.generic) or (isinstance(answer, np.ndarray) and not answer.ndim)
    return answer.item() if single else answer


def finite(truth: Any) -> bool:
    """True if an oracle's answer holds no nan and no infinity."""
    if isinstance(truth, list | tuple) and not flat_numbers(truth):
        return all(finite(t) for t in truth)
    array = as_numbers(truth)
    return array is None or bool(np.isfinite(array.astype(float)).all())


def holds_ellipsis(answer: Any) -> bool:
    """True for `...`, also inside a list."""
    if isinstance(answer, list | tuple):
        return any(holds_ellipsis(a) for a in answer)
    return answer is ...


def kind_of(value: Any) -> str:
    """A value's kind in a beginner's words."""
    if isinstance(value, Raises):
        return "an error"
    if value is None:
        return "None"
    if isinstance(value, bool | np.bool_):
        return f"a truth value ({bool(value)})"
    if isinstance(value, str):
        return f"a string ({value[:30]!r})"
    if isinstance(value, np.ndarray):
        return "an array" if value.ndim else "a number"
    if isinstance(value, list | tuple) and as_numbers(value) is None:
        odd = [v for v in value if v is None or isinstance(v, str | dict)]
        if odd:
            return f"a {type(value).__name__} that holds {kind_of(odd[0])}"
        if any(isinstance(v, list | tuple) for v in value) and any(not isinstance(v, list | tuple) for v in value):
            return f"a {type(value).__name__} that holds a {type(value).__name__} among other things"
    names = {int: "a whole number", float: "a number", list: "a list", tuple: "a tuple", dict: "a dict",
             Tensor: "a tensor", np.float64: "a number"}  # fmt: skip
    return names.get(type(value), f"a {type(value).__name__}")
