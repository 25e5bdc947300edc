"""The self-test of a sandbox: a hostile submission that tries to get out, and an honest one that must get through.

It runs once before any student is graded. A level for which a single attempt succeeds is not used; so a
kernel without one of the mechanisms, or a mistake of ours, ends in a weaker level with another name or in
no grading at all, never in a grade from an open sandbox. The larger collection of attacks is in
`tests/attacks/`.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from minigrad.course.grading import package


class Sandbox(Protocol):
    """What is tried here: sandbox.py has it."""

    level: str

    def worker(self, *, memory: int, cpu: int) -> Any:
        """Start a process in it."""


# Each attempt gets through (True) or does not. The file that is read is really there, and readable for anybody.
HOSTILE = """
import ctypes, os, socket, subprocess, sys, threading

libc = ctypes.CDLL(None, use_errno=True)

def attempt(action):
    try:
        return action() is not False
    except BaseException as error:
        return False

def fork():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return True

def told(libc):
    here, there = socket.socketpair()
    peer = attempt(lambda: here.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    libc.getauxval.restype = ctypes.c_ulong
    return peer or any(libc.getauxval(entry) != 65534 for entry in (11, 12, 13, 14))

def network():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))

def attempts(secret, folder, grader):
    return {
        "read a file outside": attempt(lambda: open(secret).read()),
        "list a folder outside": attempt(lambda: os.listdir(folder)),
        "write a file outside": attempt(lambda: open(folder + "/x", "w")),
        "write to /tmp": attempt(lambda: open("/tmp/minigrad-escape", "w")),
        "write to the current folder": attempt(lambda: open("minigrad-escape", "w")),
        "change the rights of a file": attempt(lambda: os.chmod(secret, 0o777)),
        "make a link": attempt(lambda: os.symlink(secret, "/tmp/minigrad-link")),
        "read /proc": attempt(lambda: open("/proc/self/status").read()),
        "read another's environment": attempt(lambda: open(f"/proc/{grader}/environ").read()),
        "start a process": attempt(fork),
        "start a program": attempt(lambda: subprocess.run(["/bin/true"])),
        "become a program": attempt(lambda: os.execv("/bin/true", ["true"]) or True),
        "open a socket": attempt(network),
        "open a local socket": attempt(lambda: socket.socket(socket.AF_UNIX)),
        "signal the grader": attempt(lambda: os.kill(grader, 0)),
        "signal the parent": attempt(lambda: os.kill(os.getppid(), 0)),
        "tell who they are": attempt(lambda: os.getuid() >= 0) or attempt(lambda: bool(os.getgroups())) or told(libc),
        "tell who runs": any(attempt(lambda: ask(grader) >= 0) for ask in (os.getsid, os.getpgid)),
        "become root": attempt(lambda: os.setuid(0)),
        "new namespace": libc.unshare(0x10000000) == 0,
        "trace a process": libc.ptrace(16, os.getppid(), 0, 0) == 0,
        "load a kernel program": libc.syscall(321, 0, 0, 0) >= 0,
    }

def memory():
    return attempt(lambda: bool(bytearray(8 << 30)))
"""

HONEST = """
import math, random, statistics
import numpy as np

def honest():
    import threading, colorsys
    seen = []
    thread = threading.Thread(target=lambda: seen.append(1))
    thread.start(); thread.join()
    solved = np.linalg.solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 4.0]))
    return [float(solved.sum()), len(seen), math.sqrt(4.0), statistics.fmean([1, 3]), len(bytearray(64 << 20)) >> 20]
"""


def is_root(pid: int) -> bool:
    """True if a process has root's rights, as the system sees it."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    return re.search(r"^Uid:.*\b0\b", status, re.MULTILINE) is not None


def attempt(sandbox: Sandbox) -> Iterator[str]:
    """What is wrong with this sandbox, one sentence each; nothing if it holds."""
    with tempfile.TemporaryDirectory(prefix=f"{package.PREFIX}{os.getpid()}-") as name:
        folder = Path(name)
        folder.chmod(0o777)
        secret = folder / "secret.txt"
        secret.write_text("hidden", encoding="utf-8")
        secret.chmod(0o666)
        worker = sandbox.worker(memory=256 << 20, cpu=20)
        worker.limit(5.0, 10.0)
        try:
            cells = worker.exec([HONEST, HOSTILE])
            if cells != [None, None]:
                yield f"an ordinary cell does not run: {cells}"
                return
            answer = worker.call("honest")
            if answer != [2.0, 1, 2.0, 2.0, 64]:
                yield f"ordinary code does not run: {getattr(answer, 'message', answer)}"
            if worker.call("memory") is not False:
                yield "the limit of memory does not hold"
            if sandbox.level == "process":
                return  # it promises limits, no walls
            if is_root(worker._pid):
                yield "is root"
            tried = worker.call("attempts", str(secret), str(folder), os.getpid())
        finally:
            worker.close()
        if not isinstance(tried, dict) or not tried:
            yield f"the attempts to escape gave no result: {getattr(tried, 'message', tried)}"
            return
        for what, succeeded in tried.items():
            if succeeded is not False:
                yield f"could {what}"
