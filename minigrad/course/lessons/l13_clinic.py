"""Lesson 13: seven training loops, each with one fault.

A patient is a piece of source text. The student names the suspicious line by its letter and writes the loop again,
cured. The right losses come from numpy loops with gradients written by hand; the wrong cures are the patient's own
source with something else changed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import minigrad as torch
import minigrad.nn as nn
import minigrad.nn.functional as F
from minigrad.autograd import Function

from ..exercise import Exercise, Lesson, Probe, Wrong, numbers, prediction, program, run
from ..wire import Failure

Array = np.ndarray[Any, Any]
Treatment = tuple[str, str]  # this text, replaced by that one
PRELUDE = (
    "import numpy as np\nimport minigrad as torch\nimport minigrad.nn as nn\n"
    "import minigrad.nn.functional as F\nfrom minigrad.autograd import Function"
)
FOUND = "the faulty line"  # what the check compares: an explanation may show it, and it gives no letter away
LOWER = "You lowered the learning rate. The steps are smaller, but the fault is still there. Look at the gradients instead."
LONGER = "You train for more steps, so there are more losses than were asked for. What is wrong with a single step?"
SAME = "The losses are exactly those of the patient. "


def faulty_line(letters: Sequence[str], right: Sequence[str]) -> Callable[[Any], Any]:
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


def healed(source: str, name: str, *treatments: Treatment) -> Any:
    """The function or class that a patient's source defines, after these changes."""
    for old, new in treatments:
        if old not in source:
            raise ValueError(f"there is no {old!r} in the patient")
        source = source.replace(old, new)
    space: dict[str, Any] = {"torch": torch, "nn": nn, "F": F, "np": np, "Function": Function}
    exec(source, space)
    return space[name]


def patient(
    number: int, title: str, minutes: int, source: str, culprit: str, innocent: Mapping[str, str],
    cures: Sequence[Any], wrong: Sequence[tuple[Any, str, str, str, str]], probes: Callable[..., Iterator[Probe]],
    hints: Sequence[str], worked: str, why: str, name: str = "", rtol: float = 1e-9, partner: str = "",
    likely: Callable[[Probe], dict[str, Any]] | None = None,
) -> Exercise:  # fmt: skip
    """One patient: `innocent` are the letters that are not to blame, with what to say; each of `wrong` is (cure,
    misconception, what to say, name, a word shared with those that behave alike). Where two lines have changed places,
    either may be blamed: the other one is the culprit's `partner`."""
    letter, cure = f"culprit_{number}", name or f"cure_{number}"
    letters = sorted({*innocent, culprit, *partner})

    def asked(rng: np.random.Generator) -> Iterator[Probe]:
        named = run(letter).seen_as(faulty_line(letters, [culprit, *partner]))
        yield named.on("Write the letter of one line in quotation marks.").expect(FOUND)
        yield from probes(rng)

    return program(
        f"13.{number}", (letter, cure), title=title, minutes=minutes, probes=asked,
        prelude=PRELUDE,
        wrong=[
            *(Wrong({letter: l, cure: cures[0]}, "M54", says, name=f"blames {l}") for l, says in innocent.items()),
            *(Wrong({letter: culprit, cure: c}, id, says, name=n, alike=alike) for c, id, says, n, alike in wrong),
        ],
        alternatives=[{letter: l, cure: c} for l, c in zip([culprit.upper(), partner or culprit, *culprit * 9], cures)],
        hints=hints, worked=worked, why=why, rtol=rtol, likely=likely,
    )  # fmt: skip


# --- training runs with a slip in them -----------------------------------------------------------------

Gradients = Callable[[list[Array]], tuple[Any, list[Any]]]  # the loss at these parameters, and its gradients

HOWS: dict[str, dict[str, Any]] = {  # what may be another one in a round, by what to say about it
    "": {},
    "The losses are computed after each step; those of the patient come before it.": {"after": True},
    "The gradients of all rounds add up, because they are not cleared.": {"cleared": ()},
    "The gradients are cleared and not those of this round: each step uses the ones of the round before.": {"late": True},
    "Each step goes uphill: subtract the gradient.": {"rate": -1.0},
    "Only the sign of the gradient is used.": {"slope": np.sign},
    "The gradient is divided by its norm.": {"slope": lambda g: g / np.linalg.norm(g)},
    "The gradient is averaged to one number. Each entry moves by its own.": {"slope": np.mean},
    "The gradient is summed to one number. Each entry moves by its own.": {"slope": np.sum},
    "Only the gradient of {first} is cleared.": {"cleared": (0,)},
    "Only the gradient of {last} is cleared.": {"cleared": (-1,)},
    "Only {first} moves.": {"moved": (0,)},
    "Only {last} moves.": {"moved": (-1,)},
    "Nothing moves: the loss is the same in every round.": {"moved": ()},
    "The steps have momentum 0.9. Plain descent was not the fault.": {"momentum": 0.9},
    "Each step is divided by the number of rows once more. The mean has done that.": {"per row": True},
    **{f"Each step is {k:g} times as long as it should be. Is it the rate, or does a call run more than once?": {"rate": k}
       for k in (0.1, 0.2, 0.5, 2.0, 5.0, 10.0)},
}  # fmt: skip


def run_with(start: Sequence[Array], of: Gradients, steps: int, rate: float, rows: int, how: dict[str, Any]) -> Any:
    """The losses and the last parameters of a training run; `how` says what is another one in it."""
    theta, losses = [p.copy() for p in start], []
    every = range(len(theta))
    held, speed = [[np.zeros_like(p) for p in theta] for _ in range(2)]
    cleared, moved = ([i % len(theta) for i in how.get(name, every)] for name in ("cleared", "moved"))
    rate *= how.get("rate", 1.0) / (rows if "per row" in how else 1)
    for _ in range(steps):
        loss, gradients = of(theta)
        new = [(0.0 if i in cleared else held[i]) + gradients[i] for i in every]
        used = held if "late" in how else new
        speed = [how.get("momentum", 0.0) * speed[i] + how.get("slope", lambda g: g)(used[i]) for i in every]
        theta = [theta[i] - rate * speed[i] if i in moved else theta[i] for i in every]
        held = new
        losses.append(float(of(theta)[0] if "after" in how else loss))
    return losses, theta


def slipped(
    names: Sequence[str], start: Sequence[Array], kinds: Mapping[str, Gradients], steps: int, rate: float, rows: int,
    part: int = 0,
) -> dict[str, Any]:
    """What comes of each loss of `kinds`, and of each slip in its rounds: the losses and one of the parameters."""
    found: dict[str, Any] = {}
    with np.errstate(all="ignore"):
        for how, changes in HOWS.items():
            for what, of in kinds.items():
                losses, theta = run_with(start, of, steps, rate, rows, changes)
                words = " ".join(filter(None, [what, how])).format(first=names[0], last=names[-1])
                found.setdefault(words, [losses, theta[part]])
        losses, theta = run_with(start, next(iter(kinds.values())), steps + 1, rate, rows, {})
    found["There is one round too many."] = [losses, theta[part]]
    found["There is one loss too many: the one at the end follows no other step."] = [
        losses, run_with(start, next(iter(kinds.values())), steps, rate, rows, {})[1][part]]  # fmt: skip
    del found[""]
    return found


