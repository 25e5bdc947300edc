"""The judge: puts an exercise's probes to a student, compares, and says what went wrong.

`judge(exercise, student, seed)` asks every probe, compares each answer with the oracle's (value first, then
shape, then type), and returns a `Verdict`. A wrong answer is diagnosed by behaviour: the catalogued wrong
answers are put to the same probes, and the one that gives the same answers names the mistake. A mistake that
is not in the catalogue gets the smallest failing call or program instead. Right answers never leave this process, and
every message is the same in every run.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import functools
import inspect
import itertools
import math
import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import common, likeness, misconceptions, shrinking, working, wrong_solutions
from .exercise import Exercise, Probe, Raises, Wrong, copied
from .raised import explained
from .shrinking import Patience, simpler, weight, with_values
from .slips import REMARKS
from .student import Local, Student, too_large_together
from .wire import Failure, Tensor
from .worker import own_randomness

__all__ = ["Verdict", "diagnose", "judge", "outcomes", "same"]

SEARCH, LATEST = 0.8, 2.1  # seconds to look for the one small change that makes an answer right; not after LATEST
LAST = 2.7  # seconds after which a student waits for no more words
SEARCHED = 0.6  # seconds of our own processor to look for a wrong solution that gives the same answers
LONG = 0.1  # seconds of our own processor for comparing the answers to one exercise; a wrong one after that is the last
STATUSES = (
    "passed", "wrong", "error", "timeout", "memory", "forbidden", "missing", "not attempted", "not graded",
)  # fmt: skip
FATAL = {
    "timeout": "timeout",
    "memory": "memory",
    "killed": "error",
    "protocol": "error",
    "forbidden": "forbidden",
}
isclose, allclose = np.isclose, np.allclose  # as they are now, whatever a cell makes of np.isclose later
WORDS_FOR_DATA = {"int": "a number", "float": "a number", "str": "a string", "list": "a list", "tuple": "a tuple",
                  "dict": "a dict", "ndarray": "an array", "NoneType": "None", "bool": "a truth value"}  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """What the judge found, as plain data."""

    exercise: str
    status: str
    points: float
    out_of: float
    lines: tuple[str, ...] = ()  # what the student reads, without call, got and expected
    call: str = ""
    got: str = ""
    expected: str = ""
    misconception: str = ""
    mistake: str = ""  # which of the exercise's wrong answers it was
    seed: int = 0
    agreed: int = 0  # of the questions that this seed alone is asked, how many got the right answer
    asked: int = 0  # and how many these are; 0 where nothing was compared

    @property
    def passed(self) -> bool:
        """True for full marks."""
        return self.status == "passed"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return dataclasses.asdict(self) | {"lines": list(self.lines)}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> Verdict:
        """The inverse of `as_dict`."""
        return cls(**(record | {"lines": tuple(record["lines"])}))


def judge(exercise: Exercise, student: Student, seed: int = 0, tries: int = 0) -> Verdict:
    """Put the probes of this seed to the student. Never raises for anything the student does.

    What explains a mistake is searched for as long as a student waits, or with so many `tries`: then a busy machine says
    the same as any other.
    """
    if exercise.one_of:
        found = [judge(part, student, seed, tries) for part in exercise.one_of]
        return min(found, key=lambda v: (not v.passed, v.status == "missing", v.status == "not attempted"))
    bench = Bench(exercise, student, seed, tries)
    with np.errstate(all="ignore"), engine_randomness(), own_randomness():
        return bench.look() or bench.verdict()


@dataclass
class Bench:
    """One judging: the exercise, the student and the seed."""

    exercise: Exercise
    student: Student
    seed: int
    tries: int = 0

    def goes_on(self, tried: int, late: bool) -> bool:
        """Whether to try one more explanation."""
        return tried < self.tries if self.tries else not late

    def say(self, status: str, *lines: str, **more: Any) -> Verdict:
        """A verdict of this exercise."""
        out_of = self.exercise.points
        points = out_of if status == "passed" else 0.0
        said = tuple(printable(line) for line in lines if line)
        words = {name: printable(text) for name, text in more.items()}
        found = Verdict(self.exercise.id, status, points, out_of, said, seed=self.seed)
        return dataclasses.replace(found, **words)  # type: ignore[arg-type]  # words are texts, numbers come later

    # --- before any probe: is there anything to judge? ---

    def look(self) -> Verdict | None:
        """A verdict when a name is missing or everything is still blank; None to go on."""
        names = self.exercise.names
        seen = self.student.look(list(names))
        if isinstance(seen, Failure):
            return self.fatal(seen)
        self.states = {name: seen[name]["state"] for name in names}
        missing = [name for name in names if self.states[name] == "missing"]
        if missing and self.exercise.kind == "prediction":
            return self.say("not attempted", f'Answer it with predict("{self.exercise.id}", your answer).')
        if missing:
            return self.missing(missing[0], [str(n) for n in seen[missing[0]].get("near", [])[:2]])
        if all(state == "blank" for state in self.states.values()):
            where = (
                "Put your answer"
                if self.exercise.written
                else "Write your code"
            )
            near = [str(n) for n in seen[names[0]].get("near", [])[:1]]
            other = f"There is {near[0]}: did you change the name?" if near else ""
            return self.say("not attempted", f"{names[0]} is still blank. {where} in the place of the dots.", other)
        right = next((each for each in self.exercise.alternatives if type(each) is dict), {})
        for name in names:
            if isinstance(right.get(name), type) and seen[name]["type"] == name:
                return self.say("error", f"{name} is an object of a class {name}; the class itself is asked for.")
        if self.exercise.kind == "function":
            for name in names:
                data = WORDS_FOR_DATA.get(seen[name]["type"])
                if data and self.states[name] == "there":
                    return self.say("error", f"{name} is {data}; a function is asked for: def {name}(...).")
        return None

    def missing(self, name: str, near: list[str]) -> Verdict:
        """The name is not there: not run, or called something else."""
        what = "the class" if "." in name else "it"
        lines = [f"I cannot find {name}."]
        bare = name.rpartition(".")[2].strip("_")
        if "." in name and bare in near:
            lines.append(f"There is a function {bare}. The line {name} = {bare} makes it a method of the class.")
        elif near:
            lines.append(f"There is {' and '.join(near)}: did you change the name?")
        lines.append(f"If the name is right, run the cell that defines {what}, then check again.")
        return self.say("missing", *lines)

    # --- the probes ---

    def verdict(self) -> Verdict:
        """Ask everything, then speak about the first thing that is wrong."""
        exercise, self.begun = self.exercise, time.monotonic()
        self.probes = exercise.questions(self.seed)
        self.truths = [exercise.expected(p) for p in self.probes]
        self.answers: list[Any] = []
        for probe in self.probes:
            answer = ask(exercise, self.student, probe)
            self.answers.append(answer)
            if isinstance(answer, Failure) and answer.kind in FATAL:
                return self.known_before(answer) or self.fatal(answer, probe)
        try:
            return self.compared()
        except Exception:
            # What a student sends may be anything, and no comparison that it upsets is a fault of ours; if a right answer
            # upsets it, it is.
            for probe, truth in zip(self.probes, self.truths, strict=True):
                trouble(exercise, probe, truth, truth)
            return self.say("wrong", "What came back cannot be compared with what is asked for.")

    def compared(self) -> Verdict:
        """The verdict on all answers."""
        exercise = self.exercise
        begun, problems = time.process_time(), []
        for probe, answer, truth in zip(self.probes, self.answers, self.truths, strict=True):
            problems.append(trouble(exercise, probe, answer, truth))
            if problems[-1] and time.process_time() - begun > LONG:
                return self.say("wrong", problems[-1], "It is too long to say more.", call=shown_call(exercise, probe))
        failing = [i for i, problem in enumerate(problems) if problem]
        if not failing and exercise.kind == "function":
            again = ask(exercise, self.student, self.probes[0])
            if isinstance(again, Failure) and again.kind in FATAL:
                return self.fatal(again, self.probes[0])
            problem = trouble(exercise, self.probes[0], again, self.truths[0])
            if problem:
                _, says = self.remembers() or (0, "")
                return self.say("wrong", problem, says, call=shown_call(exercise, self.probes[0]),
                                got=shown_answer(again))  # fmt: skip
        if not failing:
            return self.say(
                "passed", f"All {len(self.probes)} probes agree." if len(self.probes) > 1 else "Right."
            )
        if self.untouched(failing):
            holes = [name for name, state in self.states.items() if state in ("blank", "hole")] or [
                exercise.name
            ]
            return self.say(
                "not attempted", f"{holes[0]} is still blank. Write your code in the place of the dots."
            )
        own = self.own()
        return dataclasses.replace(self.refusal(failing, problems), agreed=len(own - set(failing)), asked=len(own))

    def own(self) -> set[int]:
        """The questions that are put to this seed alone, and that doing nothing does not answer.

        What everybody is asked may come from a table, a yes or no may be guessed, and what has to stay as it was, stays so
        without any work.
        """
        if self.exercise.written:
            return set()
        theirs = self.exercise.questions(self.seed + 1)
        return {
            i for i, (mine, other) in enumerate(zip(self.probes, theirs))
            if repr((mine.args, mine.data)) != repr((other.args, other.data))
            and repr(self.truths[i]) != repr(self.exercise.expected(other))
            and not leaves_alone(mine, self.truths[i])
        }  # fmt: skip

    def known_before(self, failure: Failure) -> Verdict | None:
        """A student lost to time or memory: what the answers before that say, if they show a mistake we know."""
        until = len(self.answers) - 1
        self.probes, self.truths, self.answers = self.probes[:until], self.truths[:until], self.answers[:until]
        asked = zip(self.probes, self.answers, self.truths, strict=True)
        problems = [trouble(self.exercise, p, a, t) for p, a, t in asked]
        failing = [i for i, problem in enumerate(problems) if problem]
        if not failing or failure.kind not in ("timeout", "memory"):
            return None
        wrong = diagnose(self.exercise, self.probes, self.answers, failing)
        return self.refusal(failing, problems) if wrong and self.is_whole(wrong) else None

    def untouched(self, failing: list[int]) -> bool:
        """True if what fails, fails because a blank was left as it was given."""
        answers = [self.answers[i] for i in failing]
        if self.exercise.written:
            return all(holds_ellipsis(a) for a in answers)
        left = [state in ("blank", "hole") for state in self.states.values()]
        empty = all(
            is_nothing(a) or holds_ellipsis(a) or (isinstance(a, Failure) and a.kind == "raised") for a in answers
        )
        # A probe may pass on a blank (an error is the right answer); one of several names may be filled in.
        return empty and (all(left) or (any(left) and len(failing) == len(self.probes)))

    def refusal(self, failing: list[int], problems: list[str]) -> Verdict:
        """Not right: which call, what came, and why."""
        exercise = self.exercise
        if exercise.written:
            return self.refuse_value(self.answers[0], problems[0])
        blank = [name for name, state in self.states.items() if state == "blank"]
        if blank:  # what is asked of it says nothing; what is asked of the other names may
            asked = [i for i in failing if not names_in(exercise, self.probes[i]) & set(blank)]
            if not asked:
                call, got = shown_call(exercise, self.probes[failing[0]]), shown_answer(self.answers[failing[0]])
                says = f"{blank[0]} is still blank. Write your code in the place of the dots."
                return self.say("wrong", says, call=call, got=got)
            failing = asked
        wrong = diagnose(exercise, self.probes, self.answers, failing)
        turned = "inputs" in [kind for kind, *_ in self.odd(failing)[:1]]
        wrong = None if turned else wrong  # that they are in another order is the cause
        told_of = all(self.probes[i].about for i in failing)  # what goes wrong is said by these programs themselves
        noticed = None if told_of or (wrong and self.is_whole(wrong)) else self.remembers()
        wrong = None if noticed is not None else wrong
        first = failing[0] if noticed is None else noticed[0]
        probe, answer, truth, problem = (
            self.probes[first],
            self.answers[first],
            self.truths[first],
            problems[first],
        )
        lines = []
        open_ = wrong is None and noticed is None and not turned
        exchanged = self.exchanged(failing) if open_ else ""
        likely = self.likely(failing) if open_ and not exchanged else {}
        if noticed is not None:
            lines = ["" if probe.words else problem, noticed[1]]
        elif exchanged:
            lines = [problem, exchanged]
        elif likely:
            probe, answer, truth, problem = self.smallest(list(likely), problems)
            lines = [problem, *dict.fromkeys(likely.values())]
        elif wrong is None and (shown := self.shown_by(failing)):
            first, said = shown
            probe, answer, truth = self.probes[first], self.answers[first], self.truths[first]
            found = self.slip(failing, probe.name)
            about, *_, formula = (probe, "") if found else self.unknown(failing, problems)
            lines = [said, *found, formula if formula.startswith("Each time") and not about.words else ""]
        elif wrong is None:
            probe, answer, truth, problem, seen = self.unknown(failing, problems)
            lines = [problem, *self.causes(failing, probe, answer, truth, seen)]
        elif isinstance(answer, Failure) or problem.startswith("It "):
            lines = [problem]
        # Without a word about the cause, what is right for this one question says more than that something is wrong.
        nameless = wrong is None and noticed is None and not probe.words
        told = probe.shown or (nameless and len([line for line in lines if line]) < 2)
        parts = {"blank": "", "hole": "A part of "}
        left = [f"{parts[state]}{name}" for name, state in self.states.items() if state in parts]
        if left:
            lines.append(f"{left[0]} is still blank.")
        says = feedback(wrong) if wrong else ""
        if wrong and not self.is_whole(wrong):  # the other function may have a mistake of its own
            others = [feedback(other) for other in diagnoses(exercise, self.probes, self.answers, failing)]
            others = others[1:2] or list(dict.fromkeys(self.likely(self.unlike(wrong, failing)).values()))
            lines += [other for other in others if other != says]
        raised = isinstance(answer, Failure) and answer.kind in ("raised", "missing")
        status = "error" if raised and wrong is None and not isinstance(truth, Raises) else "wrong"
        return self.say(
            status, *lines, says,
            call=shown_call(exercise, probe), got=shown_answer(answer),
            expected=shown_truth(truth) if told else "",
            misconception=wrong.misconception if wrong else "", mistake=wrong.id if wrong else "",
        )  # fmt: skip

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

    def causes(self, failing: list[int], probe: Probe, answer: Any, truth: Any, seen: str) -> list[str]:
        """What is behind a mistake that is in no catalogue: the most certain sentence first, then at most one more (one for
        each function that has a slip). A vague one is not said where a sharper one is known."""
        raised = isinstance(answer, Failure) and answer.kind == "raised" and not isinstance(truth, Raises)
        error = explained(answer, probe.code) if raised else ""
        if raised and answer.type == "SystemExit":
            return [error]  # who has left is not asked again
        names = [name.rpartition(".")[2] for name in self.exercise.names if raised]
        own = [name for name in names if hasattr(math, name) and re.search(rf"(?<![\w.]){name}\(", answer.text or "")]
        if own:
            error = f"This line calls your own {own[0]} again. Is the one of a module meant, such as math.{own[0]}?"
        stopped = bool(error) or (raised and answer.line is not None)
        alone = not stopped and all(self.probes[i].about for i in failing)  # else it is not what this program asks for
        alone = alone and isinstance(answer, bool | np.bool_) == isinstance(truth, bool)  # nor where another sort comes
        about = probe.about if alone else ""
        slips = self.slip(failing, probe.name)
        odd = self.odd(failing)
        if odd and odd[0][0] in ("inputs", "unused", "chance"):
            return [odd[0][1], *(slips or [error])][:2]
        if slips:
            steps = len(re.findall(r" [-+*/@] ", seen)) + (", where right" in seen)
            plain = seen.startswith("Each time, ") and steps < 3 and not re.search(r"[.]max|\[0\]| is \d+[.]$", seen)
            more = [line for line in (about, error, seen if plain else "") if line]
            return slips + more[:1] if len(slips) == 1 else slips
        formulas = "Each time|The (sum|mean) over|The blocks|One of these"
        known = re.compile(f"{formulas}|Every number (is zero|has)|It is (zero|very|the)|Only its|.* (rounded|zero|sign)")
        coarse = all(self.probes[i].view for i in failing)  # many mistakes look alike there
        likely = "" if raised or coarse or known.match(seen) else self.in_a_wrong_solution(failing)
        if likely:
            return [likely, self.led(failing)]
        sure = known.match(seen) or not about
        early = odd and odd[0][0] == "first round"  # then what came back is the beginning of what is right
        seen = "" if early and seen.startswith("What came back is right") else seen
        told = [line for line in (about, seen if sure else "", *(line for _, line in odd[:1]), error) if line]
        if not known.match(seen) or (probe.kind == "run" and not seen.startswith("Each time")):
            told += [line for line in [self.in_programs(failing)] if line]
        return (told[:2] or [self.in_general(failing[0], probe, answer, truth)]) + [self.led(failing)]

    def exchanged(self, failing: list[int]) -> str:
        """A sentence if every wrong answer holds the right values in another order."""
        name = self.probes[failing[0]].name
        pairs = [(self.answers[i], self.truths[i]) for i in failing if self.probes[i].name == name]
        listed = all(isinstance(a, list | tuple) and isinstance(t, list | tuple) and len(a) == len(t) for a, t in pairs)
        if not listed or len({len(t) for _, t in pairs}) > 1 or flat_numbers(pairs[0][1]):
            return ""
        every = range(len(pairs[0][1]))
        rtol, atol = self.exercise.rtol, self.exercise.atol
        fits = [[j for j in every if all(same(a[k], t[j], rtol, atol) for a, t in pairs)] for k in every]
        if any(len(each) != 1 for each in fits) or sorted(j for (j,) in fits) != list(every):
            return ""
        moved = [(ORDINALS[k], ORDINALS[j]) for k, (j,) in enumerate(fits) if j != k]
        if not moved:
            return ""  # the numbers are right, and something else is not
        here, there = moved[0]
        return f"The values are the right ones, in another order: your {here} one belongs in the {there} place."

    def odd(self, failing: list[int]) -> list[tuple[str, str]]:
        """What is odd in the code of the functions that fail, and not in the solution: its kind and a sentence, the surest
        first."""
        right = wrong_solutions.right_code(self.exercise.lesson, self.exercise.id)
        code = "\n".join(right.cells)
        defined = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)]
        inputs = {node.name: ", ".join(arg.arg for arg in node.args.args) for node in defined}
        asked = {self.probes[i].name for i in failing}
        names = [name for name in self.exercise.names if name in inputs and asked & {"", name}]
        found = []
        for kind, lines, piece in self.remarks(names):
            name, _, own = piece.rstrip(")").partition("(")
            wanted = inputs.get(name, "")
            others = [other for other in self.exercise.names if wanted and inputs.get(other) == own != wanted]
            if kind == "inputs" and others:
                found.append((kind, f"{name} takes the inputs of {others[0]}: ({own}). Which of the two computes what?"))
            elif kind == "inputs" and own != wanted and sorted(own.split(", ")) == sorted(wanted.split(", ")):
                found.append((kind, f"The inputs come in the order ({wanted}), and {name} takes them as ({own})."))
            elif kind == "unused" and piece not in ("ctx", "self", "cls") and len(re.findall(rf"\b{piece}\b", code)) > 1:
                words = f"Line {lines[0]} names the input {piece}, and the function does not use it. What is it for?"
                found.append((kind, words))
            elif kind == "chance" and not re.search("random|rng|randn", code):
                found.append((kind, f"{piece} in line {lines[0]} gives a random number. Which number does the task name?"))
            elif kind == "first round":
                found.append((kind, f"{piece} in line {lines[0]} is inside the loop, so the loop ends in its first round."))
            elif kind == "no effect":
                found.append((kind, f"Line {lines[0]} computes {piece}, and no name keeps the result."))
        return sorted(found, key=lambda each: REMARKS.index(each[0]))

    def remarks(self, names: list[str]) -> list[Any]:
        """What is seen in the code of these functions as it is: kind, lines, piece."""
        found = []
        for name in names:
            while (seen := self.student.vary([name])) is not None and seen[0] in REMARKS:
                found.append(seen)
            self.student.vary([])
        return found

    def unknown(self, failing: list[int], problems: list[str]) -> tuple[Any, ...]:
        """A mistake that is in no catalogue: the question that is shown, its answer, what is right, and what to say."""
        first = failing[0]
        asked = self.probes[first], self.answers[first], self.truths[first]
        whole = self.seen(*asked)
        formula = "" if re.search("wrong sign|its sign|near|rounded", whole) else self.likely_formula(first, asked, failing)
        if "times" in whole and "right" in formula and self.always_so(whole, asked[0], failing):
            formula = whole  # a factor is plainer
        if formula and asked[0].kind == "run":
            return *asked, problems[first], formula
        told = re.search("sign|near|rounded|times|zero|Only|factor", whole)
        for i in () if told or formula else self.other_programs(failing):
            other = self.probes[i], self.answers[i], self.truths[i]
            if shown := self.likely_formula(i, other, failing):
                return *other, problems[i], shown
        *small, problem = self.smallest(failing, problems)
        if small[0].kind == "call" and small[0].name != asked[0].name:  # then what is said is about this function
            return self.unknown([i for i in failing if self.probes[i].name == small[0].name], problems)
        seen = self.seen(*small)
        if times(whole, small[1], small[2]):
            seen = whole
        elif small[0].name == asked[0].name and formula and self.formula(first, tuple(small)):
            seen = formula
        if not self.always_so(seen, small[0], failing):
            seen = ""
        return *small, problem, self.always_the_same() or seen or self.in_common(first, failing)

    def seen(self, probe: Probe, answer: Any, truth: Any) -> str:
        """What is to be seen of an answer; nothing of one number that a `view` has made of it."""
        return "" if probe.view and size_of(truth) < 2 else observation(answer, truth, self.exercise)

    def other_programs(self, failing: list[int]) -> Iterator[int]:
        """The shortest programs that fail, one of each sort, while there is time: in one of them a formula may show itself."""
        codes = {self.probes[i].code: i for i in reversed(failing[1:]) if self.probes[i].kind == "run"}
        codes.pop(self.probes[failing[0]].code, None)
        for code in sorted(codes, key=lambda text: (len(ast.parse(text).body), len(text)))[:5]:
            if not self.tries and time.monotonic() > self.begun + 1:
                return
            yield codes[code]

    def likely_formula(self, first: int, asked: tuple[Any, ...], failing: list[int]) -> str:
        """The formula that explains a failing answer, unless it may be chance."""
        formula = self.formula(first, asked)
        odd = re.search(r"\[0\]|[<>]|\.max|round|int\(|right\S* [-+] | [-+] right", formula)
        chance = re.search(CHANCE, formula) or (odd and evidence(self.exercise, self.probes, self.answers, failing) < 8)
        return "" if chance else formula

    def always_so(self, seen: str, shown: Probe, failing: list[int]) -> bool:
        """True if what is seen in one answer is so in every wrong answer to the same question: else it is chance."""
        if not ALWAYS.match(seen):
            return True
        for i in failing:
            probe, answer = self.probes[i], self.answers[i]
            answer = answer.value if isinstance(answer, Failure) and answer.kind == "changed" else answer
            if (probe.name, probe.kind) != (shown.name, shown.kind) or isinstance(answer, Failure | str | None):
                continue
            given, wanted = first_wrong(answer, self.truths[i], self.exercise)
            if not so(seen, given, wanted):
                return False
        return True

    def likely(self, failing: list[int]) -> dict[int, str]:
        """For failing questions, which of the likely mistakes of the exercise gives what came; the words, by question."""
        exercise = self.exercise
        said: dict[int, str] = {}
        tables = {i: exercise.likely(self.probes[i]) if exercise.likely else {} for i in failing}
        for words in dict.fromkeys(itertools.chain(*tables.values())):
            covered = [i for i in failing if words in tables[i]]
            tested = [i for i in covered if not (callable(tables[i][words]) and isinstance(self.answers[i], Failure))]
            covered = tested or covered
            if any(i in said for i in covered) or not all(self.came(i, tables[i][words]) for i in covered):
                continue
            values = [i for i in covered if not callable(tables[i][words]) and not isinstance(tables[i][words], re.Pattern)]
            if said and not values and exercise.kind == "program":
                continue  # what a test sees may follow from what is said already
            given = {i: as_numbers(self.answers[i]) for i in values}
            nonzero = any(numbers is not None and numbers.any() for numbers in given.values())
            other = any(numbers is not None and numbers.shape != shape_of(self.truths[i]) for i, numbers in given.items())
            exact = any(numbers is not None and numbers.size == 1 and odd(float(numbers.item())) for numbers in given.values())
            if not values or other or exact or evidence(exercise, self.probes, self.answers, values, zeros=nonzero) > 1:
                said |= dict.fromkeys(covered, words)
        return said

    def came(self, i: int, mistaken: Any) -> bool:
        """True if this is the answer to a question, or if it is a test that accepts it."""
        answer = self.answers[i]
        answer = answer.value if isinstance(answer, Failure) and answer.kind == "changed" else answer
        if isinstance(mistaken, re.Pattern):
            return isinstance(answer, Failure) and bool(mistaken.search(answer.message))
        if not callable(mistaken):
            return same(answer, mistaken, self.exercise.rtol, self.exercise.atol)
        if isinstance(answer, Failure):
            return False
        try:
            return bool(mistaken(answer))
        except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError):
            return False

    def unlike(self, wrong: Wrong, failing: list[int]) -> list[int]:
        """The failing questions that a mistake does not explain."""
        theirs = one_by_one(self.exercise, wrong.answer, [self.probes[i] for i in failing])
        return [i for i, each in zip(failing, theirs, strict=True)
                if not alike(self.exercise, self.probes[i], self.answers[i], each)]  # fmt: skip

    def in_common(self, first: int, failing: list[int]) -> str:
        """What the inputs of all failing calls have, and those of no other one; "" if nothing."""
        asked = self.probes[first]
        if isinstance(self.answers[first], Failure):
            return ""
        alike = [i for i, p in enumerate(self.probes) if (p.name, p.code, p.kind) == (asked.name, asked.code, asked.kind)]
        inputs = {i: list(inputs_of(self.exercise, self.probes[i]).values()) for i in alike}
        said, without = common.in_inputs(inputs, failing)
        for i in [i for i in failing if i in inputs][:3]:  # it has to be right when that is taken away
            if without is None:
                break
            probe = self.probes[i]
            values = [without(v) if numeric(v) else v for v in (*probe.args, *probe.data.values())]
            plain = with_values(probe, values)
            truth = self.truth(plain)
            if isinstance(truth, Failure | Raises) or trouble(
                self.exercise, plain, ask(self.exercise, self.student, plain), truth
            ):
                return ""
        return said

    def in_programs(self, failing: list[int]) -> str:
        """What the programs that fail do, and no others."""
        programs = [(i, probe) for i, probe in enumerate(self.probes) if probe.kind == "run"]
        labels = {label for i in failing for label, *_ in wrong_parts(
                  self.exercise, self.probes[i], self.answers[i], self.truths[i])}  # fmt: skip
        only = bool(labels) and all(label.endswith(".grad") for label in labels)
        if only:  # of programs without gradients nothing can be learned then
            programs = [(i, probe) for i, probe in programs if i in failing or "backward" in probe.code]
        places = {i: place for place, (i, _) in enumerate(programs)}
        if set(failing) - set(places):
            return ""
        errors = [places[i] for i in places if isinstance(self.truths[i], Raises)]
        said = common.in_programs([(probe.code, probe.data) for _, probe in programs], [places[i] for i in failing], errors)
        return said + " Look at its rule." * (only and "`" in said)

    def in_a_wrong_solution(self, failing: list[int]) -> str:
        """What a small change of a solution does, if it gives the same answers: a sentence for each function, or for each part
        of the answers; "" if none does."""
        exercise = self.exercise
        every = list(range(len(self.probes)))
        parts = [part for part in parts_of(exercise, self.probes) or [every] if set(part) & set(failing)]
        open_ = {i: sorted(part, key=lambda k: k not in failing) for i, part in enumerate(parts)
                 if evidence(exercise, self.probes, self.answers, [k for k in part if k in failing]) > 1}  # fmt: skip
        right = wrong_solutions.right_code(exercise.lesson, exercise.id)
        if not open_ or not right.cells or exercise.free:
            return ""
        said: dict[int, str] = {}
        labels = self.labels(failing)
        several: dict[str, str] = {}
        roots = {name.split(".")[0] for name in exercise.names}
        given = exercise.scaffold() if exercise.scaffold else {}
        until = time.process_time() + SEARCHED
        for tried, slip in enumerate(wrong_solutions.slips(right, {"np": np, **given}), 1):
            answer = {name: slip.space[name] for name in roots | set(given) if name in slip.space}
            for i, asked in list(open_.items()):
                if self.behaves_like(answer, asked):
                    said[i] = slip.says()
                    del open_[i]
            for label in [label for label in labels if label not in several]:
                if self.behaves_in_part_like(answer, label, labels[label]):
                    several[label] = slip.says()
            late = time.process_time() > until or time.monotonic() > self.begun + LAST
            if not open_ or not self.goes_on(2 * tried, late):  # each takes twice as long as a change of the student's code
                break
        explained = {i for label in several for i in labels[label]}
        if said or not several or set(labels) - set(several) or set(failing) - explained or len(several) > 2:
            return " ".join(dict.fromkeys(said[i] for i in sorted(said)))
        return " ".join(f"{label}: {text[0].lower()}{text[1:]}" for label, text in several.items())

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
                if problem and "near" not in observation(given, right, self.exercise):
                    wrong.add(k)
        return next((says for k, says in self.exercise.leads.items() if k in wrong), "")

    def labels(self, failing: list[int]) -> dict[str, dict[int, Any]]:
        """Each part of the answers that is wrong: what was given, by question."""
        found: dict[str, dict[int, Any]] = {}
        for i in failing:
            if not isinstance(self.answers[i], Failure) and not isinstance(self.truths[i], Raises):
                for label, given, _ in wrong_parts(self.exercise, self.probes[i], self.answers[i], self.truths[i], apart=True):
                    numbers = as_numbers(given)
                    as_given = any(same(given, one, 1e-9, 1e-9) for one in map(np.asarray, self.probes[i].data.values()))
                    if numbers is None or not numbers.any() or as_given:
                        continue  # that nothing came, or changed, has many reasons
                    found.setdefault(label, {})[i] = given
        return {label: given for label, given in found.items() if len(found) > 1 and len(given) > 1}

    def behaves_like(self, answer: dict[str, Any], asked: list[int]) -> bool:
        """True if these answers are the student's."""
        theirs = one_by_one(self.exercise, answer, [self.probes[i] for i in asked])
        for number, (i, each) in enumerate(zip(asked, theirs)):
            if not alike(self.exercise, self.probes[i], self.answers[i], each):
                return False
            if not number and not trouble(self.exercise, self.probes[i], each, self.truths[i]):
                return False  # the change has no effect, and only the type of the student's answer is wrong
        return True

    def behaves_in_part_like(self, answer: dict[str, Any], label: str, given: dict[int, Any]) -> bool:
        """True if this part of the answers is the student's, wherever it is wrong."""
        theirs = one_by_one(self.exercise, answer, [self.probes[i] for i in given])
        for i, each in zip(given, theirs):
            theirs_apart = wrong_parts(self.exercise, self.probes[i], each, self.truths[i], apart=True)
            parts = {part: value for part, value, _ in theirs_apart}
            if label not in parts or not same(given[i], parts[label], self.exercise.rtol, self.exercise.atol):
                return False
        return True

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
                if slip[0] in REMARKS:
                    continue
                late = shrinking.clock() >= end or time.monotonic() > self.begun + LATEST
                if not self.goes_on(tried, late):
                    break
                tried += 1
                if all(self.right_now(self.probes[i], self.truths[i]) for i in asked):
                    still = [i for i in left if i not in asked and not self.right_now(self.probes[i], self.truths[i])]
                    whole = others <= set(left) and not still  # else it mends its own function only
                    kind, places, piece = slip
                    code = self.probes[asked[0]].code
                    own = [name for name in names if not code or re.search(rf"\b{name.rpartition('.')[2]}\b", code)]
                    return slipped(kind, places, piece, "this" if whole else " and ".join(own or names)), still
            return "", left
        finally:
            self.student.vary([])

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
            if answer in texts:
                return f"{answer!r} is the answer for other inputs. Which of your conditions does this input meet first?"
            return f"The answers are {', '.join(map(repr, texts))}, letter by letter." if 1 < len(texts) < 7 else ""
        if isinstance(truth, Raises) and isinstance(answer, Failure):
            return f"Which statement raises {truth.type}?"
        if isinstance(truth, Raises):
            return "For this input there is no right value. Which condition tells that, and does it come before a return?"
        return ""

    def right_now(self, probe: Probe, truth: Any) -> bool:
        """True if this question gets the right answer from a changed function."""
        return not trouble(self.exercise, probe, ask(self.exercise, self.student, probe), truth)

    def is_whole(self, wrong: Wrong) -> bool:
        """True if this mistake explains every answer, the right ones too."""
        theirs = one_by_one(self.exercise, wrong.answer, self.probes)
        return all(
            alike(self.exercise, p, a, b) for p, a, b in zip(self.probes, self.answers, theirs, strict=True)
        )

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

    def formula(self, first: int, shown: tuple[Any, ...]) -> str:
        """A sentence with the formula that explains this failing answer, all failing ones of the same question, and the
        (question, answer, truth) that is shown; "" if there is none."""
        exercise, asked = self.exercise, self.probes[first]
        label = next(iter(wrong_parts(exercise, asked, self.answers[first], self.truths[first], apart=True)), ("",))[0]
        cases = []
        for probe, answer, truth in [*zip(self.probes, self.answers, self.truths, strict=True), shown]:
            if probe is not shown[0] and (probe.name, probe.code) != (asked.name, asked.code):
                continue
            answer = answer.value if isinstance(answer, Failure) and answer.kind == "changed" else answer
            if isinstance(truth, Raises) or not trouble(exercise, probe, answer, truth):
                continue
            names = labels_of(probe, truth, apart=True) or [""]
            several = len(names) > 1 and isinstance(answer, list | tuple) and len(answer) == len(names)
            parts = dict(zip(names, zip(answer, truth))) if several else {names[0]: (answer, truth)}
            given, right = map(as_numbers, parts.get(label, (None, None)))
            if given is None or right is None or "b" in (given.dtype.kind, right.dtype.kind):
                return ""
            if not np.isfinite(given).all() and probe is not shown[0]:
                continue
            inputs = {**inputs_of(exercise, probe), "right": right.astype(float)}
            cases.append(likeness.Case(inputs, given.astype(float)))
        if len(cases) < 2:
            return ""
        *asked_before, last = cases
        text, make = likeness.formula(asked_before)
        if text in ("", "right") or not likeness.alike(make(last.inputs), last.given):
            slope = likeness.slope(cases)
            return f"Each time, what came back is {slope}." if slope else likeness.gathered(cases)
        if likeness.by_chance(text, asked_before):
            return ""
        means = ", where right is the right result" if re.search(r"\bright\b", text) else ""
        what = f"{label[0].lower()}{label[1:]}" if label.startswith(("The ", "Value ")) else label or "what came back"
        still = "still " if what in (text, f"{text}.data") else ""
        return f"Each time, {what} is {still}{text}{means}."

    def always_the_same(self) -> str:
        """A sentence if three calls or more all got one and the same number, though different ones are right."""
        rtol, atol = self.exercise.rtol, self.exercise.atol
        if len(self.answers) < 3 or any(p.kind != "call" for p in self.probes):
            return ""
        first, truth = self.answers[0], self.truths[0]
        if isinstance(first, Failure) or first is None:
            return ""
        alike = all(same(first, a, rtol, atol) for a in self.answers[1:])
        vary = not all(same(truth, t, rtol, atol) for t in self.truths[1:])
        return "Every call got the same answer. Where do its inputs enter?" if alike and vary else ""

    def refuse_value(self, answer: Any, problem: str) -> Verdict:
        """A value, choice, ordering or prediction that is not right."""
        exercise = self.exercise
        got = shown_answer(answer)
        if isinstance(answer, Failure):
            sort = "a letter" if exercise.options else sort_of(self.truths[0])
            problem = f"That is {answer.message}; {sort} is asked for." if answer.kind == "not plain" else problem
            return self.say("wrong", problem, got=got)
        if exercise.kind == "ordering":
            return self.refuse_order(answer, got)
        if exercise.options and option(answer) not in exercise.options:
            letters = ", ".join(map(repr, exercise.options))
            return self.say("wrong", f"Write the letter of one answer in quotation marks: one of {letters}.", got=got)
        wrong = diagnose(exercise, self.probes, [answer], [0])
        if wrong:
            return self.say(
                "wrong", feedback(wrong), got=got, misconception=wrong.misconception, mistake=wrong.id
            )
        plain = exercise.kind == "value" and exercise.accept is None
        seen = observation(answer, self.truths[0], exercise) if plain else ""
        if plain and in_another_order(exercise, answer):
            return self.say("wrong", "The numbers are the right ones, in another order. Which comes first?", got=got)
        if seen.startswith("Every number is ") and "times" in seen and not re.match("Every number is (0.5|2) times", seen):
            seen = "All numbers are wrong by the same factor."
        origin = (self.slip_by_hand(answer) or self.origin(answer)) if plain else ""
        seen = "" if origin and seen.startswith("All numbers") else seen
        told = bool(origin) or bool(re.search("sign|factor|rounded|times", seen))
        place = "" if not plain or re.search("wrong sign|Only its sign", seen) else self.in_its_place(answer, told)
        if exercise.kind == "prediction" and exercise.asks and not nearly_right(problem):
            place = exercise.asks[0]  # whatever is wrong: more would give away what the next cell shows
        texts = [isinstance(part, str) for part in (answer if isinstance(answer, list | tuple) else [answer])]
        if any(texts) and not isinstance(self.truths[0], str) and not exercise.options:
            place = "Quotation marks make a text of it. Write the value itself, without them."
            if texts == [True] and "error" in str(answer).lower():
                place = "No error is raised here. Write the value."
        where = seen if re.match(r"The (first|second|third|fourth|fifth|sixth|seventh) |\d+ of", seen) else ""
        seen = "" if where or origin else seen
        return self.say("wrong", where or problem, origin or seen, place, got=got)

    def in_its_place(self, answer: Any, explained: bool) -> str:
        """About the first number that is wrong: whether it is nearly right, and the question that leads to it."""
        given, wanted = as_numbers(answer), as_numbers(self.truths[0])
        asks = self.exercise.asks
        if given is None or wanted is None or given.shape != wanted.shape:
            return asks[0] if len(asks) == 1 else ""
        wrong = np.flatnonzero(~isclose(given, wanted, rtol=self.exercise.rtol, atol=self.exercise.atol).ravel())
        n, right = float(given.ravel()[wrong[0]]), float(wanted.ravel()[wrong[0]])
        near = "Its sign is wrong." if isclose(n, -right) and not explained else ""
        if not near and not explained and self.exercise.knows and abs(n - right) <= 0.15 * abs(right):
            near = f"{n:g} is not far off: compute it once more, step by step."
        ask = asks[wrong[0] % len(asks)] if asks else ""
        which = f"The {ORDINALS[wrong[0]]} number: " if len(asks) > 1 and wanted.ndim == 1 else ""
        return " ".join(filter(None, [near, which + ask if ask else ""]))

    def slip_by_hand(self, answer: Any) -> str:
        """The slip in the calculation that gives the numbers of a written answer."""
        given, source = as_numbers(answer), self.exercise.working
        if not source or given is None or np.shape(given) != np.shape(self.truths[0]):
            return ""
        return working.told(source, given.astype(float).ravel().tolist())

    def origin(self, answer: Any) -> str:
        """What a written number that is not right may come from, told by the numbers of the exercise."""
        given, wanted = as_numbers(answer), as_numbers(self.truths[0])
        known = {name: np.asarray(value, dtype=float) for name, value in self.exercise.knows.items()}
        if not known or given is None or wanted is None or given.shape != wanted.shape:
            return ""
        text, _ = likeness.formula([likeness.Case(known, given.astype(float))])
        if text and given.ndim:
            return f"Your numbers are {text}."
        for n in given.ravel()[~isclose(given, wanted, rtol=self.exercise.rtol).ravel()].astype(float):
            place = [i for i, right in enumerate(wanted.ravel()) if isclose(n, right)]
            if place and place[0] < len(ORDINALS):
                return f"{n:g} is right as the {ORDINALS[place[0]]} number."
            text = "" if self.exercise.working else likeness.formula(
                [likeness.Case(known, np.asarray(n))], enough=1, by_hand=True)[0]
            if any(re.search(rf"\b{re.escape(name)}\b", text) for name in known):
                return f"{n:g} is {text}. Is that what you took?"
        return ""

    def refuse_order(self, answer: Any, got: str) -> Verdict:
        """The first rule of the ordering that is broken."""
        order, exercise = numbers_of(answer), self.exercise
        count = len(exercise.items)
        if sorted(order) != list(range(1, count + 1)):
            missing = [str(n) for n in range(1, count + 1) if n not in order]
            twice = [str(n) for n in range(1, count + 1) if order.count(n) > 1]  # an answer may be very long
            no_step = next((f"There is no step {n}: they are counted from 1." for n in order if not 0 < n <= count), "")
            lacks = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing." * bool(missing)
            seen = " ".join(filter(None, [lacks, f"{', '.join(twice)} occurs twice." * bool(twice), no_step]))
            return self.say("wrong", f"Write each number from 1 to {count} once, in a list.", seen if order else "", got=got)
        rule = next(b for b in exercise.before if order.index(b.first) > order.index(b.then))
        says: str = rule.says or misconceptions.feedback(rule.misconception)
        return self.say("wrong", says, got=got, misconception=rule.misconception,
                        mistake=f"{rule.then} before {rule.first}")  # fmt: skip

    def fatal(self, failure: Failure, probe: Probe | None = None) -> Verdict:
        """Time, memory or the process itself ran out."""
        exercise = self.exercise
        spent = f"may compute for {exercise.seconds:g} s, and this took longer"
        loop = "Is there a loop that never ends, or work that is done over and over?"
        loop = "Does your code wait for something?" if failure.message else loop
        lines = {
            "timeout": (f"Stopped: the check of {exercise.id} {failure.message or spent}.", loop),
            "memory": (f"Stopped: the check of {exercise.id} may use {exercise.memory} MB of memory and this "
                       f"took more.",
                       "Does a list or an array grow without end?"),
            "killed": ("Your code ended the whole process instead of returning a value.", failure.message),
            "forbidden": ("Your code tried something that is not allowed here.", failure.message),
            "protocol": ("No plain value came back from your code.", failure.message),
        }[failure.kind]  # fmt: skip
        decides = probe is not None and isinstance(exercise.expected(probe), bool)  # its words are about a yes or a no
        about = probe.about if probe and not decides else ""
        return self.say(FATAL[failure.kind], *lines, about, call=shown_call(exercise, probe) if probe else "")

    # --- the smallest failing call ---

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
    "piece": "What belongs in the place of {}?",
    "exchange": "{} have changed places.",
    "condition": "Is {} to be true here, or false?",
    "spare": "Something is too much in {}. What of it can go?",
    "too much": "Something is too much in {}. What of it can go?",
    "place": "{} is right, but it runs at the wrong moment. Before or after which line, and inside or outside of which block?",
    "factor": "{} is still to be multiplied or divided. By what?",
    "term": "Something is still to be added to {}, or subtracted from it. What?",
    "around": "{} is nearly what is needed. What is still to be done to it?",
    "line": "{} is too much. What does it do?",
}  # by the sort of change


