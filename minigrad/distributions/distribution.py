"""What all distributions share: shapes, the checks of parameters and values, expansion, printing."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

import minigrad as mg
from minigrad import dtypes
from minigrad.distributions import constraints
from minigrad.size import Size
from minigrad.tape import enable_grad, no_grad
from minigrad.tensor import Tensor


class lazy:
    """A parameter computed from another one at first use (with gradients, whatever the mode), and then kept."""

    def __init__(self, compute: Callable[[Any], Tensor]) -> None:
        self.compute, self.name = compute, ""
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        if owner is None:
            return self
        with enable_grad():
            owner.__dict__[self.name] = self.compute(owner)
        return owner.__dict__[self.name]


def together(*values: Any) -> list[Tensor]:
    """The values as tensors of one shape; a number takes the type of the first tensor (else the default type)."""
    if not all(isinstance(v, (Tensor, int, float, np.number)) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, "
            "torch.Tensor or objects implementing __torch_function__."
        )
    given = [v for v in values if isinstance(v, Tensor)]
    kind = given[0].dtype if given else dtypes.get_default_dtype()
    tensors = [v if isinstance(v, Tensor) else mg.tensor(v, dtype=kind) for v in values]
    return list(mg.broadcast_tensors(*tensors))


def clamped(probs: Tensor) -> Tensor:
    """Probabilities kept off 0 and 1, so that their logarithms are finite."""
    eps = float(np.finfo(probs._data.dtype).eps)
    return probs.clamp(eps, 1 - eps)


def standard_normal(shape: Sequence[int], like: Tensor) -> Tensor:
    return mg.empty(tuple(shape), dtype=like.dtype).normal_()


def summed(value: Tensor, dims: int) -> Tensor:
    """The value summed over its last `dims` dimensions."""
    return value.reshape((*value.shape[: value.dim() - dims], -1)).sum(-1) if dims else value


class Distribution:
    """A probability distribution, or a batch of independent ones.

    A subclass keeps its parameters as attributes named in `arg_constraints`, has a `support`, and defines `rsample` (or
    `sample`) and `log_prob`. Values have shape sample_shape + batch_shape + event_shape.
    """

    arg_constraints: Mapping[str, constraints.Constraint]
    support: Any = None
    has_rsample = False
    has_enumerate_support = False
    _validate_args: bool = __debug__
    _batch_shape: Size
    _event_shape: Size
    _settings: ClassVar[tuple[str, ...]] = ()  # further attributes, which an expanded distribution takes over
    _shows_parameters: ClassVar[bool] = True  # PyTorch keeps some parameters in an inner distribution, and shows none

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions check their parameters and values, unless told otherwise."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Sequence[int] = (),
        event_shape: Sequence[int] = (),
        validate_args: bool | None = None,
    ) -> None:
        """ValueError if a parameter does not satisfy its constraint."""
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if not self._validate_args:
            return
        for name, constraint in self.arg_constraints.items():
            value = self.__dict__.get(name)
            if value is not None and constraint is not constraints.dependent and not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    @property
    def batch_shape(self) -> Size:
        """The shape of the batch of distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one sample of one of them."""
        return self._event_shape

    def _parameters(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self.arg_constraints if name in self.__dict__}

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Self:
        """The same distribution with its batch expanded to `batch_shape`; no memory is copied."""
        new = type(self).__new__(type(self))
        for name, value in self._parameters().items():
            new.__dict__[name] = value.expand((*batch_shape, *value.shape[len(self._batch_shape) :]))
        for name in self._settings:
            new.__dict__[name] = self.__dict__[name]
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    # ------------------------------------------------------------------------------------------ what families define

    @property
    def mean(self) -> Tensor:
        """The mean of each distribution."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance of each distribution."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation of each distribution."""
        return self.variance.sqrt()

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Samples through which gradients flow to the parameters."""
        raise NotImplementedError

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Samples of shape sample_shape + batch_shape + event_shape, without gradients."""
        with no_grad():
            return self.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density (or probability) at `value`; shape sample_shape + batch_shape."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a sample of at most `value`."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of `cdf`."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values of a discrete distribution, along a new first dimension."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The expected value of -log_prob, of shape batch_shape."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """exp(entropy)."""
        return self.entropy().exp()

    # ------------------------------------------------------------------------------------------ helpers

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> Size:
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def _listed(self, count: int, kind: Any, expand: bool) -> Tensor:
        values = mg.arange(count, dtype=kind).reshape((-1, *(1,) * len(self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values

    def _validate_sample(self, value: Tensor) -> None:
        """ValueError unless `value` is a tensor that fits the shapes and lies in the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        start = value.dim() - len(self._event_shape)
        if tuple(value.shape[start:]) != tuple(self._event_shape):
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}."
            )
        whole = self._extended_shape()
        for i, j in zip(reversed(value.shape), reversed(whole)):
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs {whole}."
                )
        support = self.support
        if support is not None and not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the "
                f"support ({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def _checked(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return value

    def __repr__(self) -> str:
        shown = self._parameters() if self._shows_parameters else {}
        inside = ", ".join(f"{k}: {v if v.numel() == 1 else v.size()}" for k, v in shown.items())
        return f"{type(self).__name__}({inside})"
