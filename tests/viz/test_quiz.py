"""Predict before reveal: all six kinds are asked, the right answer is among the choices, mistakes are named."""

import re
from functools import cache

import pytest

from . import cases
from .dressed import data_of

ALL = {case.__name__: case for case in cases.CASES}


@cache
def quizzes(name: str):
    loss, given = ALL[name]()
    data = data_of(loss, given.get("gradient"), given["names"], given.get("rules"))[0]
    return data, [(step, step["quiz"]) for step in data["steps"] if "quiz" in step]


@pytest.mark.slow
def test_all_six_kinds_are_asked_somewhere() -> None:
    kinds = {quiz["type"] for name in ALL for _, quiz in quizzes(name)[1]}
    assert kinds == {"next", "sign", "value", "shape", "count", "rule"}


@pytest.mark.parametrize("name", ALL)
def test_every_question_has_its_answer(name: str) -> None:
    data, asked = quizzes(name)
    for step, quiz in asked:
        assert quiz["ask"].endswith("?") and quiz["hint"] and quiz["reveal"]
        assert quiz["beat"] in step["beats"] and len(step["beats"]) == len(step["text"])
        if "options" in quiz:
            assert 2 <= len(quiz["options"]) <= 4 and len(set(quiz["options"])) == len(quiz["options"])
            assert [not why for why in quiz["why"]] == [
                i == quiz["answer"] for i in range(len(quiz["options"]))
            ]
        else:
            right = data["vals"][step["contrib"]]
            right += data["vals"][step["before"]] if step["before"] is not None else 0
            assert quiz["answer"] == pytest.approx(right, abs=quiz["tol"])
            assert all(abs(v - right) > quiz["tol"] for v, _ in quiz["wrong"])
        if quiz["type"] == "next":
            assert quiz["ids"][quiz["answer"]] == step["node"]
        if quiz["type"] == "rule":
            assert quiz["options"][quiz["answer"]] == step["rule"]
        if quiz["type"] == "count":
            assert quiz["options"][quiz["answer"]] == str(step["arrived"][1])


def test_the_sign_of_what_is_only_passed_on_is_not_explained_by_factors() -> None:
    step, quiz = next((s, q) for s, q in quizzes("fan_out")[1] if q["type"] == "sign" and s["how"] == "copy")
    assert step["rule"] == "g" and "factor" not in quiz["hint"]
    assert all("unchanged" in why for why in quiz["why"] if why)


def test_a_wrong_answer_shows_what_that_mistake_gives() -> None:
    why = [
        w
        for name in ALL
        for _, q in quizzes(name)[1]
        for w in [*q.get("why", []), *(w for _, w in q.get("wrong", []))]
    ]
    said = ("`=` would have thrown away", "an unfinished sum", "Without g it is right only", "shape of the input", "stretched",
            "The transpose is missing")  # fmt: skip
    for mistake in said:
        assert any(mistake in text for text in why), mistake
    assert not any(re.search(r"\bM\d\d\b", text) for text in why), "a catalogue's number tells a student nothing"


def test_forgetting_the_upstream_is_recognised_by_its_number() -> None:
    _, asked = quizzes("fan_out")
    values = [(q["answer"], {w: v for v, w in q["wrong"]}) for _, q in asked if q["type"] == "value"]
    assert any("thrown away" in text for _, wrong in values for text in wrong)
