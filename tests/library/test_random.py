"""Random numbers: PyTorch's own, bit for bit, for every distribution and for the initial values of layers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import minigrad as mg
from minigrad import random
from tests.library import trajectories
from tests.together import together

with np.load(Path(__file__).parents[1] / "data" / "library" / "random_numbers.npz") as arrays:
    NUMBERS = {name: arrays[name] for name in arrays.files}


def test_every_draw_is_recorded() -> None:
    assert set(NUMBERS) == set(trajectories.DRAWS)


@together("name", trajectories.DRAWS)
def test_draw(name: str) -> None:
    got, want = trajectories.draw(mg, name).numpy(), NUMBERS[name]
    assert got.dtype == want.dtype
    if "orthogonal_" in name:  # a matrix factorisation: LAPACK's rounding
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)
    else:
        np.testing.assert_array_equal(got, want)


def test_manual_seed_returns_the_generator_and_accepts_any_64_bits() -> None:
    assert mg.manual_seed(-5) is random.default_generator
    assert mg.initial_seed() == 2**64 - 5
    first = mg.rand(3).tolist()
    mg.manual_seed(2**64 - 5)
    assert mg.rand(3).tolist() == first
    with pytest.raises(ValueError, match="Overflow"):
        mg.manual_seed(2**64)


def test_state_restores_the_words_and_the_half_used_pair() -> None:
    mg.manual_seed(3)
    mg.randn(3)
    mg.rand(1000)
    state = mg.get_rng_state()
    assert state.shape == (5056,) and state.dtype is mg.uint8
    first = mg.randn(5).tolist()
    mg.set_rng_state(state)
    assert mg.randn(5).tolist() == first


def test_a_generator_is_independent_of_the_default_one() -> None:
    mg.manual_seed(0)
    want = mg.rand(4).tolist()
    own = mg.Generator().manual_seed(0)
    mg.manual_seed(0)
    own.rand((100,))
    assert mg.rand(4).tolist() == want
    assert mg.Generator().initial_seed() == 67280421310721


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
