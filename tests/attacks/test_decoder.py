"""The trusted end of the wire under fire: whatever bytes or replies come, a value, a Failure, or a refusal.

Never another exception (it would stop a grading run), never a hang, never more memory. The slow test sends a million
frames; the quick one a few thousand of the same kind.
"""

import json
import os
import random
import struct
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest

from minigrad.course import lessons
from minigrad.course.grading.sandbox import Worker
from minigrad.course.judge.verdict import judge
from minigrad.course.student import wire
from minigrad.course.student.student import Remote
from minigrad.course.student.wire import Failure
from tests.grading.classroom import LESSON

WORDS = ["body", "arrays", "array", "tuple", "dict", "scalar", "tensor", "ellipsis", "int", "requires_grad", "id", "value",
         "failure", "float64", "bool", "object", "state", "there", "near", "type", "kind", "raised", "0x10", "",
         "x"]  # fmt: skip


def anything(rng: random.Random, depth: int = 0) -> Any:
    """A random JSON value made of the words that the decoder knows."""
    kind = rng.randrange(9 if depth < 4 else 6)
    if kind < 6:
        return rng.choice([None, True, False, 0, 1, -1, 2**31, 2**63, 10**19, 1.5, float("nan"), float("inf"), *WORDS])
    if kind == 6:
        return [anything(rng, depth + 1) for _ in range(rng.randrange(5))]
    return {rng.choice(WORDS): anything(rng, depth + 1) for _ in range(rng.randrange(4))}


def value(rng: random.Random, depth: int = 0) -> Any:
    """A random value that may cross."""
    kind = rng.randrange(12 if depth < 4 else 9)
    if kind == 0:
        return np.array(rng.random())[()]
    if kind == 1:
        return np.zeros(tuple(rng.randrange(3) for _ in range(rng.randrange(4))), rng.choice(sorted(wire.DTYPES)))
    if kind == 2:
        return wire.Tensor(np.ones(rng.randrange(3)), rng.random() < 0.5)
    if kind < 9:
        return rng.choice([None, True, 0, -5, 2**70, 0.1, float("nan"), "", "x", "there", "raised", ...])
    if kind == 9:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind == 10:
        return tuple(value(rng, depth + 1) for _ in range(rng.randrange(4)))
    return {rng.choice(WORDS): value(rng, depth + 1) for _ in range(rng.randrange(4))}


def frame(rng: random.Random) -> bytes:
    """A frame that is right, nearly right, or nothing of the kind."""
    kind = rng.randrange(5)
    if kind == 0:
        return rng.randbytes(rng.randrange(64))
    if kind == 1:
        body = {"body": anything(rng), "arrays": anything(rng)}
    elif kind == 2:
        shapes = [[rng.choice([*wire.DTYPES, "object", "V8", "O"]), [rng.randrange(-1, 4) for _ in range(rng.randrange(3))]]]
        body = {"body": {"array": rng.randrange(-1, 3)}, "arrays": shapes}
    else:
        whole = bytearray(wire.pack(value(rng)))
        if kind == 4:
            for _ in range(rng.randrange(1, 4)):
                if whole:
                    whole[rng.randrange(len(whole))] = rng.randrange(256)
            if rng.random() < 0.3:
                del whole[rng.randrange(len(whole)) :]
        return bytes(whole)
    header = json.dumps(body).encode()
    payload = rng.randbytes(rng.choice([0, 8, 16]))
    return struct.pack(">IQ", len(header), len(payload)) + header + payload


def bombard(count: int, seed: int) -> int:
    """How many of the frames were values. Anything but a value or a WireError is an exception here."""
    rng = random.Random(seed)
    good = 0
    for _ in range(count):
        try:
            wire.unpack(frame(rng))
            good += 1
        except wire.WireError:
            pass
    return good


def test_a_few_thousand_frames() -> None:
    good = bombard(5_000, 1)
    assert 500 < good < 4_500, "the fuzzer has to make both kinds"


@pytest.mark.slow
def test_three_hundred_thousand_frames() -> None:
    bombard(20_000, 0)
    tracemalloc.start()
    try:
        bombard(5_000, 1)
        before, _ = tracemalloc.get_traced_memory()
        bombard(5_000, 2)
        after, _ = tracemalloc.get_traced_memory()
        assert after - before < 200_000
    finally:
        tracemalloc.stop()
    started = time.monotonic()
    for seed in range(30):
        bombard(10_000, 100 + seed)
    assert time.monotonic() - started < 300