def keeps_graphs(probe: Probe) -> dict[str, Any]:
    """A test for losses that are tensors with a graph."""
    return {"The losses are tensors, and each of them keeps the graph of its round in memory. Append loss.item().":
            lambda got: got is False}  # fmt: skip


def squares(off: Array) -> dict[str, tuple[Any, Array]]:
    """Losses of what is off, with the gradient of each: the mean of squares first."""
    n, root = len(off), np.sqrt((off**2).mean())
    return {
        "": ((off**2).mean(), 2 / n * off),
        "The loss is a sum over the rows. Take the mean.": ((off**2).sum(), 2 * off),
        "The loss is the mean of the absolute values. Take the squares.": (np.abs(off).mean(), np.sign(off) / n),
        "The root of the loss is taken. The loss is the mean of the squares.": (root, off / n / root),
        "The loss is halved.": ((off**2).mean() / 2, off / n),
        "The loss is divided by the number of rows twice.": ((off**2).mean() / n, 2 / n / n * off),
        "The loss is the mean of the differences, without the square.": (off.mean(), np.ones(n) / n),
        "The loss is the mean of the fourth powers. Take the squares.": ((off**4).mean(), 4 / n * off**3),
    }


def likely_line(probe: Probe) -> dict[str, Any]:
    """Training runs of 13.1 and 13.5 with a slip."""
    if probe.view is not None:
        return keeps_graphs(probe)
    if "w" not in probe.data:
        return {}
    w, x, t = (np.asarray(probe.data[name]) for name in "wxt")
    steps = int(probe.code.split(", ")[-2].split(")")[0])

    def loss(words: str, sign: float) -> Gradients:
        def of(theta: list[Array]) -> tuple[Any, list[Any]]:
            value, g = squares(x @ theta[0] - sign * t)[words]
            return value, [x.T @ g]

        return of

    kinds = {words: loss(words, 1.0) for words in squares(t)}
    kinds["t is added. It has to be subtracted."] = loss("", -1.0)
    return slipped(["w"], [w], kinds, steps, 0.1, len(t))


# --- 13.1 zero_grad is missing -------------------------------------------------------------------------

PATIENT_1 = """
def patient(w, x, t, steps):
    losses = []
    for _ in range(steps):
        loss = ((x @ w - t) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            w -= 0.1 * w.grad
        # d
        losses.append(loss.item())
    return losses
"""
TRAIN = "w = torch.tensor(w, requires_grad=True)\n[{}(w, torch.tensor(x), torch.tensor(t), {}), w.detach()]"

NUMBERS = "\nlosses"
PLAIN = "losses holds one plain number a step. A tensor keeps the graph of its round in memory. What takes the number out?"


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


def heal_1(*treatments: Treatment) -> Any:
    return healed(PATIENT_1, "patient", *treatments)


UPDATE, LATER = "            w -= 0.1 * w.grad\n", "            w -= 0.1 * w.grad\n            w.grad.zero_()\n"

EXERCISE_13_1 = patient(
    1, "patient 1", 6, PATIENT_1, "d",
    {"a": "Line a is right: it builds a new graph in every round. Which tensor is the same in every round?",
     "b": "backward always *adds* to w.grad. Which line should have cleared w.grad before that?",
     "c": "The update uses w.grad correctly. But does w.grad hold only the gradient of this round?"},
    cures=[
        heal_1((UPDATE, LATER)),
        heal_1(("        loss.backward()\n", "        w.grad = None\n        loss.backward()\n")),
        heal_1(("        # d\n", "        w.grad = None\n")),
        heal_1(("        loss.backward()\n", "        (g,) = torch.autograd.grad(loss, w)\n"),
               ("w -= 0.1 * w.grad", "w.sub_(0.1 * g)")),
    ],
    wrong=[
        (heal_1(), "M01", SAME + "What is in w.grad when the second round begins?", "the patient", "same"),
        (heal_1(("backward()", "backward(retain_graph=True)")), "M11", SAME + "What is in w.grad when the second "
         "round begins?", "retain_graph", "same"),
        (heal_1(("    losses = []\n", "    losses = []\n    w.grad = None\n")), "M01", SAME + "What is in w.grad when "
         "the second round begins?", "cleared once", "same"),
        (heal_1(("0.1", "0.01")), "M54", LOWER, "lower rate", ""),
        (heal_1(("range(steps)", "range(5 * steps)")), "M54", LONGER, "more steps", ""),
        (heal_1(("        with", "        w.grad.zero_()\n        with")), "M40", "w does not change any more. Is "
         "there an update, and is the gradient still there when it runs?", "cleared too early", ""),
        (heal_1(("        # d\n", "        w.grad = None\n"), (".mean()", ".sum()")), "M30", "The gradient is cleared, but "
         "the loss is now a sum, so each step is too long by a factor: the number of rows.", "sum", ""),
        (heal_1(("        # d\n", "        w.grad = None\n        loss = ((x @ w - t) ** 2).mean()\n")), "", "The steps are "
         "right. But your losses were computed *after* each step, and those of the patient before it.", "after the step", ""),
        (heal_1((UPDATE, UPDATE.replace("w.grad\n", "w.grad / w.grad.norm()\n"))), "M54", "Now every step has the same "
         "length, whatever the gradient is. That hides the fault, and it is another method. What is in w.grad?",
         "normalised", ""),
        (heal_1(("        # d\n", "        w.grad = None\n"), ("loss.item()", "loss")), "M18", "The fault is cured, but the "
         "list holds tensors now, and each of them keeps the graph of its round in memory. Append loss.item().",
         "keeps tensors", ""),
        (heal_1((UPDATE, UPDATE + "        w = w.detach().clone().requires_grad_()\n")), "M17", "The losses are right, but "
         "the w that was passed in has moved only once, because later steps changed copies of it.", "trains a copy", ""),
        (heal_1((UPDATE, "            w = (w - 0.1 * w.grad).requires_grad_()\n")), "M17", "The losses are right, but the w "
         "that was passed in has not moved, because your steps changed new tensors. Change w in place.", "trains new ones", ""),
        (heal_1(("with torch.no_grad():\n            w -= 0.1 * w.grad", "w = w - 0.1 * w.grad")), "M17", "w = w - ... makes a "
         "new tensor, which is no leaf and has no gradient in the next round. Change w in place, under no_grad.",
         "rebinds and records", ""),
        (heal_1(("w -= 0.1 * w.grad", "w = w - 0.1 * w.grad")), "M17", "After the first round, w is a new tensor without a "
         "history. Change the tensor in place instead of making a new one.",
         "rebinds", ""),
    ],
    probes=probes_line("cure_1"), likely=likely_line,
    why="Without clearing, each step would use the sum of all earlier gradients.",
    hints=["Write down w.grad after each of the first two rounds, next to the correct gradient of that round.",
           "A step counter that is never set to 0 shows the sum of all days.",
           "At line d nothing is done. It is the last place before the next backward."],
    worked="After the update: w.grad = None (or w.grad.zero_()).",
)  # fmt: skip

