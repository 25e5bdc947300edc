"""The stepper in a real browser, on pages that `save_html` wrote: moves, keys, questions, themes, reach."""

import itertools
import json
import random
from functools import cache
from pathlib import Path

import pytest

import minigrad as torch
from minigrad.viz import stepper
from minigrad.viz.stepper import Stepper, data_of, saved_html
from minigrad.viz.stepper import page as page_of

from . import cases, graphs

pytestmark = [pytest.mark.browser, pytest.mark.needs("chromium")]
ALL = {case.__name__: case for case in cases.CASES}
STATE = """() => { const m = document.querySelector(".mg"); return [m.querySelector(".mg-main").innerHTML,
    m.querySelector(".mg-words").textContent, m.querySelector(".mg-pos").textContent,
    m.dataset.step, m.dataset.beat].join("|"); }"""
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

    def opened(name: str, predict: bool = False, **media: str):
        file = tmp_path / f"{name}.html"
        file.write_text(page_of({**data(name), "predict": predict}), encoding="utf-8")
        if media:
            page.emulate_media(**media)
        page.goto(file.as_uri())
        page.wait_for_selector(".mg svg")
        return page

    yield opened
    assert page.errors == [] and page.refused == []


def at(page) -> tuple[int, int]:
    box = page.locator(".mg")
    return int(box.get_attribute("data-step")), int(box.get_attribute("data-beat"))


def frames(name: str) -> list[tuple[int, int]]:
    return [(k, beat) for k, step in enumerate(data(name)["steps"]) for beat in range(len(step["text"]))]


