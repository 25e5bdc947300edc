"""torch.cuda: there is none here, and asking is allowed."""

from . import errors


def is_available() -> bool:
    """Whether there is a GPU to use: never."""
    return False


errors.namespace(__name__)