# --- 13.2 detach in the forward ------------------------------------------------------------------------

PATIENT_2 = """
def patient(w1, w2, x, t, steps):
    losses = []
    for _ in range(steps):
        h = torch.tanh(x @ w1).detach()
        loss = ((h @ w2 - t) ** 2).mean()
        loss.backward()
        for w in (w1, w2):
            if w.grad is not None:
                w.data -= 0.1 * w.grad
                w.grad = None
        losses.append(loss.item())
    return losses
"""
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
    yield run(TWO_LAYERS.replace("[cure", "losses, _ = [cure") + NUMBERS, **data).seen_as(no_graphs).on(PLAIN).expect(True)


BENDS: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {  # of a hidden layer, and derivatives
    "": (np.tanh, lambda a: 1 - np.tanh(a) ** 2),
    "tanh is missing.": (lambda a: a, np.ones_like),
    "h is relu of x @ w1, and not tanh.": (lambda a: np.maximum(a, 0), lambda a: 1.0 * (a > 0)),
    "h is the sigmoid of x @ w1, and not tanh.": (lambda a: 1 / (1 + np.exp(-a)), lambda a: np.exp(-a) / (1 + np.exp(-a)) ** 2),
    "tanh is applied twice.": (
        lambda a: np.tanh(np.tanh(a)), lambda a: (1 - np.tanh(np.tanh(a)) ** 2) * (1 - np.tanh(a) ** 2)),
}  # fmt: skip


def likely_13_2(probe: Probe) -> dict[str, Any]:
    """Training runs of two layers with a slip."""
    if probe.view is not None:
        return keeps_graphs(probe)
    if "w1" not in probe.data:
        return {}
    w1, w2, x, t = (np.asarray(probe.data[name]) for name in ("w1", "w2", "x", "t"))
    steps = int(probe.code.split(", ")[-2].split(")")[0])

    def loss(bend: str, words: str, end: bool = False) -> Gradients:
        do, slope = BENDS[bend]

        def of(theta: list[Array]) -> tuple[Any, list[Any]]:
            a = x @ theta[0]
            h = do(a)
            out = h @ theta[1]
            value, g = squares((np.tanh(out) if end else out) - t)[words]
            g = g * (1 - np.tanh(out) ** 2) if end else g
            return value, [x.T @ (np.outer(g, theta[1]) * slope(a)), h.T @ g]

        return of

    kinds = {" ".join(filter(None, [bend, words])): loss(bend, words) for bend in BENDS for words in squares(t)
             if not (bend and words)}  # fmt: skip
    kinds["The result of the second layer goes through tanh, too."] = loss("", "", end=True)
    return slipped(["w1", "w2"], [w1, w2], kinds, steps, 0.1, len(t))


def heal_2(*treatments: Treatment) -> Any:
    return healed(PATIENT_2, "patient", *treatments)


CUT = "torch.tanh(x @ w1).detach()"
STILL_CUT = SAME + "w1 has not changed. Does a path lead from the loss to w1, and does the loop update w1?"

EXERCISE_13_2 = patient(
    2, "patient 2", 6, PATIENT_2, "a",
    {"b": "Line b connects h, w2 and the loss correctly. Does h have a history?",
     "c": "backward follows every path that exists. Which line cuts the path to w1?",
     "d": "Line d hides the fault but does not cause it: without line d you would see an error. Why is a gradient None?"},
    cures=[heal_2((CUT, "torch.tanh(x @ w1)")), heal_2((CUT, "(x @ w1).tanh()"), ("is not None", "is None or True"))],
    wrong=[
        (heal_2(), "M12", STILL_CUT, "the patient", "cut"),
        (heal_2((CUT, CUT + ".requires_grad_()")), "M12", STILL_CUT, "requires_grad on h", "cut"),
        (heal_2(("backward()", "backward(retain_graph=True)")), "M11", STILL_CUT, "retain_graph", "cut"),
        (heal_2((CUT, "torch.tensor(torch.tanh(x @ w1).tolist(), dtype=x.dtype)")), "M13", STILL_CUT, "rewrapped", "cut"),
        (heal_2((CUT, "torch.tanh(x @ w1.detach())")), "M12", STILL_CUT, "cut earlier", "cut"),
        (heal_2(("0.1", "0.01")), "M54", LOWER, "lower rate", ""),
        (heal_2(("range(steps)", "range(5 * steps)")), "M54", LONGER, "more steps", ""),
        (heal_2(("            if w.grad is not None:\n", "            if True:\n")), "M54", "Without the `if`, an error "
         "shows what it was hiding: w1 has no gradient. Why not?", "no guard", ""),
        (heal_2((CUT, "torch.tanh(x @ w1)"), ("h @ w2", "h @ w2.detach()")), "M12", "Now the first layer learns, but the "
         "second does not. w2 needs a path from the loss as well, and an update.", "cut elsewhere", ""),
        (heal_2((CUT, "torch.tanh(x @ w1)"), ("w.data -= 0.1 * w.grad", "w = w - 0.1 * w.grad")), "M17", "Neither w1 nor w2 "
         "changes. Is there an update, and does it change the tensor itself? w = w - ... gives the name w to a new one.",
         "no update", ""),
        (heal_2((CUT, "torch.tanh(x @ w1)"), ("                w.grad = None\n", "")), "M01", "The path is complete again, "
         "but the gradients are not cleared any more, so those of all rounds add up.", "never cleared", ""),
        (heal_2((CUT, "x @ w1")), "", "The path is complete again, but tanh is missing. Without it, the two layers are a "
         "single linear layer.", "no tanh", ""),
    ],
    probes=probes_13_2, likely=likely_13_2,
    why="detach had cut the path to w1. Without it, the gradient reaches w1.",
    hints=["Print w1.grad after the first backward.",
           "A backward pass from y = f(x).detach() * 3 never reaches x.",
           "One call in line a removes the history of its result."],
    worked="In line a, remove detach: h = torch.tanh(x @ w1).",
)  # fmt: skip

# --- 13.3 softmax before cross-entropy -----------------------------------------------------------------

PATIENT_3 = """
def patient(w, x, labels, steps):
    losses = []
    for _ in range(steps):
        p = torch.softmax(x @ w, dim=1)
        loss = F.cross_entropy(p, labels)
        loss.backward()
        w.data -= 0.5 * w.grad
        w.grad = None
        losses.append(loss.item())
    return losses
"""
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