def slipped(kind: str, lines: Sequence[int], piece: str, whose: str) -> str:
    """A sentence for the one small change, here or in several lines, that makes an answer right."""
    numbers = [str(line) for line in dict.fromkeys(lines)]
    places = f"lines {', '.join(numbers[:-1])} and {numbers[-1]}" if len(numbers) > 1 else f"line {numbers[0]}"
    one = "One change" if len(lines) == 1 else "The same change" if len(numbers) > 1 else "The same change in two places"
    in_ = "of" if one.endswith("places") else "in"
    return f"{one} {in_} {places} of your cell makes {whose} right. {SLIPS.get(kind, '{}').format(piece)}"


def leaves_alone(probe: Probe, truth: Any) -> bool:
    """True if every part of the answer is a yes or no, all zero, all one, or stands in the question as it is."""
    if truth is None or isinstance(truth, bool | str | Raises) or probe.view is not None:
        return True
    given = getattr(probe.outside, "given", probe.data)
    there = [*probe.args, *(value for name, value in probe.data.items() if name in given)]
    if any(same(truth, one, 1e-9, 1e-9) for one in (*there, *(np.asarray(one) for one in there if isinstance(one, list)))):
        return True
    array = as_numbers(truth)
    if isinstance(truth, list | tuple) and (array is None or array.ndim == 1):
        return all(leaves_alone(probe, part) for part in truth)
    return array is not None and array.dtype.kind != "b" and bool((array == 0).all() or (array == 1).all())


