"""The student's own engine: one file, `my_engine.py` in the course folder, which grows by solved exercises.

A part is what one exercise adds: the functions that it asks for, which are the student's, and lines that join them to the
engine, which are given. The file is the student's, too: a part is found by its names, wherever it stands, and everything
else in the file stays as it is. It is replaced in one step, and the file before it is kept under a name with the date.
Where there is no file, and while notebooks are tested or graded, `import my_engine` gives the parts of the solutions.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import functools
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.abc import ExecutionLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from itertools import pairwise
from pathlib import Path

from .. import notebooks
from .progress_store import folder, here, judged, locked, reason

__all__ = ["FILE", "Finder", "Part", "Unkept", "given", "keep", "parts_in", "reference"]

FILE = "my_engine.py"
BEGIN = '''"""My engine. keep("3.1") adds a part when its check has passed; change what you like."""

import math

import numpy as np
'''
HEAD = re.compile(r"# === (\d+\.\w+)(?:: ([\w, ]+))?\n")
GIVEN = Path(__file__).parents[1] / "lessons" / "my_engine.txt"
MARKER = re.compile(rf"^ *### (?:{notebooks.BEGIN}|{notebooks.END})\n", re.MULTILINE)
REFERENCE = "(from the reference, not yours)"


class Unkept(Exception):
    """Why nothing was written, in a sentence for the student."""


@dataclass(frozen=True)
class Part:
    """What one exercise adds: the names that the student defines, and the lines given with them."""

    id: str
    names: tuple[str, ...]
    given: str

    @property
    def lesson(self) -> int:
        return int(self.id.split(".")[0])


def given() -> dict[str, Part]:
    """All parts, in the order in which they are added."""
    _, *pieces = HEAD.split(GIVEN.read_text(encoding="utf-8"))
    rows = zip(pieces[::3], pieces[1::3], pieces[2::3])
    return {id: Part(id, tuple((names or "").replace(",", " ").split()), lines.strip()) for id, names, lines in rows}


# --- code as pieces ------------------------------------------------------------------------------------


def parsed(text: str, where: str) -> list[ast.stmt]:
    """The top-level statements. Raises `Unkept` where there is no Python."""
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        place = f" in line {line}" if line else ""
        raise Unkept(f"{where} is no Python{place} ({reason(error)}). Mend it, and keep again.") from None


def bound(statement: ast.stmt) -> set[str]:
    """The names that a top-level statement gives a value: `Value.add` for an attribute."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    leaves = [leaf for target in targets for leaf in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return {ast.unparse(leaf) for leaf in leaves if isinstance(leaf, (ast.Name, ast.Attribute))}


def lines_of(statement: ast.stmt) -> tuple[int, int]:
    """The first and last line of a statement, its decorators included."""
    first = min([statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))])
    return first - 1, statement.end_lineno or statement.lineno


def source(text: str, statement: ast.stmt) -> str:
    first, last = lines_of(statement)
    return "\n".join(text.splitlines()[first:last])


def sources(names: Sequence[str], cells: Sequence[str], there: str = "") -> list[str]:
    """The definitions of these names in the cells that were run, each the last one, after the helpers that they use.

    Args:
        names: what the exercise asks for.
        cells: the source of the cells, in the order in which they ran; what is no Python is passed over.
        there: the file as it is; what it defines already is no helper to be added.

    Raises:
        Unkept: a name is defined in no cell.
    """
    last: dict[str, tuple[str, ast.stmt]] = {}
    for cell in (MARKER.sub("", cell) for cell in cells):
        with contextlib.suppress(SyntaxError, ValueError):
            last |= {name: (source(cell, each), each) for each in ast.parse(cell).body for name in bound(each)}
    known = names_in(ast.parse(there).body)
    found: dict[str, str] = {}

    def take(name: str, helper: bool) -> None:
        if name in found or name not in last or (helper and (name in known or not isinstance(last[name][1], ast.FunctionDef))):
            return
        text, statement = last[name]
        found[name] = ""  # its place is kept: a function may call itself
        for each in ast.walk(statement):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each.id != name and each.id not in names:
                take(each.id, helper=True)
        del found[name]
        found[name] = text

    for name in names:
        if name not in last:
            raise Unkept(f"No cell that you ran defines {name}. Run the cell of this exercise, and keep again.")
        take(name, helper=False)
    return list(found.values())


def added(text: str, part: Part, own: Sequence[str], title: str) -> str:
    """The file's text with this part: what was there is replaced in place, the rest stands before later parts."""
    later = {name for each in later_than(part) for name in (*each.names, *names_in(parsed(each.given, "The course")))}
    new = [*own, *(source(part.given, each) for each in parsed(part.given, "The course"))]
    spots: dict[frozenset[str], tuple[int, int]] = {}
    taken: set[int] = set()
    for statement in parsed(text, FILE):
        first, last = lines_of(statement)
        if first in taken:
            raise Unkept(f"Line {first + 1} of {FILE} holds two statements. Give each a line of its own, and keep again.")
        taken.update(range(first, last))
        if names := frozenset(bound(statement)):
            spots[names] = (first, last)
    lines, changes, rest = text.splitlines(), [], []
    for code in new:
        names = frozenset(names_in(ast.parse(code).body))
        if names in spots:
            changes.append((*spots[names], code))
        else:
            rest.append(code)
    if rest:
        at = min((first for names, (first, _) in spots.items() if names & later), default=len(lines))
        while at and (not lines[at - 1].strip() or lines[at - 1].startswith("#")):
            at -= 1  # what is said above a part belongs to it
        whole = rest[0]
        for above, code in pairwise(rest):
            whole += ("\n\n\n" if "\n" in above + code else "\n") + code
        changes.append((at, at, f"\n\n# {part.id} {title}\n{whole}"))
    for first, last, code in sorted(changes, reverse=True):
        lines[first:last] = code.splitlines()
    return "\n".join(lines).rstrip() + "\n"


