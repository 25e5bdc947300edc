"""torch.utils, as far as a course needs it: `data` (datasets and batches) and, loaded at first use, `checkpoint`."""

import importlib
from typing import Any

from minigrad.utils import data

__all__ = ["checkpoint", "data", "hooks"]


def __getattr__(name: str) -> Any:
    if name == "checkpoint":
        return importlib.import_module("minigrad.utils.checkpoint")
    if name == "hooks":
        return importlib.import_module("minigrad.utils.hooks")
    raise AttributeError(f"module 'minigrad.utils' has no attribute {name!r}")
