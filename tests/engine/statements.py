"""What random programs are made of: the statements, and how one is drawn.

T stands for the library, `log` is a list that hooks write to; {a} and {b} are tensors there are, {o} is a new one. A statement
that uses a custom Function comes after the source of that Function (FUNCTIONS).
"""

from __future__ import annotations

import random

import numpy as np

SHAPES = [(), (1,), (3,), (2, 3), (3, 1), (1, 3), (3, 3), (2, 1, 3), (2, 3, 4), (4,), (0, 3), (2, 0), (1, 1, 3)]


def listed(text: str) -> list[str]:
    return [part for line in text.strip().splitlines() for part in line.split(" | ")]


UNARY = listed("""
sin() | cos() | tanh() | sigmoid() | exp() | abs() | relu() | neg() | square() | sign() | clone() | detach()
contiguous() | logsumexp(-1) | cumsum(-1) | sum() | mean() | prod() | max() | min() | sum(0) | sum(-1,True) | mean(0)
mean(-1,keepdim=True) | amax(0) | amin(-1) | max(-1).values | min(0).values | var(0) | std(-1) | norm() | norm(dim=-1)
t() | flatten() | reshape(-1) | view(-1) | unsqueeze(0) | unsqueeze(-1) | squeeze() | flip(0) | transpose(0,-1)
tril() | triu() | expm1() | atan() | sinh() | clamp(-0.5,0.5) | clamp(min=0) | pow(2) | pow(3) | erf() | rsqrt()
reciprocal() | log() | sqrt() | floor() | round() | sort(-1).values | mT | T | float() | double() | expand(2,-1,-1)
expand(2,-1) | repeat(2,1) | trace() | count_nonzero() | cumprod(0) | cumprod(-1) | median() | median(-1).values
argmax() | argmax(-1) | argmin(0) | argsort(dim=-1, stable=True) | roll(1) | roll(1, 0) | diagonal() | unbind()[0]
unbind(-1)[-1] | split(2)[0] | split(1, -1)[-1] | split([1, 2])[1] | chunk(2)[0] | chunk(2, -1)[-1] | data
softmax(-1) | log_softmax(0) | prod(0) | prod(-1, True) | squeeze(0) | squeeze(-1) | movedim(0, -1) | ravel() | diag()
std() | var(-1, unbiased=False) | norm(1) | norm(p=float('inf')) | any() | all(-1) | logical_not() | isnan()
clone().detach_() | long() | sum((0, -1), True) | sum((0, 1)) | mean((0, 1), keepdim=True) | amax((0, -1), True)
amin((0, 1)) | var((0, 1), keepdim=True) | std((0, -1), unbiased=False) | logsumexp((0, 1)) | norm(dim=(0, 1))
norm(3, dim=-1, keepdim=True) | all((0, 1)) | bool() | int() | diff() | cumsum(0) | swapaxes(0, 1) | flatten(0, 1)
expand(3, *(-1,) * {a}.ndim) | view({a}.shape) | view(1, -1) | view_as({a}) | tile(2) | repeat_interleave(2, 0)
index_select(0, T.tensor([0, 0])) | gather(-1, T.zeros_like({a}, dtype=T.int64)) | nan_to_num() | log1p() | tan()
broadcast_to((2, *{a}.shape)) | topk(1).values | softmax(0) | mm({a}.t()) | trunc()
permute(-1, *range({a}.ndim - 1)) | unsqueeze(0).expand(2, *{a}.shape) | swapaxes(0, -1).reshape(-1)
type(T.float32).sum(-1)
""")
FUNCTIONAL = ['leaky_relu', 'softplus', 'logsigmoid', 'gelu', 'normalize']
INDEX = listed("""
0 | -1 | ..., 0 | :1 | 1: | ::2 | :, 0 | [0, 0] | [0, -1] | None | 0, 0 | :, None | ..., :2
""")
BINARY = listed("""
{a} + {b} | {a} - {b} | {a} * {b} | {a} / {b} | T.maximum({a}, {b}) | T.minimum({a}, {b}) | {a} @ {b}
T.cat([{a}, {b}]) | T.stack([{a}, {b}]) | T.where({a} > {b}, {a}, {b}) | T.cat([{a}, {b}], -1) | {a} ** {b}
T.atan2({a}, {b}) | T.outer({a}, {b}) | {a}.expand_as({b}) | {a}[{b} > 0] | {a} * {b}.detach() | T.dot({a}, {b})
{a}.masked_fill({b} > 0, 0.5) | T.lerp({a}, {b}, 0.3) | {a} > {b} | {a} // {b} | {a} % {b} | {a} == {b}
T.einsum('i,i->', {a}, {b}) | T.bmm({a}, {b}) | {a}.type_as({b}) | T.nn.functional.mse_loss({a}, {b})
T.nn.functional.smooth_l1_loss({a}, {b}) | T.nn.functional.l1_loss({a}, {b})
T.nn.functional.max_pool2d({a}.double()[None, None], 2, 1) | T.nn.functional.avg_pool2d({a}.double()[None, None], 2, 1)
T.nn.functional.nll_loss({a}.double().reshape(1, -1), T.tensor([0])) | T.nn.functional.leaky_relu({a} - {b}) * {b}
T.nn.functional.cross_entropy({a}.double().reshape(1, -1), T.tensor([0])) | T.relu({a} @ {b} + 0.1)
T.nn.functional.huber_loss({a}, {b}.to({a}.dtype), delta=0.5) | T.nn.functional.linear({a}, {b})
T.nn.functional.linear({a}, {b}, {b}[..., 0].contiguous()) | T.nn.functional.layer_norm({a}, {b}.shape)
T.nn.functional.cross_entropy({a}, {b}.softmax(-1))
T.nn.functional.binary_cross_entropy_with_logits({a}, {b}.sigmoid().to({a}.dtype)) | T.nn.functional.pad({a}, (1, 0), value=0.5)
T.where({a} > 0, {b}, 0.5) | T.addmm({a}, {b}, {a}) | T.broadcast_tensors({a}, {b})[0]
T.meshgrid({a}, {b}, indexing='ij')[1] | T.einsum('...i,...i->...', {a}, {b}) | {a}.masked_select({b} > 0)
{a}.scatter_add(-1, T.zeros_like({b}, dtype=T.int64), {b}) | {a}.index_add(0, T.tensor([0]), {b})
({a} > 0)|({b} > 0) | {a}.fmod({b}) | {a}.lerp({b}, {b}) | {a}.reshape({b}.shape)
T.linalg.solve({a}, {b} + 0.5) | {a}.inner({b})
""")
NUMBER = listed("""
{a} + {n} | {n} - {a} | {a} * {n} | {n} * {a} | {a} / {n} | {n} / {a} | {n} ** {a} | {a} - {n} | {a} ** {n}
{a} // {n} | {a} % {n}
""")
INPLACE = listed("""
{a}.add_({b}) | {a}.mul_({b}) | {a}.sub_({b}) | {a} += {b} | {a} *= {b} | {a}.add_(1) | {a}.mul_(2) | {a}.exp_()
{a}.tanh_() | {a}.sigmoid_() | {a}.relu_() | {a}.copy_({b}) | {a}[{i}] = {b} | {a}[{i}] = 0.5 | {a}[{i}] += 1
{a}[{i}].mul_(2) | {a}.clamp_(min=0) | {a}.neg_() | {a}.div_({b}) | {a}.detach().add_(1) | {a}.abs_() | {a}.zero_()
{a}.fill_(0.5) | {a}.fill_({b}.detach().sum()) | {a}.data.mul_(0.5) | {a}.pow_(2) | {a}.masked_fill_({b} > 0, 0.5)
{a}.add_({b}, alpha=2) | {a}.sqrt_() | {a}.clamp_(-1, 1) | {a}[{b} > 0] = 1.0 | {a}.floor_() | {a}[{b} > 0] += 1
{a}[{a} > 0] *= 2 | {a}[:, {b} > 0] = 0 | {a}[{a} > 0] = {b} | {a}[0][..., 0].mul_(2) | {a}.t()[0].view(-1).add_(1)
{a}.unsqueeze(0).squeeze(0).mul_({b}) | {a}.transpose(0, -1)[0].copy_({b}) | {a}.expand(2, -1).sum(0)[:1].add_(1)
{a}[1:][:, 0].mul_({b}) | {a}.split(1)[0].mul_(2) | {a}.unbind()[0].add_(1) | {a}.reshape(-1)[0].mul_(2)
{a}.view(-1, 1)[0] = {b} | {a}.index_add_(0, T.tensor([0]), {b}[:1])
{a}.scatter_(-1, T.zeros_like({b}, dtype=T.int64), {b}) | {a}.remainder_(2) | {a}.clamp_(min={b}) | {a} /= {b}
{a} -= 0.5 | {a} **= 2 | {a} @= {b} | {a}.square_() | {a}.log_() | {a}.reciprocal_() | {a}.sin_() | {a}.erf_()
{a}.data[0] = 0.5 | T.nn.functional.relu({a}, inplace=True) | T.nn.init.constant_({a}, 0.5)
{a}.permute(-1, *range({a}.ndim - 1))[0].add_({b}) | {a}.view(-1)[1:].copy_({b}.reshape(-1)[:1])
{a}.detach().view(-1)[0] = 0.5 | {a}.chunk(2)[1].exp_() | {a}[..., :1].transpose(0, -1).mul_({b})
""")
# PyTorch 2.13 crashes where a hook is put on a view whose base was overwritten, unless one asks for its grad_fn first.
AUTOGRAD_CALLS = listed("""
{a}.grad_fn; {a}.register_hook(lambda g: log.append(float(g.sum()))) | {a}.grad_fn; {a}.register_hook(lambda g: g * 2)
{a}.grad_fn; {a}.register_hook(lambda g: g * 0.5 + 1) | {a}.grad_fn; h = {a}.register_hook(lambda g: g * 3)
h.remove() | {a}.register_post_accumulate_grad_hook(lambda p: log.append(float(p.grad.sum())))
{a}.grad_fn.register_prehook(lambda o: log.append(sum(float(g.sum()) for g in o if g is not None)))
{a}.retain_grad() | {o} = {a}.detach().requires_grad_() | {a}.requires_grad_(False) | {a}.detach_() | {a}.grad = None
{a}.grad.zero_() | {a}.grad = T.ones_like({a}) | {o} = {a}.grad | {a}.sum().backward()
{a}.sum().backward(inputs=[{b}], retain_graph=True) | T.autograd.backward([{a}.sum(), {b}.sum()], retain_graph=True)
{a}.backward(T.ones_like({a}), retain_graph=True)
{o}, = T.autograd.grad(({a} * {b}).sum(), [{b}], allow_unused=True, retain_graph=True)
{o}, = T.autograd.grad({a}.sum(), [{b}], materialize_grads=True, retain_graph=True)
{o}, = T.autograd.grad({a}, {b}, T.ones_like({a}), retain_graph=True) | {o} = Twice.apply({a})
{o} = Dirty.apply({a}) | {o} = sum(Pair.apply({a}, {b})) | {o} = Sorted.apply({a})[0] * 2
{a}[{b} > 0] = {a}[{b} > 0] * 2 | {a}[T.tensor([0, -1])] = {b}[:1] | {a}[[0, -1]] += 1 | {a}[0][0].mul_(2)
{a}[..., None][0].add_({b}) | {a}.view(-1)[::2].add_(1) | {a}.t()[0].zero_() | {a}.diagonal().mul_(2)
{a}.unsqueeze(0)[0] += 1 | {o} = {a}.to(T.float32) | {o} = ({a} > 0) * {b} | {o} = {a}.int() + {b}
{o} = {a}.bool() * {b} | {o} = T.autograd.functional.hvp(lambda x: x.pow(3).sum(), {a}, {b})[1]
{o} = T.autograd.functional.jacobian(lambda x: x * {b}, {a})
{o} = T.autograd.functional.vjp(lambda x: x * x, {a}, {b}, create_graph=True)[1]
{a}.sum().backward(create_graph=True) | {o} = {a}.grad * {b}
{o}, = T.autograd.grad({a}.sum(), {b}, create_graph=True) | {o} = Cube.apply({a})
{o} = sum(o.sum() for o in Once.apply({a}, {b})) | {o} = Made.apply({a}, 2)
{a}.grad_fn.register_hook(lambda i, o: log.append(sum(float(g.sum()) for g in o if g is not None)))
{a}.grad_fn.register_hook(lambda i, o: tuple(None if g is None else g * 2 for g in i))
{a}.grad_fn; {a}.register_hook(lambda g: g.clamp(-1, 1)) | {a}.grad_fn; {a}.register_hook(lambda g: None)
{o} = T.nn.Parameter({a}.detach().clone()) | {a}.requires_grad_() | {o} = T.zeros_like({a}).requires_grad_()
{o} = {a}.new_ones(2, 3) | {o} = {a}.clone().requires_grad_(False) | {o} = {a}.detach()[0]
{a}.register_post_accumulate_grad_hook(lambda p: [p.grad.mul_(2)] and None)
{a}.register_post_accumulate_grad_hook(lambda p: setattr(p, 'grad', None))
{a}.grad_fn; {a}.register_hook(lambda g: g * {b}.detach())
{a}.grad_fn; {a}.register_hook(lambda g: (g * g).sum() * g)
{a}.grad_fn.register_prehook(lambda o: tuple(None if g is None else g * 2 for g in o))
{a}.grad_fn; {a}.retain_grad(); {a}.register_hook(lambda g: g * 2)
{o} = T.autograd.grad(({a} * {b}).sum(), [{a}, {b}], create_graph=True, allow_unused=True)[0]
{o} = T.autograd.grad(({a}.sin() + {b}).sum(), [{a}, {b}], materialize_grads=True, retain_graph=True)[1]
{o}, = T.autograd.grad([{a}.sum(), ({b} * {b}).sum()], [{b}], [None, T.tensor(2.0)], create_graph=True)
{o} = T.autograd.grad(T.autograd.grad({a}.pow(3).sum(), {a}, create_graph=True)[0].sum(), {a}, create_graph=True)[0]
{o} = T.autograd.grad({a}.exp().sum(), {a}, create_graph=True)[0] * {b} | {a}.exp().sum().backward(create_graph=True)
({a} * {b}).sum().backward(inputs=[{a}, {b}])
{o} = ({a} * {b}).sum(); {o}.backward(retain_graph=True); {o}.backward() | {o} = Written.apply({a}, {b})[1]
{o} = Looked.apply({a}) | {o} = Swapped.apply({a}, {b})[0] | {o} = Again.apply({a}) | {o} = {a}.data.requires_grad_()
{o} = {a}.detach(); {o}.mul_(2) | {a}.data = {a}.detach() * 2 | {o} = {a}.to({b}.dtype) + {b}
{o} = {a}.float() @ {b}.float() | with T.set_grad_enabled(False): {o} = {a} * {b}
with T.no_grad(), T.enable_grad(): {o} = {a} * {b} | with T.no_grad(): {o} = {a}[0]
with T.no_grad(): {a}[0] = 0.5 | with T.no_grad(): {a} += 1 | with T.inference_mode(): {o} = {a} * 2
with T.inference_mode(): {o} = {a}[0] | with T.inference_mode(): {a}.mul_(2)
with T.inference_mode(), T.enable_grad(): {o} = {a} * {b} | with T.no_grad(), T.enable_grad(): {a}.mul_({b})
with T.enable_grad(), T.no_grad(): {o} = {a}.view(-1) | with T.no_grad(): {a}.copy_({b})
with T.no_grad(): {a}.view(-1)[0] = 0.5
with T.autograd.graph.saved_tensors_hooks(lambda t: t * 1, lambda t: t): {o} = {a} * {b}
with T.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t): {o} = {a}.tanh() * {b}
with T.autograd.graph.saved_tensors_hooks(lambda t: t.detach().numpy().copy(), T.from_numpy): {o} = {a} * {b}
with T.autograd.graph.saved_tensors_hooks(lambda t: t.detach() * 2, lambda t: t): {o} = {a}.exp() * {b}
with T.no_grad(): {o} = {a}.detach().requires_grad_() | with T.inference_mode(False): {o} = {a} * {b}
with T.inference_mode(): {o} = {a}.clone() | with T.inference_mode(): {o} = {a}.view(-1)
with T.inference_mode(): {a}.grad = None | with T.no_grad(): {o} = {a}.view(-1); {o}.requires_grad_()
""")
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
    "Cube": """class Cube(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 3 * x**2""",
    "Once": """class Once(T.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.made = x.sin()
        return ctx.made * y, y.clone()
    @staticmethod
    @T.autograd.function.once_differentiable
    def backward(ctx, g, h):
        x, y = ctx.saved_tensors
        return g * y * x.cos(), g * ctx.made + h""",
    "Made": """class Made(T.autograd.Function):
    @staticmethod
    def forward(x, n):
        return x * n
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.n = inputs[1]
        ctx.save_for_backward(output)
    @staticmethod
    def backward(ctx, g):
        log.append(float(ctx.saved_tensors[0].detach().sum()))
        return g * ctx.n, None""",
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
    "Written": """class Written(T.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        x.add_(1)
        ctx.mark_dirty(x)
        ctx.save_for_backward(y)
        return x, x * y
    @staticmethod
    def backward(ctx, g, h):
        y, = ctx.saved_tensors
        return g + h * y, h * 2""",
    "Looked": """class Looked(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(-1)
    @staticmethod
    def backward(ctx, g):
        return g.view_as(g) * 2""",
    "Swapped": """class Swapped(T.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return y, x
    @staticmethod
    def backward(ctx, g, h):
        log.append(float(g.sum() + h.sum()))
        return h, g""",
    "Again": """class Again(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin() * x
    @staticmethod
    def backward(ctx, g):
        with T.enable_grad():
            x = ctx.saved_tensors[0].detach().requires_grad_()
            return T.autograd.grad((x.sin() * x).sum(), x)[0] * g""",
}
NAMES = "abcdefgh"


