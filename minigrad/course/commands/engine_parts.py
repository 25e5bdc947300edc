"""`minigrad engine`: what the student's own engine has, and with `--upto 07` what it lacks, from the solutions."""

from pathlib import Path

from minigrad.course import lessons
from minigrad.course.checks import own_engine
from minigrad.course.checks.own_engine import FILE, REFERENCE, given, listed


def told(folder: Path) -> str:
    """Which parts the engine in a student's folder has, whose they are, and how the rest gets there. ValueError as `fill`."""
    file = folder / FILE
    text = own_engine.text_of(file) if file.exists() else ""
    there = [id for id in own_engine.parts_in(text) if given()[id].names]
    others = own_engine.from_reference(text)
    rows = {"yours": [id for id in there if id not in others], "from the reference": others,
            "not there yet": [part.id for part in given().values() if part.names and part.id not in there]}  # fmt: skip
    lines = [f"Your own engine is {file}." if text else f"There is no {file} yet: keep(\"3.1\") in the exercises begins it."]
    lines += [f"  {words:18}  {', '.join(ids)}" for words, ids in rows.items() if ids]
    if missing := rows["not there yet"]:
        before = given()[missing[0]].lesson + 1
        first, upto = listed([id for id in missing if given()[id].lesson < before]), f"{before:02d}"
        lines += [f"minigrad engine --upto {upto} writes {first}: all that is missing of the lessons before {upto}."]
    return "\n".join(lines)


def fill(folder: Path, before: int) -> str:
    """Write what the engine lacks of the lessons before this one, and say what it is; ValueError if nothing can be written."""
    file = folder / FILE
    missing = own_engine.lacking(own_engine.text_of(file) if file.exists() else "", before)
    ids = [part.id for part in missing if part.names]
    if not ids:
        return f"{file} lacks nothing of the lessons before {before:02d}."
    change = own_engine.complete(folder, before, {id: lessons.find(id).title for id in ids})
    before_it = f"The file before it is kept in {folder / change.old}.\n" if change.old else ""
    return (f"From the solutions there is now in {file}: {listed(ids)}.\n{before_it}A comment above each says "
            f"{REFERENCE}. When you have solved one, keep(\"{ids[0]}\") puts yours in its place.")  # fmt: skip
