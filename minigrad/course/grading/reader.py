"""Reading what students hand in, forgivingly: what can be understood is used, and nothing stops the class.

A notebook is read as the plain data it is, whatever its name, format, metadata or order of cells; an
unreadable one has a `problem`, in a sentence for the student, and no cells. Magic commands, displays and
top-level await are dealt with where the cells run (`cells.py`). No symbolic link is followed, only regular
files are opened, and what students call their files and folders becomes a tame name before it is used for
one of ours.
"""

from __future__ import annotations

import collections
import hashlib
import itertools
import json
import os
import re
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from minigrad.course.checks import updating
from minigrad.course.exercise import EDITION
from minigrad.course.grading.identity import CANVAS, FOLDER, LOOSE, MOODLE

LARGEST_FILE = 20 << 20  # bytes; a notebook with many pictures has two or three million
MOST_VALUES = 4_000_000  # strings, lists, objects and what is in them: each takes fifty bytes and more when it is read
LARGEST_SOURCE = 1 << 20  # characters of code
_MOST_CELLS = 5_000
# Of one student: a course has fourteen notebooks.
MOST_NOTEBOOKS = 100
MOST_BYTES = 256 << 20
MOST_ENTRIES = 100_000  # files and folders to look through


_MOST_PARKED = 100
_DEFINES = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+\w", re.MULTILINE)

# A string of JSON, whole or cut off, or what begins or separates values outside strings.
_VALUES = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{,]', re.DOTALL)


class Unread(str):
    """Why nobody knows what is in a file, nor of which lesson it is: then there is no grade, which is not a zero."""


ZIP = Unread("a zip: unpack it, then run again")
TOO_LARGE = Unread(f"larger than {LARGEST_FILE >> 20} MB, so it is not read: clear its outputs, then run again")
_ZIPPED = (b"PK\x03\x04", b"PK\x05\x06")


@dataclass(frozen=True)
class Submission:
    """The code cells of one file, or the reason why there are none; `parked` are other cells that define something, for one
    wrong key makes text of a code cell. `unread`: nobody knows what is in it, so there is no grade, which is not a zero."""

    cells: tuple[str, ...]
    problem: str = ""
    parked: tuple[str, ...] = ()
    unread: bool = False


def read(data: bytes) -> Submission:
    """The code cells of a notebook, whatever else is in it or wrong with it. Never raises."""
    if not data.strip():
        return Submission((), "the file is empty", unread=True)
    if len(data) > LARGEST_FILE:
        return Submission((), TOO_LARGE, unread=True)
    if data.startswith(_ZIPPED):
        return Submission((), ZIP, unread=True)
    if len(data) > MOST_VALUES and sum(1 for _ in itertools.islice(_VALUES.finditer(data), MOST_VALUES)) == MOST_VALUES:
        return Submission((), "the file holds more lists and numbers than a notebook does", unread=True)
    # Some editors save UTF-16; a byte that is no text spoils one character, not the whole; what follows it, nothing.
    try:
        notebook, _ = json.JSONDecoder().raw_decode(data.decode(json.detect_encoding(data), "replace").lstrip())
    except (ValueError, RecursionError, MemoryError):
        return Submission((), "the file is cut off or is no notebook: it is not complete JSON", unread=True)
    if isinstance(notebook, dict) and updating.edition(notebook.get("metadata")) != EDITION:
        return Submission((), f"the notebook is from {updating.OTHER}", unread=True)
    cells: list[str] = []
    parked: list[str] = []
    size = 0
    for code, source in _sources(notebook):
        if not code:
            if _DEFINES.search(source) and size + len(source) <= LARGEST_SOURCE and len(parked) < _MOST_PARKED:
                size += len(source)
                parked.append(source)
            continue
        size += len(source)
        if size > LARGEST_SOURCE or len(cells) == _MOST_CELLS:
            return Submission((), "the notebook holds more code than a person writes", unread=True)
        cells.append(source)
    if not parked and not any(cell.strip() for cell in cells):
        return Submission(tuple(cells), "the notebook has no code in it")
    return Submission(tuple(cells), parked=tuple(parked))


