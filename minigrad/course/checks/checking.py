"""`check`, `hint`, `predict` and `progress`: the four words of the course in a notebook.

`check("5.1")` takes what the notebook has defined under the names the exercise asks for, has it judged in a
child process, and shows a card. `hint("5.1")` gives the next rung of the ladder that fits the last mistake.
`predict("5.0a", 4)` locks an answer before the cell that reveals it. `progress()` is the table of all of it.

With `MINIGRAD_CHECK=raise`, and when nbgrader runs the notebook, a check that does not pass shows its card
and then raises `NotPassed`: a notebook is judged by its answers, never by its stored outputs.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from .. import lessons, misconceptions
from ..exercise import EDITION, Exercise
from ..judge.shown import shown_answer
from ..judge.verdict import Verdict, judge
from ..student import lent, wire, worker
from ..student.child import examine
from ..student.student import Local
from . import forms, history, locks, next_step, own_engine, progress_store, updating, welcome
from .card import Card, believed_in, heading, hush_blanks, thought, verdict_card
from .card import show as show_card
from .progress_store import in_notebook

__all__ = ["NotPassed", "check", "examine", "hint", "ladder", "predict", "progress", "progress_card"]

TRIES_BEFORE_WORKED = 2
HAPPENS = "That is what happens. Run on and see."

hush_blanks()
history.watch()


class NotPassed(Exception):
    """An exercise is not solved (raised only while notebooks are tested or graded)."""

    def _render_traceback_(self) -> list[str]:
        """What IPython prints instead of a traceback through the course's code."""
        return [f"NotPassed: {self}"]


def check(exercise: str, *more: str) -> None:
    """Check an exercise, for example `check("5.1")`, and show what was found.

    Args:
        exercise: its id, or a name it asks for (`check("vjp_square")`); several may be given.

    Raises:
        KeyError: there is no such exercise.
        NotPassed: only when `MINIGRAD_CHECK=raise` is set or nbgrader runs the notebook.
    """
    if of_another_edition():
        return
    namespace = names_of(sys._getframe(1))
    found = [asked_for(e, namespace) for e in (exercise, *more)]
    verdicts = [check_one(e, namespace) for e in found]
    refuse([v for v in verdicts if not v.passed])


def of_another_edition() -> bool:
    """Whether the notebook that runs is of another edition, which is then said; its path is Jupyter's to tell."""
    name = os.environ.get("JPY_SESSION_NAME", "")
    if progress_store.judged() or not name or updating.edition_of(Path(name)) == EDITION:
        return False
    words = f"It comes from {updating.OTHER}, so its checks would not fit. Copy your answers into today's notebooks."
    show(Card("This notebook is not checked", paragraphs=(words,)))
    return True


def check_one(exercise: Exercise, namespace: dict[str, Any]) -> Verdict:
    """Judge, note the progress, show the card."""
    verdict = doubted(exercise, namespace) or examine(exercise, namespace)
    card = dressed(card_of(exercise, verdict, remember(exercise, verdict)))
    if not progress_store.judged() and verdict.status != "missing":
        failed = filter(None, map(history.failed_below, exercise.names))
        card = dataclasses.replace(card, paragraphs=(*card.paragraphs, *failed))
    field = exercise.written and (verdict.status == "not attempted" or bool(exercise.options or exercise.items))
    if live() and not verdict.passed and (field or card.state == "not yet"):
        ask(exercise, card, lambda answer: answered(exercise, namespace, answer), field)
    else:
        show_card(card)
    return verdict


def doubted(exercise: Exercise, namespace: dict[str, Any]) -> Verdict | None:
    """The verdict on a name whose cell failed or changed since it was set, or that has been imported from the engine; None in
    a class, where all runs from the top."""
    if progress_store.judged():
        return None
    kept = (of_the_file(name) for name in exercise.names if lent.theirs(held(namespace, name)))
    doubts = [*filter(None, map(history.doubt, exercise.names)), *kept]
    return Verdict(exercise.id, "missing", 0.0, exercise.points, doubts[0]) if doubts else None