def likely_13_3(probe: Probe) -> dict[str, Any]:
    """Training runs of a classifier with a slip."""
    if probe.view is not None:
        return keeps_graphs(probe)
    if "labels" not in probe.data or " 1)" in probe.code:
        return {}
    w, x, labels = (np.asarray(probe.data[name]) for name in ("w", "x", "labels"))
    n, hot = len(x), np.eye(w.shape[1])[labels]

    def softmax(z: Array, axis: int = 1) -> Array:
        e = np.exp(z - z.max(axis=axis, keepdims=True))
        p: Array = e / e.sum(axis=axis, keepdims=True)
        return p

    def back(p: Array, d_p: Array, axis: int = 1) -> Array:
        """From the probabilities to the scores."""
        d: Array = p * (d_p - (p * d_p).sum(axis=axis, keepdims=True))
        return d

    def crossed(z: Array) -> tuple[Any, Array]:
        p = softmax(z)
        return -np.log((p * hot).sum(axis=1)).mean(), (p - hot) / n

    def summed(z: Array) -> tuple[Any, Array]:
        return n * crossed(z)[0], n * crossed(z)[1]

    def divided(z: Array) -> tuple[Any, Array]:
        return crossed(z)[0] / n, crossed(z)[1] / n

    def entries(z: Array) -> tuple[Any, Array]:
        return crossed(z)[0] / z.shape[1], crossed(z)[1] / z.shape[1]

    def negative(z: Array) -> tuple[Any, Array]:
        return -crossed(z)[0], -crossed(z)[1]

    def twice(z: Array) -> tuple[Any, Array]:
        p = softmax(z)
        loss, g = crossed(p)
        return loss, back(p, g)

    def of_mean(z: Array) -> tuple[Any, Array]:
        p = softmax(z)
        mean = (p * hot).sum() / n
        return -np.log(mean), back(p, -hot / n / mean)

    def plain_p(z: Array) -> tuple[Any, Array]:
        p = softmax(z)
        return -(p * hot).sum() / n, back(p, -hot / n)

    def one_minus(z: Array) -> tuple[Any, Array]:
        return 1 + plain_p(z)[0], plain_p(z)[1]

    def off_squared(z: Array) -> tuple[Any, Array]:
        p = softmax(z)
        return ((p - hot) ** 2).mean(), back(p, 2 * (p - hot) / p.size)

    def off_rows(z: Array) -> tuple[Any, Array]:
        return off_squared(z)[0] * z.shape[1], off_squared(z)[1] * z.shape[1]

    def downward(z: Array) -> tuple[Any, Array]:
        p = softmax(z, axis=0)
        own = (p * hot).sum(axis=1, keepdims=True)
        return -np.log(own).mean(), back(p, -hot / n / own, axis=0)

    def bare(z: Array) -> tuple[Any, Array]:
        return -(z * hot).sum() / n, -hot / n

    def everything(z: Array) -> tuple[Any, Array]:
        p = softmax(z)
        return -np.log(p).mean(), (p * z.shape[1] - 1) / p.size

    def in_base(z: Array, base: float) -> tuple[Any, Array]:
        return crossed(z)[0] / np.log(base), crossed(z)[1] / np.log(base)

    words: dict[str, Callable[[Array], tuple[Any, Array]]] = {
        "": crossed,
        "The loss is a sum over the rows. Take the mean.": summed,
        "The loss is divided by the number of rows twice.": divided,
        "The loss is divided by the number of classes as well.": entries,
        "The sign of the loss is wrong, so each step makes the label less likely.": negative,
        "The scores go through softmax twice.": twice,
        "This is the logarithm of the mean probability. The loss is the mean of the logarithms.": of_mean,
        "There is no logarithm: the loss is minus a probability.": plain_p,
        "There is no logarithm: the loss is one minus a probability.": one_minus,
        "The loss is a squared error of the probabilities, and not a cross-entropy.": off_squared,
        "The loss is a squared error of the probabilities, added up in each row, and not a cross-entropy.": off_rows,
        "The softmax runs down the columns. Each row is one example: dim=1.": downward,
        "The loss is minus the score of the label, without any softmax.": bare,
        "The logarithms of all classes are averaged. Only the one of the label counts.": everything,
        "The logarithm has the base 2. The natural one is needed, torch.log.": lambda z: in_base(z, 2),
        "The logarithm has the base 10. The natural one is needed, torch.log.": lambda z: in_base(z, 10),
    }

    def loss(of: Callable[[Array], tuple[Any, Array]]) -> Gradients:
        return lambda theta: (of(x @ theta[0])[0], [x.T @ of(x @ theta[0])[1]])

    return slipped(["w"], [w], {what: loss(of) for what, of in words.items()}, 5, 0.5, n)


def heal_3(*treatments: Treatment) -> Any:
    return healed(PATIENT_3, "patient", *treatments)


SOFT, ENTROPY = "torch.softmax(x @ w, dim=1)", "F.cross_entropy(p, labels)"
TWICE = SAME + "The scores still go through softmax twice."

EXERCISE_13_3 = patient(
    3, "patient 3", 6, PATIENT_3, "a",
    {"b": "Line b takes scores and applies softmax itself. What does it get instead of scores?",
     "c": "backward computes the right gradient of the loss that it is given. How small can this loss become?",
     "d": "The update is right. With three classes this loss cannot fall below 0.5514 at any learning rate. Why not?"},
    cures=[
        heal_3((SOFT, "x @ w")),
        heal_3((SOFT, "torch.log_softmax(x @ w, dim=1)"), ("F.cross_entropy", "F.nll_loss")),
        heal_3((ENTROPY, "F.nll_loss(torch.log(p), labels)")),
    ],
    wrong=[
        (heal_3(), "M39", TWICE, "the patient", "twice"),
        (heal_3(("backward()", "backward(retain_graph=True)")), "M11", TWICE, "retain_graph", "twice"),
        (heal_3(("dim=1", "dim=0")), "M52", "Softmax now runs along the other axis, so the examples compete with each other. "
         "And softmax is still applied twice.", "other axis", ""),
        (heal_3(("0.5", "0.05")), "M54", LOWER, "lower rate", ""),
        (heal_3(("range(steps)", "range(5 * steps)")), "M54", LONGER, "more steps", ""),
        (heal_3(("F.cross_entropy", "F.nll_loss")), "M39", "There is only one softmax now, but no logarithm: the loss is "
         "minus a probability.", "no logarithm", ""),
        (heal_3((SOFT, "torch.sigmoid(x @ w)")), "M39", "A sigmoid limits the scores, too. The loss takes scores of any size.",
         "sigmoid", ""),
        (heal_3((SOFT, "x @ w"), (ENTROPY, ENTROPY[:-1] + ', reduction="sum")')), "M30", "There is only one softmax now, but "
         "the loss is a sum over the rows and not their mean.", "sum", ""),
        (heal_3((SOFT, "10 * " + SOFT)), "M39", "The factor changes the limit, but the loss still applies a second softmax. "
         "Which numbers should the loss get?", "stretched", ""),
        (heal_3((ENTROPY, "F.nll_loss(torch.log(p + 1e-7), labels)")), "M51", "There is only one softmax now, but the small "
         "number inside the logarithm makes every loss slightly wrong. Which form does not need it?", "epsilon", ""),
        (heal_3((SOFT, "(x @ w).detach()"), ("loss.backward()", "loss.requires_grad_().backward()")), "M54", "No backward "
         "pass has given this w a gradient before its update. Does a path lead from the loss to it, does backward come first, "
         "and is w the same tensor in every round?", "requires_grad on the loss", ""),
    ],
    probes=probes_13_3, likely=likely_13_3,
    why="cross_entropy already contains the softmax, so it takes scores. A second softmax keeps the loss above 0.55.",
    hints=["How small can the loss become if p is perfect, [1, 0, 0]?",
           "cross_entropy(z) is minus the logarithm of softmax(z). For [50, 0, 0] and class 0 it is 0.",
           "Lines a and b both apply a softmax. Line b is the one that does it safely."],
    worked="In line a, write p = x @ w, because the loss takes scores.",
)  # fmt: skip

