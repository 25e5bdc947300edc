"""The student's own engine: one file, `my_engine.py` in the course folder, which grows by solved exercises.

A part is what one exercise adds: the functions that it asks for, which are the student's, and lines that join them to the
engine, which are given. The file is the student's, too: a part is found by its names, wherever it stands, and everything
else in the file stays as it is. It is replaced in one step, and the file before it is kept under a name with the date.
`import my_engine` gives the file, completed by the parts of the solutions; while notebooks are tested or graded, those alone.
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
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from itertools import dropwhile, pairwise
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from .. import notebooks
from .progress_store import folder, here, in_notebook, judged, locked, reason

__all__ = ["FILE", "Change", "Differs", "Finder", "Part", "Unkept", "complete", "counted", "edited", "from_reference", "given",
           "keep", "lacking", "of_the_gap", "parts_in", "reference", "text_of"]  # fmt: skip

NAME = "my_engine"
FILE = f"{NAME}.py"
OLDER = "my_engine_older"  # the folder beside it with what it was before each change
BEGIN = '''"""My engine. keep("3.1") adds a part when its check has passed; change what you like."""

import math

import numpy as np
'''
HEAD = re.compile(r"# === (\d+\.\w+)(?:: ([\w, ]+))?\n")
said: set[str] = set()  # what the student knows of the engine
GIVEN = Path(__file__).parents[1] / "lessons" / "my_engine.txt"
NO_CODE = re.compile(rf"^(?:[%!?].*| *### (?:{notebooks.BEGIN}|{notebooks.END}))$\n?", re.MULTILINE)  # magics and marks
REFERENCE = "(from the reference, not yours)"
GIVEN_TOO = "(given)"


class Unkept(ValueError):
    """Why nothing was written, in a sentence for the student."""


class Differs(Unkept):
    """The part is there with other lines, which only the student may give up; `lines` are those that would go and come."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__(f"{FILE} has other lines for this part.")
        self.lines = lines


@dataclass(frozen=True)
class Change:
    """What has changed in the file, as lines of a difference, and the name under which the one before it is kept."""

    lines: tuple[str, ...]
    old: str = ""


@dataclass(frozen=True)
class Part:
    """What one exercise adds: the names that the student defines, and the lines given with them."""

    id: str
    names: tuple[str, ...]
    given: str

    @property
    def lesson(self) -> int:
        return int(self.id.split(".")[0])


@functools.cache
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
        what = getattr(error, "msg", str(error))  # str() of a SyntaxError names the line again
        raise Unkept(f"{where} is no Python{place} ({what}). Mend it, and run this again.") from None


def bound(statement: ast.stmt) -> set[str]:
    """The names that a top-level statement gives a value: `Value.add` for an attribute."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        own = getattr(statement, "module", "") == NAME
        return {each.asname or each.name for each in statement.names if each.name != "*" and not own}
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
    for cell in (NO_CODE.sub("", cell) for cell in cells):
        with contextlib.suppress(SyntaxError, ValueError):
            last |= {name: (source(cell, each), each) for each in ast.parse(cell).body for name in bound(each)}
    known = names_in(ast.parse(there).body)
    found: dict[str, str] = {}

    def take(name: str, helper: bool) -> None:
        if name in found or name not in last or (helper and name in {*known, *names}):
            return
        text, statement = last[name]
        found[name] = ""  # its place is kept: a function may call itself
        inside = [each for each in ast.walk(statement) if isinstance(each, (ast.Name, ast.arg))]
        local = {each.arg if isinstance(each, ast.arg) else each.id for each in inside if not loaded(each)}
        for each in inside:
            if isinstance(each, ast.Name) and each.id not in local:
                take(each.id, helper=True)
        del found[name]
        found[name] = text

    for name in names:
        if name not in last:
            raise Unkept(f"No cell that you ran defines {name}. Run the cell of this exercise, and keep again.")
        take(name, helper=False)
    return list(dict.fromkeys(found.values()))


def loaded(name: ast.Name | ast.arg) -> bool:
    return isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load)


def added(text: str, part: Part, own: Sequence[str], title: str, over: bool = True) -> str:
    """The file's text with this part: what is there is replaced in place if `over`; the rest stands before later parts."""
    later = {name for each in later_than(part) for name in (*each.names, *names_in(parsed(each.given, "The course")))}
    new = [*own, *(source(part.given, each) for each in parsed(part.given, "The course"))]
    spots: dict[frozenset[str], tuple[int, int]] = {}
    taken: set[int] = set()
    for statement in parsed(text, FILE):
        first, last = lines_of(statement)
        if first in taken:
            raise Unkept(f"Line {first + 1} of {FILE} holds two statements. Give each a line of its own, and run this again.")
        taken.update(range(first, last))
        if names := frozenset(bound(statement)):
            spots[names] = (first, last)
    lines, changes, rest = text.splitlines(), [], []
    for code in new:
        names = frozenset(names_in(ast.parse(code).body))
        if names in spots and over:
            changes.append((*spots[names], code))
        elif names not in spots:
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
    return completed(BEGIN, before)