def is_nothing(answer: Any) -> bool:
    """True for None, and for lists of nothing else."""
    return answer is None or (isinstance(answer, list | tuple) and all(map(is_nothing, answer)))


def inputs_of(exercise: Exercise, probe: Probe) -> dict[str, np.ndarray[Any, Any]]:
    """The numbers that a question gives, by their names."""
    given = dict(probe.data)
    if probe.kind == "call":
        function = exercise.namespace(exercise.alternatives[0]).get(probe.name) if exercise.alternatives else None
        names = list(inspect.signature(function).parameters) if callable(function) else []
        given |= dict(zip(names, probe.args))
    steps = exercise.steps(probe) if exercise.steps else {}
    given = {name: value for name, value in given.items() if name not in steps} | dict(steps)
    if len(given) >= likeness.MOST:  # too many to combine: the steps are nearer to the answer than the inputs
        given = dict(list(given.items())[-likeness.MOST + 1 :])
    arrays = {name: as_numbers(value) for name, value in given.items()}
    return {name: array.astype(float) for name, array in arrays.items() if array is not None and array.dtype.kind != "b"}


def numeric(value: Any) -> bool:
    """True for a float, an array of them, and a list of floats."""
    if isinstance(value, list):
        return bool(value) and all(type(v) is float for v in value)
    return type(value) is float or (isinstance(value, np.ndarray) and value.dtype.kind == "f")


