"""How a lesson is written, measured: one thought a cell, short prose, nothing that spoils or breaks.

The numbers are those that make the best course notebooks readable; see CONTRIBUTING.md.
"""

import json
import re
import statistics
from pathlib import Path
from typing import Any

import pytest

from minigrad.course import notebooks
from minigrad.course.checks import next_step
from minigrad.course.lessons import all_lessons

ALL = [
    pytest.param(kind, lesson, id=f"{kind}-{lesson}")
    for kind in notebooks.KINDS
    for lesson in notebooks.lessons()
    if notebooks.path(kind, lesson).exists()
]
LESSONS = notebooks.lessons()
MARKER = re.compile(r"\s*#+ (BEGIN|END) SOLUTION")


def cells(kind: str, lesson: str, type: str) -> list[dict[str, Any]]:
    return [
        cell for cell in notebooks.read(notebooks.path(kind, lesson))["cells"] if cell["cell_type"] == type
    ]


def lines(source: str) -> list[str]:
    return [line for line in source.splitlines() if line.strip() and not MARKER.match(line)]


def words(markdown: str) -> int:
    return len(re.sub(r"[`*#>|\-]|\]\([^)]*\)|!\[", " ", markdown).split())


@pytest.mark.parametrize(("kind", "lesson"), ALL)
def test_code_cells_are_short(kind: str, lesson: str) -> None:
    sizes = [len(lines(cell["source"])) for cell in cells(kind, lesson, "code")]
    assert max(sizes) <= 25
    assert statistics.median(sizes) <= 4


@pytest.mark.parametrize(("kind", "lesson"), ALL)
def test_no_line_of_code_is_cut_off_in_a_narrow_window(kind: str, lesson: str) -> None:
    """JupyterLab shows 87 characters in a window of 900 pixels."""
    for cell in cells(kind, lesson, "code"):
        assert max(map(len, cell["source"].splitlines())) <= 87, cell["id"]


@pytest.mark.parametrize(("kind", "lesson"), ALL)
def test_no_code_cell_is_blank(kind: str, lesson: str) -> None:
    assert all(lines(cell["source"]) for cell in cells(kind, lesson, "code"))


@pytest.mark.parametrize("lesson", LESSONS)
def test_prose_is_neither_terse_nor_long(lesson: str) -> None:
    sizes = [words(cell["source"]) for cell in cells("notebooks", lesson, "markdown")]
    assert 25 <= statistics.median(sizes) <= 60


@pytest.mark.parametrize(("kind", "lesson"), ALL)
def test_at_most_two_prose_cells_in_a_row_and_a_heading_begins_a_cell(kind: str, lesson: str) -> None:
    kinds = ""
    for cell in notebooks.read(notebooks.path(kind, lesson))["cells"]:
        text = cell["source"] if cell["cell_type"] == "markdown" else ""
        assert not re.search(r"\n## ", text), cell["id"]
        if not cell["id"].endswith("-next"):
            kinds += "h" if text.startswith("#") else "m" if text else "c"
    assert not re.search("[hm]mm", kinds)


@pytest.mark.parametrize(("kind", "lesson"), ALL)
def test_the_first_screen_tells_the_time(kind: str, lesson: str) -> None:
    opening = cells(kind, lesson, "markdown")[0]["source"]
    assert opening.startswith("# ")
    assert re.search(r"\b\d+ minutes\b", opening)


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_first_screen_lists_what_is_learned_and_the_card_repeats_it(lesson: str) -> None:
    opening = cells("notebooks", lesson, "markdown")[0]["source"]
    listed = re.findall(r"^- (.+)$", opening, re.MULTILINE)
    assert next_step.learned(lesson) == [line.replace("$", "") for line in listed] and len(listed) >= 3
    assert opening.endswith("Words are explained in the [glossary](GLOSSARY.md), and error messages in [ERRORS](ERRORS.md).")


@pytest.mark.parametrize("lesson", LESSONS)
def test_prose_does_not_print_a_solution(lesson: str) -> None:
    if not notebooks.path("solutions", lesson).exists():
        pytest.skip("optional: this lesson has no exercises")
    secret = set()
    for cell in cells("solutions", lesson, "code"):
        for part in re.findall(
            r"BEGIN SOLUTION.*?\n(.*?)^[^\n]*END SOLUTION", cell["source"], re.DOTALL | re.MULTILINE
        ):
            secret |= {re.sub(r"\s+", "", line) for line in lines(part)}
    secret = {line for line in secret if len(line) >= 12}
    for kind in ("notebooks", "exercises"):
        prose = re.sub(r"\s+", "", "\n".join(cell["source"] for cell in cells(kind, lesson, "markdown")))
        assert not [line for line in secret if line in prose], f"{kind}/{lesson} prints a solution"


