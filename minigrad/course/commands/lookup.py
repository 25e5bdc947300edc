"""What a student means by `05`, `vectors`, `7.2` or a notebook's path, and where the course lies.

A word is looked up in the lessons' file names and titles; what fits several lessons or none is refused with a sentence
that says what would fit. The course is the one that this folder is in or above, else the one that was opened last. All
refusals are ValueErrors.
"""

import contextlib
import difflib
import functools
import os
import re
from pathlib import Path

from minigrad.course import lessons, notebooks
from minigrad.course.checks import progress_store, updating, welcome
from minigrad.course.exercise import EDITION

__all__ = ["COURSE", "course", "file_in", "is_course", "lesson", "notebook", "opened_by", "remember", "to_open"]

COURSE = "minigrad-course"  # the folder that `minigrad lab` makes
IDLE = {"lesson", "exercise", "exercises", "solution", "ipynb"}  # words that tell no lesson from another


# The lesson ----------------------------------------------------------------------------------------------


def lesson(typed: str) -> tuple[str, str]:
    """The lesson that these words name, and the exercise if they are its id: "7.2" -> ("07_matmul", "7.2")."""
    id = re.fullmatch(r"0*(\d+)[.,](\w+)", typed.strip())  # many keyboards have a comma on the number pad
    if id:
        slug = numbered(id[1])
        known = [exercise.id for exercise in lessons.lesson(int(id[1])).exercises]
        if f"{id[1]}.{id[2]}" not in known:
            scored = ", ".join(sorted(e.id for e in lessons.lesson(int(id[1])).exercises if e.points))
            raise ValueError(f"there is no exercise {id[1]}.{id[2]}; lesson {slug[:2]} has {scored}")
        return slug, f"{id[1]}.{id[2]}"
    if typed.strip().startswith("-"):
        raise ValueError(f"there is no lesson {typed.strip()}")
    asked = [word for word in words(typed) if word not in IDLE]
    if len(asked) == 1 and asked[0].isdecimal():
        return numbered(asked[0]), ""
    found = fitting(asked)
    if len(found) > 1:
        raise ValueError(f"{typed!r} fits several lessons: {', '.join(map(spoken, found))}. Give the number of one.")
    if not found:
        raise ValueError(f"there is no lesson {typed!r}. {suggestion(asked)}")
    return found[0], ""


def numbered(number: str) -> str:
    """The lesson of a number."""
    known = {int(slug[:2]): slug for slug in notebooks.lessons()}
    if int(number) not in known:
        raise ValueError(f"there is no lesson {number}: they go from {min(known):02d} to {max(known):02d}")
    return known[int(number)]


def words(text: str) -> list[str]:
    """The words of a text, in small letters: "Chain-Rule_2" -> chain, rule, 2."""
    return re.findall(r"[^\W_]+", text.lower())


@functools.cache
def vocabulary() -> dict[str, set[str]]:
    """The words of each lesson: those of its file name and of its title."""
    titles = {each.slug: each.title for each in lessons.all_lessons()}
    return {slug: {*words(slug), *words(titles.get(slug, ""))} for slug in notebooks.lessons()}


def fitting(asked: list[str]) -> list[str]:
    """The lessons with all these words; where there is none, those with words that begin so."""
    known = vocabulary()

    def begins(part: str, slug: str) -> bool:
        return part in known[slug] or (len(part) > 2 and any(word.startswith(part) for word in known[slug]))

    whole = [slug for slug in known if asked and known[slug] >= set(asked)]
    return whole or [slug for slug in known if asked and all(begins(part, slug) for part in asked)]


def suggestion(asked: list[str]) -> str:
    """The lesson that was probably meant, else all of them."""
    known = {word: slug for slug, its in vocabulary().items() for word in its if len(word) > 2}
    for word in asked:
        for near in difflib.get_close_matches(word, known, n=1, cutoff=0.7):
            return f"Did you mean {near} ({spoken(known[near])})?"
    return "\n  ".join(["The lessons are:", *map(spoken, notebooks.lessons())])


def spoken(slug: str) -> str:
    """A lesson as one types it: "05_vectors" -> "05 vectors"."""
    return slug.replace("_", " ")


# The notebook --------------------------------------------------------------------------------------------


