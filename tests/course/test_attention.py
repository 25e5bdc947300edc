"""What lesson 16 brings: a list of names, PyTorch's example of attention, and the picture of where a model looks."""

import json
from pathlib import Path

import numpy as np
import pytest

from minigrad.course import lessons, where_it_looks
from minigrad.course.checks.looking import grid
from minigrad.course.site import alive

DATA = Path(lessons.__file__).parents[1] / "data"


def test_the_list_has_a_thousand_different_names() -> None:
    names = (DATA / "names.txt").read_text(encoding="utf-8").splitlines()
    assert len(names) == 1000 and names == sorted(set(names))
    assert all(name.isascii() and name.isalpha() and name.islower() and 3 <= len(name) <= 11 for name in names)


@pytest.mark.slow
@pytest.mark.needs("torch")
def test_the_example_is_what_pytorch_computes() -> None:
    import torch

    example = json.loads((DATA / "attention.json").read_text(encoding="utf-8"))
    q, k, v = (torch.tensor(example[name], dtype=torch.float64, requires_grad=True) for name in "qkv")
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    out.backward(torch.tensor(example["g"], dtype=torch.float64))
    for name, tensor in (("dq", q), ("dk", k), ("dv", v)):
        assert tensor.grad is not None
        assert np.abs(np.array(example[name]) - tensor.grad.numpy()).max() < 1e-14


WEIGHTS = np.array([[1.0, 0.0, 0.0], [0.25, 0.75, 0.0], [0.5, 0.3, 0.2]])


@pytest.mark.slow
def test_the_picture_says_where_each_letter_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MINIGRAD_DISPLAY", raising=False)
    bundle = where_it_looks({"ox": WEIGHTS, "ax": WEIGHTS})._repr_mimebundle_()
    assert "ox: To guess what follows ○, it looks at ○ 100 %." in bundle["text/plain"]
    assert "To guess what follows ○a, it looks at a 75 %, ○ 25 %." in bundle["text/plain"].splitlines()[1]
    assert bundle["text/html"].count('class="mg-look"') == 2 and bundle["text/html"].count("data-still") >= 1
    html = alive.moving(where_it_looks({"ox": WEIGHTS, "ax": WEIGHTS}))
    assert isinstance(html, str) and html.count('class="mg-look"') == 2 and "data-live" not in html, "on the site"
    monkeypatch.setenv("MINIGRAD_DISPLAY", "static")
    assert "follows ○ox, it looks at ○ 50 %, o 30 %, x 20 %." in where_it_looks({"ox": WEIGHTS}).alt


def test_letters_are_text_and_weights_of_another_name_are_refused() -> None:
    assert "<b" not in grid("<b", WEIGHTS) and "&lt;" in grid("<b", WEIGHTS)
    with pytest.raises(ValueError, match="'oak' has 3 letters, so its weights need 4 rows and columns"):
        where_it_looks({"oak": WEIGHTS})
