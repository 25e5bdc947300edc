"""A program of a lesson that needs PyTorch itself: it runs where PyTorch is installed.

Elsewhere, in a browser for example, a student sees what it printed when `minigrad build` ran the notebook.
"""

import inspect
from collections.abc import Callable
from importlib.util import find_spec

from minigrad.course import notebooks

CHANGED = "PyTorch is not installed here, so this is what the lesson's own program printed:"


def in_pytorch(program: Callable[[], None]) -> None:
    """Run a function that imports PyTorch and prints; without PyTorch, print what a lesson's notebook has stored of it.

    program: the function, defined in the cell that calls this. Raises ModuleNotFoundError if PyTorch is missing and no
    lesson has a program of this name.

    >>> def program():
    ...     import torch
    ...     print(torch.tensor(2.0) * 3)
    >>> minigrad.course.in_pytorch(program)  # doctest: +SKIP
    tensor(6.)
    """
    if find_spec("torch") is not None:
        program()
        return
    for source, printed in stored(f"in_pytorch({program.__name__})"):
        same = inspect.getsource(program).strip() in source
        print(printed if same else f"{CHANGED}\n{printed}", end="")
        return
    raise ModuleNotFoundError(f"{program.__name__} needs PyTorch, which is not installed here", name="torch")


def stored(call: str) -> list[tuple[str, str]]:
    """The cells of the lessons that make this call: the source of each, and what it printed."""
    files = (notebooks.path("notebooks", lesson) for lesson in notebooks.lessons())
    cells = (cell for file in files if file.exists() for cell in notebooks.read(file)["cells"])
    made = [cell for cell in cells if cell["cell_type"] == "code" and call in cell["source"]]
    return [(cell["source"], "".join("".join(out.get("text", "")) for out in cell["outputs"])) for cell in made]
