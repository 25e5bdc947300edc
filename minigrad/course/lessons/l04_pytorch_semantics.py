"""Lesson 04: what PyTorch does with the same code. Five functions on tensors, and three tools for the student's engine.

Exercise 4.6 is judged on a `Value` of the check, so that a slip in the engine of lesson 03 cannot spoil it.
"""

from __future__ import annotations

import contextlib  # noqa: F401 (the answers of the text use it)
from collections.abc import Iterator
from typing import Any

import numpy as np

import minigrad as torch  # noqa: F401 (the answers of the text use it)

from ..checks.own_engine import given
from ..exercise import AS_GIVEN, Outside, Probe, numbers, on_given, run
from ..lesson_text import lesson

ENGINE = "import minigrad as torch"

# --- 4.1 the state of a gradient ------------------------------------------------------------------------------

STATES = {
    "x = torch.tensor(p, requires_grad=True)\n(x * q).backward()\ngradient_state(x)": "arrived",
    "x = torch.tensor(p, requires_grad=True)\n(x * 0).backward()\ngradient_state(x)": "arrived",
    "x = torch.tensor([p, q], requires_grad=True)\n(x * x).sum().backward()\ngradient_state(x)": "arrived",
    "x = torch.tensor(p, requires_grad=True)\nk = torch.tensor(q, requires_grad=True)\n(x * 3).backward()\n"
    "gradient_state(k)": "nothing arrived",
    "x = torch.tensor(p, requires_grad=True)\ny = x * q\ngradient_state(x)": "nothing arrived",
    "x = torch.tensor(p, requires_grad=True)\n(x * q).backward()\nx.grad = None\ngradient_state(x)": "nothing arrived",
    "x = torch.tensor(p, requires_grad=True)\nb = torch.tensor(q)\n(x * b).backward()\ngradient_state(b)": "not required",
    "x = torch.tensor(p, requires_grad=True)\nwith torch.no_grad():\n    y = x * q\ngradient_state(y)": "not required",
    "x = torch.tensor(p, requires_grad=True)\ny = (x * q).detach()\ngradient_state(y)": "not required",
    "x = torch.tensor(p, requires_grad=True)\ny = x * q\ny.backward()\ngradient_state(y)": "not a leaf",
    "x = torch.tensor(p, requires_grad=True)\ny = x * q\ngradient_state(y)": "not a leaf",
    "x = torch.tensor(p, requires_grad=True)\ny = x * q\ny.retain_grad()\n(y * y).backward()\n"
    "gradient_state(y)": "arrived",
}  # fmt: skip

WAYS = {  # of which a new program is drawn for each check
    "{} = torch.tensor(p)": "not required",
    "{} = (torch.tensor(p, requires_grad=True) * q).detach()": "not required",
    "{0} = torch.tensor(p, requires_grad=True)\n{0}.grad = None": "nothing arrived",
    "{} = torch.tensor(p, requires_grad=True)": "nothing arrived",
    "{} = torch.tensor(p, requires_grad=True) * q": "not a leaf",
    "{0} = torch.tensor(p, requires_grad=True)\n({0} * q).backward()": "arrived",
}
ONLY_ASKS = (
    "x = torch.tensor(p, requires_grad=True)\ny = x * q\ngradient_state(y)\n(y * y).backward()\ngradient_state(y)"
)


def probes_4_1(rng: np.random.Generator) -> Iterator[Probe]:
    for code, state in STATES.items():
        p, q = (float(n) for n in numbers(rng, 2))
        yield run(code, p=p, q=q).expect(state).show()
    yield run(ONLY_ASKS, p=2.5, q=-1.5).expect("not a leaf").on(
        "Your function changes the tensor: after the call, y stores its gradient. Which line of yours does more than ask?"
    )
    names, ways = [str(name) for name in rng.permutation(list("abcdefgh"))], list(WAYS)
    made = {name: ways[way] for name, way in zip(names, [*rng.permutation(6).tolist(), *rng.integers(6, size=2).tolist()])}
    asked = sorted(made)
    code = "\n".join(
        [*(way.format(name) for name, way in made.items()), f"[gradient_state(t) for t in ({', '.join(asked)})]"]
    )
    yield run(code, p=2.5, q=-1.5).expect([WAYS[made[name]] for name in asked])


# --- 4.2 one gradient for each loss ---------------------------------------------------------------------------

