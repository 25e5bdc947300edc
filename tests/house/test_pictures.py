"""The pictures of lessons 02 and 07 to 14 are what their program draws, and each of them is used."""

import re

import pytest

from minigrad.course import notebooks
from tests.house.pictures import HERE, PICTURES

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


LONG = {"13_waiting_room"}  # it trains: five seconds


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] if n in LONG else []) for n in PICTURES])
def test_a_picture_is_what_its_program_draws(name: str) -> None:
    drawn, stored = PICTURES[name](), (HERE / f"{name}.svg").read_text(encoding="utf-8")
    assert NUMBER.sub("", drawn) == NUMBER.sub("", stored)
    numbers = [float(number) for number in NUMBER.findall(stored)]
    assert [float(number) for number in NUMBER.findall(drawn)] == pytest.approx(numbers, abs=0.3)


def test_every_picture_of_the_later_lessons_is_drawn_here_and_used() -> None:
    assert {file.stem for file in HERE.glob("*.svg") if file.stem >= "07"} <= set(PICTURES)
    for name in PICTURES:
        slug = next(slug for slug in notebooks.lessons() if slug.startswith(name[:2]))
        files = [notebooks.path(kind, slug) for kind in ("notebooks", "solutions")]
        assert any(f"images/{name}.svg)" in file.read_text(encoding="utf-8") for file in files)
