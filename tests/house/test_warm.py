"""Kernels that start warm: each is a process and a session of its own, as one that starts from nothing."""

import sys
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.connect import write_connection_file

from tests.warm import starter

LOOK = """import os, sys
print(os.getpid() == os.getsid(0), os.getcwd() == os.environ["HERE"], "minigrad" in sys.modules, "seen" in globals())
seen = True"""


@pytest.mark.slow
def test_a_warm_kernel_is_a_process_of_its_own_and_ends_when_told(tmp_path: Path) -> None:
    def refuse(*things: Any, **more: Any) -> None:
        raise AssertionError("not a kernel of ours")

    launch = starter(refuse)
    started = []
    for number in range(2):
        file, _ = write_connection_file(str(tmp_path / f"{number}.json"))
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", file]
        kernel = launch(command, cwd=str(tmp_path), env={"HERE": str(tmp_path)})
        client = BlockingKernelClient(connection_file=file)
        client.load_connection_file()
        client.start_channels()
        client.wait_for_ready(timeout=60)
        told: list[str] = []
        client.execute_interactive(LOOK, timeout=60, output_hook=lambda m: told.append(m["content"].get("text", "")))  # noqa: B023
        client.stop_channels()
        assert "".join(told) == "True True False False\n"
        assert kernel.poll() is None
        started.append(kernel)
    assert started[0].pid != started[1].pid
    started[0].kill()
    assert started[0].wait(10) == 0 and started[0].poll() == 0 and started[1].poll() is None
    started[1].terminate()
    assert started[1].wait(10) == 0
    with pytest.raises(AssertionError, match="not a kernel of ours"):
        launch(["julia"])