def alike_in_kind(before: Any, now: Any) -> bool:
    """True if a smaller question shows the same sort of trouble: the same exception, or a wrong value as before."""
    if isinstance(before, Failure) != isinstance(now, Failure):
        return False
    return not isinstance(before, Failure) or (before.kind, before.type) == (now.kind, now.type)


def nearly_right(problem: str) -> bool:
    """True if only the form is wrong. With lengths of 1 that may be chance: another failing question says more."""
    return bool(re.match(r"(.{1,40}: )?[Tt]he (numbers?|values?|result) (is|are) right", problem))


def plainly(problem: str, kind: str) -> str:
    """What kind of trouble a sentence names: without the numbers in it, one value or many, whichever part of a program."""
    words = re.sub(r"\([^()]*\)|'[^']*'|\d+", "", problem.split(" (line ")[0]).replace("numbers are right", "number is right")
    if kind == "run":
        words = re.sub(r"^[^:]{1,40}: (?=[a-z])", "", words).lower()
    return re.sub(r"^(the values?|.{1,40}) (is|are) not right" if kind == "run" else r"values are", "value is", words)


CHANCE = (  # formulas that fit small whole numbers by chance: a part of what is right, or a sign, in a sum
    r"right(\[0\]|\.max\(\)|\.mean\(\)) [-+*/@]|[-+*/@] right(\[0\]|\.max|\.mean)|(sign|round|int)\(right|\(right [<>]"
    r"|[-+] (np\.sign|\([^()]+ [<>])|(sign\([^()]*\)|[<>] 0\)) [-+]|right [*/] np\.ones_like"
)
ALWAYS = re.compile("(Every number|It) is (?!zero)|Every number has|Only its|The numbers are rounded")  # not of one