def later_than(part: Part) -> list[Part]:
    parts = [*given().values()]
    return parts[[each.id for each in parts].index(part.id) + 1 :]


# --- the reference -------------------------------------------------------------------------------------


@functools.cache
def reference(before: int) -> str:
    """The engine with the parts of all lessons before this one, as the solutions have them."""
    text = BEGIN
    for part in given().values():
        if part.lesson < before and (cells := solved(part)):
            text = added(text, part, sources(part.names, cells, text), REFERENCE)
    return text


def solved(part: Part) -> list[str]:
    """The cells of the solutions that have a part; none where the exercise is not written yet."""
    name = next(name for name in notebooks.lessons() if name.startswith(f"{part.lesson:02d}_"))
    solution = notebooks.read(notebooks.path("solutions", name))
    written = not part.names or part.id in notebooks.exercise_ids(solution)
    return notebooks.code_cells(solution) if written else []


@dataclass(frozen=True)
class Source(ExecutionLoader):
    """The engine as a module: this text, which tracebacks show with this name."""

    text: str
    name: str

    def get_source(self, fullname: str) -> str:
        return self.text

    def get_filename(self, fullname: str) -> str:
        return self.name


class Finder(MetaPathFinder):
    """Finds `my_engine`, which is the student's file in the folder of the course, else the reference.

    say: is told once what the student should know of it.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = functools.cache(say)

    def install(self) -> None:
        """Ask this finder first: a file of that name may lie in any folder of notebooks."""
        sys.meta_path[:] = [self, *(each for each in sys.meta_path if not isinstance(each, Finder))]

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name != Path(FILE).stem:
            return None
        file = folder() / FILE
        text = None if judged() else written(file)
        if not judged():
            stray = here() / FILE
            if stray != file and stray.exists():
                self.say(f"The {FILE} in {here()} is not used: your engine is the one in {folder()}.")
            if text is None:
                self.say(f"There is no {FILE} in {folder()} yet, so this is the engine of the solutions. Yours begins "
                         'with the first keep("3.1") after a check that has passed.')  # fmt: skip
        made = Source(reference(99), f"{FILE} (reference)") if text is None else Source(text, str(file))
        return spec_from_loader(name, made)


def written(file: Path) -> str | None:
    """The text of the student's engine; None where there is no file. ImportError, with a sentence, where it cannot be read."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise ImportError(f"{file} is no text in UTF-8. Save it as UTF-8, and run this cell again.") from None
    except OSError as error:
        raise ImportError(f"{file} cannot be read ({reason(error)}).") from None


# --- the file ------------------------------------------------------------------------------------------


def keep(part: Part, cells: Sequence[str], folder: Path, title: str) -> list[str]:
    """Put a part into the file, and return what changes there as lines of a difference; none if it is there as it is.

    Raises:
        Unkept: nothing was written, and why.
    """
    file = folder / FILE
    with trouble(file), locked(folder):
        before = file.read_bytes() if file.exists() else None
        text = BEGIN if before is None else before.decode("utf-8-sig").replace("\r\n", "\n")
        parsed(text, FILE)
        after = added(text, part, sources(part.names, cells, text), title)
        parsed(after, FILE)
        if before is not None and after == text:
            return []
        replace(file, after, before is not None)
    old = "" if before is None else text
    return list(difflib.unified_diff(old.splitlines(), after.splitlines(), n=0, lineterm=""))[2:]


@contextlib.contextmanager
def trouble(file: Path) -> Iterator[None]:
    """What the system refuses, as a sentence."""
    try:
        yield
    except UnicodeDecodeError:
        raise Unkept(f"{FILE} is no text in UTF-8. Save it as UTF-8, and keep again.") from None
    except OSError as error:
        raise Unkept(f"{file} cannot be written ({reason(error)}). Nothing in it has changed.") from None


def replace(file: Path, text: str, keep_old: bool) -> None:
    """Write the file in one step; the one before it is kept under a name with the date. OSError if that fails."""
    if file.exists() and not os.access(file, os.W_OK):
        raise PermissionError(13, "it is read-only")
    handle, name = tempfile.mkstemp(prefix=FILE, suffix=".tmp", dir=file.parent)
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as whole:
            whole.write(text)
            whole.flush()
            os.fsync(whole.fileno())
        os.chmod(name, 0o644)
        if keep_old:
            shutil.copy2(file, kept := notebooks.dated(file))
            if kept.read_bytes() != file.read_bytes():
                raise OSError(0, "the copy of the old one failed")
        os.replace(name, file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def parts_in(text: str, parts: Mapping[str, Part]) -> list[str]:
    """The ids of the parts of which a file has all that they define."""
    there = names_in(parsed(text, FILE))
    return [part.id for part in parts.values() if {*part.names} | names_in(parsed(part.given, "The course")) <= there]


def names_in(statements: Sequence[ast.stmt]) -> set[str]:
    return {name for each in statements for name in bound(each)}
