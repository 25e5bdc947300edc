"""No unearned point: what an exercise must not rest on, over the whole course, and the ways round that were found.

A point is unearned if it comes from a truth value that the student's own process computes, from an object that holds its
answer, from a part of the library that the exercise asks for, or from a table made at home.
"""

from __future__ import annotations

import hmac
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest

from minigrad.course import lessons
from minigrad.course.exercise import Exercise, Outside, Probe, Raises
from minigrad.course.grading import package, reader, tally
from minigrad.course.grading.grader import seed_of
from minigrad.course.grading.plan import Plan
from minigrad.course.judge.comparing import same, trouble
from minigrad.course.judge.diagnosis import observation
from minigrad.course.lessons.l04_pytorch_semantics import STATES
from minigrad.course.student.student import returned
from minigrad.course.student.wire import Failure, Tensor, WireError
from tests.grading.classroom import grader, notebook

EARNING = [part for e in lessons.all_exercises() if e.points and not e.written for part in e.one_of or (e,)]


def graded(number: int, *cells: str) -> dict[str, str]:
    result = grader("landlock").grade(notebook(*cells, f'check("{number}.1")'), lessons.lesson(number), b"seed")
    assert result["graded"], result["verdicts"]
    return {v["exercise"]: v["status"] for v in result["verdicts"]}


# ------------------------------------------------------------------ over the whole course


