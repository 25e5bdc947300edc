"""`minigrad build --lite DIR`: JupyterLite with the course, which runs Python in the browser and needs no installation.

The site holds JupyterLab, the notebooks, and the wheels of minigrad and of the widgets. Python itself, numpy and matplotlib
for the browser are the distribution called Pyodide: a folder with its files is copied into the site, and without one the
browser fetches them from Pyodide's host.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import jupyterlite_core  # noqa: F401  so that a missing one is named before anything is built
import jupyterlite_pyodide_kernel  # noqa: F401

from minigrad.course import lab, notebooks, welcome
from minigrad.course.notebooks import Cell, Notebook

__all__ = ["build", "for_browser"]

KERNEL = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}
FIRST = """# This installs the course in your browser. It takes about half a minute, once for each notebook that you open.
%pip install -q anywidget matplotlib minigrad-course
import os
os.environ["MINIGRAD_LAB"] = "1"
"""
EXTENSIONS = ("jupyterlite-pyodide-kernel", "jupyterlab-widgets", "anywidget")  # parts of JupyterLab's page
IMPORTED = ("anywidget", "comm", "ipywidgets", "jupyterlab-widgets", "psygnal")  # what a notebook there installs


def build(out: Path, pyodide: Path | None = None) -> Path:
    """Write the JupyterLite site into the folder `out`; the page on which it opens.

    pyodide: a folder with `pyodide.mjs`, `pyodide-lock.json`, and the wheels for numpy and matplotlib that it names.
    Raises ModuleNotFoundError where JupyterLite's builder is not installed, ValueError with the last lines that a program
    printed when it fails. pip has to reach the wheels of the widgets.
    """
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch)
        run(here, "hatchling", "build", "-t", "wheel", "-d", str(here / "imported"), inside=notebooks.course_root())
        for folder, names in (("extensions", EXTENSIONS), ("imported", IMPORTED)):
            wanted = [f"{name}=={metadata.version(name)}" for name in names]
            platform = ["--no-deps", "--platform", "any", "--only-binary=:all:"]
            run(here, "pip", "download", "--quiet", *platform, "--dest", str(here / folder), *wanted)
        contents = here / "contents"
        for file in notebooks.lay_out(contents)[0]:
            if file.suffix == ".ipynb":
                notebooks.write(for_browser(notebooks.read(file)), file)
        (contents / welcome.FILE).write_text(welcome.page({}), encoding="utf-8", newline="\n")
        shutil.copy(lab.SETTINGS / "labconfig" / "default_setting_overrides.json", here / "overrides.json")
        (here / "jupyter_lite_config.json").write_text(json.dumps(settings(here, out)), encoding="utf-8")
        if pyodide:
            shutil.copytree(pyodide, here / "static" / "pyodide")
        run(here, "jupyterlite_core", "build")
    return out / "lab" / "index.html"


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


def for_browser(nb: Notebook) -> Notebook:
    """A notebook for JupyterLite: its kernel is Pyodide, and its first cell installs the course."""
    first: Cell = {"cell_type": "code", "id": "install", "metadata": {}, "source": FIRST}
    first |= {"outputs": [], "execution_count": None}
    return {**nb, "metadata": {"kernelspec": KERNEL, "language_info": {"name": "python"}}, "cells": [first, *nb["cells"]]}


def run(here: Path, module: str, *arguments: str, inside: Path | None = None) -> None:
    """Run a module as a program; ValueError with its last lines when it fails."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], cwd=inside or here, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{module} failed: " + "\n".join((done.stdout + done.stderr).strip().splitlines()[-6:]))
