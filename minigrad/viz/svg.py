"""The still picture: a recording's plain data and its layout as SVG text.

A pure function: the same data give the same bytes, with no ids, times or scripts. The picture brings its own
background, so it is legible on a light and on a dark page, and follows the reader's dark preference where the
viewer tells it. Everything in it is also said in words by `describe`, which becomes the alternative text.
"""

from __future__ import annotations

from html import escape
from typing import Any

from ..record.numbers import number
from .layout import label, sizes

STYLE = (
    "text{font:11px system-ui,'Segoe UI','DejaVu Sans',Arial,sans-serif;fill:#1a1a1a}"
    ".name{font-size:12.5px;font-weight:600}.op{font-family:'DejaVu Sans Mono',Consolas,monospace;font-size:12px}"
    ".page{fill:#fff}.box{fill:#fff;stroke:#1a1a1a;stroke-width:1.5}.leaf{stroke:#0072b2;stroke-width:3}"
    ".cut{stroke:#767676;stroke-dasharray:2 3}"
    ".off text{paint-order:stroke;stroke:#fff;stroke-width:4px}"
    ".hatch{stroke:#767676;opacity:.5;fill:none}.wire{fill:none;stroke:#767676;"
    "stroke-width:1.5}.wire.off{stroke-dasharray:2 4}.tip{fill:#767676}.grad{fill:#b34700;font-weight:600}"
    ".scissors{stroke:#1a1a1a;fill:#fff;stroke-width:1.4}"
    "@media(prefers-color-scheme:dark){text{fill:#fff}.page,.scissors{fill:#212121}.scissors{stroke:#fff}"
    ".box{fill:#2a2a2a;stroke:#fff}.off text{stroke:#2a2a2a}.leaf{stroke:#56b4e9}.cut{stroke:#9a9a9a}.hatch{stroke:#9a9a9a}"
    ".wire{stroke:#9a9a9a}.tip{fill:#9a9a9a}.grad{fill:#ff8a3d}}"
)


def picture(data: dict[str, Any], grads: bool = True) -> str:
    """The graph as an SVG document. `grads` adds the gradient that arrived at each tensor."""
    layout = data["layout"][data["layout"]["start"]]
    boxes: dict[int, list[float]] = layout["nodes"]
    words = escape(describe(data), quote=True)
    w, h = layout["w"], layout["h"]
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w:g}" height="{h:g}" viewBox="0 0 {w:g} {h:g}" role="img" '
        f'aria-label="{words}"><title>Graph of {escape(data["nodes"][data["root"]]["name"])}</title><desc>{words}</desc>'
        f'<style>{STYLE}</style><rect class="page" width="{w:g}" height="{h:g}" rx="6"/>'
    ]
    off = cut_lines(data, layout)
    for i, line in enumerate(layout["edges"]):
        x, y = line["b"]
        out.append(
            f'<path class="wire{" off" if i in off else ""}" d="{line["d"]}"/>'
            f'<path class="tip" d="M{x:g} {y:g}l-7 -4v8z"/>'
        )
    final = final_gradients(data) if grads else {}
    for node in data["nodes"]:
        if node["id"] in boxes:
            group = layout["turn"][node["id"]] if node["id"] in layout.get("stacked", ()) else None
            many = layout["turns"][group[0]] if group else 1
            out.append(box(node, boxes[node["id"]], data["vals"], final.get(node["id"]), many))
    for i, line in enumerate(layout["edges"]):
        if i in off:
            x, y = (line["a"][0] + line["b"][0]) / 2, (line["a"][1] + line["b"][1]) / 2
            out.append(
                f'<g class="scissors" transform="translate({x:g} {y:g})"><path d="M8 -6L-4 3M8 6L-4 -3"/>'
                '<circle cx="-7" cy="4.5" r="3"/><circle cx="-7" cy="-4.5" r="3"/></g>'
            )
    out.append("</svg>")
    return "".join(out)