def _sources(notebook: Any) -> Iterator[tuple[bool, str]]:
    """The text of each cell, and whether it is code; format 3 keeps them in worksheets and calls the text input."""
    if not isinstance(notebook, dict):
        return
    groups = [notebook]
    if isinstance(notebook.get("worksheets"), list):
        groups += [sheet for sheet in notebook["worksheets"] if isinstance(sheet, dict)]
    for group in groups:
        cells = group.get("cells")
        for cell in cells if isinstance(cells, list) else ():
            if isinstance(cell, dict):
                text = cell.get("source", cell.get("input", ""))
                if isinstance(text, list):
                    text = "".join(line for line in text if isinstance(line, str))
                # A lone surrogate is legal JSON and no legal text.
                plain = text.encode("utf-8", "replace").decode("utf-8") if isinstance(text, str) else ""
                yield cell.get("cell_type") == "code", plain


# ------------------------------------------------------------------ finding


@dataclass(frozen=True, slots=True)
class Found:
    """A file that was handed in: from where (`kind`, `student` and `number` are those of identity.py's sources), its path
    under the folder of submissions (posix), and how many bytes.

    `source` and `row` are known when `identity.decide` has seen all files. `problem` says why it is no notebook; a student
    of whom none was found has one of these without a path, and a file that belongs to nobody has no student. `time` is
    when it was changed last, in nanoseconds.
    """

    student: str
    path: str
    size: int = 0
    problem: str = ""
    time: int = 0
    kind: int = FOLDER
    number: str = ""
    source: int = 0
    row: str = ""  # of the report

    @property
    def called(self) -> str:
        """What the name says of a person."""
        return _ENDING.sub("", self.student) if self.kind == LOOSE else self.student


# What Canvas calls the files of its download: who, perhaps that it was late, the person's number, the file's, its name.
_CANVAS = re.compile(r"(?P<who>[^_/]+)_(?P<late>LATE_)?(?P<id>[0-9]+)_[0-9]+_[^/]+")
# What Moodle calls its folders, and the files of a download without folders: the number is that of the hand-in.
_MOODLE = re.compile(r"(?P<who>[^/]+?)_(?P<id>[0-9]+)_assignsubmission_(?:file|onlinetext)(?:_(?P<file>.*))?")


def canvas_id(path: str) -> str:
    """The person's number in Canvas, if the file is named as in a download from there; else ""."""
    match = _CANVAS.fullmatch(path)
    return match["id"] if match else ""


def moodle_folder(path: str) -> str:
    """The folder in which Moodle takes back what belongs to this file; "" if it is not from there."""
    match = _MOODLE.fullmatch(path.split("/")[0])
    return f"{match['who']}_{match['id']}_assignsubmission_file_" if match else ""


def was_late(path: str) -> bool:
    """True if Canvas called the file late."""
    match = _CANVAS.fullmatch(path)
    return bool(match and match["late"])