def literal(rng: random.Random, shape: tuple[int, ...], kind: str) -> str:
    """Source of a tensor: short odd numbers, sometimes with a zero or a tie."""
    pool = [-1.31, -0.73, 0.41, 1.17, 0.97, -0.23, 2.39, 0.61] + ([0.0, 0.41, 1.0] if rng.random() < 0.3 else [])
    values = np.array([rng.choice(pool) for _ in range(int(np.prod(shape, dtype=int)))]).reshape(shape)
    if kind in ("int64", "bool"):
        values = (values * 3).astype(int) if kind == "int64" else values > 0
    grad = ", requires_grad=True" if "float" in kind and rng.random() < 0.75 else ""
    made = f"T.tensor({values.tolist()}" if values.size else f"T.zeros({shape}"
    return f"{made}, dtype=T.{kind}{grad})"


def first(rng: random.Random, name: str) -> str:
    """A statement that makes a tensor out of nothing."""
    kind = rng.choices(["float64", "float32", "float16", "int64", "bool"], [32, 5, 1, 4, 2])[0]
    return f"{name} = {literal(rng, rng.choice(SHAPES), kind)}"


def step(rng: random.Random, have: list[str]) -> str:
    """A random statement over the variables there are."""
    a, b = rng.choice(have), rng.choice(have)
    out = rng.choice(NAMES[:6])
    if rng.random() < 0.25:
        return rng.choice(AUTOGRAD_CALLS).format(a=a, b=b, o=out)
    kind = rng.random()
    if kind < 0.38:
        name = rng.choice(UNARY + FUNCTIONAL)
        return f"{out} = T.nn.functional.{name}({a})" if name in FUNCTIONAL else f"{out} = {a}.{name.replace('{a}', a)}"
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
    if kind < 0.25:  # a gradient penalty: all second derivatives
        leaves = f"[v for v in ({', '.join(have)},) if v.requires_grad]"
        found = f"T.autograd.grad(z, {leaves}, create_graph=True, allow_unused=True)"
        size = "sum([(g * g * 0.3).sum() for g in found if g is not None and g.requires_grad], z * 0)"
        return [f"z = {total}", f"found = {found}", f"p = {size}", "p.backward()"]
    if kind < 0.55:
        return [f"z = {total}", "z.backward()"]
    if kind < 0.65:
        return [f"z = {total}", "z.backward(retain_graph=True)", "z.backward()"]
    if kind < 0.72:
        write = rng.choice(INPLACE).format(a=rng.choice(have), b=rng.choice(have), i=rng.choice(INDEX[:7]))
        return [f"z = {total}", "z.backward(retain_graph=True)", write, "z.backward()"]
    if kind < 0.78:
        x = rng.choice(have)
        again = f"y, = T.autograd.grad((y * y * 0.3).sum(), {x}, create_graph=True, allow_unused=True)"
        once = f"y, = T.autograd.grad(z, {x}, create_graph=True, allow_unused=True)"
        return [f"z = {total}", once, again, again, "y.sum().backward()"]
    x = rng.choice(have)
    return [
        f"z = {total}",
        f"y, = T.autograd.grad((z * z).sum(), {x}, create_graph=True, allow_unused=True)",
        "(y * y * 0.3).sum().backward()",
    ]
