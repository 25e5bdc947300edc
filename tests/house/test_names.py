"""A solution uses only what its lesson, or an earlier one, has introduced.

What counts as a name is decided by the syntax tree alone. The names a notebook uses are: every attribute
(`x.backward`, `np.exp`), every imported module and name, every keyword of a call (`requires_grad=`), `@`, every
function, class or method defined outside a function, and every bare name that the notebook itself does not
bind. `PLAIN` is taken for granted and never declared: Python's builtins as bare names, the methods of its own
types as attributes (so `x.sum` counts and `sum(x)` does not), and a few keywords of builtins. All the rest has
to stand in `Lesson.introduces` of this lesson or an earlier one. A lesson may claim only what the code of its
own reading or solution notebook uses, and no two lessons claim the same name.
"""

import ast
import builtins
import re

import pytest

from minigrad.course import lessons, notebooks
from minigrad.course.exercise import Lesson

TYPES = (object, type, type(len), type(lambda: 0), BaseException, str, list, tuple, dict, set, int, float)
PLAIN_METHODS = {name for each in TYPES for name in dir(each)}
PLAIN_NAMES = set(dir(builtins))
PLAIN_KEYWORDS = {"end", "key", "sep", "strict"}

ALL = lessons.all_lessons()
SOLVED = [each for each in ALL if notebooks.path("solutions", each.slug).exists()]
WRITTEN = [each for each in ALL if notebooks.path("notebooks", each.slug).exists()]


def names(source: str) -> set[str]:
    """The names that a piece of code uses and that somebody has to have introduced."""
    tree = ast.parse(source)
    used: set[str] = set()
    bound: set[str] = set()
    loaded: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Attribute():
                used |= {node.attr} - PLAIN_METHODS
            case ast.keyword(arg=str(keyword)):
                used |= {keyword} - PLAIN_KEYWORDS
            case ast.Import() | ast.ImportFrom():
                used |= {alias.name for alias in node.names}
                used |= {node.module} if isinstance(node, ast.ImportFrom) and node.module else set()
                bound |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
            case ast.MatMult():
                used.add("@")
            case ast.FunctionDef() | ast.ClassDef():
                bound.add(node.name)
            case ast.arg():
                bound.add(node.arg)
            case ast.ExceptHandler(name=str(caught)):
                bound.add(caught)
            case ast.Name(ctx=ast.Load()):
                loaded.add(node.id)
            case ast.Name():
                bound.add(node.id)
    return used | defined(tree) | (loaded - bound - PLAIN_NAMES)


def defined(tree: ast.Module) -> set[str]:
    """The functions and classes at the top of a module, and the methods of these classes."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {method.name for method in node.body if isinstance(method, ast.FunctionDef)} - PLAIN_METHODS
    return found


def code(kind: str, lesson: Lesson) -> str:
    """All code of one notebook, given code and solutions; empty if there is no such notebook (yet)."""
    file = notebooks.path(kind, lesson.slug)
    cells = notebooks.code_cells(notebooks.read(file)) if file.exists() else []
    return re.sub(r"(?m)^[%!].*$", "pass", "\n".join(cells))


def unknown(lesson: Lesson, source: str) -> set[str]:
    """The names in a solution of this lesson that neither it nor an earlier lesson introduces."""
    known = {name for each in ALL if each.number <= lesson.number for name in each.introduces}
    return names(source) - known


@pytest.mark.parametrize("lesson", SOLVED, ids=lambda lesson: lesson.slug)
def test_solutions_use_only_names_introduced_so_far(lesson: Lesson) -> None:
    assert sorted(unknown(lesson, code("solutions", lesson))) == []


@pytest.mark.parametrize("lesson", WRITTEN, ids=lambda lesson: lesson.slug)
def test_a_lesson_claims_only_names_that_its_notebooks_use(lesson: Lesson) -> None:
    seen = names(code("notebooks", lesson)) | names(code("solutions", lesson))
    assert sorted(set(lesson.introduces) - seen) == []


@pytest.mark.parametrize("lesson", WRITTEN, ids=lambda lesson: lesson.slug)
def test_every_written_lesson_introduces_something_new(lesson: Lesson) -> None:
    earlier = [name for each in ALL if each.number < lesson.number for name in each.introduces]
    assert lesson.introduces
    assert len(set(lesson.introduces)) == len(lesson.introduces)
    assert not set(lesson.introduces) & set(earlier)


@pytest.mark.slow
@pytest.mark.parametrize("later", [each for each in SOLVED if each.number], ids=lambda lesson: lesson.slug)
def test_a_later_name_in_an_earlier_solution_is_found(later: Lesson) -> None:
    name = next(name for name in later.introduces if name.isidentifier())
    for earlier in SOLVED:
        source = code("solutions", earlier).replace("### BEGIN SOLUTION", f"np.zeros(3).{name}", 1)
        found = name in unknown(earlier, source)
        assert found == (earlier.number < later.number), f"{name} in {earlier.slug}"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x.backward()", {"x", "backward"}),
        ("def f(x):\n    return sum(x) + x.sum()", {"f", "sum"}),
        ("def f(x):\n    def push():\n        return x\n    return push()", {"f"}),
        ("class A:\n    def __init__(self): pass\n    def go(self): return A", {"A", "go"}),
        ("import numpy as np\nnp.ones(2, dtype=float) @ [1, 2]", {"numpy", "ones", "dtype", "@"}),
        ("from minigrad.autograd import Function as F\nF", {"minigrad.autograd", "Function"}),
        ("a = [2]\na.append(len(a))\nprint(*a, sep=', ')", set()),
        ("softmax([1])", {"softmax"}),
    ],
)
def test_what_counts_as_a_name(source: str, expected: set[str]) -> None:
    assert names(source) == expected