def held(namespace: dict[str, Any], name: str) -> Any:
    """What a namespace has under a name such as `descend` or `Value.add`; None for nothing."""
    root, *path = name.split(".")
    return functools.reduce(lambda thing, attribute: getattr(thing, attribute, None), path, namespace.get(root))


def of_the_file(name: str) -> tuple[str, ...]:
    """That a name has been imported from the student's engine, in sentences."""
    words = f"`{name}` is imported from {own_engine.FILE} now, and what stands there is no answer."
    return (words, "Run the cell in which you wrote it, then check again.")


def lock(exercise: Exercise, answer: Any, typed: bool = False) -> tuple[Verdict, Card]:
    """Judge a prediction and note it; the first answer stays the one that is counted. `typed`: it comes from a field."""
    worker.predictions[exercise.id] = answer
    verdict = judge(exercise, Local({}))
    record = progress_store.load().get(exercise.id, {})
    slip = slipped(exercise, answer, verdict, typed)
    if slip:
        stands = f"Your answer stays locked in: {record['answer']}." if "answer" in record else "Nothing is locked in yet."
        return verdict, Card(f"{exercise.id} {exercise.title}", state_of(record), (), (slip, stands))
    now = plain_text(answer)
    if "answer" not in record:
        said, believed = what_happened(verdict), believed_in(verdict)
        first = {"answer": now, "right_at_first": verdict.passed, "said": said, "believed": believed}
        return verdict, locked_card(exercise, opened(exercise, verdict, first))
    record = opened(exercise, verdict, {})
    if now == record["answer"]:
        return verdict, locked_card(exercise, record)
    lines = (f"Your first answer stays locked in: {record['answer']}. This one: {now}.", what_happened(verdict))
    state = "passed" if verdict.passed else "locked"
    return verdict, Card(f"{exercise.id} {exercise.title}", state, (), lines, believed=believed_in(verdict))


def opened(exercise: Exercise, verdict: Verdict, more: dict[str, Any]) -> dict[str, Any]:
    """Note a prediction that has been answered, and show what was held back for it; the record."""
    record = remember(exercise, verdict, **more)
    locks.open(exercise.id)
    return record


def state_of(record: dict[str, Any]) -> str:
    """The state of a prediction: open, locked, or passed, which is locked with the right answer."""
    if "answer" not in record:
        return "open"
    return "passed" if record.get("right_at_first") else "locked"


def hint(exercise: str) -> None:
    """Show the next hint for an exercise, for example `hint("5.1")`.

    The ladder fits the last mistake that a check recognised; its last rung, the worked solution, opens after
    two more tries.

    Raises:
        KeyError: there is no such exercise.
    """
    if not of_another_edition():
        show(hint_card(asked_for(exercise, names_of(sys._getframe(1)))))


def hint_card(found: Exercise) -> Card:
    """The next hint for an exercise, which counts as given; or why there is none yet."""
    record = progress_store.load().get(found.id, {})
    rungs = ladder(found, record)
    given = rung_reached(found, record)
    title = f"{found.id} {found.title}"
    if given < len(rungs):
        last = given == len(rungs) - 1 and bool(found.worked)
        left = tries_left(record)
        if last and left:
            words = f"The worked solution opens after {tries(left)} with check()."
            return Card(title, paragraphs=(f"So far: {rungs[given - 1]}" if given else "", words))
        progress_store.note(
            found.id, rung=given + 1, ladder=ladder_key(found, record), hints=record.get("hints", 0) + 1,
            tries_at_rung=record.get("tries", 0),
        )  # fmt: skip
        name = "worked solution" if last else f"hint {given + 1} of {len(rungs) - bool(found.worked)}"
        return Card(f"{title}: {name}", paragraphs=(rungs[given],))
    numbered = tuple(f"{number}. {rung}" for number, rung in enumerate(rungs, 1))
    return Card(f"{title}: all hints", paragraphs=numbered or ("There is no hint for this one.",))


