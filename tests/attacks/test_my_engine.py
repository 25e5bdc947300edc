"""What `my_engine` is where an exercise is judged: the parts of the lessons before, and whoever asks for more gets nothing.

Each attempt tries to take the answer to 7.1, which computes two matrix products, from an engine that has it: in the child
that checks a notebook, and in the sandbox of class grading.
"""

from __future__ import annotations

import gc
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minigrad.course import lessons, notebooks
from minigrad.course.checks import own_engine
from minigrad.course.commands import terminal
from minigrad.course.grading.grader import engine_of
from minigrad.course.student import child, lent
from minigrad.course.student.child import can_fork, examine
from tests.grading.classroom import BOUNDARIES, grader, notebook

pytestmark = pytest.mark.skipif(not can_fork(), reason="no fork here")

RIGHT = "def matmul_backward(G, X, W):\n    return G @ W.T, X.T @ G\n"
# A whole engine of a student: with 7.1 under its own name, under another, in a method, and in a closure.
WHOLE = f"""
{RIGHT}
by_another_name = matmul_backward
pair = matmul_backward, 1

def product(self, G, X, W):
    return G @ W.T, X.T @ G

Tensor.product = product
del product

def made(rule):
    def closed(G, X, W):
        return rule(G, X, W)

    return closed

closed = made(matmul_backward)
"""
ATTEMPTS = '''
import gc, importlib, linecache, os, sys, types
def by_name(G, X, W):
    return matmul_backward(G, X, W)
def by_module(G, X, W):
    import my_engine
    return my_engine.matmul_backward(G, X, W)
def in_its_names(G, X, W):
    import my_engine
    rule, = [getattr(my_engine, name) for name in dir(my_engine) if "another" in name]
    return rule(G, X, W)
def in_a_method(G, X, W):
    import my_engine
    return my_engine.Tensor.product(None, G, X, W)
def in_a_closure(G, X, W):
    import my_engine
    return my_engine.closed(G, X, W)
def kept(G, X, W, rule=globals().get("matmul_backward")):
    return rule(G, X, W)
def kept_in_a_tuple(G, X, W, rule=globals().get("pair", (None,))):
    return rule[0](G, X, W)
def kept_in_a_closure(G, X, W, rule=globals().get("closed")):
    return rule(G, X, W)
def kept_as_a_class(G, X, W, Tensor=globals().get("Tensor")):
    return Tensor.product(None, G, X, W)
def kept_as_a_dict(G, X, W, space=getattr(globals().get("matmul_backward"), "__globals__", {})):
    return space["matmul_backward"](G, X, W)
def in_memory(G, X, W):
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and (thing.__module__, thing.__name__) == ("my_engine", "matmul_backward"):
            return thing(G, X, W)
def by_class_in_memory(G, X, W):
    for thing in gc.get_objects():
        if isinstance(thing, type) and thing.__module__ == "my_engine" and hasattr(thing, "product"):
            return thing.product(None, G, X, W)
def in_a_frame(G, X, W):
    frame = sys._getframe()
    while "mine" not in frame.f_globals or "matmul_backward" not in vars(frame.f_globals["mine"]):
        frame = frame.f_back
    return frame.f_globals["mine"].matmul_backward(G, X, W)
def loaded_again(G, X, W):
    import my_engine
    return importlib.reload(my_engine).matmul_backward(G, X, W)
def without_the_finder(G, X, W):
    sys.modules.pop("my_engine", None)
    sys.path.insert(0, FOLDER)
    sys.meta_path[:] = [each for each in sys.meta_path if "Lent" not in type(each).__name__]
    importlib.invalidate_caches()
    return importlib.import_module("my_engine").matmul_backward(G, X, W)
def with_the_course_s_finder(G, X, W):
    from minigrad.course.checks import own_engine
    sys.modules.pop("my_engine", None)
    own_engine.Finder(print).install()
    return importlib.import_module("my_engine").matmul_backward(G, X, W)
def run_as(text, G, X, W):
    space = {"np": sys.modules["numpy"]}
    exec(text[text.index("def matmul_backward"):].partition("\\n\\n")[0], space)
    return space["matmul_backward"](G, X, W)
def from_the_file(G, X, W):
    return run_as(open(os.path.join(FOLDER, "my_engine.py")).read(), G, X, W)
def from_a_link_to_the_file(G, X, W):
    os.link(os.path.join(FOLDER, "my_engine.py"), os.path.join(FOLDER, "other.py"))
    return run_as(open(os.path.join(FOLDER, "other.py")).read(), G, X, W)
def from_kept_lines(G, X, W):
    return run_as("".join(linecache.cache[os.path.join(FOLDER, "my_engine.py")][2]), G, X, W)
def from_the_loader(G, X, W):
    import my_engine
    return run_as(my_engine.__spec__.loader.get_source("my_engine"), G, X, W)
def from_the_course(G, X, W):
    from minigrad.course.checks.own_engine import reference
    return run_as(reference(99), G, X, W)
def from_a_cache(G, X, W):
    from minigrad.course.student import child, lent
    code, = [each for each in lent.before(99).co_consts if getattr(each, "co_name", "") == "matmul_backward"]
    return types.FunctionType(code, {})(G, X, W)
def from_the_solutions(G, X, W):
    from minigrad.course import notebooks
    return run_as("\\n\\n".join(notebooks.code_cells(notebooks.read(notebooks.path("solutions", "07_matmul")))), G, X, W)
def from_a_lesson_s_text(G, X, W):
    from minigrad.course.checks.own_engine import GIVEN
    text = GIVEN.with_name("07_matmul.md").read_text()
    return eval(text.partition("- **with letters** `")[2].partition("`\\n")[0], {"np": sys.modules["numpy"], **locals()})
def from_a_lesson_in_memory(G, X, W):
    from minigrad.course.student import child
    section, = [each for each in child.lessons.lesson(7).sections if each.id == "7.1"]
    return eval(section.known["with letters"].code, {"np": sys.modules["numpy"], **locals()})
'''
NAMES = re.findall(r"^def (\w+)\(G, X, W", ATTEMPTS, re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A student's folder with a whole engine, which the notebook has imported."""
    monkeypatch.delenv("MINIGRAD_CHECK", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / own_engine.FILE).write_text(own_engine.reference(7) + WHOLE, encoding="utf-8")
    own_engine.Finder(print).install()
    sys.modules.pop("my_engine", None)
    lent.before.cache_clear()
    monkeypatch.setattr(lent, "loaded", [])
    gc.collect()  # the engine of the test before is not in memory any more
    yield tmp_path
    sys.modules.pop("my_engine", None)


def space(folder: Path, *cells: str) -> dict[str, Any]:
    """What a notebook holds after these cells."""
    made: dict[str, Any] = {"__name__": "__main__", "FOLDER": str(folder)}
    for cell in cells:
        exec(cell, made)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_part_is_the_answer_to_its_own_exercise(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = "from my_engine import *\nimport my_engine as mine\nimport linecache\nlinecache.getlines(mine.__file__)"
    made = space(folder, start, ATTEMPTS)
    assert folder.joinpath(own_engine.FILE).exists() and made["mine"].matmul_backward(*[np.eye(2)] * 3)
    with monkeypatch.context() as freely:  # with nothing in its way it finds the answer
        freely.setattr(sys, "meta_path", [*sys.meta_path])
        freely.setattr(sys, "path", [*sys.path])
        freely.setitem(sys.modules, "my_engine", made["mine"])
        G, X, W = np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 8.0]])
        assert np.array_equal(made[name](G, X, W), [W.T, X.T])
    made["matmul_backward"] = made[name]
    found = examine(lessons.find("7.1"), made)
    assert not found.passed and found.status in ("wrong", "error", "timeout"), found  # all of memory is much to look through
    made = space(folder, RIGHT)
    assert examine(lessons.find("7.1"), made).passed and made["matmul_backward"] is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_attempt_finds_more_in_class_grading(name: str, tmp_path: Path) -> None:
    cells = ("from my_engine import *", f"FOLDER = {str(tmp_path)!r}", ATTEMPTS, f"matmul_backward = {name}")
    assert graded(7, *cells)["7.1"] in ("wrong", "error", "forbidden", "timeout")


