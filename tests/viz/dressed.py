"""The stepper's JSON value and its text, as `step` makes them, of what a test gives."""

from typing import Any

from minigrad.viz.data import dress, recorded


def data_of(
    loss: Any, gradient: Any, names: dict[str, Any], rules: dict[str, Any] | None, ones: bool = False
) -> tuple[dict[str, Any], str]:
    return dress(recorded(loss, gradient, names, rules, ones=ones))
