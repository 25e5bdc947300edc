"""The numbers of the lessons cannot hide a bug, and those of the prose are those of the cells around it.

No ones and zeros, no even weights, no symmetric tables, no lucky points.

A factor of 1 hides a forgotten factor, a term of 0 a forgotten term; even weights hide who asked, a symmetric table
hides a missing transpose, and at 2 a square and its slope are the same. A cell that needs such a number stands in
`ON_PURPOSE`, with the reason; a number of the prose that no cell near it shows stands in `ELSEWHERE`.
"""

import ast
import re
from collections.abc import Iterator

import numpy as np
import pytest

from minigrad.course import notebooks

ON_PURPOSE = {
    "02-3a18ea": "the documents' own example; the text says so, and a slider moves it",
    "02-c79a23": "the documents' own example",
    "05-cb37f1": "ones as weights are what the cell is about",
    "06-18ec65": "ones show which upstream gradient each entry gets",
    "06-912bbd": "ones show which upstream gradient each entry gets",
    "07-2e9fa3": "only the shapes count",
    "07-01e63b": "it shows that the gradient does not depend on the factor",
    "08-048a05": "a start, of a descent that can begin at 0",
    "08-911": "a start, of a descent that can begin at 0",
    "10-e264d8": "the kink is at 0",
    "10-206": "weights of 1 and -1 make the absolute value",
    "10-701": "the kink is at 0",
    "13-b7f952": "a start, of a descent that can begin at 0",
    "13-955849": "the illness of patient 6",
    "13-4e3771": "the illness of patient 6",
    "13-b414b1": "the illness of patient 6",
    "12-306": "counters begin at 0",
    "12-104": "a start, of a descent that can begin at 0",
}

ELSEWHERE = {
    ("01-9007d2", "0.3624"): "the cosine of 1.2",
    ("01-3f4061", "0.3624"): "the cosine of 1.2",
    ("02-102", "0.2007"): "an answer to choose from",
    ("08-103", "0.05"): "an answer to choose from",
    ("08-8b70c2", "0.18"): "two over the largest curvature, 11.09, is 0.1803: the slider's last stop below it",
    ("08-8b70c2", "0.19"): "two over the largest curvature, 11.09, is 0.1803: the slider's next stop",
    ("13-100", "0.55"): "in the picture",
    ("13-c25ce5", "0.01"): "patient 2 cured: 0.0114 after 500 steps, 0.0044 after 1,000",
    ("13-126", "250"): "an answer to choose from",
    ("13-126", "350"): "an answer to choose from",
    ("13-116", "1.0986"): "the logarithm of 3",
    ("13-116", "1.0549"): "the entropy of 2, 2 and 1 of 5",
    ("12-c38686", "0.5"): "an answer to choose from",
    ("12-303", "2.3026"): "the logarithm of 10",
    ("12-325", "100"): "an answer to choose from",
    ("12-325", "300"): "an answer to choose from",
    ("12-30bd", "349"): "printed in lesson 13",
    ("14-112", "1000"): "an answer to choose from",
    ("16-038", "2.4"): "an answer to choose from",
    ("16-038", "1.5"): "an answer to choose from",
    ("03-e083a6", "1.2695"): "printed in the lesson, part 7; the stepper shows four digits",
    ("06-bd1cf8", "0.5"): "given, for paper and pencil",
    ("06-bd1cf8", "1.2"): "given, for paper and pencil",
    ("06-bd1cf8", "1.4"): "given, for paper and pencil",
    ("06-bd1cf8", "2.5"): "given, for paper and pencil",
    ("06-bd1cf8", "3.5"): "given, for paper and pencil",
    ("12-27e351", "0.95"): "asked, and not said",
}
LEFT_OUT = (
    r"\*\*\d+ minutes\*\*(?:: \d+ here, \d+)?|\[[^\]]*\]\([^)]*\)|PyTorch 2\.13|lessons? \d+"
    r"|(?:exercise|graph from) \d+\.\d|(?:\b(?:in|In|of)|##) 1\d\.\d\b|hint\(.[\d.]+.\)|^\|.*\|$"
)
WRITTEN = r"(?<![\w.,])(?:\d*\.\d+|\d{3,})(?![\w.,]*\d)"


