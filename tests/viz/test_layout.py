"""The layout keeps operands in order, lets nothing overlap, and is the same every time."""

import json
import random
import xml.etree.ElementTree as ElementTree
from functools import cache

import pytest

import minigrad as torch
from minigrad.record.numbers import norm, rounded
from minigrad.viz import folding, layout, svg
from minigrad.viz.data import as_json
from minigrad.viz.pages import saved_html
from tests.together import first

from . import cases, graphs, ten
from .dressed import data_of


def fresh(case):
    loss, given = case()
    return data_of(loss, given.get("gradient"), given["names"], given.get("rules"))[0]


data = cache(fresh)


def overlap(a: list[float], b: list[float]) -> bool:
    return a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]


def widest(made: dict, view: str = "full") -> dict:
    return made["layout"]["views"][view]["drawings"][-1]


ALL = {case.__name__: case for case in cases.CASES}


@pytest.mark.parametrize("name", ALL)
def test_no_two_boxes_overlap_and_all_are_inside(name: str) -> None:
    for drawing in (d for view in data(ALL[name])["layout"]["views"].values() for d in view["drawings"]):
        boxes = list(drawing["nodes"].values())
        assert not any(overlap(a, b) for i, a in enumerate(boxes) for b in boxes[:i])
        assert all(
            x >= 0 and y >= 0 and x + w <= drawing["w"] and y + h <= drawing["h"] for x, y, w, h in boxes
        )


