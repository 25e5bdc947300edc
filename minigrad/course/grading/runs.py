"""Grading a class: find the notebooks, grade what is new, write everything down.

`grade(paths, out=...)` is the whole of it. The unit of work, `grade_one`, is a plain function of plain
data, so any `concurrent.futures.Executor` can run it, on this machine or on a cluster; each process that
does keeps a sandbox of its own. Only a few notebooks are in the air at a time, so a class of twenty
thousand needs no more memory than one of twenty. What a teacher reads afterwards is written from the journal
alone, so the same journal gives the same bytes: tally.py counts, tables.py writes what machines read, pages.py what people do.
"""

from __future__ import annotations

import atexit
import concurrent.futures as futures
import contextlib
import dataclasses
import hashlib
import hmac
import itertools
import multiprocessing.util
import operator
import os
import re
import shutil
import sys
import threading
import time
import types
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from typing import Any

from minigrad.course import lessons as known
from minigrad.course.commands.answers import given
from minigrad.course.exercise import EDITION
from minigrad.course.grading import identity, pages, reader, sandbox, tables
from minigrad.course.grading import journal as journals
from minigrad.course.grading.grader import NOT_GRADED, NOTEBOOK_SECONDS, Grader, Limits
from minigrad.course.grading.identity import People, Person, readable
from minigrad.course.grading.journal import write_whole
from minigrad.course.grading.plan import Plan
from minigrad.course.grading.sandbox import Unavailable
from minigrad.course.grading.tally import Class, unjudged

STUDENT_SECONDS = 300.0  # for all notebooks of one student together
_MOST_AGAIN = 200  # notebooks that are tried once more at the end of a run
_PATIENCE = 3  # times that a job may take a process of the pool with it
_MOST_STRAYS = 10  # files of one student that were left aside and are named
NO_PLAN = Plan()


@dataclasses.dataclass
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
    first: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    unmet: set[str] = dataclasses.field(default_factory=set)
    doubts: list[str] = dataclasses.field(default_factory=list)

    @property
    def done(self) -> int:
        """Files that need no more work."""
        return self.kept + self.graded + self.failed


Progress = Callable[[Count], None]


# ------------------------------------------------------------------ one notebook

_here = threading.local()
_graders: list[Grader] = []


def grade_one(job: dict[str, Any]) -> dict[str, Any]:
    """Grade one notebook in this process: the same job, as `prepare` makes it, gives the same result (but for `seconds`)."""
    lesson = known.lesson(job["lesson"])
    lesson = given(job["answers"]).of(lesson) if job["answers"] else lesson
    try:
        return _grader(job).grade(job["submission"], lesson, job["seed"], job["allowance"])
    except Unavailable as error:
        return not_graded(job["lesson"], str(error))


def _grader(job: dict[str, Any]) -> Grader:
    """The grader of this thread, at the level asked for."""
    settings = (job["isolation"], job["trust"], job["seconds"], job["megabytes"], os.getpid())
    if getattr(_here, "settings", None) != settings:
        level = sandbox.choose(job["isolation"], trust_students=job["trust"])
        _here.grader = Grader(level, limits=Limits(job["seconds"], job["megabytes"]))
        _here.settings = settings
        if not _graders:
            multiprocessing.util.Finalize(None, close_graders, exitpriority=10)
            atexit.register(close_graders)
        _graders.append(_here.grader)
    grader: Grader = _here.grader
    return grader


def close_graders() -> None:
    """End the sandboxes of this process."""
    while _graders:
        _graders.pop().close()


def leave_with_parent() -> None:
    """End this process when the one that started it is gone; the pool by itself would wait for work for ever."""
    parent = multiprocessing.parent_process()

    def watch() -> None:
        assert parent is not None
        parent.join()
        for grader in _graders:
            grader.remove_files()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def not_graded(number: int, why: str) -> dict[str, Any]:
    """The result of a notebook that could not be graded: nobody's fault, nobody's points."""
    return unjudged(number, NOT_GRADED, [f"Not graded, and no points lost: {why}"]) | {"graded": False}


def lesson_of(submission: reader.Submission, path: str) -> int | None:
    """The lesson a notebook belongs to: whose ids it holds, else whose names it defines, else by its file name."""
    numbers = set(known.numbers())
    asked = [number for number in reader.ids(submission) if number in numbers]
    if asked:
        return max(sorted(set(asked)), key=asked.count)
    best = known.best_lesson(reader.names(submission))
    if best is not None:
        return best.number
    stem = Path(path).stem.lower()
    return next((lesson.number for lesson in known.all_lessons() if lesson.slug in stem), None)


