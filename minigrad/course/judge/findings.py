"""What the judge sees in answers that are not right, as data, and the words for it.

A `Finding` is what the parts of the judge hand to each other; `words` turns it into a sentence when a card is written.
Nothing reads a sentence back: another wording changes no verdict.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["ORDINALS", "Finding", "words"]

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")


@dataclass(frozen=True)
class Finding:
    """One thing that is true of wrong numbers.

    Args:
        kind: a key of `SENTENCES`.
        where: the part of the answer that it is about, or which axis.
        numbers: factor, places or counts, by kind.
        many: about an answer of several numbers.
        how: what the numbers at these places are: "zero", "negative" or "wrong".
    """

    kind: str
    where: str = ""
    numbers: tuple[float, ...] = ()
    many: bool = False
    how: str = ""

    @property
    def explains(self) -> bool:
        """Whether it says how the numbers came about, and not only which of them are wrong."""
        return self.kind in ("zero", "sign", "near") or (self.kind == "places" and self.how != "wrong")

    @property
    def relates(self) -> bool:
        """Whether it compares each number with the right one."""
        plain = self.kind in ("sign", "near", "factor", "same factor", "zero")
        return plain or (self.kind == "places" and self.how != "wrong")


def words(found: Finding | None) -> str:
    """The sentence for it; "" for None."""
    return SENTENCES[found.kind](found) if found else ""


def of_places(found: Finding) -> str:
    """Which numbers of a short list are not right, and what the others are."""
    places = [ORDINALS[int(i)] for i in found.numbers[:-1]]
    which = " and the ".join(filter(None, [", the ".join(places[:-1]), places[-1]]))
    others = "the other one is" if found.numbers[-1] == 1 else "the others are"
    how = {"zero": "zero", "negative": "right but for the sign", "wrong": "not right"}[found.how]
    return f"The {which} number {'is' if len(places) == 1 else 'are'} {how}; {others}{' right' * (found.how != 'wrong')}."


SENTENCES: dict[str, Callable[[Finding], str]] = {
    "near": lambda f: "It is very near: rounded, measured with a small step, or computed in float32?",
    "beginning": lambda f: "What came back is right, and the rest of it is missing. Does something end too early?",
    "sign": lambda f: "Every number has the right size and the wrong sign." if f.many else "Only its sign is wrong.",
    "zero": lambda f: "Every number is zero." if f.many else "It is zero.",
    "factor": lambda f: f"{'Every number' if f.many else 'It'} is {f.numbers[0]:.4g} times what it should be.",
    "same factor": lambda f: "All numbers are wrong by the same factor.",
    "places": of_places,
    "count": lambda f: f"{f.numbers[0]:g} of {f.numbers[1]:g} numbers are right; the first that is not is at [{f.where}].",
    "rest": lambda f: "The other values are right." if f.many else "The other value is right.",
    "constant": lambda f: "Every call got the same answer. Where do its inputs enter?",
    "order": lambda f: "The numbers are the right ones, in another order. Which comes first?",
    "exchanged": lambda f: f"The values are the right ones, in another order: your {ORDINALS[int(f.numbers[0])]} one belongs "
                           f"in the {ORDINALS[int(f.numbers[1])]} place.",
}  # fmt: skip
