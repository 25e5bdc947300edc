"""torch.cuda: there is none here, and asking is allowed."""

from typing import Any


def is_available() -> bool:
    """Whether there is a GPU to use: never."""
    return False


def device_count() -> int:
    """How many GPUs there are: none."""
    return 0


def is_bf16_supported() -> bool:
    """Whether a GPU has this type: there is none."""
    return False


def manual_seed(seed: int) -> None:
    """Nothing to seed: the CPU's generator keeps its state."""


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Nothing to empty."""


def memory_allocated(device: Any = None) -> int:
    """Bytes in use on a GPU: none."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def reset_peak_memory_stats(device: Any = None) -> None:
    """Nothing to reset."""


def synchronize(device: Any = None) -> None:
    """Raises AssertionError, as PyTorch does where there is no GPU to wait for."""
    raise AssertionError("Torch not compiled with CUDA enabled")


set_device = current_device = get_device_name = get_device_properties = synchronize
