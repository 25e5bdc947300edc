"""When the package is built: the README as a package index shows it, with absolute links, so that its pictures appear there.

All addresses are made from the one of the repository, in `[project.urls]` of pyproject.toml.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


def absolute(text: str, repository: str, tag: str) -> str:
    """The text with each link to a file of the repository made absolute, to what it was at `tag`."""

    def link(match: re.Match[str]) -> str:
        picture, words, target = match.groups()
        return f"{picture}[{words}]({repository}/{'raw' if picture else 'blob'}/{tag}/{target})"

    return re.sub(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)", link, text)


class IndexReadme(MetadataHookInterface):
    """Gives the package its description."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the field `readme`."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = absolute(text, metadata["urls"]["Repository"], f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
