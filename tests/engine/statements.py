"""What random programs are made of: the statements, and how one is drawn.

T stands for the library, `log` is a list that hooks write to. A statement that uses a custom Function comes after the
source of that Function (FUNCTIONS).
"""

from __future__ import annotations

import random

import numpy as np

SHAPES = [(), (1,), (3,), (2, 3), (3, 1), (1, 3), (3, 3), (2, 1, 3), (2, 3, 4), (4,), (0, 3)]
UNARY = [
    "sin()",
    "cos()",
    "tanh()",
    "sigmoid()",
    "exp()",
    "abs()",
    "relu()",
    "neg()",
    "square()",
    "sign()",
    "clone()",
    "detach()",
    "contiguous()",
    "logsumexp(-1)",
    "cumsum(-1)",
    "sum()",
    "mean()",
    "prod()",
    "max()",
    "min()",
    "sum(0)",
    "sum(-1,True)",
    "mean(0)",
    "mean(-1,keepdim=True)",
    "amax(0)",
    "amin(-1)",
    "max(-1).values",
    "min(0).values",
    "var(0)",
    "std(-1)",
    "norm()",
    "norm(dim=-1)",
    "t()",
    "flatten()",
    "reshape(-1)",
    "view(-1)",
    "unsqueeze(0)",
    "unsqueeze(-1)",
    "squeeze()",
    "flip(0)",
    "transpose(0,-1)",
    "tril()",
    "triu()",
    "expm1()",
    "atan()",
    "sinh()",
    "clamp(-0.5,0.5)",
    "clamp(min=0)",
    "pow(2)",
    "pow(3)",
    "erf()",
    "rsqrt()",
    "reciprocal()",
    "log()",
    "sqrt()",
    "floor()",
    "round()",
    "sort(-1).values",
    "mT",
    "T",
    "float()",
    "double()",
    "expand(2,-1,-1)",
    "expand(2,-1)",
    "narrow(0,0,1)",
    "select(0,0)",
    "repeat(2,1)",
    "trace()",
    "count_nonzero()",
    "celu()",
    "silu()",
    "leaky_relu()",
    "hardtanh()",
    "softplus()",
    "elu()",
    "logsigmoid()",
    "gelu()",
    "cumprod(0)",
    "cumprod(-1)",
    "logcumsumexp(-1)",
    "median()",
    "median(-1).values",
    "nansum()",
    "nansum(0)",
    "argmax()",
    "argmax(-1)",
    "argmin(0)",
    "argsort(dim=-1, stable=True)",
    "roll(1)",
    "roll(1, 0)",
    "diagonal()",
    "unfold(-1, 2, 2)",
    "unfold(0, 1, 1)",
    "unbind()[0]",
    "unbind(-1)[-1]",
    "split(2)[0]",
    "split(1, -1)[-1]",
    "split([1, 2])[1]",
    "chunk(2)[0]",
    "chunk(2, -1)[-1]",
    "tensor_split(2)[0]",
    "data",
    "softmax(-1)",
    "log_softmax(0)",
    "cummax(0).values",
    "kthvalue(1).values",
    "prod(0)",
    "prod(-1, True)",
    "squeeze(0)",
    "squeeze(-1)",
    "movedim(0, -1)",
    "ravel()",
    "diag()",
    "std()",
    "var(-1, unbiased=False)",
    "norm(1)",
    "norm(p=float('inf'))",
    "any()",
    "all(-1)",
    "logical_not()",
    "isnan()",
    "clone().detach_()",
    "long()",
]
FUNCTIONAL = {"celu()", "silu()", "leaky_relu()", "hardtanh()", "softplus()", "elu()", "logsigmoid()", "gelu()"}
INDEX = [
    "0",
    "-1",
    "..., 0",
    ":1",
    "1:",
    "::2",
    ":, 0",
    "[0, 0]",
    "[0, -1]",
    "None",
    "0, 0",
    ":, None",
    "..., :2",
    "[[0, 0], [0, 0]]",
]
BINARY = [
    "{a} + {b}",
    "{a} - {b}",
    "{a} * {b}",
    "{a} / {b}",
    "T.maximum({a}, {b})",
    "T.minimum({a}, {b})",
    "{a} @ {b}",
    "T.cat([{a}, {b}])",
    "T.stack([{a}, {b}])",
    "T.where({a} > {b}, {a}, {b})",
    "T.cat([{a}, {b}], -1)",
    "{a} ** {b}",
    "T.atan2({a}, {b})",
    "T.outer({a}, {b})",
    "{a}.expand_as({b})",
    "{a}[{b} > 0]",
    "{a} * {b}.detach()",
    "T.dot({a}, {b})",
    "{a}.masked_fill({b} > 0, 0.5)",
    "T.addcmul({a}, {b}, {b})",
    "T.lerp({a}, {b}, 0.3)",
    "{a} > {b}",
    "T.hypot({a}, {b})",
    "T.logaddexp({a}, {b})",
    "{a} // {b}",
    "{a} % {b}",
    "{a} == {b}",
    "T.einsum('i,i->', {a}, {b})",
    "T.bmm({a}, {b})",
    "{a}.type_as({b})",
]
NUMBER = [
    "{a} + {n}",
    "{n} - {a}",
    "{a} * {n}",
    "{n} * {a}",
    "{a} / {n}",
    "{n} / {a}",
    "{n} ** {a}",
    "{a} - {n}",
    "{a} ** {n}",
    "{a} // {n}",
    "{a} % {n}",
]
INPLACE = [
    "{a}.add_({b})",
    "{a}.mul_({b})",
    "{a}.sub_({b})",
    "{a} += {b}",
    "{a} *= {b}",
    "{a}.add_(1)",
    "{a}.mul_(2)",
    "{a}.exp_()",
    "{a}.tanh_()",
    "{a}.sigmoid_()",
    "{a}.relu_()",
    "{a}.copy_({b})",
    "{a}[{i}] = {b}",
    "{a}[{i}] = 0.5",
    "{a}[{i}] += 1",
    "{a}[{i}].mul_(2)",
    "{a}.clamp_(min=0)",
    "{a}.neg_()",
    "{a}.div_({b})",
    "{a}.detach().add_(1)",
    "{a}.abs_()",
    "{a}.neg_()",
    "{a}.t_()",
    "{a}.squeeze_()",
    "{a}.unsqueeze_(0)",
    "{a}.transpose_(0, -1)",
    "{a}.zero_()",
    "{a}.fill_(0.5)",
    "{a}.fill_({b}.detach().sum())",
    "{a}.data.mul_(0.5)",
    "{a}.pow_(2)",
    "{a}.masked_fill_({b} > 0, 0.5)",
    "{a}.add_({b}, alpha=2)",
    "{a}.sqrt_()",
    "{a}.clamp_(-1, 1)",
    "{a}[{b} > 0] = 1.0",
    "{a}.addcmul_({b}, {b})",
    "{a}.tril_()",
    "{a}.floor_()",
]
# PyTorch 2.13 crashes where a hook is put on a view whose base was overwritten, unless one asks for its grad_fn first.
AUTOGRAD_CALLS = [
    "{a}.grad_fn; {a}.register_hook(lambda g: log.append(float(g.sum())))",
    "{a}.grad_fn; {a}.register_hook(lambda g: g * 2)",
    "{a}.grad_fn; {a}.register_hook(lambda g: g * 0.5 + 1)",
    "{a}.grad_fn; h = {a}.register_hook(lambda g: g * 3)",
    "h.remove()",
    "{a}.register_post_accumulate_grad_hook(lambda p: log.append(float(p.grad.sum())))",
    "{a}.grad_fn.register_prehook(lambda o: log.append(sum(float(g.sum()) for g in o if g is not None)))",
    "{a}.retain_grad()",
    "{o} = {a}.detach().requires_grad_()",
    "{a}.requires_grad_(False)",
    "{a}.detach_()",
    "{a}.grad = None",
    "{a}.grad.zero_()",
    "{a}.grad = T.ones_like({a})",
    "{o} = {a}.grad",
    "with T.set_grad_enabled(False):\n    {o} = {a} * {b}",
    "with T.no_grad():\n    with T.enable_grad():\n        {o} = {a} * {b}",
    "with T.no_grad():\n    {o} = {a}[0]",
    "with T.no_grad():\n    {a}[0] = 0.5",
    "with T.no_grad():\n    {a} += 1",
    "{a}.sum().backward()",
    "{a}.sum().backward(inputs=[{b}], retain_graph=True)",
    "T.autograd.backward([{a}.sum(), {b}.sum()], retain_graph=True)",
    "{a}.backward(T.ones_like({a}), retain_graph=True)",
    "{o}, = T.autograd.grad(({a} * {b}).sum(), [{b}], allow_unused=True, retain_graph=True)",
    "{o}, = T.autograd.grad({a}.sum(), [{b}], materialize_grads=True, retain_graph=True)",
    "{o}, = T.autograd.grad({a}, {b}, T.ones_like({a}), retain_graph=True)",
    "{o}, = T.autograd.grad({a}, {b}, T.stack([T.ones_like({a}), {a}.detach()]), is_grads_batched=True, retain_graph=True)",
    "{o} = Twice.apply({a})",
    "{o} = Dirty.apply({a})",
    "{o} = sum(Pair.apply({a}, {b}))",  # unnamed: PyTorch crashes when a view of one is overwritten
    "{o} = Sorted.apply({a})[0] * 2",
    "{o} = T.mul({a}, {b}, out={a}.clone())",
    "T.exp({a}, out={a})",
    "{a}[{b} > 0] = {a}[{b} > 0] * 2",
    "{a}[T.tensor([0, -1])] = {b}[:1]",
    "{a}.index_put_((T.tensor([0, 0]),), {b}, accumulate=True)",
    "{a}[[0, -1]] += 1",
    "{a}[0][0].mul_(2)",
    "{a}[..., None][0].add_({b})",
    "{a}.view(-1)[::2].add_(1)",
    "{a}.t()[0].zero_()",
    "{a}.diagonal().mul_(2)",
    "{a}.unsqueeze(0)[0] += 1",
    "{a}.view(-1).unfold(0, 2, 1)[0].mul_({b})",
    "{o} = {a}.to(T.float32)",
    "{o} = ({a} > 0) * {b}",
    "{o} = {a}.int() + {b}",
]
FUNCTIONS = {
    "Twice": """class Twice(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = x * 2
        ctx.save_for_backward(x, out)
        return out
    @staticmethod
    def backward(ctx, g):
        x, out = ctx.saved_tensors
        log.append(ctx.needs_input_grad[0])
        return g * 2 + (out - 2 * x)""",
    "Dirty": """class Dirty(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(3)
        ctx.mark_dirty(x)
        return x
    @staticmethod
    def backward(ctx, g):
        return g * 3""",
    "Pair": """class Pair(T.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x + y
    @staticmethod
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        log.append(sum(ctx.needs_input_grad))
        return (g * y + h) if ctx.needs_input_grad[0] else None, (g * x + h) if ctx.needs_input_grad[1] else None""",
    "Sorted": """class Sorted(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        sign = T.sign(x)
        ctx.mark_non_differentiable(sign)
        ctx.save_for_backward(sign)
        return x.abs(), sign
    @staticmethod
    def backward(ctx, g, h):
        log.append(h is None)
        return None if g is None else g * ctx.saved_tensors[0]""",
}
NAMES = "abcdefgh"


