"""`minigrad build --lite DIR`: JupyterLite with the course, which runs Python in the browser and needs no installation.

The site holds JupyterLab, the notebooks, and the wheels of minigrad and of the widgets. Python itself, numpy and matplotlib
for the browser are the distribution called Pyodide: a folder with its files is copied into the site, and without one the
browser fetches them from Pyodide's host. A folder with Pyodide's core and a wheel of numpy is enough: wheels that every
Python can use are added, and the browser then asks no other host for anything.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

import jupyterlite_core  # noqa: F401  so that a missing one is named before anything is built
import jupyterlite_pyodide_kernel  # noqa: F401
from packaging.utils import canonicalize_name, parse_wheel_filename

from minigrad.course import notebooks
from minigrad.course.checks import welcome
from minigrad.course.commands import lab
from minigrad.course.notebooks import Cell, Notebook

__all__ = ["build", "for_browser"]

KERNEL = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}
FIRST = """# This installs the course in your browser. It takes about half a minute, once for each notebook that you open.
%pip install -q anywidget {names}minigrad-course
"""
OFFLINE = {
    "jupyter-lite-schema-version": 0,
    "jupyter-config-data": {
        "litePluginSettings": {"@jupyterlite/pyodide-kernel-extension:kernel": {"disablePyPIFallback": True}}
    },
}
EXTENSIONS = ("jupyterlite-pyodide-kernel", "jupyterlab-widgets", "anywidget")  # parts of JupyterLab's page
IMPORTED = ("anywidget", "comm", "ipywidgets", "jupyterlab-widgets", "psygnal")  # what a notebook there installs
PRESENT = ("micropip", "ipython", "jedi", "typing-extensions", "numpy")  # what it takes from Pyodide


def build(out: Path, pyodide: Path | None = None) -> Path:
    """Write the JupyterLite site into the folder `out`; the page on which it opens.

    pyodide: a folder with Pyodide's core (`pyodide.mjs`, `pyodide-lock.json`, ...) and a wheel of numpy for it. Without
    the wheels of matplotlib, and of what it needs, the notebooks draw no figures.
    Raises ModuleNotFoundError where JupyterLite's builder is not installed, ValueError with the last lines that a program
    printed when it fails, or where numpy is missing. pip has to reach the wheels of the widgets.
    """
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch)
        run(here, "hatchling", "build", "-t", "wheel", "-d", str(here / "imported"), inside=notebooks.course_root())
        for folder, names in (("extensions", EXTENSIONS), ("imported", IMPORTED)):
            download(here, here / folder, [f"{name}=={metadata.version(name)}" for name in names])
        figures = complete(pyodide, here / "static" / "pyodide", here) if pyodide else True
        contents = here / "contents"
        for file in notebooks.lay_out(contents)[0]:
            if file.suffix == ".ipynb":
                notebooks.write(for_browser(notebooks.read(file), figures), file)
        (contents / welcome.FILE).write_text(welcome.page({}), encoding="utf-8", newline="\n")
        shutil.copy(lab.SETTINGS / "labconfig" / "default_setting_overrides.json", here / "overrides.json")
        (here / "jupyter_lite_config.json").write_text(json.dumps(settings(here, out)), encoding="utf-8")
        if pyodide:
            (here / "jupyter-lite.json").write_text(json.dumps(OFFLINE), encoding="utf-8")
        run(here, "jupyterlite_core", "build")
    return out / "lab" / "index.html"


def complete(given: Path, folder: Path, here: Path) -> bool:
    """Copy Pyodide's files into `folder`, with the wheels that they lack and that any Python can use; True with matplotlib.

    The lock names each wheel and its hash: it is written anew, so that wheels from elsewhere are taken too.
    """
    if not (given / "pyodide.mjs").is_file() or not (given / "pyodide-lock.json").is_file():
        raise ValueError(f"{given} holds no Pyodide: it needs pyodide.mjs, pyodide-lock.json, and the files beside them")
    shutil.copytree(given, folder)
    lock = json.loads((folder / "pyodide-lock.json").read_text(encoding="utf-8"))
    packages: dict[str, dict[str, Any]] = {canonicalize_name(name): about for name, about in lock["packages"].items()}
    note(folder, packages)
    absent = {name for name, about in packages.items() if not (folder / about["file_name"]).is_file()}
    compiled = {name for name in absent if not packages[name]["file_name"].endswith("-none-any.whl")}
    if "numpy" in absent:
        wanted = packages["numpy"]["file_name"]
        raise ValueError(f"{given} holds no wheel of numpy: put {wanted} there, or another one for the same Pyodide")
    figures = not needed(["matplotlib"], packages) & compiled
    lacking = needed([*PRESENT, *(["matplotlib"] if figures else [])], packages) & absent - compiled
    if lacking:
        exact = [f"{name}=={packages[name]['version']}" for name in sorted(lacking)]
        download(here, folder, exact, "--python-version", lock["info"]["python"])
        note(folder, packages)
    for about in packages.values():  # IPython does without sqlite3
        about["depends"] = [name for name in about["depends"] if canonicalize_name(name) not in compiled]
    for name in [name for name in lock["packages"] if canonicalize_name(name) in absent - lacking]:
        del lock["packages"][name]
    (folder / "pyodide-lock.json").write_text(json.dumps(lock), encoding="utf-8")
    return figures


def download(here: Path, folder: Path, exact: list[str], *more: str) -> None:
    """Fetch wheels that any Python can use."""
    platform = ["--no-deps", "--platform", "any", "--only-binary=:all:", *more]
    run(here, "pip", "download", "--quiet", *platform, "--dest", str(folder), *exact)


def note(folder: Path, packages: dict[str, dict[str, Any]]) -> None:
    """Write the names and the hashes of the folder's wheels into the packages of a lock."""
    for wheel in folder.glob("*.whl"):
        name, version, *_ = parse_wheel_filename(wheel.name)
        if name in packages:
            found = {"file_name": wheel.name, "version": str(version)}
            packages[name] |= found | {"sha256": hashlib.sha256(wheel.read_bytes()).hexdigest()}