def predict(exercise: str, answer: Any = ...) -> None:
    """Lock in what you think will happen, for example `predict("5.0a", [4, 6])`, before the cell that shows
    it.

    The first answer is kept in your progress; a later one is judged too and changes nothing there. In a
    reading notebook an open question never stops the cells after it. In lesson 04 what the next program shows
    stays locked until the question is answered.

    Raises:
        NotPassed: in an exercise notebook, as `check`.
        KeyError: there is no such prediction.
    """
    if of_another_edition():
        return
    found = lessons.find(exercise)
    reading = found.points == 0 or progress_store.here().name == "notebooks"
    if worker.unanswered(answer):
        invite(found)
        keep_locked(found)
        if not reading:
            refuse([Verdict(found.id, "not attempted", 0.0, found.points, ("No answer yet.",))])
        return
    verdict, card = lock(found, answer)
    show(card)
    if slipped(found, answer, verdict):
        keep_locked(found)
    if not verdict.passed and not reading:
        refuse([verdict])


def invite(exercise: Exercise) -> None:
    """Show an open prediction, with a field for the answer; or what is locked, where there is an answer."""
    record = progress_store.load().get(exercise.id, {})
    if "answer" in record:
        return show(locked_card(exercise, record))
    words = f"Put {forms.asked(exercise)} in the place of the dots, and run this cell again."
    card = Card(f"Your turn, {exercise.id}: {exercise.title}", paragraphs=(words,), folded=True)
    if not live():
        return show(card)
    card = dataclasses.replace(card, state="open")
    return ask(exercise, card, lambda answer: lock(exercise, answer, isinstance(answer, str))[1], field=True)


def slipped(exercise: Exercise, answer: Any, verdict: Verdict, typed: bool = False) -> str:
    """What is wrong with the form of an answer, which is then a slip of the finger and no belief; "" if it has one."""
    return "" if verdict.passed or verdict.mistake else forms.slip(exercise, answer, typed)


def keep_locked(exercise: Exercise) -> None:
    """What the next program shows stays hidden until there is an answer, where a lesson is read so."""
    answered = "answer" in progress_store.load().get(exercise.id, {})
    if lessons.lesson(exercise.lesson).locked and live() and not answered:
        locks.close(exercise.id)


def progress(every: bool = False) -> None:
    """Show what is solved and what comes next; with `every=True` each exercise, with its tries and hints."""
    show(progress_card(progress_store.load(), every, own_engine.counted(progress_store.folder())))


# --- who is asked, and for what -----------------------------------------------------------------------------


def names_of(frame: FrameType) -> dict[str, Any]:
    """What the caller can see: its globals, and its locals inside a function."""
    if frame.f_locals is frame.f_globals:
        return frame.f_globals
    return {**frame.f_globals, **frame.f_locals}


def asked_for(exercise: Any, namespace: dict[str, Any]) -> Exercise:
    """The exercise of an id or of a name it asks for."""
    if not isinstance(exercise, str):
        exercise = getattr(exercise, "__name__", exercise)
    text = str(exercise).strip()
    if text[:1].isdigit():
        return lessons.find(text)
    asking = [e for e in lessons.all_exercises() if text in e.names]
    if len(asking) > 1:  # the same name in two lessons: the one whose other names are here too
        home = lessons.best_lesson(namespace)
        asking = [e for e in asking if home is not None and e in home.exercises] or asking
    if not asking:
        raise KeyError(f'no exercise asks for {text!r}; use its id, for example check("5.1")')
    return asking[0]


def refuse(failed: list[Verdict]) -> None:
    """Raise NotPassed for verdicts that are not passed, where answers decide."""
    if failed and raising():
        raise NotPassed("; ".join(f"{v.exercise}: {heading(v)}" for v in failed))


def raising() -> bool:
    """True where a check that does not pass has to stop its cell."""
    return os.environ.get("MINIGRAD_CHECK") == "raise" or bool(os.environ.get("NBGRADER_EXECUTION"))


# --- records and ladders ------------------------------------------------------------------------------------


