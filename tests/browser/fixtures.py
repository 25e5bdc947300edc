"""A real JupyterLab, started by `minigrad lab`, and a real Chromium that may talk to this machine only.

`serve(...)` starts the command in a folder and waits until it answers; `Walk` is a student at the browser:
open a notebook, run it, read what it shows, type into a cell. Everything that waits has a time limit.
"""

import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = os.environ.get("MINIGRAD_CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
]
LOOPBACK = ("http://127.0.0.1", "http://localhost", "ws://127.0.0.1", "data:", "blob:", "file:", "about:")
PROMPTS_DONE = """() => {
    const front = document.querySelector(".jp-NotebookPanel:not(.lm-mod-hidden)");
    const prompts = front ? [...front.querySelectorAll(".jp-CodeCell .jp-InputPrompt")] : [];
    const shown = prompts.map(prompt => prompt.textContent.trim());
    return shown.length > 0 && shown.every(text => /^\\[\\d+\\]:$/.test(text));
}"""
RUN_ALL = """() => {
    window.minigradRanAll = false;
    const ran = window.jupyterapp.commands.execute("notebook:run-all-cells");
    ran.finally(() => { window.minigradRanAll = true; });
}"""
IDLE = "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"


class Server:
    """A running `minigrad lab`: its `address` and `token`, the student's `folder`, the `log` file."""

    def __init__(self, address: str, token: str, folder: Path, log: Path) -> None:
        self.address, self.token, self.folder, self.log = address, token, folder, log

    def url(self, path: str) -> str:
        """The address of a notebook in JupyterLab, with an empty workspace."""
        return f"{self.address}/lab/tree/{path}?token={self.token}&reset"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def serve(
    scratch: Path, python: str = sys.executable, plain: tuple[str, str] | None = None
) -> Iterator[Server]:
    """Run `minigrad lab --no-browser` of an environment, with Jupyter's own folders all below `scratch`.

    plain: the module of a server and its base address, to run that as Jupyter does, in a folder that is there.
    """
    config = scratch / "config"
    config.mkdir(parents=True)
    exposed = {"LabApp": {"expose_app_in_browser": True}, "ServerApp": {"ip": "127.0.0.1"}}
    (config / "jupyter_lab_config.json").write_text(json.dumps(exposed), encoding="utf-8")
    token, port = secrets.token_hex(16), free_port()
    ours = ("MINIGRAD_", "JUPYTER", "PYTEST", *(["PYTHONPATH"] if python != sys.executable else []))
    env = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    env |= {
        "HOME": str(scratch),
        "JUPYTER_TOKEN": token,
        "JUPYTER_CONFIG_DIR": str(config),
        "JUPYTER_DATA_DIR": str(scratch / "data"),
        "JUPYTER_RUNTIME_DIR": str(scratch / "runtime"),
        "JUPYTERLAB_WORKSPACES_DIR": str(scratch / "workspaces"),
        "JUPYTERLAB_SETTINGS_DIR": str(scratch / "settings"),
        "IPYTHONDIR": str(scratch / "ipython"),
        "no_proxy": "127.0.0.1,localhost",
    }
    command = [
        str(Path(python).with_name("minigrad")),
        "lab",
        "--no-browser",
        "--port",
        str(port),
        "--dir",
        "course",
    ]
    base = "/"
    if plain is not None:
        module, base = plain
        options = {"port": port, "port_retries": 0, "base_url": base, "root_dir": scratch / "course", "allow_root": True}
        command = [python, "-m", module, "--no-browser", *(f"--ServerApp.{name}={value}" for name, value in options.items())]
    log = scratch / "lab.log"
    with log.open("wb") as sink:
        process = subprocess.Popen(
            command,
            cwd=scratch,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            start_new_session=True,
        )
    try:
        address = f"http://127.0.0.1:{port}{base}".rstrip("/")
        wait_until_it_answers(f"{address}/api/status?token={token}", process, log)
        yield Server(address, token, scratch / "course", log)
    finally:
        stop(process)