def so(seen: str, answer: Any, truth: Any) -> bool:
    """True if such an observation ("Every number is zero.") is so of this answer as well."""
    given, wanted = as_numbers(answer), as_numbers(truth)
    if given is None or wanted is None or given.shape != wanted.shape or not finite(answer):
        return False
    given, wanted = given.astype(float), wanted.astype(float)
    if "zero" in seen:
        return not given.any()
    if "sign" in seen:
        return bool(allclose(given, -wanted))
    if "very near" in seen:
        return near(given, wanted)
    if "rounded to" in seen or "are rounded" in seen:
        return any(allclose(given, wanted.round(n), rtol=1e-12, atol=1e-12) for n in range(5))
    return "times" not in seen or times(seen, given, wanted)


def near(given: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> bool:
    """True if these are nearly the same numbers, for their size."""
    return bool(allclose(given, wanted, rtol=2e-5, atol=1e-6 * min(1.0, float(np.abs(wanted).max(initial=0)))))


def times(observed: str, answer: Any, truth: Any) -> bool:
    """True if "Every number is 3 times what it should be" is so of this answer as well."""
    factor = re.match(r"(?:Every number|It) is (\S+) times", observed)
    given, wanted = as_numbers(answer), as_numbers(truth)
    if factor is None or given is None or wanted is None or given.shape != wanted.shape:
        return False
    return bool(allclose(given.astype(float), float(factor[1]) * wanted.astype(float), rtol=1e-3))


def first_wrong(answer: Any, truth: Any, exercise: Exercise) -> tuple[Any, Any]:
    """The first part of an answer of several parts that is wrong, and what is right; of one part, the whole."""
    if isinstance(truth, list | tuple) and not flat_numbers(truth) and isinstance(answer, list | tuple):
        for part in zip(answer, truth):
            if difference(*part, exercise.rtol, exercise.atol, strict=False):
                return part
    return answer, truth


def size_of(answer: Any) -> int:
    """How many numbers an answer holds, in all its parts."""
    if isinstance(answer, list | tuple):
        return sum(map(size_of, answer))
    array = as_numbers(answer)
    return 1 if array is None else array.size


# --- asking and comparing -----------------------------------------------------------------------------------


def ask(exercise: Exercise, student: Student, probe: Probe) -> Any:
    """One probe to one student."""
    view = probe.view
    if probe.kind == "value":
        answer = student.value(probe.name)
    elif probe.kind == "run":
        data = copied(dict(probe.data))
        if probe.outside is None:
            answer = student.run(probe.code, data, exercise.prelude)
        else:
            there = probe.outside(**data)
            held = {name: copied(value) if name in there.given else there.inside.get(name) for name, value in data.items()}
            answer = student.run(probe.code, held, exercise.prelude, there)
            view = there.seen
    else:
        answer = student.call(probe.name, *copied(probe.args), **copied(dict(probe.data)))
    if view is None or isinstance(answer, Failure):
        return answer
    if too_large_together(answer):
        return Failure("not plain", message="arrays that are far larger than the program asks for")
    try:
        return view(answer)
    except Exception:  # it is the student's, and may be anything
        return Failure("not plain", message="something of another form than the program asks for")


def outcomes(exercise: Exercise, answer: Any, probes: list[Probe]) -> list[Any]:
    """What a trusted answer (a catalogued wrong one, an alternative) gives on these probes."""
    with engine_randomness():
        return list(one_by_one(exercise, answer, probes))


def one_by_one(exercise: Exercise, answer: Any, probes: list[Probe]) -> Iterator[Any]:
    """The same, each when it is asked for."""
    student = Local(exercise.namespace(answer))
    for probe in probes:
        yield ask(exercise, student, probe)


@contextlib.contextmanager
def engine_randomness() -> Iterator[None]:
    """Trusted answers run in the student's kernel: its random numbers go on afterwards where they were."""
    engine: Any = sys.modules.get("minigrad.ops.random")
    if engine is None:
        yield
        return
    state = vars(engine.default_generator)
    before = dict(state)
    engine.manual_seed(0)  # with a source of its own: the one before is not touched
    try:
        yield
    finally:
        state.update(before)


def trouble(exercise: Exercise, probe: Probe, answer: Any, truth: Any) -> str:
    """The first thing that is wrong with an answer, in one sentence; "" if nothing is."""
    if isinstance(truth, Raises):
        return no_error(answer, truth)
    if isinstance(answer, Failure):
        if answer.kind == "printed":
            if truth is None:
                return ""
            start = answer.printed[:60]
            return f"It gave None, and printed {start!r}. A function hands its result back with return."
        if answer.kind == "changed":
            return trouble(exercise, probe, answer.value, truth) or (
                f"The result is right, but it changed its input {answer.message}. Work on a copy, or make a "
                f"new array."
            )
        return failed(answer)
    if exercise.written:
        return value_trouble(exercise, answer, truth)
    exact = probe.kind == "call" or isinstance(truth, str)  # a text that a function gives is another one in capitals
    problem = difference(answer, truth, exercise.rtol, exercise.atol, strict=exact)
    part = next(wrong_parts(exercise, probe, answer, truth), None) if problem else None
    if part is None:
        return problem
    label, given, wanted = part
    problem = difference(given, wanted, exercise.rtol, exercise.atol, strict=exact) or problem
    whole = re.sub(r"^The values? (is|are) not right", lambda found: f"{label} is not right", problem)
    return whole if whole != problem else f"{label}: {problem[0].lower()}{problem[1:]}"


def wrong_parts(
    exercise: Exercise, probe: Probe, answer: Any, truth: Any, apart: bool = False
) -> Iterator[tuple[str, Any, Any]]:
    """Each part of an answer that is wrong: what it is called, what was given, what is right.

    The parts of a program are what its last line lists; those of a call are its return values. One value is one part; a
    pair of numbers too, if they are not taken `apart`.
    """
    labels = labels_of(probe, truth, apart)
    given = answer.tolist() if isinstance(answer, np.ndarray) and answer.ndim == 1 and probe.kind == "run" else answer
    if len(labels) > 1 and isinstance(given, list | tuple) and len(given) == len(labels):
        strict = probe.kind == "call"
        yield from (part for part in zip(labels, given, truth, strict=True)
                    if difference(*part[1:], exercise.rtol, exercise.atol, strict=strict))  # fmt: skip
    elif len(labels) == 1 and probe.kind == "run":
        yield labels[0], answer, truth


ODD = {
    "nan": "This comes from 0 / 0, from inf - inf, from the mean of an empty array, from the logarithm or the root of a "
           "negative number, or from None.",
    "inf": "A number has become too large, as exp of a large one does, or something was divided by 0.",
}
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")


def labels_of(probe: Probe, truth: Any, apart: bool = False) -> list[str]:
    """What the parts of a right answer are called."""
    several = probe.kind == "run" or not flat_numbers(truth) or (apart and type(truth) is tuple)
    count = len(truth) if isinstance(truth, list | tuple) and several else 1
    words = [f"The {ORDINALS[i]} value" if i < len(ORDINALS) else f"Value {i + 1}" for i in range(count)]
    if probe.kind != "run":
        return words if count > 1 else []
    last = ast.parse(probe.code).body[-1]
    shown = last.value if isinstance(last, ast.Expr) else None
    if isinstance(shown, ast.List | ast.Tuple) and len(shown.elts) == count:
        texts = [ast.unparse(each) for each in shown.elts]
        return [text if len(text) <= 30 else word for text, word in zip(texts, words, strict=True)]
    named = isinstance(shown, ast.Attribute | ast.Name | ast.Subscript | ast.Call) and len(ast.unparse(shown)) <= 50
    return [ast.unparse(shown)] if count == 1 and shown is not None and named else []


def value_trouble(exercise: Exercise, answer: Any, truth: Any) -> str:
    """The same for something written down by hand."""
    if exercise.kind == "ordering":
        order = numbers_of(answer)
        whole = sorted(order) == list(range(1, len(exercise.items) + 1))
        kept = whole and all(order.index(b.first) < order.index(b.then) for b in exercise.before)
        return "" if kept else "The order is not right."
    if exercise.options:
        return "" if option(answer) == option(truth) else "That is not it."
    if exercise.accept is not None:
        if isinstance(answer, str) and not isinstance(truth, str):
            return f"That is {kind_of(answer)}; {sort_of(truth)} is asked for."
        try:
            return "" if exercise.accept(plain_value(answer)) else "That is not it."
        except Exception:  # the same
            same_sort = "one of another form" if kind_of(answer) == sort_of(truth) else sort_of(truth)
            return f"That is {kind_of(answer)}; {same_sort} is asked for."
    problem = difference(answer, truth, exercise.rtol, exercise.atol, strict=False)
    # that nothing is there is the answer itself: not given away
    problem = re.sub(r"^It gave .*; None is asked for", "The value is not right", problem)
    return re.sub(r"it gave .*; None is asked for", "the value is not right", problem)


def failed(failure: Failure) -> str:
    """A sentence for a Failure."""
    if failure.kind == "missing":
        return f"I cannot find {failure.message}. Run the cell that defines it, then check again."
    if failure.kind == "not plain" and failure.message == "a function":
        return "It gave a function, and no value. Is that function to be called, with brackets and an input?"
    if failure.kind == "not plain":
        return f"It gave {failure.message}, which is no plain value. Give back numbers, lists or arrays."
    if failure.type == "SystemExit":
        return "It called sys.exit() (or exit()). Return a value instead."
    if failure.type in ("EOFError", "StdinNotImplementedError"):
        return f"It waits for something to be typed (input()){where(failure)}. All it needs is in its inputs."
    if failure.type == "RecursionError":
        return f"It called itself too often (RecursionError){where(failure)}. What stops the recursion?"
    message = f": {failure.message}" if failure.message else ""
    return f"It raised {failure.type}{message}{where(failure)}"


def where(failure: Failure) -> str:
    if failure.line is None:
        return ""
    return f" (line {failure.line}: {failure.text})" if failure.text else f" (line {failure.line})"


def no_error(answer: Any, truth: Raises) -> str:
    """What is wrong when an error was asked for."""
    if not isinstance(answer, Failure) or answer.kind != "raised":
        return f"Here it has to raise {truth.type}; it gave {shown_answer(answer)} instead."
    if truth.type != answer.type and truth.type not in answer.bases:
        return f"Here it has to raise {truth.type}; it raised {answer.type}: {answer.message}{where(answer)}"
    if truth.contains.lower() not in answer.message.lower():
        found = f"does not say {truth.contains!r}: {answer.message!r}"
        return f"It raises {truth.type}, as it should, but the message {found}"
    return ""


def difference(got: Any, truth: Any, rtol: float, atol: float, *, strict: bool) -> str:
    """Value first, then shape, then type. `strict`: a list is no array, a tensor is no array."""
    if holds_ellipsis(got):
        return "It gave ... : the blank is still there."
    if truth is None or got is None:
        return "" if got is truth else f"It gave {kind_of(got)}; {sort_of(truth)} is asked for."
    if isinstance(truth, str) or isinstance(got, str):
        alike = isinstance(truth, str) and isinstance(got, str)
        if alike and (got == truth or (not strict and got.strip().lower() == truth.strip().lower())):
            return ""
        return (
            f"The text {got[:30]!r} is not right here." if alike else f"That is {kind_of(got)}; {sort_of(truth)} is asked for."
        )
    if isinstance(truth, dict):
        if not isinstance(got, dict):
            return f"That is {kind_of(got)}; {sort_of(truth)} is asked for."
        if set(got) != set(truth):
            keys = ", ".join(sorted(map(str, got)))
            return f"The keys are {keys}; they are not all that is asked for, or too many."
        return first_of(((f"At {k!r}: ", got[k], truth[k]) for k in truth), rtol, atol, strict)
    if isinstance(truth, bool | np.bool_) or isinstance(got, bool | np.bool_):
        if isinstance(truth, bool | np.bool_) and isinstance(got, bool | np.bool_):
            return "" if bool(got) == bool(truth) else f"It gave {bool(got)}, which is not right here."
        return f"That is {kind_of(got)}; {sort_of(truth)} is asked for."
    arrays = isinstance(got, list | tuple) and any(isinstance(part, np.ndarray | Tensor) for part in got)
    if isinstance(truth, list | tuple) and (arrays or not flat_numbers(truth)):
        stacked = isinstance(got, np.ndarray) and got.ndim > 1 and [shape_of(t) for t in truth] == [s.shape for s in got]
        several = list(got) if stacked or isinstance(got, list | tuple) else None  # an array of all of them unpacks too
        if several is None:
            return f"That is {kind_of(got)}; {len(truth)} values are asked for."
        if len(several) != len(truth):
            return f"It gave {len(several)} value{'s' * (len(several) != 1)}; {len(truth)} are asked for."
        names = [f"The {ORDINALS[i]} value: " if i < 5 else f"Value {i + 1}: " for i in range(len(truth))]
        return first_of(zip(names, several, truth, strict=True), rtol, atol, strict)
    return number_difference(got, truth, rtol, atol, strict)


def shape_of(truth: Any) -> tuple[int, ...] | None:
    """The shape of a right answer; None for lists of different lengths, which have none."""
    array = as_numbers(truth)
    return None if array is None else array.shape


def first_of(parts: Any, rtol: float, atol: float, strict: bool) -> str:
    """The first difference of several parts."""
    for label, got, truth in parts:
        problem = difference(got, truth, rtol, atol, strict=strict)
        if problem:
            start = re.match(r"The values? (is|are) not right", problem) if label.startswith(("The ", "Value ")) else None
            if start:
                return f"{label.removesuffix(': ')} is not right{problem[start.end() :]}"
            return f"{label}{problem[0].lower()}{problem[1:]}"
    return ""


def number_difference(got: Any, truth: Any, rtol: float, atol: float, strict: bool) -> str:
    """Numbers, lists of numbers, arrays and tensors."""
    wanted, given = as_numbers(truth), as_numbers(got)
    assert wanted is not None, "the oracle gave something that is no number"
    if given is None:
        inner = isinstance(got, list | tuple) and all(isinstance(part, list | tuple) for part in got)
        return f"That is {kind_of(got)}{' that holds lists' * inner}; {sort_of(truth)} is asked for."
    if given.dtype.kind == "b" and wanted.dtype.kind != "b":
        return f"That is {kind_of(got)} of True and False; numbers are asked for."
    written = isinstance(got, list | tuple)
    if written and truths_among(got) and not truths_among(truth):
        return f"That is {kind_of(got)} that holds a truth value; True is not written for 1, nor False for 0."
    if written and given.ndim == 1 and not wanted.ndim and given.size == 1:
        right = isclose(float(given[0]), float(wanted), rtol=rtol, atol=atol, equal_nan=True)
        start = "The number is right, but it is inside" if right else "That is a number in"
        comma = " (a comma at the end makes one)" if isinstance(got, tuple) else ""
        return f"{start} {kind_of(got)}{comma}; {sort_of(truth)} is asked for."
    if written and given.ndim == wanted.ndim == 1 and given.size != wanted.size and isinstance(truth, list | tuple):
        asked = "1 is" if wanted.size == 1 else f"{wanted.size} are"
        return f"It holds {given.size} number{'s' * (given.size != 1)}; {asked} asked for."
    if given.size != wanted.size:
        if not given.ndim:
            many = isinstance(truth, list | tuple) and wanted.ndim == 1
            asked = f"{wanted.size} values are" if many else f"an array of shape {wanted.shape} is"
            return f"That is one number; {asked} asked for."
        if written and given.ndim == 1 and not wanted.ndim:
            comma = " A comma between numbers makes a tuple." if isinstance(got, tuple) else ""
            return f"That is {kind_of(got)} of {given.size} numbers; one number is asked for.{comma}"
        asked = f"an array of shape {wanted.shape}" if wanted.ndim else "one number"
        return f"The shape {tuple(given.shape)} is not right: {asked} is asked for."
    flat_given, flat_wanted = given.ravel(), wanted.ravel()
    close = isclose(
        flat_given.astype(float), flat_wanted.astype(float), rtol=rtol, atol=atol, equal_nan=True
    )
    if not close.all():
        for odd, cause in ODD.items():
            test = getattr(np, f"is{odd}")
            if test(flat_given.astype(float)).any() and not test(flat_wanted.astype(float)).any():
                return f"The value is not right: it has {odd} in it. {cause}"
        return "The value is not right." if wanted.size == 1 else "The values are not right."
    if given.shape != wanted.shape:
        if written and isinstance(truth, list | tuple) and wanted.ndim == 1:
            return "The numbers are right, but there is a list inside the list; one list of numbers is asked for."
        asked = f"the shape {wanted.shape}" if wanted.ndim else "a single number"
        numbers = "number is" if wanted.size == 1 else "numbers are"
        return f"The {numbers} right, the shape {tuple(given.shape)} is not: {asked} is asked for."
    if wanted.dtype.kind == "b" and given.dtype.kind != "b":
        return "The values are right, but as numbers; True and False are asked for."
    if strict and isinstance(got, Tensor):
        return f"The value is right, but comes as a tensor; {sort_of(truth)} is asked for, found without the engine."
    if strict and isinstance(truth, np.ndarray) and truth.ndim and isinstance(got, list | tuple):
        return f"The numbers are right, but come as {kind_of(got)}; an array is asked for: np.array(...) makes one."
    return ""


def same(a: Any, b: Any, rtol: float, atol: float) -> bool:
    """True if two students' answers cannot be told apart (Failures by exception and message)."""
    if isinstance(a, Failure) or isinstance(b, Failure):
        if not (isinstance(a, Failure) and isinstance(b, Failure)) or (a.kind, a.type) != (b.kind, b.type):
            return False
        if a.kind == "changed":
            return a.message == b.message and same(a.value, b.value, rtol, atol)
        fits_not = "broadcast" in a.message and "broadcast" in b.message  # * and broadcast_to say it in other words
        any_message = a.kind == "printed" or fits_not or a.type in ("RecursionError", "KeyError")  # a key may be an address
        return any_message or without_addresses(a.message) == without_addresses(b.message)
    if type(a) is type(b) and type(a) in (list, tuple):
        return len(a) == len(b) and all(same(x, y, rtol, atol) for x, y in zip(a, b, strict=True))
    if type(a) is dict and type(b) is dict:
        return set(a) == set(b) and all(same(a[k], b[k], rtol, atol) for k in a)
    first, second = as_numbers(a), as_numbers(b)
    if first is None or second is None:
        if type(a) is type(b) is str:
            return without_addresses(a) == without_addresses(b)
        return type(a) is type(b) and bool(a == b)
    array = isinstance(a, np.ndarray | Tensor | np.generic) or isinstance(b, np.ndarray | Tensor | np.generic)
    if first.shape != second.shape or (type(a) is not type(b) and not array and first.ndim):
        return False
    if (first.dtype.kind == "b") != (second.dtype.kind == "b"):
        return False
    return bool(
        isclose(first.astype(float), second.astype(float), rtol=rtol, atol=atol, equal_nan=True).all()
    )


def without_addresses(text: str) -> str:
    """A text without the places in memory that a printed object names: they are others at every run."""
    return re.sub(r"0x[0-9a-f]+|(?<=for [-+*/]: )'.*", "", text)  # nor the names of classes, where an operation is missing


SHAPES = re.compile(r"operands could not be broadcast|matmul: Input operand|shapes .* not aligned")  # what numpy says of them


def same_shapes_do_not_fit(answer: Any, theirs: Any) -> bool:
    """True if numpy could not put two shapes together in both, in whichever order they stood."""
    raised = isinstance(answer, Failure) and isinstance(theirs, Failure) and answer.type == theirs.type == "ValueError"
    return raised and bool(SHAPES.match(answer.message) and SHAPES.match(theirs.message))


def as_numbers(value: Any) -> np.ndarray[Any, Any] | None:
    """An array of numbers, or None if it is none."""
    if isinstance(value, Tensor):
        return value.array
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, bool | int | float | np.generic) or (
        isinstance(value, list | tuple) and flat_numbers(value)
    ):
        try:
            array = np.array(bare(value))
        except (ValueError, OverflowError):
            return None
        return array if array.dtype.kind in "biuf" else None
    return None


