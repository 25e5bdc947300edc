"""Where in the student's code an operation was written: from a code object and an offset back to a line of source.

The tape notes two small things for each operation, the caller's code object and the instruction it was at.  Only when
somebody asks (an error, `explain`, the stepper) are they turned into a line; notebook cells work too, through linecache.
"""

from __future__ import annotations

import linecache
import os
import sys
from types import CodeType, FrameType

PACKAGE = os.path.dirname(__file__)
STUDENT_ROOMS = tuple(os.path.join(PACKAGE, room) for room in ("course", "viz"))


insiders: set[str] = set()  # files that belong to the engine, and files that do not: filled as they are met
outsiders: set[str] = set()


def outside(frame: FrameType) -> FrameType:
    """The innermost frame from here on that is not the engine's own."""
    while (filename := frame.f_code.co_filename) in insiders or (filename not in outsiders and _is_ours(filename)):
        back = frame.f_back
        if back is None:
            break
        frame = back
    return frame


def _is_ours(filename: str) -> bool:
    """For a file that is met for the first time."""
    ours = filename.startswith(PACKAGE) and not filename.startswith(STUDENT_ROOMS)
    (insiders if ours else outsiders).add(filename)
    return ours


def caller() -> FrameType:
    """The frame of whoever called the engine."""
    return outside(sys._getframe(2))


def line_number(code: CodeType, at: int) -> int:
    """The line of the instruction at offset `at` of `code`."""
    for index, (line, _, _, _) in enumerate(code.co_positions()):
        if index == at // 2 and line is not None:
            return line
    return code.co_firstlineno


def source_line(code: CodeType | None, at: int) -> str | None:
    """The line of source, stripped, or None where the source cannot be read (typed at a prompt, say)."""
    if code is None:
        return None
    return linecache.getline(code.co_filename, line_number(code, at)).strip() or None


def traced(code: CodeType, at: int) -> str:
    """The same place as a traceback gives it: file, line and function, and below the source."""
    line = source_line(code, at)
    return f'  File "{code.co_filename}", line {line_number(code, at)}, in {code.co_name}\n' + (f"    {line}\n" if line else "")


def quoted(code: CodeType | None, at: int) -> str:
    """` in "z = y.exp()"`, or nothing where there is no source to quote."""
    line = source_line(code, at)
    return f' in "{line}"' if line else ""
