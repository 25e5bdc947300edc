"""Lesson 08: the mean squared error, a line fitted by hand, and what goes wrong around the update.

The oracles measure: they move one number and look at the loss. A mean of squares is a parabola in every number, so
a central difference is exact up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad as torch

from ..exercise import (
    ENGINE_OFF,
    Exercise,
    Lesson,
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


def root(p: Array, t: Array) -> Any:
    return np.sqrt(np.mean((p - t) ** 2))


def absolute(p: Array, t: Array) -> Any:
    return np.mean(np.abs(p - t))


EXERCISE_8_1 = function(
    "8.1", ("mse", "mse_backward"),
    why="The square gives 2(p − t), the mean divides by the number of elements, and the target gets the opposite sign.",
    title="mean squared error, forward and backward",
    minutes=10,
    oracle=mse_measured,
    probes=probes_8_1,
    prelude=ENGINE_OFF,
    wrong=[
        Wrong(both(times(lambda g, p: g / p.size)), "M30", "Half of what it should be. Nudge an error of 3 "
              "by a hair: by how many hairs does its square move?", name="no two"),
        Wrong(both(times(lambda g, p: 2 * g)), "M30", "Each entry gets as if it were alone: the loss is a "
              "mean. Over how many numbers?", name="no mean"),
        Wrong(both(times(lambda g, p: 2 * g / len(p))), "M30", "You divide by the number of rows. np.mean of "
              "a (3, 2) table divides by what?", name="rows"),
        Wrong(both(times(lambda g, p: -2 * g / p.size)), "M30", "The sign is turned. The prediction is too "
              "high: does raising it raise the loss or lower it?", name="sign"),
        Wrong(both(times(lambda g, p: 2 / p.size)), "M23", "g is not used. Right when the loss is the last "
              "thing; here somebody multiplies it.", name="no upstream"),
        Wrong(both(same_sign), "M30", "The target gets the same gradient as the prediction. Move both up by "
              "a hair: what does their difference do?"),
        Wrong(both(one_answer), "M32", "One answer for two inputs. The loss was made from p and from t: give "
              "back two."),
        Wrong(both(squares), "M43", "You handed back the squares. How fast does a square grow?"),
        Wrong(both(mse_backward, total), "M30", "mse gives the sum of the squares. What does the M stand "
              "for?",
              name="sum"),
        Wrong(both(mse_backward, root), "", "mse takes a root at the end. That is another loss, with other "
              "slopes: which letters does MSE have?", name="root"),
        Wrong(both(mse_backward, absolute), "", "mse adds sizes of errors. What happens to each error before "
              "the mean?",
              name="absolute"),
        Wrong(both(nudged), "M44", "Measured by nudging, not computed: near, and for large errors the last digits are "
              "gone. What is the slope of a square, exactly?"),
        Wrong(both(by_engine), "", "That is the engine's answer: with the engine switched off, nothing is left. This "
              "rule is yours to write. Which three factors does it have?"),
        Wrong(both(times(lambda g, p: 2 * g / p.shape[-1])), "M30", "You divide by the length of the last axis. np.mean "
              "of a (3, 2) table divides by what?", name="last axis"),
        Wrong(both(times(lambda g, p: 2 * g / np.prod(p.shape[:2]))), "M30", "You divide by the rows and columns of a table. "
              "The arrays may have three axes, or none: which number counts all their entries?", name="two axes"),
        Wrong(remembers(), "M34", "mse_backward uses the errors of the last call of mse. Here it is asked about other "
              "numbers: which p and t belong to this call?", name="remembers"),
        Wrong(both(lambda g, p, t: (2 * g * np.abs(p - t) / p.size, -2 * g * np.abs(p - t) / p.size)), "M30", "Every "
              "error counts as if the prediction were too high. What is the slope where it is too low?", name="abs error"),
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
        "The loss is a mean of squares; each entry of p is in one of the squares.",
        "For two numbers with errors 3 and -1: the loss is (9 + 1) / 2 = 5, and with g = 10 the gradients of "
        "p are 30 and -10.",
        "Three factors: the 2 of the square, the count of the mean, and g. For t, think of which way the "
        "error moves.",
    ],
    worked="mse: np.mean((p - t) ** 2). Backward: d = 2 * g * (p - t) / p.size for p, and -d for t.",
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


def diagonal_of_table(pred: Array, target: Array) -> Any:
    return np.diag(pred - target)


def mean_target(pred: Array, target: Array) -> Any:
    return pred - target.mean()


def other_way(pred: Array, target: Array) -> Any:
    return target[:, None] - pred


FLAT = (
    "The numbers are right, but flat: the axis of size 1 that pred has is gone. Which axis should stay, even in a "
    "batch of one?"
)

EXERCISE_8_2 = function(
    "8.2", "errors",
    why="With equal shapes the difference is taken element by element; (N, 1) minus (N,) would broadcast to (N, N).",
    title="a column against a flat list",
    minutes=6,
    oracle=one_by_one,
    probes=probes_8_2,
    wrong=[
        Wrong(as_it_stands, "M31", "Your answer is a square table: every prediction against every target. "
              "Which of the two lacks an axis?", alike="table"),
        Wrong(transposed, "M31", "Your answer is a square table: every prediction against every target. "
              "Which of the two lacks an axis?", alike="table"),
        Wrong(squeezed, "M31", FLAT, alike="flat"),
        Wrong(flat, "M31", FLAT, alike="flat"),
        Wrong(row, "M31", "The numbers are right and lie in a row, (1, N). pred has a row for each example: "
              "keep it and bend the target."),
        Wrong(diagonal_of_table, "M31", FLAT, alike="flat"),
        Wrong(mean_target, "M31", "Every prediction is compared with the average target. That is what the "
              "flat line does. Whose target belongs to row 2?"),
        Wrong(other_way, "M30", "target minus pred: the sign is turned. Which way is the error positive when "
              "the prediction is too high?"),
    ],
    alternatives=[
        lambda pred, target: pred - target[:, None],
        lambda pred, target: pred - target.reshape(pred.shape),
        lambda pred, target: pred - np.expand_dims(target, 1),
        lambda pred, target: (pred[:, 0] - target).reshape(-1, 1),
    ],
    hints=[
        "One error for each example, in a column like pred.",
        "A list of 5 becomes a column of 5 with list[:, None] or list.reshape(5, 1).",
        "Print the two shapes just before the minus sign: (N, 1) and (N,). Add the axis to the one that "
        "lacks it.",
    ],
    worked="Give the target the shape of pred first: pred - target.reshape(pred.shape).",
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


EXERCISE_8_3 = function(
    "8.3", "fit",
    why="Each step moves w and b against their gradients, so the mean squared error falls.",
    title="fit a line by descent",
    minutes=12,
    oracle=fit_measured,
    probes=probes_8_3,
    atol=1e-12,
    wrong=[
        Wrong(descent(sign=1), "M30", "The loss grows with every step: the gradient points uphill. Which way "
              "do you want to go?", name="uphill"),
        Wrong(descent(fresh=False), "M06", "The first step is right, the next ones repeat it: the gradient "
              "is still that of the start. What has to be computed again when w and b have moved?",
              name="old errors"),
        Wrong(descent(keep=True), "M01", "The first step is right; from the second on the old gradient is "
              "still in the new one. What belongs between two steps?", name="kept gradient"),
        Wrong(descent(one_after_the_other=True), "", "b uses a w that has already moved. Both slopes belong "
              "to the same point: compute both, then move both.", name="one after the other"),
        Wrong(descent(factor=lambda x: 2.0), "M30", "The steps are too long, by the number of points: the "
              "loss is a mean.", name="no mean"),
        Wrong(descent(factor=lambda x: 1 / len(x)), "M30", "The steps are half as long as they should be. "
              "What does the square bring?", name="no two"),
        Wrong(descent(offset=False), "M05", "b stays at 0. It is added to every prediction: how fast does "
              "the loss move when it does?", name="b stays"),
        Wrong(lambda x, y, lr, steps: descent()(x, y, lr, steps - 1), "M40", "One step is missing. How many times does "
              "range(1, steps) go round?", name="one step less"),
        Wrong(lambda x, y, lr, steps: descent()(x, y, lr, steps)[::-1], "", "Both numbers are there, b first. What was "
              "asked for first?", name="b first"),
        Wrong(example_by_example, "M50", "A step after every single example. Here one step looks at all of them: where "
              "does the mean come in?"),
        Wrong(lambda x, y, lr, steps: descent()(x, y, lr, max(steps, 1)), "", "steps = 0, and a step was made. When is the "
              "loop's condition asked for the first time?", name="at least one step"),
        Wrong(until_good_enough, "", "You stop when the loss looks small. Small for whom? Here all y are small, and nothing "
              "has been learned yet: make all the steps."),
        Wrong(in_single_precision, "M40", "Right to seven digits: somewhere the numbers became float32. Which type do x and "
              "y have?"),
        Wrong(descent(limit=1), "", "One step is right, and then nothing more happens. How often should the "
              "loop run?",
              name="one step"),
        Wrong(with_least_squares, "", "That is the best line, without any descent. The answer asked for is "
              "where `steps` steps of length lr lead."),
    ],
    alternatives=[descent(), fit_with_matrices, fit_through_mse, fit_from_means],
    hints=[
        "Start from w = 0 and b = 0. Each step: predict, take the errors, both gradients, then move both "
        "numbers downhill.",
        "For a loss of (3w - 6)**2 and lr = 0.01: at w = 0 the gradient is 2 * 3 * (-6) = -36, so w becomes "
        "0.36.",
        "With error = w*x + b - y: the gradient of w is the mean of 2 * error * x, that of b the mean of 2 * "
        "error.",
    ],
    worked="Repeat: error = w*x + b - y; dw = 2 * np.mean(error * x); db = 2 * np.mean(error); w = w - "
           "lr*dw; b = b - lr*db.",
)  # fmt: skip

# --- 8.4 a history that leaks --------------------------------------------------------------------------

# Given in the exercise notebook as well: a loss that remembers what it was made from, as a tensor does.
LOSS = """
class Loss:
    alive, most = 0, 0

    def __init__(self, number, history=()):
        self.number, self.history = number, history
        Loss.alive += 1
        Loss.most = max(Loss.most, Loss.alive)

    def __del__(self):
        Loss.alive -= 1

    def __add__(self, other):
        return Loss(self.number + getattr(other, "number", other), (self, other))

    __radd__ = __add__

    def __truediv__(self, n):
        return Loss(self.number / n, (self,))

    def item(self):
        return self.number

    __float__ = item

