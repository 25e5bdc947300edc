"""A student, as the judge sees one: something that can be asked for values and answers with plain data.

`Local` holds the answer in this process and is for answers that are trusted (the catalogue's, the tests').
`Remote` speaks to a `worker` over two file descriptors and believes nothing it hears: whatever does not
arrive, or arrives in a form that breaks the rules, becomes a `Failure` and never a value.
"""

from __future__ import annotations

import itertools
import math
import secrets
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ..exercise import Outside
from . import wire
from .wire import Failure
from .worker import Server

__all__ = ["WALL", "Local", "Remote", "Student"]

MOST_JUDGED = 5.0  # seconds of our own processor for one exercise, before we stop asking
MOST_TOGETHER = 1 << 22  # numbers that the arrays of one answer may become when they are combined
MOST_ASKED, MOST_SPENT = 20_000, 1.0  # questions of one program to the outside, and seconds to answer them
WALL = 2.8  # the clock may show this many times the CPU limit before an answer counts as too late


class Student(Protocol):
    """What the judge needs. Every method returns a plain value or a Failure."""

    def look(self, names: list[str]) -> Any:
        """`{name: {"state": missing|blank|hole|there, "type": str, "near": [names]}}`."""

    def value(self, name: str) -> Any:
        """The value of a variable."""

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The result of a function."""

    def run(self, code: str, data: dict[str, Any], prelude: str = "", outside: Outside | None = None) -> Any:
        """The value of a program's last line; the program may ask `outside`."""

    def vary(self, names: list[str]) -> Any:
        """The next small change of these functions: [sort, lines, piece], None after the last; without names, none."""


