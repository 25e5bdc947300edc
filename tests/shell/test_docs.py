"""What the README, docs/ and the guide for teachers show is true: code gives what it says, and commands exist or are run.

docs/authors.md has a test of its own, which follows it.
"""

import argparse
import contextlib
import doctest
import io
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

from minigrad.course import notebooks
from minigrad.course.commands import cli
from tests.house.pages import ROOT, blocks

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
# Commands that are not run here, and why. Of these, what they name (a package, an option, a file) still has to be there.
NOT_RUN = {
    r"pip (install|wheel) ": "needs a network; tests/shell/test_packaging.py and .ci/run install",
    r"conda ": "is not on every machine",
    r"python -m venv |\. ": "prepares the environment in which this test runs",
    r"pytest": "these are the tests",
    r"\.ci/run": "runs the tests",
    r"minigrad lab": "serves until it is stopped; tests/browser opens it",
    r"minigrad doctor": "tests/shell/test_cli.py runs it",
    r"minigrad build --site": "tests/shell/test_site.py builds the site, and JupyterLite",
    r"git pull": "needs a network",
    r"git grep": "writes into the checkout; tests/house/test_release.py holds what they change",
    r"minigrad build --lesson 05": "writes into the checkout; tests/shell/test_authors.py runs it in a copy",
}
CODE = {  # in docs/authors.md a test of its own follows them; what is one line of a file is looked for in that file
    ("README.md", "python"): "test_the_readmes_tour_shows_what_it_says",
    ("engine.md", "python"): "minigrad/derivatives.py",
}


def commands(page: Path) -> list[str]:
    """The commands in the blocks of a page, one by one."""
    lines = [line for language, text in blocks(page) if language == "sh" for line in text.splitlines()]
    lines = [re.sub(r"\s+#.*", "", line) for line in lines]
    return [part.strip() for line in lines for part in line.split(" && ") if part.strip()]


def choices(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The subcommands of the command line."""
    (found,) = (action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return dict(found)


def exists(command: str) -> None:
    """What a command names is there: a subcommand with its options, an extra, a module, a file."""
    program, *arguments = shlex.split(command)
    if program == "minigrad":
        options = choices(cli.make_parser())[arguments[0]]._option_string_actions
        assert {word.partition("=")[0] for word in arguments if word.startswith("--")} <= options.keys(), command
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for named in re.findall(r"\[(\w+)\]", command):
        assert named in extras, command
    if program == "python" and arguments[0] == "-m":
        assert find_spec(arguments[1]), command
    if program == "pytest":
        assert all((ROOT / word).exists() for word in arguments if word.endswith(".py")), command


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_page_runs_or_is_excused(page: Path, tmp_path: Path) -> None:
    for command in commands(page):
        exists(command)
        if page.stem == "authors" or any(re.match(start, command) for start in NOT_RUN):
            continue
        program, *arguments = shlex.split(command)
        assert program == "python", f"{command} is neither run nor excused"
        subprocess.run([sys.executable, *arguments], cwd=tmp_path, check=True, capture_output=True, timeout=60)
        assert (tmp_path / "minigrad-course" / "exercises" / "05_vectors_exercises.ipynb").is_file()
    for line in re.findall(r"`minigrad (?!leaves out)(\w+[^`\n]*)`", page.read_text(encoding="utf-8")):
        exists("minigrad " + line)


def test_every_excuse_is_needed() -> None:
    said = [command for page in PAGES for command in commands(page)]
    assert not [start for start in NOT_RUN if not any(re.match(start, command) for command in said)]


OWN_TESTS = ("authors", "pytorch")  # pages whose code has a test of its own: test_authors.py, viz/test_pytorch_page.py


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_on_a_page_gives_what_it_says(page: Path) -> None:
    said: list[str] = []
    session = "".join(text for language, text in blocks(page) if language == "pycon")
    test = doctest.DocTestParser().get_doctest(session, {}, page.name, None, 0)
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
    assert not said, "".join(said)
    for language, text in blocks(page) if page.stem not in OWN_TESTS else []:
        if language == "python":
            where = CODE[page.name, language]
            assert where in globals() or text.strip() in (ROOT / where).read_text(encoding="utf-8")


def test_the_readmes_tour_shows_what_it_says() -> None:
    (tour,) = (text for language, text in blocks(ROOT / "README.md") if language == "python")
    *lines, last = tour.strip().splitlines()
    space: dict[str, object] = {}
    exec("\n".join(lines), space)
    source, _, promised = last.partition("#")
    assert repr(eval(source.strip(), space)) == promised.strip()


def test_the_readmes_commands_are_the_commands() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `minigrad (\w+)", text, re.MULTILINE)
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):
        cli.main(["--help"])
    known = set(re.findall(r"^    (\w+) ", shown.getvalue(), re.MULTILINE))
    assert known <= set(listed) <= known | {"grade"}
    assert 'pip install -e ".[course]" && minigrad lab\n' in text
    assert 'pip install -e ".[test]" && pytest\n' in text


def hand_in(folder: Path) -> None:
    """The class that the guide for teachers grades: all right, all blank, and two mistakes."""
    solved = notebooks.path("solutions", "05_vectors").read_text(encoding="utf-8")
    blank = notebooks.path("exercises", "05_vectors").read_text(encoding="utf-8")
    mistaken = solved.replace("return v * 2 * x", "return 2 * x").replace('same_when = \\"b\\"', 'same_when = \\"a\\"')
    class_ = {"ada/05_vectors_exercises": solved, "bjorn/week 3/05_vectors_exercises (1)": blank,
              "chen/05_vectors_exercises": mistaken}
    for name, text in class_.items():
        file = folder / f"{name}.ipynb"
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="optional: the guide shows what Linux prints")
def test_the_guides_commands_print_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    guide = (ROOT / "notebooks" / "TEACHING.md").read_text(encoding="utf-8")
    hand_in(tmp_path / "submitted")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MINIGRAD_CHECK", raising=False)
    for file in (tmp_path / "submitted").rglob("*.ipynb"):
        assert re.search(rf"^    +{re.escape(file.relative_to(tmp_path / 'submitted').as_posix())}$", guide, re.MULTILINE)
    shown = re.findall(r"^```console\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    commands = [part for block in shown for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    assert len(commands) >= 4
    for part in commands:
        command, _, promised = part.partition("\n")
        program, *arguments = shlex.split(command)
        if program == "minigrad":
            cli.main(arguments)
        else:
            assert program == "cat"
            print(Path(arguments[0]).read_text(encoding="utf-8"), end="")
        printed = capfd.readouterr().out
        unsteady = r"\d+(?= a second)|(?<=isolation: )\w+"
        assert re.sub(unsteady, "-", printed) == re.sub(unsteady, "-", promised), command
