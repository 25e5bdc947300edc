"""torch.backends.cudnn: not here.  Its switches may be set; they change nothing."""

enabled = True
benchmark = False
deterministic = False
allow_tf32 = True


def is_available() -> bool:
    """Whether cuDNN can be used: never."""
    return False


def version() -> int | None:
    """Its version: None."""
    return None
