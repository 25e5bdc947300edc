"""The pictures of lessons 02 and 07 to 14 and of docs/pytorch.md are what their program draws, and each of them is used."""

import re

import pytest

from minigrad.course import notebooks
from tests.house.pictures import HERE, NARROW, PICTURES, PYTORCH, stored

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


LONG = {"13_waiting_room"}  # it trains: five seconds
OF_PYTORCH = [name for name in PICTURES if name.startswith("pytorch")]
OURS = [name for name in PICTURES if name not in OF_PYTORCH]


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] if n in LONG else []) for n in OURS])
def test_a_picture_is_what_its_program_draws(name: str) -> None:
    drawn, expected = PICTURES[name](), stored(name).read_text(encoding="utf-8")
    assert NUMBER.sub("", drawn) == NUMBER.sub("", expected)
    numbers = [float(number) for number in NUMBER.findall(expected)]
    assert [float(number) for number in NUMBER.findall(drawn)] == pytest.approx(numbers, abs=0.3)


@pytest.mark.slow
@pytest.mark.needs("torch")
@pytest.mark.parametrize("name", OF_PYTORCH)
def test_a_picture_of_pytorch_is_what_its_program_draws(name: str) -> None:
    assert PICTURES[name]() == stored(name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", OF_PYTORCH)
def test_a_picture_of_pytorch_is_small_and_its_words_are_in_it(name: str) -> None:
    """What the alternative text calls by name or number stands in the picture."""
    drawn, page = stored(name).read_text(encoding="utf-8"), PYTORCH.read_text(encoding="utf-8")
    (words,) = re.findall(rf"^!\[([^\]]+)\]\(images/{name}\.svg\)", page, re.MULTILINE)
    shown = " ".join(re.findall(r"<text[^>]*>([^<]+)</text>", drawn))
    named = re.findall(r"\w+\.\w+|\d+×\d+", words)
    assert named and all(word in shown for word in named)
    assert len(drawn.encode()) <= 40_000 and float(re.search(r' width="([\d.]+)"', drawn)[1]) <= NARROW


def test_every_picture_of_the_later_lessons_is_drawn_here_and_used() -> None:
    assert {file.stem for file in HERE.glob("*.svg") if file.stem >= "07"} <= set(PICTURES)
    for name in OURS:
        slug = next(slug for slug in notebooks.lessons() if slug.startswith(name[:2]))
        files = [notebooks.path(kind, slug) for kind in ("notebooks", "solutions")]
        assert any(f"images/{name}.svg)" in file.read_text(encoding="utf-8") for file in files)
