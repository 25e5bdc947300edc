"""docs/pytorch.md: each program prints the lines that stand below it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "pytorch.md").read_text(encoding="utf-8")
CASES = re.findall(r"^## (.+?)$.*?```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)


def test_there_are_five_short_programs() -> None:
    assert len(CASES) == 5 and all(len(code.splitlines()) <= 25 for _, code, _ in CASES)


@pytest.mark.slow
@pytest.mark.needs("torch")
@pytest.mark.parametrize(("title", "code", "told"), CASES, ids=[title for title, _, _ in CASES])
def test_a_program_prints_what_the_page_says(tmp_path: Path, title: str, code: str, told: str) -> None:
    (tmp_path / "bug.py").write_text(code, encoding="utf-8")
    ran = subprocess.run([sys.executable, "bug.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    printed = ran.stdout.splitlines() + [line.rpartition("GradcheckError: ")[2] for line in ran.stderr.splitlines()[-1:]]
    assert [line for line in printed if line in told.splitlines()] == told.splitlines(), ran.stderr
