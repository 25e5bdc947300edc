"""The course as web pages: built from the stored notebooks, and read in a browser without any network."""

import hashlib
import io
import json
import os
import re
import sys
import threading
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest

import minigrad as torch
from minigrad import record, viz
from minigrad.course import check, hint, lessons, notebooks, predict, site
from minigrad.course.checks import progress_store
from minigrad.course.exercise import call, run
from minigrad.course.site import alive, answers, api, questions, text
from minigrad.course.student import child, worker
from minigrad.viz.data import dress
from tests.browser.fixtures import RULES


@pytest.fixture(scope="module")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a site with lesson 02 alone."""
    folder = tmp_path_factory.mktemp("site")
    assert {what for _, what in site.build(folder, only="02")} == {"written"}
    return folder


@pytest.mark.slow
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
    assert "All cells of this page have already run." in page
    assert "<mfrac>" in page and "$" not in re.sub(r"<(script|pre)\b.*?</\1>", "", page, flags=re.DOTALL)
    assert not re.findall(r'(?:src|href)="(?:https?:|/)', page)


@pytest.mark.slow
def test_a_page_names_its_address_and_a_picture_where_the_address_is_known(tmp_path: Path, lesson: Path) -> None:
    for _ in site.build(tmp_path, only="02", address="https://ada.github.io/course"):
        pass
    page = (tmp_path / "lessons" / "02_chain_rule.html").read_text(encoding="utf-8")
    own = "https://ada.github.io/course/lessons/02_chain_rule.html"
    assert f'<link rel="canonical" href="{own}">' in page and f'<meta property="og:url" content="{own}">' in page
    assert '<meta property="og:image" content="https://ada.github.io/course/pictures/share.png">' in page
    for place in ("mybinder.org/v2/gh/ada/course/main?urlpath=lab/tree", "github.com/ada/course/edit/main",
                  "colab.research.google.com/github/ada/course/blob/main"):  # fmt: skip
        assert f"{place}/notebooks/02_chain_rule.ipynb" in page
    assert (tmp_path / "pictures" / "share.png").read_bytes()[:4] == b"\x89PNG"
    without = (lesson / "lessons" / "02_chain_rule.html").read_text(encoding="utf-8")
    assert not any(word in without for word in ("canonical", "og:image", "twitter:card", "mybinder", "colab", "edit/main"))


@pytest.mark.slow
def test_a_second_build_changes_nothing(lesson: Path) -> None:
    assert {what for _, what in site.build(lesson, only="02")} == {"unchanged"}


@pytest.mark.parametrize("tex, made", [
    ("f'(x)", '<mi>f</mi><mo lspace="0" rspace="0">&#x02032;</mo><mo'),
    (r"\lim_{h \to 0} x", "<munder><mo>lim</mo><mrow><mi>h</mi>"),
    (r"\log p_k", '<mi>log</mi><mspace width="0.17em"/><msub><mi>p</mi>'),
    (r"\log(p)", '<mi>log</mi><mo stretchy="false">'),
    (r"\tanh^2 x", "<msup><mi>tanh</mi><mn>2</mn></msup>"),
])  # fmt: skip
def test_a_formula_is_set_as_it_is_printed(tex: str, made: str) -> None:
    assert made in text.formula(tex, "block")


def test_a_stepper_whose_graph_is_longer_than_the_text_is_wide() -> None:
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(6):
        y = y * x
    for root, wide in ((x * x, False), (y, True)):
        assert ('class="stepper wide"' in site.stepping(dress(record(root, names={}))[0])) == wide


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
            assert exercise.options or all(
                words in asked["words"] for words in [exercise.right] if isinstance(words, str)
            )


@pytest.mark.slow
def test_teachers_read_what_students_answer_and_what_they_are_told(lesson: Path) -> None:
    page = (lesson / "answers" / "02_chain_rule.html").read_text(encoding="utf-8")
    assert '<a href="../misconceptions.html#m' in page and "For teachers." in page
    guide = (notebooks.course_root() / "docs" / "grading.md").read_text(encoding="utf-8")
    for each in lessons.all_lessons():
        made = answers.markdown(each)
        told = [part.text for section in each.sections for item in section.parts.get("Wrong", []) for part in item.below]
        assert all(words.split("\n")[0] in re.sub(r"\[(M\d\d)\]\(.*?\)", r"\1", made) for words in told)
        assert "### Right" not in made and f"({answers.source(each)})" in guide.replace("../", "")


EDGES = """() => [...document.querySelectorAll("article > :is(p, pre, form, blockquote, figure)")].filter((e) => e.offsetWidth)
    .map((e) => Math.round(e.getBoundingClientRect().right))"""


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.needs("chromium")
def test_text_code_and_figures_end_at_one_edge_and_drawings_are_dark_in_the_dark(page: Any, lesson: Path) -> None:
    from PIL import Image

    for width in (1400, 820):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto((lesson / "lessons" / "02_chain_rule.html").as_uri())
        assert len(set(page.evaluate(EDGES))) == 1
    page.emulate_media(color_scheme="dark")
    page.evaluate(OPENED)
    drawing = Image.open(io.BytesIO(page.locator("img.drawing").first.screenshot())).convert("L")
    assert np.median(np.asarray(drawing)) < 60


# The whole site, in a browser without any network -----------------------------------------------------------

STEPPERS = """() => {
    for (const each of document.querySelectorAll(".folded")) each.classList.add("open");
    return [...document.querySelectorAll(".mg")].map((box) => {
        const press = () => {
            const before = box.dataset.step, begun = performance.now();
            box.querySelector("[data-id=next]").focus();
            const key = { key: "ArrowRight", bubbles: true, cancelable: true };
            document.activeElement.dispatchEvent(new KeyboardEvent("keydown", key));
            box.getBoundingClientRect();
            return box.dataset.step === before ? Infinity : performance.now() - begun;
        };
        return Math.min(press(), press());
    });
}"""
OPENED = """() => {
    for (const each of document.querySelectorAll("article details")) each.open = true;
    for (const each of document.querySelectorAll(".folded")) each.classList.add("open");
}"""


SEARCHES = {  # what visitors type, and the page that is found first
    "backprop": "lessons/", "vanishing gradient": "glossary.html#vanishing-gradient", "overfitting": "12_digits",
    "brodcasting": "#broadcasting", "chain rule": "lessons/02_chain_rule", "Linear": "nn.Linear",
}  # fmt: skip


class Links(HTMLParser):
    """The addresses that a page holds, and the anchors that it has."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.addresses += [given[name] or "" for name in ("href", "src") if name in given]
        self.anchors.add(given.get("id") or "")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the whole site; sliders have few positions, so that it is there soon. MINIGRAD_SITE names one that is
    built already: what is published is what was checked."""
    if "MINIGRAD_SITE" in os.environ:
        return Path(os.environ["MINIGRAD_SITE"]).resolve()
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alive, "ALONE", 3)
        patch.setattr(alive, "EACH", 2)
        for _ in site.build(folder):
            pass
    return folder


def pages_of(whole: Path) -> list[Path]:
    """All pages that our templates make: not JupyterLite's own."""
    return [file for file in sorted(whole.rglob("*.html")) if whole / "lite" not in file.parents]


