"""Regenerates tests/data/ops.json from PyTorch's own samples of its operations: values, and gradients.

Run it with PyTorch and its test helper `expecttest` installed. Inputs are rounded to three decimals to keep the file
small; what PyTorch computes from them is recorded with twelve digits.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

FILE = Path(__file__).parents[1] / "data" / "ops.json"
SKIPPED = ("fft", "sparse", "masked.", "jiterator", "signal", "special.", "torch.ops", "to_sparse", "stft")
RANDOM = """
rand randn randint normal bernoulli multinomial dropout dropout2d dropout3d alpha_dropout
feature_alpha_dropout empty rand_like randn_like randint_like empty_like new_empty uniform cauchy
exponential geometric log_normal rrelu empty_strided new_empty_strided empty_permuted svd eigh eig
qr svd_lowrank pca_lowrank scaled_dot_product_attention resize_ resize_as_
""".split()  # noqa: SIM905
PER_OPERATION, LARGEST = 3, 30


def rounded(x: Any) -> Any:
    """A sample's arguments with few digits, as leaves."""
    if isinstance(x, torch.Tensor):
        y = x.detach().clone()
        if y.dtype.is_floating_point:
            y = (y * 1000).round() / 1000
        return y.requires_grad_() if x.requires_grad else y
    if isinstance(x, (list, tuple)):
        return type(x)(rounded(v) for v in x) if type(x) in (list, tuple) else tuple(rounded(v) for v in x)
    if isinstance(x, dict):
        return {k: rounded(v) for k, v in x.items()}
    return x


def plain(x: Any) -> Any:
    """Arguments or results as JSON."""
    if isinstance(x, torch.Tensor):
        if x.is_complex() or x.numel() > LARGEST or x.dtype is torch.bfloat16:
            raise ValueError("left out")
        y = x.detach().numpy(force=True)
        data = [float(f"{v:.12g}") if y.dtype.kind == "f" else v for v in y.reshape(-1).tolist()]
        return {"data": data, "shape": list(y.shape), "dtype": str(y.dtype), **({"grad": 1} if x.requires_grad else {})}
    if isinstance(x, torch.dtype):
        return {"type": str(x).removeprefix("torch.")}
    if (
        isinstance(x, slice)
        or x is Ellipsis
        or isinstance(x, (complex, torch.device, torch.layout, torch.memory_format))
    ):
        raise ValueError("left out")
    if isinstance(x, (list, tuple)):
        return {"tuple" if isinstance(x, tuple) else "list": [plain(v) for v in x]}
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if x is None or isinstance(x, (bool, int, float, str)):
        return x
    raise ValueError("left out")


def tensors(x: Any) -> list[torch.Tensor]:
    if isinstance(x, torch.Tensor):
        return [x]
    values = x.values() if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else ()
    return [t for v in values for t in tensors(v)]


def case(op: Any, sample: Any) -> dict[str, Any] | None:
    args, keywords = rounded((sample.input, *sample.args)), rounded(dict(sample.kwargs))
    keywords.pop("device", None)
    found = op.op(*args, **keywords)
    outputs = [t for t in tensors(found) if t.requires_grad]
    leaves = [t for t in tensors([args, keywords]) if t.requires_grad]
    recorded = {"args": plain(args), "kwargs": plain(keywords), "out": plain(found)}
    if outputs and leaves:
        weights = [torch.arange(1.0, t.numel() + 1, dtype=t.dtype).reshape(t.shape) for t in outputs]
        grads = torch.autograd.grad(outputs, leaves, weights, allow_unused=True)
        recorded["grads"] = [None if g is None else plain(g) for g in grads]
    return recorded


def main() -> None:
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    cases: dict[str, list[Any]] = {}
    for op in op_db:
        last = op.name.split(".")[-1]
        if op.name.startswith(SKIPPED) or last in RANDOM or op.name.startswith("_") or "copy" in op.name:
            continue
        dtype = torch.float64 if torch.float64 in op.dtypes else torch.int64
        kept = cases.setdefault(op.name, [])
        try:
            for sample in op.sample_inputs(
                "cpu", dtype, requires_grad=op.supports_autograd and dtype.is_floating_point
            ):
                if len(kept) >= PER_OPERATION * (1 + bool(op.variant_test_name)):
                    break
                try:
                    kept.append(case(op, sample))
                except ValueError:
                    continue
        except (RuntimeError, TypeError) as error:
            print(op.name, str(error)[:80], file=sys.stderr)
    kept_cases = {name: found for name, found in sorted(cases.items()) if found}
    lines = [f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in found) + "\n]"
             for name, found in kept_cases.items()]  # fmt: skip
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(len(kept_cases), "operations,", np.sum([len(v) for v in kept_cases.values()]), "cases")


if __name__ == "__main__":
    main()
