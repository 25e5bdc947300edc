"""`minigrad doctor`: what works on this machine, and what to do about the rest.

Each finding is one line: `ok`, `note` (it works, with a difference worth knowing) or `NO` (the course needs
it), the thing, what was found, and after an arrow what to do.
"""

import importlib
import os
import platform
import subprocess
import sys
import time
import webbrowser
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from minigrad import __version__
from minigrad.course import notebooks

NEEDED = ("jupyterlab", "ipykernel", "ipywidgets", "anywidget", "matplotlib")
INSTALL = 'pip install -e ".[course]" in the checkout, or pip install ' + " ".join(NEEDED)


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    level: str  # ok, note, NO
    thing: str
    found: str
    advice: str = ""

    @property
    def fine(self) -> bool:
        """Whether the course works all the same."""
        return self.level != "NO"

    def __str__(self) -> str:
        arrow = f"\n{'':22}-> {self.advice}" if self.advice else ""
        return f"{self.level:6}{self.thing:16}{self.found}{arrow}"


def examine() -> Iterator[Finding]:
    """All findings, one by one, the quick ones first."""
    yield python()
    yield course()
    yield version_of("numpy", "pip install numpy")
    for name in NEEDED:
        yield version_of(name, INSTALL)
    yield widget()
    yield checks()
    yield terminal()
    yield browser()
    yield isolation()
    yield kernel()


def python() -> Finding:
    """The interpreter and the system."""
    found = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    if platform.system() != "Linux":
        return Finding("note", "python", found, "the course is tested on Linux; here it should work")
    return Finding("ok", "python", found)


def course() -> Finding:
    """Where the lessons come from."""
    root, lessons = notebooks.course_root(), notebooks.lessons()
    kind = "installed copy" if notebooks.is_installed() else "checkout"
    found = f"{__version__}, {len(lessons)} lessons, {kind} in {root}"
    if not lessons:
        return Finding("NO", "minigrad", found, "install again: the notebooks are missing")
    return Finding("ok", "minigrad", found)


def version_of(name: str, advice: str) -> Finding:
    """Whether a package is installed and can be imported."""
    if find_spec(name) is None:
        return Finding("NO", name, "not installed", advice)
    try:
        importlib.import_module(name)
    except Exception as error:  # a broken install may raise anything, and saying what is the point
        return Finding("NO", name, f"installed, but importing it fails: {error}", f"reinstall it: {advice}")
    return Finding("ok", name, metadata.version(name))


def widget() -> Finding:
    """Whether JupyterLab will find the browser's half of the widgets."""
    if find_spec("jupyter_core") is None:
        return Finding("NO", "stepper", "Jupyter is not installed", INSTALL)
    from jupyter_core.paths import jupyter_path

    folders = [Path(path) for path in jupyter_path("labextensions")]
    wanted = ("anywidget", "@jupyter-widgets/jupyterlab-manager")
    lacking = [name for name in wanted if not any((folder / name).is_dir() for folder in folders)]
    if lacking:
        advice = "install them into the environment that runs JupyterLab: pip install ipywidgets anywidget"
        return Finding("note", "stepper", f"a still picture only: JupyterLab lacks {', '.join(lacking)}", advice)
    return Finding("ok", "stepper", "JupyterLab finds the widgets")


def checks() -> Finding:
    """How a check in a notebook runs the student's code."""
    if hasattr(os, "fork"):
        return Finding("ok", "checks", "run in a forked child, with limits on time and memory")
    return Finding(
        "note", "checks", "run in the kernel under a watchdog (this system cannot fork)",
        "Time and memory are watched, but code that calls os._exit(), or that waits for ever inside one call, takes the "
        "kernel with it: save, and restart it.",
    )  # fmt: skip


def terminal() -> Finding:
    """The encoding of this terminal: only plain ASCII is printed, so any will do."""
    return Finding("ok", "terminal", f"{sys.stdout.encoding or 'no encoding'}; files are always UTF-8")


def browser() -> Finding:
    """Whether `minigrad lab` can open a browser."""
    try:
        return Finding("ok", "browser", webbrowser.get().name or "the system's")
    except webbrowser.Error:
        advice = "minigrad lab prints an address: open it in any browser"
        return Finding("note", "browser", "none that can be opened from here", advice)


def isolation() -> Finding:
    """The strongest isolation that class grading can use here; only teachers need it."""
    from minigrad.course.grading import sandbox

    try:
        level = sandbox.choose("auto", trust_students=True)
    except sandbox.Unavailable as error:
        return Finding("note", "grading", f"no isolation works here: {error}", "only teachers need it")
    if level == "process":
        advice = "only teachers need more: grade on Linux 5.13 or newer"
        return Finding("note", "grading", "isolation: process (no security boundary)", advice)
    return Finding("ok", "grading", f"isolation: {level}")


def kernel() -> Finding:
    """Whether a kernel starts and imports minigrad."""
    if find_spec("jupyter_client") is None or find_spec("ipykernel") is None:
        return Finding("NO", "kernel", "Jupyter is not installed", INSTALL)
    from jupyter_client.manager import start_new_kernel

    start = time.perf_counter()
    try:
        manager, client = start_new_kernel(60, "python3", stderr=subprocess.DEVNULL)
    except RuntimeError as error:
        return Finding("NO", "kernel", f"does not start: {error}", "python -m ipykernel install --sys-prefix")
    try:
        reply = client.execute_interactive("import minigrad", timeout=60, store_history=False)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    if reply["content"]["status"] != "ok":
        problem = f"starts, but cannot import minigrad: {reply['content'].get('evalue')}"
        return Finding("NO", "kernel", problem, "install Jupyter and minigrad into the same environment")
    return Finding("ok", "kernel", f"starts and imports minigrad in {time.perf_counter() - start:.1f} s")
