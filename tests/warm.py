"""Kernels that start warm: one process has loaded what every kernel loads, and each kernel is a fork of it.

Run as a program, it loads the libraries (never minigrad, nor anything a notebook writes), then reads one line of JSON
for each kernel (its arguments, folder, environment) and answers with the number of the process. `starter()` is what
the tests put in the place of Jupyter's launcher. Each notebook still has a kernel, that is a process, of its own; how
a kernel starts from nothing is what the slow tests see, and anybody with `pytest --nbval`.
"""

import gc
import importlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

LIBRARIES = ("ipykernel.kernelapp", "ipykernel.zmqshell", "IPython.core.completer", "debugpy", "numpy",
             "matplotlib.backends.backend_agg", "matplotlib.figure", "matplotlib_inline.backend_inline",
             "anywidget", "ipywidgets")  # fmt: skip


class Kernel:
    """A kernel that is not our child, with the part of `subprocess.Popen` that Jupyter uses."""

    stdin = stdout = stderr = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.handle = os.pidfd_open(pid)

    def poll(self) -> int | None:
        return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        ended = self._ended(timeout)
        if ended is None:
            raise subprocess.TimeoutExpired("kernel", timeout or 0)
        return ended

    def _ended(self, timeout: float | None) -> int | None:
        """0 once it has ended (how, only its parent can know), None while it runs."""
        if self.handle >= 0 and select.select([self.handle], [], [], timeout)[0]:
            os.close(self.handle)
            self.handle = -1
        return 0 if self.handle < 0 else None

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            signal.pidfd_send_signal(self.handle, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


def starter(otherwise: Callable[..., Any]) -> Callable[..., Any]:
    """A launcher of kernels that forks them from one warm process, started with the first; `otherwise` starts others."""
    server: subprocess.Popen[str] | None = None

    def launch(cmd: list[str], cwd: str | None = None, env: dict[str, str] | None = None, **more: Any) -> Any:
        nonlocal server
        if cmd[1:3] != ["-m", "ipykernel_launcher"]:
            return otherwise(cmd, cwd=cwd, env=env, **more)
        if server is None or server.poll() is not None:
            quiet = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            server = subprocess.Popen([cmd[0], "-P", __file__], text=True, **quiet)  # type: ignore[call-overload]
        assert server.stdin and server.stdout
        wanted = {"arguments": cmd[3:], "folder": cwd or os.getcwd(), "environment": dict(env or os.environ)}
        print(json.dumps(wanted), file=server.stdin, flush=True)
        return Kernel(int(server.stdout.readline()))

    return launch


def main() -> None:
    """Load, then fork a kernel for each line, until the tests hang up."""
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")  # as each kernel does
    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # a kernel ends when this process does
    for name in LIBRARIES:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a kernel ended
    gc.collect()
    gc.freeze()
    while line := sys.stdin.readline():
        reading, writing = os.pipe()
        pid = os.fork()
        if not pid:
            os.setsid()
            os.write(writing, b"!")
            become_a_kernel(**json.loads(line))
        os.read(reading, 1)  # only when it is a session of its own: Jupyter ends whole groups
        os.close(reading)
        os.close(writing)
        print(pid, flush=True)


def become_a_kernel(arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environment, JPY_PARENT_PID=str(os.getppid()))
    os.chdir(folder)
    sys.argv = ["ipykernel_launcher", *arguments]
    from ipykernel import kernelapp

    kernelapp.launch_new_instance()
    sys.exit()


if __name__ == "__main__":
    main()
