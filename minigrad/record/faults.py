"""`check_graph`: where a recorded pass goes wrong, and whether its rules are right.

A number that is not finite spreads to all that is computed from it, and a
gradient of 0 to all that comes before: so the first node that has one while
what it was given had none is where to look, with its line.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .. import autograd
from ..autograd import GradcheckError
from .moves import Place
from .names import callers_variables
from .numbers import Array, facts_of
from .pytorch_pass import is_pytorch
from .recorder import record
from .recording import Recording

# what these write into a tensor may be meant to be inf: the mask of an attention
WRITTEN = ("maskedfill", "where", "[ ]=")


def check_graph(loss: Any, names: Mapping[str, Any] | None = None, **settings: Any) -> bool:
    """True if nothing is wrong with a backward pass; else a GradcheckError that names the first node at fault, with its line.

    Of a tensor of PyTorch: the first value or gradient that is nan or inf, or a
    gradient that becomes 0 in every number.  Of one of minigrad: each rule
    against finite differences (minigrad.autograd.check_graph, with its settings).

    >>> x = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    >>> minigrad.viz.check_graph(x * x)
    True
    """
    if not is_pytorch(loss):
        return autograd.check_graph(loss, **settings)
    names = callers_variables() if names is None else names
    found = next(faults(record(loss, names=names)), None)
    if found is not None:
        raise GradcheckError(found)
    return True


def faults(recording: Recording) -> Iterator[str]:
    """What is wrong: values, oldest first, then gradients, in the order of the walk."""
    inputs: dict[int, list[Place]] = {place.id: [] for place in recording.places}
    for a, b, _ in recording.edges:
        inputs[b].append(recording.places[a])
    for place in recording.places:
        spoilt, before = bad(place.value), [bad(each.value) for each in inputs[place.id]]
        known = all(each.value is not None for each in inputs[place.id])
        seen = "its inputs are all finite" if known else "PyTorch did not keep all of its inputs"
        if spoilt[:3] == "nan" and any(before) and not any(each[:3] == "nan" for each in before):
            yield f"{place.name} is {spoilt}{line_of(place)}: its inputs hold inf, but no nan."
        if spoilt and not any(before) and place.symbol not in WRITTEN:
            yield f"{place.name} is {spoilt}{line_of(place)}: {seen}."
    sendings = [(step, sent) for step in recording.steps for sent in step if not sent.skipped]
    kinds = (bad, ": the gradient that it received is finite"), (dead, ", so nothing gets through")
    for kind, why in kinds:
        for step, sent in sendings:
            spoilt, place = kind(sent.value), recording.places[step.node]
            if spoilt and not kind(step.upstream):
                target = recording.places[sent.parent].name
                what = f"what {place.name} contributes to the gradient of {target} is {spoilt}"
                yield f"{what}{line_of(place)}{why}. The rule there is {sent.named}."


def bad(array: Array | None) -> str:
    """How many numbers are not finite: "nan in 2 of 6 numbers"; "" for none."""
    if array is None or array.dtype.kind not in "fc":
        return ""
    facts = facts_of(array)
    some = "nan" if np.isnan(facts["lo"]) else "inf"
    return f"{some} in {facts['bad']} of {array.size} numbers" if facts["bad"] else ""


def dead(array: Array) -> str:
    """Whether every number is 0, in words."""
    return "" if facts_of(array)["norm"] else "0 in every number"


def line_of(place: Place) -> str:
    """The line that made a tensor, if it is known."""
    return f', in {place.where}: "{place.source}"' if place.where else ""
