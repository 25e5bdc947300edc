"""Optimisers: what turns gradients into better parameters.

`optimizer.py` holds what all of them share: parameter groups, `zero_grad`, `step`, state dicts. `algorithms.py` has
one short update rule each (SGD, Adam, AdamW, RMSprop), `lr_scheduler.py` the rules that change the learning rate as
training goes on.
"""

from minigrad.optim import lr_scheduler
from minigrad.optim.algorithms import SGD, Adam, AdamW, RMSprop
from minigrad.optim.optimizer import Optimizer

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]
