"""Every number that a stepper shows is PyTorch's: values, gradients, contributions, sums after each arrival, the order.

PyTorch is asked at its own nodes: hooks before and after each one write down the order in which they speak, what
they receive, and what they hand on. MINIGRAD_FUZZ=2000 tries more random programs, MINIGRAD_FUZZ_SEED=7 others.
"""

import os
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad.autograd import Function
from minigrad.record.moves import Contribution
from minigrad.record.recorder import record
from minigrad.viz.data import dress
from minigrad.viz.pages import page_of

from . import graphs
from .random_programs import loss_of, program, run_in_both

pytestmark = [pytest.mark.slow, pytest.mark.needs("torch")]


class Witness:
    """A backward pass of PyTorch, written down by hooks on its nodes."""

    def __init__(self, root: Any, names: dict[str, Any]) -> None:
        self.name: dict[Any, str] = {}
        self.spoke: list[str] = []  # names, in the order in which they spoke
        self.upstream: dict[str, Any] = {}
        self.arrivals: dict[str, list[Any]] = {}  # what was handed to each name, in order
        self.senders: dict[str, list[str]] = {}
        handles: list[Any] = []
        for key, t in names.items():
            if t.requires_grad:
                node = t.grad_fn if t.grad_fn is not None else t.view_as(t).grad_fn.next_functions[0][0]
                self.name.setdefault((node, t.output_nr), key)
        seen, stack = {root.grad_fn}, [root.grad_fn]
        while stack:
            node = stack.pop()
            handles += self.watch(node)
            for parent, _ in node.next_functions:
                if parent is not None and parent not in seen:
                    seen.add(parent)
                    stack.append(parent)
        root.backward(retain_graph=True)
        for handle in handles:
            handle.remove()

    def watch(self, node: Any) -> list[Any]:
        mine = [(nr, key) for (n, nr), key in self.name.items() if n == node]

        def before(grads: Any) -> None:
            for nr, key in mine:
                if grads[nr] is not None:
                    self.spoke.append(key)
                    self.upstream[key] = grads[nr].detach().numpy().copy()

        def after(grads: Any, _: Any) -> None:
            for g, edge in zip(grads, node.next_functions, strict=True):
                key = self.name.get(edge)
                if g is not None and key is not None:
                    self.arrivals.setdefault(key, []).append(g.detach().numpy().copy())
                    self.senders.setdefault(key, []).append(mine[0][1] if len(mine) == 1 else "")

        return [node.register_prehook(before)] + ([node.register_hook(after)] if node.next_functions else [])


