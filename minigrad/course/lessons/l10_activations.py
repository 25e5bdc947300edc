"""Lesson 10: activations with corners, and slopes that are computed from the output.

Both exercises are judged by calls on numpy arrays, against formulas of another form: a branch for each number,
hyperbolic cosines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad as torch

from ..exercise import ENGINE_OFF, Exercise, Lesson, Probe, Wrong, call, function, numbers, prediction, unaided

Array = np.ndarray[Any, Any]

OWN_RULE = (
    "That is the engine's answer: with the engine switched off, nothing is left. This is yours to write, with numpy "
    "alone. "
)

# --- 10.1 corners --------------------------------------------------------------------------------------


def branches(name: str, *given: Any) -> Any:
    """The slope of each entry by cases."""
    if name == "relu_vjp":
        x, g = given
        shares = [upstream if value > 0 else 0.0 for value, upstream in zip(x.ravel(), g.ravel(), strict=True)]
        return np.reshape(shares, x.shape)
    a, b, g = given
    first = np.zeros(a.shape)
    for i in np.ndindex(a.shape):
        first[i] = g[i] if a[i] > b[i] else g[i] / 2 if a[i] == b[i] else 0.0
    return first, g - first


def probes_10_1(rng: np.random.Generator) -> Iterator[Probe]:
    x = np.array([[2.5, 0.0, -1.5], [0.0, -0.4, 0.3]])
    yield call(x, np.array([[0.5, -2.0, 3.0], [-1.5, 0.7, -4.0]])).of("relu_vjp").show()
    yield call(numbers(rng, 4), numbers(rng, 4)).of("relu_vjp")
    a = np.array([2.5, -1.5, 0.5, 3.0])
    b = np.array([0.7, -1.5, 2.0, 3.0])
    yield call(a, b, np.array([2.0, -5.0, 3.0, 0.6])).of("maximum_vjp")
    yield call(numbers(rng, 2, 3), numbers(rng, 2, 3), numbers(rng, 2, 3)).of("maximum_vjp")
    near = np.array([0.02, -0.02, 1e-12])
    yield call(near, np.array([3.0, -2.0, 0.7])).of("relu_vjp")
    yield call(near + 2, np.array([2.0, 2.0, 2.0]), np.array([3.0, -2.0, 0.7])).of("maximum_vjp")
    yield call(np.array([2.0, 3.0]), np.array([2.0, 1.5]), np.array([0.6, -5.0])).of("maximum_vjp")
    box, tied = numbers(rng, 2, 1, 3), np.array([[[0.5, 2.0, -4.0]], [[3.0, 0.0, 1.0]]])
    yield call(tied, box).of("relu_vjp")
    yield call(tied, np.array([[[0.5, 1.0, -4.0]], [[4.0, 0.0, 1.0]]]), box / 40).of("maximum_vjp")
    yield unaided("relu_vjp", np.array([0.5, 0.0, 0.0]), x=np.array([2.5, -1.0, 0.0]), g=np.array([0.5, -2.0, 3.0]))
    yield unaided("maximum_vjp", [np.array([3.0, 0.0]), np.array([0.0, -2.0])], a=np.array([2.5, -1.0]),
                  b=np.array([0.5, 2.0]), g=np.array([3.0, -2.0]))  # fmt: skip


def relu_rule(x: Any, g: Any) -> Any:
    return np.where(x > 0, g, 0.0)


def maximum_rule(a: Any, b: Any, g: Any) -> Any:
    first = g * (np.sign(a - b) + 1) / 2
    return first, g - first


def corners(relu: Callable[..., Any] = relu_rule, maximum: Callable[..., Any] = maximum_rule) -> dict[str, Any]:
    return {"relu_vjp": relu, "maximum_vjp": maximum}


EXERCISE_10_1 = function(
    "10.1", ("relu_vjp", "maximum_vjp"),
    why="relu passes the gradient where its input was positive; a maximum passes it to the larger operand, or half to each.",
    title="slopes at a corner",
    minutes=8,
    oracle=branches,
    probes=probes_10_1,
    prelude=ENGINE_OFF,
    wrong=[
        Wrong(corners(relu=lambda x, g: np.where(g > 0, g, 0)), "M35", "relu_vjp lets the positive part of g "
              "through. Which of the two arrays decides whether the gate was open: what went in, or what "
              "comes back?", name="mask on g"),
        Wrong(corners(relu=lambda x, g: np.maximum(x, 0)), "M43", "relu_vjp returns the value of relu. How "
              "fast does that value move when x does?", name="value"),
        Wrong(corners(relu=lambda x, g: np.where(x >= 0, g, 0)), "M35", "Right everywhere but at 0 exactly, "
              "where your gate is open. PyTorch has chosen a slope for the corner: which?", name="open at 0"),
        Wrong(corners(relu=lambda x, g: (x > 0) * 1.0), "M23", "relu_vjp returns the slopes 0 and 1 and never "
              "uses g. What arrives from behind?", name="relu without g"),
        Wrong(corners(relu=lambda x, g: g * ((x > 0) + 0.5 * (x == 0))), "M35", "Half at the corner: that is "
              "what maximum(x, 0) does. relu has its own convention.", name="half at 0"),
        Wrong(corners(relu=lambda x, g: g), "M35", "Everything passes through relu_vjp, also where relu had "
              "closed the gate. A net that learns like this still reaches 98 %: who would notice?",
              name="no mask"),
        Wrong(corners(maximum=lambda a, b, g: (g * (a > b), g * (a < b))), "M35", "Where a and b tie, nobody "
              "gets anything from maximum_vjp. Both are the greatest there: how would you share?",
              name="nobody at a tie"),
        Wrong(corners(maximum=lambda a, b, g: (g * (a >= b), g * (a < b))), "M35", "At a tie, a gets "
              "everything. Would the answer be the same with a and b swapped?", name="a at a tie"),
        Wrong(corners(maximum=lambda a, b, g: (g * (a >= b), g * (b >= a))), "M35", "At a tie both get all of "
              "g: more leaves than arrived.", name="both at a tie"),
        Wrong(corners(maximum=lambda a, b, g: maximum_rule(np.round(a, 1), np.round(b, 1), g)), "M35", "Nearly equal "
              "counts as a tie in maximum_vjp. 2.02 is greater than 2: who moves the maximum?", name="near is a tie"),
        Wrong(corners(maximum=lambda a, b, g: (g, 0 * g) if (a >= b).all() else maximum_rule(a, b, g)), "M35", "As soon "
              "as a is nowhere smaller, it gets everything, ties included. Each entry decides for itself.",
              name="decided for all"),
        Wrong(corners(relu=lambda x, g: np.where(x > 0.1, g, 0)), "M35", "The gate opens too late: 0.02 is above zero. "
              "Where exactly is the corner?", name="opens late"),
        Wrong(corners(relu=lambda x, g: through(torch.relu, x, g)), "", OWN_RULE + "Which comparison is it?", name="engine"),
    ],
    alternatives=[corners(), corners(lambda x, g: g * (x > 0),
                  lambda a, b, g: (g * ((a > b) + 0.5 * (a == b)), g * ((b > a) + 0.5 * (a == b)))),
                  corners(lambda x, g: np.heaviside(x, 0) * g,
                          lambda a, b, g: [g * np.heaviside(a - b, 0.5), g * np.heaviside(b - a, 0.5)])],
    hints=[
        "A gate: what arrives is either let through or stopped, entry by entry. The input decided which.",
        "For a gate that opens below 3, g passes where x < 3 and nothing passes elsewhere.",
        "A comparison of arrays gives True and False, which count as 1 and 0. At a tie of a and b, each gets "
        "half.",
    ],
    worked="relu: g * (x > 0). maximum: tie = 0.5 * (a == b); return g * ((a > b) + tie), g * ((b > a) + tie).",
)  # fmt: skip

# --- 10.2 from the output ------------------------------------------------------------------------------


def by_cosh(name: str, out: Array, g: Array) -> Array:
    """The slopes, from the inputs that gave these outputs."""
    if name == "sigmoid_vjp":
        return g / (2 * np.cosh(np.log(out / (1 - out)) / 2)) ** 2  # type: ignore[no-any-return]
    return g / np.cosh(np.arctanh(out)) ** 2  # type: ignore[no-any-return]


def probes_10_2(rng: np.random.Generator) -> Iterator[Probe]:
    g, v = numbers(rng, 3), numbers(rng, 2, 3)
    s = np.array([0.5, 0.9, 0.2])
    yield call(s, np.array([1.0, 10.0, -2.0])).of("sigmoid_vjp")
    yield call(np.round(rng.uniform(0.1, 0.9, (2, 3)), 2), v).of("sigmoid_vjp")
    yield call(np.array([0.4, -0.6, 0.0]), g).of("tanh_vjp")
    yield call(np.round(rng.uniform(-0.9, 0.9, (2, 3)), 2), v).of("tanh_vjp")
    yield call(np.array([0.0, 1.0]), g[:2]).of("sigmoid_vjp").expect(np.zeros(2))
    yield call(np.array([1.0, -1.0]), g[:2]).of("tanh_vjp").expect(np.zeros(2))
    yield call(np.full((2, 1, 2), 0.25), numbers(rng, 2, 1, 2)).of("sigmoid_vjp")
    yield call(np.full((2, 1, 2), -0.25), numbers(rng, 2, 1, 2)).of("tanh_vjp")
    yield unaided("sigmoid_vjp", g[:1] / 4, s=np.array([0.5]), g=g[:1])
    yield unaided("tanh_vjp", 0.75 * g[:1], t=np.array([0.5]), g=g[:1])


def through(f: Callable[..., Any], x: Any, g: Any) -> Any:
    at = torch.tensor(x, requires_grad=True)
    f(at).backward(torch.tensor(g))
    assert at.grad is not None
    return at.grad.numpy()


def squash(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def from_outputs(
    sigmoid: Callable[..., Any] = lambda s, g: g * (s - s * s),
    tanh: Callable[..., Any] = lambda t, g: g - g * t * t,
) -> dict[str, Any]:
    return {"sigmoid_vjp": sigmoid, "tanh_vjp": tanh}


EXERCISE_10_2 = function(
    "10.2", ("sigmoid_vjp", "tanh_vjp"),
    why="Both derivatives can be written with the output alone: s(1 − s) for sigmoid, and 1 − t² for tanh.",
    title="slopes from the output",
    minutes=8,
    oracle=by_cosh,
    probes=probes_10_2,
    prelude=ENGINE_OFF,
    rtol=1e-8,
    wrong=[
        Wrong(from_outputs(sigmoid=lambda s, g: g * squash(s) * (1 - squash(s))), "M43", "sigmoid_vjp "
              "squashes s once more. s is already what came out: must it be computed again?",
              name="squashes again"),
        Wrong(from_outputs(sigmoid=lambda s, g: g * s), "M43", "g times s: that would be the slope of exp. At "
              "s near 1 the sigmoid is flat. Which factor is small there?", name="s only"),
        Wrong(from_outputs(sigmoid=lambda s, g: g * (1 - s)), "M43", "g times (1 - s): flat at the top, and "
              "steep at the bottom. The sigmoid is flat at both ends.", name="1 - s only"),
        Wrong(from_outputs(sigmoid=lambda s, g: s * (1 - s)), "M23", "The slope of the sigmoid, and g is not "
              "used. What arrives from behind?", name="sigmoid without g"),
        Wrong(from_outputs(tanh=lambda t, g: g * (1 - np.tanh(t) ** 2)), "M43", "tanh_vjp takes tanh of t. t "
              "is already the output: the rule needs no second tanh.", name="tanh again"),
        Wrong(from_outputs(tanh=lambda t, g: g * t * (1 - t)), "M43", "That is the sigmoid's rule. tanh runs "
              "from -1 to 1: where does its slope vanish?", name="sigmoid's rule"),
        Wrong(from_outputs(tanh=lambda t, g: g * (1 + t * t)), "M30", "With a plus the slope grows where tanh "
              "goes flat. Look at the sign.", name="plus"),
        Wrong(from_outputs(tanh=lambda t, g: 1 - t * t), "M23", "The slope of tanh, and g is not used.",
              name="tanh without g"),
        Wrong(from_outputs(tanh=lambda t, g: g * (1 - np.abs(t))), "M43", "Right at -1, 0 and 1, with straight lines "
              "between. What is missing from t?", name="not squared"),
        Wrong(from_outputs(lambda s, g: through(torch.sigmoid, np.log(s / (1 - s)), g),
                           lambda t, g: through(torch.tanh, np.arctanh(t), g)), "", OWN_RULE + "The output is all that "
              "is needed.", name="engine"),
    ],
    alternatives=[
        from_outputs(), from_outputs(lambda s, g: g * s * (1 - s), lambda t, g: g * (1 - t) * (1 + t)),
        from_outputs(lambda s, g: g * (0.25 - (s - 0.5) ** 2), lambda t, g: 4 * g * ((1 + t) / 2) * ((1 - t) / 2)),
    ],
    hints=[
        "Both slopes can be written with the output alone: nothing else needs to be kept.",
        "For exp the rule from the output is g * out: exp is its own slope.",
        "sigmoid: a product of three, zero where s is 0 and where s is 1. tanh: zero where t is 1 and -1.",
    ],
    worked="sigmoid: g * s * (1 - s). tanh: g * (1 - t * t).",
)  # fmt: skip

# --- predictions of the reading notebook ---------------------------------------------------------------

PREDICTION_10_0 = prediction(
    "10.0", [0, 0.5, 1, 0], points=0,
    title="four slopes at a corner",
    wrong=[
        Wrong([0, 0, 0, 0], "M35", "Flat for all four would be one convention. Do you believe they agree?"),
        Wrong([1, 1, 1, 1], "M35", "Open for all four would be one convention. Do you believe they agree?"),
        Wrong([0.5, 0.5, 0.5, 0], "M35", "Half would be fair, and two of them are not."),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (PREDICTION_10_0, EXERCISE_10_1, EXERCISE_10_2)

LESSON = Lesson(
    number=10,
    slug="10_activations",
    title="Activations, and a two-layer net by hand",
    after=(6, 8, 9),
    idea="At a corner a convention decides, and a slope can be read off the output.",
    introduces=(
        "relu", "maximum", "clamp", "abs", "sigmoid", "relu_vjp", "maximum_vjp", "sigmoid_vjp", "tanh_vjp",
    ),
    misconceptions=("M35",),
    exercises=EXERCISES,
)  # fmt: skip
