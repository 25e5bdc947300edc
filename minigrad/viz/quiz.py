"""Questions before each reveal."""

from __future__ import annotations

from typing import Any

from ..recording import Recording


def add(data: dict[str, Any], recording: Recording) -> None:
    """Give steps of the data a `quiz`."""
