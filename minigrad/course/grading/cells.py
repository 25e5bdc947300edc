"""Running the cells of a notebook inside the sandbox, more forgivingly than a kernel would.

The worker (`worker.py`) runs a cell; here is what a class of two hundred needs besides: a cell split in the
middle of a function is joined again, a cell that came before the names it needs has a second chance at the
end, a blank copy does not replace a finished answer, and `np = None` does not spoil what others use `np`
for. All of it happens on the student's side of the wall, where their code may be parsed without risk.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import linecache
import re
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from minigrad.course.student import wire, worker
from minigrad.course.student.wire import Failure

_ABSENT = object()
_FENCE = re.compile(r"^[ \t]*(```|~~~).*$", re.MULTILINE)
MOST_MISSING = 10  # imports of one cell that may fail


class Notebook(worker.Server):
    """The worker's server, whose `exec` takes the cells of a whole notebook as students leave them."""

    def __init__(self) -> None:
        super().__init__()
        self.early: dict[int, str] = {}  # cells that asked for a name that was not there yet
        self.modules: dict[str, str] = {}  # what the notebook's own imports are called

    def exec(
        self, cells: list[str], first: int = 1, previous: str = "", last: bool = True, given: str = "",
        parked: Sequence[str] = (), engine: str | None = None, parts: dict[str, Any] | None = None,
    ) -> list[Failure | None]:  # fmt: skip
        """Run cells numbered from `first`, which come after the cell `previous`.

        `engine` is the text of `my_engine` from now on, "" for none; `parts` are those that `keep` can add to it. `given` are
        imports that the lesson's own notebook begins with, should the student have lost them. After the `last` cell come
        the texts that are `parked` in cells of another kind, for names that are not there, and what could not run before
        has its second chance: an empty cell with its number is enough to be told how that went.
        """
        if engine is not None:
            code = functools.cache(lambda: compile(engine, f"<{worker.ENGINE}>", "exec"))
            sys.meta_path.insert(0, worker.Lent(code if engine else worker.no_engine))
            worker.parts.update(parts or {})
        if given:
            self.cell(given, 0)
        results: list[Failure | None] = []
        for number, source in enumerate(cells, first):
            outcome = self.cell(source, number) if source.strip() else None
            if _continues(outcome) and previous and self.cell(previous + "\n" + source, number) is None:
                outcome = None
            elif outcome is not None and outcome.type == "IndentationError" and source[:1] in " \t":
                outcome = self.cell(unindented(source), number)
            results.append(outcome)
            if outcome is not None and outcome.type == "NameError":
                self.early[number] = source
            previous = source or previous
        if last:
            for number, source in enumerate(parked, 1):
                self.cell(_FENCE.sub("", source), -number, only_new=True)
            for number, source in self.early.items():
                outcome = self.cell(source, number, only_new=True)
                if 0 <= number - first < len(results):
                    results[number - first] = outcome
            self.early.clear()
            self.restore_modules()
        return results

    def cell(self, source: str, number: int, only_new: bool = False) -> Failure | None:
        """Run one cell. What was finished is not replaced by a blank; with `only_new`, nothing is replaced."""
        before = dict(self.namespace)
        outcome = self.attempt(source, number)
        if isinstance(outcome, Failure) and outcome.type == "ModuleNotFoundError":
            self.without_missing(source, number, outcome)
        for name, old in before.items():
            new = self.namespace.get(name, _ABSENT)
            if new is not old and new is not _ABSENT and (only_new or _emptied(old, new)):
                self.namespace[name] = old
        self.remember_imports(source)
        return outcome if isinstance(outcome, Failure) and outcome.kind != "printed" else None

    def attempt(self, source: str, number: int) -> Any:
        """Run a cell once. What it seeds, the next one draws from; nobody is there to type anything."""
        run = functools.partial(self.run_cell, source, f"<cell {number}>")
        with swapped(builtins, "input", lambda prompt="": ""):
            return self.guarded(run, contextlib.nullcontext)

    def without_missing(self, source: str, number: int, failure: Failure) -> None:
        """Go on after imports of packages that are not here; the cell's first failure is told all the same."""
        lines = source.split("\n")
        for _ in range(MOST_MISSING):
            place = (failure.line or 0) - 1
            if not 0 <= place < len(lines) or not re.match(r"\s*(import|from)\s[^\\(]*$", lines[place]):
                return
            lines[place] = without_import(lines[place], failure.message)
            outcome = self.attempt("\n".join(lines), number)
            if not isinstance(outcome, Failure) or outcome.type != "ModuleNotFoundError":
                return
            failure = outcome

    def remember_imports(self, source: str) -> None:
        """Note what `import numpy as np` binds."""
        if "import" not in source:
            return
        try:
            lines = ast.parse(worker.without_magics(source)).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return  # the cell has its own failure already
        for line in lines:
            for alias in line.names if isinstance(line, ast.Import) else ():
                if alias.asname or "." not in alias.name:
                    self.modules[alias.asname or alias.name] = alias.name

    def restore_modules(self) -> None:
        """Give a module its name back if something that is no function took it."""
        for name, module in self.modules.items():
            now = self.namespace.get(name, _ABSENT)
            if now is not _ABSENT and not isinstance(now, types.ModuleType) and not callable(now):
                self.guarded(functools.partial(exec, f"import {module} as {name}", self.namespace))