def press(page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


@pytest.mark.parametrize(
    "name", ["fan_out", *(pytest.param(n, marks=pytest.mark.slow) for n in ("broadcast", "layers", "cut"))]
)
@pytest.mark.slow
def test_jumping_gives_the_picture_that_stepping_gives(show, name: str) -> None:
    page = show(name)
    page.locator("[data-id=next]").focus()
    count = min(len(frames(name)), 60)
    there = [page.evaluate(STATE)]
    for _ in range(count - 1):
        page.evaluate("() => { const r = document.querySelector('.mg input[type=range]'); r.value = +r.value + 1; "
                      "r.dispatchEvent(new Event('input')); }")  # fmt: skip
        there.append(page.evaluate(STATE))
    assert len(set(there)) == count, "every beat shows something new"
    for n in random.Random(0).sample(range(count), min(count, 25)):
        page.evaluate(GO, n)
        assert page.evaluate(STATE) == there[n], f"frame {n}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_of_a_random_graph_forward_back_and_jumping_agree(page, tmp_path, seed: int) -> None:
    loss, leaves = graphs.graph(seed)
    made, _ = data_of(loss, None, leaves, None)
    file = tmp_path / "random.html"
    file.write_text(page_of(made), encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_selector(".mg svg")
    count = sum(len(step["text"]) for step in made["steps"])
    walk = f"""([key, n]) => {{ const b = document.querySelector(".mg [data-id=next]"), seen = []; b.focus();
        for (let i = 0; i < n; i++) {{ seen.push(({STATE})());
            b.dispatchEvent(new KeyboardEvent("keydown", {{ key, bubbles: true }})); }}
        return seen; }}"""
    forward = page.evaluate(walk, ["ArrowRight", count])
    assert len(set(forward)) == count, "every beat shows something new"
    assert page.evaluate(walk, ["ArrowLeft", count]) == forward[::-1]
    for n in random.Random(seed).sample(range(count), 20):
        page.evaluate(GO, n)
        assert page.evaluate(STATE) == forward[n], f"frame {n}"
    assert page.errors == [] and page.refused == []


def test_keys_walk_beats_and_nodes(show) -> None:
    page = show("fan_out")
    every = frames("fan_out")
    page.locator("[data-id=next]").focus()
    for expected in every[1:6]:
        press(page, "ArrowRight")
        assert at(page) == expected
    press(page, "ArrowLeft")
    assert at(page) == every[4]
    press(page, "End")
    assert at(page) == every[-1]
    press(page, "Home")
    assert at(page) == (0, 0)
    press(page, "Shift+ArrowRight", "Shift+ArrowRight")
    steps = data("fan_out")["steps"]
    assert steps[at(page)[0]]["node"] not in (steps[0]["node"], None)
    press(page, "Shift+ArrowLeft", "n")
    k, beat = at(page)
    assert beat == len(steps[k]["text"]) - 1 and steps[k]["arrived"][1] > 1, "N goes to a fan-in"


@pytest.mark.slow
def test_play_runs_to_the_end_and_space_stops_it(show) -> None:
    page = show("square", reduced_motion="reduce")
    page.locator(".mg-graph").focus()
    press(page, " ")
    assert page.locator("[data-id=play]").get_attribute("aria-label") == "Pause (Space)"
    live = page.locator(".mg-live").inner_text()
    page.wait_for_function("() => document.querySelector('.mg').dataset.beat === '2'", timeout=5000)
    assert page.locator(".mg-live").inner_text() == live, "silent while playing"
    press(page, " ")
    assert page.locator(".mg-live").inner_text() == page.locator(".mg-words").inner_text()
    assert page.locator("[data-id=play]").get_attribute("aria-label") == "Play (Space)"


def test_reduced_motion_has_no_transition(show) -> None:
    duration = "() => getComputedStyle(document.querySelector('.mg .box')).transitionDuration"
    assert show("square", reduced_motion="reduce").evaluate(duration) == "0s"
    assert show("square", reduced_motion="no-preference").evaluate(duration) != "0s"


def test_the_numbers_are_on_the_page(show) -> None:
    page = show("scalar")
    page.evaluate(GO, 7)
    local = page.locator(".mg-local").inner_text()
    assert "a gets g * b" in local and "0.5 * (-3) = -1.5" in local
    assert "\u2202c/\u2202a = b = -3, measured by nudging: -3" in local
    assert "cases.py:" in local and "c = a * b" in local
    page.evaluate(GO, 8)
    assert "first from c (now)\t-1.5" in page.locator(".mg-ledger").inner_text()
    page.evaluate(GO, len(frames("scalar")) - 1)
    assert page.locator(".mg-words").inner_text().endswith("The pass is done. b.grad: 1; a.grad: -1.5.")


@pytest.mark.slow
def test_no_number_is_cut_and_no_word_is_idle(show) -> None:
    page = show("chain")
    page.evaluate(GO, len(frames("chain")) - 1)
    assert page.locator(".mg .got .grad").text_content() == "0.001971"
    assert page.locator("[data-id=fan]").count() == 0, "nothing there has two gradients to collect"
    page = show("two_outputs")
    last = [i for i, (k, _) in enumerate(frames("two_outputs")) if k == 4][-1]
    page.evaluate(GO, last)
    assert page.locator(".mg-words").inner_text() == "The gradient of output 1 of Both was empty; now it is 6 (2 of 2 arrived)."
    assert page.locator(".mg .got").count() == 0, "two outputs have no one gradient"
    assert page.locator(".mg-ledger tr").all_inner_texts() == ["output 2 from p\t5", "output 1 from s (now)\t6"]
    page = show("own_faulty_engine")
    page.evaluate(GO, [i for i, (_, beat) in enumerate(frames("own_faulty_engine")) if beat == 2][4])
    assert "Use += where you have =." in page.locator(".mg-check").inner_text()
    assert page.locator(".mg-check figure").count() == 0, "there is no value of the student's to compare"
    page.evaluate(GO, [i for i, (_, beat) in enumerate(frames("own_faulty_engine")) if beat == 3][4])
    assert page.locator(".mg .got .grad").text_content() == "= \u2192 1"
    assert page.locator(".mg-ledger .sum").inner_text() == "\u2260 what is kept\t1"
    page.evaluate(GO, len(frames("own_faulty_engine")) - 1)
    assert "a.grad was 0" in page.locator(".mg-ledger").inner_text()


@pytest.mark.slow
def test_a_walk_that_speaks_too_early_counts_too_much_and_the_ledger_says_so(page, tmp_path) -> None:
    x = torch.tensor(3.0, requires_grad=True)
    with torch.broken("M20"):
        c = x * 2
        loss = c + c * x * c
        made, _ = data_of(torch.record(loss, names={"x": x, "c": c, "loss": loss}), None, {}, None)
    file = tmp_path / "early.html"
    file.write_text(page_of(made), encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_selector(".mg svg")
    page.locator("[data-id=last]").click()
    text = page.locator(".mg-ledger").inner_text()
    assert " of 2 arrived, some twice" in text and "= too much" in text, text
    assert page.errors == []


@pytest.mark.slow
def test_a_box_says_what_was_added_to(show) -> None:
    page = show("fan_out")
    words = []
    for n, (_, beat) in enumerate(frames("fan_out")):
        if beat == 3:
            page.evaluate(GO, n)
            words.append(page.locator(".mg .got .grad").text_content())
    assert words == ["grad 1", "grad 1", "grad 6", "grad 5", "+= \u2192 7", "+= \u2192 6", "grad 18", "grad 12",
                     "+= \u2192 25", "+= \u2192 19"]  # fmt: skip


@pytest.mark.slow
def test_a_cell_of_a_batch_is_named_by_all_its_indices_and_batches_stand_apart(show) -> None:
    page = show("batched")
    page.evaluate(GO, [i for i, (_, beat) in enumerate(frames("batched")) if beat == 2][1])
    assert page.locator(".mg-local .num").inner_text().startswith("cell [0, 0, 3]: ")
    tops = page.evaluate("""() => [...document.querySelectorAll(".mg-local figure:last-child rect.cell")]
        .filter((c) => c.dataset.at.endsWith(",0")).map((c) => +c.getAttribute("y"))""")
    assert [b - a for a, b in itertools.pairwise(tops)] == [22, 22, 26, 22, 22]


def test_a_cell_shows_its_dot_product_by_mouse_and_by_key(show) -> None:
    page = show("matmul")
    page.evaluate(GO, 7)
    line = page.locator(".mg-local .num")
    assert line.inner_text() == "cell [0, 1]: 1\u00b7(-2) + 3\u00b73 + (-0.5)\u00b70.5 + 1.5\u00b71.5 = 9"
    page.locator(".mg-local figure").nth(2).locator("rect.cell").first.hover()
    assert line.inner_text().endswith("= 6.75")
    page.locator(".mg-graph").focus()
    press(page, "c")
    assert page.locator(".mg-local .num").inner_text().startswith("cell [1, 0]") and page.locator(
        ".mg-live"
    ).inner_text().endswith("= -6.25")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["matmul", "batched", "mlp", "layers", "broadcast"])
def test_the_arithmetic_of_every_cell_is_right(show, name: str) -> None:
    page = show(name)
    checked = 0
    every = frames(name)
    for n in [i for i, (_, beat) in enumerate(every) if beat == 2][:12]:
        page.evaluate(GO, n)
        lines = page.evaluate("""() => { const line = document.querySelector(".mg-local .num");
            return [...document.querySelectorAll(".mg-local .mg-figure figure:last-child rect.cell")].map((cell) => {
                cell.dispatchEvent(new MouseEvent("mousemove", { bubbles: true }));
                return line.textContent; }); }""")
        for line in lines:
            sum_, _, value = line.partition(": ")[2].rpartition(" = ")
            if sum_ and "\u2026" not in sum_ and "(" not in sum_.replace("(-", ""):
                made = eval(sum_.replace("\u00b7", "*"))
                assert made == pytest.approx(float(value), rel=5e-3, abs=5e-3), line
                checked += 1
    assert checked > 5


@pytest.mark.slow
def test_the_queue_explains_who_may_speak(show) -> None:
    page = show("fan_out")
    seen = set()
    for n in range(len(frames("fan_out"))):
        page.evaluate(GO, n)
        seen.add(page.locator(".mg-queue").inner_text())
    assert any("WAITING: c (1 of 2)" in " ".join(text.split()) for text in seen)


@pytest.mark.slow
def test_a_wrong_rule_freezes_the_walk_but_not_the_slider(show) -> None:
    page = show("wrong_rule")
    page.locator("[data-id=next]").focus()
    for _ in range(len(frames("wrong_rule"))):
        press(page, "ArrowRight")
    k, beat = at(page)
    step = data("wrong_rule")["steps"][k]
    assert beat == 2 and step["check"]["verdict"].startswith("Yours is g * y")
    assert all(
        s.get("check", {}).get("verdict", "agrees") == "agrees" for s in data("wrong_rule")["steps"][:k]
    )
    check = page.locator(".mg-check")
    assert check.locator("figcaption").all_inner_texts() == ["yours (3,)", "reference (3,)", "numeric (3,)"]
    page.evaluate(GO, len(frames("wrong_rule")) - 1)
    assert at(page) == frames("wrong_rule")[-1]


# ---------------------------------------------------------------- questions
def asked(page) -> dict | None:
    if page.locator(".mg-ask").is_hidden():
        return None
    k, _beat = at(page)
    question = page.locator(".mg-ask b").first.inner_text()
    steps = data_now(page)["steps"]
    return next(s["quiz"] for s in steps[k:] if s.get("quiz", {}).get("ask") == question)


def data_now(page) -> dict:
    return json.loads(page.evaluate("() => document.getElementById('data').textContent"))


@pytest.mark.parametrize("right", [True, False])
@pytest.mark.parametrize(
    "name", ["fan_out", *(pytest.param(n, marks=pytest.mark.slow) for n in ("matmul", "broadcast"))]
)
@pytest.mark.slow
def test_predict_before_reveal(show, name: str, right: bool) -> None:
    page = show(name, predict=True)
    page.locator("[data-id=next]").focus()
    kinds = []
    for _ in range(400):
        if at(page) == frames(name)[-1]:
            break
        press(page, "ArrowRight")
        quiz = asked(page)
        if quiz is None:
            continue
        before = at(page)
        press(page, "ArrowRight")
        assert at(page) == before, "the reveal waits for an answer"
        queue, ledger = (page.locator(q).inner_text() for q in (".mg-queue", ".mg-ledger"))
        assert ("READY: ?" in " ".join(queue.split())) == (quiz["type"] == "next"), "the queue would tell"
        assert (" of ? arrived" in ledger) == (quiz["type"] == "count"), "the ledger would tell"
        kinds.append(quiz["type"])
        if "options" in quiz:
            choice = quiz["answer"] if right else (quiz["answer"] + 1) % len(quiz["options"])
            press(page, str(choice + 1))
            said = "Right." if right else "Not this. " + quiz["why"][choice]
            assert page.locator(".mg-ask [aria-pressed=true]").inner_text().endswith(quiz["options"][choice])
        else:
            value = quiz["answer"] if right else quiz["wrong"][0][0] if quiz["wrong"] else 99
            page.keyboard.type(str(value))
            press(page, "Enter")
            said = "Right." if right else "Not this. " + (quiz["wrong"][0][1] if quiz["wrong"] else "")
        assert page.locator(".mg-ask .says p").first.inner_text() == said.strip()
        assert quiz["reveal"] in page.locator(".mg-ask").inner_text()
        press(page, "Enter")
        assert asked(page) is None
    assert at(page) == frames(name)[-1] and len(kinds) >= 2


@pytest.mark.slow
def test_questions_never_block_the_slider_and_can_be_hinted_and_skipped(show) -> None:
    page = show("fan_out", predict=True)
    page.locator("[data-id=next]").focus()
    while asked(page) is None:
        press(page, "ArrowRight")
    quiz = asked(page)
    page.get_by_role("button", name="hint").click()
    assert page.locator(".mg-ask .says").inner_text() == quiz["hint"]
    page.get_by_role("button", name="skip").click()
    assert quiz["reveal"] in page.locator(".mg-ask").inner_text()
    page.evaluate(GO, 20)
    assert asked(page) is None and at(page) == frames("fan_out")[20]
    page.locator("[data-id=predict]").click()
    page.evaluate(GO, 0)
    page.locator("[data-id=next]").focus()
    for expected in frames("fan_out")[1:]:
        press(page, "ArrowRight")
        assert at(page) == expected


@pytest.mark.slow
def test_a_question_about_the_next_node_is_answered_by_a_click_in_the_graph(show) -> None:
    page = show("fan_out", predict=True)
    page.locator("[data-id=next]").focus()
    for _ in range(200):
        quiz = asked(page)
        if quiz and quiz["type"] == "next":
            break
        if quiz:
            page.get_by_role("button", name="skip").click()
            press(page, "Enter")
        press(page, "ArrowRight")
    page.locator(f"[data-node='{quiz['ids'][quiz['answer']]}'] .box").click()
    assert page.locator(".mg-ask .says p").first.inner_text() == "Right."


# ---------------------------------------------------------------- reach
@pytest.mark.slow
def test_three_tab_stops_and_arrows_between_controls(show) -> None:
    page = show("fan_out")
    page.evaluate("() => document.body.focus()")
    stops = []
    for _ in range(4):
        press(page, "Tab")
        stops.append(
            page.evaluate("() => document.activeElement.dataset.id || document.activeElement.className")
        )
    assert stops[:3] == ["next", "mg-graph", "mg-panel mg-ledger"] and stops[3] not in ("next", "mg-graph")
    page.locator("[data-id=next]").focus()
    press(page, "ArrowDown")
    assert page.evaluate("() => document.activeElement.dataset.id") == "last"
    press(page, "ArrowUp", "ArrowUp")
    assert page.evaluate("() => document.activeElement.dataset.id") == "play"


@pytest.mark.slow
def test_every_control_works_by_keyboard(show) -> None:
    page = show("cut")
    page.locator(".mg-graph").focus()
    press(page, "?")
    assert "leave to the notebook" in page.locator(".mg-more").inner_text()
    press(page, "t")
    rows = page.locator(".mg-more tbody tr")
    assert rows.count() == len(data("cut")["steps"])
    press(page, "t")
    assert page.locator(".mg-more").is_hidden()
    width = page.locator(".mg-graph svg").get_attribute("width")
    press(page, "+")
    assert float(page.locator(".mg-graph svg").get_attribute("width")) > float(width)
    press(page, "-", "f")
    page.locator("[data-id=cuts]").focus()
    press(page, "Enter")
    assert page.locator("[data-id=cuts]").get_attribute("aria-pressed") == "false"
    assert page.locator(".mg-graph .cut").first.is_hidden()
    page.locator("[data-id=by]").focus()
    press(page, " ")
    assert page.locator("[data-id=by]").get_attribute("aria-pressed") == "true"
    press(page, "Escape")
    assert page.evaluate("() => document.activeElement === document.body")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fan_out", "layers", "not_finite"])
def test_every_focusable_element_keeps_the_notebooks_commands_away(show, name: str) -> None:
    page = show(name, predict=True)
    page.locator("[data-id=next]").focus()
    while asked(page) is None:
        press(page, "ArrowRight")
    press(page, "?") if page.evaluate("() => document.activeElement.type") != "text" else page.locator(
        "[data-id=help]"
    ).click()
    bare = page.evaluate(f"""() => [...document.querySelectorAll(".mg :is({FOCUSABLE})")]
        .filter((e) => !e.hasAttribute("data-lm-suppress-shortcuts")).map((e) => e.outerHTML.slice(0, 90))""")
    assert bare == []


AXE = """async () => { const r = await axe.run(".mg",
    { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] });
    return r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html.slice(0, 100)).join(" ; ")); }"""


@pytest.fixture(scope="session")
def axe() -> str:
    package = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    found = list(Path(package.__file__).parent.rglob("axe.min.js"))
    if not found:
        pytest.skip("axe-core is not in axe-playwright-python")
    return found[0].read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ALL)
@pytest.mark.slow
def test_axe_finds_no_violation(show, axe: str, name: str, scheme: str) -> None:
    page = show(name, predict=True, color_scheme=scheme)
    page.evaluate(axe)
    page.locator("[data-id=next]").focus()
    while asked(page) is None and at(page) != frames(name)[-1]:
        press(page, "ArrowRight")
    page.locator("[data-id=words]").click()
    assert page.evaluate(AXE) == []
    page.locator("[data-id=help]").click()
    page.evaluate(GO, len(frames(name)) - 1)
    assert page.evaluate(AXE) == []


CONTRAST = """() => {
  const parse = (c) => c.match(/[\\d.]+/g).map(Number);
  const lum = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ratio = (a, b) => { const [x, y] = [lum(a), lum(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const seen = [];
  for (const text of document.querySelectorAll(".mg svg text")) {
    if (!text.textContent || !text.getClientRects().length) continue;
    const box = text.getBoundingClientRect();
    const x = box.left + box.width / 2, y = box.top + box.height / 2;
    const below = document.elementsFromPoint(x, y)
      .filter((e) => e !== text && e.tagName === "rect" && getComputedStyle(e).fill !== "none");
    const fill = below.length ? getComputedStyle(below[0]).fill
      : getComputedStyle(document.querySelector(".mg")).backgroundColor;
    seen.push([ratio(parse(getComputedStyle(text).fill), parse(fill)), text.textContent, fill]);
  }
  return seen;
}"""


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["fan_out", "matmul", "vector", "not_finite"])
def test_contrast_of_every_text_in_a_picture(show, name: str, scheme: str) -> None:
    page = show(name, color_scheme=scheme)
    page.set_viewport_size({"width": 1400, "height": 1400})
    checked = 0
    for n in range(0, len(frames(name)), 3):
        page.evaluate(GO, n)
        for ratio, text, fill in page.evaluate(CONTRAST):
            assert ratio >= 4.5, (n, text, fill, ratio)
            checked += 1
    assert checked > 20


