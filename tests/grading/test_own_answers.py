"""A class teaches the judge: wrong answers without a name are grouped, and a sentence of the teacher's names a group."""

from __future__ import annotations

import html
import json
import re
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from minigrad.course.commands import cli
from minigrad.course.commands.answers import definitions
from minigrad.course.grading import runs
from tests.grading.classroom import notebook
from tests.grading.test_runs import hand_in, one_thread

HEAD = "def vjp_square(v, x):\n    return "
KINDS = {  # the sentence for each kind of mistake, and how students wrote it
    "v is there twice.": (
        "2 * x * v**2",
        "v * x * v * 2",
        "np.multiply(2 * x, v) * v",
        "(x + x) * v * v  # the weights",
    ),
    "x is added at the end.": ("2 * x * v + x", "x + v * x * 2", "x * (2 * v + 1)"),
    "This is a cube.": ("v * x**3", "x * x * x * v", "cube(x) * v"),
}
CUBE = "import numpy as np\n\n\ndef cube(x):\n    return x**3\n"


def grade(folder: Path, out: Path, *more: str) -> int:
    return cli.main(["grade", str(folder), "--out", str(out), "--jobs", "1", *more])


@pytest.fixture
def hand_ins(tmp_path: Path) -> Path:
    """Ten notebooks of lesson 05, one of lesson 06."""
    for number, answer in enumerate(answer for answers in KINDS.values() for answer in answers):
        hand_in(tmp_path / "in", **{f"s{number}": notebook(CUBE, HEAD + answer, 'check("5.1")')})
    (tmp_path / "in" / "s0" / "06_broadcasting.ipynb").write_bytes(notebook("def unbroadcast(g, shape):\n    return g"))
    return tmp_path / "in"


@pytest.mark.slow
def test_ten_answers_of_three_kinds_become_known_by_three_sentences(
    hand_ins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = runs.grade  # in this process, where a sandbox is up already
    monkeypatch.setattr(runs, "grade", lambda *args, **more: real(*args, **more | {"executor": one_thread()}))
    out, mine = tmp_path / "out", tmp_path / "mine.md"
    assert grade(hand_ins, out) == 0
    report = (out / "report.html").read_text(encoding="utf-8")
    rows = [html.unescape(row) for row in re.findall(r"<pre><bdi>(- .*?)</bdi></pre>", report, re.DOTALL)]
    found = re.findall(r"<h3>5\.1 .*: (\d) students</h3>", report)
    assert found == ["4", "3", "3"] and len(rows) >= 3 and "Read it before you copy it" in report
    text = "# Mine\n\n## 5.1\n\n### Wrong\n\n"
    for row in rows[:3]:
        code = row.replace(" ", "")
        words = next(
            words for words, answers in KINDS.items() if any(a.split("#")[0].replace(" ", "") in code for a in answers)
        )
        text += row.replace("  >\n", f"  > {words}\n") + "\n"
    mine.write_text(text, encoding="utf-8")
    before = (out / "results.jsonl").read_text(encoding="utf-8").splitlines()
    capsys.readouterr()
    assert grade(hand_ins, out, "--answers", str(mine)) == 0
    assert "10 notebooks graded" in (said := capsys.readouterr().out) and "1 were graded before" in said
    after = (out / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["lesson"] for line in set(after) & set(before)} == {6}
    report = (out / "report.html").read_text(encoding="utf-8")
    names = re.findall(r"\*\*(.+?)\*\*", text)
    counts = [re.search(rf"<bdi>{name}</bdi></td><td class=\"n\" data-value=\"(\d+)\"", report)[1] for name in names]
    assert counts == ["4", "3", "3"] and "<h3>5.1 " not in report
    feedback = "".join(page.read_text(encoding="utf-8") for page in (out / "feedback").glob("*/05_vectors.html"))
    assert [feedback.count(words) for words in KINDS] == [4, 3, 3]


NOT_RIGHT = [
    ("`2 * x * v`\n  > No.", "should be refused, and is passed"),
    ("`2 *`\n  > No.", "syntax"),
    ("`2 * x * v * v`", "nothing is said"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "says"), NOT_RIGHT)
def test_a_file_that_is_not_right_grades_nothing(
    rows: str, says: str, hand_ins: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.md"
    mine.write_text(f"# Mine\n\n## 5.1\n\n### Wrong\n\n- {rows}\n", encoding="utf-8")
    assert grade(hand_ins, tmp_path / "out", "--answers", str(mine)) == 2
    said = capsys.readouterr().err
    assert said.startswith("minigrad grade: mine.md, line 7: ") and says in said
    assert not (tmp_path / "out").exists()


def test_a_row_has_all_that_an_answer_needs() -> None:
    helper = "def helper(x):\n    '''Three.\n```\n'''\n    return math.sin(x)"
    own = "def f(x):  # mine\n    return helper(x) * step"
    source = definitions(
        ["import math\nimport os", helper, "a bad cell (", "step = 2\nrest = 3", own, "print(f(2))"], ("f",)
    )
    assert not [word for word in ("os", "rest", "print", "mine", "```") if word in source]
    space: dict[str, Any] = {}
    exec(source, space)
    assert abs(space["f"](1.0) - 1.6829) < 1e-4
    chain = "\n".join(f"a{i} = a{i + 1}" for i in range(4_000))
    begun = time.process_time()
    with warnings.catch_warnings(action="error"):
        assert definitions([chain, "bad = '\\d'"], ("a0", "bad")) == "..."  # all of it, which is too long to be read
    assert time.process_time() - begun < 2
    cells = ["class Value: pass", "times = 3", "Value.__mul__ = times"]
    assert definitions(cells, ("Value.__mul__",)).endswith("Value.__mul__ = times")
