"""The still picture: a recording's plain data and its layout as SVG text.

A pure function: the same data give the same bytes, with no ids, times or scripts. The picture brings its own
background, so it is legible on a light and on a dark page, and follows the reader's dark preference where the
viewer tells it. Everything in it is also said in words by `describe`, which becomes the alternative text.
"""

from __future__ import annotations

from html import escape
from math import prod
from typing import Any

from .layout import LOW, as_text, brief, label, size_of, sizes

STYLE = (
    "text{font:12px system-ui,'Segoe UI','DejaVu Sans',Arial,sans-serif;fill:#1a1a1a}"
    ".name{font-size:13px;font-weight:600}.num,.tag{font-family:'DejaVu Sans Mono',Consolas,monospace}"
    ".label,.tag{fill:#6b6b6b}.grad{fill:#b34700;font-weight:600}"
    ".page{fill:#fff}.box{fill:#fff;stroke:#1a1a1a;stroke-width:1.5}.leaf{stroke-width:2.5}"
    ".sheet{fill:#f1f1ee;stroke:#6b6b6b}.rim{fill:none;stroke:#8a8a8a}"
    ".frame{fill:none;stroke:#8a8a8a;stroke-dasharray:5 4}.wire{fill:none;stroke:#8a8a8a;stroke-width:1.5}.tip{fill:#8a8a8a}"
    ".wire.plain{stroke-dasharray:1 4;stroke-linecap:round}.wire.cut{stroke-dasharray:2 4}"
    ".local{fill:#6b6b6b;paint-order:stroke;stroke:#fff;stroke-width:5px}"
    ".scissors{stroke:#1a1a1a;fill:#fff;stroke-width:1.6}"
    "@media(prefers-color-scheme:dark){text{fill:#fff}.label,.tag,.local{fill:#a8a8a8}.grad{fill:#ff8a3d}"
    ".page{fill:#212121}.box{fill:#2a2a2a;stroke:#fff}.sheet{fill:#33332f;stroke:#a8a8a8}"
    ".local{stroke:#212121}.scissors{stroke:#fff;fill:#212121}}"
)
Data = dict[str, Any]
WIDEST = 1200  # pixels of a still picture: the widest drawing up to that


def drawing_of(layout: dict[str, Any]) -> dict[str, Any]:
    """The drawing of a layout that suits a page: the one with the fewest rows that is not too wide."""
    drawings: list[dict[str, Any]] = layout["views"][layout["start"]]["drawings"]
    return next((d for d in reversed(drawings) if d["w"] <= WIDEST), drawings[0])


def picture(data: dict[str, Any], grads: bool = True) -> str:
    """The graph as an SVG document, with values. `grads` adds the gradients and local derivatives."""
    view, layout = data["layout"]["views"][data["layout"]["start"]], drawing_of(data["layout"])
    boxes: dict[int, list[float]] = layout["nodes"]
    words = escape(describe(data), quote=True)
    w, h, found = layout["w"], layout["h"], faults(data) if grads else []
    h += 20 * len(found)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w:g}" height="{h:g}" viewBox="0 0 {w:g} {h:g}" role="img" '
        f'aria-label="{words}"><title>Graph of {escape(data["nodes"][data["root"]]["name"])}</title><desc>{words}</desc>'
        f'<style>{STYLE}</style><rect class="page" width="{w:g}" height="{h:g}" rx="6"/>'
    ]
    for x, y, width, height, text in layout.get("frames", ()):
        out.append(f'<rect class="frame" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="9"/>')
        out.append(written("label", x + 8, y + 13, text))
    groups = view.get("groups", {})
    kinds, labels = line_kinds(data, view), line_labels(data, view) if grads else {}
    for i, line in enumerate(layout["edges"]):
        x, y = line["b"]
        out.append(
            f'<path class="wire {kinds.get(i, "")}" d="{line["d"]}"/><path class="tip" d="M{x:g} {y:g}l-7 -4v8z"/>'
        )
    for i, line in enumerate(layout["edges"]):
        x, y = line["b"]
        out.append(written("local num", x - 9, y - 5, labels.get(i, ""), end=True))
    final = final_gradients(data) if grads else {}
    for node in data["nodes"]:
        if node["id"] in boxes:
            group = view["turn"][node["id"]] if node["id"] in view.get("stacked", ()) else None
            many = view["turns"][group[0]] if group else 1
            out.append(box(node, boxes[node["id"]], data["vals"], final.get(node["id"]), many, grads, groups.get(node["id"])))
    for i, line in enumerate(layout["edges"]):
        if kinds.get(i) == "cut":
            x, y = (line["a"][0] + line["b"][0]) / 2, (line["a"][1] + line["b"][1]) / 2
            out.append(
                f'<g class="scissors" transform="translate({x:g} {y:g})"><path d="M8 -6L-4 3M8 6L-4 -3"/>'
                '<circle cx="-7" cy="4.5" r="3"/><circle cx="-7" cy="-4.5" r="3"/></g>'
            )
    out += [written("grad", 14, h - 20 * i - 10, text) for i, text in enumerate(reversed(found))]
    out.append("</svg>")
    return "".join(out)