CURRENT_IN_VIEW = """() => { const g = document.querySelector(".mg-graph").getBoundingClientRect();
    const b = document.querySelector(".mg .current .box").getBoundingClientRect();
    return b.left >= g.left - 1 && b.right <= g.right + 1; }"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [1400, 600])
@pytest.mark.parametrize("name", ALL)
def test_nothing_is_cut_off_or_overlaps(show, name: str, width: int) -> None:
    page = show(name)
    page.set_viewport_size({"width": width, "height": 1200})
    every = frames(name)
    for n in sorted({0, 1, 2, 3, 4, len(every) // 2, len(every) - 1} & set(range(len(every)))):
        page.evaluate(GO, n)
        wide = page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1], f"the page scrolls sideways at frame {n}"
        out = page.evaluate("""() => [...document.querySelectorAll(".mg [data-node]")].flatMap((g) => {
            const box = g.querySelector(".box:last-of-type, .box").getBoundingClientRect();
            return [...g.querySelectorAll("text")]
                .filter((t) => t.textContent && t.getBoundingClientRect().right > box.right + 8)
                .map((t) => t.textContent); })""")
        assert out == [], f"text leaves its box at frame {n}"
        crossed = page.evaluate("""() => [...document.querySelectorAll(".mg [data-node]")].filter((g) => {
            const [name, count] = [g.querySelector(".name"), g.querySelector("text:last-of-type")];
            return count.textContent && name.getBoundingClientRect().right > count.getBoundingClientRect().left;
            }).map((g) => g.textContent)""")
        assert crossed == []
        assert page.evaluate(CURRENT_IN_VIEW), f"the current node is out of view at frame {n}"


@pytest.mark.slow
def test_the_current_node_is_in_view_once_the_page_is_laid_out(show) -> None:
    """A notebook may show a cell long after it was drawn: until then there is nothing to scroll."""
    page = show("mlp")
    page.set_viewport_size({"width": 600, "height": 1000})
    page.evaluate("() => { document.body.style.display = 'none'; }")
    page.evaluate(GO, 0)
    page.evaluate("() => { document.body.style.display = ''; document.querySelector('.mg-graph').scrollLeft = 0; }")
    page.wait_for_function(CURRENT_IN_VIEW, timeout=15_000)


@pytest.mark.slow
def test_downloads_are_whole(show, tmp_path) -> None:
    page = show("fan_out")
    saved = {}
    for kind in ("svg", "html", "md"):
        with page.expect_download() as caught:
            page.locator(f"[data-id={kind}]").click()
        saved[kind] = tmp_path / f"got.{kind}"
        caught.value.save_as(saved[kind])
    assert "<svg" in saved["svg"].read_text(encoding="utf-8")
    assert saved["md"].read_text(encoding="utf-8").count("\n") == len(data("fan_out")["steps"]) + 2
    page.goto(saved["html"].as_uri())
    page.wait_for_selector(".mg svg")
    page.locator("[data-id=next]").click()
    assert at(page) == frames("fan_out")[1] and page.locator(".mg").count() == 1


NAMES = ["<script>alert(1)</script>", "</script><img src=x onerror=alert(2)>", "%DATA% %ESM% $& $1", "<!-- \u2028 \u00e4\u5909"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_text_and_nothing_else(page, tmp_path, name: str) -> None:
    said = []
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    loss = (x * x).sum()
    made, _ = data_of(loss, None, {name: x, f"loss {name}": loss}, None)
    file = tmp_path / "names.html"
    file.write_text(f"<!doctype html><meta charset=utf-8>{saved_html(made)}", encoding="utf-8")
    page.goto(file.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator(".mg svg").first.wait_for()
    frame.locator("[data-id=last]").click()
    frame.locator("[data-id=words]").click()
    assert frame.locator(".mg-title").inner_text() == f"Backward pass of loss {name}"
    assert f"{name} is a leaf" in frame.locator(".mg-words").inner_text()
    with page.expect_download() as caught:
        frame.locator("[data-id=html]").click()
    again = tmp_path / "again.html"
    caught.value.save_as(again)
    page.goto(again.as_uri())
    page.wait_for_selector(".mg svg")
    assert page.locator(".mg-title").inner_text() == f"Backward pass of loss {name}"
    assert said == [] and page.errors == [] and page.refused == []


@pytest.mark.slow
def test_the_saved_form_shows_the_frame_and_hides_the_fallback(page, tmp_path) -> None:
    file = tmp_path / "saved.html"
    file.write_text(
        f"<!doctype html><meta charset=utf-8><div>{saved_html(data('fan_out'))}</div>", encoding="utf-8"
    )
    page.goto(file.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator(".mg svg").first.wait_for()
    page.wait_for_function("() => document.querySelector('img').closest('.mg-still').hidden")
    assert page.locator("details").is_hidden()
    frame.locator("[data-id=next]").click()
    assert frame.locator(".mg").get_attribute("data-beat") == "0"
    page.wait_for_function("() => document.querySelector('iframe').clientHeight > 200")
    inner = frame.locator("body").evaluate("() => [document.documentElement.scrollHeight, innerHeight]")
    assert inner[0] <= inner[1] + 1, "no inner scroll bar"


def test_without_scripts_the_picture_and_the_table_remain(chromium, tmp_path) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    file = tmp_path / "untrusted.html"
    file.write_text(
        f"<!doctype html><meta charset=utf-8>{saved_html(data('fan_out')).split('<iframe')[0]}",
        encoding="utf-8",
    )
    page.goto(file.as_uri())
    assert page.locator("img").get_attribute("alt").startswith("Graph of loss")
    page.locator("summary").click()
    assert page.locator("tbody tr").count() == len(data("fan_out")["steps"])
    context.close()


@pytest.mark.slow
def test_forced_colours_keep_the_current_node_apart(show) -> None:
    page = show("fan_out", forced_colors="active")
    strokes = page.evaluate(
        "() => ['.current .box', '.idle .box'].map((q) => getComputedStyle(document.querySelector('.mg ' + q)).stroke)"
    )
    assert strokes[0] != strokes[1]


@pytest.mark.slow
def test_on_paper_it_is_light_whole_and_without_buttons(show) -> None:
    page = show("mlp", color_scheme="dark")
    page.locator("[data-id=words]").click()
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 700, "height": 900})
    assert page.locator(".mg").evaluate("(e) => getComputedStyle(e).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".mg-bar :is(button, input):visible").count() == 0
    cut = page.evaluate("""() => [".mg-graph", ".mg-more"].map((q) => document.querySelector(q))
        .filter((e) => e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1).length""")
    assert cut == 0, "nothing is hidden behind a scroll bar"


LATENCY = """async (key) => {
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


@pytest.mark.parametrize("name, budget", [("fan_out", 16), ("mlp", 16), ("layers", 16), ("chain", 50)])
@pytest.mark.slow
@pytest.mark.alone
def test_latency_of_a_key_press(show, name: str, budget: float) -> None:
    page = show(name)
    if name == "chain":
        page.locator("[data-id=fold]").click()
    boxes = page.locator(".mg [data-node]").count()
    assert boxes >= 200 if name == "chain" else boxes <= 60
    median = page.evaluate(LATENCY)
    print(f"{name}: {boxes} boxes, {median:.1f} ms")
    assert median <= budget


def test_sizes() -> None:
    assert len(stepper.source("stepper.js").encode()) <= 40_000
    assert max(map(len, stepper.source("stepper.js").splitlines())) <= 200, "readable"
    assert "http" not in stepper.source("stepper.js").replace("http://www.w3.org/2000/svg", "")
    assert "url(" not in stepper.source("stepper.css") and "@import" not in stepper.source("stepper.css")
    assert isinstance(Stepper(data("scalar")).svg(), str)
