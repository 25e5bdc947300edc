"""The wrong-answer matrix of an exercise: proof that its check tells right from wrong.

`prove(exercise)` runs everything the declaration holds through the judge, in this process: right answers have
to pass, the blank has to earn nothing, each wrong answer has to be refused with a message of its own. It
returns the rows and a list of problems; an empty list is the proof. `minigrad answers` prints it.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..exercise import UNKNOWN, Before, Exercise, Probe, Wrong
from ..judge.comparing import outcomes, same, trouble
from ..judge.plain import as_numbers
from ..judge.verdict import Verdict, judge
from ..student.lent import stand_in
from ..student.student import Local

__all__ = ["Matrix", "blank_answer", "prove"]

SEEDS = (0, 1, 2)


@dataclass
class Matrix:
    """What came out: `rows` of (what was tried, verdict), and the `problems`, each with its place in a text."""

    exercise: Exercise
    places: Mapping[str, str] = field(default_factory=dict)  # by what is tried: file and line
    rows: list[tuple[str, Verdict]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    table: list[str] = field(default_factory=list)  # wrong answers that only fixed questions refuse
    seconds: float = 0.0  # of processor time, the slowest check

    def note(self, what: str, seed: int, says: str) -> None:
        """A problem with one of the answers; the same with other numbers is no second one."""
        problem = f"{self.places[what]}: {what} {says}" if what in self.places else f"{what} {says}"
        if not any(known.startswith(problem) for known in self.problems):
            self.problems.append(f"{problem} (seed {seed})")


def prove(exercise: Exercise, seeds: tuple[int, ...] = SEEDS, places: Mapping[str, str] | None = None) -> Matrix:
    """Run the matrix of one exercise. Right and wrong answers are tried on every seed; `places` says where each stands."""
    matrix = Matrix(exercise, places or {})
    written = exercise.kind in ("function", "program")
    if written and len(exercise.alternatives) < 2:
        matrix.problems.append(f"{len(exercise.alternatives)} alternatives; two are needed")
    if exercise.inputs and set(exercise.inputs) != (there := kinds(exercise)):
        said, found = (", ".join(sorted(each)) or "nothing" for each in (exercise.inputs, there))
        matrix.problems.append(f"its text says 'inputs: {said}', and its questions have {found}")
    if written and len({w.alike or w.id for w in exercise.wrong}) < 3:
        matrix.problems.append("fewer than three wrong answers")
    for seed in seeds:
        for number, answer in enumerate(rights(exercise), 1):
            expect(matrix, f"right {number}", attempt(matrix, answer, seed), "passed")
        expect(matrix, "blank", attempt(matrix, blank_answer(exercise), seed), "not attempted")
        try_wrong(matrix, seed)
        if exercise.kind == "function" and exercise.oracle is not None:
            oracle_answers(matrix, seed)
    return matrix


def kinds(exercise: Exercise) -> set[str]:
    """Which kinds of input its questions have."""
    found: set[str] = set()
    for probe in itertools.chain(*map(exercise.questions, SEEDS)):
        for array in itertools.chain(*map(arrays, (*probe.args, *probe.data.values()))):
            size, ranked = np.abs(array), array.ndim > 0
            tests = {
                "zero": (array == 0).any(), "negative": (array < 0).any(), "huge": (size >= 100).any(),
                "tiny": ((size > 0) & (size <= 1e-3)).any(), "size 1": ranked and array.size == 1,
                "ties": ranked and array.dtype.kind == "f" and len(np.unique(array)) < array.size,
                "not square": array.ndim == 2 and len({*array.shape}) == 2, "three axes": array.ndim > 2,
            }  # fmt: skip
            found |= {kind for kind, there in tests.items() if there}
    return found


def arrays(thing: Any) -> Iterator[np.ndarray[Any, Any]]:
    """The numbers that a question holds."""
    numbers = as_numbers(thing)
    if numbers is not None and numbers.dtype.kind in "iuf":
        yield numbers
    elif isinstance(thing, list | tuple):
        yield from itertools.chain(*map(arrays, thing))


def rights(exercise: Exercise) -> list[Any]:
    """Right answers: the alternatives, the right value, and ways in which it may be written."""
    if exercise.kind in ("function", "program"):
        return list(exercise.alternatives)
    if exercise.options and isinstance(exercise.right, str):
        return [exercise.right, f" {exercise.right.upper()} "]
    if isinstance(exercise.right, list):
        return [exercise.right, tuple(exercise.right)]
    return [exercise.right]


def blank_answer(exercise: Exercise) -> Any:
    """The exercise as it is handed out: `...` for values, functions whose body is `...` for the rest."""
    if exercise.kind not in ("function", "program"):
        return ...
    space = exercise.scaffold() if exercise.scaffold else {}
    right = next(iter(exercise.alternatives), None)
    for name in exercise.names:
        owner, _, attribute = name.rpartition(".")
        if owner:
            setattr(space.setdefault(owner, type(owner, (), {})), attribute, blank_function())
        elif isinstance(right.get(name) if isinstance(right, dict) else right, type):
            space[name] = type(name, (), {"__init__": blank_function()})
        else:
            space[name] = blank_function()
    return space


def blank_function() -> Any:
    """A new function with nothing in it."""

    def blank(*args: Any, **kwargs: Any) -> Any: ...

    return blank


def attempt(matrix: Matrix, answer: Any, seed: int) -> Verdict:
    """Judge one answer in process and keep the time it took."""
    exercise = matrix.exercise
    student = Local(exercise.namespace(answer))
    start = time.process_time()
    with stand_in(exercise):
        verdict = judge(exercise, student, seed)
    matrix.seconds = max(matrix.seconds, time.process_time() - start)
    return verdict


def expect(matrix: Matrix, what: str, verdict: Verdict, status: str) -> None:
    """Note a row, and a problem if the verdict is another."""
    matrix.rows.append((what, verdict))
    if verdict.status != status or (verdict.points > 0) != (status == "passed" and matrix.exercise.points > 0):
        reason = " ".join((*verdict.lines, verdict.call, verdict.got))
        matrix.note(what, verdict.seed, f"should be {status}, and is {verdict.status}: {reason[:300]}")


def try_wrong(matrix: Matrix, seed: int) -> None:
    """Each wrong answer is refused, is recognised as itself, and shares its message with none but its like."""
    messages: dict[str, Wrong] = {}
    for wrong in wrong_answers(matrix.exercise):
        verdict = attempt(matrix, wrong.answer, seed)
        matrix.rows.append((f"wrong {wrong.id}", verdict))
        what = f"wrong {wrong.id}"
        if verdict.status in ("passed", "not attempted", "not graded"):
            matrix.note(what, seed, f"should be refused, and is {verdict.status}")
            continue
        if matrix.exercise.kind != "ordering" and verdict.mistake != wrong.id:
            taken = next((w for w in matrix.exercise.wrong if w.id == verdict.mistake), None)
            if taken is None or not wrong.alike or taken.alike != wrong.alike:
                matrix.note(what, seed, f"is taken for {verdict.mistake or 'no known answer'}")
                continue
        message = verdict.lines[-1] if verdict.lines else ""
        other = messages.setdefault(message, wrong)
        if other is not wrong and (not wrong.alike or other.alike != wrong.alike):
            matrix.note(what, seed, f"gets the same message as wrong {other.id}: {message[:80]}")
    if matrix.exercise.kind in ("function", "program"):
        for part in matrix.exercise.one_of or (matrix.exercise,):
            compare(matrix, part, seed)


def wrong_answers(exercise: Exercise) -> list[Wrong]:
    """The declared wrong answers; for an ordering, one order for each rule that breaks it."""
    if exercise.kind != "ordering":
        return list(exercise.wrong)
    found = []
    for rule in exercise.before:
        order = list(exercise.right)
        first, then = order.index(rule.first), order.index(rule.then)
        order.insert(first, order.pop(then))
        if first_broken(exercise, order) is not rule:
            order = next((list(o) for o in itertools.permutations(exercise.right)
                          if first_broken(exercise, list(o)) is rule),
                         order)  # fmt: skip
        found.append(Wrong(order, rule.misconception, rule.says))
    return found


def first_broken(exercise: Exercise, order: list[Any]) -> Before | None:
    """The first rule that an order breaks."""
    return next((b for b in exercise.before if order.index(b.first) > order.index(b.then)), None)


def compare(matrix: Matrix, exercise: Exercise, seed: int) -> None:
    """No two wrong answers give the same values on all probes, but those declared alike; and one or more of the drawn probes
    refuse each, for a table with the answers to the others would make it pass."""
    probes = exercise.questions(seed)
    truths = [exercise.expected(probe) for probe in probes]
    results = [(w, outcomes(exercise, w.answer, probes)) for w in exercise.wrong]
    for (a, left), (b, right) in itertools.combinations(results, 2):
        alike = all(same(x, y, exercise.rtol, exercise.atol) for x, y in zip(left, right, strict=True))
        if alike and (not a.alike or a.alike != b.alike):
            matrix.note(f"wrong {b.id}", seed, f"and wrong {a.id} give the same to all probes: one is like the other")
    pairs = enumerate(zip(probes, exercise.questions(seed + 1), strict=True))
    drawn = [i for i, (one, other) in pairs if asked(one) != asked(other)]
    for wrong, given in results:
        known = wrong.id in matrix.table or written_alone(exercise, wrong.answer)
        if not known and not any(trouble(exercise, probes[i], given[i], truths[i]) for i in drawn):
            matrix.table.append(wrong.id)


def asked(probe: Probe) -> str:
    """What a question asks for, as text: two seeds that draw nothing have the same."""
    return repr((probe.code, probe.args, probe.data))


def written_alone(exercise: Exercise, answer: Any) -> bool:
    """True for a wrong answer whose functions are right, and only what is written down is not, as the culprit of 13.1: it
    has one right value, which nothing drawn can change."""
    right = exercise.alternatives[0]
    if type(answer) is not dict or answer.keys() != right.keys():
        return False
    return not any(callable(thing) for name, thing in answer.items() if thing is not right[name])


def oracle_answers(matrix: Matrix, seed: int) -> None:
    """The oracle, handed in as an answer, passes (it may not depend on order, or change what it is given)."""
    exercise = matrix.exercise
    calls = all(p.kind == "call" and p.expected is UNKNOWN for p in exercise.questions(seed))
    if calls and len(exercise.names) == 1 and "." not in exercise.name and not exercise.scaffold:
        expect(matrix, "oracle", attempt(matrix, exercise.oracle, seed), "passed")
