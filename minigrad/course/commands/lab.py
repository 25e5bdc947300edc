"""`minigrad lab`: the course in JupyterLab.

The lessons are laid out in the student's own folder, where a file that is there is never touched; then JupyterLab is
started there, at a page that says what is solved, with settings that suit a course: pages of text open as pages, no news,
no update check, and cells stay in the page when they scroll out of view. The terminal shows where the course lies, how it
is stopped and one address; what Jupyter says goes to a file.
"""

import contextlib
import html
import json
import os
import signal
import socket
import subprocess
import sys
import time
import webbrowser
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

from minigrad.course import notebooks
from minigrad.course.checks import updating, welcome
from minigrad.course.commands import lookup

SETTINGS = Path(__file__).parents[1] / "data" / "jupyter"


def command(folder: Path, browser: bool = True, port: int | None = None, page: str = "") -> list[str]:
    """The command line that serves `folder` and opens a page of it: the welcome page unless another is named."""
    line = [
        sys.executable, "-m", "jupyterlab",
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{quote(page or welcome.FILE)}",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
        f"--LabApp.extra_labextensions_path={SETTINGS / 'labextensions'}",
    ]  # fmt: skip
    if not browser:
        line.append("--no-browser")
    if port is not None:
        line += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if is_root():
        line.append("--allow-root")
    return line


def environment(base: Mapping[str, str]) -> dict[str, str]:
    """The environment of the server: our settings, and our kernel, after the user's own, so that theirs win."""
    names = ("JUPYTER_CONFIG_PATH", "JUPYTER_PATH")
    paths = {name: os.pathsep.join(filter(None, [base.get(name), str(SETTINGS)])) for name in names}
    return {**base, **paths}


def lay_out(folder: Path) -> tuple[list[Path], list[Path], list[str]]:
    """Lessons, exercises and the welcome page in a student's folder; the files written, those found, and what to know."""
    written, kept = notebooks.lay_out(folder)
    news = updating.news(folder, kept)
    welcome.write(folder, news)
    return written, kept, news


def start(folder: Path, browser: bool = True, port: int | None = None, page: str = "") -> int:
    """Lay the course out in `folder` and serve it until the user stops the server; returns its exit code.

    It opens at `page`, a file of the course, else at the welcome page. A server that runs in this folder is opened again.
    Raises ModuleNotFoundError without JupyterLab or the widgets, ValueError where the course or the port cannot be had.
    """
    for module in ("jupyterlab", "ipykernel", "ipywidgets", "anywidget", "matplotlib"):
        if find_spec(module) is None:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)
    folder = folder.absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder = folder.resolve()
        written, kept, news = lay_out(folder)
    except OSError as error:
        where, example = error.filename or folder, Path("~") / lookup.COURSE
        raise ValueError(f"the course cannot be laid out in {folder} ({where}: {error.strerror}). Choose another folder with "
                         f"--dir, for example: minigrad lab --dir {example}") from None  # fmt: skip
    lookup.remember(folder)
    print(f"The course is in {folder}: {len(written)} files are new, {len(kept)} were there and stay.")
    print(*news, sep="\n", end="\n" if news else "")
    if browser and not opens():
        print("No browser can be opened from here: open the address below in yours.")
        browser = False
    if running := server_in(folder):
        print("JupyterLab is running in this folder already, at this address:")
        print(address(running, page), flush=True)
        if browser:
            open_privately(address(running, page))
        return 0
    if port is not None and (reason := unusable(port)):
        raise ValueError(f"port {port} cannot be used ({reason}): name another, or leave out --port for the next free one")
    if is_root():
        print("You are root, so the code of a notebook may change any file of this machine.")
    print("Stop JupyterLab with Ctrl-C. Your work stays in that folder.", flush=True)
    return serve(command(folder, browser, port, page), folder, page)


