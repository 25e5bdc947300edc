"""A calculation by hand: which slip gives a student's numbers, and what follows from it."""

import pytest

from minigrad.course import lessons
from minigrad.course.exercise import Exercise
from minigrad.course.judge import working

BY_HAND = [exercise for exercise in lessons.all_exercises() if exercise.working]


@pytest.mark.parametrize("exercise", BY_HAND, ids=lambda exercise: exercise.id)
def test_the_steps_lead_to_what_is_right(exercise: Exercise) -> None:
    right = exercise.right if isinstance(exercise.right, list) else [exercise.right]
    assert working.calculation(exercise.working).result({}) == right
    assert working.told(exercise.working, right) == ""


@pytest.mark.parametrize(("exercise", "given", "says"), [
    ("2.1", [6, 6, 36], "Your numbers come out if w is u."),
    ("2.1", [7, 12, 144], "All your numbers follow from 7 as u. Compute that once more."),
    ("2.1", [6, 11, 9], "Your numbers come out if z is w ^ 2, and in Python ^ is no power."),
    ("2.1", [5, 11, 121], "The first number comes out if u is x + y."),
    ("2.2", [22, 5, 2, 3], "Your numbers come out if the derivative of w is 5, and the derivative of u for x is x and the "
                           "derivative of u for y is y."),
    ("2.3", [60, 40], "Your numbers come out if u is x + y."),
    ("2.3", [71, 49], "Your numbers come out if 5 is added to x.grad and 5 is added to y.grad."),
    ("2.4", [26], "Your number comes out, for example, if the contribution through b is multiplied by x once more."),
    ("2.7", [12, 24, 36], "Your numbers come out if the gradient of h is the contribution through p."),
    ("2.7", [35, 1234, 5678], ""),
    ("2.7", [35, 70], ""),
])  # fmt: skip
def test_a_slip_is_found(exercise: str, given: list[float], says: str) -> None:
    assert working.told(lessons.find(exercise).working, given) == says
