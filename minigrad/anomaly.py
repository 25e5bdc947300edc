"""Anomaly detection: stop a backward pass at the first node that makes a nan, and say which line that node came from.

`with autograd.detect_anomaly():` around forward and backward.  PyTorch names the node; we add the student's line, and,
when the forward pass already held something that is not finite, the first operation that produced it.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minigrad import errors
from minigrad.birthplace import quoted, traced
from minigrad.tensor import Tensor


class _State:
    """Whether the check is on (for all threads, as in PyTorch)."""

    enabled = False
    check_nan = True


state = _State()


def evaluated(node: Any, g: Any, create_graph: bool) -> Any:
    """The contributions of `node`, looked at; where it fails, a warning first says which line made it."""
    try:
        with np.errstate(all="ignore"):  # who looks for a nan needs no warning of numpy's beside it
            found = node.evaluate(g, create_graph)
        if state.check_nan:
            check(node, [share for (share,) in found[1]])
    except Exception:
        tell(node)
        raise
    return found


def check(node: Any, shares: list[Any]) -> None:
    """Raise if a contribution of `node` holds a nan."""
    for place, share in enumerate(shares):
        raw = share._data if isinstance(share, Tensor) else share
        if raw is None or raw.dtype.kind != "f" or not np.isnan(raw).any():
            continue
        error = RuntimeError(f"Function '{node.owner.name()}' returned nan values in its {place}th output.")
        where = quoted(node.code, node.at)
        error.add_note(f"minigrad: {node.owner.name()} was recorded{where}; {_origin(node)}")
        raise error


def tell(node: Any) -> None:
    """PyTorch's warning before the error: where the forward pass made the node that fails."""
    where = "" if node.code is None else traced(node.code, node.at)
    warnings.warn(
        f"Error detected in {node.owner.name()}. Traceback of forward call that caused the error:\n{where}",
        UserWarning,
        stacklevel=2,
    )


def _origin(node: Any) -> str:
    """The oldest recorded operation whose kept numbers are already not finite, in words."""
    suspects, stack, seen = [], [node], {node}
    while stack:
        current = stack.pop()
        values = [v for args in current.kept or () if args for v in args if getattr(v, "dtype", None) is not None]
        if any(v.dtype.kind == "f" and not np.isfinite(v).all() for v in values):
            suspects.append(current)
        for parent in current.parents:
            if parent is not None and parent not in seen:
                seen.add(parent)
                stack.append(parent)
    if not suspects:
        return "its inputs are finite, so its rule is where the nan appears (0 times infinity, or 0 divided by 0)."
    first = max(suspects, key=lambda n: n.seq)
    return f"the first numbers that are not finite were met by {first.owner.name()}{quoted(first.code, first.at)}."


class _Quietly:
    """As a context manager: numpy keeps its own warnings to itself, and at its end the check is as it was before."""

    before: tuple[bool, bool]

    def __enter__(self) -> None:
        self.quiet = np.errstate(all="ignore")  # who looks for a nan needs no warning of numpy's beside it
        self.quiet.__enter__()

    def __exit__(self, *_: object) -> None:
        self.quiet.__exit__(None, None, None)
        state.enabled, state.check_nan = self.before


class detect_anomaly(_Quietly):
    """Context manager: check every gradient for nan.  Warns once that it slows a program down."""

    def __init__(self, check_nan: bool = True) -> None:
        self.before = state.enabled, state.check_nan
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            UserWarning,
            stacklevel=2,
        )

    def __enter__(self) -> None:
        state.enabled, state.check_nan = True, self.check_nan
        super().__enter__()


class set_detect_anomaly(_Quietly):
    """Switch the check on or off, at once; as a context manager, switch back at the end."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        if not isinstance(mode, bool):
            raise TypeError(errors.must_be_bool("set_anomaly_enabled", "enabled", mode))
        self.before = state.enabled, state.check_nan
        state.enabled, state.check_nan = mode, check_nan