# ------------------------------------------------------------------ what is there


def graded(number: int, *cells: str, level: str = "landlock") -> dict[str, str]:
    """What the class grader says of each exercise of a lesson; a hand-in is one notebook."""
    lesson = lessons.lesson(number)
    asked = "\n".join(f'check("{each.id}")' for each in lesson.exercises if each.points)
    result = grader(level).grade(notebook(*cells, f"from minigrad.course import check, keep\n{asked}"), lesson, b"seed")
    assert result["graded"] and not result["cells"], result["cells"]
    return {verdict["exercise"]: verdict["status"] for verdict in result["verdicts"]}


@pytest.mark.parametrize("lesson", lessons.all_lessons(), ids=lambda each: each.slug)
def test_no_lesson_asks_for_what_its_engine_has(lesson: Any) -> None:
    text = own_engine.reference(lesson.number)
    exec(text, {"__name__": "my_engine"})
    there = own_engine.names_in(own_engine.parsed(text, "The reference"))
    asked = {name for exercise in lesson.exercises for name in exercise.names}
    assert asked & there == ({"cross_entropy"} if lesson.number == 12 else set()), "that of 11.2 takes arrays, no tensors"


@pytest.mark.slow
def test_a_part_of_the_engine_is_no_answer_where_it_has_the_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / own_engine.FILE).write_text(own_engine.reference(99), encoding="utf-8")
    start, blank = "from my_engine import *", "def cross_entropy(scores, labels):\n    ...\ndef train(*args):\n    ..."
    for without_fork in (False, True):
        monkeypatch.setattr(child, "can_fork", lambda fork=not without_fork: fork)
        assert examine(lessons.find("12.4"), space(folder, start)).status == "missing"
        assert examine(lessons.find("12.4"), space(folder, start, blank)).status == "not attempted"
        assert examine(lessons.find("7.1"), space(folder, start)).status == "missing"
    assert graded(12, start)["12.4"] == "missing" and graded(12, start, blank)["12.4"] == "not attempted"


