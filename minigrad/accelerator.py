"""torch.accelerator: there is none here, and asking is allowed."""

from minigrad.devices import Device


def is_available() -> bool:
    """Whether there is an accelerator to use: never."""
    return False


def current_accelerator(check_available: bool = False) -> Device | None:
    """The device to use beside the CPU: None."""
    return None


def device_count() -> int:
    return 0
