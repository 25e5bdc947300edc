"""Random numbers: those of PyTorch from the same seed, for tensors, layers, loaders and splits."""

from __future__ import annotations

import numpy as np
import pytest

import minigrad as mg
from tests import recorded


def test_every_draw() -> None:
    assert recorded.differing(mg, "random") == []


def test_manual_seed_returns_the_generator() -> None:
    generator = mg.manual_seed(3)
    first = mg.rand(3).tolist()
    generator.manual_seed(3)
    assert isinstance(generator, mg.Generator) and mg.rand(3).tolist() == first


def test_state_restores_the_words_and_the_half_used_pair() -> None:
    mg.manual_seed(3)
    mg.randn(3)
    mg.rand(1000)
    state = mg.get_rng_state()
    first = mg.randn(5).tolist()
    mg.set_rng_state(state)
    assert mg.randn(5).tolist() == first


def test_a_generator_is_independent_of_the_default_one() -> None:
    mg.manual_seed(0)
    want = mg.rand(4).tolist()
    own = mg.Generator().manual_seed(0)
    mg.manual_seed(0)
    mg.rand(100, generator=own)
    assert mg.rand(4).tolist() == want


def test_dropout_of_a_trained_network_scales_what_is_left() -> None:
    mg.manual_seed(0)
    x = mg.ones(1000, requires_grad=True)
    y = mg.nn.functional.dropout(x, 0.25)
    y.sum().backward()
    assert sorted(set(y.tolist())) == pytest.approx([0.0, 4 / 3]) and mg.equal(x.grad, y)
    assert 0.2 < (y == 0).float().mean() < 0.3


@pytest.mark.slow
@pytest.mark.needs("torch")
@pytest.mark.parametrize("seed", [0, 1, 2**31 + 5, 2**40 + 1])
def test_large_draws_live(seed: int) -> None:
    torch = pytest.importorskip("torch")
    for n in (12_345, 300_000):
        for dtype in ("float32", "float64"):
            for name in ("rand", "randn"):
                torch.manual_seed(seed), mg.manual_seed(seed)
                want = getattr(torch, name)(n, dtype=getattr(torch, dtype)).numpy()
                got = getattr(mg, name)(n, dtype=getattr(mg, dtype)).numpy()
                np.testing.assert_array_equal(got, want)
        torch.manual_seed(seed), mg.manual_seed(seed)
        np.testing.assert_array_equal(mg.randperm(n).numpy(), torch.randperm(n).numpy())
