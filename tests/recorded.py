"""Short programs and what PyTorch gives for them: tests/data/programs/ holds both, a file for each subject.

A program is statements and a last expression, parted by `; `. It sees `t` (the library), `nn`, `F`, `optim`, `np`, and inputs
that are the same for the same program: `n(2, 3)` normal numbers and `p(2, 3)` between 0.05 and 0.95, of float64 and wanting
gradients, `i(5, 2, 3)` integers below 5. The answer is the value (tensors as dtype, shape, numbers and the name of their node),
the gradients of the inputs and of the parameters of `m`, and the buffers of `m`; or the error. Numbers are compared with the
tolerance of their type. To add a program, write it with `null` and run `python -m tests.recorded`, where PyTorch is installed.
"""

from __future__ import annotations

import copy
import importlib
import json
import pickle
import re
import warnings
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from tests import training

DATA = Path(__file__).parent / "data"
DIGITS = {"float64": 10, "float32": 8, "float16": 5}
TOLERANCE = {"float64": 1e-7, "float32": 2e-5, "float16": 2e-3}


def programs(subject: str) -> dict[str, Any]:
    """The programs of a subject with their answers."""
    answers: dict[str, Any] = json.loads((DATA / "programs" / f"{subject}.json").read_text(encoding="utf-8"))
    return answers


def evaluate(library: Any, program: str, given: Any = ()) -> tuple[Any, list[Any], Any]:
    """The value of a program, its floating inputs and its module `m`; `given` stands for the first inputs it would make."""
    random = np.random.RandomState(zlib.crc32(program.encode()))
    leaves: list[Any] = []

    def leaf(array: Any) -> Any:
        made = library.tensor(np.round(array, 3), requires_grad=True)
        leaves.append(given[len(leaves)] if len(leaves) < len(given) else made)
        return leaves[-1]

    parts = {name: importlib.import_module(f"{library.__name__}.{name}") for name in ("nn", "optim", "utils.data")}
    names: dict[str, Any] = {
        "t": library,
        "nn": parts["nn"],
        "F": parts["nn"].functional,
        "optim": parts["optim"],
        "data": parts["utils.data"],
        "n": lambda *shape: leaf(random.standard_normal(shape)),
        "p": lambda *shape: leaf(random.uniform(0.05, 0.95, shape)),
        "i": lambda below, *shape: library.tensor(random.randint(0, below, shape)),
        "np": np,
        "copy": copy,
        "pickle": pickle,
        **{name: getattr(training, name) for name in ("descend", "rates", "loaded")},
    }
    library.manual_seed(0)
    library.set_printoptions(profile="default")
    *statements, last = program.split("; ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec("\n".join(statements), names)
        return eval(last, names), leaves, names.get("m")


def run(library: Any, program: str) -> Any:
    """What a library gives for a program, as data."""
    try:
        value, leaves, module = evaluate(library, program)
        return {"value": plain(value), **differentiated(library, value, leaves, module)}
    except Exception as error:
        text = re.sub("0x[0-9a-f]+", "0x...", f"{type(error).__name__}: {error}")
        text = re.sub(r"(keyword argument '\w+')\. Did you mean .*", r"\1", text)  # a newer Python's suggestion
        return {"error": text.replace("minigrad", "torch")}


def plain(value: Any) -> Any:
    if hasattr(value, "grad_fn"):
        array = value.detach().numpy()
        kind = str(value.dtype).rpartition(".")[2]
        node = () if value.grad_fn is None else (value.grad_fn.name(),)
        return [kind, list(array.shape), [rounded(number, kind) for number in array.reshape(-1).tolist()], *node]
    if isinstance(value, (tuple, list)) and type(value).__name__ != "Size":
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    return value if isinstance(value, float) else repr(value).replace("minigrad", "torch")


def rounded(number: Any, kind: str) -> Any:
    return float(f"{number:.{DIGITS[kind]}g}") if kind in DIGITS else number


def differentiated(library: Any, value: Any, leaves: list[Any], module: Any) -> dict[str, Any]:
    """The gradients of a weighted sum of what requires grad, and the buffers of a module."""
    answer: dict[str, Any] = {}
    outputs = [t for t in (value if isinstance(value, tuple) else (value,)) if getattr(t, "requires_grad", False)]
    inputs = leaves + (list(module.parameters()) if hasattr(module, "parameters") else [])
    if outputs and inputs:
        weights = [library.tensor(np.cos(np.arange(1, t.numel() + 1)).reshape(tuple(t.shape)), dtype=t.dtype) for t in outputs]
        found = library.autograd.grad(outputs, inputs, weights, allow_unused=True)
        answer["gradients"] = [None if g is None else plain(g)[2] for g in found]
    if hasattr(module, "buffers") and (buffers := list(module.buffers())):
        answer["buffers"] = plain(buffers)
    return answer


def same(got: Any, want: Any, kind: str = "float64") -> bool:
    """Whether two answers agree, numbers within the tolerance of their type."""
    if isinstance(want, dict) and "error" in want:
        return isinstance(got, dict) and len(got.get("error", "")) > 20 and want["error"].startswith(got["error"])
    if isinstance(want, dict):
        kind = want["value"][0] if isinstance(want.get("value"), list) and want["value"] else kind
        kind = kind if isinstance(kind, str) and kind in TOLERANCE else "float32"
        return isinstance(got, dict) and got.keys() == want.keys() and all(same(got[k], want[k], kind) for k in want)
    if isinstance(want, list):
        kind = want[0] if want and isinstance(want[0], str) and want[0] in TOLERANCE else kind
        return isinstance(got, list) and len(got) == len(want) and all(map(same, got, want, [kind] * len(want)))
    if isinstance(want, float):
        close = TOLERANCE[kind]
        return isinstance(got, float) and bool(np.isclose(got, want, close, close, equal_nan=True))
    return bool(got == want)


def differing(library: Any, subject: str) -> list[str]:
    """The programs of a subject that give something else than what is recorded, with both answers."""
    wrong = []
    for program, want in programs(subject).items():
        got = run(library, program)
        if not same(got, want):
            wrong.append(f"{program}\n  gives {str(got)[:400]}\n  not   {str(want)[:400]}")
    return wrong


def record() -> None:
    """Write the answers of the PyTorch that is installed, one program a line."""
    import torch

    for file in sorted((DATA / "programs").glob("*.json")):
        answers = {program: run(torch, program) for program in programs(file.stem)}
        lines = [f"{json.dumps(program)}: {json.dumps(answer)}" for program, answer in answers.items()]
        file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    record()
