"""Lesson 12: layers, an optimiser, a loss and a training loop of one's own, on 1,797 handwritten digits.

The training loop is judged by its first twenty losses, not by its accuracy: they have to be those of
PyTorch from the same start, in float64. They are recorded below; a slow test records them again and compares. The
smaller probes are answered by a training run written in numpy with its gradients by hand.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as torch  # noqa: F401 (the answers of the text use it)

from ..exercise import OFF, Probe, call, numbers, run
from ..lesson_text import lesson

Array = np.ndarray[Any, Any]
DIGITS = Path(__file__).resolve().parents[1] / "data" / "digits.npz"
OWN_ENGINE = """
import numpy as np
from my_engine import Tensor
class Relu:
    def __call__(self, x):
        return x.relu()
    def parameters(self):
        return []
"""
PRELUDE = OFF + """
import numpy as np
import minigrad as torch
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
def own_work():
    F, made = torch.nn.functional, off("the library's own is switched off here")
    if globals().get("cross_entropy") is F.cross_entropy:
        made.refuse()
    return off(made.says, (F, "cross_entropy"), (F, "nll_loss"), (torch.nn.CrossEntropyLoss, "forward"),
               (torch.nn.NLLLoss, "forward"))
"""


def Tensor(data: Any) -> Any:
    """A tensor of the student's engine, which the process that runs an answer has."""
    from my_engine import Tensor as made  # type: ignore[import-not-found]

    return made(data)


# --- 12.1 layers ---------------------------------------------------------------------------------------

MADE = "layer = Linear(3, 2, np.random.default_rng(0))\n"
SHAPES = MADE + "[list(p.data.shape) for p in layer.parameters()]"
ASKS = MADE + 'layer(Tensor(x)).backward(v)\n[getattr(p, "grad", None) for p in (layer.weight, layer.bias)]'
FILLED = (
    MADE + "layer.weight.data, layer.bias.data = w, b\nlayer(Tensor(x)).backward(v)\n"
    "[layer(Tensor(x)).data, layer.weight.grad, layer.bias.grad]"
)
TWO = "rng = np.random.default_rng(0)\na, b = Linear(3, 4, rng), Linear(4, 2, rng)\n"
STACK = TWO + "[list(p.data.shape) for p in Sequential(a, Relu(), b).parameters()]"
CHAIN = TWO + "same = b(a(Tensor(x)).relu())\n[Sequential(a, Relu(), b)(Tensor(x)).data, same.data]"
TWINS = "rng = np.random.default_rng(seed)\na, b = Linear(3, 3, rng), Linear(3, 3, rng)\n[a.weight.data, b.weight.data]"
SPREAD = "Linear(100, 80, np.random.default_rng(seed)).weight.data"


