"""Neural networks.

module.py says what every layer and network is, layers.py has the layers, the
containers and the losses, functional.py what they compute.  init.py gives
parameters their first values; utils.py clips gradients.
"""

# ruff: noqa: F403 (the layers are named once, in layers.py)
from .. import errors
from . import functional, init, layers, utils
from .layers import *
from .module import Module, Parameter

__all__ = ["Module", "Parameter", "functional", "init", "utils"]
__all__ += layers.__all__

errors.namespace(__name__)
