"""Every picture is a Figure with words of its own, the same bytes every time; sliders have a still form."""

import functools
import re
from html import escape
from io import BytesIO

import numpy as np
import pytest

import minigrad as torch
from minigrad import viz  # its plots bring matplotlib when they are first asked for, not while tests are collected


def colour(name) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(name)


def small_net():
    torch.manual_seed(0)
    x = torch.rand(4, 3)
    W = torch.rand(3, 2, requires_grad=True)
    h = torch.tanh(x @ W)
    return (h * h).sum(), {"W": W, "h": h}


PICTURES = {
    "slope": lambda: viz.plots.slope(lambda x: x**3, 2.0, 0.5),
    "forward slope": lambda: viz.plots.slope(torch.sin, 1.2, 0.5, central=False),
    "step_size": lambda: viz.plots.step_size(np.sin, 1.2, float(np.cos(1.2))),
    "chain": lambda: viz.plots.chain({"y": lambda x: x**2, "z": lambda y: 1 - 2 * y}, 2.0),
    "learning_rates": lambda: viz.plots.learning_rates({0.1: [4.0, 2.0, 1.0], 2.0: [4.0, 40.0, float("inf")]}),
    "loss_surface": lambda: viz.plots.loss_surface(lambda w, b: (w - 1) ** 2 + b * b, path=[(0, 0), (0.5, 0.1)]),
    "gradient_flow": lambda: viz.plots.gradient_flow(*small_net()[:1], names=small_net()[1]),
    "heat": lambda: viz.plots.heat(np.diag([2.0, 4.0, 6.0]), "Jacobian", "input", "output"),
    "big heat": lambda: viz.plots.heat(np.tril(np.ones((30, 30)))),
    "vector_jacobian": lambda: viz.plots.vector_jacobian([2.0, 5.0], [[3.0, 2.0, 0.0], [0.0, 4.0, 3.0]]),
    "curve": lambda: viz.plots.curve([0, 1, 2], [4.0, 1.0, 2.0], "step", "loss"),
    "gallery": lambda: viz.plots.gallery(np.arange(12).reshape(3, 2, 2), ["dark", "grey", "bright"], white=11, columns=2),
    "product": lambda: viz.plots.product([[1, 2, 4], [3, 5, 2]], [[2, 3], [1, 4], [5, 0.5]], 1, 0),
    "fit": lambda: viz.plots.fit([0, 1, 2], [1.0, 2.9, 5.1], 2.0, 1.0, [4.0, 0.1], 10),
    "line": lambda: viz.plots.line([0, 1, 2], [1.0, 2.9, 5.1], 2.0, 1.0),
    "boundary": lambda: viz.plots.boundary(lambda t: t[:, 0] - t[:, 1], [(0, 1), (2, 1), (1, 2)], [0, 1, 1], "a line"),
}


@functools.cache
def picture(name: str):
    return PICTURES[name]()


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_a_figure_with_words(name: str) -> None:
    made = PICTURES[name]()  # of its own: a second drawing moves the axes a little
    assert isinstance(made, viz.plots.MatplotlibFigure) and made.alt.endswith(".") and len(made.alt) > 30
    bundle, metadata = made._repr_mimebundle_()
    assert bundle["text/plain"] == made.alt == metadata["image/png"]["alt"]
    assert bundle["image/png"].startswith(b"\x89PNG") and bundle["image/png"] == PICTURES[name]().png()
    assert bundle["text/html"].startswith(f'<img alt="{escape(made.alt, quote=True)}" src="data:image/png;base64,')


@pytest.mark.slow
def test_what_jupyterlab_shows_has_its_words_and_what_is_stored_is_a_picture(monkeypatch) -> None:
    x = torch.tensor(3.0, requires_grad=True)
    for made in (viz.plots.step_size(np.sin, 1.2, np.cos(1.2)), viz.draw(x * x + 2)):
        for display, shown in (("", True), ("static", False)):
            monkeypatch.setenv("MINIGRAD_DISPLAY", display)
            bundle = made._repr_mimebundle_()
            bundle = bundle[0] if isinstance(bundle, tuple) else bundle
            words = re.search(r'^<img alt="([^"]+)" src="data:', bundle.get("text/html", ""))
            assert bool(words) == ("text/html" in bundle) == shown
            assert not words or words[1] == escape(repr(made), quote=True)


