"""Who handed in what: one function, `decide`, for the rules of docs/grading.md ("Who handed in what").

A source is what one hand-in comes from: a folder, a loose file, or what carries one number of Canvas or Moodle. Each
source is a row of the report, and at most one source is a person of the class list: two folders are never merged.
Whatever is in doubt stays apart, and is told.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

# The kinds of a source. Whoever comes first keeps a name that two of them have.
FOLDER, CANVAS, MOODLE, LOOSE = range(4)
# By what a source may be known to the class list, in the order in which it is trusted.
BY = ("folder", "number", "login", "name", "email")
TABLES = (
    "sources (id INTEGER PRIMARY KEY, kind, name BLOB, number TEXT, text TEXT, plain TEXT, written TEXT, label TEXT, person,"
    " trust, UNIQUE (kind, name, number))",
    "downloads (source, folder, PRIMARY KEY (source, folder)) WITHOUT ROWID",
    "lines (label TEXT PRIMARY KEY, person, waiting) WITHOUT ROWID",
    "doubts (place INTEGER PRIMARY KEY, text TEXT UNIQUE)",
)


@dataclass(frozen=True)
class Person:
    """One line of the class list; "" for what it does not say."""

    folder: str = ""
    name: str = ""
    group: str = ""
    canvas: str = ""
    sis: str = ""
    login: str = ""
    email: str = ""
    moodle: str = ""


class People:
    """The class list, looked up by everything that it knows about a person."""

    def __init__(self, roster: Sequence[Person]) -> None:
        self.roster = roster
        self._found: dict[tuple[str, str], list[int]] = {}
        for place, person in enumerate(roster):
            moodle = person.moodle.split(" ")[-1]  # "Participant 4711"
            for key in {("folder", person.folder), ("login", person.login), ("email", person.email), ("canvas", person.canvas),
                        ("moodle", moodle), ("name", plainly(person.name)),
                        *(("number", number) for number in (person.canvas, person.sis, moodle))}:  # fmt: skip
                self._found.setdefault(key, []).append(place)

    def called(self, by: str, text: str) -> list[int]:
        """The places in the list of those who are called so."""
        return self._found.get((by, plainly(text) if by == "name" else text), []) if text else []

    def meant(self, text: str) -> int | None:
        """Whom a teacher means who writes this; None for nobody, and for two."""
        found = next(filter(None, (self.called(by, text) for by in BY)), [])
        return found[0] if len(found) == 1 else None

    def shown(self, place: int) -> str:
        """What a table calls a person: the name, and for two of one name what tells them apart."""
        person = self.roster[place]
        mark = next(filter(None, (person.login, person.sis, person.email, person.canvas, person.moodle)), "")
        shared = sum(other.name == person.name for other in self.roster) > 1
        return (f"{person.name} ({mark})" if shared and mark else person.name) or person.folder or mark


def plainly(name: str) -> str:
    """A name without accents, case, order of its parts, and signs: "Lovelace, Ada" is "ada lovelace"."""
    letters = (c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return " ".join(sorted(re.findall(r"[^\W_]+", "".join(letters).casefold())))


def listed(names: Iterable[str]) -> str:
    """Names one after another; one that holds a comma stands in quotes."""
    return ", ".join(f'"{name}"' if "," in name else name for name in names)


def readable(name: str) -> str:
    """A file's name as text. Bytes that are none are spelled out, with a mark: two students must not become one."""
    raw = name.encode("utf-8", "surrogateescape")
    text = raw.decode("utf-8", "backslashreplace")
    return text if text.encode() == raw else f"{text} [{hashlib.sha256(raw).hexdigest()[:6]}]"


def source(index: sqlite3.Connection, kind: int, name: str, number: str, called: str, download: int) -> int:
    """The number of a source, which is noted when it is met first; `called` is what a file's name says of a person.

    What a doubt calls it, and the column `folder` of the class list, has the number with which Moodle tells two names apart.
    """
    key, text = (kind, os.fsencode(name), number), readable(called)
    written = f"{text}_{number}" if kind == MOODLE else readable(name)
    index.execute("INSERT OR IGNORE INTO sources (kind, name, number, text, plain, written) VALUES (?, ?, ?, ?, ?, ?)",
                  (*key, text, plainly(text), written))  # fmt: skip
    found = index.execute("SELECT id FROM sources WHERE (kind, name, number) = (?, ?, ?)", key).fetchone()
    index.execute("INSERT OR IGNORE INTO downloads VALUES (?, ?)", (found[0], download))
    return int(found[0])


def decide(index: sqlite3.Connection, people: People) -> None:
    """Give each source its row and its person, and write down what is in doubt. The rules, in this order:

    1. A source claims a person by the most trusted thing by which the class list knows it (`BY`); if that names two
       people, it claims nobody. What is less trusted is not looked at.
    2. Of several sources that claim one person, the one that the class list names by folder, or else by a number that a
       platform gave it, is the person. If there is no such source, or there are two, nobody is.
    3. One name that Moodle gives in several downloads, once in each, and that one person of the list has, is one source.
    4. Each source has a row of its own. A person whom no source is has a row, too.
    """
    for id, kind, number, text, written, _ in _sources(index):
        _claim(index, people, id, kind, text, number, written)
    claimed = index.execute("SELECT person FROM sources WHERE person NOT NULL GROUP BY person HAVING count(*) > 1 ORDER BY 1")
    waiting = {place for (place,) in claimed.fetchall() if not _settle(index, people, place)}
    for id, kind, _, text, written, person in _sources(index):
        names = [text, written]
        label = _moodle(index, people, names, person) if kind == MOODLE else _row(index, names, person)
        index.execute("UPDATE sources SET label = ? WHERE id = ?", (label, id))
    for place in range(len(people.roster)):
        if not index.execute("SELECT 1 FROM lines WHERE person = ?", (place,)).fetchone():
            _row(index, [people.roster[place].folder or people.shown(place)], place, place in waiting)
    alike = index.execute(
        "SELECT plain, min(written) FROM sources WHERE plain IN (SELECT plain FROM sources WHERE plain <> ''"
        " GROUP BY plain HAVING count(DISTINCT label) > 1 AND count(DISTINCT name) > 1) GROUP BY plain, label ORDER BY 1, 2"
    )
    for _, group in itertools.groupby(alike.fetchall(), key=lambda line: line[0]):
        _doubt(index, f"These read alike, and each has a row of its own: {listed(written for _, written in group)}")