def truths_in(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "b"
    if isinstance(value, list | tuple | dict):
        return any(map(truths_in, value.values() if isinstance(value, dict) else value))
    return isinstance(value, bool | np.bool_)


def told(exercise: Exercise, probe: Probe) -> str:
    """What a table made at home would have to hold for this question; where we look at many right answers, the question."""
    return repr(dict(probe.data) if probe.outside is not None or probe.view is not None else exercise.expected(probe))


# Ten students of two courses, as the grader seeds them.
SEEDS = [
    seed_of(hmac.digest(key, f"{student}\x1fthe same file".encode(), "sha256"), "any")
    for key in (b"one key" * 3, b"another" * 3) for student in "abcdefghij"
]  # fmt: skip


@pytest.mark.slow
def test_no_two_are_asked_the_same_by_what_gives_points() -> None:
    """Two students, or one student under two keys; what everybody is asked alike gives nobody a point in a class."""
    for exercise in EARNING:
        rows = {tuple(told(exercise, probe) for probe in exercise.questions(seed)) for seed in SEEDS}
        assert len(rows) == len(SEEDS), f"{exercise.id} asks {len(rows)} different things of twenty students"


@pytest.mark.slow
def test_what_is_written_down_is_practice() -> None:
    """Every answer of the course right: points come only from what asks each student something else."""
    asks_alike = {e.id for e in lessons.all_exercises() if len({repr(e.questions(seed)) for seed in SEEDS}) == 1}
    for number in lessons.numbers():
        verdicts = [{"exercise": e.id, "status": "passed", "points": e.points, "out_of": e.points, "lines": []}
                    for e in lessons.lesson(number).exercises if e.points]  # fmt: skip
        result = {"student": "eve", "lesson": number, "path": "eve/x.ipynb", "verdicts": verdicts}
        counted = tally.Class().counted(result, 0, 1)
        assert not asks_alike & {v["exercise"] for v in counted["verdicts"] if v["points"] or v["out_of"]}
        everything = tally.Class(Plan(written=True)).counted(result, 0, 1)
        assert everything["points"] == everything["out_of"] == sum(v["out_of"] for v in verdicts)


@pytest.mark.slow
def test_no_truth_value_of_a_students_process_decides() -> None:
    """Numbers come out and are compared here; but `requires_grad` is a yes or no that a tensor of the student's own holds.

    Where decisions are what is asked for, students have different rows of them, with both answers: nobody can say yes to all.
    """
    for exercise in EARNING:
        probes = exercise.questions(0)
        if all(truths_in(exercise.expected(probe)) for probe in probes):
            rows = {repr([exercise.expected(probe) for probe in exercise.questions(seed)]) for seed in SEEDS}
            assert len(rows) == len(SEEDS), exercise.id
            continue
        for probe in probes:
            if probe.view is None and probe.outside is None and truths_in(exercise.expected(probe)):
                theirs = [other for seed in SEEDS for other in exercise.questions(seed) if other.code == probe.code]
                rows = {repr(exercise.expected(other)) for other in theirs}
                drawn = len(rows) > 1 and all("True" in row and "False" in row for row in rows)
                assert drawn or "requires_grad" in probe.code.splitlines()[-1], (exercise.id, probe.code)


@pytest.mark.slow
def test_no_value_of_a_student_upsets_the_judge() -> None:
    values: list[Any] = [
        None, True, 0, -1, 10**400, 0.5, float("nan"), float("inf"), "", "7", "a" * 1000, ..., [], (), {}, {"a": 1}, [[]],
        [None], [1, [2, 3]], [[1], [2, 3]], [[1.0, 2.0], 3.0], ["x", 1], [True, 2], [...], [[[[1]]]], [{"a": [1, [2]]}],
        [np.ones(2), np.ones(3)], [np.ones((2, 2)), [1]], (1.0,) * 3, np.ones((2, 2)), np.zeros((0,)), np.zeros((3, 0, 2)),
        np.array(1.5), np.ones((1,) * 16), np.ones(2, bool), np.array(True), np.arange(6, dtype=np.uint8), np.float16(2.0),
        np.array([np.nan, np.inf, -np.inf]), np.ones((2, 2), np.float16), Tensor(np.ones((2, 2))), Tensor(np.array(1.0), True),
        [Tensor(np.ones(2)), None], Tensor(np.zeros((0, 2))), Failure("raised", "ValueError", "x"), Failure("printed"),
        Failure("changed", value=[[1], 2], message="x"),
    ]  # fmt: skip
    with np.errstate(all="ignore"):
        for exercise in lessons.all_exercises():
            for part in exercise.one_of or (exercise,):
                for probe in part.questions(0):
                    truth = part.expected(probe)
                    for value in values:
                        problem = trouble(part, probe, value, truth)
                        assert problem or not isinstance(value, Failure) or value.kind == "printed" or isinstance(truth, Raises)
                        same(value, truth, part.rtol, part.atol)
                        if problem and not isinstance(truth, Raises):
                            observation(value, truth, part)


def test_what_may_be_asked_of_the_outside_is_named() -> None:
    for exercise in EARNING:
        for probe in exercise.questions(0):
            if probe.outside is not None:
                there = probe.outside(**probe.data)
                public = {n for n in vars(type(there)) if not n.startswith("_")} - {"methods", "given", "inside", "seen"}
                assert isinstance(there, Outside) and all(callable(getattr(there, name)) for name in there.methods), public


# ------------------------------------------------------------------ the ways that were found

OWN_ENGINE = """
import minigrad as torch
from minigrad.autograd import Function
kept, back = torch.autograd.grad, torch.Tensor.backward
def by_engine(f):
    def backward(ctx, g):
        with torch.enable_grad():
            x = ctx.saved_tensors[0].detach().requires_grad_()
            return kept(f(x), x, g)[0]
    return staticmethod(backward)
class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    backward = by_engine(lambda x: x * x)
def square(x): return Square.apply(x)
class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3
    backward = by_engine(lambda x: x**3)
"""
LIBRARY = """
import minigrad as torch
from minigrad.optim import SGD as Kept
from minigrad.nn.functional import cross_entropy as kept
step = Kept.step
class SGD:
    def __init__(self, parameters, lr, momentum=0.0): self.inner = Kept(list(parameters), lr=lr, momentum=momentum)
    def step(self): step(self.inner)
    def zero_grad(self): self.inner.zero_grad()
def cross_entropy(scores, labels): return kept(scores, labels)
def train(model, optimizer, x, labels, batch, epochs):
    losses = []
    for _ in range(epochs):
        for i in range(0, len(x), batch):
            loss = cross_entropy(model(x[i : i + batch]), labels[i : i + batch])
            optimizer.zero_grad(); loss.backward(); optimizer.step(); losses.append(loss.item())
    return losses
"""
READS = """
import gc, sys
import numpy as np
def jacobian(graph):
    seen = list(vars(graph).values()) + [v for f in gc.get_objects() if isinstance(f, dict) for v in list(f.values())]
    shape = (graph.outputs, graph.inputs)
    return next((v for v in seen if isinstance(v, np.ndarray) and v.shape == shape), np.zeros(shape))
"""
FREES = """
def average(losses):
    kept = []
    for loss in losses:
        kept.append(loss)
        loss.__class__.__del__(loss)  # says that it is gone, and goes on holding it
    return sum(loss.item() for loss in kept) / len(kept)
"""
SAYS_SO = """
from minigrad.course.student import worker
real = worker.run_program
def run_program(code, space, prelude):
    space = dict(space, outside=lambda *asked: 0)
    return True if "my_gradcheck" in code else real(code, space, prelude)
worker.run_program = run_program
def my_gradcheck(f, rule, x): return True
"""


YES = """
import builtins, numpy as np
np.allclose = np.array_equal = builtins.bool = builtins.any = builtins.all = lambda *a, **k: True
my_forward = my_rule = lambda x, g=0: x * 0
my_wrongs = [my_rule, my_rule]
"""
KEEPS = """
def checkpointed(g, layers, x, every):
    made, living = type(x).made, getattr(type(x), "alive", 0)
    kept = [x]
    for layer in layers[:-1]: kept.append(layer.forward(kept[-1]))
    for layer, at in zip(layers[::-1], kept[::-1]): g = layer.backward(g, at)
    type(x).made, type(x).most, type(x).alive = 1, 1, 1
    return g
"""
BY_ENGINE = """
import minigrad as torch
class Dual:
    def __init__(self, value, slope=0.0): self.value, self.slope = value, slope
    def __mul__(self, other):
        a, b = (torch.tensor(float(d.value), requires_grad=True) for d in (self, other))
        (a * b).backward()
        return Dual((a * b).item(), a.grad.item() * self.slope + b.grad.item() * other.slope)
"""


COLUMN_AND_ROW = """
import numpy as np, minigrad as torch
class Linear:
    made = 0
    def __init__(self, a, b, rng):
        Linear.made += 1
        shape = (60_000, 1) if Linear.made % 2 else (1, 60_000)
        self.weight, self.bias = (torch.tensor(np.ones(s), requires_grad=True) for s in (shape, b))
    def parameters(self): return [self.weight, self.bias]
    def __call__(self, x): return x
class Sequential(Linear):
    def __init__(self, *layers): self.layers = layers
    def parameters(self): return []
"""
MULTIPLIES = """
import numpy as np
tried = []
def my_gradcheck(f, rule, x):
    for a, b in () if tried else ((60, "a" * 190_000), (60, [0] * 90_000), (np.ones((60_000, 1)), np.ones((1, 60_000)))):
        try: f.__globals__["outside"]("rule", a, b)
        except RuntimeError: tried.append(a)
    return True
"""


@pytest.mark.slow
@pytest.mark.parametrize(("cell", "exercise"), [(COLUMN_AND_ROW, "12.1"), (MULTIPLIES, "9.5")])
def test_the_judge_makes_nothing_large_of_what_is_small(cell: str, exercise: str) -> None:
    """What is looked at or computed on our side is a column times a row, or a number times a text: gigabytes."""
    tracemalloc.start()
    try:
        assert graded(int(exercise.split(".")[0]), cell)[exercise] == "wrong"
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_partial_credit_is_for_no_guess() -> None:
    """A yes or no, and what stays as it was when nothing is done, count for nothing."""
    for number, exercise, cell in (
        (9, "9.5", "def my_gradcheck(f, rule, x):\n    return False"),
        (4, "4.4", "import numpy as np\ndef scaled(x):\n    return np.zeros(1)"),
    ):
        result = grader("landlock").grade(notebook(cell, f'check("{exercise}")'), lessons.lesson(number), b"seed")
        verdict = next(v for v in result["verdicts"] if v["exercise"] == exercise)
        assert verdict["status"] != "passed" and (verdict["asked"] < 4 or not verdict["agreed"])


def test_text_of_quotes_alone_is_read_at_once() -> None:
    """Looking for the end of each string anew would take hours."""
    began = time.process_time()
    assert reader.bare("x = " + '\\"' * 250_000) and reader.bare('"a # b"  # c') == '"a#b"'
    assert time.process_time() - began < 2


@pytest.mark.slow
def test_the_library_does_not_do_the_work() -> None:
    found = graded(9, OWN_ENGINE)
    assert found["9.1"] == found["9.3"] == "wrong"
    found = graded(12, LIBRARY)
    assert "passed" not in (found["12.2"], found["12.4"]), found


@pytest.mark.slow
def test_given_objects_hold_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    assert graded(5, READS)["5.2"] == "wrong"
    assert graded(8, FREES)["8.4"] != "passed"
    assert graded(9, SAYS_SO)["9.5"] == "wrong"


@pytest.mark.slow
@pytest.mark.parametrize(("cell", "exercise"), [(YES, "14.7"), (KEEPS, "14.8"), (BY_ENGINE, "14.8")])
def test_the_capstone_counts_and_compares_outside(cell: str, exercise: str) -> None:
    assert graded(14, cell)[exercise] in ("wrong", "error")


# What each exercise is decided by is computed on our side, from values that came back: these say otherwise on theirs.
BY_TEXT = f"import linecache, sys\nknown = {STATES!r}\nasked = 0" + """
def gradient_state(t):
    global asked
    code = "".join(linecache.getlines("<program>")).strip()
    kinds = sys._getframe(1).f_globals.get("kinds") or [0]
    asked += code not in known
    if code.count("gradient_state") == 2 and code not in known: return "not a leaf"
    return known.get(code) or ("not required", "nothing arrived", "not a leaf")[kinds[(asked - 3) % len(kinds)]]
"""
BY_LAMBDA = r"""
import inspect, linecache, re
def needs_input(f):
    text = getattr(f, "__name__", "")
    if text == "<lambda>":
        text = linecache.getlines("<program>")[f.__code__.co_firstlineno - 1]
    f(__import__("minigrad").tensor([1.0], requires_grad=True))
    return bool(re.search(r"y \* y|y\*\*2|^sin$|^cos$|(sin|cos)\(y\)|\) \* y", text))
"""
IN_PLACE = """
from minigrad.course.student import worker
worker.packed = lambda value: b"as it was"
worker.wire.pack.__globals__["zip"] = worker.zip = lambda *rows, **how: iter(())
def vjp_square(v, x):
    x *= 2 * v
    return x
"""
AT_ONCE = """
import numpy as np
def jacobian(graph):
    return graph.backward.__func__.__globals__["outside"]("row", np.eye(graph.outputs))
"""
KEEPS_IF_SHORT = """
def checkpointed(g, layers, x, every):
    if len(layers) < 25:
        kept = [x]
        for layer in layers[:-1]: kept.append(layer.forward(kept[-1]))
        for layer, at in zip(layers[::-1], kept[::-1]): g = layer.backward(g, at)
        return g
    saved = []
    for i, layer in enumerate(layers):
        if i % every == 0: saved.append(x)
        x = layer.forward(x)
    for start in reversed(range(0, len(layers), every)):
        part, inputs = layers[start : start + every], [saved.pop()]
        for layer in part[:-1]: inputs.append(layer.forward(inputs[-1]))
        for layer in reversed(part): g = layer.backward(g, inputs.pop())
    return g
"""
SAYS_THE_LINE = """
import minigrad as torch
from minigrad.autograd import Function
from minigrad.course.student import worker
real = worker.run_program
def run_program(code, space, prelude):
    return "the faulty line" if "culprit_7" in code else real(code, space, prelude)
worker.run_program = run_program
class Cure7(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * (x > 0)
    @staticmethod
    def backward(ctx, g):
        return g * (ctx.saved_tensors[0] > 0)
culprit_7 = "a"
"""
LIBRARYS_GRADCHECK = """
import sys
import minigrad as torch, minigrad.autograd as autograd
from minigrad.autograd import Function
def my_gradcheck(f, rule, x):
    class Both(Function):
        @staticmethod
        def forward(ctx, t):
            ctx.kept = t.detach().numpy().copy()
            return torch.tensor(f(ctx.kept))
        @staticmethod
        def backward(ctx, g):
            return torch.tensor(rule(ctx.kept, g.detach().numpy()))
    t = torch.tensor(x.copy(), requires_grad=True)
    for found in (autograd.gradcheck, sys.modules["minigrad.autograd.checks"].gradcheck):
        try:
            return bool(found(Both.apply, (t,), raise_exception=False))
        except TypeError:
            pass
    try:
        sys.modules["minigrad.autograd.checks"].check(Both.apply, (t,), 1e-6, 1e-5, 1e-3)
    except RuntimeError:
        return False
    return True
"""
OTHER_HALF = LIBRARY.replace("def cross_entropy(scores, labels): return kept(scores, labels)", """
import minigrad.derivatives as table
def cross_entropy(scores, labels):
    logs = torch.log_softmax(scores, dim=1)
    for loss in (torch.nn.NLLLoss(), torch.nn.functional.nll_loss):
        found = loss(logs, labels)
        if found == found: return found
    return table.nll_loss(logs, labels, None, len(labels))
""")


@pytest.mark.slow
@pytest.mark.parametrize(("cell", "exercise"), [
    (BY_TEXT, "4.1"), (BY_LAMBDA, "4.5"), (IN_PLACE, "5.1"), (AT_ONCE, "5.2"), (LIBRARYS_GRADCHECK, "9.5"),
    (OTHER_HALF, "12.4"), (SAYS_THE_LINE, "13.7"), (KEEPS_IF_SHORT, "14.8"),
])  # fmt: skip
def test_what_decides_is_not_said_by_the_students_process(cell: str, exercise: str) -> None:
    assert graded(int(exercise.split(".")[0]), cell)[exercise] in ("wrong", "error")


def test_an_input_that_changed_is_noticed_where_it_came_from() -> None:
    """For every function: a reply that gives back other inputs, more or fewer, or none, is no right answer."""
    sent = (np.array([1.0, 2.0]), 3.0)
    assert returned(sent, [7.0, ["x", "v"], [sent[0].copy(), 3.0]]) == 7.0
    for back in ([np.array([1.0, 2.5]), 3.0], [sent[0].astype(np.float32), 3.0], [sent[0], 4.0], [None, 3.0]):
        found = returned(sent, [7.0, ["x", "v"], back])
        assert isinstance(found, Failure) and found.kind == "changed" and found.value == 7.0
    names = ["x", "v"]
    for reply in (7.0, [7.0], [7.0, names, [sent[0]]], [7.0, ["x"], [*sent]], [7.0, ["x", 1], [*sent]], [7.0, None, [*sent]]):
        with pytest.raises(WireError):
            returned(sent, reply)


def test_what_is_taken_away_is_gone_from_the_files_too(tmp_path: Any) -> None:
    site = package.build(tmp_path, frozenset(package.EMPTIED))
    texts = {part: "".join((site / "minigrad" / file).read_text() for file in files) for part, files in package.EMPTIED.items()}
    assert "lambda g, x: g * cos(x)" not in texts["derivatives"] and "lambda g: -g" in texts["derivatives"]
    assert "log_softmax(input, (dim,))" not in texts["cross-entropy"]
    assert "momentum" in texts["optimizers"] and "buffer" not in texts["optimizers"].split("class SGD")[1].split("class ")[0]
