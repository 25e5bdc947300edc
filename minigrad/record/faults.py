"""`check_graph`: where a recorded pass goes wrong, and whether its rules are right.

A number that is not finite spreads to all that is computed from it, and a
gradient of 0 to all that comes before: so the first node that has one while
what it was given had none is where to look, with its line.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from minigrad import autograd
from minigrad.autograd import GradcheckError
from minigrad.record.moves import Contribution, Place, Step
from minigrad.record.names import callers_variables
from minigrad.record.numbers import Array, facts_of
from minigrad.record.pytorch_pass import is_pytorch
from minigrad.record.recorder import record
from minigrad.record.recording import Recording


def check_graph(loss: Any, names: Mapping[str, Any] | None = None, **settings: Any) -> bool:
    """True if nothing is wrong with a backward pass; else a GradcheckError that names the first node at fault, with its line.

    Of a tensor of PyTorch: the first value or gradient that is nan or inf, or a
    gradient that becomes 0 in every number.  Of one of minigrad: each rule
    against finite differences (minigrad.autograd.check_graph, with its settings).
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
        spoilt = bad(place.value)
        if spoilt and not any(bad(each.value) for each in inputs[place.id]):
            yield f"{place.name} is {spoilt}{line_of(place)}: its inputs are all finite."
    for step in recording.steps:
        for sent in step:
            if not sent.skipped:
                yield from fault(recording.places, step, sent)


def fault(places: list[Place], step: Step, sent: Contribution) -> Iterator[str]:
    """What is wrong with one contribution, if what came in was right."""
    place, target = places[step.node], places[sent.parent].name
    what = f"what {place.name} contributes to the gradient of {target} is"
    rule = f" The rule there is {sent.named}."
    spoilt = bad(sent.value)
    if spoilt and not bad(step.upstream):
        yield f"{what} {spoilt}{line_of(place)}: the gradient that it received is finite.{rule}"
    if dead(sent.value) and not dead(step.upstream):
        yield f"{what} 0 in every number{line_of(place)}, so nothing gets through.{rule}"


def bad(array: Array | None) -> str:
    """How many numbers are not finite: "nan in 2 of 6 numbers"; "" for none."""
    if array is None or array.dtype.kind not in "fc":
        return ""
    facts = facts_of(array)
    some = "nan" if np.isnan(facts["lo"]) else "inf"
    return f"{some} in {facts['bad']} of {array.size} numbers" if facts["bad"] else ""


def dead(array: Array) -> bool:
    """Whether every number is 0."""
    return bool(facts_of(array)["norm"] == 0)


def line_of(place: Place) -> str:
    """The line that made a tensor, if it is known."""
    return f', in {place.where}: "{place.source}"' if place.where else ""