def bare(value: Any) -> Any:
    """Lists of tensors as lists of arrays."""
    if isinstance(value, list | tuple):
        return [bare(each) for each in value]
    return value.array if isinstance(value, Tensor) else value


def flat_numbers(value: Any) -> bool:
    """True for a (nested, rectangular) list or tuple of bare numbers."""
    if isinstance(value, list | tuple):
        inner = [v for v in value if isinstance(v, list | tuple)]
        if inner and len(inner) != len(value):
            return False
        return all(flat_numbers(v) for v in value) and len({len(v) for v in inner}) <= 1
    if isinstance(value, Tensor):
        return value.array.ndim == 0
    return isinstance(value, bool | int | float | np.generic) or (
        isinstance(value, np.ndarray) and value.ndim == 0
    )


def truths_among(answer: Any) -> bool:
    """True for a list in which True or False stands."""
    return isinstance(answer, list | tuple) and any(isinstance(v, bool | np.bool_) for v in answer)


def numbers_of(answer: Any) -> list[int]:
    """A list of whole numbers out of a list, tuple, array or a string such as "3 1 2"; [] if it is none."""
    if isinstance(answer, str) or type(answer) is int:
        words = re.findall(r"\d{1,9}", str(answer)[:1000])
        answer = [int(word) for word in (words[0] if len(words) == 1 else words)]
    if isinstance(answer, list | tuple) and all(isinstance(n, str) and re.fullmatch(r"\d{1,9}", n) for n in answer):
        answer = [int(n) for n in answer]
    array = as_numbers(answer)
    if array is None or array.ndim != 1 or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        return []
    if (array != np.floor(array)).any():
        return []
    return [int(n) for n in array]


