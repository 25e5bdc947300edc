"""The catalogue of misconceptions about gradients, read from its page, `data/misconceptions.md`.

Each entry says the belief in a line, gives a few lines of code and what they really do, the feedback a
student gets (what was seen, why, a question; never the fix), three hints that go deeper, and where PyTorch's
documentation treats it. Exercises refer to entries by id; `minigrad.broken(id)` injects those that are a
bug of an engine; `page()` is the reference page: this text, and where each belief is met.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from .lesson_text import MISCONCEPTIONS, TextError, grouped, pieces, words

__all__ = ["Misconception", "catalogue", "feedback", "find", "page"]

FORM = ["", "```python", "", "", "1.", "2.", "3.", ""]
HOLDS = "*its belief*, ```python its code, what it prints `...`, the feedback, three hints and [the documentation](...)"


@dataclass(frozen=True)
class Misconception:
    """One belief. `code` is an example to run (minigrad as torch); `shows` what it really does."""

    id: str
    name: str
    belief: str
    code: str
    shows: str
    feedback: str
    hints: tuple[str, str, str]
    docs: str


@functools.cache
def catalogue() -> dict[str, Misconception]:
    """All entries by their ids, in the order of the page; TextError, with its line, for one that cannot be read."""
    found: dict[str, Misconception] = {}
    top, *more = grouped(pieces(MISCONCEPTIONS))
    if more:
        raise TextError(MISCONCEPTIONS, more[0].line, "a second heading: an entry begins with '## M01 its name'")
    for entry in (part for part in top.below if part.mark == "##"):
        if [part.mark for part in entry.below] != FORM:
            raise TextError(MISCONCEPTIONS, entry.line, f"{entry.text!r}: below an entry stand {HOLDS}")
        belief, code, shows, feedback, *hints, docs = (part.text for part in entry.below)
        id, _, name = entry.text.partition(" ")
        if id in found:
            raise TextError(MISCONCEPTIONS, entry.line, f"there are two entries {id}")
        first, second, third = map(words, hints)
        found[id] = Misconception(id, name, words(belief.strip("*")), code.strip(), shows.partition("`")[2][:-1],
                                  words(feedback), (first, second, third), docs.partition("(")[2][:-1])  # fmt: skip
    return found


def find(id: str) -> Misconception:
    """The entry of this id. KeyError with the nearest ids if there is none."""
    known = catalogue()
    if id not in known:
        raise KeyError(f"there is no misconception {id!r}; the catalogue has {next(iter(known))} to {max(known)}")
    return known[id]


def feedback(id: str) -> str:
    """What a student reads about it; "" for the empty id (a slip that no belief explains)."""
    return find(id).feedback if id else ""


def used_by() -> dict[str, list[str]]:
    """Misconception id -> ids of the exercises whose wrong answers stand for it."""
    from . import lessons

    found: dict[str, list[str]] = {}
    for exercise in lessons.all_exercises():
        ids = [w.misconception for w in exercise.wrong] + [b.misconception for b in exercise.before]
        for id in dict.fromkeys(filter(None, ids)):
            found.setdefault(id, []).append(exercise.id)
    return found


def page() -> str:
    """The reference page, `notebooks/reference/misconceptions.md`: the text, and below each entry where it is met."""
    from minigrad.record import bugs

    met = used_by()
    made = "<!-- Made by `minigrad build` from `minigrad/course/data/misconceptions.md`; edit there. -->"
    top, *entries = re.split(r"^(?=## )", MISCONCEPTIONS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    out = [top.rstrip(), made]
    for id, text in zip(catalogue(), entries, strict=True):
        where = f" · exercises {', '.join(met[id])}" if id in met else ""
        inject = f' · inject it: `with minigrad.broken("{id}"):`' if id in bugs.BUGS else ""
        out.append(text.rstrip() + where + inject)
    return "\n\n".join(out) + "\n"
