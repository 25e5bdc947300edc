"""Which of the catalogued wrong answers a student's answers are, and what is to be seen of one answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .. import misconceptions
from ..exercise import Exercise, Probe, Raises, Wrong
from ..student.wire import Failure
from .comparing import allclose, difference, isclose, one_by_one, same, same_shapes_do_not_fit, trouble
from .findings import ORDINALS, Finding
from .plain import as_numbers, finite, flat_numbers, option, plain_value


def holds(seen: Finding, answer: Any, truth: Any) -> bool:
    """True if what is seen in one answer is so in this one as well."""
    given, wanted = as_numbers(answer), as_numbers(truth)
    if given is None or wanted is None or given.shape != wanted.shape or not finite(answer):
        return False
    given, wanted = given.astype(float), wanted.astype(float)
    if seen.kind == "zero":
        return not given.any()
    if seen.kind == "sign":
        return bool(allclose(given, -wanted))
    if seen.kind == "near":
        return near(given, wanted)
    return seen.kind != "factor" or bool(allclose(given, seen.numbers[0] * wanted, rtol=1e-3))


def near(given: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> bool:
    """True if these are nearly the same numbers, for their size."""
    return bool(allclose(given, wanted, rtol=2e-5, atol=1e-6 * min(1.0, float(np.abs(wanted).max(initial=0)))))


def diagnose(exercise: Exercise, probes: list[Probe], answers: list[Any], failing: list[int]) -> Wrong | None:
    """The catalogued wrong answer that behaves like the student's: on every probe, else on every one about the same
    function or class, else on every failing one."""
    if exercise.kind in ("value", "choice", "prediction"):
        exactly = (w for w in exercise.wrong if not exercise.options
                   and (type(w.answer) is type(answers[0]) or {type(w.answer), type(answers[0])} == {list, tuple})
                   and (w.when is None or is_this(w, answers[0], exercise))
                   and not difference(answers[0], w.answer, exercise.rtol, exercise.atol, strict=False,
                                      by_hand=True))  # fmt: skip
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
    shown = evidence(exercise, probes, answers, failing) > 1 and not all(type(answers[i]) is bool for i in failing)
    for wrong in exercise.wrong if shown and not any(named) else ():
        results = behaves_so(wrong, failing)
        if results and all(trouble(exercise, probes[i], given, exercise.expected(probes[i]))
                           for i, given in zip(failing, results, strict=True)):  # fmt: skip
            theirs = zip(probes, one_by_one(exercise, wrong.answer, probes), strict=True)
            at_most = len(failing) * (1 if any(isinstance(given, Failure) for given in results) else 2)  # errors are alike
            if sum(bool(trouble(exercise, p, given, exercise.expected(p))) for p, given in theirs) <= at_most:
                yield wrong  # else most of what it gets wrong is right here
                return
    if exercise.kind == "program":
        yield from (w for w in at_once(exercise, probes, answers, failing) if w not in named)


def at_once(exercise: Exercise, probes: list[Probe], answers: list[Any], failing: list[int]) -> Iterator[Wrong]:
    """Of a program with several mistakes, those that give what the student gave wherever they are wrong, if they explain
    most of it together; the ones that explain most come first, and those that explain nothing more are left out."""
    order = sorted(range(len(probes)), key=lambda i: (i not in failing, is_long(probes[i])))
    found: list[tuple[Wrong, set[int]]] = []
    for wrong in exercise.wrong:
        own: set[int] = set()
        for i, theirs in zip(order, one_by_one(exercise, wrong.answer, [probes[i] for i in order])):
            agrees = alike(exercise, probes[i], answers[i], theirs)
            if i not in failing and not own:
                break  # it explains nothing
            if i in failing and agrees:
                own.add(i)
            elif not agrees and trouble(exercise, probes[i], theirs, exercise.expected(probes[i])):
                break
        else:
            numbers = any(type(answers[i]) is not bool for i in own)
            if numbers and evidence(exercise, probes, answers, sorted(own)) > 1:
                found.append((wrong, own))
    left = set(failing)
    if len(left.difference(*(own for _, own in found))) > 0.3 * len(left):
        return
    for wrong, own in sorted(found, key=lambda each: -len(each[1])):
        if own & left:
            yield wrong
            left -= own


def is_long(probe: Probe) -> bool:
    """True if a program makes something of a thousand parts or more."""
    return bool(re.search(r"range\(\d{4}", probe.code))


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


def evidence(exercise: Exercise, probes: list[Probe], answers: list[Any], failing: list[int]) -> int:
    """How many numbers, wrong and not zero, an answer shares with a mistake that it is not in everything: one may be chance."""
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
        count += sum(wrong_numbers(exercise, *pair) for pair in pairs)
    return count


def wrong_numbers(exercise: Exercise, answer: Any, truth: Any) -> int:
    """How many numbers of an answer are wrong and not zero."""
    given, wanted = as_numbers(answer), as_numbers(truth)
    if given is None or wanted is None:
        return 0 if same(answer, truth, exercise.rtol, exercise.atol) else 2
    if given.shape != wanted.shape:
        return int(given.size)
    off = ~isclose(given.astype(float), wanted.astype(float), rtol=exercise.rtol, atol=exercise.atol)
    return int((off & (given != 0)).sum())


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
        return difference(answer, wrong.answer, exercise.rtol, exercise.atol, strict=False, by_hand=True) == ""
    return bool(isclose(given.item(), theirs.item(), rtol=exercise.rtol, atol=exercise.atol))  # with brackets or without


def feedback(wrong: Wrong) -> str:
    """What a wrong answer earns: its own words, else the catalogue's."""
    return wrong.says or misconceptions.feedback(wrong.misconception)


