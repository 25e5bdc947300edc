"""What no file of the repository may hold, and how every text file is written."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = {".py", ".md", ".toml", ".txt", ".cfg", ".js", ".css", ".json", ".ipynb", ".svg", ".html", ".yml", ""}
MEGABYTE = 1 << 20

# Each is spelled in pieces, so that this file does not hold what it forbids.
FORBIDDEN = {
    "a package registry's host": "|".join(
        first + second
        for first, second in (
            ("pythonhost", "ed"),
            ("pyp", r"i\.org"),
            (r"registry\.np", "mjs"),
            (r"deb\.deb", "ian"),
        )
    ),
    "a path of one machine": "/(?:" + "work|farm|root|home/[a-z]+" + ")/",
    "a folder beside the repository": r"\.\./" + "shared",
    "the name of another project on the index": "pip3? install (?:-[-a-zA-Z]+ )*mini" + r"grad\b(?!\.)",
    "unfinished work": r"\b(?:TO" + "DO|FIX" + "ME|XX" + r"X)\b",
}
EMOJI = re.compile("[\U0001f000-\U0001faff\u2705\u274c\u2728\u26a0\ufe0f]")


def files() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("optional: this copy is not a git checkout")
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def texts() -> dict[str, str]:
    """What stands in each file; a stored picture's bytes are no words."""
    return {name: re.sub(r'"image/png": "[^"]*"', "", (ROOT / name).read_bytes().decode())
            for name in files() if Path(name).suffix in TEXT}  # fmt: skip


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_holds(what: str) -> None:
    found = [
        f"{name}: {match[0]}"
        for name, text in texts().items()
        for match in re.finditer(FORBIDDEN[what], text)
    ]
    assert not found


def test_the_patterns_find_what_they_forbid() -> None:
    assert re.search(FORBIDDEN["the name of another project on the index"], "pip install " + "minigrad")
    assert not re.search(FORBIDDEN["the name of another project on the index"], 'pip install -e ".[course]"')
    assert re.search(FORBIDDEN["a path of one machine"], "see /wo" + "rk/plan")


def test_no_emoji() -> None:
    assert not [name for name, text in texts().items() if EMOJI.search(text)]


def test_text_files_are_utf8_with_plain_line_ends() -> None:
    for name, text in texts().items():
        assert "\r" not in text, f"{name} has carriage returns"
        recorded = name.startswith("tests/data/")
        assert recorded or not text or text.endswith("\n"), f"{name} does not end its last line"


def test_no_file_is_large() -> None:
    assert not [name for name in files() if (ROOT / name).stat().st_size > 2 * MEGABYTE]


def test_the_root_is_short() -> None:
    """A reader who opens the repository sees what it is at a glance. What a tool looks for nowhere else is there as well."""
    top = {name.split("/")[0] for name in files()} - {"CITATION.cff", "NOTICE", ".pre-commit-config.yaml"}
    assert len(top) <= 19, sorted(top)
