"""Lesson 13: seven training loops, each with one fault.

The student names the faulty line by its letter and writes the loop again, cured. The right losses come from numpy loops with
gradients written by hand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad as torch  # noqa: F401 (the answers of the text use these four)
import minigrad.nn as nn  # noqa: F401
import minigrad.nn.functional as F  # noqa: F401
from minigrad.autograd import Function  # noqa: F401

from ..exercise import Probe, Probes, numbers, run
from ..lesson_text import lesson
from ..student.wire import Failure

Array = np.ndarray[Any, Any]
PRELUDE = (
    "import numpy as np\nimport minigrad as torch\nimport minigrad.nn as nn\n"
    "import minigrad.nn.functional as F\nfrom minigrad.autograd import Function"
)
FOUND = "the faulty line"  # what the check compares: an explanation may show it, and it gives no letter away


def faulty_line(letters: str, right: str) -> Callable[[Any], Any]:
    """What a name for a line comes to: `FOUND`, another letter, or the error of a name that is none."""

    def found(line: Any) -> Any:
        words = re.findall("[A-Za-z0-9]+", " ".join(line) if isinstance(line, list | tuple) else str(line))
        named = {word.lower() for word in words} - {"line", "lines", "and", "or"}
        if not named or not named <= set(letters):
            return Failure("raised", "ValueError", f"{line!r} is not one of the letters " + ", ".join(letters))
        if len(named) > 1 and not named <= set(right):
            return Failure("raised", "ValueError", f"{line!r} names several lines, and one is asked for")
        return FOUND if named <= set(right) else named.pop()

    return found


def patient(number: int, letters: str, right: str, cured: Probes) -> dict[str, Any]:
    """What Python gives for one patient: the faulty line is asked for, and then what the cure does. Where two lines have
    changed places, either of the two is `right`."""

    def probes(rng: np.random.Generator) -> Iterator[Probe]:
        named = run(f"culprit_{number}").seen_as(faulty_line(letters, right))
        yield named.on("Write the letter of one line in quotation marks.").expect(FOUND)
        yield from cured(rng)

    return {"probes": probes, "prelude": PRELUDE}


# --- 13.1 and 13.5: zero_grad is missing, step before backward ------------------------------------------

TRAIN = "w = torch.tensor(w, requires_grad=True)\n[{}(w, torch.tensor(x), torch.tensor(t), {}), w.detach()]"

NUMBERS = "\nlosses"
PLAIN = (
    "losses holds one plain number a step. A tensor keeps the graph of its round in memory. What takes the number out?"
)


def no_graphs(losses: Any) -> bool:
    """Whether no loss keeps a graph."""
    return not any(getattr(loss, "requires_grad", False) for loss in losses)


BARE = "w = torch.tensor(w, requires_grad=True)\nlosses = {}(w, torch.tensor(x), torch.tensor(t), 2)" + NUMBERS


def line_descent(w: Array, x: Array, t: Array, steps: int, rate: float = 0.1) -> list[Any]:
    """Losses and the last weights of plain descent on a mean of squares."""
    w, losses = w.copy(), []
    for _ in range(steps):
        off = x @ w - t
        losses.append(float(off @ off / len(t)))
        w -= rate * 2 / len(t) * off @ x
    return [losses, w]


ROUND = (
    "In each round the loss is the mean of (x @ w - t) ** 2, taken before the step, and w then moves by -0.1 times the "
    "gradient of this round. Which of these is another one in your code?"
)


def probes_line(cure: str) -> Callable[..., Iterator[Probe]]:
    def probes(rng: np.random.Generator) -> Iterator[Probe]:
        w, x, t = numbers(rng, 3) / 2, numbers(rng, 5, 3) / 2, numbers(rng, 5)
        for steps, rows, columns in ((6, 5, 3), (3, 4, 2), (1, 2, 1)):
            data = w[:columns], x[:rows, :columns], t[:rows]
            asked = run(TRAIN.format(cure, steps), **dict(zip("wxt", data))).on(ROUND)
            yield asked.expect(line_descent(*data, steps))
        yield run(BARE.format(cure), w=w, x=x, t=t).seen_as(no_graphs).on(PLAIN).expect(True)

    return probes


# --- 13.2 detach in the forward ------------------------------------------------------------------------

TWO_LAYERS = (
    "w1, w2 = torch.tensor(w1, requires_grad=True), torch.tensor(w2, requires_grad=True)\n"
    "[cure_2(w1, w2, torch.tensor(x), torch.tensor(t), 5), w1.detach()]"
)


def two_layer_descent(w1: Array, w2: Array, x: Array, t: Array, steps: int) -> list[Any]:
    """Losses and the last first layer, with the chain rule written out."""
    w1, w2, losses = w1.copy(), w2.copy(), []
    for _ in range(steps):
        h = np.tanh(x @ w1)
        off = h @ w2 - t
        losses.append(float(off @ off / len(t)))
        g = 2 / len(t) * off
        d_h = np.outer(g, w2) * (1 - h * h)
        w1, w2 = w1 - 0.1 * x.T @ d_h, w2 - 0.1 * h.T @ g
    return [losses, w1]


BOTH = (
    "In each round h is tanh(x @ w1), the loss is the mean of (h @ w2 - t) ** 2, taken before the step, and w1 and w2 then "
    "move by -0.1 times their gradients of this round. Which of these is another one in your code?"
)


def probes_13_2(rng: np.random.Generator) -> Iterator[Probe]:
    data = {"w1": numbers(rng, 3, 4) / 4, "w2": numbers(rng, 4) / 4, "x": numbers(rng, 5, 3) / 4, "t": numbers(rng, 5)}
    for steps in (2, 5):
        asked = run(TWO_LAYERS.replace(" 5)", f" {steps})"), **data).on(BOTH)
        yield asked.expect(two_layer_descent(**data, steps=steps))
    bare = run(TWO_LAYERS.replace("[cure", "losses, _ = [cure") + NUMBERS, **data)
    yield bare.seen_as(no_graphs).on(PLAIN).expect(True)


# --- 13.3 softmax before cross-entropy -----------------------------------------------------------------

CLASSES = "w = torch.tensor(w, requires_grad=True)\n[cure_3(w, torch.tensor(x), torch.tensor(labels), 5), w.detach()]"


CERTAIN = "w = torch.tensor(w, requires_grad=True)\ncure_3(w, torch.tensor(x), torch.tensor(labels), 1)"
LOWEST = (
    "Here the scores are as certain as can be of the right classes, so the loss should be 0. What is done to the scores, or "
    "to the loss, that keeps it from 0?"
)
MEAN = (
    "The loss is the mean, over the rows, of minus the logarithm of the probability of the label; the probabilities of a row "
    "are the softmax of its scores. The step is 0.5 times the gradient. Which of these is another one in your code?"
)


def class_descent(w: Array, x: Array, labels: Array, steps: int) -> list[Any]:
    """Losses and last weights; the gradient is softmax minus one-hot."""
    w, losses, rows = w.copy(), [], np.arange(len(labels))
    for _ in range(steps):
        z = x @ w
        logs = z - np.logaddexp.reduce(z, axis=1)[:, None]
        losses.append(float(-logs[rows, labels].mean()))
        p = np.exp(logs)
        p[rows, labels] -= 1
        w -= 0.5 * x.T @ p / len(labels)
    return [losses, w]


def probes_13_3(rng: np.random.Generator) -> Iterator[Probe]:
    w, x, labels = numbers(rng, 4, 3) / 4, numbers(rng, 5, 4) / 2, np.array([2, 0, 1, 1, 2])
    yield run(CERTAIN, w=50 * np.eye(3), x=np.eye(3), labels=np.array([0, 1, 2])).on(LOWEST).expect([0.0])
    yield run(CLASSES, w=w, x=x, labels=labels).on(MEAN).expect(class_descent(w, x, labels, 5))
    bare = run(CLASSES.replace("[cure", "losses, _ = [cure") + NUMBERS, w=w, x=x, labels=labels)
    yield bare.seen_as(no_graphs).on(PLAIN).expect(True)


# --- 13.4 parameters that are not registered ------------------------------------------------------------

SHAPES = "sorted(list(p.shape) for p in Cure4().parameters())"
MOVED = (
    "net = Cure4()\nbefore = [p.detach().clone() for p in net.parameters()]\n"
    "torch.optim.SGD(net.parameters(), lr=0.1).zero_grad()\nnet(torch.tensor(x)).sum().backward()\n"
    "torch.optim.SGD(net.parameters(), lr=0.1).step()\n"
    "[[p.detach(), old] for p, old in zip(net.parameters(), before)]"
)
FILLED = (
    "torch.manual_seed(0)\nnet = Cure4()\nwith torch.no_grad():\n    for p in net.parameters():\n        p.fill_(0.3)\n"
    "    y = net(torch.tensor(x))\ny"
)


FOUND_BY = (
    "These are the shapes of all tensors that parameters() finds: a weight (outputs, inputs) and a bias of each Linear. A "
    "module finds the Parameters and the modules that are its own attributes. What is missing, or too much?"
)
LIKE_BEFORE = (
    "Every parameter is 0.3 here. The patient computes a Linear and tanh, a Linear and tanh, and then the head. At which "
    "place does your forward do something else?"
)


def probes_13_4(rng: np.random.Generator) -> Iterator[Probe]:
    x = (numbers(rng, 6, 3) / 8).astype(np.float32)
    x[0] = -np.abs(x[0]) - 2  # tanh of something negative, in both layers
    h = np.tanh(0.3 * x.sum(1, keepdims=True) + 0.3)
    h = np.tanh(1.2 * h + 0.3)
    yield run("Cure4.__mro__[-2].__name__").on("The class is a module: class Cure4(nn.Module).").expect("Module")
    yield run(SHAPES).on(FOUND_BY).expect([[2], [2, 5], [4], [4, 3], [5], [5, 4]])
    yield run(FILLED, x=x).on(LIKE_BEFORE).expect(np.repeat(1.5 * h + 0.3, 2, axis=1))
    moved = run(MOVED, x=x).on("True stands for each parameter that one step of SGD has changed.")
    yield moved.seen_as(lambda pairs: [bool((p.array != old.array).any()) for p, old in pairs]).expect([True] * 6)
    asked = run("list(Cure4().parameters())").on("Each parameter has to require a gradient.")
    yield asked.seen_as(lambda found: all(p.requires_grad for p in found)).expect(True)


# --- 13.6 all weights zero -----------------------------------------------------------------------------

SIZES = "[list(p.shape) for p in cure_6(5, 4, 3)]"
ASKED = "list(cure_6(5, 4, 3))"
LEAVES = "parts = cure_6(5, 4, 3)\nsum((3 * p).sum() for p in parts).backward()\n[p.grad for p in parts]"
GRADIENTS = (
    "torch.manual_seed(0)\nw1, b1, w2, b2 = cure_6(5, 4, 3)\nh = torch.tanh(torch.tensor(x).to(w1.dtype) @ w1 + b1)\n"
    "F.cross_entropy(h @ w2 + b2, torch.tensor(labels)).backward()\n"
    "[(p.detach(), p.grad) for p in (w1, b1, w2, b2)]  # does each get a gradient?"
)
SPREAD = "torch.manual_seed(0)\nw1, b1, w2, b2 = cure_6(*sizes)\n[w1.detach(), w2.detach()]  # how are they spread?"


def which_learn(x: Array, labels: Array) -> Callable[[Any], list[bool]]:
    """Which of the four get a gradient; it has to be the one that follows from their numbers."""

    def view(answer: Any) -> list[bool]:
        w1, b1, w2, b2 = [p.array.astype(float) for p, _ in answer]
        h = np.tanh(x @ w1 + b1)
        scores = np.exp(h @ w2 + b2)
        d_scores = (scores / scores.sum(1, keepdims=True) - np.eye(3)[labels]) / len(labels)
        d_h = d_scores @ w2.T * (1 - h**2)
        wanted = (x.T @ d_h, d_h.sum(0), h.T @ d_scores, d_scores.sum(0))
        return [
            got is not None and bool(np.allclose(got.array, right, atol=1e-5) and np.abs(got.array).sum() > 1e-7)
            for (_, got), right in zip(answer, wanted, strict=True)
        ]

    return view


def spread(weights: Any) -> list[str]:
    """For each matrix, what is wrong with its numbers, or "fits"."""
    return [spread_of(w.array.astype(float)) for w in weights]


def spread_of(w: Array) -> str:
    size = float(np.sqrt((w**2).mean()))
    if (
        max(Counter(map(tuple, w.T.round(7))).values()) > len(w.T) / 2
    ):  # with few rows of signs, some are equal by chance
        return "all zero" if not w.any() else "equal columns"
    if abs(w.mean()) > 0.4 * size:
        return "one sign"
    fits = size * len(w) ** 0.5
    return "too small" if fits < 0.25 else "too large" if fits > 1.9 else "fits"


EACH = (
    "True stands for each of w1, b1, w2 and b2 that gets a gradient. A tensor that was computed from others is no leaf, and "
    "its gradient is not stored. When does a tensor have to require a gradient: before it is divided, or after?"
)
REQUIRED = "True stands for each of w1, b1, w2 and b2 that is a tensor and requires a gradient."
NOT_ZERO = (
    "True stands for each of w1, b1, w2 and b2 that gets a gradient that is not 0. Through which tensors does the gradient "
    "come, and is one of them 0 or so large that tanh is flat?"
)
IN_ORDER = "These are the shapes of w1, b1, w2 and b2: [inputs, hidden], [hidden], [hidden, outputs] and [outputs]."
FITTING = (
    "Each word is about one of w1 and w2. With zeros nothing goes through; columns that are equal stay equal; weights of one "
    "sign make all hidden units rise and fall together; and the size that fits is about 1 over the root of the number of rows."
)


def probes_13_6(rng: np.random.Generator) -> Iterator[Probe]:
    x = (numbers(rng, 6, 5) / 4).astype(np.float32)
    labels = np.array([0, 2, 2, 1, 0, 2])
    yield run(SIZES).on(IN_ORDER).expect([[5, 4], [4], [4, 3], [3]])
    asked = run(ASKED).on(REQUIRED)
    yield asked.seen_as(lambda parts: [getattr(p, "requires_grad", False) for p in parts]).expect([True] * 4)
    leaves = run(LEAVES).on(EACH)
    yield leaves.seen_as(lambda grads: [g is not None and bool((g.array == 3).all()) for g in grads]).expect([True] * 4)
    yield run(GRADIENTS, x=x, labels=labels).on(NOT_ZERO).seen_as(which_learn(x, labels)).expect([True] * 4)
    more = rng.integers(20, size=5).tolist()
    drawn = (400 + more[0], 60 + more[1], 8 + more[2] // 5), (4, 24 + more[3], 40 + more[4])
    for sizes in ((400, 100, 40), (4, 24, 40), *drawn):
        yield run(SPREAD, sizes=sizes).on(FITTING).seen_as(spread).expect(["fits", "fits"])


# --- 13.7 the mask -------------------------------------------------------------------------------------

GATE = "x = torch.tensor(x, requires_grad=True)\nCure7.apply(x).backward(torch.tensor(g))\nx.grad"
MATMUL_FIRST = (
    "x = torch.tensor(x, requires_grad=True)\n(Cure7.apply(x @ torch.tensor(w)) ** 2).sum().backward()\nx.grad"
)


TWO_GATES = (
    "x, z = torch.tensor(x, requires_grad=True), torch.tensor(z, requires_grad=True)\n"
    "(Cure7.apply(x) + Cure7.apply(z)).backward(torch.tensor(g))\n[x.grad, z.grad]"
)


PLACES = "Look at the places one by one: where x is positive, the upstream gradient passes unchanged; elsewhere it becomes 0."


def probes_13_7(rng: np.random.Generator) -> Iterator[Probe]:
    x, w = numbers(rng, 4, 3), numbers(rng, 3, 2)
    forward = run("Cure7.apply(torch.tensor(x))", x=x / 8).on("forward is right as it is given: relu.")
    yield forward.expect(np.maximum(x / 8, 0))
    corner = np.array([1.5, 0.0, -2.0, 0.5])
    yield run(GATE, x=corner, g=np.array([-3.0, 2.0, 5.0, 0.7])).on(PLACES).expect(np.array([-3.0, 0.0, 0.0, 0.7]))
    yield run(MATMUL_FIRST, x=x, w=w).on(PLACES).expect(2 * np.maximum(x @ w, 0) @ w.T)
    one, other, g = np.array([1.5, 0.0, -2.0, 0.5]), np.array([2.0, 1.0, 0.5, -1.0]), np.array([-3.0, 2.0, 4.0, 2.5])
    yield run(TWO_GATES, x=one, z=other, g=g).on(PLACES).expect([g * [1, 0, 0, 1], g * [1, 1, 1, 0]])
    same = GATE.replace("x.grad", "x.detach()")
    after = run(same, x=corner, g=np.array([-3.0, 2.0, 5.0, 0.7])).expect(corner)
    yield after.on("These are the numbers of x afterwards. forward and backward only read them.")
    yield run(GATE, x=np.array([1e-6, -1e-6]), g=np.array([3.0, 2.0])).on(PLACES).expect(np.array([3.0, 0.0]))
    (a, b), g = np.abs(numbers(rng, 2)), numbers(rng, 5)
    one, other = rng.permutation([a, 0.0, -b, 1e-6 * a, -1e-6 * b]), rng.permutation([a, b, 0.0, -a, 0.0])
    yield run(GATE, x=one, g=g).on(PLACES).expect(g * (one > 0))
    yield run(TWO_GATES, x=one, z=other, g=g).on(PLACES).expect([g * (one > 0), g * (other > 0)])
    yield run(same, x=one, g=g).expect(one).on("These are the numbers of x afterwards. forward and backward only read them.")


LESSON = lesson(
    __file__,
    globals(),
    {
        "13.1": patient(1, "abcd", "d", probes_line("cure_1")),
        "13.2": patient(2, "abcd", "a", probes_13_2),
        "13.3": patient(3, "abcd", "a", probes_13_3),
        "13.4": patient(4, "abcd", "b", probes_13_4),
        "13.5": patient(5, "abcde", "de", probes_line("cure_5")),
        "13.6": patient(6, "abcde", "a", probes_13_6),
        "13.7": patient(7, "abcd", "d", probes_13_7),
    },
)
