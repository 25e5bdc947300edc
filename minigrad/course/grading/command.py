"""`minigrad grade`: the command's arguments, its progress bar and its last words."""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from minigrad.course.grading import LEVELS, WEAKER

if TYPE_CHECKING:
    from minigrad.course.grading.runs import Count

_LONGEST_KEY = 65_536
_MOST_DOUBTS = 10  # that are told on the screen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `minigrad grade`."""
    parser.add_argument("submissions", type=Path, nargs="+", metavar="SUBMISSIONS", help="a folder with one folder a student,"
                        " or a download of Canvas or Moodle; several are one class")  # fmt: skip
    parser.add_argument("--out", type=Path, required=True, metavar="REPORT", help="the folder to write the report to")
    parser.add_argument("--jobs", type=_positive, metavar="N", help="processes (default: one a processor)")
    parser.add_argument("--class", dest="plan", type=Path, metavar="FILE", help="a class.toml: class list, lessons, due"
                        " dates, points, corrections (docs/grading.md has every field)")  # fmt: skip
    parser.add_argument("--lessons", metavar="03,05-08", help="the lessons that count (default: those that at least half"
                        " of the class handed in)")  # fmt: skip
    parser.add_argument("--regrade", action="append", default=[], metavar="WHO", help="grade a student's notebooks, or the"
                        " notebooks with an exercise such as 5.2, once more, and say what changed")  # fmt: skip
    parser.add_argument("--timeout", type=float, metavar="S", help="seconds of processor time an exercise may take"
                        " (default: what each exercise says)")  # fmt: skip
    parser.add_argument("--student-timeout", type=float, metavar="S", help="seconds that the notebooks of one student may"
                        " take together (default: 300; one notebook may take 60)")  # fmt: skip
    parser.add_argument("--memory", type=_positive, metavar="MB", help="memory that an exercise may take (the same)")
    parser.add_argument("--isolation", choices=("auto", *LEVELS), default="auto",
                        help="how students' code is kept in; auto takes the strongest that passes its self-test")  # fmt: skip
    parser.add_argument("--trust-students", action="store_true",
                        help="allow the level process, which is not a security boundary")  # fmt: skip
    parser.add_argument("--key", type=Path, metavar="FILE", help="a file with the course key, from which the seeds come"
                        " (default: drawn at the first start and kept in REPORT/run.json)")  # fmt: skip
    parser.add_argument("--scheduler", metavar="ADDRESS", help="grade on a Dask cluster, for example tcp://10.0.0.1:8786")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results in REPORT and grade everything")
    parser.add_argument("--answers", type=Path, metavar="FILE", help="your own answers to exercises, with what to say about"
                        " each, in the form of a lesson's text; the code in it is run")  # fmt: skip
    parser.add_argument("--diff", type=Path, metavar="OLD", help="say whose grade moved since the report folder OLD, and why")


def run(options: argparse.Namespace) -> int:
    """Grade; 0 if everything was graded, 1 if something was not, nothing was there, or nothing holds students' code in."""
    from minigrad.course.commands.answers import checked
    from minigrad.course.exercise import EDITION
    from minigrad.course.grading import journal, runs, tables
    from minigrad.course.grading import plan as plans
    from minigrad.course.grading.grader import NOTEBOOK_SECONDS
    from minigrad.course.grading.sandbox import Unavailable

    for name, given in (("--timeout", options.timeout), ("--student-timeout", options.student_timeout)):
        if given is not None and not 0 < given < 86_400:
            raise ValueError(f"{name} wants seconds, more than none")
    plan = plans.read(options.plan) if options.plan else plans.Plan()
    asked = plans.chosen(options.lessons, "--lessons") if options.lessons else ()
    allowance = options.student_timeout or plan.student_timeout or runs.STUDENT_SECONDS
    key = _key(options.key) if options.key else None
    if options.diff is not None and not (options.diff / "results.jsonl").is_file():
        raise ValueError(f"{options.diff} is no report folder: it has no results.jsonl")
    if options.diff is not None and journal.edition(options.diff) != EDITION:
        raise ValueError(f"{options.diff} is of another edition of the course, in which exercises asked for something else")
    answers = checked(options.answers) if options.answers else b""
    bar = Bar(sys.stderr)
    bar.say(f"At most {NOTEBOOK_SECONDS:g} s a notebook and {allowance:g} s a student.")
    cluster = _cluster(options.scheduler) if options.scheduler else None
    try:
        count = runs.grade(
            options.submissions, out=options.out, executor=cluster and cluster[1], jobs=cluster[2] if cluster else options.jobs,
            isolation=options.isolation, trust_students=options.trust_students, seconds=options.timeout,
            megabytes=options.memory, key=key, fresh=options.fresh, progress=bar.show, plan=plan, lessons=asked,
            student_seconds=allowance, regrade=options.regrade, answers=answers,
        )  # fmt: skip
    except Unavailable as error:
        bar.end()
        print(f"Nothing was graded, and no points are lost. No isolation level holds here:\n{error}", file=sys.stderr)
        return 1
    except sqlite3.OperationalError as error:
        bar.end()
        raise OSError(f"{error}: make room in {tempfile.gettempdir()}, or name another folder in TMPDIR") from error
    except KeyboardInterrupt:
        bar.end()
        print("Stopped. What was graded is kept: the same command goes on from here.", file=sys.stderr)
        return 1
    finally:
        if cluster:
            cluster[0].close()
    bar.end()
    print(summary(count, options.out))
    for name in sorted(count.unmet):
        print(_printable(f"There is no notebook of {name}: nothing was graded again for that."))
    if options.regrade:
        _tell(count.moved, count.first, "before", options.out / tables.DIFFERENCES)
    if not count.total:
        print(f"No notebook of this course was found: {options.submissions[0]} should hold one folder a student.")
    if options.diff is not None:
        _tell(*tables.write_differences(options.out, options.diff), str(options.diff), options.out / tables.DIFFERENCES)
    return 1 if count.failed or not count.total else 0


