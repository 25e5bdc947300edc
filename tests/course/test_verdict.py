"""The judge: value first, then shape, then type; a name for each mistake; the smallest failing call for the
rest."""

import dataclasses
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import minigrad
from minigrad.course import lessons
from minigrad.course.exercise import (
    Before,
    Raises,
    Wrong,
    call,
    choice,
    function,
    numbers,
    ordering,
    prediction,
    program,
    run,
    value,
)
from minigrad.course.judge import findings
from minigrad.course.judge.comparing import ODD, difference
from minigrad.course.judge.raised import explained
from minigrad.course.judge.shown import shown_call, spelled, typed
from minigrad.course.judge.shrinking import simpler
from minigrad.course.judge.verdict import Verdict, judge
from minigrad.course.student.student import Local
from minigrad.course.student.wire import Failure, Tensor

A = np.array([[1.5, 2.5, -3.0], [0.5, 4.0, 2.0]])

DIFFERENCES = [
    (A, A, ""),
    (A.tolist(), A, "The numbers are right, but come as a list; an array is asked for: np.array(...) makes one."),
    (A + 1, A, "The values are not right."),
    (A.ravel(), A, "The numbers are right, the shape (6,) is not: the shape (2, 3) is asked for."),
    (A.T, A, "The values are not right."),
    (A[0], A, "The shape (3,) is not right: an array of shape (2, 3) is asked for."),
    (2.0, A, "That is one number; an array of shape (2, 3) is asked for."),
    (None, A, "It gave None; an array is asked for."),
    ("2", 2.0, "That is a string ('2'); a number is asked for."),
    (True, 1.0, "That is a truth value (True); a number is asked for."),
    (1, True, "That is a whole number; True or False is asked for."),
    (np.array([True]), np.array([1.0]), "That is an array of True and False; numbers are asked for."),
    (np.float32(0.1), 0.1, "The value is not right."),
    (np.float64(2), 2, ""),
    (np.array(2.0), 2.0, ""),
    (np.array([2.0]), 2.0, "The number is right, the shape (1,) is not: a single number is asked for."),
    (float("nan"), 2.0, f"The value is not right: it has nan in it. {ODD['nan']}"),
    (float("nan"), float("nan"), ""),
    (float("inf"), 2.0, f"The value is not right: it has inf in it. {ODD['inf']}"),
    ((A, 1.0), (A, 1.0), ""),
    ([A, 1.0], (A, 1.0), ""),
    ((A, 2.0), (A, 1.0), "The second value is not right."),
    ((A,), (A, 1.0), "It gave 1 value; 2 are asked for."),
    (A, (A, 1.0), "That is an array; 2 values are asked for."),
    (np.stack([A, 2 * A]), (A, 2 * A), ""),
    (np.stack([A, A]), (A, 2 * A), "The second value is not right."),
    ({"a": 1}, {"a": 1}, ""),
    ({"b": 1}, {"a": 1}, "The keys are b; they are not all that is asked for, or too many."),
    ({"a": 2}, {"a": 1}, "At 'a': the value is not right."),
    (..., 1.0, "It gave ... : the blank is still there."),
    (None, None, ""),
    (np.array([1, 2]), np.array([1.0, 2.0]), ""),
    (Tensor(A), A, "The value is right, but comes as a tensor; an array is asked for, found without the engine."),
    (Tensor(np.array(2.0)), 2.0, "The value is right, but comes as a tensor; a number is asked for, found without the engine."),
    ((A, A), A, "That is a tuple; an array is asked for."),
    ([2, True], [2, 1], "That is a list that holds a truth value; True is not written for 1, nor False for 0."),
    ([A, None], A, "That is a list that holds None; an array is asked for."),
]


@pytest.mark.parametrize(("got", "truth", "says"), DIFFERENCES, ids=range(len(DIFFERENCES)))
def test_the_first_difference(got, truth, says):
    assert difference(got, truth, 1e-9, 1e-12, strict=True) == says


@pytest.mark.slow
def test_other_words_for_what_is_seen_change_no_verdict(monkeypatch):
    forms = ("-{}", "3 * {}", "0 * {}", "{}.round(1)", "{} + b", "{}.T", "{} ** 2")
    wrong = [eval(f"lambda a, b: {form.format('np.outer(a, b)')}", {"np": np}) for form in forms]  # there is no source to vary
    before = [judge(exercise(), Local({"outer": each, "np": np}), tries=20) for each in wrong]
    monkeypatch.setattr(findings, "SENTENCES", dict.fromkeys(findings.SENTENCES, lambda found: "Something else."))
    after = [judge(exercise(), Local({"outer": each, "np": np}), tries=20) for each in wrong]
    assert ["Something else." in each.lines for each in after].count(True) > 2
    for old, new in zip(before, after, strict=True):
        assert dataclasses.replace(old, lines=()) == dataclasses.replace(new, lines=()) and len(old.lines) == len(new.lines)