def option(answer: Any) -> str:
    """A letter as the student may have written it: b, B., (b), "b"."""
    if isinstance(answer, str):
        return answer.strip(" \t\n.,:;()[]`'\"").lower()
    return str(answer) if isinstance(answer, int) else ""


def plain_value(answer: Any) -> Any:
    """Tensors as arrays, numpy scalars and 0-d arrays as Python numbers."""
    if isinstance(answer, Tensor):
        answer = answer.array
    return (
        answer.item()
        if isinstance(answer, np.generic) or (isinstance(answer, np.ndarray) and not answer.ndim)
        else answer
    )


def finite(truth: Any) -> bool:
    """True if an oracle's answer holds no nan and no infinity."""
    if isinstance(truth, list | tuple) and not flat_numbers(truth):
        return all(finite(t) for t in truth)
    array = as_numbers(truth)
    return array is None or bool(np.isfinite(array.astype(float)).all())


def holds_ellipsis(answer: Any) -> bool:
    """True for `...`, also inside a list."""
    if isinstance(answer, list | tuple):
        return any(holds_ellipsis(a) for a in answer)
    return answer is ...


# --- diagnosis ----------------------------------------------------------------------------------------------


def diagnose(exercise: Exercise, probes: list[Probe], answers: list[Any], failing: list[int]) -> Wrong | None:
    """The catalogued wrong answer that behaves like the student's: on every probe, else on every one about the same
    function or class, else on every failing one."""
    if exercise.kind in ("value", "choice", "prediction"):
        exactly = (w for w in exercise.wrong if not exercise.options
                   and (type(w.answer) is type(answers[0]) or {type(w.answer), type(answers[0])} == {list, tuple})
                   and (w.when is None or is_this(w, answers[0], exercise))
                   and not difference(answers[0], w.answer, exercise.rtol, exercise.atol, strict=False))  # fmt: skip
        found = next(exactly, None)
        if found is None and not in_another_order(exercise, answers[0]):
            found = next((w for w in exercise.wrong if is_this(w, answers[0], exercise)), None)
        return found
    return next(diagnoses(exercise, probes, answers, failing), None)


def diagnoses(exercise: Exercise, probes: list[Probe], answers: list[Any], failing: list[int]) -> Iterator[Wrong]:
    """The same, and where each part of an answer has a mistake of its own, one after the other."""

    def behaves_so(wrong: Wrong, asked: Sequence[int]) -> list[Any] | None:
        """What it gives on these probes, if that is what the student gave."""
        order = sorted(asked, key=lambda i: i not in failing)  # most are told apart by the first
        results, loosely = [], False
        for i, theirs in zip(order, one_by_one(exercise, wrong.answer, [probes[i] for i in order]), strict=False):
            if not alike(exercise, probes[i], answers[i], theirs):
                if not same_shapes_do_not_fit(answers[i], theirs):
                    return None
                loosely = True
            results.append(theirs)
        shown = any(i in failing and not isinstance(answers[i], Failure) for i in asked)  # numbers that show the mistake
        return results if shown or not loosely else None

    def fails(wrong: Wrong, asked: Sequence[int]) -> bool:
        """Whether it is wrong there itself: a tensor may hold the numbers of a right array."""
        theirs = one_by_one(exercise, wrong.answer, [probes[i] for i in asked])
        return any(trouble(exercise, probes[i], given, exercise.expected(probes[i])) for i, given in zip(asked, theirs))

    whole = next((w for w in exercise.wrong if behaves_so(w, range(len(probes))) is not None), None)
    if whole is not None:
        yield whole
        return
    parts = [part for part in parts_of(exercise, probes) if set(part) & set(failing)]
    named = [next((w for w in exercise.wrong if behaves_so(w, part) is not None and fails(w, part)), None) for part in parts]
    if exercise.kind == "program" and not all(named):  # what is asked of one method depends on the others
        named = [w for w in named if w and sum(behaves_so(w, [i]) is not None for i in failing) >= 0.7 * len(failing)]
    yield from filter(None, named)
    if any(named) or evidence(exercise, probes, answers, failing) < 2 or all(type(answers[i]) is bool for i in failing):
        return
    for wrong in exercise.wrong:
        results = behaves_so(wrong, failing)
        if results and all(trouble(exercise, probes[i], given, exercise.expected(probes[i]))
                           for i, given in zip(failing, results, strict=True)):  # fmt: skip
            theirs = zip(probes, one_by_one(exercise, wrong.answer, probes), strict=True)
            at_most = len(failing) * (1 if any(isinstance(given, Failure) for given in results) else 2)  # errors are alike
            if sum(bool(trouble(exercise, p, given, exercise.expected(p))) for p, given in theirs) <= at_most:
                yield wrong  # else most of what it gets wrong is right here
                return


def odd(number: float) -> bool:
    """True for a number that hardly comes by chance: none with few digits."""
    return bool(np.isfinite(number)) and abs(number * 5040 - round(number * 5040)) > 1e-6


def names_in(exercise: Exercise, probe: Probe) -> set[str]:
    """The names of an exercise that a question uses."""
    used = {name for name in exercise.names if re.search(rf"\b{name.rpartition('.')[2]}\b", probe.code)}
    return used | ({probe.name} & set(exercise.names))


def parts_of(exercise: Exercise, probes: list[Probe]) -> list[list[int]]:
    """Which probes ask about one and the same function or class, where an exercise asks for several."""
    if len(exercise.names) < 2:
        return []
    about: dict[str, list[int]] = {}
    for i, probe in enumerate(probes):
        about.setdefault(probe.name or " ".join(sorted(names_in(exercise, probe))), []).append(i)
    return list(about.values()) if len(about) > 1 else []


def alike(exercise: Exercise, probe: Probe, answer: Any, theirs: Any) -> bool:
    """True if two answers are the same; an error that is asked for may be put in any words that are right."""
    if same(answer, theirs, exercise.rtol, exercise.atol):
        return True
    if probe.many and not isinstance(answer, Failure) and not isinstance(theirs, Failure):
        return True  # what it says is about this answer alone; the mistake is the same if all else is
    words = exercise.words_of_errors
    if not words or not isinstance(answer, Failure) or not isinstance(theirs, Failure):
        return False
    said = [
        {(kind, word) for kind, word in words if kind in (f.type, *f.bases) and word in f.message.lower()}
        for f in (answer, theirs)
    ]
    return bool(said[0]) and said[0] == said[1]


def evidence(
    exercise: Exercise, probes: list[Probe], answers: list[Any], failing: list[int], zeros: bool = False
) -> int:
    """How many numbers, wrong and not zero (or zero as well), an answer shares with a mistake that it is not in
    everything: one may be chance."""
    count = 0
    for i in failing:
        answer, truth = answers[i], exercise.expected(probes[i])
        if isinstance(answer, Failure) and answer.kind == "changed":
            answer = answer.value
        if isinstance(truth, Raises) or isinstance(answer, Failure):
            count += isinstance(truth, Raises)
            continue
        pairs = [(answer, truth)]
        if isinstance(truth, list | tuple) and isinstance(answer, list | tuple) and len(answer) == len(truth):
            pairs = list(zip(answer, truth, strict=True))
        count += sum(wrong_numbers(exercise, *pair, zeros) for pair in pairs)
    return count


def wrong_numbers(exercise: Exercise, answer: Any, truth: Any, zeros: bool) -> int:
    """How many numbers of an answer are wrong and, unless `zeros` count, not zero."""
    given, wanted = as_numbers(answer), as_numbers(truth)
    if given is None or wanted is None:
        return 0 if same(answer, truth, exercise.rtol, exercise.atol) else 2
    if given.shape != wanted.shape:
        return int(given.size)
    off = ~isclose(given.astype(float), wanted.astype(float), rtol=exercise.rtol, atol=exercise.atol)
    return int((off & ((given != 0) | zeros)).sum())


def in_another_order(exercise: Exercise, answer: Any) -> bool:
    """True if a list holds the right numbers, in other places."""
    given, wanted = as_numbers(answer), as_numbers(exercise.right)
    if exercise.kind != "value" or given is None or wanted is None or given.ndim != 1 or given.shape != wanted.shape:
        return False
    return bool(wanted.size > 1 and allclose(np.sort(given), np.sort(wanted), rtol=exercise.rtol))


