"""The wrong-answer matrix over every exercise of every lesson: the proof that checks tell right from
wrong."""

import sys
import types

import pytest

from minigrad.course import lessons, misconceptions, notebooks
from minigrad.course.commands.matrix import kinds, prove
from minigrad.course.exercise import Wrong, call, function
from minigrad.course.student import worker
from minigrad.course.student.child import can_fork, examine
from tests.together import together

EXERCISES = lessons.all_exercises()
IDS = [e.id for e in EXERCISES]


# The others take half a second each or more (chains of thousands, networks that learn): the slow tests prove them.
KNOWN = ("3.6", "4.1", "5.3", "6.2", "6.4", "7.2", "7.5")
QUICK = [e for e in EXERCISES if e.kind == "prediction" or e.lesson < 3 or e.id in KNOWN]
LONGEST = ("3.4", "9.5", "14.8", "14.9")  # one seed of these takes five seconds


@pytest.mark.parametrize("exercise", QUICK, ids=[e.id for e in QUICK])
def test_matrix(exercise):
    matrix = prove(exercise, seeds=(0,))
    assert matrix.problems == []
    assert matrix.table == [], "no drawn question refuses these"
    assert matrix.seconds < 3


@pytest.mark.slow
@pytest.mark.sweep(16)
@pytest.mark.parametrize("exercise", EXERCISES, ids=IDS)
def test_matrix_on_every_seed(exercise):
    matrix = prove(exercise, seeds=(1,)) if exercise.id in LONGEST else prove(exercise)
    assert matrix.problems == []
    assert matrix.table == [], "no drawn question refuses these"
    assert matrix.seconds < 3


@pytest.mark.slow
@together("exercise", EXERCISES)
def test_declaration(exercise):
    for wrong in (*exercise.wrong, *exercise.before):
        if wrong.misconception:
            misconceptions.find(wrong.misconception)
        assert wrong.says or wrong.misconception, "a wrong answer without a word"
    assert exercise.title and exercise.title == exercise.title.strip()
    assert int(exercise.id.split(".")[0]) == exercise.lesson
    if exercise.points:
        assert exercise.hints or any(w.misconception for w in exercise.wrong)


def test_a_text_says_which_inputs_its_questions_have():
    written = [e for e in EXERCISES if e.kind in ("function", "program") and e.lesson < 16]
    assert {e.id: set(e.inputs) for e in written} == {e.id: kinds(e) for e in written}
    with pytest.raises(ValueError, match="the kinds of input are negative, zero"):
        broken_exercise(inputs=("odd",))
    assert "its text says 'inputs: zero', and its questions have nothing" in problems(inputs=("zero",))


def test_ids_and_names_are_unique():
    assert len(set(IDS)) == len(IDS)
    assert not {"14.1", "14.2", "14.3", "14.4", "14.5"} & set(IDS), "docs/upgrading.md: no exercise has these numbers again"
    for lesson in lessons.all_lessons():
        names = [name for e in lesson.exercises for name in e.names]
        doubled = {name for name in names if names.count(name) > 1}
        assert not doubled, f"lesson {lesson.number}: {doubled}"
        assert all(e.lesson == lesson.number for e in lesson.exercises)


@pytest.mark.slow
def test_nine_of_ten_wrong_answers_have_a_message_of_their_own():
    total = own = 0
    for exercise in EXERCISES:
        messages = [w.says or misconceptions.feedback(w.misconception) for w in exercise.wrong]
        total += len(messages)
        own += sum(messages.count(m) == 1 for m in messages)
    assert own >= 0.9 * total


@pytest.mark.slow
@pytest.mark.skipif(not can_fork(), reason="no fork here")
@pytest.mark.parametrize("lesson", lessons.all_lessons(), ids=lambda each: each.slug)
def test_a_sample_through_the_forked_child(lesson):
    """The first written exercise of each lesson, judged as in a notebook."""
    exercise = next((e for e in lesson.exercises if e.kind in ("function", "program")), None)
    if exercise is None:
        assert all(e.kind in ("value", "choice", "ordering", "prediction") for e in lesson.exercises)
        return
    assert examine(exercise, exercise.namespace(exercise.alternatives[0])).passed
    for wrong in exercise.wrong[:3]:
        found = examine(exercise, exercise.namespace(wrong.answer))
        same = next(w for w in exercise.wrong if w.id == found.mistake)
        assert same is wrong or (same.alike and same.alike == wrong.alike)