def without_import(line: str, message: str) -> str:
    """A line of imports without the one that failed with this message; without any if it is not to be told which."""
    indent, word, rest = re.fullmatch(r"(\s*)(\S+)\s*(.*?)\s*", line, re.DOTALL).groups()  # type: ignore[union-attr]
    missing = message.removeprefix("No module named ").strip("'")
    parts = [part.strip() for part in rest.split(",")] if word == "import" else []
    kept = [part for part in parts if missing not in (part.split()[:1] or [""])[0].split(".") + part.split()[:1]]
    return f"{indent}import {', '.join(kept)}" if kept and len(kept) < len(parts) else indent + "pass"


def unindented(source: str) -> str:
    """The cell as IPython takes it: what its first line is indented by counts for none."""
    indent = source[: len(source) - len(source.lstrip(" \t"))]
    return "\n".join(line.removeprefix(indent) for line in source.split("\n"))


def _continues(outcome: Failure | None) -> bool:
    """True for a cell that begins in the middle of something."""
    return outcome is not None and (
        outcome.type == "IndentationError"
        or (outcome.type == "SyntaxError" and outcome.message.startswith("'return' outside function"))
    )


def _emptied(old: Any, new: Any) -> bool:
    """True if a finished answer was replaced by a blank."""
    finished = worker.blankness(old) == "there" and old is not None and not worker.of_the_engine(old)
    return finished and worker.blankness(new) == "blank"


@contextlib.contextmanager
def swapped(module: Any, name: str, thing: Any) -> Iterator[None]:
    """For a while, a module's `name` is another thing."""
    before = getattr(module, name)
    setattr(module, name, thing)
    try:
        yield
    finally:
        setattr(module, name, before)


_SAMPLE = """
import numpy as np, warnings
from minigrad.course import check, hint, predict

class Sample:
    def method(self):
        return [1.0]

def sample(x, v):
    \"\"\"Text.\"\"\"
    y = x * v  # a comment
    return np.sum(y @ y.T, axis=0)

print(np.arange(3.0), np.eye(2))
warnings.warn("x")
"""


def rehearse() -> None:
    """Do once, before any fork, what every worker will do, so that none pays for the first time."""
    main = sys.modules["__main__"]
    notebook = Notebook()
    notebook.exec([_SAMPLE, "%time x = 1", "undefined", "1 / 0"])
    notebook.look(["sample", "Sample", "Sample.method", "sampel"])
    array = np.ones((2, 2))
    worker.plain(notebook.call("sample", array, array))
    worker.plain(notebook.run("s = Sample()\ns.method()", {"x": 1}))
    wire.unpack(wire.pack([1.0, "x", array, {"a": (True, None)}]))
    worker.predictions.clear()
    linecache.clearcache()
    sys.modules["__main__"] = main
