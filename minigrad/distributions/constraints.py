"""What the parameters and the samples of a distribution may be: `positive`, `unit_interval`, `simplex`, ..."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad.tensor import Tensor, wrap

Check = Callable[[Any], Any]


class Constraint:
    """A condition on tensors: `check(value)` is a boolean tensor, one answer for each event."""

    def __init__(self, text: str, test: Check, *, is_discrete: bool = False, event_dim: int = 0) -> None:
        self._text, self._test = text, test
        self.is_discrete, self.event_dim = is_discrete, event_dim

    def check(self, value: Tensor) -> Tensor:
        """Where the value satisfies the constraint: a boolean tensor without the dimensions of the event."""
        return wrap(np.asarray(self._test(np.asarray(value._data))))

    def __repr__(self) -> str:
        return self._text


def _number(value: Any) -> Any:
    return np.asarray(value._data) if isinstance(value, Tensor) else value


def greater_than(lower_bound: Any) -> Constraint:
    return Constraint(f"GreaterThan(lower_bound={lower_bound})", lambda x: x > _number(lower_bound))


def greater_than_eq(lower_bound: Any) -> Constraint:
    return Constraint(f"GreaterThanEq(lower_bound={lower_bound})", lambda x: x >= _number(lower_bound))


def less_than(upper_bound: Any) -> Constraint:
    return Constraint(f"LessThan(upper_bound={upper_bound})", lambda x: x < _number(upper_bound))


def interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    return Constraint(
        f"Interval(lower_bound={lower_bound}, upper_bound={upper_bound})",
        lambda x: (x >= _number(lower_bound)) & (x <= _number(upper_bound)),
    )


def half_open_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    return Constraint(
        f"HalfOpenInterval(lower_bound={lower_bound}, upper_bound={upper_bound})",
        lambda x: (x >= _number(lower_bound)) & (x < _number(upper_bound)),
    )


def integer_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    return Constraint(
        f"IntegerInterval(lower_bound={lower_bound}, upper_bound={upper_bound})",
        lambda x: (x % 1 == 0) & (x >= _number(lower_bound)) & (x <= _number(upper_bound)),
        is_discrete=True,
    )


def independent(base: Constraint, dims: int) -> Constraint:
    """The base's condition on each of the last `dims` dimensions together."""
    return Constraint(
        f"IndependentConstraint({base!r}, {dims})",
        lambda x: base._test(x).reshape(*x.shape[: x.ndim - base.event_dim - dims], -1).all(-1),
        is_discrete=base.is_discrete,
        event_dim=base.event_dim + dims,
    )


def multinomial(total: int) -> Constraint:
    return Constraint(
        "Multinomial()", lambda x: (x >= 0).all(-1) & (x.sum(-1) <= total), is_discrete=True, event_dim=1
    )


def _triangular(x: Any) -> Any:
    return (np.tril(x) == x).all((-2, -1)) & (np.diagonal(x, axis1=-2, axis2=-1) > 0).all(-1)


def _positive_definite(x: Any) -> Any:
    symmetric = np.isclose(x, np.swapaxes(x, -1, -2), atol=1e-6).all((-2, -1))
    return symmetric & (np.linalg.eigvalsh(x) > 0).all(-1)


real = Constraint("Real()", lambda x: x == x)
boolean = Constraint("Boolean()", lambda x: (x == 0) | (x == 1), is_discrete=True)
positive = greater_than(0.0)
nonnegative = greater_than_eq(0.0)
unit_interval = interval(0.0, 1.0)
nonnegative_integer = Constraint(
    "IntegerGreaterThan(lower_bound=0)", lambda x: (x % 1 == 0) & (x >= 0), is_discrete=True
)
positive_integer = Constraint("IntegerGreaterThan(lower_bound=1)", lambda x: (x % 1 == 0) & (x >= 1), is_discrete=True)
real_vector = independent(real, 1)
simplex = Constraint(
    "Simplex()", lambda x: (x >= 0).all(-1) & (np.abs(x.sum(-1) - 1) < 1e-6), event_dim=1
)
one_hot = Constraint(
    "OneHot()", lambda x: ((x == 0) | (x == 1)).all(-1) & (x.sum(-1) == 1), is_discrete=True, event_dim=1
)
lower_cholesky = Constraint("LowerCholesky()", _triangular, event_dim=2)
positive_definite = Constraint("PositiveDefinite()", _positive_definite, event_dim=2)
dependent = Constraint("Dependent()", lambda x: np.True_)  # it depends on the parameters: cannot be checked
