"""The drawn pictures of lessons 02 to 04 and 07 to 14 and of docs/pytorch.md, as a program.

`python -m tests.house.pictures` writes them all (those of docs/pytorch.md need PyTorch), with names after it only these.
A picture is a handful of SVG lines; what it shows is computed, in lesson 13 by the lesson's own code, in docs/pytorch.md by
`draw` in the page's own programs.
"""

import re
import runpy
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import minigrad as torch
from minigrad.course import notebooks

HERE = Path(__file__).parents[2] / "notebooks" / "images"
PYTORCH = HERE.parents[1] / "docs" / "pytorch.md"
NARROW = 520  # pixels of a drawing that a telephone shows with legible letters
BLUE, RUST, INK, GREY, LINE = "#0072B2", "#B34700", "#1a1a1a", "#5a5a5a", "#767676"
PALE, SKY, PEACH = "#f2f2f2", "#cfe6f5", "#fbe0d0"


def picture(width: int, height: int, title: str, *parts: str) -> str:
    """A white card with rounded corners; the title is read aloud."""
    tips = "".join(
        f'<marker id="{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0 0 L10 5 L0 10 z" fill="{colour}"/></marker>'
        for name, colour in (("blue", BLUE), ("rust", RUST), ("grey", GREY))
        if any(f"url(#{name})" in part for part in parts)
    )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" font-family="DejaVu Sans, Verdana, sans-serif">'
    )
    back = f'<rect width="{width}" height="{height}" rx="8" fill="#ffffff"/>'
    defs = [f"<defs>{tips}</defs>"] if tips else []
    return "\n  ".join([head, f"<title>{title}</title>", *defs, back, *parts]) + "\n</svg>\n"


