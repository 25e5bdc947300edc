"""Neural networks: modules, their functions, their initial values.

`modules/` holds the layers, losses and containers; `functional.py` the same as functions; `init.py` initial values;
`parameter.py` what is trained; `utils/` gradient clipping.
"""

from minigrad.nn import functional, init, modules, utils
from minigrad.nn.modules import *  # noqa: F403
from minigrad.nn.modules import __all__ as _modules
from minigrad.nn.parameter import Buffer, Parameter

__all__ = [*_modules, "Buffer", "Parameter", "functional", "init", "modules", "utils"]
