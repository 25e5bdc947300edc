"""Keys and focus of the stepper: every place to press, every key, on a page, in a saved notebook's frame, in notebooks."""

import inspect
import json
from collections.abc import Iterator
from typing import Any

import pytest

from minigrad.viz import pages
from minigrad.viz.data import dress
from minigrad.viz.program import Program
from tests.browser.fixtures import Server, Walk

from .test_stepper_lab import CELLS, run_in_7, write

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.needs("chromium")]


def two_paths(x: Any) -> Any:
    a = 2 * x
    b = a + 1
    y = a * b
    return y


CELL = f"from typing import Any\nfrom minigrad.viz import step\n{inspect.getsource(two_paths)}step(two_paths, x=3.0)"
# Every place to press: what is pressed, and where in it (from its left upper corner, in pixels; None: the middle).
PLACES = {
    "blank of the picture": (".mg-graph", (4, 4)),
    "box": ("[data-node] .box", None),
    "edge": (".mg-graph .wire", None),
    "title": (".mg-title", None),
    "position": (".mg-pos", None),
    "sentence": (".mg-words", (60, 16)),
    "code": (".mg-code [data-span]", None),
    "margin of the code": (".mg-code", (3, 3)),
    "legend": (".mg-legend li", None),
    "equation": (".mg-math", (5, 90)),
    "last line": (".mg-queue", (300, 8)),
    "button": ("[data-id=next]", None),
    "time line": (".mg-track input", (8, 12)),
}
INSIDE = "() => !!document.activeElement.closest('.mg')"
STEP = "() => +document.querySelector('.mg').dataset.step"


def made() -> dict[str, Any]:
    return dress(Program(two_paths, {"x": 3.0}).run(), forward=True)[0]


def press_everywhere(page: Any, root: Any) -> None:
    """After a press anywhere the keys work, go on working, and nothing scrolls. `root` finds elements of the stepper."""
    last = int(root.locator(".mg-track input").get_attribute("max"))
    step = lambda: int(root.locator(".mg").get_attribute("data-step"))
    inside = lambda: root.locator(".mg").evaluate(INSIDE)
    for name, (where, at) in PLACES.items():
        root.locator("[data-id=first]").click()
        root.locator(".mg").evaluate("() => document.activeElement.blur()")
        assert not inside(), name
        spot = {"x": at[0], "y": at[1]} if at else None
        root.locator(where).first.click(position=spot, force=True)
        assert inside(), f"{name}: a press takes the keyboard there"
        if step():
            page.keyboard.press("Home")
        for n in (1, 2, 3):
            page.keyboard.press("ArrowRight")
            assert (step(), inside()) == (n, True), (name, n)
        page.keyboard.press("ArrowLeft")
        assert (step(), inside()) == (2, True), name
        page.keyboard.press("End")
        assert step() == last and inside(), name
        page.keyboard.press("?")
        assert root.locator(".mg-more").is_visible() and inside(), name
        for _ in range(3):
            if not inside():
                break
            page.keyboard.press("Escape")
        assert root.locator(".mg-more").is_hidden() and root.locator(".mg-card").is_hidden(), f"{name}: Esc closes what is open"
        assert not inside(), f"{name}: the last Esc leaves"


