"""The search for the cause of a mistake that is in no catalogue: a change of the student's code that makes it right."""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..exercise import Exercise, Probe, Wrong
from ..student.slips import NO_MORE, REMARKS
from ..student.student import Local, Student
from ..student.wire import Failure
from . import shrinking
from .comparing import ask, difference, one_by_one, same, trouble
from .diagnosis import alike, names_in, observation, parts_of
from .findings import Finding
from .plain import flat_numbers
from .shrinking import weight

SEARCH, LATEST = 0.8, 2.1  # seconds to look for the one small change that makes an answer right; not after LATEST


@dataclass
class Searching:
    """One judging: the exercise, the student and the seed, and all questions with what came and what is right."""

    exercise: Exercise
    student: Student
    seed: int
    tries: int = 0
    states: dict[str, str] = field(default_factory=dict)  # of each name that is asked for: there, blank, hole or missing
    remarked: dict[str, list[Any]] = field(default_factory=dict)  # seen once: a change that is tried may end the process
    begun: float = 0.0
    probes: list[Probe] = field(default_factory=list)
    truths: list[Any] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)

    def goes_on(self, tried: int, late: bool) -> bool:
        """Whether to try one more explanation."""
        return tried < self.tries if self.tries else not late

    def exchanged(self, failing: list[int]) -> Finding | None:
        """Whether every wrong answer holds the right values in another order."""
        name = self.probes[failing[0]].name
        pairs = [(self.answers[i], self.truths[i]) for i in failing if self.probes[i].name == name]
        listed = all(isinstance(a, list | tuple) and isinstance(t, list | tuple) and len(a) == len(t) for a, t in pairs)
        if not listed or len({len(t) for _, t in pairs}) > 1 or flat_numbers(pairs[0][1]):
            return None
        every = range(len(pairs[0][1]))
        rtol, atol = self.exercise.rtol, self.exercise.atol
        fits = [[j for j in every if all(same(a[k], t[j], rtol, atol) for a, t in pairs)] for k in every]
        if any(len(each) != 1 for each in fits) or sorted(j for (j,) in fits) != list(every):
            return None
        moved = [(k, j) for k, (j,) in enumerate(fits) if j != k]
        return Finding("exchanged", numbers=moved[0]) if moved else None  # else something else is not right

    def odd(self, failing: list[int]) -> list[tuple[str, str]]:
        """What is odd in the code of the functions that fail, and not in the solution: its kind and a sentence, the surest
        first."""
        asked = {self.probes[i].name for i in failing}
        names = [name for name in self.exercise.names if "." not in name and asked & {"", name}]
        right = Local(self.exercise.namespace(self.exercise.alternatives[0])) if self.exercise.alternatives else None
        solution = remarks(right, [name for name in self.exercise.names if "." not in name]) if right else []
        taken = [piece.rstrip(")").partition("(")[2] for kind, _, piece in solution if kind == "inputs"]
        inputs = dict(zip([name for name in self.exercise.names if "." not in name], taken))
        known = {name for each in taken for name in each.split(", ")}
        known -= {piece for kind, _, piece in solution if kind == "unused"}
        found = []
        for name in [name for name in names if name not in self.remarked]:
            self.remarked[name] = remarks(self.student, [name])
        for kind, lines, piece in itertools.chain(*(self.remarked[name] for name in names)):
            name, _, own = piece.rstrip(")").partition("(")
            wanted = inputs.get(name, "")
            if kind == "inputs" and own != wanted and sorted(own.split(", ")) == sorted(wanted.split(", ")):
                found.append((kind, f"The inputs come in the order ({wanted}), and {name} takes them as ({own})."))
            elif kind == "unused" and piece in known:
                words = f"Line {lines[0]} names the input {piece}, and the function does not use it. What is it for?"
                found.append((kind, words))
            elif kind == "chance" and kind not in [each for each, *_ in solution]:
                found.append((kind, f"{piece} in line {lines[0]} gives a random number. Which number does the task name?"))
            elif kind == "first round":
                found.append((kind, f"{piece} in line {lines[0]} is inside the loop, so the loop ends in its first round."))
            elif kind == "no effect":
                found.append((kind, f"Line {lines[0]} computes {piece}, and no name keeps the result."))
        return sorted(found, key=lambda each: REMARKS.index(each[0]))

    def led(self, failing: list[int]) -> str:
        """What follows from which parts of the answers are wrong, and which are right; "" if nothing is known of that."""
        wrong = set()
        for i in failing:
            answer, truth = self.answers[i], self.truths[i]
            if not isinstance(answer, list | tuple) or not isinstance(truth, list | tuple) or len(answer) != len(truth):
                return ""
            for k, (given, right) in enumerate(zip(answer, truth, strict=True)):
                problem = difference(given, right, self.exercise.rtol, self.exercise.atol, strict=True)
                if problem and not re.fullmatch("The values? (is|are) not right.", problem):
                    return ""  # another form or shape has other reasons
                seen = observation(given, right, self.exercise)
                if problem and not (seen and seen.kind == "near"):
                    wrong.add(k)
        return next((says for k, says in self.exercise.leads.items() if k in wrong), "")

    def slip(self, failing: list[int], shown: str) -> list[str]:
        """For each function that fails, the one place that keeps it from being right, if there is one; that of the function
        that is shown goes first."""
        said: list[tuple[bool, str]] = []
        left = list(failing)
        explained: set[int] = set()
        for part in parts_of(self.exercise, self.probes) or [list(range(len(self.probes)))]:
            wrong = sorted((i for i in part if i in left), key=lambda i: weight(self.probes[i]))
            names = [name for name in self.exercise.names if self.probes[part[0]].name in ("", name)]
            if wrong and not any(self.states[name] in ("blank", "hole") for name in names):
                others = set(failing) - set(part)
                sentence, left = self.slip_in(names, wrong + [i for i in part if i not in wrong], left, others)
                said.append((shown not in names, sentence))
                explained |= set(wrong) if sentence else set()
        if self.exercise.kind == "program" and left and explained:
            mended = set().union(*(names_in(self.exercise, self.probes[i]) for i in explained))
            if all(names_in(self.exercise, self.probes[i]) & mended for i in failing):
                return []  # a cure for some questions, when others to the same function stay wrong
        return [sentence for _, sentence in sorted(said, key=lambda each: each[0]) if sentence]

    def slip_in(self, names: list[str], asked: list[int], left: list[int], others: set[int]) -> tuple[str, list[int]]:
        """The same for some names and their questions, the failing ones first; and what of all that fails is left then.
        `others` are the questions about other names that fail."""
        end = shrinking.clock() + SEARCH
        try:
            tried = 0
            while (slip := self.student.vary(names)) is not None:
                if slip[0] in (*REMARKS, NO_MORE):
                    continue
                late = shrinking.clock() >= end or time.monotonic() > self.begun + LATEST
                if not self.goes_on(tried, late):
                    break
                tried += 1
                if all(self.right_now(self.probes[i], self.truths[i]) for i in asked) and self.confirmed(asked):
                    still = [i for i in left if i not in asked and not self.right_now(self.probes[i], self.truths[i])]
                    whole = others <= set(left) and not still  # else it mends its own function only
                    kind, places, piece = slip
                    code = self.probes[asked[0]].code
                    own = [name for name in names if not code or re.search(rf"\b{name.rpartition('.')[2]}\b", code)]
                    return slipped(kind, places, piece, "this" if whole else " and ".join(own or names)), still
            return "", left
        finally:
            self.student.vary([])

    def right_now(self, probe: Probe, truth: Any) -> bool:
        """True if this question gets the right answer from a changed function."""
        return not trouble(self.exercise, probe, ask(self.exercise, self.student, probe), truth)

    def confirmed(self, asked: list[int]) -> bool:
        """True if a changed function is right on fresh questions as well, at least two in all: else it is right by chance."""
        fresh = self.fresh(asked)
        return len(asked) + len(fresh) > 1 and all(self.right_now(probe, self.exercise.expected(probe)) for probe in fresh)

    def fresh(self, asked: list[int]) -> list[Probe]:
        """The same questions as another student gets them, without those that are the same for everybody."""
        others = self.exercise.questions(self.seed + 1)
        return [others[i] for i in asked if i < len(others) and inputs_text(others[i]) != inputs_text(self.probes[i])]

    def is_whole(self, wrong: Wrong) -> bool:
        """True if this mistake explains every answer, the right ones too."""
        theirs = one_by_one(self.exercise, wrong.answer, self.probes)
        return all(alike(self.exercise, p, a, b) for p, a, b in zip(self.probes, self.answers, theirs, strict=True))

    def truth(self, candidate: Probe) -> Any:
        """The right answer to a smaller question: what the oracle and two right answers agree on; else a Failure."""
        exercise, no_question = self.exercise, Failure("raised")
        given = [next(one_by_one(exercise, right, [candidate])) for right in exercise.alternatives[:2]]
        if candidate.kind == "call" and exercise.oracle is not None:
            try:
                truth = exercise.expected(candidate)
            except (ArithmeticError, IndexError, TypeError, ValueError):
                return no_question
            return no_question if any(trouble(exercise, candidate, right, truth) for right in given) else truth
        agreed = bool(given) and all(same(given[0], other, exercise.rtol, exercise.atol) for other in given[1:])
        return given[0] if agreed else no_question