# --- 13.4 parameters that are not registered -----------------------------------------------------------------

PATIENT_4 = """
class Patient(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(3, 4), nn.Linear(4, 5)]
        self.head = nn.Linear(5, 2)

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.head(x)
"""
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


def likely_13_4(probe: Probe) -> dict[str, Any]:
    """Results of nets with another layer, and a test of what moves."""
    if probe.code == MOVED:
        return {
            "Some of the layers that parameters() finds do not move, because forward does not use them. Does it leave one out, "
            "make new layers of its own, or use one of them twice?": lambda got: any(got) and not all(got),
            "Nothing moves: no path leads from the result to the parameters, or they do not require a gradient.":
                lambda got: len(got) > 0 and not any(got),
        }  # fmt: skip
    if probe.code != FILLED:
        return {}
    x = np.asarray(probe.data["x"], dtype=float)
    first, bend = x.sum(axis=1, keepdims=True), np.tanh

    def net(one: Any, two: Any, three: Any = lambda a: a) -> Array:
        y = three(1.5 * two(1.2 * one(0.3 * first + 0.3) + 0.3) + 0.3)
        return np.repeat(y, 2, axis=1)

    def same(a: Array) -> Array:
        return a

    def relu(a: Array) -> Array:
        return np.maximum(a, 0)

    def sigmoid(a: Array) -> Array:
        return np.asarray(1 / (1 + np.exp(-a)))

    hidden = bend(1.2 * bend(0.3 * first + 0.3) + 0.3)
    return {
        "The tanh after the second layer is missing.": net(bend, same),
        "The tanh after the first layer is missing.": net(same, bend),
        "Both tanh are missing.": net(same, same),
        "The head has a tanh that it did not have before.": net(bend, bend, bend),
        "The head has a tanh that it did not have before, and the one before it is missing.": net(bend, same, bend),
        "There is relu in the place of tanh.": net(relu, relu),
        "There is a sigmoid in the place of tanh.": net(sigmoid, sigmoid),
        "The head has a relu that it did not have before.": net(bend, bend, relu),
        "The head has a softmax that it did not have before.": np.full((len(x), 2), 0.5),
        "tanh is applied to x before the first layer.": np.repeat(1.5 * bend(1.2 * bend(
            0.3 * bend(x).sum(axis=1, keepdims=True) + 0.3) + 0.3) + 0.3, 2, axis=1),
        "tanh is applied twice after a layer.": net(lambda a: bend(bend(a)), lambda a: bend(bend(a))),
        "The head is not applied: these are the hidden numbers.": np.repeat(hidden, 5, axis=1),
    }  # fmt: skip


LIST, TWO_LINEARS = "[nn.Linear(3, 4), nn.Linear(4, 5)]", "nn.Linear(3, 4), nn.Linear(4, 5)"
LOOP = "        for layer in self.layers:\n            x = torch.tanh(layer(x))\n"


def heal_4(*treatments: Treatment) -> Any:
    return healed(PATIENT_4.replace("Patient", "Cure4"), "Cure4", *treatments)


UNSEEN = (
    "parameters() finds only two tensors, those of the head, because a module does not search plain Python containers. "
)

EXERCISE_13_4 = patient(
    4, "patient 4", 6, PATIENT_4, "b",
    {"a": "Line a prepares the module for registering parameters. Without it, line b raises an error.",
     "c": "The head learns. How is it stored, compared with the other layers?",
     "d": "Line d uses the layers correctly. But are they registered as parameters of the module?"},
    cures=[
        heal_4((LIST, f"nn.ModuleList({LIST})")),
        heal_4((LIST, f"nn.Sequential({TWO_LINEARS})")),
        heal_4((f"self.layers = {LIST}\n        self.head = nn.Linear(5, 2)", "self.net = nn.Sequential(nn.Linear(3, 4), "
                "nn.Tanh(), nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))"), (LOOP, ""), ("self.head", "self.net")),
        heal_4(("self.layers = " + LIST, "self.one = nn.Linear(3, 4)\n        self.two = nn.Linear(4, 5)"),
               ("self.layers", "(self.one, self.two)")),
    ],
    wrong=[
        (heal_4(), "M54", UNSEEN + "Which container does a module search?", "the patient", "unseen"),
        (heal_4((LIST, f"({TWO_LINEARS})")), "M54", UNSEEN + "Which container does a module search?", "tuple", "unseen"),
        (heal_4((LIST, f"dict(enumerate({LIST}))"), ("self.layers:", "self.layers.values():")), "M54", UNSEEN +
         "Which container does a module search?", "dict", "unseen"),
        (heal_4((LIST, f"nn.ModuleList({LIST})"), (LOOP, "")), "", "All layers are registered, but forward applies "
         "the head before them, or without them.",
         "not used", ""),
        (heal_4((LIST, f"nn.ModuleList({LIST})"), ("layer(x))", "layer(x)).detach()")), "M12", "All layers are registered, "
         "but the path to them is cut.", "cut", ""),
        (heal_4((LIST, f"nn.ModuleList({LIST})"), ("torch.tanh(layer(x))", "layer(x)")), "", "All layers are registered, but "
         "tanh is missing.", "no tanh", ""),
        (heal_4((LIST, f"nn.ModuleList({LIST})"), ("return self.head(x)", "return torch.tanh(self.head(x))")), "", "All "
         "layers are registered, but the head has a tanh that it did not have before.", "tanh at the head", ""),
        (heal_4((f"self.layers = {LIST}", f"self.layers = {LIST}\n        self.more = nn.ModuleList({LIST})")), "M54", "Six "
         "tensors are registered, but four of them belong to layers that forward never uses. The layers it uses are not "
         "registered.",
         "spares", ""),
        (heal_4((LIST, f"nn.ModuleList({LIST}).requires_grad_(False)")), "M54", "All layers are registered, but they do not "
         "require a gradient.", "frozen", ""),
        (heal_4((LIST, "nn.ModuleList([nn.Linear(3, 4)])"), ("(5, 2)", "(4, 2)")), "", "The second layer is missing, so this "
         "is another net.", "one layer", ""),
    ],
    probes=probes_13_4, name="Cure4", rtol=1e-4, likely=likely_13_4,
    why="A module finds the parameters in a ModuleList but not in a plain list, and an optimiser trains only what it is given.",
    hints=["Count the tensors that parameters() returns, and the tensors that the net uses.",
           "A module registers layers and parameters that are its own attributes. A plain list is neither.",
           "One class of nn is a list and a module at the same time."],
    worked="self.layers = nn.ModuleList([...]), with the same two layers inside.",
)  # fmt: skip

