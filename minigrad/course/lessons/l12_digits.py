"""Lesson 12: layers, an optimiser, a loss and a training loop of one's own, on 1,797 handwritten digits.

The training loop is judged by its first twenty losses, not by its accuracy: they have to be those of
PyTorch from the same start, in float64. They are recorded below; a slow test records them again and compares. The
smaller probes are answered by a training run written in numpy with its gradients by hand.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as torch  # noqa: F401 (the answers of the text use it)

from ..exercise import Probe, call, numbers, run
from ..lesson_text import lesson
from .l11_cross_entropy import likely_gradients, likely_losses

Array = np.ndarray[Any, Any]
DIGITS = Path(__file__).resolve().parents[1] / "data" / "digits.npz"
PRELUDE = """
import numpy as np
import minigrad as torch
class Relu:
    def __call__(self, x):
        return torch.relu(x)
    def parameters(self):
        return []
class Net:
    def __init__(self, n_in, n_hidden, n_out):
        def start(*shape):
            count = int(np.prod(shape))
            return torch.tensor(np.sin(1.0 + np.arange(count)).reshape(shape) / 4, requires_grad=True)
        self.all = [start(n_hidden, n_in), start(n_hidden), start(n_out, n_hidden), start(n_out)]
    def __call__(self, x):
        w1, b1, w2, b2 = self.all
        return torch.relu(x @ w1.T + b1) @ w2.T + b2
    def parameters(self):
        return self.all
class own_work:
    def __enter__(self):
        def refuse(*args, **more):
            raise RuntimeError("the library's own is switched off here")
        if globals().get("cross_entropy") is torch.nn.functional.cross_entropy:
            refuse()
        self.kept = []
        for owner, name in ((torch.optim.SGD, "step"), (torch.nn.functional, "cross_entropy"),
                            (torch.nn.functional, "nll_loss"), (torch.nn.CrossEntropyLoss, "forward"),
                            (torch.nn.NLLLoss, "forward")):
            self.kept.append((owner, name, getattr(owner, name)))
            setattr(owner, name, refuse)
    def __exit__(self, *error):
        for owner, name, thing in self.kept:
            setattr(owner, name, thing)
