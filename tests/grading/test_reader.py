"""The forgiving reader, and the honest accidents that other graders punish."""

import json
import os
from pathlib import Path

import pytest

from minigrad.course import lessons, notebooks
from minigrad.course.grading import reader, runs
from tests.grading.classroom import COUNTER, FULL, RIGHT, SLOPE, grade, grader, notebook, same_result, statuses

BLANK = "def slope(x, g):\n    ...  # your code here"

ACCIDENTS = {
    "tries the engine first": (
        "import numpy as np\nimport minigrad as torch\nimport minigrad.nn.functional as F\n"
        "from minigrad.optim import SGD\n"
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\nloss = F.relu(2 * x - 1).sum()\nloss.backward()\n"
        "with torch.no_grad():\n    x[0] = -x.grad[0] + np.ones(2)\nprint(f'{loss.item():.3f}', x.shape, len(x.grad))\n"
        "class Square(torch.autograd.Function):\n    pass\n" + SLOPE, *RIGHT[2:]),
    "warns": ("import warnings\n" + SLOPE.replace("return", "warnings.warn('look')\n    return"), *RIGHT[2:]),
    "numpy warns": ("import numpy as np\nnp.log(0.0)", SLOPE, "np.array([1.0]) / 0.0", *RIGHT[2:]),
    "prints to stderr": ("import sys\nprint('x', file=sys.stderr)", *RIGHT),
    "logs": ("import logging\nlogging.basicConfig(level=0)\nlogging.error('x' * 10_000)", *RIGHT),
    "prints a lot": ("for i in range(20_000):\n    print(i, 'x' * 50)", *RIGHT),
    "prints in the answer": (SLOPE.replace("return", "print(x)\n    return"), *RIGHT[2:]),
    "copied answer": (*RIGHT, SLOPE, "print(slope(np.ones(2), 1))"),
    "copied blank after the answer": (*RIGHT, BLANK),
    "blank value after the answer": (*RIGHT, "answer = ..."),
    "blank class after the answer": (*RIGHT, "class Counter:\n    def add(self, n):\n        ..."),
    "split answer": ("import numpy as np", "def slope(x, g):\n    square = x**2", "    return 3 * square * g", *RIGHT[2:]),
    "reordered": (*reversed(RIGHT),),
    "a default that is imported later": (
        "def slope(x, g, three=np.float64(3)):\n    return three * x**2 * g", *RIGHT[2:], RIGHT[0]),
    "decorated before its import": ("@functools.cache\ndef three():\n    return 3\nslope = lambda x, g: three() * x**2 * g",
                                    "import functools", *RIGHT[2:]),
    "np = None": ("import numpy as np", SLOPE.replace("x**2", "np.square(x)"), *RIGHT[2:], "np = None"),
    "a cell that raises": ("import numpy as np", "1 / 0", SLOPE, "undefined_thing", *RIGHT[2:]),
    "a syntax error": ("import numpy as np", "def slope(x, g:\n", *RIGHT[1:]),
    "sys.exit": ("import sys\nsys.exit(1)", *RIGHT, "raise SystemExit"),
    "quit": ("quit()", *RIGHT),
    "input()": ("name = input()", *RIGHT),
    "magics": ("%matplotlib inline\n%load_ext autoreload\nimport numpy as np\n!pip install numpy", SLOPE, *RIGHT[2:]),
    "cell magic time": ("%%time\n" + SLOPE, *RIGHT[2:]),
    "cell magic bash": ("%%bash\nrm -rf /\n", *RIGHT),
    "magic with assignment": ("files = !ls\nspeed = %timeit -o 1 + 1\n" + SLOPE, *RIGHT[2:]),
    "help": ("import numpy as np\nnp.sum?", *RIGHT),
    "display": ("display('x'); from IPython.display import HTML, display\ndisplay(HTML('<b>'))", *RIGHT),
    "get_ipython": ("get_ipython()", *RIGHT),
    "top-level await": ("import asyncio\nawait asyncio.sleep(0)\nasync with asyncio.timeout(1):\n    pass", *RIGHT),
    "plots": ("import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nax.plot([1, 2])\nplt.show()\n" + SLOPE, *RIGHT[2:]),
    "widgets": ("import ipywidgets as w\nfrom tqdm import tqdm\nfor i in tqdm(range(3)):\n    pass\n" + SLOPE, *RIGHT[2:]),
    "course helpers": (
        "from minigrad.course import check, hint, progress\ncheck('90.1'); hint('90.1'); progress()\n" + SLOPE, *RIGHT[2:]),
    "viz helpers": ("from minigrad.viz import step, draw, plots\nstep(None); plots.loss([1])\n" + SLOPE, *RIGHT[2:]),
    "an error raised in a thread": ("import threading\nthreading.Thread(target=lambda: 1 / 0).start()", *RIGHT),
    "changes directory": ("import os\nos.chdir('/')\n" + SLOPE, *RIGHT[2:]),
    "Windows line ends": tuple(source.replace("\n", "\r\n") for source in RIGHT),
    "Windows line ends and magics": ("%matplotlib inline\r\nimport numpy as np\r\n!ls\r\n" + SLOPE.replace("\n", "\r\n"),
        *RIGHT[2:]),
    "tabs": ("import numpy as np", SLOPE.replace("    ", "\t"), *RIGHT[2:]),
    "a comment that asks, beside a magic": (
        "%matplotlib inline\nimport numpy as np  # needed?\n" + SLOPE.replace("):", "):  # what is g?") + "  # right?",
        *RIGHT[2:]),
    "a remainder at the start of a line, beside a magic": (
        "%pip install x\n" + SLOPE.replace("3 * x**2 * g", "(3 * x**2 * g * (5\n      % 2)\n      * (1\n      != 2))"),
        *RIGHT[2:]),
    "help on an attribute": ("import numpy as np\nnp.ndarray.sum??\n?np.sum\n" + SLOPE, *RIGHT[2:]),
    "a timed answer": (*RIGHT[:3], "%time answer = 66.0"),
    "a timed call that is kept": (*RIGHT[:3], "def f(): return 66.0", "answer = %time f()"),
    "timeit with options": (*RIGHT, "%timeit -n 1 -r 1 slope(np.ones(2), 1)"),
    "cell magic timeit": ("import numpy as np", "%%timeit -n 1\nx = 1", *RIGHT[1:]),
    "cell magic capture": ("%%capture out\n" + SLOPE, *RIGHT[2:]),
    "cell magic of another language": (*RIGHT, "%%html\n<b>slope = 0</b>", "%%javascript\nlet slope = 0", "%%R\nslope <- 0"),
    "a command over two lines": ("!pip install numpy \\\n    matplotlib\nimport numpy as np\n" + SLOPE, *RIGHT[2:]),
    "a package that is not here": (
        "import pandas as pd\nimport numpy as np\nimport sklearn.datasets\nfrom scipy import stats\n" + SLOPE, *RIGHT[2:]),
    "a package that is not here, on one line with others": (
        "import pandas as pd, numpy as np, google.colab\n" + SLOPE.replace("x**2", "np.square(x)"), *RIGHT[2:]),
    "Colab": ("from google.colab import drive\nimport numpy as np\n" + SLOPE, "drive.mount('/content')", *RIGHT[2:]),
    "relative import": ("from .helpers import nothing", "from . import helpers", *RIGHT),
    "imports by a star": ("from numpy import *\n" + SLOPE, "from minigrad.course import *", *RIGHT[2:]),
    "the check in odd places": (
        "from minigrad.course import check as c", "def slope(x, g):\n    from minigrad.course import check\n    check('90.1')\n"
        "    return 3 * x**2 * g", COUNTER + "\n    from minigrad.course import check, hint",
        "if c('90.3') is None:\n    answer = 66.0"),
    "figures": (
        "import numpy as np\nimport matplotlib.pyplot as plt\nfrom matplotlib import ticker\nplt.rcParams['figure.dpi'] = 100\n"
        "fig, (left, right) = plt.subplots(1, 2)\nfig, axes = plt.subplots(2, 2)\naxes[0, 1].set(title='x')\n"
        "for ax in axes.flat:\n    ax.plot([1], [2])\nline, = plt.plot([1, 2])\nline.set_data([1], [2])\n"
        "counts, edges, bars = plt.hist([1, 2])\nplt.colorbar(plt.imshow(np.eye(2))).set_label('z')\n"
        "with plt.style.context('ggplot'):\n    plt.figure().add_subplot(111)\nplt.tight_layout(); plt.show()\n" + SLOPE,
        *RIGHT[2:]),
    "progress bars": (
        "from tqdm.auto import tqdm, trange\nfor i in (bar := tqdm(range(3), desc='x')):\n    bar.set_postfix(loss=1)\n"
        "with tqdm(total=3) as bar:\n    bar.update(1)\nfor i in trange(2):\n    pass\nimport tqdm\n"
        "for i in tqdm.tqdm([1]):\n    pass\n" + SLOPE, *RIGHT[2:]),
    "input() before the answer": ("name = input('Your name? ')\n" + SLOPE, *RIGHT[2:]),
    "exported magics": ("get_ipython().run_line_magic('matplotlib', 'inline')\nget_ipython().system('ls')\n" + SLOPE,
        *RIGHT[2:]),
    "seeds in one cell, draws in the next": (
        *RIGHT[:3], "import random\nnp.random.seed(1); random.seed(1)", "a, b = np.random.rand(), random.random()",
        "answer = 66.0 if (round(a, 6), round(b, 6)) == (0.417022, 0.134364) else a"),
    "leaves an unfinished cell at the end": (*RIGHT, "for i in range(3):"),
    "a solution pasted at the end": ("import numpy as np", BLANK, "slope = lambda x, g: 0 * x", *RIGHT[2:], SLOPE),
    "an answer in unicode names": ("import numpy as np", "def slope(\u03be, \u03b3):\n    return 3 * \u03be**2 * \u03b3",
        *RIGHT[2:]),
    "prompts copied from a page": (
        RIGHT[0], ">>> def slope(x, g):\n...     return 3 * x**2 * g\n>>> y = [1,\n...      2]",
        "In [4]: class Counter:\n   ...:     def __init__(self):\n   ...:         self.total = self.count = 0\n   ...: \n"
        "   ...:     def add(self, n):\n   ...:         self.total += n\n   ...:         self.count += 1", *RIGHT[3:]),
    "a cell that is indented as a whole": (
        RIGHT[0], "\n".join("    " + line for line in SLOPE.splitlines()), "\tanswer = 66.0\n\tx = answer", COUNTER),
    "one cell never ends": (RIGHT[0], "while True:\n    pass", *RIGHT[1:]),
    "one cell ends the process": (RIGHT[0], "import os\nos._exit(0)", *RIGHT[1:]),
    "one cell takes all memory": (RIGHT[0], "big = [bytearray(10**9) for _ in range(100)]", *RIGHT[1:]),
}  # fmt: skip


