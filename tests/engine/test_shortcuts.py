"""Where the engine takes a shorter way, the numbers are those of the long one."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import gathering, sums

DRAW = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(300,), (20, 30), (7, 9, 11), (3, 5, 7, 11), (2, 2000), (2, 3, 0, 90)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_sums_over_any_dimensions(shape: tuple[int, ...], dtype: Any) -> None:
    x = (DRAW.standard_normal(shape) * 10).astype(dtype)
    x = x.T if len(shape) == 4 else x  # also where memory is in another order
    for k in range(x.ndim + 1):
        for dims in combinations(range(x.ndim), k):
            for keepdim in (False, True):
                got, right = sums.total(x, dims, keepdim), x.astype(np.float64).sum(dims, keepdims=keepdim)
                assert np.shape(got) == right.shape and got.dtype == x.dtype, dims
                np.testing.assert_allclose(got, right, rtol=1e-5, atol=1e-3 if dtype is np.float32 else 1e-10)
    np.testing.assert_allclose(sums.total(x, -1), x.sum(-1), rtol=1e-5, atol=1e-3)
    np.testing.assert_allclose(sums.total(x, None), x.sum(), rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("top", [1.0, 39.0, 41.0, 1000.0])
@pytest.mark.parametrize("shape, dim", [((40, 30), 1), ((40, 30), 0), ((4, 40, 30), 1), ((10, 5), -1)])
def test_softmax_of_small_and_of_large_numbers(top: float, shape: tuple[int, ...], dim: int) -> None:
    x = np.clip(DRAW.standard_normal(shape) * top / 3, -top, top).astype(np.float32)
    x.reshape(-1)[:2] = top, -top
    wide = x.astype(np.float64)
    right = np.exp(wide - wide.max(dim, keepdims=True))
    right /= right.sum(dim, keepdims=True)
    np.testing.assert_allclose(mg.tensor(x).softmax(dim).numpy(), right, rtol=3e-6, atol=1e-30)
    np.testing.assert_allclose(mg.tensor(x).log_softmax(dim).exp().numpy(), right, rtol=3e-4, atol=1e-30)


def test_softmax_of_infinities_and_nan_in_bulk() -> None:
    x = np.zeros((60, 30), np.float32)
    x[0, 0], x[1, 1], x[2, 2] = -np.inf, np.inf, np.nan
    p = mg.tensor(x).softmax(1).numpy()
    assert p[0, 0] == 0 and np.isclose(p[0, 1:].sum(), 1)
    assert np.isnan(p[1, 1]) and np.isnan(p[2]).all()
    np.testing.assert_allclose(p[3:], 1 / 30, rtol=1e-6)


@pytest.mark.parametrize("wrong", [10, -1, -11, 2**40])
def test_classes_that_do_not_exist_are_refused(wrong: int) -> None:
    scores = mg.zeros(4, 10)
    with pytest.raises(IndexError, match=f"Target {wrong} is out of bounds"):
        mg.nn.functional.cross_entropy(scores, mg.tensor([1, 2, 3, wrong]))


def test_ignored_classes_count_nothing() -> None:
    scores = mg.tensor(DRAW.standard_normal((4, 10)), requires_grad=True)
    some = mg.nn.functional.cross_entropy(scores, mg.tensor([1, -100, 3, -100]))
    some.backward()
    two = mg.nn.functional.cross_entropy(scores.detach()[::2], mg.tensor([1, 3]))
    assert some.item() == pytest.approx(two.item())
    assert not scores.grad[1].any() and scores.grad[0].any()


def test_a_write_without_a_detour_still_counts_and_refuses() -> None:
    p = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    before = p._version
    with mg.no_grad():
        p -= 0.5 * mg.ones(2, 2)
        p *= 2.0
        p += p
        with pytest.raises(RuntimeError, match="single memory location"):
            p -= p.T
    assert p._version == before + 3
    assert p.tolist() == [[2.0, 6.0], [10.0, 14.0]]
    flags = mg.tensor([True, False])
    with pytest.raises(RuntimeError, match="bool"):
        flags -= flags
    with pytest.raises(RuntimeError, match="leaf Variable"):
        p -= 1.0


@pytest.mark.parametrize("whole", [False, True])
def test_parts_are_put_back_into_one_array(whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    put = gathering.put
    monkeypatch.setattr(gathering, "put", lambda shape, key, g: made.append(key) or put(shape, key, g))
    numbers = DRAW.standard_normal((50, 3))
    x, weights = mg.tensor(numbers, requires_grad=True), DRAW.standard_normal((51, 3))
    y = x * 2
    total = (y[10:30] * 7).sum() + (y * 5).sum() * whole
    for i, row in enumerate(y):  # each row, and the one before it, and some of them a second time
        total = total + (row * mg.tensor(weights[i])).sum() + (y[i - 1, 1:] * 3).sum()
    total.backward()
    right = 2 * weights[:50] + 2 * 5 * whole
    right[:, 1:] += 6
    right[10:30] += 14
    np.testing.assert_allclose(x.grad.numpy(), right)
    assert len(made) == 1


def test_parts_of_a_single_number_and_with_hooks() -> None:
    x = mg.tensor(3.0, requires_grad=True)
    (x[...] * 2 + x[...] * 5).backward()
    assert x.grad.item() == 7
    x = mg.tensor([1.0, 2.0, 4.0], requires_grad=True)
    seen = []
    first, second, rest = x[0], x[1], x[1:]
    first.grad_fn.register_hook(lambda given, _: (given[0] * 10,))
    rest.register_hook(lambda g: seen.append(g.tolist()))
    (first * 2 + second * 3 + rest.sum() * 5).backward(retain_graph=True)
    assert x.grad.tolist() == [20, 8, 5] and seen == [[5, 5]]
    (twice,) = mg.autograd.grad((first * 2 + second**3 + (rest**2).sum()), x, create_graph=True)
    assert twice.tolist() == [20, 16, 8]
    assert mg.autograd.grad(twice.sum(), x)[0].tolist() == [0, 14, 2]


def test_a_student_s_rule_for_a_part_is_asked_each_time() -> None:
    x = mg.tensor([1.0, 2.0, 4.0], requires_grad=True)
    with mg.replace("select", lambda g, x_shape: np.full(x_shape, g)):
        y = x[0] * 2 + x[1] * 3
    y.backward()
    assert x.grad.tolist() == [5, 5, 5]
    (x[0] * 2 + x[1] * 3).backward()
    assert x.grad.tolist() == [7, 8, 5]