ZERO = "layer = Linear(n_in, n_out, np.random.default_rng(seed))\nlayer.bias.data"
SAME_START = (
    "def made(seed):\n    return Linear(4, 3, np.random.default_rng(seed)).weight.data\n"
    "[made(seed), made(seed), made(seed + 1)]"
)
FEW_AND_MANY = (
    "rng = np.random.default_rng(seed)\nfew, many = Linear(4, 90, rng), Linear(400, 90, rng)\n"
    "[few.weight.data, many.weight.data]"
)
NESTED = (
    TWO + "c = Linear(2, 1, rng)\nnet = Sequential(Sequential(a, Relu(), b), Relu(), Relu(), c)\nx = Tensor(x)\n"
    "same = c(b(a(x).relu()).relu())\n[net(x).data, same.data, [list(p.data.shape) for p in net.parameters()]]"
)
REACHED = (
    TWO + "net = Sequential(a, Relu(), b)\nfor _ in range(2):\n    for p in net.parameters():\n        p.grad = 0.0\n"
    "    net(Tensor(x)).sum().backward()\n[list(np.shape(p.grad)) for p in net.parameters()]"
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
    """Neither tiny nor large, of both signs, and different in each column."""
    w = plain(w)
    columns = w.ndim == 2 and bool((w[:, :1] != w[:, 1:2]).any())
    return [bool(w.std() > 0.002), bool(w.std() < 0.4), bool(abs(w.mean()) < 0.03), columns]


def chained(pair: Any) -> list[bool]:
    """Whether both results are equal; and whether the first one is more than a relu of the second."""
    first, second = pair
    return [equal(first, second), equal(first, second) or not equal(first, np.maximum(plain(second), 0))]


def shrinks(pair: Any) -> list[bool]:
    """Smaller for many inputs than for few, and not too small."""
    few, many = (float(plain(w).std()) for w in pair)
    return [few > 1.5 * many, many > 0.005]


def probes_12_1(rng: np.random.Generator) -> Iterator[Probe]:
    w, b, x, v = numbers(rng, 3, 2), numbers(rng, 2), numbers(rng, 4, 3), numbers(rng, 4, 2)
    yield run(SHAPES).expect([[3, 2], [2]])
    yield run(ASKS, x=x, v=v).expect([x.T @ v, v.sum(axis=0)])
    yield run(FILLED, w=w, b=b, x=x, v=v).expect([x @ w + b, x.T @ v, v.sum(axis=0)])
    seed, (n_in, n_out) = int(rng.integers(1000)), rng.integers(2, 6, size=2).tolist()
    yield run(TWINS, seed=seed).seen_as(lambda w: alike(*w)).expect(False)
    yield run(SPREAD, seed=seed).seen_as(spread).expect([True, True, True, True])
    yield run(STACK).expect([[3, 4], [4], [4, 2], [2]])
    yield run(CHAIN, x=x).seen_as(chained).expect([True, True])
    yield run(ZERO, n_in=n_in, n_out=n_out, seed=seed).expect(np.zeros(n_out))
    made = run(SAME_START, seed=seed)
    yield made.seen_as(lambda w: [equal(w[0], w[1]), equal(w[0], w[2])]).expect([True, False])
    yield run(FEW_AND_MANY, seed=seed).seen_as(shrinks).expect([True, True])
    yield run(REACHED, x=x).expect([[3, 4], [4], [4, 2], [2]])
    nested = run(NESTED, x=x).seen_as(lambda y: [equal(y[0], y[1]), y[2]])
    yield nested.expect([True, [[3, 4], [4], [4, 2], [2], [2, 1], [1]]])


# --- 12.2 the optimiser --------------------------------------------------------------------------------

DESCENT = (
    "p, q = Tensor(p), Tensor([1.0])\noptimizer = SGD([p, q], lr, momentum)\nfor _ in range(4):\n"
    "    optimizer.zero_grad()\n    (p * p * Tensor(c)).sum().backward()\n    optimizer.step()\n[p.data, q.data]"
)
PLAIN = (
    "p = Tensor(p)\noptimizer = SGD([p], lr=0.1)\n(p * Tensor(c)).sum().backward()\n"
    "optimizer.step()\noptimizer.step()\np.data"
)
CLEARED = (
    "p = Tensor(p)\noptimizer = SGD([p], lr=0.1)\n(p * Tensor([5.0])).sum().backward()\n"
    "optimizer.zero_grad()\n(p * Tensor(c)).sum().backward()\np.grad"
)
TWO_MOVE = (
    "p, q = Tensor(p), Tensor(q)\noptimizer = SGD(iter([p, q]), lr=0.1, momentum=0.5)\nfor _ in range(2):\n"
    "    optimizer.zero_grad()\n    (p * Tensor(c) + q * Tensor([3.0])).sum().backward()\n    optimizer.step()\n"
    "[p.data, q.data, p.grad]"
)
FIRST_RESTS = (
    "q, p = Tensor([1.0, 1.0]), Tensor(p)\noptimizer = SGD([q, p], lr=0.25, momentum=0.5)\n"
    "(p * Tensor(c)).sum().backward()\noptimizer.step()\n[q.data, p.data]  # q got no gradient"
)
ZERO_GRADIENT = (
    "p = Tensor(p)\noptimizer = SGD([p], lr=0.1, momentum=0.5)\n(p * Tensor(c)).sum().backward()\n"
    "optimizer.step()\noptimizer.zero_grad()\noptimizer.step()\np.data  # the gradient is 0, the velocity is not"
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
    yield run(FIRST_RESTS, p=p, c=c).expect([np.ones(2), p - 0.25 * c])
    yield run(ZERO_GRADIENT, p=p, c=c).expect(p - 0.1 * c - 0.05 * c)


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
    more = rng.integers(0, 13, (16 + rng.integers(2), 3, 2)).astype(np.uint8)  # four fifths of it is no whole number
    for given in ((images, np.arange(10), 3), (more, rng.permutation(len(more)), 7)):
        yield call(*given).of("split").told_by(of_split(*given))
    scores = np.array([[2.0, 1.0, 0.1], [-0.3, -1.2, -0.1], [1.0, 0.3, 0.1], [0.4, 0.5, 0.2], [3.0, 4.0, 5.0]])
    yield call(scores, np.array([0, 2, 1, 1, 2])).of("accuracy").show()
    tied, places = numbers(rng, 6, 3), [[0, 1], [0, 2], [1, 2], [0, 1], [0, 2], [1, 2]]
    np.put_along_axis(tied, np.array(places), 4.5, axis=1)
    yield call(tied, np.array([place[n] for place, n in zip(places, rng.permutation([0, 0, 0, 1, 1, 1]))])).of("accuracy")
    yield call(np.array([[1000.0, 2000.0], [-3000.0, -1000.0], [800.0, -800.0]]), np.array([1, 1, 0])).of("accuracy")
    large = rng.integers(0, 17, (5, 8, 8)).astype(np.uint8), np.array([3, 1, 4, 1, 5]), 2
    yield call(*large).of("split").told_by(of_split(*large))
    close, off = numbers(rng, 6, 3) / 20, rng.permutation([0, 0, 0, 0, 1, 2])
    close[:, int(rng.integers(3))] = -0.25  # the largest without its sign, and no probability is above one half
    yield call(close, (close.argmax(axis=1) + off) % 3).of("accuracy")
    large = 1000 * (1 + np.abs(numbers(rng, 6, 3)))
    large[:, int(rng.integers(1, 3))] += 4000  # exp of each is inf, and the largest is not the first
    yield call(large, (large.argmax(axis=1) + off) % 3).of("accuracy")


def of_split(images: Array, labels: Array, seed: int) -> Callable[[Any], str]:
    """What is wrong with the four parts of a split, "" if nothing is seen."""
    n, rows, cut = len(images), images.reshape(len(images), -1) / 16, len(images) * 4 // 5
    order = np.random.default_rng(seed).permutation(n)
    pairs = sorted((*row, float(label)) for row, label in zip(rows.tolist(), labels, strict=True))

    def of_counts(got: Any) -> str:
        x, y, x2, y2 = map(len, got)
        if x != y or x2 != y2:
            return "x and y of a part have different lengths: each image needs its label."
        if n in (x, x2):
            which, share = ("first", "first four fifths") if x == n else ("second", "last fifth")
            return f"The {which} part holds all images. It is the {share}."
        if x + x2 != n:
            return "The two parts together do not hold each image once: the second part begins where the first one ends."
        return "The first part is not four fifths of the images, rounded down." if x != cut else ""

    def of_pixels(x: Array, whole: Array) -> str:
        if whole.min() < 0:
            return "Some pixels are negative. Divide by 16, and subtract nothing."
        if equal(x, np.floor(rows[order][:cut])):
            return "// drops the fraction of each pixel, so nearly all become 0. Use /."
        if whole.max() and np.allclose(np.sort(whole / whole.max(), axis=None), np.sort(rows / rows.max(), axis=None)):
            return "The pixels are divided by the wrong number. They run from 0 to 16 and have to run from 0 to 1."
        return ""

    def of_rows(x: Array, whole: Array, both: list[Any]) -> str:
        if sorted(whole.tolist()) != sorted(rows.tolist()):
            if all(each in pairs for each in both):
                return "Some images occur twice and others not at all. A permutation has each index once."
            if sorted(np.sort(whole).tolist()) == sorted(np.sort(rows).tolist()):
                return "Each row holds the pixels of one image, but in another order than reshape(len(images), -1) gives them."
            same = np.array_equal(np.sort(whole, axis=None), np.sort(rows, axis=None))
            mixed = "The pixels of several images are mixed: each row has to hold those of one image, as with " \
                    "reshape(len(images), -1)."
            return mixed if same else of_pixels(x, whole)
        if both != pairs:
            return "Images and labels have different orders, so an image has the label of another one. Use one permutation " \
                   "for both."
        if equal(x, rows[order][n - cut :]):
            return "The first part holds the *last* four fifths of the shuffled rows. It begins with the first of them."
        if sorted(x.tolist()) == sorted(rows[:cut].tolist()):
            return "The images are cut before they are shuffled, so the last part is always the end of the file. Shuffle first."
        return "The rows are all there, each with its label, but in another order. The exercise asks for " \
               "np.random.default_rng(seed).permutation(len(images)), used as an index." * (not equal(x, rows[order][:cut]))

    def words(got: Any) -> str:
        if len(got) != 4:
            return "Four arrays are asked for: x, y of the first part, then x, y of the rest."
        x, y, x2, y2 = map(plain, got)
        if x.ndim != 2 or x2.ndim != 2:
            return "Each image has to become one row: an array with two axes, (images, pixels)."
        if y.ndim != 1 or y2.ndim != 1:
            return "The labels stay plain numbers, one for each image."
        if said := of_counts((x, y, x2, y2)):
            return said
        whole = np.concatenate([x, x2])
        return of_rows(x, whole, sorted((*row, float(k)) for row, k in zip(whole.tolist(), [*y, *y2], strict=True)))

    return words


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
    2.281595327309435, 2.369311440033578, 2.1777541946963668, 2.256684555375801, 2.361024847962045,
    2.027390676632998, 2.0604686725830077, 1.9615809797236663, 2.0341961264531117, 1.7713895207173997,
    1.8498745104644203, 1.7742717387955274, 1.7572019450136793, 1.6437221644187536, 1.0880375716399235,
    1.6029810551380856, 1.390961795805981, 1.4406060870148591, 1.2556642415824821, 0.6291617489873197,
]  # fmt: skip
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


def in_which_step(x: Array, labels: Array, momentum: float) -> Callable[[Any], str]:
    """Where the losses of two epochs, in batches of four, begin to differ from the right ones; "" if nothing is seen."""
    right = by_hand(x, labels, 4, 2, 0.2, momentum, 5, 3)[0]
    singly = [by_hand(x[[i]], labels[[i]], 1, 1, 0.2, momentum, 5, 3)[0][0] for i in range(len(x))]
    others = [sum(rows) / 4 for rows in itertools.combinations(singly, 4)]

    def words(got: Any) -> str:
        if np.ndim(got) == 0:
            return "This is a single number. Return the list of all losses."
        if len(got) and {type(each) for each in got} <= {str, type(None)}:
            return "The entries are no numbers. Append the number of each loss."
        if len(got) != len(right):
            return ""
        agrees = np.isclose(got, right)
        if agrees[0] and np.allclose(got[:3], got[3:]):
            return "Each epoch has the same losses: the parameters do not move. Is each of them changed in place?"
        if not agrees[0] and np.isclose(others, got[0]).any():
            return "The rows are not taken in their order: the first loss is that of other rows than the first `batch` ones."
        return {
            1: "The first loss is right, and the second is not. So the step between them is not, or the second batch: is each "
               "gradient cleared, does each parameter move once, and do both slices move on?",
            2: "The first two losses are right, and the third is not. What is left of one step in the next? Is every gradient "
               "cleared?",
            3: "The losses of the first epoch are right, and then they are not. What is another in the second epoch?",
        }.get(int(agrees.argmin()), "")  # fmt: skip

    return words


def of_path(got: Any, right: float) -> str:
    """What is wrong with the path from the scores to the loss, "" if the loss itself is not right."""
    if got[1] is None:
        return "The loss has no path to the scores, so they get no gradient: it is made anew from plain numbers. Compute it " \
               "with operations on tensors."
    parted = "The loss is right, but its gradient is not, because a part of the formula is detached from the graph."
    return parted if np.isclose(got[0], right) else ""


def no_tensors(losses: Any) -> bool:
    """Whether only numbers came."""
    return not any(hasattr(loss, "array") for loss in losses)


def probes_12_4(rng: np.random.Generator) -> Iterator[Probe]:
    z, t = numbers(rng, 4, 3), np.array([2, 0, 1, 1])
    logs = z - np.logaddexp.reduce(z, axis=1)[:, None]
    loss, slope = -logs[np.arange(4), t].mean(), 10 * (np.exp(logs) - np.eye(3)[t]) / 4
    yield run(LOSS, scores=z, labels=t).told_by(lambda got: of_path(got, loss)).expect([loss, slope])
    big = np.array([[900.0, 0.0], [0.0, 3.0]])
    yield run("cross_entropy(torch.tensor(scores), torch.tensor(labels)).item()", scores=big,
              labels=np.array([1, 1])).expect((900 + np.log1p(np.exp(-3.0))) / 2)  # fmt: skip
    x, labels = numbers(rng, 9, 2) / 2, rng.permutation(np.arange(9) % 3)
    losses, weights = by_hand(x, labels, 4, 2, 0.2, 0.5, 5, 3)
    yield run(LOOP, x=x, labels=labels).told_by(in_which_step(x, labels, 0.5)).expect(losses)
    yield run(LOOP, x=x, labels=labels).seen_as(no_tensors).expect(True)
    yield run(AFTERWARDS, x=x, labels=labels).expect(weights)
    yield run(OWN_LOSS, scores=z, labels=t).expect(-logs[np.arange(4), t].mean())
    yield run(FIRST, **forty()).expect(FIRST_GRADIENTS)
    yield run(TWENTY, **forty()).expect(TWENTY_LOSSES)
    apart = np.array([[float(rng.integers(800, 1000)), 0.0], [0.0, 3.0]])  # exp(-800) is 0
    yield run("cross_entropy(torch.tensor(scores), torch.tensor(labels)).item()", scores=apart,
              labels=np.array([1, 1])).expect((apart[0, 0] + np.log1p(np.exp(-3.0))) / 2)  # fmt: skip


LESSON = lesson(
    __file__,
    globals(),
    {
        "12.1": {"probes": probes_12_1, "prelude": OWN_ENGINE},
        "12.2": {"probes": probes_12_2, "prelude": OWN_ENGINE},
        "12.3": {"oracle": by_list, "probes": probes_12_3},
        "12.4": {"probes": probes_12_4, "prelude": PRELUDE},
    },
)
