"""Engines in other styles than the solution's (closures, a class for each operation, one tape) pass 14.9; bugs are named."""

import linecache
from pathlib import Path

import numpy as np
import pytest

from minigrad.course import lessons
from minigrad.course.grading.grader import TRIES
from minigrad.course.judge.verdict import judge
from minigrad.course.student import lent
from minigrad.course.student.child import Child, can_fork, examine

ENGINES = sorted((Path(__file__).parent / "engines").glob("*.txt"))
LEADING = "    while g.ndim > len(shape):\n        g = g.sum(0)\n"
ONE_MORE = "tuple(extra + i for i, n in enumerate(shape) if n == 1)"
BUGS = [
    # engine, what is wrong, one change, and what the check has to say
    ("closure", "grad replaced", "n.grad = g.copy() if n.grad is None else n.grad + g", "n.grad = g.copy()", "<replaces grad>"),
    ("closure", "contribution replaced", "grads[id(p)] + pg if id(p) in grads else pg", "pg", "<overwrites>"),
    ("closure", "begins at the inputs", "in reversed(order)", "in order", "<no gradient yet>"),
    ("closure", "no visited set", "marked.add(id(n))\n", "pass\n", "How often may each tensor be visited?"),
    ("closure", "axes in front not summed", LEADING, "", "<leading axes>"),
    ("closure", "another axis summed", "g = g.sum(0)\n", "g = g.sum(-1)\n", "the last axes are summed"),
    ("closure", "no keepdims", "g.sum(i, keepdims=True)", "g.sum(i)", "<drops axes>"),
    ("closure", "left matmul rule", "(g @ b.data.T, a.data.T @ g)", "(g @ b.data, a.data.T @ g)", "has to be transposed"),
    ("closure", "sign of sub", "(g, -g), self", "(g, g), self", "The second rule of a difference has no minus."),
    ("closure", "numerator missing", "-g * a.data / b.data ** 2", "-g / b.data ** 2", "forgets the numerator"),
    ("closure", "exponent", "a.data ** (n - 1)", "a.data ** n", "It is n - 1."),
    ("closure", "log", "(g / a.data,)", "(g * np.log(a.data),)", "x.grad is not right."),
    ("closure", "relu at 0", "np.where(a.data > 0", "np.where(a.data >= 0", "<one at zero>"),
    ("closure", "index", "np.add.at(z, idx, g)", "z[idx] = g", "<index twice>"),
    ("closure", "any becomes all", "not any(", "not all(", "RuntimeError: does not require grad (line"),
    ("closure", "two leaves, one array", "n.grad = g.copy() if", "n.grad = g if", "one and the same array"),
    ("closure", "zeros at the start", "np.ones_like(self.data)\n", "np.zeros_like(self.data)\n", "<zeros at the start>"),
    ("closure", "recording leaks", "no_grad.stack -= 1", "no_grad.stack -= a[0] is None", "has to run after an error, too"),
    ("closure", "versions unread", "if p.v[0] != v:", "if False:", "<no versions>"),
    ("opclass", "axes of length 1 not summed", ONE_MORE, "()", "z.grad: the shape (2, 2) is not right"),
    ("opclass", "users counted once", "users.get(id(p), 0) + 1", "1", "the sum of both contributions"),
    ("opclass", "tanh", "lambda x, y: 1 - y * y", "lambda x, y: 1 - x * x", "x.grad is not right."),
    ("opclass", "integers", "np.array(data, dtype=float)", "np.array(data)", "<integers>"),
    ("opclass", "result unwatched", "self._array = np.array(data, dtype=float)", "self._array = np.asarray(data, dtype=float)",
     "the result w of `y.exp()`"),
]


def namespace(source, file="<cell>"):
    space = {"np": np, "__name__": "__main__"}
    exec(compile(source, file, "exec"), space)
    return space | {"MyTensor": space["Tensor"], "my_no_grad": space["no_grad"]}


@pytest.mark.slow
@pytest.mark.skipif(not can_fork(), reason="no fork here")
@pytest.mark.parametrize("engine", ENGINES, ids=lambda path: path.stem)
def test_an_engine_of_another_style_passes(engine):
    verdict = examine(lessons.find("14.9"), namespace(engine.read_text(encoding="utf-8")))
    assert verdict.passed, (verdict.call, verdict.got, verdict.lines)


@pytest.mark.slow
@pytest.mark.skipif(not can_fork(), reason="no fork here")
@pytest.mark.parametrize(("engine", "bug", "old", "new", "says"), BUGS, ids=[f"{bug[0]}: {bug[1]}" for bug in BUGS])
def test_a_bug_is_named_with_the_part_that_has_it(engine, bug, old, new, says):
    source = (ENGINES[0].parent / f"{engine}.txt").read_text(encoding="utf-8")
    assert old in source
    source, file = source.replace(old, new), f"<cell with {bug}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exercise = lessons.find("14.9")
    space = namespace(source, file)
    child = Child(exercise, space, next(lent.engines(exercise, space)))
    try:  # with a number of tries: a busy machine names what a quiet one names
        verdict = judge(exercise, child.student, 0, TRIES)
    finally:
        child.end()
    assert verdict.status in ("wrong", "error", "timeout")
    assert says in f"<{verdict.mistake}> " * bool(verdict.mistake) + " ".join(verdict.lines), verdict
