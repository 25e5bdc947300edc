"""How the package is measured: its modules, their code lines, what they import, what they set on others."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "minigrad"
QUIET = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def module_name(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(file): file for file in sorted(PACKAGE.rglob("*.py")) if "_files" not in file.parts}


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def code_lines(source: str, within: ast.AST | None = None) -> list[str]:
    """The lines that hold code (of one definition): neither blank, nor a comment, nor part of a docstring."""
    docs: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        first = node.body[0] if isinstance(node, DOCUMENTED) and node.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            docs.update(range(first.lineno, (first.end_lineno or 0) + 1))
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in QUIET:
            held.update(range(token.start[0], token.end[0] + 1))
    if isinstance(within, (ast.FunctionDef, ast.ClassDef)):
        held &= {*range(within.lineno, (within.end_lineno or 0) + 1)}
    lines = source.splitlines()
    return [lines[number - 1] for number in sorted(held - docs)]


@cache
def lines_of_file(file: Path) -> list[str]:
    return code_lines(file.read_text(encoding="utf-8"))


def lines_of(files: Iterable[Path]) -> list[str]:
    return [line for file in files for line in lines_of_file(file)]


def top(module: str) -> str:
    """The entry of minigrad/ that a module belongs to; "" for the package itself."""
    return module.partition(".")[2].partition(".")[0]


def files(*without: str, within: str | None = None) -> list[Path]:
    return [file for module, file in MODULES.items() if top(module) not in without and within in (None, top(module))]


def imports(module: str, source: ast.Module, is_package: bool) -> set[str]:
    """Every module that a source imports, as full names: in functions and under `TYPE_CHECKING` too."""
    found: set[str] = set()
    for node in ast.walk(source):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = module.split(".")[: len(module.split(".")) - node.level + is_package]
                base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                whole = f"{base}.{alias.name}"
                found.add(whole if whole in MODULES else base)
    return found


@cache
def imports_of(module: str) -> frozenset[str]:
    file = MODULES[module]
    return frozenset(imports(module, tree(file), file.name == "__init__.py"))


def ours(names: Iterable[str]) -> set[str]:
    return {name for name in names if name.split(".")[0] == "minigrad"}


def closure(modules: Iterable[str]) -> set[str]:
    """These modules and all that they import, directly or not."""
    found: set[str] = set()
    waiting = [*modules]
    while waiting:
        module = waiting.pop()
        if module in MODULES and module not in found:
            found.add(module)
            waiting += ours(imports_of(module))
    return found


def circle(graph: dict[str, set[str]]) -> list[str]:
    """One circle of a graph, as the list of its nodes; empty when there is none."""
    done: set[str] = set()
    for start in graph:
        trail: list[str] = [start]
        branches = [iter(sorted(graph[start]))]
        while trail:
            if trail[-1] in done:
                trail.pop(), branches.pop()
                continue
            step = next(branches[-1], None)
            if step is None:
                done.add(trail[-1])
            elif step in trail:
                return [*trail[trail.index(step) :], step]
            elif step in graph:
                trail.append(step)
                branches.append(iter(sorted(graph[step])))
    return []


def patches(source: ast.Module) -> Iterator[str]:
    """What a source sets on a class or module that it imported from this package: `Tensor.add = ...`, `setattr(tape, ...)`."""
    imported = {
        (alias.asname or alias.name).split(".")[0]
        for node in ast.walk(source)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
        if (getattr(node, "module", None) or alias.name).startswith("minigrad") or getattr(node, "level", 0)
    }
    for node in ast.walk(source):
        targets: list[ast.expr] = []
        if isinstance(node, (ast.Assign, ast.Delete)):
            targets = node.targets
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
            targets = [node.target]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr"):
            targets = [ast.Attribute(node.args[0], "...", ast.Store())]
        for target in targets:
            root = target
            while isinstance(root, (ast.Attribute, ast.Subscript)):
                root = root.value
            if isinstance(target, ast.Attribute) and isinstance(root, ast.Name) and root.id in imported:
                yield f"line {node.lineno}: {ast.unparse(target)}"


def names(source: ast.Module) -> set[str]:
    """The names that a source defines: functions, classes, arguments, variables and attributes."""
    found: set[str] = set()
    for node in ast.walk(source):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
    return found
