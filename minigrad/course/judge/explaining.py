"""What is said of a mistake that is in no catalogue: the smallest question that fails, and what the search has found, the
surest first."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exercise import Probe, Raises
from ..student.wire import Failure
from .comparing import (
    FATAL,
    alike_in_kind,
    ask,
    first_wrong,
    isclose,
    nearly_right,
    plainly,
    same,
    trouble,
    wrong_parts,
)
from .diagnosis import holds, is_long, names_in, observation
from .findings import ORDINALS, Finding, words
from .plain import as_numbers, finite, is_nothing, plain_value, size_of
from .raised import explained
from .searching import Searching
from .shown import briefly
from .shrinking import Patience, simpler, weight


class Explaining(Searching):
    """A judging, and what is said of a mistake that is in no catalogue."""

    def shown_by(self, failing: list[int]) -> tuple[int, str] | None:
        """The first question whose answer shows what went wrong, and the words for it."""
        if isinstance(self.answers[failing[0]], Failure):
            return None  # an error, or nothing that can be compared: that is what went wrong
        for i in failing:
            words = self.probes[i].words
            if words is not None and not isinstance(self.answers[i], Failure):
                try:
                    if said := words(plain_value(self.answers[i])):
                        return i, said
                except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError):
                    continue  # an answer of another form
        return None

    def causes(self, failing: list[int], probe: Probe, answer: Any, truth: Any, seen: Finding | None) -> list[str]:
        """What is behind a mistake that is in no catalogue: the most certain sentence first, then at most one more (one for
        each function that has a slip). A vague one is not said where a sharper one is known."""
        raised = isinstance(answer, Failure) and answer.kind == "raised" and not isinstance(truth, Raises)
        error = explained(answer, probe.code) if raised else ""
        if raised and answer.type == "SystemExit":
            return [error]  # who has left is not asked again
        if probe.about and too_deep(probe, answer):
            return [probe.about]
        stopped = bool(error) or (raised and answer.line is not None)
        alone = not stopped and all(self.probes[i].about for i in failing)  # else it is not what this program asks for
        alone = alone and isinstance(answer, bool | np.bool_) == isinstance(truth, bool)  # nor where another sort comes
        about = probe.about if alone and not of_recursion(probe) else ""
        slips = self.slip(failing, probe.name)
        odd = self.odd(failing)
        if odd and odd[0][0] in ("inputs", "unused", "chance"):
            return [odd[0][1], *(slips or [error])][:2]
        if slips:
            at_shapes = error.startswith("Compare the shapes")  # which do not fit because of the slip
            more = [line for line in (about, "" if at_shapes else error) if line]
            return slips + more[:1] if len(slips) == 1 else slips
        sure = (seen is not None and seen.explains) or not about
        early = odd and odd[0][0] == "first round"  # then what came back is the beginning of what is right
        seen = None if early and seen and seen.kind == "beginning" else seen
        told = [line for line in (about, words(seen) if sure else "", *(line for _, line in odd[:1]), error) if line]
        return (told[:2] or [self.in_general(failing[0], probe, answer, truth)]) + [self.led(failing)]

    def unknown(self, failing: list[int], problems: list[str]) -> tuple[Any, ...]:
        """A mistake that is in no catalogue: the question that is shown, its answer, what is right, and what to say."""
        first = failing[0]
        asked = self.probes[first], self.answers[first], self.truths[first]
        whole = self.seen(*asked)
        *small, problem = self.smallest(failing, problems)
        if small[0].kind == "call" and small[0].name != asked[0].name:  # then what is said is about this function
            return self.unknown([i for i in failing if self.probes[i].name == small[0].name], problems)
        seen = self.seen(*small)
        if whole and whole.kind == "factor" and holds(whole, small[1], small[2]):
            seen = whole
        if not self.always_so(seen, small[0], failing):
            seen = None
        return *small, problem, self.always_the_same() or seen

    def seen(self, probe: Probe, answer: Any, truth: Any) -> Finding | None:
        """What is to be seen of an answer; nothing of one number that a `view` has made of it."""
        return None if probe.view and size_of(truth) < 2 else observation(answer, truth, self.exercise)

    def always_so(self, seen: Finding | None, shown: Probe, failing: list[int]) -> bool:
        """True if what is seen in one answer is so in every wrong answer to the same question: else it is chance."""
        if seen is None or seen.kind not in ("factor", "near", "sign"):
            return True
        for i in failing:
            probe, answer = self.probes[i], self.answers[i]
            answer = answer.value if isinstance(answer, Failure) and answer.kind == "changed" else answer
            if (probe.name, probe.kind) != (shown.name, shown.kind) or isinstance(answer, Failure | str | None):
                continue
            given, wanted = first_wrong(answer, self.truths[i], self.exercise)
            if not holds(seen, given, wanted):
                return False
        return True

    def in_general(self, first: int, probe: Probe, answer: Any, truth: Any) -> str:
        """What can be said of any answer: where there is None, another text or another shape than asked for."""
        if any(state in ("blank", "hole") for state in self.states.values()):
            return ""  # it is said that something is still blank
        alike = [a for p, a in zip(self.probes, self.answers, strict=True)
                 if names_in(self.exercise, p) == names_in(self.exercise, self.probes[first])]  # fmt: skip
        came = [a for a in alike if not isinstance(a, Failure) or a.kind != "raised"]  # nothing, used, raises an error
        empty = [is_nothing(a) or (isinstance(a, Failure) and a.kind == "printed") for a in came]
        nothing = [label for label, given, _ in wrong_parts(self.exercise, probe, answer, truth) if given is None]
        if nothing and nothing[0].endswith(".grad"):
            return (
                "A gradient is None until a backward pass has reached its tensor. Is the result computed from this tensor, by "
                "operations that are recorded, and does each backward return a gradient?"
            )
        if answer is None and truth is not None:
            return "Does the function end with a return?" if all(empty) else (
                "For this input the function ends without a return: which of its branches does it take?")
        if isinstance(answer, str) and isinstance(truth, str):
            texts = sorted({right for right in self.truths if isinstance(right, str)})
            return f"The answers are {', '.join(map(repr, texts))}, letter by letter." if 1 < len(texts) < 7 else ""
        if isinstance(truth, Raises) and isinstance(answer, Failure) and answer.text.startswith(("raise", "assert")):
            return f"Your own line raises {answer.type}. The error that is asked for is a {truth.type}."
        if isinstance(truth, Raises) and isinstance(answer, Failure):
            return f"Which statement raises {truth.type}?"
        return ""

    def remembers(self) -> tuple[int, str] | None:
        """Which question gets another answer the second time, and a sentence about it; None if there is none."""
        patience = Patience(timed=not self.tries)
        for i, (probe, answer) in enumerate(zip(self.probes, self.answers, strict=True)):
            if not patience.left():
                return None
            again = ask(self.exercise, self.student, probe)
            if isinstance(again, Failure) and again.kind in FATAL:
                return None
            if not same(answer, again, self.exercise.rtol, self.exercise.atol):
                what = "This call" if probe.kind == "call" else "This program"
                threads = any(isinstance(each, Failure) and "thread" in each.message for each in (answer, again))
                thread = ", a thread that still runs" if threads else ""
                return i, (
                    f"{what} gave {briefly(answer)} at first, and {briefly(again)} when it was asked again. "
                    "Does something remember the calls before: a name outside, a default list, chance, the order of a "
                    f"set{thread}?"
                )
        return None

    def always_the_same(self) -> Finding | None:
        """Whether three calls or more all got one and the same number, though different ones are right."""
        rtol, atol = self.exercise.rtol, self.exercise.atol
        if len(self.answers) < 3 or any(p.kind != "call" for p in self.probes):
            return None
        first, truth = self.answers[0], self.truths[0]
        if isinstance(first, Failure) or first is None:
            return None
        alike = all(same(first, a, rtol, atol) for a in self.answers[1:])
        vary = not all(same(truth, t, rtol, atol) for t in self.truths[1:])
        return Finding("constant") if alike and vary else None

    def in_its_place(self, answer: Any, explained: bool) -> str:
        """About the first number that is wrong: whether it is nearly right, and the question that leads to it."""
        given, wanted = as_numbers(answer), as_numbers(self.truths[0])
        asks = self.exercise.asks
        if given is None or wanted is None or given.shape != wanted.shape:
            return asks[0] if len(asks) == 1 else ""
        wrong = np.flatnonzero(~isclose(given, wanted, rtol=self.exercise.rtol, atol=self.exercise.atol).ravel())
        n, right = float(given.ravel()[wrong[0]]), float(wanted.ravel()[wrong[0]])
        far = explained or abs(n - right) > 0.15 * abs(right)
        near = "" if far else f"{n:g} is not far off: compute it once more, step by step."
        ask = asks[wrong[0] % len(asks)] if asks else ""
        which = f"The {ORDINALS[wrong[0]]} number: " if len(asks) > 1 and wanted.ndim == 1 else ""
        return " ".join(filter(None, [near, which + ask if ask else ""]))

    def smallest(self, failing: list[int], problems: list[str]) -> tuple[Probe, Any, Any, str]:
        """A failing probe that no simplification makes smaller, with answer, truth and problem."""
        errors = [i for i in failing if isinstance(self.answers[i], Failure) and self.answers[i].line is not None
                  and not isinstance(self.truths[i], Raises)]  # fmt: skip
        most = errors if 2 * len(errors) > len(failing) else failing  # an error in a line of theirs says more
        most = [i for i in most if self.probes[i].kind == "call"] or most  # a call is plainer than a program
        said = [probe.about for probe in self.probes]  # what is said of one question alone tells more than what is said of many
        told = all(said[i] for i in failing)
        rank = {i: (said.count(said[i]), i * (said.count(said[i]) == 1)) if told else (said[i] != "", 0) for i in most}
        at = min(most, key=lambda i: (nearly_right(problems[i]), rank[i], weight(self.probes[i]), i))
        best = (self.probes[at], self.answers[at], self.truths[at], problems[at])
        if isinstance(best[2], Raises):
            return best
        patience, improved = Patience(timed=not self.tries), True
        while improved:
            improved = False
            for candidate in simpler(best[0]):
                if not patience.left():
                    return best
                truth = self.truth(candidate)
                if isinstance(truth, Failure | Raises) or not finite(truth) or size_of(truth) < min(1, size_of(best[2])):
                    continue
                answer = ask(self.exercise, self.student, candidate)
                if isinstance(answer, Failure) and answer.kind in FATAL:
                    return best
                problem = trouble(self.exercise, candidate, answer, truth)
                same_trouble = plainly(problem, candidate.kind) == plainly(best[3], candidate.kind)
                if problem and alike_in_kind(best[1], answer) and same_trouble:
                    best, improved = (candidate, answer, truth, problem), True
                    break
        return best


def of_recursion(probe: Probe) -> bool:
    """True if the words of a question are about functions that call themselves: they are said of nothing else."""
    return "calls itself" in probe.about


def too_deep(probe: Probe, answer: Any) -> bool:
    """True if a program that makes something long has gone deeper than Python lets functions call each other."""
    return isinstance(answer, Failure) and answer.type == "RecursionError" and is_long(probe)