def completed(text: str, before: int = 100, titles: Mapping[str, str] | None = None) -> str:
    """A text with what it lacks of the lessons before this one, from the solutions. Raises `Unkept` as `keep` does.

    titles: what stands above each part besides its number and whose it is.
    """
    for part in lacking(text, before):
        own = sources(part.names, solved(part), text)
        title = f"{titles[part.id]} {REFERENCE}" if titles and part.names else REFERENCE if part.names else GIVEN_TOO
        text = added(text, part, own, title, over=False)
    return text


def lacking(text: str, before: int = 100) -> list[Part]:
    """The parts of the lessons before this one that a text does not have."""
    there = parts_in(text)
    return [part for part in given().values() if part.lesson < before and part.id not in there]


def solved(part: Part) -> list[str]:
    """The cells of the solutions that have a part."""
    name = next(name for name in notebooks.lessons() if name.startswith(f"{part.lesson:02d}_"))
    return notebooks.code_cells(notebooks.read(notebooks.path("solutions", name)))


@dataclass(frozen=True)
class Source(InspectLoader):
    """The engine as a module: a text in which the statements of the student's file know their place there."""

    text: str
    own: str
    file: str

    def get_source(self, fullname: str) -> str:
        return self.text

    def exec_module(self, module: ModuleType) -> None:
        compile(self.own, self.file, "exec")  # its errors come before all others
        own = ast.parse(self.own).body
        for statement in ast.parse(self.text).body:
            theirs = bool(own) and ast.dump(own[0]) == ast.dump(statement)
            tree = ast.Module([own.pop(0) if theirs else statement], [])
            exec(compile(tree, self.file if theirs else f"{FILE} (reference)", "exec"), vars(module))
        vars(module)["__getattr__"] = functools.partial(offered, vars(module))


def offered(engine: Mapping[str, object], name: str) -> list[str]:
    """What `from my_engine import *` binds: not what the notebook itself defines, because that is what a check asks for."""
    if name != "__all__":
        raise AttributeError(f"module {NAME!r} has no attribute {name!r}")
    notebook = vars(sys.modules["__main__"]).items()
    own = {name for name, thing in notebook if isinstance(thing, FunctionType | type) and thing.__module__ == "__main__"}
    return [name for name in engine if not name.startswith("_") and name not in own]


def new(words: str) -> bool:
    """True when this has not been said yet."""
    fresh = words not in said
    said.add(words)
    return fresh


def forget_changed(*told: object) -> None:
    """Before a cell runs: a file that has changed since it was imported is read anew by the next import."""
    loader = getattr(sys.modules.get(NAME), "__loader__", None)
    with contextlib.suppress(Unkept):
        if isinstance(loader, Source) and not judged() and loader.own != text_of(folder() / FILE):
            del sys.modules[NAME]


class Finder(MetaPathFinder):
    """Finds `my_engine`: the student's file in the folder of the course, with what it lacks from the solutions.

    tell: is told once what the student should know of it.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.tell = tell

    def say(self, words: str) -> None:
        if new(words):
            self.tell(words)

    def install(self) -> None:
        """Ask this finder first: a file of that name may lie in any folder of notebooks."""
        sys.meta_path[:] = [self, *(each for each in sys.meta_path if not isinstance(each, Finder))]
        if in_notebook():
            from IPython.core.getipython import get_ipython

            shell: Any = get_ipython()
            shell.events.register("pre_run_cell", forget_changed)

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name != NAME:
            return None
        file = folder() / FILE
        own = "" if judged() else self.students(file)
        text = own or reference(100)
        with contextlib.suppress(Unkept):  # what is no Python says so when it is compiled
            text = completed(text)
        return spec_from_file_location(name, file, loader=Source(text, own, str(file)))

    def students(self, file: Path) -> str:
        """The text of the student's file, "" without one; what there is to know of it is said."""
        try:
            own = text_of(file) if file.exists() else ""
        except Unkept as error:
            raise ImportError(str(error)) from None
        stray = here() / FILE
        if stray != file and stray.exists():
            self.say(f"The {FILE} in `{here()}` is not used: your engine is the one in `{folder()}`.")
        if not own:
            self.say(f"There is no {FILE} in `{folder()}` yet, so this is the engine of the solutions. Yours begins when you "
                     'run keep("3.1") after its check has passed.')  # fmt: skip
        with contextlib.suppress(Unkept):
            there = [given()[id].lesson for id in parts_in(own)]
            if gap := lacking(own, max(there, default=0)):
                self.say(of_the_gap(gap))
        return own


def of_the_gap(parts: Sequence[Part]) -> str:
    """What the file lacks, and what to do about it."""
    ids, after = listed([part.id for part in parts]), f"{parts[-1].lesson + 1:02d}"
    return (f"{FILE} lacks {ids}, so `import my_engine` takes what is missing from the solutions. Solve and keep it, or type "
            f"`minigrad engine --upto {after}` in a terminal, which writes into your file what it lacks of the lessons "
            f"before {after}.")  # fmt: skip


