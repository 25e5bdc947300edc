"""The engine in the page: for other inputs it shows what Python shows."""

import json
from typing import Any

import pytest

import minigrad as torch
from minigrad.viz import pages, step

pytestmark = [pytest.mark.browser, pytest.mark.needs("chromium")]
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
    source = pages.script().replace("export default { render };", "export default { compute };")

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
            found[key] = [[*part[:-1 if key == "saved" else 1]] for part in item.get(key, ())]
        return found

    return {part: [of(item) for item in data[part]] for part in ("nodes", "forward", "steps")}


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

