"""How tensors print: each recorded form, with every option, and random tensors beside PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad as mg
from tests import recorded


def test_printed_forms() -> None:
    assert recorded.differing(mg, "printed") == []


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
    mg.set_printoptions(profile="default")