NEVER = "one cell never ends"  # and is waited for


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n == NEVER else n for n in ACCIDENTS])
def test_an_honest_accident_costs_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("minigrad.course.grading.grader.CELLS_SECONDS", 1.0)
    result = grade(notebook(*ACCIDENTS[name]))
    assert (result["points"], result["graded"]) == (FULL, True), result["verdicts"]


@pytest.mark.slow
def test_metadata_of_others_and_old_formats_do_no_harm() -> None:
    plain = grade(notebook(*RIGHT))
    tagged = notebook(*RIGHT, nbgrader={"schema_version": 1, "grade_id": "same", "grade": "?"}, tags=None)
    assert same_result(grade(tagged), plain)
    old = {"nbformat": 3, "worksheets": [{"cells": [{"cell_type": "code", "input": list(s)} for s in RIGHT]}]}
    assert same_result(grade(json.dumps(old).encode()), plain)
    cells = [{"cell_type": "code", "source": s, "metadata": {"vscode": {"languageId": "python"}, "id": "same"}, "id": "same"}
             for s in RIGHT]  # fmt: skip
    for minor, about in ((0, {}), (4, {"kernelspec": {"name": "ir", "language": "R"}, "language_info": {"name": "R"}}),
                         (5, {"colab": {"provenance": []}, "kernelspec": {"name": "no such kernel"}}),
                         ("x", None)):  # fmt: skip
        other = {"nbformat": 4, "nbformat_minor": minor, "metadata": about, "cells": cells}
        assert same_result(grade(json.dumps(other).encode()), plain)
    assert same_result(grade(b"\xef\xbb\xbf" + notebook(*RIGHT)), plain)
    assert same_result(grade(notebook(*RIGHT).decode().encode("utf-16")), plain)
    assert same_result(grade(notebook(*RIGHT).replace(b'"metadata"', b'"meta\xe9"')), plain)
    assert same_result(grade(notebook(*RIGHT).replace(b"\n", b"\r\n")), plain)
    for code in ("utf-16-le", "utf-16-be", "utf-32"):
        assert same_result(grade(notebook(*RIGHT).decode().encode(code)), plain)
    for tail in (b"\0" * 100, b"\n\nhello", b"}", notebook("slope = 0")):
        assert same_result(grade(notebook(*RIGHT) + tail), plain)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["markdown", "raw", "heading"])
