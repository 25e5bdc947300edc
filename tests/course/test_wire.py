"""The frames: what crosses, what is refused, and what a hostile sender can do (nothing)."""

import collections
import json
import math
import os
import struct
import threading
import time

import numpy as np
import pytest

from minigrad.course.student import wire
from minigrad.course.student.wire import Closed, NotPlain, TooLate, WireError, pack, unpack

PLAIN = [
    None, True, False, 0, -7, 2**63, -(2**200), 1.5, -0.0, float("inf"), "", "häß\n", [], [1, [2, [3]]], (),
    (1, (2,)), {}, {"a": [1, {"b": (None,)}]}, ..., [..., 1],
]  # fmt: skip
ARRAYS = [
    np.zeros(()), np.zeros((0, 3)), np.arange(6.0).reshape(2, 3), np.arange(6).reshape(2, 3).T,
    np.array([True, False]), np.array([1, 2], dtype=">f4"), np.ones((2, 1, 3), dtype=np.float16),
    np.array([255], dtype=np.uint8),
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values_make_the_trip(value):
    back = unpack(pack(value))
    assert back == value and type(back) is type(value)


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}{a.shape}")
def test_arrays_make_the_trip_with_memory_of_their_own(array):
    back = unpack(pack(array))
    assert back.dtype == array.dtype.newbyteorder("=") and back.shape == array.shape
    np.testing.assert_array_equal(back, array)
    assert back.flags.writeable and not np.shares_memory(back, array)


def test_scalars_and_nan():
    back = unpack(pack(np.float32(1.5)))
    assert type(back) is np.float32 and back == 1.5
    assert math.isnan(unpack(pack(float("nan"))))


class Sly(float):
    def __eq__(self, other):
        return True

    __hash__ = float.__hash__


class SlyArray(np.ndarray):
    def __eq__(self, other):
        return np.array(True)


REFUSED = {
    "a Sly": Sly(1), "a SlyArray": np.zeros(2).view(SlyArray), "a set": {1}, "a function": len,
    "an object": object(), "complex": np.array([1j]), "dtype object": np.array([None]), "int key": {1: 2},
    "bytes": b"x",
    "a type": float, "text array": np.array(["a"]), "masked": np.ma.array([1.0]),
    "record": np.zeros(1, dtype=[("a", "f8")]), "huge int": 1 << 5000, "surrogate": "\ud800",
}  # fmt: skip


@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED)
def test_everything_else_is_refused_by_name(value):
    with pytest.raises(NotPlain):
        pack(value)
    with pytest.raises(NotPlain):
        pack([1, {"a": (value,)}])


def test_too_deep_too_many_too_big():
    deep = []
    for _ in range(100):
        deep = [deep]
    loop = []
    loop.append(loop)
    for value in (deep, loop, [0] * 200_000, np.zeros(3_000_000), [np.zeros(1_500_000)] * 2, "x" * 300_000):
        with pytest.raises(NotPlain):
            pack(value)


def frame(body, arrays=(), payload=b"", header=None):
    text = json.dumps({"body": body, "arrays": list(arrays)}).encode() if header is None else header
    return struct.pack(">IQ", len(text), len(payload)) + text + payload


