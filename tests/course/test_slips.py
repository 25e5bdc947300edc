"""A slip that is in no catalogue is found by making one small change, and no change outlives the search."""

import linecache
import re
import time

import numpy as np
import pytest

import minigrad
from minigrad.course import lessons
from minigrad.course.exercise import call, function
from minigrad.course.judge.verdict import judge
from minigrad.course.student.child import can_fork, examine
from minigrad.course.student.student import Local

CENTRAL = "def central(f, x, h):\n    {}"
ADD = """
def add(self, other):
    out = Value(self.data + other.data, (self, other), "+")
    def push():
        {}
        {}
    out._backward = push
    return out
Value.__add__ = add
"""
TRAIN = """
def train(w, steps):
    for _ in range(steps):
        loss = (3 * w - 12) ** 2
        loss.backward()
        with torch.no_grad():
            {}
            w.grad = None
    return w
"""
FIT = """
def fit(x, y, lr, steps):
    w = b = 0.0
    for _ in range({2}):
        e = w * x + b - y
        w -= lr * {0}
        b -= lr * {1}
    return w, b
"""
SAID = {
    ("1.1", CENTRAL.format("return (f(x + 2 * h) - f(x - h)) / (2 * h)")): "Delete one part of",
    ("1.1", CENTRAL.format("slope = (f(x + h) - f(x - h)) / (2 * h)")): "Which statement does that?",
    ("3.1", ADD.format("self.grad -= out.grad", "other.grad -= out.grad")): "added, subtracted",
    ("3.1", ADD.format("self.grad += out.data", "other.grad += out.data")): "What belongs in the place of out.data?",
    ("4.3", TRAIN.format("w -= 0.1 * w.grad")): "What belongs in the place of 0.1 in 0.1 * w.grad?",
    ("8.3", FIT.format("2 * np.mean(e * x)", "2 * np.mean(e)", "steps + 1")): "Delete one part of `steps + 1`.",
    ("8.3", FIT.format("2 * np.mean(e)", "2 * np.mean(e * x)", "steps")): "two things have changed places.",
    ("4.1", "def gradient_state(t):\n    if t.grad is not None: return 'arrived'\n"
     "    if not t.requires_grad: return 'not a leaf'\n"
     "    return 'nothing arrived' if t.is_leaf else 'not required'"): "'not a leaf' and 'not required' have changed places.",
    ("4.1", "def gradient_state(t):\n    if t.grad is not None: return 'arrived'\n"
     "    if t.requires_grad: return 'not required'\n"
     "    return 'nothing arrived' if t.is_leaf else 'not a leaf'"): "Is t.requires_grad to be true here, or false?",
    ("5.1", "def vjp_square(v, x):\n    return np.cumsum(2 * x * v)"): "Delete one part of",
    ("5.1", "def vjp_square(v, x):\n    out = 0 * x\n    out + 2 * x * v\n    return out"): "nothing stores it",
    ("7.3", "def dX_entry(G, W, i, k):\n    return (G @ W.T)[k, i]\n\ndef dW_entry(G, X, k, j):\n    return (X.T @ G)[j, k]"):
        "In (X.T @ G)[j, k], two things have changed places.",
}  # fmt: skip


def student(id, code):
    exercise, file = lessons.find(id), f"<cell {id}>"
    space = {"np": np, "torch": minigrad, "__name__": "__main__", **(exercise.scaffold() if exercise.scaffold else {})}
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    exec(compile(code, file, "exec"), space)
    return exercise, space


RIGHT = FIT.format("2 * np.mean(e * x)", "2 * np.mean(e)", "steps")
ODD = {
    ("8.3", RIGHT.replace("w = b = 0.0", "w = b = np.random.rand()")): "np.random.rand in line 3 gives a random number.",
    ("8.3", RIGHT.replace("lr *", "0.2 *")): "Line 2 names the input lr, and the function does not use it.",
    ("8.3", RIGHT.replace("lr, steps", "steps, lr")): "The inputs come in the order (x, y, lr, steps), and fit takes them as",
    ("8.1", "def mse(p, t):\n    return np.mean((p - t) ** 2)\n\ndef mse_backward(g, t, p):\n    d = 2 * g * (p - t) / p.size\n"
            "    return d, -d"): "The inputs come in the order (g, p, t), and mse_backward takes them as (g, t, p).",
    ("8.2", "def errors(p, t):\n    for a, b in zip(p, t):\n        return np.array([a - b])"): "the loop ends in its first",
    ("8.2", "def errors(p, t):\n    t.reshape(-1, 1)\n    return (p - t) * np.eye(len(p))"): "Line 2 computes t.reshape(-1, 1)",
}  # fmt: skip


