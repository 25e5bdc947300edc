"""The house of the package: imports point down, nothing runs in a circle, the engine needs numpy."""

import ast
import functools
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.together import together

PACKAGE = Path(__file__).parents[2] / "minigrad"
LIBRARY = ("amp", "autograd", "distributions", "func", "nn", "optim", "record", "utils")
FLOORS = {**dict.fromkeys(LIBRARY, 3), "viz": 4, "course": 5}
ENGINE = 2
THIRD_PARTY = {
    2: {"numpy"},
    3: {"numpy"},
    4: {"numpy", "matplotlib", "ipywidgets", "anywidget", "traitlets", "IPython"},
    5: None,
}  # None: anything well kept


def module_name(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(file): file for file in sorted(PACKAGE.rglob("*.py")) if "_files" not in file.parts}


def floor(module: str) -> int:
    parts = module.split(".")
    return FLOORS.get(parts[1], ENGINE) if len(parts) > 1 else 3  # the package itself shows floors 2 and 3


def imports(module: str, source: str, is_package: bool, at_load: bool = False) -> set[str]:
    """The modules that a source imports, as full names; those under `if TYPE_CHECKING:` are not imports.

    `at_load` leaves out what is imported inside functions, when they are called.
    """
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for other in node.orelse:
                visit(other)
            return
        if at_load and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return
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
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(ast.parse(source))
    return found


@functools.cache
def imports_of(module: str, at_load: bool = False) -> frozenset[str]:
    file = MODULES[module]
    return frozenset(imports(module, file.read_text(encoding="utf-8"), file.name == "__init__.py", at_load))


def ours(names: Iterable[str]) -> set[str]:
    return {name for name in names if name.split(".")[0] == "minigrad"}


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


@together("module", MODULES)
def test_imports_point_down(module: str) -> None:
    up = {name for name in ours(imports_of(module)) if floor(name) > floor(module)}
    assert not up, f"{module} (floor {floor(module)}) imports upwards: {sorted(up)}"


@together("module", MODULES)
def test_third_party_imports_fit_the_floor(module: str) -> None:
    allowed = THIRD_PARTY[floor(module)]
    roots = {name.split(".")[0] for name in imports_of(module)} - {"minigrad"} - sys.stdlib_module_names
    assert allowed is None or roots <= allowed, f"{module} imports {sorted(roots - allowed)}"


def test_no_circle() -> None:
    graph = {module: ours(imports_of(module)) & MODULES.keys() - {module} for module in MODULES}
    assert circle(graph) == []


def test_the_scan_sees_what_it_should() -> None:
    """The two rules above can fail: a planted upward import and a planted circle are found."""
    planted = "from .viz import step\ndef late():\n    import minigrad.course\n"
    assert ours(imports("minigrad.tape", planted, False)) == {"minigrad.viz", "minigrad.course"}
    assert ours(imports("minigrad.tape", planted, False, at_load=True)) == {"minigrad.viz"}
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": set()}) == ["a", "b", "c", "a"]
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


@pytest.mark.slow
def test_no_public_function_has_its_modules_name() -> None:
    """`minigrad.tensor` is the function, on purpose; nothing else may hide a module. (`checkpoint.checkpoint` is PyTorch's
    name for it, and `utils` never binds the function.)
    """
    clashes = []
    for module, file in MODULES.items():
        last = module.split(".")[-1]
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == last and last not in ("tensor", "checkpoint"):
                clashes.append(f"{module}.{last}")
    assert not clashes


READING_ROOM = ("tensor.py", "tape.py", "derivatives.py", "function.py")


def code_lines(source: str) -> int:
    """Lines that hold code: neither blank, nor a comment, nor a docstring."""
    tree = ast.parse(source)
    docs: set[int] = set()
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            docs.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = source.splitlines()
    return sum(bool(line.strip()) and not line.strip().startswith("#") and number not in docs
               for number, line in enumerate(lines, start=1))  # fmt: skip


def test_the_reading_room_fits_the_readers_patience() -> None:
    files = [PACKAGE / name for name in READING_ROOM]
    total = sum(code_lines(file.read_text(encoding="utf-8")) for file in files if file.exists())
    assert 0 < total <= 1200, f"{total} lines of code in {', '.join(READING_ROOM)}"


@together("module", MODULES)
def test_every_module_says_what_the_reader_will_meet(module: str) -> None:
    source = MODULES[module].read_text(encoding="utf-8")
    opening = ast.get_docstring(ast.parse(source)) if source else "an empty file"
    assert opening, f"{module} has no docstring"
    assert len(opening.splitlines()) <= 14, f"the docstring of {module} is long for an opening"
