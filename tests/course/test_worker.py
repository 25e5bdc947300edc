"""The student's side: what cells may do, what is found under a name, what counts as blank, what went wrong
where."""

import os

import numpy as np
import pytest

from minigrad.course.student import worker
from minigrad.course.student.student import Remote
from minigrad.course.student.wire import Failure
from minigrad.course.student.worker import Server, blankness


@pytest.fixture
def remote():
    """A worker in a forked child, reached as the judge reaches it."""
    requests, to_child = os.pipe()
    from_child, replies = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(to_child)
        os.close(from_child)
        try:
            worker.serve(requests, replies)
        finally:
            os._exit(0)
    os.close(requests)
    os.close(replies)
    yield Remote(from_child, to_child, seconds=20)
    os.close(to_child)
    os.close(from_child)
    os.waitpid(pid, 0)


CELLS = [
    "%matplotlib inline\nimport numpy as np\n!ls\nfiles = !ls\nx = 3",
    "def f(x):\n    return x + 1",
    "1 / 0",
    "%%bash\nrm -rf something",
    "%%time\ntimed = 4",
    "import asyncio\nawait asyncio.sleep(0)\nawaited = 5",
    "f?",
    "def g(:",
    "text = '''\n% not a magic\n'''",
    "get_ipython().run_line_magic('x', '')" + " if get_ipython() else None",
    "display(x)\nprint('noise')",
    "late = f(x)",
]


def test_cells_run_as_in_a_notebook(remote):
    results = remote.exec(CELLS)
    assert [i for i, r in enumerate(results) if r is not None] == [2, 7]
    assert (results[2].type, results[2].line, results[2].text) == ("ZeroDivisionError", 1, "1 / 0")
    assert (results[7].type, results[7].line) == ("SyntaxError", 1)
    assert remote.value("late") == 4 and remote.value("timed") == 4 and remote.value("awaited") == 5
    assert remote.value("text") == "\n% not a magic\n"


def test_call_returns_values_and_names_what_went_wrong(remote):
    remote.exec([
        "import numpy as np\ndef double(x):\n    return 2 * x\n"
        "def change(x, y):\n    y += 1\n    return x\n"
        "def fail(x):\n    y = x\n    raise KeyError('no')\n"
        "def say(x):\n    print('answer', x)\n"
        "def gen(x):\n    return (a for a in x)\n",
        "import sys\ndef leave(x):\n    sys.exit(3)\ndef deep(x):\n    return deep(x)\n"
        "def big(x):\n    raise MemoryError\ndef mean(x, *, k=1):\n    k[0] = 5\n    return x",
    ])  # fmt: skip
    np.testing.assert_array_equal(remote.call("double", np.ones(2)), [2, 2])
    changed = remote.call("change", np.ones(2), np.ones(2))
    assert (changed.kind, changed.message) == ("changed", "y")
    np.testing.assert_array_equal(changed.value, [1, 1])
    assert remote.call("mean", 1, k=[1]).message == "k"
    failed = remote.call("fail", 1)
    assert (failed.kind, failed.type, failed.line, failed.text) == (
        "raised",
        "KeyError",
        9,
        "raise KeyError('no')",
    )
    assert failed.bases[:2] == ("KeyError", "LookupError")
    assert remote.call("say", 2) == Failure("printed", printed="answer 2")
    assert remote.call("gen", [1]) == Failure("not plain", message="a generator")
    assert remote.call("leave", 1).type == "SystemExit"
    assert remote.call("deep", 1).type == "RecursionError"
    assert remote.call("big", 1).kind == "memory"
    assert remote.call("nothing", 1) == Failure("missing", message="nothing")
    assert remote.call("double", 4) == 8


def test_run_gives_the_last_line_and_leaves_the_namespace(remote):
    remote.exec(["class Value:\n    def __init__(self, data):\n        self.data = data"])
    assert remote.run("v = Value(x)\nv.data = v.data * k\nv.data", {"x": 3, "k": 2}) == 6
    assert remote.run("k + 1", {}, "k = 1") == 2
    assert remote.run("k = 1", {}) is None
    assert remote.value("v").kind == "missing" and remote.value("k").kind == "missing"
    assert remote.run("Value(", {}).type == "SyntaxError"


def test_look_says_what_is_there(remote):
    remote.exec(["def squared(x): ...\nclass V:\n    def __mul__(self, o): ...\n    def __add__(self, o):\n  "
                 "      return 1",
                 "a = ...\nb = [1, ...]\nc = 3\ndef part(x):\n    y = ...\n    return y"])  # fmt: skip
    names = ["squared", "V.__mul__", "V.__add__", "V.__sub__", "square", "a", "b", "c", "part"]
    states = {name: seen["state"] for name, seen in remote.look(names).items()}
    assert list(states.values()) == [
        "blank",
        "blank",
        "there",
        "missing",
        "missing",
        "blank",
        "blank",
        "there",
        "hole",
    ]
    assert remote.look(["square"])["square"]["near"] == ["squared"]


