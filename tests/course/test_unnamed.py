"""Mistakes that are in no catalogue: the card names the part that is wrong, and what is seen of it."""

import contextlib
import io

import numpy as np
import pytest

from minigrad.course import lessons, notebooks
from minigrad.course.judge.shown import shown_call
from minigrad.course.judge.verdict import judge
from minigrad.course.student.student import Local
from tests.course.test_mutants import limited, namespace

LOSS = """
def cross_entropy(z, targets):
    return (np.logaddexp.reduce(z, axis=1) - z[np.arange(len(z)), targets]).mean()
"""
GRADIENT = """
def cross_entropy_grad(g, z, targets):
    p, hot = np.exp(z - np.logaddexp.reduce(z, axis=1, keepdims=True)), np.eye(z.shape[1])[targets]
    return g * (p - hot) / len(z)
"""
SPLIT = """
def split(images, labels, seed):
    order, cut = np.random.default_rng(seed).permutation(len(images)), len(images) * 4 // 5
    x, y = images[order].reshape(len(images), -1) / 16, labels[order]
    return x[:cut], y[:cut], x[cut:], y[cut:]

def accuracy(scores, labels):
    return (scores.argmax(axis=1) == labels).mean()
"""
SAID = {
    ("8.2", "def errors(pred, target):\n    return abs(pred - target[:, None])"): "You take the size of each error.",
    ("1.4", "partials = [66, 22]"): "The second number: only y moves",
    ("2.3", "by_hand = [66, 66.0]"): "66 is right for x.",  # its own words go first
    ("2.3", "by_hand = [88, 44]"): "The first number is not right; the other one is.",
    ("6.2", "bias_grad = [0.5, 1.2, 3.0]"): "This is the first row alone.",
    ("6.2", "bias_grad = [7.4, 10.2, -13.0]"): "The third number: b[2] was added to column 2",
    ("2.4", "two_paths = 13"): "13 is not far off: compute it once more, step by step. Compute the two paths one by one.",
    ("2.5", "moves = [5, 2, 2, 4, 6, 1]"): "3 is missing. 2 occurs twice.",
    ("11.2", LOSS.replace(".mean()", ".sum() / z.shape[1]") + GRADIENT.replace("p - hot", "hot - p")):
        "gradient point? The sum is divided by the number of classes.",
    ("12.3", SPLIT.replace("labels[order]", "np.random.default_rng(seed + 1).permutation(labels)")): "have different orders",
    ("4.1", "def gradient_state(t):\n    if t.grad:\n        return 'arrived'"): "ends without a return",
}
PRODUCT = """
def mul(self, other):
    out = type(self)(self.data * other.data, (self, other), "*")
    def push():
        self.grad += WRONG
        other.grad += self.data * out.grad
    out._backward = push
    return out
"""


def judged(id, code):
    exercise, space = lessons.find(id), {"np": np}
    space |= exercise.scaffold() if exercise.scaffold else {}
    exec(code, space)
    if "mul" in space:
        space["Value"].__mul__ = space["mul"]
    return judge(exercise, Local(space))


@pytest.mark.slow
@pytest.mark.parametrize(("id", "code"), list(SAID))
def test_what_is_seen_of_an_answer_is_said(id, code):
    assert SAID[id, code] in " ".join(judged(id, code).lines)


def test_a_program_names_the_part_that_is_wrong():
    found = judged("3.2", PRODUCT.replace("WRONG", "other.grad * out.grad + other.data"))
    assert found.lines == ("a.grad is not right.", "The second number is not right; the others are."), found


def test_each_function_of_an_exercise_gets_its_own_words():
    exercise = lessons.find("10.2")
    both = {"sigmoid_vjp": lambda g, s: s * (1 - s), "tanh_vjp": lambda g, t: (1 - t) * g}
    right = {"sigmoid_vjp": lambda g, s: g * s * (1 - s), "tanh_vjp": lambda g, t: g * (1 - t * t)}
    alone = [judge(exercise, Local({**right, name: both[name]})) for name in both]
    together = judge(exercise, Local(both))
    assert alone[0].mistake == together.mistake and alone[0].lines[-1] in together.lines


@pytest.mark.slow
@pytest.mark.parametrize("lesson", lessons.all_lessons(), ids=lambda each: each.slug)
def test_the_program_on_a_card_runs_in_the_notebook(lesson):
    """With the names of the notebook alone: it may fail at a blank, but it lacks nothing."""
    file = notebooks.path("exercises", lesson.slug)
    there = namespace(notebooks.code_cells(notebooks.read(file)) if file.exists() else [])
    for part in [part for exercise in lesson.exercises if exercise.points for part in exercise.one_of or (exercise,)]:
        for code in [shown_call(part, probe) for probe in part.questions(0) if probe.kind == "run"]:
            try:
                with contextlib.redirect_stdout(io.StringIO()), limited(5):
                    exec(code, dict(there))
            except NameError as error:
                pytest.fail(f"{part.id}: {error}\n{code}")
            except Exception:
                continue  # the blank itself
