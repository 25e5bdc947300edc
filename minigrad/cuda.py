"""torch.cuda: there is none here, and asking is allowed."""


def is_available() -> bool:
    """Whether there is a GPU to use: never."""
    return False
