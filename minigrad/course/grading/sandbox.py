"""The grader's side of the sandbox: start it, get a worker for a submission, ask it, end it.

A `Sandbox` owns one zygote (`zygote.py`) at one level of isolation. `sandbox.worker(...)` forks a worker
for one submission in about two milliseconds. A `Worker` answers requests as `worker.py` describes them,
each within a budget of processor time and a longer one of wall clock; whatever breaks the rules ends the
worker, never the grader. If the sandbox itself does not come up, `Unavailable` says so, and nobody is
graded for that.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import platform
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from minigrad.course.grading import LEVELS, escape, package
from minigrad.course.student import wire
from minigrad.course.student.student import WALL, Remote, failure_from
from minigrad.course.student.wire import Failure

THREADS, FILES = 64, 64
STANDSTILL = 0.5  # seconds by which no wait of ours is late unless we did not run
_START_SECONDS = 60.0
_NO_BOUNDARY = "not a security boundary: student code could read and delete your files (--trust-students if you accept that)"
_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",  # the order of a set must not depend on the day
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "LC_ALL": "C.UTF-8",
    "MINIGRAD_DISPLAY": "static",
}


class Unavailable(RuntimeError):
    """The sandbox did not come up: no verdict about anybody follows from that."""


class Spent(wire.TooLate):
    """The processor time is used up, whatever the clock says."""


class Sandbox:
    """One zygote at one level, with the folder that `package.build` made; `with_engine` loads the engine before forking."""

    def __init__(self, level: str, site: Path, *, with_engine: bool = False) -> None:
        if level not in LEVELS:
            raise ValueError(f"no isolation level {level!r}; there are {', '.join(LEVELS)}")
        self.level, self.site, self.with_engine = level, site, with_engine
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._log: Any = None
        self._owed = False  # a report on the worker that was ended last

    def start(self) -> None:
        """Start the zygote; nothing to do if it runs. Unavailable if it cannot."""
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        self._control, theirs = socket.socketpair()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        program = str(self.site / "minigrad" / "course" / "grading" / "zygote.py")
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-s", "-P", "-S", "-B", program, str(theirs.fileno()), str(self.site)],
                pass_fds=[theirs.fileno()], env=_ENVIRONMENT, cwd="/", start_new_session=True, umask=0o022,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self._log,
            )  # fmt: skip
        settings = {
            "level": self.level,
            "site": str(self.site),
            "with_engine": self.with_engine,
            "leave_root": unmapped_user() if hasattr(os, "geteuid") and os.geteuid() == 0 else 0,
        }
        try:
            self._control.sendall(json.dumps(settings).encode())
            answer = self._line(_START_SECONDS)
        except OSError:
            answer = None  # it was gone before it could say why; its last words may
        if answer is None or not answer.get("ready"):
            why = answer.get("why") if answer else self._last_words()
            self.close()
            raise Unavailable(f"the sandbox ({self.level}) could not start: {why}")

    def worker(self, *, memory: int, cpu: int, wall: float = 60.0) -> Worker:
        """A fresh worker, or Unavailable: bytes beyond Python itself, seconds of processor over its whole life."""
        self.how_it_ended()
        self.start()
        assert self._control is not None
        ours, theirs = socket.socketpair()
        if hasattr(socket, "SO_PASSCRED"):
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        request = {"limits": {"memory": memory, "cpu": cpu, "processes": THREADS, "files": FILES}}
        try:
            with theirs:
                socket.send_fds(self._control, [json.dumps(request).encode()], [theirs.fileno()])
            return Worker(self, ours, _greeting(ours, time.monotonic() + wall))
        except (OSError, wire.WireError) as error:
            ours.close()
            why = self._last_words()
            self.close()
            raise Unavailable(f"the sandbox ({self.level}) gave no worker: {why or error}") from error

    def end_worker(self) -> None:
        """Kill the worker if it lives; the zygote clears away while the grader goes on."""
        assert self._control is not None
        try:
            self._control.sendall(b"k")
            self._owed = True
        except OSError:
            self.close()

    def how_it_ended(self) -> int:
        """The status (as of wait) of the worker that was ended last; 0 if nobody can tell any more."""
        report = None
        if self._owed:
            self._owed = False
            with contextlib.suppress(OSError):  # the zygote is gone: the same as silence
                report = self._line(10.0)
            if report is None:
                self.close()
        return int(report["status"]) if report else 0

    def _line(self, seconds: float) -> dict[str, Any] | None:
        """One line of the zygote (which is ours, so JSON is JSON); None if it is gone or silent."""
        assert self._control is not None
        deadline, text = time.monotonic() + seconds, b""
        while not text.endswith(b"\n"):
            if not select.select([self._control], [], [], max(0.0, deadline - time.monotonic()))[0]:
                return None
            piece = self._control.recv(4096)
            if not piece:
                return None
            text += piece
        answer: dict[str, Any] = json.loads(text)
        return answer

    def _last_words(self) -> str:
        if self._log is None or self._log.closed:
            return ""
        self._log.seek(0)
        lines = self._log.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else ""

    def close(self) -> None:
        """End the zygote and all that it made. Safe to call twice."""
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            try:
                self._process.wait(2.0)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._log is not None:
            self._log.close()
        self._process = self._control = self._log = None
        self._owed = False


class Worker(Remote):
    """One submission's process: a `Remote` that watches processor time too. After a lost reply it is `dead`."""

    def __init__(self, sandbox: Sandbox, connection: socket.socket, pid: int) -> None:
        self.sandbox, self._connection, self._pid = sandbox, connection, pid
        self._ended = self.varies = False
        self.failure: Failure | None = None
        self._until = self._seconds = self._waited = self._stood_still = 0.0
        self._born = time.monotonic()
        super().__init__(connection.fileno(), connection.fileno(), seconds=0.0, cause=self._cause)

    def limit(self, cpu: float, wall: float) -> None:
        """From now on: `cpu` seconds of processor time, and `wall` seconds whatever happens."""
        self.allow(wall)
        self.judging = time.process_time()
        self._until, self._seconds = self.cpu_seconds() + cpu, cpu
        self._waited = self.waited()

    def exec(self, cells: list[str], **options: Any) -> list[Failure | None] | Failure:
        """Run cells; see `cells.Notebook.exec`."""
        results = self.ask("exec", cells, **options)
        if isinstance(results, Failure):
            return results
        if type(results) is not list or len(results) != len(cells):
            return self.lost(wire.WireError("a reply that is not one result for each cell"))
        try:
            return [None if result is None else failure_from(result) for result in results]
        except wire.WireError as error:
            return self.lost(error)

    def vary(self, names: list[str]) -> Any:
        """Only where it counts for nothing: one process serves all exercises of a notebook; a change leaves things behind."""
        return super().vary(names) if self.varies else None

    def ask(self, do: str, *args: Any, **kwargs: Any) -> Any:
        """One request and its reply; `failure` remembers the last thing that was raised."""
        reply = super().ask(do, *args, **kwargs)
        if isinstance(reply, Failure):
            self.failure = reply
            # Whoever touches files, processes or the network hears it from the system, as some kind of OSError.
            if "OSError" in reply.bases and reply.message.startswith("[Errno"):
                return Failure("forbidden", message=f"{reply.text or 'It'}: {reply.message}", line=reply.line)
        return reply

    def await_reply(self) -> None:
        """Until the reply begins. TooLate when the processor time or the clock runs out."""
        poll = select.poll()
        poll.register(self._connection.fileno(), select.POLLIN)
        pause = 0.02
        while True:
            begun = time.monotonic()
            ready = poll.poll(1000 * max(0.0, min(pause, self.deadline - begun)))
            stood_still = time.monotonic() - begun - pause
            if stood_still > STANDSTILL:  # it was us: somebody stopped the command and let it go on
                self.deadline += stood_still
                self._stood_still += stood_still
            if ready:
                return
            if self.cpu_seconds() >= self._until:
                raise Spent("the processor time is used up")
            now = time.monotonic()
            if now >= self.deadline:
                # On a busy machine who is ready and has no processor gets more of the clock; who sleeps does not.
                before, self._waited = self._waited, self.waited()
                if self._waited < before + 0.01:
                    raise wire.TooLate("no answer in time")
                self.allow(self._waited - before)
            pause = min(2 * pause, 0.1)

    def held(self) -> float:
        """Seconds that it lived so far, without those for which it was ready and had no processor."""
        return time.monotonic() - self._born - self.waited() - self._stood_still

    def waited(self) -> float:
        """Seconds that it was ready and had no processor; 0 where the system does not say."""
        try:
            tasks = itertools.islice(Path(f"/proc/{self._pid}/task").iterdir(), THREADS) if self._pid > 0 else ()
            waits = (int((task / "schedstat").read_text(encoding="ascii").split()[1]) for task in tasks)
            return max(waits, default=0) / 1e9
        except (OSError, LookupError, ValueError):
            return 0.0

    def cpu_seconds(self) -> float:
        """Processor time that the worker has used; 0 where the system does not say."""
        if self._pid <= 0:
            return 0.0
        try:
            return time.clock_gettime((~self._pid << 3) | 2)  # how Linux numbers the clock of another process
        except OSError:
            return 0.0

    def _cause(self, error: wire.WireError) -> Failure:
        """End the worker, and say why it is gone."""
        self.close()
        if isinstance(error, Spent):
            return Failure("timeout")
        if isinstance(error, wire.TooLate):
            return Failure("timeout", message=f"waited {WALL * self._seconds:.1f} s for an answer")
        if not isinstance(error, wire.Closed):
            return Failure("protocol", message=str(error))
        status = self.sandbox.how_it_ended()
        if not os.WIFSIGNALED(status):
            code = os.waitstatus_to_exitcode(status)
            return Failure("killed", message=f"the process ended itself with exit code {code}")
        name = signal.Signals(os.WTERMSIG(status)).name
        if name == "SIGXCPU":
            return Failure("timeout")
        return Failure("killed", message=f"the process was ended by {name}")

    def close(self) -> None:
        """End the worker, whatever it is doing. Safe to call twice."""
        if not self._ended:
            self._ended = True
            self.sandbox.end_worker()
            self._connection.close()
            self.dead = self.dead or Failure("killed", message="the process is gone")