@pytest.mark.slow
@pytest.mark.parametrize("level", BOUNDARIES)
def test_in_class_grading_it_is_the_parts_before_and_what_the_notebook_keeps(level: str) -> None:
    begin = engine_of(lessons.lesson(7), frozenset())
    worker = grader(level).sandbox(frozenset({"engine"})).worker(memory=256 << 20, cpu=10)
    worker.limit(5.0, 20.0)
    told = "import my_engine\nfrom my_engine import *\nnames = sorted(vars(my_engine))"
    kept = f"{RIGHT}\nfrom minigrad.course import keep\nsaid = keep('7.1')\nfrom my_engine import *"
    assert worker.exec([told, kept, "mine = sorted(vars(my_engine))\nTensor([[1.0]]) @ Tensor([[2.0]])"], **begin) == [None] * 3
    names = worker.value("names")
    assert {"Value", "Tensor", "unbroadcast"} <= {*names} and not {"matmul_backward", "mse", "relu_vjp"} & {*names}
    assert {*worker.value("mine")} - {*names} == {"matmul_backward"} and worker.value("said") is None
    worker.close()


@pytest.mark.slow
def test_what_does_not_join_the_engine_is_an_error_of_its_cell() -> None:
    worker = grader("landlock").sandbox(frozenset({"engine"})).worker(memory=256 << 20, cpu=10)
    worker.limit(5.0, 20.0)
    outcome = worker.exec(["from minigrad.course import keep\nkeep('7.1')"], **engine_of(lessons.lesson(7), frozenset()))
    assert [(each.type, each.message) for each in outcome] == [("NameError", "name 'matmul_backward' is not defined")]
    worker.close()


@pytest.mark.slow
def test_a_part_that_is_kept_may_need_the_one_that_is_checked(folder: Path) -> None:
    """5.5 is joined to the class that comes with 5.4, so a check of 5.4 goes without it; and it may call what it likes."""
    text = own_engine.reference(6)
    (head,) = re.findall(r"^def operation\((\w+), .*\n", text, re.MULTILINE)
    helped = f"def called(name):\n    return name\n\n\ndef operation({head}, forward, rule):\n    {head} = called({head})\n"
    text = re.sub(r"^def operation\(.*\n", helped, text, flags=re.MULTILINE)
    (folder / own_engine.FILE).write_text(text, encoding="utf-8")
    start = "import numpy as np\nfrom my_engine import *"
    answers = notebooks.code_cells(notebooks.read(notebooks.path("solutions", "05_vectors")))
    for id, name in (("5.4", "start"), ("5.5", "operation")):
        (cell,) = [each for each in answers if f"def {name}(" in each]
        assert examine(lessons.find(id), space(folder, start, cell)).passed


