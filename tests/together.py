"""Many small cases: all in one test, where nobody looks at them one by one (each test costs 5 ms), or the first few."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def first(few: int, of: int) -> list[Any]:
    """Seeds for `parametrize`: a few for every run, the others for the slow tests."""
    return [*range(few), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(few, of))]


def together(names: str, cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `pytest.mark.parametrize(names, cases)`, but one test: all cases run, and each that fails is told.

    The other parameters stay fixtures; all cases share them. With no case at all the test fails.
    """
    listed, given = [name.strip() for name in names.split(",")], list(cases)

    def decorate(check: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(check)
        def test(**fixtures: Any) -> None:
            failed: list[BaseException] = []
            for case in given:
                values = dict(zip(listed, case if len(listed) > 1 else (case,), strict=True))
                try:
                    check(**values, **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"in the case {', '.join(f'{name} = {value!r}' for name, value in values.items())}")
                    failed.append(error)
            assert given, "no case at all"
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(given)} cases", failed)

        signature = inspect.signature(check)
        others = [p for p in signature.parameters.values() if p.name not in listed]
        test.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]  # what pytest reads
        return test

    return decorate