class Local:
    """An answer in this process; values still make the trip through the wire, so that types are the same as
    there."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.server = Server(namespace)

    def look(self, names: list[str]) -> Any:
        return self.server.look(names)

    def value(self, name: str) -> Any:
        return travelled(self.server.value(name))

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        sent_args, sent_kwargs = travelled([list(args), kwargs])
        return returned((*args, *kwargs.values()), travelled(self.server.call(name, *sent_args, **sent_kwargs)))

    def run(self, code: str, data: dict[str, Any], prelude: str = "", outside: Outside | None = None) -> Any:
        self.server.outside = lambda asked: travelled(answered(outside, travelled(asked)))
        return travelled(self.server.run(code, travelled(data), prelude))

    def vary(self, names: list[str]) -> Any:
        return self.server.vary(names)


class Remote:
    """A worker at the other end of two descriptors.

    Args:
        reading, writing: descriptors of the pipe from and to the worker.
        seconds: wall time that all answers may take together, the asker's own time left out; `allow(seconds)`
            starts it anew.
        more: asked when the time is up for the seconds by which the wait goes on (on a machine that is busy with
            other things); 0 ends it.
        cause: asked once when the worker is gone, silent or talks nonsense; it ends the worker and returns
            the Failure that says why (time, memory, killed, protocol ...).
    """

    def __init__(
        self, reading: int, writing: int, *, seconds: float,
        cause: Callable[[wire.WireError], Failure] | None = None, more: Callable[[], float] | None = None,
    ) -> None:  # fmt: skip
        self.reading, self.writing, self.cause, self.more = reading, writing, cause, more
        self.dead: Failure | None = None
        self.outside: Outside | None = None
        self.asked, self.spent, self.judging = 0, 0.0, time.process_time()
        self.allow(seconds)

    def allow(self, seconds: float) -> None:
        """The answers to all that is asked from now on may take this much wall time together."""
        self.answered = time.monotonic()
        self.deadline = self.answered + seconds

    def exec(self, cells: list[str]) -> list[Failure | None] | Failure:
        """Run cells; one entry a cell, or the Failure of the whole."""
        results = self.ask("exec", cells)
        if isinstance(results, Failure):
            return results
        if type(results) is not list or len(results) != len(cells):
            return self.lost(wire.WireError("a reply that is not one result for each cell"))
        return [None if r is None else failure_from(r) for r in results]

    def look(self, names: list[str]) -> Any:
        seen = self.ask("look", names)
        if isinstance(seen, Failure):
            return seen if self.dead else self.lost(wire.WireError("a reply that does not say what was looked at"))
        good = type(seen) is dict and set(seen) == set(names)
        if not good or not all(is_look(v) for v in seen.values()):
            return self.lost(wire.WireError("a reply that does not say what was looked at"))
        return seen

    def value(self, name: str) -> Any:
        return self.ask("value", name)

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        try:
            return returned((*args, *kwargs.values()), self.ask("call", name, *args, **kwargs))
        except wire.WireError as error:
            return self.lost(error)

    def run(self, code: str, data: dict[str, Any], prelude: str = "", outside: Outside | None = None) -> Any:
        self.outside, self.asked, self.spent = outside, 0, 0.0
        try:
            return self.ask("run", code, data, prelude)
        finally:
            self.outside = None

    def vary(self, names: list[str]) -> Any:
        slip = self.ask("vary", names)
        good = type(slip) is list and [type(part) for part in slip] == [str, list, str] and len(slip[2]) <= 200
        return slip if good and 0 < len(slip[1]) <= 20 and all(type(line) is int for line in slip[1]) else None

    def ask(self, do: str, *args: Any, **kwargs: Any) -> Any:
        """One request and its reply. After the first lost reply every answer is that Failure."""
        if self.dead:
            return self.dead
        ticket = secrets.token_hex(8)
        self.deadline += time.monotonic() - self.answered  # what the judge did since is not the student's time
        if time.process_time() - self.judging > MOST_JUDGED:
            return self.lost(wire.WireError("answers that take too long to read and to compare"))
        try:
            request = {"id": ticket, "do": do, "args": list(args), "kwargs": kwargs}
            wire.send(self.writing, request, self.deadline)
            self.await_reply()
            reply = wire.receive(self.reading, self.deadline)
            while type(reply) is dict and list(reply) == ["asks"]:
                self.answer(reply["asks"])
                self.await_reply()
                reply = wire.receive(self.reading, self.deadline)
            if (
                type(reply) is not dict
                or len(reply) != 2
                or type(reply.get("id")) is not str
                or reply["id"] != ticket
            ):
                raise wire.WireError("a reply to another question")
            if "value" in reply:
                return reply["value"]
            return failure_from(reply.get("failure"))
        except wire.WireError as error:
            return self.lost(error)
        finally:
            self.answered = time.monotonic()

    def answer(self, asked: Any) -> None:
        """Answer the program that runs there from what stays here, within bounds of number and time."""
        begun = time.process_time()
        answer = answered(self.outside, asked)
        self.spent += time.process_time() - begun
        self.asked += 1
        if self.asked > MOST_ASKED or self.spent > MOST_SPENT:
            raise wire.WireError("more questions to the outside than any right answer asks")
        try:
            wire.send(self.writing, answer, self.deadline)
        except wire.NotPlain as error:
            wire.send(self.writing, {"error": str(error)}, self.deadline)

    def await_reply(self) -> None:
        """Until a reply begins. TooLate when the time is up, and what `more` gave as well.

        Called between request and reply: also a place to look at what the worker uses.
        """
        while True:
            try:
                return wire.wait(self.deadline, reading=self.reading)
            except wire.TooLate:
                extra = self.more() if self.more else 0.0
                if not extra:
                    raise
                self.allow(extra)

    def lost(self, error: wire.WireError) -> Failure:
        """The worker counts as gone from now on."""
        self.dead = self.cause(error) if self.cause else guess(error)
        return self.dead


def returned(sent: tuple[Any, ...], reply: Any) -> Any:
    """The value of a call, compared with what was sent: a Failure of kind `changed` names the inputs that came back other
    than they went. WireError if it is no reply to a call."""
    if isinstance(reply, Failure):
        return reply
    if type(reply) is not list or [type(part) for part in reply[1:]] != [list, list]:
        raise wire.WireError("a reply that is no result of a call")
    value, labels, back = reply
    if len(back) != len(sent) or len(labels) != len(sent) or not all(type(l) is str and len(l) <= 200 for l in labels):
        raise wire.WireError("a reply that does not give the inputs back")
    changed = [label for label, old, now in zip(labels, sent, back, strict=True) if wire.pack(travelled(old)) != wire.pack(now)]
    return Failure("changed", message=", ".join(changed), value=value) if changed else value


STATES = ("missing", "blank", "hole", "there")
REPORTED = ("missing", "raised", "changed", "not plain", "printed", "memory")


def is_look(seen: Any) -> bool:
    """True if this says how one name looks, in the only form in which it may."""
    if type(seen) is not dict or set(seen) != {"state", "type", "near"}:
        return False
    words = [seen["state"], seen["type"], *(seen["near"] if type(seen["near"]) is list else [None])]
    return all(type(word) is str and len(word) <= 1000 for word in words) and seen["state"] in STATES


def answered(outside: Outside | None, asked: Any) -> dict[str, Any]:
    """The reply to what a program asks of the outside: `{"value"}`, or `{"error"}` for what nobody can answer."""
    if outside is None or type(asked) is not list or not asked or type(asked[0]) is not str or asked[0] not in outside.methods:
        return {"error": "nobody outside answers that"}
    try:
        # A number times a text or a list is a longer one, and no sum that any exercise means.
        numbers = [np.asarray(one, dtype=float) if isinstance(one, list | tuple) else one for one in asked[1:]]
        if any(isinstance(one, str | dict) for one in numbers) or too_large_together(numbers):
            return {"error": "only numbers and arrays that fit together are answered"}
        return {"value": getattr(outside, asked[0])(*numbers)}
    except Exception as error:  # what a student asks may be anything: it fails there, not here
        return {"error": f"{type(error).__name__}: {error}"[:500]}


def too_large_together(answer: Any) -> bool:
    """True if arrays of an answer, each small, could be enormous when they are combined: a column and a row are a table."""
    shapes: set[tuple[int, ...]] = set()
    waiting = [answer]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list | tuple):
            waiting += one
        else:
            shapes.add(np.shape(getattr(one, "array", one)) if not isinstance(one, dict) else ())
    axes = itertools.zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1)
    return math.prod(max(axis) for axis in axes) > MOST_TOGETHER


def guess(error: wire.WireError) -> Failure:
    """A Failure for a lost worker when nobody knows more."""
    if isinstance(error, wire.TooLate):
        return Failure("timeout")
    return Failure("killed" if isinstance(error, wire.Closed) else "protocol", message=str(error))


def failure_from(record: Any) -> Failure:
    """The Failure that a worker reported, each field checked. WireError if it is not one."""
    if type(record) is not dict or set(record) != set(Failure.__dataclass_fields__):
        raise wire.WireError("a failure that is none")
    texts = [record[name] for name in ("kind", "type", "message", "text", "printed")]
    bases, line = record["bases"], record["line"]
    # Types before anything else: an array compared with a word is neither true nor false.
    if not all(type(t) is str and len(t) <= 2000 for t in texts) or record["kind"] not in REPORTED:
        raise wire.WireError("a failure of no known kind")
    if (
        not (line is None or (type(line) is int and 0 <= line < 10**6))
        or type(bases) is not list
        or len(bases) > 100
        or not all(type(b) is str and len(b) <= 2000 for b in bases)
    ):
        raise wire.WireError("a failure with odd fields")
    return Failure(**(record | {"bases": tuple(bases)}))


def travelled(value: Any) -> Any:
    """A value as it arrives on the other side of the wire."""
    return value if isinstance(value, Failure) else wire.unpack(wire.pack(value))
