"""Lesson 09: operations with a rule of one's own.

The programs below use the student's Functions as a model would: through `apply`, behind other operations, with
uneven weights. Every right answer is stated beside its program, from a closed formula in numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad as torch
from minigrad.autograd import Function

from ..exercise import Exercise, Formula, Lesson, Outside, Probe, Raises, Wrong, numbers, prediction, program, run

Array = np.ndarray[Any, Any]
BY_HAND = frozenset({"derivatives"})  # the programs below need no derivative but those of + and of the student
ENGINE = """
import minigrad as torch
from minigrad.autograd import Function

def by_rules_alone(y, v):
    # One pass, in which no rule may start a pass of its own.
    kept, backward = torch.autograd.grad, torch.Tensor.backward

    def refuse(*args, **more):
        raise RuntimeError("a rule may not start a pass of its own")

    torch.autograd.grad = torch.Tensor.backward = refuse
    try:
        backward(y, torch.tensor(v))
    finally:
        torch.autograd.grad, torch.Tensor.backward = kept, backward
"""


def made(name: str, forward: Callable[..., Any], backward: Callable[..., Any]) -> Any:
    """A Function class of this name; its methods are called in errors what a student's are called."""
    forward.__qualname__, backward.__qualname__ = f"{name}.forward", f"{name}.backward"
    return type(name, (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


# --- 9.1 Square ----------------------------------------------------------------------------------------

TEN = "x = torch.tensor(x, requires_grad=True)\nsquare(x).backward(torch.full_like(x, 10.0))\nx.grad"
WEIGHTED = "x = torch.tensor(x, requires_grad=True)\nsquare(x).backward(torch.tensor(v))\nx.grad"
NODE = "x = torch.tensor(x, requires_grad=True)\ntype(square(x).grad_fn).__name__"
INSIDE = "x = torch.tensor(x, requires_grad=True)\nsquare(square(x)).backward(torch.tensor(v))\nx.grad"
BOTH = (
    "x, z = torch.tensor(x, requires_grad=True), torch.tensor(v, requires_grad=True)\n"
    "(square(x) + square(z)).sum().backward()\n[x.grad, z.grad]"
)
TWICE = (
    "x = torch.tensor(x, requires_grad=True)\ny = {}\ny.backward(torch.tensor(v), retain_graph=True)\n"
    "y.backward(torch.tensor(v))\nx.grad"
)
ALONE = "x = torch.tensor(x, requires_grad=True)\nby_rules_alone({}, v)\nx.grad"
KEPT = "x = torch.tensor(x, requires_grad=True)\n{}.backward(torch.tensor(v))\nx.detach()"


def probes_9_1(rng: np.random.Generator) -> Iterator[Probe]:
    x, v = numbers(rng, 4), numbers(rng, 4)
    table, weights = numbers(rng, 2, 3), numbers(rng, 2, 3)
    yield run("square(torch.tensor(x))", x=x).expect(x * x)
    yield run(TEN, x=np.array([1.0, 2.0])).expect(np.array([20.0, 40.0]))
    yield run(WEIGHTED, x=x, v=v).expect(2 * x * v)
    yield run(WEIGHTED, x=table, v=weights).expect(2 * table * weights)
    yield run(INSIDE, x=x, v=v).expect(4 * v * x**3)
    yield run(BOTH, x=x, v=v).expect([2 * x, 2 * v])
    yield run(KEPT.format("square(x)"), x=x, v=v).expect(x)
    yield run(NODE, x=x).expect("SquareBackward").show().on(
        "The result has no node of Square, so square(x) has not used the class. Which method of the class records its node?")
    yield run(TWICE.format("square(x)"), x=x, v=v).expect(4 * x * v)
    yield run(ALONE.format("square(x)"), x=x, v=v).expect(2 * x * v)


def keep_x(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x)
    return x * x


def squares(backward: Callable[..., Any], forward: Callable[..., Any] = keep_x, use: Any = None) -> dict[str, Any]:
    """Square with this backward, and square(x), which applies it (or does what `use` says with it)."""
    Square = made("Square", forward, backward)
    return {"Square": Square, "square": (lambda x: use(Square, x)) if use else (lambda x: Square.apply(x))}


def square_rule(ctx: Any, g: Any) -> Any:
    (x,) = ctx.saved_tensors
    return 2 * x * g


def no_upstream(ctx: Any, g: Any) -> Any:
    return 2 * ctx.saved_tensors[0]


def no_two(ctx: Any, g: Any) -> Any:
    return g * ctx.saved_tensors[0]


def keep_out(ctx: Any, x: Any) -> Any:
    out = x * x
    ctx.save_for_backward(out)
    return out


def product_rule(ctx: Any, g: Any) -> Any:
    (x,) = ctx.saved_tensors
    return g * x + x * g


def only_upstream(ctx: Any, g: Any) -> Any:
    return g


class OnTheClass:
    """What a wrong answer stores on the class instead of the ctx: every use of the Function shares it."""

    value: Any = None


def keep_on_the_class(ctx: Any, x: Any) -> Any:
    OnTheClass.value = x
    return x * x


def from_the_class(ctx: Any, g: Any) -> Any:
    return 2 * g * OnTheClass.value


def once_more_each_time(ctx: Any, g: Any) -> Any:
    ctx.passes = getattr(ctx, "passes", 0) + 1
    return 2 * ctx.saved_tensors[0] * g * ctx.passes


def asks_the_engine(ctx: Any, g: Any) -> Any:
    with torch.autograd.enable_grad():
        x = ctx.saved_tensors[0].detach().requires_grad_()
        return torch.autograd.grad(x * x, x, g)[0]


def straight_into_grad(ctx: Any, g: Any) -> None:
    (x,) = ctx.saved_tensors
    x.grad = 2 * x.detach() * g


def writes_into_g(ctx: Any, g: Any) -> Any:
    g *= 2 * ctx.saved_tensors[0]
    return g


def squares_x_itself(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x.clone())
    x *= x
    return x.clone()


def squares_in_place(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x)
    x *= x
    return x


def root_rule(ctx: Any, g: Any) -> Any:
    return 2 * g * torch.sqrt(ctx.saved_tensors[0])


def starts_a_pass(Square: Any, x: Any) -> Any:
    Square.apply(x).sum().backward()
    return x.grad


def hang_x(ctx: Any, x: Any) -> Any:
    ctx.x = x
    return x**2


def keep_slope(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(2 * x)
    return torch.mul(x, x)


IN_PLACE = (
    "backward writes its result into g. But + passes the same g to both of its inputs, so the other input gets your "
    "numbers. Compute a new tensor instead."
)

EXERCISE_9_1 = program(
    "9.1", ("Square", "square"),
    why="The derivative of x² is 2x, and the upstream gradient multiplies it.",
    title="an operation of your own",
    minutes=8,
    prelude=ENGINE, without=BY_HAND,
    probes=probes_9_1,
    wrong=[
        Wrong(squares(no_upstream), "M23",
              "Your backward returns the derivative 2x and never uses g. This is right only if the square "
              "is the last operation. Where does the upstream gradient come in?",
              name="no upstream"),
        Wrong(squares(no_two), "M30",
              "g times x is half of the right gradient. What is the derivative of x * x?", name="no two"),
        Wrong(squares(square_rule, keep_out), "M43",
              "You saved the output and used it as if it were the input. Which of the two is in the "
              "derivative of a square?", name="saved the output"),
        Wrong(squares(only_upstream), "M23",
              "backward passes the upstream gradient on unchanged. This is the rule of x + 0. What is the "
              "derivative of a square?", name="only upstream"),
        Wrong(squares(square_rule, use=lambda Square, x: Square()(x)), "M33",
              "You made an object of the class and called it. A Function is used without an object. Which "
              "method of the *class* calls forward and records the node?", name="object"),
        Wrong(squares(square_rule, use=lambda Square, x: Square.forward(None, x)), "M33",
              "You called forward yourself, with None in the place of ctx. Which method of the class makes "
              "the ctx for you?",
              name="forward with None"),
        Wrong(squares(square_rule, use=lambda Square, x: Square.forward(x)), "M33",
              "forward got one argument too few. Either you called it yourself, without a ctx: which method of the "
              "class makes the ctx and records the node? Or it has a self in front, because @staticmethod is missing.",
              name="forward"),
        Wrong(squares(square_rule, use=lambda Square, x: x * x), "M33",
              "The numbers are right, but the graph has no node of your class Square: square(x) computes them without "
              "it, or calls forward itself. Which method of the class records its node?",
              name="unused"),
        Wrong(squares(from_the_class, keep_on_the_class), "M34",
              "Your answer is right for one square. With two squares in the graph, the second call "
              "overwrites what the first one stored, because all calls use the same place. Which object "
              "belongs to one call only?", name="on the class"),
        Wrong(squares(once_more_each_time), "M34",
              "The first pass is right. A second pass over the same graph gives another result, because "
              "backward has changed ctx. backward should only read it.", name="counts passes"),
        Wrong(squares(asks_the_engine), "",
              "Your rule lets the engine differentiate x * x. Write the derivative yourself.",
              name="asks the engine"),
        Wrong(squares(straight_into_grad), "M32",
              "backward writes into x.grad and returns nothing. This is right for a leaf that is used once. "
              "If x was computed by another operation, nothing is passed on to it. What does backward have to return?",
              name="into x.grad"),
        Wrong(squares(writes_into_g), "M15", IN_PLACE, name="in place"),
        Wrong(squares(square_rule, squares_x_itself), "M15",
              "forward has changed the numbers of x itself. The caller still needs x, so compute a new "
              "tensor.", alike="changes x", name="changes x"),
        Wrong(squares(square_rule, squares_in_place), "M15",
              "forward has changed the numbers of x itself. The caller still needs x, so compute a new "
              "tensor.", alike="changes x", name="changes x in place"),
        Wrong(squares(root_rule, keep_out), "M43",
              "The derivative has lost the sign of x, as a root of x² or abs(x) does. Compute it with x itself.",
              name="root of the output"),
        Wrong(squares(square_rule, use=lambda Square, x: Square.apply(x.detach())), "M12",
              "x or the result is detached, so no gradient reaches x. apply takes the tensor as it is, and its result is "
              "returned as it is.",
              name="detached"),
        Wrong(squares(square_rule, use=starts_a_pass), "",
              "square starts a backward pass itself. It should only return the result: the caller computes on with it, and "
              "starts the pass.", name="starts a pass"),
    ],
    alternatives=[
        squares(square_rule),
        squares(product_rule),
        squares(lambda ctx, g: g * (2 * ctx.saved_tensors[0]), use=lambda Square, x: Square.apply(x)),
        squares(lambda ctx, g: (2 * g * ctx.x,), hang_x),
        squares(lambda ctx, g: ctx.saved_tensors[0] * g if ctx.needs_input_grad[0] else None, keep_slope),
    ],
    hints=[
        "forward computes the result and saves what the rule needs. backward gets the upstream gradient g and "
        "returns the gradient of x.",
        "For a cube, forward saves x, and backward returns g times three times x squared.",
        "In backward, unpack ctx.saved_tensors, and then multiply three factors. In square, use a method of the "
        "class, and make no object.",
    ],
    worked="forward: ctx.save_for_backward(x); return x * x. backward: (x,) = ctx.saved_tensors; return g * "
           "2 * x. square: return Square.apply(x).",
)  # fmt: skip

# --- 9.2 two inputs ------------------------------------------------------------------------------------

SCALE = "x = torch.tensor(x, requires_grad=True)\nScale.apply(x, k).backward(torch.tensor(v))\nx.grad"
HYPOT = (
    "a, b = torch.tensor(a, requires_grad=True), torch.tensor(b, requires_grad=True)\n"
    "Hypot.apply(a, b).backward(torch.tensor(v))\n[a.grad, b.grad]"
)


TWO_HYPOTS = (
    "a, b = torch.tensor(a, requires_grad=True), torch.tensor(b, requires_grad=True)\n"
    "(Hypot.apply(a, b) + Hypot.apply(b, a)).backward(torch.tensor(v))\n[a.grad, b.grad]"
)
TWO_SCALES = (
    "x, z = torch.tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)\n"
    "(Scale.apply(x, k) + Scale.apply(z, -3.0)).backward(torch.tensor(v))\n[x.grad, z.grad]"
)


def probes_9_2(rng: np.random.Generator) -> Iterator[Probe]:
    x, v = numbers(rng, 3), numbers(rng, 3)
    a, b, g = numbers(rng, 2, 2), numbers(rng, 2, 2), numbers(rng, 2, 2)
    r = np.hypot(a, b)
    yield run("Scale.apply(torch.tensor(x), k)", x=x, k=2.5).expect(2.5 * x)
    yield run(SCALE, x=x, k=2.5, v=v).expect(2.5 * v)
    yield run(TWO_SCALES, x=x, k=2.5, v=v).expect([2.5 * v, -3 * v])
    yield run("Hypot.apply(torch.tensor(a), torch.tensor(b))", a=a, b=b).expect(r)
    yield run(HYPOT, a=np.array([3.0]), b=np.array([4.0]), v=np.array([10.0])).expect(
        [np.array([6.0]), np.array([8.0])]
    )
    yield run(HYPOT, a=a, b=b, v=g).expect([g * a / r, g * b / r])
    yield run(HYPOT, a=np.array([0.0, 3.0]), b=np.array([0.0, -4.0]), v=np.array([2.0, 5.0])).expect(
        [np.array([0.0, 3.0]), np.array([0.0, -4.0])]
    )
    yield run(HYPOT, a=np.array([0.0, -5.0]), b=np.array([2.0, 0.0]), v=np.array([3.0, 7.0])).expect(
        [np.array([0.0, -7.0]), np.array([3.0, 0.0])]
    )
    yield run(TWO_HYPOTS, a=a, b=b, v=g).expect([2 * g * a / r, 2 * g * b / r])
    yield run(SCALE, x=x, k=0.0, v=v).expect(0 * v)
    yield run(SCALE, x=x, k=1.375, v=v).expect(1.375 * v)
    yield run(TWICE.format("Scale.apply(x, -0.75)"), x=x, v=v).expect(-1.5 * v)
    yield run(HYPOT, a=np.array([3e-7]), b=np.array([4e-7]), v=np.array([10.0])).expect(
        [np.array([6.0]), np.array([8.0])]
    ).on("Here a and b are 3e-7 and 4e-7, and their length is small, but not 0. Replace the divisor only where it is exactly "
         "0, and add nothing to it.")  # fmt: skip


def steps_9_2(probe: Probe) -> dict[str, Any]:
    """The length, which forward has computed."""
    return {"r": np.hypot(probe.data["a"], probe.data["b"])} if "a" in probe.data else {}


def likely_9_2(probe: Probe) -> dict[str, Any]:
    """Gradients of Hypot with a likely mistake, by what to say about it."""
    if probe.code == SCALE:
        x, k, v = (probe.data[name] for name in "xkv")
        with np.errstate(all="ignore"):
            return {
                "Scale.backward divides by k. x was multiplied by k, so how fast does the result change?": v / np.float64(k),
                "Scale.backward multiplies g by x, which is the derivative by k. The derivative by x is asked for.": v * x,
                "Scale.backward adds k to g. The derivative is a factor.": v + k,
                "Scale.backward multiplies by k twice.": v * k * k,
                "Scale.backward multiplies by x as well as by k. The derivative of x * k by x has no x.": v * k * x,
                "Scale.backward has the wrong sign.": -v * k, "Scale.backward gives x * k, the result.": x * k,
                "Scale.backward gives zeros. x has a gradient.": 0 * v,
            }  # fmt: skip
    if probe.code.startswith("Hypot"):
        a, b = (probe.data[name] for name in "ab")
        return {
            "Hypot.forward gives a + b. Which root and which squares are in a length?": a + b,
            "Hypot.forward lacks the square root.": a * a + b * b, "Hypot.forward adds the sizes of a and b.": abs(a) + abs(b),
        }  # fmt: skip
    if probe.code != HYPOT:
        return {}
    a, b, v = (probe.data[name] for name in "abv")
    r, found = np.hypot(a, b), {}
    with np.errstate(all="ignore"):
        for end, d in (("", np.where(r == 0, 1.0, r)), (" And at (0, 0) you divide by 0.", r)):
            for words, one, other in (
                ("Each gradient of Hypot has both a and b above the line. Only one of them is moved at a time.", a + b, a + b),
                ("a and b are squared above the line. Their derivatives under the root are 2a and 2b.", a * a, b * b),
                ("The gradients of a and b are swapped.", b, a), ("You divide by r twice.", a / d, b / d),
                ("You divide by r three times.", a / d / d, b / d / d),
                ("Above the line, a and b are missing. The chain rule gives a factor 2a or 2b.", 1 + 0 * a, 1 + 0 * b),
                ("This is the derivative of the root alone, 1 / (2r). Under the root stands a * a + b * b, and the derivative "
                 "of a * a is a factor, too.", 0.5 + 0 * a, 0.5 + 0 * b),
                ("The sign is wrong. Does the length grow or fall when a positive a grows?", -a, -b),
                ("The gradient of b is that of a once more.", a, a), ("The gradient of b has the wrong sign.", a, -b),
                ("The gradients have lost the sign of a and b.", abs(a), abs(b)),
                ("The factor 2 of 2a and 2b, and the 1/2 of the root, do not cancel here.", 2 * a, 2 * b),
                ("The factor 2 of 2a and 2b, and the 1/2 of the root, do not cancel here.", a / 2, b / 2),
            ):
                found[words + end] = [v * one / d, v * other / d]
            found["g is not used, and the upstream gradient is a factor of each rule." + end] = [a / d, b / d]
        d, one = np.where((r == 0).any(), 1.0, r), "One pair is (0, 0), and your divisor is 1 for all pairs."
        found[f"{one} Decide for each entry separately."] = [v * a / d, v * b / d]
        for words, one, other in (
            ("Hypot.backward passes g on. What is the derivative of a square root?", v, v),
            ("Hypot.backward multiplies by r, the result. What is the derivative of a square root?", v * r, v * r),
            ("These are the derivatives of a * a + b * b, without the root.", 2 * a * v, 2 * b * v),
            ("The divisor is r, and not the sum of a and b.", v * a / (a + b), v * b / (a + b)),
            ("You add 1 to the divisor r. Only where r is 0 does it need another number.", v * a / (r + 1), v * b / (r + 1)),
            ("The divisor is r, and not the other input.", v * a / b, v * b / a),
        ):
            found[words] = [one, other]
            found[words + " The zeros are replaced."] = [np.where(np.isfinite(each), each, 0.0) for each in (one, other)]
    return found


def scale_forward(ctx: Any, x: Any, k: Any) -> Any:
    ctx.k = k
    return x * k


def scale_rule(ctx: Any, g: Any) -> Any:
    return g * ctx.k, None


def hypot_forward(ctx: Any, a: Any, b: Any) -> Any:
    r = torch.sqrt(a * a + b * b)
    ctx.save_for_backward(a, b, r)
    return r


def hypot_rule(ctx: Any, g: Any) -> Any:
    a, b, r = ctx.saved_tensors
    safe = torch.where(r == 0, torch.ones_like(r), r)
    return g * a / safe, g * b / safe


def two_inputs(scale: Callable[..., Any] = scale_rule, hypot: Callable[..., Any] = hypot_rule) -> dict[str, Any]:
    return {"Scale": made("Scale", scale_forward, scale), "Hypot": made("Hypot", hypot_forward, hypot)}


def hypot_at_zero(ctx: Any, g: Any) -> Any:
    a, b, r = ctx.saved_tensors
    return g * a / r, g * b / r


def hypot_swapped(ctx: Any, g: Any) -> Any:
    one, other = hypot_rule(ctx, g)
    return other, one


def hypot_slopes(ctx: Any, g: Any) -> Any:
    return hypot_rule(ctx, torch.ones_like(g))


def hypot_without_root(ctx: Any, g: Any) -> Any:
    a, b, _ = ctx.saved_tensors
    return g * a, g * b


def hypot_times(factor: Callable[..., Any]) -> Callable[..., Any]:
    """Both gradients multiplied by a factor, which is computed from r (1 where both inputs are 0)."""

    def backward(ctx: Any, g: Any) -> Any:
        r = ctx.saved_tensors[2]
        return tuple(each * factor(r + (r == 0)) for each in hypot_rule(ctx, g))

    return backward


def hypot_root_alone(ctx: Any, g: Any) -> Any:
    r = ctx.saved_tensors[2]
    only = torch.where(r > 0, g / (2 * (r + (r == 0))), torch.zeros_like(g))
    return only, only.clone()


def hypot_upside_down(ctx: Any, g: Any) -> Any:
    a, b, r = ctx.saved_tensors
    return g * r / (a + (a == 0)), g * r / (b + (b == 0))


def hypot_one_at_zero(ctx: Any, g: Any) -> Any:
    r = ctx.saved_tensors[2]
    return tuple(torch.where(r > 0, each, torch.ones_like(g)) for each in hypot_rule(ctx, g))


def hypot_in_place(ctx: Any, g: Any) -> Any:
    a, b, r = ctx.saved_tensors
    g /= r + (r == 0)
    return g * a, g * b


def hypot_masked(ctx: Any, g: Any) -> Any:
    a, b, r = ctx.saved_tensors
    direction = torch.where(r > 0, g / (r + (r == 0)), torch.zeros_like(g))
    return direction * a, direction * b


def hypot_nudged(by: float) -> Callable[..., Any]:
    return hypot_times(lambda r: r / (r + by))


def hypot_shut_by_a_zero(ctx: Any, g: Any) -> Any:
    a, b, _ = ctx.saved_tensors
    one, other = hypot_rule(ctx, g)
    whole = (a != 0) & (b != 0)
    return torch.where(whole, one, torch.zeros_like(g)), torch.where(whole, other, torch.zeros_like(g))


def hypot_shut_for_all(ctx: Any, g: Any) -> Any:
    if bool((ctx.saved_tensors[2] == 0).any()):
        return torch.zeros_like(g), torch.zeros_like(g)
    return hypot_at_zero(ctx, g)


def hypot_filled(ctx: Any, g: Any) -> Any:
    a, b, r = ctx.saved_tensors
    inverse = (1 / r).masked_fill(r == 0, 0.0)
    return g * a * inverse, g * b * inverse


def scale_if_asked(ctx: Any, g: Any) -> Any:
    return (g.mul(ctx.k) if ctx.needs_input_grad[0] else None), None


def scale_shared(ctx: Any, x: Any, k: Any) -> Any:
    OnTheClass.value = k
    return x * k


def scale_in_a_list(ctx: Any, g: Any) -> Any:
    return tuple([ctx.k * g] + [None])


EXERCISE_9_2 = program(
    "9.2", ("Scale", "Hypot"),
    why="backward returns one gradient for each input of forward, and None for an input that is not a tensor.",
    title="one gradient for each input",
    minutes=12,
    prelude=ENGINE, without=BY_HAND,
    probes=probes_9_2,
    steps=steps_9_2,
    likely=likely_9_2,
    wrong=[
        Wrong(two_inputs(scale=lambda ctx, g: g * ctx.k), "M32",
              "Scale.backward returns one value, but forward took x and k. k is a plain number. What do you "
              "return for an input that is not a tensor?",
              name="one for Scale"),
        Wrong(two_inputs(hypot=lambda ctx, g: hypot_rule(ctx, g)[0]), "M32",
              "Hypot.backward returns one value for two tensors. Which gradient is missing?",
              name="one for Hypot"),
        Wrong(two_inputs(hypot=hypot_swapped), "M32",
              "The gradients of a and b are swapped. Return them in the order of the inputs of forward.",
              name="swapped"),
        Wrong(two_inputs(hypot=hypot_at_zero), "M35",
              "At (0, 0) your gradient is nan, because 0 is divided by 0. The length has a kink there, and "
              "the gradient should be 0. How do you avoid the division by 0?",
              name="nan in the corner"),
        Wrong(two_inputs(hypot=hypot_slopes), "M23",
              "The derivatives of Hypot are right, but g is not used. Where does the upstream gradient come "
              "in?",
              name="Hypot without g"),
        Wrong(two_inputs(scale=lambda ctx, g: (ctx.k * torch.ones_like(g), None)), "M23",
              "Scale.backward returns k and does not use g. Where does the upstream gradient come in?",
              name="Scale without g"),
        Wrong(two_inputs(hypot=hypot_without_root), "M43",
              "These are the derivatives of half the *squared* length. What does the square root change?",
              name="without the root"),
        Wrong(two_inputs(scale=lambda ctx, g: (g, None)), "",
              "Scale.backward passes g on unchanged. x was multiplied by k. What is the derivative of x * k "
              "with respect to x?", name="Scale without k"),
        *(Wrong(two_inputs(hypot=hypot_nudged(by)), "M51",
                "You add a small number to the divisor. Now there is no nan, but the gradients are wrong "
                "where the length is small. At which value is the division not possible?",
                alike="nudged", name=f"nudged by {by:g}") for by in (1e-9, 1e-8, 1e-6, 1e-5, 1e-3)),
        Wrong(two_inputs(hypot=lambda ctx, g: (hypot_rule(ctx, g)[0], hypot_rule(ctx, g)[0].clone())), "M32",
              "Hypot.backward returns the gradient of a twice. What is the derivative with respect to b?", name="a twice"),
        Wrong(two_inputs(hypot=hypot_root_alone), "M30",
              "This is the derivative of the root alone. Under the root stands a * a, and its derivative is a factor, too.",
              name="root alone"),
        Wrong(two_inputs(hypot=hypot_times(lambda r: 0.5)), "M30",
              "The gradients of Hypot are half of the right ones. The root gives 1 / (2r): which factor does a * a give?",
              name="half"),
        Wrong(two_inputs(hypot=hypot_times(lambda r: 2.0)), "M30",
              "The gradients of Hypot are twice the right ones. a * a gives the factor 2a: which factor does the root give?",
              name="twice"),
        Wrong(two_inputs(hypot=hypot_times(lambda r: 1 / r)), "M30",
              "Hypot.backward divides by r twice. The derivative of the root is 1 / (2r), with one r.", name="over r squared"),
        Wrong(two_inputs(hypot=hypot_times(lambda r: r * r)), "M30",
              "Hypot.backward multiplies by r. The derivative of the root is 1 / (2r): r belongs into the divisor.",
              name="times r"),
        Wrong(two_inputs(hypot=hypot_upside_down), "M30",
              "Your quotient is upside down. Where a is much smaller than b, the length hardly changes with a, so the gradient "
              "of a is small there.",
              name="upside down"),
        Wrong(two_inputs(hypot=hypot_in_place), "M15", IN_PLACE, name="in place"),
        Wrong(two_inputs(hypot=hypot_one_at_zero), "M35",
              "Where both inputs are 0, your gradient is 1. The task asks for 0 there.", name="one at zero"),
        Wrong(two_inputs(hypot=hypot_shut_by_a_zero), "M35",
              "Your gradient is 0 as soon as *one* of the two numbers is 0. The pair (0, 2) has the length "
              "2, and there is no kink. Where is the only kink?",
              name="shut by one zero"),
        Wrong(two_inputs(hypot=hypot_shut_for_all), "M35",
              "If one pair is (0, 0), all gradients become 0. Decide for each entry separately.",
              name="shut for all"),
        Wrong(two_inputs(scale=lambda ctx, g: (g * (ctx.k or 1.0), None)), "M05",
              "Scale.backward treats k = 0 as if there were no k. If k is 0, what is the derivative of x * "
              "k?", name="Scale by 0"),
        Wrong(two_inputs(scale=lambda ctx, g: (g * abs(ctx.k), None)), "M30",
              "Scale.backward loses the sign of k. If k is -3, does the result grow or fall when x grows?",
              name="Scale without sign"),
        Wrong({"Scale": made("Scale", scale_shared, lambda ctx, g: (g * OnTheClass.value, None)),
               "Hypot": made("Hypot", hypot_forward, hypot_rule)}, "M34",
              "Your answer is right for one Scale. With two of them in the graph, the second one overwrites "
              "the k of the first. Which object belongs to one call only?", name="shared k"),
    ],
    alternatives=[two_inputs(), two_inputs(scale_in_a_list, hypot_masked), two_inputs(scale_if_asked, hypot_filled)],
    hints=[
        "backward returns one value for each argument of forward after ctx, in the same order. For an argument that "
        "is not a tensor it returns None.",
        "For forward(ctx, a, n, b), where n is a plain number, backward returns three values, and the second one is "
        "None.",
        "Hypot: the derivative with respect to a is a / r. Where r is 0, divide by another number (torch.where), "
        "because a is 0 there anyway.",
    ],
    worked="Scale: ctx.k = k; return g * ctx.k, None. Hypot: save a, b, r; safe = torch.where(r == 0, "
           "torch.ones_like(r), r); return g * a / safe, g * b / safe.",
)  # fmt: skip

# --- 9.3 what is saved, and when it is stale -----------------------------------------------------------

CUBE = "x = torch.tensor(x, requires_grad=True)\nCube.apply(x).backward(torch.tensor(v))\nx.grad"
CUBE_TWICE = "x = torch.tensor(x, requires_grad=True)\nCube.apply(Cube.apply(x)).sum().backward()\nx.grad"
BAG = "x = torch.tensor(x, requires_grad=True)\nlen(Cube.apply(x).grad_fn.saved_tensors)"
HUNG = (
    "x = torch.tensor(x, requires_grad=True)\n"
    "[name for name, thing in vars(Cube.apply(x).grad_fn).items() if isinstance(thing, torch.Tensor)]"
)
INPUT_CHANGED = (
    "x = torch.tensor(x, requires_grad=True)\ny = x + 0\nz = Cube.apply(y)\ny += 1\nz.sum().backward()\nx.grad"
)
OUTPUT_CHANGED = (
    "x = torch.tensor(x, requires_grad=True)\ny = x + 0\nz = Cube.apply(y)\nz += 2\nz.sum().backward()\nx.grad"
)


WATCHED = (
    "The engine watches what forward gives to save_for_backward, and nothing else: no attribute of ctx, no array, no copy. It "
    "has to get x, and x alone."
)


def probes_9_3(rng: np.random.Generator) -> Iterator[Probe]:
    x, v = numbers(rng, 3), numbers(rng, 3)
    mixed = np.array([-1.5, 0.5, 2.0])
    yield run("Cube.apply(torch.tensor(x))", x=x).expect(x**3)
    yield run(CUBE, x=mixed, v=v).expect(3 * v * mixed**2)
    yield run("Cube.apply(torch.tensor(x))", x=mixed).expect(mixed**3)
    yield run(CUBE_TWICE, x=x).expect(9 * x**8)
    yield run(INPUT_CHANGED, x=np.array([1.0, 2.0])).expect(Raises("RuntimeError", "modified by an inplace")).show().on(WATCHED)
    yield run(OUTPUT_CHANGED, x=x).expect(3 * x**2)
    yield run(BAG, x=x).expect(1).show().on(WATCHED)
    yield run(HUNG, x=x).expect([]).show().on(WATCHED)
    yield run(TWICE.format("Cube.apply(x)"), x=x, v=v).expect(6 * v * x**2)
    tiny = np.array([2e-4, -3e-4])  # a slope measured with a step of 1e-5 is off
    yield run(ALONE.format("Cube.apply(x)"), x=tiny, v=np.array([1e6, 2e6])).expect([0.12, 0.54])


def cube(forward: Callable[..., Any], backward: Callable[..., Any]) -> Any:
    return made("Cube", forward, backward)


def saves_x(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x)
    return x**3


def cube_rule(ctx: Any, g: Any) -> Any:
    (x,) = ctx.saved_tensors
    return g * 3 * x**2


def hangs_x(ctx: Any, x: Any) -> Any:
    ctx.x = x
    return x**3


def hung_rule(ctx: Any, g: Any) -> Any:
    return g * 3 * ctx.x**2


def copies_x(ctx: Any, x: Any) -> Any:
    ctx.x = x.clone()
    return x**3


def saves_a_copy(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x.clone())
    return x**3


def saves_out(ctx: Any, x: Any) -> Any:
    out = x**3
    ctx.save_for_backward(out)
    return out


def rule_from_out(ctx: Any, g: Any) -> Any:
    (out,) = ctx.saved_tensors
    return g * 3 * torch.abs(out) ** (2 / 3)


def saves_both(ctx: Any, x: Any) -> Any:
    out = x**3
    ctx.save_for_backward(x, out)
    return out


def rule_from_both(ctx: Any, g: Any) -> Any:
    x, _ = ctx.saved_tensors
    return g * 3 * x**2


def checks_by_hand(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x)
    return x * x * x


COPIES = (
    "There was no error, because backward used another tensor than x: a copy, or something computed from x. It is made in "
    "every forward pass and takes as much memory as x itself. The engine can watch x for you. Which call makes it do so?"
)

def guards_itself(ctx: Any, x: Any) -> Any:
    ctx.x, ctx.before = x, x.clone()
    return x**3


def guarded_rule(ctx: Any, g: Any) -> Any:
    if bool((ctx.x != ctx.before).any()):
        raise RuntimeError("x has been modified by an inplace operation")
    return g * 3 * ctx.x**2


def hangs_a_square(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x)
    ctx.square = x * x
    return x * ctx.square


def rule_from_the_hung(ctx: Any, g: Any) -> Any:
    _ = ctx.saved_tensors
    return g * 3 * ctx.square


def keep_a_cube_outside(ctx: Any, x: Any) -> Any:
    OnTheClass.value = x
    return x**3


def cube_from_outside(ctx: Any, g: Any) -> Any:
    return g * 3 * OnTheClass.value**2


def measured_cube(ctx: Any, g: Any) -> Any:
    (x,) = ctx.saved_tensors
    return g * ((x + 1e-5) ** 3 - (x - 1e-5) ** 3) / 2e-5


def saves_a_square(ctx: Any, x: Any) -> Any:
    square = x * x
    ctx.save_for_backward(x, square)
    return x * square


EXERCISE_9_3 = program(
    "9.3", "Cube",
    why="save_for_backward remembers the version of the tensor, so a change in place is noticed.",
    title="saved tensors that notice a change",
    minutes=8,
    prelude=ENGINE, without=BY_HAND,
    probes=probes_9_3,
    wrong=[
        Wrong(cube(hangs_x, hung_rule), "M34",
              "There was no error, and the gradient is wrong: it was computed with the changed numbers. A "
              "tensor that is an attribute of ctx is not watched. Which call lets the engine watch it?",
              name="on ctx"),
        Wrong(cube(copies_x, hung_rule), "M34", COPIES, alike="copy", name="copy on ctx"),
        Wrong(cube(saves_a_copy, cube_rule), "M34", COPIES, alike="copy", name="saved copy"),
        Wrong(cube(saves_out, rule_from_out), "M15",
              "You saved the output. So a change of the *input* is not noticed, and a harmless change of "
              "the output raises an error. Which tensor does the rule need?",
              name="saved the output"),
        Wrong(cube(saves_both, rule_from_both), "M15",
              "forward saves the output as well, and the rule can do without it. It takes memory, and a later change of it "
              "raises an error. How is 3x² computed from x alone?",
              name="saved both"),
        Wrong(cube(keep_a_cube_outside, cube_from_outside), "M34",
              "x is kept in one place for all calls, so a second Cube overwrites the x of the first. Which object belongs to "
              "one call only, and which of its methods watches x?", name="on the class"),
        Wrong(cube(saves_x, lambda ctx, g: 3 * ctx.saved_tensors[0] ** 2), "M23",
              "The derivative is right, but g is not used. Where does the upstream gradient come in?",
              name="no upstream"),
        Wrong(cube(saves_x, lambda ctx, g: g * ctx.saved_tensors[0] ** 2), "M30",
              "The factor 3 is missing. What is the derivative of x to the third?", name="no three"),
        Wrong(cube(guards_itself, guarded_rule), "M34",
              "You compare with a copy. This notices the change, but in every forward pass it takes the "
              "memory of x once more. The engine counts the changes at no cost. Which call makes it do so?",
              name="own guard"),
        Wrong(cube(saves_a_square, lambda ctx, g: g * 3 * ctx.saved_tensors[1]), "M15",
              "You save two tensors where one is enough, because backward can compute all it needs from x. "
              "What is the least that the rule needs?",
              name="saved a square"),
        Wrong(cube(hangs_a_square, rule_from_the_hung), "M34",
              "The square is an attribute of ctx. It is not watched, and it stays in memory as long as the "
              "graph does. backward can compute it again from x.", name="hangs a square"),
        Wrong(cube(saves_x, measured_cube), "M44",
              "Your rule measures the derivative instead of computing it. The result is only approximate "
              "where x is small. What is the exact derivative of a cube?", name="measured"),
        Wrong(cube(lambda ctx, x: saves_x(ctx, x).abs(), cube_rule), "",
              "Negative values have lost their sign: (-2) to the third is -8.", name="abs"),
    ],
    alternatives=[
        cube(saves_x, cube_rule),
        cube(checks_by_hand, lambda ctx, g: 3 * ctx.saved_tensors[0] * ctx.saved_tensors[0] * g),
        cube(lambda ctx, x: (ctx.save_for_backward(x), torch.pow(x, 3.0))[1],
             lambda ctx, g: (torch.square(ctx.saved_tensors[0]) * g * 3,) if ctx.needs_input_grad[0] else None),
    ],
    hints=[
        "The rule has to use the numbers of the forward pass. If they were changed in the meantime, there has to be "
        "an error.",
        "The engine counts the changes of each tensor. save_for_backward stores this count, and saved_tensors "
        "compares it.",
        "Save the input itself with save_for_backward. You need no copy, no attribute and nothing else.",
    ],
    worked="forward: ctx.save_for_backward(x); return x**3. backward: (x,) = ctx.saved_tensors; return g * 3 "
           "* x**2.",
)  # fmt: skip

# --- 9.4 chosen gradients ------------------------------------------------------------------------------

THROUGH = "x = torch.tensor(x, requires_grad=True)\nRoundThrough.apply(x).backward(torch.tensor(v))\nx.grad"
SHARED = (
    "x, z = torch.tensor(x, requires_grad=True), torch.tensor(z, requires_grad=True)\n"
    "(RoundThrough.apply(z) + Reverse.apply(x, -3.0)).backward(torch.tensor(v))\n[x.grad, z.grad]"
)
REVERSE = "x = torch.tensor(x, requires_grad=True)\nReverse.apply(x, k).backward(torch.tensor(v))\nx.grad"


def probes_9_4(rng: np.random.Generator) -> Iterator[Probe]:
    x, v = numbers(rng, 4), numbers(rng, 4)
    some = np.array([0.2, 1.7, -1.2, -2.64, 3.38])
    yield run("RoundThrough.apply(torch.tensor(x))", x=some).expect(np.array([0.0, 2.0, -1.0, -3.0, 3.0]))
    yield run(THROUGH, x=x, v=v).expect(v)
    yield run("Reverse.apply(torch.tensor(x), k)", x=x, k=0.5).expect(x)
    yield run(REVERSE, x=x, k=0.5, v=v).expect(-0.5 * v)
    yield run(REVERSE, x=np.array([1.0, 2.0]), k=-3.0, v=np.array([10.0, -1.0])).expect(np.array([30.0, -3.0]))
    for name in ("RoundThrough.apply(x)", "Reverse.apply(x, -3.0)"):
        yield run(KEPT.format(name), x=x, v=v).expect(x)
    yield run(SHARED, x=x, z=2 * x, v=v).expect([3 * v, v])
    yield run(REVERSE.replace("(x, k)", "(Reverse.apply(x, 2.0), k)"), x=x, k=-3.0, v=v).expect(-6 * v)
    yield run(REVERSE, x=x, k=0.0, v=v).expect(0 * v)
    yield run(TWICE.format("RoundThrough.apply(Reverse.apply(x, 0.25))"), x=x, v=v).expect(-0.5 * v)


def likely_9_4(probe: Probe) -> dict[str, Any]:
    """Values and gradients with a likely mistake, by what to say about it."""
    x, k, v = (probe.data.get(name, 0.0) for name in "xkv")
    if probe.code.startswith("RoundThrough.apply(torch.tensor"):
        return {
            "RoundThrough rounds up, but 0.2 should become 0.": np.ceil(x), "0.2 becomes 1 here.": np.floor(x) + 1,
            "0.5 is added, and nothing is cut off after it.": x + 0.5, "The sign is lost.": np.abs(np.round(x)),
        }  # fmt: skip
    if probe.code == REVERSE:
        return {
            "** is a power. The upstream gradient is multiplied by -k.": v**-k,
            "Reverse uses the numbers of x, where the upstream gradient belongs.": -k * x,
        }
    return {}


def rounds(ctx: Any, x: Any) -> Any:
    return torch.round(x)


def hands_on(ctx: Any, g: Any) -> Any:
    return g


def keeps_k(ctx: Any, x: Any, k: Any) -> Any:
    ctx.k = k
    return x.view_as(x)


def reverses(ctx: Any, g: Any) -> Any:
    return -ctx.k * g, None


def liars(
    forward: Callable[..., Any] = rounds, backward: Callable[..., Any] = hands_on,
    forward2: Callable[..., Any] = keeps_k, backward2: Callable[..., Any] = reverses,
) -> dict[str, Any]:  # fmt: skip
    return {"RoundThrough": made("RoundThrough", forward, backward), "Reverse": made("Reverse", forward2, backward2)}


def sign_in_forward(ctx: Any, x: Any, k: Any) -> Any:
    ctx.k = k
    return -k * x


def keeps_and_rounds(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x)
    return torch.round(x)


def ramp(ctx: Any, g: Any) -> Any:
    return g * (ctx.saved_tensors[0].abs() < 1)


def copies_and_keeps(ctx: Any, x: Any, k: Any) -> Any:
    ctx.k = k
    return x.clone()


def rounds_away(ctx: Any, x: Any) -> Any:
    return x.detach().round()


def turns_g_itself(ctx: Any, g: Any) -> Any:
    g *= -ctx.k
    return g, None


def keeps_k_for_all(ctx: Any, x: Any, k: Any) -> Any:
    OnTheClass.value = k
    return x.view_as(x)


def turns_by_the_shared(ctx: Any, g: Any) -> Any:
    return -OnTheClass.value * g, None


def rounds_x_itself(ctx: Any, x: Any) -> Any:
    return x.data.round_().clone()


EXERCISE_9_4 = program(
    "9.4", ("RoundThrough", "Reverse"),
    why="The engine passes on whatever backward returns and does not compare it with forward.",
    title="two gradients of your choice",
    minutes=8,
    prelude=ENGINE, without=BY_HAND,
    probes=probes_9_4,
    likely=likely_9_4,
    wrong=[
        Wrong(liars(backward=lambda ctx, g: g * 0), "M23",
              "RoundThrough returns zeros, the true derivative of rounding. Nothing before it would ever "
              "learn. Which gradient should it return instead?",
              name="honest zeros"),
        Wrong(liars(backward=lambda ctx, g: torch.ones_like(g)), "M23",
              "RoundThrough returns ones and does not use g. It should pass the upstream gradient on as it "
              "is.",
              name="ones"),
        Wrong(liars(forward=lambda ctx, x: x.clone()), "",
              "RoundThrough does not round. Its forward should round, and only its gradient is replaced.",
              name="does not round"),
        Wrong(liars(backward=lambda ctx, g: None), "M32",
              "RoundThrough.backward returns nothing, so no gradient is passed on. Which one should be?",
              name="returns nothing"),
        Wrong(liars(forward2=sign_in_forward), "",
              "Reverse changes the numbers in forward. They should stay as they are. In which method is the "
              "sign changed?", name="sign in forward"),
        Wrong(liars(backward2=lambda ctx, g: (ctx.k * g, None)), "M30",
              "Reverse scales the gradient by k but does not change its sign.", name="no sign"),
        Wrong(liars(backward2=lambda ctx, g: (-g, None)), "",
              "Reverse changes the sign of the gradient but does not multiply by k.",
              name="no k"),
        Wrong(liars(backward2=lambda ctx, g: -ctx.k * g), "M32",
              "Reverse.backward returns one value, but forward took x and k.", name="one answer"),
        Wrong(liars(backward=lambda ctx, g: torch.round(g)), "M23",
              "RoundThrough rounds the gradient as well. Only forward should round.", name="rounds g"),
        Wrong(liars(forward=lambda ctx, x: torch.floor(x)), "",
              "RoundThrough rounds down, but 1.7 should become 2.",
              name="floor"),
        Wrong(liars(forward=lambda ctx, x: torch.tensor(np.trunc(x.detach().numpy()))), "",
              "RoundThrough cuts the decimals off, but 1.7 should become 2.", name="cuts off"),
        Wrong(liars(forward=lambda ctx, x: torch.tensor(x.detach().numpy().astype(int))), "",
              "RoundThrough makes whole numbers: this cuts the decimals off, and a tensor of whole numbers has no gradient.",
              name="whole numbers"),
        Wrong(liars(forward=keeps_and_rounds, backward=ramp), "",
              "RoundThrough passes g on only near 0, as the lesson's Switch does. The task asks for g without a change.",
              name="the lesson's ramp"),
        Wrong(liars(backward2=lambda ctx, g: (g, None)), "M30",
              "Reverse.backward passes g on unchanged. Which factor belongs to it?", name="nothing reversed"),
        Wrong(liars(forward2=lambda ctx, x, k: -x, backward2=lambda ctx, g: (g, None)), "",
              "Reverse changes the sign of the numbers, and not that of the gradient. It should be the other way round.",
              name="the wrong way round"),
        Wrong(liars(backward2=lambda ctx, g: (-abs(ctx.k) * g, None)), "M30",
              "Reverse loses the sign of k. The gradient is multiplied by -k, so for k = -3 it is "
              "multiplied by 3.", name="sign of k"),
        Wrong(liars(forward2=keeps_k_for_all, backward2=turns_by_the_shared),
              "M34",
              "Your answer is right for one Reverse. With two of them in the graph, the second one "
              "overwrites the k of the first. Which object belongs to one call only?", name="shared k"),
        Wrong(liars(backward2=turns_g_itself), "M15", IN_PLACE, name="in place"),
        Wrong(liars(forward=rounds_x_itself), "M15",
              "RoundThrough has rounded x itself. The caller still needs x, so compute a new tensor.",
              name="rounds x"),
    ],
    alternatives=[
        liars(),
        liars(rounds_away, lambda ctx, g: g * 1, copies_and_keeps, lambda ctx, g: (g * -ctx.k, None)),
        liars(lambda ctx, x: torch.tensor(np.rint(x.detach().numpy())), lambda ctx, g: (g.clone(),),
              lambda ctx, x, k: (ctx.save_for_backward(torch.tensor(k)), x)[1],
              lambda ctx, g: (g.neg() * ctx.saved_tensors[0], None)),
    ],
    hints=[
        "forward and backward are separate. The engine does not check that backward returns the derivative of "
        "forward.",
        "As an example, take a sign function that passes the gradient on: forward returns x.sign(), and backward "
        "returns g.",
        "RoundThrough.backward returns its argument. Reverse.forward returns the numbers of x, and stores the plain "
        "number k on ctx.",
    ],
    worked="RoundThrough: return torch.round(x); return g. Reverse: ctx.k = k; return x.view_as(x); then "
           "return -ctx.k * g, None.",
)  # fmt: skip

# --- 9.5 a gradcheck of one's own ----------------------------------------------------------------------


PAIR = """
import numpy as np

def f(x):
    return outside("f", x)

def rule(x, g):
    return outside("rule", x, g)
"""


class Pair(Outside):
    """A function and a rule that can be used and not read; `kinds` are the dtypes at which the function was used."""

    methods, given = ("f", "rule"), ("x",)

    def __init__(self, f: str, rule: str, x: Any) -> None:
        self.of = {name: eval(text, {"np": np}) for name, text in (("f", f), ("rule", rule))}
        self.kinds: set[str] = set()

    def f(self, x: Any) -> Any:
        self.kinds.add(str(getattr(x, "dtype", "float64")))
        return self.of["f"](x)

    def rule(self, x: Any, g: Any) -> Any:
        return self.of["rule"](x, g)


class Dtypes(Pair):
    """The same, where the answer is at which dtypes the function was used."""

    def seen(self, answer: Any) -> list[str]:
        return sorted(self.kinds)


def asks(f: str, rule: str, answer: str = "", kind: type[Pair] = Pair, **data: Any) -> Probe:
    """A program that asks the student's check about a function and its rule."""
    code = "my_gradcheck(f, rule, x)" + (f"\n{answer}" if answer else "")
    return run(code, f=Formula(f"lambda x: {f}"), rule=Formula(f"lambda x, g: {rule}"), **data).asking(kind)


def probes_9_5(rng: np.random.Generator) -> Iterator[Probe]:
    for probe in pairs_9_5(rng):
        yield probe if probe.about else probe.on(ABOUT[probe.expected])


LARGE = 16389.5  # measured at steps from 1e-4 to 1e-7, the derivative 8194.75 is off by 1e-4 to 1e-2, but never by 1e-5 of it
CHANGED = (
    "Your check changes x. Adding and subtracting a step does not bring back the last digits: change a copy, or add an array "
    "that is 0 everywhere else."
)
ABOUT = {
    True: "This rule is right, and your check refuses it. Print for each entry what the rule gives and what you measure: where "
          "do they differ?",
    False: "This rule is wrong, and your check accepts it. For which entry and which upstream gradient do the rule and the "
           "measurement differ, and does your check compare them there?",
}  # fmt: skip


def pairs_9_5(rng: np.random.Generator) -> Iterator[Probe]:
    x, table = numbers(rng, 4), numbers(rng, 2, 3)
    yield asks("x**3", "g * 3 * x**2", x=np.array([1.0, 2.0, -0.5])).expect(True)
    some = np.array([0.7, 1.3, 2.1])
    for sign, words in (("+", "large"), ("-", "small")):
        yield asks("x * x", f"g * 2 * x {sign} 5.0", x=some).expect(False).on(
            f"This rule is too {words} by 5 in every entry, and your check accepts it. Is a difference compared without abs?")
    yield asks("x * x", "g * 2.01 * x", x=np.array([3.0, -2.0])).expect(False).on(
        "This rule is half a percent off, and your check accepts it. Is your tolerance too large?")
    yield asks("x**3", "3 * x**2", x=x).expect(False).show().on(
        "This rule does not use g, and your check accepts it. Are all your upstream gradients 1, or is g missing from what you "
        "measure?")
    yield asks("x * x", "g * 4 * x", x=some).expect(False).on(
        "This rule gives twice the derivative, and your check accepts it. x + h and x - h are 2h apart: by what do you divide?")
    yield asks("x * x", "g * x", x=some).expect(False).on(
        "This rule gives half the derivative, and your check accepts it. Are f(x + h) and f(x) subtracted, which are h "
        "apart, and is this divided by 2h?")
    yield asks("x * x", "(g * 2 * x)[::-1]", x=some).expect(False).on(
        "This rule gives the right numbers in the wrong places, and your check accepts it. Does it compare each entry, and no "
        "sum or norm of them?")
    yield asks("x * x", "-2 * g * x", x=some).expect(False).on(
        "This rule has the wrong sign, and your check accepts it. Which of the two points is subtracted from the other one?")
    yield asks("x * x", "2 * x * x", x=some).expect(False).on(
        "This rule uses x in the place of g, and your check accepts it. Is your upstream gradient x itself?")
    yield asks("x * x", "0 * g", x=some).expect(False).on(
        "This rule gives 0 everywhere, and your check accepts it, so what it measures is 0, too. Are the two points the same "
        "array under two names? Or is the difference multiplied by h, where it should be divided?")
    yield asks("x * x", "g * 2 * x / x.size", x=some).expect(False).on(
        "This rule is too small by the number of outputs, and your check accepts it. Is there a mean where a sum belongs?")
    yield asks("x**3", "x * 3 * g**2", x=some).expect(False).on(
        "In this rule x and g have changed places, and your check accepts it. In which order does rule take its inputs?")
    yield asks("x * x", "np.cumsum(g * 2 * x)", x=some).expect(False).on(
        "This rule adds the gradients of the entries before, and your check accepts it. Is only one input moved at a time, or "
        "do the steps of the ones before stay?")
    yield asks("2 * x", "2 * g", x=np.array([1e-6, -2e-6])).expect(True).on(
        "Your check refuses the rule of 2x, the simplest one. Print the two numbers that you compare. If they differ in the "
        "last digits only, compare with a tolerance, and never with ==. If not, the formula of what you measure is wrong, or g "
        "is not the same in both.")
    yield asks("x * np.array([2.0, 0.0, 3.0])", "g * np.array([2.0, np.nan, 3.0])", x=some).expect(False).on(
        "This rule gives nan where the derivative is 0, and your check accepts it. nan is not 0: replace no nan.")
    yield asks("x * x / 4", "g * x / 2", x=np.array([LARGE])).expect(True).on(
        "The derivative is in the thousands here, and your check refuses the right rule. The larger a number is, the larger is "
        "the error of what you measure. Does your tolerance grow with the derivative, and is your step a usual one?")
    yield asks("x**3", "g * 3 * x**2", x=10 * x).expect(True)
    yield asks("x * np.array([1.5, -0.5, 2.0])", "g * np.array([2.0, 1.5, -0.5])",
              x=np.array([0.7, 1.3, 2.1])).expect(False)  # fmt: skip
    yield asks("np.cumsum(x)", "np.cumsum(g[::-1])[::-1]", x=x).expect(True).on(
        "Here each input changes several outputs, and your check refuses the right rule. Move one input at a time, and add up "
        "the changes of all outputs, each times its entry of g.")
    yield asks("x * x", "g * np.where(np.arange(x.size) < 2, 2, 3) * x", x=x).expect(False)
    yield asks("x * x", "g * np.where(np.arange(x.size) < 2, 3, 2) * x", x=x).expect(False)
    yield asks("x * x", "g.mean() * 2 * x", x=x).expect(False)
    yield asks("x * x", "np.full(x.shape, (2 * g * x).mean(axis=1, keepdims=True))", x=table).expect(False)
    yield asks("x.sum(axis=0)", "np.broadcast_to(g, x.shape)", x=table).expect(True).on(
        "Here x has two axes, and f gives fewer numbers than x has; your check refuses the right rule. g has the shape of "
        "f(x). Do you move every entry of x?")
    yield asks("x * x", "np.full(x.shape, (g * 2 * x).mean())", x=np.array([0.7, 1.3, 2.1])).expect(False)
    yield asks("x**2", "g * 2 * x", "x", x=x).expect(x).on(CHANGED)
    yield asks("x * x", "g * np.where(np.arange(x.size) < x.size - 1, 2, 3) * x", x=x).expect(False)
    yield asks("x * x", "g * np.where(np.arange(x.size) > 0, 2, 3) * x", x=x).expect(False)
    yield asks("x * x", "g * np.where(x == x[1], np.nan, 2 * x)", x=x).expect(False)
    yield asks("x**2", "g * 2 * x", "[float(v).hex() for v in x]", x=(thirds := numbers(rng, 8) / 3)).expect(
        [float(v).hex() for v in thirds]
    ).on(CHANGED)
    yield asks("x**3", "g * 3 * x**2", x=np.array([1e-6, 2.0])).expect(True).on(
        "Here one derivative is nearly 0, and your check refuses the right rule. Does your tolerance become 0 as well, or is "
        "your step so large that you measure the curve of x**3?")
    yield asks("np.maximum(x, 0)", "g", x=np.array([1.5, -0.7, 2.0])).expect(False)
    yield asks("x * x", "g * 2 * x + 0.03 * (np.arange(x.size) == 7)", x=0.2 + np.arange(60) / 30).expect(False)
    yield asks("2 * x", "2 * g", kind=Dtypes, x=x).expect(["float64"]).show().on(
        "Here the answer is at which dtypes your check has called f. It has to call it, in float64.")
    for right in rng.integers(2, size=8).tolist():  # which of these rules are right differs from student to student
        a, b = np.abs(numbers(rng, 2)).tolist()
        yield asks(f"{a} * x**2 - {b} * x", f"g * ({2 * a if right else a} * x - {b})", x=numbers(rng, 3)).expect(bool(right))


def checker(
    h: float = 1e-5, weights: str = "random", dtype: Any = float, compare: str = "each", spoil: bool = False,
    tolerance: float = 1e-5, puts_back: bool = False, all_at_once: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """A gradcheck with one thing changed."""

    def my_gradcheck(f: Any, rule: Any, x: Array) -> bool:
        at = x if spoil else x.astype(dtype)
        shape = np.shape(f(at))
        v = np.cos(1 + np.arange(np.prod(shape, dtype=int))).reshape(shape)
        if weights != "random":
            v = np.full(shape, {"ones": 1.0, "twos": 2.0}[weights])
        claimed = np.array(rule(at, v.astype(dtype)), dtype=float)
        found = np.zeros(at.shape)
        for index in np.ndindex(at.shape):
            if spoil:
                at[index] += h
                above = f(at)
                at[index] -= 2 * h
                found[index] = np.sum(v * (above - f(at))) / (2 * h)
                at[index] += h * puts_back
            else:
                nudge = np.zeros_like(at)
                nudge[... if all_at_once else index] = h
                found[index] = np.sum(v * (f(at + nudge) - f(at - nudge))) / (2 * h)
        if compare == "sum":
            return bool(abs(found.sum() - claimed.sum()) < tolerance * (1 + abs(found.sum())))
        if compare == "first":
            found, claimed = found.ravel()[:1], claimed.ravel()[:1]
        if compare == "last":
            found, claimed = found.ravel()[-1:], claimed.ravel()[-1:]
        if compare == "all but the last":
            found, claimed = found.ravel()[:-1], claimed.ravel()[:-1]
        if compare == "larger":
            return not bool((np.abs(found - claimed) > tolerance * (1 + np.abs(found))).any())
        if compare == "any":
            return bool((np.abs(found - claimed) <= tolerance * (1 + np.abs(found))).any())
        if compare == "size":
            found, claimed = np.abs(found), np.abs(claimed)
        if compare == "mean":
            return bool(np.abs(found - claimed).mean() < 1e-3)
        if compare == "sorted":
            found, claimed = np.sort(found.ravel()), np.sort(claimed.ravel())
        if compare == "where it moves":
            found, claimed = found[found != 0], claimed[found != 0]
        if compare == "relative":
            return bool((np.abs(found - claimed) <= tolerance * np.abs(found)).all())
        if compare == "rows":
            found, claimed = (a.reshape(len(a), -1).sum(axis=1) for a in (found, claimed))
        return bool((np.abs(found - claimed) <= tolerance * (1 + np.abs(found))).all())

    return my_gradcheck


def with_random_weights(f: Any, rule: Any, x: Array) -> bool:
    v = np.random.default_rng(0).normal(size=np.shape(f(x)))
    claimed = rule(x, v)
    for index in np.ndindex(x.shape):
        nudge = np.zeros(x.shape)
        nudge[index] = 1e-5
        measured = np.sum(v * (f(x + nudge) - f(x - nudge))) / 2e-5
        if not abs(measured - claimed[index]) < 1e-5 * (1 + abs(measured)):
            return False
    return True


def one_row_at_a_time(f: Any, rule: Any, x: Array) -> bool:
    n = np.size(f(x))
    for i in range(n):
        v = (np.arange(n) == i).astype(float).reshape(np.shape(f(x)))
        row = np.empty(x.shape)
        for index in np.ndindex(x.shape):
            up, down = x.copy(), x.copy()
            up[index] += 1e-6
            down[index] -= 1e-6
            row[index] = (f(up).ravel()[i] - f(down).ravel()[i]) / 2e-6
        # two weightings: a rule that ignores g is right for one of them at most
        for scale in (1.0, 3.0):
            if not np.allclose(scale * row, rule(x, scale * v), rtol=1e-4, atol=1e-5):
                return False
    return True


def by_the_columns(f: Any, rule: Any, x: Array) -> Any:
    y, h = np.asarray(f(x)), 1e-6
    moves = [h * e.reshape(x.shape) for e in np.eye(x.size)]
    J = np.stack([((f(x + e) - f(x - e)) / (2 * h)).ravel() for e in moves], axis=1)
    v = np.random.default_rng(1).uniform(0.5, 2.0, y.shape)
    return np.max(np.abs((v.ravel() @ J).reshape(x.shape) - rule(x, v))) < 1e-4 * (1 + np.abs(J).max())


def inverted(f: Any, rule: Any, x: Array) -> bool:
    return not checker()(f, rule, x)


def never_right(f: Any, rule: Any, x: Array) -> bool:
    return False


def always_right(f: Any, rule: Any, x: Array) -> bool:
    return True


EXERCISE_9_5 = program(
    "9.5", "my_gradcheck",
    why="A central difference with random weights measures each entry of the vector–Jacobian product.",
    title="a gradcheck of your own",
    minutes=14,
    prelude=PAIR, without=BY_HAND | {"gradcheck"}, seconds=2.0,
    probes=probes_9_5,
    wrong=[
        Wrong(checker(weights="ones"), "M23",
              "A rule that does not use g passes your check, because all your upstream gradients are 1. "
              "Which numbers would show the error?", name="weights of one"),
        Wrong(checker(compare="mean"), "M30",
              "One entry is wrong, but among sixty right ones the mean error is still small. A rule is "
              "right only if every entry is right.", name="mean error"),
        Wrong(checker(compare="sorted"), "M42",
              "A rule with the right numbers in the wrong places passes. Compare each entry with the "
              "measurement for the same input.", name="any place"),
        Wrong(checker(compare="where it moves"), "M05",
              "You do not compare where the measured derivative is 0, so a rule may return anything there. "
              "It should return 0.", name="not at 0"),
        Wrong(checker(dtype=np.float32), "M40",
              "Your check refuses a right rule. In float32, the difference of two nearly equal numbers has "
              "few correct digits. Use float64.", name="float32"),
        Wrong(checker(h=1e-13), "M44",
              "Your check refuses right rules. What you measure has rounding errors, and the smaller the step, the larger "
              "they are. Is your step too small, or your tolerance?", name="tiny step"),
        Wrong(checker(compare="sum"), "M28",
              "You compare only the sums. A rule with wrong entries passes if its total is right.", name="sums"),
        Wrong(checker(compare="first"), "",
              "You compare only the first entry. Compare all of them.",
              name="first"),
        Wrong(checker(spoil=True), "M16",
              "x is not the same after your check as before. Change a copy of it.", name="changes x"),
        Wrong(checker(h=0.5), "M44",
              "Your check refuses a right rule. With so large a step, you measure the slope of a long line "
              "through two distant points, and not the derivative at x.", name="big step"),
        Wrong(checker(tolerance=0.1), "",
              "A rule that is half a percent off passes. A central difference is much more precise, so your "
              "tolerance can be smaller.", name="loose"),
        Wrong(checker(weights="twos"), "M23",
              "A rule that mixes up the entries of g passes your check, because all your upstream gradients "
              "are equal. Which numbers would show the error?", name="weights all alike"),
        Wrong(checker(compare="last"), "M19",
              "Only the last entry decides. The earlier results are overwritten or ignored. When may the "
              "loop return True?", name="last"),
        Wrong(checker(compare="all but the last"), "",
              "You do not compare the last entry. Where does your loop end?",
              name="all but the last"),
        Wrong(checker(compare="larger"), "M51",
              "A rule that gives nan passes, because nan is not larger than any tolerance. Turn the "
              "comparison round: it is False for nan, too.", name="nan passes"),
        Wrong(checker(spoil=True, puts_back=True), "M16",
              "You change x itself and then take the change back. After this, x differs in its last digits. "
              "Change a copy.", name="puts back"),
        Wrong(checker(compare="any"), "",
              "Your check accepts a rule if one entry is right. All entries have to be right.",
              name="any"),
        Wrong(checker(compare="size"), "M30",
              "A rule with the wrong sign passes, because you compare only the sizes.",
              name="sizes"),
        Wrong(checker(compare="rows"), "M28",
              "You compare the sums of whole rows. A rule with wrong entries passes if the sums are right.",
              name="rows"),
        Wrong(checker(compare="relative"), "M40",
              "Your check refuses a right rule where the derivative is close to 0, because your tolerance is close to "
              "0 there, too. Add a small fixed amount to it.", name="relative only"),
        Wrong(checker(all_at_once=True), "",
              "All entries of x are moved at the same time, so their effects are added. Begin with a new copy of x for each "
              "entry, and move this entry alone.", name="all at once"),
        Wrong(inverted, "", "Your check returns False for right rules and True for wrong ones.", name="inverted"),
        Wrong(always_right, "",
              "Your check returns True for every rule, also for wrong ones."),
        Wrong(never_right, "",
              "Your check returns False for every rule, also for right ones."),
    ],
    alternatives=[
        with_random_weights, checker(), checker(h=1e-6, tolerance=1e-4), one_row_at_a_time, by_the_columns,
    ],
    hints=[
        "The rule says how the weighted sum of the outputs changes when one input changes. Change this input a "
        "little, and measure it.",
        "Take different numbers v, one for each output, and define s(x) as the sum of v * f(x). Then rule(x, v) "
        "should be the gradient of s, and you can measure it with central differences of s.",
        "For every index, make one copy of x that is a little larger there, and one that is a little smaller. "
        "Divide the difference of s by twice the step, and compare it with this entry of the rule.",
    ],
    worked="v = np.random.default_rng(0).normal(size=np.shape(f(x))); for each index compare rule(x, "
           "v)[index] with np.sum(v * (f(x + e) - f(x - e))) / 2e-5, where e is 1e-5 at that index and 0 "
           "elsewhere.",
)  # fmt: skip

# --- predictions of the reading notebook ---------------------------------------------------------------

PREDICTION_9_0 = prediction(
    "9.0", "b", points=0,
    title="the node of a Python function",
    options={"a": "CurveBackward, after the Python function", "b": "MulBackward0", "c": "no node at all"},
    wrong=[
        Wrong("a", "M09",
              "The engine does not see your Python function. Which operations does it record, one after the "
              "other?"),
        Wrong("c", "M09",
              "No rule for the whole function is needed. Which operation ran last inside it?"),
    ],
)  # fmt: skip

PREDICTION_9_3A = prediction(
    "9.3a", [20, 40], points=0,
    title="a square times ten",
    wrong=[
        Wrong([2, 4], "M23",
              "This is what the wrong class prints. What should it print?"),
        Wrong([10, 40], "M43",
              "These are ten times the squares. You need ten times their derivatives."),
        Wrong([10, 20], "M30",
              "This is half of the right answer. What is the derivative of x * x?"),
    ],
)  # fmt: skip

PREDICTION_9_6A = prediction(
    "9.6a", "c", points=0,
    title="the gradient of rounding",
    options={"a": "an error", "b": "ones", "c": "zeros"},
    wrong=[
        Wrong("a", "M38",
              "Rounding has a derivative at nearly every point, and it is easy to find."),
        Wrong("b", "M43",
              "Change 1.7 a little. Does its rounded value change?"),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_9_0, PREDICTION_9_3A, PREDICTION_9_6A,
    EXERCISE_9_1, EXERCISE_9_2, EXERCISE_9_3, EXERCISE_9_4, EXERCISE_9_5,
)  # fmt: skip

LESSON = Lesson(
    number=9,
    slug="09_custom_function",
    title="Custom Function",
    after=(4, 7, 8),
    idea="A Function has a rule of your own: one gradient for each input, from the upstream gradient, and measured.",
    introduces=(
        "minigrad.autograd", "Function", "forward", "save_for_backward", "saved_tensors", "apply", "Scale", "k",
        "round", "float64", "gradcheck", "raise_exception", "Square", "Hypot", "sqrt", "where", "ones_like", "Cube",
        "RoundThrough", "Reverse", "view_as", "my_gradcheck", "default_rng", "normal", "ndindex", "first",
        "second",
    ),
    misconceptions=("M32", "M33", "M34"),
    with_engine=True,
    exercises=EXERCISES,
)  # fmt: skip
