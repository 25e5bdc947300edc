"""What a run has to remember about each hand-in, on disk: a large class needs no more memory than a small one.

An index is a temporary database of SQLite: a file without a name that only this process sees, gone with the
process however that ends, of which two megabytes at most are held in memory. Nothing rests on it: what has to
outlive a run stands in the journal.
"""

from __future__ import annotations

import sqlite3


def on_disk(*tables: str) -> sqlite3.Connection:
    """An empty index with these tables, each given as SQL names it: "name (column, ...)"."""
    made = sqlite3.connect("", isolation_level=None)
    # Nobody will ever read it again: what it holds need not be safe from a power failure, nor taken back.
    made.execute("PRAGMA journal_mode = OFF")
    made.execute("PRAGMA synchronous = OFF")
    made.execute("PRAGMA temp_store = FILE")
    for table in tables:
        made.execute(f"CREATE TABLE {table}")
    return made
