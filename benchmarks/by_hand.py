"""The yardstick: the training step and the transformer block in plain numpy, derivatives worked out by hand.

Written as one writes for speed: leading dimensions folded into one, biases and masks applied in place, nothing computed
that is not needed. `frugal_deep_step` is the yardstick for memory: each activation is dropped as soon as its gradient
has passed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from workloads import BATCH, EPS, HEADS, LENGTH, RATE, SEQUENCES, WIDTH, Step, block, digits


def as_modules_store(weight: Any) -> Any:
    """The same (in, out) matrix, lying in memory as (out, in): OpenBLAS takes longer over it."""
    return np.ascontiguousarray(weight.T).T


def weight_gradient(x: Any, g: Any, weight: Any) -> Any:
    """x.T @ g, lying in memory as the weight does."""
    return x.T @ g if weight.flags.c_contiguous else (g.T @ x).T


def train_step(modules: bool = False) -> Step:
    x, labels, parameters = digits()
    if modules:
        parameters = [as_modules_store(p) if p.ndim == 2 else p for p in parameters]
    w1, b1, w2, b2 = parameters
    rows = np.arange(BATCH)

    def step() -> Any:
        hidden = x @ w1
        hidden += b1
        np.maximum(hidden, 0, out=hidden)
        scores = hidden @ w2
        scores += b2

        scores -= scores.max(1, keepdims=True)
        scores -= np.log(np.exp(scores).sum(1, keepdims=True))  # now logarithms of probabilities
        step.loss = -scores[rows, labels].mean()  # type: ignore[attr-defined]
        g_scores = np.exp(scores)
        g_scores[rows, labels] -= 1
        g_scores /= np.float32(BATCH)

        g_hidden = g_scores @ w2.T
        g_hidden *= hidden > 0
        g_w1, g_w2 = weight_gradient(x, g_hidden, w1), weight_gradient(hidden, g_scores, w2)
        gradients = [g_w1, g_hidden.sum(0), g_w2, g_scores.sum(0)]
        for p, g in zip(parameters, gradients, strict=True):
            p -= np.float32(RATE) * g
        return gradients

    return step


def transformer(modules: bool = False) -> Step:
    batch, p = block()
    if modules:
        p = {name: as_modules_store(v) if v.ndim == 2 else v for name, v in p.items()}
    x = batch.reshape(-1, WIDTH)  # all positions of all sequences
    scale = np.float32((WIDTH // HEADS) ** -0.5)
    heads_shape = (SEQUENCES, LENGTH, 3, HEADS, WIDTH // HEADS)

    def normalise(x: Any, name: str) -> tuple[Any, Any, Any]:
        centred = x - x.mean(-1, keepdims=True)
        inverse = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + np.float32(EPS))
        centred *= inverse
        out = centred * p[f"{name}.gain"]
        out += p[f"{name}.bias"]
        return out, centred, inverse

    def normalise_back(g: Any, unit: Any, inverse: Any, name: str, gradients: dict[str, Any]) -> Any:
        gradients[f"{name}.gain"] = (g * unit).sum(0)
        gradients[f"{name}.bias"] = g.sum(0)
        g = g * p[f"{name}.gain"]
        along = (g * unit).mean(-1, keepdims=True)
        g -= g.mean(-1, keepdims=True)
        g -= unit * along
        g *= inverse
        return g

    def linear(x: Any, name: str) -> Any:
        out = x @ p[f"{name}.weight"]
        out += p[f"{name}.bias"]
        return out

    def linear_back(g: Any, x: Any, name: str, gradients: dict[str, Any]) -> Any:
        gradients[f"{name}.weight"] = weight_gradient(x, g, p[f"{name}.weight"])
        gradients[f"{name}.bias"] = g.sum(0)
        return g @ p[f"{name}.weight"].T

    def step() -> Any:
        first, unit1, _ = normalise(x, "norm1")
        q, k, v = linear(first, "qkv").reshape(heads_shape).transpose(2, 0, 3, 1, 4)
        attention = q @ k.swapaxes(-1, -2)
        attention *= scale
        attention -= attention.max(-1, keepdims=True)
        np.exp(attention, out=attention)
        attention /= attention.sum(-1, keepdims=True)
        mixed = (attention @ v).transpose(0, 2, 1, 3).reshape(-1, WIDTH)
        y = linear(mixed, "out")
        y += x
        second, unit2, inverse2 = normalise(y, "norm2")
        hidden = linear(second, "up")
        np.maximum(hidden, 0, out=hidden)
        z = linear(hidden, "down")
        z += y
        step.loss = (z * z).mean()  # type: ignore[attr-defined]

        gradients: dict[str, Any] = {}
        gz = z * np.float32(2 / z.size)
        g_hidden = linear_back(gz, hidden, "down", gradients)
        g_hidden *= hidden > 0
        gy = normalise_back(linear_back(g_hidden, second, "up", gradients), unit2, inverse2, "norm2", gradients)
        gy += gz
        g_mixed = linear_back(gy, mixed, "out", gradients)
        g_mixed = g_mixed.reshape(SEQUENCES, LENGTH, HEADS, -1).transpose(0, 2, 1, 3)
        g_scores = g_mixed @ v.swapaxes(-1, -2)
        g_scores -= (g_scores * attention).sum(-1, keepdims=True)
        g_scores *= attention
        g_scores *= scale
        g_heads = np.empty(heads_shape, np.float32)
        gq, gk, gv = g_heads.transpose(2, 0, 3, 1, 4)
        gq[...] = g_scores @ k
        gk[...] = g_scores.swapaxes(-1, -2) @ q
        gv[...] = attention.swapaxes(-1, -2) @ g_mixed
        g_first = linear_back(g_heads.reshape(-1, 3 * WIDTH), first, "qkv", gradients)
        gradients["norm1.gain"] = (g_first * unit1).sum(0)  # the input wants no gradient: the norm's way back ends here
        gradients["norm1.bias"] = g_first.sum(0)
        return [gradients[name] for name in p]

    return step


def deep_parameters(layers: int, width: int) -> list[Any]:
    """Weight and bias of each layer of a deep perceptron."""
    draw = np.random.default_rng(2)
    scale = np.float32((2 / width) ** 0.5)
    return [
        (draw.standard_normal((width, width), np.float32) * scale, np.zeros(width, np.float32)) for _ in range(layers)
    ]


def frugal_deep_step(x: Any, layers: list[Any]) -> list[Any]:
    """Gradients of mean(out ** 2), out = relu(... relu(x @ w + b) ...), holding as little as one can."""
    kept = [x]
    for w, b in layers:
        h = kept[-1] @ w
        h += b
        np.maximum(h, 0, out=h)
        kept.append(h)
    g = kept[-1] * np.float32(2 / h.size)
    del h
    gradients = []
    for i in reversed(range(len(layers))):
        g *= kept.pop() > 0
        gradients += [g.sum(0), kept[-1].T @ g]
        if i:
            g = g @ layers[i][0].T
    return gradients[::-1]
