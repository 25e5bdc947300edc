"""L-BFGS: Newton's method with the curvature guessed from the last few steps.

Unlike its sisters it calls the loss several times a step, so `step` needs a closure.  All parameters are treated as
one long vector here; steps s = x' - x and changes of the gradient y = g' - g are what it remembers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.optim.optimizer import Array, Optimizer
from minigrad.tape import enable_grad, touch
from minigrad.tensor import Tensor, wrap

Point = tuple[float, float, Array, float]  # how far along the direction, loss, gradient, slope along the direction


class LBFGS(Optimizer):
    """Limited-memory BFGS for one group of parameters.  `line_search_fn="strong_wolfe"` searches along each direction."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Up to `max_iter` moves.  `closure` clears the gradients, computes the loss, calls backward and returns it."""
        group = self.param_groups[0]
        lr = group["lr"].item() if isinstance(group["lr"], Tensor) else group["lr"]
        quiet = group["tolerance_change"]
        state = self.state[group["params"][0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)

        def evaluate() -> tuple[float, Array]:
            with enable_grad():
                loss = _value(closure())
            state["func_evals"] += 1
            return loss, self._gradient()

        with enable_grad():
            first = closure()
        state["func_evals"] += 1
        loss, gradient = _value(first), self._gradient()
        evaluations = 1
        if np.abs(gradient).max() <= group["tolerance_grad"]:
            return first

        for iteration in range(1, group["max_iter"] + 1):
            direction = self._direction(state, gradient, group["history_size"])
            length = min(1.0, 1.0 / np.abs(gradient).sum()) * lr if state["n_iter"] == 1 else lr
            before = loss
            state["prev_flat_grad"], state["prev_loss"] = wrap(gradient.copy()), loss
            state["d"], state["t"] = wrap(direction), length
            slope = float(gradient @ direction)
            if slope > -quiet:  # it does not go down any more
                break
            start = self._numbers()
            if group["line_search_fn"] is None:
                self._place(start + length * direction)
                if iteration < group["max_iter"]:
                    loss, gradient = evaluate()
                    evaluations += 1
            elif group["line_search_fn"] != "strong_wolfe":
                raise RuntimeError("only 'strong_wolfe' is supported")
            else:

                def at(t: float, start: Array = start, direction: Array = direction) -> Point:
                    self._place(start + t * direction)
                    value, g = evaluate()
                    return t, value, g, float(g @ direction)

                count = state["func_evals"]
                found = _strong_wolfe(
                    at, (0.0, loss, gradient, slope), length, np.abs(direction).max(), group["max_eval"] - evaluations
                )
                length, loss, gradient, _ = found
                evaluations += state["func_evals"] - count
                self._place(start + length * direction)
            state["t"] = length
            small = np.abs(gradient).max() <= group["tolerance_grad"]
            if evaluations >= group["max_eval"] or small or np.abs(length * direction).max() <= quiet:
                break
            if abs(loss - before) < quiet:
                break
        return first

    def _direction(self, state: dict[str, Any], gradient: Array, history: int) -> Array:
        """Minus the gradient times the guessed inverse of the second derivatives (the two-loop recursion)."""
        state["n_iter"] += 1
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1.0)
            return -gradient
        changes, steps, inverse = state["old_dirs"], state["old_stps"], state["ro"]
        change = gradient - state["prev_flat_grad"]._data
        step = state["d"]._data * _value(state["t"])
        curvature = float(change @ step)
        if curvature > 1e-10:
            if len(changes) == history:
                for kept in (changes, steps, inverse):
                    kept.pop(0)
            changes.append(wrap(change))
            steps.append(wrap(step))
            inverse.append(1.0 / curvature)
            state["H_diag"] = curvature / float(change @ change)

        q = -gradient
        shares = []
        for y, s, r in zip(reversed(changes), reversed(steps), reversed(inverse), strict=True):
            shares.append(float(s._data @ q) * _value(r))
            q = q - shares[-1] * y._data
        q = q * _value(state["H_diag"])
        for y, s, r in zip(changes, steps, inverse, strict=True):
            q = q + s._data * (shares.pop() - float(y._data @ q) * _value(r))
        return np.asarray(q)

    def _parts(self) -> list[Tensor]:
        return list(self.param_groups[0]["params"])

    def _numbers(self) -> Array:
        return np.concatenate([np.ravel(p._data) for p in self._parts()])

    def _gradient(self) -> Array:
        missing = [np.zeros_like(p._data) if p._grad is None else p._grad._data for p in self._parts()]
        return np.asarray(np.concatenate([np.ravel(g) for g in missing]))

    def _place(self, numbers: Array) -> None:
        start = 0
        for p in self._parts():
            end = start + p.numel()
            p._writable()[...] = numbers[start:end].reshape(p._data.shape)
            touch(p._counter)
            start = end


def _value(loss: Any) -> float:
    return float(loss.item() if isinstance(loss, Tensor) else loss)


def _cubic_minimum(a: Point, b: Point, low: float, high: float) -> float:
    """Where the cubic with these two values and slopes is least, kept between `low` and `high`."""
    (x1, f1, _, g1), (x2, f2, _, g2) = (a, b) if a[0] <= b[0] else (b, a)
    mean = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = mean * mean - g1 * g2
    if square < 0:
        return (low + high) / 2
    root = float(square**0.5)
    return min(max(x2 - (x2 - x1) * ((g2 + root - mean) / (g2 - g1 + 2 * root)), low), high)


def _strong_wolfe(
    at: Callable[[float], Point], start: Point, length: float, size: float, limit: int, quiet: float = 1e-9
) -> Point:
    """A point along the direction that is low enough, and flat enough: |slope| at most 0.9 of the first.

    `at` evaluates the loss so far along.  First steps grow until a minimum lies between two points; then the interval
    shrinks.
    """
    _, f0, _, slope = start

    def too_high(p: Point) -> bool:
        return p[1] > f0 + 1e-4 * p[0] * slope

    def flat(p: Point) -> bool:
        return abs(p[3]) <= -0.9 * slope

    last, new, tries = start, at(length), 0
    bracket = [start, new]
    while tries < limit:
        if too_high(new) or (tries > 1 and new[1] >= last[1]):
            bracket = [last, new]
            break
        if flat(new):
            return new
        if new[3] >= 0:
            bracket = [last, new]
            break
        t = _cubic_minimum(last, new, new[0] + 0.01 * (new[0] - last[0]), new[0] * 10)
        last, new, tries = new, at(t), tries + 1
    else:
        bracket = [start, new]

    low = 0 if bracket[0][1] <= bracket[1][1] else 1
    stuck = False
    while tries < limit and abs(bracket[1][0] - bracket[0][0]) * size >= quiet:
        left, right = sorted((bracket[0][0], bracket[1][0]))
        t = _cubic_minimum(bracket[0], bracket[1], left, right)
        margin = 0.1 * (right - left)
        if min(right - t, t - left) >= margin:
            stuck = False
        elif stuck or t >= right or t <= left:  # near an end a second time: move a tenth inwards
            t = right - margin if abs(t - right) < abs(t - left) else left + margin
            stuck = False
        else:
            stuck = True
        new, tries = at(t), tries + 1
        if too_high(new) or new[1] >= bracket[low][1]:
            bracket[1 - low] = new
            low = 0 if bracket[0][1] <= bracket[1][1] else 1
            continue
        if flat(new):
            return new
        if new[3] * (bracket[1 - low][0] - bracket[low][0]) >= 0:
            bracket[1 - low] = bracket[low]
        bracket[low] = new
    return bracket[low]
