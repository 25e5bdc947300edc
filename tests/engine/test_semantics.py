"""The meaning of single operations where PyTorch decided something: names of nodes, ties, nan, masks, types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad.autograd import grad


def leaf(*values: float) -> Any:
    return mg.tensor(values, dtype=mg.float64, requires_grad=True)


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (lambda x: x.t(), "TBackward0"),
        (lambda x: x[0].t(), "TBackward0"),
        (lambda x: x[0].diag(), "DiagEmbedBackward0"),
        (lambda x: x.roll(1), "RollBackward0"),
        (lambda x: x.split([1, 1])[0], "SplitWithSizesBackward0"),
        (lambda x: (x * 1).zero_(), "ZeroBackward0"),
        (lambda x: (x * 1).fill_(2), "FillBackward2"),
        (lambda x: x.clamp_min(0), "ClampMinBackward0"),
        (lambda x: x[:2], "SliceBackward0"),
    ],
)
def test_nodes_have_pytorchs_names(made: Any, name: str) -> None:
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    assert type(made(x).grad_fn).__name__ == name


@pytest.mark.parametrize(
    ("expression", "slope"),
    [
        ("x.relu()", [0, 0, 1]),
        ("x.abs()", [-1, 0, 1]),
        ("T.maximum(x, T.zeros(3))", [0, 0.5, 1]),
        ("T.minimum(x, T.zeros(3))", [1, 0.5, 0]),
        ("x.clamp(min=0)", [0, 1, 1]),
        ("x.clamp(0, 1)", [0, 1, 1]),
        ("x.clamp(-1, 0.5)", [0, 1, 0]),
        ("F.leaky_relu(x, 0.25)", [0.25, 0.25, 1]),
        ("x.masked_fill(x < 0, 3.0)", [0, 1, 1]),
        ("T.where(x < 0, 3.0, x)", [0, 1, 1]),
        ("x.sign() + x.floor() + x.round()", [0, 0, 0]),
        ("F.smooth_l1_loss(x, x.detach(), reduction='none')", [0, 0, 0]),
        ("F.l1_loss(x, T.zeros(3), reduction='none')", [-1, 0, 1]),
    ],
)
def test_the_slope_at_a_kink(expression: str, slope: list[float]) -> None:
    x = mg.tensor([-2.0, 0.0, 1.0], requires_grad=True)
    y = eval(expression, {"T": mg, "F": mg.nn.functional, "x": x})
    for create_graph in (False, True):
        (g,) = grad(y.sum(), x, retain_graph=True, create_graph=create_graph)
        assert g.tolist() == slope


def test_ties_and_nan_in_a_maximum() -> None:
    x = leaf(1.0, 3.0, 3.0)
    x.max().backward()
    assert x.grad.tolist() == [0.0, 0.5, 0.5]
    x = leaf(1.0, float("nan"))
    x.max().backward()
    assert x.grad.tolist() == [0.0, 1.0]


def test_powers_of_booleans() -> None:
    b = mg.tensor([True, False])
    assert (b**2).dtype is mg.int64 and (b**2).tolist() == [1, 0]
    assert (mg.tensor([3, 4]) ** False).tolist() == [1, 1] and (mg.tensor([3, 4]) ** b).tolist() == [3, 1]


def test_booleans_cannot_be_subtracted() -> None:
    mask = mg.tensor([True, False])
    for operands in ((mg.ones(2), mask), (mask, mg.ones(2)), (mask, 1), (1, mask)):
        with pytest.raises(RuntimeError, match="with a bool tensor is not supported"):
            operands[0] - operands[1]


def test_a_numpy_integer_is_an_index() -> None:
    x = mg.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert x[np.int64(1), np.int32(0)].item() == 3
    with pytest.raises(IndexError, match=r"got numpy\.float64"):
        x[np.float64(1)]


def test_det_of_a_matrix_that_only_rounding_keeps_from_being_singular() -> None:
    x = mg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], dtype=mg.float64, requires_grad=True)
    mg.linalg.det(x).backward()
    cofactors = [[-3.0, 6.0, -3.0], [6.0, -12.0, 6.0], [-3.0, 6.0, -3.0]]
    assert mg.allclose(x.grad, mg.tensor(cofactors, dtype=mg.float64))


def test_counting_with_fractions_as_integers() -> None:
    """Smaller integers count first and lose the fractions then; int64 loses them first."""
    assert mg.arange(1.1, 5.1, 2, dtype=mg.uint8).tolist() == mg.arange(1.1, 5.1, 2, dtype=mg.int64).tolist() == [1, 3]
    assert mg.arange(0, 2, 0.5, dtype=mg.int32).tolist() == [0, 0, 0, 0]
    with pytest.raises(RuntimeError, match="step must be nonzero"):
        mg.arange(0, 2, 0.5, dtype=mg.int64)


@pytest.mark.parametrize("index", [7, -1])
def test_take_along_dim_of_everything_checks_its_index(index: int) -> None:
    with pytest.raises(RuntimeError, match=f"index {index} is out of bounds"):
        mg.take_along_dim(mg.arange(3), mg.tensor([index]))


def test_a_window_has_two_sides() -> None:
    with pytest.raises(RuntimeError, match="two for height and width"):
        mg.nn.functional.max_pool2d(mg.ones(1, 1, 4, 4), (2, 2, 3))


def test_norms_of_other_orders_at_zero() -> None:
    x = leaf(0.0, 1.0, 4.0)
    (g,) = grad(x.norm(1.5), x, create_graph=True)
    (again,) = grad(g.sum(), x)
    assert np.isfinite(g.detach().numpy()).all() and np.isfinite(again.numpy()[1:]).all()


def test_a_list_with_parts_is_a_tuple_of_indices() -> None:
    x = mg.arange(12).reshape(3, 4)
    assert x[[[0, 1], [1, 2]]].tolist() == [1, 6]
    assert x[[mg.tensor([0, 1]), 1]].tolist() == [1, 5]
    assert x[[[0, 1]]].tolist() == x[[0, 1]].tolist()


def test_what_pytorch_refuses_is_refused() -> None:
    with pytest.raises(TypeError, match="must be bool"):
        mg.set_grad_enabled(lambda: 1)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="empty"):
        mg.zeros(2, 0).norm(p=float("inf"))
    with pytest.raises(RuntimeError, match="source tensor shape"):
        mg.tensor(1.0).index_add(0, mg.tensor([0]), mg.ones(1))
    with pytest.raises(IndexError, match="out of range in self"):
        mg.ones(3).index_add(0, mg.tensor([-1]), mg.ones(1))
    with pytest.raises(TypeError, match="ByteTensor"):
        mg.set_rng_state(mg.ones(3))
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        mg.nn.functional.gelu(mg.tensor([1]))
    with pytest.raises(NotImplementedError, match=""""abs_cpu" not implemented for 'Bool'"""):
        mg.tensor([True]).abs()
    with pytest.raises(NotImplementedError, match="log_softmax_lastdim_kernel_impl"):
        mg.nn.functional.cross_entropy(mg.tensor([[3, 1]]), mg.tensor([0]))
    for divide in (mg.fmod, mg.remainder, mg.floor_divide):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            divide(mg.tensor([3]), mg.tensor([0]))
        assert divide(mg.tensor([3])[1:], 0).tolist() == []
    with pytest.raises(RuntimeError, match="derivative for aten::floor_divide is not implemented"):
        (leaf(5.0, 7.0) // 2).sum().backward()
    with pytest.raises(RuntimeError, match="mat2 must be a matrix, got 1-D tensor"):
        mg.nn.functional.linear(mg.ones(1, 1), mg.ones(1), mg.ones(1))
    with pytest.raises(ValueError, match="1D target must have size 1, but got target size: 3"):
        mg.nn.functional.nll_loss(mg.zeros(3), mg.tensor([0, 1, 2]))


def test_a_list_to_join_may_begin_with_nothing_that_needs_a_gradient() -> None:
    empty = mg.zeros(0, requires_grad=True)
    joined = mg.cat([empty, mg.ones(2, 3, dtype=mg.float64)], 1)
    assert joined.shape == (2, 3) and joined.dtype is mg.float64
    joined.sum().backward()
    assert empty.grad is not None and empty.grad.shape == (0,)


def test_a_rest_of_0_has_the_sign_of_what_was_divided() -> None:
    x, y = mg.tensor([-6.0, 6.0, -7.0]), mg.tensor([3.0, -3.0, 3.0])
    assert np.signbit((x % y).numpy()).tolist() == [True, False, False]
    assert str(x[0] % 3) == "tensor(-0.)" and (x % y).tolist() == [0, 0, 2]


def test_no_dimensions_for_any_and_all_ask_each_element() -> None:
    x = mg.tensor([[0, 1]])
    assert x.any(()).tolist() == x.all([]).tolist() == [[False, True]]


def test_the_loss_of_no_samples() -> None:
    x, target = mg.zeros(0, 3, requires_grad=True), mg.zeros(0, dtype=mg.int64)
    assert mg.nn.functional.cross_entropy(x, target, reduction="sum") == 0
    loss = mg.nn.functional.cross_entropy(x, target)
    loss.backward()
    assert loss.isnan() and x.grad.shape == (0, 3)


def test_einsum_adds_bytes_as_int64() -> None:
    total = mg.einsum("i->", mg.tensor([200, 100], dtype=mg.uint8))
    assert total.dtype is mg.int64 and total == 300


def test_nan_has_no_sign() -> None:
    assert mg.tensor([float("nan"), -2.0, float("inf")]).sign().tolist() == [0.0, -1.0, 1.0]


def test_at_a_bound_that_is_a_tensor_the_gradient_passes() -> None:
    x, least = leaf(1.0, 2.0, 3.0), leaf(1.0, 2.5, 0.0)
    x.clamp(min=least).sum().backward()
    assert x.grad.tolist() == [1.0, 0.0, 1.0] and least.grad.tolist() == [0.0, 1.0, 0.0]


def test_a_leaf_that_got_other_data_and_was_freed() -> None:
    x, w = leaf(3.0), leaf(2.0)
    y = (w * x).sum()
    w.data = mg.tensor([10.0])
    del w
    y.backward()
    assert x.grad.tolist() == [10.0]
