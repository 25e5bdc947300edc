"""What an exercise is: a declaration from which everything else follows.

You will meet five small things. An `Exercise` names what the student defines and states, as code, what is
right and which wrong answers are likely. A `Probe` is one question put to the student's code (a call, a short
program, or a look at a variable). A `Wrong` is a wrong answer that can be run, with the belief behind it and
what to say. A `Before` is one rule of an ordering. A `Lesson` is a numbered list of exercises.

The check in the notebook, the diagnosis, the hints, the class report and the test matrix all read this one
declaration; nothing about an exercise stands anywhere else.
"""

from __future__ import annotations

import dataclasses
import functools
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["ENGINE_OFF", "Before", "Exercise", "Formula", "Later", "Lesson", "Outside", "Probe", "Raises", "Wrong", "call",
           "choice", "function", "numbers", "ordering", "prediction", "program", "run", "unaided", "value"]  # fmt: skip

KINDS = ("function", "program", "value", "choice", "ordering", "prediction")
WRITTEN = KINDS[2:]
UNKNOWN: Any = type("Unknown", (), {"__repr__": lambda self: "UNKNOWN"})()  # "ask the oracle"

# What class grading can take away: the whole engine; the steps of optimisers; cross-entropy; gradcheck and its kin; the rules
# of operations that are not linear, so that a rule written by hand cannot leave its work to the engine. In a notebook's check,
# too, and where the whole engine is taken away anyway: the parts of the student's own, `my_engine`.
WITHOUT = ("engine", "optimizers", "cross-entropy", "gradcheck", "derivatives", "my_engine")

INPUTS = ("negative", "zero", "ties", "tiny", "huge", "size 1", "not square", "three axes")  # what a text may allow

EDITION = 3  # goes up when an id asks for something else than before: in 3 each rule takes the upstream gradient first


@dataclass(frozen=True)
class Raises:
    """An expected exception: the name of its class or of a base of it, and a part of the message."""

    type: str
    contains: str = ""


class Outside:
    """What stays on the judge's side while a program runs: the program asks it with `outside(method, *values)`.

    What the student's process never holds cannot be read there, and what is counted here cannot be set back. `methods`
    are those that may be asked, each takes and gives plain values; `given` names the data that the program has as well,
    and `inside` is what it has in place of some.
    """

    methods: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    inside: Mapping[str, Any] = {}

    def seen(self, answer: Any) -> Any:
        """The answer that counts, given the one that came."""
        return answer


