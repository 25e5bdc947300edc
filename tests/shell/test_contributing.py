"""What the documents show is true: the example exercise of CONTRIBUTING.md holds, the README's tour runs."""

import contextlib
import io
import re
from pathlib import Path

from minigrad.course import cli, matrix

ROOT = Path(__file__).parents[2]
IMPORTS = "import numpy as np\nfrom minigrad.course.exercise import Wrong, call, function, numbers\n"


def blocks(name: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_example_exercise_is_a_good_one() -> None:
    (example,) = blocks("CONTRIBUTING.md")
    space: dict[str, object] = {}
    exec(IMPORTS + example, space)
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
