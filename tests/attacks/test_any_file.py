"""Any file at all: more than three hundred broken hand-ins, and a class that is graded to the end."""

from __future__ import annotations

import json
import os
import random
import re
import socket
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from minigrad.course.commands import cli
from minigrad.course.grading import reader, runs, tables
from tests.grading.classroom import notebook
from tests.grading.test_runs import RIGHT, hand_in, here, level, rows  # noqa: F401

FINE = notebook(RIGHT, 'check("5.1")')
YEARS = [-2_000_000_000, -1, 0, 1, *(365 * 86_400 * (year - 1970) for year in range(1969, 2999, 25))]
NAMES = ["a\nb", "\u202egnp", "\u2066x\u2069", "x" * 249, "\udce9\udcff", " ", "'", '"', "\\", "a\tb", "-rf", "$(x)", "é",
         "e\u0301", "con", "%00", "\x7f", "\x1b[2J", "{{7*7}}", "<b>", "a;b", "=1+1", "~", "*", "?", "|", "名前"]  # fmt: skip
TEXTS: dict[str, bytes] = {
    "empty": b"", "blanks": b" \n\t", "one byte": b"{", "null": b"null", "bytes": bytes(range(256)) * 9, "nan": b"NaN",
    "text": b"dear teacher", "html": b"<!doctype html>", "pdf": b"%PDF-1.7", "zip": b"PK\x03\x04 whatever",
    "no zip": b"PK\x05\x06", "gzip": b"\x1f\x8b\x08", "png": b"\x89PNG\r\n\x1a\n", "elf": b"\x7fELF",
    "pickle": b"cos\nsystem\n(S'x'\ntR.", "deep lists": b"[" * 100_000, "deep objects": b'{"cells":' * 100_000,
    "deep in cells": b'{"cells": [' + b"[" * 100_000,
    "digits": b"9" * 200_000, "utf-16": FINE.decode().encode("utf-16")[:-7], "zeros": bytes(5_000), "surrogates": b'"\\ud800',
    "not utf-8": b'{"cells": "\xff\xfe', "large": b" " * (21 << 20), "much larger": b"[" + b"[]," * (10 << 20),
}  # fmt: skip