def listed(ids: Sequence[str]) -> str:
    """Ids in a sentence."""
    *most, last = ids
    return f"{', '.join(most)} and {last}" if most else last


# --- the file ------------------------------------------------------------------------------------------


def keep(part: Part, cells: Sequence[str], folder: Path, title: str, over: bool = False) -> Change:
    """Put a part into the file, and say what has changed there.

    over: replace lines of the student's that are there for this part; those of the reference are always replaced.

    Raises:
        Differs: nothing was written, because there are other lines and not `over`.
        Unkept: nothing was written, and why.
    """
    return changed(folder, lambda text: edited(text, part, cells, title, over))


def edited(text: str, part: Part, cells: Sequence[str], title: str, over: bool = True) -> str:
    """The file's text with a part from these cells. Raises as `keep`."""
    mark = re.compile(rf"^# {re.escape(part.id)} .*{re.escape(REFERENCE)}$", re.MULTILINE)
    after = mark.sub(lambda _: f"# {part.id} {title}", text)
    for each in given().values():
        if not each.names and each.lesson <= part.lesson and each.id not in parts_in(text):
            after = added(after, each, (), GIVEN_TOO)
    after = added(after, part, sources(part.names, cells, after), title)
    lines = difference(text, after)
    if any(line.startswith("-") for line in lines) and not mark.search(text) and not over:
        raise Differs(lines)
    return after


def complete(folder: Path, before: int, titles: Mapping[str, str]) -> Change:
    """Write into the file what it lacks of the lessons before this one, marked as the reference's. Raises `Unkept`."""
    return changed(folder, lambda text: completed(text, before, titles))


def changed(folder: Path, edit: Callable[[str], str]) -> Change:
    """Replace the file's text by what `edit` makes of it, one writer at a time."""
    file = folder / FILE
    with trouble(file), locked(folder):
        there = file.exists()
        text = text_of(file) if there else BEGIN
        parsed(text, FILE)
        after = edit(text)
        parsed(after, FILE)
        old = replace(file, after) if after != text or not there else ""
    return Change(tuple(difference(text if there else "", after)), old)


def difference(before: str, after: str) -> list[str]:
    """The lines that go and come, with an empty one between two places."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""))[3:]
    return ["" if line.startswith("@@") else line for line in dropwhile("+".__eq__, lines)]


def text_of(file: Path) -> str:
    """The text of the student's file. Raises `Unkept`."""
    with trouble(file):
        return file.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")


@contextlib.contextmanager
def trouble(file: Path) -> Iterator[None]:
    """What the system refuses, as a sentence."""
    try:
        yield
    except UnicodeDecodeError:
        raise Unkept(f"{FILE} is no text in UTF-8. Save it as UTF-8, and run this again.") from None
    except OSError as error:
        raise Unkept(f"{file} cannot be read or written ({reason(error)}). Nothing in it has changed.") from None


def replace(file: Path, text: str) -> str:
    """Write the file in one step; the name under which the one before it is kept. OSError if that fails."""
    old = notebooks.dated(file.parent / OLDER / file.name) if file.exists() else None
    if file.exists() and not os.access(file, os.W_OK):
        raise PermissionError(13, "it is read-only")
    handle, name = tempfile.mkstemp(prefix=FILE, suffix=".tmp", dir=file.parent)
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as whole:
            whole.write(text)
            whole.flush()
            os.fsync(whole.fileno())
        os.chmod(name, 0o644)
        if old:
            old.parent.mkdir(exist_ok=True)
            shutil.copy2(file, old)
            if old.read_bytes() != file.read_bytes():
                raise OSError(0, "the copy of the old one failed")
        os.replace(name, file)
    except BaseException:
        for left in (Path(name), *([old] if old else [])) if os.path.exists(name) else ():  # the file is what it was
            with contextlib.suppress(OSError):
                left.unlink()
        raise
    return f"{OLDER}/{old.name}" if old else ""


def parts_in(text: str) -> list[str]:
    """The ids of the parts of which a file has all that they define."""
    there = names_in(parsed(text, FILE))
    return [part.id for part in given().values() if {*part.names} | names_in(parsed(part.given, "The course")) <= there]


def names_in(statements: Sequence[ast.stmt]) -> set[str]:
    return {name for each in statements for name in bound(each)}


def from_reference(text: str) -> list[str]:
    """The ids of the parts that a file has from the reference."""
    marked = re.findall(rf"^# (\d+\.\w+) .*{re.escape(REFERENCE)}$", text, re.MULTILINE)
    return [id for id in parts_in(text) if id in marked]


def counted(folder: Path) -> str:
    """How much of the engine is the student's own, in a sentence; "" where there is no file."""
    if judged() or not (folder / FILE).exists():
        return ""
    try:
        text = text_of(folder / FILE)
        own, others = [id for id in parts_in(text) if given()[id].names], from_reference(text)
    except Unkept as error:
        return str(error)
    every = sum(bool(part.names) for part in given().values())
    words = f"{FILE} has {len(own) - len(others)} of {every} parts that are yours"
    return f"{words}, and from the reference {listed(others)}." if others else f"{words}."