@pytest.mark.slow
def test_every_link_and_anchor_exists_and_pages_are_small(whole: Path) -> None:
    pages = {file: Links(file.read_text(encoding="utf-8")) for file in pages_of(whole)}
    assert len(pages) == 3 * len(lessons.all_lessons()) + len(site.LOOSE) + len(api.SPACES) + 4
    for file, links in pages.items():
        for address in links.addresses:
            if address.startswith(("https:", "data:")):
                continue
            path, _, anchor = address.partition("#")
            goal = (file.parent / path.partition("?")[0]).resolve() if path else file
            assert goal.is_file(), f"{file.name}: {address}"
            assert goal.suffix != ".html" or unquote(anchor) in pages[goal].anchors, f"{file.name}: {address}"
    assert max(file.stat().st_size for file in pages) < 350_000
    size = sum(file.stat().st_size for file in whole.rglob("*") if file.is_file() and whole / "lite" not in file.parents)
    assert size < (600_000 if "MINIGRAD_SITE" in os.environ else 470_000) * len(lessons.all_lessons())


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.needs("chromium")
def test_every_page_works_without_a_network(whole: Path, chromium: Any) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 800}, reduced_motion="reduce", offline=True)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(f"{page.url}: {error}"))
    page.on(
        "console", lambda said: wrong.append(f"{page.url}: {said.text}") if said.type in ("error", "warning") else None
    )
    page.on("request", lambda asked: asked.url.startswith(("file:", "data:", "blob:")) or wrong.append(asked.url))
    for file in pages_of(whole):
        page.goto(file.as_uri())
        wrong += [f"{file.name}: a stepper took {ms} ms" for ms in page.evaluate(STEPPERS) if not ms or ms > 150]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wrong.append(f"{file.name} is wider than 390 pixels")
    assert not wrong
    a_reader_predicts_moves_and_searches(page, whole)
    assert not wrong
    context.close()


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.needs("chromium")
@pytest.mark.parametrize("part", range(4))
def test_axe_finds_nothing_on_any_page(whole: Path, page: Any, axe: Any, part: int) -> None:
    """The lessons' steppers have such a test of their own, and code has the same colours on every page."""
    apart = [".mg", "article:not([data-lesson='02_chain_rule']) pre"]
    page.set_viewport_size({"width": 390, "height": 800})
    for file in pages_of(whole)[part::4]:
        page.goto(file.as_uri())
        page.evaluate(OPENED)
        for scheme, rules in (("light", RULES), ("dark", ["color-contrast"])):  # a theme changes colours alone
            page.emulate_media(color_scheme=scheme)
            assert axe(page, "html", rules, apart) == [], f"{file.name}, {scheme}"


