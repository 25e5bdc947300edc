"""The face of torch.autograd: `grad`, `backward`, `Function`, and the tools around them.

grad, backward             derivatives without, and with, accumulating into .grad
Function                   operations of your own (see minigrad/function.py)
gradcheck, gradgradcheck   are these rules right?  compared with finite differences
check_graph                the same for every operation a loss was computed with (not in PyTorch)
functional                 jacobian, hessian, vjp, jvp, hvp, vhp
graph                      nodes, and hooks on what they save
detect_anomaly             stop at the first nan
"""

from __future__ import annotations

import importlib
from typing import Any

from minigrad.anomaly import detect_anomaly, is_anomaly_enabled, set_detect_anomaly
from minigrad.autograd import function, functional, graph
from minigrad.autograd.checks import GradcheckError, check_graph, gradcheck, gradgradcheck
from minigrad.autograd.gradients import grad
from minigrad.function import Function, FunctionCtx, once_differentiable
from minigrad.tape import backward_all as backward
from minigrad.tape import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = [
    "Function",
    "FunctionCtx",
    "GradcheckError",
    "backward",
    "check_graph",
    "detect_anomaly",
    "enable_grad",
    "function",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_anomaly_enabled",
    "no_grad",
    "once_differentiable",
    "set_detect_anomaly",
    "set_grad_enabled",
]

_LATER = {
    **dict.fromkeys(("grad_mode",), ""),
    **dict.fromkeys(
        ("set_multithreading_enabled", "is_multithreading_enabled", "_unsafe_preserve_version_counter"), "grad_mode"
    ),
    "SavedTensor": "graph",
}
LIMITS = {"profiler": "Python's cProfile and time.perf_counter() measure a program"}


def __getattr__(name: str) -> Any:
    if name in LIMITS:
        raise AttributeError(f"minigrad has no torch.autograd.{name}: {LIMITS[name]}")
    if name not in _LATER:
        raise AttributeError(f"module 'minigrad.autograd' has no attribute {name!r}")
    room = importlib.import_module(f"minigrad.autograd.{_LATER[name] or name}")
    return getattr(room, name) if _LATER[name] else room
