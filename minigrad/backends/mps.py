"""torch.backends.mps: not here, and asking is allowed."""


def is_available() -> bool:
    """Whether Apple's GPU can be used: never."""
    return False


def is_built() -> bool:
    return False