def serve(line: list[str], folder: Path, page: str) -> int:
    """Run the server until it ends; its log goes to a file, which is named when something fails. Returns the exit code."""
    from jupyter_core.paths import jupyter_runtime_dir

    log = Path(jupyter_runtime_dir()) / f"minigrad-lab-{os.getpid()}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as sink:
        process = subprocess.Popen(line, env=environment(os.environ), stdin=subprocess.DEVNULL, stdout=sink, stderr=sink)
    before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        found = reached(process, folder, page)
        if found or process.poll() is None:
            print(found or f"JupyterLab has not started yet. Its log is {log}", flush=True)
        code = process.wait()
    except KeyboardInterrupt:  # which has reached the server, too
        code = 0 if ended(process) else 1
    finally:
        signal.signal(signal.SIGTERM, before)
    if code:
        said = [text for text in log.read_text(encoding="utf-8", errors="replace").splitlines() if text.strip()]
        print(f"JupyterLab ended with an error: {said[-1] if said else code}\nIts log is {log}", file=sys.stderr)
        return code
    log.unlink()
    print(f"\nJupyterLab has stopped. Your work is in {folder}.")
    return 0


def reached(process: "subprocess.Popen[bytes]", folder: Path, page: str, seconds: float = 60) -> str:
    """The address of a page once the server can be reached; "" when it ends before, or does not say."""
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        if found := servers(folder):
            return address(found[0], page)
        time.sleep(0.05)
    return ""


def ended(process: "subprocess.Popen[bytes]", seconds: float = 10) -> bool:
    """Wait for a server that was interrupted; one that goes on, or a second Ctrl-C, is answered more firmly."""
    for act in (process.poll, process.terminate, process.kill):
        act()
        with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            process.wait(seconds)
            return True
    return False


# What runs already -----------------------------------------------------------------------------------------


def servers(folder: Path) -> list[dict[str, Any]]:
    """What Jupyter's servers have noted about themselves that serve this folder; one may have died since."""
    from jupyter_core.paths import jupyter_runtime_dir

    found = []
    for file in Path(jupyter_runtime_dir()).glob("jpserver-*.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):  # it is being written, or removed
            info = json.loads(file.read_text(encoding="utf-8"))
            if Path(info["root_dir"]) == folder:
                found.append(info)
    return found


def server_in(folder: Path) -> dict[str, Any] | None:
    """The server that runs in this folder. What dead ones have noted is removed."""
    if not servers(folder):
        return None
    from jupyter_server.serverapp import list_running_servers  # takes a second

    alive = {info["pid"] for info in list_running_servers()}
    return next((info for info in servers(folder) if info["pid"] in alive), None)


def address(info: Mapping[str, Any], page: str) -> str:
    """The address of a page on a server."""
    token = f"?token={info['token']}" if info.get("token") else ""
    return f"{info['url']}lab/tree/{quote(page or welcome.FILE)}{token}"


def open_privately(url: str) -> None:
    """Open an address in a browser, by way of a file: the command line of a browser is seen by all users of a machine."""
    from jupyter_core.paths import jupyter_runtime_dir

    file = Path(jupyter_runtime_dir()) / "minigrad-open.html"
    file.unlink(missing_ok=True)
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as sink:
        sink.write(f'<meta http-equiv="refresh" content="0; url={html.escape(url)}">')
    webbrowser.open(file.as_uri())


def opens() -> bool:
    """Whether a browser can be opened from here."""
    try:
        return bool(webbrowser.get())
    except webbrowser.Error:
        return False


def unusable(port: int) -> str:
    """Why this port cannot be served at; "" if it can."""
    with socket.socket() as probe:
        if os.name == "posix":  # a server that has just ended holds no port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("localhost", port))
        except OSError as error:
            return error.strerror or str(error)
    return ""


def is_root() -> bool:
    """Whether this is the system's administrator, as in many containers."""
    return hasattr(os, "geteuid") and os.geteuid() == 0
