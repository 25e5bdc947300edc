"""Pages in an output and their channel to the kernel: what an error, a new run and a film leave behind."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from minigrad.viz import live

SLIDER = live.Slider("x", [1, 2], ["1", "2"])


class Page(live.Live):
    """A page that divides."""

    def body(self) -> str:
        return "<p data-part='result'></p>"

    def text(self) -> str:
        return ""

    def on_action(self, action: str, values: Mapping[str, str]) -> dict[str, str]:
        return {"result": str(1 / int(values["x"]))}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, object]]:
    """What goes to the pages, in a kernel whose channel only notes it."""
    monkeypatch.setattr(live, "pages", {})
    found: list[dict[str, object]] = []
    monkeypatch.setattr(live, "channel", lambda: SimpleNamespace(model_id="channel", send=found.append))
    return found


def test_after_an_error_the_page_has_its_answer_and_goes_on(sent: list[dict[str, object]]) -> None:
    page = Page()
    with pytest.raises(ZeroDivisionError):
        live.on_message(None, {"page": page.id, "action": "draw", "values": {"x": "0"}}, None)
    live.on_message(None, {"page": page.id, "action": "draw", "values": {"x": "2"}}, None)
    assert sent == [{"page": page.id, "parts": {}}, {"page": page.id, "parts": {"result": "0.5"}}]
    live.on_message(None, {"page": "gone", "action": "draw"}, None)
    assert len(sent) == 2


def test_a_new_run_of_a_cell_takes_the_place_of_its_pages(
    sent: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    parent: dict[str, dict[str, str]] = {}
    monkeypatch.setattr(live, "get_ipython", lambda: SimpleNamespace(get_parent=lambda: parent))
    for run in range(3):
        for cell in ("one", "two"):
            parent.update(metadata={"cellId": cell}, header={"msg_id": f"{run} {cell}"})
            made = [Page(), Page()]
    assert len(live.pages) == 4 and all(page.id in live.pages for page in made)


def test_where_cells_have_no_names_the_oldest_pages_are_let_go(sent: list[dict[str, object]]) -> None:
    made = [Page() for _ in range(live.MOST_PAGES + 50)]
    assert list(live.pages.values()) == made[50:]


def test_a_film_needs_no_kernel(sent: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "channel", lambda: pytest.fail("a film asks for nothing"))
    page = live.Film(SLIDER, ["<p>1</p>", "<p>2</p>"], "<p>still</p>", "a film").bundle()["text/html"]
    assert "still" in page and not live.pages


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.needs("chromium")
def test_on_a_phone_a_films_slider_is_seen_whole(page: Any) -> None:
    film = live.Film(SLIDER, ["<p>1</p>", "<p>2</p>"], "<p>still</p>", "a film")
    page.set_viewport_size({"width": 250, "height": 500})
    page.set_content(film.bundle()["text/html"])
    page.locator("[data-moving]").wait_for()
    wide, inside = page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
    assert wide <= inside