def literal(rng: random.Random, shape: tuple[int, ...], kind: str) -> str:
    """Source of a tensor: short odd numbers, sometimes with a zero or a tie."""
    pool = [-1.31, -0.73, 0.41, 1.17, 0.97, -0.23, 2.39, 0.61] + ([0.0, 0.41, 1.0] if rng.random() < 0.3 else [])
    values = np.array([rng.choice(pool) for _ in range(int(np.prod(shape, dtype=int)))]).reshape(shape)
    if kind == "int64":
        return f"T.tensor({(values * 3).astype(int).tolist()}, dtype=T.int64)"
    grad = ", requires_grad=True" if rng.random() < 0.75 else ""
    body = values.tolist() if values.size else []
    reshape = "" if values.size else f".reshape({shape})"
    if reshape:
        return f"T.zeros({shape}, dtype=T.{kind}{grad})"
    return f"T.tensor({body}, dtype=T.{kind}{grad})"


def first(rng: random.Random, name: str) -> str:
    """A statement that makes a tensor out of nothing."""
    kind = rng.choices(["float64", "float32", "int64"], [8, 1, 1])[0]
    return f"{name} = {literal(rng, rng.choice(SHAPES), kind)}"


def step(rng: random.Random, have: list[str]) -> str:
    """A random statement over the variables there are."""
    a, b = rng.choice(have), rng.choice(have)
    out = rng.choice(NAMES[:6])
    if rng.random() < 0.2:
        return rng.choice(AUTOGRAD_CALLS).format(a=a, b=b, o=out)
    kind = rng.random()
    if kind < 0.38:
        op = rng.choice(UNARY)
        if op in FUNCTIONAL:
            return f"{out} = T.nn.functional.{op.replace('()', f'({a})')}"
        return f"{out} = {a}.{op}"
    if kind < 0.5:
        return f"{out} = {a}[{rng.choice(INDEX)}]"
    if kind < 0.72:
        return f"{out} = " + rng.choice(BINARY).format(a=a, b=b)
    if kind < 0.8:
        return f"{out} = " + rng.choice(NUMBER).format(a=a, n=rng.choice(["2", "0.5", "3.0", "-1", "1.5"]))
    if kind < 0.93:
        return rng.choice(INPLACE).format(a=a, b=b, i=rng.choice(INDEX[:7]))
    if kind < 0.95:
        return f"with T.no_grad():\n    {out} = {a} * 2"
    if kind < 0.96:
        return f"with T.no_grad():\n    {a}.mul_(0.5)"
    if kind < 0.97:
        return f"{a}.retain_grad()"
    if kind < 0.985:
        return f"{a}.sum().backward(retain_graph=True)"
    return f"{out} = T.autograd.grad(({a} * {a}).sum(), {b}, create_graph=True, allow_unused=True)[0]"


def ending(rng: random.Random, have: list[str]) -> list[str]:
    """Backward from the sum of some variables, perhaps twice, perhaps of second order."""
    roots = rng.sample(have, min(len(have), 3))
    total = " + ".join(f"({v} * {w}).sum()" for v, w in zip(roots, (0.7, 1.9, -1.3), strict=False))
    kind = rng.random()
    if kind < 0.55:
        return [f"z = {total}", "z.backward()"]
    if kind < 0.75:
        return [f"z = {total}", "z.backward(retain_graph=True)", "z.backward()"]
    x = rng.choice(have)
    return [
        f"z = {total}",
        f"y, = T.autograd.grad((z * z).sum(), {x}, create_graph=True, allow_unused=True)",
        "(y * y * 0.3).sum().backward()",
    ]
