"""Lesson 03: the student's own engine on single numbers: two operations, tanh, the order, the walk, a step of training.

Each exercise is judged alone. The operations are asked through their own `_backward`, with an upstream gradient
that is not 1; the order and the walk get graphs built by `plus` and `times` below, so that a slip in an earlier
exercise cannot spoil a later one. The graph y = c + d + c*d with c = a + b, d = a*b tells seven slips apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..exercise import Probe, numbers, run
from ..lesson_text import lesson


def given() -> dict[str, Any]:
    """The code that the exercise notebook hands out, freshly made."""

    class Value:
        recording = True

        def __init__(self, data: float, parents: tuple[Any, ...] = (), op: str = "") -> None:
            self.data = data
            self.grad = 0.0
            self.parents = parents if Value.recording else ()
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
    yield run(ADD_SAME, x=2.0, g=1.5).expect(3.0).show()
    yield run(ADD, a=a, b=b, g=-1000.0).expect([a + b, -1000.0, -1000.0])
    yield run(ADD, a=0.0, b=-b, g=2.5).expect([-b, 2.5, 2.5])
    yield run(ADD_TWICE, a=a, b=b, g=g, s=10.0).expect([10 + g, -10 + g])
    yield run(ADD_TWICE, a=1.5, b=1.5, g=g, s=-20.0).expect([-20 + g, 20 + g])
    yield run(ADD_SAME_TWICE, x=a, g=g, s=10.0).expect(10 + 2 * g).show()
    yield run(ADD_AGAIN, a=a, b=b, g=g).expect([2 * g, 2 * g, g, a, b])
    yield run(ADD_TWO, a=a, b=b, g=g).expect([g, g, 0.0])
    yield run(ADD_SELF, x=a, g=g).expect([2, g, 2 * a, a]).on(
        "c = x + x has two parents, (x, x): the objects themselves, not their numbers."
    )
    yield run(ADD_ALONE, a=a, b=b, g=g).expect([g, 0.0, g])
    yield run(ADD, a=-a, b=2.5, g=1000.0).expect([2.5 - a, 1000.0, 1000.0])
    yield run(ADD_QUIET, a=a, b=b).expect([0.0, 0.0, 0.0])
    yield run(ADD_PARENTS, a=a, b=b).expect([a, b, "+"]).on(LINKS.format("+"))


def hand_on(out: Any) -> None:
    for parent in out.parents:
        parent.grad += out.grad


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
    yield run(MUL, a=2.0, b=3.0, g=5.0).expect([6.0, 15.0, 10.0]).show()
    yield run(MUL, a=a, b=b, g=g).expect([a * b, b * g, a * g])
    yield run(MUL, a=0.0, b=b, g=g).expect([0.0, b * g, 0.0])
    yield run(MUL_SAME, x=2.0, g=1.0).expect(4.0).show()
    yield run(MUL, a=a, b=b, g=-1000.0).expect([a * b, -1000 * b, -1000 * a])
    yield run(MUL_TWICE, a=a, b=b, g=g, s=10.0).expect([10 + b * g, -10 + a * g])
    yield run(MUL_TWICE, a=1.5, b=1.5, g=g, s=-20.0).expect([-20 + 1.5 * g, 20 + 1.5 * g])
    yield run(ADD_SAME_TWICE.replace("+", "*"), x=a, g=g, s=10.0).expect(10 + 2 * a * g).show()
    yield run(MUL_AGAIN, a=a, b=b, g=g).expect([2 * b * g, 2 * a * g, g, a, b]).show()
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
    yield run(TANH, n=n, g=-g).expect(right(n, -g))
    yield run(TANH_LINKS, n=n, g=g).expect([1, g, 0.0, "tanh"]).on('t.parents holds n alone, as (self,), and t.op is "tanh".')


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
    long, doublings = 4000 + 10 * int(rng.integers(100)), 60 + int(rng.integers(40))
    yield run(DEEP.replace("4000", str(long))).expect(long + 1).on("The list has to hold every value, of a long chain as well.")
    yield run(DOUBLED.replace("60", str(doublings))).expect(doublings + 1).on(
        "y + y uses y twice, so each round doubles the number of paths, and adds one value only. Your loop must not come to a "
        "value again for each path: which values has it seen?"
    )


MANY = 20_000


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


def level_by_level(root: Any) -> list[Any]:
    order, seen = [root], {root}
    for v in order:
        order += [p for p in dict.fromkeys(v.parents) if p not in seen]
        seen.update(v.parents)
    return order[::-1]


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


LESSON = lesson(__file__, globals(), {
    "3.1": {"probes": probes_3_1, "scaffold": given},
    "3.2": {"probes": probes_3_2, "scaffold": given},
    "3.3": {"probes": probes_3_3, "scaffold": given},
    "3.4": {"probes": probes_3_4, "prelude": GRAPHS, "scaffold": given},
    "3.5": {"probes": probes_3_5, "prelude": GRAPHS, "scaffold": given},
    "3.6": {"probes": probes_3_6, "scaffold": given},
})
