"""What PyTorch 2.13 printed, raised and computed: the same program must do the same here.

The behaviours (tests/data/recorded/) run in this process, one after another, with `torch` standing for minigrad; what one
may change for all (the random generator, print options, default type, grad mode, warnings) is put back after it.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import io
import json
import re
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from tests import recorded

DATA = Path(__file__).parent.parent / "data" / "recorded"
FILES = ("torch_semantics", "edge_cases", "small_programs")
CASES = [case for name in FILES for case in json.loads((DATA / f"{name}.json").read_text())]

class Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """`import torch.x` gives minigrad.x."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name == "torch" or name.startswith("torch."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        real = "minigrad" + spec.name.removeprefix("torch")
        try:
            return importlib.import_module(real)
        except ModuleNotFoundError:
            found: Any = minigrad
            for part in spec.name.split(".")[1:]:
                found = getattr(found, part)
            return found

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing to do: the module is loaded already."""


@pytest.fixture
def as_torch() -> Iterator[None]:
    finder = Alias()
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if name == "torch" or name.startswith("torch.")}
    specs = {name: module.__spec__ for name, module in sys.modules.items() if name.split(".")[0] == "minigrad"}
    sys.meta_path.insert(0, finder)
    default = minigrad.get_default_dtype()
    try:
        with warnings.catch_warnings():
            yield
    finally:
        sys.meta_path.remove(finder)
        for name in [n for n in sys.modules if n == "torch" or n.startswith("torch.")]:
            del sys.modules[name]
        sys.modules.update(hidden)
        for name, spec in specs.items():
            sys.modules[name].__spec__ = spec
        minigrad.set_printoptions(profile="default")
        minigrad.set_default_dtype(default)
        minigrad.set_grad_enabled(True)
        minigrad.autograd.set_detect_anomaly(False)


def run(code: str) -> tuple[str, str | None, str | None]:
    out = io.StringIO()
    kind = message = None
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(code, "case", "exec"), {"__name__": "__main__"})
        except BaseException as error:
            kind, message = type(error).__name__, str(error)
    return out.getvalue(), kind, message


def plain(text: str | None) -> str | None:
    return None if text is None else re.sub(r"0x[0-9a-f]+", "0x...", text.replace("minigrad.", "torch."))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_behaviour(case: dict[str, Any], as_torch: None) -> None:
    """What is printed, and what is raised: both in the words of PyTorch."""
    stdout, kind, message = run(case["code"])
    assert (plain(stdout), kind) == (case["stdout"], case["error_type"]), message
    if case["error_message"] is not None:
        assert (plain(message) or "").startswith(case["error_message"])


@pytest.mark.slow
@pytest.mark.parametrize("subject", ["samples", "indexing", "operations", "calls"])
def test_values_gradients_and_errors(subject: str) -> None:
    assert recorded.differing(minigrad, subject) == []


def test_writing_by_index_writes_what_reading_reads() -> None:
    for program, answer in recorded.programs("indexing").items():
        read = re.fullmatch(r"n\(([\d, ]*)\)\[(.*)\]", program)
        if read and "error" not in answer:
            x = minigrad.arange(float(np.prod(shape := eval(f"({read[1]},)" if read[1] else "()")))).reshape(shape)
            marked = np.isin(x.numpy(), eval(f"x[{read[2]}]", {"x": x, "t": minigrad}).numpy())
            exec(f"x[{read[2]}] = -1.0", {"x": x, "t": minigrad})
            np.testing.assert_array_equal(x.numpy() == -1.0, marked, program)


@pytest.mark.slow
@pytest.mark.needs("torch")
@pytest.mark.parametrize("subject", sorted(file.stem for file in (recorded.DATA / "programs").glob("*.json")))
def test_the_record_is_what_pytorch_gives(subject: str) -> None:
    assert recorded.differing(pytest.importorskip("torch"), subject) == []