def faults(data: dict[str, Any]) -> list[str]:
    """The contributions that are not what the rule gives, with both numbers; the first three."""
    names, vals, said = [node["name"] for node in data["nodes"]], data["vals"], []
    for move in data["steps"]:
        check = move.get("check") or {"verdict": "agrees"}
        if check["verdict"] != "agrees":
            yours = "yours differs" if check["yours"] is None else f"yours is {brief(vals[check['yours']])}"
            way = f"{names[move['node']]} \u2192 {names[move['parent']]}"
            said.append(f"{way}: {move['rule']} = {brief(vals[move['contrib']])}; {yours}")
    return said[:3]


def written(style: str, x: float, y: float, text: str, end: bool = False) -> str:
    anchor = ' text-anchor="end"' if end else ""
    space = ' xml:space="preserve"' if "  " in text else ""
    return f'<text class="{style}" x="{x:g}" y="{y:g}"{anchor}{space}>{escape(text)}</text>' if text else ""


def box(
    node: Data, place: list[float], vals: list[Any], grad: int | None, many: int, grads: bool, group: Data | None
) -> str:
    """One tensor: its name and operation, its value, its gradient. A box that stands for many has others behind it."""
    x, y, w, h = place
    tall = h > LOW
    kind = "box leaf" if node["leaf"] else "box"
    out = [f'<g transform="translate({x:g} {y:g})">']
    for shift in (6, 3) if many > 1 or group else ():
        out.append(f'<rect class="{kind}" x="{shift}" y="{shift}" width="{w:g}" height="{h:g}" rx="7"/>')
    if node["rg"]:
        out.append(f'<rect class="{kind}" width="{w:g}" height="{h:g}" rx="7"/>')
    else:
        out.append(f'<path class="sheet" d="M0 0H{w - 12:g}L{w:g} 12V{h:g}H0Z M{w - 12:g} 0V12H{w:g}"/>')
    tag = node.get("cut") or "data" if not node["rg"] else "leaf" if node["leaf"] else node["symbol"]
    tag = f"\u00d7 {many}" if many > 1 else "" if tag == node["name"].partition(" (")[0] else tag[:9]
    name = group["label"] if group else node["name"]
    tag = f"{len(group['members'])} nodes" if group else tag
    room = max(3, int((w - 24 - 7 * len(tag)) / 8))
    out.append(written("name", 10, 19, label(name, room)))
    out.append(written("tag", w - (9 if node["rg"] else 16), 19, tag, end=True))
    if many == 1:
        out.append(row("value", "num", None if node["val"] is None else vals[node["val"]], w, 24 if tall else 37, tall))
        if node["val"] is None:
            out.append(written("label", 10, 42 if tall else 37, sizes(node["shape"]) if node["shape"] else "value not saved"))
        if node["rg"] and grads:
            out.append(row("grad", "num grad", None if grad is None else vals[grad], w, 55, tall))
    out.append("</g>")
    return "".join(out)