# --- 13.5 step before backward -------------------------------------------------------------------------

PATIENT_5 = """
def patient(w, x, t, steps):
    optimizer = torch.optim.SGD([w], lr=0.1)
    losses = []
    for _ in range(steps):
        loss = ((x @ w - t) ** 2).mean()
        optimizer.zero_grad()
        optimizer.step()
        loss.backward()
        losses.append(loss.item())
    return losses
"""
THREE = "        optimizer.zero_grad()\n        optimizer.step()\n        loss.backward()\n"


def in_order(*calls: str) -> Treatment:
    return THREE, "".join(f"        {call}()\n" for call in calls)


def heal_5(*treatments: Treatment) -> Any:
    return healed(PATIENT_5, "patient", *treatments)


LOSS = "        loss = ((x @ w - t) ** 2).mean()\n"
ORDERED = in_order("optimizer.zero_grad", "loss.backward", "optimizer.step")
FLAT = SAME + "w does not change. Does step() run, for this very w, and what is in w.grad at that moment?"

EXERCISE_13_5 = patient(
    5, "patient 5", 5, PATIENT_5, "d",
    {"a": "The optimiser has w and a sensible learning rate.", "b": "The loss is right.",
     "c": "Clearing at this place is right. Which call should come next, and what does it need?"},
    cures=[
        heal_5(ORDERED),
        heal_5(in_order("loss.backward", "optimizer.step", "optimizer.zero_grad")),
    ],
    wrong=[
        (heal_5(), "M40", FLAT, "the patient", "flat"),
        (heal_5(in_order("loss.backward", "optimizer.zero_grad", "optimizer.step")), "M40", FLAT, "cleared between",
         "flat"),
        (heal_5(("lr=0.1", "lr=10.0")), "M54", FLAT, "higher rate", "flat"),
        (heal_5(("backward()", "backward(retain_graph=True)")), "M11", FLAT, "retain_graph", "flat"),
        (heal_5(in_order("optimizer.step", "optimizer.zero_grad", "loss.backward")), "M40", "w changes, but one round too "
         "late: each step uses the gradient of the round before.", "late", ""),
        (heal_5(in_order("loss.backward", "optimizer.step")), "M01", "The order is right, but the gradients are not cleared, "
         "so those of all rounds add up.", "never cleared", ""),
        (heal_5(in_order("optimizer.zero_grad", "loss.backward", "optimizer.step", "optimizer.step")), "", "Every step is "
         "twice as long as it should be. Does w move twice in a round, or does backward() run twice?", "two steps", ""),
        (heal_5((THREE, "        loss.backward()\n"),
                (LOSS, "        optimizer.step()\n        optimizer.zero_grad()\n" + LOSS)),
         "M40", "The losses are right, but w is one step behind: the first step() has no gradient yet, and the last gradient "
         "is never used.", "one step behind", ""),
        (heal_5(ORDERED, ("lr=0.1", "lr=0.1, momentum=0.9")), "M54", "The order is right. But you added momentum, and plain "
         "descent was not the fault.", "momentum", ""),
        (heal_5(ORDERED, ("SGD", "Adam")), "M54", "The order is right. But you replaced the optimiser, and SGD was not the "
         "fault.", "Adam", ""),
        (heal_5(ORDERED, ("range(steps)", "range(5 * steps)")),
         "M54", LONGER, "more steps", ""),
        (heal_5(ORDERED, ("lr=0.1", "lr=0.01")), "M54",
         "The order is right. But you changed the learning rate, which was not the fault.", "lower rate", ""),
    ],
    probes=probes_line("cure_5"), partner="e", likely=likely_line,
    why="step uses the gradients that backward has just computed, so it comes after backward.",
    hints=["There are three calls. step() needs what backward() computes, and zero_grad() deletes it.",
           "It is like shopping: empty the basket, fill the basket, and then cook what is in it.",
           "step() uses w.grad. Which line computes w.grad?"],
    worked="First optimizer.zero_grad(), then loss.backward(), then optimizer.step().",
)  # fmt: skip

# --- 13.6 all weights zero -----------------------------------------------------------------------------

PATIENT_6 = """
def patient(n_in, n_hidden, n_out):
    w1 = torch.zeros(n_in, n_hidden, requires_grad=True)
    b1 = torch.zeros(n_hidden, requires_grad=True)
    w2 = torch.zeros(n_hidden, n_out, requires_grad=True)
    b2 = torch.zeros(n_out, requires_grad=True)
    return w1, b1, w2, b2
"""
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
    if max(Counter(map(tuple, w.T.round(7))).values()) > len(w.T) / 2:  # with few rows of signs, some are equal by chance
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
    for sizes in ((400, 100, 40), (4, 24, 40)):
        yield run(SPREAD, sizes=sizes).on(FITTING).seen_as(spread).expect(["fits", "fits"])


NOT_FITTING = {  # by the word that `spread_of` has for it
    "all zero": "{} is zero, so nothing goes through it, forward or back. Draw random numbers.",
    "equal columns": "{} has equal columns, so its units compute and learn the same. Draw random numbers.",
    "one sign": "The numbers of {} have nearly all the same sign. Draw numbers of both signs.",
    "too small": "The numbers of {} are too small for its number of rows. A sum of n random numbers grows like the root of n.",
    "too large": "The numbers of {} are too large for its number of rows. A sum of n random numbers grows like the root of n.",
}


def likely_13_6(probe: Probe) -> dict[str, Any]:
    """Tests of how the numbers of one of the two weights are spread."""
    if probe.code != SPREAD:
        return {}

    def test(word: str, other: str, place: int) -> Callable[[Any], bool]:
        return lambda got: got[place] == word and got[1 - place] == other

    found: dict[str, Any] = {}
    for word, says in NOT_FITTING.items():
        found |= {says.format(name): test(word, "fits", place) for place, name in enumerate(("w1", "w2"))}
        for other, more in NOT_FITTING.items():
            found[" ".join(dict.fromkeys([says.format("w1"), more.format("w2")]))] = test(word, other, 0)
    return found


