"""The public face explains itself: everything that `minigrad.` offers has a docstring, and its examples are true.

The house form: what it gives, first, in a sentence or a formula; then shapes, types and errors; then perhaps an example,
in which `torch` is minigrad. A method that fills in what its base class declares (`forward`) is explained there.
"""

import doctest
import importlib
import inspect
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

import pytest

import minigrad

PUBLIC = (
    "minigrad", "minigrad.amp", "minigrad.autograd", "minigrad.autograd.functional", "minigrad.autograd.graph",
    "minigrad.cuda", "minigrad.distributions", "minigrad.func", "minigrad.linalg", "minigrad.nn",
    "minigrad.nn.functional", "minigrad.nn.init", "minigrad.nn.utils", "minigrad.optim", "minigrad.optim.lr_scheduler",
    "minigrad.testing", "minigrad.utils.checkpoint", "minigrad.utils.data",
)  # fmt: skip

# What a first program uses, and what computes derivatives, shows itself at work.
SHOWN = {
    *(f"minigrad.{name}" for name in ("tensor", "no_grad", "record", "explain", "replace", "broken", "check_graph", "vmap",
                                      "sum", "cat", "where", "matmul", "einsum", "gather", "Tensor.backward",
                                      "Tensor.expand", "Tensor.requires_grad_", "Tensor.retain_grad", "Tensor.register_hook")),
    *(f"minigrad.autograd.{name}" for name in ("Function", "grad", "gradcheck", "gradgradcheck", "once_differentiable")),
    *(f"minigrad.autograd.functional.{name}" for name in ("jacobian", "hessian", "vjp", "jvp", "vhp", "hvp")),
    *(f"minigrad.func.{name}" for name in ("grad", "grad_and_value", "jacrev", "hessian", "vjp", "jvp", "functional_call")),
    "minigrad.nn.Module", "minigrad.nn.Linear", "minigrad.nn.functional.cross_entropy", "minigrad.optim.SGD",
    "minigrad.optim.lr_scheduler.StepLR", "minigrad.distributions.Normal", "minigrad.utils.data.DataLoader",
}  # fmt: skip
OURS = ("minigrad.record", "minigrad.explain", "minigrad.replace", "minigrad.broken", "minigrad.check_graph")


def members(module: ModuleType, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """The functions and classes of a public module, and the methods and properties that the classes define."""
    rooms = minigrad._ROOMS if module is minigrad else ()  # to look at them would load them all
    for name in getattr(module, "__all__", dir(module)):
        value = None if name.startswith("_") or name in rooms else getattr(module, name)
        if not callable(value) or not str(getattr(value, "__module__", "")).startswith("minigrad"):
            continue
        yield f"{module.__name__}.{name}", value
        new = inspect.isclass(value) and id(value) not in seen
        seen.add(id(value))
        for own, kept in vars(value).items() if new else ():
            if not own.startswith("_") and (isinstance(kept, property) or callable(getattr(value, own))):
                yield f"{module.__name__}.{name}.{own}", getattr(value, own)


@cache
def docstrings() -> dict[str, str]:
    seen: set[int] = set()
    modules = map(importlib.import_module, PUBLIC)
    return {name: inspect.getdoc(value) or "" for module in modules for name, value in members(module, seen)}


def test_everything_public_has_a_docstring() -> None:
    assert len(docstrings()) > 1800
    assert not [name for name, text in docstrings().items() if not text]


def test_docstrings_have_the_house_form() -> None:
    """The first paragraph is a sentence; nobody's template of headings (Args, Returns, Raises) is filled in."""
    first = {name: text.split("\n\n")[0].strip() for name, text in docstrings().items()}
    assert not [name for name, text in first.items() if text and text[-1] not in ".:?)"]
    headings = {"Args:", "Arguments:", "Parameters:", "Returns:", "Raises:", "Example:", "Examples:"}
    assert not [name for name, text in docstrings().items() if headings & set(map(str.strip, text.splitlines()))]


def wrong_examples(name: str, text: str, engine: Any) -> str:
    """What doctest says of the examples in a docstring, run with this engine; nothing if they are true."""
    told: list[str] = []
    test = doctest.DocTestParser().get_doctest(text, {"torch": engine, "minigrad": minigrad}, name, None, 0)
    doctest.DocTestRunner(verbose=False).run(test, out=told.append)
    return "".join(told)


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_examples_are_true(name: str) -> None:
    assert ">>> " in docstrings()[name]
    assert not wrong_examples(name, docstrings()[name], minigrad)


def test_no_example_goes_unchecked() -> None:
    """Each stands under one of the names above, though it may be seen under others too."""
    shown = {docstrings()[name] for name in SHOWN}
    assert not [name for name, text in docstrings().items() if ">>> " in text and text not in shown]


def test_a_wrong_example_is_told() -> None:
    assert "Expected" in wrong_examples("planted", ">>> torch.tensor(1) + 1\ntensor(3)\n", minigrad)


@pytest.mark.slow
@pytest.mark.needs("torch")
@pytest.mark.parametrize("name", sorted(SHOWN - set(OURS)))
def test_examples_are_true_of_pytorch(name: str) -> None:
    import torch
    import torch.utils.data

    assert not wrong_examples(name, docstrings()[name], torch)
