"""Indexing, promotion and matrix products against what PyTorch did, recorded; kernels against their transposes."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import dtypes, gathering, layout, special_functions, windows

RULES = json.loads((Path(__file__).parents[1] / "data" / "rules.json").read_text(encoding="utf-8"))


def test_indexing() -> None:
    """Shape and elements, or exception and message; also the gradient, which marks what was picked."""
    for shape, code, *want in RULES["indexing"]:
        x = mg.arange(float(np.prod(shape))).reshape(shape)
        try:
            found = eval(f"x[{code}]", {"x": x, "t": mg.tensor})
            got = [list(found.shape), found.reshape(-1).tolist()]
        except (IndexError, TypeError, ValueError, RuntimeError) as error:
            got = [type(error).__name__, str(error)]
        assert got == want, (shape, code)
        if isinstance(want[1], list):
            leaf = x.clone().requires_grad_()
            eval(f"x[{code}]", {"x": leaf * 1, "t": mg.tensor}).sum().backward()
            marked = np.bincount(np.array(want[1], int), minlength=x.numel()).reshape(shape)
            np.testing.assert_array_equal(leaf.grad.numpy(), marked)


def test_writing_by_index_writes_what_reading_reads() -> None:
    for shape, code, *want in RULES["indexing"]:
        if not isinstance(want[1], list):
            continue
        x = mg.arange(float(np.prod(shape))).reshape(shape)
        before = x.clone()
        exec(f"x[{code}] = 100.0", {"x": x, "t": mg.tensor})
        picked = np.isin(before.numpy(), want[1])
        np.testing.assert_array_equal(x.numpy(), np.where(picked, 100, before.numpy()))


@pytest.mark.parametrize(
    ("program", "error", "message"),
    [
        ("x[[0]] = t.tensor(4)", RuntimeError, "Index put requires the source and destination dtypes match, got Float"),
        ("x[t.tensor([0]), 1] = t.zeros(1).double()", RuntimeError, "for the destination and Double for the source."),
        ("x[x > 0] = t.zeros(5).double()", RuntimeError, "Index put requires"),
        ("x[0] = t.zeros(2, 3)", RuntimeError, r"expand\(torch.FloatTensor{\[2, 3\]}, size=\[3\]\)"),
        ("x[::0]", ValueError, "slice step cannot be zero"),
        ("x[::-1]", ValueError, "step must be greater than zero"),
        ("x[t.tensor([0], dtype=t.int16)]", IndexError, "tensors used as indices must be long, int, byte or bool"),
        ("x[:0][t.tensor([0])]", IndexError, "index is out of bounds for dimension with size 0"),
        ("x['a']", TypeError, r"new\(\): invalid data type 'str'"),
        ("x[0, 0, 1.5]", IndexError, "too many indices for tensor of dimension 2"),
    ],
)
def test_an_index_refused(program: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        exec(program, {"x": mg.arange(6.0).reshape(2, 3), "t": mg})


def test_a_mask_is_filled_with_a_number_of_another_type() -> None:
    x = mg.arange(6).reshape(2, 3)
    x[x > 3] = mg.tensor(2.5)
    assert x.tolist() == [[0, 1, 2], [3, 2, 2]]


def test_what_is_picked_lies_in_order() -> None:
    x = mg.arange(24.0).reshape(2, 3, 4)
    assert x[:, mg.tensor([2, 0])].view(-1).tolist() == [*range(8, 12), *range(4), *range(20, 24), *range(12, 16)]


def test_promotion() -> None:
    def operand(name: str, rank: str) -> Any:
        if rank == "number":
            return {"f": 2.5, "i": 3, "u": 3, "b": True}[np.dtype(name).kind]
        return np.ones((2,) if rank == "vector" else (), name)[()]

    for key, want in RULES["promotion"].items():
        a, i, b, j = key.split()
        x, y = operand(a, i), operand(b, j)
        assert dtypes.result_type(x, y).name == want, key
        first, second = dtypes.promote(x, y)
        assert (first * second).dtype == np.dtype(want), key


def test_matrix_products_of_all_ranks() -> None:
    for a, b, want in RULES["products"]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                got: Any = list((mg.zeros(a) @ mg.zeros(b)).shape)
        except RuntimeError as error:
            got = str(error)
        assert got == want, (a, b)


def adjoint(forward: Any, backward: Any, x: Any, seed: int) -> None:
    """<A x, y> = <x, A' y>, for a linear map and its transpose."""
    out = forward(x)
    y = np.random.default_rng(seed).normal(size=out.shape)
    np.testing.assert_allclose((out * y).sum(), (x * backward(y)).sum(), rtol=1e-10)


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("dilation", [1, 2])
def test_linear_kernels_and_their_transposes(stride: int, padding: int, dilation: int) -> None:
    draw = np.random.default_rng(stride * 10 + padding)
    x, w = draw.normal(size=(2, 4, 9, 8)), draw.normal(size=(6, 2, 3, 2))
    s, p, d, k = (stride, stride), (padding, padding), (dilation, dilation), (3, 2)
    adjoint(lambda v: windows.conv(v, w, s, p, d, 2), lambda g: windows.conv_input(g, w, (9, 8), s, p, d, 2), x, 1)
    adjoint(lambda v: windows.conv(x, v, s, p, d, 2), lambda g: windows.conv_weight(g, x, k, s, p, d, 2), w, 2)
    adjoint(lambda v: windows.unfold(v, k, d, p, s), lambda g: windows.fold(g, (9, 8), k, d, p, s), x, 3)
    for ceil in (False, True):
        for include in (False, True):
            adjoint(
                lambda v, ceil=ceil, include=include: windows.avg_pool(v, k, s, p, ceil, include, None),
                lambda g, include=include: windows.avg_pool_input(g, (9, 8), k, s, p, include, None),
                x,
                4,
            )
        index = windows.max_pool_indices(x, k, s, p, d, ceil)
        adjoint(
            lambda v, index=index: windows.take_places(v, index, 2),
            lambda g, index=index: windows.put_places(g, index, (9, 8)),
            x,
            5,
        )
    adjoint(lambda v: windows.slide(v, 2, 3, stride), lambda g: windows.add_slide(g, x.shape, 2, 3, stride), x, 6)
    for offset in (-2, 0, 1):
        adjoint(
            lambda v, offset=offset: layout.diagonal(v, offset, 1, 3),
            lambda g, offset=offset: layout.put_diagonal(g, x.shape, offset, 1, 3),
            x,
            7,
        )
    rows = draw.integers(0, 9, 50)
    adjoint(lambda v: v[:, :, rows], lambda g: gathering.put(x.shape, (slice(None), slice(None), rows), g), x, 8)
    flat = x.reshape(-1, 8)
    many = draw.integers(0, len(flat), 500)
    adjoint(lambda v: v[many], lambda g: gathering.put(flat.shape, (many,), g), flat, 9)


def test_special_functions_agree_with_the_standard_library() -> None:
    import math

    x = np.concatenate([np.linspace(-6, 6, 241), [1e-9, -1e-9, 0.0, 26.0]])
    np.testing.assert_allclose(special_functions.erf(x), [math.erf(v) for v in x], rtol=1e-14, atol=1e-300)
    np.testing.assert_allclose(special_functions.erfc(x), [math.erfc(v) for v in x], rtol=1e-11, atol=1e-300)
    inner = x[np.abs(x) < 3]
    np.testing.assert_allclose(special_functions.erfinv(special_functions.erf(inner)), inner, rtol=1e-9, atol=1e-12)
    positive = np.linspace(0.1, 30, 100)
    np.testing.assert_allclose(special_functions.lgamma(positive), [math.lgamma(v) for v in positive], rtol=1e-14)
    step = 1e-5
    slope = (special_functions.lgamma(positive + step) - special_functions.lgamma(positive - step)) / (2 * step)
    np.testing.assert_allclose(special_functions.polygamma(positive, 0), slope, rtol=1e-6, atol=1e-6)
