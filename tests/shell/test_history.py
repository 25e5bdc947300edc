"""A check judges what the cells hold now: a real kernel, told of each cell as a front end does."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

from minigrad.course.commands import lab

IMPORT = "from minigrad.course import check"
LEFT = "`answer` still has the value of an earlier run, which does not count."
Run = Callable[..., str]


@pytest.fixture(scope="module")
def kernel() -> Iterator[tuple[KernelManager, Any]]:
    """One kernel for all tests of this file, as `minigrad lab` starts it; each begins with a new namespace."""
    folder = Path(lab.environment({})["JUPYTER_PATH"]) / "kernels"
    manager = KernelManager(kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(folder)]))
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


@pytest.fixture
def run(kernel: tuple[KernelManager, Any], tmp_path: Path) -> Run:
    """`run(source, cell)` runs a cell as a front end does that names its cells ("": one that does not); what it shows."""
    _, client = kernel
    run = runner(client)
    run(f"%reset -f\nimport os\nos.chdir({str(tmp_path)!r})")
    run(IMPORT, "the first cell")
    return run


def runner(client: Any) -> Run:
    """`run` for a kernel's client."""

    def run(source: str, cell: str = "a cell") -> str:
        content = {"code": source, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False,
                   "stop_on_error": False}  # fmt: skip
        message = client.session.msg("execute_request", content, metadata={"cellId": cell} if cell else {})
        client.shell_channel.send(message)
        shown = ""
        while True:
            answer = client.get_iopub_msg(timeout=60)
            if answer["parent_header"].get("msg_id") != message["header"]["msg_id"]:
                continue
            content = answer["content"]
            shown += content.get("text", "") + content.get("data", {}).get("text/plain", "") + content.get("ename", "")
            if content.get("execution_state") == "idle":
                return " ".join(shown.split())

    return run


@pytest.mark.slow
def test_before_the_first_cell_the_words_of_the_course_ask_for_it(kernel: tuple[KernelManager, Any]) -> None:
    run = runner(kernel[1])
    for word in ('check("0.1")', 'hint("0.1")', 'predict("0.0", [1, ...])', "progress()"):
        assert run(word).startswith("Run the first cell of this notebook"), word
    run(IMPORT)
    assert "0.1 a first answer" in run('check("0.1")')


def passes(run: Run) -> None:
    """The answer is given in a cell, and its check passes."""
    run("answer = 42", "the answer")
    assert "0.1 a first answer: passed" in run('check("0.1")', "the check")


CHANGED = {
    "another name": ("answr = 42", "It sets `answr`: did you change the name?"),
    "nothing": ("42", "does not set it any more"),
    "no Python": ("answer = = 42", "stopped with a SyntaxError"),
    "an error before it": ("1 / 0\nanswer = 42", "stopped with a ZeroDivisionError"),
    "a function with an error": ("def answer(:\n    return 42", "stopped with a SyntaxError"),
    "a magic that runs nothing of it": ("%%writefile note.txt\nanswer = 42", "does not set it any more"),
    "an error in a magic": ("%%capture\nanswer = 1 / 0", "stopped with a ZeroDivisionError"),
    "a name of a function": ("def f():\n    answer = 42\n    return answer", "It sets `f`"),
    "only read": ("print(answer)", "does not set it any more"),
}


@pytest.mark.slow
@pytest.mark.parametrize("source, says", CHANGED.values(), ids=CHANGED)
def test_a_value_of_an_earlier_run_is_named_and_never_passes(run: Run, source: str, says: str) -> None:
    passes(run)
    run(source, "the answer")
    card = run('check("0.1")', "the check")
    assert "0.1 a first answer: not yet" in card and says in card and LEFT in card
    passes(run)


HONEST = {
    "the same again": ("the answer", "answer = 42"),
    "in another cell": ("another cell", "answer = 42"),
    "in a magic": ("the answer", "%%time\nanswer = 42"),
    "in a captured cell": ("the answer", "%%capture\nanswer = 42"),
    "by name": ("the answer", "globals()['answer'] = 21 * 2.0"),
    "imported": ("the answer", "import types, sys\nsys.modules['m'] = types.SimpleNamespace(answer=42)\nfrom m import answer"),
    "in a loop": ("the answer", "for answer in (41, 42):\n    pass"),
    "with its check": ("the answer", 'answer = 42\ncheck("0.1")'),
}