def needed(names: Iterable[str], packages: dict[str, dict[str, Any]]) -> set[str]:
    """The packages of a lock that these need, with themselves."""
    found: set[str] = set()
    waiting = [canonicalize_name(name) for name in names]
    while waiting:
        name = waiting.pop()
        if name in packages and name not in found:
            found.add(name)
            waiting += [canonicalize_name(other) for other in packages[name]["depends"]]
    return found


def settings(here: Path, out: Path) -> dict[str, dict[str, object]]:
    """What JupyterLite's builder is told."""
    imported = sorted(map(str, (here / "imported").glob("*.whl")))
    return {
        "LiteBuildConfig": {
            "contents": [str(here / "contents")],
            "federated_extensions": sorted(map(str, (here / "extensions").glob("*.whl"))),
            "ignore_sys_prefix": True,
            "no_sourcemaps": True,
            "output_dir": str(out.resolve()),
            "apps": ["lab"],
        },
        "PipliteAddon": {"piplite_urls": imported},
    }


def for_browser(nb: Notebook, figures: bool = True) -> Notebook:
    """A notebook for JupyterLite: its kernel is Pyodide, and its first cell installs the course."""
    source = FIRST.format(names="matplotlib " if figures else "")
    first: Cell = {"cell_type": "code", "id": "install", "metadata": {}, "source": source}
    first |= {"outputs": [], "execution_count": None}
    return {
        **nb,
        "metadata": {"kernelspec": KERNEL, "language_info": {"name": "python"}},
        "cells": [first, *nb["cells"]],
    }


def run(here: Path, module: str, *arguments: str, inside: Path | None = None) -> None:
    """Run a module as a program; ValueError with its last lines when it fails."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], cwd=inside or here, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{module} failed: " + "\n".join((done.stdout + done.stderr).strip().splitlines()[-6:]))
