"""How soon a page of the site is seen, and how soon it answers a key, on a slow line and a slow processor.

    minigrad build --site DIR
    python benchmarks/site.py DIR

The line carries 200 kB a second, the processor is four times slower than this one. A page is loaded several times, each time
with an empty cache, and the best time counts: what else the machine does is not the page's. The exit code says whether the
budgets hold. Needs Chromium (/usr/bin/chromium, or the one of the variable CHROMIUM) and playwright.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from playwright.sync_api import Browser, sync_playwright

PAGES = ("index.html", "playground.html", "lessons/02_chain_rule.html", "lessons/12_digits.html")
PAINT, KEY = 1000, 50  # milliseconds
LINE = {"offline": False, "latency": 0, "downloadThroughput": 200_000, "uploadThroughput": 200_000}
FIRST_PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"
PRESS = """() => {
    for (const each of document.querySelectorAll(".folded")) each.classList.add("open");
    const times = [];
    for (const next of document.querySelectorAll(".mg [data-id=next]")) {
        next.focus();
        for (let i = 0; i < 5; i++) {
            const begun = performance.now();
            next.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }));
            document.body.getBoundingClientRect();
            times.push(performance.now() - begun);
        }
    }
    return times.sort((a, b) => a - b)[times.length >> 1];
}"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and writes no log."""

    def log_message(self, *_: Any) -> None: ...


def measured(browser: Browser, address: str) -> tuple[float, float]:
    """The first paint of one visit, and the median of some key presses, in milliseconds."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    page = context.new_page()
    slow = context.new_cdp_session(page)
    slow.send("Network.enable")
    slow.send("Network.emulateNetworkConditions", LINE)
    slow.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page.goto(address, wait_until="load")
    page.locator(".mg").first.wait_for(state="attached")
    found = page.evaluate(FIRST_PAINT), page.evaluate(PRESS)
    context.close()
    return found


def main() -> int:
    asked = argparse.ArgumentParser(description="First paint and key presses of the site on a slow phone.")
    asked.add_argument("folder", help="what `minigrad build --site` wrote")
    asked.add_argument("--visits", type=int, default=5)
    given = asked.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=given.folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    broken = 0
    with sync_playwright() as playwright:
        program = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        for name in PAGES:
            visits = [measured(browser, f"http://127.0.0.1:{server.server_port}/{name}") for _ in range(given.visits)]
            paint, key = map(min, zip(*visits, strict=True))
            over = paint > PAINT or key > KEY
            broken += over
            said = f"{name:30} first paint {paint:5.0f} of {PAINT} ms, a key {key:3.0f} of {KEY} ms"
            print(said + " BROKEN" * over, flush=True)
        browser.close()
    server.shutdown()
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