def remember(exercise: Exercise, verdict: Verdict, **more: Any) -> dict[str, Any]:
    """Note a verdict in the progress file; the exercise's record."""
    record = progress_store.load().get(exercise.id, {})
    tried = verdict.status not in ("not attempted", "missing", "not graded")
    noted = progress_store.note(
        exercise.id, state=heading(verdict), tries=record.get("tries", 0) + tried,
        passed=bool(record.get("passed")) or verdict.passed, misconception=verdict.misconception,
        mistake=verdict.mistake, **more,
    )  # fmt: skip
    if verdict.passed and not progress_store.judged():
        welcome.write(progress_store.folder())
    return noted


def ladder_key(exercise: Exercise, record: dict[str, Any]) -> str:
    """Which ladder the last mistake leads to."""
    met = lessons.met(record.get("misconception", ""), exercise)
    return str(record["misconception"]) if met else "exercise"


def ladder(exercise: Exercise, record: dict[str, Any]) -> list[str]:
    """The rungs: of the misconception, else of the exercise; then the worked solution."""
    key = ladder_key(exercise, record)
    rungs = exercise.hints if key == "exercise" else misconceptions.find(key).hints
    return [*rungs, *([exercise.worked] if exercise.worked else [])]


def rung_reached(exercise: Exercise, record: dict[str, Any]) -> int:
    """How many rungs of this ladder have been given; a new mistake starts its own ladder."""
    return int(record.get("rung", 0)) if record.get("ladder") == ladder_key(exercise, record) else 0


def tries_left(record: dict[str, Any]) -> int:
    """How many tries there have to be before the worked solution opens."""
    return max(0, int(record.get("tries_at_rung", 0)) + TRIES_BEFORE_WORKED - int(record.get("tries", 0)))


def tries(left: int) -> str:
    """One more try, or two more tries."""
    return "one more try" if left == 1 else "two more tries"


def next_hint(exercise: Exercise, record: dict[str, Any]) -> str:
    """What the card says about hints."""
    rungs, given = ladder(exercise, record), rung_reached(exercise, record)
    if given >= len(rungs):
        return f'hint("{exercise.id}") shows all hints again' if rungs else ""
    if exercise.worked and given == len(rungs) - 1:
        left = tries_left(record)
        return f'hint("{exercise.id}") gives the worked solution' + f", after {tries(left)}" * bool(left)
    return f'hint("{exercise.id}") gives hint {given + 1} of {len(rungs) - bool(exercise.worked)}'


# --- what is shown ------------------------------------------------------------------------------------------


def show(card: Card) -> None:
    """Show a card, and what there is to say about the file of progress."""
    show_card(dressed(card))


def dressed(card: Card) -> Card:
    """The card with what there is to say about the file of progress."""
    news = progress_store.news()
    return dataclasses.replace(card, paragraphs=(*card.paragraphs, news)) if news else card


def card_of(exercise: Exercise, verdict: Verdict, record: dict[str, Any]) -> Card:
    """The card of a check."""
    wants_help = not verdict.passed and verdict.status not in ("not attempted", "missing", "not graded")
    card = verdict_card(exercise.title, verdict, next_hint(exercise, record) if wants_help else "")
    return going_on(card, exercise) if verdict.passed else card


def going_on(card: Card, exercise: Exercise) -> Card:
    """The card of an exercise that passes: why it works, how much of the lesson is solved, and what comes next."""
    step = next_step.after(progress_store.load(), exercise)
    paragraphs = filter(None, [*card.paragraphs, exercise.why, step.place, step.gained])
    return dataclasses.replace(card, paragraphs=tuple(paragraphs), link=step.link(exercise))


def locked_card(exercise: Exercise, record: dict[str, Any]) -> Card:
    """An answered prediction: the answer that stands, and what happened. The right one is not shown: the next cell does."""
    said = record.get("said") or "Something else happens. Run on and compare."  # an older file has no words
    lines = (f"Locked in: {record['answer']}.", HAPPENS if record.get("right_at_first") else said)
    state = state_of(record)
    card = Card(f"{exercise.id} {exercise.title}", state, (), lines, believed=record.get("believed", ""))
    return going_on(card, exercise) if state == "passed" and exercise.points else card


