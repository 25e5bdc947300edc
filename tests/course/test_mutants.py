"""Small changes to the shipped solutions: none of them may pass its check.

Each solution is changed in one place (an operator, a number, a sign, a keyword, an argument's place, a statement left
out) and judged with two seeds. What survives is either a weak probe or a change without effect; the latter are listed.
"""

import ast
import builtins
import contextlib
import dataclasses
import importlib
import io
import os
import re
import signal
import zlib

import numpy as np
import pytest

import minigrad
from minigrad.course import lessons, notebooks
from minigrad.course.student.child import can_fork, examine

OPERATORS = {
    ast.Add: [ast.Sub, ast.Mult], ast.Sub: [ast.Add, ast.Div], ast.Mult: [ast.Div, ast.Add], ast.Div: [ast.Mult, ast.Sub],
    ast.Pow: [ast.Mult], ast.MatMult: [ast.Mult], ast.FloorDiv: [ast.Mult],
}  # fmt: skip
COMPARISONS = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
REDUCTIONS = {"sum": "mean", "mean": "sum", "max": "min", "min": "max"}
EITHER = "the square of the difference is the same"
ANY = "the experiment asks for some tensor and some change in place, not for these"
WITHOUT_EFFECT: dict[str, dict[str, str]] = {
    # exercise: changed line, and why it is right as well
    "4.3": {"loss = (12 - 3 * w) ** 2": EITHER},
    "4.5": dict.fromkeys((
        "y = x / 2", "y = x + 2", "y = x * 3", "y = x * 4", "y.add_(2)", "z.mean().backward()",
        "x = torch.tensor([1.5, 1.5], requires_grad=True)", "x = torch.tensor([1.0, 1.5], requires_grad=True)",
        "x = torch.tensor([0.5, 2.5], requires_grad=True)", "x = torch.tensor([0.5, 3.0], requires_grad=True)",
    ), ANY),
    "7.4": {"dW = (np.swapaxes(X, 2, 1) @ G).sum(axis=0)": "the same two axes change places"},
    "8.1": {"return np.mean((t - p) ** 2)": EITHER},
    "9.5": {
        "if not abs(claimed[index] - measured) < 1e-05 * (1 + abs(measured)):": "the size of the difference is the same",
        "if not abs(measured - claimed[index]) < 1e-05 * (2 + abs(measured)):": "another fair tolerance",
        "if not abs(measured - claimed[index]) < 2e-05 * (1 + abs(measured)):": "another fair tolerance",
        "if not abs(measured - claimed[index]) < 1e-05 * (1 * abs(measured)):": "another fair tolerance",
        "v = np.random.default_rng(1).normal(size=np.shape(f(x)))": "other random numbers",
    },
    "10.3": {"H = np.maximum(0, Z)": "the larger of two is the same", "loss = np.mean((t - P) ** 2)": EITHER},
    "12.3": {"x = images.reshape(len(images), -2)[order] / 16": "numpy takes any negative number for the length left open"},
    "13.1": {"loss = ((t - x @ w) ** 2).mean()": EITHER},
    "13.2": {"loss = ((t - h @ w2) ** 2).mean()": EITHER},
    "13.5": {"loss = ((t - x @ w) ** 2).mean()": EITHER},
    "14.9": {
        **dict.fromkeys(("self.version[0] -= 1", "self.version[0] += 2", "self.version[-1] += 1", "MyTensor.made += 2",
                         "out.versions = [t.version[-1] for t in inputs]",
                         "if t.versions != [p.version[-1] for p in t.parents]:"), "a counter has to change, and no more"),
        **dict.fromkeys(("recording, made = (True, 1)", "recording, made = (True, -1)", "self.op, self.parents, self.rules, "
                         "self.version = ('', (), None, [1])", "self.op, self.parents, self.rules, self.version = ('', (), "
                         "None, [-1])"), "where a counter begins is free"),
        **dict.fromkeys(("out = MyTensor(1.0)", "out = MyTensor(-1)"), "the numbers of detach are replaced in the next line"),
        "my_operation('relu', 'relu', lambda x: np.maximum(0, x), lambda g, x: g * (x > 0))": "the larger of two is the same",
    },
}


def changes(node):
    """Functions that change a node in place, one at a time."""
    if isinstance(node, ast.BinOp | ast.AugAssign):
        yield from (lambda n, o=o: setattr(n, "op", o()) for o in OPERATORS.get(type(node.op), ()))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.MatMult | ast.Pow):
        yield lambda n: n.__dict__.update(left=n.right, right=n.left)
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        yield lambda n: n.ops.__setitem__(0, COMPARISONS[type(n.ops[0])]())
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield lambda n: setattr(n, "value", n.value + 1)
        yield lambda n: setattr(n, "value", n.value * 2 or -1)
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield lambda n: setattr(n, "value", not n.value)
    if isinstance(node, ast.Attribute) and node.attr == "T":
        yield lambda n: n.__dict__.update(attr="copy()", value=n.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield lambda n: setattr(n, "op", ast.UAdd())
    if isinstance(node, ast.BoolOp):
        yield lambda n: setattr(n, "op", ast.Or() if isinstance(n.op, ast.And) else ast.And())
    if isinstance(node, ast.Call):
        yield from (lambda n, k=k: n.keywords.pop(k) for k in range(len(node.keywords)))
        for k in range(len(node.args) - 1):
            yield lambda n, k=k: n.args.__setitem__(slice(k, k + 2), n.args[k : k + 2][::-1])
        if isinstance(node.func, ast.Attribute) and node.func.attr in REDUCTIONS:
            yield lambda n: setattr(n.func, "attr", REDUCTIONS[n.func.attr])
    if isinstance(node, ast.FunctionDef | ast.For | ast.While | ast.If | ast.With):
        for k, statement in enumerate(node.body):
            stated = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)  # a docstring
            if isinstance(statement, ast.Assign | ast.AugAssign | ast.If | ast.For | ast.Expr) and not stated:
                yield lambda n, k=k: n.body.__setitem__(k, ast.Pass())


