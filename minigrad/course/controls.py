"""Controls for a question that is answered by a choice, an order or a few numbers, and the button for a hint.

They save typing and nothing else: pressing the button does what the line of code shown beneath it does, and
that line can be typed instead. Every control has a label; nothing is sent anywhere; without a front end they
are not offered. A page that is read without its kernel shows what was answered, and says how to go on.
"""

from __future__ import annotations

import ast
import html
from collections.abc import Callable
from typing import Any

import ipywidgets
from IPython.display import display

from minigrad.viz.live import Live

from . import forms
from .card import Card
from .exercise import Exercise

__all__ = ["offer", "offer_hint", "panel"]


def offer(exercise: Exercise, judged: Callable[[Any], Card], hint: Callable[[], Card], instead: Card) -> None:
    """Show the controls of an exercise that has any, and `instead` where there are no widgets.

    `judged` takes an answer and gives its card, `hint` gives the next hint's.
    """
    display(panel(exercise, judged, hint, instead))


def offer_hint(exercise: Exercise, hint: Callable[[], Card]) -> None:
    """Show a button for the next hint."""
    display(hints(exercise, hint))


def panel(
    exercise: Exercise, judged: Callable[[Any], Card], hint: Callable[[], Card], instead: Card
) -> Live:
    """A question, its controls, the code that does the same, and room for the card."""
    field = choices(exercise) if exercise.options else written(exercise)
    words = "Lock this answer in" if exercise.kind == "prediction" else "Check this answer"
    button = ipywidgets.Button(description=words, tooltip=f"{words}: {exercise.id}", layout={"width": "max-content"})
    same_as = ipywidgets.HTML()
    card = ipywidgets.HTML()
    more = hints(exercise, hint)
    more.layout.display = "none"

    def answer() -> Any:
        return field.value if exercise.options else read(field.value)

    def show_code(change: Any = None) -> None:
        same_as.value = kept(exercise, answer())

    def pressed(_: Any) -> None:
        if open_still(exercise, answer()):
            card.value = Card(title(exercise), "empty", (), (f"The answer is {forms.asked(exercise)}.",)).html()
            return
        made = judged(answer())
        card.value = made.html()
        more.layout.display = "" if made.state == "not yet" and exercise.kind != "prediction" else "none"

    field.observe(show_code, names="value")
    button.on_click(pressed)
    show_code()
    parts = [ipywidgets.HTML(opening(exercise)), field, button, same_as, card, more]
    return Live(parts, "To answer, run this cell again.", instead.bundle())


def hints(exercise: Exercise, hint: Callable[[], Card]) -> Live:
    """A button, and room for what it has given."""
    button = ipywidgets.Button(description=f"Hint for {exercise.id}", layout={"width": "max-content"})
    given = ipywidgets.HTML()

    def pressed(_: Any) -> None:
        given.value = hint().html()

    button.on_click(pressed)
    return Live([button, given], "", Card(f'hint("{exercise.id}") gives a hint.').bundle())


def title(exercise: Exercise) -> str:
    """How a card names the exercise."""
    return f"{exercise.id} {exercise.title}"


def opening(exercise: Exercise) -> str:
    """The question once more, the form of its answer, and the items of an ordering; as HTML."""
    question = html.escape(" ".join(filter(None, [forms.question(exercise), f"The answer is {forms.asked(exercise)}."])))
    items = "".join(f"<li>{html.escape(str(item))}</li>" for item in exercise.items)
    return f"<strong>{html.escape(title(exercise))}</strong><br>{question}" + (f"<ol>{items}</ol>" if items else "")


def choices(exercise: Exercise) -> ipywidgets.RadioButtons:
    """One button for each option, none chosen."""
    options = [(f"{letter}: {text}", letter) for letter, text in exercise.options.items()]
    return ipywidgets.RadioButtons(
        options=options, value=None, description=f"{exercise.id}:", layout={"width": "max-content"}
    )


def written(exercise: Exercise) -> ipywidgets.Text:
    """A field for a number or a list."""
    return ipywidgets.Text(
        description=f"{exercise.id}:", placeholder=forms.asked(exercise), layout={"width": "min(100%, 36em)"}
    )


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