def test_a_text_in_the_answer_of_a_program_has_its_capitals():
    said = "The second value: the text 'Tanh' is not right here."
    assert difference([1.0, "Tanh"], [1.0, "tanh"], 1e-9, 1e-12, strict=False) == said
    assert difference([1.0, "Tanh"], [1.0, "tanh"], 1e-9, 1e-12, strict=False, by_hand=True) == ""


def test_values_written_by_hand_may_come_in_any_form():
    for got in (A.tolist(), tuple(map(tuple, A.tolist())), A, Tensor(A), A + 1e-5):
        assert difference(got, A, 2e-3, 1e-6, strict=False) == ""


def outer(a, b):
    return np.array([[x * y for y in b] for x in a])


def exercise(**more):
    return function(
        "99.1", "outer", title="outer product", oracle=outer,
        probes=lambda rng: [call(numbers(rng, 4), numbers(rng, 3)), call(numbers(rng, 2), numbers(rng, 5))],
        wrong=[
            Wrong(lambda a, b: np.outer(b, a), "M42", "transposed", name="transposed"),
            Wrong(lambda a, b: np.outer(a, b) * 2, "", "doubled", name="doubled"),
            Wrong(lambda a, b: a @ b, "M29", "needs (n,) and (n,)", name="dot"),
        ],
        alternatives=[np.outer, lambda a, b: a[:, None] * b], **more,
    )  # fmt: skip


def verdict(answer, **more):
    ex = exercise(**more)
    return judge(ex, Local(ex.namespace(answer)), 0)


def test_right_answers_pass_with_all_points():
    assert verdict(np.outer, points=3) == Verdict("99.1", "passed", 3, 3, ("All 2 probes agree.",), seed=0)


def test_known_mistakes_are_named():
    found = verdict(lambda a, b: np.multiply.outer(b, a))
    assert (found.status, found.points, found.misconception, found.mistake) == (
        "wrong",
        0,
        "M42",
        "transposed",
    )
    assert found.lines == ("transposed",) and found.call.startswith("outer(np.array([")
    assert found.expected == ""


def test_a_mistake_on_some_probes_only_is_still_recognised():
    def sometimes(a, b):
        return np.outer(b, a) if len(b) == 5 else np.outer(a, b)

    found = verdict(sometimes)
    assert found.mistake == "transposed" and "outer(np.array([" in found.call


def test_an_exception_is_the_same_mistake_only_with_the_same_message():
    assert verdict(lambda a, b: a @ b).mistake == "dot"

    def other(a, b):
        raise ValueError("something else")

    found = verdict(other)
    assert (found.status, found.mistake) == ("error", "")
    assert "ValueError: something else" in found.lines[0]


def test_an_unknown_mistake_gets_the_smallest_failing_call():
    def misses_negative(a, b):
        return np.abs(np.outer(a, b))

    found = verdict(misses_negative)
    assert found.mistake == "" and found.lines[0].startswith("The value")
    assert len(found.call) < 60, found.call


def test_observations_help_without_the_answer():
    for code, said in {
        "-np.outer(a, b)": "sign is wrong", "3 * np.outer(a, b)": "3 times", "np.outer(a, b) * (1 + 3e-8)": "float32",
        "0 * np.outer(a, b)": "zero",
    }.items():  # fmt: skip
        assert said in verdict(eval(f"lambda a, b: {code}", {"np": np})).lines[1], "no source, no slip"


def test_changed_inputs_are_named_after_the_value():
    def changes(a, b):
        result = np.outer(a, b)
        a += 1
        return result

    found = verdict(changes)
    assert "changed its input a" in found.lines[0]

    def changes_and_wrong(a, b):
        a += 1
        return np.outer(a, b)

    assert "not right" in verdict(changes_and_wrong).lines[0]


def test_blank_missing_and_nearly_named():
    ex = exercise()
    assert judge(ex, Local({"outer": lambda a, b: ...})).status == "not attempted"
    assert judge(ex, Local({"outer": lambda a, b: None})).status == "not attempted"
    assert judge(ex, Local({})).lines[0] == "I cannot find `outer`."
    near = judge(ex, Local({"outr": np.outer}))
    assert near.status == "missing" and "outr" in near.lines[1]
    assert judge(ex, Local({"outer": 3})).status == "error"


