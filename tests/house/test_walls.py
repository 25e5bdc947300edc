"""The walls of the package: how large it may be, and what leans on what. Each test measures; none has exceptions."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

from tests.house import walls
from tests.house.walls import MODULES, PACKAGE, files, lines_of, tree
from tests.together import together

READ_IN_ORDER = ("tensor", "tape", "operation", "derivatives", "views", "function")
ENTRIES = """
__init__.py tensor.py tape.py operation.py derivatives.py views.py function.py dtypes.py kernels.py printing.py errors.py
ops autograd nn optim utils linalg.py cuda.py record viz course py.typed
""".split()  # noqa: SIM905


# ---------------------------------------------------------------------------------------------------- size


def test_the_engine_and_its_library_are_small() -> None:
    size = len(lines_of(files("record", "viz", "course")))
    assert size <= 7400


def test_the_record_is_small() -> None:
    size = len(lines_of(files(within="record")))
    assert size <= 2400  # it records what the stepper shows, of PyTorch's passes too


def test_the_pictures_are_small() -> None:
    size = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files(within="viz"))
    assert size <= 4000  # with blank lines, comments and docstrings


def test_the_files_that_are_read_fit_an_afternoon() -> None:
    size = len(lines_of(PACKAGE / f"{name}.py" for name in READ_IN_ORDER))
    assert size <= 2000


def test_what_they_import_fits_too_and_the_readme_says_how_much_it_is() -> None:
    needed = walls.closure(f"minigrad.{name}" for name in READ_IN_ORDER)
    size = len(lines_of(MODULES[module] for module in needed))
    assert size <= 3100
    assert "at most 3,100 lines" in " ".join((PACKAGE.parent / "README.md").read_text(encoding="utf-8").split())


def test_the_folder_is_its_own_table_of_contents() -> None:
    found = {path.name for path in PACKAGE.iterdir() if path.suffix != ".pyi" and path.name not in ("__pycache__", "_files")}
    assert found == set(ENTRIES) and len(found) <= 22


def test_lines_are_short() -> None:
    lines = lines_of(files("viz", "course"))
    mean = sum(map(len, lines)) / len(lines)
    assert mean <= 48


def test_the_reader_of_a_lessons_text_is_small() -> None:
    size = len(lines_of([PACKAGE / "course" / "lesson_text.py"]))
    assert size <= 300


def test_the_walk_is_one_page() -> None:
    file = PACKAGE / "tape.py"
    first = next(node for node in tree(file).body[1:] if not isinstance(node, (ast.Import, ast.ImportFrom)))
    assert isinstance(first, ast.FunctionDef) and first.name == "walk"
    size = len(walls.code_lines(file.read_text(encoding="utf-8"), first))
    assert size <= 60


def test_tests_of_engine_and_library_stay_small() -> None:
    here = PACKAGE.parent / "tests"
    sources = [*(here / "engine").glob("*.py"), *(here / "library").glob("*.py"), *here.glob("*.py")]
    size = len(lines_of(sources))
    assert size <= 4500
    assert sum(path.stat().st_size for path in (here / "data").rglob("*") if path.is_file()) <= 1_200_000


def test_the_course_is_sorted_into_folders() -> None:
    entries = [path.name for path in (PACKAGE / "course").iterdir() if path.name not in ("__pycache__", "_files")]
    assert len(entries) <= 14, sorted(entries)


# ---------------------------------------------------------------------------------------------------- what leans on what


FLOORS = {
    **dict.fromkeys((*READ_IN_ORDER, "dtypes", "kernels", "printing", "errors"), 1),
    **dict.fromkeys(("ops", "linalg", "cuda"), 2),
    **dict.fromkeys(("autograd", "nn", "optim", "utils"), 3),
    "record": 4,
    "": 5,  # the package itself shows what is below
    "viz": 6,
    "course": 7,
}
THIRD_PARTY = {6: {"numpy", "matplotlib", "ipywidgets", "anywidget", "traitlets", "IPython"}}


@together("module", MODULES)
def test_imports_point_down(module: str) -> None:
    floor = FLOORS[walls.top(module)]
    up = {name for name in walls.ours(walls.imports_of(module)) if FLOORS[walls.top(name)] > floor}
    assert not up, f"{module} (floor {floor}) imports upwards: {sorted(up)}"


@together("module", [module for module in MODULES if walls.top(module) != "course"])
def test_third_party_imports_fit_the_floor(module: str) -> None:
    import sys

    roots = {name.split(".")[0] for name in walls.imports_of(module)} - {"minigrad", "__future__"} - sys.stdlib_module_names
    assert roots <= THIRD_PARTY.get(FLOORS[walls.top(module)], {"numpy"}), sorted(roots)


def test_no_circle() -> None:
    """Imports inside functions and for type checkers count."""
    graph = {module: walls.ours(walls.imports_of(module)) & MODULES.keys() - {module} for module in MODULES}
    assert walls.circle(graph) == []


@together("module", MODULES)
def test_no_module_sets_anything_on_another(module: str) -> None:
    """The one way to add a method to Tensor is `attach` in operation.py; to replace the walk, `tape.using`."""
    source = tree(MODULES[module])
    if module == "minigrad.operation":
        kept = [n for n in source.body if not (isinstance(n, ast.FunctionDef) and n.name == "attach")]
        source = ast.Module(kept, [])
    assert list(walls.patches(source)) == []


def test_no_two_modules_have_one_name() -> None:
    counted = Counter(file.stem for file in files("viz", "course") if file.stem != "__init__")
    counted.update({file.parent.name for file in files("viz", "course") if file.stem == "__init__"} - {"minigrad"})
    twice = {name for name, times in counted.items() if times > 1}
    assert twice <= {"functional", "utils"}  # PyTorch's own: nn.functional, autograd.functional, nn.utils, utils


PRIVATE = re.compile(
    r"(^|_)(shares?|kept|keeps?|birthplaces?|speaks?|deposit\w*|picking|gathering|told|hang_up|rooms?|zygote|composed|touch\w*)(_|$)"
)


@together("module", [module for module in MODULES if walls.top(module) not in ("viz", "course")])
def test_names_are_those_of_the_field(module: str) -> None:
    """Saved, contribution, call site, accumulate, elementwise, indexing: not words of our own."""
    found = sorted(name for name in {*walls.names(tree(MODULES[module])), *module.split(".")} if PRIVATE.search(name.lower()))
    assert not found


def test_the_measures_see_what_they_should() -> None:
    planted = ast.parse(
        "from typing import TYPE_CHECKING\nfrom minigrad import tape\nfrom .tensor import Tensor\n"
        "def late():\n    import minigrad.course\n    tape.walk = late\n    setattr(Tensor, 'add', late)\n    late.mark = 1\n"
        "if TYPE_CHECKING:\n    from .viz import step\n"
    )
    assert walls.ours(walls.imports("minigrad.nn", planted, False)) == {
        "minigrad.tape", "minigrad.tensor", "minigrad.course", "minigrad.viz",
    }  # fmt: skip
    assert [line.partition(": ")[2] for line in walls.patches(planted)] == ["tape.walk", "Tensor...."]
    assert walls.circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": set()}) == ["a", "b", "c", "a"]
    assert walls.circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
    assert walls.code_lines('"""Doc."""\n\n# why\nx = [\n    1,\n]\ndef f():\n    """Doc."""\n    return 1  # one\n') == [
        "x = [", "    1,", "]", "def f():", "    return 1  # one",
    ]  # fmt: skip


@together("module", MODULES)
def test_every_module_says_what_the_reader_will_meet(module: str) -> None:
    file: Path = MODULES[module]
    opening = ast.get_docstring(tree(file)) if file.stat().st_size else "an empty file"
    assert opening, f"{module} has no docstring"
    assert len(opening.splitlines()) <= 14, f"the docstring of {module} is long for an opening"
