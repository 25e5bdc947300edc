"""`minigrad lab`: the course in JupyterLab.

The lessons are laid out in the student's own folder, where a file that is there is never touched; then
JupyterLab is started there, at the first lesson, with settings that suit a course: no news prompt, no update
check, and cells that stay in the page when they scroll out of view (a stepper keeps its place).
"""

import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from minigrad.course import notebooks

SETTINGS = Path(__file__).parent / "data" / "jupyter"


def command(folder: Path, browser: bool = True, port: int | None = None) -> list[str]:
    """The command line that serves `folder`."""
    line = [
        sys.executable, "-m", "jupyterlab",
        f"--ServerApp.root_dir={folder}",
        f"--LabApp.default_url=/lab/tree/{first_lesson(folder)}",
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
    """The environment of the server: ours after the user's own Jupyter settings, so that theirs win."""
    paths = [base[name] for name in ("JUPYTER_CONFIG_PATH",) if base.get(name)]
    return {**base, "JUPYTER_CONFIG_PATH": os.pathsep.join([*paths, str(SETTINGS)]), "MINIGRAD_LAB": "1"}


def first_lesson(folder: Path) -> str:
    """The lesson to open, as a path inside `folder` with forward slashes; empty when there is none."""
    lessons = sorted((folder / "notebooks").glob("[0-9][0-9]_*.ipynb"))
    return lessons[0].relative_to(folder).as_posix() if lessons else ""


def start(folder: Path, browser: bool = True, port: int | None = None) -> int:
    """Lay the course out in `folder` and serve it until the user stops the server; returns its exit code.

    Raises ModuleNotFoundError when JupyterLab or the widgets are not installed.
    """
    for module in ("jupyterlab", "ipykernel", "ipywidgets", "anywidget", "matplotlib"):
        if find_spec(module) is None:
            raise ModuleNotFoundError(f"No module named {module!r}", name=module)
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    written, kept = notebooks.lay_out(folder)
    print(f"The course is in {folder}: {len(written)} files are new, {len(kept)} were there and stay.")
    print("Stop JupyterLab with Ctrl-C. Your work stays in that folder.", flush=True)
    line, env = command(folder, browser, port), environment(os.environ)
    if platform.system() != "Windows":
        os.execve(line[0], line, env)  # the server takes our place: signals and exit code are its own
    return subprocess.run(line, env=env, check=False).returncode
