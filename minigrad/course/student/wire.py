"""The frames between the one who checks and the one who is checked: plain values, nothing else.

A frame is twelve bytes of lengths, a JSON header, then the bytes of its arrays. What can cross is a closed
list: None, True, False, ints, floats, strings, lists, tuples, dicts with string keys, the Ellipsis (an
unfilled blank), numpy arrays and scalars of bool, int, uint and float kind, and tensors (as their numbers).
Types are compared exactly: an object of a subclass, which could claim to equal anything, is refused by name
(a named tuple crosses as the plain tuple of its values). There is no pickle, and the reader believes nothing:
lengths, depth, number of items, dtypes, shapes and time are all capped.

You will meet `pack` and `unpack` (a value to bytes and back), `send` and `receive` (over file descriptors,
with a deadline), and `Failure`, the record that stands for "no value came, and this is why".
"""

from __future__ import annotations

import json
import os
import select
import struct
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Closed", "Failure", "NotPlain", "Tensor", "TooLate", "WireError", "pack", "receive", "send", "unpack"]

# The largest frame of the course holds some thousands of bytes.
MAX_HEADER = 2 << 20  # bytes of JSON
MAX_ARRAYS = 4 << 20  # bytes of all arrays together, each number counted as the eight bytes it is compared in
MAX_DEPTH = 24
MAX_ITEMS = 100_000
MAX_TEXT = 200_000
MAX_NDIM = 16
DTYPES = {
    name: np.dtype(name)
    for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float16", "float32", "float64",
    )
}  # fmt: skip
FRACTIONS = {"Fraction": "fractions", "Decimal": "decimal"}  # exact numbers; they arrive as floats
NAMES = {dtype: name for name, dtype in DTYPES.items()}  # a dtype takes long to say its own
LENGTHS = struct.Struct(">IQ")


class WireError(Exception):
    """A frame that breaks the rules; nothing of it was used."""


class NotPlain(WireError):
    """A value that may not cross; the message says which and what to use instead."""


class TooLate(WireError):
    """The deadline passed before the frame was complete."""


class Closed(WireError):
    """The other side has gone."""


@dataclass(frozen=True)
class Tensor:
    """What is left of a tensor on the other side: its numbers, and whether it required a gradient."""

    array: np.ndarray[Any, Any]
    requires_grad: bool = False


@dataclass(frozen=True)
class Failure:
    """Why no value came.

    `kind` is one of: missing, blank, raised, changed, not plain, timeout, memory, killed, protocol.
    `type` and `bases` name the exception, `line` and `text` the student's line. `value` is what a function
    returned that also changed its inputs (kind changed; `message` names them). `printed` is the start of what
    it printed.
    """

    kind: str
    type: str = ""
    message: str = ""
    line: int | None = None
    text: str = ""
    bases: tuple[str, ...] = ()
    value: Any = None
    printed: str = ""


# --- a value to bytes ---------------------------------------------------------------------------------------


def pack(value: Any) -> bytes:
    """One frame. NotPlain if the value holds anything that may not cross, or is too big, too deep or
    circular."""
    arrays: list[np.ndarray[Any, Any]] = []
    budget = [MAX_ITEMS, MAX_ARRAYS]
    body = encode(value, arrays, budget, 0)
    shapes = [[name_of(a), list(a.shape)] for a in arrays]
    header = json.dumps({"body": body, "arrays": shapes}, separators=(",", ":")).encode("ascii")
    if len(header) > MAX_HEADER:
        raise NotPlain(f"an answer of more than {MAX_HEADER >> 20} MB of text and numbers")
    payload = b"".join(a.astype(a.dtype.newbyteorder("<"), copy=False).tobytes() for a in arrays)
    return LENGTHS.pack(len(header), len(payload)) + header + payload


