"""`replace`: a rule of your own inside the real engine."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..operation import Operation, parameters
from ..tape import TABLE
from ..tensor import Rule, Tensor


@contextmanager
def replace(name: str, rule: Any) -> Iterator[None]:
    """Run another rule inside the real engine: for every operation `name` that is recorded within the `with` block.

    rule: a function of g and what it needs by name (x, y, out, ...) that returns one gradient for each input, or a tuple
    of such functions, one per input.  KeyError if there is no such operation.

    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> with minigrad.replace("exp", lambda g, out: g * 0 + 7):
    ...     y = x.exp()
    >>> y.backward()
    >>> x.grad
    tensor(7.)
    """
    if name not in TABLE:
        raise KeyError(f"no operation {name!r} in the derivative table; it has {', '.join(sorted(TABLE))}")
    made: Operation = TABLE[name]
    before, n = made.rules, len(made.rules)
    together = not isinstance(rule, (tuple, list))
    given = [rule] * n if together else list(rule)
    if len(given) != n:
        raise ValueError(f"{name} has {n} inputs, so it takes {n} rules, not {len(given)}")
    made.set_rules([each and students(each, i, n if together else 0) for i, each in enumerate(given)])
    try:
        yield
    finally:
        made.set_rules(before)


def students(rule: Rule, i: int, n: int) -> Rule:
    """A student's rule for input i as the walk needs it; with n it answers for all n inputs at once."""

    def answer(g: Any, *saved: Any) -> Any:
        found = rule(g, *saved)
        if n > 1 and (not isinstance(found, tuple) or len(found) != n):
            raise RuntimeError(f"the rule must return a tuple of {n} gradients, one for each input")
        if n and isinstance(found, tuple):
            found = found[i]
        # it may be a number, or one of the arrays that the rule was given, into which the walk must not write
        return found if found is None or isinstance(found, Tensor) else np.array(found)[()]

    answer.takes = parameters(rule)  # type: ignore[attr-defined]
    return answer
