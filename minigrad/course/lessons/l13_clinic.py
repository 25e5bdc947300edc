"""Lesson 13: seven training loops, each with one illness.

A patient is a piece of source text. The student names the suspicious line by its letter and writes the loop again,
cured. The right losses come from numpy loops with gradients written by hand; the wrong cures are the patient's own
source with something else changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import minigrad as torch
import minigrad.nn as nn
import minigrad.nn.functional as F
from minigrad.autograd import Function

from ..exercise import Exercise, Lesson, Probe, Wrong, numbers, prediction, program, run

Array = np.ndarray[Any, Any]
Treatment = tuple[str, str]  # this text, replaced by that one
PRELUDE = (
    "import numpy as np\nimport minigrad as torch\nimport minigrad.nn as nn\n"
    "import minigrad.nn.functional as F\nfrom minigrad.autograd import Function"
)
LOWER = "A lower learning rate: the curve has another slope and the same illness. What do the gradients look like?"
LONGER = "More steps: more of the same, and more losses than were asked for. What is wrong with a single step?"
SAME = "The losses are those of the patient, to the last digit: what you changed has no effect on the gradients. "


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
) -> Exercise:  # fmt: skip
    """One patient: `innocent` are the letters that are not to blame, with what to say; each of `wrong` is (cure,
    misconception, what to say, name, a word shared with those that behave alike). Where two lines have changed places,
    either may be blamed: the other one is the culprit's `partner`."""
    letter, cure = f"culprit_{number}", name or f"cure_{number}"

    def asked(rng: np.random.Generator) -> Iterator[Probe]:
        yield run(f"blamed({letter})").expect(culprit)
        yield from probes(rng)

    return program(
        f"13.{number}", (letter, cure), title=title, minutes=minutes, probes=asked,
        prelude=f"{PRELUDE}\nblamed = lambda line: {culprit!r} if str(line).strip().lower() == {partner!r} else line",
        wrong=[
            *(Wrong({letter: l, cure: cures[0]}, "M54", says, name=f"blames {l}") for l, says in innocent.items()),
            *(Wrong({letter: culprit, cure: c}, id, says, name=n, alike=alike) for c, id, says, n, alike in wrong),
        ],
        alternatives=[{letter: l, cure: c} for l, c in zip([culprit.upper(), partner or culprit, *culprit * 9], cures)],
        hints=hints, worked=worked, why=why, rtol=rtol,
    )  # fmt: skip


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

NUMBERS = "\nnot any(getattr(loss, 'requires_grad', False) for loss in losses)"
BARE = "w = torch.tensor(w, requires_grad=True)\nlosses = {}(w, torch.tensor(x), torch.tensor(t), 2)" + NUMBERS


def line_descent(w: Array, x: Array, t: Array, steps: int, rate: float = 0.1) -> list[Any]:
    """Losses and the last weights of plain descent on a mean of squares."""
    w, losses = w.copy(), []
    for _ in range(steps):
        off = x @ w - t
        losses.append(float(off @ off / len(t)))
        w -= rate * 2 / len(t) * off @ x
    return [losses, w]


def probes_line(cure: str) -> Callable[..., Iterator[Probe]]:
    def probes(rng: np.random.Generator) -> Iterator[Probe]:
        w, x, t = numbers(rng, 3) / 2, numbers(rng, 5, 3) / 2, numbers(rng, 5)
        yield run(TRAIN.format(cure, 6), w=w, x=x, t=t).expect(line_descent(w, x, t, 6))
        yield run(TRAIN.format(cure, 3), w=w[:2], x=x[:4, :2], t=t[:4]).expect(line_descent(w[:2], x[:4, :2], t[:4], 3))
        yield run(BARE.format(cure), w=w, x=x, t=t).expect(True)

    return probes


def heal_1(*treatments: Treatment) -> Any:
    return healed(PATIENT_1, "patient", *treatments)


UPDATE, LATER = "            w -= 0.1 * w.grad\n", "            w -= 0.1 * w.grad\n            w.grad.zero_()\n"

