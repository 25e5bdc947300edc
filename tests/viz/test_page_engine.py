"""The engine in the page: for other inputs it shows what Python shows, and it computes what a visitor types as Python does."""

import json
import os
import random
from typing import Any

import pytest

import minigrad as torch
from minigrad.viz import pages, step

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.needs("chromium")]
X, Y = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([2.0, 4.0, 7.0])
UPSTREAM = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def line(x):
    return 3 * x + 1


def two_paths(x):
    a = 2 * x
    b = a + 1
    y = a * b
    return y


def mse(w, b):
    y_pred = w * X + b
    error = y_pred - Y
    loss = torch.mean(error**2)
    return loss


def product(X, W):
    return X @ W


def mixed(x, w):
    h = torch.relu(x) - torch.exp(-w) / 2
    return torch.sigmoid(h).sum() + 2**w - w.log() + torch.sqrt(w) * torch.cos(w)


def curved(x, w):
    a = x * w
    b = a.sin() + x**2
    loss = (b - 1).tanh() * 3
    return 2 / loss + (1 - x) ** w - torch.abs(x)


PAIRS: list[tuple[Any, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    (line, {"x": 2.0}, {"x": -1.0625}, {}),
    (two_paths, {"x": 3.0}, {"x": 0.0}, {}),
    (mse, {"w": 0.5, "b": [0.25]}, {"w": 2.125, "b": [-1.0]}, {}),
    (product, {"X": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "W": [[1.0, -2.0], [0.5, 3.0]]},
     {"X": [[1.0, 2.0], [3.0, 4.0], [5.0, -6.0]], "W": [[1.0, 2.0], [0.25, 3.0]]}, {"gradient": UPSTREAM}),
    (mixed, {"x": [1.0, -2.0], "w": 0.7}, {"x": [0.0, 3.0], "w": 1.7}, {}),
    (curved, {"x": 0.4, "w": 3.0}, {"x": -0.3, "w": 2.0}, {}),
]  # fmt: skip
SHOWN = ("name", "rule", "how", "sub", "partial", "edge", "note", "text", "line", "kind", "beats", "axes", "arrived", "terms",
         "node", "parent", "slot", "shape")  # fmt: skip
VALUES = ("val", "up", "local", "raw", "contrib", "before", "after", "jac")


@pytest.fixture
def engine(page):
    """Calls a function of the page's modules with JSON values."""
    source = pages.script().replace(
        "export default { render };", pages.playground() + "\nexport default { compute, parse, Mistake };"
    )

    def called(body: str, *given: Any) -> Any:
        text = f"""async ([source, given]) => {{
            const js = (await import(URL.createObjectURL(new Blob([source], {{ type: "text/javascript" }})))).default;
            return ({body})(js, ...given);
        }}"""
        return page.evaluate(text, [source, list(given)])

    yield called
    assert page.errors == []


def seen(data: dict[str, Any]) -> dict[str, Any]:
    """What a reader sees of the data, with values in the place of their numbers."""

    def of(item: dict[str, Any]) -> dict[str, Any]:
        found = {key: item.get(key) or "" for key in SHOWN} | {
            key: None if item.get(key) is None else data["vals"][item[key]] for key in VALUES
        }
        for key in ("saved", "parts"):
            found[key] = [[*part[: -1 if key == "saved" else 1]] for part in item.get(key, ())]
        return found

    asked = [step.get("quiz") for step in data["steps"]]  # of the graph; the page asks about values in its own way
    graph = [quiz for quiz in asked if quiz and quiz["type"] in ("next", "count", "shape")]
    return {"quiz": graph} | {part: [of(item) for item in data[part]] for part in ("nodes", "forward", "steps")}


@pytest.mark.parametrize("function, one, other, more", PAIRS, ids=lambda given: getattr(given, "__name__", ""))
def test_a_changed_input_shows_what_python_shows(engine, function, one, other, more) -> None:
    def data_at(inputs: dict[str, Any]) -> dict[str, Any]:
        leaves = {name: torch.tensor(value, requires_grad=True) for name, value in inputs.items()}
        data = step(function, display="page", **leaves, **more).data
        return json.loads(json.dumps(data))

    there = data_at(other)
    assert there["live"], "the page can compute it"
    made = engine("(js, data, exact) => js.compute(data, exact)", data_at(one), there["live"]["exact"])
    assert seen(made) == seen(there)


def choosy(x):
    return x * x if x.item() > 0 else x


def cut(x):
    return x.detach() * x


def by_hand(x):
    return x * float(x)


@pytest.mark.parametrize("function", [choosy, cut, by_hand])
def test_what_another_input_could_change_otherwise_is_left_to_python(function) -> None:
    assert "live" not in step(function, x=2.0, display="page").data


@pytest.mark.parametrize("x", [float("inf"), float("nan")])
def test_numbers_that_json_has_not_are_left_to_python(x: float) -> None:
    data = step(line, x=x, display="page").data
    assert "live" not in data and json.dumps(data, allow_nan=False)


# ---------------------------------------------------------------- what a visitor types
UNARY = (
    """
sin({a}); cos({a}); exp({a} * 0.3); tanh({a}); sigmoid({a}); relu({a}); log({a} * {a} + 1); sqrt(abs({a}) + 0.5); -{a}; {a} ** 2
{a} ** 3; {a} ** 0; abs({a}); {a} - 1; 2 - {a}; 3 * {a}; {a} / 4; 2 / ({a} * {a} + 1); 2 ** {a}; sum({a}); mean({a})
({a} * {a} + 1) ** 0.5
""".strip()
    .replace("\n", "; ")
    .split("; ")
)
BINARY = [
    "{a} + {b}",
    "{a} - {b}",
    "{a} * {b}",
    "{a} / ({b} * {b} + 1)",
    "{a} * {a} - {b}",
    "(abs({a}) + 0.5) ** {b}",
    "{a} @ {b}",
]
SHAPES = [(), (), (), (2,), (3,), (1,), (2, 2), (2, 3), (3, 2)]
PROGRAMS = int(os.environ.get("MINIGRAD_FUZZ", "300"))
LARGEST = 1e-12  # of the largest number of a program: how far two engines in float64 may differ


def program(seed: int) -> tuple[list[str], dict[str, Any], str]:
    """Lines for both engines, the inputs, and the name of the last value. Lines that do not fit together are left out."""
    pick = random.Random(seed)
    functions = "sin cos exp tanh sigmoid relu log sqrt abs sum mean".split()  # noqa: SIM905
    space: dict[str, Any] = {name: getattr(torch, name) for name in functions}
    lines, inputs = [], {}
    for name in "xyw"[: pick.randint(1, 3)]:
        shape = pick.choice(SHAPES)
        flat = [round(pick.uniform(-2, 2), 3) for _ in range(torch.zeros(shape).numel())]
        inputs[name] = space[name] = torch.tensor(flat, dtype=torch.float64).reshape(shape).requires_grad_()
        lines.append(f"{name} = {inputs[name].tolist()}")
    names = list(inputs)
    for number in range(pick.randint(1, 7)):
        line = pick.choice(UNARY + 2 * BINARY).format(a=pick.choice(names), b=pick.choice(names))
        try:
            value = eval(line, dict(space))
        except (RuntimeError, TypeError):
            continue
        if ("@" in line and value.dim() == 1) or not torch.isfinite(value).all() or value.numel() > 12:
            continue
        names.append(f"t{number}")
        space[names[-1]] = value
        lines.append(f"{names[-1]} = {line}")
    return [*lines, f"loss = sum({names[-1]} * 1.5)"], space, "loss"


def moves_of(data: dict[str, Any]) -> list[list[Any]]:
    """Which node sends to which, in order, with all numbers of the move; nothing is said of written numbers."""
    at, name = data["vals"], [node["name"] for node in data["nodes"]]
    return [[step["kind"], name[step["node"]] if data["nodes"][step["node"]]["leaf"] else data["nodes"][step["node"]]["symbol"],
             step.get("slot"), *(at[step[key]] for key in ("up", "contrib", "after") if step.get(key) is not None)]
            for step in data["steps"] if step["kind"] != "skip"]  # fmt: skip


def compared(engine, seeds: range) -> int:
    """How many programs were compared: equal moves, in equal order, with equal numbers."""
    texts, expected = [], []
    for seed in seeds:
        lines, space, _ = program(seed)
        loss = eval(lines[-1].removeprefix("loss = "), dict(space))
        recording = torch.record(loss, names={})
        moves: list[list[Any]] = [["seed", recording.places[recording.root].symbol, None, [1.0]]]
        leaves = {v._node: k for k, v in space.items() if isinstance(v, torch.Tensor) and v.is_leaf}
        names = {tuple(node.variable.ravel().tolist()): name for node, name in leaves.items() if node is not None}
        for one in recording.steps:
            who = recording.places[one.node]
            head = [names[tuple(who.value.ravel().tolist())] if who.leaf else who.symbol]
            if one.kind == "leaf":
                moves.append(["leaf", *head, None, one.upstream.ravel().tolist(), one.after.ravel().tolist()])
            for sent in one:
                if not sent.skipped:
                    numbers = [each.ravel().tolist() for each in (one.upstream, sent.value, sent.after)]
                    moves.append(["send", *head, sent.slot, *numbers])
        texts.append("\n".join(lines))
        expected.append((moves, max(float(abs(p.value).max()) for p in recording.places if p.value is not None)))
    found = engine(
        "(js, texts) => texts.map((text) => { const d = js.parse(text); return js.compute(d, d.live.exact, (v) => v.d); })",
        texts,
    )
    for text, data, (moves, largest) in zip(texts, found, expected, strict=True):
        mine = moves_of(data)
        assert [move[:3] for move in mine] == [move[:3] for move in moves], text
        top = max([largest, *(abs(x) for move in moves for part in move[3:] for x in part)])
        for one, other in zip(mine, moves, strict=True):
            for a, b in zip(one[3:], other[3:], strict=True):
                assert all(abs(x - y) <= LARGEST * top for x, y in zip(a, b, strict=True)), (text, one, other)
    return len(texts)


def test_typed_programs_are_walked_as_python_walks_them(engine) -> None:
    assert compared(engine, range(60)) == 60


def test_many_typed_programs_in_one_session(engine) -> None:
    """A sample; all 2,000 with MINIGRAD_FUZZ=2000."""
    assert compared(engine, range(1000, 1000 + PROGRAMS)) == PROGRAMS


RUBBISH = {  # a text: the sentence, and the letter that it points at
    "x = 1\n(x": ("The bracket \u201c(\u201d is never closed", 1, 0),
    "(x": ("x has no value yet", 0, 1),  # the first mistake from the left
    "x = 1\nx)": ("closes a bracket that was never opened", 1, 1),
    "x = 1\nx * y": ("y has no value yet. Give it one in a line above: y = 1", 1, 4),
    "x = x": ("x has no value yet", 0, 4),
    "a = b\nb = a": ("b has no value yet", 0, 4),
    "x = 1\nfoo(x)": ("There is no function foo here", 1, 0),
    "x = 1\n1 / 0 + x": ("a number is divided by zero", 1, 0),
    "x = 1\n" + "(" * 1900 + "x": ("At most 60 brackets", 1, None),
    "x" * 2001: ("At most 2000 letters", 0, 0),
    "x = [1, 2]\ny = [1, 2, 3]\nx + y": ("cannot join the shapes (2,) and (3,)", 2, 0),
    "x = 1\nx @ x": ("@ cannot join the shapes () and ()", 1, 0),
    "x = 1\nx $ 2": ("\u201c$\u201d cannot stand in a formula", 1, 2),
    "x = 1\ny = ": ("ends too early", 1, 4),
    "2 + 3": ("nothing to differentiate", 0, 0),
    "": ("Write a formula", 0, 0),
    "x = [1, [2]]": ("rows that are equally long", 0, 4),
    "x = 1\nconstructor(x)": ("no function constructor", 1, 0),
    "x = 1\nx.sin": ("needs brackets", 1, 2),
    "x = 1\n" + "x + " * 90 + "x": ("At most 80 boxes", 1, 0),
    "x = 1\nx + sum(2 @ 3)": ("@ cannot join the shapes () and ()", 1, 8),
    "x = 1\n[1, 2] * [3, 4]": ("nothing to differentiate", 1, 0),
}


def test_what_cannot_be_read_is_told_with_its_place(engine) -> None:
    ask = """(js, texts) => texts.map((text) => {
        try { js.parse(text); return null; } catch (e) { return [e instanceof js.Mistake, e.message, e.row, e.at]; }
    })"""
    found = engine(ask, list(RUBBISH))
    for text, answer, (says, row, at) in zip(RUBBISH, found, RUBBISH.values(), strict=True):
        assert answer and answer[0], text[:60]
        assert says in answer[1], (text[:60], answer)
        assert answer[2] == row and at in (None, answer[3]), (text[:60], answer)


def test_names_that_come_again_are_told_apart(engine) -> None:
    """A name that is given again, and long formulas that begin alike."""
    texts = ["x = 2\nx = x * 3\ny = x * x", "x = 1\nx * x * x * x * x + (-x) ** 2 - (-x ** 2) + 7 * x"]
    again, long = engine("(js, texts) => texts.map((t) => js.parse(t).forward.map((move) => move.line))", texts)
    assert again == ["x (2) = x * 3 = 2 \u00b7 3 = 6", "y = x * x = 6 \u00b7 6 = 36"]
    assert long[-1].endswith(" = 3 + 7 = 10") and len({line.split(" = ")[0] for line in long}) == len(long)


def test_written_numbers_are_computed_and_written_as_python_does(engine) -> None:
    texts = ["x = 1\nsum(2) * x", "x = 1\nmean(6) * x", "x = 2\n(-2) ** x", "x = 2\n-2 * x",
             "c = 2 + 3\nx = 2\nc * x"]  # fmt: skip
    made = engine("(js, texts) => texts.map((t) => js.parse(t).forward.map((move) => move.line))", texts)
    assert [lines[-1] for lines in made] == ["sum(2) * x = 2 \u00b7 1 = 2", "mean(6) * x = 6 \u00b7 1 = 6",
                                          "(-2) ** x = (-2) ** 2 = 4", "-2 * x = -2 \u00b7 2 = -4",
                                          "c * x = 5 \u00b7 2 = 10"]  # fmt: skip


TYPED = {  # inputs and lines: what is said of them is what Python says of the same function
    "x = 3.0": ["a = x ** 2", "b = sin(x)", "y = a + b"],
    "x = 0.5; w = -2.0; b = 1.0": ["y = tanh(w * x + b)"],
    "w = [0.5, 1.0]": ["y = relu(w) * 2", "z = mean(y ** 3)"],
    "x = 2.0": ["y = 2 ** x", "z = y / 4 - (1 - x)"],
    "x = [[1.0, -1.0]]; V = [[0.5, -1.0], [1.0, 0.25]]": ["h = x @ V", "loss = sum(h * h)"],
    "x = 2.0; w = 3.0": ["z = sqrt(x) - log(x) * abs(w)"],
    "x = [1.0, 2.0]; y = [3.0, 4.0]": ["z = (x @ y)"],
}


def test_what_is_said_of_a_typed_formula_is_what_python_says(engine, tmp_path) -> None:
    """All but saved shapes and exponents, which a visitor's graph does not have, and questions about the graph."""
    functions = "sin tanh relu sqrt log abs sum mean".split()  # noqa: SIM905
    expected, texts = [], []
    for i, (inputs, lines) in enumerate(TYPED.items()):
        given = dict(part.split(" = ") for part in inputs.split("; "))
        file = tmp_path / f"typed{i}.py"
        body = "\n    ".join(lines)
        file.write_text(f"def f({', '.join(given)}):\n    {body}\n    return {lines[-1].split(' = ')[0]}\n")
        space: dict[str, Any] = {name: getattr(torch, name) for name in functions}
        exec(compile(file.read_text(), str(file), "exec"), space)
        leaves = {k: torch.tensor(eval(v), dtype=torch.float64, requires_grad=True) for k, v in given.items()}
        expected.append(json.loads(json.dumps(step(space["f"], display="page", **leaves).data)))
        texts.append("\n".join([*inputs.split("; "), *lines]))
    for text, data, python in zip(texts, engine("(js, texts) => texts.map(js.parse)", texts), expected, strict=True):
        mine, theirs = seen(data), seen(python)
        for part in ("nodes", "forward", "steps"):
            for one, other in zip(mine[part], theirs[part], strict=True):
                for each in (one, other):
                    each["saved"] = [saved for saved in each["saved"] if saved[1] and saved[0] != "x_shape"]
                    each["line"] = "" if part == "nodes" else each["line"]
                assert one == other, text


def test_nothing_that_is_typed_can_be_run() -> None:
    for source in (pages.script(), pages.playground()):
        assert "eval(" not in source and "Function(" not in source