def _tell(moved: int, first: list[dict[str, Any]], since: str, where: Path) -> None:
    """What changed, in a line each."""
    for m in first:
        print(_printable(f"  {m['student']}  {m['exercise']}  {m['before'] or '-'} -> {m['after'] or '-'}  ({m['why']})"))
    print(f"{moved} verdicts moved since {since}: {where}")


def _key(path: Path) -> bytes:
    """The course key in a file. ValueError if it is too short to be a secret, or too long to be a key."""
    with open(path, "rb") as file:
        key = file.read(_LONGEST_KEY + 1).strip()
    if len(key) < 16:
        raise ValueError(f"{path}: a key of fewer than 16 bytes can be guessed")
    if len(key) > _LONGEST_KEY:
        raise ValueError(f"{path} is longer than a key ({_LONGEST_KEY} bytes)")
    return key


def summary(count: Count, out: Path) -> str:
    """The run in two or three lines."""
    rate = f", {count.graded / count.seconds:.0f} a second" if count.graded and count.seconds else ""
    lines = [
        f"{count.graded} notebooks graded{rate}; {count.kept} were graded before; isolation: {count.isolation}",
        f"Open {out / 'report.html'}",
    ]
    if count.isolation in WEAKER:
        lines.insert(1, WEAKER[count.isolation])
    if count.older:
        lines.insert(1, f"Earlier results are of another edition of the course; they are kept as {count.older}.")
    if count.aside:
        lines.insert(1, f"Left aside, for reasons that the report names: {count.aside}.")
    rest = len(count.doubts) - _MOST_DOUBTS
    lines += [_printable(f"In doubt: {doubt}") for doubt in count.doubts[:_MOST_DOUBTS]]
    lines += [f"In doubt: {rest} more, which the report names"] if rest > 0 else []
    if count.failed:
        lines.insert(1, f"{count.failed} notebooks are NOT GRADED (no points lost). The report says why."
                        " The same command tries again.")  # fmt: skip
    return "\n".join(lines)


class Bar:
    """A progress bar with rate and time left, in a terminal; silence elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.alive, self.last = stream, stream.isatty(), 0.0

    def say(self, line: str) -> None:
        """A line above it."""
        if self.alive:
            self.stream.write(line + "\n")

    def show(self, count: Count) -> None:
        """Draw it, at most ten times a second."""
        now = time.monotonic()
        if self.alive and (now - self.last > 0.1 or count.done == count.total):
            self.last = now
            self.stream.write("\r" + bar(count, min(100, shutil.get_terminal_size().columns)) + "\x1b[K")
            self.stream.flush()

    def end(self) -> None:
        """Leave the line."""
        if self.alive and self.last:
            self.stream.write("\n")


def bar(count: Count, width: int) -> str:
    """One line: how much is done, how fast, how long it will take."""
    now = count.graded + count.failed
    rate = now / count.seconds if count.seconds else 0.0
    left = (count.total - count.done) / rate if rate else 0.0
    tail = f" {count.done}/{count.total}  {rate:.0f}/s  {timedelta(seconds=round(left))} left"
    if count.failed:
        tail += f"  {count.failed} not graded"
    room = max(5, width - len(tail) - 3)
    full = room * count.done // max(1, count.total)
    return f"[{'#' * full}{'.' * (room - full)}]{tail}"


def _printable(text: str) -> str:
    """ASCII for a console; a student's name cannot move the cursor."""
    return "".join(c if " " <= c <= "~" else f"\\u{ord(c):04x}" for c in text)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not a positive number")
    return number


def _cluster(address: str):  # type: ignore[no-untyped-def]
    """A Dask client, its executor, and how many notebooks to keep in the air."""
    from distributed import Client

    client = Client(address, timeout=10)
    cores = sum(client.nthreads().values()) or 1
    return client, client.get_executor(retries=5, pure=False), cores