def encode(value: Any, arrays: list[np.ndarray[Any, Any]], budget: list[int], depth: int) -> Any:
    """JSON for a value; arrays are put aside and numbered. Anything but a bare JSON atom or list is `{tag:
    ...}`."""
    budget[0] -= 1
    if budget[0] < 0:
        raise NotPlain(f"an answer of more than {MAX_ITEMS} items")
    if depth > MAX_DEPTH:
        raise NotPlain(f"lists nested more than {MAX_DEPTH} deep (or a list that contains itself)")
    kind = type(value)
    if value is None or kind is bool or kind is float:
        return value
    if kind is int:
        if value.bit_length() > 4096:
            raise NotPlain("a whole number of more than a thousand digits")
        return value if value.bit_length() < 64 else {"int": hex(value)}
    if kind is str:
        if len(value) > MAX_TEXT:
            raise NotPlain(f"a string of more than {MAX_TEXT} characters")
        if not is_text(value):
            raise NotPlain("a string that is not valid text")
        return value
    if kind is list:
        return [encode(v, arrays, budget, depth + 1) for v in value]
    if kind is tuple or (issubclass(kind, tuple) and hasattr(kind, "_fields")):  # a named tuple is its values
        return {"tuple": [encode(v, arrays, budget, depth + 1) for v in tuple.__iter__(value)]}
    if kind is dict:
        for key in value:
            if type(key) is not str:
                name = type(key).__name__
                raise NotPlain(f"a dict with {article(name)} {name} as a key (keys have to be strings)")
        return {"dict": [[encode(k, arrays, budget, depth + 1), encode(v, arrays, budget, depth + 1)]
                         for k, v in value.items()]}  # fmt: skip
    if value is Ellipsis:
        return {"ellipsis": True}
    if kind is np.ndarray:
        return {"array": aside(value, arrays, budget)}
    if kind.__module__ == "numpy" and isinstance(value, np.generic):
        return {"scalar": aside(np.asarray(value), arrays, budget)}
    if kind is Tensor:
        return {"tensor": aside(value.array, arrays, budget), "requires_grad": bool(value.requires_grad)}
    if kind.__name__ in FRACTIONS and kind.__module__ == FRACTIONS[kind.__name__]:
        return float(value)
    if kind.__name__ == "Size" and isinstance(value, tuple) and kind.__module__.split(".")[0] in ("minigrad", "torch"):
        return {"tuple": [encode(v, arrays, budget, depth + 1) for v in value]}
    numbers = tensor_numbers(value)
    if numbers is not None:
        return {"tensor": aside(numbers, arrays, budget), "requires_grad": bool(value.requires_grad)}
    name = {"type": "class", "complex": "complex number"}.get(kind.__name__, kind.__name__)
    raise NotPlain(f"a list with {article(name)} {name} in it" if depth else f"{article(name)} {name}")


def aside(array: np.ndarray[Any, Any], arrays: list[np.ndarray[Any, Any]], budget: list[int]) -> int:
    """Put an array aside; its number."""
    if name_of(array) not in DTYPES:
        raise NotPlain(f"an array of {array.dtype} (numbers of bool, int or float are fine)")
    if array.ndim > MAX_NDIM:
        raise NotPlain(f"an array of {array.ndim} dimensions")
    budget[1] -= 8 * array.size
    if budget[1] < 0:
        raise NotPlain(f"arrays of more than {MAX_ARRAYS >> 20} MB together")
    arrays.append(array)
    return len(arrays) - 1


def name_of(array: np.ndarray[Any, Any]) -> str:
    """The name of an array's dtype, whatever its byte order."""
    return NAMES.get(array.dtype) or array.dtype.name


def tensor_numbers(value: Any) -> np.ndarray[Any, Any] | None:
    """The numbers of a minigrad or torch tensor (or Parameter); None for anything else."""
    for base in type(value).__mro__:
        if base.__name__ == "Tensor" and base.__module__.split(".")[0] in ("minigrad", "torch"):
            array = value.detach().numpy()
            return array if type(array) is np.ndarray else None
    return None