def test_a_changed_answer_that_gives_none_is_an_attempt():
    def forgot_return(a, b):
        np.outer(a, b)

    found = verdict(forgot_return)
    assert found.status == "wrong" and "None" in found.lines[0]


def test_errors_that_are_asked_for():
    ex = function(
        "99.2", "root", title="root", oracle=lambda x: x**0.5,
        probes=lambda rng: [call(4.0), call(-1.0).expect(Raises("ValueError", "negative")).show()],
        wrong=[], alternatives=[],
    )  # fmt: skip

    def right(x):
        if x < 0:
            raise ValueError("x is negative")
        return x**0.5

    def other_type(x):
        if x < 0:
            raise TypeError("x is negative")
        return x**0.5

    def other_words(x):
        if x < 0:
            raise ValueError("no")
        return x**0.5

    assert judge(ex, Local({"root": right})).passed
    assert "it gave" in judge(ex, Local({"root": lambda x: abs(x) ** 0.5})).lines[0]
    assert "it raised TypeError" in judge(ex, Local({"root": other_type})).lines[0]
    found = judge(ex, Local({"root": other_words}))
    assert "does not say 'negative'" in found.lines[0]
    assert found.expected == "ValueError with 'negative' in its message"


def test_values_choices_and_predictions():
    ex = value("99.3", "x", [2, 2, -12], title="v", wrong=[Wrong([2, 4, 6], "M26", "no v")])
    for right in ([2, 2, -12], (2.0, 2.0, -12.0), np.array([2.0, 2, -12.0001])):
        assert judge(ex, Local({"x": right})).passed
    assert judge(ex, Local({"x": [2, 4, 6]})).mistake == "[2, 4, 6]"
    assert judge(ex, Local({"x": [1, 2, 3]})).status == "wrong"
    assert judge(ex, Local({"x": ...})).status == "not attempted"
    assert judge(ex, Local({"x": [2, ..., -12]})).status == "not attempted"
    assert "string" in judge(ex, Local({"x": "2, 2, -12"})).lines[0]
    assert judge(ex, Local({"x": object()})).status == "wrong"

    pick = choice("99.4", "which", {"a": "yes", "b": "no"}, "b", title="c", wrong=[Wrong("a", "M25", "why?")])
    assert judge(pick, Local({"which": " B "})).passed
    assert judge(pick, Local({"which": "a"})).lines == ("why?",)
    assert judge(pick, Local({"which": "c"})).lines == ("Write the letter of one answer in quotation marks: one of 'a', 'b'.",)
    with pytest.raises(ValueError, match="no feedback for option a"):
        choice("99.4", "which", {"a": "yes", "b": "no"}, "b", title="c", wrong=[])

    guess = prediction("99.5", 12, title="p", wrong=[Wrong(6, "M01", "fresh?")])
    assert judge(guess, Local({"predict 99.5": 12.0})).passed
    assert judge(guess, Local({"predict 99.5": 6})).misconception == "M01"
    assert judge(guess, Local({})).status == "not attempted"

    step = value("99.6", "h", 1e-5, title="h", accept=lambda h: 1e-7 < h < 1e-3,
                 wrong=[Wrong(1e-12, "M44", "small", when=lambda h: h < 1e-7)])  # fmt: skip
    assert judge(step, Local({"h": 1e-4})).passed
    assert judge(step, Local({"h": 1e-15})).lines == ("small",)
    assert judge(step, Local({"h": 0.5})).lines == ("That is not it.",)
    assert judge(step, Local({"h": "small"})).status == "wrong"


def test_orderings_name_the_first_broken_rule():
    ex = ordering(
        "99.7", "order", ["socks", "shoes", "hat"], [Before(1, 2, "M21", "socks first")], [1, 2, 3], title="o"
    )
    for right in ([1, 2, 3], (3, 1, 2), np.array([1, 3, 2]), "1 2 3", ["1", "2", "3"]):
        assert judge(ex, Local({"order": right})).passed
    found = judge(ex, Local({"order": [2, 1, 3]}))
    assert (found.lines, found.misconception) == (("socks first",), "M21")
    for odd in ([1, 2], [1, 1, 2], ["a"], 3, [0, 1, 2], [1.5, 2, 3]):
        assert "each number from 1 to 3 once" in judge(ex, Local({"order": odd})).lines[0]
    with pytest.raises(ValueError, match="breaks its own rules"):
        ordering("99.7", "order", ["a", "b"], [Before(1, 2)], [2, 1], title="o")