def is_this(wrong: Wrong, answer: Any, exercise: Exercise) -> bool:
    """True if a written-down value is this wrong one."""
    if exercise.options:
        return option(answer) == option(wrong.answer)
    if wrong.when is not None:
        given = as_numbers(answer)
        if as_numbers(wrong.answer) is not None and (given is None or given.dtype.kind == "b"):
            return False  # a text that looks like a number is none
        try:
            return bool(wrong.when(plain_value(answer)))
        except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError):
            return False
    given, theirs = as_numbers(answer), as_numbers(wrong.answer)
    if given is None or theirs is None or given.ndim or given.dtype.kind == "b" or theirs.size != 1:
        return difference(answer, wrong.answer, exercise.rtol, exercise.atol, strict=False) == ""
    return bool(isclose(given.item(), theirs.item(), rtol=exercise.rtol, atol=exercise.atol))  # with brackets or without


def feedback(wrong: Wrong) -> str:
    """What a wrong answer earns: its own words, else the catalogue's."""
    return wrong.says or misconceptions.feedback(wrong.misconception)


def observation(answer: Any, truth: Any, exercise: Exercise) -> str:
    """Something true about wrong numbers that helps without giving them away."""
    if isinstance(answer, Failure):
        answer = answer.value if answer.kind == "changed" else None
    if isinstance(truth, list | tuple) and not flat_numbers(truth) and isinstance(answer, list | tuple):
        parts = zip(answer, truth, strict=True) if len(answer) == len(truth) else ()
        off = [p for p in parts if difference(*p, exercise.rtol, exercise.atol, strict=False)]
        if not off:
            return ""
        rest = "The other value is right." if len(truth) == 2 else "The other values are right."
        return observation(*off[0], exercise) or (rest if len(off) == 1 else "")
    given, wanted = as_numbers(answer), as_numbers(truth)
    if given is None or wanted is None or given.dtype.kind == "b" or not finite(answer) or not given.size:
        return ""
    given, wanted = given.astype(float), wanted.astype(float)
    if given.shape == wanted.shape and near(given, wanted):
        nearly = not allclose(given, wanted, rtol=exercise.rtol, atol=exercise.atol)
        return "It is very near: rounded, measured with a small step, or computed in float32?" if nearly else ""
    if given.ndim == 2 and given.shape == wanted.shape[::-1] and allclose(given, wanted.T):
        return "It is the right table, transposed."
    first = given.ndim == wanted.ndim > 0 and 0 < len(given) < len(wanted) and given.shape[1:] == wanted.shape[1:]
    if first and allclose(given, wanted[: len(given)]):
        return "What came back is right, and the rest of it is missing. Does something end too early?"
    if given.shape != wanted.shape:
        return ""
    if allclose(given, -wanted):
        return "Every number has the right size and the wrong sign." if given.size > 1 else "Only its sign is wrong."
    if not given.any():
        return "Every number is zero." if given.size > 1 else "It is zero."
    if given.size > 1 and wanted.any():
        ratio = float((given * wanted).sum() / (wanted * wanted).sum())
        if abs(ratio) > 1e-6 and allclose(given, ratio * wanted):
            return f"Every number is {ratio:.4g} times what it should be."
    if given.size == 1 and wanted.any():
        ratio = float(given.ravel()[0] / wanted.ravel()[0])
        if ratio in (0.25, 0.5, 2.0, 3.0, 4.0):
            return f"It is {ratio:g} times what it should be."
    right = isclose(given, wanted, rtol=exercise.rtol, atol=exercise.atol)
    counted = range(3 * (given.size == 1), 5)  # one number alone may be round by chance
    digits = next((n for n in counted if allclose(given, wanted.round(n), rtol=1e-12, atol=1e-12)), None)
    if digits is not None and wanted.round(digits).any():
        return f"It is rounded{f' to {digits} decimals' * (digits > 1)}: give back the number itself." if given.size == 1 else (
            "The numbers are rounded: give back the numbers themselves.")
    if right.any() and given.ndim == 1 and given.size <= len(ORDINALS):
        places = [ORDINALS[i] for i in np.flatnonzero(~right)]
        which = " and the ".join(filter(None, [", the ".join(places[:-1]), places[-1]]))
        others = "the other one is right" if right.sum() == 1 else "the others are right"
        mirrored = allclose(given, np.where(right, wanted, -wanted))
        how = "zero" if not given[~right].any() else "right but for the sign" if mirrored else "not right"
        others = others.removesuffix(" right") if how == "not right" else others
        return f"The {which} number {'is' if len(places) == 1 else 'are'} {how}; {others}."
    if right.any():
        index = ", ".join(str(int(i)) for i in np.argwhere(~right)[0])
        return f"{int(right.sum())} of {right.size} numbers are right; the first that is not is at [{index}]."
    return ""


# --- words --------------------------------------------------------------------------------------------------


def printable(text: str) -> str:
    """Text without control characters: what a student raises or names is shown to others."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def shown_call(exercise: Exercise, probe: Probe) -> str:
    """The call as the student could type it, or the program."""
    if probe.kind == "run":
        given = [f"{k} = {typed(v)}" for k, v in probe.data.items()]
        return "\n".join([*given, as_in_the_notebook(probe.code, exercise.prelude, tuple(probe.data))])
    arguments = [typed(a) for a in probe.args] + [f"{k}={typed(v)}" for k, v in probe.data.items()]
    return f"{probe.name}({', '.join(arguments)})"


GUARDS = {"engine_off", "own_work", "recursion_kept_short", "by_rules_alone"}  # where something is switched off
GIVEN = {"Graph", "Loss", "training", "Relu", "Signal", "Layer"}  # what a prelude defines as the notebook does


class Plain(ast.NodeTransformer):
    """A program without what only checks have: guards, and functions in the place of signs."""

    def visit_With(self, node: ast.With) -> Any:
        self.generic_visit(node)
        names = [getattr(getattr(each.context_expr, "func", None), "id", "") for each in node.items]
        return node.body if GUARDS & set(names) else node

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        name = getattr(node.func, "id", "")
        if name in ("plus", "times") and len(node.args) == 2:
            return ast.BinOp(node.args[0], ast.Add() if name == "plus" else ast.Mult(), node.args[1])
        if name == "by_rules_alone":
            return ast.Call(ast.Attribute(node.args[0], "backward", ast.Load()), node.args[1:], [])
        return node.args[0] if name == "faulty_line" else node


@functools.lru_cache(maxsize=64)
def as_in_the_notebook(code: str, prelude: str, given: tuple[str, ...]) -> str:
    """The program as a student can run it: with what it takes from the prelude, and nothing that only checks have."""
    plain = Plain().visit(ast.parse(code))
    if len(plain.body) > 1 and isinstance(plain.body[-2], ast.Assign) and isinstance(plain.body[-1], ast.Expr):
        made, last = plain.body[-2], plain.body[-1].value
        if ast.unparse(made.targets[0]) == ast.unparse(last) == "answer":
            plain.body[-2:] = [ast.Expr(made.value)]
    text = ast.unparse(ast.fix_missing_locations(plain))
    changed = text != ast.unparse(ast.parse(code))
    bound = {node.id for node in ast.walk(plain) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    words = set(re.findall(r"\w+", text)) - GIVEN - bound - set(given)
    shown = []
    for node in ast.parse(prelude).body:
        targets = [ast.unparse(target) for target in node.targets] if isinstance(node, ast.Assign) else []
        names = {getattr(node, "name", ""), *targets} - GUARDS
        shown += [ast.unparse(node)] if words & names else []
    return "\n".join([*shown, text if changed else code])


def typed(value: Any) -> str:
    """A value as Python source (`np.array(...)` for arrays)."""
    if isinstance(value, np.ndarray):
        dtype = "" if value.dtype in (np.float64, np.int64, np.bool_) else f", dtype='{value.dtype}'"
        if not value.size:
            return f"np.zeros({value.shape}{dtype})"
        return f"np.array({listed(value)}{dtype})"
    if callable(value):
        return getattr(value, "__name__", "f")
    return spelled(value)


def listed(array: np.ndarray[Any, Any]) -> str:
    """The numbers of an array on one line, up to six digits, long ones summarised."""
    if array.ndim == 0:
        return spelled(array.item())
    if array.size > 60 and array.ndim > 4:
        return "[...]"
    if array.size > 60 and array.shape[0] > 6:
        ends = [listed(part) for part in (*array[:3], *array[-2:])]
        return "[" + ", ".join([*ends[:3], "...", *ends[3:]]) + "]"
    return "[" + ", ".join(listed(part) for part in array) + "]"


def spelled(value: Any) -> str:
    """A number, list, tuple or other plain value, floats to six digits."""
    if isinstance(value, float):
        text = f"{value:.6g}"
        return text if any(c in text for c in ".en") else text + "."
    if isinstance(value, np.generic):
        return spelled(value.item())
    if isinstance(value, np.ndarray):
        return f"array({listed(value)})"
    if isinstance(value, Tensor):
        return f"tensor({listed(value.array)})"
    if isinstance(value, list):
        return "[" + ", ".join(spelled(v) for v in value) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(spelled(v) for v in value) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {spelled(v)}" for k, v in value.items()) + "}"
    return repr(value)


def shown_answer(answer: Any) -> str:
    """What came, in at most 400 characters."""
    if isinstance(answer, Failure):
        if answer.kind == "changed":
            return shown_answer(answer.value)
        if answer.kind == "printed":
            return "None"
        if answer.kind == "raised":
            return f"no value, but {answer.type}"
        return {"not plain": answer.message, "missing": "nothing"}.get(answer.kind, answer.kind)
    text = spelled(answer)
    shape = f"   (shape {answer.shape})" if isinstance(answer, np.ndarray) and answer.ndim != 1 else ""
    return (text if len(text) <= 400 else text[:397] + "...") + shape


def briefly(answer: Any) -> str:
    """The same within a sentence."""
    text = shown_answer(answer)
    return text if len(text) <= 90 else text[:87] + "..."


def shown_truth(truth: Any) -> str:
    if isinstance(truth, Raises):
        return f"{truth.type}" + (f" with {truth.contains!r} in its message" if truth.contains else "")
    return shown_answer(truth)


def sort_of(truth: Any) -> str:
    """The kind of value that is asked for, and nothing about what is in it."""
    if isinstance(truth, bool | np.bool_):
        return "True or False"
    if isinstance(truth, str):
        return "a string"
    if type(truth) is list and truth and all(type(pair) is tuple and len(pair) == 2 for pair in truth):
        return "a list of pairs"
    if type(truth) in (list, tuple):
        return f"a {type(truth).__name__}" + " of numbers" * (as_numbers(truth) is not None and len(truth) > 0)
    return kind_of(truth)


def kind_of(value: Any) -> str:
    """A value's kind in a beginner's words."""
    if isinstance(value, Raises):
        return "an error"
    if value is None:
        return "None"
    if isinstance(value, bool | np.bool_):
        return f"a truth value ({bool(value)})"
    if isinstance(value, str):
        return f"a string ({value[:30]!r})"
    if isinstance(value, np.ndarray):
        return "an array" if value.ndim else "a number"
    if isinstance(value, list | tuple) and as_numbers(value) is None:
        odd = [v for v in value if v is None or isinstance(v, str | dict)]
        if odd:
            return f"a {type(value).__name__} that holds {kind_of(odd[0])}"
        if any(isinstance(v, list | tuple) for v in value) and any(not isinstance(v, list | tuple) for v in value):
            return f"a {type(value).__name__} that holds a {type(value).__name__} among other things"
    names = {int: "a whole number", float: "a number", list: "a list", tuple: "a tuple", dict: "a dict",
             Tensor: "a tensor", np.float64: "a number"}  # fmt: skip
    return names.get(type(value), f"a {type(value).__name__}")