@pytest.mark.slow
@pytest.mark.parametrize("cell, source", HONEST.values(), ids=HONEST)
def test_a_name_that_is_set_in_any_way_counts(run: Run, cell: str, source: str) -> None:
    passes(run)
    run("answr = 42", "the answer")
    run(source, cell)
    assert "0.1 a first answer: passed" in run('check("0.1")', "the check")


INDIRECT = {
    "by exec": "exec('answer = 42')",
    "by name": "globals()['answer'] = 42",
    "in a file": "open('m.py', 'w').write('answer = 42')\n%run m.py",
}


@pytest.mark.slow
@pytest.mark.parametrize("source", INDIRECT.values(), ids=INDIRECT)
def test_a_cell_that_is_run_again_as_it_was_gives_the_same_names(run: Run, source: str) -> None:
    for text in (source, source, "answr = 42", source):
        run(text, "the answer")
    assert "0.1 a first answer: passed" in run('check("0.1")', "the check")


@pytest.mark.slow
def test_a_name_that_has_its_value_before_the_cell_fails_is_judged(run: Run) -> None:
    """A hand-in, which goes on after a cell that fails, has this value too."""
    passes(run)
    run("answer = 24\n1 / 0", "the answer")
    card = run('check("0.1")', "the check")
    assert "Are the two digits in the order" in card and "earlier run" not in card
    for source in ("answer = 42\n\n1 / 0", "answer = 42\nf = lambda: 1 / 0\nf()", "answer = 42\nexec('1 / 0')"):
        for magic in ("", "%%time\n", "%%capture\n"):
            run(magic + source, "the answer")
            card = run('check("0.1")', "the check")
            assert "0.1 a first answer: passed" in card, magic + source
            assert "stopped below that with a ZeroDivisionError" in card, magic + source
    run("1 / 0\nanswer = 42", "the answer")
    assert LEFT in run('check("0.1")', "the check")


@pytest.mark.slow
@pytest.mark.parametrize("source", ["answer(2", "answer == (2", "print(answer", "if answer(:"])
def test_a_name_that_is_only_used_belongs_to_no_other_cell(run: Run, source: str) -> None:
    passes(run)
    assert run(source, "another cell") in ("SyntaxError", "_IncompleteInputError")  # the second one from Python 3.13 on
    assert "0.1 a first answer: passed" in run('check("0.1")', "the check")


def test_the_first_run_may_fail_too(run: Run) -> None:
    run("answer = unknown", "the answer")
    card = run('check("0.1")', "the check")
    assert "stopped with a NameError" in card and "earlier run" not in card
    run("answr = 42", "the answer")
    assert "There is `answr`" in run('check("0.1")', "the check")


def test_a_notebook_that_is_opened_again_has_run_nothing(run: Run) -> None:
    assert "I cannot find `answer`." in run('check("0.1")', "the check")


def test_the_method_of_a_class_belongs_to_its_own_cell(run: Run) -> None:
    run("class Value:\n    def tanh(self): ...", "the class")
    run("def tanh(self):\n    return 1\nValue.tanh = tanh", "the method")
    run("Value.tahn = tanh", "the method")
    assert "The cell that set `Value.tanh` was changed" in run('check("3.1"); check("3.3")', "the check")
    run("class Value:\n    def tanh(self): ...", "the class")
    assert "was changed" not in run('check("3.1"); check("3.3")', "the check")


@pytest.mark.slow
def test_a_front_end_that_does_not_name_its_cells(run: Run) -> None:
    """Which cell ran is unknown there: a run that fails is known by the names it would have set."""
    run("answer = 42", "")
    run("other = 1", "")
    assert "passed" in run('check("0.1")', "")
    for source in ("answer = = 42", "answer = unknown"):
        run(source, "")
        assert "an earlier run, which does not count" in run('check("0.1")', "")


@pytest.mark.parametrize("variable", ["MINIGRAD_CHECK", "NBGRADER_EXECUTION"])
def test_in_a_class_what_runs_from_the_top_is_judged_as_it_stands(run: Run, variable: str) -> None:
    run(f"import os\nos.environ['{variable}'] = '1'")
    try:
        run("answer = 42\n1 / 0", "the answer")
        assert "passed" in run('check("0.1")', "the check")
    finally:
        run(f"del os.environ['{variable}']")
