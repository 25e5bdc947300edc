"""torch.utils: datasets and batches, in `data`."""

from .. import errors
from . import data

__all__ = ["data"]

errors.namespace(__name__)
