"""The judge: puts an exercise's probes to a student, compares, and says what went wrong.

`judge(exercise, student, seed)` asks every probe, compares each answer with the oracle's (value first, then
shape, then type), and returns a `Verdict`. A wrong answer is diagnosed by behaviour: the catalogued wrong
answers are put to the same probes, and the one that gives the same answers names the mistake. A mistake that
is not in the catalogue gets the smallest failing call or program instead. Right answers never leave this process, and
every message is the same in every run.
"""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import misconceptions
from ..exercise import Exercise, Probe, Raises
from ..student.student import Student
from ..student.wire import Failure
from ..student.worker import own_randomness
from .comparing import FATAL, ask, engine_randomness, leaves_alone, nearly_right, trouble
from .diagnosis import diagnose, diagnoses, feedback, in_another_order, names_in, observation
from .explaining import Explaining, of_recursion, too_deep
from .findings import Finding, words
from .plain import holds_ellipsis, is_nothing, numbers_of, option
from .shown import apart, printable, shown_answer, shown_call, shown_truth, sort_of

__all__ = ["Verdict", "judge"]

LONG = 0.1  # seconds of our own processor for comparing the answers to one exercise; a wrong one after that is the last
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


class Bench(Explaining):
    """A judging from its first question to its verdict."""

    def say(self, status: str, *lines: str, **more: Any) -> Verdict:
        """A verdict of this exercise."""
        out_of = self.exercise.points
        points = out_of if status == "passed" else 0.0
        said = tuple(printable(line) for line in lines if line)
        words = {name: printable(text) for name, text in more.items()}
        found = Verdict(self.exercise.id, status, points, out_of, said, seed=self.seed)
        return dataclasses.replace(found, **words)  # type: ignore[arg-type]  # words are texts, numbers come later

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
            where = "Put your answer" if self.exercise.written else "Write your code"
            near = [str(n) for n in seen[names[0]].get("near", [])[:1]]
            other = f"There is `{near[0]}`: did you change the name?" if near else ""
            return self.say("not attempted", f"`{names[0]}` is still blank. {where} in the place of the dots.", other)
        if self.exercise.kind == "function":
            for name in names:
                data = WORDS_FOR_DATA.get(seen[name]["type"])
                if data and self.states[name] == "there":
                    return self.say("error", f"`{name}` is {data}; a function is asked for: `def {name}(...)`.")
        return None

    def missing(self, name: str, near: list[str]) -> Verdict:
        """The name is not there: not run, or called something else."""
        what = "the class" if "." in name else "it"
        lines = [f"I cannot find `{name}`."]
        bare = name.rpartition(".")[2].strip("_")
        if "." in name and bare in near:
            lines.append(f"There is a function `{bare}`. The line `{name} = {bare}` makes it a method of the class.")
        elif near:
            lines.append(f"There is {' and '.join(f'`{n}`' for n in near)}: did you change the name?")
        lines.append(f"If the name is right, run the cell that defines {what}, then check again.")
        return self.say("missing", *lines)

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
            return self.say("passed", f"All {len(self.probes)} probes agree." if len(self.probes) > 1 else "Right.")
        if self.untouched(failing):
            holes = [name for name, state in self.states.items() if state in ("blank", "hole")] or [exercise.name]
            return self.say("not attempted", f"`{holes[0]}` is still blank. Write your code in the place of the dots.")
        own = self.own()
        return dataclasses.replace(self.both(failing, problems), agreed=len(own - set(failing)), asked=len(own))

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

    def both(self, failing: list[int], problems: list[str]) -> Verdict:
        """A refusal; where a function also calls itself too often for one long input, the rest is explained without that."""
        deep = {i for i in failing if self.probes[i].about and too_deep(self.probes[i], self.answers[i])}
        rest = [i for i in failing if i not in deep]
        endless = any(isinstance(self.answers[i], Failure) and self.answers[i].type == "RecursionError" for i in rest)
        if not deep or not rest or endless:
            return self.refusal(failing, problems)
        about = self.probes[min(deep)].about
        left = [i for i in range(len(self.probes)) if i not in deep]
        self.probes, self.truths = [self.probes[i] for i in left], [self.truths[i] for i in left]
        self.answers = [self.answers[i] for i in left]
        found = self.refusal([left.index(i) for i in rest], [problems[i] for i in left])
        return dataclasses.replace(found, lines=(*found.lines, about))

    def refusal(self, failing: list[int], problems: list[str]) -> Verdict:
        """Not right: which call, what came, and why; of functions that are blank only that they are."""
        exercise = self.exercise
        if exercise.written:
            return self.refuse_value(self.answers[0], problems[0])
        blank = [name for name, state in self.states.items() if state == "blank"]
        if blank:  # what is asked of it says nothing; what is asked of the other names may
            asked = [i for i in failing if not names_in(exercise, self.probes[i]) & set(blank)]
            if not asked:
                call, got = shown_call(exercise, self.probes[failing[0]]), shown_answer(self.answers[failing[0]])
                says = f"`{blank[0]}` is still blank. Write your code in the place of the dots."
                return self.say("wrong", says, call=call, got=got)
            failing = asked
        return self.not_right(failing, problems)

    def not_right(self, failing: list[int], problems: list[str]) -> Verdict:
        """A mistake that is known by name, else what is found out about it."""
        exercise = self.exercise
        known = diagnoses(exercise, self.probes, self.answers, failing)
        wrong = next(known, None)
        turned = "inputs" in [kind for kind, *_ in self.odd(failing)[:1]]
        wrong = None if turned else wrong  # that they are in another order is the cause
        told_of = all(self.probes[i].about for i in failing)  # what goes wrong is said by these programs themselves
        noticed = None if told_of or (wrong and self.is_whole(wrong)) else self.remembers()
        wrong = None if noticed is not None else wrong
        first = failing[0] if noticed is None else noticed[0]
        probe, answer, truth, problem = self.probes[first], self.answers[first], self.truths[first], problems[first]
        lines = []
        open_ = wrong is None and noticed is None and not turned
        exchanged = self.exchanged(failing) if open_ else None
        if noticed is not None:
            lines = ["" if probe.words else problem, noticed[1]]
        elif exchanged:
            lines = [problem, words(exchanged)]
        elif wrong is None and (shown := self.shown_by(failing)):
            first, said = shown
            probe, answer, truth = self.probes[first], self.answers[first], self.truths[first]
            found = self.slip(failing, probe.name)
            lines = [said, *found]
        elif wrong is None:
            probe, answer, truth, problem, seen = self.unknown(failing, problems)
            lines = [problem, *self.causes(failing, probe, answer, truth, seen)]
        elif isinstance(answer, Failure) or problem.startswith("It "):
            lines = [problem]
        # Without a word about the cause, what is right for this one question says more than that something is wrong.
        nameless = wrong is None and noticed is None and not probe.words
        told = probe.shown or (nameless and len([line for line in lines if line]) < 2)
        parts = {"blank": "", "hole": "A part of "}
        left = [f"{parts[state]}`{name}`" for name, state in self.states.items() if state in parts]
        if left:
            lines.append(f"{left[0]} is still blank.")
        lines.append(apart(answer, truth))
        says = feedback(wrong) if wrong else ""
        if wrong and not self.is_whole(wrong):  # the other function may have a mistake of its own
            others = [feedback(other) for other in known][:1]
            lines += [other for other in others if other != says]
        raised = isinstance(answer, Failure) and answer.kind in ("raised", "missing")
        status = "error" if raised and wrong is None and not isinstance(truth, Raises) else "wrong"
        return self.say(
            status, *lines, says,
            call=shown_call(exercise, probe), got=shown_answer(answer),
            expected=shown_truth(truth) if told else "",
            misconception=wrong.misconception if wrong else "", mistake=wrong.id if wrong else "",
        )  # fmt: skip

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
            return self.say("wrong", feedback(wrong), got=got, misconception=wrong.misconception, mistake=wrong.id)
        plain = exercise.kind == "value" and exercise.accept is None
        seen = observation(answer, self.truths[0], exercise) if plain else None
        if plain and in_another_order(exercise, answer):
            return self.say("wrong", words(Finding("order")), got=got)
        if seen and seen.kind == "factor" and seen.many and seen.numbers[0] not in (0.5, 2):
            seen = Finding("same factor")
        told = bool(seen and seen.relates and seen.kind not in ("near", "zero") and seen.how != "zero")
        place = "" if not plain or (seen and seen.kind == "sign") else self.in_its_place(answer, told)
        if exercise.kind == "prediction" and exercise.asks and not nearly_right(problem):
            place = exercise.asks[0]  # whatever is wrong: more would give away what the next cell shows
        texts = [isinstance(part, str) for part in (answer if isinstance(answer, list | tuple) else [answer])]
        if any(texts) and not isinstance(self.truths[0], str) and not exercise.options:
            place = "Quotation marks make a text of it. Write the value itself, without them."
            if texts == [True] and "error" in str(answer).lower():
                place = "No error is raised here. Write the value."
        where = words(seen) if seen and seen.kind in ("places", "count") else ""
        return self.say("wrong", where or problem, "" if where else words(seen), place, got=got)

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
        about = probe.about if probe and not decides and not of_recursion(probe) else ""
        return self.say(FATAL[failure.kind], *lines, about, call=shown_call(exercise, probe) if probe else "")
