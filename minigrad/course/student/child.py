"""Where a check runs the student's code: a forked child of this process, with limits, or a watched call.

The child is a copy, so whatever the student's code does to its variables happens to the copy; it may loop,
exit, recurse or eat memory, and the kernel lives. `examine` starts it, lets the judge talk to its `worker`,
and ends it. In the child `my_engine` is the parts of the solutions of the lessons before, and the student's file is out of
reach: an error in it costs nothing in a later check, and no part of it is the answer to its own exercise.

Where there is no fork (Windows), the code runs in this process and a watchdog raises an exception in it
when the time or the memory is up. That is less: there is no copy; one call into numpy that takes all memory at once,
or that never comes back, cannot be interrupted; os._exit() ends the kernel; and `my_engine` is the student's own: no part
of it counts as an answer, but an error in it can show in a later check. `minigrad doctor` says which of the two it is.
"""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import importlib.abc
import importlib.machinery
import linecache
import math
import os
import signal
import sys
import threading
import time
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import lessons, notebooks
from ..exercise import Exercise, Lesson, Outside
from ..judge.verdict import Verdict, judge
from . import lent, wire, worker
from .student import Local, Remote
from .wire import Failure
from .worker import ENGINE

__all__ = ["can_fork", "examine"]


PACKAGE = str(Path(__file__).parents[2])
WAIT = 2.5  # seconds that the answers may take by the clock, asleep or computing; what runs on this long is endless
PATIENCE = 30  # the same, with all that it stood in line for a processor on a machine that is busy with other things


def can_fork() -> bool:
    """True where checks run in a forked child."""
    return hasattr(os, "fork") and sys.platform != "emscripten"


def examine(exercise: Exercise, namespace: dict[str, Any], seed: int = 0) -> Verdict:
    """Judge what a namespace holds, within the exercise's limits. The namespace is left as it was."""
    if not can_fork():
        return judge(exercise, Watched(namespace, WAIT, exercise.memory), seed)
    for engine in lent.engines(exercise, namespace):
        child = Child(exercise, namespace, engine)
        try:
            verdict = judge(exercise, child.student, seed)
        finally:
            child.end()
        if os.waitstatus_to_exitcode(child.status) != lent.ASKED:
            break
    return verdict


