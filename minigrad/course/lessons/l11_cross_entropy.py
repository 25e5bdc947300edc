"""Lesson 11: softmax without overflow, cross-entropy and its gradient, `where` and nan.

The first two exercises are judged by calls on numpy arrays, against formulas of another form: `logaddexp`, the
engine's own derivative. The last one is tensor code, judged by programs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import minigrad as torch

from ..exercise import (
    ENGINE_OFF,
    Probe,
    call,
    numbers,
    run,
    unaided,
)  # fmt: skip
from ..lesson_text import lesson

Array = np.ndarray[Any, Any]


# --- 11.1 log-softmax ----------------------------------------------------------------------------------


def by_logaddexp(z: Array) -> Array:
    """Row by row, adding logarithms in pairs."""
    return np.array([row - np.logaddexp.reduce(row) for row in z])


def probes_11_1(rng: np.random.Generator) -> Iterator[Probe]:
    yield call(np.array([[2.0, 1.0, 0.1], [0.3, -1.2, 0.8]]))
    yield call(numbers(rng, 4, 2))
    yield call(np.array([[1000.0, 999.0, 998.5]])).show()
    yield call(np.array([[-1000.0, -1001.5], [-2000.0, -2000.5]]))
    yield call(np.array([[1000.0, 0.0, -1000.0], [-3000.0, -3001.0, -2999.5]]))
    yield call(np.array([[1000.0, 0.0, 0.5]]))
    yield call(np.array([[-1000.0, 0.5, 1.5], [-1000.0, 1000.0, 0.0]]))
    yield call(np.array([[20000.0, 19999.0]]))  # too much for a longer float, too
    yield unaided("log_softmax", by_logaddexp(np.array([[2.0, 1.0, 0.5]])), z=np.array([[2.0, 1.0, 0.5]]))


def stable(z: Any) -> Any:
    shifted = z - z.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def row_by_row(z: Any) -> Any:
    out = np.empty(z.shape)
    for i, row in enumerate(z):
        top = max(row)
        out[i] = row - top - math.log(sum(math.exp(v - top) for v in row))
    return out


def shifted_by(z: Any, shift: Any) -> Any:
    """Right for any shift that is the same within a row, as long as nothing overflows."""
    return (z - shift) - np.log(np.exp(z - shift).sum(axis=1, keepdims=True))


def softmax_rows(z: Any) -> Any:
    return np.exp(stable(z))


def maximum_of_all(z: Any) -> Any:
    shifted = z - z.max()
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def steps_11_1(probe: Probe) -> dict[str, Any]:
    """The probabilities of each row, and what may be taken for them."""
    z = np.asarray((probe.args or list(probe.data.values()))[0], dtype=float)
    e = np.exp(z - z.max())
    rows = np.exp(z - z.max(axis=1, keepdims=True))
    columns = np.exp(z - z.max(axis=0))
    found = {"softmax(z)": rows / rows.sum(axis=1, keepdims=True), "softmax of the columns": columns / columns.sum(axis=0),
             "softmax of the whole array": e / e.sum()}  # fmt: skip
    logs = {f"log of {name}": np.log(p) for name, p in found.items() if name != "softmax(z)"}
    logs["(z - z.max(axis=1))"] = z - z.max(axis=1, keepdims=True)
    return found | logs | {"number of columns": np.float64(z.shape[1]), "log(number of columns)": np.log(z.shape[1])}


SMALL = (
    1e-5,
    1e-6,
    1e-7,
    1e-8,
    1e-9,
    1e-10,
    1e-12,
    1e-15,
    1e-16,
    1e-20,
    1e-30,
    1e-300,
)  # what is added to be on the safe side


# --- 11.2 cross-entropy --------------------------------------------------------------------------------


def by_engine(name: str, *given: Any) -> Any:
    """Loss of (z, targets), or gradient of (g, z, targets), from the engine's own cross-entropy, in float64."""
    *g, z, targets = given
    scores = torch.tensor(z, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(scores, torch.tensor(targets, dtype=torch.int64))
    if name == "cross_entropy":
        return loss.item()
    (loss * g[0]).backward()
    gradient = scores.grad
    assert gradient is not None
    return gradient.numpy()


def probes_11_2(rng: np.random.Generator) -> Iterator[Probe]:
    z, targets = np.array([[2.0, 1.0, 0.1], [0.3, -1.2, 0.8]]), np.array([0, 2])
    yield call(z, targets).of("cross_entropy").show()
    yield call(10.0, z, targets).of("cross_entropy_grad")
    more, picked = numbers(rng, 5, 3), np.array([2, 0, 1, 1, 2])
    yield call(more, picked).of("cross_entropy")
    yield call(-2.5, more, picked).of("cross_entropy_grad")
    big, sure = np.array([[1000.0, 0.0], [0.0, 500.0], [3.0, 3.0]]), np.array([1, 1, 0])
    yield call(big, sure).of("cross_entropy")
    yield call(2.0, big, sure).of("cross_entropy_grad")
    # small contributions of a large upstream gradient: a measured one has lost them
    yield call(1e7, np.array([[9.0, 0.5, -4.0], [0.3, -5.0, 8.0]]), np.array([1, 0])).of("cross_entropy_grad")
    yield unaided("cross_entropy", by_engine("cross_entropy", z, targets), z=z, targets=targets)
    yield unaided("cross_entropy_grad", by_engine("cross_entropy_grad", 2.0, z, targets), g=2.0, z=z, targets=targets)


def mean_surprise(z: Any, targets: Any) -> Any:
    return -stable(z)[np.arange(len(z)), targets].mean()


def softmax_minus_one_hot(g: Any, z: Any, targets: Any) -> Any:
    return g * (softmax_rows(z) - np.eye(z.shape[1])[targets]) / len(z)


def losses(
    loss: Callable[..., Any] = mean_surprise, grad: Callable[..., Any] = softmax_minus_one_hot
) -> dict[str, Any]:
    return {"cross_entropy": loss, "cross_entropy_grad": grad}


def steps_11_2(probe: Probe) -> dict[str, Any]:
    """The probabilities, and the correct classes as an array of zeros and ones."""
    *_, z, targets = map(np.asarray, probe.args or probe.data.values())
    e = np.exp(z - z.max(axis=1, keepdims=True))
    p, one_hot, rows = e / e.sum(axis=1, keepdims=True), np.eye(z.shape[1])[targets], np.float64(len(z))
    if "grad" in probe.name + probe.code:
        return {"softmax(z)": p, "one_hot": one_hot, "(softmax(z) - one_hot)": p - one_hot,
                "(softmax(z) + one_hot)": p + one_hot, "rows": rows, "columns": np.float64(z.shape[1])}  # fmt: skip
    right, again = (p * one_hot).sum(axis=1), np.exp(p)
    twice = (again / again.sum(axis=1, keepdims=True) * one_hot).sum(axis=1)
    return {"p of the correct class": right, "minus p of the correct class": -right, "losses of the rows": -np.log(right),
            "losses with two softmaxes": -np.log(twice), "rows": rows}  # fmt: skip


def likely_losses(z: Array, targets: Array) -> dict[str, Any]:
    """Cross-entropies with a likely mistake, by what to say about it."""
    n, classes = z.shape
    rows, hot = np.arange(n), np.eye(classes)[targets]
    logs, p = stable(z), softmax_rows(z)
    own, chosen = -logs[rows, targets], p[rows, targets]
    down = stable(z.T).T
    others = np.log(np.where(hot > 0, 1.0, 1 - p)).sum(axis=1)
    with np.errstate(all="ignore"):
        unshifted = -np.log(np.exp(z) / np.exp(z).sum(axis=1, keepdims=True))[rows, targets]
        one_shift = -maximum_of_all(z)[rows, targets]
    middle = {  # the losses of the rows
        "": own,
        "This uses the probability itself. Where is its logarithm?": -chosen,
        "This is one minus the probability. The loss is minus its logarithm.": 1 - chosen,
        "This is the logarithm of 1 - p. The loss is minus the logarithm of p itself.": -np.log(1 - chosen),
        "The maximum of the row is subtracted inside the logarithm of the sum only. Subtract it from the score as well.":
            own - z.max(axis=1),
        "This is only the logarithm of the sum. Subtract the score of the correct class.": own + z[rows, targets],
        "This weights the logarithms by the softmax. Only the class that targets names counts.": -(p * logs).sum(axis=1),
        "The loss of each row is squared. Minus log p is the loss already.": own**2,
        "The softmax runs down the columns. Each row is one example: axis=1.": -down[rows, targets],
        "The softmax runs over the whole array. Each row is one example: axis=1.":
            np.logaddexp.reduce(z.ravel()) - z[rows, targets],
        "The scores are taken for probabilities: the logarithm is taken of z itself. The softmax comes first.":
            -np.log(z[rows, targets]),
        "This is minus the score of the correct class. The logarithm of the sum of the exponentials is missing.":
            -z[rows, targets],
        "This takes the largest probability of each row. The probability of the *correct* class is needed: targets names "
        "it.": -logs.max(axis=1),
        "This is the loss of the class before the correct one. Targets count from 0, as Python does.":
            -logs[rows, targets - 1],
        "This is the loss of the class after the correct one. Targets count from 0, as Python does.":
            -logs[rows, (targets + 1) % classes],
        "This adds a term log(1 - p) for each wrong class, as a loss for two classes does. Only the correct class counts here.":
            own - others,
        "This is a squared error of the probabilities. Cross-entropy takes minus the logarithm of one of them.":
            ((p - hot) ** 2).sum(axis=1),
        "The logarithms of all classes are added up. Only the one of the correct class counts.": -logs.sum(axis=1),
        "np.log2 is the logarithm to the base 2. The natural logarithm is needed, np.log.": own / np.log(2),
        "np.log10 is the logarithm to the base 10. The natural logarithm is needed, np.log.": own / np.log(10),
        "The softmax is taken twice.": -stable(p)[rows, targets],
        "The softmax is not shifted, so a score of 1000 gives inf or nan. Use your log-softmax of exercise 11.1.": unshifted,
        "One maximum is subtracted from the whole array. In a row far below it all exponentials are 0. Use your log-softmax of "
        "exercise 11.1.": one_shift,
        "A small probability is rounded to 0 before the logarithm. Use your log-softmax of exercise 11.1.": -np.log(chosen),
    }  # fmt: skip
    found: dict[str, Any] = {}
    for words, losses in middle.items():
        for how, loss in {
            "": losses.mean(),
            "The losses are added up. Take their mean over the rows.": losses.sum(),
            "The sum is divided by the number of classes. Divide by the number of rows.": losses.sum() / classes,
            "You take the mean over all entries of the array. Divide by the number of rows only.": losses.sum()
            / z.size,
            "This is one loss for each row. Take their mean.": losses,
            "This is the loss of the first row only.": losses[0],
            "This is the loss of the last row only.": losses[-1],
            "Only the last row is counted: the loop overwrites the sum. += adds to it.": losses[-1] / n,
            "Only the first row is counted: the loop ends in its first round.": losses[0] / n,
            "This is the median. The loss is the mean.": np.median(losses),
        }.items():
            for sign, factor in {"": 1, "The sign is wrong: a loss is positive here.": -1}.items():
                found.setdefault(" ".join(filter(None, [words, how, sign])), factor * loss)
    more = {
        "This is the logarithm of the mean probability. The loss is the mean of the logarithms.": -np.log(chosen.mean()),
        "logs[targets] selects whole rows. One entry of each row is needed: z[np.arange(len(z)), targets].": (
            -logs[targets % n].mean()),
        "[:, targets] selects the targets of *all* rows in each row. How do you select one entry of each row?": (
            -logs[:, targets].mean()),
        "The mean is taken over all classes. Only the probability of the correct class counts.": -logs.mean(),
        "This is a squared error of the probabilities. Cross-entropy takes minus the logarithm of one of them.": (
            ((p - hot) ** 2).mean()),
    }  # fmt: skip
    for number in (2, 3, 4, 5, 10, 32, 64):
        more[f"The sum is divided by {number}, whatever the number of rows is. Use the number of rows of z."] = (
            own.sum() / number)  # fmt: skip
    for small in SMALL:
        more[f"{small:g} is added before the logarithm. Your log-softmax of exercise 11.1 does not need this."] = -np.log(
            chosen + small).mean()  # fmt: skip
        more[f"This adds a term log(1 - p) for each wrong class, as a loss for two classes does, with {small:g} inside the "
             "logarithm. Only the correct class counts here."] = -(
            np.log(np.where(hot > 0, p, 1 - p) + small).sum(axis=1).mean())  # fmt: skip
        more[f"Probabilities below {small:g} are cut off. Your log-softmax of exercise 11.1 does not need this."] = -np.log(
            np.clip(chosen, small, 1)).mean()  # fmt: skip
    found |= {words: loss for words, loss in more.items() if words not in found}
    del found[""]
    return found


def likely_gradients(g: float, z: Array, targets: Array) -> dict[str, Any]:
    """Gradients of cross-entropy with a likely mistake, by what to say about it."""
    n, classes = z.shape
    p, hot, logs = softmax_rows(z), np.eye(classes)[targets], stable(z)
    down, whole, top = softmax_rows(z.T).T, np.exp(z - z.max()), np.exp(z - z.max(axis=1, keepdims=True))
    with np.errstate(all="ignore"):
        unshifted, one_shift, column_shift = (
            e / e.sum(axis=1, keepdims=True) for e in (np.exp(z), np.exp(z - z.max()), np.exp(z - z.max(axis=0)))
        )
    middle = {
        "": p - hot,
        "This is only minus one-hot. What does the second term of the loss, the logarithm of the sum, add?": -hot,
        "This is only the softmax. What does the term -z_t of the loss add?": p,
        "Only the entries of the correct classes have a gradient here. The other scores are in the denominator of softmax, so "
        "they have one, too.": (p - hot) * hot,
        "This is the gradient with respect to the *probabilities*, -1/p. Go on through the softmax, to the scores.": -hot / p,
        "This is the score minus one-hot. The softmax of the scores belongs there.": z - hot,
        "This is the logarithm of the softmax minus one-hot. The softmax itself belongs there.": logs - hot,
        "The softmax runs down the columns. Each row is one example: axis=1.": down - hot,
        "The softmax runs over the whole array. Each row is one example: axis=1.": whole / whole.sum() - hot,
        "The exponentials are not divided by their sum.": top - hot,
        "The 1 is subtracted at the largest score of each row. It belongs at the *correct* class, which targets names.":
            p - np.eye(classes)[z.argmax(axis=1)],
        "The 1 is subtracted at the class before the correct one. Targets count from 0.": p - np.eye(classes)[targets - 1],
        "The 1 is subtracted at the class after the correct one. Targets count from 0.":
            p - np.eye(classes)[(targets + 1) % classes],
        "The one-hot is added. It has to be subtracted.": p + hot,
        "The 1 is subtracted everywhere. It belongs at the correct class only.": p - 1,
        "The difference is multiplied by the softmax once more.": p * (p - hot),
        "The softmax is not shifted, so a score of 1000 gives nan.": unshifted - hot,
        "One maximum is subtracted from the whole array. In a row far below it all exponentials are 0, and 0 / 0 is nan.":
            one_shift - hot,
        "The maximum of each column is subtracted, which changes the differences within a row.": column_shift - hot,
        "The softmax is taken twice. Its input is the scores, not the probabilities.": softmax_rows(p) - hot,
        "The absolute value drops the sign, which is negative at the correct class.": np.abs(p - hot),
        "The difference is squared.": (p - hot) ** 2,
        "The entry of the correct class is replaced by 1. Subtract 1 from it.": np.where(hot > 0, 1.0, p),
        "The entry of the correct class is replaced by -1. Subtract 1 from it.": np.where(hot > 0, -1.0, p),
        "The entry of the correct class is replaced by 0. Subtract 1 from it.": np.where(hot > 0, 0.0, p),
        "This multiplies p by 1 - p, as for a sigmoid. For softmax with cross-entropy the gradient is softmax minus one-hot.":
            p * (1 - p),
    }  # fmt: skip
    found: dict[str, Any] = {}
    for words, rows in middle.items():
        for how, scale in {
            "": g / n,
            "The upstream gradient g is missing.": 1 / n,
            "The mean over the rows is missing: divide by their number.": g,
            "Both the upstream gradient g and the division by the number of rows are missing.": 1.0,
            "You multiply by the number of rows. Divide by it.": g * n,
            "You divide by the number of classes. The mean runs over the rows.": g / classes,
            "You divide by the number of all entries. The mean runs over the rows only.": g / z.size,
            "You divide by the number of rows twice.": g / n / n,
            "You divide by g. The upstream gradient is a factor.": 1 / n / g,
        }.items():
            for sign, factor in {"": 1, "The sign is wrong: the gradient points to where the loss grows.": -1}.items():
                found.setdefault(" ".join(filter(None, [words, how, sign])), factor * scale * rows)
    more = {
        **{f"The gradient is divided by {number}, whatever the number of rows is. Use the number of rows of z.": (
            g * (p - hot) / number) for number in (2, 3, 4, 5, 10, 32, 64)},
        "g is added. The upstream gradient is a factor.": (p - hot) / n + g,
        **{f"The softmax is multiplied by {of_p}, and the one-hot by {of_hot}. Their difference is multiplied by g / rows.":
            a * p - b * hot for (of_p, a), (of_hot, b) in itertools.permutations(
                {"1": 1.0, "g": g, "1 / rows": 1 / n, "g / rows": g / n}.items(), 2)},
        "g is subtracted at the correct class. Subtract 1 there, and multiply by g once.": g * (p - g * hot) / n,
        "The gradient is multiplied by the loss. Its factors are g and 1 / rows.": (
            g * (p - hot) / n * -logs[np.arange(n), targets].mean()),
        "The rows are added up or averaged. Each row of z has its own gradient, so the result has the shape of z.": (
            g * (p - hot).mean(axis=0)),
    }  # fmt: skip
    found |= {words: gradient for words, gradient in more.items() if words not in found}
    del found[""]
    return found


def likely_11_2(probe: Probe) -> dict[str, Any]:
    """Losses or gradients with a likely mistake."""
    given = probe.args or list(probe.data.values())
    return likely_gradients(*given) if len(given) > 2 else likely_losses(*given)


# --- 11.3 where and nan --------------------------------------------------------------------------------

ENGINE = "import minigrad as torch"
ROOTS = "x = torch.tensor(x, requires_grad=True)\nsafe_sqrt(x).backward(torch.tensor(v))\nx.grad"
KEPT = "x = torch.tensor(x)\nsafe_sqrt(x)\nx"


def probes_11_3(rng: np.random.Generator) -> Iterator[Probe]:
    x, v = np.abs(numbers(rng, 2, 3)), numbers(rng, 2, 3)
    yield run("safe_sqrt(torch.tensor(x))", x=np.array([4.0, 0.0, -9.0, 0.25])).expect(np.array([2.0, 0.0, 0.0, 0.5]))
    yield run(ROOTS, x=x, v=v).expect(v / (2 * np.sqrt(x)))
    yield run(ROOTS, x=np.array([4.0, 0.0, 0.25]), v=np.array([2.0, 5.0, -3.0])).expect(np.array([0.5, 0.0, -3.0]))
    yield run(ROOTS, x=np.array([-4.0, 0.01]), v=np.array([3.0, 0.7])).expect(np.array([0.0, 3.5]))
    kept = run(KEPT, x=np.array([4.0, 0.0, -9.0])).expect(np.array([4.0, 0.0, -9.0]))
    yield kept.on("Your function changes x, which belongs to its caller. Make a new tensor.")
    yield run(ROOTS, x=np.array([1e-30, -1e-30]), v=np.array([2e-15, 3.0])).expect(np.array([1.0, 0.0]))
    yield run(ROOTS, x=np.array([1e-8, 0.0]), v=np.array([3.0, 0.7])).expect(np.array([15000.0, 0.0]))
    yield run("1e300 * safe_sqrt(torch.tensor(x))", x=np.array([0.0, -4.0])).expect(np.array([0.0, 0.0]))


LESSON = lesson(
    __file__,
    globals(),
    {
        "11.1": {
            "oracle": by_logaddexp,
            "probes": probes_11_1,
            "prelude": ENGINE_OFF,
            "steps": steps_11_1,
        },
        "11.2": {
            "oracle": by_engine,
            "probes": probes_11_2,
            "prelude": ENGINE_OFF,
            "steps": steps_11_2,
            "likely": likely_11_2,
        },
        "11.3": {"probes": probes_11_3, "prelude": ENGINE},
    },
)