def wait_until_it_answers(url: str, process: subprocess.Popen[bytes], log: Path, seconds: float = 90) -> None:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + seconds
    while True:
        try:
            direct.open(url, timeout=5).close()
            return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(log.read_text(encoding="utf-8", errors="replace")) from None
            time.sleep(0.1)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End the server and its kernels: they are one session, which is ours alone."""
    for signum in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, signum)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                continue


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The course of this checkout in JupyterLab."""
    with serve(tmp_path_factory.mktemp("lab")) as server:
        yield server


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A headless browser."""
    if CHROMIUM is None:
        pytest.skip("chromium is not on this machine")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A fresh page; `page.errors` are its uncaught errors, `page.refused` the addresses it may not reach."""
    context = chromium.new_context(viewport={"width": 1400, "height": 1000}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(30_000)
    page.errors, page.refused = [], []
    page.on("pageerror", lambda error: page.errors.append(str(error)))

    def gate(route: Any) -> None:
        if route.request.url.startswith(LOOPBACK):
            route.continue_()
        else:
            page.refused.append(route.request.url)
            route.abort()

    context.route("**/*", gate)
    yield page
    context.close()


AXE = """async ([include, exclude, rules]) => {
    await new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)));
    const asked = { preload: false, resultTypes: ["violations"], runOnly: rules };
    const found = await axe.run({ include: [[include]], exclude: exclude.map((one) => [one]) }, asked);
    return found.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.html.slice(0, 100)).join(" ; "));
}"""
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")


@pytest.fixture(scope="session")
def axe() -> Any:
    """What axe-core finds wrong in a part of a page: a function of the page, a selector, rules, and selectors left out."""
    package = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    source = next(Path(package.__file__).parent.rglob("axe.min.js")).read_text(encoding="utf-8")

    def found(page: Any, include: str, rules: Sequence[str] = RULES, exclude: Sequence[str] = ()) -> list[str]:
        if not page.evaluate("'axe' in window"):
            page.evaluate(source)
        violations: list[str] = page.evaluate(AXE, [include, list(exclude), list(rules)])
        return violations

    return found


class Walk:
    """A student who reads and types in one page of JupyterLab."""

    def __init__(self, page: Any, server: Server) -> None:
        self.page, self.server = page, server

    @property
    def notebook(self) -> Any:
        """The notebook in front."""
        return self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")

    def open(self, path: str) -> None:
        """Open a notebook of the student's folder and wait for its kernel."""
        self.page.goto(self.server.url(path))
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
        self.page.wait_for_function("window.jupyterapp?.commands.hasCommand('notebook:run-all-cells')")
        self.page.wait_for_function(IDLE, timeout=60_000)

    def run_all(self) -> None:
        """Run every cell; each has its number when this returns."""
        self.page.evaluate(RUN_ALL)
        self.page.wait_for_function("() => window.minigradRanAll", timeout=120_000)
        try:
            self.page.wait_for_function(PROMPTS_DONE, timeout=10_000)
        except Exception as error:
            raise AssertionError(f"not every cell ran: {self.errors()}") from error
        self.page.wait_for_function(IDLE, timeout=60_000)

    def errors(self) -> list[str]:
        """Each error, and each warning, that a cell shows (JupyterLab renders both alike)."""
        kinds = [
            f'.jp-RenderedText[data-mime-type="application/vnd.jupyter.{kind}"]'
            for kind in ("error", "stderr")
        ]
        texts: list[str] = self.notebook.locator(", ".join(kinds)).all_inner_texts()
        return texts

    def cell(self, pattern: str) -> Any:
        """The first code cell whose source matches."""
        editor = self.page.locator(".jp-InputArea-editor", has_text=re.compile(pattern))
        return self.notebook.locator(".jp-CodeCell").filter(has=editor).first

    def replace_stub(self, pattern: str, answer: str) -> None:
        """Click on the stub of a cell and type an answer in its place, as a student does."""
        cell = self.cell(pattern)
        cell.scroll_into_view_if_needed()
        cell.locator(".cm-line", has_text="your code here").click()
        for key in ("Home", "Shift+End"):
            self.page.keyboard.press(key)
        self.page.keyboard.type(answer)

    def run(self, pattern: str) -> Any:
        """Run one cell with Shift+Enter; returns it when it is done."""
        cell = self.cell(pattern)
        before = cell.locator(".jp-InputPrompt").inner_text()
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Shift+Enter")
        deadline = time.monotonic() + 60
        while cell.locator(".jp-InputPrompt").inner_text() in (before, "[*]:"):
            assert time.monotonic() < deadline, "the cell does not end"
            self.page.wait_for_timeout(50)
        return cell


@pytest.fixture
def walk(page: Any, lab: Server) -> Walk:
    """A student at the course of this checkout."""
    return Walk(page, lab)