def inputs_text(probe: Probe) -> str:
    """What a question gives, to tell two apart."""
    return repr((probe.args, probe.data))


def remarks(student: Student, names: list[str]) -> list[Any]:
    """What is seen in the code of these functions as it is: kind, lines, piece."""
    found = []
    for name in names:
        while (seen := student.vary([name])) is not None and seen[0] in REMARKS:
            found.append(seen)
        student.vary([])
    return found


SLIPS = {
    "return": "{} is computed, and not handed back. Which statement does that?",
    "call": "{} only names a function. How is a function called?",
    "assign": "{} compares. How is a value stored?",
    "stored": "{} computes something new, and nothing stores it. Which statement gives it a name?",
    "number": "What belongs in the place of {}?",
    "accumulate": "Look at {}: is the new value added, subtracted, or put in the place of the old one?",
    "sign": "Which sign belongs to {}?",
    "operator": "The operator in {} is another one. Which?",
    "brackets": "In {}, what does Python compute first? Where do brackets belong?",
    "order": "In {}, two things have changed places.",
    "lines": "In {}, two things have changed places.",
    "piece": "What belongs in the place of {}?",
    "exchange": "{} have changed places.",
    "condition": "Is {} to be true here, or false?",
    "spare": "Delete one part of `{}`. Which?",
    "too much": "Delete one part of `{}`. Which?",
    "place": "{} is right, but it runs at the wrong moment. Before or after which line, and inside or outside of which block?",
    "factor": "{} is still to be multiplied or divided. By what?",
    "term": "Something is still to be added to {}, or subtracted from it. What?",
    "around": "{} is nearly what is needed. What is still to be done to it?",
    "line": "Delete `{}`: what does it change?",
}  # by the sort of change


def slipped(kind: str, lines: Sequence[int], piece: str, whose: str) -> str:
    """A sentence for the one small change, here or in several lines, that makes an answer right."""
    numbers = [str(line) for line in dict.fromkeys(lines)]
    places = f"lines {', '.join(numbers[:-1])} and {numbers[-1]}" if len(numbers) > 1 else f"line {numbers[0]}"
    one = "One change" if len(lines) == 1 else "The same change" if len(numbers) > 1 else "The same change in two places"
    in_ = "of" if one.endswith("places") else "in"
    return f"{one} {in_} {places} of your cell makes {whose} right. {SLIPS.get(kind, '{}').format(piece)}"