def a_reader_predicts_moves_and_searches(page: Any, whole: Path) -> None:
    """By keyboard, in lesson 02: a slip of form, a wrong answer that stays locked, a slider, the theme, a search."""
    page.goto((whole / "lessons" / "02_chain_rule.html").as_uri())
    form, folded = page.locator("#predict-2\\.4a"), page.locator(".folded[data-for='2.4a']")
    page.locator(".folded:not(.open) + h2").first.wait_for()
    assert not folded.is_visible()
    form.locator("input").focus()
    page.keyboard.type("[4, 4]")
    page.keyboard.press("Enter")
    assert "Nothing is locked in." in form.inner_text() and not folded.is_visible()
    form.locator("input").fill("4")
    page.keyboard.press("Enter")
    assert "Not yet. Your answer is locked in: 4." in form.inner_text() and "M19" in form.inner_text()
    assert folded.is_visible()
    page.reload()
    assert "locked in: 4." in form.inner_text() and form.locator("input").is_disabled() and folded.is_visible()
    page.evaluate("document.querySelectorAll('.folded').forEach((e) => e.classList.add('open'))")
    knob, image = page.locator(".slider input").first, page.locator(".slider img").first
    before = image.get_attribute("src")
    knob.focus()
    page.keyboard.press("ArrowLeft")
    assert image.get_attribute("src") != before and "At x =" in page.locator(".slider .words").first.inner_text()
    page.emulate_media(color_scheme="light")
    for theme in ("light", "dark"):
        page.locator("#theme").click()
        assert page.locator(".mg").first.get_attribute("data-theme") == theme
    for typed, first in SEARCHES.items():
        page.keyboard.press("/")
        page.locator("#search-words").fill(typed)
        page.locator("#search-found a").first.wait_for()
        assert first in str(page.locator("#search-found a").first.get_attribute("href")), typed
        page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.locator("#search-words").fill("broadcast")
    page.locator("#search-found a", has_text="broadcasting").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url("**/06_broadcasting.html*")


# JupyterLite ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_jupyterlite_site_holds_the_notebooks_and_the_wheels(tmp_path: Path) -> None:
    pytest.importorskip("jupyterlite_core")
    from minigrad.course.site import lite

    assert lite.build(tmp_path).is_file()
    nb = notebooks.read(tmp_path / "files" / "exercises" / "05_vectors_exercises.ipynb")
    assert nb["metadata"]["kernelspec"]["name"] == "python" and "minigrad-course" in nb["cells"][0]["source"]
    assert (tmp_path / "files" / "Welcome.md").is_file()
    wheels = {file.name.split("-")[0] for file in (tmp_path / "pypi").glob("*.whl")}
    assert wheels == {"minigrad_course", *(name.replace("-", "_") for name in lite.IMPORTED)}