def luminance(name) -> float:
    linear = [v / 12.92 if v <= 0.03928 else ((v + 0.055) / 1.055) ** 2.4 for v in colour(name)]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def contrast(one, other) -> float:
    light, dark = sorted([luminance(one), luminance(other)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_legible_and_does_not_glare_on_a_page_of_any_theme(name: str) -> None:
    made = picture(name)
    from matplotlib.image import imread
    from matplotlib.text import Text

    assert imread(BytesIO(made.png()))[1, 1, 3] == 0, "the page shows through"
    digits = [t for axes in made.axes if axes.images for t in axes.texts]
    assert all(t.get_color() == "#111111" for t in digits), "dark, on the light colours of a table"
    written = [t for t in made.findobj(Text) if t.get_text() and t not in digits]
    frames = [spine.get_edgecolor() for axes in made.axes for spine in axes.spines.values()]
    assert written
    for page in ("#ffffff", "#212121", "#1e1e1e", "#111111"):
        assert all(contrast(t.get_color(), page) >= 3 for t in written), page
        assert all(contrast(frame, page) >= 3 for frame in frames), page
        assert all(contrast(line.get_color(), page) >= 3 for axes in made.axes for line in axes.lines), page


def test_the_words_hold_the_numbers() -> None:
    assert "a slope of 12.25" in picture("slope").alt
    assert "dy/dx = 1 · 4 = 4; dz/dx = 4 · -2 = -8." in picture("chain").alt
    assert "[2, 0, 0]; [0, 4, 0]; [0, 0, 6]" in picture("heat").alt
    assert "2.0: from 4 to not finite" in picture("learning_rates").alt
    assert "lowest near w = 1, b = 0" in picture("loss_surface").alt
    assert picture("vector_jacobian").alt.endswith("is the row [6, 24, 15].")
    assert picture("curve").alt == "Curve of loss over step: 4 at 0, 2 at 2, between 1 and 4."
    assert picture("gallery").alt == "3 images of 2 by 2 pixels: dark; grey; bright."
    assert "mean squared error 0.006667" in picture("line").alt


def test_the_flow_names_the_callers_tensors() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    deep = x * 3
    loss = deep * deep
    made = viz.plots.gradient_flow(loss)
    assert (
        made.alt
        == "Length of the gradient at 3 tensors, from loss back to x: largest 36 at x, smallest 1 at loss."
    )
    assert x.grad is None


@pytest.mark.slow
@pytest.mark.parametrize("make", [
    lambda display: viz.plots.slope_slider(lambda x: x**3, 2.0, display=display),
    lambda display: viz.plots.chain_slider({"y": torch.sin, "z": torch.exp}, 2.0, display=display),
    lambda display: viz.plots.vector_jacobian_slider([2.0, -1.0], [[3.0, 2.0, 0.0], [0.0, 4.0, 3.0]], display),
    lambda display: viz.plots.line_slider([0, 1, 2], [1.0, 3.0, 5.0], display=display),
])  # fmt: skip
def test_sliders_redraw_and_have_a_still_form(make, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(make("static"), viz.plots.MatplotlibFigure)
    box = make(None)
    page, words = box.body(), box.text()
    assert page.count('type="range"') == len(box.sliders) and words in page and "To move the slider, run" in page
    assert '<img alt="' in page and 'aria-live="polite"' in page
    values = {name: str(knob.start) for name, knob in box.sliders.items()}
    assert box.on_action("draw", values)["picture"] in page, "it starts where it stands"
    name, knob = next(iter(box.sliders.items()))
    changed = box.on_action("draw", {**values, name: str((knob.start + 3) % len(knob.values))})["picture"]
    assert changed not in page and words not in changed
    monkeypatch.setenv("MINIGRAD_DISPLAY", "static")
    assert isinstance(make(None), viz.plots.MatplotlibFigure)


@pytest.mark.slow
def test_a_film_turns_its_pictures_without_a_kernel_and_has_a_still_form() -> None:
    frames = {step: viz.plots.line([0, 1, 2], [1.0, 3.0, 5.0], step / 10, 1.0) for step in range(0, 50, 10)}
    still = viz.plots.film(frames, display="static")
    assert isinstance(still, viz.plots.MatplotlibFigure) and still.alt.startswith(frames[0].alt)
    box = viz.plots.film(frames)
    page = box.body()
    assert box.slider.texts == ["0", "10", "20", "30", "40"] and page.count("data-frame=") == 5
    assert still.html() in page and "data-awake" not in page and box.text() == still.alt
    points = torch.tensor([[0.0, 0.0], [1.0, 1.0]])
    titled = viz.plots.boundary(lambda places: places[:, :1], points, [0, 1], "after step 20: loss 0.2")
    words = viz.plots.film({20: titled}).body().rpartition("<p>")[2]
    assert words.startswith("2 points of two classes"), "the title is in the picture"