def find(folder: Path, *, without: Path | None = None) -> Iterator[Found]:
    """Everything under `folder`, in no order: the notebooks, and each other file with the reason why it is none.

    A loose file is a student's of its own, unless Canvas or Moodle gave it a number.
    Links are not followed. The folder `without`, where a report is, is nobody's.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            canvas, moodle, found = None, _MOODLE.fullmatch(entry.name), _of_student(folder, entry.name)
            student, kind = entry.name, FOLDER
            if not entry.is_dir(follow_symlinks=False):
                canvas, problem = _CANVAS.fullmatch(entry.name), _no_notebook(entry)
                student, kind = entry.name if not problem or isinstance(problem, Unread) else "", LOOSE
                found = iter([Found("", entry.name, problem=problem) if problem else _found("", entry.name, entry)])
            elif without is not None and without.exists() and os.path.samefile(without, entry):
                continue
            elif _is_hidden(entry.name):
                student, moodle, found = "", None, iter([Found("", entry.name, problem=_HIDDEN)])
            number = canvas["id"] if canvas else moodle["id"] if moodle else ""
            if canvas:
                student, kind = f"{canvas['who']}_{number}", CANVAS
            elif moodle:
                student, kind = moodle["who"], MOODLE
            yield from (replace(one, student=student, kind=kind, number=number) for one in found)


# A link is not followed, and what is no file does not make us wait.
_READING = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_HIDDEN = "a hidden folder, which is not looked into"
_LATEST = 2**63 - 1  # nanoseconds since 1970 that an index can hold: the year 2262


def _no_notebook(entry: os.DirEntry[str]) -> str:
    """Why this entry of a folder is no notebook; "" if it is one."""
    kind = Unread if _is_notebook(entry.name) else str
    try:
        if entry.is_symlink():
            return kind("a link, which is not followed: hand in the file itself")
        if not entry.is_file(follow_symlinks=False):
            return kind("a pipe, a socket or a device, and no file")
        if kind is Unread:
            return ""
        with open(os.open(entry.path, _READING), "rb") as file:
            zipped = entry.name.lower().endswith(".zip") or file.read(4) in _ZIPPED
        return ZIP if zipped else "not a notebook"
    except OSError as error:
        return kind(f"could not be looked at ({error.strerror or error})")


def _found(student: str, path: str, entry: os.DirEntry[str]) -> Found:
    """A notebook, with what the system says about it."""
    try:
        about = entry.stat(follow_symlinks=False)
    except OSError:  # it has gone meanwhile
        return Found(student, path)
    changed = max(-_LATEST, min(about.st_mtime_ns, _LATEST))  # a file may be from any year
    return Found(student, path, min(about.st_size, LARGEST_FILE), time=changed)


def _of_student(folder: Path, home: str) -> Iterator[Found]:
    """What lies in a student's folder `home`, the upper floors first: who hands in a whole disk hands in what is on top."""
    waiting, left = collections.deque([home]), MOST_ENTRIES
    others: list[str] = []
    downloaded: set[str] = set()
    found, problem = 0, ""
    while waiting and left > 0:
        where = waiting.popleft()
        try:
            entries = os.scandir(folder / where)
        except OSError as error:
            problem = Unread(f"a folder could not be read ({error.strerror})")
            continue
        with entries:
            for entry in itertools.islice(entries, left):
                left -= 1
                path = f"{where}/{entry.name}"
                if where == home:
                    downloaded.add(canvas_id(entry.name) or moodle_folder(entry.name))
                if entry.is_dir(follow_symlinks=False):
                    if _is_hidden(entry.name):
                        yield Found(home, path, problem=_HIDDEN)
                    else:
                        waiting.append(path)
                elif reason := _no_notebook(entry):
                    yield Found(home, path, problem=reason)
                else:
                    found += 1
                    yield _found(home, path, entry)
                if where == home and len(others) < 3:
                    others.append(entry.name)
    if len(downloaded - {""}) > 1:  # who is in it cannot be known here: anybody may give a file such a name
        problem = "this looks like a whole download of Canvas or Moodle: grade it as a folder of submissions of its own"
    elif not left:
        problem = f"more than {MOST_ENTRIES:,} files and folders: what lies deepest was not looked at"
    elif not found and not problem:
        problem = f"no notebook, but {', '.join(sorted(others))}" if others else "nothing in the folder"
    if problem:
        yield Found(home, "", problem=problem)


def _is_hidden(folder: str) -> bool:
    return folder.startswith(".") or folder in ("__pycache__", "__MACOSX")


# Browsers add an ending of their own when they save a notebook, and a number when there is one already.
_ENDING = re.compile(r"\.ipynb(\.(txt|json|download))?( ?\(\d+\))?\s*$", re.IGNORECASE)