EXERCISE_13_1 = patient(
    1, "the loss swings", 6, PATIENT_1, "d",
    {"a": "Line a is fine: a new graph in every round. What is the same object in every round?",
     "b": "backward does what it always does: it *adds* to w.grad. Which line should have prepared w for that?",
     "c": "The update is right for the gradient it finds. Is it the gradient of this round only?"},
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
        (heal_1(("        with", "        w.grad.zero_()\n        with")), "M40", "Nothing moves any more: the gradient "
         "is cleared between backward and the update that needs it.", "cleared too early", ""),
        (heal_1(("        # d\n", "        w.grad = None\n"), (".mean()", ".sum()")), "M30", "Cleared, and the loss has become "
         "a sum: each step is as many times too long as there are rows.", "sum", ""),
        (heal_1(("        # d\n", "        w.grad = None\n        loss = ((x @ w - t) ** 2).mean()\n")), "", "The steps are "
         "right. The losses are those *after* each step: which one was asked for?", "after the step", ""),
        (heal_1((UPDATE, UPDATE.replace("w.grad\n", "w.grad / w.grad.norm()\n"))), "M54", "Every step has the same length now, "
         "whatever the slope: that hides the illness and makes another method. What is in w.grad?", "normalised", ""),
        (heal_1(("        # d\n", "        w.grad = None\n"), ("loss.item()", "loss")), "M18", "Cured, and the list holds "
         "tensors now: each keeps the graph of its round. What did the patient put into it?", "keeps tensors", ""),
        (heal_1((UPDATE, UPDATE + "        w = w.detach().clone().requires_grad_()\n")), "M17", "The losses are right, and the "
         "w that was handed in has moved once only: the rest was learned by copies that nobody else holds.", "trains a copy",
         ""),
        (heal_1(("w -= 0.1 * w.grad", "w = w - 0.1 * w.grad")), "M17", "A new tensor is called w after the first round, "
         "and nothing was recorded for it. What is the difference between changing a thing and naming a new one?",
         "rebinds", ""),
    ],
    probes=probes_line("cure_1"),
    why="Without clearing, each step would use the sum of all earlier gradients.",
    hints=["Write down w.grad after each of the first two rounds, next to the true gradient of that round.",
           "A counter that is never set back shows the sum of all days.",
           "Where d stands, nothing happens. It is the last place before the next backward."],
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
        behind = np.outer(g, w2) * (1 - h * h)
        w1, w2 = w1 - 0.1 * x.T @ behind, w2 - 0.1 * h.T @ g
    return [losses, w1]


def probes_13_2(rng: np.random.Generator) -> Iterator[Probe]:
    data = {"w1": numbers(rng, 3, 4) / 4, "w2": numbers(rng, 4) / 4, "x": numbers(rng, 5, 3) / 4, "t": numbers(rng, 5)}
    yield run(TWO_LAYERS, **data).expect(two_layer_descent(**data, steps=5))
    yield run(TWO_LAYERS.replace("[cure", "losses, _ = [cure") + NUMBERS, **data).expect(True)


def heal_2(*treatments: Treatment) -> Any:
    return healed(PATIENT_2, "patient", *treatments)


CUT = "torch.tanh(x @ w1).detach()"
STILL_CUT = SAME + "w1 is still where it was. Where does the path from the loss to w1 end?"