def literal(node: ast.AST) -> np.ndarray | None:
    """The numbers that are written down in a list, as an array; None if it is something else."""
    try:
        return np.array(ast.literal_eval(node), dtype=float)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return None


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def complaints(source: str) -> Iterator[str]:
    """What a bug could hide behind in a piece of code."""
    tree = ast.parse(source)
    squared = {
        node.left.id for node in ast.walk(tree)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.left, ast.Name)
    }  # fmt: skip
    called = {
        id(node.value): target.id for node in ast.walk(tree) if isinstance(node, ast.Assign)
        for target in node.targets if isinstance(target, ast.Name)
    }  # fmt: skip
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        keywords = {keyword.arg for keyword in call.keywords}
        name, numbers = name_of(call), literal(call.args[0]) if call.args else None
        if name in ("ones", "zeros"):
            yield f"{name}: what is multiplied by 1 or added to 0?"
        if numbers is None:
            continue
        if name == "tensor" and "requires_grad" in keywords and numbers.ndim == 0:
            if numbers in (0, 1):
                yield f"{numbers:g}: a factor or a term that nobody misses"
            if numbers == 2 and called.get(id(call)) in squared:
                yield "2: its square and the slope there are the same"
        if name in ("tensor", "array") and numbers.size > 1 and np.ptp(numbers) == 0:
            yield "all numbers are the same: which one came from where?"
        square = numbers.ndim == 2 and numbers.shape[0] == numbers.shape[1]
        if name in ("tensor", "array") and square and np.array_equal(numbers, numbers.T):
            yield "a symmetric table: a missing transpose would not show"


@pytest.mark.parametrize("lesson", notebooks.lessons())
def test_numbers_hide_nothing(lesson: str) -> None:
    for cell in notebooks.read(notebooks.path("notebooks", lesson))["cells"]:
        if cell["cell_type"] == "code":
            found = list(complaints(cell["source"]))
            assert bool(found) == (cell["id"] in ON_PURPOSE), f"{cell['id']}: {found}"


@pytest.mark.parametrize("lesson", notebooks.lessons())
@pytest.mark.parametrize("kind", ["notebooks", "solutions"])
def test_numbers_in_the_prose_are_shown_by_a_cell_nearby(kind: str, lesson: str) -> None:
    cells = notebooks.read(notebooks.path(kind, lesson))["cells"]
    shown = [shown_by(cell) if cell["cell_type"] == "code" else [] for cell in cells]
    for place, cell in enumerate(cells):
        if cell["cell_type"] != "markdown":
            continue
        near = [number for numbers in shown[max(0, place - 9) : place + 10] for number in numbers]
        for text in re.findall(WRITTEN, re.sub(LEFT_OUT, " ", cell["source"], flags=re.MULTILINE)):
            half = 0.5001 * 10.0 ** -len(text.partition(".")[2])
            found = any(abs(abs(number) - float(text)) < half for number in near)
            assert found != ((cell["id"], text) in ELSEWHERE), f"{cell['id']}: {text}"


def shown_by(cell: notebooks.Cell) -> list[float]:
    """The numbers in a cell and in what it prints."""
    outputs = [
        "".join(output.get("text", "")) + "".join(output.get("data", {}).get("text/plain", ""))
        for output in cell["outputs"]
    ]
    return [float(number) for number in re.findall(r"\d+\.?\d*(?:e[+-]?\d+)?", "\n".join([cell["source"], *outputs]))]


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("x = torch.tensor(2.0, requires_grad=True)\ny = x**2", 1),
        ("x = torch.tensor(3.0, requires_grad=True)\ny = x**2", 0),
        ("x = torch.tensor(2.0, requires_grad=True)\ny = (x + 1) ** 2", 0),
        ("b = torch.zeros(3)", 1),
        ("x = torch.tensor(1.0, requires_grad=True)", 1),
        ("y.backward(torch.tensor([1.0, 1.0]))", 1),
        ("W = np.array([[2.0, 7.0], [7.0, 3.0]])", 1),
        ("W = np.array([[2.0, 7.0], [6.0, 3.0]])", 0),
    ],
)
def test_what_hides_a_bug(source: str, wrong: int) -> None:
    assert len(list(complaints(source))) == wrong
