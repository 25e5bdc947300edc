"""The Markdown pages of the repository: the blocks of code in them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    """The language and the text of each block of a page, in order."""
    return [(language, text) for language, text in BLOCK.findall(page.read_text(encoding="utf-8"))]