def heal_6(first: str, second: str = "", last: str = "") -> Any:
    return healed(
        PATIENT_6, "patient",
        ("torch.zeros(n_in, n_hidden, requires_grad=True)", first),
        ("torch.zeros(n_hidden, n_out, requires_grad=True)",
         second or first.replace("n_hidden", "n_out").replace("n_in", "n_hidden")),
        ("return", last + "return"),
    )  # fmt: skip


LARGE = (
    "The weights are random but too large: with many inputs, tanh is saturated. How should the size of the weights "
    "depend on the number of inputs?"
)

NEXT = "The size of {} fits its rows, and that of {} does not. The root is that of the number of rows of the weight itself: {}."
BY_IN = "(torch.randn({}, {}) / n_in**0.5).requires_grad_()"
BY_HIDDEN = BY_IN.replace("n_in", "n_hidden")

EXERCISE_13_6 = patient(
    6, "patient 6", 6, PATIENT_6, "a",
    {"b": "A bias may start at 0. It gets its own gradient as soon as the weights differ.",
     "c": "Line c has the fault, too. But the first of the two lines is asked for.",
     "d": "The last bias is the only tensor that learns. It is not the fault.",
     "e": "Line e returns the four tensors in the right order."},
    cures=[
        heal_6("(torch.randn(n_in, n_hidden) / n_in**0.5).requires_grad_()"),
        heal_6("torch.tensor(np.random.default_rng(0).uniform(-1, 1, (n_in, n_hidden)).astype('float32') / n_in**0.5, "
               "requires_grad=True)"),
        heal_6("nn.Linear(n_in, n_hidden).weight.detach().T.clone().requires_grad_()"),
    ],
    wrong=[
        (healed(PATIENT_6, "patient"), "M40", "All weights are still 0, so h is 0, and the gradient for the first layer is "
         "multiplied by w2, which is 0. Only the last bias gets a gradient.", "the patient", ""),
        (heal_6("torch.ones(n_in, n_hidden, requires_grad=True)"), "M40", "The weights are not 0 any more, but they are all "
         "equal, so all hidden units compute and learn the same. How can you make them different?", "all alike", ""),
        (heal_6("(torch.randn(n_in, n_hidden) / n_in**0.5).requires_grad_()",
                "torch.zeros(n_hidden, n_out, requires_grad=True)"), "M40", "w2 is still 0, and the gradient for the first "
                "layer is multiplied by w2.", "second still zero", ""),
        (heal_6("torch.randn(n_in, n_hidden) / n_in**0.5"), "M54", "The weights are random, but they do not require a "
         "gradient, so nothing is recorded for them.", "no requires_grad", ""),
        (heal_6("torch.randn(n_in, n_hidden, requires_grad=True) / n_in**0.5"), "M17", "The result of a division is not a "
         "leaf, so its grad stays None. First scale the numbers, then ask for gradients.", "no leaf", ""),
        (heal_6("torch.randn(n_in, n_hidden, requires_grad=True)"), "M40", LARGE, "large", ""),
        (heal_6(BY_IN.format("n_in", "n_hidden"), BY_IN.format("n_hidden", "n_out")), "M40",
         NEXT.format("w1", "w2", "n_hidden for w2"), "second by the first's rows", ""),
        (heal_6(BY_HIDDEN.format("n_in", "n_hidden"), BY_HIDDEN.format("n_hidden", "n_out")), "M40",
         NEXT.format("w2", "w1", "n_in for w1"), "first by the second's rows", ""),
        (heal_6(BY_IN.format("n_in", "n_hidden"), "torch.randn(n_hidden, n_out, requires_grad=True)"), "M40",
         "The size of w1 fits, but w2 is not divided by anything. What belongs there?", "second not divided", ""),
        (heal_6("(torch.rand(n_in, n_hidden) / n_in**0.5).requires_grad_()"), "M40", "All weights have the same sign, so all "
         "hidden units rise and fall together, and with many inputs of one sign their sums are large. Draw numbers of both "
         "signs.", "one sign", ""),
        (heal_6("(torch.randn(n_in, n_hidden) / n_in).requires_grad_()"), "M40", "For many inputs these weights are too "
         "small. A sum of n random numbers grows only like the square root of n. By what should they be divided, then?",
         "no root", ""),
        (heal_6("(torch.randn(n_in, n_hidden) * 0.1).requires_grad_()"), "M40", "The size of w1 is the same for four inputs "
         "and for four hundred. How should it depend on their number?", "one size", ""),
        (heal_6("(torch.randn(n_in, n_hidden) * 1e-4).requires_grad_()"), "M40", "The weights are random but too small. "
         "How should their size depend on the number of inputs?", "tiny", ""),
    ],
    probes=probes_13_6, likely=likely_13_6,
    why="With all weights at zero, the hidden units do not differ. Random weights make them differ.",
    hints=["Compute one gradient back by hand. By what is it multiplied between the loss and w1?",
           "Two units with equal weights get equal gradients, so they stay equal. Random numbers make them different.",
           "Draw random numbers, divide them by the square root of the number of inputs, and then call requires_grad_()."],
    worked="w1 = (torch.randn(n_in, n_hidden) / n_in**0.5).requires_grad_(), and the same for w2 with its own sizes.",
)  # fmt: skip

# --- 13.7 the mask -------------------------------------------------------------------------------------

PATIENT_7 = """
class Patient(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * (x > 0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g
"""
GATE = "x = torch.tensor(x, requires_grad=True)\nCure7.apply(x).backward(torch.tensor(g))\nx.grad"
MATMUL_FIRST = "x = torch.tensor(x, requires_grad=True)\n(Cure7.apply(x @ torch.tensor(w)) ** 2).sum().backward()\nx.grad"


TWO_GATES = (
    "x, z = torch.tensor(x, requires_grad=True), torch.tensor(z, requires_grad=True)\n"
    "(Cure7.apply(x) + Cure7.apply(z)).backward(torch.tensor(g))\n[x.grad, z.grad]"
)


PLACES = "Look at the places one by one: where x is positive, the upstream gradient passes unchanged; elsewhere it becomes 0."


