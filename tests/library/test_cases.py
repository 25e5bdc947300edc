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
    "F.pad circular": "IndexSelectBackward0",
    "F.pad circular 1d": "IndexSelectBackward0",
    "F.margin_ranking_loss none": "ClampBackward1",
    "F.triplet_margin_loss none": "ClampBackward1",
    **{f"EmbeddingBag {mode}": name for mode, name in (("sum", "IndexAddBackward0"), ("mean", "DivBackward0"))},
    **{f"EmbeddingBag {mode} padded": name for mode, name in (("sum", "IndexAddBackward0"), ("mean", "DivBackward0"))},
    "EmbeddingBag max": "StackBackward0",
    "EmbeddingBag max padded": "StackBackward0",
    **{f"{name} packed": "TransposeBackward0" for name in ("RNN", "LSTM", "GRU")},
    "F.scaled_dot_product_attention grouped": "UnsafeViewBackward0",
}


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


@together("name", list(cases.CASES))
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
