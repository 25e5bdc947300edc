"""Controls for a question that is answered by a choice, an order or a few numbers.

They save typing and nothing else: pressing the button does what the line of code shown beneath it does, and
that line can be typed instead. Every control has a label; nothing is sent anywhere; without a front end they
are not offered. Pressing the button puts the answer into the student's variable and shows the check's card
below.
"""

from __future__ import annotations

import ast
import html
from collections.abc import Callable
from typing import Any

import ipywidgets
from IPython.display import display

from .exercise import Exercise

__all__ = ["offer", "panel"]


def offer(exercise: Exercise, judged: Callable[[Any], str]) -> None:
    """Show the controls of an exercise that has any. `judged` takes an answer and gives the card's HTML."""
    if exercise.kind in ("value", "choice", "ordering", "prediction"):
        display(panel(exercise, judged))


def panel(exercise: Exercise, judged: Callable[[Any], str]) -> ipywidgets.VBox:
    """A question's controls, the code that does the same, and room for the card."""
    field = choices(exercise) if exercise.options else written(exercise)
    words = "Lock this answer in" if exercise.kind == "prediction" else "Check this answer"
    button = ipywidgets.Button(description=words, tooltip=f"{words}: {exercise.id}")
    same_as = ipywidgets.HTML()
    card = ipywidgets.HTML()

    def answer() -> Any:
        return field.value if exercise.options else read(field.value)

    def show_code(change: Any = None) -> None:
        same_as.value = kept(exercise, answer())

    def pressed(_: Any) -> None:
        if field.value is not None and field.value.strip():
            card.value = judged(answer())

    field.observe(show_code, names="value")
    button.on_click(pressed)
    show_code()
    parts = [ipywidgets.HTML(listing(exercise))] if exercise.items else []
    return ipywidgets.VBox([*parts, field, button, same_as, card])


def choices(exercise: Exercise) -> ipywidgets.RadioButtons:
    """One button for each option, none chosen."""
    options = [(f"{letter}: {text}", letter) for letter, text in exercise.options.items()]
    return ipywidgets.RadioButtons(
        options=options, value=None, description=f"{exercise.id}:", layout={"width": "max-content"}
    )


def written(exercise: Exercise) -> ipywidgets.Text:
    """A field for a number or a list."""
    if type(exercise.right) is bool:
        example = "True or False"
    else:
        example = "for example 3, 1, 2" if exercise.kind == "ordering" else "a number, or a list such as [1, 2]"
    return ipywidgets.Text(description=f"{exercise.id}:", placeholder=example)


def listing(exercise: Exercise) -> str:
    """The items of an ordering, numbered."""
    return "<ol>" + "".join(f"<li>{html.escape(str(item))}</li>" for item in exercise.items) + "</ol>"


def read(text: str) -> Any:
    """What was typed into the field as a value; the text itself if it is none."""
    for source in (text.strip(), f"[{text}]") if text.strip() else ():
        try:
            found = ast.literal_eval(source)
            return list(found) if type(found) is tuple else found
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
    return text.strip()


def open_still(exercise: Exercise, answer: Any) -> bool:
    """True while nothing was chosen or typed: the word None is an answer where one types."""
    return answer == "" or (answer is None and bool(exercise.options))


def kept(exercise: Exercise, answer: Any) -> str:
    """How the answer gets into the notebook itself, as HTML; the predict cell of an exercise is locked there."""
    if exercise.kind == "prediction" and exercise.points:
        shown = "your answer" if open_still(exercise, answer) else f"<code>{html.escape(repr(answer))}</code>"
        return f"To keep it in the notebook, write {shown} in the place of the dots above."
    return f"The same in code, to keep it in the notebook: <code>{html.escape(code(exercise, answer))}</code>"


def code(exercise: Exercise, answer: Any) -> str:
    """The line that does what the button does."""
    shown = "..." if open_still(exercise, answer) else repr(answer)
    if exercise.kind == "prediction":
        return f'predict("{exercise.id}", {shown})'
    return f'{exercise.name} = {shown}; check("{exercise.id}")'