"""

# --- 12.1 layers ---------------------------------------------------------------------------------------

MADE = "layer = Linear(3, 2, np.random.default_rng(0))\n"
SHAPES = MADE + "[list(p.shape) for p in layer.parameters()]"
ASKS = MADE + "layer(torch.tensor(x)).backward(torch.tensor(v))\n[layer.weight.grad, layer.bias.grad]"
KIND = MADE + "[[p.detach().numpy().dtype.name, p.requires_grad] for p in (layer.weight, layer.bias)]"
FILLED = (
    MADE + "with torch.no_grad():\n    layer.weight.copy_(torch.tensor(w))\n    layer.bias.copy_(torch.tensor(b))\n"
    "layer(torch.tensor(x)).backward(torch.tensor(v))\n"
    "[layer(torch.tensor(x)).detach(), layer.weight.grad, layer.bias.grad]"
)
TWO = "rng = np.random.default_rng(0)\na, b = Linear(3, 4, rng), Linear(4, 2, rng)\n"
STACK = TWO + "[list(p.shape) for p in Sequential(a, Relu(), b).parameters()]"
CHAIN = (
    TWO
    + "same = b(torch.relu(a(torch.tensor(x))))\n[Sequential(a, Relu(), b)(torch.tensor(x)).detach(), same.detach()]"
)
TWINS = "rng = np.random.default_rng(0)\na, b = Linear(3, 3, rng), Linear(3, 3, rng)\n[a.weight.detach(), b.weight.detach()]"
SPREAD = "Linear(100, 80, np.random.default_rng(0)).weight.detach()"


ZERO = MADE + "layer.bias.detach()"
SAME_START = (
    "def made(seed):\n    return Linear(4, 3, np.random.default_rng(seed)).weight.tolist()\n"
    "[made(seed), made(seed), made(seed + 1)]"
)
FEW_AND_MANY = (
    "rng = np.random.default_rng(0)\nfew, many = Linear(4, 90, rng), Linear(400, 90, rng)\n"
    "[few.weight.detach(), many.weight.detach()]"
)
NESTED = (
    TWO + "c = Linear(2, 1, rng)\nnet = Sequential(Sequential(a, Relu(), b), Relu(), Relu(), c)\nx = torch.tensor(x)\n"
    "same = c(torch.relu(b(torch.relu(a(x)))))\n[net(x).detach(), same.detach(), [list(p.shape) for p in net.parameters()]]"
)
REACHED = (
    TWO + "net = Sequential(a, Relu(), b)\nfor _ in range(2):\n    for p in net.parameters():\n        p.grad = None\n"
    "    net(torch.tensor(x)).sum().backward()\n[p.grad if p.grad is None else list(p.grad.shape) for p in net.parameters()]"
)


# What is looked at outside the student's process.


def plain(value: Any) -> Array:
    """The numbers of a tensor or list that came."""
    return np.asarray(getattr(value, "array", value), dtype=float)


def alike(a: Any, b: Any) -> bool:
    return bool((plain(a) == plain(b)).any())


def equal(a: Any, b: Any) -> bool:
    return plain(a).shape == plain(b).shape and bool(np.allclose(plain(a), plain(b), rtol=1e-12, atol=0.0))


def spread(w: Any) -> list[bool]:
    """Neither tiny nor large, of both signs, and different in each row."""
    w = plain(w)
    rows = len(w) > 1 and bool((w[0] != w[1]).any())
    return [bool(w.std() > 0.002), bool(w.std() < 0.4), bool(abs(w.mean()) < 0.03), rows]


def chained(pair: Any) -> list[bool]:
    """Whether both results are equal; and whether the first one is more than a relu of the second."""
    first, second = pair
    return [equal(first, second), equal(first, second) or not equal(first, np.maximum(plain(second), 0))]


def shrinks(pair: Any) -> list[bool]:
    """Smaller for many inputs than for few, and not too small."""
    few, many = (float(plain(w).std()) for w in pair)
    return [few > 1.5 * many, many > 0.005]


def probes_12_1(rng: np.random.Generator) -> Iterator[Probe]:
    w, b, x, v = numbers(rng, 2, 3), numbers(rng, 2), numbers(rng, 4, 3), numbers(rng, 4, 2)
    yield run(SHAPES).expect([[2, 3], [2]])
    yield run(ASKS, x=x, v=v).expect([v.T @ x, v.sum(axis=0)])
    yield run(KIND).expect([["float64", True], ["float64", True]])
    yield run(FILLED, w=w, b=b, x=x, v=v).expect([x @ w.T + b, v.T @ x, v.sum(axis=0)])
    yield run(TWINS).seen_as(lambda w: alike(*w)).expect(False)
    yield run(SPREAD).seen_as(spread).expect([True, True, True, True])
    yield run(STACK).expect([[4, 3], [4], [2, 4], [2]])
    yield run(CHAIN, x=x).seen_as(chained).expect([True, True])
    yield run(ZERO).expect(np.zeros(2))
    made = run(SAME_START, seed=int(rng.integers(1000)))
    yield made.seen_as(lambda w: [equal(w[0], w[1]), equal(w[0], w[2])]).expect([True, False])
    yield run(FEW_AND_MANY).seen_as(shrinks).expect([True, True])
    yield run(REACHED, x=x).expect([[4, 3], [4], [2, 4], [2]])
    yield (
        run(NESTED, x=x)
        .seen_as(lambda y: [equal(y[0], y[1]), y[2]])
        .expect([True, [[4, 3], [4], [2, 4], [2], [1, 2], [1]]])
    )


NO_GRADIENT = "requires no gradient: requires_grad=True is missing"
SHORT = "has another dtype than float64, which nine digits need: name the dtype where the tensor is made"


def faults(got: Any) -> dict[str, str]:
    """What is wrong with the dtypes and the gradients of weight and bias."""
    said = [", and it ".join([NO_GRADIENT] * (not asks) + [SHORT] * (name != "float64")) for name, asks in got]
    both = {"Each of weight and bias": said[0]} if said[0] and said[0] == said[1] else {}
    return both or {which: words for which, words in zip(("The weight", "The bias"), said, strict=True) if words}


def likely_12_1(probe: Probe) -> dict[str, Any]:
    """Tests of shapes and numbers that show a likely mistake."""
    if probe.code == SHAPES:
        return {
            "The weight has one axis. It needs one number for each output and each input: (n_out, n_in).":
                lambda got: len(got[0]) == 1 and len(got) == 2,
            "The bias has one axis too many. Its shape is (n_out,), one number for each output.":
                lambda got: got[0] == [2, 3] and len(got[1]) == 2,
            "The bias has one number for each *input*. Its shape is (n_out,).": lambda got: got == [[2, 3], [3]],
            "parameters() of Linear gives more than the weight and the bias, each once.": lambda got: len(got) > 2,
            "The bias is one number for all outputs. Its shape is (n_out,).": lambda got: got in ([[2, 3], [1]], [[2, 3], []]),
            "parameters() of Linear names only the bias. The optimiser is never given the weight.": lambda got: got == [[2]],
        }  # fmt: skip
    if probe.code == KIND:
        return {
            f"{which} {what}.": lambda got, which=which, what=what: faults(got).get(which) == what
            for which in ("The weight", "The bias", "Each of weight and bias")
            for what in (NO_GRADIENT, SHORT, f"{NO_GRADIENT}, and it {SHORT}")
        }
    if probe.code == SPREAD:
        return {
            "All rows of the weight are the same, so all units compute and learn the same. Draw n_out * n_in numbers.":
                lambda got: got == [True, True, True, False],
            "The weights are all of one sign, or not around 0. Draw them from an interval like (-a, a).":
                lambda got: got == [True, True, False, True],
        }  # fmt: skip
    if probe.code == TWINS:
        return {"Two layers share some of their weights. Draw each weight anew, from a continuous range: rng.uniform or "
                "rng.normal.": lambda got: got is True}  # fmt: skip
    if probe.code == CHAIN:
        return {
            "The layer with 4 inputs gets x itself, which has 3 columns. Each layer gets the result of the one before it, from "
            "the first to the last.": re.compile(r"\(4x3 and 4x2\)"),
            "Relu is applied to the result of the last layer as well. Sequential applies its layers, and nothing else.":
                lambda got: got == [False, False],
            "The net gives another result than its layers, called one after the other. Is each layer applied, and does a layer "
            "give the same result when it is called again?": lambda got: got == [False, True],
        }  # fmt: skip
    if probe.code == REACHED:
        return {
            "The weights get no gradient, though the biases do. Does self.weight require one, and does the layer compute with "
            "this very tensor, and not with a copy, an array, or what detach() gives?":
                lambda got: got == [None, [4], None, [2]],
            "The biases get no gradient, though the weights do. Does self.bias require one, and does the layer add this very "
            "tensor?": lambda got: got == [[4, 3], None, [2, 4], None],
        }  # fmt: skip
    if probe.code == STACK:
        return {
            "Each parameter is named twice, so an optimiser would move it twice.":
                lambda got: len(got) == 8 and sorted(got) == sorted(2 * [[4, 3], [4], [2, 4], [2]]),
            "Sequential names the parameters of its last layer only.": lambda got: got == [[2, 4], [2]],
            "The parameters have another order here. They come layer by layer: weight, bias, weight, bias.":
                lambda got: sorted(got) == [[2], [2, 4], [4], [4, 3]] and got != [[4, 3], [4], [2, 4], [2]],
            "Sequential names the weights only. Its layers return the biases, too.": lambda got: got == [[4, 3], [2, 4]],
        }  # fmt: skip
    if probe.code == ZERO:
        return {"The bias does not start at zero.": lambda got: plain(got).shape == (2,) and plain(got).any()}
    if probe.code == FILLED:
        w, b, x = (np.asarray(probe.data[name]) for name in "wbx")
        y = x @ w.T + b
        layers = {
            "Linear applies relu to its result. Relu is a layer of its own.": np.maximum(y, 0),
            "Linear applies tanh to its result. It computes the weighted sums and adds the bias, and nothing else.": np.tanh(
                y
            ),
            "The bias is subtracted. Add it.": y - 2 * b,
            "The bias is added twice.": y + b,
            "Linear multiplies by the bias. Add it.": x @ w.T * b,
        }
        return {words: lambda got, made=made: equal(got[0], made) for words, made in layers.items()}
    return {}


# --- 12.2 the optimiser --------------------------------------------------------------------------------

DESCENT = (
    "p, q = torch.tensor(p, requires_grad=True), torch.tensor([1.0], requires_grad=True)\n"
    "optimizer = SGD([p, q], lr, momentum)\nfor _ in range(4):\n    optimizer.zero_grad()\n"
    "    (p * p * torch.tensor(c)).sum().backward()\n    optimizer.step()\n[p.detach(), q.detach()]"
)
PLAIN = (
    "p = torch.tensor(p, requires_grad=True)\noptimizer = SGD([p], lr=0.1)\n"
    "(p * torch.tensor(c)).sum().backward()\noptimizer.step()\noptimizer.step()\np.detach()"
)
CLEARED = (
    "p = torch.tensor(p, requires_grad=True)\noptimizer = SGD([p], lr=0.1)\n(5 * p).sum().backward()\n"
    "optimizer.zero_grad()\n(p * torch.tensor(c)).sum().backward()\np.grad"
)


TWO_MOVE = (
    "p, q = torch.tensor(p, requires_grad=True), torch.tensor(q, requires_grad=True)\n"
    "optimizer = SGD(iter([p, q]), lr=0.1, momentum=0.5)\nfor _ in range(2):\n    optimizer.zero_grad()\n"
    "    (p * torch.tensor(c) + 3 * q).sum().backward()\n    optimizer.step()\n[p.detach(), q.detach(), p.grad]"
)
PAUSE = (
    "p = torch.tensor(p, requires_grad=True)\noptimizer = SGD([p], lr=0.1, momentum=0.5)\n"
    "(p * torch.tensor(c)).sum().backward()\noptimizer.step()\noptimizer.zero_grad()\noptimizer.step()\n"
    "rested = p.detach().clone()\n(p * torch.tensor(c)).sum().backward()\noptimizer.step()\n[rested, p.detach()]"
)
NONE_FIRST = (
    "q, p = torch.tensor([1.0, 1.0], requires_grad=True), torch.tensor(p, requires_grad=True)\n"
    "optimizer = SGD([q, p], lr=0.25, momentum=0.5)\n(3 * q).sum().backward()\noptimizer.step()\nq.grad = None\n"
    "(p * torch.tensor(c)).sum().backward()\noptimizer.step()\n[q.detach(), p.detach()]"
)
ZERO_GRADIENT = (
    "p = torch.tensor(p, requires_grad=True)\noptimizer = SGD([p], lr=0.1, momentum=0.5)\n"
    "(p * torch.tensor(c)).sum().backward()\noptimizer.step()\noptimizer.zero_grad()\n(p * 0.0).sum().backward()\n"
    "optimizer.step()\np.detach()  # the second gradient is 0, the velocity is not"
)
BY_ITSELF = (
    "p = torch.tensor(p, requires_grad=True)\noptimizer = SGD([p], lr=0.1)\n(p * torch.tensor(c)).sum().backward()\n"
    "with own_work():\n    optimizer.step()\np.detach()"
)


def rolled(p: Array, c: Array, lr: float, momentum: float) -> list[Any]:
    """Four steps, by hand."""
    p, v = p.copy(), np.zeros_like(p)
    for _ in range(4):
        v = momentum * v + 2 * p * c
        p = p - lr * v
    return [p, np.array([1.0])]


def probes_12_2(rng: np.random.Generator) -> Iterator[Probe]:
    p, c = numbers(rng, 3), np.abs(numbers(rng, 3))
    yield run(PLAIN, p=p, c=c).expect(p - 0.2 * c)
    yield run(CLEARED, p=p, c=c).expect(c)
    yield run(DESCENT, p=p, c=c, lr=0.1, momentum=0.0).expect(rolled(p, c, 0.1, 0.0))
    yield run(DESCENT, p=p, c=c, lr=0.05, momentum=0.9).expect(rolled(p, c, 0.05, 0.9))
    yield run(TWO_MOVE, p=p, q=c - 1, c=c).expect([p - 0.25 * c, c - 1 - 0.75, c])
    yield run(PAUSE, p=p, c=c).expect([p - 0.1 * c, p - 0.25 * c])
    yield run(BY_ITSELF, p=p, c=c).expect(p - 0.1 * c)
    yield run(NONE_FIRST, p=p, c=c).expect([np.full(2, 0.25), p - 0.25 * c])
    yield run(ZERO_GRADIENT, p=p, c=c).expect(p - 0.1 * c - 0.05 * c)


def likely_12_2(probe: Probe) -> dict[str, Any]:
    """Parameters and gradients after a likely mistake, by what to say about it."""
    p, c, code = *(np.asarray(probe.data[name]) for name in "pc"), probe.code
    lr, momentum = probe.data.get("lr", 0.1), probe.data.get("momentum", 0.0)
    steps = {PLAIN: 2, DESCENT: 4, BY_ITSELF: 1}

    def moved(rate: float, fade: float, slope: Callable[[Array], Any] | None = None) -> Any:
        """Where steps lead, on a straight slope or down p * p * c."""
        now, v = p.copy(), np.zeros_like(p)
        for _ in range(steps[code]):
            gradient = 2 * now * c if code == DESCENT else c
            v = fade * v + (gradient if slope is None else slope(np.stack([now, gradient])))
            now = now - rate * v
        return [now, np.array([1.0])] if code == DESCENT else now

    found: dict[str, Any] = {}
    if code == CLEARED:
        found["zero_grad does not clear p.grad: the gradient of the first pass is still part of the second one."] = (
            c + 5.0
        )
    if code == TWO_MOVE:
        q = c - 1
        found["zero_grad clears the gradient of the first parameter only."] = [p - 0.25 * c, q - 1.05, c]
        found["zero_grad clears the gradient of the last parameter only."] = [p - 0.35 * c, q - 0.75, 2 * c]
    if code == PAUSE:
        found["The velocity of a parameter without a gradient fades here. Skip such a parameter altogether."] = [
            p - 0.1 * c, p - 0.225 * c]  # fmt: skip
    if code in steps:
        for words, rate, fade in (
            ("The learning rate is not used. The step is lr times the velocity.", 1.0, momentum),
            ("lr and momentum have changed places: lr multiplies the step, momentum the old velocity.", momentum, lr),
            ("The old velocity is added without its factor, momentum.", lr, 1.0),
            ("You divide by the learning rate. It is a factor.", 1 / lr, momentum),
            ("The factor of the old velocity is 1 - momentum here. It is momentum.", lr, 1 - momentum),
            ("The factor of the old velocity is lr here. It is momentum.", lr, lr),
            ("The learning rate is squared: it is a factor twice.", lr * lr, momentum),
            *((f"The momentum is written as {m:g} in your code. Use the one that the optimiser was made with.", lr, m)
              for m in (0.5, 0.8, 0.9, 0.95, 0.99)),
            *((f"The learning rate is written as {r:g} in your code. Use the one that the optimiser was made with.", r,
               momentum) for r in (0.001, 0.01, 0.1, 0.5)),
        ):  # fmt: skip
            if (rate, fade) != (lr, momentum):
                found[words] = moved(rate, fade)
        for words, slope in (
            ("The velocity adds up the parameters themselves. It adds up their gradients.", lambda both: both[0]),
            ("The gradient is summed to one number. Each entry moves by its own.", lambda both: both[1].sum()),
            ("The gradient is averaged to one number. Each entry moves by its own.", lambda both: both[1].mean()),
            ("Only the sign of the gradient is used.", lambda both: np.sign(both[1])),
            ("The gradient is divided by its norm. Use it as it is.", lambda both: both[1] / np.linalg.norm(both[1])),
        ):
            found[words] = moved(lr, momentum, slope)
        found["momentum is the factor of the gradient here. It is the factor of the old velocity."] = moved(
            lr, 1.0, lambda both: momentum * both[1]
        )
        found["momentum multiplies the parameter here. It is the factor of the old velocity."] = moved(
            lr, 0.0, lambda both: momentum * both[0] + both[1]
        )
    return found


# --- 12.3 what is learned on, and what is asked --------------------------------------------------------


def by_list(name: str, *given: Any) -> Any:
    """The split and the score, one example at a time."""
    if name == "accuracy":
        scores, labels = given
        right = [max(range(len(row)), key=row.tolist().__getitem__) == int(t) for row, t in zip(scores, labels)]
        return sum(right) / len(right)
    images, labels, seed = given
    order = list(np.random.default_rng(seed).permutation(len(images)))
    cut = len(order) * 4 // 5
    rows = [[float(v) / 16 for v in images[i].ravel()] for i in order]
    picked = [int(labels[i]) for i in order]
    return np.array(rows[:cut]), np.array(picked[:cut]), np.array(rows[cut:]), np.array(picked[cut:])


def probes_12_3(rng: np.random.Generator) -> Iterator[Probe]:
    images = rng.integers(0, 17, (10, 2, 2)).astype(np.uint8)
    yield call(images, np.arange(10), 3).of("split")
    yield call(rng.integers(0, 13, (15, 3, 2)).astype(np.uint8), rng.permutation(15), 7).of("split")
    yield (
        call(
            np.array([[2.0, 1.0, 0.1], [-0.3, -1.2, -0.1], [1.0, 0.3, 0.1], [0.4, 0.5, 0.2], [3.0, 4.0, 5.0]]),
            np.array([0, 2, 1, 1, 2]),
        )
        .of("accuracy")
        .show()
    )
    yield call(numbers(rng, 6, 3), np.array([0, 1, 2, 0, 1, 1])).of("accuracy")
    yield call(np.array([[1000.0, 2000.0], [-3000.0, -1000.0], [800.0, -800.0]]), np.array([1, 1, 0])).of("accuracy")
    yield call(rng.integers(0, 17, (5, 8, 8)).astype(np.uint8), np.array([3, 1, 4, 1, 5]), 2).of("split")


def the_split(images: Any, labels: Any, seed: Any) -> Any:
    order = np.random.default_rng(seed).permutation(len(images))
    x, y, cut = images.reshape(len(images), -1)[order] / 16, labels[order], len(images) * 4 // 5
    return x[:cut], y[:cut], x[cut:], y[cut:]


def likely_12_3(probe: Probe) -> dict[str, Any]:
    """Tests of an accuracy, and of the four parts of a split."""
    if probe.name == "accuracy":
        return {"An accuracy is between 0 and 1. Count the rows that are right, and divide by the number of rows.":
                lambda got: plain(got).ndim == 0 and not 0 <= float(plain(got)) <= 1,
                "This is one truth value for all rows. Count the rows that are right, and divide by the number of rows.":
                lambda got: isinstance(got, bool | np.bool_)}  # fmt: skip
    images, labels, seed = probe.args
    n, rows, cut = len(images), images.reshape(len(images), -1) / 16, len(images) * 4 // 5
    right = the_split(images, labels, seed)
    pairs = sorted((*row, float(label)) for row, label in zip(rows.tolist(), labels, strict=True))

    def parts(got: Any) -> tuple[Array, Array, Array, Array]:
        x, y, x2, y2 = map(plain, got)
        return x, y, x2, y2

    def whole(got: Any) -> bool:
        """All rows and labels, cut at the right place."""
        x, y, x2, y2 = parts(got)
        return [len(each) for each in (x, y, x2, y2)] == [cut, cut, n - cut, n - cut] and sorted(
            np.concatenate([x, x2]).tolist()) == sorted(rows.tolist()) and bool(
            np.array_equal(np.sort(np.concatenate([y, y2])), np.sort(labels)))  # fmt: skip

    def together(got: Any) -> list[Any]:
        x, y, x2, y2 = parts(got)
        return sorted((*row, float(label)) for row, label in zip([*x.tolist(), *x2.tolist()], [*y, *y2], strict=True))

    def counted(got: Any) -> list[int]:
        return [len(each) for each in parts(got)]

    def factor(got: Any) -> float:
        x = parts(got)[0]
        return float(x.sum() / right[0].sum()) if x.shape == right[0].shape and right[0].any() else 0.0

    return {
        "The first part holds the *last* four fifths of the shuffled rows. It begins with the first of them.":
            lambda got: whole(got) and equal(parts(got)[0], np.concatenate([right[0], right[2]])[n - cut :]),
        "The images are cut before they are shuffled, so the last part is always the end of the file. Shuffle first.":
            lambda got: whole(got) and together(got) == pairs and (
                sorted(parts(got)[0].tolist()) == sorted(rows[:cut].tolist())),
        "Some images occur twice and others not at all. A permutation has each index once.":
            lambda got: counted(got) == [cut, cut, n - cut, n - cut] and together(got) != pairs
            and all(each in pairs for each in together(got)),
        "Images and labels have different orders, so an image has the label of another one. Use one permutation for both.":
            lambda got: whole(got) and together(got) != pairs,
        "The rows are all there, each with its label, but in another order. The exercise asks for "
        "np.random.default_rng(seed).permutation(len(images)), used as an index.":
            lambda got: whole(got) and not equal(parts(got)[0], right[0]),
        "Each image has to become one row: an array with two axes, (images, pixels).":
            lambda got: any(each.ndim != 2 for each in parts(got)[::2]),
        "The labels stay plain numbers, one for each image.": lambda got: any(each.ndim != 1 for each in parts(got)[1::2]),
        "Four arrays are asked for: x, y of the first part, then x, y of the rest.": lambda got: len(got) != 4,
        "x and y of a part have different lengths: each image needs its label.":
            lambda got: counted(got)[0] != counted(got)[1] or counted(got)[2] != counted(got)[3],
        "The second part holds all images, so the test uses the training images, too.": lambda got: counted(got)[2] == n,
        "The first part holds all images. It is the first four fifths.": lambda got: counted(got)[0] == n,
        "One image is in neither part, or in both: the second part begins where the first one ends.":
            lambda got: counted(got)[0] == cut and abs(counted(got)[2] - n + cut) == 1,
        "The two parts together do not hold each image once.": lambda got: counted(got)[0] + counted(got)[2] != n,
        "The first part is not four fifths of the images, rounded down.": lambda got: counted(got)[0] != cut,
        "The pixels of several images are mixed: each row has to hold those of one image. reshape(len(images), -1) does that.":
            lambda got: counted(got) == counted(right) and equal(
                np.sort(np.concatenate([parts(got)[0], parts(got)[2]]), axis=None), np.sort(rows, axis=None)
            ) and sorted(np.concatenate([parts(got)[0], parts(got)[2]]).tolist()) != sorted(rows.tolist()) and (
                together(got) != pairs) and len({tuple(row) for row in rows.tolist()} & {
                    tuple(row) for row in parts(got)[0].tolist()}) == 0,
        "Some pixels are negative. Divide by 16, and subtract nothing.":
            lambda got: parts(got)[0].size > 0 and parts(got)[0].min() < 0,
        "The pixels are divided by the wrong number. They run from 0 to 16 and have to run from 0 to 1.":
            lambda got: factor(got) > 0 and factor(got) != 1 and bool(
                np.allclose(parts(got)[0], factor(got) * right[0], rtol=1e-9)),
        "// drops the fraction of each pixel, so nearly all become 0. Use /.":
            lambda got: equal(parts(got)[0], np.floor(right[0])),
    }  # fmt: skip


# --- 12.4 the loop, step by step with PyTorch ----------------------------------------------------------

LOSS = (
    "scores = torch.tensor(scores, requires_grad=True)\nloss = cross_entropy(scores, torch.tensor(labels))\n"
    "(10 * loss).backward()\n[loss.item(), scores.grad]"
)
LOOP = (
    "net = Net(x.shape[1], 5, 3)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.2, momentum=0.5)\n"
    "train(net, optimizer, torch.tensor(x), torch.tensor(labels), batch=4, epochs=2)"
)
AFTERWARDS = LOOP + "\n[p.detach() for p in net.parameters()]"
OWN_LOSS = "with own_work():\n    loss = cross_entropy(torch.tensor(scores), torch.tensor(labels))\nloss.item()"
TWENTY = (
    "net = Net(64, 16, 10)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)\n"
    "train(net, optimizer, torch.tensor(images / 16), torch.tensor(labels), batch=8, epochs=4)"
)
FIRST = (
    "net = Net(64, 16, 10)\ncross_entropy(net(torch.tensor(images / 16)), torch.tensor(labels)).backward()\n"
    "[float((p.grad * p.grad).sum()) for p in net.parameters()]"
)
# PyTorch 2.13.0, CPU, float64: the programs TWENTY and FIRST on the first forty digits of the file.
TWENTY_LOSSES: list[float] = [
    2.281595327309435,
    2.369311440033578,
    2.1777541946963668,
    2.256684555375801,
    2.361024847962045,
    2.027390676632998,
    2.0604686725830077,
    1.9615809797236663,
    2.0341961264531117,
    1.7713895207173997,
    1.8498745104644203,
    1.7742717387955274,
    1.7572019450136793,
    1.6437221644187536,
    1.0880375716399235,
    1.6029810551380856,
    1.390961795805981,
    1.4406060870148591,
    1.2556642415824821,
    0.6291617489873197,
]
FIRST_GRADIENTS: list[float] = [0.21288072887145787, 0.010903539743353789, 0.07308581051737685, 0.013818973647650359]


def forty() -> dict[str, Array]:
    """The first forty digits."""
    with np.load(DIGITS) as file:
        return {"images": file["images"][:40].reshape(40, 64), "labels": file["labels"][:40].astype(np.int64)}


def start(*shape: int) -> Array:
    return np.sin(1.0 + np.arange(np.prod(shape, dtype=int))).reshape(shape) / 4


def by_hand(x: Array, labels: Array, batch: int, epochs: int, lr: float, momentum: float, hidden: int, out: int) -> Any:
    """A training run with every gradient written out: its losses, and the last weights."""
    theta = [start(hidden, x.shape[1]), start(hidden), start(out, hidden), start(out)]
    speed, losses = [np.zeros_like(p) for p in theta], []
    for _ in range(epochs):
        for i in range(0, len(x), batch):
            a, t = x[i : i + batch], labels[i : i + batch]
            h = a @ theta[0].T + theta[1]
            z = np.maximum(h, 0) @ theta[2].T + theta[3]
            logs = z - np.logaddexp.reduce(z, axis=1)[:, None]
            losses.append(float(-np.mean([row[k] for row, k in zip(logs, t, strict=True)])))
            dz = (np.exp(logs) - np.eye(out)[t]) / len(t)
            dh = dz @ theta[2] * (h > 0)
            shares = [dh.T @ a, dh.sum(0), dz.T @ np.maximum(h, 0), dz.sum(0)]
            speed = [momentum * v + g for v, g in zip(speed, shares, strict=True)]
            theta = [p - lr * v for p, v in zip(theta, speed, strict=True)]
    return losses, theta


def likely_12_4(probe: Probe) -> dict[str, Any]:
    """Losses with a likely mistake, by what to say about it: of one batch, or of a whole run."""
    if probe.code == LOOP and probe.view is None:
        return likely_runs(np.asarray(probe.data["x"]), np.asarray(probe.data["labels"]), 4, 2)
    if probe.code == LOOP:
        return {"The losses are tensors, and each of them keeps the graph of its step in memory. Which method gives the "
                "number?": lambda got: got is False}  # fmt: skip
    if "scores" not in probe.data:
        return {}
    if probe.code == LOSS:
        z, t = np.asarray(probe.data["scores"]), np.asarray(probe.data["labels"])
        right = (np.logaddexp.reduce(z, axis=1) - z[np.arange(len(t)), t]).mean()
        slope = likely_gradients(10.0, z, t)["This is only the softmax. What does the term -z_t of the loss add?"]
        slope[np.arange(len(t)), t] -= 10 / len(t)
        return {"The loss has no path to the scores, so they get no gradient: it is made anew from plain numbers. Compute it "
                "with operations on tensors.": lambda got: got[1] is None,
                "The loss is right, but its gradient is not, because a part of the formula is detached from the graph.":
                    lambda got: equal(got[0], right) and got[1] is not None and (
                        not np.allclose(plain(got[1]), slope))}  # fmt: skip
    found = likely_losses(np.asarray(probe.data["scores"]), np.asarray(probe.data["labels"]))
    return {words.replace("targets", "labels"): loss for words, loss in found.items() if np.ndim(loss) == 0}


def likely_runs(x: Array, labels: Array, batch: int, epochs: int) -> dict[str, Any]:
    """Tests of the losses of a run: in which step they begin to differ."""
    right, _ = by_hand(x, labels, batch, epochs, 0.2, 0.5, 5, 3)
    singly = [by_hand(x[i : i + 1], labels[i : i + 1], 1, 1, 0.2, 0.5, 5, 3)[0][0] for i in range(len(x))]
    some = [sum(rows) / batch for rows in itertools.combinations(singly, batch)]
    return {
        "The entries are None. A loss stores no gradient of its own; append its number, loss.item().":
            lambda got: len(got) > 0 and all(each is None for each in got),
        "The entries are texts. Append the numbers themselves.": lambda got: all(isinstance(each, str) for each in got) and got,
        "This is a single number. Return the list of all losses.": lambda got: np.ndim(got) == 0,
        "The rows are not taken in order: the losses fit other batches. Each epoch takes rows 0 to batch - 1 first, and so on.":
            lambda got: len(got) == len(right) and bool(np.isclose(some, got[0]).any() and not np.isclose(got[0], right[0])),
        "The first loss is right, and the second is not. So the step between them is not, or the second batch: is zero_grad, "
        "backward, step called once each, and do both slices move on?":
            lambda got: len(got) == len(right) and bool(np.isclose(got[0], right[0]) and not np.isclose(got[1], right[1])),
    }  # fmt: skip


def no_tensors(losses: Any) -> bool:
    """Whether only numbers came."""
    return not any(hasattr(loss, "array") for loss in losses)


def probes_12_4(rng: np.random.Generator) -> Iterator[Probe]:
    z, t = numbers(rng, 4, 3), np.array([2, 0, 1, 1])
    logs = z - np.logaddexp.reduce(z, axis=1)[:, None]
    yield run(LOSS, scores=z, labels=t).expect([-logs[np.arange(4), t].mean(), 10 * (np.exp(logs) - np.eye(3)[t]) / 4])
    big = np.array([[900.0, 0.0], [0.0, 3.0]])
    yield run("cross_entropy(torch.tensor(scores), torch.tensor(labels)).item()", scores=big,
              labels=np.array([1, 1])).expect((900 + np.log1p(np.exp(-3.0))) / 2)  # fmt: skip
    x, labels = numbers(rng, 9, 2) / 2, rng.permutation(np.arange(9) % 3)
    losses, weights = by_hand(x, labels, 4, 2, 0.2, 0.5, 5, 3)
    yield run(LOOP, x=x, labels=labels).expect(losses)
    yield run(LOOP, x=x, labels=labels).seen_as(no_tensors).expect(True)
    yield run(AFTERWARDS, x=x, labels=labels).expect(weights)
    yield run(OWN_LOSS, scores=z, labels=t).expect(-logs[np.arange(4), t].mean())
    yield run(FIRST, **forty()).expect(FIRST_GRADIENTS)
    yield run(TWENTY, **forty()).expect(TWENTY_LOSSES)


LESSON = lesson(
    __file__,
    globals(),
    {
        "12.1": {"probes": probes_12_1, "prelude": PRELUDE, "likely": likely_12_1},
        "12.2": {"probes": probes_12_2, "prelude": PRELUDE, "likely": likely_12_2},
        "12.3": {"oracle": by_list, "probes": probes_12_3, "likely": likely_12_3},
        "12.4": {"probes": probes_12_4, "prelude": PRELUDE, "likely": likely_12_4},
    },
)
