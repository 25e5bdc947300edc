"""The form of an answer: what a question takes, and what is wrong with the form of what was given.

The form is read from all declared answers, the wrong ones too, so it gives nothing away. A slip of the form is no
belief: it is said, and nothing is locked in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exercise import Exercise
from ..judge.plain import kind_of, option, plain_value
from ..student import wire

__all__ = ["asked", "slip"]

COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
ENTRIES = {"number": "a number", "None": "None", "truth": "True or False"}


def asked(exercise: Exercise) -> str:
    """What a question takes, in words: "a number", "a list of two numbers", "one letter: a, b or c"."""
    if exercise.options:
        *letters, last = exercise.options
        return f"one letter: {', '.join(letters)} or {last}"
    if exercise.kind == "ordering":
        return f"a list of the numbers 1 to {len(exercise.items)} in your order"
    answers = declared(exercise)
    kinds = {kind for answer in answers for kind in entries(answer)} if exercise.kind == "prediction" else set()
    kinds |= entries(exercise.right)
    one = " or ".join(words for kind, words in ENTRIES.items() if kind in kinds)
    size = sizes(exercise.right)
    if not size:
        form = one
    elif len(size) > 1:
        pairs = entries(exercise.right) == {"text"}
        form = 'a list of pairs, such as [("a", "b"), ("a", "c")]' if pairs else "a list of rows, such as [[7, 8], [9, 0]]"
    else:
        alike = all(sizes(answer) in (size, ()) and type(answer) is not int for answer in answers)
        count = f"{COUNTS[size[0]] if size[0] < len(COUNTS) else size[0]} " if alike else ""
        flat = not any(map(sizes, exercise.right))
        form = f"a list of {count}" + ("entries" if not flat else "numbers" if kinds == {"number"} else f"entries, each {one}")
    return " or ".join([form, *(repr(answer) for answer in answers if type(answer) is str and exercise.kind == "prediction")])


def slip(exercise: Exercise, answer: Any, typed: bool = False) -> str:
    """What is wrong with the form of an answer that is not right; "" for an answer that one may believe in.

    typed: it comes from a field, in which a text needs no quotation marks.
    """
    try:
        plain = plain_value(wire.unpack(wire.pack(answer)))
    except wire.WireError:
        return f"A {type(answer).__name__} is no plain value. The answer is {asked(exercise)}."
    known = [text for each in declared(exercise) for text in texts(each)]
    if exercise.options:
        fits = option(plain) in exercise.options
    elif isinstance(plain, str):
        fits = plain in declared(exercise)
    elif isinstance(plain, dict) or sizes(plain) == (0,) or not set(texts(plain)) <= set(known):
        fits = False
    else:
        answers = [] if exercise.accept else declared(exercise)
        shapes = {sizes(each) for each in answers}
        kinds = {kind for each in declared(exercise) for kind in entries(each)}
        fits = entries(plain) <= kinds and (not shapes or sizes(plain) in shapes or several(shapes, len(sizes(plain))))
    marks = "" if typed or exercise.options or known or not texts(plain) else " Write it without quotation marks."
    return "" if fits else f"That is {described(plain)}. The answer is {asked(exercise)}.{marks}"


def described(value: Any) -> str:
    """What somebody gave, and how much of it: a list alone is often what is asked for."""
    size = sizes(value)
    if not size or (len(size) == 1 and entries(value) & {"text", "None", "truth"}):
        return kind_of(value)
    count = COUNTS[size[0]] if size[0] < len(COUNTS) else str(size[0])
    what = ("row" if len(size) > 1 else "entry") if size[0] == 1 else "rows" if len(size) > 1 else "entries"
    return f"{'an array' if isinstance(value, np.ndarray) else kind_of(value)} of {count} {what}"


def texts(value: Any) -> list[str]:
    """The texts in a value."""
    if isinstance(value, list | tuple):
        return [text for each in value for text in texts(each)]
    return [value] if isinstance(value, str) else []


def several(shapes: set[tuple[int, ...]], depth: int) -> bool:
    """Whether declared answers of this depth differ in their sizes, so that any size may be believed in."""
    return len({shape for shape in shapes if len(shape) == depth}) > 1


def declared(exercise: Exercise) -> list[Any]:
    """Every answer that the exercise knows, the right one first."""
    return [exercise.right, *(wrong.answer for wrong in exercise.wrong)]


def sizes(value: Any) -> tuple[int, ...]:
    """() for a single value, (2,) for a list of two, (2, 3) for two rows of three; ragged lists count as flat."""
    if not isinstance(value, list | tuple | np.ndarray):
        return ()
    inner = {sizes(each) for each in value}
    return (len(value), *(inner.pop() if len(inner) == 1 else ()))


def entries(value: Any) -> set[str]:
    """The kinds of what stands in a value: number, truth, None, text."""
    if isinstance(value, list | tuple | np.ndarray):
        return {kind for each in value for kind in entries(each)}
    if value is None:
        return {"None"}
    if isinstance(value, str):
        return {"text"}
    return {"truth"} if type(value).__name__ in ("bool", "bool_") else {"number"}
