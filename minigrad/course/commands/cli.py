"""The command `minigrad`: each subcommand is declared here in a few lines and does its work in its own room.

`lab` opens the course, `check` judges notebooks in the terminal, `solution` and `reset` lay a file beside
the student's, `engine` completes their own engine, `progress` shows what is solved, `show` makes a page to send to a friend,
`grade` marks a class, `answers` tries the answers of a text, `doctor` says what works on this machine, `build` regenerates
what is generated; none of them says where you are. Exit code 0: fine; 1: not fine; 2: wrong use.
"""

import argparse
import difflib
import os
import re
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import NoReturn, TypeVar

from minigrad import __version__
from minigrad.course import notebooks
from minigrad.course.commands import lookup
from minigrad.course.grading import command as grading

Item = TypeVar("Item")
COMMANDS = ("lab", "check", "solution", "engine", "progress", "reset", "show", "grade", "answers", "doctor", "build")
Run = Callable[[argparse.Namespace], int]


class WrongUse(Exception):
    """The command cannot do this; the message says what to do instead."""


class Parser(argparse.ArgumentParser):
    """A parser that names the command which was probably meant."""

    def error(self, message: str) -> NoReturn:
        """End with code 2, a usage line and the message."""
        typed = re.search(r"invalid choice: '([^']*)'", message)
        near = difflib.get_close_matches(typed[1], COMMANDS, n=1) if typed else []
        super().error(f"there is no command {typed[1]!r}: did you mean {near[0]}?" if typed and near else message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a student's words may hold what the terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    parser = make_parser()
    options = parser.parse_args(arguments)
    run: Run = options.run
    name = f"minigrad {options.command}".strip()
    try:
        code = run(options)
        sys.stdout.flush()  # so that a reader who has left is noticed here
        return code
    except BrokenPipeError:  # `minigrad doctor | head`: nobody reads on, and that needs no words
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (WrongUse, ValueError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    except OSError as error:  # a file that is not there, may not be read, or has no room
        where = f"{error.filename}: " if error.filename else ""
        print(f"{name}: {where}{error.strerror or error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(f"{name}: {missing(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 1


LESSON = "a lesson by number or word (05, vectors), an exercise (5.2)"
Add = Callable[[str, Run, str, str], argparse.ArgumentParser]


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = Parser(
        prog="minigrad", description="A course that builds autograd piece by piece. Alone it says where you are in it."
    )
    parser.set_defaults(run=where, command="")
    parser.add_argument("--version", action="version", version=f"minigrad-course {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=argparse.ArgumentParser)

    def add(name: str, run: Run, does: str, example: str) -> argparse.ArgumentParser:
        command = commands.add_parser(
            name, help=does, description=does[0].upper() + does[1:] + ".", epilog=f"example:\n  {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        command.set_defaults(run=run)
        return command

    of_notebooks(add)
    of_the_folder(add)
    of_teachers(add)
    add("doctor", doctor, "say what works on this machine, and what to do about the rest", "minigrad doctor")
    of_authors(add)
    return parser


def of_notebooks(add: Add) -> None:
    """The commands that open, check and solve a notebook."""
    command = add("lab", lab, "open the course in JupyterLab", "minigrad lab 07 --dir ~/autograd --no-browser")
    command.add_argument("lesson", nargs="?", metavar="LESSON", help=f"open it at {LESSON}, or at a notebook's file")
    command.add_argument(
        "--dir", type=Path,
        help=f"your folder (the course that you are in or above, else the last one, else a new ./{lookup.COURSE})",
    )  # fmt: skip
    command.add_argument("--no-browser", action="store_true", help="print the address instead of opening it")
    command.add_argument("--port", type=port, help="the port to serve at (8888, or the next free one)")

    command = add("check", check, "run the checks of notebooks in the terminal", "minigrad check 05")
    command.add_argument("notebooks", nargs="+", metavar="LESSON", help=f"{LESSON}, or a notebook's file")

    command = add("solution", solution, "write the solution beside a notebook", "minigrad solution 05")
    command.add_argument("notebook", metavar="LESSON", help=f"{LESSON}, or a notebook's file")
    command.add_argument("--yes", action="store_true", help="do not ask, even while the exercise is unsolved")


def of_the_folder(add: Add) -> None:
    """The commands about what a student has in the folder of the course."""
    yours = "your folder (looked for where you are and in the folders above, else the one opened last)"
    command = add("engine", engine, "say what your own engine has, or write what it lacks", "minigrad engine --upto 07")
    command.add_argument("--upto", metavar="LESSON", help="write what is missing of the lessons before this one")
    command.add_argument("--dir", type=Path, help=yours)

    command = add("progress", progress, "show what is solved and what comes next", "minigrad progress --dir minigrad-course")
    command.add_argument("--dir", type=Path, help=yours)
    command.add_argument("--all", action="store_true", help="every exercise, with its state, tries and hints")

    command = add(
        "reset", reset, "put a fresh copy in place of a notebook; the old one is kept under a dated name",
        "minigrad reset vectors",
    )  # fmt: skip
    command.add_argument("notebook", metavar="LESSON", help="a lesson by number or word (05, vectors), or a notebook's file")

    command = add(
        "show", show, "make a page to send to a friend: what your engine learned in lesson 03, 06, 12, 14 or 16",
        "minigrad show 03 --data points.csv",
    )  # fmt: skip
    command.add_argument("lesson", metavar="LESSON", help="03, 06, 12, 14 or 16, by number or word")
    command.add_argument("--data", type=Path, metavar="FILE",
                         help="with 03: a csv with columns x, y, class; with 16: a text with a name in each line")  # fmt: skip
    command.add_argument("--photo", type=Path, metavar="JPG", help="with 06: a photo of your own, of a page with writing")


def of_teachers(add: Add) -> None:
    """The commands about a class and its answers."""
    grade = "minigrad grade submitted --out report --jobs 2"
    grading.add_arguments(add("grade", grading.run, "grade a folder of submissions", grade))
    command = add(
        "answers", answers, "try a text of answers: each right one passes, each wrong one is refused and known",
        "minigrad answers minigrad/course/lessons/05_vectors.md --exercise 5.4",
    )  # fmt: skip
    command.add_argument("file", type=Path, metavar="FILE", help="the text of a lesson, or answers of your own as for"
                         " `minigrad grade --answers`; the code in it is run")  # fmt: skip
    command.add_argument("--exercise", metavar="ID", help="only this exercise, for example 5.4")
    command.add_argument("--verbose", "-v", action="store_true", help="show each answer's message as a student reads it")


def of_authors(add: Add) -> None:
    """The command that writes what is generated."""
    command = add("build", build, "regenerate exercises, stored outputs and reference pages", "minigrad build --lesson 05")
    command.add_argument("--lesson", metavar="NN", help="only the lesson whose name begins so")
    command.add_argument("--no-run", action="store_true", help="leave stored outputs as they are")
    command.add_argument("--nbgrader", type=Path, metavar="DIR", help="write the lessons there for nbgrader instead")
    command.add_argument("--site", type=Path, metavar="DIR", help="write the course there as web pages instead")
    command.add_argument(
        "--address", type=web_address, metavar="URL",
        help="with --site: where the pages will be, for a link that shows a picture in messages",
    )  # fmt: skip
    command.add_argument(
        "--lite", type=Path, metavar="DIR",
        help="write a JupyterLite site with the course there instead; below the folder of --site, the pages link to it",
    )  # fmt: skip
    command.add_argument("--pyodide", type=Path, metavar="DIR", help="with --lite: Pyodide's files, to be served with it")


def web_address(text: str) -> str:
    """The address of a site, for argparse."""
    if not re.fullmatch(r"https?://[^\s\"<>#?]+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not the address of a site, such as https://example.org/course/")
    return text


def port(text: str) -> int:
    """A port number, for argparse."""
    number = int(text)
    if not 0 < number < 65536:
        raise argparse.ArgumentTypeError(f"{number} is not a port (1 to 65535)")
    return number


# The commands --------------------------------------------------------------------------------------------


def where(options: argparse.Namespace) -> int:
    """Without a command: which course this is, how far it is solved, and what is next."""
    from minigrad.course.checks import progress_store
    from minigrad.course.commands import terminal

    folder = lookup.course()
    if folder is None or not lookup.is_course(folder):  # a checkout's own exercises are nobody's course
        print(f"There is no course in {progress_store.here()} yet.\n\n  minigrad lab         makes one here and opens it")
    else:
        print(terminal.where(folder))
    print("  minigrad --help      shows every command")
    return 0


def lab(options: argparse.Namespace) -> int:
    """Lay out the course and open it."""
    from minigrad.course.checks import progress_store
    from minigrad.course.commands.lab import start

    folder, here = options.dir.expanduser() if options.dir else lookup.to_open(), progress_store.here()
    if not options.dir and folder.parent != here and not here.is_relative_to(folder):
        print(f"This folder has no course, so the one that you have opens. A new one here: minigrad lab --dir {lookup.COURSE}")
    page = lookup.opened_by(options.lesson, folder) if options.lesson is not None else ""
    return start(folder, not options.no_browser, options.port, page)


def check(options: argparse.Namespace) -> int:
    """Judge notebooks; 1 unless every exercise passes."""
    from minigrad.course.commands.terminal import check_notebook

    asked = [existing(typed) for typed in options.notebooks]
    passed = [check_notebook(file, exercise) for file, exercise in asked]
    return 0 if all(passed) else 1


def solution(options: argparse.Namespace) -> int:
    """Write the solution beside a student's notebook, or that of one exercise, after asking while it is unsolved."""
    from minigrad.course.commands.terminal import solved

    file, exercise = existing(options.notebook)
    lesson = lesson_of(file)
    solutions = notebooks.read(notebooks.path("solutions", lesson))
    name = f"{lesson}_solution_{exercise}" if exercise else f"{lesson}_solution"
    target = file.with_name(f"{name}.ipynb")
    if target.exists():
        print(f"The solution is already there: {target}")
        return 0
    if not options.yes and not solved(file, exercise):
        what = f"exercise {exercise}" if exercise else file.name
        if not sys.stdin.isatty():
            raise WrongUse(f"{what} is not solved yet. Add --yes to see the solution all the same.")
        print(f"{what} is not solved yet. A hint may be the better next step.")
        if input("Write the solution all the same? [y/N] ").strip().lower() not in ("y", "yes"):
            return 1
    notebooks.write(notebooks.solution_of(solutions, exercise) if exercise else notebooks.strip_outputs(solutions), target)
    print(f"Written: {target}" + (f" (the other exercises of lesson {lesson[:2]} stay blank in it)" if exercise else ""))
    return 0


def engine(options: argparse.Namespace) -> int:
    """Say which parts the student's own engine has, or write those that are missing."""
    from minigrad.course.commands import engine_parts

    before = int(lookup.lesson(options.upto)[0][:2]) if options.upto is not None else None
    folder = begun(options.dir).resolve()
    print(engine_parts.told(folder) if before is None else engine_parts.fill(folder, before))
    return 0


def progress(options: argparse.Namespace) -> int:
    """Print the progress table of a student's folder, and which file it comes from."""
    from minigrad.course.checks import progress_store
    from minigrad.course.commands.terminal import progress_table

    folder = begun(options.dir)
    print(progress_table(folder, options.all))
    if not options.all:
        print("minigrad progress --all shows every exercise.")
    file = folder.resolve() / progress_store.FILE
    print(f"Read from {file}" if file.exists() else f"Nothing has been answered yet: there is no {file}")
    return 0


def reset(options: argparse.Namespace) -> int:
    """Keep the student's notebook under a dated name and put a fresh copy in its place."""
    file, exercise = lookup.notebook(options.notebook)
    lesson = lesson_of(file) if file.exists() else lookup.lesson(options.notebook)[0]
    if exercise:
        raise WrongUse(f"a notebook is reset as a whole, with all its exercises: minigrad reset {lesson[:2]}")
    kind = "notebooks" if file.resolve().parent.name == "notebooks" else "exercises"
    fresh = notebooks.for_student(notebooks.path(kind, lesson))
    if file.exists() and file.read_bytes() == fresh:
        print(f"{file} is as it was handed out; there is nothing to do.")
        return 0
    kept, part = notebooks.dated(file), file.with_name(f".{file.name}.part")
    try:
        part.write_bytes(fresh)  # first, so that a full disk takes nothing away
        if file.exists():
            file.rename(kept)
        part.rename(file)
    finally:
        part.unlink(missing_ok=True)
    yours = f" Yours is kept as {kept.name}. JupyterLab shows the copy when you open it anew." if kept.exists() else ""
    print(f"A fresh copy is in {file}.{yours}")
    if kind == "exercises":
        print(begin_again(file, lesson))
    return 0


def show(options: argparse.Namespace) -> int:
    """Write the page of a lesson into this folder."""
    from minigrad.course.commands.show import NEEDS, show

    lesson = lookup.lesson(options.lesson)[0][:2]
    if lesson not in NEEDS:
        raise WrongUse(f"lesson {lesson} has nothing to show; there is something after {', '.join(NEEDS)}")
    for option, value, only in (("--data", options.data, ("03", "16")), ("--photo", options.photo, ("06",))):
        if value and lesson not in only:
            raise WrongUse(f"{option} belongs to lesson {' and '.join(only)}, not to {lesson}")
    print(show(lesson, options.data, options.photo, bar))
    return 0


def begin_again(file: Path, slug: str) -> str:
    """What becomes of the progress of a lesson that is reset: what was solved counts, answers in forms are taken back."""
    from minigrad.course import lessons
    from minigrad.course.checks import next_step, progress_store

    folder, lesson = progress_store.folder(file.resolve().parent), lessons.lesson(int(slug[:2]))
    asked = next_step.scored(lesson)
    taken = progress_store.take_back([exercise.id for exercise in asked], folder)
    fields = f" The answers in the fields of {', '.join(taken)} are gone." if taken else ""
    solved = next_step.solved_in(progress_store.load(folder), lesson)
    return f"What you have solved stays solved: {solved} of {len(asked)} exercises of this lesson.{fields}"


def answers(options: argparse.Namespace) -> int:
    """Try the answers of a text; 2 unless each right one passes and each wrong one is refused as itself."""
    from minigrad.course.commands.answers import read, report
    from minigrad.course.commands.matrix import SEEDS

    text = read(options.file)
    if options.exercise and options.exercise not in text.exercises:
        raise WrongUse(f"{options.file} has no exercise {options.exercise}; it has {', '.join(text.exercises)}")
    fine = True
    for id in [options.exercise] if options.exercise else text.exercises:
        matrix = text.tried(id, SEEDS if options.exercise else SEEDS[:1])
        fine = fine and not matrix.problems
        print(report(matrix, options.verbose), flush=True)
    return 0 if fine else 2


def doctor(options: argparse.Namespace) -> int:
    """Print what works here; 1 when something that the course needs does not."""
    from minigrad.course.commands.doctor import examine

    findings = []
    for finding in examine():
        print(finding, flush=True)
        findings.append(finding)
    return 0 if all(finding.fine for finding in findings) else 1


def build(options: argparse.Namespace) -> int:
    """Regenerate what is generated, or lay the lessons out for nbgrader."""
    from minigrad.course import lessons
    from minigrad.course.commands import building

    if options.nbgrader:
        for file in notebooks.lay_out_for_nbgrader(options.nbgrader):
            print(f"written    {file}")
        return 0
    if notebooks.is_installed():
        raise WrongUse("build works in a checkout of the course, and this is an installed copy.")
    try:
        if options.site or options.lite:
            return build_site(options)
        for file, what in bar(building.build(options.lesson, run=not options.no_run)):
            print(f"{what:10} {file.relative_to(notebooks.course_root())}", flush=True)
        for lesson in lessons.all_lessons():
            if lesson.slug.startswith(options.lesson or ""):
                read, solve = building.times(lesson)
                print(f"{lesson.slug}: {read + solve} minutes ({read} to read and run, {solve} for the exercises)")
    except notebooks.CellFailed as error:
        print(f"minigrad build: {error}", file=sys.stderr)
        return 1
    return 0


def build_site(options: argparse.Namespace) -> int:
    """Write the course as web pages, as a JupyterLite site, or both, and say where."""
    lite_path = ""
    if options.lite:
        from minigrad.course.site import lite

        print(f"written    {lite.build(options.lite, options.pyodide)}")
    if options.site:
        from minigrad.course import site

        if options.lite and options.lite.resolve().is_relative_to(options.site.resolve()):
            lite_path = options.lite.resolve().relative_to(options.site.resolve()).as_posix()
        made = site.build(options.site, lite_path, options.lesson or "", options.address or "")
        size = sum(file.stat().st_size for file, _ in bar(made))
        print(f"written    {options.site}: {size / 1e6:.1f} MB in all")
    return 0


# What they share -----------------------------------------------------------------------------------------


def begun(named: Path | None) -> Path:
    """The student's folder: the one that is named, else the course that is found from here, or WrongUse."""
    from minigrad.course.checks import progress_store

    here = progress_store.folder()
    new = here if (here / progress_store.FILE).exists() else here / lookup.COURSE
    folder = (named or lookup.course(here) or new).expanduser()
    if not folder.is_dir():
        raise WrongUse(f"there is no folder {folder}. `minigrad lab` makes one; --dir says where yours is.")
    return folder


def existing(typed: str) -> tuple[Path, str]:
    """The student's notebook for these words and the exercise that is meant, or WrongUse when it is not there."""
    file, exercise = lookup.notebook(typed)
    if not file.is_file():
        number = file.name[:2]
        raise WrongUse(f"there is no notebook {file}: `minigrad reset {number}` puts a fresh copy there")
    return file, exercise


def lesson_of(file: Path) -> str:
    """The lesson that a notebook belongs to, or WrongUse."""
    lesson = notebooks.lesson_of(file)
    if lesson is None:
        raise WrongUse(f"{file} belongs to no lesson; there are: {', '.join(notebooks.lessons())}")
    return lesson


def bar(items: Iterable[Item], total: int | None = None) -> Generator[Item, None, None]:
    """The items, with a count on the last line of a terminal while they come; nothing elsewhere."""
    shown = sys.stderr.isatty()
    try:
        for done, item in enumerate(items, start=1):
            if shown:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            yield item
            if shown:
                filled = "#" * (20 * done // total) if total else "#" * (done % 21)
                count = f"{done}{f'/{total}' if total else ''}"
                print(f"\r[{filled:20}] {count}", end="", file=sys.stderr, flush=True)
    finally:  # whoever stops early begins on an empty line, too
        if shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def missing(error: ModuleNotFoundError) -> str:
    """Which extra to install when a module is not there."""
    extra = next(
        (extra for extra, names in extras().items() if (error.name or "").split(".")[0].replace("_", "-") in names), None
    )
    if extra is None:
        raise error
    if notebooks.is_installed():
        how = f"pip install {' '.join(sorted(extras()[extra]))}"
    else:
        how = f'pip install -e ".[{extra}]"'
    return f'this needs the extra "{extra}" ({error.name} is not installed): {how}'


def extras() -> dict[str, set[str]]:
    """The packages of each extra, by the names that pip and import share."""
    found: dict[str, set[str]] = {}
    for line in metadata.requires("minigrad-course") or ():
        requirement, _, marker = line.partition(";")
        name = requirement.strip().split("[")[0]
        name = name[: next((at for at, letter in enumerate(name) if not (letter.isalnum() or letter in "-_.")), None)]
        extra = marker.partition("extra ==")[2].strip(" '\"")
        if extra:
            found.setdefault(extra, set()).add(name)
    return found


if __name__ == "__main__":
    sys.exit(main())
