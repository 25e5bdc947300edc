"""The report and the feedback pages in a real browser: usable by everybody, and deaf to what students write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from minigrad.course.grading import runs
from tests.grading.classroom import notebook

EVIL = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">$\\\\int$\u202e" + "A" * 10_000
NAMES = ("Ann", "Bob", "<script>document.title='taken'<", "\u202eevil", "=cmd()", "zo\u00eb")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class")
    sources = ("return 2 * x * v", "return 2 * x", f"raise ValueError({EVIL!r})", f"return {EVIL!r}", "...", "return 1 / 0")
    for name, source in zip(NAMES, sources, strict=True):
        path = folder / "in" / name / "05_vectors <b>x.ipynb"
        path.parent.mkdir(parents=True)
        path.write_bytes(notebook(f"def vjp_square(v, x):\n    {source}", 'check("5.1")', f"raise KeyError({EVIL!r})"))
    for name in NAMES[:4]:  # a second lesson: the class over the term
        cells = ("def unbroadcast(g, shape):\n    return g", 'check("6.1")')
        (folder / "in" / name / "06.ipynb").write_bytes(notebook(*cells))
        (folder / "in" / name / "02.ipynb").write_bytes(notebook("forward_values = [6, 11, 121]", 'check("2.1")'))  # practice
    runs.grade(folder / "in", out=folder / "out", jobs=1)
    return folder / "out"


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.needs("chromium")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 360])
def test_pages_are_accessible_and_fit(page: Any, out: Path, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    for path in [out / "report.html", *sorted((out / "feedback").rglob("*.html"))]:
        page.goto(path.as_uri())
        found = axe.run(page).response["violations"]
        assert not found, [(v["id"], v["nodes"][0]["html"][:200]) for v in found]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.title() != "taken"
    assert page.errors == [] and page.refused == []


@pytest.mark.slow
@pytest.mark.browser
@pytest.mark.needs("chromium")
def test_the_report_sorts_filters_and_leads_to_every_page(page: Any, out: Path) -> None:
    page.goto((out / "report.html").as_uri())
    names = "[...document.querySelectorAll('#students tbody tr:not([hidden])')].map(r => r.cells[0].textContent)"
    assert len(page.evaluate(names)) == len(NAMES)
    page.locator("#students").get_by_role("button", name="Student").press("Enter")
    up = page.evaluate(names)
    page.locator("#students").get_by_role("button", name="Student").press("Enter")
    assert page.evaluate(names) == up[::-1] and sorted(up) != up[::-1]
    page.locator("#students").get_by_role("button", name="Total").click()
    page.locator("#students").get_by_role("button", name="Total").click()
    assert page.evaluate(names)[0] == "Ann"
    page.get_by_label("Show only").fill("BOB")
    assert page.evaluate(names) == ["Bob"]
    assert page.locator("#seen").inner_text() == "1 shown"
    page.get_by_label("Show only").fill("")
    # A teacher's questions: each answered by one press.
    (out.parent / "in" / "Zed").mkdir(exist_ok=True)
    runs.grade(out.parent / "in", out=out, jobs=1)
    page.goto((out / "report.html").as_uri())
    for mark, who in (("nothing", ["Zed"]), ("x5", ["Zed"])):
        page.locator(f"[data-show={mark}] button").click()
        assert page.evaluate(names) == who
    mistakes = page.locator("[aria-label^=Recognised]")
    mistakes.get_by_role("button", name="1 of").first.click()
    assert page.evaluate(names) == ["Bob"] and page.locator("#seen").inner_text().startswith("1 shown: 5.1")
    page.get_by_role("button", name="Show all").click()
    assert len(page.evaluate(names)) == len(NAMES) + 1 and not page.locator("#all").is_visible()
    links = page.evaluate("[...document.querySelectorAll('#students a')].map(a => a.href)")
    assert len(links) == len(NAMES) + 8
    for link in links:
        page.goto(link)
        assert page.locator("section.item").count() > 0
    assert page.title() != "taken" and page.errors == []


@pytest.mark.slow
def test_an_interrupted_write_leaves_the_old_page(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from minigrad.course.grading import pages

    before = (out / "report.html").read_bytes()
    with monkeypatch.context() as patch, pytest.raises(OSError, match="full"):
        patch.setattr(pages, "_student", lambda *a: (_ for _ in ()).throw(OSError("disk full")))  # half is written
        runs.write(out, runs.HandIns([out.parent / "in"]))
    assert (out / "report.html").read_bytes() == before
