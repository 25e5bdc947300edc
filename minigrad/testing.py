"""torch.testing: `assert_close`, which says how far two results are apart, and where."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from minigrad import dtypes
from minigrad.creation import as_tensor
from minigrad.tensor import Tensor

TOLERANCES = {"float16": (1e-3, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}  # relative, absolute


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """AssertionError unless |actual - expected| <= atol + rtol * |expected| everywhere, with equal shapes and types.

    Takes tensors, arrays, numbers, and sequences or mappings of them. The tolerances depend on the type unless both are
    given: a ValueError if only one is. TypeError for anything else. `msg` replaces the message, or changes it.
    """
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    tolerance = None if rtol is None or atol is None else (rtol, atol)
    problem = _difference(actual, expected, tolerance, equal_nan, check_dtype, "")
    if problem is None:
        return
    raise AssertionError(problem if msg is None else msg(problem) if callable(msg) else msg)


def _difference(
    actual: Any, expected: Any, tolerance: tuple[float, float] | None, equal_nan: bool, check_dtype: bool, place: str
) -> str | None:
    """What is wrong, or None."""
    where = f"\n\nThe failure occurred for item {place}" if place else ""
    settings = (tolerance, equal_nan, check_dtype)
    if actual is None or expected is None:
        return None if actual is expected else f"None mismatch: {actual} is not {expected}{where}"
    if isinstance(actual, bool) and isinstance(expected, bool):
        return None if actual is expected else f"Booleans mismatch: {actual} is not {expected}{where}"
    if _is(actual, expected, Sequence):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{where}"
        pairs = [(a, b, f"{place}[{i}]") for i, (a, b) in enumerate(zip(actual, expected, strict=True))]
    elif _is(actual, expected, Mapping):
        if actual.keys() != expected.keys():
            missing, more = (sorted(map(str, a.keys() - b.keys())) for a, b in ((expected, actual), (actual, expected)))
            return (
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {missing}\nAdditional keys in the actual mapping: {more}{where}"
            )
        pairs = [(actual[k], expected[k], f"{place}[{k!r}]") for k in expected]
    else:
        numbers = all(isinstance(v, (bool, int, float)) for v in (actual, expected))
        if not numbers and not all(isinstance(v, (Tensor, np.ndarray, np.generic)) for v in (actual, expected)):
            raise TypeError(
                f"No comparison pair was able to handle inputs of type {_type(actual)} and {_type(expected)}.{where}"
            )
        if numbers and check_dtype and type(actual) is not type(expected):
            return f"The (d)types do not match: {type(actual)} != {type(expected)}.{where}"
        found = _apart(actual, expected, numbers, *settings)
        return found and found + where
    return next((found for a, b, at in pairs if (found := _difference(a, b, *settings, at))), None)


def _type(value: Any) -> str:
    return "<class 'torch.Tensor'>" if type(value) is Tensor else str(type(value))


def _is(actual: Any, expected: Any, kind: type) -> bool:
    return all(isinstance(v, kind) and not isinstance(v, str) for v in (actual, expected))


def _apart(
    actual: Any, expected: Any, numbers: bool, tolerance: tuple[float, float] | None, equal_nan: bool, check_dtype: bool
) -> str | None:
    a, b = (as_tensor(v, dtype=dtypes.float64 if numbers and isinstance(v, float) else None) for v in (actual, expected))
    if a.shape != b.shape:
        return f"The values for attribute 'shape' do not match: {a.shape} != {b.shape}."
    if check_dtype and not numbers and a.dtype is not b.dtype:
        return f"The values for attribute 'dtype' do not match: {a.dtype} != {b.dtype}."
    kinds = [TOLERANCES.get(str(t.dtype).rpartition(".")[2], (0.0, 0.0)) for t in (a, b)]
    rtol, atol = tolerance or (max(k[0] for k in kinds), max(k[1] for k in kinds))
    x, y = (np.asarray(t._data, np.float64 if t.dtype.is_floating_point else None) for t in (a, b))
    close = np.isclose(x, y, rtol, atol, equal_nan)
    if close.all():
        return None
    equal = rtol == atol == 0
    away = np.where(close, 0.0, np.abs(x.astype(np.float64) - y))
    apart = np.where(close, 0.0, away / np.abs(y))
    floating = a.dtype.is_floating_point
    kind = a._data.dtype if floating else np.dtype(np.float64 if numbers else np.float32)

    def allowed(limit: float) -> str:
        return "" if equal else f" (up to {limit} allowed)"

    if not a.dim():
        first = f"Scalars are not {'equal' if equal else 'close'}!\n\nExpected {b.item()} but got {a.item()}.\n"
        return (
            f"{first}Absolute difference: {_shown(away, kind, not floating)}{allowed(atol)}\n"
            f"Relative difference: {_shown(apart, kind)}{allowed(rtol)}"
        )
    wrong = int((~close).sum())
    places = [tuple(map(int, np.unravel_index(int(np.argmax(d)), d.shape))) for d in (away, apart)]
    return (
        f"Tensor-likes are not {'equal' if equal else 'close'}!\n\n"
        f"Mismatched elements: {wrong} / {close.size} ({wrong / close.size:.1%})\n"
        f"Greatest absolute difference: {_shown(away[places[0]], kind, not floating)} at index {places[0]}{allowed(atol)}\n"
        f"Greatest relative difference: {_shown(apart[places[1]], kind)} at index {places[1]}{allowed(rtol)}"
    )


def _shown(value: Any, kind: Any, whole: bool = False) -> Any:
    return int(value) if whole else float(np.asarray(value).astype(kind))