@pytest.mark.slow  # JupyterLite comes with the extra `slow`
def test_a_wheel_of_numpy_beside_the_core_of_pyodide_is_enough(tmp_path: Path) -> None:
    pytest.importorskip("jupyterlite_core")
    from minigrad.course.site import lite

    files = {"numpy": "numpy-1-cp3-w.whl", "sqlite3": "sqlite3-1-cp3-w.whl", "matplotlib": "matplotlib-1-cp3-w.whl"}
    lock = {name: {"name": name, "file_name": file, "sha256": "", "depends": []} for name, file in files.items()}
    lock["ipython"] = {"name": "ipython", "file_name": "i-1-py3-none-any.whl", "sha256": "", "depends": ["sqlite3"]}
    core = tmp_path / "core"
    core.mkdir()
    with pytest.raises(ValueError, match=r"holds no Pyodide: it needs pyodide\.mjs"):
        lite.complete(core, tmp_path / "empty", tmp_path)
    (core / "pyodide.mjs").touch()
    (core / "i-1-py3-none-any.whl").touch()
    (core / "pyodide-lock.json").write_text(json.dumps({"info": {"python": "3.14.2"}, "packages": lock}))
    with pytest.raises(ValueError, match=r"no wheel of numpy: put numpy-1-cp3-w\.whl there, or another one"):
        lite.complete(core, tmp_path / "without", tmp_path)
    (core / "numpy-2.2.5-cp313-cp313-wasm32.whl").write_bytes(b"a wheel")
    figures = lite.complete(core, tmp_path / "with", tmp_path)
    packages = json.loads((tmp_path / "with" / "pyodide-lock.json").read_text())["packages"]
    assert not figures and sorted(packages) == ["ipython", "numpy"] and packages["ipython"]["depends"] == []
    assert packages["numpy"]["file_name"] == "numpy-2.2.5-cp313-cp313-wasm32.whl"
    assert packages["numpy"]["sha256"] == hashlib.sha256(b"a wheel").hexdigest()


def endless(x: Any, v: Any) -> Any:
    while True:
        x = x + v