def notebook(typed: str) -> tuple[Path, str]:
    """The student's notebook of exercises for these words, and the one exercise that is meant, or "".

    A path is taken from here, else from the course. The notebook of a lesson need not be there.
    """
    file = Path(typed).expanduser()
    if file.is_file():
        if updating.edition_of(file) != EDITION:
            raise ValueError(f"{file} comes from {updating.OTHER}. Your work in it stays: copy your answers into the notebooks "
                             "that `minigrad lab` lays out.")  # fmt: skip
        return file, ""
    if typed and file.is_dir():
        raise ValueError(f"{typed} is a folder: give a lesson (05, vectors), an exercise (5.2) or a notebook")
    if file.suffix == ".ipynb" or len(file.parts) > 1:
        return from_course(file), ""
    slug, id = lesson(typed)
    return file_in(needed(), slug), id


def from_course(file: Path) -> Path:
    """A notebook by its path in the course, or by its name in a folder of it."""
    folder = course()
    for place in (folder / file, folder / "exercises" / file, folder / "notebooks" / file) if folder else ():
        if place.is_file():
            return place
    asked = [word for word in words(file.stem) if word not in IDLE]
    there = fitting(asked)
    hint = f"Did you mean {spoken(there[0])}?" if len(there) == 1 else suggestion(asked)
    raise ValueError(f"there is no notebook {file}. {hint}")


def file_in(folder: Path, slug: str, kind: str = "exercises") -> Path:
    """Where a lesson's notebook lies in a student's folder."""
    return folder / kind / notebooks.path(kind, slug).name


def opened_by(typed: str, folder: Path) -> str:
    """The page of the lab in `folder` for these words: a lesson's notebook, or for an exercise the one it stands in."""
    file = Path(typed).expanduser()
    if typed and file.is_dir():
        raise ValueError(f"{typed} is a folder; for a course that lies there: minigrad lab --dir {typed}")
    if file.is_file() or file.suffix == ".ipynb" or len(file.parts) > 1:
        found = (file if file.is_file() else from_course(file)).resolve()
        if not found.is_relative_to(folder.resolve()):
            raise ValueError(f"{typed} is not in the course in {folder}; --dir says which course to open")
        return found.relative_to(folder.resolve()).as_posix()
    slug, id = lesson(typed)
    return file_in(Path(), slug, "exercises" if id else "notebooks").as_posix()


# The course ----------------------------------------------------------------------------------------------


def course(here: Path | None = None) -> Path | None:
    """The student's course that this folder is in, or that lies in it or beside a folder above; None if there is none.

    After these count a checkout's own folders, and then the course opened last. ValueError where several lie side by side.
    """
    here = here or progress_store.here()
    for above in (here, *here.parents):
        for place in (above, above / COURSE):
            if is_course(place):
                return place
        if above == here and (below := courses_in(here)):
            if len(below) > 1:
                names = ", ".join(sorted(place.name for place in below))
                raise ValueError(f"there are several courses in {here} ({names}): go into one of them with cd")
            return below[0]
    plain = (above for above in (here, *here.parents) if all((above / kind).is_dir() for kind in ("notebooks", "exercises")))
    return next(plain, None) or last_opened()


def to_open() -> Path:
    """The course that `minigrad lab` opens: that of this folder, or the one opened last, else a new one here."""
    found = course()
    if found is None or not is_course(found) or found == notebooks.course_root():
        found = last_opened()
    return found or progress_store.here() / COURSE


def remember(folder: Path) -> None:
    """Note which course was opened last; it is found again from any folder."""
    if note := note_of_last():
        with contextlib.suppress(OSError):
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_text(f"{folder}\n", encoding="utf-8")


def last_opened() -> Path | None:
    """The course that `minigrad lab` opened last, if it is still there."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if (note := note_of_last()) and is_course(place := Path(note.read_text(encoding="utf-8").strip())):
            return place
    return None


def note_of_last() -> Path | None:
    """The file that holds the course opened last, among Jupyter's data; None without Jupyter."""
    try:
        from jupyter_core.paths import jupyter_data_dir
    except ModuleNotFoundError:
        return None
    return Path(jupyter_data_dir()) / "minigrad-course.txt"


def is_course(place: Path) -> bool:
    """Whether a student's course lies there: its exercises, and a name or a page or progress that says so."""
    signs = (place / progress_store.FILE, place / welcome.FILE)
    return os.path.isdir(place / "exercises") and (place.name == COURSE or any(map(os.path.exists, signs)))


def courses_in(folder: Path) -> list[Path]:
    """The courses right below a folder."""
    try:
        return [place for place in folder.iterdir() if is_course(place)]
    except OSError:  # a folder that may be entered, not listed
        return []


def needed() -> Path:
    """The student's course; ValueError where there is none."""
    folder = course()
    if folder is None:
        raise ValueError(f"there is no course in {progress_store.here()}. `minigrad lab` makes one, or go into yours with cd.")
    return folder
