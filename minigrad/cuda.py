"""torch.cuda: there is none here, and asking is allowed."""

from typing import Any


def is_available() -> bool:
    """Whether there is a GPU to use: never."""
    return False


def device_count() -> int:
    return 0


def is_bf16_supported() -> bool:
    return False


def manual_seed(seed: int) -> None:
    """Nothing to seed: the CPU's generator keeps its state."""


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Nothing to empty."""


def memory_allocated(device: Any = None) -> int:
    return 0


max_memory_allocated = memory_allocated


def synchronize(device: Any = None) -> None:
    """Raises AssertionError, as PyTorch does where there is no GPU to wait for."""
    raise AssertionError("Torch not compiled with CUDA enabled")


current_device = get_device_name = get_device_properties = synchronize
