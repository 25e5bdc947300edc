"""Where the boxes of a graph go: a small layered layout, the same for every picture.

`lay_out(data)` reads a recording's plain data and returns boxes and ready-made paths. The rules a reader can
see: inputs stand left of what is made from them; operands keep their order, first on top; the longest path
runs straight and the parameters hang above and below it; an operation that uses a tensor twice gets two
lines; a long chain wraps into rows like text; a pattern that repeats (the body of a loop) can be folded into
one copy that stands for all. No recursion, no randomness: the same graph gives the same picture.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from ..record.numbers import number
from .folding import Group, folded, loops, modules

Key = Hashable
Edge = tuple[int, int, int]
Links = dict[Key, list[Key]]  # what each box and bend is joined to, one layer further

LOW, TALL = 64, 88  # of a box with numbers, of one with thumbnails
GAP_Y = 30
MARGIN = 16
STEEP = 16.0  # pixels of the gap in which a line changes its height; in the rest it runs level below its label
LETTER = 7.0  # pixels of a letter, at most
ROWS = (150, 300, 480, 640, 860, 1150, 1600)  # pixels in a row before the picture wraps: a drawing for each width of page
FEW_ROWS = (480, 1150)  # of a graph of many boxes, whose drawings are long
MANY = 60
ROOM = (1130, 560)  # width and height in which a picture starts unfolded: a notebook shows it there in readable size
MOST_BOXES = 300  # boxes that are ever drawn at once


@dataclass(slots=True)
class Graph:
    """What is laid out: boxes in an order where inputs come first, and lines with their slot."""

    ids: list[int]
    edges: list[Edge]
    width: dict[int, float] = field(default_factory=dict)
    height: float = LOW
    gap: float = 38.0  # between columns: the labels of the edges stand there
    again: list[Edge] = field(default_factory=list)  # lines of a loop, from one turn to the next

    def widest(self, column: list[Key]) -> float:
        """How wide a column of boxes and bends is."""
        return max((self.width[v] for v in column if isinstance(v, int)), default=12.0)


def lay_out(data: dict[str, Any]) -> dict[str, Any]:
    """The layout of a recording's data: `views` (`full` if there are not too many boxes, `folded` if something
    repeats), each with a drawing for every width of page, and the view to `start` with (None if there is none).
    """
    ids = [n["id"] for n in data["nodes"]]
    edges: list[Edge] = [(a, b, s) for a, b, s in data["edges"]]
    height = TALL if any(prod(n["shape"]) > 1 for n in data["nodes"]) else LOW
    width = box_widths(data)
    gap = label_room(data)
    views: dict[str, Any] = {}
    runs, groups = loops(data), modules(data)
    if len(ids) <= MOST_BOXES:
        views["full"] = {"drawings": drawings(Graph(ids, edges, width, height, gap))}
        for drawing in views["full"]["drawings"]:
            drawing["frames"] = frames(drawing, groups)
    view = folded(data, runs, groups)
    standing = sorted(set(view["rep"])) if view else []
    if view and len(standing) <= MOST_BOXES:
        lines, again = view.pop("lines"), view.pop("again")
        wide = {i: max(width[j] for j in ids if view["rep"][j] == i) for i in standing}
        for i, group in view["groups"].items():
            wide[i] = max(wide[i], min(200.0, LETTER * (1.15 * len(group["label"]) + 9) + 20))
        views["folded"] = {"drawings": drawings(Graph(standing, lines, wide, height, gap, again)), **view}
    start = "full" if "full" in views else None
    if "folded" in views and (start is None or not fits(views["full"]["drawings"])):
        start = "folded"
    return {"views": views, "start": start}


def fits(drawings: list[dict[str, Any]]) -> bool:
    """Whether one of the drawings is seen whole in a notebook."""
    return any(d["w"] <= ROOM[0] and d["h"] <= ROOM[1] for d in drawings)


def frames(drawing: dict[str, Any], groups: list[Group]) -> list[list[Any]]:
    """A frame around what one call made, where nothing else stands inside: x, y, width, height, the call."""
    found: list[list[Any]] = []
    boxes: dict[int, list[float]] = drawing["nodes"]
    for group in groups:
        inside = [boxes[i] for i in group.members]
        x, y = min(b[0] for b in inside) - 8, min(b[1] for b in inside) - 20
        right, low = max(b[0] + b[2] for b in inside) + 8, max(b[1] + b[3] for b in inside) + 8
        others = (b for i, b in boxes.items() if i not in group.members)
        if not any(b[0] < right and x < b[0] + b[2] and b[1] < low and y < b[1] + b[3] for b in others):
            found.append([x, y, right - x, low - y, group.label])
    return found


def box_widths(data: dict[str, Any]) -> dict[int, float]:
    """The width of each node's box: wide enough for all that it will show."""
    shown = {n["id"]: {n["val"]} for n in data["nodes"]}
    for move in data["steps"]:
        if move["kind"] == "send":
            shown[move["parent"]].add(move["after"])
    values = {i: [data["vals"][v] for v in some if v is not None] for i, some in shown.items()}
    return {n["id"]: box_width(n, values[n["id"]]) for n in data["nodes"]}


