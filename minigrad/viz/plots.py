"""Curves and heat maps, where they say more than a graph; each is a matplotlib Figure with a text of its own.

    slope, step_size            a curve, its tangent and a secant; how the error of a difference depends on h
    chain                       the derivatives of several functions in a row
    descent, learning_rates     a path on a curve; the losses of several step sizes
    loss_surface                the loss over two weights, with the path that was taken
    gradient_flow, heat         the size of each gradient, layer by layer; any table of numbers
    vector_jacobian             a row of weights times a Jacobian
    activations, product        functions beside their derivatives; one entry of a matrix product
    line, fit, curve            a line through points; the same beside its losses so far; numbers over numbers
    boundary, gallery, film     where a net divides the plane; small images; pictures in a row, with a slider

`.alt` says in words what is seen; a notebook keeps it in the picture's metadata. Each `*_slider` puts
sliders above a picture, unless `display="static"`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from html import escape
from io import BytesIO
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.text import Text

from .. import autograd
from ..record.names import callers_variables
from ..record.numbers import norm, number
from ..record.recorder import record
from ..record.recording import Recording
from ..tensor import Tensor, wrap
from .live import Film, Slider, Sliders
from .pages import image

# A picture has no ground of its own: each of these has a contrast of at least 3 to white and to a dark page.
BLUE, ORANGE, GREEN, PURPLE, GREY = "#1F7FC4", "#C75000", "#009E73", "#A85C9C", "#7C7C7C"
LEGEND: dict[str, Any] = {"facecolor": "none", "edgecolor": GREY}
STYLES = ((BLUE, "-", "o"), (ORANGE, "--", "s"), (GREEN, ":", "^"),
          (PURPLE, "-.", "D"), (BLUE, ":", "v"), (ORANGE, "-", "x"))  # fmt: skip


class Figure(MatplotlibFigure):
    """A matplotlib Figure that says in `alt` what it shows, and carries that text into the notebook."""

    alt: str = ""

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        png = self.png()
        bundle: dict[str, Any] = {"image/png": png, "text/plain": self.alt}
        if not is_static(None):  # JupyterLab shows a PNG without its words
            bundle["text/html"] = self.html(png)
        return bundle, {"image/png": {"alt": self.alt}}

    def html(self, png: bytes | None = None) -> str:
        """The picture (drawn already, or now) as an `<img>` with its words."""
        return image(self.alt, "png", self.png() if png is None else png)

    def png(self) -> bytes:
        """The picture as PNG, without date or version, so that the same numbers give the same bytes."""
        sink = BytesIO()
        self.savefig(sink, format="png", dpi=100, metadata={"Software": None, "Description": self.alt})
        return sink.getvalue()

    def draw(self, renderer: Any) -> None:
        """Draw it, with words, ticks and frames in grey where no other colour was chosen."""
        for text in self.findobj(Text):
            if text.get_color() == "black":
                text.set_color(GREY)
        for axes in self.axes:
            axes.tick_params(which="both", color=GREY, labelcolor=GREY)
            for spine in axes.spines.values():
                spine.set_edgecolor(GREY)
        super().draw(renderer)

    def __repr__(self) -> str:
        return self.alt


def figure(width: float = 6.0, height: float = 3.8) -> tuple[Figure, Any]:
    """An empty Figure of ours with one pair of axes."""
    made, axes = panels(width, height)
    ruled(axes)
    axes.set_axisbelow(True)
    return made, axes


def panels(width: float, height: float, rows: int = 1, columns: int = 1, **more: Any) -> tuple[Figure, Any]:
    """An empty Figure of ours with axes in rows and columns."""
    made = Figure(figsize=(width, height), layout="constrained", facecolor="none")
    FigureCanvasAgg(made)
    return made, made.subplots(rows, columns, **more)


def ruled(axes: Any) -> None:
    """A light grid, and neither a ground nor a frame around it."""
    axes.set_facecolor("none")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color=GREY, alpha=0.25, linewidth=0.8)


def digits(axes: Any, shown: np.ndarray[Any, Any], size: int = 10) -> None:
    """The numbers of a table, each in its cell."""
    for i, j in np.ndindex(shown.shape):
        axes.text(j, i, number(shown[i, j]), ha="center", va="center", fontsize=size, color="#111111")


def plain(value: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Numbers, an array or a tensor as a float64 array."""
    return np.asarray(value._data if isinstance(value, Tensor) else value, np.float64)


