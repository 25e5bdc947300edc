"""What `my_engine` is while an exercise is checked: the parts of the solutions of the lessons before, and nothing else.

The student's own engine decides no check: an error in it costs nothing twice, and no part of it is the answer to the
exercise that it came from. All of this happens in the forked child (`child.py`), after the text was put together here.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import itertools
import os
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ..checks import own_engine
from ..exercise import Exercise
from . import worker
from .worker import ENGINE

__all__ = ["ASKED", "Engine", "engines", "lend", "stand_in", "theirs"]

ASKED = 71  # the exit code of a child that asks for `my_engine` and has none
HOLDERS = (dict, tuple, list, types.CellType, staticmethod, classmethod, property)
loaded: list[types.ModuleType] = []  # the engines that the notebook has imported: another one after each `keep`
STAYS = {"__dict__", "__weakref__", "__doc__", "__module__"}  # of a class that gets other contents


@dataclass(frozen=True)
class Engine:
    """What gives the child its `my_engine`; the names that the exercise asks for; and the parts of its lesson that come
    before it: what the student has kept of them stays."""

    give: Callable[[], types.CodeType]
    asked: tuple[str, ...] = ()
    parts: tuple[own_engine.Part, ...] = ()


def engines(exercise: Exercise, namespace: dict[str, Any]) -> Iterator[Engine]:
    """The engine for a child. Where nobody has used one so far, the first only ends the child that asks for it, and the next
    one is for another child: nobody waits for a text that is not needed."""
    if (module := sys.modules.get(ENGINE)) and module not in loaded:
        loaded.append(module)
    if ENGINE in exercise.without:
        yield Engine(worker.no_engine)
        return
    if not (loaded or before.cache_info().currsize or any(map(theirs, namespace.values()))):
        yield Engine(lambda: os._exit(ASKED))
    code = before(exercise.lesson)
    earlier = itertools.takewhile(lambda part: part.id != exercise.id, own_engine.given().values())  # a later one needs this
    yield Engine(lambda: code, exercise.names, tuple(part for part in earlier if part.lesson == exercise.lesson))


@functools.cache
def before(lesson: int) -> types.CodeType:
    """The parts of all lessons before this one."""
    return compile(own_engine.reference(lesson), f"<{ENGINE}>", "exec")


@contextlib.contextmanager
def stand_in(exercise: Exercise) -> Iterator[None]:
    """For an answer of the course, which runs in the student's kernel: `my_engine` is for a moment what a check has."""
    finder, kept = worker.Lent(lambda: before(exercise.lesson)), sys.modules.pop(ENGINE, None)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        sys.modules.pop(ENGINE, None)
        if kept:
            sys.modules[ENGINE] = kept


def theirs(thing: Any) -> bool:
    """True for the engine that the notebook has imported, and for a function or a class of it."""
    return worker.of_the_engine(thing) or (isinstance(thing, types.ModuleType) and thing.__name__ == ENGINE)


def lend(namespace: dict[str, Any], engine: Engine) -> None:
    """In the child, `my_engine` is this engine, under each name that the notebook has for it or for a part of it.

    Objects of the student's classes go on as objects of its classes, and what the student has kept in this lesson stays.
    Everything else is gone from the namespace, and does nothing for whoever holds it elsewhere.
    """
    finders = [each for each in sys.meta_path if not isinstance(each, own_engine.Finder)]
    sys.meta_path[:] = [worker.Lent(engine.give), *finders]
    own_engine.reference.cache_clear()
    before.cache_clear()
    used = [thing for thing in (*loaded, *namespace.values()) if theirs(thing)]
    if not used:
        return
    functions = [thing for thing in reached(used) if isinstance(thing, types.FunctionType)]
    sys.modules[ENGINE] = module = sys.modules.get(ENGINE) or [types.ModuleType(ENGINE), *loaded][-1]
    now = vars(module)
    old = {name: thing for name, thing in now.items() if theirs(thing)}
    spaces = {id(space): space for space in (*(each.__globals__ for each in functions), now)}.values()
    names = {id(thing): name for space in spaces for name, thing in space.items() if theirs(thing)}
    for space in spaces:
        space.clear()
    now["__name__"] = ENGINE
    try:
        importlib.reload(module)
    except ModuleNotFoundError:
        del sys.modules[ENGINE]
    kept = [part for part in engine.parts if old.keys() >= {*part.names}]
    for part in kept:
        now.update(with_helpers(part.names, old, {*now, *engine.asked}))
    for space in spaces:
        space.update(now)  # what joins a part calls the student's functions, which look their names up here
    for part in kept:
        exec(part.given, now)
    for name, thing in list(now.items()):
        if isinstance(thing, type) and isinstance(old.get(name), type):
            now[name] = poured(thing, old[name])
    for space in spaces:
        space.update(now)
    for function in functions:
        if found(now, function.__qualname__) is None:
            silence(function)
    for name, thing in list(namespace.items()):
        if theirs(thing):
            key = "" if isinstance(thing, types.ModuleType) else names.get(id(thing)) or thing.__qualname__
            new = found(now, key) if key else sys.modules.get(ENGINE)
            if new is None:
                del namespace[name]
            elif "<locals>" not in key:  # else it is the student's, made by a part: an operation
                namespace[name] = new


def with_helpers(names: tuple[str, ...], old: dict[str, Any], others: set[str]) -> dict[str, Any]:
    """These functions of the student's engine, and what they call there that is none of the others."""
    taken: dict[str, Any] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in old and name not in taken and (name in names or name not in others):
            taken[name] = old[name]
            waiting += getattr(getattr(old[name], "__code__", None), "co_names", ())
    return taken


def reached(waiting: list[Any]) -> list[Any]:
    """These things of the notebook's engine, and all of it that they lead to."""
    known: dict[int, Any] = {}
    while waiting:
        thing = waiting.pop()
        if id(thing) not in known and (theirs(thing) or type(thing) in HOLDERS):
            known[id(thing)] = thing
            waiting += gc.get_referents(thing)
    return list(known.values())


def found(space: dict[str, Any], name: str) -> Any:
    """What is called so, dotted for a method; for what a function has made, the function. None if there is nothing."""
    first, *rest = name.partition(".<locals>")[0].split(".")
    return functools.reduce(lambda thing, attribute: getattr(thing, attribute, None), rest, space.get(first))


def poured(new: Any, old: Any) -> Any:
    """The old class with the contents of the new one; the new one where that cannot be."""
    if [each.__name__ for each in old.__bases__] != [each.__name__ for each in new.__bases__]:
        return new
    for name in vars(old).keys() - STAYS:
        delattr(old, name)
    for name in vars(new).keys() - STAYS:
        thing = vars(new)[name]
        setattr(old, name, thing)
        for cell in getattr(thing, "__closure__", None) or ():
            if cell.cell_contents is new:  # for super()
                cell.cell_contents = old
    return old


def silence(function: types.FunctionType) -> None:
    """Take away what a function does."""
    for cell in function.__closure__ or ():
        cell.cell_contents = None
    if not function.__closure__:
        function.__code__ = (lambda *args, **options: None).__code__