def text(x: float, y: float, words: str, size: int = 14, colour: str = INK, anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" text-anchor="{anchor}">{words}</text>'


def path(d: str, colour: str = BLUE, width: float = 2, dash: str = "", tip: str = "") -> str:
    style = (f' stroke-dasharray="{dash}"' if dash else "") + (f' marker-end="url(#{tip})"' if tip else "")
    return f'<path d="{d}" fill="none" stroke="{colour}" stroke-width="{width:g}"{style}/>'


def dot(x: float, y: float, r: float = 4, colour: str = RUST) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{r:g}" fill="{colour}"/>'


def box(x: float, y: float, w: float, h: float, fill: str = "#ffffff", round: float = 0, dash: str = "") -> str:
    style = (f' rx="{round:g}"' if round else "") + (f' stroke-dasharray="{dash}"' if dash else "")
    return f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="{fill}" stroke="{LINE}"{style}/>'


def curve(points: Iterable[tuple[float, float]]) -> str:
    """A line through points, as the `d` of a path."""
    return "M" + " L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def table(x: float, y: float, rows: Sequence[Sequence[float]], tint: Callable[[int, int], str]) -> Iterable[str]:
    """A matrix with its numbers; white ink on the one entry that is dark."""
    for i, row in enumerate(rows):
        for j, number in enumerate(row):
            fill = tint(i, j)
            yield box(x + 46 * j, y + 32 * i, 46, 32, fill)
            ink = "#ffffff" if fill == BLUE else INK
            yield text(x + 46 * j + 23, y + 32 * i + 21, f"{number:g}", 14, ink, "middle")


# Lesson 02 -----------------------------------------------------------------------------------------------


def nodes() -> str:
    """The nodes of exercise 2.6, without the edges that the student draws."""
    places = {
        "w": (50, 70, ""), "x": (50, 170, ""), "h": (190, 120, "= w * x"), "p": (340, 70, "= h + 5"),
        "q": (340, 170, "= 2 * h"), "r": (490, 120, "= p * q"), "s": (490, 215, "= r + h"),
    }  # fmt: skip
    parts = [
        part
        for name, (x, y, formula) in places.items()
        for part in (
            box(x - 40, y - 24, 80 if not formula else 100, 48, PALE, 6),
            text(x if not formula else x + 10, y + 6, f"{name} {formula}".strip(), 15, INK, "middle"),
        )
    ]
    return picture(640, 260, "Seven nodes without edges: w, x, h = w * x, p = h + 5, q = 2 * h, r = p * q, s = r + h.", *parts)


# Lesson 03 -----------------------------------------------------------------------------------------------


def closure() -> str:
    """c = a - b with the numbers of the lesson's first subtraction."""
    made = lesson_code("03", r"^class Value|a.grad = out.grad|^a, b = Value\(5.0\), Value\(3.0\)|^c.grad = ")
    a, b, c = made["a"], made["b"], made["c"]
    fields = [f"data  {c.data:g}", f"grad  {c.grad:g}", "parents", "_backward"]
    parts = [
        box(250, 34, 150, 130, SKY, 8), text(325, 24, f"c = a {c.op} b", 15, INK, "middle"),
        *(text(266, 60 + 29 * n, words, 14) for n, words in enumerate(fields)),
        path("M262 110 C210 104 180 86 136 74", BLUE, tip="blue"), path("M262 116 C210 124 180 146 136 160", BLUE, tip="blue"),
        box(480, 84, 190, 132, PEACH, 8, "5 4"), text(575, 74, "push, a closure", 15, RUST, "middle"),
        path("M350 142 C400 146 430 140 474 134", RUST, tip="rust"),
        text(496, 112, "a gets out.grad", 14), text(496, 134, "b gets -out.grad", 14),
        text(496, 168, "It still knows a, b", 13, GREY), text(496, 188, "and out (that is c),", 13, GREY),
        text(496, 206, "although minus is over.", 13, GREY),
    ]  # fmt: skip
    for name, value, y in (("a", a, 40), ("b", b, 138)):
        parts += [
            box(30, y, 100, 62, PALE, 8), text(20, y + 36, name, 15, INK, "end"),
            text(44, y + 25, f"data  {value.data:g}"), text(44, y + 50, f"grad  {value.grad:g}"),
        ]  # fmt: skip
    return picture(690, 232, "c = a - b: the value c holds its parents a and b and a closure that can reach them.", *parts)


def moons_net() -> str:
    neurons = [(330, 30 + 31 * n) for n in range(8)]
    inputs, answer = [(110, 96, "x"), (110, 182, "y")], (530, 139)
    parts = [path(f"M{x + 16} {y} L{a - 11} {b}", LINE, 1) for x, y, _ in inputs for a, b in neurons]
    parts += [path(f"M{a + 11} {b} L{answer[0] - 13} {answer[1]}", LINE, 1) for a, b in neurons]
    for x, y, name in inputs:
        parts += [box(x - 16, y - 16, 32, 32, PALE, 6), text(x, y + 5, name, 15, INK, "middle")]
    parts += [dot(*place, 11, BLUE) for place in neurons] + [dot(*answer, 13)]
    parts += [
        text(110, 284, "2 inputs", 14, INK, "middle"), text(330, 284, "8 neurons", 14, INK, "middle"),
        text(530, 284, "1 neuron", 14, INK, "middle"), text(560, 144, "answer"),
    ]  # fmt: skip
    return picture(640, 300, "A net of two inputs, eight neurons, and one neuron whose output is the answer.", *parts)


# Lesson 04 -----------------------------------------------------------------------------------------------


def who_has_what() -> str:
    """The gradients are those of the lesson's own program."""
    made = lesson_code("04", "^import warnings|^k = torch|^y = x \\* b")
    reasons = {
        "x": "a leaf, on a path to z", "b": "data: requires no gradient",
        "k": "a leaf, but its factor is 0", "other": "a leaf, but no path leads to z",
    }  # fmt: skip
    places = {"x": (230, 20), "b": (230, 84), "k": (230, 148), "other": (230, 226), "y": (420, 52), "z": (600, 100)}
    arrows = ["M338 43 L412 66", "M338 107 L412 84", "M338 171 H412", "M528 78 L592 110", "M528 171 L592 136"]
    parts = [path(d, tip="blue") for d in arrows]
    for name, (x, y) in places.items():
        gradient = made[name].grad
        fill = "#ffffff" if gradient is None else SKY if gradient.item() else PEACH
        shown = "None" if gradient is None else f"{gradient.item():g}"
        parts += [
            box(x, y, 106, 46, fill, 8, "4 3" if gradient is None else ""),
            text(x + 53, y + 20, name, 15, INK, "middle"), text(x + 53, y + 38, f"grad: {shown}", 13, INK, "middle"),
        ]  # fmt: skip
        if name in reasons:
            parts.append(text(x - 12, y + 28, reasons[name], 13, INK, "end"))
    parts += [
        box(420, 148, 106, 46, "#ffffff", 8, "4 3"), text(473, 168, "k * 0", 15, INK, "middle"),
        text(473, 186, "grad: None", 13, INK, "middle"), text(563, 236, "results: not leaves", 13, INK, "middle"),
    ]  # fmt: skip
    return picture(724, 288, "Six tensors of one program: one has a number, one has 0, and four have None.", *parts)


# Lesson 07 -----------------------------------------------------------------------------------------------


def one_entry() -> str:
    seen = lesson_code("07", "^X = |^G = ")
    left, right, upstream = (seen[name].tolist() for name in "XWG")
    return picture(
        640, 190, "One entry of X is multiplied by a row of W, and changes a row of the product.",
        text(119, 34, "X", 16, INK, "middle"), text(336, 34, "W", 16, INK, "middle"),
        text(528, 34, "G = dL/dY", 16, INK, "middle"),
        *table(50, 50, left, lambda i, j: BLUE if (i, j) == (0, 1) else PALE),
        *table(290, 50, right, lambda i, j: SKY if i == 1 else PALE),
        *table(482, 50, upstream, lambda i, j: PEACH if i == 0 else PALE),
        path("M119 48 C160 16 250 40 284 96", tip="blue"), path("M384 96 C420 96 440 66 476 66", tip="blue"),
        text(119, 136, "this entry", 12, GREY, "middle"), text(336, 170, "is multiplied by row 1", 12, GREY, "middle"),
        text(528, 136, "and changes row 0 of Y", 12, GREY, "middle"),
    )  # fmt: skip


# Lesson 08 -----------------------------------------------------------------------------------------------


def flat() -> str:
    x, y = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 5.0])
    slope, height = np.polyfit(x, y, 1)

    def at(a: float, b: float) -> tuple[float, float]:
        return 60 + 120 * a, 230 - 36 * b

    ends = (0.4, 3.4)
    return picture(
        640, 250, "The fitted line rises along the points; the flat line stays at their average height.",
        path("M60 20 V230 H480", LINE, 1.2),
        path(curve(at(a, slope * a + height) for a in ends), BLUE, 3),
        path(curve(at(a, y.mean()) for a in ends), RUST, 3, "9 6"),
        *(dot(*at(a, b), 6, INK) for a, b in zip(x, y, strict=True)),
        text(480, at(0, slope * 3.4 + height)[1] + 5, "part 5"), text(480, at(0, y.mean())[1] + 5, "now, at 3.67"),
        *(text(50, at(0, b)[1] + 5, f"{b:g}", 12, GREY, "end") for b in y),
        text(480, 246, "x", 14, INK, "middle"), text(44, 26, "y", 14, INK, "middle"),
    )  # fmt: skip