def test_methods_are_blank_or_replaced_in_a_fresh_class():
    class Base:
        def __init__(self, data):
            self.data = data

        def __add__(self, other): ...

    def given():
        return {"Value": type("Value", (Base,), dict(vars(Base)))}

    ex = program(
        "99.8", "Value.__add__", title="add", scaffold=given,
        probes=lambda rng: [run("(Value(x) + Value(y)).data", x=2.0, y=3.5)], oracle=lambda x, y: x + y,
        wrong=[Wrong(lambda a, b: type(a)(a.data), "", "left only", name="left")],
        alternatives=[lambda a, b: type(a)(a.data + b.data)],
    )  # fmt: skip
    assert judge(ex, Local(ex.namespace(ex.alternatives[0]))).passed
    assert judge(ex, Local(given())).status == "not attempted"
    found = judge(ex, Local(ex.namespace(ex.wrong[0].answer)))
    assert found.mistake == "left" and found.call == "x = 2.0\ny = 3.5\n(Value(x) + Value(y)).data"
    assert judge(ex, Local({})).lines[0] == "I cannot find `Value.__add__`."


def test_an_error_is_explained_by_what_it_is():
    for kind, message, line, means in (
        ("RuntimeError", "mat1 and mat2 shapes cannot be multiplied (3x3 and 4x2)", 18, "In a product"),
        ("ValueError", "matmul: Input operand 1 does not have enough dimensions (has 0, gufunc core ...", 2, "brackets"),
        ("AttributeError", "'FunctionCtx' object has no attribute 'k'", 79, "nothing of that name"),
        ("TypeError", "__init__() takes from 2 to 4 positional arguments but 5 were given", 2, "In this line"),
        ("TypeError", "double() takes 0 positional arguments but 1 was given", None, "Which inputs does the task name"),
        ("TypeError", "'NoneType' object is not reversible", 3, "still blank"),
        ("RuntimeError", "function ScaleBackward returned a gradient different than None at position 2", None, "no tensor"),
    ):
        assert means in explained(Failure("raised", kind, message, line, "some code" if line else ""))


def test_a_blank_among_given_methods_is_named():
    class Counter:
        def __init__(self, n):
            self.n = n

        def up(self): ...

    class Counts(Counter):
        def up(self):
            self.n += 1

    ex = program(
        "99.7", "Counter", title="a counter", scaffold=lambda: {},
        probes=lambda rng: [run("c = Counter(n)\nc.up()\nc.n", n=2.0)], oracle=lambda n: n + 1,
        wrong=[], alternatives=[Counts],
    )  # fmt: skip
    found = judge(ex, Local({"Counter": Counter}))
    assert not found.passed and "A part of `Counter` is still blank." in found.lines
    assert judge(ex, Local({"Counter": Counts})).passed


def test_a_lost_student_is_a_verdict():
    class Lost:
        def __init__(self, failure):
            self.failure = failure

        def look(self, names):
            return {n: {"state": "there", "type": "", "near": []} for n in names}

        def call(self, *args, **kwargs):
            return self.failure

    statuses = {"timeout": "timeout", "memory": "memory", "killed": "error", "protocol": "error"}
    for kind, status in {**statuses, "forbidden": "forbidden"}.items():
        found = judge(exercise(), Lost(Failure(kind)))
        assert (found.status, found.points) == (status, 0)
        assert found.lines and found.call


def test_messages_are_the_same_every_time():
    def odd(a, b):
        return np.outer(a, b) + (a[0] > 0)

    assert verdict(odd) == verdict(odd)
    assert Verdict.from_dict(verdict(odd).as_dict()) == verdict(odd)


def test_control_characters_of_a_student_reach_nobody():
    def rude(a, b):
        raise ValueError("\x1b[2J\u202etxt")

    found = verdict(rude)
    assert all(c.isprintable() or c == "\n" for line in (*found.lines, found.call, found.got) for c in line)
    near = judge(exercise(), Local({"oute\x1b": 1}))
    assert "\x1b" not in "".join(near.lines)


def test_a_check_leaves_random_numbers_alone():
    np.random.seed(3)
    random.seed(3)
    minigrad.manual_seed(3)
    expected = np.random.RandomState(3).rand(), random.Random(3).random()
    verdict(lambda a, b: np.random.rand(len(a), len(b)))
    assert (np.random.rand(), random.random()) == expected
    assert minigrad.equal(minigrad.rand(3), minigrad.rand(3, generator=minigrad.Generator().manual_seed(3)))


