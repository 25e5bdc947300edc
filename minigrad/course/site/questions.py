"""What a page needs to ask a prediction, lock the answer and judge it without Python."""

from __future__ import annotations

from typing import Any

from minigrad.course import misconceptions
from minigrad.course.checks import forms
from minigrad.course.checks.card import thought
from minigrad.course.exercise import Exercise
from minigrad.course.judge.diagnosis import feedback

__all__ = ["question"]


def question(exercise: Exercise) -> dict[str, Any]:
    """A prediction as plain data: its form, the answers it knows, and what each of them earns.

    `kinds` and `shapes` tell a slip of the form, which locks nothing, from an answer that one may believe in. A wrong answer
    that stands for others like it (`when`) is known here by its own numbers only. Raises ValueError for a prediction that
    only a function can judge.
    """
    if exercise.accept:
        raise ValueError(f"prediction {exercise.id} is judged by a function, which a page without Python cannot call")
    answers = forms.declared(exercise)
    shapes = sorted({forms.sizes(answer) for answer in answers if not isinstance(answer, str)})
    return {
        "id": exercise.id,
        "asked": forms.asked(exercise),
        "right": exercise.right,
        "wrong": [[wrong.answer, feedback(wrong), *believed(wrong.misconception)] for wrong in exercise.wrong],
        "kinds": sorted({kind for answer in answers for kind in forms.entries(answer)}),
        "shapes": [list(shape) for shape in shapes],
        "loose": [depth for depth in {len(s) for s in shapes} if forms.several(set(shapes), depth)],
        "words": [answer for answer in answers if isinstance(answer, str)],
        "rtol": exercise.rtol,
        "atol": exercise.atol,
    }


def believed(id: str) -> list[str]:
    """A misconception in a believer's words, and its heading on the page of misconceptions; nothing for a plain slip."""
    words = thought(id)
    return [words[0].upper() + words[1:], f"{id} {misconceptions.catalogue()[id].name}"] if words else []
