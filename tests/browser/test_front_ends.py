"""Predictions, answers, hints, sliders and steppers in front ends that were started without any setting of ours."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from minigrad.course import notebooks
from tests.browser.fixtures import Server, serve

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.needs("chromium")]

FRONT_ENDS = {
    "JupyterLab": ("jupyterlab", "lab/tree", ".jp-CodeCell", "/"),
    "Notebook 7": ("notebook", "notebooks", ".jp-CodeCell", "/"),
    "a hub's server": ("jupyterlab", "lab/tree", ".jp-CodeCell", "/user/ann/"),
    "nbclassic": ("nbclassic", "nbclassic/notebooks", ".code_cell", "/"),
}
CELLS = (
    "from minigrad.course import check, hint, predict\nfrom minigrad.viz import plots, step",
    'predict("0.0", [..., ..., ...])',
    'answer = ...\ncheck("0.1")',
    "plots.slope_slider(lambda x: x**3, 2.0)",
    "plots.film({i: plots.line([0, 1, 2], [1.0, 3.0, 5.0], i, 1.0) for i in range(3)})",
    "def f(x):\n    return 3 * x + 1 if x.item() < 9 else x\nstep(f, x=2.0)",
)


class Front:
    """A notebook in one of the front ends, with its cells run."""

    def __init__(self, page: Any, server: Server, where: str, cell: str) -> None:
        self.page, self.server, self.cell = page, server, cell
        self.address = f"{server.address}/{where}/exercises/front.ipynb?token={server.token}"
        self.file = server.folder / "exercises" / "front.ipynb"

    def open(self) -> None:
        """Open the notebook; its kernel is there when this returns."""
        self.page.goto(self.address)
        self.page.locator(self.cell).nth(len(CELLS) - 1).wait_for(timeout=60_000)
        if self.cell == ".code_cell":
            self.page.wait_for_function("() => Jupyter.notebook.kernel?.is_connected()", timeout=60_000)
        else:
            self.page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for(timeout=60_000)

    def at(self, place: int) -> Any:
        """A code cell."""
        return self.page.locator(self.cell).nth(place)

    def run(self, place: int) -> None:
        """Shift and Enter in a cell, until it has its number: a key pressed while the page still loads is lost."""
        for _ in range(4):
            self.at(place).locator(".cm-content, .CodeMirror-line").first.click()
            self.page.keyboard.press("Shift+Enter")
            for _ in range(60):
                number = self.at(place).locator(".jp-InputPrompt, .input_prompt").first.inner_text()
                if re.search(r"\[\d+\]", number):
                    return
                self.page.wait_for_timeout(200)
        raise AssertionError(f"cell {place} did not run: {number}")

    def save(self) -> None:
        """Save with the keys that every front end has."""
        before = self.file.stat().st_mtime_ns
        self.at(0).locator(".cm-content, .CodeMirror-line").first.click()
        self.page.keyboard.press("Control+s")
        for _ in range(100):
            if self.file.stat().st_mtime_ns != before:
                return
            self.page.wait_for_timeout(100)
        raise AssertionError("the notebook was not saved")


@pytest.fixture(params=FRONT_ENDS)
def front(request: pytest.FixtureRequest, page: Any, tmp_path: Path) -> Iterator[Front]:
    """A student's folder in a front end that Jupyter itself starts."""
    module, where, cell, base = FRONT_ENDS[request.param]
    pytest.importorskip(module)
    notebooks.lay_out(tmp_path / "course")
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}}
    nb = notebooks.tidy({"cells": [{"cell_type": "code", "metadata": {}, "source": source} for source in CELLS]})
    notebooks.write(nb | {"metadata": kernel}, tmp_path / "course" / "exercises" / "front.ipynb")
    with serve(tmp_path, plain=(module, base)) as server:
        yield Front(page, server, where, cell)


def test_everything_works_and_lasts(front: Front) -> None:
    front.open()
    for place in range(len(CELLS)):
        front.run(place)
    page = front.page
    question = front.at(1)
    field = question.get_by_label("Your answer, a list of numbers")
    field.fill("abc")
    field.press("Enter")
    question.get_by_text("Nothing is locked in yet.").wait_for()
    assert "quotation marks" not in question.inner_text()
    field = question.get_by_label("Your answer, a list of numbers")
    field.fill("[3, 4, 5]")
    field.press("Enter")
    question.get_by_text("Those are the numbers plus two.").wait_for()
    assert "a tensor times two: locked" in question.inner_text() and question.locator("input").count() == 0
    check = front.at(2)
    check.get_by_label("Your answer").fill("24")
    check.get_by_role("button", name="Check this answer").click()
    check.get_by_text("Are the two digits in the order").wait_for()
    assert check.locator("[role=group]").count() == 1, "one verdict at a time"
    check.get_by_role("button", name="Hint for 0.1").click()
    check.get_by_text("0.1 a first answer: hint 1 of").wait_for()
    check.get_by_label("Your answer").fill("42")
    check.get_by_label("Your answer").press("Enter")
    check.get_by_role("link", name="0.2").wait_for()
    slider, picture = front.at(3), front.at(3).locator("[data-part=picture] img")
    before = picture.get_attribute("src")
    slider.locator("input").press("ArrowRight")
    page.wait_for_function("([e, src]) => e.querySelector('[data-part=picture] img').getAttribute('src') !== src",
                           arg=[slider.element_handle(), before])  # fmt: skip
    assert slider.locator("output").inner_text() == "0.5623"
    film = front.at(4)
    film.locator("input").press("ArrowRight")
    assert film.locator("[data-frame]:visible").get_attribute("data-frame") == "1"
    stepper(front)
    changed = front.at(5).frame_locator("iframe")
    changed.locator(".mg-strip input[type=text]").fill("10")
    changed.locator("[data-id=last]").click()
    changed.locator(".mg-words", has_text="x.grad: 1.").wait_for()
    front.save()
    next_day(front)


def stepper(front: Front) -> None:
    """The stepper goes on at the press of a key."""
    frame = front.at(5).frame_locator("iframe")
    frame.locator("[data-id=next]").focus()
    front.page.keyboard.press("ArrowRight")
    frame.locator(".mg[data-step='1']").wait_for()


def next_day(front: Front) -> None:
    """The kernel is gone, the notebook is opened again: what was locked is locked, what is dead says how it lives."""
    page, sessions = front.page, f"{front.server.address}/api/sessions"
    headers = {"Authorization": f"token {front.server.token}"}
    for session in page.request.get(sessions, headers=headers).json():
        page.request.delete(f"{sessions}/{session['id']}", headers=headers)
    front.open()
    assert "a tensor times two: locked" in front.at(1).inner_text()
    assert "Your answer" not in front.at(1).inner_text() and "0.1 a first answer: passed" in front.at(2).inner_text()
    front.at(3).get_by_text("To move the slider, run").wait_for()
    assert not front.at(3).locator("input").is_visible() and front.at(3).locator("img").is_visible()
    front.at(4).locator("input").press("ArrowRight")
    assert front.at(4).locator("[data-frame]:visible").get_attribute("data-frame") == "1"
    stepper(front)
    front.at(5).frame_locator("iframe").get_by_text("To try another number for x, run the cell").wait_for()
    assert page.get_by_text("Error displaying widget").count() == 0 and page.get_by_text("Loading widget").count() == 0
    front.run(0)
    front.run(1)
    front.at(1).get_by_text("Locked in: [3, 4, 5].").wait_for()
