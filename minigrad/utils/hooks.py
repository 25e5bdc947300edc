"""torch.utils.hooks: what registering a hook returns."""

from minigrad.hooks import RemovableHandle

__all__ = ["RemovableHandle"]
