"""The process that is forked for each submission: Python and numpy are loaded once, a worker costs two milliseconds.

It runs inside the walls that it builds around itself (`confine.py`), knows no exercise and no other
student, and talks to the grader over one socket: "fork a worker on this connection with these limits", and,
when the worker is gone, how it went. The worker gets a few walls more, says "+" and then serves the
student's code (`worker.py`). When the grader goes away, everything here dies.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import random
import select
import signal
import socket
import sys
import sysconfig
from typing import Any, NoReturn

# What an honest cell may import when the standard library cannot be reached after root is left behind.
_STANDARD = (
    "abc array ast asyncio base64 bisect calendar cmath collections.abc colorsys concurrent.futures.process"
    " concurrent.futures.thread contextlib contextvars copy csv ctypes.util dataclasses datetime decimal"
    " difflib dis doctest email.message enum fnmatch fractions functools getpass glob graphlib hashlib heapq"
    " hmac html importlib.metadata importlib.resources importlib.util inspect io itertools json keyword"
    " linecache locale logging.handlers math multiprocessing.pool numbers operator os pathlib pickle platform"
    " pprint queue random re reprlib sched secrets shelve shutil socket sqlite3 statistics string struct"
    " subprocess symtable sysconfig tempfile textwrap threading time timeit token tokenize tomllib traceback"
    " types typing unicodedata unittest.mock urllib.request uuid warnings wave weakref xml.etree.ElementTree"
    " zipfile zlib zoneinfo"
)
_CODECS = "encodings.ascii encodings.latin_1 encodings.utf_8 encodings.idna"
_NUMPY = "numpy numpy.random numpy.linalg numpy.fft numpy.polynomial numpy.testing numpy.lib.stride_tricks"
_ENGINE = "minigrad minigrad.nn minigrad.nn.functional minigrad.optim minigrad.autograd minigrad.autograd.functional"
_ENGINE += " minigrad.record.bugs"
_NEW_SINCE = 256  # threads that a teacher's own programs may start while a class is graded
_SKIPPED = {"site-packages", "dist-packages", "test", "idlelib", "ensurepip", "turtledemo", "tkinter", "__pycache__"}


def main(descriptor: int) -> None:
    """Read the settings, build the walls, answer requests until the grader hangs up."""
    control = socket.socket(fileno=descriptor)
    settings = json.loads(control.recv(65536))
    from minigrad.course.grading import cells, confine

    preload(settings)
    cells.rehearse()
    global in_use, others
    in_use = confine.address_space()
    if settings["level"] != "namespace" and not settings["leave_root"]:
        others = confine.threads_of_this_user() + _NEW_SINCE
    try:
        build_walls(confine, settings)
    except OSError as error:
        send(control, {"ready": False, "why": f"{error.strerror or error}"})
        return
    if settings["level"] != "process":
        neutral()
        confine.forget_ids()
    gc.collect()
    gc.freeze()
    send(control, {"ready": True})
    serve(cells, confine, control, settings["level"])


def preload(settings: dict[str, Any]) -> None:
    """Import what every worker will need, with the same random numbers in each."""
    engine = _ENGINE.split() if settings["with_engine"] else []
    names = [*_CODECS.split(), *_NUMPY.split(), *engine, "minigrad.course.student.worker"]
    if settings["leave_root"] and not reachable(sysconfig.get_path("stdlib")):
        names += _STANDARD.split()
    for name in names:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            # Pythons are built with and without some parts; only the worker cannot do without numpy and itself.
            if name in ("numpy", "minigrad", "minigrad.course.student.worker") or error.name == "minigrad.course.student.wire":
                raise


def neutral() -> None:
    """What Python says about this machine is the same everywhere; the system call behind it is refused."""
    machine = os.uname().machine
    known = os.uname_result(("Linux", "sandbox", "0", "0", machine))
    for module, name, answer in (("os", "uname", known), ("posix", "uname", known), ("socket", "gethostname", "sandbox"),
                                 ("_socket", "gethostname", "sandbox")):  # fmt: skip
        setattr(sys.modules[module], name, lambda answer=answer: answer)
    if "platform" in sys.modules:
        sys.modules["platform"]._uname_cache = None  # type: ignore[attr-defined]


def seed() -> None:
    """The same random numbers for every student, on every day."""
    random.seed(0)
    sys.modules["numpy"].random.seed(0)
    if "minigrad.ops.random" in sys.modules:
        sys.modules["minigrad.ops.random"].manual_seed(0)


def reachable(path: str) -> bool:
    """True if any user may enter every folder on the way to `path`."""
    while path != "/":
        if not os.stat(path).st_mode & 0o001:
            return False
        path = os.path.dirname(path)
    return True


def build_walls(confine: Any, settings: dict[str, Any]) -> None:
    """Everything that can be forbidden once for all workers."""
    level, uid = settings["level"], settings["leave_root"]
    if level == "process":
        if sys.platform == "linux":
            confine.prctl(confine.PR_SET_CHILD_SUBREAPER, 1)
        if uid:
            confine.leave_root(uid)
        return
    standard, site = sysconfig.get_path("stdlib"), settings["site"]
    readable = visible(standard, site)
    if level == "namespace":
        proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        # Root arranges the view before leaving; another user may do so only in a user namespace of their own.
        if uid:
            confine.unshare(confine.CLONE_NEWNS)
            confine.private_root(readable)
            confine.leave_root(uid)
            confine.new_world(proc)
        else:
            confine.new_world(proc, confine.CLONE_NEWNS)
            confine.private_root(readable)
        first = os.fork()  # the first process of the new process namespace is the zygote from here on
        if first:
            os.closerange(3, 4096)
            os._exit(os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]) & 0xFF)
        confine.prctl(confine.PR_SET_PDEATHSIG, signal.SIGKILL)
        global own_processes
        own_processes = os.open("self/ns/pid", os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
        os.close(proc)
    # Opened while we still may: a descriptor stands for its file whoever we are later.
    opened = [os.open(path, os.O_PATH | os.O_CLOEXEC) for path in readable]
    listable = [os.open(path, os.O_PATH | os.O_CLOEXEC) for path in (standard, site)]
    if level == "landlock" and uid:
        confine.leave_root(uid)
    confine.landlock(opened, listable)
    for descriptor in (*opened, *listable):
        os.close(descriptor)
    confine.prctl(confine.PR_SET_DUMPABLE, 0)
    confine.filter_code()


own_processes = -1
others = 0  # threads that this user has already, where the limit counts them too
in_use = 0  # bytes that Python and numpy take before a student's first line


def visible(standard: str, site: str) -> list[str]:
    """The files a worker may read: the standard library without its site-packages, numpy, and what is loaded."""
    found = [os.path.join(standard, name) for name in sorted(os.listdir(standard)) if name not in _SKIPPED]
    found += [site, os.path.dirname(sys.modules["numpy"].__file__ or "")]
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        mapped = {line.split(None, 5)[5].strip() for line in file if line.count("/")}
    libraries = sorted(path for path in mapped if path.startswith("/") and os.path.isfile(path))
    folders = [os.path.realpath(path) for path in found]
    inside = tuple(folder + "/" for folder in folders)
    return folders + [path for path in libraries if not path.startswith(inside)]


def serve(cells: Any, confine: Any, control: socket.socket, level: str) -> None:
    """One worker at a time, until the grader hangs up."""
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 65536, 1)
        if not message:
            return
        request = json.loads(message)
        if level == "namespace":
            confine.unshare(confine.CLONE_NEWPID)
        pid = os.fork()
        if pid == 0:
            live(cells, confine, descriptors[0], request, level)
        os.close(descriptors[0])
        if level == "namespace":
            confine.join(own_processes, confine.CLONE_NEWPID)
        status = outlive(control, pid)
        if level == "process":
            sweep()
        if status is None:
            return
        send(control, {"status": status})


def live(cells: Any, confine: Any, descriptor: int, request: dict[str, Any], level: str) -> NoReturn:
    """The life of one worker, from its last walls to its end."""
    code = 70
    try:
        os.setsid()
        os.dup2(descriptor, 3)
        os.closerange(4, 65536)
        limits = request["limits"]
        more = {"memory": in_use + limits["memory"], "processes": others + limits["processes"]}
        confine.limits(**limits | more)
        if level != "process":
            confine.prctl(confine.PR_SET_PDEATHSIG, signal.SIGKILL)
            if level == "namespace":
                confine.drop_capabilities()
            confine.landlock_alone()
            confine.seccomp()
        os.dup2(0, 2)
        seed()  # Python gives a forked process random numbers of its own
        os.write(3, b"+")
        cells.worker.serve(3, 3, server=cells.Notebook())
        code = 0
    except OSError as error:
        os.write(3, f"-{error.strerror or error}".encode())
    finally:
        os._exit(code)


def outlive(control: socket.socket, pid: int) -> int | None:
    """Wait for the worker's end, or end it when the grader says so. The status is None when the grader is gone.

    However it ends, the grader says "k" exactly once for each worker.
    """
    if hasattr(os, "pidfd_open"):
        watched = os.pidfd_open(pid)
        asked = watched not in select.select([watched, control.fileno()], [], [])[0]
        os.close(watched)
    else:
        asked = False
        while not asked and os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            asked = bool(select.select([control], [], [], 0.005)[0])
    if asked:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return status if control.recv(1) else None


def sweep() -> None:
    """Kill whatever a worker of the level "process" left behind: as subreaper we inherited it."""
    children = f"/proc/self/task/{os.getpid()}/children"
    while os.path.exists(children):
        with open(children, encoding="ascii") as file:
            orphans = [int(word) for word in file.read().split()]
        if not orphans:
            return
        for pid in orphans:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def send(control: socket.socket, message: dict[str, Any]) -> None:
    """One line of JSON."""
    control.sendall(json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[2])
    main(int(sys.argv[1]))
