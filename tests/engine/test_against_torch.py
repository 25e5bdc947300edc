"""Operations beside PyTorch, over many shapes and number types: values, types, first and second gradients, refusals.

Slow: needs PyTorch. Fresh programs of whole graphs are in test_programs.py; the recorded ones in test_recorded.py.
"""

from __future__ import annotations

import inspect
import operator
import warnings
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from tests.together import together

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


def run(t: Any, program: Any, arrays: list[Any]) -> tuple[list[bool], list[Any]]:
    """Which results require a gradient; the results, and (for floats) their first and second gradients with fixed weights."""
    leaves = [t.from_numpy(np.array(a)).requires_grad_(a.dtype.kind == "f") for a in arrays]
    found = program(t, *leaves)
    found = [found] if isinstance(found, t.Tensor) else list(found)
    wanted, roots = [x for x in leaves if x.requires_grad], [y for y in found if y.requires_grad]
    flags = [y.requires_grad for y in found]
    if roots:
        weights = [t.arange(1.0, y.numel() + 1).to(y.dtype).reshape(y.shape) for y in roots]
        grads = t.autograd.grad(roots, wanted, weights, create_graph=True, allow_unused=True)
        found += grads
        total = [(g * g).sum() for g in grads if g is not None and g.requires_grad]
        found += t.autograd.grad(sum(total[1:], total[0]), wanted, allow_unused=True) if total else [None] * len(wanted)
    return flags, found


def compare(program: Any, arrays: list[Any], what: str) -> None:
    """Both must agree; where PyTorch raises, we raise the same type of exception."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            flags, want = run(torch, program, arrays)
        except (RuntimeError, IndexError, TypeError, ValueError) as error:
            with pytest.raises((type(error), NotImplementedError)):
                run(mg, program, arrays)
            return
        known, got = run(mg, program, arrays)
    assert known == flags, what
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


# Every public function whose first argument is a tensor, over inputs of every kind, in order in memory and transposed: what
# it needs is filled by type, an optional `dim` too. docs/differences.md names the kinds of calls that differ.
INPUTS = [((), "float64"), ((0,), "float64"), ((0, 3), "float64"), ((1,), "float64"), ((1, 1), "float32"), ((2, 3), "float64"),
          ((2, 3), "bool"), ((3,), "int64"), ((2, 1, 2), "float64"), ((), "int64")]  # fmt: skip
# Random numbers, and what has no derivative: there PyTorch refuses at another place.
LEFT_OUT = {"bernoulli", "dropout", "normal", "rand_like", "randn_like", "empty_like", "unique"}
OPERANDS = {"other", "weight", "min", "max"}  # numbers may stand there too
NUMBERS = (0, -1, 2, None)


def filled(argument: inspect.Parameter, shape: tuple[int, ...], kind: str, number: int | None) -> Any:
    """What stands for an argument of this type: an array becomes a tensor."""
    if argument.name in ("index", "indices"):
        return numbers(shape, 7, "bool").astype("int64")
    if argument.name == "mask":
        return numbers(shape, 7, "bool")
    if "Tensor" in str(argument.annotation).split(" | ")[0] or argument.name in OPERANDS | {"src"}:
        return numbers(shape, len(argument.name), kind)
    if "Sequence" in str(argument.annotation) or argument.name == "dims":
        return shape if number is None else (number, 1)[: 1 + (argument.name == "pad")]
    return 1 if number is None else number


def calls() -> Iterator[tuple[str, Any, list[Any]]]:
    """Each call in words, as a program, and the arrays of its tensors."""
    for space, module in (("", mg), ("nn.functional.", mg.nn.functional), ("linalg.", mg.linalg)):
        for name in sorted(set(dir(module)) - LEFT_OUT):
            function = getattr(module, name)
            taken = list(inspect.signature(function).parameters.values()) if callable(function) else []
            if not taken or taken[0].annotation != "Tensor":
                continue
            positional = [p for p in taken[1:] if p.kind is p.POSITIONAL_OR_KEYWORD]
            needed = [p for p in positional if p.default is p.empty or p.name == "src"]
            optional = [p.name for p in taken if p.name == "dim" and p not in needed]
            varied = optional or any(isinstance(filled(p, (), "int64", 0), (int, tuple)) for p in needed)
            chosen = NUMBERS if varied else NUMBERS[-1:]
            for (seed, (shape, kind)), number, turned in product(enumerate(INPUTS), chosen, (False, True)):
                if turned and len(shape) < 2:
                    continue
                rest = [filled(p, shape, kind, number) for p in needed]
                settings = dict.fromkeys(optional, number) if number is not None else {}
                tensors = [numbers(shape, seed, kind), *(each for each in rest if isinstance(each, np.ndarray))]

                def program(t: Any, *x: Any, path: str = space + name, given: Any = (rest, settings, turned)) -> Any:
                    values, named, turn = given
                    first, *tensors = [each.mT if turn and each.ndim > 1 else each for each in x]
                    left = iter(tensors)
                    positional = [next(left) if isinstance(each, np.ndarray) else each for each in values]
                    return operator.attrgetter(path)(t)(first, *positional, **named)

                plain = ["tensor" if isinstance(each, np.ndarray) else each for each in rest]
                yield f"{name} of {shape} {kind}: {plain} {settings} {turned}", program, tensors


@together("part", range(4))
def test_every_function_over_every_kind_of_input(part: int) -> None:
    different, some = [], [*calls()][part::4]
    for what, program, arrays in some:
        try:
            compare(program, arrays, what)
        except (Exception, pytest.fail.Exception):
            different.append(what)
    assert len(some) > 1000 and len(different) <= 0.015 * len(some), "\n".join([f"of {len(some)}", *different])
