"""Neural networks: modules, their functions, their initial values.

`modules/` holds the layers, losses and containers; `functional.py` the same as functions; `init.py` initial values;
`parameter.py` what is trained; `utils.py` gradient clipping; `rules.py` the derivatives that only this room needs.
"""

from minigrad.nn import functional, init, modules, utils
from minigrad.nn.modules import *  # noqa: F403
from minigrad.nn.modules import __all__ as _modules
from minigrad.nn.parameter import Parameter

__all__ = [*_modules, "Parameter", "functional", "init", "modules", "utils"]
