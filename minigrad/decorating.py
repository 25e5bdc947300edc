"""A context manager around a function: `@no_grad()` and its like as decorators.

A generator is not run when it is called but each time it is asked for its next value: the context holds then, and not
while its caller does other things in between.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Generator
from typing import Any

DECORATED_CLASS = (
    "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or "
    "methods. To preserve the current behavior of class decoration, you can directly decorate the `__init__` method and "
    "nothing else."
)


def decorated(function: Callable[..., Any], context: Callable[[], Any]) -> Callable[..., Any]:
    """The function, run within `context()`: also a generator, each time it goes on, and (with a warning) a class."""
    if inspect.isclass(function):
        warnings.warn(DECORATED_CLASS, FutureWarning, stacklevel=3)
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def generator(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            steps = function(*args, **kwargs)
            proceed, given = steps.send, None
            while True:  # the mode holds while the generator runs, not while its caller does
                try:
                    with context():
                        step = proceed(given)
                except StopIteration as stop:
                    return stop.value
                try:
                    proceed, given = steps.send, (yield step)
                except BaseException as error:  # what the caller throws in, also to end it, is the generator's to catch
                    proceed, given = steps.throw, error

        return generator

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with context():
            return function(*args, **kwargs)

    return wrapper
