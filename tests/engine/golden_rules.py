"""Regenerates tests/data/rules.json from PyTorch: indexing, number types and the messages of matrix products."""

from __future__ import annotations

import itertools
import json
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

FILE = Path(__file__).parents[1] / "data" / "rules.json"
TYPES = ["float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool"]
SHAPES = [(), (3,), (4,), (2, 3), (3, 4), (4, 2), (5, 2, 3), (5, 3, 4), (4, 3, 4), (1, 3, 4), (2, 2), (6, 5, 2, 3)]


def item(draw: random.Random, size: int) -> str:
    """One index, as Python source; t makes a tensor."""
    inside = lambda: draw.randint(-size, size - 1)
    return draw.choice(
        [
            str(draw.randint(-size - 1, size)),
            str(inside()),
            str(inside()),
            f"{draw.choice(['', '0', '1', '-2'])}:{draw.choice(['', '2', '-1', '9'])}:{draw.choice(['', '1', '2', '-1'])}",
            ":",
            "None",
            "...",
            draw.choice(["True", "False"]),
            str([inside() for _ in range(2)]),
            f"t({[[inside()], [inside()]]})",
            f"t({[draw.random() < 0.5 for _ in range(size)]})",
            f"t({inside()})",
        ]
    )


def indexing() -> list[Any]:
    draw = random.Random(0)
    cases: list[Any] = []
    while len(cases) < 400:
        shape = [draw.choice([2, 3, 4]) for _ in range(draw.randint(0, 4))]
        code = ", ".join(item(draw, shape[min(k, len(shape) - 1)] if shape else 1) for k in range(draw.randint(1, 3)))
        x = torch.arange(float(np.prod(shape))).reshape(shape)
        try:
            found = eval(f"x[{code}]", {"x": x, "t": torch.tensor})
            cases.append([shape, code, list(found.shape), found.reshape(-1).tolist(), found.data_ptr() == 0])
            cases[-1].pop()
        except (IndexError, TypeError, ValueError, RuntimeError) as error:
            cases.append([shape, code, type(error).__name__, str(error)])
    return cases


def number(name: str, rank: str) -> Any:
    if rank == "number":
        return {"f": 2.5, "i": 3, "u": 3, "b": True}[np.dtype(name).kind]
    return torch.ones((2,) if rank == "vector" else (), dtype=getattr(torch, name))


def promotion() -> dict[str, str]:
    table = {}
    for (a, i), (b, j) in itertools.product(itertools.product(TYPES, ("vector", "single", "number")), repeat=2):
        if not i == j == "number":
            found = torch.result_type(number(a, i), number(b, j))
            table[f"{a} {i} {b} {j}"] = str(found).removeprefix("torch.")
    return table


def products() -> list[Any]:
    cases = []
    for a, b in itertools.product(SHAPES, SHAPES):
        try:
            cases.append([a, b, list((torch.zeros(a) @ torch.zeros(b)).shape)])
        except RuntimeError as error:
            cases.append([a, b, str(error)])
    return cases


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parts = {"indexing": indexing(), "products": products(), "promotion": promotion()}
    FILE.write_text(json.dumps(parts, separators=(",", ":")).replace("],[[", "],\n[[") + "\n", encoding="utf-8")
