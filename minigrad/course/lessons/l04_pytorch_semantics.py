"""Lesson 04: what PyTorch does with the same code. Eight predictions, and four methods for the student's engine.

Exercise 4.7 is judged on a given `Value` that lacks `zero_grad`, `detach`, `retain_grad` and the switch `no_grad`.
Its numbers live in arrays, so that "shares its numbers" and "copies them" are different things.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..exercise import Exercise, Lesson, Probe, Wrong, numbers, prediction, program, run

# --- 4.1 to 4.6: predictions ----------------------------------------------------------------------------------

EXERCISE_4_1 = prediction(
    "4.1", 12,
    why="backward() adds to x.grad and replaces nothing, so the second pass is added to the first.",
    title="two passes, one x",
    minutes=3,
    wrong=[
        Wrong(6, "M01", "6 is what one pass adds. What was in x.grad when the second one came?"),
        Wrong(9, "M43", "9 is the value of x**2. How fast does it grow at 3?"),
        Wrong(36, "M22", "36 is 6 times 6. What does a leaf do with a share that arrives: multiply or add?"),
        Wrong([6, 12], "M01", "Those are x.grad after the first pass and after the second. What is printed at the end?"),
        Wrong(18, "M43", "18 is 9 + 9, the values. The gradients are added: how large is each?"),
        Wrong(0, "M01", "Nothing in the program clears x.grad. What is there after the first pass?"),
    ],
    hints=[
        ".grad is a running sum of everything that ever arrived.",
        "Three passes of 5*x leave 15.",
        "Work out one pass, then ask what the second does to it.",
    ],
)  # fmt: skip

EXERCISE_4_2 = prediction(
    "4.2", [24, None, None],
    why="Only a leaf that requires a gradient keeps one: x is a leaf, and the other two are results.",
    title="who holds a gradient",
    minutes=4,
    wrong=[
        Wrong([24, 12, 1], "M02", "Those are the right slopes of z for x, y and z. But who keeps one? Which of the three "
              "was not computed from another?"),
        Wrong([24, 12, None], "M02", "12 passed through y. Did anybody ask y to keep it?"),
        Wrong([24, None, 1], "M03", "1 is where the pass starts. z was computed: is it a leaf?"),
        Wrong([24, None, 0], "M05", "For z you wrote a number. Did any pass leave one there?"),
        Wrong([24, "None", "None"], "", "Without the quotation marks: text is something other than nothing.",
              name="None as text"),
        Wrong([24, 0, 0], "M05", "Nothing was kept for y and z: what does PyTorch show for nothing?"),
        Wrong([2, None, None], "M04", "2 is the slope of y for x. On which tensor was backward called?"),
        Wrong([12, None, None], "M04", "12 is the slope of z for y. One more step leads to x."),
        Wrong([None, None, 24], "M03", "24 is the slope of z for x. Is it stored on what moves, or on what is "
              "nudged?"),
    ],
    hints=[
        "Leaves keep gradients; what was computed hands them on.",
        "For b = 5*a, c = b + 1 and c.backward(): a.grad is 5, the others are None.",
        "Which of x, y and z was made by you, and not by an operation?",
    ],
)  # fmt: skip

EXERCISE_4_3 = prediction(
    "4.3", "b",
    why="The square saved its input, which the first pass freed; a sum saves nothing.",
    title="backward twice on one graph",
    minutes=3,
    options={"a": "both raise an error", "b": "the square raises, the sum does not",
             "c": "the sum raises, the square does not", "d": "neither raises"},
    wrong=[
        Wrong("a", "M10", "The first pass frees what was saved. What would x + 2 have to save for its slope?"),
        Wrong("c", "M10", "Which of the two needs to remember x to know its slope?"),
        Wrong("d", "M10", "After the first pass the saved numbers are gone. Which of the two slopes needs one?"),
    ],
    hints=[
        "An error comes when a rule needs a number that was thrown away.",
        "exp saves its result, so it refuses a second pass; a difference saves nothing.",
        "Write down the slope of each operation. Does x stand in it?",
    ],
)  # fmt: skip

EXERCISE_4_4 = prediction(
    "4.4", 9,
    why="detach cuts one factor off from the graph, so only the path through the other factor counts.",
    title="a detached factor",
    minutes=4,
    wrong=[
        Wrong(27, "M12", "27 is the slope of x**3. One of the two ways from z to x was cut: which?"),
        Wrong(18, "M12", "18 comes through y. Is that way still open?"),
        Wrong(0, "M12", "One edge was cut, and another one leads to x. Which?"),
        Wrong(None, "M12", "None would mean that no way at all leads from z to x. Follow the second factor."),
        Wrong(6, "M04", "6 is the slope of y alone. On which tensor was backward called?"),
        Wrong(3, "M43", "3 is x. The last product's slope for x is its partner: what is its value?"),
    ],
    hints=[
        "detach cuts one edge. What is on the other side of it counts as a plain number.",
        "At x = 5, (x + 1).detach() * x has the slope 6.",
        "Put the number in: z = ... * x.",
    ],
)  # fmt: skip

EXERCISE_4_5 = prediction(
    "4.5", "b",
    why="The update gave the name w to a new tensor, and this tensor has no gradient.",
    title="the name w after an update",
    minutes=3,
    options={"a": "3, from the second pass", "b": "None: w is another tensor now",
             "c": "6: both passes added up", "d": "an error: w was changed in place"},
    wrong=[
        Wrong("a", "M17", "w - 0.3 was computed from the old w. Is the new one a leaf?"),
        Wrong("c", "M17", "6 is in the .grad of the tensor that w used to be. Which one does the name mean now?"),
        Wrong("d", "M16", "Nothing was changed in place: `w = ...` makes a new tensor and moves the name. Which tensor "
              "is trained?"),
    ],
    hints=[
        "An equals sign moves a name; it changes no tensor.",
        "After y = y + 1, y is the result of an addition, whatever y was before.",
        "Ask w.is_leaf before and after the line.",
    ],
)  # fmt: skip

EXERCISE_4_6 = prediction(
    "4.6", "b",
    why="The square saved its input, which has changed since; exp saved its output, which has not.",
    title="adding 1 in place afterwards",
    minutes=4,
    options={"a": "both raise an error", "b": "the square raises, exp does not",
             "c": "exp raises, the square does not", "d": "neither raises"},
    wrong=[
        Wrong("a", "M15", "The square needs y for its slope. What does exp need, and was that changed?"),
        Wrong("c", "M15", "The slope of exp is its own result. Which tensor holds that, and was it changed?"),
        Wrong("d", "M15", "PyTorch counts the changes of every tensor. Which rule will find that its number is a newer "
              "one?"),
    ],
    hints=[
        "What matters is whether the changed tensor was saved.",
        "sin saves its input, tanh its output; after a change of the input only one of them complains.",
        "Slope of y**2: 2y. Slope of exp(y): exp(y). Which of these is stored under the name y?",
    ],
)  # fmt: skip

# --- 4.7 four methods for an engine ---------------------------------------------------------------------------


def given() -> dict[str, Any]:
    """The engine that the exercise notebook hands out, freshly made."""

    class Value:
        recording = True
        count = 0

        def __init__(self, data: Any, parents: tuple[Any, ...] = (), slopes: tuple[Any, ...] = ()) -> None:
            self.data = np.asarray(data, dtype=float)
            self.grad: Any = None
            self.keeps_grad = False
            self.parents = parents if Value.recording else ()
            self.slopes = slopes if Value.recording else ()
            Value.count += 1
            self.born = Value.count

        def __add__(self, other: Any) -> Any:
            return Value(self.data + other.data, (self, other), (1.0, 1.0))

        def __mul__(self, other: Any) -> Any:
            return Value(self.data * other.data, (self, other), (other.data, self.data))

        def backward(self) -> None:
            arrived = {self: 1.0}
            while arrived:
                v = max(arrived, key=lambda value: value.born)
                g = arrived.pop(v)
                if v.keeps_grad or not v.parents:
                    v.grad = g if v.grad is None else v.grad + g
                for parent, slope in zip(v.parents, v.slopes, strict=True):
                    arrived[parent] = arrived.get(parent, 0.0) + slope * g

    return {"Value": Value}


def clear(self: Any) -> None:
    self.grad = None


def cut(self: Any) -> Any:
    return type(self)(self.data)


def keep(self: Any) -> None:
    self.keeps_grad = True


def switch(Value: Any) -> Any:
    """A no_grad that gives back what it found."""

    class no_grad:
        def __enter__(self) -> None:
            self.before = Value.recording
            Value.recording = False

        def __exit__(self, *error: object) -> None:
            Value.recording = self.before

    return no_grad


def engine(
    zero_grad: Callable[[Any], Any] = clear, detach: Callable[[Any], Any] = cut,
    retain_grad: Callable[[Any], Any] = keep, no_grad: Callable[[Any], Any] = switch,
) -> dict[str, Any]:  # fmt: skip
    """Everything that the exercise asks for, on a fresh Value; `no_grad` is made for that class."""
    Value = given()["Value"]
    Value.zero_grad, Value.detach, Value.retain_grad = zero_grad, detach, retain_grad
    return {"Value": Value, "no_grad": no_grad(Value)}


ZERO = "x = Value(x)\n(x * x).backward()\nx.zero_grad()\nx.grad"
ZERO_NEXT = "x = Value(x)\nx.zero_grad()\n(x * x).backward()\nx.zero_grad()\n(x * x).backward()\nx.grad"
ZERO_OWN = "x = Value(x)\ny = x * x\ny.retain_grad()\ny.backward()\ny.zero_grad()\n[x.grad, y.grad, x.data]"
ZERO_KEEPS = "x = Value(x)\ny = x * x\ny.retain_grad()\ny.zero_grad()\n(y * y).backward()\ny.grad"
ZERO_FIRST = "x = Value(x)\nx.zero_grad()\nx.grad"
ZERO_ASKS_NOT = "x = Value(x)\ny = x * x\ny.zero_grad()\n(y * y).backward()\n[x.grad, y.grad]"
DETACH_FRESH = (
    "x = Value(x)\nx.retain_grad()\n(x * x).backward()\nd = x.detach()\n(d * d).backward()\n[d.grad, x.grad]"
)
DETACH = "x = Value(x)\nz = (x * x).detach() * x\nz.backward()\n[z.data, x.grad]"
DETACH_SHARES = "x = Value(x)\nd = x.detach()\nd.data[...] = 99.0\nx.data"
DETACH_OTHER = "x, k = Value(x), Value(k)\ny = x * k\nd = y.detach()\n[len(d.parents), len(y.parents), d is y]"
RETAIN = "x = Value(x)\ny = x * x\nz = y * y\ny.retain_grad()\nz.backward()\n[x.grad, y.grad, z.grad]"
RETAIN_ONE = (
    "x = Value(x)\ny = x * x\nz = y * y\nz.retain_grad()\nbefore = z.grad\n(z * z).backward()\n"
    "[y.grad, z.grad, before]"
)
RETAIN_TWICE = "x = Value(x)\ny = x + x\ny.retain_grad()\ny.retain_grad()\n(y * y).backward()\n(y * y).backward()\ny.grad"
RETAIN_LATER = "x = Value(x)\ny = x + x\ny.retain_grad()\n(y * y).backward()\ny.retain_grad()\ny.grad"
OFF = "x = Value(x)\nwith no_grad():\n    y = x * x\nz = x * x\n[y.data, len(y.parents), len(z.parents)]"
WAITING = "x = Value(x)\nblock = no_grad()\ny = x * x\nwith block:\n    z = x * x\n[len(y.parents), len(z.parents)]"
NESTED = (
    "x = Value(x)\nwith no_grad():\n    with no_grad():\n        w = x * x\n    y = x * x\nz = x * x\n"
    "[len(w.parents), len(y.parents), len(z.parents)]"
)
THREE = (
    "x = Value(x)\nwith no_grad():\n    with no_grad():\n        with no_grad():\n            pass\n    y = x * x\n"
    "z = x * x\n[len(y.parents), len(z.parents)]"
)
INNER_ERROR = (
    "x = Value(x)\nwith no_grad():\n    try:\n        with no_grad():\n            raise ValueError('stop')\n"
    "    except ValueError:\n        pass\n    y = x * x\n[len(y.parents), len((x * x).parents)]"
)
ERROR = (
    "x = Value(x)\nseen = 'none'\ntry:\n    with no_grad():\n        raise ValueError('stop')\nexcept ValueError as error:\n"
    "    seen = str(error)\n[seen, len((x * x).parents)]"
)


def probes_4_7(rng: np.random.Generator) -> Iterator[Probe]:
    x, k = (float(n) for n in numbers(rng, 2))
    yield run(ZERO, x=x).expect(None).show()
    yield run(ZERO_NEXT, x=x).expect(2 * x)
    yield run(ZERO_OWN, x=x).expect([2 * x, None, x])
    yield run(ZERO_KEEPS, x=x).expect(2 * x * x)
    yield run(ZERO_FIRST, x=x).expect(None)
    yield run(ZERO_ASKS_NOT, x=x).expect([4 * x**3, None])
    yield run(DETACH_FRESH, x=x).expect([2 * x, 2 * x])
    yield run(DETACH, x=2.0).expect([8.0, 4.0])
    yield run(DETACH, x=x).expect([x**3, x * x])
    yield run(DETACH_SHARES, x=x).expect(np.array(99.0)).show()
    yield run(DETACH_OTHER, x=x, k=k).expect([0, 2, False])
    yield run(RETAIN, x=x).expect([4 * x**3, 2 * x * x, None])
    yield run(RETAIN_ONE, x=x).expect([None, 2 * x**4, None])
    yield run(RETAIN_TWICE, x=x).expect(8 * x)
    yield run(RETAIN_LATER, x=x).expect(4 * x)
    yield run(OFF, x=x).expect([x * x, 0, 2])
    yield run(NESTED, x=x).expect([0, 0, 2])
    yield run(THREE, x=x).expect([0, 2])
    yield run(INNER_ERROR, x=x).expect([0, 2])
    yield run(WAITING, x=x).expect([2, 0])
    yield run(ERROR, x=x).expect(["stop", 2])


def zero_with_a_number(self: Any) -> None:
    self.grad = 0.0


def zero_in_place(self: Any) -> None:
    self.grad *= 0.0


def detach_copies(self: Any) -> Any:
    return type(self)(self.data.copy())


def detach_itself(self: Any) -> Any:
    self.parents = self.slopes = ()
    return self


def detach_not_at_all(self: Any) -> Any:
    return type(self)(self.data, self.parents, self.slopes)


def retain_by_number(self: Any) -> None:
    self.grad = 0.0


def zero_of_nothing(self: Any) -> None:
    self.grad = 0.0 if self.grad is None else None


def zero_and_keep(self: Any) -> None:
    self.grad, self.keeps_grad = None, True


def retain_from_now(self: Any) -> None:
    self.keeps_grad = True
    self.grad = None if self.grad is None else 0.0


def zero_everywhere(self: Any) -> None:
    self.grad = None
    for p in self.parents:
        p.zero_grad()


def zero_and_keep_no_more(self: Any) -> None:
    self.grad = None
    self.keeps_grad = False


def zero_deleted(self: Any) -> None:
    del self.grad


def detach_all_but_history(self: Any) -> Any:
    out = type(self)(self.data)
    out.grad, out.keeps_grad = self.grad, self.keeps_grad
    return out


def detach_the_array(self: Any) -> Any:
    return self.data


def detach_both(self: Any) -> Any:
    self.parents = self.slopes = ()
    return type(self)(self.data)


def retain_parents_too(self: Any) -> None:
    self.keeps_grad = True
    for p in self.parents:
        p.keeps_grad = True


def retain_for_all(self: Any) -> None:
    type(self).keeps_grad = True


def retain_or_not(self: Any) -> None:
    self.keeps_grad = not self.keeps_grad


def retain_from_zero(self: Any) -> None:
    self.keeps_grad = True
    self.grad = 0.0


def switch_with_one_note(Value: Any) -> Any:
    """no_grad that notes the state on the class: right for two blocks in each other, not for three."""

    class no_grad:
        before = True

        def __enter__(self) -> None:
            no_grad.before, Value.recording = Value.recording, False

        def __exit__(self, *error: object) -> None:
            Value.recording, no_grad.before = no_grad.before, True

    return no_grad


def switch_turned_over(Value: Any) -> Any:
    class no_grad:
        def __enter__(self) -> None:
            Value.recording = not Value.recording

        def __exit__(self, *error: object) -> None:
            Value.recording = not Value.recording

    return no_grad


def switch_too_soon(Value: Any) -> Any:
    """no_grad that switches off when it is made, not when it is entered."""

    class no_grad:
        def __init__(self) -> None:
            self.before, Value.recording = Value.recording, False

        def __enter__(self) -> None:
            pass

        def __exit__(self, *error: object) -> None:
            Value.recording = self.before

    return no_grad


def switch_of_its_own(Value: Any) -> Any:
    class no_grad:
        def __enter__(self) -> None:
            self.recording = False

        def __exit__(self, *error: object) -> None:
            self.recording = True

    return no_grad


def switch_on_after_errors(Value: Any) -> Any:
    class no_grad:
        def __enter__(self) -> None:
            self.before, Value.recording = Value.recording, False

        def __exit__(self, *error: object) -> None:
            Value.recording = self.before if error[0] is None else True

    return no_grad


def switch_counting(Value: Any) -> Any:
    """Right: recording goes on when the last open block is left."""

    class no_grad:
        depth = 0

        def __enter__(self) -> None:
            no_grad.depth += 1
            Value.recording = False

        def __exit__(self, *error: object) -> None:
            no_grad.depth -= 1
            Value.recording = no_grad.depth == 0

    return no_grad


def switch_on_again(Value: Any) -> Any:
    """no_grad that turns recording on at its end, whatever it found."""

    class no_grad:
        def __enter__(self) -> None:
            Value.recording = False

        def __exit__(self, *error: object) -> None:
            Value.recording = True

    return no_grad


def switch_unguarded(Value: Any) -> Any:
    """no_grad as a generator without try: an exception jumps over the last line."""

    @contextlib.contextmanager
    def no_grad() -> Iterator[None]:
        before, Value.recording = Value.recording, False
        yield
        Value.recording = before

    return no_grad


def switch_for_ever(Value: Any) -> Any:
    class no_grad:
        def __enter__(self) -> None:
            Value.recording = False

        def __exit__(self, *error: object) -> None:
            pass

    return no_grad


def switch_swallows(Value: Any) -> Any:
    """no_grad whose __exit__ returns True: every error inside disappears."""

    class no_grad:
        def __enter__(self) -> None:
            self.before, Value.recording = Value.recording, False

        def __exit__(self, *error: object) -> bool:
            Value.recording = self.before
            return True

    return no_grad


def switch_with_try(Value: Any) -> Any:
    """Right: a generator whose last line runs whatever happens."""

    @contextlib.contextmanager
    def no_grad() -> Iterator[None]:
        before, Value.recording = Value.recording, False
        try:
            yield
        finally:
            Value.recording = before

    return no_grad


def cut_slowly(self: Any) -> Any:
    out = type(self)(0.0)
    out.data = self.data
    return out


EXERCISE_4_7 = program(
    "4.7", ("Value.zero_grad", "Value.detach", "Value.retain_grad", "no_grad"),
    why="None of the four computes anything: each only changes what is kept or what is recorded.",
    title="four methods for your engine",
    minutes=14,
    points=2.0,
    scaffold=given,
    prelude="Value.recording = True",
    probes=probes_4_7,
    wrong=[
        Wrong(engine(zero_grad=zero_with_a_number), "M07", "After zero_grad you show 0. PyTorch shows None: 'nothing "
              "has arrived' is not 'what arrived adds up to 0'. Which of the two is true here?", name="zero is 0"),
        Wrong(engine(zero_grad=zero_in_place), "M07", "zero_grad multiplies what is there with 0. Before the first pass, "
              "what is there?", name="zero in place"),
        Wrong(engine(zero_grad=zero_of_nothing), "M05", "Where nothing had arrived yet, zero_grad put a 0. Is nothing the "
              "same as a 0 that somebody worked out?", name="0 of nothing"),
        Wrong(engine(zero_grad=zero_and_keep), "M02", "After zero_grad an inner value keeps what arrives, though nobody "
              "called retain_grad. What else does your zero_grad write?", name="zero and keep"),
        Wrong(engine(retain_grad=retain_from_now), "M07", "Called on a value that holds a gradient, retain_grad took it away. "
              "It speaks of what will arrive: what happens to what is there?", name="retain from now"),
        Wrong(engine(zero_grad=zero_everywhere), "M24", "zero_grad of y cleared x as well. Whose gradient does "
              "y.zero_grad() speak of?", name="zero everywhere"),
        Wrong(engine(zero_grad=zero_and_keep_no_more), "M02", "After zero_grad a value that had been asked to keep its "
              "gradient keeps it no more. Clearing what arrived, and forgetting the wish: are they the same?",
              name="zero forgets the wish"),
        Wrong(engine(zero_grad=zero_deleted), "M07", "The attribute itself is gone, and the next look at x.grad raises. "
              "What does PyTorch show where nothing has arrived?", name="zero deletes"),
        Wrong(engine(detach=detach_all_but_history), "M12", "The detached value came with a gradient of the old one. It is "
              "another value: what has arrived at it so far?", name="detach keeps the gradient"),
        Wrong(engine(detach=detach_the_array), "M14", "detach gave the bare array. It should give a value that one can go "
              "on computing with: what wraps numbers?", name="detach the array"),
        Wrong(engine(detach=detach_both), "M12", "The new value is right, and the old one has lost its history too. "
              "Whose edge should be cut?", name="detach both"),
        Wrong(engine(retain_grad=retain_parents_too), "M02", "The value's parents keep their gradients now as well. Who "
              "was asked?", name="retain parents too"),
        Wrong(engine(retain_grad=retain_for_all), "M02", "What arrived at the value was not kept, though something was "
              "written down. Which attribute does backward look at, and on whom: the value, or the class?",
              name="retain for all"),
        Wrong(engine(retain_grad=retain_or_not), "M02", "Asked twice, the value keeps nothing: the second call took the "
              "first one back. What should retain_grad leave behind, whatever was there?", name="retain or not"),
        Wrong(engine(retain_grad=retain_from_zero), "M07", "Right after retain_grad the gradient shows 0, though nothing "
              "has arrived. Which attribute is enough?", name="retain from 0"),
        Wrong(engine(no_grad=switch_with_one_note), "M49", "Two blocks in each other work, three do not: there is one note "
              "for all of them, and the innermost overwrites it. Where can each block keep its own?",
              name="no_grad, one note"),
        Wrong(engine(no_grad=switch_turned_over), "M49", "A block inside a block switched recording *on*: yours turns the "
              "state round. Which state should every block have inside?", name="no_grad turned over"),
        Wrong(engine(no_grad=switch_too_soon), "M49", "Recording stops as soon as no_grad() is written, before any block "
              "is entered. Which method runs at the beginning of a with?", name="no_grad too soon"),
        Wrong(engine(no_grad=switch_of_its_own), "M49", "Inside the block everything is recorded all the same. Which switch "
              "does Value look at, and what does it find there?", name="no_grad of its own"),
        Wrong(engine(no_grad=switch_on_after_errors), "M49", "After an error in an inner block recording is on, though the "
              "outer block still runs. Which state should a block give back, error or not?", name="no_grad on after errors"),
        Wrong(engine(detach=detach_copies), "M12", "You gave the detached value numbers of its own. Writing into it "
              "should change x as well: what do the two share in PyTorch?", name="detach copies"),
        Wrong(engine(detach=detach_itself), "M12", "You cut the value itself: now it has lost its history for "
              "everybody. detach leaves y alone and returns another value. What do they share?", name="detach itself"),
        Wrong(engine(detach=detach_not_at_all), "M12", "The new value still knows its parents, so gradients still "
              "flow through it. What should a value without a history know?", name="detach keeps parents"),
        Wrong(engine(retain_grad=retain_by_number), "M02", "You put 0 into grad. The question is whether y *keeps* what "
              "arrives later. Which attribute does backward look at?", name="retain writes 0"),
        Wrong(engine(no_grad=switch_on_again), "M49", "Leaving the inner block switched recording on, though the outer "
              "block was still running. Which state should a block give back?", name="no_grad on too early"),
        Wrong(engine(no_grad=switch_unguarded), "M49", "After an error inside the block nothing is recorded any more. "
              "Which of your lines was jumped over, and how can it be made to run?", name="no_grad and errors"),
        Wrong(engine(no_grad=switch_for_ever), "M49", "After the block nothing is recorded any more. Who switches it on "
              "again?", name="no_grad for ever"),
        Wrong(engine(no_grad=switch_swallows), "M49", "An error raised inside the block never came out of it. What does "
              "a true answer of __exit__ mean to Python?", name="no_grad swallows"),
    ],
    alternatives=[engine(), engine(no_grad=switch_with_try), engine(detach=cut_slowly),
                  engine(no_grad=switch_counting)],
    hints=[
        "Three of the four are one line each. Read the given class: which attribute does each of them concern?",
        "A counter that is set to 5, used in a block and given back must be 5 again, and not 1, even after an error.",
        "no_grad: on entering, note the state and switch off; on leaving, put the noted state back.",
    ],
    worked="zero_grad sets grad to None. detach returns Value(self.data). retain_grad sets keeps_grad to True. "
           "no_grad notes Value.recording when entered, sets it to False, and puts the noted state back in __exit__.",
)  # fmt: skip

# --- 4.8 and 4.9 ----------------------------------------------------------------------------------------------

EXERCISE_4_8 = prediction(
    "4.8", [3, 5, None],
    why="Each call builds its own graph from the operations that it ran.",
    title="one function, two graphs",
    minutes=5,
    wrong=[
        Wrong([3, 3, None], "M47", "The second call starts from 1: how often must 1 be doubled to pass 20?"),
        Wrong([5, 5, None], "M47", "The first call starts from 3: 6, 12, 24. Is there one graph for both calls?"),
        Wrong([5, 3, None], "M47", "Both numbers are on the list, at the wrong places. Which start needs more doublings?"),
        Wrong([8, 32, None], "M47", "8 and 32 are the slopes. How many doublings make each?"),
        Wrong([1, 1, None], "M47", "The line v = v * 2 stands there once. How often does it run?"),
        Wrong([3, 5, 0], "M05", "The branch with y never ran. Is there a path from the result to y, along which a 0 "
              "could come?"),
        Wrong([4, 6, None], "M47", "The condition is asked once more than the line runs. Which of the two leaves a "
              "node?"),
    ],
    hints=[
        "Only what ran is in the graph.",
        "From 7 the loop runs twice: 14, 28. It leaves two nodes.",
        "For the third number: did any line that ran mention y?",
    ],
)  # fmt: skip

EXERCISE_4_9 = prediction(
    "4.9", "c",
    why="Under no_grad nothing is recorded, so nothing is saved; detach leaves the graph that was already built.",
    title="what no_grad saves",
    minutes=4,
    options={"a": "both save the same: in the end neither result has a graph",
             "b": "no_grad only postpones: the graph is written when backward is called",
             "c": "no_grad writes no node and keeps no number; detach throws away what was already written",
             "d": "detach saves more, because it also frees the numbers of the result"},
    wrong=[
        Wrong("a", "M48", "At the end they look alike. What had been kept just before the cut?"),
        Wrong("b", "M09", "The graph is written while the code runs, or never. Can backward be called on something "
              "made under no_grad?"),
        Wrong("d", "M12", "A detached tensor shares the numbers of the result. Are they freed?"),
    ],
    hints=[
        "Saving happens when an operation runs.",
        "A hundred layers detached at the end were recorded a hundred times first.",
        "Compare the moment before the cut with a run under no_grad.",
    ],
)  # fmt: skip

# --- the twelve programs of the reading notebook --------------------------------------------------------------

PREDICTION_4_0 = prediction(
    "4.0", "b", points=0,
    title="running backward again",
    options={"a": "x.grad is the same as before", "b": "an error", "c": "x.grad has doubled"},
    wrong=[
        Wrong("a", "M01", "A pass adds to what is there. Would it be the same?"),
        Wrong("c", "M10", "That would be 2 + 2. The product kept a number for its slope: is it still there?"),
    ],
)  # fmt: skip

PREDICTION_4_1A = prediction(
    "4.1a", "b", points=0,
    title="the grad_fn of x",
    options={"a": "SumBackward0, as for z", "b": "None", "c": "the addition that made its numbers"},
    wrong=[
        Wrong("a", "M09", "That node made z. Which operation made x?"),
        Wrong("c", "M09", "You wrote its numbers down. Was any operation recorded?"),
    ],
)  # fmt: skip

PREDICTION_4_2A = prediction(
    "4.2a", [None, None], points=0,
    title="gradients of y and of a bystander",
    wrong=[
        Wrong([1, 0], "M02", "1 did pass through y. Was it kept? And 0 is not the same as nothing."),
        Wrong([1, None], "M02", "1 did pass through y. Was it kept?"),
        Wrong([[1, 1], None], "M02", "Ones did pass through y. Were they kept?"),
        Wrong([None, 0], "M05", "No path leads to the bystander. Is that 0, or nothing?"),
        Wrong([0, 0], "M05", "Nothing was kept, and nothing arrived. Is that 0?"),
    ],
)  # fmt: skip

PREDICTION_4_3A = prediction(
    "4.3a", [4, 4], points=0,
    title="x + x, two passes",
    wrong=[
        Wrong([2, 2], "M01", "That is one pass. The second is not refused here, and adds."),
        Wrong("error", "M10", "A sum's slope is 1, whatever x is. Did it save anything that could be gone?"),
    ],
)  # fmt: skip

PREDICTION_4_3B = prediction(
    "4.3b", [5, 5], points=0,
    title="two losses, one x",
    wrong=[
        Wrong([3, 3], "M01", "That is what the second pass adds. What was there?"),
        Wrong([2, 2], "M01", "That is what the first pass adds. Does the second leave no trace?"),
        Wrong([6, 6], "M22", "2 times 3. Do passes multiply?"),
    ],
)  # fmt: skip

PREDICTION_4_4A = prediction(
    "4.4a", [False, False], points=0,
    title="requires_grad of the two",
    wrong=[
        Wrong([True, False], "M12", "Under no_grad nothing is written. Can the result know a history?"),
        Wrong([False, True], "M12", "detach returns a tensor without history. What does it require?"),
        Wrong([True, True], "M12", "Both are made to have no history."),
    ],
)  # fmt: skip

PREDICTION_4_4B = prediction(
    "4.4b", [100, 3], points=0,
    title="writing into a detached tensor",
    wrong=[
        Wrong([2, 3], "M12", "detach cuts the history. Does it copy the numbers?"),
    ],
)  # fmt: skip

PREDICTION_4_4C = prediction(
    "4.4c", "a", points=0,
    title="backward behind a detach",
    options={"a": "an error", "b": "15 in x.grad", "c": "None in x.grad, silently"},
    wrong=[
        Wrong("b", "M12", "15 is the slope without detach. Is there still a way back?"),
        Wrong("c", "M12", "The tensor backward is called on has no history at all. Does PyTorch stay silent then?"),
    ],
)  # fmt: skip

PREDICTION_4_5A = prediction(
    "4.5a", False, points=0,
    title="requires_grad after an update under no_grad",
    wrong=[
        Wrong(True, "M17", "The right-hand side was computed under no_grad. What does its result know of w?"),
    ],
)  # fmt: skip

PREDICTION_4_6A = prediction(
    "4.6a", "b", points=0,
    title="changing an input of a sum and of a product",
    options={"a": "both raise", "b": "only the product raises", "c": "neither raises"},
    wrong=[
        Wrong("a", "M15", "The slope of b + 1 is 1. What would the sum have had to save?"),
        Wrong("c", "M15", "The slope of b * b needs b, as it was. Is it still there?"),
    ],
)  # fmt: skip

PREDICTION_4_8A = prediction(
    "4.8a", "c", points=0,
    title="the gradient of the branch not taken",
    options={"a": "0", "b": "3", "c": "None"},
    wrong=[
        Wrong("a", "M05", "No line that ran mentions k. Is there a path?"),
        Wrong("b", "M47", "3 would be right if the other branch had run. Did it?"),
    ],
)  # fmt: skip

PREDICTION_4_9A = prediction(
    "4.9a", [30, 0], points=0,
    title="numbers kept with detach and with no_grad",
    wrong=[
        Wrong([0, 0], "M48", "no_grad keeps none. But when does detach come: before the operations run, or after?"),
        Wrong([30, 30], "M48", "With detach, 30 are kept until the cut. Under no_grad, is anything written?"),
        Wrong([0, 30], "M48", "The other way round: which of the two acts while the operations run?"),
    ],
)  # fmt: skip

PREDICTION_4_5B = prediction(
    "4.5b", "d", points=0,
    title="an update that leaves a trainable w",
    options={"a": "w = w - 0.3", "b": "w = w - 0.3 under no_grad", "c": "w -= 0.3", "d": "w -= 0.3 under no_grad"},
    wrong=[
        Wrong("a", "M17", "That is 1.7, but a new tensor, the result of a subtraction. Is it a leaf?"),
        Wrong("b", "M17", "That is the program you have just run: 1.7, but what did requires_grad say?"),
        Wrong("c", "M16", "In place is right: w stays w. But this line would be recorded as part of the model. Does "
              "PyTorch allow that for a leaf?"),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_4_0, PREDICTION_4_1A, PREDICTION_4_2A, PREDICTION_4_3A, PREDICTION_4_3B, PREDICTION_4_4A,
    PREDICTION_4_4B, PREDICTION_4_4C, PREDICTION_4_5A, PREDICTION_4_5B, PREDICTION_4_6A, PREDICTION_4_8A, PREDICTION_4_9A,
    EXERCISE_4_1, EXERCISE_4_2, EXERCISE_4_3, EXERCISE_4_4, EXERCISE_4_5, EXERCISE_4_6, EXERCISE_4_7,
    EXERCISE_4_8, EXERCISE_4_9,
)  # fmt: skip

LESSON = Lesson(
    number=4,
    slug="04_pytorch_semantics",
    title="What PyTorch does with the same code",
    after=(3,),
    idea="Leaves keep gradients and add them up, a graph is freed by its first pass, and a name is not a tensor.",
    introduces=(
        "attempt", "is_leaf", "before", "zero_", "no_grad", "detach", "is_grad_enabled", "sub_", "full", "clone",
        "add_", "item", "numel", "element_size", "autograd", "graph", "saved_tensors_hooks", "numpy", "recording",
        "slopes", "asarray", "dtype", "keeps_grad", "born", "zero_grad", "__enter__", "__exit__",
        "warnings", "catch_warnings", "simplefilter", "retain_grad",
    ),
    misconceptions=("M01", "M02", "M03", "M05", "M07", "M10", "M12", "M15", "M16", "M17", "M47", "M48", "M49"),
    with_engine=True,
    locked=True,
    exercises=EXERCISES,
)  # fmt: skip