def values(f: Callable[[Any], Any], xs: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """f at each of these points, one at a time: f may be written for plain numbers or for tensors."""
    found = []
    for x in np.asarray(xs, np.float64):
        try:
            found.append(float(plain(f(float(x)))))
        except TypeError:
            found.append(float(plain(f(wrap(np.float64(x))))))
    return np.array(found)


def tints(*colours: str) -> Any:
    """A colour map through these colours: light ones, so that dark marks and digits stand out."""
    return LinearSegmentedColormap.from_list("minigrad", list(colours))


def listed(table: np.ndarray[Any, Any]) -> str:
    """The rows of a table in words."""
    return "; ".join("[" + ", ".join(map(number, row)) + "]" for row in table)


def swapped(f: Callable[[Any, Any], Any], second: float, first: Any) -> Any:
    return f(first, second)


# ---------------------------------------------------------------- slopes
def slope(
    f: Callable[[Any], Any], x: float, h: float = 0.5, span: float = 2.0, central: bool = True, name: str = "f"
) -> Figure:
    """The curve of f around x with the line through two of its points, and that line's slope.

    central: the points are x - h and x + h; else x and x + h. span: how far the curve is drawn to each side.
    """
    left, right = (x - h, x + h) if central else (x, x + h)
    low, high = values(f, [left, right])
    rise = (high - low) / (right - left)
    xs = np.linspace(x - span, x + span, 161)
    ys = values(f, xs)
    made, axes = figure()
    axes.plot(xs, ys, color=BLUE, linewidth=2, label=name)
    axes.plot(xs, low + rise * (xs - left), color=ORANGE, linestyle="--", label=f"slope {number(rise)}")
    axes.plot([left, right], [low, high], "o", color=ORANGE)
    axes.plot([left, right, right], [low, low, high], color=GREY, linewidth=1)
    margin = 0.1 * (ys.max() - ys.min() or 1.0)
    axes.set_ylim(ys.min() - margin, ys.max() + margin)
    axes.set(xlabel="x", ylabel=f"{name}(x)")
    axes.legend(**LEGEND)
    made.alt = (
        f"Curve of {name} around x = {number(x)} and the line through its points at {number(left)} and {number(right)}: "
        f"it rises by {number(high - low)} over {number(right - left)}, a slope of {number(rise)}."
    )
    return made


def moves(machines: Mapping[str, Callable[[Any], Any]], x: float) -> tuple[list[float], list[float], list[float]]:
    """x and the values that follow; each function's derivative there; the derivative of each value for x."""
    at, local, whole = [float(x)], [1.0], [1.0]
    for f in machines.values():
        nudge = 1e-6 * max(1.0, abs(at[-1]))
        value, above, below = values(f, [at[-1], at[-1] + nudge, at[-1] - nudge])
        at.append(value)
        local.append(round((above - below) / (2 * nudge), 6))
        whole.append(whole[-1] * local[-1])
    return at, local, whole


def chain(machines: Mapping[str, Callable[[Any], Any]], x: float, reach: float | None = None) -> Figure:
    """The derivative of each value in a row of functions with respect to x: {"y": f, "z": g} for z = g(f(x)).

    reach: how far the picture goes to each side.
    """
    names, (at, local, whole) = ["x", *machines], moves(machines, x)
    made, axes = figure(6.0, 0.8 + 0.72 * len(names))
    places = np.arange(len(names))
    axes.barh(places, whole, height=0.36, color=[GREY, *[BLUE] * (len(names) - 2), ORANGE])
    edge = reach or 1.25 * max(1.0, *map(abs, whole))
    parts = []
    for place, name in enumerate(names):
        words = f"d{name}/dx = {number(whole[place])}"
        if place:
            words = f"d{name}/dx = {number(whole[place - 1])} · {number(local[place])} = {number(whole[place])}"
            parts.append(words)
        side, shift = ("right", -5) if whole[place] < 0 else ("left", 5)
        axes.annotate(words, (0, place - 0.36), xytext=(shift, 0), textcoords="offset points", va="center", ha=side)
    axes.axvline(0, color=GREY, linewidth=1)
    axes.set_yticks(places, [f"{name} = {number(value)}" for name, value in zip(names, at, strict=True)])
    axes.set(xlabel="derivative with respect to x", xlim=(-edge, edge), ylim=(len(names) - 0.6, -0.65))
    made.alt = f"At x = {number(x)}: " + "; ".join(parts) + "."
    return made


def step_size(f: Callable[[Any], Any], x: float, slope: float, smallest: int = 16) -> Figure:
    """The error of the forward and of the central difference at x, for h from 0.1 down to 10 ** -smallest.

    slope: the true slope, to compare with.
    """
    hs = 10.0 ** -np.arange(1, smallest + 1)
    at = values(f, [x])[0]
    ahead, behind = values(f, x + hs), values(f, x - hs)
    errors = {"forward": np.abs((ahead - at) / hs - slope), "central": np.abs((ahead - behind) / (2 * hs) - slope)}
    made, axes = figure()
    for (label, error), (colour, line, mark) in zip(errors.items(), STYLES):
        axes.loglog(hs, np.maximum(error, 1e-17), color=colour, linestyle=line, marker=mark, markersize=4, label=label)
    axes.set(xlabel="h", ylabel="error of the slope")
    axes.legend(**LEGEND)
    best = {label: hs[int(np.argmin(error))] for label, error in errors.items()}
    made.alt = (
        f"Error of the measured slope at x = {number(x)} for h from 0.1 to 1e-{smallest}, both axes logarithmic. "
        + " ".join(
            f"The {k} difference is best at h = {number(h)}, error {number(errors[k].min())}." for k, h in best.items()
        )
        + " For a large h the curve bends away; for a small h digits are lost."
    )
    return made


def learning_rates(losses: Mapping[Any, Sequence[float]], log: bool = True) -> Figure:
    """The loss after each step, one line for each learning rate: {0.01: [...], 0.1: [...]}."""
    made, axes = figure()
    parts = []
    for i, (rate, series) in enumerate(losses.items()):
        colour, line, mark = STYLES[i % len(STYLES)]
        ys = plain(series)
        axes.plot(
            ys, color=colour, linestyle=line, marker=mark, markevery=max(1, len(ys) // 8), markersize=4, label=str(rate)
        )
        finite = ys[np.isfinite(ys)]
        end = number(finite[-1]) if len(finite) == len(ys) else "not finite"
        parts.append(f"{rate}: from {number(ys[0])} to {end}")
    if log and all((plain(s)[np.isfinite(plain(s))] > 0).all() for s in losses.values()):
        axes.set_yscale("log")
    axes.set(xlabel="step", ylabel="loss")
    axes.legend(title="learning rate", **LEGEND)
    made.alt = "Loss after each step for each learning rate. " + "; ".join(parts) + "."
    return made


def loss_surface(
    loss: Callable[[Any, Any], Any],
    x: tuple[float, float] = (-2.0, 2.0),
    y: tuple[float, float] = (-2.0, 2.0),
    path: Iterable[tuple[float, float]] = (),
    names: tuple[str, str] = ("w", "b"),
    points: int = 41,
) -> Figure:
    """A loss of two numbers as contour lines, and the path that a descent took on it.

    loss(a, b) is called with plain numbers (or tensors, if it needs those). x and y: the ranges that are drawn.
    """
    xs, ys = np.linspace(*x, points), np.linspace(*y, points)
    table = np.array([values(partial(swapped, loss, b), xs) for b in ys])
    made, axes = figure(5.6, 4.4)
    levels = np.quantile(table[np.isfinite(table)], np.linspace(0, 1, 14))
    filled = axes.contourf(xs, ys, table, levels=np.unique(levels), cmap=tints("#FFFFFF", "#7AB2E0"))
    axes.contour(xs, ys, table, levels=np.unique(levels), colors=GREY, linewidths=0.5)
    made.colorbar(filled, ax=axes, label="loss")
    low = np.unravel_index(int(np.nanargmin(table)), table.shape)
    made.alt = (
        f"Contour lines of the loss over {names[0]} from {number(x[0])} to {number(x[1])} "
        f"and {names[1]} from {number(y[0])} to {number(y[1])}; "
        f"lowest near {names[0]} = {number(xs[low[1]])}, {names[1]} = {number(ys[low[0]])}, "
        f"where it is {number(table[low])}."
    )
    steps = plain(list(path)).reshape(-1, 2)
    if len(steps):
        axes.plot(steps[:, 0], steps[:, 1], color=ORANGE, linestyle="--", marker="o", markersize=4)
        axes.plot(*steps[-1], "s", color=ORANGE, markersize=8)
        made.alt += (
            f" A path of {len(steps) - 1} steps goes from ({number(steps[0, 0])}, {number(steps[0, 1])}) "
            f"to ({number(steps[-1, 0])}, {number(steps[-1, 1])})."
        )
    axes.grid(False)
    axes.set(xlabel=names[0], ylabel=names[1], xlim=x, ylim=y)
    return made


# ---------------------------------------------------------------- gradients
def gradient_flow(loss: Any, gradient: Any = None, names: Mapping[str, Any] | None = None) -> Figure:
    """The length of the gradient at every tensor on the way back, in the order in which the walk meets them.

    loss: a tensor that has not been backwarded yet, or a Recording of it.
    """
    names = callers_variables() if names is None else names
    recording = loss if isinstance(loss, Recording) else record(loss, gradient, names)
    steps = recording.steps[-60:]
    labels = [recording.places[s.node].name for s in steps]
    sizes = np.array([norm(s.upstream) for s in steps])
    leaf = np.array([s.kind == "leaf" for s in steps])
    made, axes = figure(max(6.0, 0.28 * len(steps) + 1.5), 3.8)
    places = np.arange(len(steps))
    axes.bar(places[~leaf], sizes[~leaf], color=BLUE, label="on the way")
    axes.bar(places[leaf], sizes[leaf], color="none", edgecolor=ORANGE, hatch="//", linewidth=1.5, label="leaf")
    positive = sizes[(sizes > 0) & np.isfinite(sizes)]
    if len(positive) and positive.max() / positive.min() > 100:
        axes.set_yscale("log")
    axes.set_xticks(
        places, [t if len(t) <= 16 else t[:15] + "\u2026" for t in labels], rotation=60, ha="right", fontsize=8
    )
    axes.set(ylabel="length of the gradient")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)  # above: no bar is hidden
    smallest, largest = int(np.nanargmin(sizes)), int(np.nanargmax(sizes))
    made.alt = (
        f"Length of the gradient at {len(steps)} tensors, from {labels[0]} back to {labels[-1]}: "
        f"largest {number(sizes[largest])} at {labels[largest]}, smallest {number(sizes[smallest])} at {labels[smallest]}."
    )
    return made


def heat(table: Any, title: str = "", across: str = "column", down: str = "row") -> Figure:
    """A table of numbers as a heat map: blue below zero, white at zero, orange above; digits up to 12 x 12."""
    shown = np.atleast_2d(plain(table))
    rows, columns = shown.shape
    made, axes = figure(min(9.0, 1.6 + 0.62 * columns), min(7.0, 1.2 + 0.42 * rows))
    colours = tints("#7AB2E0", "#FFFFFF", "#FAA65C")
    top = float(np.abs(shown[np.isfinite(shown)]).max(initial=0.0)) or 1.0
    picture = axes.imshow(shown, cmap=colours, vmin=-top, vmax=top, aspect="auto")
    if rows <= 12 and columns <= 12:
        digits(axes, shown, 9)
    else:
        made.colorbar(picture, ax=axes)
    axes.grid(False)
    axes.set_xticks(range(columns) if columns <= 20 else [0, columns - 1])
    axes.set_yticks(range(rows) if rows <= 20 else [0, rows - 1])
    axes.set(xlabel=across, ylabel=down, title=title)
    where = np.unravel_index(int(np.nanargmax(np.abs(shown))), shown.shape) if shown.size else (0, 0)
    words = f"largest in size {number(shown[where])} at {down} {where[0]}, {across} {where[1]}"
    words = listed(shown) if shown.size <= 36 else words
    made.alt = f"{title or 'Table'} of {rows} by {columns} numbers: {words}."
    return made


def vector_jacobian(v: Any, table: Any) -> Figure:
    """A row v on the left of a Jacobian, and their product; each entry of v has the colour of the row that it multiplies.

    v: (m,), one weight for each output. table: (m, n), a row for each output y[i], a column for each input x[j].
    """
    weights, slopes = plain(v).reshape(1, -1), np.atleast_2d(plain(table))
    product = weights @ slopes
    outputs, inputs = slopes.shape
    colours = np.array([to_rgb(("#A9D3F2", "#FBC79A", "#A8E0CC", "#E3C4DE")[i % 4]) for i in range(outputs)])
    tinted = np.repeat(colours[:, None], inputs, axis=1)
    width, height = 1.9 + 0.62 * (outputs + 2 * inputs), 1.3 + 0.5 * outputs
    made, places = panels(width, height, 1, 3, width_ratios=[outputs, inputs, inputs])
    parts = zip(
        places, ("$v^T$", "$J$", "$v^T J$"), ("", "\u00b7", "="),
        (weights, slopes, product), (colours[None], tinted, np.full((1, inputs, 3), 0.9)), "yxx",
    )  # fmt: skip
    for axes, title, sign, shown, tint, name in parts:
        axes.imshow(tint, aspect="equal")
        digits(axes, shown)
        axes.set_title(title)
        axes.set_ylabel(sign, rotation=0, fontsize=20, ha="right", va="center")
        axes.set_xticks(range(shown.shape[1]), [f"{name}[{j}]" for j in range(shown.shape[1])])
        named = outputs if shown is slopes else 0
        axes.set_yticks(range(named), [f"y[{i}]" for i in range(named)])
        axes.tick_params(length=0)
    made.alt = f"The row {listed(weights)} times the Jacobian {listed(slopes)} is the row {listed(product)}."
    return made


def product(left: Any, right: Any, row: int, column: int) -> Figure:
    """Two matrices, their product in the corner between them, and the sum that gives one of its entries.

    left: (n, m). right: (m, p). row, column: the entry of the product that is marked.
    """
    first, second = plain(left), plain(right)
    result, (n, m), p = first @ second, first.shape, second.shape[1]
    width, height = 0.9 + 0.62 * (m + p), 0.9 + 0.5 * (n + m)
    made, grid = panels(width, height, 2, 2, width_ratios=[m, p], height_ratios=[m, n])
    sky, peach, green, pale = (to_rgb(c) for c in ("#A9D3F2", "#FBC79A", "#A8E0CC", "#EDEDED"))
    tints = [np.full((*shown.shape, 3), pale) for shown in (second, first, result)]
    tints[0][:, column], tints[1][row], tints[2][row, column] = peach, sky, green
    places = (grid[0, 1], grid[1, 0], grid[1, 1])
    for axes, shown, tint, name in zip(places, (second, first, result), tints, ("W", "X", "X @ W")):
        axes.imshow(tint, aspect="equal")
        digits(axes, shown)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_title(name, fontsize=11)
    terms = [f"{number(a)} \u00b7 {number(b)}" for a, b in zip(first[row], second[:, column], strict=True)]
    grid[0, 0].set_axis_off()
    grid[0, 0].text(0.5, 0.5, "\n+ ".join(terms) + f"\n= {number(result[row, column])}", ha="center", va="center")
    made.alt = (
        f"Row {row} of X against column {column} of W: {' + '.join(terms)} = {number(result[row, column])}, "
        f"the entry in row {row}, column {column} of X @ W."
    )
    return made


# ---------------------------------------------------------------- classes
def boundary(score: Callable[[Any], Any], points: Any, labels: Any, title: str = "", detail: int = 60) -> Figure:
    """Points of two classes, and the side on which a net puts each place of the plane.

    points: (n, 2). labels: n zeros and ones. score(places) is called with an (m, 2) tensor of the points' dtype and
    gives one number for each place, above zero for class 1, or two scores, the larger for the class.
    detail: into how many places each side is divided; fewer if score is slow.
    """
    at, kind = plain(points), points._data.dtype if isinstance(points, Tensor) else np.float32
    low, high = at.min(axis=0) - 0.3, at.max(axis=0) + 0.3
    xs, ys = (np.linspace(low[i], high[i], detail) for i in (0, 1))
    plane = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)

    def decide(places: Any) -> Any:
        scores = plain(score(wrap(places.astype(kind)))).reshape(len(places), -1)
        return scores[:, -1] if scores.shape[1] == 1 else scores[:, 1] - scores[:, 0]

    sides = decide(plane).reshape(len(ys), len(xs))
    made, axes = figure(4.8, 3.6)
    axes.contourf(xs, ys, sides, levels=[-np.inf, 0, np.inf], colors=[BLUE, ORANGE], alpha=0.2)
    axes.contour(xs, ys, sides, levels=[0], colors=GREY, linewidths=1.5)
    ones = plain(labels).ravel() > 0
    axes.plot(*at[~ones].T, "o", color=BLUE, markersize=4, linestyle="")
    axes.plot(*at[ones].T, "s", color=ORANGE, markersize=4, linestyle="")
    axes.grid(False)
    axes.set(title=title, xlim=xs[[0, -1]], ylim=ys[[0, -1]])
    astray = int(((decide(at) > 0) != ones).sum())
    made.alt = (f"{title}. " if title else "") + (
        f"{len(at)} points of two classes and the boundary between them; points on the wrong side: {astray}."
    )
    return made


