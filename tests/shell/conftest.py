"""A user of their own for each test of a command: the course opened last is noted in the folder of the test."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_user(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Jupyter's data and what it notes about running servers, both below one folder."""
    home = tmp_path_factory.mktemp("user")
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(home / "data"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(home / "runtime"))
    return home