def test_predictions_are_remembered(remote):
    remote.exec(["from minigrad.course.student.worker import predict\npredict('4.4a', 9)\npredict('4.2a', ...)"])
    assert remote.value("predict 4.4a") == 9
    assert remote.look(["predict 4.2a"])["predict 4.2a"]["state"] == "missing"


def test_a_student_who_tampers_with_the_worker_only_loses_the_reply():
    """A namespace may break the server around it; the other side gets a Failure, never an exception."""
    requests, to_child = os.pipe()
    from_child, replies = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            worker.serve(requests, replies)
        finally:
            os._exit(0)
    os.close(requests)
    os.close(replies)
    remote = Remote(from_child, to_child, seconds=5)
    remote.exec(
        ["from minigrad.course.student import wire\ndef f(x):\n    wire.pack = lambda v: b'junk' * 10\n    return 1"]
    )
    assert remote.call("f", 1).kind in ("protocol", "killed", "timeout")
    assert remote.call("f", 1).kind in ("protocol", "killed", "timeout")
    os.close(to_child)
    os.close(from_child)
    os.kill(pid, 9)
    os.waitpid(pid, 0)


def functions():
    def nothing(): ...

    def documented():
        """Only words."""

    def passing():
        pass

    def none():
        return None

    def ellipsis():
        return ...

    def raising():
        raise NotImplementedError

    def raising_words():
        raise NotImplementedError("todo")

    def not_implemented(x):
        """Words."""
        raise NotImplementedError("todo this")

    return [nothing, documented, passing, none, ellipsis, raising, raising_words, not_implemented]


def written():
    def constant():
        return 1

    def argument(x):
        return x

    def calls():
        print()

    def raises():
        raise ValueError

    def raises_words():
        raise RuntimeError("no")

    def text():
        return "text"

    return [constant, argument, calls, raises, raises_words, text]


@pytest.mark.parametrize("function", functions(), ids=lambda f: f.__name__)
def test_blank_functions(function):
    assert blankness(function) == "blank"
    assert blankness(staticmethod(function)) == "blank"
    assert blankness(property(function)) == "blank"


@pytest.mark.parametrize("function", written(), ids=lambda f: f.__name__)
def test_written_functions(function):
    assert blankness(function) == "there"


def test_values_and_classes():
    assert [blankness(v) for v in (..., [...], [1, [...]], (), 0, None, [1])] == [
        "blank", "blank", "blank", "there", "there", "there", "there",
    ]  # fmt: skip

    class Empty:
        def __init__(self): ...

        def run(self): ...

    class Half:
        def __init__(self):
            self.x = 1

        def run(self): ...

    assert (blankness(Empty), blankness(Half)) == ("blank", "hole")


def test_a_class_from_a_cell_has_a_hole_in_one_of_its_methods():
    source = "class Half:\n    @staticmethod\n    def backward(ctx, g):\n        (a,) = ctx.saved_tensors\n        ...\n"
    server = Server({})
    assert server.exec([source]) == [None]
    assert server.look(["Half"])["Half"]["state"] == "hole"


def test_requests_are_deterministic_in_random_numbers():
    server = Server({"np": np})
    assert server.run("np.random.rand()", {}) == server.run("np.random.rand()", {})


def test_where_an_object_lies_is_not_told():
    """An address is another one every time: the same trouble would seem to be two."""
    first, second = Server({"f": lambda: [].index(object())}), Server({"f": lambda: [].index(object())})
    assert first.call("f").message == second.call("f").message == "<object object at 0x...> is not in list"


def test_a_list_without_a_bottom_is_a_value_like_any_other():
    inside: list = [1]
    inside.append(inside)
    server = Server({"answer": inside})
    assert server.look(["answer"])["answer"]["state"] == "there"
    assert server.value("answer").kind == "not plain"
    assert not worker.unanswered(inside)


def test_a_change_that_takes_too_long_is_not_interrupted_while_it_asks(remote):
    class Slow:
        methods = ("slow",)

        def slow(self, number):
            return number

    remote.exec(["def ask(outside, n):\n    while n > 0:\n        outside('slow', 2 * n)"])
    stopped = 0
    while stopped < 8 and remote.vary(["ask"]):
        came = remote.run("ask(outside, 1)", {}, "", Slow())
        stopped += isinstance(came, Failure) and came.type == "TimeoutError"
    assert stopped == 8 and remote.dead is None