def training(numbers):
    Loss.alive = Loss.most = 0
    for number in numbers:
        yield Loss(number)
"""

AVERAGE = "result = average(training(numbers))\nresult"
KEPT = "result = average(training(numbers))\nLoss.most <= 3"


def probes_8_4(rng: np.random.Generator) -> Iterator[Probe]:
    few, many = (numbers(rng, 3) / 7).tolist(), (numbers(rng, 20) / 7).tolist()
    yield run(AVERAGE, numbers=[0.5, 1.5, 4.0]).expect(2.0)
    yield run(AVERAGE, numbers=few).expect(sum(few) / 3)
    yield run(KEPT, numbers=many).expect(True)
    yield run(AVERAGE, numbers=many).expect(sum(many) / 20)
    yield run(AVERAGE, numbers=[3.0, 0.0, -1.0, 0.0]).expect(0.5)


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


# A history and a list keep the same objects alive: no probe can tell the two apart.
STILL_ALIVE = (
    "The number is right, but until the end every loss stays alive, in a list or in the history of a sum "
    "(del takes away a name only). When should the number be taken out of its loss?"
)

EXERCISE_8_4 = program(
    "8.4", "average",
    why="item() returns a plain number, which holds no graph, so the graph of each step can be freed.",
    title="stop a leaking history",
    minutes=6,
    prelude=LOSS,
    probes=probes_8_4,
    wrong=[
        Wrong(adds_losses, "M18", "You return a loss, not a number, and it holds on to every loss before it. "
              "What was the average wanted for?"),
        Wrong(skips_zeros, "M05", "A loss of 0 was left out, as if there had been none: 0 counts as false. Does a loss of 0 "
              "take part in the average?"),
        Wrong(item_at_the_end, "M18", STILL_ALIVE, alike="still alive"),
        Wrong(keeps_a_list, "M18", STILL_ALIVE, alike="still alive"),
        Wrong(last_only, "M19", "That is the last loss alone."),
        Wrong(never_divides, "M30", "That is the sum of all losses. An average divides by what?"),
        Wrong(halves, "M43", "Each new loss counts half, the first ones hardly at all. In an average, how much does each "
              "of N numbers count?"),
    ],
    alternatives=[adds_numbers, list_of_numbers, running_mean, lambda losses: float(np.mean([float(x) for x in losses]))],
    hints=[
        "A loss keeps what it was made from alive; a number does not.",
        "A diary needs the temperature of each day, not the thermometer.",
        "Look at the line that adds: what is added, a loss or its number? .item() gives the number.",
    ],
    worked="Add loss.item(), count, and divide at the end.",
)  # fmt: skip

# --- 8.5 micro-batches ---------------------------------------------------------------------------------


def on_one_batch(x: Array, y: Array, w: float, sizes: list[int]) -> Any:
    """The oracle: the measured slope of the loss over everything, whatever the parts."""
    return float(slopes(lambda c: np.mean((c * x - y) ** 2), np.array(w)))


# Which parts were asked about: part_gradient is watched where accumulate looks it up.
PARTS = """
def parts_asked(x, y, w, sizes):
    asked, given = [], part_gradient
    home = getattr(accumulate, "__globals__", None) or type(accumulate).__call__.__globals__

    def watched(x, y, w):
        asked.append(len(x))
        return given(x, y, w)

    home["part_gradient"] = watched
    try:
        accumulate(x, y, w, sizes)
    finally:
        home["part_gradient"] = given
    return asked
