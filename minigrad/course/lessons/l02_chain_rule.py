"""Lesson 02: the chain rule on a graph, worked by hand: numbers to write down, an order to find, edges to draw.

Every wrong answer below is a number that a particular mistake produces at the point (2, 3) or at 3; the numbers are
chosen so that no two mistakes give the same one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..lesson_text import lesson

# --- 2.2 local derivatives ------------------------------------------------------------------------------------


def starts_with(*numbers: float) -> Any:
    """Whether a written list begins with these numbers."""
    return lambda answer: [float(a) for a in answer][: len(numbers)] == [float(n) for n in numbers]


# --- 2.6 and 2.7 a larger graph -------------------------------------------------------------------------------

NODES = ("w", "x", "h", "p", "q", "r", "s")
EDGES = [("w", "h"), ("x", "h"), ("h", "p"), ("h", "q"), ("p", "r"), ("q", "r"), ("r", "s"), ("h", "s")]


def drawn(answer: Any) -> list[tuple[str, str]]:
    """The edges of an answer as pairs."""
    return [(str(start).strip(), str(end).strip()) for start, end in answer]


def with_edges(test: Callable[[list[tuple[str, str]]], bool]) -> Callable[[Any], bool]:
    """A test of an answer's edges; an answer of another form fails it."""

    def applies(answer: Any) -> bool:
        try:
            return test(drawn(answer))
        except (AttributeError, TypeError, ValueError):
            return False

    return applies


def no_pairs(answer: Any) -> bool:
    """Whether a list holds something that is no pair."""
    return not isinstance(answer, str) and any(not isinstance(pair, list | tuple) or len(pair) != 2 for pair in answer)


def follows(h: float) -> Callable[[Any], bool]:
    """Whether a written list begins with this gradient of h, and the other two are not those of the right one."""
    return lambda answer: float(answer[0]) == h and [float(a) for a in answer[1:]] != [70, 105]


LESSON = lesson(__file__, globals(), {"2.6": {"accept": lambda v: sorted(drawn(v)) == sorted(EDGES)}})