def box_width(node: dict[str, Any], values: list[Any]) -> float:
    """Wide enough for the name and the operation, the value and the gradients, within limits."""
    own = node["symbol"] * (node["symbol"] != node["name"].partition(" (")[0])
    tag = "data" if not node["rg"] else "leaf" if node["leaf"] else own
    longest = max(1.15 * len(label(node["name"])) + min(9, len(tag)) + 1, 13)
    for value in values:
        if isinstance(value, dict):
            text = brief(value, 18)
            longest = max(longest, len(text), 0 if text[0] == "[" else len(size_of(value)) + 3)
    return float(min(200, round(LETTER * longest + 20)))


def label_room(data: dict[str, Any]) -> float:
    """The gap between columns that the labels of the edges need: local derivatives, and what travels back."""
    longest = 4
    for move in data["steps"]:
        if move["kind"] == "send":
            value = data["vals"][move["contrib"]]
            sent = size_of(value) if isinstance(value, dict) else as_text(value)
            longest = max(longest, len(move["edge"]) - 1, len(sent))
    return float(min(96, max(48, LETTER * longest + 22)))


def brief(value: Any, room: int = 24) -> str:
    """A pooled value in at most so many letters: a number, a short list, else the shape."""
    if not isinstance(value, dict):
        return as_text(value)
    if len(value["s"]) == 1 and len(value["d"]) == value["s"][0]:
        text = "[" + ", ".join(as_text(x) for x in value["d"]) + "]"
        if len(text) <= room:
            return text
    return sizes(value["s"])


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else number(value)


def sizes(shape: Sequence[int]) -> str:
    """3x4 for a matrix, (3,) for a vector: a bare 3 would read as a number."""
    return f"({shape[0]},)" if len(shape) == 1 else "\u00d7".join(map(str, shape))


def size_of(value: dict[str, Any]) -> str:
    """How large the numbers of an array are together, in few letters: its norm."""
    norm = value["norm"]
    if not isinstance(norm, str):
        norm *= 1 + 1e-9  # a tie goes up, as in JavaScript
        norm = number(round(norm) if norm >= 100 else float(f"{norm:.{2 if norm >= 0.01 else 1}g}"))
    return f"size {norm}"


def label(name: str, limit: int = 18) -> str:
    return name if len(name) <= limit else name[: limit - 1] + "\u2026"


# ---------------------------------------------------------------- one drawing
def drawings(graph: Graph) -> list[dict[str, Any]]:
    """One drawing for each width of page, without repetition; the narrowest first."""
    layer = layers(graph)
    chains, down, up, nodes = split_long(graph, layer)
    order = ordered(graph, layer, down, up, nodes)
    y = heights(order, down, up, longest_path(graph, layer), graph)
    made = []
    widths = ROWS if len(graph.ids) <= MANY else FEW_ROWS
    counts = sorted({row_count(graph, order, width) for width in widths}, reverse=True)
    for rows in counts:
        boxes, row_of, size = wrapped(graph, layer, order, y, nodes, rows)
        lines = routed(graph, chains, boxes, row_of, size)
        shown = {i: [round(v, 1) for v in boxes[i]] for i in graph.ids}
        wide, high, _ = size
        for line in returning(graph, boxes, row_of):
            wide, high = max(wide, line["a"][0] + 30), max(high, line.pop("low") + MARGIN)
            lines.append(line)
        made.append({"w": round(wide, 1), "h": round(high, 1), "rows": rows, "nodes": shown, "edges": lines})
    return made


