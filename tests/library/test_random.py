"""Random numbers: PyTorch's own, bit for bit, for every distribution and for the initial values of layers."""

from __future__ import annotations

from collections.abc import Callable
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


@pytest.mark.parametrize(
    ("draw", "want"),
    [
        (lambda x: x.log_normal_().log().round(), [[2.0, 2.0], [2.0, 0.0], [1.0, 1.0]]),
        (lambda x: x.cauchy_().round(), [[-5.0, -2.0], [-1.0, 0.0], [-1.0, -3.0]]),
        (lambda x: x.geometric_(0.3), [[8.0, 5.0], [5.0, 2.0], [5.0, 7.0]]),
        (lambda x: mg.randint_like(x, 9), [[4.0, 5.0], [5.0, 7.0], [0.0, 1.0]]),
    ],
)
def test_numbers_come_in_the_order_of_memory(draw: Callable[[mg.Tensor], mg.Tensor], want: list[list[float]]) -> None:
    mg.manual_seed(1)
    assert draw(mg.zeros(2, 3).t()).tolist() == want


def test_integers_like_a_transposed_tensor_take_a_gradient() -> None:
    x = mg.randint_like(mg.zeros(2, 3).t(), 9, requires_grad=True)
    (x * x).sum().backward()
    assert x.is_leaf and x.grad.tolist() == (2 * x).tolist()


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


def test_seed_is_different_every_time() -> None:
    generator = mg.Generator()
    assert generator.seed() != generator.seed()


def test_bounds_are_checked() -> None:
    generator = mg.Generator()
    with pytest.raises(RuntimeError, match="from=1 > to=0"):
        generator.uniform((2,), 1.0, 0.0)
    with pytest.raises(RuntimeError, match="std >= 0"):
        generator.normal((2,), 0.0, -1.0)
    with pytest.raises(RuntimeError, match="'from' to be less than 'to'"):
        generator.randint(3, 3, (2,))
    with pytest.raises(RuntimeError, match="p_in"):
        generator.bernoulli(np.array([1.5]))
    with pytest.raises(NotImplementedError, match="CPU only"):
        mg.Generator("cuda")


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


def test_fork_rng_leaves_the_generator_as_it_was() -> None:
    mg.manual_seed(3)
    with mg.random.fork_rng(), mg.device("cpu"):
        first = mg.rand(4).tolist()
    assert mg.rand(4).tolist() == first
    assert mg.default_generator.initial_seed() == 3


def test_dropout_of_channels_takes_a_missing_batch_as_each_function_of_pytorch_does() -> None:
    with pytest.warns(UserWarning, match="Received a 3D input to dropout2d and assuming that channel-wise 1D dropout"):
        flat = mg.nn.functional.dropout2d(mg.ones(20, 5, 2))
    assert flat.unique(dim=2).shape == (20, 5, 1) and len(flat[:, :, 0].unique(dim=1)[0]) > 1  # each row of the batch by itself
    volumes = mg.nn.functional.dropout3d(mg.ones(20, 5, 2, 2))  # channels, depth, height, width: the first of four
    assert volumes.reshape(20, -1).unique(dim=1).shape == (20, 1) and len(volumes.unique()) == 2
    with pytest.warns(UserWarning, match="dropout3d: Received a 2-D input to dropout3d, which is deprecated"):
        mg.nn.functional.dropout3d(mg.ones(2, 3))