@pytest.mark.parametrize("lesson", [each.slug for each in all_lessons() if each.locked])
def test_the_reason_under_a_locked_program_is_folded(lesson: str) -> None:
    nb = notebooks.read(notebooks.path("notebooks", lesson))["cells"]
    asked = [place for place, cell in enumerate(nb) if cell["source"].startswith("predict(")]
    assert asked
    for place in asked:
        reason = next(cell["source"] for cell in nb[place:] if cell["cell_type"] == "markdown")
        assert reason.startswith("<details>") and reason.count("</details>") == 1, f"under {nb[place]['source']}"


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS)
def test_a_stored_invitation_to_predict_is_folded(lesson: str) -> None:
    """Where there is no kernel, as on GitHub, it is one line that opens on a click."""
    for cell in cells("notebooks", lesson, "code"):
        if cell["source"].startswith("predict("):
            assert "".join(cell["outputs"][0]["data"]["text/html"]).startswith("<details>"), cell["id"]


@pytest.mark.parametrize(("kind", "lesson"), ALL)
def test_no_sentence_becomes_a_list(kind: str, lesson: str) -> None:
    for cell in cells(kind, lesson, "markdown"):
        for paragraph in re.split(r"\n\s*\n", cell["source"]):
            items = re.findall(r"^\d+[.)] ", paragraph, re.MULTILINE)
            assert len(items) != 1, f"{cell['id']}: Markdown reads {paragraph[:30]!r} as a list of one"


@pytest.mark.parametrize(("kind", "lesson"), ALL)
def test_every_picture_says_what_it_shows(kind: str, lesson: str) -> None:
    for cell in cells(kind, lesson, "markdown"):
        assert not re.search(r"!\[\s*\]\(", cell["source"]), f"{cell['id']}: a picture without words"
        for tag in re.findall(r"<img\b[^>]*>", cell["source"]):
            assert re.search(r"\balt=[\"'][^\"']+", tag), f"{cell['id']}: a picture without words"


@pytest.mark.parametrize(("kind", "lesson"), ALL)
def test_pictures_and_links_lead_somewhere(kind: str, lesson: str) -> None:
    here = notebooks.path(kind, lesson).parent
    for cell in cells(kind, lesson, "markdown"):
        for target in re.findall(r"\]\(([^)\s]+)", cell["source"]):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = (here / name) if name else notebooks.path(kind, lesson)
            assert file.exists(), f"{cell['id']} links to {target}"
            if anchor and file.suffix == ".ipynb":
                assert anchor in anchors(file), (
                    f"{cell['id']} links to {target}; there are {sorted(anchors(file))}"
                )


def anchors(file: Path) -> set[str]:
    """The names that JupyterLab gives to the headings of a notebook."""
    prose = "\n".join(
        cell["source"] for cell in notebooks.read(file)["cells"] if cell["cell_type"] == "markdown"
    )
    headings = re.findall(r"^#+ +(.+?) *$", prose, re.MULTILINE)
    return {re.sub(r"[`*]", "", heading).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(("kind", "lesson"), ALL)
def test_ids_are_stable_and_there_is_no_widget_state(kind: str, lesson: str) -> None:
    nb = json.loads(notebooks.path(kind, lesson).read_text(encoding="utf-8"))
    ids = [cell["id"] for cell in nb["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", id) for id in ids)
    assert set(nb["metadata"]) == {"kernelspec", "language_info"}


@pytest.mark.parametrize(("kind", "lesson"), ALL)
def test_stored_outputs_suit_any_machine(kind: str, lesson: str) -> None:
    for cell in cells(kind, lesson, "code"):
        for output in cell["outputs"]:
            assert output.get("name") != "stderr", f"{cell['id']} stores a warning"
            assert "widget" not in " ".join(output.get("data", {})), f"{cell['id']} stores a live widget"
            shown = json.dumps([output.get(key) for key in ("text", "evalue", "traceback")])
            shown += json.dumps(
                {k: v for k, v in output.get("data", {}).items() if not k.startswith("image/")}
            )
            assert not re.search(r"0x[0-9a-f]{6,}", shown), f"{cell['id']} stores an address"
            assert not re.search(r"/(?:tmp|home|usr)/|[A-Z]:\\\\", shown), f"{cell['id']} stores a path"


@pytest.mark.parametrize(
    "lesson", [lesson for lesson in LESSONS if notebooks.path("exercises", lesson).exists()]
)
def test_exercises_are_blank_and_pictures_of_nothing(lesson: str) -> None:
    for cell in cells("exercises", lesson, "code"):
        assert cell["outputs"] == [] and cell["execution_count"] is None
        assert notebooks.IGNORE_OUTPUT in cell["metadata"].get("tags", ())
        assert "SOLUTION" not in cell["source"]
