"""The face of torch.autograd: `grad`, `backward`, `Function`, and the tools around them.

grad, backward             derivatives without, and with, accumulating into .grad
Function                   operations of your own (see minigrad/function.py)
gradcheck, gradgradcheck   are these rules right?  compared with finite differences
check_graph                the same for every operation a loss was computed with (not in PyTorch)
functional                 jacobian, hessian, vjp, jvp, hvp, vhp
graph                      nodes, and hooks on what they save
detect_anomaly             stop at the first nan
"""

import sys

from .. import errors, function, tape
from ..function import Function
from ..operation import public
from ..tape import enable_grad, inference_mode, no_grad, set_grad_enabled
from . import functional, graph
from .anomaly import detect_anomaly, set_detect_anomaly
from .checks import GradcheckError as GradcheckError
from .checks import check_graph, gradcheck, gradgradcheck

backward, grad = public(tape.backward), public(tape.grad)
__all__ = [
    "Function", "backward", "check_graph", "detect_anomaly", "enable_grad", "function", "functional", "grad",
    "gradcheck", "gradgradcheck", "graph", "inference_mode", "no_grad", "set_detect_anomaly", "set_grad_enabled",
]
errors.namespace(__name__)
# `from torch.autograd.function import ...` finds it too
sys.modules[f"{__name__}.function"] = function
