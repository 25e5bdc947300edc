"""Lesson 12: layers, an optimiser, a loss and a training loop of one's own, on 1,797 handwritten digits.

The training loop is judged by its first twenty losses, not by its accuracy: they have to be those of
PyTorch from the same start, in float64. They are recorded below; a slow test records them again and compares. The
smaller probes are answered by a training run written in numpy with its gradients by hand.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import minigrad as torch

from ..exercise import Exercise, Lesson, Probe, Wrong, call, function, numbers, prediction, program, run
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
    TWO + "same = b(torch.relu(a(torch.tensor(x))))\n[Sequential(a, Relu(), b)(torch.tensor(x)).detach(), same.detach()]"
)
TWINS = (
    "rng = np.random.default_rng(0)\na, b = Linear(3, 3, rng), Linear(3, 3, rng)\n[a.weight.detach(), b.weight.detach()]"
)
SPREAD = (
    "Linear(100, 80, np.random.default_rng(0)).weight.detach()"
)


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
    yield run(NESTED, x=x).seen_as(lambda y: [equal(y[0], y[1]), y[2]]).expect([True, [[4, 3], [4], [2, 4], [2], [1, 2], [1]]])


def every_parameter(net: Any) -> list[Any]:
    return [p for layer in net.layers for p in layer.parameters()]


def layers(
    weight: Callable[..., Any] = lambda rng, o, i: rng.uniform(-1, 1, (o, i)) / np.sqrt(i),
    apply: Callable[..., Any] = lambda s, x: x @ s.weight.T + s.bias,
    own: Callable[..., Any] = lambda s: [s.weight, s.bias],
    chain: Callable[..., Any] | None = None,
    all_of: Callable[..., Any] = every_parameter,
    bias: Callable[..., Any] = lambda o: torch.zeros(o, dtype=torch.float64, requires_grad=True),
) -> dict[str, Any]:
    """Linear and Sequential, with some of their parts exchanged."""

    class Linear:
        def __init__(self, n_in: int, n_out: int, rng: Any) -> None:
            self.weight = torch.tensor(weight(rng, n_out, n_in), requires_grad=True)
            self.bias = bias(n_out)

        def __call__(self, x: Any) -> Any:
            return apply(self, x)

        def parameters(self) -> Any:
            return own(self)

    class Sequential:
        def __init__(self, *layers: Any) -> None:
            self.layers = layers

        def __call__(self, x: Any) -> Any:
            if chain:
                return chain(self, x)
            for layer in self.layers:
                x = layer(x)
            return x

        def parameters(self) -> Any:
            return all_of(self)

    return {"Linear": Linear, "Sequential": Sequential}


def handed_out_once(layer: Any) -> Any:
    if not hasattr(layer, "rest"):
        layer.rest = iter([layer.weight, layer.bias])
    return layer.rest


def one_after_the_other(net: Any, x: Any) -> Any:
    return functools.reduce(lambda value, layer: layer(value), net.layers, x)


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
            "Linear applies tanh to its result. It computes the weighted sums and adds the bias, and nothing else.": np.tanh(y),
            "The bias is subtracted. Add it.": y - 2 * b,
            "The bias is added twice.": y + b,
            "Linear multiplies by the bias. Add it.": x @ w.T * b,
        }
        return {words: lambda got, made=made: equal(got[0], made) for words, made in layers.items()}
    return {}


EXERCISE_12_1 = program(
    "12.1", ("Linear", "Sequential"),
    why="An optimiser can train every layer that returns its parameters, and a start of size 1/√n keeps the numbers in range.",
    title="layers that know their parameters",
    minutes=14, prelude=PRELUDE, probes=probes_12_1, likely=likely_12_1,
    wrong=[
        Wrong(layers(own=lambda s: [s.weight]), "M54", "parameters() of Linear names only the weight. The bias gets a "
              "gradient, but the optimiser is never given the bias.", name="bias not found"),
        Wrong(layers(own=lambda s: [s.bias, s.weight]), "", "The bias comes first here. PyTorch names the weight first, "
              "and the optimiser stores its velocities in this order.", name="order"),
        Wrong(layers(lambda rng, o, i: np.random.default_rng(0).uniform(-1, 1, (o, i)) / np.sqrt(i)), "M40", "Two "
              "layers start with the same weights, because each makes a new generator. Which generator were you given?",
              name="own generator"),
        Wrong(layers(lambda rng, o, i: np.zeros((o, i))), "M40", "All weights start at 0, so the gradient of the "
              "layer's input is 0 and nothing before it can learn.", name="zeros"),
        Wrong(layers(lambda rng, o, i: np.ones((o, i))), "M40", "All weights start at 1, so all units compute the same and "
              "learn the same.",
              name="ones"),
        Wrong(layers(lambda rng, o, i: rng.normal(size=(o, i))), "M40", "The weights are random but too large: their size "
              "should shrink "
              "as the number of inputs grows.", name="large"),
        Wrong(layers(apply=lambda s, x: x @ s.weight.T), "", "The bias is not added to the output.", name="no bias"),
        Wrong(layers(lambda rng, o, i: rng.uniform(-1, 1, (i, o)) / np.sqrt(i), lambda s, x: x @ s.weight + s.bias),
              "M42", "The weight is transposed. PyTorch's weight has one *row* for each output.", name="transposed"),
        Wrong(layers(lambda rng, o, i: (rng.uniform(-1, 1, (o, i)) / np.sqrt(i)).astype(np.float32)), "M40",
              "The weight is float32. To match PyTorch to nine digits you need float64.", name="float32"),
        Wrong(layers(bias=lambda o: torch.zeros(o, dtype=torch.float64)), "M54", "The bias gets no gradient. Does "
              "self.bias require one, and does the layer add this very tensor?", name="bias requires none"),
        Wrong(layers(all_of=lambda s: list(s.layers[0].parameters())), "M54", "Sequential names the parameters of its "
              "first layer only.", name="first only"),
        Wrong(layers(all_of=lambda s: [layer.parameters() for layer in s.layers]), "", "Sequential returns a list of "
              "lists. An optimiser needs one flat list of tensors.", name="nested"),
        Wrong(layers(chain=lambda s, x: [layer(x) for layer in s.layers[:1]][-1]), "", "Sequential does not apply all of "
              "its layers. Each one gets the result of the one before, up to the last.", name="stops"),
        Wrong(layers(chain=lambda s, x: s.layers[2](s.layers[0](x))), "", "A layer without parameters was skipped, but it "
              "still has to be applied.", name="skips relu"),
        Wrong(layers(bias=lambda o: torch.tensor(np.cos(np.arange(o)), requires_grad=True)), "M40", "The bias does not start "
              "at zero. The units differ already, because their weights are random.", name="random bias"),
        Wrong(layers(lambda rng, o, i: np.random.uniform(-1, 1, (o, i)) / np.sqrt(i)), "M40", "The numbers do not come from "
              "the argument `rng`, so the same seed gives a different layer. Which object's method should you call?",
              name="global generator"),
        Wrong(layers(lambda rng, o, i: rng.uniform(-0.1, 0.1, (o, i))), "M40", "The weights have the same size for 4 inputs "
              "as for 400. A sum of more terms is larger. How should the size of the weights depend on the number of "
              "inputs?", name="one size"),
        Wrong(layers(lambda rng, o, i: rng.uniform(-1, 1, (o, i)) / i), "M40", "The weights are too small for many inputs: "
              "400 terms of random sign add up to about 20 times the size of one. Which factor undoes that?", name="one over "
              "n"),
        Wrong(layers(lambda rng, o, i: rng.uniform(0, 1, (o, i)) / np.sqrt(i)), "M40", "All weights are positive, so every "
              "unit "
              "starts with nearly the same sum. Draw numbers of both signs.", name="positive"),
        Wrong(layers(chain=lambda s, x: functools.reduce(lambda value, layer: layer(value.detach()), s.layers, x)), "M12",
              "The values are right, but no gradient gets past a layer, because a detach cuts the graph before it.",
              name="cut"),
        Wrong(layers(all_of=lambda s: [p for layer in s.layers if hasattr(layer, "weight") for p in layer.parameters()]),
              "M54", "Only layers with a `weight` are asked. A Sequential inside a Sequential owns parameters, too: call "
              "parameters() of every layer.", name="Linear only"),
        Wrong(layers(chain=lambda s, x: one_after_the_other(s, x) if len(s.layers) < 4 else s.layers[2](s.layers[1](
            s.layers[0](x)))), "", "A fourth layer is never applied. Sequential takes any number of layers.", name="three "
                "layers"),
        Wrong(layers(own=lambda s: [s.weight.detach().clone().requires_grad_(), s.bias.detach().clone().requires_grad_()]),
              "M17", "parameters() returns new tensors. An optimiser would use these, and never see the gradients of the "
              "layer's own.",
              name="copies"),
        Wrong(layers(own=handed_out_once), "", "parameters() returns the tensors only once, and the second call gives nothing. "
              "It has to work each time it is called.", name="only once"),
    ],
    alternatives=[
        layers(),
        layers(lambda rng, o, i: rng.normal(0, i**-0.5, (o, i)), lambda s, x: s.bias + torch.matmul(x, s.weight.t()),
               all_of=lambda s: tuple(itertools.chain(*(layer.parameters() for layer in s.layers)))),
        layers(lambda rng, o, i: rng.standard_normal((o, i)) * (2 / (i + o)) ** 0.5,
               lambda s, x: torch.nn.functional.linear(x, s.weight, s.bias), lambda s: iter((s.weight, s.bias)),
               one_after_the_other, lambda s: itertools.chain.from_iterable(layer.parameters() for layer in s.layers),
               lambda o: torch.tensor([0.0] * o, dtype=torch.float64, requires_grad=True)),
    ],
    hints=["A layer owns two tensors and returns them in a list. The list of a Sequential joins the lists of its layers.",
           "A layer of 5 inputs and 7 outputs: weight (7, 5), bias (7,), and x (n, 5) gives (n, 7).",
           "Make the weight with torch.tensor(numbers, requires_grad=True), where rng gives the numbers. The output is x times "
           "the transposed weight, plus the bias."],
    worked="weight: torch.tensor(rng.uniform(-1, 1, (n_out, n_in)) / n_in**0.5, requires_grad=True). Sequential: a loop "
           "in __call__, and [p for layer in self.layers for p in layer.parameters()].",
)  # fmt: skip

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


def optimiser(
    velocity: Callable[..., Any] = lambda mu, v, g, lr: mu * v + g,
    move: Callable[..., Any] = lambda p, lr, v: p.sub_(lr * v),
    skip: bool = True, keep: bool = True, clear: bool = True, shared: bool = False, coasts: bool = False,
    nesterov: bool = False, stops: bool = False, idle: bool = False, zeros: bool = False,
) -> type:  # fmt: skip
    """SGD with some of its parts exchanged."""

    class SGD:
        def __init__(self, parameters: Any, lr: float, momentum: float = 0.0) -> None:
            self.parameters, self.lr, self.momentum = list(parameters), lr, momentum
            self.velocities: list[Any] = [0.0 for _ in self.parameters]

        def step(self) -> None:
            with torch.no_grad():
                for i, p in enumerate(self.parameters):
                    if stops and p.grad is None:
                        return
                    if skip and not coasts and (p.grad is None or (idle and not p.grad.any())):
                        continue
                    i = 0 if shared else i
                    g = torch.zeros_like(p) if coasts and p.grad is None else p.grad
                    v = velocity(self.momentum, self.velocities[i], g, self.lr)
                    if keep:
                        self.velocities[i] = v
                    move(p, self.lr, g + self.momentum * v if nesterov else v)

        def zero_grad(self) -> None:
            for p in self.parameters:
                if clear:
                    p.grad = torch.zeros_like(p) if zeros else None

    return SGD


class LibrarySGD(torch.optim.SGD):
    """What a student gets who hands the work on."""


class WithBuffers:
    """A right one of another build: velocities in a dict, written in place."""

    def __init__(self, parameters: Any, lr: float, momentum: float = 0.0) -> None:
        self.speed = {p: torch.zeros_like(p) for p in parameters}
        self.rate, self.fade = lr, momentum

    def step(self) -> None:
        for p, v in self.speed.items():
            if p.grad is not None:
                v.mul_(self.fade).add_(p.grad)
                p.data -= self.rate * v

    def zero_grad(self) -> None:
        for p in self.speed:
            p.grad = None


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
        found["zero_grad does not clear p.grad: the gradient of the first pass is still part of the second one."] = c + 5.0
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
            lr, 1.0, lambda both: momentum * both[1])
        found["momentum multiplies the parameter here. It is the factor of the old velocity."] = moved(
            lr, 0.0, lambda both: momentum * both[0] + both[1])
    return found


EXERCISE_12_2 = program(
    "12.2", ("SGD.step", "SGD.zero_grad"),
    why="The velocity adds up gradients that agree, and no_grad keeps the update out of the graph.",
    title="descent, with momentum",
    minutes=12, prelude=PRELUDE, probes=probes_12_2, likely=likely_12_2, without=frozenset({"optimizers"}),
    wrong=[
        Wrong(optimiser(keep=False), "", "The steps with momentum equal those without it, because the velocity starts again "
              "at 0 in each step. It has to last from one step to the next: where is it stored, and what sets it back?",
              name="velocity forgotten"),
        Wrong(optimiser(lambda mu, v, g, lr: mu * v + lr * g), "M30", "The learning rate is applied twice, once in the "
              "velocity and once in the step.", name="rate twice"),
        Wrong(optimiser(lambda mu, v, g, lr: mu * v + (1 - mu) * g), "M30", "Each gradient is multiplied by 1 - momentum. "
              "Some books do so, but PyTorch's SGD does not.", name="dampened"),
        Wrong(optimiser(skip=False), "M05", "One of the parameters has no gradient (its grad is None), and step() fails there. "
              "What should happen to such a parameter?", name="trips over None"),
        Wrong(optimiser(stops=True), "M05", "The first parameter has no gradient, and step() ends there, so the "
              "parameters after it do not move. "
              "Which statement skips one round of a loop, and not all that follow?",
              name="stops at None"),
        Wrong(optimiser(idle=True), "M05", "A gradient of 0 is treated like a missing one: the parameter does not move, "
              "although its "
              "velocity is not 0. Test with `is None`.", name="rests at 0"),
        Wrong(optimiser(clear=False), "M01", "zero_grad does not clear the gradient, so the old gradient is still part of "
              "the new one.",
              name="does not clear"),
        Wrong(optimiser(move=lambda p, lr, v: p - lr * v), "M17", "Nothing moves: the tensor that the model holds "
              "stays as it was. A line like p = p - ... makes a new tensor: change the parameter in place, before its gradient "
              "is cleared.", name="rebinds"),
        Wrong(optimiser(move=lambda p, lr, v: p.add_(lr * v)), "M30", "The step goes uphill, because the gradient points to "
              "where the loss "
              "grows.", name="uphill"),
        Wrong(optimiser(shared=True), "M34", "This is right for one parameter. With two, the velocity of the first is used "
              "in the "
              "step of the second. How many velocities does an optimiser need?", name="one velocity"),
        Wrong(optimiser(lambda mu, v, g, lr: mu * v + g, lambda p, lr, v: p.sub_(lr * v), coasts=True), "M05", "A parameter "
              "without a gradient was moved by its old velocity. A missing gradient is not a gradient of 0: skip such a "
              "parameter in this step.", name="coasts"),
        Wrong(optimiser(zeros=True), "M05", "step() skips a missing gradient, but zero_grad sets the gradients to zeros, which "
              "are not missing: a parameter that gets no new gradient is moved by its old velocity. Set them to None.",
              name="sets zeros"),
        Wrong(optimiser(lambda mu, v, g, lr: g.add_(mu * v).clone()), "M15", "The steps are right, but step() adds the "
              "velocity "
              "into p.grad. Leave p.grad as backward computed it.", name="writes into grad"),
        Wrong(optimiser(lambda mu, v, g, lr: mu * v + g, nesterov=True), "M30", "This is Nesterov's form of momentum, "
              "which looks one velocity ahead. Plain momentum moves by the velocity itself.", name="Nesterov"),
        Wrong(LibrarySGD, "", "This is the library's optimiser: when the check switches it off, nothing moves. Write "
              "the step yourself.", name="the library's"),
    ],
    alternatives=[
        optimiser(),
        optimiser(lambda mu, v, g, lr: mu * v + lr * g, lambda p, lr, v: p.sub_(v)),
        WithBuffers,
    ],
    hints=["The velocity of a parameter is a running sum of its gradients. At each step the old sum is multiplied by "
           "momentum first.",
           "Gradients 1, 1, 1 with momentum 0.5 give the velocities 1, 1.5, 1.75.",
           "Store one velocity for each parameter in the object. Update under no_grad and in place, and skip a parameter whose "
           "grad is None."],
    worked="v = momentum * v + p.grad; store v; p -= lr * v, all under torch.no_grad(). zero_grad: p.grad = None.",
)  # fmt: skip

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


def the_accuracy(scores: Any, labels: Any) -> Any:
    return (scores.argmax(axis=1) == labels).mean()


def held_out(split: Callable[..., Any] = the_split, accuracy: Callable[..., Any] = the_accuracy) -> dict[str, Any]:
    return {"split": split, "accuracy": accuracy}


def with_parts(change: Callable[..., Any]) -> Callable[..., Any]:
    """A split whose four parts are changed afterwards."""
    return lambda images, labels, seed: change(*the_split(images, labels, seed))


def unshuffled_labels(images: Any, labels: Any, seed: Any) -> Any:
    x, _, x2, _ = the_split(images, labels, seed)
    return x, labels[: len(x)], x2, labels[len(x) :]


def by_another_generator(images: Any, labels: Any, seed: Any) -> Any:
    order = np.random.RandomState(seed).permutation(len(images))
    x, y, cut = images.reshape(len(images), -1)[order] / 16, labels[order], len(images) * 4 // 5
    return x[:cut], y[:cut], x[cut:], y[cut:]


def in_file_order(images: Any, labels: Any, seed: Any) -> Any:
    x, cut = images.reshape(len(images), -1) / 16, len(images) * 4 // 5
    return x[:cut], labels[:cut], x[cut:], labels[cut:]


def by_the_brightest(images: Any, labels: Any, seed: Any) -> Any:
    x, y, x2, y2 = the_split(images, labels, seed)
    return 16 * x / images.max(), y, 16 * x2 / images.max(), y2


def probabilities(scores: Any) -> Any:
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def likely_12_3(probe: Probe) -> dict[str, Any]:
    """Scores after a likely mistake, and tests of a split, by what to say about it."""
    return likely_scores(*probe.args) if probe.name == "accuracy" else likely_splits(*probe.args)


def likely_scores(scores: Array, labels: Array) -> dict[str, Any]:
    """Accuracies with a likely mistake."""
    own, right = scores[np.arange(len(labels)), labels], scores.argmax(axis=1) == labels
    down = np.concatenate([scores.argmax(axis=0), np.zeros(len(labels), dtype=int)])[: len(labels)]
    rows: dict[str, Array] = {  # what is counted in place of the rows that are right
        "": right,
        "This compares the largest score with the label, and not its place. Which *column* holds it?":
            scores.max(axis=1) == labels,
        "This compares the place of the smallest score.": scores.argmin(axis=1) == labels,
        "argmax runs down the columns. Each row needs its own: axis=1.": down == labels,
        "This is True for the rows that are *wrong*: compare with ==.": ~right,
        "1 is added to the place of the largest score. Places and labels both count from 0.":
            scores.argmax(axis=1) + 1 == labels,
        "This compares the score of the correct class with 0.5. It has to be the largest of its row, however large it is.":
            own > 0.5,
        "This compares the score of the correct class with 0. It has to be the largest of its row, however large it is.":
            own > 0,
    }
    counts: dict[str, Callable[[Array], Any]] = {
        "": np.mean,
        "This is a count. Accuracy is a fraction: divide it by the number of rows.": np.sum,
        "This is a percentage. Return a fraction from 0 to 1.": lambda each: 100 * each.mean(),
        "The count is divided by the number of classes. Divide it by the number of rows.":
            lambda each: each.sum() / scores.shape[1],
        "The count is divided by the number of all scores. Divide it by the number of rows.":
            lambda each: each.sum() / scores.size,
        "This is one truth value for each row. What fraction of them is True?": lambda each: each,
    }
    found = {" ".join(filter(None, [words, how])): count(each) for words, each in rows.items() for how, count in counts.items()}
    del found[""]
    return found | {
        "argmax without an axis gives one place in the whole array. Each row needs its own: axis=1.":
            (scores.argmax() == labels).mean(),
        "This is the mean score of the correct classes. Count the rows in which it is the largest one.": own.mean(),
        "// drops the fraction, so the answer is 0 or 1. Use /.": int(right.sum()) // len(labels),
        "1 is subtracted from the place of the largest score. Places and labels both count from 0.":
            (scores.argmax(axis=1) - 1 == labels).mean(),
        "The differences of places and labels are averaged. Only equal ones are right: compare with ==.":
            (scores.argmax(axis=1) - labels).mean(),
        "This looks at the first row only.": float(right[0]),
        "This is True only if every row is right. What fraction of the rows is?": bool(right.all()),
        "An accuracy is between 0 and 1. Count the rows that are right, and divide by the number of rows.":
            lambda got: plain(got).ndim == 0 and not 0 <= float(plain(got)) <= 1,
        "This is one truth value for all rows. Count the rows that are right, and divide by the number of rows.":
            lambda got: isinstance(got, bool | np.bool_),
        "The signs of the scores are dropped by abs. The largest score counts.":
            (np.abs(scores).argmax(axis=1) == labels).mean(),
    }  # fmt: skip


def likely_splits(images: Array, labels: Array, seed: int) -> dict[str, Any]:
    """Tests of the four parts of a split."""
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


EXERCISE_12_3 = function(
    "12.3", ("split", "accuracy"),
    why="One permutation shuffles images and labels together, and the last fifth is never used for training.",
    title="what is held out",
    minutes=8, oracle=by_list, probes=probes_12_3, likely=likely_12_3,
    wrong=[
        Wrong(held_out(unshuffled_labels), "", "The images were shuffled and the labels were not: every image has "
              "the label of another image, so the net cannot learn anything better than chance.", name="labels left behind"),
        Wrong(held_out(by_another_generator), "M40", "This is another permutation. `np.random.seed` and `default_rng` are two "
              "generators: the same seed gives other numbers. Which of them does the exercise name?", name="old generator"),
        Wrong(held_out(with_parts(lambda a, b, c, d: (a, b, a[: len(c)], b[: len(d)]))), "M53", "The test part is a "
              "piece of the training part, so it measures what was memorised.", name="tests on training"),
        Wrong(held_out(with_parts(lambda a, b, c, d: (16 * a, b, 16 * c, d))), "", "The pixels still run from 0 to 16. "
              "They should run from 0 to 1.", name="not scaled"),
        Wrong(held_out(in_file_order), "", "The file is in the order of the writers, and was not shuffled: the last "
              "fifth is other people's handwriting.", name="not shuffled"),
        Wrong(held_out(with_parts(lambda a, b, c, d: (c, d, a, b))), "", "The small part is for testing, the large one "
              "for learning.", name="parts swapped"),
        Wrong(held_out(accuracy=lambda s, t: (probabilities(s)[np.arange(len(t)), t] > 0.5).mean()), "M38", "With "
              "more than two classes the right answer can win with a probability below one half. Compare with the largest "
              "score.", name="over half"),
        Wrong(held_out(accuracy=lambda s, t: (s.argmax(axis=1) == t).sum()), "M30", "This is a count. Accuracy is a fraction.",
              name="count"),
        Wrong(held_out(by_the_brightest), "", "The pixels are divided by the largest pixel of these images. Other images "
              "would be divided by a different number. Which number is the same for all?"),
        Wrong(held_out(with_parts(lambda a, b, c, d: (a, c, b, d))), "", "All four parts are there, but in a different "
              "order. The x and y of "
              "the large part come first.", name="order"),
        Wrong(held_out(lambda images, labels, seed: the_split(images, labels, 0)), "M40", "Every seed gives the same "
              "order. Where do you use the seed?", name="seed unused"),
        Wrong(held_out(accuracy=lambda s, t: 100 * (s.argmax(axis=1) == t).mean()), "M30", "This is a percentage. Return a "
              "fraction from "
              "0 to 1.", name="percent"),
        Wrong(held_out(accuracy=lambda s, t: (s.max(axis=1) == t).mean()), "M43", "This is the largest score and not its "
              "place. "
              "Which *column* holds it?", name="max"),
        Wrong(held_out(accuracy=lambda s, t: ((np.exp(s) / np.exp(s).sum(axis=1, keepdims=True)).argmax(axis=1) == t).mean()),
              "M51", "With scores of a thousand exp gives inf or 0. A softmax does not change "
              "which column is largest, so you do not need it.", name="through exp"),
        Wrong(held_out(accuracy=lambda s, t: (s.argmin(axis=1) == t).mean()), "", "This compares the smallest score.",
              name="argmin"),
    ],
    alternatives=[
        held_out(), held_out(by_list.__get__("split"), by_list.__get__("accuracy")),
        held_out(with_parts(lambda *parts: list(parts)),
                 lambda s, t: np.array(np.count_nonzero(s[np.arange(len(t)), t] == s.max(axis=1)) / t.size)),
    ],
    hints=["Make one permutation and use it for the images and for the labels. The first four fifths are for training.",
           "np.random.default_rng(5).permutation(10) is an array of the numbers 0 to 9 in a random order. Use it as an "
           "index: x[order], y[order].",
           "Flatten each image to one row, divide by 16, index with the order, and cut. For the accuracy, take argmax along "
           "each row."],
    worked="order = np.random.default_rng(seed).permutation(len(images)); x = images.reshape(len(images), -1)[order] / "
           "16; cut = len(images) * 4 // 5. accuracy: (scores.argmax(axis=1) == labels).mean().",
)  # fmt: skip

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


def slipped_run(x: Array, labels: Array, batch: int, epochs: int, *, rows: str = "batch", clear: str = "step",
                step: str = "batch", note: str = "before", scale: float = 1.0, momentum: float = 0.5,
                loops: str = "epochs first") -> list[float]:  # fmt: skip
    """The losses of the training run of LOOP with a slip in it, every gradient written out."""
    theta = [start(5, x.shape[1]), start(5), start(3, 5), start(3)]
    speed, total, losses = [np.zeros_like(p) for p in theta], [np.zeros_like(p) for p in theta], []

    def loss_and_gradients(a: Array, t: Array) -> tuple[float, list[Array]]:
        h = a @ theta[0].T + theta[1]
        z = np.maximum(h, 0) @ theta[2].T + theta[3]
        logs, own = z - np.logaddexp.reduce(z, axis=1)[:, None], np.arange(len(t))
        dz = (np.exp(logs[own]) - np.eye(3)[t]) / len(t)
        dh = dz @ theta[2] * (h[own] > 0)
        return float(-logs[own, t].mean()), [dh.T @ a[own], dh.sum(0), dz.T @ np.maximum(h, 0)[own], dz.sum(0)]

    starts = list(range(0, len(x), 1 if rows == "every" else batch))
    starts = {"few": [*range(len(x) // batch)], "within": [*range(batch)], "reversed": starts[::-1],
              "from one": [*range(1, len(x), batch)]}.get(rows, starts)
    order = [(e, i) for e in range(epochs) for i in starts]
    for _, i in sorted(order, key=lambda each: each[1]) if loops == "batches first" else order:
        now = {"all": slice(None), "next labels": slice(i + 1, i + batch + 1), "short": slice(i, i + batch - 1),
               "long": slice(i, i + batch + 1)}.get(rows, slice(i, i + batch))  # fmt: skip
        a, t = x[slice(i, i + batch) if rows == "next labels" else now], labels[now]
        a = x[:batch] if rows == "first x" else a
        loss, new = loss_and_gradients(a, t)
        if clear == "step" or (clear == "epoch" and i == starts[0]):
            total = [np.zeros_like(p) for p in theta]
        total = [g + scale * n for g, n in zip(total, new, strict=True)]
        if step == "batch" or i == starts[-1]:
            speed = [momentum * v + g for v, g in zip(speed, total, strict=True)]
            theta[:] = [p - 0.2 * v for p, v in zip(theta, speed, strict=True)]
        losses.append(loss_and_gradients(a, t)[0] if note == "after" else loss)
    return losses


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
        slope = likely_gradients(z, t, 10.0)["This is only the softmax. What does the term -z_t of the loss add?"]
        slope[np.arange(len(t)), t] -= 10 / len(t)
        return {"The loss has no path to the scores, so they get no gradient: it is made anew from plain numbers. Compute it "
                "with operations on tensors.": lambda got: got[1] is None,
                "The loss is right, but its gradient is not, because a part of the formula is detached from the graph.":
                    lambda got: equal(got[0], right) and got[1] is not None and (
                        not np.allclose(plain(got[1]), slope))}  # fmt: skip
    found = likely_losses(np.asarray(probe.data["scores"]), np.asarray(probe.data["labels"]))
    return {words.replace("targets", "labels"): loss for words, loss in found.items() if np.ndim(loss) == 0}


def likely_runs(x: Array, labels: Array, batch: int, epochs: int) -> dict[str, Any]:
    """The lists of losses that come of a slip in the loop."""
    right, n = slipped_run(x, labels, batch, epochs), -(-len(x) // batch)
    every = slipped_run(x, labels, batch, epochs, rows="all")
    late = slipped_run(x, labels, batch, epochs, note="after")
    singly = [slipped_run(x[i : i + 1], labels[i : i + 1], 1, 1)[0] for i in range(len(x))]
    some = [sum(rows) / batch for rows in itertools.combinations(singly, batch)]
    found: dict[str, Any] = {
        "train returns None. Return the list of losses at its end.": lambda got: got is None,
        "Every step uses all rows. Each step takes the next `batch` rows of x and of labels.": every,
        "Each epoch takes one step with all rows. It should take one step for each `batch` rows.": every[:epochs],
        "The list has one loss for each epoch. Append the loss in the inner loop, after each step.": right[n - 1 :: n],
        "The list has the mean loss of each epoch. Append the loss of each batch.":
            [float(np.mean(right[k * n : (k + 1) * n])) for k in range(epochs)],
        "The list has only the losses of the last epoch: it is emptied in each one. Make it once, before the loops.":
            right[-n:],
        "There are only the losses of the first epoch. Does the loop over the epochs go on, or does a return or an indent end "
        "it?": right[:n],
        "There is only the first loss: the return is inside the loop over the batches.": right[:1],
        "The list is empty. Append the loss of each batch as a number.": [],
        "The gradients are cleared once in an epoch. They have to be cleared before each backward pass.":
            slipped_run(x, labels, batch, epochs, clear="epoch"),
        "These are the losses *after* each step. Append the loss that the step was computed from.": late,
        "The model gets the first rows in each step, with the labels of other rows. Both need the slice i : i + batch.":
            slipped_run(x, labels, batch, epochs, rows="first x"),
        "x and labels are cut at different places, so the rows get the labels of other rows.":
            slipped_run(x, labels, batch, epochs, rows="next labels"),
        "The batches overlap: the next one begins one row later. range(0, len(x), batch) goes on by a whole batch.":
            slipped_run(x, labels, batch, epochs, rows="every"),
        "Each batch is one row too short: x[a:b] ends before b already, so b is i + batch.":
            slipped_run(x, labels, batch, epochs, rows="short"),
        "Each batch is one row too long: x[a:b] with b = i + batch has `batch` rows.":
            slipped_run(x, labels, batch, epochs, rows="long"),
        "The numbers of the batches are taken for their first rows. range(0, len(x), batch) gives the first rows.":
            slipped_run(x, labels, batch, epochs, rows="few"),
        "The range ends at batch. It goes through all rows: range(0, len(x), batch).":
            slipped_run(x, labels, batch, epochs, rows="within"),
        "The first row is left out: the range begins at 1. Rows count from 0.":
            slipped_run(x, labels, batch, epochs, rows="from one"),
        "The batches are taken from the last to the first. They come in order.":
            slipped_run(x, labels, batch, epochs, rows="reversed"),
        "There is one epoch too many.": slipped_run(x, labels, batch, epochs + 1),
        "batch and epochs have changed places: the number of epochs is the length of the batches here.":
            slipped_run(x, labels, epochs, batch),
        "Each gradient is counted twice: is backward called twice, or the loss doubled?":
            slipped_run(x, labels, batch, epochs, scale=2.0),
        "The entries are None. A loss stores no gradient of its own; append its number, loss.item().":
            lambda got: len(got) > 0 and all(each is None for each in got),
        "The entries are texts. Append the numbers themselves.": lambda got: all(isinstance(each, str) for each in got) and got,
        "Each batch is used `epochs` times before the next one. The loop over the epochs is the outer one.":
            slipped_run(x, labels, batch, epochs, loops="batches first"),
        "All batches of an epoch are collected in the gradients, and one step follows. Take one step for each batch.":
            slipped_run(x, labels, batch, epochs, clear="epoch", step="epoch"),
        "The steps have no momentum. Does your loop call optimizer.step(), or does it move the weights itself?":
            slipped_run(x, labels, batch, epochs, momentum=0.0),
        "The loss is divided by the number of batches before backward, so the steps are too small.":
            slipped_run(x, labels, batch, epochs, scale=1 / n),
        "The loss is divided by the number of batches before backward, so the steps are too small. (// rounds it down.)":
            slipped_run(x, labels, batch, epochs, scale=1 / (len(x) // batch)),
        "The loss is divided by the size of the batch before backward, though it is a mean already.":
            slipped_run(x, labels, batch, epochs, scale=1 / batch),
        "The loss is multiplied by the size of the batch before backward, though a step follows from its mean.":
            slipped_run(x, labels, batch, epochs, scale=batch),
        "Each batch is cleared and differentiated, but the only step of an epoch follows its last batch. Take one for each "
        "batch.": slipped_run(x, labels, batch, epochs, step="epoch"),
        "The losses are added up from step to step. Each entry is the loss of one batch.": np.cumsum(right).tolist(),
        "Each loss is divided by the number of batches. Return the losses themselves.": [loss / n for loss in right],
        "Each loss is divided by the number of all rows. It is a mean already.": [loss / len(x) for loss in right],
        "Each loss is divided by the size of the batch. It is a mean already.": [loss / batch for loss in right],
        "Each loss is multiplied by the size of the batch. Return the losses themselves.": [loss * batch for loss in right],
        "Each loss is multiplied by the number of all rows. Return the losses themselves.": [loss * len(x) for loss in right],
        "This is a single number. Return the list of all losses.": lambda got: np.ndim(got) == 0,
        "The second batch is empty, and the mean of nothing is nan. A slice i : i + batch ends after it begins.":
            lambda got: bool(np.isclose(got[0], right[0]) and np.isnan(got[1])),
        "The rows are not taken in order: the losses fit other batches. Each epoch takes rows 0 to batch - 1 first, and so on.":
            lambda got: len(got) == len(right) and bool(np.isclose(some, got[0]).any() and not np.isclose(got[0], right[0])),
        "The first loss is right, and the second is not. So the step between them is not, or the second batch: is zero_grad, "
        "backward, step called once each, and do both slices move on?":
            lambda got: len(got) == len(right) and bool(np.isclose(got[0], right[0]) and not np.isclose(got[1], right[1])),
    }  # fmt: skip
    for words, came in list(found.items()):
        if isinstance(came, list) and len(came) == len(right):
            found[f"{words} And the list has one loss for each epoch: append in the inner loop."] = came[n - 1 :: n]
    return found


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


def the_loss(scores: Any, labels: Any) -> Any:
    shifted = scores - scores.detach().max(dim=1, keepdim=True).values
    logs = shifted - torch.log(torch.exp(shifted).sum(dim=1, keepdim=True))
    return -logs[torch.arange(len(labels)), labels].mean()


def other_loss(scores: Any, labels: Any) -> Any:
    return -torch.log_softmax(scores, dim=1).gather(1, labels[:, None]).mean()


def half_a_loss(scores: Any, labels: Any) -> Any:
    return (scores.logsumexp(dim=1).detach() - scores[torch.arange(len(labels)), labels]).mean()


def through_logsumexp(scores: Any, labels: Any) -> Any:
    return (scores.logsumexp(dim=1) - scores.gather(1, labels[:, None])[:, 0]).mean()


def by_rows(scores: Any, labels: Any) -> Any:
    total: Any = 0.0
    for row, label in zip(scores, labels.tolist(), strict=True):
        top = row.detach().max()
        total = total + top + torch.log(torch.exp(row - top).sum()) - row[label]
    return total / len(labels)


def loops(
    loss: Callable[..., Any] = the_loss, order: str = "zbs", first: bool = False, drop: bool = False, last: bool = False,
    factor: float = 1.0, item: bool = True, lazy: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """cross_entropy and train, with some of their parts exchanged; `order`: zero_grad, backward, step."""

    def train(model: Any, optimizer: Any, x: Any, labels: Any, batch: int, epochs: int) -> Any:
        losses: list[Any] = []
        for _ in range(epochs):
            for i in range(0, len(x) - (batch - 1 if drop else 0), batch):
                i = 0 if first else i
                value = loss(model(x[i : i + batch]), labels[i : i + batch])
                for what in order:
                    if what == "z":
                        optimizer.zero_grad()
                    elif what == "b":
                        (factor * value).backward()
                    elif not (lazy and len(losses) == epochs * -(-len(x) // batch) - 1):
                        optimizer.step()
                losses.append(value.item() if item else value)
            losses = losses[-1:] if last else losses
        return losses

    return {"cross_entropy": loss, "train": train}


EXERCISE_12_4 = program(
    "12.4", ("cross_entropy", "train"),
    why="Twenty equal losses are strong evidence that each operation of your loop does what PyTorch's does.",
    title="twenty losses, to the ninth digit",
    minutes=16, prelude=PRELUDE, probes=probes_12_4, likely=likely_12_4, seconds=2.0, without=frozenset({"cross-entropy"}),
    wrong=[
        Wrong(loops(lambda s, t: the_loss(s, t) * len(t)), "M30", "The loss is a sum over the batch, and PyTorch takes the "
              "mean. What would change if the batch were twice as large?", name="sum"),
        Wrong(loops(lambda s, t: -torch.log(torch.softmax(s, 1)[torch.arange(len(t)), t] + 1e-8).mean()), "M51", "A "
              "small number is added inside the logarithm, so the losses are only nearly right. Which form of the loss does "
              "not need "
              "it?", name="epsilon"),
        Wrong(loops(lambda s, t: the_loss(torch.softmax(s, dim=1), t)), "M39", "The softmax is applied twice, so the loss "
              "cannot get near "
              "0.", name="softmax twice"),
        Wrong(loops(lambda s, t: -torch.log(torch.softmax(s, 1)[torch.arange(len(t)), t]).mean()), "M51", "Scores of "
              "900 give inf, because the small probability is rounded to 0 before the logarithm.", name="log of softmax"),
        Wrong(loops(order="bs"), "M01", "The gradients are not cleared between two steps.", name="no zero_grad"),
        Wrong(loops(order="zsb"), "M40", "All losses are those of the first weights, so the weights never move. Each round "
              "needs zero_grad(), backward() and step(), in this order, and a path from the loss to every weight. Which is "
              "missing, or in another place?", name="step first"),
        Wrong(loops(order="szb"), "M40", "Each step uses the gradient of the previous batch.", name="one late"),
        Wrong(loops(first=True), "", "Every step uses the first batch.", name="first batch"),
        Wrong(loops(drop=True), "", "The last, smaller batch is left out.", name="drops the rest"),
        Wrong(loops(last=True), "", "The list holds only the last losses. Return one number for each step.", name="last"),
        Wrong(loops(order="zbss"), "", "The loop takes two steps with each gradient.", name="two steps"),
        Wrong(loops(item=False), "M18", "The losses are tensors, and each of them keeps the graph of its step in memory. "
              "Which method "
              "gives the number?", name="tensors"),
        Wrong(loops(lambda s, t: torch.nn.functional.cross_entropy(s, t)), "", "This is the library's loss, which the "
              "check switches off. Lesson 11 has what you need to write it yourself.", name="the library's"),
        Wrong(loops(lazy=True), "", "All losses are right, but the last step is missing, so the weights are those of one "
              "batch earlier. How many steps belong to n losses?", name="last step missing"),
        Wrong(loops(half_a_loss), "M12", "The loss is right, but its gradient is not, because a part of the formula is "
              "detached from the "
              "graph. Only the maximum may be detached, because it cancels."),
        Wrong(loops(lambda s, t: the_loss(s.float(), t)), "M40", "The loss is computed in float32, so only about seven "
              "digits are right. "
              "Compute it in float64.", name="float32"),
    ],
    alternatives=[loops(), loops(other_loss, "bsz"), loops(by_rows), loops(through_logsumexp)],
    hints=["In each round, take some rows, compute their scores and their loss, then clear, backward, step, and append the "
           "loss.",
           "range(0, 10, 4) gives 0, 4, 8, and x[8:12] of ten rows holds the last two.",
           "loss.item() gives the number. In the loss, subtract each row's maximum before exp, and work the logarithm into the "
           "formula, so that nothing is rounded to 0."],
    worked="for each epoch, for i in range(0, len(x), batch): loss = cross_entropy(model(x[i:i+batch]), "
           "labels[i:i+batch]); zero_grad, backward, step; append loss.item().",
)  # fmt: skip

# --- predictions of the reading notebook ---------------------------------------------------------------

PREDICTION_12_0 = prediction(
    "12.0", 2410, points=0, rtol=1e-9,
    title="how many numbers training can change",
    asks=("Count for each layer: one weight for each pair of an input and an output, and one bias for each output.",),
    wrong=[
        Wrong(2368, "", "64 * 32 + 32 * 10 counts the weights. What else does a layer own?"),
        Wrong(106, "", "This adds up the units. Each unit of a layer has one weight for each input."),
    ],
)  # fmt: skip

PREDICTION_12_2A = prediction(
    "12.2a", "c", points=0,
    title="labels left in the old order",
    options={"a": "an error", "b": "about 90 % read correctly, as before", "c": "about 10 % read correctly"},
    wrong=[
        Wrong("a", "M53", "There are as many images as labels, and the dtypes are right. Nothing can raise an error."),
        Wrong("b", "M53", "Each image is now next to the label of a different image. What can the net learn from that?"),
    ],
)  # fmt: skip

PREDICTION_12_3A = prediction(
    "12.3a", "a", points=0,
    title="the first loss of an untrained net",
    options={"a": "about 2.3", "b": "about 0.5", "c": "about 10"},
    wrong=[
        Wrong("b", "", "This would mean a probability of 0.6 for the right digit, and the net is untrained."),
        Wrong("c", "", "An untrained net gives each digit about the probability 1/10. Compute -log(1/10)."),
    ],
)  # fmt: skip

PREDICTION_12_4A = prediction(
    "12.4a", "a", points=0,
    title="how many digits survive random changes",
    options={"a": "more than 300", "b": "between 100 and 300", "c": "fewer than 100"},
    wrong=[
        Wrong("b", "", "Each score is a sum over all pixels. What happens to 64 small effects of random sign?"),
        Wrong("c", "", "That is what the signs of the gradient do. Random signs do not know which way the loss grows."),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_12_0, PREDICTION_12_2A, PREDICTION_12_3A, PREDICTION_12_4A,
    EXERCISE_12_1, EXERCISE_12_2, EXERCISE_12_3, EXERCISE_12_4,
)  # fmt: skip

LESSON = Lesson(
    number=12,
    slug="12_digits",
    title="A digit classifier",
    after=(10, 11),
    idea="A net that reads handwritten digits, with the same losses as PyTorch, and a digit that fools it.",
    introduces=(
        "layers", "Linear", "parameters", "named_parameters", "optim", "SGD", "lr",
        "importlib.resources", "files", "load", "astype", "int64", "Sequential", "ReLU", "momentum", "permutation",
        "argmax", "weight", "bias", "Relu", "velocities", "split", "accuracy", "keepdim",
        "batch", "epochs", "read_digits",
    ),
    with_engine=True,
    exercises=EXERCISES,
)  # fmt: skip
