"""Every operation against PyTorch's own samples, recorded: values, number types and gradients.

`tests/data/ops.json` holds up to three small samples of each operation (golden_ops.py makes it). An operation that
minigrad leaves out stands in LEFT_OUT; one that appears must leave that list.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
import minigrad.nn.functional

CASES = json.loads((Path(__file__).parents[1] / "data" / "ops.json").read_text(encoding="utf-8"))
LEFT_OUT: set[str] = set()
KNOWN = {
    "nn.functional.batch_norm": "batches of no samples are refused",
}

# PyTorch's sample list calls these with the arguments in another order, or as methods only.
CALLS = {
    "where": lambda x, condition, y: mg.where(condition, x, y),
    "einsum": lambda operands, equation: mg.einsum(equation, *operands),
    "nn.functional.embedding": lambda weight, index, **rest: mg.nn.functional.embedding(index, weight, **rest),
    "zero_": lambda x: x.clone().zero_(),
    "__rpow__": lambda x, base: base**x,
}
CONVERSIONS = {"bool", "half", "float", "double", "short", "int", "long", "byte", "char"}


def callable_for(name: str) -> Any:
    """minigrad's function (or method) of this name, None when there is none."""
    if name in CALLS:
        return CALLS[name]
    found: Any = None if name in CONVERSIONS else mg
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not None or "." in name or not hasattr(mg.Tensor, name):
        return found

    def method(x: mg.Tensor, *args: Any, **keywords: Any) -> Any:
        attribute = getattr(x, name)
        return attribute(*args, **keywords) if callable(attribute) else attribute

    return method


def rebuilt(x: Any) -> Any:
    if isinstance(x, dict) and "data" in x:
        array = np.array(x["data"], x["dtype"]).reshape(x["shape"])
        return mg.tensor(array, requires_grad="grad" in x)
    if isinstance(x, dict) and set(x) == {"type"}:
        return getattr(mg, x["type"])
    if isinstance(x, dict) and set(x) in ({"tuple"}, {"list"}):
        return tuple(map(rebuilt, x["tuple"])) if "tuple" in x else [rebuilt(v) for v in x["list"]]
    return {k: rebuilt(v) for k, v in x.items()} if isinstance(x, dict) else x


def tensors(x: Any) -> list[mg.Tensor]:
    if isinstance(x, mg.Tensor):
        return [x]
    values = x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else ()
    return [t for v in values for t in tensors(v)]


def assert_same(got: mg.Tensor, want: dict[str, Any], what: str) -> None:
    assert list(got.shape) == want["shape"], what
    assert str(got.dtype) == f"torch.{want['dtype']}", what
    expected = np.array(want["data"], want["dtype"]).reshape(want["shape"])
    np.testing.assert_allclose(got.detach().numpy(), expected, rtol=1e-7, atol=1e-9, err_msg=what)


def check(name: str, case: dict[str, Any]) -> None:
    args, keywords = rebuilt(case["args"]), rebuilt(case["kwargs"])
    found = callable_for(name)(*args, **keywords)
    outputs, wanted = tensors(found), recorded_tensors(case["out"])
    assert len(outputs) == len(wanted)
    if not wanted:
        assert found == rebuilt(case["out"])
    for got, want in zip(outputs, wanted, strict=True):
        assert_same(got, want, name)
        assert got.requires_grad == ("grad" in want), name
    if "grads" in case:
        roots = [t for t in outputs if t.requires_grad]
        leaves = [t for t in tensors([args, keywords]) if t.requires_grad]
        weights = [mg.arange(1.0, t.numel() + 1, dtype=t.dtype).reshape(t.shape) for t in roots]
        grads = mg.autograd.grad(roots, leaves, weights, allow_unused=True)
        for got, want in zip(grads, case["grads"], strict=True):
            if got is None or want is None:
                zero = got if want is None else mg.tensor(want["data"])
                assert zero is None or not np.any(zero.numpy()), f"{name}: one gradient is None"
            else:
                assert_same(got, want, f"gradient of {name}")


def recorded_tensors(x: Any) -> list[dict[str, Any]]:
    if isinstance(x, dict) and "data" in x:
        return [x]
    values = x.values() if isinstance(x, dict) else x if isinstance(x, list) else ()
    return [t for v in values for t in recorded_tensors(v)]


@pytest.mark.parametrize("name", sorted(CASES.keys() - LEFT_OUT - KNOWN.keys()))
def test_against_recorded_samples(name: str) -> None:
    for case in CASES[name]:
        check(name, case)


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_known_differences_are_still_there(name: str) -> None:
    with pytest.raises((AssertionError, RuntimeError, IndexError, ValueError)):
        for case in CASES[name]:
            check(name, case)
