"""Golden cards: a changed card is shown as a difference. If it is better, `python -m tests.cards 05` keeps the new one."""

from __future__ import annotations

import difflib
import os
import random
from collections.abc import Callable, Iterable

import pytest

from minigrad.course import lessons
from minigrad.course.student.child import can_fork
from tests.cards import golden

pytestmark = pytest.mark.skipif(not can_fork(), reason="no fork here")
SOME = 2_000 if os.environ.get("MINIGRAD_CARDS") == "all" else 20  # cards of each lesson


def differences(kept: dict[str, str], made: Iterable[tuple[str, Callable[[], str]]]) -> list[str]:
    found = []
    for name, make in made:
        old, new = kept.get(name, "").splitlines(), make().splitlines()
        if old != new:
            found.append("\n".join(difflib.unified_diff(old, new, f"{name}, kept", f"{name}, now", lineterm="")))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("number", lessons.numbers())
def test_many_cards(number: int) -> None:
    """A sample; MINIGRAD_CARDS=all makes every card."""
    kept, made = golden.stored(number), {**golden.declared(number), **golden.blind(number)}
    gone = [name for name in kept if name not in made]
    changed = differences(kept, random.Random(number).sample([*made.items()], min(SOME, len(made))))
    assert not changed, "\n\n".join(changed)
    assert not gone, f"no answer has this name any more: {gone}"


def test_there_are_enough_and_they_are_small() -> None:
    files = [*golden.HERE.glob("*.txt"), *golden.HERE.glob("*.md")]
    assert sum(file.stat().st_size for file in files) <= 1_500_000
    assert [int(file.stem) for file in sorted(golden.HERE.glob("*.txt"))] == lessons.numbers()


def test_a_changed_card_is_a_difference() -> None:
    shown = differences({"5.0 [4, 9]": "not yet\n  one\n"}, [("5.0 [4, 9]", lambda: "not yet\n  two\n")])
    assert shown == ["--- 5.0 [4, 9], kept\n+++ 5.0 [4, 9], now\n@@ -1,2 +1,2 @@\n not yet\n-  one\n+  two"]
