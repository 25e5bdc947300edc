"""The stepper in a real browser, on pages of its own: moves, keys, what is shown, questions, themes, reach."""

import gzip
import itertools
import json
import random
import re
import subprocess
import sys
from functools import cache, partial

import pytest

import minigrad as torch
from minigrad import viz
from minigrad.viz import pages
from minigrad.viz.data import as_json
from tests.browser.fixtures import RULES

from . import cases, graphs, ten
from .dressed import data_of

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.needs("chromium")]
ALL = {case.__name__: case for case in [*cases.CASES, *ten.TEN]}
TEN = [case.__name__ for case in ten.TEN]
STATE = """() => { const m = document.querySelector(".mg"), of = (q) => m.querySelector(".mg-" + q).innerHTML;
    const parts = ["graph", "code", "words", "math", "ledger", "queue", "pos"].map(of);
    return [...parts, m.dataset.step].join("|").replaceAll(' class=""', ""); }"""
GO = """(n) => { const r = document.querySelector(".mg input[type=range]"); r.value = n;
    r.dispatchEvent(new Event("input", { bubbles: true })); }"""
FOCUSABLE = "button, input, select, textarea, a[href], summary, [tabindex]"


@cache
def data(name: str) -> dict:
    loss, given = ALL[name]()
    return data_of(loss, given.get("gradient"), given["names"], given.get("rules"))[0]


@pytest.fixture
def show(page, tmp_path):
    """Open the page of a case; returns the browser's page."""

    def opened(name: str, predict: bool = False, width: int = 1400, link: str = "", **media: str):
        file = tmp_path / f"{name}.html"
        file.write_text(pages.page_of({**data(name), "predict": predict}), encoding="utf-8")
        if media:
            page.emulate_media(**media)
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(file.as_uri() + link)
        page.wait_for_selector(".mg svg")
        return page

    yield opened
    assert page.errors == [] and page.refused == []


def opened_html(page, tmp_path, text: str):
    file = tmp_path / "given.html"
    file.write_text(text, encoding="utf-8")
    page.goto(file.as_uri())
    return page


def frames(name: str) -> list[tuple[int, str]]:
    """The time line: (move, beat) for each press of a key; the first frame only looks."""
    return [(-1, "look"), *((k, beat) for k, step in enumerate(data(name)["steps"]) for beat in step["beats"])]


def first(name: str, beat: str, **wanted: object) -> int:
    """The first frame of a beat in a move of which this is true."""
    steps = data(name)["steps"]
    return next(i for i, (k, b) in enumerate(frames(name)) if b == beat and k >= 0
                and all(steps[k].get(key) == value for key, value in wanted.items()))  # fmt: skip


def at(page) -> int:
    return int(page.locator(".mg").get_attribute("data-step"))


