"""What each operation saves: which tensors may not be overwritten before backward, and whether a second backward is refused.

A case is an expression over a few tensors. For each choice of those that want a gradient, one tensor after the other is
overwritten between forward and backward. `tests/data/saved.json` holds which of them PyTorch 2.13 names:
`python -m tests.engine.test_saved` writes it anew from the PyTorch that is installed.
"""

from __future__ import annotations

import importlib
import json
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from tests import recorded
from tests.together import together

RECORD = recorded.DATA / "saved.json"

# a, b and c are matrices (2, 3) between 0.2 and 0.8, v and w vectors (3,), s symmetric (3, 3), x an image (1, 2, 5, 4), k a
# kernel (2, 2, 2, 2), t is 0.4; j and g hold positions, m is a mask.
EXPRESSIONS = """
a + b; a - b; a * b; a / b; a * 3; a + 3; 2 - a; 2 / a; -a; a ** 2; a ** b; 2 ** a; a.exp(); a.log(); a.sqrt()
a.rsqrt(); a.reciprocal(); a.abs(); a.sign(); a.sin(); a.cos(); a.tan(); a.tanh(); a.sigmoid(); a.relu()
a.expm1(); a.log1p(); a.erf(); a.asin(); a.atan(); a.sinh(); a.cosh(); a.square(); a.floor(); a.round()
T.maximum(a, b); T.minimum(a, b); T.atan2(a, b); T.div(a, b, rounding_mode="floor"); T.fmod(a, b)
a.clamp(0.3, 0.6); T.where(m, a, b); a.masked_fill(m, 0.0)
a.masked_fill(m, t); a.masked_select(m); a[m]; a[j]; a[0]; a[:, 1]; a.T; a.reshape(3, 2); a.flip(0)
a.roll(1, 0); a.repeat(2, 1); a.tril(); a.diagonal(); a.unsqueeze(0); T.cat([a, b]); T.stack([a, b]); a.sum()
a.sum(0); a.mean(); a.mean(1); a.prod(); a.prod(0); a.var(); a.std(1); a.max(); a.max(0)[0]; a.amax(1); a.norm()
a.logsumexp(0); a.cumsum(0); a.cumprod(0); a.sort()[0]; a.topk(2)[0]; a.median(1)[0]; a.gather(0, g)
a.scatter(0, g, b); a.scatter_add(0, g, b); a.index_select(0, j); a.index_add(0, j, b); a @ b.T; a @ v; v @ w
v.outer(w); T.addmm(s, a.T, b); T.einsum("ij,ij->i", a, b); T.linalg.det(s); s.trace(); F.softmax(a, 1)
F.log_softmax(a, 1); F.gelu(a); F.leaky_relu(a); F.softplus(a); F.logsigmoid(a); F.mse_loss(a, b)
F.l1_loss(a, b); F.smooth_l1_loss(a, b); F.huber_loss(a, b); F.binary_cross_entropy(a, b)
F.binary_cross_entropy(a, b, c.detach()); F.binary_cross_entropy_with_logits(a, b); F.cross_entropy(a, j)
F.cross_entropy(a, b); F.nll_loss(a, j); F.normalize(a); F.embedding(j, a); F.linear(a, b)
F.linear(a, b, v[:2]); F.layer_norm(a, (3,)); F.conv2d(x, k); F.conv2d(x, k, v[:2]); F.max_pool2d(x, 2)
F.avg_pool2d(x, 2); F.pad(x, (1, 1)); F.unfold(x, 2); F.unfold(x, 1)
"""
CASES = [case for line in EXPRESSIONS.strip().splitlines() for case in line.split("; ")]
SHAPES = {"a": (2, 3), "b": (2, 3), "c": (2, 3), "v": (3,), "w": (3,), "s": (3, 3), "x": (1, 2, 5, 4), "k": (2, 2, 2, 2)}


@cache
def arrays() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    made = {name: rng.uniform(0.2, 0.8, shape).astype(np.float32) for name, shape in SHAPES.items()}
    made["s"] = made["s"] @ made["s"].T + np.eye(3, dtype=np.float32)
    g = np.array([[1, 0, 1], [0, 1, 0]])
    return {**made, "t": np.array(0.4, np.float32), "j": np.array([1, 0]), "g": g, "m": g == 1}


def attempt(T: Any, code: Any, used: list[str], wanting: tuple[str, ...], overwritten: str) -> str:
    """Forward, overwrite (a name, or "out"; "" for a second backward), backward: what that raises."""
    given = {name: T.tensor(arrays()[name]) for name in used}
    for name in wanting:
        given[name] = given[name].requires_grad_().clone()
    out = eval(code, {"T": T, "F": T.nn.functional}, given)
    target = {**given, "out": out}.get(overwritten)
    if target is not None:
        with T.no_grad():
            target.copy_(target.clone())
    try:
        for _ in range((1 if overwritten else 2) if out.requires_grad else 0):
            out.backward(T.ones_like(out))
    except RuntimeError as error:
        assert "modified by an inplace" in str(error) or "second time" in str(error), error
        return overwritten or "again"
    return ""


def saved(T: Any, expression: str, most: int = 9) -> dict[str, str]:
    """For each choice of at most so many tensors that want a gradient: what must stay, "again" for the graph itself."""
    code = compile(expression, expression, "eval")
    used = [name for name in arrays() if name in code.co_names]
    floats = [name for name in used if arrays()[name].dtype.kind == "f"]
    return {
        " ".join(wanting): " ".join(filter(None, (attempt(T, code, used, wanting, each) for each in (*used, "out", ""))))
        for number in range(1, min(most, len(floats)) + 1)
        for wanting in combinations(floats, number)
    }


@cache
def load() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(RECORD.read_text())
    return found


@together("expression", CASES)
def test_what_is_overwritten_is_noticed_as_in_pytorch(expression: str) -> None:
    found, record = saved(mg, expression, 1), load()[expression]
    assert found == {wanting: record[wanting] for wanting in found}


@pytest.mark.slow
@together("expression", CASES)
def test_whatever_wants_a_gradient(expression: str) -> None:
    assert saved(mg, expression) == load()[expression]


@pytest.mark.slow
@pytest.mark.needs("torch")
@together("expression", CASES)
def test_the_record_is_pytorchs(expression: str) -> None:
    assert saved(importlib.import_module("torch"), expression) == load()[expression]


if __name__ == "__main__":
    import torch

    answers = {expression: saved(torch, expression) for expression in CASES}
    RECORD.write_text("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in answers.items()) + "\n}\n")
