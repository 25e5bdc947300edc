"""torch.utils, as far as a course needs it: `data` has datasets and batches."""

from minigrad.utils import data

__all__ = ["data"]