def row_count(graph: Graph, order: list[list[Key]], width: int) -> int:
    """Into how many rows the picture is cut for a page of this width."""
    total = sum(graph.widest(column) + graph.gap for column in order) - graph.gap
    return 1 if total <= width else min(len(order), -(-int(total) // width))


def layers(graph: Graph) -> dict[Key, int]:
    """Longest distance from an input; an input stands just left of its first user."""
    parents, users = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for a, b, _ in graph.edges:
        parents[b].append(a)
        users[a].append(b)
    layer: dict[Key, int] = {}
    for i in graph.ids:
        layer[i] = 1 + max((layer[p] for p in parents[i]), default=-1)
    for i in graph.ids:
        if not parents[i] and users[i]:
            layer[i] = min(layer[u] for u in users[i]) - 1
    return layer


def split_long(
    graph: Graph, layer: dict[Key, int]
) -> tuple[dict[tuple[int, int], list[Key]], Links, Links, list[Key]]:
    """Lines that jump over layers get a bend in each of them, so that they find a way between the boxes."""
    chains: dict[tuple[int, int], list[Key]] = {}
    down: Links = defaultdict(list)
    up: Links = defaultdict(list)
    nodes: list[Key] = list(graph.ids)
    for a, b, _ in sorted(graph.edges, key=lambda e: (e[1], e[2])):
        if (a, b) in chains:
            continue
        chain: list[Key] = [a]
        for level in range(layer[a] + 1, layer[b]):
            bend = ("bend", a, b, level)
            layer[bend] = level
            nodes.append(bend)
            chain.append(bend)
        chain.append(b)
        chains[a, b] = chain
        for p, q in itertools.pairwise(chain):
            down[p].append(q)
            up[q].append(p)
    return chains, down, up, nodes


def ordered(
    graph: Graph, layer: dict[Key, int], down: Links, up: Links, nodes: list[Key], sweeps: int = 12
) -> list[list[Key]]:
    """The boxes of each layer from top to bottom: in the order of the operands, swapped only to uncross lines."""
    order: list[list[Key]] = [[] for _ in range(max(layer.values()) + 1)]
    seen: set[Key] = set()
    for start in [*reversed(graph.ids), *nodes]:
        stack: list[Key] = [start]
        while stack:
            v = stack.pop()
            if v not in seen:
                seen.add(v)
                order[layer[v]].append(v)
                stack.extend(reversed(up[v]))
    best, fewest = [list(row) for row in order], crossings(order, down)
    for sweep in range(sweeps):
        if not fewest:
            break
        forward = sweep % 2 == 0
        levels = range(1, len(order)) if forward else range(len(order) - 2, -1, -1)
        for level in levels:
            near = {v: i for i, v in enumerate(order[level - 1 if forward else level + 1])}
            order[level] = by_median(order[level], up if forward else down, near)
        swap_neighbours(order, up, down)
        now = crossings(order, down)
        if now < fewest:
            best, fewest = [list(row) for row in order], now
    return best


def by_median(row: list[Key], linked: Links, near: dict[Key, int]) -> list[Key]:
    def middle(place: tuple[int, Key]) -> float:
        i, v = place
        at = sorted(near[u] for u in linked[v])
        return (at[len(at) // 2] + at[(len(at) - 1) // 2]) / 2 if at else float(i)

    return [v for _, v in sorted(enumerate(row), key=middle)]


def swap_neighbours(order: list[list[Key]], up: Links, down: Links) -> None:
    at = {v: i for row in order for i, v in enumerate(row)}
    for row in order:
        for i in range(len(row) - 1):
            a, b = row[i], row[i + 1]
            kept = sum(at[p] > at[q] for link in (up, down) for p in link[a] for q in link[b])
            swapped = sum(at[q] > at[p] for link in (up, down) for p in link[a] for q in link[b])
            if swapped < kept:
                row[i], row[i + 1] = b, a
                at[a], at[b] = i + 1, i


def crossings(order: list[list[Key]], down: Links) -> int:
    """How many pairs of lines cross: each line, with those above it that end below it."""
    total = 0
    for row, below in itertools.pairwise(order):
        at = {v: i for i, v in enumerate(below)}
        ends: list[int] = []
        for end in (k for v in row for k in sorted(at[w] for w in down[v])):
            total += len(ends) - bisect_right(ends, end)
            insort(ends, end)
    return total


def longest_path(graph: Graph, layer: dict[Key, int]) -> set[Key]:
    """The nodes of the longest path that ends in the last node; of equals the first operand's."""
    parents: dict[int, list[tuple[int, int]]] = defaultdict(list)
    depth: dict[int, int] = {}
    for a, b, s in graph.edges:
        parents[b].append((s, a))
    for i in graph.ids:
        depth[i] = 1 + max((depth[p] for _, p in parents[i]), default=0)
    path: set[Key] = set()
    at: int | None = graph.ids[-1] if graph.ids else None
    while at is not None:
        path.add(at)
        at = min(parents[at], key=lambda sp: (-depth[sp[1]], sp[0]))[1] if parents[at] else None
    return path


def heights(order: list[list[Key]], down: Links, up: Links, spine: set[Key], graph: Graph) -> dict[Key, float]:
    """The middle of each box: pulled towards its neighbours, the longest path pinned to one line."""
    real = set(graph.ids)

    def gap(v: Key) -> float:
        return graph.height + GAP_Y if v in real else 22.0

    y: dict[Key, float] = {}
    for row in order:
        y.update(zip(row, offsets(row, gap)))
    for sweep in range(14):
        levels: Iterable[list[Key]] = order if sweep % 2 else reversed(order)
        for row in levels:
            wanted, weight = [], []
            for v in row:
                near = up[v] + down[v] if sweep > 3 else (up[v] if sweep % 2 else down[v])
                wanted.append(0.0 if v in spine else sum(y[u] for u in near) / len(near) if near else y[v])
                weight.append(1000.0 if v in spine else 1.0)
            spread(row, wanted, weight, gap, y)
    return {v: float(round(at)) for v, at in y.items()}


def offsets(row: list[Key], gap: Callable[[Key], float]) -> list[float]:
    """How far below the first box each one stands at least."""
    return [*itertools.accumulate(((gap(a) + gap(b)) / 2 for a, b in itertools.pairwise(row)), initial=0.0)]


def spread(
    row: list[Key], wanted: list[float], weight: list[float], gap: Callable[[Key], float], y: dict[Key, float]
) -> None:
    """As near to the wanted heights as order and distance allow (pool adjacent violators)."""
    offset = offsets(row, gap)
    blocks: list[list[float]] = []  # sum of weighted wishes, weight, how many
    for want, w, base in zip(wanted, weight, offset):
        blocks.append([(want - base) * w, w, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            s, w2, n = blocks.pop()
            blocks[-1][0] += s
            blocks[-1][1] += w2
            blocks[-1][2] += n
    i = 0
    for s, w, n in blocks:
        for _ in range(int(n)):
            y[row[i]] = s / w + offset[i]
            i += 1


# ---------------------------------------------------------------- rows
def wrapped(
    graph: Graph, layer: dict[Key, int], order: list[list[Key]], y: dict[Key, float], nodes: list[Key], rows: int
) -> tuple[dict[Key, list[float]], dict[Key, int], tuple[float, float, list[float]]]:
    """Cut the picture into so many rows. Gives boxes, the row of each node, and the size."""
    count = len(order)
    per = -(-count // rows)
    real = set(graph.ids)
    row_of: dict[Key, int] = {v: layer[v] // per for v in nodes}
    inputs = real - {b for _, b, _ in graph.edges}
    first_user: dict[int, int] = {}
    for a, b, _ in graph.edges:
        first_user[a] = min(first_user.get(a, layer[b]), layer[b])
    for i in inputs & set(first_user):
        row_of[i] = first_user[i] // per  # a parameter goes to the row of its user, in a column of its own
    boxes: dict[Key, list[float]] = {}
    tops: list[float] = []
    top, widest = float(MARGIN), 0.0
    for r in range(rows):
        members = [v for v in nodes if row_of[v] == r]
        if not members:
            continue
        low = min(y[v] - (graph.height / 2 if v in real else 11) for v in members)
        high = max(y[v] + (graph.height / 2 if v in real else 11) for v in members)
        x = float(MARGIN + (graph.gap if r else 0))
        for level in range(r * per - 1, (r + 1) * per):
            column = [v for v in members if layer[v] == level]
            if not column:
                continue
            width = graph.widest(column)
            for v in column:
                w = graph.width[v] if isinstance(v, int) else width  # a bend runs level past the whole column
                h = float(graph.height if v in real else 0)
                boxes[v] = [x + (width - w) / 2, top + y[v] - low - h / 2, w, h]
            x += width + graph.gap
        widest = max(widest, x - graph.gap + (26 if r < rows - 1 else 0))
        tops.append(top)
        top += high - low + (44 if r < rows - 1 else 0)
    tops.append(top + 30)
    return boxes, row_of, (widest + MARGIN, top + MARGIN, tops)


def routed(
    graph: Graph,
    chains: dict[tuple[int, int], list[Key]],
    boxes: dict[Key, list[float]],
    row_of: dict[Key, int],
    size: tuple[float, float, list[float]],
) -> list[dict[str, Any]]:
    """The path of every line, from the right side of its tensor to its slot on the left side of the user."""
    slots = slots_of(graph.edges)
    lines: list[dict[str, Any]] = []
    used: dict[int, int] = defaultdict(int)
    for a, b, s in graph.edges:
        xa, ya, wa, ha = boxes[a]
        xb, yb, _, hb = boxes[b]
        end = (xb, yb + hb / 2 + port(slots[b], s, hb))
        points = [(xa + wa, ya + ha / 2)]
        previous = row_of[a]
        for v in [*chains[a, b][1:-1], b]:
            x, y = end if v == b else (boxes[v][0], boxes[v][1])
            if row_of[v] != previous:
                lane = used[previous]
                used[previous] += 1
                right = size[0] - 8 - 5 * (lane % 4)
                below = size[2][row_of[v]] - 30 + 7 * (lane % 4)
                left = 8.0 + 5 * (lane % 4)
                points += [(right, points[-1][1]), (right, below), (left, below), (left, y)]
                previous = row_of[v]
            points.append((x, y))
            if v != b:
                points.append((x + boxes[v][2], y))
            elif graph.gap > STEEP and points[-2][0] < x - graph.gap + STEEP < x:
                points.insert(-1, (x - graph.gap + STEEP, y))  # level below its label
        lines.append({"d": path(points), "a": [round(v, 1) for v in points[0]], "b": [round(v, 1) for v in end]})
    return lines


def slots_of(edges: list[Edge]) -> dict[int, list[int]]:
    """The slots of each box at which lines arrive, from top to bottom."""
    used = sorted({(b, s) for _, b, s in edges})
    return {b: [s for _, s in group] for b, group in itertools.groupby(used, lambda each: each[0])}


def port(slots: list[int], slot: int, height: float) -> float:
    """How far below the middle of its box a line arrives: the labels of two lines do not touch."""
    step = min(37.0, (height - 16) / max(1, len(slots) - 1))
    return (slots.index(slot) - (len(slots) - 1) / 2) * step


def returning(graph: Graph, boxes: dict[Key, list[float]], row_of: dict[Key, int]) -> Iterator[dict[str, Any]]:
    """The lines of loops: out on the right, back below all boxes between, and in on the left."""
    slots = slots_of([*graph.edges, *graph.again])
    for a, b, s in graph.again:
        (xa, ya, wa, ha), (xb, yb, _, hb) = boxes[a], boxes[b]
        x0, y0, x1, y1 = xa + wa, ya + ha / 2, xb, yb + hb / 2 + port(slots[b], s, hb)
        near = [boxes[v] for v in graph.ids if row_of[v] in (row_of[a], row_of[b])]
        inside = [box for box in near if min(xa, xb) - 20 < box[0] + box[2] and box[0] < max(x0, xb) + 20]
        low = max(y + h for _, y, _, h in inside) + 18
        out = f"M{x0:.1f} {y0:.1f}C{x0 + 26:.1f} {y0:.1f} {x0 + 26:.1f} {low:.1f} {x0 + 6:.1f} {low:.1f}"
        d = f"{out}L{x1 - 6:.1f} {low:.1f}C{x1 - 32:.1f} {low:.1f} {x1 - 32:.1f} {y1:.1f} {x1:.1f} {y1:.1f}"
        start, end = (x0, y0), (x1, y1)
        yield {"d": d, "a": [round(v, 1) for v in start], "b": [round(v, 1) for v in end], "low": low}


def path(points: Sequence[tuple[float, float]]) -> str:
    """A smooth line that leaves and arrives level; straight across gutters."""
    level = [a[1] == b[1] == c[1] and a[0] <= b[0] <= c[0] for a, b, c in zip(points, points[1:], points[2:], strict=False)]
    points = [p for p, between in zip(points, [False, *level, False], strict=True) if not between]
    text = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if x1 <= x0 or abs(y1 - y0) < 0.5:
            text.append(f"L{x1:.1f} {y1:.1f}")
        else:
            bend = min(40.0, (x1 - x0) / 2)
            text.append(f"C{x0 + bend:.1f} {y0:.1f} {x1 - bend:.1f} {y1:.1f} {x1:.1f} {y1:.1f}")
    return "".join(text)
