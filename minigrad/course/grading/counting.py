"""How far a run is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Count:
    """Files in all, taken over from an earlier run, graded now, not graded; left aside; seconds; the isolation level;
    the name under which results of another edition are kept; after a regrade how many verdicts moved, the first of
    them, and what was to be graded again and is not there; whose hand-ins are in doubt."""

    total: int = 0
    kept: int = 0
    graded: int = 0
    failed: int = 0
    aside: int = 0
    seconds: float = 0.0
    isolation: str = ""
    older: str = ""
    moved: int = 0
    first: list[dict[str, Any]] = field(default_factory=list)
    unmet: set[str] = field(default_factory=set)
    doubts: list[str] = field(default_factory=list)

    @property
    def done(self) -> int:
        """Files that need no more work."""
        return self.kept + self.graded + self.failed
