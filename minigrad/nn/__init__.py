"""Neural networks: modules, their functions, their initial values.

`modules/` holds the layers, losses and containers; `functional.py` the same as functions, of which `activations.py`,
`normalisation.py`, `losses.py`, `spatial.py` and `fractional.py` hold their families; `init.py` initial values;
`parameter.py` what is trained; `utils/` gradient clipping and what changes layers; `grad.py` the gradients of
convolutions; `rules.py` the derivatives that only this room needs.
"""

import importlib as _importlib

from minigrad.nn import functional, init, modules, utils
from minigrad.nn.modules import *  # noqa: F403
from minigrad.nn.modules import __all__ as _modules
from minigrad.nn.parameter import Buffer, Parameter

__all__ = [*_modules, "Buffer", "Parameter", "functional", "init", "modules", "utils"]


def __getattr__(name: str) -> object:
    """What few programs use is loaded when it is asked for."""
    if name in ("DataParallel", "parallel"):
        room = _importlib.import_module("minigrad.nn.parallel")
        return room if name == "parallel" else room.DataParallel
    if name == "grad":
        return _importlib.import_module("minigrad.nn.grad")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