def is_text(value: str) -> bool:
    """False for a string with half a character in it, which nothing could print."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def article(word: str) -> str:
    return "an" if word[:1].lower() in "aeiou" else "a"


# --- bytes to a value ---------------------------------------------------------------------------------------


def unpack(frame: bytes) -> Any:
    """The value of one frame. WireError if anything about it is not exactly as it should be."""
    if len(frame) < LENGTHS.size:
        raise WireError("a frame without its lengths")
    header_size, payload_size = sizes(frame[: LENGTHS.size])
    if len(frame) != LENGTHS.size + header_size + payload_size:
        raise WireError("a frame whose lengths are not its length")
    header = frame[LENGTHS.size : LENGTHS.size + header_size]
    try:
        content = json.loads(header.decode("utf-8"), parse_int=small_int)
    except (ValueError, RecursionError) as error:
        raise WireError("a header that is not JSON") from error
    if type(content) is not dict or set(content) != {"body", "arrays"} or type(content["arrays"]) is not list:
        raise WireError("a header without body and arrays")
    arrays = cut(content["arrays"], memoryview(frame)[LENGTHS.size + header_size :])
    used = [False] * len(arrays)
    value = decode(content["body"], arrays, used, [MAX_ITEMS], 0)
    if not all(used):
        raise WireError("an array that nothing refers to")
    return value


def sizes(lengths: bytes) -> tuple[int, int]:
    """Header and payload length, refused when over the caps."""
    header, payload = LENGTHS.unpack(lengths)
    if header > MAX_HEADER or payload > MAX_ARRAYS:
        raise WireError("a frame that is too long")
    return header, payload


def small_int(digits: str) -> int:
    """JSON's int(); long ones travel in hexadecimal."""
    if len(digits) > 20:
        raise ValueError("a number with too many digits")
    return int(digits)


def cut(shapes: list[Any], payload: memoryview) -> list[np.ndarray[Any, Any]]:
    """The arrays of a frame, each with its own memory."""
    arrays, at, numbers = [], 0, 0
    if len(shapes) > MAX_ITEMS:
        raise WireError("too many arrays")
    for entry in shapes:
        if type(entry) is not list or len(entry) != 2 or type(entry[0]) is not str or type(entry[1]) is not list:
            raise WireError("an array without dtype and shape")
        name, shape = entry
        if name not in DTYPES or len(shape) > MAX_NDIM:
            raise WireError("an array of a dtype or shape that may not cross")
        count = 1
        for n in shape:
            if type(n) is not int or not 0 <= n <= MAX_ARRAYS:
                raise WireError("an array with an impossible shape")
            count *= n
        # a zero may hide a huge factor from the product: cap each dimension's share as well
        if any(n > MAX_ARRAYS for n in shape) or count * DTYPES[name].itemsize > len(payload) - at:
            raise WireError("an array longer than its frame")
        numbers += count
        if 8 * numbers > MAX_ARRAYS:
            raise WireError("more numbers than may cross")
        size = count * DTYPES[name].itemsize
        raw = np.frombuffer(payload[at : at + size], dtype=DTYPES[name].newbyteorder("<") if name != "bool" else "u1")
        try:
            array = (raw != 0) if name == "bool" else raw.astype(DTYPES[name])
            arrays.append(array.reshape(shape))
        except ValueError as error:
            raise WireError("an array with an impossible shape") from error
        at += size
    if at != len(payload):
        raise WireError("bytes after the last array")
    return arrays


