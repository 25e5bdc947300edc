"""Operations beside PyTorch, over many shapes and number types: values, types, first and second gradients, refusals.

Slow: needs PyTorch. Fresh programs of whole graphs are in test_programs.py; the recorded ones in test_recorded.py.
"""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np
import pytest

import minigrad as mg

torch = pytest.importorskip("torch")
pytestmark = [pytest.mark.slow, pytest.mark.needs("torch")]

SHAPES = [(), (1,), (3,), (2, 3), (3, 1), (1, 3), (2, 1, 3), (0,), (2, 0), (2, 3, 4)]
ELEMENTWISE = """
abs neg exp expm1 sin cos tan asin acos atan sinh cosh tanh sigmoid relu floor ceil trunc sign square erf round log sqrt
rsqrt reciprocal log1p log2 log10 isnan isfinite logical_not
""".split()  # noqa: SIM905
BINARY = """
add sub mul div maximum minimum atan2 remainder fmod pow eq lt logical_and
""".split()  # noqa: SIM905
REDUCTIONS = ["sum", "mean", "prod", "amax", "amin", "logsumexp", "var", "std", "norm", "all", "any", "argmax"]
ALONG = ["softmax", "log_softmax", "cumsum", "cumprod", "sort", "argsort", "median", "max", "min", "flip", "unbind", "diff"]


def numbers(shape: tuple[int, ...], seed: int, kind: str) -> Any:
    draw = np.random.default_rng(seed)
    if kind.startswith("float"):
        return draw.uniform(-0.95, 0.95, shape).astype(kind)
    return draw.integers(0, 2, shape).astype(kind) if kind == "bool" else draw.integers(1, 9, shape).astype(kind)


def run(t: Any, program: Any, arrays: list[Any]) -> list[Any]:
    """The results, and (for floats) their gradients and the gradients of these, with fixed weights."""
    leaves = [t.from_numpy(np.array(a)).requires_grad_(a.dtype.kind == "f") for a in arrays]
    found = program(t, *leaves)
    found = [found] if isinstance(found, t.Tensor) else list(found)
    wanted, roots = [x for x in leaves if x.requires_grad], [y for y in found if y.requires_grad]
    if roots:
        weights = [t.arange(1.0, y.numel() + 1).to(y.dtype).reshape(y.shape) for y in roots]
        grads = t.autograd.grad(roots, wanted, weights, create_graph=True, allow_unused=True)
        found += grads
        total = [(g * g).sum() for g in grads if g is not None and g.requires_grad]
        found += t.autograd.grad(sum(total[1:], total[0]), wanted, allow_unused=True) if total else [None] * len(wanted)
    return found


def compare(program: Any, arrays: list[Any], what: str) -> None:
    """Both must agree; where PyTorch raises, we raise the same type of exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            want = run(torch, program, arrays)
        except (RuntimeError, IndexError, TypeError) as error:
            with pytest.raises((type(error), NotImplementedError)):
                run(mg, program, arrays)
            return
        got = run(mg, program, arrays)
    for g, w in zip(got, want, strict=True):
        if g is None or w is None:
            there = g if w is None else w
            assert there is None or np.abs(there.detach().numpy(force=True)).max(initial=0.0) < 1e-12, what
            continue
        assert tuple(g.shape) == tuple(w.shape) and str(g.dtype) == str(w.dtype), what
        a, b = (y.detach().numpy(force=True).astype(float) for y in (g, w))
        precise = str(w.dtype) == "torch.float64" and not any(x.dtype == np.float32 for x in arrays)
        close = 1e-10 if precise else 2e-5
        scale = 1 + np.max(np.abs(b[np.isfinite(b)]), initial=0.0)
        np.testing.assert_allclose(a, b, rtol=close, atol=close * scale, err_msg=what)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name: str) -> None:
    for (seed, shape), kind in product(enumerate(SHAPES), ("float64", "float32", "int64", "uint8")):
        compare(lambda t, x: getattr(t, name)(x), [numbers(shape, seed, kind)], f"{name}{shape} {kind}")


@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str) -> None:
    kinds = ["float64", "float32", "int64", "int32", "float64"]
    for (i, a), (j, b) in product(enumerate(SHAPES), repeat=2):
        first, second = kinds[(i + j) % 5], kinds[(i * 3 + j * 2) % 5]
        arrays = [abs(numbers(a, i, first)), numbers(b, 100 + j, second)]
        compare(lambda t, x, y: getattr(t, name)(x, y), arrays, f"{name} {a} {first} {b} {second}")


@pytest.mark.parametrize("name", REDUCTIONS + ALONG)
def test_along_a_dimension(name: str) -> None:
    for seed, shape in enumerate(SHAPES):
        for dim, keepdim in product(range(-len(shape), len(shape)) if 0 not in shape else (), (False, True)):
            settings: Any = {"keepdim": keepdim} if name in REDUCTIONS else {}
            settings.update({"dims": (dim,)} if name == "flip" else {"dim": dim})
            arrays = [numbers(shape, seed, "float64")]
            compare(lambda t, x, settings=settings: getattr(t, name)(x, **settings), arrays, f"{name}{shape} {settings}")


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("stride", [1, 2])
def test_windows(stride: int, padding: int, dilation: int, groups: int) -> None:
    x, w, b = (numbers(shape, 1, "float64") for shape in ((2, 4, 6, 5), (4, 4 // groups, 2, 3), (4,)))
    compare(lambda t, x, w, b: t.nn.functional.conv2d(x, w, b, stride, padding, dilation, groups), [x, w, b], "conv2d")
    compare(lambda t, x: t.nn.functional.max_pool2d(x, 2, stride, padding), [x], "max_pool2d")
    compare(lambda t, x: t.nn.functional.avg_pool2d(x, 2, stride, padding), [x], "avg_pool2d")
    compare(lambda t, x: t.nn.functional.unfold(x, 2, dilation, padding, stride), [x], "unfold")


@pytest.mark.parametrize("shapes", [((2, 3), (3, 4)), ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 1, 2, 3), (4, 3, 2))])
def test_matrix_products(shapes: Any) -> None:
    compare(lambda t, x, y: x @ y, [numbers(shape, seed, "float64") for seed, shape in enumerate(shapes)], str(shapes))
