"""What the cells of a notebook did when they last ran, so that a check judges what its cell holds now.

A variable keeps its value when the cell that gave it is changed and then fails, or gives a value to another name. So the
history notes for each name the run that last gave it a value or was about to, and for each cell its last run. A front end
names its cells (JupyterLab, Notebook 7, VS Code); where it does not, a run that fails is still found by the names in it.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Any

from .card import in_notebook
from .wire import article

__all__ = ["counts_now", "doubt", "watch"]

GIVES = re.compile(r"^(?:def |class )?([A-Za-z_]\w*)(?=\s*[=(:])", re.MULTILINE)  # in a cell that is no Python
INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.comprehension)


@dataclass
class Run:
    """One run of a cell: the names that it gave a value or was about to, and the type of the error that stopped it."""

    cell: str = ""
    names: set[str] = field(default_factory=set)
    error: str = ""
    before: dict[str, int] = field(default_factory=dict)  # which object each name stood for


class History:
    """The runs of one IPython shell, which tells of each cell and of the Python that it executes, inside `%%time` too."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.running: list[Run] = []  # a cell that runs another one, as `%%capture` does, is one run
        self.last: dict[str, Run] = {}  # cell -> its last run
        self.giver: dict[str, Run] = {}  # name -> the run that gave it its value, or was about to
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

    def visit(self, tree: ast.AST) -> ast.AST:
        """What IPython is about to execute: it stays as it is."""
        if self.running:
            self.note(self.running[-1], given_in(tree))
        return tree

    def end(self, result: Any) -> None:
        """A cell has ended. Some give names a value in ways that their text does not show, such as `%run`."""
        if not self.running:  # the cell that imported the course
            return
        run = self.running.pop()
        if not result.success:
            run.error = type(result.error_before_exec or result.error_in_exec).__name__
        if result.error_before_exec:
            self.note(run, set(GIVES.findall(result.info.raw_cell)))
        if not self.running:
            self.note(run, {name for name, it in self.objects().items() if run.before.get(name) != it})

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


kept: list[History] = []  # of the shell that runs


def watch() -> History | None:
    """The history of the shell that runs, which begins with the first call; None outside a notebook."""
    if not in_notebook():
        return None
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if not kept or kept[0].shell is not shell:
        kept[:] = [History(shell)]
    return kept[0]


def counts_now(name: str) -> None:
    """A name has been given a value by something that is no cell, such as the answer form: it counts."""
    for history in kept:
        history.giver.pop(name, None)


def doubt(name: str) -> tuple[str, ...]:
    """Why what a name holds is not what the last run of its cell gave it, in sentences; () if it is, or nobody knows."""
    history = watch()
    root = name.partition(".")[0]
    run = history and (history.giver.get(name) or history.giver.get(root))
    if not history or not run:
        return ()
    now = history.last.get(run.cell, run)
    if now.error:
        happened = f"The cell of `{name}` stopped with {article(now.error)} {now.error} when it ran last."
        then = "Correct the cell and run it, then check again."
    elif name in now.names or root in now.names or root not in history.shell.user_ns:
        return ()
    else:
        others = " and ".join(f"`{other}`" for other in sorted(now.names)[:3])
        instead = f" It sets {others}: did you change the name?" if others else ""
        happened = f"The cell that set `{name}` was changed, and does not set it any more.{instead}"
        then = f"Run a cell that sets `{name}`, then check again."
    left = f"`{name}` still has the value of an earlier run, which does not count."
    return (happened, left, then) if root in history.shell.user_ns else (happened, then)