LOSSES = "[lambda x: (x * 2).sum(), lambda x: (x * x).sum(), lambda x: (x * x * x).sum()]"
SEPARATE = f"x = torch.tensor(data, requires_grad=True)\n[g.tolist() for g in separate(x, {LOSSES})]"
AFTER = (
    f"x = torch.tensor(data, requires_grad=True)\n(x * 7).sum().backward()\n[g.tolist() for g in separate(x, {LOSSES})]"
)
TWICE = (
    "x = torch.tensor(data, requires_grad=True)\nseparate(x, [lambda x: (x * 5).sum()])\n"
    "square = lambda x: (x * x).sum()\n[g.tolist() for g in separate(x, [square, square])]"
)
NO_LOSS = "x = torch.tensor(data, requires_grad=True)\nlen(separate(x, []))"


def probes_4_2(rng: np.random.Generator) -> Iterator[Probe]:
    for data in (np.array([1.5, -2.0]), numbers(rng, 3)):
        right = [[2.0] * data.size, (2 * data).tolist(), (3 * data**2).tolist()]
        yield run(SEPARATE, data=data.tolist()).expect(right).show()
        yield run(AFTER, data=data.tolist()).expect(right)
        yield run(TWICE, data=data.tolist()).expect([right[1], right[1]])
    yield run(NO_LOSS, data=[2.5]).expect(0)


# --- 4.3 a training loop that stops ---------------------------------------------------------------------------

TRAINED = (
    "w = torch.tensor(w, requires_grad=True)\ntrain(w, steps)\nw.grad = None\n(c * w).backward()\n"
    "[w.item(), w.grad.item()]"
)  # fmt: skip
TRAINED_SAME = (
    "w = torch.tensor(w, requires_grad=True)\nv = train(w, 2)\nv = w if v is None else v\nw.grad = None\n(c * v).backward()\n"
    "[w.item(), v.item(), w.grad.item()]"
)
TRAINED_ON = "w = torch.tensor(w, requires_grad=True)\ntrain(w, 2)\ntrain(w, 1)\nw.item()"
TRAINED_OTHER = (
    "w, v = torch.tensor(w, requires_grad=True), torch.tensor(v, requires_grad=True)\ntrain(w, 2)\ntrain(v, 2)\n"
    "v.grad = None\n(c * v).backward()\n[w.item(), v.item(), v.grad.item()]"
)


def trained(w: float, steps: int) -> float:
    """The loss is (3w - 12)**2, its derivative 18 (w - 4): each step of 0.01 leaves 0.82 of the distance to 4."""
    return 4 + (w - 4) * 0.82**steps


def probes_4_3(rng: np.random.Generator) -> Iterator[Probe]:
    w, v, c = (float(n) for n in numbers(rng, 3))
    for start, steps in ((2.0, 1), (2.0, 2), (w, 1), (w, 5), (w, 0)):
        yield run(TRAINED, w=start, steps=steps, c=c).expect([trained(start, steps), c]).show()
    yield run(TRAINED_SAME, w=w, c=c).expect([trained(w, 2), trained(w, 2), c])
    yield run(TRAINED_ON, w=w).expect(trained(w, 3))
    yield run(TRAINED_OTHER, w=w, v=v, c=c).expect([trained(w, 2), trained(v, 2), c])


# --- 4.4 a sum that counts as a constant ----------------------------------------------------------------------

SCALED = "x = torch.tensor(x, requires_grad=True)\nscaled(x).tolist()"
SCALED_GRAD = (
    "x = torch.tensor(x, requires_grad=True)\n(scaled(x) * torch.tensor(weights)).sum().backward()\nx.grad.tolist()"
)
SCALED_AFTER = (
    "x = torch.tensor(x, requires_grad=True)\nscaled(x)\n(torch.tensor(weights) * x).sum().backward()\n"
    "[x.grad, x.tolist()]"
)  # fmt: skip


def probes_4_4(rng: np.random.Generator) -> Iterator[Probe]:
    for x in (np.array([1.5, 2.0, 4.0]), abs(numbers(rng, 4))):
        weights = numbers(rng, x.size)
        yield run(SCALED, x=x.tolist()).expect((x / x.sum()).tolist()).show()
        yield run(SCALED_GRAD, x=x.tolist(), weights=weights.tolist()).expect((weights / x.sum()).tolist())
        yield run(SCALED_AFTER, x=x.tolist(), weights=weights.tolist()).expect([weights, x.tolist()])
    x = abs(numbers(rng, 2, 3)) * np.array([[1, -0.2, 1], [-0.2, 1, 1]])  # two axes, and numbers of both signs
    yield run("scaled(torch.tensor(x)).tolist()", x=x.tolist()).expect((x / x.sum()).tolist())


# --- 4.5 which rule needs its input ---------------------------------------------------------------------------

