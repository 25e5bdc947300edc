"""Progress in one small file beside the student's notebooks.

The file is read before each change and replaced in one step, so that a crash leaves the old one or the new
one and two kernels do not undo each other. Nothing depends on it: delete it and the next checks write it
again. What cannot be read, or comes from another edition of the course, is kept under a dated name; what cannot be
written lives as long as the kernel; and `news` says so. While notebooks are tested or graded (`MINIGRAD_CHECK` or
`NBGRADER_EXECUTION` is set) it is neither read nor written.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from ..exercise import EDITION
from ..notebooks import dated

__all__ = ["FILE", "folder", "judged", "load", "news", "note", "take_back"]

FILE = "minigrad-progress.json"
FORMAT = 1  # of the file: a new one only where an older minigrad would misread it
ROOMS = ("notebooks", "exercises", "solutions")
COUNTS = ("hints", "rung", "tries", "tries_at_rung")
Record = dict[str, Any]
memory: dict[str, Record] = {}  # what stays when the file cannot be written, or must not be
said: list[str] = []  # what the student should know about the file


def judged() -> bool:
    """True while notebooks are tested or graded: answers decide, progress does not."""
    return bool(os.environ.get("MINIGRAD_CHECK") or os.environ.get("NBGRADER_EXECUTION"))


def in_notebook() -> bool:
    """True inside an IPython shell (a kernel, or the terminal one)."""
    module: Any = sys.modules.get("IPython")
    return module is not None and module.get_ipython() is not None


def here() -> Path:
    """The folder of the notebook that runs; without a name where it has been deleted under the kernel."""
    try:
        return Path.cwd()
    except OSError:
        return Path(".")


def folder(place: Path | None = None) -> Path:
    """The folder of the student's course, which holds `notebooks/` and `exercises/`, from here or from a place in it."""
    place = place or here()
    return place.parent if place.name in ROOMS else place


def load(where: Path | None = None) -> dict[str, Record]:
    """All records, exercise id -> record. Empty for no file or one that is not ours (which is kept as it
    is)."""
    if judged():
        return dict(memory)
    try:
        return read((where or folder()) / FILE) | memory
    except FileNotFoundError:
        return dict(memory)
    except (OSError, ValueError) as error:
        tell(f"{FILE} is not used ({reason(error)}): progress begins anew, and the file is kept.")
        return dict(memory)


def read(file: Path) -> dict[str, Record]:
    """The records of a file; what is odd in a single record is left out of it.

    ValueError for what is no progress, for a format of the future, and for another edition.
    """
    why = "it holds something else"
    try:
        whole = json.loads(file.read_text(encoding="utf-8-sig"))
        records = whole["exercises"]
        if whole.get("minigrad", 1) != FORMAT:
            why = "it was written by a newer version of minigrad"
        elif whole.get("edition", 1) != EDITION:
            why = "it comes from another edition of the course, in which exercises asked for something else"
        elif type(records) is dict and all(type(record) is dict for record in records.values()):
            return {id: {k: v for k, v in record.items() if plausible(k, v)} for id, record in records.items()}
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise ValueError(why)


def plausible(field: str, value: Any) -> bool:
    """True unless a count is no count."""
    return field not in COUNTS or (type(value) is int and value >= 0)


def note(id: str, where: Path | None = None, **changes: Any) -> Record:
    """Change some fields of one exercise's record, on disk too, in the folder `where`; the whole record.

    Where the folder cannot be written the record lives as long as the kernel.
    """
    if judged():
        memory[id] = memory.pop(id, {}) | changes
        return memory[id]
    where = where or folder()
    with locked(where):
        records = load(where)
        records[id] = records.pop(id, {}) | changes  # the last one in the file is the last one worked on
        try:
            replace(where, records)
        except OSError as error:
            memory[id] = records[id]
            tell(f"Your progress cannot be saved ({reason(error)}): it lasts as long as this kernel.")
        else:
            memory.clear()
    return records[id]


def take_back(ids: Collection[str], where: Path) -> list[str]:
    """Remove the answers that were given in forms from these exercises' records, whose order stays; those that had one."""
    with locked(where):
        records = load(where)
        found = [id for id in ids if records.get(id, {}).pop("form", None) is not None]
        if found:
            replace(where, records)
    return found


def news() -> str:
    """What the student should know about the file, each thing once until it is heard; "" if all is well."""
    heard = " ".join(said)
    said.clear()
    return heard


def tell(sentence: str) -> None:
    if sentence not in said:
        said.append(sentence)


def reason(error: Exception) -> str:
    """Why, in a few words and without paths."""
    return getattr(error, "strerror", None) or str(error)


def replace(where: Path, records: dict[str, Record]) -> None:
    """Write the file in one step; a file of that name that is not ours is kept beside it. OSError if that
    fails."""
    target = where / FILE
    whole = {"minigrad": FORMAT, "edition": EDITION, "exercises": records}
    text = json.dumps(whole, indent=1, ensure_ascii=False)
    handle, name = tempfile.mkstemp(prefix=FILE, suffix=".tmp", dir=where)
    try:
        # Half a surrogate pair, from an odd prediction, is written as JSON's own escape.
        with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        if target.exists() and not is_ours(target):
            kept = dated(target)
            target.replace(kept)
            tell(f"The file is {kept.name} now.")
        os.replace(name, target)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def is_ours(file: Path) -> bool:
    """True if the file can be read as progress."""
    try:
        read(file)
    except (OSError, ValueError):
        return False
    return True


@contextlib.contextmanager
def locked(where: Path) -> Iterator[None]:
    """One writer at a time, where the system has locks on files."""
    try:
        from fcntl import LOCK_EX, flock

        handle = os.open(where, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        with contextlib.suppress(OSError):
            flock(handle, LOCK_EX)
        yield
    finally:
        os.close(handle)