class Child:
    """A forked copy of this process that serves one namespace, in which `engine` gives what `my_engine` is."""

    def __init__(self, exercise: Exercise, namespace: dict[str, Any], engine: lent.Engine) -> None:
        self.limit = exercise.seconds
        self.ended = False
        self.status = 0
        self.cpu = 0.0
        requests, to_child = os.pipe()
        from_child, replies = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # "fork in a process with threads": the child uses none
            self.pid = os.fork()
        if self.pid == 0:
            serve_and_exit(exercise, namespace, engine, requests, replies)
        os.close(requests)
        os.close(replies)
        self.pipes = (from_child, to_child)
        self.queued, self.born = 0.0, time.monotonic()
        self.student = Remote(from_child, to_child, seconds=WAIT, cause=self.cause, more=self.stood_in_line)

    def stood_in_line(self) -> float:
        """The seconds that it waited for a processor since this was last asked; 0 when they are hardly any."""
        before, self.queued = self.queued, queued(self.pid)
        late = time.monotonic() > self.born + PATIENCE
        return 0.0 if late or self.queued < before + 0.01 else self.queued - before

    def end(self) -> None:
        """Kill the child and all it started; collect its status."""
        if self.ended:
            return
        self.ended = True
        for descriptor in self.pipes:
            os.close(descriptor)
        for kill, target in ((os.killpg, self.pid), (os.kill, self.pid)):
            try:
                kill(target, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue  # it has gone already, or had not made its group yet
        _, self.status, usage = os.wait4(self.pid, 0)
        self.cpu = usage.ru_utime + usage.ru_stime

    def cause(self, error: wire.WireError) -> Failure:
        """Why the child is lost; it is ended here."""
        if isinstance(error, wire.Closed):
            time.sleep(0.01)  # let a process that is exiting finish, so that its own status is seen
        self.end()
        number = os.WTERMSIG(self.status) if os.WIFSIGNALED(self.status) else 0
        if number == signal.SIGXCPU or self.cpu >= (0.5 if isinstance(error, wire.TooLate) else 0.95) * self.limit:
            return Failure("timeout")
        if isinstance(error, wire.TooLate):
            return Failure("timeout", message=f"waited {WAIT:g} s for an answer")
        if not isinstance(error, wire.Closed):
            return Failure("protocol", message=f"({error})")
        if number and number != signal.SIGKILL:
            return Failure("killed", message=f"It crashed (signal {number}): a recursion without an end does this.")
        return Failure("killed", message="Is there a call of os._exit(), or does it use up all memory?")


def serve_and_exit(exercise: Exercise, namespace: dict[str, Any], engine: lent.Engine, requests: int, replies: int) -> None:
    """The child's whole life; never returns."""
    try:
        os.setsid()
        low, high = sorted((requests, replies))
        for start, end in ((3, low), (low + 1, high), (high + 1, most_open())):
            os.closerange(start, end)  # the kernel's own lines to the front end among them: nobody here writes there
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nowhere, standard)
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGXCPU):
            signal.signal(number, signal.SIG_DFL)
        signal.alarm(2 * PATIENCE)  # an orphan that sleeps ends too
        gc.disable()
        faulthandler.disable()  # a crash of the child is reported on the card
        sys.settrace(None)
        if exercise.kind in ("function", "program"):
            theirs = exercise.with_engine or lessons.lesson(exercise.lesson).with_engine
            leave_libraries_out(namespace, engine=not theirs)
        limit(exercise)
        lent.lend(namespace, engine)
        leave_the_answers_out(namespace)
        worker.serve(requests, replies, namespace)
    finally:
        os._exit(0)


def most_open() -> int:
    """One more than the highest descriptor that can be open here."""
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 65536 if soft == resource.RLIM_INFINITY else min(soft, 1 << 20)


def leave_libraries_out(namespace: dict[str, Any], *, engine: bool) -> None:
    """In the child, as at hand-in: no check has PyTorch, and lessons that ask for a piece of engine have no engine.

    What is imported or stands in the namespace refuses by name; what was kept elsewhere computes, and gives nothing out.
    """
    banned = ("torch", "minigrad", *LIKE_THEM) if engine else ("torch", *LIKE_THEM)
    said = "PyTorch and minigrad are" if engine else "PyTorch is"
    ask = "write it with Python and numpy" if engine else "minigrad is there"
    refuse = Refusal(banned, f"{said} switched off while this exercise is checked, as at hand-in: {ask}")
    sys.meta_path.insert(0, refuse)
    sys.addaudithook(refuse.heard)
    tape: Any = sys.modules["minigrad.tape"]
    for key, module in [(key, module) for key, module in sys.modules.items() if is_of(key, banned)]:
        if isinstance(tensor := getattr(module, "Tensor", None), type):
            for way_out in ("numpy", "item", "tolist", "detach", "backward", "__array__", "__float__"):
                setattr(tensor, way_out, refuse.function)
        del sys.modules[key]
    stand_ins = {name: vars(importlib.import_module(name)) for name in ("torch", "minigrad") if name in banned}
    if engine:
        tape.choose(type("Refused", (tape.Walk,), {"started": staticmethod(refuse.function)}))
        stand_ins["minigrad"]["course"] = sys.modules["minigrad.course"]
    for name, thing in list(namespace.items()):
        if isinstance(thing, types.ModuleType):
            namespace[name] = refuse.create_module(thing) if is_of(thing.__name__, banned) else thing
        elif isinstance(thing, types.FunctionType | types.BuiltinFunctionType) and is_of(thing.__module__, banned):
            namespace[name] = refuse.function


