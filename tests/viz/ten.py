"""The graphs on which the stepper is judged by eye: each function gives what `step` is given, as in cases.py."""

from pathlib import Path

import numpy as np

import minigrad as torch
from minigrad import course, nn
from minigrad.autograd import Function
from minigrad.nn import functional as F


def polynomial():
    x = torch.tensor(2.0, requires_grad=True)
    y = x**3 - 4 * x + 1
    return y, {"names": locals()}


def three_uses():
    x = torch.tensor(2.0, requires_grad=True)
    a = 3 * x
    b = x**2
    c = torch.sin(x)
    y = a * b + c
    return y, {"names": locals()}


def vector_sum():
    x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    y = (x**2).sum()
    return y, {"names": locals()}


def line_mse():
    torch.manual_seed(0)
    x = torch.tensor([[1.0, 2.0], [0.5, -1.0], [-1.5, 1.0], [2.0, 0.0]])
    t = torch.tensor([[1.0], [0.0], [2.0], [-1.0]])
    W = torch.tensor([[0.5], [-1.0]], requires_grad=True)
    b = torch.tensor([0.25], requires_grad=True)
    p = x @ W + b
    loss = ((p - t) ** 2).mean()
    return loss, {"names": locals()}


def plus_row():
    A = torch.tensor([[1.0, -2.0, 0.5], [3.0, 0.5, -1.0]], requires_grad=True)
    b = torch.tensor([0.5, 1.0, -0.5], requires_grad=True)
    s = A + b
    loss = (s * s).sum()
    return loss, {"names": locals()}


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2


def cube():
    x = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
    y = Cube.apply(x)
    loss = y.sum()
    return loss, {"names": locals()}


def in_place():
    w = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
    y = w * 2
    y[0] = 10.0
    y += 1
    loss = (y * y).sum()
    return loss, {"names": locals()}


def second_order():
    x = torch.tensor(2.0, requires_grad=True)
    y = x**3
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    z = slope * slope
    return z, {"names": locals()}


def digit_net():
    torch.manual_seed(0)
    stored = np.load(Path(course.__file__).parent / "data" / "digits.npz")
    images, labels = list(stored.values())[:2]
    x = torch.tensor(images[:6].reshape(6, -1) / 16, dtype=torch.float32)
    t = torch.tensor(labels[:6].astype(np.int64))
    W1 = (torch.randn(64, 8) * 0.1).requires_grad_()
    b1 = torch.zeros(8, requires_grad=True)
    W2 = (torch.randn(8, 10) * 0.3).requires_grad_()
    b2 = torch.zeros(10, requires_grad=True)
    h = torch.relu(x @ W1 + b1)
    scores = h @ W2 + b2
    loss = F.cross_entropy(scores, t)
    return loss, {"names": locals()}


def forty():
    x = torch.tensor(0.5, requires_grad=True)
    h = x
    for _ in range(20):
        h = torch.sin(h) * 1.1
    return h, {"names": locals()}


def total_loop():
    x = torch.tensor(3.0, requires_grad=True)
    loss = 0
    for v in (1.0, 2.0, -1.0):
        loss += (x * v) ** 2
    return loss, {"names": locals()}


TEN = [
    polynomial, three_uses, vector_sum, line_mse, plus_row, cube, in_place, second_order, digit_net, forty, total_loop,
]  # fmt: skip


class TwoLayers(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 3), nn.Linear(3, 2)

    def forward(self, x):
        h = torch.relu(self.first(x))
        return self.last(h)


def modules():
    torch.manual_seed(0)
    body, head = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)), TwoLayers()
    x, t = torch.randn(5, 4), torch.tensor([0, 1, 0, 1, 1])
    hidden = body(x)
    scores = head(hidden)
    loss = F.cross_entropy(scores, t)
    return loss, {"names": locals()}