def decode(body: Any, arrays: list[np.ndarray[Any, Any]], used: list[bool], budget: list[int], depth: int) -> Any:
    """The value of a JSON body."""
    budget[0] -= 1
    if budget[0] < 0 or depth > 2 * MAX_DEPTH + 2:
        raise WireError("too many items, or nested too deep")
    if body is None or type(body) in (bool, int, float) or (type(body) is str and is_text(body)):
        return body
    if type(body) is list:
        return [decode(v, arrays, used, budget, depth + 1) for v in body]
    if type(body) is dict and len(body) in (1, 2):
        tag = next(iter(body))
        inner = body[tag]
        if tag in ("array", "scalar", "tensor"):
            array = refer(inner, arrays, used)
            if tag == "tensor" and type(body.get("requires_grad")) is bool:
                return Tensor(array, body["requires_grad"])
            if tag == "array" and len(body) == 1:
                return array
            if tag == "scalar" and len(body) == 1 and array.ndim == 0:
                return array[()]
        elif len(body) == 1 and tag == "ellipsis" and inner is True:
            return Ellipsis
        elif len(body) == 1 and tag == "int" and type(inner) is str and len(inner) < 1100:
            return long_int(inner)
        elif len(body) == 1 and tag == "tuple" and type(inner) is list:
            return tuple(decode(v, arrays, used, budget, depth + 1) for v in inner)
        elif len(body) == 1 and tag == "dict" and type(inner) is list:
            return dict(pair(v, arrays, used, budget, depth) for v in inner)
    raise WireError("an item of no known kind")


def refer(number: Any, arrays: list[np.ndarray[Any, Any]], used: list[bool]) -> np.ndarray[Any, Any]:
    """The array of this number; each may be asked for once."""
    if type(number) is not int or not 0 <= number < len(arrays) or used[number]:
        raise WireError("a reference to no array")
    used[number] = True
    return arrays[number]


def pair(
    item: Any, arrays: list[np.ndarray[Any, Any]], used: list[bool], budget: list[int], depth: int
) -> tuple[str, Any]:
    """One entry of a dict."""
    if type(item) is not list or len(item) != 2 or type(item[0]) is not str or not is_text(item[0]):
        raise WireError("a dict entry that is not a key and a value")
    return item[0], decode(item[1], arrays, used, budget, depth + 1)


def long_int(text: str) -> int:
    try:
        return int(text, 16)
    except ValueError as error:
        raise WireError("a number that is none") from error


# --- frames over file descriptors ---------------------------------------------------------------------------


def send(fd: int, value: Any, deadline: float | None = None) -> None:
    """Write one frame. `deadline` in `time.monotonic()` seconds; TooLate when it passes, Closed when nobody
    reads."""
    write(fd, pack(value), deadline)


def write(fd: int, frame: bytes, deadline: float | None) -> None:
    """Write all of a packed frame."""
    view = memoryview(frame)
    try:
        while view:
            if deadline is not None:
                wait(deadline, writing=fd)
                view = view[
                    os.write(fd, view[:4096]) :
                ]  # a pipe that is ready takes this much without blocking
            else:
                view = view[os.write(fd, view) :]
    except (BrokenPipeError, ConnectionResetError) as error:
        raise Closed("the other side has gone") from error


def receive(fd: int, deadline: float | None = None) -> Any:
    """Read one frame and return its value. TooLate, Closed, or WireError for a frame that breaks the
    rules."""
    lengths = read(fd, LENGTHS.size, deadline)
    header, payload = sizes(lengths)
    return unpack(lengths + read(fd, header + payload, deadline))


def read(fd: int, count: int, deadline: float | None) -> bytes:
    """Exactly `count` bytes, however slowly they drip, before the deadline."""
    pieces: list[bytes] = []
    while count:
        if deadline is not None:
            wait(deadline, reading=fd)
        try:
            piece = os.read(fd, min(count, 1 << 16))
        except ConnectionResetError as error:
            raise Closed("the other side has gone") from error
        if not piece:
            raise Closed("the other side has gone")
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)


def wait(deadline: float, *, reading: int | None = None, writing: int | None = None) -> None:
    """Until the descriptor is ready. TooLate when the deadline comes first."""
    poll = select.poll()
    poll.register(reading if reading is not None else writing or 0,
                  select.POLLIN if reading is not None else select.POLLOUT)  # fmt: skip
    left = deadline - time.monotonic()
    if left <= 0 or not poll.poll(left * 1000):
        raise TooLate("no answer in time")