@pytest.mark.slow
def test_what_is_odd_in_the_code_is_said():
    for (id, code), words in ODD.items():
        exercise, space = student(id, code)
        found = judge(exercise, Local(space), tries=10)
        assert words in found.lines[1], found


@pytest.mark.slow
@pytest.mark.parametrize(("id", "code"), list(SAID))
def test_the_one_place_that_is_wrong_is_named(id, code):
    exercise, space = student(id, code)
    found = judge(exercise, Local(space), tries=1000)  # by number: a busy machine finds it too
    assert SAID[id, code] in found.lines[1] and len(found.lines) < 4, found
    assert judge(exercise, Local(space), tries=1000) == found  # the answer is as it was: it is judged alike


FIT = """
def fit(x, y, lr, steps):
    w, b = {}, 0.0
    {}
    for _ in range(steps):
        e = w * x + b - y
        w, b = w - lr * 2 * np.mean(e * x), b - lr * 2 * np.mean(e)
    return w, b
"""
BOTH = "def relu_vjp(g, x): return x > 0\ndef maximum_vjp(g, a, b): return a, b"
SAID_ONCE = [  # what is said, and what was said though it was so by chance, in one call, or of other code
    ("8.3", FIT.format("1.0", ""), "in the place of 1.0 in (1.0, 0.0)?", "rounded"),
    ("8.3", FIT.format("0.0", "lr = 0.01"), "Delete `lr = 0.01`", "Every number|wrong moment"),
    ("8.3", "def fit(x, y, lr, steps):\n    return 0.8", "one number; 2 values are asked for", "array"),
    ("8.4", "def average(losses):\n    t = n = 0\n    for loss in losses:\n        t += loss.item(); n += 1\n    return t // n",
     "The operator in t // n", "negative"),
    ("5.1", "def vjp_square(v, x):\n    return x * v * len(x)", "The value is not right.", "Every number"),
    ("5.1", "def vjp_square(v, x):\n    g = 0 * x\n    for i in range(len(x)):\n        g += 2 * x[i] * v[i]\n    return g",
     "g is nearly what is needed", "range"),
    ("10.1", BOTH, "makes relu_vjp right", "makes this right"),
    ("8.2", "def errors(pred, target):\n    return np.mean(pred - target[:, None])", "This is the mean error", "is right, the"),
    ("3.1", ADD.format("self.grad += out.data", "other.grad += out.data"), "The same change in lines 5 and 6", "One change"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("id", "code", "said", "chance"), SAID_ONCE)
def test_nothing_is_said_that_is_so_by_chance(id, code, said, chance):
    found = " ".join(judge((pair := student(id, code))[0], Local(pair[1]), tries=1000).lines)
    assert said in found and not re.search(chance, found), found


@pytest.mark.slow
@pytest.mark.skipif(not can_fork(), reason="no fork here")
def test_a_change_that_makes_a_loop_endless_takes_no_longer():
    exercise, space = student("1.1", CENTRAL.format("n = 9\n    while n > 3:\n        n -= 1\n    return n * (f(x) + h)"))
    begun = time.process_time()
    assert examine(exercise, space).status == "wrong"
    assert time.process_time() - begun < 3


def one_change(code, oracle, probes):
    """Whether the judge names a change of this function; `probes` makes the questions from a student's random numbers."""
    linecache.cache["<cell 99.1>"] = (len(code), None, code.splitlines(keepends=True), "<cell 99.1>")
    space = {"__name__": "__main__"}
    exec(compile(code, "<cell 99.1>", "exec"), space)
    asked = function("99.1", "double", title="double", oracle=oracle, alternatives=[oracle], probes=probes)
    return "One change" in " ".join(judge(asked, Local(space), tries=1000).lines)


def test_a_change_is_named_only_where_two_questions_confirm_it():
    def said(*numbers, drawn):
        probes = lambda rng: [call(x + drawn * rng.uniform()) for x in numbers]
        return one_change("def double(x):\n    return 3 * x", lambda x: 2 * x, probes)

    assert not said(1.5, drawn=False)  # the one question is the same for everybody
    assert said(1.5, drawn=True) and said(1.5, 2.5, drawn=False)


def test_a_change_that_fresh_questions_refuse_is_not_named():
    def said(others):
        draws = []

        def probes(rng):
            draws.append(rng.uniform())
            return [call(2.0), call(2.0 if draws[-1] == draws[0] else others)]  # another student has another second number

        return one_change("def double(x):\n    return x + 3.5", lambda x: x**5 - 28, probes)

    assert said(2.0)  # x + 2 gives 4, too, and no question of anybody tells them apart
    assert not said(3.0)
