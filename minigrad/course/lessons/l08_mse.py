"""Lesson 08: the mean squared error, a line fitted by hand, and what goes wrong around the update.

The oracles measure: they move one number and look at the loss. A mean of squares is a parabola in every number, so
a central difference is exact up to rounding.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import minigrad as torch

from ..exercise import (
    ENGINE_OFF,
    Exercise,
    Lesson,
    Outside,
    Probe,
    Wrong,
    call,
    function,
    numbers,
    prediction,
    program,
    run,
    unaided,
)  # fmt: skip

Array = np.ndarray[Any, Any]
Pair = tuple[Any, Any]


def slopes(f: Callable[[Array], Any], at: Array) -> Array:
    """The slope of f in every entry, by a central difference."""
    out = np.zeros(np.shape(at))
    for index in np.ndindex(*np.shape(at)):
        nudge = np.zeros(np.shape(at))
        nudge[index] = 0.5
        out[index] = f(at + nudge) - f(at - nudge)
    return out


def at_most_two(*tables: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """One key of each table, where at most two are not the first one, "", which is right; the words of these two first."""
    for n in (1, 2):
        for places in itertools.combinations(range(len(tables)), n):
            for chosen in itertools.product(*(list(tables[i])[1:] for i in places)):
                given = dict(zip(places, chosen, strict=True))
                yield " and ".join(chosen), tuple(given.get(i, "") for i in range(len(tables)))


# --- 8.1 the loss, forward and backward ----------------------------------------------------------------

P_TEXT = np.array([[2.0, -0.5], [3.0, 4.5], [0.5, -1.0]])
T_TEXT = np.array([[0.7, 1.0], [-0.3, 2.0], [1.6, 1.2]])


def mse_measured(name: str, *args: Any) -> Any:
    """The oracle: squares added one by one; the gradients are measured."""
    if name == "mse":
        p, t = args
        return sum((a - b) ** 2 for a, b in zip(p.flat, t.flat, strict=True)) / len(p.ravel())
    g, p, t = args
    return (slopes(lambda q: g * mse_measured("mse", q, t), p), slopes(lambda q: g * mse_measured("mse", p, q), t))


def probes_8_1(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(P_TEXT, T_TEXT).of("mse")
    yield call(numbers(rng, 5), numbers(rng, 5)).of("mse")
    yield call(-1.7, P_TEXT, T_TEXT).of("mse_backward")
    yield call(2.3, numbers(rng, 4), numbers(rng, 4)).of("mse_backward")
    yield call(0.7, numbers(rng, 2, 5), numbers(rng, 2, 5)).of("mse_backward")
    same = numbers(rng, 3)
    yield call(-1.3, same, same + np.array([0.0, 1.5, 0.0])).of("mse_backward")
    far = 1e5 * numbers(rng, 3)  # a difference of two losses of this size has lost its last digits
    yield call(2.0, far, -far).of("mse_backward")
    yield call(numbers(rng, 2, 3, 2), numbers(rng, 2, 3, 2)).of("mse")
    yield call(1.9, numbers(rng, 2, 3, 2), numbers(rng, 2, 3, 2)).of("mse_backward")
    yield call(np.array(2.5), np.array(-0.5)).of("mse")
    yield call(-0.3, np.array(2.5), np.array(-0.5)).of("mse_backward")
    yield unaided("mse_backward", mse_measured("mse_backward", 2.0, P_TEXT, T_TEXT), g=2.0, p=P_TEXT, t=T_TEXT)


def mse(p: Array, t: Array) -> Any:
    return np.mean((p - t) ** 2)


def mse_backward(g: Any, p: Array, t: Array) -> Pair:
    d = 2 * g * (p - t) / p.size
    return d, -d


def both(backward: Any, forward: Any = mse) -> dict[str, Any]:
    return {"mse": forward, "mse_backward": backward}


def times(factor: Callable[[Any, Array], Any]) -> Callable[[Any, Array, Array], Pair]:
    """A backward that is right but for a factor."""

    def backward(g: Any, p: Array, t: Array) -> Pair:
        d = factor(g, p) * (p - t)
        return d, -d

    return backward


def same_sign(g: Any, p: Array, t: Array) -> Pair:
    d = 2 * g * (p - t) / p.size
    return d, d


def one_answer(g: Any, p: Array, t: Array) -> Any:
    return 2 * g * (p - t) / p.size


def squares(g: Any, p: Array, t: Array) -> Pair:
    d = g * (p - t) ** 2 / p.size
    return d, -d


def nudged(g: Any, p: Array, t: Array) -> Pair:
    moves = [1e-5 * (np.arange(p.size) == i).reshape(p.shape) for i in range(p.size)]
    d = np.array([g * (mse(p + e, t) - mse(p - e, t)) / 2e-5 for e in moves]).reshape(p.shape)
    return d, -d


def by_engine(g: Any, p: Array, t: Array) -> Pair:
    pred, target = torch.tensor(p, requires_grad=True), torch.tensor(t, requires_grad=True)
    (g * ((pred - target) ** 2).mean()).backward()
    assert pred.grad is not None and target.grad is not None
    return pred.grad.numpy(), target.grad.numpy()


def remembers() -> dict[str, Any]:
    kept: dict[Any, Array] = {}

    def forward(p: Array, t: Array) -> Any:
        kept[p.shape] = p - t
        return mse(p, t)

    def backward(g: Any, p: Array, t: Array) -> Pair:
        d = 2 * g * kept.get(p.shape, p - t) / p.size
        return d, -d

    return both(backward, forward)


def with_negated_copy(g: Any, p: Array, t: Array) -> list[Array]:
    d = p - t
    d *= 2 * g
    d /= d.size
    return [d, 0 - d]


def total(p: Array, t: Array) -> Any:
    return np.sum((p - t) ** 2)


def half_of_the_sum(p: Array, t: Array) -> Any:
    return np.sum((p - t) ** 2) / 2


def root(p: Array, t: Array) -> Any:
    return np.sqrt(np.mean((p - t) ** 2))


def absolute(p: Array, t: Array) -> Any:
    return np.mean(np.abs(p - t))


def steps_8_1(probe: Probe) -> dict[str, Any]:
    """The errors, which both functions begin with."""
    *_, p, t = probe.args or list(probe.data.values())
    return {"(p - t)": np.asarray(p) - np.asarray(t)}


Step = Callable[..., Any]
SQUARES: dict[str, Step] = {
    "": lambda p, t: (p - t) ** 2, "from p**2 - t**2, where (p - t)**2 belongs": lambda p, t: p**2 - t**2,
    "from p + t": lambda p, t: (p + t) ** 2, "from p alone": lambda p, t: p**2, "from t alone": lambda p, t: t**2,
    "from p * t": lambda p, t: p * t, "without a square": lambda p, t: p - t,
    "from t - p, without a square": lambda p, t: t - p,
    "with abs in the place of the square": lambda p, t: np.abs(p - t), "with a third power": lambda p, t: (p - t) ** 3,
    "with a fourth power": lambda p, t: (p - t) ** 4, "with 2 * (p - t) for the square": lambda p, t: 2 * (p - t),
}  # fmt: skip
MEANS: dict[str, Step] = {
    "": np.mean, "with a sum where the mean belongs": np.sum, "with the median for the mean": np.median,
    "with the largest for the mean": np.max, "with half of the mean": lambda s: np.mean(s) / 2, "without a mean": lambda s: s,
    "with a mean over each column": lambda s: np.mean(s, axis=0), "with a mean over each row": lambda s: np.mean(s, axis=-1),
    "with a division by the number of rows": lambda s: np.sum(s) / len(s),
    "with a root at the end": lambda s: np.sqrt(np.mean(s)),
    "with a division by one less than the number of elements": lambda s: np.sum(s) / (np.size(s) - 1),
}  # fmt: skip
ERRORS: dict[str, Step] = {
    "": lambda p, t: p - t, "with t - p for p - t": lambda p, t: t - p,
    "from the loss, a single number, where the error p - t of each element belongs": lambda p, t: np.mean((p - t) ** 2),
    "from the squares of the errors": lambda p, t: (p - t) ** 2, "from abs(p - t)": lambda p, t: np.abs(p - t),
    "from the sign of p - t": lambda p, t: np.sign(p - t), "from p + t": lambda p, t: p + t, "from p alone": lambda p, t: p,
    "from t alone": lambda p, t: t, "without the error p - t": lambda p, t: np.ones_like(p), "from p * t": lambda p, t: p * t,
    "from p**2 - t**2": lambda p, t: p**2 - t**2,
    "from all errors added up, where each element has its own": lambda p, t: np.sum(p - t),
    "from p - t**2": lambda p, t: p - t**2,
}  # fmt: skip
TWOS = {"": 2.0, "without the 2 of the square": 1.0, "with 1/2 for the 2 of the square": 0.5, "with a 2 too many": 4.0}
UPSTREAM: dict[str, Step] = {
    "": lambda g, d: g * d, "without g": lambda g, d: d, "with g added, where it is a factor": lambda g, d: g + d,
    "with g as a factor twice": lambda g, d: g * g * d, "with g as a divisor, where it is a factor": lambda g, d: d / g,
}  # fmt: skip
DIVISORS: dict[str, Step] = {
    "": np.size, "without the division of the mean": lambda p: 1, "with a division by the number of rows": len,
    "with a division by the length of the last axis": lambda p: p.shape[-1],
    "with the division of the mean twice": lambda p: np.size(p) ** 2,
    "with a product with the number of elements, where a division belongs": lambda p: 1 / np.size(p),
}  # fmt: skip
TARGETS: dict[str, Step] = {
    "": lambda d, g: -d, "with the same sign": lambda d, g: d, "times 2": lambda d, g: -2 * d, "times 1/2": lambda d, g: -d / 2,
    "without g": lambda d, g: -d / g, "as 1 minus that of p": lambda d, g: 1 - d, "as g minus that of p": lambda d, g: g - d,
}  # fmt: skip


def likely_8_1(probe: Probe) -> dict[str, Any]:
    """Losses and gradients with at most two mistakes, by what to say about them."""
    *given, p, t = (np.asarray(each, dtype=float) for each in probe.args or list(probe.data.values()))
    found: dict[str, Any] = {}
    with np.errstate(all="ignore"):
        if not given:
            found["Your loss is the square of the mean error. Each error is squared before the mean."] = np.mean(p - t) ** 2
            for words, (square, mean) in at_most_two(SQUARES, MEANS):
                if p.ndim:
                    found[f"Your loss is computed {words}."] = MEANS[mean](SQUARES[square](p, t))
            return found
        (g,) = given
        right = 2 * g * (p - t) / p.size
        zero = "zero. When the target grows, the error p - t changes as well. In which direction?"
        found[f"Your gradient of t is {zero}"] = (right, 0 * p)
        found["Your gradient of p is computed from p alone, and that of t from t alone. Both are made of the error p - t."] = (
            2 * g * p / p.size, -2 * g * t / p.size)  # fmt: skip
        for words, make in TARGETS.items():
            if words:
                found[f"Your gradient of t is the opposite of that of p, but {words}."] = (right, make(right, g))
        for words, (two, divisor, error, up) in at_most_two(TWOS, DIVISORS, ERRORS, UPSTREAM):
            if p.ndim:
                d = TWOS[two] * ERRORS[error](p, t) / DIVISORS[divisor](p)
                of_p, of_t = UPSTREAM[up](g, d), UPSTREAM[up](g, -d)
                for end, second in {"": -of_p, " That of t as well.": of_t, " And that of t has the same sign.": of_p,
                                    f" And that of t is {zero}": 0 * p, " That of t is right.": -right}.items():  # fmt: skip
                    found.setdefault(f"Your gradient of p is computed {words}.{end}", (of_p, second))
    return found


EXERCISE_8_1 = function(
    "8.1", ("mse", "mse_backward"),
    why="The square gives 2(p − t), the mean divides by the number of elements, and the target gets the opposite sign.",
    title="mean squared error, forward and backward",
    minutes=10,
    oracle=mse_measured,
    probes=probes_8_1,
    steps=steps_8_1,
    likely=likely_8_1,
    prelude=ENGINE_OFF,
    wrong=[
        Wrong(both(times(lambda g, p: g / p.size)), "M30", "Your gradients are half as large as they should be. When an "
              "error of 3 grows by 0.001, by how much does its square grow?", name="no two"),
        Wrong(both(times(lambda g, p: 2 * g)), "M30", "Your gradients are those of a sum of squares, but the loss is a "
              "mean. Over how many numbers?", name="no mean"),
        Wrong(both(times(lambda g, p: 2 * g / len(p))), "M30", "You divide by the number of rows. By which number does "
              "np.mean divide for a (3, 2) matrix?", name="rows"),
        Wrong(both(times(lambda g, p: -2 * g / p.size)), "M30", "Your gradient of p has the wrong sign, and so has that of "
              "t. If a prediction is too high and you raise it, does the loss rise or fall? And which gradient comes first?",
              name="sign"),
        Wrong(both(times(lambda g, p: 2 / p.size)), "M23", "Your answer does not depend on g. g is the upstream gradient "
              "of the loss. What does a node do with its upstream gradient?", name="no upstream"),
        Wrong(both(same_sign), "M30", "The target has the same gradient as the prediction. When both grow by 0.001, how "
              "much does their difference change?"),
        Wrong(both(one_answer), "M32", "You returned one gradient, but the loss is computed from p and from t. Return two, "
              "in this order."),
        Wrong(both(squares), "M43", "You returned the squares themselves. How fast does a square grow?"),
        Wrong(both(mse_backward, total), "M30", "Your mse is the sum of the squares. What does the M in its name mean?",
              name="sum"),
        Wrong(both(times(lambda g, p: g), half_of_the_sum), "M30", "Your loss is half of the sum of the squares. Its gradient "
              "is the plain error, but a mean divides by the number of elements. What is left of the 2 then?",
              name="half sum"),
        Wrong(both(mse_backward, root), "", "Your mse takes a square root at the end. The result is another loss, with "
              "other derivatives. Which three steps does the name of this loss describe?", name="root"),
        Wrong(both(mse_backward, absolute), "", "Your mse is the mean of the absolute errors. What happens to each error "
              "before the mean?", name="absolute"),
        Wrong(both(nudged), "M44", "You measured the gradients. For large errors, a measurement loses the last digits. "
              "What is the exact derivative of a square?"),
        Wrong(both(by_engine), "", "This is the answer of the engine. The exercise asks for a rule that works when the "
              "engine is switched off. Which three factors does it have?"),
        Wrong(both(times(lambda g, p: 2 * g / p.shape[-1])), "M30", "You divide by the length of the last axis. By which "
              "number does np.mean divide for a (3, 2) matrix?", name="last axis"),
        Wrong(both(times(lambda g, p: 2 * g / np.prod(p.shape[:2]))), "M30", "You divide by rows times columns. An array "
              "can also have three axes, or none. Which attribute counts all its elements?", name="two axes"),
        Wrong(remembers(), "M34", "Your mse_backward uses the errors of an earlier call of mse. It has to use the p and t "
              "that it is given. Which errors belong to them?", name="remembers"),
        Wrong(both(lambda g, p, t: (2 * g * np.abs(p - t) / p.size, -2 * g * np.abs(p - t) / p.size)), "M30", "Your "
              "gradient has the same sign for every error. If a prediction is too low and you raise it, does the loss "
              "rise or fall?", name="abs error"),
    ],
    alternatives=[
        both(mse_backward),
        both(lambda g, p, t: (g * (2 / p.size) * (p - t), g * (2 / p.size) * (t - p)),
             lambda p, t: np.sum((p - t) ** 2) / p.size),
        both(lambda g, p, t: [np.multiply(p - t, 2 * g / np.prod(p.shape)), np.multiply(t - p, 2 * g / np.prod(p.shape))],
             lambda p, t: float(np.dot((p - t).ravel(), (p - t).ravel())) / p.size),
        both(with_negated_copy, lambda p, t: np.array((p - t).var() + (p - t).mean() ** 2)),
    ],
    hints=[
        "The loss is a mean of squares, and each element of p occurs in one of the squares.",
        "For two numbers with the errors 3 and -1, the loss is (9 + 1) / 2 = 5. With g = 10, the gradients of p are 30 "
        "and -10.",
        "There are three factors: the 2 of the square, the number of elements of the mean, and g. For t, ask how the error "
        "changes when t grows.",
    ],
    worked="mse is np.mean((p - t) ** 2). Backward: d = 2 * g * (p - t) / p.size is the gradient of p, and -d that of t.",
)  # fmt: skip

# --- 8.2 the (N,) and (N, 1) trap ----------------------------------------------------------------------


def one_by_one(pred: Array, target: Array) -> Array:
    """The oracle: a loop over the examples."""
    return np.array([[pred[i, 0] - target[i]] for i in range(len(target))])


def probes_8_2(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(np.array([[1.0], [2.0], [4.0]]), np.array([1.5, 2.5, 2.0]))
    yield call(numbers(rng, 4, 1), numbers(rng, 4))
    yield call(numbers(rng, 1, 1), numbers(rng, 1))
    yield call(numbers(rng, 2, 1), numbers(rng, 2))
    yield call(numbers(rng, 7, 1), numbers(rng, 7))


def as_it_stands(pred: Array, target: Array) -> Array:
    return pred - target


def squeezed(pred: Array, target: Array) -> Any:
    return pred.squeeze() - target


def flat(pred: Array, target: Array) -> Any:
    return pred[:, 0] - target


def transposed(pred: Array, target: Array) -> Any:
    return pred - target.T


def row(pred: Array, target: Array) -> Any:
    return pred.T - target


def diagonal(pred: Array, target: Array) -> Any:
    return np.diag(pred - target)


def mean_target(pred: Array, target: Array) -> Any:
    return pred - target.mean()


def other_way(pred: Array, target: Array) -> Any:
    return target[:, None] - pred


def rows_added(pred: Array, target: Array) -> Any:
    return (pred - target).sum(axis=1, keepdims=True)


def columns_added(pred: Array, target: Array) -> Any:
    return (pred - target).sum(axis=0)


ADDED = (
    "The difference of these shapes holds every prediction minus every target, and you add up its rows or its columns. "
    "Which single target belongs to each prediction?"
)
FLAT = (
    "The numbers are right, but their shape is (N,). The axis of size 1 that pred has is missing. Which shape do you "
    "have to give to target, and when?"
)
SQUARE = (
    "Every prediction is compared with every target, so your answer has N times N numbers. Which of the two arrays has one "
    "axis less than the other?"
)

def likely_8_2(probe: Probe) -> dict[str, Any]:
    """Errors with two mistakes, by what to say about them."""
    pred, target = probe.args
    turned = "The sign is wrong as well: an error is prediction minus target."
    return {
        f"{FLAT} {turned}": target - pred[:, 0], f"{SQUARE} {turned}": target - pred,
        "You take the size of each error. An error keeps its sign here.": np.abs(pred - target[:, None]),
        "You take the square of each error. The task asks for the errors.": (pred - target[:, None]) ** 2,
        "You add prediction and target. What is an error?": pred + target[:, None],
        "This is the mean squared error. The task asks for the error of each example.": np.mean((pred - target[:, None]) ** 2),
        "This is the mean error. The task asks for the error of each example.": np.mean(pred - target[:, None]),
        "You compare every prediction with the first target alone.": pred - target[0],
        "You compare every prediction with the last target alone.": pred - target[-1],
        "You compare the first prediction with every target.": (pred[0] - target)[:, None],
        "The targets are in reverse order.": pred - target[::-1, None],
    }  # fmt: skip


EXERCISE_8_2 = function(
    "8.2", "errors",
    why="With equal shapes the difference is taken element by element; (N, 1) minus (N,) would broadcast to (N, N).",
    title="predictions (N, 1) and targets (N,)",
    minutes=6,
    oracle=one_by_one,
    probes=probes_8_2,
    likely=likely_8_2,
    wrong=[
        Wrong(as_it_stands, "M31", SQUARE, alike="square"),
        Wrong(transposed, "M31", SQUARE, alike="square"),
        Wrong(lambda pred, target: pred[:, None] - target, "M31", SQUARE, name="one more axis", alike="square"),
        Wrong(squeezed, "M31", FLAT, alike="flat"),
        Wrong(flat, "M31", FLAT, alike="flat"),
        Wrong(row, "M31", "The numbers are right, but they form a row, (1, N). pred has one row for each example. Which of "
              "the two arrays should change its shape?"),
        Wrong(diagonal, "M31", FLAT, alike="flat"),
        Wrong(rows_added, "M31", ADDED, alike="added"),
        Wrong(columns_added, "M31", ADDED, alike="added"),
        Wrong(mean_target, "M31", "You compare each prediction with the mean of all targets. Which target belongs to row "
              "2?"),
        Wrong(other_way, "M30", "You computed target minus prediction, so the sign is wrong. Should the error be positive "
              "when the prediction is too high, or when it is too low?"),
    ],
    alternatives=[
        lambda pred, target: pred - target[:, None],
        lambda pred, target: pred - target.reshape(pred.shape),
        lambda pred, target: pred - np.expand_dims(target, 1),
        lambda pred, target: (pred[:, 0] - target).reshape(-1, 1),
    ],
    hints=[
        "The result has one error for each example, in a column like pred.",
        "An array v of shape (5,) becomes a column of shape (5, 1) with v[:, None] or v.reshape(5, 1).",
        "Print both shapes before the subtraction: (N, 1) and (N,). Add an axis to the array that has only one.",
    ],
    worked="Give target the shape of pred, and then subtract: pred - target.reshape(pred.shape).",
)  # fmt: skip

# --- 8.3 fit a line ------------------------------------------------------------------------------------


def fit_measured(x: Array, y: Array, lr: float, steps: int) -> Pair:
    """The oracle: descent along measured slopes."""
    both_numbers = np.zeros(2)
    for _ in range(steps):
        both_numbers = both_numbers - lr * slopes(lambda c: np.mean((c[0] * x + c[1] - y) ** 2), both_numbers)
    return float(both_numbers[0]), float(both_numbers[1])


def probes_8_3(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 5.0]), 0.1, 1)
    yield call(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 5.0]), 0.1, 2)
    yield call(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 5.0]), 0.1, 300)
    yield call(numbers(rng, 4), numbers(rng, 4), 0.02, 3)
    yield call(numbers(rng, 5), numbers(rng, 5), 0.03, 40)
    yield call(numbers(rng, 4), 1e-3 * numbers(rng, 4), 0.02, 20)
    yield call(numbers(rng, 3), numbers(rng, 3), 0.1, 0)


def descent(
    factor: Callable[[Array], Any] = lambda x: 2 / len(x), sign: int = -1, fresh: bool = True, keep: bool = False,
    one_after_the_other: bool = False, offset: bool = True, limit: int = 1_000_000,
) -> Callable[..., Pair]:  # fmt: skip
    """Descent with one thing changed."""

    def fit(x: Array, y: Array, lr: float, steps: int) -> Pair:
        w = b = dw = db = 0.0
        error = w * x + b - y
        for _ in range(min(steps, limit)):
            if fresh:
                error = w * x + b - y
            scale = factor(x)
            dw, db = scale * np.sum(error * x) + keep * dw, scale * np.sum(error) + keep * db
            w = w + sign * lr * dw
            if one_after_the_other:
                db = scale * np.sum(w * x + b - y)
            b = b + sign * lr * db * offset
        return w, b

    return fit


def b_then_w(x: Array, y: Array, lr: float, steps: int) -> Pair:
    w = b = 0.0
    for _ in range(steps):
        b -= lr * 2 * float(np.mean(w * x + b - y))
        w -= lr * 2 * float(np.mean((w * x + b - y) * x))
    return w, b


def along(dw: Callable[[Array, Array], Any], db: Callable[[Array, Array], Any]) -> Callable[..., Pair]:
    """Descent along other gradients, computed from the errors and x."""

    def fit(x: Array, y: Array, lr: float, steps: int) -> Pair:
        w = b = 0.0
        for _ in range(steps):
            error = w * x + b - y
            w, b = w - lr * float(dw(error, x)), b - lr * float(db(error, x))
        return w, b

    return fit


ONE_HALF = (
    "One of your two gradients is right, and the other one is half as large as it should be. Which factor is in one of "
    "these lines and missing in the other?"
)
ONE_AFTER_THE_OTHER = (
    "One of your gradients is computed after the other parameter has already changed. Both gradients belong to the same "
    "line. In which order do you compute and change them?"
)


def until_good_enough(x: Array, y: Array, lr: float, steps: int) -> Pair:
    w: Any = 0.0
    b: Any = 0.0
    for _ in range(steps):
        error = w * x + b - y
        if np.mean(error**2) < 1e-3:
            break
        w, b = w - lr * 2 * np.mean(error * x), b - lr * 2 * np.mean(error)
    return w, b


def in_single_precision(x: Array, y: Array, lr: float, steps: int) -> Pair:
    return descent()(x.astype(np.float32), y.astype(np.float32), np.float32(lr), steps)


def example_by_example(x: Array, y: Array, lr: float, steps: int) -> Pair:
    w = b = 0.0
    for _ in range(steps):
        for at, target in zip(x, y, strict=True):
            error = w * at + b - target
            w, b = w - lr * 2 * error * at, b - lr * 2 * error
    return w, b


def with_least_squares(x: Array, y: Array, lr: float, steps: int) -> Pair:
    w, b = np.polyfit(x, y, 1)
    return float(w), float(b)


def fit_with_matrices(x: Array, y: Array, lr: float, steps: int) -> Any:
    X = np.stack([x, np.ones_like(x)], axis=1)
    both_numbers = np.zeros(2)
    for _ in range(steps):
        both_numbers -= lr * 2 * X.T @ (X @ both_numbers - y) / len(y)
    return both_numbers


def fit_from_means(x: Array, y: Array, lr: float, steps: int) -> Pair:
    w, b = np.array(0.0), np.array(0.0)
    for _ in range(steps):
        dw, db = w * (x * x).mean() + b * x.mean() - (x * y).mean(), w * x.mean() + b - y.mean()
        w -= 2 * lr * dw
        b -= 2 * lr * db
    return w, b


def fit_through_mse(x: Array, y: Array, lr: float, steps: int) -> list[Any]:
    w, b = np.float64(0), np.float64(0)
    for _ in range(steps):
        g = mse_backward(1.0, w * x + b, y)[0]
        w, b = w - lr * (g * x).sum(), b - lr * g.sum()
    return [w, b]


TOGETHER: dict[str, Step] = {
    "": lambda n: 1, "both gradients lack the 2 of the square": lambda n: 0.5,
    "both gradients are sums where means belong": lambda n: n, "both gradients have the wrong sign": lambda n: -1,
    "both gradients are sums where means belong, without the 2 of the square": lambda n: n / 2,
    "both gradients are divided by the number of points twice": lambda n: 1 / n,
    "both gradients have a 2 too many": lambda n: 2,
    "both gradients have 1/2 where the 2 of the square belongs": lambda n: 0.25,
}  # fmt: skip
OF_W: dict[str, Step] = {
    "": lambda e, x: 2 * np.mean(e * x), "the gradient of w lacks the 2 of the square": lambda e, x: np.mean(e * x),
    "the gradient of w has no mean, so w becomes an array": lambda e, x: 2 * e * x,
    "the gradient of w is the loss times the mean of x": lambda e, x: np.mean(e * e) * np.mean(x),
    "w never changes": lambda e, x: 0.0, "the gradient of w is a sum where a mean belongs": lambda e, x: 2 * np.sum(e * x),
    "the gradient of w has the wrong sign": lambda e, x: -2 * np.mean(e * x),
    "the gradient of w lacks the factor x": lambda e, x: 2 * np.mean(e),
    "the gradient of w is a product of two means": lambda e, x: 2 * np.mean(e) * np.mean(x),
    "the gradient of w has the factor x twice": lambda e, x: 2 * np.mean(e * x * x),
    "the gradient of w has the squares of the errors": lambda e, x: 2 * np.mean(e * e * x),
    "the gradient of w is the loss": lambda e, x: np.mean(e * e),
    "the gradient of w has abs of the errors": lambda e, x: 2 * np.mean(np.abs(e) * x),
    "the gradient of w is divided by x": lambda e, x: 2 * np.mean(e / x),
    "the gradient of w uses the first point alone": lambda e, x: 2 * e[0] * x[0],
    "the gradient of w uses the last point alone": lambda e, x: 2 * e[-1] * x[-1],
}  # fmt: skip
OF_B: dict[str, Step] = {
    "": lambda e, x: 2 * np.mean(e), "the gradient of b lacks the 2 of the square": lambda e, x: np.mean(e),
    "the gradient of b has no mean, so b becomes an array": lambda e, x: 2 * e,
    "b never changes": lambda e, x: 0.0, "the gradient of b is a sum where a mean belongs": lambda e, x: 2 * np.sum(e),
    "the gradient of b has the wrong sign": lambda e, x: -2 * np.mean(e),
    "the gradient of b has the factor x, which belongs to w alone": lambda e, x: 2 * np.mean(e * x),
    "the gradient of b is the loss": lambda e, x: np.mean(e * e), "the gradient of b is always 1": lambda e, x: 1.0,
    "the gradient of b has abs of the errors": lambda e, x: 2 * np.mean(np.abs(e)),
    "the gradient of b is always 2": lambda e, x: 2.0,
    "the gradient of b uses the first point alone": lambda e, x: 2 * e[0],
    "the gradient of b uses the last point alone": lambda e, x: 2 * e[-1],
}  # fmt: skip
TURNS = (
    "", "w is changed before the gradient of b is computed", "b is changed before the gradient of w is computed",
    "the gradients of earlier steps are added to the new ones", "every step uses the errors of the start",
    "each step replaces w and b, where it should change them",
)  # fmt: skip
LINES: dict[str, Step] = {
    "": lambda x, w, b: w * x + b, "b is missing from the prediction": lambda x, w, b: w * x,
    "b is subtracted in the prediction": lambda x, w, b: w * x - b,
    "w is added to x in the prediction": lambda x, w, b: w + x + b,
    "w and b have changed places in the prediction": lambda x, w, b: b * x + w,
    "b is multiplied by x as well": lambda x, w, b: (w + b) * x,
}  # fmt: skip
HOW_MANY: dict[str, Step] = {
    "": lambda n: n, "one step is missing, as in range(1, steps)": lambda n: n - 1,
    "there is one step too many": lambda n: n + 1,
    "the result is that of one step: the loop returns too early, or each step begins at the start again": lambda n: min(n, 1),
}  # fmt: skip
STARTS = {"": (0.0, 0.0), "w begins at 1": (1.0, 0.0), "b begins at 1": (0.0, 1.0), "w and b begin at 1": (1.0, 1.0)}
RATES: dict[str, Step] = {
    "": lambda lr: lr, "the gradients are divided by lr": lambda lr: 1 / lr,
    "lr is used twice": lambda lr: lr * lr,
}  # fmt: skip


def likely_8_3(probe: Probe) -> dict[str, Any]:
    """Tests for descents with at most two mistakes, by what to say about them."""
    x, y, lr, steps = probe.args or list(probe.data.values())
    tests: dict[str, Any] = {}

    def put(words: str, both: str, w_by: str, b_by: str, line: str, many: str, start: str, rate: str, turn: str) -> None:
        def test(got: Any) -> bool:
            (w, b), scale = STARTS[start], RATES[rate](lr) * TOGETHER[both](len(x))
            turned, dw, db = TURNS.index(turn), 0.0, 0.0
            first = LINES[line](x, w, b) - y
            with np.errstate(all="ignore"):
                for _ in range(HOW_MANY[many](steps)):
                    e = first if turned == 4 else LINES[line](x, w, b) - y
                    dw, db = OF_W[w_by](e, x) + (turned == 3) * dw, OF_B[b_by](e, x) + (turned == 3) * db
                    new_w, new_b = w - scale * dw, b - scale * db
                    if turned == 1:
                        new_b = b - scale * OF_B[b_by](LINES[line](x, new_w, b) - y, x)
                    if turned == 2:
                        new_w = w - scale * OF_W[w_by](LINES[line](x, w, new_b) - y, x)
                    w, b = (-scale * dw, -scale * db) if turned == 5 else (new_w, new_b)
            return (steps == 0 or np.shape(got[0]) == np.shape(w)) and all(
                np.allclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True) for one, other in zip(got, (w, b), strict=True)
            )

        tests[f"In your descent, {words}."] = test

    def losses(got: Any) -> bool:
        return len(got) == steps and (steps == 0 or bool(np.isclose(got[0], np.mean(y**2))))

    tests["These are the losses of all steps. The task asks for w and b after the last one."] = losses
    for words, names in at_most_two(TOGETHER, OF_W, OF_B, LINES, HOW_MANY, STARTS, RATES, dict.fromkeys(TURNS)):
        if steps < 50:  # so many tests of long descents would take seconds
            put(words, *names)
    return tests


EXERCISE_8_3 = function(
    "8.3", "fit",
    why="Each step moves w and b against their gradients, so the mean squared error falls.",
    title="fit a line by descent",
    minutes=12,
    oracle=fit_measured,
    probes=probes_8_3,
    likely=likely_8_3,
    atol=1e-12,
    wrong=[
        Wrong(descent(sign=1), "M30", "Your loss grows in every step, because the gradient points uphill. In which "
              "direction do you have to go?", name="uphill"),
        Wrong(descent(fresh=False), "M06", "The first step is right, and all later steps use the gradient of the start "
              "again. What has to be computed again after w and b have changed?", name="old errors"),
        Wrong(descent(keep=True), "M01", "The first step is right. From the second step on, you add the old gradient to "
              "the new one. Where do you compute dw and db, and do you begin again at 0?", name="kept gradient"),
        Wrong(descent(one_after_the_other=True), "", ONE_AFTER_THE_OTHER, name="one after the other", alike="one by one"),
        Wrong(b_then_w, "", ONE_AFTER_THE_OTHER, alike="one by one"),
        Wrong(along(lambda e, x: np.mean(e * x), lambda e, x: 2 * np.mean(e)), "M30", ONE_HALF, name="no two in w",
              alike="one half"),
        Wrong(along(lambda e, x: 2 * np.mean(e * x), lambda e, x: np.mean(e)), "M30", ONE_HALF, name="no two in b",
              alike="one half"),
        Wrong(along(lambda e, x: 2 * np.mean(e), lambda e, x: 2 * np.mean(e)), "M43", "You change w and b by the same number. "
              "When w grows by 1, a prediction grows by x. Where is x in your gradient of w?", name="no x"),
        Wrong(along(lambda e, x: 2 * np.mean(e) * np.mean(x), lambda e, x: 2 * np.mean(e)), "", "You multiply the mean of the "
              "errors by the mean of x. Each error has an x of its own: what comes first, the product or the mean?",
              name="product of means"),
        Wrong(descent(factor=lambda x: 1.0), "M30", "Your gradients are the plain sums of error * x and of the errors. The "
              "loss is a mean of squares. Which factor comes from the square, and which divisor from the mean?",
              name="plain sums"),
        Wrong(descent(factor=lambda x: 2.0), "M30", "Your steps are too long. They would be right if the loss were a sum, "
              "but it is a mean. Over how many points?", name="no mean"),
        Wrong(descent(factor=lambda x: 1 / len(x)), "M30", "Your steps are half as long as they should be. Which factor "
              "does the derivative of a square bring?", name="no two"),
        Wrong(descent(offset=False), "M05", "Your b stays at 0. b is added to every prediction. How fast does the loss "
              "change when b changes?", name="b stays"),
        Wrong(lambda x, y, lr, steps: descent()(x, y, lr, steps - 1), "M40", "One step is missing. How many numbers does "
              "range(1, steps) hold?", name="one step less"),
        Wrong(lambda x, y, lr, steps: descent()(x, y, lr, steps)[::-1], "", "Both numbers are right, but their order is "
              "not. Which one comes first, w or b?", name="b first"),
        Wrong(example_by_example, "M50", "You make a step after every single example. Here each step uses the mean over "
              "all of them. Where does the mean belong?"),
        Wrong(lambda x, y, lr, steps: descent()(x, y, lr, max(steps, 1)), "", "For steps = 0, you still make a step. Which "
              "line should a start without any step return?", name="at least one step"),
        Wrong(until_good_enough, "", "You stop when the loss is small. Here all y are small, so the loss is small before "
              "anything is learned. How many steps should the loop make?"),
        Wrong(in_single_precision, "M40", "Your answer is right to seven digits, so you compute in float32. Which dtype do "
              "x and y have?"),
        Wrong(descent(limit=1), "", "Your first step is right, and then w and b do not change any more. How often does your "
              "loop run?", name="one step"),
        Wrong(with_least_squares, "", "This is the best line of all. The exercise asks for the line after `steps` steps of "
              "descent with the rate lr. Is it the same line?"),
    ],
    alternatives=[descent(), fit_with_matrices, fit_through_mse, fit_from_means],
    hints=[
        "Start with w = 0 and b = 0. In each step compute the errors, then both gradients, and then change both numbers.",
        "For the loss (3w - 6)**2 and lr = 0.01: at w = 0 the derivative is 2 * 3 * (-6) = -36, so w becomes 0.36.",
        "Let error = w*x + b - y. The gradient of w is the mean of 2 * error * x, and that of b is the mean of 2 * error.",
    ],
    worked="Repeat: error = w*x + b - y; dw = 2 * np.mean(error * x); db = 2 * np.mean(error); w = w - "
           "lr*dw; b = b - lr*db.",
)  # fmt: skip

# --- 8.4 an average that keeps no graphs --------------------------------------------------------------------------

# Given in the exercise notebook as well: a loss that remembers what it was made from, as a tensor does.
# Here the numbers are not in the student's process: a loss is the number of a place outside, where the living are counted.
LOSS = """
def own_class():
    own = getattr(average, "__globals__", {}).get("Loss")
    return own if isinstance(own, type) else type("Loss", (), {})