def spaces(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The same random program in both engines, as their variables."""
    import torch

    ours, theirs = (
        {"torch": module, "F": module.nn.functional, "Function": function}
        for module, function in ((minigrad, Function), (torch, torch.autograd.Function))
    )
    run_in_both(program(seed), ours, theirs)
    return ours, theirs


def named(space: dict[str, Any], root: Any) -> dict[str, Any]:
    return {**{k: v for k, v in space.items() if k[0] == "t" and k[1:].isdigit()}, "loss": root}


def close(shown: Any, true: Any, tolerance: float) -> bool:
    shown, true = np.asarray(shown, np.float64), np.asarray(true, np.float64)
    return shown.shape == true.shape and np.allclose(shown, true, rtol=tolerance, atol=1e-12, equal_nan=True)


def alike(ours: list[str], theirs: list[str]) -> bool:
    """Whether the same nodes sent something in the same order; an inner node of PyTorch's has no name."""
    twice = {name for name in ours if ours.count(name) > 1}
    return len(ours) == len(theirs) and all(b == a or (b == "" and a not in twice) for a, b in zip(ours, theirs, strict=True))


def summed_to(raw: Any, shape: tuple[int, ...]) -> Any:
    lead = raw.ndim - len(shape)
    raw = raw.sum(tuple(range(lead)))
    return raw.sum(tuple(i for i, n in enumerate(shape) if n == 1 and raw.shape[i] != 1), keepdims=True)


def unpooled(data: dict[str, Any], i: int) -> Any:
    """A value as the page holds it, where all of it is there."""
    v = data["vals"][i]
    if not isinstance(v, dict):
        return np.array(float(v))
    if len(v["d"]) < np.prod(v["s"]):
        return None
    return np.array([float(x) for x in v["d"]]).reshape(v["s"])


def asks_truly(quiz: dict[str, Any], sent: Contribution, node: int, place: dict[int, str]) -> bool:
    """Whether the right answer is right, and each mistake that gives a number gives the one that is said."""
    kind = quiz["type"]
    if kind == "value":
        sums = quiz["beat"] == "collect" and sent.before is not None
        right = float(sent.before + sent.value) if sums else float(sent.raw)
        mistakes = {"the sign is wrong": -sent.raw}
        if sums:
            mistakes = {"thrown away": sent.value, "is missing.": sent.before, "Along a path": sent.before * sent.value}
        told = [(v, mistakes[k]) for v, why in quiz["wrong"] for k in mistakes if k in why]
        return abs(quiz["answer"] - right) <= quiz["tol"] and all(close(v, true, 6e-4) for v, true in told)
    chosen = quiz["options"][quiz["answer"]]
    if kind == "sign":
        return bool(chosen == ("+" if sent.raw > 0 else "\u2212" if sent.raw < 0 else "0"))
    if kind == "shape":
        return chosen == {(): "() one number"}.get(sent.value.shape, str(sent.value.shape))
    rights = {"count": str(sent.expected), "rule": sent.named, "next": place[node]}
    return chosen == rights[kind]


PROGRAMS = int(os.environ.get("MINIGRAD_FUZZ", "100"))
FIRST = int(os.environ.get("MINIGRAD_FUZZ_SEED", "0")) * 1_000_000
PARTS, PAGES = 4, max(6, PROGRAMS // 20)


def disagreements(seed: int) -> list[str]:
    ours, theirs = spaces(seed)
    names, true_names = named(ours, loss_of(ours, seed)), named(theirs, loss_of(theirs, seed))
    recording = record(names["loss"], names=names)
    data, _ = dress(recording)
    truth = Witness(true_names["loss"], true_names)
    wrong = []

    def check(fine: bool, what: str) -> None:
        if not fine:
            wrong.append(f"seed {seed}: {what}")

    place = {p.id: p.name for p in recording.places}
    for p, node in zip(recording.places, data["nodes"], strict=True):
        if p.name in true_names and p.value is not None:
            value = true_names[p.name].detach().numpy()
            check(close(p.value, value, 1e-9), f"value of {p.name}")
            shown = unpooled(data, node["val"])
            check(shown is None or close(shown, value, 6e-4), f"shown value of {p.name}")
    order = [place[s.node] for s in recording.steps if place[s.node] in truth.upstream]
    leaves = {place[s.node] for s in recording.steps if s.kind == "leaf"}  # PyTorch stores them as soon as it can
    check([n for n in order if n not in leaves] == [n for n in truth.spoke if n not in leaves], f"order {order}, {truth.spoke}")
    check(sorted(order) == sorted(truth.spoke), f"who speaks: {order}, {truth.spoke}")
    for step in recording.steps:
        if place[step.node] in truth.upstream:
            check(close(step.upstream, truth.upstream[place[step.node]], 1e-8), f"gradient of {place[step.node]}")
    for i, name in place.items():
        arrived = truth.arrivals.get(name, [])
        rows = graphs.ledger(recording, i)
        if not rows or name not in true_names:
            continue
        check(rows[-1][1].arrived == rows[-1][1].expected == len(rows), f"count of {name}")
        if not alike([place[sender] for sender, _ in rows], truth.senders.get(name, [])):
            continue  # one engine makes of an operation two nodes, the other one: arrivals come in another order
        total: Any = 0
        for k, ((_, sent), g) in enumerate(zip(rows, arrived, strict=True)):
            g = summed_to(g, sent.value.shape)
            total = total + g
            check(close(sent.value, g, 1e-8), f"contribution {k + 1} to {name}: {sent.value} {g}")
            check(close(sent.after, total, 1e-8), f"sum after arrival {k + 1} at {name}")
    moves = iter(data["steps"][1:])
    for step in recording.steps:
        for sent in step.contributions or [None]:
            move = next(moves)
            check(move["node"] == step.node, "the page's moves are the recording's")
            pairs = [("up", step.upstream)]
            if sent is not None and not sent.skipped:
                pairs += [("contrib", sent.value), ("raw", sent.raw), ("after", sent.after)]
            for key, value in pairs:
                shown = unpooled(data, move[key])
                check(shown is None or close(shown, value, 6e-4), f"shown {key}")
            quiz = move.get("quiz")
            if quiz is not None and sent is not None:
                check(asks_truly(quiz, sent, step.node, place), f"quiz {quiz}")
    for step in recording.steps:
        if step.kind == "leaf":
            check(close(step.after, true_names[place[step.node]].grad.numpy(), 1e-8), f"{place[step.node]}.grad")
    return wrong


@pytest.mark.parametrize("part", range(PARTS))
def test_every_number_is_torchs(part: int) -> None:
    for seed in range(FIRST + part, FIRST + PROGRAMS, PARTS):
        assert disagreements(seed) == []


# ---------------------------------------------------------------- the page
LOOK = """() => { const m = document.querySelector(".mg"), r = m.querySelector("input[type=range]"), seen = [];
    for (let n = 0; n <= +r.max; n++) {
        r.value = n; r.dispatchEvent(new Event("input", { bubbles: true }));
        seen.push({ title: m.querySelector(".mg-ledger .mg-name")?.textContent, queue: m.querySelector(".mg-queue").innerText,
            rows: [...m.querySelectorAll(".mg-ledger tr")].map((tr) => [...tr.cells].map((c) => c.textContent)),
            now: m.querySelector(".mg-ledger .now td")?.textContent });
    }
    return seen; }"""


def as_shown(value: Any) -> Any:
    """Of an array that has no room for its digits, its size is shown."""
    return np.linalg.norm(value)


def numbers(cell: str) -> Any:
    found = re.search(r"size (.*)", cell)
    read = [float(x) for x in re.findall(r"-?[\d.]+(?:e-?\d+)?|nan|-?inf", found[1] if found else cell)]
    return read[0] if found else np.array(read)


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.needs("chromium")
@pytest.mark.parametrize("seed", range(FIRST, FIRST + PAGES))
def test_the_page_shows_torchs_ledgers_and_queue(page: Any, tmp_path: Path, seed: int) -> None:
    ours, theirs = spaces(seed)
    names, true_names = named(ours, loss_of(ours, seed)), named(theirs, loss_of(theirs, seed))
    recording = record(names["loss"], names=names)
    data, _ = dress(recording)
    truth = Witness(true_names["loss"], true_names)
    file = tmp_path / "program.html"
    file.write_text(page_of(data), encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_selector(".mg svg")
    checked = 0
    got: Counter[str] = Counter()
    place = {n["id"]: n["name"] for n in data["nodes"]}
    line = [(None, ""), *((move, beat) for move in data["steps"] for beat in move["beats"])]
    for (move, beat), frame in zip(line, page.evaluate(LOOK), strict=True):
        if move is None:
            continue
        if move["kind"] == "send" and beat == "collect":
            target = place[move["parent"]]
            got[target] += 1
            arrived = truth.arrivals.get(target, [])
            if alike([place[s] for s, _ in graphs.ledger(recording, move["parent"])], truth.senders.get(target, [])):
                assert f"{got[target]} of {len(arrived)} arrived" in frame["title"]
                shape = true_names[target].shape
                sums = np.cumsum([summed_to(g, shape) for g in arrived], axis=0)
                shown = {row[0]: row[1] for row in frame["rows"] if row[0].startswith("sum")}
                for cell, true in [(frame["now"], summed_to(arrived[got[target] - 1], shape)),
                                   *((cell, sums[got[target] - 1]) for cell in shown.values())]:  # fmt: skip
                    if np.isfinite(true).all():
                        assert close(numbers(cell), as_shown(true) if "size" in cell else true.ravel(), 6e-4), (cell, true)
                        checked += 1
        if beat == "focus" and place[move["node"]] in truth.upstream:
            current, ready, _ = re.split("(?:Ready|Waiting): ", " ".join(frame["queue"].split()).removeprefix("Current: "))
            assert current.strip() == place[move["node"]]
            for name in ready.strip().split(", "):
                if name in truth.upstream:  # nothing more will come
                    assert got[name] == len(truth.arrivals[name])
                    checked += 1
    assert (checked or len(recording.steps) < 12) and page.errors == []  # of a small program PyTorch may name too few nodes
