"""The picture of the stepper in the README and on the welcome page: `python -m tests.browser.picture` takes it anew."""

import tempfile
from pathlib import Path

import nbformat
from playwright.sync_api import sync_playwright

from tests.browser.fixtures import CHROMIUM, FLAGS, Walk, serve

PICTURE = Path(__file__).parents[2] / "notebooks" / "images" / "stepper.png"
CELLS = (
    "import minigrad as torch\nfrom minigrad.viz import step",
    "def f(x):\n    y = x**2 + torch.sin(x)\n    return y\n\nstep(f, x=2.0)",
)
MOMENT = "is now the gradient of x (2 of 2 arrived)"


def take() -> None:
    """Runs the cells, walks to the moment at which two contributions meet, and keeps what is seen of the cell."""
    with tempfile.TemporaryDirectory() as scratch, serve(Path(scratch)) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        page = browser.new_page(viewport={"width": 1480, "height": 1000}, reduced_motion="reduce")
        cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), server.folder / "picture.ipynb")
        walk = Walk(page, server)
        walk.open("picture.ipynb")
        walk.run_all()
        page.locator(".mg [data-id=next]").focus()
        while MOMENT not in page.locator(".mg-words").inner_text():
            page.keyboard.press("ArrowRight")
        page.wait_for_timeout(500)
        walk.cell("def f").screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    take()
