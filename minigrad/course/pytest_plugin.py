"""The plugin of pytest, found by its entry point: notebooks are judged by the answers in them.

While pytest runs the cells of a notebook (nbval), the kernel that it starts inherits `MINIGRAD_CHECK=raise`,
so that a check that does not pass fails its cell, and `MINIGRAD_DISPLAY=static`, so that a picture is the
same every time. Addresses of objects are mapped to one, unless the caller brings a sanitizer file.
"""

import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

SETTINGS = {"MINIGRAD_CHECK": "raise", "MINIGRAD_DISPLAY": "static"}
SANITIZER = Path(__file__).parent / "data" / "nbval_sanitize.cfg"

# nbval loads jsonschema, and that this module if it is there: a grammar that takes a second to build, for addresses
# that no notebook holds. So it is not there until all plugins are loaded (`-p minigrad` loads this one before nbval).
SLOW_TO_LOAD = "rfc3987_syntax"
sys.modules.setdefault(SLOW_TO_LOAD, None)  # type: ignore[arg-type]  # None: an ImportError


def pytest_configure(config: pytest.Config) -> None:
    """Give nbval the course's sanitizer file, unless another is given."""
    if sys.modules.get(SLOW_TO_LOAD, True) is None:
        del sys.modules[SLOW_TO_LOAD]
    if _runs_notebooks(config) and not config.getoption("nbval_sanitize_with", default=None):
        config.option.nbval_sanitize_with = str(SANITIZER)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, Any, Any]:
    """Set the two variables around each cell (the first one starts the kernel), then put back what was."""
    if not _runs_notebooks(item.config) or item.path.suffix != ".ipynb":
        return (yield)
    with mock.patch.dict(os.environ, SETTINGS):
        return (yield)


def _runs_notebooks(config: pytest.Config) -> bool:
    return bool(config.getoption("nbval", default=False) or config.getoption("nbval_lax", default=False))