class Watched(type):
    @property
    def most(cls):
        return getattr(own_class(), "most", 0)

class Loss(metaclass=Watched):
    def __init__(self, number, history=()):
        self.place, self.history = outside("make", number), history

    @property
    def number(self):
        return outside("item", self.place)

    @number.setter
    def number(self, new):
        outside("free", self.place)
        self.place = outside("make", new)

    def __del__(self):
        outside("free", self.place)

    def __add__(self, other):
        if isinstance(other, Loss):
            return at(outside("add", self.place, other.place, 0.0), (self, other))
        return at(outside("add", self.place, None, other), (self, other))

    __radd__ = __add__

    def __truediv__(self, n):
        return at(outside("divide", self.place, n), (self,))

    def item(self):
        return outside("item", self.place)

    __float__ = item

def at(place, history=()):
    loss = Loss.__new__(Loss)
    loss.place, loss.history = place, history
    return loss

def training(numbers):
    own = own_class()
    own.alive = own.most = 0
    while (place := outside("next")) is not None:
        yield at(place)
"""

AVERAGE = "result = average(training(numbers))\nresult"
KEPT = "result = average(training(numbers))\n[result, Loss.most]"
AT_MOST = 3  # losses that may live at the same time: fewer are not noticed


class Losses(Outside):
    """The numbers of a training run, and those computed from them; a number lives while anything made from it does."""

    methods = ("make", "next", "free", "add", "divide", "item")

    def __init__(self, numbers: Any) -> None:
        self.coming, self.count = iter(list(numbers)), len(list(numbers))
        self.made: dict[int, tuple[float, tuple[int, ...]]] = {}
        self.held: set[int] = set()
        self.most = 0

    def new(self, number: float, *made_from: int) -> int:
        place = len(self.made)
        self.made[place] = (float(number), made_from)
        self.held.add(place)
        living, waiting = set(self.held), list(self.held)
        while waiting:
            more = set(self.made[waiting.pop()][1]) - living
            living |= more
            waiting += more
        self.most = max(self.most, len(living))
        return place

    def make(self, number: float) -> int:
        return self.new(number)

    def next(self) -> int | None:
        number = next(self.coming, None)
        return None if number is None else self.new(number)

    def free(self, place: int) -> None:
        self.held.discard(place)

    def number(self, place: int) -> float:
        if place not in self.held:
            raise LookupError("this loss is gone")
        return self.made[place][0]

    def add(self, place: int, other: int | None, plain: float) -> int:
        if other is None:
            return self.new(self.number(place) + float(plain), place)
        return self.new(self.number(place) + self.number(other), place, other)

    def divide(self, place: int, n: float) -> int:
        return self.new(self.number(place) / float(n), place)

    def item(self, place: int) -> float:
        return self.number(place)


class Counted(Losses):
    """The same, where a part of the answer is how many lived at the same time."""

    def seen(self, answer: Any) -> Any:
        if type(answer) is not list or len(answer) != 2:
            return answer
        most = max(self.most, answer[1] if type(answer[1]) is int else 0)  # answer[1]: of those that the student made
        return [answer[0], max(min(most, self.count), AT_MOST)]  # one or two more than all are the same mistake


def probes_8_4(rng: np.random.Generator) -> Iterator[Probe]:
    few, many = (numbers(rng, 3) / 7).tolist(), (numbers(rng, 20) / 7).tolist()
    yield run(AVERAGE, numbers=[0.5, 1.5, 4.0]).asking(Losses).expect(2.0)
    yield run(AVERAGE, numbers=few).asking(Losses).expect(sum(few) / 3)
    yield run(KEPT, numbers=many).asking(Counted).expect([sum(many) / 20, AT_MOST])
    yield run(AVERAGE, numbers=many).asking(Losses).expect(sum(many) / 20)
    yield run(AVERAGE, numbers=[3.0, 0.0, -1.0, 0.0]).asking(Losses).expect(0.5)


def adds_losses(losses: Any) -> Any:
    total_loss, n = 0.0, 0
    for loss in losses:
        total_loss = total_loss + loss
        n += 1
    return total_loss / n


def skips_zeros(losses: Any) -> Any:
    numbers_ = [n for loss in losses if (n := loss.item())]
    return sum(numbers_) / len(numbers_)


def item_at_the_end(losses: Any) -> Any:
    total_loss, n = 0.0, 0
    for loss in losses:
        total_loss = total_loss + loss
        n += 1
        del loss
    return total_loss.item() / n  # type: ignore[attr-defined]


def keeps_a_list(losses: Any) -> Any:
    kept = list(losses)
    return sum(loss.item() for loss in kept) / len(kept)


def last_only(losses: Any) -> Any:
    number = 0.0
    for loss in losses:
        number = loss.item()
    return number


def never_divides(losses: Any) -> Any:
    return sum(loss.item() for loss in losses)


def adds_numbers(losses: Any) -> Any:
    total_loss, n = 0.0, 0
    for loss in losses:
        total_loss += loss.item()
        n += 1
    return total_loss / n


def list_of_numbers(losses: Any) -> Any:
    found = [loss.item() for loss in losses]
    return sum(found) / len(found)


def running_mean(losses: Any) -> Any:
    mean = 0.0
    for n, loss in enumerate(losses, 1):
        mean += (loss.item() - mean) / n
    return mean


def halves(losses: Any) -> Any:
    mean = None
    for loss in losses:
        mean = loss.item() if mean is None else (mean + loss.item()) / 2
    return mean


def halves_from_zero(losses: Any) -> Any:
    mean = 0.0
    for loss in losses:
        mean = (mean + loss.item()) / 2
    return mean


def counts_first(losses: Any) -> Any:
    n = sum(1 for _ in losses)
    return sum(loss.item() for loss in losses) / n


def counts_afterwards(losses: Any) -> Any:
    total_loss = sum(loss.item() for loss in losses)
    return total_loss / sum(1 for _ in losses)


def divides_too_early(losses: Any) -> Any:
    return sum(loss.item() / n for n, loss in enumerate(losses, 1))


HALVES = (
    "In your average, the last loss counts one half and the first ones count almost nothing. How much should each of N "
    "numbers count?"
)
ONCE = (
    "Nothing is left to add or to count: you can go through losses only once, and a second loop finds it empty. Can you add "
    "and count in the same loop?"
)
# A history and a list keep the same objects alive: no probe can tell the two apart.
STILL_ALIVE = (
    "The number is right, but all losses stay alive until the end: a list holds them, or the history of a sum does. (del "
    "removes only a name.) At which moment should you take the number out of each loss?"
)

EXERCISE_8_4 = program(
    "8.4", "average",
    why="item() returns a plain number, which holds no graph, so the graph of each step can be freed.",
    title="an average that keeps no graphs",
    minutes=6,
    prelude=LOSS,
    probes=probes_8_4,
    wrong=[
        Wrong(adds_losses, "M18", "You return a loss, not a number, and it keeps every earlier loss alive. Which method of a "
              "loss returns its number?"),
        Wrong(skips_zeros, "M05", "You left out a loss of 0, because Python treats 0 as false. Does a loss of 0 belong to "
              "the average?"),
        Wrong(item_at_the_end, "M18", STILL_ALIVE, alike="still alive"),
        Wrong(keeps_a_list, "M18", STILL_ALIVE, alike="still alive"),
        Wrong(last_only, "M19", "You return the last loss alone. Where do you add up the losses?"),
        Wrong(never_divides, "M30", "You return the sum of all losses. By which number does an average divide?"),
        Wrong(halves, "M43", HALVES, alike="halves"),
        Wrong(halves_from_zero, "M43", HALVES, alike="halves"),
        Wrong(counts_first, "", ONCE, alike="once"),
        Wrong(counts_afterwards, "", ONCE, alike="once"),
        Wrong(divides_too_early, "M30", "You divide each loss by the number of losses so far. An average divides the whole "
              "sum, once. When do you know by which number?"),
        Wrong(lambda losses: sum(loss.item() for loss in losses) / 3, "M30", "You divide by 3, however many losses come. Which "
              "number should your loop count?", name="three"),
    ],
    alternatives=[adds_numbers, list_of_numbers, running_mean, lambda losses: float(np.mean([float(x) for x in losses]))],
    hints=[
        "A loss keeps its whole graph in memory. A Python number has no graph.",
        "To compute the average length of ten films, you write down ten numbers. You do not keep the films.",
        "Look at the line that adds. Does it add a loss, or the number of a loss? `.item()` returns the number.",
    ],
    worked="Add loss.item() in the loop, count the losses, and divide at the end.",
)  # fmt: skip

# --- 8.5 micro-batches ---------------------------------------------------------------------------------


def on_one_batch(x: Array, y: Array, w: float, sizes: list[int]) -> Any:
    """The oracle: the measured slope of the loss over everything, whatever the parts."""
    return float(slopes(lambda c: np.mean((c * x - y) ** 2), np.array(w)))


# Which parts were asked about: part_gradient is watched where accumulate looks it up.
PARTS = """
def parts_asked(sizes):
    import numpy as np

    asked, given = [], part_gradient
    x, y = np.array([1.0, 2.0, 3.0, 5.0, 8.0, 9.0]), np.array([2.0, 5.0, 4.0, 9.0, 12.0, 17.0])
    home = getattr(accumulate, "__globals__", None) or type(accumulate).__call__.__globals__

    def watched(x, y, w):
        asked.append(np.ravel(x).tolist())
        return given(x, y, w)

    home["part_gradient"] = watched
    try:
        accumulate(x, y, 0.7, sizes)
    finally:
        home["part_gradient"] = given
    parts = {each: n for n, part in enumerate(sorted(asked)) for each in part}
    return {"calls": len(asked), "part of each example": [parts.get(each, -1) for each in x.tolist()]}
