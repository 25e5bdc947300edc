"""Optimizers (optimizers.py), and schedules for their learning rates (lr_scheduler.py)."""

from .. import errors
from . import lr_scheduler
from .optimizers import SGD, Adam, AdamW, Optimizer, RMSprop

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]

errors.namespace(__name__)