# Lesson 09 -----------------------------------------------------------------------------------------------


def bag() -> str:
    return picture(
        640, 240, "forward saves in ctx; backward takes ctx and the upstream gradient, and returns the gradient of x.",
        box(220, 24, 180, 46, round=6), text(310, 52, "forward", 16, INK, "middle"),
        box(220, 170, 180, 46, round=6), text(310, 198, "backward", 16, INK, "middle"),
        box(245, 97, 130, 46, PALE, 20, "4 3"), text(310, 125, "ctx", 16, INK, "middle"),
        text(90, 52, "x", 16, INK, "middle"), text(525, 52, "y", 16, INK, "middle"),
        text(525, 198, "g", 16, INK, "middle"), text(105, 198, "for x.grad", 16, INK, "end"),
        path("M110 47 H214", tip="blue"), path("M400 47 H504", tip="blue"),
        path("M504 193 H406", RUST, 2.5, "7 5", "rust"), path("M220 193 H116", RUST, 2.5, "7 5", "rust"),
        path("M310 70 V93", GREY, tip="grey"), path("M310 143 V166", GREY, tip="grey"),
        text(390, 114, "what the rule needs:", 13), text(390, 132, "save_for_backward", 13),
        text(525, 222, "upstream gradient", 13, INK, "middle"),
    )  # fmt: skip


