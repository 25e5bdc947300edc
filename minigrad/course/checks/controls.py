"""Controls for a question that is answered by a choice, an order or a few numbers, and the button for a hint.

They save typing and nothing else: the line of code can be written instead. A card and its controls are one output, which is
painted anew with each answer, so there is one verdict, and it is saved with the notebook. Where the kernel cannot be asked
(`minigrad.viz.live`) the card stands alone.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from IPython.display import display, update_display

from minigrad.viz.live import BUTTON, FIELD, Live, asleep

from ..exercise import Exercise
from . import forms
from .card import Card, marked

__all__ = ["Question"]


class Question(Live):
    """A card, and below it the controls that its state asks for.

    judged(answer) gives the card of an answer, hint() that of the next hint, None where there is none. With `field` there
    is one for an answer as long as the card is not passed and not locked.
    """

    def __init__(
        self, exercise: Exercise, card: Card, judged: Callable[[Any], Card], hint: Callable[[], Card] | None, field: bool
    ) -> None:
        super().__init__()
        self.exercise, self.card, self.judged, self.hint, self.field = exercise, card, judged, hint, field
        self.given = ""

    def show(self) -> None:
        """Display the card with its controls."""
        display(self.bundle(), raw=True, display_id=self.id)

    def text(self) -> str:
        return self.card.text()

    def body(self) -> str:
        """The card, the field, the button for a hint and the hint that was given."""
        answerable = self.field and self.card.state not in ("passed", "locked")
        parts = [form(self.exercise, self.id)] if answerable else []
        if self.hint and self.card.state == "not yet":
            parts.append(button("hint", f"Hint for {self.exercise.id}"))
        below = f'<div data-awake style="display:none;margin:0.3em 0 0.6em 0.9em">{"".join(parts)}</div>' if parts else ""
        below += asleep("To answer in a field, run this cell again.") if answerable else ""
        return f'{self.card.html()}{below}<div data-part="said" role="status">{self.given}</div>'

    def on_action(self, action: str, values: Mapping[str, str]) -> dict[str, str]:
        typed = str(values.get("answer", "")).strip()
        if action == "hint" and self.hint:
            self.given = self.hint().html()
        elif not typed:
            what = "Choose" if self.exercise.options else "Write"
            return {"said": Card(title(self.exercise), "empty", (), (f"{what} {forms.asked(self.exercise)}.",)).html()}
        else:
            self.card, self.given = self.judged(typed if self.exercise.options else read(typed)), ""
        update_display(self.bundle(), raw=True, display_id=self.id)
        return {}


def title(exercise: Exercise) -> str:
    """How a card names the exercise."""
    return f"{exercise.id} {exercise.title}"


def form(exercise: Exercise, page: str) -> str:
    """The field or the choices, and the button; `page` keeps the choices of two pages apart."""
    words = "Lock this answer in" if exercise.kind == "prediction" else "Check this answer"
    asked = escape(f"Your answer, {forms.asked(exercise)}", quote=True)
    if exercise.options:
        choices = "".join(
            f'<label style="display:block"><input type="radio" name="{page}" data-value="answer" value="{letter}"> '
            f"{letter}: {marked(str(text))}</label>"
            for letter, text in exercise.options.items()
        )
        plain = "border:0;margin:0;padding:0"
        return f'<fieldset style="{plain}"><legend>{asked}:</legend>{choices}</fieldset>{button("answer", words)}'
    field = f'<input type="text" data-value="answer" autocomplete="off" spellcheck="false" style="{FIELD}">'
    return f'<label>{asked}:<br>{field}</label> {button("answer", words)}'


def button(action: str, words: str) -> str:
    """A button that asks the kernel for an action."""
    return f'<button type="button" data-action="{action}" style="{BUTTON};margin:0.3em 0.6em 0.3em 0">{escape(words)}</button>'


def read(text: str) -> Any:
    """What was typed into the field as a value; the text itself if it is none."""
    for source in (text, f"[{text}]"):
        try:
            found = ast.literal_eval(source)
            return list(found) if type(found) is tuple else found
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
    return text
