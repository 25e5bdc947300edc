"""Anomaly detection: stop a backward pass at the first node that makes a nan, and say which line that node came from.

`with autograd.detect_anomaly():` around forward and backward.  PyTorch names the node; we add the user's line and, when
the forward pass already held something that is not finite, the first operation that met it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import errors, tape
from ..errors import line_number, quoted, source_line
from ..tape import Walk
from ..tensor import Node

FLOATS = (np.float16, np.float32, np.float64)
ENABLED = (
    "Anomaly Detection has been enabled. This mode will increase the runtime "
    "and should only be enabled for debugging."
)
FAILED = "Error detected in {}. Traceback of forward call that caused the error:\n{}"
HINT = (
    "the backtrace further above shows the operation that failed to compute "
    "its gradient. The variable in question was changed in there or anywhere later. "
    "Good luck!"
)


class AnomalyWalk(Walk):
    """A backward pass that looks at every contribution."""

    check_nan = True

    def contributions(self, node: Node, g: Any) -> Sequence[Any]:
        try:
            with np.errstate(all="ignore"):
                found = super().contributions(node, g)
            if self.check_nan:
                for place, contribution in enumerate(found):
                    check(node, place, contribution)
        except Exception as error:
            text = FAILED.format(node.owner.name(), traced(node))
            warnings.warn(text, stacklevel=2)
            if errors.HINT in str(error):
                error.args = (str(error).replace(errors.HINT, HINT),)
            raise
        return found


class UncheckedWalk(AnomalyWalk):
    """The same where a nan is no error: only errors are told where they come from."""

    check_nan = False


def check(node: Node, place: int, contribution: Any) -> None:
    """RuntimeError if a contribution of `node` holds a nan."""
    raw = getattr(contribution, "_data", contribution)
    if raw is None or raw.dtype.kind != "f" or not np.isnan(raw).any():
        return
    name = node.owner.name()
    error = RuntimeError(f"Function '{name}' returned nan values in its {place}th output.")
    error.add_note(f"minigrad: {name} was recorded{quoted(node.code, node.at)}; {origin(node)}")
    raise error


def origin(node: Node) -> str:
    """The oldest recorded operation whose saved numbers are already not finite, in words."""
    suspects = [each for each in tape.ancestors([node], 0) if saved_infinity(each)]
    if not suspects:
        return (
            "its inputs are finite, so its rule is where the nan appears "
            "(0 times infinity, or 0 divided by 0)."
        )
    first = min(suspects, key=lambda each: each.seq)
    line = quoted(first.code, first.at)
    return f"the first numbers that are not finite were met by {first.owner.name()}{line}."


def saved_infinity(node: Node) -> bool:
    """Whether a node saved numbers that are not finite."""
    values = [value for each in node.saved or () if isinstance(each, tuple) for value in each]
    floats = [value for value in values if getattr(value, "dtype", None) in FLOATS]
    return any(not np.isfinite(value).all() for value in floats)


def traced(node: Node) -> str:
    """The call site as a traceback gives it: file, line and function, and below it the source."""
    code, line = node.code, source_line(node.code, node.at)
    number = line_number(code, node.at)
    place = f'  File "{code.co_filename}", line {number}, in {code.co_name}\n'
    return place + (f"    {line}\n" if line else "")


class set_detect_anomaly:
    """Switch the check on or off, at once; as a context manager, switch back at the end."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.before = tape.chosen
        tape.choose((AnomalyWalk if check_nan else UncheckedWalk) if mode else None)

    def __enter__(self) -> None:
        """The check is on already."""

    def __exit__(self, *_: object) -> None:
        tape.choose(self.before)


class detect_anomaly(set_detect_anomaly):
    """Context manager: check every contribution for nan.  Warns that it slows a program down."""

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warnings.warn(ENABLED, stacklevel=2)

    def __enter__(self) -> None:
        super().__init__(True, self.check_nan)
