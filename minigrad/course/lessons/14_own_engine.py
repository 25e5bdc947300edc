"""The engine of exercise 14.9, from an empty file. It is read as text, never imported: 14_capstone.md makes answers of it."""

import numpy as np


class MyTensor:
    recording, made = True, 0

    def __init__(self, data, requires_grad=False):
        self.data = np.array(data, dtype=float)
        self.requires_grad, self.grad = requires_grad, None
        self.op, self.parents, self.rules, self.version = "", (), None, [0]
        MyTensor.made += 1
        self.number = MyTensor.made

    def backward(self, gradient=None, retain_graph=False):
        my_walk(self, my_start(self, gradient), retain_graph)

    def detach(self):
        out = MyTensor(0.0)
        out.data, out.version = self.data, self.version
        return out

    def add_(self, amount):
        if self.requires_grad and not self.parents and MyTensor.recording:
            raise RuntimeError("a leaf that requires grad in an in-place operation")
        self.data += amount.data if isinstance(amount, MyTensor) else amount
        self.version[0] += 1
        return self


class my_no_grad:
    def __enter__(self):
        self.before = MyTensor.recording
        MyTensor.recording = False

    def __exit__(self, *error):
        MyTensor.recording = self.before


def my_apply(name, forward, rules, *inputs):
    inputs = [t if isinstance(t, MyTensor) else MyTensor(t) for t in inputs]
    try:
        out = MyTensor(forward(*[t.data for t in inputs]))
    except (ValueError, IndexError) as error:
        raise ValueError(f"{name}: {error}") from None
    if MyTensor.recording and any(t.requires_grad for t in inputs):
        out.requires_grad = True
        out.op, out.parents, out.rules = name, inputs, rules
        out.versions = [t.version[0] for t in inputs]
    return out


def my_start(root, gradient):
    if not root.requires_grad:
        raise RuntimeError("this tensor does not require grad")
    if gradient is None and root.data.size != 1:
        raise RuntimeError("only scalar outputs need no gradient")
    start = np.ones(root.data.shape) if gradient is None else np.array(gradient, float)
    if start.shape != root.data.shape:
        raise RuntimeError(f"the gradient has the shape {start.shape}")
    return start


def my_order(root):
    found = {root: None}
    waiting = [root]
    while waiting:
        new = [p for p in waiting.pop().parents if p.requires_grad and p not in found]
        found.update(dict.fromkeys(new))
        waiting.extend(new)
    return sorted(found, key=lambda t: -t.number)


def my_walk(root, start, retain_graph):
    upstream = {root: start}
    for t in my_order(root):
        g = upstream.pop(t)
        if not t.parents:
            t.grad = g if t.grad is None else t.grad + g
            continue
        for parent, contribution in my_contributions(t, g):
            upstream[parent] = upstream.get(parent, 0) + contribution
        if not retain_graph:
            t.rules = None


def my_contributions(t, g):
    if t.rules is None:
        raise RuntimeError("backward through the same graph a second time")
    if t.versions != [p.version[0] for p in t.parents]:
        raise RuntimeError(f"{t.op}: an input was changed by an in-place operation")
    arrays = [p.data for p in t.parents]
    for parent, rule in zip(t.parents, t.rules):
        if parent.requires_grad:
            yield parent, my_fit(np.asarray(rule(g, *arrays)), parent.data.shape)


def my_fit(g, shape):
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    return g.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)


def my_operation(method, name, forward, *rules):
    setattr(MyTensor, method, lambda *inputs: my_apply(name, forward, rules, *inputs))


my_operation("__add__", "add", np.add, lambda g, x, y: g, lambda g, x, y: g)
my_operation("__sub__", "sub", np.subtract, lambda g, x, y: g, lambda g, x, y: -g)
my_operation("__mul__", "mul", np.multiply, lambda g, x, y: g * y, lambda g, x, y: g * x)
my_operation("__truediv__", "div", np.divide, lambda g, x, y: g / y, lambda g, x, y: -g * x / y**2)
my_operation("__matmul__", "matmul", np.matmul, lambda g, x, y: g @ y.T, lambda g, x, y: x.T @ g)
my_operation("__neg__", "neg", np.negative, lambda g, x: -g)
my_operation("exp", "exp", np.exp, lambda g, x: g * np.exp(x))
my_operation("log", "log", np.log, lambda g, x: g / x)
my_operation("tanh", "tanh", np.tanh, lambda g, x: g / np.cosh(x) ** 2)
my_operation("relu", "relu", lambda x: np.maximum(x, 0), lambda g, x: g * (x > 0))
MyTensor.__radd__, MyTensor.__rmul__ = MyTensor.__add__, MyTensor.__mul__
MyTensor.__rsub__ = lambda a, b: -a + b
MyTensor.__pow__ = lambda a, n: my_apply("pow", lambda x: x**n, (lambda g, x: g * n * x ** (n - 1),), a)


def my_sum(a, axis=None):
    def rule(g, x):
        g = g if axis is None else np.expand_dims(g, axis)
        return np.broadcast_to(g, x.shape)

    return my_apply("sum", lambda x: x.sum(axis=axis), (rule,), a)


def my_index(a, index):
    def rule(g, x):
        full = np.zeros(x.shape)
        np.add.at(full, index, g)
        return full

    return my_apply("index", lambda x: x[index], (rule,), a)


MyTensor.sum, MyTensor.__getitem__ = my_sum, my_index
MyTensor.mean = lambda a: a.sum() / a.data.size
MyTensor.reshape = lambda a, *shape: my_apply(
    "reshape", lambda x: x.reshape(shape), (lambda g, x: g.reshape(x.shape),), a
)
