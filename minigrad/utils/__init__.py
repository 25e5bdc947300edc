"""torch.utils: datasets and batches, in `data`."""

from minigrad import errors
from minigrad.utils import data

__all__ = ["data"]

errors.namespace(__name__)