NEEDS = {
    "lambda y: y + 3": False, "lambda y: y * y": True, "torch.exp": False, "torch.sin": True, "torch.tanh": False,
    "lambda y: y * 5": False, "lambda y: y**2 + y": True, "lambda y: (y + 2).exp()": False, "torch.cos": True,
    "lambda y: 4 - y": False,
}  # fmt: skip
# Functions whose text cannot be read: each asks outside for its steps when it is called.
UNREAD = ENGINE + """
class Unread:
    def __init__(self, place):
        self.place = place

    def __call__(self, y):
        z = y
        for name, number in outside("steps", self.place):
            z = {"add": lambda: z + number, "mul": lambda: z * number, "square": lambda: z * z, "from": lambda: number - z,
                 "exp": lambda: torch.exp(z), "tanh": lambda: torch.tanh(z), "sin": lambda: torch.sin(z),
                 "cos": lambda: torch.cos(z), "again": lambda: z * y}[name]()
        return z
"""  # fmt: skip
MIXED = {  # in another order, with other numbers, for each student
    "mul add": False, "mul exp": False, "add tanh mul": False, "from": False, "sin mul": True, "square mul add": True,
    "cos again": True, "add again": True, "add sin": False,
}  # fmt: skip


class Steps(Outside):
    """What each of the functions does, one step after the other."""

    methods = ("steps",)

    def __init__(self, functions: list[list[Any]]) -> None:
        self.functions = functions
        self.inside = {"functions": len(functions)}

    def steps(self, place: int) -> list[Any]:
        return self.functions[place]


LEAVES_NO_TRACE = "answers = [needs_input((torch.exp, torch.sin)[k]) for k in which]\nanswers"
USES_F = "seen = []\nneeds_input(lambda y: [y + 3, seen.append(y.requires_grad)][0])\n[len(seen) > 0, any(seen)]"


def probes_4_5(rng: np.random.Generator) -> Iterator[Probe]:
    for f, needed in NEEDS.items():
        yield run(f"needs_input({f})").expect(needed).show()
    yield run(USES_F).expect([True, True])
    a, b = np.abs(numbers(rng, 2)).tolist()
    mixed = [(f.split(), needed) for f, needed in MIXED.items()]
    mixed = [mixed[i] for i in rng.permutation(len(mixed))]
    steps = [[[name, (a, b)[i % 2]] for i, name in enumerate(f)] for f, _ in mixed]
    asked = run("[needs_input(Unread(place)) for place in range(functions)]", functions=steps).asking(Steps)
    asked = asked.on("These functions are made of the operations above, and their text cannot be read.")
    yield asked.expect([needed for _, needed in mixed])
    which = [1, 0, 1, *rng.integers(2, size=6).tolist()]  # differs from student to student: no table holds the answer
    yield run(LEAVES_NO_TRACE, which=which).expect([k == 1 for k in which])


# --- 4.6 three tools for an engine ----------------------------------------------------------------------------

