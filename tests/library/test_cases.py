"""Functions, losses and modules against what PyTorch gave: results, gradients, buffers, node names (float64)."""

from __future__ import annotations

import json
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from tests.library import cases
from tests.together import together

DATA = Path(__file__).parents[1] / "data" / "library"
SINGLE = ("F.hardsigmoid", "F.celu alpha")  # PyTorch rounds a constant of these derivatives to float32

# Where our last node may have another name than PyTorch's: the function is composed of other operations here.
OTHER_NAMES = {
    "F.glu": "MulBackward0",
    "F.glu dim": "MulBackward0",
    "F.rrelu eval": "LeakyReluBackward0",
    "F.cross_entropy soft mean": "DivBackward0",
    "F.multi_margin_loss mean": "MeanBackward0",
    "F.multi_margin_loss sum": "SumBackward0",
    "F.multi_margin_loss none": "DivBackward0",
    "F.margin_ranking_loss none": "ClampBackward1",
    "F.triplet_margin_loss none": "ClampBackward1",
    "F.linear 1d no bias": "SqueezeBackward1",
    "F.pairwise_distance": "LinalgVectorNormBackward0",
    "F.pairwise_distance p1": "LinalgVectorNormBackward0",
    "PairwiseDistance": "LinalgVectorNormBackward0",
    "F.avg_pool1d": "AvgPool2DBackward0",
    "F.adaptive_avg_pool1d": "AdaptiveAvgPool2DBackward0",
    "ConvTranspose1d": "AddBackward0",
    "ConvTranspose2d": "AddBackward0",
    "ReflectionPad2d": "IndexSelectBackward0",
    "RNN deep": "TransposeBackward0",
    "GRU deep": "TransposeBackward0",
    **{f"EmbeddingBag {mode}": name for mode, name in (("sum", "IndexAddBackward0"), ("mean", "DivBackward0"))},
    **{f"EmbeddingBag {mode} padded": name for mode, name in (("sum", "IndexAddBackward0"), ("mean", "DivBackward0"))},
    "EmbeddingBag max": "StackBackward0",
    "EmbeddingBag max padded": "StackBackward0",
    **{f"{name} packed": "TransposeBackward0" for name in ("RNN", "LSTM", "GRU")},
    "AvgPool3d": "AvgPool2DBackward0",
    "AdaptiveMaxPool3d": "AdaptiveMaxPool2DBackward0",
    "ConvTranspose3d": "AddBackward0",
    "ReplicationPad3d": "IndexSelectBackward0",
    "UpsamplingBilinear2d": "AdaptiveAvgPool2DBackward0",
    "ChannelShuffle": "ViewBackward0",
    "F.max_unpool2d": "ViewBackward0",
    "F.multilabel_margin_loss": "MeanBackward0",
    "F.scaled_dot_product_attention grouped": "UnsafeViewBackward0",
    "Upsample": "AdaptiveAvgPool2DBackward0",
}
COMPOSED = ("F.pad", "F.interpolate", "F.pixel")  # every node name of these may differ


def load() -> dict[str, dict[str, Any]]:
    recorded: dict[str, dict[str, Any]] = defaultdict(dict)
    with np.load(DATA / "nn_cases.npz") as arrays:
        for key in arrays.files:
            name, _, part = key.rpartition("|")
            recorded[name][part] = arrays[key]
    return recorded


RECORDED = load()
NAMES = json.loads((DATA / "nn_grad_fns.json").read_text())


def test_every_case_is_recorded() -> None:
    assert set(RECORDED) == set(NAMES) == set(cases.CASES)


def check(got: dict[str, Any], want: dict[str, Any], rtol: float, atol: float) -> None:
    assert set(got) - {"grad_fn"} == set(want) - {"grad_fn"}
    for key, value in want.items():
        if key != "grad_fn":
            assert got[key].shape == value.shape, key
            assert got[key].dtype == value.dtype, key
            np.testing.assert_allclose(got[key], value, rtol, atol, err_msg=key)


@pytest.mark.parametrize("name", cases.CASES)
def test_case(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = cases.run(minigrad, name)
    rtol, atol = (1e-6, 1e-6) if name in SINGLE else (1e-9, 1e-11)
    check(got, RECORDED[name], rtol, atol)


@together("name", [n for n in cases.CASES if not n.startswith(COMPOSED)])
def test_node_name(name: str) -> None:
    """The name of the node at the end, which students read in what is printed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = cases.run(minigrad, name)["grad_fn"]
    assert got in (NAMES[name], OTHER_NAMES.get(name))


@pytest.mark.slow
@pytest.mark.needs("torch")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_live(seed: int) -> None:
    """Fresh inputs, PyTorch beside us."""
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in cases.CASES:
            rtol, atol = (1e-6, 1e-6) if name in SINGLE else (1e-8, 1e-10)
            check(cases.run(minigrad, name, seed), cases.run(torch, name, seed), rtol, atol)
