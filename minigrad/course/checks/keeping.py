"""`keep("7.1")`: a solved exercise goes into the student's own engine, and a card shows the lines that go and come there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ..exercise import Exercise
from . import own_engine, progress_store
from .card import Card
from .checking import asked_for, doubted, examine, names_of, of_another_edition, show
from .own_engine import FILE, Differs, Part, Unkept
from .progress_store import in_notebook

__all__ = ["keep"]


def keep(exercise: str, replace: bool = False) -> None:
    """Put a solved exercise into your own engine, for example `keep("7.1")`, and show what changes there.

    The engine is `my_engine.py` in the folder of your course; `from my_engine import *` then has the new part. The file
    before it stays in a folder beside it, under a name with the date. While notebooks are tested or graded nothing is
    written or shown.

    Args:
        exercise: its id, or a name it asks for.
        replace: give up other lines that you have there for it; without it they are shown, and stay.

    Raises:
        KeyError: there is no such exercise, or the engine gets nothing from it.
    """
    namespace = names_of(sys._getframe(1))
    found = asked_for(exercise, namespace)
    if (part := own_engine.given().get(found.id)) is None:
        known = ", ".join(each.id for each in own_engine.given().values() if each.names)
        raise KeyError(f"the engine gets nothing from {found.id}; it grows by {known}")
    if not progress_store.judged() and not of_another_edition():
        show(keep_card(found, part, namespace, replace))


def keep_card(exercise: Exercise, part: Part, namespace: dict[str, Any], over: bool) -> Card:
    """Keep a part, and say what became of it."""
    folder, id = progress_store.folder().absolute(), exercise.id
    title, file = f"{FILE}: {id} {exercise.title}", folder / FILE
    try:
        cells = cells_that_ran()
        text = own_engine.text_of(file) if file.exists() else ""
        if text and own_engine.edited(text, part, cells, exercise.title) == text:
            return Card(title, "there already", paragraphs=(f"`{file}` has it as it is here.", *lacking(file, part)))
        if not (doubted(exercise, namespace) or examine(exercise, namespace)).passed:
            return Card(title, "not kept", paragraphs=(f'Its check does not pass yet. Run check("{id}"), then this again.',))
        change = own_engine.keep(part, cells, folder, exercise.title, over)
    except Differs as error:
        differs = f"{FILE} has other lines for {id}, so nothing was written."
        how = f'If you want the new ones, run keep("{id}", replace=True). The old file is then kept in {own_engine.OLDER}.'
        return Card(title, "not kept", (("lines that would go (-) and come (+)", "\n".join(error.lines)),), (differs, how))
    except Unkept as error:
        return Card(title, "not kept", paragraphs=(str(error),))
    sys.modules.pop(own_engine.NAME, None)
    label = "lines that are gone (-) and new (+)" if any(line.startswith("-") for line in change.lines) else "new lines"
    says = f"Your engine is `{file}`." + f" The one before is kept in `{change.old}`." * bool(change.old)
    return Card(title, "kept", ((label, "\n".join(change.lines)),), (says, *lacking(file, part)))


def cells_that_ran() -> list[str]:
    """The source of all cells that ran in this notebook, in order."""
    if not in_notebook():
        raise Unkept("It takes your code from the cells of a notebook, and here is none.")
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    return list(shell.history_manager.input_hist_raw)


def lacking(file: Path, part: Part) -> tuple[str, ...]:
    """What the engine lacks of earlier lessons, and what to do about it; once."""
    gap = own_engine.lacking(own_engine.text_of(file), part.lesson)
    return tuple(filter(own_engine.new, [own_engine.of_the_gap(gap)] if gap else []))