EXERCISE_13_2 = patient(
    2, "the first layer sleeps", 6, PATIENT_2, "a",
    {"b": "Line b connects h, w2 and the loss as it should. Look at what h brings along.",
     "c": "backward walks as far as there is a path. Who cut it?",
     "d": "Line d hides the illness, and does not cause it: without it you would see an error. Why is a gradient None?"},
    cures=[heal_2((CUT, "torch.tanh(x @ w1)")), heal_2((CUT, "(x @ w1).tanh()"), ("is not None", "is None or True"))],
    wrong=[
        (heal_2(), "M12", STILL_CUT, "the patient", "cut"),
        (heal_2((CUT, CUT + ".requires_grad_()")), "M12", STILL_CUT, "requires_grad on h", "cut"),
        (heal_2(("backward()", "backward(retain_graph=True)")), "M11", STILL_CUT, "retain_graph", "cut"),
        (heal_2((CUT, "torch.tensor(torch.tanh(x @ w1).tolist(), dtype=x.dtype)")), "M13", STILL_CUT, "rewrapped", "cut"),
        (heal_2((CUT, "torch.tanh(x @ w1.detach())")), "M12", STILL_CUT, "cut earlier", "cut"),
        (heal_2(("0.1", "0.01")), "M54", LOWER, "lower rate", ""),
        (heal_2(("range(steps)", "range(5 * steps)")), "M54", LONGER, "more steps", ""),
        (heal_2(("            if w.grad is not None:\n", "            if True:\n")), "M54", "The guard is gone, and now "
         "an error says what it hid: there is no gradient at w1. Why not?", "no guard", ""),
        (heal_2((CUT, "torch.tanh(x @ w1)"), ("h @ w2", "h @ w2.detach()")), "M12", "Now the first layer learns and the second "
         "sleeps. How many cuts does this net need?", "cut elsewhere", ""),
        (heal_2((CUT, "torch.tanh(x @ w1)"), ("                w.grad = None\n", "")), "M01", "The path is whole, and nothing "
         "is cleared any more: the gradients of all rounds add up.", "never cleared", ""),
        (heal_2((CUT, "x @ w1")), "", "The path is whole again, and tanh is gone: two layers without a bend between "
         "them are one.", "no tanh", ""),
    ],
    probes=probes_13_2,
    why="detach had cut the path to w1; without it the gradient reaches w1.",
    hints=["Print w1.grad after the first backward.",
           "In y = f(x).detach() * 3, no backward from y ever reaches x.",
           "One call in line a says: forget where these numbers came from."],
    worked="Line a without the detach: h = torch.tanh(x @ w1).",
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
    yield run(CLASSES, w=w, x=x, labels=labels).expect(class_descent(w, x, labels, 5))
    yield run(CLASSES.replace("[cure", "losses, _ = [cure") + NUMBERS, w=w, x=x, labels=labels).expect(True)


def heal_3(*treatments: Treatment) -> Any:
    return healed(PATIENT_3, "patient", *treatments)


SOFT, ENTROPY = "torch.softmax(x @ w, dim=1)", "F.cross_entropy(p, labels)"
TWICE = SAME + "The scores are still squashed before a loss that squashes them itself."

EXERCISE_13_3 = patient(
    3, "the loss will not fall below 0.55", 6, PATIENT_3, "a",
    {"b": "Line b takes scores, and squashes them itself. Who hands it something else?",
     "c": "backward is right for the loss that it is given. How low can that loss go?",
     "d": "The update is right. With three classes the loss stops at 0.5514, at any learning rate: why there?"},
    cures=[
        heal_3((SOFT, "x @ w")),
        heal_3((SOFT, "torch.log_softmax(x @ w, dim=1)"), ("F.cross_entropy", "F.nll_loss")),
        heal_3((ENTROPY, "F.nll_loss(torch.log(p), labels)")),
    ],
    wrong=[
        (heal_3(), "M39", TWICE, "the patient", "twice"),
        (heal_3(("backward()", "backward(retain_graph=True)")), "M11", TWICE, "retain_graph", "twice"),
        (heal_3(("dim=1", "dim=0")), "M52", "Softmax along the other axis: the examples compete, and it is squashed "
         "twice as before.", "other axis", ""),
        (heal_3(("0.5", "0.05")), "M54", LOWER, "lower rate", ""),
        (heal_3(("range(steps)", "range(5 * steps)")), "M54", LONGER, "more steps", ""),
        (heal_3(("F.cross_entropy", "F.nll_loss")), "M39", "Now one softmax, and no logarithm: the loss is minus a "
         "probability.", "no logarithm", ""),
        (heal_3((SOFT, "torch.sigmoid(x @ w)")), "M39", "A sigmoid squashes as well. Which numbers does the loss "
         "want, from where to where?", "sigmoid", ""),
        (heal_3((SOFT, "x @ w"), (ENTROPY, ENTROPY[:-1] + ', reduction="sum")')), "M30", "One softmax, and the loss is summed "
         "over the rows, not averaged.", "sum", ""),
        (heal_3((SOFT, "10 * " + SOFT)), "M39", "Stretched, and still squashed twice: now the loss cannot fall below another "
         "number. Which numbers does the loss want, from where to where?", "stretched", ""),
        (heal_3((ENTROPY, "F.nll_loss(torch.log(p + 1e-7), labels)")), "M51", "One softmax, and a small number inside the "
         "logarithm: every loss is a little off. Which form needs none?", "epsilon", ""),
        (heal_3((SOFT, "(x @ w).detach()"), ("loss.backward()", "loss.requires_grad_().backward()")), "M54", "Asking "
         "the loss to require a gradient mends no path: nothing leads from it to w.", "requires_grad on the loss", ""),
    ],
    probes=probes_13_3,
    why="cross_entropy contains the softmax already, so it takes scores; a second softmax keeps the loss above 0.55.",
    hints=["How small can the loss get if p is as good as it can be, [1, 0, 0]?",
           "cross_entropy(z) is minus the log of softmax(z): give it [50, 0, 0], and it is 0.",
           "One of the two lines a and b takes a softmax too many. b is the one that does it safely."],
    worked="Line a: p = x @ w. The loss takes scores.",
)  # fmt: skip

# --- 13.4 parameters that nobody knows -----------------------------------------------------------------

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
    "[bool((p != old).any()) for p, old in zip(net.parameters(), before)]"
)
FILLED = (
    "torch.manual_seed(0)\nnet = Cure4()\nwith torch.no_grad():\n    for p in net.parameters():\n        p.fill_(0.3)\n"
    "net(torch.tensor(x)).detach()"
)