def broken() -> dict[str, Callable[[Path], Any]]:
    """For each hand-in, what makes it in a student's folder."""
    made: dict[str, Callable[[Path], Any]] = {}
    rng = random.Random(1)

    def writes(data: bytes, name: str = "05_vectors.ipynb") -> Callable[[Path], Any]:
        return lambda home: (home / os.fsdecode(os.fsencode(name))).write_bytes(data)

    made |= {f"text {name}": writes(data) for name, data in TEXTS.items()}
    made |= {f"cut {n}": writes(FINE[: n * len(FINE) // 60]) for n in range(1, 60)}
    for n in range(100):  # a few bytes of a good notebook are others
        data = bytearray(FINE)
        for _ in range(rng.randint(1, 9)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        made[f"flipped {n}"] = writes(bytes(data))
    for n, cells in enumerate(([], None, 3, "x", {}, [None], [[]], [{}], [{"cell_type": "code"}], [{"source": 3}], [1e400])):
        made[f"cells {n}"] = writes(json.dumps({"nbformat": 4, "cells": cells}).encode())
    for form in (-1, 0, 2, 3, 3.5, 4, 5, 99, "4", None, [], {}):
        made[f"format {form}"] = writes(json.dumps({"nbformat": form, "worksheets": form, "cells": form}).encode())
    made |= {f"year {when}": lambda home, when=when: (writes(FINE)(home), os.utime(home / "05_vectors.ipynb", (when, when)))
             for when in YEARS}  # fmt: skip
    made |= {f"name {n}": writes(FINE, f"{name}.ipynb") for n, name in enumerate(NAMES)}
    made |= {f"size {n}": lambda home, n=n: os.truncate(writes(b"")(home) or home / "05_vectors.ipynb", n)
             for n in (1, 4_096, 10**6, 19 << 20, 21 << 20, 200 << 20, 1 << 40)}  # fmt: skip
    for name in ("work.zip", "work.ipynb", "work.ipynb.zip", "work", "work.pdf", "05_vectors (1).ipynb", "a.py"):
        def zipped(home: Path, name: str = name) -> None:
            with zipfile.ZipFile(home / name, "w") as file:
                file.writestr("05_vectors.ipynb", FINE)
        made[f"zipped {name}"] = zipped
    for n, target in enumerate(("/etc/passwd", "/dev/zero", ".", "..", "/nowhere", "05_vectors.ipynb", "/proc/self/mem")):
        made[f"link {n}"] = lambda home, target=target: (home / "05_vectors.ipynb").symlink_to(target)
    made["pipe"] = lambda home: os.mkfifo(home / "05_vectors.ipynb")
    made["a folder"] = lambda home: (home / "05_vectors.ipynb").mkdir()
    made["a deep folder"] = lambda home: home.joinpath(*["d" * 20] * 60).mkdir(parents=True)
    made["vanishes"] = made["changes"] = writes(FINE)
    if os.getuid():
        made["not to read"] = lambda home: ((home / "05_vectors.ipynb").touch(), (home / "05_vectors.ipynb").chmod(0))
    return made


def bound(home: Path) -> None:
    with socket.socket(socket.AF_UNIX) as s:
        before = os.getcwd()
        os.chdir(home)
        s.bind("05_vectors.ipynb")
        os.chdir(before)


@pytest.mark.slow
def test_three_hundred_broken_hand_ins_stop_nobody(
    tmp_path: Path, level: str, here: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]  # noqa: F811
) -> None:
    made = broken() | {"socket": bound}
    assert len(made) >= 300
    hand_ins, out = hand_in(tmp_path / "in", aaa=RIGHT, zzz=RIGHT), tmp_path / "out"
    names = {f"h{n:03d}": what for n, what in enumerate(made)}
    for name, what in names.items():
        (hand_ins / name).mkdir()
        made[what](hand_ins / name)
    real = reader.load

    def load(folder: Path, path: str) -> bytes:
        what = names.get(path.split("/")[0])
        if what == "vanishes":
            (folder / path).unlink()
        if what == "changes":
            stats = iter([os.stat(folder / path), os.stat("/")])
            with monkeypatch.context() as patch:
                patch.setattr(reader.os, "fstat", lambda descriptor: next(stats))
                return real(folder, path)
        return real(folder, path)

    monkeypatch.setattr(reader, "load", load)
    outside = sorted(path.name for path in tmp_path.iterdir())
    code = cli.main(["grade", str(hand_ins), "--out", str(out), "--lessons", "05", "--jobs", "1"])
    assert code == 1, "something needs a look"
    said = capsys.readouterr()
    assert "Traceback" not in said.err + said.out
    table = {row["Student"]: row for row in rows(out)}
    assert set(table) == {"aaa", "zzz", *names}
    assert table["aaa"][tables.TOTAL] == table["zzz"][tables.TOTAL] == "1"
    page = (out / "report.html").read_text(encoding="utf-8")
    for name, what in names.items():
        why = re.findall(rf"<li><bdi>(?:(?:Not graded|Nothing to grade), 05: )?{name}(?:/[^:]*)?: ([^<]*)", page)
        if what.split()[0] in ("year", "name"):
            assert table[name]["05_vectors"] == "1", what
        elif table[name]["05_vectors"] == "":
            assert any(len(line) > 10 and "Error" not in line and "Errno" not in line for line in why), (what, why)
        elif what.split()[0] not in ("flipped", "cells", "format", "cut"):
            assert why, what
    for what in ("zipped work.pdf", "zipped work.ipynb", "text zip"):
        name = next(name for name, each in names.items() if each == what)
        assert re.search(rf"{name}(/[^:]*)?: a zip: unpack it, then run again", page), what
    assert re.search(r"it was changed while it was read: run again", page) and "larger than 20 MB, so it is not read" in page
    (large,) = (name for name, each in names.items() if each == "text large")
    (feedback,) = (out / "feedback" / large).iterdir()
    assert ">Larger than 20 MB, so it is not read: clear its outputs, then run again.<" in feedback.read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == [*outside, "out"]
    assert {path.name for path in hand_ins.iterdir()} == {"aaa", "zzz", *names}
    assert runs.grade(hand_ins, out=out, lessons=[5]).graded == 0, "and nothing of it is graded twice"