def row(label: str, style: str, value: Any, w: float, y: float, tall: bool) -> str:
    """A value or a gradient in a box: a number, a short list, else a thumbnail with shape and size."""
    if value is None:
        return ""
    one = single(value)
    if one is not None:
        at = y + 18 if tall else y
        return written("label", 10, at, label) + written(style, w - 10, at, one, end=True)
    text = brief(value, int((w - 20) / 7))
    if text.startswith("["):
        return written("label", 10, y + 10, label) + written(style, 10, y + 24, text)
    first = label if "grad" in style else sizes(value["s"])
    word, norm = size_of(value).split()
    sized = written("label", 44, y + 24, word) + written(style, 72, y + 24, norm)
    return thumb(value, 10, y + 1) + written(style, 44, y + 11, first) + sized


def thumb(value: dict[str, Any], x: float, y: float) -> str:
    """A heat map in small: at most 8 columns and 6 rows; blue is negative, orange positive, by its own scale."""
    rows, columns, top = min(6, value["r"]), min(8, value["c"]), value["top"]
    w = 30 / columns
    h = min(25 / rows, 2 * w)
    y += (25 - rows * h) / 2
    cells = []
    for r in range(rows):
        for c in range(columns):
            fill = tint(value["d"][r * value["r"] // rows * value["c"] + c * value["c"] // columns], top)
            place = f'x="{x + c * w:.1f}" y="{y + r * h:.1f}" width="{w:.1f}" height="{h:.1f}"'
            cells.append(f'<rect {place} fill="{fill}"/>')
    return "".join(cells) + f'<rect class="rim" x="{x:g}" y="{y:.1f}" width="30" height="{rows * h:.1f}"/>'


def tint(value: Any, top: Any) -> str:
    if not isinstance(value, (int, float)) or not isinstance(top, (int, float)):
        return "#ffd0d6"
    part = min(1.0, abs(value) / top) if top else 0.0
    goal = (122, 178, 224) if value < 0 else (250, 166, 92)
    return "#" + "".join(f"{round(255 + (c - 255) * part):02x}" for c in goal)


def single(value: Any) -> str | None:
    """The text of one number, whatever its shape; None for more numbers or none."""
    if not isinstance(value, dict):
        return as_text(value)
    return as_text(value["d"][0]) if prod(value["s"]) == 1 == len(value["d"]) else None


def line_kinds(data: dict[str, Any], view: dict[str, Any]) -> dict[int, str]:
    """The drawn lines that carry no gradient: plain data, or cut off."""
    nodes = data["nodes"]
    which = view.get("line", range(len(data["edges"])))
    return {i: "cut" if nodes[a].get("cut") else "plain" for i, (a, _, _) in zip(which, data["edges"]) if not nodes[a]["rg"]}


def line_labels(data: dict[str, Any], view: dict[str, Any]) -> dict[int, str]:
    """The local derivative along each drawn line, in the words of the stepper."""
    which = view.get("line", range(len(data["edges"])))
    lines = {(b, slot): i for i, (_, b, slot) in zip(which, data["edges"])}
    found: dict[int, str] = {}
    for move in data["steps"]:
        if move["kind"] == "send" and "rep" not in view:
            found[lines[move["node"], move["slot"]]] = move["edge"]
    return found


def final_gradients(data: dict[str, Any]) -> dict[int, int]:
    """The pooled gradient of each tensor at the end of the pass; a Function of several outputs has no one gradient."""
    final: dict[int, int] = {}
    for step in data["steps"]:
        if step["kind"] in ("seed", "send", "end"):
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
    inputs = {n["id"]: [nodes[a]["name"] for a, b, _ in data["edges"] if b == n["id"]] for n in made[:12]}
    chain = "; ".join(f"{n['name']} from {' and '.join(inputs[n['id']] or ['nothing'])}" for n in made[:12])
    more = f"; and {len(made) - 12} more" if len(made) > 12 else ""
    turns = data["layout"]["views"][data["layout"]["start"]].get("turns", ())
    loop = "".join(f" Stacked boxes stand for {n} turns of a loop." for n in turns)
    return (
        f"Graph of {root}: {len(made)} operations on {', '.join(leaves[:6]) or 'no leaf'}"
        f"{' and others' if len(leaves) > 6 else ''}. {chain}{more}.{loop}{''.join(f' {fault}.' for fault in faults(data))}"
    )
