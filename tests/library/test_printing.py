"""How tensors, sizes, modules and optimisers print, and what errors say: recorded from PyTorch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad as mg
from minigrad import printing
from minigrad.size import Size
from tests.library import trajectories
from tests.together import together

DATA = Path(__file__).parents[1] / "data" / "library"
FORMS = json.loads((DATA / "torch_repr.json").read_text())
TEXTS = json.loads((DATA / "texts.json").read_text())


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    printing.set_printoptions(profile="default")
    yield
    printing.set_printoptions(profile="default")


def array_of(form: dict[str, Any]) -> Any:
    values = [float(v) if isinstance(v, str) else v for v in form["data"]]
    return np.array(values, dtype=form["dtype"]).reshape(form["shape"])


@together("index", range(len(FORMS)))
def test_form(index: int) -> None:
    form = FORMS[index]
    printing.set_printoptions(profile="default")
    printing.set_printoptions(**form["printoptions"])
    name = "MulBackward0" if form["mode"] == "node" else None
    text = printing.format_tensor(array_of(form), requires_grad=form["mode"] == "leaf", grad_fn_name=name)
    assert text == form["repr"]


@together("index", range(0, len(FORMS), 7))
def test_form_of_a_tensor(index: int) -> None:
    """The same through Tensor.__repr__."""
    form = FORMS[index]
    t = mg.tensor(array_of(form))
    if form["mode"] != "plain":
        t.requires_grad_()
    if form["mode"] == "node":
        t = t * 1
    printing.set_printoptions(profile="default")
    printing.set_printoptions(**form["printoptions"])
    assert repr(t) == form["repr"]


def test_every_text_is_recorded() -> None:
    assert set(TEXTS) == set(trajectories.TEXTS)


@together("name", trajectories.TEXTS)
def test_text(name: str) -> None:
    assert trajectories.text(mg, name).replace("minigrad.", "torch.") == TEXTS[name]


def test_sci_mode_goes_back_to_automatic() -> None:
    numbers = np.array([1.0, 2.5], np.float32)
    printing.set_printoptions(sci_mode=True)
    assert printing.format_tensor(numbers) == "tensor([1.0000e+00, 2.5000e+00])"
    printing.set_printoptions(precision=2)
    assert printing.format_tensor(numbers) == "tensor([1.00, 2.50])"


def test_size() -> None:
    size = Size([2, 3, 4])
    assert repr(size) == str(size) == "torch.Size([2, 3, 4])"
    assert size == (2, 3, 4) and size.numel() == 24 and size[1] == 3
    assert type(size[1:]) is type(size + (1,)) is type((1,) + size) is type(size * 2) is Size
    assert hash(size) == hash((2, 3, 4)) and Size().numel() == 1
    with pytest.raises(TypeError):
        Size([2.0])


@pytest.mark.slow
@pytest.mark.needs("torch")
def test_random_tensors_print_alike() -> None:
    torch = pytest.importorskip("torch")
    random = np.random.RandomState(0)
    for _ in range(3000):
        shape = tuple(int(n) for n in random.randint(0, 9 if random.rand() < 0.9 else 40, random.randint(0, 4)))
        dtype = random.choice(["float32", "float64", "float16", "int64", "int32", "bool", "uint8"])
        array = np.asarray(random.standard_normal(shape) * 10.0 ** random.randint(-6, 7))
        if random.rand() < 0.3:
            array = np.round(array)
        if random.rand() < 0.2 and array.size and dtype.startswith("float"):
            array.reshape(-1)[random.randint(array.size)] = random.choice([np.nan, np.inf, -np.inf, 0.0, 1e-310])
        with np.errstate(all="ignore"):
            array = np.asarray(array.astype(dtype))
        settings: dict[str, Any] = {}
        for name, values in (
            ("precision", range(8)),
            ("threshold", range(50)),
            ("edgeitems", range(5)),
            ("linewidth", range(10, 130)),
            ("sci_mode", (False, True)),
        ):
            if random.rand() < 0.15:
                settings[name] = values[random.randint(len(values))]
        for library in (torch, mg):
            library.set_printoptions(profile="default")
            library.set_printoptions(**settings)
        assert repr(mg.tensor(array)) == repr(torch.from_numpy(array))
    torch.set_printoptions(profile="default")
