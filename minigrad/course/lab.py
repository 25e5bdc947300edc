"""`minigrad lab`: the course in JupyterLab.

The lessons are laid out in the student's own folder, where a file that is there is never touched; then JupyterLab is
started there, at a page that says what is solved, with settings that suit a course: widgets are saved with a notebook,
pages of text open as pages, no news, no update check, and cells stay in the page when they scroll out of view.
"""

import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from minigrad.course import notebooks, updating, welcome

SETTINGS = Path(__file__).parent / "data" / "jupyter"


def command(folder: Path, browser: bool = True, port: int | None = None, page: str = "") -> list[str]:
    """The command line that serves `folder` and opens a page of it: the welcome page unless another is named."""
    line = [
        sys.executable, "-m", "jupyterlab",
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{quote(page or welcome.FILE)}",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
    ]  # fmt: skip
    if not browser:
        line.append("--no-browser")
    if port is not None:
        line += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        line.append("--allow-root")
    return line


def environment(base: Mapping[str, str]) -> dict[str, str]:
    """The environment of the server: ours after the user's own Jupyter settings, so that theirs win.

    MINIGRAD_LAB tells the stepper that these settings save its widgets.
    """
    paths = [base[name] for name in ("JUPYTER_CONFIG_PATH",) if base.get(name)]
    return {**base, "JUPYTER_CONFIG_PATH": os.pathsep.join([*paths, str(SETTINGS)]), "MINIGRAD_LAB": "1"}


def lay_out(folder: Path) -> tuple[list[Path], list[Path], list[str]]:
    """Lessons, exercises and the welcome page in a student's folder; the files written, those found, and what to know."""
    written, kept = notebooks.lay_out(folder)
    news = updating.news(folder, kept)
    welcome.write(folder, news)
    return written, kept, news


def start(folder: Path, browser: bool = True, port: int | None = None, page: str = "") -> int:
    """Lay the course out in `folder` and serve it until the user stops the server; returns its exit code.

    It opens at `page`, a file of the course, else at the welcome page.

    Raises ModuleNotFoundError when JupyterLab or the widgets are not installed.
    """
    for module in ("jupyterlab", "ipykernel", "ipywidgets", "anywidget", "matplotlib"):
        if find_spec(module) is None:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    written, kept, news = lay_out(folder)
    print(f"The course is in {folder}: {len(written)} files are new, {len(kept)} were there and stay.")
    print(*news, sep="\n", end="\n" if news else "")
    print("Stop JupyterLab with Ctrl-C. Your work stays in that folder.", flush=True)
    line, env = command(folder, browser, port, page), environment(os.environ)
    if platform.system() != "Windows":
        os.execve(line[0], line, env)  # the server takes our place: signals and exit code are its own
    return subprocess.run(line, env=env, check=False).returncode
