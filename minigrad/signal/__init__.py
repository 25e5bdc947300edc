"""Signals (`torch.signal`): the windows that cut a piece out of one."""

from minigrad.signal import windows

__all__ = ["windows"]
