"""How functions become public: `public` says in a sentence what is wrong with a call, `attach` makes methods of Tensor."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from minigrad import errors, inplace
from minigrad.operations import operation as operation
from minigrad.operations import replace as replace
from minigrad.tape import TABLE as TABLE
from minigrad.tensor import Tensor

F = TypeVar("F", bound=Callable[..., Any])


def public(function: F) -> F:
    """What users call: the same function, whose wrong calls raise errors that name the argument."""
    takes_tensor = next(iter(function.__annotations__.values()), None) == "Tensor"

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        __tracebackhide__ = True
        if takes_tensor and not (args and isinstance(args[0], Tensor)):
            args, keywords = errors.first_tensor(function, Tensor, args, keywords)
        try:
            return function(*args, **keywords)
        except (TypeError, AttributeError) as error:
            args, keywords = errors.other_names(function, Tensor, args, keywords, error)
        return function(*args, **keywords)

    return call  # type: ignore[return-value]


def attach(*functions: Callable[..., Any], **named: Any) -> None:
    """Make functions methods of Tensor: under their own names, or under the one given as a keyword."""
    for function in functions:
        setattr(Tensor, function.__name__, function)
    for name, function in named.items():
        setattr(Tensor, name, function)


def in_place(*functions: F) -> list[F]:
    """The in-place twins of functions: `exp_` computes `exp` and writes the result into the tensor itself."""

    def twin(function: Any) -> Any:
        def write(self: Tensor, *args: Any, **keywords: Any) -> Any:
            __tracebackhide__ = True
            return inplace.write(self, functools.partial(function, **keywords) if keywords else function, *args)

        write.__name__ = write.__qualname__ = f"{function.__name__}_"
        write.__doc__ = f"`{function.__name__}`, written into this tensor; returns the tensor."
        return write

    return [twin(function) for function in functions]
