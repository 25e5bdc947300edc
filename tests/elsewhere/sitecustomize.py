"""Linux as another system looks to minigrad: what MINIGRAD_ELSEWHERE ("Windows" or "Darwin") lacks is not there.

Every Python that finds this folder on PYTHONPATH starts with it, processes that it starts too. Only minigrad's own modules
lack anything. The interpreter stays Linux's: paths have slashes, and open files can be removed.
"""

import builtins
import io
import multiprocessing.context
import os
import platform
import subprocess
import types
from collections.abc import Callable
from typing import Any

SYSTEM = os.environ.get("MINIGRAD_ELSEWHERE", "")
LINUX_ONLY = {
    "os": "pidfd_open sched_getaffinity unshare setns memfd_create prctl O_PATH O_TMPFILE",
    "socket": "SO_PASSCRED SCM_CREDENTIALS AF_NETLINK",
    "select": "epoll",
}
POSIX_ONLY = {
    "os": LINUX_ONLY["os"] + " fork forkpty execve execv geteuid getuid getgid setsid killpg getpgid wait4 waitid uname "
    "sysconf chown mkfifo WNOHANG WEXITED WIFSIGNALED WTERMSIG posix_spawn register_at_fork",
    "socket": LINUX_ONLY["socket"] + " AF_UNIX send_fds recv_fds CMSG_SPACE",
    "select": "epoll poll kqueue",
    "signal": "alarm setitimer SIGALRM SIGKILL SIGXCPU SIGHUP SIGSTOP pthread_sigmask sigwait",
    **dict.fromkeys(("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"), ""),
}
LACKING = {"Windows": POSIX_ONLY, "Darwin": LINUX_ONLY}.get(SYSTEM, {})


class Elsewhere(types.ModuleType):
    """A module without some of its names."""

    def __init__(self, module: types.ModuleType) -> None:
        super().__init__(module.__name__)
        vars(self).update(module=module, lacking=LACKING[module.__name__].split())

    def __getattr__(self, name: str) -> Any:
        if name == "name" and SYSTEM == "Windows":
            return "nt"
        if name in self.lacking:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(self.module, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.module, name, value)


def imported(name: str, globals: Any = None, *more: Any, **options: Any) -> Any:
    given = globals or {}
    ours = given.get("__name__", "").startswith("minigrad") or str(given.get("__file__", "")).endswith("zygote.py")
    if name not in LACKING or not ours:
        return known_import(name, globals, *more, **options)
    if not LACKING[name]:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return Elsewhere(known_import(name))


def without_proc(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(path: Any = ".", *arguments: Any, **options: Any) -> Any:
        if isinstance(path, str | os.PathLike) and str(path).startswith("/proc/"):
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return function(path, *arguments, **options)

    return call


class Popen(subprocess.Popen):  # type: ignore[type-arg]
    """On Windows a child inherits no descriptors. The sandbox's own process, which reads no site, is one of ours too."""

    def __init__(self, line: Any, *more: Any, **options: Any) -> None:
        if SYSTEM == "Windows" and options.get("pass_fds"):
            raise ValueError("pass_fds not supported on Windows.")
        if "-S" in line:
            at = next(i for i, word in enumerate(line) if word.endswith("zygote.py"))
            code = f"import runpy, sys; exec(open({__file__!r}).read()); del sys.argv[0]; sys.path.insert(0, '');"
            line = [*line[:at], "-c", code + "runpy.run_path(sys.argv[0], run_name='__main__')", *line[at:]]
            options["env"] = {**options["env"], "MINIGRAD_ELSEWHERE": SYSTEM}
        super().__init__(line, *more, **options)


if SYSTEM:
    platform.system = lambda: SYSTEM
    spawn = multiprocessing.context._concrete_contexts["spawn"]
    multiprocessing.context._default_context._actual_context = spawn
    if SYSTEM == "Windows":
        multiprocessing.context._concrete_contexts = {"spawn": spawn}
    else:
        for module, name in ((builtins, "open"), (io, "open"), (os, "stat"), (os, "open"), (os, "listdir"), (os, "scandir")):
            setattr(module, name, without_proc(getattr(module, name)))
    subprocess.Popen = Popen  # type: ignore[misc]
    known_import, builtins.__import__ = builtins.__import__, imported