def press(page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def text(page, part: str) -> str:
    return " ".join(page.locator(f".mg-{part}").inner_text().split())


# ---------------------------------------------------------------- moving
@pytest.mark.parametrize("name", ["fan_out", "broadcast", "layers", "cut"])
def test_jumping_gives_the_picture_that_stepping_gives(show, name: str) -> None:
    page = show(name)
    count = min(len(frames(name)), 60)
    page.locator("[data-id=next]").focus()
    there = [page.evaluate(STATE)]
    for _ in range(count - 1):
        press(page, "ArrowRight")
        there.append(page.evaluate(STATE))
    assert len(set(there)) == count, "every press shows something new"
    for n in random.Random(0).sample(range(count), min(count, 20)):
        page.evaluate(GO, n)
        assert page.evaluate(STATE) == there[n], f"frame {n}"


@pytest.mark.parametrize("seed", range(4))
def test_of_a_random_graph_forward_back_and_jumping_agree(page, tmp_path, seed: int) -> None:
    loss, leaves = graphs.graph(seed)
    made, _ = data_of(loss, None, leaves, None)
    opened_html(page, tmp_path, pages.page_of(made)).wait_for_selector(".mg svg")
    count = 1 + sum(len(step["text"]) for step in made["steps"])
    walk = f"""([key, n]) => {{ const b = document.querySelector(".mg [data-id=next]"), seen = []; b.focus();
        for (let i = 0; i < n; i++) {{ seen.push(({STATE})());
            b.dispatchEvent(new KeyboardEvent("keydown", {{ key, bubbles: true }})); }}
        return seen; }}"""
    forward = page.evaluate(walk, ["ArrowRight", count])
    assert len(set(forward)) == count
    assert page.evaluate(walk, ["ArrowLeft", count]) == forward[::-1]
    assert page.errors == [] and page.refused == []


def test_keys_walk_steps_and_nodes(show) -> None:
    page = show("fan_out")
    page.locator("[data-id=next]").focus()
    press(page, "ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft")
    assert at(page) == 2
    press(page, "End")
    assert at(page) == len(frames("fan_out")) - 1
    press(page, "Home", "Shift+ArrowRight", "Shift+ArrowRight")
    steps = data("fan_out")["steps"]
    k, beat = frames("fan_out")[at(page)]
    assert beat == "collect" and steps[k]["node"] != data("fan_out")["root"], "the start and the root are one"
    assert frames("fan_out")[at(page) + 1][1] == "focus", "all that a node sends is one step"
    press(page, "n")
    k, beat = frames("fan_out")[at(page)]
    assert beat == "collect" and steps[k]["arrived"][1] > 1, "N goes to a fan-in"


def test_play_waits_and_space_stops_it(show) -> None:
    page = show("square", reduced_motion="reduce")
    page.locator("[data-id=next]").focus()
    press(page, "ArrowUp")
    page.locator(".mg-math").focus()
    press(page, " ")
    assert page.locator("[data-id=play]").get_attribute("aria-label") == "Pause (Space)"
    live = page.locator(".mg-live").inner_text()
    page.wait_for_function("() => document.querySelector('.mg').dataset.step === '1'", timeout=5000)
    assert page.locator(".mg-live").inner_text() == live, "silent while playing"
    press(page, " ")
    assert page.locator(".mg-live").inner_text() == page.locator(".mg-words").inner_text()


def test_a_link_opens_a_step_and_the_address_follows(show) -> None:
    page = show("fan_out", link="#step=12")
    assert at(page) == 12
    page.locator("[data-id=next]").focus()
    press(page, "ArrowRight")
    page.wait_for_function("() => location.hash === '#step=13'")
    page.evaluate("location.hash = '#step=4'")
    page.wait_for_function("() => document.querySelector('.mg').dataset.step === '4'")


def test_a_page_needs_no_jupyter_and_is_the_same_every_time() -> None:
    program = """import hashlib, sys
for name in ("anywidget", "ipywidgets", "IPython", "matplotlib"): sys.modules[name] = None
import minigrad as torch
from minigrad import viz
x = torch.tensor([1.0, -2.0], requires_grad=True)
y = (x * x).sum()
print(hashlib.sha256(viz.page(torch.record(y, names={"x": x, "y": y})).encode()).hexdigest())"""
    run = partial(subprocess.run, [sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert len({run(env={"PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")}) == 1


# ---------------------------------------------------------------- what is shown
def test_numbers_stand_on_the_graph(show) -> None:
    page = show("scalar")
    box = page.locator("[data-node='0']").first
    assert "value" in box.inner_html() and ">2<" in box.inner_html()
    page.evaluate(GO, first("scalar", "product", parent=0))
    labels = page.locator(".mg-graph .local").all_text_contents()
    assert "\u00d7 -3" in labels, "the local derivative stands on the edge"
    assert "-1.5" in page.locator(".mg-graph .sent").all_text_contents(), "and what travelled back"
    assert "a gets g * b = 0.5 * (-3) = -1.5" in text(page, "math").replace("\u00b7", "*")
    page.evaluate(GO, len(frames("scalar")) - 1)
    assert ">-1.5<" in page.locator("[data-node='0'] .grad").first.evaluate("(e) => e.outerHTML")
    words = text(page, "words").partition("The pass is done. ")[2]
    assert "b.grad: 1" in words and "a.grad: -1.5" in words


def test_one_element_shows_as_a_number(page, tmp_path) -> None:
    x = torch.tensor([3.0], requires_grad=True)
    y = (x * x).sum()
    opened_html(page, tmp_path, viz.page(torch.record(y, names={"x": x, "y": y}))).wait_for_selector(".mg svg")
    assert page.locator(".mg-graph .thumb").count() == 0 and ">3<" in page.locator("[data-node='0']").inner_html()


def test_each_heat_map_has_its_own_colours(show) -> None:
    page = show("mlp")  # gradients a thousand times smaller than the weights
    page.evaluate(GO, first("mlp", "product", how="matmul"))
    blank = page.evaluate("""() => { const pale = (c) => (c.getAttribute("fill").match(/\\d+/g) || []).every((v) => v > 235);
        const maps = [...document.querySelectorAll(".mg-math svg.mg-heat:not(.hollow), .mg-graph .thumb")];
        return maps.filter((map) => [...map.querySelectorAll("rect[fill]")].every(pale)).length; }""")
    assert blank == 0


def test_a_table_of_eight_by_eight_has_its_numbers(page, tmp_path) -> None:
    x = torch.arange(64.0).reshape(8, 8).requires_grad_()
    y = x.sin()
    recorded = torch.record(y, torch.ones(8, 8), names={"x": x, "y": y})
    opened_html(page, tmp_path, viz.page(recorded)).wait_for_selector(".mg svg")
    page.locator(".mg-title").click()
    press(page, "End")
    assert page.locator(".mg-heat").last.locator("text").count() == 64
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


def test_a_hovered_cell_lights_its_row_and_column_and_writes_its_sum(show) -> None:
    page = show("matmul")
    page.evaluate(GO, first("matmul", "product", parent=1))
    line = page.locator(".mg-line")
    assert line.inner_text() == "cell [0, 1]: 1\u00b7(-2) + 3\u00b73 + (-0.5)\u00b70.5 + 1.5\u00b71.5 = 9"
    page.locator(".mg-math figure").nth(2).locator("rect.cell").first.hover()
    assert line.inner_text().endswith("= 6.75")
    row, column = (page.locator(".mg-math figure").nth(i).locator(".lit").bounding_box() for i in (0, 1))
    assert row["width"] > 2 * row["height"] and column["height"] > column["width"], "a row of the first, a column of the second"
    page.locator(".mg-math").focus()
    press(page, "c")
    assert line.inner_text().startswith("cell [0, 1]") and page.locator(".mg-live").inner_text() == line.inner_text()


def test_plain_data_has_no_scissors_and_a_cut_has(show) -> None:
    page = show("line_mse")
    assert page.locator(".mg .plain .tag").all_text_contents() == ["data", "data"]
    assert page.locator(".mg .scissors").count() == 0
    page = show("cut")
    assert page.locator(".mg .scissors").count() == 1
    assert "detach" in page.locator(".mg .plain .tag").all_text_contents()


def test_the_expression_is_lit_and_a_click_chooses_its_box(show) -> None:
    page = show("fan_out")
    page.evaluate(GO, first("fan_out", "seed"))
    assert page.locator(".mg-code .lit").all_inner_texts() == ["c + d + c * d"]
    before = at(page)
    page.locator(".mg-code [data-span]", has_text="a * b").last.click()
    card = page.locator(".mg-card")
    assert card.is_visible() and "d = a * b" in card.inner_text() and at(page) == before, "the time does not move"
    assert page.locator(".mg .chosen .name").text_content() == "d"
    press(page, "Escape")
    assert card.is_hidden()
    page.locator("[data-node] .name", has_text="c").first.click()
    assert page.locator(".mg-code .chosen").inner_text() == "a + b"


def test_the_ledger_says_who_sent_what(show) -> None:
    page = show("second_pass")
    page.evaluate(GO, len(frames("second_pass")) - 1)
    assert "x.grad before, never cleared" in text(page, "ledger")
    page = show("two_outputs")
    page.evaluate(GO, max(i for i, (k, _) in enumerate(frames("two_outputs")) if k == 4))
    assert page.locator(".mg-ledger tr").all_inner_texts() == ["output 2 from p\t5", "output 1 from s\t6"]
    page = show("own_faulty_engine")
    page.evaluate(GO, first("own_faulty_engine", "collect", lost=True))
    assert "\u2260 what is stored" in text(page, "ledger")


def test_a_ledger_of_long_names_stays_readable(page, tmp_path) -> None:
    weight = torch.rand(3, 3, requires_grad=True)
    hidden = torch.ones(2, 3)
    for _ in range(3):
        hidden = torch.tanh(hidden @ weight)
    names = {"recurrent_network.hidden_to_hidden.weight_of_the_first_layer": weight}
    page.set_viewport_size({"width": 900, "height": 900})
    opened_html(page, tmp_path, viz.page(torch.record((hidden * hidden).sum(), names=names))).wait_for_selector(".mg svg")
    page.locator("[data-id=last]").click()
    assert page.locator(".mg").evaluate("(e) => e.offsetHeight") < 1300
    assert page.evaluate("() => Math.min(...[...document.querySelectorAll('.mg-ledger th')].map((e) => e.clientWidth))") > 80


def test_a_wrong_rule_stops_the_walk_but_not_the_slider(show) -> None:
    page = show("wrong_rule")
    page.locator("[data-id=next]").focus()
    for _ in range(len(frames("wrong_rule"))):
        press(page, "ArrowRight")
    k, beat = frames("wrong_rule")[at(page)]
    assert text(page, "words").startswith("The walk stops at the first wrong contribution"), "it does not seem dead"
    assert beat == "product" and data("wrong_rule")["steps"][k]["check"]["verdict"].startswith("Yours is g")
    assert page.locator(".mg-check figcaption b").all_inner_texts() == ["yours", "reference", "numeric"]
    page.evaluate(GO, len(frames("wrong_rule")) - 1)
    assert at(page) == len(frames("wrong_rule")) - 1
    said = "Yours differs here. Yours is g \u00b7 w. The rule here is g \u00b7 x. Expected [1, -8, 36], found [0.5, 4, 24]."
    press(page, "t")
    assert said in text(page, "more") and said in pages.table(data("wrong_rule")), "the transcript says what the picture says"


def test_a_line_is_as_thick_as_its_contribution_is_large_and_shows_its_sign(show) -> None:
    page = show("scalar")
    page.evaluate(GO, len(frames("scalar")) - 1)
    lines = page.evaluate("""() => [...document.querySelectorAll(".mg-graph svg > g:not([data-node])")].map((g, i) => [
        +document.querySelectorAll(".mg-graph .sent")[i].textContent,
        parseFloat(getComputedStyle(g.querySelector(".wire")).strokeWidth),
        g.classList.contains("minus"), getComputedStyle(g.querySelector(".wire")).strokeDasharray])""")
    sizes = sorted((abs(sent), wide) for sent, wide, _, _ in lines)
    assert len(sizes) > 2 and [w for _, w in sizes] == sorted(w for _, w in sizes) and sizes[0][1] < sizes[-1][1]
    assert {minus for sent, _, minus, _ in lines if sent < 0} == {True} and not any(m for s, _, m, _ in lines if s > 0)
    assert len({dash for *_, dash in lines}) == 2, "not by colour alone"


@pytest.mark.parametrize("predict", [False, True])
def test_each_sentence_stands_once_in_what_a_screen_reader_gets(show, predict: bool) -> None:
    page = show("fan_out", predict=predict)
    page.locator("[data-id=next]").focus()
    for _ in range(6):
        press(page, "ArrowRight")
        heard = page.locator(".mg").aria_snapshot()
        for sentence in [text(page, "words"), *(page.locator(".mg-ask p").all_inner_texts() if asked(page) else [])]:
            assert heard.count(sentence) == 1, sentence
        if asked(page):
            page.get_by_role("button", name="show the answer").click()


def test_what_is_heard_of_an_edge_is_its_sentence_and_no_loose_factor(show) -> None:
    page = show("fan_out")
    page.evaluate(GO, 8)
    heard = page.locator(".mg-graph").aria_snapshot()
    assert "local derivative × 1, contribution 1" in heard and "text: " not in heard


def test_the_legend_is_heard_with_its_signs_and_shown_once(show) -> None:
    page = show("fan_out")
    heard = page.locator(".mg-legend").aria_snapshot()
    for sign in ("current its gradient is complete", "ready its gradient", "waiting: 1 of 2 it was used twice"):
        assert sign in heard
    page.locator("[data-id=help]").click()
    for _ in range(2):
        assert page.locator(".mg-legend:visible").count() == 1, "once, at the start too"
        page.keyboard.press("ArrowRight")


def test_an_edge_that_is_looked_at_shows_its_contribution(show) -> None:
    page = show("scalar")
    page.evaluate(GO, 2)
    edges, before = page.locator(".mg-graph g[role=img]"), text(page, "words")
    sent = [step for step in data("scalar")["steps"] if step["kind"] == "send"]
    names = [node["name"] for node in data("scalar")["nodes"]]
    for i in range(edges.count()):
        edges.nth(i).focus()
        between = edges.nth(i).get_attribute("aria-label").split(",")[0]
        step = next(s for s in sent if f"{names[s['node']]} to {names[s['parent']]}" == between)
        assert text(page, "words") == f"{between.replace(' to ', ' → ')}: {step['text'][step['beats'].index('product')]}"
        assert step["rule"] in text(page, "math") and at(page) == 2
    page.evaluate("() => document.activeElement.blur()")
    assert text(page, "words") == before, "the step's own words are back"
    page.mouse.move(*edges.first.locator(".wire").evaluate("""(wire) => {
        const middle = wire.getPointAtLength(wire.getTotalLength() / 2).matrixTransform(wire.getScreenCTM());
        return [middle.x, middle.y]; }"""))
    assert " → " in text(page, "words")
    page.mouse.move(1, 1)
    assert text(page, "words") == before
    page.locator("[data-node]").last.focus()
    press(page, "ArrowDown")
    assert " → " in text(page, "words"), "after the boxes, the keyboard goes from edge to edge"
    page.locator("[data-id=predict]").click()
    edges.first.focus()
    assert text(page, "words") == before, "nothing is given away that will be asked for"


def test_a_step_by_nodes_takes_a_folded_module_whole(show) -> None:
    page = show("digit_net")

    def presses() -> int:
        press(page, "Home")
        for n in itertools.count():
            if at(page) == len(frames("digit_net")) - 1:
                return n
            press(page, "Shift+ArrowRight")

    page.locator("[data-node]").first.focus()
    single = presses()
    page.locator("[data-id=more]").click()
    page.locator("[data-id=fold]").click()
    page.locator(".mg-title").click()
    assert presses() < single


# ---------------------------------------------------------------- a reading place that stays, a graph that fits
HEIGHTS = """() => ["", "-graph", "-words", "-math", "-queue"]
    .map((q) => document.querySelector(".mg" + q).offsetHeight).join()"""
SMALL = """() => { const svg = document.querySelector(".mg-graph > svg");
    const zoom = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    const texts = [...svg.querySelectorAll("text")].filter((t) => t.textContent);
    return Math.min(...texts.map((t) => parseFloat(getComputedStyle(t).fontSize) * zoom)); }"""
OVER = """() => { const g = document.querySelector(".mg-graph");
    return [g.scrollWidth - g.clientWidth, g.scrollHeight - g.clientHeight]; }"""


@pytest.mark.parametrize("width", [950, 1400, 390])
@pytest.mark.parametrize("name", TEN)
def test_no_height_changes_from_key_to_key_and_the_graph_fits(show, name: str, width: int) -> None:
    page = show(name, width=width)
    assert page.evaluate(SMALL) >= 9.95
    wide, high = page.evaluate(OVER)
    assert width < 800 or (wide <= 0 and (high <= 0 or len(data(name)["nodes"]) > 20)), "the whole graph is seen at the start"
    heights = set()
    for n in range(0, len(frames(name)), 1 if len(frames(name)) < 60 else 5):
        page.evaluate(GO, n)
        heights.add(page.evaluate(HEIGHTS))
        sideways = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
        assert sideways <= 0, f"the page scrolls sideways at step {n}"
    assert len(heights) == 1, heights


def test_on_a_phone_the_sentence_stands_above_the_graph_and_targets_are_large(show) -> None:
    page = show("fan_out", width=390)
    wanted = [".mg-words", ".mg-math", ".mg-code", ".mg-graph"]
    top = {q: page.locator(q).bounding_box()["y"] for q in wanted}
    assert sorted(top, key=top.get) == wanted
    tools = page.locator(".mg-tools").bounding_box()
    assert abs(tools["y"] + tools["height"] - 900) < 2, "the controls stay at the bottom of the screen"
    page.locator("[data-id=more]").click()
    small = page.evaluate("""() => [...document.querySelectorAll(".mg :is(button, input)")]
        .map((e) => e.getBoundingClientRect()).filter((r) => r.width && (r.height < 43.5 || r.width < 43.5)).length""")
    assert small == 0


# ---------------------------------------------------------------- questions
def asked(page) -> dict | None:
    if page.locator(".mg-ask").is_hidden():
        return None
    question = page.locator(".mg-ask b").first.inner_text()
    steps = json.loads(page.evaluate("() => document.getElementById('data').textContent"))["steps"]
    k = frames_of(page)[at(page) + 1]
    return next(s["quiz"] for s in steps[max(0, k) :] if s.get("quiz", {}).get("ask") == question)


def frames_of(page) -> list[int]:
    steps = json.loads(page.evaluate("() => document.getElementById('data').textContent"))["steps"]
    return [-1, *(k for k, step in enumerate(steps) for _ in step["beats"])]


@pytest.mark.parametrize("right", [True, False])
@pytest.mark.parametrize("name", ["fan_out", "matmul", "broadcast"])
def test_predict_before_reveal(show, name: str, right: bool) -> None:
    page = show(name, predict=True)
    page.locator("[data-id=next]").focus()
    kinds = []
    for _ in range(300):
        if at(page) == len(frames(name)) - 1:
            break
        press(page, "ArrowRight")
        quiz = asked(page)
        if quiz is None:
            continue
        before = at(page)
        press(page, "ArrowRight")
        assert at(page) == before, "the reveal waits for an answer"
        kinds.append(quiz["type"])
        if quiz["type"] in ("sign", "value", "rule"):
            told = [sum(map(bool, page.locator(f".mg-graph .{part}").all_text_contents())) for part in ("local", "sent")]
            assert told[0] == told[1], "factors that are still to be found do not stand on the edges"
        if "options" in quiz:
            shown = page.locator(".mg-ask .answer").all_inner_texts()
            assert shown == quiz["options"], "an answer button shows the answer alone"
            choice = quiz["answer"] if right else (quiz["answer"] + 1) % len(quiz["options"])
            page.locator(".mg-ask .answer").nth(choice).click()
            said = "Right." if right else "Not this. " + quiz["why"][choice]
        else:
            value = quiz["answer"] if right else quiz["wrong"][0][0] if quiz["wrong"] else 99
            page.keyboard.type(str(value))
            press(page, "Enter")
            said = "Right." if right else quiz["wrong"][0][1] if quiz["wrong"] else "None of the usual mistakes"
        assert said.strip() in page.locator(".mg-ask .says p").first.inner_text()
        if not right:
            page.get_by_role("button", name="show the answer").click()
        press(page, "Enter")
        assert asked(page) is None
    assert at(page) == len(frames(name)) - 1 and len(kinds) >= 2
    quizzes = [step["quiz"] for step in data(name)["steps"] if "quiz" in step]
    assert not any(f"(M{n}" in json.dumps(quizzes) for n in range(4)), "no catalogue numbers"


def test_a_wrong_answer_can_be_tried_again_and_nothing_is_cut_off(show) -> None:
    page = show("fan_out", predict=True, width=950)
    page.locator("[data-id=next]").focus()
    while asked(page) is None or "options" not in asked(page):
        if asked(page):
            page.get_by_role("button", name="show the answer").click()
        press(page, "ArrowRight")
    quiz, before = asked(page), at(page)
    press(page, "ArrowRight")
    assert "when this question is answered" in page.locator(".mg-ask .says").inner_text(), "a key that must wait says so"
    page.locator(".mg-ask .answer").nth((quiz["answer"] + 1) % len(quiz["options"])).click()
    page.get_by_role("button", name="hint").click()
    assert page.locator(".mg-ask .says").inner_text() == quiz["hint"], "a hint is there after a wrong answer, too"
    page.locator(".mg-ask .answer").nth(quiz["answer"]).click()
    assert page.locator(".mg-ask .says p").first.inner_text() == "Right."
    panel = page.locator(".mg-ask")
    assert panel.evaluate("(e) => e.scrollHeight - e.clientHeight") <= 0
    go_on, edge = page.get_by_role("button", name="go on").bounding_box(), panel.bounding_box()
    assert go_on["y"] + go_on["height"] <= edge["y"] + edge["height"]
    press(page, "ArrowRight")
    assert asked(page) is None and at(page) == before + 1, "after an answer the key goes on"


def test_a_question_about_the_next_node_is_answered_by_a_click_in_the_graph(show) -> None:
    page = show("fan_out", predict=True)
    page.locator("[data-id=next]").focus()
    for _ in range(200):
        quiz = asked(page)
        if quiz and quiz["type"] == "next":
            break
        if quiz:
            page.get_by_role("button", name="show the answer").click()
            press(page, "Enter")
        press(page, "ArrowRight")
    page.locator(f"[data-node='{quiz['ids'][quiz['answer']]}'] .box").click()
    assert page.locator(".mg-ask .says p").first.inner_text() == "Right."


# ---------------------------------------------------------------- reach
def test_tab_stops_and_arrows_between_controls_and_boxes(show) -> None:
    page = show("fan_out")
    page.evaluate(GO, 2)
    page.evaluate("() => document.activeElement.blur()")
    stops = []
    for _ in range(4):
        press(page, "Tab")
        stops.append(page.evaluate("""() => { const e = document.activeElement;
            return e.dataset.id || e.dataset.node || e.className; }"""))
    assert stops == [str(data("fan_out")["root"]), "next", "mg-math", "mg-ledger"]
    page.locator("[data-id=next]").focus()
    press(page, "ArrowDown")
    assert page.evaluate("() => document.activeElement.dataset.id") == "last"
    page.locator("[data-node]").first.focus()
    press(page, "ArrowDown", "Enter")
    assert page.locator(".mg-card").is_visible()


def test_every_focusable_element_keeps_the_notebooks_commands_away(show) -> None:
    page = show("fan_out", predict=True)
    page.locator("[data-id=more]").click()
    page.locator("[data-id=help]").click()
    page.locator("[data-node]").first.click()
    page.locator("[data-id=next]").focus()
    for _ in range(len(frames("fan_out"))):
        press(page, *["ArrowRight"] * (asked(page) is None))
    assert asked(page), "a question takes the place of a card that is open"
    bare = page.evaluate(f"""() => [...document.querySelectorAll(".mg :is({FOCUSABLE})")]
        .filter((e) => !e.hasAttribute("data-lm-suppress-shortcuts")).map((e) => e.outerHTML.slice(0, 90))""")
    assert bare == []


@pytest.mark.parametrize("width", [1400, 950, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", TEN)
def test_axe_finds_nothing(show, axe, name: str, scheme: str, width: int) -> None:
    page = show(name, width=width, color_scheme=scheme)
    for n in (0, len(frames(name)) // 2, len(frames(name)) - 1):
        page.evaluate(GO, n)
        assert axe(page, ".mg", [*RULES, "best-practice"]) == []
    page.locator("[data-id=help]").click()
    page.locator("[data-node]").first.dispatch_event("click")
    assert axe(page, ".mg", [*RULES, "best-practice"]) == []
    page = show(name, predict=True, width=width, color_scheme=scheme)
    page.locator("[data-id=next]").focus()
    while asked(page) is None and at(page) != len(frames(name)) - 1:
        press(page, "ArrowRight")
    assert axe(page, ".mg", [*RULES, "best-practice"]) == []


CONTRAST = """() => {
  const parse = (c) => c.match(/[\\d.]+/g).map(Number);
  const lum = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (a, b) => { const [x, y] = [lum(a), lum(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const seen = [];
  for (const text of document.querySelectorAll(".mg svg text")) {
    if (!text.textContent || !text.getClientRects().length) continue;
    const box = text.getBoundingClientRect();
    const below = document.elementsFromPoint(box.left + box.width / 2, box.top + box.height / 2)
      .filter((e) => e !== text && e.matches("rect, path.box") && !/none|, 0\\)/.test(getComputedStyle(e).fill));
    const fill = below.length ? getComputedStyle(below[0]).fill
      : getComputedStyle(document.querySelector(".mg")).backgroundColor;
    seen.push([ratio(parse(getComputedStyle(text).fill), parse(fill)), text.textContent, fill]);
  }
  return seen;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["fan_out", "matmul", "line_mse", "not_finite"])
def test_contrast_of_every_text_in_a_picture(show, name: str, scheme: str) -> None:
    page = show(name, color_scheme=scheme)
    for n in range(0, len(frames(name)), 3):
        page.evaluate(GO, n)
        for ratio, text, fill in page.evaluate(CONTRAST):
            assert ratio >= 4.5, (n, text, fill, ratio)


def test_on_a_dark_page_nothing_is_white_though_the_system_is_light(page, tmp_path) -> None:
    page.emulate_media(color_scheme="light")
    host = f'<!doctype html><meta charset=utf-8><body style="background:#111"><div>{pages.saved_html(data("fan_out"))}</div>'
    opened_html(page, tmp_path, host)
    frame = page.frame_locator("iframe")
    frame.locator(".mg[data-theme=dark]").wait_for()
    for part in ("html", ".mg"):
        assert frame.locator(part).evaluate("(e) => getComputedStyle(e).backgroundColor") == "rgb(33, 33, 33)"
    assert frame.locator("body").evaluate("(e) => getComputedStyle(e).margin") == "0px"


def test_the_saved_form_shows_the_frame_and_hides_the_picture(page, tmp_path) -> None:
    opened_html(page, tmp_path, f"<!doctype html><meta charset=utf-8><div>{pages.saved_html(data('fan_out'))}</div>")
    frame = page.frame_locator("iframe")
    frame.locator(".mg svg").first.wait_for()
    page.wait_for_function("() => document.querySelector('img').closest('.mg-still').hidden")
    frame.locator("[data-id=next]").click()
    assert frame.locator(".mg").get_attribute("data-step") == "1"
    inner = frame.locator("body").evaluate("() => [document.documentElement.scrollHeight, innerHeight]")
    assert inner[0] <= inner[1] + 1, "no inner scroll bar"
    empty = "() => innerHeight - document.getElementById('stepper').getBoundingClientRect().bottom"
    for _ in range(2):  # opened, and closed again
        assert 0 <= frame.locator("body").evaluate(empty) < 8, "no empty space below the stepper"
        frame.locator("[data-id=help]").click()
        page.wait_for_timeout(200)


def test_without_scripts_the_picture_and_the_table_remain(chromium, tmp_path) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = opened_html(context.new_page(), tmp_path, f"<!doctype html><meta charset=utf-8>{pages.still_html(data('fan_out'))}")
    assert page.locator("img").get_attribute("alt").startswith("Graph of ")
    page.locator("summary").click()
    assert page.locator("tbody tr").count() == len(data("fan_out")["steps"])
    context.close()


def test_downloads_are_whole(show, tmp_path) -> None:
    page = show("fan_out")
    page.locator("[data-id=more]").click()
    with page.expect_download() as caught:
        page.locator("[data-id=html]").click()
    caught.value.save_as(tmp_path / "got.html")
    page.goto((tmp_path / "got.html").as_uri())
    page.wait_for_selector(".mg svg")
    page.locator("[data-id=next]").click()
    assert at(page) == 1 and page.locator(".mg").count() == 1


NAMES = ["<script>alert(1)</script>", "</script><img src=x onerror=alert(2)>", "%DATA% %ESM% $& $1", "<!-- \u2028 \u00e4\u5909"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_text_and_nothing_else(page, tmp_path, name: str) -> None:
    said = []
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    loss = (x * x).sum()
    made, _ = data_of(loss, None, {name: x, f"loss {name}": loss}, None)
    opened_html(page, tmp_path, f"<!doctype html><meta charset=utf-8>{pages.saved_html(made)}")
    frame = page.frame_locator("iframe")
    frame.locator(".mg svg").first.wait_for()
    frame.locator("[data-id=last]").click()
    frame.locator("[data-node]").first.click()
    assert frame.locator(".mg-title").inner_text() == f"Backward pass of loss {name}"
    assert f"{name} is a leaf" in frame.locator(".mg-words").inner_text()
    assert said == [] and page.errors == [] and page.refused == []


def test_forced_colours_keep_the_current_node_apart(show) -> None:
    page = show("fan_out", forced_colors="active")
    page.evaluate(GO, 2)
    strokes = page.evaluate(
        "() => ['.current .box', '.idle .box'].map((q) => getComputedStyle(document.querySelector('.mg ' + q)).stroke)"
    )
    assert strokes[0] != strokes[1]


def test_on_paper_it_is_light_whole_and_without_buttons(show) -> None:
    page = show("mlp", color_scheme="dark")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 700, "height": 900})
    assert page.locator(".mg").evaluate("(e) => getComputedStyle(e).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".mg-bar :is(button, input):visible").count() == 0


def test_the_product_travels_once_and_not_under_reduced_motion(show) -> None:
    page = show("fan_out", reduced_motion="no-preference")
    page.evaluate(GO, first("fan_out", "product") - 1)
    page.locator("[data-id=next]").focus()
    press(page, "ArrowRight")
    page.locator(".mg .token").wait_for(state="attached")
    page.wait_for_timeout(600)
    assert page.locator(".mg .token").count() == 0
    page.emulate_media(reduced_motion="reduce")
    press(page, "ArrowLeft", "ArrowRight")
    assert page.locator(".mg .token").count() == 0
    assert page.evaluate("() => getComputedStyle(document.querySelector('.mg .box')).transitionDuration") == "0s"


LATENCY = """async () => {
  const target = document.querySelector(".mg [data-id=next]"), times = [];
  target.focus();
  for (let i = 0; i < 60; i++) {
    const start = performance.now();
    target.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    document.querySelector(".mg").getBoundingClientRect();
    times.push(performance.now() - start);
    if (i % 10 === 9) await new Promise((done) => setTimeout(done, 0));
  }
  return times.sort((a, b) => a - b)[30];
}"""


@pytest.mark.parametrize("name, budget", [("fan_out", 16), ("mlp", 16), ("digit_net", 16), ("layers", 16), ("deep", 50)])
@pytest.mark.alone
def test_latency_of_a_key_press(show, name: str, budget: float) -> None:
    page = show("layers" if name == "deep" else name)
    if name == "deep":
        page.locator("[data-id=more]").click()
        page.locator("[data-id=fold]").click()
    boxes = page.locator(".mg [data-node]").count()
    median = page.evaluate(LATENCY)
    print(f"{name}: {boxes} boxes, {median:.1f} ms")
    assert median <= budget and (boxes > 100) == (name == "deep")


# ---------------------------------------------------------------- the modules alone
def test_the_state_is_a_pure_function_of_the_position(page) -> None:
    """The time line and its facts, without any element of a page."""
    source = pages.script().replace("export default { render };", "export { makeState, fmt, brief };")
    found = page.evaluate("""async ([source, data]) => {
        const js = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
        const S = js.makeState(data), end = S.stateAt(S.frames.length - 1);
        return { count: S.frames.length, grads: end.grad.map((g) => S.val(g)),
            status: data.nodes.map((_, i) => S.status(end, i)),
            again: JSON.stringify(S.stateAt(7)) === JSON.stringify(S.stateAt(7)),
            texts: [js.fmt(1e-5), js.fmt(-3), js.brief({ s: [1], d: [4], r: 1, c: 1 })] };
        }""", [source, json.loads(as_json(data("scalar")))])  # fmt: skip
    assert found["count"] == len(frames("scalar")) and found["again"] and found["texts"] == ["1e-5", "-3", "4"]
    by_name = dict(zip([n["name"] for n in data("scalar")["nodes"]], found["grads"], strict=True))
    assert by_name["a"] == -1.5 and by_name["b"] == 1
    assert "current" in found["status"] and set(found["status"]) <= {"done", "current", "plain"}


DELIVERED = {  # what stands in a file, and what a page brings of it
    "a - -b + +c - d++ + e;  // a comment": "a- -b+ +c-d++ +e;",
    'const x = " // a  text ", y = \'a " b\';': 'const x=" // a  text ",y=\'a " b\';',
    "say(`a  ${ok ? `b - ${c}` : \"} `\"}  // c`, d);": "say(`a  ${ok ? `b - ${c}` : \"} `\"}  // c`,d);",
    't.replace(/[/" ]  "/g, a / b / c);': 't.replace(/[/" ]  "/g,a/b/c);',
    "if (a) {\n\treturn b;\n}\n\n/** What\n * it is. */\n\tlet [k] = list;": "if(a){\nreturn b}\nlet[k]=list;",
    "return typeof x in y;": "return typeof x in y;",
}


@pytest.mark.parametrize("source", DELIVERED)
def test_a_page_brings_no_space_that_it_does_not_need(source: str) -> None:
    assert pages.bare(source) == DELIVERED[source]


def lines_of(name: str) -> list[str]:
    """The lines of a script that are neither empty nor a comment."""
    text = re.sub(r"/\*\*.*?\*/", "", (pages.HERE / "js" / f"{name}.js").read_text(encoding="utf-8"), flags=re.DOTALL)
    return [line for line in text.splitlines() if line.strip() and not line.strip().startswith("//")]


def test_sizes() -> None:
    delivered = (pages.script() + pages.style()).encode()
    assert len(delivered) <= 98_000 and len(gzip.compress(delivered)) <= 34_000, "as a page brings them"
    assert len(pages.joined("engine", "formula").encode()) <= 15_100, "what reads, computes and records a formula"
    assert sum(map(len, map(lines_of, ("engine", "formula")))) <= 300, "its lines of code"
    _rules, *lines = pages.script().splitlines()
    assert max(map(len, lines)) <= 200, "readable"
    assert "http" not in pages.script().replace("http://www.w3.org/2000/svg", "")
    assert "url(" not in pages.style() and "@import" not in pages.style()
    sources = [(pages.HERE / "js" / f"{name}.js").read_text(encoding="utf-8") for name in pages.MODULES]
    names = re.findall(r"^(?:export )?(?:async )?(?:function|const|let) (\w+)", "\n".join([pages.PAGE, *sources]), re.MULTILINE)
    assert len(set(names)) == len(names), "joined into one module, two files may not use one name"
