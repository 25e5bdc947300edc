"""What the cells of a notebook did when they last ran, so that a check judges what its cell holds now.

A variable keeps its value when the cell that gave it is changed and then fails, or gives a value to another name. So the
history notes for each name the run that last gave it a value or was about to, and for each cell its last run. A front end
names its cells (JupyterLab, Notebook 7, VS Code); where it does not, a run that fails is still found by the names in it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..student.wire import article
from .progress_store import in_notebook

__all__ = ["counts_now", "doubt", "failed_below", "watch"]

GIVES = re.compile(  # in a cell that is no Python: `def f`, `class A`, `x =`, `x: int =`, and no call or comparison
    r"^(?:(?:def|class)\s+|(?=\w+\s*(?::[^=\n]*)?=(?!=)))([A-Za-z_]\w*)", re.MULTILINE
)
INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.comprehension)


@dataclass
class Run:
    """One run of a cell: the names that it gave a value or was about to, and the type of the error that stopped it."""

    cell: str = ""
    names: set[str] = field(default_factory=set)
    error: str = ""
    given: set[str] = field(default_factory=set)  # the names that had their value before the error
    trees: list[ast.AST] = field(default_factory=list)  # what was executed: the cell, and in a magic what the magic executes
    before: dict[str, int] = field(default_factory=dict)  # which object each name stood for


class History:
    """The runs of one IPython shell, which tells of each cell and of the Python that it executes, inside `%%time` too."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.running: list[Run] = []  # a cell that runs another one, as `%%capture` does, is one run
        self.last: dict[str, Run] = {}  # cell -> its last run
        self.giver: dict[str, Run] = {}  # name -> the run that gave it its value, or was about to
        self.names: dict[str, set[str]] = {}  # the text of a cell -> the names that a run of it gave
        shell.events.register("pre_run_cell", self.begin)
        shell.events.register("post_run_cell", self.end)
        shell.ast_transformers.append(self)

    def begin(self, info: Any) -> None:
        """A cell begins; what is no cell of its own is not stored in IPython's history."""
        if info.store_history or not self.running:
            run = Run(info.cell_id or "", before=self.objects())
            self.running = [run]
            if run.cell:
                self.last[run.cell] = run
        else:
            self.running.append(self.running[-1])
            self.running[-1].trees = []

    def visit(self, tree: ast.AST) -> ast.AST:
        """What IPython is about to execute: it stays as it is."""
        if self.running:
            run = self.running[-1]
            run.trees.append(tree)
            self.note(run, given_in(tree))
        return tree

    def end(self, result: Any) -> None:
        """A cell has ended.

        Some give names a value in ways that their text does not show, such as `%run`. That is seen by the objects; run again,
        such a cell may give the same object, and then it is known by its text.
        """
        if not self.running:  # the cell that imported the course
            return
        run = self.running.pop()
        if not result.success:
            run.error = type(result.error_before_exec or result.error_in_exec).__name__
            run.given |= given_before(run.trees, result.error_in_exec, self.shell.user_ns)
        if result.error_before_exec:
            self.note(run, set(GIVES.findall(result.info.raw_cell)))
        if self.running:
            return
        changed = {name for name, it in self.objects().items() if run.before.get(name) != it}
        again = set() if run.error else self.names.get(result.info.raw_cell, set())
        self.note(run, changed | again)
        if run.error:
            run.given |= changed
        else:
            self.names[result.info.raw_cell] = run.names

    def objects(self) -> dict[str, int]:
        """Which object each of the student's names stands for."""
        return {name: id(it) for name, it in self.shell.user_ns.items() if name[:1] != "_"}

    def note(self, run: Run, names: set[str]) -> None:
        """These names belong to this run; a class that is made anew has none of the methods that were added to it."""
        run.names |= names
        for name in [name for name in self.giver if name.partition(".")[0] in names]:
            del self.giver[name]
        self.giver.update(dict.fromkeys(names, run))


def given_in(tree: ast.AST) -> set[str]:
    """The names that a cell gives a value, with attributes of them as `Value.relu`; what is inside a function is its own."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            found.add(f"{node.value.id}.{node.attr}")
        if not isinstance(node, INNER):
            found |= given_in(node)
    return found


def given_before(trees: list[ast.AST], error: BaseException | None, namespace: Mapping[str, Any]) -> set[str]:
    """The names that a cell gives a value in the statements above the one at which it failed.

    trees: the cell, and what a magic in it executes; a frame of each is in the error's traceback, between IPython's own.
    """
    frame, lines = error and error.__traceback__, []
    while frame:
        if frame.tb_frame.f_locals is namespace:
            lines.append(frame.tb_lineno)
        frame = frame.tb_next
    if not 0 < len(trees) <= len(lines) or not isinstance(trees[-1], ast.Module):
        return set()
    above = [node for node in trees[-1].body if (node.end_lineno or node.lineno) < lines[len(trees) - 1]]
    return given_in(ast.Module(above, []))


current: list[History] = []  # of the shell that runs


def watch() -> History | None:
    """The history of the shell that runs, which begins with the first call; None outside a notebook."""
    if not in_notebook():
        return None
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if not current or current[0].shell is not shell:
        current[:] = [History(shell)]
    return current[0]


def counts_now(name: str) -> None:
    """A name has been given a value by something that is no cell, such as the answer form: it counts."""
    for history in current:
        history.giver.pop(name, None)


def run_of(history: History, name: str) -> Run | None:
    """The run that gave a name its value, or was about to; None where no cell is known to have done so."""
    return history.giver.get(name) or history.giver.get(name.partition(".")[0])


def doubt(name: str) -> tuple[str, ...]:
    """Why what a name holds is not what the last run of its cell gave it, in sentences; () where nothing speaks against it."""
    history = watch()
    root = name.partition(".")[0]
    run = history and run_of(history, name)
    if not history or not run:
        return ()
    now = history.last.get(run.cell, run)
    if now.error and not now.given & {name, root}:
        happened = f"The cell of `{name}` stopped with {article(now.error)} {now.error} when it ran last."
        then = "Correct the cell and run it, then check again."
    elif now.names & {name, root} or root not in history.shell.user_ns:
        return ()
    else:
        others = " and ".join(f"`{other}`" for other in sorted(now.names)[:3])
        instead = f" It sets {others}: did you change the name?" if others else ""
        happened = f"The cell that set `{name}` was changed, and does not set it any more.{instead}"
        then = f"Run a cell that sets `{name}`, then check again."
    left = f"`{name}` still has the value of an earlier run, which does not count."
    return (happened, left, then) if root in history.shell.user_ns else (happened, then)


def failed_below(name: str) -> str:
    """That the cell which gave a name its value stopped further down, in a sentence; "" if it did not."""
    history = watch()
    run = history and run_of(history, name)
    now = history.last.get(run.cell, run) if history and run else None
    if now is None or not now.given & {name, name.partition(".")[0]}:
        return ""
    return f"The cell of `{name}` gave it this value, and stopped below that with {article(now.error)} {now.error}."
