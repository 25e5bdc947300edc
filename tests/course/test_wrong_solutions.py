"""Mistakes that no catalogue holds, told by the slip in a solution that gives the same answers."""

import numpy as np
import pytest

from minigrad.course.student import Local
from minigrad.course.verdict import judge
from minigrad.course.wrong_solutions import Right, slips
from tests.course.test_slips import unforeseen

FIT = """
def fit(x, y, lr, steps):
    slope = shift = 0.0
    for _ in range(steps):
        wrong = slope * x + shift - y
        slope, shift = slope - 2 * lr * np.mean(wrong * x), shift - 2 * lr * np.mean(wrong)
    return slope, shift
"""
SAID = {
    ("8.3", "range(steps)", "range(steps + 1)"): "one wrong line: `for _ in range(steps + 1):`",
    ("8.3", "np.mean(wrong)\n", "np.sum(wrong)\n"): "one wrong line: `db = 2 * np.sum(error)`",
    ("8.3", "slope * x + shift - y", "slope * x - y"): "one wrong line: `error = w * x - y`",
    ("8.3", "    return", "        return"): "in each round of its loop: `return (w, b)`",
    ("8.3", "lr * np.mean", "np.mean"): "wrong lines: `w = w - 1 * dw`, `b = b - 1 * db`",
    ("8.3", "return slope, shift", "return round(slope, 2), round(shift, 2)"): "The numbers are rounded",
}


@pytest.mark.parametrize(("id", "old", "new"), list(SAID))
def test_a_mistake_is_told_by_the_slip_that_gives_it(id, old, new):
    space = {"np": np}
    exec(FIT.replace(old, new), space)
    found = judge(unforeseen(id), Local(space))
    assert SAID[id, old, new] in " ".join(found.lines), found


def test_each_slip_leaves_the_solution_as_it_was():
    cell = "# BEGIN SOLUTION\ndef f(n):\n    total = 0\n    while n > 0:\n        total += n\n        n -= 1\n    return total"
    answers = []
    for slip in slips(Right("", (cell,)), {}):
        try:
            answers.append((slip.space["f"](3), slip.says()))
        except Exception as error:
            answers.append((type(error).__name__, slip.says()))
    said = {text for answer, text in answers if answer == 1}
    assert "Your answers are those of a solution with one wrong line: `total = n`. Which line of yours does the same?" in said
    assert any(answer == "Endless" for answer, _ in answers)  # and yet it came to its end
    assert {answer for answer, text in answers if "never changes `n`" in text} == {"Endless"}
