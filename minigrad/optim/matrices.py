"""Update rules that see a parameter as a matrix: Adafactor keeps means of rows and columns, Muon orthogonalises the step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minigrad.optim.algorithms import _next_step, _no_steps, _number
from minigrad.optim.optimizer import Array, Optimizer, zeros_like
from minigrad.tensor import Tensor, wrap


class Adafactor(Optimizer):
    """Steps relative to the size of each parameter; of a matrix it remembers the mean squares of rows and columns only."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for wrong, text in (
            (not lr >= 0.0, f"Learning rate should be >= 0 but is: {lr}"),
            (not beta2_decay <= 0.0, f"beta2_decay should be <= 0 but is: {beta2_decay}"),
            (eps[0] is not None and not eps[0] >= 0.0, f"epsilon1 should be >= 0 but is: {eps[0]}"),
            (not eps[1] >= 0.0, f"epsilon2 should be >= 0 but is: {eps[1]}"),
            (not d >= 1.0, f"Clipping threshold d should be >= 1 but is: {d}"),
            (not weight_decay >= 0.0, f"weight_decay should be >= 0 but is: {weight_decay}"),
        ):
            if wrong:
                raise ValueError(text)
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _update(self, p: Tensor, x: Array, g: Array, group: dict[str, Any]) -> None:
        state = self.state[p]
        if not state:
            state["step"] = _no_steps()
            if g.ndim > 1:
                state["row_var"], state["col_var"] = zeros_like(g[..., :1]), zeros_like(g[..., :1, :])
            else:
                state["variance"] = zeros_like(g)
        g = -g if group["maximize"] else g
        lr, (least, smallest) = _number(group["lr"]), group["eps"]
        least = np.finfo(x.dtype).eps if least is None else least
        step = _next_step(state)
        share = step ** group["beta2_decay"]
        size = max(smallest, float(np.linalg.norm(x)) / math.sqrt(x.size))
        rate = size * min(lr, 1 / math.sqrt(step))
        if group["weight_decay"] != 0:
            x *= 1 - lr * group["weight_decay"]
        if g.ndim > 1:
            rows, columns = state["row_var"]._data, state["col_var"]._data
            rows += share * (np.mean(g * g, -1, keepdims=True) - rows)
            columns += share * (np.mean(g * g, -2, keepdims=True) - columns)
            variance = rows @ columns / np.maximum(rows.mean(-2, keepdims=True), least)
        else:
            kept = state["variance"]._writable()
            kept += share * (g * g - kept)
            variance = kept
        change = g / np.sqrt(np.maximum(variance, least * least))
        x -= rate / max(1.0, float(np.linalg.norm(change)) / (math.sqrt(x.size) * group["d"])) * change


def _bfloat16(x: Array) -> Array:
    """Numbers rounded to eight binary digits, in which Muon computes."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)).view(np.float32)


def _orthogonalised(g: Array, coefficients: tuple[float, float, float], steps: int, eps: float) -> Array:
    """About the matrix U V^T of a gradient U S V^T, by rounds of a polynomial of degree five that pulls S towards 1."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    tall = g.shape[0] > g.shape[1]
    x = _bfloat16(g.T if tall else g)
    x = _bfloat16(x / max(_bfloat16(np.asarray(np.linalg.norm(x))), eps))
    for _ in range(steps):
        gram = _bfloat16(x @ x.T)
        x = _bfloat16(a * x + _bfloat16(b * gram + c * (gram @ gram)) @ x)
    return x.T if tall else x


class Muon(Optimizer):
    """Momentum whose step is orthogonalised: each direction of a matrix moves as far.  ValueError for other than matrices."""

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not value >= 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }
        super().__init__(params, defaults)
        for p in (p for group in self.param_groups for p in group["params"]):
            if p.ndim != 2:
                raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}")

    def _update(self, p: Tensor, x: Array, g: Array, group: dict[str, Any]) -> None:
        state, momentum, lr = self.state[p], group["momentum"], _number(group["lr"])
        if "momentum_buffer" not in state:
            state["momentum_buffer"] = wrap(np.zeros_like(g))
        velocity = state["momentum_buffer"]._data
        velocity += (1 - momentum) * (g - velocity)
        change = g + momentum * (velocity - g) if group["nesterov"] else velocity
        change = _orthogonalised(change, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rows, columns = x.shape
        alike = group["adjust_lr_fn"] == "match_rms_adamw"
        scale = 0.2 * math.sqrt(max(rows, columns)) if alike else math.sqrt(max(1, rows / columns))
        x *= 1 - lr * group["weight_decay"]
        x -= lr * scale * change.astype(x.dtype, copy=False)