@pytest.mark.parametrize("name", notebooks.lessons())
def test_notebooks_and_declarations_ask_for_the_same(name):
    declared = {e.id: e for e in lessons.lesson(int(name[:2])).exercises}
    found = {}
    for kind in ("notebooks", "solutions"):
        file = notebooks.path(kind, name)
        found[kind] = set(notebooks.exercise_ids(notebooks.read(file))) if file.exists() else set()
    asked = found["notebooks"] | found["solutions"]
    assert asked <= set(declared), f"{name} asks for what is not declared: {sorted(asked - set(declared))}"
    assert set(declared) <= asked, f"{name} never asks for {sorted(set(declared) - asked)}"
    unpaid = sorted(id for id in found["solutions"] if not declared[id].points)
    assert not unpaid, f"exercises without points: {unpaid}"


def broken_exercise(**more):
    declared = {
        "title": "t", "oracle": lambda x: 2 * x, "probes": lambda rng: [call(2.0)],
        "wrong": [Wrong(lambda x: 4.0, "", "a", name="a"), Wrong(lambda x: x, "", "b", name="b"),
                  Wrong(lambda x: 0 * x, "", "c", name="c")],
        "alternatives": [lambda x: x + x, lambda x: x * 2],
    }  # fmt: skip
    return function("99.9", "f", **(declared | more))


def problems(**more):
    return " / ".join(prove(broken_exercise(**more), (0,)).problems)


def test_the_matrix_finds_weak_declarations():
    assert "wrong a should be refused, and is passed (seed 0)" in problems()  # 2 + 2 = 2 * 2: the probe cannot tell
    other = [Wrong(lambda x: x + 2, "", "a", name="a"), Wrong(lambda x: x, "", "b", name="b")]
    stronger = {"probes": lambda rng: [call(3.0)]}
    assert "fewer than three" in problems(wrong=other, **stronger)
    twin = [*other, Wrong(lambda x: x * 1, "", "c", name="c")]
    assert "wrong c and wrong b give the same to all probes: one is like the other (seed 0)" in problems(wrong=twin, **stronger)
    mute = [*other, Wrong(lambda x: 7.0, "", "a", name="c")]
    assert "wrong c gets the same message as wrong a: a (seed 0)" in problems(wrong=mute, **stronger)
    assert "1 alternatives" in problems(alternatives=[lambda x: 2 * x], **stronger)
    assert "right 1 should be passed, and is wrong: " in problems(alternatives=[lambda x: x] * 2, **stronger)
    like = [
        Wrong(lambda x: x, "", "b", name="b", alike="l"),
        Wrong(lambda x: x * 1, "", "b", name="c", alike="l"),
    ]
    assert "wrong b" not in problems(wrong=[*other[:1], *like], **stronger)


@pytest.mark.slow
@pytest.mark.skipif(not can_fork(), reason="no fork here")
@pytest.mark.parametrize("name", notebooks.lessons())
def test_a_blank_notebook_is_not_attempted(name, monkeypatch):
    """Also where a class is half given: what was handed out is nobody's answer."""
    for word in ("check", "hint", "predict", "progress"):
        monkeypatch.setattr(f"minigrad.course.{word}", lambda *things, **options: None)
    monkeypatch.setitem(sys.modules, "__main__", notebook := types.ModuleType("__main__"))
    student = worker.Server(vars(notebook))
    for cell in notebooks.code_cells(notebooks.read(notebooks.path("exercises", name))):
        student.exec([cell])  # one by one, as `minigrad check` does
    found = {e.id: examine(e, student.namespace) for e in lessons.lesson(int(name[:2])).exercises if e.points}
    assert {id: v.status for id, v in found.items()} == dict.fromkeys(found, "not attempted")
