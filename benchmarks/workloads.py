"""What is timed: six workloads, each once for every library that can run it.

PyTorch and minigrad run the very same lines (`lib` is one or the other); HIPS autograd and micrograd get the
closest they can write, and by_hand.py has the two that are worth writing in plain numpy. A workload is a function that
prepares everything and returns `step`: one forward and backward pass (and the update of a training step) that returns
the gradients, always in the same order and layout.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

Step = Callable[[], Any]

RATE = 0.01  # of the training step
BATCH, PIXELS, HIDDEN, CLASSES = 64, 784, 128, 10
SEQUENCES, LENGTH, WIDTH, HEADS = 8, 32, 64, 4
EPS = 1e-5  # of layer normalisation


# ------------------------------------------------------------------------------------------- the numbers


def chain_start(shape: tuple[int, ...]) -> list[Any]:
    """x, a, b: chosen so that x * a + b neither dies nor explodes in a thousand steps."""
    return [np.full(shape, value, np.float32) for value in (1.0, 1.001, 0.001)]


def digits() -> tuple[Any, Any, list[Any]]:
    """A batch of made-up images, its labels, and w1, b1, w2, b2."""
    draw = np.random.default_rng(0)
    images = draw.standard_normal((BATCH, PIXELS), np.float32)
    labels = draw.integers(0, CLASSES, BATCH)
    w1 = draw.standard_normal((PIXELS, HIDDEN), np.float32) * np.float32(0.05)
    w2 = draw.standard_normal((HIDDEN, CLASSES), np.float32) * np.float32(0.1)
    return images, labels, [w1, np.zeros(HIDDEN, np.float32), w2, np.zeros(CLASSES, np.float32)]


def block() -> tuple[Any, dict[str, Any]]:
    """Input and parameters of one transformer block: attention, then a two-layer perceptron, each after a norm."""
    draw = np.random.default_rng(1)

    def weight(rows: int, columns: int) -> Any:
        return draw.standard_normal((rows, columns), np.float32) / np.float32(rows**0.5)

    def bias(n: int, value: float = 0.0) -> Any:
        return np.full(n, value, np.float32)

    x = draw.standard_normal((SEQUENCES, LENGTH, WIDTH), np.float32)
    return x, {
        "norm1.gain": bias(WIDTH, 1.0),
        "norm1.bias": bias(WIDTH),
        "qkv.weight": weight(WIDTH, 3 * WIDTH),
        "qkv.bias": bias(3 * WIDTH),
        "out.weight": weight(WIDTH, WIDTH),
        "out.bias": bias(WIDTH),
        "norm2.gain": bias(WIDTH, 1.0),
        "norm2.bias": bias(WIDTH),
        "up.weight": weight(WIDTH, 4 * WIDTH),
        "up.bias": bias(4 * WIDTH),
        "down.weight": weight(4 * WIDTH, WIDTH),
        "down.bias": bias(WIDTH),
    }


# ------------------------------------------------------------------------------------------- PyTorch and minigrad


def chain(lib: Any, shape: tuple[int, ...], operations: int) -> Step:
    x, a, b = leaves = [lib.tensor(v, requires_grad=True) for v in chain_start(shape)]
    ones = lib.tensor(np.ones(shape, np.float32))

    def step() -> Any:
        for leaf in leaves:
            leaf.grad = None
        y = x
        for _ in range(operations // 3):
            y = (y * a + b).relu()
        y.backward(ones)
        return [leaf.grad for leaf in leaves]

    return step


def second_order(lib: Any, shape: tuple[int, ...], operations: int) -> Step:
    """The gradient of the squared gradient: the first backward pass is recorded, the second walks through it."""
    x, a, b = leaves = [lib.tensor(v, requires_grad=True) for v in chain_start(shape)]
    ones = lib.tensor(np.ones(shape, np.float32))

    def step() -> Any:
        y = x
        for _ in range(operations // 3):
            y = (y * a + b).relu()
        gx, ga, gb = lib.autograd.grad(y, leaves, ones, create_graph=True)
        size = (gx * gx).sum() + (ga * ga).sum() + (gb * gb).sum()
        return lib.autograd.grad(size, leaves)

    return step


def train_step(lib: Any) -> Step:
    images, labels, numbers = digits()
    x, y = lib.tensor(images), lib.tensor(labels)
    w1, b1, w2, b2 = parameters = [lib.tensor(v, requires_grad=True) for v in numbers]

    def step() -> Any:
        hidden = (x @ w1 + b1).relu()
        lib.nn.functional.cross_entropy(hidden @ w2 + b2, y).backward()
        gradients = [p.grad for p in parameters]
        with lib.no_grad():
            for p in parameters:
                p -= RATE * p.grad
                p.grad = None
        return gradients

    return step


def train_step_modules(lib: Any) -> Step:
    """The same, as people write it: modules, a loss, an optimiser."""
    images, labels, numbers = digits()
    x, y = lib.tensor(images), lib.tensor(labels)
    model = lib.nn.Sequential(lib.nn.Linear(PIXELS, HIDDEN), lib.nn.ReLU(), lib.nn.Linear(HIDDEN, CLASSES))
    for parameter, start in zip(model.parameters(), numbers, strict=True):
        parameter.data = lib.tensor(np.ascontiguousarray(start.T))
    loss_function = lib.nn.CrossEntropyLoss()
    parameters = list(model.parameters())
    optimizer = lib.optim.SGD(parameters, lr=RATE)

    def step() -> Any:
        optimizer.zero_grad()
        loss_function(model(x), y).backward()
        gradients = [p.grad for p in parameters]
        optimizer.step()
        return laid_out(gradients)

    return step


def transformer(lib: Any) -> Step:
    numbers, start = block()
    x = lib.tensor(numbers)
    p = {name: lib.tensor(v, requires_grad=True) for name, v in start.items()}

    def normalised(x: Any, name: str) -> Any:
        centred = x - x.mean(-1, keepdim=True)
        variance = (centred * centred).mean(-1, keepdim=True)
        return centred * (variance + EPS) ** -0.5 * p[f"{name}.gain"] + p[f"{name}.bias"]

    def linear(x: Any, name: str) -> Any:
        return x @ p[f"{name}.weight"] + p[f"{name}.bias"]

    def step() -> Any:
        for leaf in p.values():
            leaf.grad = None
        heads = linear(normalised(x, "norm1"), "qkv").reshape(SEQUENCES, LENGTH, 3, HEADS, WIDTH // HEADS)
        q, k, v = heads.permute(2, 0, 3, 1, 4).unbind(0)
        attention = (q @ k.mT * (WIDTH // HEADS) ** -0.5).softmax(-1)
        mixed = (attention @ v).permute(0, 2, 1, 3).reshape(SEQUENCES, LENGTH, WIDTH)
        y = x + linear(mixed, "out")
        y = y + linear(linear(normalised(y, "norm2"), "up").relu(), "down")
        (y * y).mean().backward()
        return [leaf.grad for leaf in p.values()]

    return step


def transformer_modules(lib: Any) -> Step:
    """The same block made of nn.LayerNorm, nn.Linear, nn.ReLU and scaled_dot_product_attention."""
    numbers, start = block()
    x = lib.tensor(numbers)
    nn = lib.nn

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(WIDTH, eps=EPS), nn.LayerNorm(WIDTH, eps=EPS)
            self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.ReLU(), nn.Linear(4 * WIDTH, WIDTH))

        def forward(self, x: Any) -> Any:
            heads = self.qkv(self.norm1(x)).reshape(SEQUENCES, LENGTH, 3, HEADS, WIDTH // HEADS)
            q, k, v = heads.permute(2, 0, 3, 1, 4).unbind(0)
            mixed = nn.functional.scaled_dot_product_attention(q, k, v)
            y = x + self.out(mixed.permute(0, 2, 1, 3).reshape(SEQUENCES, LENGTH, WIDTH))
            return y + self.mlp(self.norm2(y))

    model = Block()
    m = model
    parameters = [m.norm1.weight, m.norm1.bias, m.qkv.weight, m.qkv.bias, m.out.weight, m.out.bias]
    parameters += [m.norm2.weight, m.norm2.bias, m.mlp[0].weight, m.mlp[0].bias, m.mlp[2].weight, m.mlp[2].bias]
    for parameter, value in zip(parameters, start.values(), strict=True):
        parameter.data = lib.tensor(np.ascontiguousarray(value.T))

    def step() -> Any:
        model.zero_grad()
        y = model(x)
        (y * y).mean().backward()
        return laid_out([p.grad for p in parameters])

    return step


def laid_out(gradients: list[Any]) -> Iterator[Any]:
    """A module's gradients in everybody's layout, (in, out); done when they are compared, which is not timed."""
    return (g.T if g.ndim == 2 else g for g in gradients)


# ------------------------------------------------------------------------------------------- micrograd


@contextmanager
def deep_recursion(limit: int = 20_000) -> Iterator[None]:
    """micrograd walks its graph by recursion."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def micrograd_chain(micrograd: Any, operations: int) -> Step:
    Value = micrograd.engine.Value

    def step() -> Any:
        x, a, b = leaves = [Value(float(v)) for v in chain_start(())]
        y = x
        for _ in range(operations // 3):
            y = (y * a + b).relu()
        with deep_recursion():
            y.backward()
        return [leaf.grad for leaf in leaves]

    return step


# ------------------------------------------------------------------------------------------- HIPS autograd


def hips_chain_function(autograd: Any, operations: int) -> Callable[[Any], Any]:
    np_ = autograd.numpy

    def function(leaves: Any) -> Any:
        x, a, b = leaves
        for _ in range(operations // 3):
            x = np_.maximum(x * a + b, 0)
        return x

    return function


def hips_chain(autograd: Any, shape: tuple[int, ...], operations: int) -> Step:
    function = hips_chain_function(autograd, operations)
    start = tuple(v[()] for v in chain_start(shape))
    ones = np.ones(shape, np.float32)[()]

    def step() -> Any:
        backward, _ = autograd.make_vjp(function)(start)
        return backward(ones)

    return step


def hips_second_order(autograd: Any, shape: tuple[int, ...], operations: int) -> Step:
    function = hips_chain_function(autograd, operations)
    start = tuple(chain_start(shape))
    ones = np.ones(shape, np.float32)

    def size(leaves: Any) -> Any:
        backward, _ = autograd.make_vjp(function)(leaves)
        gx, ga, gb = backward(ones)
        return autograd.numpy.sum(gx * gx) + autograd.numpy.sum(ga * ga) + autograd.numpy.sum(gb * gb)

    return lambda: autograd.grad(size)(start)


def hips_train_step(autograd: Any) -> Step:
    x, y, parameters = digits()
    np_, rows = autograd.numpy, np.arange(BATCH)

    def loss(parameters: Any) -> Any:
        w1, b1, w2, b2 = parameters
        scores = np_.maximum(x @ w1 + b1, 0) @ w2 + b2
        scores = scores - np_.max(scores, axis=1, keepdims=True)
        return np_.mean(np_.log(np_.sum(np_.exp(scores), axis=1)) - scores[rows, y])

    gradient = autograd.grad(loss)

    def step() -> Any:
        gradients = gradient(parameters)
        for p, g in zip(parameters, gradients, strict=True):
            p -= np.float32(RATE) * g
        return gradients

    return step


def hips_transformer(autograd: Any) -> Step:
    x, start = block()
    np_ = autograd.numpy

    def normalised(p: Any, x: Any, name: str) -> Any:
        centred = x - np_.mean(x, axis=-1, keepdims=True)
        variance = np_.mean(centred * centred, axis=-1, keepdims=True)
        return centred * (variance + np.float32(EPS)) ** np.float32(-0.5) * p[f"{name}.gain"] + p[f"{name}.bias"]

    def linear(p: Any, x: Any, name: str) -> Any:
        return x @ p[f"{name}.weight"] + p[f"{name}.bias"]

    def loss(p: Any) -> Any:
        heads = np_.reshape(linear(p, normalised(p, x, "norm1"), "qkv"), (SEQUENCES, LENGTH, 3, HEADS, WIDTH // HEADS))
        q, k, v = np_.transpose(heads, (2, 0, 3, 1, 4))
        scores = q @ np_.swapaxes(k, -1, -2) * np.float32((WIDTH // HEADS) ** -0.5)
        weights = np_.exp(scores - np_.max(scores, axis=-1, keepdims=True))
        attention = weights / np_.sum(weights, axis=-1, keepdims=True)
        mixed = np_.reshape(np_.transpose(attention @ v, (0, 2, 1, 3)), (SEQUENCES, LENGTH, WIDTH))
        y = x + linear(p, mixed, "out")
        y = y + linear(p, np_.maximum(linear(p, normalised(p, y, "norm2"), "up"), 0), "down")
        return np_.mean(y * y)

    gradient = autograd.grad(loss)
    return lambda: list(gradient(start).values())


# ------------------------------------------------------------------------------------------- the rows


@dataclass
class Row:
    """A line of the table: what is timed, by whom, and how much of the others' time we may take."""

    title: str
    candidates: dict[str, Callable[[Any], Step]]  # library -> a function from the library to its step
    budgets: dict[str, float]


def rows() -> list[Row]:
    from by_hand import train_step as by_hand_train_step
    from by_hand import transformer as by_hand_transformer

    def chains(shape: tuple[int, ...], operations: int) -> dict[str, Callable[[Any], Step]]:
        return {
            "minigrad": lambda lib: chain(lib, shape, operations),
            "torch": lambda lib: chain(lib, shape, operations),
            "autograd": lambda lib: hips_chain(lib, shape, operations),
        }

    def training(ours: Callable[[Any], Step], modules: bool) -> dict[str, Callable[[Any], Step]]:
        others = {"autograd": hips_train_step}
        return {"minigrad": ours, "torch": ours, "numpy": lambda _: by_hand_train_step(modules), **others}

    def attention(ours: Callable[[Any], Step], modules: bool) -> dict[str, Callable[[Any], Step]]:
        others = {"autograd": hips_transformer}
        return {"minigrad": ours, "torch": ours, "numpy": lambda _: by_hand_transformer(modules), **others}

    scalars = {**chains((), 999), "micrograd": lambda lib: micrograd_chain(lib, 999)}
    second = {
        "minigrad": lambda lib: second_order(lib, (8, 8), 201),
        "torch": lambda lib: second_order(lib, (8, 8), 201),
        "autograd": lambda lib: hips_second_order(lib, (8, 8), 201),
    }
    half = {"autograd": 0.5}
    trained, attended = {"torch": 0.90, "numpy": 1.40, **half}, {"torch": 1.0, "numpy": 1.24, **half}
    return [
        Row("scalar chain, 999 operations", scalars, {"torch": 0.50, "micrograd": 2.0, **half}),
        Row("(8, 8) chain, 201 operations", chains((8, 8), 201), {"torch": 0.70, **half}),
        Row("(64, 128) chain, 201 operations", chains((64, 128), 201), {"torch": 0.95, **half}),
        Row("second order, (8, 8) chain", second, {"torch": 1.1, **half}),
        Row("train step, written with tensors", training(train_step, False), trained),
        Row("train step, nn and optim", training(train_step_modules, True), trained),
        Row("transformer block, written with tensors", attention(transformer, False), attended),
        # Its sums run over long axes, which products with ones would add faster: see README.md.
        Row("transformer block, nn", attention(transformer_modules, True), {**attended, "torch": 1.1, "numpy": 1.27}),
    ]
