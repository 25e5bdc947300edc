"""One small graph for each case that the stepper must show. Each function returns what `step` is given.

`names` also keeps the leaves alive: a tape does not hold them.
"""

import minigrad as torch
from minigrad.autograd import Function


def scalar():
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(-3.0, requires_grad=True)
    c = a * b
    loss = c * 0.5
    return loss, {"names": locals()}


def fan_out():
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    c = a + b
    d = a * b
    loss = c + d + c * d
    return loss, {"names": locals()}


def square():
    a = torch.tensor(3.0, requires_grad=True)
    loss = a * a
    return loss, {"names": locals()}


def vector():
    x = torch.tensor([1.5, -2.0, 0.5, -0.25], requires_grad=True)
    h = torch.relu(x)
    loss = (h * torch.tensor([2.0, 3.0, -1.0, 4.0])).sum()
    return loss, {"names": locals()}


def matmul():
    x = torch.tensor(
        [[1.0, -2.0, 0.5], [3.0, 0.5, -1.0], [-0.5, 2.0, 4.0], [1.5, -1.0, 2.0]], requires_grad=True
    )
    W = torch.tensor([[2.0, -1.0], [0.5, 3.0], [-1.5, 1.0]], requires_grad=True)
    out = x @ W
    G = torch.tensor([[1.0, -2.0], [0.5, 3.0], [-1.0, 0.5], [2.5, 1.5]])
    return out, {"gradient": G, "names": locals()}


def batched():
    torch.manual_seed(0)
    x = torch.rand(2, 3, 4, requires_grad=True)
    W = torch.rand(4, 2, requires_grad=True)
    loss = (x @ W).sum()
    return loss, {"names": locals()}


def broadcast():
    X = torch.tensor([[1.0, -2.0, 0.5], [3.0, 0.5, -1.0]])
    w = torch.tensor([[2.0], [-1.0]], requires_grad=True)
    b = torch.tensor([0.5, 1.0, -0.5], requires_grad=True)
    h = X * w + b
    loss = (h * h).sum()
    return loss, {"names": locals()}


def reduction():
    x = torch.tensor([[1.0, -2.0, 0.5], [3.0, 0.5, -1.0]], requires_grad=True)
    m = x.mean()
    s = x.sum(0)
    loss = m * s.sum()
    return loss, {"names": locals()}


def index():
    x = torch.tensor([1.0, -2.0, 0.5, 3.0], requires_grad=True)
    y = x[1:3]
    z = x[[0, 0, 1]]
    loss = (y * y).sum() + (z * 2).sum()
    return loss, {"names": locals()}


def shapes():
    x = torch.tensor([[1.0, -2.0, 0.5], [3.0, 0.5, -1.0]], requires_grad=True)
    t = x.T
    r = t.reshape(6)
    loss = (r * torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])).sum()
    return loss, {"names": locals()}


class Scale(Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return x * k

    @staticmethod
    def backward(ctx, g):
        return g * ctx.k, None


class Both(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a + b, a * b

    @staticmethod
    def backward(ctx, gs, gp):
        a, b = ctx.saved_tensors
        return gs + gp * b, gs + gp * a


def custom():
    x = torch.tensor([1.0, -2.0, 0.5], requires_grad=True)
    y = Scale.apply(x, 3.0)
    loss = (y * y).sum()
    return loss, {"names": locals()}


def two_outputs():
    a = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor(3.0, requires_grad=True)
    s, p = Both.apply(a, b)
    loss = s * p
    return loss, {"names": locals()}


def cut():
    x = torch.tensor(3.0, requires_grad=True)
    y = x**2
    d = y.detach()
    k = torch.tensor(2.0)
    loss = d * x * k
    return loss, {"names": locals()}


def not_finite():
    x = torch.tensor([0.0, 1.0, 4.0], requires_grad=True)
    y = torch.sqrt(x)
    loss = (y * torch.tensor([0.0, 1.0, 1.0])).sum()
    return loss, {"names": locals()}


def second_pass():
    x = torch.tensor(3.0, requires_grad=True)
    y = x**2
    y.backward()
    loss = x**2
    return loss, {"names": locals()}


def given_vector():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x**2
    return y, {"gradient": torch.tensor([1.0, 0.5, -2.0]), "names": locals()}


def layers():
    torch.manual_seed(0)
    h = torch.rand(2, 3)
    for _ in range(20):
        W = torch.rand(3, 3, requires_grad=True)
        b = torch.rand(3, requires_grad=True)
        h = torch.relu(h @ W + b) * 0.5
    loss = (h * h).sum()
    return loss, {"names": locals()}


def chain():
    y = torch.tensor(0.9, requires_grad=True)
    for _ in range(200):
        y = torch.sin(y)
    return y, {"names": locals()}


def mlp():
    torch.manual_seed(0)
    x = torch.rand(64, 20)
    t = torch.rand(64, 3)
    W1 = torch.rand(20, 12, requires_grad=True)
    b1 = torch.rand(12, requires_grad=True)
    W2 = torch.rand(12, 3, requires_grad=True)
    z = x @ W1 + b1
    a = torch.tanh(z)
    p = a @ W2
    loss = ((p - t) ** 2).mean()
    return loss, {"names": locals()}


def wrong_rule():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    w = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
    y = x * w
    loss = (y * y).sum()
    return loss, {"rules": {"mul": lambda g, x, y: (g * y, g * y)}, "names": locals()}


class Value:
    """What a student writes in lesson 03; `faulty` has the best-known bug, `=` where `+=` belongs."""

    faulty = False

    def __init__(self, data, parents=(), op=""):
        self.data, self.grad = data, 0.0
        self._prev, self._op, self._backward = parents, op, lambda: None

    def __add__(self, other):
        out = type(self)(self.data + other.data, (self, other), "+")

        def push():
            for v in (self, other):
                v.grad = out.grad if self.faulty else v.grad + out.grad

        out._backward = push
        return out

    def __mul__(self, other):
        out = type(self)(self.data * other.data, (self, other), "*")

        def push():
            for v, factor in ((self, other.data), (other, self.data)):
                v.grad = factor * out.grad if self.faulty else v.grad + factor * out.grad

        out._backward = push
        return out


class FaultyValue(Value):
    faulty = True


def own_engine():
    a, b = Value(2.0), Value(3.0)
    c = a + b
    d = a * b
    loss = c + d + c * d
    return loss, {"names": locals()}


def own_faulty_engine():
    a, b = FaultyValue(2.0), FaultyValue(3.0)
    c = a + b
    d = a * b
    loss = c + d + c * d
    return loss, {"names": locals()}


CASES = [
    scalar, fan_out, square, vector, matmul, batched, broadcast, reduction, index, shapes, custom, two_outputs, cut,
    not_finite, second_pass, given_vector, layers, chain, mlp, wrong_rule, own_engine, own_faulty_engine,
]  # fmt: skip
