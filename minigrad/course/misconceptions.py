"""The catalogue: what people believe about gradients that is not so, with the code that shows it.

Each entry says the belief in a line, gives a few lines of code and what they really do, the feedback a student gets
(what was seen, why, a question; never the fix), three hints that go deeper, and where PyTorch's documentation
speaks of it. Exercises refer to entries by id; `minigrad.broken(id)` injects those that are a bug of an engine;
`page()` is the reference page made from all of this.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CATALOGUE", "Misconception", "feedback", "find", "page"]

NOTES = "https://docs.pytorch.org/docs/stable/notes/"
API = "https://docs.pytorch.org/docs/stable/generated/"


@dataclass(frozen=True)
class Misconception:
    """One belief. `code` is an example to run (minigrad as torch); `shows` what it really does."""

    id: str
    name: str
    belief: str
    code: str
    shows: str
    feedback: str
    hints: tuple[str, str, str]
    docs: str


CATALOGUE: dict[str, Misconception] = {}


def entry(
    id: str, name: str, belief: str, code: str, shows: str, feedback: str, hints: tuple[str, str, str], docs: str
) -> None:
    """Add one entry to the catalogue."""
    if id in CATALOGUE:
        raise ValueError(f"two entries are called {id}")
    CATALOGUE[id] = Misconception(id, name, belief, code.strip(), shows, feedback, hints, docs)


def find(id: str) -> Misconception:
    """The entry of this id. KeyError with the nearest ids if there is none."""
    if id not in CATALOGUE:
        raise KeyError(f"there is no misconception {id!r}; the catalogue has {next(iter(CATALOGUE))} to {max(CATALOGUE)}")
    return CATALOGUE[id]


def feedback(id: str) -> str:
    """What a student reads about it; "" for the empty id (a slip that no belief explains)."""
    return find(id).feedback if id else ""


entry(
    "M06", "gradient follows value",
    "When the value changes, its gradient changes with it.",
    "x = torch.tensor(2.0, requires_grad=True)\n(x**2).backward()\nx.data = torch.tensor(5.0)\nprint(x.grad)",
    "tensor(4.): the slope at the old point, 2",
    "A gradient is a number computed once, at one point. What has to run again when the point moves?",
    (
        "`.grad` is a stored result, like a photograph: it does not move when its subject does.",
        "The slope of x**3 at 1 is 3. Set x to 10 and the stored 3 stays until forward and backward run again.",
        "Look for the place where a value is changed and a gradient from before is used.",
    ),
    API + "torch.Tensor.grad.html",
)  # fmt: skip

entry(
    "M26", "meaning of the gradient argument",
    "`gradient=` says at which point to differentiate, or which entries to keep.",
    "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\n(x**2).backward(torch.tensor([1.0, 0.5, -2.0]))\n"
    "print(x.grad)",
    "tensor([  2.,   2., -12.]): 2x, weighted by the argument",
    "v has one number for each output: it says how much the final loss cares about that output. Where does it enter?",
    (
        "The argument has the shape of the output, not of the input: one weight for each number that came out.",
        "y = [3a, 5a] at any a, with v = [1, 10]: the answer is 1*3 + 10*5 = 53, one number, because there is one input.",
        "Look at the line where v is used: each local slope is multiplied by the weight of the output it belongs to.",
    ),
    API + "torch.Tensor.backward.html",
)  # fmt: skip

entry(
    "M27", "gradient has another shape",
    "A gradient has the shape of the output (or is one number).",
    "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\nx.sum().backward()\nprint(x.grad.shape)",
    "torch.Size([3]): one number for each entry of x",
    "The gradient of x answers 'what if I nudge this entry?' once for each entry. How many entries does x have?",
    (
        "A gradient always has the shape of the thing it is the gradient of.",
        "mean() of a (2, 5) table is one number; its gradient has ten entries, each a tenth of what arrives.",
        "Compare the shape of what you return with the shape of the input; spread a single number over all entries.",
    ),
    NOTES + "autograd.html",
)  # fmt: skip