def what_happened(verdict: Verdict) -> str:
    """What an answer to a prediction earns."""
    if verdict.passed:
        return HAPPENS
    says = verdict.lines[-1] if verdict.mistake else "Something else happens. Run on and compare."
    words = thought(believed_in(verdict))
    return f"{says} ({words})" if words else says


def progress_card(records: dict[str, dict[str, Any]], every: bool = False, engine: str = "") -> Card:
    """How much is solved and what comes next, below a table: the lessons that are begun, or `every` exercise.

    engine: what there is to say of the student's own engine.
    """
    rows: list[tuple[str, ...]] = []
    for lesson in lessons.all_lessons():
        begun = [exercise for exercise in lesson.exercises if exercise.id in records]
        if every:
            for exercise in lesson.exercises:
                record = records.get(exercise.id, {})
                if exercise.points or record:
                    state = "passed" if record.get("passed") else record.get("state", "-")
                    rows.append((exercise.id, exercise.title, state, count(record, "tries"), count(record, "hints")))
        elif begun:
            asked = next_step.scored(lesson)
            left = [exercise.id for exercise in asked if not next_step.passed(records, exercise)]
            done = f"{len(asked) - len(left)} of {len(asked)}"
            rows.append((f"{lesson.number:02d}", lesson.title, done, ", ".join(left) or "-"))
    head = ("exercise", "title", "state", "tries", "hints") if every else ("lesson", "title", "solved", "open")
    step = next_step.after(records)
    lines = filter(None, (next_step.solved(records), engine, step.place))
    return Card("Progress", paragraphs=tuple(lines), table=(head, *rows) if rows else (), link=(step.words, ""))


def count(record: dict[str, Any], field: str) -> str:
    return str(record.get(field, 0) or "-")


def plain_text(answer: Any) -> str:
    """A prediction as it is kept and shown."""
    try:
        return shown_answer(wire.unpack(wire.pack(answer)))
    except wire.WireError:
        return type(answer).__name__


def of_the_engine(words: str) -> None:
    """What the student should know of `my_engine`, when it is imported in a notebook."""
    if live():
        show_card(Card(own_engine.FILE, paragraphs=(words,)))


def live() -> bool:
    """True in a notebook that a student runs: nothing is tested, graded or stored."""
    return in_notebook() and not progress_store.judged() and os.environ.get("MINIGRAD_DISPLAY") != "static"


def ask(exercise: Exercise, card: Card, judged: Callable[[Any], Card], field: bool) -> None:
    """Show a card with its controls: a field for an answer, and a button for a hint where there is one."""
    from . import controls

    hint = (lambda: hint_card(exercise)) if ladder(exercise, {}) and exercise.kind != "prediction" else None
    controls.Question(exercise, card, lambda answer: dressed(judged(answer)), hint, field).show()


def answered(exercise: Exercise, namespace: dict[str, Any], answer: Any) -> Card:
    """What a field does with an answer: put it where the code would, and check; the card.

    The answer is kept in the progress, so that `minigrad check` knows it too while the cell is blank.
    """
    slip = forms.slip(exercise, answer, typed=True) if isinstance(answer, str) else ""
    if slip:  # a text in the field is no answer that one may believe in
        return Card(f"{exercise.id} {exercise.title}", "not yet", (), (slip,))
    progress_store.note(exercise.id, form=repr(answer))
    namespace[exercise.name] = answer
    history.counts_now(exercise.name)
    verdict = examine(exercise, namespace)
    card = card_of(exercise, verdict, remember(exercise, verdict))
    if not verdict.passed:
        return card
    keep = f"To keep the answer in the notebook, write `{exercise.name} = {answer!r}` in its cell."
    return dataclasses.replace(card, paragraphs=(*card.paragraphs, keep))


own_engine.Finder(of_the_engine).install()