class Forger(Remote):
    """A connection at whose other end sits a student who answers anything at all."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.reading_end, self.writing_end = os.pipe()
        self.sink = os.open(os.devnull, os.O_WRONLY)
        super().__init__(self.reading_end, self.sink, seconds=20.0)

    def await_reply(self) -> None:
        rng = self.rng
        reply: Any = value(rng)
        if rng.random() < 0.9:
            ticket = self.ticket if rng.random() < 0.9 else value(rng)
            reply = {"id": ticket, rng.choice(["value", "failure", "x"]): self.inner()}
        wire.write(self.writing_end, wire.pack(reply), None)

    def inner(self) -> Any:
        rng = self.rng
        kind = rng.randrange(5)
        if kind == 0:
            seen = {"state": rng.choice(["there", value(rng)]), "type": value(rng), "near": value(rng)}
            return dict.fromkeys(self.names, seen)
        if kind == 1:
            return {name: {"state": "there", "type": "x", "near": []} for name in self.names}
        if kind == 2:
            record = {name: rng.choice(["", "x", value(rng)]) for name in Failure.__dataclass_fields__}
            return record | {"kind": rng.choice(["raised", "changed", "missing", "printed", "x", value(rng)]),
                             "line": rng.choice([None, 3, -1, value(rng)]),
                             "bases": rng.choice([[], ["OSError"], value(rng)])}  # fmt: skip
        return value(rng)

    def ask(self, do: str, *args: Any, **kwargs: Any) -> Any:
        self.names = list(args[0]) if do == "look" else ["x"]
        return super().ask(do, *args, **kwargs)

    def end(self) -> None:
        for descriptor in (self.reading_end, self.writing_end, self.sink):
            os.close(descriptor)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_judge_survives_any_reply(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr("minigrad.course.student.student.secrets.token_hex", lambda n: Forger.ticket)
    seen = set()
    for turn in range(300):
        exercise = LESSON.exercises[turn % len(LESSON.exercises)]
        Forger.ticket = f"{turn:016x}"
        student = Forger(rng)
        try:
            verdict = judge(exercise, student, turn)
        finally:
            student.end()
        seen.add(verdict.status)
        assert verdict.points == 0.0
        json.dumps(verdict.as_dict())
    assert {"wrong", "error"} <= seen


ODD = [
    None, True, 2**70, -(2**4000), 5e-324, float("nan"), float("inf"), "", "9" * 5000, "1 2 " + "9" * 5000, "A" * 190_000, ...,
    [], [[[[]]]], [float("inf"), 1, 2], [1, float("nan")], [2**70, 1], [...], ["3", "1"], (), {},
    {str(i): i for i in range(1000)},
    np.float16("inf"), np.zeros(0), np.zeros((0, 3)), np.zeros((2,) * 16, np.uint8), np.zeros((6,) * 7, np.uint8),
    np.zeros(500_000), np.full(3, np.nan), np.array([2**63], np.uint64), wire.Tensor(np.zeros(3)),
    [wire.Tensor(np.zeros(2)), None],
    [np.zeros(2), np.zeros(3)], [[1, 2], [3]], [{}], list(range(5000)), [[0] * 100] * 100, "\n\x00\u202e",
    "\u0663 \u0661 \u0662",
]  # fmt: skip


class Odd:
    """Answers everything with one odd value."""

    def __init__(self, answer: Any) -> None:
        self.answer = wire.unpack(wire.pack(answer)) if not isinstance(answer, wire.Tensor | list) else answer

    def look(self, names: list[str]) -> Any:
        return {name: {"state": "there", "type": "x", "near": []} for name in names}

    def value(self, name: str) -> Any:
        return self.answer

    call = run = lambda self, *args, **kwargs: self.answer


ORDERINGS = [e for lesson in lessons.all_lessons() for e in lesson.exercises if e.kind in ("ordering", "choice")]


@pytest.mark.slow
@pytest.mark.parametrize("exercise", ORDERINGS, ids=[e.id for e in ORDERINGS])
def test_a_written_answer_may_be_anything(exercise: Any) -> None:
    for answer in ODD:
        verdict = judge(exercise, Odd(answer), 0)
        assert not verdict.passed and len(json.dumps(verdict.as_dict())) < 50_000


@pytest.mark.slow
@pytest.mark.parametrize("number", lessons.numbers())
def test_every_check_of_the_course_survives_odd_answers(number: int) -> None:
    """What raises in the judge would be "not graded", and a student could stop a class with it."""
    rng = random.Random(number)
    for exercise in lessons.lesson(number).exercises:
        for answer in rng.sample(ODD, 8):
            json.dumps(judge(exercise, Odd(answer), 0).as_dict())


def test_a_reply_is_refused_unless_it_answers_this_question() -> None:
    assert issubclass(Worker, Remote)
    for reply in ({"id": "x", "value": 1}, {"value": 1}, {"id": 1, "value": 1}, [1], None, {"id": np.zeros(3), "value": 1}):
        reading, writing = os.pipe()
        sink = os.open(os.devnull, os.O_WRONLY)
        try:
            student = Remote(reading, sink, seconds=5.0)
            wire.write(writing, wire.pack(reply), None)
            answer = student.value("x")
            assert isinstance(answer, Failure) and answer.kind == "protocol"
        finally:
            for descriptor in (reading, writing, sink):
                os.close(descriptor)
