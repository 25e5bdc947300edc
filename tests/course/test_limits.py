"""No check keeps anyone waiting: whatever the answer does, its card is there within three seconds."""

import resource
import sys
import time

import pytest

from minigrad.course import lessons
from minigrad.course.student import child
from minigrad.course.student.child import can_fork, examine

WRITTEN = [e for e in lessons.all_exercises() if e.kind in ("function", "program")]
SINGLE = [e for e in WRITTEN if e.kind == "function" and len(e.names) == 1]
pytestmark = pytest.mark.skipif(not can_fork(), reason="no fork here")


def endless(*args, **kwargs):
    while True:
        pass


def never_ending(thing):
    """The same thing, in which nothing comes to an end."""
    if not isinstance(thing, type):
        return endless if callable(thing) else thing
    own = {name: f for name, f in vars(thing).items() if callable(getattr(f, "__func__", f)) and not isinstance(f, type)}
    static = {name: isinstance(f, staticmethod) for name, f in own.items()}
    return type(thing.__name__, (thing,), {n: staticmethod(endless) if s else endless for n, s in static.items()})


def hung(exercise, monkeypatch):
    """A student's namespace in which every name asked for hangs when it is used."""
    space = exercise.namespace(exercise.alternatives[0])
    for name in exercise.names:
        owner, _, attribute = name.rpartition(".")
        if owner and owner in space:
            space[owner] = type(owner, (space[owner],), {attribute: endless})  # a class of its own: others use that one
        elif name in space:
            around = getattr(space[name], "__globals__", {})
            if vars(sys.modules.get(around.get("__name__", ""), time)) is not around:  # cells and texts look the name up here
                monkeypatch.setitem(around, name, endless)
            space[name] = never_ending(space[name])
    return space


def computed(exercise, space):
    """The verdict, the seconds that it takes where nobody else wants the processor, and those of the answer's own process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN), time.process_time()
    verdict = examine(exercise, space)
    after = resource.getrusage(resource.RUSAGE_CHILDREN), time.process_time()
    child = sum(getattr(after[0], of) - getattr(before[0], of) for of in ("ru_utime", "ru_stime"))
    return verdict, child + after[1] - before[1], child


@pytest.mark.parametrize("exercise", WRITTEN, ids=lambda e: e.id)
def test_limits_leave_time_for_the_card(exercise):
    assert all(e.seconds <= 2 for e in (exercise, *exercise.one_of))
    assert child.WAIT < 2.8


@pytest.mark.slow
@pytest.mark.sweep(16)
@pytest.mark.parametrize("exercise", WRITTEN, ids=lambda e: e.id)
def test_a_loop_without_end_is_told_in_time(exercise, monkeypatch):
    verdict, seconds, _ = computed(exercise, hung(exercise, monkeypatch))
    assert verdict.status == "timeout", verdict
    assert f"may compute for {exercise.seconds:g} s" in verdict.lines[0], verdict
    assert seconds < 2.7


@pytest.mark.slow
@pytest.mark.parametrize("exercise", SINGLE[::4], ids=lambda e: e.id)
def test_a_loop_at_the_last_question_is_told_in_time(exercise):
    right, left = exercise.alternatives[0], [len(exercise.questions(0))]

    def hangs_at_last(*args, **kwargs):
        left[0] -= 1
        return right(*args, **kwargs) if left[0] else endless()

    verdict, seconds, _ = computed(exercise, {**exercise.namespace(right), exercise.name: hangs_at_last})
    assert verdict.status == "timeout" and seconds < 2.7, verdict


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("exercise", WRITTEN, ids=lambda e: e.id)
def test_right_answers_have_time_and_to_spare(exercise):
    for number, answer in enumerate(exercise.alternatives):
        times = []
        while not times or (min(times) >= exercise.seconds / 4 and len(times) < 3):  # a busy machine costs caches
            verdict, _, seconds = computed(exercise, exercise.namespace(answer))  # an answer has a limit for itself
            assert verdict.passed, verdict
            times.append(seconds)
        assert min(times) < exercise.seconds / 4, f"alternative {number} is slow for its limit: {times}"
