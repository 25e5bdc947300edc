"""Operations against a PyTorch that runs beside us, over many shapes and number types: values, types, two gradients.

Slow: needs PyTorch. Each line of PROGRAMS is run with `t` bound to minigrad and to PyTorch.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import minigrad.nn.functional

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.slow, pytest.mark.needs("torch")]

SHAPES = [(), (1,), (3,), (2, 3), (3, 1), (1, 3), (2, 1, 3), (0,), (2, 0), (2, 3, 4)]
ELEMENTWISE = """
abs neg exp exp2 expm1 sin cos tan asin acos atan sinh cosh tanh asinh atanh sigmoid relu floor ceil
trunc frac sign square erf erfc sinc round
""".split()  # noqa: SIM905
BINARY = """
add sub mul div maximum minimum fmax fmin atan2 hypot logaddexp copysign remainder fmod
""".split()  # noqa: SIM905
REDUCTIONS = ["sum", "mean", "prod", "amax", "amin", "logsumexp", "var", "std", "norm"]
PROGRAMS = """
x.sum(0, keepdim=True)
x.mean(-1)
x.var(0, unbiased=False)
x.max(0).values
x.min(-1)[0]
x.median(-1).values
x.sort(-1).values
x.sort(0, descending=True).values
x.topk(2, -1).values
x.cumsum(0)
x.cumprod(-1)
x.cummax(0).values
x.logcumsumexp(-1)
x.softmax(-1)
x.log_softmax(0)
x.clamp(-0.5, 0.5)
x.clamp(min=0)
x.reshape(-1)
x.flatten()
x.t()
x.mT
x.unsqueeze(1)
x.unsqueeze(0).squeeze(0)
x.expand(4, *x.shape)
x.repeat(2, 3)
x.flip(0)
x.roll(1, 0)
x.tril()
x.triu(1)
x.diagonal()
x.movedim(0, 1)
x[0]
x[:, 1]
x[..., -1]
x[1:, ::2]
x[[1, 0, 1]]
x[x > 0]
x[None, :, 0]
x[[0, 1], [1, 0]]
t.cat([x, x * 2], 1)
t.stack([x, -x], -1)
x.split(2, 1)[1]
x.chunk(2, -1)[0]
x.unbind(0)[1]
x.unfold(1, 2, 1)
x.diff()
t.where(x > 0, x, x * x)
x.masked_fill(x > 0, 2.0)
x.gather(1, t.tensor([[0, 0], [2, 1]]))
x.index_select(1, t.tensor([2, 2]))
x.scatter_add(1, t.tensor([[0, 0], [2, 1]]), x[:, 1:])
x.index_add(0, t.tensor([1, 1]), x)
x @ x.T
x @ x[0]
x[0] @ x.T
t.outer(x[0], x[1])
t.einsum('ij,kj->ik', x, x)
t.einsum('ij,ij->', x, x)
t.einsum('ij->j', x)
t.tensordot(x, x, dims=([1], [1]))
t.kron(x, x)
x ** 2
x ** 3
(x * x + 1) ** 0.5
2 ** x
2 / (x + 3)
1 - x
x % 2
x.abs() ** (x * 0 + 2)
x.norm(1)
x.norm(3, 0)
x.norm(float('inf'))
t.nn.functional.gelu(x)
t.nn.functional.gelu(x, approximate='tanh')
t.nn.functional.silu(x)
t.nn.functional.elu(x)
t.nn.functional.leaky_relu(x)
t.nn.functional.softplus(x)
t.nn.functional.mish(x)
t.nn.functional.logsigmoid(x)
t.nn.functional.layer_norm(x, (3,))
t.nn.functional.normalize(x)
t.nn.functional.cross_entropy(x, t.tensor([0, 2]))
t.nn.functional.mse_loss(x, x.detach() * 2 + 1)
t.nn.functional.pad(x, (1, 2), value=3.0)
t.nn.functional.conv1d(x.unsqueeze(0), t.ones(2, 2, 2, dtype=x.dtype))
t.nn.functional.max_pool1d(x.unsqueeze(0), 2)
t.nn.functional.avg_pool1d(x.unsqueeze(0), 2, 1)
""".strip().splitlines()


def numbers(shape: tuple[int, ...], seed: int, kind: str) -> np.ndarray[Any, Any]:
    draw = np.random.default_rng(seed)
    if kind.startswith("float"):
        return draw.uniform(-0.95, 0.95, shape).astype(kind)
    return draw.integers(0, 2, shape).astype(kind) if kind == "bool" else draw.integers(1, 9, shape).astype(kind)


def leaf(t: Any, array: Any, wanted: bool) -> Any:
    made = t.from_numpy(np.array(array)) if t is torch else mg.tensor(np.array(array))
    return made.requires_grad_() if wanted else made


def run(t: Any, program: Any, arrays: list[Any]) -> tuple[Any, list[Any]]:
    """The result, and (for floats) its gradient and the gradient of that, with fixed weights."""
    leaves = [leaf(t, a, a.dtype.kind == "f") for a in arrays]
    out = program(t, *leaves)
    found = [out]
    wanted = [x for x in leaves if x.requires_grad]
    if out.requires_grad:
        weight = leaf(t, np.arange(1.0, out.numel() + 1).reshape(tuple(out.shape)).astype(str(out.dtype)[6:]), False)
        grads = t.autograd.grad(out, wanted, weight, create_graph=True, allow_unused=True)
        found += grads
        total = [(g * g).sum() for g in grads if g is not None and g.requires_grad]
        second = t.autograd.grad(sum(total[1:], total[0]), wanted, allow_unused=True) if total else [None] * len(wanted)
        found += second
    return out, found


def compare(program: Any, arrays: list[Any], what: str) -> None:
    """Both must agree; where PyTorch raises, we raise the same type of exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _, want = run(torch, program, arrays)
        except (RuntimeError, IndexError, TypeError, NotImplementedError) as error:
            with pytest.raises(Exception) as ours:
                run(mg, program, arrays)
            same = {type(ours.value), type(error)} <= {
                RuntimeError,
                NotImplementedError,
            }  # which of two faults is seen first
            assert same or type(ours.value) is type(error), (what, ours.value, error)
            return
        _, got = run(mg, program, arrays)
    assert len(got) == len(want), what
    for g, w in zip(got, want, strict=True):
        if g is None or w is None:
            assert (g is None or not np.any(g.detach().numpy())) and (w is None or not bool(w.detach().any())), what
            continue
        assert tuple(g.shape) == tuple(w.shape), what
        assert str(g.dtype) == str(w.dtype), what
        a, b = g.detach().numpy().astype(float), w.detach().numpy(force=True).astype(float)
        precise = str(w.dtype) == "torch.float64" and not any(x.dtype == np.float32 for x in arrays)
        close = 1e-10 if precise else 2e-2 if str(w.dtype) == "torch.float16" else 2e-5
        scale = 1 + np.max(np.abs(b[np.isfinite(b)]), initial=0.0)
        np.testing.assert_allclose(a, b, rtol=close, atol=close * scale, err_msg=what)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name: str) -> None:
    for seed, shape in enumerate(SHAPES):
        for kind in ("float64", "float32", "int64", "uint8"):
            compare(lambda t, x: getattr(t, name)(x), [numbers(shape, seed, kind)], f"{name}{shape} {kind}")


