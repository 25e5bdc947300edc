"""Calling other people's functions: `@no_grad()` and its like around them, arguments by name, and what a ctx lends.

A generator is not run when it is called but each time it is asked for its next value: the context holds then, and not
while its caller does other things in between.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Generator
from operator import attrgetter, is_
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


def by_place(forward: Callable[..., Any], first: int, args: tuple[Any, ...], names: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of a call with those given by name at their places; the first parameters are not the caller's."""
    taken = [p.name for p in inspect.signature(forward).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD][first:]
    for name in names:
        if name not in taken:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if name in taken[: len(args)]:
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    for place, name in enumerate(taken[len(args) : len(args) + len(names)], len(args)):
        if name not in names:
            raise TypeError(f"forward() missing required argument: '{name}' (position {place})")
        args = (*args, names[name])
    return args


OURS = ("at", "code", "dtype", "guards", "kept", "parents", "seq", "shape")  # what the tape itself keeps in a node
ours = attrgetter(*OURS)


def lent(ctx: Any, function: Callable[..., Any], *args: Any) -> Any:
    """function(ctx, *args), with ctx as the student left it: `ctx.shape = x.shape` is kept apart from the node's own shape."""
    before = ours(ctx)
    for name, value in ctx.__dict__.get("_yours", {}).items():
        setattr(ctx, name, value)
    try:
        return function(ctx, *args)
    finally:
        after = ours(ctx)
        if not all(map(is_, before, after)):
            ctx._yours = {name: b for name, a, b in zip(OURS, before, after, strict=True) if a is not b}
            for name, value in zip(OURS, before, strict=True):
                setattr(ctx, name, value)
