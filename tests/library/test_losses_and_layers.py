"""Layers, losses and initial values: numbers and gradients as recorded, and what no number shows."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import minigrad as mg
from minigrad import nn
from tests import recorded

F = nn.functional


def test_values_and_gradients() -> None:
    assert recorded.differing(mg, "layers") == []


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.mse_loss(x, x * x + 1),
        lambda x: F.huber_loss(x, x * x + 1, delta=0.4),
        lambda x: F.cross_entropy(x, mg.tensor([1, 0]), label_smoothing=0.1),
        lambda x: F.binary_cross_entropy_with_logits(x, mg.full((2, 2), 0.3).double()),
        lambda x: F.binary_cross_entropy(x.sigmoid(), mg.full((2, 2), 0.3).double()),
        lambda x: F.layer_norm(x, (2,), mg.tensor([1.0, 2.0]).double()),
        lambda x: F.batch_norm(x * 2, None, None, training=True),
        lambda x: F.embedding(mg.tensor([1, 1]), x * x, padding_idx=0),
        lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True),
        F.gelu,
    ],
)
def test_losses_and_layers_differentiate_twice(function: Any) -> None:
    mg.manual_seed(1)
    x = mg.randn(2, 2, dtype=mg.float64, requires_grad=True)
    assert mg.autograd.gradcheck(function, x) and mg.autograd.gradgradcheck(function, x)


def test_statistics_of_batch_norm_move_only_in_training() -> None:
    norm, x = nn.BatchNorm2d(3), mg.randn(4, 3, 2, 2)
    norm(x)
    mean = norm.running_mean.tolist()
    assert mean != [0.0, 0.0, 0.0] and norm.num_batches_tracked.item() == 1
    norm.eval()(x)
    assert norm.running_mean.tolist() == mean and norm.num_batches_tracked.item() == 1


def test_clipping_writes_into_the_gradient() -> None:
    w = nn.Parameter(mg.zeros(2))
    w.grad = gradient = mg.tensor([3.0, 4.0])
    assert nn.utils.clip_grad_norm_([w], 1.0).item() == 5.0
    assert w.grad is gradient and w.grad.tolist() == pytest.approx([0.6, 0.8], rel=1e-5)
    nn.utils.clip_grad_value_(w, 0.7)
    assert gradient.tolist() == pytest.approx([0.6, 0.7], rel=1e-5)
    assert nn.utils.clip_grad_norm_([], 1.0).item() == 0.0
    w.grad = mg.tensor([float("nan"), 1.0])
    with pytest.raises(TypeError, match="leaves out the argument 'error_if_nonfinite'"):
        nn.utils.clip_grad_norm_([w], 1.0, error_if_nonfinite=True)
    assert nn.utils.clip_grad_norm_([w], 1.0, error_if_nonfinite=False).isnan()


def test_ignored_classes_count_nothing() -> None:
    scores = mg.randn(4, 10, requires_grad=True)
    some = F.cross_entropy(scores, mg.tensor([1, -100, 3, -100]))
    some.backward()
    two = F.cross_entropy(scores.detach()[::2], mg.tensor([1, 3]))
    assert some.item() == pytest.approx(two.item())
    assert not scores.grad[1].any() and scores.grad[0].any()


@pytest.mark.parametrize(("reduction", "shown"), [("mean", "tensor(0.)"), ("sum", "tensor(0.)"), ("none", "tensor([-0.])")])
def test_a_certain_answer_costs_nothing(reduction: str, shown: str) -> None:
    assert repr(F.cross_entropy(mg.tensor([[50.0, 0.0, 0.0]]), mg.tensor([0]), reduction=reduction)) == shown


def test_a_target_of_another_shape_is_warned_of() -> None:
    with pytest.warns(UserWarning, match=r"Using a target size \(torch.Size\(\[3, 1\]\)\) that is different to the input size"):
        F.mse_loss(mg.ones(3), mg.ones(3, 1))
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax has been deprecated"):
        F.softmax(mg.ones(2, 2))


def test_a_layer_may_have_no_inputs() -> None:
    layer = nn.Linear(0, 2)
    assert layer(mg.zeros(3, 0)).tolist() == [[0.0, 0.0]] * 3


def test_the_gradient_of_a_bias_has_a_derivative_of_zeros() -> None:
    x = mg.ones(2, 1, 3, 3, requires_grad=True)
    for layer in (nn.Conv2d(1, 1, 2), nn.LayerNorm(3), nn.BatchNorm2d(1)):
        (g,) = mg.autograd.grad(layer(x).sum(), layer.bias, create_graph=True)
        (again,) = mg.autograd.grad(g.sum(), x)
        assert again.shape == x.shape and not again.any()


def test_an_activation_in_place_of_a_leaf_is_refused() -> None:
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        nn.ReLU(inplace=True)(mg.ones(2, requires_grad=True))


def test_a_small_network_learns() -> None:
    mg.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
    optimiser = mg.optim.AdamW(net.parameters(), lr=0.02)
    x = mg.randn(64, 2)
    classes = (x[:, 0] * x[:, 1] > 0).long()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(150):
            optimiser.zero_grad()
            loss = F.cross_entropy(net(x), classes)
            loss.backward()
            optimiser.step()
    assert loss.item() < 0.1 and (net(x).argmax(1) == classes).float().mean().item() > 0.95
