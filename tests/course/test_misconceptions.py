"""The catalogue is true: each example prints what the entry says, on minigrad and on PyTorch where it is
installed."""

import contextlib
import io
import re
import warnings

import pytest

import minigrad
from minigrad.course import misconceptions
from minigrad.course.lesson_text import TextError
from minigrad.course.misconceptions import catalogue

ENTRIES = list(catalogue().values())


def printed(code, engine):
    """What an example prints, and the error it ends with."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(code, {"torch": engine})
    except Exception as error:
        out.write(f"{type(error).__name__}: {error}")
    return out.getvalue().strip()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.id)
def test_the_example_does_what_the_entry_says(entry):
    assert printed(entry.code, minigrad).startswith(entry.shows)


@pytest.mark.slow
@pytest.mark.needs("torch")
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.id)
def test_pytorch_does_the_same(entry):
    import torch

    assert printed(entry.code, torch).startswith(entry.shows)


def test_at_least_forty_complete_entries():
    assert len(catalogue()) >= 40
    assert list(catalogue()) == [f"M{n:02d}" for n in range(1, len(catalogue()) + 1)]
    for entry in ENTRIES:
        assert entry.belief.endswith(".") and entry.feedback[-1] in ".?" and len(entry.hints) == 3
        assert entry.docs.startswith("https://docs.pytorch.org/")
        assert len(entry.feedback) < 260, "two plain sentences and a question"
    assert len({e.feedback for e in ENTRIES}) == len(ENTRIES)


def test_find_names_the_range():
    with pytest.raises(KeyError, match="M01 to M"):
        misconceptions.find("M99")
    assert misconceptions.feedback("") == ""


def test_the_page_holds_every_entry_and_says_where_it_is_met():
    page = misconceptions.page()
    flowing = " ".join(page.split())
    for entry in ENTRIES:
        assert f"## {entry.id} {entry.name}\n" in page and entry.feedback in flowing and entry.docs in page
    assert re.search(r"exercises [^\n]*\b5\.1,", page) and 'with minigrad.broken("M19"):' in page


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("## M02 ", "## M01 ", "line 26: there are two entries M01"),
        ("2. Three passes", "Three passes", r"line 5: 'M01 accumulate': below an entry stand \*its belief\*"),
        ("## M01 accumulate", "# M01 accumulate", "line 5: a second heading"),
    ],
)
def test_an_entry_that_cannot_be_read_is_named_with_its_line(tmp_path, monkeypatch, old, new, says):
    file = tmp_path / "misconceptions.md"
    file.write_text(misconceptions.MISCONCEPTIONS.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    monkeypatch.setattr(misconceptions, "MISCONCEPTIONS", file)
    with pytest.raises(TextError, match=f"^misconceptions.md, {says}"):
        catalogue.__wrapped__()