# Lesson 10 -----------------------------------------------------------------------------------------------


def corners() -> str:
    zero = torch.tensor(0.0)
    functions: dict[str, Callable[[Any], Any]] = {
        "relu(x)": torch.relu,
        "maximum(x, 0)": lambda x: torch.maximum(x, zero),
        "clamp(x, min=0)": lambda x: torch.clamp(x, min=0),
        "abs(x)": torch.abs,
    }
    parts = []
    for n, (name, f) in enumerate(functions.items()):
        x = torch.tensor([-1.0, 0.0, 1.0], requires_grad=True)
        y = f(x)
        y.sum().backward()
        middle, slope = 95 + 177 * n, x.grad.tolist()[1]
        reach = 56 if slope < 1 else 46
        parts += [
            path(f"M{middle - 70} 110 H{middle + 70}", "#c9ccd1", 1),
            path(curve((middle + 62 * a, 110 - 62 * b) for a, b in zip((-1, 0, 1), y.tolist(), strict=True)), width=3),
            path(curve((middle + a, 110 - slope * a) for a in (-reach, reach)), RUST, 2.5, "7 5"),
            dot(middle, 110),
            text(middle, 28, name, 15, INK, "middle"),
            text(middle, 178, f"derivative {slope:g}", 15, RUST, "middle"),
        ]
    title = "Four functions with a kink at 0, each with the derivative that PyTorch reports there."
    return picture(720, 190, title, *parts)


def net() -> str:
    """A two-layer net: the arrays of its forward pass, and below them the gradients of the way back."""
    parts = []
    row = (("X", "(5, 3)"), ("Z", "(5, 4)"), ("H", "(5, 4)"), ("P", "(5, 1)"), ("loss", "()"))
    for n, (name, shape) in enumerate(row):
        left = 20 + 142 * n
        parts += [box(left, 92, 72, 46, SKY, 6), text(left + 36, 112, name, 15, INK, "middle"),
                  text(left + 36, 130, shape, 11, GREY, "middle")]  # fmt: skip
        if n:
            parts.append(path(f"M{left - 68} 108 H{left - 4}", tip="blue"))
            parts.append(text(left - 36, 100, ("", "@, +", "tanh", "@, +", "MSE")[n], 12, BLUE, "middle"))
        if n > 1:
            parts.append(path(f"M{left - 2} 124 H{left - 66}", RUST, 2.5, "7 5", "rust"))
    for middle, names in ((198, ("W1", "b1")), (482, ("W2", "b2"))):
        for name, at in zip(names, (middle - 42, middle + 42), strict=True):
            parts += [box(at - 26, 18, 52, 32, PALE, 6), text(at, 39, name, 15, INK, "middle"),
                      path(f"M{at - 7} 52 L{(at + middle) / 2 - 7:g} 88", tip="blue"),
                      path(f"M{(at + middle) / 2 + 7:g} 90 L{at + 7} 54", RUST, 2.5, "7 5", "rust")]  # fmt: skip
    for n, name in ((1, "dZ"), (2, "dH"), (3, "dP")):
        parts.append(text(56 + 142 * n, 160, name, 15, RUST, "middle"))
    parts += [text(20, 184, "solid: forward", 13, BLUE), text(150, 184, "dashed: the gradients, backward", 13, RUST)]
    return picture(680, 196, "The arrays of a two-layer net, and the way of the gradients back to the weights.", *parts)