@pytest.fixture
def as_in_a_browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A platform that can neither fork, nor start a thread, nor lock a file, with a fresh folder for the progress."""

    def refuses(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr("fcntl.flock")
    monkeypatch.setattr(child, "can_fork", lambda: False)
    monkeypatch.setattr(child, "WAIT", 0.3)
    monkeypatch.setattr(threading.Thread, "start", refuses)
    monkeypatch.setattr(progress_store, "memory", {})
    monkeypatch.setattr(worker, "predictions", {})
    for name in ("MINIGRAD_CHECK", "MINIGRAD_DISPLAY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("as_in_a_browser")
def test_checks_hints_and_predictions_need_neither_fork_nor_threads(capsys: pytest.CaptureFixture[str]) -> None:
    answers = {"passed": lambda v, x: 2 * x * v, "not yet": lambda v, x: 2 * x, "over and over": endless}
    for words, vjp_square in answers.items():
        check("5.1")
        assert words in capsys.readouterr().out, words
        assert sys.gettrace() is None and callable(vjp_square)
    hint("5.1")
    predict("5.0a", [4, 6])
    assert "hint 1" in (out := capsys.readouterr().out) and "Locked in: [4, 6]" in out


def test_exercises_and_figures_as_in_a_browser_with_numpy_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    labels = np.array([0, 2], np.int32)  # numpy's integers have 32 bits there
    assert run("y", labels=labels).data["labels"].dtype == call(labels).args[0].dtype == np.int64
    monkeypatch.delattr(viz, "plots")  # asking for it loads it, so this comes first
    monkeypatch.delitem(sys.modules, "minigrad.viz.plots")
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    with pytest.raises(ModuleNotFoundError):
        _ = viz.plots
    monkeypatch.setattr(sys, "platform", "emscripten")
    viz.plots.slope(None, at=1.0)
    assert "plots.slope draws nothing here" in capsys.readouterr().out


# The playground --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def playground(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the playground with its scripts, without the lessons."""
    folder = tmp_path_factory.mktemp("playground")
    known = lessons.all_lessons()
    maker = site.Maker(notebooks.course_root(), "", site.places(notebooks.course_root(), known))
    for name in ("site.css", "site.js"):
        maker.files[f"assets/{name}"] = (site.HERE / "static" / name).read_bytes()
    maker.files |= {"assets/stepper.js": site.stepper_script(), "assets/playground.js": site.playground_script()}
    for page in (site.playground_page(), site.front_page(known)):
        maker.files[page.path] = site.rendered(page, known, maker)
    for path, content in maker.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def is_seen_at_once(page: Any) -> None:
    """The sentence, the whole graph and the controls are on the first screen; on a phone the equation and the formula, too."""
    parts = (".mg-words", ".mg-graph", *(["#formula", ".mg-math"] if page.viewport_size["width"] < 620 else []))
    seen, controls = [page.locator(part).bounding_box() for part in parts], page.locator(".mg-tools").bounding_box()
    assert not page.evaluate("scrollY") and controls["y"] + controls["height"] <= page.viewport_size["height"] + 1
    assert max(part["y"] + part["height"] for part in seen) <= controls["y"] + 1


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.needs("chromium")
@pytest.mark.parametrize("name", ["index", "playground"])
def test_a_visitor_changes_the_formula_and_sends_a_link(page: Any, playground: Path, name: str) -> None:
    address = (playground / f"{name}.html").as_uri()
    for width, height in ((390, 844), (1400, 900)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(address)
        is_seen_at_once(page)
    field, position, trouble = page.locator("#formula"), page.locator(".mg-pos"), page.locator(".trouble")
    assert position.inner_text() == "start, step 0 of 15"
    page.locator(".mg-title").click()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    assert "The gradient of x was empty; now it is" in page.locator(".mg-words").inner_text(), "four presses, by node"
    is_seen_at_once(page)
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowLeft")
    one = position.inner_text()
    page.locator("[data-id=by]").click()
    page.keyboard.press("ArrowRight")
    assert position.inner_text() != one and "step 10 of 15" in one and "step 11 of 15" in position.inner_text()
    field.fill("x = 2\ny = x * z")
    trouble.locator("pre").wait_for()
    assert (
        "z has no value yet" in trouble.inner_text() and trouble.locator("pre").inner_text() == "y = x * z\n        ^"
    )
    assert page.locator(".mg-title").inner_text() == "Forward and backward pass of y", "the last good picture stays"
    trouble.get_by_role("button").click()
    assert field.input_value() == "x = 2\nz = 1\ny = x * z" and not trouble.inner_text()
    page.locator(".mg-strip input[type=range]").first.focus()
    page.keyboard.press("ArrowRight")
    assert field.input_value().startswith("x = 2.1\n")
    said = "What if: the gradient predicts that y changes by 1 · 0.1 = 0.1; it changed by 2.1 − 2 = 0.1."
    assert page.locator(".mg-whatif").inner_text() == said
    page.locator("[data-id=next]").click()
    page.locator(".copy").click()
    link = page.url
    other = page.context.new_page()
    other.set_viewport_size({"width": 390, "height": 844})
    other.goto(link)
    presets = [button.bounding_box() for button in other.locator("[data-text]").all()]
    assert len(presets) == 6 and all(0 <= p["x"] <= 390 - p["width"] and p["height"] >= 44 for p in presets), "on a phone"
    assert other.locator("#formula").input_value() == "x = 2.1\nz = 1\ny = x * z"
    assert "step 1 of" in other.locator(".mg-pos").inner_text()
    other.locator("[data-id=next]").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        other.keyboard.press(key)
    assert other.locator("[data-id=predict]").is_visible(), "one press on More away, by keyboard too"
    for broken in ("#formula=%E0%A4%A", "#formula=x&step=1e99", "#formula=x%3D1%0Ax*x&step=-7", "#step=oops"):
        other.goto("about:blank")
        other.goto(address + broken)
        assert other.locator("#formula").is_visible()
    assert page.errors == [] and page.refused == []


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.needs("chromium")
def test_on_a_touch_screen_the_front_page_names_no_key(chromium: Any, playground: Path) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    context = chromium.new_context(**phone, reduced_motion="reduce")  # it does not play, and the first sentence stays
    page = context.new_page()
    page.goto((playground / "index.html").as_uri())
    is_seen_at_once(page)
    words = page.locator(".mg-words").inner_text()
    assert "Tap the button to the right of Play to compute" in words and "→" not in page.locator("main").inner_text()
    context.close()


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.needs("chromium")
def test_the_picture_plays_once_by_itself(page: Any, playground: Path) -> None:
    address, position = (playground / "index.html").as_uri(), page.locator(".mg-pos")
    page.goto(address)
    page.locator(".mg").scroll_into_view_if_needed()
    page.wait_for_timeout(2500)
    assert "step 0 of" in position.inner_text(), "not where motion is not wanted"
    page.emulate_media(reduced_motion="no-preference")
    page.goto("about:blank")
    page.goto(address)
    page.locator(".mg").scroll_into_view_if_needed()
    seen = {int(re.search(r"step (\d+)", position.inner_text())[1]) for _ in range(300) if page.wait_for_timeout(100) is None}
    assert max(seen) == 15 and len(seen) < 12 and "step 0 of" in position.inner_text(), "by node, to the end and back"
    page.goto("about:blank")
    page.goto(address)
    page.locator(".mg").scroll_into_view_if_needed()
    page.locator(".mg-pos", has_text="step 2 of").wait_for()
    page.keyboard.press("Tab")
    page.locator("[data-id=next]").click()
    stopped = position.inner_text()
    page.wait_for_timeout(4000)
    assert "step 6 of" in stopped and position.inner_text() == stopped, "a press stops it"
    assert page.errors == [] and page.refused == []


@pytest.mark.slow
def test_the_scripts_of_a_page_are_small() -> None:
    assert len(site.stepper_script()) <= 99_000
    assert len(site.playground_script()) <= 15_300
