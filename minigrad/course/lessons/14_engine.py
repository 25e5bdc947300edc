"""The engine that the six steps of lesson 14 build. It is read as text, never imported: 14_capstone.md makes answers of it."""

import numpy as np


class Tensor:
    made = 0

    def __init__(self, data, requires_grad=False):
        self.data = np.array(data, dtype=float)
        self.requires_grad = requires_grad
        self.grad = None
        self.op, self.parents, self.rules = "", (), ()
        Tensor.made += 1
        self.number = Tensor.made


def apply(name, forward, rules, *inputs):
    inputs = tuple(t if isinstance(t, Tensor) else Tensor(t) for t in inputs)
    out = Tensor(forward(*[t.data for t in inputs]))
    if any(t.requires_grad for t in inputs):
        out.requires_grad = True
        out.op, out.parents, out.rules = name, inputs, rules
    return out


def add(a, b):
    return apply("add", np.add, (lambda g, out, x, y: g, lambda g, out, x, y: g), a, b)


def mul(a, b):
    rules = (lambda g, out, x, y: g * y, lambda g, out, x, y: g * x)
    return apply("mul", np.multiply, rules, a, b)


def unbroadcast(g, shape):
    while g.ndim > len(shape):
        g = g.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1:
            g = g.sum(axis=axis, keepdims=True)
    return g


def topological_order(root):
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        t, opened = stack.pop()
        if opened:
            order.append(t)
        elif t not in seen:
            seen.add(t)
            stack.append((t, True))
            stack.extend((parent, False) for parent in t.parents)
    return order


def backward(self, gradient=None):
    if gradient is None and self.data.size != 1:
        raise RuntimeError("only scalar outputs need no gradient")
    start = np.ones(self.data.shape) if gradient is None else np.array(gradient, float)
    if start.shape != self.data.shape:
        raise RuntimeError(f"the gradient has the shape {start.shape}")
    upstream = {self: start}
    for t in reversed(topological_order(self)):
        if not t.parents and t in upstream:
            t.grad = upstream[t] if t.grad is None else t.grad + upstream[t]
        arrays = [parent.data for parent in t.parents]
        for parent, rule in zip(t.parents, t.rules):
            if parent.requires_grad:
                g = np.asarray(rule(upstream[t], t.data, *arrays))
                g = unbroadcast(g, parent.data.shape)
                upstream[parent] = upstream.get(parent, 0) + g


def sub(a, b):
    rules = (lambda g, out, x, y: g, lambda g, out, x, y: -g)
    return apply("sub", np.subtract, rules, a, b)


def div(a, b):
    rules = (lambda g, out, x, y: g / y, lambda g, out, x, y: -g * x / y**2)
    return apply("div", np.divide, rules, a, b)


def power(a, n):
    return apply("pow", lambda x: x**n, (lambda g, out, x: g * n * x ** (n - 1),), a)


def exp(a):
    return apply("exp", np.exp, (lambda g, out, x: g * out,), a)


def log(a):
    return apply("log", np.log, (lambda g, out, x: g / x,), a)


def tanh(a):
    return apply("tanh", np.tanh, (lambda g, out, x: g * (1 - out**2),), a)


def relu(a):
    rule = lambda g, out, x: g * (x > 0)
    return apply("relu", lambda x: np.maximum(x, 0), (rule,), a)


def matmul(a, b):
    rules = (lambda g, out, x, y: g @ y.T, lambda g, out, x, y: x.T @ g)
    return apply("matmul", np.matmul, rules, a, b)


def total(a, axis=None):
    def rule(g, out, x):
        g = g if axis is None else np.expand_dims(g, axis)
        return np.broadcast_to(g, x.shape)

    return apply("sum", lambda x: x.sum(axis=axis), (rule,), a)


def mean(a):
    return total(a) / a.data.size


def reshape(a, *shape):
    rule = lambda g, out, x: g.reshape(x.shape)
    return apply("reshape", lambda x: x.reshape(shape), (rule,), a)


def pick(a, index):
    def rule(g, out, x):
        full = np.zeros(x.shape)
        np.add.at(full, index, g)
        return full

    return apply("index", lambda x: x[index], (rule,), a)


def mse_loss(p, t):
    return mean((p - t) ** 2)


def cross_entropy_loss(z, targets):
    shifted = z - z.data.max(axis=1, keepdims=True)
    rows = np.arange(len(z.data))
    return mean(log(total(exp(shifted), 1)) - shifted[rows, targets])


def net(x, parameters):
    W1, b1, W2, b2 = parameters
    return relu(x @ W1 + b1) @ W2 + b2


def train(parameters, x, labels, rate, batch, epochs):
    losses = []
    for i in list(range(0, len(x), batch)) * epochs:
        scores = net(Tensor(x[i : i + batch]), parameters)
        loss = cross_entropy_loss(scores, labels[i : i + batch])
        loss.backward()
        for p in parameters:
            p.data -= rate * p.grad
            p.grad = None
        losses.append(float(loss.data))
    return losses


Tensor.__add__ = Tensor.__radd__ = add
Tensor.__mul__ = Tensor.__rmul__ = mul
Tensor.backward = backward
Tensor.__neg__ = lambda a: mul(a, -1.0)
Tensor.__sub__ = sub
Tensor.__rsub__ = lambda a, b: sub(b, a)
Tensor.__truediv__ = div
Tensor.__pow__ = power
Tensor.exp, Tensor.log, Tensor.tanh, Tensor.relu = exp, log, tanh, relu
Tensor.__matmul__, Tensor.sum, Tensor.mean = matmul, total, mean
Tensor.reshape, Tensor.__getitem__ = reshape, pick