def _greeting(connection: socket.socket, deadline: float) -> int:
    """Wait for the worker's "+", said after its last wall is up; its process id as we see it (0: unknown)."""
    if not select.select([connection], [], [], max(0.0, deadline - time.monotonic()))[0]:
        raise wire.TooLate("the worker does not come up")
    space = socket.CMSG_SPACE(12) if hasattr(socket, "CMSG_SPACE") else 0
    greeting, extra, _, _ = connection.recvmsg(200, space)
    if greeting != b"+":
        raise wire.Closed(greeting[1:].decode("utf-8", "replace") or "the worker did not come up")
    for layer, kind, data in extra:
        if layer == socket.SOL_SOCKET and kind == getattr(socket, "SCM_CREDENTIALS", -1):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
            return int(struct.unpack("=iII", data[:12])[0])
    return 0


def unmapped_user() -> int:
    """A user id that nobody on this machine has; another one for each grading process."""
    import pwd

    taken = {entry.pw_uid for entry in pwd.getpwall()}
    first = 61_200 + os.getpid() % 3_000
    return next(uid for uid in range(first, first + 5_000) if uid not in taken)


# ------------------------------------------------------------------ choosing a level


@functools.cache
def problems(level: str) -> tuple[str, ...]:
    """What is wrong with a level on this machine: empty if its self-test could not escape."""
    if os.name != "posix":
        return (f"{level} needs a POSIX system: on Windows grade inside WSL2",)
    if platform.system() != "Linux" and level != "process":
        return (f"{level} needs Linux",)
    try:
        package.tidy_up()
        with tempfile.TemporaryDirectory(prefix=f"{package.PREFIX}{os.getpid()}-", ignore_cleanup_errors=True) as folder:
            site = package.build(Path(folder), frozenset({"engine"}))
            with contextlib.closing(Sandbox(level, site)) as sandbox:
                return tuple(escape.attempt(sandbox))
    except Unavailable as error:
        return (str(error),)
    except OSError as error:
        return (package.no_room(error),)


def choose(wanted: str = "auto", *, trust_students: bool = False) -> str:
    """The level to use: the wanted one, or the strongest that holds. Unavailable if it does not hold."""
    reasons = []
    for level in LEVELS if wanted == "auto" else (wanted,):
        found = problems(level)
        if not found and (level != "process" or trust_students):
            return level
        reasons.append(f"{level}: {'; '.join(found) or _NO_BOUNDARY}")
    raise Unavailable("\n".join(reasons))
