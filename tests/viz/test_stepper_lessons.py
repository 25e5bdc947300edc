"""All steppers of all lessons in a real browser, at each of their steps: none over another, none cut off."""

from pathlib import Path
from typing import Any

import pytest

from minigrad.course import notebooks, site
from minigrad.course.site import alive
from minigrad.viz import pages
from tests.browser.fixtures import RULES

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.needs("chromium")]
ROOT = Path(__file__).parents[2]
SCHEMES = (("light", [*RULES, "best-practice"]), ("dark", ["color-contrast"]))  # a theme changes colours alone
LESSONS = sorted(path.stem for path in (ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))

MEASURE = """() => {
    const m = document.querySelector(".mg"), range = m.querySelector(".mg-track input"), faults = new Set();
    const go = (n) => { range.value = n; range.dispatchEvent(new Event("input", { bubbles: true })); };
    const rect = (e) => e.getBoundingClientRect(), end = (q) => rect(m.querySelector(q)).bottom - rect(m).top;
    const both = (a, b, by) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > by
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > by;
    const apart = (list, n) => list.map((e) => [e, rect(e)]).forEach(([e, r], i, all) => all.slice(i + 1).forEach(([f, q]) => {
        if (both(r, q, 2.5)) faults.add(`step ${n}: "${e.textContent}" over "${f.textContent}"`); }));
    let seen = 0, reading = 0;
    for (let n = 0; n <= +range.max; n++) {
        go(n);
        const texts = [...m.querySelectorAll(".mg-graph svg text")].filter((t) => t.textContent);
        seen += texts.length;
        apart(texts, n);
        apart([...m.querySelectorAll(".mg-ledger :is(th, td), .mg-math figure, .mg-math .mg-sign")], n);
        for (const part of ["words", "math", "ledger", "queue"]) {
            const e = m.querySelector(".mg-" + part), over = [e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight];
            const most = part === "math" && e.clientHeight > 425;  // the largest height: what is longer scrolls
            if (over[0] > 1 || over[1] > 1 && !most) faults.add(`step ${n}: ${part} is cut off by ${over}`);
        }
        reading = Math.max(reading, ...[".mg-graph", ".mg-words", ".mg-math"].map(end));
    }
    return { faults: [...faults], seen, reading };
}"""
# On a phone, at the step in the middle: what is on the screen that begins with the stepper's title.
SCREEN = """() => {
    const m = document.querySelector(".mg"), range = m.querySelector(".mg-track input");
    range.value = range.max / 2;
    range.dispatchEvent(new Event("input", { bubbles: true }));
    scrollTo(0, m.getBoundingClientRect().top + scrollY);
    const low = m.querySelector(".mg-tools").getBoundingClientRect(), lit = m.querySelector(".mg-code .lit");
    const ends = [".mg-words", ".mg-math", ".mg-code"].map((q) => m.querySelector(q)).filter(Boolean)
        .map((e) => e.getBoundingClientRect().bottom);
    return { low: low.bottom, ends: Math.max(...ends) - low.top, sideways: document.documentElement.scrollWidth - innerWidth,
        graph: m.querySelector(".mg-graph").scrollWidth - m.querySelector(".mg-graph").clientWidth,
        lit: !lit || lit.getBoundingClientRect().bottom <= lit.closest(".mg-code").getBoundingClientRect().bottom + 2 };
}"""


def first_arrival(data: dict[str, Any]) -> int:
    """The position on the time line at which a leaf gets its first contribution."""
    at = len(data.get("forward", ()))
    for move in data["steps"]:
        at += len(move["text"])
        if move["kind"] == "send" and data["nodes"][move["parent"]]["leaf"]:
            return at
    raise AssertionError(f"{data['title']}: nothing arrives")


@pytest.fixture(scope="module", params=LESSONS)
def steppers(request: Any) -> list[dict[str, Any]]:
    """The recordings of a lesson's steppers."""
    folder = ROOT / "notebooks"
    found = alive.run(notebooks.read(folder / f"{request.param}.ipynb"), request.param, folder)
    made = [value for value in found.values() if isinstance(value, dict)]  # the others are pictures with sliders, and HTML
    assert made or request.param[:2] in ("15", "16"), "a lesson has lost its steppers"
    return made


@pytest.mark.parametrize("width", [1400, 820, 390])
def test_every_stepper_at_every_step(steppers: list[dict[str, Any]], page: Any, tmp_path: Path, width: int) -> None:
    for i, data in enumerate(steppers):
        assert max(len(node["name"]) for node in data["nodes"]) <= 24
        file = tmp_path / f"{i}.html"
        file.write_text(pages.page_of(data), encoding="utf-8")
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(file.as_uri())
        page.wait_for_selector(".mg svg")
        found = page.evaluate(MEASURE)
        assert found["faults"] == [] and found["seen"] > 10, data["title"]
        if width == 1400:
            assert found["reading"] <= 700, f"{data['title']}: graph, sentence and equation"
            stops = any(move.get("check", {}).get("verdict", "agrees") != "agrees" for move in data["steps"])
            if not stops and all(not node["shape"] for node in data["nodes"]):
                page.keyboard.press("Tab")
                page.keyboard.press("Home")
                for _ in range(5):
                    page.keyboard.press("Shift+ArrowRight")
                assert int(page.locator(".mg").get_attribute("data-step")) >= first_arrival(data), "five presses, by node"
        if width != 390:
            continue
        screen = page.evaluate(SCREEN)
        assert screen["low"] <= 844.5, "the controls stick to the bottom of the screen"
        assert screen["ends"] <= 1, f"{data['title']}: sentence, equation and line of code stand above the controls"
        assert screen["lit"] and screen["sideways"] <= 0, data["title"]
    assert page.errors == [] and page.refused == []


PARSE = """async ([source, text]) => {
    const file = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    return (await import(file)).default.parse(text);
}"""


@pytest.mark.parametrize("width", [1400, 820, 390])
@pytest.mark.parametrize("text", [text for _, text in site.PRESETS], ids=[name for name, _ in site.PRESETS])
def test_every_preset_at_every_step(page: Any, tmp_path: Path, text: str, width: int) -> None:
    source = pages.script().replace("export default { render };", pages.playground() + "\nexport default { parse };")
    data = page.evaluate(PARSE, [source, text])
    file = tmp_path / "preset.html"
    file.write_text(pages.page_of(data), encoding="utf-8")
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(file.as_uri())
    page.wait_for_selector(".mg svg")
    found = page.evaluate(MEASURE)
    assert found["faults"] == [] and found["seen"] > 10


def test_axe_finds_nothing_in_any_stepper(steppers: list[dict[str, Any]], page: Any, axe: Any, tmp_path: Path) -> None:
    """In the backward pass with a card and the help open, and at the first question of a prediction."""
    page.set_viewport_size({"width": 390, "height": 844})
    for i, data in enumerate(steppers):
        for predict in (False, True):
            file = tmp_path / f"{i}.html"
            file.write_text(pages.page_of({**data, "predict": predict}), encoding="utf-8")
            page.goto(file.as_uri())
            page.wait_for_selector(".mg svg")
            page.locator("[data-id=next]").focus()
            for _ in range(len(data.get("forward", ())) + 2):
                page.keyboard.press("Shift+ArrowRight")
            if not predict:
                page.locator("[data-id=help]").click()
                page.locator("[data-node]").first.dispatch_event("click")
            for scheme, rules in SCHEMES[: 1 if predict else 2]:
                page.emulate_media(color_scheme=scheme)
                assert axe(page, ".mg", rules) == [], f"{data['title']}, {scheme}, predict {predict}"
