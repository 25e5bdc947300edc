"""Lesson 03: the student's own engine on single numbers: two operations, tanh, the order, the walk, a step of training.

Each exercise is judged alone. The operations are asked through their own `_backward`, with an upstream gradient
that is not 1; the order and the walk get graphs built by `plus` and `times` below, so that a slip in an earlier
exercise cannot spoil a later one. The graph y = c + d + c*d with c = a + b, d = a*b tells seven slips apart.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..exercise import Exercise, Lesson, Probe, Wrong, numbers, prediction, program, run


def given() -> dict[str, Any]:
    """The code that the exercise notebook hands out, freshly made."""

    class Value:
        def __init__(self, data: float, parents: tuple[Any, ...] = (), op: str = "") -> None:
            self.data = data
            self.grad = 0.0
            self.parents = parents
            self.op = op
            self._backward: Callable[[], None] = lambda: None

    return {"Value": Value}


def made(self: Any, other: Any, data: float, op: str, push: Callable[[Any], None]) -> Any:
    """A new value with this push; `push` gets the new value."""
    out = type(self)(data, (self, other) if other is not None else (self,), op)
    out._backward = lambda: push(out)
    return out


# --- 3.1 add --------------------------------------------------------------------------------------------------

ADD = "a, b = Value(a), Value(b)\nc = a + b\nc.grad = g\nc._backward()\n[c.data, a.grad, b.grad]"
ADD_SAME = "x = Value(x)\nc = x + x\nc.grad = g\nc._backward()\nx.grad"
ADD_SAME_TWICE = "x = Value(x)\nx.grad = s\nc = x + x\nc.grad = g\nc._backward()\nx.grad"
ADD_TWICE = "a, b = Value(a), Value(b)\na.grad, b.grad = s, -s\nc = a + b\nc.grad = g\nc._backward()\n[a.grad, b.grad]"
ADD_QUIET = "a, b = Value(a), Value(b)\nc = a + b\n[a.grad, b.grad, c.grad]"
ADD_AGAIN = (
    "a, b = Value(a), Value(b)\nc = a + b\nc.grad = g\nc._backward()\nc._backward()\n"
    "[a.grad, b.grad, c.grad, a.data, b.data]"
)
ADD_TWO = "a, b = Value(a), Value(b)\nc = a + b\nd = b + b\nc.grad = g\nc._backward()\n[a.grad, b.grad, d.grad]"
ADD_SELF = "x = Value(x)\nc = x + x\nx.grad = g\n[len(c.parents), c.parents[0].grad, c.data, x.data]"
ADD_ALONE = "a, b = Value(a), Value(b)\nc = a + b\nd = c + a\nd.grad = g\nd._backward()\n[a.grad, b.grad, c.grad]"
ADD_PARENTS = "a, b = Value(a), Value(b)\nc = a + b\n[*(p.data for p in c.parents), c.op]"
LINKS = 'c.parents holds both inputs, (self, other), and c.op is the sign of the operation: "{}".'


def probes_3_1(rng: np.random.Generator) -> Iterator[Probe]:
    a, b, g = (float(n) for n in numbers(rng, 3))
    yield run(ADD, a=2.0, b=3.0, g=5.0).expect([5.0, 5.0, 5.0]).show()
    yield run(ADD, a=a, b=b, g=g).expect([a + b, g, g])
    yield run(ADD_SAME, x=2.0, g=1.5).expect(3.0)
    yield run(ADD, a=a, b=b, g=-1000.0).expect([a + b, -1000.0, -1000.0])
    yield run(ADD, a=0.0, b=-b, g=2.5).expect([-b, 2.5, 2.5])
    yield run(ADD_TWICE, a=a, b=b, g=g, s=10.0).expect([10 + g, -10 + g])
    yield run(ADD_TWICE, a=1.5, b=1.5, g=g, s=-20.0).expect([-20 + g, 20 + g])
    yield run(ADD_SAME_TWICE, x=a, g=g, s=10.0).expect(10 + 2 * g)
    yield run(ADD_AGAIN, a=a, b=b, g=g).expect([2 * g, 2 * g, g, a, b])
    yield run(ADD_TWO, a=a, b=b, g=g).expect([g, g, 0.0])
    yield run(ADD_SELF, x=a, g=g).expect([2, g, 2 * a, a]).on(
        "c = x + x has two parents, (x, x): the objects themselves, not their numbers."
    )
    yield run(ADD_ALONE, a=a, b=b, g=g).expect([g, 0.0, g])
    yield run(ADD, a=-a, b=2.5, g=1000.0).expect([2.5 - a, 1000.0, 1000.0])
    yield run(ADD_QUIET, a=a, b=b).expect([0.0, 0.0, 0.0])
    yield run(ADD_PARENTS, a=a, b=b).expect([a, b, "+"]).on(LINKS.format("+"))


def add_overwrites(self: Any, other: Any) -> Any:
    def push(out: Any) -> None:
        self.grad = out.grad
        other.grad = out.grad

    return made(self, other, self.data + other.data, "+", push)


def add_of_itself(self: Any, other: Any) -> Any:
    def push(out: Any) -> None:
        self.grad += self.grad
        other.grad += other.grad

    return made(self, other, self.data + other.data, "+", push)


def add_same_overwrites(self: Any, other: Any) -> Any:
    def push(out: Any) -> None:
        if self is other:
            self.grad = 2 * out.grad
        else:
            self.grad += out.grad
            other.grad += out.grad

    return made(self, other, self.data + other.data, "+", push)


def add_ones(self: Any, other: Any) -> Any:
    def push(out: Any) -> None:
        self.grad += 1.0
        other.grad += 1.0

    return made(self, other, self.data + other.data, "+", push)


def add_one_side(self: Any, other: Any) -> Any:
    def push(out: Any) -> None:
        self.grad += out.grad

    return made(self, other, self.data + other.data, "+", push)


def add_like_times(self: Any, other: Any) -> Any:
    def push(out: Any) -> None:
        self.grad += other.data * out.grad
        other.grad += self.data * out.grad

    return made(self, other, self.data + other.data, "+", push)


def add_overwrites_one(self: Any, other: Any) -> Any:
    def push(out: Any) -> None:
        self.grad += out.grad
        other.grad = out.grad

    return made(self, other, self.data + other.data, "+", push)


def add_skips_itself(self: Any, other: Any) -> Any:
    def push(out: Any) -> None:
        self.grad += out.grad
        if other is not self:
            other.grad += out.grad

    return made(self, other, self.data + other.data, "+", push)


def add_spends_it(self: Any, other: Any) -> Any:
    def push(out: Any) -> None:
        self.grad += out.grad
        other.grad += out.grad
        out.grad = 0.0

    return made(self, other, self.data + other.data, "+", push)


def add_held_early(self: Any, other: Any) -> Any:
    held = self.grad, other.grad

    def push(out: Any) -> None:
        self.grad, other.grad = held[0] + out.grad, held[1] + out.grad

    return made(self, other, self.data + other.data, "+", push)


def add_runs_its_parents(self: Any, other: Any) -> Any:
    def push(out: Any) -> None:
        for parent in (self, other):
            parent.grad += out.grad
            parent._backward()

    return made(self, other, self.data + other.data, "+", push)


def add_parents_copied(self: Any, other: Any) -> Any:
    out = add_plainly(self, other)
    out.parents = (type(self)(self.data), type(self)(other.data))
    return out


def add_reads_early(self: Any, other: Any) -> Any:
    out = type(self)(self.data + other.data, (self, other), "+")
    g = out.grad

    def push() -> None:
        self.grad += g
        other.grad += g

    out._backward = push
    return out


def add_called(self: Any, other: Any) -> Any:
    out = add_plainly(self, other)
    out._backward = out._backward()
    return out


def add_returns_nothing(self: Any, other: Any) -> None:
    add_plainly(self, other)


def add_returns_a_number(self: Any, other: Any) -> Any:
    return self.data + other.data


def add_parents_in_a_set(self: Any, other: Any) -> Any:
    out = add_plainly(self, other)
    out.parents = tuple(dict.fromkeys((self, other)))
    return out


def add_parents_turned(self: Any, other: Any) -> Any:
    out = add_plainly(self, other)
    out.parents = (other, self)
    return out


def add_half(self: Any, other: Any) -> Any:
    def push(out: Any) -> None:
        self.grad += out.grad / 2
        other.grad += out.grad / 2

    return made(self, other, self.data + other.data, "+", push)


def add_like_minus(self: Any, other: Any) -> Any:
    def push(out: Any) -> None:
        self.grad += out.grad
        other.grad -= out.grad

    return made(self, other, self.data + other.data, "+", push)


def add_at_once(self: Any, other: Any) -> Any:
    out = type(self)(self.data + other.data, (self, other), "+")
    self.grad += 1.0
    other.grad += 1.0
    return out


def add_forgotten(self: Any, other: Any) -> Any:
    return type(self)(self.data + other.data, (self, other), "+")


def add_without_parents(self: Any, other: Any) -> Any:
    out = add_plainly(self, other)
    out.parents = ()
    return out


def add_without_name(self: Any, other: Any) -> Any:
    out = add_plainly(self, other)
    out.op = ""
    return out


def add_plainly(self: Any, other: Any) -> Any:
    out = type(self)(self.data + other.data, (self, other), "+")

    def push() -> None:
        self.grad += out.grad
        other.grad += out.grad

    out._backward = push
    return out


def add_with_partial(self: Any, other: Any) -> Any:
    """Right: the push is an ordinary function with its first arguments filled in."""
    out = type(self)(self.data + other.data, [self, other], "+")
    out._backward = functools.partial(hand_on, out)
    return out


def hand_on(out: Any) -> None:
    for parent in out.parents:
        parent.grad += out.grad


def add_in_a_loop(self: Any, other: Any) -> Any:
    def push(out: Any) -> None:
        for parent in out.parents:
            parent.grad = parent.grad + 1.0 * out.grad

    return made(self, other, sum([self.data, other.data]), "+", push)


# No probe tells these two apart: a push that c does not have, and one that passes on the 0 it read too early.
NOTHING_BACK = (
    "The value is right, but no gradient reaches the inputs. Is your inner function stored in out._backward? Does it read "
    "out.grad when it runs, or was out.grad read earlier, when it was still 0? And does it add to .grad of both inputs?"
)

EXERCISE_3_1 = program(
    "3.1", "Value.__add__",
    why="A sum has the derivative 1 for both operands, so each gets the upstream gradient, and += keeps what arrived before.",
    title="plus, with its backward",
    minutes=8,
    scaffold=given,
    probes=probes_3_1,
    wrong=[
        Wrong(add_overwrites, "M19", "What was in .grad before is gone. In x + x two contributions arrive at x, and only "
              "the last one is left. What should happen to two contributions at the same value?"),
        Wrong(add_same_overwrites, "M19", "You treat x + x as a special case and write = 2 * ... there, so what was in "
              "x.grad before is gone. Is the special case needed if each of the two contributions is added?"),
        Wrong(add_of_itself, "M23", "Each input adds its *own* gradient to itself, and c.grad is never read, so no "
              "gradient comes back. Which gradient has to be passed to the inputs?"),
        Wrong(add_ones, "M23", "Each input gets 1, the local derivative of a sum. That is right only if the upstream "
              "gradient is 1, but here it is 5. Where does the upstream gradient enter?"),
        Wrong(add_one_side, "", "The left input has its gradient, but the right input got nothing. How many inputs "
              "does a sum have?"),
        Wrong(add_like_times, "M29", "Each input got the value of the other one as its local derivative. That is the rule "
              "of another operation. How fast does a + b grow when only a grows?"),
        Wrong(add_at_once, "M09", "The gradients were written while the sum was computed, before the upstream gradient "
              "was known. When should this code run, and how can you store it until then?"),
        Wrong(add_forgotten, "", NOTHING_BACK, alike="nothing back"),
        Wrong(add_reads_early, "", NOTHING_BACK, alike="nothing back"),
        Wrong(add_overwrites_one, "M19", "The left input adds its contribution, but the right one is overwritten: what was "
              "in its .grad before is gone. What should happen to two contributions at the same value?"),
        Wrong(add_skips_itself, "M19", "In x + x one contribution is missing. x is the left input and the right input: "
              "how fast does x + x grow when x grows?"),
        Wrong(add_held_early, "M19", "You stored the gradients of the inputs when the sum was made, and you add to these "
              "stored numbers. Other operations may have added to them since. When should .grad be read?"),
        Wrong(add_spends_it, "M24", "After c._backward() the gradient of c itself is gone, so it can no longer be read. "
              "Which part of an engine sets gradients back to 0: an operation, or the backward pass?"),
        Wrong(add_called, "", "Calling _backward raises an error, because None is not a function. Do the brackets after "
              "the name of the inner function store that function, or do they run it?"),
        Wrong(add_returns_nothing, "", "a + b is None. You made a new Value but did not return it. Which statement does "
              "that?"),
        Wrong(add_returns_a_number, "", "a + b is a plain number, and a plain number has no parents and no gradient. "
              "Which class of object has them?"),
        Wrong(add_parents_in_a_set, "", "x + x has two parents that are the same value, but your result has only one "
              "parent. What does a set do with two equal members?"),
        Wrong(add_parents_copied, "", "The parents have the right numbers, but they are two new values. A backward pass "
              "that follows them never reaches a and b. Which objects should the parents be?"),
        Wrong(add_runs_its_parents, "M20", "The _backward of your sum also runs the _backward of its parents. Other "
              "values that use these parents may not have run yet. Which part of an engine decides when a value runs?"),
        Wrong(add_parents_turned, "", "The parents are there, but in the wrong order: c = a + b was made from a, then b."),
        Wrong(add_half, "M22", "Each input got half of the upstream gradient. If only a grows by a little, does a + b "
              "grow by half of that?"),
        Wrong(add_like_minus, "", "The contribution to the right input has the wrong sign. That is the rule of a "
              "difference. Does a + b fall when b grows?"),
        Wrong(add_without_parents, "", "Values and gradients are right, but c does not know its parents. How could a "
              "backward pass find the way from c to a and b?"),
        Wrong(add_without_name, "", 'All numbers are right, but c.op is missing. Set it to "+", so that the stepper '
              "can show it."),
    ],
    alternatives=[add_plainly, add_in_a_loop, add_with_partial],
    hints=[
        "__add__ makes a new Value and attaches a function to it. This function runs later, when the gradient of the new "
        "Value is known.",
        "In the lesson, minus does the same with another sign: make the result, write the inner function, attach it.",
        "Look at the two lines of the inner function: each reads the gradient of the result and adds it to the gradient "
        "of one input.",
    ],
    worked="Make out = Value(sum of data, (self, other), '+'). Inner function: add out.grad to self.grad and to "
           "other.grad. Store it in out._backward and return out.",
)  # fmt: skip

# --- 3.2 mul --------------------------------------------------------------------------------------------------

MUL, MUL_SAME, MUL_TWICE, MUL_AGAIN, MUL_TWO, MUL_SELF, MUL_ALONE, MUL_QUIET, MUL_PARENTS = (
    text.replace("a + b", "a * b").replace("x + x", "x * x").replace("b + b", "b * b").replace("c + a", "c * a")
    for text in (ADD, ADD_SAME, ADD_TWICE, ADD_AGAIN, ADD_TWO, ADD_SELF, ADD_ALONE, ADD_QUIET, ADD_PARENTS)
)
MUL_THREE = (
    "a, b = Value(a), Value(b)\nc = a * b\nd = c * a\nd.grad = g\nd._backward()\nc._backward()\n[a.grad, b.grad]"
)


def probes_3_2(rng: np.random.Generator) -> Iterator[Probe]:
    a, b, g = (float(n) for n in numbers(rng, 3))
    yield run(MUL, a=2.0, b=3.0, g=5.0).expect([6.0, 15.0, 10.0])
    yield run(MUL, a=a, b=b, g=g).expect([a * b, b * g, a * g])
    yield run(MUL, a=0.0, b=b, g=g).expect([0.0, b * g, 0.0])
    yield run(MUL_SAME, x=2.0, g=1.0).expect(4.0)
    yield run(MUL, a=a, b=b, g=-1000.0).expect([a * b, -1000 * b, -1000 * a])
    yield run(MUL_TWICE, a=a, b=b, g=g, s=10.0).expect([10 + b * g, -10 + a * g])
    yield run(MUL_TWICE, a=1.5, b=1.5, g=g, s=-20.0).expect([-20 + 1.5 * g, 20 + 1.5 * g])
    yield run(ADD_SAME_TWICE.replace("+", "*"), x=a, g=g, s=10.0).expect(10 + 2 * a * g)
    yield run(MUL_AGAIN, a=a, b=b, g=g).expect([2 * b * g, 2 * a * g, g, a, b])
    yield run(MUL_TWO, a=a, b=b, g=g).expect([b * g, a * g, 0.0])
    yield run(MUL_SELF, x=a, g=g).expect([2, g, a * a, a]).on(
        "c = x * x has two parents, (x, x): the objects themselves, not their numbers."
    )
    yield run(MUL_THREE, a=a, b=b, g=g).expect([2 * a * b * g, a * a * g])
    yield run(MUL_ALONE, a=a, b=b, g=g).expect([a * b * g, 0.0, a * g])
    yield run(MUL, a=-2.5, b=0.7, g=1000.0).expect([-1.75, 700.0, -2500.0])
    yield run(MUL, a=1.3, b=-70.0, g=g).expect([-91.0, -70 * g, 1.3 * g])
    yield run(MUL_QUIET, a=a, b=b).expect([0.0, 0.0, 0.0])
    yield run(MUL_PARENTS, a=a, b=b).expect([a, b, "*"]).on(LINKS.format("*"))


def mul_same_overwrites(self: Any, other: Any) -> Any:
    def push(out: Any) -> None:
        if self is other:
            self.grad = 2 * self.data * out.grad
        else:
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

    return made(self, other, self.data * other.data, "*", push)


def product(push: Callable[[Any, Any, Any], None]) -> Callable[[Any, Any], Any]:
    """A __mul__ with this push(self, other, out)."""

    def method(self: Any, other: Any) -> Any:
        return made(self, other, self.data * other.data, "*", lambda out: push(self, other, out))

    method.__name__ = push.__name__
    return method


@product
def mul_own_value(self: Any, other: Any, out: Any) -> None:
    self.grad += self.data * out.grad
    other.grad += other.data * out.grad


@product
def mul_no_upstream(self: Any, other: Any, out: Any) -> None:
    self.grad += other.data
    other.grad += self.data


@product
def mul_overwrites(self: Any, other: Any, out: Any) -> None:
    self.grad = other.data * out.grad
    other.grad = self.data * out.grad


@product
def mul_like_add(self: Any, other: Any, out: Any) -> None:
    self.grad += out.grad
    other.grad += out.grad


@product
def mul_by_the_result(self: Any, other: Any, out: Any) -> None:
    self.grad += out.data * out.grad
    other.grad += out.data * out.grad


@product
def mul_adds_upstream(self: Any, other: Any, out: Any) -> None:
    self.grad += other.data + out.grad
    other.grad += self.data + out.grad


@product
def mul_one_side(self: Any, other: Any, out: Any) -> None:
    self.grad += other.data * out.grad


@product
def mul_by_gradients(self: Any, other: Any, out: Any) -> None:
    self.grad += other.grad * out.grad
    other.grad += self.grad * out.grad


@product
def mul_overwrites_one(self: Any, other: Any, out: Any) -> None:
    self.grad += other.data * out.grad
    other.grad = self.data * out.grad


@product
def mul_skips_itself(self: Any, other: Any, out: Any) -> None:
    self.grad += other.data * out.grad
    if other is not self:
        other.grad += self.data * out.grad


@product
def mul_spends_it(self: Any, other: Any, out: Any) -> None:
    self.grad += other.data * out.grad
    other.grad += self.data * out.grad
    out.grad = 0.0


@product
def mul_upstream_once(self: Any, other: Any, out: Any) -> None:
    self.grad += other.data * out.grad
    other.grad += self.data


@product
def mul_without_signs(self: Any, other: Any, out: Any) -> None:
    self.grad += abs(other.data) * out.grad
    other.grad += abs(self.data) * out.grad


@product
def mul_measured(self: Any, other: Any, out: Any) -> None:
    self.grad += ((self.data + 1e-6) * other.data - out.data) / 1e-6 * out.grad
    other.grad += (self.data * (other.data + 1e-6) - out.data) / 1e-6 * out.grad


@product
def mul_by_division(self: Any, other: Any, out: Any) -> None:
    self.grad += out.data / self.data * out.grad
    other.grad += out.data / other.data * out.grad


def mul_forgotten(self: Any, other: Any) -> Any:
    return type(self)(self.data * other.data, (self, other), "*")


def mul_reads_early(self: Any, other: Any) -> Any:
    out = mul_forgotten(self, other)
    g = out.grad

    def push() -> None:
        self.grad += other.data * g
        other.grad += self.data * g

    out._backward = push
    return out


def mul_returns_nothing(self: Any, other: Any) -> None:
    mul_plainly(self, other)


def mul_called(self: Any, other: Any) -> Any:
    out = mul_plainly(self, other)
    out._backward = out._backward()
    return out


def mul_without_name(self: Any, other: Any) -> Any:
    out = mul_plainly(self, other)
    out.op = ""
    return out


@product
def mul_plainly(self: Any, other: Any, out: Any) -> None:
    self.grad += out.grad * other.data
    other.grad += out.grad * self.data


def mul_with_slopes(self: Any, other: Any) -> Any:
    out = type(self)(self.data * other.data, (self, other), "*")
    slopes = ((self, other.data), (other, self.data))

    def push() -> None:
        for parent, slope in slopes:
            parent.grad = parent.grad + slope * out.grad

    out._backward = push
    return out


def mul_without_parents(self: Any, other: Any) -> Any:
    out = mul_plainly(self, other)
    out.parents = ()
    return out


EXERCISE_3_2 = program(
    "3.2", "Value.__mul__",
    why="The derivative of a product with respect to one factor is the other factor; the upstream gradient multiplies it.",
    title="times, with its backward",
    minutes=8,
    scaffold=given,
    probes=probes_3_2,
    rtol=1e-12,
    atol=1e-13,
    wrong=[
        Wrong(mul_same_overwrites, "M19", "You treat x * x as a special case and write = 2 * ... there, so what was in "
              "x.grad before is gone. Is the special case needed if each of the two contributions is added?"),
        Wrong(mul_own_value, "M43", "Each input was multiplied by its own value: a got 2 * 5. When a grows by 1, by "
              "how much does a * b grow?"),
        Wrong(mul_no_upstream, "M23", "The local derivatives 3 and 2 are right, but the upstream gradient 5 is missing "
              "from the contributions. What does a node do with its upstream gradient?"),
        Wrong(mul_overwrites, "M19", "x * x at 2 leaves 2 in x.grad, but two contributions of 2 arrived. What happened to "
              "the first one?"),
        Wrong(mul_like_add, "M29", "Both inputs got the upstream gradient unchanged. That is the rule of a sum. How fast "
              "does a * b grow when only a grows?"),
        Wrong(mul_by_the_result, "M43", "You multiplied by the value of the product. When only a grows by a little, is "
              "the growth of a * b really a * b times as large?"),
        Wrong(mul_adds_upstream, "M22", "You added the local derivative and the upstream gradient: 3 + 5. What does the "
              "chain rule do with two derivatives along a path?"),
        Wrong(mul_one_side, "", "The left input has its gradient, but the right input got nothing. How many inputs "
              "does a product have?"),
        Wrong(mul_by_gradients, "M43", "You multiplied by the *gradient* of the other input. The local derivative of a "
              "product is a value, not a gradient. Whose value is it?"),
        Wrong(mul_overwrites_one, "M19", "The left input adds its contribution, but the right one is overwritten: what was "
              "in its .grad before is gone. How do your two lines differ?"),
        Wrong(mul_skips_itself, "M19", "x * x at 2 gets one contribution of 2, and the other one is missing. x is both "
              "factors: how many contributions does it get?"),
        Wrong(mul_spends_it, "M24", "After c._backward() the gradient of c itself is gone. Which part of an engine sets "
              "gradients back to 0: an operation, or the backward pass?"),
        Wrong(mul_upstream_once, "M23", "The contribution to the left input contains the upstream gradient, the one to the "
              "right input does not. Do both of your lines have the same three parts?"),
        Wrong(mul_without_signs, "M43", "A factor below zero has lost its sign. How does a * b change when a grows and b "
              "is -3?"),
        Wrong(mul_measured, "M44", "Your contributions are close, but not exact: you measured the derivative with a small "
              "step. No step is needed: which number is the derivative of a * b when only a changes?"),
        Wrong(mul_by_division, "M43", "You divided the product by one factor to get the other one. What happens if that "
              "factor is 0?"),
        Wrong(mul_forgotten, "", NOTHING_BACK, alike="nothing back"),
        Wrong(mul_reads_early, "", NOTHING_BACK, alike="nothing back"),
        Wrong(mul_called, "", "Calling _backward raises an error, because None is not a function. Do the brackets after "
              "the name of the inner function store that function, or do they run it?"),
        Wrong(mul_returns_nothing, "", "a * b is None. You made a new Value but did not return it. Which statement does "
              "that?"),
        Wrong(mul_without_name, "", 'All numbers are right, but c.op is missing. Set it to "*", so that the stepper '
              "can show it."),
        Wrong(mul_without_parents, "", "Values and gradients are right, but c does not know its parents. How could a "
              "backward pass find the way from c to a and b?"),
    ],
    alternatives=[mul_plainly, mul_with_slopes],
    hints=[
        "It is like 3.1, but each edge has a local derivative: multiply the upstream gradient by it before you add.",
        "For 7 * 4 and an upstream gradient of 10, the 7 gets 40 and the 4 gets 70.",
        "Check three things in each line: it adds to what is there, it uses the other input's data, and it uses out.grad.",
    ],
    worked="As in 3.1, with data multiplied and '*'. Inner function: add other.data * out.grad to self.grad, and "
           "self.data * out.grad to other.grad.",
)  # fmt: skip

# --- 3.3 tanh -------------------------------------------------------------------------------------------------

TANH = "n = Value(n)\nt = n.tanh()\nt.grad = g\nt._backward()\n[t.data, n.grad]"
TANH_TWICE = "n = Value(n)\nn.grad = 10.0\nt = n.tanh()\nt.grad = g\nt._backward()\nn.grad"
TANH_AGAIN = "n = Value(n)\nt = n.tanh()\nt.grad = g\nt._backward()\nt._backward()\n[n.grad, t.grad, n.data]"
TANH_LINKS = "n = Value(n)\nt = n.tanh()\nbefore, n.grad = n.grad, g\n[len(t.parents), t.parents[0].grad, before, t.op]"


def tanh_slope(n: float) -> float:
    """4 / (e^n + e^-n)^2: the slope of tanh without tanh."""
    return 4 / (math.exp(n) + math.exp(-n)) ** 2


def probes_3_3(rng: np.random.Generator) -> Iterator[Probe]:
    n, g = float(numbers(rng, 1)[0]) / 2, round(float(rng.uniform(1.1, 4)), 4)

    def right(n: float, g: float) -> list[float]:
        return [(math.exp(2 * n) - 1) / (math.exp(2 * n) + 1), g * tanh_slope(n)]

    yield run(TANH, n=0.7, g=1.0).expect(right(0.7, 1.0)).show()
    yield run(TANH, n=0.7, g=2.5).expect(right(0.7, 2.5))
    yield run(TANH, n=n, g=g).expect(right(n, g))
    yield run(TANH, n=0.0, g=g).expect([0.0, g])
    yield run(TANH_TWICE, n=n, g=g).expect(10 + right(n, g)[1])
    yield run(TANH, n=-4.0, g=-1000.0).expect(right(-4.0, -1000.0))
    yield run(TANH_AGAIN, n=n, g=g).expect([2 * right(n, g)[1], g, n]).on(
        "tanh makes a new value. n.data stays as it was, and so does the upstream gradient t.grad."
    )
    yield run(TANH_LINKS, n=n, g=g).expect([1, g, 0.0, "tanh"]).on('t.parents holds n alone, as (self,), and t.op is "tanh".')


def steps_3_3(probe: Probe) -> dict[str, float]:
    """What a contribution may be made of."""
    n = probe.data["n"]
    return {"t": math.tanh(n), "(1 - t**2)": tanh_slope(n), "(1 - n**2)": 1 - n * n}


def bent(slope: Callable[[float, float, float], float], name: str) -> Callable[[Any], Any]:
    """A tanh method whose push adds slope(x, t, g)."""

    def method(self: Any) -> Any:
        t = math.tanh(self.data)

        def push(out: Any) -> None:
            self.grad += slope(self.data, t, out.grad)

        return made(self, None, t, "tanh", push)

    method.__name__ = name
    return method


def of_half(self: Any) -> Any:
    t = math.tanh(self.data / 2)

    def push(out: Any) -> None:
        self.grad += (1 - t * t) * out.grad

    return made(self, None, t, "tanh", push)


def tanh_overwrites(self: Any) -> Any:
    t = math.tanh(self.data)

    def push(out: Any) -> None:
        self.grad = (1 - t * t) * out.grad

    return made(self, None, t, "tanh", push)


def tanh_late(self: Any) -> Any:
    """Right: the slope is worked out from the result when it is needed."""

    def push(out: Any) -> None:
        self.grad += out.grad - out.data**2 * out.grad

    return made(self, None, math.tanh(self.data), "tanh", push)


def tanh_spends_it(self: Any) -> Any:
    def push(out: Any) -> None:
        self.grad += (1 - out.data**2) * out.grad
        out.grad = 0.0

    return made(self, None, math.tanh(self.data), "tanh", push)


def tanh_held_early(self: Any) -> Any:
    held = self.grad

    def push(out: Any) -> None:
        self.grad = held + (1 - out.data**2) * out.grad

    return made(self, None, math.tanh(self.data), "tanh", push)


def tanh_forgotten(self: Any) -> Any:
    return type(self)(math.tanh(self.data), (self,), "tanh")


def tanh_returns_nothing(self: Any) -> None:
    tanh_late(self)


def tanh_without_name(self: Any) -> Any:
    out = tanh_late(self)
    out.op = ""
    return out


def measured(x: float, t: float, g: float) -> float:
    return (math.tanh(x + 1e-5) - math.tanh(x - 1e-5)) / 2e-5 * g


def tanh_by_exp(self: Any) -> Any:
    """Right: tanh from e to the power of 2n, its slope as a product."""
    e = math.exp(2 * self.data)
    out = type(self)((e - 1) / (e + 1), [self], "tanh")

    def push() -> None:
        self.grad = self.grad + 4 * e / (e + 1) ** 2 * out.grad

    out._backward = push
    return out


def tanh_without_parents(self: Any) -> Any:
    out = tanh_late(self)
    out.parents = ()
    return out


EXERCISE_3_3 = program(
    "3.3", "Value.tanh",
    why="The derivative of tanh is 1 − tanh², so the rule needs only the output.",
    title="tanh, with its backward",
    minutes=6,
    scaffold=given,
    probes=probes_3_3,
    steps=steps_3_3,
    rtol=1e-12,
    atol=1e-13,
    wrong=[
        Wrong(bent(lambda x, t, g: (1 - x * x) * g, "input_for_output"), "M43", "1 - 0.7 * 0.7 = 0.51: you squared "
              "the input. Which number does the formula call t?"),
        Wrong(bent(lambda x, t, g: (1 + t * t) * g, "plus_for_minus"), "M43", "Your derivative is larger than 1. But tanh "
              "is steepest at 0, where its derivative is 1. Which sign makes the derivative smaller far from 0?"),
        Wrong(bent(lambda x, t, g: 1 - t * t, "no_upstream"), "M23", "This is right only if the upstream gradient is 1. "
              "When it is 2.5, your tanh passes on the same number. Where does the upstream gradient enter?"),
        Wrong(bent(lambda x, t, g: t * g, "value_for_slope"), "M43", "You passed on the value of tanh times the upstream "
              "gradient. Which number says how fast tanh grows at this point?"),
        Wrong(bent(lambda x, t, g: (1 - t) * g, "square_forgotten"), "M43", "You used 1 - t, so t is not squared. The "
              "derivative at -0.7 must be the same as at 0.7: is yours?"),
        Wrong(bent(lambda x, t, g: 1 - t * t + g, "adds_upstream"), "M22", "You added the local derivative and the "
              "upstream gradient. What does the chain rule do with two derivatives along a path?"),
        Wrong(bent(lambda x, t, g: t * t * g, "square_alone"), "M43", "You passed on t**2 times the upstream gradient. At 0, "
              "where tanh is steepest, that is 0. What is still to be done to t**2?"),
        Wrong(bent(lambda x, t, g: t * (1 - t) * g, "like_the_sigmoid"), "M29", "t * (1 - t) is the derivative of the sigmoid, "
              "and tanh is another curve. Which derivative does the task give for tanh?"),
        Wrong(bent(lambda x, t, g: g / math.cosh(x), "cosh_not_squared"), "M43", "You passed on g / cosh(n). That is the "
              "square root of 1 - t**2, times g. Which formula does the task give?"),
        Wrong(of_half, "M43", "t.data is tanh of n / 2. In the formula with exponentials, what stands in each exponent?"),
        Wrong(tanh_overwrites, "M19", "What was in n.grad before is gone. What if n is used by another operation too?"),
        Wrong(bent(measured, "measured"), "M44", "Your gradient is close, but not exact: you measured the derivative with "
              "a small step. No step is needed: which number that you already have is enough?"),
        Wrong(bent(lambda x, t, g: 1 - t * t * g, "brackets"), "M43", "1 - t * t * g multiplies only the second part by "
              "the upstream gradient. Where are brackets missing?"),
        Wrong(bent(lambda x, t, g: abs((1 - t * t) * g), "loses_the_sign"), "M23", "When the upstream gradient is "
              "negative, your contribution is positive. Which operation removes a sign?"),
        Wrong(bent(lambda x, t, g: -(1 - t * t) * g, "falls"), "", "The size is right, but the sign is wrong. Does tanh "
              "rise or fall?"),
        Wrong(tanh_spends_it, "M24", "After t._backward() the gradient of t itself is gone. Which part of an engine sets "
              "gradients back to 0: an operation, or the backward pass?"),
        Wrong(tanh_held_early, "M19", "You stored the gradient of n when tanh was computed, and you add to this stored "
              "number. Other operations may have added to it since. When should .grad be read?"),
        Wrong(tanh_forgotten, "", "The value is right, but no gradient reaches n. Is your inner function stored in "
              "out._backward, does it read out.grad when it runs, and does it add to n.grad?"),
        Wrong(tanh_returns_nothing, "", "n.tanh() is None. You made a new Value but did not return it. Which statement "
              "does that?"),
        Wrong(tanh_without_name, "", "The numbers are right, but the name of the operation is missing. Which op does the "
              "task ask for?"),
        Wrong(tanh_without_parents, "", "The numbers are right, but t does not know its parent. How could a backward pass "
              "find the way from t to n?"),
    ],
    alternatives=[bent(lambda x, t, g: g * (1 - t * t), "plain"), tanh_late, tanh_by_exp,
                  bent(lambda x, t, g: g / math.cosh(x) ** 2, "by_cosh")],
    hints=[
        "math.tanh gives the value t. The derivative of tanh at that point is 1 - t**2.",
        "At n = 0 the value is 0 and the derivative is 1; at n = 2 the value is 0.964 and the derivative is 0.071.",
        "There is one input, so the inner function has one line. It has the same three parts as in 3.2.",
    ],
    worked="t = math.tanh(self.data); out = Value(t, (self,), 'tanh'); the inner function adds (1 - t**2) * out.grad "
           "to self.grad.",
)  # fmt: skip

# --- 3.4 the order --------------------------------------------------------------------------------------------

GRAPHS = """
import sys