def box(node: dict[str, Any], place: list[float], vals: list[Any], grad: int | None, many: int) -> str:
    """One tensor: its name, the operation and value, its gradient. A box that stands for many has others
    behind it.
    """
    x, y, w, h = place
    kind = "box leaf" if node["leaf"] else "box" if node["rg"] else "box cut"
    group = "" if node["rg"] else ' class="off"'
    out = [f'<g{group} transform="translate({x:g} {y:g})">']
    for shift in (6, 3, 0) if many > 1 else (0,):
        out.append(f'<rect class="{kind}" x="{shift}" y="{shift}" width="{w:g}" height="{h:g}" rx="7"/>')
    if many > 1:
        out.append(f'<text x="{w - 8:g}" y="49" text-anchor="end">\u00d7{many}</text>')
    if not node["rg"]:
        out.append(f'<path class="hatch" d="{hatching(w, h)}"/>')
    room = int((w - 20) / 7.3)
    value = node["val"] is not None and not isinstance(vals[node["val"]], dict)
    second = "= " + brief(vals[node["val"]]) if value else sizes(node["shape"])
    lines = [("name", label(node, room)), ("op", "  ".join(t for t in (node["symbol"], second) if t)[:room])]
    if not node["rg"]:
        lines.append(("", "no gradient"))
    elif grad is not None:
        lines.append(("grad", ("grad " + brief(vals[grad], room - 5))[: room + 1]))
    for i, (style, text) in enumerate(lines):
        out.append(
            f'<text class="{style}" x="10" y="{17 + 16 * i}" xml:space="preserve">{escape(text)}</text>'
        )
    out.append("</g>")
    return "".join(out)


def hatching(w: float, h: float) -> str:
    """Slanted lines over a box, drawn one by one: a pattern would need an id."""
    lines = []
    x = 12.0
    while x < w + h:
        lines.append(f"M{min(x, w):g} {max(0.0, x - w):g}L{max(0.0, x - h):g} {min(x, h):g}")
        x += 12
    return "".join(lines)


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


def cut_lines(data: dict[str, Any], layout: dict[str, Any]) -> set[int]:
    """The drawn lines that carry no gradient."""
    needs = {n["id"]: n["rg"] for n in data["nodes"]}
    which = layout.get("line", range(len(data["edges"])))
    return {i for i, (a, _, _) in zip(which, data["edges"]) if not needs[a]}


def final_gradients(data: dict[str, Any]) -> dict[int, int]:
    """The pooled gradient of each tensor at the end of the pass; a Function of several outputs has no one gradient."""
    final: dict[int, int] = {}
    for step in data["steps"]:
        if step["kind"] in ("seed", "share", "end"):
            final[step["node"]] = step["up"]
        elif step["kind"] == "leaf":
            final[step["node"]] = step["after"]
    several = {step["parent"] for step in data["steps"] if step.get("how") == "slot"}
    return {node: grad for node, grad in final.items() if node not in several}


def describe(data: dict[str, Any]) -> str:
    """The graph in one or two sentences, for those who do not see it."""
    nodes = data["nodes"]
    leaves = [n["name"] for n in nodes if n["leaf"]]
    made = [n for n in nodes if n["rg"] and not n["leaf"]]
    root = nodes[data["root"]]["name"]
    chain = "; ".join(f"{n['name']} from {' and '.join(inputs(data, n['id']))}" for n in made[:12])
    more = f"; and {len(made) - 12} more" if len(made) > 12 else ""
    turns = data["layout"][data["layout"]["start"]].get("turns", ())
    loop = "".join(f" Stacked boxes stand for {n} turns of a loop." for n in turns)
    return (
        f"Graph of {root}: {len(made)} operations on {', '.join(leaves[:6]) or 'no leaf'}"
        f"{' and others' if len(leaves) > 6 else ''}. {chain}{more}.{loop}"
    )


def inputs(data: dict[str, Any], node: int) -> list[str]:
    names = {n["id"]: n["name"] for n in data["nodes"]}
    return [names[a] for a, b, _ in data["edges"] if b == node] or ["nothing"]