class Formula(str):
    """Python source of a function, shown on a card without quotes."""

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Probe:
    """One question to the student's code; made by `call(...)` or `run(...)`, refined by its methods."""

    kind: str  # "call", "run" or "value"
    name: str = ""
    args: tuple[Any, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""
    expected: Any = UNKNOWN
    shown: bool = False
    about: str = ""
    view: Callable[[Any], Any] | None = None
    words: Callable[[Any], str] | None = None
    many: bool = False
    outside: Callable[..., Outside] | None = None

    def of(self, name: str) -> Probe:
        """The same question to another of the exercise's functions."""
        return dataclasses.replace(self, name=name)

    def show(self) -> Probe:
        """The same question, and the card may show the right answer, where that does not give the exercise away."""
        return dataclasses.replace(self, shown=True)

    def expect(self, value: Any) -> Probe:
        """The same question with its answer stated here instead of by the oracle; `Raises(...)` for an error."""
        return dataclasses.replace(self, expected=value)

    def on(self, about: str) -> Probe:
        """The same question, with a sentence on what it asks for: the card says it where no mistake is known."""
        return dataclasses.replace(self, about=about)

    def told_by(self, words: Callable[[Any], str], many: bool = False) -> Probe:
        """The same question, where a wrong answer shows what went wrong: `words(answer)` says it, "" if it does not know.
        It is said before all else that is no known mistake. `many`: the same mistake gives many answers."""
        return dataclasses.replace(self, words=words, many=many)

    def asking(self, outside: Callable[..., Outside]) -> Probe:
        """The same program, without its data: `outside(**data)` holds it, and the prelude's objects ask there."""
        return dataclasses.replace(self, outside=outside)

    def seen_as(self, view: Callable[[Any], Any]) -> Probe:
        """The same question, where many answers are right: what counts is what `view` makes of the plain answer, out
        of the student's reach. A program that says True itself can be made to."""
        return dataclasses.replace(self, view=view)


def call(*args: Any, **kwargs: Any) -> Probe:
    """Call the exercise's function with these arguments: plain data and numpy arrays."""
    return Probe("call", args=tuple(map(wide, args)), data={name: wide(given) for name, given in kwargs.items()})


def run(code: str, **data: Any) -> Probe:
    """Run a short program, which the student may read, in their namespace; `data` are its variables, its last line answers."""
    return Probe("run", code=code.strip("\n"), data={name: wide(given) for name, given in data.items()})


def wide(given: Any) -> Any:
    """numpy's integers as they are elsewhere: in a browser they have 32 bits, and no loss takes such targets."""
    return given.astype(np.int64) if isinstance(given, np.ndarray) and given.dtype == np.int32 else given


# Inside `off(says, (owner, name), ...)` what the library has there refuses.
OFF = """
class off:
    def __init__(self, says, *places):
        self.says, self.kept = says, [(owner, name, getattr(owner, name)) for owner, name in places]

    def __enter__(self):
        for owner, name, _ in self.kept:
            setattr(owner, name, self.refuse)

    def refuse(self, *args, **more):
        raise RuntimeError(self.says)

    def __exit__(self, *error):
        for owner, name, thing in self.kept:
            setattr(owner, name, thing)
"""
# The prelude of an exercise whose rule is to be written by hand: inside `engine_off()` no library differentiates.
ENGINE_OFF = OFF + """
import sys
def engine_off():
    there = [sys.modules[name] for name in ("minigrad", "torch") if "Tensor" in vars(sys.modules.get(name, off))]
    return off("the engine is switched off here", *[
        place for module in there for place in (
            (module.Tensor, "backward"), (module.autograd, "grad"), (module, "tensor"), (module, "as_tensor"),
            (module, "from_numpy"))])
"""


def unaided(function: str, right: Any, **arguments: Any) -> Probe:
    """Call a function, for the answer `right`, with the engine switched off; the exercise needs `prelude=ENGINE_OFF`."""
    asked = f"with engine_off():\n    answer = {function}({', '.join(arguments)})\nanswer"
    return run(asked, **arguments).expect(right)


# The prelude of an exercise on the student's engine: inside `as_given(f, Value=Value)` the function f finds the check's Value
# under this name, so that its verdict depends on no other exercise and on no file.
AS_GIVEN = """
class as_given:
    def __init__(self, function, **given):
        self.home, self.given = getattr(function, "__globals__", {}), given

    def __enter__(self):
        self.before = dict(self.home)
        self.home.update(self.given)

    def __exit__(self, *error):
        for name in self.given:
            del self.home[name]
            if name in self.before:
                self.home[name] = self.before[name]

"""


def on_given(given: str, code: str, answer: str, **data: Any) -> Probe:
    """A program that ends with an expression and runs inside `as_given(...)`; the exercise needs `AS_GIVEN` in its prelude."""
    lines = "".join(f"    {line}\n" for line in f"{code}\nanswer = {answer}".splitlines())
    return run(f"with as_given({given}):\n{lines}answer", **data)


Probes = Callable[[np.random.Generator], Iterable[Probe]]


@dataclass(frozen=True)
class Wrong:
    """A wrong answer: the object a student would have bound to the exercise's name, and what to say about it.

    `answer` is a function, class or value, or a dict of several by name; `misconception` an id in the catalogue, "" for a slip.
    `says` is what the student reads: what was seen, why, a question; "" for the catalogue's words. Those that no probe can tell
    apart share the word `alike`, and a message. Every value for which `when` is true counts as this one. `name` is for reports.
    """

    answer: Any
    misconception: str = ""
    says: str = ""
    alike: str = ""
    when: Callable[[Any], bool] | None = None
    name: str = ""

    @property
    def id(self) -> str:
        """A name that is the same in every run."""
        if type(self.answer) is dict and not self.name:
            return ", ".join(getattr(thing, "__name__", repr(thing)) for thing in self.answer.values())
        return self.name or getattr(self.answer, "__name__", "") or repr(self.answer)


class Later(Sequence[Wrong]):
    """Wrong answers that are made when the first of them is asked for."""

    def __init__(self, make: Callable[[], tuple[Wrong, ...]]) -> None:
        self.made = functools.cache(make)

    def __getitem__(self, index: Any) -> Any:
        return self.made()[index]

    def __len__(self) -> int:
        return len(self.made())


@dataclass(frozen=True)
class Before:
    """One rule of an ordering: `first` has to come before `then`; `says` is the feedback when it does not."""

    first: Any
    then: Any
    misconception: str = ""
    says: str = ""


@dataclass(frozen=True)
class Exercise:
    """One exercise. Use the makers below (`function`, `program`, `value`, `choice`, `ordering`, `prediction`)."""

    id: str
    kind: str
    title: str
    names: tuple[str, ...]
    probes: Probes
    oracle: Callable[..., Any] | None = None
    wrong: Sequence[Wrong] = ()
    alternatives: tuple[Any, ...] = ()
    hints: tuple[str, ...] = ()
    worked: str = ""
    why: str = ""  # one sentence on the card that passes
    minutes: int = 5
    points: float = 1.0
    scaffold: Callable[[], dict[str, Any]] | None = None
    prelude: str = ""
    accept: Callable[[Any], bool] | None = None
    right: Any = None
    asks: tuple[str, ...] = ()  # for each number of a value, or for all: the question that leads to it
    leads: Mapping[int, str] = field(default_factory=dict)  # for the parts of an answer, by place, the first computed first:
    # what follows if this one is wrong, and all before it in this list are right
    inputs: tuple[str, ...] = ()  # the kinds of input that its text allows: each is among its questions
    options: Mapping[str, str] = field(default_factory=dict)
    before: tuple[Before, ...] = ()
    items: tuple[Any, ...] = ()
    one_of: tuple[Exercise, ...] = ()
    rtol: float = 1e-9
    atol: float = 1e-9
    seconds: float = 1.0  # of processor time; at most 2, so that the card is there within 3
    memory: int = 512
    free: bool = False  # the student chooses the structure: a line of the solution says nothing to him
    with_engine: bool = False  # class grading: needs the engine though its lesson is graded without
    without: frozenset[str] = frozenset()  # class grading: what does not exist while it is graded (see WITHOUT)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"exercise {self.id}: kind {self.kind!r} is not one of {', '.join(KINDS)}")
        if not self.names:
            raise ValueError(f"exercise {self.id}: it asks for no name")
        if not set(self.inputs) <= set(INPUTS):
            raise ValueError(f"exercise {self.id}: the kinds of input are {', '.join(INPUTS)}")
        if not self.without <= set(WITHOUT):
            raise ValueError(f"exercise {self.id}: only {', '.join(WITHOUT)} can be left out")

    @property
    def written(self) -> bool:
        """True for an answer that is written down: everybody is asked the same, so a neighbour's is right as well."""
        return self.kind in WRITTEN

    @property
    def lesson(self) -> int:
        """The number of the lesson it belongs to."""
        return int(self.id.split(".")[0])

    @property
    def name(self) -> str:
        """The first (mostly the only) name it asks for."""
        return self.names[0]

    def questions(self, seed: int) -> list[Probe]:
        """The probes of this seed, each with the name it asks; the same list every time."""
        rng = np.random.default_rng([zlib.crc32(self.id.encode()), seed])
        probes = list(self.probes(rng))
        return [p if p.name or p.kind == "run" else p.of(self.name) for p in probes]

    def expected(self, probe: Probe) -> Any:
        """The right answer to a probe, from the probe itself or from the oracle (which gets copies)."""
        if probe.expected is not UNKNOWN:
            return probe.expected
        if self.oracle is None:
            raise ValueError(f"exercise {self.id}: a probe without an answer and no oracle")
        args, data = copied(probe.args), copied(dict(probe.data))
        if len(self.names) > 1 and probe.kind == "call":
            return self.oracle(probe.name, *args, **data)
        return self.oracle(*args, **data)

    @functools.cached_property
    def words_of_errors(self) -> frozenset[tuple[str, str]]:
        """The errors its probes ask for: (type, word in the message)."""
        asked = [p.expected for p in self.questions(0) if isinstance(p.expected, Raises)]
        return frozenset((error.type, error.contains.lower()) for error in asked)

    def namespace(self, answer: Any) -> dict[str, Any]:
        """A student's namespace that holds `answer` (one object, or a dict of several) inside the given code."""
        space = self.scaffold() if self.scaffold else {}
        several = isinstance(answer, dict) and answer and set(answer) <= {*self.names, *space, *roots(self.names)}
        for name, thing in (answer if several else {self.name: answer}).items():
            owner, _, attribute = name.rpartition(".") if self.kind != "prediction" else ("", "", name)
            if owner and isinstance(thing, type):
                space[owner] = thing
            elif owner:
                setattr(space.setdefault(owner, type(owner, (), {})), attribute, thing)
            else:
                space[name] = thing
        return space


@dataclass(frozen=True)
class Lesson:
    """One lesson: its number, file name, and exercises in order.

    `after` are the lessons it builds on, `idea` is its one line in the index. `introduces` are the names a student meets
    here first, and solutions use no later ones; `misconceptions` the ids of the beliefs met here first. In class grading a
    lesson `with_engine` may import the engine. In a `locked` lesson a program shows its output only after its prediction.
    `sections` are the exercises as its text has them (lesson_text.Section), to which other answers can be added.
    """

    number: int
    slug: str
    title: str
    exercises: tuple[Exercise, ...]
    after: tuple[int, ...] = ()
    idea: str = ""
    introduces: tuple[str, ...] = ()
    misconceptions: tuple[str, ...] = ()
    with_engine: bool = False
    locked: bool = False
    sections: tuple[Any, ...] = ()

    def without(self, exercise: Exercise) -> frozenset[str]:
        """What does not exist while one of its exercises is graded."""
        engine = (self.with_engine or exercise.with_engine) and "engine" not in exercise.without
        return exercise.without if engine else frozenset({"engine"}) | (exercise.without & {"my_engine"})

    @property
    def prerequisites(self) -> str:
        """The lessons it builds on, in words: "", "02", "02 and 04", "03 to 10"."""
        names = [f"{number:02d}" for number in self.after]
        if len(names) > 3 and self.after == tuple(range(self.after[0], self.after[-1] + 1)):
            return f"{names[0]} to {names[-1]}"
        return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def function(id: str, name: str | Sequence[str], **more: Any) -> Exercise:
    """A function the student writes, judged by calls. With several names the oracle gets the name first."""
    return exercise(id, "function", name, **more)


def program(id: str, name: str | Sequence[str], **more: Any) -> Exercise:
    """A class (or anything else) judged by programs that use it: `run("...", x=...)`. The oracle gets their data by name."""
    return exercise(id, "program", name, **more)


def exercise(id: str, kind: str, names: str | Sequence[str], **more: Any) -> Exercise:
    """What all makers make; its lists may be of any kind."""
    more |= {key: tuple(more[key]) for key in ("alternatives", "hints", "before", "items") if key in more}
    return Exercise(id, kind, names=(names,) if isinstance(names, str) else tuple(names), **more)


def one_of(id: str, one_of: Sequence[Exercise], **more: Any) -> Exercise:
    """One of several programs with the same id, of the student's choice: the first that passes counts."""
    return exercise(
        id, "program", [name for part in one_of for name in part.names],
        probes=lambda rng: [probe for part in one_of for probe in part.probes(rng)],
        wrong=Later(lambda: tuple(w for part in one_of for w in part.wrong)),
        alternatives=[a for part in one_of for a in part.alternatives],
        prelude="\n".join(part.prelude for part in one_of), one_of=tuple(one_of), **more,
    )  # fmt: skip


def value(id: str, name: str, right: Any, kind: str = "value", rtol: float = 2e-3, atol: float = 1e-6, **more: Any) -> Exercise:
    """A number, list, string, bool or None that the student writes down, to three digits (`name = ...` is the blank).

    Where several answers are right, `accept` is a test of the answer, and `right` one of them.
    """
    return exercise(id, kind, name, probes=single(name, right), right=right, rtol=rtol, atol=atol, **more)


def choice(id: str, name: str, options: Mapping[str, str], right: str, *, wrong: Sequence[Wrong], **more: Any) -> Exercise:
    """One of `options` (letter -> text); the student writes the letter. One `Wrong(letter, ...)` for each other option."""
    left = set(options) - {right} - {w.answer for w in wrong}
    if right not in options or left:
        raise ValueError(f"exercise {id}: no feedback for option {', '.join(sorted(left)) or right}")
    return exercise(id, "choice", name, probes=single(name, right), wrong=wrong, right=right, options=dict(options), **more)


def prediction(id: str, right: Any, **more: Any) -> Exercise:
    """What will this print? Answered by `predict(id, answer)`, with `options` by a letter; `predict(id, ...)` is the blank."""
    return value(id, f"predict {id}", right, kind="prediction", **more)


def ordering(id: str, name: str, items: Sequence[str], before: Sequence[Before], right: Sequence[int], **more: Any) -> Exercise:
    """Put `items` in order; the student writes their numbers, from 1. Every order that keeps all `before` rules is right."""
    places = {n: i for i, n in enumerate(right)}
    if sorted(right) != list(range(1, len(items) + 1)) or any(places[b.first] > places[b.then] for b in before):
        raise ValueError(f"exercise {id}: the order called right breaks its own rules")
    right = list(right)
    return exercise(id, "ordering", name, probes=single(name, right), right=right, before=before, items=items, **more)


def numbers(rng: np.random.Generator, *shape: int) -> np.ndarray[Any, Any]:
    """Odd-looking float64 numbers of this shape, short to print: one decimal, no zero, no one, no two neighbours alike."""
    count = int(np.prod(shape, dtype=int))
    pool = np.concatenate([np.arange(-39, -10), np.arange(-9, 0), np.arange(2, 10), np.arange(11, 40)]) / 10
    picked = rng.permutation(np.resize(rng.permutation(pool), count))
    return picked.reshape(shape)


def copied(value: Any) -> Any:
    """A deep copy of plain data and arrays, in which no two places share an array."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(copied(v) for v in value)
    return {k: copied(v) for k, v in value.items()} if type(value) is dict else value


def roots(names: Sequence[str]) -> set[str]:
    """The names as they stand in a namespace: `Value` for `Value.__mul__`."""
    return {name.split(".")[0] for name in names}


def single(name: str, right: Any) -> Probes:
    """The one probe of a value exercise: look at the variable."""
    return lambda rng: [Probe("value", name=name, expected=right)]
