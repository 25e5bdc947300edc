"""The picture beside a link to the site, in messages and on other pages: a graph with its values and its gradients."""

from __future__ import annotations

import io
from typing import Any

from minigrad.viz.layout import as_text
from minigrad.viz.svg import final_gradients, line_labels

__all__ = ["SIZE", "drawn"]

SIZE = (1200, 630)
PAPER, INK, RUST, LINE = "#fdfdfc", "#1a1a1a", "#b34700", "#8a8a8a"


def drawn(data: dict[str, Any], title: str) -> bytes:
    """The graph of a stepper's data below a title, as a PNG; every node is one number."""
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch

    view = data["layout"]["views"]["full"]
    drawing = view["drawings"][-1]
    figure = Figure((SIZE[0] / 100, SIZE[1] / 100), dpi=100, facecolor=PAPER)
    figure.text(0.04, 0.86, "minigrad", fontsize=34, weight="bold", color="#0072b2")
    figure.text(0.04, 0.76, title, fontsize=22, color=INK)
    ax = figure.add_axes((0.04, 0.06, 0.92, 0.64))
    ax.set(xlim=(0, drawing["w"]), ylim=(drawing["h"], 0), aspect="equal")
    ax.axis("off")
    labels = line_labels(data, view)
    for i, line in enumerate(drawing["edges"]):
        ax.annotate("", line["b"], line["a"], arrowprops={"arrowstyle": "-|>", "color": LINE, "lw": 2.5, "mutation_scale": 22})
        x, y = ((p + q) / 2 for p, q in zip(line["a"], line["b"], strict=True))
        ax.text(x, y, labels[i], fontsize=15, color=RUST, ha="center", va="center", bbox={"fc": PAPER, "ec": "none", "pad": 2})
    final = final_gradients(data)
    for node in data["nodes"]:
        x, y, w, h = drawing["nodes"][node["id"]]
        ax.add_patch(FancyBboxPatch((x, y), w, h, "round,pad=0,rounding_size=7", fc="#fff", ec=INK, lw=2.5))
        ax.text(x + 10, y + 10, node["name"], fontsize=20, weight="bold", color=INK, va="top")
        for row, what, index, colour in ((36, "value", node["val"], INK), (54, "grad", final[node["id"]], RUST)):
            ax.text(x + 10, y + row, what, fontsize=15, color=colour, va="center")
            ax.text(x + w - 10, y + row, as_text(data["vals"][index]), fontsize=17, color=colour, va="center", ha="right")
    sink = io.BytesIO()
    figure.savefig(sink, format="png", metadata={"Software": None})
    return sink.getvalue()