class recursion_kept_short:
    def __enter__(self):
        self.raised, self.limit = sys.setrecursionlimit, sys.getrecursionlimit()
        sys.setrecursionlimit(1000)
        sys.setrecursionlimit = lambda limit: None  # a higher limit moves the wall, and is no way round it

    def __exit__(self, *error):
        sys.setrecursionlimit = self.raised
        sys.setrecursionlimit(self.limit)

def plus(a, b):
    out = Value(a.data + b.data, (a, b), "+")
    def push():
        a.grad += out.grad
        b.grad += out.grad
    out._backward = push
    return out

def times(a, b):
    out = Value(a.data * b.data, (a, b), "*")
    def push():
        a.grad += b.data * out.grad
        b.grad += a.data * out.grad
    out._backward = push
    return out

def leaf(name, data):
    out = Value(data)
    out.name = name
    return out

def in_names(root, names):
    try:
        return [names.get(v, "another object") for v in topological_order(root)]
    except Exception:
        return None

def walk(order, root):
    root.grad = 1.0
    for v in reversed(order):
        v._backward()
"""
SHARED = (
    "a, b = Value(a), Value(b)\nc = plus(a, b)\nd = times(a, b)\ny = plus(plus(c, d), times(c, d))\n"
    "walk(topological_order(y), y)\n[a.grad, b.grad]"
)
SKIP = "x = Value(x)\na = plus(x, x)\nb = times(a, a)\ny = times(a, b)\nwalk(topological_order(y), y)\nx.grad"
ONCE = "a, b = Value(a), Value(b)\nc = plus(a, b)\ny = times(c, plus(c, a))\nlen(topological_order(y))"
ENDS = (
    "a, b = Value(a), Value(b)\ny = times(a, b)\norder = topological_order(y)\nbefore, y.grad = y.grad, g\n"
    "[order[-1].grad, before, len(order)]"
)
ALONE = "x = Value(x)\n[v.data for v in topological_order(x)]"
TWINS = "a = Value(x)\nc, d = plus(a, a), plus(a, a)\ny = times(c, d)\nwalk(topological_order(y), y)\na.grad"
ASKED_TWICE = (
    "x = Value(x)\nz = plus(x, x)\ny = times(x, z)\ntopological_order(y)\n"
    "[len(topological_order(y)), len(y.parents), len(z.parents)]"
)
UNTOUCHED = (
    "a, b = Value(a), Value(b)\na.grad = 10.0\ny = times(a, b)\ny.grad = 2.0\ntopological_order(y)\n"
    "[a.grad, b.grad, y.grad]"
)
ONE_PARENT = (
    "a, b = Value(a), Value(b)\nc = times(a, b)\nd = Value(-c.data, (c,), 'turned')\ny = plus(a, d)\n"
    "order = topological_order(y)\n[order.index(c), order.index(d), order.index(y), len(order)]"
)
DOUBLED = "y = Value(1.0)\nfor _ in range(60):\n    y = plus(y, y)\nlen(topological_order(y))"
DEEP = (
    "x = y = Value(1.0)\nfor _ in range(4000):\n    y = plus(y, x)\n"
    "with recursion_kept_short():\n    order = topological_order(y)\nlen(order)"
)
FOUR = "a, b = Value(a), Value(b)\nc = plus(a, b)\nd = times(c, a)\ne = plus(c, d)\ny = plus(e, c)\n"
IN_FOUR = "For c = a + b, d = c * a, e = c + d and y = e + c, "
PARENTS = {"a": "", "b": "", "c": "ab", "d": "ac", "e": "cd", "y": "ce"}
LISTED = (
    FOUR + "names = {a: 'a', b: 'b', c: 'c', d: 'd', e: 'e', y: 'y'}\n"
    "[names.get(v, 'another object') for v in topological_order(y)]"
)


def flaw(order: list[str]) -> str:
    """What is wrong with an order of the values in LISTED."""
    if not order:
        return f"{IN_FOUR}your list is empty. What is put into it, and does the loop that does this run at all?"
    shown = f"{IN_FOUR}your list is {', '.join(order[:12])}{', ...' * (len(order) > 12)}. "
    missing = [name for name in PARENTS if name not in order]
    if missing:
        be = "is" if len(missing) == 1 else "are"
        return f"{shown}{', '.join(missing)} {be} missing. Are all values reached from y, through all parents, and put into it?"
    for name, parents in PARENTS.items():
        if order.count(name) > 1:
            return f"{shown}{name} is there {order.count(name)} times. How do you know that a value is in the list already?"
        for parent in parents:
            if order.index(name) < order.index(parent):
                return f"{shown}{name} comes before {parent}, from which it is made. When may a value go into the list?"
    return f"{shown}It holds something that is no value of this graph." if len(order) > len(PARENTS) else ""


def probes_3_4(rng: np.random.Generator) -> Iterator[Probe]:
    a, b = (float(n) for n in numbers(rng, 2))
    yield run(SHARED, a=2.0, b=3.0).expect([25.0, 19.0]).show()
    listed = run(LISTED, a=2.0, b=3.0).seen_as(lambda order: order if flaw(order) else list(PARENTS))
    yield listed.expect(list(PARENTS)).told_by(flaw, many=True)
    yield run(SHARED, a=a, b=b).expect([1 + b + a * b + (a + b) * b, 1 + a + a * b + (a + b) * a])
    yield run(SHARED, a=-2.0, b=-3.0).expect([1 - 3 + 6 + 15.0, 1 - 2 + 6 + 10.0])
    yield run(SKIP, x=a).expect(24 * a**2)
    yield run(ONCE, a=a, b=b).expect(5)
    yield run(TWINS, x=a).expect(8 * a)
    in_order = run(ONE_PARENT, a=a, b=b).seen_as(lambda at: [at[0] < at[1] < at[2], at[3]])
    yield in_order.expect([True, 5])
    yield run(ASKED_TWICE, x=a).expect([3, 2, 2])
    yield run(UNTOUCHED, a=a, b=b).expect([10.0, 0.0, 2.0]).on(
        "A function that only lists the values runs no _backward and changes no gradient."
    )
    yield run(ENDS, a=a, b=b, g=a + b).expect([a + b, 0.0, 3])
    yield run(ALONE, x=a).expect([a])
    yield run(DEEP).expect(4001).on("The list has to hold every value, of a long chain as well.")
    yield run(DOUBLED).expect(61).on(
        "y + y uses y twice, so each round doubles the number of paths, and adds one value only. Your loop must not come to a "
        "value again for each path: which values has it seen?"
    )


MANY = 20_000


def post_order(root: Any) -> list[Any]:
    """Right: a stack of (value, has it been opened)."""
    order: list[Any] = []
    seen: set[Any] = set()
    stack = [(root, False)]
    while stack:
        v, opened = stack.pop()
        if opened:
            order.append(v)
        elif v not in seen:
            seen.add(v)
            stack.append((v, True))
            stack += [(p, False) for p in v.parents]
    return order


def by_counting(root: Any) -> list[Any]:
    """Right: a value is ready when all its users have been listed."""
    found = [root]
    seen = {id(root)}
    users: dict[int, int] = {}
    for v in found:
        for p in v.parents:
            users[id(p)] = users.get(id(p), 0) + 1
            if id(p) not in seen:
                seen.add(id(p))
                found.append(p)
    ready, order = [root], []
    while ready:
        v = ready.pop()
        order.append(v)
        for p in v.parents:
            users[id(p)] -= 1
            if users[id(p)] == 0:
                ready.append(p)
    return order[::-1]


def by_iterators(root: Any) -> list[Any]:
    """Right: the recursion, with its stack written out."""
    order: list[Any] = []
    seen = {root}
    stack = [(root, iter(root.parents))]
    while stack:
        v, rest = stack[-1]
        p = next(rest, None)
        if p is None:
            order.append(v)
            stack.pop()
        elif p not in seen:
            seen.add(p)
            stack.append((p, iter(p.parents)))
    return order


def recursive(root: Any) -> list[Any]:
    order: list[Any] = []
    seen: set[Any] = set()

    def visit(v: Any) -> None:
        if v not in seen:
            seen.add(v)
            for p in v.parents:
                visit(p)
            order.append(v)

    visit(root)
    return order


def pre_order(root: Any) -> list[Any]:
    """The order of the first visit, root first."""
    order: list[Any] = []
    seen: set[Any] = set()
    stack = [root]
    while stack:
        v = stack.pop()
        if v not in seen:
            seen.add(v)
            order.append(v)
            stack += reversed(v.parents)
    return order


def pre_order_from_the_right(root: Any) -> list[Any]:
    """The same, the last parent first."""
    order: list[Any] = []
    seen: set[Any] = set()
    stack = [root]
    while stack:
        v = stack.pop()
        if v not in seen:
            seen.add(v)
            order.append(v)
            stack += v.parents
    return order[::-1]


def pre_order_reversed(root: Any) -> list[Any]:
    return pre_order(root)[::-1]


def backwards(root: Any) -> list[Any]:
    return post_order(root)[::-1]


def level_by_level(root: Any) -> list[Any]:
    order, seen = [root], {root}
    for v in order:
        order += [p for p in dict.fromkeys(v.parents) if p not in seen]
        seen.update(v.parents)
    return order[::-1]


def without_visited(root: Any) -> list[Any]:
    """Every value as often as paths lead to it (stopped here after a while)."""
    order: list[Any] = []

    def visit(v: Any) -> None:
        if len(order) > MANY:
            raise TimeoutError("too many paths")
        for p in v.parents:
            visit(p)
        order.append(v)

    visit(root)
    return order


def known_by_number(root: Any) -> list[Any]:
    order: list[Any] = []
    seen: set[float] = set()
    stack = [(root, False)]
    while stack:
        v, opened = stack.pop()
        if opened:
            order.append(v)
        elif v.data not in seen:
            seen.add(v.data)
            stack.append((v, True))
            stack += [(p, False) for p in v.parents]
    return order


def marks_the_values(root: Any) -> list[Any]:
    order: list[Any] = []
    stack = [(root, False)]
    while stack:
        v, opened = stack.pop()
        if opened:
            order.append(v)
        elif not hasattr(v, "seen"):
            v.seen = True
            stack.append((v, True))
            stack += [(p, False) for p in v.parents]
    return order


def takes_the_graph_apart(root: Any) -> list[Any]:
    order = post_order(root)
    for v in order:
        v.parents = ()
    return order


def clears_on_the_way(root: Any) -> list[Any]:
    order = post_order(root)
    for v in order:
        v.grad = 0.0
    return order


def sorted_by_number(root: Any) -> list[Any]:
    return sorted(post_order(root), key=lambda v: float(v.data))


def every_path(root: Any) -> list[Any]:
    """Right on small graphs, and for ever on a graph with many paths (stopped here after a while)."""
    order: list[Any] = []
    stack = [(root, False)]
    for _ in range(MANY):
        if not stack:
            return list(dict.fromkeys(order))
        v, opened = stack.pop()
        if opened:
            order.append(v)
        else:
            stack += [(v, True), *((p, False) for p in v.parents)]
    raise TimeoutError("too many paths")


def numbers_only(root: Any) -> list[float]:
    return [v.data for v in post_order(root)]


def with_generators(root: Any) -> list[Any]:
    """Right: the recursion as generators on a stack."""
    order, seen = [], {root}

    def visit(v: Any) -> Iterator[Any]:
        for p in v.parents:
            if p not in seen:
                seen.add(p)
                yield visit(p)
        order.append(v)

    stack = [visit(root)]
    while stack:
        inner = next(stack[-1], None)
        if inner is None:
            stack.pop()
        else:
            stack.append(inner)
    return order


def by_number_of_parents(root: Any) -> list[Any]:
    return sorted(post_order(root), key=lambda v: len(v.parents))


def without_root(root: Any) -> list[Any]:
    return post_order(root)[:-1]


def without_leaves(root: Any) -> list[Any]:
    return [v for v in post_order(root) if v.parents]


# No probe tells these two apart: the inputs run first in both, and pass nothing on.
ROOT_FIRST = (
    "The list begins with the root, so the backward pass, which starts at the end of the list, runs the inputs first. "
    "Which value has to be the last one in the list?"
)

FIRST_VISIT = (
    "Each value got its place in the list when it was first met. A value that is used twice can be met first on the "
    "short path, and then it comes after a value that is made from it. When may a value go into the list?"
)

EXERCISE_3_4 = program(
    "3.4", "topological_order",
    why="Every value comes after its parents, so the reversed list reaches each value after all values that use it.",
    title="a topological order",
    minutes=14,
    scaffold=given,
    prelude=GRAPHS,
    probes=probes_3_4,
    wrong=[
        Wrong(recursive, "M20", "The order is right on every small graph. On a chain of 4,000 values your function calls "
              "itself 4,000 times, and Python stops it. Which list could hold the values that are still to be visited?"),
        Wrong(pre_order_reversed, "M21", FIRST_VISIT, alike="first visit"),
        Wrong(pre_order_from_the_right, "M21", FIRST_VISIT, alike="first visit"),
        Wrong(pre_order, "M21", ROOT_FIRST, alike="root first"),
        Wrong(backwards, "M21", ROOT_FIRST, alike="root first"),
        Wrong(level_by_level, "M20", "You listed the graph level by level. In y = a * b with b made from a, a is one "
              "step away from y, and also two steps. For which value that uses a did it not wait?"),
        Wrong(without_visited, "M21", "a and b are in your list several times, so they run several times: 46 and 35. "
              "How can you find out whether a value is in the list already?"),
        Wrong(known_by_number, "", "Two different values with the same number count as one in your list. How can you tell "
              "two such values apart?"),
        Wrong(marks_the_values, "", "For the same graph a second call gives another list, because the marks of the first "
              "call are still on the values. Where else can you remember which values you have seen?"),
        Wrong(takes_the_graph_apart, "", "The list is right, but now the values have lost their parents. May a function "
              "that only lists the graph change it?"),
        Wrong(clears_on_the_way, "M24", "Your function set gradients to 0 while it made the list. That is the task of the "
              "backward pass. May a function that only lists the graph change it?"),
        Wrong(sorted_by_number, "M20", "The list is sorted by the numbers in the values. Is a value always larger than "
              "the values it is made from?"),
        Wrong(by_number_of_parents, "M20", "The list is sorted by the number of parents. tanh has one parent. Does it come "
              "before a product, which has two, even when it is made from that product?"),
        Wrong(every_path, "M20", "This is right on small graphs. But sixty times y = y + y gives 2 to the power of 60 "
              "paths, and your function follows all of them. How can you visit each value once?"),
        Wrong(numbers_only, "", "The list holds plain numbers. The backward pass calls _backward on each entry: which "
              "objects have it?"),
        Wrong(without_root, "M21", "The root is missing. The backward pass starts from its gradient: where does the root "
              "belong in the list?"),
        Wrong(without_leaves, "", "Values without parents are missing in the list. They have nothing to pass on, but "
              "they belong to the graph. How many values are in the graph of a * b?"),
    ],
    alternatives=[post_order, by_counting, by_iterators, with_generators],
    hints=[
        "The list holds every value of the graph once, each after all its parents. The backward pass then goes from the "
        "end of the list to its beginning.",
        "For c = a + b and y = c * a, one right list is [a, b, c, y], and [b, a, c, y] is another.",
        "Keep a list of things to do. Put each value into it twice: the first time its parents are put before it, the "
        "second time the value itself goes into the order. What tells the two times apart?",
    ],
    worked="Keep a stack of pairs (value, opened), starting with (root, False), and a set of the values seen. Pop a pair. "
           "If it is opened, append the value to the order. If it is neither opened nor seen, mark it as seen, push "
           "(value, True), and then push (parent, False) for each parent.",
)  # fmt: skip

# --- 3.5 the walk ---------------------------------------------------------------------------------------------

ISSUE_68 = (
    "a, b = Value(a), Value(b)\nc = plus(a, b)\nd = times(a, b)\ny = plus(plus(c, d), times(c, d))\n"
    "y.backward()\n[a.grad, b.grad]"
)
CHAIN = "x = Value(x)\ny = times(times(x, x), x)\ny.backward()\n[x.grad, y.grad]"
ACCUMULATES = "x = Value(x)\ntimes(x, x).backward()\ntimes(x, x).backward()\nx.grad"
LONG_AND_SHORT = "x = Value(x)\na = plus(x, x)\nb = times(a, a)\ny = times(a, b)\ny.backward()\nx.grad"
INPUT_BETWEEN = (
    "x = Value(x)\ny = plus(times(x, x), Value(k))\nz = plus(Value(k), times(x, x))\ny.backward()\nz.backward()\nx.grad"
)
OWN_PUSH = (
    'x = Value(x)\ny = Value(0.0, (x,), "?")\ndef push():\n    x.grad += 7.0 * y.grad\ny._backward = push\n'
    "z = plus(y, y)\nz.backward()\n[x.grad, y.grad]"
)
DEEP_AGAIN = (
    "x, y = Value(x), Value(y)\na = times(x, y)\nb = plus(a, x)\nc = times(b, x)\n"
    "c.backward()\nc.backward()\n[x.grad, y.grad, a.grad, b.grad]"
)
AGAIN = (
    "a, b, d = Value(a), Value(b), Value(d)\nc = plus(a, b)\ne = times(c, d)\n"
    "e.backward()\ne.backward()\n[a.grad, b.grad, d.grad, c.grad]"
)
WALKED = (
    FOUR + "ran = []\ndef watched(name, v):\n    push = v._backward\n    def _backward():\n        ran.append((name, v.grad))\n"
    "        push()\n    v._backward = _backward\n"
    "watched('c', c), watched('d', d), watched('e', e), watched('y', y)\ny.backward()\n"
    "[ran, in_names(y, {a: 'a', b: 'b', c: 'c', d: 'd', e: 'e', y: 'y'})]"
)


def misstep(ran: list[tuple[str, float]]) -> str:
    """What is wrong with a backward pass through the graph of WALKED, with a = 2."""
    order = [name for name, _ in ran]
    if not ran:
        return f"{IN_FOUR}no _backward has run. Is each one called, with brackets?"
    shown = f"{IN_FOUR}your pass runs {', '.join(order[:8])}{', ...' * (len(order) > 8)}, in this order. "
    if len(set(order)) < len(order):
        twice = next(name for name in order if order.count(name) > 1)
        return f"{shown}{twice} runs {order.count(twice)} times, and each time it passes on its gradient. How often may it run?"
    if order[0] != "y":
        return f"{shown}The pass has to begin with y, the value on which backward is called. At which end of the list is it?"
    if len(order) < 4:
        missing = ", ".join(name for name in "cde" if name not in order)
        return f"{shown}Without: {missing}. Does your loop reach all values, and does it run each one's own _backward?"
    for user, used in ("ed", "dc"):
        if order.index(used) < order.index(user):
            return f"{shown}{used} runs before {user}, which uses it, so a contribution is missing in it. Which order is right?"
    gradients = dict(ran)
    if gradients["y"] != 1:
        return f"{shown}y has the gradient {gradients['y']:g} then. What is dy/dy, and is it set after gradients are cleared?"
    for name, right in (("e", 1), ("d", 1), ("c", 4)):
        if gradients[name] == 0:
            return f"{shown}{name} has the gradient 0 then, though y had passed one on. Which line clears it, and when?"
        if gradients[name] != right:
            return f"{shown}{name} has the gradient {gradients[name]:g} then, and not the sum of the contributions to it."
    return ""


RUN = [("y", 1.0), ("e", 1.0), ("d", 1.0), ("c", 4.0)]


def seen_3_5(both: list[Any]) -> list[Any]:
    """What ran; where it is wrong, with the list of 3.4 if that is wrong."""
    ran, order = both
    return RUN if ran == RUN else [ran, order if order is not None and flaw(order) else None]


def in_lists(both: list[Any]) -> str:
    """What is wrong with a backward pass, or with the list that it takes from 3.4."""
    ran, order = both
    wrong = "" if order is None else flaw(order)
    return f"Your topological_order of 3.4 is not right: mend it first. {wrong}" if wrong else misstep(ran)


def probes_3_5(rng: np.random.Generator) -> Iterator[Probe]:
    a, b, d = (float(n) for n in numbers(rng, 3))
    yield run(ISSUE_68, a=2.0, b=3.0).expect([25.0, 19.0]).show()
    yield run(WALKED, a=2.0, b=3.0).seen_as(seen_3_5).expect(RUN).told_by(in_lists)
    yield run(CHAIN, x=a).expect([3 * a * a, 1.0])
    yield run(ACCUMULATES, x=3.0).expect(12.0).show()
    yield run(AGAIN, a=3.0, b=2.0, d=1.0).expect([2.0, 2.0, 10.0, 1.0])
    yield run(AGAIN, a=a, b=b, d=d).expect([2 * d, 2 * d, 2 * (a + b), d])
    yield run(AGAIN, a=70.0, b=0.0, d=-50.0).expect([-100.0, -100.0, 140.0, -50.0])
    yield run(AGAIN, a=70.0, b=0.0, d=5000.0).expect([10000.0, 10000.0, 140.0, 5000.0])
    x, y = a / 7, b / 7  # c = (xy + x) x
    yield run(DEEP_AGAIN, x=x, y=y).expect([4 * x * y + 4 * x, 2 * x * x, x, x])
    yield run("x = Value(x)\nx.backward()\nx.grad", x=a).expect(1.0)
    yield run(LONG_AND_SHORT, x=a).expect(24 * a**2)
    yield run(INPUT_BETWEEN, x=a, k=b).expect(4 * a).on("An input may be anywhere in the list, and other values come after it.")
    yield run(OWN_PUSH, x=a).expect([14.0, 2.0])


def walker(
    start: Callable[[Any], float] = lambda root: 1.0, clear: Callable[[Any], bool] = lambda v: bool(v.parents),
    order: Callable[[Any], list[Any]] = backwards, name: str = "walker",
) -> Callable[[Any], None]:  # fmt: skip
    """A backward method: clear what is to be cleared, start, run every value in this order."""

    def backward(self: Any) -> None:
        for v in order(self):
            if clear(v):
                v.grad = 0.0
        self.grad = start(self)
        for v in order(self):
            v._backward()

    backward.__name__ = name
    return backward


def clears_parents_only(self: Any) -> None:
    for v in self.parents:
        v.grad = 0.0 if v.parents else v.grad
    self.grad = 1.0
    for v in backwards(self):
        v._backward()


def asks_its_parents(self: Any) -> None:
    self.grad = 1.0
    self._backward()
    for parent in self.parents:
        parent.backward()


def naive_recursion(self: Any) -> None:
    def visit(v: Any) -> None:
        v._backward()
        for p in v.parents:
            visit(p)

    for v in post_order(self):
        v.grad = 0.0 if v.parents else v.grad
    self.grad = 1.0
    visit(self)


def by_the_rules_of_two(self: Any) -> None:
    """Works out the contributions from the names of the operations, and runs no _backward."""
    order = backwards(self)
    for v in order:
        v.grad = 0.0 if v.parents else v.grad
    self.grad = 1.0
    for v in order:
        for i, p in enumerate(v.parents if v.op in ("+", "*") else ()):
            p.grad += v.grad * (v.parents[1 - i].data if v.op == "*" else 1.0)


def not_from_an_input(self: Any) -> None:
    if self.parents:
        walker()(self)


def once_only(self: Any) -> None:
    if not hasattr(self, "done"):
        walker()(self)
    self.done = True


def loses_its_closures(self: Any) -> None:
    order = backwards(self)
    walker()(self)
    for v in order:
        v._backward = lambda: None


def clears_leaves_only(self: Any) -> None:
    walker(clear=lambda v: not v.parents)(self)


def leaf_sums_kept_aside(self: Any) -> None:
    """Right: everything from 0, and what the inputs held is added at the end."""
    order = backwards(self)
    held = [(v, v.grad) for v in order if not v.parents]
    walker(clear=lambda v: True)(self)
    for v, g in held:
        v.grad += g


def only_the_last_node(self: Any) -> None:
    self.grad = 1.0
    self._backward()


def clears_afterwards(self: Any) -> None:
    """Right for the inputs, but the inner gradients are gone after the pass."""
    walker()(self)
    for v in post_order(self):
        if v.parents:
            v.grad = 0.0


def backward_in_one_loop(self: Any) -> None:
    order = post_order(self)
    for v in order:
        v.grad = v.grad * (len(v.parents) == 0)
    self.grad = 1.0
    while order:
        order.pop()._backward()


EXERCISE_3_5 = program(
    "3.5", "Value.backward",
    why="Each value runs once, when its gradient is complete; inputs keep their sums, and inner gradients start from 0.",
    title="the backward pass",
    minutes=10,
    scaffold=given,
    prelude=GRAPHS,
    probes=probes_3_5,
    wrong=[
        Wrong(walker(start=lambda root: 0.0, name="starts_from_zero"), "M21", "All gradients are 0. Your pass starts from "
              "0, and every contribution is multiplied by that. What is the derivative of y with respect to y?"),
        Wrong(walker(start=lambda root: float(root.data), name="starts_from_the_value"), "M21", "1025 and 779 are 41 "
              "times as large as they should be, and 41 is the value of y. What is the derivative of y with respect "
              "to y?"),
        Wrong(walker(clear=lambda v: True, name="clears_leaves"), "M01", "After two passes PyTorch shows 12 = 6 + 6, but "
              "you show 6, because you cleared the inputs as well. Which gradients should add up from pass to pass?"),
        Wrong(walker(clear=lambda v: False, name="leaves_inner_gradients"), "M24", "The first pass is right, but the "
              "second adds too much: 3 where PyTorch shows 2. The inner values still held the gradients of the first "
              "pass. Which values have to start each pass from 0?"),
        Wrong(clears_parents_only, "M24", "The inner values next to the root start from 0, but those farther away still "
              "hold the gradients of the first pass. How can you reach all inner values?"),
        Wrong(walker(order=post_order, name="from_the_inputs"), "M21", "You went from the inputs to the root, so the "
              "inputs ran before any gradient had arrived. At which end of the list does a backward pass begin?"),
        Wrong(naive_recursion, "M20", "29 and 22: c passed its gradient on before all values that use c had added to it, "
              "and later once more. Do you use the order of exercise 3.4?"),
        Wrong(asks_its_parents, "M21", "You call backward on each parent, and backward sets the gradient of its value to 1: "
              "the contributions that had arrived there are lost. Which value alone starts from 1?"),
        Wrong(only_the_last_node, "M21", "Only the root has run. Its parents got their contributions, but did not pass "
              "them on. Which other values have to run?"),
        Wrong(walker(order=lambda root: level_by_level(root)[::-1], name="level_by_level"), "M20", "You went level by "
              "level from the root. A value with a short and a long path to the root ran before the contribution of "
              "the long path was there. Do you use the order of exercise 3.4?"),
        Wrong(walker(order=pre_order, name="as_soon_as_met"), "M21", "Every value ran once, as soon as it was met, so c "
              "ran before c * d had added to it. Do you use the order of exercise 3.4?"),
        Wrong(by_the_rules_of_two, "", "This is right for + and *. But another operation has a _backward of its own, and "
              "you never run it. Which object knows the rule of an operation: the backward pass, or the value?"),
        Wrong(not_from_an_input, "", "When backward is called on a value without parents, its own gradient stays 0. What "
              "is the derivative of x with respect to x?"),
        Wrong(once_only, "M10", "The second pass over the same graph did nothing. After it, the inputs should hold the "
              "sums of both passes. What stopped it?"),
        Wrong(loses_its_closures, "M10", "After the first pass the values have lost their _backward, so a second pass "
              "passes nothing on. Does the task say that a graph can be used only once?"),
        Wrong(clears_leaves_only, "M01", "You cleared the wrong values: inputs keep their sums, and inner values start "
              "from 0. How can you tell the two kinds apart?"),
        Wrong(clears_afterwards, "M24", "The gradients of the inputs are right, but those of the inner values are gone, "
              "because you cleared them after the pass. When else could you clear them?"),
    ],
    alternatives=[walker(), backward_in_one_loop, leaf_sums_kept_aside,
                  walker(order=lambda root: by_counting(root)[::-1], name="by_counting")],
    hints=[
        "There are three steps: inner values start from 0, the root starts from 1, and then every value runs once, the "
        "root first.",
        "A value without parents is an input. Its gradient belongs to the user, who may want the sum over several passes.",
        "Make your order once and go through it twice: forwards to clear, and from its end to run each _backward.",
    ],
    worked="order = topological_order(self). For each v with parents: v.grad = 0. self.grad = 1. Then for v in "
           "reversed(order): v._backward().",
)  # fmt: skip

# --- 3.6 one step of training ---------------------------------------------------------------------------------

STEP = "p, q, r = Value(p), Value(q), Value(r)\np.grad, q.grad, r.grad = g, h, 0.0\ndescend([p, r, q], rate)\n"
STEP_DATA = STEP + "[p.data, q.data, r.data]"
STEP_GRAD = STEP + "[p.grad, q.grad, r.grad]"
STEP_TWICE = STEP + "descend([p, r, q], rate)\n[p.data, q.data, r.data]"
STEP_LEFT = "p, q = Value(p), Value(q)\np.grad, q.grad = g, h\ndescend([p], rate)\n[q.data, q.grad]"
STEP_SAME = (
    "p, q = Value(p), Value(q)\nlisted = [p, q]\ndescend(listed, rate)\np.data, q.data = 7.5, rate\n"
    "[listed[0].data, listed[1].data, len(listed)]"
)
# two steps down the parabola (p - 3)**2, whose derivative is 2 (p - 3)
STEPS = "p = Value(p)\nfor _ in range(2):\n    p.grad += 2 * (p.data - 3)\n    descend([p], rate)\np.data"


def probes_3_6(rng: np.random.Generator) -> Iterator[Probe]:
    p, q, r, g, h = (float(n) for n in numbers(rng, 5))
    rate = 0.25
    for numbers_ in ({"p": 5.0, "q": -2.0, "r": 3.0, "g": 8.0, "h": -4.0}, {"p": p, "q": q, "r": r, "g": g, "h": h}):
        data = {"rate": rate, **numbers_}
        moved = [data["p"] - rate * data["g"], data["q"] - rate * data["h"], data["r"]]
        yield run(STEP_DATA, **data).expect(moved).show()
        yield run(STEP_GRAD, **data).expect([0.0, 0.0, 0.0])
        yield run(STEP_TWICE, **data).expect(moved)
    yield run(STEP_LEFT, p=p, q=q, g=g, h=h, rate=rate).expect([q, h])
    yield run(STEP_SAME, p=p, q=q, rate=rate).expect([7.5, rate, 2])
    yield run(STEPS, p=p, rate=0.1).expect(3 + (p - 3) * 0.64)


def stepping(move: Callable[[Any, float], None]) -> Callable[[Any, float], None]:
    """A `descend` that does this with each parameter."""

    def descend(parameters: Any, rate: float) -> None:
        for p in parameters:
            move(p, rate)

    descend.__name__ = move.__name__
    return descend


def moved(p: Any, rate: float) -> None:
    p.data -= rate * p.grad
    p.grad = 0.0


def climbs(p: Any, rate: float) -> None:
    p.data += rate * p.grad
    p.grad = 0.0


def never_clears(p: Any, rate: float) -> None:
    p.data -= rate * p.grad


def clears_first(p: Any, rate: float) -> None:
    p.grad = 0.0
    p.data -= rate * p.grad


def no_rate(p: Any, rate: float) -> None:
    p.data -= p.grad
    p.grad = 0.0


def only_the_sign(p: Any, rate: float) -> None:
    p.data -= rate * ((p.grad > 0) - (p.grad < 0))
    p.grad = 0.0


def shrinks(p: Any, rate: float) -> None:
    p.data -= rate * p.data
    p.grad = 0.0


def replaces(p: Any, rate: float) -> None:
    p.data = -rate * p.grad
    p.grad = 0.0


def clears_with_none(p: Any, rate: float) -> None:
    p.data -= rate * p.grad
    p.grad = None


def rebinds(parameters: Any, rate: float) -> None:
    for p in parameters:
        p = type(p)(p.data - rate * p.grad)


def first_only(parameters: Any, rate: float) -> None:
    for p in parameters:
        moved(p, rate)
        return


def new_in_the_list(parameters: Any, rate: float) -> None:
    for i, p in enumerate(parameters):
        parameters[i] = type(p)(p.data - rate * p.grad)


def clears_the_last(parameters: Any, rate: float) -> None:
    for p in parameters:
        p.data -= rate * p.grad
    p.grad = 0.0


def in_two_loops(parameters: Any, rate: float) -> None:
    """Right: first all move, then all are cleared."""
    for p in parameters:
        p.data = p.data - p.grad * rate
    for p in parameters:
        p.grad = 0.0


def takes_the_gradient_away(p: Any, rate: float) -> None:
    """Right: the gradient is read and cleared, then used."""
    g, p.grad = p.grad, 0.0
    p.data += -rate * g


EXERCISE_3_6 = program(
    "3.6", "descend",
    why="Each parameter moved against its derivative, so the loss falls, and the next pass adds to 0.",
    title="one step of training",
    minutes=6,
    scaffold=given,
    probes=probes_3_6,
    wrong=[
        Wrong(stepping(climbs), "", "Each parameter moved in the direction of its gradient, so the loss grows. "
              "In which direction does the loss fall?"),
        Wrong(stepping(never_clears), "M01", "The first step is right, but the gradients are still there. "
              "What will the next backward pass do with them?"),
        Wrong(stepping(clears_first), "", "No parameter has moved, and the gradients are 0. Is each "
              "gradient used before it is set to 0, and does the new number go into p.data?"),
        Wrong(stepping(no_rate), "", "Each parameter moved by its whole gradient. Where does the learning rate "
              "enter?"),
        Wrong(stepping(only_the_sign), "", "Every parameter moved by the same amount. A large derivative "
              "should give a large step: which number says how large it is?"),
        Wrong(stepping(shrinks), "M43", "Each parameter became smaller by a part of its own value. Which number "
              "says how the loss reacts to it?"),
        Wrong(stepping(replaces), "M19", "You replaced the value of the parameter by the change alone. A step should "
              "start from the old value. Which operator does that?"),
        Wrong(stepping(clears_with_none), "M07", "The gradient is None now, but your engine adds to it with +=. Can "
              "+= add a number to None?"),
        Wrong(rebinds, "M17", "No parameter has changed: what your code computes is not stored in the Values of the list. "
              "(p = ... only gives the name p to a new Value.) Which attribute of p has to change?"),
        Wrong(new_in_the_list, "M17", "The list holds new Values now, but the net still uses the old ones. Which attribute "
              "of the old Values should change?"),
        Wrong(first_only, "", "Only the first parameter has moved. Does your loop reach the others, and does each "
              "of them use its own gradient?"),
        Wrong(clears_the_last, "M01", "Only the last parameter has its gradient cleared. Which lines belong inside the "
              "loop?"),
    ],
    alternatives=[stepping(moved), in_two_loops, stepping(takes_the_gradient_away)],
    hints=[
        "If the derivative is positive, a smaller parameter gives a smaller loss.",
        "A parameter of 7 with the gradient 10 and the rate 0.1 becomes 6, and its gradient becomes 0.",
        "Write a loop over the parameters with two lines: change p.data, and then set p.grad.",
    ],
    worked="For each p in parameters: subtract rate * p.grad from p.data, and then set p.grad to 0.0.",
)  # fmt: skip

# --- predictions of the reading notebook ----------------------------------------------------------------------

PREDICTION_3_1A = prediction(
    "3.1a", -1, points=0,
    title="x - x, when contributions are overwritten",
    wrong=[
        Wrong(0, "M19", "0 is the true derivative. But this engine writes with =. Which of its two lines runs last?"),
        Wrong(1, "M19", "1 is written first. What does the next line do to it?"),
        Wrong(2, "M19", "Nothing is added here, because both lines write with =."),
    ],
)  # fmt: skip

PREDICTION_3_2A = prediction(
    "3.2a", 108, points=0,
    title="the derivative of x to the fourth at 3",
    wrong=[
        Wrong(6, "M23", "6 is the derivative of the first square alone."),
        Wrong(24, "M22", "24 is 18 + 6. Along a path, derivatives are multiplied."),
        Wrong(81, "M43", "81 is the value. How fast does it grow?"),
        Wrong(18, "M23", "18 is the derivative of the outer square alone. What does the inner square do with it?"),
        Wrong(54, "M43", "54 is 18 times 3. The derivative of the inner square at 3 is another number."),
        Wrong(27, "M43", "27 is the third power of 3. By what is it multiplied in the derivative of x**4?"),
        Wrong(36, "M43", "The outer square has its derivative at its own input, which is 9 and not 3."),
    ],
)  # fmt: skip

PREDICTION_3_4A = prediction(
    "3.4a", "c", points=0,
    title="a backward pass by plain recursion",
    options={"a": "less than 5", "b": "exactly 5", "c": "more than 5"},
    wrong=[
        Wrong("a", "M20", "Two values use c, and c is visited once for each of them. How often does it run?"),
        Wrong("b", "M20", "Follow the visits: y, then the square, then c with a and b, and then the second parent of y. "
              "Which value is this second parent?"),
    ],
)  # fmt: skip

PREDICTION_3_4B = prediction(
    "3.4b", 1, points=0,
    title="how often a node with two users runs",
    wrong=[
        Wrong(2, "M20", "Two contributions arrive at each node. Does it run after each of them, or once, when both are "
              "there?"),
        Wrong(2**30, "M20", "That many paths lead to x. Does a node run once for each path?"),
        Wrong(30, "M20", "30 nodes run in this pass. How often does one of them run?"),
    ],
)  # fmt: skip

PREDICTION_3_5A = prediction(
    "3.5a", 18, points=0,
    title="a second pass over the same graph",
    wrong=[
        Wrong(12, "M24", "12 = 6 + 6 would be right. What does c still hold from the first pass, when the second "
              "contribution arrives?"),
        Wrong(6, "M01", "6 is what one pass adds. Is anything cleared here?"),
        Wrong(24, "M24", "When c runs for the second time it holds 6 + 6. That is added to the 6 in a.grad."),
    ],
)  # fmt: skip

PREDICTION_3_6A = prediction(
    "3.6a", "a", points=0,
    title="the bug that leaves 6 instead of 5",
    options={"a": "it writes with = where it should add", "b": "it ignores the upstream gradient",
             "c": "it runs values too early", "d": "it keeps inner gradients from an earlier pass"},
    wrong=[
        Wrong("b", "M23", "Only the square has a local derivative other than 1 and -1, and its upstream gradient is 1. So "
              "that bug leaves 5 here. Which two contributions reach c?"),
        Wrong("c", "M20", "That bug left 10 in part 3, because c passed on its gradient twice. Which two contributions "
              "reach c, and which of them is 6?"),
        Wrong("d", "M24", "That bug needs a second pass, and this is the first one. Which two contributions reach c, and "
              "which of them is 6?"),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_3_1A, PREDICTION_3_2A, PREDICTION_3_4A, PREDICTION_3_4B, PREDICTION_3_5A, PREDICTION_3_6A,
    EXERCISE_3_1, EXERCISE_3_2, EXERCISE_3_3, EXERCISE_3_4, EXERCISE_3_5, EXERCISE_3_6,
)  # fmt: skip

LESSON = Lesson(
    number=3,
    slug="03_scalar_engine",
    title="Your own scalar engine",
    after=(2,),
    idea="A number that remembers how it was made, a backward pass in the right order, and a net that learns on both.",
    introduces=(
        "multiplier", "Value", "data", "parents", "op", "_backward", "square", "grad_fn", "register_hook",
        "retain_graph", "tanh", "add", "mul", "topological_order", "descend", "random", "Random", "gauss", "uniform",
        "pi", "gc", "freeze", "plots", "boundary", "detail", "film", "curve", "moons", "some", "neuron", "net", "loss", "learn",
        "picture",
    ),
    misconceptions=("M19", "M24"),
    with_engine=False,
    exercises=EXERCISES,
)  # fmt: skip