def _is_notebook(file: str) -> bool:
    return _ENDING.search(file) is not None and not file.startswith(".")


def load(folder: Path, path: str) -> bytes:
    """The bytes of a regular file below `folder`, at most one more than is allowed.

    OSError for anything else, and for a link anywhere on the way: who owns a folder may have put one there meanwhile.
    """
    straight = getattr(os, "O_NOFOLLOW", 0)
    if os.open in os.supports_dir_fd:
        *floors, name = path.split("/")
        at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for floor in floors:
                above, at = at, os.open(floor, os.O_RDONLY | os.O_DIRECTORY | straight, dir_fd=at)
                os.close(above)
            descriptor = os.open(name, _READING, dir_fd=at)
        finally:
            os.close(at)
    else:
        descriptor = os.open(folder / path, _READING)
    with open(descriptor, "rb") as file:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise OSError("it is no file")
        if before.st_size > LARGEST_FILE:
            return bytes(LARGEST_FILE + 1)  # as much as nobody reads
        data = file.read(LARGEST_FILE + 1)
        if len(data) != before.st_size or os.fstat(descriptor).st_mtime_ns != before.st_mtime_ns:
            raise OSError("it was changed while it was read: run again")
        return data


# ------------------------------------------------------------------ names


def tame(name: str) -> str:
    """A file name that is safe everywhere: letters, digits, dot, dash, underscore. Different names stay different."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", plain).strip("._-")[:60]
    if plain and plain == name and plain.upper() not in _RESERVED:
        return plain
    mark = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{plain or 'student'}-{mark}"


_RESERVED = {"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(1, 10))}


def spreadsheet(text: str) -> str:
    """The text as a spreadsheet may see it: one line, in the usual forms of its letters, never the start of a formula."""
    text = re.sub(r"[\x00-\x1f\x7f\u2028\u2029]+", " ", text.encode("utf-8", "replace").decode())
    text = unicodedata.normalize("NFKC", text)
    # Some take the wide forms of these signs for them, some separate columns by a semicolon.
    return re.sub(r"(^|[;|])(\s*[=+@\uff1d\uff0b\uff20-])", r"\1'\2", text)


# ------------------------------------------------------------------ which lesson

_ASKED = re.compile(r"""^[ \t]*(?:check|predict|hint)\([ \t]*["'](\d{1,3})\.\d{1,3}["']""", re.MULTILINE)
_NAMED = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w{1,80})|^(\w{1,80})[ \t]*=(?!=)", re.MULTILINE)


def ids(submission: Submission) -> list[int]:
    """The lesson number of each exercise the notebook asks for."""
    return [int(number) for cell in submission.cells for number in _ASKED.findall(cell)]


def names(submission: Submission) -> set[str]:
    """The names that the notebook defines, by their look."""
    return {a or b for text in (*submission.cells, *submission.parked) for a, b in _NAMED.findall(text)}


# ------------------------------------------------------------------ who wrote it

# Strings, ended or not: to look for each end anew would take hours in a text of quotes alone.
_COMMENT = re.compile(r"""("(?:[^"\\\n]++|\\.)*+"?|'(?:[^'\\\n]++|\\.)*+'?)|#[^\n]*""")


def bare(source: str) -> str:
    """Code without comments, blank lines and the spaces inside a line."""
    lines = _COMMENT.sub(lambda match: match[1] or "", source).split("\n")
    return "\n".join(line[: len(line) - len(line.lstrip())] + "".join(line.split()) for line in lines if line.strip())


def likeness(submission: Submission) -> str:
    """The same for two hand-ins whose code differs in names, comments and spaces alone; "" for hardly any code."""
    text = "\n".join(map(bare, submission.cells))
    if len(text) < 400:
        return ""
    numbers: dict[str, str] = {}
    plain = re.sub(r"[A-Za-z_]\w*", lambda word: numbers.setdefault(word[0], f"n{len(numbers)}"), text)
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()[:16]