def every_key(page: Any, root: Any) -> None:
    """Each key does what the help says, wherever the focus is, and the focus stays inside."""
    seen = root.locator(".mg")
    root.locator(".mg-title").click()

    def after(key: str) -> int:
        page.keyboard.press(key)
        assert seen.evaluate(INSIDE), key
        return int(seen.get_attribute("data-step"))

    size = lambda: root.locator(".mg-graph > svg").bounding_box()["width"]
    last = int(root.locator(".mg-track input").get_attribute("max"))
    assert after("End") == last and after("Home") == 0 and after("ArrowRight") == 1 and after("ArrowLeft") == 0
    node = after("Shift+ArrowRight")
    assert after("Shift+ArrowRight") > node and after("Shift+ArrowLeft") == node
    assert "2 of 2" in root.locator(".mg-words").inner_text() or after("n") > node
    whole = size()
    after("+")
    assert size() > whole
    after("-"), after("-")
    assert size() < whole
    after("f")
    assert abs(size() - whole) < 1
    for key in ("t", "?"):
        after(key)
        assert root.locator(".mg-more").is_visible()
        after(key)
        assert root.locator(".mg-more").is_hidden()
    after("ArrowDown")
    assert seen.evaluate("() => document.activeElement.hasAttribute('data-node')"), "from the whole into the graph"
    after("Enter")
    assert root.locator(".mg-card").is_visible()
    box = after("ArrowRight")
    assert after("ArrowRight") == box + 1 and root.locator(".mg-card").is_visible(), "the card stays, and so do the keys"
    after("Escape")
    assert root.locator(".mg-card").is_hidden()
    root.locator(".mg-title").click()
    after(" ")
    assert root.locator("[data-id=play]").get_attribute("aria-label") == "Pause (Space)"
    after(" ")
    assert root.locator("[data-id=play]").get_attribute("aria-label") == "Play (Space)"


@pytest.fixture
def stepper(page: Any, tmp_path: Any) -> Iterator[Any]:
    file = tmp_path / "stepper.html"
    file.write_text(pages.page_of(made()).replace("<body", '<body style="min-height: 3000px"'), encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_selector(".mg svg")
    yield page
    assert page.errors == [] and page.refused == []


def test_a_press_anywhere_and_then_any_key(stepper: Any) -> None:
    press_everywhere(stepper, stepper)
    every_key(stepper, stepper)
    assert stepper.evaluate("scrollY") == 0, "no press and no key scrolls the page"


def test_in_the_frame_of_a_saved_notebook(page: Any, tmp_path: Any) -> None:
    file = tmp_path / "saved.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><div>{pages.saved_html(made())}</div>", encoding="utf-8")
    page.goto(file.as_uri())
    root = page.frame_locator("iframe")
    root.locator(".mg svg").first.wait_for()
    press_everywhere(page, root)
    every_key(page, root)


def test_what_is_open_survives_painting(stepper: Any) -> None:
    """A card and a locked answer were painted anew, and the focus fell to the page."""
    stepper.locator("[data-node] .box").first.click()
    card = stepper.locator(".mg-card")
    text = card.inner_text()
    assert "input" in text and "a = 2 * x" in text and "program.py" not in text, "the user's line, not ours"
    assert card.evaluate("(e) => [e.scrollHeight - e.clientHeight, e.scrollWidth - e.clientWidth]") == [0, 0], "readable whole"
    graph, place = stepper.locator(".mg-graph").bounding_box(), card.bounding_box()
    assert place["y"] >= graph["y"] + graph["height"], "it does not cover the picture"
    card.locator(".mg-close").click()
    assert stepper.evaluate(INSIDE)
    stepper.keyboard.press("ArrowRight")
    assert stepper.evaluate(STEP) == 1


MODEL = """async ([source, text, inputs]) => {
    const js = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    const values = { data: JSON.parse(text), inputs, live: true, step: 0 };
    window.sent = [];
    const model = { get: (k) => values[k], set(k, v) { values[k] = v; }, save_changes() {},
        on(what, fn) { (window.heard ??= {})[what] = fn; },
        send(message) { sent.push([message.name, message.index, message.value]); window.heard["change:trouble"](); } };
    document.body.replaceChildren(document.createElement("div"));
    js.default.render({ model, el: document.body.firstChild, signal: new AbortController().signal }); }"""


@pytest.fixture
def inputs(page: Any) -> Any:
    """The stepper with its inputs, and a stand-in for the kernel, which notes what it is sent."""
    page.set_content(f"<!doctype html><meta charset=utf-8><style>{pages.style()}</style>")
    given = {"x": {"s": [], "d": [2.0]}, "far": {"s": [], "d": [1e30]}, "v": {"s": [3], "d": [1.0, 5.0, -0.5]}}
    page.evaluate(MODEL, [pages.script(), json.dumps(made()), given])
    return page