# ------------------------------------------------------------------ a class


def grade(
    paths: str | Path | Sequence[str | Path],
    *,
    out: str | Path,
    executor: futures.Executor | None = None,
    jobs: int | None = None,
    isolation: str = "auto",
    trust_students: bool = False,
    seconds: float | None = None,
    megabytes: int | None = None,
    student_seconds: float = STUDENT_SECONDS,
    lessons: Iterable[int] = (),
    plan: Plan = NO_PLAN,
    key: bytes | None = None,
    fresh: bool = False,
    regrade: Collection[str] = (),
    answers: bytes = b"",
    progress: Progress = lambda count: None,
) -> Count:
    """Grade all notebooks under `paths/<student>/` and write the report folder `out`.

    Args:
        executor: where to grade; a pool of `jobs` processes if left out.
        isolation: `auto` or one of `sandbox.LEVELS`; `trust_students` allows the one that is no boundary.
        seconds, megabytes: limits in place of each exercise's own.
        student_seconds: how long one student's notebooks may take together.
        lessons: what was asked for; if left out, what at least half of those who handed in anything handed in.
        plan: the teacher's class file, as `plan.read` gives it.
        key: the course key; drawn and kept in `out/run.json` if left out.
        fresh: forget earlier results.
        answers: a teacher's own answers, as `minigrad.course.commands.answers.checked` gives them.
        regrade: students, and exercises such as "5.2", to grade once more; what changed is in the count.
        progress: called after every result.

    Returns the final count. Raises ValueError for wrong use, Unavailable if no isolation level holds here.
    """
    folders, target = _folders(paths), Path(out)
    asked = frozenset(lessons) or frozenset(plan.lessons)
    level = sandbox.choose(isolation, trust_students=trust_students)
    started = time.monotonic()
    with journals.locked(target):
        for name in (journals.RESULTS, *([journals.SETTINGS] if key else [])) if fresh else ():
            (target / name).unlink(missing_ok=True)
        older, course_key = journals.set_aside(target), journals.course_key(target, key)
        # Processes of our own all keep to the level that was found now; those of a cluster find their own.
        settings = {"isolation": isolation if executor else level, "trust": trust_students, "seconds": seconds,
                    "megabytes": megabytes, "together": student_seconds, "answers": answers}  # fmt: skip
        found = HandIns(folders, without=target, roster=plan.roster)
        count = Count(found.count(), isolation=level, older=older, doubts=found.doubts(), unmet=set(regrade))
        with _compared(target, count) if regrade else contextlib.nullcontext(), journals.Journal(target) as journal:
            with Pool(executor, jobs) as engine:
                for job, result in engine.run(to_do(found, journal, count, regrade, (course_key, settings, asked))):
                    about = {name: job[name] for name in ("key", "student", "path", "lesson", "notebook", "pack", "course")}
                    journal.append(about | {"edition": EDITION} | result)
                    count.graded += bool(result["graded"])
                    count.failed += not result["graded"]
                    count.seconds = time.monotonic() - started
                    progress(count)
            journal.settle(found.expected())
            count.aside = found.count("strays")
            count.failed += sum(1 for _ in found.unread())
            count.seconds = time.monotonic() - started
            write(target, found, plan=plan, asked=asked)
    return count


@contextlib.contextmanager
def _compared(target: Path, count: Count) -> Iterator[None]:
    """What is different afterwards goes into a table of its own, and into the count."""
    before = target / (journals.RESULTS + ".before")
    if (target / journals.RESULTS).exists():
        shutil.copyfile(target / journals.RESULTS, before)
    yield
    count.moved, count.first = tables.write_differences(target, before)
    before.unlink(missing_ok=True)


def _folders(paths: str | Path | Sequence[str | Path]) -> list[Path]:
    folders = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    for folder in folders:
        if not folder.is_dir():
            raise ValueError(f"{folder} is a file, not a folder" if folder.exists() else f"there is no folder {folder}")
    return folders


