"""The public face explains itself: everything that `minigrad.` offers has a docstring, and an example that is true.

The house form: what it gives, first, in a sentence or a formula; then shapes, types and errors; then perhaps an example,
in which `torch` is minigrad. The examples of the others stand in docs/api_examples.txt.
"""

import doctest
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import minigrad
from minigrad.course.site import api

PUBLIC = (
    "minigrad", "minigrad.autograd", "minigrad.autograd.functional", "minigrad.autograd.graph", "minigrad.cuda",
    "minigrad.linalg", "minigrad.nn", "minigrad.nn.functional", "minigrad.nn.init", "minigrad.nn.utils", "minigrad.optim",
    "minigrad.optim.lr_scheduler", "minigrad.utils.data",
)  # fmt: skip
# What computes derivatives shows itself at work, and what PyTorch has not.
SHOWN = {
    *(f"minigrad.{name}" for name in ("record", "explain", "replace", "broken", "Tensor.backward", "Tensor.register_hook")),
    *(f"minigrad.autograd.{name}" for name in ("Function", "grad", "gradcheck", "functional.jacobian", "functional.hvp")),
}
OURS = (
    "minigrad.record", "minigrad.Recording", "minigrad.explain", "minigrad.replace", "minigrad.broken",
    "minigrad.autograd.check_graph", "minigrad.Tensor.cuda", "minigrad.viz", "minigrad.course",
)  # fmt: skip


def members(module: ModuleType, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """The functions and classes of a public module, and the methods and properties that the classes define."""
    for name in dir(module):
        value = None if name.startswith("_") else getattr(module, name)
        if not callable(value) or not str(getattr(value, "__module__", "")).startswith("minigrad"):
            continue
        yield f"{module.__name__}.{name}", value
        new = inspect.isclass(value) and id(value) not in seen
        seen.add(id(value))
        for own, held in vars(value).items() if new else ():
            if not own.startswith("_") and (isinstance(held, property) or callable(getattr(value, own))):
                yield f"{module.__name__}.{name}.{own}", getattr(value, own)


@cache
def docstrings() -> dict[str, str]:
    seen: set[int] = set()
    modules = map(importlib.import_module, PUBLIC)
    return {name: inspect.getdoc(value) or "" for module in modules for name, value in members(module, seen)}


@cache
def examples() -> dict[str, str]:
    return {name: text for name, text in docstrings().items() if ">>> " in text} | api.examples()


def wrong(name: str, text: str, engine: Any) -> str:
    """What doctest says of the examples of a name, run with this engine; nothing if they are true."""
    said: list[str] = []
    space = {"torch": engine, "minigrad": minigrad, "nn": engine.nn, "F": engine.nn.functional}
    test = doctest.DocTestParser().get_doctest(text, space, name, None, 0)
    doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    return "".join(said)


def test_everything_public_has_a_docstring() -> None:
    assert not [name for name, text in docstrings().items() if not text]


def test_docstrings_have_the_house_form() -> None:
    """The first paragraph is a sentence; no template of headings (Args, Returns, Raises) is filled in."""
    first = {name: text.split("\n\n")[0].strip() for name, text in docstrings().items()}
    assert not [name for name, text in first.items() if text and text[-1] not in ".:?)"]
    headings = {"Args:", "Arguments:", "Parameters:", "Returns:", "Raises:", "Example:", "Examples:"}
    assert not [name for name, text in docstrings().items() if headings & set(map(str.strip, text.splitlines()))]


def test_every_name_of_the_api_has_one_example() -> None:
    """In its docstring or in the file; a method, or a second name of a function, may have that of the function."""
    unused = set(api.examples())
    for space, *_ in api.SPACES:
        for name, thing in api.public(space):
            names = {f"{space}.{name}", f"minigrad.{name}"}
            assert ">>> " in inspect.getdoc(thing) or names & api.examples().keys(), f"{space}.{name} has no example"
            unused -= names
    assert not unused
    shown = {name for name, _ in api.public("minigrad")}
    told = set(re.findall(r"`(\w+)`", api.SPACES[0][2]))
    assert {name for name in dir(minigrad) if not inspect.ismodule(getattr(minigrad, name))} == shown | told
    assert {space for space, *_ in api.SPACES} > set(PUBLIC)


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_examples_are_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a check writes the progress there
    assert examples().keys() >= SHOWN
    assert not [complaint for name, text in examples().items() if (complaint := wrong(name, text, minigrad))]
    assert "Expected" in wrong("planted", ">>> torch.tensor(1) + 1\ntensor(3)\n", minigrad)


@pytest.mark.slow
@pytest.mark.needs("torch")
@pytest.mark.filterwarnings("ignore")
def test_examples_are_true_of_pytorch() -> None:
    import torch
    import torch.utils.data

    theirs = {name: text for name, text in examples().items() if not name.startswith(OURS)}
    assert not [complaint for name, text in theirs.items() if (complaint := wrong(name, text, torch))]