@pytest.mark.slow
def test_an_engine_from_an_empty_file_has_none_to_look_at(folder: Path) -> None:
    exercise = lessons.find("14.9")
    start = "import numpy as np\nfrom my_engine import *"
    made = space(folder, start, "import my_engine as mine\nclass MyTensor(Tensor): pass\nmy_no_grad = no_grad")
    found = examine(exercise, made)
    assert found.status == "missing" and "my_no_grad" in found.lines[0], found
    asks = "import my_engine\n"
    made = space(folder, f"def MyTensor(*args):\n    {asks}\nmy_no_grad = MyTensor")
    for _ in ("before anybody has used it", "and afterwards"):
        found = examine(exercise, made)
        assert "There is no my_engine here: this exercise is written without it" in str(found), found
        space(folder, asks)
    assert graded(14, start, "class MyTensor(Tensor): pass", "my_no_grad = no_grad")["14.9"] == "missing"


# ------------------------------------------------------------------ whose engine it is, decides nothing


UNTOUCHED = "def matmul_backward(G, X, W):\n    ..."
WRONG = "def matmul_backward(G, X, W):\n    return X.T @ G, G @ W.T"
USES = """
from my_engine import Tensor, unbroadcast
zero = Tensor([[0.0]])
class Mine(Tensor):
    def double(self):
        return Mine(self.data * 2)
def matmul_backward(G, X, W):
    G = Mine(G / 2).double()
    assert isinstance(zero, Tensor) and isinstance(G, Tensor) and zero.data.shape == (1, 1)
    return unbroadcast(G.data @ W.T + zero.data, X.shape), X.T @ G.data
"""


OTHERS = "class Value: pass\nclass Tensor: pass\ndef unbroadcast(g, shape): 1 / 0"


@pytest.mark.slow
@pytest.mark.parametrize("file", [None, "", "def broken(:", OTHERS, "whole"])
def test_the_verdicts_are_the_same_with_any_engine(file: str | None, folder: Path) -> None:
    """No file, an empty one, one that is no Python, a wrong one, and one with parts of this lesson."""
    place = folder / own_engine.FILE
    if file is None:
        place.unlink()
    elif file != "whole":
        place.write_text(file, encoding="utf-8")
    start = "try:\n    from my_engine import *\nexcept SyntaxError:\n    pass"
    for cell, status in ((RIGHT, "passed"), (WRONG, "wrong"), (UNTOUCHED, "not attempted"), ("", "missing")):
        found, without = (examine(lessons.find("7.1"), space(folder, *cells)) for cells in ((start, cell), (cell,)))
        assert found.status == status and (status == "missing" or found == without), found
    if file in (None, "whole"):
        found = examine(lessons.find("7.1"), space(folder, start, USES))
        assert found.passed, found


@pytest.mark.slow
def test_an_answer_may_be_the_first_to_ask_for_it(folder: Path) -> None:
    inside = RIGHT.replace("return", "from my_engine import unbroadcast\n    return")
    assert not lent.before.cache_info().currsize
    for _ in ("put together when it is asked for", "and there from then on"):
        found = examine(lessons.find("7.1"), space(folder, inside))
        assert found.passed and lent.before.cache_info().currsize == 1, found


@pytest.mark.slow
def test_what_is_kept_in_this_lesson_stays_for_its_other_exercises(folder: Path) -> None:
    """11.2 may call what 11.1 has put into the engine; for 11.1 itself it is no answer."""
    own = "def sunk(z):\n    return z - z.max(axis=1, keepdims=True)\n\ndef log_softmax(z):\n    z = sunk(z)\n"
    own += "    return z - np.log(np.exp(z).sum(axis=1, keepdims=True))\n"
    place = folder / own_engine.FILE
    place.write_text(place.read_text(encoding="utf-8") + own, encoding="utf-8")
    right = "def cross_entropy(z, targets):\n    return -log_softmax(z)[np.arange(len(z)), targets].mean()\n"
    right += "def cross_entropy_grad(g, z, targets):\n    p = np.exp(log_softmax(z))\n    p[np.arange(len(z)), targets] -= 1\n"
    made = space(folder, "import numpy as np\nfrom my_engine import *", f"{right}    return g * p / len(z)")
    found = examine(lessons.find("11.2"), made)
    assert found.passed, found
    assert examine(lessons.find("11.1"), made).status == "missing"


@pytest.mark.slow
def test_a_second_import_takes_nothing_that_the_notebook_defines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The notebook of 07 imports again what it has kept: `minigrad check` asks for its own function, solved or blank."""
    for kind, says in (("solutions", "5 of 5 passed"), ("exercises", "`matmul_backward` is still blank")):
        shutil.copy(notebooks.path(kind, "07_matmul"), folder / "07.ipynb")
        terminal.check_notebook(folder / "07.ipynb")
        assert says in capsys.readouterr().out
