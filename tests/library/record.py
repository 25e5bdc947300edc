"""Records what PyTorch does, into tests/data/library/: run `python -m tests.library.record` where torch is.

The tests need only the files: nn_cases.npz and nn_grad_fns.json (cases.py), optimisers.json, schedulers.json,
random_numbers.npz and texts.json (trajectories.py), programs.json (programs.py).
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tests.library import cases, programs, trajectories

DATA = Path(__file__).parents[1] / "data" / "library"


def record_cases(torch: Any) -> None:
    arrays: dict[str, Any] = {}
    names: dict[str, str] = {}
    for name in cases.CASES:
        for key, value in cases.run(torch, name).items():
            if key == "grad_fn":
                names[name] = value
            else:
                arrays[f"{name}|{key}"] = value
    np.savez_compressed(DATA / "nn_cases.npz", **arrays)
    (DATA / "nn_grad_fns.json").write_text(json.dumps(names, indent=0))


def record_trajectories(torch: Any) -> None:
    for file, table, run in (
        ("optimisers.json", trajectories.OPTIMISERS, trajectories.descend),
        ("schedulers.json", trajectories.SCHEDULERS, trajectories.rates),
    ):
        (DATA / file).write_text(json.dumps({name: run(torch, name) for name in table}, indent=0))


def record_random(torch: Any) -> None:
    arrays = {name: trajectories.draw(torch, name).numpy() for name in trajectories.DRAWS}
    np.savez_compressed(DATA / "random_numbers.npz", **arrays)


def record_texts(torch: Any) -> None:
    texts = {name: trajectories.text(torch, name) for name in trajectories.TEXTS}
    (DATA / "texts.json").write_text(json.dumps(texts, indent=0))


def record_programs() -> None:
    """One line a program, so that a change shows in a diff."""
    every = [program for area in programs.AREAS.values() for program in area]
    lines = [f"{json.dumps(program)}: {json.dumps(programs.run('torch', program))}" for program in dict.fromkeys(every)]
    (DATA / "programs.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    import torch

    warnings.simplefilter("ignore")
    record_cases(torch)
    record_trajectories(torch)
    record_random(torch)
    record_texts(torch)
    record_programs()