def is_of(name: str | None, libraries: tuple[str, ...]) -> bool:
    """True for a module of one of these libraries; the course is no part of the engine."""
    parts = (name or "").split(".")
    return ".".join(parts[:3]) in libraries or (parts[0] in libraries and parts[1:2] != ["course"])


def of_a_lesson(path: Any) -> bool:
    """True for a file in which answers are written: a text of the course, or an engine."""
    whole = os.path.realpath(os.fsdecode(path)) if isinstance(path, str | bytes | os.PathLike) else ""
    return whole.startswith(TEXTS) or os.path.basename(whole).startswith(ENGINE)


LIKE_THEM = ("autograd", "jax", "tensorflow", "mygrad", "micrograd", "tinygrad")  # libraries that differentiate
WRITTEN_IN = (Path(lessons.__file__).parent, notebooks.course_root() / "solutions")  # where the answers are written
TEXTS = tuple(os.path.realpath(folder) + os.sep for folder in WRITTEN_IN)
STARTS = {"subprocess.Popen", "os.system", "os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "pty.spawn"}


class Refusal(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules that can be imported and in which nothing can be used."""

    def __init__(self, banned: tuple[str, ...], words: str) -> None:
        self.banned, self.words = banned, words

    def function(self, *args: Any, **options: Any) -> Any:
        raise RuntimeError(self.words)

    def heard(self, event: str, what: tuple[Any, ...]) -> None:
        """Python tells of each import and of each program that is started: neither is a way round."""
        if event == "import" and is_of(what[0], self.banned) and self not in sys.meta_path:
            raise RuntimeError(self.words)
        if event in ("open", "os.link", "os.rename") and lessons.__name__ in self.banned and of_a_lesson(what[0]):
            raise PermissionError(self.words)
        if event in STARTS:
            raise RuntimeError("No other program can be started while an exercise is checked: the answer is computed here")

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if is_of(name, self.banned) else None

    def create_module(self, spec: Any) -> types.ModuleType:
        module = types.ModuleType(spec.__name__ if isinstance(spec, types.ModuleType) else spec.name)
        vars(module)["__getattr__"] = lambda name: self.refused(name)
        return module

    def refused(self, name: str) -> Any:
        """What a module answers for a name in it: Python itself may ask for one with underscores."""
        if name.startswith("__"):
            raise AttributeError(name)
        raise RuntimeError(self.words)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def leave_the_answers_out(namespace: dict[str, Any]) -> None:
    """In the child: the declarations of the exercises, oracles included, cannot be imported, as at hand-in, nor found in
    what is in memory: this is a copy, and nobody asks it for them."""
    home = (lessons.__name__,)
    refuse = Refusal(home, "The answers of the course are not there while an exercise is checked, as at hand-in")
    sys.meta_path.insert(0, refuse)
    sys.addaudithook(refuse.heard)
    for name in [name for name in linecache.cache if name.startswith(TEXTS) or ENGINE in name]:
        del linecache.cache[name]  # the lines that a traceback through an answer shows
    for name in [name for name in sys.modules if is_of(name, home)]:
        for thing in vars(sys.modules.pop(name)).values():
            for section in thing.sections if isinstance(thing, Lesson) else ():
                vars(section).clear()
            for each in thing.exercises if isinstance(thing, Lesson) else ():
                for part in (each, *each.one_of):
                    for hidden in ("oracle", "probes", "right", "alternatives", "wrong", "worked"):
                        object.__setattr__(part, hidden, refuse.function if callable(getattr(part, hidden)) else None)
    importlib.import_module(home[0])
    for name, thing in list(namespace.items()):
        if isinstance(thing, types.ModuleType) and is_of(thing.__name__, home):
            namespace[name] = refuse.create_module(thing)


def limit(exercise: Exercise) -> None:
    """CPU time and memory of this process, from now on."""
    import resource

    seconds = math.ceil(exercise.seconds)
    for kind, soft, hard in (
        (resource.RLIMIT_CPU, seconds, seconds + 1),
        (resource.RLIMIT_CORE, 0, 0),
        *([(resource.RLIMIT_AS, *[in_use() + (exercise.memory << 20)] * 2)] if in_use() else []),
    ):
        ceiling = resource.getrlimit(kind)[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(kind, (soft, hard))


def in_use() -> int:
    """Bytes of address space this process has now; 0 where the system does not tell."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return 0
    return int(statm.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def queued(pid: int) -> float:
    """Seconds that a process was ready and had no processor; 0 where the system does not tell."""
    schedule = Path(f"/proc/{pid}/schedstat")
    return int(schedule.read_text().split()[1]) / 1e9 if schedule.exists() else 0.0


class TimeIsUp(BaseException):
    """Raised inside the student's code by the watchdog."""


class MemoryIsUp(BaseException):
    """The same, when it has taken too much."""


class Watched(Local):
    """The student's code in this process; a watchdog interrupts it when the time or the memory is up.

    Args:
        namespace: the student's own, not a copy.
        seconds: for all that is asked.
        memory: megabytes that the process may grow by; watched where `psutil` is installed (Jupyter brings it).
    """

    def __init__(self, namespace: dict[str, Any], seconds: float, memory: int = 512) -> None:
        super().__init__(namespace)
        self.deadline = time.monotonic() + seconds
        self.ceiling = used() + (memory << 20)
        self.dead: Failure | None = None

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return self.timed(lambda: super(Watched, self).call(name, *args, **kwargs))

    def run(self, code: str, data: dict[str, Any], prelude: str = "", outside: Outside | None = None) -> Any:
        return self.timed(lambda: super(Watched, self).run(code, data, prelude, outside))

    def vary(self, names: list[str]) -> None:
        """Not here: what a change leaves behind would stay."""

    def timed(self, action: Callable[[], Any]) -> Any:
        """The action's result, or a timeout for it and for everything after it."""
        if time.monotonic() >= self.deadline:
            self.dead = self.dead or Failure("timeout")
        if self.dead:
            return self.dead
        over, before = threading.Event(), sys.gettrace()
        try:
            try:
                threading.Thread(target=self.watch, args=(over, threading.get_ident()), daemon=True).start()
            except RuntimeError:  # a browser has one thread only
                sys.settrace(self.trace)
            result = action()
        except (TimeIsUp, MemoryIsUp) as error:
            result = Failure("raised", type(error).__name__)
        finally:
            sys.settrace(before)
            over.set()
        if isinstance(result, Failure) and result.type in ("TimeIsUp", "MemoryIsUp"):
            self.dead = result = Failure("timeout" if result.type == "TimeIsUp" else "memory")
        return result

    def trace(self, frame: types.FrameType, event: str, what: Any) -> Any:
        """Interrupt this thread at the deadline: asked at each line of the student's code, and at each call in a library."""
        if time.monotonic() >= self.deadline:
            raise TimeIsUp
        file = frame.f_code.co_filename
        return None if file.startswith(PACKAGE) or "site-packages" in file else self.trace

    def watch(self, over: threading.Event, thread: int) -> None:
        """Interrupt the thread at the deadline or when it has taken too much, again and again until it is over."""
        while not over.wait(min(0.02, max(0.0, self.deadline - time.monotonic()))):
            late = time.monotonic() >= self.deadline
            if late or used() > self.ceiling:
                kind = TimeIsUp if late else MemoryIsUp
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(kind))
                over.wait(0.5)


def used() -> int:
    """Bytes of address space this process has now, on any system; 0 where nothing tells."""
    try:
        import psutil  # type: ignore[import-untyped]
    except ImportError:
        return in_use()
    return int(psutil.Process().memory_info().vms)
