"""The course as web pages: built from the stored notebooks, and read in a browser without any network."""

import json
import re
from pathlib import Path

import pytest

from minigrad.course import lessons, notebooks, site
from minigrad.course.site import questions, text


@pytest.fixture(scope="module")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site with lesson 02 alone."""
    folder = tmp_path_factory.mktemp("site")
    assert {what for _, what in site.build(folder, only="02")} == {"written"}
    return folder


def test_a_lesson_becomes_a_page_that_moves(lesson: Path) -> None:
    page = (lesson / "lessons" / "02_chain_rule.html").read_text(encoding="utf-8")
    nb = notebooks.read(notebooks.path("notebooks", "02_chain_rule"))
    recordings = [json.loads(found) for found in re.findall(r'class="stepper".*?json">(.*?)</script>', page, re.DOTALL)]
    calls = [source for source in notebooks.code_cells(nb) if re.search(r"^step\(", source, re.MULTILINE)]
    assert len(recordings) == len(calls) and all(data["steps"] for data in recordings)
    assert page.count('class="question"') == sum(source.startswith("predict(") for source in notebooks.code_cells(nb))
    assert page.count('class="folded"') == page.count('class="question"') and page.count("<div") == page.count("</div>")
    slides = json.loads(re.findall(r'class="slider.*?json">(.*?)</script>', page, re.DOTALL)[0])
    assert len(slides["pictures"]) >= 9 and all((lesson / "lessons" / path).is_file() for path in slides["pictures"])
    assert "<mfrac>" in page and "$" not in re.sub(r"<(script|pre)\b.*?</\1>", "", page, flags=re.DOTALL)
    assert not re.findall(r'(?:src|href)="(?:https?:|/)', page)


def test_a_second_build_changes_nothing(lesson: Path) -> None:
    assert {what for _, what in site.build(lesson, only="02")} == {"unchanged"}


def test_a_link_to_nowhere_is_an_error() -> None:
    prose = text.Prose("notebooks/a.ipynb", "lessons/a.html", {"notebooks/b.ipynb": "lessons/b.html"})
    assert 'href="b.html#2-Two"' in prose.html("[b](b.ipynb#2-Two)")
    with pytest.raises(ValueError, match=r"links to c\.ipynb"):
        prose.html("[c](c.ipynb)")


def test_a_page_can_judge_every_prediction_of_the_lessons() -> None:
    for exercise in lessons.all_exercises():
        if exercise.kind == "prediction" and not exercise.points:
            asked = questions.question(exercise)
            assert json.loads(json.dumps(asked, allow_nan=False))["id"] == exercise.id
            assert exercise.options or all(words in asked["words"] for words in [exercise.right] if isinstance(words, str))