def test_how_values_are_written():
    assert typed(A) == "np.array([[1.5, 2.5, -3.], [0.5, 4., 2.]])"
    assert typed(np.zeros(2, np.float32)) == "np.array([0., 0.], dtype='float32')"
    assert typed(np.zeros((0, 2))) == "np.zeros((0, 2))"
    assert spelled((1, 2.0, [None, "a"], {"k": np.float64(0.1)})) == "(1, 2.0, [None, 'a'], {'k': 0.1})"
    assert spelled((3,)) == "(3,)"
    assert len(typed(np.zeros(10_000))) < 200
    assert shown_call(exercise(), call(A, k=2).of("f")) == f"f({typed(A)}, k=2)"


def test_an_answer_that_changes_from_call_to_call_is_named():
    calls = []

    def counts(a, b):
        calls.append(1)
        return np.outer(a, b) + len(calls) // 2

    assert "when it was asked again" in " ".join(verdict(counts).lines)
    seen = set()

    def right_once(a, b):
        first = a.tobytes() not in seen
        seen.add(a.tobytes())
        return np.outer(a, b) * first

    assert not verdict(right_once).passed


def test_one_number_in_common_is_no_diagnosis():
    ex = function(
        "99.9", "double", title="double", oracle=lambda x: 2 * x,
        probes=lambda rng: [call(1.5), call(-2.0), call(3.0)],
        wrong=[Wrong(lambda x: 4.0, "", "always four", name="four")], alternatives=[],
    )  # fmt: skip
    assert judge(ex, Local({"double": lambda x: 4.0})).mistake == "four"
    assert judge(ex, Local({"double": lambda x: 2 * abs(x)})).mistake == ""
    same = judge(ex, Local({"double": lambda x: 7.0}))
    assert "Every call got the same answer" in same.lines[1]


def test_values_that_are_nearly_what_is_asked_for():
    number = value("99.3", "x", 12, title="v")
    assert judge(number, Local({"x": Fraction(12)})).passed and judge(number, Local({"x": Decimal("12.0")})).passed
    assert "is inside a list" in judge(number, Local({"x": [12]})).lines[0]
    assert "a comma at the end" in judge(number, Local({"x": (12,)})).lines[0]
    several = value("99.3", "x", [24, None], title="v")
    assert "None" not in judge(several, Local({"x": [24, 0]})).lines[0]
    assert "holds 1 number; 2 are" in judge(value("99.3", "x", [6, 7], title="v"), Local({"x": [6]})).lines[0]
    assert "holds a string" in judge(value("99.3", "x", [6, 7], title="v"), Local({"x": ["6", "7"]})).lines[0]
    small = value("99.6", "h", 1e-5, title="h", accept=lambda h: 1e-7 < float(h) < 1e-3)
    assert "string" in judge(small, Local({"h": "1e-5"})).lines[0]


def test_known_by_the_answers_before_it_was_lost():
    class Slow(Local):
        def call(self, name, *args, **kwargs):
            return Failure("timeout") if len(args[0]) == 2 else super().call(name, *args, **kwargs)

    ex = exercise()
    found = judge(ex, Slow(ex.namespace(lambda a, b: np.outer(b, a))))
    assert found.mistake == "transposed"
    assert judge(ex, Slow(ex.namespace(np.outer))).status == "timeout"


def test_shrinking_keeps_sizes_together():
    probe = call(np.ones((4, 3)), np.ones(3), (4, 3)).of("f")
    first = next(iter(simpler(probe)))
    assert first.args[0].shape == (3, 3) and first.args[1].shape == (3,) and first.args[2] == (3, 3)


def test_an_error_asked_for_may_be_put_in_any_words():
    """The same belief in other words is the same mistake."""
    start = lessons.find("5.4")

    class NoScalar(RuntimeError): ...

    def only_the_empty_shape(kind, no_default, no_fit):
        def answer(shape, gradient=None):
            if gradient is None and shape != ():
                raise kind(no_default)
            if gradient is not None and np.shape(gradient) != shape:
                raise RuntimeError(no_fit)
            return np.ones(()) if gradient is None else gradient

        return answer

    for words in ((RuntimeError, "this wants a scalar", "shape!"), (NoScalar, "no scalar here", "which shape is that?")):
        assert judge(start, Local({"start": only_the_empty_shape(*words)})).mistake == "empty shape only"