def mutants(source):
    """Every source with one change, and the changed line."""
    original = ast.unparse(ast.parse(source))
    found = {}
    for place, node in enumerate(ast.walk(ast.parse(source))):
        for number in range(len(list(changes(node)))):
            tree = ast.parse(source)
            same = list(ast.walk(tree))[place]
            list(changes(same))[number](same)
            text = ast.unparse(ast.fix_missing_locations(tree))
            new = [line.strip() for line in text.split("\n") if line not in original.split("\n")]
            if text != original:
                found[text] = new[0] if new else "a line left out"
    return found.items()


def namespace(cells):
    """What a notebook's cells define; cells that need a front end, check something or train are left out."""
    importlib.import_module("minigrad.course.checks.checking")  # finds my_engine
    space = {"__name__": "__main__"}
    for cell in cells:
        if re.search(r"^(check|predict|hint|keep|progress|step|draw)\(|minigrad\.viz|= train\(", cell, re.MULTILINE):
            continue
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception), limited(5):
            exec(compile(cell, "<cell>", "exec"), space)
    return space


def part_of(exercise, cells, place):
    """Of an exercise with several parts, each enough by itself: the part that fails without this cell."""
    without = namespace([*cells[:place], *cells[place + 1 :]])
    parts = [dataclasses.replace(part, seconds=exercise.seconds, with_engine=exercise.with_engine) for part in exercise.one_of]
    return next((part for part in parts if not examine(part, without).passed), exercise)


def crowded(space, cells):
    """The namespace of a student who has also used every name of Python and numpy that the solution does not need."""
    needed = {node.id for cell in cells for node in ast.walk(ast.parse(cell)) if isinstance(node, ast.Name)} | set(space)
    names = {name: [3] for name in dir(builtins) if not name.startswith("_")}
    names |= {name: getattr(np, name) for name in np.__all__ if name not in ("bytes", "object", "str")}
    return {**space, **{name: thing for name, thing in names.items() if name not in needed}}


@contextlib.contextmanager
def limited(seconds):
    """A changed loop may never end: raise in it."""

    def ring(number, frame):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def answers():
    """(lesson, number of the cell, exercise) of every written solution."""
    for lesson in notebooks.lessons():
        file = notebooks.path("solutions", lesson)
        cells = notebooks.code_cells(notebooks.read(file)) if file.exists() else []
        asked = [re.findall(r'^(?:check|predict)\("(\d+\.\w+)"', cell, re.MULTILINE) for cell in cells]
        for place, cell in enumerate(cells):
            end, id = next(((n, ids[0]) for n, ids in enumerate(asked) if n >= place and ids), (0, None))
            if "BEGIN SOLUTION" in cell and id and lessons.find(id).kind in ("function", "program"):
                # Up to its check: a later exercise may define a name again.
                yield pytest.param(cells[:end], place, lessons.find(id), id=f"{id}-{place}")


SHARE = 1.0 if os.environ.get("MINIGRAD_MUTANTS") == "all" else 0.2  # of the changes: an engine's take seconds each


@pytest.mark.slow
def test_few_changes_are_without_effect():
    every = [len(mutants(param.values[0][param.values[1]])) for param in answers()]
    assert sum(map(len, WITHOUT_EFFECT.values())) <= 0.05 * sum(every)


@pytest.mark.slow
@pytest.mark.sweep(16)
@pytest.mark.skipif(not can_fork(), reason="no fork here")
@pytest.mark.parametrize(("cells", "place", "exercise"), list(answers()))
def test_no_small_change_of_a_solution_passes(cells, place, exercise):
    """A share of all changes; `MINIGRAD_MUTANTS=all pytest -m sweep tests/course/test_mutants.py` judges every one."""
    changed = [each for each in mutants(cells[place]) if zlib.crc32(each[0].encode()) < SHARE * 2**32]
    exercise = part_of(exercise, cells, place)
    try:
        minigrad.set_default_dtype(minigrad.float64)
        assert examine(exercise, crowded(namespace(cells), cells)).passed
    finally:
        minigrad.set_default_dtype(minigrad.float32)
    survivors = []
    for source, line in changed:
        space = namespace([*cells[:place], source, *cells[place + 1 :]])
        if all(examine(exercise, space, seed).passed for seed in (0, 1)):
            survivors.append(line)
    # in 14.7 the student invents wrong rules: another wrong rule is as good
    survivors = [line for line in survivors if not line.startswith("my_wrongs")]
    assert set(survivors) <= set(WITHOUT_EFFECT.get(exercise.id, ()))