@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str) -> None:
    kinds = ["float64", "float32", "int64", "int32", "float64"]
    for seed, a in enumerate(SHAPES):
        for other, b in enumerate(SHAPES):
            first, second = kinds[(seed + other) % 5], kinds[(seed * 3 + other * 2) % 5]
            arrays = [numbers(a, seed, first), numbers(b, 100 + other, second)]
            compare(lambda t, x, y: getattr(t, name)(x, y), arrays, f"{name} {a} {first} {b} {second}")


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str) -> None:
    for seed, shape in enumerate(SHAPES):
        if 0 in shape:
            continue
        for dim in range(-len(shape), len(shape)):
            for keepdim in (False, True):
                compare(
                    lambda t, x, dim=dim, keepdim=keepdim: getattr(x, name)(dim=dim, keepdim=keepdim),
                    [numbers(shape, seed, "float64")],
                    f"{name}{shape} {dim}",
                )


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("kind", ["float64", "float32", "int64"])
def test_programs(program: str, kind: str) -> None:
    code = compile(program, program, "eval")
    for seed in range(3):
        compare(lambda t, x: eval(code, {"t": t, "x": x}), [numbers((2, 3), seed, kind)], f"{program} {kind} {seed}")


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("groups", [1, 2])
def test_convolution(stride: int, padding: int, dilation: int, groups: int) -> None:
    arrays = [
        numbers((2, 4, 6, 5), 1, "float64"),
        numbers((4, 4 // groups, 2, 3), 2, "float64"),
        numbers((4,), 3, "float64"),
    ]
    compare(lambda t, x, w, b: t.nn.functional.conv2d(x, w, b, stride, padding, dilation, groups), arrays, "conv2d")
    compare(
        lambda t, x, w: t.nn.functional.conv_transpose2d(x, w, None, stride, padding, 0, groups, dilation),
        arrays[:2],
        "back",
    )