"""


def probes_8_5(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(np.array([1.0, 2.0, 3.0, 4.0]), np.array([3.0, 2.0, 5.0, 7.0]), 0.5, [2, 2])
    yield call(numbers(rng, 8), numbers(rng, 8), 0.7, [2, 2, 2, 2])
    yield call(numbers(rng, 7), numbers(rng, 7), -1.3, [4, 2, 1])
    yield call(numbers(rng, 5), numbers(rng, 5), 2.0, [5])
    yield call(numbers(rng, 6), numbers(rng, 6), 1.7, [1, 5])
    yield run("parts_asked(x, y, 0.7, [4, 2, 1])", x=numbers(rng, 7), y=numbers(rng, 7)).expect([4, 2, 1]).show()


def part_gradient(x: Array, y: Array, w: float) -> Any:
    return 2 * np.mean((w * x - y) * x)


def in_parts(
    weight: Callable[[int, int, int], float], clears: bool = False, same_part: bool = False
) -> Callable[..., Any]:
    """Accumulation over parts; `weight(size, all, parts)` is the share of a part."""

    def accumulate(x: Array, y: Array, w: float, sizes: list[int]) -> Any:
        grad, start = 0.0, 0
        for size in sizes:
            part = slice(0 if same_part else start, (0 if same_part else start) + size)
            share = weight(size, len(x), len(sizes)) * part_gradient(x[part], y[part], w)
            grad = share if clears else grad + share
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


def sum_then_divide(x: Array, y: Array, w: float, sizes: list[int]) -> Any:
    grad, start = 0.0, 0
    for size in sizes:
        end = start + size
        grad += float(np.sum(2 * (w * x[start:end] - y[start:end]) * x[start:end]))
        start = end
    return grad / start


EXERCISE_8_5 = function(
    "8.5", "accumulate",
    why="The mean over the batch is the sum of the means of its parts, each weighted by its fraction of the examples.",
    title="many small batches, one big gradient",
    minutes=8,
    oracle=on_one_batch,
    probes=probes_8_5,
    scaffold=lambda: {"part_gradient": part_gradient},
    prelude=PARTS,
    wrong=[
        Wrong(in_parts(lambda n, all, parts: 1.0), "M50", "The gradients of the parts are added as they "
              "come. Each is already a mean over its part: how much should each count?", name="no division"),
        Wrong(in_parts(lambda n, all, parts: 1 / parts), "M50", "Equal parts come out right, unequal ones do "
              "not: a part of 4 counts as much as a part of 1. How much should each example count?",
              name="equal shares"),
        Wrong(in_parts(lambda n, all, parts: n / all, clears=True), "M01", "Only the last part is left. "
              "Accumulating means that nothing is cleared between parts. When is it cleared?",
              name="cleared between parts"),
        Wrong(in_parts(lambda n, all, parts: 1 / all), "M50", "You divide by the number of examples, but "
              "each part's gradient is already a mean. What turns a mean back into a sum?",
              name="divided twice"),
        Wrong(in_parts(lambda n, all, parts: float(n)), "M50", "The parts are weighted with their sizes and "
              "never divided: that is the gradient of the sum of all squares.", name="sum"),
        Wrong(all_at_once, "M50", "The number is right, and all the data went in at once. Parts are made because all of it "
              "does not fit: what may part_gradient be given?"),
        Wrong(one_at_a_time, "M50", "The number is right, and every example was a part of its own. Which sizes were asked "
              "for?"),
        Wrong(sum_then_divide, "M50", "The number is right, and part_gradient was never called: you wrote its formula once "
              "more. For a net there is no such formula. What can you make of the means that it gives?"),
        Wrong(in_parts(lambda n, all, parts: n / all, same_part=True), "", "Every part starts at the first "
              "example. Where does the second part begin?", name="same part"),
    ],
    alternatives=[
        in_parts(lambda n, all, parts: n / all), with_split,
        lambda x, y, w, sizes: np.average(
            [part_gradient(x[e - n : e], y[e - n : e], w) for n, e in zip(sizes, np.cumsum(sizes), strict=True)],
            weights=sizes,
        ),
    ],
    hints=[
        "The mean over everything counts each *example* the same, not each part.",
        "Parts of 3 and 1 with means 10 and 2: the mean of all four is (3 * 10 + 1 * 2) / 4 = 8, not 6.",
        "Weight the gradient of each part with the share of the examples that are in it.",
    ],
    worked="Add size / len(x) * part_gradient(...) for each part, and clear nothing in between.",
)  # fmt: skip

# --- predictions of the reading notebook ---------------------------------------------------------------

PREDICTION_8_0 = prediction(
    "8.0", [-0.5, -0.5], points=0,
    title="the gradient of a mean squared error",
    wrong=[
        Wrong([0.5, 0.5], "M30", "Both inputs are too low. If one rises, does the loss rise?"),
        Wrong([-1, -1], "M30", "That is the slope of each square. The loss is their mean."),
        Wrong([-0.25, -0.25], "M30", "The mean is there; what does the square bring?"),
        Wrong([0.125, 0.125], "M43", "Those are shares of the loss. A gradient is a slope."),
        Wrong(0.25, "M03", "That is the loss itself."),
    ],
)  # fmt: skip

PREDICTION_8_0A = prediction(
    "8.0a", "b", points=0,
    title="is a gradient a share of the error?",
    options={"a": "yes: they add up to the loss", "b": "no: it is how fast the loss moves"},
    wrong=[Wrong("a", "M43", "Add them up: -0.5 and -0.5. The loss is 0.25.")],
)  # fmt: skip

PREDICTION_8_2A = prediction(
    "8.2a", "c", points=0,
    title="why is the line flat?",
    options={
        "a": "the learning rate is too small",
        "b": "too few steps",
        "c": "every prediction is compared with every target",
        "d": "w has no gradient",
    },
    wrong=[
        Wrong("a", "M54", "Half the rate gives the same line: it has arrived. Where did it arrive, and "
              "why there?"),
        Wrong("b", "M54", "Ten times the steps give the same line. Which single number is best for all "
              "targets at once?"),
        Wrong("d", "M54", "w has one, and it is almost zero at the end. What loss has its minimum there?"),
    ],
)  # fmt: skip

PREDICTION_8_2B = prediction(
    "8.2b", [4, 4], points=0,
    title="the shape of a column minus a list",
    wrong=[
        Wrong([4, 1], "M31", "(4, 1) and (4,): line them up from the right. What meets the 1, and what meets "
              "the 4?"),
        Wrong([4], "M31", "The column has two axes, so the result has two at least."),
        Wrong([1, 4], "M31", "The 1 is stretched to 4. What happens to the other axis?"),
    ],
)  # fmt: skip

EXERCISES: tuple[Exercise, ...] = (
    PREDICTION_8_0, PREDICTION_8_0A, PREDICTION_8_2A, PREDICTION_8_2B,
    EXERCISE_8_1, EXERCISE_8_2, EXERCISE_8_3, EXERCISE_8_4, EXERCISE_8_5,
)  # fmt: skip

LESSON = Lesson(
    number=8,
    slug="08_mse",
    title="MSE, a line, and the update",
    after=(4, 6, 7),
    idea="Two from the square, one over all elements from the mean, and an update that is not part of the model.",
    introduces=(
        "minigrad.nn", "MSELoss", "mse", "mse_backward", "size", "errors", "fit", "Loss", "alive", "most", "number",
        "history", "__del__", "training", "average", "part_gradient", "accumulate", "requires_grad_",
    ),
    misconceptions=("M30", "M31", "M43", "M50"),
    with_engine=False,
    exercises=EXERCISES,
)  # fmt: skip
