"""Optimisers: what turns gradients into better parameters.

`optimizer.py` holds what all of them share: parameter groups, `zero_grad`, `step`, state dicts. `algorithms.py` has
one short update rule each (SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, Adamax, NAdam, RAdam, Rprop, ASGD),
`matrices.py` those that see matrices (Adafactor, Muon), `lbfgs.py` the one that looks before it steps, and
`lr_scheduler.py` the rules that change the learning rate as training goes on; `swa_utils.py` averages weights.
"""

from minigrad.optim import lr_scheduler, swa_utils
from minigrad.optim.algorithms import ASGD, SGD, Adadelta, Adagrad, Adam, Adamax, AdamW, NAdam, RAdam, RMSprop, Rprop
from minigrad.optim.lbfgs import LBFGS
from minigrad.optim.matrices import Adafactor, Muon
from minigrad.optim.optimizer import Optimizer

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "lr_scheduler",
    "swa_utils",
]
