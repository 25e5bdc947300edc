"""torch.backends: what PyTorch can be built with.  None of it is here, and asking is allowed."""

from minigrad.backends import cudnn, mps

__all__ = ["cudnn", "mps"]
