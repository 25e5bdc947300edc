"""The lock of a prediction lesson: what a program shows is held back until its outcome was predicted.

`predict("4.0", ...)` without an answer locks the next cell that shows anything. That cell runs as ever, so that
the cells after it find its names; a card stands where its output would be, and the answer, by button or in code,
turns the card into the output. Only a page with a student before it is locked: front ends send the id of the cell
they run. Tests, grading and stored outputs know no lock.
"""

from __future__ import annotations

import re
from typing import Any

from .card import Card

__all__ = ["close", "open"]

COURSE = re.compile(r"\b(?:predict|check|hint|progress)\(")  # a cell that speaks with the course is never held back
state: dict[str, Any] = {"waiting": "", "capture": None, "shown": None}
held: dict[str, dict[str, str]] = {}  # prediction -> what its program showed


def close(prediction: str) -> None:
    """Lock the next cell that shows anything, until `open(prediction)`."""
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    if shell is None:
        return
    for event, reaction in (("pre_run_cell", before), ("post_run_cell", after)):
        if reaction not in shell.events.callbacks[event]:
            shell.events.register(event, reaction)
    state["waiting"] = prediction


def open(prediction: str) -> None:
    """Show what was held back for this prediction; its program, if it comes later, is not locked."""
    if state["waiting"] == prediction:
        state["waiting"] = ""
    if prediction in held:
        from IPython.display import update_display

        update_display(held.pop(prediction), display_id=place(prediction), raw=True)


def before(info: Any) -> None:
    """A cell begins: catch what it shows, if it is the program of an open question."""
    if state["waiting"] and info.cell_id is not None and not COURSE.search(info.raw_cell):
        from IPython.utils.capture import capture_output

        state["capture"] = capture_output(stderr=False)
        state["shown"] = state["capture"].__enter__()


def after(_: Any) -> None:
    """A cell ends: a card for what it has shown. A cell without output passes the lock on to the next one."""
    capture, shown = state["capture"], state["shown"]
    if capture is None:
        return
    state["capture"] = state["shown"] = None
    capture.__exit__(None, None, None)
    text = shown.stdout + "".join(output.data.get("text/plain", "") + "\n" for output in shown.outputs)
    if text:
        from IPython.display import display

        prediction, state["waiting"] = state["waiting"], ""
        held[prediction] = {"text/plain": text.rstrip("\n")}
        words = f"This program ran; what it shows stays locked until you answer {prediction} above."
        display(Card(words).bundle(), raw=True, display_id=place(prediction))


def place(prediction: str) -> str:
    """The name under which a front end finds the card again."""
    return f"minigrad-locked-{prediction}"