@pytest.mark.slow
def test_a_smaller_question_is_still_a_question():
    """Parts of four numbers are not cut from three, and the trouble stays the same trouble."""
    accumulate = lessons.find("8.5")
    found = judge(accumulate, Local(accumulate.namespace(lambda x, y, w, sizes: x.sum())))
    assert "nan" not in found.lines[0] and found.call.count("2.") >= 4, found

    split = lessons.find("12.3")

    def turned(images, labels, seed):
        order = np.random.default_rng(seed).permutation(len(images))
        x, y, n = images.transpose(0, 2, 1).reshape(len(images), -1)[order] / 16, labels[order], len(images) * 4 // 5
        return x[:n], y[:n], x[n:], y[n:]

    found = judge(split, Local({"split": turned, "accuracy": lambda scores, labels: (scores.argmax(1) == labels).mean()}))
    assert "pixels of one image" in found.lines[0], found


def test_what_remembers_is_shown_on_its_own_question():
    seen = []

    def counts(a, b):
        seen.append(a)
        return np.outer(a, b) + len(seen)

    found = verdict(counts)
    assert "This call gave" in found.lines[1] and "remember" in found.lines[1]
    first = found.lines[1].removeprefix("This call gave ").split(" at first")[0]
    assert found.got.startswith(first.removesuffix("..."))


def test_observations_of_parts_and_of_values_written_down():
    pair = function("99.4", "pair", title="p", oracle=lambda x: (x + 1, -2 * x), probes=lambda rng: [call(numbers(rng, 3))],
                    wrong=[], alternatives=[])  # fmt: skip
    found = judge(pair, Local({"pair": lambda x: (x + 1, 2 * x)}))
    assert found.lines[0].startswith("The second value is not right") and "sign" in found.lines[1]
    by_hand = value("99.4", "slopes", [66, 44], title="s")
    assert judge(by_hand, Local({"slopes": [-66, -44]})).lines[1] == "Every number has the right size and the wrong sign."
    assert judge(by_hand, Local({"slopes": [66, 45]})).lines[0] == "The second number is not right; the other one is."
    assert judge(by_hand, Local({"slopes": [66, [44]]})).lines == (
        "That is a list that holds a list among other things; a list of numbers is asked for.",
    )


@pytest.mark.slow
def test_wrong_answers_have_names_that_stay():
    for exercise in lessons.all_exercises():
        ids = [wrong.id for wrong in exercise.wrong]
        assert len(set(ids)) == len(ids), (exercise.id, ids)
        assert not any("0x" in id for id in ids), (exercise.id, ids)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 8))
def test_the_clinic_tells_no_letter(number):
    """What is no letter, and what is the wrong one, is refused without the letter that is asked for."""
    exercise = lessons.find(f"13.{number}")
    letter, cure = exercise.names
    right = exercise.alternatives[0][letter].lower()
    for blamed in ("z", 4, None, *(wrong.answer[letter] for wrong in exercise.wrong)):
        if blamed == right:
            continue
        found = judge(exercise, Local({letter: blamed, cure: exercise.alternatives[0][cure]}))
        assert found.status in ("wrong", "error")
        said = " ".join((*found.lines, found.got, found.expected)).replace("a, b, c, d", "")
        assert f"'{right}'" not in said, said
        assert f"{letter} = {right!r}" not in said


@pytest.mark.parametrize(
    ("program", "message", "said"),
    [
        ("[g.tolist() for g in f(x)]", "'float' object has no attribute 'tolist'", "an entry of what your function gives"),
        ("f(x)\nx.grad.tolist()", "'NoneType' object has no attribute 'tolist'", "No gradient has arrived there"),
        ("d = f(x)\nd.data", "'NoneType' object has no attribute 'data'", "`d = f(x)`, and that is None. Does your function"),
        ("Op.__mro__", "'function' object has no attribute '__mro__'", "`Op`, and that is a function. It needs a class there."),
    ],
)  # fmt: skip
def test_an_error_in_the_program_of_the_check_says_what_it_met(program, message, said):
    assert said in explained(Failure("raised", "AttributeError", message), program)


def test_right_values_in_another_order_are_said_to_be_so():
    def two_layer(X, t, W1, b1, W2, b2):
        loss, *gradients = lessons.find("10.3").alternatives[0](X, t, W1, b1, W2, b2)
        return *gradients, loss

    verdict = judge(lessons.find("10.3"), Local({"two_layer": two_layer}))
    assert "your first one belongs in the second place" in verdict.lines[1]
