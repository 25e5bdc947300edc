"""torch.utils, as far as a course needs it: `data` (datasets and batches)."""

from minigrad.utils import data

__all__ = ["data"]