# Lesson 13 -----------------------------------------------------------------------------------------------


def waiting_room() -> str:
    room = lesson_code("13", "^import minigrad as torch|^x = torch|^def start|^def patient_|^class Patient|^import numpy")
    parts = []
    for n, (losses, sizes) in enumerate(zip(all_losses(room), first_gradients(room), strict=True)):
        left, floor = (22 + 175 * n, 110) if n < 4 else (109 + 175 * (n - 4), 322)
        top = max(losses)
        places = [(left + 150 * i / (len(losses) - 1), floor - 70 * v / top) for i, v in enumerate(losses)]
        parts += [
            path(f"M{left} {floor - 74} V{floor} H{left + 150}", LINE, 1),
            path(curve(places[:: max(1, len(losses) // 60)])),
            text(left, floor - 84, f"Patient {n + 1}"),
        ]
        wide, longest = 150 / len(sizes), max(size or 0 for size in sizes.values())
        for k, (name, size) in enumerate(sizes.items()):
            at, up = left + wide * k + wide / 2, 40 * (size or 0) / longest
            parts.append(text(at, floor + 84, name, 11, INK, "middle"))
            if size:
                parts.append(box(at - 8, floor + 70 - up, 16, up, PEACH))
            else:
                parts.append(text(at, floor + 66, "none" if size is None else "0", 12, RUST, "middle"))
        parts.append(path(f"M{left} {floor + 70} H{left + 150}", LINE, 1))
    words = "curves: the loss over the steps; bars: the norm of each tensor's gradient in the first step"
    parts.append(text(360, 432, words, 12, GREY, "middle"))
    return picture(720, 446, "Seven loss curves, and the gradients of each patient in its first step.", *parts)


def first_gradients(room: dict[str, Any]) -> list[dict[str, float | None]]:
    """The norm of the gradient of each tensor in the first step, None where there is none."""
    x, t, loss = room["x"], room["t"], torch.nn.functional.cross_entropy
    labels = torch.tensor([0, 1, 0, 2, 1])
    w, w2 = room["start"](0.1, -0.2), room["start"](0.2, -0.1, 0.3)
    hidden = torch.tensor([[0.3, -0.2, 0.5], [0.1, 0.4, -0.3]]).double().requires_grad_()
    ((x @ w - t) ** 2).mean().backward()
    ((torch.tanh(x @ hidden).detach() @ w2 - t) ** 2).mean().backward()
    three = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    loss(torch.softmax(x @ three, dim=1), labels).backward()
    torch.manual_seed(0)
    four = room["Patient4"]()
    loss(four(torch.randn(20, 3)), torch.randint(0, 2, (20,))).backward()
    layers = [*four.layers, four.head]
    zeros = room["patient_6"](2, 4, 3)
    loss(torch.tanh(x.float() @ zeros[0] + zeros[1]) @ zeros[2] + zeros[3], labels).backward()
    ends = torch.nn.Linear(64, 32).double(), torch.nn.Linear(32, 10).double()
    loss(ends[1](room["Patient7"].apply(ends[0](room["pixels"][:320]))), room["digits"][:320]).backward()
    given = (
        {"w": w}, {"w1": hidden, "w2": w2}, {"w": three},
        {f"{kind}{n + 1}": p for n, layer in enumerate(layers) for kind, p in (("w", layer.weight), ("b", layer.bias))},
        {"w": w}, dict(zip(("w1", "b1", "w2", "b2"), zeros, strict=True)),
        {"w1": ends[0].weight, "b1": ends[0].bias, "w2": ends[1].weight, "b2": ends[1].bias},
    )  # fmt: skip
    return [{name: None if p.grad is None else p.grad.norm().item() for name, p in each.items()} for each in given]


def all_losses(room: dict[str, Any]) -> list[list[float]]:
    """The losses of each patient of lesson 13."""
    x, t, start = room["x"], room["t"], room["start"]
    labels = torch.tensor([0, 1, 0, 2, 1])
    hidden = torch.tensor([[0.3, -0.2, 0.5], [0.1, 0.4, -0.3]]).double().requires_grad_()
    three = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    torch.manual_seed(0)
    four = room["Patient4"]()
    inputs, answers = torch.randn(20, 3), torch.randint(0, 2, (20,))
    w1, b1, w2, b2 = room["patient_6"](2, 4, 3)
    pixels, digits = room["pixels"][:320], room["digits"][:320]
    first, last = torch.nn.Linear(64, 32).double(), torch.nn.Linear(32, 10).double()
    loss = torch.nn.functional.cross_entropy
    return [
        room["patient_1"](start(0.1, -0.2), x, t, 40),
        room["patient_2"](hidden, start(0.2, -0.1, 0.3), x, t, 300),
        room["patient_3"](three, x, labels, 300),
        trained(four.parameters(), lambda: loss(four(inputs), answers), 0.1, 100),
        room["patient_5"](start(0.1, -0.2), x, t, 40),
        trained((w1, b1, w2, b2), lambda: loss(torch.tanh(x.float() @ w1 + b1) @ w2 + b2, labels), 0.5, 60),
        trained([*first.parameters(), *last.parameters()],
                lambda: loss(last(room["Patient7"].apply(first(pixels))), digits), 0.5, 240),
    ]  # fmt: skip


def trained(parameters: Iterable[Any], loss: Callable[[], Any], rate: float, steps: int) -> list[float]:
    optimizer = torch.optim.SGD(parameters, lr=rate)
    losses = []
    for _ in range(steps):
        now = loss()
        optimizer.zero_grad()
        now.backward()
        optimizer.step()
        losses.append(now.item())
    return losses


# Lesson 14 -----------------------------------------------------------------------------------------------


def ladder() -> str:
    """Each result is used twice by the next."""
    parts = []
    for n, name in enumerate(("x", "y1", "y2", "y3", "y4")):
        left = 40 + 128 * n
        parts += [box(left, 76, 52, 36, PALE, 6), text(left + 26, 99, name, 15, INK, "middle")]
        ways = "1 path" if n == 4 else f"{2 ** (4 - n)} paths"
        parts.append(text(left + 26, 150, ways, 13, RUST, "middle"))
        if n < 4:
            parts += [
                path(f"M{left + 54} 86 C{left + 76} 52 {left + 104} 52 {left + 125} 84", tip="blue"),
                path(f"M{left + 54} 102 C{left + 76} 136 {left + 104} 136 {left + 125} 104", tip="blue"),
            ]
    parts.append(text(326, 34, "four operations, five boxes", 14, INK, "middle"))
    parts.append(text(326, 176, "paths from y4 back to here", 12, GREY, "middle"))
    return picture(640, 190, "A ladder of four sums: each result is used twice by the next.", *parts)


def order() -> str:
    """The nodes in the order in which they were made; every arc leads from a result back to a parent."""
    nodes = [lesson_code("14", "^class Node|^a, b = Node")["y"]]
    for node in nodes:
        nodes += [parent for parent in node.parents if parent not in nodes]
    parts = []
    for node in nodes:
        at = 80 * node.number
        parts += [box(at - 22, 88, 44, 34, SKY if node.op else PALE, 6), text(at, 110, f"{node.number}", 15, INK, "middle")]
        parts.append(text(at, 142, node.op or "input", 12, GREY, "middle"))
        for parent in node.parents:
            gap = node.number - parent.number
            parts.append(path(f"M{at - 4} 86 C{at - 4} {82 - 24 * gap} {80 * parent.number + 8} "
                              f"{82 - 24 * gap} {80 * parent.number + 8} 84", tip="blue"))  # fmt: skip
    parts += [path("M480 164 H160", RUST, 2.5, "7 5", "rust"), text(320, 184, "newest first", 13, RUST, "middle")]
    return picture(640, 196, "Seven nodes in the order in which they were made; every arc leads to the left.", *parts)


def directions() -> str:
    """The same derivatives as a matrix, computed a column or a row at a time."""
    parts = []
    for left, words, filled, marked in (
        (50, "forward: one input a run", lambda i, j: SKY if j == 2 else PALE, "column"),
        (360, "backward: one output a run", lambda i, j: PEACH if i == 1 else PALE, "row"),
    ):
        parts.append(text(left + 120, 34, words, 15, INK, "middle"))
        parts += [box(left + 40 * j, 62 + 30 * i, 40, 30, filled(i, j)) for i in range(3) for j in range(6)]
        parts.append(text(left + 120, 206, f"a run computes one {marked}", 13, GREY, "middle"))
    parts += [
        path("M150 54 V162", BLUE, 2.5, tip="blue"),
        path("M606 107 H350", RUST, 2.5, "7 5", "rust"),
        text(170, 178, "columns: six inputs", 12, GREY, "middle"), text(480, 178, "rows: three outputs", 12, GREY, "middle"),
    ]  # fmt: skip
    return picture(640, 220, "One matrix of derivatives, computed column by column or row by row.", *parts)


# docs/pytorch.md -----------------------------------------------------------------------------------------


def of_pytorch(title: str) -> str:
    """What `draw` shows of the program below a title of docs/pytorch.md, in place of the program's last line."""
    section = PYTORCH.read_text(encoding="utf-8").partition(f"## {title}\n")[2]
    program = section.partition("```python\n")[2].partition("```")[0].splitlines()
    program[-1:] = ["from minigrad.viz import draw", "shown = draw(loss, grads=True)"]
    with TemporaryDirectory() as folder:
        file = Path(folder, "bug.py")  # a file, because names are read from the program's lines
        file.write_text("\n".join(program), encoding="utf-8")
        with redirect_stdout(StringIO()):
            shown = runpy.run_path(str(file))["shown"]
    layout = shown.data["layout"]
    view = layout["views"][layout["start"]]
    view["drawings"] = [min((d for d in view["drawings"] if d["w"] <= NARROW), key=lambda d: d["h"])]
    # A white card like all others: the site turns the colours of every drawing in the dark theme itself.
    return re.sub(r"@media.*?}}", "", shown.svg()) + "\n"


# The lessons' own code, and the files --------------------------------------------------------------------


def lesson_code(number: str, wanted: str) -> dict[str, Any]:
    """What the cells of a lesson that match `wanted` leave behind."""
    slug = next(name for name in notebooks.lessons() if name.startswith(number))
    left: dict[str, Any] = {"np": np, "torch": torch}
    for source in notebooks.code_cells(notebooks.read(notebooks.path("notebooks", slug))):
        if re.search(wanted, source, re.MULTILINE):
            exec(source, left)
    return left


PICTURES: dict[str, Callable[[], str]] = {
    "03_closure": closure,
    "03_net": moons_net,
    "04_who_has_what": who_has_what,
    "02_nodes": nodes,
    "07_one_entry": one_entry,
    "08_flat": flat,
    "09_bag": bag,
    "10_corners": corners,
    "10_net": net,
    "13_waiting_room": waiting_room,
    "14_directions": directions,
    "14_ladder": ladder,
    "14_order": order,
    "pytorch_nan": lambda: of_pytorch("A loss that becomes nan"),
    "pytorch_relu": lambda: of_pytorch("A relu that is off for every example"),
    "pytorch_detach": lambda: of_pytorch("A detach that was forgotten"),
    "pytorch_shared": lambda: of_pytorch("Weights that are used twice"),
}


def stored(name: str) -> Path:
    """Where a picture is kept: beside the notebooks, or beside the page that shows it."""
    return (PYTORCH.parent / "images" if name.startswith("pytorch") else HERE) / f"{name}.svg"


if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        stored(name).write_text(PICTURES[name](), encoding="utf-8")