def probes_13_7(rng: np.random.Generator) -> Iterator[Probe]:
    x, w = numbers(rng, 4, 3), numbers(rng, 3, 2)
    yield run("Cure7.apply(torch.tensor(x))", x=x / 8).on("forward is right as it is given: relu.").expect(np.maximum(x / 8, 0))
    corner = np.array([1.5, 0.0, -2.0, 0.5])
    yield run(GATE, x=corner, g=np.array([-3.0, 2.0, 5.0, 0.7])).on(PLACES).expect(np.array([-3.0, 0.0, 0.0, 0.7]))
    yield run(MATMUL_FIRST, x=x, w=w).on(PLACES).expect(2 * np.maximum(x @ w, 0) @ w.T)
    one, other, g = np.array([1.5, 0.0, -2.0, 0.5]), np.array([2.0, 1.0, 0.5, -1.0]), np.array([-3.0, 2.0, 4.0, 2.5])
    yield run(TWO_GATES, x=one, z=other, g=g).on(PLACES).expect([g * [1, 0, 0, 1], g * [1, 1, 1, 0]])
    same = GATE.replace("x.grad", "x.detach()")
    after = run(same, x=corner, g=np.array([-3.0, 2.0, 5.0, 0.7])).expect(corner)
    yield after.on("These are the numbers of x afterwards. forward and backward only read them.")
    yield run(GATE, x=np.array([1e-6, -1e-6]), g=np.array([3.0, 2.0])).on(PLACES).expect(np.array([3.0, 0.0]))


def heal_7(rule: str, *treatments: Treatment) -> Any:
    source = PATIENT_7.replace("Patient", "Cure7")
    return healed(source, "Cure7", ("return g\n", f"return {rule}\n"), *treatments)


KEEP, TAKE = "        ctx.save_for_backward(x)\n", "        (x,) = ctx.saved_tensors\n"


EXERCISE_13_7 = patient(
    7, "patient 7", 8, PATIENT_7, "d",
    {"a": "Line a saves x, which is right. Is x used in backward?", "b": "The values are those of relu.",
     "c": "Line c unpacks x, which is right. Is x used after that?"},
    cures=[
        heal_7("g * (x > 0)"), heal_7("torch.where(x > 0, g, torch.zeros_like(g))"),
        heal_7("g.masked_fill(ctx.shut, 0.0)", (KEEP, "        ctx.shut = x <= 0\n"), (TAKE, "")),
    ],
    wrong=[
        (heal_7("g"), "M53", "The gradient passes everywhere, also where the input was negative. The accuracy does not show "
         "it. What does a measured derivative show?", "the patient", ""),
        (heal_7("g * (g > 0)"), "M35", "Your mask depends on the sign of g. It should depend on the input of the forward "
         "pass.", "mask on g", ""),
        (heal_7("g * (x >= 0)"), "M35", "At exactly 0 your rule passes the gradient on. PyTorch uses the derivative 0 there.",
         "open at 0", ""),
        (heal_7("(x > 0).to(g.dtype)"), "M23", "Your rule returns only the mask, without the upstream gradient.",
         "no upstream", ""),
        (heal_7("g * x * (x > 0)"), "M43", "Your rule multiplies by the value x. What is the derivative of relu where x is "
         "positive?", "value", ""),
        (heal_7("g", (TAKE, TAKE + "        g *= x > 0\n")), "M15", "With a single relu this works. But the mask is written "
         "into g itself, and a sum passes the same g to both its inputs. Make a new tensor.",
         "in place", ""),
        (heal_7("g * Cure7.mask", (KEEP, "        Cure7.mask = x > 0\n"), (TAKE, "")), "M34", "With a single relu this "
         "works. With two in one graph, the second overwrites the mask of the first, because it is stored in the class. "
         "Store it in ctx.", "mask on the class", ""),
        (heal_7("g * (x > 0)", ("return x * (x > 0)", "return x.clamp_(min=0).clone()")), "M15", "forward changes the "
         "numbers of x itself. Other parts of the program use x, too.", "changes x", ""),
        (heal_7("g * ((x > 0) + 0.01 * (x < 0))"), "M35", "One hundredth of the gradient passes for negative inputs. This is "
         "the rule of leaky relu, but forward computes the plain relu.", "leaks", ""),
        (heal_7("g * 0.1"), "M54", "The gradient is smaller everywhere, but it still passes where the input was negative.",
         "smaller", ""),
    ],
    probes=probes_13_7, name="Cure7",
    why="The gradient of relu passes only where the input was positive.",
    hints=["Change an x below zero by a little. Does relu(x) change?",
           "The gradient may pass where the value passed on the way forward, and nowhere else.",
           "Line d needs the comparison that is in line b."],
    worked="return g * (x > 0).",
)  # fmt: skip

# --- predictions of the reading notebook ---------------------------------------------------------------

PREDICTION_13_0 = prediction(
    "13.0", "c", points=0,
    title="what to look at first",
    options={"a": "train longer", "b": "lower the learning rate", "c": "the gradients of the first step"},
    wrong=[
        Wrong("a", "M54", "If one step has no effect, ten thousand such steps have none either."),
        Wrong("b", "M54", "A smaller step in a wrong direction is still wrong."),
    ],
)  # fmt: skip

PREDICTION_13_4A = prediction(
    "13.4a", 2, points=0,
    title="how many tensors the optimiser gets",
    wrong=[
        Wrong(6, "", "There are six, but the optimiser only gets those that the module has registered. Which containers does "
              "a module search?"),
        Wrong(3, "", "There are three layers, and each has a weight and a bias. Does a module search a plain list?"),
        Wrong(0, "", "The head is an attribute of its own, and a module registers such attributes."),
    ],
)  # fmt: skip

PREDICTION_13_6A = prediction(
    "13.6a", 1, points=0,
    title="which tensors get a gradient, starting from zeros",
    wrong=[
        Wrong(4, "M40", "Compute one gradient back from the loss. By what is it multiplied on its way to w1?"),
        Wrong(0, "M40", "The last bias is added and not multiplied by anything, so it gets a gradient."),
        Wrong(2, "M40", "The gradient of w2 is multiplied by the hidden values. How large are they?"),
    ],
)  # fmt: skip

PREDICTION_13_7A = prediction(
    "13.7a", "c", points=0,
    title="digits that are read with a wrong rule",
    options={"a": "about 10 %, as by chance", "b": "about 50 %", "c": "above 90 %"},
    wrong=[
        Wrong("a", "M53", "That would be easy to notice. But the last layer still learns with a right rule."),
        Wrong("b", "M53", "The last layer still learns with a right rule. How much can it make up for?"),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_13_0, PREDICTION_13_4A, PREDICTION_13_6A, PREDICTION_13_7A,
    EXERCISE_13_1, EXERCISE_13_2, EXERCISE_13_3, EXERCISE_13_4, EXERCISE_13_5, EXERCISE_13_6, EXERCISE_13_7,
)  # fmt: skip

LESSON = Lesson(
    number=13,
    slug="13_clinic",
    title="The training-loop clinic",
    after=(4, 8, 11, 12),
    idea="Seven training loops have a fault each. You find it in pictures and in the gradients of one step.",
    introduces=(
        "patient_1", "patient_2", "patient_3", "Patient4", "Module", "head", "patient_5", "patient_6", "Patient7", "cure_1",
        "cure_2", "cure_3", "Cure4", "ModuleList", "cure_5", "cure_6", "Cure7",
    ),
    misconceptions=("M40", "M53", "M54"),
    with_engine=True,
    exercises=EXERCISES,
)  # fmt: skip
