"""The journal of a run: one line of JSON a result, written the moment it is known, so that nothing is lost.

A result is found again by its key: student, file, notebook hash, exercise pack hash and course key.
Whatever changed has another key and is graded anew; whatever did not is never graded twice. A line cut off
by a power failure is dropped. Every line is handed to the system at once (which survives a killed process)
and forced to the disk once a second and at the end (which bounds what a power failure can cost).
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import secrets
import sqlite3
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from minigrad.course import lesson_text, lessons, notebooks
from minigrad.course.exercise import EDITION
from minigrad.course.grading.grader import engine_of, given

PACKAGE = Path(__file__).resolve().parents[2]
RESULTS, SETTINGS, LOCK = "results.jsonl", "run.json", "run.lock"
# What a verdict depends on besides the lesson: judge, worker, reader. The engine counts where students use it.
_JUDGE = (
    "judge/*", "student/*", "exercise", "misconceptions", "lesson_text", "notebooks", "checks/updating", "checks/own_engine",
    "checks/progress_store", "commands/answers",
    *(f"grading/{name}" for name in ("reader", "cells", "package", "grader", "sandbox", "zygote", "confine")),
)  # fmt: skip
_SYNC_SECONDS = 1.0


def key_of(student: str, path: str, notebook: str, pack: str, course: str) -> str:
    """What a result is found by."""
    parts = "\x1f".join((student, path, notebook, pack, course))
    return hashlib.sha256(parts.encode("utf-8", "surrogateescape")).hexdigest()


@functools.cache
def pack_hash(number: int, answers: bytes = b"") -> str:
    """A hash of everything that a verdict about this lesson depends on, the teacher's own answers among it."""
    lesson = lessons.lesson(number)
    folder = PACKAGE / "course"
    files = [file for name in _JUDGE for file in sorted(folder.glob(f"{name}.py"))]
    files += sorted((folder / "lessons").glob(f"*{number:02d}_*"))  # the text, and the Python beside it
    files.append(lesson_text.MISCONCEPTIONS)
    if lesson.with_engine or any(exercise.with_engine for exercise in lesson.exercises):
        files += sorted(p for p in PACKAGE.rglob("*.py") if p.relative_to(PACKAGE).parts[0] not in ("course", "viz"))
    engine = json.dumps(engine_of(lesson, frozenset()))
    digest = hashlib.sha256(f"{given(lesson.slug)}{engine}".encode() + answers)
    for path in files:
        digest.update(path.relative_to(PACKAGE).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def on_disk(*tables: str) -> sqlite3.Connection:
    """An empty index with these tables, each given as SQL names it: "name (column, ...)".

    What a run has to remember about each hand-in is on disk, so a large class needs no more memory than a small one: in a
    file without a name that only this process sees, gone with it however it ends. What has to outlive a run is in the journal.
    """
    made = sqlite3.connect("", isolation_level=None)
    # Nobody will ever read it again: what it holds need not be safe from a power failure, nor taken back.
    made.execute("PRAGMA journal_mode = OFF")
    made.execute("PRAGMA synchronous = OFF")
    made.execute("PRAGMA temp_store = FILE")
    for table in tables:
        made.execute(f"CREATE TABLE {table}")
    return made


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a report folder for one run. ValueError, before anything in it is touched, if another run holds it."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / LOCK, "w", encoding="ascii") as lock:
        with contextlib.suppress(ImportError):  # where there is no flock, two runs at once are not noticed
            import fcntl

            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise ValueError(f"another run is writing to {folder}") from None
        yield


class Journal:
    """The results of one report folder, which is `locked`. Use as a context manager."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / RESULTS
        self._file: Any = None
        self._synced = 0.0
        self._size = 0
        self._lines = on_disk("lines (key BLOB PRIMARY KEY, start, length, graded) WITHOUT ROWID")

    def __enter__(self) -> Journal:
        if self.path.exists():
            with open(self.path, "r+b") as file:
                for line in file:
                    if line.endswith(b"\n"):
                        self._note(parsed(line), len(line))
                file.truncate(self._size)  # a run that was ended in the middle of a line leaves no half result
        self._file = open(self.path, "ab", buffering=0)
        return self

    def __exit__(self, *error: object) -> None:
        os.fsync(self._file.fileno())
        self._file.close()
        self._lines.close()

    def _note(self, result: dict[str, Any] | None, length: int) -> None:
        """Remember where the next line of the journal stands; of several with the same key the last one counts."""
        if result is not None:
            entry = (bytes.fromhex(result["key"]), self._size, length, bool(result["graded"]))
            self._lines.execute("INSERT OR REPLACE INTO lines VALUES (?, ?, ?, ?)", entry)
        self._size += length

    def append(self, result: dict[str, Any]) -> None:
        """Write one result down."""
        line = json.dumps(result, sort_keys=True).encode() + b"\n"
        written = 0
        while written < len(line):
            written += self._file.write(line[written:])
        self._note(result, len(line))
        if time.monotonic() - self._synced > _SYNC_SECONDS:
            os.fsync(self._file.fileno())
            self._synced = time.monotonic()

    def settle(self, keys: Iterable[str]) -> None:
        """At the end: keep the last result of each of these keys, in their order, in place of the whole journal."""
        fresh = self.path.with_name(RESULTS + ".new")
        with open(self.path, "rb") as file, open(fresh, "wb") as out:
            for key in keys:
                for start, length in self._find("start, length", key):
                    file.seek(start)
                    out.write(file.read(length))
            out.flush()
            os.fsync(out.fileno())
        self._file.close()
        os.replace(fresh, self.path)
        self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115

    def graded(self, key: str) -> bool:
        """True if this was graded (where the sandbox was not there, it is tried again)."""
        return any(graded for (graded,) in self._find("graded", key))

    def _find(self, columns: str, key: str) -> Iterator[tuple[int, ...]]:
        return self._lines.execute(f"SELECT {columns} FROM lines WHERE key = ?", (bytes.fromhex(key),))


def read(path: Path) -> Iterator[dict[str, Any]]:
    """The results in a journal, in their order."""
    if path.exists():
        with open(path, "rb") as file:
            for line in file:
                result = parsed(line)
                if result is not None:
                    yield result


def edition(folder: Path) -> int:
    """The edition of the course whose numbers a report folder has; today's where nothing was graded."""
    return next((int(result.get("edition", 1)) for result in read(folder / RESULTS)), EDITION)


def set_aside(folder: Path) -> str:
    """Keep results of another edition under a dated name: its exercises asked for something else. The name, or ""."""
    if edition(folder) == EDITION:
        return ""
    return (folder / RESULTS).rename(notebooks.dated(folder / RESULTS)).name


def parsed(line: bytes) -> dict[str, Any] | None:
    """One line; None for one that is not whole."""
    try:
        result = json.loads(line)
    except ValueError:
        return None
    return result if isinstance(result, dict) and "key" in result and line.endswith(b"\n") else None


def course_key(folder: Path, given: bytes | None = None) -> bytes:
    """The course key: given, or this folder's, or drawn now and kept; ValueError for another than the folder was begun with."""
    path = folder / SETTINGS
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if kept and given is not None and bytes.fromhex(kept["key"]) != given:
        raise ValueError(f"{path} was begun with another key: use --fresh, or another --out")
    key = given or (bytes.fromhex(kept["key"]) if kept else secrets.token_bytes(32))
    if not kept:
        write_whole(path, [json.dumps({"edition": EDITION, "key": key.hex()}, indent=1), "\n"], private=True)
    return key


def write_whole(path: Path, pieces: Iterable[str], private: bool = False) -> None:
    """Write a file whole or not at all; a private one is read by its owner alone, and forced to the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".new")
    opener = functools.partial(os.open, mode=0o600 if private else 0o666)
    with open(temporary, "w", encoding="utf-8", newline="", opener=opener) as file:
        file.writelines(pieces)
        file.flush()
        if private:
            os.fsync(file.fileno())
    os.replace(temporary, path)


def name_of_key(key: bytes) -> str:
    """What may be told about a key: whether two are the same."""
    return hashlib.sha256(b"minigrad course key" + key).hexdigest()[:16]
