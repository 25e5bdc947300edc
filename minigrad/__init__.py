"""minigrad: a small autograd engine with the semantics of PyTorch."""

import warnings as _warnings

# PyTorch computes with infinities and nans in silence: so do our own calls of numpy (nobody else's are touched).
_warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"minigrad\.")

from minigrad import composed, creation, derivatives, function, tape  # noqa: E402, F401
from minigrad.creation import *  # noqa: E402, F403
from minigrad.tape import enable_grad, inference_mode, is_grad_enabled, no_grad, set_grad_enabled  # noqa: E402, F401
from minigrad.tensor import Tensor  # noqa: E402, F401
from minigrad.creation import tensor  # noqa: E402, F401
exp, sin, cos = derivatives.exp, derivatives.sin, derivatives.cos