@pytest.mark.parametrize("seed", first(10, of=40))
def test_random_graphs_neither_overlap_nor_run_backwards(seed: int) -> None:
    loss, leaves = graphs.graph(seed)
    made = data_of(loss, None, leaves, None)[0]
    for drawing in made["layout"]["views"]["full"]["drawings"]:
        boxes = list(drawing["nodes"].values())
        assert not any(overlap(a, b) for i, a in enumerate(boxes) for b in boxes[:i])
        assert len(drawing["edges"]) == len(made["edges"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "ROWS", (100_000,))
        in_one_row = widest({"layout": layout.lay_out(made)})
    assert all(line["a"][0] < line["b"][0] for line in in_one_row["edges"]), "inputs stand left"


def test_operands_stand_in_order_first_on_top() -> None:
    made = data(cases.matmul)
    boxes = {n["name"]: widest(made)["nodes"][n["id"]] for n in made["nodes"]}
    assert boxes["x"][1] < boxes["W"][1]
    lines = {
        (e[0], e[2]): line for e, line in zip(made["edges"], widest(made)["edges"], strict=True)
    }
    assert lines[0, 0]["b"][1] < lines[1, 1]["b"][1]


def test_a_square_has_two_lines() -> None:
    drawing = widest(data(cases.square))
    assert len({line["d"] for line in drawing["edges"]}) == 2


def test_the_longest_path_is_straight() -> None:
    made = data(cases.broadcast)
    boxes = {n["name"]: widest(made)["nodes"][n["id"]] for n in made["nodes"]}
    assert boxes["X * w"][1] == boxes["h"][1] == boxes["h * h"][1] == boxes["loss"][1]


def test_a_long_chain_wraps_and_repeats_fold() -> None:
    made = data(cases.chain)
    assert widest(made)["w"] < 1.3 * layout.ROWS[-1] and widest(made)["h"] > 1000
    assert made["layout"]["start"] == "folded" and made["layout"]["views"]["folded"]["turns"] == [200]
    assert len(widest(made, "folded")["nodes"]) <= 4


def test_there_is_a_drawing_for_a_phone_and_one_for_a_desk() -> None:
    drawings = data(cases.mlp)["layout"]["views"]["full"]["drawings"]
    assert drawings[0]["w"] < 470 and drawings[-1]["w"] > 900 and len(drawings) >= 3
    for size in ("h", "rows"):
        assert [d[size] for d in drawings] == sorted((d[size] for d in drawings), reverse=True)


def test_a_loop_of_layers_folds_with_its_parameters() -> None:
    made = data(cases.layers)
    folded = made["layout"]["views"]["folded"]
    assert folded["turns"] == [20]
    standing = {made["nodes"][int(i)]["name"].partition(" (")[0] for i in folded["stacked"]}
    assert {"W", "b", "h"} <= standing
    assert set(folded["rep"]) == {int(i) for i in widest(made, "folded")["nodes"]}


def test_a_loop_over_the_entries_of_a_tensor_folds_from_its_first_turn() -> None:
    """Python specialises `x[i]` after a turn or two, and from then on names another offset for it."""
    x = torch.rand(20, requires_grad=True)
    y = torch.tensor(0.5)
    for i in range(20):
        y = torch.sin(y) * x[i]
    graph = torch.record(y, names={"x": x}).to_dict()
    assert len({n["spot"] for n in graph["nodes"] if n["op"].startswith("Select")}) == 1
    assert folding.loops(graph)[0].turns >= 19


def test_a_line_returns_from_one_turn_of_a_loop_to_the_next() -> None:
    made = data(ten.forty)
    assert -1 not in made["layout"]["views"]["folded"]["line"], "each move has its line"
    drawn = widest(made, "folded")
    (back,) = (line for line in drawn["edges"] if line["a"][0] > line["b"][0])
    assert max(y + h for _, y, _, h in drawn["nodes"].values()) < drawn["h"] - 16 and back["b"] == drawn["edges"][0]["b"]


def test_what_one_call_made_is_a_box_that_opens() -> None:
    made = data(ten.modules)
    groups = made["layout"]["views"]["folded"]["groups"].values()
    assert {g["label"]: len(g["members"]) for g in groups} == {"body(x)": 7, "TwoLayers": 7, "F.cross_entropy(\u2026)": 2}
    framed = {label for d in made["layout"]["views"]["full"]["drawings"] for *_, label in d["frames"]}
    assert "F.cross_entropy(\u2026)" in framed


@pytest.mark.parametrize("seed", first(10, of=40))
def test_what_only_looks_alike_is_no_loop(seed: int) -> None:
    """The nodes of a random graph come from the same few lines, and are wired at random."""
    loss, leaves = graphs.graph(seed)
    made = data_of(loss, None, leaves, None)[0]
    for turns in made["layout"]["views"].get("folded", {}).get("turns", ()):
        assert turns == 0, "a random graph has no turns"


@pytest.mark.slow
def test_layout_takes_no_recursion_and_little_time() -> None:
    y = torch.tensor(0.5, requires_grad=True)
    for i in range(1_200):
        y = torch.sin(y) if i % 7 else y * 1.01
    graph = torch.record(y, names={}).to_dict()
    width = {n["id"]: 100.0 for n in graph["nodes"]}
    graph = layout.Graph([n["id"] for n in graph["nodes"]], [tuple(e) for e in graph["edges"]], width)
    assert layout.drawings(graph)[-1]["h"] > 1000


@pytest.mark.parametrize("name", ALL)
def test_the_still_picture_is_well_formed_described_and_deterministic(name: str) -> None:
    first, second = data(ALL[name]), fresh(ALL[name])
    text = svg.picture(first)
    assert text == svg.picture(second)
    root = ElementTree.fromstring(text)
    space = "{http://www.w3.org/2000/svg}"
    assert root.get("role") == "img" and root.find(f"{space}title") is not None
    assert root.get("aria-label") == root.find(f"{space}desc").text == svg.describe(first)  # type: ignore[union-attr]
    assert not [e for e in root.iter() if e.get("id") or e.tag.endswith("script")]
    assert json.dumps(first) == json.dumps(second)
    assert saved_html(first) == saved_html(second), "no id and no time in what a notebook keeps"


def test_two_outputs_have_no_one_gradient_in_the_still_picture() -> None:
    made = data(cases.two_outputs)
    both = next(n["id"] for n in made["nodes"] if n["name"] == "Both")
    assert both not in svg.final_gradients(made) and len(svg.final_gradients(made)) == len(made["nodes"]) - 1


def test_a_stack_in_the_still_picture_says_how_many_it_stands_for() -> None:
    text = svg.picture(data(cases.chain))
    assert "\u00d7 200</text>" in text and text.count("<rect") == 1 + 1 + 3
    assert svg.picture(data(cases.layers)).count("\u00d7 20</text>") == 6


def test_the_still_picture_has_values_gradients_and_local_derivatives() -> None:
    made = data(cases.scalar)
    with_all, values = svg.picture(made), svg.picture(made, grads=False)
    for text in (">2</text>", ">-6</text>"):
        assert text in with_all and text in values
    assert "\u00d7 -3</text>" in with_all and ">-1.5</text>" in with_all and ">-1.5</text>" not in values
    assert 'class="sheet"' in svg.picture(data(cases.mlp)) and "scissors\"" not in svg.picture(data(cases.mlp))
    assert '<g class="scissors"' in svg.picture(data(cases.cut))


@pytest.mark.parametrize("name", ALL)
def test_budgets_of_size(name: str) -> None:
    made = data(ALL[name])
    assert len(as_json(made).encode()) <= 500_000
    assert len(widest(made, made["layout"]["start"])["nodes"]) <= 300


def stack_of_layers(n: int):
    torch.manual_seed(0)
    h, saved = torch.rand(8, 16), []
    for _ in range(n):
        W, b = torch.rand(16, 16, requires_grad=True), torch.rand(16, requires_grad=True)
        saved += [W, b]
        h = torch.relu(h @ W + b) * 0.1
    return (h * h).sum(), saved


def within_budgets(made: dict) -> bool:
    size = len(as_json(made).encode())
    return size <= 500_000 and len(widest(made, made["layout"]["start"])["nodes"]) <= 300


@pytest.mark.slow
def test_forty_layers_are_shown_whole() -> None:
    loss, _kept = stack_of_layers(40)
    made = data_of(loss, None, {"loss": loss}, None)[0]
    assert within_budgets(made) and "more" not in made
    assert sum(step["kind"] == "leaf" for step in made["steps"]) == 80


def no_two_alike(n: int):
    """A graph in which nothing repeats, so that nothing can be folded."""
    pick = random.Random(n)
    pool = [torch.tensor(0.5, requires_grad=True)]
    for _ in range(n):
        a, b = pool[-1], pick.choice(pool[-4:])
        made = pick.choice(("a * b", "torch.sin(a)", "a + b", "torch.tanh(a)"))
        pool.append(eval(made, {"torch": torch, "a": a, "b": b}))
    return pool[-1], pool


@pytest.mark.slow
@pytest.mark.parametrize("make, size", [(stack_of_layers, 200), (stack_of_layers, 400), (no_two_alike, 700)])
def test_of_a_longer_pass_both_ends_are_shown(make, size: int) -> None:
    loss, _kept = make(size)
    whole = torch.record(loss, names={})
    made, text = data_of(loss, None, {"loss": loss}, None)
    assert within_budgets(made)
    shown = list(dict.fromkeys(step["node"] for step in made["steps"]))
    (box,) = (n["id"] for n in made["nodes"] if n["symbol"] == "\u2026")
    left_out = len(whole.steps) - (len(shown) - 1)
    assert made["nodes"][box]["name"] == f"{left_out} nodes" and f"{left_out} nodes -> " in text
    told = f"{left_out} of the walk's {len(whole.steps)} nodes are left out"
    assert any(told in step.get("note", "") for step in made["steps"])
    assert shown[0] == made["root"] and len(shown) > 150
    assert whole.places[whole.steps[-1].node].leaf and made["steps"][-1]["kind"] == "leaf", "it ends where the walk ends"
    norms = [v["norm"] if isinstance(v := made["vals"][step["after"]], dict) else abs(v)
             for step in made["steps"] if step["kind"] == "leaf"]  # fmt: skip
    every = {rounded(norm(step.after)) for step in whole.steps if step.kind == "leaf"}
    assert set(norms) <= every and rounded(norm(whole.steps[-1].after)) == norms[-1]
