"""A newer minigrad beside a student's older folder: what is from another edition, and what has newer copies, in sentences.

Nothing of the student's is ever replaced. A notebook says which edition and which text it was made from in its metadata
(`notebooks.for_student`).
"""

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from minigrad.course import notebooks
from minigrad.course.exercise import EDITION

__all__ = ["OTHER", "edition", "edition_of", "news"]

OTHER = "another edition of the course, in which exercises asked for something else"
MOST_NAMED = 6


def edition(metadata: Any) -> int:
    """The edition that a notebook belongs to, from its metadata; today's if nothing says."""
    stamp = metadata.get("minigrad") if isinstance(metadata, dict) else None
    said = stamp.get("edition") if isinstance(stamp, dict) else None
    return said if type(said) is int else EDITION


def edition_of(file: Path) -> int:
    """The edition of a notebook's file; today's for what cannot be read."""
    with contextlib.suppress(OSError, ValueError):
        return edition(notebooks.read(file).get("metadata"))
    return EDITION


def news(folder: Path, kept: Iterable[Path]) -> list[str]:
    """What a student should know about the files that were there (`kept`) when the course was laid out in `folder`."""
    lying = [file for kind in ("notebooks", "exercises") for file in sorted((folder / kind).glob("*.ipynb"))]
    others = [file for file in lying if edition_of(file) != EDITION]
    older = list(outdated(folder, (file for file in kept if file not in others)))
    books = [file for file in older if file.suffix == ".ipynb"]
    said = []
    if others:
        said.append(
            f"From {OTHER}: {named(others, folder)}. Your work in them stays, but today's checks do not fit it: copy your "
            "answers into today's notebooks."
        )
    if books:
        said.append(
            f"This version of minigrad has newer copies of {named(books, folder)}. Yours stay. `minigrad reset FILE` puts the "
            "newer copy in its place and keeps yours under a dated name."
        )
    if len(older) > len(books):
        said.append(
            f"{len(older) - len(books)} pages or pictures differ from this version's, too: `minigrad lab --dir NEW` lays "
            "everything out in a new folder."
        )
    return said


def outdated(folder: Path, kept: Iterable[Path]) -> Iterator[Path]:
    """Those of the student's files that were made from another text than today's."""
    for file in kept:
        with contextlib.suppress(OSError, ValueError):
            source = notebooks.course_root() / file.relative_to(folder)
            if file.suffix != ".ipynb":
                if file.read_bytes() != source.read_bytes():
                    yield file
                continue
            mine, fresh = notebooks.read(file), notebooks.student_copy(source)
            stamp = mine.get("metadata", {}).get("minigrad")
            if isinstance(stamp, dict):
                same = stamp.get("text") == fresh["metadata"]["minigrad"]["text"]
            else:  # laid out by a version that left no mark, or by hand
                same = set(prose(fresh)) <= set(prose(mine))
            if not same:
                yield file


def prose(nb: notebooks.Notebook) -> list[str]:
    """The texts of a notebook, which a student rarely changes; the links at its end are the lab's own."""
    return [cell["source"] for cell in nb["cells"] if cell["cell_type"] == "markdown" and "Welcome.md" not in cell["source"]]


def named(files: list[Path], folder: Path) -> str:
    """Files by their names in the folder; of many the first few."""
    names = [file.relative_to(folder).as_posix() for file in files]
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