def observation(answer: Any, truth: Any, exercise: Exercise) -> Finding | None:
    """Something true about wrong numbers that helps without giving them away; None if there is nothing."""
    if isinstance(answer, Failure):
        answer = answer.value if answer.kind == "changed" else None
    if isinstance(truth, list | tuple) and not flat_numbers(truth) and isinstance(answer, list | tuple):
        parts = zip(answer, truth, strict=True) if len(answer) == len(truth) else ()
        off = [p for p in parts if difference(*p, exercise.rtol, exercise.atol, strict=False)]
        rest = Finding("rest", many=len(truth) != 2) if len(off) == 1 else None
        return (observation(*off[0], exercise) or rest) if off else None
    given, wanted = as_numbers(answer), as_numbers(truth)
    if given is None or wanted is None or given.dtype.kind == "b" or not finite(answer) or not given.size:
        return None
    given, wanted = given.astype(float), wanted.astype(float)
    if given.shape == wanted.shape and near(given, wanted):
        return None if allclose(given, wanted, rtol=exercise.rtol, atol=exercise.atol) else Finding("near")
    first = given.ndim == wanted.ndim > 0 and 0 < len(given) < len(wanted) and given.shape[1:] == wanted.shape[1:]
    if first and allclose(given, wanted[: len(given)]):
        return Finding("beginning")
    if given.shape != wanted.shape:
        return None
    return as_a_whole(given, wanted) or where_wrong(given, wanted, isclose(given, wanted, exercise.rtol, exercise.atol))


def as_a_whole(given: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> Finding | None:
    """What is so of every number: another sign, zero, a factor."""
    many = given.size > 1
    if allclose(given, -wanted):
        return Finding("sign", many=many)
    if not given.any():
        return Finding("zero", many=many)
    if wanted.any():
        ratio = float((given * wanted).sum() / (wanted * wanted).sum())
        usual = many or ratio in (0.25, 0.5, 2.0, 3.0, 4.0)
        if usual and abs(ratio) > 1e-6 and allclose(given, ratio * wanted):
            return Finding("factor", numbers=(float(f"{ratio:.4g}"),), many=many)
    return None


def where_wrong(given: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> Finding | None:
    """Which numbers are wrong, where some are right."""
    if not right.any():
        return None
    if given.ndim == 1 and given.size <= len(ORDINALS):
        mirrored = allclose(given, np.where(right, wanted, -wanted))
        how = "zero" if not given[~right].any() else "negative" if mirrored else "wrong"
        return Finding("places", numbers=(*np.flatnonzero(~right).tolist(), int(right.sum())), how=how)
    index = ", ".join(str(int(i)) for i in np.argwhere(~right)[0])
    return Finding("count", where=index, numbers=(int(right.sum()), right.size))