def test_an_answer_in_a_cell_that_became_text(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One key in Jupyter makes text of a code cell. It is used for what is not there, and replaces nothing."""
    monkeypatch.setattr("minigrad.course.grading.grader.CELLS_SECONDS", 0.5)

    def mixed(*cells: tuple[str, str]) -> bytes:
        return json.dumps({"cells": [{"cell_type": k, "source": s} for k, s in cells]}).encode()

    code = [("code", source) for source in RIGHT]
    assert grade(mixed(code[0], (kind, SLOPE), (kind, f"```python\n{COUNTER}\n```"), code[3]))["points"] == FULL
    assert grade(mixed((kind, SLOPE), (kind, COUNTER)))["points"] == FULL - 1
    wrong = "def slope(x, g):\n    return x"
    assert grade(mixed(*code, (kind, wrong), (kind, "def slope is a word, and this no code")))["points"] == FULL
    assert statuses(grade(mixed(("code", BLANK), (kind, SLOPE))))[0] == "not attempted"
    result = grade(mixed(*code, (kind, "def helper(): pass\nwhile True: pass")))
    assert (result["points"], result["cells"]) == (FULL, [])


def test_imports_of_the_lesson_that_were_deleted_are_there() -> None:
    solved = notebooks.code_cells(notebooks.read(notebooks.path("solutions", "05_vectors")))
    cells = [source for source in solved if not source.startswith(("import", "from"))]
    assert len(cells) < len(solved)
    for more in ((), ("import os\nos._exit(0)",)):
        result = grader("landlock").grade(notebook(*more, *cells), lessons.lesson(5), b"seed")
        assert result["points"] == result["out_of"], result["verdicts"]


def test_the_lesson_in_place_of_its_exercises() -> None:
    result = grade(notebook("x = 1"))
    assert "folder exercises" in result["problem"]
    assert grade(notebook("slope = 1"))["problem"] == ""


def test_the_verdict_names_cell_and_line() -> None:
    result = grade(notebook("import numpy as np", "# here\ndef slope(x, g):\n    y = x\n    return y / missing", COUNTER))
    first, second, third = result["verdicts"]
    assert (first["status"], first["cell"], first["line"]) == ("error", 2, 4)
    assert "code cell 2, line 4" in " ".join(first["lines"])
    assert second["status"] == "passed"
    assert third["status"] == "missing"


def test_a_slip_is_found_as_in_a_notebook_and_costs_no_other_exercise() -> None:
    slip = "def slope(x, g):\n    return 3 * x**2 / g"
    result = grade(notebook("import numpy as np", slip, COUNTER, "answer = 66.0"))
    assert statuses(result) == ["wrong", "passed", "passed"]
    assert "One change in line 2 of your cell makes this right" in " ".join(result["verdicts"][0]["lines"])


def test_the_engine_does_no_work_where_it_is_the_answer() -> None:
    by_engine = (
        "import minigrad as torch\ndef slope(x, g):\n    t = torch.tensor(x, requires_grad=True)\n"
        "    (t**3).backward(torch.tensor(g))\n    return t.grad.numpy()"
    )
    assert statuses(grade(notebook(by_engine, *RIGHT[2:])))[0] == "wrong"


def test_a_missing_name_says_which_cell_stopped() -> None:
    result = grade(notebook("import numpy as np", "x = 1\nslope = x / 0"))
    assert "Code cell 2, line 2 stopped: ZeroDivisionError: division by zero" in result["verdicts"][0]["lines"]
    assert result["cells"][0]["cell"] == 2


def test_an_unwritten_notebook_earns_nothing() -> None:
    result = grade(notebook(BLANK, "class Counter:\n    def add(self, n):\n        ...", "answer = ..."))
    assert (result["points"], statuses(result)) == (0.0, ["not attempted"] * 3)


BROKEN = {
    "empty": b"",
    "spaces": b" \n",
    "truncated": notebook(*RIGHT)[:-20],
    "not json": b"PK\x03\x04",
    "a list": b"[1, 2]",
    "a number": b"1e999",
    "cells is text": b'{"cells": "abc"}',
    "cells of nothing": b'{"cells": [null, 1, [], {"cell_type": "code"}, {"cell_type": "code", "source": {"a": 1}}]}',
    "deep": b"[" * 200_000,
    "deep inside": b'{"cells": ' + b'{"a":' * 100_000,
    "huge number": b'{"cells": ' + b"9" * 10_000 + b"}",
    "bytes": bytes(range(256)),
    "too large": b" " * (reader.LARGEST_FILE + 1) + b"{}",
    "too much code": notebook("x = 1\n" * 400_000),
    "no code": b'{"cells": [{"cell_type": "markdown", "source": "slope"}]}',
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_says_why_and_is_no_zero_if_nobody_can_read_it(name: str) -> None:
    result = grade(BROKEN[name])
    assert result["points"] == 0.0
    unread = name not in ("a list", "a number", "cells is text", "cells of nothing", "no code")
    assert result["graded"] is not unread, "what could not be read is no zero"
    assert result["problem"] and set(statuses(result)) == {"not graded" if unread else "missing"}


def test_lone_surrogates_and_null_bytes_in_a_cell() -> None:
    result = grade(notebook("x = '\ud800'", "y = 1\x00", *RIGHT))
    assert result["points"] == FULL


def test_find_takes_regular_notebooks_only(tmp_path: Path) -> None:
    root = tmp_path
    secret = root / "secret.ipynb"
    secret.write_bytes(notebook("secret"))
    hand_ins = root / "submitted"
    for name in ("ann/05/05_vectors.ipynb", "ann/.ipynb_checkpoints/05_vectors.ipynb", "bob/a (1).IPYNB", "cy/notes.txt"):
        (hand_ins / name).parent.mkdir(parents=True, exist_ok=True)
        (hand_ins / name).write_bytes(b"{}")
    (hand_ins / "bob" / "link.ipynb").symlink_to(secret)
    (hand_ins / "eve").symlink_to(root)
    os.mkfifo(hand_ins / "bob" / "pipe.ipynb")
    (hand_ins / "bob" / "folder.ipynb").mkdir()
    (hand_ins / "loose.ipynb").write_bytes(b"{}")
    found = sorted((one.student, one.path) for one in reader.find(hand_ins) if not one.problem)
    assert found == [("ann", "ann/05/05_vectors.ipynb"), ("bob", "bob/a (1).IPYNB"), ("loose.ipynb", "loose.ipynb")]
    for name in ("bob/link.ipynb", "bob/pipe.ipynb", "bob/folder.ipynb", "eve/secret.ipynb", "cy/gone.ipynb"):
        with pytest.raises(OSError):
            reader.load(hand_ins, name)
    assert reader.load(hand_ins, "ann/05/05_vectors.ipynb") == reader.load(hand_ins, "loose.ipynb") == b"{}"


def test_who_handed_in_no_notebook_is_named_with_what_came_instead(tmp_path: Path) -> None:
    for name in ("ann", "bob/.git", "__MACOSX/ann", "report", ".cache"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "bob" / "homework.pdf").touch()
    (tmp_path / "report" / "05_vectors.ipynb").touch()
    found = {one.student: one.problem for one in reader.find(tmp_path, without=tmp_path / "report") if one.student}
    assert found == {"ann": "nothing in the folder", "bob": "no notebook, but .git, homework.pdf"}


@pytest.mark.parametrize("name", ["05_vectors.ipynb.txt", "05_vectors.ipynb.json", "05_vectors.ipynb (1)", "a (2).IPYNB",
                                  "05_vectors(1).ipynb", "05_vectors.ipynb.download", "05 vectors .ipynb "])  # fmt: skip
def test_what_browsers_make_of_a_name(name: str, tmp_path: Path) -> None:
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / name).touch()
    assert [one.path for one in reader.find(tmp_path)] == [f"ann/{name}"]


def test_tame_names_are_safe_and_stay_apart() -> None:
    names = ["ann", "Ann O'Neil", "../../etc", "..", "", "a/b", "a_b", "a b", "CON", "con", "\u202egnp", "x" * 300,
             "=1+1", "<script>", "é", "e", "a\x00b", "-rf", "\udce9"]  # fmt: skip
    tamed = [reader.tame(name) for name in names]
    assert len({t.lower() for t in tamed}) == len(names)
    for t in tamed:
        assert t and len(t) < 80 and not set(t) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
        assert t[0] not in ".-" and t.upper() not in ("CON", "..")
    assert tamed[0] == "ann"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", " =1", "\t=1", "\n=1", "\u00a0=1", "'=1", "\uff1d1"])
def test_a_spreadsheet_sees_no_formula(text: str) -> None:
    seen = reader.spreadsheet(text)
    assert seen.lstrip()[:1] not in ("=", "+", "-", "@")
    assert "\n" not in seen and "\t" not in seen


def test_a_file_belongs_to_the_lesson_whose_ids_it_holds() -> None:
    def lesson(*cells: str, name: str = "x.ipynb") -> int | None:
        return runs.lesson_of(reader.read(notebook(*cells)), name)

    assert lesson('check("5.1")', name="06_broadcasting.ipynb") == 5
    assert lesson("def vjp_square(v, x):\n    return x") == 5
    assert lesson("x = 1", name="05_vectors (1).ipynb") == 5
    assert lesson("x = 1", name="holiday.ipynb") is None
    assert lesson('check("999.1")') is None
