"""The first hour of a stranger: open the course, run lesson 05, walk a backward pass, solve exercise 5.1."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from minigrad.course import notebooks
from minigrad.course.checks import progress_store, welcome
from minigrad.course.exercise import EDITION
from tests.browser.fixtures import Server, Walk, serve

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.needs("chromium")]


def first_hour(walk: Walk) -> None:
    walk.open("notebooks/05_vectors.ipynb")
    assert walk.notebook.locator(".jp-OutputArea-output").count() == 0, "a lesson arrives without outputs"
    walk.run_all()
    lesson = notebooks.read(notebooks.path("notebooks", "05_vectors"))
    on_purpose = [cell for cell in lesson["cells"] if "raises-exception" in cell["metadata"].get("tags", ())]
    assert len(walk.errors()) == len(on_purpose), walk.errors()
    assert any("grad can be implicitly created only for scalar outputs" in error for error in walk.errors())
    press_right_ten_times(walk)
    solve_5_1(walk)
    assert walk.page.errors == []
    assert walk.page.refused == [], "the course asks nothing of the network"


def press_right_ten_times(walk: Walk) -> None:
    stepper = walk.notebook.frame_locator("iframe").first.locator(".mg")
    stepper.wait_for()
    stepper.scroll_into_view_if_needed()
    stepper.locator("button").first.focus()
    slider, words = stepper.locator("input[type=range]"), stepper.locator(".mg-live")
    last = int(slider.get_attribute("max"))
    assert last >= 5
    seen = [words.inner_text()]
    for press in range(1, 11):
        walk.page.keyboard.press("ArrowRight")
        expect_value(walk, slider, str(min(press, last)))
        if press <= last:
            seen.append(words.inner_text())
    assert len(set(seen)) == len(seen), "each press says something new"


def expect_value(walk: Walk, slider: Any, value: str) -> None:
    for _ in range(100):
        if slider.input_value() == value:
            return
        walk.page.wait_for_timeout(20)
    raise AssertionError(f"the stepper stands at {slider.input_value()}, not at {value}")


def solve_5_1(walk: Walk) -> None:
    walk.open("exercises/05_vectors_exercises.ipynb")
    walk.run_all()
    assert walk.errors() == [], "a blank stops nothing"
    check = r'check\("5\.1"\)'
    assert "5.1" in walk.cell(check).inner_text()
    assert "passed" not in walk.cell(check).locator(".jp-OutputArea").inner_text()
    walk.replace_stub(r"def vjp_square", "return 2 * x")
    walk.run(r"def vjp_square")
    card = walk.run(check)
    card.get_by_role("button", name="Hint").click()
    card.get_by_text("squared: hint 1 of").wait_for()
    card.get_by_role("link", name="M26").click()
    walk.page.wait_for_selector(".jp-MarkdownViewer:visible h2:has-text('M26')")
    walk.page.locator(".lm-TabBar-tab", has_text="05_vectors_exercises").first.click()
    walk.cell(r"def vjp_square").locator(".cm-line", has_text="return 2").click()
    walk.page.keyboard.press("End")
    walk.page.keyboard.type(" * v")
    walk.run(r"def vjp_square")
    card = walk.run(check).locator(".jp-OutputArea")
    assert "passed" in card.inner_text()
    walk.cell(check).scroll_into_view_if_needed()
    heading = walk.notebook.get_by_role("heading", name="5.2 A whole Jacobian")
    before = heading.bounding_box()["y"]
    card.get_by_role("link", name="5.2").click()
    walk.page.wait_for_timeout(1000)
    assert 0 < heading.bounding_box()["y"] < min(before, 400), "a card that passes leads on"


def test_lab_opens_at_a_welcome_page_whose_links_work(page: Any, lab: Server) -> None:
    page.goto(f"{lab.address}/?token={lab.token}")
    welcome = page.locator(".jp-MarkdownViewer:visible")
    welcome.get_by_text("Every term in plain words").click()
    page.wait_for_selector(".jp-MarkdownViewer:visible h1:has-text('Every term')")
    page.locator(".lm-TabBar-tab", has_text="Welcome.md").click()
    welcome.get_by_role("link", name="00 · Start here").first.click()
    page.wait_for_selector(".jp-NotebookPanel:visible .jp-MarkdownCell h1")
    assert page.locator(".lm-TabBar-tab.lm-mod-current", has_text="00_start_here.ipynb").count() == 1
    page.wait_for_timeout(1500)  # the news prompt would come about now
    assert page.locator(".Toastify__toast").count() == 0, "no prompt about news or updates"


def test_the_welcome_page_leads_to_the_heading_of_the_next_exercise(page: Any, lab: Server) -> None:
    """The notebook is not open yet; its tab is told from that of the lesson, and no file is renamed for it."""
    record = {"minigrad": 1, "edition": EDITION, "exercises": {"0.1": {"passed": True}, "0.2": {"passed": True}}}
    (lab.folder / progress_store.FILE).write_text(json.dumps(record), encoding="utf-8")
    welcome.write(lab.folder)
    before = sorted(lab.folder.glob("*/*.ipynb"))
    page.goto(lab.url(welcome.FILE))
    shown = page.locator(".jp-MarkdownViewer:visible")
    shown.locator("img").evaluate("picture => picture.decode()")
    shown.get_by_role("link", name="Go on with 0.3 repair it").click()
    heading = page.locator(".jp-NotebookPanel:visible").get_by_role("heading", name="0.3 Repair it")
    heading.wait_for()
    page.wait_for_timeout(3500)
    assert 0 < heading.bounding_box()["y"] < 300
    tab = page.locator(".lm-TabBar-tab.lm-mod-current .lm-TabBar-tabLabel", has_text="00_start_here_exercises")
    assert "Exercises" in tab.evaluate("label => getComputedStyle(label, '::before').content")
    assert sorted(lab.folder.glob("*/*.ipynb")) == before
    (lab.folder / progress_store.FILE).unlink()


def test_on_a_narrow_screen_the_side_bar_is_closed(page: Any, lab: Server) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(lab.url(welcome.FILE))
    title = page.locator(".jp-MarkdownViewer h1")
    title.wait_for(timeout=60_000)
    page.wait_for_timeout(1000)
    assert title.bounding_box()["width"] > 200 and not page.locator(".jp-FileBrowser").is_visible()


def test_a_program_of_lesson_04_is_locked_until_predicted(walk: Walk) -> None:
    walk.open("notebooks/04_pytorch_semantics.ipynb")
    walk.run_all()
    asked = walk.notebook.locator(".jp-CodeCell", has_text='predict("').count()
    locked = walk.notebook.locator(".jp-OutputArea", has_text="stays locked until you answer")
    assert locked.count() == asked >= 8
    program = walk.cell(r"attempt\(z\.backward\)").first.locator(".jp-OutputArea")
    question = walk.cell(r'predict\("4\.3a"')
    question.locator("input[type=radio]").nth(2).check()
    question.get_by_role("button", name="Lock this answer in").click()
    program.filter(has_text="Trying to backward through the graph a second time").wait_for()
    assert "locked" in question.inner_text(), "a wrong answer opens the program too"
    assert locked.count() == asked - 1
    assert walk.errors() == [] and walk.page.errors == []


def test_a_notebook_lives_the_next_day(walk: Walk) -> None:
    """Opening one leaves it as it is. A saved one, opened again when its kernel is gone, shows what it showed."""
    file = "notebooks/01_slope.ipynb"
    changed = "() => window.jupyterapp.shell.currentWidget.context.model.dirty"
    walk.open(file)
    walk.page.wait_for_timeout(1500)
    assert not walk.page.evaluate(changed), "opening a notebook does not mark it as changed"
    walk.run_all()
    stepper = walk.notebook.frame_locator("iframe").first.locator(".mg svg").first
    stepper.wait_for()
    views = walk.notebook.locator(".minigrad-live, iframe").count()
    walk.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    walk.page.wait_for_function(f"() => !({changed})()")
    walk.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    walk.open(file)
    stepper.wait_for()
    assert views and walk.notebook.locator(".minigrad-live, iframe").count() == views
    walk.page.wait_for_timeout(2500)
    assert not walk.page.evaluate(changed), "nor does opening a saved one, in which nothing was run"
    assert walk.notebook.get_by_text("Error displaying widget").count() == 0
    broken = "parts => parts.map(part => getComputedStyle(part, '::before').display)"
    assert set(walk.notebook.locator(".jupyter-widgets-disconnected").evaluate_all(broken)) <= {"none"}, "no broken chain"
    form = walk.notebook.locator(".minigrad-live").first
    form.scroll_into_view_if_needed()
    form.get_by_text("To answer in a field, run this cell again").wait_for()
    assert not form.locator("button, input").first.is_visible(), "what can only be pressed in vain is left out"


def test_the_first_hour_from_a_wheel(page: Any, tmp_path: Path) -> None:
    """The wheel, alone in a new environment, outside the checkout."""
    build = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(tmp_path / "dist"),
        str(ROOT),
    ]
    subprocess.run(build, check=True, capture_output=True, timeout=300)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for part in ("course/_files/exercises/05_vectors_exercises.ipynb", "viz/js/main.js", "viz/stepper.css", "py.typed"):
        assert f"minigrad/{part}" in names
    assert not [name for name in names if name.startswith("tests/")]
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True, timeout=120)
    python = tmp_path / "venv" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-compile", f"{wheel}[course]"]
    subprocess.run(install, check=True, timeout=250, cwd=tmp_path)
    with serve(tmp_path / "home", str(python)) as server:
        first_hour(Walk(page, server))
