"""`minigrad lab` as one sees it in a terminal: what it says, when it says it, and how it ends."""

import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from minigrad.course.commands import cli, lab, lookup

MINIGRAD = [sys.executable, "-m", "minigrad.course.commands.cli"]
NOTES = ("You are root", "No browser can be opened")  # one sentence each, where they are true
ADDRESS = re.compile(r"http://\S+")


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, arguments: list[str], folder: Path) -> None:
        import pty

        ours, theirs = pty.openpty()
        self.screen, self.shown = ours, ""
        self.process = subprocess.Popen(
            [*MINIGRAD, *arguments], cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(theirs)

    def read(self, until: str = "", seconds: float = 60) -> str:
        """All that was shown up to a pattern, or to the end."""
        deadline = time.monotonic() + seconds
        while not (until and re.search(until, self.shown)):
            assert time.monotonic() < deadline, self.shown
            if not select.select([self.screen], [], [], 0.2)[0]:
                continue
            try:
                self.shown += os.read(self.screen, 4096).decode()
            except OSError:  # the command has ended
                break
        return self.shown

    def press(self, key: bytes) -> None:
        os.write(self.screen, key)


@contextmanager
def terminal(arguments: list[str], folder: Path) -> Iterator[Terminal]:
    """A command in a terminal, which is closed in the end."""
    opened = Terminal(arguments, folder)
    try:
        yield opened
    finally:
        if opened.process.poll() is None:
            os.killpg(opened.process.pid, signal.SIGTERM)
            opened.process.wait(30)
        os.close(opened.screen)


def lines(shown: str) -> list[str]:
    return [line for line in shown.splitlines() if line.strip() and not line.startswith(NOTES)]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="optional: terminals of their own are POSIX's")
def test_two_lines_and_one_address_and_a_second_one_opens_the_first(tmp_path: Path, own_user: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    with terminal(["lab", "--no-browser"], tmp_path) as first:
        said = lines(first.read(r"token=\w+\s"))
        assert [bool(ADDRESS.search(line)) for line in said] == [False, False, True], said
        assert str(tmp_path / lookup.COURSE) in said[0] and "Ctrl-C" in said[1]
        for folder, typed, page in ((tmp_path, "", "Welcome.md"), (tmp_path / "elsewhere", "07", "notebooks/07_matmul.ipynb")):
            command = [*MINIGRAD, "lab", "--no-browser", *filter(None, [typed])]
            second = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
            assert "is running in this folder already" in second.stdout
            assert second.stdout.split()[-1] == said[2].strip().replace("Welcome.md", page)
            assert os.listdir(tmp_path / "elsewhere") == [], "no second course"
        first.press(b"\x03")
        ended = first.read()
        assert first.process.wait(30) == 0
        assert lines(ended)[-1] == f"JupyterLab has stopped. Your work is in {tmp_path / lookup.COURSE}."
        assert "Traceback" not in ended and len(ADDRESS.findall(ended)) == 1
    assert not list((own_user / "runtime").glob("*.log")), "the log of a server that ended well is not needed"


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="optional: terminals of their own are POSIX's")
def test_a_server_that_fails_is_one_sentence_and_the_name_of_its_log(
    tmp_path: Path, own_user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"ServerApp": {"ip": "203.0.113.7"}}  # an address that no machine here has
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "jupyter_server_config.json").write_text(json.dumps(settings), encoding="utf-8")
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    with terminal(["lab", "--no-browser"], tmp_path) as failing:
        said = lines(failing.read())
        assert failing.process.wait(30) == 1
    (log,) = (own_user / "runtime").glob("*.log")
    assert len(said) == 4 and said[2].startswith("JupyterLab ended with an error: ") and said[3] == f"Its log is {log}"
    assert log.read_text(encoding="utf-8").strip()


def test_a_port_that_is_taken_is_said_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lab, "serve", lambda *arguments: pytest.fail("nothing is started"))
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        taken.listen()
        number = taken.getsockname()[1]
        assert cli.main(["lab", "--no-browser", "--port", str(number)]) == 2
    shown = capsys.readouterr().err
    assert f"port {number} cannot be used (Address already in use)" in shown and "leave out --port" in shown


def test_a_folder_that_cannot_be_used_is_said_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file of that name, a file in the place of a folder inside, and a folder that takes no files, for root neither."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / lookup.COURSE).write_text("mine", encoding="utf-8")
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "notebooks").write_text("mine", encoding="utf-8")
    for arguments in ([], ["--dir", "half"], ["--dir", "/proc/course"]):
        assert cli.main(["lab", "--no-browser", *arguments]) == 2
        shown = capsys.readouterr().err
        assert "cannot be laid out in" in shown and "minigrad lab --dir" in shown and "Traceback" not in shown, shown
    assert (tmp_path / lookup.COURSE).read_text(encoding="utf-8") == "mine"


@pytest.mark.slow
def test_the_course_opened_last_is_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served: list[Path] = []
    monkeypatch.setattr(lab, "serve", lambda line, folder, page: served.append(folder) or 0)
    for name in ("first", "other", "other/deeper"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "first")
    assert cli.main(["lab", "--no-browser"]) == 0
    course = tmp_path / "first" / lookup.COURSE
    capsys.readouterr()
    monkeypatch.chdir(tmp_path / "other")
    assert cli.main(["lab", "--no-browser"]) == 0
    assert "This folder has no course, so the one that you have opens." in capsys.readouterr().out
    assert cli.main([]) == 0 and str(course) in capsys.readouterr().out
    assert cli.main(["lab", "--no-browser", "--dir", "mine"]) == 0 and "has no course" not in capsys.readouterr().out
    monkeypatch.chdir(tmp_path / "other" / "deeper")
    assert cli.main(["lab", "--no-browser"]) == 0
    mine = tmp_path / "other" / "mine"
    assert served == [course, course, mine, mine], "the one opened last"
    shutil.rmtree(mine)
    assert cli.main(["lab", "--no-browser"]) == 0
    assert served[-1] == tmp_path / "other" / "deeper" / lookup.COURSE, "it is gone, so a new one is made"