def to_do(
    found: HandIns, journal: journals.Journal, count: Count, regrade: Collection[str],
    how: tuple[bytes, dict[str, Any], frozenset[int]],
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """The jobs that are not graded yet, or to be graded once more; the count is told of the others."""
    numbers = {name: int(name.split(".")[0]) for name in regrade if re.fullmatch(r"\d{1,2}\.\d+", name)}
    for handed_in, files in found:
        chosen = jobs_of(files, found, *how)
        count.total -= handed_in - len(chosen)
        for job in chosen:
            found.expect(job)
            again = {what for what in regrade if found.row(what) == job["student"]}
            again |= {what for what, number in numbers.items() if number == job["lesson"]}
            count.unmet -= again
            if journal.graded(job["key"]) and not again:
                count.kept += 1
            else:
                yield job


class HandIns:
    """What was handed in, sorted by student and path, and the keys of the results, in an index on disk.

    The upper floors of a folder come first; what is beyond the most that one student may hand in has a problem.
    """

    def __init__(self, folders: Sequence[Path], *, without: Path | None = None, roster: Sequence[Person] = ()) -> None:
        self._folders = folders
        self.people = People(roster)
        self._index = journals.on_disk(
            *identity.TABLES,
            "files (source, floor, path BLOB, folder, size, time, PRIMARY KEY (source, floor, path, folder)) WITHOUT ROWID",
            "keys (place INTEGER PRIMARY KEY, key TEXT UNIQUE, time, copies)",
            "strays (source, file, why TEXT, unread)",
        )
        for number, folder in enumerate(folders):
            for one in reader.find(folder, without=without):
                path = os.fsencode(one.path)
                if one.student:
                    of = identity.source(self._index, one.kind, one.student, one.number, one.called, number)
                    one = dataclasses.replace(one, source=of)
                if one.problem:
                    self.set_aside(one, one.problem)
                    continue
                line = (one.source, path.count(b"/"), path, number, one.size, one.time)
                self._index.execute("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?)", line)
        identity.decide(self._index, self.people)

    def count(self, table: str = "files") -> int:
        """How many files there are, or how many are set aside."""
        return int(self._index.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    def __iter__(self) -> Iterator[tuple[int, list[tuple[Path, reader.Found]]]]:
        """For one student after the other: how many files there are, and those that may be read."""
        lines = self._index.execute(
            "SELECT label, id, name, number, path, folder, size, time FROM files JOIN sources ON id = source"
            " ORDER BY label, floor, path, folder"
        )
        for label, files in itertools.groupby(lines, key=operator.itemgetter(0)):
            count = size = 0
            found = []
            for _, of, name, mark, path, folder, more, changed in files:
                count, size, problem = count + 1, size + more, ""
                if count > reader.MOST_NOTEBOOKS:
                    problem = f"not graded: of one student {reader.MOST_NOTEBOOKS} notebooks are graded, those on top first"
                elif size > reader.MOST_BYTES:
                    problem = f"not graded: of one student {reader.MOST_BYTES >> 20} MB are read"
                names = os.fsdecode(name), os.fsdecode(path)
                one = reader.Found(*names, more, problem, changed, number=mark, source=of, row=label)
                if problem:
                    self.set_aside(one, problem)
                else:
                    found.append((self._folders[folder], one))
            yield count, found

    def expect(self, job: dict[str, Any]) -> None:
        """The next result is this one's."""
        line = (job["key"], job["time"], job["copies"])
        self._index.execute("INSERT OR IGNORE INTO keys (key, time, copies) VALUES (?, ?, ?)", line)

    def expected(self) -> Iterator[str]:
        """The keys of all that were expected, in their order."""
        return (key for (key,) in self._index.execute("SELECT key FROM keys ORDER BY place"))

    def when(self, key: str) -> tuple[int, int]:
        """When that file was changed last, in nanoseconds, and how many copies of its lesson the student handed in."""
        found = self._index.execute("SELECT time, copies FROM keys WHERE key = ?", (key,)).fetchone()
        return (int(found[0]), int(found[1])) if found else (0, 1)

    def everybody(self) -> Iterator[tuple[str, Person | None, str, bool]]:
        """Each row of the report: its name, the person of the class list, what to call that, and if more than one could be."""
        for label, place, waiting in self._index.execute("SELECT label, person, waiting FROM lines ORDER BY label"):
            known_as = (None, label) if place is None else (self.people.roster[place], self.people.shown(place))
            yield label, *known_as, bool(waiting)

    def row(self, name: str) -> str | None:
        """The row that a teacher means who writes this name."""
        query = "SELECT label FROM lines WHERE label = ? UNION ALL SELECT label FROM lines WHERE person = ?"
        found = self._index.execute(query, (name, self.people.meant(name))).fetchone()
        return found and str(found[0])

    def doubts(self) -> list[str]:
        """Whose a hand-in is where that was in doubt, a sentence each."""
        return [text for (text,) in self._index.execute("SELECT text FROM doubts ORDER BY place")]

    def set_aside(self, one: reader.Found, why: str) -> None:
        """A file that cannot be graded."""
        says = f"{readable(one.path or one.student)}: {why}"
        line = (one.source, bool(one.path), says, isinstance(why, reader.Unread))
        self._index.execute("INSERT INTO strays VALUES (?, ?, ?, ?)", line)

    def unread(self) -> Iterator[str]:
        """The student of each file of which nobody knows the lesson, because it could not be read."""
        return (label for (label,) in self._index.execute("SELECT label FROM strays JOIN sources ON id = source WHERE unread"))

    def strays(self) -> Iterator[str]:
        """Those files, each with the reason, sorted; of one student no more than a person reads."""
        lines = self._index.execute(
            "SELECT coalesce(label, ''), why FROM strays LEFT JOIN sources ON id = source ORDER BY 1, file, why"
        )
        for student, texts in itertools.groupby(lines, key=operator.itemgetter(0)):
            for _, text in itertools.islice(texts, _MOST_STRAYS):
                yield text
            rest = sum(1 for _ in texts)
            if rest:
                yield f"{student or 'Loose files'}: {rest:,} more files were left aside"


def jobs_of(
    files: list[tuple[Path, reader.Found]], found: HandIns, course_key: bytes, settings: dict[str, Any], asked: frozenset[int]
) -> list[dict[str, Any]]:
    """The jobs of one student: of several copies of a lesson the last one, by its time and then by its name."""
    newest: dict[tuple[int, int], tuple[tuple[int, str], dict[str, Any], reader.Found]] = {}  # by lesson and source
    copies: Counter[int] = Counter()
    for folder, one in files:
        job = prepare(folder, one, course_key, settings)
        if isinstance(job, dict) and asked and job["lesson"] not in asked:
            job = f"lesson {job['lesson']:02d}, which was not asked for"
        if isinstance(job, str):
            found.set_aside(one, job)
            continue
        number, place, copy = job["lesson"], (job["lesson"], one.source), ((one.time, one.path), job, one)
        copies[number] += 1
        if place in newest:  # the same name in a later download is the later copy
            older, copy = sorted((newest[place], copy), key=operator.itemgetter(0))
            found.set_aside(older[2], f"an earlier copy of lesson {number:02d}: {readable(copy[2].path)} counts")
        newest[place] = copy
    several = Counter(number for number, _ in newest)
    for place in [place for place in newest if several[place[0]] > 1]:
        found.set_aside(newest.pop(place)[2], reader.Unread(
            f"lesson {place[0]:02d} came in {several[place[0]]} hand-ins of Moodle under this name, which may be of two people:"
            " take away what does not count, then run again"))  # fmt: skip
    for (number, _), (_, job, _) in newest.items():
        job["copies"], job["allowance"] = copies[number], min(NOTEBOOK_SECONDS, settings["together"] / len(newest))
    return [job for _, job, _ in newest.values()]


def prepare(folder: Path, found: reader.Found, course_key: bytes, settings: dict[str, Any]) -> dict[str, Any] | str:
    """A job for one notebook, or why there is none."""
    try:
        data = reader.load(folder, found.path)
        submission = reader.read(data)
    except Exception as error:  # whatever is wrong with one file is that file's
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        data, submission = b"", reader.Submission((), f"the file could not be read ({why})", unread=True)
    number = lesson_of(submission, found.path)
    if number is None and submission.unread:
        return reader.Unread(f"{submission.problem} (not graded, which is no zero)")
    if number is None:
        return submission.problem or "belongs to no lesson of this course"
    settings = settings | {"answers": settings["answers"] if number in touched(settings["answers"]) else b""}
    notebook, pack = hashlib.sha256(data).hexdigest()[:16], journals.pack_hash(number, settings["answers"])
    course = journals.name_of_key(course_key)
    limits = f"{settings['seconds']}/{settings['megabytes']}/{settings['together']:g}"
    student, path = found.row, readable(found.path)
    # The feedback names the seed. Who hands in again meets other numbers, so no table of answers can be prepared.
    seed = hmac.digest(course_key, f"{found.student}{found.number}\x1f{notebook}".encode("utf-8", "surrogateescape"), "sha256")
    key = journals.key_of(student, found.path, notebook, pack + limits, course)
    return {"key": key, "student": student, "path": path, "lesson": number, "notebook": notebook, "pack": pack,
            "course": course, "submission": submission, "seed": seed, "time": found.time, **settings}  # fmt: skip


def touched(answers: bytes) -> set[int]:
    """The lessons to which a teacher's own answers belong."""
    return {exercise.lesson for exercise in given(answers).exercises.values()} if answers else set()


# ------------------------------------------------------------------ what a teacher reads


def write(folder: Path, found: HandIns, *, plan: Plan = NO_PLAN, asked: frozenset[int] = frozenset()) -> None:
    """Write every page and table of a report folder from its journal; who is known from `found` may have no result."""
    everybody = Class(plan.meaning(found.row))
    for student, person, name, waiting in found.everybody():
        everybody.expect(student, person, name)
        everybody.unread |= {student} if waiting else set()
    for result in journals.read(folder / journals.RESULTS):
        counted = everybody.add(result, *found.when(result["key"]))
        write_whole(folder / tables.FEEDBACK / counted["page"], [pages.feedback_page(counted)])
    everybody.unread |= set(found.unread())
    for result in everybody.on_paper():
        counted = everybody.add(result)
        write_whole(folder / tables.FEEDBACK / counted["page"], [pages.feedback_page(counted)])
    _remove_others(folder / tables.FEEDBACK, everybody)
    notes = [*everybody.choose(asked), *everybody.notes()]
    write_whole(folder / tables.GRADES, tables.grades(everybody))
    if any(person.moodle or person.email for person in everybody.plan.roster):
        write_whole(folder / tables.MOODLE, tables.moodle(everybody))
    write_whole(folder / "report.html", pages.report_page(everybody, found.strays(), notes, found.doubts()))
    tables.hand_back(folder, everybody)


def _remove_others(folder: Path, everybody: Class) -> None:
    """Take away the pages of what is no longer handed in."""
    if folder.is_dir():
        with os.scandir(folder) as students:
            for student in students:
                for page in Path(student.path).glob("*.html"):
                    if not everybody.has_page(f"{student.name}/{page.name}"):
                        page.unlink()


# ------------------------------------------------------------------ where the work is done


class _Process(SpawnProcess):
    """A process that does not begin by running the teacher's program once more, as Python's own would."""

    def start(self) -> None:
        main = sys.modules["__main__"]
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            super().start()
        finally:
            sys.modules["__main__"] = main


class _Spawned(SpawnContext):
    Process = _Process


class Pool:
    """Jobs through an executor, a few at a time; a pool of our own is replaced when a process of it dies."""

    def __init__(self, executor: futures.Executor | None, jobs: int | None) -> None:
        self.jobs = jobs or os.cpu_count() or 1
        self.given = executor
        self.executor = executor or self._processes()

    def _processes(self) -> futures.Executor:
        return futures.ProcessPoolExecutor(self.jobs, mp_context=_Spawned(), initializer=leave_with_parent)

    def run(self, work: Iterator[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Each job with its result, in the order in which they end."""
        in_the_air: dict[futures.Future[Any], dict[str, Any]] = {}
        tries: Counter[str] = Counter()
        later: list[dict[str, Any]] = []  # what was lost or not graded through no fault of its own
        while True:
            while len(in_the_air) < 4 * self.jobs and (job := next(work, None)) is not None:
                in_the_air[self._submit(job)] = job
            if not in_the_air and later:
                job = later.pop(0)  # at the end, and by itself: it may be the one that takes a process with it
                in_the_air[self._submit(job)] = job
            if not in_the_air:
                return
            for future in futures.wait(in_the_air, return_when=futures.FIRST_COMPLETED).done:
                job, error = in_the_air.pop(future), future.exception()
                fine = error is None and (future.result()["graded"] or job["submission"].unread)
                tries[job["key"]] += 1
                most = _PATIENCE if isinstance(error, futures.BrokenExecutor) else 1
                if not fine and not self.given and tries[job["key"]] <= most and len(later) < _MOST_AGAIN:
                    later.append(job)
                elif error is None:
                    yield job, future.result()
                else:
                    yield job, not_graded(job["lesson"], f"{type(error).__name__}: {error}")

    def _submit(self, job: dict[str, Any]) -> futures.Future[Any]:
        try:
            return self.executor.submit(grade_one, job)
        except futures.BrokenExecutor:
            if self.given:
                raise
            self.executor.shutdown(wait=False, cancel_futures=True)
            self.executor = self._processes()
            return self.executor.submit(grade_one, job)

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *error: object) -> None:
        if not self.given:
            self.executor.shutdown(wait=True, cancel_futures=True)