def curve(x: Any, y: Any, across: str = "x", down: str = "y") -> Figure:
    """The numbers y, drawn over the numbers x, both of shape (n,)."""
    xs, ys = plain(x), plain(y)
    made, axes = figure()
    axes.plot(xs, ys, color=BLUE, linewidth=1.5)
    axes.set(xlabel=across, ylabel=down)
    made.alt = (
        f"Curve of {down} over {across}: {number(ys[0])} at {number(xs[0])}, {number(ys[-1])} at {number(xs[-1])}, "
        f"between {number(ys.min())} and {number(ys.max())}."
    )
    return made


def gallery(
    images: Any,
    titles: Sequence[str] = (),
    black: float = 0.0,
    white: float = 1.0,
    columns: int = 6,
    signed: bool = False,
) -> Figure:
    """Grey images of one size, beside and below one another, each under its title.

    images: (n, height, width). black, white: the values that are drawn so; signed: blue and orange in their place.
    """
    shown = plain(images)
    columns = min(columns, len(shown))
    rows = -(-len(shown) // columns)
    made, grid = panels(1.7 * columns, 2.0 * rows, rows, columns, squeeze=False)
    for place, axes in enumerate(grid.flat):
        axes.set_axis_off()
        if place < len(shown):
            colours = tints(BLUE, "#FFFFFF", ORANGE) if signed else "gray"
            axes.imshow(shown[place], cmap=colours, vmin=black, vmax=white)
            axes.set_title(titles[place] if place < len(titles) else "", fontsize=10)
    size = " by ".join(map(str, shown.shape[1:]))
    made.alt = f"{len(shown)} images of {size} pixels" + (": " + "; ".join(titles) if titles else "") + "."
    return made


def activations(functions: Mapping[str, Callable[[Any], Any]], x: float | None = None, span: float = 6.0) -> Figure:
    """Functions of tensors on the left, their derivatives (by the engine) on the right, both marked at x.

    functions: by name, at most six. span: both are drawn from -span to span.
    """
    made, (left, right) = panels(8.4, 3.6, 1, 2)
    points = np.linspace(-span, span, 241)
    said = []
    for (name, f), (colour, dashes, _) in zip(functions.items(), STYLES, strict=False):
        value, derivative = with_derivative(f, points)
        left.plot(points, value, color=colour, linestyle=dashes, linewidth=2, label=name)
        right.plot(points, derivative, color=colour, linestyle=dashes, linewidth=2, label=name)
        if x is not None:
            (here,), (rate,) = with_derivative(f, np.array([x]))
            left.plot([x], [here], "o", color=colour)
            right.plot([x], [rate], "o", color=colour)
            said.append(f"{name} is {number(here)} with derivative {number(rate)}")
    for axes, title in ((left, "value"), (right, "derivative")):
        ruled(axes)
        axes.set(title=title, xlabel="x", ylim=(-1.2, 2.2) if axes is left else (-0.1, 1.2))
        axes.legend(**LEGEND)
    at = f" At x = {number(x)}, " + ", ".join(said) + "." if x is not None else ""
    made.alt = f"On the left {', '.join(functions)}, on the right their derivatives.{at}"
    return made


def with_derivative(f: Callable[[Any], Any], points: Any) -> tuple[Any, Any]:
    """f at each of these points, and its derivative there."""
    x = wrap(np.asarray(points, np.float64)).requires_grad_()
    y = f(x)
    (rate,) = autograd.grad(y.sum(), x)
    return plain(y), plain(rate)


# ---------------------------------------------------------------- sliders
def is_static(display: str | None) -> bool:
    return (display or os.environ.get("MINIGRAD_DISPLAY", "")) == "static"


def with_sliders(draw: Callable[..., Figure], sliders: Mapping[str, Any], display: str | None = None) -> Any:
    """A picture that is drawn anew when a slider moves; the picture alone if display is "static".

    sliders: by the name of draw's argument, an ipywidgets slider or one of `live`.
    """
    known = {name: each if isinstance(each, Slider) else Slider.of(each) for name, each in sliders.items()}
    if is_static(display):
        return draw(**{name: slider.values[slider.start] for name, slider in known.items()})

    def shown(**values: Any) -> tuple[str, str]:
        made = draw(**values)
        return with_words(made), made.alt

    return Sliders(shown, known)


def film(frames: Mapping[Any, Figure], name: str = "step", display: str | None = None) -> Any:
    """Pictures in a row, {step: picture}, with a slider and a play button; if display is "static", four of them.

    The slider turns the pictures in the browser alone, so it works in a saved notebook without a kernel.
    """
    pictures = list(frames.values())
    last = len(pictures) - 1
    some = sorted({round((i / 3) ** 2 * last) for i in range(4)} if last > 3 else range(last + 1))  # more of the start
    still = side_by_side([pictures[i] for i in some])
    if is_static(display):
        return still
    slider = Slider(name, list(frames), [*map(str, frames)])
    return Film(slider, [*map(with_words, pictures)], still.html(), still.alt)


def with_words(made: Figure) -> str:
    """A picture with its words below it, which do not repeat its title."""
    title = made.axes[0].get_title()
    return f"{made.html()}<p>{escape(made.alt.removeprefix(f'{title}. '))}</p>"


def side_by_side(pictures: Sequence[Figure], columns: int = 2) -> Figure:
    """Pictures of one size as one picture, two in a row."""
    drawn = []
    for made in pictures:
        canvas: Any = made.canvas
        made.set_dpi(100)
        canvas.draw()
        drawn.append(np.asarray(canvas.buffer_rgba()).copy())
    height, width = drawn[0].shape[:2]
    rows = -(-len(drawn) // columns)
    made = Figure(figsize=(width * columns / 100, height * rows / 100), facecolor="none")
    FigureCanvasAgg(made)
    for i, pixels in enumerate(drawn):
        made.figimage(pixels, width * (i % columns), height * (rows - 1 - i // columns))
    made.alt = " ".join(each.alt for each in pictures)
    return made


def slope_slider(
    f: Callable[[Any], Any], x: float, h: float = 1.0, central: bool = True, display: str | None = None
) -> Any:
    """`slope` with a slider for h, from 1 down to a millionth."""
    steps = sorted({h, *(10.0 ** (-i / 4) for i in range(25))}, reverse=True)
    knob = Slider("h", steps, [f"{step:.4g}" for step in steps], steps.index(h))
    return with_sliders(lambda h: slope(f, x, h, central=central), {"h": knob}, display)


def even(label: str, start: float, reach: float, step: float) -> Slider:
    """A slider from -reach to reach."""
    places = sorted({start, *(round(i * step - reach, 9) for i in range(round(2 * reach / step) + 1))})
    return Slider(label, places, [f"{place:.2f}" for place in places], places.index(start))


def chain_slider(
    machines: Mapping[str, Callable[[Any], Any]], x: float, reach: float = 3.0, display: str | None = None
) -> Any:
    """`chain` with a slider for x, from -reach to reach."""
    widest = 1.1 * max(abs(moved) for end in (-reach, reach) for moved in moves(machines, end)[2])
    return with_sliders(lambda x: chain(machines, x, widest), {"x": even("x", x, reach, 0.25)}, display)


def vector_jacobian_slider(v: Sequence[float], table: Any, display: str | None = None) -> Any:
    """`vector_jacobian` with a slider for each entry of v, from -3 to 3."""
    knobs = {f"v[{i}]": even(f"v[{i}]", value, 3.0, 0.5) for i, value in enumerate(v)}
    return with_sliders(lambda **weights: vector_jacobian(list(weights.values()), table), knobs, display)


def line_slider(x: Any, y: Any, w: float = 0.0, b: float = 0.0, reach: float = 3.0, display: str | None = None) -> Any:
    """A line through points, with sliders for its slope and height, its misses drawn, and its mean squared error."""
    knobs = {"w": even("w", w, reach, 0.05), "b": even("b", b, reach, 0.05)}
    return with_sliders(lambda w, b: line(x, y, w, b), knobs, display)


def line(x: Any, y: Any, w: float, b: float) -> Figure:
    """Points, the line w * x + b, and how far it misses each of them."""
    xs, ys = plain(x).ravel(), plain(y).ravel()
    miss = w * xs + b - ys
    made, axes = figure()
    axes.plot(xs, ys, "o", color=BLUE, label="data")
    ends = np.array([xs.min(), xs.max()])
    axes.plot(ends, w * ends + b, color=ORANGE, label=f"{number(w)} x + {number(b)}")
    axes.vlines(xs, ys, ys + miss, color=GREY, linestyle=":", linewidth=1)
    axes.set(xlabel="x", ylabel="y")
    axes.legend(**LEGEND)
    made.alt = (
        f"{len(xs)} points and the line {number(w)} x + {number(b)}: mean squared error {number((miss**2).mean())}, "
        f"derivatives {number((2 * miss * xs).mean())} for w and {number((2 * miss).mean())} for b."
    )
    return made


def fit(x: Any, y: Any, w: float, b: float, losses: Sequence[float], steps: int) -> Figure:
    """Points and the line w * x + b, beside the losses of the fit so far; the frames of one fit share their axes.

    losses: one for each step up to now, the last one that of this line. steps: how many there will be.
    """
    xs, ys, so_far = plain(x).ravel(), plain(y).ravel(), plain(losses)
    made, (left, right) = panels(6.4, 2.7, 1, 2)
    margin = 0.15 * np.ptp(xs)
    ends = np.array([xs.min() - margin, xs.max() + margin])
    left.vlines(xs, ys, w * xs + b, color=GREY, linestyle=":", linewidth=1)
    left.plot(xs, ys, "o", color=BLUE)
    left.plot(ends, w * ends + b, color=ORANGE, linewidth=2)
    height = np.ptp(ys)
    left.set(xlabel="x", ylabel="y", xlim=ends, ylim=(ys.min() - 0.8 * height, ys.max() + 0.8 * height))
    right.plot(so_far, color=ORANGE, linewidth=2)
    right.plot(len(so_far) - 1, so_far[-1], "o", color=ORANGE)
    right.set(xlabel="step", ylabel="loss", xlim=(-0.03 * steps, 1.03 * steps), ylim=(0, 1.1 * so_far[0]))
    ruled(left)
    ruled(right)
    made.suptitle(f"step {len(so_far) - 1}: w = {w:.2f}, b = {b:.2f}, loss {so_far[-1]:.3f}", fontsize=10)
    shown = f"the line {number(w)} x + {number(b)} and {len(xs)} points"
    made.alt = f"Step {len(so_far) - 1}: {shown}; loss {number(so_far[-1])}."
    return made
