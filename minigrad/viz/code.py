"""The student's lines beside the graph, and which piece of them made which tensor.

`code_of(recording)` gives blocks of code (a cell, a function) with the lines that made something, and for each tensor
the place of its expression, from the column numbers that Python keeps for each instruction.
"""

from __future__ import annotations

import linecache
import os
from types import CodeType
from typing import Any

from ..record.recording import Recording

Span = tuple[int, int, int, int]  # first line, column, last line, column: lines from 1, columns in letters from 0
MOST_LINES = 120
GAP = 2  # lines between two that made something are shown up to so many


def code_of(recording: Recording) -> tuple[list[dict[str, Any]], list[list[int] | None]]:
    """Blocks `{title, lines: [[number, text], ...]}`, and for each tensor [block, line, column, line, column]."""
    wanted: dict[CodeType, set[int]] = {}  # the lines of each piece of code that are shown
    found: list[tuple[CodeType, Span] | None] = []
    for place in recording.places:
        span = None if place.site is None else span_of(*place.site)
        if place.site is None or span is None or (place.leaf and not place.expression and not place.source):
            found.append(None)
            continue
        code = place.site[0]
        found.append((code, span))
        if not place.leaf:
            wanted.setdefault(code, set()).update(range(span[0], span[2] + 1))
    shown = sorted(wanted, key=lambda code: (code.co_filename, code.co_firstlineno))
    made: list[dict[str, Any]] = []
    where: dict[CodeType, tuple[int, int, dict[int, int]]] = {}
    room = MOST_LINES
    for code in shown:
        lines, indent, rows = lines_of(code, wanted[code], room)
        room -= len(lines)
        if lines:
            where[code] = (len(made), indent, rows)
            made.append({"title": title_of(code, len(shown)), "lines": lines})
    return made, [None if entry is None else placed(*entry, where) for entry in found]


def span_of(code: CodeType, at: int) -> Span | None:
    """Where the instruction at offset `at` stands; None where the source is not to be had."""
    positions = list(code.co_positions())
    if at // 2 >= len(positions) or not all(n is not None for n in positions[at // 2]):
        return None
    first, last, left, right = positions[at // 2]
    assert first is not None and last is not None and left is not None and right is not None
    if not linecache.getline(code.co_filename, first):
        return None
    return first, letters(code, first, left), last, letters(code, last, right)


def letters(code: CodeType, line: int, column: int) -> int:
    """A column in letters: Python counts bytes."""
    return len(linecache.getline(code.co_filename, line).encode()[:column].decode(errors="replace"))


def lines_of(code: CodeType, wanted: set[int], room: int) -> tuple[list[list[Any]], int, dict[int, int]]:
    """Numbered lines without their common indentation, that indentation, and in which row each number stands."""
    start = {code.co_firstlineno} if code.co_name.isidentifier() else set()  # a function begins with its def
    numbers: list[int] = []
    for n in sorted(wanted | start):
        if numbers and n - numbers[-1] > GAP + 1:
            numbers.append(0)
        elif numbers and numbers[-1]:
            numbers.extend(range(numbers[-1] + 1, n))
        numbers.append(n)
    numbers = numbers[:room]
    texts = {n: linecache.getline(code.co_filename, n).rstrip().expandtabs(4) if n else "" for n in numbers}
    indent = min((len(t) - len(t.lstrip()) for t in texts.values() if t.strip()), default=0)
    rows = {n: i for i, n in enumerate(numbers) if n}
    return [[n, texts[n][indent:]] for n in numbers], indent, rows


def title_of(code: CodeType, count: int) -> str:
    """Where the lines are from, if that is not plain: a function's name, a file's."""
    name = code.co_qualname if code.co_name.isidentifier() else ""
    file = code.co_filename
    real = not (file.startswith("<") or "ipykernel" in file)
    parts = [f"in {name}" if name else "", os.path.basename(file) if real else ""]
    return ", ".join(part for part in parts if part) if count > 1 or name else parts[1]


def placed(code: CodeType, span: Span, where: dict[CodeType, tuple[int, int, dict[int, int]]]) -> list[int] | None:
    """A span in the numbers of the shown block; None where its lines are left out."""
    if code not in where:
        return None
    block, indent, rows = where[code]
    first, left, last, right = span
    if first not in rows or last not in rows:
        return None
    return [block, rows[first], max(0, left - indent), rows[last], max(0, right - indent)]
