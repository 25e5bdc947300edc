"""What the documents show is true: the example exercise of CONTRIBUTING.md holds, the README's tour runs, and the
commands of the guide for teachers print what stands under them.
"""

import contextlib
import io
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

from minigrad.course import cli, matrix, notebooks

ROOT = Path(__file__).parents[2]


def blocks(name: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_example_exercise_is_a_good_one() -> None:
    (example,) = blocks("CONTRIBUTING.md")
    space: dict[str, object] = {"__package__": "minigrad.course.lessons", "np": np}  # as in a lesson's file
    exec(example, space)
    proved = matrix.prove(space["EXERCISE"])
    assert proved.problems == []
    assert len(proved.rows) > 10


def test_the_readmes_tour_shows_what_it_says() -> None:
    (tour,) = blocks("README.md")
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