def test_letters_in_an_input_are_answered_and_the_number_comes_back(inputs: Any) -> None:
    field = inputs.get_by_label("x", exact=True)
    field.focus()
    inputs.keyboard.press("End")
    inputs.keyboard.type("a")
    trouble = inputs.locator(".mg-trouble")
    assert field.input_value() == "2" and '"2a" is not a number, so x stays 2' in trouble.inner_text()
    field.fill("-1.5")
    assert trouble.inner_text() == ""
    inputs.keyboard.press("Control+z")
    assert field.input_value() == "2" and inputs.evaluate("sent") == [["x", 0, -1.5], ["x", 0, 2]]
    field.fill("")
    inputs.keyboard.press("Tab")
    assert field.input_value() == "2", "a field left empty shows the number that holds"


def test_each_input_has_its_slider_whose_ends_are_named(inputs: Any) -> None:
    where = lambda name: inputs.get_by_label(f"Change {name}", exact=True)
    assert "status" not in inputs.locator(".mg-strip").aria_snapshot(), "an end is no message"
    place = "(e) => (e.value - e.min) / (e.max - e.min)"
    assert where("x").evaluate(place) == 0.6 and inputs.locator(".mg-slide").first.inner_text().split() == ["-10", "10"]
    assert where("far").evaluate(place) == 1 and "1e30" in inputs.locator(".mg-slide").nth(1).inner_text()
    inputs.get_by_label("x", exact=True).fill("40")
    assert where("x").evaluate(place) == 0.7, "a number beyond the ends moves them"
    inputs.get_by_label("v [1]").focus()
    assert "v [1]" in inputs.locator(".mg-slide").nth(2).inner_text(), "a slider for several numbers names its own"
    where("v [1]").focus()
    inputs.keyboard.press("ArrowRight")
    assert inputs.evaluate("sent").pop()[:2] == ["v", 1]


def test_on_a_touch_screen_the_words_are_other_ones(chromium: Any, tmp_path: Any) -> None:
    file = tmp_path / "touch.html"
    file.write_text(pages.page_of(made()), encoding="utf-8")
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(file.as_uri())
    words = page.locator(".mg-words").inner_text()
    assert "Tap the button" in words and "press" not in words.lower()
    context.close()


def test_on_a_phone_in_a_notebook_no_sentence_is_cut_off(page: Any, tmp_path: Any) -> None:
    """JupyterLab leaves a stepper about 250 pixels there."""
    page.set_viewport_size({"width": 252, "height": 844})
    file = tmp_path / "narrow.html"
    file.write_text(pages.page_of(made()), encoding="utf-8")
    page.goto(file.as_uri())
    words = page.locator(".mg-words")
    page.locator(".mg-title").click()
    for _ in range(int(page.locator(".mg-track input").get_attribute("max")) + 1):
        assert words.evaluate("(e) => e.scrollHeight - e.clientHeight") <= 1, words.inner_text()
        page.keyboard.press("ArrowRight")


def test_in_the_lab(walk: Walk) -> None:
    walk.open(write(walk.server, "keys_everywhere.ipynb", CELL, "1 + 1"))
    walk.run_all()
    page = walk.page
    root = page.frame_locator(".jp-OutputArea iframe")
    root.locator(".mg svg").first.wait_for()
    count = page.evaluate(CELLS)
    press_everywhere(page, root)
    assert page.evaluate("() => document.activeElement.closest('.jp-Notebook') !== null"), "Esc goes back to the notebook"
    every_key(page, root)
    assert page.evaluate(CELLS) == count and page.errors == []


def test_in_notebook_7(page: Any, lab: Server) -> None:
    name = write(lab, "keys_in_7.ipynb", CELL, "1 + 1")
    page.goto(f"{lab.address}/notebooks/{name}?token={lab.token}")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status='idle']", timeout=60_000)
    run_in_7(page, 0)
    root = page.frame_locator(".jp-OutputArea iframe")
    root.locator(".mg svg").first.wait_for(timeout=60_000)
    press_everywhere(page, root)
    every_key(page, root)