HOSTILE = {
    "short": b"abc",
    "empty": b"",
    "length lie": struct.pack(">IQ", 5, 0) + b"{}",
    "four gigabytes": struct.pack(">IQ", 2**32 - 1, 2**40) + b"x",
    "no json": frame(0, header=b"\x80\x04K\x01."),
    "not an object": frame(0, header=b"[1]"),
    "nested json": frame(0, header=b'{"body":' + b"[" * 100_000 + b"]" * 100_000 + b',"arrays":[]}'),
    "nested tuples": frame(0, header=b'{"body":' + b'{"tuple":[' * 900 + b"]}" * 900 + b',"arrays":[]}'),
    "extra key": frame(0, header=b'{"body":1,"arrays":[],"x":1}'),
    "unknown tag": frame({"pickle": "gASV"}),
    "two tags": frame({"tuple": [], "list": []}),
    "object dtype": frame({"array": 0}, [["object", [1]]], b"\0" * 8),
    "complex dtype": frame({"array": 0}, [["complex128", [1]]], b"\0" * 16),
    "structured dtype": frame({"array": 0}, [["f8,f8", [1]]], b"\0" * 16),
    "negative shape": frame({"array": 0}, [["float64", [-1]]], b""),
    "huge shape": frame({"array": 0}, [["float64", [2**40, 2**40]]], b""),
    "huge empty shape": frame({"array": 0}, [["float64", [0] + [2**24] * 8]], b""),
    "float shape": frame({"array": 0}, [["float64", [1.0]]], b"\0" * 8),
    "bool shape": frame({"array": 0}, [["float64", [True]]], b"\0" * 8),
    "short payload": frame({"array": 0}, [["float64", [4]]], b"\0" * 8),
    "long payload": frame({"array": 0}, [["float64", [1]]], b"\0" * 80),
    "no such array": frame({"array": 3}),
    "array twice": frame([{"array": 0}, {"array": 0}], [["float64", [1]]], b"\0" * 8),
    "unused array": frame(1, [["float64", [1]]], b"\0" * 8),
    "negative reference": frame({"array": -1}, [["float64", [1]]], b"\0" * 8),
    "wide scalar": frame({"scalar": 0}, [["float64", [1]]], b"\0" * 8),
    "odd dict": frame({"dict": [["a"]]}),
    "int key": frame({"dict": [[1, 2]]}),
    "long number": frame(0, header=b'{"body":' + b"9" * 100_000 + b',"arrays":[]}'),
    "odd int": frame({"int": "zz"}),
    "half a character": frame(0, header=b'{"body":"\\ud800","arrays":[]}'),
    "half a key": frame(0, header=b'{"body":{"dict":[["\\ud800",1]]},"arrays":[]}'),
    "invalid utf-8": frame(0, header=b'{"body":"\xff","arrays":[]}'),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_frame_is_a_wire_error(data):
    with pytest.raises(WireError):
        unpack(data)


def test_random_damage_never_does_anything_else():
    rng = np.random.default_rng(0)
    good = pack({"a": [1, (2.5, "x")], "b": np.arange(6.0).reshape(2, 3), "c": ...})
    for _ in range(3000):
        bad = bytearray(good)
        for _ in range(rng.integers(1, 6)):
            bad[rng.integers(len(bad))] = rng.integers(256)
        try:
            pack(unpack(bytes(bad)))  # still plain after whatever happened to it
        except WireError:
            continue


def test_a_bool_array_of_other_bytes_is_clean():
    back = unpack(frame({"array": 0}, [["bool", [3]]], b"\x00\x07\xff"))
    assert back.dtype == bool and back.view(np.uint8).tolist() == [0, 1, 1]


def test_dripping_and_silence_meet_the_deadline():
    reading, writing = os.pipe()
    data, late = pack("hello" * 100), threading.Event()

    def drip():
        for i in range(len(data)):
            os.write(writing, data[i : i + 1])
            if late.wait(0.05):
                break

    thread = threading.Thread(target=drip)
    thread.start()
    with pytest.raises(TooLate):
        wire.receive(reading, time.monotonic() + 0.15)
    assert thread.is_alive(), "while the bytes were still coming"
    late.set()
    thread.join()
    os.close(writing)
    with pytest.raises(Closed):
        wire.receive(reading, time.monotonic() + 1)
    os.close(reading)


def test_send_and_receive_more_than_a_pipe_holds():
    reading, writing = os.pipe()
    big = np.arange(500_000.0)
    thread = threading.Thread(target=wire.send, args=(writing, big, time.monotonic() + 20))
    thread.start()
    np.testing.assert_array_equal(wire.receive(reading, time.monotonic() + 20), big)
    thread.join()
    os.close(reading)
    with pytest.raises(Closed):
        wire.send(writing, 1)
    os.close(writing)


def test_a_named_tuple_crosses_as_its_values():
    pair = collections.namedtuple("Pair", "dX dW")
    assert wire.unpack(wire.pack(pair(1.5, [2]))) == (1.5, [2])