"""
IN_ORDER = (
    "part_gradient is to be called once for each part, and the parts are cut in order: with [2, 3, 1], the first two "
    "examples are part 0, the next three are part 1, and the last one is part 2."
)


def probes_8_5(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(np.array([1.0, 2.0, 3.0, 4.0]), np.array([3.0, 2.0, 5.0, 7.0]), 0.5, [2, 2])
    yield call(numbers(rng, 8), numbers(rng, 8), 0.7, [2, 2, 2, 2])
    yield call(numbers(rng, 7), numbers(rng, 7), -1.3, [4, 2, 1])
    yield call(numbers(rng, 5), numbers(rng, 5), 2.0, [5])
    yield call(numbers(rng, 6), numbers(rng, 6), 1.7, [1, 5])
    yield run("parts_asked([2, 3, 1])").expect({"calls": 3, "part of each example": [0, 0, 1, 1, 1, 2]}).on(IN_ORDER).show()


def part_gradient(x: Array, y: Array, w: float) -> Any:
    return 2 * np.mean((w * x - y) * x)


def in_parts(
    weight: Callable[[int, int, int], float], clears: bool = False, same_part: bool = False
) -> Callable[..., Any]:
    """Accumulation over parts; `weight(size, all, parts)` is the factor of a part."""

    def accumulate(x: Array, y: Array, w: float, sizes: list[int]) -> Any:
        grad, start = 0.0, 0
        for size in sizes:
            part = slice(0 if same_part else start, (0 if same_part else start) + size)
            now = weight(size, len(x), len(sizes)) * part_gradient(x[part], y[part], w)
            grad = now if clears else grad + now
            start += size
        return grad

    return accumulate


def with_split(x: Array, y: Array, w: float, sizes: list[int]) -> Any:
    cuts = np.cumsum(sizes)[:-1]
    pairs = zip(np.split(x, cuts), np.split(y, cuts), strict=True)
    return sum(part_gradient(p, q, w) * len(p) for p, q in pairs) / len(x)


def all_at_once(x: Array, y: Array, w: float, sizes: list[int]) -> Any:
    return part_gradient(x, y, w)


def one_at_a_time(x: Array, y: Array, w: float, sizes: list[int]) -> Any:
    return sum(part_gradient(x[i : i + 1], y[i : i + 1], w) for i in range(len(x))) / len(x)


def from_the_end(x: Array, y: Array, w: float, sizes: list[int]) -> Any:
    return in_parts(lambda n, all, parts: n / all)(x[::-1], y[::-1], w, sizes)


def sum_then_divide(x: Array, y: Array, w: float, sizes: list[int]) -> Any:
    grad, start = 0.0, 0
    for size in sizes:
        end = start + size
        grad += float(np.sum(2 * (w * x[start:end] - y[start:end]) * x[start:end]))
        start = end
    return grad / start


STRETCHES: dict[str, Step] = {  # from place, start, size, number of parts, number of examples
    "": lambda i, at, n, parts, all: (at, at + n), "each part ends at its size": lambda i, at, n, parts, all: (at, n),
    "each part has the same length, whatever sizes says":
        lambda i, at, n, parts, all: (i * (all // parts), (i + 1) * (all // parts)),
    "the place of the size is used as the place of the first example": lambda i, at, n, parts, all: (i, i + n),
    "each part begins at its place times its own size": lambda i, at, n, parts, all: (i * n, (i + 1) * n),
    "each part begins at the first example": lambda i, at, n, parts, all: (0, n),
    "each part goes on to the last example": lambda i, at, n, parts, all: (at, None),
    "each part goes from the first example to its own end": lambda i, at, n, parts, all: (0, at + n),
    "each part lacks its last example": lambda i, at, n, parts, all: (at, at + n - 1),
    "each part lacks its first example": lambda i, at, n, parts, all: (at + 1, at + n),
    "each part has one example too many": lambda i, at, n, parts, all: (at, at + n + 1),
    "each part is the whole batch": lambda i, at, n, parts, all: (None, None),
}  # fmt: skip
WEIGHTS: dict[str, Step] = {  # from size, number of examples, number of parts
    "": lambda n, all, parts: n / all, "the weight of a part is turned round, len(x) / size": lambda n, all, parts: all / n,
    "the parts are added without a weight": lambda n, all, parts: 1,
    "each part counts the same": lambda n, all, parts: 1 / parts,
    "each part is divided by the number of examples": lambda n, all, parts: 1 / all,
    "each part is divided by its size": lambda n, all, parts: 1 / n,
    "each part is multiplied by its size": lambda n, all, parts: n,
    "each part has the weight size / number of parts": lambda n, all, parts: n / parts,
    "each part has the weight 1 - size / len(x)": lambda n, all, parts: 1 - n / all,
}  # fmt: skip
SUMS = ("", "the sum begins again in each part", "the loop ends after the first part", "the last examples are left out")


def likely_8_5(probe: Probe) -> dict[str, Any]:
    """Gradients from parts with at most two mistakes, by what to say about them."""
    if not probe.args:
        same_length = "Your parts all have the same length. Which length does sizes give to each?"
        return {same_length: lambda got: got["part of each example"] == [0, 0, 1, 1, 2, 2]}
    x, y, w, sizes = probe.args
    tests: dict[str, Any] = {}

    def put(words: str, of_x: str, of_y: str, weight: str, sums: str) -> None:
        def test(got: Any) -> bool:
            terms, at = [], 0
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the mean of an empty part
                for i, n in enumerate(sizes):
                    a, b = (slice(*STRETCHES[each](i, at, n, len(sizes), len(x))) for each in (of_x, of_y or of_x))
                    terms.append(WEIGHTS[weight](n, len(x), len(sizes)) * part_gradient(x[a], y[b], w))
                    at += n
            kept = {"": terms, SUMS[1]: terms[-1:], SUMS[2]: terms[:1], SUMS[3]: terms[:-1]}[sums]
            return bool(np.isclose(float(got), sum(kept), rtol=1e-9, atol=1e-12, equal_nan=True))

        tests[f"In your accumulate, {words}."] = test

    of_y = {f"{each} (of y alone)" if each else "": each for each in STRETCHES}
    for words, names in at_most_two(STRETCHES, of_y, WEIGHTS, dict.fromkeys(SUMS)):
        put(words, names[0], of_y[names[1]], names[2], names[3])
    return tests


EXERCISE_8_5 = function(
    "8.5", "accumulate",
    why="The mean over the batch is the sum of the means of its parts, each weighted by its fraction of the examples.",
    title="many small batches, one big gradient",
    minutes=8,
    oracle=on_one_batch,
    probes=probes_8_5,
    likely=likely_8_5,
    scaffold=lambda: {"part_gradient": part_gradient},
    prelude=PARTS,
    wrong=[
        Wrong(in_parts(lambda n, all, parts: 1.0), "M50", "You add the gradients of the parts as they are. Each of them is "
              "already a mean over its part. By which factor do you have to multiply it?", name="no division"),
        Wrong(in_parts(lambda n, all, parts: 1 / parts), "M50", "Equal parts come out right, but unequal ones do not: a "
              "part of 4 counts as much as a part of 1. How much should each example count?", name="equal parts"),
        Wrong(in_parts(lambda n, all, parts: n / all, clears=True), "M01", "Only the contribution of the last part is left. "
              "Accumulating means that nothing is cleared between the parts. Does your loop add, or replace?",
              name="cleared between parts"),
        Wrong(in_parts(lambda n, all, parts: 1 / all), "M50", "You divide by the number of examples, but the gradient of "
              "each part is already a mean. What turns a mean back into a sum?", name="divided twice"),
        Wrong(in_parts(lambda n, all, parts: 1 / n), "M50", "You divide the gradient of each part by the size of the part, but "
              "it is already a mean over the part. What turns a mean back into a sum?", name="divided by the size"),
        Wrong(from_the_end, "M50", "The number is right, but your parts have their sizes in reverse: the last size belongs "
              "to your first examples. With [4, 2, 1], which examples belong to the first part?"),
        Wrong(in_parts(lambda n, all, parts: float(n)), "M50", "You multiply each part by its size, and never divide. The "
              "result is the gradient of a sum of squares. What makes a mean of it?", name="sum"),
        Wrong(all_at_once, "M50", "The number is right, but you gave all data to part_gradient at once. Parts are used "
              "when all data do not fit into memory. Which examples belong to one call?"),
        Wrong(one_at_a_time, "M50", "The number is right, but you gave each example to part_gradient alone. Which sizes did "
              "the exercise ask for?"),
        Wrong(sum_then_divide, "M50", "The number is right, but you did not call part_gradient: you wrote its formula again. "
              "A network has no such formula. How can you use the means that part_gradient returns?"),
        Wrong(in_parts(lambda n, all, parts: n / all, same_part=True), "", "Each of your parts begins at the first example. "
              "Where does the second part begin?", name="same part"),
    ],
    alternatives=[
        in_parts(lambda n, all, parts: n / all), with_split,
        lambda x, y, w, sizes: np.average(
            [part_gradient(x[e - n : e], y[e - n : e], w) for n, e in zip(sizes, np.cumsum(sizes), strict=True)],
            weights=sizes,
        ),
    ],
    hints=[
        "In the mean over all data, each *example* counts the same, not each part.",
        "Parts of 3 and 1 examples with the means 10 and 2: the mean of all four is (3 * 10 + 1 * 2) / 4 = 8, not 6.",
        "Multiply the gradient of each part by the fraction of the examples that are in this part.",
    ],
    worked="Add size / len(x) * part_gradient(...) for each part, and clear nothing in between.",
)  # fmt: skip

# --- predictions of the reading notebook ---------------------------------------------------------------

PREDICTION_8_0 = prediction(
    "8.0", [-0.5, -0.5], points=0,
    title="the gradient of a mean squared error",
    asks=("For each prediction, three factors belong together: what the square gives, the error (prediction minus target), and "
          "what the mean of two numbers gives. What is their product?",),
    wrong=[
        Wrong([0.5, 0.5], "M30", "Both predictions are too low. When one of them rises, does the loss rise or fall?"),
        Wrong([-1, -1], "M30", "-1 is the derivative of each square. The loss is the mean of two squares."),
        Wrong([-0.25, -0.25], "M30", "You divided by 2 for the mean. Which factor does the square bring?"),
        Wrong([0.125, 0.125], "M43", "0.125 is what each square adds to the loss. How fast does the loss change?"),
        Wrong(0.25, "M03", "0.25 is the loss itself. There is one derivative for each prediction."),
    ],
)  # fmt: skip

PREDICTION_8_0B = prediction(
    "8.0b", 6, points=0,
    title="the divisor of the mean",
    asks=("The mean of the squares is their sum, divided by how many squares there are. How many is that in 2 rows of 3?",),
    wrong=[
        Wrong(2, "M30", "2 is the number of rows. How many squares are there?"),
        Wrong(3, "M30", "3 is the number of columns. How many squares are there?"),
    ],
)  # fmt: skip

PREDICTION_8_0A = prediction(
    "8.0a", "b", points=0,
    title="what does a gradient of -0.5 say?",
    options={
        "a": "the input makes up this part of the loss",
        "b": "the loss changes this fast when the input changes",
    },
    wrong=[Wrong("a", "M43", "Add both gradients: -0.5 and -0.5. The loss is 0.25. Can these be its parts?")],
)  # fmt: skip

PREDICTION_8_3A = prediction(
    "8.3a", "b", points=0,
    title="six steps of a fit",
    options={"a": "they fall in every step", "b": "they fall and rise again", "c": "they stay the same"},
    wrong=[
        Wrong("a", "M01", "The losses would fall if each step used only the new gradients. What does .grad hold after the "
              "second backward pass?"),
        Wrong("c", "M01", "Each step changes w and b, so the loss changes. In which direction does a step go if .grad still "
              "holds all earlier gradients?"),
    ],
)  # fmt: skip

PREDICTION_8_2A = prediction(
    "8.2a", "c", points=0,
    title="why is the line flat?",
    options={
        "a": "the learning rate is too small",
        "b": "there are too few steps",
        "c": "every prediction is compared with every target",
        "d": "w has no gradient",
    },
    wrong=[
        Wrong("a", "M54", "Half the rate leads to the same line, so the fit has arrived. Which loss is smallest for this "
              "line?"),
        Wrong("b", "M54", "Ten times as many steps lead to the same line. Which single number is closest to all targets at "
              "once?"),
        Wrong("d", "M54", "w has a gradient, and it is almost zero at the end. Which loss is smallest there?"),
    ],
)  # fmt: skip

PREDICTION_8_2B = prediction(
    "8.2b", [4, 4], points=0,
    title="the shape of (4, 1) minus (4,)",
    asks=("Align the two shapes at the right. An axis of length 1, or one that is missing, is stretched to the other length.",),
    wrong=[
        Wrong([4, 1], "M31", "Write (4, 1) and (4,) below each other, aligned at the right. What is below the 1?"),
        Wrong([3, 3], "M31", "This is the shape for three points. How many points are there here?"),
        Wrong([4], "M31", "The predictions have two axes, so the difference has at least two."),
        Wrong([16], "M31", "16 is how many differences there are. Over which axes are they spread?"),
        Wrong([1, 4], "M31", "The 1 is stretched to 4. What happens to the other axis?"),
    ],
)  # fmt: skip

PREDICTION_8_5A = prediction(
    "8.5a", "b", points=0,
    title="the gradients of two unequal parts",
    options={"a": "yes, gradients add up", "b": "no, each part has a mean of its own"},
    wrong=[
        Wrong("a", "M50", "Gradients add up, but of which losses? Each part divides by the number of its own points."),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_8_0, PREDICTION_8_0B, PREDICTION_8_0A, PREDICTION_8_3A, PREDICTION_8_2A, PREDICTION_8_2B, PREDICTION_8_5A,
    EXERCISE_8_1, EXERCISE_8_2, EXERCISE_8_3, EXERCISE_8_4, EXERCISE_8_5,
)  # fmt: skip

LESSON = Lesson(
    number=8,
    slug="08_mse",
    title="MSE, a line, and the update",
    after=(4, 6, 7),
    idea="A model learns: compute the loss and its gradient, take a step against the gradient, and repeat.",
    introduces=(
        "minigrad.nn", "MSELoss", "mse", "mse_backward", "size", "errors", "Loss", "alive", "most", "number",
        "history", "__del__", "training", "average", "item", "part_gradient", "accumulate", "requires_grad_", "fit",
    ),
    misconceptions=("M30", "M31", "M50"),
    with_engine=False,
    exercises=EXERCISES,
)  # fmt: skip