def probes_13_4(rng: np.random.Generator) -> Iterator[Probe]:
    x = (numbers(rng, 6, 3) / 8).astype(np.float32)
    h = np.tanh(0.3 * x.sum(1, keepdims=True) + 0.3)
    h = np.tanh(1.2 * h + 0.3)
    yield run(SHAPES).expect([[2], [2, 5], [4], [4, 3], [5], [5, 4]])
    yield run(FILLED, x=x).expect(np.repeat(1.5 * h + 0.3, 2, axis=1))
    yield run(MOVED, x=x).expect([True] * 6)
    yield run("all(p.requires_grad for p in Cure4().parameters())").expect(True)


LIST, TWO_LINEARS = "[nn.Linear(3, 4), nn.Linear(4, 5)]", "nn.Linear(3, 4), nn.Linear(4, 5)"
LOOP = "        for layer in self.layers:\n            x = torch.tanh(layer(x))\n"


def heal_4(*treatments: Treatment) -> Any:
    return healed(PATIENT_4.replace("Patient", "Cure4"), "Cure4", *treatments)


UNSEEN = (
    "parameters() names two tensors only, those of the head: a module does not look into a plain Python container. "
)

EXERCISE_13_4 = patient(
    4, "only the head learns", 6, PATIENT_4, "b",
    {"a": "Line a lets the module begin to keep books. Without it nothing works at all.",
     "c": "The head is the part that learns. How is it different from the others?",
     "d": "The layers are used as they should be. But who knows that they exist?"},
    cures=[
        heal_4((LIST, f"nn.ModuleList({LIST})")),
        heal_4((LIST, f"nn.Sequential({TWO_LINEARS})")),
        heal_4((f"self.layers = {LIST}\n        self.head = nn.Linear(5, 2)", "self.net = nn.Sequential(nn.Linear(3, 4), "
                "nn.Tanh(), nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))"), (LOOP, ""), ("self.head", "self.net")),
        heal_4(("self.layers = " + LIST, "self.one = nn.Linear(3, 4)\n        self.two = nn.Linear(4, 5)"),
               ("self.layers", "(self.one, self.two)")),
    ],
    wrong=[
        (heal_4(), "M54", UNSEEN + "Which container does it know?", "the patient", "unseen"),
        (heal_4((LIST, f"({TWO_LINEARS})")), "M54", UNSEEN + "Which container does it know?", "tuple", "unseen"),
        (heal_4((LIST, f"dict(enumerate({LIST}))"), ("self.layers:", "self.layers.values():")), "M54", UNSEEN +
         "Which container does it know?", "dict", "unseen"),
        (heal_4((LIST, f"nn.ModuleList({LIST})"), (LOOP, "")), "", "All are registered, and forward does not use "
         "the layers.", "not used", ""),
        (heal_4((LIST, f"nn.ModuleList({LIST})"), ("layer(x))", "layer(x)).detach()")), "M12", "All are registered, "
         "and the path to the layers is cut.", "cut", ""),
        (heal_4((LIST, f"nn.ModuleList({LIST})"), ("torch.tanh(layer(x))", "layer(x)")), "", "All are registered, "
         "and tanh has been lost on the way.", "no tanh", ""),
        (heal_4((LIST, f"nn.ModuleList({LIST})"), ("return self.head(x)", "return torch.tanh(self.head(x))")), "", "All "
         "are registered, and the head has got a tanh that it did not have.", "tanh at the head", ""),
        (heal_4((f"self.layers = {LIST}", f"self.layers = {LIST}\n        self.more = nn.ModuleList({LIST})")), "M54", "Six "
         "tensors are registered, and four of them are spares that forward never uses: those it uses are still unknown.",
         "spares", ""),
        (heal_4((LIST, f"nn.ModuleList({LIST}).requires_grad_(False)")), "M54", "All are registered, and the layers do not ask "
         "for a gradient: they are frozen.", "frozen", ""),
        (heal_4((LIST, "nn.ModuleList([nn.Linear(3, 4)])"), ("(5, 2)", "(4, 2)")), "", "The second layer is gone. "
         "That would be another net.", "one layer", ""),
    ],
    probes=probes_13_4, name="Cure4", rtol=1e-4,
    why="A module finds the parameters in a ModuleList but not in a plain list, and an optimiser trains only what it is given.",
    hints=["Count: how many tensors does parameters() give, and how many are there?",
           "A module notices modules and parameters that are set as its own attributes. A list is neither.",
           "There is a list among the classes of nn that is a module itself."],
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


ORDERED = in_order("optimizer.zero_grad", "loss.backward", "optimizer.step")
FLAT = SAME + "Nothing moves. What does step() find in w.grad at the moment when it runs?"

EXERCISE_13_5 = patient(
    5, "a flat line", 5, PATIENT_5, "d",
    {"a": "The optimiser knows w and a sensible learning rate.", "b": "The loss is right.",
     "c": "Clearing is right, and in a place where it does no harm by itself. What comes next, and what does it need?"},
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
        (heal_5(in_order("optimizer.step", "optimizer.zero_grad", "loss.backward")), "M40", "It moves, one round late: "
         "each step uses the gradient of the round before, at a place that has been left.", "late", ""),
        (heal_5(in_order("loss.backward", "optimizer.step")), "M01", "The order is right, and the clearing is gone: "
         "the gradients of all rounds add up.", "never cleared", ""),
        (heal_5(in_order("optimizer.zero_grad", "loss.backward", "optimizer.step", "optimizer.step")), "", "Two steps "
         "with one gradient.", "two steps", ""),
        (heal_5(ORDERED, ("lr=0.1", "lr=0.1, momentum=0.9")), "M54", "The "
         "order is right now, and the steps remember each other: plain descent was never ill.", "momentum", ""),
        (heal_5(ORDERED, ("SGD", "Adam")), "M54", "The order is right "
         "now, and it is another optimiser: SGD was never ill.", "Adam", ""),
        (heal_5(ORDERED, ("range(steps)", "range(5 * steps)")),
         "M54", LONGER, "more steps", ""),
        (heal_5(ORDERED, ("lr=0.1", "lr=0.01")), "M54",
         "The order is right now. Leave the learning rate as it was: it was never ill.", "lower rate", ""),
    ],
    probes=probes_line("cure_5"), partner="e",
    why="step uses the gradients that backward has just computed, so it comes after backward.",
    hints=["Three calls, and each needs something of the one before.",
           "Shopping: empty the bag, fill the bag, cook what is in the bag.",
           "step() uses w.grad. Which line writes w.grad?"],
    worked="optimizer.zero_grad(), then loss.backward(), then optimizer.step().",
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
ASKED = "[p.requires_grad for p in cure_6(5, 4, 3)]"
LEAVES = "[p.is_leaf for p in cure_6(5, 4, 3)]"
GRADIENTS = (
    "w1, b1, w2, b2 = cure_6(5, 4, 3)\nh = torch.tanh(torch.tensor(x) @ w1 + b1)\n"
    "F.cross_entropy(h @ w2 + b2, torch.tensor(labels)).backward()\n"
    "[(p.detach(), p.grad) for p in (w1, b1, w2, b2)]  # does each get a gradient?"
)
TWINS = "w1, b1, w2, b2 = cure_6(5, 4, 3)\nw1.detach()  # how many different columns?"
SPREAD = "w1, b1, w2, b2 = cure_6(100, 80, 60)\n[w1.detach(), w2.detach()]  # how widely do they spread?"


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


def different_columns(w1: Any) -> int:
    return len({round(float(column.sum()), 7) for column in w1.array.T})


def spread(weights: Any) -> list[bool]:
    return [bool(w.array.std() > 0.005) for w in weights]


def narrow(weights: Any) -> list[bool]:
    return [bool(np.sqrt((w.array.astype(float) ** 2).mean()) < 0.4) for w in weights]


def probes_13_6(rng: np.random.Generator) -> Iterator[Probe]:
    x = (numbers(rng, 6, 5) / 4).astype(np.float32)
    labels = np.array([0, 2, 2, 1, 0, 2])
    yield run(SIZES).expect([[5, 4], [4], [4, 3], [3]])
    yield run(ASKED).expect([True] * 4)
    yield run(LEAVES).expect([True] * 4)
    yield run(GRADIENTS, x=x, labels=labels).seen_as(which_learn(x, labels)).expect([True] * 4)
    yield run(TWINS).seen_as(different_columns).expect(4)
    yield run(SPREAD).seen_as(spread).expect([True, True])
    yield run(SPREAD).seen_as(narrow).expect([True, True])


def heal_6(first: str, second: str = "", last: str = "") -> Any:
    return healed(
        PATIENT_6, "patient",
        ("torch.zeros(n_in, n_hidden, requires_grad=True)", first),
        ("torch.zeros(n_hidden, n_out, requires_grad=True)",
         second or first.replace("n_hidden", "n_out").replace("n_in", "n_hidden")),
        ("return", last + "return"),
    )  # fmt: skip


LARGE = (
    "Random, and large: with a hundred inputs tanh sits on its flat ends. How should the size depend on the number of "
    "inputs?"
)

EXERCISE_13_6 = patient(
    6, "zero everywhere", 6, PATIENT_6, "a",
    {"b": "A bias may start at 0: as long as the weights differ, it gets a gradient of its own.",
     "d": "The last bias is the only tensor that learns here. It is not to blame.",
     "e": "The four are handed back in order."},
    cures=[
        heal_6("(torch.randn(n_in, n_hidden) / n_in**0.5).requires_grad_()"),
        heal_6("torch.tensor(np.random.default_rng(0).uniform(-1, 1, (n_in, n_hidden)).astype('float32') / n_in**0.5, "
               "requires_grad=True)"),
        heal_6("nn.Linear(n_in, n_hidden).weight.detach().T.clone().requires_grad_()"),
    ],
    wrong=[
        (healed(PATIENT_6, "patient"), "M40", "All weights are 0 still: h is 0, and what comes back is multiplied by "
         "w2, which is 0. Only the last bias gets a gradient.", "the patient", ""),
        (heal_6("torch.ones(n_in, n_hidden, requires_grad=True)"), "M40", "Not zero any more, and all alike: every "
         "hidden unit computes the same and learns the same. How can they become different?", "all alike", ""),
        (heal_6("torch.full((n_in, n_hidden), 0.1, requires_grad=True)"), "M40", "A constant of a sensible size, and "
         "all units are twins for ever. What must be different from unit to unit?", "twins", ""),
        (heal_6("(torch.randn(n_in, n_hidden) / n_in**0.5).requires_grad_()",
                "torch.zeros(n_hidden, n_out, requires_grad=True)"), "M40", "w2 is still zero: what comes back to the "
         "first layer is multiplied by it.", "second still zero", ""),
        (heal_6("torch.randn(n_in, n_hidden) / n_in**0.5"), "M54", "Random weights, and nobody will record what is "
         "done with them: they do not require a gradient.", "no requires_grad", ""),
        (heal_6("torch.randn(n_in, n_hidden, requires_grad=True) / n_in**0.5"), "M17", "The result of a division is no "
         "leaf: .grad will stay None. In which order do you scale and ask for gradients?", "no leaf", ""),
        (heal_6("torch.randn(n_in, n_hidden, requires_grad=True)"), "M40", LARGE, "large", "large"),
        (heal_6("torch.rand(n_in, n_hidden, requires_grad=True)"), "M40", LARGE, "above zero", "large"),
        (heal_6("(torch.randn(n_in, n_hidden) * 1e-4).requires_grad_()"), "M40", "Random, and so small that it is "
         "nearly the old illness. How should the size depend on the number of inputs?", "tiny", ""),
    ],
    probes=probes_13_6,
    why="With all weights at zero no hidden unit differs from another; random weights make them differ.",
    hints=["Follow one gradient back by hand: what is it multiplied by on its way from the loss to w1?",
           "Twins who get the same upbringing stay twins. Chance makes them different.",
           "Random numbers, divided by the square root of the number of inputs, then requires_grad_()."],
    worked="w1 = (torch.randn(n_in, n_hidden) / n_in**0.5).requires_grad_(), and the same for w2 with its sizes.",
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
BEHIND = "x = torch.tensor(x, requires_grad=True)\n(Cure7.apply(x @ torch.tensor(w)) ** 2).sum().backward()\nx.grad"


TWO_GATES = (
    "x, z = torch.tensor(x, requires_grad=True), torch.tensor(z, requires_grad=True)\n"
    "(Cure7.apply(x) + Cure7.apply(z)).backward(torch.tensor(g))\n[x.grad, z.grad]"
)


def probes_13_7(rng: np.random.Generator) -> Iterator[Probe]:
    x, w = numbers(rng, 4, 3), numbers(rng, 3, 2)
    yield run("Cure7.apply(torch.tensor(x))", x=x).expect(np.maximum(x, 0))
    corner = np.array([1.5, 0.0, -2.0, 0.5])
    yield run(GATE, x=corner, g=np.array([-3.0, 2.0, 5.0, 0.7])).expect(np.array([-3.0, 0.0, 0.0, 0.7]))
    yield run(BEHIND, x=x, w=w).expect(2 * np.maximum(x @ w, 0) @ w.T)
    one, other, g = np.array([1.5, 0.0, -2.0, 0.5]), np.array([2.0, 1.0, 0.5, -1.0]), np.array([3.0, 2.0, -4.0, 2.5])
    yield run(TWO_GATES, x=one, z=other, g=g).expect([g * [1, 0, 0, 1], g * [1, 1, 1, 0]])
    yield run("x = torch.tensor(x)\nCure7.apply(x)\nx", x=corner).expect(corner)
    yield run(GATE, x=np.array([1e-6, -1e-6]), g=np.array([3.0, 2.0])).expect(np.array([3.0, 0.0]))


def heal_7(rule: str, *treatments: Treatment) -> Any:
    source = PATIENT_7.replace("Patient", "Cure7")
    return healed(source, "Cure7", ("return g\n", f"return {rule}\n"), *treatments)


KEEP, TAKE = "        ctx.save_for_backward(x)\n", "        (x,) = ctx.saved_tensors\n"


EXERCISE_13_7 = patient(
    7, "nothing to see", 8, PATIENT_7, "d",
    {"a": "x is saved, and that is right: somebody should use it.", "b": "The values are those of relu.",
     "c": "x is unpacked, and then? Read on."},
    cures=[
        heal_7("g * (x > 0)"), heal_7("torch.where(x > 0, g, torch.zeros_like(g))"),
        heal_7("g.masked_fill(ctx.shut, 0.0)", (KEEP, "        ctx.shut = x <= 0\n"), (TAKE, "")),
    ],
    wrong=[
        (heal_7("g"), "M53", "Everything passes, also where the gate was shut. The accuracy does not show it; what "
         "would a measured slope show?", "the patient", ""),
        (heal_7("g * (g > 0)"), "M35", "The sign of g decides. Who held the gate on the way forward?", "mask on g", ""),
        (heal_7("g * (x >= 0)"), "M35", "Open at 0 exactly; PyTorch shuts it there.", "open at 0", ""),
        (heal_7("(x > 0).to(g.dtype)"), "M23", "The mask alone, without what arrives.", "no upstream", ""),
        (heal_7("g * x * (x > 0)"), "M43", "g times the value. How fast does relu move where it is open?", "value", ""),
        (heal_7("g", (TAKE, TAKE + "        g *= x > 0\n")), "M15", "Right alone. The mask is written into g, and + has "
         "sent the same g to both its inputs: the other one finds your zeros in it. How do you make a new tensor?",
         "in place", ""),
        (heal_7("g * Cure7.mask", (KEEP, "        Cure7.mask = x > 0\n"), (TAKE, "")), "M34", "Right for one gate. With two "
         "in the graph the second overwrites the mask of the first, which hangs on the class. What belongs to one call "
         "only?", "mask on the class", ""),
        (heal_7("g * (x > 0)", ("return x * (x > 0)", "return x.clamp_(min=0).clone()")), "M15", "forward has changed the "
         "numbers of x itself. Whose tensor is it?", "changes x", ""),
        (heal_7("g * ((x > 0) + 0.01 * (x < 0))"), "M35", "A hundredth leaks through the shut gate. That is the rule of "
         "leaky relu; is it the forward of leaky relu, too?", "leaks", ""),
        (heal_7("g * 0.1"), "M54", "Smaller everywhere, and still open where it should be shut.", "smaller", ""),
    ],
    probes=probes_13_7, name="Cure7",
    why="The gradient of relu passes only where the input was positive.",
    hints=["Accuracy is no check. Nudge an x below zero: does relu move?",
           "A door that was shut on the way out is shut on the way back.",
           "Line d needs the comparison that line b makes."],
    worked="return g * (x > 0).",
)  # fmt: skip

# --- predictions of the reading notebook ---------------------------------------------------------------

PREDICTION_13_0 = prediction(
    "13.0", "c", points=0,
    title="what to look at first",
    options={"a": "train longer", "b": "lower the learning rate", "c": "the gradients of the first step"},
    wrong=[
        Wrong("a", "M54", "If a step goes nowhere, ten thousand of them go nowhere too."),
        Wrong("b", "M54", "A smaller step in a wrong direction is still wrong."),
    ],
)  # fmt: skip

PREDICTION_13_4A = prediction(
    "13.4a", 2, points=0,
    title="how many tensors the optimiser hears of",
    wrong=[
        Wrong(6, "", "Six exist. Who keeps the list that an optimiser is handed, and what does it look into?"),
        Wrong(3, "", "Three layers, each with a weight and a bias. And is a plain list a place where a module looks?"),
        Wrong(0, "", "The head is an attribute of its own, and a module notices that."),
    ],
)  # fmt: skip

PREDICTION_13_6A = prediction(
    "13.6a", 1, points=0,
    title="who can begin, from zeros",
    wrong=[
        Wrong(4, "M40", "Follow one gradient back from the loss: what is it multiplied by on its way to w1?"),
        Wrong(0, "M40", "Somebody can: the last bias is added, and multiplied by nothing."),
        Wrong(2, "M40", "w2 would be next. Its gradient is multiplied by the hidden values: how large are they?"),
    ],
)  # fmt: skip

PREDICTION_13_7A = prediction(
    "13.7a", "c", points=0,
    title="digits, read with a wrong rule",
    options={"a": "about 10 %, as by chance", "b": "about 50 %", "c": "above 90 %"},
    wrong=[
        Wrong("a", "M53", "So one would hope: then everybody would notice."),
        Wrong("b", "M53", "The other layers still learn with right rules. How much can they make up for?"),
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
    idea="Seven training loops are ill: read the gradients of one step before you touch the learning rate.",
    introduces=(
        "patient_1", "patient_2", "patient_3", "Patient4", "Module", "head", "patient_5", "patient_6", "Patient7", "cure_1",
        "cure_2", "cure_3", "Cure4", "ModuleList", "cure_5", "cure_6", "Cure7",
    ),
    misconceptions=("M40", "M53", "M54"),
    with_engine=True,
    exercises=EXERCISES,
)  # fmt: skip
