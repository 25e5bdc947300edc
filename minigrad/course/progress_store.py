"""Progress in one small file beside the student's notebooks.

The file is read before each change and replaced in one step, so that a crash leaves the old one or the new
one and two kernels do not undo each other. Nothing depends on it: delete it and the next checks write it
again. While notebooks are tested or graded (`MINIGRAD_CHECK` or `NBGRADER_EXECUTION` is set) it is neither
read nor written.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["FILE", "folder", "judged", "load", "note"]

FILE = "minigrad-progress.json"
ROOMS = ("notebooks", "exercises", "solutions")
Record = dict[str, Any]
memory: dict[str, Record] = {}  # what stays when the file cannot be written, or must not be


def judged() -> bool:
    """True while notebooks are tested or graded: answers decide, progress does not."""
    return bool(os.environ.get("MINIGRAD_CHECK") or os.environ.get("NBGRADER_EXECUTION"))


def folder() -> Path:
    """The folder of the student's course: the one that holds `notebooks/` and `exercises/`."""
    here = Path.cwd()
    return here.parent if here.name in ROOMS else here


def load(where: Path | None = None) -> dict[str, Record]:
    """All records, exercise id -> record. Empty for no file or one that is not ours (which is kept as it
    is)."""
    if judged():
        return dict(memory)
    try:
        content = json.loads(((where or folder()) / FILE).read_text(encoding="utf-8"))
        records = content["exercises"]
        return {str(k): dict(v) for k, v in records.items()} | memory
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return dict(memory)


def note(id: str, **changes: Any) -> Record:
    """Change some fields of one exercise's record, on disk too; the whole record.

    Where the folder cannot be written the record lives as long as the kernel.
    """
    if judged():
        memory[id] = memory.get(id, {}) | changes
        return memory[id]
    where = folder()
    with locked(where):
        records = load(where)
        records[id] = records.get(id, {}) | changes
        if not replace(where, records):
            memory[id] = records[id]
    return records[id]


def replace(where: Path, records: dict[str, Record]) -> bool:
    """Write the file in one step; a file of that name that is not ours is kept beside it. False if that
    fails."""
    target = where / FILE
    text = json.dumps(
        {"minigrad": 1, "exercises": dict(sorted(records.items()))}, indent=1, ensure_ascii=False
    )
    try:
        if target.exists() and not is_ours(target):
            target.replace(target.with_suffix(".unreadable.json"))
        handle, name = tempfile.mkstemp(prefix=FILE, suffix=".tmp", dir=where)
    except OSError:
        return False
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name)
        return False
    return True


def is_ours(file: Path) -> bool:
    """True if the file can be read as progress."""
    try:
        return type(json.loads(file.read_text(encoding="utf-8"))["exercises"]) is dict
    except (OSError, ValueError, KeyError, TypeError):
        return False


@contextlib.contextmanager
def locked(where: Path) -> Iterator[None]:
    """One writer at a time, where the system has locks on files."""
    try:
        import fcntl

        handle = os.open(where, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