# The engine of lesson 03 with what the notebook gives. `Kind` is a class like the Tensor of lesson 05.
VALUES = f"""{AS_GIVEN}
{given()["3.0"].given}

{given()["4.6"].given}

def _made(data, op, *inputs, factors):
    out = Value(data, inputs, op)
    def push():
        for value, factor in zip(inputs, factors):
            value.grad += factor * out.grad
    out._backward = push
    return out

def _order(value, found):
    for parent in value.parents:
        _order(parent, found)
    return found if value in found else found.append(value) or found

def _walk(self):
    order = _order(self, [])
    for value in order:
        value.grad = 0.0 if value.parents else value.grad
    self.grad = 1.0
    for value in reversed(order):
        value._backward()

Value.__add__ = lambda x, y: _made(x.data + y.data, "+", x, y, factors=(1.0, 1.0))
Value.__mul__ = lambda x, y: _made(x.data * y.data, "*", x, y, factors=(y.data, x.data))
Value.backward = _walk

class Kind(Value):
    pass
"""
ZERO = "x = Value(x)\n(x * x).backward()\nx.zero_grad()", "x.grad"
ZERO_NEXT = "x = Value(x)\nx.zero_grad()\n(x * x).backward()\nx.zero_grad()\n(x * x).backward()", "x.grad"
ZERO_OWN = "x = Value(x)\ny = x * x\ny.backward()\ny.zero_grad()", "[x.grad, y.grad, x.data]"
DETACH_FRESH = "x = Value(x)\n(x * x).backward()\nd = x.detach()", "[d.grad, x.grad]"
DETACH = "x = Value(x)\nz = (x * x).detach() * x\nz.backward()", "[z.data, x.grad]"
DETACH_OTHER = (
    "x, k = Value(x), Value(k)\ny = x * k\nd = y.detach()\ny.grad, d.grad = g, 2 * g",
    "[len(d.parents), len(y.parents), y.grad]",
)
DETACH_KIND = "values = [Kind(x) if each else Value(x) for each in kinds]", "[type(v.detach()).__name__ for v in values]"
OFF = "x = Value(x)\nwith no_grad():\n    y = x * x\nz = x * x", "[y.data, len(y.parents), len(z.parents)]"
CONSTANT = "x = Value(x)\nwith no_grad():\n    y = x * x\n(y * x).backward()", "x.grad"
WAITING = "x = Value(x)\nblock = no_grad()\ny = x * x\nwith block:\n    z = x * x", "[len(y.parents), len(z.parents)]"
WAITING_OUTSIDE = (
    "x = Value(x)\nblock = no_grad()\nwith no_grad():\n    with block:\n        pass\n    y = x * x",
    "len(y.parents)",
)
NESTED = (
    "x = Value(x)\nwith no_grad():\n    with no_grad():\n        w = x * x\n    y = x * x\nz = x * x",
    "[len(w.parents), len(y.parents), len(z.parents)]",
)
THREE = (
    "x = Value(x)\nwith no_grad():\n    with no_grad():\n        with no_grad():\n            pass\n    y = x * x\nz = x * x",
    "[len(y.parents), len(z.parents)]",
)
INNER_ERROR = (
    "x = Value(x)\nwith no_grad():\n    try:\n        with no_grad():\n            raise ValueError('stop')\n"
    "    except ValueError:\n        pass\n    y = x * x",
    "[len(y.parents), len((x * x).parents)]",
)
ERROR = (
    "x = Value(x)\nseen = 'none'\ntry:\n    with no_grad():\n        raise ValueError('stop')\nexcept ValueError as error:\n"
    "    seen = str(error)",
    "[seen, len((x * x).parents)]",
)


def on_values(program: tuple[str, str], **data: Any) -> Probe:
    return on_given("detach, Value=Value", *program, **data)


def probes_4_6(rng: np.random.Generator) -> Iterator[Probe]:
    x, k = (float(n) for n in numbers(rng, 2))
    yield on_values(ZERO, x=x).expect(0.0).show()
    yield on_values(ZERO_NEXT, x=x).expect(2 * x)
    yield on_values(ZERO_OWN, x=x).expect([2 * x, 0.0, x])
    yield on_values(DETACH_FRESH, x=x).expect([0.0, 2 * x])
    yield on_values(DETACH, x=2.0).expect([8.0, 4.0])
    yield on_values(DETACH, x=x).expect([x**3, x * x])
    yield on_values(DETACH_OTHER, x=x, k=k, g=x - k).expect([0, 2, x - k])
    kinds = [bool(n) for n in rng.permutation([0, 0, 1, 1])]
    yield on_values(DETACH_KIND, x=x, kinds=kinds).on("`class Kind(Value)` is a class like the `Tensor` of lesson 05.").expect(
        ["Kind" if each else "Value" for each in kinds])  # fmt: skip
    yield on_values(OFF, x=x).expect([x * x, 0, 2])
    yield on_values(CONSTANT, x=x).expect(x * x)
    yield on_values(NESTED, x=x).expect([0, 0, 2])
    yield on_values(THREE, x=x).expect([0, 2])
    yield on_values(INNER_ERROR, x=x).expect([0, 2])
    yield on_values(WAITING, x=x).expect([2, 0])
    yield on_values(WAITING_OUTSIDE, x=x).expect(0)
    yield on_values(ERROR, x=x).expect(["stop", 2])


# --- the predictions of the reading notebook ------------------------------------------------------------------


def numbered(answer: Any) -> list[bool]:
    """For None or a number, or a list of them, in each place: whether it is a number."""
    return [] if any(isinstance(part, str | bool) for part in answer) else [part is not None for part in answer]


LESSON = lesson(
    __file__,
    globals(),
    {
        "4.1": {"probes": probes_4_1, "prelude": ENGINE},
        "4.2": {"probes": probes_4_2, "prelude": ENGINE},
        "4.3": {"probes": probes_4_3, "prelude": ENGINE},
        "4.4": {"probes": probes_4_4, "prelude": ENGINE},
        "4.5": {"probes": probes_4_5, "prelude": UNREAD},
        "4.6": {"probes": probes_4_6, "prelude": VALUES},
    },
)