def _sources(index: sqlite3.Connection) -> Iterator[tuple[int, int, str, str, str, int | None]]:
    """Every source, by kind and name, a few at a time: they are changed on the way."""
    last: tuple[Any, ...] = (-1, b"", "")
    while found := index.execute("SELECT id, kind, number, text, written, person, name FROM sources WHERE (kind, name, number)"
                                 " > (?, ?, ?) ORDER BY kind, name, number LIMIT 500", last).fetchall():  # fmt: skip
        yield from (line[:-1] for line in found)
        last = (found[-1][1], found[-1][-1], found[-1][2])


def _claim(index: sqlite3.Connection, people: People, id: int, kind: int, text: str, number: str, written: str) -> None:
    """Rule 1."""
    # A name in Moodle is no login: who may choose a display name may choose another's.
    known = {CANVAS: [("canvas", number)], MOODLE: [("moodle", number), ("name", text)]}
    ways = [("folder", written), *known.get(kind, [(by, text) for by in BY[1:]])]
    claims = [(by, found) for by, name in ways if (found := people.called(by, name))]
    if not claims:
        return
    (by, found), *weaker = claims
    if len(found) > 1:
        _doubt(index, f"{written}: the class list has {len(found)} people with this {by}; it has a row of its own")
        return
    trust = 0 if by == "folder" else 1 if by in ("canvas", "moodle") else 2
    index.execute("UPDATE sources SET person = ?, trust = ? WHERE id = ?", (found[0], trust, id))
    shown = people.shown(found[0])
    others = {people.shown(place) for _, places in weaker for place in places} - {shown}
    if others:
        _doubt(index, f"{written} is taken for {shown}, by {by}; {listed(sorted(others))} could be meant, too")


def _settle(index: sqlite3.Connection, people: People, place: int) -> bool:
    """Rules 2 and 3 for one person whom several sources claim; True if it is known who it is."""
    sources = index.execute("SELECT id, written, trust, kind, text FROM sources WHERE person = ? ORDER BY trust, kind, name,"
                            " number", (place,)).fetchall()  # fmt: skip
    (best, written, trust, _, text), (_, _, second, *_), *_ = sources
    downloads = [folder for (folder,) in index.execute(
        "SELECT folder FROM downloads JOIN sources ON source = id WHERE person = ?", (place,))]  # fmt: skip
    if trust and all(line[3:] == (MOODLE, text) for line in sources) and len(set(downloads)) == len(downloads):
        return True
    kept = best if trust < min(2, second) else None
    index.execute("UPDATE sources SET person = NULL WHERE person = ? AND id IS NOT ?", (place, kept))
    names = listed(line[1] for line in sources)
    rest = f"{written} is" if kept else "nobody is, and the cells of that line are empty"
    _doubt(index, f"Several could be {people.shown(place)} of the class list: {names}. Taken for that person: {rest}."
                  " Write the right one into the column folder of the class list.")  # fmt: skip
    return kept is not None


def _moodle(index: sqlite3.Connection, people: People, names: list[str], person: int | None) -> str:
    """The row of a source that Moodle gave a number, which is that of a hand-in and not of a person."""
    text, numbered = names
    if person is not None and (found := index.execute("SELECT label FROM lines WHERE person = ?", (person,)).fetchone()):
        return str(found[0])
    apart = [n for (n,) in index.execute("SELECT number FROM sources WHERE (kind, text) = (?, ?) AND person IS NULL ORDER BY 1",
                                         (MOODLE, text))]  # fmt: skip
    if person is None and len(apart) > 1 and text != "Participant":
        _doubt(index, f"Moodle has {len(apart)} numbers for {text} ({', '.join(apart[:12])}), and each has a row: only a class"
                      " list can tell whether it is one person, and only if each download is a folder of its own on the"
                      " command line.")  # fmt: skip
    shared = len(apart) + len(people.called("name", text)) > 1
    return _row(index, [numbered] if shared or text == "Participant" else names, person)


def _row(index: sqlite3.Connection, names: list[str], person: int | None, waiting: bool = False) -> str:
    """A row under the first of these names that no other row has."""
    marks = (f"{names[-1]} [{hashlib.sha256(str((names, person, n)).encode()).hexdigest()[:6]}]" for n in itertools.count())
    for name in itertools.chain(names, marks):
        if index.execute("INSERT OR IGNORE INTO lines VALUES (?, ?, ?)", (name, person, waiting)).rowcount:
            return name
    raise AssertionError


def _doubt(index: sqlite3.Connection, text: str) -> None:
    index.execute("INSERT OR IGNORE INTO doubts (text) VALUES (?)", (text,))
